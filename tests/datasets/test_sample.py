"""The embedded English sample: what its authors promise."""

from collections import Counter

import pytest

from ragnb.datasets.auditing import audit
from ragnb.datasets.rgb import load_rgb
from ragnb.metrics.rgb import FOUND, NOT_FOUND, answer_labels
from ragnb.text import sentences


@pytest.fixture(scope="module")
def sample():
    return load_rgb("sample-en")


def test_it_is_large_enough_for_every_noise_rate(sample):
    assert len(sample) >= 60
    assert sample["positive"].map(lambda groups: len(groups[0])).min() >= 5
    assert sample["negative"].map(len).min() >= 5
    assert set(sample["task"]) == {"noise"}


def test_every_positive_holds_the_whole_answer_and_no_negative_any_part_of_it(sample):
    for row in sample.itertuples():
        for passage in row.positive[0]:
            assert NOT_FOUND not in answer_labels(passage, row.references), (
                row.example_id,
                passage,
            )
        for passage in row.negative:
            assert FOUND not in answer_labels(passage, row.references), (row.example_id, passage)


def test_the_audit_finds_nothing(sample):
    assert audit(sample).empty


def test_no_passage_and_no_question_stands_twice(sample):
    passages = [
        passage for row in sample.itertuples() for passage in [*row.positive[0], *row.negative]
    ]
    assert not [passage for passage, count in Counter(passages).items() if count > 1]
    assert sample["question"].is_unique


def test_passages_are_of_a_passages_length(sample):
    for row in sample.itertuples():
        for passage in [*row.positive[0], *row.negative]:
            assert 25 <= len(passage.split()) <= 70, (row.example_id, passage)
            assert sentences(passage)


def test_the_answer_is_not_in_the_question(sample):
    for row in sample.itertuples():
        assert FOUND not in answer_labels(row.question, row.references), row.question


def test_it_says_who_wrote_it(sample):
    assert sample.attrs["source"]["licence"] == "CC BY 4.0"
    assert "authors of ragnb" in sample.attrs["source"]["citation"]
