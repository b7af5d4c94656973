// Labels without a kernel, for the hand-out. This model answers the annotator as Python does, and keeps every action in the
// browser's storage. It repeats ragnb/annotation/session.py and log.py: who changes the meaning of an action there changes it
// here, too. tests/widgets/js/random_acts.mjs compares both.

import { checksum } from "./checksum.mjs";
import { clamp } from "./list.mjs";
import { ALL_DONE, valueAt } from "./work.mjs";

const CHANGES = ["label", "note", "flag", "skip"];
const IDLE = 120; // longest time between two actions, in seconds, that counts as work

// An object without a prototype, so that no name of a field has a meaning of its own.
const bare = () => Object.create(null);

// Sets the value of a place, or makes it untouched with null. Values are by field, and by sentence where a field is asked of each.
function setAt(values, [field, sentence], value) {
  const [inside, key] = sentence === null ? [values, field] : [(values[field] ??= bare()), sentence];
  if (value === null) delete inside[key];
  else inside[key] = value;
  if (sentence !== null && !Object.keys(inside).length) delete values[field];
}

// What all actions amount to: the labels of each item and the seconds spent on it, and what can be undone and redone.
function follow(actions, n) {
  const items = Array.from({ length: n }, () => ({ values: bare(), flag: false, skipped: false, note: "", seconds: 0 }));
  const done = [], undone = [];
  actions.forEach((action, number) => {
    const before = actions[number - 1] ?? action;
    items[before.item].seconds += clamp((Date.parse(action.time) - Date.parse(before.time)) / 1000, 0, IDLE);
    const [from, to] = action.action === "undo" ? [done, undone] : [undone, done];
    const at = from.findIndex(({ key }) => key === action.of);
    if (at >= 0) to.push(...from.splice(at, 1));
    if (!CHANGES.includes(action.action)) return;
    undone.length = 0;
    done.push(action);
  });
  for (const { action, item, set = [], value } of done) {
    const labels = items[item];
    for (const entry of set) setAt(labels.values, [entry.field, entry.sentence ?? null], entry.value);
    if (action === "label") labels.skipped = false;
    else labels[action === "skip" ? "skipped" : action] = value;
  }
  return { items, done, undone };
}

