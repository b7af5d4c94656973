import html as standard_html
import re

import pytest
from hostile import HOSTILE, Reader, any_text, joined_text, visible
from hypothesis import example, given
from hypothesis import strategies as st

from ragnb.metrics.language import (
    letters_by_script,
    response_in_language,
    response_language_consistency,
    scripts_of,
)
from ragnb.widgets import Card
from ragnb.widgets.pages import sign


def html(*, threshold=0.6, identify=False, **changes):
    row = {"response": "答案是 4429 meters", "language": "zh"} | changes
    return Card(row, "language", threshold=threshold, identify=identify)._repr_html_()


def page(**changes):
    return Reader(html(**changes))


def lines(**changes):
    """Markup of each line of the response, without attributes and the boxes around what is spelled out."""
    found = re.findall(r'<div dir="auto" class="r-line">(.*?)</div>', html(**changes), re.DOTALL)
    unboxed = [re.sub(r"<small [^>]*>(⟨U\+\w+⟩)</small>", r"\1", line) for line in found]
    return [re.sub(r"(<\w+) [^>]*>", r"\1>", line).replace("&nbsp;", "") for line in unboxed]


def pieces(line):
    """The runs of a line: their element, None where it is plain, and their text."""
    bare = re.sub("<sup>.*?</sup>", "", line)
    found = re.findall(r"<(mark|ins)>(.*?)</\1>|([^<]+)", bare, re.DOTALL)
    return [(tag or None, standard_html.unescape(inside or plain)) for tag, inside, plain in found]


def tables(**changes):
    """Texts of the cells: table → row → cell."""
    found = re.findall("<table.*?</table>", html(**changes), re.DOTALL)
    rows = [re.findall("<tr>.*?</tr>", table, re.DOTALL) for table in found]
    cells = r"<t[hd]>.*?</t[hd]>"
    return [
        [[Reader(cell).text for cell in re.findall(cells, row, re.DOTALL)] for row in table]
        for table in rows
    ]


def test_a_whole_page():
    given = {
        "question": "塔有多高？",
        "system": "cross",
        "references": [["468米", "468 m"], "上海"],
        "reason": "cut off",
    }
    assert page(**given, identify=True).text == (
        "system cross language zh 塔有多高？answer 468米1 or 468 m1and 上海2language zh, written in Han, Bopomofo"
        "答案是 4429 Hanmeters≠Latinreason cut off"
        "RLCvalue≥ 0.6?what belongs / what is counted"
        "unicode3/9 = 0.333✗letters of Han, Bopomofo / letters of any script"
        "lbrag3/9 = 0.333✗rule 'han' / all but spaces, digits and .,!?;:()[]{}-–—'\"/"
        "scriptlettersof zh?Latin6✗Han3✓"
        "identified as zh ✓"
    )


# ---- the marks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "language", "expected"),
    [
        ("答案是 4429 meters", "zh",
         "<mark>答案是 4429 </mark><sup>Han</sup><ins>meters</ins><sup>≠Latin</sup>"),
        ("タワーは333m", "ja", "<mark>タワーは333</mark><sup>Katakana Hiragana</sup><ins>m</ins><sup>≠Latin</sup>"),
        ("Ђорђе Đorđe", "sr", "<mark>Ђорђе Đorđe</mark><sup>Cyrillic Latin</sup>"),
        ("5 क्\u200dष ।", "hi", "5 <mark>क्\u200dष ।</mark><sup>Devanagari</sup>"),
        ("a\u200cb\n\n2 <b>", "en", "<mark>a⟨U+200C⟩b</mark><sup>Latin</sup>\n\n"
         "2 &lt;<mark>b&gt;</mark><sup>Latin</sup>"),
    ],
)  # fmt: skip
def test_runs_of_letters_are_marked_by_their_script(response, language, expected):
    assert "\n".join(lines(response=response, language=language)) == expected


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
    own = scripts_of(language)
    found = [pieces(line) for line in lines(response=response, language=language)]
    assert "\n".join("".join(text for _, text in line) for line in found) == visible(response)
    marked = {"mark": 0, "ins": 0}
    for element, text in (run for line in found for run in line):
        counts = letters_by_script(re.sub(r"⟨U\+(\w+)⟩", lambda code: chr(int(code[1], 16)), text))
        assert element == (None if not counts else "mark" if next(iter(counts)) in own else "ins")
        marked[element or "mark"] += counts.total()
    assert sum(marked.values()) == letters_by_script(response).total()


