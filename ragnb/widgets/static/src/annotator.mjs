// The annotator: its frame, and what each key and button does. It draws the state that the model has, and sends actions to it.
// The model is Python's (ragnb/widgets/annotator.py), or that of the hand-out (local.mjs), and decides everything.

import { connect, kbd, node, typeInto } from "./dom.mjs";
import { Fields } from "./fields.mjs";
import { ItemList } from "./item_list.mjs";
import { BUTTONS, Keys } from "./keys.mjs";
import { guideOf, helpOf, searchOf } from "./panels.mjs";
import { Saving } from "./saving.mjs";
import { Sentences } from "./sentences.mjs";
import { ALL_DONE, Work } from "./work.mjs";

// Seconds as people say them.
function spoken(seconds) {
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} s left`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `about ${minutes} min left` : `about ${(minutes / 60).toFixed(1)} h left`;
}

class Annotator {
  constructor(model, el) {
    this.model = model;
    this.work = new Work(model);
    this.keys = new Keys(this.work.task);
    const stop = (event) => event.stopPropagation();
    this.root = node("div", {
      class: "ragnb-annotator", role: "region", "aria-label": `annotator: ${this.work.task.name}`, tabindex: -1, "data-lm-suppress-shortcuts": "true",
      onkeydown: (event) => this.onKey(event), onkeyup: stop, onkeypress: stop,
    });
    this.saving = new Saving(model, this.root, () => this.focus());
    this.sentences = new Sentences(this);
    this.fields = new Fields(this);
    this.search = searchOf(this.sentences);
    this.items = new ItemList(this);
    this.help = helpOf(this.keys, (key, other) => this.changeKey(key, other));
    this.bar = node("progress", { "aria-label": "labelled" });
    this.count = node("span", { class: "count" });
    this.buttons = Object.fromEntries(BUTTONS.map((button) => [button[0], this.button(...button)]));
    this.body = node("div", { class: "body" });
    this.end = node("div", { class: "panel end", hidden: true });
    this.root.append(
      node("div", { class: "head" }, this.bar, this.count),
      node("div", { class: "buttons", role: "toolbar", "aria-label": "actions" }, ...Object.values(this.buttons)),
      guideOf(this.work.task), this.help, this.items.box, this.search, this.end, this.body, this.saving.box,
    );
    el.append(this.root);
    this.disconnect = connect(model, {
      // Another page always comes with another state.
      "change:state": () => this.keepFocus(() => { this.paint(); this.items.learn(this.work.state.entries); }),
      "change:jump": () => this.items.draw(),
      "msg:custom": ({ kind }) => { if (kind === "focus") this.takeFocus(); },
      comm_live_update: () => this.saving.gone(),
    });
    this.paint();
    this.askForFocus();
  }

  close() {
    this.disconnect();
    this.saving.close();
  }

  // ---- the page, drawn when the item changes; and what is painted with every action ----------------------------------

  // The focus goes to the texts first: an act may take it on from there.
  button(act, label, key, title = label) {
    const onclick = () => { this.focus(); this.saving.whenShown(label, () => this.act({ act })); };
    return node("button", { type: "button", class: "act", title, "aria-label": title, "aria-keyshortcuts": key, onclick }, label, " ", kbd(key));
  }

  drawPage() {
    this.page = this.work.page;
    const { number, history, question, references } = this.page;
    const earlier = node("details", { class: "history", open: true, hidden: !history.length }, node("summary", {}, `earlier in the conversation: ${history.length} ${history.length === 1 ? "message" : "messages"}`),
      ...history.map(([role, text]) => node("div", { class: "turn", dir: "auto" }, node("b", {}, role), " ", node("span", {}, text))));
    this.work.begin();
    const [documents, rest] = this.sentences.draw();
    this.body.replaceChildren(
      earlier,
      node("div", { dir: "auto" }, // references run as the question does
        node("div", { class: "question" }, node("span", { dir: "ltr" }, `${number + 1}.`), " ", node("b", {}, question)),
        ...references.map((text, n) => node("div", { class: "reference" },
          node("span", { class: "lead", dir: "ltr" }, n ? "and" : "reference:"), " ", node("span", { dir: "auto" }, text)))),
      node("div", { class: documents.length ? "columns" : "" },
        node("div", { class: "column" }, ...documents), node("div", { class: "column side" }, ...rest, ...this.fields.draw())),
    );
    earlier.scrollTop = earlier.scrollHeight;
  }

  paint() {
    if (this.page !== this.work.page) this.drawPage();
    const known = this.saving.paint(this.work.state);
    if (known && this.seeking) this.work.seek();
    if (known) [this.seeking, this.work.given] = [false, []];
    this.paintFrame();
    this.paintEnd();
    this.paintLabels();
  }

  // What comes after the last item. On a page without a kernel, that is a button, which has the focus when nothing is left.
  paintEnd() {
    const { end, ack, message } = this.work.state;
    const { finish } = this.model;
    this.end.hidden = !end;
    if (end) this.end.replaceChildren(node("b", {}, end.text), ...(end.code ? [node("pre", {}, end.code)] : []));
    if (!finish) return;
    (end ? this.end : finish.home).append(finish.button);
    if (end && ack && message === ALL_DONE) setTimeout(() => finish.button.focus()); // after what takes the focus back to the texts
  }

  paintLabels() {
    this.sentences.paint();
    this.fields.paint();
    this.keys.write(this.root);
  }

  paintFrame() {
    const { page: { number }, state: { progress, can_undo, can_redo, flag, status, note } } = this.work;
    const parts = ["started", "skipped", "flagged"].filter((name) => progress[name]).map((name) => `${progress[name]} ${name}`);
    if (progress.seconds_left) parts.push(spoken(progress.seconds_left));
    this.count.textContent = [`${progress.labelled} of ${progress.items} labelled`, ...parts].join(" · ");
    [this.bar.max, this.bar.value] = [progress.items, progress.labelled];
    const possible = { undo: can_undo, redo: can_redo, previous: number > 0, next: number < progress.items - 1 };
    const pressed = { flag, skip: status === "skipped", memo: note !== "", auto: this.keys.goesOn };
    for (const act in possible) this.buttons[act].disabled = !possible[act];
    for (const act in pressed) this.buttons[act].setAttribute("aria-pressed", pressed[act]);
    this.root.dataset.status = status;
  }

  // ---- keys ----------------------------------------------------------------------------------------------------------

  // The element with the focus handles the key first: a text field, a list or a button. Then the annotator does.
  onKey(event) {
    const { tagName } = event.target;
    if (event.defaultPrevented) event.stopPropagation(); // the list or a search has understood it
    else if (/^(INPUT|TEXTAREA|SELECT)$/.test(tagName)) this.onTyping(event);
    else if (tagName === "SUMMARY" || (tagName === "BUTTON" && [" ", "Enter"].includes(event.key))) event.stopPropagation();
    else this.onCommand(event);
  }

  onTyping(event) {
    event.stopPropagation();
    const done = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (event.isComposing || !(done || event.key === "Escape")) return;
    event.preventDefault();
    if (done) this.focus();
    else this.leave();
  }

  onCommand(event) {
    const meant = this.keys.act(event);
    const notebooks = (event.ctrlKey || event.metaKey) && event.key.length === 1; // saving, say
    if (!meant && (notebooks || event.key === "Tab")) return;
    event.stopPropagation();
    const holds = this.saving.waiting && !/^(Shift|Control|Alt|AltGraph|Meta|CapsLock)$/.test(event.key);
    if (!meant && !holds) return;
    event.preventDefault();
    if (holds) this.saving.whenShown(event.key, () => this.replay(event));
    else if (!event.repeat || meant.act === "move") this.act(meant); // a key that is held down says nothing twice
  }

  // A key that was held, for whatever has the focus now: a key before it may have opened the note, a search or the list.
  replay(event) {
    const target = this.root.contains(document.activeElement) ? document.activeElement : this.root;
    const untouched = target.dispatchEvent(new KeyboardEvent("keydown", event));
    if (untouched && /^(INPUT|TEXTAREA)$/.test(target.tagName)) typeInto(event);
  }

  act({ act, step, extend, sideways, number, name }) {
    const acts = {
      move: () => this.sentences.move(step, extend, sideways),
      option: () => this.choose(number),
      field: () => this.go(() => this.work.goToField(name)),
      toggle: () => this.toggle(),
      empty: () => this.give([]),
      clear: () => this.give(null),
      next: () => this.send("move", { step: 1 }),
      previous: () => this.send("move", { step: -1 }),
      done: () => { this.seeking = true; this.send("done"); }, // the first place that is missing becomes the active one
      memo: () => this.fields.showNote(true),
      jump: () => (this.items.box.hidden ? this.items.open() : this.leave()),
      auto: () => { this.keys.keep(!this.keys.goesOn); this.paintFrame(); },
      search: () => { this.search.hidden = false; this.search.firstChild.select(); },
      help: () => { this.help.hidden = !this.help.hidden; },
      fold: () => { this.sentences.unfold(); this.focus(); },
      "sentence on": () => this.go(() => this.work.goToSentenceBy(1)),
      "sentence back": () => this.go(() => this.work.goToSentenceBy(-1)),
      leave: () => this.leave(),
    };
    if (acts[act]) acts[act]();
    else this.send(act); // skip, flag, accept, undo, redo
  }

  changeKey(key, other) {
    if (this.keys.change(key, other)) this.keys.write(this.root);
    else this.saving.say(`${other} already has a meaning, or is not a single character`, true);
  }

  // ---- what is done --------------------------------------------------------------------------------------------------

  send(act, more) {
    this.saving.send(act, more);
  }

  // Says something of the place where one is.
  sendHere(act, more) {
    const [field, sentence] = this.work.place;
    this.send(act, { field, sentence, ...more });
  }

  toggle(lead) {
    const { kind, label } = this.work.field;
    if (kind === "sentences") this.sendHere("toggle", this.sentences.take(lead));
    else this.saving.say(`${label}: choose with the digits, or press a field's letter`);
  }

  choose(number) {
    const { field } = this.work;
    const option = this.work.optionsOf(field)[number];
    if (!option) return;
    if (field.kind === "sentences") this.sendHere("toggle", { keys: [option.value] });
    else this.give(option.value);
  }

  // A value for the place where one is, and on to the next place, or item; null makes it untouched again.
  give(value) {
    const { kind, label } = this.work.field;
    if (Array.isArray(value) && kind !== "sentences") { this.saving.say(`${label} needs one of its options`); return; }
    this.sendHere("label", { value });
    if (value !== null && this.go(() => this.work.goOn()) && this.keys.goesOn) this.send("next");
  }

  // To another place; returns what `there` returns.
  go(there) {
    const found = there();
    this.sentences.anchor = null;
    this.sentences.follow();
    this.paintLabels();
    return found;
  }

  goToItem(number) {
    this.saving.whenShown("list", () => this.send("go", { to: number }));
    this.focus();
  }

  leave() {
    for (const box of [this.search, this.help, this.items.box]) box.hidden = true;
    [this.sentences.hits, this.sentences.anchor] = [[], null];
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
    } catch { /* no kernel, no labels */ }
  }

  // Unless somebody has gone elsewhere meanwhile, or is writing.
  takeFocus() {
    const now = document.activeElement;
    if (now === this.focusBefore && !(now?.value || (now?.isContentEditable && now.textContent))) this.focus();
  }

  focus() {
    this.sentences.focus();
  }

  // Draws, and takes the focus back if what had it is gone: keys would reach the notebook.
  keepFocus(draw) {
    const inside = this.root.contains(document.activeElement);
    draw();
    if (inside && (!this.root.contains(document.activeElement) || document.activeElement.disabled)) this.focus();
  }
}

function render({ model, el }) {
  const annotator = new Annotator(model, el);
  return () => annotator.close();
}

export default { render };
