"""Metrics of answers: agreement with a reference (such as F1 and ROUGE-L), and readability.

A reference is a string, or a list of *parts* that are all required in the answer. Each part is a
string or a list of *aliases*; any one alias is sufficient. ``["a", "b"]`` means a AND b, and
``[["a", "b"]]`` means a OR b. A *reference text* consists of one alias of each part, in the given
order and joined by spaces. All metrics except `contains` and `bleu` compare the response with each
reference text and return the highest value.

The value is NaN if the response or the reference is None. If both are empty after normalisation,
the value depends on the variant.

``[[""]]`` states that the right answer is no answer, as in SQuAD 2.0. A blank response then scores 1,
and a response with words scores 0. If the script of a variant defines the value of two empty texts,
this value is used for a blank response. A response such as "...", which is not blank but has no
words, has the value of that script as well, and NaN under ``'unicode'``. `contains` and `bleu` do not
measure whether no answer is right: for a blank response, both are NaN.

`ragnb.score` removes the reasoning of a model (``<think>…</think>``) before it calls these
functions. If you call them yourself with the reply of a reasoning model, first extract the answer
with `ragnb.text.split_reasoning`.

To compare with published numbers, use the variant of the benchmark: ``'squad'``, ``'triviaqa'``,
``'kilt'`` or ``'mlqa'``. SQuAD deletes punctuation and the articles *a*, *an* and *the*, so that
"the cat" equals "cat" and "U.S." equals "US". The default, ``'unicode'``, treats all languages
alike: it keeps articles and symbols, and replaces punctuation with spaces. Neither of these two pairs
is then equal.

All functions raise InputError for a response that is not a string, a malformed reference and an
unknown variant. `bleu`, `flesch_reading_ease` and the variant ``'mlqa'`` also raise it for an
unknown language code.

The metrics of tokens pass all of their arguments on with ``**locals()``. As this is their only
statement, the local variables are then exactly the parameters.
"""

import math
from collections import Counter
from collections.abc import Callable, Sized
from functools import lru_cache, partial
from typing import Annotated, Any, TypeVar

import regex

from ragnb.errors import InputError
from ragnb.metrics.declaration import Column, Option
from ragnb.metrics.language import primary_code, scripts_of
from ragnb.metrics.normalization import OFFICIAL, answer_tokens, check_text, normalized, symbols
from ragnb.metrics.record import EXTRA_WORDS, MISSING_PARTS, OTHER_WORDS, metric
from ragnb.metrics.references import Reference, reference_parts, reference_texts
from ragnb.text import is_blank, sentences, tokens, visible

Prepared = TypeVar("Prepared", bound=Sized)
Tokens = tuple[str, ...]

_SOURCE = (
    "Rajpurkar et al. 2016, arXiv 1606.05250 (variant squad); Joshi et al. 2017 (triviaqa); Petroni et "
    "al. 2021 (kilt); Lewis et al. 2020 (mlqa); kanoes/LBRAG-NEW experiments/scripts/experiment.py "
    "(lbrag). The default differs from all of them: articles are kept, and punctuation separates words"
)
_BOTH_EMPTY = (
    "If response and reference are both empty after normalisation; never under lbrag, squad, "
    "triviaqa, kilt and mlqa, where the published code gives 0 or 1."
)
_BOTH_BLANK = "If response and reference are both blank."
_SCRIPTS = (
    "Words, numbers and symbols such as $, % and + of all scripts after NFKC and case folding. A "
    "number includes its minus sign, and its digit groups are joined. Punctuation, Markdown and emoji "
    "separate words, and articles are kept. White space next to a character of a script without "
    "spaces between words is ignored"
)
_BLOCKS = "As in the published code, which deletes Devanagari, Greek, Tamil and other scripts"
_OFFICIAL = {
    "squad": "Equal to SQuAD's evaluate-v2.0.py. Lower case; ASCII punctuation is deleted, and a, an "
    "and the are removed. Words are separated by spaces, also in Chinese.",
    "triviaqa": "Equal to TriviaQA's script: as squad, but punctuation is replaced by spaces.",
    "kilt": "Equal to KILT's eval_downstream.py: as squad.",
    "mlqa": "Equal to MLQA's script, in its languages en, es, hi, vi, de, ar and zh: all punctuation "
    "is deleted, the articles of the language are removed, and Chinese characters are words.",
}
# Variant -> value of the token metrics if neither text has tokens. Under "unicode" and "lbrag", the
# exact match of two empty texts is the same as here, and under the other variants it is 1.
BOTH_EMPTY = {"unicode": math.nan, "lbrag": 1.0, "squad": 1.0, **dict.fromkeys(OFFICIAL[1:], 0.0)}


