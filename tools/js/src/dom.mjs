// Helpers for elements of a page, which all other modules use. A text only ever becomes a textContent, so that no text from
// outside can become an element.

/** @import { Model } from "./types.js" */

const TYPING_PAUSE = 700; // milliseconds without a key after which a text is saved

/**
 * Create an element.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, any>} attributes class, listeners (on…) and attributes; those that are false, null or undefined are left out
 * @param {...(Node|string|null)} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function node(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    addAttribute(element, key, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {string} key
 * @param {any} value
 */
function addAttribute(element, key, value) {
  const isAbsent = value === false || value === null || value === undefined;
  if (key === "class") {
    element.className = value;
  } else if (key.startsWith("on")) {
    element.addEventListener(key.slice("on".length), value);
  } else if (!isAbsent) {
    element.setAttribute(key, value === true ? "" : value);
  }
}

/**
 * Listen to a model.
 * @template Message
 * @param {Pick<Model<never, never, Message>, "on" | "off">} model
 * @param {Record<string, function(...Message): void>} handlers by event
 * @returns {function(): void} stops listening
 */
export function connect(model, handlers) {
  for (const [event, handler] of Object.entries(handlers)) {
    model.on(event, handler);
  }
  return () => {
    for (const [event, handler] of Object.entries(handlers)) {
      model.off(event, handler);
    }
  };
}

/**
 * Show a key of the table; `Keys.write` replaces it by the key that the user has chosen.
 * @param {string} key
 * @returns {HTMLElement}
 */
export function kbd(key) {
  return node("kbd", { "aria-hidden": "true", "data-key": key }, key);
}

/**
 * Send a text when nobody has typed for a moment, and when its field or the page is left.
 * @param {HTMLInputElement | HTMLTextAreaElement} input
 * @param {function(): number} currentItem returns the item on the screen
 * @param {function(string, number): void} send gets the text, and the item for which it was typed
 */
export function whenTyped(input, currentItem, send) {
  /** @type {{text: string, item: number} | null} */
  let unsent = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const sendNow = () => {
    clearTimeout(timer);
    if (unsent) {
      send(unsent.text, unsent.item);
    }
    unsent = null;
  };
  input.addEventListener("input", () => {
    unsent = { text: input.value, item: currentItem() };
    addEventListener("pagehide", sendNow, { once: true });
    document.addEventListener("visibilitychange", sendNow, { once: true });
    clearTimeout(timer);
    timer = setTimeout(sendNow, TYPING_PAUSE);
  });
  input.addEventListener("change", sendNow);
  input.addEventListener("blur", sendNow);
}

/**
 * Type a key into the text field with the focus, as the browser does with a key that no listener has prevented.
 * @param {KeyboardEvent} event
 */
export function typeInto({ key, ctrlKey, metaKey, altKey }) {
  if (ctrlKey || metaKey || altKey) {
    return;
  }
  if (key === "Backspace") {
    document.execCommand("delete");
  } else if (key === "Enter") {
    document.execCommand("insertText", false, "\n");
  } else if (key.length === 1) {
    document.execCommand("insertText", false, key);
  }
}
