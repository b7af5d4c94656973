// What all explorables share: controls, axes, the sentence, and the order in which they are drawn.
//
// An explorable has four functions: state(data) gives the first values of its controls, controls(data) their list,
// numbers(data, state) what is computed, and sentence and draw (data, state, numbers[, width]) what is shown.

import { node } from "./dom.mjs";

const SVG = "http://www.w3.org/2000/svg";
const WIDEST = 660;
const FONT = 14; // px; figures grow with the font of the page
const MARGIN = { left: 52, right: 14, top: 12, bottom: 40 };

export function mount(host, css, question, data, explorable) {
  const state = explorable.state(data);
  const figure = node("div", { class: "figure" });
  const sentence = node("p", { class: "sentence", role: "status" });
  const show = () => {
    const numbers = explorable.numbers(data, state);
    const scale = parseFloat(getComputedStyle(figure).fontSize) / FONT;
    const width = Math.max(240, figure.clientWidth / scale || WIDEST);
    sentence.textContent = explorable.sentence(data, state, numbers);
    figure.replaceChildren(...[explorable.draw(data, state, numbers, width)].flat());
    for (const control of controls) control.sync();
  };
  const set = (key, value) => { state[key] = value; show(); };
  const controls = explorable.controls(data, state).map((make) => make(state, set));
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

// ---- controls -------------------------------------------------------------------------------------------------------

// A slider and a field for the same number; digits is the number of decimals that the field shows.
export const slider = (key, label, min, max, digits, mark = "") => (state, set) => {
  const step = digits ? "any" : 1;
  const change = ({ target }) => {
    const value = target.valueAsNumber;
    if (value >= min && value <= max) set(key, digits ? value : Math.round(value));
  };
  const range = node("input", { type: "range", min, max, step, "aria-label": label, oninput: change });
  const field = node("input", { type: "number", min, max, step, "aria-label": `${label}, as a number`, oninput: change });
  field.addEventListener("blur", () => sync());
  const sync = () => {
    range.value = state[key];
    range.ariaValueText = fixed(state[key], digits);
    if (field.getRootNode().activeElement !== field) field.value = fixed(state[key], digits);
  };
  return { root: node("div", { class: `control ${mark}` }, node("span", { "aria-hidden": "true" }, label), range, field), sync };
};

// A slider over a list of values; the state is the place in the list.
export const choice = (key, label, values) => (state, set) => {
  const range = node("input", { type: "range", min: 0, max: values.length - 1, step: 1, "aria-label": label, oninput: () => set(key, range.valueAsNumber) });
  const output = node("output", { "aria-hidden": "true" });
  const sync = () => {
    range.value = state[key];
    range.ariaValueText = output.textContent = values[state[key]];
  };
  return { root: node("div", { class: "control" }, node("span", { "aria-hidden": "true" }, label), range, output), sync };
};

// A sentence with buttons that put its key into lists of the state, or take it out again.
export const toggles = ([key, text], lists) => (state, set) => {
  const buttons = Object.entries(lists).map(([list, label]) => {
    const has = () => state[list].includes(key);
    const change = () => set(list, has() ? state[list].filter((one) => one !== key) : [...state[list], key]);
    return [node("button", { type: "button", "aria-label": `${label}: ${text}`, onclick: change }, label), has];
  });
  const sync = () => { for (const [made, has] of buttons) made.setAttribute("aria-pressed", has()); };
  return { root: node("div", { class: "text" }, node("span", {}, `[${key}]`), node("span", { class: "words", dir: "auto" }, text), node("div", {}, ...buttons.map(([made]) => made))), sync };
};

export const heading = (text) => () => ({ root: node("b", { class: "text", dir: "auto" }, text), sync() {} });

// A button that changes the state.
export const button = (label, act) => (state, set) => ({ root: node("button", { type: "button", onclick: () => act(state, set) }, label), sync() {} });

// ---- text -----------------------------------------------------------------------------------------------------------

// A number with a fixed number of decimals, rounded as Python does: half to even. Twelve digits are free of rounding errors.
export function fixed(value, digits) {
  const exact = Number(value.toPrecision(12));
  const scaled = Math.abs(exact) * 10 ** digits;
  const tie = scaled % 1 === 0.5 && Number.isInteger(exact * 2 ** (digits + 1));
  const rounded = tie ? (Math.sign(exact) * 2 * Math.round(scaled / 2)) / 10 ** digits : exact;
  return (Number(rounded.toFixed(digits)) || 0).toFixed(digits);
}

// A number with three significant digits.
export function significant(value) {
  const digits = 2 - Math.floor(Math.log10(Math.abs(value)));
  return String(Number(digits > 0 && digits < 9 ? fixed(value, digits) : value.toPrecision(3)));
}

export const pValue = (p) => (p < 0.001 ? "p < 0.001" : `p = ${fixed(p, 4)}`);

// ---- figures --------------------------------------------------------------------------------------------------------

export function mark(name, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// Axes: each is { low, high, label }. Returns the picture, the scales x and y, and functions that add marks to it.
export function chart(width, height, across, up) {
  const x = (value) => MARGIN.left + ((value - across.low) / (across.high - across.low)) * (width - MARGIN.left - MARGIN.right);
  const y = (value) => height - MARGIN.bottom - ((value - up.low) / (up.high - up.low)) * (height - MARGIN.top - MARGIN.bottom);
  const svg = mark("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const add = (name, attributes, text) => svg.appendChild(mark(name, attributes, text));
  const line = (points, kind) => add("polyline", { class: kind, points: points.map(([a, b]) => `${x(a)},${y(b)}`).join(" ") });
  const inside = svg.appendChild(mark("svg", { x: x(across.low), y: MARGIN.top, width: x(across.high) - x(across.low), height: y(up.low) - MARGIN.top }));
  const area = (points, kind) => inside.appendChild(mark("polygon", { class: kind, points: points.map(([a, b]) => `${x(a) - x(across.low)},${y(b) - MARGIN.top}`).join(" ") }));
  const note = (a, b, text, anchor = "start") => add("text", { x: x(a), y: y(b), "text-anchor": anchor, class: "note" }, text);
  const bar = (from, to, top, kind) => add("rect", { x: x(from) + 0.5, y: y(top), width: Math.max(1, x(to) - x(from) - 1), height: Math.max(0, y(up.low) - y(top)), class: kind });
  for (const value of ticks(across, width / 80)) add("text", { x: x(value), y: height - MARGIN.bottom + 15, "text-anchor": "middle" }, shown(value));
  for (const value of ticks(up, 5)) {
    line([[across.low, value], [across.high, value]], "grid");
    add("text", { x: MARGIN.left - 6, y: y(value) + 4, "text-anchor": "end" }, shown(value));
  }
  add("text", { x: (MARGIN.left + width - MARGIN.right) / 2, y: height - 6, "text-anchor": "middle" }, across.label);
  if (up.label) add("text", { transform: `translate(11 ${(height - MARGIN.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, up.label);
  return { svg, x, y, add, line, area, note, bar };
}

// Round numbers between the ends of an axis, about as many as wanted.
export function ticks({ low, high }, wanted) {
  const rough = (high - low) / Math.max(2, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, place) => (first + place) * step);
}

const shown = (value) => Number(value.toPrecision(6)).toString().replace("-", "−");
