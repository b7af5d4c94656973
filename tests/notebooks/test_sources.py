"""Notebooks, or their cells that need no recorded replies, also work with another data file and attribute it correctly."""

import re
import shutil
from itertools import takewhile
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from notebooks.execute import ENCRYPTED

import ragnb

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def code_cells(notebook):
    path = next(NOTEBOOKS.glob(f"{notebook}_*.ipynb"))
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def before_recorded_replies(cells):
    return list(
        takewhile(lambda cell: not re.search(r"recorded_(store|responses)\(", cell.source), cells)
    )


def shown_with(cells, source, folder):
    """Everything that the cells print or show when ``source`` names another file."""
    shutil.copytree(NOTEBOOKS.parent / "docs", folder / "docs")
    (folder / "notebooks").mkdir()
    assert (
        sum(len(re.findall(r"^source = .+$", cell.source, flags=re.MULTILINE)) for cell in cells)
        == 1
    )
    for cell in cells:
        cell.source = re.sub(
            r"^source = .+$", f"source = {str(source)!r}", cell.source, flags=re.MULTILINE
        )
        cell.outputs = []
    book = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(
        book,
        timeout=120,
        kernel_name="python3",
        config=ENCRYPTED,
        resources={"metadata": {"path": str(folder / "notebooks")}},
    ).execute()  # raises where a cell fails
    texts = [
        output.get("text", "")
        + "".join(
            str(value) for name, value in output.get("data", {}).items() if "image" not in name
        )
        for cell in cells
        for output in cell.outputs
    ]
    return "\n".join(texts)


@pytest.mark.data
@pytest.mark.parametrize(("notebook", "name"), [("01", "zh_refine"), ("04", "zh_int")])
def test_the_cells_before_the_recorded_replies_work_with_a_real_file(
    notebook, name, data_folder, tmp_path
):
    file = data_folder / "rgb" / f"{name}.json"
    if not file.is_file():
        pytest.skip(f"rgb/{name}.json is not in RAGNB_TEST_DATA")
    shown = shown_with(before_recorded_replies(code_cells(notebook)), file, tmp_path)
    assert f"{name}: " in shown
    assert "authors of ragnb" not in shown
    if notebook == "04":  # what the notebook's text says of this file
        assert "'released': 16}" in shown


def test_the_first_notebook_works_with_answers_of_other_systems(tmp_path):
    answers = (
        ragnb.load_study("evouna-nq")
        .query("system in ['gpt4', 'chatgpt']")
        .dropna(subset="verdict")
    )
    answers["references"] = answers["references"].str[0].str[0]
    columns = ["example_id", "question", "references", "system", "response", "verdict"]
    both = answers[columns].groupby("example_id").filter(lambda rows: len(rows) == 2).head(60)
    both.to_csv(tmp_path / "mine.csv", index=False)
    shown = shown_with(code_cells("00"), tmp_path / "mine.csv", tmp_path)
    accepted = both.groupby("system")["verdict"].mean() * 100
    for system, share in accepted.items():
        assert re.search(f"{share:.0f} % of (the answers|those) of {system}", shown)
    assert "n = 30 questions" in shown


def texts_before(cells, stop):
    """What the cells before the one with this id print or show, without pictures."""
    before = takewhile(lambda cell: cell.id != stop, cells)
    return "\n".join(str(o.get("text", o.get("data"))) for cell in before for o in cell.outputs)


@pytest.fixture
def other_answers(tmp_path):
    """A file with the answers of two other systems to 60 questions."""
    answers = ragnb.load_study("evouna-nq").query("system in ['gpt4', 'gpt35']")
    answers = answers.dropna(subset="verdict").head(120)
    answers["references"] = answers["references"].str[0].str[0]
    columns = ["example_id", "question", "references", "system", "response", "verdict"]
    answers[columns].to_csv(tmp_path / "mine.csv", index=False)
    return answers


@pytest.mark.slow
def test_significance_tests_follow_another_file(other_answers, tmp_path):
    cells = code_cells("08")
    shown = shown_with(cells, tmp_path / "mine.csv", tmp_path)
    wide = other_answers.pivot(index="example_id", columns="system", values="verdict").astype(bool)
    counts = [(wide.gpt4 & ~wide.gpt35).sum(), (wide.gpt35 & ~wide.gpt4).sum()]
    first, second = ("gpt4", "gpt35") if counts[0] >= counts[1] else ("gpt35", "gpt4")
    assert f"{max(counts)} to {min(counts)}: exact p" in shown
    assert f"of the answers of {first} and" in shown
    assert f"On {len(wide)} questions, people accepted {100 * wide[first].mean():.1f} %" in shown
    assert f"of those of {second} (difference" in shown
    assert f"source: {tmp_path / 'mine.csv'}" in shown
    assert not re.search("New Bing|FiD|100 questions", texts_before(cells, "family"))
