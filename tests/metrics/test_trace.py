import json
import math

import pandas as pd
import pytest

from ragnb.errors import InputError
from ragnb.metrics import trace
from ragnb.metrics.trace import (
    TraceScores,
    adherence,
    completeness,
    relevance,
    supported_fraction,
    trace_scores,
    utilization,
)
from ragnb.metrics.trace_labels import (
    FIELDS,
    supported_sentences,
    unsupported_sentences,
)


def label(key, supporting, fully=None):
    return {
        "response_sentence_key": key,
        "explanation": "",
        "supporting_sentence_keys": supporting,
        "fully_supported": fully,
    }


def build(documents=(3, 3), relevant=(), utilized=(), support=(("a", ["0a"], True),), **changes):
    """A record whose documents have so many sentences each."""
    record = {
        "documents_sentences": [
            [[f"{d}{chr(97 + s)}", f"Sentence {s} of {d}."] for s in range(n)]
            for d, n in enumerate(documents)
        ],
        "response_sentences": [[key, f"Said {key}."] for key, _, _ in support],
        "all_relevant_sentence_keys": list(relevant),
        "all_utilized_sentence_keys": list(utilized),
        "sentence_support_information": [label(*parts) for parts in support],
        "unsupported_response_sentence_keys": [
            key for key, supporting, _ in support if not supporting
        ],
    }
    return record | changes


@pytest.fixture(scope="module")
def published(data_folder):
    path = data_folder / "ragbench" / "ragbench_test_5x10.jsonl"
    if not path.is_file():
        pytest.skip(f"{path.name} is not in RAGNB_TEST_DATA")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def agrees(scores: TraceScores, record) -> bool:
    pairs = [
        (scores.relevance, record["relevance_score"]),
        (scores.utilization, record["utilization_score"]),
        (scores.completeness, record["completeness_score"]),
        (scores.adherence, record["adherence_score"]),
    ]
    return all(abs(ours - theirs) < 1e-9 for ours, theirs in pairs)


# ---- published columns -------------------------------------------------------------------------------------------------


@pytest.mark.data
def test_all_four_scores_equal_the_published_ones_in_50_of_50_records(published):
    """Without the keys that name no sentence it is 46, and by the flags of full support 23."""
    assert len(published) == 50
    assert sum(agrees(trace_scores(record), record) for record in published) == 50
    dropped = [trace_scores(record, unknown_keys="drop") for record in published]
    assert sum(map(agrees, dropped, published)) == 46
    flagged = 0
    for record in published:
        support = record["sentence_support_information"]
        assert unsupported_sentences(support) == record["unsupported_response_sentence_keys"]
        assert adherence(support) == record["adherence_score"]
        flagged += adherence(support, variant="guide") == record["adherence_score"]
    assert flagged == 23


@pytest.mark.data
def test_the_keys_that_name_no_sentence_are_reported_in_those_four(published):
    found = {}
    for record in published:
        lines = [
            line for line in trace_scores(record).issues if "names no sentence (counted)" in line
        ]
        if lines:
            found[record["id"]] = {line.split("'")[1] for line in lines}
    assert found == {
        "856": {"0v", "0w", "0x"},
        "finqa_6508": {"1a."},
        "finqa_7166": {"1a."},
        "finqa_6702": {"1a.", "2r."},
    }


# ---- edges of the definitions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "relevant", "utilized", "expected"),
    [
        ("ragbench", [], [], (0.0, 0.0, 1.0)),
        ("ragbench", [], ["0a"], (0.0, 0.25, 1.0)),
        ("ragbench", ["0a"], [], (0.25, 0.0, 0.0)),
        ("guide", [], [], (0.0, 0.0, 1.0)),
        ("guide", [], ["0a"], (0.0, 0.0, 0.0)),
        ("guide", ["0a"], ["0a", "0b", "1a"], (0.05, 1.0, 1.0)),  # three used of one: at most 1
        # a key given twice counts twice in a length, once in a set
        ("ragbench", ["0a", "0a"], ["0a", "0b", "0b"], (0.5, 0.75, 1.0)),
        ("guide", ["0a", "0a"], ["0a"], (0.1, 0.5, 1.0)),
        # a key that names no sentence counts
        ("ragbench", ["0a", "9z"], ["9z"], (0.5, 0.25, 0.5)),
        ("guide", ["0a"] * 25, ["0a"], (1.0, 0.04, 1.0)),  # relevance is at most 1
        ("ragbench", ["9x", "9y", "9z", "8a", "8b"], [], (1.25, 0.0, 0.0)),
    ],
)
def test_empty_repeated_and_unknown_keys(variant, relevant, utilized, expected):
    scores = trace_scores(build((2, 2), relevant, utilized), variant=variant)
    assert (scores.relevance, scores.utilization, scores.completeness) == expected


