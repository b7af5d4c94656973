"""Normalisation and tokenisation of answers before they are compared.

The variant ``"unicode"`` keeps all scripts. The variant ``"lbrag"`` reproduces the code of
kanoes/LBRAG-NEW, which deletes all characters outside a fixed list of Unicode blocks. Devanagari,
Greek, Tamil and Bengali, among others, are not in this list. All answers in Hindi are therefore
equal under ``"lbrag"``.

All functions raise InputError for an unknown variant and for a value that is not a string.
"""

import re
from functools import lru_cache

import regex

from ragnb.errors import InputError, check_choice
from ragnb.text import fold, tokens, visible

VARIANTS = ("unicode", "lbrag")

LBRAG_KEPT = (
    r"0-9a-z\u00c0-\u024f\u0400-\u04ff\u0590-\u06ff\ufb50-\ufdff\ufe70-\ufeff"
    r"\u0e00-\u0e7f\u1100-\u11ff\uac00-\ud7af\u3040-\u30ff\u4e00-\u9fff"
)
"""Characters that ``"lbrag"`` keeps of a text in lower case, as content of a character class."""

LBRAG_CHARACTER_LANGUAGES = ("ja", "zh", "zh_cn", "zh_tw")
"""Languages whose tokens are characters under ``"lbrag"``; Thai and ``zh_hk`` are not included."""

_ASCII = re.compile("[a-z0-9]+")
_KEPT = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_LBRAG_KEPT = regex.compile(f"[{LBRAG_KEPT}]+")


@lru_cache(maxsize=32768)
def normalized(text: str, *, variant: str = "unicode") -> str:
    """Normalise a text for exact match: letters, marks and numbers, separated by single spaces.

    The variant ``"unicode"`` (the default) applies NFKC and case folding, keeps all scripts, and
    deletes invisible joiners and direction marks. The variant ``"lbrag"`` converts the text to
    lower case and keeps only the characters in `LBRAG_KEPT`.

    >>> normalized("  Ｔhe “Straße”, № 5!"), normalized("दिल्ली, 5.", variant="lbrag")
    ('the strasse no 5', '5')
    """
    check_choice(variant, VARIANTS, "variant")
    if variant == "lbrag":
        return " ".join(_LBRAG_KEPT.findall(check_text(text, "text").lower()))
    if check_text(text, "text").isascii():
        return " ".join(_ASCII.findall(text.lower()))
    return " ".join(_KEPT.findall(fold(visible(text))))


@lru_cache(maxsize=32768)
def answer_tokens(
    text: str, *, variant: str = "unicode", language: str | None = None
) -> tuple[str, ...]:
    """Normalise a text and split it into tokens.

    With ``variant="unicode"`` (the default), tokens are grapheme clusters in scripts without spaces
    between words, and words in all other scripts. With ``variant="lbrag"``, tokens are characters
    if the language is one of `LBRAG_CHARACTER_LANGUAGES`, and words otherwise.

    >>> answer_tokens("The peak: 4429米高"), answer_tokens("4429m", variant="lbrag", language="zh")
    (('the', 'peak', '4429', '米', '高'), ('4', '4', '2', '9', 'm'))
    """
    plain = normalized(text, variant=variant)
    if variant == "unicode":
        return tuple(plain.split() if plain.isascii() else tokens(plain))
    if code_form(language) in LBRAG_CHARACTER_LANGUAGES:
        return tuple(plain.replace(" ", ""))
    return tuple(plain.split())


def code_form(language: str | None) -> str | None:
    """Convert a language code to lower case with underscores.

    >>> code_form("zh-CN")
    'zh_cn'
    """
    if language is None:
        return None
    return check_text(language, "language").lower().replace("-", "_") or None


def check_text(value: object, what: str) -> str:
    """Return `value` if it is a string; otherwise raise InputError."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a string, or None if there is none, got {value!r:.80}")
    return value
