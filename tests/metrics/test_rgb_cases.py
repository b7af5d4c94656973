"""What each protocol says of one response: label of each part, refusal, error detection, error correction.

Every expectation is derived from the definitions, with the reason beside it. ``N`` (nan) is the correction of a response in
which ``paper`` and ``released`` see no reported error: it is not among those whose corrections they count.
"""

import math
from dataclasses import dataclass, fields

import pandas as pd
import pytest

from ragnb.metrics import (
    FLEXIBLE_REFUSALS,
    PROTOCOLS,
    answer_labels,
    corrects_error,
    detects_error,
    is_correct,
    is_refusal,
    is_rejection,
)
from ragnb.metrics.recognition import FLEXIBLE_ERRORS
from ragnb.metrics.rgb_protocols import Paper
from ragnb.replies import reasoning_apart
from ragnb.scoring import score
from ragnb.text import split_reasoning

N = math.nan
SAME = None
REFUSAL = "I can not answer the question because of the insufficient information in documents."
REFUSAL_ZH = "文档信息不足，因此我无法基于提供的文档回答该问题。"
ERRORS = "There are factual errors in the provided documents."
ERRORS_ZH = "提供文档的文档存在事实性错误。"
FIVE = "alpha beta gamma delta epsilon"
TEN = "one two three four five six seven eight nine ten"


@dataclass
class Case:
    """Outcomes are (labels, refusal, detection, correction); ``released`` may be the SAME as ``paper``."""

    why: str
    response: str
    answer: object
    paper: tuple
    released: tuple | None
    flexible: tuple
    language: str = "en"
    false: object = None

    def expected(self, protocol):
        outcome = getattr(self, protocol)
        return self.paper if outcome is SAME else outcome


# Protocols of which a case has the outcome. The first test names the others.
WITH_OUTCOMES = [name for name in PROTOCOLS if name in {field.name for field in fields(Case)}]


FOUND = ([1], 0, 0, N), SAME, ([1], 0, 0, 1)
MISSED = ([0], 0, 0, N), SAME, ([0], 0, 0, 0)
ONLY_FLEXIBLE = ([0], 0, 0, N), SAME, ([1], 0, 0, 1)
ONLY_STRICT = ([1], 0, 0, N), SAME, ([0], 0, 0, 0)
NOT_RELEASED = ([1], 0, 0, N), ([0], 0, 0, N), ([1], 0, 0, 1)

