// Computes numbers and sentences of explorables: reads a list of [name, data, state] and prints a list of results.

import { readFileSync } from "node:fs";

import { say, stateOf } from "../../../ragnb/widgets/static/src/explorable.mjs";
import { EXPLORABLES } from "../../../ragnb/widgets/static/src/explorables.mjs";

const results = JSON.parse(readFileSync(0, "utf-8")).map(([name, data, chosen]) => {
  const state = stateOf(EXPLORABLES[name], data, chosen);
  return { ...state, sentence: say(state) };
});
process.stdout.write(JSON.stringify(results));
