import math
import re

import pytest
from hostile import Reader, any_text
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.metrics.rgb import answer_labels, corrects_error, detects_error, is_correct, is_refusal
from ragnb.metrics.rgb_protocols import PROTOCOLS
from ragnb.text import split_reasoning
from ragnb.widgets import RgbView
from ragnb.widgets.pages import LONG, sign
from ragnb.widgets.rgb import HEADS, evidence_spans

ROW = {
    "question": "Where is the harbour?",
    "references": [["Oslo", "Kristiania"]],
    "language": "en",
    "false_answers": ["Bergen"],
    "passages": ["The harbour is in OSLO.", "It rains.", "The harbour is in Bergen."],
    "kinds": ["positive", "negative", "wrong"],
    "response": "There are factual errors: in oslo, I think.",
}


def html(*, protocols=PROTOCOLS, **changes):
    return RgbView(ROW | changes, protocols=protocols)._repr_html_()


def page(**changes):
    return Reader(html(**changes))


def plain(markup):
    """Markup without its attributes."""
    return re.sub(r'(<\w+)(?: \w+="[^"]*")+', r"\1", markup)


def cells(markup):
    """The table: a list of texts for each row."""
    rows = re.findall(r"<tr>(.*?)</tr>", plain(markup), re.DOTALL)
    return [
        [Reader(cell).text for cell in re.findall(r"<t[hd]>.*?</t[hd]>", row, re.DOTALL)]
        for row in rows
    ]


def said(**changes):
    """The response as it is marked."""
    return re.search(r"<b>response:</b> (.*?)</p><table>", plain(html(**changes)), re.DOTALL)[1]


# ---- what was asked and shown ------------------------------------------------------------------------------------------


def test_a_whole_page():
    shown = RgbView(ROW, protocols=["paper"])
    assert Reader(shown._repr_html_()).text == (
        "Where is the harbour?answer: Oslo1 or Kristiania1 · false: Bergen≠"
        "[1] ✓ positive The harbour is in OSLO1.[2] ✗ negative It rains.[3] ≠ false The harbour is in Bergen≠."
        "response: There are factual errorsE: in oslo1, I think."
        "paperlabels of parts[1]right?✓ part 1: 'Oslo'refuses?R✗ no refusal phrase"
        "detects error?E✓ error: 'factual errors'corrected?✓ error: 'factual errors'; part 1: 'Oslo'"
    )
    assert repr(shown) == "RgbView('Where is the harbour?', 3 passages)"
    assert "<b>[3] ≠ false</b> The harbour is in <del>Bergen</del><sup>≠</sup>.</p>" in plain(
        html()
    )


def test_long_passages_are_folded_with_their_beginning_and_what_they_hold():
    long = "Oslo or Bergen? " + "e\u0301" * LONG
    markup = plain(html(passages=[long, "x" * LONG], kinds=["positive", "negative"]))
    assert markup.count("<details>") == 1
    beginning = "Oslo or Bergen? " + "e\u0301" * 44
    summary = f"<summary><b>[1] ✓ positive</b> {beginning}… <sup>1 ≠</sup></summary>"
    assert f"<details>{summary}<p><mark>Oslo</mark>" in markup
    assert "closed book" in page(passages=[], kinds=[]).text


def test_each_text_says_for_itself_which_way_it_runs():
    arabic = "العاصمة هي باريس."
    markup = html(
        question=arabic, passages=[arabic], kinds=["wrong"], response=arabic, references=["باريس"]
    )
    assert re.search(rf'<p dir="auto" [^>]*><b>{arabic}</b></p>', markup)
    for key in (r"\[1\] ≠ false", "response:"):
        assert re.search(rf'<p dir="auto"[^>]*><b dir="ltr">{key}</b> العاصمة هي <mark', markup)


# ---- the response ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"response": "not Bergen"}, "<b>not </b><b><del>Bergen</del></b><sup>E ≠</sup>"),
        ({"response": "Insufficient Information"}, "<b>Insufficient Information</b><sup>R</sup>"),
        ({"response": "Insufficient Information", "protocols": ["released"]},
         "Insufficient Information"),
        ({"response": "<think>Oslo</think>Oslo", "protocols": ["paper"]},
         "&lt;think&gt;Oslo&lt;/think&gt;<mark>Oslo</mark><sup>1</sup>"),
        ({"response": "<think>Oslo</think>Bergen", "protocols": ["released"]},
         "&lt;think&gt;<mark>Oslo</mark><sup>1</sup>&lt;/think&gt;<del>Bergen</del><sup>≠</sup>"),
        ({"response": "one\n\ntwo"}, "one\n\ntwo"),
    ],
)  # fmt: skip
def test_what_decides_is_marked(changes, expected):
    assert said(**changes) == expected


# ---- the verdicts ------------------------------------------------------------------------------------------------------

ENGLISH = [
    "It is OSLO.",
    "",
    "Insufficient information, but Oslo, not Bergen.",
    "<think>factual errors, Oslo</think>It is unclear.",
    "Oslo</think>However, Bergen is wrong.",
]
CHINESE = ["奥 斯 陆。", "存在事实性 错误，卑尔根", "<think>奥斯陆</think>信息不足"]
CASES = [
    *((response, "en", [["Oslo", "Kristiania"]], "Bergen") for response in ENGLISH),
    *((response, "zh", [["奥斯陆"]], "卑尔根") for response in CHINESE),
    ("باريس وليس مرسيليا", "ar", ["باريس"], "مرسيليا"),
    ("Tampa in 2021", "en", ["Tampa", "2020"], "Miami"),
]


