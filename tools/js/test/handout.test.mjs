// The mailed page: who labels, the file of labels that goes out and comes back, and the question before the page is left.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { happen, Key, openNewPage } from "./page.mjs";

const option = (value) => ({ value, label: value, implies: {}, sign: value });
const FIELD = { name: "verdict", label: "verdict", kind: "choice", key: "v", each: false, of: null, required: true, options: [option("good"), option("bad")] };
const PAGE = { number: 0, history: [], question: "q", references: [], parts: [{ name: "response", heading: "response", sentences: [["a", "Yes."]] }], keyed: [], each: [], places: [["verdict", null]], options: {} };
const HANDOUT = {
  header: { ragnb_annotation: 1, handout: "h", task: { name: "fit / unfit" } },
  annotator: "",
  task: { name: "t", guideline: "", unit: "response", fields: [FIELD], contradictions: [], codebook: [] },
  items: [{ id: "q/0", title: "q", pinned: { id: { example_id: "q/0" }, fingerprint: "f", sentences: {} }, suggested: [], page: PAGE }],
  suggested_by: "",
};

// The address of a file is given up after a minute, for which no test waits.
const realTimeout = globalThis.setTimeout;
globalThis.setTimeout = (run, delay) => realTimeout(run, delay).unref();

let root;
let downloads;
let openedPages = 0;

beforeEach(() => {
  openNewPage();
  downloads = [];
  globalThis.localStorage = Object.create({
    getItem(key) {
      return Object.hasOwn(this, key) ? this[key] : null;
    },
    setItem(key, value) {
      this[key] = value;
    },
    removeItem(key) {
      delete this[key];
    },
  });
  URL.createObjectURL = (file) => {
    downloads.push(file);
    return "blob:1";
  };
  URL.revokeObjectURL = () => {};
});

// The script of the page runs when it is loaded, so that each page is a module of its own.
async function openPage(handout = HANDOUT) {
  root = document.createElement("div");
  const data = document.createElement("script");
  data.textContent = JSON.stringify(handout);
  document.getElementById = (id) => (id === "handout" ? root : data);
  openedPages += 1;
  await import(`../src/handout.mjs?page=${openedPages}`);
}

const buttons = () => root.querySelectorAll("button");
const press = (text) => buttons().find(({ textContent }) => textContent.startsWith(text)).click();
const answered = () => new Promise((resolve) => realTimeout(resolve, 3));

function start(name) {
  root.querySelector("input").value = name;
  root.querySelector("form").dispatch("submit", { preventDefault() {} });
}

async function label(key) {
  root.querySelectorAll(".ragnb-annotator").at(-1).dispatchEvent(new Key("keydown", { key }));
  await answered();
}

function isAskedBeforeLeaving() {
  let isAsked = false;
  happen("beforeunload", { preventDefault: () => { isAsked = true; } });
  return isAsked;
}

async function choose(files) {
  const input = root.querySelectorAll("input").find(({ attributes }) => attributes.type === "file");
  input.files = files;
  // A listener returns a promise; if it is rejected, the test fails.
  await Promise.all(input.listeners.get("change").map(({ listener }) => listener()));
  await answered();
}

const openFile = (text) => choose([{ text: async () => text }]);

test("the page asks for a name, and takes none that is empty", async () => {
  await openPage();
  assert.match(root.textContent, /^1 items to label\. Every label is saved in this browser at once/);
  start("   ");
  assert.ok(root.querySelector("form"));
  start(" Ana ");
  assert.equal(root.querySelector("b").textContent, "Ana");
});

test("a page that was made for somebody does not ask", async () => {
  await openPage({ ...HANDOUT, annotator: "Ben" });
  assert.equal(root.querySelector("b").textContent, "Ben");
});

test("labels go into a file and come back into another browser", async () => {
  await openPage();
  start("Ana");
  await label("1");
  press("download the labels");
  const text = await downloads[0].text();
  const [header, ...actions] = text.trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(header.annotator, "Ana");
  assert.deepEqual(actions.filter(({ action }) => action === "label").map(({ item, set }) => [item, set[0].value]), [["q/0", "good"]]);

  globalThis.localStorage = Object.assign(Object.create(Object.getPrototypeOf(localStorage)));
  await openPage();
  await openFile(text);
  assert.equal(root.querySelector("b").textContent, "Ana");
  assert.match(root.textContent, /1 of 1 labelled/);
});

test("the name of the file has only letters that all systems allow", async () => {
  let name;
  await openPage();
  start("Ana/Bé 李");
  const make = document.createElement;
  document.createElement = (tag) => {
    const element = make(tag);
    if (tag === "a") {
      element.click = () => { name = element.attributes.download; };
    }
    return element;
  };
  press("download the labels");
  document.createElement = make;
  assert.equal(name, "Ana_Bé_李.fit___unfit.jsonl");
});

test("the browser asks before the page is left with labels that are in no file", async () => {
  await openPage();
  start("Ana");
  assert.ok(!isAskedBeforeLeaving(), "an item that was shown is no label");
  await label("1");
  assert.ok(isAskedBeforeLeaving());
  press("download the labels");
  assert.ok(!isAskedBeforeLeaving());
  await label("v");
  await label("2");
  assert.ok(isAskedBeforeLeaving());
  press("download the labels");
});

test("somebody who has labels here continues with one press", async () => {
  await openPage();
  start("Ana");
  await label("2");
  await openPage();
  press("continue as Ana");
  assert.match(root.textContent, /1 of 1 labelled/);
});

test("a file that cannot be used changes nothing", async () => {
  await openPage();
  const keys = Object.keys(localStorage);
  await openFile("{}\n");
  assert.match(root.querySelector(".message").textContent, /^This file cannot be used: /);
  assert.deepEqual(Object.keys(localStorage), keys);
});

test("a file that was chosen and then taken back changes nothing", async () => {
  await openPage();
  await choose([]);
  assert.equal(root.querySelector(".message").textContent, "");
  await openFile("{}\n");
  assert.match(root.querySelector(".message").textContent, /^This file cannot be used: /);
});

test("a file that was removed after it was chosen is named as unusable", async () => {
  await openPage();
  await choose([{ text: () => Promise.reject(new Error("the file could not be read")) }]);
  assert.equal(root.querySelector(".message").textContent, "This file cannot be used: the file could not be read");
});

test("stored actions that cannot be read are counted", async () => {
  localStorage.setItem("ragnb h Ana 2030", "{");
  await openPage();
  press("continue as Ana");
  assert.match(root.querySelector(".warnings").textContent, /^1 of the stored actions cannot be read and are left out\./);
});

test("without a storage the page warns that it saves nothing", async () => {
  delete globalThis.localStorage;
  await openPage();
  start("Ana");
  assert.equal(root.querySelector(".warnings").textContent, "This browser saves nothing: download the labels before you close the page.");
});
