import itertools
import math
import re

import pandas as pd
import pytest
from hostile import Reader

from ragnb.errors import InputError
from ragnb.experiments.recorded import recorded_responses
from ragnb.metrics.rgb import answer_labels, corrects_error, detects_error, is_correct, is_refusal
from ragnb.metrics.rgb_protocols import PROTOCOLS
from ragnb.text import split_reasoning
from ragnb.widgets import RgbView
from ragnb.widgets.rgb import HEADS, LONG

ELEMENTS = set("div p b i mark del span sup table tr td th details summary small".split())
SIGNS = {1.0: "✓", 0.0: "✗"}


def row(**changes):
    basis = {
        "question": "Where is the harbour?",
        "references": [["Oslo", "Kristiania"]],
        "passages": ["The harbour is in OSLO.", "It rains.", "The harbour is in Bergen."],
        "kinds": ["positive", "negative", "wrong"],
        "language": "en",
        "false_answers": ["Bergen"],
        "response": "There are factual errors: in oslo, I think.",
    }
    return basis | changes


def html(*, protocols=PROTOCOLS, **changes):
    return RgbView(row(**changes), protocols=protocols)._repr_html_()


def page(**changes):
    return Reader(html(**changes))


def plain(markup):
    """Markup without its attributes."""
    return re.sub(r'(<\w+)(?: \w+="[^"]*")+', r"\1", markup)


def cells(markup):
    """The table: a list of texts for each row."""
    rows = re.findall(r"<tr>(.*?)</tr>", plain(markup), flags=re.DOTALL)
    return [
        [Reader(cell).text for cell in re.findall(r"<t[hd]>.*?</t[hd]>", line, flags=re.DOTALL)]
        for line in rows
    ]


def said(**changes):
    """The response as it is marked."""
    return re.search(r"<b>response:</b> (.*?)</p><table>", plain(html(**changes)), flags=re.DOTALL)[
        1
    ]


# ---- what was asked and shown ------------------------------------------------------------------------------------------


def test_a_whole_page():
    assert page(protocols=["paper"]).text == (
        "Where is the harbour?answer: Oslo1 or Kristiania1 · false: Bergen≠"
        "[1] ✓ positive The harbour is in OSLO1.[2] ✗ negative It rains.[3] ≠ false The harbour is in Bergen≠."
        "response: There are factual errorsE: in oslo1, I think."
        "paperlabels of parts[1]right?✓ part 1: 'Oslo'refuses?R✗ no refusal phrase"
        "detects error?E✓ error: 'factual errors'corrected?✓ error: 'factual errors'; part 1: 'Oslo'"
    )


def test_answers_and_false_answers_are_told_apart_by_tags_and_signs():
    markup = plain(html())
    assert "<p><b>[1] ✓ positive</b> The harbour is in <mark>OSLO</mark><sup>1</sup>.</p>" in markup
    assert "<p><b>[3] ≠ false</b> The harbour is in <del>Bergen</del><sup>≠</sup>.</p>" in markup


def test_every_part_and_alias_carries_the_number_of_its_part():
    markup = plain(
        html(
            references=[["Tampa", "Tampa Bay"], "2021"],
            false_answers=[],
            passages=["tampa bay in 2021"],
            kinds=["positive"],
        )
    )
    assert (
        "answer: </b><span><mark>Tampa</mark><sup>1</sup></span> or <span><mark>Tampa Bay</mark><sup>1</sup></span>"
        in markup
    )
    assert "; and <span><mark>2021</mark><sup>2</sup></span></p>" in markup
    assert "<mark>tampa bay</mark><sup>1</sup> in <mark>2021</mark><sup>2</sup>" in markup


@pytest.mark.parametrize("nothing", [None, math.nan, []])
def test_where_there_is_no_false_answer_nothing_is_said_of_errors(nothing):
    view = page(false_answers=nothing)
    assert "false:" not in view.text
    assert "error?" not in view.text
    assert "corrected?" not in view.text
    assert "factual errorsE" not in view.text


def test_a_false_answer_may_be_a_text():
    assert html(false_answers="Bergen") == html(false_answers=["Bergen"])


def test_long_passages_are_folded_with_their_beginning_and_what_they_hold():
    long = "Oslo or Bergen? " + "e\u0301" * LONG
    markup = plain(html(passages=[long, "x" * LONG], kinds=["positive", "negative"]))
    assert markup.count("<details>") == 1
    beginning = "Oslo or Bergen? " + "e\u0301" * 44
    assert (
        f"<details><summary><b>[1] ✓ positive</b> {beginning}… <sup>1 ≠</sup></summary><p><mark>Oslo</mark>"
        in markup
    )
    assert f"<p><b>[2] ✗ negative</b> {'x' * LONG}</p>" in markup


