// The statistics of the desk. Each function computes what the function of ragnb.stats with a similar name computes, and the
// tests compare the printed results.

import {
  betaQuantile,
  binomialProbability,
  binomialShare,
  bisect,
  normalQuantile,
  tPower,
  tQuantile,
} from "./distributions.mjs";
import * as exact from "./fractions.mjs";
import { fixed, general, percent, pValue } from "./printed.mjs";

/**
 * @typedef {object} Interval
 * @property {number} estimate
 * @property {number} low NaN if undefined
 * @property {number} high
 * @property {number} level
 * @property {string} method
 * @property {number} n
 * @property {string} [problem] why the limits are undefined
 */

/**
 * @param {Interval} interval
 * @returns {string}
 */
export function printedInterval({ estimate, low, high, ...basis }) {
  return `${fixed(estimate, 3)} [${fixed(low, 3)}, ${fixed(high, 3)}] (${basisOf(basis)})`;
}

/**
 * @param {{level: number, method: string, n: number, problem?: string}} interval
 * @returns {string}
 */
function basisOf({ level, method, n, problem }) {
  return `${percent(level)} ${method}${problem ? `; undefined: ${problem}` : ""}, n = ${n}`;
}

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 * @returns {number}
 */
const clip = (value, low, high) => Math.min(Math.max(value, low), high);

// ---- rates and means -----------------------------------------------------------------------------

/** @typedef {"wilson" | "clopper-pearson" | "jeffreys" | "wald"} RateMethod */

/** @type {Record<RateMethod, string>} */
export const RATE_METHODS = {
  wilson: "Wilson",
  "clopper-pearson": "Clopper-Pearson",
  jeffreys: "Jeffreys",
  wald: "Wald (for comparison only)",
};

/**
 * @param {number} successes
 * @param {number} n at least 1
 * @param {RateMethod} method
 * @param {number} level
 * @returns {Interval}
 */
export function rateInterval(successes, n, method, level) {
  const [low, high] = rateLimits(successes, n, method, (1 - level) / 2);
  return {
    estimate: successes / n,
    low: successes ? low : 0,
    high: successes < n ? high : 1,
    level,
    method: RATE_METHODS[method],
    n,
  };
}

/**
 * @param {number} k
 * @param {number} n
 * @param {RateMethod} method
 * @param {number} tail
 * @returns {[number, number]}
 */
function rateLimits(k, n, method, tail) {
  const failures = n - k;
  if (method === "clopper-pearson") {
    return [k ? betaQuantile(tail, k, failures + 1) : 0, failures ? 1 - betaQuantile(tail, failures, k + 1) : 1];
  }
  if (method === "jeffreys") {
    return [betaQuantile(tail, k + 0.5, failures + 0.5), 1 - betaQuantile(tail, failures + 0.5, k + 0.5)];
  }
  const [rate, z] = [k / n, normalQuantile(1 - tail)];
  if (method === "wald") {
    const half = z * Math.sqrt((rate * (1 - rate)) / n);
    return [clip(rate - half, 0, 1), clip(rate + half, 0, 1)];
  }
  const scale = 1 + (z * z) / n;
  const centre = (rate + (z * z) / (2 * n)) / scale;
  const half = (z * Math.sqrt((rate * (1 - rate)) / n + (z * z) / (4 * n * n))) / scale;
  return [clip(centre - half, 0, 1), clip(centre + half, 0, 1)];
}

/**
 * @param {number} mean
 * @param {number} sd
 * @param {number} n
 * @param {[number, number]} bounds
 * @param {number} level
 * @returns {Interval}
 */
export function meanInterval(mean, sd, n, bounds, level) {
  const [lowest, highest] = bounds;
  if (n < 2 || sd === 0) {
    // Units with another value may be missing from the sample by chance: at most this share of them.
    const share = rateInterval(0, n, "wilson", level).high;
    const low = mean - share * (mean - lowest);
    const high = mean + share * (highest - mean);
    const method = bounds.includes(mean) ? "Wilson" : "Wilson for equal values";
    return { estimate: mean, low: Math.max(low, lowest), high: Math.min(high, highest), level, method, n };
  }
  const half = (tQuantile((1 + level) / 2, n - 1) * sd) / Math.sqrt(n);
  return { estimate: mean, low: Math.max(mean - half, lowest), high: Math.min(mean + half, highest), level, method: "t", n };
}

