// The explorables: what each lets people change, what it computes, and what it draws.

import { betaQuantile, binomial, coins, mcnemarMde, mcnemarPower, sum } from "./chance.mjs";
import { button, chart, choice, fixed, heading, slider, toggles } from "./explorable.mjs";
import { node } from "./dom.mjs";

const BINS = 20;
const BARS = 40;
const POINTS = 30;

// How many of the scores between 0 and 1 are in each bin.
function histogram(scores) {
  const counts = Array(BINS).fill(0);
  for (const score of scores) counts[Math.min(BINS - 1, Math.floor(score * BINS))] += 1;
  return counts;
}

const binBars = (kind, scores) => histogram(scores).map((height, bin) => ["bar", kind, bin / BINS, (bin + 1) / BINS, height]);

// Named values between 0 and 1.
const meters = (values) => Object.entries(values).map(([name, value]) => node("div", { class: "meter", "aria-hidden": "true" },
  node("span", {}, name), node("progress", { value }), node("span", {}, fixed(value, 2))));

// McNemar's test: only the questions on which the two systems differ count.
const mcnemar = {
  controls({ names: [one, other], both, first, second, neither }) {
    const discordant = Math.max(30, 2 * first, 2 * second);
    const most = Math.max(100, 2 * both, 2 * neither);
    return [
      slider("both", "both correct", 0, most, 0),
      slider("first", `only ${one} correct`, 0, discordant, 0, "strong"),
      slider("second", `only ${other} correct`, 0, discordant, 0, "strong"),
      slider("neither", "neither correct", 0, most, 0),
    ];
  },

  numbers({ names: [one, other], both, first, second, neither }) {
    const discordant = first + second, concordant = both + neither, n = discordant + concordant;
    const mass = binomial(discordant);
    const fewer = Math.min(first, second);
    const below = sum(mass.slice(0, fewer));
    const tests = { exact: Math.min(1, 2 * (below + mass[fewer])), midP: Math.min(1, 2 * below + mass[fewer]) };
    return { says: "mcnemar", one, other, discordant, concordant, n, mass, fewer, ...tests, difference: n ? (first - second) / n : 0 };
  },

  draw({ one, first, discordant: n, mass, fewer }, width) {
    const reach = Math.max(n / 2 - fewer + 1, Math.min(n / 2, 2.5 * Math.sqrt(n))) + 0.5;
    const top = 1.15 * Math.max(...mass);
    const bars = mass.map((chance, k) => ["bar", k <= fewer || k >= n - fewer ? "bar on" : "bar", k - 0.5, k + 0.5, chance]);
    return chart(width, 220, [n / 2 - reach, n / 2 + reach, `only ${one} correct, if both systems were equally good`], [0, top, "probability"], [
      ...bars.filter((_, k) => Math.abs(k - n / 2) < reach), ["line", "here", [first, 0], [first, top]],
    ]);
  },
};

// Split conformal prediction: which calibration score becomes the threshold, and what coverage follows.
const conformal = {
  start: ({ scores }) => ({ n: Math.ceil(scores.length / 2), percent: 10 }),

  controls: ({ scores }) => [slider("percent", "error rate α, in %", 1, 50, 0), slider("n", "calibration items n", 1, scores.length - 1, 0)],

  numbers({ scores, n, percent }) {
    const rank = Math.ceil(((n + 1) * (100 - percent)) / 100); // whole numbers, so that the rank is exact
    const known = scores.slice(0, n).sort((a, b) => a - b);
    const threshold = rank > n ? Infinity : known[rank - 1];
    const others = scores.length - n;
    const inside = scores.slice(n).filter((score) => score <= threshold).length / others;
    const [low, high] = rank > n ? [1, 1] : [0.05, 0.95].map((level) => betaQuantile(level, rank, n));
    const shown = { alpha: percent / 100, covered: 100 * inside, needed: Math.ceil(100 / percent) - 1, others };
    return { says: rank > n ? "too few" : "conformal", ...shown, known, rank, threshold, inside, mean: rank / (n + 1), low, high };
  },

  draw({ known, threshold }, width) {
    const top = Math.max(4, 1.15 * Math.max(...histogram(known)));
    const [anchor, note] = threshold > 0.7 ? ["end", "included ← threshold "] : ["start", " threshold → excluded"];
    return chart(width, 220, [0, 1, "nonconformity score of the true label"], [0, top, "items"], [
      ...binBars("bar", known), ...binBars("bar on", known.filter((score) => score > threshold)),
      ...(threshold > 1 ? [] : [["line", "here", [threshold, 0], [threshold, top]], ["note", anchor, threshold, top, note]]),
    ]);
  },
};

