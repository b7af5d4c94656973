"""The embedded counterfactual samples: what their authors promise."""

from difflib import SequenceMatcher

import pytest

from ragnb.datasets.auditing import audit
from ragnb.datasets.benchmarks import load_rgb
from ragnb.metrics.rgb import FOUND, answer_labels

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


def test_a_counterfactual_passage_is_its_twin_with_the_answer_exchanged(name, language, size):
    for row in load_rgb(name).itertuples():
        for true, wrong in zip(row.positive[0], row.positive_wrong, strict=True):
            same = SequenceMatcher(None, true, wrong, autojunk=False).ratio()
            assert same > 0.7, (row.example_id, true, wrong)


def test_the_audit_finds_nothing(name, language, size):
    assert audit(load_rgb(name)).empty
