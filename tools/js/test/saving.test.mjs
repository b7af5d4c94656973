// What the annotator sends is saved once and in order, or its loss is on the screen: refusals, a slow kernel, one that is gone.

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { clock, happen } from "./page.mjs";
import { node } from "../src/dom.mjs";
import { Saving } from "../src/saving.mjs";

// A model whose kernel answers when the test says so.
class Kernel {
  constructor() {
    this.item = 0;
    this.received = [];
    this.isGone = false;
  }

  get() {
    return { number: this.item };
  }

  send(content) {
    if (this.isGone) {
      throw new Error("closed");
    }
    this.received.push(content);
  }

  get acts() {
    return this.received.map(({ act, number }) => `${act} ${number}`);
  }
}

let now = 0;
let kernel;
let saving;
let dismissals;

beforeEach(() => {
  now = 0;
  clock.hold();
  mock.method(performance, "now", () => now);
  kernel = new Kernel();
  dismissals = 0;
  saving = new Saving(kernel, node("div"), () => { dismissals += 1; });
});

afterEach(() => {
  saving.close();
  clock.release();
  mock.restoreAll();
});

function wait(milliseconds) {
  now += milliseconds;
  clock.tick(milliseconds);
}

// The answer of the kernel to the act that it received at a place.
function answer(place, { message = "", failed = false, saved = "saved 12:00:00" } = {}) {
  const isAll = saving.paint({ ack: kernel.received[place].id, message, failed, saved });
  wait(0);
  return isAll;
}

const refusals = () => saving.list.querySelectorAll("div").map((line) => line.textContent);
const isBusy = () => saving.root.attributes["aria-busy"] === "true";

test("each act has its own number and the item on the screen, or the item for which it was typed", () => {
  saving.send("flag");
  kernel.item = 3;
  saving.send("note", { number: 2, text: "?" });
  assert.deepEqual(kernel.acts, ["flag 0", "note 2"]);
  const [first, second] = kernel.received;
  assert.equal(second.id, first.id + 1);
  assert.equal(second.text, "?");
});

test("it is busy until every act is acknowledged, in whatever order the answers come", () => {
  for (const act of ["label", "flag", "note"]) {saving.send(act);}
  assert.equal(isBusy(), true);
  assert.deepEqual([answer(2), answer(0)], [false, false]);
  assert.equal(isBusy(), true);
  assert.equal(answer(1), true);
  assert.equal(isBusy(), false);
  assert.equal(saving.saved.textContent, "saved 12:00:00");
});

test("an answer to another view, and one that comes twice, acknowledges nothing", () => {
  saving.send("label");
  assert.equal(saving.paint({ ack: 1, message: "", failed: false, saved: "" }), false);
  saving.send("flag");
  assert.equal(answer(0), false);
  assert.equal(answer(0), false);
  assert.equal(isBusy(), true);
});

test("a slow kernel is reported after 0.4 s and 3 s, and the report ends with its answer", () => {
  saving.send("label");
  wait(399);
  assert.equal(saving.now.textContent, "");
  wait(1);
  assert.equal(saving.now.textContent, "saving…");
  wait(2600);
  assert.match(saving.now.textContent, /^not saved yet: the kernel does not answer/);
  assert.equal(saving.now.classList.contains("failed"), true);
  answer(0);
  assert.equal(saving.now.textContent, "");
  wait(10_000);
  assert.equal(saving.now.textContent, "");
});

test("a page with something unsaved asks before it is left", () => {
  const leave = () => {
    let hasAsked = false;
    happen("beforeunload", { preventDefault: () => { hasAsked = true; } });
    return hasAsked;
  };
  assert.equal(leave(), false);
  saving.send("label");
  assert.equal(leave(), true);
  answer(0);
  assert.equal(leave(), false);
});

test("refusals are counted by reason and stay until they are dismissed", () => {
  for (const act of ["flag", "label", "flag"]) {saving.send(act);}
  for (const place of [0, 1, 2]) {answer(place, { message: "the disk is full", failed: true });}
  assert.deepEqual(refusals(), ["item 1 (flag) × 2, item 1 (label): the disk is full"]);
  assert.equal(saving.now.textContent, "", "it is not reported twice");
  saving.list.querySelector("button").click();
  assert.deepEqual([refusals(), dismissals], [[], 1]);
});

test("a retry that succeeds takes the refusal away if it was on the screen long enough to be read", () => {
  saving.send("label");
  answer(0, { message: "the disk is full", failed: true });
  wait(1000);
  saving.send("label");
  answer(1);
  assert.equal(refusals().length, 1, "it was too fast to be an answer to the refusal");
  wait(1000);
  saving.send("label");
  answer(2);
  assert.deepEqual(refusals(), []);
});

test("a refused label is not answered by a move, nor by a label of another item", () => {
  saving.send("label");
  answer(0, { message: "the disk is full", failed: true });
  wait(2000);
  saving.send("move");
  answer(1);
  kernel.item = 1;
  saving.send("label");
  answer(2);
  assert.deepEqual(refusals(), ["item 1 (label): the disk is full"]);
});

