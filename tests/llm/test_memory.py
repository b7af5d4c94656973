"""Memory that a run takes beyond the prompts' own text, measured on a process of its own."""

import json
import subprocess
import sys

import pytest

RUN = """
import json, resource, sys
import pandas as pd
from ragnb.llm.client import complete
n, base_url, store = int(sys.argv[1]), sys.argv[2], sys.argv[3]
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
def requests(first, last):
    return pd.DataFrame({"messages": [[{"role": "user", "content": f"{i:08d} " + "x" * 1000}] for i in range(first, last)]})
options = dict(model="m", base_url=base_url, store=store, max_concurrency=64, progress=False)
complete(requests(0, 200), **options)  # everything imported, every pool made
prompts = requests(200, 200 + n)
before = peak()
replies = complete(prompts, **options)
print(json.dumps({"bytes_a_request": (peak() - before) / n, "answered": int(replies["response"].notna().sum())}))
"""


def measure(tmp_path, faults, n):
    server = [sys.executable, faults.__spec__.origin, "0"]
    with subprocess.Popen(
        server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        address = process.stdout.readline().strip()
        command = [sys.executable, "-c", RUN, str(n), address, str(tmp_path / "s.sqlite")]
        told = subprocess.run(command, capture_output=True, text=True, check=True)
        process.kill()
    return json.loads(told.stdout)


def test_a_run_takes_little_memory_beside_its_prompts(tmp_path, faults):
    told = measure(tmp_path, faults, 3000)
    assert told["answered"] == 3000
    assert told["bytes_a_request"] < 10_000, (
        "room for what a small run cannot spread: pages of the store, buffers"
    )


@pytest.mark.slow
def test_a_hundred_thousand_requests_take_less_than_five_kilobytes_each(tmp_path, faults):
    told = measure(tmp_path, faults, 100_000)
    assert told["answered"] == 100_000
    assert told["bytes_a_request"] < 5_000
