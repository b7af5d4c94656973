"""Exact match, token overlap and RLC of whole columns, equal to the scalar metrics value for value.

Rows are folded one by one, then worked on together as arrays of code points. Tokens are compared by 50 bits of a hash, and
within one pair of texts only: the chance that a single value of a million pairs of 20 tokens is wrong is below one in a
million. Pairs with a token of more than `LONGEST` code points or with rare clusters go through the scalar path.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

import numpy as np
import regex
from numpy.typing import NDArray

from ragnb.errors import InputError, check_choice
from ragnb.metrics.answer import Reference, reference_texts, token_f1, token_precision, token_recall
from ragnb.metrics.code_points import (
    Integers,
    Points,
    PointTable,
    batches,
    column,
    language_column,
    points,
    row_lengths,
    text_batch,
)
from ragnb.metrics.folding import folded_points
from ragnb.metrics.language import LBRAG_HITS, check_threshold, lbrag_counts, lbrag_rule, scripts_of
from ragnb.metrics.normalization import (
    LBRAG_CHARACTER_LANGUAGES,
    LBRAG_KEPT,
    VARIANTS,
    code_form,
)
from ragnb.text import SCRIPTS, UNSPACED, script_of

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Keys = NDArray[np.uint64]

LONGEST = 64
"""Longest token, in code points, that is hashed."""


@dataclass(frozen=True, slots=True)
class AnswerColumns:
    """Values of `ragnb.metrics.answer`'s token metrics, one a row; nan where the scalar metric is."""

    exact_match: Floats
    token_precision: Floats
    token_recall: Floats
    token_f1: Floats


def answer_columns(
    responses: Iterable[str | None],
    references: Iterable[Reference | None],
    *,
    languages: str | Iterable[str | None] | None = None,
    variant: str = "unicode",
) -> AnswerColumns:
    """Exact match, token precision, recall and F1 of every row.

    The same values as `exact_match`, `token_precision`, `token_recall` and `token_f1` of `ragnb.metrics.answer` give.

    Parameters
    ----------
    responses, references
        One a row; None where there is none.
    languages
        One code for all, or one a row; read under ``lbrag`` only.
    variant
        ``"unicode"`` or ``"lbrag"``.

    Raises
    ------
    InputError
        Columns of different lengths, or what the scalar metrics refuse.

    >>> answer_columns(["in Oslo", "東京都"], ["Oslo", [["東京", "Tokyo"]]]).token_f1.round(3).tolist()
    [0.667, 0.8]
    """
    check_choice(variant, VARIANTS, "variant")
    said, wanted = column(responses, "responses"), column(references, "references")
    if len(said) != len(wanted):
        raise InputError(f"references needs one a response ({len(said)}); got {len(wanted)}; align both columns")
    spoken = language_column(languages, len(said))
    scores = np.empty((4, len(said)))
    for rows in batches(len(said)):
        texts, silent = text_batch(said, rows, "responses")
        scores[:, rows] = _best_scores(texts, wanted[rows], spoken[rows], variant)
        scores[:, rows][:, silent] = np.nan
    return AnswerColumns(*scores)


def _best_scores(said: list[str], references: list[Reference | None], languages: list[str | None], variant: str) -> Floats:
    """The four measures of each response, an array of four rows: its best values over the reference's texts."""
    if set(map(type, references)) <= {str}:
        return _pair_scores(said, references, languages, variant)  # type: ignore[arg-type]
    ways = [[""] if reference is None else reference_texts(reference) for reference in references]
    owners = [row for row, texts in enumerate(ways) for _ in texts]
    wanted = [text for texts in ways for text in texts]
    parts = [
        _pair_scores([said[row] for row in owners[some]], wanted[some], [languages[row] for row in owners[some]], variant)
        for some in batches(len(wanted))
    ]
    scores = np.fmax.reduceat(np.hstack(parts), np.flatnonzero(np.diff(owners, prepend=-1)), axis=1)
    scores[:, [reference is None for reference in references]] = np.nan
    return scores