// ---- is a published mean possible? ---------------------------------------------------------------

/**
 * @typedef {object} MeanCheck
 * @property {string} mean
 * @property {number} n
 * @property {boolean} meanIsPossible
 * @property {[number, number]} totals
 * @property {string | null} sd
 * @property {"n - 1" | "n" | "none" | null} divisor with which the standard deviation is possible
 * @property {[number, number]} sdRange
 * @property {[number, number]} populationSdRange
 */

/**
 * @param {string} mean as it is printed, with or without %
 * @param {number} n
 * @param {string | null} sd as it is printed
 * @param {string} step
 * @param {[string, string]} bounds their difference is a multiple of the step
 * @returns {MeanCheck}
 */
export function checkMean(mean, n, sd, step, bounds) {
  const printed = printedNumber(mean);
  const [lowest, highest, width] = [...bounds, step].map(exact.fraction);
  const count = exact.fraction(String(n));
  const nSteps = exact.floor(exact.over(exact.minus(highest, lowest), width));
  // Totals are counted in steps above n times the lowest score.
  const place = exact.over(exact.times(exact.minus(printed.value, lowest), count), width);
  const reach = exact.over(exact.times(printed.halfUnit, count), width);
  let first = Math.max(0, exact.ceil(exact.minus(place, reach)));
  let last = Math.min(n * nSteps, exact.floor(exact.plus(place, reach)));
  const meanIsPossible = first <= last;
  if (!meanIsPossible) {
    [first, last] = [exact.floor(place), exact.ceil(place)];
  }
  const total = (/** @type {number} */ steps) =>
    exact.toNumber(exact.plus(exact.times(count, lowest), exact.times(exact.fraction(String(steps)), width)));
  /** @type {MeanCheck} */
  const check = {
    mean,
    n,
    meanIsPossible,
    totals: [total(first), total(last)],
    sd,
    divisor: null,
    sdRange: [NaN, NaN],
    populationSdRange: [NaN, NaN],
  };
  if (sd === null || !meanIsPossible) {
    return check;
  }
  const [smallest, largest] = extremeSquares(first, last, n, nSteps);
  const scale = Number(step);
  const sdsWith = (/** @type {number} */ divisor) =>
    /** @type {[number, number]} */ ([smallest, largest].map((squares) => (Math.sqrt(squares) * scale) / Math.sqrt(divisor)));
  check.sdRange = sdsWith(n - 1);
  check.populationSdRange = sdsWith(n);
  check.divisor = isNear(sd, check.sdRange) ? "n - 1" : isNear(sd, check.populationSdRange) ? "n" : "none";
  return check;
}

/**
 * Smallest and largest sum of squared deviations of n whole numbers from 0 to `nSteps`, over their possible totals.
 * @param {number} first
 * @param {number} last
 * @param {number} n
 * @param {number} nSteps
 * @returns {[number, number]}
 */
function extremeSquares(first, last, n, nSteps) {
  let [smallest, largest] = [Infinity, 0];
  for (let total = first; total <= last; total += 1) {
    const nAbove = total % n;
    const least = (nAbove * (n - nAbove)) / n;
    const atTop = Math.floor(total / nSteps);
    const rest = total - atTop * nSteps;
    smallest = Math.min(smallest, least);
    largest = Math.max(largest, least, atTop * nSteps ** 2 + rest ** 2 - total ** 2 / n);
  }
  return [smallest, largest];
}

/**
 * @param {string} text
 * @returns {{value: exact.Fraction, halfUnit: exact.Fraction}}
 */
function printedNumber(text) {
  const scale = exact.fraction(text.endsWith("%") ? "100" : "1");
  const value = exact.fraction(text.replace(/ ?%$/, ""));
  const halfUnit = exact.over(exact.fraction(`5e-${decimals(text) + 1}`), scale);
  return { value: exact.over(value, scale), halfUnit };
}

/**
 * @param {string} text
 * @returns {number}
 */
function decimals(text) {
  return (text.replace(/ ?%$/, "").split(".")[1] ?? "").length;
}

/**
 * @param {string} sd
 * @param {[number, number]} limits
 * @returns {boolean}
 */
function isNear(sd, [low, high]) {
  const { value, halfUnit } = printedNumber(sd);
  const [number, half] = [exact.toNumber(value), exact.toNumber(halfUnit)];
  const margin = 1e-12 * Math.max(1, high);
  return low - margin <= number + half && number - half <= high + margin;
}