# ---- arguments of the metrics ------------------------------------------------------------------


class Response(Column):
    """Response of the system."""

    column = "response"


class ReferenceAnswer(Column):
    """Reference answer: a string, or a list of parts that are all required.

    Each part is a string or a list of aliases; any one alias is sufficient.
    """

    column = "references"
    type_name = "str, list or None"


class Language(Column):
    """Language code.

    The variant ``'mlqa'`` requires one of ar, de, en, es, hi, vi and zh. With ``'lbrag'``, the tokens
    are characters for ja, zh, zh_cn and zh_tw, and words otherwise. The other variants ignore it.
    """

    column = "language"


class LanguageOfChrf(Column):
    """Ignored. chrF does not depend on the language."""

    column = "language"


class LanguageOfBleu(Column):
    """Language code of the response, which selects the tokeniser; see `bleu_tokenizer`."""

    column = "language"


class LanguageOfFlesch(Column):
    """Language code of the response.

    There are formulas for de, en, es, fr, it, nl and ru. Regions are ignored.
    """

    column = "language"


class Variant(Option):
    """Normalisation and tokenisation of both texts; see `ragnb.metrics.normalization`."""

    values = {
        "unicode": f"{_SCRIPTS}. Tokens are grapheme clusters in scripts without spaces between "
        "words, and words otherwise.",
        "lbrag": f"{_BLOCKS}. Two answers in Hindi letters, without digits, therefore score 1. Tokens "
        "are characters in Japanese and Chinese, and words in all other languages, including Thai.",
        "squad": f"{_OFFICIAL['squad']} Two empty texts score 1.",
        **{name: f"{_OFFICIAL[name]} Two empty texts score 0." for name in OFFICIAL[1:]},
    }


class VariantOfExactMatch(Variant):
    """Normalisation of both texts; see `ragnb.metrics.normalization`."""

    values = {
        "unicode": f"{_SCRIPTS}.",
        "lbrag": f"{_BLOCKS}. Two answers in Hindi letters, without digits, are therefore equal. "
        "Two empty texts score 1.",
        **{name: f"{text} Two empty texts score 1." for name, text in _OFFICIAL.items()},
    }


class VariantOfContains(Variant):
    """Normalisation of both texts; see `ragnb.metrics.normalization`."""

    values = {
        "unicode": f"{_SCRIPTS}.",
        "lbrag": f"{_BLOCKS}. Nothing is left of a reference in Hindi letters.",
        **_OFFICIAL,
    }


class WordOrder(Option):
    """Maximum order of the word n-grams."""

    values = {
        0: "chrF: character n-grams only.",
        2: "chrF++: word unigrams and bigrams as well.",
        ...: "Word n-grams up to this order as well.",
    }
    must_be = "a whole number of at least 0"

    @classmethod
    def allows(cls, value: Any) -> bool:
        """Whether the value is the order of n-grams."""
        return isinstance(value, int) and value >= 0


