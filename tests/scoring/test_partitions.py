"""Scores on Dask and Spark are those of pandas; each half is skipped, with the reason, where its engine is missing."""

import importlib.util
import math
import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import ragnb
from ragnb.datasets.benchmarks import load_ragbench
from ragnb.datasets.tables import read_table, write_table
from ragnb.ensemble.data import DataSplit
from ragnb.errors import InputError
from ragnb.experiments.recorded import recorded_responses
from ragnb.records import COLUMNS, PAYLOAD, PLAIN_TEXT
from ragnb.scoring import METRICS, Metric, compare, score, summarize
from ragnb.scoring.edges import _ORDINARY, CASES

NO_DASK = None if importlib.util.find_spec("dask") else "dask is not installed: make .venv/scale"
NO_SPARK = (
    "pyspark is not installed: make .venv/scale"
    if not importlib.util.find_spec("pyspark")
    else None
    if shutil.which("java") or os.environ.get("JAVA_HOME")
    else "Spark needs Java: install a JRE of version 17 or newer"
)
needs_dask = pytest.mark.skipif(bool(NO_DASK), reason=str(NO_DASK))
needs_spark = pytest.mark.skipif(bool(NO_SPARK), reason=str(NO_SPARK))

pytestmark = (
    pytest.mark.filterwarnings(  # of the engines themselves, against the pandas of the lock
        "ignore:PySpark does not yet fully support pandas",
        "ignore:The (copy|inplace) keyword",
        "ignore:toPandas attempted Arrow",
    )
)

LENGTH = Metric(
    "own.length",
    lambda response: float(len(response)),
    {"response": "response"},
    True,
    (0, math.inf),
    "here",
)
TOLD = Metric(
    "own.told",
    lambda notes, *, key="a": math.nan if key not in notes else float(notes[key]),
    {"notes": "notes"},
    True,
    (0, math.inf),
    "here",
    options={"key": "a"},
    evidence=lambda notes, key: f"{key} of {sorted(notes)}",
)


# ---- responses ---------------------------------------------------------------------------------------------------------


def numbered(frame):
    return frame.reset_index(drop=True).assign(row=range(len(frame)))