/**
 * @param {MeanCheck} check
 * @returns {string}
 */
export function printedCheck({ mean, n, meanIsPossible, totals, sd, divisor, sdRange, populationSdRange }) {
  if (!meanIsPossible) {
    const nearest = totals.map((total) => `${general(total, 12)} (${printedMean(mean, n, total)})`);
    return `${mean} is not a possible mean of ${n} scores: the nearest totals are ${nearest.join(" and ")}`;
  }
  const [low, high] = totals.map((total) => general(total, 12));
  const text = `${mean} is a possible mean of ${n} scores: their total is ${low === high ? low : `from ${low} to ${high}`}`;
  if (divisor === null) {
    return text;
  }
  const range = (/** @type {[number, number]} */ [least, most]) => `${fixed(least, 3)} to ${fixed(most, 3)}`;
  if (divisor === "none") {
    return `${text}; an sd of ${sd} is not possible (${range(sdRange)})`;
  }
  if (divisor === "n - 1") {
    return `${text}; an sd of ${sd} is possible (${range(sdRange)})`;
  }
  return (
    `${text}; an sd of ${sd} is possible only with the divisor n (${range(populationSdRange)}), ` +
    `not with n - 1 (${range(sdRange)})`
  );
}

/**
 * The mean of a total, with one more decimal than the published mean.
 * @param {string} mean
 * @param {number} n
 * @param {number} total
 * @returns {string}
 */
function printedMean(mean, n, total) {
  const isPercent = mean.endsWith("%");
  return `${fixed((total / n) * (isPercent ? 100 : 1), decimals(mean) + 1)}${isPercent ? "%" : ""}`;
}

// ---- how many items? -----------------------------------------------------------------------------

/**
 * @typedef {object} SizePlan
 * @property {number} nItems
 * @property {number} nUnits
 * @property {number} power
 * @property {number} effect
 * @property {string} method
 * @property {number} level
 */

export const MOST_UNITS = 1_000_000;
export const MOST_MCNEMAR_ITEMS = 100_000;

/**
 * @param {SizePlan} plan
 * @returns {string}
 */
export function printedPlan({ nItems, nUnits, power, effect, method, level }) {
  const items = `${nItems} item${nItems > 1 ? "s" : ""}${nUnits === nItems ? "" : ` in ${nUnits} clusters`}`;
  return `${items} for power ${fixed(power, 3)} at a difference of ${general(effect)} (${percent(level)} ${method})`;
}

/**
 * A number that is enough although the one before it is not, by doubling and bisection; null if none up to `most` is.
 * @param {function(number): boolean} isEnough
 * @param {number} least
 * @param {number} most
 * @returns {number | null}
 */
