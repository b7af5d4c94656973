// Search: all words of a query, whatever their letter case, their width, and how their accents were typed.

export function folded(text) {
  return text.normalize("NFKC").toLowerCase();
}

export function wordsOf(query) {
  return folded(query).split(/\s+/u).filter(Boolean);
}

// Numbers of the texts that hold all words of a query; none without a word.
export function found(texts, query) {
  const words = wordsOf(query);
  if (!words.length) return [];
  return texts.flatMap((text, number) => (words.every((word) => folded(text).includes(word)) ? [number] : []));
}

// Find words in a text: [start, end] of each occurrence.
export function hits(text, words) {
  const plain = folded(text);
  if (plain.length !== text.length) return []; // letters that change their length have moved what follows
  return words.flatMap((word) => {
    const places = [];
    for (let at = plain.indexOf(word); at >= 0; at = plain.indexOf(word, at + word.length)) places.push([at, at + word.length]);
    return places;
  });
}
