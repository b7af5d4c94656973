// The list next to the page in a view of a frame. It draws the rows that Python (ragnb/widgets/frame_view.py) has found, and
// reports what was typed, chosen and scrolled to.

import { connect, node } from "./dom.mjs";
import { isPlain, leavesSearch, stepOf } from "./keys.mjs";
import { VirtualList, clamp } from "./list.mjs";
import { hits, wordsOf } from "./search.mjs";

const AHEAD = 120; // rows known above and below what is seen
const NARROW = 560; // from this width on, the page is next to the list
const MOST_TINTED = 2000; // places tinted on a page
const PATIENCE = 60; // milliseconds after the last letter before a search is asked for

/**
 * Find the rows of a window that were not sent yet.
 * @param {Map<number, *>} known rows by position
 * @param {number[]} window first row, and the one after the last
 * @returns {number[]|null} such a window, null if all rows are known
 */
export function unknown(known, [first, last]) {
  while (first < last && known.has(first)) first += 1;
  while (first < last && known.has(last - 1)) last -= 1;
  return first < last ? [first, last] : null;
}

const caption = (text) => node("span", { class: "ragnb-rows-caption", dir: "auto" }, text);

// A column whose values can be ticked: rows pass that have any of them.
function filter({ name, values }, save) {
  const codes = () => boxes.flatMap(({ checked }, code) => (checked ? [code] : []));
  const boxes = values.map(() => node("input", { type: "checkbox", onchange: () => save(codes()) }));
  const chosen = node("span", { class: "ragnb-rows-select", dir: "auto" });
  const root = node("details", {
    class: "ragnb-rows-menu", name: "ragnb-filter", onfocusout: ({ relatedTarget }) => { root.open &&= !relatedTarget || root.contains(relatedTarget); },
  }, node("summary", {}, caption(name), chosen), node("div", { class: "ragnb-rows-values" },
    ...values.map((value, code) => node("label", { dir: "auto" }, boxes[code], value))));
  const show = (codesOn) => {
    boxes.forEach((box, code) => { box.checked = codesOn.includes(code); });
    chosen.textContent = codesOn.map((code) => values[code]).join(", ") || "all";
    chosen.classList.toggle("ragnb-rows-active", codesOn.length > 0);
  };
  return { root, show };
}

class RowList {
  constructor(model, el) {
    this.model = model;
    this.el = el;
    this.tinted = [];
    this.drawFrame();
    this.turned = new MutationObserver(() => this.tint());
    this.resized = new ResizeObserver(() => this.onResize());
    this.resized.observe(this.rows.list);
    this.disconnect = connect(model, {
      "change:found": () => this.restart(),
      "change:position": () => this.turn(),
      "change:search change:chosen change:sort": () => this.show(),
      "msg:custom": (message) => this.onMessage(message),
    });
    this.show();
    this.restart();
  }

  close() {
    this.disconnect();
    this.resized.disconnect();
    this.turned.disconnect();
    this.forget();
    clearTimeout(this.typed);
  }

  get count() { return this.model.get("found").count; }
  get position() { return this.model.get("position"); }

  save(values) {
    this.model.set(values);
    this.model.save_changes();
  }

  drawFrame() {
    const { model } = this;
    const { sign_meaning: meaning, choices, sorts } = model.get("offer");
    this.search = node("input", {
      class: "ragnb-rows-search", type: "search", placeholder: "search all texts  ( / )", "aria-label": "search all texts",
      title: "words, and comparisons of numbers such as answer.f1<0.5", dir: "auto",
      spellcheck: "false", autocomplete: "off", oninput: () => this.onTyped(), onfocus: () => model.send({ kind: "prepare" }),
    });
    this.found = node("span", { class: "ragnb-rows-count", role: "status" });
    this.clear = node("button", { class: "ragnb-rows-clear", type: "button", onclick: () => this.startOver() }, "clear");
    this.filters = choices.map((column, place) => filter(column, (codes) => this.save({ chosen: model.get("chosen").with(place, codes) })));
    this.sort = node("select", { class: "ragnb-rows-select", onchange: () => this.save({ sort: this.sort.value }) },
      ...[["", "frame order"], ...sorts].map(([value, text]) => node("option", { value }, text)));
    this.rows = new VirtualList(46, (at) => this.row(at), {
      class: `ragnb-rows-list${meaning ? "" : " ragnb-rows-unsigned"}`, "aria-label": "rows: j and k move, / searches",
    });
    this.rows.ondrawn = () => this.ask();
    this.el.classList.add("ragnb-rows");
    this.el.addEventListener("keydown", (event) => this.onKey(event));
    this.el.replaceChildren(
      node("div", { class: "ragnb-rows-tools", role: "search" }, this.search, this.clear, this.found),
      node("div", { class: "ragnb-rows-tools" }, ...this.filters.map(({ root }) => root), node("label", { class: "ragnb-rows-menu" }, caption("sort"), this.sort),
        node("span", { class: "ragnb-rows-meaning", dir: "auto" }, meaning)),
      this.rows.list,
    );
    // JupyterLab looks for this on what has the focus, not above it.
    for (const control of this.el.querySelectorAll("[tabindex], input, select, button, summary")) control.dataset.lmSuppressShortcuts = "true";
  }

