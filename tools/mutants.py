"""Change the code at random places, and see whether a test fails: ``python -m tools.mutants [NUMBER] [SEED]``.

A *mutant* is a copy of the project with one changed operator or constant. It is *killed* if a test fails that is near
to the changed module. For one that survives, a test is missing, or the code has no effect. The exit code is 1 if fewer
than `ENOUGH` of the mutants are killed.
"""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from tools.quick import LISTINGS, RULES, nearest_tests, own_tests

ROOT = Path(__file__).parents[1]
COPY = ROOT / "build" / "mutants"
COPIED = ("ragnb", "tests", "tools", "docs", "conftest.py", "pyproject.toml", "README.md")
PACKAGES = ("metrics", "stats", "conformal", "scoring", "ensemble", "datasets", "annotation", "reports", "llm")  # fmt: skip
ENOUGH = 0.8
# Number of further test files that are tried if those of the module pass, and the longest run in seconds.
MORE_FILES, LONGEST = 4, 300

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: (" in ", " not in "),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.And: (" and ", " or "),
    ast.Or: (" or ", " and "),
}
"""Kind of an operator -> how it is written, and what it becomes."""


@dataclass(frozen=True)
class Mutant:
    """One change: the file, the place in it, and the code before and after."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def source(self) -> str:
        """The changed file."""
        code = (ROOT / self.path).read_bytes()
        changed = code[: self.start] + self.after.encode() + code[self.end :]
        return changed.decode("utf-8")

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before.strip()} -> {self.after.strip()}"


def mutants_of(path: str) -> Iterator[Mutant]:
    """Every mutant of a file."""
    code = (ROOT / path).read_bytes()
    starts = [0]
    for line in code.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column

    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            start = place(node.lineno, node.col_offset)
            end = place(node.end_lineno or 0, node.end_col_offset or 0)
            yield Mutant(path, node.lineno, start, end, repr(node.value), repr(node.value + 1))
        pairs: list[tuple[ast.expr, ast.AST, ast.expr]] = []
        if isinstance(node, ast.BinOp):
            pairs = [(node.left, node.op, node.right)]
        elif isinstance(node, ast.BoolOp):
            pairs = [(node.values[0], node.op, node.values[1])]
        elif isinstance(node, ast.Compare):
            pairs = [(node.left, node.ops[0], node.comparators[0])]
        for left, operator, right in pairs:
            # The operator is between both sides; brackets may be there as well.
            start = place(left.end_lineno or 0, left.end_col_offset or 0)
            between = code[start : place(right.lineno, right.col_offset)].decode("utf-8")
            before, after = OPERATORS.get(type(operator), ("", ""))
            if before and between.count(before) == 1 and "#" not in between:
                begin = start + len(between[: between.index(before)].encode())
                end = begin + len(before.encode())
                yield Mutant(path, left.end_lineno or 0, begin, end, before, after)


def drawn(number: int, seed: int) -> list[Mutant]:
    """Mutants of random modules, each at a random place."""
    random = Random(seed)
    paths = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in sorted((ROOT / "ragnb" / package).rglob("*.py"))
        if not path.stem.startswith("__")
    ]
    mutants = []
    while len(mutants) < number:
        candidates = [*mutants_of(random.choice(paths))]
        if candidates:
            mutants.append(random.choice(candidates))
    return mutants


def copy_project() -> None:
    """Make the copy that is changed."""
    shutil.rmtree(COPY, ignore_errors=True)
    COPY.mkdir(parents=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, COPY / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))  # fmt: skip
        else:
            shutil.copy(ROOT / name, COPY / name)


def is_killed(mutant: Mutant) -> bool:
    """Whether a test near to the changed module fails, or does not end."""
    own = [test for test in own_tests(mutant.path) if (ROOT / test).exists()]
    near = [test for test in nearest_tests([mutant.path]) if test.startswith("tests/")]
    # Tests of the project's lists and rules do not look at values.
    more = [test for test in near if test not in (*own, *LISTINGS, *RULES)][:MORE_FILES]
    target = COPY / mutant.path
    target.write_text(mutant.source(), encoding="utf-8")
    try:
        for tests in ([*own, mutant.path], more):
            if tests and fails(tuple(tests)):
                shutil.copy(ROOT / mutant.path, target)
                return not fails_unchanged(tuple(tests))
        return False
    finally:
        shutil.copy(ROOT / mutant.path, target)


@cache
def fails_unchanged(tests: tuple[str, ...]) -> bool:
    """Whether tests also fail without the mutant, and then kill nothing."""
    return fails(tests)


def fails(tests: tuple[str, ...]) -> bool:
    """Whether tests fail in the copy."""
    marks = "not slow and not browser and not model"
    options = ["-x", "-q", "-m", marks, "--doctest-modules", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    try:
        done = subprocess.run(command, cwd=COPY, capture_output=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return True
    # 0: they pass. 5: none was chosen. A mutant that cannot be imported ends pytest with other codes than 1.
    return done.returncode not in (0, 5)


def main(number: int = 60, seed: int = 0) -> int:
    """Try mutants, print those that survive, and return the exit code."""
    copy_project()
    survivors = []
    for mutant in drawn(number, seed):
        killed = is_killed(mutant)
        print("killed  " if killed else "SURVIVES", mutant, flush=True)
        survivors += [] if killed else [mutant]
    print(f"{number - len(survivors)} of {number} mutants were killed (seed {seed})")
    return int(len(survivors) > (1 - ENOUGH) * number)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
