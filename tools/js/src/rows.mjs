// The list next to the page in a view of a frame. It draws the rows that Python (ragnb/widgets/frame_view.py) has found, and
// reports what was typed, chosen and scrolled to.

import { connect, node } from "./dom.mjs";
import { isPlain, leavesSearch, stepOf } from "./keys.mjs";
import { VirtualList, clamp } from "./list.mjs";
import { hits, wordsOf } from "./search.mjs";

/** @import { RowElement } from "./list.mjs" */
/** @import { Choices, Row, Rows, RowsContent, RowsMessage, RowsModel } from "./types.js" */

/**
 * A menu of a column, and what ticks the values with some numbers in it.
 * @typedef {{root: HTMLDetailsElement, show: function(number[]): void}} Filter
 */

const AHEAD = 120; // rows that are requested above and below the visible ones
const NARROW = 560; // from this width on, the page is next to the list
const MOST_TINTED = 2000; // places tinted on a page
const PATIENCE = 60; // milliseconds after the last letter before a search is sent
const ROW_HEIGHT = 46; // as in rows.css
const HIGHLIGHT = "ragnb-found"; // as in rows.css
// What follows the name of a column in a comparison, as in ragnb/widgets/rows.py: a sign and a number.
const COMPARISON = String.raw`\s*(?:<=|>=|==|[<>=≤≥])\s*-?(?:\p{Nd}+\.?\p{Nd}*|\.\p{Nd}+)(?:e[+-]?\p{Nd}+)?(?!\S)`;
/** @type {Row} */
const UNKNOWN_ROW = ["", "…", []];

/**
 * Find the rows of a window that were not sent yet.
 * @param {Map<number, Row>} rows that were sent, by position
 * @param {[first: number, last: number]} window first row, and the one after the last
 * @returns {[first: number, last: number] | null} such a window, null if all rows were sent
 */
export function missingRows(rows, window) {
  let [first, last] = window;
  while (first < last && rows.has(first)) {
    first += 1;
  }
  while (first < last && rows.has(last - 1)) {
    last -= 1;
  }
  return first < last ? [first, last] : null;
}

/**
 * Split a query of the list of rows into folded words, without comparisons of numbers such as "answer.f1 < 0.5": those are
 * about a column, and not about a text.
 * @param {string} query
 * @param {string[]} columns names of the columns of numbers
 * @returns {string[]}
 */
