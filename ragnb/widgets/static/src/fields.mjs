// The labels of an item: what was said or suggested, the options, and what contradicts itself.

import { kbd, node, whenTyped } from "./dom.mjs";

export class Fields {
  // acts: goTo(place), choose(number), empty(), write(place, text, item), focus()
  constructor(work, acts, accept) {
    this.work = work;
    this.acts = acts;
    this.accept = accept; // a button
  }

  draw() {
    this.suggested = node("div", { class: "suggested" });
    this.box = node("div", { class: "fields", role: "group", "aria-label": "labels" });
    this.warnings = node("div", { class: "warnings", role: "status" });
    return [this.suggested, this.box, this.warnings];
  }

  paint() {
    const { values, suggested, suggested_by } = this.work.state;
    const warnings = this.work.task.name === "trace" ? contradictions(values, this.work.page.each) : [];
    const offer = [node("span", {}, `suggested by ${suggested_by}, saved only when accepted`), this.accept];
    this.suggested.replaceChildren(...(Object.keys(suggested).length ? offer : []));
    this.paintRows();
    this.warnings.replaceChildren(...warnings.map((line) => node("div", {}, `⚠ ${line}`)));
  }

  paintRows() {
    const typing = this.box.querySelector(".field:has(textarea:focus)"); // stays as it is
    const rows = this.work.task.fields.filter((field) => !field.each || this.work.sentence !== null).map((field) => this.row(field));
    if (typing) rows.forEach((row, n) => { if (this.box.children[n] !== typing) this.box.children[n].replaceWith(row); });
    else this.box.replaceChildren(...rows);
  }

  row(field) {
    const place = this.work.placeOf(field);
    const { value, guess } = this.work.said(place);
    const active = this.work.place[0] === field.name;
    const label = field.each ? `${field.label} [${this.work.sentence}]` : field.label;
    const onclick = () => { this.acts.goTo(place); this.acts.focus(); };
    const name = node("button", { type: "button", class: "name", "aria-pressed": String(active), "aria-keyshortcuts": field.key, onclick }, kbd(field.key), " ", label);
    const asked = field.kind === "text" ? this.text(field, place, value ?? guess ?? "") : this.options(field, place, active);
    const style = `field${active ? " active" : ""}${value === undefined ? " untouched" : ""}`;
    return node("div", { class: style, "data-field": field.name }, name, node("span", { class: "value" }, inShort(field, value, guess)), asked);
  }

  options(field, place, active) {
    const { value, guess } = this.work.said(place);
    const list = field.kind === "sentences";
    const holds = (one) => (list ? (value ?? guess ?? []).includes(one) : (value ?? guess) === one);
    const style = (on) => `option${on ? (value === undefined ? " guess" : " on") : ""}`;
    const lead = (key) => (active ? [kbd(key), " "] : []);
    const button = (act, attributes, ...children) =>
      node("button", { type: "button", ...attributes, onclick: (event) => this.press(event, place, act) }, ...children);
    const buttons = this.work.optionsOf(field).map((option, number) => {
      const on = holds(option.value);
      const who = this.work.votes(place, option.value);
      const about = { role: list ? "checkbox" : "radio", "aria-checked": String(on), "data-value": JSON.stringify(option.value) };
      return button(() => this.acts.choose(number), { class: style(on), ...about },
        ...lead(String(number + 1)), option.label, who.length ? node("sup", {}, who.join("+")) : null);
    });
    if (list) buttons.push(button(() => this.acts.empty(), { class: style(value?.length === 0) }, ...lead("e"), "none"));
    return node("span", { class: "options", role: list ? "group" : "radiogroup", "aria-label": field.label }, ...buttons);
  }

  // The second press of a double click does nothing, because another option may be under the mouse by then.
  press(event, place, act) {
    if (event.detail > 1) return;
    this.acts.goTo(place);
    act();
    this.acts.focus();
  }

  text(field, place, value) {
    const input = node("textarea", { rows: 2, dir: "auto", "aria-label": field.label });
    whenTyped(input, () => this.work.page.number, (text, item) => this.acts.write(place, text, item));
    input.value = value;
    return input;
  }
}

// Contradictions in the labels of task trace, by field; what is untouched contradicts nothing. keys: those of the response
export function contradictions({ relevant, utilized = [], support = {}, supporting = {}, overall }, keys) {
  const degrees = keys.every((key) => key in support) ? new Set(Object.values(support)) : new Set();
  const atOdds = overall ? degrees.has("none") : overall === false && degrees.size === 1 && degrees.has("full");
  const said = Object.entries(support);
  return [
    ...said.filter(([key, one]) => one !== "none" && supporting[key]?.length === 0).map(([key]) => `[${key}] is supported, yet by no sentence`),
    ...said.filter(([key, one]) => one === "none" && supporting[key]?.length).map(([key]) => `[${key}] is not supported, yet rests on sentences`),
    ...utilized.filter((key) => relevant && !relevant.includes(key)).map((key) => `[${key}] is utilized, yet not relevant`),
    ...(atOdds ? ["the whole response and its sentences contradict each other"] : []),
  ];
}

function inShort(field, value, guess) {
  if (value === undefined && guess === undefined) return field.required ? "…" : "optional";
  if (field.kind !== "sentences") return value === undefined ? "?" : "✓";
  const keys = value ?? guess;
  if (field.of === "words" && keys.length) return `${keys.length} marked${value === undefined ? " ?" : ""}`;
  return `${keys.length ? keys.map((key) => `[${key}]`).join(" ") : "∅ none"}${value === undefined ? " ?" : ""}`;
}
