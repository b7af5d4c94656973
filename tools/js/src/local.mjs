// Labels without a kernel, for the hand-out. This model answers the annotator as Python does, and keeps every action in the
// browser's storage. It repeats ragnb/annotation/session.py and log.py: who changes the meaning of an action there changes it
// here, too. test/random_acts.mjs and tests/widgets/test_handout.py compare both.

import { checked, sentenceKeys } from "./actions.mjs";
import { Refusal, codebookAfter, isTags, tagName } from "./codebook.mjs";
import { clamp } from "./list.mjs";
import { ALL_DONE, isList, isSamePlace, valueAt } from "./work.mjs";

/** @typedef {import("./types.js").Action} Action */
/** @typedef {import("./types.js").Place} Place */

const IDLE = 120; // longest time between two actions, in seconds, that counts as work

// Actions that change an item or the codebook and can be undone.
const CHANGES = ["label", "note", "flag", "skip", "codebook"];

// An object without a prototype, so that no name of a field has a meaning of its own.
function bare() {
  return Object.create(null);
}

// Sets the value of a place, or makes it untouched with null. Values are by field, and by sentence where a field is asked of each.
function setAt(values, [field, sentence], value) {
  if (sentence === null) {
    setOrDelete(values, field, value);
    return;
  }
  values[field] ??= bare();
  setOrDelete(values[field], sentence, value);
  if (!Object.keys(values[field]).length) {
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

// What all actions amount to: the labels of each item and the seconds spent on it, and what can be undone and redone.
function follow(actions, itemCount) {
  const { done, undone } = doneAndUndone(actions);
  const items = Array.from({ length: itemCount }, () => ({ values: bare(), flag: false, skipped: false, note: "", seconds: 0 }));
  addSeconds(items, actions);
  for (const action of done) {
    apply(items[action.item], action);
  }
  return { items, done, undone };
}

// Time is spent on the item that was on the screen when the action began.
function addSeconds(items, actions) {
  let before = actions[0];
  for (const action of actions) {
    const seconds = (Date.parse(action.time) - Date.parse(before.time)) / 1000;
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

// An action that is not there was undone in two tabs.
function moveAction(key, source, target) {
  const position = source.findIndex((action) => action.key === key);
  if (position >= 0) {
    const [action] = source.splice(position, 1);
    target.push(action);
  }
}

// Changes the labels of an item as an action says.
function apply(labels, { action, set = [], value }) {
  for (const entry of set) {
    setAt(labels.values, [entry.field, entry.sentence ?? null], entry.value);
  }
  switch (action) {
    case "label":
      labels.skipped = false;
      break;
    case "skip":
      labels.skipped = value;
      break;
    case "codebook":
      break; // it changes no label; `present` below does
    default: // note, flag
      labels[action] = value;
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

/**
 * Read the actions of one annotator from a storage.
 * @param {import("./types.js").Handout} handout
 * @param {Storage} storage
 * @param {string} prefix of the keys
 * @returns {[Action[], number]} the actions in order, and the number of texts that are no actions
 */
export function storedActions(handout, storage, prefix) {
  const storageKeys = Object.keys(storage).filter((key) => key.startsWith(prefix)).sort();
  const actions = [];
  for (const storageKey of storageKeys) {
    try {
      const action = checked(JSON.parse(storage.getItem(storageKey)), handout);
      actions.push({ key: storageKey.slice(prefix.length), ...action });
    } catch {
      // It is counted below.
    }
  }
  return [actions, storageKeys.length - actions.length];
}

/** A model with the interface of anywidget's, whose kernel is this page. */
export class LocalModel {
  /**
   * @param {import("./types.js").Handout} handout what ragnb has written into the page: header, task, items and suggested_by
   * @param {Storage} storage
   * @param {string} prefix of the keys of one annotator
   */
  constructor(handout, storage, prefix) {
    this.handout = handout;
    this.storage = storage;
    this.prefix = prefix;
    this.tab = Math.random().toString(36).slice(2, 8);
    this.handlers = new Map();
    /** @type {Action[]} */
    this.actions = [];
    this.unreadable = 0; // number of stored texts that are no actions
    /** @type {{button: string, home: function(): void} | undefined} what the end of the list offers */
    this.finish = undefined;
    this.read();
    this.go({ to: this.firstItem() });
    this.draw();
  }

  // The item that was shown last if it is not done, else the first one that is not.
  firstItem() {
    const last = this.actions.at(-1)?.item ?? 0;
    const firstUnfinished = this.labels.findIndex(isUnfinished);
    const staysAtLast = firstUnfinished < 0 || isUnfinished(this.labels[last]);
    return staysAtLast ? last : firstUnfinished;
  }

  // ---- a model, as anywidget's -----------------------------------------------------------------------------------

  get(name) {
    return this.content[name];
  }

  on(event, handler) {
    this.handlers.set(event, handler);
  }

  off(event) {
    this.handlers.delete(event);
  }

  emit(event, content) {
    this.handlers.get(event)?.(content);
  }

  // The action is in the storage when this returns; the answer comes after it, as a kernel's does.
  send({ act, id, ...content }) {
    if (act === "shown") {
      queueMicrotask(() => this.emit("msg:custom", { kind: "focus" }));
      return;
    }
    const answer = { ack: id, message: "", failed: false };
    try {
      answer.message = this[act](content) ?? "";
    } catch (error) {
      const reason = `this browser's storage is full or gone (${error.message})`;
      const isRefused = error instanceof Refusal;
      answer.message = isRefused ? error.message : `not saved, because ${reason}; download the labels`;
      answer.failed = true;
    }
    queueMicrotask(() => this.draw(answer));
  }

  draw(answer = { ack: 0, message: "", failed: false }) {
    const { task, items } = this.handout;
    const { page } = items[this.number];
    const jump = items.map(({ title }, number) => {
      const { status, flag } = this.labels[number];
      return [title, status, flag];
    });
    const state = { ...this.state(this.number), ...answer };
    this.content = { task, page, jump, state };
    this.emit("change:jump");
    this.emit("change:state");
  }

  state(number) {
    const { values, flag, note, missing, status, offered } = this.labels[number];
    const suggested = bare();
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
    };
  }

  // Values of an item, in which tags are those of the present codebook.
  present(values) {
    const present = bare();
    for (const [field, value] of Object.entries(values)) {
      present[field] = this.presentAt([field, null], value);
    }
    return present;
  }

  /**
   * @param {Place} place
   * @param {any} value
   */
  presentAt([field], value) {
    const hasTags = value !== null && isTags(this.handout.task, field);
    return hasTags ? this.presentCodebook.resolved(value) : value;
  }

  // Each tag with its id, name, definition, and the number of items that have it.
  codebookTable() {
    const counts = new Map();
    const { fields } = this.handout.task;
    const tagFields = fields.filter(({ kind }) => kind === "tags");
    for (const { values } of this.labels) {
      const ids = tagFields.flatMap(({ name }) => this.presentCodebook.resolved(values[name] ?? []));
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
      seconds_left: counts.labelled ? Math.round(median(secondsOfLabelled) * unfinished) : null,
    };
  }

  // ---- the actions: each has a key of its own in the storage, so that no tab overwrites what another one has written -----

  // Reads all actions in the order of their times, also those that another tab or a file has added. Texts that are no actions
  // are left out.
  read() {
    [this.actions, this.unreadable] = storedActions(this.handout, this.storage, this.prefix);
    this.follow();
  }

  // Throws if the storage is full; then nothing is added, except that an item was shown.
  record(action, item, content) {
    const time = this.nextTime();
    const position = String(this.actions.length).padStart(6, "0");
    const key = `${time} ${position} ${this.tab}`;
    const recorded = { time, action, item, ...content };
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
    const now = new Date().toISOString().replace("Z", "+00:00");
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

  // The labels of an item with its status, the required places that are untouched, and the suggestions for such places.
  withMissing(labels, { page, suggested }) {
    const isUntouched = (place) => valueAt(labels.values, place) === undefined;
    const isRequired = ([name]) => this.field(name).required;
    const missing = page.places.filter((place) => isRequired(place) && isUntouched(place));
    const offered = suggested.filter(([place]) => isUntouched(place));
    return { ...labels, missing, status: statusOf(labels, missing), offered };
  }

  // ---- what can be done, by the name of the act ------------------------------------------------------------------

  label({ number, field, sentence = null, value }) {
    /** @type {Place} */
    const place = [field, sentence];
    const entry = [place, this.presentAt(place, value)];
    this.set(number, [entry, ...this.implied(number, field, sentence, value)]);
  }

  // Adds keys, or removes them if all of them are chosen; `on` forces one of the two.
  toggle({ number, field: name, sentence = null, keys, on }) {
    if (!keys.length) {
      return;
    }
    /** @type {Place} */
    const place = [name, sentence];
    const { values, suggested } = this.state(number);
    const chosen = new Set(valueAt(values, place) ?? valueAt(suggested, place) ?? []);
    const toggled = new Set(keys);
    const isAdding = on ?? !keys.every((key) => chosen.has(key));
    const { page } = this.handout.items[number];
    const inOrder = isTags(this.handout.task, name) ? [...this.presentCodebook.tags.keys()] : sentenceKeys(page, this.field(name));
    const value = inOrder.filter((key) => (toggled.has(key) ? isAdding : chosen.has(key)));
    this.set(number, [[place, value]]);
  }

  // Gives an item a tag, which is added to the codebook if it is new.
  tag({ number, field, name }) {
    let id = this.presentCodebook.find(tagName(name));
    if (id === null) {
      id = this.presentCodebook.newName(name);
      this.record("codebook", number, { change: "add", tag: id, name: id, definition: "" });
    }
    const { values } = this.state(number);
    if (!values[field]?.includes(id)) {
      this.toggle({ number, field, keys: [id], on: true });
    }
  }

  // Renames, defines or merges a tag. What changes nothing is not recorded.
  codebook({ number, change, tag, name, definition, into }) {
    const present = this.presentCodebook.tags.get(this.presentCodebook.find(tag));
    if (!present) {
      throw new Refusal(`the codebook has no tag "${tag}"`);
    }
    const { id } = present;
    const contents = {
      rename: () => ({ name: this.presentCodebook.newName(name, id) }),
      define: () => ({ definition: definition.trim() }),
      merge: () => ({ into: this.presentCodebook.find(into) }),
    };
    const content = contents[change]();
    const isSame = content.name === present.name || content.definition === present.definition;
    if (change === "merge" && [id, null].includes(content.into)) {
      throw new Refusal(`a tag can only be merged into another one, got "${into}"`);
    }
    if (!isSame) {
      this.record("codebook", number, { change, tag: id, ...content });
    }
  }

  accept({ number }) {
    const { offered } = this.labels[number];
    if (!offered.length) {
      return "nothing is suggested here";
    }
    this.set(number, offered);
    return "";
  }

  flag({ number }) {
    this.record("flag", number, { value: !this.labels[number].flag });
  }

  note({ number, text }) {
    if (text !== this.labels[number].note) {
      this.record("note", number, { value: text });
    }
  }

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

  move({ step }) {
    const to = this.number + step;
    if (!this.labels[to]) {
      return "no further item";
    }
    return this.go({ to });
  }

  go({ to }) {
    this.number = to;
    this.record("open", to);
  }

  // To the next item that is neither labelled nor skipped, from the start again after the last.
  next() {
    const numbers = [...this.labels.keys()];
    const following = [...numbers.slice(this.number + 1), ...numbers.slice(0, this.number + 1)];
    const to = following.find((number) => isUnfinished(this.labels[number]));
    if (to === undefined) {
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

  field(name) {
    return this.handout.task.fields.find((field) => field.name === name);
  }

  // Records the values of places, each with its origin.
  set(number, entries) {
    const set = entries.map(([place, value]) => {
      const [field, sentence] = place;
      const entry = sentence === null ? { field, value } : { field, sentence, value };
      return { ...entry, ...this.origin(number, place, value) };
    });
    this.record("label", number, { set });
  }

  // Where a value comes from: a person, or a suggestion that a person has accepted or changed.
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

  // Values that follow from an option, for places that are untouched.
  implied(number, name, sentence, value) {
    const option = this.field(name).options.find((candidate) => candidate.value === value);
    const entries = [];
    for (const [other, impliedValue] of Object.entries(option?.implies ?? {})) {
      for (const key of this.impliedSentences(number, other, sentence)) {
        /** @type {Place} */
        const place = [other, key];
        if (valueAt(this.labels[number].values, place) === undefined) {
          entries.push([place, impliedValue]);
        }
      }
    }
    return entries;
  }

  // The sentences at which a field gets an implied value: that of the answer, or all if the answer is about the whole item.
  impliedSentences(number, name, sentence) {
    if (!this.field(name).each) {
      return [null];
    }
    return sentence === null ? this.handout.items[number].page.each : [sentence];
  }

  // Undoes or redoes the last action of a stack, and shows its item.
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
}
