"""The key goes into the request's header and comes out nowhere else: every way out is searched for a canary."""

import json
import socket
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from support.asking import chat, replay, run
from support.batch_output import answered, refused, requests_in, write
from support.canary import CANARY, shown
from support.fault_server import Answer, FaultServer

from ragnb.errors import RagnbError
from ragnb.llm import Store, batch, complete

SPELLED = CANARY.replace("-", "\\u002d")  # another spelling of the same text in JSON
LONG = f"{'x' * 290} {CANARY}"  # a message cut to 300 characters must not keep the start of the key
ECHO = {"x-request-id": CANARY, "x-echo": f"Bearer {CANARY}"}

pytestmark = pytest.mark.usefixtures("quick_retries")


def ways() -> dict:
    """What an endpoint may answer, by the first part of the path; every answer contains the key."""
    return {
        "text": Answer(text=f"your key is {CANARY}", headers=ECHO),
        "spelled": Answer(raw=b'{"choices": [{"message": {"content": "key \\n' + SPELLED.encode() + b'"}}]}'),
        "around": Answer(body={"model": CANARY, "system_fingerprint": CANARY,
                             "choices": [{"message": {"content": "x", "reasoning": CANARY}, "finish_reason": CANARY}]}),
        "body": Answer(body={"error": f"key {CANARY} over quota"}, headers=ECHO),
        "bodyspelled": Answer(raw=b'{"error": "key ' + SPELLED.encode() + b'"}'),
        "bodycut": Answer(raw=b'{"error": "' + b"x" * 40 + CANARY.encode() + b'"}'),
        "401": Answer(status=401, message=LONG, headers=ECHO),
        "400": Answer(status=400, message=LONG, headers=ECHO),
        "404": Answer(status=404, raw=f"<html>{CANARY}</html>".encode(), headers=ECHO),
        "429": Answer(status=429, message=f"insufficient_quota {CANARY}", headers=ECHO),
        "500": Answer(status=500, message=f"{CANARY} failed", headers=ECHO),
        "307": Answer(status=307, headers={"location": f"?key={CANARY}", **ECHO}),
        "302": Answer(status=302, headers={"location": f"http://127.0.0.1:1/?key={CANARY}", **ECHO}),
        "drop": Answer(text=CANARY, drop="inside"),
    }  # fmt: skip


def server_of():
    answers = ways()
    return FaultServer(lambda call: answers[call.path.split("/")[1]])


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)


@pytest.fixture
def logs(caplog):
    for name in (None, "openai", "httpx2", "httpcore2", "asyncio"):
        caplog.set_level("DEBUG", logger=name)
    return caplog


def check(seen: str, folder: Path, logs, capfd) -> None:
    logged = "\n".join(record.getMessage() for record in logs.records)
    assert logged, "nothing was logged, so the logs were not searched"
    files = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    printed = "".join(capfd.readouterr())
    places = {"seen": seen, "logged": logged, "files": files.decode("latin-1"), "printed": printed}
    for place, text in places.items():
        assert "sk-canary" not in text, f"{place}: {text[text.index('sk-canary') - 200 :][:300]}"
        assert "canary\\u002d" not in text, place


ANSWERS = "text spelled around body bodyspelled bodycut 401 400 404 429 500 307 302 drop".split()


@pytest.mark.parametrize("way", [*ANSWERS, "unreachable", "readonly"])
def test_no_answer_brings_the_key_out_of_complete(key, tmp_path, logs, capfd, way):
    seen = []
    with server_of() as server, Store(tmp_path / "s.sqlite") as store:
        address = server.base_url.replace("/v1", f"/{'text' if way == 'readonly' else way}/v1")
        if way == "unreachable":
            address = f"http://127.0.0.1:{free_port()}/v1"
        if way == "readonly":  # the store fails when the reply is to be kept
            store.query("PRAGMA query_only = ON")
        options = {"store": store, "max_retries": 1, "max_concurrency": 4, "progress": False}
        try:
            frame = complete(chat(12), model="m", base_url=address, **options)
        except RagnbError as error:
            seen.append(shown(error))
        else:
            seen += [frame.to_json(), repr(frame), frame.to_string()]
        sent = [call.headers["authorization"] for call in server.calls if "key=" not in call.path]
        assert set(sent) <= {f"Bearer {CANARY}"}
        seen += [repr(store), repr(list(store)), json.dumps(store.failures())]
    check("\n".join(seen), tmp_path, logs, capfd)


def test_a_reply_that_echoes_the_key_keeps_the_rest_of_its_text(key):
    with server_of() as server, Store(":memory:") as store:
        there = server.base_url.removesuffix("/v1")
        plain = run(chat(1), server, store, base_url=f"{there}/text/v1")
        spelled = run(chat(2), server, store, base_url=f"{there}/spelled/v1")
    assert plain["response"].tolist() == ["your key is [key]"]
    # Another path is another endpoint, so the first request was sent to it too.
    assert spelled["response"].tolist() == ["key \n[key]", "key \n[key]"]


