// Where the hand-out keeps its labels: the browser's storage, with a key for each action. The keys of one annotator begin with
// "ragnb", the id of the hand-out and the name, separated by spaces.

/**
 * Return the browser's storage, or what replaces it as long as the page is open. A storage that is full can still be read.
 * @param {string} id of the hand-out
 * @returns {{storage: Storage, isLasting: boolean}} `isLasting`: whether it is still there after the page was closed
 */
export function storageOf(id) {
  try {
    const hasLabels = Object.keys(localStorage).some((key) => handoutOf(key) === id);
    try {
      localStorage.setItem("ragnb", "1");
    } catch (error) {
      if (!hasLabels) {
        throw error;
      }
    }
    return { storage: localStorage, isLasting: true };
  } catch {
    return { storage: memory(), isLasting: false };
  }
}

// A storage whose keys are its own properties, as those of the browser's storage are.
function memory() {
  /** @type {Record<string, any>} */
  const methods = {
    /** @param {string} key */
    getItem(key) {
      return this[key];
    },
    /**
     * @param {string} key
     * @param {string} value
     */
    setItem(key, value) {
      this[key] = value;
    },
    /** @param {string} key */
    removeItem(key) {
      delete this[key];
    },
  };
  return Object.create(methods);
}

/**
 * Return the beginning of the keys of one annotator.
 * @param {string} id of the hand-out
 * @param {string} name
 * @returns {string}
 */
export function prefixOf(id, name) {
  return `ragnb ${id} ${encodeURIComponent(name)} `;
}

/**
 * Return the key that says which action was the last one in a file that was downloaded.
 * @param {string} id of the hand-out
 * @param {string} name
 * @returns {string}
 */
export function markOf(id, name) {
  return `ragnb-downloaded ${id} ${encodeURIComponent(name)}`;
}

/**
 * Return the names of the annotators who have labels in a storage.
 * @param {Storage} storage
 * @param {string} id of the hand-out
 * @returns {string[]} sorted
 */
export function annotatorsIn(storage, id) {
  const keys = Object.keys(storage).filter((key) => key.startsWith("ragnb ") && handoutOf(key) === id);
  const names = keys.map(nameIn).filter((name) => name !== null && name !== "");
  return [...new Set(/** @type {string[]} */ (names))].sort();
}

/**
 * @param {string} key
 * @returns {string}
 */
function handoutOf(key) {
  const [, id] = key.split(" ");
  return id;
}

/**
 * Another page may have written a name that is none: then null.
 * @param {string} key
 * @returns {string | null}
 */
function nameIn(key) {
  const [, , name] = key.split(" ");
  try {
    return decodeURIComponent(name);
  } catch {
    return null;
  }
}
