"""The page of benchmarks: right ratios, everything that was measured, and everything that was not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.results import docstrings, page

ROOT = Path(__file__).parents[1]
OF = {
    "date": "2024-01-31",
    "cpu": "A Processor",
    "cores": 2,
    "memory": 16,
    "system": "Linux x86_64",
    "python": "CPython 3.11.7",
}
OF |= {"load": 0.1}
DOCS = {
    "bench_one.py": "One thing, beside others\n\nWhy it is timed.",
    "bench_two.py": "Another thing",
}


def timed(task, n, who, median, fastest, rounds, module="bench_one.py", **extra):
    stats = {"median": median, "min": fastest, "rounds": rounds, "mean": 99.0, "max": 99.0}
    return {
        "fullname": f"benchmarks/{module}::test",
        "stats": stats,
        "extra_info": {"task": task, "n": n, "who": who, **extra},
    }


def missing(task, n, who, needs):
    return {"module": "benchmarks/bench_one.py", "task": task, "n": n, "who": who, "needs": needs}


def made(benchmarks=(), absent=(), long=None, **parts):
    speed = {
        "of": OF,
        "benchmarks": [*benchmarks],
        "missing": [*absent],
        "versions": {"ragnb": "1.0", "peerlib": "2.3"},
    }
    return page({"speed": speed, **parts}, long or {}, DOCS)


def cells(text, *beginning):
    """The rows of tables that begin so, without the beginning."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return [row[len(beginning) :] for row in rows if row[: len(beginning)] == [*beginning]]


def test_a_ratio_is_the_peers_time_by_ours_of_medians_and_of_the_fastest_rounds():
    text = made(
        [timed("mean", 300, "ragnb", 0.002, 0.001, 7), timed("mean", 300, "slowlib", 0.5, 0.3, 5)]
    )
    assert cells(text, "mean", "300") == [
        ["ragnb", "2.00 ms", "slowlib", "500 ms", "250", "300", "7, 5"]
    ]


def test_a_peer_that_is_faster_has_a_ratio_below_1():
    text = made(
        [
            timed("mean", 300, "ragnb", 0.004, 0.004, 7),
            timed("mean", 300, "fastlib", 0.001, 0.001, 5),
        ]
    )
    assert cells(text, "mean", "300")[0][4] == "0.25"


def test_only_what_has_the_same_task_and_n_is_compared_every_way_with_every_peer():
    of_300 = [
        timed("mean", 300, who, 1.0, 1.0, 3) for who in ("ragnb", "ragnb quickly", "one", "two")
    ]
    text = made(
        [
            *of_300,
            timed("mean", 10_000, "ragnb", 1.0, 1.0, 3),
            timed("test", 300, "one", 1.0, 1.0, 3),
        ]
    )
    assert [(row[0], row[2]) for row in cells(text, "mean", "300")] == [
        ("ragnb", "one"), ("ragnb", "two"), ("ragnb quickly", "one"), ("ragnb quickly", "two")]  # fmt: skip
    assert cells(text, "mean", "10,000") == [["1.00 s", "1.00 s", "3"]]
    assert cells(text, "test: one", "300") == [["1.00 s", "1.00 s", "3"]]


def test_a_peer_that_is_not_installed_is_said_to_be_missing_beside_ours_and_alone():
    absent = [
        missing("mean", 300, "slowlib `mean`", "slowlib"),
        missing("test", 300, "slowlib `test`", "slowlib"),
    ]
    text = made([timed("mean", 300, "ragnb", 0.001, 0.001, 7)], absent)
    assert cells(text, "mean", "300") == [
        ["ragnb", "1.00 ms", "slowlib `mean`", "slowlib not installed", "", "", "7"]
    ]
    assert cells(text, "test: slowlib `test`", "300") == [["slowlib not installed", "", ""]]


@pytest.mark.parametrize("n", [1, 7])
def test_nothing_that_was_measured_is_dropped(n):
    benchmarks = [
        timed(f"task {k}", 10, who, 1.0, 1.0, 3, module)
        for k in range(n)
        for module, who in (
            ("bench_one.py", "ragnb"),
            ("bench_one.py", "lib"),
            ("bench_two.py", "ragnb"),
        )
    ]
    text = made(benchmarks)
    assert all(len(cells(text, f"task {k}", "10")) == 2 for k in range(n))  # of each module
    assert "Not measured" not in text.partition("## The annotator")[0]


