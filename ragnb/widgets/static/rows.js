// Made by `make js` from tools/js/src/rows.mjs: change it there.
// src/dom.mjs
function node(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    addAttribute(element, key, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}
function addAttribute(element, key, value) {
  const isAbsent = value === false || value === null || value === void 0;
  if (key === "class") {
    element.className = value;
  } else if (key.startsWith("on")) {
    element.addEventListener(key.slice("on".length), value);
  } else if (!isAbsent) {
    element.setAttribute(key, value === true ? "" : value);
  }
}
function connect(model, handlers) {
  for (const [event, handler] of Object.entries(handlers)) {
    model.on(event, handler);
  }
  return () => {
    for (const [event, handler] of Object.entries(handlers)) {
      model.off(event, handler);
    }
  };
}

// src/keys.mjs
var MOVES = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity };
var ACTS = [
  ["toggle", [" ", "x"], "select or deselect the sentence for the active label (or click it, or drag over several)"],
  ["option", [..."123456789"], "choose an option of the active label"],
  ["empty", ["e"], "none: the active label applies to no sentence"],
  ["clear", ["Backspace", "Delete"], "remove the value of the active label"],
  ["sentence back", ["["], "previous sentence or claim of the response"],
  ["sentence on", ["]"], "next sentence or claim of the response"],
  ["previous", ["p"], "previous item", ["‹", "previous item"]],
  ["next", ["n"], "next item", ["›", "next item"]],
  ["done", ["Enter"], "go to what is still missing, or else to the next item that is not labelled", ["done, next", "next item that is not labelled"]],
  ["undo", ["z"], "undo the last action, on any item (or Ctrl+Z)", ["undo"]],
  ["redo", ["Z"], "redo the last undone action (or Ctrl+Y)", ["redo"]],
  ["tag", ["+"], "write a tag, which is added to the codebook if it is new"],
  ["skip", ["."], "skip the item", ["skip"]],
  ["flag", ["f"], "flag the item", ["flag"]],
  ["memo", ["m"], "write a note on the item", ["note"]],
  ["accept", ["a"], "accept the suggestion"],
  ["search", ["/"], "search the texts; Enter goes to the next match", ["search"]],
  ["jump", ["g"], "show the list of items", ["list"]],
  ["auto", ["A"], "go to the next item after the last label, or stay", ["auto", "go to the next item after the last label"]],
  ["help", ["?"], "show these keys", ["keys"]],
  ["fold", ["o"], "unfold a long document"],
  ["leave", ["Escape"], "close the open panel"]
];
var BUTTONS = [];
for (const row of ACTS) {
  const [act, keys, , button] = row;
  if (button) {
    const [label, title = label] = button;
    BUTTONS.push([act, label, keys[0], title]);
  }
}
function isPlain({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  const hasModifier = ctrlKey || metaKey || altKey;
  const runsCell = shiftKey && key === "Enter";
  return !(hasModifier || runsCell);
}
function stepOf(event) {
  const isMove = isPlain(event) && Object.hasOwn(MOVES, event.key);
  return isMove ? MOVES[event.key] : void 0;
}
function leavesSearch(event) {
  return isPlain(event) && !event.isComposing && ["Escape", "Enter", "ArrowDown"].includes(event.key);
}

// src/list.mjs
var UNKNOWN_HEIGHT = 480;
var SPARE_ROWS = 6;
function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}
function windowOf(scrollTop, height, rowHeight, count, spare) {
  const top = Math.max(0, scrollTop);
  const first = Math.floor(top / rowHeight) - spare;
  const last = Math.ceil((top + height) / rowHeight) + spare;
  return [clamp(first, 0, count), clamp(last, 0, count)];
}
function revealed(position, scrollTop, height, rowHeight) {
  const rowTop = position * rowHeight;
  const lowest = rowTop + rowHeight - height;
  const next = Math.min(rowTop, Math.max(scrollTop, lowest));
  return Math.max(0, next);
}
var listCount = 0;
var VirtualList = class {
  /**
   * @param {number} rowHeight in pixels
   * @param {function(number): RowElement} rowAt attributes and children of the row at a position
   * @param {Record<string, unknown>} attributes of the list
   */
  constructor(rowHeight, rowAt, attributes) {
    listCount += 1;
    this.uid = `ragnb-list-${listCount}`;
    this.rowHeight = rowHeight;
    this.rowAt = rowAt;
    this.count = 0;
    this.current = 0;
    this.ondrawn = void 0;
    this.sheet = node("div", { class: "sheet", role: "presentation" });
    const onscroll = () => this.draw();
    this.list = node("div", { role: "listbox", tabindex: 0, onscroll, ...attributes }, this.sheet);
  }
  get height() {
    return this.list.clientHeight || UNKNOWN_HEIGHT;
  }
  /**
   * The visible rows, with spare rows on either side.
   * @param {number} spare
   */
  window(spare) {
    return windowOf(this.list.scrollTop, this.height, this.rowHeight, this.count, spare);
  }
  /**
   * @param {number} count
   * @param {number} current the row with the focus
   */
  draw(count = this.count, current = this.current) {
    this.count = count;
    this.current = current;
    this.sheet.style.height = `${count * this.rowHeight}px`;
    const isHidden = this.list.isConnected && !this.list.clientHeight;
    if (isHidden) {
      return;
    }
    const [first, last] = this.window(SPARE_ROWS);
    const options = [];
    for (let position = first; position < last; position += 1) {
      options.push(this.option(position));
    }
    this.sheet.replaceChildren(...options);
    this.list.setAttribute("aria-activedescendant", `${this.uid}-${current}`);
    this.ondrawn?.();
  }
  /** @param {number} position */
  option(position) {
    const [rowAttributes, ...children] = this.rowAt(position);
    const attributes = {
      role: "option",
      id: `${this.uid}-${position}`,
      "aria-setsize": this.count,
      "aria-posinset": position + 1,
      ...rowAttributes
    };
    const option = node("div", attributes, ...children);
    option.style.top = `${position * this.rowHeight}px`;
    return option;
  }
  /** @param {number} position */
  reveal(position) {
    this.list.scrollTop = revealed(position, this.list.scrollTop, this.height, this.rowHeight);
  }
};

