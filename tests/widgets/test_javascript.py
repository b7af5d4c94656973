"""The front end without a browser: its logic under Node, and what its source may not contain."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ragnb.widgets.annotator import Annotator
from ragnb.widgets.view import RowList

NODE = shutil.which("node")
STATIC = Path(__file__).parents[2] / "ragnb" / "widgets" / "static"
SOURCES = sorted(path for path in STATIC.iterdir() if path.suffix == ".mjs")


@pytest.mark.skipif(
    NODE is None,
    reason="NO NODE: node is not installed, so the logic of the front end is not tested",
)
@pytest.mark.parametrize(
    "script", sorted((Path(__file__).parent / "js").glob("*.test.mjs")), ids=lambda path: path.stem
)
def test_the_logic_of_the_front_end(script):
    ran = subprocess.run(
        [NODE, "--test", "--test-reporter=tap", str(script)], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"^# pass [1-9]", ran.stdout, re.MULTILINE)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_no_text_can_become_an_element_or_a_program(source):
    code = source.read_text("utf-8")
    ways = "innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|srcdoc"
    assert not re.findall(rf"{ways}|document\.write|\beval\b|new Function", code)


@pytest.mark.parametrize(
    "source", [*SOURCES, *sorted(STATIC.glob("*.css"))], ids=lambda path: path.name
)
def test_nothing_is_fetched_from_elsewhere(source):
    found = re.findall(
        r"https?:|\bimport\b|\bfetch\(|XMLHttpRequest|WebSocket|url\(", source.read_text("utf-8")
    )
    assert not found


@pytest.mark.skipif(
    NODE is None, reason="NO NODE: node is not installed, so the front end is not read"
)
@pytest.mark.parametrize("widget", [Annotator, RowList])
def test_the_modules_of_a_widget_are_one_module(widget, tmp_path):
    (whole := tmp_path / "whole.mjs").write_text(widget._esm, "utf-8")
    show = f"import widget from {json.dumps(whole.as_uri())}; console.log(typeof widget.render)"
    ran = subprocess.run(
        [NODE, "--input-type=module", "--eval", show], capture_output=True, text=True
    )
    assert ran.stdout == "function\n", ran.stderr


def test_every_module_belongs_to_a_widget():
    sources = Annotator._esm + RowList._esm
    assert [path.name for path in SOURCES if path.read_text("utf-8") not in sources] == []
