"""TRACe through `score`: what labels alone give, and what their gaps leave undefined."""

import math

import pandas as pd
import pytest

from ragnb.scoring import score


def flagged(*flags):
    both = zip("abc", flags, strict=True)
    return [{"response_sentence_key": key, "fully_supported": flag} for key, flag in both]


WALKTHROUGH = {  # the visual guide's example, as a simplified labelling reply has it
    "all_relevant_sentence_keys": ["0b", "0c", "1a", "1b"],
    "all_utilized_sentence_keys": ["0b", "0c", "1a"],
    "sentence_support_information": flagged(True, True, False),
}
RESPONSE = {"response_sentences": [["a", "A."], ["b", "B."], ["c", "C."]]}


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
