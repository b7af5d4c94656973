"""The runner of requests, next to a bare loop over `AsyncOpenAI`, which stores nothing.

The server is a process on the same machine that answers after 0.2 seconds, or at once.
"""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path

import openai
import pandas as pd

from benchmarks.timing import ROOT, measure, row_of, times_of_peer, wall_time, with_ratios
from ragnb import complete

SERVER = ROOT / "tests" / "support" / "fault_server.py"


async def bare_loop(base_url: str, messages: list, concurrency: int) -> list[str]:
    """What people write by hand: a client, a semaphore and gather."""
    async with openai.AsyncOpenAI(base_url=base_url, api_key="none") as client:
        gate = asyncio.Semaphore(concurrency)

        async def ask(content):
            async with gate:
                reply = await client.chat.completions.create(model="m", messages=content)
                return reply.choices[0].message.content

        return await asyncio.gather(*map(ask, messages))


def _serve(delay: str) -> subprocess.Popen:
    """Start the server in a process of its own, which answers each request after `delay` seconds."""
    command = [sys.executable, str(SERVER), delay]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def _ask(requests: pd.DataFrame, address: str, store: Path, **options) -> pd.DataFrame:
    options = {"base_url": address, "max_concurrency": 64, "progress": False} | options
    return complete(requests, model="m", store=store, **options)


def rows() -> list[dict]:
    """Time 1,000 requests, 64 at a time, also with half of the replies stored, and replays."""
    timings, numbers = [], count()
    questions = [f"question {number}" for number in range(20_000)]
    chats = [[{"role": "user", "content": question}] for question in questions]
    requests = pd.DataFrame({"messages": chats})
    few, half = requests.head(1_000), requests.head(500)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "questions.json"
        file.write_text(json.dumps(questions[:1_000]), "utf-8")
        for delay in ("0.2", "0.0"):
            with _serve(delay) as server:
                address = server.stdout.readline().strip()

                def ours(address=address):
                    _ask(few, address, folder / f"{next(numbers)}.sqlite")

                def resumed(address=address):
                    store = folder / f"{next(numbers)}.sqlite"
                    shutil.copy(folder / "half.sqlite", store)
                    _ask(few, address, store)

                def loop(address=address):
                    asyncio.run(bare_loop(address, chats[:1_000], 64))

                if not (folder / "half.sqlite").exists():
                    _ask(half, address, folder / "half.sqlite")
                ways = {
                    "ragnb, every reply stored": ours,
                    "ragnb, half of the replies already in the store": resumed,
                    "bare loop": loop,
                }
                task = f"requests, answered after {delay} s"
                found = measure(task, len(few), ways, clock=wall_time)
                times = times_of_peer("inspect", address, file)["inspect_ai"]
                found.append(row_of(task, len(few), "inspect_ai, with its log", times, wall_time))
                timings += with_ratios(found)
                if delay == "0.0":
                    _ask(requests, address, folder / "full.sqlite")
                server.kill()
        for n in (1_000, 20_000):
            some = requests.head(n)

            def replayed(some=some):
                _ask(some, address, folder / "full.sqlite", offline=True)

            timings += measure("replay of stored replies", n, {"ragnb": replayed})
    return timings
