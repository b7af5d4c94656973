"""Corrections for several comparisons made together: adjusted p-values and simultaneous intervals."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError
from ragnb.results import AdjustedPValues, Interval
from ragnb.stats.checks import (
    Floats,
    Integers,
    check_array,
    check_clusters,
    check_count,
    check_generator,
    check_level,
    undefined_interval,
)
from ragnb.stats.numerics import normal_cdf, t_quantile


def holm(p_values: ArrayLike) -> AdjustedPValues:
    """Holm's step-down adjusted p-values: the family-wise error rate is kept under any dependence.

    In [0, 1], never below the p-value itself; ``nan`` stays ``nan``, is listed, and is no part of the family.

    Parameters
    ----------
    p_values : array_like of shape (m,)
        The p-values of one declared family, ``nan`` where a test was undefined.

    Raises
    ------
    InputError
        If the family is empty or a value is outside [0, 1].

    Notes
    -----
    Sorted upwards, the i-th of m is multiplied by m - i + 1, then made monotone.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, float("nan"), 0.03]).adjusted
    (0.03, 0.06, nan, 0.06)
    """
    return _adjust(p_values, "Holm", lambda p: np.maximum.accumulate(p * np.arange(p.size, 0, -1)))


def bonferroni(p_values: ArrayLike) -> AdjustedPValues:
    """Bonferroni adjusted p-values: as `holm`, which is never worse, and simpler to state.

    In [0, 1], never below the p-value itself; ``nan`` stays ``nan``, is listed, and is no part of the family.

    Parameters
    ----------
    p_values : array_like of shape (m,)
        The p-values of one declared family, ``nan`` where a test was undefined.

    Raises
    ------
    InputError
        If the family is empty or a value is outside [0, 1].

    Notes
    -----
    Each is multiplied by m.

    References
    ----------
    Dunn, O. J. (1961). Multiple comparisons among means. JASA 56, 52-64.

    Examples
    --------
    >>> bonferroni([0.01, 0.04]).adjusted
    (0.02, 0.08)
    """
    return _adjust(p_values, "Bonferroni", lambda p: p * p.size)


def benjamini_hochberg(p_values: ArrayLike) -> AdjustedPValues:
    """Benjamini-Hochberg adjusted p-values: the false discovery rate is kept under independence or positive dependence.

    In [0, 1], never below the p-value itself; ``nan`` stays ``nan``, is listed, and is no part of the family.

    Parameters
    ----------
    p_values : array_like of shape (m,)
        The p-values of one declared family, ``nan`` where a test was undefined.

    Raises
    ------
    InputError
        If the family is empty or a value is outside [0, 1].

    Notes
    -----
    Sorted upwards, the i-th of m is multiplied by m / i, then made monotone from the largest down.

    References
    ----------
    Benjamini, Y. & Hochberg, Y. (1995). Controlling the false discovery rate. JRSS B 57, 289-300.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).adjusted
    (0.03, 0.04, 0.04)
    """
    return _adjust(
        p_values,
        "Benjamini-Hochberg",
        lambda p: np.minimum.accumulate((p * p.size / np.arange(1, p.size + 1))[::-1])[::-1],
    )


CORRECTIONS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg, "bonferroni": bonferroni}
"""The corrections by name."""

ADJUSTED = ("p_adjusted", "correction", "family_size")
"""The columns beside those of p-values."""


def adjusted_columns(
    p_values: ArrayLike, correction: str = "holm", families: ArrayLike | None = None
) -> dict[str, Floats | Integers | str]:
    """The columns `ADJUSTED` of a table of p-values: adjusted, by which correction, over how many.

    Parameters
    ----------
    p_values : array_like of shape (m,)
        ``nan`` where a test was undefined.
    correction : str
        A name of `CORRECTIONS`.
    families : array_like of shape (m,), optional
        Which family each p-value belongs to; by default all are one.

    Raises
    ------
    InputError
        If a value is outside [0, 1].

    Examples
    --------
    >>> adjusted_columns([0.01, 0.04, 0.03], families=["a", "b", "a"])["p_adjusted"]
    array([0.02, 0.04, 0.03])
    """
    p = np.asarray(p_values, dtype=np.float64)
    given = np.zeros(p.size) if families is None else np.asarray(families)
    adjusted, sizes = np.full(p.size, np.nan), np.zeros(p.size, dtype=np.int64)
    for family in np.unique(given):
        found = CORRECTIONS[correction](p[given == family])
        adjusted[given == family], sizes[given == family] = found.adjusted, found.family_size
    return dict(zip(ADJUSTED, (adjusted, correction, sizes), strict=True))


def simultaneous_intervals(
    values: ArrayLike,
    *,
    rng: np.random.Generator,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
) -> tuple[Interval, ...]:
    """Max-T intervals of several means that all hold at once with the given probability.

    In the unit of the values; wider than single intervals, narrower than Bonferroni's when columns are correlated;
    limits are ``nan`` in columns whose values are all equal, which are no part of the family. With one column they are
    the t interval up to resampling error.

    Parameters
    ----------
    values : array_like of shape (n, m)
        Finite scores or paired differences: one row an item, one column a comparison.
    rng : numpy.random.Generator
        Source of the resamples, which all columns share.
    clusters : array_like of shape (n,), optional
        Key of the cluster (the question) of each item; clusters are then resampled whole.
    confidence_level : float, default 0.95
        Nominal probability that all intervals hold.
    n_resamples : int, default 10_000
        Number of resamples.

    Raises
    ------
    InputError
        If the shape is wrong, a value is not finite, the family is empty, or an option is out of range.

    Notes
    -----
    c is the `confidence_level` quantile of max_j abs(sum of resampled influences of column j) / their root sum of
    squares. The limits are mean -+ t se, with t the quantile of Student's law (units - 1 degrees of freedom) at the
    level that c has under the normal law, so that small samples do not make them too narrow.

    References
    ----------
    Westfall, P. H. & Young, S. S. (1993). Resampling-Based Multiple Testing, chapter 2. Romano, J. P. & Wolf, M.
    (2005). Exact and approximate stepdown methods for multiple hypothesis testing. JASA 100, 94-108.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.2], [0.4, 0.1], [-0.2, 0.3], [0.3, 0.6], [0.2, -0.1]])
    >>> first, second = simultaneous_intervals(scores, rng=np.random.default_rng(0))
    >>> round(first.estimate, 3), first.method
    (0.16, 'max-T over 2 means, 10000 resamples')
    """
    scores, level = _check_family(values), check_level(confidence_level)
    check_generator(rng, "A simultaneous interval")
    check_count(n_resamples, "n_resamples", minimum=100)
    means = scores.mean(axis=0) if len(scores) else np.full(scores.shape[1], np.nan)
    units = _unit_sums(scores - means, clusters)
    n = len(units)
    root = np.sqrt((units**2).sum(axis=0))
    usable = root > 1e-12 * np.maximum(np.abs(scores).sum(axis=0), 1e-300)
    method = f"max-T over {int(usable.sum())} means, {n_resamples} resamples"
    if n < 2 or not usable.any():
        reason = "needs 2 independent units" if n < 2 else "all values are equal"
        return tuple(undefined_interval(float(mean), level, method, n, reason) for mean in means)
    critical = float(np.quantile(_max_t(units[:, usable] / root[usable], rng, n_resamples), level))
    t = t_quantile(normal_cdf(critical), n - 1)
    half = t * root * np.sqrt(n / (n - 1)) / len(scores)
    return tuple(
        Interval(float(mean), float(mean - h), float(mean + h), level, method, n)
        if good
        else undefined_interval(float(mean), level, method, n, "all values are equal")
        for mean, h, good in zip(means, half, usable, strict=True)
    )


def _max_t(influences: Floats, rng: np.random.Generator, n_resamples: int) -> Floats:
    """Return the largest absolute resampled sum over the columns of `influences`, once per resample."""
    n = len(influences)
    even = np.full(n, 1 / n)
    block = max(1, 2**20 // n)
    sizes = [min(block, n_resamples - start) for start in range(0, n_resamples, block)]
    return np.concatenate([np.abs(rng.multinomial(n, even, size=size) @ influences).max(axis=1) for size in sizes])


def _unit_sums(deviations: Floats, clusters: ArrayLike | None) -> Floats:
    """Return the deviations summed within each independent unit: an item, or a cluster."""
    if clusters is None:
        return deviations
    codes, n_clusters = check_clusters(clusters, len(deviations))
    return np.column_stack([np.bincount(codes, column, n_clusters) for column in deviations.T])


def _check_family(values: ArrayLike) -> Floats:
    scores = check_array(values, "A family of comparisons")
    if scores.ndim != 2 or scores.shape[1] == 0:
        raise InputError(
            f"Simultaneous intervals need one row an item and one column a comparison; they got shape {scores.shape}; "
            "stack the differences as columns."
        )
    if not np.isfinite(scores).all():
        raise InputError(
            "Simultaneous intervals need finite scores; they got nan or infinite ones; drop those items throughout."
        )
    return scores


def _adjust(p_values: ArrayLike, method: str, step: Callable[[Floats], Floats]) -> AdjustedPValues:
    """Return the adjusted p-values of the defined ones, `step` being applied to them in ascending order."""
    given = np.atleast_1d(check_array(p_values, method))
    if given.size == 0 or given.ndim != 1:
        raise InputError(f"{method} needs a family of p-values; it got shape {given.shape}; pass at least one p-value.")
    defined = np.flatnonzero(~np.isnan(given))
    family = given[defined]
    if ((family < 0) | (family > 1)).any():
        raise InputError(
            f"{method} needs p-values in [0, 1]; it got {family[(family < 0) | (family > 1)][0]:g}; pass p, not z or t."
        )
    order = np.argsort(family, kind="stable")
    adjusted = np.full(given.size, np.nan)
    if family.size:
        adjusted[defined[order]] = np.minimum(step(family[order]), 1.0)
    left_out = tuple(np.flatnonzero(np.isnan(given)).tolist())
    return AdjustedPValues(tuple(given.tolist()), tuple(adjusted.tolist()), method, family.size, left_out)
