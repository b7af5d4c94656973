"""A real JupyterLab in headless Chromium: shared by the tests of everything that is live."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync"
).split()
LAB = (
    "--no-browser --ip=127.0.0.1 --allow-root --IdentityProvider.token= --ServerApp.disable_check_xsrf=True "
    "--LabApp.expose_app_in_browser=True --LabApp.news_url= --LabApp.extension_manager=readonly "
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"
).split()
SIZE = {"width": 1200, "height": 900}
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}

IDLE = """() => { const w = window.jupyterapp && window.jupyterapp.shell.currentWidget;
  const k = w && w.sessionContext && w.sessionContext.session && w.sessionContext.session.kernel;
  return k && k.status === 'idle' }"""
"""Whether the kernel of the notebook on the page waits for something to do."""


FILL = """cells => { const book = window.jupyterapp.shell.currentWidget.content, shared = book.model.sharedModel;
  shared.transact(() => { shared.deleteCellRange(0, shared.cells.length);
    shared.insertCells(0, cells.map(source => ({ cell_type: 'code', source, metadata: {}, outputs: [], execution_count: null }))) });
  book.activeCellIndex = 0; book.activate() }"""
RUN = "() => window.jupyterapp.commands.execute('notebook:run-all-cells')"


def launch(playwright, folder=None):
    """A browser; in a folder, one person's browser that keeps its storage there."""
    settings = {"executable_path": CHROMIUM, "headless": True, "args": FLAGS}
    if folder:
        return playwright.chromium.launch_persistent_context(str(folder), **settings)
    return playwright.chromium.launch(**settings)


@contextmanager
def lab_page(chromium, folder, *, viewport=SIZE):
    """The page of a notebook with a kernel that has imported ragnb; ``folder`` is where both live.

    ``outside``, ``errors`` and ``received`` list what the page asked for elsewhere, what went wrong, and what came.
    """
    cell = nbformat.v4.new_code_cell("import ragnb.widgets, support.items")
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(
        nbformat.v4.new_notebook(cells=[cell], metadata=metadata), folder / "probe.ipynb"
    )
    with jupyter_lab(folder) as address:
        page = chromium.new_page(viewport=viewport)
        page.folder = folder
        _listen(page)
        page.goto(f"{address}/lab/tree/probe.ipynb?reset", wait_until="domcontentloaded")
        wait_for_kernel(page)
        run_all(page)
        hide_files(page)
        yield page
        page.context.close()


def hide_files(page):
    """Close the file browser, which JupyterLab may open until it has restored its layout."""
    page.evaluate(
        "() => window.jupyterapp.restored.then(() => window.jupyterapp.shell.collapseLeft())"
    )


def wait_for_kernel(page):
    """Wait until the notebook is there and its kernel has nothing to do."""
    page.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell", timeout=90_000)
    page.wait_for_function(IDLE, timeout=90_000)


def change_theme(page, theme):
    """Show the page in the ``"light"`` or ``"dark"`` theme."""
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })",
        THEMES[theme],
    )
    # JupyterLab raises an error if the next theme comes while the splash of this one fades.
    page.wait_for_function(
        """light => document.body.dataset.jpThemeLight === light
            && !document.getElementById("jupyterlab-splash")""",
        arg=str(theme == "light").lower(),
    )


def fill(page, *cells):
    """Put these cells in the place of those of the notebook. None of them is run, and the first one is active."""
    page.evaluate(FILL, list(cells))


def run_all(page):
    """Run all cells; returns when they are done."""
    assert page.evaluate(RUN), page.locator(".jp-OutputArea").all_inner_texts()


def show(page, *cells):
    """Put these cells in the place of those of the notebook, and run them."""
    fill(page, *cells)
    run_all(page)


def show_html(page, html, *cells):
    """The same, with HTML that the first cell shows."""
    (page.folder / "shown.html").write_text(html, "utf-8")
    show(page, "from IPython.display import HTML\nHTML(filename='shown.html')", *cells)


@contextmanager
def jupyter_lab(folder):
    """The address of a JupyterLab that runs on the folder, with settings of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    names = "JUPYTER_CONFIG_DIR JUPYTER_DATA_DIR JUPYTER_RUNTIME_DIR JUPYTERLAB_SETTINGS_DIR JUPYTERLAB_WORKSPACES_DIR IPYTHONDIR"
    folders = {name: str(folder / "jupyter" / name) for name in names.split()}
    surroundings = os.environ | folders
    surroundings["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))
    _ask_nothing(folder / "jupyter" / "JUPYTERLAB_SETTINGS_DIR")
    where = [f"--port={port}", f"--ServerApp.root_dir={folder}"]
    command = [sys.executable, "-m", "jupyterlab", *LAB, *where]
    with (folder / "lab.log").open("w") as log:
        server = subprocess.Popen(command, env=surroundings, cwd=folder, stdout=log, stderr=log)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(address, server, folder / "lab.log")
            yield address
        finally:
            server.terminate()
            server.wait()


def _ask_nothing(settings):
    """Without it JupyterLab asks whether it may fetch news."""
    folder = settings / "@jupyterlab" / "apputils-extension"
    folder.mkdir(parents=True)
    (folder / "notification.jupyterlab-settings").write_text(
        '{"fetchNews": "false", "checkForUpdates": false}'
    )


def _listen(page):
    page.outside, page.errors, page.received = [], [], []
    keep = lambda frame: page.received.append(_text(frame))  # noqa: E731
    page.on("websocket", lambda socket: socket.on("framereceived", keep))
    page.on("request", lambda one: page.outside.append(one.url) if _is_outside(one.url) else None)
    page.on("pageerror", lambda error: page.errors.append(f"{error}\n{error.stack}"))
    page.on("dialog", lambda one: (page.errors.append(f"dialog: {one.message}"), one.dismiss()))


def _text(frame):
    return frame if isinstance(frame, str) else frame.decode("utf-8", "replace")


def _is_outside(address):
    return address.startswith("http") and "127.0.0.1" not in address


def _wait_for(address, server, log):
    for _ in range(600):
        if server.poll() is not None:
            pytest.fail(f"JupyterLab died: {log.read_text()[-500:]}")
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=2).read()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("JupyterLab did not come up within a minute")
