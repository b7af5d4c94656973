"""The front end without a browser: its logic under Node, its bundles, and what its source may not contain."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from widgets.bundle import FORMATS, NPX, bundle

NODE = shutil.which("node")
ROOT = Path(__file__).parents[2]
STATIC = ROOT / "ragnb" / "widgets" / "static"
FILES = sorted([*STATIC.glob("src/*.mjs"), *STATIC.glob("*.css")])


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


@pytest.mark.skipif(NODE is None, reason="NO NODE: the logic of the front end is not tested")
@pytest.mark.parametrize(
    "script", sorted(Path(__file__).parent.glob("js/*.test.mjs")), ids=lambda path: path.stem
)
def test_the_logic_of_the_front_end(script):
    ran = run(NODE, "--test", "--test-reporter=tap", str(script))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"^# pass [1-9]", ran.stdout, re.MULTILINE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_text_can_become_an_element_or_a_program_and_nothing_is_fetched(path):
    code = path.read_text("utf-8").replace(
        '"http://www.w3.org/2000/svg"', "the name of a namespace"
    )
    ways = "innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|srcdoc"
    assert not re.findall(rf"{ways}|document\.write|\beval\b|new Function", code)
    assert not re.findall(r"https?:|\bimport\(|\bfetch\(|XMLHttpRequest|WebSocket|url\(", code)


@pytest.mark.skipif(NODE is None, reason="NO NODE: the bundles are not compared with their sources")
def test_each_bundle_is_that_of_its_sources(tmp_path):
    if shutil.which("npx") is None or run(*NPX, "esbuild --version", timeout=120).returncode:
        pytest.skip(
            "NO ESBUILD: npx cannot get it, so the bundles are not compared with their sources"
        )
    bundle(tmp_path)
    for name in FORMATS:
        made = (tmp_path / f"{name}.js").read_text("utf-8")
        assert made == (STATIC / f"{name}.js").read_text("utf-8"), (
            "run `python -m widgets.bundle` in tests/"
        )
