"""Files and frames: loading, viewing, and scoring with pandas, Dask and Spark.

The frames of Dask and Spark are scored from Parquet files to Parquet files with two processes.
Every way gives the same means. Starting Spark is not counted.
"""

import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path

import dask
import dask.dataframe as dd
import pandas as pd
from pyspark.sql import SparkSession

import ragnb
from benchmarks.timing import measure, responses, wall_time

ALONE = {
    "csv": pd.read_csv,
    "jsonl": lambda file: pd.read_json(file, lines=True),
    "parquet": pd.read_parquet,
}
METRICS = ["answer.f1", "answer.exact_match"]


def spark_session(memory: str = "2g") -> SparkSession:
    """Start Spark on two cores, without its web page."""
    os.environ.update(PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": memory,
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def scores_of(path: Path) -> pd.DataFrame:
    """Score the responses of one file."""
    return ragnb.score(pd.read_parquet(path), METRICS)


def rows() -> list[dict]:
    """Time loading and viewing 10,000 responses, and scoring 100,000."""
    frame = responses(10_000)
    texts = frame.assign(references=[listed and listed[0][0] for listed in frame["references"]])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        timings = []
        for kind in ALONE:
            for content, table in (("references as texts", texts), ("as lists", frame)):
                file = folder / f"{len(timings)}.{kind}"
                ragnb.write_table(table, file)
                ways = {"ragnb": lambda file=file: ragnb.load_responses(file)}
                ways["pandas alone"] = lambda file=file, kind=kind: ALONE[kind](file)
                timings += measure(f"`load_responses`, {kind}, {content}", len(frame), ways)
        timings += measure("`view`", len(frame), {"ragnb": lambda: ragnb.view(frame)})
        items = frame.head(5_000)
        logs = count()

        def open_annotator():
            log = folder / f"{next(logs)}.sqlite"
            ragnb.Annotator(items, "verdict", "ana", log, id=["example_id", "system"])

        timings += measure("`Annotator` opened", len(items), {"ragnb": open_annotator})
        summary = ragnb.summarize(ragnb.score(frame, METRICS))
        ways = {
            "ragnb": summary._repr_html_,
            "pandas": pd.DataFrame(summary)._repr_html_,
        }
        timings += measure("HTML of a summary", len(summary), ways)

        source = folder / "many"
        source.mkdir()
        many = responses(100_000)
        for k in range(4):
            many.iloc[k::4].to_parquet(source / f"{k}.parquet", index=False)
        session = spark_session()

        def with_pandas():
            scores = ragnb.score(pd.read_parquet(source), METRICS)
            scores.to_parquet(folder / "pandas.parquet")

        def with_dask():
            # By default, a process gets six partitions at a time, which is more than there are.
            with dask.config.set(scheduler="processes", num_workers=2, chunksize=1):
                ragnb.score(dd.read_parquet(source), METRICS).to_parquet(folder / "dask.parquet")

        def with_pool():
            with ProcessPoolExecutor(2) as pool:
                scores = pd.concat(pool.map(scores_of, sorted(source.glob("*.parquet"))))
            scores.to_parquet(folder / "pool.parquet")

        def with_spark():
            scores = ragnb.score(session.read.parquet(str(source)), METRICS)
            scores.write.mode("overwrite").parquet(str(folder / "spark.parquet"))

        ways = {
            "pandas": with_pandas,
            "pandas, one file after the other in 2 processes": with_pool,
            "Dask, 2 processes": with_dask,
            "Spark, 2 cores": with_spark,
        }
        timings += measure("`score` of files, 2 metrics", len(many), ways, clock=wall_time)
        means = [
            pd.read_parquet(folder / f"{kind}.parquet").groupby("metric")["value"].mean().round(9)
            for kind in ("pandas", "pool", "dask", "spark")
        ]
        assert all(means[0].to_dict() == other.to_dict() for other in means)
        session.stop()
    return timings
