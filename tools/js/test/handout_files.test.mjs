// What the hand-out stores and reads: names in keys, storages that are full or closed, files from elsewhere.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { checked } from "../src/actions.mjs";
import { checksum } from "../src/checksum.mjs";
import { read, written } from "../src/labels_file.mjs";
import { LocalModel } from "../src/local.mjs";
import { annotatorsIn, markOf, prefixOf, storageOf } from "../src/storage.mjs";

const NAMES = ["ana", "李 Ana", "أحمد", "a b", "100%", "a/b", "👩‍👩‍👧‍👦", "constructor"];
const ODD_TEXTS = ["", "a\nb", '"quoted", "checksum": "00000000"}', "\u202eright to left", "👩 𝒜", "half \ud83d", "\u2028"];

const option = (value) => ({ value, label: String(value), implies: {} });
const FIELDS = [
  { name: "verdict", label: "verdict", kind: "choice", each: false, of: "documents", required: true, options: [option("good"), option(true)] },
  { name: "why", label: "why", kind: "text", each: false, of: "documents", required: false, options: [] },
  { name: "keys", label: "keys", kind: "sentences", each: true, of: "documents", required: true, options: [option("general")] },
];
const PAGE = {
  number: 0,
  parts: [{ name: "documents", sentences: [["0a", "One."], ["0b", "Two."]] }],
  each: ["a"],
  places: [["verdict", null], ["why", null], ["keys", "a"]],
};
const HANDOUT = {
  header: { ragnb_annotation: 1, handout: "h", task: { name: "t" } },
  task: { name: "t", unit: "response", fields: FIELDS, contradictions: [] },
  items: [{ id: "q/0", title: "q", pinned: { id: { example_id: "q/0" }, fingerprint: "f", sentences: {} }, suggested: [], page: PAGE }],
  suggested_by: "",
};

// A browser's storage of a limited number of keys.
function browserStorage(limit = Infinity) {
  const storage = Object.create({
    getItem(key) {
      return Object.hasOwn(this, key) ? this[key] : null;
    },
    setItem(key, value) {
      if (!Object.hasOwn(this, key) && Object.keys(this).length >= limit) {throw new Error("full");}
      this[key] = value;
    },
    removeItem(key) {
      delete this[key];
    },
  });
  return storage;
}

afterEach(() => {
  delete globalThis.localStorage;
});

test("names of annotators survive their keys, and other pages and hand-outs are apart", () => {
  const storage = browserStorage();
  for (const name of NAMES) {storage.setItem(`${prefixOf("h", name)}2030 1`, "{}");}
  storage.setItem(`${prefixOf("other", "Zoe")}2030 1`, "{}");
  storage.setItem(markOf("h", "Yan"), "1");
  storage.setItem("ragnb h %E0%A4%A 1", "another page wrote this");
  storage.setItem("theme", "dark");
  assert.deepEqual(annotatorsIn(storage, "h"), [...NAMES].sort());
});

test("one name is not the beginning of another", () => {
  assert.equal(prefixOf("h", "ana maria").startsWith(prefixOf("h", "ana")), false);
});

test("a storage that is closed, absent or full from the start is replaced as long as the page is open", () => {
  const { storage, isLasting } = storageOf("h");
  assert.equal(isLasting, false, "there is none under Node");
  storage.setItem("key", "1");
  assert.deepEqual([storage.getItem("key"), Object.keys(storage)], ["1", ["key"]]);
  storage.removeItem("key");
  assert.equal(storage.getItem("key"), undefined);
  globalThis.localStorage = browserStorage(0);
  assert.equal(storageOf("h").isLasting, false);
});

test("a full storage with labels of this page is used, so that they can be read", () => {
  const full = browserStorage(1);
  full.setItem(`${prefixOf("h", "ana")}1`, "{}");
  globalThis.localStorage = full;
  assert.deepEqual(storageOf("h"), { storage: full, isLasting: true });
  assert.equal(storageOf("other").isLasting, false);
});

