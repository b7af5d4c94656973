// The texts of an item, sentence by sentence, with the cursor, ranges that are chosen by mouse or keys, hits of a search, the
// marks of labels, and folded documents.

import { kbd, node } from "./dom.mjs";
import { clamp } from "./list.mjs";
import { found } from "./search.mjs";

const FOLD_ABOVE = 40; // sentences of a document that are shown without asking
const FOLDED_TO = 8; // as in annotator.css
const SIGNS = { full: "✓", partial: "◐", none: "✗", true: "✓", false: "✗" };

/** Draws the texts of the item on the screen, and knows which sentences are selected. */
export class Sentences {
  constructor(annotator) {
    this.annotator = annotator;
    this.work = annotator.work;
    this.uid = `ragnb-${Math.random().toString(36).slice(2)}`; // several annotators stand on one page
  }

  // ---- drawn when the item changes -------------------------------------------------------------------------------

  // The boxes of the documents, one or none, and of all that is beside them.
  draw() {
    this.lines = {}; // by part
    this.boxes = {};
    this.cursor = {}; // place of the line under it
    this.hits = [];
    this.anchor = null; // where a range begins
    this.dragging = null; // part over which the mouse goes
    const { parts } = this.work.page;
    const documents = parts.filter(({ name }) => name === "documents");
    const rest = parts.filter(({ name }) => name !== "documents");
    return [documents.length ? [this.box("documents", documents, "documents")] : [], rest.map((part) => this.box(part.name, [part], part.heading))];
  }

  box(name, parts, label) {
    this.lines[name] = [];
    this.cursor[name] = 0;
    const about = { role: "listbox", "aria-multiselectable": "true", "aria-label": label };
    this.boxes[name] = node("div", { class: `part ${name}`, tabindex: 0, ...about }, ...parts.map((part) => this.section(name, part)));
    return this.boxes[name];
  }

  section(name, { heading, sentences }) {
    const folds = name !== "words" && sentences.length > FOLD_ABOVE;
    const onclick = () => { section.classList.remove("folded"); this.focus(); };
    const section = node("section", { role: "presentation", class: folds ? "folded" : "" },
      heading ? node("div", { class: "heading" }, heading, node("span", { class: "chosen" })) : null,
      node("div", { class: "text", role: "presentation", dir: "auto" }, ...sentences.map(([key, text]) => this.line(name, key, text))),
      node("button", { type: "button", class: "more", onclick }, `… ${sentences.length - FOLDED_TO} more sentences `, kbd("o")));
    return section;
  }

  line(part, key, text) {
    const line = { part, place: this.lines[part].length, key, text, badges: node("sup", { class: "badges", dir: "ltr" }) };
    const lead = this.work.page.keyed.includes(part) ? [node("small", { class: "key", dir: "ltr" }, `[${key}]`), " "] : [];
    line.node = node("span", {
      class: "sentence", role: "option", dir: part === "words" ? null : "auto", id: `${this.uid}-${part}-${line.place}`,
      onmousedown: (event) => this.onPress(event, line), onmouseenter: () => this.onDrag(line), onclick: () => this.select(line),
    }, ...lead, node("span", { class: "words" }, text), line.badges);
    this.lines[part].push(line);
    return line.node;
  }

  unfold(line = this.here) {
    line?.node.closest("section").classList.remove("folded");
  }

  // ---- painted with every action -----------------------------------------------------------------------------------

  paint() {
    const marks = this.work.task.fields.filter(({ kind }) => kind === "sentences").map((field) => this.mark(field));
    const picked = new Set(this.anchor === null ? [] : this.picked());
    const hits = new Set(this.hits);
    for (const [part, lines] of Object.entries(this.lines)) {
      const here = marks.filter(({ field }) => field.of === part);
      for (const line of lines) this.paintLine(line, here, picked.has(line), hits.has(line));
      for (const chosen of this.boxes[part].querySelectorAll(".chosen")) {
        const marked = chosen.closest("section").querySelectorAll(".on, .held").length;
        chosen.textContent = marked ? ` · ${marked} marked` : "";
      }
    }
    if (this.here) this.boxes[this.here.part].setAttribute("aria-activedescendant", this.here.node.id);
  }

  // A field of sentences, its place, and the keys that it holds there, said or suggested.
  mark(field) {
    const place = this.work.placeOf(field);
    const { value, guess } = this.work.labelAt(place);
    return { field, place, keys: new Set(value ?? guess ?? []), suggested: guess !== undefined };
  }

  paintLine(line, marks, picked, hit) {
    const { part, key } = line;
    const holding = marks.filter(({ keys }) => keys.has(key));
    const mine = holding.some(({ field }) => field.name === this.work.field.name);
    const next = part === "words" && this.lines[part][line.place + 1]; // marked words that follow each other are one span
    const ending = holding.filter(({ keys }) => !next || !keys.has(next.key));
    line.badges.textContent = this.badges(line, marks, ending).join(" ");
    line.node.setAttribute("aria-selected", mine);
    const looks = {
      on: mine, held: holding.length > 0 && !mine, guess: holding.some(({ suggested }) => suggested), picked,
      current: part === this.work.task.unit && key === this.work.sentence, hit, cursor: line === this.here,
    };
    for (const name in looks) line.node.classList.toggle(name, looks[name]);
  }

