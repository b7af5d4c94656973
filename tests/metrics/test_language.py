import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.metrics import (
    LANGUAGE_SCRIPTS,
    language_identified,
    response_in_language,
    response_language_consistency,
    scripts_of,
)
from ragnb.metrics.language import consistency_counts, known_code, letters_by_script
from ragnb.text import SCRIPTS

MKQA = (
    "ar da de en es fi fr he hu it ja km ko ms nl no pl pt ru sv th tr vi zh_cn zh_hk zh_tw".split()
)
OWN_NAMES = {
    "ar": "العربية",
    "de": "Deutsch",
    "el": "Ελληνικά",
    "fa": "فارسی",
    "he": "עברית",
    "hi": "हिन्दी",
    "hy": "հայերեն",
    "ja": "日本語のカナ",
    "ka": "ქართული",
    "km": "ខ្មែរ",
    "ko": "한국어",
    "my": "မြန်မာ",
    "ru": "русский",
    "ta": "தமிழ்",
    "th": "ไทย",
    "uk": "українська",
    "vi": "Tiếng Việt",
    "zh_tw": "繁體中文ㄅ",
}


def same(value, expected):
    return (
        math.isnan(value) if math.isnan(expected) else value == pytest.approx(expected, abs=1e-12)
    )


# ---- the table of languages --------------------------------------------------------------------------------------------


def test_every_language_of_mkqa_and_more_is_known_and_every_script_exists():
    assert set(MKQA) <= set(LANGUAGE_SCRIPTS)
    assert {"hi", "bn", "ta", "el", "am", "ka"} <= set(LANGUAGE_SCRIPTS)
    assert set().union(*LANGUAGE_SCRIPTS.values()) <= set(SCRIPTS)
    assert all(LANGUAGE_SCRIPTS.values())


@pytest.mark.parametrize(("language", "name"), OWN_NAMES.items())
def test_a_languages_own_name_is_written_in_it(language, name):
    assert response_language_consistency(name, language) == 1
    others = [code for code in OWN_NAMES if not scripts_of(code) & scripts_of(language)]
    assert {response_language_consistency(name, code) for code in others} == {0.0}


def test_regions_and_letter_case_of_codes_do_not_matter():
    codes = ["zh-CN", "zh-Hant", "EN", "sr-Latn"]
    assert [known_code(code) for code in codes] == ["zh_cn", "zh", "en", "sr"]


@pytest.mark.parametrize(("code", "hint"), [("jp", "did you mean 'ja'?"), ("??", "write a code")])
def test_an_unknown_code_is_refused_with_a_suggestion(code, hint):
    with pytest.raises(InputError, match="language must be a code") as error:
        response_language_consistency("text", code)
    assert hint in str(error.value)


# ---- RLC ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "language", "share"),
    [
        ("答案是 4429 meters", "zh", 3 / 9),
        ("答案是4429m", "zh", 3 / 4),
        # The lengthening sign belongs to two scripts and is not counted.
        ("東京タワーは333m", "ja", 5 / 6),
        ("東京タワー", "zh", 2 / 4),
        ("東京", "ja", 1),  # Han alone could be either
        ("हिन्दी text", "hi", 3 / 7),  # three letters and their three marks
        ("Ђорђе Đorđe", "sr", 1),
        ("25 ℃", "zh", NAN := math.nan),
        ("!?🙂", "en", NAN),
        (None, "en", NAN),
        ("\u1100\u1161\u11a8 xy", "ko", 1 / 3),
        ("각 xy", "ko", 1 / 3),
    ],
)
def test_rlc_is_the_share_of_the_languages_own_letters(text, language, share):
    assert same(response_language_consistency(text, language), share)


@given(st.text(), st.sampled_from(sorted(LANGUAGE_SCRIPTS)), st.sampled_from(["NFC", "NFD"]))
def test_rlc_is_bounded_and_the_same_for_canonically_equivalent_texts(text, language, form):
    share = response_language_consistency(text, language)
    assert math.isnan(share) or 0 <= share <= 1
    assert math.isnan(share) == (not letters_by_script(text))
    assert same(response_language_consistency(unicodedata.normalize(form, text), language), share)


@pytest.mark.parametrize(
    ("text", "threshold", "value"),
    [("字" * 6 + "x" * 4, 0.6, 1), ("字" * 59 + "x" * 41, 0.6, 0), (None, 0.6, math.nan)],
)
def test_a_response_is_in_its_language_from_the_threshold_on(text, threshold, value):
    assert same(response_in_language(text, "zh", threshold=threshold), value)


def test_mistakes_are_named():
    with pytest.raises(InputError, match="threshold must be above 0"):
        response_in_language("text", "en", threshold=0)
    with pytest.raises(InputError, match="does not know the language 'bo'"):
        language_identified("text", "bo")
    for candidates in ("de", ["de", "de_AT"], []):
        with pytest.raises(InputError, match="a language other than the target language"):
            language_identified("How high is it?", "de", candidates=candidates)
    with pytest.raises(InputError, match="variant must be one of"):
        consistency_counts("text", "en", variant="Unicode")


# ---- by identification -------------------------------------------------------------------------------------------------


def test_few_candidates_help_and_the_target_always_is_one():
    assert language_identified("vier Jahre", "de", candidates=["zh", "ru"]) == 1
    assert language_identified("four years", "de", candidates="en") == 0
    assert language_identified("four years", "en", candidates=["zh_tw", "zh_cn"]) == 1
    norwegian = "Jeg vet ikke hvor lang tid det tok"
    assert language_identified(norwegian, "nb", candidates=["en", "de"]) == 1
