"""Speed of the runner beside a bare `AsyncOpenAI` loop, and of replay from the store. Run with `make bench`."""

import asyncio
import subprocess
import sys
from pathlib import Path

import openai
import pandas as pd
import pytest

from ragnb.llm.client import complete
from ragnb.llm.store import Reply, Store, canonical, request_key

SERVER = Path(__file__).parents[1] / "tests" / "llm" / "fault_server.py"


@pytest.fixture(params=[0.2, 0.0], ids=["200ms", "0ms"])
def endpoint(request):
    """A server in a process of its own, and how many requests to send to it."""
    command = [sys.executable, str(SERVER), str(request.param)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield server.stdout.readline().strip()
    server.kill()
    server.communicate()


def chats(n: int) -> list[list[dict]]:
    return [[{"role": "user", "content": f"question {i}"}] for i in range(n)]


async def bare_loop(base_url: str, messages: list[list[dict]], concurrency: int) -> list[str]:
    """What people write by hand: a client, a semaphore, gather; nothing is stored."""
    async with openai.AsyncOpenAI(base_url=base_url, api_key="none") as client:
        gate = asyncio.Semaphore(concurrency)

        async def ask(content):
            async with gate:
                reply = await client.chat.completions.create(model="m", messages=content)
                return reply.choices[0].message.content

        return await asyncio.gather(*map(ask, messages))


@pytest.mark.benchmark(group="2,000 requests, 64 at once")
def test_bare_async_openai(benchmark, endpoint):
    replies = benchmark.pedantic(lambda: asyncio.run(bare_loop(endpoint, chats(2000), 64)), rounds=3)
    assert len(replies) == 2000


@pytest.mark.benchmark(group="2,000 requests, 64 at once")
def test_ragnb_with_everything_stored(benchmark, endpoint, tmp_path):
    requests = pd.DataFrame({"messages": chats(2000)})
    stores = (tmp_path / f"{number}.sqlite" for number in range(100))
    replies = benchmark.pedantic(
        lambda: complete(requests, model="m", base_url=endpoint, store=next(stores), max_concurrency=64, progress=False),
        rounds=3,
    )
    assert replies["response"].notna().all()


@pytest.mark.benchmark(group="replay of 20,000 stored replies")
def test_replay(benchmark, tmp_path):
    requests = pd.DataFrame({"messages": chats(20_000)})
    with Store(tmp_path / "s.sqlite") as store:
        asked = [{"model": "m", "messages": m, "parameters": {}, "repeat": 0} for m in requests["messages"]]
        store.add(Reply(request_key(request), canonical(request), "a reply of some words") for request in asked)
        replies = benchmark(lambda: complete(requests, model="m", store=store, offline=True))
    assert len(replies) == 20_000
