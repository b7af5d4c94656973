// The page that `export_annotator` writes for people without Python: it asks who labels, shows the annotator, and writes and
// reads the file of labels. Nothing leaves the browser except in that file.

import annotator from "./annotator.mjs";
import { node } from "./dom.mjs";
import { LocalModel, read, storedActions, written } from "./local.mjs";

// The browser's storage, or what replaces it as long as the page is open. A storage that is full can still be read.
function storageOf(handout) {
  try {
    const isUsed = Object.keys(localStorage).some((key) => key.split(" ")[1] === handout);
    try {
      localStorage.setItem("ragnb", "1");
    } catch (error) {
      if (!isUsed) throw error;
    }
    return [localStorage, true];
  } catch {
    return [Object.create({ getItem(key) { return this[key]; }, setItem(key, value) { this[key] = value; }, removeItem(key) { delete this[key]; } }), false];
  }
}

// A name in a key of the storage; null where another page wrote what is none.
function nameIn(key) {
  try {
    return decodeURIComponent(key.split(" ")[2]);
  } catch {
    return null;
  }
}

class Handout {
  constructor(root, handout) {
    this.root = root;
    this.handout = handout;
    [this.storage, this.keeps] = storageOf(handout.header.handout);
    addEventListener("beforeunload", (event) => { if (this.hasNews()) event.preventDefault(); }); // the browser asks
    this.message = node("span", { class: "message", role: "status" });
    if (handout.annotator) this.work(handout.annotator);
    else this.ask();
  }

  // Whether there are labels that are in no file yet.
  hasNews() {
    const last = this.model?.actions.findLast(({ action }) => action !== "open");
    return Boolean(last) && last.key !== this.downloaded;
  }

  // The key that says which action was the last one in a file.
  get mark() {
    return `ragnb-downloaded ${this.handout.header.handout} ${encodeURIComponent(this.name)}`;
  }

  // Of the keys of an annotator in the storage.
  prefix(name) {
    return `ragnb ${this.handout.header.handout} ${encodeURIComponent(name)} `;
  }

  ask() {
    const name = node("input", { type: "text", "aria-label": "your name", required: true, autocomplete: "off", dir: "auto" });
    const form = node("form", {
      onsubmit: (event) => { event.preventDefault(); if (name.value.trim()) this.work(name.value.trim()); },
    }, node("label", {}, "Your name: ", name), " ", node("button", { type: "submit" }, "start"));
    const keys = Object.keys(this.storage).filter((key) => key.startsWith("ragnb ") && key.split(" ")[1] === this.handout.header.handout);
    const people = [...new Set(keys.map(nameIn).filter(Boolean))].sort();
    const known = people.map((person) => node("button", { type: "button", dir: "auto", onclick: () => this.work(person) }, `continue as ${person}`));
    this.root.replaceChildren(node("div", { class: "ragnb-annotator start" },
      node("p", {}, `${this.handout.items.length} items to label. Every label is saved in this browser at once; at the end, download the labels and send that file back.`),
      ...(known.length ? [node("p", {}, ...known), node("p", {}, "or as somebody else:")] : []),
      form, node("p", {}, this.opener(), " ", this.message)));
    (known[0] ?? name).focus();
  }

  // Labels that were downloaded before, on this computer or another one.
  opener() {
    const input = node("input", { type: "file", accept: ".jsonl", onchange: async () => { this.add(await input.files[0].text()); } });
    return node("label", {}, "add a labels file: ", input);
  }

  // Everything is read and checked before anything is stored. What cannot be stored whole is not stored at all.
  add(text) {
    this.message.textContent = "";
    const stored = [];
    try {
      const { annotator: name, actions } = read(text, this.handout);
      for (const [key, action] of actions) {
        const place = this.prefix(name) + key;
        if (this.storage.getItem(place) == null) stored.push(place);
        this.storage.setItem(place, JSON.stringify(action));
      }
      this.work(name);
    } catch (error) {
      for (const place of stored) this.storage.removeItem(place);
      this.message.textContent = `This file cannot be used: ${error.message}`;
    }
  }

  work(name) {
    this.stop?.();
    [this.name, this.model] = [name, null];
    this.downloaded = this.storage.getItem(this.mark);
    const button = node("button", { type: "button", class: "download", onclick: () => this.download() }, "download the labels");
    const home = node("span", {}, button);
    const kept = this.keeps ? "" : "This browser saves nothing: download the labels before you close the page.";
    const warning = node("span", { class: "warnings" }, kept);
    const bar = node("p", { class: "ragnb-annotator bar-above" }, node("b", { dir: "auto" }, name), " ", home, " ", this.opener(), " ", this.message, warning);
    const el = node("div");
    this.root.replaceChildren(bar, el);
    try {
      this.open(name, { button, home }, el);
      const { unreadable } = this.model;
      if (unreadable) warning.textContent = `${unreadable} of the stored actions cannot be read and are left out. ${kept}`;
    } catch (error) {
      warning.textContent = `The labels cannot be shown (${error.message}). Download them, and send the file back.`;
    }
  }

  open(name, finish, el) {
    this.model = new LocalModel(this.handout, this.storage, this.prefix(name));
    this.model.finish = finish;
    const { model } = this;
    const reread = () => { model.read(); model.draw(); }; // another tab has written
    addEventListener("storage", reread);
    const close = annotator.render({ model, el });
    this.stop = () => { close(); removeEventListener("storage", reread); };
  }

  download() {
    const { name, handout } = this;
    const [stored] = this.model ? [this.model.actions] : storedActions(handout, this.storage, this.prefix(name));
    const file = new Blob([written(handout, name, stored)], { type: "application/x-ndjson" });
    const names = [name, handout.header.task.name].map((part) => part.replace(/[^\p{L}\p{N}_-]/gu, "_").slice(0, 80));
    const link = node("a", { href: URL.createObjectURL(file), download: `${names.join(".")}.jsonl` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    this.downloaded = stored.findLast(({ action }) => action !== "open")?.key;
    try {
      this.storage.setItem(this.mark, this.downloaded ?? "");
    } catch { /* it is asked again */ }
  }
}

new Handout(document.getElementById("handout"), JSON.parse(document.getElementById("data").textContent));
