"""The list's JavaScript: its decisions run under node, and it has no way to make HTML out of text."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ragnb.widgets.view import STATIC

SCRIPT = STATIC / "rows.js"
TESTS = Path(__file__).parent / "js" / "rows.test.mjs"
NODE = shutil.which("node")
FORBIDDEN = (
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc|DOMParser|createContextualFragment"
)


@pytest.mark.skipif(NODE is None, reason="NO NODE: node is not installed, so the decisions of rows.js are not tested")
def test_what_the_list_decides():
    surroundings = {**os.environ, "ROWS_JS": str(SCRIPT)}
    run = subprocess.run([NODE, "--test", str(TESTS)], env=surroundings, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    assert re.search(r"# pass (9|[1-9]\d)", run.stdout), run.stdout


def test_no_text_can_become_html():
    assert not re.findall(FORBIDDEN, SCRIPT.read_text("utf-8"))
    assert "textContent" in SCRIPT.read_text("utf-8")


def test_nothing_is_fetched_from_elsewhere():
    for path in (SCRIPT, SCRIPT.with_suffix(".css")):
        assert not re.findall(r"https?:|import\s|fetch\(|url\(|@import", path.read_text("utf-8")), path.name
