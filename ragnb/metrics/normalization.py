"""Normalisation and tokenisation of answers before they are compared.

The variant ``'unicode'`` keeps all scripts. It also keeps symbols that carry meaning: -5 differs from
5, $5 from €5, C++ from C#, x = 5 from x ≠ 5, 1/2 from 1:2, 50% from 50, and A+ from A-.

- Currency signs, mathematical signs, degrees and similar symbols are words of their own. So are %,
  and # and * after a single letter, as in C# and A*.
- A number with its sign is a single word: -5, 3.5, 1/2, 10:30 and 10^6, which is also 10⁶.
- Separators of thousands are removed, so that 1,000 and 1 000 equal 1000, because they are the same
  number and because texts of one language use several of them. A decimal comma becomes a point.
  1.000 is not changed: it is a thousand in German and one in English.
- Dates with points, slashes or hyphens are equal, and so are the seasons 2019/20 and 2019-20.
- Punctuation, hyphens in words and between numbers, quotation marks, bullets and the signs of
  Markdown become spaces. Emoji and ornaments next to words do, too. A text that consists of
  symbols or emoji alone keeps them.
- White space next to a character of a script without spaces between words is removed: 4429 米
  equals 4429米.

The variant ``'lbrag'`` reproduces the code of kanoes/LBRAG-NEW, which keeps only the characters in a
fixed list of Unicode blocks. Devanagari, Greek, Tamil and Bengali, among others, are not in this list.
Two Hindi answers without Latin letters and digits are therefore equal under ``'lbrag'``.

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
from typing import Any

import regex

from ragnb.errors import InputError, check_choice
from ragnb.text import GRAPHEME, UNSPACED, fold, visible

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
        letters, marks, numbers and meaningful symbols of all writing systems. Other characters
        become spaces; see `ragnb.metrics.normalization`. ``'lbrag'`` converts the text to lower case and
        replaces every character outside a fixed list of Unicode blocks with a space; Devanagari is
        not in the list. The other variants reproduce the evaluation scripts of SQuAD, TriviaQA,
        KILT and MLQA; see `ragnb.metrics.normalization`.
    language : str or None, default=None
        Language code. ``'mlqa'`` requires one of ar, de, en, es, hi, vi and zh. The other variants
        ignore it.

    Returns
    -------
    str
        Words of the normalised text, separated by single spaces, except next to characters of
        scripts without spaces between words. The text can be empty.

    Examples
    --------
    >>> normalized("  Ｔhe “Straße”, № 5!"), normalized("दिल्ली, 5.", variant="lbrag")
    ('the strasse no 5', '5')
    >>> normalized("C++ costs −$1,000.50!"), normalized("2022 年 1 月")
    ('c + + costs - $ 1000.50', '2022年1月')
    >>> normalized("The U.S. dollar", variant="squad"), normalized("A-ha", variant="triviaqa")
    ('us dollar', 'ha')
    """
    check_choice(variant, (*VARIANTS, *OFFICIAL), "variant")
    check_text(text, "text")
    if variant in OFFICIAL:
        return _official(text.lower(), variant, language)
    if variant == "lbrag":
        return " ".join(_LBRAG_KEPT.findall(text.lower()))
    return _unicode_form(text)


# ---- the variant 'unicode' -----------------------------------------------------------------------

# Stands for a minus sign while a text is normalised. NFKC replaces this character, so that no
# folded text contains it.
_MINUS = "⁻"
_ALNUM = r"\p{L}\p{M}\p{N}"
# Letters and digits of scripts that are written with spaces.
_SPACED_ALNUM = rf"[[{_ALNUM}]--[{UNSPACED}]]"

# Characters that are written in several ways, after folding.
_SAME = str.maketrans(
    {
        "٪": "%",
        "⁄": "/",
        "∕": "/",
        "∶": ":",
        "♯": "#",
        "٫": ".",
        "٬": ",",
        "‐": "-",
        "‒": "-",
        "–": "-",
    }
)


def _rules(*rows: tuple[str, str]) -> list[tuple[Any, str]]:
    """Compile pairs of a pattern and its replacement."""
    return [(regex.compile(rf"(?V1m){pattern}"), replacement) for pattern, replacement in rows]


