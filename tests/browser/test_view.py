"""The viewer of a whole frame in a real JupyterLab: keys, search, filters, a list of thousands."""

import re

import pytest
from browser.test_themes import CARD
from support.lab import change_theme, run_all, show

CELL = """
import pandas as pd
from ragnb.widgets import view
shown = view(pd.DataFrame([
    dict(question=f"Question {i}", system=("plain", "rag", "both")[i % 3], label=i % 2, number=i,
         response=f"needle{i} in the hay") for i in range(10_000)]))
shown
"""
SAID = "print(shown.number, len(shown.rows), shown.selected.system)"
SCROLLED = """() => { const list = document.querySelector('.ragnb-rows-list');
  list.scrollTop = list.scrollHeight / 2;
  return [...list.querySelectorAll('.ragnb-rows-row')].some(row => row.textContent.includes('Question 5000')) }"""
"""Scroll to the middle, again until its rows have come: a late answer to what was asked before may scroll back."""
IN_SIGHT = """() => { const list = document.querySelector('.ragnb-rows-list'), seen = list.getBoundingClientRect();
  return [...list.querySelectorAll('.ragnb-rows-row')].map(row => [row.getBoundingClientRect(), row.textContent])
    .filter(([row]) => row.bottom > seen.top && row.top < seen.bottom && row.height).map(([, text]) => text) }"""
"""Texts of the rows that are seen."""
TINTED = "() => CSS.highlights.get('ragnb-found')?.size ?? 0"

pytestmark = pytest.mark.browser


def test_a_researcher_reads_ten_thousand_rows(book):
    from playwright.sync_api import expect

    expect.set_options(timeout=30_000)  # a busy machine takes its time
    show(book, CELL, SAID)
    rows, count = book.locator(".ragnb-rows-row"), book.locator(".ragnb-rows-count")
    shown, chosen = (
        book.locator(".ragnb-view-page"),
        book.locator(".ragnb-rows-row[aria-selected=true]"),
    )

    def row_at(number):
        return book.locator(f'.ragnb-rows-row[aria-posinset="{number}"]')

    expect(count).to_have_text("10,000 of 10,000", timeout=90_000)
    expect(row_at(1)).to_contain_text("Question 0")
    assert rows.count() < 40
    cells = book.locator(".jp-Notebook .jp-CodeCell").count()

    book.locator(".ragnb-rows-list").focus()
    for key in "jjjjk":
        book.keyboard.press(key)
    expect(shown).to_contain_text("needle3 in the hay")
    expect(chosen).to_contain_text("Question 3")
    for key in "abddmy":  # would add, delete and change cells
        book.keyboard.press(key)
    book.keyboard.press("End")
    expect(shown).to_contain_text("needle9999 in the hay")
    expect(chosen).to_contain_text("Question 9999")
    assert rows.count() < 40
    book.keyboard.press("Home")
    expect(shown).to_contain_text("needle0 in the hay")

    book.keyboard.press("/")
    book.keyboard.type("NEEDLE77 hay")
    expect(count).to_have_text("111 of 10,000")
    expect(shown).to_contain_text("needle77 in the hay")
    book.wait_for_function(f"() => ({TINTED})() > 0")
    book.keyboard.press("Escape")
    assert book.evaluate("() => document.activeElement.className") == "ragnb-rows-list"
    filters = book.locator(".ragnb-rows-menu summary")
    filters.first.click()
    book.get_by_label("rag", exact=True).check()
    expect(count).to_have_text("36 of 10,000")
    book.get_by_label("plain", exact=True).check()
    expect(count).to_have_text("72 of 10,000")
    expect(filters.first).to_contain_text("plain, rag")
    book.get_by_label("plain", exact=True).uncheck()
    expect(count).to_have_text("36 of 10,000")
    book.keyboard.press("Escape")
    expect(book.get_by_label("rag", exact=True)).not_to_be_visible()
    book.locator(".ragnb-rows-select").last.select_option("-number")
    expect(row_at(1)).to_contain_text("Question 7798")
    row_at(3).click()
    expect(chosen).to_have_attribute("aria-posinset", "3")
    expect(shown).to_contain_text("needle7792 in the hay")

    book.locator(".jp-CodeCell").nth(1).locator(".cm-content").click()
    book.keyboard.press("Control+Enter")
    said = re.compile("3 36 rag")
    expect(book.locator(".jp-CodeCell").nth(1).locator("pre").last).to_have_text(
        said, timeout=30_000
    )

    book.locator(".ragnb-rows-clear").click()
    expect(count).to_have_text("10,000 of 10,000")
    book.wait_for_function(SCROLLED, timeout=60_000)
    expect(rows.filter(has_text="Question 5000")).to_be_visible()
    assert rows.count() < 40
    book.locator(".ragnb-rows-list").evaluate("list => { list.scrollTop = 1305 * 46 }")
    book.wait_for_function(f"() => ({IN_SIGHT})().some(text => text.includes('Question 1305'))")
    before = book.evaluate(IN_SIGHT)
    change_theme(book, "dark")
    book.wait_for_timeout(700)
    assert book.evaluate(IN_SIGHT) == before, "another theme keeps the place in the list"

    assert book.locator(".jp-Notebook .jp-CodeCell").count() == cells


def test_citations_and_passages_of_a_card_light_up_together(book):
    show(book, CARD)
    card = book.locator(".ragnb-card")
    card.wait_for(timeout=60_000)
    passage = card.locator(".r-passage").first
    outline = "passage => getComputedStyle(passage).outlineStyle"
    book.mouse.move(0, 0)
    assert passage.evaluate(outline) == "none"
    citation = card.locator("span.r-k1")
    citation.hover()
    assert passage.evaluate(outline) == "solid"
    book.mouse.move(0, 0)
    assert passage.evaluate(outline) == "none"
    citation.focus()
    assert passage.evaluate(outline) == "solid"
    assert citation.evaluate(
        "one => document.getElementById(one.getAttribute('aria-describedby')).textContent"
    ).startswith("[1] ✓ contains the answer")
    passage.locator("summary").focus()
    assert citation.evaluate(outline) == "solid"
    passage.locator("summary").press("Enter")
    assert passage.get_attribute("open") is None


def test_a_view_is_freed_when_its_cell_runs_again(book):
    cell = CELL.replace("10_000", "50").replace("shown = ", "").replace("\nshown", "")
    count = "import gc\nfrom ragnb.widgets.rows import Rows\nprint(sum(isinstance(one, Rows) for one in gc.get_objects()))"
    show(book, cell, count)
    counts = []
    for _ in range(3):
        run_all(book)
        counts.append(book.locator(".jp-CodeCell").nth(1).locator("pre").last.inner_text())
    assert counts == [counts[0]] * 3
    assert book.locator(".ragnb-view").count() == 1
    book.locator(".ragnb-view-page", has_text="needle0 in the hay").wait_for(timeout=30_000)


def test_a_view_that_another_cell_displays_stays(book):
    cell = CELL.replace("10_000", "50").removesuffix("shown\n")
    show(book, cell, "shown")
    book.locator(".ragnb-view-page").wait_for(timeout=60_000)
    book.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0 }")
    book.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
    book.wait_for_timeout(1000)
    book.locator(".ragnb-rows-list").focus()
    book.keyboard.press("j")
    book.locator(".ragnb-view-page", has_text="needle1 in the hay").wait_for(timeout=30_000)
