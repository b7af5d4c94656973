// The texts of an item, sentence by sentence, with the cursor, ranges that are chosen by mouse or keys, hits of a search, the
// marks of labels, and folded documents.

import { kbd, node } from "./dom.mjs";
import { clamp } from "./list.mjs";
import { matchingTexts } from "./search.mjs";
import { keysIn } from "./work.mjs";

/** @import { AnnotatorView } from "./annotator.mjs" */
/** @import { Answer, Field, Part, Place } from "./types.js" */

/**
 * A sentence on the screen, and its place among the sentences of its part.
 * @typedef {object} Line
 * @property {string} part
 * @property {number} place
 * @property {string} key
 * @property {string} text
 * @property {HTMLElement} badges
 * @property {HTMLElement} node
 */

/**
 * A field of sentences, its place, and the keys that were chosen there or are suggested.
 * @typedef {{field: Field, place: Place, keys: Set<Answer>, isSuggested: boolean}} Mark
 */

/** @typedef {[position: number, total: number]} Hit number of the hit under the cursor, and how many hits there are */

const FOLD_ABOVE = 40; // sentences of a document that are shown unfolded
const FOLDED_TO = 8; // as in annotator.css
const LEFT_BUTTON = 0; // of the mouse

/** Draws the texts of the item on the screen, and knows which sentences are selected. */
export class Sentences {
  /** @param {AnnotatorView} annotator */
  constructor(annotator) {
    this.annotator = annotator;
    this.work = annotator.work;
    this.uid = `ragnb-${Math.random().toString(36).slice(2)}`; // one page may have several annotators
    /** @type {Record<string, Line[]>} */
    this.lines = {}; // by part
    /** @type {Record<string, HTMLElement>} */
    this.boxes = {}; // by part
    /** @type {Record<string, number>} */
    this.cursor = {}; // place of the line under it, by part
    /** @type {Line[]} */
    this.hits = [];
    this.hitAt = -1; // number of the hit under the cursor
    /** @type {number | null} */
    this.anchor = null; // where a range begins
    /** @type {string | null} */
    this.dragging = null; // part over which the mouse is dragged
  }

  // ---- drawn when the item changes -------------------------------------------------------------------------------

  /**
   * The boxes of the documents (one or none), and the boxes of all other parts.
   * @returns {[documents: HTMLElement[], others: HTMLElement[]]}
   */
  draw() {
    this.lines = {};
    this.boxes = {};
    this.cursor = {};
    this.hits = [];
    this.anchor = null;
    this.dragging = null;
    const { parts } = this.work.page;
    const documents = parts.filter(({ name }) => name === "documents");
    const otherParts = parts.filter(({ name }) => name !== "documents");
    const documentBoxes = documents.length ? [this.box("documents", documents, "documents")] : [];
    const otherBoxes = otherParts.map((part) => this.box(part.name, [part], part.heading));
    return [documentBoxes, otherBoxes];
  }

  /**
   * @param {string} name
   * @param {Part[]} parts
   * @param {string} label
   */
  box(name, parts, label) {
    this.lines[name] = [];
    this.cursor[name] = 0;
    const attributes = {
      class: `part ${name}`,
      tabindex: 0,
      role: "listbox",
      "aria-multiselectable": "true",
      "aria-label": label,
    };
    const sections = parts.map((part) => this.section(name, part));
    this.boxes[name] = node("div", attributes, ...sections);
    return this.boxes[name];
  }

  /**
   * @param {string} name
   * @param {Part} part
   */
  section(name, { heading, sentences }) {
    const isLong = name !== "words" && sentences.length > FOLD_ABOVE;
    const lines = sentences.map(([key, text]) => this.line(name, key, text));
    const unfold = () => {
      section.classList.remove("folded");
      this.focus();
    };
    const more = `… ${sentences.length - FOLDED_TO} more sentences `;
    const section = node(
      "section",
      { role: "presentation", class: isLong ? "folded" : "" },
      heading ? node("div", { class: "heading" }, heading, node("span", { class: "chosen" })) : null,
      node("div", { class: "text", role: "presentation", dir: "auto" }, ...lines),
      node("button", { type: "button", class: "more", onclick: unfold }, more, kbd("o")),
    );
    return section;
  }

  /**
   * @param {string} part
   * @param {string} key
   * @param {string} text
   */
  line(part, key, text) {
    const badges = node("sup", { class: "badges", dir: "ltr" });
    const place = this.lines[part].length;
    const hasKey = this.work.page.keyed.includes(part);
    const lead = hasKey ? [node("small", { class: "key", dir: "ltr" }, `[${key}]`), " "] : [];
    const attributes = {
      class: "sentence",
      role: "option",
      dir: part === "words" ? null : "auto", // words follow the direction of their text
      id: `${this.uid}-${part}-${place}`,
      onmousedown: (/** @type {MouseEvent} */ event) => this.onPress(event, line),
      onmouseenter: () => this.onDrag(line),
      onclick: () => this.select(line),
    };
    const element = node("span", attributes, ...lead, node("span", { class: "words" }, text), badges);
    /** @type {Line} */
    const line = { part, place, key, text, badges, node: element };
    this.lines[part].push(line);
    return element;
  }

