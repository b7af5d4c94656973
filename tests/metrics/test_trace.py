import json
import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.metrics import trace
from ragnb.metrics.trace import (
    TraceScores,
    adherence,
    completeness,
    consistency,
    relevance,
    rmse_to_ideal,
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
    assert len(published) == 50
    assert sum(agrees(trace_scores(record), record) for record in published) == 50


@pytest.mark.data
def test_leaving_unknown_keys_out_moves_four_of_the_fifty(published):
    assert (
        sum(agrees(trace_scores(record, unknown_keys="drop"), record) for record in published) == 46
    )


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
def test_fully_supported_agrees_with_the_published_adherence_in_23_of_50(published):
    guide = [
        adherence(record["sentence_support_information"], variant="guide") for record in published
    ]
    assert (
        sum(
            ours == record["adherence_score"] for ours, record in zip(guide, published, strict=True)
        )
        == 23
    )


@pytest.mark.data
def test_the_unsupported_keys_are_those_without_supporting_keys_in_50_of_50(published):
    for record in published:
        assert (
            unsupported_sentences(record["sentence_support_information"])
            == record["unsupported_response_sentence_keys"]
        )
        assert adherence(record["sentence_support_information"]) == record["adherence_score"]


# ---- the guide's example -----------------------------------------------------------------------------------------------


def test_the_guides_example_gives_its_numbers():
    scores = trace_scores(GUIDE_EXAMPLE, variant="guide")
    assert (scores.relevance, scores.utilization, scores.completeness, scores.adherence) == (
        0.20,
        0.75,
        0.75,
        0.0,
    )
    assert scores.rmse_to_ideal == pytest.approx(0.664, abs=5e-4)
    assert scores.consistency == pytest.approx(0.336, abs=5e-4)
    assert scores.supported_fraction == pytest.approx(2 / 3)
    assert scores.issues == ()


def test_the_guides_printed_distance_is_that_of_an_adherence_of_one():
    assert trace.distance_from_ideal(0.20, 0.75, 0.75, 1.0) == pytest.approx(0.437, abs=5e-4)


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


def test_the_guides_relevance_stops_at_one():
    many = build((30,), [f"0{chr(97 + n)}" for n in range(25)])
    assert trace_scores(many, variant="guide").relevance == 1.0
    assert trace_scores(many).relevance == 25 / 30


@pytest.mark.parametrize("documents", [(), (0,), (0, 0)])
@pytest.mark.parametrize("variant", trace.VARIANTS)
def test_without_a_context_sentence_nothing_about_the_context_is_defined(documents, variant):
    scores = trace_scores(build(documents, ["0a"], ["0a"]), variant=variant)
    undefined = (
        scores.relevance,
        scores.utilization,
        scores.completeness,
        scores.rmse_to_ideal,
    )
    assert all(map(math.isnan, undefined))
    assert scores.adherence == 1.0
    assert "documents_sentences: the context has no sentence" in scores.issues


@pytest.mark.parametrize("variant", trace.VARIANTS)
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
    needs = {
        "relevance": {"documents_sentences", "all_relevant_sentence_keys"},
        "utilization": {
            "documents_sentences",
            "all_relevant_sentence_keys",
            "all_utilized_sentence_keys",
        },
        "completeness": {
            "documents_sentences",
            "all_relevant_sentence_keys",
            "all_utilized_sentence_keys",
        },
        "supported_fraction": {"response_sentences"},
        "adherence": set(),
    }
    for metric, fields in needs.items():
        assert math.isnan(getattr(scores, metric)) == (name in fields), metric


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
FIRST_EXAMPLE = {
    "all_relevant_sentence_keys": ["0a", "0b"],
    "all_utilized_sentence_keys": ["0a", "0b"],
    "sentence_support_information": flagged(True, True, False),
}


@pytest.mark.parametrize("variant", trace.VARIANTS)
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
    null = [
        {"fully_supported": None, "supporting_sentence_keys": None} | entry for entry in support
    ]
    assert adherence(null, variant=variant) == pytest.approx(expected_adherence, nan_ok=True)


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


@pytest.mark.parametrize(
    ("record", "expected"),
    [(WALKTHROUGH, (0.20, 0.75, 0.75, 0.0)), (FIRST_EXAMPLE, (0.10, 1.0, 1.0, 0.0))],
)
def test_the_guide_needs_labels_alone(record, expected):
    scores = trace_scores(record, variant="guide")
    assert (scores.relevance, scores.utilization, scores.completeness, scores.adherence) == expected
    assert scores.supported_fraction == 2 / 3
    assert scores.rmse_to_ideal == pytest.approx(
        math.sqrt(sum((1 - score) ** 2 for score in expected) / 4)
    )
    assert scores.issues == ()


def test_where_the_context_is_needed_its_absence_leaves_the_scores_undefined_and_is_named():
    for options in [{}, {"variant": "guide", "unknown_keys": "drop"}]:
        scores = trace_scores(WALKTHROUGH, **options)
        assert all(
            map(
                math.isnan,
                (scores.relevance, scores.utilization, scores.completeness, scores.consistency),
            )
        )
        assert scores.adherence == 0.0
        assert "documents_sentences is missing" in scores.issues


@pytest.mark.parametrize("variant", trace.VARIANTS)
@pytest.mark.parametrize(
    ("choice", "expected"),
    [("one", (1.0, 1.0)), ("zero", (0.0, 0.0)), ("undefined", (math.nan, math.nan))],
)
def test_where_nothing_is_relevant_completeness_is_what_is_chosen(variant, choice, expected):
    options = {"variant": variant, "when_none_relevant": choice}
    for utilized, value in zip(([], ["0a"]), expected, strict=True):
        record = build((2, 2), [], utilized)
        documents, _, relevant, _, support, unsupported = (record[name] for name in FIELDS)
        scores = trace_scores(record, **options)
        distance = trace.distance_from_ideal(scores.relevance, scores.utilization, value, 1.0)
        assert completeness([], utilized, documents, **options) == pytest.approx(value, nan_ok=True)
        assert scores.completeness == pytest.approx(value, nan_ok=True)
        assert scores.rmse_to_ideal == pytest.approx(distance, nan_ok=True)
        arguments = (relevant, utilized, documents, support, unsupported)
        assert rmse_to_ideal(*arguments, **options) == pytest.approx(distance, nan_ok=True)
        assert consistency(*arguments, **options) == pytest.approx(1 - distance, nan_ok=True)
    assert (
        trace_scores(WALKTHROUGH, variant="guide", when_none_relevant=choice).completeness == 0.75
    )


def test_without_any_labels_of_support_adherence_is_undefined():
    record = build(sentence_support_information=None, unsupported_response_sentence_keys=None)
    assert math.isnan(trace_scores(record).adherence)
    assert math.isnan(trace_scores(record, variant="guide").adherence)
    assert math.isnan(trace_scores({}).consistency)


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
    assert (scores.relevance, scores.utilization, scores.completeness) == (0.5, 0.0, 0.0)
    assert "all_relevant_sentence_keys: '9z' names no sentence (length 0)" in scores.issues
    assert math.isnan(trace_scores(build((2,), ["9z"]), length="token").completeness)  # 0 / 0
    assert (
        trace_scores(build((2,), ["9z"]), length="token", unknown_keys="drop").completeness == 1.0
    )  # nothing relevant


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
        (unlisted(label("a", ["0a"], False)), ()),
        (unlisted({"response_sentence_key": "a", "supporting_sentence_keys": ["0a"]}), ()),
        (unlisted(label("a", [], True)), ("'a' is fully_supported, yet has no supporting keys",)),
        (
            unlisted(label("a", None, None)),
            ("neither supporting_sentence_keys nor fully_supported is given for 'a'",),
        ),
        (
            unlisted(*flagged(True, False), overall_supported=True),
            ("overall_supported is true, yet unsupported: 'b'",),
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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"variant": "ragas"}, "variant must be one of 'ragbench', 'guide', got 'ragas'"),
        ({"length": "word"}, "length must be one of 'sentence', 'token', 'character', got 'word'"),
        ({"unknown_keys": "keep"}, "unknown_keys must be one of 'count', 'drop', got 'keep'"),
        ({"variant": "guide", "length": "token"}, "length must be 'sentence' with variant 'guide'"),
        (
            {"when_none_relevant": "half"},
            "when_none_relevant must be one of None, 'one', 'zero', 'undefined', got 'half'",
        ),
    ],
)
def test_an_unknown_option_is_named_with_the_known_ones(options, words):
    with pytest.raises(InputError, match=words):
        trace_scores(GUIDE_EXAMPLE, **options)


