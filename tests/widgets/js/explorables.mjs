// Computes numbers and sentences of explorables: reads a list of [name, data, state] and prints a list of results.

import { readFileSync } from "node:fs";

import { conformal } from "../../../ragnb/widgets/static/src/explore_conformal.mjs";
import { fieller } from "../../../ragnb/widgets/static/src/explore_fieller.mjs";
import { judge } from "../../../ragnb/widgets/static/src/explore_judge.mjs";
import { mcnemar } from "../../../ragnb/widgets/static/src/explore_mcnemar.mjs";
import { noise } from "../../../ragnb/widgets/static/src/explore_noise.mjs";
import { permutation } from "../../../ragnb/widgets/static/src/explore_permutation.mjs";
import { power } from "../../../ragnb/widgets/static/src/explore_power.mjs";
import { trace } from "../../../ragnb/widgets/static/src/explore_trace.mjs";

const EXPLORABLES = { conformal, fieller, judge, mcnemar, noise, permutation, power, trace };
const results = JSON.parse(readFileSync(0, "utf-8")).map(([name, data, state]) => {
  const { numbers, sentence, ...explorable } = EXPLORABLES[name];
  const set = { ...explorable.state(data), ...state };
  const found = numbers(data, set);
  return { ...found, sentence: sentence(data, set, found) };
});
process.stdout.write(JSON.stringify(results));
