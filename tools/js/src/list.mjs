// A long list of rows of equal height. Only the visible rows are elements of the page.

import { node } from "./dom.mjs";

const UNKNOWN_HEIGHT = 480; // pixels of a list that the browser has not laid out yet
const SPARE_ROWS = 6; // drawn above and below the visible ones

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
 * @param {number} rowHeight
 * @param {number} count number of rows
 * @param {number} spare rows above and below those in sight
 * @returns {[first: number, last: number]} the first row, and the one after the last
 */
export function windowOf(scrollTop, height, rowHeight, count, spare) {
  const top = Math.max(0, scrollTop);
  const first = Math.floor(top / rowHeight) - spare;
  const last = Math.ceil((top + height) / rowHeight) + spare;
  return [clamp(first, 0, count), clamp(last, 0, count)];
}

/**
 * Find where to scroll, as little as possible, so that a row is in sight.
 * @param {number} position of the row
 * @param {number} scrollTop
 * @param {number} height of the list
 * @param {number} rowHeight
 * @returns {number}
 */
export function revealed(position, scrollTop, height, rowHeight) {
  const rowTop = position * rowHeight;
  const lowest = rowTop + rowHeight - height; // with the row at the lower edge of the list
  const next = Math.min(rowTop, Math.max(scrollTop, lowest));
  return Math.max(0, next);
}

/** @typedef {[attributes: Record<string, unknown>, ...children: (Node | string)[]]} RowElement */

let listCount = 0;

/** A list box. It makes a row when the row comes into sight. */
export class VirtualList {
  /**
   * @param {number} rowHeight in pixels
   * @param {function(number): RowElement} rowAt attributes and children of the row at a position
   * @param {Record<string, unknown>} attributes of the list
   */
  constructor(rowHeight, rowAt, attributes) {
    listCount += 1;
    this.uid = `ragnb-list-${listCount}`;
    this.rowHeight = rowHeight;
    this.rowAt = rowAt;
    this.count = 0;
    this.current = 0;
    /** @type {(function(): void) | undefined} called after the rows were drawn */
    this.ondrawn = undefined;
    this.sheet = node("div", { class: "sheet", role: "presentation" });
    const onscroll = () => this.draw();
    this.list = node("div", { role: "listbox", tabindex: 0, onscroll, ...attributes }, this.sheet);
  }

  get height() {
    return this.list.clientHeight || UNKNOWN_HEIGHT;
  }

  /**
   * The visible rows, with spare rows on either side.
   * @param {number} spare
   */
  window(spare) {
    return windowOf(this.list.scrollTop, this.height, this.rowHeight, this.count, spare);
  }

  /**
   * @param {number} count
   * @param {number} current the row with the focus
   */
  draw(count = this.count, current = this.current) {
    this.count = count;
    this.current = current;
    this.sheet.style.height = `${count * this.rowHeight}px`;
    // A list that is hidden says that it is scrolled to the top. It keeps its rows until it has its size again.
    const isHidden = this.list.isConnected && !this.list.clientHeight;
    if (isHidden) {
      return;
    }
    const [first, last] = this.window(SPARE_ROWS);
    const options = [];
    for (let position = first; position < last; position += 1) {
      options.push(this.option(position));
    }
    this.sheet.replaceChildren(...options);
    this.list.setAttribute("aria-activedescendant", `${this.uid}-${current}`);
    this.ondrawn?.();
  }

  /** @param {number} position */
  option(position) {
    const [rowAttributes, ...children] = this.rowAt(position);
    const attributes = {
      role: "option",
      id: `${this.uid}-${position}`,
      "aria-setsize": this.count,
      "aria-posinset": position + 1,
      ...rowAttributes,
    };
    const option = node("div", attributes, ...children);
    option.style.top = `${position * this.rowHeight}px`;
    return option;
  }

  /** @param {number} position */
  reveal(position) {
    this.list.scrollTop = revealed(position, this.list.scrollTop, this.height, this.rowHeight);
  }
}
