"""The annotator when pages are loaded again, cells are run twice, and kernels die: nothing acknowledged is lost."""

import os
import signal
import time

import pytest
from support.lab import IDLE, fill, run_all, show, wait_for_kernel
from support.screen import IMPORTS, Annotating, annotate

pytestmark = pytest.mark.browser

KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
INSIDE = "() => Boolean(document.activeElement.closest('.ragnb-annotator'))"
CELL = IMPORTS + "Annotator({items}, {task!r}, {who!r}, '.')"


def notebook(book):
    """What keys of JupyterLab would change."""
    return book.evaluate("""() => { const book = window.jupyterapp.shell.currentWidget.content;
      return [book.widgets.map(cell => [cell.model.type, cell.model.sharedModel.source]), book.mode, book.activeCellIndex,
        document.querySelectorAll('.jp-Dialog').length, document.querySelectorAll('.jp-mod-selected').length] }""")


def test_a_page_that_is_loaded_again_shows_all_that_was_done(book):
    """A note that is being typed when the page closes is saved, and opening the page takes no focus."""
    screen = annotate(book, "reload")
    screen.press("x", "n", "e", "f")
    book.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    screen.press("m")
    screen.type("to be continued")
    book.reload()
    wait_for_kernel(book)
    screen = Annotating(book, "reload.trace.jsonl")
    assert screen.values("note") == [("q/2", "to be continued")]
    assert "Question 2" in screen.question
    assert "∅ none" in screen.value("relevant")
    assert screen.button("flag").get_attribute("aria-pressed") == "true"
    assert not book.evaluate(INSIDE)
    screen.focus()
    screen.press("g")
    rows = screen.root.locator(".row .n").all_inner_texts()
    assert [row[:3] for row in rows] == ["1 ◐", "2 ◐", "3 ·"]
    screen.press("Escape", "u", "x", "p")
    assert screen.labels("q/2") == {"relevant": [], "utilized": ["00"]}
    assert screen.badges("Fact 0 of document 0") == "R"


def test_a_cell_that_is_run_again_takes_over_and_the_earlier_output_says_so(book):
    cell = CELL.format(items="trace_items()", task="trace", who="twice")
    show(book, cell, cell)
    earlier, later = (Annotating(book, "twice.trace.jsonl", nth) for nth in (0, 1))
    earlier.focus()
    earlier.press("x")
    assert "in another cell; continue in that cell" in earlier.message
    assert earlier.badges("Fact 0 of document 0") == ""
    later.focus()
    later.press("ArrowDown", "x")
    assert later.labels("q/1") == {"relevant": ["01"]}
    run_all(book)
    again = Annotating(book, "twice.trace.jsonl", 1)
    assert again.badges("Fact 1 of document 0") == "R"


def test_a_busy_kernel_is_said_and_what_waited_is_saved(book):
    show(book, IMPORTS + "shown = Annotator(trace_items(), 'trace', 'busy', '.')\nshown")
    screen = Annotating(book, "busy.trace.jsonl")
    screen.focus()
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


PID = """() => new Promise(done => {
  const asked = %s.requestExecute({ code: 'import os; print(os.getpid())' });
  asked.onIOPub = said => said.content.text && done(said.content.text) })"""


def test_a_kernel_that_dies_takes_nothing_with_it_that_was_acknowledged(book):
    screen = annotate(book, "killed")
    screen.press("x", "u", "ArrowDown", "x")
    pid = book.evaluate(PID % KERNEL)
    os.kill(int(pid), signal.SIGKILL)
    screen.press_ahead("j", "x")
    screen.wait_for_message("not saved", seconds=5)
    book.wait_for_function(IDLE, timeout=60_000)
    for _ in range(book.locator(".jp-Dialog").count()):
        book.locator(".jp-Dialog .jp-mod-accept").first.click()
    screen.focus()
    book.keyboard.press("x")
    screen.wait_for_message("not saved", seconds=5)
    run_all(book)
    book.wait_for_function(IDLE, timeout=60_000)
    time.sleep(0.5)
    screen = Annotating(book, "killed.trace.jsonl")
    assert screen.labels("q/1") == {"relevant": ["00"], "utilized": ["01"]}
    assert [screen.badges(f"Fact {k} of document 0") for k in range(3)] == ["R", "U", ""]
    screen.focus()
    screen.press("u", "x", "z")
    assert screen.actions() == ["label", "label", "label", "undo"]


def test_keys_after_shift_enter_label(book):
    cell = CELL.format(items="verdict_items()", task="verdict", who="shift")
    fill(book, cell, "kept = 1", "last = 2")
    book.keyboard.press("Shift+Enter")
    book.wait_for_function(INSIDE, timeout=30_000)
    screen = Annotating(book, "shift.verdict.jsonl")
    screen.press("1", "Enter", "2", "m")
    assert notebook(book)[0][1:] == [["code", "kept = 1"], ["code", "last = 2"]]
    assert screen.labels("v/1") == {"verdict": "correct"}
    assert screen.labels("v/2") == {"verdict": "incorrect"}
    assert book.evaluate("() => document.activeElement.ariaLabel") == "note on this item"


def test_who_is_writing_when_the_annotator_is_shown_goes_on_writing(book):
    cell = CELL.format(items="verdict_items()", task="verdict", who="writing")
    fill(book, f"import time; time.sleep(1)\n{cell}", "")
    book.keyboard.press("Shift+Enter")
    writing = book.locator(".jp-CodeCell").nth(1).locator(".cm-content")
    writing.click()
    book.keyboard.type("kept = 1")
    Annotating(book, "writing.verdict.jsonl")
    book.wait_for_timeout(500)
    book.keyboard.type("2")
    assert writing.inner_text() == "kept = 12"


PRINTABLE = [chr(code) for code in range(32, 127)]
COMMANDS = ["a", "b", "d", "d", "m", "y", "r", "0", "0", "i", "i", "x", "c", "v", "z", "Shift+M", "Shift+Enter", "Control+Enter",
            "Alt+Enter", "Escape", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown",
            "Delete", "Backspace", "Shift+ArrowDown", "Shift+Space", "Control+z", "Control+y", "Control+a"]  # fmt: skip


def test_no_key_reaches_the_notebook(book):
    screen = annotate(book, "every")
    before, pid = notebook(book), book.evaluate(f"() => {KERNEL}.id")
    for key in [*PRINTABLE, *COMMANDS]:
        screen.focus()
        book.keyboard.press("Space" if key == " " else key)
    screen.settle()
    assert notebook(book) == before
    assert book.evaluate(f"() => {KERNEL}.id") == pid
