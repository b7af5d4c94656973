"""What is easily forgotten when something is added: each list that has to name the new thing is compared with what exists."""

import re
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ragnb
from ragnb import tables
from ragnb.annotation import TASKS
from ragnb.display import drawing
from ragnb.metrics import PROTOCOLS
from ragnb.widgets.rows import Title

ROOT = Path(__file__).parents[1]
NUMBERS = "two three four five six seven eight nine ten eleven twelve thirteen fourteen".split()


def read(path):
    return (ROOT / path).read_text("utf-8")


# ---- a notebook ----------------------------------------------------------------------------------

NOTEBOOKS = sorted(path.name for path in ROOT.glob("notebooks/*.ipynb"))
# Notebooks without a recomputation, and where their numbers are checked instead.
RECOMPUTED_ELSEWHERE = {
    "01": "tests/datasets/test_published_tables.py and tests/reports/test_rgb.py",
    "08": "tests/metrics/test_language.py",
    "11": "tests/metrics/test_answer.py, one example per branch",
    "21": "tests/annotation/test_tag_report.py",
}


@pytest.fixture(scope="module")
def gallery():
    return runpy.run_path(str(ROOT / "docs" / "conf.py"))["with_pictures"]("")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_in_the_readme_the_course_and_the_gallery(name, gallery):
    section = gallery.partition(f"](../notebooks/{name})\n")[2].partition("\n## ")[0]
    has = {
        "add it to the grid of README.md": f"](notebooks/{name})" in read("README.md"),
        "add a row to docs/course.md": f"](../notebooks/{name}) |" in read("docs/course.md"),
        f"save a figure whose name begins with {name[:3]}, and name it in a cell": "![" in section,
        "run python docs/build.py": f"/{name})" in read("docs/online.md"),
    }
    missing = [sentence for sentence, is_there in has.items() if not is_there]
    assert not missing, "; ".join(missing)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_with_other_data_and_its_numbers_are_computed_again(name):
    number = name[:2]
    sources = read("tests/notebooks/test_sources.py")
    again = f"tests/notebooks/recomputed/test_{number}.py"
    is_computed_again = (ROOT / again).exists() or number in RECOMPUTED_ELSEWHERE
    missing = []
    if not re.search(rf'["/]{number}["_]', sources):
        missing.append(f"test notebook {number} with other data in tests/notebooks/test_sources.py")
    if not is_computed_again:
        missing.append(f"compute what the notebook prints without ragnb in {again}")
    assert not missing, "; ".join(missing)


def test_the_places_where_numbers_of_notebooks_are_checked_instead_exist():
    for places in RECOMPUTED_ELSEWHERE.values():
        for place in re.findall(r"tests/[\w/]+\.py", places):
            assert (ROOT / place).exists(), place


# ---- a protocol of RGB ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_module_of_the_metrics_of_rgb_explains_each_protocol(name):
    advice = f"add a line about ``'{name}'`` to the docstring of ragnb/metrics/rgb.py"
    assert f"- ``'{name}'`` (" in read("ragnb/metrics/rgb.py"), advice


