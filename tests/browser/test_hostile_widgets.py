"""Attacks in every text of every widget and static viewer, on a trusted page with a kernel: nothing runs, nothing is asked for."""

import pytest
from browser.lab import show
from browser.screen import Annotating
from hostile import ELEMENTS, PAYLOADS, visible

pytestmark = pytest.mark.browser

ANNOTATORS = set(
    "b button details div input kbd option p progress section select small span summary sup textarea".split()
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

IMPORTS = "from pathlib import Path\nfrom hostile import PAYLOADS\nfrom hostile_views import *\n"


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
    show(attacked, IMPORTS + "from IPython.display import HTML\n"
                   "for text in PAYLOADS:\n    display(HTML(''.join(view._repr_html_() for view in static_views(text).values())))")  # fmt: skip
    attacked.locator(".jp-OutputArea-output.jp-RenderedHTMLCommon").nth(len(PAYLOADS) - 1).wait_for(
        state="attached", timeout=60_000
    )
    elements, suspicious, _ = attacked.evaluate(
        INVENTORY, ".jp-OutputArea-output.jp-RenderedHTMLCommon"
    )
    assert set(elements) <= ELEMENTS | {"tbody"}
    assert suspicious == []


def test_prices_are_no_formulas(attacked):
    show(attacked, IMPORTS + "view(context_row('It is $5 there and $6 here.'))")
    shown = attacked.locator(".jp-OutputArea-output.jp-RenderedHTMLCommon")
    shown.wait_for()
    attacked.wait_for_timeout(1500)
    assert "It is $5 there and $6 here." in shown.inner_text()


def test_the_annotator(attacked):
    show(attacked, IMPORTS + "annotator(PAYLOADS, Path('.'))")
    screen = Annotating(attacked, "hostile.jsonl")
    screen.focus()
    for number, text in enumerate(PAYLOADS):
        assert visible(text).split("\n")[0] in screen.root.locator(".question b").text_content(), (
            number
        )
        screen.press("1", "n")
    screen.press("?", "g", "End")
    screen.root.get_by_label("words of an item").fill(PAYLOADS[4])
    elements, suspicious, count = attacked.evaluate(INVENTORY, ".ragnb-annotator")
    assert count == 1
    assert set(elements) <= ANNOTATORS
    assert suspicious == []
    screen.press("Escape", "z", "z", "a")
    assert screen.events()[-1]["action"] == "label"


def test_adjudication_between_hostile_names(attacked):
    show(
        attacked,
        IMPORTS + "Path('court').mkdir(exist_ok=True)\nadjudication(PAYLOADS, Path('court'))",
    )
    screen = Annotating(attacked, "court/gold.jsonl")
    screen.focus("response")
    for number in (0, 1):
        assert visible(PAYLOADS[number]) in screen.root.inner_text()
    for _ in PAYLOADS:
        screen.press("2", "n")
    elements, suspicious, _ = attacked.evaluate(INVENTORY, ".ragnb-annotator")
    assert set(elements) <= ANNOTATORS
    assert suspicious == []


@pytest.mark.parametrize("kind", ["rgb", "trace", "judge", "language", "plain"])
def test_the_live_view_of_a_frame(attacked, kind):
    show(attacked, IMPORTS + f"shown = whole_frames(PAYLOADS)[{kind!r}]\nshown")
    rows = attacked.locator(".ragnb-rows-row")
    rows.first.wait_for(timeout=60_000)
    attacked.locator(".ragnb-rows-list").focus()
    elements = set()
    for number in range(1, len(PAYLOADS) + 1):
        attacked.locator(f'.ragnb-rows-row[aria-posinset="{number}"][aria-selected=true]').wait_for(
            timeout=30_000
        )
        found, suspicious, count = attacked.evaluate(INVENTORY, ".ragnb-view")
        assert (suspicious, count) == ([], 1)
        elements |= set(found)
        attacked.keyboard.press("j")
    attacked.keyboard.press("/")
    attacked.keyboard.type(PAYLOADS[4][:40])
    assert elements <= ELEMENTS | LISTS
