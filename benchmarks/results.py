"""Makes benchmarks/RESULTS.md of what the last run measured, and of what is kept in benchmarks/long.json.

    python -m benchmarks.results

No number is typed by hand. What is timed and why stands in the docstring of each benchmark; its first line is the heading.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.bounds import COMMANDS
from benchmarks.timing import HERE, LONG, RUN

Row = dict[str, Any]

PAIRS = (
    "| task | n | ragnb | median | peer | median | peer / ragnb | of the fastest rounds | rounds |"
)
ALONE = "| task | n | median | fastest | rounds |"

BOUNDS = """Seconds, each import in new processes once Python has started; `make` in an environment that is there."""
BROWSER = """Medians in JupyterLab in headless Chromium, drawn by software; kernel, server and browser on the same cores.
What includes the kernel is the whole way: key or click, Python, the log synchronised to the disk, the screen drawn again."""
SCALE = """`answer.f1`, `answer.exact_match` and `rgb.accuracy` of made-up responses of twelve words, read from Parquet
files of 50,000 rows with long passages beside, scores written as Parquet; every way gives the same means. Wall time is
without starting Python and Spark, CPU time with every start; memory is the peak of all processes together, the JVM among
them."""


def page(run: dict[str, Row], long: dict[str, Row], docs: dict[str, str]) -> str:
    """The whole page: `run` holds what was measured by name of the measurement, `docs` the docstrings by module."""
    parts = [
        *_head(run),
        *("", "## Bounds", "", BOUNDS, "", *_bounds(run.get("bounds"), long)),
        *(
            line
            for module, doc in docs.items()
            for line in _section(module, doc, run.get("speed", {}))
        ),
        *("", "## The annotator in JupyterLab", "", BROWSER, "", *_browser(run.get("browser"))),
        *(
            "",
            "## `score` on Dask and Spark",
            "",
            SCALE,
            "",
            *_scale(run.get("scale")),
            *_long_scale(long),
        ),
    ]
    return "\n".join(parts) + "\n"


# ---- the surroundings --------------------------------------------------------------------------------------------------


def _head(run: dict[str, Row]) -> Iterator[str]:
    yield from (
        "# Speed",
        "",
        "Measured by `make bench`, in one run; this page is made by `benchmarks/results.py`.",
        "",
    )
    found = [part["of"] for part in run.values() if "of" in part]
    if not found:
        yield "Nothing was measured."
        return
    first = run.get("speed", {}).get("of", found[0])
    yield f"{_of(first)}; load average {first['load']} at the start."
    speed = run.get("speed", {})
    if speed.get("quick") or speed.get("left_out"):
        left_out = (
            f" {speed['left_out']} benchmarks were left out." if speed.get("left_out") else ""
        )
        yield from ("", f"**A trial run, of few rounds: its numbers are none to quote.{left_out}**")
    names = {
        name: version for part in run.values() for name, version in part.get("versions", {}).items()
    }
    if names:
        yield ""
        yield ", ".join(f"{name} {names[name]}" for name in sorted(names)) + "."
    yield ""
    yield (
        "Times are wall times, medians of the rounds; a ratio is the peer's time divided by that of ragnb, so that above 1 "
        "ragnb is faster. Of one round there is no spread to see."
    )


def _of(of: Row) -> str:
    machine = f"{of['cpu']}, {of['cores']} cores, {of['memory']} GiB, {of['system']}"
    return f"{of['date']}: {machine}, {of['python']}"


# ---- ragnb beside its peers --------------------------------------------------------------------------------------------


def _section(module: str, doc: str, speed: Row) -> Iterator[str]:
    title, _, prose = doc.strip().partition("\n")
    yield from ("", f"## {title.rstrip('.')}", "", prose.strip(), "")
    timed = [
        _measured(one)
        for one in speed.get("benchmarks", [])
        if one["fullname"].partition("::")[0].endswith(module)
    ]
    absent = [one for one in speed.get("missing", []) if one["module"].endswith(module)]
    yield from _table([*timed, *absent]) if timed or absent else ["Not measured in this run."]
    notes = [
        f"- {one['task']}, n = {_count(one['n'])}, {one['who']}: {one['note']}"
        for one in timed
        if "note" in one
    ]
    yield from ["", *notes] if notes else []


def _measured(benchmark: Row) -> Row:
    stats = benchmark["stats"]
    return benchmark["extra_info"] | {name: stats[name] for name in ("median", "min", "rounds")}


def _table(rows: list[Row]) -> Iterator[str]:
    """Each way of ragnb beside each peer of the same task and n, then the ways that have none."""
    tasks: dict[tuple[str, Any], list[Row]] = {}
    for row in rows:
        tasks.setdefault((row["task"], row["n"]), []).append(row)
    sides = [
        ([row for row in ways if _is_ours(row)], [row for row in ways if not _is_ours(row)])
        for ways in tasks.values()
    ]
    pairs = [pair for mine, theirs in sides for pair in product(mine, theirs)]
    if pairs:
        yield from _lines(PAIRS, (_pair(*pair) for pair in pairs))
    alone = [row for mine, theirs in sides if not (mine and theirs) for row in [*mine, *theirs]]
    if alone:
        yield from ([""] if pairs else [])
        yield from _lines(ALONE, map(_alone, alone))


def _is_ours(row: Row) -> bool:
    return row["who"].split()[0] == "ragnb"


def _pair(mine: Row, theirs: Row) -> list[str]:
    start = [mine["task"], _count(mine["n"]), mine["who"], _time(mine["median"]), theirs["who"]]
    if "needs" in theirs:
        return [*start, f"{theirs['needs']} not installed", "", "", str(mine["rounds"])]
    ratios = [_ratio(theirs[name] / mine[name]) for name in ("median", "min")]
    return [*start, _time(theirs["median"]), *ratios, f"{mine['rounds']}, {theirs['rounds']}"]


def _alone(row: Row) -> list[str]:
    task = row["task"] if row["who"] == "ragnb" else f"{row['task']}: {row['who']}"
    if "needs" in row:
        return [task, _count(row["n"]), f"{row['needs']} not installed", "", ""]
    return [task, _count(row["n"]), _time(row["median"]), _time(row["min"]), str(row["rounds"])]


# ---- bounds, browser, scale --------------------------------------------------------------------------------------------


def _bounds(bounds: Row | None, long: dict[str, Row]) -> Iterator[str]:
    imports = [_import(row) for row in (bounds or {}).get("rows", [])]
    commands = [
        _command(target, bound, long.get(f"make {target}")) for target, bound in COMMANDS.items()
    ]
    yield from _lines("| what | bound | seconds | how |", [*imports, *commands])
    if not imports:
        yield from ("", "Imports were not measured in this run.")


def _import(row: Row) -> list[str]:
    how = f"median of {row['n']} processes, the longest {row['longest']:.3f}"
    return [f"`{row['what']}`", _bound(row), f"{row['seconds']:.3f}", how]


def _command(target: str, bound: float, row: Row | None) -> list[str]:
    if row is None:
        return [f"`make {target}`", f"{bound:g}", "never measured", "`make bench-long` measures it"]
    return [f"`make {target}`", _bound(row), f"{row['seconds']:.0f}", _of(row["of"])]


def _bound(row: Row) -> str:
    if row["bound"] is None:
        return ""
    return f"{row['bound']:g}, {'kept' if row['seconds'] <= row['bound'] else 'NOT KEPT'}"


def _browser(browser: Row | None) -> Iterator[str]:
    if browser is None or "needs" in browser:
        yield (
            f"Not measured in this run: {browser['needs']} is not installed."
            if browser
            else "Not measured in this run."
        )
        return
    rows = (
        [row["what"], f"{row['median']:.1f} {row['unit']}", str(row["rounds"])]
        for row in browser["rows"]
    )
    yield from _lines("| what | median | rounds |", rows)


def _scale(scale: Row | None) -> Iterator[str]:
    if scale is None:
        yield "Not measured in this run."
        return
    head = "| responses | way | seconds | pandas / this | CPU seconds | peak GB | Spark started in (s) |"
    pandas = {row["rows"]: row["seconds"] for row in scale["rows"] if row["way"] == "pandas"}
    yield from _lines(head, (_way(row, pandas.get(row["rows"])) for row in scale["rows"]))


def _way(row: Row, pandas: float | None) -> list[str]:
    start = [_count(row["rows"]), row["way"]]
    if "needs" in row:
        return [*start, f"{row['needs']} not installed", "", "", "", ""]
    ratio = _ratio(pandas / row["seconds"]) if pandas else ""
    started = f"{row['start']:.1f}" if row["way"].startswith("Spark") else ""
    return [
        *start,
        f"{row['seconds']:.1f}",
        ratio,
        f"{row['cpu']:.1f}",
        f"{row['peak']:.2f}",
        started,
    ]


def _long_scale(long: dict[str, Row]) -> Iterator[str]:
    measured = [scale for name, scale in long.items() if name.startswith("scale")]
    if not measured:
        yield from ("", "More rows were never measured; see `benchmarks/bench_scale.py --long`.")
    for scale in sorted(measured, key=lambda scale: scale["rows"][0]["rows"]):
        libraries = ", ".join(f"{name} {version}" for name, version in scale["versions"].items())
        yield from ("", f"More rows, {_of(scale['of'])}, {libraries}:", "", *_scale(scale))


# ---- how it is written -------------------------------------------------------------------------------------------------


def _lines(head: str, rows: Iterable[list[str]]) -> Iterator[str]:
    yield head
    yield re.sub(r"[^|]+", " --- ", head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def _count(n: Any) -> str:
    return f"{n:,}" if isinstance(n, int) else str(n)


def _ratio(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2f}"


def _time(seconds: float) -> str:
    """Three digits that count, in a unit that suits.

    >>> _time(0.00035912), _time(0.0338), _time(13.283), _time(1234.5)
    ('359 µs', '33.8 ms', '13.3 s', '1,234 s')
    """
    factor, unit = next(
        (pair for pair in ((1, "s"), (1e3, "ms")) if seconds * pair[0] >= 1), (1e6, "µs")
    )
    number = seconds * factor
    return f"{number:,.{max(0, 3 - len(str(int(number))))}f} {unit}"


# ---- files -------------------------------------------------------------------------------------------------------------


def docstrings(folder: Path) -> dict[str, str]:
    """The docstring of every module of benchmarks that pytest times, by its name."""
    paths = (path for path in sorted(folder.glob("bench_*.py")) if path.stem != "bench_scale")
    return {
        path.name: ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stem
        for path in paths
    }


def main() -> None:
    run = {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(RUN.glob("*.json"))
    }
    long = json.loads(LONG.read_text(encoding="utf-8")) if LONG.exists() else {}
    (HERE / "RESULTS.md").write_text(page(run, long, docstrings(HERE)), encoding="utf-8")


if __name__ == "__main__":
    main()
