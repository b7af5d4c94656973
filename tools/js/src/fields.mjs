// The labels of an item next to its texts: values and suggestions, options, contradictions, and the note.

import { contradictionsOf } from "./contradictions.mjs";
import { kbd, node, whenTyped } from "./dom.mjs";
import { TagBox } from "./tag_box.mjs";
import { isList, keysIn } from "./work.mjs";

/** @import { AnnotatorView } from "./annotator.mjs" */
/** @import { Answer, Field, Label, Place } from "./types.js" */

const MOST_DIGITS = 9;

/**
 * Draws one row per field of the task.
 */
export class Fields {
  /** @param {AnnotatorView} annotator */
  constructor(annotator) {
    this.annotator = annotator;
    this.work = annotator.work;
    this.accept = annotator.button("accept", "accept all", "a");
    this.tags = new TagBox(annotator);
    this.suggested = node("div", { class: "suggested" });
    this.box = node("div", { class: "fields", role: "group", "aria-label": "labels" });
    this.warnings = node("div", { class: "warnings", role: "status" });
    this.isNoteOpen = false; // whether somebody wants to write a note
  }

  // The boxes of labels, empty for another item.
  draw() {
    for (const box of [this.suggested, this.box, this.warnings]) {
      box.replaceChildren();
    }
    return [this.suggested, this.box, this.tags.box, this.warnings];
  }

  paint() {
    this.paintSuggested();
    this.paintWarnings();
    this.paintRows();
    this.tags.paint();
  }

  paintSuggested() {
    const { suggested, suggested_by: suggestedBy } = this.work.state;
    if (!Object.keys(suggested).length) {
      this.suggested.replaceChildren();
      return;
    }
    const offer = node("span", {}, `suggested by ${suggestedBy}, saved only when accepted`);
    this.suggested.replaceChildren(offer, this.accept);
  }

  paintWarnings() {
    const { task, page, state } = this.work;
    const messages = contradictionsOf(task, state.values, page.each);
    const lines = messages.map((message) => node("div", {}, `⚠ ${message}`));
    this.warnings.replaceChildren(...lines);
  }

  paintRows() {
    const rows = [];
    for (const field of this.work.task.fields) {
      const place = this.work.placeOf(field);
      if (place) {
        rows.push(this.row(field, place));
      }
    }
    rows.push(this.note());
    const typingRow = this.box.querySelector(".field:has(textarea:focus)");
    if (!typingRow) {
      this.box.replaceChildren(...rows);
      return;
    }
    // The row in which somebody is writing stays as it is.
    rows.forEach((row, position) => {
      const present = this.box.children[position];
      if (present !== typingRow) {
        present.replaceWith(row);
      }
    });
  }

  /**
   * @param {Field} field
   * @param {Place} place
   */
  row(field, place) {
    const { value, guess } = this.work.labelAt(place);
    const isActive = this.work.field === field;
    const classes = ["field"];
    if (isActive) {
      classes.push("active");
    }
    if (value === undefined) {
      classes.push("untouched");
    }
    const control = field.kind === "text" ? this.freeText(field, place) : this.options(field, place, isActive);
    return node(
      "div",
      { class: classes.join(" "), "data-field": field.name },
      this.name(field, place, isActive),
      node("span", { class: "value" }, summaryOf(field, value, guess)),
      control,
    );
  }

  /**
   * The button that makes a field the active one.
   * @param {Field} field
   * @param {Place} place
   * @param {boolean} isActive
   */
  name(field, place, isActive) {
    const label = field.each ? `${field.label} [${this.work.sentence}]` : field.label;
    const attributes = {
      type: "button",
      class: "name",
      "aria-pressed": String(isActive),
      "aria-keyshortcuts": field.key,
      onclick: () => this.press(place),
    };
    return node("button", attributes, kbd(field.key), " ", label);
  }

  /**
   * @param {Field} field
   * @param {Place} place
   */
  freeText(field, place) {
    const { value, guess } = this.work.labelAt(place);
    const [, sentence] = place;
    const send = (/** @type {string} */ text, /** @type {number} */ number) => {
      this.annotator.send("label", { field: field.name, sentence, value: text || null, number });
    };
    return this.textarea(field.label, String(value ?? guess ?? ""), send);
  }

