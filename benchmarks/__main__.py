"""Run all benchmarks and write RESULTS.md: ``python -m benchmarks``, or some: ``... stats runner``."""

import importlib
import json
import os
import platform
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

TIMES = ("scoring", "stats", "conformal", "runner", "frames")
SCRIPTS = (*TIMES, "scale", "memory")
PACKAGES = (
    "ragnb numpy pandas pyarrow scipy scikit-learn statsmodels ppi-python mapie crepes openai dask "
    "pyspark"
)
PAGE = Path(__file__).parent / "RESULTS.md"
# The rows of the last run, in which `python -m benchmarks stats` replaces those of one script.
ROWS = Path(__file__).parents[1] / "build" / "benchmarks.json"

EARLIER = """\
## Earlier measurements

These were measured with ragnb 0.1.0 on a quiet machine on 2026-11-22 (2 cores, 24 GiB). They need a
browser, so `make bench` does not repeat them.

| what | result |
|---|---|
| annotator in JupyterLab, key to painted screen with 304 sentences | 77 ms |
| annotator, click to saved on disk | 9 ms |
| annotator with 5,000 items, cell run to first item shown | 950 ms |

## Before and after a change of speed

CPU times of 2026-11-28 and 2026-11-29, on two cores that other programs used heavily as well, so that
only ratios count, and only roughly. The peer ran in turn with ragnb, in the same process except for the
quickstart. Each pair of numbers is ragnb's time divided by the peer's, before and after. Below 1, ragnb
is faster. Both versions of a row were measured on the same day, except for JSON Lines and retrieval,
whose first numbers are of the first day. On the second day, these were 2.4 and 1.1 before the last change.

| what | peer | before | after |
|---|---|---|---|
| `compare`, 3,000 questions, 20 comparisons, scores with two decimals | t, McNemar, interval and Holm by hand | 22.8 | 2.9 |
| the same, scores that are not rounded | the same | 31 | 3.2 |
| `compare`, 200,000 questions, 5 systems, 2 metrics (1.1 GB before, 0.75 GB after) | the same | 28 | 2.1 |
| `load_responses`, JSON Lines, 100,000 rows | pandas | 3.2 | 1.5 |
| the same, Parquet | pandas | 13 | 9 |
| the same, CSV with lists as references | pandas, which leaves lists as texts | 68 | 34 |
| six retrieval metrics, 3,000 lists of 100 passages | `ir_measures` | 1.85 | 0.87 |
| HTML of a summary, 15 rows | pandas | 7.5 | 3.3 |

README's quickstart in a new process took 1.45 times a script with pandas and scipy, and takes 1.15 times. The Holm
correction of statsmodels collects the garbage of the whole process and imports all of scipy.stats, so ragnb has its
own, which gives the same numbers. `compare` of two systems on 16 questions took 75 ms with it and takes 8 ms.

CSV and Parquet stay above pandas, because pandas keeps texts in blocks of Arrow and leaves lists as they
are. ragnb's cells are objects of Python, which are checked and, in references, become lists of lists. Of
1.8 s for CSV, the `csv` module and the frame take 0.8 s, and this step alone is eight times pandas' C
parser. Columns of Arrow texts would remove most of it, but would change the types of all loaded columns.

Without a peer, CPU time before and after on 2026-11-29:

| what | before | after |
|---|---|---|
| `load_responses`, CSV, 100,000 rows | 3.4 s | 1.8 s |
| `load_responses`, Parquet, 100,000 rows | 1.6 s | 0.95 s |
| `score`, exact match, 10,000 answers | 236 ms | 164 ms |
| `score`, exact match and F1, 60,000 answers without repeated texts | 6.2 s | 4.5 s |
| `score`, contains, 2,000 answers | 281 ms | 65 ms |
| `score`, identified language, 2,000 answers seen before | 480 ms | 65 ms |
| replay of 20,000 stored replies with long prompts | 4.2 s | 2.7 s |
| the same, whichever endpoint answered | 7.4 s | 4.2 s |

Without a peer, earlier: the sign-flip interval of 3,000 differences took 166 ms before and 20 ms after (two
decimals), or 449 and 29 ms (not rounded). That of 100 differences takes longer, 46 and about 60 ms.
`score` of exact match on 2,000 rows took 89 and 57 ms, and chrF of 3,000 responses 2.0 and 1.5 s.
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


def _ratio(ratio: float | None) -> str:
    if ratio is None:
        return ""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2g}"


def _table(columns: str, rows: Iterable[list[str]]) -> str:
    """Return a Markdown table; the names of the columns are separated by `` | ``."""
    rule = "|".join("---" for _ in columns.split(" | "))
    lines = [f"| {columns} |", f"|{rule}|"]
    return "\n".join(lines + [f"| {' | '.join(cells)} |" for cells in rows])


def _time_cells(row: dict) -> list[str]:
    cells = [row["task"], f"{row['n']:,}", row["way"], row["clock"]]
    cells += [_time(row["first"]), _time(row["seconds"]), str(row["calls"])]
    return [*cells, _ratio(row["first_ratio"]), _ratio(row["ratio"])]


def _scale_cells(row: dict) -> list[str]:
    per_million = row["seconds"] / row["n"] * 1e6
    cells = [row["task"], f"{row['n']:,}", row["way"], _time(row["seconds"]), _time(per_million)]
    return [*cells, f"{row['gigabytes']:.2f} GB", _ratio(row["ratio"])]


def _memory_cells(row: dict) -> list[str]:
    cells = [f"{row['n']:,}", f"{row['limit']:.0f} GB", row["way"]]
    if "error" in row:
        return [*cells, row["error"], ""]
    return [*cells, _time(row["seconds"]), f"{row['gigabytes']:.2f} GB"]


PAGE_TEXT = """\
# Speed

