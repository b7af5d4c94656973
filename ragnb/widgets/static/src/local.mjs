// Labels without a kernel: a model that answers the annotator as Python does (ragnb/annotation/session.py and log.py), and keeps
// every action in the browser's storage.

import { valueAt } from "./work.mjs";

const CHANGES = ["label", "note", "flag", "skip"];
const UNFINISHED = ["untouched", "started"];
const IDLE = 120; // longest time between two actions, in seconds, that counts as work

// The actions of one annotator. Each has a key of its own in the storage, so that no tab overwrites what another one has written.
export class Actions {
  constructor(prefix, storage) {
    this.prefix = prefix;
    this.storage = storage;
    this.tab = Math.random().toString(36).slice(2, 8);
    this.read();
  }

  // In the order of their times.
  read() {
    const keys = Object.keys(this.storage).filter((key) => key.startsWith(this.prefix)).sort();
    this.list = keys.map((key) => ({ key: key.slice(this.prefix.length), ...JSON.parse(this.storage.getItem(key)) }));
  }

  // Throws if the storage is full; then nothing is added.
  add(action) {
    const last = this.list.at(-1)?.time ?? "";
    const now = new Date().toISOString().replace("Z", "+00:00");
    const time = now > last ? now : last; // a clock that is set back changes no order
    const number = String(this.list.length).padStart(6, "0");
    this.put({ key: `${time} ${number} ${this.tab}`, time, ...action });
  }

  put({ key, ...action }) {
    this.storage.setItem(this.prefix + key, JSON.stringify(action));
    this.list.push({ key, ...action });
    this.list.sort((one, other) => (one.key < other.key ? -1 : 1));
  }
}

// What all actions amount to: the labels of each item, what can be undone and redone, and the seconds spent on each item.
export function follow(actions, n) {
  const items = Array.from({ length: n }, () => ({ values: {}, flag: false, skipped: false, note: "", seconds: 0 }));
  const done = [], undone = [];
  let before = null;
  for (const action of actions) {
    if (before) items[before.item].seconds += Math.min(Math.max((Date.parse(action.time) - Date.parse(before.time)) / 1000, 0), IDLE);
    before = action;
    const [from, to] = action.action === "undo" ? [done, undone] : [undone, done];
    const at = from.findIndex(({ key }) => key === action.of);
    if (action.of !== undefined && at >= 0) to.push(...from.splice(at, 1));
    if (!CHANGES.includes(action.action)) continue;
    undone.length = 0;
    done.push(action);
  }
  for (const { action, item, set = [], value } of done) {
    const labels = items[item];
    for (const one of set) setAt(labels.values, [one.field, one.sentence ?? null], one.value);
    if (action === "label") labels.skipped = false;
    else labels[action === "skip" ? "skipped" : action] = value;
  }
  return { items, done, undone };
}

// Sets the value of a place, or makes it untouched with null. Values are by field, and by sentence where a field is asked of each.
function setAt(values, [field, sentence], value) {
  const [inside, key] = sentence === null ? [values, field] : [(values[field] ??= {}), sentence];
  if (value === null) delete inside[key];
  else inside[key] = value;
  if (sentence !== null && !Object.keys(inside).length) delete values[field];
}

