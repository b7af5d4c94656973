import html as standard_html
import math
import re
import unicodedata

import pandas as pd
import pytest
from hostile import HOSTILE, Reader, any_text, joined_text, shown, visible
from hypothesis import example, given
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.metrics.language import (
    LANGUAGE_SCRIPTS,
    LBRAG_HITS,
    identified_language,
    letters_by_script,
    response_in_language,
    response_language_consistency,
    scripts_of,
)
from ragnb.text import graphemes
from ragnb.widgets import LanguageBrowser, LanguageView
from ragnb.widgets.language import LBRAG_WORDS, NEEDED, direction

ELEMENTS = {"div", "p", "b", "i", "mark", "ins", "span", "sup", "table", "tr", "td", "th", "small"}
SIGNS = {1.0: "✓", 0.0: "✗"}


def row(**changes):
    return {"response": "答案是 4429 meters", "language": "zh"} | changes


def html(*, threshold=0.6, identify=False, **changes):
    return LanguageView(row(**changes), threshold=threshold, identify=identify)._repr_html_()


def page(**changes):
    return Reader(html(**changes))


def lines(**changes):
    """Direction and markup of each line of the response, without the boxes around what is spelled out."""
    unboxed = re.sub(r'<small dir="ltr" style="[^"]*">(⟨U\+\w+⟩)</small>', r"\1", html(**changes))
    return re.findall(r'<div dir="(ltr|rtl)" style="[^"]*">(.*?)</div>', unboxed, flags=re.DOTALL)


def said(**changes):
    """The response as it is marked, without attributes."""
    return "\n".join(re.sub(r"(<\w+) [^>]*>", r"\1>", line) for _, line in lines(**changes))


def pieces(line):
    """The runs of a line: their element, None where it is plain, and their text; without superscripts."""
    found = re.findall(
        r"<(mark|ins) [^>]*>(.*?)</\1>|([^<]+)",
        re.sub("<sup [^>]*>.*?</sup>", "", line),
        flags=re.DOTALL,
    )
    return [
        (element or None, standard_html.unescape(inside or plain))
        for element, inside, plain in found
    ]


def tables(**changes):
    """Texts of the cells: table → row → cell."""
    found = re.findall("<table.*?</table>", html(**changes), flags=re.DOTALL)
    rows = [re.findall("<tr>.*?</tr>", table, flags=re.DOTALL) for table in found]
    cells = r"<t[hd] .*?</t[hd]>"
    return [
        [[Reader(cell).text for cell in re.findall(cells, line, flags=re.DOTALL)] for line in table]
        for table in rows
    ]


# ---- a page ------------------------------------------------------------------------------------------------------------


def test_a_whole_page():
    given_row = {
        "question": "塔有多高？",
        "system": "cross",
        "references": [["468米", "468 m"], "上海"],
        "reason": None,
    }
    assert page(**given_row, identify=True).text == (
        "塔有多高？language: zh, written in Han, Bopomofosystem: crossreferences: 468米 or 468 m; and 上海response: "
        "答案是Han 4429 meters≠Latin"
        "RLCvalue≥ 0.6?what belongs / what is counted"
        "unicode3/9 = 0.333✗letters of Han, Bopomofo / letters of any script"
        "lbrag3/9 = 0.333✗rule 'han': Han characters / all but spaces, digits and .,!?;:()[]{}-–—'\"/ "
        "· counted, no hit: 6 letters"
        "scriptlettersof zh?Latin6✗Han3✓"
        "identified as: zh ✓"
    )


def test_only_response_and_language_are_needed():
    assert page().text.startswith("language: zh, written in Han, Bopomoforesponse: 答案是Han 4429")
    assert html(question=math.nan, system=None, references=None, reason=math.nan) == html()


def test_a_reason_beside_a_response_is_shown():
    assert "reason: cut off <b>" in page(reason="cut off <b>").text


def test_the_same_row_gives_the_same_page():
    frame = pd.DataFrame([row()])
    view = LanguageView(row())
    assert {
        view._repr_html_(),
        view._repr_html_(),
        html(),
        LanguageView(frame.iloc[0])._repr_html_(),
    } == {html()}
    assert repr(view) == "LanguageView('zh', 9 letters)"


