// The line at the foot of the annotator. It sends each action to the model, reports whether it was saved, and keeps keys that
// were typed for the next item until that item is on the screen.

import { node } from "./dom.mjs";

const SOON = 400; // milliseconds after which it is said that something is being saved
const LATE = 3000; // and that it is not saved yet
const SEEN = 1500; // that a refusal is on the screen before an act on its item takes it away: it was read, and answered
const MOVES = ["move", "go", "next", "done", "undo", "redo"]; // say nothing of an item
const LEAVING = [...MOVES, "skip"]; // may show another item

// Names with how often each of them is there: "item 1 (flag) × 2, item 3 (label)".
function counted(names) {
  return [...new Set(names)].map((name) => {
    const n = names.filter((other) => other === name).length;
    return n > 1 ? `${name} × ${n}` : name;
  }).join(", ");
}

/** Sends actions and reports what became of them. */
export class Saving {
  /**
   * @param {object} model
   * @param {HTMLElement} root of the annotator
   * @param {function(): void} onseen called when the user has seen all refused actions
   */
  constructor(model, root, onseen) {
    this.model = model;
    this.root = root;
    this.onseen = onseen;
    this.sent = Math.floor(Math.random() * 2 ** 48); // views of one annotator, in one page or two, count apart
    this.open = new Map(); // by id, what was sent and is not acknowledged: {act, item, time}
    this.leaving = null; // id of the act after which another item may be shown
    this.held = []; // what was done since then, for that item: {name, run}
    this.refused = []; // what was not done, and not seen yet: {act, item, text, time}
    this.onleaving = (event) => { if (this.isBusy) event.preventDefault(); }; // the browser asks
    addEventListener("beforeunload", this.onleaving);
    this.now = node("span", { class: "now" });
    this.list = node("div", { class: "refused", role: "alert" });
    this.saved = node("span", { class: "saved" });
    this.box = node("div", { class: "foot" }, node("span", { class: "message", role: "status", "aria-live": "polite" }, this.list, this.now), this.saved);
  }

  send(act, more = {}) {
    const item = more.number ?? this.model.get("page").number;
    this.sent += 1;
    try {
      this.model.send({ ...more, number: item, act, id: this.sent });
    } catch (error) {
      this.refuse(act, item, `not saved: the kernel is gone (${error.message}); run the cell again`);
      return;
    }
    this.open.set(this.sent, { act, item, time: performance.now() });
    if (LEAVING.includes(act)) this.leaving = this.sent;
    this.stop();
    this.paintBusy();
    this.soon = setTimeout(() => this.say("saving…"), SOON);
    this.late = setTimeout(() => this.say("not saved yet: the kernel does not answer; it is busy, or gone", true), LATE);
  }

  // Says what came of what was sent from here; false if something of it is not known yet.
  paint({ ack, message, failed, saved }) {
    this.saved.textContent = saved;
    const mine = this.open.get(ack);
    if (mine) this.finish(ack, mine, message, failed);
    if (this.open.size) return false;
    this.stop();
    this.paintBusy();
    this.say(mine && failed ? "" : message, failed);
    return true;
  }

  finish(id, { act, item, time }, message, failed) {
    this.open.delete(id);
    const isAnswered = (earlier) => earlier.item === item && MOVES.includes(earlier.act) === MOVES.includes(act) && time - earlier.time > SEEN;
    if (failed) this.refuse(act, item, message);
    else if (!message) this.forget(isAnswered);
    if (id !== this.leaving) return;
    this.leaving = null;
    if (failed || (message && !["undo", "redo"].includes(act))) this.drop(item, message); // the item is still the same one
    setTimeout(() => this.goOn()); // when the item is drawn
  }

  say(text, failed = false) {
    this.now.textContent = text;
    this.now.classList.toggle("failed", failed);
  }

  // Whether something is not saved yet that could be.
  get isBusy() {
    return !this.isGone && this.open.size + this.held.length > 0;
  }

  close() {
    this.stop();
    removeEventListener("beforeunload", this.onleaving);
  }

  stop() {
    clearTimeout(this.soon);
    clearTimeout(this.late);
  }

  paintBusy() {
    this.root.setAttribute("aria-busy", String(this.isBusy));
  }

  // ---- keys that are faster than the kernel ------------------------------------------------------------------------

  // Whether the item that a key is meant for is not known yet.
  get waiting() {
    return !this.goingOn && (this.leaving !== null || this.held.length > 0);
  }

  // Runs at once, or when the item that it is meant for is on the screen.
  whenShown(name, run) {
    if (this.waiting) this.held.push({ name, run });
    else run();
    this.paintBusy();
  }

  // Does what was held, up to what shows yet another item.
  goOn() {
    this.goingOn = true;
    while (this.held.length && this.leaving === null) this.held.shift().run();
    this.goingOn = false;
    this.paintBusy();
  }

  // The item that these keys were meant for does not come.
  drop(item, why) {
    const names = this.held.splice(0).map(({ name }) => name);
    if (names.some((name) => !["n", "p", "Enter"].includes(name))) this.refuse(`keys typed ahead, not used: ${names.join(" ")}`, item, why);
  }

  gone() {
    this.leaving = null;
    this.isGone = true;
    const text = "the kernel is gone, so nothing more is saved; run the cell again to continue from what was saved";
    this.drop(this.model.get("page").number, text);
    this.say(text, true);
    this.paintBusy();
  }

  // ---- what was refused stays on the screen until it is seen -------------------------------------------------------

  refuse(act, item, text) {
    this.refused.push({ act, item, text, time: performance.now() });
    this.paintRefused();
  }

  forget(which) {
    this.refused = this.refused.filter((action) => !which(action));
    this.paintRefused();
  }

  paintRefused() {
    const lines = [...Map.groupBy(this.refused, ({ text }) => text)].map(([text, those]) =>
      node("div", { class: "failed" }, `${counted(those.map(({ act, item }) => `item ${item + 1} (${act})`))}: ${text}`));
    const seen = node("button", { type: "button", class: "act", onclick: () => { this.forget(() => true); this.onseen(); } }, "seen");
    this.list.replaceChildren(...lines, ...(lines.length ? [seen] : []));
  }
}
