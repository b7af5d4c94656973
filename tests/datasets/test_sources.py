import importlib
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pandas as pd
import pooch
import pytest

import ragnb
from ragnb.datasets import CATALOGUE, Source, load_rgb
from ragnb.datasets.sources import fetch, find, git_blob_sha1
from ragnb.errors import InputError

MODULE = importlib.import_module(
    "ragnb.datasets.sources"
)  # the package holds a function of this name
BODY = b'{"id": 0, "query": "Q?", "answer": "A", "positive": ["A."], "negative": ["%s"]}\n' % (
    b"B. " * 900
)
BODY_SHA1 = git_blob_sha1(BODY)  # git_blob_sha1 itself is held against git below


@pytest.fixture
def server(monkeypatch):
    """A web server on the loopback that counts requests; `behaviour` says how it answers the next ones."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TQDM_DISABLE", "1")
    state = SimpleNamespace(behaviour="good", requests=0)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            state.requests += 1
            if state.behaviour == "missing":
                self.send_error(404)
                return
            body = {
                "tampered": BODY[:-2] + b" \n",
                "truncated": BODY[:-100],
                "empty": b"",
                "page": b"<!doctype html><title>Log in</title>",
            }.get(state.behaviour, BODY)
            self.send_response(200)
            self.send_header(
                "Content-Length", str(len(BODY) if state.behaviour == "truncated" else len(body))
            )
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{httpd.server_port}/mini.json"
    yield state
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def source_at(url):
    licence = "CC0 (nothing forbidden)"
    return Source("mini", "rgb", "mini.json", url, BODY_SHA1, licence, "nobody (2026)")


def test_a_good_download_is_whole_and_its_licence_and_address_are_shown_once(
    server, tmp_path, capsys
):
    folder = tmp_path / "new" / "folder"
    path = fetch(source_at(server.url), folder)
    assert list(folder.iterdir()) == [path] == [folder / "mini.json"]
    assert path.read_bytes() == BODY
    said = capsys.readouterr()
    assert "CC0 (nothing forbidden)" in said.err
    assert server.url in said.err
    assert said.out == ""
    fetch(source_at(server.url), folder)
    assert capsys.readouterr() == ("", "")
    path.write_bytes(BODY[:50])  # a damaged file is fetched again
    assert fetch(source_at(server.url), folder).read_bytes() == BODY
    assert server.requests == 2


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("truncated", "'mini'"),
        ("tampered", rf"'mini' must have the SHA-1 {BODY_SHA1}, got .*Try again"),
        ("empty", "'mini' must have the SHA-1 .*, got e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        ("missing", "'mini'.*RAGNB_DATA"),
    ],
)
def test_a_bad_download_is_refused_and_leaves_nothing_behind(server, tmp_path, behaviour, words):
    server.behaviour = behaviour
    with pytest.raises(InputError, match=words):
        fetch(source_at(server.url), tmp_path)
    assert list(tmp_path.iterdir()) == []
    server.behaviour = "good"
    assert fetch(source_at(server.url), tmp_path).read_bytes() == BODY


def test_a_catalogue_name_is_fetched_once_and_loaded(server, tmp_path, monkeypatch):
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
    monkeypatch.setitem(CATALOGUE, "mini", source_at(server.url))
    monkeypatch.delenv("RAGNB_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        examples = load_rgb("mini")
        assert examples["example_id"].tolist() == ["mini/0"]
        assert examples.attrs["source"]["verified"]
        assert examples.attrs["source"]["licence"].startswith("CC0")
    assert server.requests == 1
    assert (tmp_path / "ragnb" / "rgb" / "mini.json").read_bytes() == BODY


@pytest.mark.parametrize("layout", ["rgb/en_refine.json", "en_refine.json"])
def test_the_folder_in_ragnb_data_goes_before_cache_and_network(
    tmp_path, monkeypatch, make, write_rgb, layout
):
    own = tmp_path / layout
    own.parent.mkdir(exist_ok=True)
    own.write_bytes(write_rgb([make.base(4)]).read_bytes())
    monkeypatch.setenv("RAGNB_DATA", str(tmp_path))
    monkeypatch.setattr(MODULE, "fetch", lambda *_: pytest.fail("went to the network"))
    assert find("en_refine", benchmark="rgb") == own
    assert load_rgb("en_refine")["example_id"].tolist() == ["en_refine/4"]


# ---- unknown checksums -------------------------------------------------------------------------------------------------


def unpinned_at(url):
    return Source("loose", "ragbench", "loose.parquet", url, None, "CC0", "nobody (2026)")


def test_an_unpinned_file_that_has_changed_since_is_refused_until_its_record_is_deleted(
    server, tmp_path
):
    fetch(unpinned_at(server.url), tmp_path).unlink()
    server.behaviour = "tampered"
    changed = rf"'loose' must have the SHA-1 {BODY_SHA1}, got .*Delete .*loose\.parquet\.sha1"
    with pytest.raises(InputError, match=changed):
        fetch(unpinned_at(server.url), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["loose.parquet.sha1"]
    (tmp_path / "loose.parquet.sha1").unlink()
    assert fetch(unpinned_at(server.url), tmp_path).read_bytes() != BODY


def test_without_a_hub_the_message_says_where_to_put_the_file(tmp_path, monkeypatch):
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    said = r"'covidqa_test'.*HF_ENDPOINT.*covidqa_test\.parquet.*RAGNB_DATA"
    with pytest.raises(InputError, match=said):
        fetch(CATALOGUE["covidqa_test"], tmp_path / "new")


def test_a_web_page_is_not_taken_for_a_file_that_is_not_pinned(server, tmp_path):
    server.behaviour = "page"
    with pytest.raises(InputError, match="'loose' must be a file of data, .* returned a web page"):
        fetch(unpinned_at(server.url), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_password_in_the_address_of_the_hub_is_not_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HF_ENDPOINT", "http://me:hidden@127.0.0.1:9")
    said = r"from http://127\.0\.0\.1:9/data \(ConnectionError\)"
    with pytest.raises(InputError, match=said) as error:
        fetch(unpinned_at("data?token=hidden"), tmp_path)
    assert "hidden" not in str(error.value) + capsys.readouterr().err


LOADERS = [
    "load_ragbench",
    "load_rgb",
    "load_evouna",
    "load_multilingual",
    "load_run",
    "load_metrics_json",
]


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("source", [pd.DataFrame({"question": ["Who?"]}), {"a": 1}, 3, b"a.jsonl"])
def test_what_is_no_path_is_refused_in_one_sentence(name, source):
    kind = type(source).__name__
    with pytest.raises(InputError, match=f"must be the path of one file, such as .*, got {kind}"):
        getattr(ragnb, name)(source)


@pytest.mark.parametrize("name", LOADERS)
def test_a_name_that_is_too_long_is_refused_in_one_sentence(name):
    with pytest.raises(InputError, match="cannot be opened .File name too long|does not exist"):
        getattr(ragnb, name)("x" * 300 + ".json")


def test_judgements_that_are_no_path_are_refused_in_one_sentence(tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2.0 bm25\n")
    with pytest.raises(
        InputError, match="^qrels must be the path of one file, such as .*, got dict"
    ):
        ragnb.load_run(tmp_path / "a.run", {"q1": {"d1": 1}})


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_checksum_is_the_one_that_git_gives(tmp_path):
    content = b"\x00\xff\r\n"
    command = ["git", "hash-object", "--stdin"]
    done = subprocess.run(command, input=content, capture_output=True, check=True, cwd=tmp_path)
    assert git_blob_sha1(content) == done.stdout.decode().strip()


@pytest.mark.data
@pytest.mark.parametrize("name", ["en_fact", "zh_fact", "zh_int", "zh_refine"])
def test_the_real_files_have_the_checksums_of_the_catalogue(name, rgb_file):
    assert git_blob_sha1(rgb_file(name).read_bytes()) == CATALOGUE[name].git_sha1


@pytest.mark.data
def test_the_real_judgements_have_the_checksum_of_the_catalogue(data_folder):
    content = (data_folder / "evouna" / "NQ.json").read_bytes()
    assert git_blob_sha1(content) == CATALOGUE["evouna_nq"].git_sha1