test("what a full storage refuses is reported and has no effect, and a retry is saved", async () => {
  let limit = 2;
  const storage = browserStorage();
  const { setItem } = Object.getPrototypeOf(storage);
  Object.getPrototypeOf(storage).setItem = function (key, value) {
    if (Object.keys(this).length >= limit) {throw new Error("full");}
    setItem.call(this, key, value);
  };
  const model = new LocalModel(HANDOUT, storage, "ragnb h ana ");
  const states = [];
  model.on("change:state", () => states.push(model.get("state")));
  const label = { act: "label", number: 0, field: "verdict", value: "good" };
  model.send({ act: "flag", number: 0, id: 1 });
  model.send({ ...label, id: 2 });
  await null;
  assert.deepEqual(states.map(({ ack, failed }) => [ack, failed]), [[1, false], [2, true]]);
  assert.match(states[1].message, /^not saved, because this browser's storage is full or gone \(full\); download/);
  assert.deepEqual([Object.keys(states[1].values), states[1].flag], [[], true]);
  limit = 3;
  model.send({ ...label, id: 3 });
  await null;
  assert.deepEqual([states[2].failed, states[2].values.verdict], [false, "good"]);
  const again = new LocalModel(HANDOUT, storage, "ragnb h ana ");
  assert.deepEqual([again.state(0).values.verdict, again.state(0).flag], ["good", true]);
});

test("notes and texts of every kind are in the file and come back, and its lines are lines", () => {
  const model = new LocalModel(HANDOUT, browserStorage(), "ragnb h ana ");
  for (const text of ODD_TEXTS) {
    model.send({ act: "note", number: 0, text });
    model.send({ act: "label", number: 0, field: "why", value: text || null });
  }
  const file = written(HANDOUT, "ana", model.actions);
  assert.equal(file.split("\n").length, model.actions.length + 2);
  const { actions } = read(file, HANDOUT);
  assert.deepEqual(actions, model.actions.map(({ key, ...action }) => [key, action]));
});

test("a file of which a letter was changed is refused, wherever it is", () => {
  const model = new LocalModel(HANDOUT, browserStorage(), "ragnb h ana ");
  model.send({ act: "note", number: 0, text: "right" });
  const lines = written(HANDOUT, "ana", model.actions).trimEnd().split("\n");
  lines.forEach((line, number) => {
    const body = line.slice(0, line.lastIndexOf(',"checksum"'));
    for (let place = 2; place < body.length - 1; place += 1) {
      const letter = line[place] === "x" ? "y" : "x";
      const changed = [...lines];
      changed[number] = line.slice(0, place) + letter + line.slice(place + 1);
      assert.throws(() => read(changed.join("\n"), HANDOUT), new RegExp(`line ${number + 1} was changed after it was written`));
    }
  });
});

test("a file from elsewhere is refused with the reason", () => {
  const line = (record) => JSON.stringify(record);
  const header = { handout: "h", annotator: "ana" };
  const action = { n: 1, time: "2030-01-01T00:00:00+00:00", action: "flag", item: "q/0", value: true };
  const cases = [
    ["", /does not belong to this page/],
    [line({ ...header, handout: "i" }), /does not belong to this page/],
    [line({ ...header, annotator: " " }), /no name of an annotator/],
    ["[]", /line 1 is not an object/],
    ["not JSON", SyntaxError],
    [`${line(header)}\n${line({ ...action, item: "q/1" })}`, /the page has no item q\/1/],
    [`${line(header)}\n${line({ ...action, n: "1" })}`, /an action has no number/],
    [`${line(header)}\n${line({ ...action, key: 1 })}`, /an action has no number/],
  ];
  for (const [text, reason] of cases) {assert.throws(() => read(text, HANDOUT), reason);}
  const { actions } = read(`${line(header)}\n\n${line(action)}\n`, HANDOUT);
  assert.deepEqual(actions.map(([key]) => key), ["2030-01-01T00:00:00+00:00 000001 ragnb"], "Python writes no keys");
});

test("an action must be one that the page could have written", () => {
  const action = { time: "2030-01-01T00:00:00+00:00", item: 0 };
  const label = (field, value, sentence) => ({ ...action, action: "label", set: [{ field, value, ...(sentence ? { sentence } : {}) }] });
  const allowed = [
    { ...action, action: "open" }, { ...action, action: "flag", value: true }, { ...action, action: "note", value: "" },
    { ...action, action: "undo", of: "key" }, label("verdict", true), label("verdict", null), label("why", "<b>"),
    label("keys", ["0b", "general"], "a"), label("keys", [], "a"),
  ];
  for (const one of allowed) {assert.equal(checked(one, HANDOUT), one);}
  const refused = [
    [null, "no keys"], [[], "no keys"], ["flag", "no keys"],
    [{ ...action, action: "open", item: 1 }, "an unknown item"], [{ ...action, action: "open", item: "0" }, "an unknown item"],
    [{ ...action, action: "open", item: -1 }, "an unknown item"], [{ ...action, action: "open", time: "noon" }, "no time"],
    [{ ...action, action: "open", time: "2030-99-01T00:00:00" }, "no time"], [{ ...action, action: "toString" }, "an unknown name"],
    [{ ...action, action: "flag", value: 1 }, "a value other than true and false"], [{ ...action, action: "note" }, "a note that is no text"],
    [{ ...action, action: "redo", of: 1 }, "no other action that it is about"], [{ ...action, action: "label" }, "no list of labels"],
    [{ ...action, action: "label", set: [null] }, "a label that the task does not have"],
  ];
  for (const [one, problem] of refused) {assert.throws(() => checked(one, HANDOUT), new Error(`an action has ${problem}`));}
  const wrong = [
    label("verdict", "perhaps"), label("verdict", 1), label("verdict", "good", "a"), label("other", "good"), label("why", 1),
    label("keys", "0a", "a"), label("keys", ["1a"], "a"), label("keys", ["0a"]), label("keys", ["0a"], "b"), label("constructor", "x"),
  ];
  for (const one of wrong) {assert.throws(() => checked(one, HANDOUT), /a label that the task does not have/);}
});

test("the checksum is that of the UTF-8 text, as zlib computes it, also outside the basic plane", () => {
  assert.equal(checksum("👩"), "963d9661");
  assert.equal(checksum("القاهرة"), "65e31e38");
});
