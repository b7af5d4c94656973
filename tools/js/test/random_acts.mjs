// Random acts on a page that was handed out: what it shows at the end, and the file of labels. Run by test_handout.py.

import { readFileSync } from "node:fs";

import { read, written } from "../src/labels_file.mjs";
import { LocalModel } from "../src/local.mjs";

const [path, seed, count] = process.argv.slice(2);
const handout = JSON.parse(readFileSync(path, "utf8"));
let state = Number(seed);
const below = (n) => { state = (state * 48271) % 2147483647; return state % n; };
const NAMES = ["refusal", "Refusal ", "wrong  language", "<b>", "لغة خاطئة", "🤖", "x".repeat(101), "", "a", "b", "İ", "Straße"];
const of = (list) => list[below(list.length)];

const memory = () => Object.create({ getItem(key) { return this[key]; }, setItem(key, value) { this[key] = value; } });
const model = new LocalModel(handout, memory(), "test ");
for (let k = 0; k < Number(count); k += 1) {
  const number = model.number, { page } = handout.items[number];
  const [field, sentence] = of(page.places);
  const { kind, of: part, options } = model.field(field);
  const keys = page.parts.filter(({ name }) => name === part).flatMap(({ sentences }) => sentences.map(([key]) => key));
  const some = keys.filter(() => below(3) === 0);
  const tags = [...model.presentCodebook.tags.keys()].filter(() => below(3) === 0);
  const name = of(NAMES);
  const values = { sentences: () => some, tags: () => tags, text: () => name, choice: () => of(options).value };
  const value = of([null, values[kind]()]);
  if (kind === "tags" && below(2)) {
    const change = of(["tag", "tag", "rename", "define", "merge"]);
    const content = change === "tag" ? { act: "tag", field, name } : { act: "codebook", change, tag: of(tags) ?? name, name, definition: of(NAMES), into: of(tags) ?? of(NAMES) };
    model.send({ number, ...content });
    continue;
  }
  model.send({
    act: of(["label", "label", "label", "toggle", "accept", "flag", "skip", "note", "undo", "undo", "redo", "move", "next", "done", "go"]),
    number, field, sentence, value, keys: kind === "sentences" ? some : kind === "tags" ? tags : [], on: of([true, false, null]), text: `note ${k}`, step: of([1, -1]), to: below(handout.items.length),
  });
}
await null;
const file = written(handout, "Ana", model.actions);
const again = read(file, handout).actions.map(([key, action]) => ({ key, ...action }));
const shown = handout.items.map((_, n) => {
  const { values, status, flag, note, can_undo, can_redo, suggested, codebook } = model.state(n);
  return { values, status, flag, note, can_undo, can_redo, suggested, codebook };
});
console.log(JSON.stringify({ file, shown, progress: model.progress(), same: written(handout, "Ana", again) === file }));
