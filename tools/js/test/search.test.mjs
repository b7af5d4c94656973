// Places of words are UTF-16 units of the text as it is written, because that is how a browser counts in a text node.

import assert from "node:assert/strict";
import { test } from "node:test";

import { folded, hits, matchingTexts, wordsOf } from "../src/search.mjs";

const found = (text, query) => hits(text, wordsOf(query)).map(([start, end]) => text.slice(start, end));

test("letters outside the basic plane count as two", () => {
  assert.deepEqual(hits("👩 Oslo", ["oslo"]), [[3, 7]]);
  assert.deepEqual(hits("𝒜 b 𝒜", ["a"]), [[0, 2], [5, 7]]);
  assert.deepEqual(hits("🇳🇴🇸🇪🇳🇴", ["🇳🇴"]), [[0, 4], [8, 12]]);
});

test("what is tinted is what was searched for, in every script", () => {
  const cases = [
    ["القاهرة، القاهرة", "القاهرة", 2],
    ["אוסלו is Oslo", "אוסלו", 1],
    ["北京 is Ｂeijing", "beijing", 1],
    ["read a\u202egpj.exe\u202c twice", "twice", 1],
    ["नमस्ते दुनिया", "दुनिया", 1],
    ["half \ud83d of a pair", "pair", 1],
    ["<b>bold</b> & more", "<b>", 1],
    ["", "word", 0],
  ];
  for (const [text, query, count] of cases) {
    const places = found(text, query);
    assert.equal(places.length, count, query);
    for (const place of places) {assert.equal(folded(place), folded(query));}
  }
});

test("letters that fold to more or fewer letters move no place", () => {
  const text = "ﬁne cafe\u0301 oslo"; // "ﬁ" becomes two letters, and "e" and its accent one
  assert.equal(folded(text).length, text.length);
  const cases = [
    [text, "fine", ["ﬁne"]],
    [text, "café", ["cafe\u0301"]],
    [text, "oslo", ["oslo"]],
    ["oﬃce, oﬃce", "ice", ["ﬃce", "ﬃce"]],
    ["İstanbul", "stanbul", ["stanbul"]],
    ["İstanbul", "İ", ["İ"]],
    ["ﷺ 👩‍👩‍👧‍👦 ½ Oslo", "oslo", ["Oslo"]],
    ["\u1100\u1161\u11a8 (각)", "각", ["\u1100\u1161\u11a8", "각"]],
    ["\u0301a\u200bＢ½", "b1", ["Ｂ½"]],
  ];
  for (const [searched, query, places] of cases) {assert.deepEqual(found(searched, query), places, query);}
});

test("a search looks for texts and not for patterns, and for all words in any order", () => {
  const texts = ["a.c", "abc", "(", "constructor", "\\d"];
  const cases = { "a.c": [0], "(": [2], "\\d": [4], "[a-z]": [], "": [], " \t\n": [], "c a": [0, 1], __proto__: [] };
  for (const [query, numbers] of Object.entries(cases)) {assert.deepEqual(matchingTexts(texts, query), numbers, query);}
});

test("a long text is searched in time that grows with its length", () => {
  const text = "ﬁne cafe\u0301 oslo ".repeat(10_000);
  const places = hits(text, ["oslo"]);
  assert.equal(places.length, 10_000);
  const [start, end] = places.at(-1);
  assert.equal(text.slice(start, end), "oslo");
});
