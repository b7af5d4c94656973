// The texts of an item, sentence by sentence: folding, the cursor, ranges by mouse and keys, hits of a search, and marks.

import { kbd, node } from "./dom.mjs";
import { clamp } from "./list.mjs";
import { found } from "./search.mjs";

const FOLD_ABOVE = 40; // sentences of a document that are shown without asking
const FOLDED_TO = 8;
const SIGNS = { full: "✓", partial: "◐", none: "✗", true: "✓", false: "✗" };

// Keys from one place to another, whichever comes first.
export function range(keys, from, to) {
  return keys.slice(Math.min(from, to), Math.max(from, to) + 1);
}

export class Sentences {
  // acts: toggle(lead) chooses what is picked, select(key) goes to a sentence of the response, focus()
  constructor(work, uid, acts) {
    this.work = work;
    this.uid = uid;
    this.acts = acts;
    this.release = () => this.onRelease();
    document.addEventListener("mouseup", this.release);
  }

  close() {
    document.removeEventListener("mouseup", this.release);
  }

  // ---- drawn when the item changes -------------------------------------------------------------------------------

  // The boxes of the documents, one or none, and of all that is beside them.
  draw() {
    this.lines = {}; // by part
    this.boxes = {};
    this.cursor = {};
    this.sections = [];
    this.hits = [];
    this.anchor = null; // where a range begins
    this.dragging = null; // part over which the mouse goes
    const { parts } = this.work.page;
    const documents = parts.filter(({ name }) => name === "documents");
    const rest = parts.filter(({ name }) => name !== "documents");
    return [
      documents.length ? [this.box("documents", documents, "documents")] : [],
      rest.map((part) => this.box(part.name, [part], part.heading)),
    ];
  }

  box(name, parts, label) {
    this.lines[name] = [];
    this.cursor[name] = 0;
    const about = { role: "listbox", "aria-multiselectable": "true", "aria-label": label };
    this.boxes[name] = node("div", { class: `part ${name}`, tabindex: 0, ...about }, ...parts.map((part) => this.section(name, part)));
    return this.boxes[name];
  }

  section(name, { heading, sentences }) {
    const section = { chosen: node("span", { class: "chosen" }), more: null };
    section.lines = sentences.map(([key, text]) => this.line(name, section, key, text));
    const folds = name !== "words" && sentences.length > FOLD_ABOVE;
    const hidden = folds ? section.lines.slice(FOLDED_TO) : [];
    hidden.forEach((line) => { line.node.hidden = true; });
    const onclick = () => { this.unfold(section); this.acts.focus(); };
    if (hidden.length) section.more = node("button", { type: "button", class: "more", onclick }, `… ${hidden.length} more sentences `, kbd("o"));
    this.sections.push(section);
    return node("section", { role: "presentation" },
      heading ? node("div", { class: "heading" }, heading, section.chosen) : null,
      node("div", { class: "text", role: "presentation", dir: "auto" }, ...section.lines.map((line) => line.node)), section.more);
  }

  line(part, section, key, text) {
    const place = this.lines[part].length;
    const badges = node("sup", { class: "badges", dir: "ltr" });
    const lead = this.work.page.keyed.includes(part) ? [node("small", { class: "key", dir: "ltr" }, `[${key}]`), " "] : [];
    const made = node("span", {
      class: "sentence", role: "option", dir: part === "words" ? null : "auto", id: `${this.uid}-${part}-${place}`,
      onmousedown: (event) => this.onPress(event, part, place), onmouseenter: () => this.onDrag(part, place), onclick: () => this.select(part, key),
    }, ...lead, node("span", { class: "words" }, text), badges);
    const line = { part, place, section, key, text, badges, node: made };
    this.lines[part].push(line);
    return line;
  }

  unfold({ lines, more }) {
    lines.forEach((line) => { line.node.hidden = false; });
    more?.remove();
  }

  unfoldHere() {
    if (this.here) this.unfold(this.here.section);
  }

  // ---- painted with every action -----------------------------------------------------------------------------------

  paint() {
    const marks = this.work.task.fields.filter((field) => field.kind === "sentences").map((field) => this.mark(field));
    const picked = new Set(this.anchor === null ? [] : this.picked());
    for (const [part, lines] of Object.entries(this.lines)) {
      const here = marks.filter(({ field }) => field.of === part);
      for (const line of lines) this.paintLine(line, here, picked.has(line));
    }
    for (const { chosen, lines } of this.sections) {
      const marked = lines.filter((line) => line.held).length;
      chosen.textContent = marked ? ` · ${marked} marked` : "";
    }
    this.paintCursor();
  }

  paintCursor() {
    this.pointed?.node.classList.remove("cursor");
    this.pointed = this.here;
    if (!this.pointed) return;
    this.pointed.node.classList.add("cursor");
    this.boxes[this.pointed.part].setAttribute("aria-activedescendant", this.pointed.node.id);
  }

  // A field of sentences, its place, and the keys that it holds there, said or suggested.
  mark(field) {
    const place = this.work.placeOf(field);
    const { value, guess } = this.work.said(place);
    return { field, place, keys: value ?? guess ?? [], suggested: guess !== undefined };
  }

