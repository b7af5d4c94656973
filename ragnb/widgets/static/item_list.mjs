// The list of all items: a filter, words, and the rows in sight.

const ITEM_ROW = 28; // height of a row, in px
const ITEM_SPARE = 8; // rows drawn above and below what is seen
const FILTERS = ["all", "not labelled", "untouched", "started", "labelled", "skipped", "flagged"];
const GLYPHS = { labelled: "✓", started: "◐", skipped: "↷", untouched: "·" };
const STEPS = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity };

class ItemList {
  constructor(work, uid, goTo) {
    this.work = work;
    this.uid = uid;
    this.goTo = goTo;
    this.shown = []; // numbers of the items that pass
    this.at = 0; // place among them
    const again = () => this.start();
    this.filter = node("select", { "aria-label": "which items", onchange: again }, ...FILTERS.map((name) => node("option", { value: name }, name)));
    this.query = node("input", {
      type: "search", placeholder: "words", "aria-label": "words of an item", oninput: again, onkeydown: (event) => this.onQueryKey(event),
    });
    this.count = node("span", { class: "count" });
    this.space = node("div", { class: "space" });
    this.list = node("div", {
      class: "list", role: "listbox", tabindex: 0, "aria-label": "items", onscroll: () => this.draw(), onkeydown: (event) => this.onKey(event),
    }, this.space);
    this.box = node("div", { class: "panel jump", hidden: true }, this.filter, " ", this.query, " ", this.count, this.list);
  }

  // With the item on the screen in sight.
  open() {
    this.box.hidden = false;
    this.start();
    this.at = Math.max(0, this.shown.indexOf(this.work.page.number));
    this.list.scrollTop = (this.at - 2) * ITEM_ROW;
    this.draw();
    this.list.focus();
  }

  start() {
    this.at = 0;
    this.list.scrollTop = 0;
    this.draw();
  }

  draw() {
    if (this.box.hidden) return;
    const entries = this.work.entries;
    this.shown = listed(entries, this.filter.value, this.query.value);
    this.count.textContent = `${this.shown.length} of ${entries.length}`;
    this.space.style.height = `${this.shown.length * ITEM_ROW}px`;
    const [first, last] = windowOf(this.list.scrollTop, this.list.clientHeight || 240, ITEM_ROW, this.shown.length, ITEM_SPARE);
    this.space.replaceChildren(...this.shown.slice(first, last).map((number, n) => this.row(number, entries[number], first + n)));
    this.list.setAttribute("aria-activedescendant", `${this.uid}-item-${this.shown[this.at]}`);
  }

  row(number, [title, status, flag], place) {
    const row = node("div", {
      class: `row${place === this.at ? " cursor" : ""}`, role: "option", id: `${this.uid}-item-${number}`,
      "aria-selected": String(number === this.work.page.number), "aria-setsize": this.shown.length, "aria-posinset": place + 1,
      "aria-label": `${number + 1} ${status}${flag ? " flagged" : ""} ${title}`, onclick: () => this.choose(number),
    }, node("span", { class: "n" }, `${number + 1} ${GLYPHS[status]}${flag ? " ⚑" : ""}`), node("span", { class: "title", dir: "auto" }, title));
    row.style.top = `${place * ITEM_ROW}px`;
    return row;
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") this.choose(this.shown[this.at]);
    else if (event.key in STEPS) this.moveTo(this.at + STEPS[event.key]);
    else return;
    event.preventDefault();
  }

  onQueryKey(event) {
    if (event.isComposing || !["Enter", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    this.list.focus();
  }

  moveTo(place) {
    this.at = clamp(place, 0, Math.max(0, this.shown.length - 1));
    this.list.scrollTop = revealed(this.at, this.list.scrollTop, this.list.clientHeight, ITEM_ROW);
    this.draw();
  }

  choose(number) {
    if (number === undefined) return; // no item passes
    this.box.hidden = true;
    this.goTo(number);
  }
}
