// What an action of the hand-out may contain. Whatever comes from a storage or a file is checked here before it is used.

/** @import { Answer, Field, Handout, NewAction, Page, Task } from "./types.js" */

const NAMES = ["open", "agreed", "undo", "redo", "label", "note", "flag", "skip", "codebook"];
// Change of the codebook, and the key that it needs besides the tag.
/** @type {Record<string, string>} */
const CHANGES_OF_CODEBOOK = { add: "name", rename: "name", define: "definition", merge: "into" };
const TIME = /^\d{4}-\d\d-\d\dT/;

/**
 * Tell whether a value is an object with keys.
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Tell whether a value is a text.
 * @param {unknown} value
 * @returns {value is string}
 */
export function isText(value) {
  return typeof value === "string";
}

/**
 * Check an action whose item is a number. An error says why the page could not have written it.
 * @param {unknown} action
 * @param {Handout} handout
 * @returns {NewAction} the action
 */
export function checked(action, { task, items }) {
  check(isObject(action), "no keys");
  const { action: name, item, time, set, value, of } = action;
  check(typeof item === "number" && Number.isInteger(item) && items[item], "an unknown item");
  check(isText(time) && TIME.test(time) && !Number.isNaN(Date.parse(time)), "no time");
  check(isText(name) && NAMES.includes(name), "an unknown name");
  switch (name) {
    case "flag":
    case "skip":
      check(typeof value === "boolean", "a value other than true and false");
      break;
    case "note":
      check(isText(value), "a note that is no text");
      break;
    case "undo":
    case "redo":
      check(isText(of), "no other action that it is about");
      break;
    case "codebook":
      check(changesCodebook(action), "no change of the codebook");
      break;
    case "label":
    case "agreed":
      check(Array.isArray(set), "no list of labels");
      check(set.every((entry) => isObject(entry) && allows(task, items[item].page, entry)), "a label that the task does not have");
      break;
    default: // "open" has no content
  }
  return /** @type {NewAction} */ (/** @type {unknown} */ (action));
}

/**
 * @param {unknown} condition
 * @param {string} problem
 * @returns {asserts condition}
 */
function check(condition, problem) {
  if (!condition) {
    throw new Error(`an action has ${problem}`);
  }
}

/**
 * @param {Record<string, unknown>} action
 * @returns {boolean}
 */
function changesCodebook(action) {
  const { change, tag } = action;
  return isText(tag) && isText(change) && Object.hasOwn(CHANGES_OF_CODEBOOK, change) && isText(action[CHANGES_OF_CODEBOOK[change]]);
}

/**
 * Whether a value can be given to a place of an item.
 * @param {Task} task
 * @param {Page} page
 * @param {Record<string, unknown>} entry
 * @returns {boolean}
 */
function allows(task, page, { field: name, sentence = null, value }) {
  const field = task.fields.find((candidate) => candidate.name === name);
  const hasPlace = page.places.some(([fieldName, key]) => fieldName === name && key === sentence);
  if (!field || !hasPlace) {
    return false;
  }
  if (value === null) {
    return true;
  }
  if (field.kind === "text") {
    return isText(value);
  }
  if (field.kind === "tags") {
    return Array.isArray(value) && value.every(isText);
  }
  if (field.kind === "choice") {
    return field.options.some((option) => option.value === value);
  }
  const possibleKeys = new Set(sentenceKeys(page, field));
  return Array.isArray(value) && value.every((key) => possibleKeys.has(key));
}

/**
 * Return what can be chosen in a field of sentences: the keys of the sentences in the order of the text, then the options.
 * @param {Page} page
 * @param {Field} field
 * @returns {Answer[]}
 */
export function sentenceKeys(page, field) {
  const parts = page.parts.filter(({ name }) => name === field.of);
  const keys = parts.flatMap(({ sentences }) => sentences.map(([key]) => key));
  return [...keys, ...field.options.map(({ value }) => value)];
}
