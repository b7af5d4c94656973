// The keys: what each of them does, the button for it, and what the help says.

// Rows by which a key moves through a list, the last two to its ends.
const MOVES = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity };

// act, keys, help: [keys, meaning], button: [label, title]
export const ACTS = [
  ["toggle", [" ", "x"], ["space", "choose or unchoose the sentence for the active label (or x); the mouse does, too, and drags"]],
  ["option", [..."123456789"], ["1 … 9", "an option of the active label"]],
  ["empty", ["e"], ["e", "none: deliberately empty"]],
  ["clear", ["Backspace", "Delete"], ["⌫", "untouched again"]],
  ["sentence back", ["["], ["[ ]", "the sentence of the response before, after"]],
  ["sentence on", ["]"]],
  ["previous", ["p"], null, ["‹", "previous item"]],
  ["next", ["n"], ["n p", "next, previous item"], ["›", "next item"]],
  ["done", ["Enter"], ["Enter", "what is still missing, else the next item that is not labelled"], ["done, next", "next item that is not labelled"]],
  ["undo", ["z"], ["z Z", "undo, redo, wherever it was (or Ctrl+Z, Ctrl+Y)"], ["undo"]],
  ["redo", ["Z"], null, ["redo"]],
  ["skip", ["."], [".", "skip the item"], ["skip"]],
  ["flag", ["f"], ["f", "flag it"], ["flag"]],
  ["memo", ["m"], ["m", "note on it"], ["note"]],
  ["accept", ["a"], ["a", "accept what is suggested"]],
  ["search", ["/"], ["/", "search in the texts; Enter for the next place"], ["search"]],
  ["jump", ["g"], ["g", "list of items"], ["list"]],
  ["help", ["?"], null, ["keys"]],
  ["fold", ["o"], ["o", "unfold a long document"]],
  ["leave", ["Escape"], ["Esc", "close what is open"]],
];

export const HELP = [
  ["↑ ↓", "from sentence to sentence (or k j); with Shift, several"],
  ...ACTS.map(([, , help]) => help).filter(Boolean),
];

export const BUTTONS = ACTS.filter(([, , , button]) => button).map(([act, [key], , [label, title = label]]) => [act, label, key, title]);

// Whether a key is pressed without a modifier. Keys with Ctrl, Meta or Alt, and Shift+Enter, belong to the notebook.
export function isPlain({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  return !(ctrlKey || metaKey || altKey || (shiftKey && key === "Enter"));
}

// Rows by which a key moves; undefined where it does not.
export function stepOf(event) {
  return isPlain(event) && Object.hasOwn(MOVES, event.key) ? MOVES[event.key] : undefined;
}

// Whether a key leaves a search for what was found; Enter and arrows belong to what writes Chinese or Japanese.
export function leavesSearch(event) {
  return isPlain(event) && !event.isComposing && ["Escape", "Enter", "ArrowDown"].includes(event.key);
}

// The meaning of a key for the annotator: {act, ...} or null where it is none of ours.
export function keyAct(event, fields) {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  const letter = key.length === 1 ? key.toLowerCase() : key;
  if (ctrlKey || metaKey) {
    if (letter === "z") return { act: shiftKey ? "redo" : "undo" };
    return letter === "y" ? { act: "redo" } : null;
  }
  if (altKey) return null;
  if (stepOf(event) !== undefined) return { act: "move", step: stepOf(event), extend: shiftKey };
  const act = ACTS.find(([, keys]) => keys.includes(key))?.[0];
  if (act) return act === "option" ? { act, number: Number(key) - 1 } : { act };
  const field = fields.find((one) => one.key === letter);
  return field ? { act: "field", name: field.name } : null;
}
