// The desk without a page: inputs, links, printed numbers, and statistics with published values. The numbers of the page are compared
// with those of Python in tests/browser/test_desk.py.

import assert from "node:assert/strict";
import test from "node:test";
import { betaShare, binomialProbability, binomialShare, normalQuantile, tPower, tQuantile } from "../src/desk/distributions.mjs";
import { ceil, floor, fraction, isAbove, isWhole, minus, over, plus, times, toNumber } from "../src/desk/fractions.mjs";
import { asShare, readField, readLink, writeLink } from "../src/desk/inputs.mjs";
import { fixed, general, pValue, percent } from "../src/desk/printed.mjs";
import { GROUPS } from "../src/desk/questions.mjs";
import { checkMean, exactP, fiellerSet, mcnemarBounds, midP, rateInterval, tangoInterval } from "../src/desk/statistics.mjs";

const near = (actual, expected, error = 1e-12) =>
  assert.ok(Math.abs(actual - expected) <= error * Math.max(1, Math.abs(expected)), `${actual} is not ${expected}`);

test("quantiles are those of printed tables", () => {
  near(normalQuantile(0.975), 1.959963984540054);
  near(normalQuantile(0.9995), 3.290526731491926);
  near(normalQuantile(0.25), -0.6744897501960817);
  near(tQuantile(0.975, 1), Math.tan(0.475 * Math.PI));
  near(tQuantile(0.975, 30), 2.0422724563012373);
  near(tQuantile(0.995, 999_999), 2.5758333, 1e-5);
});

test("the beta function is a binomial tail, and exact where it is a power", () => {
  near(betaShare(1, 5, 0.3), 1 - 0.7 ** 5);
  near(betaShare(5, 1, 0.3), 0.3 ** 5);
  near(betaShare(0.5, 0.5, 0.25), 1 / 3); // 2 / pi * asin(sqrt(x))
  assert.deepEqual([betaShare(2, 3, 0), betaShare(2, 3, 1)], [0, 1]);
  let sum = 0;
  for (let k = 0; k <= 20; k += 1) {
    sum += binomialProbability(k, 40, 0.45);
    near(binomialShare(k, 40, 0.45), sum);
  }
  assert.deepEqual([binomialShare(-1, 4, 0.5), binomialShare(4, 4, 0.5)], [0, 1]);
  assert.deepEqual([binomialProbability(0, 3, 0), binomialProbability(3, 3, 1), binomialProbability(2, 3, 1)], [1, 1, 0]);
});

test("without a difference the power of a t-test is its level", () => {
  near(tPower(0, 12, 0.95), 0.05, 1e-10);
  // Cohen (1988), table 2.3.5 for dependent samples: d_z = 0.5, n = 34 has power 0.81.
  near(tPower(0.5 * Math.sqrt(34), 33, 0.95), 0.8077775, 1e-6);
});

test("numbers are printed as Python prints them", () => {
  // The second number of each pair is format(x, ".3f") and so on in Python.
  const pairs = [
    [fixed(0.0625, 3), "0.062"], [fixed(0.1875, 3), "0.188"], [fixed(0.0005, 3), "0.001"], [fixed(2.5, 0), "2"], [fixed(3.5, 0), "4"],
    [fixed(-0.0001, 3), "0.000"], [fixed(-1.5, 1), "-1.5"], [fixed(NaN, 3), "nan"], [fixed(-Infinity, 3), "-inf"],
    [general(0.00001234567, 4), "1.235e-05"], [general(123456, 4), "1.235e+05"], [general(0.5, 4), "0.5"], [general(-0, 4), "0"],
    [general(100), "100"], [general(1e6), "1e+06"], [general(9.9996, 4), "10"], [general(Infinity), "inf"],
    [percent(0.95), "95%"], [percent(0.999), "99.9%"],
    [pValue(0.03125), "p = 0.0312"], [pValue(0.34375), "p = 0.3438"], [pValue(2e-5), "p = 2e-05"], [pValue(1e-40), "p < 1e-12"],
    [pValue(NaN), "p undefined"],
  ]; // prettier-ignore
  for (const [actual, expected] of pairs) {
    assert.equal(actual, expected);
  }
});

test("fractions are exact", () => {
  const third = over(fraction("1"), fraction("3"));
  assert.ok(isWhole(times(third, fraction("3"))) && !isWhole(third));
  assert.equal(toNumber(plus(fraction("0.1"), fraction(".2"))), 0.3);
  assert.equal(toNumber(minus(fraction("1e-3"), fraction("2e1"))), -19.999);
  assert.deepEqual([floor(fraction("-1.5")), ceil(fraction("-1.5")), floor(fraction("2")), ceil(fraction("2.1"))], [-2, -1, 2, 3]);
  assert.ok(isAbove(fraction("0.3"), fraction("0.29")) && !isAbove(fraction("3."), fraction("3")));
  assert.equal(toNumber(over(fraction("1"), fraction("-4"))), -0.25);
});

