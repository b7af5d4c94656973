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
export function found(texts, query) {
  const words = wordsOf(query);
  if (!words.length) return [];
  return texts.flatMap((text, number) => (words.every((word) => folded(text).includes(word)) ? [number] : []));
}

/**
 * Find words in a text.
 * @param {string} text
 * @param {string[]} words folded
 * @returns {number[][]} start and end of each occurrence
 */
export function hits(text, words) {
  const plain = folded(text);
  if (plain.length !== text.length) return []; // letters that change their length have moved what follows
  return words.flatMap((word) => {
    const places = [];
    for (let at = plain.indexOf(word); at >= 0; at = plain.indexOf(word, at + word.length)) places.push([at, at + word.length]);
    return places;
  });
}
