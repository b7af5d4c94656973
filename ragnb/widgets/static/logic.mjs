// What the annotator decides without a page: keys, ranges, folding, search and values.

export const FOLD_ABOVE = 40; // sentences of a document that are shown without asking
export const FOLDED_TO = 8;

const MOVES = {
  ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity,
};
const ACTS = {
  " ": "toggle", x: "toggle", e: "empty", Backspace: "clear", Delete: "clear", n: "next", p: "previous", Enter: "done",
  ".": "skip", f: "flag", m: "memo", a: "accept", z: "undo", Z: "redo", g: "jump", "/": "search", "?": "help", o: "fold",
  "[": "sentence back", "]": "sentence on", Escape: "leave",
};

// The meaning of a key: {act, ...} or null where it is none of ours.
export function keyAct(event, fields) {
  const command = event.ctrlKey || event.metaKey;
  const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (command) {
    if (letter === "z") return { act: event.shiftKey ? "redo" : "undo" };
    return letter === "y" ? { act: "redo" } : null;
  }
  if (event.altKey) return null;
  if (event.key in MOVES) return { act: "move", step: MOVES[event.key], extend: event.shiftKey };
  if (/^[1-9]$/.test(event.key)) return { act: "option", number: Number(event.key) - 1 };
  if (event.key in ACTS) return { act: ACTS[event.key] };
  const field = fields.find((one) => one.key === letter);
  return field ? { act: "field", name: field.name } : null;
}

// Keys from one place to another, whichever comes first.
export function range(keys, from, to) {
  return keys.slice(Math.min(from, to), Math.max(from, to) + 1);
}

// Number of sentences of a document that are shown.
export function shownOf(total) {
  return total <= FOLD_ABOVE ? total : FOLDED_TO;
}

// Text with letter case, width and accents that were typed apart made equal, for search.
export function folded(text) {
  return text.normalize("NFKC").toLowerCase();
}

export function found(texts, query) {
  const words = folded(query).split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  return texts.flatMap((text, number) => (words.every((word) => folded(text).includes(word)) ? [number] : []));
}

// Numbers of the entries of the jump list, [title, status, flagged] each, that pass a filter and hold some words.
export function listed(entries, filter, query) {
  const words = folded(query).split(/\s+/).filter(Boolean);
  const passes = {
    all: () => true,
    "not labelled": ([, status]) => status !== "labelled",
    flagged: ([, , flag]) => flag,
  };
  const pass = passes[filter] || (([, status]) => status === filter);
  return entries.flatMap((entry, number) =>
    pass(entry) && words.every((word) => folded(entry[0]).includes(word)) ? [number] : []);
}

// Seconds as people say them.
export function spoken(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} s left`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `about ${minutes} min left` : `about ${(minutes / 60).toFixed(1)} h left`;
}

// The place that comes after one in a list of places [field, sentence], or the first.
export function nextPlace(missing, places, place) {
  const at = places.findIndex(([field, sentence]) => field === place[0] && sentence === place[1]);
  const open = (candidate) => missing.some(([field, sentence]) => field === candidate[0] && sentence === candidate[1]);
  return [...places.slice(at + 1), ...places.slice(0, at + 1)].find(open) || null;
}

// Value of a place in values by field; undefined where untouched.
export function valueAt(values, [field, sentence]) {
  const value = values[field];
  return sentence === null || value === undefined ? value : value[sentence];
}

// Who of the others said that of a place: names whose value it is, or whose list holds it.
export function votes(others, place, value) {
  return others.filter(({ values }) => {
    const said = valueAt(values, place);
    return Array.isArray(said) ? said.includes(value) : said === value;
  }).map(({ name }) => name);
}

// Names with how often each of them is there: "item 1 (flag) × 2, item 3 (label)".
export function counted(names) {
  const times = new Map();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return [...times].map(([name, n]) => (n > 1 ? `${name} × ${n}` : name)).join(", ");
}
