"""environment.yml against what conda-forge has, and the documentation site against the files."""

import csv
import re
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def environment() -> tuple[list[Requirement], list[Requirement]]:
    """What environment.yml takes from conda-forge, and what it takes through pip."""
    *conda, last = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    return [Requirement(line) for line in conda], [
        Requirement(line) for line in last["pip"] if line != "-e ."
    ]


def on_conda_forge() -> dict[str, str]:
    """Newest version of each name that a page of anaconda.org/conda-forge showed on the date `seen`.

    The channel may have newer ones. Before a name is added to environment.yml, look it up there.
    """
    with (ROOT / "tests" / "conda_forge_names.csv").open(encoding="utf-8", newline="") as file:
        return {row["name"]: row["version"] for row in csv.DictReader(file)}


def test_conda_forge_has_every_conda_name_in_its_range(environment):
    """One name that is missing, or too old, makes `conda env create` fail as a whole."""
    seen = on_conda_forge()
    missing = [
        str(requirement)
        for requirement in environment[0]
        if requirement.name not in seen or seen[requirement.name] not in requirement.specifier
    ]
    assert not missing, f"move {missing} to the pip part, or add them to conda_forge_names.csv"


def test_what_conda_forge_has_in_its_range_is_not_taken_through_pip(environment):
    seen = on_conda_forge()
    listed = [requirement for requirement in environment[1] if requirement.name in seen]
    assert listed  # skops, which conda-forge has too old
    assert not [str(item) for item in listed if seen[item.name] in item.specifier]


def test_no_name_is_taken_from_conda_forge_and_through_pip(environment):
    conda, pip = ({requirement.name for requirement in part} for part in environment)
    assert not conda & pip


def pinned(lock: str) -> set[tuple[str, str]]:
    return set(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / lock).read_text("utf-8"), re.MULTILINE))


def test_the_site_is_locked_in_its_ranges_at_the_versions_of_the_first_lock():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    site, first = pinned("requirements/site.lock"), pinned("requirements/main.lock")
    for line in project["dependency-groups"]["site"]:
        requirement = Requirement(line)
        versions = [version for name, version in site if name == requirement.name]
        assert versions, f"{requirement.name} is not in requirements/site.lock; run `make lock`"
        assert all(version in requirement.specifier for version in versions), line
        assert f'"{line}"' in (ROOT / "environment.yml").read_text("utf-8")
    names = {name for name, _ in first}
    assert {(name, version) for name, version in site if name in names} <= first


@pytest.fixture(scope="module")
def conf() -> dict:
    return runpy.run_path(str(ROOT / "docs" / "conf.py"))


def test_the_contents_of_the_site_list_every_page_and_notebook_once(conf):
    listed = [page for pages in conf["CONTENTS"].values() for page in pages]
    files = [*(ROOT / "docs").glob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")]
    pages = {path.relative_to(ROOT).with_suffix("").as_posix() for path in files}
    assert sorted(listed) == sorted(pages | {"benchmarks/RESULTS", "CHANGELOG"})


def test_the_gallery_has_every_picture_with_a_description(conf):
    gallery = conf["with_pictures"]("")
    pictures = re.findall(r"\[!\[(.+?)\]\(\.\./figures/([\w.]+)\)", gallery)
    assert sorted(name for _, name in pictures) == sorted(
        path.name for path in (ROOT / "figures").glob("*.png")
    )
