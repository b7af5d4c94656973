// Where an annotator is: the item on the screen, the active field, and the sentence of the response. It knows what was labelled
// and suggested there, and which place comes next. A place is [field, sentence], with null for a field about the whole item.

import { clamp } from "./list.mjs";

/** @import { AnnotatorModel, Answer, Entry, Field, Label, Page, Place, State, Task, Values } from "./types.js" */

/**
 * What can be chosen in a field: one of its options, or a tag with its definition.
 * @typedef {{value: Answer, label: string, definition?: string}} Choice
 */

/** The answer of Python, and of the hand-out, when no item is left. */
export const ALL_DONE = "all items are labelled or skipped";

/**
 * Tell whether the values of a field are lists, which may be empty.
 * @param {Field} field
 * @returns {boolean}
 */
export function isList({ kind }) {
  return kind === "sentences" || kind === "tags";
}

/**
 * Tell whether two places are the same.
 * @param {Place} place
 * @param {Place} other
 * @returns {boolean}
 */
export function isSamePlace([field, sentence], [otherField, otherSentence]) {
  return field === otherField && sentence === otherSentence;
}

/**
 * @param {Place[]} places
 * @param {Place} place
 */
function includesPlace(places, place) {
  return places.some((candidate) => isSamePlace(candidate, place));
}

/**
 * Find the next missing place after one, from the start again after the last.
 * @param {Place[]} missing places
 * @param {Place[]} places all places in their order
 * @param {Place} place
 * @returns {Place|null}
 */
export function nextPlace(missing, places, place) {
  const index = places.findIndex((candidate) => isSamePlace(candidate, place));
  const following = [...places.slice(index + 1), ...places.slice(0, index + 1)];
  return following.find((candidate) => includesPlace(missing, candidate)) ?? null;
}

/**
 * Return the value of a place.
 * @param {Values} values by field, and by sentence where a field is asked of each
 * @param {Place} place
 * @returns {Label | undefined} undefined where untouched
 */
export function valueAt(values, [field, sentence]) {
  if (sentence === null) {
    return ownValue(/** @type {Record<string, Label>} */ (values), field);
  }
  const labelsOfField = ownValue(/** @type {Record<string, Record<string, Label>>} */ (values), field);
  return labelsOfField && ownValue(labelsOfField, sentence);
}

/**
 * Return the keys in a label of a field of sentences or tags; none where untouched.
 * @param {Label | undefined} label
 * @returns {Answer[]}
 */
export function keysIn(label) {
  return Array.isArray(label) ? label : [];
}

/**
 * Return the field of a task with a name, which is that of a place or of another field.
 * @param {Task} task
 * @param {string} name
 * @returns {Field}
 */
export function fieldOf({ name: taskName, fields }, name) {
  const field = fields.find((candidate) => candidate.name === name);
  if (!field) {
    throw new Error(`the task "${taskName}" has no field "${name}"`);
  }
  return field;
}

/**
 * A field may be called as something that every object has, such as "constructor".
 * @template T
 * @param {Record<string, T>} object
 * @param {string} name
 * @returns {T | undefined}
 */
function ownValue(object, name) {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The present place of an annotator, on top of the state that Python sends. */
export class Work {
  /** @param {AnnotatorModel} model */
  constructor(model) {
    this.model = model;
    /** @type {Place | null} the active place; null in an item without any, such as a response without claims */
    this.place = null;
    /** @type {string | null} the sentence of the response that is labelled, if fields are asked of each */
    this.sentence = null;
    /** @type {Place[]} places with a value that the kernel has not acknowledged yet */
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
    if (value !== undefined) {
      return { value, guess: undefined };
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
}
