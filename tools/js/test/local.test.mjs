// The hand-out without a browser: labels in a storage, undo and redo, the file of labels, and its checksums.

import assert from "node:assert/strict";
import { test } from "node:test";

import { checksum } from "../src/checksum.mjs";
import { read, written } from "../src/labels_file.mjs";
import { LocalModel, storedActions } from "../src/local.mjs";
import { Work } from "../src/work.mjs";

const PREFIX = "ragnb h ana ";
const option = (value, implies = {}) => ({ value, label: String(value), implies });
const FIELDS = [
  { name: "verdict", label: "verdict", kind: "choice", key: "v", each: false, of: "documents", required: true, options: [option("correct"), option("incorrect")] },
  { name: "support", label: "support", kind: "choice", key: "s", each: true, of: "documents", required: true, options: [option("full"), option("none", { keys: [] })] },
  { name: "keys", label: "keys", kind: "sentences", key: "k", each: true, of: "documents", required: true, options: [] },
];
const PARTS = [{ name: "documents", heading: "document 1", sentences: [["0a", "One."], ["0b", "Two."]] }, { name: "response", heading: "response", sentences: [["a", "Yes."]] }];
const PLACES = [["verdict", null], ["support", "a"], ["keys", "a"]];

function handout(suggested = []) {
  const item = (number) => ({
    id: `q/${number}`, title: `question ${number}`, pinned: { id: { example_id: `q/${number}` }, fingerprint: "f", sentences: {} }, suggested,
    page: { number, parts: PARTS, each: ["a"], places: PLACES, options: {} },
  });
  return { header: { ragnb_annotation: 1, handout: "h", task: { name: "t" } }, task: { name: "t", unit: "response", fields: FIELDS }, items: [item(0), item(1)], suggested_by: "judge" };
}

function storage() {
  return Object.create({
    getItem(key) { return this[key] ?? null; },
    setItem(key, value) { this[key] = value; },
    removeItem(key) { delete this[key]; },
  });
}

const label = (field, value, sentence = null) => ({ act: "label", number: 0, field, value, sentence });

test("the checksum is CRC-32 of the text in UTF-8", () => {
  assert.equal(checksum("123456789"), "cbf43926");
  assert.equal(checksum(""), "00000000");
  assert.equal(checksum("北京"), "cc6b7e91");
});

test("every action is in the storage, and another page continues there", () => {
  const kept = storage(), model = new LocalModel(handout(), kept, PREFIX);
  model.send(label("verdict", "correct"));
  model.send({ act: "note", number: 0, text: "?" });
  model.send({ act: "flag", number: 1 });
  const [actions, unreadable] = storedActions(handout(), kept, PREFIX);
  assert.deepEqual(actions.map(({ action }) => action), ["open", "label", "note", "flag"]);
  assert.equal(unreadable, 0);
  const again = new LocalModel(handout(), kept, PREFIX);
  assert.equal(again.state(0).values.verdict, "correct");
  assert.deepEqual([again.state(0).note, again.state(1).flag], ["?", true]);
});

test("what is no action of this page is left out and counted", () => {
  const kept = storage();
  kept[`${PREFIX}1`] = "{";
  kept[`${PREFIX}2`] = JSON.stringify({ action: "label", item: 0, time: "2030-01-01T00:00:00Z", set: [{ field: "verdict", value: "perhaps" }] });
  kept["ragnb h ben 1"] = "{";
  assert.deepEqual(storedActions(handout(), kept, PREFIX), [[], 2]);
});

test("an option implies values of untouched places, and undo takes back the whole action", () => {
  const model = new LocalModel(handout(), storage(), PREFIX);
  model.send(label("support", "none", "a"));
  assert.deepEqual({ ...model.state(0).values.keys }, { a: [] });
  model.send({ act: "undo" });
  assert.deepEqual(Object.keys(model.state(0).values), []);
  model.send({ act: "redo" });
  assert.deepEqual({ ...model.state(0).values.support }, { a: "none" });
  assert.deepEqual(model.state(0).missing, [["verdict", null]]);
});

test("keys are added and removed in the order of the text", () => {
  const model = new LocalModel(handout(), storage(), PREFIX);
  const toggle = (keys, on = null) => model.send({ act: "toggle", number: 0, field: "keys", sentence: "a", keys, on });
  toggle(["0b"]);
  toggle(["0a"]);
  assert.deepEqual(model.state(0).values.keys.a, ["0a", "0b"]);
  toggle(["0a", "0b"]);
  assert.deepEqual(model.state(0).values.keys.a, []);
});

test("a suggestion that is accepted or changed keeps its origin", () => {
  const suggested = handout([[["verdict", null], "correct"]]), model = new LocalModel(suggested, storage(), PREFIX);
  const work = new Work(model);
  assert.deepEqual(work.labelAt(["verdict", null]), { value: undefined, guess: "correct" });
  model.send({ act: "accept", number: 0 });
  model.send(label("verdict", "incorrect"));
  const sources = model.actions.flatMap(({ set = [] }) => set.map(({ source }) => source));
  assert.deepEqual(sources, ["suggestion accepted", "suggestion changed"]);
});

test("the file of labels is read again, and a line that was changed is refused", () => {
  const model = new LocalModel(handout(), storage(), PREFIX);
  model.send(label("verdict", "correct"));
  model.send({ act: "undo" });
  const file = written(handout(), "ana 李", model.actions);
  const { annotator, actions } = read(file, handout());
  assert.equal(annotator, "ana 李");
  assert.deepEqual(actions.map(([, { action }]) => action), ["open", "label", "undo"]);
  assert.throws(() => read(file.replace('"correct"', '"incorrect"'), handout()), /line 3 was changed after it was written/);
});

test("done names what is missing, then goes to the next item, and ends", () => {
  const model = new LocalModel(handout(), storage(), PREFIX);
  assert.equal(model.done(), "still missing: verdict; press . to skip");
  model.skip({ number: 0 });
  assert.equal(model.number, 1);
  assert.equal(model.skip({ number: 1 }), "all items are labelled or skipped");
  assert.deepEqual(model.progress().skipped, 2);
});
