// Labels of one item that cannot all be right. Each task declares them (`Contradiction` in ragnb/annotation/tasks.py).

import { valueAt } from "./work.mjs";

/**
 * Find the contradictions in the labels of an item. A place without a label contradicts nothing.
 * @param {import("./types.js").Task} task
 * @param {object} values by field, and by sentence where a field is asked of each
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

// The sentences with contradictory labels. For labels of the whole item, this is one empty key.
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

// The sentences that are chosen in one field, and not in another one that has a label.
function sentencesChosenOnce(values, chosen, notChosen) {
  const sentences = valueAt(values, [chosen, null]) ?? [];
  const otherSentences = valueAt(values, [notChosen, null]) ?? sentences;
  return sentences.filter((sentence) => !otherSentences.includes(sentence));
}

// The labels of all sentences in a field; none as long as one of them is missing.
function completeLabels(name, values, keys) {
  const labels = keys.map((key) => valueAt(values, [name, key]));
  return labels.includes(undefined) ? [] : labels;
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

// Whether a value is one of some labels. In a field of sentences, "some" and "none" say how many are chosen.
function isOneOf(value, labels) {
  if (value === undefined) {
    return false;
  }
  if (labels === "some") {
    return value.length > 0;
  }
  return labels === "none" ? value.length === 0 : labels.includes(value);
}
