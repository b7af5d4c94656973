// Draws the list of rows that Python has found, and reports what was typed, chosen and scrolled to. All texts are text.

import { connect, node } from "./dom.mjs";
import { isPlain, leavesSearch, stepOf } from "./keys.mjs";
import { VirtualList, clamp } from "./list.mjs";
import { hits, wordsOf } from "./search.mjs";

const AHEAD = 120; // rows known above and below what is seen
const NARROW = 560; // from this width on, the page is next to the list
const MOST_TINTED = 2000; // places tinted on a page
const PATIENCE = 60; // milliseconds after the last letter before a search is asked for

// The first and the last row of a window that are not known yet; null where all are.
export function unknown(known, [first, last]) {
  while (first < last && known.has(first)) first += 1;
  while (first < last && known.has(last - 1)) last -= 1;
  return first < last ? [first, last] : null;
}

function menu(title, names, act) {
  const options = names.map(([value, text]) => node("option", { value }, text));
  const select = node("select", { class: "ragnb-rows-select", onchange: () => act(select.value) }, ...options);
  const caption = node("span", { class: "ragnb-rows-caption", dir: "auto" }, title);
  return { label: node("label", { class: "ragnb-rows-menu" }, caption, select), select };
}

function sharedHighlight() {
  if (typeof Highlight === "undefined" || !CSS.highlights) return null;
  if (!CSS.highlights.has("ragnb-found")) CSS.highlights.set("ragnb-found", new Highlight());
  return CSS.highlights.get("ragnb-found");
}

class RowList {
  constructor(model, el) {
    this.model = model;
    this.el = el;
    this.known = new Map(); // position -> [sign, text, about]
    this.tinted = [];
    this.highlight = sharedHighlight();
    this.turned = new MutationObserver(() => this.tint());
    this.resized = new ResizeObserver(() => this.onResize());
    this.drawFrame();
    this.disconnect = connect(model, {
      "change:found": () => this.restart(),
      "change:position": () => this.turn(),
      "change:search change:chosen change:sort": () => this.show(),
      "msg:custom": (message) => this.onMessage(message),
    });
    this.resized.observe(this.rows.list);
    this.show();
    this.restart();
  }