class Tokenizer(Option):
    """Name of a sacreBLEU tokeniser."""

    values = {
        None: "Depends on the language: zh for Chinese, char for other languages without spaces "
        "between words, and 13a for all others.",
        "13a": "Words and punctuation, as in the WMT campaigns. A Chinese or Thai sentence is "
        "then a single word.",
        "zh": "Each Chinese character is a token; the rest is tokenised as with 13a.",
        "char": "Each character is a token.",
        "intl": "Words and punctuation, separated by Unicode category.",
        "none": "Splits at spaces only.",
        ...: "Another tokeniser of sacreBLEU; some require a package or a download.",
    }


def _best(
    measure: Callable[[Prepared, Prepared], float],
    response: str | None,
    reference: Reference | None,
    prepare: Callable[..., Prepared],
    both_empty: float = math.nan,
    **options: str | None,
) -> float:
    """Highest value of a measure over the reference texts, after preparing all texts.

    If only one of two prepared texts is empty, the value is 0. If both are, it is `both_empty`, the
    value that a published script defines, or NaN if there is none. There is one exception to this NaN:
    if the reference is a list with a blank text, a blank response scores 1.
    """
    if response is None or reference is None:
        return math.nan
    prepared_response = prepare(check_text(response, "response"), **options)
    is_value_published = not math.isnan(both_empty)
    # A list with a blank text, such as [[""]], states that the right answer is no answer. A reference
    # that is itself a blank text states nothing, because it may be a cell that was left empty.
    can_state_no_answer = not isinstance(reference, str)
    values = []
    for text in reference_texts(reference):
        prepared_reference = prepare(text, **options)
        if prepared_response and prepared_reference:
            values.append(measure(prepared_response, prepared_reference))
        elif prepared_response or prepared_reference:
            values.append(0.0)
        elif is_value_published:
            values.append(both_empty)
        # The texts as they were written decide. A response such as "..." is also empty after
        # normalisation, but it is not clear that it gives no answer.
        elif can_state_no_answer and is_blank(text) and is_blank(response):
            values.append(1.0)
        else:
            values.append(math.nan)
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def _best_of_tokens(
    measure: Callable[[Tokens, Tokens], float],
    response: str | None,
    reference: Reference | None,
    *,
    language: str | None,
    variant: str,
) -> float:
    """Highest value of a measure of two sequences of tokens over the reference texts."""
    return _best(
        measure,
        response,
        reference,
        answer_tokens,
        BOTH_EMPTY[variant],
        variant=variant,
        language=language,
    )


# ---- exact match, containment ------------------------------------------------------------------


@metric(
    "answer.exact_match",
    source=_SOURCE,
    binary=True,
    undefined=_BOTH_EMPTY,
    punishes=(EXTRA_WORDS, OTHER_WORDS, MISSING_PARTS),
)
def exact_match(
    response: Annotated[str | None, Response],
    reference: Annotated[Reference | None, ReferenceAnswer],
    *,
    variant: Annotated[str, VariantOfExactMatch] = "unicode",
    language: Annotated[str | None, Language] = None,
) -> float:
    """Exact match (EM): 1.0 if the response equals the reference after normalisation, else 0.0.

    The parts of a reference are joined by spaces in the given order. If parts have aliases, the
    response may match any combination of them.

    Notes
    -----
    Source: Rajpurkar et al. (2016), SQuAD, section 6.1. ``'squad'``, ``'triviaqa'``, ``'kilt'``
    and ``'mlqa'`` reproduce the evaluation scripts of these benchmarks. ``'lbrag'`` is
    ``exact_match`` of kanoes/LBRAG-NEW, experiments/scripts/experiment.py.

    Examples
    --------
    >>> exact_match("Ｔokyo!", "tokyo"), exact_match("Edo", [["Tokyo", "edo"]])
    (1.0, 1.0)
    >>> exact_match("दिल्ली", "मुंबई"), exact_match("दिल्ली", "मुंबई", variant="lbrag")
    (0.0, 1.0)
    >>> exact_match("The U.S.", "US"), exact_match("The U.S.", "US", variant="squad")
    (0.0, 1.0)
    """
    return _best(
        lambda a, b: float(a == b),
        response,
        reference,
        normalized,
        math.nan if variant == "unicode" else 1.0,
        variant=variant,
        language=language,
    )


