// Draws the list of rows that Python has found, and says what was typed, chosen and scrolled to. All texts are text.

export const ROW = 46; // height of a row in the list, in pixels
const MARGIN = 6; // rows drawn above and below what is seen
const AHEAD = 120; // rows known above and below what is seen
const NARROW = 560; // width from which on the page stands beside the list
const MOST_TINTED = 2000; // places tinted on a page
const PATIENCE = 60; // milliseconds after the last letter before a search is asked for

// ---- what needs no page ----------------------------------------------------------------------------------------------

const KEYS = { j: "next", ArrowDown: "next", k: "previous", ArrowUp: "previous", Home: "first", End: "last",
  PageDown: "page down", PageUp: "page up", "/": "search" };

/** Whether a key is pressed by itself: those with Ctrl and the like, and Shift+Enter, are the notebook's. */
export function isPlain({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  return !(ctrlKey || metaKey || altKey || (shiftKey && key === "Enter"));
}

/** What a key asks for; null where it is none of ours. */
export function commandOf(event, typing = false) {
  if (!isPlain(event) || event.isComposing) return null; // Enter and arrows belong to what writes Chinese or Japanese
  if (typing) return ["Escape", "Enter", "ArrowDown"].includes(event.key) ? "leave" : null;
  return Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
}

/** The row that a command goes to. */
export function moved(command, position, count, perPage) {
  const steps = { next: 1, previous: -1, "page down": perPage, "page up": -perPage, first: -count, last: count };
  return Math.min(Math.max(0, position + (steps[command] ?? 0)), count - 1);
}

/** Where words stand in a text, whatever their letter case: [start, end] of each. */
export function hits(text, words) {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return []; // letters that change their length have moved what follows
  return words.flatMap((word) => {
    const found = [];
    for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + word.length)) found.push([at, at + word.length]);
    return found;
  });
}

/** The first and the last row of a window that are not known yet; null where all are. */
export function unknown(known, [first, last]) {
  while (first < last && known.has(first)) first += 1;
  while (first < last && known.has(last - 1)) last -= 1;
  return first < last ? [first, last] : null;
}

// ---- the page --------------------------------------------------------------------------------------------------------

function menu(title, names) {
  const select = node("select", { class: "ragnb-rows-select" }, ...names.map(([value, text]) => node("option", { value }, text)));
  const label = node("label", { class: "ragnb-rows-menu" }, node("span", { class: "ragnb-rows-caption", dir: "auto" }, title), select);
  return { label, select };
}

function sharedHighlight() {
  if (typeof Highlight === "undefined" || !CSS.highlights) return null;
  if (!CSS.highlights.has("ragnb-found")) CSS.highlights.set("ragnb-found", new Highlight());
  return CSS.highlights.get("ragnb-found");
}

const heightOf = (list) => list.clientHeight || 480; // a list that is not on the page yet has none

let lists = 0;

