"""TRACe through `score`: what labels alone give, and what their gaps leave undefined."""

import math

import pandas as pd
import pytest

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
    assert scores["reason"][2].startswith("a sentence has no label")
