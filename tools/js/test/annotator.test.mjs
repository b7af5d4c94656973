import assert from "node:assert/strict";
import { test } from "node:test";

import { listed } from "../src/item_list.mjs";
import { ACTS, Keys } from "../src/keys.mjs";
import { hits, matchingTexts } from "../src/search.mjs";
import { nextPlace } from "../src/work.mjs";

const FIELDS = [{ name: "relevant", key: "r", options: [] }, { name: "verdict", key: "v", options: ["correct", "incorrect"] }];
const TAGS = { name: "tags", key: "t", kind: "tags", options: [] };

test("every key of the table and of a field means what the help says, and no other does", () => {
  const keys = new Keys({ name: "any", fields: [...FIELDS, TAGS] });
  assert.equal(new Keys({ name: "any", fields: FIELDS }).act({ key: "+" }), null, "no tags");
  for (const [act, those] of ACTS) {for (const key of those) {assert.equal(keys.act({ key }).act, act, key);}}
  assert.equal(new Set(ACTS.flatMap(([, those]) => those)).size, ACTS.flatMap(([, those]) => those).length);
  assert.deepEqual(keys.act({ key: "V" }), { act: "field", name: "verdict" });
  assert.deepEqual(keys.act({ key: "ArrowUp", shiftKey: true }), { act: "move", step: -1, extend: true });
  for (const key of ["q", "0", "Tab"]) {assert.equal(keys.act({ key }), null, key);}
  for (const command of [{ ctrlKey: true }, { metaKey: true }]) {
    assert.deepEqual(["z", "y"].map((key) => keys.act({ key, ...command }).act), ["undo", "redo"]);
    for (const key of ["s", "c", "a", "Enter", "1", "ArrowDown"]) {assert.equal(keys.act({ key, ...command }), null, key);}
  }
});

test("a key can be changed to one without a meaning, works besides the old one, and can be brought back", () => {
  const keys = new Keys({ name: "any", fields: FIELDS });
  assert.deepEqual(["s", "r", "R", "z", "ArrowUp", "Enter"].map((other) => keys.change(".", other)), [true, false, false, false, false, false]);
  assert.deepEqual(["s", "."].map((name) => keys.act({ key: name }).act), ["skip", "skip"]);
  assert.equal(keys.change("1", "s"), false, "it is taken now");
  assert.equal(keys.change(".", "."), true);
  assert.deepEqual([keys.of("."), keys.act({ key: "s" })], [".", null]);
});

test("search asks for all words, whatever case, width and composition, and finds every place of each", () => {
  const texts = ["The Heat pump", "heat and PUMP", "ｈｅａｔ", "cafe\u0301", "北京の東京", "القاهرة", ""];
  const cases = { "pump heat": [0, 1], HEAT: [0, 1, 2], café: [3], 東京: [4], القاهرة: [5], "  ": [], ".*": [] };
  for (const [query, numbers] of Object.entries(cases)) {assert.deepEqual(matchingTexts(texts, query), numbers, query);}
  assert.deepEqual(hits("Oslo, oslo. OSLO", ["oslo"]), [[0, 4], [6, 10], [12, 16]]);
  assert.deepEqual(hits("北京 is Ｂeijing", ["北京", "beijing"]), [[0, 2], [6, 13]]);
  assert.deepEqual(hits("İstanbul", ["stanbul"]), [[1, 8]]);
});

test("the list passes what its filter says", () => {
  const entries = [["Who?", "labelled", true], ["Where is it?", "untouched", false], ["Wann?", "skipped", true], ["Where?", "started", false]];
  const cases = [["all", "", [0, 1, 2, 3]], ["not labelled", "", [1, 2, 3]], ["flagged", "", [0, 2]], ["skipped", "", [2]], ["untouched", "it where", [1]]];
  for (const [filter, query, numbers] of cases) {assert.deepEqual(listed(entries, filter, query), numbers, filter);}
});

test("after one place comes the next that is missing, from here on and then from the start", () => {
  const places = [["relevant", null], ["support", "a"], ["support", "b"], ["overall", null]];
  const missing = [["relevant", null], ["support", "b"]];
  assert.deepEqual(nextPlace(missing, places, ["relevant", null]), ["support", "b"]);
  assert.deepEqual(nextPlace(missing, places, ["support", "b"]), ["relevant", null]);
  assert.equal(nextPlace([], places, ["overall", null]), null);
});