function render({ model, el }) {
  const id = `ragnb-rows-${(lists += 1)}`;
  const highlight = sharedHighlight();
  const gone = new AbortController();
  const listen = (node, name, act) => node.addEventListener(name, act, { signal: gone.signal });
  const save = (name, value) => (model.set(name, value), model.save_changes());

  const search = node("input", { class: "ragnb-rows-search", type: "search", placeholder: "search all texts  ( / )",
    "aria-label": "search all texts", dir: "auto", spellcheck: "false", autocomplete: "off" });
  const filters = model.get("choices").map(({ name, values }) =>
    menu(name, [["0", "all"], ...values.map((value, place) => [String(place + 1), value])]));
  const sort = menu("sort", [["", "frame order"], ...model.get("sorts")]);
  const count = node("span", { class: "ragnb-rows-count", role: "status" });
  const clear = node("button", { class: "ragnb-rows-clear", type: "button" }, "clear");
  const meaning = node("span", { class: "ragnb-rows-meaning", dir: "auto" }, model.get("sign_meaning"));
  const finding = node("div", { class: "ragnb-rows-tools", role: "search" }, search, clear, count);
  const choosing = node("div", { class: "ragnb-rows-tools" }, ...filters.map(({ label }) => label), sort.label, meaning);

  const sheet = node("div", { class: "ragnb-rows-sheet", role: "presentation" });
  const list = node("div", { class: "ragnb-rows-list", role: "listbox", tabindex: "0", "aria-label": "rows: j and k move, / searches" }, sheet);
  list.classList.toggle("ragnb-rows-unsigned", !model.get("sign_meaning"));
  el.classList.add("ragnb-rows");
  el.replaceChildren(finding, choosing, list);
  // JupyterLab looks for this on what has the focus, not above it.
  for (const control of [list, ...el.querySelectorAll("input, select, button")]) control.dataset.lmSuppressShortcuts = "true";

  // ---- the list: only rows that are seen are nodes -------------------------------------------------------------------

  let known = new Map(); // position -> [sign, text, about]
  let waiting = false;
  let ring = []; // nodes, each again for the next row that comes to its place

  function learn({ first, rows }) {
    rows.forEach((row, place) => known.set(first + place, row));
  }

  function ask(total) {
    const missing = unknown(known, windowOf(list.scrollTop, heightOf(list), ROW, total, AHEAD));
    if (!missing || waiting) return;
    waiting = true;
    model.send({ kind: "rows", version: model.get("found").version, first: missing[0], last: missing[1] });
  }

  const blank = () => node("div", { class: "ragnb-rows-row", role: "option" }, node("span", { class: "ragnb-rows-sign" }),
    node("bdi", { class: "ragnb-rows-title", dir: "auto" }), node("span", { class: "ragnb-rows-about" }));

  function fill(option, position, row, total) {
    const [sign, text, about] = row ?? ["", "…", []];
    const [signed, title, told] = option.children;
    option.id = `${id}-${position}`;
    option.style.top = `${position * ROW}px`;
    option.dataset.position = position;
    option.setAttribute("aria-setsize", total);
    option.setAttribute("aria-posinset", position + 1);
    signed.textContent = sign;
    title.textContent = title.title = text;
    told.replaceChildren(...about.map((piece) => node("bdi", { dir: "auto" }, piece)));
  }

  function place(position, selected, total) {
    const slot = ring[position % ring.length];
    const row = known.get(position);
    if (slot.position !== position || slot.row !== row || slot.total !== total) {
      Object.assign(slot, { position, row, total });
      fill(slot.option, position, row, total);
    }
    slot.option.setAttribute("aria-selected", String(selected));
    return slot.option;
  }

  function draw() {
    // A list that is hidden says that it is scrolled to the top. It is drawn when it has its size again; while JupyterLab
    // changes its theme, it keeps its rows.
    if (list.isConnected && !list.clientHeight) return;
    const total = model.get("found").count;
    const position = model.get("position");
    const [first, last] = windowOf(list.scrollTop, heightOf(list), ROW, total, MARGIN);
    while (ring.length < last - first) ring = [...ring.map(({ option }) => ({ option })), { option: blank() }];
    const drawn = new Set();
    for (let at = first; at < last; at += 1) drawn.add(place(at, at === position, total));
    for (const { option } of ring) {
      if (!drawn.has(option)) option.remove();
      else if (!option.isConnected) sheet.append(option);
    }
    if (position >= first && position < last) list.setAttribute("aria-activedescendant", `${id}-${position}`);
    else list.removeAttribute("aria-activedescendant");
    ask(total);
  }

  let planned = 0;
  function plan() {
    cancelAnimationFrame(planned);
    planned = requestAnimationFrame(draw);
  }

  function reveal() {
    list.scrollTop = revealed(Math.max(0, model.get("position")), list.scrollTop, heightOf(list), ROW);
  }

  function restart() {
    known = new Map();
    waiting = false;
    learn(model.get("found"));
    const matching = model.get("found").count;
    sheet.style.height = `${matching * ROW}px`;
    count.textContent = `${matching.toLocaleString("en")} of ${model.get("total").toLocaleString("en")}`;
    list.classList.toggle("ragnb-rows-empty", matching === 0);
    reveal();
    draw();
    tint();
  }

  function show() {
    if (document.activeElement !== search) search.value = model.get("search");
    filters.forEach(({ select }, place) => {
      select.value = String(model.get("chosen")[place]);
      select.classList.toggle("ragnb-rows-active", select.value !== "0");
    });
    sort.select.value = model.get("sort");
    clear.hidden = !search.value && !model.get("sort") && model.get("chosen").every((value) => value === 0);
  }

  function go(position) {
    if (position >= 0 && position !== model.get("position")) save("position", position);
  }

  // ---- the page beside it: what was searched for is tinted there, without touching its nodes -------------------------

  const tinted = [];
  const pageBeside = () => el.closest(".ragnb-view")?.querySelector(".ragnb-view-page");
  const turned = new MutationObserver(tint);
  let followed = null;

  function follow() {
    if (followed || !(followed = pageBeside())) return;
    followed.dataset.lmSuppressShortcuts = "true";
    turned.observe(followed, { childList: true, subtree: true });
    tint();
  }

  function forget() {
    tinted.splice(0).forEach((range) => highlight?.delete(range));
  }

  function tint() {
    forget();
    const words = model.get("search").toLowerCase().split(/\s+/u).filter(Boolean);
    if (!highlight || !followed || !words.length) return;
    const texts = document.createTreeWalker(followed, NodeFilter.SHOW_TEXT);
    while (texts.nextNode() && tinted.length < MOST_TINTED) {
      for (const [start, end] of hits(texts.currentNode.data, words)) {
        const range = new StaticRange({ startContainer: texts.currentNode, startOffset: start,
          endContainer: texts.currentNode, endOffset: end });
        tinted.push(range);
        highlight.add(range);
      }
    }
  }

  // ---- what is done to it --------------------------------------------------------------------------------------------

  let typed = 0;
  const find = () => (clearTimeout(typed), save("search", search.value), show());
  listen(search, "input", () => (clearTimeout(typed), (typed = setTimeout(find, PATIENCE))));
  listen(search, "focus", () => model.send({ kind: "prepare" }));
  filters.forEach(({ select }, place) => listen(select, "change", () =>
    save("chosen", model.get("chosen").map((value, at) => (at === place ? Number(select.value) : value)))));
  listen(sort.select, "change", () => save("sort", sort.select.value));
  listen(clear, "click", () => {
    search.value = "";
    model.set({ search: "", sort: "", chosen: filters.map(() => 0) });
    model.save_changes();
    list.focus();
  });
  listen(list, "scroll", plan);
  listen(list, "click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) go(Number(option.dataset.position));
  });
  listen(el, "keydown", (event) => {
    const typing = event.target === search;
    const command = typing || event.target === list ? commandOf(event, typing) : null;
    if (command) event.preventDefault();
    if (command || isPlain(event)) event.stopPropagation(); // no letter is to become a command of the notebook
    if (command === "search") search.focus(), search.select();
    else if (command === "leave") leave();
    else if (command) go(moved(command, model.get("position"), model.get("found").count, Math.floor(heightOf(list) / ROW)));
  });

  function leave() {
    if (search.value !== model.get("search")) find();
    list.focus({ preventScroll: true });
  }

  const turn = () => {
    reveal();
    draw();
    const page = pageBeside();
    if (page) page.scrollTop = 0;
  };
  const hear = (message) => {
    if (message.kind !== "rows") return;
    waiting = false;
    if (message.version === model.get("found").version) learn(message);
    draw();
  };
  model.on("change:found", restart);
  model.on("change:position", turn);
  model.on("change:search change:chosen change:sort", show);
  model.on("msg:custom", hear);
  const resized = new ResizeObserver(() => {
    const whole = el.closest(".ragnb-view");
    whole?.classList.toggle("ragnb-view-narrow", whole.clientWidth < NARROW);
    follow();
    plan();
  });
  resized.observe(list);
  show();
  restart();

  return () => {
    gone.abort();
    resized.disconnect();
    turned.disconnect();
    forget();
    clearTimeout(typed);
    cancelAnimationFrame(planned);
    model.off("change:found", restart);
    model.off("change:position", turn);
    model.off("change:search change:chosen change:sort", show);
    model.off("msg:custom", hear);
  };
}

export default { render };