test("an act that cannot be sent is refused at once, and nothing waits for it", () => {
  kernel.isGone = true;
  saving.send("label");
  assert.deepEqual(refusals(), ["item 1 (label): not saved: the kernel is gone (closed); run the cell again"]);
  assert.equal(saving.isBusy, false);
});

test("keys that are typed ahead run in order when their item is on the screen, none twice", () => {
  saving.send("move");
  for (const key of ["a", "b"]) {saving.whenShown(key, () => saving.send(key));}
  assert.deepEqual(kernel.acts, ["move 0"]);
  kernel.item = 1;
  answer(0);
  assert.deepEqual(kernel.acts, ["move 0", "a 1", "b 1"]);
  saving.whenShown("c", () => saving.send("c"));
  assert.deepEqual(kernel.acts.at(-1), "c 1");
});

test("of keys typed ahead, those after another move wait for its item", () => {
  saving.send("next");
  for (const key of ["a", "next", "b", "c"]) {saving.whenShown(key, () => saving.send(key));}
  kernel.item = 1;
  answer(0);
  assert.deepEqual(kernel.acts, ["next 0", "a 1", "next 1"]);
  kernel.item = 2;
  answer(1);
  assert.deepEqual(kernel.acts, ["next 0", "a 1", "next 1"], "the answer to another act shows no item");
  answer(2);
  assert.deepEqual(kernel.acts, ["next 0", "a 1", "next 1", "b 2", "c 2"]);
});

test("keys typed ahead for an item that does not come are used nowhere, and reported", () => {
  saving.send("move");
  for (const key of ["n", "v", "1"]) {saving.whenShown(key, () => saving.send(key));}
  answer(0, { message: "no further item" });
  assert.deepEqual(kernel.acts, ["move 0"]);
  assert.deepEqual(refusals(), ["item 1 (keys typed ahead, not used: n v 1): no further item"]);
  assert.equal(saving.isBusy, false);
});

test("keys that only move are dropped without a report", () => {
  saving.send("move");
  saving.whenShown("n", () => saving.send("move"));
  answer(0, { message: "no further item" });
  assert.deepEqual([kernel.acts, refusals()], [["move 0"], []]);
});

test("undo always has a message, and the keys after it are used", () => {
  saving.send("undo");
  saving.whenShown("a", () => saving.send("a"));
  answer(0, { message: "undone: verdict" });
  assert.deepEqual(kernel.acts, ["undo 0", "a 0"]);
});

test("a kernel that is gone is reported with the keys that were not used", () => {
  saving.send("done");
  saving.whenShown("v", () => saving.send("v"));
  saving.gone();
  assert.match(saving.now.textContent, /^the kernel is gone/);
  assert.match(refusals()[0], /^item 1 \(keys typed ahead, not used: v\): the kernel is gone/);
  assert.equal(saving.isBusy, false, "the page can be left");
});

test("hostile messages stay texts", () => {
  const attack = "<img src=x onerror=alert(1)> \u202e\ud83d";
  saving.send("label");
  answer(0, { message: attack, failed: true });
  assert.deepEqual(refusals(), [`item 1 (label): ${attack}`]);
  assert.deepEqual(saving.list.querySelectorAll("img"), []);
});

test("whatever the order of sends, answers and failures: all is acknowledged or refused, and every key is used or reported", () => {
  let state = 7;
  const below = (limit) => {
    state = (state * 48271) % 2147483647;
    return state % limit;
  };
  for (let round = 0; round < 200; round += 1) {
    saving.close();
    kernel = new Kernel();
    saving = new Saving(kernel, node("div"), () => {});
    const typed = [];
    const used = [];
    const unanswered = new Set();
    const failures = [];
    for (let step = 0; step < 30 || unanswered.size; step += 1) {
      const mayType = step < 30;
      if (mayType && below(2)) {
        const key = `key${step}`;
        const act = ["label", "flag", "next", "move", "undo"][below(5)];
        typed.push(key);
        saving.whenShown(key, () => { used.push(key); saving.send(act); });
      } else if (unanswered.size) {
        const places = [...unanswered];
        const place = places[below(places.length)];
        unanswered.delete(place);
        const failed = below(4) === 0;
        if (failed) {failures.push(kernel.received[place].act);}
        answer(place, { message: failed ? "refused" : "", failed });
      }
      for (let place = 0; place < kernel.received.length; place += 1) {
        if (!kernel.received[place].isSeen) {
          kernel.received[place].isSeen = true;
          unanswered.add(place);
        }
      }
    }
    assert.equal(saving.isBusy, false);
    const reported = saving.refused.flatMap(({ act }) => act.match(/key\d+/g) ?? []);
    assert.deepEqual([...used, ...reported].sort(), [...typed].sort(), "every key is used once or reported");
    assert.deepEqual(used, typed.filter((key) => used.includes(key)), "in the order of typing");
    const refusedActs = saving.refused.map(({ act }) => act).filter((act) => !act.startsWith("keys"));
    assert.deepEqual(refusedActs.sort(), failures.sort(), "every failure is on the screen");
  }
});
