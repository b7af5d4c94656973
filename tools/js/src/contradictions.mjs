// Labels of one item that cannot all be right. Each task declares them (`Contradiction` in ragnb/annotation/tasks.py).

import { keysIn, valueAt } from "./work.mjs";

/** @import { Contradiction, Label, Labels, Task, Values } from "./types.js" */

/**
 * Find the contradictions in the labels of an item. A place without a label contradicts nothing.
 * @param {Task} task
 * @param {Values} values by field, and by sentence where a field is asked of each
 * @param {string[]} keys of the sentences that such fields are asked of
 * @returns {string[]} messages
 */
export function contradictionsOf(task, values, keys) {
  const messages = [];
  for (const contradiction of task.contradictions) {
    for (const sentence of contradictorySentences(contradiction, task, values, keys)) {
      messages.push(contradiction.message.replaceAll("{}", () => sentence));
    }
  }
  return [...new Set(messages)];
}

/**
 * The sentences with contradictory labels. For labels of the whole item, this is one empty key.
 * @param {Contradiction} contradiction
 * @param {Task} task
 * @param {Values} values
 * @param {string[]} keys
 * @returns {string[]}
 */
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
  return sentences.filter((sentence) =>
    fields.every(({ name, each }) => {
      const value = valueAt(values, [name, each ? sentence : null]);
      return isOneOf(value, labels[name]);
    }),
  );
}

/**
 * The sentences that are chosen in one field, and not in another one that has a label.
 * @param {Values} values
 * @param {string} chosen
 * @param {string} notChosen
 * @returns {string[]}
 */
function sentencesChosenOnce(values, chosen, notChosen) {
  const sentences = keysIn(valueAt(values, [chosen, null]));
  const otherLabel = valueAt(values, [notChosen, null]);
  if (otherLabel === undefined) {
    return [];
  }
  const otherSentences = keysIn(otherLabel);
  return sentences.filter((sentence) => !otherSentences.includes(sentence)).map(String);
}

/**
 * The labels of all sentences in a field; none as long as one of them is missing.
 * @param {string} name
 * @param {Values} values
 * @param {string[]} keys
 * @returns {Label[]}
 */
function completeLabels(name, values, keys) {
  const labels = [];
  for (const key of keys) {
    const label = valueAt(values, [name, key]);
    if (label === undefined) {
      return [];
    }
    labels.push(label);
  }
  return labels;
}

/**
 * @param {Record<string, Labels>} labelsByField
 * @param {Values} values
 * @param {string[]} keys
 */
function someSentenceHas(labelsByField, values, keys) {
  return Object.entries(labelsByField).every(([name, labels]) => {
    const complete = completeLabels(name, values, keys);
    return complete.some((value) => isOneOf(value, labels));
  });
}

/**
 * @param {Record<string, Labels>} labelsByField
 * @param {Values} values
 * @param {string[]} keys
 */
function everySentenceHas(labelsByField, values, keys) {
  return Object.entries(labelsByField).every(([name, labels]) => {
    const complete = completeLabels(name, values, keys);
    return complete.length > 0 && complete.every((value) => isOneOf(value, labels));
  });
}

/**
 * Whether a value is one of some labels. In a field of sentences, "some" and "none" say how many are chosen.
 * @param {Label | undefined} value
 * @param {Labels} labels
 */
function isOneOf(value, labels) {
  if (value === undefined) {
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