@metric(
    "answer.contains",
    source="ours: the normalised reference is a substring",
    binary=True,
    undefined="If a part of the reference is empty after normalisation.",
    punishes=(OTHER_WORDS, MISSING_PARTS),
)
def contains(
    response: Annotated[str | None, Response],
    reference: Annotated[Reference | None, ReferenceAnswer],
    *,
    variant: Annotated[str, VariantOfContains] = "unicode",
    language: Annotated[str | None, Language] = None,
) -> float:
    """Substring match: 1.0 if the response contains every part of the reference, else 0.0.

    A part is found if at least one of its aliases is a substring of the response, after both have
    been normalised. Word boundaries are ignored: "1999" contains "99".

    Notes
    -----
    Source: this package. The metric is also known as lexical match or cover exact match.

    Examples
    --------
    >>> contains("It was in Tampa.", [["Tampa", "Miami"]])
    1.0
    >>> contains("It was in Tampa.", ["Tampa", "Miami"])
    0.0
    """
    if response is None or reference is None:
        return math.nan
    normalise = partial(normalized, variant=variant, language=language)
    text = normalise(check_text(response, "response"))
    if variant == "unicode":
        # Next to words, emoji are not part of the normalised text. An alias may be just an emoji.
        text = "\n".join([text, *symbols(response)])
    is_found = []
    for part in reference_parts(reference, can_be_blank=True):
        # An empty text would be found in every response, so an alias that is empty after
        # normalisation is left out.
        aliases = [alias for alias in map(normalise, part) if alias]
        if not aliases:
            # It cannot be known whether the response contains this part.
            return math.nan
        is_found.append(any(alias in text for alias in aliases))
    return float(all(is_found))


# ---- overlap of tokens -------------------------------------------------------------------------


def overlap(first: Tokens, second: Tokens) -> int:
    """Size of the multiset intersection of two sequences of tokens.

    A token that occurs m times in one sequence and n times in the other counts min(m, n) times.

    >>> overlap(("a", "a", "b"), ("a", "a", "a", "c"))
    2
    """
    return (Counter(first) & Counter(second)).total()


def _f1(n_shared: int, response: Tokens, reference: Tokens) -> float:
    """Harmonic mean of precision and recall, from a number of shared tokens; 0.0 if there are none."""
    if not n_shared:
        # Precision and recall are then 0, and their harmonic mean would divide by 0.
        return 0.0
    precision, recall = n_shared / len(response), n_shared / len(reference)
    return 2 * precision * recall / (precision + recall)


@metric(
    "answer.f1",
    source=_SOURCE,
    undefined=_BOTH_EMPTY,
    punishes=(EXTRA_WORDS, OTHER_WORDS, MISSING_PARTS),
)
def token_f1(
    response: Annotated[str | None, Response],
    reference: Annotated[Reference | None, ReferenceAnswer],
    *,
    language: Annotated[str | None, Language] = None,
    variant: Annotated[str, Variant] = "unicode",
) -> float:
    """Token F1: harmonic mean of token precision and token recall.

    F1 = 2PR / (P + R), where P = (number of shared tokens) / (number of tokens in the response) and
    R = (number of shared tokens) / (number of tokens in the reference). A token that occurs m times
    in one text and n times in the other counts as min(m, n) shared tokens.

    Notes
    -----
    Source: Rajpurkar et al. (2016), SQuAD, section 6.1. ``'squad'``, ``'triviaqa'``, ``'kilt'``
    and ``'mlqa'`` reproduce the evaluation scripts of these benchmarks. ``'lbrag'`` is
    ``f1_score_lang`` of kanoes/LBRAG-NEW, experiments/scripts/experiment.py.

    Examples
    --------
    >>> token_f1("in Oslo today", "Oslo")
    0.5
    >>> round(token_f1("4429m", "4429米", language="zh", variant="lbrag"), 4)
    0.8
    """
    return _best_of_tokens(lambda a, b: _f1(overlap(a, b), a, b), **locals())