def edges():
    """Every metric's columns, at every edge, with identifiers of several scripts and an own mapping."""
    rows = [
        {"example_id": f"e/{case} é🙂", **_ORDINARY, **changes} for case, changes in CASES.items()
    ]
    notes = [{"a": 1, "b": 2}, None] * (len(rows) // 2)
    return numbered(
        pd.DataFrame(rows).assign(notes=notes, system=["tiny", None] * (len(rows) // 2))
    )


def languages():
    """Answers in nine scripts, with marks, grapheme clusters and what a language does without spaces."""
    said = {
        "en": "It is Oslo.", "zh": "答案是奥斯陆。", "ja": "答えはオスロです", "th": "คำตอบคือออสโล", "hi": "उत्तर ओस्लो है",
        "ar": "الجواب هو أُوسلو", "he": "התשובה היא אוסלו", "de": "Tromso\u0308 🙂 👩\u200d👩\u200d👧", "el": "Το Όσλο",
    }  # fmt: skip
    aliases = [
        ["Oslo", "奥斯陆"],
        ["オスロ", "ออสโล", "ओस्लो", "أوسلو", "אוסלו", "Tromsø", "Όσλο", "It is Oslo."],
    ]
    rows = [
        {"language": code, "response": text, "references": aliases[k % 2 :]}
        for k, (code, text) in enumerate(said.items())
    ]
    return numbered(
        pd.DataFrame(rows).assign(
            example_id=[f"質問/{k}" for k in range(len(rows))], noise_rate=0.2
        )
    )


def recorded(name):
    return lambda: numbered(recorded_responses(name))


def replies():
    """Replies of a reasoning model, some with their reasoning in the text and some with it apart."""
    said = [
        "<think>Oslo?</think>Bergen",
        "<think>Bergen?</think>Oslo",
        "<think>Oslo, or",
        "Oslo",
        None,
        "Bergen",
        "Oslo",
    ]
    apart = [None] * 5 + ["<think>Oslo?</think>", "Bergen?"]
    columns = {
        "response": said,
        "reasoning": apart,
        "references": [["Oslo"]] * 7,
        "language": ["en"] * 7,
    }
    return numbered(
        pd.DataFrame(columns, dtype=object).assign(
            example_id=[f"r/{k}" for k in range(7)], noise_rate=0.2
        )
    )


FRAMES = {
    "edges": edges,
    "replies": replies,
    "languages": languages,
    "noise": recorded("rgb_noise"),
    "counterfactual": recorded("rgb_counterfactual"),
    "chinese": recorded("rgb_zh"),
    "multilingual": recorded("multilingual"),
    "judged": recorded("multilingual_judged"),
    "ragbench": lambda: numbered(load_ragbench("sample-ragbench")),
}


@pytest.fixture(scope="module", params=FRAMES)
def responses(request):
    return FRAMES[request.param]()


def computable(frame):
    """The metrics for which the frame has the columns; own ones too."""
    return [
        metric
        for metric in (*METRICS.values(), LENGTH, TOLD)
        if set(needed(metric)) <= set(frame.columns)
    ]


def needed(metric):
    return [column for argument, column in metric.columns.items() if metric.needs(argument)]


def in_order(scores):
    """Scores in the order of their responses, with one mark for what is missing in texts."""
    frame = pd.DataFrame(scores).sort_values(["row", "metric"]).reset_index(drop=True)
    texts = [name for name in frame if name not in ("value", "row", "noise_rate")]
    return frame.assign(
        **{name: frame[name].astype(object).where(frame[name].notna(), None) for name in texts}
    )


def assert_same(scores, expected):
    assert list(scores.columns) == list(expected.columns)
    assert {name: scores[name].dtype for name in ("metric", "value", "reason", "signature")} == {
        name: expected[name].dtype for name in ("metric", "value", "reason", "signature")
    }
    pd.testing.assert_frame_equal(
        in_order(scores), in_order(expected), check_exact=True, check_dtype=False
    )


# ---- without an engine -------------------------------------------------------------------------------------------------


def test_every_long_column_is_a_text_or_holds_lists_or_mappings():
    assert PLAIN_TEXT <= PAYLOAD
    structured = {
        name
        for name in PAYLOAD
        if COLUMNS[name].startswith(("list", "keys", "mapping", "vector", "request keys"))
    }
    assert not structured & PLAIN_TEXT
    assert {"references", "documents_sentences", "translations", "false_answers"} <= structured


def test_scores_of_arrays_are_those_of_the_lists_that_parquet_wrote(responses, tmp_path):
    file = write_table(responses, tmp_path / "responses.parquet")
    arrays = pd.read_parquet(file)
    metrics = computable(responses)
    assert_same(score(arrays, metrics, explain=True), score(responses, metrics, explain=True))
    assert_same(score(read_table(file), metrics), score(responses, metrics))


def test_a_mapping_from_arrow_holds_lists():
    kinds = Metric(
        "own.kinds",
        lambda notes: float(type(notes["keys"]) is list),
        {"notes": "notes"},
        True,
        (0, 1),
        "here",
    )
    assert score(pd.DataFrame({"notes": [{"keys": np.array(["a"], dtype=object)}]}), kinds)[
        "value"
    ].tolist() == [1.0]


@pytest.mark.parametrize("rows", [slice(0, 0), slice(0, 1), slice(None)])
def test_the_types_of_the_scores_do_not_depend_on_the_rows(rows):
    scores = score(edges()[rows], ["rgb.accuracy", LENGTH, "answer.f1"], explain=True)
    text = pd.Series(["text"]).dtype
    assert [scores[name].dtype for name in ("metric", "value", "reason", "evidence", "signature")] == [
        text, np.dtype(float), text, text, text,
    ]  # fmt: skip


# ---- Dask --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dd():
    if NO_DASK:
        pytest.skip(NO_DASK)
    import dask

    with dask.config.set({"dataframe.convert-string": False, "scheduler": "synchronous"}):
        yield pytest.importorskip("dask.dataframe")


@needs_dask
def test_dask_gives_the_scores_of_pandas(dd, responses):
    metrics = computable(responses)
    expected = score(responses, metrics, explain=True)
    scores = score(
        dd.from_pandas(responses, npartitions=3, sort=False), metrics, explain=True
    ).compute()
    assert_same(scores, expected)
    assert scores.dtypes.to_dict() == expected.dtypes.to_dict()


@needs_dask
def test_dask_keeps_the_order_within_partitions(dd):
    frame = dd.from_pandas(edges(), npartitions=3, sort=False)
    parts = [
        score(frame.get_partition(k).compute(), ["answer.f1", LENGTH])
        for k in range(frame.npartitions)
    ]
    pd.testing.assert_frame_equal(score(frame, ["answer.f1", LENGTH]).compute(), pd.concat(parts))


@needs_dask
def test_dask_is_asked_for_nothing_until_the_scores_are_computed(dd):
    seen = []
    lazily = dd.from_pandas(edges(), npartitions=2).map_partitions(
        lambda part: seen.append(len(part)) or part, meta=edges()[:0]
    )
    scores = score(lazily, "answer.f1")
    assert isinstance(scores, dd.DataFrame)
    assert not seen
    assert scores.npartitions == 2
    assert not scores.known_divisions  # rows are numbered anew in each partition
    assert {name: str(kind) for name, kind in scores.dtypes.items()} == {
        name: str(kind) for name, kind in scores.compute().dtypes.items()
    }
    assert sum(seen) == len(edges())


@needs_dask
def test_dask_takes_empty_partitions_and_such_without_a_needed_value(dd):
    frame = edges()
    parts = [
        frame[:0],
        frame[:4],
        frame[4:4],
        frame.assign(response=None)[4:7],
        frame.assign(references=None)[7:],
        frame[:0],
    ]
    scores = score(
        dd.from_delayed([_delayed(part) for part in parts], meta=frame[:0], verify_meta=False),
        ["answer.f1", LENGTH],
    )
    assert_same(scores.compute(), score(pd.concat(parts), ["answer.f1", LENGTH]))


def _delayed(part):
    from dask import delayed

    return delayed(part)


@needs_dask
@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_every_scheduler_of_dask_gives_the_scores_of_pandas(dd, scheduler):
    frame, metrics = (
        numbered(recorded_responses("multilingual")),
        ["answer.f1", "rgb.accuracy", LENGTH],
    )
    scores = score(dd.from_pandas(frame, npartitions=3, sort=False), metrics).compute(
        scheduler=scheduler, num_workers=2
    )
    assert_same(scores, score(frame, metrics))


@needs_dask
@pytest.mark.parametrize("texts", [True, False])
def test_dask_reads_lists_from_parquet(dd, tmp_path, texts):
    import dask

    frame = edges()
    metrics = computable(frame)
    for k in range(2):
        write_table(frame[k::2], tmp_path / f"{k}.parquet")
    with dask.config.set({"dataframe.convert-string": texts}):
        scores = score(
            dd.read_parquet(str(tmp_path), dtype_backend=None), metrics, explain=True
        ).compute()
    assert_same(scores, score(frame, metrics, explain=True))


@needs_dask
def test_long_columns_that_no_metric_needs_are_not_read(dd, tmp_path):
    frame = edges().assign(passages=[["long"]] * len(CASES), question="q?")
    frame.to_parquet(tmp_path / "responses.parquet")
    plan = (
        score(dd.read_parquet(tmp_path / "responses.parquet"), "answer.f1")
        .optimize(fuse=False)
        .expr.tree_repr()
    )
    assert "'references'" in plan
    assert not any(f"'{name}'" in plan for name in ("passages", "question", "documents_sentences"))


@needs_dask
def test_dask_names_the_example_of_a_faulty_value(dd):
    frame = edges().assign(noise_rate=[0.2] * 5 + [7.0] * (len(CASES) - 5))
    scores = score(
        dd.from_pandas(frame, npartitions=4, sort=False), "rgb.accuracy", protocol="released"
    )
    with pytest.raises(
        InputError,
        match=r"rgb\.accuracy, row \d \(e/.*\): noise_rate needs a number in \[0, 1\]; got 7\.0",
    ):
        scores.compute(scheduler="processes")


@needs_dask
def test_lists_that_dask_turned_into_texts_are_refused(dd):
    import dask

    with dask.config.set({"dataframe.convert-string": True}):
        frame = dd.from_pandas(edges()[["example_id", "response", "references"]], npartitions=2)
    with pytest.raises(
        InputError,
        match=r"needs lists in the column references; got texts .*Kristiania.*convert-string",
    ):
        score(frame, "answer.f1").compute()
    plain = edges()[:3].assign(references="[citation needed]")
    assert len(score(dd.from_pandas(plain, npartitions=1), "answer.f1").compute()) == 3


@needs_dask
@pytest.mark.parametrize(
    ("metrics", "options", "words"),
    [
        ("rgb.acuracy", {}, "did you mean 'rgb.accuracy'"),
        (Metric("own.x", len, {"x": "x"}, True, (0, 1), "here"), {}, "own.x needs the columns x"),
    ],
)
def test_dask_refuses_at_once_what_needs_no_rows(dd, metrics, options, words):
    with pytest.raises(InputError, match=words):
        score(dd.from_pandas(edges(), npartitions=2), metrics, **options)


@needs_dask
def test_what_takes_pandas_says_so_to_dask(dd, tmp_path):
    scores = score(dd.from_pandas(edges(), npartitions=2), "answer.f1")
    assert_pandas_is_asked_for(scores, tmp_path, "Dask", "compute")
    assert summarize(scores.compute(), by="system").equals(
        summarize(score(edges(), "answer.f1"), by="system")
    )
    with pytest.raises(
        InputError, match=r"DataFrame of pandas, Dask or Spark; got dask(_expr)?\..*Series"
    ):
        score(scores["value"], "answer.f1")


def assert_pandas_is_asked_for(scores, folder, kind, method):
    takers = {
        "summarize": summarize,
        "compare": compare,
        "bridging": ragnb.scoring.bridging,
        "view": ragnb.view,
        "write_table": lambda frame: write_table(frame, folder / "scores.jsonl"),
        "load_responses": ragnb.load_responses,
        "feature_frame": ragnb.ensemble.feature_frame,
        "X": lambda frame: DataSplit(frame, [0, 1]),
        "rgb_report": ragnb.rgb_report,
        "trace_report": ragnb.trace_report,
        "multilingual_report": ragnb.multilingual_report,
    }
    for name, taker in takers.items():
        with pytest.raises(
            InputError,
            match=rf"needs a pandas DataFrame; got a {kind} frame; call its {method}\(\) first",
        ):
            taker(scores)
            pytest.fail(f"{name} took it")


# ---- Spark -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark():
    if NO_SPARK:
        pytest.skip(NO_SPARK)
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def in_spark(spark, tmp_path):
    def read(frame, n=1):
        file = write_table(frame, tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet")
        return spark.read.parquet(str(file)).repartition(n)

    return read


@needs_spark
def test_spark_gives_the_scores_of_pandas(in_spark, responses):
    metrics = computable(responses)
    scores = score(in_spark(responses, 3), metrics, explain=True).toPandas()
    assert_same(scores, score(responses, metrics, explain=True))


ROWS = [
    ("a", "tiny", "en", [["Oslo", "K"]], "It is Oslo.", 0.2, {"k": 1}, 2**60 + 1),
    ("b", "tiny", "hi", [["ओस्लो"]], "ओस्लो 🙂", math.nan, None, None),
    ("c", None, None, None, None, None, {"x": 2}, 3),
]
SCHEMA = (
    "example_id string not null, system string, language string, references array<array<string>>, response string, "
    "noise_rate double, extra map<string,int>, big long"
)


@needs_spark
def test_spark_scores_have_plain_types_and_carry_what_the_responses_carry(spark):
    scores = score(spark.createDataFrame(ROWS, SCHEMA), ["answer.f1", LENGTH], explain=True)
    assert [(field.name, field.dataType.simpleString()) for field in scores.schema] == [
        ("example_id", "string"), ("system", "string"), ("language", "string"), ("noise_rate", "double"),
        ("extra", "map<string,int>"), ("big", "bigint"), ("metric", "string"), ("value", "double"), ("reason", "string"),
        ("evidence", "string"), ("signature", "string"),
    ]  # fmt: skip
    rows = {(row.example_id, row.metric): row for row in scores.collect()}
    assert len(rows) == 6
    first, second, third = (rows[name, "answer.f1"] for name in "abc")
    assert (first.value, first.reason, first.big, first.extra) == (
        0.5,
        None,
        2**60 + 1,
        {"k": 1},
    )  # 1 of 3 words; 1 of 1
    assert math.isnan(second.noise_rate)  # nan stays nan
    assert third.noise_rate is None  # and null stays null
    assert math.isnan(third.value)
    assert third.reason == "no response"
    assert rows["b", "own.length"].value == 7.0


@needs_spark
def test_unscored_values_are_left_out_of_a_mean_by_their_reason(spark):
    scores = score(spark.createDataFrame(ROWS, SCHEMA), "answer.f1")
    means = scores.where("reason is null").groupBy("metric").avg("value").collect()
    expected = score(
        pd.DataFrame(ROWS, columns=[part.split()[0] for part in SCHEMA.split(", ")]), "answer.f1"
    )["value"].mean()
    assert [row["avg(value)"] for row in means] == [expected]


@needs_spark
def test_spark_takes_empty_frames_and_partitions(in_spark):
    frame = edges()
    assert score(in_spark(frame).limit(0), ["answer.f1", LENGTH]).toPandas().empty
    assert_same(
        score(in_spark(frame[:2], 7), ["answer.f1", LENGTH]).toPandas(),
        score(frame[:2], ["answer.f1", LENGTH]),
    )


@needs_spark
def test_batches_of_spark_change_nothing(spark, in_spark):
    frame, metrics = numbered(recorded_responses("multilingual")), ["answer.f1", "language.rlc"]
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
    try:
        assert_same(score(in_spark(frame, 2), metrics).toPandas(), score(frame, metrics))
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


@needs_spark
def test_spark_is_asked_for_nothing_until_the_scores_are_computed(spark):
    faulty = spark.createDataFrame(
        [("mini/17", [["Oslo"]], "Oslo", 7.0)],
        "example_id string, references array<array<string>>, response string, noise_rate double",
    )
    scores = score(faulty, "rgb.accuracy", protocol="released")
    with pytest.raises(
        Exception,
        match=r"InputError: rgb\.accuracy, row 0 \(mini/17\): noise_rate needs a number in \[0, 1\]",
    ):
        scores.collect()


@needs_spark
def test_spark_refuses_at_once_what_needs_no_rows(spark):
    frame = spark.createDataFrame(ROWS, SCHEMA)
    with pytest.raises(InputError, match="trace.adherence needs the columns"):
        score(frame, "trace.adherence")
    with pytest.raises(
        InputError, match=r"DataFrame of pandas, Dask or Spark; got pyspark\..*RDD; .*to_spark"
    ):
        score(frame.rdd, "answer.f1")


@needs_spark
def test_what_takes_pandas_says_so_to_spark(spark, tmp_path):
    scores = score(spark.createDataFrame(ROWS, SCHEMA), "answer.f1")
    assert_pandas_is_asked_for(scores, tmp_path, "Spark", "toPandas")


# ---- the engines stay away ---------------------------------------------------------------------------------------------


def test_scoring_pandas_imports_no_engine():
    script = (
        "import sys, pandas as pd; from ragnb.scoring import score;"
        "score(pd.DataFrame({'response': ['a'], 'references': ['a']}), 'answer.f1');"
        "print({'dask', 'pyspark'} & {name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
