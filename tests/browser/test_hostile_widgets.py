"""Attacks in every text of every widget and static viewer, on a trusted page with a kernel: nothing runs, nothing is asked for."""

import pytest
from support.hostile import ELEMENTS, PAYLOADS, visible
from support.lab import show
from support.screen import Annotating

pytestmark = pytest.mark.browser

ANNOTATORS = set(
    "b bdi button datalist details div input kbd option p pre progress section select small span summary sup textarea".split()
)
"""The elements of which the annotator is made."""

LISTS = set("bdi button input label option select tbody".split())
"""The elements of which the list beside a page is made, besides those of the page."""

INVENTORY = """selector => { const found = new Set(), suspicious = [];
  for (const root of document.querySelectorAll(selector)) for (const node of root.querySelectorAll('*')) {
    if (!node.closest('mjx-container')) found.add(node.tagName.toLowerCase());
    for (const { name, value } of node.attributes)
      if (/^on|^(href|src|srcdoc|action|formaction|data|xlink:href)$/.test(name) || /javascript:|expression|url\\(/.test(name === 'style' ? value : ''))
        suspicious.push(`${node.tagName} ${name}=${value}`); }
  return [[...found], suspicious, document.querySelectorAll(selector).length] }"""
"""Elements inside what a selector finds, attributes that could do something, and how much it found.

JupyterLab's formulas are made of elements of their own; their attributes count.
"""

IMPORTS = "from pathlib import Path\nfrom IPython.display import HTML\nfrom support.hostile import PAYLOADS\nfrom support.hostile_views import *\n"
OUTPUTS = ".jp-OutputArea-output.jp-RenderedHTMLCommon"


def check_inert(page, selector, allowed):
    """Check that what is found is made of allowed elements, and that none of them could do anything; return how many are found."""
    elements, suspicious, count = page.evaluate(INVENTORY, selector)
    assert set(elements) <= allowed
    assert suspicious == []
    return count


@pytest.fixture
def attacked(book):
    """The page, on which no attack may have set its flag when the test is over, a moment after."""
    yield book
    book.wait_for_timeout(300)
    assert book.evaluate("() => window.__hit") is None
    assert book.locator(".jp-Dialog").count() == 0


def test_that_the_flag_would_be_seen(book):
    show(book, f"from IPython.display import HTML\nHTML({PAYLOADS[4]!r})")
    book.wait_for_function("() => window.__hit === 1", timeout=10_000)
    show(book, "1")
    book.evaluate("() => { delete window.__hit }")


def test_static_viewers(attacked):
    """Each attack is in one of the viewers; that each viewer spells all of them out, tests/widgets shows."""
    show(attacked, IMPORTS + "for number, text in enumerate(PAYLOADS):\n"
                   "    views = static_views(text)\n"
                   "    display(HTML(view(*views[number % len(views)])._repr_html_()))")  # fmt: skip
    last = attacked.locator(OUTPUTS).nth(len(PAYLOADS) - 1)
    last.wait_for(state="attached", timeout=60_000)
    check_inert(attacked, OUTPUTS, ELEMENTS | {"tbody"})


def test_prices_are_no_formulas(attacked):
    prices = "view(context_row('It is $5 there and $6 here.'))"
    show(attacked, IMPORTS + prices, "from IPython.display import Latex\nLatex('$x$')")
    attacked.locator(".jp-RenderedLatex mjx-container").wait_for(state="attached")
    assert "It is $5 there and $6 here." in attacked.locator(OUTPUTS).inner_text()


def test_the_annotator(attacked):
    show(attacked, IMPORTS + "annotator(PAYLOADS, Path('.'))")
    screen = Annotating(attacked, "hostile.jsonl")
    screen.focus()
    for number in range(0, len(PAYLOADS), 7):
        page = screen.root.text_content()
        missing = [text for text in PAYLOADS[number : number + 7] if visible(text) not in page]
        assert missing == []
        screen.press("1", "n")
    screen.press("?", "g", "End")
    screen.root.get_by_label("words of an item").fill(PAYLOADS[4])
    assert check_inert(attacked, ".ragnb-annotator", ANNOTATORS) == 1
    screen.press("Escape", "z", "z", "a")
    assert screen.events()[-1]["action"] == "label"


def test_adjudication_between_hostile_names(attacked):
    (attacked.folder / "court").mkdir()
    show(attacked, IMPORTS + "adjudication(PAYLOADS[:3], Path('court'))")
    screen = Annotating(attacked, "court/gold.jsonl")
    screen.focus("response")
    for number in (0, 1):
        assert visible(PAYLOADS[number]) in screen.root.inner_text()
    screen.press("2", "n", "2", "n", "2")
    check_inert(attacked, ".ragnb-annotator", ANNOTATORS)


def test_the_live_view_of_a_frame(attacked):
    """Attacks are in the list, in the names and choices of its filters, and on each page."""
    show(attacked, IMPORTS + "shown = whole_frame(PAYLOADS)\nshown")
    rows = attacked.locator(".ragnb-rows-row")
    rows.first.wait_for(timeout=60_000)
    attacked.locator(".ragnb-rows-list").focus()
    for number in range(1, len(PAYLOADS) + 1):
        row = attacked.locator(f'.ragnb-rows-row[aria-posinset="{number}"][aria-selected=true]')
        row.wait_for(timeout=30_000)
        assert check_inert(attacked, ".ragnb-view", ELEMENTS | LISTS) == 1
        attacked.keyboard.press("j")
    assert visible(PAYLOADS[-1])[:30] in rows.last.text_content()
    attacked.keyboard.press("/")
    attacked.keyboard.type(PAYLOADS[4][:40])
