"""A real JupyterLab in headless Chromium: the live viewer follows its sliders, and hostile text stays text."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

import nbformat
import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync"
).split()
LAB = (
    "--no-browser --ip=127.0.0.1 --allow-root --IdentityProvider.token= --ServerApp.disable_check_xsrf=True "
    "--LabApp.expose_app_in_browser=True --LabApp.news_url= --LabApp.extension_manager=readonly "
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"
).split()
HOSTILE = '<img src=x onerror="window.__hit=1"><script>window.__hit=2</script></script>'
CELL = f"""
import pandas as pd
from ragnb.widgets import ContextBrowser
hostile = {HOSTILE!r}
rows = [dict(example_id=f"e/{{i}}", noise_rate=rate, question=f"Question {{i}} at {{rate}} " + hostile, language="en",
             references=[["Oslo", hostile]], passages=["In Oslo. \\u202e" + hostile], kinds=["positive"], response=hostile)
        for i in (1, 2) for rate in (0.0, 0.4)]
browser = ContextBrowser(pd.DataFrame(rows))
browser
"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="NO BROWSER: chromium is not installed, so the live viewer is not tested"),
]


@contextmanager
def jupyter_lab(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    names = "JUPYTER_CONFIG_DIR JUPYTER_DATA_DIR JUPYTER_RUNTIME_DIR JUPYTERLAB_SETTINGS_DIR JUPYTERLAB_WORKSPACES_DIR IPYTHONDIR"
    surroundings = {**os.environ, **{name: str(folder / "jupyter" / name) for name in names.split()}}
    command = [sys.executable, "-m", "jupyterlab", *LAB, f"--port={port}", f"--ServerApp.root_dir={folder}"]
    with (folder / "lab.log").open("w") as log:
        server = subprocess.Popen(command, env=surroundings, cwd=folder, stdout=log, stderr=log)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(address, server, folder / "lab.log")
            yield address
        finally:
            server.terminate()
            server.wait()


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


IDLE = """() => { const w = window.jupyterapp && window.jupyterapp.shell.currentWidget;
  const k = w && w.sessionContext && w.sessionContext.session && w.sessionContext.session.kernel;
  return k && k.status === 'idle' }"""


def test_the_live_browser_follows_its_sliders_and_hostile_text_stays_text(tmp_path):
    from playwright.sync_api import sync_playwright

    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(book, tmp_path / "probe.ipynb")
    with jupyter_lab(tmp_path) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        page = chromium.new_page(viewport={"width": 1200, "height": 900})
        outside, errors = [], []
        page.on("request", lambda request: None if "127.0.0.1" in request.url else outside.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{address}/lab/tree/probe.ipynb?reset", wait_until="domcontentloaded")
        page.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell", timeout=90_000)
        page.wait_for_function(IDLE, timeout=90_000)
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        shown = page.locator(".widget-html-content")
        shown.get_by_text("Question 1 at 0.0").wait_for(timeout=90_000)

        page.locator(".noUi-handle, .widget-slider .ui-slider-handle").first.focus()
        page.keyboard.press("ArrowRight")
        shown.get_by_text("Question 2 at 0.0").wait_for(timeout=30_000)
        page.locator(".noUi-handle, .widget-slider .ui-slider-handle").nth(1).focus()
        page.keyboard.press("ArrowRight")
        shown.get_by_text("Question 2 at 0.4").wait_for(timeout=30_000)

        text = shown.inner_text()
        page.screenshot(path=str(tmp_path / "lab.png"))
        assert HOSTILE in text
        assert "⟨U+202E⟩" in text
        assert page.evaluate("() => window.__hit") is None
        assert shown.locator("img, script").count() == 0
        assert not [url for url in outside if url.startswith("http")]
        assert not errors
        chromium.close()
