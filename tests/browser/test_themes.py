"""Both themes of JupyterLab: every text stands out from what is behind it, and results fit a narrow window."""

import pytest
from support.lab import change_theme, show_html
from support.looks import CONTRASTS
from support.made_scores import scored
from support.screen import IMPORTS, Annotating

from ragnb.display import shown
from ragnb.scoring import summarize

pytestmark = pytest.mark.browser

ANNOTATOR = IMPORTS + "Annotator(trace_items(3, 50), 'trace', 'contrast', '.', **judged())"
CARD = """import ragnb
ragnb.view({"question": "Who?", "references": ["Ann", "Bo"], "false_answers": ["Cy"], "response": "Ann, not Cy [1].", "label": 1,
            "passages": ["Bo and Cy", "no"], "kinds": ["positive", "wrong"], "language": "en", "system": "rag",
            "history": [{"role": "user", "content": "Hello"}]})"""
ADD = """html => { const box = document.createElement('div'); box.id = 'made';
  box.className = 'jp-RenderedHTMLCommon'; box.innerHTML = html;
  document.querySelector('.jp-Notebook').append(box); }"""
COLOUR = "node => getComputedStyle(node).color"
BRIGHT_LETTERS = "root => Number(getComputedStyle(root).color.match(/\\d+/)[0]) > 127"


def open_everything(screen):
    """Labels, suggestions, a warning, a note, a search and every panel at once."""
    screen.focus()
    screen.press("x", "j", "j", "e", "u", "x", "j", "v", "3", "s", "x", "r", "m")
    screen.type("a note")
    screen.press("Escape", "g", "Escape", "?", "/")
    screen.type("Fact 3")
    screen.focus()
    screen.root.locator(".panel").evaluate_all(
        "panels => panels.forEach(panel => { panel.hidden = false })"
    )
    screen.press("g", "g")
    screen.focus()
    screen.press("j", "Shift+ArrowDown")


def test_every_text_stands_out_from_what_is_behind_it_in_both_themes(book, explorable):
    arabic = summarize(scored({"one": [1.0, 0.0, 1.0]}, "rgb.accuracy")).assign(note="لا أعرف")
    show_html(book, explorable("mcnemar"), ANNOTATOR, CARD)
    book.evaluate(ADD, shown(arabic)._repr_html_())
    screen = Annotating(book, "contrast.trace.jsonl")
    card, table = book.locator(".ragnb-card"), book.locator("#made")
    sentence = book.locator(".jp-OutputArea .sentence[role=status]")

    def measured():
        """Contrasts of all texts but those of the explorable, which are drawn in the colour of the page."""
        return [one for root in (screen.root, card, table) for one in root.evaluate(CONTRASTS)]

    open_everything(screen)
    everything = measured()
    screen.press("Enter")
    screen.root.locator(".message .now").evaluate(
        "node => { node.textContent = 'not saved'; node.classList.add('failed') }"
    )
    light, colour = measured(), sentence.evaluate(COLOUR)
    change_theme(book, "dark")
    book.wait_for_function(BRIGHT_LETTERS, arg=screen.root.element_handle())
    dark = measured()
    assert not [one for one in everything + light + dark if one[0] < 4.5]
    for contrasts in (light, dark):
        assert len(contrasts) > 100
        assert "not saved" in [text for *_, text in contrasts]
    assert sentence.evaluate(COLOUR) != colour

    # In a narrow window, a table scrolls.
    book.set_viewport_size({"width": 420, "height": 900})
    assert table.locator(".ragnb-table").evaluate("node => node.scrollWidth > node.clientWidth")
    assert table.evaluate("node => node.getBoundingClientRect().right <= innerWidth + 1")
    right = table.locator("td", has_text="لا أعرف").first
    assert right.evaluate("node => getComputedStyle(node).direction") == "rtl"
    table.evaluate("node => node.remove()")
