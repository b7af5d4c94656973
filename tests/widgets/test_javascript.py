"""The front end without a browser: its own tests, linter and types, its bundles, and what its source may not contain.

tools/js is the project of the front end; its tests are in tools/js/test.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

NODE = shutil.which("node")
ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "tools" / "js"
STATIC = ROOT / "ragnb" / "widgets" / "static"
FILES = sorted(
    [*PROJECT.glob("src/**/*.mjs"), *PROJECT.glob("src/**/*.css"), *STATIC.glob("*.css")]
)

needs_node = pytest.mark.skipif(NODE is None, reason="NO NODE: the front end is not tested")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, cwd=PROJECT)


@pytest.fixture(scope="module")
def toolchain():
    """The locked tools of the front end; installed if they are not there or not those of the lock."""
    installed = PROJECT / "node_modules" / ".package-lock.json"
    lock = json.loads((PROJECT / "package-lock.json").read_text("utf-8"))["packages"]
    wanted = {path: record for path, record in lock.items() if path}
    there = json.loads(installed.read_text("utf-8"))["packages"] if installed.exists() else {}
    # Packages for other platforms are in the lock, but not installed.
    missing = [
        path for path, record in wanted.items()
        if there.get(path, {}).get("version") != record["version"] and not record.get("optional")
    ]  # fmt: skip
    if missing:
        assert shutil.which("npm"), "npm is missing: install it, and run `make js`"
        made = run("npm", "ci")
        assert made.returncode == 0, f"`npm ci` in tools/js failed:\n{made.stdout}{made.stderr}"


@needs_node
@pytest.mark.parametrize("script", sorted(PROJECT.glob("test/*.test.mjs")), ids=lambda path: path.stem)  # fmt: skip
def test_the_logic_of_the_front_end(script):
    ran = run(NODE, "--test", "--test-reporter=tap", str(script))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"^# pass [1-9]", ran.stdout, re.MULTILINE)


@needs_node
@pytest.mark.parametrize("check", ["lint", "types"])
def test_linter_and_types(toolchain, check):
    ran = run("npm", "run", "--silent", check)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@needs_node
def test_each_bundle_is_that_of_its_sources(toolchain, tmp_path):
    made = run(NODE, "build.mjs", str(tmp_path))
    assert made.returncode == 0, made.stderr
    committed = {path.name: path for path in [*STATIC.glob("*.js"), ROOT / "docs" / "desk.html"]}
    unlike = {path.name for path in tmp_path.iterdir()} ^ set(committed)
    assert not unlike, f"run `make js`, and commit or delete {sorted(unlike)}"
    for name, path in committed.items():
        assert (tmp_path / name).read_text("utf-8") == path.read_text("utf-8"), "run `make js`"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_text_can_become_an_element_or_a_program_and_nothing_is_fetched(path):
    code = path.read_text("utf-8").replace(
        '"http://www.w3.org/2000/svg"', "the name of a namespace"
    )
    ways = "innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|srcdoc"
    assert not re.findall(rf"{ways}|document\.write|\beval\b|new Function", code)
    assert not re.findall(
        r"https?:|\bimport\(\"http|\bfetch\(|XMLHttpRequest|WebSocket|url\(", code
    )


def test_the_lock_names_no_registry_and_has_a_hash_for_each_package():
    text = (PROJECT / "package-lock.json").read_text("utf-8")
    packages = json.loads(text)["packages"]
    assert not re.search(r"https?://[^\"]*\.tgz", text)
    assert all("integrity" in record for path, record in packages.items() if path)
    assert not any("resolved" in record for record in packages.values())
