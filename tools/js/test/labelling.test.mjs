// The annotator on the model of the hand-out: what keys and buttons do to the labels, and what the screen shows then.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Key, openNewPage } from "./page.mjs";
import annotator from "../src/annotator.mjs";
import { LocalModel } from "../src/local.mjs";

const PATIENCE = 5000; // milliseconds
const option = (value) => ({ value, label: String(value), implies: {}, sign: String(value) });
const FIELDS = [
  { name: "verdict", label: "verdict", kind: "choice", key: "v", each: false, of: null, required: true, options: [option("correct"), option("incorrect")] },
  { name: "evidence", label: "evidence", kind: "sentences", key: "d", each: false, of: "documents", required: false, options: [] },
  { name: "why", label: "why", kind: "text", key: "w", each: false, of: null, required: false, options: [] },
  { name: "tags", label: "tags", kind: "tags", key: "t", each: false, of: null, required: false, options: [] },
];
const PARTS = [
  { name: "documents", heading: "document 1", sentences: [["0a", "Oslo is a city."], ["0b", "It is the capital."]] },
  { name: "response", heading: "response", sentences: [["a", "Oslo."]] },
];

function handoutOf(count) {
  const item = (number) => ({
    id: `q/${number}`,
    title: `question ${number}`,
    pinned: {},
    suggested: number === 1 ? [[["verdict", null], "incorrect"]] : [],
    page: {
      number,
      history: number === 1 ? [["user", "Hello"]] : [],
      question: `question ${number}`,
      references: ["Oslo", "Oslo, Norway"],
      parts: PARTS,
      keyed: ["documents"],
      each: [],
      places: FIELDS.map(({ name }) => [name, null]),
      options: {},
    },
  });
  const task = { name: "any", guideline: "Read first.", unit: "response", fields: FIELDS, contradictions: [], codebook: [] };
  return { header: { handout: "h", task: { name: "any" } }, task, items: Array.from({ length: count }, (_, n) => item(n)), suggested_by: "judge" };
}

let model;
let el;
let close;

beforeEach(async () => {
  openNewPage();
  model = new LocalModel(handoutOf(3), memory(), "ragnb h ana ");
  el = document.createElement("div");
  close = annotator.render({ model, el });
  await answered();
});

function memory() {
  return Object.create({
    getItem(key) {
      return this[key] ?? null;
    },
    setItem(key, value) {
      this[key] = value;
    },
  });
}

// Until the model has answered everything, also what the annotator held for later items.
async function answered() {
  const start = performance.now();
  do {
    assert.ok(performance.now() - start < PATIENCE, "the model does not answer");
    await new Promise((resolve) => setTimeout(resolve, 1));
  } while (root().getAttribute("aria-busy") === "true");
}

const root = () => el.children[0];
const find = (selector) => root().querySelector(selector);
const button = (label) => root().querySelectorAll("button").find(({ attributes }) => attributes["aria-label"]?.startsWith(label));

async function press(...keys) {
  for (const key of keys) {
    const target = root().contains(document.activeElement) ? document.activeElement : root();
    target.dispatchEvent(new Key("keydown", typeof key === "string" ? { key } : key));
  }
  await answered();
}

const labels = () => model.actions.filter(({ action }) => action !== "open");

test("a digit labels the active place, and the next item is shown when a label is the last", async () => {
  await press("1");
  assert.deepEqual(labels().map(({ action, item, set }) => [action, item, set[0].value]), [["label", 0, "correct"]]);
  assert.match(find(".count").textContent, /^1 of 3 labelled/);
  assert.equal(model.get("page").number, 1);
  assert.equal(root().dataset.status, "untouched");
  await press("p");
  assert.equal(root().dataset.status, "labelled");
});

// Two items of a task that asks about each claim. The first response has none.
function claimsHandout() {
  const claim = { name: "claim", label: "claim", kind: "choice", key: "c", each: true, of: "documents", required: true, options: [option("right"), option("wrong")] };
  const handout = handoutOf(2);
  const responses = ["I do not know.", "Oslo."];
  handout.task.fields = [claim];
  handout.task.unit = "claims";
  handout.items.forEach(({ page }, number) => {
    const claims = number === 0 ? [] : [["c1", "It is Oslo."]];
    page.parts = [
      { name: "response", heading: "response", sentences: [["response", responses[number]]] },
      { name: "claims", heading: "claims", sentences: claims },
    ];
    page.each = claims.map(([key]) => key);
    page.places = page.each.map((key) => ["claim", key]);
  });
  handout.items[1].suggested = [];
  return handout;
}

