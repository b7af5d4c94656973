// What was thrown, which need not be an error.

/**
 * Return the message of what was thrown.
 * @param {unknown} error
 * @returns {string}
 */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
