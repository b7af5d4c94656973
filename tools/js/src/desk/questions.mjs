// The questions of the desk: their inputs, their answers, and the two lines of Python that print the same numbers.

import * as exact from "./fractions.mjs";
import { asShare } from "./inputs.mjs";
import { fixed, general } from "./printed.mjs";
import {
  MOST_MCNEMAR_ITEMS,
  MOST_UNITS,
  RATE_METHODS,
  checkMean,
  fiellerSet,
  mcnemarBounds,
  mcnemarSize,
  meanInterval,
  printedCheck,
  printedFieller,
  printedInterval,
  printedMcnemar,
  printedPlan,
  rateInterval,
  roganGladen,
  tSize,
  tangoInterval,
  youdenIndex,
} from "./statistics.mjs";

/** @typedef {import("./inputs.mjs").Field} Field */
/** @typedef {import("./inputs.mjs").Inputs} Inputs */
/** @typedef {import("./statistics.mjs").Interval} Interval */
/** @typedef {import("./statistics.mjs").SizePlan} SizePlan */

/**
 * @typedef {object} Line one line that Python prints
 * @property {string} label what the line is about
 * @property {string} text exactly as Python prints it
 * @property {Interval} [interval] drawn as a bar
 * @property {[number, number]} [range] of the bar
 */

/**
 * @typedef {object} Answer
 * @property {string[]} sentences
 * @property {Line[]} lines
 * @property {string[]} python
 */

/**
 * @typedef {object} Question
 * @property {string} id in the link
 * @property {string} title
 * @property {string} note what to know before using the answer
 * @property {Field[]} fields
 * @property {function(Inputs): string} check a sentence if the inputs do not fit together; otherwise empty
 * @property {function(Inputs): Answer | string} answer or a sentence that says why there is none
 */

/** @typedef {{title: string, questions: Question[]}} Group */

// ---- pieces that several questions share ---------------------------------------------------------

/** @type {Field} */
const LEVEL = { name: "level", label: "Confidence level", noun: "the confidence level", kind: "level", example: "95", unit: "%" };
/** @type {Field} */
const POWER = { name: "power", label: "Power", noun: "the power", kind: "level", example: "80", unit: "%" };

/**
 * @param {string} name
 * @param {string} label
 * @param {string} example
 * @param {"count" | "size"} [kind]
 * @param {number} [most]
 * @returns {Field}
 */
function countField(name, label, example, kind = "count", most = undefined) {
  return { name, label, noun: `the number for “${label}”`, kind, example, most };
}

/**
 * @param {number} part
 * @param {number} whole
 * @param {string} sentence
 * @returns {string}
 */
function atMost(part, whole, sentence) {
  return part > whole ? `${sentence}, got ${general(part, 12)} of ${general(whole, 12)}.` : "";
}

/**
 * @param {number} share
 * @returns {string}
 */
const asPercent = (share) => `${fixed(100 * share, 1)}%`;

/**
 * @param {number} difference
 * @returns {string}
 */
const asPoints = (difference) => fixed(100 * difference, 1);

/**
 * An argument of Python that is left out if it has its default value.
 * @param {string} name
 * @param {string} value
 * @param {string} byDefault
 * @returns {string}
 */
const option = (name, value, byDefault) => (value === byDefault ? "" : `, ${name}=${value}`);

/**
 * @param {Inputs} inputs
 * @returns {{level: number, levelOption: string, stated: string}}
 */
function levelOf(inputs) {
  const { value, text } = asShare(inputs.level);
  return { level: value, levelOption: option("confidence_level", text, "0.95"), stated: `${general(100 * value)}%` };
}

/**
 * @param {Interval} interval
 * @param {string} label
 * @param {[number, number]} range
 * @returns {Line}
 */
function intervalLine(interval, label, range) {
  return { label, text: printedInterval(interval), interval, range };
}

/**
 * Python that prints several results, each in a line of its own.
 * @param {string[]} names imported from ragnb.stats
 * @param {string[]} calls
 * @returns {string[]}
 */
function python(names, calls) {
  const printed = calls.length > 1 ? `${calls.join(", ")}, sep="\\n"` : calls[0];
  return [`from ragnb.stats import ${names.join(", ")}`, `print(${printed})`];
}

// ---- check a published number --------------------------------------------------------------------

