"""The sliders of a browser in a real JupyterLab: the page follows them, and hostile text stays text."""

import pytest
from browser.lab import CHROMIUM, show

HOSTILE = '<img src=x onerror="window.__hit=1"><script>window.__hit=2</script></script>'
CELL = f"""
import pandas as pd
from ragnb.widgets import ContextBrowser
hostile = {HOSTILE!r}
rows = [dict(example_id=f"e/{{i}}", noise_rate=rate, question=f"Question {{i}} at {{rate}} " + hostile, language="en",
             references=[["Oslo", hostile]], passages=["In Oslo. \\u202e" + hostile], kinds=["positive"], response=hostile)
        for i in (1, 2) for rate in (0.0, 0.4)]
browser = ContextBrowser(pd.DataFrame(rows))
browser
"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None,
        reason="NO BROWSER: chromium is not installed, so the live viewer is not tested",
    ),
]


def test_the_live_browser_follows_its_sliders_and_hostile_text_stays_text(book):
    show(book, CELL)
    shown = book.locator(".widget-html-content")
    shown.get_by_text("Question 1 at 0.0").wait_for(timeout=90_000)

    book.locator(".noUi-handle, .widget-slider .ui-slider-handle").first.focus()
    book.keyboard.press("ArrowRight")
    shown.get_by_text("Question 2 at 0.0").wait_for(timeout=30_000)
    book.locator(".noUi-handle, .widget-slider .ui-slider-handle").nth(1).focus()
    book.keyboard.press("ArrowRight")
    shown.get_by_text("Question 2 at 0.4").wait_for(timeout=30_000)

    text = shown.inner_text()
    assert HOSTILE in text
    assert "⟨U+202E⟩" in text
    assert book.evaluate("() => window.__hit") is None
    assert shown.locator("img, script").count() == 0