@pytest.mark.parametrize(
    "address", ["http://[::1/v1", "http://127.0.0.1:99999/v1", "http://127.0.0.1:80 80/v1\n"]
)
def test_an_address_that_is_none_brings_no_key_out(key, tmp_path, address):
    for call in (complete, partial(batch.write_batch, path=tmp_path / "b.jsonl")):
        with pytest.raises(ValueError, match="must be an address|Invalid IPv6") as error:
            call(chat(1), model="m", base_url=address, store=tmp_path / "s.sqlite")
        assert "canary" not in shown(error.value)


@pytest.mark.parametrize("value", ["sk-canary-ключ", "sk-canary\nsecond-line", "sk-canary\x00"])
def test_a_key_that_cannot_be_one_is_refused_and_not_shown(monkeypatch, value):
    monkeypatch.setattr("os.environ", {"OPENAI_API_KEY": value})
    with pytest.raises(
        RagnbError, match=r"line break or a letter outside ASCII.*Copy it again"
    ) as error:
        complete(
            chat(1), model="m", base_url="http://127.0.0.1:1/v1", store=":memory:", progress=False
        )
    assert "canary" not in shown(error.value)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


# ---- saved notebooks -------------------------------------------------------------------------------------------------

SETUP = """
import logging, sys
logging.basicConfig(level="DEBUG", stream=sys.stdout)
import pandas as pd
import openai._base_client
from ragnb.llm import batch, client
openai._base_client.INITIAL_RETRY_DELAY = 0.01
requests = pd.DataFrame({"messages": [[{"role": "user", "content": f"question {n}"}] for n in range(12)]})
"""


def test_no_answer_brings_the_key_into_a_saved_notebook(key, tmp_path, monkeypatch):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    cell = nbformat.v4.new_code_cell
    cells = [cell("%xmode Verbose"), cell(SETUP)]
    with server_of() as server:
        ways = ("text", "bodyspelled", "401", "307", "drop")  # `complete` has met all of them above
        addresses = [server.base_url.replace("/v1", f"/{way}/v1") for way in ways]
        addresses += [f"http://127.0.0.1:{free_port()}/v1", "http://[::1/v1"]
        for n, address in enumerate(addresses):
            given = f"store='{tmp_path}/{{}}{n}.sqlite', base_url={address!r}, model='m'"
            cells += [cell(f"client.complete(requests, {given.format('s')}, max_retries=0)")]
            if n % 3 == 0:  # one in three is enough for what complete shares with these
                path = f"{tmp_path}/{n}.jsonl"
                cells += [cell(f"batch.write_batch(requests, {path!r}, {given.format('b')})")]
        book = nbformat.v4.new_notebook(cells=cells)
        nbclient.NotebookClient(
            book, timeout=120, kernel_name="python3", allow_errors=True
        ).execute()
    outputs = [output for each in book.cells[2:] for output in each.outputs]
    errors = [output for output in outputs if output.output_type == "error"]
    assert not [each for each in book.cells[:2] if "error" in str(each.outputs)]
    assert {output.ename for output in errors} == {"EndpointError", "InputError"}
    assert len(errors) >= len(addresses)
    first = "".join(output.get("text", "") for output in book.cells[2].outputs)
    assert "12 of 12 requests answered. Cost unknown (no price for m), " in first
    assert "sk-canary" not in nbformat.writes(book)
    assert not [path for path in tmp_path.iterdir() if b"sk-canary" in path.read_bytes()]
    displayed = {"\n".join(each.traceback) for each in errors if each.ename == "EndpointError"}
    assert all(text.startswith("EndpointError: ") and "\n" not in text for text in displayed)


def test_a_placeholder_for_a_key_is_no_secret_and_stays_in_replies(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "EMPTY")
    with FaultServer(lambda call: Answer(text="an EMPTY cup")) as server:
        replies = run(chat(1), server)
    assert replies["response"].tolist() == ["an EMPTY cup"]


def test_replies_of_a_batch_that_echo_the_key_are_kept_without_it(key, tmp_path, capfd):
    def echoing(line):
        entry = answered(line)
        entry["response"]["body"]["choices"][0]["message"]["content"] = f"key {CANARY}"
        number = int(line["body"]["messages"][0]["content"].split()[1])
        spelled = json.dumps(entry).replace(CANARY, SPELLED).encode() if number else entry
        return refused(line, LONG) if number == 2 else spelled

    options = {"model": "m", "store": tmp_path / "s.sqlite"}
    files = batch.write_batch(chat(3), tmp_path / "batch.jsonl", **options)
    # The provider's file contains the key; nothing that ragnb makes of it does.
    with TemporaryDirectory() as elsewhere:
        output = write(Path(elsewhere) / "o.jsonl", map(echoing, requests_in(files)))
        assert batch.add_batch_output(output, chat(3), **options) == 2
    replies = replay(chat(3), options["store"])
    assert replies["response"].tolist() == ["key [key]"] * 2 + [None]
    assert "canary" not in replies.to_json() + "".join(capfd.readouterr())
    assert not [path for path in tmp_path.iterdir() if b"canary" in path.read_bytes()]
