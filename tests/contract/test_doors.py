"""Variations of valid input to the top-level functions that take a frame or a file.

Each call returns a value or raises one `InputError`, without warnings, and does not change its frame.
"""

import dataclasses
import io
import json
import numbers
import re
import tempfile
import warnings
from functools import cache, partial
from itertools import cycle, islice
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from support import frames

import ragnb
from ragnb.cells import is_missing
from ragnb.scoring import METRICS

# ---- calls -------------------------------------------------------------------------------------


def compare(frame):
    return ragnb.compare(
        frame, baseline=first_system(frame), cluster="question_id", unpaired="drop"
    )


def multilingual_report(frame):
    return ragnb.multilingual_report(frame, by="language", baseline=first_system(frame))


def first_system(frame):
    return min(frame["system"], default="direct") if "system" in frame else "direct"


def ensemble(frame):
    """Decide on the test set."""
    split = ragnb.DataSplit(frame, frame.get("label", []), features=["f1", "em"], random_state=0)
    classifier = LogisticRegression()
    fitted = ragnb.MetricEnsemble(split.train, split.calibration, classifier=classifier)
    return fitted.decide(split.test.X)


def handed_out(frame):
    """The items in the page that is handed out."""
    with tempfile.TemporaryDirectory() as folder:
        path = ragnb.export_annotator(
            frame, "verdict", f"{folder}/page.html", id=["example_id", "system"]
        )
        data = re.search('id="data">(.*?)</script>', path.read_text("utf-8"))[1]
    items = json.loads(data)["items"]
    return pd.DataFrame([{"title": item["title"], **item["pinned"]} for item in items])


def of_file(load, name, **options):
    """A call that writes the rows of a frame to a file and loads it."""

    def call(frame):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            if path.suffix == ".parquet":
                frame.to_parquet(path, index=False)
            else:
                frame.to_json(path, orient="records", lines=True, force_ascii=False)
            return load(path, **options)

    return call


def sample(name):
    """Two records of a sample, as its file has them."""

    def frame():
        with (DATA / name).open(encoding="utf-8") as file:
            return pd.DataFrame([json.loads(line) for line in islice(file, 2)])

    return frame


score = partial(ragnb.score, metrics=["answer.f1", "rgb.accuracy"], explain=True)
judge_report = partial(
    ragnb.judge_report, annotators=["label", "label_b"], by="language", clusters="question_id"
)
trace_report = partial(ragnb.trace_report, judges={"mine": {"relevance": "mine"}})
rgb_file = sample("rgb_sample_en.jsonl")
ragbench_file = sample("ragbench_sample.jsonl")
multilingual_file = sample("multilingual_sample.jsonl")
DATA = Path(ragnb.__file__).parent / "datasets" / "data"

CALLS = {
    "score": (score, frames.responses),
    "score, all metrics": (partial(ragnb.score, metrics=[*METRICS]), frames.responses),
    "summarize": (ragnb.summarize, frames.scores),
    "compare": (compare, frames.scores),
    "rgb_report": (ragnb.rgb_report, frames.rgb_responses),
    "trace_report": (trace_report, frames.labelled),
    "judge_report": (judge_report, frames.responses),
    "multilingual_report": (multilingual_report, frames.two_languages),
    "audit": (ragnb.audit, frames.examples),
    "build_contexts": (partial(ragnb.build_contexts, noise_rate=[0, 0.4]), frames.examples),
    "agreement": (ragnb.agreement, frames.annotations),
    "to_html": (ragnb.to_html, frames.summaries),
    "to_markdown": (ragnb.to_markdown, frames.summaries),
    "to_latex": (ragnb.to_latex, frames.comparisons),
    "view": (ragnb.view, frames.responses),
    "view, labels": (ragnb.view, frames.labelled),
    "export_annotator": (handed_out, frames.responses),
    "MetricEnsemble": (ensemble, frames.features),
    "load_responses": (ragnb.load_responses, frames.responses),
    "load_responses, Parquet": (of_file(ragnb.load_responses, "run.parquet"), frames.run_file),
    "load_rgb": (of_file(ragnb.load_rgb, "a.json", language="en"), rgb_file),
    "load_ragbench": (of_file(ragnb.load_ragbench, "a.jsonl", language="en"), ragbench_file),
    "load_multilingual": (of_file(ragnb.load_multilingual, "a.jsonl"), multilingual_file),
    "load_evouna": (of_file(ragnb.load_evouna, "NQ.json"), frames.evouna_file),
}

