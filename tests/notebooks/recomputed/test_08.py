"""Numbers of notebook 08, computed from its replies without the functions of ragnb that computed them there.

Its table of right answers by language is checked in test_07.py.
"""

import re
import unicodedata

import numpy as np
import pytest
from support.by_hand import cluster_interval
from support.printed import NOTEBOOKS, follow

import ragnb
from ragnb.experiments import recorded_responses

SCRIPTS = {
    "en": "LATIN",
    "de": "LATIN",
    "ru": "CYRILLIC",
    "zh": "CJK",
    "ar": "ARABIC",
    "hi": "DEVANAGARI",
}


@pytest.fixture(scope="module")
def replies():
    """The recorded replies, with 1 if at least 0.6 of the letters are in a script of the language."""
    frame = recorded_responses("multilingual")
    kept = []
    for text, language in zip(frame["response"], frame["language"], strict=True):
        letters = [unicodedata.name(c) for c in text if unicodedata.category(c)[0] == "L"]
        in_script = [name.startswith(SCRIPTS[language]) for name in letters]
        kept.append(float(np.mean(in_script) >= 0.6) if letters else np.nan)
    return frame.assign(kept=kept)


@pytest.mark.parametrize("system", ["direct", "multi", "lbrag"])
def test_differences_to_the_system_with_translated_passages(replies, system):
    wide = replies.pivot(index=["question_id", "example_id"], columns="system", values="kept")
    gap = (wide[system] - wide["cross"]).dropna()
    numbers = cluster_interval(gap, gap.index.get_level_values(0))
    follow("08", "pairs", f"{system} cross ", numbers)


def test_multi_and_cross_differ_only_in_the_language_of_the_passages(replies):
    multi, cross = (
        replies[replies["system"] == system].set_index("example_id").sort_index()
        for system in ("multi", "cross")
    )
    for column in ("passage_ids", "parameters", "template"):
        assert (multi[column].map(str) == cross[column].map(str)).all(), column
    translated = cross["translations"].map(len)
    assert (multi["translations"].map(len) == 0).all()
    assert (translated > 0).mean() > 0.85


def test_what_is_said_of_the_labels_and_of_a_single_letter():
    path = NOTEBOOKS / "08_in_the_right_language.ipynb"
    text = path.read_text("utf-8")
    labelled = ragnb.load_study("sample-labelled-multilingual")
    assert set(labelled["system"]) == {"direct", "multi", "cross"}
    assert f"the {len(labelled)} replies of `direct`, `multi` and `cross`" in text
    arabic = ragnb.load_study("nomiracl").query("system == 'aya-101' and language == 'ar'")
    single = arabic[arabic["response"].str.strip() == "I"]
    assert re.search(rf"In Arabic.+?{len(single)} replies are the single letter \*I\*", text)
    candidates = ["ar", "de", "en", "es", "hi", "ja", "ru", "zh"]
    scores = ragnb.score(single, "language.rlc_lid", candidates=candidates)
    assert scores["value"].eq(1).all()
