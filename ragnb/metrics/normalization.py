"""Normalisation of answers before they are compared: the text and its tokens.

``unicode`` keeps every script. ``lbrag`` is what kanoes/LBRAG-NEW does: it deletes characters outside
a fixed list of blocks, among them Devanagari, Greek, Tamil and Bengali, so that any two Hindi
answers are equal.

All functions raise InputError for an unknown variant and for a value that is no text.
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
"""Character class (without brackets) of what ``lbrag`` keeps, after lower-casing."""

LBRAG_CHARACTER_LANGUAGES = ("ja", "zh", "zh_cn", "zh_tw")
"""Languages whose tokens are characters under ``lbrag``; not those of Thai or ``zh_hk``."""

_ASCII = re.compile("[a-z0-9]+")
_KEPT = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_LBRAG_KEPT = regex.compile(f"[{LBRAG_KEPT}]+")


@lru_cache(maxsize=32768)
def normalized(text: str, *, variant: str = "unicode") -> str:
    """Text as exact match compares it: letters, marks and numbers, separated by single spaces.

    ``unicode``: NFKC and case-folded, every script kept; invisible joiners and direction marks are
    deleted. ``lbrag``: lower-cased, only the characters of `LBRAG_KEPT` kept.

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
    """Tokens of the normalised text.

    ``unicode``: grapheme clusters in scripts written without spaces, words otherwise. ``lbrag``:
    characters when the language is one of `LBRAG_CHARACTER_LANGUAGES`, words otherwise.

    >>> answer_tokens("약 4429 米高"), answer_tokens("4429m", variant="lbrag", language="zh")
    (('약', '4429', '米', '高'), ('4', '4', '2', '9', 'm'))
    """
    plain = normalized(text, variant=variant)
    if variant == "unicode":
        return tuple(plain.split() if plain.isascii() else tokens(plain))
    if code_form(language) in LBRAG_CHARACTER_LANGUAGES:
        return tuple(plain.replace(" ", ""))
    return tuple(plain.split())


def code_form(language: str | None) -> str | None:
    """Language code in lower case, with underscores.

    >>> code_form("zh-CN")
    'zh_cn'
    """
    if language is None:
        return None
    return check_text(language, "language").lower().replace("-", "_") or None


def check_text(value: object, what: str) -> str:
    """Return `value` if it is a text, else raise `InputError`."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a text, or None if there is none, got {value!r:.80}")
    return value
