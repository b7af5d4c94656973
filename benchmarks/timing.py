"""Time several ways of doing one task."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

import pandas as pd

import ragnb

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".venv" / "peers" / "bin" / "python"
# Each way is called until it has taken this long, and at least this often if a call is not longer.
SECONDS, CALLS = 1.0, 3


def responses(n: int) -> pd.DataFrame:
    """EVOUNA's answers of five systems to n rows, no two of them with the same text.

    Each round of the 18,050 answers after the first has a number at the end of each answer, so that
    nothing which was computed for an earlier row can be used again.
    """
    answers = ragnb.load_study("evouna-nq")
    columns = ["example_id", "system", "language", "question", "references", "response"]
    rounds = []
    for number in range(-(-n // len(answers))):
        suffix = f" ({number})" if number else ""
        texts = {"example_id": answers["example_id"] + suffix}
        texts["response"] = answers["response"] + suffix
        rounds.append(answers[columns].assign(**texts))
    return pd.concat(rounds, ignore_index=True).head(n)


def wall_time() -> float:
    """Seconds on the clock, for ways that wait or that use several processes."""
    return time.perf_counter()


def cpu_time() -> float:
    """Seconds of CPU of this process and of its finished children.

    Other programs on the machine change it less than the wall time.
    """
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def seconds_of(function: Callable[[], object], clock: Callable[[], float] = wall_time) -> float:
    """Time of one call."""
    started = clock()
    function()
    return clock() - started


def measure(
    task: str,
    n: int,
    ways: Mapping[str, Callable[[], object]],
    *,
    clock: Callable[[], float] = cpu_time,
) -> list[dict]:
    """Return one row per way, with its first and its median time; the first way is ragnb's.

    The ways take turns, so that a program that starts during the measurement slows all of them.
    The first call of each way is reported alone: it fills caches, as for somebody who scores a
    file once. The median is that of the calls after it, or of all calls if a call takes longer
    than five seconds.
    """
    times: dict[str, list[float]] = {name: [] for name in ways}
    waiting = list(ways)
    while waiting:
        for name in list(waiting):
            times[name].append(seconds_of(ways[name], clock))
            later = times[name][1:]
            long = times[name][0] > 5
            enough = sum(later) >= SECONDS and len(later) >= CALLS
            if long or enough or sum(later) > 5 * SECONDS or len(later) >= 1000:
                waiting.remove(name)
    return with_ratios([row_of(task, n, name, values, clock) for name, values in times.items()])


def row_of(
    task: str, n: int, way: str, times: list[float], clock: Callable[[], float] = cpu_time
) -> dict:
    """Describe the calls of one way; the first of several is not part of the median."""
    row: dict = {"task": task, "n": n, "way": way, "first": times[0], "calls": len(times)}
    row["seconds"] = median(times[1:] or times)
    row["clock"] = "wall" if clock is wall_time else "CPU"
    return row


def times_of_peer(tool: str, *arguments: str | Path) -> dict[str, list[float]]:
    """Times that a tool of benchmarks/peers.py reports, for each of its functions."""
    # -P keeps the folder of the script, which has modules such as `stats`, out of the search path.
    command = [PEERS, "-P", "-W", "ignore", ROOT / "benchmarks" / "peers.py", tool, *arguments]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(printed.splitlines()[-1])


def with_ratios(rows: list[dict]) -> list[dict]:
    """Add the time of each way divided by that of the first, and print the rows."""
    for row in rows:
        others = row is not rows[0]
        row["ratio"] = row["seconds"] / rows[0]["seconds"] if others else None
        row["first_ratio"] = row["first"] / rows[0]["first"] if others else None
        times = f"{row['seconds']:.3g} s, first {row['first']:.3g} s"
        print(f"{row['task']}, n = {row['n']:,}, {row['way']}: {times}", flush=True)
    return rows