def _pair_scores(said: list[str], wanted: list[str], languages: list[str | None], variant: str) -> Floats:
    """The four measures of each pair of texts, an array of four rows."""
    n = len(said)
    left, right = (_tokenized(texts, languages, variant) for texts in (said, wanted))
    scores = np.zeros((4, n))
    sizes, others = left.sizes(n), right.sizes(n)
    same = _same_rows(left, right, (sizes == others) & (sizes > 0))
    scores[:, same] = 1.0
    scores[:, sizes + others == 0] = 1.0 if variant == "lbrag" else np.nan
    unequal = (sizes > 0) & (others > 0) & ~same
    scores[1:, unequal] = _overlap_scores(left, right, unequal)
    for row in {row for side in (left, right) for row in side.odd.tolist() if unequal[row]}:
        scores[1:, row] = [
            measure(said[row], wanted[row], language=languages[row], variant=variant)
            for measure in (token_precision, token_recall, token_f1)
        ]
    return scores


# ---- texts as tokens ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Tokenized:
    """What normalisation keeps of some rows: units, the row of each, whether a token begins there, which rows are odd.

    A unit is a code point, with the bit `_GAP` where something was left out before it; an odd row is one whose tokens the
    arrays cannot tell: it has rare clusters or a very long token.
    """

    units: Points
    rows: Integers
    starts: Flags
    odd: Integers

    def sizes(self, n: int) -> Integers:
        return np.bincount(self.rows, minlength=n)


def _tokenized(rows: list[str], languages: list[str | None], variant: str) -> _Tokenized:
    codes = folded_points(rows) if variant == "unicode" else points([row.lower() for row in rows])
    kinds = _answer_kinds(variant)(codes)
    kept = np.flatnonzero((kinds & _KEPT).view(np.bool_))
    row = np.repeat(np.arange(len(rows)), row_lengths(codes))[kept]
    gaps = np.diff(kept, prepend=-2) > 1
    units = codes[kept] | gaps * _GAP
    if variant == "unicode":
        starts, odd = _clusters(kinds[kept], gaps)
    else:
        starts, odd = gaps | _by_character(languages)[row], np.empty(0, dtype=np.int64)
    firsts = np.flatnonzero(starts)
    long = firsts[np.diff(firsts, append=units.size) > LONGEST]
    return _Tokenized(units, row, starts, row[np.concatenate([odd, long])])


def _clusters(kinds: NDArray[np.uint8], gaps: Flags) -> tuple[Flags, Integers]:
    """Where a token begins under ``unicode``, and the places of rare clusters."""
    unspaced, extends = (kinds & _UNSPACED) > 0, (kinds & _EXTENDS) > 0
    after_unspaced = ~gaps
    after_unspaced[1:] &= unspaced[:-1]
    starts = gaps | (unspaced != after_unspaced) | (unspaced & ~extends)
    return starts, np.flatnonzero((kinds & _ODD > 0) | (after_unspaced & extends & ~unspaced))


def _by_character(languages: list[str | None]) -> Flags:
    split = {language: code_form(language) in LBRAG_CHARACTER_LANGUAGES for language in set(languages)}
    return np.array([split[language] for language in languages], dtype=np.bool_)


_GAP = np.uint32(1 << 21)
_KEPT, _UNSPACED, _EXTENDS, _ODD = 1, 2, 4, 8
_IS_KEPT, _IS_UNSPACED = regex.compile(r"[\p{L}\p{M}\p{N}]"), regex.compile(f"[{UNSPACED}]")
_IS_LBRAG, _IS_CLUSTER = regex.compile(f"[{LBRAG_KEPT}]"), regex.compile(r"\X")
_IS_PLAIN = regex.compile(r"(?V1)[[\p{L}\p{N}]--[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=Prepend}]]")
_CONSONANTS = "中กກកကཀ"  # of the scripts written without spaces, to see what joins its neighbours


@lru_cache
def _answer_kinds(variant: str) -> PointTable:
    return PointTable(_lbrag_kind if variant == "lbrag" else _unicode_kind)


def _lbrag_kind(character: str) -> int:
    return _KEPT if _IS_LBRAG.match(character) else 0