`make bench` writes this page. Times are CPU times, with those of child processes. Where a way waits for a server or
uses several processes for longer than one call, they are wall times. *First* is the time of the first call, which
fills caches, and *time* is the median of as many calls after it as fit into a second. The ways of a task take turns,
except for ragas and inspect_ai, which run in an environment of their own. The last two columns are the times divided
by those of ragnb. Above 1, ragnb is faster. The scripts in `benchmarks/` define what is computed, and check that the
ways agree where they compute the same.

The answers are EVOUNA's, 18,050 answers of five systems to 3,610 questions. No text occurs twice in a task unless two
systems gave the same answer.

{machine}

{times}

## Cost by number of rows

CPU time and peak memory of one step in a new process. Both ways of a step run at the same time. Ten million rows are
read and scored in ten files, one after the other. From the second file on, the caches of normalised texts are full, and
each new text replaces an old one, which takes about a tenth of the time of `score`. The last column is the time divided
by that of ragnb.

{scale}

## More rows than fit into memory

`score` of exact match and F1, from Parquet files to Parquet files, in processes whose memory the system limits. One
process that reads all files needs 2 GB, so the limit stands for data larger than a machine's memory. Wall times, from
the start of the process to its end. Several machines were not measured.

{memory}

{earlier}"""


def _page(machine: str, measured: dict[str, list[dict]]) -> str:
    times = [row for name in TIMES for row in measured[name]]
    return PAGE_TEXT.format(
        machine=machine,
        times=_table(
            "task | n | way | clock | first | time | calls | first / ragnb | time / ragnb",
            map(_time_cells, times),
        ),
        scale=_table(
            "task | rows | way | time | time per million rows | peak memory | time / ragnb",
            map(_scale_cells, measured["scale"]),
        ),
        memory=_table(
            "rows | memory of a process | way | time | peak of the largest process",
            map(_memory_cells, measured["memory"]),
        ),
        earlier=EARLIER,
    )


def main(names: list[str]) -> None:
    """Run some of the scripts, or all of them, and write the page with the newest rows of each."""
    earlier = json.loads(ROWS.read_text("utf-8")) if ROWS.is_file() and names else {}
    machine = earlier.get("machine") or _machine()
    measured = earlier.get("rows", {})
    for name in names or SCRIPTS:
        measured[name] = importlib.import_module(f"benchmarks.{name}").rows()
        ROWS.parent.mkdir(exist_ok=True)
        ROWS.write_text(json.dumps({"machine": machine, "rows": measured}), "utf-8")
    if set(measured) == set(SCRIPTS):
        PAGE.write_text(_page(machine, measured), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
