"""Which endpoint is asked, and whose replies count: addresses, their secrets, and servers that change."""

import json

import pandas as pd
import pytest
from support.asking import chat, expected, number, replay, run
from support.canary import CANARY, shown
from support.fault_server import Answer, FaultServer

import ragnb
from ragnb.arguments import shown_address
from ragnb.errors import EndpointError, InputError
from ragnb.experiments import recorded_store
from ragnb.llm import Reply, Store, complete, estimate, request_key
from ragnb.llm.endpoint import address_of, endpoint_name
from ragnb.llm.store import canonical, canonical_requests
from ragnb.llm.tally import one_report

pytestmark = pytest.mark.usefixtures("quick_retries")


def saying(text):
    return FaultServer(lambda call: Answer(text=text))


# ---- another server is another request -------------------------------------------------------------------------------


def test_the_same_request_to_another_server_is_another_request(tmp_path):
    path = tmp_path / "s.sqlite"
    with saying("A") as a, saying("B") as b:
        first = run(chat(2), a, path)
        second = run(chat(2), b, path)
        again = run(chat(2), a, path)
        assert [len(a.calls), len(b.calls)] == [2, 2]
    assert first["response"].tolist() == ["A", "A"]
    assert second["response"].tolist() == ["B", "B"]
    pd.testing.assert_frame_equal(again, first)
    with Store(path) as store:
        assert store.endpoints() == sorted([a.base_url, b.base_url])
        names = {json.loads(reply.request)["endpoint"]: reply.response for reply in store}
    assert names == {a.base_url: "A", b.base_url: "B"}


def test_a_replay_takes_the_replies_of_any_server_unless_several_answered(tmp_path):
    path = tmp_path / "s.sqlite"
    with saying("A") as a, saying("B") as b:
        run(chat(2), a, path)
        assert replay(chat(2), path)["response"].tolist() == ["A", "A"]
        run(chat(1), b, path)
    with pytest.raises(
        InputError, match=r"replies of several endpoints to the same request .*; pass base_url="
    ):
        replay(chat(2), path)
    frames = [
        complete(
            chat(1), model="m", store=path, base_url=server.base_url, offline=True, progress=False
        )
        for server in (a, b)
    ]
    assert [frame["response"][0] for frame in frames] == ["A", "B"]
    with pytest.raises(
        InputError,
        match=r"1 of 2 requests have none in .* \(the store has replies of other endpoints.*",
    ):
        complete(chat(2), model="m", store=path, base_url=b.base_url, offline=True, progress=False)


def test_reasons_of_a_run_without_any_reply_are_replayed_too(tmp_path):
    with FaultServer(
        lambda call: Answer(status=400) if number(call) else Answer(text="x")
    ) as server:
        run(chat(3), server, tmp_path / "s.sqlite")
    replayed = replay(chat(3), tmp_path / "s.sqlite")
    assert replayed["reason"].str.startswith("HTTP 400", na=False).tolist() == [False, True, True]


def test_replies_of_stores_that_were_made_before_count_for_every_server(tmp_path):
    path = tmp_path / "old.sqlite"
    requests = canonical_requests(chat(2), "m")
    with Store(path) as store:  # as stores were until now: requests without an endpoint
        store.add(Reply(request_key(each), canonical(each), "paid for") for each in requests)
    with saying("new") as server:
        replies = run(chat(3), server, path)
        assert len(server.calls) == 1
    assert replies["response"].tolist() == ["paid for", "paid for", "new"]
    assert replies["request_key"].tolist()[:2] == [request_key(each) for each in requests]


def test_recordings_of_the_package_are_found_by_any_address():
    store = recorded_store("rgb_noise")
    request = json.loads(next(iter(store)).request)
    assert "endpoint" not in request
    for address in (None, "http://127.0.0.1:9/v1"):
        assert store.as_stored_for([request], endpoint_name(address)) == [request]


def test_a_packaged_model_that_comes_back_on_another_port_is_the_same_endpoint(
    tmp_path, monkeypatch
):
    path = tmp_path / "s.sqlite"
    with saying("A") as a, saying("B") as b:
        packaged = {endpoint_name(server.base_url) for server in (a, b)}
        monkeypatch.setattr("ragnb.llm.endpoint.PACKAGED_SERVERS", packaged)
        run(chat(2), a, path)
        assert run(chat(2), b, path)["response"].tolist() == ["A", "A"]


def test_another_port_of_this_machine_is_said_in_the_closing_line(tmp_path, capfd, monkeypatch):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    with saying("A") as a, saying("B") as b:
        run(chat(3), a, tmp_path / "s.sqlite")
        run(chat(3), b, tmp_path / "s.sqlite", progress=True)
    line = capfd.readouterr().err.splitlines()[-1]
    assert line.endswith(
        " Another port counts as another endpoint (the store has replies of other endpoints to them: "
        f"3 from {a.base_url})."
    )


