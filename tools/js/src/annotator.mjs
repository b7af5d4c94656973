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

const MODIFIERS = ["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock"];
const TEXT_FIELDS = ["INPUT", "TEXTAREA"];
const MOST_SECONDS = 90; // longer times are in minutes
const MOST_MINUTES = 90; // longer times are in hours

// Seconds as people say them.
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
  constructor(model, el) {
    this.model = model;
    this.work = new Work(model);
    this.keys = new Keys(this.work.task);
    this.isSeeking = false; // whether the next state shows the first place that is missing
    this.drawRoot();
    this.saving = new Saving(model, this.root, () => this.focus());
    this.sentences = new Sentences(this);
    this.fields = new Fields(this);
    this.search = searchOf(this.sentences);
    this.items = new ItemList(this);
    this.help = helpOf(this.keys, (key, other) => this.changeKey(key, other));
    this.drawFrame();
    el.append(this.root);
    this.disconnect = connect(model, {
      "change:state": () => this.onState(),
      "change:jump": () => this.items.draw(),
      "msg:custom": (message) => this.onMessage(message),
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

  onMessage({ kind, question }) {
    if (kind === "focus") {
      this.takeFocus();
    } else if (kind === "pending") {
      this.saving.answer(question);
    }
  }

  // ---- the frame, drawn once -----------------------------------------------------------------------------------------

  drawRoot() {
    const stop = (event) => event.stopPropagation();
    this.root = node("div", {
      class: "ragnb-annotator",
      role: "region",
      "aria-label": `annotator: ${this.work.task.name}`,
      tabindex: -1,
      "data-lm-suppress-shortcuts": "true",
      onkeydown: (event) => this.onKey(event),
      onkeyup: stop,
      onkeypress: stop,
    });
  }

  drawFrame() {
    this.bar = node("progress", { "aria-label": "labelled" });
    this.count = node("span", { class: "count" });
    this.buttons = {}; // by act
    for (const [act, label, key, title] of BUTTONS) {
      this.buttons[act] = this.button(act, label, key, title);
    }
    this.body = node("div", { class: "body" });
    this.end = node("div", { class: "panel end", hidden: true });
    const toolbar = { class: "buttons", role: "toolbar", "aria-label": "actions" };
    this.root.append(
      node("div", { class: "head" }, this.bar, this.count),
      node("div", toolbar, ...Object.values(this.buttons)),
      guideOf(this.work.task),
      this.help,
      this.items.box,
      this.search,
      this.end,
      this.body,
      this.saving.box,
    );
  }

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
    this.page = this.work.page;
    this.work.begin();
    const conversation = this.conversation();
    const [documents, otherParts] = this.sentences.draw();
    const columns = node(
      "div",
      { class: documents.length ? "columns" : "" },
      node("div", { class: "column" }, ...documents),
      node("div", { class: "column side" }, ...otherParts, ...this.fields.draw()),
    );
    this.body.replaceChildren(conversation, this.question(), columns);
    conversation.scrollTop = conversation.scrollHeight;
  }

  // The earlier turns of the conversation.
  conversation() {
    const { history } = this.page;
    const messages = history.length === 1 ? "message" : "messages";
    const heading = `earlier in the conversation: ${history.length} ${messages}`;
    const turns = history.map(([role, text]) =>
      node("div", { class: "turn", dir: "auto" }, node("b", {}, role), " ", node("span", {}, text)),
    );
    const attributes = { class: "history", open: true, hidden: !history.length };
    return node("details", attributes, node("summary", {}, heading), ...turns);
  }

  // The question with its references, which have the direction of the question.
  question() {
    const { number, question, references } = this.page;
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
    const isPossible = {
      undo: state.can_undo,
      redo: state.can_redo,
      previous: page.number > 0,
      next: page.number < progress.items - 1,
    };
    for (const [act, possible] of Object.entries(isPossible)) {
      this.buttons[act].disabled = !possible;
    }
    const isPressed = {
      flag: state.flag,
      skip: state.status === "skipped",
      memo: state.note !== "",
      auto: this.keys.goesOn,
    };
    for (const [act, pressed] of Object.entries(isPressed)) {
      this.buttons[act].setAttribute("aria-pressed", pressed);
    }
    this.root.dataset.status = state.status;
  }

  progressText() {
    const { progress } = this.work.state;
    const parts = [`${progress.labelled} of ${progress.items} labelled`];
    for (const status of ["started", "skipped", "flagged"]) {
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

  // The element with the focus handles the key first: a text field, a list or a button. Then the annotator does.
  onKey(event) {
    const { tagName } = event.target;
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

  onCommand(event) {
    const meaning = this.keys.act(event);
    // Such as Ctrl+S, which saves the notebook.
    const isOfNotebook = (event.ctrlKey || event.metaKey) && event.key.length === 1;
    if (!meaning && (isOfNotebook || event.key === "Tab")) {
      return;
    }
    event.stopPropagation();
    const isHeld = this.saving.waiting && !MODIFIERS.includes(event.key);
    if (!meaning && !isHeld) {
      return;
    }
    event.preventDefault();
    if (isHeld) {
      this.saving.whenShown(event.key, () => this.replay(event));
    } else if (!event.repeat || meaning.act === "move") {
      this.act(meaning); // a key that is held down acts once, except for moves
    }
  }

  // A key that was held, for whatever has the focus now: a key before it may have opened the note, a search or the list.
  replay(event) {
    const hasFocus = this.root.contains(document.activeElement);
    const target = hasFocus ? document.activeElement : this.root;
    const isUnhandled = target.dispatchEvent(new KeyboardEvent("keydown", event));
    if (isUnhandled && TEXT_FIELDS.includes(target.tagName)) {
      typeInto(event);
    }
  }

  // Does what a key or button means. Acts without a case of their own are sent as they are: skip, flag, accept, undo, redo.
  /** @param {import("./keys.mjs").Meaning} meaning */
  act({ act, step, extend, sideways, number, name }) {
    switch (act) {
      case "move": return this.sentences.move(step, extend, sideways);
      case "option": return this.choose(number);
      case "field": return this.goToField(name);
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
      default: return this.send(act);
    }
  }

  // A free text has the focus at once, so that somebody can write.
  goToField(name) {
    this.go(() => this.work.goToField(name));
    if (this.work.field.kind === "text") {
      this.fields.write(name);
    }
  }

  // The first place that is missing becomes the active one; without one, the next item is shown.
  finishItem() {
    this.isSeeking = true;
    this.send("done");
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
    this.search.querySelector("input").select();
  }

  showHelp() {
    this.help.hidden = !this.help.hidden;
  }

  unfold() {
    this.sentences.unfold();
    this.focus();
  }

  changeKey(key, other) {
    if (this.keys.change(key, other)) {
      this.keys.write(this.root);
    } else {
      this.saving.say(`${other} already has a meaning, or is not a single character`, true);
    }
  }

  // ---- labels --------------------------------------------------------------------------------------------------------

  send(act, content) {
    this.saving.send(act, content);
  }

  // Sends an act about the active place.
  sendHere(act, content) {
    const [field, sentence] = this.work.place;
    this.send(act, { field, sentence, ...content });
  }

  toggle(lead) {
    const { kind, label } = this.work.field;
    if (kind === "sentences") {
      this.sendHere("toggle", this.sentences.take(lead));
    } else {
      this.saving.say(`${label}: choose with the digits, or press a field's letter`);
    }
  }

  choose(number) {
    const { field } = this.work;
    const option = this.work.optionsOf(field)[number];
    if (!option) {
      return;
    }
    if (isList(field)) {
      this.sendHere("toggle", { keys: [option.value] });
    } else {
      this.give(option.value);
    }
  }

  // Gives the active place a value and goes on to the next place, or item; null makes the place untouched again.
  give(value) {
    const { field } = this.work;
    if (Array.isArray(value) && !isList(field)) {
      this.saving.say(`${field.label} needs one of its options`);
      return;
    }
    this.sendHere("label", { value });
    if (value === null) {
      return;
    }
    const wasLast = this.go(() => this.work.goOn());
    if (wasLast && this.keys.goesOn) {
      this.send("next");
    }
  }

  // Goes to another place; returns what `goThere` returns.
  go(goThere) {
    const result = goThere();
    this.sentences.anchor = null;
    this.sentences.follow();
    this.paintLabels();
    return result;
  }

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
    try {
      this.model.send({ act: "shown" });
    } catch {
      // Without a kernel, nothing can be labelled.
    }
  }

  // Unless the focus has moved elsewhere meanwhile, or somebody is writing.
  takeFocus() {
    const element = /** @type {HTMLInputElement} */ (document.activeElement);
    const hasText = element?.value || (element?.isContentEditable && element.textContent);
    if (element === this.focusBefore && !hasText) {
      this.focus();
    }
  }

  focus() {
    this.sentences.focus();
  }

  // Draws, and takes the focus back if the element that had it is gone: keys would reach the notebook.
  keepFocus(draw) {
    const wasInside = this.root.contains(document.activeElement);
    draw();
    const element = /** @type {HTMLInputElement} */ (document.activeElement);
    const isLost = !this.root.contains(element) || element.disabled;
    if (wasInside && isLost) {
      this.focus();
    }
  }
}

function render({ model, el }) {
  const annotator = new Annotator(model, el);
  return () => annotator.close();
}

export default { render };
