import math

import pytest
from support.reading import parsed, tables, texts

from ragnb.metrics import (
    PROTOCOLS,
    answer_labels,
    corrects_error,
    detects_error,
    is_correct,
    is_refusal,
)
from ragnb.text import split_reasoning
from ragnb.widgets import Card
from ragnb.widgets.pages import sign
from ragnb.widgets.rgb import HEADS

ROW = {
    "question": "Where is the harbour?",
    "references": [["Oslo", "Kristiania"]],
    "language": "en",
    "false_answers": ["Bergen"],
    "passages": ["The harbour is in OSLO.", "It rains.", "The harbour is in Bergen."],
    "kinds": ["positive", "negative", "wrong"],
    "response": "There are factual errors: in oslo, I think.",
}


def card(*, protocols=PROTOCOLS, **changes):
    return parsed(Card(ROW | changes, "rgb", protocols=protocols))


def test_a_whole_card():
    page = card(protocols=["paper"])
    page.style.decompose()
    assert page.get_text() == (
        "language en ✓ correct, protocol paper Where is the harbour?answer Oslo1 or Kristiania1false Bergen≠"
        "responseThere are factual errorsE: in oslo1, I think."
        "paperparts found✓correct?✓ part 1: 'Oslo'refuses?R✗ no refusal phrase"
        "detects error?E✓ error: 'factual errors'corrected?✓ error: 'factual errors'; part 1: 'Oslo'"
        "passages[1] ✓ contains the answer matched: OSLO The harbour is in OSLO.…The harbour is in OSLO1."
        "[2] ✗ noise It rains.…It rains."
        "[3] ≠ states a false answer matched: Bergen The harbour is in Bergen.…The harbour is in Bergen≠."
    )


def test_passages_with_evidence_are_open():
    page = card(passages=["e\u0301" * 400, "x Oslo"], kinds=["positive", "negative"])
    assert [one.has_attr("open") for one in page.select(".r-passage")] == [False, True]
    assert "closed book" in card(passages=[], kinds=[]).get_text()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"response": "not Bergen"}, '<b class="r-error">not </b><b class="r-error"><del>Bergen</del></b><sup>E ≠</sup>'),
        ({"response": "Insufficient Information"}, '<b class="r-refusal">Insufficient Information</b><sup>R</sup>'),
        ({"response": "Insufficient Information", "protocols": ["released"]}, "Insufficient Information"),
        ({"response": "<think>Oslo</think>Oslo", "protocols": ["paper"]}, "<mark>Oslo</mark><sup>1</sup>"),
        ({"response": "one\n\ntwo"}, "one\n\ntwo"),
    ],
)  # fmt: skip
def test_what_decides_is_marked(changes, expected):
    assert card(**changes).select(".r-answer > .r-text")[0].decode_contents() == expected


CASES = [
    *(
        (response, "en", [["Oslo", "Kristiania"]], "Bergen")
        for response in [
            "It is OSLO.",
            "",
            "Insufficient information, but Oslo, not Bergen.",
            "<think>factual errors, Oslo</think>It is unclear.",
            "Oslo</think>However, Bergen is wrong.",
        ]
    ),
    *(
        (response, "zh", [["奥斯陆"]], "卑尔根")
        for response in ["奥 斯 陆。", "存在事实性 错误，卑尔根", "<think>奥斯陆</think>信息不足"]
    ),
    ("باريس وليس مرسيليا", "ar", ["باريس"], "مرسيليا"),
    ("Tampa in 2021", "en", ["Tampa", "2020"], "Miami"),
]


@pytest.mark.parametrize(("response", "language", "answer", "false"), CASES)
@pytest.mark.parametrize("noise_rate", [0.0, 1.0])
def test_the_table_has_the_values_of_the_metrics(response, language, answer, false, noise_rate):
    given = {"language": language, "noise_rate": noise_rate, "references": answer}
    given["false_answers"] = [false]
    ((top, *rows),) = tables(card(response=response, **given))
    reasoning, last = split_reasoning(response)
    assert tables(card(response=last, reasoning=reasoning, **given)) == [[top, *rows]]
    assert top == ["", *PROTOCOLS]
    assert [row[0] for row in rows] == ["".join(head) for head in HEADS]
    for column, protocol in enumerate(PROTOCOLS, start=1):
        how = {"language": language, "protocol": protocol}
        text = response if protocol == "released" else last
        values = [
            is_correct(text, answer, noise_rate=noise_rate, **how),
            is_refusal(text, **how),
            detects_error(text, false_answer=false, **how),
            corrects_error(text, answer, false_answer=false, **how),
        ]
        words = {1: "✓", 0: "✗", -1: "refusal"}
        labels = answer_labels(text, answer, **how)
        assert rows[0][column] == " ".join(words[label] for label in labels)
        assert [row[column].split()[0] for row in rows[1:]] == [sign(value) for value in values]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"response": None, "reason": "timed out <b>"}, "? unscored (timed out <b>)"),
        ({"response": math.nan}, "? unscored (no response)"),
    ],
)
def test_missing_responses_come_with_their_reason(changes, said):
    page = card(**changes)
    assert said in texts(page, ".r-part")
    assert page.table is None