/** @type {Question} */
const share = {
  id: "share",
  title: "k of n: which interval?",
  note:
    "Wilson is the usual choice. Clopper-Pearson never covers less than it states and is wider. Jeffreys is the Bayesian " +
    "interval with a neutral prior. Many papers print the Wald interval, which is too narrow near 0% and 100%.",
  fields: [
    { name: "k", label: "Successes, k", noun: "the number of successes", kind: "count", example: "87" },
    { name: "n", label: "Items, n", noun: "the number of items", kind: "size", example: "100" },
    LEVEL,
  ],
  check: ({ k, n }) => atMost(k.value, n.value, "The number of successes must be at most the number of items"),
  answer: (inputs) => {
    const { k, n } = inputs;
    const { level, levelOption, stated } = levelOf(inputs);
    const methods = /** @type {import("./statistics.mjs").RateMethod[]} */ (Object.keys(RATE_METHODS));
    const intervals = methods.map((method) => rateInterval(k.value, n.value, method, level));
    const [wilson] = intervals;
    const names = methods.map((method) => `"${method}"`).join(", ");
    return {
      sentences: [
        `${k.text} of ${n.text} is ${asPercent(wilson.estimate)}. The ${stated} interval of Wilson is from ` +
          `${asPercent(wilson.low)} to ${asPercent(wilson.high)}.`,
      ],
      lines: intervals.map((interval) => intervalLine(interval, interval.method.split(" ")[0], [0, 1])),
      python: [
        "from ragnb.stats import rate_interval",
        `print(*(rate_interval(${k.text}, ${n.text}, method=m${levelOption}) for m in (${names})), sep="\\n")`,
      ],
    };
  },
};

/** @type {Question} */
const percentage = {
  id: "percentage",
  title: "A percentage of n: is it possible?",
  note: "Of n items, a whole number is right. Few percentages with decimals are therefore possible for a small n (the GRIM test).",
  fields: [
    { name: "mean", label: "Percentage, as printed", noun: "the percentage as it is printed", kind: "printed", example: "87.2", unit: "%" },
    { name: "n", label: "Items, n", noun: "the number of items", kind: "size", example: "150", most: 1_000_000 },
  ],
  check: ({ mean }) => (mean.value < 0 || mean.value > 100 ? `The percentage must be between 0 and 100, got ${mean.text}.` : ""),
  answer: ({ mean, n }) => {
    const check = checkMean(`${mean.text}%`, n.value, null, "1", ["0", "1"]);
    const [first, last] = check.totals.map((total) => general(total, 12));
    const possible =
      first === last
        ? `${mean.text}% of ${n.text} is possible: ${first} of ${n.text} rounds to it.`
        : `${mean.text}% of ${n.text} is possible: each number from ${first} to ${last} rounds to it.`;
    return {
      sentences: [
        check.meanIsPossible
          ? possible
          : `No whole number of ${n.text} gives ${mean.text}%. Perhaps n is another one, some items are missing, or it is a mean of percentages.`,
      ],
      lines: [{ label: "Check", text: printedCheck(check) }],
      python: python(["check_mean"], [`check_mean("${mean.text}%", ${n.text})`]),
    };
  },
};