@pytest.mark.parametrize(
    "changes",
    [
        {"documents_sentences": "0a"},
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
options = st.sampled_from(
    [
        {"variant": variant, "length": length, "unknown_keys": unknown}
        for variant in trace.VARIANTS
        for length in trace.LENGTHS
        for unknown in trace.UNKNOWN_KEYS
        if variant == "ragbench" or length == "sentence"
    ]
)


@given(records, options)
def test_the_plain_functions_give_what_the_record_gives(record, options):
    documents, response, relevant, utilized, support, unsupported = (
        record[name] for name in FIELDS
    )
    variant = options["variant"]
    scores = trace_scores(record, **options)
    ours = {
        "relevance": relevance(relevant, documents, **options),
        "utilization": utilization(relevant, utilized, documents, **options),
        "completeness": completeness(relevant, utilized, documents, **options),
        "adherence": adherence(support, unsupported, variant=variant),
        "supported_fraction": supported_fraction(response, support, unsupported, variant=variant),
        "rmse_to_ideal": rmse_to_ideal(
            relevant, utilized, documents, support, unsupported, **options
        ),
        "consistency": consistency(relevant, utilized, documents, support, unsupported, **options),
    }
    for name, value in ours.items():
        assert getattr(scores, name) == pytest.approx(value, abs=0, nan_ok=True), name


@given(records)
def test_the_guides_pseudocode_gives_the_same(record):
    """Independently derived from the guide's pseudocode."""
    relevant, utilized = record["all_relevant_sentence_keys"], record["all_utilized_sentence_keys"]
    labels = record["sentence_support_information"]
    common = set(relevant) & set(utilized)
    fully = [entry for entry in labels if entry["fully_supported"]]
    scores = trace_scores(record, variant="guide")
    assert scores.relevance == min(1.0, len(relevant) / 20.0)
    assert scores.utilization == (min(1.0, len(utilized) / len(relevant)) if relevant else 0.0)
    assert scores.completeness == (
        len(common) / len(set(relevant)) if relevant else 1.0 if not utilized else 0.0
    )
    assert scores.adherence == (1.0 if len(fully) == len(labels) else 0.0)


def test_a_row_of_a_frame_is_a_record_too():
    row = pd.DataFrame([GUIDE_EXAMPLE]).iloc[0]
    assert trace_scores(row) == trace_scores(GUIDE_EXAMPLE)
