// Labels without a kernel, for the hand-out. This model answers the annotator as Python does, and keeps every action in the
// browser's storage. It repeats ragnb/annotation/session.py and log.py: who changes the meaning of an action there changes it
// here, too. test/random_acts.mjs and tests/widgets/test_handout.py compare both.

import { checked, sentenceKeys } from "./actions.mjs";
import { Refusal, codebookAfter, isTags, tagName } from "./codebook.mjs";
import { messageOf } from "./errors.mjs";
import { clamp } from "./list.mjs";
import { ALL_DONE, fieldOf, isList, isSamePlace, keysIn, valueAt } from "./work.mjs";

/** @import { Tag } from "./codebook.mjs" */
/**
 * @import { Act, ActName, Action, ActionContents, ActionName, Acts, AnnotatorContent, Answered, ChangeOfTag, CodebookChange,
 *   Entered, Finish, Handout, HandoutItem, Label, Message, NewAction, Place, Progress, Signal, State, Status, TagRow, Value,
 *   Values } from "./types.js"
 */

/**
 * The labels of an item after some actions, and the seconds spent on it.
 * @typedef {{values: Values, flag: boolean, skipped: boolean, note: string, seconds: number}} ItemLabels
 */

/**
 * The same with the required places that are untouched, the status, and the suggestions for places that are untouched.
 * @typedef {ItemLabels & {missing: Place[], status: Status, offered: [Place, Label][]}} ItemState
 */

/** @typedef {[place: Place, value: Value]} PlaceValue */

/** @typedef {function(...Message): void} Handler */

const IDLE = 120; // longest time between two actions, in seconds, that counts as work

// Actions that change an item or the codebook and can be undone.
const CHANGES = ["label", "note", "flag", "skip", "codebook"];

/**
 * Values without a prototype, so that no name of a field has a meaning of its own.
 * @returns {Values}
 */
function noValues() {
  return Object.create(null);
}

/**
 * Set the value of a place, or make it untouched with null. Values are by field, and by sentence where a field is asked of each.
 * @param {Values} values
 * @param {Place} place
 * @param {Value} value
 */
function setAt(values, [field, sentence], value) {
  if (sentence === null) {
    setOrDelete(values, field, value);
    return;
  }
  values[field] ??= Object.create(null);
  const labelsOfField = /** @type {Record<string, Label>} */ (values[field]);
  setOrDelete(labelsOfField, sentence, value);
  if (!Object.keys(labelsOfField).length) {
    delete values[field];
  }
}

/**
 * @param {Values} object
 * @param {string} key
 * @param {Value} value
 */
function setOrDelete(object, key, value) {
  if (value === null) {
    delete object[key];
  } else {
    object[key] = value;
  }
}

/**
 * What all actions amount to: the labels of each item and the seconds spent on it, and what can be undone and redone.
 * @param {Action[]} actions
 * @param {number} itemCount
 */
function follow(actions, itemCount) {
  const { done, undone } = doneAndUndone(actions);
  /** @type {ItemLabels[]} */
  const items = Array.from({ length: itemCount }, () => ({ values: noValues(), flag: false, skipped: false, note: "", seconds: 0 }));
  addSeconds(items, actions);
  for (const action of done) {
    apply(items[action.item], action);
  }
  return { items, done, undone };
}

/**
 * Time is spent on the item that was on the screen when the action began.
 * @param {ItemLabels[]} items
 * @param {Action[]} actions
 */
function addSeconds(items, actions) {
  let before = actions[0];
  for (const action of actions) {
    const seconds = (Date.parse(action.time) - Date.parse(before.time)) / 1000;
    items[before.item].seconds += clamp(seconds, 0, IDLE);
    before = action;
  }
}

/** @param {Action[]} actions */
function doneAndUndone(actions) {
  /** @type {Action[]} */
  const done = [];
  /** @type {Action[]} */
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

/**
 * An action that is not there was undone in two tabs.
 * @param {string} key
 * @param {Action[]} source
 * @param {Action[]} target
 */
function moveAction(key, source, target) {
  const position = source.findIndex((action) => action.key === key);
  if (position >= 0) {
    const [action] = source.splice(position, 1);
    target.push(action);
  }
}

/**
 * Change the labels of an item as an action says.
 * @param {ItemLabels} labels
 * @param {Action} action
 */
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
    default: // "codebook" changes no label; `present` below does
  }
}