const median = (numbers) => {
  const sorted = numbers.sort((one, other) => one - other), middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

export class LocalModel {
  // handout: what ragnb has written into the page: {header, task, items, suggested_by}
  constructor(handout, actions) {
    this.handout = handout;
    this.items = handout.items;
    this.actions = actions;
    this.handlers = new Map();
    this.follow();
    const last = actions.list.at(-1)?.item ?? 0;
    const first = this.items.findIndex((_, n) => this.isUnfinished(n));
    this.go({ to: first < 0 || this.isUnfinished(last) ? last : first });
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

  // What another tab or a file has added.
  reread() {
    this.actions.read();
    this.follow();
    this.draw();
  }

  draw(news = { ack: 0, message: "", failed: false }) {
    const { task, items } = this.handout;
    const same = this.shown?.page === items[this.number].page;
    const jump = items.map(({ title }, n) => [title, this.status(n), this.labels[n].flag]);
    this.shown = { task, page: items[this.number].page, jump, state: { ...this.state(), ...news } };
    if (!same) this.emit("change:page");
    this.emit("change:jump");
    this.emit("change:state");
  }

  state() {
    const n = this.number, { values, flag, note } = this.labels[n], suggested = this.suggestion(n), time = this.actions.list.at(-1).time;
    return {
      values, suggested, suggested_by: Object.keys(suggested).length ? this.handout.suggested_by : "", others: [],
      missing: this.missing(n), status: this.status(n), flag, note,
      can_undo: this.undos.length > 0, can_redo: this.redos.length > 0, progress: this.progress(), saved: `saved ${time.slice(11, 19)} UTC in this browser`,
    };
  }

  // ---- where things are ------------------------------------------------------------------------------------------

  follow() {
    ({ items: this.labels, done: this.undos, undone: this.redos } = follow(this.actions.list, this.items.length));
  }

  record(action, item, content) {
    this.actions.add({ action, item, ...content });
    this.follow();
  }

  missing(n) {
    return this.items[n].page.places.filter((place) => this.field(place[0]).required && this.isUntouched(n, place));
  }

  isUntouched(n, place) { return valueAt(this.labels[n].values, place) === undefined; }

  status(n) {
    if (!this.missing(n).length) return "labelled";
    return this.labels[n].skipped ? "skipped" : Object.keys(this.labels[n].values).length ? "started" : "untouched";
  }

  isUnfinished(n) { return UNFINISHED.includes(this.status(n)); }

  // Suggested values of the places that are untouched: [place, value] each, and as values of an item.
  offered(n) { return this.items[n].suggested.filter(([place]) => this.isUntouched(n, place)); }

  suggestion(n) {
    const found = {};
    for (const [place, value] of this.offered(n)) setAt(found, place, value);
    return found;
  }

  progress() {
    const found = { items: this.items.length, labelled: 0, started: 0, skipped: 0, untouched: 0, flagged: 0 };
    const spent = [];
    this.labels.forEach(({ flag, seconds }, n) => {
      found[this.status(n)] += 1;
      found.flagged += flag;
      if (this.status(n) === "labelled") spent.push(seconds);
    });
    return { ...found, seconds_left: spent.length ? Math.round(median(spent) * (found.untouched + found.started)) : null };
  }

  // ---- what can be done, by the name of the act ------------------------------------------------------------------

  label({ number, field, sentence = null, value }) {
    this.set(number, [[[field, sentence], value], ...this.implied(number, field, sentence, value)]);
  }

  toggle({ number, field, sentence = null, keys, on }) {
    if (!keys.length) return;
    const place = [field, sentence], { of, options } = this.field(field);
    const chosen = valueAt(this.labels[number].values, place) ?? valueAt(this.suggestion(number), place) ?? [];
    const adding = on ?? !keys.every((key) => chosen.includes(key));
    const parts = this.items[number].page.parts.filter(({ name }) => name === of);
    const known = [...parts.flatMap(({ sentences }) => sentences.map(([key]) => key)), ...options.map((option) => option.value)];
    this.set(number, [[place, known.filter((key) => (keys.includes(key) ? adding : chosen.includes(key)))]]);
  }

  accept({ number }) {
    const given = this.offered(number);
    if (!given.length) return "nothing is suggested here";
    this.set(number, given);
  }

  flag({ number }) { this.record("flag", number, { value: !this.labels[number].flag }); }
  note({ number, text }) { if (text !== this.labels[number].note) this.record("note", number, { value: text }); }

  skip({ number }) {
    this.record("skip", number, { value: !this.labels[number].skipped });
    return this.labels[number].skipped ? this.next() : "";
  }

  undo() { return this.step("undo", this.undos, "undone"); }
  redo() { return this.step("redo", this.redos, "done again"); }
  move({ step }) { return this.items[this.number + step] ? this.go({ to: this.number + step }) : "no further item"; }

  go({ to }) {
    this.number = to;
    this.record("open", to);
  }

  next() {
    const n = this.items.length;
    const to = Array.from({ length: n }, (_, k) => (this.number + 1 + k) % n).find((one) => this.isUnfinished(one));
    return to === undefined ? "all items are labelled or skipped" : this.go({ to });
  }

  // What is still missing, else the next item.
  done() {
    const [place] = this.missing(this.number);
    if (!place) return this.next();
    const { label, kind } = this.field(place[0]);
    return `still missing: ${label}${place[1] ? ` [${place[1]}]` : ""}${kind === "sentences" ? " (e for none)" : ""}; skip with .`;
  }

  // ---- inside ----------------------------------------------------------------------------------------------------

  field(name) { return this.handout.task.fields.find((field) => field.name === name); }

  set(number, values) {
    const set = values.map(([[field, sentence], value]) => {
      const guess = this.items[number].suggested.find(([place]) => place[0] === field && place[1] === sentence)?.[1];
      const source = `suggestion ${JSON.stringify(guess) === JSON.stringify(value) ? "accepted" : "changed"}`;
      const origin = guess === undefined ? { source: "human" } : { source, suggested: guess, suggested_by: this.handout.suggested_by };
      return { field, ...(sentence === null ? {} : { sentence }), value, ...origin };
    });
    this.record("label", number, { set });
  }

  // Values that follow from an option, for places that are untouched.
  implied(number, name, sentence, value) {
    const follows = this.field(name).options.find((option) => option.value === value)?.implies ?? {};
    return Object.entries(follows).flatMap(([other, one]) => {
      const keys = !this.field(other).each ? [null] : sentence === null ? this.items[number].page.each : [sentence];
      return keys.map((key) => [[other, key], one]);
    }).filter(([place]) => this.isUntouched(number, place));
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

// Each action also has its key, so that a file can be read again into the page that it comes from.
export function written({ header, items }, annotator, { list }) {
  const numbers = new Map(list.map(({ key }, n) => [key, n + 1]));
  const lines = list.map(({ item, of, ...rest }, n) => ({
    n: n + 1, ...rest, item: items[item].id, ...(rest.action === "open" ? items[item].pinned : {}), ...(of === undefined ? {} : { of: numbers.get(of) }),
  }));
  return [{ ...header, annotator, started: list[0].time }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
}

// The annotator and the actions of such a file; an error says what is wrong with it.
export function read(text, { header, items }) {
  const [first, ...lines] = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  if (first?.handout !== header.handout) throw new Error("it does not belong to this page");
  const numbers = new Map(items.map(({ id }, n) => [id, n]));
  const keyOf = ({ n, time, key }) => key ?? `${time} ${String(n).padStart(6, "0")} ragnb`; // Python may have gone on with the file
  const keys = new Map(lines.map((line) => [line.n, keyOf(line)]));
  const actions = lines.map((line) => {
    const { n, item, of, id, fingerprint, sentences, ...rest } = line;
    if (!numbers.has(item)) throw new Error(`the page has no item ${item}`);
    return { ...rest, key: keyOf(line), item: numbers.get(item), ...(of === undefined ? {} : { of: keys.get(of) }) };
  });
  return { annotator: first.annotator, actions };
}
