// The panels that open next to an item: a search in its texts, the keys, and the guideline.

import { kbd, node } from "./dom.mjs";

/** @import { Keys } from "./keys.mjs" */
/** @import { Hit, Sentences } from "./sentences.mjs" */
/** @import { Task } from "./types.js" */

const HELP =
  "To change a key, click it here and press another key. To restore it, click it and press its original key. " +
  "↑ ↓ (or k j, ← →) move from sentence to sentence. With Shift, they select several.";

const UNCHANGEABLE = ["Tab", "Shift", "Escape"]; // keys that move through the page

/**
 * Make the panel that searches the texts of an item.
 * @param {Sentences} sentences
 * @returns {HTMLElement}
 */
export function searchOf(sentences) {
  const count = node("span", { class: "count", "aria-live": "polite" });
  const showCount = (/** @type {Hit} */ [position, total]) => {
    if (total) {
      count.textContent = `${position + 1} of ${total}`;
    } else {
      count.textContent = input.value ? "0 found" : "";
    }
  };
  const find = () => showCount(sentences.find(input.value));
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    // While Chinese or Japanese is typed, Enter belongs to the input method.
    if (event.isComposing || event.key !== "Enter") {
      return;
    }
    event.preventDefault();
    if (sentences.hits.length) {
      showCount(sentences.nextHit(event.shiftKey ? -1 : 1));
    } else {
      find(); // the hits were forgotten, or are those of another item
    }
  };
  const attributes = {
    type: "search",
    placeholder: "words of a passage",
    "aria-label": "search in the texts",
    oninput: find,
    onkeydown,
  };
  const input = node("input", attributes);
  return node("div", { class: "panel", hidden: true }, input, " ", count);
}

/**
 * Make the panel with all keys. A key that is pressed on one of them replaces it.
 * @param {Keys} keys
 * @param {function(string, string): void} changed gets the key of the table and the new one
 * @returns {HTMLElement}
 */
export function helpOf(keys, changed) {
  const rows = keys.help().map(([keysOfRow, meaning]) => {
    const buttons = keysOfRow.map((key) => keyButton(key, meaning, changed));
    return node("div", {}, node("span", {}, ...buttons), node("span", {}, meaning));
  });
  return node("div", { class: "panel help", hidden: true }, node("p", {}, HELP), ...rows);
}

/**
 * @param {string} key
 * @param {string} meaning
 * @param {function(string, string): void} changed
 */
function keyButton(key, meaning, changed) {
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    if (hasModifier || UNCHANGEABLE.includes(event.key)) {
      return;
    }
    event.preventDefault();
    changed(key, event.key);
  };
  const attributes = {
    type: "button",
    class: "act",
    "aria-label": `key of: ${meaning}`,
    "aria-keyshortcuts": key,
    onkeydown,
  };
  return node("button", attributes, kbd(key));
}

/**
 * Make the guideline of a task, which can be folded.
 * @param {Task} task
 * @returns {HTMLElement}
 */
export function guideOf({ name, guideline }) {
  const lines = guideline.split("\n").map((line) => node("p", { dir: "auto" }, line));
  const attributes = { class: "guide", open: true, hidden: !guideline };
  return node("details", attributes, node("summary", {}, `guideline: ${name}`), ...lines);
}
