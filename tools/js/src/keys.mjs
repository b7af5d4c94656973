// The table of keys: what each key does, its button, and its line in the help. Users can change keys, and the browser keeps them.

// Rows by which a key moves through a list, the last two to its ends.
const MOVES = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity };
const MOST_DIGITS = 9;
const SIDEWAYS = { ArrowRight: 1, ArrowLeft: -1 };
const KEY_NAMES = { " ": "space", Backspace: "⌫", Delete: "Del", Escape: "Esc" };

/**
 * Act, keys, help, and label and title of a button, if there is one.
 * @type {[act: string, keys: string[], help: string, button?: string[]][]}
 */
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

/** Act, label, key and title of each button. */
export const BUTTONS = ACTS.filter(([, , , button]) => button).map(([act, keys, , button]) => {
  const [label, title = label] = button;
  return [act, label, keys[0], title];
});

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

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * What a key or a button means for the annotator.
 * @typedef {object} Meaning
 * @property {string} act
 * @property {number} [step] of a move
 * @property {boolean} [extend] whether a move selects
 * @property {boolean} [sideways]
 * @property {number} [number] of an option
 * @property {string} [name] of a field
 */

const STORAGE_KEY = "ragnb-annotator";

// What was stored by an earlier page; null if nothing was, or nothing can be read.
function storedSettings() {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY));
  } catch {
    return null;
  }
}

/** The keys of one task, and what a person has chosen: other keys, and whether a label continues to the next item. */
export class Keys {
  constructor({ name, fields }) {
    this.fields = fields;
    const hasTags = fields.some(({ kind }) => kind === "tags");
    this.acts = ACTS.filter(([act]) => act !== "tag" || hasTags);
    const stored = storedSettings();
    // Without a prototype, no name of a task has a meaning of its own.
    const keysByTask = Object.create(null);
    if (isObject(stored?.keys)) {
      Object.assign(keysByTask, stored.keys);
    }
    if (!isObject(keysByTask[name])) {
      keysByTask[name] = {};
    }
    this.settings = { goesOn: stored?.goesOn !== false, keys: keysByTask };
    this.replacements = keysByTask[name]; // by the key of the table
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

  // The key that does what a key of the table does.
  of(key) {
    return this.replacements[key] ?? key;
  }

  // Lets another key do what one of the table does; false if that key has a meaning. The key of the table brings it back.
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

  // The key of the table that a pressed key stands for.
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

  // Rows of the help: keys of the table that can be changed, and what they do.
  help() {
    const rows = this.fields.map(({ key, label }) => [[key], `label: ${label}`]);
    const optionCounts = this.fields.map(({ kind, options }) => (kind === "tags" ? MOST_DIGITS : options.length));
    const mostOptions = Math.max(...optionCounts);
    for (const [act, keys, meaning] of this.acts) {
      const usedKeys = act === "option" ? keys.slice(0, mostOptions) : keys;
      rows.push([usedKeys, meaning]);
    }
    return rows;
  }

  // Writes the keys that were chosen wherever a key is shown.
  write(root) {
    for (const element of root.querySelectorAll("kbd[data-key]")) {
      const key = this.of(element.dataset.key);
      element.textContent = KEY_NAMES[key] ?? key;
      element.closest("[aria-keyshortcuts]")?.setAttribute("aria-keyshortcuts", key);
    }
  }
}

// Undo and redo with Ctrl or Meta. All other commands belong to the notebook.
function commandOf(letter, shiftKey) {
  if (letter === "z") {
    return { act: shiftKey ? "redo" : "undo" };
  }
  return letter === "y" ? { act: "redo" } : null;
}
