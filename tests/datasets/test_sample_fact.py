"""The embedded counterfactual samples: what their authors promise."""

import json
from collections import Counter
from difflib import SequenceMatcher
from importlib import resources

import pytest

from ragnb.datasets.auditing import audit
from ragnb.datasets.rgb import SAMPLES, load_rgb
from ragnb.metrics.rgb import FOUND, answer_labels

KEYS = ["id", "query", "answer", "fakeanswer", "positive", "positive_wrong", "negative"]
LENGTHS = {"en": (20, 50), "zh": (25, 110)}  # words; characters

pytestmark = pytest.mark.parametrize(
    ("name", "language", "size"),
    [("sample-en-fact", "en", 40), ("sample-zh-fact", "zh", 15)],
    ids=["en", "zh"],
)


def holds(text, answer, language):
    return FOUND in answer_labels(text, answer, language=language)


def holds_which(text, row):
    """Whether a text holds the true answer, and whether it holds the false one."""
    return holds(text, row.references, row.language), holds(text, [row.false_answers], row.language)


def all_passages(row):
    return [*row.positive[0], *row.positive_wrong, *row.negative]


def length(passage, language):
    return len(passage.split()) if language == "en" else len(passage)


def test_the_file_is_in_the_published_format(name, language, size):
    content = (resources.files("ragnb.datasets") / "data" / SAMPLES[name]).read_text(
        encoding="utf-8"
    )
    records = [json.loads(line) for line in content.splitlines()]
    assert [record["id"] for record in records] == list(range(size))
    for record in records:
        assert list(record) == KEYS
        assert isinstance(record["fakeanswer"], str)
        (aliases,) = record["answer"]
        assert isinstance(aliases, list)


def test_every_question_has_five_passages_of_each_kind(name, language, size):
    sample = load_rgb(name)
    assert len(sample) == size
    assert set(sample["task"]) == {"counterfactual"}
    assert set(sample["language"]) == {language}
    for row in sample.itertuples():
        assert [len(group) for group in row.positive] == [5]
        assert (len(row.positive_wrong), len(row.negative)) == (5, 5)


def test_passages_hold_the_true_answer_or_the_false_one_or_neither(name, language, size):
    for row in load_rgb(name).itertuples():
        for passage in row.positive[0]:
            assert holds_which(passage, row) == (True, False), (row.example_id, passage)
        for passage in row.positive_wrong:
            assert holds_which(passage, row) == (False, True), (row.example_id, passage)
        for passage in row.negative:
            assert holds_which(passage, row) == (False, False), (row.example_id, passage)


def test_neither_answer_is_in_the_question(name, language, size):
    for row in load_rgb(name).itertuples():
        assert holds_which(row.question, row) == (False, False), row.question


def test_no_answer_contains_the_other(name, language, size):
    for row in load_rgb(name).itertuples():
        (false,) = row.false_answers
        assert holds_which(false, row) == (False, True)
        for alias in row.references[0]:
            assert holds_which(alias, row) == (True, False), (alias, false)


def test_a_counterfactual_passage_is_its_twin_with_the_answer_exchanged(name, language, size):
    for row in load_rgb(name).itertuples():
        for true, wrong in zip(row.positive[0], row.positive_wrong, strict=True):
            same = SequenceMatcher(None, true, wrong, autojunk=False).ratio()
            assert same > 0.7, (row.example_id, true, wrong)


def test_no_passage_and_no_question_stands_twice(name, language, size):
    sample = load_rgb(name)
    passages = [passage for row in sample.itertuples() for passage in all_passages(row)]
    assert not [passage for passage, count in Counter(passages).items() if count > 1]
    assert sample["question"].is_unique


def test_no_question_is_one_of_the_base_sample(name, language, size):
    base = load_rgb(f"sample-{language}")
    assert not set(load_rgb(name)["question"]) & set(base["question"])


def test_passages_are_of_a_passages_length(name, language, size):
    shortest, longest = LENGTHS[language]
    for row in load_rgb(name).itertuples():
        for passage in all_passages(row):
            assert passage == passage.strip()
            assert shortest <= length(passage, language) <= longest, (row.example_id, passage)


def test_the_audit_finds_nothing(name, language, size):
    assert audit(load_rgb(name)).empty


def test_it_says_who_wrote_it(name, language, size):
    source = load_rgb(name).attrs["source"]
    assert source["licence"] == "CC BY 4.0"
    assert "authors of ragnb" in source["citation"]
