"""One browser and one JupyterLab for all tests: starting them takes longer than most of them."""

import pytest
from browser.lab import CHROMIUM, SIZE, change_theme, lab_page, launch, wait_for_kernel


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
    folder = tmp_path_factory.mktemp("lab")
    with lab_page(chromium, folder, ["import ragnb.widgets, browser.items"]) as page:
        page.folder = folder
        wait_for_kernel(page)
        # Without the file browser the annotator has the width that the tests expect. JupyterLab
        # may open that panel until it has restored its layout.
        page.evaluate(
            "() => window.jupyterapp.restored.then(() => window.jupyterapp.shell.collapseLeft())"
        )
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
