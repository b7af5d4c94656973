import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragnb
from ragnb.errors import InputError
from ragnb.metrics import (
    adherence,
    completeness,
    label_issues,
    relevance,
    rmse_to_ideal,
    supported_fraction,
    supported_sentences,
    trace_scores,
    unsupported_sentences,
    utilization,
)
from ragnb.metrics.trace_labels import FIELDS, VARIANTS


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


GUIDE_EXAMPLE = build(
    relevant=["0b", "0c", "1a", "1b"],
    utilized=["0b", "0c", "1a"],
    support=[("a", ["0b", "0c"], True), ("b", ["1a"], True), ("c", [], False)],
)


@pytest.fixture(scope="module")
def published(data_folder):
    path = data_folder / "ragbench" / "ragbench_test_5x10.jsonl"
    if not path.is_file():
        pytest.skip(f"{path.name} is not in RAGNB_TEST_DATA")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def four(record, **options):
    """Relevance, utilization, completeness and adherence."""
    return trace_scores(record, **options)[:4]


# ---- published columns -------------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize(("unknown_keys", "equal"), [("count", 50), ("drop", 46)])
def test_the_four_scores_equal_the_published_ones_in_50_of_50_records(
    published, unknown_keys, equal
):
    columns = ["relevance_score", "utilization_score", "completeness_score", "adherence_score"]
    theirs = [[record[name] for name in columns] for record in published]
    ours = [four(record, unknown_keys=unknown_keys) for record in published]
    same = [pytest.approx(a, abs=1e-9) == b for a, b in zip(ours, theirs, strict=True)]
    assert (len(same), sum(same)) == (50, equal)


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


@pytest.mark.data
def test_adherence_follows_from_the_supporting_keys_in_50_of_50_and_from_the_flags_in_23(published):
    by_flag = 0
    for record in published:
        support, theirs = record["sentence_support_information"], record["adherence_score"]
        assert unsupported_sentences(support) == record["unsupported_response_sentence_keys"]
        assert adherence(support) == theirs
        by_flag += adherence(support, variant="guide") == theirs
    assert by_flag == 23


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
        ("ragbench", ["9x", "9y", "9z", "8a", "8b"], [], (1.25, 0.0, 0.0)),
    ],
)
def test_empty_repeated_and_unknown_keys(variant, relevant, utilized, expected):
    assert four(build((2, 2), relevant, utilized), variant=variant)[:3] == expected


@pytest.mark.parametrize("variant", VARIANTS)
def test_dropped_keys_are_as_if_they_had_not_been_written(variant):
    slips = build((2, 2), ["0a", "9z", "general"], ["9z", "0b"])
    dropped = trace_scores(slips, variant=variant, unknown_keys="drop")
    assert dropped[:4] == four(build((2, 2), ["0a"], ["0b"]), variant=variant)
    assert any("(dropped)" in line for line in dropped.issues)


def test_the_guides_relevance_stops_at_one():
    many = build((30,), [f"0{chr(97 + n)}" for n in range(25)])
    assert trace_scores(many, variant="guide").relevance == 1.0
    assert trace_scores(many).relevance == 25 / 30


