"""What is left of a widget where no kernel runs: in exported HTML, and on a code-hosting page that strips what it does not know."""

import re
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbconvert import HTMLExporter
from nbconvert.filters import markdown2html
from support.hostile import Reader

from ragnb import load_ragbench
from ragnb.annotation import AnnotationSession
from ragnb.widgets import Annotator, Card
from tools.execute import clean

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))

# ---- an exported notebook ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A notebook whose cell showed an annotator, cleaned as those of the repository are."""
    folder = tmp_path_factory.mktemp("export")
    key = ["example_id", "system"]
    shown = Annotator(load_ragbench("sample-ragbench"), "trace", "ana", folder, id=key)
    shown.session.label("relevant", ["0a", "1a"])
    shown.session.note("<script>alert('note')</script>")
    data, _ = shown._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    output = nbformat.v4.new_output("execute_result", data, execution_count=1)
    cell = nbformat.v4.new_code_cell("shown", outputs=[output], execution_count=1)
    state = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    book = nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": state})
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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_exported_html_folds_every_solution(path):
    """A folded text after a list may become an item of the list, which is not folded."""
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        texts = re.findall(r"</summary>(.+?)</details>", cell.source, flags=re.DOTALL)
        if cell.cell_type == "markdown" and texts:
            page = BeautifulSoup(markdown2html(cell.source), "html.parser")
            folded = [details.get_text() for details in page.find_all("details")]
            assert len(folded) == len(texts)
            for text, shown in zip(texts, folded, strict=True):
                words = re.findall(r"\w{4,}", re.sub(r"\]\(.+?\)|^```python", "", text, flags=re.M))
                assert not [word for word in words if word not in shown], cell.id


# ---- a code-hosting page -----------------------------------------------------------------------------------------------

# As html-pipeline's sanitization filter has them (github.com/gjtorikian/html-pipeline, lib/html_pipeline/sanitization_filter.rb).
# Elements that its releases of before 2023 did not know yet are left out, and so is what no viewer has.
KEPT = frozenset(
    "b i div ins del sup sub p ol ul li table thead tbody tfoot tr td th details summary".split()
)
LATER = frozenset("mark small span".split())
ATTRIBUTES = frozenset("dir lang title open align colspan rowspan".split())
EMPTIED = frozenset(("script", "style"))


def sanitized(markup, elements):
    """HTML as a code-hosting page keeps it: elements and attributes of the list, the text of all but scripts and styles."""
    page = BeautifulSoup(markup, "html.parser")
    for element in page.find_all(True):
        if element.name in EMPTIED:
            element.decompose()
        elif element.name in elements:
            element.attrs = {key: element[key] for key in element.attrs if key in ATTRIBUTES}
        else:
            element.unwrap()
    return str(page)


def test_the_sanitizer_strips_what_it_should():
    given = '<p style="color:red" class="x" id="y" data-a="1" aria-label="z" onclick="f()" dir="rtl">a<svg>b</svg><script>c</script></p>'
    assert sanitized(given, KEPT) == '<p dir="rtl">ab</p>'


ROW = {
    "question": "Where?", "references": [["Oslo"]], "passages": ["In Oslo.", "In Rome."], "kinds": ["positive", "wrong"],
    "false_answers": ["Rome"], "language": "en", "response": "Rome, not Oslo.", "system": "plain",
}  # fmt: skip
JUDGED = {
    "judged_by": "judged_correct", "judge_score": 0.0, "judge_verdict": 0.0, "human_label": 1.0, "annotations": {"ana": 1.0},
    "disagreement": 1.0,
}  # fmt: skip
SHOWN = {  # what is shown, elements that stay, and text that stays
    "rgb": (ROW, ["<sup>≠</sup>", "<del>", "<sup>1</sup>"], ["✓", "✗"]),
    "trace": (load_ragbench("sample-ragbench").iloc[0], [r"<sup>R ?U"], ["[0a]", "[a]", "✓", "✗"]),
    "language": ({"response": "Осло is big.", "language": "en"}, ["<ins>Осло </ins>", "<sup[^>]*>≠Cyrillic</sup>"], []),
    "judge": (ROW | JUDGED, [], ["label ✓ · ana ✓", "judged_correct ✗"]),
}  # fmt: skip


@pytest.mark.parametrize("elements", [KEPT, KEPT | LATER], ids=["older", "newer"])
@pytest.mark.parametrize("name", SHOWN)
def test_a_card_keeps_its_marks_and_verdicts(name, elements):
    row, marks, said = SHOWN[name]
    page = sanitized(Card(row)._repr_html_(), elements)
    text = Reader(page).text
    assert [mark for mark in marks if not re.search(mark, page)] == []
    assert [words for words in said if words not in text] == []


def test_an_annotation_keeps_which_sentences_carry_which_labels_without_paths_and_times(tmp_path):
    sample = load_ragbench("sample-ragbench")
    session = AnnotationSession(
        sample, "trace", "ana", tmp_path, id=["example_id", "system"], suggestions=sample
    )
    session.label("relevant", ["0a"])
    session.label("utilized", [])
    session.flag()
    page = sanitized(Annotator(session)._repr_html_(), KEPT)
    text = Reader(page).text
    wanted = "[0a] A heat pump is one kind of heating system.R", "relevant[0a]", "utilized∅ none"
    for words in (*wanted, "⚑ flagged", "? (suggested)"):
        assert words in text
    assert "<sup>R</sup>" in page
    assert str(Path(tmp_path).name) not in page
    assert not re.search(r"\d\d:\d\d", page)
    session.close()
