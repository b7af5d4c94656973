// Where an annotator is: the item on the screen, the active field, and the sentence of the response. It knows what was labelled
// and suggested there, and which place comes next. A place is [field, sentence], with null for a field about the whole item.

import { clamp } from "./list.mjs";

/** @typedef {import("./types.js").Place} Place */

/** The answer of Python, and of the hand-out, when no item is left. */
export const ALL_DONE = "all items are labelled or skipped";

/**
 * Tell whether the values of a field are lists, which may be empty.
 * @param {import("./types.js").Field} field
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
 * @param {import("./types.js").Values} values by field, and by sentence where a field is asked of each
 * @param {Place} place
 * @returns {*} undefined where untouched
 */
export function valueAt(values, [field, sentence]) {
  const valueOfField = ownValue(values, field);
  const isOfWholeItem = sentence === null || valueOfField === undefined;
  return isOfWholeItem ? valueOfField : ownValue(valueOfField, sentence);
}

// A field may be called as something that every object has, such as "constructor".
function ownValue(object, name) {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The present place of an annotator, on top of the state that Python sends. */
export class Work {
  /** @param {import("./types.js").Model} model */
  constructor(model) {
    this.model = model;
  }

  /** @returns {import("./types.js").Task} */
  get task() {
    return this.model.get("task");
  }

  /** @returns {import("./types.js").Page} */
  get page() {
    return this.model.get("page");
  }

  /** @returns {import("./types.js").State} */
  get state() {
    return this.model.get("state");
  }

  /** @returns {import("./types.js").Entry[]} */
  get entries() {
    return this.model.get("jump");
  }

  // ---- what was labelled -----------------------------------------------------------------------------------------

  // The place of a field, at the present sentence of the response if it is asked of each.
  placeOf(field) {
    return [field.name, field.each ? this.sentence : null];
  }

  // Value of a place, undefined where untouched, and what is suggested there.
  labelAt(place) {
    const value = valueAt(this.state.values, place);
    if (value !== undefined) {
      return { value, guess: undefined };
    }
    return { value, guess: valueAt(this.state.suggested, place) };
  }

  // Names of the other annotators who gave a place this value, or whose list of sentences contains it.
  votes(place, value) {
    const voters = this.state.others.filter(({ values }) => {
      const vote = valueAt(values, place);
      return Array.isArray(vote) ? vote.includes(value) : vote === value;
    });
    return voters.map(({ name }) => name);
  }

  // The tags of the codebook are the options of a field of tags.
  optionsOf(field) {
    if (field.kind === "tags") {
      return this.state.codebook.map(([value, label, definition]) => ({ value, label, definition }));
    }
    return this.page.options[field.name] || field.options;
  }

  // ---- where the annotator is ------------------------------------------------------------------------------------

  get field() {
    const [name] = this.place;
    return this.fieldOf(name);
  }

  fieldOf(name) {
    return this.task.fields.find((field) => field.name === name);
  }

  // Whether sentences of a part are what is chosen now.
  chooses(part) {
    return this.field.kind === "sentences" && this.field.of === part;
  }

  begin() {
    this.unconfirmed = []; // places with a value that the kernel has not acknowledged yet
    this.sentence = this.page.each[0] ?? null;
    this.seek();
  }

  // The kernel has acknowledged all values.
  confirm() {
    this.unconfirmed = [];
  }

  // To the first place that is missing.
  seek() {
    this.goTo(this.state.missing[0] || this.page.places[0]);
  }

  goTo(place) {
    const [, sentence] = place;
    this.place = place;
    if (sentence !== null) {
      this.sentence = sentence;
    }
  }

  // To the next place that is still missing when this one is done; whether it was the last one that was missing.
  goOn() {
    const hadMissing = this.stillMissing.length > 0;
    this.unconfirmed.push(this.place);
    const next = nextPlace(this.stillMissing, this.page.places, this.place);
    this.goTo(next ?? this.place);
    return hadMissing && this.stillMissing.length === 0;
  }

  get stillMissing() {
    return this.state.missing.filter((place) => !includesPlace(this.unconfirmed, place));
  }

  goToField(name) {
    this.goTo(this.placeOf(this.fieldOf(name)));
  }

  // To a sentence of the response, and a field that is asked of it.
  goToSentence(sentence) {
    const field = this.field.each ? this.field : this.task.fields.find(({ each }) => each);
    this.goTo([field.name, sentence]);
  }

  goToSentenceBy(step) {
    const keys = this.page.each;
    if (!keys.length) {
      return;
    }
    const position = clamp(keys.indexOf(this.sentence) + step, 0, keys.length - 1);
    this.goToSentence(keys[position]);
  }
}