/** @type {Question} */
const mean = {
  id: "mean",
  title: "Mean ± standard deviation",
  note:
    "Use the standard deviation of the scores, not the standard error of the mean. Scores are independent: one per item. " +
    "“Possible” means that this check does not exclude it.",
  fields: [
    { name: "mean", label: "Mean, as printed", noun: "the mean as it is printed", kind: "printed", example: "3.47" },
    { name: "sd", label: "Standard deviation, as printed", noun: "the standard deviation as it is printed", kind: "printed", example: "1.21" },
    { name: "n", label: "Scores, n", noun: "the number of scores", kind: "size", example: "40", most: 1_000_000 },
    { name: "lowest", label: "Lowest possible score", noun: "the lowest possible score", kind: "printed", example: "1" },
    { name: "highest", label: "Highest possible score", noun: "the highest possible score", kind: "printed", example: "5" },
    { name: "step", label: "Step between scores", noun: "the step between neighbouring scores", kind: "printed", example: "1" },
    LEVEL,
  ],
  check: (inputs) => {
    const [lowest, highest, step] = ["lowest", "highest", "step"].map((name) => inputs[name].value);
    if (step < 1e-6) {
      return `The step between neighbouring scores must be above 0, got ${inputs.step.text}.`;
    }
    const [least, most, width] = [lowest, highest, step].map((value) => exact.fraction(plain(value)));
    const steps = exact.over(exact.minus(most, least), width);
    if (highest <= lowest || !exact.isWhole(steps) || exact.floor(steps) > 1_000_000) {
      return `The highest score must be a whole number of steps above the lowest one, got ${inputs.lowest.text}, ${inputs.highest.text} and steps of ${inputs.step.text}.`;
    }
    if (inputs.mean.value < lowest || inputs.mean.value > highest) {
      return `The mean must be between the lowest and the highest possible score, got ${inputs.mean.text}.`;
    }
    if (inputs.sd.value < 0) {
      return `The standard deviation must be at least 0, got ${inputs.sd.text}.`;
    }
    return inputs.n.value < 2 ? "A standard deviation needs at least 2 scores, got 1." : "";
  },
  answer: (inputs) => {
    const { mean: printed, sd, n, step } = inputs;
    const { level, levelOption, stated } = levelOf(inputs);
    const [lowest, highest] = ["lowest", "highest"].map((name) => plain(inputs[name].value));
    const bounds = /** @type {[number, number]} */ ([Number(lowest), Number(highest)]);
    const interval = meanInterval(printed.value, sd.value, n.value, bounds, level);
    const check = checkMean(printed.text, n.value, sd.text, plain(step.value), [lowest, highest]);
    const isPossible = check.meanIsPossible && check.divisor !== "none";
    const verdict = isPossible
      ? `Mean and standard deviation are possible for ${n.text} such scores.`
      : check.meanIsPossible
        ? `The mean is possible for ${n.text} such scores, but not with this standard deviation. Is it a standard error?`
        : `No ${n.text} such scores have this mean. Perhaps n is another one, scores are missing, or they have other steps.`;
    const boundsOption = `bounds=(${lowest}, ${highest})`;
    const stepOption = option("step", plain(step.value), "1");
    return {
      sentences: [
        verdict,
        `The ${stated} interval of the mean is from ${fixed(interval.low, 3)} to ${fixed(interval.high, 3)} (${interval.method}).`,
      ],
      lines: [
        intervalLine(interval, "Interval", bounds),
        { label: "Check", text: printedCheck(check) },
      ],
      python: python(
        ["check_mean", "mean_interval_from_stats"],
        [
          `mean_interval_from_stats(${plain(printed.value)}, ${plain(sd.value)}, ${n.text}, ${boundsOption}${levelOption})`,
          `check_mean("${printed.text}", ${n.text}, sd="${sd.text}"${stepOption}, ${boundsOption})`,
        ],
      ),
    };
  },
};

/**
 * A number as Python reads and prints it, without superfluous zeros.
 * @param {number} value
 * @returns {string}
 */
const plain = (value) => String(Object.is(value, -0) ? 0 : value);

// ---- how many questions? -------------------------------------------------------------------------

/**
 * @param {SizePlan | null} plan
 * @param {number} most
 * @param {function(SizePlan): string} sentence
 * @param {string[]} lines of Python
 * @returns {Answer | string}
 */
function planned(plan, most, sentence, lines) {
  if (plan === null) {
    return `More than ${most.toLocaleString("en")} would be needed. A larger difference or less power needs fewer.`;
  }
  return { sentences: [sentence(plan)], lines: [{ label: "Plan", text: printedPlan(plan) }], python: lines };
}

/**
 * @param {Inputs} inputs
 * @returns {{power: number, options: string}}
 */
function powerOf(inputs) {
  const power = asShare(inputs.power);
  return { power: power.value, options: levelOf(inputs).levelOption + option("power", power.text, "0.8") };
}

/** @type {Question} */
const pairs = {
  id: "pairs",
  title: "Scores of two systems on the same questions",
  note:
    "Take the standard deviation of the differences per question from a pilot study. It is often much smaller than that of the " +
    "scores, because both systems find the same questions hard.",
  fields: [
    { name: "effect", label: "Difference to detect", noun: "the difference to detect", kind: "positive", example: "0.05" },
    { name: "sd", label: "Standard deviation of the differences", noun: "the standard deviation of the differences", kind: "positive", example: "0.4" },
    POWER,
    LEVEL,
  ],
  check: () => "",
  answer: (inputs) => {
    const { effect, sd } = inputs;
    const { power, options } = powerOf(inputs);
    return planned(
      tSize(effect.value, sd.value, 1, 0, levelOf(inputs).level, power),
      MOST_UNITS,
      (plan) => `You need ${plan.nItems} questions. A paired t-test then finds a true difference of ${effect.text} with a probability of ${asPercent(plan.power)}.`,
      python(["t_size"], [`t_size(${effect.text}, sd=${sd.text}${options})`]),
    );
  },
};