// A judge with fixed error rates: what share of correct answers it reports at each true share.
const judge = {
  controls: () => [slider("sensitivity", "sensitivity: correct answers accepted", 0, 1, 2), slider("specificity", "specificity: incorrect answers rejected", 0, 1, 2)],

  numbers({ sensitivity, specificity }) {
    const errors = 2 - sensitivity - specificity;
    const unbiasedAt = errors ? (1 - specificity) / errors : NaN;
    return { says: errors ? "judge" : "no errors", youden: 1 - errors, points: 10 * (1 - errors), unbiasedAt, percent: 100 * unbiasedAt };
  },

  draw({ groups, by, sensitivity: all, specificity }, width) {
    const none = 1 - specificity; // reported if no answer is correct, and `all` if every answer is
    return chart(width, Math.min(340, 0.75 * width), [0, 1, "true share of correct answers"], [0, 1, "share that the judge reports"], [
      ["area", "area", [0, 0], [1, 1], [1, all], [0, none]],
      ["line", "truth", [0, 0], [1, 1]],
      ["line", "result", [0, none], [1, all]],
      ["note", "end", 0.85, 0.92, "no bias"],
      ...groups.map((shares) => ["dot", "dot", ...shares]),
      ["note", "end", 1, 0.04, groups.length ? `dots: measured, by ${by}` : ""],
    ]);
  },
};

// The sign-flip test: how often chance alone gives a mean difference as large as the observed one.
const permutation = {
  start: () => ({ worlds: 1000, seed: 1 }),

  controls: () => [slider("worlds", "random worlds", 1, 5000, 0), button("Toss other coins", "seed", (seed) => seed + 1)],

  numbers({ steps, unit, worlds, seed }) {
    const toss = coins(seed);
    const totals = Array.from({ length: worlds }, () => sum(steps.map((step) => toss() * step)));
    const observed = sum(steps);
    const extreme = totals.filter((total) => Math.abs(total) >= Math.abs(observed)).length;
    return { says: "worlds", totals, observed, difference: observed * unit, extreme, share: extreme / worlds };
  },

  draw({ unit, totals, observed }, width) {
    const far = totals.reduce((most, total) => Math.max(most, Math.abs(total)), Math.abs(observed)) + 2;
    const step = 2 * Math.ceil(far / BARS); // all totals are even or all are odd if no step is larger than 1
    const bins = new Map();
    for (const total of totals) {
      const bin = Math.round((total - observed) / step) * step + observed;
      const [all, extreme] = bins.get(bin) ?? [0, 0];
      bins.set(bin, [all + 1, extreme + (Math.abs(total) >= Math.abs(observed))]);
    }
    const top = 1.1 * Math.max(...[...bins.values()].map(([all]) => all));
    const bars = (kind, which) => [...bins].map(([bin, counts]) => ["bar", kind, (bin - step / 2) * unit, (bin + step / 2) * unit, counts[which]]);
    const [anchor, note] = observed > 0 ? ["end", "observed "] : ["start", " observed"];
    return chart(width, 230, [-far * unit, far * unit, "mean difference in a random world"], [0, top, "worlds"], [
      ...bars("bar", 0), ...bars("bar on", 1),
      ["line", "here", [observed * unit, 0], [observed * unit, top]],
      ["note", anchor, observed * unit, 0.94 * top, note],
    ]);
  },
};

// Power of McNemar's mid-p test: how large a true difference must be for a sample to show it.
const power = {
  controls: ({ n }) => [
    slider("n", "questions n", 5, Math.max(1000, n), 0),
    slider("share", "share of questions on which the systems differ", 0, 1, 2),
  ],

  numbers: ({ n, share }) => ({ says: "power", mde: mcnemarMde(n, share) }),

  draw({ n, share, mde }, width) {
    const high = Math.min(1, 2.2 * mde);
    const differences = Array.from({ length: POINTS }, (_, k) => ((k + 0.5) * high) / POINTS);
    return chart(width, 230, [0, high, "true difference"], [0, 1, "power"], [
      ["area", "area", [0, 0], [mde, 0], [mde, 1], [0, 1]],
      ["line", "truth", [0, 0.8], [high, 0.8]],
      ["line", "result", ...differences.map((difference) => [difference, mcnemarPower(n, share, difference)])],
      ["line", "here", [mde, 0], [mde, 1]],
      ["note", "end", high, 0.83, "80 %"],
      ["note", "start", 0.03 * high, 0.92, "missed more than one time in five"],
    ]);
  },
};