function median(numbers) {
  const sorted = numbers.sort((left, right) => left - right), middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const isUnfinished = ({ status }) => status === "untouched" || status === "started";

/**
 * Read the actions of one annotator from a storage.
 * @param {object} handout
 * @param {Storage} storage
 * @param {string} prefix of the keys
 * @returns {Array} the actions in order, and the number of texts that are no actions
 */
export function storedActions(handout, storage, prefix) {
  const keys = Object.keys(storage).filter((key) => key.startsWith(prefix)).sort();
  const actions = keys.flatMap((key) => {
    try {
      return [{ key: key.slice(prefix.length), ...checked(JSON.parse(storage.getItem(key)), handout) }];
    } catch {
      return [];
    }
  });
  return [actions, keys.length - actions.length];
}

/** A model with the interface of anywidget's, whose kernel is this page. */
export class LocalModel {
  /**
   * @param {object} handout what ragnb has written into the page: header, task, items and suggested_by
   * @param {Storage} storage
   * @param {string} prefix of the keys of one annotator
   */
  constructor(handout, storage, prefix) {
    this.handout = handout;
    this.storage = storage;
    this.prefix = prefix;
    this.tab = Math.random().toString(36).slice(2, 8);
    this.handlers = new Map();
    this.read();
    const last = this.actions.at(-1)?.item ?? 0;
    const first = this.labels.findIndex(isUnfinished);
    this.go({ to: first < 0 || isUnfinished(this.labels[last]) ? last : first });
    this.draw();
  }

  // ---- a model, as anywidget's -----------------------------------------------------------------------------------

  get(name) { return this.shown[name]; }
  on(event, handler) { this.handlers.set(event, handler); }
  off(event) { this.handlers.delete(event); }
  emit(event, content) { this.handlers.get(event)?.(content); }

  // The action is in the storage when this returns; the answer comes after it, as a kernel's does.
  send({ act, id, ...content }) {
    if (act === "shown") { queueMicrotask(() => this.emit("msg:custom", { kind: "focus" })); return; }
    let message = "", failed = false;
    try {
      message = this[act](content) ?? "";
    } catch (error) {
      [message, failed] = [`not saved, because this browser's storage is full or gone (${error.message}); download the labels`, true];
    }
    queueMicrotask(() => this.draw({ ack: id, message, failed }));
  }

  draw(news = { ack: 0, message: "", failed: false }) {
    const { task, items } = this.handout;
    const { page } = items[this.number];
    const jump = items.map(({ title }, n) => [title, this.labels[n].status, this.labels[n].flag]);
    this.shown = { task, page, jump, state: { ...this.state(this.number), ...news } };
    this.emit("change:jump");
    this.emit("change:state");
  }

  state(n) {
    const { values, flag, note, missing, status, offered } = this.labels[n];
    const suggested = bare();
    for (const [place, value] of offered) setAt(suggested, place, value);
    return {
      values, flag, note, missing, status, suggested, suggested_by: offered.length ? this.handout.suggested_by : "", others: [],
      can_undo: this.undos.length > 0, can_redo: this.redos.length > 0, progress: this.progress(),
      saved: this.actions.length ? `saved ${this.actions.at(-1).time.slice(11, 19)} UTC in this browser` : "",
      end: this.labels.some(isUnfinished) ? null : { text: `Done: ${ALL_DONE}. Download the labels and send the file back.`, code: "" },
    };
  }

  progress() {
    const count = (which) => this.labels.filter(which).length;
    const [labelled, started, skipped, untouched] = ["labelled", "started", "skipped", "untouched"].map((name) => count(({ status }) => status === name));
    const spent = this.labels.filter(({ status }) => status === "labelled").map(({ seconds }) => seconds);
    const seconds_left = labelled ? Math.round(median(spent) * (untouched + started)) : null;
    return { items: this.labels.length, labelled, started, skipped, untouched, flagged: count(({ flag }) => flag), seconds_left };
  }

  // ---- the actions: each has a key of its own in the storage, so that no tab overwrites what another one has written -----

  // Reads all actions in the order of their times, also those that another tab or a file has added. What is none is left out.
  read() {
    [this.actions, this.unreadable] = storedActions(this.handout, this.storage, this.prefix);
    this.follow();
  }

  // Throws if the storage is full; then nothing is added, except that an item was shown.
  record(action, item, content) {
    const last = this.actions.at(-1)?.time ?? "";
    const now = new Date().toISOString().replace("Z", "+00:00");
    const time = now > last ? now : last; // a clock that is set back changes no order
    const key = `${time} ${String(this.actions.length).padStart(6, "0")} ${this.tab}`;
    const added = { time, action, item, ...content };
    try {
      this.storage.setItem(this.prefix + key, JSON.stringify(added));
    } catch (error) {
      if (action !== "open") throw error;
    }
    this.actions.push({ key, ...added });
    this.follow();
  }

  follow() {
    const { items, done, undone } = follow(this.actions, this.handout.items.length);
    [this.undos, this.redos] = [done, undone];
    this.labels = items.map((labels, n) => {
      const { page, suggested } = this.handout.items[n];
      const isUntouched = (place) => valueAt(labels.values, place) === undefined;
      const missing = page.places.filter((place) => this.field(place[0]).required && isUntouched(place));
      const unfinished = labels.skipped ? "skipped" : Object.keys(labels.values).length ? "started" : "untouched";
      return { ...labels, missing, status: missing.length ? unfinished : "labelled", offered: suggested.filter(([place]) => isUntouched(place)) };
    });
  }

  // ---- what can be done, by the name of the act ------------------------------------------------------------------

  label({ number, field, sentence = null, value }) {
    this.set(number, [[[field, sentence], value], ...this.implied(number, field, sentence, value)]);
  }

  toggle({ number, field, sentence = null, keys, on }) {
    if (!keys.length) return;
    const place = [field, sentence], { of, options } = this.field(field), { values, suggested } = this.state(number);
    const chosen = new Set(valueAt(values, place) ?? valueAt(suggested, place) ?? []), picked = new Set(keys);
    const adding = on ?? !keys.every((key) => chosen.has(key));
    const parts = this.handout.items[number].page.parts.filter(({ name }) => name === of);
    const known = [...parts.flatMap(({ sentences }) => sentences.map(([key]) => key)), ...options.map((option) => option.value)];
    this.set(number, [[place, known.filter((key) => (picked.has(key) ? adding : chosen.has(key)))]]);
  }

  accept({ number }) {
    const { offered } = this.labels[number];
    if (!offered.length) return "nothing is suggested here";
    this.set(number, offered);
  }

  flag({ number }) { this.record("flag", number, { value: !this.labels[number].flag }); }
  note({ number, text }) { if (text !== this.labels[number].note) this.record("note", number, { value: text }); }

  skip({ number }) {
    this.record("skip", number, { value: !this.labels[number].skipped });
    return this.labels[number].skipped ? this.next() : "";
  }

  undo() { return this.step("undo", this.undos, "undone"); }
  redo() { return this.step("redo", this.redos, "done again"); }
  move({ step }) { return this.labels[this.number + step] ? this.go({ to: this.number + step }) : "no further item"; }

  go({ to }) {
    this.number = to;
    this.record("open", to);
  }

  next() {
    const n = this.labels.length;
    const to = Array.from({ length: n }, (_, k) => (this.number + 1 + k) % n).find((number) => isUnfinished(this.labels[number]));
    return to === undefined ? ALL_DONE : this.go({ to });
  }

  // What is still missing, else the next item.
  done() {
    const [place] = this.labels[this.number].missing;
    if (!place) return this.next();
    const { label, kind } = this.field(place[0]);
    return `still missing: ${label}${place[1] ? ` [${place[1]}]` : ""}${kind === "sentences" ? " (e for none)" : ""}; press . to skip`;
  }

  // ---- inside ----------------------------------------------------------------------------------------------------

  field(name) { return this.handout.task.fields.find((field) => field.name === name); }

  set(number, values) {
    const set = values.map(([[field, sentence], value]) => {
      const guess = this.handout.items[number].suggested.find(([place]) => place[0] === field && place[1] === sentence)?.[1];
      const source = `suggestion ${JSON.stringify(guess) === JSON.stringify(value) ? "accepted" : "changed"}`;
      const origin = guess === undefined ? { source: "human" } : { source, suggested: guess, suggested_by: this.handout.suggested_by };
      return { field, ...(sentence === null ? {} : { sentence }), value, ...origin };
    });
    this.record("label", number, { set });
  }

  // Values that follow from an option, for places that are untouched.
  implied(number, name, sentence, value) {
    const follows = this.field(name).options.find((option) => option.value === value)?.implies ?? {};
    return Object.entries(follows).flatMap(([other, implied]) => {
      const keys = !this.field(other).each ? [null] : sentence === null ? this.handout.items[number].page.each : [sentence];
      return keys.map((key) => [[other, key], implied]);
    }).filter(([place]) => valueAt(this.labels[number].values, place) === undefined);
  }

  step(action, stack, what) {
    const last = stack.at(-1);
    if (!last) return `nothing to be ${what}`;
    this.number = last.item;
    this.record(action, last.item, { of: last.key });
    return `${what}: ${[...new Set(last.set?.map(({ field }) => field))].join(", ") || last.action}`;
  }
}

// ---- the file of labels: a log of ragnb as JSON Lines ----------------------------------------------------------------

/**
 * Write the file of labels, a log of ragnb as JSON Lines. Each action keeps its key, so that the page can read the file again.
 * @param {object} handout
 * @param {string} annotator
 * @param {object[]} actions
 * @returns {string}
 */
export function written({ header, items }, annotator, actions) {
  const numbers = new Map(actions.map(({ key }, n) => [key, n + 1]));
  const lines = actions.map(({ item, of, ...rest }, n) => ({
    n: n + 1, ...rest, item: items[item].id, ...(rest.action === "open" ? items[item].pinned : {}), ...(of === undefined ? {} : { of: numbers.get(of) }),
  }));
  return [{ ...header, annotator, started: actions[0]?.time ?? new Date().toISOString() }, ...lines].map((line) => `${sealed(JSON.stringify(line))}\n`).join("");
}

const SEAL = /,\s*"checksum":\s*"([0-9a-f]{8})"\s*\}\s*$/;

