import json
import string
from enum import Enum
from typing import Literal

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from ragnb.prompts import parse_reply, strict_schema


class Judgement(BaseModel):
    verdict: Literal["yes", "no"]
    score: int = Field(ge=1, le=5)


class Reasoned(BaseModel):
    verdict: Literal["yes", "no"]
    why: str = ""


YES = {"verdict": "yes", "score": 4}
PLAIN = json.dumps(YES)


def said(text, schema=Judgement):
    """The record as a dict with the way, or the reason."""
    parsed = parse_reply(text, schema)
    return (parsed.record.model_dump(), parsed.found) if parsed.record else parsed.reason


# ---- where the JSON is -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PLAIN, "plain"),
        (f"```json\n{PLAIN}\n```", "embedded"),
        (f"Here it is:\n```JSON\n{PLAIN}\n```\nI hope this helps {{smile}}.", "embedded"),
        (f"```json\n{PLAIN}", "embedded"),
        (f"Вот ответ: {PLAIN} — надеюсь, это поможет.", "embedded"),
        (f"\ufeff{PLAIN}", "embedded"),
        (f"The set {{a, b}} and $\\frac{{a}}{{b}}$, isn't it? {PLAIN}", "embedded"),
        (f"An open brace {{ and then {PLAIN}", "embedded"),
        (f"[{PLAIN}]", "embedded"),
        (f"<think>Paris? {{'verdict': 'no'}}</think>{PLAIN}", "plain"),
        (f'<THINK>{{"verdict": "no", "score": 1}}</THINK>\n```json\n{PLAIN}\n```', "embedded"),
        (f'{{"verdict": "no", "score": 1}} hm, no.</think>\n{PLAIN}', "plain"),
        (f"{PLAIN[:-1]}, \"note\": \"<think> stays {{'\"}}", "plain"),
        (f'{PLAIN[:-1]}, "note": "a {{\\"verdict\\": \\"no\\"}} quoted"}}', "plain"),
        ('{"verdict": "yes", "score": 4.0}', "plain"),
        ('{"verdict": "yes", "score": 4, "extra": [1, {"score": 9}]}', "plain"),
        ('{"verdict": "yes", "score": 4, "score": 4}', "plain"),
        ('My answer: {"score": 4, "verdict": "yes"', "closed"),
        ('{"score": 4, "verdict": "yes", "list": [1, {"a": 2}]', "closed"),
    ],
)  # fmt: skip
def test_the_record_is_found(text, found):
    assert said(text) == (YES, found)


@pytest.mark.parametrize(
    "text",
    [
        "{'verdict': 'yes', 'score': 4}",
        '{"verdict": "yes", "score": 4,}',
        "{'verdict': 'yes', 'score': 4, 'sure': True, 'note': None, }",
        '{"verdict": "yes", // as the passage says\n "score": 4}',
        '{"verdict": "yes", /* of 5 */ "score": 4}',
        '{verdict: "yes", score: 4}',
        "{“verdict”: “yes”, “score”: 4}",
        "{'score': 4, 'verdict': 'yes'",
        """{'why': 'it isn\\'t {"verdict": "no"}', 'verdict': 'yes', 'score': 4}""",
        """{'url': 'http://example.org/#a', 'verdict': 'yes', 'score': 4}""",
    ],
)
def test_broken_punctuation_is_repaired(text):
    assert said(text) == (YES, "repaired")


SCORES = "4 or 5|<4|~4|4%|4/5|4,5|04|+4|0x4|4_0|-|not 4|1e999|-Infinity|'4'".split("|")
GUESSES = [
    *(f'{{"verdict": "yes", "score": {score},}}' for score in SCORES),
    """{"why": "he said "no" twice", "verdict": "yes", "score": 4}""",
    """{"why": "the page says {"verdict": "no", "score": 1}", "verdict": "yes", "score": 4}""",
    """{"why": "the page says "verdict": "no", "score": 1"}""",
    """{'why': 'the page's "verdict": "no", "score": 1, "x": 'y' }""",
    """{"why": "the page says "verdict": "no", "score": 1,""",
    """{"verdict": "yes" "score": 4}""",
]