  unfold(line = this.here) {
    line?.node.closest("section")?.classList.remove("folded");
  }

  // ---- painted with every action -----------------------------------------------------------------------------------

  paint() {
    const { fields } = this.work.task;
    const marks = fields.filter(({ kind }) => kind === "sentences").flatMap((field) => this.mark(field) ?? []);
    const pickedLines = new Set(this.anchor === null ? [] : this.picked());
    const hits = new Set(this.hits);
    for (const [part, lines] of Object.entries(this.lines)) {
      const marksOfPart = marks.filter(({ field }) => field.of === part);
      for (const line of lines) {
        this.paintLine(line, marksOfPart, pickedLines.has(line), hits.has(line));
      }
      this.paintCounts(part);
    }
    const { here } = this;
    if (here) {
      this.boxes[here.part].setAttribute("aria-activedescendant", here.node.id);
    }
  }

  /**
   * How many sentences are marked, in the heading of each section.
   * @param {string} part
   */
  paintCounts(part) {
    for (const count of this.boxes[part].querySelectorAll(".chosen")) {
      const marked = count.closest("section")?.querySelectorAll(".on, .held").length;
      count.textContent = marked ? ` · ${marked} marked` : "";
    }
  }

  /**
   * What is marked in a field of sentences; null if it is asked of each sentence of a response without any.
   * @param {Field} field
   * @returns {Mark | null}
   */
  mark(field) {
    const place = this.work.placeOf(field);
    if (!place) {
      return null;
    }
    const { value, guess } = this.work.labelAt(place);
    return { field, place, keys: new Set(keysIn(value ?? guess)), isSuggested: guess !== undefined };
  }

  /**
   * @param {Line} line
   * @param {Mark[]} marks
   * @param {boolean} isPicked
   * @param {boolean} isHit
   */
  paintLine(line, marks, isPicked, isHit) {
    const { part, key, place } = line;
    const { task, field: activeField, sentence } = this.work;
    const marksOfLine = marks.filter(({ keys }) => keys.has(key));
    const isOn = marksOfLine.some(({ field }) => field.name === activeField?.name);
    // Marked words that follow each other are one span, which has its letter at its end.
    const nextWord = part === "words" ? this.lines[part][place + 1] : undefined;
    const marksThatEnd = marksOfLine.filter(({ keys }) => !nextWord || !keys.has(nextWord.key));
    line.badges.textContent = this.badges(line, marks, marksThatEnd).join(" ");
    line.node.setAttribute("aria-selected", String(isOn));
    const classes = {
      on: isOn,
      held: marksOfLine.length > 0 && !isOn,
      guess: marksOfLine.some(({ isSuggested }) => isSuggested),
      picked: isPicked,
      current: part === task.unit && key === sentence,
      hit: isHit,
      cursor: line === this.here,
    };
    for (const [name, isPresent] of Object.entries(classes)) {
      line.node.classList.toggle(name, isPresent);
    }
  }

  /**
   * Letters of labels, with a question mark if suggested; what other annotators chose; verdicts on a sentence of the response.
   * @param {Line} line
   * @param {Mark[]} marks
   * @param {Mark[]} marksThatEnd
   */
  badges(line, marks, marksThatEnd) {
    const letters = marksThatEnd.map(({ field, isSuggested }) => withDoubt(field.key.toUpperCase(), isSuggested));
    return [...letters, ...this.votes(line, marks), ...this.verdicts(line)];
  }

  /**
   * @param {Line} line
   * @param {Mark[]} marks
   */
  votes({ key }, marks) {
    const badges = [];
    for (const { field, place } of marks) {
      const voters = this.work.votes(place, key);
      if (voters.length) {
        badges.push(`${field.key}:${voters.join("+")}`);
      }
    }
    return badges;
  }

  /** @param {Line} line */
  verdicts({ part, key }) {
    const { task } = this.work;
    if (part !== task.unit) {
      return [];
    }
    const fields = task.fields.filter(({ each, kind }) => each && kind === "choice");
    return fields.map((field) => {
      const { value, guess } = this.work.labelAt([field.name, key]);
      const verdict = value ?? guess;
      const option = field.options.find((candidate) => candidate.value === verdict);
      return withDoubt(option ? option.sign : String(verdict ?? "…"), guess !== undefined);
    });
  }

  // ---- cursor and ranges -------------------------------------------------------------------------------------------

  /**
   * The part in which keys move: the part whose sentences are labelled, else the documents, else the first with any text.
   * @returns {string | undefined} undefined if no part has a text
   */
  get part() {
    const labelled = this.labelledPart;
    if (this.lines[labelled]?.length) {
      return labelled;
    }
    return Object.keys(this.lines).find((name) => this.lines[name].length);
  }

  get labelledPart() {
    const { field, task } = this.work;
    if (field?.kind === "sentences") {
      return field.of;
    }
    return field?.each ? task.unit : "documents";
  }

  /**
   * The line under the cursor.
   * @returns {Line | undefined}
   */
  get here() {
    const { part } = this;
    return part === undefined ? undefined : this.lines[part][this.cursor[part]];
  }

