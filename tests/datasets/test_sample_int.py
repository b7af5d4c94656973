"""The embedded samples for information integration: what their authors promise, in English and in Chinese."""

import json
from collections import Counter
from types import SimpleNamespace

import pytest

from ragnb.datasets.auditing import audit
from ragnb.datasets.benchmarks import RGB_SAMPLES, load_rgb
from ragnb.metrics.rgb import FOUND, NOT_FOUND, answer_labels

THREE_PARTS = {"sample-en-int": 6, "sample-zh-int": 3}
SHORTEST_ALIAS = {"en": 3, "zh": 2}


@pytest.fixture(
    scope="module",
    params=[("sample-en-int", "en", 30), ("sample-zh-int", "zh", 15)],
    ids=lambda param: param[0],
)
def sample(request):
    name, language, size = request.param
    return SimpleNamespace(name=name, language=language, size=size, frame=load_rgb(name))


def labels(text, row):
    return answer_labels(text, row.references, language=row.language)


def only(number, row):
    """Labels of a text that answers one part and no other."""
    return [FOUND if number == other else NOT_FOUND for other in range(len(row.references))]


def test_the_name_opens_a_file_of_the_promised_size_language_and_task(sample):
    assert len(sample.frame) == sample.size
    assert set(sample.frame["language"]) == {sample.language}
    assert set(sample.frame["task"]) == {"integration"}
    assert sample.frame["example_id"].tolist() == [
        f"{sample.name}/{number}" for number in range(sample.size)
    ]


def test_the_file_itself_is_laid_out_like_rgb(sample, request):
    path = request.config.rootpath / "ragnb" / "datasets" / "data" / RGB_SAMPLES[sample.name]
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [record["id"] for record in records] == list(range(sample.size))
    assert {tuple(record) for record in records} == {
        ("id", "query", "answer", "positive", "negative")
    }
    assert all(isinstance(part, list) for record in records for part in record["answer"])


def test_a_question_has_two_parts_or_three_and_a_group_of_passages_for_each(sample):
    sizes = sample.frame["references"].map(len)
    assert Counter(sizes) == {
        2: sample.size - THREE_PARTS[sample.name],
        3: THREE_PARTS[sample.name],
    }
    assert sample.frame["positive"].map(len).tolist() == sizes.tolist()
    assert {len(group) for groups in sample.frame["positive"] for group in groups} == {3}
    assert set(sample.frame["negative"].map(len)) == {5}


def test_every_passage_of_a_group_answers_its_own_part_and_no_other(sample):
    for row in sample.frame.itertuples():
        for number, group in enumerate(row.positive):
            for passage in group:
                assert labels(passage, row) == only(number, row), (row.example_id, passage)


def test_no_negative_holds_any_part(sample):
    for row in sample.frame.itertuples():
        for passage in row.negative:
            assert FOUND not in labels(passage, row), (row.example_id, passage)


def test_an_alias_answers_its_own_part_and_no_other(sample):
    for row in sample.frame.itertuples():
        for number, aliases in enumerate(row.references):
            assert len(set(aliases)) == len(aliases), (row.example_id, aliases)
            for alias in aliases:
                assert len(alias) >= SHORTEST_ALIAS[sample.language], (row.example_id, alias)
                assert labels(alias, row) == only(number, row), (row.example_id, alias)


def test_the_audit_finds_nothing(sample):
    assert audit(sample.frame).empty
