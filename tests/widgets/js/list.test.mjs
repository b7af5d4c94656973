// Long lists of which only some rows are drawn: which, and where to scroll.

import assert from "node:assert/strict";
import test from "node:test";

import { clamp, revealed, windowOf } from "../../../ragnb/widgets/static/src/list.mjs";

const ROW = 46;

test("a number is kept between two others", () => {
  assert.deepEqual([-1, 0, 3, 9, Infinity].map((value) => clamp(value, 0, 5)), [0, 0, 3, 5, 5]);
});

test("the window holds what is seen and some more, and stays inside the list", () => {
  assert.deepEqual(windowOf(0, 10 * ROW, ROW, 1000, 0), [0, 10]);
  assert.deepEqual(windowOf(0, 10 * ROW, ROW, 1000, 5), [0, 15]);
  assert.deepEqual(windowOf(100 * ROW + 1, 10 * ROW, ROW, 1000, 0), [100, 111]);
  assert.deepEqual(windowOf(990 * ROW, 10 * ROW, ROW, 1000, 5), [985, 1000]);
  assert.deepEqual(windowOf(-80, 10 * ROW, ROW, 1000, 0), [0, 10]);
  assert.deepEqual(windowOf(0, 10 * ROW, ROW, 3, 6), [0, 3]);
  assert.deepEqual(windowOf(0, 10 * ROW, ROW, 0, 6), [0, 0]);
  assert.deepEqual(windowOf(900 * ROW, 10 * ROW, ROW, 3, 6), [3, 3]);
});

test("rows of another height", () => {
  assert.deepEqual(windowOf(2800, 240, 28, 5000, 8), [92, 117]);
  assert.deepEqual(windowOf(0, 240, 28, 3, 8), [0, 3]);
  assert.deepEqual(windowOf(0, 240, 28, 0, 8), [0, 0]);
  assert.deepEqual(windowOf(1e9, 240, 28, 10, 8), [10, 10]);
});

test("the number of rows drawn does not grow with the list", () => {
  for (const count of [1e3, 1e5, 1e7]) {
    for (let scrollTop = 0; scrollTop < count * ROW; scrollTop += (count * ROW) / 97) {
      const [first, last] = windowOf(scrollTop, 480, ROW, count, 6);
      assert.ok(last - first <= Math.ceil(480 / ROW) + 1 + 12);
      assert.ok(first * ROW <= scrollTop && (last === count || last * ROW >= scrollTop + 480));
    }
  }
});

test("a row is scrolled to by as little as it takes", () => {
  assert.equal(revealed(3, 0, 10 * ROW, ROW), 0);
  assert.equal(revealed(10, 0, 10 * ROW, ROW), ROW);
  assert.equal(revealed(2, 5 * ROW, 10 * ROW, ROW), 2 * ROW);
  assert.equal(revealed(7, 5 * ROW, 10 * ROW, ROW), 5 * ROW);
  assert.equal(revealed(0, 5 * ROW, 10 * ROW, ROW), 0);
  assert.equal(revealed(0, 0, 0, ROW), 0);
});
