"""Effect sizes of a paired comparison: how large a difference is, beside how sure."""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import check_choice
from ragnb.results import Interval, PairedTable
from ragnb.stats.checks import (
    Floats,
    check_aligned,
    check_count,
    check_differences,
    check_level,
    check_table,
    paired_differences,
    spread_problem,
    undefined_interval,
)
from ragnb.stats.numerics import beta_quantile, binomial_cdf, bisect, noncentral_t_cdf, scaled_to_largest, t_quantile


def cohen_d_z(first: ArrayLike, second: ArrayLike | None = None, *, confidence_level: float = 0.95) -> Interval:
    """Cohen's d_z: the mean paired difference in units of the standard deviation of the differences.

    Unbounded, positive when the first system is better; ``nan`` for fewer than two pairs or when all differences are
    equal. Dual of `ragnb.stats.paired.paired_t_test`: 0 lies outside exactly when that rejects.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Scores of two systems on the same items; without `second`, `first` holds the differences.
    confidence_level : float, default 0.95
        Coverage, exact for normal differences.

    Raises
    ------
    InputError
        If a score is not finite, the lengths differ, or the level is not in (0, 1).

    Notes
    -----
    d_z = mean / s. Interval: the non-centralities of t(n - 1) that put the observed t = d_z sqrt(n) at either tail,
    divided by sqrt(n). d_z is not comparable with the d of unpaired groups.

    References
    ----------
    Cohen, J. (1988). Statistical Power Analysis, section 2.3.5. Steiger, J. H. & Fouladi, R. T. (1997). Noncentrality
    interval estimation.

    Examples
    --------
    >>> round(cohen_d_z([1, 2, 3]).estimate, 6)
    2.0
    """
    differences, level = check_differences(first, second), check_level(confidence_level)
    n = differences.size
    if problem := spread_problem(differences):
        return undefined_interval(float("nan"), level, "noncentral t", n, problem)
    estimate = float(differences.mean() / differences.std(ddof=1))
    t = estimate * sqrt(n)
    reach = 10 + 5 * abs(t)
    low, high = (
        bisect(lambda shift, p=p: p - noncentral_t_cdf(t, n - 1, shift), t - reach, t + reach) / sqrt(n)  # type: ignore[misc]
        for p in ((1 + level) / 2, (1 - level) / 2)
    )
    return Interval(estimate, low, high, level, "noncentral t", n)


