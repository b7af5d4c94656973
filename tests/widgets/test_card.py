"""The card of a response, and what the rest of its frame adds to it."""

import re

import numpy as np
import pandas as pd
import pytest
import regex
from support.hostile import Reader

import ragnb
from ragnb.errors import InputError
from ragnb.widgets.card import _verdicts
from ragnb.widgets.rows import DIFFER, Rows

SYSTEMS = pd.DataFrame(
    {
        "example_id": ["e/1", "e/2", "e/3", "e/1", "e/2", "e/3"],
        "question": ["Who?", "Where?", "When?"] * 2,
        "references": [["Ann"], ["Oslo"], ["1925"]] * 2,
        "system": ["plain"] * 3 + ["rag"] * 3,
        "response": ["It was Ann.", "In Rome.", "No.", "It was Ann Lee.", "In Oslo.", None],
        "label": [1, 0, 0, 1, 1, None],
        "answer.f1": [0.8, 0.0, np.nan, 0.5, 1.0, np.nan],
    }
)


def page(shown):
    return Reader(shown._page.value)


def test_the_answers_of_two_systems_are_side_by_side_with_the_words_that_differ():
    shown = ragnb.view(SYSTEMS)
    markup = shown._page.value
    assert re.findall("<ins>(.*?)</ins>", markup) == ["Lee", "underlined"]
    assert "responseIt was Ann1.rag ✓ labelIt was Ann1 Lee." in page(shown).text
    assert shown._rows.others(2)[0][0] == "rag"


def test_what_changed_between_two_systems_is_a_filter_an_order_and_a_start():
    rows = Rows(SYSTEMS)
    combined = rows.choices[DIFFER]
    shown = [combined.names[code] for code in combined.codes]
    assert shown == ["plain ✓ · rag ✓", "plain ✗ · rag ✓", "plain ✗ · rag –"] * 2
    assert rows.found("", {}, f"-{DIFFER}").tolist() == [1, 4, 0, 2, 3, 5]
    assert ragnb.view(SYSTEMS, changed=["rag", "plain"]).rows.index.tolist() == [4]
    labelled = ragnb.load_study("sample-labelled-en")
    table = labelled.pivot(index=["example_id", "noise_rate"], columns="system", values="label")
    changed = ragnb.view(labelled, changed=["plain", "answer"])
    assert len(changed.rows) == (table["plain"] != table["answer"]).sum()
    assert set(changed.rows["system"]) == {"plain"}


def test_two_systems_with_the_same_start_of_a_long_name_are_compared():
    prefix = "a system with a long description, " * 10
    names = {"plain": f"{prefix} 1", "rag": f"{prefix} 2"}
    frame = SYSTEMS.assign(system=SYSTEMS["system"].map(names))
    assert len(ragnb.view(frame)._rows.choices[DIFFER].names) == 3
    changed = [names["rag"], names["plain"]]
    assert ragnb.view(frame, changed=changed).rows.index.tolist() == [4]


@pytest.mark.parametrize("changed", [["rag"], ["rag", "plain", "rag"]])
def test_changed_needs_two_systems(changed):
    with pytest.raises(InputError, match="changed must be two of the systems plain, rag, got"):
        ragnb.view(SYSTEMS, changed=changed)


def test_the_head_of_a_judged_card_has_each_verdict_once():
    row = {
        "question": "Who?",
        "response": "Ann.",
        "judged_by": "judged_correct",
        "judge_score": 1.0,
    }
    row |= {"judge_verdict": 1, "human_label": 0, "annotations": {}, "disagreement": 1}
    row |= {"label": 0, "judged_correct": 1}
    assert list(_verdicts(row, {"judge": {}})) == [("✗", "human label"), ("✓", "judge verdict")]
    assert [name for _, name in _verdicts(row, {})] == [
        *("label", "human label", "judged correct", "judge verdict")
    ]


def test_verdicts_of_people_and_judges_on_one_response_are_a_filter():
    frame = SYSTEMS.assign(judged_correct=[1, 1, None, 0, 1, 0])
    both = Rows(frame).choices["label / judged_correct"]
    assert [both.names[code] for code in both.codes] == [
        f"label {label} · judged_correct {judge}" for label, judge in ("✓✓", "✗✓", "✗–", "✓✗", "✓✓", "–✗")
    ]  # fmt: skip
    # A report on judges repeats the label and the verdict under other names.
    repeated = frame.assign(human_label=frame["label"], judge_verdict=frame["judged_correct"])
    choices = Rows(repeated).choices
    assert choices["label / judged_correct"].names == both.names
    assert [name for name in choices if "/" in str(name)] == ["label / judged_correct"]


