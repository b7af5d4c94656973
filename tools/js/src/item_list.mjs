// The panel with the list of all items, which can be filtered by status and searched.

import { node } from "./dom.mjs";
import { isPlain, leavesSearch, stepOf } from "./keys.mjs";
import { VirtualList, clamp } from "./list.mjs";
import { matchingTexts } from "./search.mjs";

/** @import { AnnotatorView } from "./annotator.mjs" */
/** @import { RowElement } from "./list.mjs" */
/** @import { Entry, Status } from "./types.js" */

const FILTERS = ["all", "not labelled", "untouched", "started", "labelled", "skipped", "flagged"];
/** @type {Record<Status, string>} */
const GLYPHS = { labelled: "✓", started: "◐", skipped: "↷", untouched: "·" };
const ROW_HEIGHT = 28; // as in annotator.css

/**
 * Find the items that pass a filter and a search.
 * @param {Entry[]} entries
 * @param {string} filter one of FILTERS
 * @param {string} query
 * @returns {number[]} numbers of the items
 */
export function listed(entries, filter, query) {
  const titles = entries.map(([title]) => title);
  const numbers = query.trim() ? matchingTexts(titles, query) : [...entries.keys()];
  return numbers.filter((number) => passes(entries[number], filter));
}

/**
 * @param {Entry} entry
 * @param {string} filter
 * @returns {boolean}
 */
function passes([, status, isFlagged], filter) {
  switch (filter) {
    case "all":
      return true;
    case "flagged":
      return isFlagged;
    case "not labelled":
      return status !== "labelled";
    default:
      return status === filter;
  }
}

/** The list of items of an annotator. */
export class ItemList {
  /** @param {AnnotatorView} annotator */
  constructor(annotator) {
    this.annotator = annotator;
    this.work = annotator.work;
    /** @type {number[]} */
    this.numbers = []; // of the items that pass the filter and the search
    this.at = 0; // position of the cursor among them
    const toFirst = () => this.moveTo(0);
    const filterOptions = FILTERS.map((name) => node("option", { value: name }, name));
    this.filter = node("select", { "aria-label": "which items", onchange: toFirst }, ...filterOptions);
    this.query = node("input", {
      type: "search",
      placeholder: "words",
      "aria-label": "words of an item",
      oninput: toFirst,
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onQueryKey(event),
    });
    this.count = node("span", { class: "count" });
    this.rows = new VirtualList(ROW_HEIGHT, (position) => this.row(position), {
      class: "list",
      "aria-label": "items",
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event),
    });
    const controls = [this.filter, " ", this.query, " ", this.count];
    this.box = node("div", { class: "panel jump", hidden: true }, ...controls, this.rows.list);
  }

  // With the item on the screen in sight.
  open() {
    this.box.hidden = false;
    this.draw();
    this.moveTo(this.numbers.indexOf(this.work.page.number));
    this.rows.list.focus();
  }

  /**
   * Lines that have changed; the list itself is not sent again.
   * @param {Record<number, Entry>} entries
   */
  learn(entries) {
    Object.assign(this.work.entries, entries);
    this.draw();
  }

  draw() {
    if (this.box.hidden) {
      return;
    }
    const { entries } = this.work;
    this.numbers = listed(entries, this.filter.value, this.query.value);
    this.count.textContent = `${this.numbers.length} of ${entries.length}`;
    this.rows.draw(this.numbers.length, this.at);
  }

  /**
   * @param {number} position
   * @returns {RowElement}
   */
  row(position) {
    const number = this.numbers[position];
    const [title, status, isFlagged] = this.work.entries[number];
    const attributes = {
      class: position === this.at ? "row cursor" : "row",
      "aria-selected": String(number === this.work.page.number),
      "aria-label": `${number + 1} ${status}${isFlagged ? " flagged" : ""} ${title}`,
      onclick: () => this.choose(number),
    };
    return [
      attributes,
      node("span", { class: "n" }, `${number + 1} ${GLYPHS[status]}${isFlagged ? " ⚑" : ""}`),
      node("span", { class: "title", dir: "auto" }, title),
    ];
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const step = stepOf(event);
    if (event.key === "Enter" && isPlain(event)) {
      this.choose(this.numbers[this.at]);
    } else if (step !== undefined) {
      this.moveTo(this.at + step);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  onQueryKey(event) {
    if (event.key === "Escape" || !leavesSearch(event)) {
      return;
    }
    event.preventDefault();
    this.rows.list.focus();
  }

  /** @param {number} position */
  moveTo(position) {
    this.draw(); // a filter may have changed how many items there are
    this.at = clamp(position, 0, Math.max(0, this.numbers.length - 1));
    this.rows.reveal(this.at);
    this.draw();
  }

  /** @param {number | undefined} number */
  choose(number) {
    if (number === undefined) {
      return; // no item passes
    }
    this.box.hidden = true;
    this.annotator.goToItem(number);
  }
}
