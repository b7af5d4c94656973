// The page that `export_annotator` writes for people without Python: it asks who labels, shows the annotator, and writes and
// reads the file of labels. Nothing leaves the browser except in that file.

// Tested in tests/browser/test_handout.py.

import annotator from "./annotator.mjs";
import { node } from "./dom.mjs";
import { messageOf } from "./errors.mjs";
import { read, written } from "./labels_file.mjs";
import { LocalModel, storedActions } from "./local.mjs";
import { annotatorsIn, markOf, prefixOf, storageOf } from "./storage.mjs";

/** @import { Action, Finish, Handout as Contents } from "./types.js" */

const MINUTE = 60_000; // milliseconds
const MOST_LETTERS = 80; // of each part of the name of a file

class Handout {
  /**
   * @param {HTMLElement} root
   * @param {Contents} handout
   */
  constructor(root, handout) {
    this.root = root;
    this.handout = handout;
    this.id = handout.header.handout;
    const { storage, isLasting } = storageOf(this.id);
    this.storage = storage;
    this.isLasting = isLasting;
    this.name = ""; // of the person who labels
    /** @type {LocalModel | null} their labels; null before there is a name, and if the labels cannot be shown */
    this.model = null;
    /** @type {string | null | undefined} the key of the last change that is in a file, if there is one */
    this.downloaded = null;
    this.stop = () => {}; // closes the annotator
    this.message = node("span", { class: "message", role: "status" });
    addEventListener("beforeunload", (event) => {
      if (this.hasNews()) {
        event.preventDefault(); // the browser asks
      }
    });
    if (handout.annotator) {
      this.work(handout.annotator);
    } else {
      this.ask();
    }
  }

  // Whether there are labels that are in no file yet.
  hasNews() {
    const last = lastChange(this.model?.actions ?? []);
    return last !== undefined && last.key !== this.downloaded;
  }

  // ---- who labels ----------------------------------------------------------------------------------------------------

  ask() {
    const name = node("input", { type: "text", "aria-label": "your name", required: true, autocomplete: "off", dir: "auto" });
    const people = annotatorsIn(this.storage, this.id);
    const buttons = people.map((person) =>
      node("button", { type: "button", dir: "auto", onclick: () => this.work(person) }, `continue as ${person}`),
    );
    const choice = buttons.length ? [node("p", {}, ...buttons), node("p", {}, "or as somebody else:")] : [];
    const introduction =
      `${this.handout.items.length} items to label. Every label is saved in this browser at once; ` +
      "at the end, download the labels and send that file back.";
    const start = node(
      "div",
      { class: "ragnb-annotator start" },
      node("p", {}, introduction),
      ...choice,
      this.form(name),
      node("p", {}, this.opener(), " ", this.message),
    );
    this.root.replaceChildren(start);
    const first = buttons[0] ?? name;
    first.focus();
  }

  /** @param {HTMLInputElement} name */
  form(name) {
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      const person = name.value.trim();
      if (person) {
        this.work(person);
      }
    };
    return node("form", { onsubmit }, node("label", {}, "Your name: ", name), " ", node("button", { type: "submit" }, "start"));
  }

  // Labels that were downloaded before, on this computer or another one.
  opener() {
    const onchange = async () => {
      // Nobody may have chosen a file after all.
      const file = input.files?.[0];
      if (!file) {
        return;
      }
      let text;
      try {
        text = await file.text();
      } catch (error) {
        // The file was removed or changed after it was chosen.
        this.refuse(error);
        return;
      }
      this.add(text);
    };
    const input = node("input", { type: "file", accept: ".jsonl", onchange });
    return node("label", {}, "add a labels file: ", input);
  }

  /**
   * Add the labels of a file. Everything is read and checked before anything is stored. What cannot be stored whole is not
   * stored at all.
   * @param {string} text
   */
  add(text) {
    this.message.textContent = "";
    const newKeys = [];
    try {
      const { annotator: name, actions } = read(text, this.handout);
      for (const [key, action] of actions) {
        const storageKey = prefixOf(this.id, name) + key;
        if ((this.storage.getItem(storageKey) ?? null) === null) {
          newKeys.push(storageKey);
        }
        this.storage.setItem(storageKey, JSON.stringify(action));
      }
      this.work(name);
    } catch (error) {
      for (const storageKey of newKeys) {
        this.storage.removeItem(storageKey);
      }
      this.refuse(error);
    }
  }

  /** @param {unknown} error why a file is not used */
  refuse(error) {
    this.message.textContent = `This file cannot be used: ${messageOf(error)}`;
  }

  // ---- the annotator -------------------------------------------------------------------------------------------------

  /** @param {string} name */
  work(name) {
    this.stop();
    this.name = name;
    this.model = null;
    this.downloaded = this.storage.getItem(markOf(this.id, name));
    const button = node("button", { type: "button", class: "download", onclick: () => this.download() }, "download the labels");
    const home = node("span", {}, button);
    const notice = this.isLasting ? "" : "This browser saves nothing: download the labels before you close the page.";
    const warning = node("span", { class: "warnings" }, notice);
    const bar = node(
      "p",
      { class: "ragnb-annotator bar-above" },
      node("b", { dir: "auto" }, name),
      " ",
      home,
      " ",
      this.opener(),
      " ",
      this.message,
      warning,
    );
    const el = node("div");
    this.root.replaceChildren(bar, el);
    try {
      const { unreadable } = this.open(name, { button, home }, el);
      if (unreadable) {
        warning.textContent = `${unreadable} of the stored actions cannot be read and are left out. ${notice}`;
      }
    } catch (error) {
      warning.textContent = `The labels cannot be shown (${messageOf(error)}). Download them, and send the file back.`;
    }
  }

  /**
   * @param {string} name
   * @param {Finish} finish
   * @param {HTMLElement} el
   * @returns {LocalModel}
   */
  open(name, finish, el) {
    const model = new LocalModel(this.handout, this.storage, prefixOf(this.id, name));
    model.finish = finish;
    this.model = model;
    // Another tab has written.
    const readAgain = () => {
      model.read();
      model.draw();
    };
    addEventListener("storage", readAgain);
    const close = annotator.render({ model, el });
    this.stop = () => {
      close();
      removeEventListener("storage", readAgain);
    };
    return model;
  }

  download() {
    const actions = this.actions();
    const file = new Blob([written(this.handout, this.name, actions)], { type: "application/x-ndjson" });
    const link = node("a", { href: URL.createObjectURL(file), download: this.fileName() });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), MINUTE);
    this.downloaded = lastChange(actions)?.key;
    try {
      this.storage.setItem(markOf(this.id, this.name), this.downloaded ?? "");
    } catch {
      // The page asks once more before it is left.
    }
  }

  // Also where they cannot be shown.
  actions() {
    if (this.model) {
      return this.model.actions;
    }
    const [actions] = storedActions(this.handout, this.storage, prefixOf(this.id, this.name));
    return actions;
  }

  fileName() {
    const names = [this.name, this.handout.header.task.name];
    const parts = names.map((name) => name.replace(/[^\p{L}\p{N}_-]/gu, "_").slice(0, MOST_LETTERS));
    return `${parts.join(".")}.jsonl`;
  }
}

/**
 * The last action that is more than an item that was shown.
 * @param {Action[]} actions
 */
function lastChange(actions) {
  return actions.findLast(({ action }) => action !== "open");
}

/**
 * @param {string} id of an element that the page always has
 * @returns {HTMLElement}
 */
function elementOf(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

new Handout(elementOf("handout"), JSON.parse(elementOf("data").textContent ?? ""));
