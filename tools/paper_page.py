"""Compile the paper of notebook 23 and draw its first page: ``python -m tools.paper_page``.

It needs pdflatex, pdftoppm, and the style files of the ACL in the folder ``acl`` of RAGNB_TEST_DATA. The
checksums of the parts are saved next to the page, so that a test without LaTeX notices a page that is out of date.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

FIGURES = Path(__file__).parents[1] / "figures"
PAGE = FIGURES / "23_page.png"
# What the page is made of. The numbers of the figure stand for its PDF, whose bytes depend on the machine.
PARTS = ("23_main.tex", "23_methods.tex", "23_table.tex", "23_references.bib", "23_column.json")
RESOLUTION = 80


def checksums() -> dict[str, str]:
    """Checksum of each part of the page."""
    return {name: hashlib.sha256((FIGURES / name).read_bytes()).hexdigest() for name in PARTS}


def compile_paper(folder: Path, style: Path, before_document: str = "") -> str:
    """Compile the paper in a folder, with the style files of another one; return what LaTeX printed last.

    `before_document` is put before the text of the paper, for example to print a length.
    """
    for path in [*FIGURES.glob("23_*"), style / "acl.sty", style / "acl_natbib.bst"]:
        shutil.copy(path, folder)
    main = folder / "23_main.tex"
    document = r"\begin{document}"
    text = main.read_text(encoding="utf-8").replace(document, before_document + document)
    main.write_text(text, encoding="utf-8")
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "23_main"]
    for command in (latex, ["bibtex", "23_main"], latex, latex):
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode:
            raise RuntimeError(done.stdout[-2000:])
    return done.stdout


def draw_page(folder: Path) -> Path:
    """Draw the first page of the compiled paper in shades of grey, and return its path."""
    options = ["-r", str(RESOLUTION), "-gray", "-png", "-singlefile"]
    subprocess.run(["pdftoppm", *options, "23_main.pdf", "page"], cwd=folder, check=True)
    return folder / "page.png"


def main() -> None:
    """Replace the page in figures/ and its checksums."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        compile_paper(folder, Path(os.environ["RAGNB_TEST_DATA"]) / "acl")
        shutil.copy(draw_page(folder), PAGE)
    made_of = json.dumps({"made_of": checksums()}, indent=1)
    PAGE.with_suffix(".json").write_text(made_of + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
