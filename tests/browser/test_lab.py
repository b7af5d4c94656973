"""Sliders in a real JupyterLab: the result follows them, and hostile text stays text."""

import pytest
from browser.lab import show

HOSTILE = '<img src=x onerror="window.__hit=1"><script>window.__hit=2</script></script>'
CELL = f"""
from ipywidgets import IntSlider
from ragnb.widgets import Interactive
hostile = {HOSTILE!r}
Interactive(lambda number, rate: f"Question {{number}} at {{rate}} \u202e{{hostile}}", number=IntSlider(1), rate=IntSlider(0))
"""

pytestmark = pytest.mark.browser


def test_a_result_follows_its_sliders_and_hostile_text_stays_text(book):
    show(book, CELL)
    shown = book.locator(".widget-html-content")
    shown.get_by_text("Question 1 at 0").wait_for(timeout=90_000)

    sliders = book.locator(".noUi-handle, .widget-slider .ui-slider-handle")
    sliders.first.focus()
    book.keyboard.press("ArrowRight")
    shown.get_by_text("Question 2 at 0").wait_for(timeout=30_000)
    sliders.nth(1).focus()
    book.keyboard.press("ArrowRight")
    shown.get_by_text("Question 2 at 1").wait_for(timeout=30_000)

    text = shown.inner_text()
    assert HOSTILE in text
    assert "⟨U+202E⟩" in text
    assert book.evaluate("() => window.__hit") is None
    assert shown.locator("img, script").count() == 0
