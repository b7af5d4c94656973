// Search for all words of a query, in any letter case and width, and however accents were typed. The annotator and the list of
// rows share it.

/**
 * Return a text in the form in which texts are compared.
 * @param {string} text
 * @returns {string}
 */
export function folded(text) {
  return text.normalize("NFKC").toLowerCase();
}

/**
 * Split a query into folded words.
 * @param {string} query
 * @returns {string[]}
 */
export function wordsOf(query) {
  return folded(query).split(/\s+/u).filter(Boolean);
}

/**
 * Find the texts that contain all words of a query.
 * @param {string[]} texts
 * @param {string} query
 * @returns {number[]} numbers of the texts; none for a query without a word
 */
export function matchingTexts(texts, query) {
  const words = wordsOf(query);
  if (!words.length) {
    return [];
  }
  /** @type {number[]} */
  const numbers = [];
  texts.forEach((text, number) => {
    const foldedText = folded(text);
    if (words.every((word) => foldedText.includes(word))) {
      numbers.push(number);
    }
  });
  return numbers;
}

/**
 * Find words in a text. Places are counted in UTF-16 units, as the browser counts them in a text node.
 * @param {string} text
 * @param {string[]} words folded
 * @returns {[start: number, end: number][]} of each occurrence
 */
export function hits(text, words) {
  const { foldedText, placeOf } = foldedWithPlaces(text);
  const places = [];
  for (const word of words) {
    let start = foldedText.indexOf(word);
    while (start >= 0) {
      const end = start + word.length;
      places.push(placeOf(start, end));
      start = foldedText.indexOf(word, end);
    }
  }
  return places;
}

const ASCII = /^\p{ASCII}*$/u;

/**
 * A folded text, and a function that finds the place in the text of a part of the folded text.
 * @typedef {{foldedText: string, placeOf: function(number, number): [start: number, end: number]}} Folded
 */

/**
 * @param {string} text
 * @returns {Folded}
 */
function foldedWithPlaces(text) {
  const foldedText = folded(text);
  if (keepsPlaces(text, foldedText)) {
    return { foldedText, placeOf: (start, end) => [start, end] };
  }
  return foldedByLetters(text);
}

/**
 * Whether each letter of a folded text is at its place in the text. A letter that becomes two ("ﬁ") and two that become one
 * ("e" and an accent) may leave the length of the whole text as it was, so each letter is compared, too.
 * @param {string} text
 * @param {string} foldedText
 * @returns {boolean}
 */
function keepsPlaces(text, foldedText) {
  if (foldedText.length !== text.length) {
    return false;
  }
  return ASCII.test(text) || [...text].every((letter) => folded(letter).length === letter.length);
}

// A letter with its accents, or a Korean syllable in its parts. Folding makes other letters of such a group, but of no others.
const LETTERS = /[\u1100-\u115f][\u1160-\u11a7]*[\u11a8-\u11ff]*|\P{M}\p{M}*|\p{M}+/gu;

/**
 * Fold letter after letter. What is found begins and ends with whole letters of the text.
 * @param {string} text
 * @returns {Folded}
 */
function foldedByLetters(text) {
  const foldedLetters = [];
  /** @type {number[]} */
  const starts = []; // place in the text of the letter from which each unit of the folded text comes
  /** @type {number[]} */
  const ends = [];
  for (const match of text.matchAll(LETTERS)) {
    const [letter] = match;
    const foldedLetter = folded(letter);
    foldedLetters.push(foldedLetter);
    for (let unit = 0; unit < foldedLetter.length; unit += 1) {
      starts.push(match.index);
      ends.push(match.index + letter.length);
    }
  }
  return { foldedText: foldedLetters.join(""), placeOf: (start, end) => [starts[start], ends[end - 1]] };
}