# These rules need line breaks, or characters that NFKC replaces.
_BEFORE_FOLDING = _rules(
    # A bullet or a Markdown quotation mark at the start of a line, and a ruler.
    (r"^[^\S\n]*[+>→⇒∙](?=[^\S\n]+[^\s\p{Nd}])", " "),
    (r"([=+<>~*#_-])\1{2,}", " "),
    # Tags, emphasis in Markdown, and LaTeX's signs for a formula.
    (r"</?(\p{L}[^<>\s]*)>", r" \1 "),
    (rf"(?<![{_ALNUM}*])\*{{1,3}}(?=\S)([^*\n]{{1,300}})(?<=\S)\*{{1,3}}(?![{_ALNUM}*])", r"\1"),
    (r"\${2,}|~~", " "),
    (r"\$(?=\S)([^$\n]{1,200})(?<=\S)\$(?![\p{Nd}])", r" \1 "),
    # 10² is not 102, 3½ is not 31/2, and º is often typed for °.
    (r"(?<=\p{Nd})(?=[\u00b2\u00b3\u00b9\u2070\u2071\u2074-\u2079\u207a\u207b\u207f])", "^"),
    (r"(?<=\p{Nd})(?=[\u00bc-\u00be\u2150-\u215f\u2189])", " "),
    (r"\u00ba(?=\s?[CF]\b)", "°"),
)
_GROUPS = regex.compile(r"(?<!\p{Nd})[1-9]\d{0,2}(?:[\u00a0\u2007\u2009\u202f]\d{3})+(?![\p{Nd}])")
_GROUPS = regex.compile(
    r"(?<![\p{Nd}.,'’/:]|\p{Nd} )[1-9]\d{0,2}(?:"
    # 1,000,000 or 1'000 or 1 000, and 10,00,000 as in India
    r"(?:(?:,\d{2,3})*,\d{3}|(?:['’]\d{3})+|(?: \d{3})+)(?![\p{Nd}]|[,'’/:-]\p{Nd}| \p{Nd})"
    # 1.000.000, and 1.000,5: a single group such as 1.000 can also be a decimal fraction
    r"|(?:\.\d{3}){2,}(?!\p{Nd}|\.\p{Nd})|(?:\.\d{3})+(?=,\p{Nd}+(?![\p{Nd}.,])))"
)
_FORMULA = rf"(?:[\p{{Sc}}√] ?)?[.]?[\p{{Nd}}∞]|[\p{{Latin}}\p{{Greek}}](?![{_ALNUM}'’])"
_AFTER_FOLDING = _rules(
    # Dates and seasons have several separators: 2020-01-31, 2020/01/31, 31.1.2020, 2019/20.
    (
        r"(?<![\p{Nd}./-])(\p{Nd}{4})([-./])(\p{Nd}{1,2})\2(\p{Nd}{1,2})(?![\p{Nd}]|[./-]\p{Nd})",
        r"\1 \3 \4",
    ),
    (
        r"(?<![\p{Nd}./-])(\p{Nd}{1,2})([-./])(\p{Nd}{1,2})\2(\p{Nd}{4}|\p{Nd}{2})(?![\p{Nd}]|[./-]\p{Nd})",
        r"\1 \3 \4",
    ),
    (r"(?<![\p{Nd}./])((?:1\p{Nd}|20)\p{Nd}{2})/(\p{Nd}{4}|\p{Nd}{2})(?![\p{Nd}/])", r"\1 \2"),
    # A decimal comma, and a fraction without a digit in front of the point.
    (r"(?<![\p{Nd}.,])(\p{Nd}+),(\p{Nd}+)(?![\p{Nd}]|[.,]\p{Nd})", r"\1.\2"),
    (rf"(?<![{_ALNUM}.,)\]])\.(?=\p{{Nd}})", "0."),
    # Spaces around the sign of a fraction or a ratio.
    (r"(?<=\p{Nd}) ([/:]) (?=\p{Nd})", r"\1"),
    # A minus sign follows neither a word nor a number, as the hyphen does in COVID-19 and 3-5.
    (
        rf"(?<!{_SPACED_ALNUM}|[)\]}}%°\-−]|\p{{N}}[{UNSPACED}]{{0,2}} ?)(?:-|− ?)(?={_FORMULA})",
        _MINUS,
    ),
    # Grades, blood groups and ions: A-, AB-, Cl-.
    (rf"(?<=(?<![{_ALNUM}])(?:\p{{Latin}}|ab|cl|oh))-(?![{_ALNUM}-])", f" {_MINUS} "),
    (rf"(?<=[{_ALNUM}])−(?![{_ALNUM} ]| [{_ALNUM}])", f" {_MINUS} "),
    # x^2 equals x², which NFKC replaces by x2.
    (rf"(?<=\p{{L}})\^(?=[{_ALNUM}{_MINUS}])", ""),
)
# Symbols that mean little next to words: emoji, check marks, bullets, lines and trademarks.
_ORNAMENTS = (
    r"[[\p{Emoji}\p{Block=Dingbats}\p{Block=Geometric_Shapes}\p{Block=Box_Drawing}"
    r"\p{Block=Block_Elements}∙|~−\uFFFD" + _MINUS + r"]--[♀♂♠♣♥♦+<=>]]"
)
_KEPT = regex.compile(
    rf"""(?V1)
      {_MINUS}?[{_ALNUM}]+(?:(?<=\p{{Nd}})(?:[.:/](?=\p{{Nd}})|\^(?=[{_ALNUM}{_MINUS}]){_MINUS}?)[{_ALNUM}]+)*
    | {_MINUS} | [%‰‱]
    | (?<=(?<![{_ALNUM}])\p{{Latin}})\#                   # C#, F#
    | (?<=\p{{N}}[ ]?)\*(?=[ ]?\p{{N}})                   # 2*3
    | (?<=(?<![{_ALNUM}])\p{{Latin}})\*(?![{_ALNUM}])     # A*
    | (?<=[\p{{Nd}})\]])/(?=[\p{{Nd}}(\[])                # (a+b)/2
    | (?<=(?<![{_ALNUM}])\p{{Latin}})/(?=\p{{Nd}})        # x/2
    | (?<=\p{{Nd}})/(?=\p{{Latin}}(?![{_ALNUM}]))         # 2/x
    | (?<![{_ALNUM}])~(?=[ ]?[\p{{Nd}}\p{{Sc}}])          # ~5
    | [[\p{{Sc}}\p{{Sm}}\p{{So}}]--{_ORNAMENTS}]
    """,
    regex.VERBOSE,
)
# A text in ASCII in which no rule applies.
_PLAIN = re.compile(
    r"""(?:[A-Za-z0-9\s;!?"()\[\]{}&@\\_`]|[.,'](?![0-9])|(?<=[A-Za-z]):(?![0-9])|(?<=[A-Za-z0-9])-(?=[A-Za-z0-9]))*"""
)
_SPACED_DIGITS = re.compile(r"[0-9]\s+[0-9]")
_RULER = regex.compile(r"([=+<>~*#_-])\1{2,}")
_SYMBOL = regex.compile(r"(?V1)[[\p{S}#%&*@/\\]--[`´]]")
# Emoji differ by their zero-width joiners and tags, but not by their colour or presentation.
_PRESENTATION = regex.compile(r"[\p{Variation_Selector}\U0001F3FB-\U0001F3FF]")
_MEANINGLESS_SPACE = regex.compile(rf"(?<=[{UNSPACED}]) | (?=[{UNSPACED}])")
_UNICODE_TOKEN = regex.compile(rf"(?V1)(?=[{UNSPACED}])\X|[[^\s]--[{UNSPACED}]]+")