  // ---- the list ------------------------------------------------------------------------------------------------------

  row(at) {
    const [sign, text, about] = this.known.get(at) ?? ["", "…", []];
    return [
      { class: "ragnb-rows-row", "aria-selected": String(at === this.position), onclick: () => this.go(at) },
      node("span", { class: "ragnb-rows-sign" }, sign),
      node("bdi", { class: "ragnb-rows-title", dir: "auto", title: text }, text),
      node("span", { class: "ragnb-rows-about" }, ...about.map((piece) => node("bdi", { dir: "auto" }, piece))),
    ];
  }

  ask() {
    const missing = unknown(this.known, this.rows.window(AHEAD));
    if (!missing || this.waiting) return;
    this.waiting = true;
    this.model.send({ kind: "rows", version: this.model.get("found").version, first: missing[0], last: missing[1] });
  }

  learn({ first, rows }) {
    rows.forEach((row, place) => this.known.set(first + place, row));
  }

  onMessage({ kind, version, ...titles }) {
    if (kind !== "rows") return;
    this.waiting = false;
    if (version === this.model.get("found").version) this.learn(titles);
    this.rows.draw();
  }

  // Other rows were found.
  restart() {
    this.known = new Map(); // position -> [sign, text, about]
    this.waiting = false;
    this.learn(this.model.get("found"));
    this.found.textContent = `${this.count.toLocaleString("en")} of ${this.model.get("offer").total.toLocaleString("en")}`;
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
    if (this.page) this.page.scrollTop = 0;
  }

  show() {
    const { model } = this;
    if (document.activeElement !== this.search) this.search.value = model.get("search");
    this.filters.forEach(({ show }, place) => show(model.get("chosen")[place]));
    this.sort.value = model.get("sort");
    this.clear.hidden = !this.search.value && !model.get("sort") && !model.get("chosen").flat().length;
  }

  go(position) {
    if (position >= 0 && position !== this.position) this.save({ position });
  }

  // The page is beside the list only after it was drawn.
  onResize() {
    const whole = this.el.closest(".ragnb-view");
    whole?.classList.toggle("ragnb-view-narrow", whole.clientWidth < NARROW);
    if (!this.page && (this.page = whole?.querySelector(".ragnb-view-page"))) {
      this.page.dataset.lmSuppressShortcuts = "true";
      this.turned.observe(this.page, { childList: true, subtree: true });
      this.tint();
    }
    this.rows.draw();
  }

  // ---- what was searched for is tinted on the page, without touching its nodes ---------------------------------------

  forget() {
    for (const range of this.tinted.splice(0)) CSS.highlights.get("ragnb-found").delete(range);
  }

  tint() {
    this.forget();
    const words = wordsOf(this.model.get("search"));
    if (!CSS.highlights || !this.page || !words.length) return;
    const texts = document.createTreeWalker(this.page, NodeFilter.SHOW_TEXT);
    while (texts.nextNode() && this.tinted.length < MOST_TINTED) {
      const text = texts.currentNode;
      for (const [startOffset, endOffset] of hits(text.data, words)) {
        this.tinted.push(new StaticRange({ startContainer: text, startOffset, endContainer: text, endOffset }));
      }
    }
    const all = CSS.highlights.get("ragnb-found") ?? new Highlight(); // one of all lists
    for (const range of this.tinted) all.add(range);
    CSS.highlights.set("ragnb-found", all);
  }

  // ---- keys ----------------------------------------------------------------------------------------------------------

  onTyped() {
    clearTimeout(this.typed);
    this.typed = setTimeout(() => this.find(), PATIENCE);
  }

  find() {
    clearTimeout(this.typed);
    this.save({ search: this.search.value });
    this.show();
  }

  startOver() {
    this.search.value = "";
    this.save({ search: "", sort: "", chosen: this.filters.map(() => []) });
    this.rows.list.focus();
  }

  onKey(event) {
    if (isPlain(event)) event.stopPropagation(); // no letter is to become a command of the notebook
    const menu = event.target.closest("details");
    if (menu && event.key === "Escape") {
      menu.open = false;
      menu.firstChild.focus();
    } else if (event.target === this.search && leavesSearch(event)) {
      if (this.search.value !== this.model.get("search")) this.find();
      this.rows.list.focus({ preventScroll: true });
    } else if (event.target === this.rows.list && event.key === "/" && isPlain(event)) this.search.select();
    else if (event.target === this.rows.list && stepOf(event) !== undefined) this.go(clamp(this.position + stepOf(event), 0, this.count - 1));
    else return;
    event.preventDefault();
  }
}

/** Draw the list into an element, as anywidget asks for it; returns what closes it. */
function render({ model, el }) {
  const list = new RowList(model, el);
  return () => list.close();
}

export default { render };
