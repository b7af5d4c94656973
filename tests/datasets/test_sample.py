"""The embedded samples of noise robustness, in English and in Chinese: what their authors promise."""

from types import SimpleNamespace

import pytest
import regex

from ragnb.datasets.auditing import audit
from ragnb.datasets.benchmarks import load_rgb
from ragnb.metrics.rgb import FOUND, NOT_FOUND, answer_labels


@pytest.fixture(scope="module", params=[("en", 68, {5, 6}), ("zh", 30, {5})], ids=["en", "zh"])
def sample(request):
    language, size, negatives = request.param
    frame = load_rgb(f"sample-{language}")
    return SimpleNamespace(language=language, size=size, negatives=negatives, frame=frame)


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


def test_chinese_aliases_can_be_found_once_spaces_are_gone():
    for row in load_rgb("sample-zh").itertuples():
        for part in row.references:
            assert len({alias.lower() for alias in part}) == len(part), row.example_id
            assert all(len(alias) >= 2 and not regex.search(r"\s", alias) for alias in part), (
                row.example_id
            )
