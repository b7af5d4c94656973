"""Effect sizes of a paired comparison, which show how large a difference is.

All functions raise InputError for arguments outside the stated range.
"""

from math import inf, nan, sqrt

import numpy as np
from scipy.special import nctdtr

from ragnb.arguments import Floats, accepts
from ragnb.results import Interval, undefined_interval
from ragnb.stats.binary import PairedTable, mid_p_cdf
from ragnb.stats.intervals import rate_interval, spread_problem, t_half_width
from ragnb.stats.paired import paired_differences, scaled_to_largest


@accepts(first="scores", second="scores", confidence_level="level")
def cohen_d_z(
    first: Floats, second: Floats | None = None, *, confidence_level: float = 0.95
) -> Interval:
    """Cohen's d_z: the mean paired difference in units of the differences' standard deviation.

    It is positive if the first system is better, and ``nan`` for fewer than two pairs or if all
    differences are equal. The interval inverts `ragnb.stats.paired.paired_t_test`: 0 is outside
    exactly if the test rejects.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Scores of two systems on the same items. Without `second`, `first` contains the differences.
    confidence_level : float, default 0.95
        Coverage, exact for normal differences.

    Notes
    -----
    d_z = mean / s. The limits are the noncentralities of t(n - 1) that put the observed t = d_z
    sqrt(n) at either tail, divided by sqrt(n). d_z is not comparable with the d of unpaired groups.

    References
    ----------
    Cohen, J. (1988). Statistical Power Analysis, section 2.3.5. Steiger, J. H. & Fouladi, R. T.
    (1997). Noncentrality interval estimation.

    Examples
    --------
    >>> round(cohen_d_z([1, 2, 3]).estimate, 6)
    2.0
    """
    from scipy.optimize import brentq

    differences = paired_differences(first, second)
    n, name = differences.size, "noncentral t"
    if problem := spread_problem(differences):
        return undefined_interval(nan, confidence_level, name, n, problem)
    estimate = float(differences.mean() / differences.std(ddof=1))
    t, tail = abs(estimate) * sqrt(n), (1 - confidence_level) / 2

    def excess(noncentrality: float, probability: float) -> float:
        below = nctdtr(n - 1, noncentrality, t)  # nan where it is 0 or 1 to within 1e-9
        return float(t > noncentrality if np.isnan(below) else below) - probability

    near, far = t - (10 + 5 * t), t + (10 + 5 * t)
    shifts = [brentq(excess, near, far, args=(p,)) / sqrt(n) for p in (tail, 1 - tail)]
    low, high = sorted(shift if estimate >= 0 else -shift for shift in shifts)
    return Interval(estimate, low, high, confidence_level, name, n)


@accepts(first="scores", second="scores", confidence_level="level")
def rank_biserial(
    first: Floats, second: Floats | None = None, *, confidence_level: float = 0.95
) -> Interval:
    """Matched-pairs rank-biserial correlation, the effect size of the Wilcoxon signed-rank test.

    It is (R+ - R-) / (R+ + R-), where R+ and R- are the rank sums of the positive and the negative
    differences. It lies in [-1, 1]. It is ``nan`` if fewer than two differences are not zero. The
    limits are ``nan`` if all non-zero differences have the same influence.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Scores of two systems on the same items. Without `second`, `first` contains the differences.
    confidence_level : float, default 0.95
        Nominal coverage. The limits are cut at -1 and 1.

    Notes
    -----
    Zero differences are dropped. The estimate equals the mean of sign(d_i + d_j) over i <= j. The
    interval is t with the standard error of each item's linear influence, 2 mean_j
    sign(d_i + d_j).

    References
    ----------
    Kerby, D. S. (2014). The simple difference formula. Comprehensive Psychology 3, 11.IT.3.1.

    Examples
    --------
    >>> round(rank_biserial([1, 2, 3, -4, 5]).estimate, 6)  # (11 - 4) / 15
    0.466667
    """
    differences = scaled_to_largest(paired_differences(first, second))
    differences = differences[differences != 0]
    n, name = differences.size, "linearised t"
    ordered = np.sort(-differences)
    below, above = (np.searchsorted(ordered, differences, side) for side in ("left", "right"))
    sums = below + above - n  # sum over j of sign(d_i + d_j)
    influence = 2 * sums / max(n, 1)
    estimate = float(sums.sum() + np.sign(differences).sum()) / (n * (n + 1)) if n > 1 else nan
    if problem := spread_problem(influence, "influences"):
        return undefined_interval(estimate, confidence_level, name, n, problem)
    half = t_half_width(influence, confidence_level)
    low, high = max(estimate - half, -1.0), min(estimate + half, 1.0)
    return Interval(estimate, low, high, confidence_level, name, n)


@accepts(method=("mid-p", "exact"), confidence_level="level")
def discordant_odds_ratio(
    table: PairedTable, *, confidence_level: float = 0.95, method: str = "mid-p"
) -> Interval:
    """Odds ratio b / c, where only the first (b) or only the second (c) system is correct.

    It is in [0, inf], 1 for no difference, and ``nan`` without discordant items. The interval
    inverts `ragnb.stats.binary.mcnemar_test` with the same method: 1 is outside exactly if the test
    rejects.

    Parameters
    ----------
    table : PairedTable
        From `ragnb.stats.binary.paired_table`.
    confidence_level : float, default 0.95
        Coverage, guaranteed with ``"exact"``.
    method : {"mid-p", "exact"}
        Which binomial tails the limits invert.

    Notes
    -----
    b / c. The limits are p / (1 - p) for the mid-p or Clopper-Pearson limits p of the rate b / (b +
    c).

    References
    ----------
    Fagerland, M. W., Lydersen, S. & Laake, P. (2014). Stat. Med. 33, 2850-2875.

    Examples
    --------
    >>> interval = discordant_odds_ratio(PairedTable(1, 1, 7, 12), method="exact")
    >>> round(interval.estimate, 4), round(interval.low, 4), round(interval.high, 4)
    (0.1429, 0.0032, 1.112)
    """
    b, c, name = table.first_only, table.second_only, f"conditional {method}"
    if not b + c:
        return undefined_interval(nan, confidence_level, name, table.n, "no discordant item")
    if method == "exact":
        rate = rate_interval(b, b + c, method="clopper-pearson", confidence_level=confidence_level)
        low, high = rate.low, rate.high
    else:
        tail = (1 - confidence_level) / 2
        low, high = _mid_p_limit(b, c, tail), 1 - _mid_p_limit(c, b, tail)
    odds = [p / (1 - p) if p < 1 else inf for p in (b / (b + c), low, high)]
    return Interval(odds[0], odds[1], odds[2], confidence_level, name, table.n)


def _mid_p_limit(b: int, c: int, tail: float) -> float:
    """Rate at which b or more of b + c successes (with mid-p) have the probability `tail`."""
    from scipy.optimize import brentq

    if not b:
        return 0.0
    return brentq(lambda p: 1 - mid_p_cdf(b, b + c, p) - tail, 0.0, 1.0, xtol=1e-15)
