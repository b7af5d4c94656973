"""Split conformal prediction for two classes: p-values, prediction sets, and their coverage.

The *prediction set* of an item contains each label whose conformal p-value is above the miscoverage
level `alpha`. If the calibration items and the new items are exchangeable, P(the set does not
contain the true label) <= `alpha`, on average over calibration sets and new items. The guarantee
does not hold for each particular item, or for the subset of items whose set contains exactly one
label. For the error rate in this subset, see `ragnb.conformal.control`.

Nonconformity scores that differ only by rounding error are tied, as they are in exact arithmetic:
the label with the probability 0.05 is as likely as the one with the probability 1 - 0.95.

A float `alpha` is interpreted as the decimal number that Python prints for it, so 0.1 is exactly
1/10. Write ``alpha=0.1`` rather than ``alpha=1 - 0.9``, which prints as 0.09999999999999998.

All functions raise InputError for arguments outside the stated range.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ragnb.arguments import Booleans, Floats, Rate, accepts, as_rate
from ragnb.errors import InputError
from ragnb.printing import warn
from ragnb.rounding import ROUNDING

# Group if there are no groups, and label if both classes are calibrated together.
ALL = "all"


# ---- ranks and coverage --------------------------------------------------------------------------


@accepts(n="count", alpha="rate")
def conformal_rank(n: int, alpha: Fraction) -> int:
    """Rank of the conformal quantile among n calibration scores: k = ceil((n + 1)(1 - alpha)).

    Parameters
    ----------
    n : int
        Number of calibration scores, at least 0.
    alpha : float, str, Fraction or Decimal
        Miscoverage level, in (0, 1): the tolerated probability that a prediction set does not
        contain the true label.

    Returns
    -------
    int
        Rank among the calibration scores in ascending order, from 1 to n + 1. A rank of n + 1 means
        that no label can be excluded.

    References
    ----------
    .. [1] Vovk, V., Gammerman, A. & Shafer, G. (2005). Algorithmic Learning in a Random World.
       Springer.
    .. [2] Papadopoulos, H., Proedrou, K., Vovk, V. & Gammerman, A. (2002). Inductive confidence
       machines for regression. ECML, 345-356.

    Examples
    --------
    >>> conformal_rank(99, 0.1), conformal_rank(8, 0.1)
    (90, 9)
    """
    return ceil((n + 1) * (1 - alpha))


@accepts(n="count", alpha="rate")
def coverage_distribution(n: int, alpha: Fraction) -> Any:
    """Beta distribution of the coverage over calibration sets of `n` items.

    For a given calibration set, the coverage is the probability that the prediction set of a new
    item contains the true label. Over calibration sets, it has the distribution Beta(k, n + 1 - k),
    where k is the `conformal_rank`. This is exact if the items are independent and identically
    distributed and the distribution of the nonconformity scores is continuous. With ties, the
    coverage is stochastically larger. If k = n + 1, the coverage is always 1.

    Parameters
    ----------
    n : int
        Number of calibration items, at least 0.
    alpha : float, str, Fraction or Decimal
        Miscoverage level, in (0, 1).

    Returns
    -------
    scipy.stats.rv_frozen
        Distribution with, for example, the methods ``mean()``, ``std()``, ``ppf(0.05)`` for the 5 %
        quantile, and ``interval(0.9)`` for the central 90 % interval. Its mean is k / (n + 1),
        which is at least 1 - `alpha`.

    References
    ----------
    .. [1] Vovk, V. (2012). Conditional validity of inductive conformal predictors. ACML, PMLR 25,
       475-490.

    Examples
    --------
    >>> coverage = coverage_distribution(240, 0.1)  # k = 217
    >>> round(float(coverage.mean()), 3), round(float(coverage.ppf(0.05)), 3)
    (0.9, 0.867)
    """
    from scipy.stats import beta

    rank = conformal_rank(n, alpha)
    return beta(rank, max(n + 1 - rank, 1e-300))  # with a second parameter of 0, scipy returns NaN


@accepts(alpha="rate", tolerance="level", delta="level")
def labels_for_coverage(alpha: Fraction, *, tolerance: float = 0.05, delta: float = 0.1) -> int:
    """Number of calibration labels from which on the coverage is almost certainly close to its target.

    With this number `n` of calibration items, or with any larger one, the coverage of the prediction
    sets is at least 1 - `alpha` - `tolerance` with probability at least 1 - `delta` over calibration
    sets.

    Parameters
    ----------
    alpha : float, str, Fraction or Decimal
        Miscoverage level, in (0, 1).
    tolerance : float, default=0.05
        How far the coverage of a calibrated classifier may be below 1 - `alpha`.
    delta : float, default=0.1
        Tolerated probability, over calibration sets, that it is further below.

    Returns
    -------
    int
        Number of labels, at least 1 / `alpha` - 1, because fewer exclude no label.

    Notes
    -----
    The coverage has the distribution Beta(k, n + 1 - k) of `coverage_distribution`. The probability
    that it is below c = 1 - `alpha` - `tolerance` is P(Binomial(n, c) >= k). It does not decrease
    steadily, because the rank k is rounded up, so the number after the last n that misses the target
    is returned. By Hoeffding's inequality, no n above log(1 / `delta`) / (2 `tolerance` ** 2) misses it.
    The items must be independent and identically distributed, which labels from before a change of
    the model or the prompt are not.

    References
    ----------
    .. [1] Vovk, V. (2012). Conditional validity of inductive conformal predictors. ACML, PMLR 25,
       475-490.
    .. [2] Angelopoulos, A. N. & Bates, S. (2023). Conformal prediction: A gentle introduction.
       Foundations and Trends in Machine Learning 16, 494-591, section 3.2.

    Examples
    --------
    >>> labels_for_coverage(0.1), labels_for_coverage(0.1, tolerance=0.02)
    (60, 380)
    """
    from scipy.special import bdtrc

    least_coverage = float(1 - alpha) - tolerance
    if least_coverage <= 0:
        raise InputError(
            f"tolerance must be below 1 - alpha = {float(1 - alpha):g}, got {tolerance:g}"
        )
    # Above this number, Hoeffding's inequality suffices.
    most = ceil(log(1 / delta) / (2 * tolerance**2))
    if most > 10**7:
        raise InputError(f"tolerance must be larger, because it needs about {most:,} labels")
    fewest = ceil(1 / alpha) - 1
    numbers = np.arange(fewest, max(most, fewest) + 1)
    # As in `conformal_rank`, in whole numbers: the fraction of a float has up to 17 digits.
    share = 1 - alpha
    ranks = -(-(numbers + 1).astype(object) * share.numerator // share.denominator)
    ranks = ranks.astype(np.int64)
    misses = bdtrc(ranks - 1, numbers, least_coverage) > delta
    return int(numbers[misses][-1]) + 1 if misses.any() else fewest


@accepts(n="count", alpha="rate")
def too_few_items(n: int, alpha: Fraction) -> str:
    """Explain how many calibration items are needed to exclude a label; empty if there are enough.

    At least 1 / `alpha` - 1 items are needed, where `alpha` is the miscoverage level in (0, 1).

    >>> too_few_items(5, 0.1), too_few_items(9, 0.1)
    ('alpha = 0.1 needs at least 9 calibration items, got 5', '')
    """
    fewest = ceil(1 / alpha) - 1
    if n >= fewest:
        return ""
    return f"alpha = {float(alpha):g} needs at least {fewest} calibration items, got {n}"


# ---- prediction sets -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class ConformalClassifier:
    """Split conformal classifier for two classes, created by `calibrate`.

    The nonconformity score of a label is one minus its predicted probability. This is the score of
    least ambiguous set-valued classifiers (LAC) [2]_. A label is excluded if its score is above the
    k-th smallest of the n calibration scores, where k is the `conformal_rank`. If k is n + 1, no
    label is excluded.

    Attributes
    ----------
    scores : dict
        Sorted nonconformity scores of the true labels of the calibration items. The keys are pairs
        (group, label). The group is ``"all"`` if no groups were given. The label is 0 or 1 if the
        classes are calibrated separately, and otherwise ``"all"``.

    References
    ----------
    .. [1] Vovk, V., Gammerman, A. & Shafer, G. (2005). Algorithmic Learning in a Random World.
       Springer.
    .. [2] Sadinle, M., Lei, J. & Wasserman, L. (2019). Least ambiguous set-valued classifiers with
       bounded error levels. JASA 114, 223-234.
    """

    scores: dict[tuple[Any, Any], Floats]

    @classmethod
    @accepts(probability="probabilities", labels="labels", groups=np.asarray)
    def calibrate(
        cls,
        probability: ArrayLike,
        labels: ArrayLike,
        *,
        by_class: bool = False,
        groups: ArrayLike | None = None,
    ) -> "ConformalClassifier":
        """Calibrate with labelled items that were not used to train the underlying classifier.

        Parameters
        ----------
        probability : array-like of shape (n,)
            Predicted probability of label 1.
        labels : array-like of shape (n,)
            True labels, 0 or 1.
        by_class : bool, default=False
            Whether to guarantee the coverage within each class (Mondrian conformal prediction)
            instead of over both classes together.
        groups : array-like of shape (n,) or None, default=None
            Group of each item. The coverage is then guaranteed within each group. You must be able
            to determine the group of a new item without knowing its label.

        Returns
        -------
        ConformalClassifier
            The calibrated classifier.

        Examples
        --------
        >>> classifier = ConformalClassifier.calibrate([0.9, 0.8, 0.3, 0.2], [1, 1, 0, 0])
        >>> classifier.sets([0.95, 0.6, 0.1], alpha=0.25)
        array([[False,  True],
               [False, False],
               [ True, False]])
        """
        both = _scores(probability)
        is_true = np.asarray(labels)
        true = np.where(is_true, both[:, 1], both[:, 0])
        group_of_item = np.full(is_true.size, ALL) if groups is None else np.asarray(groups)
        scores = {}
        for group in sorted(set(group_of_item.tolist())):
            inside = group_of_item == group
            for label in (0, 1) if by_class else (ALL,):
                rows = inside & (is_true == label) if by_class else inside
                scores[group, label] = np.sort(true[rows])
        empty = [key for key, calibration in scores.items() if not calibration.size]
        if empty:
            raise InputError(
                "the calibration data have no item of group {}, label {}".format(*empty[0])
            )
        return cls(scores)

    @accepts(probability="probabilities", groups=np.asarray)
    def p_values(self, probability: ArrayLike, *, groups: ArrayLike | None = None) -> Floats:
        """Compute the conformal p-value of each label of each item.

        If a new item and the calibration items are exchangeable, P(p-value of its true label <= u)
        <= u for any u in (0, 1).

        Parameters
        ----------
        probability : array-like of shape (n,)
            Predicted probability of label 1.
        groups : array-like of shape (n,) or None, default=None
            Group of each item. Required if and only if the calibration items had groups.

        Returns
        -------
        ndarray of float of shape (n, 2)
            p-values of labels 0 and 1, in (0, 1].

        Notes
        -----
        The p-value of a label is (1 + number of calibration scores that are at least as large as
        the score of the label) / (1 + number of calibration scores). Only calibration scores of the
        same group and, with ``by_class=True``, of the same class are counted. The p-values are not
        smoothed by randomisation.
        """
        scores = _scores(probability)
        values = np.empty_like(scores)
        for _, cell, calibration in self._cells(groups):
            item_scores = scores[cell] - ROUNDING
            order = np.argsort(
                item_scores, axis=None
            )  # the search is several times as fast when sorted
            below = np.empty(item_scores.shape, np.intp)
            below.flat[order] = np.searchsorted(calibration, item_scores.flat[order], side="left")
            values[cell] = (calibration.size - below + 1) / (calibration.size + 1)
        return values

    @accepts(probability="probabilities", alpha="rate", groups=np.asarray)
    def sets(
        self,
        probability: ArrayLike,
        alpha: Rate,
        *,
        groups: ArrayLike | None = None,
    ) -> Booleans:
        """Compute the prediction set of each item: the labels whose p-value is above `alpha`.

        A set may contain both labels or neither.

        Parameters
        ----------
        probability : array-like of shape (n,)
            Predicted probability of label 1.
        alpha : float, str, Fraction or Decimal
            Miscoverage level, in (0, 1).
        groups : array-like of shape (n,) or None, default=None
            Group of each item. Required if and only if the calibration items had groups.

        Returns
        -------
        ndarray of bool of shape (n, 2)
            Whether labels 0 and 1 are in the set.

        Warns
        -----
        RuntimeWarning
            There are too few calibration items to exclude a label at this `alpha`.
        """
        scores, error_rate = _scores(probability), as_rate(alpha)
        inside = np.ones(scores.shape, dtype=np.bool_)
        for key, cell, calibration in self._cells(groups):
            if few := too_few_items(calibration.size, error_rate):
                text = "group {}, label {}: {}; every label stays in the set".format(*key, few)
                warn(text, RuntimeWarning)
            else:
                threshold = calibration[conformal_rank(calibration.size, error_rate) - 1]
                inside[cell] = scores[cell] - ROUNDING <= threshold
        return inside

    def _cells(self, groups: ArrayLike | None) -> Iterator[tuple[Any, Any, Floats]]:
        """Yield each key of `scores`, its entries of an array of shape (n, 2), and its scores."""
        known_groups = {group for group, _ in self.scores}
        group_of_item = None if groups is None else np.asarray(groups)
        groups_of_items = {ALL} if group_of_item is None else set(group_of_item.tolist())
        if not groups_of_items <= known_groups:
            raise InputError(
                f"groups must be among those of the calibration data, {known_groups}, got {groups_of_items}"
            )
        for (group, label), calibration in self.scores.items():
            rows = slice(None) if group_of_item is None else group_of_item == group
            yield (group, label), (rows, slice(None) if label == ALL else label), calibration


def _scores(probability: ArrayLike) -> Floats:
    """Nonconformity scores of labels 0 and 1, as an array of shape (n, 2)."""
    probability_of_1 = np.asarray(probability)
    return 1 - np.column_stack([1 - probability_of_1, probability_of_1])
