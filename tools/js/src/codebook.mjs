// The codebook of an error analysis in the hand-out. It repeats ragnb/annotation/codebook.py: who changes a rule there changes
// it here, too. tests/widgets/js/random_acts.mjs compares both.

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
    /** @type {Map<string, {id: string, name: string, definition: string, earlier: string[]}>} */
    this.tags = new Map(); // by id
    /** @type {Map<string, string>} */
    this.merged = new Map(); // the id of each tag that was merged, and that of the tag into which it was merged
    for (const [name, definition] of definitions) {
      this.add(name, name, definition);
    }
  }

  // ---- changes -----------------------------------------------------------------------------------------------------

  /** @param {Partial<import("./types.js").CodebookChange>} change */
  apply({ change, tag, name, definition, into }) {
    if (change === "add") {
      this.add(tag, name, definition);
    } else if (change === "merge") {
      this.merge(tag, into);
    } else if (this.tags.has(tag) && change === "rename") {
      const renamed = this.tags.get(tag);
      if (name !== renamed.name) {
        renamed.earlier.push(renamed.name);
        renamed.name = name;
      }
    } else if (this.tags.has(tag)) {
      this.tags.get(tag).definition = definition;
    }
  }

  /**
   * If there is such a tag already, it only gets the definition that it lacks.
   * @param {string} id
   */
  add(id, name = id, definition = "") {
    const tag = this.tags.get(this.present(id));
    if (tag) {
      tag.definition ||= definition;
    } else {
      this.tags.set(id, { id, name, definition, earlier: [] });
    }
  }

  /**
   * @param {string} id
   * @param {string} into the id of another tag
   */
  merge(id, into) {
    this.add(id);
    this.add(into);
    const source = this.present(id);
    const target = this.present(into);
    if (source === target) {
      return;
    }
    const merged = this.tags.get(source);
    const kept = this.tags.get(target);
    this.tags.delete(source);
    this.merged.set(source, target);
    kept.earlier.push(merged.name, ...merged.earlier);
    kept.definition ||= merged.definition;
  }

  // ---- names and ids -----------------------------------------------------------------------------------------------

  /**
   * The id of the tag that this tag is now.
   * @param {string} id
   * @returns {string}
   */
  present(id) {
    return this.merged.has(id) ? this.present(this.merged.get(id)) : id;
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
   * The id of the tag that has a name, or had it earlier; null if there is none.
   * @param {string} name
   * @returns {string | null}
   */
  find(name) {
    const key = keyOf(name);
    const tags = [...this.tags.values()];
    const isEarlierName = (/** @type {{id: string, earlier: string[]}} */ { id, earlier }) => [id, ...earlier].some((other) => keyOf(other) === key);
    const tag = tags.find((candidate) => keyOf(candidate.name) === key) ?? tags.find(isEarlierName);
    return tag ? tag.id : null;
  }

  /**
   * A name for a new tag, or for another tag.
   * @param {string} text
   * @param {string | null} id of the other tag
   * @returns {string}
   */
  newName(text, id = null) {
    const name = tagName(text);
    const other = this.find(name);
    if (other === null || other === id) {
      return name;
    }
    const present = this.tags.get(other).name;
    const wasCalled = keyOf(present) === keyOf(name) ? "" : `, which was called "${name}" before`;
    const advice = id === null ? "use it" : "merge the two tags";
    throw new Refusal(`the codebook already has the tag "${present}"${wasCalled}; ${advice}, or choose another name`);
  }
}

/**
 * Return the codebook after some actions that were not undone.
 * @param {import("./types.js").Task} task
 * @param {import("./types.js").Action[]} actions
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
 * @param {import("./types.js").Task} task
 * @param {string} name of the field
 * @returns {boolean}
 */
export function isTags({ fields }, name) {
  return fields.some((field) => field.name === name && field.kind === "tags");
}
