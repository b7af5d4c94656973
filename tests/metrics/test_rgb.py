import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.metrics.rgb import (
    FOUND,
    NOT_FOUND,
    REFUSED,
    answer_evidence,
    answer_labels,
    answer_parts,
    is_correct,
    is_refusal,
)

REFUSAL_EN = "I can not answer the question because of the insufficient information in documents."
REFUSAL_ZH = "文档信息不足，因此我无法基于提供的文档回答该问题。"

# Σ is lower-cased by its neighbours and `<` may open a think-block: neither belongs to what these properties say.
letters = st.text(st.characters(exclude_characters="Σ< ", exclude_categories=["Cs"]), min_size=1).filter(str.strip)
answers = st.lists(letters | st.lists(letters, min_size=1, max_size=3), min_size=1, max_size=4)


# ---- the answer --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ("Tampa", [["Tampa"]]),
        (["a", "b"], [["a"], ["b"]]),
        ([["a", "b"]], [["a", "b"]]),
        ([["a", "b"], "c"], [["a", "b"], ["c"]]),
        (("a", ("b", "c")), [["a"], ["b", "c"]]),
    ],
)
def test_top_level_elements_are_parts_and_inner_ones_aliases(answer, parts):
    assert answer_parts(answer) == parts


@pytest.mark.parametrize(
    "answer",
    ["", " \n", [], [[]], [""], ["a", ""], [["a", " "]], ["a", []], [["a", 3]], [3], 3, None, [None], b"a"],
    ids=repr,
)
def test_an_answer_that_every_response_or_none_would_hold_is_refused(answer):
    for function in (answer_labels, is_correct, answer_evidence):
        with pytest.raises(InputError, match="answer"):
            function("some response", answer)


# ---- labels and accuracy -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "answer", "labels"),
    [
        ("It was in Tampa.", "Tampa", [1]),
        ("It was in TAMPA.", "tampa", [1]),
        ("It was in Miami.", "Tampa", [0]),
        ("", "Tampa", [0]),
        # parts are ANDed
        ("a and b", ["a and", "b"], [1, 1]),
        ("only xx", ["xx", "yy"], [1, 0]),
        ("neither", ["xx", "yy"], [0, 0]),
        # aliases are ORed
        ("on 2 Jan 2022", [["January 2, 2022", "2 Jan 2022"]], [1]),
        ("on 3 Jan 2022", [["January 2, 2022", "2 Jan 2022"]], [0]),
        ("xx zz", [["xx", "yy"], ["zz"], ["ww", "vv"]], [1, 1, 0]),
        # a substring is enough, of another word too
        ("1999", "99", [1]),
        ("Tam pa", "Tampa", [0]),
        ("Tampa\nFlorida", "Tampa Florida", [0]),
        # letters of every script, compared as lower-cased and not otherwise folded
        ("ПЁТР Великий", "пётр", [1]),
        ("Straße", "STRASSE", [0]),
        ("cafe\u0301", "café", [0]),
        ("इसका उत्तर दिल्ली है", "दिल्ली", [1]),
        ("🇫🇷 won", "🇫🇷", [1]),
        # a refusal has one label, whatever else it says
        (REFUSAL_EN, "Tampa", [-1]),
        (REFUSAL_EN, ["a", "b", "c"], [-1]),
        ("INSUFFICIENT Information; perhaps Tampa", "Tampa", [-1]),
        (REFUSAL_ZH, "Tampa", [-1]),
        ("insufficient  information", "Tampa", [0]),  # two spaces: not the phrase
        ("I can not answer.", "Tampa", [0]),  # half of the sentence: not the phrase
    ],
)
def test_each_part_is_labelled_under_the_papers_protocol(response, answer, labels):
    assert answer_labels(response, answer) == labels
    right = 0 not in labels and 1 in labels
    assert is_correct(response, answer) == float(right)
    assert is_refusal(response) == (labels == [-1])


@pytest.mark.parametrize(
    ("response", "answer", "language", "labels"),
    [
        ("答案是 1 月 3 日", "1月3日", "zh", [1]),
        ("答案是 1 月 3 日", "1月3日", "en", [0]),
        ("答案是TomHanks", "Tom Hanks", "zh", [0]),  # spaces go from the response alone
        ("答案是Tom Hanks", "Tom Hanks", "zh", [0]),
        ("答案是Tom Hanks", "tomhanks", "zh", [1]),
        ("答案是1\u3000月", "1月", "zh", [0]),  # no other space goes
        ("答案是1\n月", "1月", "zh", [0]),
        ("信 息 不 足", "1月", "zh", [-1]),
        ("信 息 不 足", "1月", "en", [0]),
        (REFUSAL_ZH + "1月", "1月", "zh", [-1]),
        ("1 月", "1月", "zh-TW", [1]),
    ],
)
def test_spaces_are_removed_from_chinese_responses_only(response, answer, language, labels):
    assert answer_labels(response, answer, language=language) == labels


