"""The columnar twin, value for value against the scalar and against a plain loop."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.metrics.trace import trace_scores
from ragnb.metrics.trace_columns import SCORES, trace_columns
from ragnb.metrics.trace_labels import FIELDS

OPTIONS = [
    {},
    {"variant": "guide"},
    {"unknown_keys": "drop"},
    {"variant": "guide", "unknown_keys": "drop"},
    {"length": "token"},
    {"length": "character", "unknown_keys": "drop"},
    {"when_none_relevant": "zero"},
    {"variant": "guide", "when_none_relevant": "undefined"},
    {"length": "token", "when_none_relevant": "one"},
]

context_keys = st.lists(st.sampled_from("0a 0b 1a 1b 1a. 9z general".split()), max_size=6)
documents = st.lists(st.lists(st.sampled_from(["Oslo is rainy.", "北京很大。", "", "नमस्ते"]), max_size=3), max_size=3).map(
    lambda texts: [[[f"{d}{chr(97 + s)}", text] for s, text in enumerate(of)] for d, of in enumerate(texts)]
)
supports = st.lists(st.tuples(st.none() | context_keys, st.sampled_from([True, False, None])), max_size=4).map(
    lambda labels: [
        {"response_sentence_key": chr(97 + n), "supporting_sentence_keys": keys, "fully_supported": fully}
        for n, (keys, fully) in enumerate(labels)
    ]
)
missing = st.sampled_from([None, math.nan])
rows = st.fixed_dictionaries(
    dict(
        zip(
            FIELDS,
            (
                documents,
                st.lists(st.just(["a", "Yes."]), max_size=4),
                context_keys,
                context_keys,
                supports,
                st.lists(st.sampled_from("abcd"), max_size=5),
            ),
            strict=True,
        )
    )
)


def columns_of(records):
    return {name: [record[name] for record in records] for name in FIELDS}


def assert_equal_to_scalar(columns, records, **options):
    scores = trace_columns(columns, **options)
    assert tuple(scores) == SCORES
    for name, values in scores.items():
        expected = [getattr(trace_scores(record, **options), name) for record in records]
        np.testing.assert_array_equal(values, np.array(expected, dtype=float), err_msg=name)
        assert values.dtype == np.float64


@given(st.lists(rows, max_size=6), st.sampled_from(OPTIONS))
def test_every_value_is_the_scalars(records, options):
    assert_equal_to_scalar(columns_of(records), records, **options)


@given(st.lists(rows, min_size=1, max_size=5), st.sampled_from(OPTIONS), st.data())
def test_gaps_too_are_the_scalars(records, options, data):
    row, name = data.draw(st.sampled_from(records)), data.draw(st.sampled_from(FIELDS))
    row[name] = data.draw(missing)
    assert_equal_to_scalar(columns_of(records), records, **options)


@given(st.lists(rows, min_size=1, max_size=5), st.sampled_from([{}, {"variant": "guide"}]))
def test_arrays_frames_and_absent_lists_of_unsupported_sentences(records, options):
    frame = pd.DataFrame(columns_of(records))
    assert_equal_to_scalar(frame, records, **options)
    arrays = {name: frame[name].to_numpy() for name in FIELDS}
    assert_equal_to_scalar(arrays, records, **options)
    shorter = [{name: value for name, value in record.items() if name != FIELDS[5]} for record in records]
    assert_equal_to_scalar(frame.drop(columns=FIELDS[5]), shorter, **options)


@given(st.lists(rows, min_size=1, max_size=5))
def test_labels_alone_are_scored_under_the_guide(records):
    labels = FIELDS[2:5]
    alone = [{name: record[name] for name in labels} for record in records]
    columns = {name: [record[name] for record in records] for name in labels}
    assert_equal_to_scalar(columns, alone, variant="guide")
    assert_equal_to_scalar(columns | {FIELDS[0]: [None] * len(records)}, alone, variant="guide")
    with pytest.raises(InputError, match="got no documents_sentences, response_sentences; add"):
        trace_columns(columns)
    with pytest.raises(InputError, match="got no documents_sentences; add"):
        trace_columns(columns, variant="guide", unknown_keys="drop")


def test_the_guides_walkthrough_by_column():
    flags = [{"response_sentence_key": key, "fully_supported": key != "c"} for key in "abc"]
    columns = {
        "all_relevant_sentence_keys": [["0b", "0c", "1a", "1b"]],
        "all_utilized_sentence_keys": [["0b", "0c", "1a"]],
        "sentence_support_information": [flags],
    }
    scores = trace_columns(columns, variant="guide")
    assert [float(scores[name][0]) for name in SCORES[:5]] == [0.20, 0.75, 0.75, 0.0, 2 / 3]


def many(n=1500):
    rng = np.random.default_rng(0)
    known = [f"{d}{s}" for d in range(5) for s in "abcde"]
    for _ in range(n):
        pick = [list(rng.choice(known, rng.integers(0, 9))) for _ in range(2)]
        yield {
            "documents_sentences": [[[f"{d}{s}", "Text."] for s in "abcde"[: rng.integers(1, 6)]] for d in range(5)],
            "response_sentences": [[s, "Text."] for s in "abc"],
            "all_relevant_sentence_keys": list(map(str, pick[0])),
            "all_utilized_sentence_keys": list(map(str, pick[1])),
            "sentence_support_information": [],
            "unsupported_response_sentence_keys": ["b"] * int(rng.integers(0, 3)),
        }


def test_many_rows_over_several_chunks_equal_a_plain_loop_of_the_definitions():
    records = list(many())
    scores = trace_columns(columns_of(records))
    for place, record in enumerate(records):
        n = sum(len(document) for document in record["documents_sentences"])
        relevant, utilized = record["all_relevant_sentence_keys"], record["all_utilized_sentence_keys"]
        distinct = set(relevant)
        assert scores["relevance"][place] == len(relevant) / n
        assert scores["utilization"][place] == len(utilized) / n
        assert scores["completeness"][place] == (len(distinct & set(utilized)) / len(distinct) if distinct else 1.0)
        assert scores["adherence"][place] == (0.0 if record["unsupported_response_sentence_keys"] else 1.0)


def test_a_gap_in_a_late_row_is_found():
    records = list(many(1100))
    records[1050]["all_relevant_sentence_keys"] = None
    scores = trace_columns(columns_of(records))
    assert np.flatnonzero(np.isnan(scores["relevance"])).tolist() == [1050]


def test_numbers_of_sentences_stand_for_the_sentences():
    records = list(many(700))
    columns = columns_of(records)
    numbers = np.array([sum(map(len, of)) for of in columns["documents_sentences"]])
    for given_numbers in (numbers, pd.Series(numbers), numbers.astype(np.int32)):
        scores = trace_columns(columns | {"documents_sentences": given_numbers})
        for name, values in trace_columns(columns).items():
            np.testing.assert_array_equal(scores[name], values)
    for options in ({"length": "token"}, {"unknown_keys": "drop"}):
        with pytest.raises(InputError, match="numbers of context sentences.*pass the sentences themselves"):
            trace_columns(columns | {"documents_sentences": numbers}, **options)


def test_no_rows_give_empty_arrays():
    scores = trace_columns({name: [] for name in FIELDS})
    assert [values.shape for values in scores.values()] == [(0,)] * 7


@pytest.mark.data
def test_the_published_records_from_parquet(data_folder, tmp_path):
    path = data_folder / "ragbench" / "ragbench_test_5x10.jsonl"
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    pd.DataFrame(records).to_parquet(tmp_path / "mini.parquet")
    for backend in ({}, {"dtype_backend": "pyarrow"}):
        frame = pd.read_parquet(tmp_path / "mini.parquet", **backend)
        scores = trace_columns(frame)
        for name in ("relevance", "utilization", "completeness"):
            np.testing.assert_allclose(scores[name], [record[f"{name}_score"] for record in records], rtol=1e-12)
        assert scores["adherence"].astype(bool).tolist() == [record["adherence_score"] for record in records]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"all_relevant_sentence_keys": None}, "got no all_relevant_sentence_keys; add"),
        ({"all_relevant_sentence_keys": [["0a"], ["0a"]]}, "one length"),
        ({"all_utilized_sentence_keys": ["['0a']"]}, "needs a list; got str"),
    ],
)
def test_columns_that_do_not_fit_are_refused(changes, words):
    columns = columns_of(list(many(1))) | changes
    with pytest.raises(InputError, match=words):
        trace_columns({name: column for name, column in columns.items() if column is not None})


def test_an_unknown_option_is_refused_even_without_rows():
    with pytest.raises(InputError, match="variant needs one of"):
        trace_columns({name: [] for name in FIELDS}, variant="ragas")
