"""Every exercise can be solved: its folded solution, run after the cells that it needs, satisfies its own check."""

import ast
import dis
import re
from pathlib import Path
from types import CodeType

import matplotlib.pyplot as plt
import nbformat
import pytest
from IPython.display import display

BOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def loaded(code):
    """Names outside functions that a code object, or a function in it, loads."""
    steps = dis.get_instructions(code)
    names = {step.argval for step in steps if step.opname in ("LOAD_NAME", "LOAD_GLOBAL")}
    return names.union(*(loaded(const) for const in code.co_consts if isinstance(const, CodeType)))


def taken_and_bound(source):
    """Names that a cell takes from the cells before it, and names that it binds anew."""
    code, first = compile(source, "cell", "exec"), {}
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_NAME", "STORE_NAME"):
            first.setdefault(step.argval, step.opname)
    bound = {name for name, step in first.items() if step == "STORE_NAME"}
    return loaded(code) - bound, bound


def changed(source):
    """Names that a cell binds or changes: a store changes where it is passed."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found |= taken_and_bound(ast.unparse(node.value))[0]
        if isinstance(node, ast.keyword) and node.arg == "store":
            found |= taken_and_bound(ast.unparse(node.value))[0]
    return found | taken_and_bound(source)[1]


def needed(cells, *sources):
    """The code cells that the sources need, directly or through one another, in their order."""
    names, kept = set().union(*(taken_and_bound(source)[0] for source in sources)), []
    for cell in reversed(cells):
        if changed(cell.source) & names:
            taken, bound = taken_and_bound(cell.source)
            names = names - bound | taken
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
        "b = 5",
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    assert [cell.source for cell in needed(cells, "print(frame)")] == sources[:5]
    assert [cell.source for cell in needed(cells, "f()")] == sources[5:7]
    assert [cell.source for cell in needed(cells, "print(b)")] == sources[7:]
    assert needed(cells, "print([c for c in 'abc'])") == []


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
    solved, kept = {}, []
    for question, solution in pairs:
        place, asked = code.index(question), question.source.replace("my_answer = None", "")
        solved[place] = f"{solution}\n{asked}"
        kept += needed(code[: place + 1], solution, asked)
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
