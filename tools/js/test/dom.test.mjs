// Elements, and texts that are saved while somebody is still writing them.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { clock, happen } from "./page.mjs";
import { connect, node, typeInto, whenTyped } from "../src/dom.mjs";

beforeEach(() => clock.hold());
afterEach(() => clock.release());

test("attributes that are absent are left out, and those that are true are empty", () => {
  const values = { class: "a b", title: "<i>", hidden: false, open: true, dir: null, id: undefined, tabindex: 0, value: "" };
  const element = node("div", values, "text", null, node("b", {}, "bold"));
  assert.deepEqual(element.attributes, { title: "<i>", open: "", tabindex: "0", value: "" });
  assert.equal(element.className, "a b");
  assert.equal(element.textContent, "textbold");
});

test("listeners are connected to a model and taken away again", () => {
  const events = [];
  const model = { on: (event) => events.push(`on ${event}`), off: (event) => events.push(`off ${event}`) };
  const stop = connect(model, { "change:state": () => {}, "msg:custom": () => {} });
  stop();
  assert.deepEqual(events, ["on change:state", "on msg:custom", "off change:state", "off msg:custom"]);
});

// A text field for an item, with what it sends.
function typing() {
  const sent = [];
  const field = { input: node("textarea"), item: 0, sent };
  whenTyped(field.input, () => field.item, (text, item) => sent.push([text, item]));
  field.type = (text) => {
    field.input.value = text;
    field.input.dispatch("input");
  };
  return field;
}

test("a text is sent once, when nobody has typed for 0.7 s", () => {
  const { type, sent } = typing();
  type("a");
  clock.tick(600);
  type("ab");
  clock.tick(699);
  assert.deepEqual(sent, []);
  clock.tick(1);
  assert.deepEqual(sent, [["ab", 0]]);
  clock.tick(10_000);
  assert.equal(sent.length, 1);
});

test("a text belongs to the item for which it was typed, and is sent when the field or the page is left", () => {
  const leavings = {
    blur: (field) => field.input.dispatch("blur"),
    change: (field) => field.input.dispatch("change"),
    pagehide: () => happen("pagehide"),
    visibilitychange: () => document.dispatch("visibilitychange"),
  };
  for (const [name, leave] of Object.entries(leavings)) {
    const field = typing();
    field.type("👩 القاهرة");
    field.item = 1;
    leave(field);
    assert.deepEqual(field.sent, [["👩 القاهرة", 0]], name);
    leave(field);
    clock.tick(10_000);
    assert.equal(field.sent.length, 1, name);
  }
});

test("an empty text is sent as well, because it removes the one before", () => {
  const { type, sent } = typing();
  type("");
  clock.tick(700);
  assert.deepEqual(sent, [["", 0]]);
});

test("keys are typed as a browser types them, and commands are not", () => {
  const commands = [];
  document.execCommand = (...command) => commands.push(command);
  for (const key of ["a", "Enter", "Backspace", "Shift", "ArrowLeft"]) {typeInto({ key });}
  for (const modifier of ["ctrlKey", "metaKey", "altKey"]) {typeInto({ key: "a", [modifier]: true });}
  assert.deepEqual(commands, [["insertText", false, "a"], ["insertText", false, "\n"], ["delete"]]);
});
