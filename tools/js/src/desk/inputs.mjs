// What people type into the fields of the desk, and a plain sentence for each input that cannot be used.

/**
 * @typedef {object} Field
 * @property {string} name in the link
 * @property {string} label above the field
 * @property {string} noun the value in a sentence, such as "the number of answers"
 * @property {"count" | "size" | "number" | "positive" | "spread" | "share" | "points" | "correlation" | "level" | "printed"} kind
 * @property {string} example
 * @property {string} [unit] behind the field
 * @property {number} [most] largest number that is allowed
 */

/**
 * @typedef {{value: number, text: string}} Input a number, and the text of it in the form that Python and the link use
 */

/** @typedef {Record<string, Input>} Inputs by the names of the fields */

const LARGEST = 10_000_000;
const NUMBER = /^-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
const PRINTED = /^-?(\d+\.?\d*|\.\d+)$/;

/**
 * Read one field: its value, or a sentence that says what is wrong.
 * @param {Field} field
 * @param {string} typed
 * @returns {{input?: Input, problem: string}}
 */
export function readField(field, typed) {
  // Numbers that are copied from a paper have real minus signs.
  const text = typed.trim().replace(/^[\u2212\u2013]/, "-");
  const shown = text.length > 30 ? `${text.slice(0, 30)}…` : text;
  if (text === "") {
    return { problem: `Enter ${field.noun}.` };
  }
  if (/^[-\d.,\s%]+$/.test(text) && /[,\s]/.test(text.replace(/\s*%$/, ""))) {
    return { problem: `Write numbers with a decimal point and without commas or spaces: “${shown}” has one.` };
  }
  const bare = field.kind === "number" || field.kind === "printed" ? text : text.replace(/\s*%$/, "");
  const pattern = field.kind === "printed" ? PRINTED : NUMBER;
  const value = Number(bare);
  if (!pattern.test(bare) || !Number.isFinite(value)) {
    return { problem: `“${shown}” is not a number. Enter ${field.noun}.` };
  }
  const allowed = allowedBy(field, value);
  if (allowed) {
    return { problem: `${upper(field.noun)} must be ${allowed}, got ${shown}.` };
  }
  return { input: { value, text: field.kind === "printed" ? bare : String(value) }, problem: "" };
}

/**
 * What is allowed, if this value is not; otherwise an empty text.
 * @param {Field} field
 * @param {number} value
 * @returns {string}
 */
function allowedBy({ kind, most = LARGEST }, value) {
  const isWhole = Number.isInteger(value);
  if (kind === "count" || kind === "size") {
    const least = kind === "size" ? 1 : 0;
    if (!isWhole || value < least) {
      return `a whole number of at least ${least}`;
    }
    return value > most ? `at most ${most}` : "";
  }
  const rules = {
    number: [Math.abs(value) <= 1e12, "between -1e12 and 1e12"],
    printed: [Math.abs(value) <= 1e6, "between -1000000 and 1000000"],
    positive: [value >= 1e-12 && value <= 1e12, "above 0"],
    spread: [value >= 0 && value <= 1e12, "at least 0"],
    share: [value >= 0 && value <= 100, "between 0 and 100"],
    points: [value > 0 && value <= 100, "above 0 and at most 100"],
    correlation: [value >= -1 && value <= 1, "between -1 and 1"],
    level: [value >= 1 && value <= 99.99, "between 1 and 99.99"],
  };
  const [isAllowed, sentence] = rules[kind];
  return isAllowed ? "" : String(sentence);
}

/**
 * @param {string} text
 * @returns {string}
 */
function upper(text) {
  return text[0].toUpperCase() + text.slice(1);
}

/**
 * A percentage as a share, without the rounding error of a division: 99.9 becomes 0.999.
 * @param {Input} input
 * @returns {Input}
 */
export function asShare({ value }) {
  const share = Number((value / 100).toPrecision(12));
  return { value: share, text: String(share) };
}

/**
 * The question and the inputs that a link carries, such as `#share?k=87&n=100`.
 * @param {string} hash
 * @returns {{id: string, texts: Map<string, string>} | null} null if the link carries nothing
 */
export function readLink(hash) {
  const content = hash.replace(/^#/, "");
  if (!content) {
    return null;
  }
  const [id, query = ""] = content.split("?", 2);
  return { id, texts: new Map(new URLSearchParams(query)) };
}

/**
 * @param {string} id
 * @param {Iterable<[string, string]>} texts
 * @returns {string}
 */
export function writeLink(id, texts) {
  return `#${id}?${new URLSearchParams([...texts])}`;
}
