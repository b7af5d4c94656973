// Elements of a page; every text on it is a textContent.

const PAUSE = 700; // milliseconds without a key after which a text is saved

// An element: a class, listeners by on…, attributes, of which false, null and undefined are left out.
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

export const kbd = (key) => node("kbd", { "aria-hidden": "true" }, key);

// Sends a text when nobody has typed for a moment, and when its field is left; with the item that it was typed on.
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
    clearTimeout(timer);
    timer = setTimeout(now, PAUSE);
  });
  input.addEventListener("change", now);
}
