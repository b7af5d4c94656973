// Where an annotator is: the item on the screen, the active field, and the sentence of the response. It knows what was labelled
// and suggested there, and which place comes next. A place is [field, sentence], with null for a field about the whole item.

import { clamp } from "./list.mjs";

/** The answer of Python, and of the hand-out, when no item is left. */
export const ALL_DONE = "all items are labelled or skipped";

const isSame = ([field, sentence], place) => field === place[0] && sentence === place[1];

/**
 * Find the next missing place after one, from the start again after the last.
 * @param {Array[]} missing places
 * @param {Array[]} places all places in their order
 * @param {Array} place
 * @returns {Array|null}
 */
export function nextPlace(missing, places, place) {
  const at = places.findIndex((other) => isSame(other, place));
  const open = (candidate) => missing.some((other) => isSame(other, candidate));
  return [...places.slice(at + 1), ...places.slice(0, at + 1)].find(open) || null;
}

/**
 * Return the value of a place.
 * @param {object} values by field, and by sentence where a field is asked of each
 * @param {Array} place
 * @returns {*} undefined where untouched
 */
export function valueAt(values, [field, sentence]) {
  return sentence === null ? values[field] : values[field]?.[sentence];
}

/** The present place of an annotator, on top of the state that Python sends. */
export class Work {
  constructor(model) {
    this.model = model;
  }

  get task() { return this.model.get("task"); }
  get page() { return this.model.get("page"); }
  get state() { return this.model.get("state"); }
  get entries() { return this.model.get("jump"); }

  // ---- what was said ---------------------------------------------------------------------------------------------

  // The place [field, sentence] of a field, at the present sentence of the response if it is asked of each.
  placeOf(field) {
    return [field.name, field.each ? this.sentence : null];
  }

  // Value of a place, undefined where untouched, and what is suggested there.
  labelAt(place) {
    const value = valueAt(this.state.values, place);
    return { value, guess: value === undefined ? valueAt(this.state.suggested, place) : undefined };
  }

  // Who else said that of a place: names whose value it is, or whose list holds it.
  votes(place, value) {
    return this.state.others.filter(({ values }) => [valueAt(values, place)].flat().includes(value)).map(({ name }) => name);
  }

  optionsOf(field) {
    return this.page.options[field.name] || field.options;
  }

  // ---- where one is ----------------------------------------------------------------------------------------------

  get field() {
    return this.task.fields.find(({ name }) => name === this.place[0]);
  }

  // Whether sentences of a part are what is chosen now.
  chooses(part) {
    return this.field.kind === "sentences" && this.field.of === part;
  }

  begin() {
    this.given = []; // places with a value that the kernel has not acknowledged yet
    this.sentence = this.page.each[0] ?? null;
    this.seek();
  }

  // To the first place that is missing.
  seek() {
    this.goTo(this.state.missing[0] || this.page.places[0]);
  }

  goTo(place) {
    this.place = place;
    if (place[1] !== null) this.sentence = place[1];
  }

  // To the next place that is still missing when this one is done; whether it was the last one that was missing.
  goOn() {
    const before = this.stillMissing;
    this.given.push(this.place);
    this.goTo(nextPlace(this.stillMissing, this.page.places, this.place) || this.place);
    return before.length > 0 && !this.stillMissing.length;
  }

  get stillMissing() {
    return this.state.missing.filter((missing) => !this.given.some((place) => isSame(missing, place)));
  }

  goToField(name) {
    this.goTo(this.placeOf(this.task.fields.find((field) => field.name === name)));
  }

  // To a sentence of the response, and a field that is asked of it.
  goToSentence(sentence) {
    const field = this.field.each ? this.field : this.task.fields.find(({ each }) => each);
    this.goTo([field.name, sentence]);
  }

  goToSentenceBy(step) {
    const keys = this.page.each;
    if (keys.length) this.goToSentence(keys[clamp(keys.indexOf(this.sentence) + step, 0, keys.length - 1)]);
  }
}