def test_a_text_that_counts_the_protocols_has_their_number():
    texts = [*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"]
    wrong = []
    for path in [*texts, *ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("ragnb/**/*.py")]:
        counted = re.findall(r"\b(\w+) protocols\b", path.read_text("utf-8"))
        # Two protocols are not all of them.
        counts = {word.lower() for word in counted} & {*NUMBERS[1:]}
        wrong += [path.name for word in counts if NUMBERS.index(word) + 2 != len(PROTOCOLS)]
    assert not wrong, f"correct {', '.join(wrong)}: there are {len(PROTOCOLS)} protocols"


# ---- an annotation task --------------------------------------------------------------------------


def test_a_text_that_counts_the_annotation_tasks_has_their_number():
    """`test_tasks.py` checks that each task is named in the docs."""
    texts = [*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"]
    for path in [*texts, *ROOT.glob("ragnb/annotation/**/*.*"), *ROOT.glob("ragnb/widgets/*.py")]:
        if path.suffix not in (".md", ".py", ".toml"):
            continue
        counted = re.findall(r"\b(\w+) (?:annotation |labelling )tasks\b", path.read_text("utf-8"))
        for word in {word.lower() for word in counted} & {*NUMBERS}:
            assert NUMBERS.index(word) + 2 == len(TASKS), f"{path.name} counts {word} tasks"


# ---- a column of a comparison --------------------------------------------------------------------

# Columns that a LaTeX table of differences leaves out, and why.
NOT_IN_LATEX = {
    "n_clusters": "the note names the kind of interval",
    "mean": "the difference is printed",
    "baseline_mean": "the difference is printed",
    "statistic": "the p-value is printed",
    "effect_low": "",
    "effect_high": "",
    "warning": "for the reader of the notebook",
    "why": "for the reader of the notebook",
    "problem": "for the reader of the notebook",
}


def scores_of(values, metric="answer.exact_match", **columns):
    """Scores of two systems on the same questions, with these values of both."""
    rows = [
        {"example_id": f"q{n % 20}", "system": system, "metric": metric, "value": value, "repeat": n // 20}
        for system, of_system in zip("ab", values, strict=True)
        for n, value in enumerate(of_system)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(signature=f"ragnb:0|{metric}", **columns)


@pytest.fixture(scope="module")
def comparisons():
    """One comparison of each kind: one score per question, several runs, and few labels."""
    rng = np.random.default_rng(5)
    once = scores_of(rng.integers(0, 2, (2, 20))).drop(columns="repeat")
    several = scores_of(rng.integers(0, 2, (2, 60)))
    # Ten of the questions are drawn for labelling.
    is_drawn = once["example_id"].isin([f"q{n}" for n in range(10)])
    labels = once[["example_id", "system"]].assign(label=once["value"], probability=0.5)[is_drawn]
    return {
        "one score per question": ragnb.compare(once),
        "several runs": ragnb.compare(several, questions="these", by=[]),
        "clusters": ragnb.compare(several, by=[]),
        "few labels": ragnb.compare(once, labels=labels),
        "equal scores": ragnb.compare(scores_of(np.ones((2, 20))).drop(columns="repeat")),
    }


def test_the_docstring_of_compare_names_each_column(comparisons):
    text = ragnb.compare.__doc__.partition("Returns\n")[2]
    for kind, frame in comparisons.items():
        missing = [name for name in frame if not re.search(rf"\b{name}\b", text)]
        assert not missing, f"name {missing} ({kind}) under Returns in the docstring of compare"


def test_a_table_in_the_notebook_has_each_column_of_a_comparison(comparisons):
    for kind, frame in comparisons.items():
        shown = drawing(frame)
        names = {name for column in shown.columns for name in column.names.split(", ")}
        lines = " ".join([*map(str, shown.below), *map(str, shown.folded), str(shown.above)])
        for name in {*frame} - names - {"signature"}:
            words = [name, name.replace("_", " "), "Warning"]
            assert any(word in lines for word in words) or frame[name].isna().all(), (kind, name)


def test_a_table_in_latex_prints_each_column_of_a_comparison_or_says_why_not(comparisons):
    read_by_tables = {*tables._COMPARISON, "n_dropped", "metric"}
    for kind in ("one score per question", "clusters", "equal scores"):
        undecided = {*comparisons[kind]} - read_by_tables - {*NOT_IN_LATEX}
        assert not undecided, f"print {undecided} in ragnb/tables.py, or add it to NOT_IN_LATEX"


# ---- a part of a row in the viewer ---------------------------------------------------------------


def test_a_line_of_the_viewer_has_the_same_parts_in_python_javascript_and_the_template():
    script = read("tools/js/src/rows.mjs")
    (parts,) = re.findall(
        r"const \[([\w, ]+)\] = this\.\w+\.get\(position\) \?\? UNKNOWN_ROW", script
    )
    advice = (
        f"Title in rows.py has {', '.join(Title._fields)}: name the same in tools/js/src/rows.mjs (where a "
        "row is unpacked, and in UNKNOWN_ROW) and in ragnb/widgets/templates/view.html"
    )
    assert len(parts.split(", ")) == len(Title._fields), advice
    (unknown,) = re.findall(r"^const UNKNOWN_ROW = \[(.*)\];$", script, flags=re.MULTILINE)
    assert len(unknown.split(", ")) == len(Title._fields), advice
    template = read("ragnb/widgets/templates/view.html")
    (names,) = re.findall(r"{% for (number, [\w, ]+, card) in rows %}", template)
    assert names.split(", ") == ["number", *Title._fields, "card"], advice
    body = template.partition(names)[2].partition("{% endfor %}")[0]
    not_drawn = [name for name in Title._fields if not re.search(rf"\b{name}\b", body)]
    assert not not_drawn, f"view.html names {not_drawn} and does not draw it"


# ---- a file that another tool wrote --------------------------------------------------------------


def test_each_file_of_another_tool_is_in_the_list_of_their_sources():
    folder = ROOT / "tests" / "datasets" / "made_by"
    text = (folder / "SOURCE.md").read_text("utf-8")
    named = {*re.findall(r"[\w./-]+", text)}
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if path.is_file() and "__pycache__" not in name.parts and name.name != "conftest.py":
            places = {name.as_posix(), *(parent.as_posix() for parent in name.parents)}
            assert places & named or name.name == "SOURCE.md", (
                f"say in SOURCE.md which tool wrote {name}, and how"
            )