export function wordsBesidesComparisons(query, columns) {
  const words = wordsOf(query);
  if (!columns.length) {
    return words;
  }
  // A name may contain spaces, and may begin with another name.
  const names = columns.map((column) => wordsOf(column).join(" ")).sort((left, right) => right.length - left.length);
  const escapedNames = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`));
  const comparisons = new RegExp(`(?<!\\S)(?:${escapedNames.join("|")})${COMPARISON}`, "gu");
  return wordsOf(words.join(" ").replace(comparisons, " "));
}

/** @param {string} text */
function caption(text) {
  return node("span", { class: "ragnb-rows-caption", dir: "auto" }, text);
}

/**
 * A column whose values can be ticked: rows pass that have any of them.
 * @param {Choices} column
 * @param {function(number[]): void} save gets the numbers of the ticked values
 * @returns {Filter}
 */
function filter({ name, values }, save) {
  /** @type {HTMLInputElement[]} */
  const boxes = values.map(() => node("input", { type: "checkbox", onchange: () => save(tickedCodes(boxes)) }));
  const labels = values.map((value, code) => node("label", { dir: "auto" }, boxes[code], value));
  const selection = node("span", { class: "ragnb-rows-select", dir: "auto" });
  // The menu closes when the focus leaves it.
  const onfocusout = (/** @type {FocusEvent} */ { relatedTarget }) => {
    if (relatedTarget && !root.contains(/** @type {Node} */ (relatedTarget))) {
      root.open = false;
    }
  };
  const root = node(
    "details",
    { class: "ragnb-rows-menu", name: "ragnb-filter", onfocusout },
    node("summary", {}, caption(name), selection),
    node("div", { class: "ragnb-rows-values" }, ...labels),
  );
  const show = (/** @type {number[]} */ codes) => {
    boxes.forEach((box, code) => {
      box.checked = codes.includes(code);
    });
    const names = codes.map((code) => values[code]);
    selection.textContent = names.join(", ") || "all";
    selection.classList.toggle("ragnb-rows-active", codes.length > 0);
  };
  return { root, show };
}

/** @param {HTMLInputElement[]} boxes */
function tickedCodes(boxes) {
  const codes = [...boxes.keys()];
  return codes.filter((code) => boxes[code].checked);
}

class RowList {
  /**
   * @param {RowsModel} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.el = el;
    /** @type {Map<number, Row>} */
    this.rowsByPosition = new Map(); // the rows that were sent
    this.isWaiting = false; // for rows that were requested
    /** @type {HTMLElement | null} */
    this.page = null; // with the selected row, next to the list
    /** @type {StaticRange[]} */
    this.tinted = [];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.searchTimer = undefined;
    const { sign_meaning: meaning, choices, sorts } = model.get("offer");
    this.search = this.searchField();
    this.total = node("span", { class: "ragnb-rows-count", role: "status" });
    this.clear = node("button", { class: "ragnb-rows-clear", type: "button", onclick: () => this.startOver() }, "clear");
    this.filters = choices.map((column, place) => filter(column, (codes) => this.choose(place, codes)));
    this.sort = this.sortField(sorts);
    this.rows = new VirtualList(ROW_HEIGHT, (position) => this.row(position), {
      class: meaning ? "ragnb-rows-list" : "ragnb-rows-list ragnb-rows-unsigned",
      "aria-label": "rows: j and k move, / searches",
    });
    this.rows.ondrawn = () => this.ask();
    this.drawFrame(meaning);
    this.pageObserver = new MutationObserver(() => this.tint());
    this.sizeObserver = new ResizeObserver(() => this.onResize());
    this.sizeObserver.observe(this.rows.list);
    this.disconnect = connect(model, {
      "change:found": () => this.restart(),
      "change:position": () => this.turn(),
      "change:search change:chosen change:sort": () => this.show(),
      "msg:custom": (/** @type {RowsMessage} */ message) => this.onMessage(message),
    });
    this.show();
    this.restart();
  }

  close() {
    this.disconnect();
    this.sizeObserver.disconnect();
    this.pageObserver.disconnect();
    this.removeTint();
    clearTimeout(this.searchTimer);
  }

  get count() {
    return this.model.get("found").count;
  }

  get position() {
    return this.model.get("position");
  }

  /** @param {Partial<RowsContent>} values */
  save(values) {
    this.model.set(values);
    this.model.save_changes();
  }

  // ---- the frame, drawn once -------------------------------------------------------------------------------------------

  /** @param {string} meaning of the signs */
  drawFrame(meaning) {
    const menus = this.filters.map(({ root }) => root);
    this.el.classList.add("ragnb-rows");
    this.el.addEventListener("keydown", (event) => this.onKey(event));
    this.el.replaceChildren(
      node("div", { class: "ragnb-rows-tools", role: "search" }, this.search, this.clear, this.total),
      node(
        "div",
        { class: "ragnb-rows-tools" },
        ...menus,
        node("label", { class: "ragnb-rows-menu" }, caption("sort"), this.sort),
        node("span", { class: "ragnb-rows-meaning", dir: "auto" }, meaning),
      ),
      this.rows.list,
    );
    // JupyterLab looks for this on what has the focus, not above it.
    const controls = /** @type {NodeListOf<HTMLElement>} */ (this.el.querySelectorAll("[tabindex], input, select, button, summary"));
    for (const control of controls) {
      control.dataset.lmSuppressShortcuts = "true";
    }
  }

  searchField() {
    return node("input", {
      class: "ragnb-rows-search",
      type: "search",
      placeholder: "search all texts  ( / )",
      "aria-label": "search all texts",
      title: "words, and comparisons of numbers such as answer.f1<0.5",
      dir: "auto",
      spellcheck: "false",
      autocomplete: "off",
      oninput: () => this.onTyped(),
      onfocus: () => this.model.send({ kind: "prepare" }),
    });
  }

  /** @param {[key: string, label: string][]} sorts */
  sortField(sorts) {
    const options = [["", "frame order"], ...sorts];
    const elements = options.map(([value, text]) => node("option", { value }, text));
    const onchange = () => this.save({ sort: this.sort.value });
    return node("select", { class: "ragnb-rows-select", onchange }, ...elements);
  }

  // ---- the list --------------------------------------------------------------------------------------------------------

  /**
   * @param {number} position
   * @returns {RowElement}
   */
  row(position) {
    const [sign, text, details] = this.rowsByPosition.get(position) ?? UNKNOWN_ROW;
    const attributes = {
      class: "ragnb-rows-row",
      "aria-selected": String(position === this.position),
      onclick: () => this.go(position),
    };
    const detailElements = details.map((detail) => node("bdi", { dir: "auto" }, detail));
    return [
      attributes,
      node("span", { class: "ragnb-rows-sign" }, sign),
      node("bdi", { class: "ragnb-rows-title", dir: "auto", title: text }, text),
      node("span", { class: "ragnb-rows-about" }, ...detailElements),
    ];
  }

  // Requests the rows that are near the visible ones and were not sent yet.
  ask() {
    const window = missingRows(this.rowsByPosition, this.rows.window(AHEAD));
    if (!window || this.isWaiting) {
      return;
    }
    const [first, last] = window;
    const { version } = this.model.get("found");
    this.isWaiting = true;
    this.model.send({ kind: "rows", version, first, last });
  }

  /** @param {Rows} rows */
  learn({ first, rows }) {
    rows.forEach((row, place) => this.rowsByPosition.set(first + place, row));
  }

  /** @param {RowsMessage} message */
  onMessage({ kind, version, first, rows }) {
    if (kind !== "rows") {
      return;
    }
    this.isWaiting = false;
    if (version === this.model.get("found").version) {
      this.learn({ first, rows });
    }
    this.rows.draw();
  }

  // Other rows were found.
  restart() {
    const { total } = this.model.get("offer");
    this.rowsByPosition = new Map();
    this.isWaiting = false;
    this.learn(this.model.get("found"));
    this.total.textContent = `${this.count.toLocaleString("en")} of ${total.toLocaleString("en")}`;
    this.rows.list.classList.toggle("ragnb-rows-empty", this.count === 0);
    this.reveal();
    this.tint();
  }

  reveal() {
    this.rows.draw(this.count, this.position); // it has its height before it scrolls
    this.rows.reveal(Math.max(0, this.position));
    this.rows.draw();
  }

  // Another row was selected.
  turn() {
    this.reveal();
    if (this.page) {
      this.page.scrollTop = 0;
    }
  }

  // Shows what is searched, chosen and sorted.
  show() {
    const search = this.model.get("search");
    const codesOfFilters = this.model.get("chosen");
    const sort = this.model.get("sort");
    const isTyping = document.activeElement === this.search;
    if (!isTyping) {
      this.search.value = search;
    }
    this.filters.forEach((columnFilter, place) => columnFilter.show(codesOfFilters[place]));
    this.sort.value = sort;
    const isAnyChosen = codesOfFilters.some((codes) => codes.length > 0);
    this.clear.hidden = !this.search.value && !sort && !isAnyChosen;
  }

  /**
   * @param {number} place of the filter
   * @param {number[]} codes
   */
  choose(place, codes) {
    this.save({ chosen: this.model.get("chosen").with(place, codes) });
  }

  /** @param {number} position */
  go(position) {
    if (position >= 0 && position !== this.position) {
      this.save({ position });
    }
  }

  onResize() {
    const view = this.el.closest(".ragnb-view");
    view?.classList.toggle("ragnb-view-narrow", view.clientWidth < NARROW);
    // The page is next to the list only after it was drawn.
    const page = /** @type {HTMLElement | null | undefined} */ (view?.querySelector(".ragnb-view-page"));
    if (!this.page && page) {
      this.page = page;
      page.dataset.lmSuppressShortcuts = "true";
      this.pageObserver.observe(page, { childList: true, subtree: true });
      this.tint();
    }
    this.rows.draw();
  }

  // ---- words of the search are tinted on the page, without touching its nodes ----------------------------------------

  removeTint() {
    for (const range of this.tinted) {
      CSS.highlights.get(HIGHLIGHT)?.delete(range);
    }
    this.tinted = [];
  }

  tint() {
    this.removeTint();
    if (!CSS.highlights || !this.page) {
      return;
    }
    const words = wordsBesidesComparisons(this.model.get("search"), this.model.get("offer").numbers);
    if (!words.length) {
      return;
    }
    this.tinted = rangesOf(this.page, words);
    const highlight = CSS.highlights.get(HIGHLIGHT) ?? new Highlight(); // all lists share it
    for (const range of this.tinted) {
      highlight.add(range);
    }
    CSS.highlights.set(HIGHLIGHT, highlight);
  }

  // ---- keys ------------------------------------------------------------------------------------------------------------

  onTyped() {
    clearTimeout(this.searchTimer);
    this.searchTimer = setTimeout(() => this.find(), PATIENCE);
  }

  find() {
    clearTimeout(this.searchTimer);
    this.save({ search: this.search.value });
    this.show();
  }

  startOver() {
    this.search.value = "";
    this.save({ search: "", sort: "", chosen: this.filters.map(() => []) });
    this.rows.list.focus();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (isPlain(event)) {
      event.stopPropagation(); // no letter is to become a command of the notebook
    }
    if (this.handlesKey(event)) {
      event.preventDefault();
    }
  }

  /**
   * Do what a key means in the menu, the search or the list.
   * @param {KeyboardEvent} event
   * @returns {boolean} whether it means anything
   */
  handlesKey(event) {
    const menu = /** @type {Element} */ (event.target).closest("details");
    if (menu && event.key === "Escape") {
      menu.open = false;
      menu.querySelector("summary")?.focus();
      return true;
    }
    if (event.target === this.search && leavesSearch(event)) {
      if (this.search.value !== this.model.get("search")) {
        this.find();
      }
      this.rows.list.focus({ preventScroll: true });
      return true;
    }
    return event.target === this.rows.list && this.handlesKeyOfList(event);
  }

  /** @param {KeyboardEvent} event */
  handlesKeyOfList(event) {
    const step = stepOf(event);
    if (event.key === "/" && isPlain(event)) {
      this.search.select();
      return true;
    }
    if (step !== undefined) {
      this.go(clamp(this.position + step, 0, this.count - 1));
      return true;
    }
    return false;
  }
}

/**
 * The places of some words in the texts of a page.
 * @param {HTMLElement} page
 * @param {string[]} words
 */
function rangesOf(page, words) {
  const ranges = [];
  const texts = document.createTreeWalker(page, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() && ranges.length < MOST_TINTED) {
    const text = /** @type {Text} */ (texts.currentNode);
    for (const [start, end] of hits(text.data, words)) {
      const range = { startContainer: text, startOffset: start, endContainer: text, endOffset: end };
      ranges.push(new StaticRange(range));
    }
  }
  return ranges;
}

/**
 * Draw the list into an element, as anywidget asks for it.
 * @param {{model: RowsModel, el: HTMLElement}} widget
 * @returns {function(): void} closes the list
 */
function render({ model, el }) {
  const list = new RowList(model, el);
  return () => list.close();
}

export default { render };
