"""Ranks of several systems on the same items, and how sure they are.

Scores are an array of n items by k systems, higher is better; where lower is better, negate them. Tests on these ranks
are in `ragnb.stats.several`.
"""

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError
from ragnb.results import Interval, SystemRank
from ragnb.stats.checks import (
    Floats,
    Integers,
    check_clusters,
    check_count,
    check_generator,
    check_level,
    check_scores,
    undefined_interval,
)
from ragnb.stats.intervals import bca_from_resamples
from ragnb.stats.multiplicity import simultaneous_intervals
from ragnb.stats.numerics import scaled_to_largest


def item_ranks(scores: ArrayLike) -> Floats:
    """Rank of each system within each item: 1 for the highest score, tied ones sharing their mean rank.

    In [1, k], each row adding up to k (k + 1) / 2.

    Parameters
    ----------
    scores : array_like of shape (n, k)
        Finite scores, one row an item, one column a system. Within an item, scores count as tied that differ by less than
        about 1e-12 of its largest, so that rounding error breaks no tie.

    Raises
    ------
    InputError
        If there are fewer than two systems, the shape is wrong, or a score is not finite.

    Examples
    --------
    >>> item_ranks([[0.9, 0.5, 0.9], [0.2, 0.1, 0.4]])
    array([[1.5, 3. , 1.5],
           [2. , 3. , 1. ]])
    """
    from scipy.stats import rankdata

    values = check_systems(scores)
    largest = np.abs(values).max(axis=1, keepdims=True)
    return rankdata(-np.round(values / np.where(largest > 0, largest, 1.0), 12), axis=1)


def average_ranks(scores: ArrayLike) -> Floats:
    """Mean over items of each system's rank within the item.

    In [1, k], 1 the best; ``nan`` without items.

    Parameters
    ----------
    scores : array_like of shape (n, k)
        Finite scores, one row an item, one column a system.

    Raises
    ------
    InputError
        As `item_ranks`.

    Examples
    --------
    >>> average_ranks([[0.9, 0.5, 0.9], [0.2, 0.1, 0.4]])
    array([1.75, 3.  , 1.25])
    """
    ranks = item_ranks(scores)
    return ranks.mean(axis=0) if len(ranks) else np.full(ranks.shape[1], np.nan)


def rank_intervals(
    scores: ArrayLike,
    *,
    rng: np.random.Generator,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
) -> tuple[SystemRank, ...]:
    """Average rank, rank by mean score and probability of being best of each system, by resampling items.

    Limits are ``nan`` for fewer than two items (clusters), and those of an average rank also where it has no spread between
    them. Dual of no test here.

    Parameters
    ----------
    scores : array_like of shape (n, k)
        Finite scores, one row an item, one column a system.
    rng : numpy.random.Generator
        Source of the resamples, which all systems share.
    clusters : array_like of shape (n,), optional
        Key of the cluster (the question) of each item; clusters are then resampled whole.
    confidence_level : float, default 0.95
        Nominal coverage: of each average rank by itself, of the k ranks by mean score all at once.
    n_resamples : int, default 10_000
        Number of resamples.

    Raises
    ------
    InputError
        If there are fewer than two systems, the shape is wrong, a score is not finite, or an option is out of range.

    Notes
    -----
    Average ranks have BCa intervals. The rank by mean score runs from 1 + the number of systems shown to be better to
    k - the number shown to be worse, by simultaneous (max-T) intervals of all k (k - 1) / 2 differences. So it holds for
    equal systems too, unlike percentiles of resampled ranks: of five nearly equal systems these cover the first and the
    last in 82 % of samples each, all five in 67 %. A difference that is the same on every item is shown where the sign
    test shows it, 2^(1-n) k (k - 1) / 2 < 1 - `confidence_level`.

    The probability of being best is a share of resamples, to be read beside the interval: among equal systems it comes
    out near 0 or 1 by chance.

    References
    ----------
    Mogstad, M., Romano, J. P., Shaikh, A. M. & Wilhelm, D. (2024). Inference for ranks with applications to mobility across
    neighbourhoods and academic achievement across countries. Rev. Econ. Stud. 91, 476-518. Hall, P. & Miller, H. (2009).
    Using the bootstrap to quantify the authority of an empirical ranking. Ann. Statist. 37, 3929-3959.

    Examples
    --------
    >>> good, poor = [1, 1, 1, 1, 0.8, 1, 0.9, 1], [0.1, 0, 0, 0.2, 0.1, 0, 0, 0]
    >>> first, second, third = rank_intervals(np.column_stack([poor, good, good]), rng=np.random.default_rng(0))
    >>> print(second.rank)  # equal to the third, better than the first
    1.500 [1.000, 2.000] (95% rank by mean score, max-T over pairs, n = 8)
    >>> first.probability_best, second.probability_best
    (0.0, 0.5)
    """
    values, level = check_systems(scores), check_level(confidence_level)
    check_generator(rng, "A rank interval")
    n_resamples = check_count(n_resamples, "n_resamples", minimum=100)
    codes, n_units = check_clusters(np.arange(len(values)) if clusters is None else clusters, len(values))
    if n_units < 2:
        unit = "items" if clusters is None else "clusters"
        return _undefined_ranks(average_ranks(values), level, n_units, f"needs 2 {unit}, got {n_units}")
    ranks, values = item_ranks(values), scaled_to_largest(values)
    draws = _resampled_means(np.hstack([values, ranks]), codes, rng, n_resamples)
    resampled_scores, resampled_ranks = np.hsplit(draws, 2)
    averages = _average_rank_intervals(ranks, codes, resampled_ranks, level)
    places = _rank_by_mean_intervals(values, codes, rng, level, n_resamples)
    shares = _shares_of_best(resampled_scores)
    return tuple(SystemRank(*parts) for parts in zip(averages, places, shares.tolist(), strict=True))


