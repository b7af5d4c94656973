// The rows of the fields: what they show of values and suggestions, and what a press on them does.

import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.mjs";
import { node } from "../src/dom.mjs";
import { Fields } from "../src/fields.mjs";
import { Keys } from "../src/keys.mjs";
import { guideOf, helpOf, searchOf } from "../src/panels.mjs";
import { Work } from "../src/work.mjs";

const option = (value, label = String(value)) => ({ value, label, implies: {}, sign: label });
const FIELDS = [
  { name: "verdict", label: "<b>verdict</b>", kind: "choice", key: "v", each: false, required: true, options: [option("good"), option(true, "yes")] },
  { name: "keys", label: "keys", kind: "sentences", key: "k", of: "documents", each: false, required: true, options: [option("general")] },
  { name: "words", label: "words", kind: "sentences", key: "w", of: "words", each: false, required: true, options: [] },
  { name: "why", label: "why", kind: "text", key: "y", each: false, required: false, options: [] },
  { name: "claim", label: "claim", kind: "choice", key: "c", each: true, required: true, options: [option("right"), option("wrong")] },
];

function fieldsOf({ values = {}, suggested = {}, others = [], each = ["a"], contradictions = [], note = "" } = {}) {
  const places = [["verdict", null], ["keys", null], ["words", null], ["why", null], ...each.map((key) => ["claim", key])];
  const content = {
    task: { name: "any", unit: "response", fields: FIELDS, contradictions },
    page: { number: 4, parts: [], keyed: [], each, places, options: {} },
    state: { values, suggested, suggested_by: "Judge <i>", others, missing: places, note },
  };
  const calls = [];
  const annotator = {
    calls,
    work: new Work({ get: (name) => content[name] }),
    button: () => node("button"),
    go: (goThere) => goThere(),
    focus: () => {},
    choose: (number) => calls.push(["choose", number]),
    give: (value) => calls.push(["give", value]),
    send: (...sent) => calls.push(["send", ...sent]),
  };
  annotator.work.begin();
  const fields = new Fields(annotator);
  fields.draw();
  fields.paint();
  return { fields, annotator, calls, content };
}

const rowsOf = ({ fields }) => fields.box.children;
const row = (drawn, name) => rowsOf(drawn).find(({ dataset }) => dataset.field === name);
const summaries = (drawn) => drawn.fields.box.querySelectorAll(".value").map(({ textContent }) => textContent);

test("each field says whether it has a value, a suggestion or nothing", () => {
  assert.deepEqual(summaries(fieldsOf()), ["…", "…", "…", "optional", "…"]);
  const values = { verdict: "good", keys: ["0a", "general"], words: ["0-1", "1-2"], why: "because", claim: { a: "right" } };
  assert.deepEqual(summaries(fieldsOf({ values })), ["✓", "[0a] [general]", "2 marked", "✓", "✓"]);
  assert.deepEqual(summaries(fieldsOf({ suggested: values })), ["?", "[0a] [general] ?", "2 marked ?", "?", "?"]);
  assert.deepEqual(summaries(fieldsOf({ values: { keys: [], words: [] } })).slice(1, 3), ["∅ none", "∅ none"]);
});

test("a field that is asked of each sentence is absent where there is none", () => {
  assert.equal(rowsOf(fieldsOf({ each: [] })).length, 5, "four fields and the note");
  assert.match(row(fieldsOf(), "claim").querySelector(".name").textContent, /claim \[a\]$/);
});

test("options show what is chosen or suggested, and who else chose them", () => {
  const others = [{ name: "Zoe", values: { verdict: true } }, { name: "<i>Yan", values: { verdict: true, keys: ["general"] } }];
  const drawn = fieldsOf({ values: { verdict: true }, suggested: { keys: ["general"] }, others });
  const looks = (name) => row(drawn, name).querySelectorAll(".option").map((button) => [button.textContent, button.className, button.attributes["aria-checked"]]);
  assert.deepEqual(looks("verdict"), [["1 good", "option", "false"], ["2 yesZoe+<i>Yan", "option on", "true"]]);
  assert.deepEqual(looks("keys"), [["general<i>Yan", "option guess", "true"], ["none", "option", undefined]]);
});

test("a press chooses, a double click chooses once, and none gives an empty list", () => {
  const drawn = fieldsOf();
  const [, yes] = row(drawn, "verdict").querySelectorAll(".option");
  yes.click({ detail: 1 });
  yes.click({ detail: 2 });
  const [, none] = row(drawn, "keys").querySelectorAll(".option");
  none.click({ detail: 0 });
  assert.deepEqual(drawn.calls, [["choose", 1], ["give", []]]);
  assert.deepEqual(drawn.annotator.work.place, ["keys", null]);
});