@pytest.mark.parametrize("text", GUESSES)
def test_a_repair_never_guesses_a_number_or_what_may_be_quoted(text):
    parsed = parse_reply(text, Judgement)
    assert parsed.record is None
    assert parsed.reason


@pytest.mark.parametrize(
    "text",
    [
        '{"verdict": "yes", "score": 4',
        '{"score": 4, "verdict": "yes',
        '{"score": 4, "verdict": "yes", ',
        '{"score": 4, "verdict": "yes", "why": "becau',
        '{"score": 4, "verdict": "yes", "sure": tru',
        '{"score": 4, "verdict": "yes", "part": {"a": 1}, "b": {"c": "d"',
        'Use {"verdict": ... } as asked. {"verdict": "',
    ],
)
def test_what_was_cut_off_is_not_completed(text):
    assert said(text) == "the JSON object is cut off before its end"


# ---- reasons -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"verdict": "yes", "score": 7}', "score: 7 is above 5 (less_than_equal)"),
        ('{"verdict": "yes", "score": 0}', "score: 0 is below 1 (greater_than_equal)"),
        ('{"verdict": "yes", "score": "4"}', 'score: "4" is not an integer (int_type)'),
        ('{"verdict": "yes", "score": 4.5}', "score: 4.5 is not an integer (int_type)"),
        (
            '{"verdict": "是", "score": 9}',
            "verdict: \"是\" is not 'yes' or 'no' (literal_error); and 1 more",
        ),
        ('{"verdict": "yes"}', "score: required but missing (missing)"),
        ('{"verdict": "yes", "score": 4, "score": 5}', "score: given twice, as 4 and 5"),
        ('{"verdict": "yes", "score": 1, "score": true}', "score: given twice, as 1 and true"),
        ('{"verdict": "yes", "score": NaN}', "Out of range float values are not JSON compliant"),
        (None, "there is no reply"),
        ("", "the reply is empty"),
        ("<think>Paris or Lyon", "the reply is reasoning only"),
        ("I'm sorry,\nI can't.", "no JSON object in the reply: I'm sorry, I can't."),
        ("no \ud83d", "no JSON object in the reply: no"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(text, reason):
    assert said(text) == reason


class Level(Enum):
    LOW = 1
    HIGH = 2


class Defaults(BaseModel):
    level: Level = Level.LOW
    sure: bool = True


def test_a_record_of_defaults_only_was_not_said():
    assert said("{}", Defaults) == "the JSON object names none of the fields level, sure"
    assert "names none of the fields" in said('Sure: {"other": 1}', Defaults)


@pytest.mark.parametrize("half", ["\\ud83d", "\ud83d"])
def test_lone_surrogates_become_the_replacement_character(half):
    text = f'{{"verdict": "yes", "why": "a{half} b"}}'
    assert parse_reply(text, Reasoned).record.why == "a\ufffd b"


# ---- several objects ---------------------------------------------------------------------------------------------------

NO = '{"verdict": "no", "score": 4}'


@pytest.mark.parametrize(
    "text",
    [f"{PLAIN} {NO}", f"{NO}\n\nOn second thought: {PLAIN}", f"[{PLAIN}, {NO}]", f"{PLAIN} and {{'verdict': 'no', 'score': 4,}}",
     f"```json\n{PLAIN}\n```\n```json\n{NO}\n```", f"{NO} {PLAIN} {PLAIN}"],
)  # fmt: skip
def test_records_that_contradict_each_other_are_no_record(text):
    assert said(text).startswith("several JSON objects contradict each other: verdict: ")


@pytest.mark.parametrize(
    "text",
    [
        f'You want {{"verdict": "yes|no", "score": <1-5>}}. {PLAIN}',
        f'{{"verdict": "yes", "score": 9}} is too much. {PLAIN}',
        f'{PLAIN} {{"tokens": 12}}',
        f'{PLAIN} {{"a", "b"}}',
        f'{{"type": "object", "properties": {{"verdict": {{}}}}}} {PLAIN}',
    ],
)
def test_drafts_and_objects_about_something_else_are_passed_over(text):
    assert said(text) == (YES, "embedded")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f'{PLAIN} Correction: {{"verdict": "yes", "score": 9}}', "score: 9 is above 5"),
        (f'{PLAIN} Correction: {{"verdict": "no", "sco', "cut off"),
        (f'{PLAIN} Correction: {{"verdict": "no" or "yes", "score": 4}}', "not JSON"),
    ],
)
def test_an_earlier_record_does_not_stand_in_for_a_last_one_that_cannot_be_read(text, reason):
    assert reason in said(text)