test("an item in which nothing can be labelled is shown, and keys say so", async () => {
  close();
  openNewPage();
  model = new LocalModel(claimsHandout(), memory(), "ragnb h ana ");
  el = document.createElement("div");
  close = annotator.render({ model, el });
  await answered();
  assert.equal(model.get("page").number, 1, "the first item has no label that is missing");
  await press("p");
  assert.equal(find(".question").textContent, "1. question 0");
  assert.equal(root().dataset.status, "labelled");
  assert.equal(root().querySelectorAll(".field").length, 1, "the note");
  for (const key of ["1", "e", "Backspace", " "]) {
    await press("]", "ArrowDown", "[", key);
    assert.equal(find(".now").textContent, "there is nothing to label in this item", key);
    await press("f", "f");
  }
  await press("c");
  assert.equal(find(".now").textContent, "claim: this item has no sentence or claim to label");
  assert.deepEqual(labels().filter(({ action }) => action !== "flag"), []);
  await press("Enter", "1");
  assert.equal(model.get("state").values.claim.c1, "right");
  assert.match(find(".count").textContent, /^2 of 2 labelled/);
});

test("a field about the sentences of a response without any is not labelled for the whole item", async () => {
  close();
  openNewPage();
  const handout = handoutOf(1);
  handout.task.fields = [FIELDS[0], { ...FIELDS[1], name: "supporting", label: "supporting", key: "s", each: true }];
  handout.items[0].page.places = [["verdict", null]];
  model = new LocalModel(handout, memory(), "ragnb h ana ");
  el = document.createElement("div");
  close = annotator.render({ model, el });
  await answered();
  await press("s", " ");
  assert.equal(find(".now").textContent, "verdict: choose with the digits, or press a field's letter");
  assert.deepEqual(labels(), []);
  await press("1");
  assert.deepEqual(Object.entries(model.get("state").values), [["verdict", "correct"]]);
});

test("keys that are faster than the model are used for the item that they were typed for", async () => {
  await press("2", "1", "2");
  assert.deepEqual(labels().map(({ item, set }) => [item, set[0].value]), [[0, "incorrect"], [1, "correct"], [2, "incorrect"]]);
});

test("undo and redo, with their buttons and with Ctrl", async () => {
  assert.ok(button("undo").disabled);
  await press("1");
  assert.ok(!button("undo").disabled);
  await press("z");
  assert.equal(model.get("page").number, 0);
  assert.equal(model.get("state").values.verdict, undefined);
  await press({ key: "y", ctrlKey: true });
  assert.equal(model.get("state").values.verdict, "correct");
  button("undo").click();
  await answered();
  assert.equal(model.get("state").values.verdict, undefined);
});

test("sentences are chosen with the space bar, and all are taken away with e", async () => {
  await press("d", " ");
  assert.deepEqual(model.get("state").values.evidence, ["0a"]);
  await press("d", "ArrowDown", "x");
  assert.deepEqual(model.get("state").values.evidence, ["0a", "0b"]);
  await press("d", "e");
  assert.deepEqual(model.get("state").values.evidence, []);
  await press("d", "Backspace");
  assert.equal(model.get("state").values.evidence, undefined);
});

test("an act that a field does not have is explained", async () => {
  await press("v", " ");
  assert.equal(find(".now").textContent, "verdict: choose with the digits, or press a field's letter");
  await press("e");
  assert.equal(find(".now").textContent, "verdict needs one of its options");
  await press("9");
  assert.deepEqual(labels(), []);
});

test("a suggestion is accepted, and done goes to what is missing", async () => {
  await press("n", "a");
  assert.equal(model.get("state").values.verdict, "incorrect");
  await press("p", "Enter");
  assert.equal(model.get("page").number, 0, "its verdict is missing");
  await press("1");
  await press("p", "Enter");
  assert.equal(model.get("page").number, 2);
});

test("skipped and flagged items are counted", async () => {
  await press("f");
  assert.equal(button("flag").getAttribute("aria-pressed"), "true");
  await press(".");
  assert.match(find(".count").textContent, /^0 of 3 labelled · 1 skipped · 1 flagged/);
});

