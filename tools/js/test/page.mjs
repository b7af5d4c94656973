// As much of a page as the widgets need under Node: elements with attributes, children, classes and listeners. It has no layout,
// so every element is in sight unless a test hides it. tests/browser tries the widgets in a real browser.

class Listeners {
  constructor() {
    this.listeners = new Map();
  }

  addEventListener(name, listener, { once = false } = {}) {
    const listeners = this.listeners.get(name) ?? [];
    this.listeners.set(name, [...listeners, { listener, once }]);
  }

  removeEventListener(name, listener) {
    const listeners = this.listeners.get(name) ?? [];
    this.listeners.set(name, listeners.filter((entry) => entry.listener !== listener));
  }

  dispatch(name, event = {}) {
    for (const { listener, once } of this.listeners.get(name) ?? []) {
      if (once) {
        this.removeEventListener(name, listener);
      }
      listener(event);
    }
  }
}

class ClassList {
  constructor(element) {
    this.element = element;
  }

  get names() {
    return this.element.className.split(" ").filter(Boolean);
  }

  contains(name) {
    return this.names.includes(name);
  }

  add(name) {
    this.toggle(name, true);
  }

  remove(name) {
    this.toggle(name, false);
  }

  toggle(name, isPresent) {
    const names = new Set(this.names);
    if (isPresent) {
      names.add(name);
    } else {
      names.delete(name);
    }
    this.element.className = [...names].join(" ");
  }
}

class Element extends Listeners {
  constructor(tagName) {
    super();
    this.tagName = tagName.toUpperCase();
    this.className = "";
    this.classList = new ClassList(this);
    this.attributes = {};
    this.style = {};
    this.dataset = {};
    this.children = [];
    this.parent = null;
    this.direction = "ltr";
    this.isVisible = true;
    this.scrollTop = 0;
    if (["INPUT", "SELECT", "TEXTAREA"].includes(this.tagName)) {
      this.value = "";
    }
  }

  setAttribute(name, value) {
    this.attributes[name] = String(value);
    if (name.startsWith("data-")) {
      this.dataset[name.slice("data-".length)] = String(value);
    }
  }

  append(...children) {
    for (const child of children) {
      if (child instanceof Element) {
        child.parent = this;
      }
    }
    this.children.push(...children);
    if (this.tagName === "SELECT" && this.value === "") {
      this.value = this.children[0]?.attributes.value ?? "";
    }
  }

  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }

  get textContent() {
    return this.children.map((child) => (child instanceof Element ? child.textContent : String(child))).join("");
  }

  set textContent(text) {
    this.replaceChildren(...(text === "" ? [] : [text]));
  }

  get descendants() {
    const elements = this.children.filter((child) => child instanceof Element);
    return elements.flatMap((element) => [element, ...element.descendants]);
  }

  contains(element) {
    return element === this || this.descendants.includes(element);
  }

  replaceWith(element) {
    const { children } = this.parent;
    children[children.indexOf(this)] = element;
    element.parent = this.parent;
  }

  // Selectors are names of elements, classes (".on"), attributes ("[name]"), lists of them, and the field with the focus.
  matches(selector) {
    if (selector === ".field:has(textarea:focus)") {
      return this.classList.contains("field") && document.activeElement?.tagName === "TEXTAREA" && this.contains(document.activeElement);
    }
    if (selector === "kbd[data-key]") {
      return this.tagName === "KBD" && "key" in this.dataset;
    }
    if (selector.startsWith("[")) {
      return selector.slice(1, -1) in this.attributes;
    }
    const choices = selector.split(",").map((choice) => choice.trim());
    return choices.some((choice) =>
      choice.startsWith(".") ? this.classList.contains(choice.slice(1)) : this.tagName === choice.toUpperCase(),
    );
  }

  querySelectorAll(selector) {
    return this.descendants.filter((element) => element.matches(selector));
  }

  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }

  closest(selector) {
    return this.matches(selector) ? this : this.parent?.closest(selector) ?? null;
  }

  checkVisibility() {
    return this.isVisible;
  }

  get hidden() {
    return "hidden" in this.attributes;
  }

  set hidden(isHidden) {
    if (isHidden) {
      this.attributes.hidden = "";
    } else {
      delete this.attributes.hidden;
    }
  }

  removeAttribute(name) {
    delete this.attributes[name];
  }

  getAttribute(name) {
    return this.attributes[name] ?? null;
  }

  focus() {
    document.activeElement = this;
  }

  select() {
    this.focus();
  }

  // An event goes from its target to the page, until somebody stops it. False if somebody has prevented what the browser does.
  dispatchEvent(event) {
    Object.assign(event, { target: this });
    for (let element = this; element && !event.isStopped; element = element.parent) {
      element.dispatch(event.type, event);
    }
    return !event.defaultPrevented;
  }

  scrollIntoView() {
    document.scrolledTo = this;
  }

  click(event = {}) {
    this.dispatch("click", event);
  }
}

/** A key that is pressed, as the widgets read it. */
export class Key {
  constructor(type, { key, ctrlKey = false, metaKey = false, altKey = false, shiftKey = false, repeat = false }) {
    Object.assign(this, { type, key, ctrlKey, metaKey, altKey, shiftKey, repeat, isComposing: false, defaultPrevented: false });
  }

  preventDefault() {
    this.defaultPrevented = true;
  }

  stopPropagation() {
    this.isStopped = true;
  }
}

globalThis.KeyboardEvent = Key;

const page = new Listeners();
globalThis.addEventListener = (...listener) => page.addEventListener(...listener);
globalThis.removeEventListener = (...listener) => page.removeEventListener(...listener);
globalThis.getComputedStyle = ({ direction }) => ({ direction });
globalThis.document = Object.assign(new Listeners(), {
  activeElement: null,
  createElement: (name) => new Element(name),
});

/** A clock that a test moves. The timers of node:test differ between versions of Node. */
class Clock {
  hold() {
    this.now = 0;
    this.lastId = 0;
    this.timers = [];
    this.real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
    globalThis.setTimeout = (run, delay = 0) => {
      this.lastId += 1;
      this.timers.push({ id: this.lastId, at: this.now + delay, run });
      return this.lastId;
    };
    globalThis.clearTimeout = (id) => {
      this.timers = this.timers.filter((timer) => timer.id !== id);
    };
  }

  tick(milliseconds) {
    const end = this.now + milliseconds;
    const nextDue = () => this.timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at || a.id - b.id)[0];
    for (let due = nextDue(); due; due = nextDue()) {
      clearTimeout(due.id);
      this.now = due.at;
      due.run();
    }
    this.now = end;
  }

  release() {
    Object.assign(globalThis, this.real);
  }
}

export const clock = new Clock();

/** Forget what listens to the page, and the focus. */
export function openNewPage() {
  page.listeners.clear();
  document.activeElement = null;
}

/** Tell the page that something happens to it, such as "beforeunload". */
export function happen(name, event = {}) {
  page.dispatch(name, event);
}
