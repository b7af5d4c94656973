"""One browser and one JupyterLab for all tests: starting them takes longer than most of them."""

from functools import cache

import pytest
from support.lab import CHROMIUM, SIZE, change_theme, lab_page, launch

import ragnb


@pytest.fixture(scope="session")
def playwright():
    """The only one of the process: a second one does not start while the first one runs."""
    if CHROMIUM is None:
        pytest.skip("NO BROWSER: chromium is not installed, so nothing is tried on a page")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def chromium(playwright):
    """One browser; each test that needs another person or storage takes a context of its own."""
    browser = launch(playwright)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def lab(chromium, tmp_path_factory):
    """The page of a notebook with a kernel; ``lab.folder`` is where both of them live."""
    with lab_page(chromium, tmp_path_factory.mktemp("lab")) as page:
        yield page


@pytest.fixture
def book(lab):
    """The same page, as long as nothing goes wrong on it: no error, no dialog, no request to anywhere else."""
    lab.errors.clear()
    # Labels stay on their item, so that a test can look at it; test_handout.py goes on.
    lab.evaluate("""() => localStorage.setItem("ragnb-annotator", '{"goesOn": false}')""")
    yield lab
    if lab.viewport_size != SIZE:
        lab.set_viewport_size(SIZE)
    if lab.evaluate("() => document.body.dataset.jpThemeLight") == "false":
        change_theme(lab, "light")
    assert not lab.errors
    assert not lab.outside


@pytest.fixture(scope="session")
def explorable():
    """The HTML of an explorable by its name, made once."""
    data = {"mcnemar": ([1, 1, 1, 1, 1, 1, 1, 0], [1, 0, 0, 0, 0, 0, 0, 0])}
    return cache(lambda name: ragnb.explore(name, *data.get(name, ()))._repr_html_())
