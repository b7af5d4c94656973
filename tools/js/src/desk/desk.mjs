// The page of the desk: fields, answers and links. Answers are computed while one types.

// Tested in tests/browser/test_desk.py.

import { node } from "../dom.mjs";
import { readField, readLink, writeLink } from "./inputs.mjs";
import { GROUPS } from "./questions.mjs";

/** @typedef {import("./questions.mjs").Question} Question */
/** @typedef {import("./questions.mjs").Answer} Answer */
/** @typedef {import("./questions.mjs").Line} Line */
/** @typedef {import("./inputs.mjs").Field} Field */

/** One question with its fields, its answer and its link. */
class Card {
  /** @param {Question} question */
  constructor(question) {
    this.question = question;
    /** @type {Map<string, HTMLInputElement>} */
    this.fields = new Map();
    this.notice = node("div", { class: "notice", role: "status" });
    this.answer = node("div", { class: "answer", role: "status" });
    this.python = node("code", { class: "python", tabindex: "0", "aria-label": "The same in Python" });
    this.link = node("a", { class: "link" }, "Link to these inputs");
    this.element = this.build();
    this.update();
  }

  build() {
    const { id, title, note, fields } = this.question;
    const form = node("div", { class: "fields", role: "group", "aria-labelledby": `${id}-title` });
    form.append(...fields.map((field) => this.buildField(field)));
    const copy = node("button", { type: "button", onclick: () => this.copyPython() }, "Copy");
    const code = node("pre", {}, this.python);
    const lines = node("div", { class: "code" }, node("h4", {}, "The same in Python"), copy, code);
    const result = node("div", { class: "result" }, this.notice, this.answer, lines, node("p", { class: "note" }, note), this.link);
    return node("section", { id, class: "card" }, node("h3", { id: `${id}-title` }, title), form, result);
  }

  /** @param {Field} field */
  buildField(field) {
    const id = `${this.question.id}-${field.name}`;
    const input = /** @type {HTMLInputElement} */ (
      node("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", value: field.example })
    );
    input.addEventListener("input", () => {
      this.notice.replaceChildren();
      this.update();
      history.replaceState(null, "", this.link.getAttribute("href"));
    });
    this.fields.set(field.name, input);
    const unit = field.unit ? node("span", { class: "unit" }, field.unit) : null;
    return node("div", { class: "field" }, node("label", { for: id }, field.label), node("span", { class: "input" }, input, unit));
  }

  /** Read the fields and show the answer, or one sentence per field that cannot be read. */
  update() {
    /** @type {import("./inputs.mjs").Inputs} */
    const inputs = {};
    const problems = [];
    for (const field of this.question.fields) {
      const element = this.input(field.name);
      const { input, problem } = readField(field, element.value);
      if (input) {
        inputs[field.name] = input;
        element.removeAttribute("aria-invalid");
      } else {
        problems.push(problem);
        element.setAttribute("aria-invalid", "true");
      }
    }
    this.link.setAttribute("href", this.address());
    if (problems.length === 0) {
      const problem = this.question.check(inputs);
      const answer = problem || this.question.answer(inputs);
      if (typeof answer !== "string") {
        this.show(answer);
        return;
      }
      problems.push(answer);
    }
    this.answer.replaceChildren(...problems.map((problem) => node("p", { class: "problem" }, problem)));
    this.python.textContent = "";
    this.element?.classList.add("unanswered");
  }

  /** @param {Answer} answer */
  show({ sentences, lines, python }) {
    this.element?.classList.remove("unanswered");
    const table = node("dl", {}, ...lines.flatMap((line) => [node("dt", {}, line.label), shownLine(line)]));
    this.answer.replaceChildren(...sentences.map((sentence) => node("p", {}, sentence)), table);
    this.python.textContent = python.join("\n");
  }

  /** @param {string} name */
  input(name) {
    return /** @type {HTMLInputElement} */ (this.fields.get(name));
  }

  address() {
    return writeLink(this.question.id, [...this.fields].map(([name, { value }]) => [name, value]));
  }

  /**
   * Fill in the inputs of a link, with a sentence for each one that is missing or unknown.
   * @param {Map<string, string>} texts
   */
  fill(texts) {
    const notices = [];
    for (const field of this.question.fields) {
      const text = texts.get(field.name);
      if (text === undefined) {
        notices.push(`The link lacks ${field.noun}. It is set to ${field.example}.`);
      }
      this.input(field.name).value = text ?? field.example;
    }
    for (const name of texts.keys()) {
      if (!this.fields.has(name)) {
        notices.push(`The link has an input that this page does not know, “${name.slice(0, 30)}”. It is ignored.`);
      }
    }
    this.notice.replaceChildren(...notices.map((text) => node("p", {}, text)));
    this.update();
  }

  async copyPython() {
    const selection = getSelection();
    selection?.selectAllChildren(this.python);
    // Without the permission, the lines stay selected and can be copied with the keyboard.
    await navigator.clipboard?.writeText(this.python.textContent ?? "").catch(() => {});
  }
}

/**
 * @param {Line} line
 * @returns {HTMLElement}
 */
function shownLine({ text, interval, range }) {
  const shown = node("dd", {}, node("samp", {}, text));
  if (interval && range && Number.isFinite(interval.low)) {
    const [first, last] = range;
    const place = (/** @type {number} */ value) => `${(100 * (value - first)) / (last - first)}%`;
    const span = node("span", { class: "span" });
    span.style.left = place(interval.low);
    span.style.right = `calc(100% - ${place(interval.high)})`;
    const point = node("span", { class: "point" });
    point.style.left = place(interval.estimate);
    const bar = node("div", { class: "bar", "aria-hidden": "true" }, span, point);
    if (first < 0 && last > 0) {
      const zero = node("span", { class: "zero" });
      zero.style.left = place(0);
      bar.append(zero);
    }
    shown.append(bar);
  }
  return shown;
}

function start() {
  const cards = new Map();
  const main = /** @type {HTMLElement} */ (document.querySelector("main"));
  const contents = /** @type {HTMLElement} */ (document.querySelector("nav"));
  const notice = /** @type {HTMLElement} */ (document.querySelector("#notice"));
  for (const { title, questions } of GROUPS) {
    const heading = node("h2", { id: `group-${questions[0].id}` }, title);
    const list = questions.map((question) => new Card(question));
    list.forEach((card) => cards.set(card.question.id, card));
    main.append(node("div", { class: "group" }, heading, ...list.map((card) => card.element)));
    contents.append(node("a", { href: `#group-${questions[0].id}` }, title));
  }
  const follow = () => {
    const link = readLink(location.hash);
    if (link === null || link.id.startsWith("group-")) {
      return;
    }
    const card = cards.get(link.id);
    const unknown = `The link asks for “${link.id.slice(0, 30)}”, which is not on this page. Choose a question below.`;
    notice.replaceChildren(...(card ? [] : [node("p", {}, unknown)]));
    card?.fill(link.texts);
    card?.element.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  follow();
}

start();
