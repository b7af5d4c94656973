// What rows.mjs decides without a page: which rows to ask for, what a key means, where words stand.

import assert from "node:assert/strict";
import test from "node:test";

import widget, { commandOf, isPlain, moved, unknown, hits } from "../../../ragnb/widgets/static/rows.mjs";

const plain = (key, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...more });

test("keys and what they ask for", () => {
  const asked = { j: "next", ArrowDown: "next", k: "previous", ArrowUp: "previous", Home: "first", End: "last",
    PageUp: "page up", PageDown: "page down", "/": "search" };
  for (const [key, command] of Object.entries(asked)) assert.equal(commandOf(plain(key)), command);
  for (const key of ["a", "b", "d", "x", "Tab", "Enter", "Escape", "J", "toString", "constructor", ""]) {
    assert.equal(commandOf(plain(key)), null);
  }
  for (const modifier of ["ctrlKey", "metaKey", "altKey"]) assert.equal(commandOf(plain("j", { [modifier]: true })), null);
});

test("what is pressed with another key is the notebook's", () => {
  assert.ok(isPlain(plain("d")) && isPlain(plain("Enter")) && isPlain(plain("J", { shiftKey: true })));
  for (const modifier of ["ctrlKey", "metaKey", "altKey"]) assert.ok(!isPlain(plain("s", { [modifier]: true })));
  assert.equal(commandOf(plain("Enter", { shiftKey: true }), true), null);
});

test("in the search letters are letters, and three keys leave it", () => {
  for (const key of ["j", "k", "/", "Home", "End", "ArrowUp", "ArrowLeft", "Tab"]) assert.equal(commandOf(plain(key), true), null);
  for (const key of ["Escape", "Enter", "ArrowDown"]) assert.equal(commandOf(plain(key), true), "leave");
});

test("keys that choose a character leave the search as it is", () => {
  for (const key of ["Escape", "Enter", "ArrowDown"]) assert.equal(commandOf(plain(key, { isComposing: true }), true), null);
});

test("moving ends at the ends", () => {
  assert.equal(moved("next", 0, 5, 3), 1);
  assert.equal(moved("next", 4, 5, 3), 4);
  assert.equal(moved("previous", 0, 5, 3), 0);
  assert.equal(moved("page down", 0, 5, 3), 3);
  assert.equal(moved("page down", 3, 5, 3), 4);
  assert.equal(moved("page up", 4, 5, 3), 1);
  assert.equal(moved("last", 0, 5, 3), 4);
  assert.equal(moved("first", 4, 5, 3), 0);
  assert.equal(moved("search", 2, 5, 3), 2);
  for (const command of ["next", "previous", "first", "last"]) assert.equal(moved(command, -1, 0, 3), -1);
});

test("only what is not known yet is asked for", () => {
  const known = new Map([[0, 1], [1, 1], [2, 1], [6, 1]]);
  assert.deepEqual(unknown(known, [0, 7]), [3, 6]);
  assert.deepEqual(unknown(known, [0, 9]), [3, 9]);
  assert.equal(unknown(known, [0, 3]), null);
  assert.equal(unknown(known, [5, 5]), null);
  assert.deepEqual(unknown(new Map(), [4, 8]), [4, 8]);
});

test("every place of every word is found, whatever its letter case", () => {
  assert.deepEqual(hits("Oslo, oslo. OSLO", ["oslo"]), [[0, 4], [6, 10], [12, 16]]);
  assert.deepEqual(hits("aaaa", ["aa"]), [[0, 2], [2, 4]]);
  assert.deepEqual(hits("北京 is Beijing", ["北京", "beijing"]), [[0, 2], [6, 13]]);
  assert.deepEqual(hits("İstanbul", ["stanbul"]), []);
  assert.deepEqual(hits("", ["a"]), []);
  assert.deepEqual(hits("a.b", ["."]), [[1, 2]]);
});

test("an anywidget is made of a render function", () => assert.equal(typeof widget.render, "function"));
