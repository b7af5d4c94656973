"""Normalisation and tokenisation of answers before they are compared.

The variant ``'unicode'``, the default, keeps all scripts. Its definition is:

    Texts are compared after NFKC normalisation and case folding as sequences of words, numbers and
    symbols; punctuation, Markdown, and emoji next to words only separate them. A number includes its
    minus sign and a decimal point, slash, colon or exponent between its digits; digit groups are
    joined, and a decimal comma becomes a point. White space next to scripts that are written without
    spaces is ignored, and a text without words, numbers and symbols is represented by its emoji and
    other signs.

- Symbols are the currency signs, the mathematical signs except | and ~, other signs such as ° and ♭,
  %, and the # or * in C# and A*. Therefore $5 differs from €5, C++ from C#, x = 5 from x ≠ 5, and
  50% from 50.
- A hyphen or dash is a minus sign in front of a number or a variable, unless it follows a word or a
  number: -5 differs from 5, but 3-5, COVID-19 and a list item "- 5" contain no minus sign. It is also
  a symbol in grades and blood groups such as A- and AB-.
- 3.5, 1/2, 1:2 and 10^6 are one word each; 10⁶ and ½ are other forms of the last and of 1/2. Chains of
  numbers with one separator are separate numbers, and so are two years with a slash. Therefore
  31.1.2020 equals 31/1/2020, and 2019/20 equals 2019-20.
- 1,000 and 1 000 and 1'000 equal 1000. The number 1.000 is not changed: it is a thousand in German
  and one in English.

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

# Tested in tests/metrics/test_answer.py.

import re
import string
from functools import lru_cache
from typing import Any

import regex

from ragnb.arguments import accepts
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

# What the evaluation scripts do with punctuation: SQuAD and KILT delete it, and TriviaQA replaces it
# with spaces.
_PUNCTUATION_TO_NOTHING = str.maketrans("", "", string.punctuation)
_PUNCTUATION_TO_SPACE = str.maketrans(dict.fromkeys(string.punctuation + "‘’´`", " "))
# Unicode punctuation, and the characters of `string.punctuation` that Unicode calls symbols.
PUNCTUATION = regex.compile(r"[\p{P}$+<=>^`|~]+")
_ASCII = re.compile("[a-z0-9]+")
_LBRAG_KEPT = regex.compile(f"[{LBRAG_KEPT}]+")


@accepts()
@lru_cache(maxsize=32768)
def normalized(text: str, *, variant: str = "unicode", language: str | None = None) -> str:
    """Normalise a text so that it can be compared with a reference.

    Parameters
    ----------
    text : str
        Text to normalise.
    variant : {'unicode', 'lbrag', 'squad', 'triviaqa', 'kilt', 'mlqa'}, default='unicode'
        ``'unicode'`` applies NFKC and case folding, removes invisible format characters, and keeps
        words, numbers and symbols of all writing systems. Other characters become spaces; see
        `ragnb.metrics.normalization`. ``'lbrag'`` converts the text to lower case and
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

_ALNUM = r"\p{L}\p{M}\p{N}"
# Letters and digits of scripts that are written with spaces.
_SPACED_ALNUM = rf"[[{_ALNUM}]--[{UNSPACED}]]"

# One character for each sign that is written in several ways. U+2212 does not occur afterwards, so
# that it can mark a hyphen that is a minus sign.
_BEFORE_FOLDING = str.maketrans(
    {**dict.fromkeys("‑‒–−", "-"), "’": "'", "♯": "#", "٪": "%", "∶": ":", "™": " "}
)
_AFTER_FOLDING = str.maketrans({"⁄": "/", "٫": ".", "٬": ","})


def _rules(*rows: tuple[str, str]) -> list[tuple[Any, str]]:
    """Compile pairs of a pattern and its replacement."""
    return [(regex.compile(rf"(?V1m){pattern}"), replacement) for pattern, replacement in rows]


