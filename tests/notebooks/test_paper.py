"""The paper that notebook 23 writes: it compiles in the style of the ACL, and nothing sticks out."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tools.paper_page import PAGE, checksums, compile_paper, draw_page

FIGURES = Path(__file__).parents[2] / "figures"
COLUMN = 7.7 / 2.54 * 72.27
"""A column of the ACL style, in TeX's points."""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory, data_folder):
    """The folder of the compiled paper."""
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not installed")
    folder = tmp_path_factory.mktemp("paper")
    width = r"\pdfobjcompresslevel=0 "
    compile_paper(
        folder, data_folder / "acl", width + r"\AtBeginDocument{\typeout{column=\the\columnwidth}}"
    )
    return folder


def text_of(name):
    return (FIGURES / f"23_{name}.tex").read_text(encoding="utf-8")


def test_the_committed_page_was_made_of_the_committed_parts():
    """If it was not, run python -m tools.paper_page, which needs LaTeX; this test does not."""
    made_of = json.loads(PAGE.with_suffix(".json").read_text(encoding="utf-8"))["made_of"]
    assert made_of == checksums()


def test_the_paper_is_made_of_the_pieces_of_the_run():
    paper = text_of("main")
    for name in ("23_methods", "23_table"):
        assert rf"\input{{{name}}}" in paper
    assert r"\includegraphics{23_column}" in paper  # as it is: no width=, no scale=
    assert (FIGURES / "23_references.bib").is_file()


def test_the_figure_has_the_width_of_a_column_and_its_text_is_large_enough():
    """From the SVG, whose unit is the point of PostScript."""
    svg = (FIGURES / "23_column.svg").read_text(encoding="utf-8")
    width = float(re.search(r'width="([\d.]+)pt"', svg)[1])
    assert width == pytest.approx(7.7 / 2.54 * 72, abs=0.1)


def test_the_tables_for_word_and_markdown_have_the_same_cells_as_that_for_latex():
    rows = {}
    for name, pattern in (
        ("23_table.md", r"^\| (?!System|:)(.+) \|$"),
        ("23_table.tex", r"^(\S.*& .*) \\\\$"),
    ):
        text = (FIGURES / name).read_text(encoding="utf-8")
        lines = re.findall(pattern, text, flags=re.MULTILINE)
        rows[name] = [re.findall(r"0\.\d\d", line) for line in lines if "0." in line]
    html = (FIGURES / "23_table.html").read_text(encoding="utf-8")
    cells = re.findall(r"<tr>(.+?)</tr>", html, flags=re.DOTALL)
    rows["23_table.html"] = [re.findall(r"0\.\d\d", line) for line in cells if "0." in line]
    first, *others = rows.values()
    assert len(first) == 5
    assert all(found == first for found in others)


def test_captions_are_below_and_no_checksum_is_printed():
    paper, table, methods = map(text_of, ("main", "table", "methods"))
    assert table.index(r"\end{tabular}") < table.index(r"\caption{")
    assert paper.index(r"\includegraphics") < paper.index(r"\caption{")
    printed = "\n".join(line for line in table.splitlines() if not line.startswith("%"))
    assert not re.search(r"[0-9a-f]{8}|metric:|ragnb:", printed + paper + methods)
    assert "n~=~" in paper
    assert "n~=~" in table


@pytest.mark.data
def test_nothing_sticks_out_of_the_columns_of_the_acl_and_nothing_is_undefined(compiled):
    log = (compiled / "23_main.log").read_text(encoding="utf-8", errors="replace")
    for problem in ("Overfull", "Missing character", "undefined"):
        assert problem not in log
    column = re.search(r"column=([\d.]+)pt", log)[1]
    figure = re.search(r"<23_column.pdf, id=\d+, ([\d.]+)pt", log)[1]  # in its own size
    assert [float(column), float(figure)] == pytest.approx([COLUMN, COLUMN], abs=0.1)


@pytest.mark.data
def test_every_font_is_embedded_and_none_is_of_type_3(compiled):
    pdf = (compiled / "23_main.pdf").read_bytes()
    assert b"/Type3" not in pdf
    assert b"/FontFile2" in pdf  # the figure's
    embedded = re.findall(rb"/FontFile[23]? ", pdf)
    assert len(embedded) == pdf.count(b"/Type /FontDescriptor") > 0


@pytest.mark.data
def test_the_committed_page_is_that_of_the_paper(compiled):
    if not shutil.which("pdftoppm"):
        pytest.skip("pdftoppm is not installed")
    now, committed = (
        np.asarray(Image.open(path).convert("L"), float) for path in (draw_page(compiled), PAGE)
    )
    assert now.shape == committed.shape
    rows, columns = (side // 8 * 8 for side in now.shape)
    blocks = (now - committed)[:rows, :columns].reshape(rows // 8, 8, columns // 8, 8)
    assert np.abs(blocks.mean(axis=(1, 3))).max() < 25, "run python -m tools.paper_page"
