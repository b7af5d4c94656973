// The codebook of an error analysis in the hand-out. It repeats ragnb/annotation/codebook.py: who changes a rule there changes
// it here, too. tests/widgets/js/random_acts.mjs compares both.

/** @import { Action, CodebookChange, Task } from "./types.js" */

/**
 * A tag, with the names that it had earlier.
 * @typedef {{id: string, name: string, definition: string, earlier: string[]}} Tag
 */

const LONGEST_TAG = 100; // characters

/** A change that a person has to reconsider, with a sentence that says why. */
export class Refusal extends Error {}

/**
 * Return the name of a tag with single spaces, or throw a Refusal.
 * @param {string} text
 * @returns {string}
 */
export function tagName(text) {
  const name = text.trim().replace(/\s+/gu, " ");
  const length = [...name].length;
  if (!name) {
    throw new Refusal("the name of a tag must not be blank");
  }
  if (length > LONGEST_TAG) {
    const advice = "put what the tag means into its definition";
    throw new Refusal(`the name of a tag may have at most ${LONGEST_TAG} characters, got ${length}; ${advice}`);
  }
  return name;
}

/**
 * What two names have in common that differ only in letter case or white space.
 * @param {string} name
 * @returns {string}
 */
function keyOf(name) {
  return name.normalize("NFC").toLowerCase().trim().replace(/\s+/gu, " ");
}

/** Tags after some changes. A change that makes no sense, as two open pages can cause, has no effect. */
export class Codebook {
  /**
   * @param {[name: string, definition: string][]} definitions of the first tags
   */
  constructor(definitions = []) {
    /** @type {Map<string, Tag>} */
    this.tags = new Map(); // by id
    /** @type {Map<string, string>} */
    this.merged = new Map(); // the id of each tag that was merged, and that of the tag into which it was merged
    for (const [name, definition] of definitions) {
      this.add(name, name, definition);
    }
  }

  // ---- changes -----------------------------------------------------------------------------------------------------

  /** @param {CodebookChange} change */
  apply(change) {
    const tag = this.tags.get(change.tag);
    if (change.change === "add") {
      this.add(change.tag, change.name, change.definition);
    } else if (change.change === "merge") {
      this.merge(change.tag, change.into);
    } else if (tag && change.change === "rename") {
      if (change.name !== tag.name) {
        tag.earlier.push(tag.name);
        tag.name = change.name;
      }
    } else if (tag && change.change === "define") {
      tag.definition = change.definition;
    }
  }

  /**
   * The tag with an id, which is added unless there is one. If there is one, it only gets the definition that it lacks.
   * @param {string} id
   * @returns {Tag}
   */
  add(id, name = id, definition = "") {
    const tag = this.tags.get(this.present(id));
    if (tag) {
      tag.definition ||= definition;
      return tag;
    }
    const added = { id, name, definition, earlier: [] };
    this.tags.set(id, added);
    return added;
  }

  /**
   * @param {string} id
   * @param {string} into the id of another tag
   */
  merge(id, into) {
    const source = this.add(id);
    const target = this.add(into);
    if (source === target) {
      return;
    }
    this.tags.delete(source.id);
    this.merged.set(source.id, target.id);
    target.earlier.push(source.name, ...source.earlier);
    target.definition ||= source.definition;
  }

  // ---- names and ids -----------------------------------------------------------------------------------------------

  /**
   * The id of the tag that this tag is now.
   * @param {string} id
   * @returns {string}
   */
  present(id) {
    const into = this.merged.get(id);
    return into === undefined ? id : this.present(into);
  }

  /**
   * The present ids of some tags, each once and in the order of the codebook.
   * @param {string[]} ids
   * @returns {string[]}
   */
  resolved(ids) {
    const present = new Set(ids.map((id) => this.present(id)));
    const known = [...this.tags.keys()].filter((id) => present.has(id));
    const lost = [...present].filter((id) => !this.tags.has(id));
    return [...known, ...lost];
  }

  /**
   * The tag that has a name, or had it earlier; null if there is none.
   * @param {string} name
   * @returns {Tag | null}
   */
  tagNamed(name) {
    const key = keyOf(name);
    const tags = [...this.tags.values()];
    const isEarlierName = (/** @type {Tag} */ { id, earlier }) => [id, ...earlier].some((other) => keyOf(other) === key);
    return tags.find((candidate) => keyOf(candidate.name) === key) ?? tags.find(isEarlierName) ?? null;
  }

  /**
   * The id of the tag that has a name, or had it earlier; null if there is none.
   * @param {string} name
   * @returns {string | null}
   */
  find(name) {
    return this.tagNamed(name)?.id ?? null;
  }

  /**
   * A name for a new tag, or for another tag.
   * @param {string} text
   * @param {string | null} id of the other tag
   * @returns {string}
   */
  newName(text, id = null) {
    const name = tagName(text);
    const other = this.tagNamed(name);
    if (other === null || other.id === id) {
      return name;
    }
    const wasCalled = keyOf(other.name) === keyOf(name) ? "" : `, which was called "${name}" before`;
    const advice = id === null ? "use it" : "merge the two tags";
    throw new Refusal(`the codebook already has the tag "${other.name}"${wasCalled}; ${advice}, or choose another name`);
  }
}

/**
 * Return the codebook after some actions that were not undone.
 * @param {Task} task
 * @param {Action[]} actions
 * @returns {Codebook}
 */
export function codebookAfter(task, actions) {
  const codebook = new Codebook(task.codebook);
  for (const action of actions) {
    if (action.action === "codebook") {
      codebook.apply(action);
    }
    // Tags of labels whose addition is lost.
    for (const { field, value } of action.set ?? []) {
      if (isTags(task, field)) {
        for (const id of /** @type {string[] | null} */ (value) ?? []) {
          codebook.add(id);
        }
      }
    }
  }
  return codebook;
}

/**
 * Tell whether a field of a task contains tags.
 * @param {Task} task
 * @param {string} name of the field
 * @returns {boolean}
 */
export function isTags({ fields }, name) {
  return fields.some((field) => field.name === name && field.kind === "tags");
}