@metric(
    "answer.precision", source=_SOURCE, undefined=_BOTH_EMPTY, punishes=(EXTRA_WORDS, OTHER_WORDS)
)
def token_precision(
    response: Annotated[str | None, Response],
    reference: Annotated[Reference | None, ReferenceAnswer],
    *,
    language: Annotated[str | None, Language] = None,
    variant: Annotated[str, Variant] = "unicode",
) -> float:
    """Token precision: proportion of the tokens of the response that are in the reference.

    Precision = (number of shared tokens) / (number of tokens in the response). Each token of the
    reference can be matched only once.

    Notes
    -----
    Source: Rajpurkar et al. (2016), SQuAD, section 6.1; see `token_f1` for the variants.

    Examples
    --------
    >>> token_precision("in Oslo, Norway, today", "Oslo Norway")
    0.5
    """
    return _best_of_tokens(lambda a, b: overlap(a, b) / len(a), **locals())


@metric(
    "answer.recall", source=_SOURCE, undefined=_BOTH_EMPTY, punishes=(OTHER_WORDS, MISSING_PARTS)
)
def token_recall(
    response: Annotated[str | None, Response],
    reference: Annotated[Reference | None, ReferenceAnswer],
    *,
    language: Annotated[str | None, Language] = None,
    variant: Annotated[str, Variant] = "unicode",
) -> float:
    """Token recall: proportion of the tokens of the reference that are in the response.

    Recall = (number of shared tokens) / (number of tokens in the reference). Each token of the
    response can be matched only once.

    Notes
    -----
    Source: Rajpurkar et al. (2016), SQuAD, section 6.1; see `token_f1` for the variants.

    Examples
    --------
    >>> token_recall("in Oslo today", "Oslo Norway")
    0.5
    """
    return _best_of_tokens(lambda a, b: overlap(a, b) / len(b), **locals())


@metric(
    "answer.rouge_l",
    source="Lin 2004, section 3.1",
    undefined=_BOTH_EMPTY,
    punishes=(EXTRA_WORDS, OTHER_WORDS, MISSING_PARTS),
)
def rouge_l(
    response: Annotated[str | None, Response],
    reference: Annotated[Reference | None, ReferenceAnswer],
    *,
    language: Annotated[str | None, Language] = None,
    variant: Annotated[str, Variant] = "unicode",
) -> float:
    """ROUGE-L: F1 based on the longest common subsequence (LCS) of tokens.

    ROUGE-L = 2PR / (P + R), where P = L / (number of tokens in the response), R = L / (number of
    tokens in the reference), and L is the number of tokens in the LCS.

    Notes
    -----
    Source: Lin (2004), ROUGE, section 3.1, with beta = 1. The tokens are those of `token_f1`.

    Examples
    --------
    >>> rouge_l("the cat sat", "the sat cat")
    0.6666666666666666
    """
    return _best_of_tokens(lambda a, b: _f1(_longest_common(a, b), a, b), **locals())


def _longest_common(first: Tokens, second: Tokens) -> int:
    """Length of the longest common subsequence of two sequences of tokens."""
    from rapidfuzz.distance import LCSseq

    return int(LCSseq.similarity(first, second))


# ---- chrF and BLEU, by sacreBLEU ---------------------------------------------------------------


