// The box below the labels in which somebody writes tags, and the codebook: names, definitions, and merges.

// Tested in tests/browser/test_annotator.py.

import { node } from "./dom.mjs";

/** @import { AnnotatorView } from "./annotator.mjs" */
/** @import { TagRow } from "./types.js" */

/**
 * The line of a tag in the codebook.
 * @typedef {object} TagLine
 * @property {HTMLElement} box
 * @property {HTMLInputElement} name
 * @property {HTMLTextAreaElement} definition
 * @property {HTMLSelectElement} into
 * @property {HTMLElement} count
 */

/** A box for tags. It stays hidden if the task has no field of tags. */
export class TagBox {
  /** @param {AnnotatorView} annotator */
  constructor(annotator) {
    this.annotator = annotator;
    this.work = annotator.work;
    this.field = this.work.task.fields.find(({ kind }) => kind === "tags");
    /** @type {Map<string, TagLine>} */
    this.rows = new Map(); // by the id of the tag
    this.choices = node("datalist", { id: `tags-${Math.random().toString(36).slice(2)}` });
    this.input = node("input", {
      type: "text",
      dir: "auto",
      autocomplete: "off",
      placeholder: "write a tag",
      "aria-label": "write a tag; Enter gives it to the item",
      list: this.choices.id,
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event),
    });
    const add = node("button", { type: "button", class: "act", onclick: () => this.give() }, "add tag");
    this.summary = node("summary", {});
    this.table = node("div", { class: "codebook" });
    this.panel = node("details", { class: "tags" }, this.summary, this.table);
    this.box = node("div", { class: "tagbox", hidden: !this.field }, this.input, " ", add, this.choices, this.panel);
  }

  focus() {
    this.input.focus();
  }

  /**
   * While Chinese or Japanese is typed, Enter belongs to the input method.
   * @param {KeyboardEvent} event
   */
  onKey(event) {
    if (event.key !== "Enter" || event.isComposing) {
      return;
    }
    event.preventDefault();
    this.give();
  }

  // Gives the item the tag in the box. The box keeps the focus, so that several tags can follow.
  give() {
    const name = this.input.value.trim();
    if (!name || !this.field) {
      return;
    }
    this.annotator.send("tag", { field: this.field.name, name });
    this.input.value = "";
    this.input.focus();
  }

  paint() {
    if (!this.field) {
      return;
    }
    const { codebook } = this.work.state;
    const uses = codebook.map(([, name]) => node("option", { value: name }));
    this.choices.replaceChildren(...uses);
    this.summary.textContent = `codebook: ${codebook.length} ${codebook.length === 1 ? "tag" : "tags"}`;
    const ids = codebook.map(([id]) => id);
    if (JSON.stringify(ids) !== JSON.stringify([...this.rows.keys()])) {
      this.rows = new Map(ids.map((id) => [id, this.row(id)]));
      this.table.replaceChildren(...[...this.rows.values()].map(({ box }) => box));
    }
    [...this.rows.values()].forEach((line, position) => this.paintRow(line, codebook[position], codebook));
  }

  /**
   * @param {string} id of the tag
   * @returns {TagLine}
   */
  row(id) {
    const rename = () => this.annotator.send("codebook", { change: "rename", tag: id, name: name.value });
    const define = () => this.annotator.send("codebook", { change: "define", tag: id, definition: definition.value });
    const merge = () => this.annotator.send("codebook", { change: "merge", tag: id, into: into.value });
    const name = node("input", { type: "text", dir: "auto", "aria-label": "name of the tag", onchange: rename });
    const definition = node("textarea", {
      rows: 1,
      dir: "auto",
      "aria-label": "definition of the tag",
      placeholder: "definition: what counts, what does not",
      onchange: define,
    });
    const into = node("select", { "aria-label": "merge the tag into", onchange: merge });
    const count = node("span", { class: "count" });
    return { box: node("div", { class: "tag" }, name, count, into, definition), name, definition, into, count };
  }

  /**
   * What somebody is writing in stays as it is.
   * @param {TagLine} line
   * @param {TagRow} tag
   * @param {TagRow[]} codebook
   */
  paintRow({ name, definition, into, count }, [tagId, tagName, tagDefinition, uses], codebook) {
    const isFree = (/** @type {HTMLElement} */ input) => document.activeElement !== input;
    if (isFree(name)) {
      name.value = tagName;
    }
    if (isFree(definition)) {
      definition.value = tagDefinition;
    }
    count.textContent = `${uses} ${uses === 1 ? "item" : "items"}`;
    const others = codebook.filter(([id]) => id !== tagId).map(([id, label]) => node("option", { value: id }, label));
    into.replaceChildren(node("option", { value: "" }, "merge into …"), ...others);
    into.value = "";
  }
}
