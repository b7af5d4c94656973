"""The embedded Chinese sample: what its authors promise."""

from collections import Counter

import pytest
import regex

from ragnb.datasets.auditing import audit
from ragnb.datasets.rgb import load_rgb
from ragnb.metrics.rgb import FOUND, NOT_FOUND, answer_labels, is_refusal
from ragnb.text import sentences


@pytest.fixture(scope="module")
def sample():
    return load_rgb("sample-zh")


@pytest.fixture(scope="module")
def passages(sample):
    return [passage for row in sample.itertuples() for passage in [*row.positive[0], *row.negative]]


def labels(text, row):
    return answer_labels(text, row.references, language="zh")


def test_it_is_large_enough_for_every_noise_rate(sample):
    assert len(sample) == 30
    assert set(sample["positive"].map(lambda groups: len(groups[0]))) == {5}
    assert set(sample["negative"].map(len)) == {5}
    assert set(sample["task"]) == {"noise"}


def test_its_language_is_told_by_its_writing(sample):
    assert set(sample["language"]) == {"zh"}


def test_every_positive_holds_the_whole_answer_and_no_negative_any_part_of_it(sample):
    for row in sample.itertuples():
        for passage in row.positive[0]:
            assert NOT_FOUND not in labels(passage, row), (row.example_id, passage)
        for passage in row.negative:
            assert FOUND not in labels(passage, row), (row.example_id, passage)


def test_the_audit_finds_nothing(sample):
    assert audit(sample).empty


def test_no_passage_and_no_question_stands_twice(sample, passages):
    assert not [passage for passage, count in Counter(passages).items() if count > 1]
    assert sample["question"].is_unique


def test_passages_are_of_a_passages_length(passages):
    for passage in passages:
        assert 50 <= len(passage) <= 110, passage
        assert sentences(passage)


def test_no_passage_reads_as_a_refusal(passages):
    assert not [passage for passage in passages if is_refusal(passage, language="zh")]


def test_aliases_can_be_found_once_spaces_are_gone(sample):
    for row in sample.itertuples():
        for part in row.references:
            assert len({alias.lower() for alias in part}) == len(part), row.example_id
            assert all(len(alias) >= 2 and not regex.search(r"\s", alias) for alias in part), (
                row.example_id
            )


def test_the_answer_is_not_in_the_question(sample):
    for row in sample.itertuples():
        assert FOUND not in labels(row.question, row), row.question


def test_it_says_who_wrote_it(sample):
    assert sample.attrs["source"]["licence"] == "CC BY 4.0"
    assert "authors of ragnb" in sample.attrs["source"]["citation"]
