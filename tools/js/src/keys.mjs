// The table of keys: what each key does, its button, and its line in the help. Users can change keys, and the browser keeps them.

import { isObject } from "./actions.mjs";

/** @import { Task } from "./types.js" */

/**
 * A row of the table: act, keys, help, and label and title of a button, if there is one.
 * @typedef {[act: OtherAct, keys: string[], help: string, button?: [label: string, title?: string]]} OtherRow
 * @typedef {OtherRow | [act: "option", keys: string[], help: string, button?: undefined]} ActRow
 */

/** @typedef {[act: OtherAct, label: string, key: string, title: string]} Button */

/**
 * What a person has chosen: whether a label continues to the next item, and by task the keys that replace those of the table.
 * @typedef {{goesOn: boolean, keys: Record<string, Record<string, string>>}} Settings
 */

// Rows by which a key moves through a list, the last two to its ends.
/** @type {Record<string, number>} */
const MOVES = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity };
const MOST_DIGITS = 9;
/** @type {Record<string, number>} */
const SIDEWAYS = { ArrowRight: 1, ArrowLeft: -1 };
/** @type {Record<string, string>} */
const KEY_NAMES = { " ": "space", Backspace: "⌫", Delete: "Del", Escape: "Esc" };

/** @type {ActRow[]} */
export const ACTS = [
  ["toggle", [" ", "x"], "select or deselect the sentence for the active label (or click it, or drag over several)"],
  ["option", [..."123456789"], "choose an option of the active label"],
  ["empty", ["e"], "none: the active label applies to no sentence"],
  ["clear", ["Backspace", "Delete"], "remove the value of the active label"],
  ["sentence back", ["["], "previous sentence or claim of the response"],
  ["sentence on", ["]"], "next sentence or claim of the response"],
  ["previous", ["p"], "previous item", ["‹", "previous item"]],
  ["next", ["n"], "next item", ["›", "next item"]],
  ["done", ["Enter"], "go to what is still missing, or else to the next item that is not labelled", ["done, next", "next item that is not labelled"]],
  ["undo", ["z"], "undo the last action, on any item (or Ctrl+Z)", ["undo"]],
  ["redo", ["Z"], "redo the last undone action (or Ctrl+Y)", ["redo"]],
  ["tag", ["+"], "write a tag, which is added to the codebook if it is new"],
  ["skip", ["."], "skip the item", ["skip"]],
  ["flag", ["f"], "flag the item", ["flag"]],
  ["memo", ["m"], "write a note on the item", ["note"]],
  ["accept", ["a"], "accept the suggestion"],
  ["search", ["/"], "search the texts; Enter goes to the next match", ["search"]],
  ["jump", ["g"], "show the list of items", ["list"]],
  ["auto", ["A"], "go to the next item after the last label, or stay", ["auto", "go to the next item after the last label"]],
  ["help", ["?"], "show these keys", ["keys"]],
  ["fold", ["o"], "unfold a long document"],
  ["leave", ["Escape"], "close the open panel"],
];

/**
 * The acts that have a button.
 * @type {Button[]}
 */
export const BUTTONS = [];
for (const row of ACTS) {
  const [act, keys, , button] = row;
  if (button) {
    const [label, title = label] = button;
    BUTTONS.push([act, label, keys[0], title]);
  }
}

/**
 * Tell whether a key is pressed without a modifier. Keys with Ctrl, Meta or Alt, and Shift+Enter, belong to the notebook.
 * @param {KeyboardEvent} event
 * @returns {boolean}
 */
export function isPlain({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  const hasModifier = ctrlKey || metaKey || altKey;
  const runsCell = shiftKey && key === "Enter";
  return !(hasModifier || runsCell);
}

/**
 * Return by how many rows a key moves.
 * @param {KeyboardEvent} event
 * @returns {number|undefined} undefined for other keys
 */
export function stepOf(event) {
  const isMove = isPlain(event) && Object.hasOwn(MOVES, event.key);
  return isMove ? MOVES[event.key] : undefined;
}

/**
 * Tell whether a key leaves a search for its results. While Chinese or Japanese is typed, Enter and arrows belong to the
 * input method.
 * @param {KeyboardEvent} event
 * @returns {boolean}
 */
export function leavesSearch(event) {
  return isPlain(event) && !event.isComposing && ["Escape", "Enter", "ArrowDown"].includes(event.key);
}

/**
 * What a key or a button means for the annotator: a move by `step`, which selects if it is to `extend`; the number of an
 * option; the name of a field; or another act.
 * @typedef {{act: "move", step: number, extend?: boolean, sideways?: boolean}} Move
 * @typedef {Move | {act: "option", number: number} | {act: "field", name: string} | {act: OtherAct}} Meaning
 */

/**
 * @typedef {"toggle" | "empty" | "clear" | "sentence back" | "sentence on" | "previous" | "next" | "done" | "undo" | "redo"
 *   | "tag" | "skip" | "flag" | "memo" | "accept" | "search" | "jump" | "auto" | "help" | "fold" | "leave"} OtherAct
 */

const STORAGE_KEY = "ragnb-annotator";

/**
 * What was stored by an earlier page, which may be anything; null if nothing was, or nothing can be read.
 * @returns {unknown}
 */
function storedSettings() {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "null");
  } catch {
    return null;
  }
}

