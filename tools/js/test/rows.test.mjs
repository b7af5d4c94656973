// The list of rows: what is tinted on the page of the selected row.

import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.mjs";
import { node } from "../src/dom.mjs";
import rows from "../src/rows.mjs";

const TEXT = "answer.f1 and noise rate < 0.5: Oslo, p<0.05";
let layOut;

class Observer {
  observe() {}

  disconnect() {}
}

// The texts are walked once. Its place in the text becomes the text of a range.
class Walker {
  constructor() {
    this.texts = [{ data: TEXT }];
  }

  nextNode() {
    this.currentNode = this.texts.pop();
    return this.currentNode;
  }
}

class Range {
  constructor({ startOffset, endOffset }) {
    this.text = TEXT.slice(startOffset, endOffset);
  }
}

Object.assign(globalThis, {
  Highlight: Set,
  MutationObserver: Observer,
  NodeFilter: {},
  ResizeObserver: class extends Observer {
    constructor(resized) {
      super();
      layOut = resized;
    }
  },
  StaticRange: Range,
});
document.createTreeWalker = () => new Walker();

function tinted(search, numbers) {
  globalThis.CSS = { highlights: new Map() };
  const content = {
    offer: { total: 1, sign_meaning: "", choices: [], sorts: [], numbers },
    found: { version: 1, count: 1, first: 0, rows: [["", "Where?", []]] },
    search,
    sort: "",
    chosen: [],
    position: 0,
  };
  const el = node("div");
  node("div", { class: "ragnb-view" }, el, node("div", { class: "ragnb-view-page" }));
  const close = rows.render({ el, model: { get: (name) => content[name], on() {}, off() {}, send() {} } });
  layOut();
  const texts = [...(CSS.highlights.get("ragnb-found") ?? [])].map(({ text }) => text);
  close();
  return texts;
}

test("words of a search are tinted, and a comparison of numbers is not", () => {
  const numbers = ["answer.f1", "noise rate", "p_value"];
  const cases = [
    ["oslo", ["Oslo"]],
    ["answer.f1<0.5", []],
    ["answer.f1 < 0.5", []],
    ["oslo noise rate < 0.5 rate", ["Oslo", "rate"]],
    ["answer.f1", ["answer.f1"]],
    ["p<0.05", ["p<0.05"]],
    ["< 0.5", ["<", "<", "0.5"]],
    ["", []],
  ];
  for (const [search, texts] of cases) {assert.deepEqual(tinted(search, numbers), texts, search);}
});

test("without columns of numbers, a comparison is searched as words, so its words are tinted", () => {
  assert.deepEqual(tinted("answer.f1<0.5", []), []);
  assert.deepEqual(tinted("rate < 0.5", []), ["rate", "<", "<", "0.5"]);
});
