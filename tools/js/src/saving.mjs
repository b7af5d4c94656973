// The line at the foot of the annotator. It sends each action to the model, reports whether it was saved, and keeps keys that
// were typed for the next item until that item is on the screen.

import { node } from "./dom.mjs";
import { messageOf } from "./errors.mjs";

/** @import { Act, ActName, Acts, AnnotatorModel, Answered, Signal } from "./types.js" */

/**
 * An act that was sent and is not acknowledged yet: the number of its item, and when it was sent.
 * @typedef {{act: ActName, item: number, time: number}} Sent
 */

/**
 * What was not done and not seen yet: an act or keys, the number of the item, the reason, and when it was refused.
 * @typedef {{act: string, item: number, text: string, time: number}} Refused
 */

const SOON = 400; // milliseconds after which the line says that something is being saved
const LATE = 3000; // milliseconds after which it says that it is not saved yet
// Milliseconds for which a refusal stays on the screen. After that it was read, and a later act on its item answers it.
const READ = 1500;

const MOVES = ["move", "go", "next", "done", "undo", "redo"]; // change no label of the item on the screen
const LEAVING = [...MOVES, "skip"]; // may show another item
// Keys that need no report if they are not used: the screen shows that the item is still the same.
const KEYS_OF_MOVES = ["n", "p", "Enter"];

const KERNEL_IS_LATE = "not saved yet: the kernel does not answer; it is busy, or gone";
const KERNEL_IS_GONE = "the kernel is gone, so nothing more is saved; run the cell again to continue from what was saved";

/**
 * Names with how often each of them occurs: "item 1 (flag) × 2, item 3 (label)".
 * @param {string[]} names
 */
function counted(names) {
  const counts = new Map();
  for (const name of names) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const texts = [...counts].map(([name, count]) => (count > 1 ? `${name} × ${count}` : name));
  return texts.join(", ");
}

/** Sends actions and reports what became of them. */
export class Saving {
  /**
   * @param {AnnotatorModel} model
   * @param {HTMLElement} root of the annotator
   * @param {function(): void} onseen called when the user has seen all refused actions
   */
  constructor(model, root, onseen) {
    this.model = model;
    this.root = root;
    this.onseen = onseen;
    // Numbers begin at random, so that several views of one annotator do not use the same ones.
    this.lastId = Math.floor(Math.random() * 2 ** 48);
    this.view = this.lastId;
    /** @type {Map<number, Sent>} */
    this.unacknowledged = new Map(); // by id
    /** @type {number | null} */
    this.leavingId = null; // of the act after which another item may be shown
    /** @type {{name: string, run: function(): void}[]} */
    this.held = []; // what was done since then, for that item
    /** @type {Refused[]} */
    this.refused = [];
    /** @type {number | null} */
    this.question = null; // number of Python's question how many actions are on their way, until none is
    /** @type {number | null} */
    this.reportedCount = null; // the last answer to it
    this.isGoingOn = false; // whether what was held is being done
    this.isGone = false; // whether the kernel is gone
    this.beforeUnload = (/** @type {Event} */ event) => {
      if (this.isBusy) {
        event.preventDefault(); // the browser asks
      }
    };
    addEventListener("beforeunload", this.beforeUnload);
    this.now = node("span", { class: "now" });
    this.list = node("div", { class: "refused", role: "alert" });
    this.saved = node("span", { class: "saved" });
    const message = node("span", { class: "message", role: "status", "aria-live": "polite" }, this.list, this.now);
    this.box = node("div", { class: "foot" }, message, this.saved);
  }

  /**
   * Send an act about an item, by default the one on the screen.
   * @template {ActName} Name
   * @param {Name} act
   * @param {Acts[Name] & {number?: number}} [content] with the number of the item
   */
  send(act, content) {
    const item = content?.number ?? this.model.get("page").number;
    this.lastId += 1;
    const id = this.lastId;
    try {
      this.model.send(/** @type {Act} */ ({ ...content, number: item, act, id }));
    } catch (error) {
      this.refuse(act, item, `not saved: the kernel is gone (${messageOf(error)}); run the cell again`);
      return;
    }
    this.unacknowledged.set(id, { act, item, time: performance.now() });
    if (LEAVING.includes(act)) {
      this.leavingId = id;
    }
    this.startClock();
    this.paintBusy();
  }

  /**
   * Say what became of an act that was sent from here; false if something is not acknowledged yet.
   * @param {Answered & {saved: string}} state
   */
  paint({ ack, message, failed, saved }) {
    this.saved.textContent = saved;
    const action = this.unacknowledged.get(ack);
    if (action) {
      this.finish(ack, action, message, failed);
    }
    if (this.unacknowledged.size) {
      return false;
    }
    this.stopClock();
    this.paintBusy();
    const isInListOfRefused = action !== undefined && failed;
    this.say(isInListOfRefused ? "" : message, failed);
    return true;
  }

  /**
   * @param {number} id
   * @param {Sent} action
   * @param {string} message
   * @param {boolean} failed
   */
  finish(id, action, message, failed) {
    const { act, item } = action;
    this.unacknowledged.delete(id);
    if (failed) {
      this.refuse(act, item, message);
    } else if (!message) {
      this.forget((refusal) => isAnsweredBy(refusal, action));
    }
    if (id === this.leavingId) {
      this.finishLeaving(action, message, failed);
    }
  }

