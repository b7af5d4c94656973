// The labels of an item next to its texts: values and suggestions, options, contradictions, and the note.

import { kbd, node, whenTyped } from "./dom.mjs";

/**
 * Draws one row per field of the task.
 */
export class Fields {
  constructor(annotator) {
    this.annotator = annotator;
    this.work = annotator.work;
    this.accept = annotator.button("accept", "accept all", "a");
  }

  draw() {
    this.suggested = node("div", { class: "suggested" });
    this.box = node("div", { class: "fields", role: "group", "aria-label": "labels" });
    this.warnings = node("div", { class: "warnings", role: "status" });
    return [this.suggested, this.box, this.warnings];
  }

  paint() {
    const { task, page, state: { values, suggested, suggested_by }, sentence } = this.work;
    const offer = [node("span", {}, `suggested by ${suggested_by}, saved only when accepted`), this.accept];
    this.suggested.replaceChildren(...(Object.keys(suggested).length ? offer : []));
    const warnings = task.name === "trace" ? contradictions(values, page.each) : [];
    this.warnings.replaceChildren(...warnings.map((line) => node("div", {}, `⚠ ${line}`)));
    const rows = [...task.fields.filter((field) => !field.each || sentence !== null).map((field) => this.row(field)), this.note()];
    const typing = this.box.querySelector(".field:has(textarea:focus)"); // stays as it is
    if (typing) rows.forEach((row, n) => { if (this.box.children[n] !== typing) this.box.children[n].replaceWith(row); });
    else this.box.replaceChildren(...rows);
  }

  row(field) {
    const place = this.work.placeOf(field);
    const { value, guess } = this.work.labelAt(place);
    const active = this.work.field === field;
    const label = field.each ? `${field.label} [${this.work.sentence}]` : field.label;
    const onclick = () => this.press(place);
    const name = node("button", { type: "button", class: "name", "aria-pressed": String(active), "aria-keyshortcuts": field.key, onclick }, kbd(field.key), " ", label);
    const sendText = (text, number) => this.annotator.send("label", { field: field.name, sentence: place[1], value: text || null, number });
    const asked = field.kind === "text" ? this.text(field.label, value ?? guess ?? "", sendText) : this.options(field, place, active);
    return node("div", { class: `field${active ? " active" : ""}${value === undefined ? " untouched" : ""}`, "data-field": field.name },
      name, node("span", { class: "value" }, inShort(field, value, guess)), asked);
  }

  options(field, place, active) {
    const { value, guess } = this.work.labelAt(place);
    const current = value ?? guess;
    const list = field.kind === "sentences";
    const button = (on, key, act, attributes, ...children) => {
      const look = `option${on ? (value === undefined ? " guess" : " on") : ""}`;
      // The second press of a double click does nothing, because another option may be under the mouse by then.
      const onclick = ({ detail }) => { if (detail < 2) this.press(place, act); };
      return node("button", { type: "button", class: look, ...attributes, onclick }, ...(active ? [kbd(key), " "] : []), ...children);
    };
    const buttons = this.work.optionsOf(field).map((option, number) => {
      const on = list ? Boolean(current?.includes(option.value)) : current === option.value;
      const who = this.work.votes(place, option.value).join("+");
      const about = { role: list ? "checkbox" : "radio", "aria-checked": String(on), "data-value": JSON.stringify(option.value) };
      return button(on, String(number + 1), () => this.annotator.choose(number), about, option.label, who ? node("sup", {}, who) : null);
    });
    if (list) buttons.push(button(value?.length === 0, "e", () => this.annotator.give([]), {}, "none"));
    return node("span", { class: "options", role: list ? "group" : "radiogroup", "aria-label": field.label }, ...buttons);
  }

  press(place, act = () => {}) {
    this.annotator.go(() => this.work.goTo(place));
    act();
    this.annotator.focus();
  }

  text(label, value, send) {
    const input = node("textarea", { rows: 2, dir: "auto", "aria-label": label, placeholder: label });
    whenTyped(input, () => this.work.page.number, send);
    input.value = value;
    return input;
  }

  // It is there if somebody wrote one, or wants to.
  note() {
    const { note } = this.work.state;
    const input = this.text("note on this item", note, (text, number) => this.annotator.send("note", { text, number }));
    return node("div", { class: "field note", hidden: !note && !this.annotates }, input);
  }

  showNote(open) {
    this.annotates = open;
    this.paint();
    if (open) this.box.querySelector(".note textarea").focus();
  }
}

/**
 * Find contradictions in the labels of the task trace. What is untouched contradicts nothing.
 * @param {object} values by field
 * @param {string[]} keys of the sentences of the response
 * @returns {string[]} sentences
 */
export function contradictions({ relevant, utilized = [], support = {}, supporting = {}, overall }, keys) {
  const degrees = keys.every((key) => key in support) ? new Set(Object.values(support)) : new Set();
  const atOdds = overall ? degrees.has("none") : overall === false && degrees.size === 1 && degrees.has("full");
  const entries = Object.entries(support);
  return [
    ...entries.filter(([key, degree]) => degree !== "none" && supporting[key]?.length === 0).map(([key]) => `[${key}] is supported, yet by no sentence`),
    ...entries.filter(([key, degree]) => degree === "none" && supporting[key]?.length).map(([key]) => `[${key}] is not supported, yet rests on sentences`),
    ...utilized.filter((key) => relevant && !relevant.includes(key)).map((key) => `[${key}] is utilized, yet not relevant`),
    ...(atOdds ? ["the whole response and its sentences contradict each other"] : []),
  ];
}

// The value of a field in a few letters, with a question mark if it is suggested.
function inShort(field, value, guess) {
  const current = value ?? guess;
  if (current === undefined) return field.required ? "…" : "optional";
  if (field.kind !== "sentences") return value === undefined ? "?" : "✓";
  const keys = field.of === "words" && current.length ? `${current.length} marked` : current.map((key) => `[${key}]`).join(" ") || "∅ none";
  return keys + (value === undefined ? " ?" : "");
}