/**
 * The settings that a page has stored, or those of the beginning.
 * @param {string} task
 * @returns {Settings}
 */
function settingsOf(task) {
  const stored = storedSettings();
  // Without a prototype, no name of a task has a meaning of its own.
  /** @type {Settings["keys"]} */
  const keys = Object.create(null);
  if (isObject(stored) && isObject(stored.keys)) {
    Object.assign(keys, stored.keys);
  }
  if (!isObject(keys[task])) {
    keys[task] = {};
  }
  const goesOn = !isObject(stored) || stored.goesOn !== false;
  return { goesOn, keys };
}

/** The keys of one task, and what a person has chosen: other keys, and whether a label continues to the next item. */
export class Keys {
  /** @param {Task} task */
  constructor({ name, fields }) {
    this.fields = fields;
    const hasTags = fields.some(({ kind }) => kind === "tags");
    this.acts = ACTS.filter(([act]) => act !== "tag" || hasTags);
    this.settings = settingsOf(name);
    this.replacements = this.settings.keys[name]; // by the key of the table
  }

  get goesOn() {
    return this.settings.goesOn;
  }

  keep(goesOn = this.goesOn) {
    this.settings.goesOn = goesOn;
    try {
      localStorage.setItem(STORAGE_KEY, JSON.stringify(this.settings));
    } catch {
      // Without a storage, the settings are kept until the page is closed.
    }
  }

  /**
   * The key that does what a key of the table does.
   * @param {string} key
   */
  of(key) {
    return this.replacements[key] ?? key;
  }

  /**
   * Let another key do what one of the table does; false if that key has a meaning. The key of the table brings it back.
   * @param {string} key
   * @param {string} other
   */
  change(key, other) {
    const isRestored = other === key;
    const isUsable = other.length === 1 && !this.act({ key: other });
    if (!isRestored && !isUsable) {
      return false;
    }
    this.replacements[key] = other;
    this.keep();
    return true;
  }

  /**
   * The key of the table that a pressed key stands for.
   * @param {string} pressed
   */
  original(pressed) {
    const replaced = Object.keys(this.replacements).find((key) => this.of(key) === pressed);
    return replaced ?? pressed;
  }

  /**
   * The meaning of a key for the annotator; null where it has none.
   * @param {Pick<KeyboardEvent, "key"> & Partial<KeyboardEvent>} event
   * @returns {Meaning | null}
   */
  act(event) {
    const { ctrlKey, metaKey, altKey, shiftKey } = event;
    const key = this.original(event.key);
    const letter = key.length === 1 ? key.toLowerCase() : key;
    if (ctrlKey || metaKey) {
      return commandOf(letter, shiftKey);
    }
    if (altKey) {
      return null;
    }
    if (Object.hasOwn(SIDEWAYS, key)) {
      return { act: "move", step: SIDEWAYS[key], extend: shiftKey, sideways: true };
    }
    if (Object.hasOwn(MOVES, key)) {
      return { act: "move", step: MOVES[key], extend: shiftKey };
    }
    const row = this.acts.find(([, keys]) => keys.includes(key));
    if (row) {
      const [act] = row;
      return act === "option" ? { act, number: Number(key) - 1 } : { act };
    }
    const field = this.fields.find((candidate) => candidate.key === letter);
    return field ? { act: "field", name: field.name } : null;
  }

  /**
   * Rows of the help: keys of the table that can be changed, and what they do.
   * @returns {[keys: string[], meaning: string][]}
   */
  help() {
    /** @type {[string[], string][]} */
    const rows = this.fields.map(({ key, label }) => [[key], `label: ${label}`]);
    const optionCounts = this.fields.map(({ kind, options }) => (kind === "tags" ? MOST_DIGITS : options.length));
    const mostOptions = Math.max(...optionCounts);
    for (const [act, keys, meaning] of this.acts) {
      const usedKeys = act === "option" ? keys.slice(0, mostOptions) : keys;
      rows.push([usedKeys, meaning]);
    }
    return rows;
  }

  /**
   * Write the keys that were chosen wherever a key is shown.
   * @param {HTMLElement} root
   */
  write(root) {
    const shownKeys = /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("kbd[data-key]"));
    for (const element of shownKeys) {
      const key = this.of(element.dataset.key ?? "");
      element.textContent = KEY_NAMES[key] ?? key;
      element.closest("[aria-keyshortcuts]")?.setAttribute("aria-keyshortcuts", key);
    }
  }
}

/**
 * Undo and redo with Ctrl or Meta. All other commands belong to the notebook.
 * @param {string} letter
 * @param {boolean | undefined} shiftKey
 * @returns {Meaning | null}
 */
function commandOf(letter, shiftKey) {
  if (letter === "z") {
    return { act: shiftKey ? "redo" : "undo" };
  }
  return letter === "y" ? { act: "redo" } : null;
}