def test_a_later_call_of_a_run_keeps_what_is_said_of_another_port(tmp_path):
    path = tmp_path / "s.sqlite"
    with saying("A") as a, saying("B") as b, one_report() as tally:
        run(chat(1), a, path)
        run(chat(2), b, path)
        run(chat(4)[2:], b, path)
        assert f"1 from {a.base_url}" in tally.line()


def test_replies_of_this_machine_are_not_another_port_of_an_endpoint_elsewhere(
    tmp_path, monkeypatch
):
    """The decimal form of 127.0.0.1 is an address that counts as another machine, and leads to this one."""
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("NO_PROXY", "*")
    path = tmp_path / "s.sqlite"
    with saying("A") as a, saying("B") as b, one_report() as tally:
        run(chat(1), a, path)
        distant = b.base_url.replace("127.0.0.1", "2130706433")
        replies = run(chat(1), b, path, base_url=distant)
        assert replies["response"].tolist() == ["B"]
        assert "Another port" not in tally.line()


def test_replies_of_several_servers_in_a_file_of_replies_are_told_apart_there_and_back(tmp_path):
    with saying("A") as a, saying("B") as b, Store(":memory:") as store:
        run(chat(1), a, store)
        run(chat(1), b, store)
        store.write_jsonl(tmp_path / "r.jsonl.gz")
    with Store(":memory:") as other:
        assert other.read_jsonl(tmp_path / "r.jsonl.gz") == 2
        assert other.endpoints() == sorted([a.base_url, b.base_url])
        options = {"store": other, "offline": True, "progress": False}
        assert complete(chat(1), model="m", base_url=b.base_url, **options)[
            "response"
        ].tolist() == ["B"]


def test_replies_that_are_copied_to_another_store_are_found_there():
    with saying("A") as a, Store(":memory:") as store, Store(":memory:") as other:
        replies = run(chat(2), a, store)
        other.add(store.get(replies["request_key"]).values())
        assert other.endpoints() == [a.base_url]
        pd.testing.assert_frame_equal(replay(chat(2), other), replies)


def test_an_estimate_counts_what_the_stated_endpoint_has_stored(tmp_path):
    path = tmp_path / "s.sqlite"
    with saying("A") as a:
        run(chat(3), a, path)
    assert estimate(chat(5), model="m", store=path).n_stored == 3
    assert estimate(chat(5), model="m", store=path, base_url=a.base_url).n_stored == 3
    assert estimate(chat(5), model="m", store=path, base_url="http://127.0.0.1:9/v1").n_stored == 0


NAMES = [
    ("http://localhost:8000/v1/", "http://127.0.0.1:8000/v1"),
    ("http://0.0.0.0:8000/v1", "http://127.0.0.1:8000/v1"),
    ("http://[::1]:8000/v1", "http://127.0.0.1:8000/v1"),
    ("http://127.0.0.1:8001/v1", "http://127.0.0.1:8001/v1"),
    ("HTTPS://API.Example.org:443/v1?key=secret", "https://api.example.org/v1"),
    ("https://user:secret@example.org/v1/chat/completions", "https://example.org/v1"),
    (None, "https://api.openai.com/v1"),
]


@pytest.mark.parametrize(("address", "name"), NAMES)
def test_names_of_endpoints(address, name):
    assert endpoint_name(address) == name


# ---- addresses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ending",
    [
        "/v1",
        "/v1/",
        " /v1 ".strip() + "  ",
        "/v1\n",
        "/v1/chat/completions",
        "/v1/chat/completions/",
    ],
)
def test_blanks_and_a_copied_path_are_removed_from_an_address(ending):
    with FaultServer() as server:
        address = "  " + server.base_url.removesuffix("/v1") + ending
        replies = run(chat(2), server, base_url=address)
        assert {call.path for call in server.calls} == {"/v1/chat/completions"}
    assert replies["response"].tolist() == expected(chat(2))


