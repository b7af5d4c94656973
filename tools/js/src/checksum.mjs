// The checksum of a line of the file of labels. Python computes the same one in ragnb/annotation/lines.py.

const POLYNOMIAL = 0xedb88320; // of CRC-32, with the lowest bit first

// The remainder of each byte.
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => remainderOf(byte));

/**
 * @param {number} byte
 * @returns {number}
 */
function remainderOf(byte) {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit += 1) {
    const isOdd = remainder & 1;
    remainder >>>= 1;
    if (isOdd) {
      remainder ^= POLYNOMIAL;
    }
  }
  return remainder;
}

/**
 * Compute the CRC-32 of a text in UTF-8.
 * @param {string} text
 * @returns {string} eight hexadecimal digits
 */
export function checksum(text) {
  let crc = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) {
    const index = (crc ^ byte) & 0xff;
    crc = REMAINDERS[index] ^ (crc >>> 8);
  }
  const unsigned = (crc ^ 0xffffffff) >>> 0;
  return unsigned.toString(16).padStart(8, "0");
}
