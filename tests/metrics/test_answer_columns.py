"""Columns equal the scalar metrics value for value."""

import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.metrics import answer
from ragnb.metrics.answer_columns import LONGEST, answer_columns, rlc_column
from ragnb.metrics.code_points import ROWS, points
from ragnb.metrics.folding import folded_points
from ragnb.metrics.language import LANGUAGE_SCRIPTS, response_language_consistency
from ragnb.text import fold, visible

MEASURES = ["exact_match", "token_precision", "token_recall", "token_f1"]
PIECES = [
    *(
        "Oslo",
        "OSLO",
        "oslo",
        "straße",
        "ＡＢ",
        "é",
        "e\u0301",
        "ǰ",
        "J\u030c",
        "İ",
        "ﬁ",
        "ΛΟΓΟΣ",
        "λογοσ",
        "\u0390",
        "α\u0345",
        "\u0345\u0301",
    ),
    *(
        "中文",
        "中\u0301x",
        "中\u0e34",
        "か\u3099",
        "が",
        "カナー",
        "ｶﾞ",
        "กรุง",
        "กำ",
        "ก\u0e4d\u0e32",
        "\u0e38\u0e48",
        "\u0e48\u0e38",
        "x\u0e48y",
    ),
    *(
        "ខ្មែរ",
        "\u17d2ក",
        "ក\u17d2",
        "ကျ",
        "က\u1039က",
        "བོད",
        "ལྷ",
        "हिन्दी",
        "क\u094dष",
        "क़",
        "क\u093c",
        "\u093c",
        "ঢো",
        "চ\u09c7\u09be",
    ),
    *("한글", "\u1112\u1161\u11ab", "\u1100", "\u1161", "가\u11a8", "العربية", "می\u200cروم", "ﷲ", "שׁ", "\ufb2a", "\u05c1"),
    *(
        " ",
        "\n",
        "\r\n",
        "\u2028",
        "\u3000",
        ".",
        "-",
        "4",
        "４",
        "²",
        "½",
        "①",
        "👍🏽",
        "🇩🇪",
        "\u200d",
        "\ufe0f",
        "\ud800",
        "\U0010ffff",
        "𐐀",
        "\U00011099\U000110ba",
    ),
    *(
        "\u0d4eക",
        "\u0600",
        "\u034f",
        "´",
        "¨",
        "a" * (LONGEST + 1),
        "b" * LONGEST,
        "\u0301" * 3,
        "\u0327\u0301",
        "\u0301\u0327",
    ),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=6).map("".join)
maybe_texts = st.none() | texts
references = maybe_texts | st.lists(texts | st.lists(texts, min_size=1, max_size=2), min_size=1, max_size=2)
languages = st.sampled_from([*sorted(LANGUAGE_SCRIPTS)[::7], "ja", "zh_tw", "en", "ko"])


def assert_columns_equal_scalars(said, wanted, codes, variant):
    columns = answer_columns(said, wanted, languages=codes, variant=variant)
    for name in MEASURES:
        measure = getattr(answer, name)
        expected = [measure(*pair, language=code, variant=variant) for *pair, code in zip(said, wanted, codes, strict=True)]
        np.testing.assert_array_equal(getattr(columns, name), expected, err_msg=name)
    shares = [response_language_consistency(text, code, variant=variant) for text, code in zip(said, codes, strict=True)]
    np.testing.assert_array_equal(rlc_column(said, codes, variant=variant), shares)


@settings(max_examples=400)
@given(st.lists(st.tuples(maybe_texts, references, languages), max_size=8), st.sampled_from(["unicode", "lbrag"]))
@example([("中\u0301x y", "中\u0301x", "zh"), ("x\u0e48y", "xy", "th"), ("a\nb", "a b", "en")], "unicode")
def test_columns_equal_the_scalar_metrics(rows, variant):
    said, wanted, codes = ([row[place] for row in rows] for place in range(3))
    assert_columns_equal_scalars(said, wanted, codes, variant)


@settings(max_examples=300)
@given(st.data(), st.lists(texts, min_size=1, max_size=6))
def test_columns_of_nearly_equal_texts_equal_the_scalar_metrics(data, said):
    def altered(text):
        words = data.draw(st.permutations(text.split(" ")))
        return data.draw(
            st.sampled_from([text, text + ".", text.upper(), unicodedata.normalize("NFD", text), " ".join(words)])
        )

    codes = [data.draw(languages) for _ in said]
    for variant in ("unicode", "lbrag"):
        assert_columns_equal_scalars(said, [altered(text) for text in said], codes, variant)


