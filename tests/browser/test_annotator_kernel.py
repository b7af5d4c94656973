"""The annotator when pages are loaded again, cells are run twice, and kernels die: nothing acknowledged is lost."""

import os
import signal
import time

import pytest
from browser.lab import IDLE, show, wait_for_kernel
from browser.screen import Annotating, annotate

pytestmark = pytest.mark.browser

KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"


def trace(book, who):
    return annotate(book, f"Annotator(trace_items(), 'trace', {who!r}, '.')", f"{who}.trace.jsonl")


def notes(screen):
    return [event["value"] for event in screen.events() if event["action"] == "note"]


def notebook(book):
    """What keys of JupyterLab would change."""
    return book.evaluate("""() => { const book = window.jupyterapp.shell.currentWidget.content;
      return [book.widgets.map(cell => [cell.model.type, cell.model.sharedModel.source]), book.mode, book.activeCellIndex,
        document.querySelectorAll('.jp-Dialog').length, document.querySelectorAll('.jp-mod-selected').length] }""")


def test_a_page_that_is_loaded_again_shows_all_that_was_done(book):
    """A note that is being typed when the page closes is saved, and opening the page takes no focus."""
    screen = trace(book, "reload")
    screen.press("x", "n", "e", "f")
    book.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    screen.press("m")
    screen.type("to be continued")
    book.reload()
    wait_for_kernel(book)
    screen = Annotating(book, "reload.trace.jsonl")
    assert notes(screen) == ["to be continued"]
    assert "Question 2" in screen.question
    assert "∅ none" in screen.root.locator("[data-field=relevant] .value").inner_text()
    assert screen.button("flag").get_attribute("aria-pressed") == "true"
    assert not book.evaluate(INSIDE)
    screen.focus()
    screen.press("g")
    assert [row[:3] for row in screen.root.locator(".row .n").all_inner_texts()] == [
        "1 ◐",
        "2 ◐",
        "3 ·",
    ]
    screen.press("Escape", "u", "x", "p")
    assert screen.labels("q/2") == {"relevant": [], "utilized": ["00"]}
    assert screen.badges("Fact 0 of document 0") == "R"


def test_a_cell_that_is_run_again_takes_over_and_the_earlier_output_says_so(book):
    cell = "from browser.items import *\nfrom ragnb.widgets import Annotator\nAnnotator(trace_items(), 'trace', 'twice', '.')"
    show(book, cell, cell)
    earlier, later = (Annotating(book, "twice.trace.jsonl", nth) for nth in (0, 1))
    earlier.focus()
    earlier.press("x")
    assert "in another cell; continue in that cell" in earlier.message
    assert earlier.badges("Fact 0 of document 0") == ""
    later.focus()
    later.press("ArrowDown", "x")
    assert later.labels("q/1") == {"relevant": ["01"]}
    book.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    again = Annotating(book, "twice.trace.jsonl", 1)
    assert again.badges("Fact 1 of document 0") == "R"


def test_a_busy_kernel_is_said_and_what_waited_is_saved(book):
    screen = annotate(
        book, "shown = Annotator(trace_items(), 'trace', 'busy', '.')\nshown", "busy.trace.jsonl"
    )
    # Another thread may handle the key, and has to wait, too.
    hold = "import os, time\nwith shown.session.log.lock:\n    while not os.path.exists('go on'): time.sleep(0.1)"
    book.evaluate(f"code => {{ {KERNEL}.requestExecute({{ code }}) }}", hold)
    book.wait_for_function(f"() => {KERNEL}.status === 'busy'")
    book.keyboard.press("x")
    screen.wait_for_message("saving…")
    screen.wait_for_message("not saved yet: the kernel does not answer")
    (book.folder / "go on").touch()
    screen.settle()
    assert screen.message == ""
    assert screen.labels("q/1") == {"relevant": ["00"]}


