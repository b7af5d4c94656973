// Long lists of which only some rows are drawn: which, where to scroll, and what to ask for.

import assert from "node:assert/strict";
import test from "node:test";

import { revealed, windowOf } from "../src/list.mjs";
import { missingRows } from "../src/rows.mjs";

const ROW = 46;

test("the window holds what is seen and some more, and stays inside the list", () => {
  assert.deepEqual(windowOf(0, 10 * ROW, ROW, 1000, 5), [0, 15]);
  assert.deepEqual(windowOf(100 * ROW + 1, 10 * ROW, ROW, 1000, 0), [100, 111]);
  assert.deepEqual(windowOf(990 * ROW, 10 * ROW, ROW, 1000, 5), [985, 1000]);
  assert.deepEqual(windowOf(0, 10 * ROW, ROW, 0, 6), [0, 0]);
  assert.deepEqual(windowOf(900 * ROW, 10 * ROW, ROW, 3, 6), [3, 3]);
});

test("a row is scrolled to by as little as it takes", () => {
  const cases = [[3, 0, 0], [10, 0, ROW], [2, 5 * ROW, 2 * ROW], [7, 5 * ROW, 5 * ROW], [0, 5 * ROW, 0]];
  for (const [position, scrollTop, expected] of cases) {assert.equal(revealed(position, scrollTop, 10 * ROW, ROW), expected);}
});

test("only what is not known yet is asked for", () => {
  const known = new Map([[0, 1], [1, 1], [2, 1], [6, 1]]);
  assert.deepEqual(missingRows(known, [0, 7]), [3, 6]);
  assert.equal(missingRows(known, [0, 3]), null);
});