// Fieller's confidence set: all ratios gain / cost whose line through the origin meets the confidence ellipse.
const reach = (mean, variance) => 2 * Math.max(Math.abs(mean), Math.sqrt(variance));
const decimals = (most) => Math.max(1, 2 - Math.floor(Math.log10(most)));
const fieller = {
  controls: ({ gain, cost, yy, zz }) =>
    [["gain", "mean gain", reach(gain, yy)], ["cost", "mean cost", reach(cost, zz)]].map(([key, label, most]) => slider(key, label, -most, most, decimals(most))),

  // The set contains r if (gain - r cost)^2 <= yy - 2 r yz + r^2 zz, that is a r^2 - 2 b r + c <= 0.
  numbers({ gain, cost, yy, yz, zz }) {
    const [a, b, c] = [cost * cost - zz, gain * cost - yz, gain * gain - yy];
    const discriminant = b * b - a * c;
    const both = b + (b < 0 ? -1 : 1) * Math.sqrt(Math.max(0, discriminant));
    const kind = a > 0 ? "bounded" : discriminant > 0 ? "two rays" : "whole line";
    const limits = kind === "whole line" ? [] : [both / a, c / both].sort((one, other) => one - other);
    return { says: kind, ratio: gain / cost, kind, limits, low: limits[0], high: limits[1] };
  },

  draw({ gain, cost, yy, yz, zz, kind, low, high }, width, data) {
    const far = 1.5 * reach(data.cost, zz);
    const most = 1.5 * reach(data.gain, yy);
    const beyond = 100 * most;
    const halves = {
      bounded: [[[0, 0], [far, low * far], [far, high * far]]],
      "two rays": [[[0, 0], [far, high * far], [far, beyond], [0, beyond]], [[0, 0], [far, low * far], [far, -beyond], [0, -beyond]]],
      "whole line": [[[0, beyond], [far, beyond], [far, -beyond], [0, -beyond]]],
    }[kind];
    const [along, across] = [Math.sqrt(zz), yz / Math.sqrt(zz || 1)];
    const up = Math.sqrt(Math.max(0, yy - across * across));
    const turns = Array.from({ length: 73 }, (_, step) => (step * Math.PI) / 36);
    return chart(width, 300, [-far, far, "cost"], [-most, most, "gain"], [
      ...halves.flatMap((half) => [1, -1].map((side) => ["area", "area", ...half.map(([a, b]) => [side * a, side * b])])),
      ["line", "axis", [-far, 0], [far, 0]],
      ["line", "axis", [0, -most], [0, most]],
      ["area", "result", ...turns.map((turn) => [cost + along * Math.cos(turn), gain + across * Math.cos(turn) + up * Math.sin(turn)])],
      ["dot", "dot", cost, gain],
    ]);
  },
};

// TRACe: which sentences are relevant, used and unsupported, and the four numbers that follow.
const trace = {
  controls: ({ question, context, response }) => [
    heading(question),
    heading("Context"),
    ...context.map((sentence) => toggles(sentence, { relevant: "relevant", used: "used" })),
    heading("Response"),
    ...response.map((sentence) => toggles(sentence, { unsupported: "unsupported" })),
  ],

  numbers({ context, response, relevant, used, unsupported }) {
    const count = (from, ...lists) => from.filter(([key]) => lists.every((list) => list.includes(key))).length;
    const [n, r, u, common, wrong] = [context.length, count(context, relevant), count(context, used), count(context, relevant, used), count(response, unsupported)];
    const scores = { relevance: r / n, utilization: u / n, completeness: r ? common / r : 1, adherence: wrong ? 0 : 1 };
    return { says: r ? "trace" : "nothing relevant", n, r, u, common, wrong, said: response.length, ...scores };
  },

  draw: ({ relevance, utilization, completeness, adherence }) => meters({ relevance, utilization, completeness, adherence }),
};