@pytest.mark.parametrize("documents", [(), (0,), (0, 0)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_without_a_context_sentence_nothing_about_the_context_is_defined(documents, variant):
    scores = trace_scores(build(documents, ["0a"], ["0a"]), variant=variant)
    assert all(map(math.isnan, (*scores[:3], scores.rmse_to_ideal)))
    assert scores.adherence == 1.0
    assert "documents_sentences: the context has no sentence" in scores.issues


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_response_without_sentences_adheres_and_has_no_fraction(variant):
    scores = trace_scores(build(support=()), variant=variant)
    assert scores.adherence == 1.0
    assert math.isnan(scores.supported_fraction)
    assert "response_sentences: the response has no sentence" in scores.issues


@pytest.mark.parametrize("missing", [None, math.nan])
@pytest.mark.parametrize("name", FIELDS[:5])
def test_a_missing_field_leaves_its_scores_undefined_and_says_so(name, missing):
    record = build(relevant=["0a"], utilized=["0a"], **{name: missing})
    scores = trace_scores(record)
    assert f"{name} is missing" in scores.issues
    assert [math.isnan(score) for score in (*scores[:4], scores.supported_fraction)] == {
        "documents_sentences": [True, True, True, False, False],
        "response_sentences": [False] * 5,  # the labelled sentences count
        "all_relevant_sentence_keys": [True, True, True, False, False],
        "all_utilized_sentence_keys": [False, True, True, False, False],
        "sentence_support_information": [False] * 5,
    }[name]


# ---- labels alone: flags without supporting keys, no documents ---------------------------------------------------------


def flagged(*flags):
    """Support information with flags and no supporting keys; None leaves the flag out too."""
    return [
        {"response_sentence_key": key, **({} if flag is None else {"fully_supported": flag})}
        for key, flag in zip("abcd", flags, strict=False)
    ]


WALKTHROUGH = {
    "all_relevant_sentence_keys": ["0b", "0c", "1a", "1b"],
    "all_utilized_sentence_keys": ["0b", "0c", "1a"],
    "sentence_support_information": flagged(True, True, False),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("flags", "expected_adherence", "expected_fraction"),
    [
        ((True, True, True), 1.0, 1.0),
        ((True, True, False), 0.0, 2 / 3),
        ((True, True, None), math.nan, math.nan),
        ((None,), math.nan, math.nan),
        (
            (True, False, None),
            0.0,
            math.nan,
        ),  # one unsupported sentence is enough, whatever the unknown one is
    ],
)
def test_without_supporting_keys_the_flag_decides_and_without_either_nothing_does(
    variant, flags, expected_adherence, expected_fraction
):
    support = flagged(*flags)
    response = [[entry["response_sentence_key"], "Text."] for entry in support]
    assert adherence(support, variant=variant) == pytest.approx(expected_adherence, nan_ok=True)
    assert supported_fraction(response, support, variant=variant) == pytest.approx(
        expected_fraction, nan_ok=True
    )


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
    for flags in [(True, True), (False, False), (None, None)]:
        assert (adherence(flagged(*flags), []), adherence(flagged(*flags), ["b"])) == (1.0, 0.0)
        assert supported_fraction(response, flagged(*flags), ["b"]) == 0.5


@pytest.mark.parametrize("unsupported", [None, ["b"]])
@pytest.mark.parametrize("variant", VARIANTS)
def test_without_the_sentences_of_the_response_the_labelled_sentences_count(variant, unsupported):
    support = flagged(True, False, True)
    assert supported_fraction(None, support, unsupported, variant=variant) == 2 / 3
    assert math.isnan(supported_fraction(None, None, variant=variant))
    row = {"example_id": "1", "sentence_support_information": support}
    if unsupported:
        row["unsupported_response_sentence_keys"] = unsupported
    scores = ragnb.score(pd.DataFrame([row]), "trace.supported_fraction", variant=variant)
    assert scores["value"].tolist() == [2 / 3]


def test_where_the_context_is_needed_its_absence_leaves_the_scores_undefined_and_is_named():
    for options in [{}, {"variant": "guide", "unknown_keys": "drop"}]:
        scores = trace_scores(WALKTHROUGH, **options)
        assert all(map(math.isnan, (*scores[:3], scores.consistency)))
        assert scores.adherence == 0.0
        assert "documents_sentences is missing" in scores.issues


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("utilized", [[], ["0a"]])
@pytest.mark.parametrize(
    ("choice", "expected"), [("one", 1.0), ("zero", 0.0), ("undefined", math.nan)]
)
def test_where_nothing_is_relevant_completeness_is_what_is_chosen(
    variant, utilized, choice, expected
):
    options = {"variant": variant, "when_none_relevant": choice}
    scores = trace_scores(build((2, 2), [], utilized), **options)
    assert scores.completeness == pytest.approx(expected, nan_ok=True)
    assert math.isnan(scores.rmse_to_ideal) == math.isnan(expected)
    assert trace_scores(build((2, 2), ["0a"], ["0a"]), **options).completeness == 1


# ---- lengths -----------------------------------------------------------------------------------------------------------

MIXED = {  # one document a language; tokens and characters counted by hand
    "0a": ("Oslo is rainy.", 3, 14),
    "1a": ("北京很大。", 4, 5),
    "2a": ("नमक भी है।", 3, 8),
    "3a": ("שלום עולם", 2, 9),
    "4a": ("e\u0301te\u0301 👩‍🔬", 1, 5),
}


@pytest.mark.parametrize("key", MIXED)
def test_lengths_count_words_and_characters_as_a_reader_does(key):
    documents = [[[name, text]] for name, (text, _, _) in MIXED.items()]
    tokens = sum(n for _, n, _ in MIXED.values())
    characters = sum(n for _, _, n in MIXED.values())
    _, n_tokens, n_characters = MIXED[key]
    assert relevance([key], documents) == 1 / 5
    assert relevance([key], documents, length="token") == n_tokens / tokens
    assert relevance([key], documents, length="character") == n_characters / characters


def test_utilization_and_completeness_by_length():
    documents = [[["0a", "one two three"], ["0b", "four"]], [["1a", "five six"]]]
    assert utilization(["0a"], ["0a", "0b"], documents, length="token") == 4 / 6
    assert completeness(["0a", "1a"], ["1a"], documents, length="token") == 2 / 5
    assert completeness(["0b", "1a"], ["1a"], documents, length="character") == 8 / 12


def test_unknown_keys_have_no_length_and_it_is_said():
    record = build((2,), ["0a", "9z"], ["9z"])
    scores = trace_scores(record, length="token")
    assert scores[:3] == (0.5, 0.0, 0.0)
    assert "all_relevant_sentence_keys: '9z' names no sentence (length 0)" in scores.issues
    assert math.isnan(trace_scores(build((2,), ["9z"]), length="token").completeness)  # 0 / 0
    dropped = trace_scores(build((2,), ["9z"]), length="token", unknown_keys="drop")
    assert dropped.completeness == 1.0  # nothing is relevant


def test_a_context_of_empty_sentences_has_no_length():
    documents = [[["0a", ""], ["0b", "…"]]]
    assert math.isnan(relevance(["0a"], documents, length="token"))
    assert relevance(["0a"], documents) == 0.5


# ---- issues ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "line"),
    [
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
    ],
)
def test_what_is_to_be_doubted_is_listed_in_words(changes, line):
    assert line in trace_scores(build(**changes)).issues


def unlisted(*support, **changes):
    """A record without a list of unsupported sentences."""
    record = build(relevant=["0a"], utilized=["0a"], **changes)
    del record["unsupported_response_sentence_keys"]
    keys = [entry["response_sentence_key"] for entry in support]
    return record | {
        "sentence_support_information": list(support),
        "response_sentences": [[key, "Text."] for key in keys],
    }


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (unlisted(*flagged(True, False)), ()),
        (unlisted(label("a", [], True)), ("'a' is fully_supported, yet has no supporting keys",)),
        (
            unlisted(label("a", None, None)),
            ("neither supporting_sentence_keys nor fully_supported is given for 'a'",),
        ),
        (
            unlisted(*flagged(True, True), overall_supported=False),
            ("overall_supported is false, yet unsupported: no sentence",),
        ),
        (
            unlisted(
                *flagged(True, None), overall_supported=False
            ),  # the unknown sentence may be the unsupported one
            ("neither supporting_sentence_keys nor fully_supported is given for 'b'",),
        ),
    ],
)
def test_issues_speak_of_what_was_given(record, expected):
    assert trace_scores(record).issues == expected


