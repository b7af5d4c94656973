"""Time and memory of `score` with pandas, Dask and Spark on frames read from Parquet, one process after the other.

    python -m benchmarks.bench_scale                    # 100,000 responses
    python -m benchmarks.bench_scale --long --rows 1000000 10000000 --ways "pandas in chunks" "Spark, local[2]"

``--long`` keeps the result in benchmarks/long.json, with its date. An engine that is not installed is said to be missing.

Each run is a process of its own: it reads the same Parquet files, scores answer.f1, answer.exact_match and rgb.accuracy,
writes the scores as Parquet, and prints the mean of each metric, which must be the same for all. Time is wall time from the
first read to the last write, without starting Python, importing ragnb or starting Spark (given beside); Dask's worker
processes start within it. CPU time is that of the process and all that it started, with every start; on a shared machine it
is the steadier of the two. Memory is the peak of their resident sets, added up every 50 ms: shared pages count in each.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.timing import installed, keep, keep_long, versions

METRICS = ["answer.f1", "answer.exact_match", "rgb.accuracy"]
FILE = 50_000
"""Responses in a file of Parquet."""

WORDS = "the a of in river city hill north south old new bridge king queen year war peace red blue Oslo Bergen".split()
WAYS = ["pandas", "pandas in chunks", "Dask, processes", "Spark, local[2]"]
ENGINES = {"Dask, processes": "dask", "Spark, local[2]": "pyspark"}
"""What a way needs beside ragnb."""


def write_responses(folder, rows):
    """Made-up responses of about 12 words to a thousand questions, in files of `FILE` rows; passages lie beside, unread."""
    import pandas as pd

    for start in range(0, rows, FILE):
        rng = np.random.default_rng(start)
        n = min(FILE, rows - start)
        words = rng.choice(WORDS, (n, 12)).tolist()
        question = rng.integers(0, 1000, n)
        frame = pd.DataFrame(
            {
                "example_id": [f"q/{start + k}" for k in range(n)],
                "system": "made-up",
                "language": "en",
                "noise_rate": 0.4,
                "references": [
                    [[f"{WORDS[q % 21]} {WORDS[q // 21 % 21]}", f"{WORDS[q % 17]}"]]
                    for q in question
                ],
                "response": [" ".join(said) for said in words],
                "passages": [[" ".join(said * 10)] * 2 for said in words],
            }
        )
        frame.to_parquet(folder / f"{start:09}.parquet", index=False)


# ---- one way, in a process of its own ----------------------------------------------------------------------------------


def run(way, source, target):
    """Score every file of a folder; seconds that starting took, that scoring took, and the means."""
    import ragnb
    from ragnb.scoring.scores import score

    began = time.perf_counter()
    engine = STARTS.get(way, lambda: None)()
    started = time.perf_counter()
    RUNS[way](engine, lambda frame: score(frame, METRICS), source, target)
    seconds = time.perf_counter() - started
    print(
        json.dumps(
            {
                "start": started - began,
                "seconds": seconds,
                "means": means(target),
                "ragnb": ragnb.__version__,
            }
        )
    )


def spark_session():
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable)
    quiet = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    settings = {
        **quiet,
        "spark.driver.memory": "2g",
        "spark.sql.files.maxPartitionBytes": str(64 << 20),
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def in_one(_, scoring, source, target):
    import pandas as pd

    target.mkdir()
    scoring(pd.read_parquet(source, columns=NEEDED)).to_parquet(target / "scores.parquet")


def in_chunks(_, scoring, source, target):
    import pandas as pd

    target.mkdir()
    for file in sorted(source.glob("*.parquet")):
        scoring(pd.read_parquet(file, columns=NEEDED)).to_parquet(target / file.name)


def on_dask(_, scoring, source, target):
    import dask
    import dask.dataframe as dd

    with dask.config.set(scheduler="processes", num_workers=2):
        scoring(
            dd.read_parquet(str(source), split_row_groups=False, aggregate_files=False)
        ).to_parquet(str(target))


def on_spark(session, scoring, source, target):
    scoring(session.read.parquet(str(source))).write.parquet(str(target))


NEEDED = ["example_id", "system", "language", "noise_rate", "references", "response"]
STARTS = {"Spark, local[2]": spark_session}
RUNS = dict(zip(WAYS, [in_one, in_chunks, on_dask, on_spark], strict=True))


def means(folder):
    import pyarrow.parquet as pq

    scores = (
        pq.read_table(folder, columns=["metric", "value"])
        .group_by("metric")
        .aggregate([("value", "mean")])
    )
    return {row["metric"]: round(row["value_mean"], 9) for row in scores.to_pylist()}


# ---- all of them, watched ----------------------------------------------------------------------------------------------


def used_by(root):
    """Bytes of the resident sets, and seconds of CPU, of a process and of all that descend from it."""
    children, sizes, ticks = {}, {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(folder.name))
        sizes[int(folder.name)] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
        ticks[int(folder.name)] = sum(
            map(int, fields[11:15])
        )  # in user and kernel mode, and of children that have ended
    family = [root]
    for member in family:
        family.extend(children.get(member, []))
    sums = [sum(each.get(member, 0) for member in family) for each in (sizes, ticks)]
    return np.array(sums) / [1, os.sysconf("SC_CLK_TCK")]


def measured(way, source, target):
    """What a run printed, the peak of its memory in GB, and its seconds of CPU."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.bench_scale",
        "--run",
        way,
        str(source),
        str(target),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    most = np.zeros(2)

    def watch():
        while process.poll() is None:
            np.maximum(most, used_by(process.pid), out=most)
            time.sleep(0.05)

    watcher = threading.Thread(target=watch)
    watcher.start()
    out, err = process.communicate()
    watcher.join()
    if process.returncode:
        sys.exit(f"{way} failed:\n{err[-3000:]}")
    return {**json.loads(out.splitlines()[-1]), "peak": most[0] / 1e9, "cpu": most[1]}


def measurements(sizes, ways):
    """A row a number of responses and way: what was measured, or what is missing."""
    for rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "responses"
            source.mkdir()
            write_responses(source, rows)
            means = None
            for k, way in enumerate(ways):
                told = {"rows": rows, "way": way}
                if (engine := ENGINES.get(way)) and not installed(engine):
                    yield {**told, "needs": engine}
                    continue
                found = measured(way, source, Path(folder) / f"scores{k}")
                means = means or found["means"]
                if found["means"] != means:
                    sys.exit(f"{way} gives other means: {found['means']} and {means}")
                yield {
                    **told,
                    **{name: found[name] for name in ("seconds", "cpu", "peak", "start")},
                }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument(
        "--long", action="store_true", help="keep the result in benchmarks/long.json"
    )
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        way, source, target = given.run
        return run(way, Path(source), Path(target))
    rows, used = [], versions(["ragnb", "pandas", "pyarrow", *ENGINES.values()])
    for row in measurements(given.rows, given.ways):
        print(json.dumps(row), flush=True)
        rows.append(row)
        if given.long:
            alike = [one for one in rows if one["rows"] == row["rows"]]
            keep_long(f"scale, {row['rows']:,} responses", {"rows": alike, "versions": used})
    if not given.long:
        keep("scale", {"rows": rows, "versions": used})


if __name__ == "__main__":
    main()