EXAMPLE = (
    "example_id benchmark task language question references positive negative positive_wrong "
    "false_answers"
)
SUMMARY = "system metric mean low high interval confidence_level n n_scored signature"
RAGBENCH_SCORES = "adherence_score relevance_score utilization_score completeness_score"
REQUIRED = {
    "score": "response references",
    "score, all metrics": "response references language",
    "summarize": "metric value signature",
    "compare": "example_id question_id system metric value signature",
    "rgb_report": "task language system noise_rate passage_num references response",
    "trace_report": "relevance_score mine",
    "judge_report": "question_id language judged_correct label label_b",
    "multilingual_report": "example_id language system references response",
    "audit": EXAMPLE,
    "build_contexts": EXAMPLE,
    "agreement": "item annotator task verdict",
    "export_annotator": "example_id system question",
    "to_html": SUMMARY,
    "to_markdown": SUMMARY,
    "to_latex": "system baseline n_pairs p_adjusted effect mde power duality",
    "load_responses": "question response",
    "load_responses, Parquet": "question response",
    "load_rgb": "id query answer positive negative",
    "load_ragbench": "question documents response",
    "load_multilingual": "id language question answers",
    "load_evouna": "question golden_answer answer_fid judge_gpt4",
}
"""Columns that a call needs."""
OPTIONAL = {
    "score": "response references question language noise_rate",
    "score, all metrics": "response verdict judged_correct references documents_sentences",
    "summarize": "value reason noise_rate language",
    "compare": "value noise_rate",
    "rgb_report": "response references judged_refusal",
    "trace_report": f"{RAGBENCH_SCORES} mine",
    "judge_report": "judged_correct label_b noise_rate",
    "multilingual_report": "response question translations response_embedding",
    "agreement": "verdict note seconds",
    "to_html": "mean low high",
    "to_markdown": "mean low high",
    "to_latex": "low high p_value p_adjusted effect mde",
    "export_annotator": "question response references",
    "view": "question response language references noise_rate",
    "view, labels": "relevance_score system",
    "load_responses": "response references noise_rate",
    "load_responses, Parquet": "response references noise_rate",
    "load_ragbench": RAGBENCH_SCORES,
    "load_multilingual": "passage theme",
    "load_evouna": "golden_answer answer_fid judge_fid",
}
"""Columns of which cells may be missing."""

# ---- variations --------------------------------------------------------------------------------


def with_more_columns_and_one_index_label(frame):
    more = {"notes": "x", "index": 3, "level_0": 1.5, "ملاحظة": [["a"]] * len(frame)}
    return frame.assign(**more).set_axis([7] * len(frame))


def with_columns_as_index(frame):
    names = [name for name in ("system", "example_id") if name in frame]
    return frame.set_index(names or frame.index, drop=False)


def retyped(kind, frame):
    """Columns of texts as another type."""
    texts = [name for name in frame if all(isinstance(value, str) for value in frame[name])]
    return frame.astype(dict.fromkeys(texts, kind))


def as_arrow(frame):
    return pd.read_parquet(io.BytesIO(frame.to_parquet()), dtype_backend="pyarrow")


SAME = {
    "order": lambda frame: frame.iloc[::-1],
    "more": with_more_columns_and_one_index_label,
    "index": with_columns_as_index,
    "category": partial(retyped, "category"),
    "nullable": lambda frame: frame.convert_dtypes(),
    "Arrow": as_arrow,
}
"""Variations that leave the result as it is."""
TOGETHER = [("order", "Arrow"), ("more", "nullable"), ("index", "category")]
"""Variations that are applied to the same frame."""
DIFFERENT = {
    ("MetricEnsemble", "order"): "The parts are drawn by the place of a row.",
    ("MetricEnsemble", "more"): "The labels of the index name the responses.",
    ("agreement", "order"): "The first annotator in the frame is the first of the pair.",
    ("load_evouna", "order"): "The number of the row is its id.",
    ("load_responses, Parquet", "Arrow"): "pandas cannot read lists of Arrow that it wrote.",
}
"""Why a variation changes the result."""

