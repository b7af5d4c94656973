"""TRACe of whole columns at once: the same numbers as `ragnb.metrics.trace.trace_scores`, faster."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragnb.errors import InputError
from ragnb.metrics import trace
from ragnb.metrics.trace_labels import FIELDS, needed_fields, supported_sentences

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SCORES = ("relevance", "utilization", "completeness", "adherence", "supported_fraction", "rmse_to_ideal", "consistency")

_DOCUMENTS, _RESPONSE, _RELEVANT, _UTILIZED, _SUPPORT, _UNSUPPORTED = FIELDS
_CHUNK = 512  # rows that stay in a processor's cache while all their columns are counted


def trace_columns(
    columns: Mapping[str, Any],
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
    when_none_relevant: str | None = None,
) -> dict[str, Floats]:
    """TRACe scores of many labelled responses, an array a score.

    Value for value what `ragnb.metrics.trace.trace_scores` gives for each row, without the issues. Where all is counted by
    lists alone (the options' defaults, no gap in a column) keys and sentences themselves are not inspected.

    Parameters
    ----------
    columns
        RAGBench's fields by name, a row each: a mapping of lists or arrays, or a frame. ``documents_sentences`` may be an
        array of whole numbers, the number of context sentences of each row, where no more than that is needed. Columns that
        the options do not need may be missing, see `ragnb.metrics.trace_labels.needed_fields`.
    variant, length, unknown_keys, when_none_relevant
        See `ragnb.metrics.trace.completeness`. Fast with the length ``"sentence"`` and the unknown keys ``"count"``, and
        fastest with the variant ``"ragbench"``; all else is scored row by row.

    Returns
    -------
    dict of str to ndarray
        The names in `SCORES`.

    Raises
    ------
    InputError
        Unknown option, a column that is missing or of another length or shape.

    >>> scores = trace_columns({
    ...     "documents_sentences": [[[["0a", "Oslo is a city."], ["0b", "It rains."]]]],
    ...     "response_sentences": [[["a", "Oslo is rainy."]]],
    ...     "all_relevant_sentence_keys": [["0a", "0b"]], "all_utilized_sentence_keys": [["0b"]],
    ...     "unsupported_response_sentence_keys": [[]]})
    >>> float(scores["completeness"][0]), float(scores["adherence"][0])
    (0.5, 1.0)
    """
    trace.check_options(variant=variant, length=length, unknown_keys=unknown_keys, when_none_relevant=when_none_relevant)
    if not hasattr(columns, "keys"):
        raise InputError(f"trace_columns needs columns by name; got {type(columns).__name__}; pass a mapping or a frame")
    support, spare = _support_fields(columns, variant)
    needed = needed_fields(variant=variant, unknown_keys=unknown_keys)[:-1]
    given = [_DOCUMENTS] if _DOCUMENTS in columns else []
    rows = _rows(columns, tuple(dict.fromkeys([*given, *needed, support])))
    counts = _count_all(rows, variant) if length == "sentence" and unknown_keys == "count" else None
    if counts is not None:
        return _scores(*counts, variant=variant, when_none_relevant=when_none_relevant)
    if isinstance(rows.get(_DOCUMENTS), np.ndarray):
        raise InputError(
            "numbers of context sentences need length 'sentence', unknown_keys 'count' and columns without gaps; got "
            "something else; pass the sentences themselves"
        )
    options = {"variant": variant, "length": length, "unknown_keys": unknown_keys, "when_none_relevant": when_none_relevant}
    return _row_by_row(_rows(columns, [*rows, spare]) if spare in columns else rows, options)


def trace_column(
    score: str,
    columns: Mapping[str, list[Any]],
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
    when_none_relevant: str | None = None,
) -> Floats | None:
    """One of the scores from the columns that it needs, all inspected; None where it has to be counted row by row.

    That is for a length or unknown keys other than the default, for gaps, and for labels of another shape than RAGBench's,
    some of which `ragnb.metrics.trace` refuses. Parameters are those of `trace_columns`.

    >>> trace_column("relevance", {"documents_sentences": [[[["0a", "One."]]]], "all_relevant_sentence_keys": [["0a"]]})
    array([1.])
    """
    trace.check_options(variant=variant, length=length, unknown_keys=unknown_keys, when_none_relevant=when_none_relevant)
    if (length, unknown_keys) != ("sentence", "count") or not all(_is_published_shape(*named) for named in columns.items()):
        return None
    blank: list[Any] = [[]] * len(next(iter(columns.values())))
    fields = (*FIELDS[1:4], _support_fields(columns, variant)[0])
    rows = {name: columns.get(name, blank) for name in fields}
    if _DOCUMENTS in columns:
        rows[_DOCUMENTS] = columns[_DOCUMENTS]
    counts = _count_all(rows, variant)
    return None if counts is None else _scores(*counts, variant=variant, when_none_relevant=when_none_relevant)[score]


def _is_published_shape(field: str, column: list[Any]) -> bool:
    """Whether a column has no gap and holds keys that are texts, [key, text] pairs, or mappings."""
    parts, pairs = column, []
    for _ in range(3 if field == _DOCUMENTS else 1):
        if not _has_no_gap(parts):
            return False
        pairs, parts = parts, list(chain.from_iterable(parts))
    if field == _DOCUMENTS and not set(map(len, pairs)) <= {2}:
        return False
    return field == _RESPONSE or set(map(type, parts)) <= {dict if field == _SUPPORT else str}


def _scores(
    n_context: Integers,
    n_relevant: Integers,
    n_utilized: Integers,
    distinct: Integers,
    overlap: Integers,
    n_response: Integers,
    n_unsupported: Integers,
    n_unknown: Integers,
    *,
    variant: str,
    when_none_relevant: str | None,
) -> dict[str, Floats]:
    if variant == "guide":
        relevance = np.minimum(1.0, n_relevant / trace.GUIDE_SENTENCES)
        utilization = np.minimum(1.0, _ratio(n_utilized, n_relevant, undefined=0.0))
        none_relevant: Any = n_utilized == 0
    else:
        relevance, utilization = _ratio(n_relevant, n_context), _ratio(n_utilized, n_context)
        none_relevant = 1.0
    if when_none_relevant is not None:
        none_relevant = trace.NONE_RELEVANT[when_none_relevant]
    completeness = _ratio(overlap, distinct, undefined=none_relevant)
    four = [np.where(n_context == 0, math.nan, values) for values in (relevance, utilization, completeness)]
    four.append(np.where(n_unsupported > 0, 0.0, np.where(n_unknown > 0, math.nan, 1.0)))
    fraction = _ratio(n_response - np.minimum(n_response, n_unsupported), n_response)
    fraction = np.where(n_unknown > 0, math.nan, fraction)
    distance = trace.distance_from_ideal(*four)
    return dict(zip(SCORES, (*four, fraction, distance, 1 - distance), strict=True))


def _ratio(part: Integers, whole: Integers, *, undefined: Any = math.nan) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole == 0, undefined, part / whole)


def _row_by_row(rows: Mapping[str, list[Any]], options: Mapping[str, Any]) -> dict[str, Floats]:
    records = (dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True))
    scored = [trace.trace_values(record, **options) for record in records]
    return {name: np.array([values[place] for values in scored], dtype=float) for place, name in enumerate(SCORES)}


# ---- columns -----------------------------------------------------------------------------------------------------------


def _support_fields(columns: Mapping[str, Any], variant: str) -> tuple[str, str]:
    """The field that support is read from, and the one that stays where it is while the first has no gaps."""
    return (_SUPPORT, _UNSUPPORTED) if variant == "guide" or _UNSUPPORTED not in columns else (_UNSUPPORTED, _SUPPORT)


def _rows(columns: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    absent = [name for name in names if name not in columns]
    if absent:
        raise InputError(f"trace_columns needs the columns {', '.join(names)}; got no {', '.join(absent)}; add them")
    rows = {name: _listed(columns[name]) for name in names}
    lengths = {name: len(column) for name, column in rows.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"trace_columns needs columns of one length; got {lengths}; align them row by row")
    return rows


def _listed(column: Any) -> Any:
    if isinstance(column, list | tuple):
        return list(column)
    values = np.asarray(column)
    return values.astype(np.int64) if np.issubdtype(values.dtype, np.integer) else values.tolist()


# ---- counts ------------------------------------------------------------------------------------------------------------


def _count_all(rows: Mapping[str, Any], variant: str) -> Integers | None:
    """Counts of every row, in the order that `_scores` takes them; None when a column has a gap."""
    n = len(rows[_RELEVANT])
    counts = np.empty((8, n), np.int64)
    for start in range(0, n, _CHUNK):
        chunk = {name: column[start : start + _CHUNK] for name, column in rows.items()}
        if not all(map(_has_no_gap, chunk.values())):
            return None
        counts[:, start : start + _CHUNK] = [*_count_context(chunk, variant), *_count_response(chunk, variant)]
    return counts


def _has_no_gap(column: Any) -> bool:
    if isinstance(column, np.ndarray):
        return column.ndim > 0
    kinds = set(map(type, column))
    flat = np.ndarray in kinds and not all(np.ndim(part) for part in column if isinstance(part, np.ndarray))
    return kinds <= {list, tuple, np.ndarray} and not flat


def _count_context(chunk: Mapping[str, Any], variant: str) -> tuple[Integers, ...]:
    relevant, utilized = chunk[_RELEVANT], chunk[_UTILIZED]
    distinct = list(map(set, relevant))
    overlap = map(set.intersection, distinct, utilized)
    if _DOCUMENTS in chunk:
        sentences = _count_sentences(chunk[_DOCUMENTS])
    else:  # the guide needs no context: any number but 0 leaves its scores defined
        sentences = np.full(len(relevant), int(variant == "guide"))
    return sentences, _lengths(relevant), _lengths(utilized), _lengths(distinct), _lengths(overlap)


def _count_sentences(documents: Any) -> Integers:
    if isinstance(documents, np.ndarray):
        return documents
    running = np.concatenate([[0], np.cumsum(_lengths(chain.from_iterable(documents)))])
    return np.diff(running[np.cumsum(_lengths(documents))], prepend=0)


def _count_response(chunk: Mapping[str, Any], variant: str) -> tuple[Integers, Integers, Integers]:
    """Number of sentences, of those that are not supported, and of those whose support is unknown."""
    if _UNSUPPORTED in chunk:
        n = _lengths(chunk[_RESPONSE])
        return n, _lengths(map(set, chunk[_UNSUPPORTED])), np.zeros_like(n)
    labels = [supported_sentences(support, variant=variant) for support in chunk[_SUPPORT]]
    n_unknown = _each(lambda pairs: sum(supported is None for _, supported in pairs), labels)
    unsupported = [[key for key, supported in pairs if supported is False] for pairs in labels]
    if variant == "guide":
        return _lengths(labels), _lengths(unsupported), n_unknown
    return _lengths(chunk[_RESPONSE]), _lengths(map(set, unsupported)), n_unknown


def _lengths(rows: Iterable[Any]) -> Integers:
    return _each(len, rows)


def _each(number: Callable[[Any], int], rows: Iterable[Any]) -> Integers:
    return np.fromiter(map(number, rows), np.int64)