// A line with its checksum as its last key, as ragnb/annotation/lines.py writes it.
function sealed(content) {
  return `${content.slice(0, -1)},"checksum":"${checksum(content)}"}`;
}

// The object of a line whose checksum is right, if it has one.
function unsealed(line, n) {
  const seal = line.match(SEAL);
  const content = seal ? `${line.slice(0, seal.index)}}` : line;
  if (seal && checksum(content) !== seal[1]) throw new Error(`line ${n} was changed after it was written`);
  const parsed = JSON.parse(content);
  if (!isObject(parsed)) throw new Error(`line ${n} is not an object`);
  return parsed;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string";

// An action whose item has a number, if the page could have written it; an error says why it is none.
function checked(action, { task, items }) {
  const fail = (what) => { throw new Error(`an action has ${what}`); };
  if (!isObject(action)) fail("no keys");
  const { action: name, item, time, set, value, of } = action;
  if (!Number.isInteger(item) || !items[item]) fail("an unknown item");
  if (!isText(time) || !/^\d{4}-\d\d-\d\dT/.test(time) || Number.isNaN(Date.parse(time))) fail("no time");
  if (!["open", "agreed", "undo", "redo", ...CHANGES].includes(name)) fail("an unknown name");
  if (["flag", "skip"].includes(name) && typeof value !== "boolean") fail("a value other than true and false");
  if (name === "note" && !isText(value)) fail("a note that is no text");
  if (["undo", "redo"].includes(name) && !isText(of)) fail("no other action that it is about");
  if (["label", "agreed"].includes(name)) {
    if (!Array.isArray(set)) fail("no list of labels");
    for (const entry of set) if (!isObject(entry) || !allows(task, items[item].page, entry)) fail("a label that the task does not have");
  }
  return action;
}

// Whether a value can be given to a place of an item.
function allows(task, page, { field: name, sentence = null, value }) {
  const field = task.fields.find((candidate) => candidate.name === name);
  if (!field || !page.places.some(([fieldName, key]) => fieldName === name && key === sentence)) return false;
  const options = field.options.map((option) => option.value);
  if (value === null) return true;
  if (field.kind === "text") return isText(value);
  if (field.kind === "choice") return options.includes(value);
  const parts = page.parts.filter((part) => part.name === field.of);
  const known = new Set([...parts.flatMap(({ sentences }) => sentences.map(([key]) => key)), ...options]);
  return Array.isArray(value) && value.every((key) => known.has(key));
}

/**
 * Read a file of labels. An error says what is wrong with it.
 * @param {string} text
 * @param {object} handout
 * @returns {object} the annotator, and the actions with their keys
 */
export function read(text, handout) {
  const { header, items } = handout;
  const [first, ...lines] = text.split("\n").filter((line) => line.trim()).map((line, n) => unsealed(line, n + 1));
  if (first?.handout !== header.handout) throw new Error("it does not belong to this page");
  if (!isText(first.annotator) || !first.annotator.trim()) throw new Error("it has no name of an annotator");
  const numbers = new Map(items.map(({ id }, n) => [id, n]));
  const keyOf = ({ n, time, key }) => key ?? `${time} ${String(n).padStart(6, "0")} ragnb`; // Python may have gone on with the file
  const keys = new Map(lines.map((line) => [line.n, keyOf(line)]));
  const actions = lines.map((line) => {
    const { n, key, item, of, id, fingerprint, sentences, ...rest } = line;
    if (!numbers.has(item)) throw new Error(`the page has no item ${item}`);
    if (!Number.isInteger(n) || !(key === undefined || isText(key))) throw new Error("an action has no number");
    const action = { ...rest, item: numbers.get(item), ...(of === undefined ? {} : { of: keys.get(of) }) };
    return [keyOf(line), checked(action, handout)];
  });
  return { annotator: first.annotator, actions };
}
