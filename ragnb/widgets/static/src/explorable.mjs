// What all explorables share: controls, the sentence, axes, and the order in which they are drawn.
//
// An explorable has controls(data), a list; start(data), what its controls begin with where that is not in the data; numbers(state),
// what follows from data and controls; and draw(state, width, data), what is shown. Its sentence has the name `says` in the numbers.

import { node } from "./dom.mjs";
import sentences from "../sentences.json" with { type: "json" };

const SVG = "http://www.w3.org/2000/svg";
const WIDEST = 660;
const FONT = 14; // px; figures grow with the font of the page
const MARGIN = { left: 52, right: 14, top: 12, bottom: 40 };

// Data, values of the controls, and what follows from them.
export function stateOf({ start, numbers }, data, chosen = {}) {
  const state = { ...data, ...start?.(data), ...chosen };
  return { ...state, ...numbers(state) };
}

export function mount(host, css, question, data, explorable) {
  const chosen = {};
  const figure = node("div", { class: "figure" });
  const sentence = node("p", { class: "sentence", role: "status" });
  const show = () => {
    const state = stateOf(explorable, data, chosen);
    const scale = parseFloat(getComputedStyle(figure).fontSize) / FONT;
    const width = Math.max(240, figure.clientWidth / scale || WIDEST);
    sentence.textContent = say(state);
    figure.replaceChildren(...[explorable.draw(state, width, data)].flat());
    for (const { sync } of controls) sync?.(state);
  };
  const controls = explorable.controls(data).map((make) => make((key, change) => {
    chosen[key] = change(stateOf(explorable, data, chosen)[key]);
    show();
  }));
  const panel = node("div", { class: "controls" }, ...controls.map((control) => control.root));
  const live = node("section", { class: "live", "aria-label": question }, node("p", { class: "question" }, question), panel, figure, sentence);
  const root = host.attachShadow({ mode: "open" });
  root.append(node("style", {}, css), live, node("slot"));
  host.dataset.lmSuppressShortcuts = "true"; // keys belong to the controls, not to the notebook
  root.addEventListener("keydown", (event) => event.stopPropagation());
  let drawnAt;
  new ResizeObserver(([{ contentRect: { width } }]) => { if (width !== drawnAt) show(); drawnAt = width; }).observe(figure);
  show();
}

// ---- controls: each is made with set(key, change), and shows a state ---------------------------------------------------

const labelled = (label, attributes, ...inputs) => node("div", attributes, node("span", { "aria-hidden": "true" }, label), ...inputs);

// A slider and a field for the same number; digits is the number of decimals that the field shows.
export const slider = (key, label, min, max, digits, mark = "") => (set) => {
  const step = digits ? "any" : 1;
  const oninput = ({ target: { valueAsNumber: value } }) => {
    if (value >= min && value <= max) set(key, () => (digits ? value : Math.round(value)));
  };
  let shown;
  const range = node("input", { type: "range", min, max, step, "aria-label": label, oninput });
  const onblur = () => { field.value = shown; };
  const field = node("input", { type: "number", min, max, step, "aria-label": `${label}, as a number`, oninput, onblur });
  const sync = (state) => {
    range.value = state[key];
    range.ariaValueText = shown = fixed(state[key], digits);
    if (field.getRootNode().activeElement !== field) onblur();
  };
  return { root: labelled(label, { class: `control ${mark}` }, range, field), sync };
};

// A slider over a list of values; the state is the place in the list.
export const choice = (key, label, values) => (set) => {
  const range = node("input", { type: "range", min: 0, max: values.length - 1, step: 1, "aria-label": label, oninput: () => set(key, () => range.valueAsNumber) });
  const output = node("output", { "aria-hidden": "true" });
  const sync = (state) => {
    range.value = state[key];
    range.ariaValueText = output.textContent = values[state[key]];
  };
  return { root: labelled(label, { class: "control" }, range, output), sync };
};

// A sentence with buttons that put its key into lists of the state, or take it out again.
export const toggles = ([key, text], lists) => (set) => {
  const buttons = Object.entries(lists).map(([list, label]) => {
    const change = (keys) => (keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key]);
    return [list, node("button", { type: "button", "aria-label": `${label}: ${text}`, onclick: () => set(list, change) }, label)];
  });
  const sync = (state) => { for (const [list, made] of buttons) made.setAttribute("aria-pressed", state[list].includes(key)); };
  return { root: node("div", { class: "text" }, node("span", {}, `[${key}]`), node("span", { class: "words", dir: "auto" }, text), node("div", {}, ...buttons.map(([, made]) => made))), sync };
};

