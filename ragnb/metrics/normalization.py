"""Answers before they are compared: the normalised text and its tokens, under both variants.

``unicode`` keeps every script. ``lbrag`` is what kanoes/LBRAG-NEW does: characters outside a fixed list of blocks vanish,
Devanagari, Greek, Tamil and Bengali among them, so that any two Hindi answers are the same empty text.
"""

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
"""Languages whose tokens are characters under ``lbrag``; Thai's are not, nor those of ``zh_hk``."""

_KEPT = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_LBRAG_KEPT = regex.compile(f"[{LBRAG_KEPT}]+")


def normalized(text: str, *, variant: str = "unicode") -> str:
    """Text as exact match compares it: letters, marks and numbers, with one space where anything else stood.

    ``unicode``: NFKC and case-folded, every script kept; invisible joiners and direction marks vanish without a space.
    ``lbrag``: lower-cased, the characters of `LBRAG_KEPT` kept.

    Raises
    ------
    InputError
        Unknown variant.

    >>> normalized("  Ｔhe “Straße”, № 5!"), normalized("दिल्ली, 5.", variant="lbrag")
    ('the strasse no 5', '5')
    """
    if check_choice(variant, VARIANTS, "variant") == "lbrag":
        return " ".join(_LBRAG_KEPT.findall(check_text(text, "text").lower()))
    return " ".join(_KEPT.findall(fold(visible(check_text(text, "text")))))


def answer_tokens(text: str, *, variant: str = "unicode", language: str | None = None) -> list[str]:
    """Tokens of the normalised text.

    ``unicode``: grapheme clusters in scripts written without spaces, words otherwise, decided for each run of text.
    ``lbrag``: characters when `language` is one of `LBRAG_CHARACTER_LANGUAGES`, words between spaces otherwise.

    Raises
    ------
    InputError
        Unknown variant; a language that is no text.

    >>> answer_tokens("约 4429 米高"), answer_tokens("4429m", variant="lbrag", language="zh")
    (['约', '4429', '米', '高'], ['4', '4', '2', '9', 'm'])
    """
    plain = normalized(text, variant=variant)
    if variant == "unicode":
        return tokens(plain)
    return list(plain.replace(" ", "")) if code_form(language) in LBRAG_CHARACTER_LANGUAGES else plain.split()


def code_form(language: str | None) -> str | None:
    """Language code in the form used here: lower case, with underscores.

    >>> code_form("zh-CN")
    'zh_cn'
    """
    if language is not None and not isinstance(language, str):
        raise InputError(f"language needs a code such as 'en' or 'zh_cn'; got {language!r}; write a text")
    return language.lower().replace("-", "_") if language else None


def check_text(value: object, what: str) -> str:
    """Return `value` if it is a text, else raise `InputError`."""
    if not isinstance(value, str):
        raise InputError(f"{what} needs a text; got {type(value).__name__}; write a str, or None where there is no {what}")
    return value