def check_systems(scores: ArrayLike) -> Floats:
    """Return `scores` as an array of items by systems, all finite.

    Raises
    ------
    InputError
        If it is not numeric or two-dimensional, has fewer than two columns, or holds nan or infinite values.
    """
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Several systems need an array of scores; they got something else ({error}); pass numbers."
        ) from error
    if values.ndim != 2 or values.shape[1] < 2:
        raise InputError(
            f"Several systems need one row an item and one column a system, two at least; they got shape {values.shape}; "
            "stack the systems' scores as columns."
        )
    bad = ~np.isfinite(values)
    if bad.any():
        items = np.flatnonzero(bad.any(axis=1))
        raise InputError(
            f"Several systems need finite scores; they got {bad.sum()} nan or infinite in {items.size} of {len(values)} "
            f"items, the first in item {items[0]}; drop those items for all systems and report how many."
        )
    return values


def check_average_ranks(average_ranks: ArrayLike) -> Floats:
    """Return `average_ranks` as an array of two or more that can be mean ranks but for rounding.

    Raises
    ------
    InputError
        If there are fewer than two, one is outside [1, k], or they do not add up to k (k + 1) / 2.
    """
    average = check_scores(average_ranks, "average_ranks")
    k = average.size
    if k < 2 or abs(average.sum() - k * (k + 1) / 2) > 0.05 * k or average.min() < 0.95 or average.max() > k + 0.05:
        raise InputError(
            f"average_ranks needs mean ranks of two systems or more, from 1 to k, adding up to k (k + 1) / 2; it got {k} "
            f"that add up to {average.sum():g}; rank the systems within each item, 1 the best, and average."
        )
    return average


def _unit_totals(columns: Floats, codes: Integers) -> Floats:
    """Return the columns summed within each independent unit."""
    return np.column_stack([np.bincount(codes, column) for column in columns.T])


def _resampled_means(columns: Floats, codes: Integers, rng: np.random.Generator, n_resamples: int) -> Floats:
    """Return the column means of `n_resamples` resamples of whole units, in blocks of about a million draws."""
    totals, sizes = _unit_totals(columns, codes), np.bincount(codes)
    units = sizes.size
    block = max(1, 2**20 // units)
    means = []
    for start in range(0, n_resamples, block):
        rows = min(block, n_resamples - start)
        picks = rng.integers(units, size=(rows, units)) + units * np.arange(rows)[:, None]
        counts = np.bincount(picks.ravel(), minlength=rows * units).reshape(rows, units)
        means.append((counts @ totals) / (counts @ sizes)[:, None])
    return np.concatenate(means)


def _average_rank_intervals(ranks: Floats, codes: Integers, resampled: Floats, level: float) -> list[Interval]:
    """Return the BCa interval of each system's average rank, the acceleration from the influence of each unit."""
    averages = ranks.mean(axis=0)
    influence = _unit_totals(ranks - averages, codes)
    n, method = len(influence), "average rank, BCa"
    intervals = []
    for j, average in enumerate(averages.tolist()):
        spread = float((influence[:, j] ** 2).sum())
        if spread <= 1e-24 * ranks.size:
            intervals.append(undefined_interval(average, level, method, n, "no spread between units"))
            continue
        acceleration = float((influence[:, j] ** 3).sum()) / (6 * spread**1.5)
        intervals.append(bca_from_resamples(resampled[:, j], average, acceleration, level, method, n))
    return intervals


def _rank_by_mean_intervals(
    values: Floats, codes: Integers, rng: np.random.Generator, level: float, n_resamples: int
) -> list[Interval]:
    """Return the interval of each system's rank by mean score, from all pairwise differences at once."""
    k, n = values.shape[1], int(codes.max()) + 1
    pairs = list(combinations(range(k), 2))
    differences = np.column_stack([values[:, i] - values[:, j] for i, j in pairs])
    found = simultaneous_intervals(differences, rng=rng, clusters=codes, confidence_level=level, n_resamples=n_resamples)
    unvarying_is_shown = len(pairs) * 2.0 ** (1 - n) < 1 - level
    better, worse = np.zeros(k, dtype=int), np.zeros(k, dtype=int)
    for (i, j), difference in zip(pairs, found, strict=True):
        shown = unvarying_is_shown if np.isnan(difference.low) else difference.low > 0 or difference.high < 0
        if shown and difference.estimate:
            winner, loser = (i, j) if difference.estimate > 0 else (j, i)
            better[loser] += 1
            worse[winner] += 1
    places = item_ranks(np.round(values.mean(axis=0), 11)[None])[0]
    method = "rank by mean score, max-T over pairs"
    return [
        Interval(float(place), float(1 + b), float(k - w), level, method, n)
        for place, b, w in zip(places, better, worse, strict=True)
    ]


def _shares_of_best(means: Floats) -> Floats:
    """Return how often each column of `means` (of scores up to 1) is the highest of its row, ties shared equally."""
    means = np.round(means, 11)
    best = means == means.max(axis=1, keepdims=True)
    return (best / best.sum(axis=1, keepdims=True)).mean(axis=0)


def _undefined_ranks(averages: Floats, level: float, n: int, reason: str) -> tuple[SystemRank, ...]:
    nan = float("nan")
    return tuple(
        SystemRank(
            undefined_interval(average, level, "average rank, BCa", n, reason),
            undefined_interval(nan, level, "rank by mean score, max-T over pairs", n, reason),
            nan,
        )
        for average in averages.tolist()
    )