def cliffs_delta(first: ArrayLike, second: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Cliff's delta: how much more often a score of the first system exceeds one of the second than the reverse.

    In [-1, 1] over all n^2 pairs of scores, not only those of the same item; ``nan`` for fewer than two items; limits
    ``nan`` when every item has the same influence. Dual of no test here.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Scores of two systems on the same items.
    confidence_level : float, default 0.95
        Nominal coverage; the limits are clipped to [-1, 1].

    Raises
    ------
    InputError
        If a score is not finite, the lengths differ, or the level is not in (0, 1).

    Notes
    -----
    delta = mean over i, j of sign(x_i - y_j), 0 where the two are within 1e-12 of the larger one. The interval takes the
    pairing into account: t(n - 1) with the standard error of the linear influence of each item, mean_j sign(x_i - y_j) +
    mean_j sign(x_j - y_i).

    References
    ----------
    Cliff, N. (1993). Dominance statistics: ordinal analyses to answer ordinal questions. Psychol. Bull. 114, 494-509.

    Examples
    --------
    >>> cliffs_delta([3, 4, 5], [1, 2, 3]).estimate  # 8 wins and a tie of 9
    0.8888888888888888
    """
    left, right = _places(*check_aligned(first, second))
    influence = _mean_sign(left, right) - _mean_sign(right, left)
    estimate = float(influence.mean()) / 2 if influence.size else float("nan")
    return _linear_interval(estimate, influence, confidence_level)


def rank_biserial(first: ArrayLike, second: ArrayLike | None = None, *, confidence_level: float = 0.95) -> Interval:
    """Matched-pairs rank-biserial correlation, the effect size of the Wilcoxon signed-rank test.

    In [-1, 1]: share of the rank sum in favour of the first system minus the share against; ``nan`` when fewer than
    two differences are not zero; limits ``nan`` when all non-zero differences have the same influence. Dual of no test.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Scores of two systems on the same items; without `second`, `first` holds the differences.
    confidence_level : float, default 0.95
        Nominal coverage; the limits are clipped to [-1, 1].

    Raises
    ------
    InputError
        If a score is not finite, the lengths differ, or the level is not in (0, 1).

    Notes
    -----
    (R+ - R-) / (R+ + R-), zero differences dropped; equal to the mean of sign(d_i + d_j) over i <= j. Interval: t with
    the standard error of each item's linear influence, 2 mean_j sign(d_i + d_j).

    References
    ----------
    Kerby, D. S. (2014). The simple difference formula. Comprehensive Psychology 3, 11.IT.3.1.

    Examples
    --------
    >>> round(rank_biserial([1, 2, 3, -4, 5]).estimate, 6)  # (11 - 4) / 15
    0.466667
    """
    differences = scaled_to_largest(check_differences(first, second))
    differences = differences[differences != 0]
    n = differences.size
    pull = _mean_sign(differences, -differences)
    # over i <= j: half of the sum over all i, j and of that over i = j
    estimate = float(pull.sum() * n + np.sign(differences).sum()) / (n * (n + 1)) if n else float("nan")
    return _linear_interval(estimate, 2 * pull, confidence_level)


def discordant_odds_ratio(table: PairedTable, *, confidence_level: float = 0.95, method: str = "mid-p") -> Interval:
    """Odds ratio of the discordant items: how many times as often only the first system is right as only the second.

    In [0, inf], 1 for no difference; ``nan`` without discordant items. Dual of `ragnb.stats.binary.mcnemar_test` with
    the same method: 1 lies outside exactly when that rejects.

    Parameters
    ----------
    table : PairedTable
        From `ragnb.stats.binary.paired_table`.
    confidence_level : float, default 0.95
        Coverage; guaranteed with ``"exact"``.
    method : {"mid-p", "exact"}
        Which binomial tails the limits invert.

    Raises
    ------
    InputError
        If the method is unknown, a count negative, or the level not in (0, 1).

    Notes
    -----
    b / c; the limits are p / (1 - p) for the Clopper-Pearson or mid-p limits p of b successes in b + c.

    References
    ----------
    Fagerland, M. W., Lydersen, S. & Laake, P. (2014). Stat. Med. 33, 2850-2875.

    Examples
    --------
    >>> interval = discordant_odds_ratio(PairedTable(1, 1, 7, 12), method="exact")
    >>> round(interval.estimate, 4), round(interval.low, 4), round(interval.high, 4)
    (0.1429, 0.0032, 1.112)
    """
    check_choice(method, ("mid-p", "exact"), "method")
    level = check_level(confidence_level)
    table = check_table(table)
    b, c = check_count(table.first_only, "first_only"), check_count(table.second_only, "second_only")
    name, n = f"conditional {method}", table.both + b + c + table.neither
    if b + c == 0:
        return undefined_interval(float("nan"), level, name, n, "no discordant item")
    limits = _clopper_pearson if method == "exact" else _mid_p
    low, high = limits(b, c, (1 - level) / 2), 1 - limits(c, b, (1 - level) / 2)
    return Interval(_odds(b / (b + c)), _odds(low), _odds(high), level, name, n)


def _clopper_pearson(b: int, c: int, tail: float) -> float:
    """Return the probability at which `b` or more successes in b + c have probability `tail`."""
    return beta_quantile(tail, b, c + 1) if b else 0.0


def _mid_p(b: int, c: int, tail: float) -> float:
    """Return the probability at which more than `b` successes plus half of exactly `b` have probability `tail`."""
    if b == 0:
        return 0.0
    n = b + c
    return bisect(lambda p: 1 - (binomial_cdf(b - 1, n, p) + binomial_cdf(b, n, p)) / 2 - tail, 0.0, 1.0)


def _odds(probability: float) -> float:
    return probability / (1 - probability) if probability < 1 else float("inf")


def _places(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return the place of each score among all of them, the same where rounding error alone tells two apart."""
    pooled = np.concatenate([left, right])
    order = np.argsort(pooled)
    ordered, places = pooled[order], np.zeros(pooled.size)
    places[order[1:]] = np.cumsum(paired_differences(ordered[1:], ordered[:-1]) > 0)
    return places[: left.size], places[left.size :]


def _mean_sign(values: Floats, others: Floats) -> Floats:
    """Return for each value how much more often it exceeds one of `others` than it falls short, as a share."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, values, "left")
    above = ordered.size - np.searchsorted(ordered, values, "right")
    return (below - above) / max(ordered.size, 1)


def _linear_interval(estimate: float, influence: Floats, confidence_level: float) -> Interval:
    """Return the t interval with the standard error of the mean of the per-item influences, clipped to [-1, 1]."""
    level, n = check_level(confidence_level), influence.size
    if n < 2:
        return undefined_interval(float("nan"), level, "linearised t", n, f"needs 2 values, got {n}")
    if problem := spread_problem(influence):
        return undefined_interval(estimate, level, "linearised t", n, problem.replace("values", "influences"))
    half = t_quantile((1 + level) / 2, n - 1) * float(influence.std(ddof=1)) / sqrt(n)
    return Interval(estimate, max(estimate - half, -1.0), min(estimate + half, 1.0), level, "linearised t", n)
