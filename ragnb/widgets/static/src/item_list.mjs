// The panel with the list of all items, which can be filtered by status and searched.

import { node } from "./dom.mjs";
import { isPlain, leavesSearch, stepOf } from "./keys.mjs";
import { VirtualList, clamp } from "./list.mjs";
import { found } from "./search.mjs";

const FILTERS = ["all", "not labelled", "untouched", "started", "labelled", "skipped", "flagged"];
const GLYPHS = { labelled: "✓", started: "◐", skipped: "↷", untouched: "·" };

/**
 * Find the items that pass a filter and a search.
 * @param {Array[]} entries title, status and flag of each item
 * @param {string} filter one of FILTERS
 * @param {string} query
 * @returns {number[]} numbers of the items
 */
export function listed(entries, filter, query) {
  const numbers = query.trim() ? found(entries.map(([title]) => title), query) : [...entries.keys()];
  return numbers.filter((number) => {
    const [, status, flag] = entries[number];
    return filter === "all" || filter === status || (filter === "flagged" && flag) || (filter === "not labelled" && status !== "labelled");
  });
}

/** The list of items of an annotator. */
export class ItemList {
  constructor(annotator) {
    this.annotator = annotator;
    this.work = annotator.work;
    this.shown = []; // numbers of the items that pass
    this.at = 0; // place among them
    const again = () => this.moveTo(0);
    this.filter = node("select", { "aria-label": "which items", onchange: again }, ...FILTERS.map((name) => node("option", { value: name }, name)));
    this.query = node("input", {
      type: "search", placeholder: "words", "aria-label": "words of an item", oninput: again, onkeydown: (event) => this.onQueryKey(event),
    });
    this.count = node("span", { class: "count" });
    this.rows = new VirtualList(28, (at) => this.row(at), { class: "list", "aria-label": "items", onkeydown: (event) => this.onKey(event) });
    this.box = node("div", { class: "panel jump", hidden: true }, this.filter, " ", this.query, " ", this.count, this.rows.list);
  }

  // With the item on the screen in sight.
  open() {
    this.box.hidden = false;
    this.draw();
    this.moveTo(this.shown.indexOf(this.work.page.number));
    this.rows.list.focus();
  }

  // Lines that have changed; the list itself is not sent again.
  learn(entries) {
    Object.assign(this.work.entries, entries);
    this.draw();
  }

  draw() {
    if (this.box.hidden) return;
    const entries = this.work.entries;
    this.shown = listed(entries, this.filter.value, this.query.value);
    this.count.textContent = `${this.shown.length} of ${entries.length}`;
    this.rows.draw(this.shown.length, this.at);
  }

  row(at) {
    const number = this.shown[at];
    const [title, status, flag] = this.work.entries[number];
    return [
      {
        class: `row${at === this.at ? " cursor" : ""}`, "aria-selected": String(number === this.work.page.number),
        "aria-label": `${number + 1} ${status}${flag ? " flagged" : ""} ${title}`, onclick: () => this.choose(number),
      },
      node("span", { class: "n" }, `${number + 1} ${GLYPHS[status]}${flag ? " ⚑" : ""}`),
      node("span", { class: "title", dir: "auto" }, title),
    ];
  }

  onKey(event) {
    if (event.key === "Enter" && isPlain(event)) this.choose(this.shown[this.at]);
    else if (stepOf(event) !== undefined) this.moveTo(this.at + stepOf(event));
    else return;
    event.preventDefault();
  }

  onQueryKey(event) {
    if (event.key === "Escape" || !leavesSearch(event)) return;
    event.preventDefault();
    this.rows.list.focus();
  }

  moveTo(place) {
    this.draw(); // a filter may have changed how many there are
    this.at = clamp(place, 0, Math.max(0, this.shown.length - 1));
    this.rows.reveal(this.at);
    this.draw();
  }

  choose(number) {
    if (number === undefined) return; // no item passes
    this.box.hidden = true;
    this.annotator.goToItem(number);
  }
}
