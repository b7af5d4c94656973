"""Data and programs that tests need: what is fetched, what is skipped without them, and what fails."""

import gzip
import os
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support.data_folder import NOT_FETCHED

from ragnb.datasets.sources import Source, git_blob_sha1
from tools.test_data import fetch_all, is_right, sources

ROOT = Path(__file__).parents[2]
FILES = sources()
PLAIN, PACKED = b'{"id": 1}\n', b"question,answer\n" * 100


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A folder of published files, and their sources on a server on the loopback."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TQDM_DISABLE", "1")
    folder = tmp_path / "published"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    files = {}
    for place, content in {"a/plain.json": PLAIN, "b/c/packed.csv.gz": PACKED}.items():
        name = Path(place).name.removesuffix(".gz")
        (folder / name).write_bytes(content)
        url = f"http://127.0.0.1:{server.server_port}/{name}"
        files[place] = Source(place, "", name, url, git_blob_sha1(content), "CC0", "")
    yield folder, files
    server.shutdown()
    server.server_close()
    thread.join()


def test_files_are_fetched_once_into_their_places(published, tmp_path):
    folder, files = published
    target = tmp_path / "data"
    assert fetch_all(target, files) == []
    assert (target / "a/plain.json").read_bytes() == PLAIN
    assert gzip.decompress((target / "b/c/packed.csv.gz").read_bytes()) == PACKED
    assert sum(path.is_file() for path in target.rglob("*")) == 2
    # What is right is not fetched again, and what is damaged is.
    (folder / "packed.csv").unlink()
    (target / "a/plain.json").write_bytes(b"{")
    assert fetch_all(target, files) == []
    assert (target / "a/plain.json").read_bytes() == PLAIN


def test_a_file_that_is_another_one_or_is_missing_is_named_and_the_others_are_fetched(
    published, tmp_path
):
    folder, files = published
    (folder / "plain.json").write_bytes(b'{"id": 2}\n')
    (problem,) = fetch_all(tmp_path / "data", files)
    assert problem.startswith("a/plain.json: 'a/plain.json' must have the SHA-1")
    assert [path.name for path in (tmp_path / "data").rglob("*.*")] == ["packed.csv.gz"]
    (folder / "plain.json").unlink()
    (problem,) = fetch_all(tmp_path / "data", files)
    assert "HTTP 404" in problem


@pytest.mark.data
def test_the_list_has_the_checksums_of_the_files_that_the_tests_read(data_folder):
    for place, source in FILES.items():
        assert is_right(data_folder / place, source), place


def test_the_list_has_a_checksum_and_a_licence_for_each_file_and_none_that_is_not_fetched():
    for place, source in FILES.items():
        assert len(source.git_sha1) == 40, place
        assert source.licence, place
        assert Path(place).parts[0] not in NOT_FETCHED, place


# ---- what is missing -----------------------------------------------------------------------------


def outcomes(*tests, **variables):
    """The last line of a run of some tests in a process with other environment variables."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("RAGNB_CI", "RAGNB_TEST_DATA")
    }
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *tests]
    done = subprocess.run(
        command, cwd=ROOT, env=environment | variables, capture_output=True, text=True
    )
    return done.stdout


NOT_FETCHED_DATA = (
    "tests/datasets/test_answers.py::test_a_released_run_of_lbrag_has_the_numbers_that_it_published"
)
NEEDS_NODE = "tests/widgets/test_contradictions.py"
NEEDS_BROWSER = "tests/browser/test_themes.py"


def test_without_chromium_and_node_tests_are_skipped_and_with_ragnb_ci_they_fail():
    shown = outcomes(NEEDS_NODE, NEEDS_BROWSER, PATH="")
    assert "NO NODE" in shown
    assert "NO BROWSER" in shown
    assert "failed" not in shown
    shown = outcomes(NEEDS_NODE, NEEDS_BROWSER, PATH="", RAGNB_CI="1")
    assert "RAGNB_CI is set, and a part of the machine is missing. NO NODE" in shown
    assert "RAGNB_CI is set, and a part of the machine is missing. NO BROWSER" in shown


DATA = "tests/test_docs.py::test_the_answers_of_the_quickstart_are_those_of_evouna"


def test_data_that_nobody_named_are_skipped_and_a_wrong_folder_fails(tmp_path):
    assert "run python -m tools.test_data FOLDER" in outcomes(DATA)
    shown = outcomes(DATA, RAGNB_TEST_DATA=str(tmp_path / "absent"))
    assert "RAGNB_TEST_DATA must name a folder, got" in shown
    assert "1 error" in shown
    shown = outcomes(DATA, NOT_FETCHED_DATA, RAGNB_TEST_DATA=str(tmp_path))
    assert "RAGNB_TEST_DATA must name a folder with evouna" in shown
    assert "lbrag is not in RAGNB_TEST_DATA, and cannot be fetched" in shown
    assert "1 failed" in shown