# ---- what is refused ---------------------------------------------------------------------------------------------------


def test_the_guide_measures_no_length():
    with pytest.raises(InputError, match="length must be 'sentence' with variant 'guide'"):
        trace_scores(GUIDE_EXAMPLE, variant="guide", length="token")


def test_issues_need_a_known_variant():
    with pytest.raises(InputError, match="variant must be one of 'ragbench', 'guide'"):
        label_issues(GUIDE_EXAMPLE, variant="Guide")


@pytest.mark.parametrize(
    "changes",
    [
        {"documents_sentences": "0a"},
        {"all_relevant_sentence_keys": "['0a']"},
    ],
    ids=repr,
)
def test_a_field_of_another_shape_is_refused_never_guessed(changes):
    with pytest.raises(InputError, match="must be"):
        trace_scores(build(**changes))


# ---- properties --------------------------------------------------------------------------------------------------------

keys = st.lists(st.sampled_from("0a 0b 0c 1a 1b 1c 1a. 7q general".split()), max_size=8)
flags = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["0a", "1b", "general"]), max_size=2),
        st.sampled_from([True, False, None]),
    ),
    max_size=5,
)
records = st.builds(
    lambda relevant, utilized, supports: build(
        (3, 3), relevant, utilized, [(chr(97 + n), *s) for n, s in enumerate(supports)]
    ),
    keys,
    keys,
    flags,
)


