"""TRACe through `score`: what gaps in the labels leave undefined, and the reasons."""

import math

import pandas as pd
import pytest

from ragnb.errors import InputError
from ragnb.scoring import score


def flagged(*flags):
    both = zip("abc", flags, strict=True)
    return [{"response_sentence_key": key, "fully_supported": flag} for key, flag in both]


WALKTHROUGH = {  # the visual guide's example, as a simplified labelling reply has it
    "all_relevant_sentence_keys": ["0b", "0c", "1a", "1b"],
    "all_utilized_sentence_keys": ["0b", "0c", "1a"],
    "sentence_support_information": flagged(True, True, False),
}


def test_a_row_without_documents_is_scored_by_the_guide_and_has_a_reason_under_the_benchmark():
    documents = [[[f"{d}{s}", "Text."] for s in "abc"] for d in (0, 1)]
    rows = [WALKTHROUGH | {"documents_sentences": given} for given in (documents, None, [])]
    frame = pd.DataFrame(rows, dtype=object)
    assert score(frame, "trace.relevance", variant="guide")["value"].tolist()[:2] == [0.20, 0.20]
    scores = score(frame, "trace.relevance")
    assert scores["value"].tolist() == pytest.approx([4 / 6, math.nan, math.nan], nan_ok=True)
    reasons = ["no documents_sentences", "the context has no sentence"]
    assert scores["reason"].tolist()[1:] == reasons
    without = frame.drop(columns="documents_sentences")
    with pytest.raises(InputError, match="got a frame without documents_sentences; add"):
        score(without, "trace.relevance", variant="guide", unknown_keys="drop")


@pytest.mark.parametrize("variant", ["ragbench", "guide"])
def test_without_a_label_of_a_sentence_there_is_a_reason(variant):
    replies = [flagged(True, True, False), flagged(True, None, True)]
    rows = [WALKTHROUGH | {"sentence_support_information": reply} for reply in replies]
    scores = score(pd.DataFrame(rows), "trace.adherence", variant=variant)
    assert scores["value"].tolist() == pytest.approx([0.0, math.nan], nan_ok=True)
    assert scores["reason"][1] == "no label says whether a sentence is supported ('b')"
