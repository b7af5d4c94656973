// The box below the labels in which somebody writes tags, and the codebook: names, definitions, and merges.

import { node } from "./dom.mjs";

/** A box for tags. It stays hidden if the task has no field of tags. */
export class TagBox {
  constructor(annotator) {
    this.annotator = annotator;
    this.work = annotator.work;
    this.field = this.work.task.fields.find(({ kind }) => kind === "tags");
    this.rows = new Map(); // by the id of the tag
    this.draw();
  }

  draw() {
    this.choices = node("datalist", { id: `tags-${Math.random().toString(36).slice(2)}` });
    this.input = node("input", {
      type: "text",
      dir: "auto",
      autocomplete: "off",
      placeholder: "write a tag",
      "aria-label": "write a tag; Enter gives it to the item",
      list: this.choices.id,
      onkeydown: (event) => this.onKey(event),
    });
    const add = node("button", { type: "button", class: "act", onclick: () => this.give() }, "add tag");
    this.summary = node("summary", {});
    this.table = node("div", { class: "codebook" });
    this.panel = node("details", { class: "tags" }, this.summary, this.table);
    this.box = node("div", { class: "tagbox", hidden: !this.field }, this.input, " ", add, this.choices, this.panel);
  }

  focus() {
    this.input.focus();
  }

  // While Chinese or Japanese is typed, Enter belongs to the input method.
  onKey(event) {
    if (event.key !== "Enter" || event.isComposing) {
      return;
    }
    event.preventDefault();
    this.give();
  }

  // Gives the item the tag in the box. The box keeps the focus, so that several tags can follow.
  give() {
    const name = this.input.value.trim();
    if (!name) {
      return;
    }
    this.annotator.send("tag", { field: this.field.name, name });
    this.input.value = "";
    this.input.focus();
  }

  paint() {
    if (!this.field) {
      return;
    }
    const { codebook } = this.work.state;
    const uses = codebook.map(([, name]) => node("option", { value: name }));
    this.choices.replaceChildren(...uses);
    this.summary.textContent = `codebook: ${codebook.length} ${codebook.length === 1 ? "tag" : "tags"}`;
    const ids = codebook.map(([id]) => id);
    if (JSON.stringify(ids) !== JSON.stringify([...this.rows.keys()])) {
      this.drawRows(codebook);
    }
    for (const [id, name, definition, count] of codebook) {
      this.paintRow(this.rows.get(id), { id, name, definition, count }, codebook);
    }
  }

  drawRows(codebook) {
    this.rows = new Map(codebook.map(([id]) => [id, this.row(id)]));
    this.table.replaceChildren(...[...this.rows.values()].map(({ box }) => box));
  }

  row(id) {
    const send = (change, content) => this.annotator.send("codebook", { change, tag: id, ...content });
    const name = node("input", {
      type: "text",
      dir: "auto",
      "aria-label": "name of the tag",
      onchange: () => send("rename", { name: name.value }),
    });
    const definition = node("textarea", {
      rows: 1,
      dir: "auto",
      "aria-label": "definition of the tag",
      placeholder: "definition: what counts, what does not",
      onchange: () => send("define", { definition: definition.value }),
    });
    const into = node("select", { "aria-label": "merge the tag into", onchange: () => send("merge", { into: into.value }) });
    const count = node("span", { class: "count" });
    return { box: node("div", { class: "tag" }, name, count, into, definition), name, definition, into, count };
  }

  // What somebody is writing in stays as it is.
  paintRow({ name, definition, into, count }, tag, codebook) {
    const isFree = (input) => document.activeElement !== input;
    if (isFree(name)) {
      name.value = tag.name;
    }
    if (isFree(definition)) {
      definition.value = tag.definition;
    }
    count.textContent = `${tag.count} ${tag.count === 1 ? "item" : "items"}`;
    const others = codebook.filter(([id]) => id !== tag.id).map(([id, label]) => node("option", { value: id }, label));
    into.replaceChildren(node("option", { value: "" }, "merge into …"), ...others);
    into.value = "";
  }
}
