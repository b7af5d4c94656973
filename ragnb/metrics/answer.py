"""A response against its reference answer: exact match, token overlap, containment, ROUGE-L, chrF, BLEU.

A reference is a text, or a list of *parts*, all of which the answer needs, each a text or a list of *aliases*, any of which
will do: ``["a", "b"]`` means a AND b, ``[["a", "b"]]`` means a OR b. The reference texts of several parts are their aliases
joined by a space, one of each part, in the order given; a response gets its best value over these texts.

The functions read a response as it is. `ragnb.score` gives them the answer without the reasoning (``<think>…</think>``). If
you call a function yourself with the reply of a reasoning model, first take the answer out of it with
`ragnb.text.split_reasoning`.

nan wherever there is nothing to compare with: no response (None), no reference (None), or both of them empty.

Exact match and F1 are not SQuAD's numbers. SQuAD drops *a, an, the* and deletes punctuation, so that "the cat" is "cat",
"U.S." "US", "10,000" "10000" and "don't" "dont"; here articles stay and punctuation parts words, in every language alike,
and each of these pairs differs. What is compared with published SQuAD numbers has to be scored by SQuAD's own script.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

from ragnb.errors import InputError
from ragnb.metrics.language import primary_code, scripts_of
from ragnb.metrics.normalization import answer_tokens, check_text, normalized
from ragnb.metrics.references import listed

MOST_WORDS = 100
"""Longest word n-gram that `chrf` counts."""

Reference = str | Sequence[str | Sequence[str]]

MOST_ALTERNATIVES = 10_000


def reference_parts(reference: Reference) -> list[list[str]]:
    """Reference as a list of parts, each a list of aliases; an alias may be empty.

    Raises
    ------
    InputError
        No part, a part without alias, or an alias that is no text.

    >>> reference_parts("Oslo"), reference_parts(["a", ["b", "c"]])
    ([['Oslo']], [['a'], ['b', 'c']])
    """
    parts = [listed(part) for part in listed(reference)]
    if not parts or not all(parts) or not all(isinstance(alias, str) for part in parts for alias in part):
        raise InputError(
            f"a reference needs a text, or a list of parts, each a text or a list of aliases; got {reference!r}; "
            "write [['a', 'b']] for a or b, and None where there is no reference"
        )
    return parts


def reference_texts(reference: Reference) -> list[str]:
    """Every text that answers in full: one alias of each part, joined by a space.

    Raises
    ------
    InputError
        See `reference_parts`; more than `MOST_ALTERNATIVES` texts.

    >>> reference_texts([["Oslo", "Kristiania"], "1925"])
    ['Oslo 1925', 'Kristiania 1925']
    """
    if isinstance(reference, str):
        return [reference]
    parts = reference_parts(reference)
    count = math.prod(map(len, parts))
    if count > MOST_ALTERNATIVES:
        raise InputError(f"a reference needs at most {MOST_ALTERNATIVES} ways to be said; got {count}; give fewer aliases")
    return [" ".join(chosen) for chosen in product(*parts)]


# ---- exact match and token overlap -------------------------------------------------------------------------------------


def exact_match(
    response: str | None, reference: Reference | None, *, variant: str = "unicode", language: str | None = None
) -> float:
    """Whether a response equals the reference once both are normalised (EM).

    Higher is better; 0.0 or 1.0; nan without response or reference; both empty after normalisation: nan under ``unicode``,
    1.0 under ``lbrag``.

    Parameters
    ----------
    response
        The model's text.
    reference
        A text, or parts with aliases (see the module); the best value counts.
    variant
        How both are normalised: see `ragnb.metrics.normalization.normalized`.
    language
        Taken so that all answer metrics are called alike; it changes nothing here.

    Raises
    ------
    InputError
        A response that is no text, a malformed reference, an unknown variant.

    Source: Rajpurkar et al. (2016), SQuAD, section 6.1, for the idea, not for the normalisation (see the module); ``lbrag``
    is ``exact_match`` of kanoes/LBRAG-NEW, experiments/scripts/experiment.py.

    >>> exact_match("Ｔokyo!", "tokyo"), exact_match("Edo", [["Tokyo", "edo"]]), exact_match("दिल्ली", "मुंबई", variant="lbrag")
    (1.0, 1.0, 1.0)
    """

    def equal(said: str, wanted: str) -> float:
        return _agreement(normalized(said, variant=variant), normalized(wanted, variant=variant), variant, _same)

    return _best(response, reference, equal)


def token_f1(
    response: str | None, reference: Reference | None, *, language: str | None = None, variant: str = "unicode"
) -> float:
    """Harmonic mean of token precision and recall (F1).

    Higher is better; in [0, 1]; nan without response or reference; both empty after normalisation: nan under ``unicode``,
    1.0 under ``lbrag``; one of them empty: 0.0.

    Parameters
    ----------
    response, reference
        See `exact_match`.
    language
        Language code; decides the tokens under ``lbrag``, changes nothing under ``unicode``.
    variant
        Normalisation and tokens: see `ragnb.metrics.normalization.answer_tokens`.

    Raises
    ------
    InputError
        See `exact_match`; a language that is no text.

    2PR / (P + R), P = overlap / tokens of the response, R = overlap / tokens of the reference, where overlap is the size of
    the intersection of both multisets of tokens.

    Source: Rajpurkar et al. (2016), SQuAD, section 6.1, but for the normalisation (see the module); ``lbrag`` is
    ``f1_score_lang`` of kanoes/LBRAG-NEW, experiments/scripts/experiment.py.

    >>> round(token_f1("4429m", "4429米", language="zh", variant="lbrag"), 4), token_f1("4429m", "4429米")
    (0.8, 0.0)
    """
    return _best(response, reference, _overlap_measure(harmonic_mean, variant, language))


def token_precision(
    response: str | None, reference: Reference | None, *, language: str | None = None, variant: str = "unicode"
) -> float:
    """Share of the response's tokens that the reference has too.

    Higher is better; in [0, 1]; nan, parameters and errors as for `token_f1`.

    Source: Rajpurkar et al. (2016), arXiv 1606.05250, of whose F1 it is a part, but for the normalisation (see the module).

    >>> token_precision("in Oslo, Norway, today", "Oslo Norway")
    0.5
    """
    return _best(response, reference, _overlap_measure(lambda precision, recall: precision, variant, language))


def token_recall(
    response: str | None, reference: Reference | None, *, language: str | None = None, variant: str = "unicode"
) -> float:
    """Share of the reference's tokens that the response has too.

    Higher is better; in [0, 1]; nan, parameters and errors as for `token_f1`.

    Source: Rajpurkar et al. (2016), arXiv 1606.05250, of whose F1 it is a part, but for the normalisation (see the module).

    >>> token_recall("in Oslo today", "Oslo Norway")
    0.5
    """
    return _best(response, reference, _overlap_measure(lambda precision, recall: recall, variant, language))


def contains(
    response: str | None, reference: Reference | None, *, variant: str = "unicode", language: str | None = None
) -> float:
    """Whether a response holds every part of the reference, as a substring of the normalised text.

    Higher is better; 0.0 or 1.0; nan without response or reference, or where a part has no alias that is left after
    normalisation (every response would hold it). Parameters and errors as `exact_match`.

    A part of a word is enough: ``99`` is held by ``1999``.

    Source: ours; other tools call it "lexical match" or "cover exact match".

    >>> contains("It was in Tampa.", [["Tampa", "Miami"]]), contains("It was in Tampa.", ["Tampa", "Miami"])
    (1.0, 0.0)
    """
    if response is None or reference is None:
        return math.nan
    text = normalized(check_text(response, "response"), variant=variant)
    parts = [{normalized(alias, variant=variant) for alias in part} - {""} for part in reference_parts(reference)]
    if not all(parts):
        return math.nan
    return float(all(any(alias in text for alias in part) for part in parts))


def harmonic_mean(precision: float, recall: float) -> float:
    """F1 of a precision and a recall; 0.0 when both are 0.

    >>> harmonic_mean(1.0, 0.5)
    0.6666666666666666
    """
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _best(response: str | None, reference: Reference | None, measure: Callable[[str, str], float]) -> float:
    if response is None or reference is None:
        return math.nan
    check_text(response, "response")
    values = [measure(response, text) for text in reference_texts(reference)]
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def _agreement(said: Any, wanted: Any, variant: str, measure: Callable[[Any, Any], float]) -> float:
    """Value of two normalised texts or token lists, the empty cases decided as METRICS say."""
    if said and wanted:
        return measure(said, wanted)
    if said or wanted:
        return 0.0
    return 1.0 if variant == "lbrag" else math.nan


def _same(said: str, wanted: str) -> float:
    return float(said == wanted)


def _overlap_measure(
    combine: Callable[[float, float], float], variant: str, language: str | None
) -> Callable[[str, str], float]:
    def overlap(said: list[str], wanted: list[str]) -> float:
        shared = (Counter(said) & Counter(wanted)).total()
        return combine(shared / len(said), shared / len(wanted))

    return _token_measure(overlap, variant, language)


def _token_measure(
    measure: Callable[[list[str], list[str]], float], variant: str, language: str | None
) -> Callable[[str, str], float]:
    def measured(said: str, wanted: str) -> float:
        pair = [answer_tokens(text, variant=variant, language=language) for text in (said, wanted)]
        return _agreement(pair[0], pair[1], variant, measure)

    return measured


# ---- ROUGE-L, chrF, BLEU -----------------------------------------------------------------------------------------------


def rouge_l(
    response: str | None, reference: Reference | None, *, language: str | None = None, variant: str = "unicode"
) -> float:
    """ROUGE-L: F1 of the longest common subsequence of tokens, which, unlike `token_f1`, heeds their order.

    Higher is better; in [0, 1]; nan, parameters and errors as for `token_f1`.

    2PR / (P + R), P = LCS / tokens of the response, R = LCS / tokens of the reference.

    Source: Lin (2004), ROUGE, section 3.1, with beta = 1 and our tokens in place of lower-cased ASCII words.

    >>> rouge_l("the cat sat", "the sat cat")
    0.6666666666666666
    """
    from rapidfuzz.distance import LCSseq

    def longest(said: list[str], wanted: list[str]) -> float:
        length = LCSseq.similarity(said, wanted)
        return harmonic_mean(length / len(said), length / len(wanted))

    return _best(response, reference, _token_measure(longest, variant, language))


def chrf(response: str | None, reference: Reference | None, *, language: str | None = None, word_order: int = 0) -> float:
    """chrF: F2 of character n-grams (n = 1 to 6), in any script; ``word_order=2`` is chrF++.

    Higher is better; in [0, 1] (sacreBLEU's value / 100); nan without response or reference, or where response and reference
    are blank; a blank response: 0.0. It needs no tokens, so `language` changes nothing.

    Raises
    ------
    InputError
        As `exact_match`, or a `word_order` that is no whole number from 0 to 100.

    Source: Popović (2015), chrF; computed by sacreBLEU's ``sentence_chrf`` on the text as it is (case counts).

    >>> round(chrf("Die Hauptstadt ist Oslo", "die Hauptstadt ist Oslo"), 3)
    0.942
    """
    if not isinstance(word_order, int) or not 0 <= word_order <= MOST_WORDS:
        raise InputError(
            f"chrf(word_order=...) needs a whole number from 0 to {MOST_WORDS}; got {word_order!r}; 2 is chrF++"
        )

    def measured(said: str, wanted: str) -> float:
        return _chrf(word_order).sentence_score(said, [wanted]).score / 100

    return _best(response, reference, _unless_blank(measured))


def bleu(
    response: str | None,
    reference: Reference | None,
    *,
    language: str | None = None,
    tokenize: str | None = None,
) -> float:
    """Sentence BLEU: geometric mean of the precisions of 1- to 4-grams, times the brevity penalty, exponentially smoothed.

    Higher is better; in [0, 1] (sacreBLEU's value / 100); nan where `chrf` is. Made for corpora: of a short answer it
    says little, as n-grams that do not fit into it are left out (effective order).

    Parameters
    ----------
    response, reference
        See `exact_match`.
    language
        Chooses the tokeniser: sacreBLEU's ``zh`` for Chinese; ``char`` where words have no spaces between them (Japanese,
        Thai, Lao, Khmer, Burmese, Tibetan); else ``13a``. None: ``13a``.
    tokenize
        A sacreBLEU tokeniser to use instead.

    Raises
    ------
    InputError
        As `exact_match`; an unknown language.

    Source: Papineni et al. (2002); Post (2018); computed by sacreBLEU's ``sentence_bleu``.

    >>> bleu("奥斯陆是首都", "奥斯陆是首都", language="zh")
    1.0
    """
    tokenizer = bleu_tokenizer(language) if tokenize is None else check_text(tokenize, "tokenize")

    def measured(said: str, wanted: str) -> float:
        return min(1.0, _bleu(tokenizer).sentence_score(said, [wanted]).score / 100)

    return _best(response, reference, _unless_blank(measured))


def bleu_tokenizer(language: str | None) -> str:
    """Name of the sacreBLEU tokeniser that `bleu` uses for a language.

    >>> bleu_tokenizer("zh-TW"), bleu_tokenizer("th"), bleu_tokenizer("hi"), bleu_tokenizer(None)
    ('zh', 'char', '13a', '13a')
    """
    if language is None:
        return "13a"
    unspaced = scripts_of(language) & {"Han", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"}
    return "zh" if primary_code(language) == "zh" else "char" if unspaced else "13a"


def _unless_blank(measure: Callable[[str, str], float]) -> Callable[[str, str], float]:
    return lambda said, wanted: _agreement(said.strip(), wanted.strip(), "unicode", measure)


@lru_cache
def _chrf(word_order: int) -> Any:
    from sacrebleu.metrics import CHRF

    return CHRF(word_order=word_order)


@lru_cache
def _bleu(tokenizer: str) -> Any:
    from sacrebleu.metrics import BLEU

    try:
        return BLEU(tokenize=tokenizer, effective_order=True)
    except (KeyError, ValueError, RuntimeError, ImportError) as error:
        raise InputError(f"tokenize needs a tokeniser that sacreBLEU has; got {tokenizer!r}; leave it out") from error