/** @type {Question} */
const rightOrWrong = {
  id: "mcnemar",
  title: "Right or wrong: two systems on the same questions",
  note:
    "Only questions on which exactly one system is right count. If they are fewer than the difference, which is impossible, the " +
    "difference replaces them.",
  fields: [
    { name: "effect", label: "Difference to detect", noun: "the difference to detect", kind: "points", example: "5", unit: "points" },
    { name: "discordance", label: "Exactly one system right", noun: "the percentage of questions on which exactly one system is right", kind: "share", example: "20", unit: "%" },
    POWER,
    LEVEL,
  ],
  check: () => "",
  answer: (inputs) => {
    const [effect, discordance] = [asShare(inputs.effect), asShare(inputs.discordance)];
    const { power, options } = powerOf(inputs);
    return planned(
      mcnemarSize(effect.value, discordance.value, levelOf(inputs).level, power),
      MOST_MCNEMAR_ITEMS,
      (plan) => `You need ${plan.nItems} question${plan.nItems > 1 ? "s" : ""}. McNemar's mid-p test then finds a true difference of ${inputs.effect.text} points with a probability of ${asPercent(plan.power)}.`,
      python(["mcnemar_size"], [`mcnemar_size(${effect.text}, discordance=${discordance.text}${options})`]),
    );
  },
};

/** @type {Question} */
const clusters = {
  id: "clusters",
  title: "Several answers per question (clusters)",
  note:
    "Answers to one question resemble each other. The intraclass correlation says how much: 0 is not at all, and with 1 further " +
    "answers to the same question add nothing.",
  fields: [
    { name: "effect", label: "Difference to detect", noun: "the difference to detect", kind: "positive", example: "0.05" },
    { name: "sd", label: "Standard deviation of the differences", noun: "the standard deviation of the differences", kind: "positive", example: "0.4" },
    { name: "size", label: "Answers per question", noun: "the number of answers per question", kind: "size", example: "5", most: 100_000 },
    { name: "icc", label: "Intraclass correlation", noun: "the intraclass correlation", kind: "correlation", example: "0.3" },
    POWER,
    LEVEL,
  ],
  check: ({ icc }) => (icc.value < 0 ? `The intraclass correlation must be between 0 and 1, got ${icc.text}.` : ""),
  answer: (inputs) => {
    const { effect, sd, size, icc } = inputs;
    const { power, options } = powerOf(inputs);
    return planned(
      tSize(effect.value, sd.value, size.value, icc.value, levelOf(inputs).level, power),
      MOST_UNITS,
      (plan) => `You need ${plan.nUnits} questions, which are ${plan.nItems} answers per system. A true difference of ${effect.text} is then found with a probability of ${asPercent(plan.power)}.`,
      python(["t_size"], [`t_size(${effect.text}, sd=${sd.text}, cluster_size=${size.text}, icc=${icc.text}${options})`]),
    );
  },
};

// ---- the judge -----------------------------------------------------------------------------------