function firstWith(isEnough, least, most) {
  let [low, high] = [least - 1, least];
  while (!isEnough(high)) {
    if (high === most) {
      return null;
    }
    [low, high] = [high, Math.min(2 * high, most)];
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return high;
}

/**
 * @param {number} effect
 * @param {number} sd of the paired differences
 * @param {number} clusterSize
 * @param {number} icc
 * @param {number} level
 * @param {number} power
 * @returns {SizePlan | null} null if more than a million are needed
 */
export function tSize(effect, sd, clusterSize, icc, level, power) {
  const unitSd = sd * Math.sqrt((1 + (clusterSize - 1) * icc) / clusterSize);
  const powerWith = (/** @type {number} */ n) => tPower((effect * Math.sqrt(n)) / unitSd, n - 1, level);
  const nUnits = firstWith((n) => powerWith(n) >= power, 2, MOST_UNITS);
  if (nUnits === null) {
    return null;
  }
  const method = clusterSize === 1 ? "paired t-test" : "cluster-robust t-test";
  return { nItems: nUnits * clusterSize, nUnits, power: powerWith(nUnits), effect, method, level };
}

/**
 * @param {number} effect
 * @param {number} discordance
 * @param {number} level
 * @param {number} power
 * @returns {SizePlan | null} null if more than 100,000 are needed
 */
export function mcnemarSize(effect, discordance, level, power) {
  const psi = Math.max(discordance, effect);
  const rejection = rejectionProbabilities((psi + effect) / 2 / psi, level);
  const powerWith = (/** @type {number} */ n) => {
    const reach = 8 * Math.sqrt(n * psi * (1 - psi)) + 20; // Counts beyond have a probability below 1e-13.
    let sum = 0;
    const last = Math.min(n, Math.ceil(n * psi + reach));
    for (let m = Math.max(0, Math.floor(n * psi - reach)); m <= last; m += 1) {
      const rejected = rejection(m);
      sum += rejected ? rejected * binomialProbability(m, n, psi) : 0;
    }
    return sum;
  };
  const enough = firstWith((n) => powerWith(n) >= power, 1, MOST_MCNEMAR_ITEMS);
  if (enough === null) {
    return null;
  }
  // The power does not increase with each item: look for a smaller number.
  let n = Math.max(1, Math.floor(0.9 * enough) - 50);
  while (n < enough && powerWith(n) < power) {
    n += 1;
  }
  return { nItems: n, nUnits: n, power: powerWith(n), effect, method: "McNemar mid-p", level };
}

/**
 * Probability that the mid-p test rejects, by the number of discordant items.
 * @param {number} share probability that the better system is the correct one on a discordant item
 * @param {number} level
 * @returns {function(number): number}
 */
function rejectionProbabilities(share, level) {
  const z = normalQuantile((1 + level) / 2);
  /** @type {Map<number, number>} */
  const known = new Map();
  return (m) => {
    let rejected = known.get(m);
    if (rejected === undefined) {
      const critical = criticalCount(m, z, level);
      rejected = critical < 0 ? 0 : binomialShare(critical, m, share) + binomialShare(critical, m, 1 - share);
      known.set(m, rejected);
    }
    return rejected;
  };
}

/**
 * The largest smaller discordant count with which the test rejects, or -1.
 * @param {number} m number of discordant items
 * @param {number} z
 * @param {number} level
 * @returns {number}
 */
function criticalCount(m, z, level) {
  // The normal approximation is at most 3 off.
  const normal = Math.trunc((m - z * Math.sqrt(m)) / 2);
  for (let count = Math.min(normal + 3, Math.floor(m / 2)); count >= Math.max(0, normal - 3); count -= 1) {
    if (m > 0 && midP(m - count, count) <= 1 - level) {
      return count;
    }
  }
  return -1;
}

// ---- a judge -------------------------------------------------------------------------------------

/**
 * @typedef {object} JudgeCounts
 * @property {number} truePositives
 * @property {number} positives
 * @property {number} trueNegatives
 * @property {number} negatives
 */

/**
 * @param {JudgeCounts} counts both classes occur
 * @param {number} level
 * @returns {Interval}
 */
export function youdenIndex({ truePositives, positives, trueNegatives, negatives }, level) {
  const right = rateInterval(truePositives, positives, "wilson", level);
  const wrong = rateInterval(negatives - trueNegatives, negatives, "wilson", level);
  const difference = right.estimate - wrong.estimate;
  return {
    estimate: truePositives / positives + trueNegatives / negatives - 1,
    low: difference - Math.hypot(right.estimate - right.low, wrong.high - wrong.estimate),
    high: difference + Math.hypot(wrong.estimate - wrong.low, right.high - right.estimate),
    level,
    method: "Newcombe",
    n: positives + negatives,
  };
}

/**
 * @param {number} accepted
 * @param {number} n
 * @param {JudgeCounts} counts both classes occur
 * @param {number} level
 * @returns {Interval}
 */
export function roganGladen(accepted, n, { truePositives, positives, trueNegatives, negatives }, level) {
  const interval = { level, method: "Rogan-Gladen, Lang-Reiczigel", n: positives + negatives };
  const rates = truePositives / positives + trueNegatives / negatives;
  const se = (truePositives + 1) / (positives + 2);
  const sp = (trueNegatives + 1) / (negatives + 2);
  if (Math.min(rates, se + sp) <= 1 + 1e-12) {
    return { estimate: NaN, low: NaN, high: NaN, ...interval, problem: "the judge is no better than chance" };
  }
  const estimate = (accepted / n + trueNegatives / negatives - 1) / (rates - 1);
  const seVariance = (se * (1 - se)) / (positives + 2);
  const spVariance = (sp * (1 - sp)) / (negatives + 2);
  const z2 = normalQuantile((1 + level) / 2) ** 2;
  const q = (accepted + z2 / 2) / (n + z2);
  const p = (q + sp - 1) / (se + sp - 1);
  const centre = p + 2 * z2 * (p * seVariance - (1 - p) * spVariance);
  const variance = (q * (1 - q)) / (n + z2) + p ** 2 * seVariance + (1 - p) ** 2 * spVariance;
  const half = Math.sqrt(z2 * variance) / (se + sp - 1);
  const [bounded, low, high] = [estimate, centre - half, centre + half].map((value) => clip(value, 0, 1));
  return { estimate: bounded, low, high, ...interval };
}

// ---- two systems on the same items ---------------------------------------------------------------

/**
 * @typedef {object} PairedTable
 * @property {number} both
 * @property {number} firstOnly
 * @property {number} secondOnly
 * @property {number} neither
 */

/**
 * @param {PairedTable} table with at least one item
 * @param {number} level
 * @returns {Interval}
 */
export function tangoInterval({ both, firstOnly, secondOnly, neither }, level) {
  const n = both + firstOnly + secondOnly + neither;
  const z = normalQuantile((1 + level) / 2);
  return {
    estimate: (firstOnly - secondOnly) / n,
    low: tangoLimit(firstOnly, secondOnly, n, z),
    high: -tangoLimit(secondOnly, firstOnly, n, z),
    level,
    method: "Tango",
    n,
  };
}

/**
 * Lower limit: the difference at which the score statistic equals z.
 * @param {number} b
 * @param {number} c
 * @param {number} n
 * @param {number} z
 * @returns {number}
 */
function tangoLimit(b, c, n, z) {
  return c === n ? -1 : bisect((delta) => z - tangoZ(b, c, n, delta), -1, (b - c) / n);
}

/**
 * @param {number} b
 * @param {number} c
 * @param {number} n
 * @param {number} delta
 * @returns {number}
 */
function tangoZ(b, c, n, delta) {
  const linear = -b - c + (2 * n - b + c) * delta;
  const root = Math.sqrt(Math.max(linear * linear + 8 * n * c * delta * (1 - delta), 0));
  const q = (root - linear) / (4 * n);
  const variance = n * (2 * q + delta * (1 - delta));
  const distance = b - c - n * delta;
  if (variance <= 0) {
    return distance ? Math.sign(distance) * Infinity : 0;
  }
  return distance / Math.sqrt(variance);
}

/**
 * Two-sided p-value of a list of one-sided ones.
 * @param {number} b
 * @param {number} c
 * @param {function(number, number): number} share one-sided p-value of a count out of all discordant items
 * @returns {number}
 */
function twoSided(b, c, share) {
  return b + c === 0 ? 1 : Math.min(1, 2 * Math.min(share(b, b + c), share(c, b + c)));
}

/**
 * P(X <= count) of m fair coins. For few coins it is exact, so that a p-value such as 1/32 is rounded as in Python.
 * @param {number} count
 * @param {number} m
 * @returns {number}
 */
function fairShare(count, m) {
  if (m > 50) {
    return binomialShare(count, m, 0.5);
  }
  let choices = 1;
  let sum = 0;
  for (let k = 0; k <= Math.min(count, m); k += 1) {
    sum += choices;
    choices = (choices * (m - k)) / (k + 1);
  }
  return sum / 2 ** m;
}

/**
 * @param {number} b
 * @param {number} c
 * @returns {number}
 */
export function midP(b, c) {
  return twoSided(b, c, (count, m) => (fairShare(count - 1, m) + fairShare(count, m)) / 2);
}

/**
 * @param {number} b
 * @param {number} c
 * @returns {number}
 */
export function exactP(b, c) {
  return twoSided(b, c, fairShare);
}

/**
 * @param {PairedTable} table with at least one item
 * @param {"mid-p" | "exact"} method
 * @returns {string}
 */
export function printedMcnemar({ both, firstOnly, secondOnly, neither }, method) {
  const n = both + firstOnly + secondOnly + neither;
  const p = method === "exact" ? exactP(firstOnly, secondOnly) : midP(firstOnly, secondOnly);
  const warning = firstOnly + secondOnly ? "" : "; no discordant items";
  return `statistic ${general(firstOnly, 4)}, ${pValue(p)} (McNemar ${method}, two-sided, n = ${n}${warning})`;
}

/**
 * Smallest and largest p-value that two numbers of successes allow.
 * @param {number} first
 * @param {number} second
 * @param {number} n
 * @returns {[number, number]}
 */
export function mcnemarBounds(first, second, n) {
  let [low, high] = [1, 0];
  for (let c = Math.max(0, second - first); c <= Math.min(second, n - first); c += 1) {
    const p = exactP(c + first - second, c);
    low = Math.min(low, p);
    high = Math.max(high, p);
  }
  return [low, high];
}

// ---- efficiency ----------------------------------------------------------------------------------

/**
 * @typedef {object} FiellerSet
 * @property {"bounded" | "two rays" | "whole line" | "undefined"} kind
 * @property {number} estimate
 * @property {[number, number]} limits
 * @property {number} level
 * @property {string} method
 * @property {number} n
 * @property {string} [problem]
 */

/**
 * @param {number} y mean gain
 * @param {number} sdY
 * @param {number} z mean cost
 * @param {number} sdZ
 * @param {number} correlation
 * @param {number} n
 * @param {number} level
 * @returns {FiellerSet}
 */
export function fiellerSet(y, sdY, z, sdZ, correlation, n, level) {
  const estimate = z ? y / z : NaN;
  const problem = fiellerProblem(y, sdY, z, sdZ, correlation, n);
  if (problem) {
    return { kind: "undefined", estimate, limits: [NaN, NaN], level, method: "Fieller", n, problem };
  }
  // The set (y - r z)^2 <= |dy - r dz|^2 is a r^2 - 2 b r + c <= 0.
  const scale = tQuantile((1 + level) / 2, n - 1) / Math.sqrt(n);
  const dz = scale * sdZ;
  const dyAlong = scale * sdY * correlation;
  const dyAcross = scale * sdY * Math.sqrt(1 - correlation ** 2);
  const a = z * z - dz * dz;
  const b = y * z - dyAlong * dz;
  const c = y * y - dyAlong ** 2 - dyAcross ** 2;
  const across = (z * dyAlong - y * dz) ** 2 + (z * dyAcross) ** 2;
  // The part of dy that dz does not explain, in Python's order of operations.
  const unexplained = dz ? (dyAlong - ((dyAlong * dz) / (dz * dz)) * dz) ** 2 + dyAcross ** 2 : 0;
  const discriminant = across - dz * dz * unexplained;
  if (a <= 0 && discriminant <= 0) {
    return { kind: "whole line", estimate, limits: [NaN, NaN], level, method: "Fieller, whole line", n };
  }
  const both = b + (Object.is(b, -0) || b < 0 ? -1 : 1) * Math.sqrt(Math.max(discriminant, 0));
  const roots = [a ? both / a : -Math.sign(b || 1) * Infinity, c / both].sort((r, s) => r - s);
  const limits = /** @type {[number, number]} */ (roots);
  return a > 0
    ? { kind: "bounded", estimate, limits, level, method: "Fieller", n }
    : { kind: "two rays", estimate, limits, level, method: "Fieller, two rays", n };
}

/**
 * Why there is no set; an empty text if there is one.
 * @param {number} y
 * @param {number} sdY
 * @param {number} z
 * @param {number} sdZ
 * @param {number} correlation
 * @param {number} n
 * @returns {string}
 */
function fiellerProblem(y, sdY, z, sdZ, correlation, n) {
  if (n < 2) {
    return `at least 2 items are needed, got ${n}`;
  }
  if (!z && !sdZ) {
    return "all denominators are 0";
  }
  return isOneRatio(y, sdY, z, sdZ, correlation) ? "every item has the same ratio" : "";
}

/**
 * @param {number} y
 * @param {number} sdY
 * @param {number} z
 * @param {number} sdZ
 * @param {number} correlation
 * @returns {boolean}
 */
function isOneRatio(y, sdY, z, sdZ, correlation) {
  if (!z) {
    return !y && (!sdY || Math.abs(correlation) === 1);
  }
  const ratio = y / z;
  const variance = sdY ** 2 - 2 * ratio * correlation * sdY * sdZ + (ratio * sdZ) ** 2;
  return variance <= 1e-12 * Math.max(sdY ** 2, (ratio * sdZ) ** 2);
}

/**
 * @param {FiellerSet} set
 * @returns {string}
 */
export function printedFieller({ kind, estimate, limits, ...basis }) {
  const [low, high] = kind === "whole line" ? [-Infinity, Infinity] : limits;
  const [first, second] = [low, high].map((limit) => general(limit, 4));
  const text = kind === "two rays" ? `(-inf, ${first}] or [${second}, inf)` : `[${first}, ${second}]`;
  return `${general(estimate, 4)} ${text} (${basisOf(basis)})`;
}