test("published intervals", () => {
  // Newcombe (1998), table I: 81 of 263, methods 3 and 5.
  const limits = (method) => ["low", "high"].map((end) => fixed(rateInterval(81, 263, method, 0.95)[end], 4));
  assert.deepEqual(limits("wilson"), ["0.2553", "0.3662"]);
  assert.deepEqual(limits("clopper-pearson"), ["0.2527", "0.3676"]);
  // The airway data of Fagerland et al. (2013): 1, 1, 7, 12.
  assert.equal(fixed(midP(1, 7), 3), "0.039");
  assert.equal(fixed(exactP(1, 7), 3), "0.070");
  const tango = tangoInterval({ both: 1, firstOnly: 1, secondOnly: 7, neither: 12 }, 0.95);
  assert.deepEqual([fixed(tango.low, 3), fixed(tango.high, 3)], ["-0.517", "-0.026"]);
});

test("exact p-values of few fair coins", () => {
  assert.equal(exactP(5, 0), 1 / 16);
  assert.equal(midP(5, 0), 1 / 32);
  assert.equal(midP(3, 6), 11 / 32);
  assert.equal(midP(0, 0), 1);
  assert.equal(exactP(4, 4), 1);
  assert.deepEqual(mcnemarBounds(7, 3, 11), [1 / 8, 11 / 32]);
});

test("a mean is possible or not, as Brown and Heathers (2017) say", () => {
  const isPossible = (mean, n) => checkMean(mean, n, null, "1", ["1", "7"]).meanIsPossible;
  assert.deepEqual([isPossible("5.19", 28), isPossible("5.18", 28), isPossible("3.45", 20), isPossible("3.47", 20)], [false, true, true, false]);
});

test("the three kinds of Fieller's set, and no set", () => {
  const kind = (...values) => fiellerSet(...values, 0.95).kind;
  assert.equal(kind(1, 1, 5, 1, 0, 20), "bounded");
  assert.equal(kind(5, 1, 0.1, 1, 0, 20), "two rays");
  assert.equal(kind(0.1, 1, 0.1, 1, 0, 20), "whole line");
  assert.equal(kind(1, 0, 0, 0, 0, 20), "undefined");
  assert.equal(kind(2, 0.5, 4, 1, 1, 20), "undefined");
  assert.equal(kind(1, 1, 5, 1, 0, 1), "undefined");
});

const FIELD = { name: "n", label: "n", noun: "the number of items", kind: "size", example: "1" };

test("what people type is read, or explained in a sentence", () => {
  const read = (text, kind = "size", more = {}) => readField({ ...FIELD, kind, ...more }, text);
  assert.deepEqual(read(" 12 ").input, { value: 12, text: "12" });
  assert.deepEqual(read("\u22120.5", "number").input, { value: -0.5, text: "-0.5" });
  assert.deepEqual(read("0.50", "printed").input, { value: 0.5, text: "0.50" });
  assert.deepEqual(read("95%", "level").input, { value: 95, text: "95" });
  assert.equal(read("  ").problem, "Enter the number of items.");
  assert.match(read("1.000,5", "number").problem, /^Write numbers with a decimal point and without commas or spaces: “1.000,5” has one/);
  assert.match(read("1 000", "number").problem, /“1 000” has one/);
  assert.equal(read("0").problem, "The number of items must be a whole number of at least 1, got 0.");
  assert.equal(read("1.5", "count").problem, "The number of items must be a whole number of at least 0, got 1.5.");
  assert.equal(read("11", "size", { most: 10 }).problem, "The number of items must be at most 10, got 11.");
  assert.equal(read("100", "level").problem, "The number of items must be between 1 and 99.99, got 100.");
  assert.equal(read("50%", "number").problem, "“50%” is not a number. Enter the number of items.");
  for (const odd of ["NaN", "Infinity", "0x10", "1e999", "--1", "1e", "९"]) {
    assert.match(read(odd, "number").problem, /is not a number/);
  }
  assert.equal(read("x".repeat(1000)).problem.length, 30 + "“…” is not a number. Enter the number of items.".length);
});

test("a percentage becomes a share without rounding error", () => {
  assert.deepEqual(asShare({ value: 99.9, text: "99.9" }), { value: 0.999, text: "0.999" });
  assert.equal(asShare({ value: 7, text: "7" }).text, "0.07");
});

test("a link that is written is read", () => {
  const texts = [["k", "3"], ["n", "a&b=c d%"]];
  const { id, texts: read } = readLink(writeLink("share", texts));
  assert.equal(id, "share");
  assert.deepEqual([...read], texts);
  assert.equal(readLink("#"), null);
  assert.deepEqual([...readLink("#%F0%?%").texts.keys()], ["%"]);
});

test("each question answers its example with two lines of Python", () => {
  const ids = new Set();
  for (const { fields, check, answer, id } of GROUPS.flatMap((group) => group.questions)) {
    ids.add(id);
    const inputs = Object.fromEntries(fields.map((field) => [field.name, readField(field, field.example).input]));
    assert.equal(check(inputs), "");
    const { sentences, lines, python } = answer(inputs);
    assert.ok(sentences.length && lines.length);
    assert.equal(python.length, 2);
    assert.match(python[0], /^from ragnb\.stats import [A-Z_a-z, ]+$/);
  }
  assert.equal(ids.size, 10);
});
