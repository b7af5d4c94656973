// Numbers as text, as Python's format() writes them: f"{x:.3f}", f"{x:g}", and ragnb's p-values and percentages.

const MORE = 60; // decimals beyond those that are printed, which toFixed writes exactly

/**
 * Format with a number of decimals, without the sign of a number that is printed as zero.
 * @param {number} value
 * @param {number} digits
 * @returns {string}
 */
export function fixed(value, digits) {
  if (!Number.isFinite(value)) {
    return notFinite(value);
  }
  const text = roundedToEven(Math.abs(value), digits);
  return value < 0 && Number(text) !== 0 ? `-${text}` : text;
}

/**
 * A number that is exactly between two printed ones is rounded to the even one. `toFixed` would round it up.
 * @param {number} size
 * @param {number} digits
 * @returns {string}
 */
function roundedToEven(size, digits) {
  const exact = size.toFixed(digits + MORE);
  const isTie = size < 1e15 && /^50*$/.test(exact.slice(-MORE));
  const below = exact.slice(0, -MORE).replace(/\.$/, "");
  return isTie && Number(below.at(-1)) % 2 === 0 ? below : size.toFixed(digits);
}

/**
 * @param {number} value
 * @returns {string}
 */
function notFinite(value) {
  if (Number.isNaN(value)) {
    return "nan";
  }
  return value > 0 ? "inf" : "-inf";
}

/**
 * Format with significant digits, as Python's `g` does.
 * @param {number} value
 * @param {number} digits
 * @returns {string}
 */
export function general(value, digits = 6) {
  if (!Number.isFinite(value)) {
    return notFinite(value);
  }
  if (value === 0) {
    return "0";
  }
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const power = Number(exponent);
  if (power < -4 || power >= digits) {
    const sign = power < 0 ? "-" : "+";
    return `${withoutZeros(mantissa)}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  return withoutZeros(fixed(value, digits - 1 - power));
}

/**
 * @param {string} text
 * @returns {string}
 */
function withoutZeros(text) {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/**
 * @param {number} share
 * @returns {string}
 */
export function percent(share) {
  return `${general(100 * share)}%`;
}

/**
 * @param {number} p
 * @returns {string}
 */
export function pValue(p) {
  if (Number.isNaN(p)) {
    return "p undefined";
  }
  if (p < 1e-12) {
    return "p < 1e-12";
  }
  return p >= 1e-3 ? `p = ${fixed(p, 4)}` : `p = ${general(p, 2)}`;
}