def test_a_score_comes_with_its_definition_and_its_place_among_the_others():
    (score,) = Rows(SYSTEMS).scores(0)
    assert (score["name"], score["value"], score["note"]) == (
        "answer.f1",
        "0.8",
        "above 50% of the rows",
    )
    assert "Better if higher." in score["meaning"]
    heights, here = zip(*score["bars"], strict=True)
    assert [height > 0 for height in heights].count(True) == 4
    assert here.index(True) == np.histogram_bin_edges([0, 1], 12).searchsorted(0.8, "right") - 1
    assert list(Rows(SYSTEMS).scores(2)) == []


def test_values_of_one_metric_are_not_among_those_of_another():
    scores = ragnb.score(SYSTEMS.drop(columns="answer.f1"), ["answer.f1", "answer.exact_match"])
    rows, place = Rows(scores), int(np.flatnonzero(scores["metric"] == "answer.exact_match")[0])
    values = scores.loc[scores["metric"] == "answer.exact_match", "value"].dropna()
    below = (values < scores["value"][place]).mean()
    assert next(rows.scores(place))["note"] == f"above {below:.0%} of the rows"


def test_claims_and_citations_light_up_with_what_they_are_about():
    parts = [{"text": "Ann did it", "label": "supported"}, {"text": "She was 30", "label": "not"}]
    row = {
        "question": "Who?",
        "response": "Ann did it [2].",
        "passages": ["a", "b"],
        "parts": parts,
    }
    markup = ragnb.view(row)._repr_html_()
    linked = regex.findall(
        r'<span class="(r-.\d)" tabindex="0" role="mark" aria-describedby="(\w+)-(r-..)">(.*?)</span>',
        markup,
    )
    card = linked[0][1]
    assert linked == [("r-c0", card, "r-c0", "Ann did it"), ("r-k2", card, "r-k2", "[2]")]
    assert f'class="r-sentence r-c0" id="{card}-r-c0" tabindex="0">Ann did it <small' in markup
    assert f'<details class="r-passage  r-k2" ><summary id="{card}-r-k2">' in markup
    assert ".ragnb-card:has(.r-k2:is(:hover,:focus-within)) .r-k2" in markup


@pytest.mark.parametrize(
    ("columns", "signs"),
    [
        ({"kinds": ["positive", "wrong"]}, ["✓ contains the answer", "≠ states a false answer"]),
        ({"retrieved": ["x", "y"], "relevant": ["y"]}, ["✗ not relevant", "✓ relevant"]),
        ({"passage_ids": ["x", "y"], "relevant": {"x": 2}}, ["✓ relevant", "✗ not relevant"]),
        ({}, ["", ""]),
    ],
)
def test_passages_have_their_rank_and_whether_they_help(columns, signs):
    row = {"question": "Who?", "response": "Ann", "passages": ["Ann", "Bo"]} | columns
    found = re.findall(r'<b dir="ltr">(\[\d\]) (.*?)</b>', ragnb.view(row)._repr_html_())
    assert found == [("[1]", signs[0]), ("[2]", signs[1])]


def test_earlier_turns_of_a_conversation_are_above_the_question():
    study = ragnb.load_study("mtrag")
    row = study[study["turn"] == 2].iloc[0]
    text = Reader(ragnb.view(row)._repr_html_()).text
    first, answer = (turn["content"].strip() for turn in row["history"])
    assert text.index(first) < text.index(answer) < text.index(row["question"])
    assert "2 earlier turns" in text


def test_a_judge_says_why_on_every_card():
    row = {"question": "Who?", "response": "Ann.", "judged_correct": 0}
    shown = Reader(ragnb.view(row | {"judge_explanation": "The reference is Bo."})._repr_html_())
    assert "the judge's reason The reference is Bo." in shown.text
    shown = Reader(ragnb.view(row | {"judge_reason": "the reply is empty"})._repr_html_())
    assert "no verdict of the judge, because the reply is empty" in shown.text


def test_labels_of_people_in_words_are_signs_on_a_card():
    row = {"question": "Who?", "response": "Ann.", "judged_by": "judge.correct", "judge_score": 1.0}
    row |= {"judge_verdict": 1, "human_label": "yes", "disagreement": 0}
    row["annotations"] = {"ana": "incorrect", "ben": "perhaps", "cy": True, "di": None}
    shown = Reader(ragnb.view(row)._repr_html_())
    assert "label ✓ · ana ✗ · ben – · cy ✓ · di –" in shown.text