def _unicode_kind(character: str) -> int:
    """Flags of one character: what normalisation keeps of it, and how it forms clusters with its neighbours."""
    if not _IS_KEPT.match(character):
        return 0
    kind = _KEPT | _UNSPACED * bool(_IS_UNSPACED.match(character))
    if _IS_PLAIN.match(character):
        return kind
    extends = _IS_CLUSTER.fullmatch("中" + character)
    joins = any(_IS_CLUSTER.fullmatch(a + character + b) for a in ("", *_CONSONANTS) for b in _CONSONANTS)
    return kind | _EXTENDS * bool(extends) | _ODD * joins


# ---- pairs of texts ----------------------------------------------------------------------------------------------------


def _same_rows(left: _Tokenized, right: _Tokenized, of_one_size: Flags) -> Flags:
    """Rows whose normalised texts are equal, out of those that have as many units on both sides."""
    same = of_one_size.copy()
    here, there = same[left.rows], same[right.rows]
    same[left.rows[here][left.units[here] != right.units[there]]] = False
    return same


def _overlap_scores(left: _Tokenized, right: _Tokenized, rows: Flags) -> Floats:
    """Token precision, recall and F1 of the chosen rows, each of which has tokens on both sides."""
    keys, others = _token_keys(left, rows), _token_keys(right, rows)
    overlap = _overlap(keys, others, rows.size)[rows]
    sizes, wanted = (np.bincount(_rows_of_keys(side), minlength=rows.size)[rows] for side in (keys, others))
    precision, recall = overlap / sizes, overlap / wanted
    with np.errstate(invalid="ignore"):
        f1 = np.where(overlap > 0, 2 * precision * recall / (precision + recall), 0.0)
    return np.stack([precision, recall, f1])


def _overlap(keys: Keys, others: Keys, n: int) -> Integers:
    """Size of the intersection of both sides' multisets of tokens, for each row."""
    if not keys.size:
        return np.zeros(n, dtype=np.int64)
    ordered = np.sort(np.concatenate([keys, others | np.uint64(1)]))
    tokens = ordered >> np.uint64(1)
    firsts = np.flatnonzero(np.diff(tokens, prepend=~tokens[:1]))
    on_the_right = np.add.reduceat(ordered & np.uint64(1), firsts).astype(np.int64)
    shared = np.minimum(on_the_right, np.diff(firsts, append=tokens.size) - on_the_right)
    rows = _rows_of_keys(ordered[firsts])
    return np.bincount(rows, weights=shared, minlength=n).astype(np.int64)


def _token_keys(side: _Tokenized, rows: Flags) -> Keys:
    """A number for each token of the chosen rows: its row (13 bits), its hash (50 bits) and a bit 0."""
    here = rows[side.rows]
    codes, firsts = side.units[here] & (_GAP - np.uint32(1)), np.flatnonzero(side.starts[here])
    if not firsts.size:
        return np.empty(0, dtype=np.uint64)
    places = np.arange(codes.size) - np.repeat(firsts, np.diff(firsts, append=codes.size))
    hashes = np.add.reduceat((codes + np.uint64(1)) * _FACTORS[places & (LONGEST - 1)], firsts)
    numbers = side.rows[here][firsts].astype(np.uint64)
    return numbers << np.uint64(_HASH_BITS + 1) | hashes >> np.uint64(64 - _HASH_BITS) << np.uint64(1)


def _rows_of_keys(keys: Keys) -> Integers:
    return (keys >> np.uint64(_HASH_BITS + 1)).astype(np.int64)


_HASH_BITS = 50
_FACTORS = np.random.default_rng(20240131).integers(2**64 - 1, size=LONGEST, dtype=np.uint64)  # a multilinear hash


# ---- RLC ---------------------------------------------------------------------------------------------------------------