def test_a_kernel_that_dies_takes_nothing_with_it_that_was_acknowledged(book):
    screen = trace(book, "killed")
    screen.press("x", "u", "ArrowDown", "x")
    show_pid = "() => new Promise(done => { const asked = %s.requestExecute({ code: 'import os; print(os.getpid())' }); asked.onIOPub = said => said.content.text && done(said.content.text) })"
    os.kill(int(book.evaluate(show_pid % KERNEL)), signal.SIGKILL)
    book.keyboard.press("j")
    book.keyboard.press("x")
    screen.wait_for_message("not saved", seconds=5)
    book.wait_for_function(IDLE, timeout=60_000)
    _close_dialogs(book)
    screen.focus()
    book.keyboard.press("x")
    screen.wait_for_message("not saved", seconds=5)
    book.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    book.wait_for_function(IDLE, timeout=60_000)
    time.sleep(0.5)
    screen = Annotating(book, "killed.trace.jsonl")
    assert screen.labels("q/1") == {"relevant": ["00"], "utilized": ["01"]}
    assert [screen.badges(f"Fact {k} of document 0") for k in range(3)] == ["R", "U", ""]
    screen.focus()
    screen.press("u", "x", "z")
    assert screen.actions() == ["label", "label", "label", "undo"]


def _close_dialogs(book):
    for _ in range(book.locator(".jp-Dialog").count()):
        book.locator(".jp-Dialog .jp-mod-accept").first.click()


INSIDE = "() => Boolean(document.activeElement.closest('.ragnb-annotator'))"
CALL = "from browser.items import *\nfrom ragnb.widgets import Annotator\nAnnotator(verdict_items(), 'verdict', {!r}, '.')"
FILL = """cells => { const book = window.jupyterapp.shell.currentWidget.content, shared = book.model.sharedModel;
  shared.transact(() => { shared.deleteCellRange(0, shared.cells.length);
    shared.insertCells(0, cells.map(source => ({ cell_type: 'code', source, metadata: {}, outputs: [], execution_count: null }))) });
  book.activeCellIndex = 0; book.activate() }"""
"""Cells instead of those of the notebook, none of them run; the first one is the active one."""


def test_keys_after_shift_enter_label(book):
    more = ["kept = 1", "last = 2"]
    book.evaluate(FILL, [CALL.format("shift"), *more])
    book.keyboard.press("Shift+Enter")
    book.wait_for_function(INSIDE, timeout=30_000)
    screen = Annotating(book, "shift.verdict.jsonl")
    screen.press("1", "Enter", "2", "m")
    cells = book.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells.map(one => [one.cell_type, one.source])"
    )
    assert cells[1:] == [["code", source] for source in more]
    assert [screen.labels(f"v/{k}") for k in (1, 2)] == [
        {"verdict": "correct"},
        {"verdict": "incorrect"},
    ]
    assert book.evaluate("() => document.activeElement.ariaLabel") == "note on this item"


def test_who_is_writing_when_the_annotator_is_shown_goes_on_writing(book):
    book.evaluate(FILL, ["import time; time.sleep(1.5)\n" + CALL.format("writing"), ""])
    book.keyboard.press("Shift+Enter")
    book.locator(".jp-CodeCell").nth(1).locator(".cm-content").click()
    book.keyboard.type("kept = 1")
    Annotating(book, "writing.verdict.jsonl")
    book.wait_for_timeout(500)
    book.keyboard.type("2")
    assert book.locator(".jp-CodeCell").nth(1).locator(".cm-content").inner_text() == "kept = 12"


PRINTABLE = [chr(code) for code in range(32, 127)]
COMMANDS = ["a", "b", "d", "d", "m", "y", "r", "0", "0", "i", "i", "x", "c", "v", "z", "Shift+M", "Shift+Enter", "Control+Enter",
            "Alt+Enter", "Escape", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown",
            "Delete", "Backspace", "Shift+ArrowDown", "Shift+Space", "Control+z", "Control+y", "Control+a"]  # fmt: skip


def test_no_key_reaches_the_notebook(book):
    screen = trace(book, "every")
    before, pid = notebook(book), book.evaluate(f"() => {KERNEL}.id")
    for key in [*PRINTABLE, *COMMANDS]:
        screen.focus()
        book.keyboard.press("Space" if key == " " else key)
    screen.settle()
    assert notebook(book) == before
    assert book.evaluate(f"() => {KERNEL}.id") == pid


def test_a_note_is_saved_when_another_tab_is_shown(book):
    screen = trace(book, "hidden")
    screen.press("m")
    screen.type("for now")
    book.evaluate(
        "() => document.dispatchEvent(new Event('visibilitychange'))"
    )  # headless pages stay visible
    screen.settle()
    assert notes(screen) == ["for now"]
