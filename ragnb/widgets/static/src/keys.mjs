// The table of keys: what each key does, its button, and its line in the help. Users can change keys, and the browser keeps them.

// Rows by which a key moves through a list, the last two to its ends.
const MOVES = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity };
const SIDEWAYS = { ArrowRight: 1, ArrowLeft: -1 };
const NAMES = { " ": "space", Backspace: "⌫", Delete: "Del", Escape: "Esc" };

/** Act, keys, help, and label and title of a button, if there is one. */
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
export const BUTTONS = ACTS.filter(([, , , button]) => button).map(([act, [key], , [label, title = label]]) => [act, label, key, title]);

/**
 * Tell whether a key is pressed without a modifier. Keys with Ctrl, Meta or Alt, and Shift+Enter, belong to the notebook.
 * @param {KeyboardEvent} event
 * @returns {boolean}
 */
export function isPlain({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  return !(ctrlKey || metaKey || altKey || (shiftKey && key === "Enter"));
}

/**
 * Return by how many rows a key moves.
 * @param {KeyboardEvent} event
 * @returns {number|undefined} undefined for other keys
 */
export function stepOf(event) {
  return isPlain(event) && Object.hasOwn(MOVES, event.key) ? MOVES[event.key] : undefined;
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

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const KEPT = "ragnb-annotator"; // in the browser's storage

/** The keys of one task, and what a person has chosen: other keys, and whether a label continues to the next item. */
export class Keys {
  constructor({ name, fields }) {
    this.fields = fields;
    let stored = null;
    try {
      stored = JSON.parse(localStorage.getItem(KEPT));
    } catch { /* nothing is kept here */ }
    // Without a prototype, no name of a task has a meaning of its own.
    const keys = Object.assign(Object.create(null), isObject(stored?.keys) ? stored.keys : {});
    this.kept = { goesOn: stored?.goesOn !== false, keys };
    this.chosen = keys[name] = isObject(keys[name]) ? keys[name] : {}; // by the key of the table
  }

  get goesOn() { return this.kept.goesOn; }

  keep(goesOn = this.goesOn) {
    this.kept.goesOn = goesOn;
    try {
      localStorage.setItem(KEPT, JSON.stringify(this.kept));
    } catch { /* it holds as long as the page */ }
  }

  // The key that does what a key of the table does.
  of(key) {
    return this.chosen[key] ?? key;
  }

  // Lets another key do what one of the table does; false if that key has a meaning. Its own key brings it back.
  change(key, other) {
    if (other !== key && (other.length > 1 || this.act({ key: other }))) return false;
    this.chosen[key] = other;
    this.keep();
    return true;
  }

  // The meaning of a key for the annotator: {act, ...} or null where it is none of ours.
  act(event) {
    const { ctrlKey, metaKey, altKey, shiftKey } = event;
    const key = Object.keys(this.chosen).find((name) => this.of(name) === event.key) ?? event.key;
    const letter = key.length === 1 ? key.toLowerCase() : key;
    if (ctrlKey || metaKey) {
      if (letter === "z") return { act: shiftKey ? "redo" : "undo" };
      return letter === "y" ? { act: "redo" } : null;
    }
    if (altKey) return null;
    if (Object.hasOwn(SIDEWAYS, key)) return { act: "move", step: SIDEWAYS[key], extend: shiftKey, sideways: true };
    if (Object.hasOwn(MOVES, key)) return { act: "move", step: MOVES[key], extend: shiftKey };
    const act = ACTS.find(([, keys]) => keys.includes(key))?.[0];
    if (act) return act === "option" ? { act, number: Number(key) - 1 } : { act };
    const field = this.fields.find((candidate) => candidate.key === letter);
    return field ? { act: "field", name: field.name } : null;
  }

  // Rows of the help: keys of the table that can be changed, and what they do.
  help() {
    const most = Math.max(...this.fields.map(({ options }) => options.length));
    const letters = this.fields.map(({ key, label }) => [[key], `label: ${label}`]);
    return [...letters, ...ACTS.map(([act, keys, meaning]) => [act === "option" ? keys.slice(0, most) : keys, meaning])];
  }

  // Writes the chosen keys wherever a key is shown.
  write(root) {
    for (const shown of root.querySelectorAll("kbd[data-key]")) {
      const key = this.of(shown.dataset.key);
      shown.textContent = NAMES[key] ?? key;
      shown.closest("[aria-keyshortcuts]")?.setAttribute("aria-keyshortcuts", key);
    }
  }
}
