"""Every exercise can be solved: its folded solution, run at the end of the notebook, satisfies its own check."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

BOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_the_folded_solution_is_right(path, tmp_path):
    book = nbformat.read(path, as_version=4)
    question = next(cell.source for cell in book.cells if cell.cell_type == "code" and "check(my_answer" in cell.source)
    folded = next(cell.source for cell in book.cells if cell.cell_type == "markdown" and "<details>" in cell.source)
    solution = re.search(r"```python\n(.+?)```", folded, flags=re.DOTALL).group(1)
    book.cells.append(nbformat.v4.new_code_cell(f"{solution}\n{question.replace('my_answer = None', '')}"))
    for cell in book.cells:
        cell.source = cell.source.replace('folder="../figures"', f"folder={str(tmp_path)!r}")
    NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}}).execute()
    assert book.cells[-1].outputs[-1].text == "✓ Right.\n"
