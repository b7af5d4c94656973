// Made by `make js` from tools/js/src/handout.mjs: change it there.
(() => {
  // src/dom.mjs
  var TYPING_PAUSE = 700;
  function node(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      addAttribute(element, key, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }
  function addAttribute(element, key, value) {
    const isAbsent = value === false || value === null || value === void 0;
    if (key === "class") {
      element.className = value;
    } else if (key.startsWith("on")) {
      element.addEventListener(key.slice("on".length), value);
    } else if (!isAbsent) {
      element.setAttribute(key, value === true ? "" : value);
    }
  }
  function connect(model, handlers) {
    for (const [event, handler] of Object.entries(handlers)) {
      model.on(event, handler);
    }
    return () => {
      for (const [event, handler] of Object.entries(handlers)) {
        model.off(event, handler);
      }
    };
  }
  function kbd(key) {
    return node("kbd", { "aria-hidden": "true", "data-key": key }, key);
  }
  function whenTyped(input, currentItem, send) {
    let unsent = null;
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
  function typeInto({ key, ctrlKey, metaKey, altKey }) {
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

  // src/list.mjs
  var UNKNOWN_HEIGHT = 480;
  var SPARE_ROWS = 6;
  function clamp(value, low, high) {
    return Math.max(low, Math.min(high, value));
  }
  function windowOf(scrollTop, height, rowHeight, count, spare) {
    const top = Math.max(0, scrollTop);
    const first = Math.floor(top / rowHeight) - spare;
    const last = Math.ceil((top + height) / rowHeight) + spare;
    return [clamp(first, 0, count), clamp(last, 0, count)];
  }
  function revealed(position, scrollTop, height, rowHeight) {
    const rowTop = position * rowHeight;
    const lowest = rowTop + rowHeight - height;
    const next = Math.min(rowTop, Math.max(scrollTop, lowest));
    return Math.max(0, next);
  }
  var listCount = 0;
  var VirtualList = class {
    /**
     * @param {number} rowHeight in pixels
     * @param {function(number): RowElement} rowAt attributes and children of the row at a position
     * @param {Record<string, unknown>} attributes of the list
     */
    constructor(rowHeight, rowAt, attributes) {
      listCount += 1;
      this.uid = `ragnb-list-${listCount}`;
      this.rowHeight = rowHeight;
      this.rowAt = rowAt;
      this.count = 0;
      this.current = 0;
      this.ondrawn = void 0;
      this.sheet = node("div", { class: "sheet", role: "presentation" });
      const onscroll = () => this.draw();
      this.list = node("div", { role: "listbox", tabindex: 0, onscroll, ...attributes }, this.sheet);
    }
    get height() {
      return this.list.clientHeight || UNKNOWN_HEIGHT;
    }
    /**
     * The visible rows, with spare rows on either side.
     * @param {number} spare
     */
    window(spare) {
      return windowOf(this.list.scrollTop, this.height, this.rowHeight, this.count, spare);
    }
    /**
     * @param {number} count
     * @param {number} current the row with the focus
     */
    draw(count = this.count, current = this.current) {
      this.count = count;
      this.current = current;
      this.sheet.style.height = `${count * this.rowHeight}px`;
      const isHidden = this.list.isConnected && !this.list.clientHeight;
      if (isHidden) {
        return;
      }
      const [first, last] = this.window(SPARE_ROWS);
      const options = [];
      for (let position = first; position < last; position += 1) {
        options.push(this.option(position));
      }
      this.sheet.replaceChildren(...options);
      this.list.setAttribute("aria-activedescendant", `${this.uid}-${current}`);
      this.ondrawn?.();
    }
    /** @param {number} position */
    option(position) {
      const [rowAttributes, ...children] = this.rowAt(position);
      const attributes = {
        role: "option",
        id: `${this.uid}-${position}`,
        "aria-setsize": this.count,
        "aria-posinset": position + 1,
        ...rowAttributes
      };
      const option = node("div", attributes, ...children);
      option.style.top = `${position * this.rowHeight}px`;
      return option;
    }
    /** @param {number} position */
    reveal(position) {
      this.list.scrollTop = revealed(position, this.list.scrollTop, this.height, this.rowHeight);
    }
  };

  // src/work.mjs
  var ALL_DONE = "all items are labelled or skipped";
  function isList({ kind }) {
    return kind === "sentences" || kind === "tags";
  }
  function isSamePlace([field, sentence], [otherField, otherSentence]) {
    return field === otherField && sentence === otherSentence;
  }
  function includesPlace(places, place) {
    return places.some((candidate) => isSamePlace(candidate, place));
  }
  function nextPlace(missing, places, place) {
    const index = places.findIndex((candidate) => isSamePlace(candidate, place));
    const following = [...places.slice(index + 1), ...places.slice(0, index + 1)];
    return following.find((candidate) => includesPlace(missing, candidate)) ?? null;
  }
  function valueAt(values, [field, sentence]) {
    if (sentence === null) {
      return ownValue(
        /** @type {Record<string, Label>} */
        values,
        field
      );
    }
    const labelsOfField = ownValue(
      /** @type {Record<string, Record<string, Label>>} */
      values,
      field
    );
    return labelsOfField && ownValue(labelsOfField, sentence);
  }
  function keysIn(label) {
    return Array.isArray(label) ? label : [];
  }
  function fieldOf({ name: taskName, fields }, name) {
    const field = fields.find((candidate) => candidate.name === name);
    if (!field) {
      throw new Error(`the task "${taskName}" has no field "${name}"`);
    }
    return field;
  }
  function ownValue(object, name) {
    return Object.hasOwn(object, name) ? object[name] : void 0;
  }
  var Work = class {
    /** @param {AnnotatorModel} model */
    constructor(model) {
      this.model = model;
      this.place = null;
      this.sentence = null;
      this.unconfirmed = [];
    }
    /** @returns {Task} */
    get task() {
      return this.model.get("task");
    }
    /** @returns {Page} */
    get page() {
      return this.model.get("page");
    }
    /** @returns {State} */
    get state() {
      return this.model.get("state");
    }
    /** @returns {Entry[]} */
    get entries() {
      return this.model.get("jump");
    }
    // ---- what was labelled -----------------------------------------------------------------------------------------
    /**
     * The place of a field, at the present sentence of the response if it is asked of each; null without such a sentence.
     * @param {Field} field
     * @returns {Place | null}
     */
    placeOf(field) {
      if (!field.each) {
        return [field.name, null];
      }
      return this.sentence === null ? null : [field.name, this.sentence];
    }
    /**
     * Value of a place, undefined where untouched, and what is suggested there.
     * @param {Place} place
     * @returns {{value: Label | undefined, guess: Label | undefined}}
     */
    labelAt(place) {
      const value = valueAt(this.state.values, place);
      if (value !== void 0) {
        return { value, guess: void 0 };
      }
      return { value, guess: valueAt(this.state.suggested, place) };
    }
    /**
     * Names of the other annotators who gave a place this value, or whose list of sentences contains it.
     * @param {Place} place
     * @param {Answer} value
     */
    votes(place, value) {
      const voters = this.state.others.filter(({ values }) => {
        const vote = valueAt(values, place);
        return Array.isArray(vote) ? vote.includes(value) : vote === value;
      });
      return voters.map(({ name }) => name);
    }
    /**
     * The tags of the codebook are the options of a field of tags.
     * @param {Field} field
     * @returns {Choice[]}
     */
    optionsOf(field) {
      if (field.kind === "tags") {
        return this.state.codebook.map(([value, label, definition]) => ({ value, label, definition }));
      }
      return this.page.options[field.name] || field.options;
    }
    // ---- where the annotator is ------------------------------------------------------------------------------------
    // The active field; null in an item without any place.
    get field() {
      return this.place && this.fieldOf(this.place[0]);
    }
    /** @param {string} name */
    fieldOf(name) {
      return fieldOf(this.task, name);
    }
    /**
     * Whether sentences of a part are what is chosen now.
     * @param {string} part
     */
    chooses(part) {
      return this.field?.kind === "sentences" && this.field.of === part;
    }
    begin() {
      this.unconfirmed = [];
      this.sentence = this.page.each[0] ?? null;
      this.seek();
    }
    // The kernel has acknowledged all values.
    confirm() {
      this.unconfirmed = [];
    }
    // To the first place that is missing.
    seek() {
      this.goTo(this.state.missing[0] ?? this.page.places[0] ?? null);
    }
    /** @param {Place | null} place */
    goTo(place) {
      this.place = place;
      const sentence = place?.[1] ?? null;
      if (sentence !== null) {
        this.sentence = sentence;
      }
    }
    // To the next place that is still missing when this one is done; whether it was the last one that was missing.
    goOn() {
      if (!this.place) {
        return false;
      }
      const hadMissing = this.stillMissing.length > 0;
      this.unconfirmed.push(this.place);
      const next = nextPlace(this.stillMissing, this.page.places, this.place);
      this.goTo(next ?? this.place);
      return hadMissing && this.stillMissing.length === 0;
    }
    get stillMissing() {
      return this.state.missing.filter((place) => !includesPlace(this.unconfirmed, place));
    }
    /**
     * To a sentence of the response, and a field that is asked of it.
     * @param {string} sentence
     */
    goToSentence(sentence) {
      const field = this.field?.each ? this.field : this.task.fields.find(({ each }) => each);
      if (field) {
        this.goTo([field.name, sentence]);
      }
    }
    /** @param {number} step */
    goToSentenceBy(step) {
      const keys = this.page.each;
      if (!keys.length) {
        return;
      }
      const position = clamp(keys.indexOf(this.sentence ?? "") + step, 0, keys.length - 1);
      this.goToSentence(keys[position]);
    }
  };

  // src/contradictions.mjs
  function contradictionsOf(task, values, keys) {
    const messages = [];
    for (const contradiction of task.contradictions) {
      for (const sentence of contradictorySentences(contradiction, task, values, keys)) {
        messages.push(contradiction.message.replaceAll("{}", () => sentence));
      }
    }
    return [...new Set(messages)];
  }
  function contradictorySentences(contradiction, task, values, keys) {
    const { labels, some, every, chosen, not_chosen: notChosen } = contradiction;
    if (chosen) {
      return sentencesChosenOnce(values, chosen, notChosen);
    }
    if (!someSentenceHas(some, values, keys) || !everySentenceHas(every, values, keys)) {
      return [];
    }
    const fields = task.fields.filter(({ name }) => Object.hasOwn(labels, name));
    const sentences = fields.some(({ each }) => each) ? keys : [""];
    return sentences.filter(
      (sentence) => fields.every(({ name, each }) => {
        const value = valueAt(values, [name, each ? sentence : null]);
        return isOneOf(value, labels[name]);
      })
    );
  }
  function sentencesChosenOnce(values, chosen, notChosen) {
    const sentences = keysIn(valueAt(values, [chosen, null]));
    const otherLabel = valueAt(values, [notChosen, null]);
    if (otherLabel === void 0) {
      return [];
    }
    const otherSentences = keysIn(otherLabel);
    return sentences.filter((sentence) => !otherSentences.includes(sentence)).map(String);
  }
  function completeLabels(name, values, keys) {
    const labels = [];
    for (const key of keys) {
      const label = valueAt(values, [name, key]);
      if (label === void 0) {
        return [];
      }
      labels.push(label);
    }
    return labels;
  }
  function someSentenceHas(labelsByField, values, keys) {
    return Object.entries(labelsByField).every(([name, labels]) => {
      const complete = completeLabels(name, values, keys);
      return complete.some((value) => isOneOf(value, labels));
    });
  }
  function everySentenceHas(labelsByField, values, keys) {
    return Object.entries(labelsByField).every(([name, labels]) => {
      const complete = completeLabels(name, values, keys);
      return complete.length > 0 && complete.every((value) => isOneOf(value, labels));
    });
  }
  function isOneOf(value, labels) {
    if (value === void 0) {
      return false;
    }
    if (labels === "some") {
      return keysIn(value).length > 0;
    }
    if (labels === "none") {
      return keysIn(value).length === 0;
    }
    return !Array.isArray(value) && labels.includes(value);
  }

  // src/tag_box.mjs
  var TagBox = class {
    /** @param {AnnotatorView} annotator */
    constructor(annotator) {
      this.annotator = annotator;
      this.work = annotator.work;
      this.field = this.work.task.fields.find(({ kind }) => kind === "tags");
      this.rows = /* @__PURE__ */ new Map();
      this.choices = node("datalist", { id: `tags-${Math.random().toString(36).slice(2)}` });
      this.input = node("input", {
        type: "text",
        dir: "auto",
        autocomplete: "off",
        placeholder: "write a tag",
        "aria-label": "write a tag; Enter gives it to the item",
        list: this.choices.id,
        onkeydown: (event) => this.onKey(event)
      });
      const add = node("button", { type: "button", class: "act", onclick: () => this.give() }, "add tag");
      this.summary = node("summary", {});
      this.table = node("div", { class: "codebook" });
      this.panel = node("details", { class: "tags" }, this.summary, this.table);
      this.box = node("div", { class: "tagbox", hidden: !this.field }, this.input, " ", add, this.choices, this.panel);
    }
    focus() {
      this.input.focus();
    }
    /**
     * While Chinese or Japanese is typed, Enter belongs to the input method.
     * @param {KeyboardEvent} event
     */
    onKey(event) {
      if (event.key !== "Enter" || event.isComposing) {
        return;
      }
      event.preventDefault();
      this.give();
    }
    // Gives the item the tag in the box. The box keeps the focus, so that several tags can follow.
    give() {
      const name = this.input.value.trim();
      if (!name || !this.field) {
        return;
      }
      this.annotator.send("tag", { field: this.field.name, name });
      this.input.value = "";
      this.input.focus();
    }
    paint() {
      if (!this.field) {
        return;
      }
      const { codebook } = this.work.state;
      const uses = codebook.map(([, name]) => node("option", { value: name }));
      this.choices.replaceChildren(...uses);
      this.summary.textContent = `codebook: ${codebook.length} ${codebook.length === 1 ? "tag" : "tags"}`;
      const ids = codebook.map(([id]) => id);
      if (JSON.stringify(ids) !== JSON.stringify([...this.rows.keys()])) {
        this.rows = new Map(ids.map((id) => [id, this.row(id)]));
        this.table.replaceChildren(...[...this.rows.values()].map(({ box }) => box));
      }
      [...this.rows.values()].forEach((line, position) => this.paintRow(line, codebook[position], codebook));
    }
    /**
     * @param {string} id of the tag
     * @returns {TagLine}
     */
    row(id) {
      const rename = () => this.annotator.send("codebook", { change: "rename", tag: id, name: name.value });
      const define = () => this.annotator.send("codebook", { change: "define", tag: id, definition: definition.value });
      const merge = () => this.annotator.send("codebook", { change: "merge", tag: id, into: into.value });
      const name = node("input", { type: "text", dir: "auto", "aria-label": "name of the tag", onchange: rename });
      const definition = node("textarea", {
        rows: 1,
        dir: "auto",
        "aria-label": "definition of the tag",
        placeholder: "definition: what counts, what does not",
        onchange: define
      });
      const into = node("select", { "aria-label": "merge the tag into", onchange: merge });
      const count = node("span", { class: "count" });
      return { box: node("div", { class: "tag" }, name, count, into, definition), name, definition, into, count };
    }
    /**
     * What somebody is writing in stays as it is.
     * @param {TagLine} line
     * @param {TagRow} tag
     * @param {TagRow[]} codebook
     */
    paintRow({ name, definition, into, count }, [tagId, tagName2, tagDefinition, uses], codebook) {
      const isFree = (input) => document.activeElement !== input;
      if (isFree(name)) {
        name.value = tagName2;
      }
      if (isFree(definition)) {
        definition.value = tagDefinition;
      }
      count.textContent = `${uses} ${uses === 1 ? "item" : "items"}`;
      const others = codebook.filter(([id]) => id !== tagId).map(([id, label]) => node("option", { value: id }, label));
      into.replaceChildren(node("option", { value: "" }, "merge into …"), ...others);
      into.value = "";
    }
  };

  // src/fields.mjs
  var MOST_DIGITS = 9;
  var Fields = class {
    /** @param {AnnotatorView} annotator */
    constructor(annotator) {
      this.annotator = annotator;
      this.work = annotator.work;
      this.accept = annotator.button("accept", "accept all", "a");
      this.tags = new TagBox(annotator);
      this.suggested = node("div", { class: "suggested" });
      this.box = node("div", { class: "fields", role: "group", "aria-label": "labels" });
      this.warnings = node("div", { class: "warnings", role: "status" });
      this.isNoteOpen = false;
    }
    // The boxes of labels, empty for another item.
    draw() {
      for (const box of [this.suggested, this.box, this.warnings]) {
        box.replaceChildren();
      }
      return [this.suggested, this.box, this.tags.box, this.warnings];
    }
    paint() {
      this.paintSuggested();
      this.paintWarnings();
      this.paintRows();
      this.tags.paint();
    }
    paintSuggested() {
      const { suggested, suggested_by: suggestedBy } = this.work.state;
      if (!Object.keys(suggested).length) {
        this.suggested.replaceChildren();
        return;
      }
      const offer = node("span", {}, `suggested by ${suggestedBy}, saved only when accepted`);
      this.suggested.replaceChildren(offer, this.accept);
    }
    paintWarnings() {
      const { task, page, state } = this.work;
      const messages = contradictionsOf(task, state.values, page.each);
      const lines = messages.map((message) => node("div", {}, `⚠ ${message}`));
      this.warnings.replaceChildren(...lines);
    }
    paintRows() {
      const rows = [];
      for (const field of this.work.task.fields) {
        const place = this.work.placeOf(field);
        if (place) {
          rows.push(this.row(field, place));
        }
      }
      rows.push(this.note());
      const typingRow = this.box.querySelector(".field:has(textarea:focus)");
      if (!typingRow) {
        this.box.replaceChildren(...rows);
        return;
      }
      rows.forEach((row, position) => {
        const present = this.box.children[position];
        if (present !== typingRow) {
          present.replaceWith(row);
        }
      });
    }
    /**
     * @param {Field} field
     * @param {Place} place
     */
    row(field, place) {
      const { value, guess } = this.work.labelAt(place);
      const isActive = this.work.field === field;
      const classes = ["field"];
      if (isActive) {
        classes.push("active");
      }
      if (value === void 0) {
        classes.push("untouched");
      }
      const control = field.kind === "text" ? this.freeText(field, place) : this.options(field, place, isActive);
      return node(
        "div",
        { class: classes.join(" "), "data-field": field.name },
        this.name(field, place, isActive),
        node("span", { class: "value" }, summaryOf(field, value, guess)),
        control
      );
    }
    /**
     * The button that makes a field the active one.
     * @param {Field} field
     * @param {Place} place
     * @param {boolean} isActive
     */
    name(field, place, isActive) {
      const label = field.each ? `${field.label} [${this.work.sentence}]` : field.label;
      const attributes = {
        type: "button",
        class: "name",
        "aria-pressed": String(isActive),
        "aria-keyshortcuts": field.key,
        onclick: () => this.press(place)
      };
      return node("button", attributes, kbd(field.key), " ", label);
    }
    /**
     * @param {Field} field
     * @param {Place} place
     */
    freeText(field, place) {
      const { value, guess } = this.work.labelAt(place);
      const [, sentence] = place;
      const send = (text, number) => {
        this.annotator.send("label", { field: field.name, sentence, value: text || null, number });
      };
      return this.textarea(field.label, String(value ?? guess ?? ""), send);
    }
    /**
     * @param {Field} field
     * @param {Place} place
     * @param {boolean} isActive
     */
    options(field, place, isActive) {
      const { value, guess } = this.work.labelAt(place);
      const current = value ?? guess;
      const isSet = isList(field);
      const isSuggested = value === void 0;
      const buttons = this.work.optionsOf(field).map((option, position) => {
        const isChosen = isSet ? keysIn(current).includes(option.value) : current === option.value;
        const voters = this.work.votes(place, option.value).join("+");
        const attributes = {
          class: optionClass(isChosen, isSuggested),
          role: isSet ? "checkbox" : "radio",
          "aria-checked": String(isChosen),
          "data-value": JSON.stringify(option.value),
          title: option.definition || null,
          onclick: this.whenPressed(place, () => this.annotator.choose(position))
        };
        const key = isActive && position < MOST_DIGITS ? String(position + 1) : null;
        return optionButton(attributes, key, node("bdi", {}, option.label), voters ? node("sup", {}, voters) : null);
      });
      if (isSet) {
        const isEmpty = value !== void 0 && keysIn(value).length === 0;
        const attributes = {
          class: optionClass(isEmpty, isSuggested),
          onclick: this.whenPressed(place, () => this.annotator.give([]))
        };
        buttons.push(optionButton(attributes, isActive ? "e" : null, "none"));
      }
      const role = isSet ? "group" : "radiogroup";
      return node("span", { class: "options", role, "aria-label": field.label }, ...buttons);
    }
    /**
     * The second press of a double click does nothing, because another option may be under the mouse by then.
     * @param {Place} place
     * @param {function(): void} act
     * @returns {function(MouseEvent): void}
     */
    whenPressed(place, act) {
      return ({ detail }) => {
        if (detail < 2) {
          this.press(place, act);
        }
      };
    }
    /** @param {Place} place */
    press(place, act = () => {
    }) {
      this.annotator.go(() => this.work.goTo(place));
      act();
      this.annotator.focus();
    }
    /**
     * @param {string} label
     * @param {string} value
     * @param {function(string, number): void} send gets the text, and the item for which it was typed
     */
    textarea(label, value, send) {
      const input = node("textarea", { rows: 2, dir: "auto", "aria-label": label, placeholder: label });
      whenTyped(input, () => this.work.page.number, send);
      input.value = value;
      return input;
    }
    /**
     * Move the focus to the text of a field.
     * @param {string} name
     */
    write(name) {
      const rows = (
        /** @type {HTMLElement[]} */
        [...this.box.querySelectorAll(".field")]
      );
      const row = rows.find(({ dataset }) => dataset.field === name);
      row?.querySelector("textarea")?.focus();
    }
    // It is visible if somebody has written a note, or wants to.
    note() {
      const { note } = this.work.state;
      const send = (text, number) => this.annotator.send("note", { text, number });
      const input = this.textarea("note on this item", note, send);
      return node("div", { class: "field note", hidden: !note && !this.isNoteOpen }, input);
    }
    /** @param {boolean} isOpen */
    showNote(isOpen) {
      this.isNoteOpen = isOpen;
      this.paint();
      if (isOpen) {
        this.box.querySelector(".note")?.querySelector("textarea")?.focus();
      }
    }
  };
  function optionClass(isChosen, isSuggested) {
    if (!isChosen) {
      return "option";
    }
    return isSuggested ? "option guess" : "option on";
  }
  function optionButton(attributes, key, ...children) {
    const lead = key === null ? [] : [kbd(key), " "];
    return node("button", { type: "button", ...attributes }, ...lead, ...children);
  }
  function summaryOf(field, value, guess) {
    const current = value ?? guess;
    const isSuggested = value === void 0;
    if (current === void 0) {
      return field.required ? "…" : "optional";
    }
    if (!isList(field)) {
      return isSuggested ? "?" : "✓";
    }
    const sentences = sentencesInShort(field, keysIn(current));
    return isSuggested ? `${sentences} ?` : sentences;
  }
  function sentencesInShort(field, keys) {
    if (!keys.length) {
      return "∅ none";
    }
    if (field.kind === "tags") {
      return String(keys.length);
    }
    if (field.of === "words") {
      return `${keys.length} marked`;
    }
    return keys.map((key) => `[${key}]`).join(" ");
  }

  // src/actions.mjs
  var NAMES = ["open", "agreed", "undo", "redo", "label", "note", "flag", "skip", "codebook"];
  var CHANGES_OF_CODEBOOK = { add: "name", rename: "name", define: "definition", merge: "into" };
  var TIME = /^\d{4}-\d\d-\d\dT/;
  function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
  }
  function isText(value) {
    return typeof value === "string";
  }
  function checked(action, { task, items }) {
    check(isObject(action), "no keys");
    const { action: name, item, time, set, value, of } = action;
    check(typeof item === "number" && Number.isInteger(item) && items[item], "an unknown item");
    check(isText(time) && TIME.test(time) && !Number.isNaN(Date.parse(time)), "no time");
    check(isText(name) && NAMES.includes(name), "an unknown name");
    switch (name) {
      case "flag":
      case "skip":
        check(typeof value === "boolean", "a value other than true and false");
        break;
      case "note":
        check(isText(value), "a note that is no text");
        break;
      case "undo":
      case "redo":
        check(isText(of), "no other action that it is about");
        break;
      case "codebook":
        check(changesCodebook(action), "no change of the codebook");
        break;
      case "label":
      case "agreed":
        check(Array.isArray(set), "no list of labels");
        check(set.every((entry) => isObject(entry) && allows(task, items[item].page, entry)), "a label that the task does not have");
        break;
      default:
    }
    return (
      /** @type {NewAction} */
      /** @type {unknown} */
      action
    );
  }
  function check(condition, problem) {
    if (!condition) {
      throw new Error(`an action has ${problem}`);
    }
  }
  function changesCodebook(action) {
    const { change, tag } = action;
    return isText(tag) && isText(change) && Object.hasOwn(CHANGES_OF_CODEBOOK, change) && isText(action[CHANGES_OF_CODEBOOK[change]]);
  }
  function allows(task, page, { field: name, sentence = null, value }) {
    const field = task.fields.find((candidate) => candidate.name === name);
    const hasPlace = page.places.some(([fieldName, key]) => fieldName === name && key === sentence);
    if (!field || !hasPlace) {
      return false;
    }
    if (value === null) {
      return true;
    }
    if (field.kind === "text") {
      return isText(value);
    }
    if (field.kind === "tags") {
      return Array.isArray(value) && value.every(isText);
    }
    if (field.kind === "choice") {
      return field.options.some((option) => option.value === value);
    }
    const possibleKeys = new Set(sentenceKeys(page, field));
    return Array.isArray(value) && value.every((key) => possibleKeys.has(key));
  }
  function sentenceKeys(page, field) {
    const parts = page.parts.filter(({ name }) => name === field.of);
    const keys = parts.flatMap(({ sentences }) => sentences.map(([key]) => key));
    return [...keys, ...field.options.map(({ value }) => value)];
  }

  // src/keys.mjs
  var MOVES = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity };
  var MOST_DIGITS2 = 9;
  var SIDEWAYS = { ArrowRight: 1, ArrowLeft: -1 };
  var KEY_NAMES = { " ": "space", Backspace: "⌫", Delete: "Del", Escape: "Esc" };
  var ACTS = [
    ["toggle", [" ", "x"], "select or deselect the sentence for the active label (or click it, or drag over several)"],
    ["option", [..."123456789"], "choose an option of the active label"],
    ["empty", ["e"], "none: the active label applies to no sentence"],
    ["clear", ["Backspace", "Delete"], "remove the value of the active label"],
    ["sentence back", ["["], "previous sentence or claim of the response"],
    ["sentence on", ["]"], "next sentence or claim of the response"],
    ["previous", ["p"], "previous item", ["‹", "previous item"]],
    ["next", ["n"], "next item", ["›", "next item"]],
    ["done", ["Enter"], "go to what is still missing, or else to the next item that is not labelled", ["done, next", "next item that is not labelled"]],
    ["undo", ["z"], "undo the last action, on any item (or Ctrl+Z)", ["undo"]],
    ["redo", ["Z"], "redo the last undone action (or Ctrl+Y)", ["redo"]],
    ["tag", ["+"], "write a tag, which is added to the codebook if it is new"],
    ["skip", ["."], "skip the item", ["skip"]],
    ["flag", ["f"], "flag the item", ["flag"]],
    ["memo", ["m"], "write a note on the item", ["note"]],
    ["accept", ["a"], "accept the suggestion"],
    ["search", ["/"], "search the texts; Enter goes to the next match", ["search"]],
    ["jump", ["g"], "show the list of items", ["list"]],
    ["auto", ["A"], "go to the next item after the last label, or stay", ["auto", "go to the next item after the last label"]],
    ["help", ["?"], "show these keys", ["keys"]],
    ["fold", ["o"], "unfold a long document"],
    ["leave", ["Escape"], "close the open panel"]
  ];
  var BUTTONS = [];
  for (const row of ACTS) {
    const [act, keys, , button] = row;
    if (button) {
      const [label, title = label] = button;
      BUTTONS.push([act, label, keys[0], title]);
    }
  }
  function isPlain({ key, ctrlKey, metaKey, altKey, shiftKey }) {
    const hasModifier = ctrlKey || metaKey || altKey;
    const runsCell = shiftKey && key === "Enter";
    return !(hasModifier || runsCell);
  }
  function stepOf(event) {
    const isMove = isPlain(event) && Object.hasOwn(MOVES, event.key);
    return isMove ? MOVES[event.key] : void 0;
  }
  function leavesSearch(event) {
    return isPlain(event) && !event.isComposing && ["Escape", "Enter", "ArrowDown"].includes(event.key);
  }
  var STORAGE_KEY = "ragnb-annotator";
  function storedSettings() {
    try {
      return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "null");
    } catch {
      return null;
    }
  }
  function settingsOf(task) {
    const stored = storedSettings();
    const keys = /* @__PURE__ */ Object.create(null);
    if (isObject(stored) && isObject(stored.keys)) {
      Object.assign(keys, stored.keys);
    }
    if (!isObject(keys[task])) {
      keys[task] = {};
    }
    const goesOn = !isObject(stored) || stored.goesOn !== false;
    return { goesOn, keys };
  }
  var Keys = class {
    /** @param {Task} task */
    constructor({ name, fields }) {
      this.fields = fields;
      const hasTags = fields.some(({ kind }) => kind === "tags");
      this.acts = ACTS.filter(([act]) => act !== "tag" || hasTags);
      this.settings = settingsOf(name);
      this.replacements = this.settings.keys[name];
    }
    get goesOn() {
      return this.settings.goesOn;
    }
    keep(goesOn = this.goesOn) {
      this.settings.goesOn = goesOn;
      try {
        localStorage.setItem(STORAGE_KEY, JSON.stringify(this.settings));
      } catch {
      }
    }
    /**
     * The key that does what a key of the table does.
     * @param {string} key
     */
    of(key) {
      return this.replacements[key] ?? key;
    }
    /**
     * Let another key do what one of the table does; false if that key has a meaning. The key of the table brings it back.
     * @param {string} key
     * @param {string} other
     */
    change(key, other) {
      const isRestored = other === key;
      const isUsable = other.length === 1 && !this.act({ key: other });
      if (!isRestored && !isUsable) {
        return false;
      }
      this.replacements[key] = other;
      this.keep();
      return true;
    }
    /**
     * The key of the table that a pressed key stands for.
     * @param {string} pressed
     */
    original(pressed) {
      const replaced = Object.keys(this.replacements).find((key) => this.of(key) === pressed);
      return replaced ?? pressed;
    }
    /**
     * The meaning of a key for the annotator; null where it has none.
     * @param {Pick<KeyboardEvent, "key"> & Partial<KeyboardEvent>} event
     * @returns {Meaning | null}
     */
    act(event) {
      const { ctrlKey, metaKey, altKey, shiftKey } = event;
      const key = this.original(event.key);
      const letter = key.length === 1 ? key.toLowerCase() : key;
      if (ctrlKey || metaKey) {
        return commandOf(letter, shiftKey);
      }
      if (altKey) {
        return null;
      }
      if (Object.hasOwn(SIDEWAYS, key)) {
        return { act: "move", step: SIDEWAYS[key], extend: shiftKey, sideways: true };
      }
      if (Object.hasOwn(MOVES, key)) {
        return { act: "move", step: MOVES[key], extend: shiftKey };
      }
      const row = this.acts.find(([, keys]) => keys.includes(key));
      if (row) {
        const [act] = row;
        return act === "option" ? { act, number: Number(key) - 1 } : { act };
      }
      const field = this.fields.find((candidate) => candidate.key === letter);
      return field ? { act: "field", name: field.name } : null;
    }
    /**
     * Rows of the help: keys of the table that can be changed, and what they do.
     * @returns {[keys: string[], meaning: string][]}
     */
    help() {
      const rows = this.fields.map(({ key, label }) => [[key], `label: ${label}`]);
      const optionCounts = this.fields.map(({ kind, options }) => kind === "tags" ? MOST_DIGITS2 : options.length);
      const mostOptions = Math.max(...optionCounts);
      for (const [act, keys, meaning] of this.acts) {
        const usedKeys = act === "option" ? keys.slice(0, mostOptions) : keys;
        rows.push([usedKeys, meaning]);
      }
      return rows;
    }
    /**
     * Write the keys that were chosen wherever a key is shown.
     * @param {HTMLElement} root
     */
    write(root) {
      const shownKeys = (
        /** @type {NodeListOf<HTMLElement>} */
        root.querySelectorAll("kbd[data-key]")
      );
      for (const element of shownKeys) {
        const key = this.of(element.dataset.key ?? "");
        element.textContent = KEY_NAMES[key] ?? key;
        element.closest("[aria-keyshortcuts]")?.setAttribute("aria-keyshortcuts", key);
      }
    }
  };
  function commandOf(letter, shiftKey) {
    if (letter === "z") {
      return { act: shiftKey ? "redo" : "undo" };
    }
    return letter === "y" ? { act: "redo" } : null;
  }

  // src/search.mjs
  function folded(text) {
    return text.normalize("NFKC").toLowerCase();
  }
  function wordsOf(query) {
    return folded(query).split(/\s+/u).filter(Boolean);
  }
  function matchingTexts(texts, query) {
    const words = wordsOf(query);
    if (!words.length) {
      return [];
    }
    const numbers = [];
    texts.forEach((text, number) => {
      const foldedText = folded(text);
      if (words.every((word) => foldedText.includes(word))) {
        numbers.push(number);
      }
    });
    return numbers;
  }

  // src/item_list.mjs
  var FILTERS = ["all", "not labelled", "untouched", "started", "labelled", "skipped", "flagged"];
  var GLYPHS = { labelled: "✓", started: "◐", skipped: "↷", untouched: "·" };
  var ROW_HEIGHT = 28;
  function listed(entries, filter, query) {
    const titles = entries.map(([title]) => title);
    const numbers = query.trim() ? matchingTexts(titles, query) : [...entries.keys()];
    return numbers.filter((number) => passes(entries[number], filter));
  }
  function passes([, status, isFlagged], filter) {
    switch (filter) {
      case "all":
        return true;
      case "flagged":
        return isFlagged;
      case "not labelled":
        return status !== "labelled";
      default:
        return status === filter;
    }
  }
  var ItemList = class {
    /** @param {AnnotatorView} annotator */
    constructor(annotator) {
      this.annotator = annotator;
      this.work = annotator.work;
      this.numbers = [];
      this.at = 0;
      const toFirst = () => this.moveTo(0);
      const filterOptions = FILTERS.map((name) => node("option", { value: name }, name));
      this.filter = node("select", { "aria-label": "which items", onchange: toFirst }, ...filterOptions);
      this.query = node("input", {
        type: "search",
        placeholder: "words",
        "aria-label": "words of an item",
        oninput: toFirst,
        onkeydown: (event) => this.onQueryKey(event)
      });
      this.count = node("span", { class: "count" });
      this.rows = new VirtualList(ROW_HEIGHT, (position) => this.row(position), {
        class: "list",
        "aria-label": "items",
        onkeydown: (event) => this.onKey(event)
      });
      const controls = [this.filter, " ", this.query, " ", this.count];
      this.box = node("div", { class: "panel jump", hidden: true }, ...controls, this.rows.list);
    }
    // With the item on the screen in sight.
    open() {
      this.box.hidden = false;
      this.draw();
      this.moveTo(this.numbers.indexOf(this.work.page.number));
      this.rows.list.focus();
    }
    /**
     * Lines that have changed; the list itself is not sent again.
     * @param {Record<number, Entry>} entries
     */
    learn(entries) {
      Object.assign(this.work.entries, entries);
      this.draw();
    }
    draw() {
      if (this.box.hidden) {
        return;
      }
      const { entries } = this.work;
      this.numbers = listed(entries, this.filter.value, this.query.value);
      this.count.textContent = `${this.numbers.length} of ${entries.length}`;
      this.rows.draw(this.numbers.length, this.at);
    }
    /**
     * @param {number} position
     * @returns {RowElement}
     */
    row(position) {
      const number = this.numbers[position];
      const [title, status, isFlagged] = this.work.entries[number];
      const attributes = {
        class: position === this.at ? "row cursor" : "row",
        "aria-selected": String(number === this.work.page.number),
        "aria-label": `${number + 1} ${status}${isFlagged ? " flagged" : ""} ${title}`,
        onclick: () => this.choose(number)
      };
      return [
        attributes,
        node("span", { class: "n" }, `${number + 1} ${GLYPHS[status]}${isFlagged ? " ⚑" : ""}`),
        node("span", { class: "title", dir: "auto" }, title)
      ];
    }
    /** @param {KeyboardEvent} event */
    onKey(event) {
      const step = stepOf(event);
      if (event.key === "Enter" && isPlain(event)) {
        this.choose(this.numbers[this.at]);
      } else if (step !== void 0) {
        this.moveTo(this.at + step);
      } else {
        return;
      }
      event.preventDefault();
    }
    /** @param {KeyboardEvent} event */
    onQueryKey(event) {
      if (event.key === "Escape" || !leavesSearch(event)) {
        return;
      }
      event.preventDefault();
      this.rows.list.focus();
    }
    /** @param {number} position */
    moveTo(position) {
      this.draw();
      this.at = clamp(position, 0, Math.max(0, this.numbers.length - 1));
      this.rows.reveal(this.at);
      this.draw();
    }
    /** @param {number | undefined} number */
    choose(number) {
      if (number === void 0) {
        return;
      }
      this.box.hidden = true;
      this.annotator.goToItem(number);
    }
  };

  // src/panels.mjs
  var HELP = "To change a key, click it here and press another key. To restore it, click it and press its original key. ↑ ↓ (or k j, ← →) move from sentence to sentence. With Shift, they select several.";
  var UNCHANGEABLE = ["Tab", "Shift", "Escape"];
  function searchOf(sentences) {
    const count = node("span", { class: "count", "aria-live": "polite" });
    const showCount = ([position, total]) => {
      if (total) {
        count.textContent = `${position + 1} of ${total}`;
      } else {
        count.textContent = input.value ? "0 found" : "";
      }
    };
    const find = () => showCount(sentences.find(input.value));
    const onkeydown = (event) => {
      if (event.isComposing || event.key !== "Enter") {
        return;
      }
      event.preventDefault();
      if (sentences.hits.length) {
        showCount(sentences.nextHit(event.shiftKey ? -1 : 1));
      } else {
        find();
      }
    };
    const attributes = {
      type: "search",
      placeholder: "words of a passage",
      "aria-label": "search in the texts",
      oninput: find,
      onkeydown
    };
    const input = node("input", attributes);
    return node("div", { class: "panel", hidden: true }, input, " ", count);
  }
  function helpOf(keys, changed) {
    const rows = keys.help().map(([keysOfRow, meaning]) => {
      const buttons = keysOfRow.map((key) => keyButton(key, meaning, changed));
      return node("div", {}, node("span", {}, ...buttons), node("span", {}, meaning));
    });
    return node("div", { class: "panel help", hidden: true }, node("p", {}, HELP), ...rows);
  }
  function keyButton(key, meaning, changed) {
    const onkeydown = (event) => {
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
      onkeydown
    };
    return node("button", attributes, kbd(key));
  }
  function guideOf({ name, guideline }) {
    const lines = guideline.split("\n").map((line) => node("p", { dir: "auto" }, line));
    const attributes = { class: "guide", open: true, hidden: !guideline };
    return node("details", attributes, node("summary", {}, `guideline: ${name}`), ...lines);
  }

  // src/errors.mjs
  function messageOf(error) {
    return error instanceof Error ? error.message : String(error);
  }

  // src/saving.mjs
  var SOON = 400;
  var LATE = 3e3;
  var READ = 1500;
  var MOVES2 = ["move", "go", "next", "done", "undo", "redo"];
  var LEAVING = [...MOVES2, "skip"];
  var KEYS_OF_MOVES = ["n", "p", "Enter"];
  var KERNEL_IS_LATE = "not saved yet: the kernel does not answer; it is busy, or gone";
  var KERNEL_IS_GONE = "the kernel is gone, so nothing more is saved; run the cell again to continue from what was saved";
  function counted(names) {
    const counts = /* @__PURE__ */ new Map();
    for (const name of names) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const texts = [...counts].map(([name, count]) => count > 1 ? `${name} × ${count}` : name);
    return texts.join(", ");
  }
  var Saving = class {
    /**
     * @param {AnnotatorModel} model
     * @param {HTMLElement} root of the annotator
     * @param {function(): void} onseen called when the user has seen all refused actions
     */
    constructor(model, root, onseen) {
      this.model = model;
      this.root = root;
      this.onseen = onseen;
      this.lastId = Math.floor(Math.random() * 2 ** 48);
      this.view = this.lastId;
      this.unacknowledged = /* @__PURE__ */ new Map();
      this.leavingId = null;
      this.held = [];
      this.refused = [];
      this.question = null;
      this.reportedCount = null;
      this.isGoingOn = false;
      this.isGone = false;
      this.beforeUnload = (event) => {
        if (this.isBusy) {
          event.preventDefault();
        }
      };
      addEventListener("beforeunload", this.beforeUnload);
      this.now = node("span", { class: "now" });
      this.list = node("div", { class: "refused", role: "alert" });
      this.saved = node("span", { class: "saved" });
      const message = node("span", { class: "message", role: "status", "aria-live": "polite" }, this.list, this.now);
      this.box = node("div", { class: "foot" }, message, this.saved);
    }
    /**
     * Send an act about an item, by default the one on the screen.
     * @template {ActName} Name
     * @param {Name} act
     * @param {Acts[Name] & {number?: number}} [content] with the number of the item
     */
    send(act, content) {
      const item = content?.number ?? this.model.get("page").number;
      this.lastId += 1;
      const id = this.lastId;
      try {
        this.model.send(
          /** @type {Act} */
          { ...content, number: item, act, id }
        );
      } catch (error) {
        this.refuse(act, item, `not saved: the kernel is gone (${messageOf(error)}); run the cell again`);
        return;
      }
      this.unacknowledged.set(id, { act, item, time: performance.now() });
      if (LEAVING.includes(act)) {
        this.leavingId = id;
      }
      this.startClock();
      this.paintBusy();
    }
    /**
     * Say what became of an act that was sent from here; false if something is not acknowledged yet.
     * @param {Answered & {saved: string}} state
     */
    paint({ ack, message, failed, saved }) {
      this.saved.textContent = saved;
      const action = this.unacknowledged.get(ack);
      if (action) {
        this.finish(ack, action, message, failed);
      }
      if (this.unacknowledged.size) {
        return false;
      }
      this.stopClock();
      this.paintBusy();
      const isInListOfRefused = action !== void 0 && failed;
      this.say(isInListOfRefused ? "" : message, failed);
      return true;
    }
    /**
     * @param {number} id
     * @param {Sent} action
     * @param {string} message
     * @param {boolean} failed
     */
    finish(id, action, message, failed) {
      const { act, item } = action;
      this.unacknowledged.delete(id);
      if (failed) {
        this.refuse(act, item, message);
      } else if (!message) {
        this.forget((refusal) => isAnsweredBy(refusal, action));
      }
      if (id === this.leavingId) {
        this.finishLeaving(action, message, failed);
      }
    }
    /**
     * @param {Sent} action
     * @param {string} message
     * @param {boolean} failed
     */
    finishLeaving({ act, item }, message, failed) {
      this.leavingId = null;
      const staysHere = failed || message && !["undo", "redo"].includes(act);
      if (staysHere) {
        this.drop(item, message);
      }
      setTimeout(() => this.goOn());
    }
    /** @param {string} text */
    say(text, failed = false) {
      this.now.textContent = text;
      this.now.classList.toggle("failed", failed);
    }
    // Whether something is not saved yet that could be.
    get isBusy() {
      return !this.isGone && this.pendingCount > 0;
    }
    // Number of acts that are not saved yet.
    get pendingCount() {
      return this.unacknowledged.size + this.held.length;
    }
    close() {
      this.stopClock();
      removeEventListener("beforeunload", this.beforeUnload);
      this.signal({ act: "closed", view: this.view, lost: this.held.length });
    }
    /** @param {Signal} signal */
    signal(signal) {
      try {
        this.model.send(signal);
      } catch {
      }
    }
    startClock() {
      this.stopClock();
      this.soon = setTimeout(() => this.say("saving…"), SOON);
      this.late = setTimeout(() => this.say(KERNEL_IS_LATE, true), LATE);
    }
    stopClock() {
      clearTimeout(this.soon);
      clearTimeout(this.late);
    }
    paintBusy() {
      this.root.setAttribute("aria-busy", String(this.isBusy));
      this.reportPending();
    }
    // ---- Python reads the labels, and waits for those that are on their way ------------------------------------------
    /** @param {number} question its number, which the answers repeat */
    answer(question) {
      this.question = question;
      this.reportedCount = null;
      this.reportPending();
    }
    // Reports how many acts are not saved yet, whenever that number has changed, until it is 0.
    reportPending() {
      const { question, pendingCount: pending, view } = this;
      if (question === null || pending === this.reportedCount || this.isGone) {
        return;
      }
      this.reportedCount = pending;
      if (pending === 0) {
        this.question = null;
      }
      this.signal({ act: "pending", question, pending, view });
    }
    // ---- keys that are faster than the kernel ------------------------------------------------------------------------
    // Whether the item that a key is meant for is not on the screen yet.
    get waiting() {
      const hasUnfinished = this.leavingId !== null || this.held.length > 0;
      return hasUnfinished && !this.isGoingOn;
    }
    /**
     * Run at once, or when the item that it is meant for is on the screen.
     * @param {string} name of the key or button
     * @param {function(): void} run
     */
    whenShown(name, run) {
      if (this.waiting) {
        this.held.push({ name, run });
      } else {
        run();
      }
      this.paintBusy();
    }
    // Does what was held, up to what shows yet another item.
    goOn() {
      this.isGoingOn = true;
      while (this.leavingId === null) {
        const next = this.held.shift();
        if (!next) {
          break;
        }
        next.run();
      }
      this.isGoingOn = false;
      this.paintBusy();
    }
    /**
     * The item that the held keys were meant for does not come.
     * @param {number} item
     * @param {string} reason
     */
    drop(item, reason) {
      const names = this.held.map(({ name }) => name);
      this.held = [];
      const areWorthReporting = names.some((name) => !KEYS_OF_MOVES.includes(name));
      if (areWorthReporting) {
        this.refuse(`keys typed ahead, not used: ${names.join(" ")}`, item, reason);
      }
    }
    gone() {
      this.leavingId = null;
      this.isGone = true;
      this.drop(this.model.get("page").number, KERNEL_IS_GONE);
      this.say(KERNEL_IS_GONE, true);
      this.paintBusy();
    }
    // ---- what was refused stays on the screen until it is seen -------------------------------------------------------
    /**
     * @param {string} act
     * @param {number} item
     * @param {string} text
     */
    refuse(act, item, text) {
      this.refused.push({ act, item, text, time: performance.now() });
      this.paintRefused();
    }
    /** @param {function(Refused): boolean} isForgotten */
    forget(isForgotten) {
      this.refused = this.refused.filter((refusal) => !isForgotten(refusal));
      this.paintRefused();
    }
    // One line for each reason, and a button.
    paintRefused() {
      const namesByText = /* @__PURE__ */ new Map();
      for (const { act, item, text } of this.refused) {
        const names = namesByText.get(text) ?? [];
        names.push(`item ${item + 1} (${act})`);
        namesByText.set(text, names);
      }
      const lines = [...namesByText].map(([text, names]) => node("div", { class: "failed" }, `${counted(names)}: ${text}`));
      if (lines.length) {
        lines.push(node("button", { type: "button", class: "act", onclick: () => this.dismiss() }, "seen"));
      }
      this.list.replaceChildren(...lines);
    }
    dismiss() {
      this.forget(() => true);
      this.onseen();
    }
  };
  function isAnsweredBy(refusal, { act, item, time }) {
    const isOfSameKind = MOVES2.includes(refusal.act) === MOVES2.includes(act);
    return refusal.item === item && isOfSameKind && time - refusal.time > READ;
  }

  // src/sentences.mjs
  var FOLD_ABOVE = 40;
  var FOLDED_TO = 8;
  var LEFT_BUTTON = 0;
  var Sentences = class {
    /** @param {AnnotatorView} annotator */
    constructor(annotator) {
      this.annotator = annotator;
      this.work = annotator.work;
      this.uid = `ragnb-${Math.random().toString(36).slice(2)}`;
      this.lines = {};
      this.boxes = {};
      this.cursor = {};
      this.hits = [];
      this.hitAt = -1;
      this.anchor = null;
      this.dragging = null;
    }
    // ---- drawn when the item changes -------------------------------------------------------------------------------
    /**
     * The boxes of the documents (one or none), and the boxes of all other parts.
     * @returns {[documents: HTMLElement[], others: HTMLElement[]]}
     */
    draw() {
      this.lines = {};
      this.boxes = {};
      this.cursor = {};
      this.hits = [];
      this.anchor = null;
      this.dragging = null;
      const { parts } = this.work.page;
      const documents = parts.filter(({ name }) => name === "documents");
      const otherParts = parts.filter(({ name }) => name !== "documents");
      const documentBoxes = documents.length ? [this.box("documents", documents, "documents")] : [];
      const otherBoxes = otherParts.map((part) => this.box(part.name, [part], part.heading));
      return [documentBoxes, otherBoxes];
    }
    /**
     * @param {string} name
     * @param {Part[]} parts
     * @param {string} label
     */
    box(name, parts, label) {
      this.lines[name] = [];
      this.cursor[name] = 0;
      const attributes = {
        class: `part ${name}`,
        tabindex: 0,
        role: "listbox",
        "aria-multiselectable": "true",
        "aria-label": label
      };
      const sections = parts.map((part) => this.section(name, part));
      this.boxes[name] = node("div", attributes, ...sections);
      return this.boxes[name];
    }
    /**
     * @param {string} name
     * @param {Part} part
     */
    section(name, { heading, sentences }) {
      const isLong = name !== "words" && sentences.length > FOLD_ABOVE;
      const lines = sentences.map(([key, text]) => this.line(name, key, text));
      const unfold = () => {
        section.classList.remove("folded");
        this.focus();
      };
      const more = `… ${sentences.length - FOLDED_TO} more sentences `;
      const section = node(
        "section",
        { role: "presentation", class: isLong ? "folded" : "" },
        heading ? node("div", { class: "heading" }, heading, node("span", { class: "chosen" })) : null,
        node("div", { class: "text", role: "presentation", dir: "auto" }, ...lines),
        node("button", { type: "button", class: "more", onclick: unfold }, more, kbd("o"))
      );
      return section;
    }
    /**
     * @param {string} part
     * @param {string} key
     * @param {string} text
     */
    line(part, key, text) {
      const badges = node("sup", { class: "badges", dir: "ltr" });
      const place = this.lines[part].length;
      const hasKey = this.work.page.keyed.includes(part);
      const lead = hasKey ? [node("small", { class: "key", dir: "ltr" }, `[${key}]`), " "] : [];
      const attributes = {
        class: "sentence",
        role: "option",
        dir: part === "words" ? null : "auto",
        // words follow the direction of their text
        id: `${this.uid}-${part}-${place}`,
        onmousedown: (event) => this.onPress(event, line),
        onmouseenter: () => this.onDrag(line),
        onclick: () => this.select(line)
      };
      const element = node("span", attributes, ...lead, node("span", { class: "words" }, text), badges);
      const line = { part, place, key, text, badges, node: element };
      this.lines[part].push(line);
      return element;
    }
    unfold(line = this.here) {
      line?.node.closest("section")?.classList.remove("folded");
    }
    // ---- painted with every action -----------------------------------------------------------------------------------
    paint() {
      const { fields } = this.work.task;
      const marks = fields.filter(({ kind }) => kind === "sentences").flatMap((field) => this.mark(field) ?? []);
      const pickedLines = new Set(this.anchor === null ? [] : this.picked());
      const hits = new Set(this.hits);
      for (const [part, lines] of Object.entries(this.lines)) {
        const marksOfPart = marks.filter(({ field }) => field.of === part);
        for (const line of lines) {
          this.paintLine(line, marksOfPart, pickedLines.has(line), hits.has(line));
        }
        this.paintCounts(part);
      }
      const { here } = this;
      if (here) {
        this.boxes[here.part].setAttribute("aria-activedescendant", here.node.id);
      }
    }
    /**
     * How many sentences are marked, in the heading of each section.
     * @param {string} part
     */
    paintCounts(part) {
      for (const count of this.boxes[part].querySelectorAll(".chosen")) {
        const marked = count.closest("section")?.querySelectorAll(".on, .held").length;
        count.textContent = marked ? ` · ${marked} marked` : "";
      }
    }
    /**
     * What is marked in a field of sentences; null if it is asked of each sentence of a response without any.
     * @param {Field} field
     * @returns {Mark | null}
     */
    mark(field) {
      const place = this.work.placeOf(field);
      if (!place) {
        return null;
      }
      const { value, guess } = this.work.labelAt(place);
      return { field, place, keys: new Set(keysIn(value ?? guess)), isSuggested: guess !== void 0 };
    }
    /**
     * @param {Line} line
     * @param {Mark[]} marks
     * @param {boolean} isPicked
     * @param {boolean} isHit
     */
    paintLine(line, marks, isPicked, isHit) {
      const { part, key, place } = line;
      const { task, field: activeField, sentence } = this.work;
      const marksOfLine = marks.filter(({ keys }) => keys.has(key));
      const isOn = marksOfLine.some(({ field }) => field.name === activeField?.name);
      const nextWord = part === "words" ? this.lines[part][place + 1] : void 0;
      const marksThatEnd = marksOfLine.filter(({ keys }) => !nextWord || !keys.has(nextWord.key));
      line.badges.textContent = this.badges(line, marks, marksThatEnd).join(" ");
      line.node.setAttribute("aria-selected", String(isOn));
      const classes = {
        on: isOn,
        held: marksOfLine.length > 0 && !isOn,
        guess: marksOfLine.some(({ isSuggested }) => isSuggested),
        picked: isPicked,
        current: part === task.unit && key === sentence,
        hit: isHit,
        cursor: line === this.here
      };
      for (const [name, isPresent] of Object.entries(classes)) {
        line.node.classList.toggle(name, isPresent);
      }
    }
    /**
     * Letters of labels, with a question mark if suggested; what other annotators chose; verdicts on a sentence of the response.
     * @param {Line} line
     * @param {Mark[]} marks
     * @param {Mark[]} marksThatEnd
     */
    badges(line, marks, marksThatEnd) {
      const letters = marksThatEnd.map(({ field, isSuggested }) => withDoubt(field.key.toUpperCase(), isSuggested));
      return [...letters, ...this.votes(line, marks), ...this.verdicts(line)];
    }
    /**
     * @param {Line} line
     * @param {Mark[]} marks
     */
    votes({ key }, marks) {
      const badges = [];
      for (const { field, place } of marks) {
        const voters = this.work.votes(place, key);
        if (voters.length) {
          badges.push(`${field.key}:${voters.join("+")}`);
        }
      }
      return badges;
    }
    /** @param {Line} line */
    verdicts({ part, key }) {
      const { task } = this.work;
      if (part !== task.unit) {
        return [];
      }
      const fields = task.fields.filter(({ each, kind }) => each && kind === "choice");
      return fields.map((field) => {
        const { value, guess } = this.work.labelAt([field.name, key]);
        const verdict = value ?? guess;
        const option = field.options.find((candidate) => candidate.value === verdict);
        return withDoubt(option ? option.sign : String(verdict ?? "…"), guess !== void 0);
      });
    }
    // ---- cursor and ranges -------------------------------------------------------------------------------------------
    /**
     * The part in which keys move: the part whose sentences are labelled, else the documents, else the first with any text.
     * @returns {string | undefined} undefined if no part has a text
     */
    get part() {
      const labelled = this.labelledPart;
      if (this.lines[labelled]?.length) {
        return labelled;
      }
      return Object.keys(this.lines).find((name) => this.lines[name].length);
    }
    get labelledPart() {
      const { field, task } = this.work;
      if (field?.kind === "sentences") {
        return field.of;
      }
      return field?.each ? task.unit : "documents";
    }
    /**
     * The line under the cursor.
     * @returns {Line | undefined}
     */
    get here() {
      const { part } = this;
      return part === void 0 ? void 0 : this.lines[part][this.cursor[part]];
    }
    focus() {
      const { part } = this;
      const box = part === void 0 ? this.annotator.root : this.boxes[part];
      box.focus({ preventScroll: true });
    }
    /** @param {Line} line */
    goTo(line) {
      this.cursor[line.part] = line.place;
      line.node.scrollIntoView({ block: "nearest" });
    }
    // The cursor goes along to the sentence that is labelled.
    follow() {
      const { task, sentence } = this.work;
      if (this.part !== task.unit) {
        return;
      }
      const line = this.lines[this.part].find(({ key }) => key === sentence);
      if (line) {
        this.goTo(line);
      }
    }
    /**
     * Move the cursor. Keys that go sideways follow the direction of the text.
     * @param {number} step
     * @param {boolean} [extend] whether the range that begins at the anchor is extended
     * @param {boolean} [sideways]
     */
    move(step, extend, sideways) {
      const { part, here } = this;
      const visibleLines = part === void 0 ? [] : this.lines[part].filter((line2) => line2.node.checkVisibility());
      if (!here || !visibleLines.length) {
        return;
      }
      const isReversed = sideways && getComputedStyle(here.node).direction === "rtl";
      const stepInText = isReversed ? -step : step;
      if (extend) {
        this.anchor ??= here.place;
      } else {
        this.anchor = null;
      }
      const position = clamp(visibleLines.indexOf(here) + stepInText, 0, visibleLines.length - 1);
      const line = visibleLines[position];
      this.goTo(line);
      this.paint();
      this.focus();
      this.select(line);
    }
    /**
     * Where labels are asked of each sentence of the response, the sentence under the cursor is the one that is labelled.
     * @param {Line} line
     */
    select({ part, key }) {
      const isAskedOfEach = part === this.work.task.unit && this.work.page.each.length > 0;
      if (isAskedOfEach && !this.work.chooses(part)) {
        this.annotator.go(() => this.work.goToSentence(key));
      }
    }
    /**
     * The lines in sight from the anchor to the cursor, where sentences are chosen.
     * @returns {Line[]}
     */
    picked() {
      const { field } = this.work;
      if (field?.kind !== "sentences") {
        return [];
      }
      const cursor = this.cursor[field.of];
      const anchor = this.anchor ?? cursor;
      const first = Math.min(anchor, cursor);
      const last = Math.max(anchor, cursor);
      return (this.lines[field.of] ?? []).slice(first, last + 1).filter((line) => line.node.checkVisibility());
    }
    /**
     * The sentences that are picked, and whether to choose them or not: all of them become the opposite of the one at which the
     * range begins. For a single sentence, `on` is null, because the kernel knows its value best.
     * @param {number | null} lead the place at which the range begins
     * @returns {{keys: string[], on: boolean | null}}
     */
    take(lead = this.anchor) {
      const { field } = this.work;
      const keys = this.picked().map(({ key }) => key);
      this.anchor = null;
      const mark = field && this.mark(field);
      if (keys.length <= 1 || lead === null || !mark) {
        return { keys, on: null };
      }
      const leadingLine = this.lines[field.of][lead];
      return { keys, on: !mark.keys.has(leadingLine.key) };
    }
    // ---- mouse ---------------------------------------------------------------------------------------------------------
    /**
     * @param {MouseEvent} event
     * @param {Line} line
     */
    onPress(event, { part, place }) {
      const selectsText = event.altKey;
      if (event.button !== LEFT_BUTTON || selectsText) {
        return;
      }
      if (this.work.chooses(part)) {
        event.preventDefault();
        this.dragging = part;
        this.anchor = event.shiftKey ? this.cursor[part] : place;
        document.addEventListener("mouseup", () => this.onRelease(place), { once: true });
      }
      this.cursor[part] = place;
      this.boxes[part].focus({ preventScroll: true });
      this.paint();
    }
    /** @param {Line} line */
    onDrag({ part, place }) {
      if (this.dragging !== part) {
        return;
      }
      this.cursor[part] = place;
      this.paint();
    }
    /**
     * The lines over which the mouse was dragged are chosen.
     * @param {number} lead
     */
    onRelease(lead) {
      if (this.dragging) {
        this.annotator.toggle(lead);
      }
      this.dragging = null;
    }
    // ---- search --------------------------------------------------------------------------------------------------------
    /**
     * Find words in the texts, and go to the first hit.
     * @param {string} query
     * @returns {Hit}
     */
    find(query) {
      const lines = Object.values(this.lines).flat();
      const texts = lines.map(({ text }) => text);
      this.hits = matchingTexts(texts, query).map((number) => lines[number]);
      for (const line of this.hits) {
        this.unfold(line);
      }
      this.hitAt = -1;
      return this.nextHit(1);
    }
    /**
     * @param {number} step 1 or -1
     * @returns {Hit}
     */
    nextHit(step) {
      const total = this.hits.length;
      if (total) {
        this.hitAt = (this.hitAt + step + total) % total;
        this.goTo(this.hits[this.hitAt]);
      }
      this.paint();
      return [this.hitAt, total];
    }
  };
  function withDoubt(sign, isSuggested) {
    return isSuggested ? `${sign}?` : sign;
  }

  // src/annotator.mjs
  var MODIFIERS = ["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock"];
  var TEXT_FIELDS = ["INPUT", "TEXTAREA"];
  var MOST_SECONDS = 90;
  var MOST_MINUTES = 90;
  var NOTHING_TO_LABEL = "there is nothing to label in this item";
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
  var Annotator = class {
    /**
     * @param {AnnotatorModel} model
     * @param {HTMLElement} el
     */
    constructor(model, el) {
      this.model = model;
      this.work = new Work(model);
      this.keys = new Keys(this.work.task);
      this.isSeeking = false;
      this.page = null;
      this.focusBefore = null;
      this.root = this.drawRoot();
      this.saving = new Saving(model, this.root, () => this.focus());
      this.sentences = new Sentences(this);
      this.fields = new Fields(this);
      this.search = searchOf(this.sentences);
      this.items = new ItemList(this);
      this.help = helpOf(this.keys, (key, other) => this.changeKey(key, other));
      this.bar = node("progress", { "aria-label": "labelled" });
      this.count = node("span", { class: "count" });
      const buttons = BUTTONS.map(([act, label, key, title]) => (
        /** @type {const} */
        [act, this.button(act, label, key, title)]
      ));
      this.buttons = new Map(buttons);
      this.body = node("div", { class: "body" });
      this.end = node("div", { class: "panel end", hidden: true });
      this.drawFrame();
      el.append(this.root);
      this.disconnect = connect(model, {
        "change:state": () => this.onState(),
        "change:jump": () => this.items.draw(),
        "msg:custom": (message) => this.onMessage(message),
        comm_live_update: () => this.saving.gone()
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
      const stop = (event) => event.stopPropagation();
      return node("div", {
        class: "ragnb-annotator",
        role: "region",
        "aria-label": `annotator: ${this.work.task.name}`,
        tabindex: -1,
        "data-lm-suppress-shortcuts": "true",
        onkeydown: (event) => this.onKey(event),
        onkeyup: stop,
        onkeypress: stop
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
        this.saving.box
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
        node("div", { class: "column side" }, ...otherParts, ...this.fields.draw())
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
      const turns = history.map(
        ([role, text]) => node("div", { class: "turn", dir: "auto" }, node("b", {}, role), " ", node("span", {}, text))
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
          node("span", { dir: "auto" }, text)
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
        setTimeout(() => finish.button.focus());
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
      const isPossible = [
        ["undo", state.can_undo],
        ["redo", state.can_redo],
        ["previous", page.number > 0],
        ["next", page.number < progress.items - 1]
      ];
      for (const [act, possible] of isPossible) {
        const button = this.buttons.get(act);
        if (button) {
          button.disabled = !possible;
        }
      }
      const isPressed = [
        ["flag", state.flag],
        ["skip", state.status === "skipped"],
        ["memo", state.note !== ""],
        ["auto", this.keys.goesOn]
      ];
      for (const [act, pressed] of isPressed) {
        this.buttons.get(act)?.setAttribute("aria-pressed", String(pressed));
      }
      this.root.dataset.status = state.status;
    }
    progressText() {
      const { progress } = this.work.state;
      const parts = [`${progress.labelled} of ${progress.items} labelled`];
      for (
        const status of
        /** @type {const} */
        ["started", "skipped", "flagged"]
      ) {
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
      const { tagName: tagName2 } = (
        /** @type {Element} */
        event.target
      );
      const pressesButton = tagName2 === "BUTTON" && [" ", "Enter"].includes(event.key);
      if (event.defaultPrevented) {
        event.stopPropagation();
      } else if (TEXT_FIELDS.includes(tagName2) || tagName2 === "SELECT") {
        this.onTyping(event);
      } else if (pressesButton || tagName2 === "SUMMARY") {
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
        case "move":
          return this.sentences.move(meaning.step, meaning.extend, meaning.sideways);
        case "option":
          return this.choose(meaning.number);
        case "field":
          return this.goToField(meaning.name);
        case "toggle":
          return this.toggle();
        case "empty":
          return this.give([]);
        case "clear":
          return this.give(null);
        case "next":
          return this.send("move", { step: 1 });
        case "previous":
          return this.send("move", { step: -1 });
        case "done":
          return this.finishItem();
        case "tag":
          return this.fields.tags.focus();
        case "memo":
          return this.fields.showNote(true);
        case "jump":
          return this.showItems();
        case "auto":
          return this.changeAuto();
        case "search":
          return this.showSearch();
        case "help":
          return this.showHelp();
        case "fold":
          return this.unfold();
        case "sentence on":
          return this.go(() => this.work.goToSentenceBy(1));
        case "sentence back":
          return this.go(() => this.work.goToSentenceBy(-1));
        case "leave":
          return this.leave();
        default:
          return this.send(meaning.act, {});
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
      const element = (
        /** @type {HTMLInputElement | null} */
        document.activeElement
      );
      const hasText = element?.value || element?.isContentEditable && element.textContent;
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
      const element = (
        /** @type {HTMLInputElement | null} */
        document.activeElement
      );
      const isLost = !element || !this.root.contains(element) || element.disabled;
      if (wasInside && isLost) {
        this.focus();
      }
    }
  };
  function render({ model, el }) {
    const annotator = new Annotator(model, el);
    return () => annotator.close();
  }
  var annotator_default = { render };

  // src/checksum.mjs
  var POLYNOMIAL = 3988292384;
  var REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => remainderOf(byte));
  function remainderOf(byte) {
    let remainder = byte;
    for (let bit = 0; bit < 8; bit += 1) {
      const isOdd = remainder & 1;
      remainder >>>= 1;
      if (isOdd) {
        remainder ^= POLYNOMIAL;
      }
    }
    return remainder;
  }
  function checksum(text) {
    let crc = 4294967295;
    for (const byte of new TextEncoder().encode(text)) {
      const index = (crc ^ byte) & 255;
      crc = REMAINDERS[index] ^ crc >>> 8;
    }
    const unsigned = (crc ^ 4294967295) >>> 0;
    return unsigned.toString(16).padStart(8, "0");
  }

  // src/labels_file.mjs
  function written({ header, items }, annotator, actions) {
    const started = actions[0]?.time ?? (/* @__PURE__ */ new Date()).toISOString();
    const numbers = new Map(actions.map(({ key }, position) => [key, position + 1]));
    const lines = actions.map((action, position) => lineOf(action, position + 1, numbers, items));
    const records = [{ ...header, annotator, started }, ...lines];
    return records.map((record) => `${sealed(JSON.stringify(record))}
`).join("");
  }
  function lineOf({ item, of, ...content }, number, numbers, items) {
    const line = { n: number, ...content, item: items[item].id };
    if (content.action === "open") {
      Object.assign(line, items[item].pinned);
    }
    if (of !== void 0) {
      line.of = numbers.get(of);
    }
    return line;
  }
  var SEAL = /,\s*"checksum":\s*"([0-9a-f]{8})"\s*\}\s*$/;
  function sealed(content) {
    const withoutBrace = content.slice(0, -1);
    return `${withoutBrace},"checksum":"${checksum(content)}"}`;
  }
  function unsealed(line, lineNumber) {
    const seal = line.match(SEAL);
    const content = seal ? `${line.slice(0, seal.index)}}` : line;
    if (seal && checksum(content) !== seal[1]) {
      throw new Error(`line ${lineNumber} was changed after it was written`);
    }
    const record = JSON.parse(content);
    if (!isObject(record)) {
      throw new Error(`line ${lineNumber} is not an object`);
    }
    return record;
  }
  function read(text, handout) {
    const lines = text.split("\n").filter((line) => line.trim());
    const [header, ...records] = lines.map((line, position) => unsealed(line, position + 1));
    const annotator = annotatorIn(header, handout);
    const numbers = new Map(handout.items.map(({ id }, number) => [id, number]));
    const keys = new Map(records.map((record) => [record.n, keyOf(record)]));
    const actions = records.map((record) => {
      const action = actionOf(record, numbers, keys);
      return (
        /** @type {[string, NewAction]} */
        [keyOf(record), checked(action, handout)]
      );
    });
    return { annotator, actions };
  }
  function annotatorIn(header, handout) {
    if (header?.handout !== handout.header.handout) {
      throw new Error("it does not belong to this page");
    }
    const { annotator } = header;
    if (!isText(annotator) || !annotator.trim()) {
      throw new Error("it has no name of an annotator");
    }
    return annotator;
  }
  function keyOf({ n, time, key }) {
    return isText(key) ? key : `${time} ${String(n).padStart(6, "0")} ragnb`;
  }
  function actionOf(record, numbers, keys) {
    const { n, key, item, of, id, fingerprint, sentences, ...content } = record;
    if (!numbers.has(item)) {
      throw new Error(`the page has no item ${item}`);
    }
    if (!Number.isInteger(n) || !(key === void 0 || isText(key))) {
      throw new Error("an action has no number");
    }
    const action = { ...content, item: numbers.get(item) };
    if (of !== void 0) {
      action.of = keys.get(of);
    }
    return action;
  }

  // src/codebook.mjs
  var LONGEST_TAG = 100;
  var Refusal = class extends Error {
  };
  function tagName(text) {
    const name = text.trim().replace(/\s+/gu, " ");
    const length = [...name].length;
    if (!name) {
      throw new Refusal("the name of a tag must not be blank");
    }
    if (length > LONGEST_TAG) {
      const advice = "put what the tag means into its definition";
      throw new Refusal(`the name of a tag may have at most ${LONGEST_TAG} characters, got ${length}; ${advice}`);
    }
    return name;
  }
  function keyOf2(name) {
    return name.normalize("NFC").toLowerCase().trim().replace(/\s+/gu, " ");
  }
  var Codebook = class {
    /**
     * @param {[name: string, definition: string][]} definitions of the first tags
     */
    constructor(definitions = []) {
      this.tags = /* @__PURE__ */ new Map();
      this.merged = /* @__PURE__ */ new Map();
      for (const [name, definition] of definitions) {
        this.add(name, name, definition);
      }
    }
    // ---- changes -----------------------------------------------------------------------------------------------------
    /** @param {CodebookChange} change */
    apply(change) {
      const tag = this.tags.get(change.tag);
      if (change.change === "add") {
        this.add(change.tag, change.name, change.definition);
      } else if (change.change === "merge") {
        this.merge(change.tag, change.into);
      } else if (tag && change.change === "rename") {
        if (change.name !== tag.name) {
          tag.earlier.push(tag.name);
          tag.name = change.name;
        }
      } else if (tag && change.change === "define") {
        tag.definition = change.definition;
      }
    }
    /**
     * The tag with an id, which is added unless there is one. If there is one, it only gets the definition that it lacks.
     * @param {string} id
     * @returns {Tag}
     */
    add(id, name = id, definition = "") {
      const tag = this.tags.get(this.present(id));
      if (tag) {
        tag.definition ||= definition;
        return tag;
      }
      const added = { id, name, definition, earlier: [] };
      this.tags.set(id, added);
      return added;
    }
    /**
     * @param {string} id
     * @param {string} into the id of another tag
     */
    merge(id, into) {
      const source = this.add(id);
      const target = this.add(into);
      if (source === target) {
        return;
      }
      this.tags.delete(source.id);
      this.merged.set(source.id, target.id);
      target.earlier.push(source.name, ...source.earlier);
      target.definition ||= source.definition;
    }
    // ---- names and ids -----------------------------------------------------------------------------------------------
    /**
     * The id of the tag that this tag is now.
     * @param {string} id
     * @returns {string}
     */
    present(id) {
      const into = this.merged.get(id);
      return into === void 0 ? id : this.present(into);
    }
    /**
     * The present ids of some tags, each once and in the order of the codebook.
     * @param {string[]} ids
     * @returns {string[]}
     */
    resolved(ids) {
      const present = new Set(ids.map((id) => this.present(id)));
      const known = [...this.tags.keys()].filter((id) => present.has(id));
      const lost = [...present].filter((id) => !this.tags.has(id));
      return [...known, ...lost];
    }
    /**
     * The tag that has a name, or had it earlier; null if there is none.
     * @param {string} name
     * @returns {Tag | null}
     */
    tagNamed(name) {
      const key = keyOf2(name);
      const tags = [...this.tags.values()];
      const isEarlierName = ({ id, earlier }) => [id, ...earlier].some((other) => keyOf2(other) === key);
      return tags.find((candidate) => keyOf2(candidate.name) === key) ?? tags.find(isEarlierName) ?? null;
    }
    /**
     * The id of the tag that has a name, or had it earlier; null if there is none.
     * @param {string} name
     * @returns {string | null}
     */
    find(name) {
      return this.tagNamed(name)?.id ?? null;
    }
    /**
     * A name for a new tag, or for another tag.
     * @param {string} text
     * @param {string | null} id of the other tag
     * @returns {string}
     */
    newName(text, id = null) {
      const name = tagName(text);
      const other = this.tagNamed(name);
      if (other === null || other.id === id) {
        return name;
      }
      const wasCalled = keyOf2(other.name) === keyOf2(name) ? "" : `, which was called "${name}" before`;
      const advice = id === null ? "use it" : "merge the two tags";
      throw new Refusal(`the codebook already has the tag "${other.name}"${wasCalled}; ${advice}, or choose another name`);
    }
  };
  function codebookAfter(task, actions) {
    const codebook = new Codebook(task.codebook);
    for (const action of actions) {
      if (action.action === "codebook") {
        codebook.apply(action);
      }
      for (const { field, value } of action.set ?? []) {
        if (isTags(task, field)) {
          for (
            const id of
            /** @type {string[] | null} */
            value ?? []
          ) {
            codebook.add(id);
          }
        }
      }
    }
    return codebook;
  }
  function isTags({ fields }, name) {
    return fields.some((field) => field.name === name && field.kind === "tags");
  }

  // src/local.mjs
  var IDLE = 120;
  var CHANGES = ["label", "note", "flag", "skip", "codebook"];
  function noValues() {
    return /* @__PURE__ */ Object.create(null);
  }
  function setAt(values, [field, sentence], value) {
    if (sentence === null) {
      setOrDelete(values, field, value);
      return;
    }
    values[field] ??= /* @__PURE__ */ Object.create(null);
    const labelsOfField = (
      /** @type {Record<string, Label>} */
      values[field]
    );
    setOrDelete(labelsOfField, sentence, value);
    if (!Object.keys(labelsOfField).length) {
      delete values[field];
    }
  }
  function setOrDelete(object, key, value) {
    if (value === null) {
      delete object[key];
    } else {
      object[key] = value;
    }
  }
  function follow(actions, itemCount) {
    const { done, undone } = doneAndUndone(actions);
    const items = Array.from({ length: itemCount }, () => ({ values: noValues(), flag: false, skipped: false, note: "", seconds: 0 }));
    addSeconds(items, actions);
    for (const action of done) {
      apply(items[action.item], action);
    }
    return { items, done, undone };
  }
  function addSeconds(items, actions) {
    let before = actions[0];
    for (const action of actions) {
      const seconds = (Date.parse(action.time) - Date.parse(before.time)) / 1e3;
      items[before.item].seconds += clamp(seconds, 0, IDLE);
      before = action;
    }
  }
  function doneAndUndone(actions) {
    const done = [];
    const undone = [];
    for (const action of actions) {
      if (CHANGES.includes(action.action)) {
        undone.length = 0;
        done.push(action);
      } else if (action.action === "undo") {
        moveAction(action.of, done, undone);
      } else if (action.action === "redo") {
        moveAction(action.of, undone, done);
      }
    }
    return { done, undone };
  }
  function moveAction(key, source, target) {
    const position = source.findIndex((action) => action.key === key);
    if (position >= 0) {
      const [action] = source.splice(position, 1);
      target.push(action);
    }
  }
  function apply(labels, action) {
    for (const { field, sentence = null, value } of action.set ?? []) {
      setAt(labels.values, [field, sentence], value);
    }
    switch (action.action) {
      case "label":
        labels.skipped = false;
        break;
      case "skip":
        labels.skipped = action.value;
        break;
      case "note":
        labels.note = action.value;
        break;
      case "flag":
        labels.flag = action.value;
        break;
      default:
    }
  }
  function median(numbers) {
    const sorted = [...numbers].sort((left, right) => left - right);
    const middle = Math.floor(sorted.length / 2);
    const isOdd = sorted.length % 2 === 1;
    return isOdd ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
  function isUnfinished({ status }) {
    return status === "untouched" || status === "started";
  }
  function statusOf(labels, missing) {
    if (!missing.length) {
      return "labelled";
    }
    if (labels.skipped) {
      return "skipped";
    }
    return Object.keys(labels.values).length ? "started" : "untouched";
  }
  function storedActions(handout, storage, prefix) {
    const storageKeys = Object.keys(storage).filter((key) => key.startsWith(prefix)).sort();
    const actions = [];
    for (const storageKey of storageKeys) {
      try {
        const action = checked(JSON.parse(storage.getItem(storageKey) ?? ""), handout);
        actions.push({ key: storageKey.slice(prefix.length), ...action });
      } catch {
      }
    }
    return [actions, storageKeys.length - actions.length];
  }
  var LocalModel = class {
    /**
     * @param {Handout} handout what ragnb has written into the page: header, task, items and suggested_by
     * @param {Storage} storage
     * @param {string} prefix of the keys of one annotator
     */
    constructor(handout, storage, prefix) {
      this.handout = handout;
      this.storage = storage;
      this.prefix = prefix;
      this.tab = Math.random().toString(36).slice(2, 8);
      this.handlers = /* @__PURE__ */ new Map();
      this.actions = [];
      this.unreadable = 0;
      this.finish = void 0;
      this.number = 0;
      this.labels = [];
      this.undos = [];
      this.redos = [];
      this.presentCodebook = codebookAfter(handout.task, []);
      this.read();
      this.go({ to: this.firstItem() });
      this.content = this.contentAfter({ ack: 0, message: "", failed: false });
    }
    // The item that was shown last if it is not done, else the first one that is not.
    firstItem() {
      const last = this.actions.at(-1)?.item ?? 0;
      const firstUnfinished = this.labels.findIndex(isUnfinished);
      const staysAtLast = firstUnfinished < 0 || isUnfinished(this.labels[last]);
      return staysAtLast ? last : firstUnfinished;
    }
    // ---- a model, as anywidget's -----------------------------------------------------------------------------------
    /**
     * @template {keyof AnnotatorContent} Name
     * @param {Name} name
     * @returns {AnnotatorContent[Name]}
     */
    get(name) {
      return this.content[name];
    }
    /**
     * @param {string} event
     * @param {Handler} handler
     */
    on(event, handler) {
      this.handlers.set(event, handler);
    }
    /** @param {string} event */
    off(event) {
      this.handlers.delete(event);
    }
    /**
     * @param {string} event
     * @param {...Message} messages
     */
    emit(event, ...messages) {
      this.handlers.get(event)?.(...messages);
    }
    /**
     * Do an act. The action is in the storage when this returns; the answer comes after it, as a kernel's does.
     * @param {Act | Signal} message
     */
    send(message) {
      if (message.act === "shown") {
        queueMicrotask(() => this.emit("msg:custom", { kind: "focus" }));
        return;
      }
      if (message.act === "pending" || message.act === "closed") {
        return;
      }
      const { act, id, ...content } = message;
      const answer = { ack: id, message: "", failed: false };
      try {
        answer.message = this.perform(act, content);
      } catch (error) {
        const reason = `this browser's storage is full or gone (${messageOf(error)})`;
        const isRefused = error instanceof Refusal;
        answer.message = isRefused ? error.message : `not saved, because ${reason}; download the labels`;
        answer.failed = true;
      }
      queueMicrotask(() => this.draw(answer));
    }
    /**
     * Do an act on an item.
     * @template {ActName} Name
     * @param {Name} act
     * @param {Acts[Name] & {number: number}} content
     * @returns {string} a sentence for the annotator, if there is one
     */
    perform(act, content) {
      const acts = this;
      return acts[act](content) ?? "";
    }
    /** @param {Answered} answer */
    draw(answer = { ack: 0, message: "", failed: false }) {
      this.content = this.contentAfter(answer);
      this.emit("change:jump");
      this.emit("change:state");
    }
    /**
     * What the annotator reads after an act.
     * @param {Answered} answer
     * @returns {AnnotatorContent}
     */
    contentAfter(answer) {
      const { task, items } = this.handout;
      const { page } = items[this.number];
      const jump = items.map(({ title }, number) => {
        const { status, flag } = this.labels[number];
        return [title, status, flag];
      });
      return { task, page, jump, state: { ...this.state(this.number), ...answer } };
    }
    /**
     * @param {number} number
     * @returns {Omit<State, keyof Answered>}
     */
    state(number) {
      const { values, flag, note, missing, status, offered } = this.labels[number];
      const suggested = noValues();
      for (const [place, value] of offered) {
        setAt(suggested, place, this.presentAt(place, value));
      }
      return {
        values: this.present(values),
        codebook: this.codebookTable(),
        flag,
        note,
        missing,
        status,
        suggested,
        suggested_by: offered.length ? this.handout.suggested_by : "",
        others: [],
        can_undo: this.undos.length > 0,
        can_redo: this.redos.length > 0,
        progress: this.progress(),
        saved: this.savedText(),
        end: this.end(),
        entries: {}
      };
    }
    /**
     * Values of an item, in which tags are those of the present codebook.
     * @param {Values} values
     */
    present(values) {
      const present = noValues();
      for (const [field, value] of Object.entries(values)) {
        present[field] = isTags(this.handout.task, field) ? this.presentCodebook.resolved(tagsIn(value)) : value;
      }
      return present;
    }
    /**
     * @param {Place} place
     * @param {Value} value
     * @returns {Value}
     */
    presentAt([field], value) {
      const hasTags = value !== null && isTags(this.handout.task, field);
      return hasTags ? this.presentCodebook.resolved(tagsIn(value)) : value;
    }
    /**
     * Each tag with its id, name, definition, and the number of items that have it.
     * @returns {TagRow[]}
     */
    codebookTable() {
      const counts = /* @__PURE__ */ new Map();
      const { fields } = this.handout.task;
      const tagFields = fields.filter(({ kind }) => kind === "tags");
      for (const { values } of this.labels) {
        const ids = tagFields.flatMap(({ name }) => this.presentCodebook.resolved(tagsIn(valueAt(values, [name, null]))));
        for (const id of new Set(ids)) {
          counts.set(id, (counts.get(id) ?? 0) + 1);
        }
      }
      return [...this.presentCodebook.tags.values()].map(({ id, name, definition }) => [id, name, definition, counts.get(id) ?? 0]);
    }
    savedText() {
      const last = this.actions.at(-1);
      return last ? `saved ${last.time.slice(11, 19)} UTC in this browser` : "";
    }
    // What comes next when nothing is left to label; null before.
    end() {
      if (this.labels.some(isUnfinished)) {
        return null;
      }
      return { text: `Done: ${ALL_DONE}. Download the labels and send the file back.`, code: "" };
    }
    /** @returns {Progress} */
    progress() {
      const counts = { labelled: 0, started: 0, skipped: 0, untouched: 0 };
      const secondsOfLabelled = [];
      for (const { status, seconds } of this.labels) {
        counts[status] += 1;
        if (status === "labelled") {
          secondsOfLabelled.push(seconds);
        }
      }
      const unfinished = counts.untouched + counts.started;
      return {
        items: this.labels.length,
        ...counts,
        flagged: this.labels.filter(({ flag }) => flag).length,
        // At the median pace, which is not known at first.
        seconds_left: counts.labelled ? Math.round(median(secondsOfLabelled) * unfinished) : null
      };
    }
    // ---- the actions: each has a key of its own in the storage, so that no tab overwrites what another one has written -----
    // Reads all actions in the order of their times, also those that another tab or a file has added. Texts that are no actions
    // are left out.
    read() {
      [this.actions, this.unreadable] = storedActions(this.handout, this.storage, this.prefix);
      this.follow();
    }
    /**
     * Add an action. Throws if the storage is full; then nothing is added, except that an item was shown.
     * @template {ActionName} Name
     * @param {Name} action
     * @param {number} item
     * @param {ActionContents[Name]} content
     */
    record(action, item, content) {
      const time = this.nextTime();
      const position = String(this.actions.length).padStart(6, "0");
      const key = `${time} ${position} ${this.tab}`;
      const recorded = (
        /** @type {NewAction} */
        /** @type {unknown} */
        { time, action, item, ...content }
      );
      try {
        this.storage.setItem(this.prefix + key, JSON.stringify(recorded));
      } catch (error) {
        if (action !== "open") {
          throw error;
        }
      }
      this.actions.push({ key, ...recorded });
      this.follow();
    }
    // Now, or the time of the last action: a clock that is set back must not change the order.
    nextTime() {
      const now = (/* @__PURE__ */ new Date()).toISOString().replace("Z", "+00:00");
      const last = this.actions.at(-1)?.time ?? "";
      return now > last ? now : last;
    }
    follow() {
      const { items, done, undone } = follow(this.actions, this.handout.items.length);
      this.presentCodebook = codebookAfter(this.handout.task, done);
      this.undos = done;
      this.redos = undone;
      this.labels = items.map((labels, number) => this.withMissing(labels, this.handout.items[number]));
    }
    /**
     * The labels of an item with its status, the required places that are untouched, and the suggestions for such places.
     * @param {ItemLabels} labels
     * @param {HandoutItem} item
     * @returns {ItemState}
     */
    withMissing(labels, { page, suggested }) {
      const isUntouched = (place) => valueAt(labels.values, place) === void 0;
      const isRequired = ([name]) => this.field(name).required;
      const missing = page.places.filter((place) => isRequired(place) && isUntouched(place));
      const offered = suggested.filter(([place]) => isUntouched(place));
      return { ...labels, missing, status: statusOf(labels, missing), offered };
    }
    // ---- what can be done, by the name of the act ------------------------------------------------------------------
    /** @param {Acts["label"] & {number: number}} content */
    label({ number, field, sentence = null, value }) {
      const place = [field, sentence];
      this.set(number, [[place, this.presentAt(place, value)], ...this.implied(number, field, sentence, value)]);
    }
    /** @param {Acts["toggle"] & {number: number}} content */
    toggle({ number, field: name, sentence = null, keys, on }) {
      if (!keys.length) {
        return;
      }
      const place = [name, sentence];
      const { values, suggested } = this.state(number);
      const chosen = new Set(keysIn(valueAt(values, place) ?? valueAt(suggested, place)));
      const toggled = new Set(keys);
      const isAdding = on ?? !keys.every((key) => chosen.has(key));
      const { page } = this.handout.items[number];
      const inOrder = isTags(this.handout.task, name) ? [...this.presentCodebook.tags.keys()] : sentenceKeys(page, this.field(name));
      const value = inOrder.filter((key) => toggled.has(key) ? isAdding : chosen.has(key));
      this.set(number, [[place, value]]);
    }
    /**
     * Give an item a tag, which is added to the codebook if it is new.
     * @param {Acts["tag"] & {number: number}} content
     */
    tag({ number, field, name }) {
      let id = this.presentCodebook.find(tagName(name));
      if (id === null) {
        id = this.presentCodebook.newName(name);
        this.record("codebook", number, { change: "add", tag: id, name: id, definition: "" });
      }
      const { values } = this.state(number);
      if (!keysIn(valueAt(values, [field, null])).includes(id)) {
        this.toggle({ number, field, keys: [id], on: true });
      }
    }
    /**
     * Rename, define or merge a tag. What changes nothing is not recorded.
     * @param {Acts["codebook"] & {number: number}} content
     */
    codebook({ number, ...change }) {
      const present = this.presentCodebook.tagNamed(change.tag);
      if (!present) {
        throw new Refusal(`the codebook has no tag "${change.tag}"`);
      }
      const recorded = this.changeOf(present, change);
      if (recorded) {
        this.record("codebook", number, recorded);
      }
    }
    /**
     * What becomes of a tag; null if nothing changes.
     * @param {Tag} tag
     * @param {ChangeOfTag} change
     * @returns {CodebookChange | null}
     */
    changeOf(tag, change) {
      switch (change.change) {
        case "rename": {
          const name = this.presentCodebook.newName(change.name, tag.id);
          return name === tag.name ? null : { change: "rename", tag: tag.id, name };
        }
        case "define": {
          const definition = change.definition.trim();
          return definition === tag.definition ? null : { change: "define", tag: tag.id, definition };
        }
        case "merge": {
          const into = this.presentCodebook.find(change.into);
          if (into === null || into === tag.id) {
            throw new Refusal(`a tag can only be merged into another one, got "${change.into}"`);
          }
          return { change: "merge", tag: tag.id, into };
        }
      }
    }
    /** @param {{number: number}} content */
    accept({ number }) {
      const { offered } = this.labels[number];
      if (!offered.length) {
        return "nothing is suggested here";
      }
      this.set(number, offered);
      return "";
    }
    /** @param {{number: number}} content */
    flag({ number }) {
      this.record("flag", number, { value: !this.labels[number].flag });
    }
    /** @param {Acts["note"] & {number: number}} content */
    note({ number, text }) {
      if (text !== this.labels[number].note) {
        this.record("note", number, { value: text });
      }
    }
    /** @param {{number: number}} content */
    skip({ number }) {
      this.record("skip", number, { value: !this.labels[number].skipped });
      return this.labels[number].skipped ? this.next() : "";
    }
    undo() {
      return this.step("undo", this.undos, "undone");
    }
    redo() {
      return this.step("redo", this.redos, "done again");
    }
    /** @param {Acts["move"]} content */
    move({ step }) {
      const to = this.number + step;
      if (!this.labels[to]) {
        return "no further item";
      }
      return this.go({ to });
    }
    /** @param {Acts["go"]} content */
    go({ to }) {
      this.number = to;
      this.record("open", to, {});
    }
    // To the next item that is neither labelled nor skipped, from the start again after the last.
    next() {
      const numbers = [...this.labels.keys()];
      const following = [...numbers.slice(this.number + 1), ...numbers.slice(0, this.number + 1)];
      const to = following.find((number) => isUnfinished(this.labels[number]));
      if (to === void 0) {
        return ALL_DONE;
      }
      return this.go({ to });
    }
    // Says what is still missing, or else goes to the next item.
    done() {
      const { missing } = this.labels[this.number];
      if (!missing.length) {
        return this.next();
      }
      const [[name, sentence]] = missing;
      const field = this.field(name);
      const where = sentence ? ` [${sentence}]` : "";
      const none = isList(field) ? " (e for none)" : "";
      return `still missing: ${field.label}${where}${none}; press . to skip`;
    }
    // ---- inside ----------------------------------------------------------------------------------------------------
    /** @param {string} name */
    field(name) {
      return fieldOf(this.handout.task, name);
    }
    /**
     * Record the values of places, each with its origin.
     * @param {number} number
     * @param {PlaceValue[]} entries
     */
    set(number, entries) {
      const set = entries.map(([place, value]) => {
        const [field, sentence] = place;
        const entry = sentence === null ? { field, value } : { field, sentence, value };
        return { ...entry, ...this.origin(number, place, value) };
      });
      this.record("label", number, { set });
    }
    /**
     * Where a value comes from: a person, or a suggestion that a person has accepted or changed.
     * @param {number} number
     * @param {Place} place
     * @param {Value} value
     * @returns {Pick<Entered, "source" | "suggested" | "suggested_by">}
     */
    origin(number, place, value) {
      const { suggested } = this.handout.items[number];
      const suggestion = suggested.find(([candidate]) => isSamePlace(candidate, place));
      if (!suggestion) {
        return { source: "human" };
      }
      const [, guess] = suggestion;
      const isAccepted = JSON.stringify(guess) === JSON.stringify(value);
      const source = isAccepted ? "suggestion accepted" : "suggestion changed";
      return { source, suggested: guess, suggested_by: this.handout.suggested_by };
    }
    /**
     * Values that follow from an option, for places that are untouched.
     * @param {number} number
     * @param {string} name
     * @param {string | null} sentence
     * @param {Value} value
     * @returns {PlaceValue[]}
     */
    implied(number, name, sentence, value) {
      const option = this.field(name).options.find((candidate) => candidate.value === value);
      const entries = [];
      for (const [other, impliedValue] of Object.entries(option?.implies ?? {})) {
        for (const key of this.impliedSentences(number, other, sentence)) {
          const place = [other, key];
          if (valueAt(this.labels[number].values, place) === void 0) {
            entries.push([place, impliedValue]);
          }
        }
      }
      return entries;
    }
    /**
     * The sentences at which a field gets an implied value: that of the answer, or all if the answer is about the whole item.
     * @param {number} number
     * @param {string} name
     * @param {string | null} sentence
     * @returns {(string | null)[]}
     */
    impliedSentences(number, name, sentence) {
      if (!this.field(name).each) {
        return [null];
      }
      return sentence === null ? this.handout.items[number].page.each : [sentence];
    }
    /**
     * Undo or redo the last action of a stack, and show its item.
     * @param {"undo" | "redo"} name
     * @param {Action[]} stack
     * @param {string} description
     */
    step(name, stack, description) {
      const action = stack.at(-1);
      if (!action) {
        return `nothing to be ${description}`;
      }
      this.number = action.item;
      this.record(name, action.item, { of: action.key });
      const fields = new Set((action.set ?? []).map(({ field }) => field));
      return `${description}: ${[...fields].join(", ") || action.action}`;
    }
  };
  function tagsIn(label) {
    return Array.isArray(label) ? label.map(String) : [];
  }

  // src/storage.mjs
  function storageOf(id) {
    try {
      const hasLabels = Object.keys(localStorage).some((key) => handoutOf(key) === id);
      try {
        localStorage.setItem("ragnb", "1");
      } catch (error) {
        if (!hasLabels) {
          throw error;
        }
      }
      return { storage: localStorage, isLasting: true };
    } catch {
      return { storage: memory(), isLasting: false };
    }
  }
  function memory() {
    const methods = {
      /** @param {string} key */
      getItem(key) {
        return this[key];
      },
      /**
       * @param {string} key
       * @param {string} value
       */
      setItem(key, value) {
        this[key] = value;
      },
      /** @param {string} key */
      removeItem(key) {
        delete this[key];
      }
    };
    return Object.create(methods);
  }
  function prefixOf(id, name) {
    return `ragnb ${id} ${encodeURIComponent(name)} `;
  }
  function markOf(id, name) {
    return `ragnb-downloaded ${id} ${encodeURIComponent(name)}`;
  }
  function annotatorsIn(storage, id) {
    const keys = Object.keys(storage).filter((key) => key.startsWith("ragnb ") && handoutOf(key) === id);
    const names = keys.map(nameIn).filter((name) => name !== null && name !== "");
    return [...new Set(
      /** @type {string[]} */
      names
    )].sort();
  }
  function handoutOf(key) {
    const [, id] = key.split(" ");
    return id;
  }
  function nameIn(key) {
    const [, , name] = key.split(" ");
    try {
      return decodeURIComponent(name);
    } catch {
      return null;
    }
  }

  // src/handout.mjs
  var MINUTE = 6e4;
  var MOST_LETTERS = 80;
  var Handout = class {
    /**
     * @param {HTMLElement} root
     * @param {Contents} handout
     */
    constructor(root, handout) {
      this.root = root;
      this.handout = handout;
      this.id = handout.header.handout;
      const { storage, isLasting } = storageOf(this.id);
      this.storage = storage;
      this.isLasting = isLasting;
      this.name = "";
      this.model = null;
      this.downloaded = null;
      this.stop = () => {
      };
      this.message = node("span", { class: "message", role: "status" });
      addEventListener("beforeunload", (event) => {
        if (this.hasNews()) {
          event.preventDefault();
        }
      });
      if (handout.annotator) {
        this.work(handout.annotator);
      } else {
        this.ask();
      }
    }
    // Whether there are labels that are in no file yet.
    hasNews() {
      const last = lastChange(this.model?.actions ?? []);
      return last !== void 0 && last.key !== this.downloaded;
    }
    // ---- who labels ----------------------------------------------------------------------------------------------------
    ask() {
      const name = node("input", { type: "text", "aria-label": "your name", required: true, autocomplete: "off", dir: "auto" });
      const people = annotatorsIn(this.storage, this.id);
      const buttons = people.map(
        (person) => node("button", { type: "button", dir: "auto", onclick: () => this.work(person) }, `continue as ${person}`)
      );
      const choice = buttons.length ? [node("p", {}, ...buttons), node("p", {}, "or as somebody else:")] : [];
      const introduction = `${this.handout.items.length} items to label. Every label is saved in this browser at once; at the end, download the labels and send that file back.`;
      const start = node(
        "div",
        { class: "ragnb-annotator start" },
        node("p", {}, introduction),
        ...choice,
        this.form(name),
        node("p", {}, this.opener(), " ", this.message)
      );
      this.root.replaceChildren(start);
      const first = buttons[0] ?? name;
      first.focus();
    }
    /** @param {HTMLInputElement} name */
    form(name) {
      const onsubmit = (event) => {
        event.preventDefault();
        const person = name.value.trim();
        if (person) {
          this.work(person);
        }
      };
      return node("form", { onsubmit }, node("label", {}, "Your name: ", name), " ", node("button", { type: "submit" }, "start"));
    }
    // Labels that were downloaded before, on this computer or another one.
    opener() {
      const onchange = async () => {
        const file = input.files?.[0];
        if (!file) {
          return;
        }
        let text;
        try {
          text = await file.text();
        } catch (error) {
          this.refuse(error);
          return;
        }
        this.add(text);
      };
      const input = node("input", { type: "file", accept: ".jsonl", onchange });
      return node("label", {}, "add a labels file: ", input);
    }
    /**
     * Add the labels of a file. Everything is read and checked before anything is stored. What cannot be stored whole is not
     * stored at all.
     * @param {string} text
     */
    add(text) {
      this.message.textContent = "";
      const newKeys = [];
      try {
        const { annotator: name, actions } = read(text, this.handout);
        for (const [key, action] of actions) {
          const storageKey = prefixOf(this.id, name) + key;
          if ((this.storage.getItem(storageKey) ?? null) === null) {
            newKeys.push(storageKey);
          }
          this.storage.setItem(storageKey, JSON.stringify(action));
        }
        this.work(name);
      } catch (error) {
        for (const storageKey of newKeys) {
          this.storage.removeItem(storageKey);
        }
        this.refuse(error);
      }
    }
    /** @param {unknown} error why a file is not used */
    refuse(error) {
      this.message.textContent = `This file cannot be used: ${messageOf(error)}`;
    }
    // ---- the annotator -------------------------------------------------------------------------------------------------
    /** @param {string} name */
    work(name) {
      this.stop();
      this.name = name;
      this.model = null;
      this.downloaded = this.storage.getItem(markOf(this.id, name));
      const button = node("button", { type: "button", class: "download", onclick: () => this.download() }, "download the labels");
      const home = node("span", {}, button);
      const notice = this.isLasting ? "" : "This browser saves nothing: download the labels before you close the page.";
      const warning = node("span", { class: "warnings" }, notice);
      const bar = node(
        "p",
        { class: "ragnb-annotator bar-above" },
        node("b", { dir: "auto" }, name),
        " ",
        home,
        " ",
        this.opener(),
        " ",
        this.message,
        warning
      );
      const el = node("div");
      this.root.replaceChildren(bar, el);
      try {
        const { unreadable } = this.open(name, { button, home }, el);
        if (unreadable) {
          warning.textContent = `${unreadable} of the stored actions cannot be read and are left out. ${notice}`;
        }
      } catch (error) {
        warning.textContent = `The labels cannot be shown (${messageOf(error)}). Download them, and send the file back.`;
      }
    }
    /**
     * @param {string} name
     * @param {Finish} finish
     * @param {HTMLElement} el
     * @returns {LocalModel}
     */
    open(name, finish, el) {
      const model = new LocalModel(this.handout, this.storage, prefixOf(this.id, name));
      model.finish = finish;
      this.model = model;
      const readAgain = () => {
        model.read();
        model.draw();
      };
      addEventListener("storage", readAgain);
      const close = annotator_default.render({ model, el });
      this.stop = () => {
        close();
        removeEventListener("storage", readAgain);
      };
      return model;
    }
    download() {
      const actions = this.actions();
      const file = new Blob([written(this.handout, this.name, actions)], { type: "application/x-ndjson" });
      const link = node("a", { href: URL.createObjectURL(file), download: this.fileName() });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), MINUTE);
      this.downloaded = lastChange(actions)?.key;
      try {
        this.storage.setItem(markOf(this.id, this.name), this.downloaded ?? "");
      } catch {
      }
    }
    // Also where they cannot be shown.
    actions() {
      if (this.model) {
        return this.model.actions;
      }
      const [actions] = storedActions(this.handout, this.storage, prefixOf(this.id, this.name));
      return actions;
    }
    fileName() {
      const names = [this.name, this.handout.header.task.name];
      const parts = names.map((name) => name.replace(/[^\p{L}\p{N}_-]/gu, "_").slice(0, MOST_LETTERS));
      return `${parts.join(".")}.jsonl`;
    }
  };
  function lastChange(actions) {
    return actions.findLast(({ action }) => action !== "open");
  }
  function elementOf(id) {
    return (
      /** @type {HTMLElement} */
      document.getElementById(id)
    );
  }
  new Handout(elementOf("handout"), JSON.parse(elementOf("data").textContent ?? ""));
})();
