"""House rules of the notebooks that nbval does not know: structure, length, and what must never be committed."""

import json
import re
import runpy
from pathlib import Path

import nbformat
import pytest
from nbval import kernel
from support.exercises import solutions
from support.links import anchors

from tools.execute import execute
from tools.reading_time import COURSE, TITLE, WORDS, minutes_of, row_of_course

ROOT = Path(__file__).parents[2]
BOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module", params=BOOKS, ids=lambda path: path.stem)
def book(request):
    return nbformat.read(request.param, as_version=4)


def code(book):
    return [cell for cell in book.cells if cell.cell_type == "code"]


def prose(book):
    return "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")


def test_there_are_notebooks():
    assert [path.stem[:2] for path in BOOKS][:2] == ["00", "01"]


def test_every_code_cell_was_executed_in_order_without_error(book):
    counts = [cell.execution_count for cell in code(book)]
    assert counts == list(range(1, len(code(book)) + 1)), "run it with tools/execute.py"
    outputs = [output for cell in code(book) for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]


def test_nbval_compares_the_output_of_every_cell(book):
    """An output that nbval has to ignore depends on the machine, so `make figures` would change the notebook there."""
    tags = [tag for cell in book.cells for tag in cell.metadata.get("tags", [])]
    assert "nbval-ignore-output" not in tags


def test_the_anatomy_of_a_chapter_is_there(book):
    headings = " ".join(re.findall(r"^#+ (.+)$", prose(book), flags=re.MULTILINE)).lower()
    for wanted in ("goals", "exercise", "take-aways", "provenance"):
        assert wanted in headings, f"no section {wanted!r}"
    assert solutions(book), "no exercise has a folded solution: see ragnb.teaching.check"


def test_cells_are_short_enough_to_be_read_at_once(book):
    """Up to eight lines that fit on a page; a rubric may have one more. A person writes the title of a figure."""
    for cell in code(book):
        lines = [line for line in cell.source.splitlines() if line.strip()]
        assert len(lines) <= (9 if "rubric(my_text" in cell.source else 8), cell.source
        assert max(map(len, lines)) <= 88, cell.source
        assert not re.search(r"\btitle=(?!\")", cell.source), cell.source


def test_something_is_handed_in_and_compared_with_a_rubric(book):
    exercises = [cell for cell in code(book) if "rubric(my_text" in cell.source]
    assert len(exercises) == 1, "one exercise hands in a text: rubric(my_text, points, hint=...)"
    (exercise,) = exercises
    assert "hint=" in exercise.source
    assert exercise.outputs[0].text.startswith("Your turn. A good answer")
    assert solutions(book)[exercise.id].startswith("my_text = ")


def test_every_figure_is_shown_and_has_alternative_text(book):
    for cell in code(book):
        draws = any("image/png" in output.get("data", {}) for output in cell.outputs)
        advice = 'a figure, and no other cell, needs "alt" in its metadata'
        assert draws == bool(cell.metadata.get("alt")), f"{advice}: {cell.source}"


def test_no_key_no_path_of_a_machine_and_no_widget_state_is_in_a_notebook(book):
    assert "widgets" not in book.metadata
    text = json.dumps(book)
    assert not re.search(r"sk-[A-Za-z0-9]{8}|(?<![\w.])/(?:root|home|Users|tmp|work)/", text)


def test_links_to_notebooks_and_pages_lead_somewhere(book):
    for target, anchor in re.findall(r"\]\(([\w./-]+\.(?:ipynb|md))#?([^)]*)\)", prose(book)):
        path = ROOT / "notebooks" / target
        assert path.is_file(), target
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path.read_text("utf-8")), f"{target}#{anchor}"


def test_the_minutes_follow_from_the_formula_of_the_course():
    for path in BOOKS:
        minutes = minutes_of(path)
        title = nbformat.read(path, as_version=4).cells[0].source
        stated = row_of_course(path).search(COURSE.read_text("utf-8")), TITLE.search(title)
        assert stated[0], f"{path.name}: add it with its minutes to the table of docs/course.md"
        assert stated[1], f'{path.name}: write "About {WORDS[minutes]} minutes." below its title'
        are_right = [match[2] for match in stated] == [str(minutes), WORDS[minutes]]
        assert are_right, f"{path.name}: run python tools/reading_time.py"


# Words in italics in docs/course.md that are no headings of a notebook.
NO_HEADINGS = {
    "does the response contain an alias?",
    "predict",
    "Criticise",
    "Hand in",
    "Minutes",
    "What goes wrong if",
}


def headings_of(path):
    """Headings of a notebook, and the questions in bold that continue *What goes wrong if …*."""
    text = prose(nbformat.read(path, as_version=4))
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    questions = re.findall(r"^\*\*(….+?)\*\*", text, flags=re.MULTILINE)
    plain = (re.sub("^What goes wrong if (… )?", "… ", one) for one in headings + questions)
    # A heading may contain marks of emphasis or of code.
    return {re.sub("[*`]", "", heading).strip() for heading in plain} | {*headings}


def test_the_headings_that_the_course_names_exist():
    known = NO_HEADINGS.union(*map(headings_of, BOOKS))
    named = re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", COURSE.read_text("utf-8"))
    assert [heading for heading in named if heading not in known] == []


# ---- how they are run --------------------------------------------------------------------------------------------------


def test_make_figures_runs_its_kernels_with_encryption(tmp_path, capfd):
    path = tmp_path / "one.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")]), path)
    execute(path)
    assert nbformat.read(path, as_version=4).cells[0].outputs[0].data["text/plain"] == "2"
    assert "encryption" not in capfd.readouterr().err  # what a kernel without it warns of


def test_nbval_runs_its_kernels_with_encryption(monkeypatch):
    # What the conftest replaces is put back.
    replaced = [
        (kernel, "KernelManager"),
        (kernel, "RunningKernel"),
        (kernel.RunningKernel, "execute_cell_input"),
    ]
    for owner, name in replaced:
        monkeypatch.setattr(owner, name, getattr(owner, name))
    runpy.run_path(str(ROOT / "conftest.py"))["make_strict"]()
    manager = kernel.KernelManager()
    manager.pre_start_kernel()
    assert manager.curve_publickey is not None
    manager.cleanup_connection_file()