def test_the_query_of_an_address_stands_behind_the_path_and_azure_gets_its_header(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    with FaultServer() as server:
        host = server.base_url.removesuffix("/v1")
        run(chat(1), server, base_url=f"{host}/openai/deployments/gpt-4o?api-version=2024-10-21")
        (azure,) = server.calls
        run(chat(1), server, base_url=f"{host}/v1/?team=a%20b&debug=")
        other = server.calls[1]
    assert azure.path == "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21"
    assert azure.headers["api-key"] == CANARY
    assert other.path in (
        "/v1/chat/completions?team=a+b&debug=",
        "/v1/chat/completions?team=a%20b&debug=",
    )
    assert "api-key" not in other.headers


def test_0_0_0_0_is_this_machine():
    with FaultServer() as server:
        address = server.base_url.replace("127.0.0.1", "0.0.0.0")
        assert run(chat(1), server, base_url=address)["response"].tolist() == expected(chat(1))
    assert address_of("http://0.0.0.0:8000/v1")[:] == "http://127.0.0.1:8000/v1"


@pytest.mark.parametrize(
    "address",
    ["ftp://example.org", "127.0.0.1:8000/v1", "http://", "http:///v1", "v1", "http://a b/v1"],
)
def test_what_is_no_address_is_refused_in_one_sentence(address):
    with pytest.raises(
        InputError, match=r"base_url must be an address such as http://127.0.0.1:8080/v1, got "
    ):
        complete(chat(1), model="m", base_url=address, store=":memory:")


# ---- secrets in addresses, and keys that change ----------------------------------------------------------------------

WITH_SECRETS = [
    f"http://{CANARY}@HOST/v1",
    f"http://user:{CANARY}@HOST/v1",
    f"http://HOST/v1?key={CANARY}",
    f"http://HOST/{CANARY}/v1",
]


@pytest.mark.parametrize(
    "address",
    [*WITH_SECRETS, CANARY, f"https://{CANARY}", f"HOST/v1?key={CANARY}", f"http://{CANARY}:x/v1"],
)
def test_no_secret_of_an_address_is_shown(address, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "another-key-0123456789")
    answer = Answer(status=401, message=f"bad key {CANARY}")
    with FaultServer(lambda call: answer) as server:
        address = address.replace("HOST", f"127.0.0.1:{server.port}")
        with pytest.raises((EndpointError, InputError)) as error:
            complete(
                chat(1),
                model="m",
                base_url=address,
                store=tmp_path / "s.sqlite",
                progress=False,
                max_retries=0,
            )
    assert CANARY not in str(error.value)
    if address != f"https://{CANARY}":  # the name of a host is no secret that could be known as one
        assert CANARY not in shown(error.value)
    files = [path.read_bytes() for path in tmp_path.iterdir()]
    assert not any(CANARY.encode() in content for content in files)
    lines = error.value._render_traceback_()
    assert len(lines) == 1
    assert CANARY not in lines[0]


def test_no_secret_of_an_address_is_shown_by_a_run_that_the_store_ends(tmp_path):
    for address in WITH_SECRETS:
        with Store(tmp_path / "s.sqlite") as store, pytest.raises(ragnb.errors.StoreError) as error:
            store.query("PRAGMA query_only = ON")
            complete(
                chat(1),
                model="m",
                base_url=address.replace("HOST", "127.0.0.1:9"),
                store=store,
                progress=False,
            )
        assert CANARY not in shown(error.value)


SHOWN = [
    ("https://example.org/v1/sk-proj-0123456789abcdef0123", "https://example.org/v1/[key]"),
    ("https://gw.example.org/0123456789abcdef0123456789abcdef/openai", "https://gw.example.org/[key]/openai"),
    ("https://r.openai.azure.com/openai/deployments/gpt-4o-mini-2024-07-18", "https://r.openai.azure.com/openai/deployments/gpt-4o-mini-2024-07-18"),
    ("https://generativelanguage.googleapis.com/v1beta/openai/", "https://generativelanguage.googleapis.com/v1beta/openai"),
]  # fmt: skip


@pytest.mark.parametrize(("address", "text"), SHOWN)
def test_parts_of_a_path_that_look_like_keys_are_masked(address, text):
    assert shown_address(address) == text


def test_every_key_that_was_used_is_masked_also_after_it_was_changed(monkeypatch, tmp_path):
    keys = [f"sk-canary-{n}-0123456789abcdef" for n in range(3)]
    sent = []

    def behave(call):
        sent.append(call.headers["authorization"].removeprefix("Bearer "))
        monkeypatch.setenv(
            "OPENAI_API_KEY", keys[min(len(sent), 2)]
        )  # rotated while the run goes on
        first = sent[0]
        return (
            Answer(status=400, message=f"{first} is old")
            if number(call) == 2
            else Answer(text=f"not {first}")
        )

    monkeypatch.setenv("OPENAI_API_KEY", keys[0])
    with FaultServer(behave) as server:
        replies = run(chat(3), server, tmp_path / "s.sqlite", max_concurrency=1)
    assert sent == keys
    assert replies["response"].tolist() == ["not [key]", "not [key]", None]
    assert replies["reason"][2] == "HTTP 400: [key] is old"
    assert b"canary" not in (tmp_path / "s.sqlite").read_bytes()