  close() {
    this.disconnect();
    this.resized.disconnect();
    this.turned.disconnect();
    this.rows.close();
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
    const meaning = model.get("sign_meaning");
    this.search = node("input", {
      class: "ragnb-rows-search", type: "search", placeholder: "search all texts  ( / )", "aria-label": "search all texts",
      title: "words, and comparisons of numbers such as answer.f1<0.5", dir: "auto",
      spellcheck: "false", autocomplete: "off", oninput: () => this.onTyped(), onfocus: () => model.send({ kind: "prepare" }),
    });
    this.found = node("span", { class: "ragnb-rows-count", role: "status" });
    this.clear = node("button", { class: "ragnb-rows-clear", type: "button", onclick: () => this.startOver() }, "clear");
    this.filters = model.get("choices").map(({ name, values }, place) =>
      menu(name, [["0", "all"], ...values.map((value, code) => [String(code + 1), value])], (value) =>
        this.save({ chosen: model.get("chosen").map((code, at) => (at === place ? Number(value) : code)) })));
    this.sort = menu("sort", [["", "frame order"], ...model.get("sorts")], (sort) => this.save({ sort }));
    this.rows = new VirtualList(46, (at) => this.row(at), {
      class: `ragnb-rows-list${meaning ? "" : " ragnb-rows-unsigned"}`, "aria-label": "rows: j and k move, / searches",
    });
    this.rows.ondrawn = () => this.ask();
    this.el.classList.add("ragnb-rows");
    this.el.addEventListener("keydown", (event) => this.onKey(event));
    this.el.replaceChildren(
      node("div", { class: "ragnb-rows-tools", role: "search" }, this.search, this.clear, this.found),
      node("div", { class: "ragnb-rows-tools" }, ...this.filters.map(({ label }) => label), this.sort.label,
        node("span", { class: "ragnb-rows-meaning", dir: "auto" }, meaning)),
      this.rows.list,
    );
    // JupyterLab looks for this on what has the focus, not above it.
    for (const control of [this.rows.list, ...this.el.querySelectorAll("input, select, button")]) control.dataset.lmSuppressShortcuts = "true";
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

  draw() {
    this.rows.draw(this.count, this.position);
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
    this.draw();
  }

  // Other rows were found.
  restart() {
    this.known = new Map();
    this.waiting = false;
    this.learn(this.model.get("found"));
    this.found.textContent = `${this.count.toLocaleString("en")} of ${this.model.get("total").toLocaleString("en")}`;
    this.rows.list.classList.toggle("ragnb-rows-empty", this.count === 0);
    this.reveal();
    this.tint();
  }

  reveal() {
    this.draw(); // it has its height before it scrolls
    this.rows.reveal(Math.max(0, this.position));
    this.draw();
  }

  // Another row was selected.
  turn() {
    this.reveal();
    const page = this.pageBeside();
    if (page) page.scrollTop = 0;
  }

  show() {
    const { model } = this;
    if (document.activeElement !== this.search) this.search.value = model.get("search");
    this.filters.forEach(({ select }, place) => {
      select.value = String(model.get("chosen")[place]);
      select.classList.toggle("ragnb-rows-active", select.value !== "0");
    });
    this.sort.select.value = model.get("sort");
    this.clear.hidden = !this.search.value && !model.get("sort") && model.get("chosen").every((code) => code === 0);
  }

  go(position) {
    if (position >= 0 && position !== this.position) this.save({ position });
  }

  onResize() {
    const whole = this.el.closest(".ragnb-view");
    whole?.classList.toggle("ragnb-view-narrow", whole.clientWidth < NARROW);
    this.follow();
    this.rows.plan();
  }

  // ---- the page beside it: what was searched for is tinted there, without touching its nodes -------------------------

  pageBeside() {
    return this.el.closest(".ragnb-view")?.querySelector(".ragnb-view-page");
  }

  follow() {
    if (this.followed || !(this.followed = this.pageBeside())) return;
    this.followed.dataset.lmSuppressShortcuts = "true";
    this.turned.observe(this.followed, { childList: true, subtree: true });
    this.tint();
  }

  forget() {
    this.tinted.splice(0).forEach((range) => this.highlight?.delete(range));
  }

  tint() {
    this.forget();
    const words = wordsOf(this.model.get("search"));
    if (!this.highlight || !this.followed || !words.length) return;
    const texts = document.createTreeWalker(this.followed, NodeFilter.SHOW_TEXT);
    while (texts.nextNode() && this.tinted.length < MOST_TINTED) {
      const text = texts.currentNode;
      for (const [startOffset, endOffset] of hits(text.data, words)) {
        this.tinted.push(new StaticRange({ startContainer: text, startOffset, endContainer: text, endOffset }));
      }
    }
    this.tinted.forEach((range) => this.highlight.add(range));
  }

  // ---- what is done to it --------------------------------------------------------------------------------------------

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
    this.save({ search: "", sort: "", chosen: this.filters.map(() => 0) });
    this.rows.list.focus();
  }

  onKey(event) {
    const typing = event.target === this.search;
    const step = event.target === this.rows.list ? stepOf(event) : undefined;
    const searches = event.target === this.rows.list && event.key === "/" && isPlain(event);
    const leaves = typing && leavesSearch(event);
    if (step !== undefined || searches || leaves) event.preventDefault();
    if (isPlain(event)) event.stopPropagation(); // no letter is to become a command of the notebook
    if (searches) this.search.select();
    if (leaves && this.search.value !== this.model.get("search")) this.find();
    if (leaves) this.rows.list.focus({ preventScroll: true });
    if (step !== undefined) this.go(clamp(this.position + step, 0, this.count - 1));
  }
}

function render({ model, el }) {
  const list = new RowList(model, el);
  return () => list.close();
}

export default { render };
