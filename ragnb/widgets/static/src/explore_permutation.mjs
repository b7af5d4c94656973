// The sign-flip test: how often chance alone gives a mean difference as large as the observed one.

import { sum } from "./chance.mjs";
import { button, chart, fixed, pValue, slider } from "./explorable.mjs";

const BARS = 40;

// A source of random signs (xorshift, 32 bits); the same seed gives the same signs.
function coins(seed) {
  let bits = Math.imul(seed, 0x9e3779b1) | 1;
  return () => {
    bits ^= bits << 13;
    bits ^= bits >>> 17;
    bits ^= bits << 5;
    return bits < 0 ? -1 : 1;
  };
}

export const permutation = {
  state: () => ({ worlds: 1000, seed: 1 }),

  controls: () => [slider("worlds", "random worlds", 1, 5000, 0), button("Toss other coins", (state, set) => set("seed", state.seed + 1))],

  numbers({ steps, unit }, { worlds, seed }) {
    const toss = coins(seed);
    const totals = Array.from({ length: worlds }, () => sum(steps.map((step) => toss() * step)));
    const observed = sum(steps);
    return { totals, observed, difference: observed * unit, extreme: totals.filter((total) => Math.abs(total) >= Math.abs(observed)).length };
  },

  sentence: ({ p }, { worlds }, { difference, extreme }) =>
    `The observed difference is ${fixed(difference, 3)}. If the two systems were exchangeable, a difference at least as far from 0 would have probability ${pValue(p)}. ` +
    `It occurs in ${extreme} of the ${worlds} random worlds (${fixed(extreme / worlds, 4)}).`,

  draw({ unit }, state, { totals, observed }, width) {
    const far = totals.reduce((most, total) => Math.max(most, Math.abs(total)), Math.abs(observed)) + 2;
    const step = 2 * Math.ceil(far / BARS); // all totals are even or all are odd if no step is larger than 1
    const bins = new Map();
    for (const total of totals) {
      const bin = Math.round((total - observed) / step) * step + observed;
      const [all, extreme] = bins.get(bin) ?? [0, 0];
      bins.set(bin, [all + 1, extreme + (Math.abs(total) >= Math.abs(observed))]);
    }
    const top = 1.1 * Math.max(...[...bins.values()].map(([all]) => all));
    const { svg, bar, line, note } = chart(width, 230, { low: -far * unit, high: far * unit, label: "mean difference in a random world" }, { low: 0, high: top, label: "worlds" });
    for (const [bin, counts] of bins) counts.forEach((number, marked) => bar((bin - step / 2) * unit, (bin + step / 2) * unit, number, marked ? "bar on" : "bar"));
    line([[observed * unit, 0], [observed * unit, top]], "here");
    note(observed * unit, 0.94 * top, observed > 0 ? "observed " : " observed", observed > 0 ? "end" : "start");
    return svg;
  },
};
