"""The house itself: floors, light import, and the three lists of dependencies that must agree."""

import ast
import json
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from ragnb import faces

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ragnb"
FLOORS = [
    {"errors", "faces", "forwarding", "printing", "suggestions", "tracebacks", "version"},
    {
        "arguments",
        "calls",
        "cells",
        "columns",
        "display",
        "garbage",
        "markup",
        "numbers",
        "passages",
        "replies",
        "results",
        "rounding",
        "tags",
        "text",
    },
    {"metrics", "stats", "conformal", "prompts"},
    {"scoring"},
    {"ensemble"},
    {"datasets", "llm", "reports"},
    {"annotation", "experiments"},
    {"figures", "tables", "widgets"},
    {"dashboards", "explorables", "teaching"},
    {"cli"},
    {"__main__"},
]
FLOOR = {name: level for level, names in enumerate(FLOORS) for name in names}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def nodes(path: Path):
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported(path: Path):
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name} imports relatively"
            yield node.module


def test_nothing_imports_upward_and_siblings_are_strangers():
    for path in MODULES:
        here = part_of(path)
        assert here in FLOOR, f"{here} is on no floor"
        for target in imported(path):
            library, _, inner = target.partition(".")
            there = inner.partition(".")[0]
            if library != "ragnb" or there == here:
                continue
            if not inner:  # the command line is a user of the package
                assert here == "cli", f"{path.name}: import from the module that defines the name"
                continue
            same_ground = FLOOR[here] <= 1 and FLOOR[there] == FLOOR[here]
            assert same_ground or FLOOR[there] < FLOOR[here], f"{path.name} imports {target}"


def names_imported(module: str) -> dict[str, str]:
    """Names that a module takes from other modules of the package."""
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    found = {}
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ragnb"):
            found |= {alias.name: node.module for alias in node.names}
    return found


def test_names_are_imported_from_the_module_that_defines_them():
    for path in MODULES:
        if path.name not in ("__init__.py", "__main__.py"):
            here = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for name, module in names_imported(here).items():
                assert name not in names_imported(module), f"{path.name}: {name} of {module}"


USERS = {
    "pandas": "display stats scoring ensemble datasets llm reports annotation experiments figures tables "
    "widgets dashboards cli",
    "matplotlib": "figures explorables",
    "seaborn": "figures",
    "ipywidgets": "widgets dashboards",
    "anywidget": "widgets",
    "openai": "llm",
    "sqlite3": "annotation llm",
    "requests": "datasets",
    "dask": "",
    "pyspark": "scoring",
}


def test_each_library_lives_on_its_floor():
    for path in MODULES:
        for library in {name.split(".")[0] for name in imported(path)} & {*USERS}:
            assert part_of(path) in USERS[library].split(), f"{path} imports {library}"


def test_importing_ragnb_is_light_and_leaves_the_process_and_matplotlib_as_they_were():
    script = """
import json, logging, sys, warnings
before = (list(warnings.filters), list(logging.getLogger().handlers), logging.getLogger().level, len(sys.modules))
import ragnb
after = (list(warnings.filters), list(logging.getLogger().handlers), logging.getLogger().level)
heavy = "dask pyspark pandas matplotlib seaborn scipy.stats sklearn statsmodels openai ipywidgets anywidget tqdm requests pooch".split()
loaded = [name for name in heavy if name in sys.modules]
warnings.simplefilter("ignore")
import matplotlib
parameters = dict(matplotlib.rcParams)
import ragnb.figures
same = before[:3] == after and parameters == dict(matplotlib.rcParams)
print(json.dumps({"same": same, "loaded": loaded}))
"""
    out = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert json.loads(out) == {"same": True, "loaded": []}


FACES = ["ragnb"] + [
    f"ragnb.{name}"
    for name in (
        "annotation conformal datasets ensemble experiments explorables figures llm metrics prompts reports "
        "scoring stats widgets"
    ).split()
]