  /**
   * @param {Field} field
   * @param {Place} place
   * @param {boolean} isActive
   */
  options(field, place, isActive) {
    const { value, guess } = this.work.labelAt(place);
    const current = value ?? guess;
    const isSet = isList(field);
    const isSuggested = value === undefined;
    const buttons = this.work.optionsOf(field).map((option, position) => {
      const isChosen = isSet ? keysIn(current).includes(option.value) : current === option.value;
      const voters = this.work.votes(place, option.value).join("+");
      const attributes = {
        class: optionClass(isChosen, isSuggested),
        role: isSet ? "checkbox" : "radio",
        "aria-checked": String(isChosen),
        "data-value": JSON.stringify(option.value),
        title: option.definition || null,
        onclick: this.whenPressed(place, () => this.annotator.choose(position)),
      };
      // Only the first nine tags have a digit.
      const key = isActive && position < MOST_DIGITS ? String(position + 1) : null;
      return optionButton(attributes, key, node("bdi", {}, option.label), voters ? node("sup", {}, voters) : null);
    });
    if (isSet) {
      const isEmpty = value !== undefined && keysIn(value).length === 0;
      const attributes = {
        class: optionClass(isEmpty, isSuggested),
        onclick: this.whenPressed(place, () => this.annotator.give([])),
      };
      buttons.push(optionButton(attributes, isActive ? "e" : null, "none"));
    }
    const role = isSet ? "group" : "radiogroup";
    return node("span", { class: "options", role, "aria-label": field.label }, ...buttons);
  }

  /**
   * The second press of a double click does nothing, because another option may be under the mouse by then.
   * @param {Place} place
   * @param {function(): void} act
   * @returns {function(MouseEvent): void}
   */
  whenPressed(place, act) {
    return ({ detail }) => {
      if (detail < 2) {
        this.press(place, act);
      }
    };
  }

  /** @param {Place} place */
  press(place, act = () => {}) {
    this.annotator.go(() => this.work.goTo(place));
    act();
    this.annotator.focus();
  }

  /**
   * @param {string} label
   * @param {string} value
   * @param {function(string, number): void} send gets the text, and the item for which it was typed
   */
  textarea(label, value, send) {
    const input = node("textarea", { rows: 2, dir: "auto", "aria-label": label, placeholder: label });
    whenTyped(input, () => this.work.page.number, send);
    input.value = value;
    return input;
  }

  /**
   * Move the focus to the text of a field.
   * @param {string} name
   */
  write(name) {
    const rows = /** @type {HTMLElement[]} */ ([...this.box.querySelectorAll(".field")]);
    const row = rows.find(({ dataset }) => dataset.field === name);
    row?.querySelector("textarea")?.focus();
  }

  // It is visible if somebody has written a note, or wants to.
  note() {
    const { note } = this.work.state;
    const send = (/** @type {string} */ text, /** @type {number} */ number) => this.annotator.send("note", { text, number });
    const input = this.textarea("note on this item", note, send);
    return node("div", { class: "field note", hidden: !note && !this.isNoteOpen }, input);
  }

  /** @param {boolean} isOpen */
  showNote(isOpen) {
    this.isNoteOpen = isOpen;
    this.paint();
    if (isOpen) {
      this.box.querySelector(".note")?.querySelector("textarea")?.focus();
    }
  }
}

/**
 * @param {boolean} isChosen
 * @param {boolean} isSuggested
 */
function optionClass(isChosen, isSuggested) {
  if (!isChosen) {
    return "option";
  }
  return isSuggested ? "option guess" : "option on";
}

/**
 * A button with its key in front, which only the active field has.
 * @param {Record<string, unknown>} attributes
 * @param {string | null} key
 * @param {...(Node | string | null)} children
 */
function optionButton(attributes, key, ...children) {
  const lead = key === null ? [] : [kbd(key), " "];
  return node("button", { type: "button", ...attributes }, ...lead, ...children);
}

/**
 * The value of a field in a few letters, with a question mark if it is suggested.
 * @param {Field} field
 * @param {Label | undefined} value
 * @param {Label | undefined} guess
 */
function summaryOf(field, value, guess) {
  const current = value ?? guess;
  const isSuggested = value === undefined;
  if (current === undefined) {
    return field.required ? "…" : "optional";
  }
  if (!isList(field)) {
    return isSuggested ? "?" : "✓";
  }
  const sentences = sentencesInShort(field, keysIn(current));
  return isSuggested ? `${sentences} ?` : sentences;
}

/**
 * @param {Field} field
 * @param {Answer[]} keys
 */
function sentencesInShort(field, keys) {
  if (!keys.length) {
    return "∅ none";
  }
  if (field.kind === "tags") {
    return String(keys.length);
  }
  if (field.of === "words") {
    return `${keys.length} marked`;
  }
  return keys.map((key) => `[${key}]`).join(" ");
}
