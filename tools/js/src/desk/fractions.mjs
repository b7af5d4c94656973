// Exact fractions of decimal numbers, for the check of a published mean.

/**
 * @typedef {{top: bigint, bottom: bigint}} Fraction the bottom is above 0
 */

/**
 * The fraction that a decimal number is, such as "0.25", ".5", "3" or "1e-7".
 * @param {string} text
 * @returns {Fraction}
 */
export function fraction(text) {
  const [mantissa, exponent = "0"] = text.toLowerCase().split("e");
  const [whole, decimals = ""] = mantissa.split(".");
  const digits = BigInt(`${whole.replace("-", "")}${decimals}` || "0");
  const top = text.startsWith("-") ? -digits : digits;
  const power = Number(exponent) - decimals.length;
  return power >= 0 ? { top: top * 10n ** BigInt(power), bottom: 1n } : { top, bottom: 10n ** BigInt(-power) };
}

/** @type {function(Fraction, Fraction): Fraction} */
export const plus = (a, b) => ({ top: a.top * b.bottom + b.top * a.bottom, bottom: a.bottom * b.bottom });

/** @type {function(Fraction, Fraction): Fraction} */
export const minus = (a, b) => plus(a, { top: -b.top, bottom: b.bottom });

/** @type {function(Fraction, Fraction): Fraction} */
export const times = (a, b) => ({ top: a.top * b.top, bottom: a.bottom * b.bottom });

/** @type {function(Fraction, Fraction): Fraction} */
export const over = (a, b) => {
  const sign = b.top < 0n ? -1n : 1n;
  return { top: sign * a.top * b.bottom, bottom: sign * a.bottom * b.top };
};

/** @type {function(Fraction, Fraction): boolean} */
export const isAbove = (a, b) => minus(a, b).top > 0n;

/** @type {function(Fraction): number} */
export const floor = ({ top, bottom }) => Number(top / bottom) - (top % bottom < 0n ? 1 : 0);

/** @type {function(Fraction): number} */
export const ceil = ({ top, bottom }) => -floor({ top: -top, bottom });

/** @type {function(Fraction): boolean} */
export const isWhole = ({ top, bottom }) => top % bottom === 0n;

/**
 * The nearest double of a fraction whose top and bottom are exact doubles after reduction.
 * @param {Fraction} value
 * @returns {number}
 */
export function toNumber({ top, bottom }) {
  let [a, b] = [top < 0n ? -top : top, bottom];
  while (b) {
    [a, b] = [b, a % b];
  }
  const divisor = a || 1n;
  return Number(top / divisor) / Number(bottom / divisor);
}
