// The file of labels, a log of ragnb as JSON Lines. Python reads and writes the same lines (ragnb/annotation/lines.py).

import { checked, isObject, isText } from "./actions.mjs";
import { checksum } from "./checksum.mjs";

/** @import { Action, Handout, HandoutItem, NewAction } from "./types.js" */

/**
 * Write the file of labels. Each action keeps its key, so that the page can read the file again.
 * @param {Handout} handout
 * @param {string} annotator
 * @param {Action[]} actions
 * @returns {string}
 */
export function written({ header, items }, annotator, actions) {
  const started = actions[0]?.time ?? new Date().toISOString();
  const numbers = new Map(actions.map(({ key }, position) => [key, position + 1]));
  const lines = actions.map((action, position) => lineOf(action, position + 1, numbers, items));
  const records = [{ ...header, annotator, started }, ...lines];
  return records.map((record) => `${sealed(JSON.stringify(record))}\n`).join("");
}

/**
 * An action with its number in the file, the id of its item, and the number of the action that it undoes.
 * @param {Action} action
 * @param {number} number
 * @param {Map<string, number>} numbers of the actions by their keys
 * @param {HandoutItem[]} items
 */
function lineOf({ item, of, ...content }, number, numbers, items) {
  /** @type {Record<string, unknown>} */
  const line = { n: number, ...content, item: items[item].id };
  if (content.action === "open") {
    Object.assign(line, items[item].pinned);
  }
  if (of !== undefined) {
    line.of = numbers.get(of);
  }
  return line;
}

const SEAL = /,\s*"checksum":\s*"([0-9a-f]{8})"\s*\}\s*$/;

/**
 * A line with its checksum as its last key.
 * @param {string} content
 * @returns {string}
 */
function sealed(content) {
  const withoutBrace = content.slice(0, -1);
  return `${withoutBrace},"checksum":"${checksum(content)}"}`;
}

/**
 * The object of a line whose checksum is right, if it has one.
 * @param {string} line
 * @param {number} lineNumber
 * @returns {Record<string, unknown>}
 */
function unsealed(line, lineNumber) {
  const seal = line.match(SEAL);
  const content = seal ? `${line.slice(0, seal.index)}}` : line;
  if (seal && checksum(content) !== seal[1]) {
    throw new Error(`line ${lineNumber} was changed after it was written`);
  }
  const record = JSON.parse(content);
  if (!isObject(record)) {
    throw new Error(`line ${lineNumber} is not an object`);
  }
  return record;
}

/**
 * Read a file of labels. An error says what is wrong with it.
 * @param {string} text
 * @param {Handout} handout
 * @returns {{annotator: string, actions: [key: string, action: NewAction][]}}
 */
export function read(text, handout) {
  const lines = text.split("\n").filter((line) => line.trim());
  const [header, ...records] = lines.map((line, position) => unsealed(line, position + 1));
  const annotator = annotatorIn(header, handout);
  const numbers = new Map(handout.items.map(({ id }, number) => [id, number]));
  const keys = new Map(records.map((record) => [record.n, keyOf(record)]));
  const actions = records.map((record) => {
    const action = actionOf(record, numbers, keys);
    return /** @type {[string, NewAction]} */ ([keyOf(record), checked(action, handout)]);
  });
  return { annotator, actions };
}

/**
 * The name of the annotator in a header, after a check that it is a header of this page.
 * @param {Record<string, unknown> | undefined} header
 * @param {Handout} handout
 * @returns {string}
 */
function annotatorIn(header, handout) {
  if (header?.handout !== handout.header.handout) {
    throw new Error("it does not belong to this page");
  }
  const { annotator } = header;
  if (!isText(annotator) || !annotator.trim()) {
    throw new Error("it has no name of an annotator");
  }
  return annotator;
}

/**
 * The key of an action in the storage. Actions of Python, which may have gone on with the file, have none.
 * @param {Record<string, unknown>} record
 * @returns {string}
 */
function keyOf({ n, time, key }) {
  return isText(key) ? key : `${time} ${String(n).padStart(6, "0")} ragnb`;
}

/**
 * The action of a line: with the number of its item in the page, and the key of the action that it undoes.
 * @param {Record<string, unknown>} record
 * @param {Map<unknown, number>} numbers of the items by their ids
 * @param {Map<unknown, string>} keys of the actions by their numbers
 * @returns {Record<string, unknown>}
 */
function actionOf(record, numbers, keys) {
  const { n, key, item, of, id, fingerprint, sentences, ...content } = record;
  if (!numbers.has(item)) {
    throw new Error(`the page has no item ${item}`);
  }
  if (!Number.isInteger(n) || !(key === undefined || isText(key))) {
    throw new Error("an action has no number");
  }
  /** @type {Record<string, unknown>} */
  const action = { ...content, item: numbers.get(item) };
  if (of !== undefined) {
    action.of = keys.get(of);
  }
  return action;
}