  focus() {
    const { part } = this;
    const box = part === undefined ? this.annotator.root : this.boxes[part];
    box.focus({ preventScroll: true });
  }

  /** @param {Line} line */
  goTo(line) {
    this.cursor[line.part] = line.place;
    line.node.scrollIntoView({ block: "nearest" });
  }

  // The cursor goes along to the sentence that is labelled.
  follow() {
    const { task, sentence } = this.work;
    if (this.part !== task.unit) {
      return;
    }
    const line = this.lines[this.part].find(({ key }) => key === sentence);
    if (line) {
      this.goTo(line);
    }
  }

  /**
   * Move the cursor. Keys that go sideways follow the direction of the text.
   * @param {number} step
   * @param {boolean} [extend] whether the range that begins at the anchor is extended
   * @param {boolean} [sideways]
   */
  move(step, extend, sideways) {
    const { part, here } = this;
    const visibleLines = part === undefined ? [] : this.lines[part].filter((line) => line.node.checkVisibility());
    if (!here || !visibleLines.length) {
      return;
    }
    const isReversed = sideways && getComputedStyle(here.node).direction === "rtl";
    const stepInText = isReversed ? -step : step;
    if (extend) {
      this.anchor ??= here.place;
    } else {
      this.anchor = null;
    }
    const position = clamp(visibleLines.indexOf(here) + stepInText, 0, visibleLines.length - 1);
    const line = visibleLines[position];
    this.goTo(line);
    this.paint();
    this.focus();
    this.select(line);
  }

  /**
   * Where labels are asked of each sentence of the response, the sentence under the cursor is the one that is labelled.
   * @param {Line} line
   */
  select({ part, key }) {
    const isAskedOfEach = part === this.work.task.unit && this.work.page.each.length > 0;
    if (isAskedOfEach && !this.work.chooses(part)) {
      this.annotator.go(() => this.work.goToSentence(key));
    }
  }

  /**
   * The lines in sight from the anchor to the cursor, where sentences are chosen.
   * @returns {Line[]}
   */
  picked() {
    const { field } = this.work;
    if (field?.kind !== "sentences") {
      return [];
    }
    const cursor = this.cursor[field.of];
    const anchor = this.anchor ?? cursor;
    const first = Math.min(anchor, cursor);
    const last = Math.max(anchor, cursor);
    return (this.lines[field.of] ?? []).slice(first, last + 1).filter((line) => line.node.checkVisibility());
  }

  /**
   * The sentences that are picked, and whether to choose them or not: all of them become the opposite of the one at which the
   * range begins. For a single sentence, `on` is null, because the kernel knows its value best.
   * @param {number | null} lead the place at which the range begins
   * @returns {{keys: string[], on: boolean | null}}
   */
  take(lead = this.anchor) {
    const { field } = this.work;
    const keys = this.picked().map(({ key }) => key);
    this.anchor = null;
    const mark = field && this.mark(field);
    if (keys.length <= 1 || lead === null || !mark) {
      return { keys, on: null };
    }
    const leadingLine = this.lines[field.of][lead];
    return { keys, on: !mark.keys.has(leadingLine.key) };
  }

  // ---- mouse ---------------------------------------------------------------------------------------------------------

  /**
   * @param {MouseEvent} event
   * @param {Line} line
   */
  onPress(event, { part, place }) {
    const selectsText = event.altKey; // as everywhere on a page
    if (event.button !== LEFT_BUTTON || selectsText) {
      return;
    }
    if (this.work.chooses(part)) {
      event.preventDefault();
      this.dragging = part;
      this.anchor = event.shiftKey ? this.cursor[part] : place;
      // The mouse may be released anywhere on the page.
      document.addEventListener("mouseup", () => this.onRelease(place), { once: true });
    }
    this.cursor[part] = place;
    this.boxes[part].focus({ preventScroll: true });
    this.paint();
  }

  /** @param {Line} line */
  onDrag({ part, place }) {
    if (this.dragging !== part) {
      return;
    }
    this.cursor[part] = place;
    this.paint();
  }

  /**
   * The lines over which the mouse was dragged are chosen.
   * @param {number} lead
   */
  onRelease(lead) {
    if (this.dragging) {
      this.annotator.toggle(lead);
    }
    this.dragging = null;
  }

  // ---- search --------------------------------------------------------------------------------------------------------

  /**
   * Find words in the texts, and go to the first hit.
   * @param {string} query
   * @returns {Hit}
   */
  find(query) {
    const lines = Object.values(this.lines).flat();
    const texts = lines.map(({ text }) => text);
    this.hits = matchingTexts(texts, query).map((number) => lines[number]);
    for (const line of this.hits) {
      this.unfold(line);
    }
    this.hitAt = -1;
    return this.nextHit(1);
  }

  /**
   * @param {number} step 1 or -1
   * @returns {Hit}
   */
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

/**
 * @param {string} sign
 * @param {boolean} isSuggested
 */
function withDoubt(sign, isSuggested) {
  return isSuggested ? `${sign}?` : sign;
}
