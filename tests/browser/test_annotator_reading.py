"""Labels that are read in the cell after the annotator, while the last clicks are on their way."""

import pytest
from support.lab import fill, show
from support.screen import IMPORTS, Annotating

pytestmark = pytest.mark.browser

KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
# Every action takes half a second, as on a busy machine.
SLOW = """import time
Annotator.act_at_once = getattr(Annotator, 'act_at_once', Annotator._act)
def slowly(self, content):
    time.sleep(0.5)
    return self.act_at_once(content)
Annotator._act = slowly
"""
AT_ONCE = "Annotator._act = Annotator.act_at_once"
SHOWN = "shown = Annotator(verdict_items(6), 'verdict', {who!r}, '.')\nshown"
# Printed by the kernel while the page is doing other things.
PRINTED = """code => new Promise(done => {
  const asked = %s.requestExecute({ code });
  let text = '';
  asked.onIOPub = said => { if (said.content.text) text += said.content.text; };
  asked.done.then(() => done(text)) })"""
READ = """import warnings
import ragnb
from ragnb.annotation import read_labels
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter('always')
    labels = read_labels({log})
print(len(labels), *[str(one.message) for one in warned])"""


@pytest.mark.parametrize("log", ["'{who}.verdict.jsonl'", "shown.session", "shown"])
def test_labels_on_their_way_are_waited_for(book, log):
    who = f"wait{len(log)}"
    book.evaluate("""() => localStorage.setItem("ragnb-annotator", '{"goesOn": true}')""")
    show(book, IMPORTS + SLOW + SHOWN.format(who=who))
    screen = Annotating(book, f"{who}.verdict.jsonl")
    screen.focus("response")
    screen.press_ahead("1", "2", "1", "2", "1")
    printed = book.evaluate(PRINTED % KERNEL, READ.format(log=log.format(who=who)))
    assert printed == "5\n"
    book.evaluate(f"code => {KERNEL}.requestExecute({{ code }}).done", AT_ONCE)


def test_labels_that_are_given_while_the_reading_cell_runs_are_waited_for(book):
    """The cell shows the annotator anew, after which ipykernel could hold messages until the cell has run."""
    show(book, IMPORTS + SLOW + SHOWN.format(who="while"))
    screen = Annotating(book, "while.verdict.jsonl")
    screen.focus("response")
    screen.press("1")
    cell = "shown.refresh()\ntime.sleep(2)\n" + READ.format(log="shown")
    book.evaluate(f"code => {{ window.printed = ({PRINTED % KERNEL})(code) }}", cell)
    book.wait_for_timeout(300)
    screen.press_ahead("Enter", "2", "Enter", "1")
    assert book.evaluate("() => window.printed") == "3\n"
    book.evaluate(f"code => {KERNEL}.requestExecute({{ code }}).done", AT_ONCE)


def test_an_output_that_is_gone_is_not_waited_for(book):
    show(book, IMPORTS + SHOWN.format(who="gone"))
    screen = Annotating(book, "gone.verdict.jsonl")
    screen.focus("response")
    screen.press("1")
    fill(book, "'another cell'")
    book.locator(".ragnb-annotator").wait_for(state="detached")
    # A page that is waited for would have a minute to answer.
    timed = """import time
import ragnb.widgets.browser
from ragnb.annotation import read_labels
ragnb.widgets.browser.NO_ANSWER = 60
start = time.monotonic()
labels = read_labels('gone.verdict.jsonl')
print(len(labels), time.monotonic() - start < 30)
ragnb.widgets.browser.NO_ANSWER = 2"""
    assert book.evaluate(PRINTED % KERNEL, timed) == "1 True\n"
