// What an explorable shows at a position of its controls: one of the frames, or a frame that follows from counts of labels.

/**
 * Find the frame of the present positions of the controls. The last control changes fastest.
 * @param {object[]} controls
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
 * @param {object} counts meters, each with a table by counts of labels, and the sentence on their average
 * @param {object[]} controls buttons with a label and the key of the text that they mark
 * @returns {object} a frame
 */
export function countedFrame({ meters, average }, controls) {
  const sentences = [];
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

// Three decimals; a half is rounded up, as in Python.
function rounded(value) {
  return (Math.floor(value * 1000 + 0.5) / 1000).toFixed(3);
}

// An entry of a table is a part of the sentence with its value, or another table.
function partOf(table, controls) {
  let entry = table;
  while (!Array.isArray(entry)) {
    entry = entry.entries[countOf(entry.labels, controls)];
  }
  return entry;
}

// How many texts have all of some labels.
function countOf(labels, controls) {
  const [keys, ...otherKeys] = labels.map((label) => keysWith(label, controls));
  return keys.filter((key) => otherKeys.every((others) => others.includes(key))).length;
}

function keysWith(label, controls) {
  const marked = controls.filter((control) => control.label === label && control.at > 0);
  return marked.map(({ key }) => key);
}