/** @param {number[]} numbers */
function median(numbers) {
  const sorted = [...numbers].sort((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const isOdd = sorted.length % 2 === 1;
  return isOdd ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @param {ItemState} labels */
function isUnfinished({ status }) {
  return status === "untouched" || status === "started";
}

/**
 * @param {ItemLabels} labels
 * @param {Place[]} missing
 * @returns {Status}
 */
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
 * @param {Handout} handout
 * @param {Storage} storage
 * @param {string} prefix of the keys
 * @returns {[actions: Action[], unreadable: number]} the actions in order, and the number of texts that are no actions
 */
export function storedActions(handout, storage, prefix) {
  const storageKeys = Object.keys(storage).filter((key) => key.startsWith(prefix)).sort();
  const actions = [];
  for (const storageKey of storageKeys) {
    try {
      const action = checked(JSON.parse(storage.getItem(storageKey) ?? ""), handout);
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
   * @param {Handout} handout what ragnb has written into the page: header, task, items and suggested_by
   * @param {Storage} storage
   * @param {string} prefix of the keys of one annotator
   */
  constructor(handout, storage, prefix) {
    this.handout = handout;
    this.storage = storage;
    this.prefix = prefix;
    this.tab = Math.random().toString(36).slice(2, 8);
    /** @type {Map<string, Handler>} */
    this.handlers = new Map();
    /** @type {Action[]} */
    this.actions = [];
    this.unreadable = 0; // number of stored texts that are no actions
    /** @type {Finish | undefined} what the end of the list offers */
    this.finish = undefined;
    this.number = 0; // of the item on the screen
    /** @type {ItemState[]} */
    this.labels = []; // by item
    /** @type {Action[]} */
    this.undos = []; // what can be undone, the last action at the end
    /** @type {Action[]} */
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
      return; // only Python waits for it
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
    /** @type {{[Each in ActName]: function(Acts[Each] & {number: number}): string | void}} */
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
    /** @type {AnnotatorContent["jump"]} */
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
      entries: {},
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
    /** @type {Map<string, number>} */
    const counts = new Map();
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
    const recorded = /** @type {NewAction} */ (/** @type {unknown} */ ({ time, action, item, ...content }));
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

  /**
   * The labels of an item with its status, the required places that are untouched, and the suggestions for such places.
   * @param {ItemLabels} labels
   * @param {HandoutItem} item
   * @returns {ItemState}
   */
  withMissing(labels, { page, suggested }) {
    const isUntouched = (/** @type {Place} */ place) => valueAt(labels.values, place) === undefined;
    const isRequired = (/** @type {Place} */ [name]) => this.field(name).required;
    const missing = page.places.filter((place) => isRequired(place) && isUntouched(place));
    const offered = suggested.filter(([place]) => isUntouched(place));
    return { ...labels, missing, status: statusOf(labels, missing), offered };
  }

  // ---- what can be done, by the name of the act ------------------------------------------------------------------

  /** @param {Acts["label"] & {number: number}} content */
  label({ number, field, sentence = null, value }) {
    /** @type {Place} */
    const place = [field, sentence];
    this.set(number, [[place, this.presentAt(place, value)], ...this.implied(number, field, sentence, value)]);
  }

  /** @param {Acts["toggle"] & {number: number}} content */
  toggle({ number, field: name, sentence = null, keys, on }) {
    if (!keys.length) {
      return;
    }
    /** @type {Place} */
    const place = [name, sentence];
    const { values, suggested } = this.state(number);
    const chosen = new Set(keysIn(valueAt(values, place) ?? valueAt(suggested, place)));
    const toggled = new Set(keys);
    const isAdding = on ?? !keys.every((key) => chosen.has(key));
    const { page } = this.handout.items[number];
    const inOrder = isTags(this.handout.task, name) ? [...this.presentCodebook.tags.keys()] : sentenceKeys(page, this.field(name));
    const value = inOrder.filter((key) => (toggled.has(key) ? isAdding : chosen.has(key)));
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
    /** @type {PlaceValue[]} */
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
}

/**
 * The ids of the tags in a label of a field of tags; none where untouched.
 * @param {Values[string] | undefined} label
 * @returns {string[]}
 */
function tagsIn(label) {
  return Array.isArray(label) ? label.map(String) : [];
}
