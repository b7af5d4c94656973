// The panels that open next to an item: a search in its texts, the keys, and the guideline.

import { kbd, node } from "./dom.mjs";

/**
 * Make the panel that searches the texts of an item.
 * @param {Sentences} sentences
 * @returns {HTMLElement}
 */
export function searchOf(sentences) {
  const count = node("span", { class: "count", "aria-live": "polite" });
  const showCount = ([at, total]) => { count.textContent = total ? `${at + 1} of ${total}` : input.value && "0 found"; };
  const find = () => showCount(sentences.find(input.value));
  const onkeydown = (event) => {
    if (event.isComposing || event.key !== "Enter") return; // Enter belongs to what writes Chinese or Japanese
    event.preventDefault();
    if (sentences.hits.length) showCount(sentences.nextHit(event.shiftKey ? -1 : 1));
    else find(); // they were forgotten, or are those of another item
  };
  const input = node("input", { type: "search", placeholder: "words of a passage", "aria-label": "search in the texts", oninput: find, onkeydown });
  return node("div", { class: "panel", hidden: true }, input, " ", count);
}

/**
 * Make the panel with all keys. A key that is pressed on one of them replaces it.
 * @param {Keys} keys
 * @param {function(string, string): void} changed gets the key of the table and the new one
 * @returns {HTMLElement}
 */
export function helpOf(keys, changed) {
  const change = (event, key) => {
    if (event.ctrlKey || event.metaKey || event.altKey || ["Tab", "Shift", "Escape"].includes(event.key)) return;
    event.preventDefault();
    changed(key, event.key);
  };
  const button = (key, meaning) => node("button", {
    type: "button", class: "act", "aria-label": `key of: ${meaning}`, "aria-keyshortcuts": key, onkeydown: (event) => change(event, key),
  }, kbd(key));
  const rows = keys.help().map(([of, meaning]) => node("div", {}, node("span", {}, ...of.map((key) => button(key, meaning))), node("span", {}, meaning)));
  return node("div", { class: "panel help", hidden: true },
    node("p", {}, "To change a key, click it here and press another key. To restore it, click it and press its original key. ↑ ↓ (or k j, ← →) move from sentence to sentence. With Shift, they select several."), ...rows);
}

/**
 * Make the guideline of a task, which can be folded.
 * @param {object} task
 * @returns {HTMLElement}
 */
export function guideOf({ name, guideline }) {
  const lines = guideline.split("\n").map((line) => node("p", { dir: "auto" }, line));
  return node("details", { class: "guide", open: true, hidden: !guideline }, node("summary", {}, `guideline: ${name}`), ...lines);
}
