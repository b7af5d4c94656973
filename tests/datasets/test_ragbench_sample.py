"""The embedded sample of labelled responses: what its authors promise."""

from importlib import resources

import numpy as np
import pandas as pd
import pytest

from ragnb.datasets.benchmarks import load_ragbench
from ragnb.metrics.trace import trace_scores
from ragnb.metrics.trace_labels import SPECIAL_KEYS, unsupported_sentences
from ragnb.text import keyed_response, keyed_sentences

DATA = resources.files("ragnb.datasets") / "data"
SLIPS = {"label-slip", "tablets", "injected"}


@pytest.fixture(scope="module")
def sample():
    return load_ragbench("sample-ragbench")


def test_it_has_two_systems_responses_to_each_question(sample):
    assert len(sample) >= 30
    assert set(sample.groupby("example_id")["system"].agg(lambda names: tuple(sorted(names)))) == {
        ("careful", "fluent")
    }
    for name in ("question", "documents_sentences", "all_relevant_sentence_keys", "language"):
        assert (
            sample.groupby("example_id")[name]
            .agg(lambda values: len({str(v) for v in values}))
            .eq(1)
            .all()
        ), name


def test_the_score_columns_are_those_of_the_labels(sample):
    scores = pd.DataFrame([trace_scores(record) for record in sample.to_dict("records")])
    for name in ("relevance", "utilization", "completeness", "adherence"):
        np.testing.assert_array_equal(
            scores[name], sample[f"{name}_score"].astype(float), err_msg=name
        )


def test_passages_and_responses_are_cut_and_keyed_by_ragnb(sample):
    for row in sample.itertuples():
        assert row.documents_sentences == keyed_sentences(row.documents)
        assert row.response_sentences == keyed_response(row.response)


def test_the_labels_follow_the_guideline_but_for_the_slips_it_names(sample):
    for row in sample.to_dict("records"):
        known = [key for document in row["documents_sentences"] for key, _ in document]
        labels = row["sentence_support_information"]
        supporting = [key for label in labels for key in label["supporting_sentence_keys"]]
        assert [label["response_sentence_key"] for label in labels] == [
            key for key, _ in row["response_sentences"]
        ]
        assert row["unsupported_response_sentence_keys"] == unsupported_sentences(labels)
        assert all(
            label["supporting_sentence_keys"] or label["fully_supported"] is False
            for label in labels
        )
        if row["id"] not in SLIPS:
            used = [key for key in known if key in supporting]
            assert row["all_utilized_sentence_keys"] == used
            assert set(supporting) <= set(known) | set(SPECIAL_KEYS)
            assert row["overall_supported"] == (not row["unsupported_response_sentence_keys"])


def test_the_worked_example_of_the_guide_is_among_them_in_other_words(sample):
    row = sample.query("id == 'heating' and system == 'fluent'").iloc[0].to_dict()
    guide, benchmark = trace_scores(row, variant="guide"), trace_scores(row)
    assert (guide.relevance, guide.utilization, guide.completeness, guide.adherence) == (
        0.20,
        0.75,
        0.75,
        0.0,
    )
    assert guide.rmse_to_ideal == pytest.approx(0.664, abs=5e-4)
    assert guide.consistency == pytest.approx(0.336, abs=5e-4)
    assert (
        benchmark.relevance,
        benchmark.utilization,
        benchmark.completeness,
        benchmark.adherence,
    ) == (
        4 / 6,
        3 / 6,
        3 / 4,
        0,
    )
    assert guide.issues == ()