/** @type {Question} */
const judge = {
  id: "judge",
  title: "A judge that accepts or rejects answers",
  note:
    "The labelled answers of each kind must be random samples of that kind. The correction cannot remove the error of a judge " +
    "that errs more often on one system than on another.",
  fields: [
    countField("hits", "Right answers that it accepts", "45"),
    countField("positives", "Right answers, labelled by people", "50", "size"),
    countField("rejections", "Wrong answers that it rejects", "40"),
    countField("negatives", "Wrong answers, labelled by people", "50", "size"),
    countField("accepted", "Answers that it accepts in the study", "550"),
    countField("n", "Answers in the study", "1000", "size"),
    LEVEL,
  ],
  check: ({ hits, positives, rejections, negatives, accepted, n }) =>
    atMost(hits.value, positives.value, "The judge cannot accept more right answers than there are") ||
    atMost(rejections.value, negatives.value, "The judge cannot reject more wrong answers than there are") ||
    atMost(accepted.value, n.value, "The judge cannot accept more answers than there are in the study"),
  answer: (inputs) => {
    const { hits, positives, rejections, negatives, accepted, n } = inputs;
    const { level, levelOption, stated } = levelOf(inputs);
    const counts = {
      truePositives: hits.value,
      positives: positives.value,
      trueNegatives: rejections.value,
      negatives: negatives.value,
    };
    const sensitivity = rateInterval(hits.value, positives.value, "wilson", level);
    const specificity = rateInterval(rejections.value, negatives.value, "wilson", level);
    const youden = youdenIndex(counts, level);
    const corrected = roganGladen(accepted.value, n.value, counts, level);
    const observed = `The judge accepts ${asPercent(accepted.value / n.value)} of the answers. `;
    const correction = corrected.problem
      ? "It is no better than chance on the labelled answers, so the share of right answers cannot be computed from its verdicts."
      : `Corrected for its errors, ${asPercent(corrected.estimate)} are right, with a ${stated} interval from ` +
        `${asPercent(corrected.low)} to ${asPercent(corrected.high)}.`;
    return {
      sentences: [
        observed + correction,
        `Two systems that truly differ by 10 points appear to differ by ${fixed(10 * youden.estimate, 1)} points (J = ${fixed(youden.estimate, 3)}).`,
      ],
      lines: [
        intervalLine(sensitivity, "Sensitivity", [0, 1]),
        intervalLine(specificity, "Specificity", [0, 1]),
        intervalLine(youden, "Youden's J", [-1, 1]),
        intervalLine(corrected, "Corrected share", [0, 1]),
      ],
      python: python(
        ["rate_interval", "rogan_gladen_from_counts", "youden_index"],
        [
          `rate_interval(${hits.text}, ${positives.text}${levelOption})`,
          `rate_interval(${rejections.text}, ${negatives.text}${levelOption})`,
          `youden_index(${hits.text}, ${positives.text}, ${rejections.text}, ${negatives.text}${levelOption})`,
          `rogan_gladen_from_counts(${accepted.text}, ${n.text}, true_positives=${hits.text}, positives=${positives.text}, ` +
            `true_negatives=${rejections.text}, negatives=${negatives.text}${levelOption})`,
        ],
      ),
    };
  },
};

// ---- a difference --------------------------------------------------------------------------------

/** @type {Question} */
const difference = {
  id: "difference",
  title: "Two systems on the same questions: the four counts",
  note:
    "An interval that includes 0 does not show that the systems are equal: its limits say how large the difference may be. The " +
    "exact test is the most cautious of the three, so it can miss a difference that the interval shows.",
  fields: [
    countField("both", "Both right", "59"),
    countField("a", "Only A right", "6"),
    countField("b", "Only B right", "16"),
    countField("neither", "Neither right", "80"),
    LEVEL,
  ],
  check: ({ both, a, b, neither }) =>
    both.value + a.value + b.value + neither.value ? "" : "All four counts are 0, so there is nothing to compare. Enter at least one question.",
  answer: (inputs) => {
    const { both, a, b, neither } = inputs;
    const { level, levelOption, stated } = levelOf(inputs);
    const counts = { both: both.value, firstOnly: a.value, secondOnly: b.value, neither: neither.value };
    const interval = tangoInterval(counts, level);
    const isShown = interval.low > 0 || interval.high < 0;
    const table = `PairedTable(${both.text}, ${a.text}, ${b.text}, ${neither.text})`;
    return {
      sentences: [
        isShown
          ? `A difference is shown: the interval excludes 0.`
          : `No difference is shown: the interval includes 0.`,
        `A minus B is ${asPoints(interval.estimate)} points, with a ${stated} interval from ${asPoints(interval.low)} to ${asPoints(interval.high)}.`,
      ],
      lines: [
        intervalLine(interval, "A minus B", [-1, 1]),
        { label: "Mid-p test", text: printedMcnemar(counts, "mid-p") },
        { label: "Exact test", text: printedMcnemar(counts, "exact") },
      ],
      python: python(
        ["PairedTable", "mcnemar_test", "tango_interval"],
        [`tango_interval(${table}${levelOption})`, `mcnemar_test(${table})`, `mcnemar_test(${table}, method="exact")`],
      ),
    };
  },
};