@metric(
    "answer.chrf",
    source="Popović 2015; sacreBLEU",
    undefined=_BOTH_BLANK,
    punishes=(EXTRA_WORDS, OTHER_WORDS, MISSING_PARTS),
)
def chrf(
    response: Annotated[str | None, Response],
    reference: Annotated[Reference | None, ReferenceAnswer],
    *,
    language: Annotated[str | None, LanguageOfChrf] = None,
    word_order: Annotated[int, WordOrder] = 0,
) -> float:
    """chrF: character n-gram F-score with n from 1 to 6, computed by sacreBLEU for one response.

    chrF = 5PR / (4P + R), where P and R are the n-gram precision and recall, averaged over all n for
    which both texts have n-grams. With ``word_order=2``, word unigrams and bigrams are included
    (chrF++). The metric is case-sensitive, and character n-grams ignore spaces.

    Notes
    -----
    Source: Popović (2015), chrF; Popović (2017), chrF++; ``sacrebleu.sentence_chrf``.

    Examples
    --------
    >>> round(chrf("Die Hauptstadt ist Oslo", "die Hauptstadt ist Oslo"), 3)
    0.942
    """
    from sacrebleu import sentence_chrf

    if response is None or reference is None:
        return math.nan
    text = check_text(response, "response").strip()
    references = [alternative.strip() for alternative in reference_texts(reference)]
    references = [alternative for alternative in references if alternative]
    if not text or not references:
        # No n-grams are compared: the value only depends on which of the texts are blank.
        return _best(lambda *_: 0.0, response, reference, str.strip)
    # sacreBLEU returns the highest value over the references, and counts the n-grams of the text once.
    return sentence_chrf(text, references, word_order=word_order).score / 100


@metric(
    "answer.bleu",
    source="Papineni et al. 2002; Post 2018; sacreBLEU",
    undefined=_BOTH_BLANK,
    punishes=(EXTRA_WORDS, OTHER_WORDS, MISSING_PARTS),
)
def bleu(
    response: Annotated[str | None, Response],
    reference: Annotated[Reference | None, ReferenceAnswer],
    *,
    language: Annotated[str | None, LanguageOfBleu] = None,
    tokenize: Annotated[str | None, Tokenizer] = None,
) -> float:
    """Sentence BLEU: geometric mean of the 1- to 4-gram precisions times a brevity penalty.

    The score is computed by sacreBLEU with exponential smoothing and effective order, which leaves
    out n-grams longer than the response. If the reference has aliases, BLEU compares the response
    with all combinations of aliases at once, as it was defined: an n-gram counts if it is in any of
    them, at most as often as in the one that contains it most often, and the brevity penalty uses
    the reference text whose length is closest to that of the response. BLEU was designed for corpora
    and is not very informative for short answers.

    Notes
    -----
    Source: Papineni et al. (2002); Post (2018); ``sacrebleu.sentence_bleu``.

    Examples
    --------
    >>> bleu("奥斯陆是首都", "奥斯陆是首都", language="zh")
    1.0
    >>> bleu("a b c d e f", [["a b c d e X", "Y b c d e f"]])
    1.0
    """
    tokenizer = bleu_tokenizer(language) if tokenize is None else tokenize
    metric = _bleu(tokenizer)
    if response is None or reference is None:
        return math.nan
    text = check_text(response, "response").strip()
    references = [alternative.strip() for alternative in reference_texts(reference)]
    references = [alternative for alternative in references if alternative]
    if not text and not references:
        return math.nan
    if not text or not references:
        return 0.0
    # Rounding can give a score slightly above 100.
    return min(1.0, metric.sentence_score(text, references).score / 100)


