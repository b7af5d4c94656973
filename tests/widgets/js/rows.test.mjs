// What the list of rows decides without a page: which rows to ask for, and what a key means.

import assert from "node:assert/strict";
import test from "node:test";

import { isPlain, leavesSearch, stepOf } from "../../../ragnb/widgets/static/src/keys.mjs";
import widget, { unknown } from "../../../ragnb/widgets/static/src/rows.mjs";

const plain = (key, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more });

test("keys and how far they move", () => {
  const steps = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, Home: -Infinity, End: Infinity, PageUp: -8, PageDown: 8 };
  for (const [key, step] of Object.entries(steps)) assert.equal(stepOf(plain(key)), step);
  for (const key of ["a", "b", "Tab", "Enter", "J", "toString", "constructor", ""]) assert.equal(stepOf(plain(key)), undefined);
});

test("what is pressed with another key is the notebook's", () => {
  assert.ok(isPlain(plain("d")) && isPlain(plain("Enter")) && isPlain(plain("J", { shiftKey: true })));
  for (const modifier of ["ctrlKey", "metaKey", "altKey"]) {
    assert.ok(!isPlain(plain("s", { [modifier]: true })));
    assert.equal(stepOf(plain("j", { [modifier]: true })), undefined);
  }
});

test("in the search letters are letters, and three keys leave it unless they choose a character", () => {
  for (const key of ["j", "k", "/", "Home", "ArrowUp", "Tab"]) assert.ok(!leavesSearch(plain(key)));
  for (const key of ["Escape", "Enter", "ArrowDown"]) {
    assert.ok(leavesSearch(plain(key)));
    assert.ok(!leavesSearch(plain(key, { isComposing: true })));
  }
  assert.ok(!leavesSearch(plain("Enter", { shiftKey: true })));
});

test("only what is not known yet is asked for", () => {
  const known = new Map([[0, 1], [1, 1], [2, 1], [6, 1]]);
  assert.deepEqual(unknown(known, [0, 7]), [3, 6]);
  assert.deepEqual(unknown(known, [0, 9]), [3, 9]);
  assert.equal(unknown(known, [0, 3]), null);
  assert.equal(unknown(known, [5, 5]), null);
});

test("an anywidget is made of a render function", () => assert.equal(typeof widget.render, "function"));