@pytest.mark.parametrize(
    ("response", "labels"),
    [
        ("<think>Tampa? No.</think>Miami", [0]),
        ("<think>Miami?</think>Tampa", [1]),
        ("<think>insufficient information?</think>Tampa", [1]),
        ("<THINK>Tampa\nor so</THINK> Miami", [0]),
        ("<think>Tampa, surely", [0]),
        ("Tampa <think>wait, insufficient information", [1]),
        ("<think>a</think>Tam<think>b</think>pa", [1]),
        ("I think Tampa", [1]),
    ],
)
def test_reasoning_counts_neither_for_nor_against_a_response(response, labels):
    assert answer_labels(response, "Tampa") == labels


def test_a_missing_response_has_no_accuracy():
    assert math.isnan(is_correct(None, "Tampa"))
    assert answer_evidence(None, "Tampa") == "no response"


@pytest.mark.parametrize("response", [3, 1.0, math.nan, b"Tampa", ["Tampa"], True])
def test_a_response_that_is_no_text_is_refused(response):
    for function in (is_correct, answer_labels, answer_evidence):
        with pytest.raises(InputError, match=rf"response.*{type(response).__name__}.*None"):
            function(response, "Tampa")


@pytest.mark.parametrize("protocol", ["Paper", "", None, "sacred"])
def test_an_unknown_protocol_is_refused_with_the_known_ones(protocol):
    for call in (is_correct, answer_labels, answer_evidence):
        with pytest.raises(InputError, match=r"protocol.*paper"):
            call("Tampa", "Tampa", protocol=protocol)
    with pytest.raises(InputError, match=r"protocol.*paper"):
        is_refusal("Tampa", protocol=protocol)


@pytest.mark.parametrize(
    ("response", "answer", "words"),
    [
        ("It was in Tampa.", [["Florida", "Tampa"], "2021"], "part 1: 'Tampa'; part 2: not found"),
        ("tampa 2021", ["Tampa", "2021"], "part 1: 'Tampa'; part 2: '2021'"),
        (REFUSAL_EN, ["Tampa"], "refusal: 'insufficient information'"),
        (REFUSAL_ZH, ["Tampa"], "refusal: '信息不足'"),
    ],
)
def test_the_evidence_names_what_decided(response, answer, words):
    assert answer_evidence(response, answer) == words


# ---- properties --------------------------------------------------------------------------------------------------------


@given(answers, st.data(), st.sampled_from(["en", "zh"]))
def test_a_response_that_holds_one_alias_of_every_part_is_right(answer, data, language):
    chosen = [data.draw(st.sampled_from(part)) for part in answer_parts(answer)]
    response = "; ".join(data.draw(st.permutations(chosen)))
    assume(not is_refusal(response, language=language))
    for said in (response, response.upper() if response.upper().lower() == response.lower() else response):
        assert answer_labels(said, answer, language=language) == [FOUND] * len(answer)
        assert is_correct(said, answer, language=language) == 1.0


@given(st.text(), answers, st.sampled_from(["en", "zh", "de"]))
def test_a_response_has_one_label_a_part_or_is_a_refusal(response, answer, language):
    labels = answer_labels(response, answer, language=language)
    assert labels == [REFUSED] or len(labels) == len(answer)
    assert set(labels) <= {FOUND, NOT_FOUND} or labels == [REFUSED]
    assert is_correct(response, answer, language=language) == float(set(labels) == {FOUND})


@given(answers, letters, letters)
def test_a_refusal_is_never_right_even_when_it_holds_the_answer(answer, before, after):
    held = " ".join(alias for part in answer_parts(answer) for alias in part)
    assert is_correct(f"{before} {held} {REFUSAL_EN} {after}", answer) == 0.0


@given(st.text(st.characters(exclude_characters="<>")), st.text(st.characters(exclude_characters="<>")), answers)
def test_a_think_block_changes_nothing(thought, said, answer):
    assert answer_labels(f"<think>{thought}</think>{said}", answer) == answer_labels(said, answer)


def test_reasoning_whose_opening_tag_stood_in_the_prompt_is_stripped():
    assert is_correct("It may be Oslo. </think> Bergen.", "Oslo") == 0.0
    assert is_correct("It may be Oslo. </think> Bergen.", "Bergen") == 1.0