ANSWERS = [
    Case("a substring", "It was in Tampa.", "Tampa", *FOUND),
    Case("another answer", "It was in Miami.", "Tampa", *MISSED),
    Case("an empty text is a response, and holds nothing", "", "Tampa", *MISSED),
    Case("a substring of a longer number", "1999", "99", *FOUND),
    Case("all parts", "Oslo and Bergen", ["Oslo", "Bergen"], ([1, 1], 0, 0, N), SAME, ([1, 1], 0, 0, 1)),
    Case("one part of two is not right", "Oslo alone", ["Oslo", "Bergen"], ([1, 0], 0, 0, N), SAME, ([1, 0], 0, 0, 0)),
    Case("any alias of a part", "Christiania", [["Oslo", "Christiania"]], *FOUND),
    Case("an alias of one part, and the other part", "January 2 of 2022", [["2 Jan", "January 2"], "2022"],
         *(([1, 1], 0, 0, N), SAME, ([1, 1], 0, 0, 1))),
    Case("marks around a word leave it whole", "**Tampa**", "Tampa", *FOUND),
    Case("marks within a word: only flexible removes punctuation", "**Tam**pa", "Tampa", *ONLY_FLEXIBLE),
    Case("dots in the alias: removed there too", "in the USA", "U.S.A.", *ONLY_FLEXIBLE),
    Case("removed punctuation leaves no space: one word, not two", "Tampa-Bay", "Tampa Bay", *MISSED),
    Case("a line break is a space, except in the released code", "New\nYork", "New York", *NOT_RELEASED),
    Case("two spaces: only flexible reduces them to one", "New  York", "New York", *ONLY_FLEXIBLE),
    Case("a narrow no-break space in a date", "on 7\u202fNovember\u202f1940", "7 November 1940", *NOT_RELEASED),
    Case("a non-breaking hyphen", "the COVID\u201119 pandemic", "COVID-19", *NOT_RELEASED),
    Case("a dash for a hyphen: flexible removes only punctuation of its own", "from 1939\u20131945", "1939-1945",
         *NOT_RELEASED),
    Case("a typographic apostrophe", "by O\u2019Neill", "O'Neill", *NOT_RELEASED),
    Case("full-width digits: NFKC", "２０２１年", "2021", *NOT_RELEASED),
    Case("an accent of its own: likewise", "cafe\u0301", "café", *NOT_RELEASED),
    Case("lower case is no case folding", "Straße", "STRASSE", *MISSED),
    Case("other articles: only flexible removes them", "A Beatles record", "The Beatles", *ONLY_FLEXIBLE),
    Case("articles within words stay", "atre", "Theatre", *MISSED),
    Case("'he' is in 'the', which flexible removes", "the cat", "he", *ONLY_STRICT),
    Case("four words of five in any order: 80 %", "delta gamma alpha beta", FIVE, *ONLY_FLEXIBLE),
    Case("three words of five: 60 %", "gamma alpha beta", FIVE, *MISSED),
    Case("eight words of ten: 80 %, exactly", "ten nine eight seven six five four three", TEN, *ONLY_FLEXIBLE),
    Case("words are whole: 'alphabet' is not 'alpha'", "alphabet beta", "beta alpha", *MISSED),
    Case("articles are no words of the alias: 3 of 3", "war of end", "the end of a war", *ONLY_FLEXIBLE),
    Case("words of one part do not help the other", "beta alpha", ["alpha beta", "gamma"],
         ([0, 0], 0, 0, N), SAME, ([1, 0], 0, 0, 0)),
    Case("Cyrillic letters have cases", "ПЁТР Великий", "пётр", *FOUND),
    Case("Devanagari keeps its marks", "इसका उत्तर दिल्ली है", "दिल्ली", *FOUND, language="hi"),
    Case("Thai has no spaces, and needs none", "เมืองหลวงคือกรุงเทพ", "กรุงเทพ", *FOUND, language="th"),
    Case("spaces go from Chinese alone", "東 京", "東京", *MISSED, language="ja"),
    Case("a symbol is no punctuation", "🇫🇷 won", "🇫🇷", *FOUND),
]  # fmt: skip

REFUSALS = [
    Case("the agreed sentence", REFUSAL, "Tampa", ([-1], 1, 0, N), SAME, ([0], 1, 0, 0)),
    Case("a refusal has one label, under flexible one a part", REFUSAL, ["Oslo", "Bergen"],
         ([-1], 1, 0, N), SAME, ([0, 0], 1, 0, 0)),
    Case("a refusal with the answer: right under flexible alone", f"{REFUSAL} Perhaps Tampa.", "Tampa",
         ([-1], 1, 0, N), SAME, ([1], 1, 0, 1)),
    Case("released looks before it lower-cases", "INSUFFICIENT Information; perhaps Tampa", "Tampa",
         ([-1], 1, 0, N), ([1], 0, 0, N), ([1], 1, 0, 1)),
    Case("two spaces: not the phrase, and phrases meet the raw text", "insufficient  information", "Tampa", *MISSED),
    Case("a line break or a no-break space: paper folds them", "insufficient\u00a0information", "Tampa",
         ([-1], 1, 0, N), ([0], 0, 0, N), ([0], 0, 0, 0)),
    Case("'can not answer' is on the flexible list alone", "I can not answer.", "Tampa",
         ([0], 0, 0, N), SAME, ([0], 1, 0, 0)),
    Case("'i cannot': likewise, and the answer counts", "I cannot say; Tampa maybe", "Tampa",
         ([1], 0, 0, N), SAME, ([1], 1, 0, 1)),
    Case("'i can't' keeps its apostrophe", "I can't tell", "Tampa", ([0], 0, 0, N), SAME, ([0], 1, 0, 0)),
    Case("a typographic apostrophe is another character", "I can’t tell", "Tampa", *MISSED),
    Case("'unknown' fires on an ordinary answer", "The unknown poet lived in Tampa", "Tampa",
         ([1], 0, 0, N), SAME, ([1], 1, 0, 1)),
    Case("the Chinese phrase in an English answer: flexible has English lists", REFUSAL_ZH, "Tampa",
         ([-1], 1, 0, N), SAME, ([0], 0, 0, 0)),
]  # fmt: skip

