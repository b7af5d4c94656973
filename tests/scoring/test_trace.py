"""TRACe through `score`: what labels alone give, and what their gaps leave undefined."""

import math

import pandas as pd
import pytest

from ragnb.errors import InputError
from ragnb.scoring import definitions, score

FOUR = ["trace.relevance", "trace.utilization", "trace.completeness", "trace.adherence"]
ALL = [*FOUR, "trace.supported_fraction", "trace.rmse_to_ideal", "trace.consistency"]


def flagged(*flags):
    return [
        {"response_sentence_key": key, "fully_supported": flag}
        for key, flag in zip("abc", flags, strict=True)
    ]


WALKTHROUGH = {  # the visual guide's example, as a simplified labelling reply has it
    "all_relevant_sentence_keys": ["0b", "0c", "1a", "1b"],
    "all_utilized_sentence_keys": ["0b", "0c", "1a"],
    "sentence_support_information": flagged(True, True, False),
}
RESPONSE = {"response_sentences": [["a", "A."], ["b", "B."], ["c", "C."]]}


def test_the_guide_scores_a_frame_of_labels_alone():
    scores = (
        score(pd.DataFrame([WALKTHROUGH] * 2), ALL, variant="guide").iloc[::2].set_index("metric")
    )
    assert scores["value"].tolist()[:5] == [0.20, 0.75, 0.75, 0.0, 2 / 3]
    assert scores.loc["trace.rmse_to_ideal", "value"] == pytest.approx(
        math.sqrt((0.8**2 + 2 * 0.25**2 + 1) / 4)
    )
    assert scores.loc["trace.consistency", "value"] == pytest.approx(0.336, abs=5e-4)
    assert scores["reason"].isna().all()


def test_a_row_without_documents_among_others_is_scored_by_the_guide_and_has_a_reason_under_the_benchmark():
    documents = [[[f"{d}{s}", "Text."] for s in "abc"] for d in (0, 1)]
    frame = pd.DataFrame(
        [WALKTHROUGH | {"documents_sentences": given} for given in (documents, None, [])],
        dtype=object,
    )
    assert score(frame, "trace.relevance", variant="guide")["value"].tolist()[:2] == [0.20, 0.20]
    scores = score(frame, "trace.relevance")
    assert scores["value"][0] == 4 / 6
    assert scores["value"].isna().tolist() == [False, True, True]
    assert scores["reason"].tolist()[1:] == [
        "no documents_sentences",
        "the metric is undefined here",
    ]


@pytest.mark.parametrize("options", [{}, {"variant": "guide", "unknown_keys": "drop"}])
@pytest.mark.parametrize(
    "metric", ["trace.relevance", "trace.utilization", "trace.completeness", "trace.consistency"]
)
def test_where_the_context_is_needed_a_frame_without_it_is_refused(metric, options):
    with pytest.raises(InputError, match="got a frame without documents_sentences; add"):
        score(pd.DataFrame([WALKTHROUGH]), metric, **options)


@pytest.mark.parametrize("variant", ["ragbench", "guide"])
def test_flags_decide_without_supporting_keys_and_nothing_decides_without_either(variant):
    replies = [flagged(True, True, True), flagged(True, True, False), flagged(True, None, True)]
    frame = pd.DataFrame(
        [WALKTHROUGH | RESPONSE | {"sentence_support_information": reply} for reply in replies]
    )
    for metric, expected in [
        ("trace.adherence", [1.0, 0.0]),
        ("trace.supported_fraction", [1.0, 2 / 3]),
    ]:
        scores = score(frame, metric, variant=variant)
        assert scores["value"].tolist()[:2] == expected
        assert math.isnan(scores["value"][2])
        assert scores["reason"].isna().tolist() == [True, True, False]
        assert scores["reason"][2] == "the metric is undefined here"


def test_what_completeness_is_where_nothing_is_relevant_enters_value_and_signature():
    frame = pd.DataFrame(
        [
            WALKTHROUGH
            | {"all_relevant_sentence_keys": [], "documents_sentences": [[["0b", "Text."]]]}
        ]
    )
    by_default = score(frame, "trace.completeness", variant="guide").iloc[0]
    assert by_default["value"] == 0.0
    assert "when_none_relevant" not in by_default["signature"]
    for choice, value in [("one", 1.0), ("zero", 0.0), ("undefined", math.nan)]:
        scores = score(
            frame,
            ["trace.completeness", "trace.consistency"],
            variant="guide",
            when_none_relevant=choice,
        )
        assert scores["value"][0] == pytest.approx(value, nan_ok=True)
        assert math.isnan(scores["value"][1]) == math.isnan(value)
        assert all(
            f"|when_none_relevant:{choice}" in signature for signature in scores["signature"]
        )


def test_definitions_have_a_sentence_for_each_value_of_completeness_where_nothing_is_relevant():
    frame = definitions("trace.completeness").frame.query("option == 'when_none_relevant'")
    assert frame["value"].tolist() == [None, "one", "zero", "undefined"]
    assert frame["default"].tolist() == [True, False, False, False]
    assert frame["meaning"].str.len().gt(20).all()
