"""Results in JupyterLab: contrast, narrow windows, and text from right to left."""

from browser.lab import change_theme
from browser.looks import CONTRASTS
from made_scores import scored

from ragnb.display import shown
from ragnb.scoring import summarize


def test_text_is_readable_in_light_and_dark_and_narrow_windows_scroll(book):
    arabic = summarize(scored({"one": [1.0, 0.0, 1.0]}, "rgb.accuracy")).assign(note="لا أعرف")
    book.set_viewport_size({"width": 420, "height": 900})
    book.evaluate("html => { const box = document.createElement('div'); box.id = 'made';"
                  "box.className = 'jp-RenderedHTMLCommon'; box.innerHTML = html;"
                  "document.querySelector('.jp-Notebook').append(box); }", shown(arabic)._repr_html_())  # fmt: skip
    box = book.locator("#made")
    for theme in ("dark", "light"):
        change_theme(book, theme)
        assert all(ratio >= 4.5 for ratio, *_ in box.evaluate(CONTRASTS))
    inner = box.locator(".ragnb-table")
    assert inner.evaluate("node => node.scrollWidth > node.clientWidth")
    assert box.evaluate("node => node.getBoundingClientRect().right <= innerWidth + 1")
    right = box.locator("td", has_text="لا أعرف").first
    assert right.evaluate("node => getComputedStyle(node).direction") == "rtl"
    box.evaluate("node => node.remove()")
