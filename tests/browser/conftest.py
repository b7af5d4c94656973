"""One JupyterLab for all tests in a browser: starting it takes longer than most of them."""

import pytest
from browser.lab import lab_page, wait_for_kernel


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The page of a notebook with a kernel; ``lab.folder`` is where both of them live."""
    folder = tmp_path_factory.mktemp("lab")
    with lab_page(folder, ["import ragnb.widgets, browser.items"]) as page:
        page.folder = folder
        wait_for_kernel(page)
        page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
        yield page


@pytest.fixture
def book(lab):
    """The same page, as long as nothing goes wrong on it: no error, no dialog, no request to anywhere else."""
    lab.errors.clear()
    yield lab
    # The status bar of JupyterLab (React) raises this when cells are replaced while it is drawn.
    assert not [error for error in lab.errors if "'removeChild' on 'Node'" not in error]
    assert not lab.outside
