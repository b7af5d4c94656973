// Fieller's confidence set: all ratios gain / cost whose line through the origin meets the confidence ellipse.

import { chart, significant, slider } from "./explorable.mjs";

const reach = (mean, variance) => 2 * Math.max(Math.abs(mean), Math.sqrt(variance));
const decimals = (most) => Math.max(1, 2 - Math.floor(Math.log10(most)));

export const fieller = {
  state: ({ gain, cost }) => ({ gain, cost }),

  controls: ({ gain, cost, yy, zz }) =>
    [["gain", "mean gain", reach(gain, yy)], ["cost", "mean cost", reach(cost, zz)]].map(([key, label, most]) => slider(key, label, -most, most, decimals(most))),

  // The set contains r if (gain - r cost)^2 <= yy - 2 r yz + r^2 zz, that is a r^2 - 2 b r + c <= 0.
  numbers({ yy, yz, zz }, { gain, cost }) {
    const [a, b, c] = [cost * cost - zz, gain * cost - yz, gain * gain - yy];
    const discriminant = b * b - a * c;
    if (a <= 0 && discriminant <= 0) return { ratio: gain / cost, kind: "whole line", limits: [] };
    const both = b + (b < 0 ? -1 : 1) * Math.sqrt(Math.max(0, discriminant));
    return { ratio: gain / cost, kind: a > 0 ? "bounded" : "two rays", limits: [both / a, c / both].sort((one, other) => one - other) };
  },

  sentence(data, { gain, cost }, { ratio, kind, limits }) {
    const [low, high] = limits.map(significant);
    const sets = {
      bounded: `bounded, from ${low} to ${high}`,
      "two rays": `two rays: all ratios up to ${low} and all ratios from ${high}`,
      "whole line": "the whole line: no ratio can be excluded",
    };
    const estimate = cost ? `the ratio is ${significant(ratio)}` : "there is no ratio";
    return `With a mean gain of ${significant(gain)} and a mean cost of ${significant(cost)}, ${estimate}. The 95 % confidence set is ${sets[kind]}.`;
  },

  draw(data, { gain, cost }, { kind, limits: [low, high] }, width) {
    const { yy, yz, zz } = data;
    const far = 1.5 * reach(data.cost, zz);
    const most = 1.5 * reach(data.gain, yy);
    const { svg, x, y, add, line, area } = chart(width, 300, { low: -far, high: far, label: "cost" }, { low: -most, high: most, label: "gain" });
    const beyond = 100 * most;
    const halves = {
      bounded: [[[0, 0], [far, low * far], [far, high * far]]],
      "two rays": [[[0, 0], [far, high * far], [far, beyond], [0, beyond]], [[0, 0], [far, low * far], [far, -beyond], [0, -beyond]]],
      "whole line": [[[0, beyond], [far, beyond], [far, -beyond], [0, -beyond]]],
    }[kind];
    for (const half of halves) for (const side of [1, -1]) area(half.map(([a, b]) => [side * a, side * b]), "area");
    line([[-far, 0], [far, 0]], "axis");
    line([[0, -most], [0, most]], "axis");
    const [along, across] = [Math.sqrt(zz), yz / Math.sqrt(zz || 1)];
    const up = Math.sqrt(Math.max(0, yy - across * across));
    area(Array.from({ length: 73 }, (_, step) => (step * Math.PI) / 36).map((turn) => [cost + along * Math.cos(turn), gain + across * Math.cos(turn) + up * Math.sin(turn)]), "result");
    add("circle", { cx: x(cost), cy: y(gain), r: 4, class: "dot" });
    return svg;
  },
};