REASONING = [
    Case("the answer in a thought: released keeps it", "<think>Tampa? No.</think>Miami", "Tampa",
         ([0], 0, 0, N), ([1], 0, 0, N), ([0], 0, 0, 0)),
    Case("a refusal in a thought", "<think>insufficient information?</think>Tampa", "Tampa",
         ([1], 0, 0, N), ([-1], 1, 0, N), ([1], 0, 0, 1)),
    Case("a thought that is not closed reaches to the end", "Tampa <think>wait, insufficient information", "Tampa",
         ([1], 0, 0, N), ([-1], 1, 0, N), ([1], 0, 0, 1)),
    Case("tags in capitals are tags", "<THINK>Tampa</THINK>Miami", "Tampa",
         ([0], 0, 0, N), ([1], 0, 0, N), ([0], 0, 0, 0)),
    Case("an error reported in a thought", "<think>factual errors?</think>Tampa", "Tampa",
         ([1], 0, 0, N), ([1], 0, 1, 1), ([1], 0, 0, 1)),
    Case("no tag, no thought", "I think Tampa", "Tampa", *FOUND),
    Case("a lone > is no tag", "3 > 2, so Tampa", "Tampa", *FOUND),
]  # fmt: skip

ERROR_REPORTS = [
    Case("an error reported and corrected", f"{ERRORS} It is Tampa.", "Tampa", ([1], 0, 1, 1), SAME, ([1], 0, 1, 1)),
    Case("reported, not corrected", f"{ERRORS} It is Miami.", "Tampa", ([0], 0, 1, 0), SAME, ([0], 0, 1, 0)),
    Case("one part corrected of two", f"{ERRORS} Oslo.", ["Oslo", "Bergen"], ([1, 0], 0, 1, 0), SAME, ([1, 0], 0, 1, 0)),
    Case("released counts a refusal (-1, no 0) as corrected", f"{ERRORS} {REFUSAL}", "Tampa",
         ([-1], 1, 1, 0), ([-1], 1, 1, 1), ([0], 1, 1, 0)),
    Case("but not one that it does not see", f"{ERRORS} INSUFFICIENT INFORMATION", "Tampa",
         ([-1], 1, 1, 0), ([0], 0, 1, 0), ([0], 1, 1, 0)),
    Case("a refusal that names the answer is not right under paper", f"{ERRORS} {REFUSAL} Tampa?", "Tampa",
         ([-1], 1, 1, 0), ([-1], 1, 1, 1), ([1], 1, 1, 1)),
    Case("released is case-sensitive", "FACTUAL ERRORS: it is Tampa", "Tampa",
         ([1], 0, 1, 1), ([1], 0, 0, N), ([1], 0, 1, 1)),
    Case("one error is not the phrase", "There is a factual error.", "Tampa", ([0], 0, 0, N), SAME, ([0], 0, 1, 0)),
    Case("'however' fires on an ordinary answer", "However, it was Tampa", "Tampa", ([1], 0, 0, N), SAME, ([1], 0, 1, 1)),
    Case("'actually' is in 'factually'", "Factually, Tampa", "Tampa", ([1], 0, 0, N), SAME, ([1], 0, 1, 1)),
    Case("'error' is in 'terror'", "The Terror sank", "Tampa", ([0], 0, 0, N), SAME, ([0], 0, 1, 0)),
    Case("the Chinese phrase in an English answer: flexible has English lists", "事实性错误 Tampa", "Tampa",
         ([1], 0, 1, 1), SAME, ([1], 0, 0, 1)),
]  # fmt: skip

FALSE_ANSWERS = [
    Case("'not <false answer>'", "It was not Miami but Tampa.", "Tampa",
         ([1], 0, 0, N), SAME, ([1], 0, 1, 1), false="Miami"),
    Case("without a false answer nothing is denied", "It was not Miami but Tampa.", "Tampa", *FOUND),
    Case("the false answer is lower-cased too", "NOT MIAMI", "Tampa", ([0], 0, 0, N), SAME, ([0], 0, 1, 0), false="Miami"),
    Case("any of several false answers", "It was not Naples.", "Tampa",
         ([0], 0, 0, N), SAME, ([0], 0, 1, 0), false=["Miami", "Naples"]),
    Case("an empty list is none", "It was Tampa.", "Tampa", *FOUND, false=[]),
    Case("the false answer alone", "It was Miami.", "Tampa", *MISSED, false="Miami"),
    Case("both answers: the true one is held", "It was Miami, or Tampa", "Tampa", *FOUND, false="Miami"),
    Case("right by 4 words of 5, holds the false answer and not the true one", "delta gamma alpha beta: Miami", FIVE,
         ([0], 0, 0, N), SAME, ([1], 0, 0, 0), false="Miami"),
    Case("and does not hold it", "delta gamma alpha beta: Naples", FIVE, *ONLY_FLEXIBLE, false="Miami"),
    Case("false answers are held as normalised", "delta gamma alpha beta: the U.S.", FIVE,
         ([0], 0, 0, N), SAME, ([1], 0, 0, 0), false="US"),
    Case("the true one within the false one is held", "in Tampa Bay", "Tampa", *FOUND, false="Tampa Bay"),
    Case("a denied false answer that is the true one", "not Tampa", "Tampa",
         ([1], 0, 0, N), SAME, ([1], 0, 1, 1), false="Tampa"),
]  # fmt: skip

