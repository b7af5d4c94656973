// The annotator: its frame, and what each key and button does. It draws the state that the model has, and sends actions to it.
// The model is Python's (ragnb/widgets/annotator.py), or that of the hand-out (local.mjs), and decides everything.

import { connect, kbd, node, typeInto } from "./dom.mjs";
import { Fields } from "./fields.mjs";
import { ItemList } from "./item_list.mjs";
import { BUTTONS, Keys } from "./keys.mjs";
import { guideOf, helpOf, searchOf } from "./panels.mjs";
import { Saving } from "./saving.mjs";
import { Sentences } from "./sentences.mjs";
import { ALL_DONE, Work, isList } from "./work.mjs";

/** @import { Meaning, OtherAct } from "./keys.mjs" */
/** @import { ActName, Acts, AnnotatorModel, Message, Page, Value } from "./types.js" */

/** @typedef {Annotator} AnnotatorView the annotator, for the modules that draw its parts */

const MODIFIERS = ["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock"];
const TEXT_FIELDS = ["INPUT", "TEXTAREA"];
const MOST_SECONDS = 90; // longer times are in minutes
const MOST_MINUTES = 90; // longer times are in hours
const NOTHING_TO_LABEL = "there is nothing to label in this item";

/**
 * Seconds as people say them.
 * @param {number} seconds
 */
function spoken(seconds) {
  if (seconds < MOST_SECONDS) {
    return `about ${Math.max(1, Math.round(seconds))} s left`;
  }
  const minutes = Math.round(seconds / 60);
  if (minutes < MOST_MINUTES) {
    return `about ${minutes} min left`;
  }
  return `about ${(minutes / 60).toFixed(1)} h left`;
}

