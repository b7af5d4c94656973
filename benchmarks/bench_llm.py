"""The runner of chat requests, beside a bare `AsyncOpenAI` loop, and replay from the store

The server is a process of its own on the same machine. The bare loop is what people write by hand: a client, a semaphore and
`asyncio.gather`; it stores nothing, while ragnb stores every reply on the disk (SQLite WAL, `synchronous=NORMAL`). Without
latency it is the cost of a request itself. Both sides and the server share the processors, so that ratios near 1 are to be
taken for 1. A replay asks nobody.
"""

import asyncio
import subprocess
import sys
from pathlib import Path

import openai
import pandas as pd
import pytest

from benchmarks.timing import ours, peer, task
from ragnb.llm.client import complete
from ragnb.llm.store import Reply, Store, canonical, request_key

SERVER = Path(__file__).parents[1] / "tests" / "llm" / "fault_server.py"


@pytest.fixture(params=[0.2, 0.0])
def endpoint(request):
    """Address of a server in a process of its own that answers after so many seconds."""
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


@task("chat requests, 64 at once, answered after {endpoint} s", 2000)
class TestRunner:
    @peer("bare `AsyncOpenAI` loop", "openai")
    def test_bare_loop(self, few, endpoint):
        replies = few(lambda: asyncio.run(bare_loop(endpoint, chats(2000), 64)), warm=False)
        assert len(replies) == 2000

    @ours("(everything stored)")
    def test_ragnb(self, few, endpoint, tmp_path):
        requests = pd.DataFrame({"messages": chats(2000)})
        stores = (tmp_path / f"{number}.sqlite" for number in range(100))
        options = {"model": "m", "base_url": endpoint, "max_concurrency": 64, "progress": False}
        replies = few(lambda: complete(requests, store=next(stores), **options), warm=False)
        assert replies["response"].notna().all()


@task("replay of stored replies", 20_000)
@ours()
def test_replay(benchmark, tmp_path):
    requests = pd.DataFrame({"messages": chats(20_000)})
    with Store(tmp_path / "s.sqlite") as store:
        asked = [
            {"model": "m", "messages": m, "parameters": {}, "repeat": 0}
            for m in requests["messages"]
        ]
        store.add(
            Reply(request_key(request), canonical(request), "a reply of some words")
            for request in asked
        )
        replies = benchmark(lambda: complete(requests, model="m", store=store, offline=True))
    assert len(replies) == 20_000
