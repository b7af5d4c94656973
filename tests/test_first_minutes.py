"""The first minutes of a new user: `make lab`, the quickstart, and the notebooks online."""

import importlib.util
import json
import os
import re
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
START = "notebooks/00_start_here.ipynb"
spec = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
build = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build)


# ---- make lab ----------------------------------------------------------------------------------


def commands_of_lab(arguments=""):
    """The command lines of `make lab`, without those that install the environment."""
    command = ["make", "--dry-run", "--old-file=.venv/model", "lab", f"LAB_ARGS={arguments}"]
    # A make that runs the tests would add lines about its folders.
    variables = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    printed = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True
    )
    return printed.stdout.splitlines()


@pytest.fixture
def lab(tmp_path):
    """The address of a server that `make lab` starts with arguments and with new folders."""
    if not (ROOT / ".venv" / "bin" / "jupyter").exists():
        pytest.skip("there is no environment in .venv (make .venv/model)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folders = {
        f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")
    }
    environment = os.environ | folders
    arguments = f"--no-browser --ip=127.0.0.1 --port={port} --IdentityProvider.token="
    trust, start = commands_of_lab(arguments)
    subprocess.run(trust, shell=True, cwd=ROOT, env=environment, check=True)
    server = subprocess.Popen(
        f"exec {start}", shell=True, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        # The server prints its address when it is ready.
        for line in server.stderr:
            if "http://127.0.0.1" in line:
                break
        else:
            pytest.fail("the server stopped")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)
        server.stderr.close()


def fetched(address):
    for _ in range(60):
        try:
            with urllib.request.urlopen(address, timeout=30) as page:
                return page.geturl(), page.read().decode("utf-8")
        except urllib.error.URLError:
            time.sleep(0.5)
    raise AssertionError(f"{address} does not answer")


def test_make_lab_trusts_the_notebooks_and_opens_the_first_one(lab):
    address, page = fetched(f"{lab}/lab")
    assert "JupyterLab" in page
    # Without a path, the server leads to the first notebook.
    address, _ = fetched(lab)
    assert address == f"{lab}/lab/tree/{START}"
    _, content = fetched(f"{lab}/api/contents/{START}")
    cells = json.loads(content)["content"]["cells"]
    with_outputs = [cell for cell in cells if cell.get("outputs")]
    assert with_outputs
    assert all(cell["metadata"]["trusted"] for cell in with_outputs)


def test_make_lab_takes_arguments_and_works_as_root():
    trust, start = commands_of_lab("--port=1234 --no-browser")
    assert trust == ".venv/bin/jupyter trust notebooks/*.ipynb > /dev/null"
    assert start.endswith(" --port=1234 --no-browser")
    assert ("--allow-root" in start) == (os.getuid() == 0)


def test_readme_names_the_commands():
    text = (ROOT / "README.md").read_text("utf-8")
    for target in ("lab", "figures", "test"):
        assert re.search(rf"^make {target} ", text, re.MULTILINE)


# ---- the quickstart in JupyterLab --------------------------------------------------------------


def test_the_jupyter_part_of_the_quickstart_runs_cell_by_cell():
    chapter = build.chapters((ROOT / "README.md").read_text("utf-8"))["Quickstart"]
    first = re.search(r"^```python\n(.*?)^```$", chapter, re.DOTALL | re.MULTILINE)[1]
    parts = re.search(r"^```py\n(.*?)^```$", chapter, re.DOTALL | re.MULTILINE)[1].split("\n\n")
    cells = [nbformat.v4.new_code_cell(source) for source in (first, *parts)]
    book = nbformat.v4.new_notebook(cells=cells)
    with build.reader_folder() as folder:
        resources = {"metadata": {"path": str(folder)}}
        NotebookClient(book, kernel_name="python3", timeout=120, resources=resources).execute()
        assert (folder / "labels" / "your_name.verdict.sqlite").is_file()
    means, figure, viewer, annotator = (shown(cell) for cell in book.cells[1:])
    assert "answer.exact_match" in means["text/html"]
    assert "image/png" in figure
    # The viewer shows the answers and their scores, also where no kernel runs.
    assert "Pyotr Ilyich Tchaikovsky" in viewer["text/html"]
    assert "answer.f1" in viewer["text/html"]
    assert "labelling needs a running kernel" in annotator["text/html"]
    assert not [
        output for cell in book.cells for output in cell.outputs if "stderr" in output.values()
    ]


def shown(cell):
    """What a cell shows, by its kind."""
    data = {}
    for output in cell.outputs:
        data |= output.get("data", {})
    return data


# ---- online ------------------------------------------------------------------------------------


def test_the_page_of_links_follows_from_one_variable(monkeypatch):
    page = (ROOT / "docs" / "online.md").read_text("utf-8")
    assert page == build.online_page(), "run python docs/build.py"
    monkeypatch.setattr(build, "REPOSITORY", "https://github.com/someone/else")
    page = build.online_page()
    assert "OWNER" not in page
    assert f"https://mybinder.org/v2/gh/someone/else/main?urlpath=lab/tree/{START}" in page
    assert f"https://colab.research.google.com/github/someone/else/blob/main/{START}" in page


def test_binder_installs_the_lock_files():
    script = ROOT / ".binder" / "postBuild"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)
    locks = re.search(r"for lock in (.*); do", script.read_text("utf-8"))[1].split()
    assert all((ROOT / "requirements" / f"{lock}.lock").is_file() for lock in locks)
    version = (ROOT / ".binder" / "runtime.txt").read_text("utf-8").strip()
    assert version == "python-3.11"