# ---- the marks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "language", "expected"),
    [
        (
            "答案是 4429 meters",
            "zh",
            "<mark>答案是</mark><sup>Han</sup> 4429 <ins>meters</ins><sup>≠Latin</sup>",
        ),
        (
            "The cat, sat.",
            "en",
            "<mark>The</mark> <mark>cat</mark>, <mark>sat</mark><sup>Latin</sup>.",
        ),
        ("The cat, sat.", "ru", "<ins>The</ins> <ins>cat</ins>, <ins>sat</ins><sup>≠Latin</sup>."),
        ("東京は高い", "ja", "<mark>東京は高い</mark><sup>Han Hiragana</sup>"),
        (
            "タワーは333m",
            "ja",
            "<mark>タワ</mark>ー<mark>は</mark><sup>Katakana Hiragana</sup>333<ins>m</ins><sup>≠Latin</sup>",
        ),
        ("東京は", "zh", "<mark>東京</mark><sup>Han</sup><ins>は</ins><sup>≠Hiragana</sup>"),
        ("東京は", "ko", "<ins>東京は</ins><sup>≠Han ≠Hiragana</sup>"),
        (
            "pаy",
            "en",
            "<mark>p</mark><sup>Latin</sup><ins>а</ins><sup>≠Cyrillic</sup><mark>y</mark><sup>Latin</sup>",
        ),
        ("Ђорђе Đorđe", "sr", "<mark>Ђорђе</mark> <mark>Đorđe</mark><sup>Cyrillic Latin</sup>"),
        (
            "हिन्दी text",
            "hi",
            "<mark>हिन्दी</mark><sup>Devanagari</sup> <ins>text</ins><sup>≠Latin</sup>",
        ),
        ("क्\u200dष ।", "hi", "<mark>क्\u200dष</mark><sup>Devanagari</sup> ।"),
        ("ที่กรุง 5", "th", "<mark>ที่กรุง</mark><sup>Thai</sup> 5"),
        ("e\u0301te\u0301 5", "fr", "<mark>e\u0301te\u0301</mark><sup>Latin</sup> 5"),
        ("می\u200cروم", "fa", "<mark>می\u200cروم</mark><sup>Arabic</sup>"),
        (
            "שָׁלוֹם Paris",
            "he",
            "<mark>שָׁלוֹם</mark><sup>Hebrew</sup> <ins>Paris</ins><sup>≠Latin</sup>",
        ),
        ("ᐃᓄᒃ", "en", "<ins>ᐃᓄᒃ</ins><sup>≠Canadian Aboriginal</sup>"),
        ("𐌰 ok", "en", "<ins>𐌰</ins><sup>≠Gothic</sup> <mark>ok</mark><sup>Latin</sup>"),
        ("𐤀", "he", "<ins>𐤀</ins><sup>≠Other</sup>"),
        ("👨\u200d👩\u200d👧 1\ufe0f\u20e3 5 ℃", "en", "👨\u200d👩\u200d👧 1\ufe0f\u20e3 5 ℃"),
        (
            "one\n\ntwo 2",
            "en",
            "<mark>one</mark><sup>Latin</sup>\n\n<mark>two</mark><sup>Latin</sup> 2",
        ),
        ("soft\u00adly", "en", "<mark>soft</mark>⟨U+00AD⟩<mark>ly</mark><sup>Latin</sup>"),
        ("pay\u200cpal", "en", "<mark>pay⟨U+200C⟩pal</mark><sup>Latin</sup>"),
        ("\u3164 ", "ko", "<mark>⟨U+3164⟩</mark><sup>Hangul</sup> "),
        ("<b>", "en", "&lt;<mark>b</mark><sup>Latin</sup>&gt;"),
    ],
)
def test_runs_of_letters_are_marked_by_their_script(response, language, expected):
    assert said(response=response, language=language) == expected


languages = st.sampled_from(["zh", "ja", "ko", "en", "ru", "sr", "ar", "he", "hi", "th", "el"])
mixed_text = st.text(
    st.sampled_from(
        "答京はター한\u1112\u1161ab é\u0301жαشم\u0651ש\u05b8ह\u093f\u094dกำ์5.，🙂\u200d\u200f\u202e\n\r<&"
    )
)


@given(any_text | joined_text | mixed_text, languages)
@example("".join(HOSTILE), "en")
@example("\n".join(HOSTILE), "zh")
@example("ᠠ\u180eᠠ", "zh")
def test_without_its_marks_the_response_is_what_was_said(response, language):
    found = [pieces(line) for _, line in lines(response=response, language=language)]
    text = "\n".join("".join(piece for _, piece in line) for line in found)
    assert text == visible(response)
    if "⟨" not in response:
        assert re.sub(r"⟨U\+(\w+)⟩", lambda code: chr(int(code[1], 16)), text) == response


