import assert from "node:assert/strict";
import { test } from "node:test";

import { spoken } from "../../../ragnb/widgets/static/src/annotator.mjs";
import { contradictions } from "../../../ragnb/widgets/static/src/fields.mjs";
import { listed } from "../../../ragnb/widgets/static/src/item_list.mjs";
import { ACTS, BUTTONS, Keys } from "../../../ragnb/widgets/static/src/keys.mjs";
import { counted } from "../../../ragnb/widgets/static/src/saving.mjs";
import { found, hits } from "../../../ragnb/widgets/static/src/search.mjs";
import { Work, nextPlace, valueAt } from "../../../ragnb/widgets/static/src/work.mjs";

const FIELDS = [{ name: "relevant", key: "r", options: [] }, { name: "verdict", key: "v", options: ["correct", "incorrect"] }];
const KEYS = new Keys({ name: "any", fields: FIELDS });
const key = (name, more = {}) => KEYS.act({ key: name, ...more });

test("every key of the list means what the list says", () => {
  assert.deepEqual(key("ArrowDown"), { act: "move", step: 1, extend: undefined });
  assert.deepEqual(key("ArrowUp", { shiftKey: true }), { act: "move", step: -1, extend: true });
  assert.equal(key("j").step, 1);
  assert.equal(key("End").step, Infinity);
  assert.deepEqual(key("1"), { act: "option", number: 0 });
  assert.deepEqual(key("9"), { act: "option", number: 8 });
  const acts = { " ": "toggle", x: "toggle", e: "empty", Backspace: "clear", n: "next", p: "previous", Enter: "done", ".": "skip",
    f: "flag", m: "memo", a: "accept", z: "undo", Z: "redo", g: "jump", "/": "search", "?": "help", o: "fold", Escape: "leave",
    "]": "sentence on", "[": "sentence back", A: "auto" };
  for (const [name, act] of Object.entries(acts)) assert.equal(key(name).act, act, name);
});

test("every act has a key of its own, and every key is explained", () => {
  const keys = ACTS.flatMap(([, keys]) => keys);
  assert.equal(new Set(keys).size, keys.length);
  for (const [act, label, first] of BUTTONS) assert.ok(label && key(first).act === act, act);
  assert.ok(ACTS.every(([, , help]) => help));
  assert.deepEqual(KEYS.help().find(([, says]) => says.startsWith("an option"))[0], ["1", "2"], "no field has more");
});