def test_every_single_code_point_beside_others_equals_the_scalar_metrics():
    """All assigned code points but the Han and Hangul blocks, of which every 97th: alone, between letters, after Han."""
    codes = [c for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) not in ("Cn", "Co")]
    chosen = [chr(c) for c in codes if not (0x3400 <= c < 0xA000 or 0xAC00 <= c < 0xD7A4 or c >= 0x17000) or c % 97 == 0]
    said = [form for c in chosen for form in (c, f"a{c}b 中{c}", unicodedata.normalize("NFD", f"한{c}x"))]
    wanted = [f"{text[0]}b 中" for text in said]
    columns = answer_columns(said, wanted)
    assert columns.token_f1.tolist() == pytest.approx(
        [answer.token_f1(*pair) for pair in zip(said, wanted, strict=True)], nan_ok=True, abs=0
    )
    assert columns.exact_match.tolist() == pytest.approx(
        [answer.exact_match(*pair) for pair in zip(said, wanted, strict=True)], nan_ok=True, abs=0
    )
    shares = [response_language_consistency(text, "ko") for text in said]
    assert rlc_column(said, "ko").tolist() == pytest.approx(shares, nan_ok=True, abs=0)


@given(st.lists(texts, max_size=5))
@example(["ˇJ\u030c", "\u0345\u0301α\u0327", "ŉ", "ẞ\u0323", "\u212a\u212b", "𝐀", "㎞"])
def test_folding_a_column_folds_every_text(rows):
    def squeezed(text):
        return "".join(" " if c.isspace() else c for c in text)

    expected = [" ".join(fold(visible(row)).split()) for row in rows]
    folded = "".join(map(chr, folded_points(rows).tolist())).split("\n")[:-1]
    assert [" ".join(squeezed(text).split()) for text in folded] == expected


def test_columns_longer_than_a_batch_equal_the_scalar_metrics():
    n = 2 * ROWS + 3
    said = [f"{i % 13} of {i % 7} 中" for i in range(n)]
    wanted = [f"{i % 11} of {i % 5} 中" for i in range(n)]
    said[ROWS - 1], wanted[ROWS], said[-1] = None, "", "…"
    columns = answer_columns(said, wanted)
    expected = [answer.token_f1(*pair) for pair in zip(said, wanted, strict=True)]
    np.testing.assert_array_equal(columns.token_f1, expected)
    np.testing.assert_array_equal(rlc_column(said, "zh"), [response_language_consistency(text, "zh") for text in said])


def test_many_aliases_spread_over_batches_and_the_best_counts():
    aliases = [str(i) for i in range(9000)]
    columns = answer_columns(["8999", "x", None], [[aliases], [aliases], "y"])
    np.testing.assert_array_equal(columns.exact_match, [1, 0, np.nan])


@pytest.mark.parametrize("variant", ["unicode", "lbrag"])
def test_arrays_series_and_empty_columns_are_columns_too(variant):
    pandas = pytest.importorskip("pandas")
    for make in (list, tuple, pandas.Series, lambda values: np.array(values, dtype=object), lambda values: iter(values)):
        columns = answer_columns(make(["a b", "c"]), make(["a", "c"]), languages="en", variant=variant)
        assert columns.token_recall.tolist() == [1, 1]
        assert rlc_column(make(["a", "b"]), make(["en", "en"]), variant=variant).tolist() == [1, 1]
    assert answer_columns([], [], variant=variant).token_f1.tolist() == []
    assert rlc_column([], "en", variant=variant).tolist() == []
    assert rlc_column([], [], variant=variant).tolist() == []


def test_a_break_within_a_row_is_a_space():
    assert points(["a\nb", "c"]).tolist() == [*map(ord, "a b\nc\n")]
    assert answer_columns(["a\nb", "\n"], ["a b", ""]).exact_match.tolist() == pytest.approx([1, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: answer_columns(["a"], ["a", "b"]), r"references needs one a response \(1\); got 2"),
        (lambda: answer_columns("a", ["a"]), "responses needs a column"),
        (lambda: answer_columns(3, ["a"]), "responses needs a column"),
        (lambda: answer_columns(["a", 3], ["a", "b"]), "responses needs a text or None in every row; got int in row 1"),
        (lambda: answer_columns(["a"], [3]), "a reference needs a text"),
        (lambda: answer_columns(["a"], ["a"], languages=["en", "de"]), r"languages needs one code a row \(1\)"),
        (lambda: answer_columns(["a"], ["a"], languages=[3], variant="lbrag"), "language needs a code"),
        (lambda: answer_columns(["a"], ["a"], variant="squad"), "variant needs one of"),
        (lambda: rlc_column(["a"], "jp"), "did you mean 'ja'"),
        (lambda: rlc_column(["a"], [None]), "language needs a code"),
        (lambda: rlc_column(["a"], [""], variant="lbrag"), "language needs a code"),
        (lambda: rlc_column([b"a"], "en"), "got bytes in row 0"),
        (lambda: rlc_column(["a"], "en", variant="squad"), "variant needs one of"),
    ],
)
def test_what_the_scalar_metrics_refuse_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
