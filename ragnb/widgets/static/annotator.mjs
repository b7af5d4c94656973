// Draws the annotator and sends what the annotator does; every decision is Python's, every text a textContent.

const ROW = 28; // height of a line of the jump list, in px
const PAUSE = 700; // milliseconds without a key after which a text is saved

function node(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const kbd = (key) => node("kbd", { "aria-hidden": "true" }, key);

class View {
  constructor(model, el) {
    this.model = model;
    this.uid = `ragnb-${Math.random().toString(36).slice(2)}`; // several annotators stand on one page
    this.sent = this.state.ack; // a page that is loaded again goes on counting
    this.cursor = { documents: 0, response: 0 };
    this.anchor = null;
    this.unfolded = new Set();
    this.hits = [];
    this.root = node("div", { class: "ragnb-annotator", role: "region", "aria-label": `annotator: ${this.task.name}`, tabindex: -1, "data-lm-suppress-shortcuts": "true" });
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    this.root.addEventListener("keyup", (event) => event.stopPropagation());
    this.root.addEventListener("keypress", (event) => event.stopPropagation());
    this.buildFrame();
    el.append(this.root);
    this.on("change:page", () => this.keepFocus(() => this.buildPage()));
    this.on("change:state", () => this.keepFocus(() => this.paint()));
    this.on("change:jump", () => this.drawJump());
    this.on("msg:custom", (message) => this.onPatch(message));
    this.on("comm_live_update", () => this.say("not saved from now on: the kernel is gone; run the cell again, what was saved is there", true));
    this.release = () => this.onRelease();
    document.addEventListener("mouseup", this.release);
    this.buildPage();
  }

  on(event, handler) {
    this.model.on(event, handler);
    (this.handlers ||= []).push([event, handler]);
  }

  close() {
    for (const [event, handler] of this.handlers) this.model.off(event, handler);
    document.removeEventListener("mouseup", this.release);
    clearTimeout(this.waiting);
    clearTimeout(this.silent);
  }

  get task() { return this.model.get("task"); }
  get page() { return this.model.get("page"); }
  get state() { return this.model.get("state"); }

  // ---- what is sent ----------------------------------------------------------------------------------------------

  send(act, more = {}) {
    this.sent += 1;
    try {
      this.model.send({ number: this.page.number, ...more, act, id: this.sent });
    } catch (error) {
      this.say(`not saved: the kernel is gone (${error.message}); run the cell again`, true);
      return;
    }
    clearTimeout(this.waiting);
    clearTimeout(this.silent);
    this.root.setAttribute("aria-busy", "true");
    this.waiting = setTimeout(() => this.say("saving…"), 400);
    this.silent = setTimeout(() => this.say("not saved yet: the kernel does not answer; it is busy, or gone", true), 3000);
  }

  onPatch(message) {
    if (message.kind !== "entry") return;
    this.model.get("jump")[message.number] = message.entry;
    this.drawJump();
  }

  say(text, failed = false) {
    this.message.textContent = text;
    this.message.classList.toggle("failed", failed);
  }

  // ---- the frame: drawn once --------------------------------------------------------------------------------------

  button(label, key, act, title) {
    return node("button", { type: "button", class: "act", title: title || label, "aria-label": title || label, "aria-keyshortcuts": key, onclick: () => { act(); this.focus(); } }, label, " ", kbd(key));
  }

  buildFrame() {
    this.bar = node("div", { class: "bar", role: "progressbar", "aria-label": "labelled", "aria-valuemin": 0 }, node("div"));
    this.count = node("span", { class: "count" });
    this.buttons = {
      previous: this.button("‹", "p", () => this.send("move", { step: -1 }), "previous item"),
      next: this.button("›", "n", () => this.send("move", { step: 1 }), "next item"),
      done: this.button("done, next", "Enter", () => this.done(), "next item that is not labelled"),
      undo: this.button("undo", "z", () => this.send("undo")),
      redo: this.button("redo", "Z", () => this.send("redo")),
      skip: this.button("skip", ".", () => this.skip()),
      flag: this.button("flag", "f", () => this.send("flag")),
      memo: this.button("note", "m", () => this.openNote()),
      search: this.button("search", "/", () => this.openSearch()),
      jump: this.button("list", "g", () => this.toggleJump()),
      help: this.button("keys", "?", () => this.toggleHelp()),
    };
    this.message = node("span", { class: "message", role: "status", "aria-live": "polite" });
    this.saved = node("span", { class: "saved" });
    this.body = node("div", { class: "body" });
    this.searchBox = this.buildSearch();
    this.noteBox = this.buildNote();
    this.jumpBox = this.buildJump();
    this.helpBox = this.buildHelp();
    const guide = this.task.guideline
      ? node("details", { class: "guide", open: true }, node("summary", {}, `guideline: ${this.task.name}`), ...this.task.guideline.split("\n").map((line) => node("p", { dir: "auto" }, line)))
      : null;
    this.root.append(
      node("div", { class: "head" }, this.bar, this.count),
      node("div", { class: "buttons", role: "toolbar", "aria-label": "actions" }, ...Object.values(this.buttons)),
      ...[guide, this.helpBox, this.jumpBox, this.searchBox, this.body, this.noteBox].filter(Boolean),
      node("div", { class: "foot" }, this.message, this.saved),
    );
  }

  buildSearch() {
    this.searchInput = node("input", { type: "search", placeholder: "words of a passage", "aria-label": "search in the texts", oninput: () => this.search() });
    this.searchCount = node("span", { class: "count", "aria-live": "polite" });
    return node("div", { class: "panel", hidden: true }, this.searchInput, " ", this.searchCount);
  }

  buildNote() {
    this.noteInput = node("textarea", { rows: 2, dir: "auto", "aria-label": "note on this item", placeholder: "note on this item" });
    this.whenTyped(this.noteInput, (text, number) => this.send("note", { text, number }));
    return node("div", { class: "panel", hidden: true }, this.noteInput);
  }

  // Sends a text when nobody has typed for a moment, and when its field is left.
  whenTyped(input, send) {
    let typed = null; // number of the item it was typed on
    let timer;
    const now = () => {
      clearTimeout(timer);
      if (typed !== null) send(input.value, typed);
      typed = null;
    };
    input.addEventListener("input", () => {
      typed = this.page.number;
      clearTimeout(timer);
      timer = setTimeout(now, PAUSE);
    });
    input.addEventListener("change", now);
  }

  buildJump() {
    const filters = ["all", "not labelled", "untouched", "started", "labelled", "skipped", "flagged"];
    this.jumpFilter = node("select", { "aria-label": "which items", onchange: () => this.drawJump(true) }, ...filters.map((name) => node("option", { value: name }, name)));
    this.jumpQuery = node("input", { type: "search", placeholder: "words", "aria-label": "words of an item", oninput: () => this.drawJump(true) });
    this.jumpCount = node("span", { class: "count" });
    this.jumpSpace = node("div", { class: "space" });
    this.jumpList = node("div", { class: "list", role: "listbox", tabindex: 0, "aria-label": "items", onscroll: () => this.drawJump() }, this.jumpSpace);
    this.jumpAt = 0;
    return node("div", { class: "panel jump", hidden: true }, this.jumpFilter, " ", this.jumpQuery, " ", this.jumpCount, this.jumpList);
  }

  buildHelp() {
    const rows = this.task.keys.map(([key, meaning]) => node("div", {}, node("kbd", {}, key), node("span", {}, meaning)));
    return node("div", { class: "panel help", hidden: true }, ...rows);
  }

  // ---- the page: drawn when the item changes ------------------------------------------------------------------------

  buildPage() {
    const page = this.page;
    this.cursor = { documents: 0, response: 0 };
    this.anchor = null;
    this.hits = [];
    this.unfolded.clear();
    this.sentences = {};
    this.place = null;
    this.current = page.each[0] ?? null;
    this.fieldBox = node("div", { class: "fields", role: "group", "aria-label": "labels" });
    this.suggestBox = node("div", { class: "suggested" });
    this.warnBox = node("div", { class: "warnings", role: "status" });
    const documents = page.parts.filter((part) => part.name === "documents");
    const rest = page.parts.filter((part) => part.name !== "documents");
    this.documentBox = this.partBox("documents", documents, "documents");
    const left = node("div", { class: "column" }, ...(documents.length ? [this.documentBox] : []));
    const right = node("div", { class: "column side" }, ...rest.map((part) => this.partBox(part.name, [part], part.heading)), this.suggestBox, this.fieldBox, this.warnBox);
    this.body.replaceChildren(
      node("div", { class: "question", dir: "auto" }, node("span", { dir: "ltr" }, `${page.number + 1}.`), " ", node("b", {}, page.question)),
      ...page.references.map((text, n) => node("div", { class: "reference", dir: "auto" }, node("span", { class: "lead", dir: "ltr" }, n ? "and" : "reference:"), " ", node("span", {}, text))),
      node("div", { class: documents.length ? "columns" : "" }, left, right),
    );
    this.paint();
  }

  partBox(name, parts, label) {
    const box = node("div", { class: `part ${name}`, role: "listbox", "aria-multiselectable": "true", "aria-label": label, tabindex: 0 });
    this.sentences[name] = [];
    parts.forEach((part, number) => box.append(this.section(name, part, number)));
    return box;
  }

  section(name, part, number) {
    const chosen = node("span", { class: "chosen" });
    const lines = part.sentences.map(([key, text]) => this.sentence(name, key, text, number));
    const shown = shownOf(lines.length, this.unfolded.has(number));
    lines.slice(shown).forEach((line) => { line.hidden = true; });
    const more = lines.length > shown ? node("button", { type: "button", class: "more", onclick: () => { this.unfold(number); this.focus(); } }, `… ${lines.length - shown} more sentences `, kbd("o")) : null;
    const heading = part.heading ? node("div", { class: "heading" }, part.heading, chosen) : null;
    return node("section", { role: "presentation", "data-number": number }, ...[heading, node("div", { class: "text", role: "presentation" }, ...lines), more].filter(Boolean));
  }

  sentence(name, key, text, section) {
    const badges = node("sup", { class: "badges", dir: "ltr" });
    const place = this.sentences[name].length;
    const lead = this.page.keyed.includes(name) ? [node("small", { class: "key", dir: "ltr" }, `[${key}]`), " "] : [];
    const made = node("span", { class: "sentence", role: "option", dir: "auto", id: `${this.uid}-${name}-${place}` }, ...lead, node("span", { class: "words" }, text), badges);
    made.addEventListener("mousedown", (event) => this.onPress(event, name, place));
    made.addEventListener("mouseenter", (event) => this.onDrag(event, name, place));
    made.addEventListener("click", () => { if (name === "response" && this.page.each.length && !this.choosing(name)) this.select(key); });
    this.sentences[name].push({ key, text, section, badges, node: made });
    return made;
  }

  unfold(number) {
    this.unfolded.add(number);
    const section = this.documentBox.querySelector(`section[data-number="${number}"]`);
    section.querySelectorAll(".sentence").forEach((line) => { line.hidden = false; });
    section.querySelector("button.more")?.remove();
    this.focus();
  }

  // ---- painting: what changes with every action ---------------------------------------------------------------------

  paint() {
    const state = this.state;
    if (state.ack >= this.sent) {
      clearTimeout(this.waiting);
      clearTimeout(this.silent);
      this.root.setAttribute("aria-busy", "false");
      this.say(state.message, state.failed);
      if (this.seeking) this.place = null;
      this.seeking = false;
    }
    if (!this.place || !this.allows(this.place)) this.place = state.missing[0] || this.page.places[0];
    if (this.place[1] !== null) this.current = this.place[1];
    this.paintFrame();
    this.paintSentences();
    this.paintFields();
    this.suggestBox.replaceChildren(...(Object.keys(state.suggested).length ? [node("span", {}, `suggested by ${state.suggested_by}, saved only when accepted`), this.button("accept all", "a", () => this.send("accept"))] : []));
    this.warnBox.replaceChildren(...state.warnings.map((line) => node("div", {}, `⚠ ${line}`)));
  }

  allows([field, sentence]) {
    return this.page.places.some(([name, key]) => name === field && key === sentence);
  }

  paintFrame() {
    const { progress, can_undo, can_redo, flag, status, note, saved } = this.state;
    const parts = [`${progress.labelled} of ${progress.items} labelled`];
    for (const name of ["started", "skipped", "flagged"]) if (progress[name]) parts.push(`${progress[name]} ${name}`);
    if (progress.seconds_left) parts.push(spoken(progress.seconds_left));
    this.count.textContent = parts.join(" · ");
    this.bar.setAttribute("aria-valuenow", progress.labelled);
    this.bar.setAttribute("aria-valuemax", progress.items);
    this.bar.firstChild.style.width = `${(100 * progress.labelled) / progress.items}%`;
    this.buttons.undo.disabled = !can_undo;
    this.buttons.redo.disabled = !can_redo;
    this.buttons.previous.disabled = this.page.number === 0;
    this.buttons.next.disabled = this.page.number === progress.items - 1;
    this.press(this.buttons.flag, flag);
    this.press(this.buttons.skip, status === "skipped");
    this.press(this.buttons.memo, Boolean(note));
    this.saved.textContent = saved;
    if (document.activeElement !== this.noteInput) this.noteInput.value = note;
    if (note) this.noteBox.hidden = false;
    this.root.dataset.status = status;
  }

  press(button, on) {
    button.setAttribute("aria-pressed", on ? "true" : "false");
  }

  // Keys that a field of sentences holds at its place, said or suggested.
  keysOf(field, sentence) {
    const place = [field.name, field.each ? sentence : null];
    const said = valueAt(this.state.values, place);
    const suggested = said === undefined ? valueAt(this.state.suggested, place) : undefined;
    return { keys: said || suggested || [], suggested: said === undefined && suggested !== undefined, place };
  }

  get activeField() {
    return this.task.fields.find((field) => field.name === this.place[0]);
  }

  paintSentences() {
    const marks = this.task.fields.filter((field) => field.kind === "sentences");
    const read = marks.map((field) => ({ field, ...this.keysOf(field, this.current) }));
    for (const [name, lines] of Object.entries(this.sentences)) {
      const active = this.activeField.kind === "sentences" && this.activeField.of === name;
      for (const [number, line] of lines.entries()) this.paintSentence(name, line, number, read.filter(({ field }) => field.of === name), active);
    }
    const box = this.root.querySelector(`.part.${CSS.escape(this.activePart)}`);
    box?.setAttribute("aria-activedescendant", this.sentences[this.activePart][this.cursor[this.activePart]]?.node.id || "");
    this.documentBox.querySelectorAll("section").forEach((section) => this.paintHeading(section));
  }

  paintSentence(name, line, number, marks, active) {
    const holding = marks.filter(({ keys }) => keys.includes(line.key));
    const mine = holding.find(({ field }) => field.name === this.activeField.name);
    const badges = holding.map(({ field, suggested }) => field.key.toUpperCase() + (suggested ? "?" : ""));
    for (const { field, place } of marks) {
      const who = votes(this.state.others, place, line.key);
      if (who.length) badges.push(`${field.key}:${who.join("+")}`);
    }
    if (name === "response" && this.page.each.length) badges.push(...this.verdictOf(line.key));
    line.badges.textContent = badges.join(" ");
    const style = line.node.classList;
    style.toggle("on", Boolean(mine) && active);
    style.toggle("held", holding.length > 0 && !(mine && active));
    style.toggle("guess", holding.some(({ suggested }) => suggested));
    style.toggle("cursor", name === this.activePart && number === this.cursor[name]);
    style.toggle("current", name === "response" && line.key === this.current && this.page.each.length > 0);
    style.toggle("hit", this.hits.includes(line));
    style.toggle("picked", active && this.anchor !== null && number >= Math.min(this.anchor, this.cursor[name]) && number <= Math.max(this.anchor, this.cursor[name]));
    line.node.setAttribute("aria-selected", mine ? "true" : "false");
  }

  // What was said of a sentence of the response, in short.
  verdictOf(key) {
    const short = { full: "✓", partial: "◐", none: "✗", true: "✓", false: "✗" };
    return this.task.fields.filter((field) => field.each && field.kind === "choice").map((field) => {
      const said = valueAt(this.state.values, [field.name, key]);
      const guess = valueAt(this.state.suggested, [field.name, key]);
      if (said === undefined && guess === undefined) return "…";
      const value = String(said ?? guess);
      return (short[value] || value) + (said === undefined ? "?" : "");
    });
  }

  paintHeading(section) {
    const chosen = section.querySelectorAll(".sentence.on, .sentence.held").length;
    const label = section.querySelector(".chosen");
    if (label) label.textContent = chosen ? ` · ${chosen} marked` : "";
  }

  paintFields() {
    const typing = this.fieldBox.querySelector(".field:has(textarea:focus)"); // stays as it is
    const rows = this.task.fields.filter((field) => !field.each || this.current !== null).map((field) => this.fieldRow(field));
    if (typing) rows.forEach((row, n) => { if (this.fieldBox.children[n] !== typing) this.fieldBox.children[n].replaceWith(row); });
    else this.fieldBox.replaceChildren(...rows);
  }

  fieldRow(field) {
    const place = [field.name, field.each ? this.current : null];
    const value = valueAt(this.state.values, place);
    const guess = value === undefined ? valueAt(this.state.suggested, place) : undefined;
    const active = this.place[0] === field.name;
    const label = field.each ? `${field.label} [${this.current}]` : field.label;
    const head = node("button", { type: "button", class: "name", "aria-pressed": active ? "true" : "false", "aria-keyshortcuts": field.key, onclick: () => { this.activate(place); this.focus(); } }, kbd(field.key), " ", label);
    const row = node("div", { class: `field${active ? " active" : ""}${value === undefined ? " untouched" : ""}`, "data-field": field.name }, head, node("span", { class: "value" }, this.shown(field, value, guess)));
    if (field.kind === "text") row.append(this.textInput(field, place, value ?? guess ?? ""));
    else row.append(this.optionBox(field, place, value, guess, active));
    return row;
  }

  shown(field, value, guess) {
    if (value === undefined && guess === undefined) return field.required ? "…" : "optional";
    if (field.kind !== "sentences") return value === undefined ? "?" : "✓";
    const keys = value ?? guess;
    return `${keys.length ? keys.map((key) => `[${key}]`).join(" ") : "∅ none"}${value === undefined ? " ?" : ""}`;
  }

  optionBox(field, place, value, guess, active) {
    const options = this.page.options[field.name] || field.options;
    const list = field.kind === "sentences";
    const chosen = (one) => (list ? (value ?? guess ?? []).includes(one) : (value ?? guess) === one);
    const buttons = options.map((option, number) => {
      const who = votes(this.state.others, place, option.value);
      const on = chosen(option.value);
      return node("button", { type: "button", class: `option${on ? (value === undefined ? " guess" : " on") : ""}`, role: list ? "checkbox" : "radio", "aria-checked": on ? "true" : "false", "data-value": JSON.stringify(option.value), onclick: () => { this.activate(place); this.choose(number); this.focus(); } }, active ? kbd(String(number + 1)) : "", active ? " " : "", option.label, who.length ? node("sup", {}, who.join("+")) : "");
    });
    if (list) buttons.push(node("button", { type: "button", class: `option${Array.isArray(value) && !value.length ? " on" : ""}`, onclick: () => { this.activate(place); this.act({ act: "empty" }); this.focus(); } }, active ? kbd("e") : "", active ? " " : "", "none"));
    return node("span", { class: "options", role: list ? "group" : "radiogroup", "aria-label": field.label }, ...buttons);
  }

  textInput(field, place, value) {
    const input = node("textarea", { rows: 2, dir: "auto", "aria-label": field.label, });
    this.whenTyped(input, (text, number) => this.send("label", { field: field.name, sentence: place[1], value: text || null, number }));
    input.value = value;
    return input;
  }

  // ---- mouse ---------------------------------------------------------------------------------------------------------

  choosing(name) {
    return this.activeField.kind === "sentences" && this.activeField.of === name;
  }

  onPress(event, name, place) {
    if (event.button !== 0 || event.altKey) return; // with Alt, text is selected as anywhere
    if (this.choosing(name)) {
      event.preventDefault();
      this.dragging = name;
      this.anchor = event.shiftKey ? this.cursor[name] : place;
      this.lead = place;
    }
    this.cursor[name] = place;
    this.root.querySelector(`.part.${CSS.escape(name)}`).focus({ preventScroll: true });
    this.paintSentences();
  }

  onDrag(event, name, place) {
    if (this.dragging !== name) return;
    this.cursor[name] = place;
    this.paintSentences();
  }

  // Wherever the mouse is let go, what it went over is chosen.
  onRelease() {
    if (!this.dragging) return;
    this.dragging = null;
    this.toggle(this.lead);
  }

  // ---- keys ----------------------------------------------------------------------------------------------------------

  get activePart() {
    const of = this.activeField?.kind === "sentences" ? this.activeField.of : "documents";
    return this.sentences[of]?.length ? of : Object.keys(this.sentences).find((name) => this.sentences[name].length) || "documents";
  }

  onKey(event) {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (typing) { this.onTyping(event); return; }
    if (this.jumpList.contains(event.target) && this.onJumpKey(event)) return;
    if (event.target.tagName === "BUTTON" && (event.key === " " || event.key === "Enter")) { event.stopPropagation(); return; }
    if (event.target.tagName === "SUMMARY") { event.stopPropagation(); return; }
    const meant = keyAct(event, this.task.fields);
    if (!meant) {
      const notebooks = (event.ctrlKey || event.metaKey) && event.key.length === 1; // saving, say
      if (!notebooks && event.key !== "Tab") event.stopPropagation();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.act(meant);
  }

  onTyping(event) {
    event.stopPropagation();
    if (event.key === "Escape") { event.preventDefault(); this.leave(); }
    else if (event.key === "Enter" && event.target === this.searchInput) { event.preventDefault(); this.nextHit(event.shiftKey ? -1 : 1); }
    else if (event.target === this.jumpQuery && (event.key === "Enter" || event.key === "ArrowDown")) { event.preventDefault(); this.jumpList.focus(); this.drawJump(); }
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); event.target.blur(); this.focus(); }
  }

  act({ act, step, extend, number, name }) {
    const acts = {
      move: () => this.moveCursor(step, extend),
      option: () => this.choose(number),
      field: () => this.activate([name, this.task.fields.find((field) => field.name === name).each ? this.current : null]),
      toggle: () => this.toggle(),
      empty: () => this.give([]),
      clear: () => this.give(null),
      next: () => this.send("move", { step: 1 }),
      previous: () => this.send("move", { step: -1 }),
      done: () => this.done(),
      skip: () => this.skip(),
      flag: () => this.send("flag"),
      memo: () => this.openNote(),
      accept: () => this.send("accept"),
      undo: () => this.send("undo"),
      redo: () => this.send("redo"),
      jump: () => this.toggleJump(),
      search: () => this.openSearch(),
      help: () => this.toggleHelp(),
      fold: () => this.unfoldHere(),
      "sentence on": () => this.step(1),
      "sentence back": () => this.step(-1),
      leave: () => this.leave(),
    };
    acts[act]();
  }

  moveCursor(step, extend) {
    const part = this.activePart;
    const lines = this.sentences[part];
    const visible = lines.flatMap((line, number) => (line.node.hidden ? [] : [number]));
    if (!visible.length) return;
    if (extend && this.anchor === null) this.anchor = this.cursor[part];
    if (!extend) this.anchor = null;
    const at = visible.indexOf(this.cursor[part]);
    this.cursor[part] = visible[clamp(at + step, 0, visible.length - 1)];
    this.paintSentences();
    this.focus();
    lines[this.cursor[part]].node.scrollIntoView({ block: "nearest" });
    if (part === "response" && this.page.each.length) this.select(lines[this.cursor[part]].key);
  }

  // Chooses or unchooses from the anchor to the cursor, as it would the sentence that leads.
  toggle(lead = null) {
    const field = this.activeField;
    const part = field.of;
    if (field.kind !== "sentences") { this.say(`${field.label}: choose with the digits, or press a field's letter`); return; }
    const keys = this.sentences[part].map(({ key }) => key);
    const from = this.anchor ?? this.cursor[part];
    const chosen = range(keys, from, this.cursor[part]).filter((_, n) => !this.sentences[part][Math.min(from, this.cursor[part]) + n].node.hidden);
    const on = !this.keysOf(field, this.current).keys.includes(keys[lead ?? from]);
    this.anchor = null;
    this.send("toggle", { field: field.name, sentence: this.place[1], keys: chosen, on });
  }

  give(value) {
    const field = this.activeField;
    if (Array.isArray(value) && field.kind !== "sentences") { this.say(`${field.label} needs one of its options`); return; }
    this.send("label", { field: field.name, sentence: this.place[1], value });
    if (value !== null) this.advance();
  }

  choose(number) {
    const field = this.activeField;
    const option = (this.page.options[field.name] || field.options)[number];
    if (!option) return;
    if (field.kind === "sentences") { this.send("toggle", { field: field.name, sentence: this.place[1], keys: [option.value] }); return; }
    this.send("label", { field: field.name, sentence: this.place[1], value: option.value });
    this.advance();
  }

  // The next place that is still missing becomes the active one.
  advance() {
    const still = this.state.missing.filter(([field, sentence]) => field !== this.place[0] || sentence !== this.place[1]);
    this.activate(nextPlace(still, this.page.places, this.place) || this.place);
  }

  activate(place) {
    this.place = place;
    this.anchor = null;
    if (place[1] !== null) this.current = place[1];
    this.paintSentences();
    this.paintFields();
  }

  select(sentence) {
    this.current = sentence;
    const each = this.task.fields.filter((field) => field.each);
    const field = each.find(({ name }) => name === this.place[0]) || each[0];
    this.activate([field.name, sentence]);
  }

  step(by) {
    const keys = this.page.each;
    if (keys.length) this.select(keys[clamp(keys.indexOf(this.current) + by, 0, keys.length - 1)]);
  }

  done() {
    this.seeking = true; // the first place that is missing becomes the active one
    this.send("done");
  }

  skip() {
    this.send("skip");
  }

  // ---- focus and panels --------------------------------------------------------------------------------------------------------

  focus() {
    (this.root.querySelector(`.part.${CSS.escape(this.activePart)}`) || this.root).focus({ preventScroll: true });
  }

  // Draws, and takes the focus back if what had it is gone: keys would reach the notebook.
  keepFocus(draw) {
    const inside = this.root.contains(document.activeElement);
    draw();
    if (inside && (!this.root.contains(document.activeElement) || document.activeElement.disabled)) this.focus();
  }

  leave() {
    this.searchBox.hidden = true;
    this.helpBox.hidden = true;
    this.jumpBox.hidden = true;
    this.hits = [];
    this.anchor = null;
    if (!this.state.note) this.noteBox.hidden = true;
    this.paintSentences();
    this.focus();
  }

  openNote() {
    this.noteBox.hidden = false;
    this.noteInput.focus();
  }

  openSearch() {
    this.searchBox.hidden = false;
    this.searchInput.focus();
    this.searchInput.select();
  }

  search() {
    const lines = Object.values(this.sentences).flat();
    this.hits = found(lines.map(({ text }) => text), this.searchInput.value).map((number) => lines[number]);
    for (const line of this.hits) if (line.node.hidden) this.openSection(line.section);
    this.hitAt = -1;
    this.paintSentences();
    this.searchCount.textContent = this.searchInput.value ? `${this.hits.length} found` : "";
    if (this.hits.length) this.nextHit(1);
  }

  openSection(section) {
    const focused = document.activeElement;
    this.unfold(section);
    focused?.focus({ preventScroll: true });
  }

  nextHit(step) {
    if (!this.hits.length) return;
    this.hitAt = (this.hitAt + step + this.hits.length) % this.hits.length;
    const line = this.hits[this.hitAt];
    for (const [name, lines] of Object.entries(this.sentences)) if (lines.includes(line)) this.cursor[name] = lines.indexOf(line);
    this.searchCount.textContent = `${this.hitAt + 1} of ${this.hits.length}`;
    this.paintSentences();
    line.node.scrollIntoView({ block: "nearest" });
  }

  unfoldHere() {
    const line = this.sentences.documents?.[this.cursor.documents];
    if (line) this.unfold(line.section);
  }

  toggleHelp() {
    this.helpBox.hidden = !this.helpBox.hidden;
  }

  toggleJump() {
    this.jumpBox.hidden = !this.jumpBox.hidden;
    if (this.jumpBox.hidden) { this.focus(); return; }
    this.drawJump(true);
    this.jumpAt = Math.max(0, this.jumpShown.indexOf(this.page.number));
    this.jumpList.scrollTop = Math.max(0, this.jumpAt * ROW - 60);
    this.drawJump();
    this.jumpList.focus();
  }

  drawJump(anew = false) {
    if (this.jumpBox.hidden) return;
    const entries = this.model.get("jump");
    if (anew) {
      this.jumpAt = 0;
      this.jumpList.scrollTop = 0;
    }
    this.jumpShown = listed(entries, this.jumpFilter.value, this.jumpQuery.value);
    this.jumpCount.textContent = `${this.jumpShown.length} of ${entries.length}`;
    this.jumpSpace.style.height = `${this.jumpShown.length * ROW}px`;
    const [first, last] = listWindow(this.jumpList.scrollTop, this.jumpList.clientHeight || 240, ROW, this.jumpShown.length);
    this.jumpSpace.replaceChildren(...this.jumpShown.slice(first, last).map((number, n) => this.jumpRow(number, entries[number], first + n)));
    this.jumpList.setAttribute("aria-activedescendant", `${this.uid}-item-${this.jumpShown[this.jumpAt]}`);
  }

  jumpRow(number, [title, status, flag], place) {
    const glyph = { labelled: "✓", started: "◐", skipped: "↷", untouched: "·" }[status];
    const row = node("div", { class: `row${place === this.jumpAt ? " cursor" : ""}`, role: "option", id: `${this.uid}-item-${number}`, "aria-selected": number === this.page.number ? "true" : "false", "aria-setsize": this.jumpShown.length, "aria-posinset": place + 1, "aria-label": `${number + 1} ${status}${flag ? " flagged" : ""} ${title}`, onclick: () => this.goTo(number) }, node("span", { class: "n" }, `${number + 1} ${glyph}${flag ? " ⚑" : ""}`), node("span", { class: "title", dir: "auto" }, title));
    row.style.top = `${place * ROW}px`;
    return row;
  }

  onJumpKey(event) {
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity };
    if (event.key === "Enter") this.goTo(this.jumpShown[this.jumpAt]);
    else if (event.key in steps) {
      this.jumpAt = clamp(this.jumpAt + steps[event.key], 0, this.jumpShown.length - 1);
      const top = this.jumpAt * ROW;
      this.jumpList.scrollTop = clamp(this.jumpList.scrollTop, top + ROW - this.jumpList.clientHeight, top);
      this.drawJump();
    } else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  goTo(number) {
    if (number === undefined) return;
    this.send("go", { to: number });
    this.jumpBox.hidden = true;
    this.focus();
  }
}

function render({ model, el }) {
  const view = new View(model, el);
  return () => view.close();
}

export default { render };