# Markup would otherwise look like a symbol: "> Oslo", <b>Oslo</b>, *Oslo* and $x=5$.
_MARKUP = _rules(
    # The sign of a quotation or of a list item at the start of a line, unless a number follows: "+ 5".
    (r"^[^\S\n]*[+>→](?=[^\S\n]+[^\s\p{Nd}])", " "),
    # The brackets of a tag. Its name stays, because "<Oslo>" is a word in such brackets.
    (r"</?(\p{L}[^<>\s]*)>", r" \1 "),
    # One to three asterisks on both sides of a text in one line, outside of a word.
    (rf"(?<![{_ALNUM}*])\*{{1,3}}(?=\S)([^*\n]{{1,300}})(?<=\S)\*{{1,3}}(?![{_ALNUM}*])", r"\1"),
    # The marks of a displayed formula.
    (r"\${2,}", " "),
    # The marks of a formula in a line. Those of prices have a space before, or a digit after, the second
    # mark, as in "$5 or $6" and "US$5/US$6".
    (r"\$(?=\S)([^$\n]{1,200})(?<=\S)\$(?!\p{Nd})", r" \1 "),
)
# NFKC would change the meaning of these.
_COMPATIBILITY = _rules(
    # 10² is written 10^2, because NFKC makes 102 of it.
    (r"(?<=\p{Nd})(?=[²³¹⁰ⁱ⁴-⁹⁺⁻ⁿ])", "^"),
    # 3½ is written 3 1/2, because NFKC makes 31/2 of it.
    (r"(?<=\p{Nd})(?=[¼-¾⅐-⅟↉])", " "),
    # People type the ordinal indicator for a degree; NFKC makes a letter of it.
    (r"(?<=\p{Nd} ?)º", "°"),
    # Grades and blood groups: no other hyphen at the end of a word is a minus sign.
    (r"(?<!\w)([A-FO]|AB)-(?![\w-])", r"\1⁻"),
)
# One form of each number. A point between a number and a single group of three digits stays,
# because 1.000 is a thousand in German and one in English.
_GROUPS = regex.compile(
    r"""(?<!\d[.,'/: ]?)(?!0)\d{1,3}
        (?:(?:,\d{2,3})*,\d{3}(?!,?\d)            # 1,000 and 10,00,000
          |(?:'\d{3})+(?!'?\d)                    # 1'000
          |(?:\ \d{3})+(?!\ ?\d)                  # 1 000
          |(?:\.\d{3})+(?=,\d+(?![\d.,]))         # 1.000,5
          |(?:\.\d{3}){2,}(?!\.?\d))              # 1.000.000
    """,
    regex.VERBOSE,
)
# Three or more numbers with the same separator, such as the parts of a date, a time or a version.
_CHAIN = regex.compile(r"(?<!\p{Nd}[./:]?)\p{Nd}+([./:])\p{Nd}+(?:\1\p{Nd}+)+(?![./:]?\p{Nd})")
_NUMBERS = _rules(
    # A decimal comma, unless it is one of several commas of a list.
    (r"(?<!\p{Nd}[.,]?)(\p{Nd}+),(\p{Nd}+)(?![.,]?\p{Nd})", r"\1.\2"),
    # A decimal fraction without a digit in front of the point.
    (rf"(?<![{_ALNUM}.)\]])\.(?=\p{{Nd}})", "0."),
    # Fractions and ratios are written with and without spaces.
    (r"(?<=\p{Nd}) ([/:]) (?=\p{Nd})", r"\1"),
    # The slash of a season or a range of years, as in 2019/20, is a hyphen.
    (r"(?<=(?<!\p{Nd})(?:1\p{Nd}|20)\p{Nd}{2})/(?=\p{Nd}{2})", " "),
    # A hyphen is a minus sign in front of a number or a variable, unless it follows a word or a
    # number, as in COVID-19, 3-5 and 2010年-2015年.
    (
        rf"(?<!{_SPACED_ALNUM}|[)\]}}%°-]|\p{{N}}[{UNSPACED}]{{0,2}} ?)"
        rf"-(?=(?:[\p{{Sc}}√] ?)?[\p{{Nd}}∞]|[\p{{Latin}}\p{{Greek}}](?![{_ALNUM}']))",
        "−",
    ),
    # x^2 is written like x², which NFKC replaces by x2.
    (rf"(?<=\p{{L}})\^(?=[{_ALNUM}−])", ""),
)
# Emoji, check marks, bullets and lines mean little next to words.
_ORNAMENTS = (
    r"[[\p{Emoji}\p{Block=Dingbats}\p{Block=Geometric_Shapes}\p{Block=Box_Drawing}"
    r"\p{Block=Block_Elements}∙|~\uFFFD]--[♀♂♠♣♥♦]]"
)
_KEPT = regex.compile(
    rf"""(?V1)
      −?[{_ALNUM}]+(?:(?<=\p{{Nd}})[.:/^](?=−?\p{{Nd}})−?[{_ALNUM}]+)*  # words and numbers
    | [[\p{{Sc}}\p{{Sm}}\p{{So}}%‰‱]--{_ORNAMENTS}]
    | (?<=(?<!\w)\p{{Latin}})(?:\#|\*(?!\*))                            # C#, A*
    | (?<=[\p{{Nd}})]|(?<!\w)\p{{Latin}})/(?=[\p{{Nd}}(]|\p{{Latin}}(?!\w))  # x/2, 2/x, (a+b)/2
    """,
    regex.VERBOSE,
)
# An ASCII text is more than words if it has a symbol, or a sign or a space next to a digit. Most texts
# have no character of the first pattern, which takes less time to search.
_DIGIT_OR_SIGN = re.compile(r"[0-9#$%*+/<=>^|~-]")
_SPECIAL = re.compile(
    r"[#$%*+/<=>^|~]|[.,':][0-9]|[0-9]\s+[0-9:]|-(?![A-Za-z0-9])|(?<![A-Za-z0-9])-"
)
# Symbols of Unicode, without two accents that people type as quotation marks, and some punctuation.
_SYMBOL = regex.compile(r"(?V1)[[\p{S}#%&*@/\\]--[`´]]")
# Emoji differ by their zero-width joiners and tags, but not by their colour or presentation.
_PRESENTATION = regex.compile(r"[\p{Variation_Selector}\U0001F3FB-\U0001F3FF]")
# A space before or after a character of a script without spaces between words.
_MEANINGLESS_SPACE = regex.compile(rf"(?<=[{UNSPACED}]) | (?=[{UNSPACED}])")
# A grapheme cluster of a script without spaces between words, or a run of other characters without spaces.
_UNICODE_TOKEN = regex.compile(rf"(?V1)(?=[{UNSPACED}])\X|[[^\s]--[{UNSPACED}]]+")


