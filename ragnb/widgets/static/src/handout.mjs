// The page that is handed out: who labels, the annotator, and the file of labels. Nothing leaves the browser but by that file.

import annotator from "./annotator.mjs";
import { node } from "./dom.mjs";
import { LocalModel, read, written } from "./local.mjs";

// The browser's storage, or what replaces it as long as the page is open.
function storageOf() {
  try {
    localStorage.setItem("ragnb", "1");
    return [localStorage, true];
  } catch {
    return [Object.create({ getItem(key) { return this[key]; }, setItem(key, value) { this[key] = value; } }), false];
  }
}

class Handout {
  constructor(root, handout) {
    this.root = root;
    this.handout = handout;
    [this.storage, this.keeps] = storageOf();
    if (!this.keeps) addEventListener("beforeunload", (event) => event.preventDefault());
    this.message = node("span", { class: "message", role: "status" });
    if (handout.annotator) this.work(handout.annotator);
    else this.ask();
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
    const people = Object.keys(this.storage).map((key) => key.split(" ")).filter(([, handout]) => handout === this.handout.header.handout);
    const known = [...new Set(people.map(([, , one]) => decodeURIComponent(one)))].sort().map((one) =>
      node("button", { type: "button", dir: "auto", onclick: () => this.work(one) }, `continue as ${one}`));
    this.root.replaceChildren(node("div", { class: "ragnb-annotator start" },
      node("p", {}, `${this.handout.items.length} items to label. Every label is saved in this browser at once; at the end, download the labels and send that file back.`),
      form, node("p", {}, ...known), node("p", {}, this.opener(), " ", this.message)));
    name.focus();
  }

  // Labels that were downloaded before, on this computer or another one.
  opener() {
    const input = node("input", { type: "file", accept: ".jsonl", onchange: async () => { this.add(await input.files[0].text()); } });
    return node("label", {}, "add a labels file: ", input);
  }

  add(text) {
    this.message.textContent = "";
    try {
      const { annotator: name, actions } = read(text, this.handout);
      for (const [key, action] of actions) this.storage.setItem(this.prefix(name) + key, JSON.stringify(action));
      this.work(name);
    } catch (error) {
      this.message.textContent = `This file cannot be used: ${error.message}`;
    }
  }

  work(name) {
    this.stop?.();
    const model = new LocalModel(this.handout, this.storage, this.prefix(name));
    const reread = () => { model.read(); model.draw(); }; // another tab has written
    addEventListener("storage", reread);
    const download = node("button", { type: "button", onclick: () => this.download(name, model.actions) }, "download the labels");
    const kept = this.keeps ? "" : "This browser saves nothing: download the labels before you close the page.";
    const bar = node("p", { class: "ragnb-annotator bar-above" }, node("b", { dir: "auto" }, name), " ", download, " ", this.opener(), " ", this.message, node("span", { class: "warnings" }, kept));
    const el = node("div");
    this.root.replaceChildren(bar, el);
    const close = annotator.render({ model, el });
    this.stop = () => { close(); removeEventListener("storage", reread); };
  }

  download(name, actions) {
    const file = new Blob([written(this.handout, name, actions)], { type: "application/x-ndjson" });
    const names = [name, this.handout.header.task.name].map((one) => one.replace(/[^\p{L}\p{N}_-]/gu, "_"));
    const link = node("a", { href: URL.createObjectURL(file), download: `${names.join(".")}.jsonl` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }
}

new Handout(document.getElementById("handout"), JSON.parse(document.getElementById("data").textContent));