# ---- the numbers -------------------------------------------------------------------------------------------------------

COUNTED = [
    ("東京タワーは333m", "ja", "5/6 = 0.833", "6/7 = 0.857"),
    ("हिन्दी text", "hi", "3/7 = 0.429", "7/10 = 0.700"),
    ("רُمّم", "ar", "2/3 = 0.667", "3/5 = 0.600"),
    ("cafe\u0301", "fr", "4/4 = 1.000", "4/5 = 0.800"),
    ("4429 ✓", "ru", "– no letter to count", "0/1 = 0.000"),
    ("", "zh", "– no letter to count", "– nothing to count, 1.000 by definition"),
]


@pytest.mark.parametrize(("response", "language", "unicode", "lbrag"), COUNTED)
def test_counts_by_hand_have_the_verdicts_of_the_metrics(response, language, unicode, lbrag):
    for threshold in (0.45, 0.6):
        top, *rows = tables(response=response, language=language, threshold=threshold)[0]
        assert top == ["RLC", "value", f"≥ {threshold}?", "what belongs / what is counted"]
        assert [row[:2] for row in rows] == [["unicode", unicode], ["lbrag", lbrag]]
        for variant, _, passed, _ in rows:
            given = {"response": response, "language": language, "variant": variant}
            assert passed == sign(response_in_language(**given, threshold=threshold))


@given(mixed_text, languages)
def test_numbers_of_any_text_are_those_of_the_metrics(response, language):
    consistency, *scripts = tables(response=response, language=language)
    for variant, value, passed, _ in consistency[1:]:
        assert passed == sign(response_in_language(response, language, variant=variant))
        if value[0] != "–":
            hits, counted = map(int, value.split(" = ")[0].split("/"))
            assert hits / counted == response_language_consistency(
                response, language, variant=variant
            )
    letters = {script: int(n) for script, n, _ in scripts[0][1:]} if scripts else {}
    assert letters == letters_by_script(response)


# ---- direction, hidden characters, identification, no response ---------------------------------------------------------


def test_names_of_scripts_and_boxes_have_no_say_in_the_direction_of_a_text():
    markup = html(response="שלום\u202e Anna", language="he", question="מה?", references=["עיר"])
    assert markup.count('<sup dir="ltr">') == 2
    assert markup.count('<small dir="ltr" ') == 2
    assert '<span dir="auto"><mark>עיר</mark>' in markup


def test_what_hides_is_spelled_out_named_and_counted():
    view = page(response="a\u202eb\u202c \u202e\x1b\ud800 می\u200cروم", language="en")
    assert "a⟨U+202E⟩b⟨U+202C⟩ ⟨U+202E⟩⟨U+001B⟩⟨U+D800⟩ Latinمی" in view.text
    assert (
        "hidden characters ⟨U+202E⟩ RIGHT-TO-LEFT OVERRIDE ×2 · ⟨U+202C⟩ POP DIRECTIONAL FORMATTING ×1 · "
        "⟨U+001B⟩ NO NAME ×1 · ⟨U+D800⟩ NO NAME ×1RLC"
    ) in view.text


def test_a_missing_response_says_why_and_an_empty_one_is_one():
    for reason, shown in (("timed out <b>", "timed out <b>"), (None, "no response")):
        text = page(response=None, reason=reason).text
        assert text == f"language zh ? unscored ({shown})language zh, written in Han, Bopomofo"
    assert "Bopomofoempty" in page(response="").text
