// Split conformal prediction: which calibration score becomes the threshold, and what coverage follows.

import { betaQuantile } from "./chance.mjs";
import { chart, fixed, slider } from "./explorable.mjs";

const BINS = 20;

export const conformal = {
  state: ({ scores }) => ({ n: Math.ceil(scores.length / 2), percent: 10 }),

  controls: ({ scores }) => [slider("percent", "error rate α, in %", 1, 50, 0), slider("n", "calibration items n", 1, scores.length - 1, 0)],

  numbers({ scores }, { n, percent }) {
    const rank = Math.ceil(((n + 1) * (100 - percent)) / 100); // whole numbers, so that the rank is exact
    const known = scores.slice(0, n).sort((a, b) => a - b);
    const threshold = rank > n ? Infinity : known[rank - 1];
    const others = scores.slice(n);
    const inside = others.filter((score) => score <= threshold).length / others.length;
    const limits = rank > n ? [1, 1] : [0.05, 0.95].map((level) => betaQuantile(level, rank, n));
    return { known, rank, threshold, inside, mean: rank / (n + 1), low: limits[0], high: limits[1] };
  },

  sentence({ scores }, { n, percent }, { rank, threshold, inside, mean, low, high }) {
    const alpha = `α = ${fixed(percent / 100, 2)}`;
    if (rank > n) return `With ${alpha}, ${n} calibration items are too few: at least ${Math.ceil(100 / percent) - 1} are needed to exclude any label.`;
    return `With ${alpha} and n = ${n}, the threshold is score number ${rank} in ascending order, ${fixed(threshold, 3)}. ` +
      `The mean coverage is ${fixed(mean, 3)}. In 90 % of calibration sets of this size the coverage is between ${fixed(low, 3)} and ${fixed(high, 3)}. ` +
      `Of the ${scores.length - n} other items here, ${fixed(100 * inside, 1)} % are covered.`;
  },

  draw(data, { n }, { known, threshold }, width) {
    const counts = Array(BINS).fill(0);
    const binOf = (score) => Math.min(BINS - 1, Math.floor(score * BINS));
    for (const score of known) counts[binOf(score)] += 1;
    const top = Math.max(4, 1.15 * Math.max(...counts));
    const { svg, bar, line, note } = chart(width, 220, { low: 0, high: 1, label: "nonconformity score of the true label" }, { low: 0, high: top, label: "items" });
    counts.forEach((count, bin) => bar(bin / BINS, (bin + 1) / BINS, count, "bar"));
    if (threshold > 1) return svg;
    const excluded = Array(BINS).fill(0);
    for (const score of known) if (score > threshold) excluded[binOf(score)] += 1;
    excluded.forEach((count, bin) => bar(bin / BINS, (bin + 1) / BINS, count, "bar on"));
    line([[threshold, 0], [threshold, top]], "here");
    note(threshold, top, threshold > 0.7 ? "included ← threshold " : " threshold → excluded", threshold > 0.7 ? "end" : "start");
    return svg;
  },
};
