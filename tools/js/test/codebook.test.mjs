// The codebook of the hand-out: changes, what two open pages can do to it, and what is refused. random_acts.mjs compares it with
// Python's.

import assert from "node:assert/strict";
import { test } from "node:test";

import { checked } from "../src/actions.mjs";
import { Codebook, Refusal, codebookAfter, tagName } from "../src/codebook.mjs";
import { LocalModel } from "../src/local.mjs";

const FIELDS = [{ name: "tags", label: "tags", kind: "tags", key: "t", each: false, of: "documents", required: true, options: [] }];
const TASK = { name: "t", unit: "response", fields: FIELDS, codebook: [["echo", "repeats the prompt"]] };
const add = (tag) => ({ action: "codebook", change: "add", tag, name: tag, definition: "" });
const names = (codebook) => [...codebook.tags.values()].map(({ name }) => name);

function handout() {
  const item = (number) => ({
    id: `q/${number}`, title: "?", pinned: { id: {}, fingerprint: "f", sentences: {} }, suggested: [],
    page: { number, parts: [], each: [], places: [["tags", null]], options: {} },
  });
  return { header: { handout: "h" }, task: TASK, items: [item(0), item(1)], suggested_by: "judge" };
}

function storage() {
  return Object.create({
    getItem(key) { return this[key] ?? null; },
    setItem(key, value) { this[key] = value; },
    removeItem(key) { delete this[key]; },
  });
}

test("a tag that is renamed or merged is so where it was used before", () => {
  const codebook = new Codebook([["a", ""], ["b", "B"], ["c", ""]]);
  codebook.apply({ change: "rename", tag: "a", name: "A2" });
  codebook.apply({ change: "merge", tag: "b", into: "a" });
  assert.deepEqual(codebook.resolved(["b", "a", "c"]), ["a", "c"]);
  assert.deepEqual(names(codebook), ["A2", "c"]);
  assert.deepEqual([codebook.find(" B "), codebook.find("a"), codebook.find("nothing")], ["a", "a", null]);
  assert.equal(codebook.tags.get("a").definition, "B");
});

test("changes of two open pages that contradict each other lose nothing", () => {
  const changes = [add("x"), add("x"), { action: "codebook", change: "merge", tag: "x", into: "y" },
    { action: "codebook", change: "merge", tag: "y", into: "x" }, { action: "codebook", change: "rename", tag: "x", name: "z" }];
  const codebook = codebookAfter(TASK, [...changes, { action: "label", set: [{ field: "tags", value: ["lost"] }] }]);
  assert.deepEqual(names(codebook), ["echo", "y", "lost"]);
  assert.deepEqual(codebook.resolved(["x"]), ["y"]);
});

test("a name is one line of at most a hundred characters, and is nobody else's", () => {
  assert.equal(tagName("  wrong \n language "), "wrong language");
  for (const [name, reason] of [[" ", /blank/], ["🤖".repeat(101), /at most 100 characters, got 101/]]) {
    assert.throws(() => tagName(name), reason);
  }
  const codebook = new Codebook([["Echo", ""]]);
  assert.throws(() => codebook.newName("ECHO "), Refusal);
  assert.equal(codebook.newName("ECHO", "Echo"), "ECHO", "its own name in other letters");
});

test("a page gives tags, says why it refuses, and undoes a merge", async () => {
  const kept = storage(), model = new LocalModel(handout(), kept, "ragnb h ana ");
  const tag = (number, name) => model.send({ act: "tag", id: 1, number, field: "tags", name });
  tag(0, "ECHO");
  tag(0, "echo");
  tag(1, "new");
  const change = (content) => model.send({ act: "codebook", id: 2, number: 1, ...content });
  change({ change: "rename", tag: "new", name: "echo" });
  await null;
  assert.deepEqual([model.get("state").failed, model.get("state").message],
    [true, 'the codebook already has the tag "echo"; merge the two tags, or choose another name']);
  change({ change: "merge", tag: "new", into: "echo" });
  assert.deepEqual(model.state(1).values.tags, ["echo"]);
  assert.deepEqual(model.state(1).codebook, [["echo", "echo", "repeats the prompt", 2]]);
  const again = new LocalModel(handout(), kept, "ragnb h ana ");
  assert.deepEqual(again.state(1).values.tags, ["echo"]);
  model.send({ act: "undo", id: 3 });
  assert.deepEqual([model.state(1).values.tags, model.state(1).codebook.length], [["new"], 2]);
  const actions = model.actions.map(({ action }) => action).filter((action) => action !== "open");
  assert.deepEqual(actions, ["label", "codebook", "label", "codebook", "undo"], "what changes nothing is not recorded");
});

test("an action that is no change of the codebook is refused", () => {
  const action = { ...add("x"), item: 0, time: "2030-01-01T00:00:00Z" };
  assert.equal(checked(action, handout()), action);
  for (const wrong of [{ change: "drop" }, { change: "constructor" }, { tag: 3 }, { name: null }, { change: "merge" }]) {
    assert.throws(() => checked({ ...action, ...wrong }, handout()), /no change of the codebook/);
  }
  assert.throws(() => checked({ action: "label", item: 0, time: action.time, set: [{ field: "tags", value: [1] }] }, handout()), /label/);
});
