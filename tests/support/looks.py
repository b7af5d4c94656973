"""What a page measures of itself: contrast of text, direction of lines, names of controls."""

CONTRASTS = r"""root => {
  const numbers = text => (text.match(/(rgba?|color)\([^)]*\)/g) || []).map(one => {
    const [r, g, b, a] = one.match(/[\d.]+(e-\d+)?/g).map(Number), scale = one.startsWith('color') ? 255 : 1;
    return [r * scale, g * scale, b * scale, a ?? 1]; });
  const over = (top, below) => { const a = top[3]; return [0, 1, 2].map(i => a * top[i] + (1 - a) * below[i]); };
  const layers = node => { const found = [];
    for (let at = node; at; at = at.parentElement) { const style = getComputedStyle(at);
      found.push({ plain: numbers(style.backgroundColor)[0] || [0, 0, 0, 0], stripes: numbers(style.backgroundImage) }); }
    return found.reverse(); };
  const grounds = node => layers(node).reduce((below, { plain, stripes }) => {
    const flat = below.map(one => over(plain, one));
    return stripes.length ? flat.flatMap(one => stripes.map(stripe => over(stripe, one))) : flat; }, [[255, 255, 255]]);
  const light = color => { const [r, g, b] = color.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ratio = (one, other) => { const [low, high] = [light(one), light(other)].sort((a, b) => a - b); return (high + 0.05) / (low + 0.05); };
  const words = node => [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
  return [...root.querySelectorAll('*')].filter(node => words(node) && node.checkVisibility() && !node.closest(':disabled')).map(node => {
    const worst = Math.min(...grounds(node).map(ground => ratio(over(numbers(getComputedStyle(node).color)[0], ground), ground)));
    return [Number(worst.toFixed(2)), node.className || node.tagName, node.textContent.trim().slice(0, 30)]; });
}"""
"""Of each element with text of its own: contrast as in WCAG 2 (1.4.3) against the worst of what is behind it, and what it is.

What is disabled needs none.
"""

CONTROLS = """root => [...root.querySelectorAll('button, input, select, textarea, summary, [tabindex="0"]')]
  .filter(node => node.checkVisibility() && !node.disabled).length"""

FOCUSED = """() => { const node = document.activeElement, style = getComputedStyle(node);
  const marked = node.querySelector(':scope .cursor'), ring = style.outlineStyle !== 'none' ? style : marked && getComputedStyle(marked);
  return { inside: Boolean(node.closest('.ragnb-annotator')), name: node.ariaLabel || node.textContent.trim() || node.title,
    what: node.className || node.tagName, ring: Boolean(ring) && ring.outlineStyle !== 'none' && parseFloat(ring.outlineWidth) > 0 } }"""
"""What has the focus: whether it is the annotator's, its name, and whether a ring around it, or around its cursor, is seen."""

TEXT_EDGES = """line => { const range = document.createRange(), words = line.querySelector('.words'); range.selectNodeContents(words);
  const text = range.getBoundingClientRect(), box = line.getBoundingClientRect();
  return [getComputedStyle(line).direction, text.left - box.left, box.right - text.right] }"""
"""Of a sentence: its direction, and how far its text is from the left and from the right edge."""
