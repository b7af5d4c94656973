// A long list of rows of equal height. Only the visible rows are elements of the page.

import { node } from "./dom.mjs";

/**
 * Limit a number to an interval.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 * @returns {number}
 */
export function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

/**
 * Find the rows to draw.
 * @param {number} scrollTop
 * @param {number} height of the list
 * @param {number} row height of a row
 * @param {number} count number of rows
 * @param {number} spare rows above and below those in sight
 * @returns {number[]} the first row, and the one after the last
 */
export function windowOf(scrollTop, height, row, count, spare) {
  const top = Math.max(0, scrollTop);
  return [Math.floor(top / row) - spare, Math.ceil((top + height) / row) + spare].map((at) => clamp(at, 0, count));
}

/**
 * Find where to scroll, as little as possible, so that a row is in sight.
 * @param {number} position of the row
 * @param {number} scrollTop
 * @param {number} height of the list
 * @param {number} row height of a row
 * @returns {number}
 */
export function revealed(position, scrollTop, height, row) {
  const top = position * row;
  return Math.max(0, Math.min(top, Math.max(scrollTop, top + row - height)));
}

let lists = 0;

/** A list box. It makes a row when the row comes into sight. */
export class VirtualList {
  /**
   * @param {number} row height of a row in pixels
   * @param {function(number): Array} rowAt attributes and children of the row at a position
   * @param {object} attributes of the list
   */
  constructor(row, rowAt, attributes) {
    this.row = row;
    this.rowAt = rowAt;
    this.uid = `ragnb-list-${(lists += 1)}`;
    this.count = 0;
    this.sheet = node("div", { class: "sheet", role: "presentation" });
    this.list = node("div", { role: "listbox", tabindex: 0, onscroll: () => this.draw(), ...attributes }, this.sheet);
  }

  // The rows around those in sight, so many more on either side.
  window(spare) {
    return windowOf(this.list.scrollTop, this.list.clientHeight || 480, this.row, this.count, spare);
  }

  // A list that is hidden says that it is scrolled to the top. It keeps its rows until it has its size again.
  draw(count = this.count, current = this.current) {
    [this.count, this.current] = [count, current];
    this.sheet.style.height = `${count * this.row}px`;
    if (this.list.isConnected && !this.list.clientHeight) return;
    const [first, last] = this.window(6);
    this.sheet.replaceChildren(...Array.from({ length: last - first }, (_, n) => this.option(first + n)));
    this.list.setAttribute("aria-activedescendant", `${this.uid}-${current}`);
    this.ondrawn?.();
  }

  option(at) {
    const [attributes, ...children] = this.rowAt(at);
    const place = { role: "option", id: `${this.uid}-${at}`, "aria-setsize": this.count, "aria-posinset": at + 1 };
    const option = node("div", { ...place, ...attributes }, ...children);
    option.style.top = `${at * this.row}px`;
    return option;
  }

  reveal(at) {
    this.list.scrollTop = revealed(at, this.list.scrollTop, this.list.clientHeight || 480, this.row);
  }
}
