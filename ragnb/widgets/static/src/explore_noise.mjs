// Noise robustness: the passages of one question at each noise rate, with the reply that was recorded.

import { node } from "./dom.mjs";
import { chart, choice, fixed } from "./explorable.mjs";

export const noise = {
  state: () => ({ rate: 0, item: 0 }),

  controls: ({ rates, items }) => [choice("rate", "noise rate", rates), choice("item", "question", items.map((item, place) => `${place + 1} of ${items.length}`))],

  numbers({ rates, items, accuracy }, { rate, item }) {
    const { kinds, correct } = items[item].runs[rate];
    return { rate: rates[rate], useful: kinds.filter((kind) => kind).length, passages: kinds.length, correct, accuracy: accuracy[rate] };
  },

  sentence: ({ n }, state, { rate, useful, passages, correct, accuracy }) =>
    `At noise rate ${rate}, ${useful} of ${passages} passages contain the answer, and the recorded reply is ${correct ? "correct" : "incorrect"}. ` +
    `Over all ${n} questions, ${fixed(accuracy, 3)} of the replies are correct.`,

  draw({ rates, items, accuracy }, { rate, item }, { correct }, width) {
    const { question, passages, runs } = items[item];
    const sign = (good) => node("b", { class: good ? "good" : "bad" }, good ? "✓ " : "✗ ");
    const shown = runs[rate].order.map((place, rank) => node("li", { dir: "auto" }, sign(runs[rate].kinds[rank]), passages[place]));
    const { svg, x, y, add, line } = chart(width, 150, { low: rates[0], high: rates.at(-1), label: "noise rate" }, { low: 0, high: 1, label: "accuracy" });
    line(rates.map((value, place) => [value, accuracy[place]]), "result");
    add("circle", { cx: x(rates[rate]), cy: y(accuracy[rate]), r: 5, class: "dot" });
    return [node("p", { dir: "auto" }, node("b", {}, question)), node("ol", {}, ...shown), node("p", { class: "reply", dir: "auto" }, sign(correct), runs[rate].reply), svg];
  },
};