def _unicode_form(text: str) -> str:
    """Normalise a text under the variant 'unicode'; see `normalized`."""
    if text.isascii() and _PLAIN.fullmatch(text) and not _SPACED_DIGITS.search(text):
        plain = " ".join(_ASCII.findall(text.lower()))
        if plain:
            return plain
    visible_text = visible(text)
    for pattern, replacement in _BEFORE_FOLDING:
        visible_text = pattern.sub(replacement, visible_text)
    folded = fold(visible_text).translate(_SAME)
    folded = _GROUPS.sub(_digits, folded)
    for pattern, replacement in _AFTER_FOLDING:
        folded = pattern.sub(replacement, folded)
    words = " ".join(_KEPT.findall(folded)).replace(_MINUS, "-")
    if not words:
        return " ".join(symbols(text))
    return _MEANINGLESS_SPACE.sub("", words)


def _digits(number: Any) -> str:
    """Remove everything except the digits from the match of a number."""
    return "".join(filter(str.isdecimal, number.group()))


def symbols(text: str) -> list[str]:
    """Return the runs of symbols and emoji of a text, with a space between two of a run.

    Punctuation, such as full stops, brackets and dashes, is not among them.

    Examples
    --------
    >>> symbols("Well done 👍🏽👍, 5 < 7!")
    ['👍 👍', '<']
    """
    folded = fold(_PRESENTATION.sub("", _RULER.sub(" ", text)))
    runs: list[list[str]] = [[]]
    for cluster in GRAPHEME.findall(folded):
        if _SYMBOL.match(cluster):
            runs[-1].append(cluster)
        elif not cluster.isspace():
            runs.append([])
    return [" ".join(run) for run in runs if run]


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
        return tuple(plain.split() if plain.isascii() else _UNICODE_TOKEN.findall(plain))
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
