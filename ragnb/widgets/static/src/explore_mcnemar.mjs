// McNemar's test: only the questions on which the two systems differ count.

import { binomial, sum } from "./chance.mjs";
import { chart, fixed, pValue, slider } from "./explorable.mjs";

export const mcnemar = {
  state: ({ both, first, second, neither }) => ({ both, first, second, neither }),

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

  numbers(data, { both, first, second, neither }) {
    const mass = binomial(first + second);
    const fewer = Math.min(first, second);
    const below = sum(mass.slice(0, fewer));
    const n = both + first + second + neither;
    return { mass, fewer, exact: Math.min(1, 2 * (below + mass[fewer])), midP: Math.min(1, 2 * below + mass[fewer]), difference: n ? (first - second) / n : 0 };
  },

  sentence({ names: [one, other] }, { both, first, second, neither }, { exact, midP, difference }) {
    return `The systems differ on ${first + second} questions: only ${one} is correct on ${first}, only ${other} on ${second}. ` +
      `The exact test gives ${pValue(exact)}, the mid-p test ${pValue(midP)}. The ${both + neither} other questions do not affect these p-values. ` +
      `The difference in accuracy over all ${both + first + second + neither} questions is ${fixed(difference, 3)}.`;
  },

  draw({ names: [one] }, { first, second }, { mass, fewer }, width) {
    const n = first + second;
    const reach = Math.max(n / 2 - fewer + 1, Math.min(n / 2, 2.5 * Math.sqrt(n))) + 0.5;
    const across = { low: n / 2 - reach, high: n / 2 + reach, label: `only ${one} correct, if both systems were equally good` };
    const up = { low: 0, high: 1.15 * Math.max(...mass), label: "probability" };
    const { svg, bar, line } = chart(width, 220, across, up);
    mass.forEach((chance, k) => { if (Math.abs(k - n / 2) < reach) bar(k - 0.5, k + 0.5, chance, k <= fewer || k >= n - fewer ? "bar on" : "bar"); });
    line([[first, 0], [first, up.high]], "here");
    return svg;
  },
};