test("a text is sent for its item, and an empty one removes the value", () => {
  const drawn = fieldsOf({ values: { why: "<script>" } });
  const area = row(drawn, "why").querySelector("textarea");
  assert.equal(area.value, "<script>");
  for (const text of ["right \u202eto left", ""]) {
    area.value = text;
    area.dispatch("input");
    drawn.content.page = { ...drawn.content.page, number: 4 };
    area.dispatch("blur");
  }
  assert.deepEqual(drawn.calls.map(([, act, sent]) => [act, sent.field, sent.value, sent.number]), [["label", "why", "right \u202eto left", 4], ["label", "why", null, 4]]);
});

test("the row in which somebody is writing stays when all others are painted again", () => {
  const drawn = fieldsOf();
  const before = [...rowsOf(drawn)];
  row(drawn, "why").querySelector("textarea").focus();
  drawn.fields.paint();
  const same = rowsOf(drawn).map((element, place) => element === before[place]);
  assert.deepEqual(same, [false, false, false, true, false, false]);
  document.activeElement = null;
});

test("suggestions name who made them, and contradictions are those that the task declares", () => {
  const contradiction = { message: "[{}] is odd", labels: { verdict: ["good"], claim: ["wrong"] }, some: {}, every: {}, chosen: "", not_chosen: "" };
  const values = { verdict: "good", claim: { a: "wrong" } };
  const drawn = fieldsOf({ values, suggested: { keys: [] }, contradictions: [contradiction] });
  assert.equal(drawn.fields.suggested.textContent, "suggested by Judge <i>, saved only when accepted");
  assert.equal(drawn.fields.warnings.textContent, "⚠ [a] is odd");
  assert.equal(fieldsOf({ values }).fields.warnings.textContent, "");
});

test("the note is hidden until somebody writes one or wants to", () => {
  const noteOf = ({ fields }) => fields.box.querySelector(".note");
  assert.equal("hidden" in noteOf(fieldsOf()).attributes, true);
  assert.equal("hidden" in noteOf(fieldsOf({ note: "odd" })).attributes, false);
});

test("the search panel counts hits, and Enter of an input method is none", () => {
  const finds = [];
  const sentences = { hits: [], find: (query) => { finds.push(query); return [-1, 0]; }, nextHit: (step) => [step, 3] };
  const panel = searchOf(sentences);
  const [input, count] = [panel.querySelector("input"), panel.querySelector(".count")];
  input.value = "東京";
  input.dispatch("keydown", { key: "Enter", isComposing: true, preventDefault() {} });
  assert.deepEqual(finds, []);
  input.dispatch("keydown", { key: "Enter", preventDefault() {} });
  assert.deepEqual([finds, count.textContent], [["東京"], "0 found"]);
  sentences.hits = [1, 2, 3];
  input.dispatch("keydown", { key: "Enter", preventDefault() {} });
  assert.equal(count.textContent, "2 of 3");
  sentences.find = () => [-1, 0];
  input.value = "";
  input.dispatch("input");
  assert.equal(count.textContent, "");
});

test("a key that is pressed on a key of the help replaces it, unless it moves through the page", () => {
  const keys = new Keys({ name: "any", fields: FIELDS });
  const changes = [];
  const panel = helpOf(keys, (key, other) => changes.push([key, other]));
  const skip = panel.querySelectorAll("button").find(({ attributes }) => attributes["aria-keyshortcuts"] === ".");
  for (const key of ["Tab", "Shift", "Escape", "s"]) {skip.dispatch("keydown", { key, preventDefault() {} });}
  skip.dispatch("keydown", { key: "s", ctrlKey: true, preventDefault() {} });
  assert.deepEqual(changes, [[".", "s"]]);
  keys.change(".", "s");
  keys.write(panel);
  assert.deepEqual([skip.textContent, skip.attributes["aria-keyshortcuts"]], ["s", "s"]);
});

test("a guideline has a line for each line, and is hidden if there is none", () => {
  const guide = guideOf({ name: "<b>", guideline: "one\n<i>two</i>" });
  assert.deepEqual(guide.querySelectorAll("p").map(({ textContent }) => textContent), ["one", "<i>two</i>"]);
  assert.equal("hidden" in guideOf({ name: "x", guideline: "" }).attributes, true);
});