NAMES = "example_id question_id system question item annotator id query".split()
MARK = " שלום مرحبا ไทย 👩‍🔬 e\u0301か\u3099"


def renamed(frame):
    """Names and questions with text of other scripts behind them."""
    names = [name for name in NAMES if name in frame]
    return frame.assign(**{name: [f"{value}{MARK}" for value in frame[name]] for name in names})


# ---- results -----------------------------------------------------------------------------------


def outcome(name, frame):
    """The result of a call, or the `InputError` that it raises."""
    before = rows(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            result = CALLS[name][0](frame)
            str(result), getattr(result, "_repr_html_", str)()
        except ragnb.InputError as error:
            result = error
    assert rows(frame) == before, "the call changed its frame"
    assert not isinstance(result, ragnb.InputError) or "\n" not in str(result)
    return result


def accepted(name, frame):
    result = outcome(name, frame)
    assert not isinstance(result, ragnb.InputError), result
    return result


@cache
def made(name):
    return CALLS[name][1]()


@cache
def usual(name):
    return accepted(name, made(name))


def tables(result):
    """The frames of a result; of a text, its decimal numbers."""
    if isinstance(result, str):
        return [pd.DataFrame({"number": map(float, re.findall(r"\d+\.\d+", result))})]
    if dataclasses.is_dataclass(result):
        values = [getattr(result, field.name) for field in dataclasses.fields(result)]
        return [value for value in values if isinstance(value, pd.DataFrame)]
    return [result if isinstance(result, pd.DataFrame) else result.rows]


def rows(frame):
    """The rows of a frame as sorted texts."""
    columns = [[plain(value) for value in frame[name]] for name in frame]
    return sorted(map(str, zip(*columns, strict=True)))


def plain(value):
    """A cell in the types of Python, rounded to what the order of a sum may change."""
    if is_missing(value):
        return None
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return float(f"{value:.9g}") + 0.0
    if isinstance(value, dict):  # Arrow may change the order of the names
        return [[name, plain(one)] for name, one in sorted(value.items())]
    return [plain(one) for one in value] if isinstance(value, list | tuple) else str(value)


def assert_alike(result, wanted, *, numbers_only=False):
    """Raise unless two results have the same rows in the columns that both have."""
    for one, other in zip(tables(result), tables(wanted), strict=True):
        kept = other.select_dtypes("number") if numbers_only else other
        columns = [name for name in kept if name in one]
        assert rows(one[columns]) == rows(other[columns])


# ---- tests -------------------------------------------------------------------------------------


@pytest.mark.parametrize("variations", TOGETHER, ids=" and ".join)
@pytest.mark.parametrize("name", CALLS)
def test_the_result_is_the_same(name, variations):
    frame = made(name)
    for variation in variations:
        if (name, variation) not in DIFFERENT:
            frame = SAME[variation](frame)
    assert_alike(accepted(name, frame), usual(name))


@pytest.mark.parametrize("name", CALLS)
def test_names_may_be_in_any_script(name):
    assert_alike(accepted(name, renamed(made(name))), usual(name), numbers_only=True)


@pytest.mark.parametrize("name", OPTIONAL)
def test_optional_cells_may_be_missing(name):
    """Every other column has None, which pandas turns into nan among numbers, and the rest have NA."""
    frame = made(name).copy()
    for column, missing in zip(OPTIONAL[name].split(), cycle([None, pd.NA]), strict=False):
        cells = pd.Series([missing, *frame[column].iloc[1:]], index=frame.index, dtype=object)
        frame[column] = cells.infer_objects() if missing is None else cells
    accepted(name, frame)


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_column_is_named(name):
    for column in REQUIRED[name].split():
        result = outcome(name, made(name).drop(columns=column))
        assert isinstance(result, ragnb.InputError), column
        assert column in str(result)


@pytest.mark.parametrize("name", CALLS)
def test_a_frame_may_have_one_row_no_rows_or_no_columns(name):
    for frame in (made(name).head(1), made(name).head(0), pd.DataFrame()):
        outcome(name, frame)