@given(records)
def test_the_guides_pseudocode_gives_the_same(record):
    """Independently derived from the guide's pseudocode."""
    relevant, utilized = record["all_relevant_sentence_keys"], record["all_utilized_sentence_keys"]
    labels = record["sentence_support_information"]
    common = set(relevant) & set(utilized)
    fully = [entry for entry in labels if entry["fully_supported"]]
    expected = (
        min(1.0, len(relevant) / 20.0),
        min(1.0, len(utilized) / len(relevant)) if relevant else 0.0,
        len(common) / len(set(relevant)) if relevant else float(not utilized),
        float(len(fully) == len(labels)),
    )
    scores = trace_scores(record, variant="guide")
    assert scores[:4] == expected
    fields = [record[name] for name in FIELDS]
    documents, response, _, _, support, unsupported = fields
    arguments = (relevant, utilized, documents, support, unsupported)
    distance = math.sqrt(sum((1 - score) ** 2 for score in expected) / 4)
    assert rmse_to_ideal(*arguments, variant="guide") == pytest.approx(distance)
    fraction = supported_fraction(response, support, unsupported, variant="guide")
    assert scores.supported_fraction == pytest.approx(fraction, nan_ok=True)


def test_a_row_of_a_frame_is_a_record_too():
    row = pd.DataFrame([GUIDE_EXAMPLE]).iloc[0]
    assert trace_scores(row) == trace_scores(GUIDE_EXAMPLE)


@pytest.mark.parametrize("yes", [True, np.True_, 1, 1.0, np.int64(1), "true", "TRUE", "1", "yes"])
@pytest.mark.parametrize("no", [False, 0, "false", "No"])
def test_a_flag_in_a_frame_is_read_as_from_a_file(yes, no):
    """By hand: with flags alone, a response is adherent if every flag is true."""

    def frame(*flags):
        support = [
            {"response_sentence_key": key, "fully_supported": flag}
            for key, flag in zip("ab", flags, strict=True)
        ]
        record = {
            "documents_sentences": [[["0a", "One."]]],
            "response_sentences": [["a", "One."], ["b", "Two."]],
            "all_relevant_sentence_keys": ["0a"],
            "all_utilized_sentence_keys": ["0a"],
            "sentence_support_information": support,
        }
        return pd.DataFrame([record | {"example_id": "q/1", "system": "a", "language": "en"}])

    for variant in ("ragbench", "guide"):
        values = [
            ragnb.score(frame(*flags), "trace.adherence", variant=variant)["value"].item()
            for flags in [(yes, yes), (yes, no)]
        ]
        assert values == [1.0, 0.0]
    issues = label_issues(frame(yes, no).iloc[0].to_dict())
    assert not [issue for issue in issues if "null" in issue]


def as_arrays(value):
    """A value whose lists are NumPy arrays of objects at every depth, as pandas reads them from Parquet."""
    if isinstance(value, dict):
        return {name: as_arrays(inner) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    array = np.empty(len(value), dtype=object)
    for place, inner in enumerate(value):
        array[place] = as_arrays(inner)
    return array


@pytest.mark.parametrize("variant", VARIANTS)
def test_lists_may_be_arrays(variant):
    record = as_arrays(GUIDE_EXAMPLE)
    assert isinstance(record["documents_sentences"], np.ndarray)
    assert trace_scores(record, variant=variant) == trace_scores(GUIDE_EXAMPLE, variant=variant)
    read = ragnb.reports.interpret_trace
    assert read(record, variant=variant) == read(GUIDE_EXAMPLE, variant=variant)