@pytest.mark.parametrize(("response", "language", "answer", "false"), CASES)
@pytest.mark.parametrize("noise_rate", [0.0, 1.0])
def test_the_table_holds_the_values_of_the_metrics(response, language, answer, false, noise_rate):
    given = {
        "language": language,
        "noise_rate": noise_rate,
        "references": answer,
        "false_answers": [false],
    }
    top, *rows = table = cells(html(response=response, **given))
    reasoning, last = split_reasoning(response)
    assert cells(html(response=last, reasoning=reasoning, **given)) == table
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
        assert rows[0][column] == str(answer_labels(text, answer, **how))
        assert [row[column].split()[0] for row in rows[1:]] == [sign(value) for value in values]


@pytest.mark.parametrize(
    ("changes", "ending"),
    [
        ({"response": None, "reason": "timed out <b>"}, "? unscored (timed out <b>)"),
        ({"response": math.nan, "judged_refusal": math.nan}, "? unscored (no response)judge: refuses? – no verdict"),
        ({"judged_refusal": 0.0, "judged_detection": True}, "judge: refuses? ✗ · detects error? ✓"),
        ({"judged_detection": None, "judge_reason": "not JSON <i>"}, "judge: detects error? – not JSON <i>"),
        ({"judged_detection": 1.0, "judge_reason": None}, "judge: detects error? ✓"),
    ],
)  # fmt: skip
def test_missing_responses_and_verdicts_come_with_their_reason(changes, ending):
    view = page(**changes)
    assert view.text.endswith(ending)
    assert ("table" in view.elements) == ("response" not in changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protocols": ("paper", "strict")}, "protocol must be one of .* got 'strict'"),
        ({"kinds": ["positive"]}, "one of the kinds .* for each of 3 passages"),
        ({"false_answers": [""]}, "false answer must"),
    ],
)
def test_what_makes_no_sense_is_refused_when_the_view_is_made(changes, message):
    with pytest.raises(InputError, match=message):
        html(**changes)


# ---- where the evidence is ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "answer", "options", "expected"),
    [
        ("2021 in Tampa Bay", [["Tampa Bay", "Tampa"], "2021"], {}, [("2021", "part 2"), ("Tampa Bay", "part 1")]),
        ("Tampa Bay", [["Tampa", "Tampa Bay"]], {}, [("Tampa", "part 1")]),  # the first alias given decides
        ("It was Not Bergen", "-", {"false_answer": "Bergen", "protocol": "flexible"},
         [("Not Bergen", "error"), ("Bergen", "false answer")]),
        # Chinese: spaces are removed from the response, the flexible protocol keeps them
        ("信 息 不足，巴 黎", "巴黎", {"language": "zh"}, [("信 息 不足", "refusal"), ("巴 黎", "part 1")]),
        ("信 息不足", "-", {"language": "zh", "protocol": "flexible"}, []),
        # the flexible normaliser: width, punctuation, articles, spaces, and most of the words
        ("the Ｕ.S. of\n A", "US of a", {"protocol": "flexible"}, [("Ｕ.S. of", "part 1")]),
        ("a Well-Known, place", "well known place", {"protocol": "flexible"}, []),
        ("The wellknown — the  place!", "Well-Known place", {"protocol": "flexible"}, [("wellknown — the  place", "part 1")]),
        ("fivefold: five, four; three in two", "one two three four five", {"protocol": "flexible"},
         [(word, "part 1") for word in ("five", "four", "three", "two")]),
        ("so $+ it is", "$+", {"protocol": "flexible"}, [("$+", "part 1")]),
        ("बड़ा दिल्ली", "दिल्ली", {"language": "hi", "protocol": "flexible"}, [("दिल्ली", "part 1")]),
        ("ｶﾞは東京", "東京", {"language": "ja", "protocol": "flexible"}, [("東京", "part 1")]),
        ("İ 👩\u200d🔬 Oslo", "Oslo", {}, [("Oslo", "part 1")]),
    ],
)  # fmt: skip
def test_what_decides_is_found_where_it_stands(response, answer, options, expected):
    spans = []
    for start, end, what in evidence_spans(response, answer, **options):
        touches = spans and spans[-1][1:] == (start, what)
        spans.append((spans.pop()[0] if touches else start, end, what))
    assert [(response[start:end], what) for start, end, what in spans] == expected


pieces = ["Oslo", "oslo ", " b.ergen", "factual errors", "insufficient information", "Unclear", " 信息 不足", "事实性错误",
          "<think>", "</think>", "however ", "not bergen", "É", "e\u0301", "Ｏslo", " the ", "，"]  # fmt: skip
responses = st.lists(st.sampled_from(pieces), max_size=6).map("".join) | any_text


@given(responses, st.sampled_from(PROTOCOLS), st.sampled_from(["en", "zh", "ar"]))
@example("<think>factual</think> errors", "paper", "en")
def test_something_is_found_exactly_where_a_metric_says_so(response, protocol, language):
    assume("Σ" not in response)  # its lower case depends on what follows
    options = {"language": language, "protocol": protocol}
    spans = evidence_spans(response, ["Oslo", "É"], false_answer="Bergen", **options)
    assert spans == sorted(set(spans))
    assert all(0 <= start < end <= len(response) for start, end, _ in spans)
    found = {what for *_, what in spans}
    labels = answer_labels(response, ["Oslo", "É"], **options)
    if labels != [-1]:
        assert labels == [int(f"part {n}" in found) for n in (1, 2)]
    assert is_refusal(response, **options) == ("refusal" in found)
    assert detects_error(response, false_answer="Bergen", **options) == ("error" in found)