  paintLine(line, marks, picked) {
    const { part, key } = line;
    const holding = marks.filter(({ keys }) => keys.includes(key));
    const mine = holding.some(({ field }) => field.name === this.work.field.name);
    const current = part === this.work.task.unit && key === this.work.sentence;
    line.held = holding.length > 0;
    const next = part === "words" && this.lines[part][line.place + 1]; // marked words that follow each other are one span
    const ending = holding.filter(({ keys }) => !next || !keys.includes(next.key));
    line.badges.textContent = this.badges(line, marks, ending).join(" ");
    line.node.setAttribute("aria-selected", mine);
    const guess = holding.some(({ suggested }) => suggested);
    const looks = { on: mine, held: line.held && !mine, guess, current, hit: this.hits.includes(line), picked };
    for (const name in looks) line.node.classList.toggle(name, looks[name]);
  }

  badges({ part, key }, marks, holding) {
    const mine = holding.map(({ field, suggested }) => field.key.toUpperCase() + (suggested ? "?" : ""));
    const votes = marks.flatMap(({ field, place }) => {
      const who = this.work.votes(place, key);
      return who.length ? [`${field.key}:${who.join("+")}`] : [];
    });
    return [...mine, ...votes, ...(part === this.work.task.unit ? this.verdicts(key) : [])];
  }

  // The labels of a sentence of the response, abbreviated.
  verdicts(key) {
    return this.work.task.fields.filter((field) => field.each && field.kind === "choice").map((field) => {
      const { value, guess } = this.work.said([field.name, key]);
      if (value === undefined && guess === undefined) return "…";
      const said = String(value ?? guess);
      return (SIGNS[said] || said) + (value === undefined ? "?" : "");
    });
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

  focus(root) {
    (this.boxes[this.part] || root).focus({ preventScroll: true });
  }

  forgetRange() {
    this.anchor = null;
  }

  // The cursor goes along to the sentence that is labelled.
  follow() {
    const part = this.work.task.unit;
    const line = this.part === part && this.lines[part].find(({ key }) => key === this.work.sentence);
    if (!line) return;
    this.cursor[part] = line.place;
    line.node.scrollIntoView({ block: "nearest" });
  }

  // Keys that go sideways follow the direction of the text.
  move(step, extend, sideways) {
    const part = this.part;
    if (sideways && this.here && getComputedStyle(this.here.node).direction === "rtl") step = -step;
    const visible = (this.lines[part] || []).filter((line) => !line.node.hidden);
    if (!visible.length) return;
    this.anchor = extend ? this.anchor ?? this.cursor[part] : null;
    const at = visible.findIndex(({ place }) => place === this.cursor[part]);
    const line = visible[clamp(at + step, 0, visible.length - 1)];
    this.cursor[part] = line.place;
    this.paint();
    this.acts.focus();
    line.node.scrollIntoView({ block: "nearest" });
    this.select(part, line.key);
  }

  // Where labels are asked of each sentence of the response, to be on one is to label it.
  select(part, key) {
    if (part === this.work.task.unit && this.work.page.each.length && !this.work.chooses(part)) this.acts.select(key);
  }

  // The lines in sight from the anchor to the cursor, where sentences are chosen.
  picked() {
    const { of } = this.work.field;
    const lines = this.work.chooses(of) ? this.lines[of] || [] : [];
    return range(lines, this.anchor ?? this.cursor[of], this.cursor[of]).filter((line) => !line.node.hidden);
  }

  // What is picked, and whether to choose or unchoose it: all as the one that leads. Of one, the kernel knows best.
  take(lead = this.anchor) {
    const { field } = this.work;
    const keys = this.picked().map(({ key }) => key);
    this.anchor = null;
    return { keys, on: keys.length > 1 ? !this.mark(field).keys.includes(this.lines[field.of][lead].key) : null };
  }

  // ---- mouse ---------------------------------------------------------------------------------------------------------

  onPress(event, part, place) {
    if (event.button !== 0 || event.altKey) return; // with Alt, text is selected as anywhere
    if (this.work.chooses(part)) {
      event.preventDefault();
      this.dragging = part;
      this.anchor = event.shiftKey ? this.cursor[part] : place;
      this.lead = place;
    }
    this.cursor[part] = place;
    this.boxes[part].focus({ preventScroll: true });
    this.paint();
  }

  onDrag(part, place) {
    if (this.dragging !== part) return;
    this.cursor[part] = place;
    this.paint();
  }

  // Wherever the mouse is let go, what it went over is chosen.
  onRelease() {
    if (!this.dragging) return;
    this.dragging = null;
    this.acts.toggle(this.lead);
  }

  // ---- search --------------------------------------------------------------------------------------------------------

  // Number of the hit where the cursor is now, and how many there are.
  find(words) {
    const lines = Object.values(this.lines).flat();
    this.hits = found(lines.map(({ text }) => text), words).map((number) => lines[number]);
    this.hits.filter((line) => line.node.hidden).forEach((line) => this.unfold(line.section));
    this.hitAt = -1;
    return this.nextHit(1);
  }

  nextHit(step) {
    const total = this.hits.length;
    if (total) {
      this.hitAt = (this.hitAt + step + total) % total;
      const { part, place, node: line } = this.hits[this.hitAt];
      this.cursor[part] = place;
      line.scrollIntoView({ block: "nearest" });
    }
    this.paint();
    return [this.hitAt, total];
  }

  forgetHits() {
    this.hits = [];
  }
}