def rlc_column(responses: Iterable[str | None], languages: str | Iterable[str], *, variant: str = "unicode") -> Floats:
    """Response language consistency of every row.

    The same values as `ragnb.metrics.language.response_language_consistency` gives.

    Parameters
    ----------
    responses
        One a row; None where there is none.
    languages
        One code for all, or one a row.
    variant
        ``"unicode"`` or ``"lbrag"``.

    Raises
    ------
    InputError
        Columns of different lengths, or what the scalar metric refuses.

    >>> rlc_column(["答案是 4429 m", "Oslo", "42"], ["zh", "ru", "en"]).tolist()
    [0.75, 0.0, nan]
    """
    check_choice(variant, VARIANTS, "variant")
    said = column(responses, "responses")
    spoken = language_column(languages, len(said))
    known = {language: number for number, language in enumerate(dict.fromkeys(spoken))}
    belongs = np.array([_own_kinds(language, variant) for language in known], dtype=np.bool_)
    shares = np.empty(len(said))
    for rows in batches(len(said)):
        texts, silent = text_batch(said, rows, "responses")
        numbers = np.array([known[language] for language in spoken[rows]])
        shares[rows] = _shares(texts, belongs, numbers, variant)
        shares[rows][silent] = np.nan
    return shares


def rlc_ok_column(
    responses: Iterable[str | None], languages: str | Iterable[str], *, variant: str = "unicode", threshold: float = 0.6
) -> Floats:
    """Whether RLC is at or above a threshold (RLC_OK), of every row; as `response_in_language`, see `rlc_column`.

    >>> rlc_ok_column(["答案是 4429 m", "Oslo", "42"], ["zh", "ru", "en"]).tolist()
    [1.0, 0.0, nan]
    """
    check_threshold(threshold)
    shares = rlc_column(responses, languages, variant=variant)
    return np.where(np.isnan(shares), np.nan, shares >= threshold)


def _shares(texts: list[str], belongs: Flags, languages: Integers, variant: str) -> Floats:
    codes = points(texts)
    kinds = _rlc_kinds(variant)(codes)
    if (kinds == _COMPOSES).any():
        codes = points([normalize("NFC", text) for text in texts])
        kinds = _composed_kinds()(codes)
    lengths = row_lengths(codes)
    firsts = np.cumsum(lengths) - lengths
    own = belongs.ravel()[np.repeat(languages * belongs.shape[1], lengths) + kinds]
    total, hits = (np.add.reduceat(flags, firsts, dtype=np.int64) for flags in (kinds > 0, own))
    with np.errstate(invalid="ignore"):
        return np.where(total == 0, 1.0 if variant == "lbrag" else np.nan, hits / total)


_ALL_SCRIPTS = (None, *SCRIPTS, "Other")
_COMPOSES = 200  # a letter that composition may join to the one before: only then are texts composed (NFC)
_IS_COMPOSING = regex.compile(r"[\u1100-\u11FF\uA960-\uA97F\uD7B0-\uD7FF\U00016D40-\U00016D7F]")


@lru_cache
def _rlc_kinds(variant: str) -> PointTable:
    return PointTable(_lbrag_rlc_kind if variant == "lbrag" else _script_kind)


@lru_cache
def _composed_kinds() -> PointTable:
    return PointTable(_composed_kind)


def _script_kind(character: str) -> int:
    return _COMPOSES if _IS_COMPOSING.match(character) else _composed_kind(character)


def _composed_kind(character: str) -> int:
    return _ALL_SCRIPTS.index(script_of(character))


def _lbrag_rlc_kind(character: str) -> int:
    """Bit 0: counted; bits 1 to 4: a hit by each of `LBRAG_HITS`."""
    if not lbrag_counts(character):
        return 0
    return 1 + sum(2**bit * hit(character) for bit, hit in enumerate(LBRAG_HITS.values(), 1))


def _own_kinds(language: str | None, variant: str) -> list[bool]:
    """For each kind of character, whether it belongs to the language."""
    if variant == "lbrag":
        bit = 1 + list(LBRAG_HITS).index(lbrag_rule(language))
        return [bool(kind >> bit & 1) for kind in range(2 ** (1 + len(LBRAG_HITS)))]
    own = scripts_of(language)
    return [script in own for script in _ALL_SCRIPTS]
