"""The paper that notebook 14 writes: it compiles, nothing sticks out, and its figure is printed in the size it was drawn in."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

FIGURES = Path(__file__).parents[2] / "figures"
COLUMN = 7.7 / 2.54 * 72.27
"""A column of the ACL style, in TeX's points."""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The log of the compiler, and the PDF with its objects legible."""
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not installed")
    folder = tmp_path_factory.mktemp("paper")
    for path in FIGURES.glob("14_*"):
        shutil.copy(path, folder)
    paper = (folder / "14_main.tex").read_text(encoding="utf-8")
    told = r"\pdfobjcompresslevel=0 \begin{document}\typeout{column=\the\columnwidth}"
    (folder / "14_main.tex").write_text(paper.replace(r"\begin{document}", told), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "14_main.tex"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
    return (folder / "14_main.log").read_text(encoding="utf-8", errors="replace"), (
        folder / "14_main.pdf"
    ).read_bytes()


def test_the_paper_is_made_of_the_pieces_of_the_run():
    paper = (FIGURES / "14_main.tex").read_text(encoding="utf-8")
    for name in ("14_methods", "14_table"):
        assert rf"\input{{{name}}}" in paper
        assert (FIGURES / f"{name}.tex").is_file()
    assert r"\includegraphics{14_column}" in paper  # as it is: no width=, no scale=


def test_its_columns_are_those_of_the_acl(compiled):
    assert float(re.search(r"column=([\d.]+)pt", compiled[0])[1]) == pytest.approx(COLUMN, abs=0.1)


def test_nothing_sticks_out(compiled):
    assert "Overfull" not in compiled[0]
    assert "Missing character" not in compiled[0]


def test_the_figure_is_printed_in_its_own_size(compiled):
    assert float(re.search(r"<14_column.pdf, id=\d+, ([\d.]+)pt", compiled[0])[1]) == pytest.approx(
        COLUMN, abs=0.1
    )


def test_every_font_is_embedded_and_none_is_of_type_3(compiled):
    pdf = compiled[1]
    assert b"/Type3" not in pdf
    assert b"/FontFile2" in pdf  # the figure's
    assert (
        pdf.count(b"/FontDescriptor")
        >= len(re.findall(rb"/FontFile[23]? ", pdf))
        == pdf.count(b"/Type /FontDescriptor")
    )