// src/search.mjs
function folded(text) {
  return text.normalize("NFKC").toLowerCase();
}
function wordsOf(query) {
  return folded(query).split(/\s+/u).filter(Boolean);
}
function hits(text, words) {
  const { foldedText, placeOf } = foldedWithPlaces(text);
  const places = [];
  for (const word of words) {
    let start = foldedText.indexOf(word);
    while (start >= 0) {
      const end = start + word.length;
      places.push(placeOf(start, end));
      start = foldedText.indexOf(word, end);
    }
  }
  return places;
}
var ASCII = /^\p{ASCII}*$/u;
function foldedWithPlaces(text) {
  const foldedText = folded(text);
  if (keepsPlaces(text, foldedText)) {
    return { foldedText, placeOf: (start, end) => [start, end] };
  }
  return foldedByLetters(text);
}
function keepsPlaces(text, foldedText) {
  if (foldedText.length !== text.length) {
    return false;
  }
  return ASCII.test(text) || [...text].every((letter) => folded(letter).length === letter.length);
}
var LETTERS = /[\u1100-\u115f][\u1160-\u11a7]*[\u11a8-\u11ff]*|\P{M}\p{M}*|\p{M}+/gu;
function foldedByLetters(text) {
  const foldedLetters = [];
  const starts = [];
  const ends = [];
  for (const match of text.matchAll(LETTERS)) {
    const [letter] = match;
    const foldedLetter = folded(letter);
    foldedLetters.push(foldedLetter);
    for (let unit = 0; unit < foldedLetter.length; unit += 1) {
      starts.push(match.index);
      ends.push(match.index + letter.length);
    }
  }
  return { foldedText: foldedLetters.join(""), placeOf: (start, end) => [starts[start], ends[end - 1]] };
}

