// What an explorable shows at a position of its controls: one of the frames, or a frame that follows from counts of labels.

/** @typedef {import("./types.js").Control} Control */
/** @typedef {[name: string, text: string]} Meter a name, and a value between 0 and 1 */
/** @typedef {[sentence: string, text: string, value: number]} MeterPart */

/**
 * A part of the sentence with its value, or a table of such parts by the number of texts that have all of some labels.
 * @typedef {MeterPart | {labels: string[], entries: Table[]}} Table
 */

/**
 * Meters, each with a table by counts of labels, and the sentence on their average.
 * @typedef {{meters: {name: string, table: Table}[], average: string}} Counts
 */

/**
 * Find the frame of the present positions of the controls. The last control changes fastest.
 * @param {Control[]} controls
 * @returns {number}
 */
export function framePosition(controls) {
  let position = 0;
  for (const { values, at } of controls) {
    position = position * values.length + at;
  }
  return position;
}

/**
 * Make the frame of a scene that has too many states for a frame of each. Python computes the same sentence
 * (`Counts` in ragnb/explorables/scene.py).
 * @param {Counts} counts
 * @param {Control[]} controls buttons with a label and the key of the text that they mark
 * @returns {{sentence: string, lines: [string, string][], meters: Meter[]}} a frame
 */
export function countedFrame({ meters, average }, controls) {
  const sentences = [];
  /** @type {Meter[]} */
  const values = [];
  let total = 0;
  for (const { name, table } of meters) {
    const [sentence, text, value] = partOf(table, controls);
    sentences.push(sentence);
    values.push([name, text]);
    total += value;
  }
  const mean = total / meters.length;
  sentences.push(average.replace("{}", rounded(mean)));
  return { sentence: sentences.join(" "), lines: [], meters: values };
}

/**
 * Three decimals; a half is rounded up, as in Python.
 * @param {number} value
 * @returns {string}
 */
function rounded(value) {
  return (Math.floor(value * 1000 + 0.5) / 1000).toFixed(3);
}

/**
 * @param {Table} table
 * @param {Control[]} controls
 * @returns {MeterPart}
 */
function partOf(table, controls) {
  let entry = table;
  while (!Array.isArray(entry)) {
    entry = entry.entries[countOf(entry.labels, controls)];
  }
  return entry;
}

/**
 * How many texts have all of some labels.
 * @param {string[]} labels
 * @param {Control[]} controls
 * @returns {number}
 */
function countOf(labels, controls) {
  const [keys, ...otherKeys] = labels.map((label) => keysWith(label, controls));
  return keys.filter((key) => otherKeys.every((others) => others.includes(key))).length;
}

/**
 * @param {string} label
 * @param {Control[]} controls
 */
function keysWith(label, controls) {
  const marked = controls.filter((control) => control.label === label && control.at > 0);
  return marked.map(({ key }) => key);
}
