import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.hostile import HOSTILE, any_text, joined_text, visible
from support.reading import parsed, tables, texts

from ragnb.metrics import response_in_language, scripts_of
from ragnb.metrics.language import letters_by_script
from ragnb.widgets import Card
from ragnb.widgets.pages import sign


def card(*, threshold=0.6, **changes):
    row = {"response": "答案是 4429 meters", "language": "zh"} | changes
    page = parsed(Card(row, "language", threshold=threshold))
    page.style.decompose()
    return page


def runs(page):
    """The runs of each line of the response: name of the element, None for plain text, and its text."""
    for sup in page.select(".r-line sup"):
        sup.decompose()
    return [
        [(run.name, run.get_text()) for run in line.children if run.get_text() != "\xa0"]
        for line in page.select(".r-line")
    ]


def test_a_whole_page():
    given = {
        "question": "塔有多高？",
        "system": "cross",
        "references": [["468米", "468 m"], "上海"],
        "reason": "cut off",
    }
    assert card(**given).get_text() == (
        "system cross language zh 塔有多高？answer 468米1 or 468 m1and 上海2language zh, written in Han, Bopomofo"
        "答案是 4429 Hanmeters≠Latinreason cut off"
        "RLCvalue≥ 0.6?what belongs / what is counted"
        "unicode3/9 = 0.333✗letters of Han, Bopomofo / letters of any script"
        "lbrag3/9 = 0.333✗rule 'han' / all but spaces, digits and .,!?;:()[]{}-–—'\"/"
        "scriptlettersof zh?Latin6✗Han3✓"
    )


@pytest.mark.parametrize(
    ("response", "language", "expected", "scripts"),
    [
        ("答案是 4429 meters", "zh", [("mark", "答案是 4429 "), ("ins", "meters")], ["Han", "≠Latin"]),
        ("タワーは333m", "ja", [("mark", "タワーは333"), ("ins", "m")], ["Katakana Hiragana", "≠Latin"]),
        ("Ђорђе Đorđe", "sr", [("mark", "Ђорђе Đorđe")], ["Cyrillic Latin"]),
        ("5 क्\u200dष ।", "hi", [(None, "5 "), ("mark", "क्\u200dष ।")], ["Devanagari"]),
        ("2 <b>", "en", [(None, "2 <"), ("mark", "b>")], ["Latin"]),
    ],
)  # fmt: skip
def test_runs_of_letters_are_marked_by_their_script(response, language, expected, scripts):
    page = card(response=response, language=language)
    assert texts(page, ".r-line sup[dir=ltr]") == scripts
    assert runs(page) == [expected]


languages = st.sampled_from(["zh", "ja", "ko", "en", "ru", "sr", "ar", "he", "hi", "th", "el"])
mixed_text = st.text(
    st.sampled_from(
        "答京はター한\u1112\u1161ab é\u0301жαشم\u0651ש\u05b8ह\u093f\u094dกำ์5.，🙂\u200d\u200f\u202e\n\r<&"
    )
)


@given(any_text | joined_text | mixed_text, languages)
@example("".join(HOSTILE), "en")
@example("\n".join(HOSTILE), "zh")
def test_the_text_stays_and_every_letter_is_marked_as_what_it_is(response, language):
    own, marked = scripts_of(language), 0
    found = runs(card(response=response, language=language))
    text = "\n".join("".join(text for _, text in line) for line in found)
    assert text.split() == visible(response).split()
    for element, text in (run for line in found for run in line):
        counts = letters_by_script(re.sub(r"⟨U\+(\w+)⟩", lambda code: chr(int(code[1], 16)), text))
        if element in ("mark", "ins"):
            assert element == ("mark" if next(iter(counts)) in own else "ins")
        marked += counts.total()
    assert marked == letters_by_script(response).total()


COUNTED = [
    ("東京タワーは333m", "ja", "5/6 = 0.833", "6/7 = 0.857"),
    ("हिन्दी text", "hi", "3/7 = 0.429", "7/10 = 0.700"),
    ("רُمّم", "ar", "2/3 = 0.667", "3/5 = 0.600"),
    ("cafe\u0301", "fr", "4/4 = 1.000", "4/5 = 0.800"),
    ("4429 ✓", "ru", "– no letters to count", "0/1 = 0.000"),
    ("", "zh", "– no letters to count", "– nothing to count, 1.000 by definition"),
]


@pytest.mark.parametrize(("response", "language", "unicode", "lbrag"), COUNTED)
def test_counts_by_hand_have_the_verdicts_of_the_metrics(response, language, unicode, lbrag):
    for threshold in (0.45, 0.6):
        page = card(response=response, language=language, threshold=threshold)
        top, *rows = tables(page)[0]
        assert top == ["RLC", "value", f"≥ {threshold}?", "what belongs / what is counted"]
        assert [row[:2] for row in rows] == [["unicode", unicode], ["lbrag", lbrag]]
        for variant, _, passed, _ in rows:
            given = {"response": response, "language": language, "variant": variant}
            assert passed == sign(response_in_language(**given, threshold=threshold))


def test_what_hides_is_spelled_out_named_and_counted():
    text = card(response="a\u202eb\u202c \u202e\x1b\ud800 می\u200cروم", language="en").get_text()
    assert "a⟨U+202E⟩b⟨U+202C⟩ ⟨U+202E⟩⟨U+001B⟩⟨U+D800⟩ Latinمی" in text
    assert (
        "hidden characters ⟨U+202E⟩ RIGHT-TO-LEFT OVERRIDE ×2 · ⟨U+202C⟩ POP DIRECTIONAL FORMATTING ×1 · "
        "⟨U+001B⟩ NO NAME ×1 · ⟨U+D800⟩ NO NAME ×1RLC"
    ) in text


def test_a_missing_response_says_why_and_an_empty_one_is_one():
    for reason, shown in (("timed out <b>", "timed out <b>"), (None, "no response")):
        text = card(response=None, reason=reason).get_text()
        assert text == f"language zh ? unscored ({shown})language zh, written in Han, Bopomofo"
    assert "Bopomofoempty" in card(response="").get_text()
