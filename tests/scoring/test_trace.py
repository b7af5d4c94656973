"""TRACe through `score`: what labels alone give, and what their gaps leave undefined."""

import math

import pandas as pd
import pytest

from ragnb.errors import InputError
from ragnb.scoring import score


def flagged(*flags):
    both = zip("abc", flags, strict=True)
    return [{"response_sentence_key": key, "fully_supported": flag} for key, flag in both]


ALL = [
    f"trace.{name}"
    for name in "relevance utilization completeness adherence supported_fraction rmse_to_ideal "
    "consistency".split()
]


WALKTHROUGH = {  # the visual guide's example, as a simplified labelling reply has it
    "all_relevant_sentence_keys": ["0b", "0c", "1a", "1b"],
    "all_utilized_sentence_keys": ["0b", "0c", "1a"],
    "sentence_support_information": flagged(True, True, False),
}
RESPONSE = {"response_sentences": [["a", "A."], ["b", "B."], ["c", "C."]]}


def test_the_guide_scores_a_frame_of_labels_alone():
    scores = score(pd.DataFrame([WALKTHROUGH]), ALL, variant="guide")
    rmse = math.sqrt((0.8**2 + 2 * 0.25**2 + 1) / 4)
    known = [0.20, 0.75, 0.75, 0.0, 2 / 3, rmse, 1 - rmse]
    assert scores["value"].tolist() == pytest.approx(known)
    assert scores["value"].iloc[-1] == pytest.approx(0.336, abs=5e-4)
    assert scores["reason"].isna().all()


def test_a_row_without_documents_is_scored_by_the_guide_and_has_a_reason_under_the_benchmark():
    documents = [[[f"{d}{s}", "Text."] for s in "abc"] for d in (0, 1)]
    rows = [WALKTHROUGH | {"documents_sentences": given} for given in (documents, None, [])]
    frame = pd.DataFrame(rows, dtype=object)
    assert score(frame, "trace.relevance", variant="guide")["value"].tolist()[:2] == [0.20, 0.20]
    scores = score(frame, "trace.relevance")
    assert scores["value"].tolist() == pytest.approx([4 / 6, math.nan, math.nan], nan_ok=True)
    reasons = ["no documents_sentences", "the context has no sentence"]
    assert scores["reason"].tolist()[1:] == reasons


@pytest.mark.parametrize("options", [{}, {"variant": "guide", "unknown_keys": "drop"}])
@pytest.mark.parametrize(
    "metric", ["trace.relevance", "trace.utilization", "trace.completeness", "trace.consistency"]
)
def test_where_the_context_is_needed_a_frame_without_it_is_refused(metric, options):
    with pytest.raises(InputError, match="got a frame without documents_sentences; add"):
        score(pd.DataFrame([WALKTHROUGH]), metric, **options)


@pytest.mark.parametrize("variant", ["ragbench", "guide"])
@pytest.mark.parametrize(("metric", "share"), [("adherence", 0.0), ("supported_fraction", 2 / 3)])
def test_flags_decide_without_supporting_keys_and_nothing_decides_without_either(
    variant, metric, share
):
    replies = [flagged(True, True, True), flagged(True, True, False), flagged(True, None, True)]
    rows = [WALKTHROUGH | RESPONSE | {"sentence_support_information": reply} for reply in replies]
    scores = score(pd.DataFrame(rows), f"trace.{metric}", variant=variant)
    assert scores["value"].tolist() == pytest.approx([1.0, share, math.nan], nan_ok=True)
    assert scores["reason"].isna().tolist() == [True, True, False]
    assert scores["reason"][2] == "no label says whether a sentence is supported ('b')"
