"""What is left of a widget where no kernel runs: in exported HTML, and on a code-hosting page that strips what it does not know."""

import re
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from hostile import Reader
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from notebooks.execute import clean

from ragnb import load_ragbench
from ragnb.annotation.session import AnnotationSession
from ragnb.widgets import Annotator, Card

# ---- an exported notebook ----------------------------------------------------------------------------------------------

CELL = """
import ragnb
from ragnb.widgets import Annotator
sample = ragnb.load_ragbench("sample-ragbench")
shown = Annotator(sample, "trace", "ana", ".", id=["example_id", "system"])
shown.session.label("relevant", ["0a", "1a"])
shown.session.note("<script>alert('note')</script>")
shown
"""


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A notebook with an annotator, run and cleaned as those of the repository are."""
    folder = tmp_path_factory.mktemp("export")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    assert "widgets" in book.metadata, "running alone would have left the state of the widget"
    clean(book)
    return book


def test_a_cleaned_notebook_holds_the_static_form_alone(executed):
    assert "widgets" not in executed.metadata
    (output,) = executed.cells[0].outputs
    assert set(output.data) == {"text/plain", "text/html"}
    assert "ragnb-annotator" not in nbformat.writes(executed)


def test_exported_html_shows_the_item_with_its_labels_and_none_of_our_scripts(executed):
    page, _ = HTMLExporter().from_notebook_node(executed)
    shown = page[page.index("jp-RenderedHTMLCommon") :]
    assert "How does a heat pump differ from a gas boiler?" in shown
    assert re.search(
        r"\[0a\] </span><mark[^>]*>A heat pump is one kind of heating system\.</mark><sup>R</sup>",
        shown,
    )
    assert "application/vnd.jupyter.widget" not in page
    assert "keydown" not in shown
    assert "&lt;script&gt;alert('note')&lt;/script&gt;" in shown
    assert "<script>alert" not in page


# ---- a code-hosting page -----------------------------------------------------------------------------------------------

# As html-pipeline's sanitization filter has them (github.com/gjtorikian/html-pipeline, lib/html_pipeline/sanitization_filter.rb).
# Elements that its releases of before 2023 did not know yet are left out, and so is what no viewer has.
KEPT = frozenset(
    "b i div ins del sup sub p ol ul li table thead tbody tfoot tr td th details summary".split()
)
LATER = frozenset("mark small span".split())
ATTRIBUTES = frozenset("dir lang title open align colspan rowspan".split())
EMPTIED = frozenset(("script", "style"))


class Sanitized(HTMLParser):
    """HTML as a code-hosting page keeps it: elements and attributes of the list, the text of all but scripts and styles."""

    def __init__(self, markup, elements):
        super().__init__()
        self.elements, self.html, self.silent = elements, "", 0
        self.feed(markup)
        self.close()

    def handle_starttag(self, name, attributes):
        self.silent += name in EMPTIED
        if name in self.elements:
            kept = "".join(
                f' {key}="{escape(value or "")}"' for key, value in attributes if key in ATTRIBUTES
            )
            self.html += f"<{name}{kept}>"

    def handle_endtag(self, name):
        self.silent -= name in EMPTIED
        if name in self.elements:
            self.html += f"</{name}>"

    def handle_data(self, data):
        if not self.silent:
            self.html += escape(data)


def test_the_sanitizer_strips_what_it_should():
    given = '<p style="color:red" class="x" id="y" data-a="1" aria-label="z" onclick="f()" dir="rtl">a<svg>b</svg><script>c</script></p>'
    assert Sanitized(given, KEPT).html == '<p dir="rtl">ab</p>'


@pytest.fixture(params=[KEPT, KEPT | LATER], ids=["older", "newer"])
def hosted(request):
    """How a view's HTML reads on a code-hosting page, whether it knows ``<mark>`` or not."""
    return lambda view: Sanitized(view._repr_html_(), request.param).html


ROW = {
    "question": "Where?", "references": [["Oslo"]], "passages": ["In Oslo.", "In Rome."], "kinds": ["positive", "wrong"],
    "false_answers": ["Rome"], "language": "en", "response": "Rome, not Oslo.", "system": "plain",
}  # fmt: skip


def test_an_rgb_item_keeps_what_decides(hosted):
    page = hosted(Card(ROW))
    assert "<sup>≠</sup>" in page
    assert "<del>" in page
    assert "<sup>1</sup>" in page
    assert {"✓", "✗"} <= set(Reader(page).text)


def test_trace_labels_keep_their_letters_keys_and_verdicts(hosted):
    page = hosted(Card(load_ragbench("sample-ragbench").iloc[0]))
    text = Reader(page).text
    assert re.search(r"<sup>R ?U", page)
    assert all(sign in text for sign in ("[0a]", "[a]", "✓", "✗"))


def test_a_language_keeps_which_letters_are_foreign(hosted):
    page = hosted(Card({"response": "Осло is big.", "language": "en"}))
    assert "<ins>Осло </ins>" in page
    assert re.search(r"<sup[^>]*>≠Cyrillic</sup>", page)


def test_a_judges_error_keeps_both_verdicts(hosted):
    row = ROW | {"judged_by": "judged_correct", "judge_score": 0.0, "judge_verdict": 0.0, "human_label": 1.0, "annotations": {"ana": 1.0},
                 "disagreement": 1.0}  # fmt: skip
    text = Reader(hosted(Card(row))).text
    assert "label ✓ · ana ✓" in text
    assert "judged_correct ✗" in text


@pytest.mark.parametrize("suggested", [False, True])
def test_an_annotation_keeps_which_sentences_carry_which_labels(hosted, tmp_path, suggested):
    sample = load_ragbench("sample-ragbench")
    more = {"suggestions": sample, "suggested_by": "a judge"} if suggested else {}
    session = AnnotationSession(
        sample, "trace", "ana", tmp_path, id=["example_id", "system"], **more
    )
    session.label("relevant", ["0a"])
    session.label("utilized", [])
    session.flag()
    page = hosted(Annotator(session))
    text = Reader(page).text
    assert "[0a] A heat pump is one kind of heating system.R" in text
    assert "<sup>R</sup>" in page
    assert "relevant[0a]" in text
    assert "utilized∅ none" in text
    assert "⚑ flagged" in text
    assert ("? (suggested)" in text) == suggested
    session.close()


def test_paths_and_times_of_the_log_stay_out_of_the_static_form(tmp_path):
    session = AnnotationSession(
        load_ragbench("sample-ragbench"), "trace", "ana", tmp_path, id=["example_id", "system"]
    )
    pages = [Annotator(session)._repr_html_() for _ in range(2)]
    assert len(set(pages)) == 1
    assert str(Path(tmp_path).name) not in pages[0]
    assert not re.search(r"\d\d:\d\d", pages[0])
    session.close()