  /**
   * @param {Sent} action
   * @param {string} message
   * @param {boolean} failed
   */
  finishLeaving({ act, item }, message, failed) {
    this.leavingId = null;
    // An act that has a message did not leave its item, except for undo and redo, which always say what they did.
    const staysHere = failed || (message && !["undo", "redo"].includes(act));
    if (staysHere) {
      this.drop(item, message);
    }
    setTimeout(() => this.goOn()); // when the item is drawn
  }

  /** @param {string} text */
  say(text, failed = false) {
    this.now.textContent = text;
    this.now.classList.toggle("failed", failed);
  }

  // Whether something is not saved yet that could be.
  get isBusy() {
    return !this.isGone && this.pendingCount > 0;
  }

  // Number of acts that are not saved yet.
  get pendingCount() {
    return this.unacknowledged.size + this.held.length;
  }

  close() {
    this.stopClock();
    removeEventListener("beforeunload", this.beforeUnload);
    this.signal({ act: "closed", view: this.view, lost: this.held.length });
  }

  /** @param {Signal} signal */
  signal(signal) {
    try {
      this.model.send(signal);
    } catch {
      // Without a kernel, nobody waits for it.
    }
  }

  startClock() {
    this.stopClock();
    this.soon = setTimeout(() => this.say("saving…"), SOON);
    this.late = setTimeout(() => this.say(KERNEL_IS_LATE, true), LATE);
  }

  stopClock() {
    clearTimeout(this.soon);
    clearTimeout(this.late);
  }

  paintBusy() {
    this.root.setAttribute("aria-busy", String(this.isBusy));
    this.reportPending();
  }

  // ---- Python reads the labels, and waits for those that are on their way ------------------------------------------

  /** @param {number} question its number, which the answers repeat */
  answer(question) {
    this.question = question;
    this.reportedCount = null;
    this.reportPending();
  }

  // Reports how many acts are not saved yet, whenever that number has changed, until it is 0.
  reportPending() {
    const { question, pendingCount: pending, view } = this;
    if (question === null || pending === this.reportedCount || this.isGone) {
      return;
    }
    this.reportedCount = pending;
    if (pending === 0) {
      this.question = null;
    }
    this.signal({ act: "pending", question, pending, view });
  }

  // ---- keys that are faster than the kernel ------------------------------------------------------------------------

  // Whether the item that a key is meant for is not on the screen yet.
  get waiting() {
    const hasUnfinished = this.leavingId !== null || this.held.length > 0;
    return hasUnfinished && !this.isGoingOn;
  }

  /**
   * Run at once, or when the item that it is meant for is on the screen.
   * @param {string} name of the key or button
   * @param {function(): void} run
   */
  whenShown(name, run) {
    if (this.waiting) {
      this.held.push({ name, run });
    } else {
      run();
    }
    this.paintBusy();
  }

  // Does what was held, up to what shows yet another item.
  goOn() {
    this.isGoingOn = true;
    while (this.leavingId === null) {
      const next = this.held.shift();
      if (!next) {
        break;
      }
      next.run();
    }
    this.isGoingOn = false;
    this.paintBusy();
  }

  /**
   * The item that the held keys were meant for does not come.
   * @param {number} item
   * @param {string} reason
   */
  drop(item, reason) {
    const names = this.held.map(({ name }) => name);
    this.held = [];
    const areWorthReporting = names.some((name) => !KEYS_OF_MOVES.includes(name));
    if (areWorthReporting) {
      this.refuse(`keys typed ahead, not used: ${names.join(" ")}`, item, reason);
    }
  }

  gone() {
    this.leavingId = null;
    this.isGone = true;
    this.drop(this.model.get("page").number, KERNEL_IS_GONE);
    this.say(KERNEL_IS_GONE, true);
    this.paintBusy();
  }

  // ---- what was refused stays on the screen until it is seen -------------------------------------------------------

  /**
   * @param {string} act
   * @param {number} item
   * @param {string} text
   */
  refuse(act, item, text) {
    this.refused.push({ act, item, text, time: performance.now() });
    this.paintRefused();
  }

  /** @param {function(Refused): boolean} isForgotten */
  forget(isForgotten) {
    this.refused = this.refused.filter((refusal) => !isForgotten(refusal));
    this.paintRefused();
  }

  // One line for each reason, and a button.
  paintRefused() {
    /** @type {Map<string, string[]>} */
    const namesByText = new Map();
    for (const { act, item, text } of this.refused) {
      const names = namesByText.get(text) ?? [];
      names.push(`item ${item + 1} (${act})`);
      namesByText.set(text, names);
    }
    /** @type {HTMLElement[]} */
    const lines = [...namesByText].map(([text, names]) => node("div", { class: "failed" }, `${counted(names)}: ${text}`));
    if (lines.length) {
      lines.push(node("button", { type: "button", class: "act", onclick: () => this.dismiss() }, "seen"));
    }
    this.list.replaceChildren(...lines);
  }

  dismiss() {
    this.forget(() => true);
    this.onseen();
  }
}

/**
 * Whether a later act on the same item takes a refusal away. A label does not answer a move that was refused, nor the reverse.
 * @param {Refused} refusal
 * @param {Sent} action
 */
function isAnsweredBy(refusal, { act, item, time }) {
  const isOfSameKind = MOVES.includes(refusal.act) === MOVES.includes(act);
  return refusal.item === item && isOfSameKind && time - refusal.time > READ;
}