def bleu_tokenizer(language: str | None) -> str:
    """Return the name of the sacreBLEU tokeniser that `bleu` uses for a language.

    ``'zh'`` for Chinese; ``'char'`` for other languages that are written without spaces between words
    (Japanese, Thai, Lao, Khmer, Burmese, Tibetan and Dzongkha); ``'13a'`` for all others and for None.

    >>> bleu_tokenizer("zh-TW"), bleu_tokenizer("th"), bleu_tokenizer("hi"), bleu_tokenizer(None)
    ('zh', 'char', '13a', '13a')
    """
    if language is None:
        return "13a"
    if primary_code(language) == "zh":
        return "zh"
    unspaced_scripts = {"Han", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"}
    return "char" if scripts_of(language) & unspaced_scripts else "13a"


@lru_cache
def _bleu(tokenizer: str) -> Any:
    """The BLEU of sacreBLEU with a tokeniser; InputError if there is no such tokeniser."""
    from sacrebleu.metrics.bleu import BLEU

    try:
        return BLEU(tokenize=tokenizer, effective_order=True)
    except (KeyError, ValueError, RuntimeError, ImportError) as error:
        raise InputError(
            f"tokenize must be a tokeniser of sacreBLEU, got {tokenizer!r} ({error})"
        ) from error


# ---- readability -------------------------------------------------------------------------------

# A contraction such as "don't" is a single word in English.
_ENGLISH_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*")

# Language code -> constant, weight of words per sentence, weight of syllables per word.
FLESCH = {
    "en": (206.835, 1.015, 84.6),  # Flesch (1948)
    "de": (180.0, 1.0, 58.5),  # Amstad (1978)
    "es": (206.84, 1.02, 60.0),  # Fernández Huerta (1959)
    "fr": (207.0, 1.015, 73.6),  # Kandel and Moles (1958)
    "it": (217.0, 1.3, 60.0),  # Franchina and Vacca (1986)
    "nl": (206.835, 0.93, 77.0),  # Douma (1960)
    "ru": (206.835, 1.3, 60.1),  # Oborneva (2006)
}


@metric(
    "answer.flesch_reading_ease",
    bounds=(-math.inf, math.inf),
    source="Flesch 1948 and its adaptations",
    undefined="If the response has no words, or if there is no published formula for its language.",
)
def flesch_reading_ease(
    response: Annotated[str | None, Response], language: Annotated[str, LanguageOfFlesch]
) -> float:
    """Flesch reading ease: readability from words per sentence and syllables per word.

    Reading ease = constant - a * words / sentences - b * syllables / words, where the constant, a
    and b depend on the language (`FLESCH`). English syllables are counted by syllapy, from its list
    of words and, for other words, from groups of vowels. On answers whose words are all in the CMU
    Pronouncing Dictionary, its values are on average within 1 point of those with the dictionary's
    syllables. In the other languages, syllables are approximated by pyphen's hyphenation points.
    They miss single-letter syllables, as in German *O-ma*, so texts appear slightly easier than they
    are. A number counts as one syllable.

    Notes
    -----
    Source: Flesch (1948), J. Appl. Psychol. 32, 221-233. Adaptations: Amstad (1978, de), Fernández
    Huerta (1959, es), Kandel and Moles (1958, fr), Franchina and Vacca (1986, it), Douma (1960,
    nl) and Oborneva (2006, ru).

    Examples
    --------
    >>> round(flesch_reading_ease("Der Hund schläft. Die Katze auch.", "de"), 2)
    108.75
    >>> flesch_reading_ease("猫也睡。", "zh")
    nan
    """
    code = primary_code(language)
    constants = FLESCH.get(code)
    if response is None or constants is None:
        return math.nan
    check_text(response, "response")
    words = _ENGLISH_WORD.findall(visible(response)) if code == "en" else tokens(response)
    if not words:
        return math.nan
    base, per_sentence, per_word = constants
    count = _english_syllables if code == "en" else partial(_hyphenated_syllables, language=code)
    syllables = sum(map(count, words))
    # A sentence without words, such as "…", is none.
    n_sentences = sum(bool(tokens(sentence)) for sentence in sentences(response))
    return base - per_sentence * len(words) / n_sentences - per_word * syllables / len(words)


@lru_cache(maxsize=32768)
def _english_syllables(word: str) -> int:
    """Count the syllables of an English word; 1 for a number or a word in another script."""
    from syllapy import count

    return max(1, count(word.replace("’", "'")))


def _hyphenated_syllables(word: str, language: str) -> int:
    """Approximate the number of syllables: one more than the places where a word can be hyphenated."""
    return len(_hyphenation(language).positions(word)) + 1


@lru_cache
def _hyphenation(language: str) -> Any:
    """The hyphenation patterns of a language."""
    from pyphen import Pyphen

    return Pyphen(lang=language)
