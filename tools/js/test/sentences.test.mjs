// The texts of an item: whatever they contain, each sentence is one line with its own key, and what is picked are those keys.

import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.mjs";
import { node } from "../src/dom.mjs";
import { Sentences } from "../src/sentences.mjs";
import { Work } from "../src/work.mjs";

const field = (name, more) => ({ name, key: name[0], kind: "sentences", each: false, of: "documents", required: true, options: [], label: name, ...more });
const CHOICES = [{ value: "full", sign: "✓" }, { value: 7, sign: "7" }, { value: false, sign: "✗" }];

// An annotator without a frame, on a page with some parts.
function annotator({ parts, fields = [field("relevant")], unit = "response", each = [], keyed = [], values = {}, suggested = {}, others = [] }) {
  const places = fields.flatMap(({ name, each: isEach }) => (isEach ? each.map((key) => [name, key]) : [[name, null]]));
  const content = {
    task: { fields, unit, contradictions: [] },
    page: { number: 0, parts, keyed, each, places, options: {} },
    state: { values, suggested, others, missing: places },
  };
  const frame = { root: node("div"), toggles: [], work: new Work({ get: (name) => content[name] }) };
  frame.go = (goThere) => goThere();
  frame.toggle = (lead) => frame.toggles.push(frame.sentences.take(lead));
  frame.sentences = new Sentences(frame);
  frame.work.begin();
  const [documentBoxes, otherBoxes] = frame.sentences.draw();
  frame.root.append(...documentBoxes, ...otherBoxes);
  frame.sentences.paint();
  return frame;
}

const part = (name, sentences, heading = name) => ({ name, heading, sentences });
const wordsOf = ({ root }) => root.querySelectorAll(".words").filter(({ tagName }) => tagName === "SPAN").map(({ textContent }) => textContent);
const keyed = (texts) => texts.map((text, number) => [`0${String.fromCharCode(97 + number)}`, text]);
const classesOf = (line) => line.node.className.split(" ").filter((name) => name !== "sentence");

const TEXTS = [
  "", " ", "plain", "<b onclick=alert(1)>bold</b>", "&amp; &#x3c;script&#x3e;", "javascript:alert(1)", "a\nb\tc\u0000d",
  "القاهرة عاصمة مصر (Cairo).", "מהי בירת נורווגיה?", "read a\u202egpj.exe\u202c twice", "\u2066isolated", "👩‍👩‍👧‍👦 family", "🇳🇴🇸🇪", "e\u0301 and é",
  "half \ud83d a pair", "\udc00", "𝒜𝒷", "北京", "नमस्ते", "🏳️‍🌈".repeat(3), "x".repeat(5000), "$& $1 {}", "__proto__", "${1}",
];

test("every text is shown letter by letter as it is, and becomes no element", () => {
  const frame = annotator({ parts: [part("documents", keyed(TEXTS)), part("response", [["a", TEXTS[3]]])] });
  assert.deepEqual(wordsOf(frame), [...TEXTS, TEXTS[3]]);
  const known = new Set(["DIV", "SECTION", "SPAN", "SUP", "SMALL", "BUTTON", "KBD"]);
  assert.deepEqual(frame.root.descendants.filter(({ tagName }) => !known.has(tagName)), []);
});

test("each sentence finds its own direction, and words follow that of their text", () => {
  const parts = [part("documents", [["0a", "القاهرة"]]), part("words", [["0-3", "אוסלו"], ["3-4", " "]])];
  const { sentences } = annotator({ parts, keyed: ["documents"] });
  assert.equal(sentences.lines.documents[0].node.attributes.dir, "auto");
  assert.equal(sentences.lines.words[0].node.attributes.dir, undefined);
  const [lead] = sentences.lines.documents[0].node.querySelectorAll("small");
  assert.deepEqual([lead.textContent, lead.attributes.dir], ["[0a]", "ltr"], "a key stays readable in Arabic");
});

test("an item without any text can be painted, moved in and searched", () => {
  for (const parts of [[], [part("response", [])], [part("documents", [["0a", ""]])]]) {
    const { sentences } = annotator({ parts });
    sentences.move(1, false, false);
    assert.deepEqual(sentences.find("word"), [-1, 0]);
    assert.deepEqual(sentences.picked().length, parts[0]?.name === "documents" ? 1 : 0);
  }
});

test("marked words are the keys that Python gave them, in code points, whatever UTF-16 makes of their letters", () => {
  // In "👩 is 🇳🇴 here", Python counts 👩 as one letter and the flag as two. JavaScript counts twice as many of each.
  const text = "👩 is 🇳🇴 here";
  const codePoints = [...text];
  const spans = [[0, 1], [1, 2], [2, 4], [4, 5], [5, 7], [7, 8], [8, 12]];
  const words = spans.map(([start, end]) => [`${start}-${end}`, codePoints.slice(start, end).join("")]);
  assert.equal(words.map(([, word]) => word).join(""), text);
  assert.equal(text.length - codePoints.length, 3);
  const frame = annotator({ parts: [part("words", words)], fields: [field("unsupported", { of: "words" })] });
  const { sentences } = frame;
  sentences.onPress({ button: 0, preventDefault() {} }, sentences.lines.words[2]);
  sentences.onDrag(sentences.lines.words[4]);
  document.dispatch("mouseup");
  assert.deepEqual(frame.toggles, [{ keys: ["2-4", "4-5", "5-7"], on: true }]);
});