CHINESE = [
    Case("spaces go from the response; under flexible all 4 tokens are there", "答案是 1 月 3 日", "1月3日", *FOUND),
    Case("released removes spaces from the response alone", "答案是Tom Hanks", "Tom Hanks", *NOT_RELEASED),
    Case("an alias without space: one word, not two", "答案是Tom Hanks", "tomhanks", *ONLY_STRICT),
    Case("released removes no ideographic space", "1\u3000月", "1月", *NOT_RELEASED),
    Case("four characters of five in any order", "五四三二", "一二三四五", *ONLY_FLEXIBLE),
    Case("three of five", "五四三", "一二三四五", *MISSED),
    Case("a number is one token", "1 2 月", "12月", *ONLY_STRICT),
    Case("punctuation within", "《红，楼》梦", "红楼梦", *ONLY_FLEXIBLE),
    Case("the agreed sentence", REFUSAL_ZH, "1月", ([-1], 1, 0, N), SAME, ([0], 1, 0, 0)),
    Case("with the answer", f"{REFUSAL_ZH}或许 1 月", "1月", ([-1], 1, 0, N), SAME, ([1], 1, 0, 1)),
    Case("spaced out: flexible looks at the raw text", "信 息 不 足", "1月", ([-1], 1, 0, N), SAME, ([0], 0, 0, 0)),
    Case("released never finds the English phrase", REFUSAL, "1月", ([-1], 1, 0, N), ([0], 0, 0, N), ([0], 1, 0, 0)),
    Case("no long lists for Chinese", "However, unknown: 坦帕", "坦帕", *FOUND),
    Case("an error reported and corrected", f"{ERRORS_ZH}答案是坦帕", "坦帕", ([1], 0, 1, 1), SAME, ([1], 0, 1, 1)),
    Case("reported and refused", f"{ERRORS_ZH}{REFUSAL_ZH}", "坦帕", ([-1], 1, 1, 0), ([-1], 1, 1, 1), ([0], 1, 1, 0)),
    Case("reported with a space", "事实性 错误，坦帕", "坦帕", ([1], 0, 1, 1), SAME, ([1], 0, 0, 1)),
    Case("released never finds the English report", f"{ERRORS} 坦帕", "坦帕",
         ([1], 0, 1, 1), ([1], 0, 0, N), ([1], 0, 1, 1)),
    Case("'<false answer> is wrong'", "Miami is wrong", "坦帕", ([0], 0, 0, N), SAME, ([0], 0, 1, 0), false="Miami"),
    Case("'not <false answer>'", "not 迈阿密，坦帕", "坦帕", ([1], 0, 0, N), SAME, ([1], 0, 1, 1), false=["迈阿密"]),
    Case("a thought", "<think>坦帕？信息不足。</think>迈阿密", "坦帕", ([0], 0, 0, N), ([-1], 1, 0, N), ([0], 0, 0, 0)),
]  # fmt: skip
for case in CHINESE:
    case.language = "zh"
CHINESE.append(Case("a region is Chinese too", "1 月", "1月", *FOUND, language="zh-TW"))
CHINESE.append(Case("in an English answer spaces stay", "信 息 不 足", "Tampa", *MISSED))

CASES = ANSWERS + REFUSALS + REASONING + ERROR_REPORTS + FALSE_ANSWERS + CHINESE


def same(value, expected):
    return value == expected or (math.isnan(value) and math.isnan(expected))


def as_read(response, protocol):
    """What of a reply a protocol reads: the published code all of it, the others the answer without the reasoning."""
    return response if protocol == "released" else split_reasoning(response)[1]


