"""The rank rule of split conformal prediction, in exact arithmetic, and the law of the coverage that it gives.

With n calibration scores the threshold is the k-th smallest of them, k = ceil((n + 1)(1 - alpha)). Floats give a wrong k in
some cases, so the rule is computed with fractions: a float `alpha` is taken as the decimal it prints as, 0.1 as 1/10. Say
``alpha=0.1`` then, not ``alpha=1 - 0.9``, which prints as 0.09999999999999998.
"""

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragnb.conformal.checks import Floats, Rate, check_rate, check_scores
from ragnb.errors import InputError


def conformal_rank(n: int, alpha: Rate) -> int:
    """Rank of the threshold among `n` calibration scores: k = ceil((n + 1)(1 - alpha)), exactly.

    In 1 .. n + 1; n + 1 means that there is no threshold and no label can be excluded.

    Parameters
    ----------
    n : int
        Number of calibration scores.
    alpha : float, str, Fraction or Decimal
        Share of true labels that may be missed, in (0, 1).

    Raises
    ------
    InputError
        If `n` is no whole number of at least 0, or `alpha` is not strictly between 0 and 1.

    References
    ----------
    Vovk, V., Gammerman, A. & Shafer, G. (2005). Algorithmic Learning in a Random World. Springer. Papadopoulos, H. et al.
    (2002). Inductive confidence machines for regression. ECML, 345-356.

    Examples
    --------
    >>> conformal_rank(99, 0.1), conformal_rank(8, 0.1)
    (90, 9)
    """
    return ceil((_check_size(n) + 1) * (1 - check_rate(alpha)))


def conformal_threshold(scores: ArrayLike, alpha: Rate) -> float:
    """Largest score that stays in the prediction set: the k-th smallest of the calibration `scores`.

    In the unit of the scores; ``inf`` where they are too few for `alpha`, so that every label stays.

    Parameters
    ----------
    scores : array_like of shape (n,)
        Nonconformity of each calibration item with its true label; higher is stranger.
    alpha : float, str, Fraction or Decimal
        Share of true labels that may be missed, in (0, 1).

    Raises
    ------
    InputError
        If the shape is another, a score is nan, or `alpha` is not strictly between 0 and 1.

    Examples
    --------
    >>> conformal_threshold([0.4, 0.1, 0.2, 0.3], 0.25), conformal_threshold([0.4, 0.1, 0.2, 0.3], 0.1)
    (0.4, inf)
    """
    values = check_scores(scores, "scores")
    if values.ndim != 1:
        raise InputError(f"scores needs one score an item; it got shape {values.shape}; pass shape (n,).")
    return sorted_threshold(np.sort(values), alpha)


def sorted_threshold(scores: Floats, alpha: Rate) -> float:
    """`conformal_threshold` of scores that are known to be sorted, without looking at each of them."""
    rank = conformal_rank(scores.size, alpha)
    return float(scores[rank - 1]) if rank <= scores.size else float("inf")


def minimum_calibration_size(alpha: Rate) -> int:
    """Fewest calibration items with which a label can be excluded at all: ceil(1 / alpha) - 1.

    Parameters
    ----------
    alpha : float, str, Fraction or Decimal
        Share of true labels that may be missed, in (0, 1).

    Raises
    ------
    InputError
        If `alpha` is not strictly between 0 and 1.

    Examples
    --------
    >>> minimum_calibration_size(0.1), minimum_calibration_size(0.02)
    (9, 49)
    """
    return ceil(1 / check_rate(alpha)) - 1


@dataclass(frozen=True, slots=True)
class CoverageLaw:
    """The law of the coverage over draws of the calibration set: Beta(k, n + 1 - k).

    One calibration set gives one coverage, that of all items to come. Over calibration sets it is spread as this law says,
    exactly so for scores without ties, and with ties it is no lower. When there is no threshold, coverage is 1.

    Attributes
    ----------
    n : int
        Number of calibration items.
    alpha : float
        Share of true labels that may be missed.
    rank : int
        Rank k of the threshold, see `conformal_rank`.
    """

    n: int
    alpha: float
    rank: int

    @property
    def mean(self) -> float:
        """Mean coverage over calibration sets, k / (n + 1), at least 1 - alpha."""
        return self.rank / (self.n + 1)

    @property
    def sd(self) -> float:
        """Standard deviation of the coverage from one calibration set to another."""
        return sqrt(self.mean * (1 - self.mean) / (self.n + 2))

    @property
    def warning(self) -> str:
        """Why no label can be excluded; empty when there is a threshold."""
        if self.rank <= self.n:
            return ""
        return (
            f"alpha = {self.alpha:g} needs at least {minimum_calibration_size(self.alpha)} calibration items; "
            f"it got {self.n}, so every label stays in the set; label more or raise alpha."
        )

    def quantile(self, probability: float) -> float:
        """Coverage below which a calibration set falls with the given probability.

        Raises
        ------
        InputError
            If `probability` is not in [0, 1].
        """
        if not 0 <= probability <= 1:
            raise InputError(f"quantile needs a probability from 0 to 1; it got {probability!r}; write 0.05 for 5 %.")
        if self.rank > self.n:
            return 1.0
        from scipy.special import betaincinv

        return float(betaincinv(self.rank, self.n + 1 - self.rank, probability))

    def band(self, level: float = 0.9) -> tuple[float, float]:
        """Coverages between which `level` of the calibration sets fall, equal tails cut off.

        Raises
        ------
        InputError
            If `level` is not strictly between 0 and 1.
        """
        tail = float(1 - check_rate(level, "level")) / 2
        return self.quantile(tail), self.quantile(1 - tail)

    def __str__(self) -> str:
        if self.warning:
            return self.warning
        low, high = self.band()
        return f"coverage {self.mean:.3f} on average, {low:.3f} to {high:.3f} in 90% of calibration sets (n = {self.n})"


def coverage_law(n: int, alpha: Rate) -> CoverageLaw:
    """Law of the coverage that `n` calibration items give at `alpha`, over draws of the calibration set.

    Parameters
    ----------
    n : int
        Number of calibration items.
    alpha : float, str, Fraction or Decimal
        Share of true labels that may be missed, in (0, 1).

    Raises
    ------
    InputError
        See `conformal_rank`.

    References
    ----------
    Vovk, V. (2012). Conditional validity of inductive conformal predictors. ACML, PMLR 25, 475-490.

    Examples
    --------
    >>> print(coverage_law(240, 0.1))
    coverage 0.900 on average, 0.867 to 0.930 in 90% of calibration sets (n = 240)
    >>> print(coverage_law(5, 0.1))
    alpha = 0.1 needs at least 9 calibration items; it got 5, so every label stays in the set; label more or raise alpha.
    """
    return CoverageLaw(_check_size(n), float(check_rate(alpha)), conformal_rank(n, alpha))


def _check_size(n: int) -> int:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise InputError(f"n needs a whole number of calibration items, at least 0; it got {n!r}; pass a count.")
    return int(n)
