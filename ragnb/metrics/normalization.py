"""Normalisation and tokenisation of answers before they are compared.

The variant ``'unicode'`` keeps all scripts. The variant ``'lbrag'`` reproduces the code of
kanoes/LBRAG-NEW, which keeps only the characters in a fixed list of Unicode blocks. Devanagari,
Greek, Tamil and Bengali, among others, are not in this list. Two Hindi answers without Latin
letters and digits are therefore equal under ``'lbrag'``.

The variants ``'squad'``, ``'triviaqa'``, ``'kilt'`` and ``'mlqa'`` reproduce the official
evaluation scripts of these benchmarks.

- ``'squad'`` and ``'kilt'``: lower case; ASCII punctuation is deleted; *a*, *an* and *the* are
  removed. The two differ only in the F1 of two empty texts.
- ``'triviaqa'``: the same, but ASCII punctuation and the characters ‘ ’ ´ are replaced by spaces.
- ``'mlqa'``: lower case; all Unicode punctuation is deleted; the articles of the language are
  removed; Chinese characters are separate words. In Arabic, the letters of the article become a
  space wherever they occur, even within words.

All functions raise InputError for an unknown variant and for a value that is not a string.
"""

import re
import string
from functools import lru_cache

import regex

from ragnb.errors import InputError, check_choice
from ragnb.text import fold, tokens, visible

VARIANTS = ("unicode", "lbrag")

# Variants that equal the evaluation script of a benchmark.
OFFICIAL = ("squad", "triviaqa", "kilt", "mlqa")

# Characters that ``"lbrag"`` keeps of a text in lower case, as content of a character class.
LBRAG_KEPT = (
    r"0-9a-z\u00c0-\u024f\u0400-\u04ff\u0590-\u06ff\ufb50-\ufdff\ufe70-\ufeff"
    r"\u0e00-\u0e7f\u1100-\u11ff\uac00-\ud7af\u3040-\u30ff\u4e00-\u9fff"
)

# Languages whose tokens are characters under ``"lbrag"``; Thai and ``zh_hk`` are not included.
LBRAG_CHARACTER_LANGUAGES = ("ja", "zh", "zh_cn", "zh_tw")

# Languages of MLQA -> what its script removes after punctuation.
MLQA_ARTICLES = {
    "en": r"\b(a|an|the)\b",
    "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
    "vi": r"\b(của|là|cái|chiếc|những)\b",
    "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    "ar": "ال",
    "hi": None,
    "zh": None,
}

_DELETED = str.maketrans("", "", string.punctuation)
_SPACED = str.maketrans(dict.fromkeys(string.punctuation + "‘’´`", " "))
PUNCTUATION = regex.compile(r"[\p{P}$+<=>^`|~]+")
_ASCII = re.compile("[a-z0-9]+")
_KEPT = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_LBRAG_KEPT = regex.compile(f"[{LBRAG_KEPT}]+")


@lru_cache(maxsize=32768)
def normalized(text: str, *, variant: str = "unicode", language: str | None = None) -> str:
    """Normalise a text so that it can be compared with a reference.

    Parameters
    ----------
    text : str
        Text to normalise.
    variant : {'unicode', 'lbrag', 'squad', 'triviaqa', 'kilt', 'mlqa'}, default='unicode'
        ``'unicode'`` applies NFKC and case folding, removes invisible format characters, and keeps
        letters, marks and numbers of all writing systems. Other characters, including symbols such
        as the minus sign and %, become spaces. ``'lbrag'`` converts the text to lower case and
        replaces every character outside a fixed list of Unicode blocks with a space; Devanagari is
        not in the list. The other variants reproduce the evaluation scripts of SQuAD, TriviaQA,
        KILT and MLQA; see `ragnb.metrics.normalization`.
    language : str or None, default=None
        Language code. ``'mlqa'`` requires one of ar, de, en, es, hi, vi and zh. The other variants
        ignore it.

    Returns
    -------
    str
        Words of the normalised text, separated by single spaces. The text can be empty.

    Examples
    --------
    >>> normalized("  Ｔhe “Straße”, № 5!"), normalized("दिल्ली, 5.", variant="lbrag")
    ('the strasse no 5', '5')
    >>> normalized("The U.S. dollar", variant="squad"), normalized("A-ha", variant="triviaqa")
    ('us dollar', 'ha')
    """
    check_choice(variant, (*VARIANTS, *OFFICIAL), "variant")
    check_text(text, "text")
    if variant in OFFICIAL:
        return _official(text.lower(), variant, language)
    if variant == "lbrag":
        return " ".join(_LBRAG_KEPT.findall(text.lower()))
    if text.isascii():
        return " ".join(_ASCII.findall(text.lower()))
    return " ".join(_KEPT.findall(fold(visible(text))))


def _official(text: str, variant: str, language: str | None) -> str:
    articles = MLQA_ARTICLES["en"]
    if variant == "mlqa":
        code = (code_form(language) or "").partition("_")[0]
        check_choice(code, tuple(MLQA_ARTICLES), "the language under variant 'mlqa'")
        articles = MLQA_ARTICLES[code]
        text = PUNCTUATION.sub("", text)
        if code == "zh":
            text = re.sub("([\u4e00-\u9fa5])", r" \1 ", text)
    else:
        text = text.translate(_SPACED if variant == "triviaqa" else _DELETED)
    if articles:
        text = re.sub(articles, " ", text)
    return " ".join(text.split())


@lru_cache(maxsize=32768)
def answer_tokens(
    text: str, *, variant: str = "unicode", language: str | None = None
) -> tuple[str, ...]:
    """Normalise a text and split it into tokens.

    Parameters
    ----------
    text : str
        Text to split.
    variant : {'unicode', 'lbrag', 'squad', 'triviaqa', 'kilt', 'mlqa'}, default='unicode'
        Normalisation; see `normalized`. With ``'unicode'``, tokens are grapheme clusters in
        scripts without spaces between words, and words in all other scripts. With ``'lbrag'``,
        they are characters if the language is one of `LBRAG_CHARACTER_LANGUAGES`, and words
        otherwise. With the other variants, they are words.
    language : str or None, default=None
        Language code, used by ``'lbrag'`` and ``'mlqa'``. ``'mlqa'`` requires one of ar, de, en,
        es, hi, vi and zh.

    Returns
    -------
    tuple of str
        Tokens of the normalised text.

    Examples
    --------
    >>> answer_tokens("The peak: 4429米高"), answer_tokens("4429m", variant="lbrag", language="zh")
    (('the', 'peak', '4429', '米', '高'), ('4', '4', '2', '9', 'm'))
    """
    plain = normalized(text, variant=variant, language=language)
    if variant == "unicode":
        return tuple(plain.split() if plain.isascii() else tokens(plain))
    if variant == "lbrag" and code_form(language) in LBRAG_CHARACTER_LANGUAGES:
        return tuple(plain.replace(" ", ""))
    return tuple(plain.split())


def code_form(language: str | None) -> str | None:
    """Convert a language code to lower case with underscores; None if it is None or empty.

    Examples
    --------
    >>> code_form("zh-CN")
    'zh_cn'
    """
    if language is None:
        return None
    return check_text(language, "language").lower().replace("-", "_") or None


def check_text(value: object, what: str) -> str:
    """Return `value` if it is a string, else raise an `InputError` that names it `what`."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a string, or None if there is none, got {value!r:.80}")
    return value
