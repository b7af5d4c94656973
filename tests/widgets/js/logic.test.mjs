import assert from "node:assert/strict";
import { test } from "node:test";

import * as logic from "../../../ragnb/widgets/static/logic.mjs";

const FIELDS = [{ name: "relevant", key: "r" }, { name: "verdict", key: "v" }];
const key = (name, more = {}) => logic.keyAct({ key: name, ...more }, FIELDS);

test("every key of the list means what the list says", () => {
  assert.deepEqual(key("ArrowDown"), { act: "move", step: 1, extend: undefined });
  assert.deepEqual(key("ArrowUp", { shiftKey: true }), { act: "move", step: -1, extend: true });
  assert.equal(key("j").step, 1);
  assert.equal(key("End").step, Infinity);
  assert.deepEqual(key("1"), { act: "option", number: 0 });
  assert.deepEqual(key("9"), { act: "option", number: 8 });
  const acts = { " ": "toggle", x: "toggle", e: "empty", Backspace: "clear", n: "next", p: "previous", Enter: "done", ".": "skip",
    f: "flag", m: "memo", a: "accept", z: "undo", Z: "redo", g: "jump", "/": "search", "?": "help", o: "fold", Escape: "leave",
    "]": "sentence on", "[": "sentence back" };
  for (const [name, act] of Object.entries(acts)) assert.equal(key(name).act, act, name);
});

test("letters of fields, in either case", () => {
  assert.deepEqual(key("r"), { act: "field", name: "relevant" });
  assert.deepEqual(key("V"), { act: "field", name: "verdict" });
  assert.equal(key("q"), null);
  assert.equal(key("0"), null);
  assert.equal(key("Tab"), null);
});

test("with Ctrl or Cmd only undo and redo are ours", () => {
  for (const command of [{ ctrlKey: true }, { metaKey: true }]) {
    assert.equal(key("z", command).act, "undo");
    assert.equal(key("Z", { ...command, shiftKey: true }).act, "redo");
    assert.equal(key("y", command).act, "redo");
    for (const name of ["s", "c", "a", "f", "Enter", "1", "ArrowDown"]) assert.equal(key(name, command), null, name);
  }
  assert.equal(key("r", { altKey: true }), null);
});

test("a range runs the same way from either end", () => {
  const keys = ["0a", "0b", "0c", "1a"];
  assert.deepEqual(logic.range(keys, 1, 2), ["0b", "0c"]);
  assert.deepEqual(logic.range(keys, 3, 1), ["0b", "0c", "1a"]);
  assert.deepEqual(logic.range(keys, 2, 2), ["0c"]);
});

test("long documents are folded, short ones are not", () => {
  assert.equal(logic.shownOf(40), 40);
  assert.equal(logic.shownOf(41), 8);
});

test("search asks for all words, whatever case, width and composition", () => {
  const texts = ["The Heat pump", "heat and PUMP", "ｈｅａｔ", "cafe\u0301", "北京の東京", "القاهرة", ""];
  assert.deepEqual(logic.found(texts, "pump heat"), [0, 1]);
  assert.deepEqual(logic.found(texts, "HEAT"), [0, 1, 2]);
  assert.deepEqual(logic.found(texts, "café"), [3]);
  assert.deepEqual(logic.found(texts, "東京"), [4]);
  assert.deepEqual(logic.found(texts, "القاهرة"), [5]);
  assert.deepEqual(logic.found(texts, "  "), []);
  assert.deepEqual(logic.found(texts, ".*"), []);
});

test("the list passes what its filter says", () => {
  const entries = [["Who?", "labelled", true], ["Where is it?", "untouched", false], ["Wann?", "skipped", true], ["Where?", "started", false]];
  assert.deepEqual(logic.listed(entries, "all", ""), [0, 1, 2, 3]);
  assert.deepEqual(logic.listed(entries, "not labelled", ""), [1, 2, 3]);
  assert.deepEqual(logic.listed(entries, "flagged", ""), [0, 2]);
  assert.deepEqual(logic.listed(entries, "skipped", ""), [2]);
  assert.deepEqual(logic.listed(entries, "all", "where"), [1, 3]);
  assert.deepEqual(logic.listed(entries, "untouched", "it where"), [1]);
});

test("time left is said as people say it", () => {
  assert.equal(logic.spoken(null), "");
  assert.equal(logic.spoken(0), "about 1 s left");
  assert.equal(logic.spoken(89), "about 89 s left");
  assert.equal(logic.spoken(90), "about 2 min left");
  assert.equal(logic.spoken(3600 * 2), "about 2.0 h left");
});

test("after one place comes the next that is missing, from here on and then from the start", () => {
  const places = [["relevant", null], ["support", "a"], ["support", "b"], ["overall", null]];
  const missing = [["relevant", null], ["support", "b"]];
  assert.deepEqual(logic.nextPlace(missing, places, ["relevant", null]), ["support", "b"]);
  assert.deepEqual(logic.nextPlace(missing, places, ["support", "b"]), ["relevant", null]);
  assert.deepEqual(logic.nextPlace(missing, places, ["overall", null]), ["relevant", null]);
  assert.equal(logic.nextPlace([], places, ["overall", null]), null);
});

test("values of an item and of a sentence", () => {
  const values = { relevant: [], support: { a: "full" } };
  assert.deepEqual(logic.valueAt(values, ["relevant", null]), []);
  assert.equal(logic.valueAt(values, ["support", "a"]), "full");
  assert.equal(logic.valueAt(values, ["support", "b"]), undefined);
  assert.equal(logic.valueAt(values, ["overall", null]), undefined);
});

test("votes are those who said the value, or whose list holds it", () => {
  const others = [{ name: "A", values: { verdict: "correct", relevant: ["0a"] } }, { name: "B", values: { verdict: "refuse", relevant: ["0a", "0b"] } }, { name: "C", values: {} }];
  assert.deepEqual(logic.votes(others, ["verdict", null], "refuse"), ["B"]);
  assert.deepEqual(logic.votes(others, ["relevant", null], "0a"), ["A", "B"]);
  assert.deepEqual(logic.votes(others, ["relevant", null], "0c"), []);
});

test("names that come again are counted", () => {
  assert.equal(logic.counted(["item 1 (flag)", "item 3 (label)", "item 1 (flag)"]), "item 1 (flag) × 2, item 3 (label)");
  assert.equal(logic.counted([]), "");
});