test("a range goes backwards as well, and becomes the opposite of where it begins", () => {
  const values = { relevant: ["0c"] };
  const frame = annotator({ parts: [part("documents", keyed(["A", "B", "C", "D"]))], values });
  const { sentences } = frame;
  const [, second, third] = sentences.lines.documents;
  sentences.onPress({ button: 0, preventDefault() {} }, third);
  sentences.onDrag(second);
  document.dispatch("mouseup");
  sentences.onPress({ button: 0, preventDefault() {} }, second);
  document.dispatch("mouseup");
  assert.deepEqual(frame.toggles, [{ keys: ["0b", "0c"], on: false }, { keys: ["0b"], on: null }]);
});

test("other buttons and Alt select text, and the mouse over another part picks nothing", () => {
  const frame = annotator({ parts: [part("documents", keyed(["A", "B"])), part("response", [["a", "R"]])] });
  const { sentences } = frame;
  const [first] = sentences.lines.documents;
  sentences.onPress({ button: 2, preventDefault() {} }, first);
  sentences.onPress({ button: 0, altKey: true, preventDefault() {} }, first);
  document.dispatch("mouseup");
  assert.deepEqual(frame.toggles, []);
  sentences.onPress({ button: 0, preventDefault() {} }, first);
  sentences.onDrag(sentences.lines.response[0]);
  document.dispatch("mouseup");
  assert.deepEqual(frame.toggles, [{ keys: ["0a"], on: null }]);
});

test("keys that go sideways follow the text, and Shift extends the range over what is in sight", () => {
  const frame = annotator({ parts: [part("documents", keyed(["A", "B", "C", "D"]))] });
  const { sentences } = frame;
  const lines = sentences.lines.documents;
  sentences.move(1, false, true);
  assert.equal(sentences.here, lines[1]);
  lines[1].node.direction = "rtl";
  sentences.move(1, false, true);
  assert.equal(sentences.here, lines[0]);
  lines[2].node.isVisible = false;
  sentences.move(1, true, false);
  sentences.move(1, true, false);
  assert.deepEqual(sentences.take().keys, ["0a", "0b", "0d"]);
  sentences.move(Infinity, false, false);
  assert.equal(sentences.here, lines[3]);
});

test("a line shows what was chosen, what is suggested, who else chose it, and the verdicts", () => {
  const fields = [field("relevant"), field("utilized"), field("verdict", { kind: "choice", each: true, options: CHOICES })];
  const frame = annotator({
    parts: [part("documents", keyed(["A", "B"])), part("response", [["a", "R"], ["b", "S"], ["c", "T"]])],
    fields,
    each: ["a", "b", "c"],
    values: { relevant: ["0a"], verdict: { a: "full", b: false } },
    suggested: { utilized: ["0a", "0b"], verdict: { c: 7 } },
    others: [{ name: "Zoe", values: { relevant: ["0b"] } }, { name: "Yan", values: { relevant: ["0b", "0a"] } }],
  });
  const { documents, response } = frame.sentences.lines;
  const badges = (lines) => lines.map((line) => line.badges.textContent);
  assert.deepEqual(badges(documents), ["R U? r:Yan", "U? r:Zoe+Yan"]);
  assert.deepEqual(badges(response), ["✓", "✗", "7?"]);
  assert.deepEqual(classesOf(documents[0]), ["on", "guess", "cursor"]);
  assert.deepEqual(classesOf(documents[1]), ["held", "guess"]);
  assert.deepEqual(classesOf(response[0]), ["current"]);
});

test("marked words that follow each other have one letter, at their end", () => {
  const words = [["0-1", "A"], ["1-2", "B"], ["2-3", "C"], ["3-4", "D"]];
  const fields = [field("unsupported", { of: "words" })];
  const { sentences } = annotator({ parts: [part("words", words)], fields, values: { unsupported: ["0-1", "1-2", "3-4"] } });
  assert.deepEqual(sentences.lines.words.map((line) => line.badges.textContent), ["", "U", "", "U"]);
});

test("a long document is folded until a hit or a key unfolds it; words never are", () => {
  const many = keyed(Array.from({ length: 41 }, (_, number) => `sentence ${number}`));
  const { sentences, root } = annotator({ parts: [part("documents", many), part("words", many)] });
  const [document_, words] = root.querySelectorAll("section");
  assert.deepEqual([document_.classList.contains("folded"), words.classList.contains("folded")], [true, false]);
  assert.match(document_.querySelector(".more").textContent, /^… 33 more sentences/);
  assert.deepEqual(sentences.find("sentence 40"), [0, 2]);
  assert.equal(document_.classList.contains("folded"), false);
});

test("hits are visited in the order of the page, around its end", () => {
  const parts = [part("documents", keyed(["heat", "cold", "HEAT pump"])), part("response", [["a", "ｈｅａｔ"]])];
  const { sentences } = annotator({ parts });
  assert.deepEqual(sentences.find("heat"), [0, 3]);
  const visited = [1, 1, 1, -1].map((step) => sentences.nextHit(step)[0]);
  assert.deepEqual(visited, [1, 2, 0, 2]);
  assert.deepEqual(sentences.hits.map(({ key }) => key), ["0a", "0c", "a"]);
});