class Annotator {
  /**
   * @param {AnnotatorModel} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.work = new Work(model);
    this.keys = new Keys(this.work.task);
    this.isSeeking = false; // whether the next state shows the first place that is missing
    /** @type {Page | null} */
    this.page = null; // the page that was drawn
    /** @type {Element | null} */
    this.focusBefore = null; // what had the focus when the annotator was drawn
    this.root = this.drawRoot();
    this.saving = new Saving(model, this.root, () => this.focus());
    this.sentences = new Sentences(this);
    this.fields = new Fields(this);
    this.search = searchOf(this.sentences);
    this.items = new ItemList(this);
    this.help = helpOf(this.keys, (key, other) => this.changeKey(key, other));
    this.bar = node("progress", { "aria-label": "labelled" });
    this.count = node("span", { class: "count" });
    const buttons = BUTTONS.map(([act, label, key, title]) => /** @type {const} */ ([act, this.button(act, label, key, title)]));
    this.buttons = new Map(buttons); // by act
    this.body = node("div", { class: "body" });
    this.end = node("div", { class: "panel end", hidden: true });
    this.drawFrame();
    el.append(this.root);
    this.disconnect = connect(model, {
      "change:state": () => this.onState(),
      "change:jump": () => this.items.draw(),
      "msg:custom": (/** @type {Message} */ message) => this.onMessage(message),
      comm_live_update: () => this.saving.gone(),
    });
    this.paint();
    this.askForFocus();
  }

  close() {
    this.disconnect();
    this.saving.close();
  }

  // Another page always comes with another state.
  onState() {
    this.keepFocus(() => {
      this.paint();
      this.items.learn(this.work.state.entries);
    });
  }

  /** @param {Message} message */
  onMessage(message) {
    if (message.kind === "focus") {
      this.takeFocus();
    } else if (message.kind === "pending") {
      this.saving.answer(message.question);
    }
  }

  // ---- the frame, drawn once -----------------------------------------------------------------------------------------

  drawRoot() {
    const stop = (/** @type {Event} */ event) => event.stopPropagation();
    return node("div", {
      class: "ragnb-annotator",
      role: "region",
      "aria-label": `annotator: ${this.work.task.name}`,
      tabindex: -1,
      "data-lm-suppress-shortcuts": "true",
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event),
      onkeyup: stop,
      onkeypress: stop,
    });
  }

  drawFrame() {
    const toolbar = { class: "buttons", role: "toolbar", "aria-label": "actions" };
    this.root.append(
      node("div", { class: "head" }, this.bar, this.count),
      node("div", toolbar, ...this.buttons.values()),
      guideOf(this.work.task),
      this.help,
      this.items.box,
      this.search,
      this.end,
      this.body,
      this.saving.box,
    );
  }

  /**
   * @param {OtherAct} act
   * @param {string} label
   * @param {string} key
   * @param {string} title
   */
  button(act, label, key, title = label) {
    const onclick = () => {
      // The focus goes to the texts first, because an act may move it from there.
      this.focus();
      this.saving.whenShown(label, () => this.act({ act }));
    };
    const attributes = { type: "button", class: "act", title, "aria-label": title, "aria-keyshortcuts": key, onclick };
    return node("button", attributes, label, " ", kbd(key));
  }

  // ---- the page, drawn when the item changes -------------------------------------------------------------------------

  drawPage() {
    const { page } = this.work;
    this.page = page;
    this.work.begin();
    const conversation = this.conversation(page);
    const [documents, otherParts] = this.sentences.draw();
    const columns = node(
      "div",
      { class: documents.length ? "columns" : "" },
      node("div", { class: "column" }, ...documents),
      node("div", { class: "column side" }, ...otherParts, ...this.fields.draw()),
    );
    this.body.replaceChildren(conversation, this.question(page), columns);
    conversation.scrollTop = conversation.scrollHeight;
  }

  /**
   * The earlier turns of the conversation.
   * @param {Page} page
   */
  conversation({ history }) {
    const messages = history.length === 1 ? "message" : "messages";
    const heading = `earlier in the conversation: ${history.length} ${messages}`;
    const turns = history.map(([role, text]) =>
      node("div", { class: "turn", dir: "auto" }, node("b", {}, role), " ", node("span", {}, text)),
    );
    const attributes = { class: "history", open: true, hidden: !history.length };
    return node("details", attributes, node("summary", {}, heading), ...turns);
  }

  /**
   * The question with its references, which have the direction of the question.
   * @param {Page} page
   */
  question({ number, question, references }) {
    const lead = node("span", { dir: "ltr" }, `${number + 1}.`);
    const lines = references.map((text, position) => {
      const word = position === 0 ? "reference:" : "and";
      return node(
        "div",
        { class: "reference" },
        node("span", { class: "lead", dir: "ltr" }, word),
        " ",
        node("span", { dir: "auto" }, text),
      );
    });
    const heading = node("div", { class: "question" }, lead, " ", node("b", {}, question));
    return node("div", { dir: "auto" }, heading, ...lines);
  }

  // ---- what is painted with every action -----------------------------------------------------------------------------

  paint() {
    if (this.page !== this.work.page) {
      this.drawPage();
    }
    const isAcknowledged = this.saving.paint(this.work.state);
    if (isAcknowledged) {
      if (this.isSeeking) {
        this.work.seek();
      }
      this.isSeeking = false;
      this.work.confirm();
    }
    this.paintFrame();
    this.paintEnd();
    this.paintLabels();
  }

  // What comes after the last item. On a page without a kernel, that is a button, which has the focus when nothing is left.
  paintEnd() {
    const { end, ack, message } = this.work.state;
    const { finish } = this.model;
    this.end.hidden = !end;
    if (end) {
      const code = end.code ? [node("pre", {}, end.code)] : [];
      this.end.replaceChildren(node("b", {}, end.text), ...code);
    }
    if (!finish) {
      return;
    }
    const home = end ? this.end : finish.home;
    home.append(finish.button);
    const hasJustEnded = end && ack && message === ALL_DONE;
    if (hasJustEnded) {
      setTimeout(() => finish.button.focus()); // after what takes the focus back to the texts
    }
  }

  paintLabels() {
    this.sentences.paint();
    this.fields.paint();
    this.keys.write(this.root);
  }

  paintFrame() {
    const { page, state } = this.work;
    const { progress } = state;
    this.count.textContent = this.progressText();
    this.bar.max = progress.items;
    this.bar.value = progress.labelled;
    /** @type {[OtherAct, boolean][]} */
    const isPossible = [
      ["undo", state.can_undo],
      ["redo", state.can_redo],
      ["previous", page.number > 0],
      ["next", page.number < progress.items - 1],
    ];
    for (const [act, possible] of isPossible) {
      const button = this.buttons.get(act);
      if (button) {
        button.disabled = !possible;
      }
    }
    /** @type {[OtherAct, boolean][]} */
    const isPressed = [
      ["flag", state.flag],
      ["skip", state.status === "skipped"],
      ["memo", state.note !== ""],
      ["auto", this.keys.goesOn],
    ];
    for (const [act, pressed] of isPressed) {
      this.buttons.get(act)?.setAttribute("aria-pressed", String(pressed));
    }
    this.root.dataset.status = state.status;
  }

  progressText() {
    const { progress } = this.work.state;
    const parts = [`${progress.labelled} of ${progress.items} labelled`];
    for (const status of /** @type {const} */ (["started", "skipped", "flagged"])) {
      if (progress[status]) {
        parts.push(`${progress[status]} ${status}`);
      }
    }
    if (progress.seconds_left) {
      parts.push(spoken(progress.seconds_left));
    }
    return parts.join(" · ");
  }

  // ---- keys ----------------------------------------------------------------------------------------------------------

  /**
   * The element with the focus handles the key first: a text field, a list or a button. Then the annotator does.
   * @param {KeyboardEvent} event
   */
  onKey(event) {
    const { tagName } = /** @type {Element} */ (event.target);
    const pressesButton = tagName === "BUTTON" && [" ", "Enter"].includes(event.key);
    if (event.defaultPrevented) {
      event.stopPropagation(); // the list or a search has understood it
    } else if (TEXT_FIELDS.includes(tagName) || tagName === "SELECT") {
      this.onTyping(event);
    } else if (pressesButton || tagName === "SUMMARY") {
      event.stopPropagation();
    } else {
      this.onCommand(event);
    }
  }

  /** @param {KeyboardEvent} event */
  onTyping(event) {
    event.stopPropagation();
    const finishes = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    const leaves = event.key === "Escape";
    if (event.isComposing || !(finishes || leaves)) {
      return;
    }
    event.preventDefault();
    if (finishes) {
      this.focus();
    } else {
      this.leave();
    }
  }

  /** @param {KeyboardEvent} event */
  onCommand(event) {
    const meaning = this.keys.act(event);
    // Such as Ctrl+S, which saves the notebook.
    const isOfNotebook = (event.ctrlKey || event.metaKey) && event.key.length === 1;
    if (!meaning && (isOfNotebook || event.key === "Tab")) {
      return;
    }
    event.stopPropagation();
    const isHeld = this.saving.waiting && !MODIFIERS.includes(event.key);
    if (isHeld) {
      event.preventDefault();
      this.saving.whenShown(event.key, () => this.replay(event));
    } else if (meaning) {
      event.preventDefault();
      // A key that is held down acts once, except for moves.
      if (!event.repeat || meaning.act === "move") {
        this.act(meaning);
      }
    }
  }

  /**
   * Repeat a key that was held, for whatever has the focus now: a key before it may have opened the note, a search or the list.
   * @param {KeyboardEvent} event
   */
  replay(event) {
    const { activeElement } = document;
    const target = activeElement && this.root.contains(activeElement) ? activeElement : this.root;
    const isUnhandled = target.dispatchEvent(new KeyboardEvent("keydown", event));
    if (isUnhandled && TEXT_FIELDS.includes(target.tagName)) {
      typeInto(event);
    }
  }

  /**
   * Do what a key or button means. Acts without a case of their own are sent as they are: skip, flag, accept, undo, redo.
   * @param {Meaning} meaning
   */
  act(meaning) {
    switch (meaning.act) {
      case "move": return this.sentences.move(meaning.step, meaning.extend, meaning.sideways);
      case "option": return this.choose(meaning.number);
      case "field": return this.goToField(meaning.name);
      case "toggle": return this.toggle();
      case "empty": return this.give([]);
      case "clear": return this.give(null);
      case "next": return this.send("move", { step: 1 });
      case "previous": return this.send("move", { step: -1 });
      case "done": return this.finishItem();
      case "tag": return this.fields.tags.focus();
      case "memo": return this.fields.showNote(true);
      case "jump": return this.showItems();
      case "auto": return this.changeAuto();
      case "search": return this.showSearch();
      case "help": return this.showHelp();
      case "fold": return this.unfold();
      case "sentence on": return this.go(() => this.work.goToSentenceBy(1));
      case "sentence back": return this.go(() => this.work.goToSentenceBy(-1));
      case "leave": return this.leave();
      default: return this.send(meaning.act, {});
    }
  }

  /**
   * A free text has the focus at once, so that somebody can write.
   * @param {string} name
   */
  goToField(name) {
    const field = this.work.fieldOf(name);
    const place = this.work.placeOf(field);
    if (!place) {
      this.saving.say(`${field.label}: this item has no sentence or claim to label`);
      return;
    }
    this.go(() => this.work.goTo(place));
    if (field.kind === "text") {
      this.fields.write(name);
    }
  }

  // The first place that is missing becomes the active one; without one, the next item is shown.
  finishItem() {
    this.isSeeking = true;
    this.send("done", {});
  }

  showItems() {
    if (this.items.box.hidden) {
      this.items.open();
    } else {
      this.leave();
    }
  }

  changeAuto() {
    this.keys.keep(!this.keys.goesOn);
    this.paintFrame();
  }

  showSearch() {
    this.search.hidden = false;
    this.search.querySelector("input")?.select();
  }

  showHelp() {
    this.help.hidden = !this.help.hidden;
  }

  unfold() {
    this.sentences.unfold();
    this.focus();
  }

  /**
   * @param {string} key of the table
   * @param {string} other
   */
  changeKey(key, other) {
    if (this.keys.change(key, other)) {
      this.keys.write(this.root);
    } else {
      this.saving.say(`${other} already has a meaning, or is not a single character`, true);
    }
  }

  // ---- labels --------------------------------------------------------------------------------------------------------

  /**
   * @template {ActName} Name
   * @param {Name} act
   * @param {Acts[Name] & {number?: number}} content with the number of the item if it is not the one on the screen
   */
  send(act, content) {
    this.saving.send(act, content);
  }

  // The active field, and its place as acts name it. In an item without any place, this is said, and null is returned.
  active() {
    const { field, place } = this.work;
    if (!field || !place) {
      this.saving.say(NOTHING_TO_LABEL);
      return null;
    }
    const [name, sentence] = place;
    return { field, where: { field: name, sentence } };
  }

  /** @param {number} [lead] the place at which a range of sentences begins */
  toggle(lead) {
    const active = this.active();
    if (!active) {
      return;
    }
    const { field, where } = active;
    if (field.kind === "sentences") {
      this.send("toggle", { ...where, ...this.sentences.take(lead) });
    } else {
      this.saving.say(`${field.label}: choose with the digits, or press a field's letter`);
    }
  }

  /** @param {number} number of an option of the active field */
  choose(number) {
    const active = this.active();
    if (!active) {
      return;
    }
    const { field, where } = active;
    const option = this.work.optionsOf(field)[number];
    if (!option) {
      return;
    }
    if (isList(field)) {
      this.send("toggle", { ...where, keys: [option.value] });
    } else {
      this.give(option.value);
    }
  }

  /**
   * Give the active place a value and go on to the next place, or item; null makes the place untouched again.
   * @param {Value} value
   */
  give(value) {
    const active = this.active();
    if (!active) {
      return;
    }
    const { field, where } = active;
    if (Array.isArray(value) && !isList(field)) {
      this.saving.say(`${field.label} needs one of its options`);
      return;
    }
    this.send("label", { ...where, value });
    if (value === null) {
      return;
    }
    const wasLast = this.go(() => this.work.goOn());
    if (wasLast && this.keys.goesOn) {
      this.send("next", {});
    }
  }

  /**
   * Go to another place; returns what `goThere` returns.
   * @template Result
   * @param {function(): Result} goThere
   * @returns {Result}
   */
  go(goThere) {
    const result = goThere();
    this.sentences.anchor = null;
    this.sentences.follow();
    this.paintLabels();
    return result;
  }

  /** @param {number} number */
  goToItem(number) {
    this.saving.whenShown("list", () => this.send("go", { to: number }));
    this.focus();
  }

  leave() {
    for (const box of [this.search, this.help, this.items.box]) {
      box.hidden = true;
    }
    this.sentences.hits = [];
    this.sentences.anchor = null;
    this.sentences.paint();
    this.focus();
    this.fields.showNote(false);
  }

  // ---- focus -----------------------------------------------------------------------------------------------------------

  // Only Python knows whether a cell has just shown the annotator, or a notebook was opened that shows it.
  askForFocus() {
    this.focusBefore = document.activeElement;
    this.saving.signal({ act: "shown", view: this.saving.view });
  }

  // Unless the focus has moved elsewhere meanwhile, or somebody is writing.
  takeFocus() {
    const element = /** @type {HTMLInputElement | null} */ (document.activeElement);
    const hasText = element?.value || (element?.isContentEditable && element.textContent);
    if (element === this.focusBefore && !hasText) {
      this.focus();
    }
  }

  focus() {
    this.sentences.focus();
  }

  /**
   * Draw, and take the focus back if the element that had it is gone: keys would reach the notebook.
   * @param {function(): void} draw
   */
  keepFocus(draw) {
    const wasInside = this.root.contains(document.activeElement);
    draw();
    const element = /** @type {HTMLInputElement | null} */ (document.activeElement);
    const isLost = !element || !this.root.contains(element) || element.disabled;
    if (wasInside && isLost) {
      this.focus();
    }
  }
}

/**
 * Draw the annotator into an element, as anywidget asks for it.
 * @param {{model: AnnotatorModel, el: HTMLElement}} widget
 * @returns {function(): void} closes the annotator
 */
function render({ model, el }) {
  const annotator = new Annotator(model, el);
  return () => annotator.close();
}

export default { render };
