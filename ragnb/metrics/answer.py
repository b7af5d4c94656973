"""Answer metrics compare a response with its reference: exact match, F1, containment, ROUGE, BLEU.

A reference is a string, or a list of *parts* that are all required in the answer. Each part is
a string or a list of *aliases*; any one alias is sufficient. ``["a", "b"]`` means a AND b, and
``[["a", "b"]]`` means a OR b. A *reference text* consists of one alias of each part, in the given
order and joined by spaces. The value of a response is its highest value over all reference texts.

A value is NaN if there is nothing to compare: no response (None), no reference (None), or both of
them empty after normalisation. If only one of them is empty, the value is 0. The variants that
reproduce other code give two empty texts the value that this code gives (`BOTH_EMPTY`).

The functions use the whole response. `ragnb.score` passes them the answer without the reasoning
(``<think>…</think>``). If you call a function yourself with the reply of a reasoning model, first
extract the answer with `ragnb.text.split_reasoning`.

To compare with published numbers, use the variant of the benchmark: ``"squad"``, ``"triviaqa"``,
``"kilt"`` or ``"mlqa"``. The default, ``"unicode"``, treats all languages alike and differs from
them. SQuAD removes *a, an, the* and deletes punctuation, so that "the cat" becomes "cat", "U.S."
becomes "us", "10,000" becomes "10000" and "don't" becomes "dont". With ``"unicode"``, articles are
kept and punctuation separates words. The two strings of each of these pairs are therefore different.

All functions raise InputError for a response that is not a string, a malformed reference, and an
unknown variant or language.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sized
from functools import lru_cache, partial
from typing import Any, TypeVar

from ragnb.errors import InputError
from ragnb.metrics.language import primary_code, scripts_of
from ragnb.metrics.normalization import OFFICIAL, answer_tokens, check_text, normalized
from ragnb.metrics.record import metric
from ragnb.metrics.references import Reference, reference_parts, reference_texts

Prepared = TypeVar("Prepared", bound=Sized)
Tokens = tuple[str, ...]

_COLUMNS = {"response": "response", "reference": "references", "language": "language"}
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
    "Letters, marks and numbers of all scripts after NFKC and case folding. Punctuation separates "
    "words, and articles are kept"
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
_TOKENS: Mapping[str, Mapping[Any, str]] = {
    "variant": {
        "unicode": f"{_SCRIPTS}. Tokens are grapheme clusters in scripts without spaces between "
        "words, and words otherwise.",
        "lbrag": f"{_BLOCKS}. Two answers in Hindi letters, without digits, therefore score 1. Tokens "
        "are characters in Japanese and Chinese, and words in all other languages, including Thai.",
        "squad": f"{_OFFICIAL['squad']} Two empty texts score 1.",
        **{name: f"{_OFFICIAL[name]} Two empty texts score 0." for name in OFFICIAL[1:]},
    }
}
# Value of a measure of tokens if there are none in either text. Exact match is 1, or NaN under
# unicode.
BOTH_EMPTY = {"unicode": math.nan, "lbrag": 1.0, "squad": 1.0, **dict.fromkeys(OFFICIAL[1:], 0.0)}


def _best(
    measure: Callable[[Prepared, Prepared], float],
    response: str | None,
    reference: Reference | None,
    prepare: Callable[..., Prepared],
    both_empty: float = math.nan,
    **options: str | None,
) -> float:
    """Highest value of a measure over the reference texts, after preparing all texts."""
    if response is None or reference is None:
        return math.nan
    said = prepare(check_text(response, "response"), **options)
    values = []
    for text in reference_texts(reference):
        wanted = prepare(text, **options)
        if said and wanted:
            values.append(measure(said, wanted))
        else:
            values.append(0.0 if said or wanted else both_empty)
    return max((value for value in values if not math.isnan(value)), default=math.nan)


# ---- exact match, containment ------------------------------------------------------------------


@metric(
    "answer.exact_match",
    _COLUMNS,
    options={
        "variant": {
            "unicode": f"{_SCRIPTS}.",
            "lbrag": f"{_BLOCKS}. Two answers in Hindi letters, without digits, are therefore equal. "
            "Two empty texts score 1.",
            **{name: f"{text} Two empty texts score 1." for name, text in _OFFICIAL.items()},
        }
    },
    source=_SOURCE,
    binary=True,
    undefined=_BOTH_EMPTY,
)
def exact_match(
    response: str | None,
    reference: Reference | None,
    *,
    variant: str = "unicode",
    language: str | None = None,
) -> float:
    """1.0 if the response equals a reference text after normalisation, else 0.0 (EM).

    Higher is better. The value is NaN if there is no response or no reference. If both are empty
    after normalisation, it is NaN with ``"unicode"`` and 1.0 with the other variants.

    Parameters
    ----------
    response : str or None
        The response of the system.
    reference : str, list or None
        A string, or parts with aliases (see the top of the module).
    variant : {"unicode", "lbrag", "squad", "triviaqa", "kilt", "mlqa"}
        How both are normalised; see `ragnb.metrics.normalization`.
    language : str, optional
        Language code, which ``"mlqa"`` needs. It has no effect on the other variants.

    Notes
    -----
    Source: Rajpurkar et al. (2016), SQuAD, section 6.1. ``"squad"``, ``"triviaqa"``, ``"kilt"`` and
    ``"mlqa"`` equal the evaluation scripts of these benchmarks. ``"lbrag"`` is ``exact_match`` of
    kanoes/LBRAG-NEW, experiments/scripts/experiment.py.

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
    _COLUMNS,
    options={
        "variant": {
            "unicode": f"{_SCRIPTS}.",
            "lbrag": f"{_BLOCKS}. Nothing is left of a reference in Hindi letters.",
            **_OFFICIAL,
        }
    },
    source="ours: the normalised reference is a substring",
    binary=True,
    undefined="If a part of the reference is empty after normalisation.",
)
def contains(
    response: str | None,
    reference: Reference | None,
    *,
    variant: str = "unicode",
    language: str | None = None,
) -> float:
    """1.0 if the response contains every part of the reference as a substring, else 0.0.

    Higher is better. Response and reference are normalised first. One alias of each part is
    sufficient. Part of a word counts: ``1999`` contains ``99``. The value is NaN if there is no
    response or no reference. It is also NaN if all aliases of a part are empty after normalisation,
    because every response would contain them. The parameters are those of `exact_match`.

    Notes
    -----
    Source: ours; other tools call it "lexical match" or "cover exact match".

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
    said = normalise(check_text(response, "response"))
    wanted = reference_parts(reference, can_be_blank=True)
    parts = [{normalise(alias) for alias in part} - {""} for part in wanted]
    if not all(parts):
        return math.nan
    return float(all(any(alias in said for alias in part) for part in parts))


# ---- overlap of tokens -------------------------------------------------------------------------


def overlap(said: Tokens, wanted: Tokens) -> int:
    """Size of the intersection of two multisets of tokens.

    >>> overlap(("a", "a", "b"), ("a", "a", "a", "c"))
    2
    """
    return (Counter(said) & Counter(wanted)).total()


def _f1(shared: int, said: Tokens, wanted: Tokens) -> float:
    """Harmonic mean of precision and recall; 0.0 if both are 0."""
    precision, recall = shared / len(said), shared / len(wanted)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


@metric("answer.f1", _COLUMNS, options=_TOKENS, source=_SOURCE, undefined=_BOTH_EMPTY)
def token_f1(
    response: str | None,
    reference: Reference | None,
    *,
    language: str | None = None,
    variant: str = "unicode",
) -> float:
    """Harmonic mean of token precision and recall (F1).

    The value is in [0, 1]; higher is better. If there are several reference texts, it is the
    highest value over them. It is NaN if there is no response or no reference. If both are empty
    after normalisation, the variant determines the value (`BOTH_EMPTY`); it is NaN with
    ``"unicode"``. If only one of them is empty, it is 0.0.

    F1 = 2PR / (P + R), where P = overlap / tokens of the response and R = overlap / tokens of the
    reference. The overlap is the number of tokens that both share, counted with repetitions.

    Parameters
    ----------
    response, reference
        See `exact_match`.
    language : str, optional
        Language code. It determines the tokens with ``"lbrag"`` and ``"mlqa"``, and has no effect
        on the other variants.
    variant : {"unicode", "lbrag", "squad", "triviaqa", "kilt", "mlqa"}
        Normalisation and tokens; see `ragnb.metrics.normalization`.

    Notes
    -----
    Source: Rajpurkar et al. (2016), SQuAD, section 6.1. ``"squad"``, ``"triviaqa"``, ``"kilt"`` and
    ``"mlqa"`` equal the evaluation scripts of these benchmarks. ``"lbrag"`` is ``f1_score_lang`` of
    kanoes/LBRAG-NEW, experiments/scripts/experiment.py.

    Examples
    --------
    >>> token_f1("in Oslo today", "Oslo")
    0.5
    >>> round(token_f1("4429m", "4429米", language="zh", variant="lbrag"), 4)
    0.8
    """
    return _best(
        lambda a, b: _f1(overlap(a, b), a, b),
        response,
        reference,
        answer_tokens,
        BOTH_EMPTY.get(variant, math.nan),
        variant=variant,
        language=language,
    )


@metric("answer.precision", _COLUMNS, options=_TOKENS, source=_SOURCE, undefined=_BOTH_EMPTY)
def token_precision(
    response: str | None,
    reference: Reference | None,
    *,
    language: str | None = None,
    variant: str = "unicode",
) -> float:
    """Proportion of the response's tokens that are in the reference.

    Each token of the reference can be matched only once. The value is in [0, 1]; higher is better.
    With several references, it is the maximum over them. It is NaN in the same cases as `token_f1`.
    The parameters are those of `token_f1`.

    Notes
    -----
    Source: Rajpurkar et al. (2016), arXiv 1606.05250; see `token_f1` for the variants.

    Examples
    --------
    >>> token_precision("in Oslo, Norway, today", "Oslo Norway")
    0.5
    """
    return _best(
        lambda a, b: overlap(a, b) / len(a),
        response,
        reference,
        answer_tokens,
        BOTH_EMPTY.get(variant, math.nan),
        variant=variant,
        language=language,
    )


@metric("answer.recall", _COLUMNS, options=_TOKENS, source=_SOURCE, undefined=_BOTH_EMPTY)
def token_recall(
    response: str | None,
    reference: Reference | None,
    *,
    language: str | None = None,
    variant: str = "unicode",
) -> float:
    """Proportion of the reference's tokens that are in the response.

    The value is in [0, 1]; higher is better. It is the highest value over the reference texts, and
    NaN in the same cases as `token_f1`. The parameters are those of `token_f1`.

    Notes
    -----
    Source: Rajpurkar et al. (2016), arXiv 1606.05250; see `token_f1` for the variants.

    Examples
    --------
    >>> token_recall("in Oslo today", "Oslo Norway")
    0.5
    """
    return _best(
        lambda a, b: overlap(a, b) / len(b),
        response,
        reference,
        answer_tokens,
        BOTH_EMPTY.get(variant, math.nan),
        variant=variant,
        language=language,
    )


@metric(
    "answer.rouge_l",
    _COLUMNS,
    options=_TOKENS,
    source="Lin 2004, section 3.1",
    undefined=_BOTH_EMPTY,
)
def rouge_l(
    response: str | None,
    reference: Reference | None,
    *,
    language: str | None = None,
    variant: str = "unicode",
) -> float:
    """ROUGE-L: F1 of the longest common subsequence of tokens, which depends on their order.

    The value is in [0, 1]; higher is better. It is the highest value over the reference texts, and
    NaN in the same cases as `token_f1`. The parameters are those of `token_f1`.

    ROUGE-L = 2PR / (P + R), where P = LCS / tokens of the response, R = LCS / tokens of the
    reference, and LCS is the length of the longest common subsequence.

    Notes
    -----
    Source: Lin (2004), ROUGE, section 3.1, with beta = 1 and our tokens instead of ASCII words.

    Examples
    --------
    >>> rouge_l("the cat sat", "the sat cat")
    0.6666666666666666
    """
    from rapidfuzz.distance import LCSseq

    return _best(
        lambda a, b: _f1(LCSseq.similarity(a, b), a, b),
        response,
        reference,
        answer_tokens,
        BOTH_EMPTY.get(variant, math.nan),
        variant=variant,
        language=language,
    )


# ---- chrF and BLEU, by sacreBLEU ---------------------------------------------------------------


@metric(
    "answer.chrf",
    _COLUMNS,
    options={
        "word_order": {
            0: "chrF: character n-grams only.",
            2: "chrF++: word unigrams and bigrams as well.",
            ...: "Word n-grams up to this order as well.",
        }
    },
    source="Popović 2015; sacreBLEU",
    undefined=_BOTH_BLANK,
)
def chrf(
    response: str | None,
    reference: Reference | None,
    *,
    language: str | None = None,
    word_order: int = 0,
) -> float:
    """F2 of character n-grams with n from 1 to 6 (chrF); with word_order=2 also of words (chrF++).

    F2 = 5PR / (4P + R), where P and R are precision and recall, averaged over the orders n. F2
    emphasises recall. The value is sacreBLEU's score divided by 100, so it is in [0, 1]; higher is
    better. It is the highest value over the reference texts. It is NaN if there is no response or
    no reference, or if both are blank. The metric is case-sensitive. The character n-grams ignore
    spaces.

    Parameters
    ----------
    response, reference
        See `exact_match`.
    language : str, optional
        No effect, because the metric does not use tokens.
    word_order : int
        Largest order of the word n-grams: 0 for chrF, and 2 for chrF++.

    Notes
    -----
    Source: Popović (2015), chrF; Popović (2017), chrF++; computed by sacreBLEU's
    ``sentence_chrf``.

    Examples
    --------
    >>> round(chrf("Die Hauptstadt ist Oslo", "die Hauptstadt ist Oslo"), 3)
    0.942
    """
    from sacrebleu import sentence_chrf

    if not isinstance(word_order, int) or word_order < 0:
        raise InputError(f"word_order must be a whole number of at least 0, got {word_order!r}")

    return _best(
        lambda said, wanted: sentence_chrf(said, [wanted], word_order=word_order).score / 100,
        response,
        reference,
        str.strip,
    )


@metric(
    "answer.bleu",
    _COLUMNS,
    options={
        "tokenize": {
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
    },
    source="Papineni et al. 2002; Post 2018; sacreBLEU",
    undefined=_BOTH_BLANK,
)
def bleu(
    response: str | None,
    reference: Reference | None,
    *,
    language: str | None = None,
    tokenize: str | None = None,
) -> float:
    """Geometric mean of the precisions of 1- to 4-grams, times a brevity penalty (sentence BLEU).

    The value is sacreBLEU's score divided by 100, so it is in [0, 1]; higher is better. It is the
    highest value over the reference texts. It is NaN in the same cases as `chrf`. BLEU was designed
    for corpora and is not very informative for a short answer. We use exponential smoothing and
    leave out n-grams longer than the answer (effective order).

    Parameters
    ----------
    response, reference
        See `exact_match`.
    language : str, optional
        Language code, which determines the tokeniser; see `bleu_tokenizer`.
    tokenize : str, optional
        Name of a sacreBLEU tokeniser to use instead.

    Notes
    -----
    Source: Papineni et al. (2002); Post (2018); computed by sacreBLEU's ``sentence_bleu``.

    Examples
    --------
    >>> bleu("奥斯陆是首都", "奥斯陆是首都", language="zh")
    1.0
    """
    tokenizer = bleu_tokenizer(language) if tokenize is None else tokenize

    bleu_score = _bleu(tokenizer).sentence_score
    return _best(
        lambda said, wanted: min(1.0, bleu_score(said, [wanted]).score / 100),
        response,
        reference,
        str.strip,
    )


def bleu_tokenizer(language: str | None) -> str:
    """Return the name of the sacreBLEU tokeniser that `bleu` uses for a language.

    It is ``zh`` for Chinese, ``char`` for other languages without spaces between words (Japanese,
    Thai, Lao, Khmer, Burmese and Tibetan), and ``13a`` for all others.

    >>> bleu_tokenizer("zh-TW"), bleu_tokenizer("th"), bleu_tokenizer("hi"), bleu_tokenizer(None)
    ('zh', 'char', '13a', '13a')
    """
    if language is None:
        return "13a"
    if primary_code(language) == "zh":
        return "zh"
    unspaced = {"Han", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"}
    return "char" if scripts_of(language) & unspaced else "13a"


@lru_cache
def _bleu(tokenizer: str) -> Any:
    from sacrebleu.metrics import BLEU

    try:
        return BLEU(tokenize=tokenizer, effective_order=True)
    except (KeyError, ValueError, RuntimeError, ImportError) as error:
        raise InputError(
            f"tokenize must be a tokeniser of sacreBLEU, got {tokenizer!r} ({error})"
        ) from error