test("a key can be changed to one without a meaning, works besides the old one, and can be brought back", () => {
  const keys = new Keys({ name: "any", fields: FIELDS });
  assert.deepEqual(["s", "r", "R", "z", "ArrowUp", "Enter"].map((other) => keys.change(".", other)), [true, false, false, false, false, false]);
  assert.deepEqual(["s", "."].map((name) => keys.act({ key: name }).act), ["skip", "skip"]);
  assert.equal(keys.of("."), "s");
  assert.equal(keys.change("1", "s"), false, "it is taken now");
  assert.equal(keys.change(".", "."), true);
  assert.deepEqual([keys.of("."), keys.act({ key: "s" })], [".", null]);
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

test("search asks for all words, whatever case, width and composition", () => {
  const texts = ["The Heat pump", "heat and PUMP", "ｈｅａｔ", "cafe\u0301", "北京の東京", "القاهرة", ""];
  assert.deepEqual(found(texts, "pump heat"), [0, 1]);
  assert.deepEqual(found(texts, "HEAT"), [0, 1, 2]);
  assert.deepEqual(found(texts, "café"), [3]);
  assert.deepEqual(found(texts, "東京"), [4]);
  assert.deepEqual(found(texts, "القاهرة"), [5]);
  assert.deepEqual(found(texts, "  "), []);
  assert.deepEqual(found(texts, ".*"), []);
});

test("the list passes what its filter says", () => {
  const entries = [["Who?", "labelled", true], ["Where is it?", "untouched", false], ["Wann?", "skipped", true], ["Where?", "started", false]];
  assert.deepEqual(listed(entries, "all", ""), [0, 1, 2, 3]);
  assert.deepEqual(listed(entries, "not labelled", ""), [1, 2, 3]);
  assert.deepEqual(listed(entries, "flagged", ""), [0, 2]);
  assert.deepEqual(listed(entries, "skipped", ""), [2]);
  assert.deepEqual(listed(entries, "all", "where"), [1, 3]);
  assert.deepEqual(listed(entries, "untouched", "it where"), [1]);
});

test("time left is said as people say it", () => {
  assert.equal(spoken(0), "about 1 s left");
  assert.equal(spoken(89), "about 89 s left");
  assert.equal(spoken(90), "about 2 min left");
  assert.equal(spoken(3600 * 2), "about 2.0 h left");
});

test("after one place comes the next that is missing, from here on and then from the start", () => {
  const places = [["relevant", null], ["support", "a"], ["support", "b"], ["overall", null]];
  const missing = [["relevant", null], ["support", "b"]];
  assert.deepEqual(nextPlace(missing, places, ["relevant", null]), ["support", "b"]);
  assert.deepEqual(nextPlace(missing, places, ["support", "b"]), ["relevant", null]);
  assert.deepEqual(nextPlace(missing, places, ["overall", null]), ["relevant", null]);
  assert.equal(nextPlace([], places, ["overall", null]), null);
});

test("values of an item and of a sentence", () => {
  const values = { relevant: [], support: { a: "full" } };
  assert.deepEqual(valueAt(values, ["relevant", null]), []);
  assert.equal(valueAt(values, ["support", "a"]), "full");
  assert.equal(valueAt(values, ["support", "b"]), undefined);
  assert.equal(valueAt(values, ["overall", null]), undefined);
});

test("votes are those who said the value, or whose list holds it", () => {
  const others = [{ name: "A", values: { verdict: "correct", relevant: ["0a"] } }, { name: "B", values: { verdict: "refuse", relevant: ["0a", "0b"] } }, { name: "C", values: {} }];
  const work = new Work({ get: () => ({ others }) });
  assert.deepEqual(work.votes(["verdict", null], "refuse"), ["B"]);
  assert.deepEqual(work.votes(["relevant", null], "0a"), ["A", "B"]);
  assert.deepEqual(work.votes(["relevant", null], "0c"), []);
});

test("names that come again are counted", () => {
  assert.equal(counted(["item 1 (flag)", "item 3 (label)", "item 1 (flag)"]), "item 1 (flag) × 2, item 3 (label)");
  assert.equal(counted([]), "");
});

test("every place of every word is found, whatever its letter case", () => {
  assert.deepEqual(hits("Oslo, oslo. OSLO", ["oslo"]), [[0, 4], [6, 10], [12, 16]]);
  assert.deepEqual(hits("aaaa", ["aa"]), [[0, 2], [2, 4]]);
  assert.deepEqual(hits("北京 is Ｂeijing", ["北京", "beijing"]), [[0, 2], [6, 13]]);
  assert.deepEqual(hits("İstanbul", ["stanbul"]), []);
  assert.deepEqual(hits("a.b", ["."]), [[1, 2]]);
});

test("contradictions are reported, and untouched places contradict nothing", () => {
  const whole = {
    relevant: ["0a", "1a"], utilized: ["0a"], overall: false, supporting: { a: ["0a"], b: [] }, support: { a: "full", b: "none" },
  };
  const atOdds = ["the whole response and its sentences contradict each other"];
  const cases = [
    [{}, []],
    [{ support: { a: "partial", b: "none" } }, []],
    [{ supporting: { a: [], b: [] } }, ["[a] is supported, yet by no sentence"]],
    [{ supporting: { b: ["1b"] } }, ["[b] is not supported, yet rests on sentences"]],
    [{ utilized: ["0a", "0b"] }, ["[0b] is utilized, yet not relevant"]],
    [{ relevant: undefined }, []],
    [{ overall: true }, atOdds],
    [{ support: { a: "full", b: "full" }, supporting: {} }, atOdds],
    [{ support: { a: "full", b: "partial" }, supporting: {} }, []],
    [{ support: { a: "full" }, overall: true }, []],
    [{ overall: undefined }, []],
  ];
  for (const [changes, found] of cases) assert.deepEqual(contradictions({ ...whole, ...changes }, ["a", "b"]), found);
});