// src/rows.mjs
var AHEAD = 120;
var NARROW = 560;
var MOST_TINTED = 2e3;
var PATIENCE = 60;
var ROW_HEIGHT = 46;
var HIGHLIGHT = "ragnb-found";
var COMPARISON = String.raw`\s*(?:<=|>=|==|[<>=≤≥])\s*-?(?:\p{Nd}+\.?\p{Nd}*|\.\p{Nd}+)(?:e[+-]?\p{Nd}+)?(?!\S)`;
var UNKNOWN_ROW = ["", "…", []];
function missingRows(rows, window) {
  let [first, last] = window;
  while (first < last && rows.has(first)) {
    first += 1;
  }
  while (first < last && rows.has(last - 1)) {
    last -= 1;
  }
  return first < last ? [first, last] : null;
}
function wordsBesidesComparisons(query, columns) {
  const words = wordsOf(query);
  if (!columns.length) {
    return words;
  }
  const names = columns.map((column) => wordsOf(column).join(" ")).sort((left, right) => right.length - left.length);
  const escapedNames = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`));
  const comparisons = new RegExp(`(?<!\\S)(?:${escapedNames.join("|")})${COMPARISON}`, "gu");
  return wordsOf(words.join(" ").replace(comparisons, " "));
}
function caption(text) {
  return node("span", { class: "ragnb-rows-caption", dir: "auto" }, text);
}
function filter({ name, values }, save) {
  const boxes = values.map(() => node("input", { type: "checkbox", onchange: () => save(tickedCodes(boxes)) }));
  const labels = values.map((value, code) => node("label", { dir: "auto" }, boxes[code], value));
  const selection = node("span", { class: "ragnb-rows-select", dir: "auto" });
  const onfocusout = ({ relatedTarget }) => {
    if (relatedTarget && !root.contains(
      /** @type {Node} */
      relatedTarget
    )) {
      root.open = false;
    }
  };
  const root = node(
    "details",
    { class: "ragnb-rows-menu", name: "ragnb-filter", onfocusout },
    node("summary", {}, caption(name), selection),
    node("div", { class: "ragnb-rows-values" }, ...labels)
  );
  const show = (codes) => {
    boxes.forEach((box, code) => {
      box.checked = codes.includes(code);
    });
    const names = codes.map((code) => values[code]);
    selection.textContent = names.join(", ") || "all";
    selection.classList.toggle("ragnb-rows-active", codes.length > 0);
  };
  return { root, show };
}
function tickedCodes(boxes) {
  const codes = [...boxes.keys()];
  return codes.filter((code) => boxes[code].checked);
}
var RowList = class {
  /**
   * @param {RowsModel} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.el = el;
    this.rowsByPosition = /* @__PURE__ */ new Map();
    this.isWaiting = false;
    this.page = null;
    this.tinted = [];
    this.searchTimer = void 0;
    const { sign_meaning: meaning, choices, sorts } = model.get("offer");
    this.search = this.searchField();
    this.total = node("span", { class: "ragnb-rows-count", role: "status" });
    this.clear = node("button", { class: "ragnb-rows-clear", type: "button", onclick: () => this.startOver() }, "clear");
    this.filters = choices.map((column, place) => filter(column, (codes) => this.choose(place, codes)));
    this.sort = this.sortField(sorts);
    this.rows = new VirtualList(ROW_HEIGHT, (position) => this.row(position), {
      class: meaning ? "ragnb-rows-list" : "ragnb-rows-list ragnb-rows-unsigned",
      "aria-label": "rows: j and k move, / searches"
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
      "msg:custom": (message) => this.onMessage(message)
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
        node("span", { class: "ragnb-rows-meaning", dir: "auto" }, meaning)
      ),
      this.rows.list
    );
    const controls = (
      /** @type {NodeListOf<HTMLElement>} */
      this.el.querySelectorAll("[tabindex], input, select, button, summary")
    );
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
      onfocus: () => this.model.send({ kind: "prepare" })
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
      onclick: () => this.go(position)
    };
    const detailElements = details.map((detail) => node("bdi", { dir: "auto" }, detail));
    return [
      attributes,
      node("span", { class: "ragnb-rows-sign" }, sign),
      node("bdi", { class: "ragnb-rows-title", dir: "auto", title: text }, text),
      node("span", { class: "ragnb-rows-about" }, ...detailElements)
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
    this.rowsByPosition = /* @__PURE__ */ new Map();
    this.isWaiting = false;
    this.learn(this.model.get("found"));
    this.total.textContent = `${this.count.toLocaleString("en")} of ${total.toLocaleString("en")}`;
    this.rows.list.classList.toggle("ragnb-rows-empty", this.count === 0);
    this.reveal();
    this.tint();
  }
  reveal() {
    this.rows.draw(this.count, this.position);
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
    const page = (
      /** @type {HTMLElement | null | undefined} */
      view?.querySelector(".ragnb-view-page")
    );
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
    const highlight = CSS.highlights.get(HIGHLIGHT) ?? new Highlight();
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
      event.stopPropagation();
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
    const menu = (
      /** @type {Element} */
      event.target.closest("details")
    );
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
    if (step !== void 0) {
      this.go(clamp(this.position + step, 0, this.count - 1));
      return true;
    }
    return false;
  }
};
function rangesOf(page, words) {
  const ranges = [];
  const texts = document.createTreeWalker(page, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() && ranges.length < MOST_TINTED) {
    const text = (
      /** @type {Text} */
      texts.currentNode
    );
    for (const [start, end] of hits(text.data, words)) {
      const range = { startContainer: text, startOffset: start, endContainer: text, endOffset: end };
      ranges.push(new StaticRange(range));
    }
  }
  return ranges;
}
function render({ model, el }) {
  const list = new RowList(model, el);
  return () => list.close();
}
var rows_default = { render };
export {
  rows_default as default,
  missingRows,
  wordsBesidesComparisons
};
