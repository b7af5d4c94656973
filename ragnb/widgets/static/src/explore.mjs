// An explorable: a question, a few controls, a figure and one sentence that changes. It runs without a kernel, because Python
// (ragnb/explorables) has made a frame for each position of the controls, which the page contains.

import css from "../explore.css";
import { node } from "./dom.mjs";

/**
 * Show an explorable in the place of its static form, which is still printed.
 * @param {HTMLElement} host the element with the static form
 * @param {string} packed the page as JSON, compressed and in base 64
 */
export async function start(host, packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const { question, heading, controls, frames, counts } = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  const figure = node("div", { class: "figure" });
  const sentence = node("p", { class: "sentence", role: "status" });
  const show = () => {
    const place = controls.reduce((before, { values, at }) => before * values.length + at, 0);
    const frame = frames ? frames[place] : counted(counts, controls);
    sentence.textContent = frame.sentence;
    figure.replaceChildren(
      ...frame.lines.map(([look, text]) => node("p", { class: look, dir: "auto" }, text)),
      ...frame.meters.map(([name, value]) => node("div", { class: "meter", "aria-hidden": "true" }, node("span", {}, name), node("progress", { value }), node("span", {}, value))),
      ...(frame.chart ? [drawn(frame.chart)] : []),
      ...(frame.picture ? [node("img", { src: frame.picture, alt: frame.sentence })] : []),
    );
  };
  const texts = Map.groupBy(controls.filter(({ key }) => key), ({ key }) => key);
  const panel = node("div", { class: "controls" },
    ...controls.filter(({ key }) => !key).map((control) => slider(control, show)),
    ...[...texts].map(([key, buttons]) => node("div", { class: "text" }, node("span", {}, key), node("span", { class: "words", dir: "auto" }, buttons[0].text), ...buttons.map((button) => toggle(button, show)))));
  const root = host.attachShadow({ mode: "open" });
  root.append(node("style", {}, css), node("section", { class: "live", "aria-label": question }, node("p", { class: "question" }, question), node("p", { dir: "auto" }, heading), panel, figure, sentence), node("slot"));
  host.dataset.lmSuppressShortcuts = "true"; // keys belong to the controls, not to the notebook
  root.addEventListener("keydown", (event) => event.stopPropagation());
  show();
}

// A slider over the values of a control.
function slider(control, show) {
  const { label, values, at } = control;
  const output = node("output", { "aria-hidden": "true" });
  const range = node("input", { type: "range", min: 0, max: values.length - 1, value: at, "aria-label": label });
  const sync = () => {
    control.at = range.valueAsNumber;
    range.ariaValueText = output.textContent = values[control.at];
  };
  range.addEventListener("input", () => { sync(); show(); });
  sync();
  return node("div", { class: "control" }, node("span", { "aria-hidden": "true" }, label), range, output);
}

// A button that marks the text beside it.
function toggle(control, show) {
  const { label, text } = control;
  const button = node("button", { type: "button", "aria-label": `${label}: ${text}`, "aria-pressed": String(control.at > 0) }, label);
  button.addEventListener("click", () => {
    control.at = 1 - control.at;
    button.ariaPressed = String(control.at > 0);
    show();
  });
  return button;
}

// TRACe has too many states for frames. Each part of its sentence, with its meter, depends on one or two counts. The average
// depends on all of them.
function counted(counts, controls) {
  const keysOf = (name) => controls.filter(({ label, at }) => label === name && at).map(({ key }) => key);
  const [relevant, used, wrong] = ["relevant", "used", "unsupported"].map(keysOf);
  const both = relevant.filter((key) => used.includes(key));
  const rows = counts.utilization; // one row, or one for each number of relevant sentences
  const parts = {
    relevance: counts.relevance[relevant.length],
    utilization: rows[Math.min(relevant.length, rows.length - 1)][used.length],
    completeness: counts.completeness[relevant.length][relevant.length ? both.length : used.length],
    adherence: counts.adherence[wrong.length],
  };
  const total = Object.values(parts).reduce((sum, [, , value]) => sum + value, 0);
  const average = (Math.floor((total / 4) * 1000 + 0.5) / 1000).toFixed(3);
  const sentence = [...Object.values(parts).map(([text]) => text), counts.average.replace("{}", average)].join(" ");
  return { sentence, lines: [], meters: Object.entries(parts).map(([name, [, value]]) => [name, value]) };
}

// A chart: its paths are in a square of side 1, which becomes as wide as the page, and its texts at shares of width and height.
function drawn({ x, y, paths, texts }) {
  const plot = svg("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none" });
  plot.append(...paths.map(([look, d]) => svg("path", { class: look, d })));
  const notes = texts.map(([look, left, top, text]) => {
    const note = node("span", { class: look }, text);
    [note.style.left, note.style.top] = [`${100 * left}%`, `${100 * top}%`];
    return note;
  });
  return node("div", { class: "chart", dir: "ltr", "aria-hidden": "true" }, node("span", { class: "beside" }, y), node("div", { class: "plot" }, plot, ...notes), node("span", { class: "below" }, x));
}

function svg(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}
