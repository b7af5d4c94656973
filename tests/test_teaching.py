"""Exercises: which answers are the same, and what is printed."""

import hashlib
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbconvert import HTMLExporter, SlidesExporter
from support.exercises import solutions

import ragnb
from ragnb.teaching import answer_digest, check, rubric, students_copy

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


@pytest.mark.parametrize(
    ("answer", "decimals", "text"),
    [
        (2 / 3, 3, "0.667"),
        (-0.4996, 3, "-0.500"),
        (7, 0, "7"),
        (np.float32(0.25), 2, "0.25"),
        (float("nan"), 3, "nan"),
        (" Wilson ", 3, "wilson"),
        ("Straße", 3, "strasse"),
        *((zero, 3, "0.000") for zero in (-1e-17, -0.0, 0.3 - 0.2 - 0.1, -0.0004, 0)),
    ],
)
def test_an_answer_is_its_rounded_number_or_its_folded_text(answer, decimals, text):
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    assert answer_digest(answer, decimals=decimals) == digest


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "Your turn. Hint: halve"),
        (0.4, "✗ Not yet: 0.4 is not it. Hint: halve"),
        (0.5004, "✓ Right."),
        ("0.5", "✗ Not yet: '0.5' is not it. Hint: halve"),
    ],
)
def test_what_is_said_to_an_answer(answer, said, capsys):
    check(answer, answer_digest(0.5), hint="halve")
    assert capsys.readouterr().out == f"{said}\n"


POINTS = {"gives n": ["n =", "Questions"], "says who decided": ["people", "two readers"]}


@pytest.mark.parametrize(
    ("text", "marks", "end"),
    [
        (None, ["  - gives n", "  - says who decided"], "Hint: count"),
        ("Of 40 questions, PEOPLE accept 3.", ["  ✓ gives n", "  ✓ says who decided"], "✓ Nothing"),
        (
            "n\n= 40",
            ["  ✓ gives n", "  ? says who decided (none of these words: people, two"],
            "Hint",
        ),
        ("", ["  ? gives n (none", "  ? says who decided (none"], "Hint: count"),
    ],
)
def test_a_rubric_names_what_a_text_forgot(text, marks, end, capsys):
    rubric(text, POINTS, hint="count")
    lines = capsys.readouterr().out.splitlines()
    lines = lines[1:] if text is None else lines
    assert all(line.startswith(mark) for line, mark in zip(lines, [*marks, end], strict=True))


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("10 of 11", False),
        ("many answers", False),
        ("0 of 11", True),
        ("(0 of 11)", True),
        ("Any answer", True),
        ("anything", True),
        ("0.30±0.02", True),
        ("报告包含置信区间。", True),
        ("العدد والفاصل", True),
        ("le déjà-vu", True),
        ("le de\u0301ja\u0300-vu", True),
        ("prédéjà", False),
    ],
)
def test_a_phrase_of_a_rubric_begins_at_a_word(text, is_said, capsys):
    rubric(text, {"the point": ["0 of", "any", "±", "区间", "فاصل", "déjà"]}, hint="count")
    assert ("  ✓ the point" in capsys.readouterr().out) == is_said


def test_a_rubric_without_words_is_left_to_a_person(capsys):
    for text in (None, "my drawing is on paper"):
        rubric(text, ["starts at 1", "falls"], hint="two axes")
        printed = capsys.readouterr().out
        assert "  - starts at 1\n  - falls\n" in printed
        assert ("Hint: two axes" in printed) == (text is None)


# ---- copies for a class --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    return students_copy(NOTEBOOKS, tmp_path_factory.mktemp("class") / "students")


def test_no_copy_contains_a_solution_and_every_exercise_stays(copies):
    originals = sorted(NOTEBOOKS.glob("*.ipynb"))
    assert [copy.name for copy in copies] == [original.name for original in originals]
    for original, copy in zip(originals, copies, strict=True):
        book, students = (nbformat.read(path, as_version=4) for path in (original, copy))
        nbformat.validate(students)
        texts = "\n".join(cell.source for cell in students.cells)
        codes = solutions(book).values()
        assert codes
        assert not [code for code in codes if code in texts]
        assert not re.search("<summary>\\s*Solution", texts)
        # Exercises, headings and all code stay, with their outputs.
        code, copied_code = (
            [(cell.source, cell.outputs) for cell in one.cells if cell.cell_type == "code"]
            for one in (book, students)
        )
        assert copied_code == code
        headings = re.compile(r"^(#+ .*|\\d\\. \\*.*)$", re.MULTILINE)
        kept = [line for cell in students.cells for line in headings.findall(cell.source)]
        text = "\n\n".join(cell.source for cell in book.cells)
        folded = re.sub(r"<details><summary>Solution.*?</details>", "", text, flags=re.DOTALL)
        assert kept == headings.findall(folded)


def test_the_copy_of_a_teacher_keeps_the_solutions(tmp_path):
    name = "03_negative_rejection.ipynb"
    (copy,) = students_copy(NOTEBOOKS / name, tmp_path, solutions=True)
    sources = [
        [cell.source for cell in nbformat.read(path, 4).cells] for path in (NOTEBOOKS / name, copy)
    ]
    assert sources[0] == sources[1]


def test_a_copy_becomes_slides_and_a_page(tmp_path):
    (copy,) = students_copy([NOTEBOOKS / "00_start_here.ipynb"], tmp_path)
    book = nbformat.read(copy, as_version=4)
    n_sections = sum(cell.source.startswith(("# ", "## ")) for cell in book.cells)
    slides, _ = SlidesExporter().from_notebook_node(book)
    # Each slide is a section inside a section.
    assert slides.count("<section><section>") >= n_sections > 3
    page, _ = HTMLExporter().from_notebook_node(book)
    assert "ragnb-table" in page
    assert "<summary>Solution" not in page + slides


def test_what_cannot_be_copied_is_named(tmp_path):
    for source, words in {
        tmp_path: "contains no notebook, whose name ends in .ipynb",
        tmp_path / "a.ipynb": "does not exist",
        f"{tmp_path}/*.ipynb": "no file matches the pattern",
    }.items():
        with pytest.raises(ragnb.InputError, match=re.escape(words)):
            students_copy(source, tmp_path / "students")
    (tmp_path / "a.ipynb").write_text("[]")
    with pytest.raises(ragnb.InputError, match=r"a.ipynb cannot be read as a notebook"):
        students_copy(tmp_path, tmp_path / "students")
    with pytest.raises(ragnb.InputError, match="folder must be another folder"):
        students_copy(tmp_path, tmp_path)
