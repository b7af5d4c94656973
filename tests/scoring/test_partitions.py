"""Scores on Dask and Spark are those of pandas. Tests are skipped if the engine is not installed."""

import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

import ragnb
from ragnb.datasets import write_table
from ragnb.errors import InputError
from ragnb.scoring import METRICS, score

NO_DASK = None if importlib.util.find_spec("dask") else "dask is not installed: make .venv/scale"
NO_SPARK = (
    None if shutil.which("java") else "Spark needs Java: install a JRE of version 17 or newer"
)
if not importlib.util.find_spec("pyspark"):
    NO_SPARK = "pyspark is not installed: make .venv/scale"
needs_dask = pytest.mark.skipif(bool(NO_DASK), reason=str(NO_DASK))
needs_spark = pytest.mark.skipif(bool(NO_SPARK), reason=str(NO_SPARK))
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet", "ignore:The (copy|inplace)")


@pytest.fixture
def responses():
    """Every column that metrics read, at every edge, with reasoning in one response."""
    file = Path(ragnb.__file__).parent / "scoring" / "data" / "edge_cases.json"
    edges = json.loads(file.read_text("utf-8"))
    rows = [edges["ordinary"] | changes for changes in edges["cases"].values()]
    names = [f"e/{case} é🙂" for case in edges["cases"]]
    frame = pd.DataFrame(rows).assign(example_id=names, row=range(len(rows)), passages="unread")
    frame.loc[1, "response"] = f"<think>Oslo?</think>{frame['response'][1]}"
    return frame


def assert_same(scores, expected):
    """All metrics of all rows are equal, in whatever order the partitions came."""
    one, other = (frame.sort_values(["metric", "row"]) for frame in (scores, expected))
    one, other = (frame.astype(object).where(frame.notna(), None) for frame in (one, other))
    assert list(scores.columns) == list(expected.columns)
    pd.testing.assert_frame_equal(other.set_index(one.index), one)


def test_scores_of_the_arrays_that_parquet_reads_are_those_of_lists(responses, tmp_path):
    arrays = pd.read_parquet(write_table(responses, tmp_path / "responses.parquet"))
    expected = score(responses, list(METRICS), explain=True)
    assert_same(score(arrays, list(METRICS), explain=True), expected)


@needs_dask
@pytest.mark.parametrize("scheduler", ["synchronous", "processes"])
def test_dask_gives_the_scores_of_pandas_when_it_is_computed(responses, scheduler):
    import dask
    import dask.dataframe as dd

    with dask.config.set({"dataframe.convert-string": False}):
        frame = dd.from_pandas(responses, npartitions=3, sort=False)
        scores = score(frame, list(METRICS), explain=True)
        assert isinstance(scores, dd.DataFrame)
        found = scores.compute(scheduler=scheduler)
    assert_same(found, score(responses, list(METRICS), explain=True))


@needs_dask
def test_lists_that_dask_turned_into_texts_are_refused(responses):
    import dask
    import dask.dataframe as dd

    with dask.config.set({"dataframe.convert-string": True}):
        frame = dd.from_pandas(responses[["response", "references"]], npartitions=2)
    with pytest.raises(InputError, match=r"lists in the column references, .*convert-string"):
        score(frame, "answer.f1").compute()


@needs_dask
def test_what_takes_pandas_says_so_to_dask(responses):
    import dask.dataframe as dd

    frame = dd.from_pandas(responses[["row"]], npartitions=1)
    for taker in (ragnb.summarize, ragnb.compare, ragnb.view, ragnb.load_responses):
        with pytest.raises(
            InputError, match=r"needs a pandas DataFrame, .*call compute\(\) of a Dask frame"
        ):
            taker(frame)


@needs_spark
def test_spark_gives_the_scores_of_pandas_when_it_is_computed(responses, tmp_path):
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable)
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
    settings["spark.driver.bindAddress"] = "127.0.0.1"
    spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    try:
        file = write_table(responses, tmp_path / "responses.parquet")
        scores = score(spark.read.parquet(str(file)).repartition(3), list(METRICS), explain=True)
        assert dict(scores.dtypes)["value"] == "double"
        assert_same(scores.toPandas(), score(responses, list(METRICS), explain=True))
    finally:
        spark.stop()