def _unicode_form(text: str) -> str:
    """Normalise a text under the variant 'unicode', which the module docstring defines."""
    is_words_only = text.isascii() and not (_DIGIT_OR_SIGN.search(text) and _SPECIAL.search(text))
    if is_words_only:
        # None of the rules below would change such a text, so they are skipped to save time.
        return " ".join(_ASCII.findall(text.lower())) or " ".join(symbols(text))
    unmarked = visible(text).translate(_BEFORE_FOLDING)
    for pattern, replacement in [*_MARKUP, *_COMPATIBILITY]:
        unmarked = pattern.sub(replacement, unmarked)
    folded = fold(unmarked).translate(_AFTER_FOLDING)
    folded = _GROUPS.sub(_digits, folded)
    folded = _CHAIN.sub(_separate_numbers, folded)
    for pattern, replacement in _NUMBERS:
        folded = pattern.sub(replacement, folded)
    words = " ".join(_KEPT.findall(folded)).replace("−", "-")
    words = _MEANINGLESS_SPACE.sub("", words)
    # A text without words is represented by its emoji and other signs.
    return words or " ".join(symbols(text))


def _digits(number: Any) -> str:
    """Remove everything except the digits from the match of a number."""
    return "".join(filter(str.isdecimal, number.group()))


def _separate_numbers(chain: Any) -> str:
    """Separate the numbers of a date, a time or a version by spaces."""
    return chain.group().replace(chain.group(1), " ")


def symbols(text: str) -> list[str]:
    """Return the symbols and emoji of a text, in runs.

    A run consists of all symbols that follow each other with nothing but white space between them.
    They are joined by single spaces, so that an emoji within a run can be found by a substring search.
    Emoji and the characters # % & * @ / and \\ count as symbols. Other punctuation, such as full
    stops, brackets and dashes, does not.

    Examples
    --------
    >>> symbols("Well done 👍🏽👍, 5 < 7!")
    ['👍 👍', '<']
    """
    folded = fold(_PRESENTATION.sub("", text))
    # Most texts have no symbol, and the search takes much less time than the division into clusters.
    if not _SYMBOL.search(folded):
        return []
    runs: list[list[str]] = [[]]
    for cluster in GRAPHEME.findall(folded):
        if _SYMBOL.match(cluster):
            runs[-1].append(cluster)
        elif not cluster.isspace():
            runs.append([])
    return [" ".join(run) for run in runs if run]


def _official(text: str, variant: str, language: str | None) -> str:
    """Normalise a text in lower case like the evaluation script of a benchmark."""
    articles = MLQA_ARTICLES["en"]
    if variant == "mlqa":
        code = (code_form(language) or "").partition("_")[0]
        check_choice(code, tuple(MLQA_ARTICLES), "the language under variant 'mlqa'")
        articles = MLQA_ARTICLES[code]
        text = PUNCTUATION.sub("", text)
        if code == "zh":
            # The script treats each Chinese character as a word.
            text = re.sub("([\u4e00-\u9fa5])", r" \1 ", text)
    else:
        text = text.translate(
            _PUNCTUATION_TO_SPACE if variant == "triviaqa" else _PUNCTUATION_TO_NOTHING
        )
    if articles:
        text = re.sub(articles, " ", text)
    return " ".join(text.split())


@lru_cache(maxsize=32768)
def answer_tokens(
    text: str, *, variant: str = "unicode", language: str | None = None
) -> tuple[str, ...]:
    """Normalise a text, see `normalized`, and split it into tokens.

    With ``'unicode'``, tokens are grapheme clusters in scripts without spaces between words, and words
    in all other scripts. With ``'lbrag'``, they are characters if the language is one of
    `LBRAG_CHARACTER_LANGUAGES`, and words otherwise. With the other variants, they are words.

    >>> answer_tokens("The peak: 4429米高"), answer_tokens("4429m", variant="lbrag", language="zh")
    (('the', 'peak', '4429', '米', '高'), ('4', '4', '2', '9', 'm'))
    """
    plain = normalized(text, variant=variant, language=language)
    if variant == "unicode":
        # ASCII contains no script without spaces between words, and `split` takes less time.
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