// Noise robustness: the passages of one question at each noise rate, with the reply that was recorded.
const noise = {
  start: () => ({ rate: 0, item: 0 }),

  controls: ({ rates, items }) => [choice("rate", "noise rate", rates), choice("item", "question", items.map((_, place) => `${place + 1} of ${items.length}`))],

  numbers({ rates, items, accuracy, rate, item }) {
    const { kinds, correct } = items[item].runs[rate];
    const useful = kinds.filter((kind) => kind).length;
    return { says: "noise", noise: rates[rate], useful, total: kinds.length, verdict: correct ? "correct" : "incorrect", share: accuracy[rate] };
  },

  draw({ rates, items, accuracy, rate, item }, width) {
    const { question, passages, runs } = items[item];
    const { order, kinds, correct, reply } = runs[rate];
    const sign = (good) => node("b", { class: good ? "good" : "bad" }, good ? "✓ " : "✗ ");
    const shown = order.map((place, rank) => node("li", { dir: "auto" }, sign(kinds[rank]), passages[place]));
    const accuracies = chart(width, 150, [rates[0], rates.at(-1), "noise rate"], [0, 1, "accuracy"], [
      ["line", "result", ...rates.map((value, place) => [value, accuracy[place]])], ["dot", "dot", rates[rate], accuracy[rate]],
    ]);
    return [node("p", { dir: "auto" }, node("b", {}, question)), node("ol", {}, ...shown), node("p", { class: "reply", dir: "auto" }, sign(correct), reply), accuracies];
  },
};

// A score and a threshold: which of the items with label 1, and with label 0, reach it.
const threshold = {
  controls: () => [slider("threshold", "threshold", 0, 1, 2)],

  numbers({ correct, incorrect, threshold: chosen }) {
    const at = Number(fixed(chosen, 2)); // as it is shown
    const caught = correct.filter((score) => score >= at).length;
    const rejected = incorrect.filter((score) => score < at).length;
    const [positive, negative] = [correct.length, incorrect.length];
    return { says: "threshold", at, caught, rejected, positive, negative, sensitivity: caught / positive, specificity: rejected / negative };
  },

  draw({ correct, incorrect, at }, width) {
    const all = [...correct, ...incorrect];
    const top = 1.2 * Math.max(...histogram(all));
    return chart(width, 220, [0, 1, "score"], [0, top, "items"], [
      ...binBars("bar", all), ...binBars("bar on", correct), ["line", "here", [at, 0], [at, top]], ["note", "end", 1, 0.94 * top, "orange: label 1"],
    ]);
  },
};

// Abstention: which system decides correctly most often depends on how many questions are unanswerable.
const mix = {
  start: () => ({ percent: 50 }),

  controls: () => [slider("percent", "unanswerable questions, in %", 0, 100, 0)],

  numbers({ systems, percent }) {
    const shares = systems.map(({ answered, refused }) => (percent * refused + (100 - percent) * answered) / 100);
    const share = Math.max(...shares);
    return { says: "mix", shares, share, best: systems[shares.indexOf(share)].name };
  },

  draw: ({ systems, percent, shares, best }, width) => chart(width, 260, [0, 100, "unanswerable questions, in %"], [0, 1, "share of right decisions"], [
    ...systems.map(({ name, answered, refused }) => ["line", name === best ? "result" : "axis", [0, answered], [100, refused]]),
    ...systems.map(({ name, answered, refused }) => ["note", "end", 100, Math.min(0.95, Math.max(0.03, refused + (answered > refused ? -0.07 : 0.03))), name]), // beside the line
    ["line", "truth", [percent, 0], [percent, 1]],
    ...shares.map((share) => ["dot", "dot", percent, share]),
  ]),
};

// A ranked list: which passages are relevant, how many of them the model gets, and the four numbers that follow.
const ranking = {
  start: ({ passages }) => ({ k: Math.min(3, passages.length) }),

  controls: ({ question, passages }) => [
    heading(question),
    ...passages.map((passage) => toggles(passage, { relevant: "relevant" })),
    slider("k", "passages that the model gets, k", 1, passages.length, 0),
  ],

  numbers({ passages, relevant, elsewhere, k }) {
    const list = passages.slice(0, k).map(([key]) => relevant.includes(key));
    const gain = (good) => sum(good.map((one, place) => (one ? 1 / Math.log2(place + 2) : 0)));
    const [found, total, first] = [list.filter((one) => one).length, relevant.length + elsewhere, list.indexOf(true) + 1];
    const scores = { success: first ? 1 : 0, recall: found / total, reciprocal: first ? 1 / first : 0, ndcg: gain(list) / gain(Array(Math.min(k, total)).fill(true)) };
    return { says: total ? "ranking" : "nothing to find", found, total, ...scores };
  },

  draw: ({ total, success, recall, reciprocal, ndcg }) => (total ? meters({ success, recall, "1 / rank": reciprocal, nDCG: ndcg }) : []),
};

export const EXPLORABLES = { conformal, fieller, judge, mcnemar, mix, noise, permutation, power, ranking, threshold, trace };
