"""Every exercise can be solved: its folded solution, run after the cells that it needs, satisfies its own check."""

import ast
import re
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
from IPython.display import display

BOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def changes(source):
    """Names that a cell binds or changes: a store changes where it is passed."""
    tree = ast.parse(source)
    bound = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    bound |= {
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            bound |= used(ast.unparse(node.value))
        if isinstance(node, ast.keyword) and node.arg == "store":
            bound |= used(ast.unparse(node.value))
    return bound


def used(source):
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def needed(cells, source):
    """The code cells that the source needs, directly or through one another, in their order."""
    names, kept = used(source), []
    for cell in reversed(cells):
        if changes(cell.source) & names:
            names |= used(cell.source)
            kept.insert(0, cell)
    return kept


def test_what_a_cell_needs_is_found_through_others():
    sources = [
        "import numpy as np",
        "a = np.ones(2)",
        "b = 3",
        "frame = dict(a=a)",
        "frame['x'] = b",
        "c = 4",
        "def f():\n    return c",
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    assert [cell.source for cell in needed(cells, "print(frame)")] == sources[:5]
    assert [cell.source for cell in needed(cells, "f()")] == sources[5:]


def exercises(path):
    """Each cell that checks an answer, with the folded solution that computes it, in their order."""
    book = nbformat.read(path, as_version=4)
    checks = [c for c in book.cells if c.cell_type == "code" and "check(my_answer" in c.source]
    folded = "\n".join(c.source for c in book.cells if "<details>" in c.source)
    solutions = re.findall(r"```python\n(.+?)```", folded, flags=re.DOTALL)
    solutions = [solution for solution in solutions if "my_answer" in solution]
    return list(zip(checks, solutions, strict=True))


EXERCISES = [
    pytest.param(path, number, id=f"{path.stem}-{number}")
    for path in BOOKS
    for number in range(1, len(exercises(path)) + 1)
]


@pytest.mark.parametrize(("path", "number"), EXERCISES)
def test_the_folded_solution_is_right(path, number, tmp_path, monkeypatch, capsys):
    question, solution = exercises(path)[number - 1]
    code = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    last = f"{solution}\n{question.source.replace('my_answer = None', '')}"
    place = [cell.id for cell in code].index(question.id)
    cells = [*(cell.source for cell in needed(code[: place + 1], last)), last]
    monkeypatch.chdir(path.parent)
    monkeypatch.syspath_prepend(path.parent)
    names = {"__name__": "__main__", "display": display}
    with plt.rc_context():
        for source in cells:
            exec(
                compile(
                    source.replace('folder="../figures"', f"folder={str(tmp_path)!r}"),
                    path.name,
                    "exec",
                ),
                names,
            )
    plt.close("all")
    assert capsys.readouterr().out.endswith("✓ Right.\n")