def test_each_text_says_for_itself_which_way_it_runs():
    arabic, hebrew = "العاصمة هي باريس.", "עיר הבירה היא פריז."
    markup = html(
        question=arabic,
        passages=[hebrew, "x"],
        kinds=["wrong", "negative"],
        response=arabic,
        references=["باريس"],
    )
    assert f'<p dir="auto"><b>{arabic}</b></p>' in markup
    assert f'dir="auto" style="margin:0.4em 0"><b dir="ltr">[1] ≠ false</b> {hebrew}</p>' in markup
    assert re.search(r'<p dir="auto"[^>]*><b dir="ltr">response:</b> العاصمة هي <mark', markup)
    assert "باريس" in Reader(markup).marked


# ---- the response ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"response": "OSLO."}, "<mark>OSLO</mark><sup>1</sup>."),
        ({"response": "not Bergen"}, "<b>not </b><b><del>Bergen</del></b><sup>E ≠</sup>"),
        ({"response": "Insufficient Information"}, "<b>Insufficient Information</b><sup>R</sup>"),
        (
            {"response": "Insufficient Information", "protocols": ["released"]},
            "Insufficient Information",
        ),
        (
            {
                "response": "New York City of joy",
                "references": ["New York", "York City"],
                "false_answers": ["City of"],
            },
            "<mark>New </mark><mark>York</mark><sup>1</sup><mark> </mark><mark><del>City</del></mark><sup>2</sup>"
            "<del> of</del><sup>≠</sup> joy",
        ),
        (
            {"response": "<think>Oslo</think>Oslo", "protocols": ["paper"]},
            "&lt;think&gt;Oslo&lt;/think&gt;<mark>Oslo</mark><sup>1</sup>",
        ),
        (
            {"response": "<think>Oslo</think>Bergen", "protocols": ["released"]},
            "&lt;think&gt;<mark>Oslo</mark><sup>1</sup>&lt;/think&gt;<del>Bergen</del><sup>≠</sup>",
        ),
        (
            {
                "response": "信息 不足。事实性错误：奥斯陆",
                "language": "zh",
                "references": ["奥斯陆"],
            },
            "<b>信息 不足</b><sup>R</sup>。<b>事实性错误</b><sup>E</sup>：<mark>奥斯陆</mark><sup>1</sup>",
        ),
        ({"response": "one\n\ntwo"}, "one\n\ntwo"),
    ],
)
def test_what_decides_is_marked(changes, expected):
    assert said(**changes) == expected


# ---- the verdicts ------------------------------------------------------------------------------------------------------

ENGLISH = [
    "It is OSLO.",
    "Bergen.",
    "",
    "There are factual errors. It is Oslo.",
    "FACTUAL ERRORS. Bergen.",
    "I can not answer because of the insufficient information in documents.",
    "Insufficient information, but Oslo, not Bergen.",
    "<think>factual errors, Oslo</think>It is unclear.",
    "Oslo</think>However, Bergen is wrong.",
]
CHINESE = [
    "奥 斯 陆。",
    "卑尔根",
    "文档信息不足，无法回答。",
    "存在事实性错误。奥斯陆",
    "存在事实性 错误，卑尔根",
    "<think>奥斯陆</think>信息不足",
]
CASES = [
    *((response, "en", [["Oslo", "Kristiania"]], "Bergen") for response in ENGLISH),
    *((response, "zh", [["奥斯陆"]], "卑尔根") for response in CHINESE),
    ("باريس وليس مرسيليا", "ar", ["باريس"], "مرسيليا"),
    ("Tampa in 2021", "en", ["Tampa", "2020"], "Miami"),
]