# ---- any text at all ---------------------------------------------------------------------------------------------------

words = st.text(st.characters(exclude_characters="{}<[◁`~", exclude_categories=["Cs"]), max_size=60)
records = st.builds(
    Reasoned,
    verdict=st.sampled_from(["yes", "no"]),
    why=st.text(st.characters(exclude_categories=["Cs"])),
)
fences = st.sampled_from(
    [("", ""), ("```json\n", "\n```"), ("```\n", "\n```"), ("~~~\n", "\n~~~"), ("\n", "\n")]
)


@given(
    records,
    words,
    words,
    fences,
    st.booleans(),
    st.sampled_from([None, 2]),
    st.sampled_from(["", "<think>{'a': 1} Hm</think>"]),
)
@example(
    Reasoned(verdict="no", why='\\"}{"verdict": "yes"} <think>'), "", "", ("", ""), True, None, ""
)
def test_any_record_in_any_prose_is_found_again(
    record, before, after, fence, ascii_only, indent, thought
):
    encoded = json.dumps(record.model_dump(), ensure_ascii=ascii_only, indent=indent)
    alone = not (before + after + thought).strip()
    assume(alone or "think>" not in record.why.lower())
    assume(not before.rpartition("\n")[2].lstrip().startswith(">"))  # a quotation in Markdown
    parsed = parse_reply(f"{thought}{before}{fence[0]}{encoded}{fence[1]}\n{after}", Reasoned)
    assert parsed.record == record


pieces = st.sampled_from(
    ["{", "}", "[", "]", '"', "'", ":", ",", "\\", "\n", " ", "```", "<think>", "</think>", "//", "#", "/*", "*/", "verdict", "score",
     '"verdict": "yes"', '"score": ', "'score': ", "4", "7", "-1", "1e9", "NaN", "true", "None", "“", "\ud800", "😀", "的"]
)  # fmt: skip


@given(st.text() | st.lists(pieces, max_size=40).map("".join) | st.text(string.printable))
def test_no_text_makes_it_raise_or_leave_the_range(text):
    parsed = parse_reply(text, Judgement)
    assert (parsed.record is None) != (parsed.reason is None)
    if parsed.record:
        assert 1 <= parsed.record.score <= 5
        assert type(parsed.record.score) is int
    else:
        assert len(parsed.reason) <= 200
        assert parsed.reason.isprintable()


@pytest.mark.parametrize(
    "unit",
    ["{", '{"a":', "{'", '"', "\\", "<think>", "```", '{"score":1}', "{'score': '", "/*"],
)
def test_a_long_row_of_anything_is_read_in_one_walk(unit):
    text = unit * (50_000 // len(unit))
    for whole in (text, '{"verdict": "yes", "score": ' + text + "}", f"{text} {PLAIN}"):
        parse_reply(whole, Judgement)  # minutes, if it started again at every brace


# ---- the rest ----------------------------------------------------------------------------------------------------------


class Part(BaseModel):
    title: str
    default: int = 3


class Whole(BaseModel):
    parts: list[Part]
    level: Level = Level.LOW
    note: str | None = None


def test_the_strict_schema_requires_every_field_and_no_other():
    schema = strict_schema(Whole)
    assert schema["required"] == ["parts", "level", "note"]
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Part"] == {
        "type": "object",
        "properties": {"title": {"type": "string"}, "default": {"type": "integer"}},
        "required": ["title", "default"],
        "additionalProperties": False,
    }
    assert schema["properties"]["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert schema["$defs"]["Level"]["enum"] == [1, 2]