export const heading = (text) => () => ({ root: node("b", { class: "text", dir: "auto" }, text) });

// A button that changes a value of the state.
export const button = (label, key, change) => (set) => ({ root: node("button", { type: "button", onclick: () => set(key, change) }, label) });

// ---- text -----------------------------------------------------------------------------------------------------------

// A number with a fixed number of decimals, rounded as Python does: half to even. Twelve digits are free of rounding errors.
export function fixed(value, digits) {
  const exact = Number(value.toPrecision(12));
  const scaled = Math.abs(exact) * 10 ** digits;
  const tie = scaled % 1 === 0.5 && Number.isInteger(exact * 2 ** (digits + 1));
  const rounded = tie ? (Math.sign(exact) * 2 * Math.round(scaled / 2)) / 10 ** digits : exact;
  return (Number(rounded.toFixed(digits)) || 0).toFixed(digits);
}

const FORMATS = {
  // three significant digits
  g(value) {
    if (!Number.isFinite(value)) return "undefined";
    const digits = 2 - Math.floor(Math.log10(Math.abs(value)));
    return String(Number(digits > 0 && digits < 9 ? fixed(value, digits) : value.toPrecision(3)));
  },
  p: (value) => (value < 0.001 ? "p < 0.001" : `p = ${fixed(value, 4)}`),
  are: (count) => `${count || "none"} ${count === 1 ? "is" : "are"}`,
  "": String,
};

// The sentence of a state, as Python says it: see `_say` in ragnb/explorables.py.
export const say = (state) => sentences[state.says].replace(/\{(\w+):?\.?(\w*)\}/g, (_, name, format) =>
  (FORMATS[format] ?? ((value) => fixed(value, parseInt(format, 10))))(state[name]));

// ---- figures --------------------------------------------------------------------------------------------------------

function mark(name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// A picture. The axes are [low, high, label]; marks are [kind, class, ...], see below, in the units of the axes.
export function chart(width, height, [left, right, below], [bottom, top, beside], marks) {
  const x = (value) => MARGIN.left + ((value - left) / (right - left)) * (width - MARGIN.left - MARGIN.right);
  const y = (value) => height - MARGIN.bottom - ((value - bottom) / (top - bottom)) * (height - MARGIN.top - MARGIN.bottom);
  const svg = mark("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const add = (name, attributes, text) => svg.appendChild(mark(name, attributes, text));
  const inside = svg.appendChild(mark("svg", { x: x(left), y: MARGIN.top, width: x(right) - x(left), height: y(bottom) - MARGIN.top }));
  const kinds = {
    line: (kind, ...points) => add("polyline", { class: kind, points: points.map(([a, b]) => `${x(a)},${y(b)}`).join(" ") }),
    area: (kind, ...points) => inside.appendChild(mark("polygon", { class: kind, points: points.map(([a, b]) => `${x(a) - x(left)},${y(b) - MARGIN.top}`).join(" ") })),
    bar: (kind, from, to, height) => add("rect", { x: x(from) + 0.5, y: y(height), width: Math.max(1, x(to) - x(from) - 1), height: Math.max(0, y(bottom) - y(height)), class: kind }),
    dot: (kind, a, b) => add("circle", { cx: x(a), cy: y(b), r: 4, class: kind }),
    note: (anchor, a, b, text) => add("text", { x: x(a), y: y(b), "text-anchor": anchor, class: "note" }, text),
  };
  for (const value of ticks(left, right, width / 80)) add("text", { x: x(value), y: height - MARGIN.bottom + 15, "text-anchor": "middle" }, shown(value));
  for (const value of ticks(bottom, top, 5)) {
    kinds.line("grid", [left, value], [right, value]);
    add("text", { x: MARGIN.left - 6, y: y(value) + 4, "text-anchor": "end" }, shown(value));
  }
  add("text", { x: (MARGIN.left + width - MARGIN.right) / 2, y: height - 6, "text-anchor": "middle" }, below);
  add("text", { transform: `translate(11 ${(height - MARGIN.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, beside);
  for (const [kind, ...more] of marks) kinds[kind](...more);
  return svg;
}

// Round numbers between the ends of an axis, about as many as wanted.
export function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(2, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, place) => (first + place) * step);
}

const shown = (value) => Number(value.toPrecision(6)).toString().replace("-", "−");
