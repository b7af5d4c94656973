"""Run all benchmarks and write RESULTS.md: ``python -m benchmarks``, or some: ``... stats runner``."""

import importlib
import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

SCRIPTS = ("scoring", "stats", "conformal", "runner", "frames")
PACKAGES = (
    "ragnb numpy pandas pyarrow scipy scikit-learn statsmodels ppi-python mapie crepes openai dask "
    "pyspark"
)
PAGE = Path(__file__).parent / "RESULTS.md"

EARLIER = """\
## Earlier measurements

These were measured with ragnb 0.1.0 on a quiet machine on 2026-11-22 (2 cores, 24 GiB). They take
long or need a browser, so `make bench` does not repeat them.

| what | result |
|---|---|
| `make figures` | 83 s |
| `score` of 3 metrics, 1,000,000 rows, pandas | 86 s, 1.9 GB |
| the same, pandas file by file | 104 s, 0.4 GB (10,000,000 rows: 959 s, 1.5 GB) |
| the same, Dask with processes | 108 s, 2.5 GB |
| the same, Spark on 2 cores | 89 s, 1.5 GB |
| BCa interval, n = 300 and 10,000 | ragnb 0.36 and 2.3 ms, scipy 34 ms and 2.5 s |
| sign-flip test, n = 300 and 10,000 | ragnb 2.2 and 5.1 ms, scipy 174 ms and 8.3 s |
| 2,000 requests answered after 0.2 s, 64 at a time | ragnb 9.1 s, bare loop 8.5 s |
| annotator in JupyterLab, key to painted screen with 304 sentences | 77 ms |
| annotator, click to saved on disk | 9 ms |
| annotator with 5,000 items, cell run to first item shown | 950 ms |

## Before and after a change of speed

CPU times of two versions of the same day, 2026-11-28, on two cores that other programs used as well, so
that only ratios count. The peer ran in the same process in turn with ragnb. Each pair of numbers is
ragnb's time divided by the peer's, before and after. Below 1, ragnb is faster.

| what | peer | before | after |
|---|---|---|---|
| `compare`, 3,000 questions, 20 comparisons, scores with two decimals | t, McNemar, interval and Holm by hand | 22.8 | 2.9 |
| the same, scores that are not rounded | the same | 31 | 3.2 |
| `compare`, 200,000 questions, 5 systems, 2 metrics (1.1 GB before, 0.75 GB after) | the same | 28 | 2.1 |
| `load_responses`, JSON Lines, 100,000 rows | pandas | 3.2 | 2.5 |
| six retrieval metrics, 3,000 lists of 100 passages | `ir_measures` | 1.85 | 1.60 |

Without a peer: the sign-flip interval of 3,000 differences took 166 ms before and 20 ms after (two
decimals), or 449 and 29 ms (not rounded). That of 100 differences takes longer, 46 and about 60 ms.
Loading 100,000 rows took 2.4 and 2.1 s from Parquet, and 4.5 and 4.1 s from CSV. `score` of exact match
on 2,000 rows took 89 and 57 ms, and chrF of 3,000 responses 2.0 and 1.5 s.
"""


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def _machine() -> str:
    """Describe date, machine, load and versions."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    load = os.getloadavg()[0]
    busy = load > 1.5
    note = (
        " **Other programs used the machine, so times are too long, above all those of long calls.**"
        if busy
        else ""
    )
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES.split())
    return (
        f"{datetime.now(UTC):%Y-%m-%d}: {names[0] if names else platform.machine()}, "
        f"{os.cpu_count()} cores, Python {platform.python_version()}, load average {load:.1f} at "
        f"the start.{note}\n\n{packages}."
    )


def _page(machine: str, rows: list[dict]) -> str:
    lines = [
        "# Speed",
        "",
        "`make bench` writes this page. Times are wall times: the median of as many calls as fit "
        "into a second. The last column is the time divided by that of the first way of the same "
        "task, which is ragnb, measured in the same run. Above 1, ragnb is faster. The scripts in `benchmarks/` say what "
        "is computed.",
        "",
        machine,
        "",
        "| task | n | way | time | calls | time / first |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        ratio = row["ratio"]
        shown = "" if ratio is None else f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2g}"
        cells = [row["task"], f"{row['n']:,}", row["way"], _time(row["seconds"])]
        lines.append(f"| {' | '.join([*cells, str(row['calls']), shown])} |")
    return "\n".join(lines) + "\n\n" + EARLIER


def main(names: list[str]) -> None:
    """Run some of the scripts, or all of them and write the page."""
    machine = "" if names else _machine()
    modules = [importlib.import_module(f"benchmarks.{name}") for name in names or SCRIPTS]
    rows = [row for module in modules for row in module.rows()]
    if not names:
        PAGE.write_text(_page(machine, rows), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
