// Elements of a page; every text on it is a textContent.

const PAUSE = 700; // milliseconds without a key after which a text is saved

// Create an element with a class, listeners (on…) and attributes. Attributes that are false, null or undefined are left out.
export function node(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// Listens to a model; returns what ends that.
export function connect(model, handlers) {
  for (const [event, handler] of Object.entries(handlers)) model.on(event, handler);
  return () => { for (const [event, handler] of Object.entries(handlers)) model.off(event, handler); };
}

// A key of the table, where it is shown; see `Keys.write`.
export const kbd = (key) => node("kbd", { "aria-hidden": "true", "data-key": key }, key);

// Sends a text when nobody has typed for a moment, and when its field or the page is left; with the item that it was typed on.
export function whenTyped(input, itemNow, send) {
  let typed = null; // [text, item], not sent yet
  let timer;
  const now = () => {
    clearTimeout(timer);
    if (typed) send(...typed);
    typed = null;
  };
  input.addEventListener("input", () => {
    typed = [input.value, itemNow()];
    addEventListener("pagehide", now, { once: true });
    document.addEventListener("visibilitychange", now, { once: true });
    clearTimeout(timer);
    timer = setTimeout(now, PAUSE);
  });
  input.addEventListener("change", now);
  input.addEventListener("blur", now);
}

// Types a key into the text field with the focus, as the browser does with a key that nobody has prevented.
export function typeInto({ key, ctrlKey, metaKey, altKey }) {
  if (ctrlKey || metaKey || altKey) return;
  if (key === "Backspace") document.execCommand("delete");
  else if (key === "Enter" || key.length === 1) document.execCommand("insertText", false, key === "Enter" ? "\n" : key);
}
