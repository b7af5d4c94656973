"""The runner of requests, next to a bare loop over `AsyncOpenAI`, which stores nothing.

The server is a process on the same machine that answers after 0.2 seconds, or at once.
"""

import asyncio
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path

import openai
import pandas as pd

from benchmarks.timing import ROOT, measure
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


def rows() -> list[dict]:
    """Time 1,000 requests, 64 at a time, and their replay from the store."""
    found, stores = [], count()
    chats = [[{"role": "user", "content": f"question {i}"}] for i in range(1_000)]
    requests = pd.DataFrame({"messages": chats})
    with tempfile.TemporaryDirectory() as folder:
        for delay in ("0.2", "0.0"):
            command = [sys.executable, str(SERVER), delay]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            with subprocess.Popen(command, **pipes) as server:
                address = server.stdout.readline().strip()

                def ours(store=None, address=address, **options):
                    store = store or Path(folder) / f"{next(stores)}.sqlite"
                    options |= {"base_url": address, "max_concurrency": 64, "progress": False}
                    return complete(requests, model="m", store=store, **options)

                ways = {
                    "ragnb, every reply stored": ours,
                    "bare loop": lambda address=address: asyncio.run(bare_loop(address, chats, 64)),
                }
                found += measure(f"requests, answered after {delay} s", len(chats), ways)
                full = Path(folder) / "full.sqlite"
                if not full.exists():
                    ours(full)
                server.kill()
        replay = {"ragnb": lambda: ours(full, offline=True)}
        found += measure("replay of stored replies", len(chats), replay)
    return found
