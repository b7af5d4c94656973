// A long list of which only the rows in sight are drawn: which those are, and where to scroll.

export function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

// First row to draw and the one after the last, of rows of one height.
export function windowOf(scrollTop, height, row, count, spare) {
  const top = Math.max(0, scrollTop);
  return [Math.floor(top / row) - spare, Math.ceil((top + height) / row) + spare].map((at) => clamp(at, 0, count));
}

// Where to scroll so that a row is seen, as little as it takes.
export function revealed(position, scrollTop, height, row) {
  const top = position * row;
  return Math.max(0, Math.min(top, Math.max(scrollTop, top + row - height)));
}
