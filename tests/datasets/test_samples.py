"""The embedded samples: what their authors promise."""

from collections import Counter
from difflib import SequenceMatcher

import numpy as np
import pandas as pd
import pytest

from ragnb.datasets import audit, load_ragbench, load_rgb
from ragnb.metrics import answer_labels, trace_scores, unsupported_sentences
from ragnb.metrics.rgb_protocols import FOUND, NOT_FOUND
from ragnb.metrics.trace_labels import SPECIAL_KEYS
from ragnb.text import keyed_response, keyed_sentences

SIZES = {"en": 68, "zh": 30, "en-int": 30, "zh-int": 15, "en-fact": 40, "zh-fact": 15}
SLIPS = {"label-slip", "tablets", "injected"}


def labels(text, row):
    return answer_labels(text, row.references, language=row.language)


@pytest.mark.parametrize("name", SIZES)
def test_a_sample_of_rgb_has_its_size_and_language_and_nothing_to_audit(name):
    frame = load_rgb(f"sample-{name}")
    assert len(frame) == SIZES[name]
    assert set(frame["language"]) == {name[:2]}
    assert audit(frame).empty


@pytest.mark.parametrize(("name", "three_parts"), [("sample-en-int", 6), ("sample-zh-int", 3)])
def test_a_passage_and_an_alias_answer_their_own_part_and_no_other(name, three_parts):
    frame = load_rgb(name)
    sizes = Counter(frame["references"].map(len))
    assert sizes == {2: len(frame) - three_parts, 3: three_parts}
    for row in frame.itertuples():
        assert [len(group) for group in row.positive] == [3] * len(row.references)
        for number, texts in enumerate(zip(row.positive, row.references, strict=True)):
            only = [FOUND if number == n else NOT_FOUND for n in range(len(row.references))]
            for text in [*texts[0], *texts[1]]:
                assert labels(text, row) == only, (row.example_id, text)
        for passage in row.negative:
            assert FOUND not in labels(passage, row), (row.example_id, passage)


@pytest.mark.parametrize("name", ["sample-en-fact", "sample-zh-fact"])
def test_passages_hold_the_true_answer_or_the_false_one_or_neither(name):
    for row in load_rgb(name).itertuples():
        false = row._replace(references=[row.false_answers])
        kinds = {"positive": row.positive[0], "wrong": row.positive_wrong, "none": row.negative}
        for kind, passages in kinds.items():
            assert len(passages) == 5
            for passage in passages:
                found = FOUND in labels(passage, row), FOUND in labels(passage, false)
                assert found == (kind == "positive", kind == "wrong"), passage
        for true, wrong in zip(row.positive[0], row.positive_wrong, strict=True):
            assert SequenceMatcher(None, true, wrong, autojunk=False).ratio() > 0.7, (true, wrong)


# ---- RAGBench ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample():
    return load_ragbench("sample-ragbench")


def test_two_systems_answer_each_question(sample):
    assert len(sample) >= 30
    systems = sample.groupby("example_id")["system"].agg(lambda names: tuple(sorted(names)))
    assert set(systems) == {("careful", "fluent")}
    for row in sample.itertuples():
        assert row.documents_sentences == keyed_sentences(row.documents)
        assert row.response_sentences == keyed_response(row.response)


def test_the_score_columns_are_those_of_the_labels(sample):
    scores = pd.DataFrame([trace_scores(record) for record in sample.to_dict("records")])
    for name in ("relevance", "utilization", "completeness", "adherence"):
        published = sample[f"{name}_score"].astype(float)
        np.testing.assert_array_equal(scores[name], published, err_msg=name)


def test_the_labels_follow_the_guideline_but_for_the_slips_it_names(sample):
    for row in sample.to_dict("records"):
        known = [key for document in row["documents_sentences"] for key, _ in document]
        support = row["sentence_support_information"]
        supporting = [key for label in support for key in label["supporting_sentence_keys"]]
        keys = [key for key, _ in row["response_sentences"]]
        assert [label["response_sentence_key"] for label in support] == keys
        assert row["unsupported_response_sentence_keys"] == unsupported_sentences(support)
        if row["id"] not in SLIPS:
            used = [key for key in known if key in supporting]
            assert row["all_utilized_sentence_keys"] == used
            assert set(supporting) <= set(known) | set(SPECIAL_KEYS)
            assert row["overall_supported"] == (not row["unsupported_response_sentence_keys"])


def test_the_worked_example_of_the_guide_is_among_them_in_other_words(sample):
    row = sample.query("id == 'heating' and system == 'fluent'").iloc[0].to_dict()
    guide, benchmark = trace_scores(row, variant="guide"), trace_scores(row)
    names = ("relevance", "utilization", "completeness", "adherence")
    assert [getattr(guide, name) for name in names] == [0.20, 0.75, 0.75, 0.0]
    assert [getattr(benchmark, name) for name in names] == [4 / 6, 3 / 6, 3 / 4, 0]
    assert guide.rmse_to_ideal == pytest.approx(0.664, abs=5e-4)
    assert guide.consistency == pytest.approx(0.336, abs=5e-4)
    assert guide.issues == ()
