// Contradictions as a task declares them. tests/widgets/test_contradictions.py tries those of the tasks of ragnb.

import assert from "node:assert/strict";
import { test } from "node:test";

import { contradictionsOf } from "../src/contradictions.mjs";

const KEYS = ["a", "b"];
const FIELDS = [
  { name: "refusal", each: false },
  { name: "grade", each: false },
  { name: "chosen", each: false },
  { name: "useful", each: false },
  { name: "claim", each: true },
  { name: "reasons", each: true },
];

function task(contradiction) {
  const empty = { message: "!", labels: {}, some: {}, every: {}, chosen: "", not_chosen: "" };
  return { fields: FIELDS, contradictions: [{ ...empty, ...contradiction }] };
}

test("labels of the whole item contradict each other if all of them are there", () => {
  const refusal = task({ message: "a refusal is no good answer", labels: { refusal: [true], grade: [3, 4] } });
  const cases = [
    [{ refusal: true, grade: 4 }, ["a refusal is no good answer"]],
    [{ refusal: true, grade: 2 }, []],
    [{ refusal: false, grade: 4 }, []],
    [{ refusal: true }, []],
    [{}, []],
  ];
  for (const [values, messages] of cases) {assert.deepEqual(contradictionsOf(refusal, values, KEYS), messages);}
});

test("true and 1 are different labels", () => {
  assert.deepEqual(contradictionsOf(task({ labels: { refusal: [1] } }), { refusal: true }, KEYS), []);
});

test("labels that are asked of each sentence are compared sentence by sentence, in the order of the text", () => {
  const reasons = task({ message: "[{}] has no reason", labels: { claim: ["good"], reasons: "none" } });
  const values = { claim: { b: "good", a: "good" }, reasons: { b: [], a: [] } };
  assert.deepEqual(contradictionsOf(reasons, values, KEYS), ["[a] has no reason", "[b] has no reason"]);
  values.reasons.a = ["0a"];
  assert.deepEqual(contradictionsOf(reasons, values, KEYS), ["[b] has no reason"]);
  delete values.claim.b;
  assert.deepEqual(contradictionsOf(reasons, values, KEYS), []);
});

test("a label of the whole item can contradict that of a sentence, and one message is shown once", () => {
  const both = task({ labels: { refusal: [true], claim: ["good"] } });
  assert.deepEqual(contradictionsOf(both, { refusal: true, claim: { a: "good", b: "good" } }, KEYS), ["!"]);
});

test("some and every sentence are examined when all are labelled", () => {
  const some = task({ labels: { refusal: [true] }, some: { claim: ["bad"] } });
  const every = task({ labels: { refusal: [true] }, every: { claim: ["bad", "odd"] } });
  const cases = [
    [{ a: "bad", b: "good" }, 1, 0],
    [{ a: "bad", b: "odd" }, 1, 1],
    [{ a: "good", b: "good" }, 0, 0],
    [{ a: "bad" }, 0, 0],
    [undefined, 0, 0],
  ];
  for (const [claim, someCount, everyCount] of cases) {
    const values = claim === undefined ? { refusal: true } : { refusal: true, claim };
    assert.equal(contradictionsOf(some, values, KEYS).length, someCount);
    assert.equal(contradictionsOf(every, values, KEYS).length, everyCount);
  }
  assert.deepEqual(contradictionsOf(every, { refusal: true, claim: {} }, []), [], "without a sentence, there is none");
});

test("a sentence that is chosen in one field and not in another", () => {
  const useful = task({ message: "[{}] is chosen, yet not useful", chosen: "chosen", not_chosen: "useful" });
  const cases = [
    [{ chosen: ["0b", "0a"], useful: ["0a"] }, ["[0b] is chosen, yet not useful"]],
    [{ chosen: ["0a"], useful: [] }, ["[0a] is chosen, yet not useful"]],
    [{ chosen: ["0a"] }, []],
    [{ useful: ["0a"] }, []],
  ];
  for (const [values, messages] of cases) {assert.deepEqual(contradictionsOf(useful, values, KEYS), messages);}
});

test("keys and names that mean something to JavaScript are texts", () => {
  const useful = task({ message: "{} and {}", chosen: "chosen", not_chosen: "useful" });
  assert.deepEqual(contradictionsOf(useful, { chosen: ["$&"], useful: [] }, KEYS), ["$& and $&"]);
  const odd = { fields: [{ name: "constructor", each: false }], contradictions: [{ ...task({}).contradictions[0], labels: { constructor: ["x"] } }] };
  assert.deepEqual(contradictionsOf(odd, {}, KEYS), []);
  assert.deepEqual(contradictionsOf(odd, { constructor: "x" }, KEYS), ["!"]);
});
