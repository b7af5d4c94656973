"""Notebooks that promise people's verdicts by another `source` run on the real file of EVOUNA, and say whose data they show."""

import json
import re

import nbformat
import pytest
from nbclient import NotebookClient
from notebooks.execute import CELL_TIMEOUT, ENCRYPTED
from notebooks.test_notebooks import BOOKS

SWITCHABLE = ["11"]
"""Notebooks whose text names "evouna_nq" as another source."""


def test_only_these_notebooks_promise_peoples_verdicts():
    found = [
        path.stem[:2]
        for path in BOOKS
        if re.search(r'source = \\"evouna_nq\\"', path.read_text("utf-8"))
    ]
    assert found == SWITCHABLE


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("number", SWITCHABLE)
def test_a_notebook_runs_on_peoples_verdicts_and_names_them(
    number, data_folder, tmp_path, monkeypatch
):
    if not (data_folder / "evouna" / "NQ.json").is_file():
        pytest.skip("needs evouna/NQ.json in RAGNB_TEST_DATA")
    monkeypatch.setenv(
        "RAGNB_DATA", str(data_folder)
    )  # where the catalogue looks before it downloads anything
    (path,) = (path for path in BOOKS if path.stem.startswith(number))
    book = nbformat.read(path, as_version=4)
    cell = next(
        cell for cell in book.cells if cell.cell_type == "code" and 'source = "' in cell.source
    )
    cell.source = re.sub(
        r'^source = ".*?"', 'source = "evouna_nq"', cell.source, flags=re.MULTILINE
    )
    folder = tmp_path / "notebooks"  # figures go to ../figures
    folder.mkdir()
    client = NotebookClient(
        book, timeout=CELL_TIMEOUT, resources={"metadata": {"path": folder}}, config=ENCRYPTED
    )
    client.execute()  # a cell that fails raises
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output.text for output in outputs if output.get("name") == "stderr"]
    shown = json.dumps(outputs, ensure_ascii=False)
    assert "data: {'name': 'evouna_nq'" in shown
    assert not re.search(
        "written by the authors|authors' labels|sample-en|sample-labelled|SmolLM2", shown
    )
    notes = "".join(
        json.loads(file.read_text("utf-8"))["note"]
        for file in (tmp_path / "figures").glob("*.json")
    )
    assert not re.search("authors|sample|SmolLM2", notes)
