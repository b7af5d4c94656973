// An explorable: a question, a few controls, a figure and one sentence that changes. It runs without a kernel, because Python
// (ragnb/explorables) has made a frame for each position of the controls, which the page contains.

// Tested in tests/browser/test_explorables.py.

import css from "../../../ragnb/widgets/static/explore.css";
import { countedFrame, framePosition } from "./frames.mjs";
import { node } from "./dom.mjs";

/** @import { Counts, Meter } from "./frames.mjs" */
/** @import { Control } from "./types.js" */

/**
 * Paths in a square of side 1, and texts at shares of its width and height, each with the name of its look.
 * @typedef {object} Chart
 * @property {string} x label of the axis
 * @property {string} y
 * @property {[look: string, d: string][]} paths
 * @property {[look: string, left: number, top: number, text: string][]} texts
 */

/**
 * What is shown at one position of the controls.
 * @typedef {object} Frame
 * @property {string} sentence
 * @property {[look: string, text: string][]} lines
 * @property {Meter[]} meters
 * @property {Chart | null} [chart]
 * @property {string} [picture] its address
 */

/**
 * An explorable, with a frame for each position of its controls, or with the counts from which a frame follows.
 * @typedef {{question: string, heading: string, controls: Control[]} & ({frames: Frame[], counts: null} | {frames: null, counts: Counts})} Explorable
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Show an explorable in the place of its static form, which is still printed.
 * @param {HTMLElement} host the element with the static form
 * @param {string} packed the page as JSON, compressed and in base 64
 */
export async function start(host, packed) {
  const { question, heading, controls, frames, counts } = await unpacked(packed);
  const figure = node("div", { class: "figure" });
  const sentence = node("p", { class: "sentence", role: "status" });
  const show = () => {
    const frame = frames ? frames[framePosition(controls)] : countedFrame(counts, controls);
    sentence.textContent = frame.sentence;
    figure.replaceChildren(...figureOf(frame));
  };
  const live = node(
    "section",
    { class: "live", "aria-label": question },
    node("p", { class: "question" }, question),
    node("p", { dir: "auto" }, heading),
    panel(controls, show),
    figure,
    sentence,
  );
  const root = host.attachShadow({ mode: "open" });
  root.append(node("style", {}, css), live, node("slot"));
  // Keys belong to the controls, not to the notebook.
  host.dataset.lmSuppressShortcuts = "true";
  root.addEventListener("keydown", (event) => event.stopPropagation());
  show();
}

/**
 * @param {string} packed
 * @returns {Promise<Explorable>}
 */
async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

// ---- controls --------------------------------------------------------------------------------------------------------

/**
 * All sliders, then the texts with their buttons.
 * @param {Control[]} controls
 * @param {function(): void} show draws the frame of the present positions
 */
function panel(controls, show) {
  const sliders = controls.filter(({ key }) => !key).map((control) => slider(control, show));
  /** @type {Map<string, Control[]>} */
  const buttonsByKey = new Map();
  for (const control of controls.filter(({ key }) => key)) {
    const buttons = buttonsByKey.get(control.key) ?? [];
    buttonsByKey.set(control.key, [...buttons, control]);
  }
  const texts = [...buttonsByKey].map(([key, buttons]) => {
    const words = node("span", { class: "words", dir: "auto" }, buttons[0].text);
    const toggles = buttons.map((control) => toggle(control, show));
    return node("div", { class: "text" }, node("span", {}, key), words, ...toggles);
  });
  return node("div", { class: "controls" }, ...sliders, ...texts);
}

/**
 * A slider over the values of a control.
 * @param {Control} control
 * @param {function(): void} show
 */
function slider(control, show) {
  const { label, values, at } = control;
  const output = node("output", { "aria-hidden": "true" });
  const range = node("input", { type: "range", min: 0, max: values.length - 1, value: at, "aria-label": label });
  const readPosition = () => {
    control.at = range.valueAsNumber;
    const text = values[control.at];
    output.textContent = text;
    range.ariaValueText = text;
  };
  range.addEventListener("input", () => {
    readPosition();
    show();
  });
  readPosition();
  return node("div", { class: "control" }, node("span", { "aria-hidden": "true" }, label), range, output);
}

/**
 * A button that marks the text next to it.
 * @param {Control} control
 * @param {function(): void} show
 */
function toggle(control, show) {
  const { label, text } = control;
  const attributes = { type: "button", "aria-label": `${label}: ${text}`, "aria-pressed": String(control.at > 0) };
  const button = node("button", attributes, label);
  button.addEventListener("click", () => {
    control.at = 1 - control.at;
    button.ariaPressed = String(control.at > 0);
    show();
  });
  return button;
}

// ---- the figure ------------------------------------------------------------------------------------------------------

/** @param {Frame} frame */
function figureOf({ lines, meters, chart, picture, sentence }) {
  /** @type {HTMLElement[]} */
  const elements = lines.map(([look, text]) => node("p", { class: look, dir: "auto" }, text));
  elements.push(...meters.map(meter));
  if (chart) {
    elements.push(chartOf(chart));
  }
  if (picture) {
    elements.push(node("img", { src: picture, alt: sentence }));
  }
  return elements;
}

/** @param {Meter} meter */
function meter([name, value]) {
  const parts = [node("span", {}, name), node("progress", { value }), node("span", {}, value)];
  return node("div", { class: "meter", "aria-hidden": "true" }, ...parts);
}

/**
 * A chart. Its square becomes as wide as the page.
 * @param {Chart} chart
 */
function chartOf({ x, y, paths, texts }) {
  const square = svg("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none" });
  square.append(...paths.map(([look, d]) => svg("path", { class: look, d })));
  const notes = texts.map(([look, left, top, text]) => {
    const note = node("span", { class: look }, text);
    note.style.left = `${100 * left}%`;
    note.style.top = `${100 * top}%`;
    return note;
  });
  return node(
    "div",
    { class: "chart", dir: "ltr", "aria-hidden": "true" },
    node("span", { class: "beside" }, y),
    node("div", { class: "plot" }, square, ...notes),
    node("span", { class: "below" }, x),
  );
}

/**
 * @param {string} name
 * @param {Record<string, string>} attributes
 */
function svg(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  return element;
}