/** @type {Question} */
const twoCounts = {
  id: "counts",
  title: "Only the two numbers of right answers are published",
  note: "The p-value depends on how often both systems are right, which few papers print. These are its smallest and largest possible value.",
  fields: [
    countField("a", "Right answers of A", "289", "count", 100_000),
    countField("b", "Right answers of B", "282", "count", 100_000),
    countField("n", "Questions", "300", "size", 100_000),
  ],
  check: ({ a, b, n }) =>
    atMost(Math.max(a.value, b.value), n.value, "The right answers of a system must be at most the number of questions"),
  answer: ({ a, b, n }) => {
    const [low, high] = mcnemarBounds(a.value, b.value, n.value);
    const conclusion =
      high <= 0.05
        ? "The difference is significant at 5% in each case."
        : low > 0.05
          ? "The difference is not significant at 5% in any case."
          : "Whether the difference is significant at 5% depends on how often both are right: ask the authors for the four counts.";
    return {
      sentences: [conclusion],
      lines: [{ label: "p-value", text: `p from ${fixed(low, 4)} to ${fixed(high, 4)} (McNemar exact)` }],
      python: [
        "from ragnb.stats import mcnemar_bounds",
        `print("p from {:.4f} to {:.4f} ({})".format(*mcnemar_bounds(${a.text}, ${b.text}, ${n.text})))`,
      ],
    };
  },
};

// ---- efficiency ----------------------------------------------------------------------------------

/** @type {Question} */
const efficiency = {
  id: "efficiency",
  title: "Gain per unit of cost, from summary numbers",
  note:
    "Gains and costs are differences from the baseline per question. Fieller's set has no bounds if the mean cost may be 0. With an " +
    "unknown correlation, try -1, 0 and 1.",
  fields: [
    { name: "gain", label: "Mean gain", noun: "the mean gain", kind: "number", example: "0.05" },
    { name: "gain_sd", label: "Standard deviation of the gains", noun: "the standard deviation of the gains", kind: "spread", example: "0.3" },
    { name: "cost", label: "Mean cost", noun: "the mean cost", kind: "number", example: "120" },
    { name: "cost_sd", label: "Standard deviation of the costs", noun: "the standard deviation of the costs", kind: "spread", example: "40" },
    { name: "r", label: "Correlation of gain and cost", noun: "the correlation of gain and cost", kind: "correlation", example: "0.1" },
    { name: "n", label: "Questions, n", noun: "the number of questions", kind: "size", example: "200" },
    LEVEL,
  ],
  check: () => "",
  answer: (inputs) => {
    const [gain, gainSd, cost, costSd, r, n] = ["gain", "gain_sd", "cost", "cost_sd", "r", "n"].map((name) => inputs[name].value);
    const { level, levelOption, stated } = levelOf(inputs);
    const set = fiellerSet(gain, gainSd, cost, costSd, r, n, level);
    const [low, high] = set.limits.map((limit) => general(limit, 4));
    const ratio = `The gain per unit of cost is ${general(set.estimate, 4)}. `;
    const sentences = {
      bounded: `${ratio}Fieller's ${stated} set is from ${low} to ${high}.`,
      "two rays": `${ratio}The mean cost may be 0: all ratios up to ${low} and from ${high} are in Fieller's ${stated} set.`,
      "whole line": `${cost ? ratio : ""}Each ratio is in Fieller's ${stated} set, because neither the gain nor the cost clearly differs from 0.`,
      undefined: `There is no set: ${set.problem}.`,
    };
    const values = [gain, gainSd, cost, costSd, r, n].map(plain).join(", ");
    return {
      sentences: [sentences[set.kind]],
      lines: [{ label: "Ratio", text: printedFieller(set) }],
      python: python(["fieller_interval_from_stats"], [`fieller_interval_from_stats(${values}${levelOption})`]),
    };
  },
};

/** @type {Group[]} */
export const GROUPS = [
  { title: "Check a published number", questions: [share, percentage, mean] },
  { title: "How many questions do I need?", questions: [rightOrWrong, pairs, clusters] },
  { title: "What do my judge's errors do?", questions: [judge] },
  { title: "Is this difference shown?", questions: [difference, twoCounts] },
  { title: "What does a gain cost?", questions: [efficiency] },
];
