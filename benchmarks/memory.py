"""Scoring more rows than fit into memory, in processes that may use 1 GB each.

A million responses in 20 Parquet files need 2 GB if one process reads all of them. Each way runs
in a new process whose memory the system limits, as it limits that of the processes it starts. This
stands for data larger than the memory of a machine. Wall times, from the start of the process.
``python -m benchmarks.memory dask FOLDER TARGET`` runs one way.
"""

import json
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd

import ragnb
from benchmarks.scale import peak_memory
from benchmarks.timing import ROOT, responses, wall_time

ROWS, FILES = 1_000_000, 20
LIMIT = 1_000_000_000
METRICS = ["answer.exact_match", "answer.f1"]
# What Python, pyarrow and the C library print if there is not enough memory.
OUT_OF_MEMORY = ("MemoryError", "bad_alloc", "cannot allocate memory")


def score_file(source: Path, target: Path) -> None:
    """Score the responses of one file into another file."""
    ragnb.score(pd.read_parquet(source), METRICS).to_parquet(target / source.name)


def all_at_once(source: Path, target: Path) -> None:
    ragnb.score(pd.read_parquet(source), METRICS).to_parquet(target / "scores.parquet")


def one_after_the_other(source: Path, target: Path) -> None:
    for file in sorted(source.glob("*.parquet")):
        score_file(file, target)


def with_pool(source: Path, target: Path) -> None:
    files = sorted(source.glob("*.parquet"))
    with ProcessPoolExecutor(2) as pool:
        # The list waits for all files, and raises the error of any of them.
        list(pool.map(score_file, files, [target] * len(files)))


def with_dask(source: Path, target: Path) -> None:
    import dask
    import dask.dataframe as dd

    with dask.config.set(scheduler="processes", num_workers=2, chunksize=1):
        ragnb.score(dd.read_parquet(source), METRICS).to_parquet(target)


def with_spark(source: Path, target: Path) -> None:
    from benchmarks.frames import spark_session

    session = spark_session(memory="512m")
    ragnb.score(session.read.parquet(str(source)), METRICS).write.mode("overwrite").parquet(
        str(target)
    )
    session.stop()


WAYS = {
    "pandas, one file after the other": one_after_the_other,
    "pandas, all files at once": all_at_once,
    "pandas, one file after the other in 2 processes": with_pool,
    "Dask, 2 processes": with_dask,
    "Spark, 2 cores": with_spark,
}


def run(way: str, source: str, target: str) -> None:
    """Run one way in this process with limited memory, and print the largest memory of a process.

    A way that needs more prints nothing and ends with an error.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    WAYS[way](Path(source), Path(target))
    largest_child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(json.dumps({"gigabytes": max(peak_memory(), largest_child) / 1e9}))


def rows() -> list[dict]:
    """Time each way, and check that those which end give the same means."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "responses"
        source.mkdir()
        frame = responses(ROWS)
        for number in range(FILES):
            frame.iloc[number::FILES].to_parquet(source / f"{number}.parquet", index=False)
        timings, means = [], []
        for number, way in enumerate(WAYS):
            target = folder / f"scores {number}"
            target.mkdir()
            command = [sys.executable, "-m", "benchmarks.memory", way, str(source), str(target)]
            started = wall_time()
            finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            row = {"n": ROWS, "way": way, "limit": LIMIT / 1e9, "seconds": wall_time() - started}
            if finished.returncode == 0:
                row |= json.loads(finished.stdout.splitlines()[-1])
                means.append(mean_scores(target))
                print(f"{way}: {row['seconds']:.3g} s, {row['gigabytes']:.2f} GB", flush=True)
            elif any(name in finished.stderr for name in OUT_OF_MEMORY):
                row["error"] = "not enough memory"
                print(f"{way}: {row['error']}", flush=True)
            else:
                raise RuntimeError(f"{way} failed: {finished.stderr[-2000:]}")
            timings.append(row)
    assert all(other == means[0] for other in means)
    return timings


def mean_scores(folder: Path) -> dict[str, float]:
    """Mean of each metric in the files of a folder."""
    scores = pd.read_parquet(folder, columns=["metric", "value"])
    return scores.groupby("metric", observed=True)["value"].mean().round(9).to_dict()


if __name__ == "__main__":
    run(*sys.argv[1:])