@given(any_text | mixed_text, languages)
def test_every_letter_is_marked_as_what_it_is_and_nothing_else(response, language):
    own = scripts_of(language)
    found = [
        (element, letters_by_script("".join(run)))
        for line in response.split("\n")
        for element, run in runs(line, language)
    ]
    letters = letters_by_script(response)
    assert sum(counts.total() for _, counts in found) == letters.total()
    for element, counts in found:
        assert bool(counts) == (element is not None)
        first = next(iter(counts), None)
        assert element == (None if first is None else "mark" if first in own else "ins")


def runs(line, language):
    """The runs of one line as the page has them, in the response's own characters, cut into grapheme clusters."""
    seen, clusters, at = shown(line), graphemes(line), 0
    for element, text in pieces(lines(response=line, language=language)[0][1]) if line else []:
        start = at
        while "".join(seen[start:at]) != text:
            at += len(clusters.pop(0))
        yield element, line[start:at]
    assert not clusters, "every run begins and ends between grapheme clusters"


@given(mixed_text, languages)
def test_a_run_has_one_mark_and_its_scripts_are_named_once(response, language):
    markup = said(response=response, language=language)
    assert not re.search(r"</(mark|ins)><\1>", markup)
    without_runs = re.sub(r"<(mark|ins)>.*?</\1>", r"<\1>", markup, flags=re.DOTALL)
    for line in without_runs.split("\n"):
        assert not re.search("<mark>(<sup>[^<]*</sup>)[^<]*<mark>", line), (
            "own letters on both sides: one stretch"
        )
        assert len(re.findall("<(?:mark|ins)>", line)) >= line.count("<sup>")
        assert bool(re.search("<(?:mark|ins)>", line)) == ("<sup>" in line)


# ---- the numbers -------------------------------------------------------------------------------------------------------

NFD_SEOUL = unicodedata.normalize("NFD", "서울 Seoul")
COUNTED = [
    ("答案是 4429 meters", "zh", "3/9 = 0.333", "3/9 = 0.333"),
    ("答案是4429m。", "zh_tw", "3/4 = 0.750", "3/5 = 0.600"),
    ("東京タワーは333m", "ja", "5/6 = 0.833", "6/7 = 0.857"),
    ("หอสูง 330 ม. (Eiffel)", "th", "5/11 = 0.455", "11/12 = 0.917"),
    ("हिन्दी text", "hi", "3/7 = 0.429", "7/10 = 0.700"),
    ("हिन्दी", "hi", "3/3 = 1.000", "3/6 = 0.500"),
    ("باريس (Paris)", "ar", "5/10 = 0.500", "10/10 = 1.000"),
    ("רُمّم", "ar", "2/3 = 0.667", "3/5 = 0.600"),
    ("פריז, Paris", "he", "4/9 = 0.444", "9/9 = 1.000"),
    ("서울 Seoul", "ko", "2/7 = 0.286", "7/7 = 1.000"),
    (NFD_SEOUL, "ko", "2/7 = 0.286", "10/10 = 1.000"),
    ("café", "fr", "4/4 = 1.000", "4/4 = 1.000"),
    ("cafe\u0301", "fr", "4/4 = 1.000", "4/5 = 0.800"),
    ("Family 👨\u200d👩\u200d👧", "en", "6/6 = 1.000", "6/11 = 0.545"),
    ("It is 4429 metres", "ru", "0/10 = 0.000", "10/10 = 1.000"),
    ("4429 ✓", "ru", "– no letter to count", "0/1 = 0.000"),
    ("4429", "ru", "– no letter to count", "– nothing to count, 1.000 by definition"),
    ("", "zh", "– no letter to count", "– nothing to count, 1.000 by definition"),
]


@pytest.mark.parametrize(("response", "language", "unicode", "lbrag"), COUNTED)
@pytest.mark.parametrize("threshold", [0.45, 0.6])
def test_rlc_and_its_verdict_are_those_of_the_metrics(
    response, language, unicode, lbrag, threshold
):
    top, *rows = tables(response=response, language=language, threshold=threshold)[0]
    assert top == ["RLC", "value", f"≥ {threshold}?", "what belongs / what is counted"]
    assert [line[:2] for line in rows] == [["unicode", unicode], ["lbrag", lbrag]]
    for variant, value, passed, _ in rows:
        share = response_language_consistency(response, language, variant=variant)
        within = response_in_language(response, language, variant=variant, threshold=threshold)
        assert passed == SIGNS.get(within, "–")
        assert value.startswith("–") or value.endswith(f"= {share:.3f}")
        assert math.isnan(share) == (value == "– no letter to count")


