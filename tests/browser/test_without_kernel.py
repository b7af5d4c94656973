"""Viewers and annotators where their kernel is gone: a notebook that is opened again, and a page that is opened offline."""

import os
import subprocess
import sys

import nbformat
import pytest
from support.lab import ROOT, lab_page, show

pytestmark = pytest.mark.browser

CELLS = [
    """import pandas as pd
from support.items import *
from ragnb.widgets import Annotator, view
view(pd.DataFrame([dict(question=f"Question {i}", response=f"needle{i} in the hay", label=i % 2) for i in range(20)]))""",
    "Annotator(verdict_items(), 'verdict', 'ana', '.')",
]
GONE = "() => window.jupyterapp.serviceManager.sessions.shutdownAll()"


def static_forms(page):
    """Whether each static form is visible, and the text of all of them."""
    forms = page.locator(".ragnb-static")
    return [form.is_visible() for form in forms.all()], " ".join(forms.all_inner_texts())


def test_a_notebook_that_is_opened_again_without_its_kernel_shows_the_static_forms(
    chromium, tmp_path
):
    with lab_page(chromium, tmp_path) as page:
        show(page, *CELLS)
        page.locator(".ragnb-view-page").wait_for(timeout=60_000)
        page.locator(".ragnb-annotator .sentence").first.wait_for(timeout=60_000)
        assert static_forms(page)[0] == [False, False], "the live ones are there"
        page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        page.evaluate(GONE)
        page.goto(page.url.split("?")[0] + "?reset", wait_until="domcontentloaded")
        page.locator(".ragnb-static").nth(1).wait_for(timeout=90_000)
        page.wait_for_function(
            "() => ![...document.querySelectorAll('.jp-OutputArea-output')].some(one => one.textContent === 'Loading widget...')",
            timeout=90_000,
        )
        visible, text = static_forms(page)
        assert visible == [True, True]
        assert "needle0 in the hay" in text
        assert "Who wrote book 1?" in text
        assert not any(one.is_visible() for one in page.get_by_text("Error displaying").all())


def test_an_executed_notebook_is_read_offline(chromium, tmp_path):
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "book.ipynb")
    surroundings = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests")))}
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "nbconvert",
        "--to",
        "html",
        "--execute",
        "book.ipynb",
    ]
    subprocess.run(command, cwd=tmp_path, env=surroundings, check=True)
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.goto((tmp_path / "book.html").as_uri(), wait_until="domcontentloaded")
    visible, text = static_forms(page)
    assert visible == [True, True]
    assert "needle0 in the hay" in text
    assert "Who wrote book 1?" in text
    context.close()


def test_of_a_progress_bar_nothing_remains(tmp_path):
    cell = """from ragnb.llm.progress import progress_bar
with progress_bar(total=3, unit="reply", leave=False) as bar:
    for _ in range(3):
        bar.update(1)"""
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)]), tmp_path / "book.ipynb"
    )
    surroundings = os.environ | {"PYTHONPATH": str(ROOT), "TQDM_DISABLE": "0"}
    command = [sys.executable, "-m", "jupyter", "nbconvert", "--execute", "--inplace"]
    subprocess.run(
        [*command, "--to", "notebook", "book.ipynb"], cwd=tmp_path, env=surroundings, check=True
    )
    outputs = nbformat.read(tmp_path / "book.ipynb", 4).cells[0].outputs
    assert [dict(output.data) for output in outputs] == [{"text/plain": ""}]
