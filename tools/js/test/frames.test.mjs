// Which frame an explorable shows, and the sentence of a scene that has none.

import assert from "node:assert/strict";
import { test } from "node:test";

import { countedFrame, framePosition } from "../src/frames.mjs";

test("positions count as numpy's ravel_multi_index: the last control changes fastest", () => {
  const values = ["x", "y", "z"];
  assert.equal(framePosition([]), 0);
  const positions = [];
  for (const first of [0, 1]) {
    for (const second of [0, 1, 2]) {
      positions.push(framePosition([{ values: ["a", "b"], at: first }, { values, at: second }]));
    }
  }
  assert.deepEqual(positions, [0, 1, 2, 3, 4, 5]);
});

const control = (label, key, at) => ({ label, key, at });
const COUNTS = {
  meters: [
    { name: "size", table: { labels: ["red"], entries: [["none", "0", 0], ["one", "0.5", 0.5], ["two", "1", 1]] } },
    {
      name: "overlap",
      table: {
        labels: ["red"],
        entries: [
          { labels: ["round"], entries: [["no red, no round", "1", 1], ["no red, but round", "0", 0]] },
          { labels: ["red", "round"], entries: [["no both", "0", 0], ["both", "0.001", 0.001]] },
        ],
      },
    },
  ],
  average: "mean {}",
};

test("each meter depends on how many texts have all labels of its table", () => {
  const cases = [
    [[0, 0, 0], "none no red, no round mean 0.500", [["size", "0"], ["overlap", "1"]]],
    [[0, 0, 1], "none no red, but round mean 0.000", [["size", "0"], ["overlap", "0"]]],
    [[1, 0, 1], "one no both mean 0.250", [["size", "0.5"], ["overlap", "0"]]],
    [[1, 1, 0], "one both mean 0.251", [["size", "0.5"], ["overlap", "0.001"]]],
  ];
  for (const [[red, roundOfSame, roundOfOther], sentence, meters] of cases) {
    const controls = [control("red", "[a]", red), control("round", "[a]", roundOfSame), control("round", "[b]", roundOfOther)];
    assert.deepEqual(countedFrame(COUNTS, controls), { sentence, lines: [], meters });
  }
});
