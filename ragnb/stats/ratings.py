"""Ratings as counts: items x raters in, items x categories out."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragnb.errors import InputError
from ragnb.records import is_missing
from ragnb.stats.checks import Floats, Integers


def count_ratings(ratings: ArrayLike, categories: Sequence[object] | None) -> tuple[Floats, list[object]]:
    """Return how many raters put each item into each category, and the categories in order.

    Raises
    ------
    InputError
        If the shape is not items x raters, or as `encode_ratings`.

    Examples
    --------
    >>> count_ratings([["yes", "no"], ["yes", None]], None)
    (array([[1., 1.],
           [0., 1.]]), ['no', 'yes'])
    """
    try:
        table = np.asarray(ratings)
        table = table if table.dtype.kind in "biuf" else np.asarray(ratings, dtype=object)
    except ValueError as error:
        raise InputError(f"Agreement needs as many ratings of each item; it got {error!s:.80}; fill with None.") from error
    if table.ndim != 2 or table.shape[1] < 2:
        raise InputError(
            f"Agreement needs ratings of shape items x raters with 2 raters or more; it got shape {table.shape}; "
            "put one rater a column."
        )
    codes, names = encode_ratings(table, categories)
    return (codes[:, :, None] == np.arange(len(names))).sum(axis=1).astype(np.float64), names


def encode_ratings(table: NDArray[np.generic], categories: Sequence[object] | None) -> tuple[Integers, list[object]]:
    """Return ratings as positions among the categories, -1 where missing (None, nan, pandas' NA), and the categories.

    Raises
    ------
    InputError
        If the labels cannot be sorted, or one is not among `categories`.
    """
    missing = np.array([is_missing(value) for value in table.ravel().tolist()], dtype=bool)
    try:
        seen = set(table.ravel()[~missing].tolist())
        stray = seen - set(seen if categories is None else categories)
    except TypeError as error:
        raise InputError(f"Ratings and categories need to be texts or numbers; they got {error}; convert them.") from error
    try:
        names = sorted(seen) if categories is None else list(categories)
    except TypeError as error:
        raise InputError("Ratings need one type; they got numbers and text mixed; convert them to labels.") from error
    if stray:
        raise InputError(f"Ratings need to be among the categories; they got {min(map(repr, stray))}; add it to them.")
    position = {name: index for index, name in enumerate(names)}
    codes = [-1 if gone else position[v] for v, gone in zip(table.ravel().tolist(), missing, strict=True)]
    return np.array(codes, dtype=np.int64).reshape(table.shape), names
