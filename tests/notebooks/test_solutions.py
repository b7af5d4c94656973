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
    """The code cells of a notebook, and each that checks an answer, with the folded solution that follows it."""
    code, asked, pairs = [], [], []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            code.append(cell)
            if "check(my_answer" in cell.source:
                asked.append(cell)
        elif "<details>" in cell.source:
            solutions = re.findall(r"```python\n(.+?)```", cell.source, flags=re.DOTALL)
            while asked and solutions:
                pairs.append((asked.pop(0), solutions.pop(0)))
    assert not asked, f"{path.stem}: {asked[0].source} has no solution"
    return code, pairs


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_the_folded_solutions_are_right(path, tmp_path, monkeypatch, capsys):
    """As a reader finds them: one after the other, after the cells before them."""
    code, pairs = exercises(path)
    assert pairs
    solved = {
        code.index(question): f"{solution}\n{question.source.replace('my_answer = None', '')}"
        for question, solution in pairs
    }
    kept = [cell for place, last in solved.items() for cell in needed(code[: place + 1], last)]
    monkeypatch.chdir(path.parent)
    monkeypatch.syspath_prepend(path.parent)
    names = {"__name__": "__main__", "display": display}

    def run(source):
        source = source.replace('folder="../figures"', f"folder={str(tmp_path)!r}")
        exec(compile(source, path.name, "exec"), names)
        plt.close("all")

    with plt.rc_context():
        for place, cell in enumerate(code):
            if cell in kept:
                run(cell.source)
            if place in solved:
                run(solved[place])
                assert capsys.readouterr().out.endswith("✓ Right.\n"), cell.source