@pytest.mark.parametrize("name", FACES)
def test_every_name_of_a_face_exists_is_documented_and_is_no_module(name):
    package = import_module(name)
    folder = ROOT.joinpath(*name.split("."))
    modules = {path.stem for path in folder.glob("*.py")}
    modules |= {path.parent.name for path in folder.glob("*/__init__.py")}
    for exported in package.__all__:
        # A module of the same name would replace the function as soon as somebody imports it.
        assert exported not in modules, f"{name}.{exported}: rename the module"
        assert exported.startswith("__") or getattr(package, exported).__doc__, exported
    assert {*package.__all__} <= {*dir(package)}


def test_the_top_level_lists_its_names_and_packages_and_nothing_else():
    import ragnb

    folders = "annotation conformal datasets ensemble experiments figures llm metrics prompts reports scoring stats widgets"
    assert {*dir(ragnb)} - {*ragnb.__all__} == {*folders.split(), "errors", "tables", "text"}


@pytest.mark.parametrize("name", FACES)
def test_a_face_lists_the_names_that_it_declares(name):
    package = import_module(name)
    declared = {
        exported for exported, home in faces._homes(name).items() if home[0] not in ("ragnb", name)
    }
    at_once = {"METRICS", "FAMILIES", "__version__"}
    assert declared - at_once == {*package.__all__} - at_once


def test_a_face_finds_its_modules_and_refuses_other_names():
    import ragnb

    assert ragnb.recorded is ragnb.experiments.recorded_responses
    assert ragnb.experiments.judges.judge_responses is ragnb.experiments.judge_responses
    with pytest.raises(AttributeError, match="module 'ragnb.stats' has no attribute 't_tset'"):
        ragnb.stats.t_tset  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'rate_intervall'"):
        from ragnb.stats import rate_intervall  # noqa: F401


def test_each_metric_is_in_the_face_of_the_metrics():
    metrics = import_module("ragnb.metrics")
    names = {record.function.__name__ for record in metrics.METRICS.values()}
    missing = sorted(names - {*metrics.__all__})
    assert not missing, f"add {', '.join(missing)} to ragnb/metrics/__init__.py"


def code_for_readers():
    """The name and the text of each code cell of a notebook, and of each code block of a page."""
    for path in sorted(ROOT.glob("notebooks/*.ipynb")):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                yield path.name, "".join(cell["source"])
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]:
        for block in re.findall(r"^```py\w*\n(.*?)^```", path.read_text("utf-8"), re.M | re.DOTALL):
            yield path.name, block


def test_notebooks_and_pages_import_from_faces_and_from_modules_of_the_top_level():
    for name, code in code_for_readers():
        for module, names in re.findall(r"^\s*from (ragnb\S*) import (\([^)]*\)|.*)", code, re.M):
            assert module.count(".") <= 1, f"{name}: from {module} import {names}"
            exported = getattr(import_module(module), "__all__", None)
            imported = re.findall(r"(\w+)(?: as \w+)?\s*(?:,|$|\)|#)", names.partition("#")[0])
            if exported is not None and module != "ragnb":
                assert {*imported} <= {*exported}, f"{name}: from {module} import {names}"


@pytest.mark.parametrize(
    "module", [path for path in MODULES if path.name == "__init__.py"], ids=str
)
def test_a_star_import_finds_every_name(module):
    name = ".".join(module.relative_to(PACKAGE.parent).parent.parts)
    exec(f"from {name} import *", {})


def test_the_package_raises_and_never_asserts():
    assert not [
        path.name for path in MODULES if any(isinstance(node, ast.Assert) for node in nodes(path))
    ]


def test_no_tracked_file_names_a_machine_or_an_index():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    pattern = re.compile(
        r"--(?:extra-)?index-url|https?://[^\s\"']*/simple/|(?<![\w./-])/(?:work|root|farm)/"
    )
    for name in listed.stdout.split("\n"):
        path = ROOT / name
        if (
            name
            and path.is_file()
            and path.suffix
            not in (".png", ".pdf", ".gz", ".parquet", ".eval", ".arrow", ".xlsx", ".npz")
            and path != Path(__file__)
        ):
            assert not pattern.search(path.read_text("utf-8")), name


def test_no_folder_of_the_tests_hides_a_module_of_python():
    """`tests` is on the path of imports, so a folder `statistics` would be found before the module."""
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
    assert not folders & {*sys.stdlib_module_names}
