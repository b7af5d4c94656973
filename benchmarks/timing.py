"""Time several ways of doing one task."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

import pandas as pd

import ragnb

ROOT = Path(__file__).parents[1]


def responses(n: int) -> pd.DataFrame:
    """EVOUNA's answers of two systems (docs/answers.csv), repeated with new ids to n rows."""
    answers = ragnb.load_responses(ROOT / "docs" / "answers.csv", language="en")
    copies = range(-(-n // len(answers)))
    parts = [answers.assign(example_id=answers["example_id"].astype(str) + f"/{k}") for k in copies]
    return pd.concat(parts, ignore_index=True).head(n)


def seconds_of(function: Callable[[], object]) -> float:
    """Wall time of one call."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def measure(task: str, n: int, ways: Mapping[str, Callable[[], object]]) -> list[dict]:
    """Return one row per way, with its median time; the first way is the one of ragnb.

    Each way is called until a second has passed, at most 1,000 times. The first call is a warm-up
    and does not count, unless it took more than five seconds.
    """
    rows: list[dict] = []
    for name, function in ways.items():
        first = seconds_of(function)
        times = [first] if first > 5 else []
        while sum(times) < 1 and len(times) < 1000:
            times.append(seconds_of(function))
        row = {"task": task, "n": n, "way": name, "seconds": median(times), "calls": len(times)}
        rows.append(row | {"ratio": row["seconds"] / rows[0]["seconds"] if rows else None})
        print(f"{task}, n = {n:,}, {name}: {row['seconds']:.3g} s ({len(times)} calls)", flush=True)
    return rows