def test_each_case_has_an_outcome_under_each_protocol():
    missing = sorted({*PROTOCOLS} - {*WITH_OUTCOMES})
    assert not missing, (
        f"add a field {', '.join(missing)} to the class Case in this file, with SAME as its default, and the outcome to "
        "each case in which the protocol differs from paper"
    )


@pytest.mark.parametrize("protocol", WITH_OUTCOMES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_a_response_is_judged_as_its_protocol_says(case, protocol):
    labels, refusal, detection, correction = case.expected(protocol)
    options = {"language": case.language, "protocol": protocol}
    right = float(0 not in labels and 1 in labels)
    response = as_read(case.response, protocol)
    assert answer_labels(response, case.answer, **options) == labels
    assert is_correct(response, case.answer, **options) == right
    assert is_refusal(response, **options) == refusal
    assert is_rejection(response, case.answer, **options) == (
        refusal or (protocol == "released" and right)
    )
    assert detects_error(response, false_answer=case.false, **options) == detection
    assert same(
        corrects_error(response, case.answer, false_answer=case.false, **options), correction
    )


@pytest.mark.parametrize("split", [False, True], ids=["raw replies", "reasoning apart"])
@pytest.mark.parametrize("protocol", WITH_OUTCOMES)
def test_score_gives_each_protocol_the_part_of_a_reply_that_it_reads(protocol, split):
    frame = pd.DataFrame(
        {
            "response": [case.response for case in CASES],
            "references": [case.answer for case in CASES],
            "false_answers": [case.false for case in CASES],
            "language": [case.language for case in CASES],
        },
        dtype=object,
    )
    names = ["rgb.accuracy", "rgb.error_detection", "rgb.error_correction"]
    scores = score(reasoning_apart(frame) if split else frame, names, protocol=protocol)
    values = scores["value"].to_numpy().reshape(3, -1).T.tolist()
    for case, found in zip(CASES, values, strict=True):
        labels, _, detection, correction = case.expected(protocol)
        assert all(
            map(same, found, [float(0 not in labels and 1 in labels), detection, correction])
        ), case.why


# The flexible protocol's phrases, typed out again from its description.
REFUSALS = (
    "i can not answer the question because of the insufficient information in documents|"
    "insufficient information in documents|can not answer|cannot answer|i don't know|i cannot|i can't|unable to|"
    "not able to|insufficient information|no information|cannot determine|not enough information|don't have enough|"
    "unable to determine|cannot find|no relevant|not mentioned|not provided|not specified|unclear|unknown|i'm not sure|"
    "i am not sure|cannot be determined|information is not available|does not provide"
).split("|")
ERRORS = (
    "incorrect|wrong|false|error|mistake|inaccurate|not true|not correct|factually incorrect|contradicts|actually|in fact|"
    "however|but actually|the correct answer|should be"
).split("|")


def test_the_flexible_lists_hold_these_phrases_and_no_other_and_each_fires_in_any_letter_case():
    assert sorted(FLEXIBLE_REFUSALS) == sorted(set(REFUSALS))
    assert sorted(FLEXIBLE_ERRORS) == sorted(ERRORS)
    for phrase in REFUSALS:
        assert is_refusal(f"Well, {phrase.upper()} .", protocol="flexible") == 1.0
    for phrase in ERRORS:
        assert detects_error(f"Well, {phrase.upper()} .", protocol="flexible") == 1.0


def test_every_part_of_a_list_answer_has_to_stand_beside_the_false_one():
    held = corrects_error(
        "Not Miami but Tampa in 2021.", ["Tampa", "2021"], false_answer="Miami", protocol="flexible"
    )
    missing = corrects_error(
        "Not Miami but Tampa.", ["Tampa", "2021"], false_answer="Miami", protocol="flexible"
    )
    assert (held, missing) == (1.0, 0.0)


def test_a_protocol_needs_a_name_and_definitions_of_its_own():
    """A class without a name would replace the one that it is derived from."""
    with pytest.raises(TypeError, match="the protocol Nameless needs a name of its own"):
        type("Nameless", (Paper,), {})
    with pytest.raises(
        TypeError, match="definitions of the protocol 'empty' needs a text for each of accuracy"
    ):
        type("Undefined", (Paper,), {"name": "empty", "definitions": {}})
    assert "empty" not in PROTOCOLS