def test_dropped_keys_are_as_if_they_had_not_been_written():
    slips = build((2, 2), ["0a", "9z", "general"], ["9z", "0b"])
    clean = build((2, 2), ["0a"], ["0b"])
    for variant in trace.VARIANTS:
        dropped, plain = (
            trace_scores(r, variant=variant, unknown_keys="drop") for r in (slips, clean)
        )
        assert (dropped.relevance, dropped.utilization, dropped.completeness) == (
            plain.relevance,
            plain.utilization,
            plain.completeness,
        )
        assert any("(dropped)" in line for line in dropped.issues)


@pytest.mark.parametrize("name", FIELDS[:5])
def test_a_missing_field_leaves_its_scores_undefined_and_says_so(name):
    record = pd.DataFrame([build(relevant=["0a"], utilized=["0a"], **{name: None})]).iloc[0]
    scores = trace_scores(record)
    assert f"{name} is missing" in scores.issues
    documents, response, relevant, utilized, _ = FIELDS[:5]
    needs = {
        "relevance": {documents, relevant},
        "utilization": {documents, relevant, utilized},
        "completeness": {documents, relevant, utilized},
        "supported_fraction": {response},
        "adherence": set(),
    }
    for metric, fields in needs.items():
        assert math.isnan(getattr(scores, metric)) == (name in fields), metric


# ---- labels alone: flags without supporting keys, no documents ---------------------------------------------------------


def test_an_empty_list_of_supporting_keys_is_an_answer_and_an_absent_one_is_none():
    support = [
        label("a", [], True),
        label("b", None, True),
        label("c", ["0a"], None),
        label("d", None, None),
    ]
    assert [value for _, value in supported_sentences(support)] == [False, True, True, None]
    assert [value for _, value in supported_sentences(support, variant="guide")] == [
        True,
        True,
        False,
        None,
    ]
    assert unsupported_sentences(support) == ["a"]
    assert unsupported_sentences(support, variant="guide") == ["c"]


def test_a_given_list_of_unsupported_sentences_decides_whatever_the_flags_are():
    response = [["a", "A."], ["b", "B."]]
    for flag in (True, False, None):
        support = [label("a", None, flag), label("b", None, flag)]
        assert (adherence(support, []), adherence(support, ["b"])) == (1.0, 0.0)
        assert supported_fraction(response, support, ["b"]) == 0.5


def test_where_nothing_is_relevant_completeness_is_what_is_chosen():
    for choice, expected in {"one": 1.0, "zero": 0.0, "undefined": math.nan}.items():
        for variant in trace.VARIANTS:
            options = {"variant": variant, "when_none_relevant": choice}
            scores = trace_scores(build((2, 2), [], ["0a"]), **options)
            assert scores.completeness == pytest.approx(expected, nan_ok=True)
            assert math.isnan(scores.consistency) == math.isnan(expected)


# ---- lengths -----------------------------------------------------------------------------------------------------------

MIXED = {  # one document a language; tokens and characters counted by hand
    "0a": ("Oslo is rainy.", 3, 14),
    "1a": ("北京很大。", 4, 5),
    "2a": ("नमक भी है।", 3, 8),
    "3a": ("שלום עולם", 2, 9),
    "4a": ("e\u0301te\u0301 👩‍🔬", 1, 5),
}


def test_lengths_count_words_and_characters_as_a_reader_does():
    documents = [[[name, text]] for name, (text, _, _) in MIXED.items()]
    for key, (_, n_tokens, n_characters) in MIXED.items():
        assert relevance([key], documents) == 1 / 5
        assert relevance([key], documents, length="token") == n_tokens / 13
        assert relevance([key], documents, length="character") == n_characters / 41