@pytest.mark.parametrize(("response", "language", "answer", "false"), CASES)
@pytest.mark.parametrize("noise_rate", [0.0, 1.0])
def test_the_table_holds_the_values_of_the_metrics(response, language, answer, false, noise_rate):
    options = {"response": response, "language": language, "noise_rate": noise_rate}
    top, *rows = cells(html(**options, references=answer, false_answers=[false]))
    reply, (reasoning, last) = response, split_reasoning(response)
    assert cells(
        html(
            **options | {"response": last, "reasoning": reasoning},
            references=answer,
            false_answers=[false],
        )
    ) == [
        top,
        *rows,
    ]
    assert top == ["", *PROTOCOLS]
    assert [line[0] for line in rows] == ["".join(head) for head in HEADS]
    for column, protocol in enumerate(PROTOCOLS, start=1):
        how = {"language": language, "protocol": protocol}
        response = reply if protocol == "released" else last
        values = [
            is_correct(response, answer, noise_rate=noise_rate, **how),
            is_refusal(response, **how),
            detects_error(response, false_answer=false, **how),
            corrects_error(response, answer, false_answer=false, **how),
        ]
        assert rows[0][column] == str(answer_labels(response, answer, **how))
        assert [line[column].split()[0] for line in rows[1:]] == [
            SIGNS.get(value, "–") for value in values
        ]


def test_the_cases_show_every_sign_in_every_row_that_can_have_it():
    tables = [
        cells(html(response=response, language=language, references=answer, false_answers=[false]))
        for response, language, answer, false in CASES
    ]
    signs = [{cell[0] for table in tables for cell in table[line][1:]} for line in range(2, 6)]
    assert signs == [{"✓", "✗"}, {"✓", "✗"}, {"✓", "✗"}, {"✓", "✗", "–"}]


def test_a_dash_says_why_and_excused_refusals_say_so():
    rows = {
        line[0]: line[1:]
        for line in cells(html(response="Oslo; insufficient information", noise_rate=1.0))
    }
    assert rows["corrected?"][:2] == ["– no error detected"] * 2
    assert (
        rows["right?"][1]
        == "✓ refusal: 'insufficient information', counted as right at noise rate 1"
    )


@pytest.mark.parametrize(
    ("changes", "ending"),
    [
        ({"response": None, "reason": "timed out <b>"}, "? unscored (timed out <b>)"),
        ({"response": math.nan}, "? unscored (no response)"),
        (
            {"response": None, "judged_refusal": math.nan},
            "? unscored (no response)judge: refuses? – no verdict",
        ),
        ({"judged_refusal": 1}, "judge: refuses? ✓"),
        ({"judged_refusal": 0.0, "judged_detection": True}, "judge: refuses? ✗ · detects error? ✓"),
        (
            {"judged_detection": None, "judge_reason": "not JSON <i>"},
            "judge: detects error? – not JSON <i>",
        ),
        ({"judged_detection": 1.0, "judge_reason": None}, "judge: detects error? ✓"),
    ],
)
def test_missing_responses_and_verdicts_come_with_their_reason(changes, ending):
    assert page(**changes).text.endswith(ending)


def test_without_a_response_there_is_no_table():
    assert "table" not in page(response=None).elements
    asked = row()
    del asked["response"]
    assert Reader(RgbView(asked)._repr_html_()).text.endswith("not asked yet")


# ---- real responses ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["rgb_counterfactual", "rgb_rejection", "rgb_integration", "rgb_zh_counterfactual"]
)
def test_recorded_responses_are_shown(name):
    for _, each in itertools.islice(recorded_responses(name).iterrows(), 0, None, 9):
        markup = RgbView(each)._repr_html_()
        view = Reader(markup)
        assert set(view.elements) <= ELEMENTS
        assert len(cells(markup)) == (6 if each["false_answers"] else 4)
        assert ("judge: " in view.text) == (
            ("judged_refusal" in each) or ("judged_detection" in each)
        )


def test_the_same_row_gives_the_same_page():
    assert html() == html()
    assert RgbView(pd.DataFrame([row()]).iloc[0])._repr_html_() == html()
    assert repr(RgbView(row())) == "RgbView('Where is the harbour?', 3 passages)"


# ---- hostile text ------------------------------------------------------------------------------------------------------


# ---- what is refused ---------------------------------------------------------------------------------------------------


def test_a_missing_column_is_refused():
    incomplete = row()
    del incomplete["passages"]
    with pytest.raises(InputError, match=r"RgbView.*without passages;"):
        RgbView(incomplete)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protocols": ("paper", "strict")}, "protocol must be one of .* got 'strict'"),
        ({"kinds": ["positive"]}, "one kind .* for each of 3 passages"),
        ({"kinds": ["positive", "negative", "false"]}, "one kind of positive, negative, wrong"),
        ({"false_answers": [""]}, "false answer must"),
        ({"response": None, "false_answers": [""]}, "false answer must"),
    ],
)
def test_what_makes_no_sense_is_refused_when_the_view_is_made(changes, message):
    with pytest.raises(InputError, match=message):
        html(**changes)