@given(mixed_text, languages)
def test_numbers_of_any_text_are_those_of_the_metrics(response, language):
    consistency, *script_table = tables(response=response, language=language)
    for variant, value, passed, _ in consistency[1:]:
        share = response_language_consistency(response, language, variant=variant)
        assert passed == SIGNS.get(response_in_language(response, language, variant=variant), "–")
        if not value.startswith("–"):
            belonging, counted = map(int, value.split(" = ")[0].split("/"))
            assert belonging / counted == share
    letters = {script: int(n) for script, n, _ in script_table[0][1:]} if script_table else {}
    assert letters == letters_by_script(response)


def test_scripts_stand_from_the_most_letters_to_the_fewest_with_what_they_are_to_the_language():
    assert tables(response="東京はあの高い Tokyo ab", language="ja")[1] == [
        ["script", "letters", "of ja?"],
        ["Latin", "7", "✗"],
        ["Hiragana", "4", "✓"],
        ["Han", "3", "✓"],
    ]
    assert len(tables(response="42")) == 1


@pytest.mark.parametrize(
    ("language", "response", "rule"),
    [
        (
            "ja",
            "東",
            "rule 'japanese': kana and Han characters / all but spaces, digits and .,!?;:()[]{}-–—'\"/",
        ),
        ("zh-CN", "x。東", "rule 'han': Han characters / … · counted, no hit: 1 letter, 1 sign"),
        (
            "de",
            "e\u0301 東 °",
            "rule 'letter': letters of any script / … · counted, no hit: 1 mark, 1 sign",
        ),
        (
            "ru",
            "It is ‽‽ हि",
            "rule 'any': letters of any script, kana and Han characters / … · counted, no hit: 1 mark, 2 signs",
        ),
    ],
)
def test_the_rule_of_lbrag_is_named_with_what_it_misses(language, response, rule):
    shown_rule = tables(language=language, response=response)[0][2][3]
    assert shown_rule == rule.replace("…", "all but spaces, digits and .,!?;:()[]{}-–—'\"/")


def test_every_rule_and_language_has_words():
    assert LBRAG_WORDS.keys() == LBRAG_HITS.keys()
    for language in LANGUAGE_SCRIPTS:
        assert f"language: {language}, written in " in page(language=language).text


# ---- direction and hidden characters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "way"),
    [
        ("عاصمة فرنسا هي Paris.", "rtl"),
        ("Paris: עיר", "ltr"),
        ("1. שלום", "rtl"),
        ("\u200fשלום", "rtl"),
        ("\u200fParis", "ltr"),
        ("\u202eParis", "ltr"),
        ("ߒߞߏ", "rtl"),
        ("ދިވެހި", "rtl"),
        ("東京", "ltr"),
        ("42.", "ltr"),
        ("", "ltr"),
    ],
)
def test_a_line_runs_as_its_first_letter_does(line, way):
    assert direction(line) == way
    assert [found for found, _ in lines(response=f"{line}\nx")] == [way, "ltr"]


def test_names_of_scripts_stand_apart_from_the_text_that_runs_the_other_way():
    markup = html(response="שלום Anna", language="he", question="מה?", references=["עיר"])
    assert markup.count('<sup dir="ltr" ') == markup.count("<sup ") == 2
    assert '<p dir="auto"><b>מה?</b></p>' in markup
    assert '<span dir="auto">עיר</span>' in markup


def test_what_hides_stands_in_a_box_that_leaves_the_order_of_the_text_alone():
    markup = re.sub(' style="[^"]*"', "", html(response="שלום\u202e 12 a\u200db", language="he"))
    box = '<small dir="ltr">⟨U+{}⟩</small>'
    assert (
        f'</mark><sup dir="ltr">Hebrew</sup>{box.format("202E")} 12 <ins>a{box.format("200D")}b</ins>'
        in markup
    )


def test_what_hides_is_spelled_out_named_and_counted():
    view = page(response="a\u202eb\u202c \u202e\u200b\x1b\U000e0041\ud800", language="en")
    assert "a⟨U+202E⟩bLatin⟨U+202C⟩ ⟨U+202E⟩⟨U+200B⟩⟨U+001B⟩⟨U+E0041⟩⟨U+D800⟩hidden" in view.text
    assert (
        "hidden characters: ⟨U+202E⟩ RIGHT-TO-LEFT OVERRIDE ×2 · ⟨U+202C⟩ POP DIRECTIONAL FORMATTING ×1 · "
        "⟨U+200B⟩ ZERO WIDTH SPACE ×1 · ⟨U+001B⟩ CONTROL ×1 · ⟨U+E0041⟩ TAG LATIN CAPITAL LETTER A ×1 · "
        "⟨U+D800⟩ LONE SURROGATE ×1"
    ) in view.text


