// What opens beside an item: a search in its texts, a note on it, the keys, the guideline.

import { kbd, node, whenTyped } from "./dom.mjs";

export class Search {
  constructor(sentences) {
    this.sentences = sentences;
    this.input = node("input", {
      type: "search", placeholder: "words of a passage", "aria-label": "search in the texts",
      oninput: () => this.find(), onkeydown: (event) => this.onKey(event),
    });
    this.count = node("span", { class: "count", "aria-live": "polite" });
    this.box = node("div", { class: "panel", hidden: true }, this.input, " ", this.count);
  }

  open() {
    this.box.hidden = false;
    this.input.select();
  }

  find() {
    this.tell(this.sentences.find(this.input.value));
  }

  onKey(event) {
    if (event.isComposing || event.key !== "Enter") return; // Enter belongs to what writes Chinese or Japanese
    event.preventDefault();
    if (this.sentences.hits.length) this.tell(this.sentences.nextHit(event.shiftKey ? -1 : 1));
    else this.find(); // they were forgotten, or are those of another item
  }

  tell([at, total]) {
    this.count.textContent = total ? `${at + 1} of ${total}` : this.input.value && "0 found";
  }
}

export class Note {
  constructor(annotator) {
    this.work = annotator.work;
    this.input = node("textarea", { rows: 2, dir: "auto", "aria-label": "note on this item", placeholder: "note on this item" });
    whenTyped(this.input, () => this.work.page.number, (text, number) => annotator.send("note", { text, number }));
    this.box = node("div", { class: "panel", hidden: true }, this.input);
  }

  open() {
    this.box.hidden = false;
    this.input.focus();
  }

  // A note that is being written stays as it is, but never goes over to another item.
  paint() {
    const { page: { number }, state: { note } } = this.work;
    if (document.activeElement !== this.input || number !== this.number) this.input.value = note;
    if (note) this.box.hidden = false;
    this.number = number;
  }
}

// The keys. Whoever presses another key on one of them has changed it: changed(key, other) tells whether that is possible.
export function helpOf(keys, changed) {
  const change = (event, key) => {
    if (event.ctrlKey || event.metaKey || event.altKey || ["Tab", "Shift", "Escape"].includes(event.key)) return;
    event.preventDefault();
    changed(key, event.key);
  };
  const button = (key, meaning) => node("button", {
    type: "button", class: "act", "aria-label": `key of: ${meaning}`, "aria-keyshortcuts": key, onkeydown: (event) => change(event, key),
  }, kbd(key));
  const rows = keys.help().map(([of, meaning]) => node("div", {}, node("span", {}, ...of.map((key) => button(key, meaning))), node("span", {}, meaning)));
  return node("div", { class: "panel help", hidden: true },
    node("p", {}, "To change a key, click it here and press another; its own key brings it back. ↑ ↓ go from sentence to sentence (or k j, ← →), with Shift over several."), ...rows);
}

export function guideOf({ name, guideline }) {
  const lines = guideline.split("\n").map((line) => node("p", { dir: "auto" }, line));
  return node("details", { class: "guide", open: true, hidden: !guideline }, node("summary", {}, `guideline: ${name}`), ...lines);
}
