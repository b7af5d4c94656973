"""The paper that notebook 23 writes: it compiles in the style of the ACL, and nothing sticks out."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

FIGURES = Path(__file__).parents[2] / "figures"
COLUMN = 7.7 / 2.54 * 72.27
"""A column of the ACL style, in TeX's points."""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory, data_folder):
    """The folder of the compiled paper."""
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not installed")
    folder = tmp_path_factory.mktemp("paper")
    style = [data_folder / "acl" / name for name in ("acl.sty", "acl_natbib.bst")]
    for path in [*FIGURES.glob("23_*"), *style]:
        shutil.copy(path, folder)
    paper = (folder / "23_main.tex").read_text(encoding="utf-8")
    width = r"\pdfobjcompresslevel=0 \begin{document}\typeout{column=\the\columnwidth}"
    (folder / "23_main.tex").write_text(paper.replace(r"\begin{document}", width), encoding="utf-8")
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "23_main"]
    for command in (latex, ["bibtex", "23_main"], latex, latex):
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
        )
        assert done.returncode == 0, done.stdout[-2000:]
    return folder


def text_of(name):
    return (FIGURES / f"23_{name}.tex").read_text(encoding="utf-8")


def test_the_paper_is_made_of_the_pieces_of_the_run():
    paper = text_of("main")
    for name in ("23_methods", "23_table"):
        assert rf"\input{{{name}}}" in paper
    assert r"\includegraphics{23_column}" in paper  # as it is: no width=, no scale=
    assert (FIGURES / "23_references.bib").is_file()


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
    """If it is out of date, replace figures/23_page.png by the page that the message names."""
    if not shutil.which("pdftoppm"):
        pytest.skip("pdftoppm is not installed")
    page = ["pdftoppm", "-r", "80", "-gray", "-png", "-singlefile", "23_main.pdf", "page"]
    subprocess.run(page, cwd=compiled, check=True)
    now, committed = (
        np.asarray(Image.open(path).convert("L"), float)
        for path in (compiled / "page.png", FIGURES / "23_page.png")
    )
    assert now.shape == committed.shape
    rows, columns = (side // 8 * 8 for side in now.shape)
    blocks = (now - committed)[:rows, :columns].reshape(rows // 8, 8, columns // 8, 8)
    assert np.abs(blocks.mean(axis=(1, 3))).max() < 25, compiled / "page.png"