@pytest.mark.parametrize(
    "response", ["می\u200cروم", "क्\u200dष", "👩\u200d🔬 ❤\ufe0f", "a\tb\r\nc", "辻\U000e0100"]
)
def test_what_shapes_the_text_is_not_called_hidden(response):
    assert "hidden" not in page(response=response).text


# ---- identification ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "language", "verdict"),
    [
        ("How long did it take to build the towers?", "en", "en ✓"),
        ("How long did it take to build the towers?", "de", "en ✗"),
        ("建造這些高樓花了多長時間？", "zh_tw", "zh ✓"),
        ("42", "en", "– no letter to go by"),
        ("", "en", "– no letter to go by"),
    ],
)
def test_the_language_that_an_identifier_names_is_shown_on_demand(response, language, verdict):
    assert page(response=response, language=language, identify=True).text.endswith(
        f"identified as: {verdict}"
    )
    assert "identified" not in page(response=response, language=language).text
    assert verdict[0] == "–" or verdict.split()[0] == identified_language(response)


# ---- no response, and what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "ending"),
    [
        ({"response": None, "reason": "timed out <b>"}, "? unscored (timed out <b>)"),
        ({"response": None}, "? unscored (no response)"),
        ({"response": math.nan, "reason": math.nan}, "? unscored (no response)"),
    ],
)
def test_a_missing_response_says_why_and_has_no_numbers(changes, ending):
    view = page(**changes)
    assert view.text == f"language: zh, written in Han, Bopomofo{ending}"
    assert "table" not in view.elements
    assert repr(LanguageView(row(**changes))) == "LanguageView('zh', 0 letters)"


def test_an_empty_response_is_one():
    assert "response: empty" in page(response="").text
    assert tables(response="")[0][2][2] == "✓"


@pytest.mark.parametrize("column", NEEDED)
def test_a_missing_column_is_refused(column):
    incomplete = row()
    del incomplete[column]
    with pytest.raises(InputError, match=rf"LanguageView.*without {column};"):
        LanguageView(incomplete)
    with pytest.raises(InputError, match=rf"LanguageBrowser.*without {column};"):
        LanguageBrowser(pd.DataFrame([incomplete]))


REFUSED = [
    ({"language": "jp"}, "got 'jp'; did you mean 'ja'?"),
    ({"threshold": 0}, "threshold must be above 0 and at most 1, got 0"),
    (
        {"language": "bo", "identify": True},
        "language must be one that the identifier knows, got 'bo'",
    ),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
@pytest.mark.parametrize("response", ["text", None])
def test_what_makes_no_sense_is_refused_when_the_view_is_made(changes, message, response):
    options = {name: changes[name] for name in ("threshold", "identify") if name in changes}
    given_row = row(response=response, language=changes.get("language", "zh"))
    with pytest.raises(InputError, match=re.escape(message)):
        LanguageView(given_row, **options)
    with pytest.raises(InputError, match=re.escape(message)):
        LanguageBrowser(pd.DataFrame([row(), given_row], dtype=object), **options)


# ---- hostile text ------------------------------------------------------------------------------------------------------


def test_a_page_can_be_written_whatever_it_holds():
    assert html(response="\ud800", question="\udfff").encode("utf-8")


# ---- the browser -------------------------------------------------------------------------------------------------------

RESPONSES = pd.DataFrame(
    [
        row(),
        row(response="Она красивая", language="ru", system="direct"),
        row(response=None, reason="timed out"),
        row(response="".join(HOSTILE)),
    ]
)


def test_the_slider_shows_response_after_response():
    browser = LanguageBrowser(RESPONSES, threshold=0.3, identify=True)
    assert (browser.number.min, browser.number.max) == (1, 4)
    for number in (1, 2, 3, 4, 1):
        browser.number.value = number
        expected = LanguageView(
            RESPONSES.iloc[number - 1], threshold=0.3, identify=True
        )._repr_html_()
        assert browser._page.value == expected
        assert set(Reader(browser._page.value).elements) <= ELEMENTS


def test_where_no_kernel_runs_the_first_response_is_shown_wherever_the_slider_stands():
    browser = LanguageBrowser(RESPONSES)
    browser.number.value = 2
    bundle = browser._repr_mimebundle_()
    assert bundle["text/plain"] == "LanguageBrowser(4 responses)"
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"].endswith(LanguageView(RESPONSES.iloc[0])._repr_html_())
    assert "the slider needs a running kernel, this is the first response" in bundle["text/html"]


def test_a_browser_refuses_a_frame_without_responses():
    with pytest.raises(InputError, match="LanguageBrowser needs at least one response"):
        LanguageBrowser(RESPONSES.iloc[:0])