  // Letters of labels, with a question mark if suggested; what other annotators chose; verdicts on a sentence of the response.
  badges({ part, key }, marks, holding) {
    const mine = holding.map(({ field, suggested }) => field.key.toUpperCase() + (suggested ? "?" : ""));
    const votes = marks.map(({ field, place }) => [field.key, this.work.votes(place, key)]).filter(([, who]) => who.length);
    const verdicts = this.work.task.fields.filter(({ each, kind }) => part === this.work.task.unit && each && kind === "choice").map(({ name }) => {
      const { value, guess } = this.work.labelAt([name, key]);
      const current = String(value ?? guess ?? "…");
      return (SIGNS[current] ?? current) + (guess === undefined ? "" : "?");
    });
    return [...mine, ...votes.map(([letter, who]) => `${letter}:${who.join("+")}`), ...verdicts];
  }

  // ---- cursor and ranges -------------------------------------------------------------------------------------------

  // The part in which keys move: the part whose sentences are labelled, else the documents, else the first with any text.
  get part() {
    const { kind, of, each } = this.work.field;
    const wanted = kind === "sentences" ? of : each ? this.work.task.unit : "documents";
    return this.lines[wanted]?.length ? wanted : Object.keys(this.lines).find((name) => this.lines[name].length);
  }

  // The line under the cursor.
  get here() {
    return this.lines[this.part]?.[this.cursor[this.part]];
  }

  focus() {
    (this.boxes[this.part] ?? this.annotator.root).focus({ preventScroll: true });
  }

  goTo({ part, place, node: line }) {
    this.cursor[part] = place;
    line.scrollIntoView({ block: "nearest" });
  }

  // The cursor goes along to the sentence that is labelled.
  follow() {
    const part = this.work.task.unit;
    const line = this.part === part && this.lines[part].find(({ key }) => key === this.work.sentence);
    if (line) this.goTo(line);
  }

  // Keys that go sideways follow the direction of the text.
  move(step, extend, sideways) {
    const { part, here } = this;
    const visible = (this.lines[part] ?? []).filter((line) => line.node.checkVisibility());
    if (!visible.length) return;
    const against = sideways && getComputedStyle(here.node).direction === "rtl";
    this.anchor = extend ? this.anchor ?? here.place : null;
    const line = visible[clamp(visible.indexOf(here) + (against ? -step : step), 0, visible.length - 1)];
    this.goTo(line);
    this.paint();
    this.focus();
    this.select(line);
  }

  // Where labels are asked of each sentence of the response, to be on one is to label it.
  select({ part, key }) {
    if (part === this.work.task.unit && this.work.page.each.length && !this.work.chooses(part)) this.annotator.go(() => this.work.goToSentence(key));
  }

  // The lines in sight from the anchor to the cursor, where sentences are chosen.
  picked() {
    const { of } = this.work.field;
    const lines = this.work.chooses(of) ? this.lines[of] ?? [] : [];
    const [first, last] = [this.anchor ?? this.cursor[of], this.cursor[of]].sort((left, right) => left - right);
    return lines.slice(first, last + 1).filter((line) => line.node.checkVisibility());
  }

  // What is picked, and whether to choose or unchoose it: all as the one that leads. Of one, the kernel knows best.
  take(lead = this.anchor) {
    const { field } = this.work;
    const keys = this.picked().map(({ key }) => key);
    this.anchor = null;
    return { keys, on: keys.length > 1 ? !this.mark(field).keys.has(this.lines[field.of][lead].key) : null };
  }

  // ---- mouse ---------------------------------------------------------------------------------------------------------

  onPress(event, { part, place }) {
    if (event.button !== 0 || event.altKey) return; // with Alt, text is selected as anywhere
    if (this.work.chooses(part)) {
      event.preventDefault();
      this.dragging = part;
      this.anchor = event.shiftKey ? this.cursor[part] : place;
      document.addEventListener("mouseup", () => this.onRelease(place), { once: true }); // wherever that is
    }
    this.cursor[part] = place;
    this.boxes[part].focus({ preventScroll: true });
    this.paint();
  }

  onDrag({ part, place }) {
    if (this.dragging !== part) return;
    this.cursor[part] = place;
    this.paint();
  }

  // What the mouse went over is chosen.
  onRelease(lead) {
    if (this.dragging) this.annotator.toggle(lead);
    this.dragging = null;
  }

  // ---- search --------------------------------------------------------------------------------------------------------

  // Number of the hit where the cursor is now, and how many there are.
  find(words) {
    const lines = Object.values(this.lines).flat();
    this.hits = found(lines.map(({ text }) => text), words).map((number) => lines[number]);
    this.hits.forEach((line) => this.unfold(line));
    this.hitAt = -1;
    return this.nextHit(1);
  }

  nextHit(step) {
    const total = this.hits.length;
    if (total) {
      this.hitAt = (this.hitAt + step + total) % total;
      this.goTo(this.hits[this.hitAt]);
    }
    this.paint();
    return [this.hitAt, total];
  }
}
