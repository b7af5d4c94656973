// TRACe: which sentences are relevant, used and unsupported, and the four numbers that follow.

import { node } from "./dom.mjs";
import { fixed, heading, toggles } from "./explorable.mjs";

const count = (from, chosen) => from.filter(([key]) => chosen.includes(key)).length;
const are = (number, what) => `${number || "none"} ${number === 1 ? "is" : "are"} ${what}`;

export const trace = {
  state: ({ relevant, used, unsupported }) => ({ relevant, used, unsupported }),

  controls: ({ question, context, response }) => [
    heading(question),
    heading("Context"),
    ...context.map((sentence) => toggles(sentence, { relevant: "relevant", used: "used" })),
    heading("Response"),
    ...response.map((sentence) => toggles(sentence, { unsupported: "unsupported" })),
  ],

  numbers({ context, response }, { relevant, used, unsupported }) {
    const both = relevant.filter((key) => used.includes(key));
    const [n, r, u, common] = [context.length, ...[relevant, used, both].map((chosen) => count(context, chosen))];
    const wrong = count(response, unsupported);
    return { n, r, u, common, wrong, relevance: r / n, utilization: u / n, completeness: r ? common / r : 1, adherence: wrong ? 0 : 1 };
  },

  sentence({ response }, state, { n, r, u, common, wrong, relevance, utilization, completeness, adherence }) {
    const complete = r ? `Of the relevant ones ${are(common, "used")} (completeness ${fixed(completeness, 2)}).` : "Without a relevant sentence, RAGBench sets completeness to 1.";
    return `Of ${n} context sentences ${are(r, "relevant")} (relevance ${fixed(relevance, 2)}) and ${are(u, "used")} (utilization ${fixed(utilization, 2)}). ` +
      `${complete} Of ${response.length} response sentences ${are(wrong, "unsupported")}, so adherence is ${adherence}.`;
  },

  draw: (data, state, { relevance, utilization, completeness, adherence }) =>
    Object.entries({ relevance, utilization, completeness, adherence }).map(([name, value]) =>
      node("div", { class: "meter", "aria-hidden": "true" }, node("span", {}, name), node("div", {}, node("div", { style: `width:${100 * value}%` })), node("span", {}, fixed(value, 2)))),
};
