// The words of some searches of the list of rows. Run by test_frame_view.py, which writes both as JSON.

import { readFileSync } from "node:fs";

import { wordsBesidesComparisons } from "../src/rows.mjs";

const { searches, numbers } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(searches.map((search) => wordsBesidesComparisons(search, numbers))));
