// Power of McNemar's mid-p test: how large a true difference must be for a sample to show it.

import { mcnemarMde, mcnemarPower } from "./chance.mjs";
import { chart, fixed, slider } from "./explorable.mjs";

const POINTS = 30;

export const power = {
  state: ({ n, share }) => ({ n, share }),

  controls: ({ n }) => [
    slider("n", "questions n", 5, Math.max(1000, n), 0),
    slider("share", "share of questions on which the systems differ", 0, 1, 2),
  ],

  numbers: (data, { n, share }) => ({ mde: mcnemarMde(n, share) }),

  sentence: (data, { n, share }, { mde }) =>
    `With ${n} questions, and a share of ${fixed(share, 2)} on which the systems differ, the mid-p test detects a true difference of ` +
    `${fixed(mde, 3)} with a probability of 80 %. It misses smaller differences more than one time in five.`,

  draw(data, { n, share }, { mde }, width) {
    const high = Math.min(1, 2.2 * mde);
    const across = { low: 0, high, label: "true difference" };
    const { svg, line, area, note } = chart(width, 230, across, { low: 0, high: 1, label: "power" });
    area([[0, 0], [mde, 0], [mde, 1], [0, 1]], "area");
    line([[0, 0.8], [high, 0.8]], "truth");
    line(Array.from({ length: POINTS }, (_, k) => ((k + 0.5) * high) / POINTS).map((d) => [d, mcnemarPower(n, share, d)]), "result");
    line([[mde, 0], [mde, 1]], "here");
    note(high, 0.83, "80 %", "end");
    note(0.03 * high, 0.92, "missed more than one time in five");
    return svg;
  },
};
