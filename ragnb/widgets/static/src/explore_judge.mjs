// A judge with fixed error rates: what share of correct answers it reports at each true share.

import { chart, fixed, slider } from "./explorable.mjs";

export const judge = {
  state: ({ sensitivity, specificity }) => ({ sensitivity, specificity }),

  controls: () => [slider("sensitivity", "sensitivity: correct answers accepted", 0, 1, 2), slider("specificity", "specificity: incorrect answers rejected", 0, 1, 2)],

  numbers(data, { sensitivity, specificity }) {
    const errors = 2 - sensitivity - specificity;
    return { youden: sensitivity + specificity - 1, unbiasedAt: errors ? (1 - specificity) / errors : NaN };
  },

  sentence(data, { sensitivity, specificity }, { youden, unbiasedAt }) {
    const shrunk = `With sensitivity ${fixed(sensitivity, 2)} and specificity ${fixed(specificity, 2)}, a true difference of 10 points between two systems appears as ${fixed(10 * youden, 1)} points (J = ${fixed(youden, 2)}).`;
    if (Number.isNaN(unbiasedAt)) return `${shrunk} This judge makes no errors.`;
    return `${shrunk} The reported share is too high if fewer than ${fixed(100 * unbiasedAt, 0)} % of the answers are correct, and too low if more are.`;
  },

  draw({ groups, by }, { sensitivity, specificity }, numbers, width) {
    const side = { low: 0, high: 1 };
    const [none, all] = [1 - specificity, sensitivity]; // reported if no answer and if every answer is correct
    const { svg, x, y, add, line, area, note } = chart(width, Math.min(340, 0.75 * width), { ...side, label: "true share of correct answers" }, { ...side, label: "share that the judge reports" });
    area([[0, 0], [1, 1], [1, all], [0, none]], "area");
    line([[0, 0], [1, 1]], "truth");
    line([[0, none], [1, all]], "result");
    note(0.85, 0.92, "no bias", "end");
    for (const [share, judged] of groups) add("circle", { cx: x(share), cy: y(judged), r: 4, class: "dot" });
    if (groups.length) note(1, 0.04, `dots: measured, by ${by}`, "end");
    return svg;
  },
};
