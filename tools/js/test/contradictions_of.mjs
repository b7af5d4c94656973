// The contradictions in some labels of a task. Run by test_contradictions.py, which writes both as JSON.

import { readFileSync } from "node:fs";

import { contradictionsOf } from "../src/contradictions.mjs";

const { task, keys, labels } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(labels.map((values) => contradictionsOf(task, values, keys))));
