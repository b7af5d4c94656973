"""An annotator of the notebooks in a real JupyterLab, after all cells have run."""

import re
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser.lab import notebook_page

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
TO_CELL = """words => { const book = window.jupyterapp.shell.currentWidget.content;
  const at = book.widgets.findIndex(cell => cell.model.sharedModel.source.includes(words));
  book.activeCellIndex = at;
  return book.scrollToItem(at) }"""

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@contextmanager
def run(lab, path):
    """The page of a notebook whose cells have all run; no error may be raised there, then or later."""
    for name in ("notebooks", "figures"):
        (lab.folder / name).mkdir(exist_ok=True)
    shutil.copy(path, lab.folder / "notebooks")
    with notebook_page(lab, f"notebooks/{path.name}") as page:
        page.set_default_timeout(120_000)  # a busy machine takes its time
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        yield page
        # What fails after a cell has run, such as a callback, is in the log console alone: look for it in the messages.
        failed = [frame for frame in page.received if re.search(r'"msg_type": ?"error"', frame)]
        assert [*page.errors, *page.outside, *failed] == []


def cell_with(page, words):
    """The cell with these words, scrolled into view: JupyterLab removes others from the page."""
    page.evaluate(TO_CELL, words)
    return page.locator(".jp-Cell.jp-mod-active")


def test_the_annotator_of_notebook_12_shows_the_three_actions_of_its_cell(lab):
    (path,) = (one for one in NOTEBOOKS if one.name.startswith("12_"))
    with run(lab, path) as page:
        screen = cell_with(page, "mine.session.toggle(").locator(".ragnb-annotator")
        for text in ("It moves warmth into the house", "A gas boiler makes its warmth"):
            screen.locator(".sentence:has(.badges:text-is('R'))", has_text=text).wait_for()
        screen.locator("[data-field=utilized] .value:text-is('∅ none')").wait_for()
        screen.get_by_role("toolbar").get_by_role("button", name="list", exact=True).click()
        screen.locator(".row[aria-label^='1 started']").first.wait_for()
