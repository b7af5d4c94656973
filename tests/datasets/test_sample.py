"""The embedded samples of noise robustness, in English and in Chinese: what their authors promise."""

from collections import Counter
from types import SimpleNamespace

import pytest
import regex

from ragnb.datasets.auditing import audit
from ragnb.datasets.rgb import load_rgb
from ragnb.metrics.rgb import FOUND, NOT_FOUND, answer_labels, is_refusal
from ragnb.text import sentences

PASSAGE_LENGTH = {"en": (25, 70), "zh": (50, 110)}  # words; characters


@pytest.fixture(scope="module", params=[("en", 68, {5, 6}), ("zh", 30, {5})], ids=["en", "zh"])
def sample(request):
    language, size, negatives = request.param
    frame = load_rgb(f"sample-{language}")
    return SimpleNamespace(language=language, size=size, negatives=negatives, frame=frame)


@pytest.fixture(scope="module")
def passages(sample):
    return [
        passage
        for row in sample.frame.itertuples()
        for passage in [*row.positive[0], *row.negative]
    ]


def labels(text, row):
    return answer_labels(text, row.references, language=row.language)


def test_it_is_large_enough_for_every_noise_rate(sample):
    assert len(sample.frame) == sample.size
    assert set(sample.frame["positive"].map(lambda groups: len(groups[0]))) == {5}
    assert set(sample.frame["negative"].map(len)) == sample.negatives
    assert set(sample.frame["task"]) == {"noise"}
    assert set(sample.frame["language"]) == {sample.language}


def test_every_positive_holds_the_whole_answer_and_no_negative_any_part_of_it(sample):
    for row in sample.frame.itertuples():
        for passage in row.positive[0]:
            assert NOT_FOUND not in labels(passage, row), (row.example_id, passage)
        for passage in row.negative:
            assert FOUND not in labels(passage, row), (row.example_id, passage)
        assert FOUND not in labels(row.question, row), row.question


def test_the_audit_finds_nothing(sample):
    assert audit(sample.frame).empty


def test_no_passage_and_no_question_stands_twice(sample, passages):
    assert not [passage for passage, count in Counter(passages).items() if count > 1]
    assert sample.frame["question"].is_unique


def test_passages_are_of_a_passages_length_and_none_reads_as_a_refusal(sample, passages):
    shortest, longest = PASSAGE_LENGTH[sample.language]
    for passage in passages:
        length = len(passage.split()) if sample.language == "en" else len(passage)
        assert shortest <= length <= longest, passage
        assert sentences(passage)
        assert not is_refusal(passage, language=sample.language), passage


def test_chinese_aliases_can_be_found_once_spaces_are_gone():
    for row in load_rgb("sample-zh").itertuples():
        for part in row.references:
            assert len({alias.lower() for alias in part}) == len(part), row.example_id
            assert all(len(alias) >= 2 and not regex.search(r"\s", alias) for alias in part), (
                row.example_id
            )


def test_it_says_who_wrote_it(sample):
    source = sample.frame.attrs["source"]
    assert source["licence"] == "CC BY 4.0"
    assert "authors of ragnb" in source["citation"]