test("the panels open, and Escape closes them", async () => {
  const panels = () => root().querySelectorAll(".panel").filter(({ hidden, className }) => !hidden && !className.includes("end"));
  assert.equal(panels().length, 0);
  await press("?");
  assert.equal(panels().length, 1);
  await press("?", "/");
  assert.equal(document.activeElement.getAttribute("aria-label"), "search in the texts");
  await press("Escape");
  assert.equal(panels().length, 0);
});

test("the automatic step can be switched off", async () => {
  assert.equal(button("go to the next item after").getAttribute("aria-pressed"), "true");
  await press("A");
  assert.equal(button("go to the next item after").getAttribute("aria-pressed"), "false");
});

test("a tag is written into its box, and the codebook shows it", async () => {
  await press("+");
  assert.equal(document.activeElement.getAttribute("aria-label"), "write a tag; Enter gives it to the item");
  document.activeElement.value = " wrong date ";
  await press("Enter");
  assert.deepEqual(model.get("state").codebook.map(([, name, , count]) => [name, count]), [["wrong date", 1]]);
  assert.equal(root().querySelectorAll("summary").at(-1).textContent, "codebook: 1 tag");
  document.activeElement.value = "  ";
  await press("Enter");
  assert.equal(model.get("state").codebook.length, 1);
});

test("a tag is renamed, defined and merged in the codebook", async () => {
  const box = root().querySelectorAll("input").find(({ attributes }) => attributes.placeholder === "write a tag");
  const add = root().querySelectorAll("button").find(({ textContent }) => textContent === "add tag");
  for (const tag of ["date", "place"]) {
    box.value = tag;
    add.click();
    await answered();
  }
  const row = () => root().querySelectorAll(".tag").at(-1);
  const change = async (selector, value) => {
    const input = row().querySelector(selector);
    input.value = value;
    input.dispatch("change");
    await answered();
  };
  await change("input", "town");
  await change("textarea", "a wrong town");
  assert.deepEqual(model.get("state").codebook.map(([, name, definition]) => [name, definition]), [["date", ""], ["town", "a wrong town"]]);
  await change("select", model.get("state").codebook[0][0]);
  assert.deepEqual(model.get("state").codebook.map(([, name]) => name), ["date"]);
});

test("the page shows the question, its references and the conversation", async () => {
  assert.equal(find(".question").textContent, "1. question 0");
  assert.deepEqual(root().querySelectorAll(".reference").map(({ textContent }) => textContent), ["reference: Oslo", "and Oslo, Norway"]);
  assert.ok(find(".history").hidden);
  await press("n");
  assert.ok(!find(".history").hidden);
  assert.match(find(".history").textContent, /^earlier in the conversation: 1 message.*Hello$/);
});

test("when nothing is left, the end says so", async () => {
  assert.ok(find(".end").hidden);
  await press("1", "1", "1", "Enter");
  assert.ok(!find(".end").hidden);
  assert.match(find(".end").textContent, /^Done: all items are labelled or skipped/);
});

test("the list of items filters, searches and goes to an item", async () => {
  await press("f", "n", "g");
  const list = root().querySelectorAll("div").find(({ attributes }) => attributes.role === "listbox");
  const rows = () => list.querySelectorAll(".row").map(({ textContent }) => textContent);
  assert.equal(rows().length, 3);
  assert.equal(document.activeElement, list);
  const [filter] = root().querySelectorAll("select");
  filter.value = "flagged";
  filter.dispatch("change");
  assert.equal(rows().length, 1);
  await press("Enter");
  assert.equal(model.get("page").number, 0);
});

test("a view that is closed stops listening", async () => {
  const before = root().textContent;
  close();
  model.send({ act: "label", number: 0, field: "verdict", value: "correct", sentence: null });
  await answered();
  assert.equal(root().textContent, before);
});

test("a kernel that is gone is reported, and nothing is sent", () => {
  const gone = mock.fn(() => {
    throw new Error("closed");
  });
  model.send = gone;
  root().dispatchEvent(new Key("keydown", { key: "1" }));
  assert.match(find(".refused").textContent, /not saved: the kernel is gone \(closed\); run the cell again/);
});