def test_unknown_keys_have_no_length_and_it_is_said():
    documents = [[["0a", "one two three"], ["0b", "four"]], [["1a", "five six"]]]
    assert utilization(["0a"], ["0a", "0b"], documents, length="token") == 4 / 6
    assert completeness(["0b", "1a"], ["1a"], documents, length="character") == 8 / 12
    record = build((2,), ["0a", "9z"], ["9z"])
    scores = trace_scores(record, length="token")
    assert (scores.relevance, scores.utilization, scores.completeness) == (0.5, 0.0, 0.0)
    assert "all_relevant_sentence_keys: '9z' names no sentence (length 0)" in scores.issues
    assert math.isnan(trace_scores(build((2,), ["9z"]), length="token").completeness)  # 0 / 0
    assert (
        trace_scores(build((2,), ["9z"]), length="token", unknown_keys="drop").completeness == 1.0
    )  # nothing relevant


# ---- issues ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"documents": ()}, "documents_sentences: the context has no sentence"),
        ({"support": ()}, "response_sentences: the response has no sentence"),
        ({"relevant": ["0a", "0a"]}, "all_relevant_sentence_keys: '0a' is repeated"),
        (
            {"relevant": ["general"]},
            "all_relevant_sentence_keys: 'general' is a special key and names no sentence (counted)",
        ),
        (
            {"support": [("a", ["0a", "general"], True), ("b", ["general"], True)]},
            "sentence_support_information: special key 'general' supports 'a', 'b'",
        ),
        (
            {"support": [("a", ["0a", "7q"], True)]},
            "sentence_support_information: '7q', which supports 'a', names no sentence",
        ),
        (
            {"response_sentences": [["a", "A."], ["b", "B."]]},
            "response sentence 'b' has no support information",
        ),
        (
            {"unsupported_response_sentence_keys": ["q"]},
            "unsupported_response_sentence_keys: 'q' names no sentence of the response",
        ),
        (
            {"support": [("a", ["0a"], None), ("b", ["0a"], None)]},
            "fully_supported is null for 'a', 'b'",
        ),
        (
            {"support": [("a", ["0a"], False)]},
            "'a' is not fully_supported, yet not listed as unsupported",
        ),
        (
            {"unsupported_response_sentence_keys": ["a"]},
            "'a' is listed as unsupported, yet fully_supported",
        ),
        (
            {"support": [("a", ["0a"], None)], "unsupported_response_sentence_keys": ["a"]},
            "'a' is listed as unsupported, yet has supporting keys",
        ),
        (
            {"support": [("a", [], False), ("b", [], False)], "overall_supported": True},
            "overall_supported is true, yet unsupported: 'a', 'b'",
        ),
        (
            {"overall_supported": False},
            "overall_supported is false, yet unsupported: no sentence",
        ),
        (
            {"support": [("a", [], True)], "unsupported_response_sentence_keys": None},
            "'a' is fully_supported, yet has no supporting keys",
        ),
        (
            {"support": [("a", None, None)], "unsupported_response_sentence_keys": None},
            "neither supporting_sentence_keys nor fully_supported is given for 'a'",
        ),
    ],
)
def test_what_is_to_be_doubted_is_listed_in_words(changes, line):
    assert line in trace_scores(build(**changes)).issues


# ---- what is refused ---------------------------------------------------------------------------------------------------


def test_the_guide_counts_sentences():
    with pytest.raises(InputError, match="length must be 'sentence' with variant 'guide'"):
        trace_scores(build(), variant="guide", length="token")


@pytest.mark.parametrize(
    "changes",
    [
        {"documents_sentences": [[["0a"]]]},
        {"all_relevant_sentence_keys": "['0a']"},
        {"sentence_support_information": ["a"], "unsupported_response_sentence_keys": None},
        {"unsupported_response_sentence_keys": "a"},
    ],
    ids=repr,
)
def test_a_field_of_another_shape_is_refused_never_guessed(changes):
    with pytest.raises(InputError, match="must be"):
        trace_scores(build(**changes))
