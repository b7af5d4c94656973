"""Run the tests that a change touches, the nearest first, in less than a minute: ``make quick``.

A change is what differs from a commit: ``make quick BASE=main``. By default, this is the last commit, or the one
before it if nothing has changed since. Lists that name everything of a kind come first, then the tests of a changed
module, the rules of the layers, and the tests of modules that import it, directly or through others. No test begins
after `SECONDS`.
"""

import ast
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECONDS = 40
# Rules of the project that take seconds. They come first, because they name what is easily forgotten.
LISTINGS = ["tests/test_listings.py", "tests/test_places.py", "tests/test_english.py"]
RULES = ["tests/test_architecture.py"]
# Folders whose tests start a browser, a model or kernels.
SLOW_FOLDERS = ("tests/browser/", "tests/notebooks/")


# ---- what has changed ----------------------------------------------------------------------------


def git(*arguments: str) -> list[str]:
    """The lines that a git command prints."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def changed_files(base: str) -> list[str]:
    """Files that differ from a commit, or that are new, and still exist."""
    names = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return [name for name in dict.fromkeys(names) if (ROOT / name).is_file()]


# ---- what imports what ---------------------------------------------------------------------------


def module_of(path: str) -> str:
    """The name of the module in a file: ``ragnb.stats.paired``."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def homes(package: str) -> dict[str, str]:
    """The module of each name of a face."""
    file = ROOT.joinpath(*package.split("."), "__init__.py")
    tree = ast.parse(file.read_text("utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.asname or alias.name: node.module for node in imports for alias in node.names}


def home(package: str, name: str) -> str:
    """The module that a name of a package comes from."""
    if not ROOT.joinpath(*package.split("."), "__init__.py").exists():
        return package
    module = homes(package).get(name, package)
    return f"{package}.{name}" if module == package else module


@cache
def uses(path: str) -> frozenset[str]:
    """The modules of the package that a file imports, or whose names it uses as attributes."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ragnb"):
            found |= {home(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Attribute):
            first, *rest = ast.unparse(node).split(".")
            if first == "ragnb" and rest and re.fullmatch(r"[\w.]+", ".".join(rest)):
                module = home("ragnb", rest[0])
                is_face = module == f"ragnb.{rest[0]}" or module == "ragnb"
                found.add(home(f"ragnb.{rest[0]}", rest[1]) if is_face and rest[1:] else module)
    return frozenset(found)


def own_tests(path: str) -> list[str]:
    """The test files of a changed file."""
    parts = Path(path).parts
    if path.startswith("tests/"):
        return [path] if Path(path).name.startswith("test_") else []
    if path.startswith("notebooks/"):
        number = Path(path).name[:2]
        recomputed = f"tests/notebooks/recomputed/test_{number}.py"
        return ["tests/notebooks/test_notebooks.py", "tests/test_first_minutes.py", recomputed]
    if path.startswith(("docs/", "README")):
        return ["tests/test_docs.py"]
    if path.startswith("tools/js/"):
        return ["tests/widgets/test_javascript.py"]
    if path.startswith("tools/"):
        return [f"tests/maintenance/test_{parts[-1]}"]
    if parts[0] != "ragnb":
        return ["tests/test_environment.py"]
    if not path.endswith(".py"):
        # Data, templates and styles are read by the modules of their folder, first of all by those that name them.
        modules = sorted((ROOT / Path(*parts[:2])).glob("*.py"))
        modules.sort(key=lambda module: parts[-1] not in module.read_text("utf-8"))
        return [test for module in modules for test in own_tests(str(module.relative_to(ROOT)))]
    if parts[-1] == "__init__.py":
        return ["tests/test_typing.py"]
    own = str(Path("tests", *parts[1:-1], f"test_{parts[-1]}"))
    elsewhere = re.findall(r"^# Tested in (\S+)\.$", (ROOT / path).read_text("utf-8"), re.MULTILINE)
    # What every metric needs is tested by way of its record, which no import shows.
    of_records = ["tests/scoring/test_variants.py"] if path.startswith("ragnb/metrics/") else []
    return [*of_records, own, *elsewhere]


def nearest_tests(changed: Iterable[str]) -> list[str]:
    """The test files that a change touches, the nearest first."""
    # A bundle is made from the sources of the JavaScript, and is compared with them before anything else.
    changed = sorted(changed, key=lambda path: not path.startswith("tools/js/"))
    own = [test for path in changed for test in own_tests(path)]
    own += [
        path for path in changed if path.startswith("ragnb/") and path.endswith(".py")
    ]  # doctests
    package = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("ragnb/**/*.py"))]
    modules = {module_of(path): path for path in package if not path.endswith("__init__.py")}
    tests = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("tests/**/test_*.py"))]
    near: list[str] = []
    reached = {module_of(path) for path in changed if path in modules.values()}
    seen = set(reached)
    while reached:
        near += [test for test in tests if uses(test) & reached]
        reached = {module for module, path in modules.items() if uses(path) & reached} - seen
        seen |= reached
    near = [test for test in near if not test.startswith(SLOW_FOLDERS)]
    order = dict.fromkeys([*LISTINGS, *own, *RULES, *near])
    return [path for path in order if (ROOT / path).exists()]


# ---- running them --------------------------------------------------------------------------------


class InTime:
    """A plugin of pytest: it keeps the order of the files, and begins no test after `SECONDS`."""

    def __init__(self, files: list[str]) -> None:
        self.rank = {ROOT / file: rank for rank, file in enumerate(files)}
        self.started = time.monotonic()
        self.n_run = self.n_tests = self.n_failed = 0
        self.is_cut_short = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put the nearest tests first."""
        items.sort(key=lambda item: self.rank.get(item.path, len(self.rank)))
        self.n_tests = len(items)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Keep the session, which is asked to stop later."""
        self.session = session

    def pytest_runtest_logfinish(self) -> None:
        """Count a test, and end the run if no other one may begin."""
        self.n_run += 1
        if self.n_run < self.n_tests and time.monotonic() - self.started > SECONDS:
            self.is_cut_short = True
            ran = f"{self.n_run} of {self.n_tests} tests ran in {SECONDS} seconds"
            self.session.shouldstop = f"{ran}; `make test` runs all"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count failures and errors."""
        self.n_failed += report.failed


def main(base: str = "") -> int:
    """Run the tests, and return the exit code."""
    changed = changed_files(base or "HEAD") or changed_files("HEAD~1")
    files = nearest_tests(changed)
    print(f"{len(changed)} changed files, {len(files)} files with tests", flush=True)
    python = [path for path in changed if path.endswith((".py", ".pyi"))]
    ruff = [sys.executable, "-m", "ruff"]
    for check in (["format", "--check", "--quiet"], ["check", "--quiet"]):
        if python and subprocess.run([*ruff, *check, *python], cwd=ROOT).returncode:
            return 1
    in_time = InTime(files)
    marks = "not slow and not browser and not model"
    options = ["-q", "-m", marks, "--doctest-modules", "-p", "no:cacheprovider", *files]
    code = pytest.main(options, plugins=[in_time])
    is_complete = in_time.is_cut_short or code == pytest.ExitCode.OK
    return int(in_time.n_failed > 0 or not is_complete)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