def test_headings_prose_versions_surroundings_and_notes_are_there():
    text = made([timed("mean", 300, "ragnb", 0.001, 0.001, 7, note="61 MiB")])
    assert "## One thing, beside others\n\nWhy it is timed.\n" in text
    assert (
        "2024-01-31: A Processor, 2 cores, 16 GiB, Linux x86_64, CPython 3.11.7; load average 0.1"
        in text
    )
    assert "peerlib 2.3, ragnb 1.0." in text
    assert "- mean, n = 300, ragnb: 61 MiB" in text


def test_what_was_not_measured_says_so():
    text = made()
    assert (
        text.count("Not measured in this run.") == len(DOCS) + 2
    )  # the browser and the frames of engines
    assert "Imports were not measured" in text
    assert cells(text, "`make figures`") == [
        ["120", "never measured", "`make bench-long` measures it"]
    ]
    assert "Chromium is not installed" in made(browser={"needs": "Chromium", "rows": []})


def test_a_trial_run_says_so_and_how_much_it_left_out():
    assert "trial" not in made()
    assert "trial run" in page({"speed": {"of": OF, "quick": True}}, {}, DOCS)
    assert "14 benchmarks were left out" in page({"speed": {"of": OF, "left_out": 14}}, {}, DOCS)


def test_a_bound_is_kept_or_not_and_what_is_seldom_measured_has_its_own_date():
    row = {"what": "import ragnb", "seconds": 0.6, "longest": 0.9, "n": 7, "bound": 0.5}
    long = {"make test": {"of": OF | {"date": "2023-12-24"}, "seconds": 600.4, "bound": 900.0}}
    text = made(bounds={"rows": [row, row | {"what": "import os", "seconds": 0.4}]}, long=long)
    assert cells(text, "`import ragnb`")[0][:2] == ["0.5, NOT KEPT", "0.600"]
    assert cells(text, "`import os`")[0][:2] == ["0.5, kept", "0.400"]
    assert cells(text, "`make test`")[0][:2] == ["900, kept", "600"]
    assert "2023-12-24" in cells(text, "`make test`")[0][2]


def test_the_scale_compares_with_pandas_and_says_which_engine_is_missing():
    ways = [("pandas", 10.0), ("pandas in chunks", 20.0)]
    rows = [
        {"rows": 1000, "way": way, "seconds": s, "cpu": 1.0, "peak": 0.5, "start": 0.0}
        for way, s in ways
    ]
    text = made(scale={"rows": [*rows, {"rows": 1000, "way": "Dask, processes", "needs": "dask"}]})
    assert cells(text, "1,000", "pandas in chunks") == [["20.0", "0.50", "1.0", "0.50", ""]]
    assert cells(text, "1,000", "Dask, processes") == [["dask not installed", "", "", "", ""]]
    assert "More rows were never measured" in text
    of = {"of": OF, "versions": {"pandas": "3.1"}}
    more = {
        f"scale, {n}": of | {"rows": [row | {"rows": n} for row in rows]}
        for n in (10_000_000, 1_000_000)
    }
    text = made(long=more)
    assert [line[:12] for line in text.splitlines() if "| pandas |" in line] == [
        "| 1,000,000 ",
        "| 10,000,000",
    ]
    assert text.count("More rows") == 2


def test_every_benchmark_has_a_heading_and_says_why():
    for name, doc in docstrings(ROOT / "benchmarks").items():
        title, _, prose = doc.partition("\n\n")
        assert "\n" not in title, name
        assert prose, name


TINY = """
from benchmarks.timing import ours, peer, task

@task("adding", 3)
class TestTiny:
    @ours()
    def test_ragnb(self, few):
        few(sum, [1, 2], rounds=2)

    @peer("nobody's", "no-such-distribution")
    def test_peer(self, few):
        raise AssertionError
"""


def test_a_real_run_says_what_it_timed_and_what_it_could_not(tmp_path):
    (tmp_path / "conftest.py").write_text("from benchmarks.conftest import *\n")
    (tmp_path / "bench_tiny.py").write_text(TINY)
    options = ["-o", "python_files=bench_*.py", "-p", "no:cacheprovider", f"--rootdir={tmp_path}"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(tmp_path),
        *options,
        f"--benchmark-json={tmp_path}/speed.json",
    ]
    surroundings = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")
    }
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=surroundings)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    speed = json.loads((tmp_path / "speed.json").read_text())
    text = page({"speed": speed}, {}, {"bench_tiny.py": "Tiny\n\nBecause."})
    assert cells(text, "adding", "3")[0][2:4] == ["nobody's", "no-such-distribution not installed"]
    assert speed["benchmarks"][0]["stats"]["rounds"] == 2
    assert speed["machine_info"]["node"] not in text
