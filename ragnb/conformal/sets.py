"""Split conformal prediction for two classes: p-values, prediction sets, and their coverage.

The *prediction set* of an item contains each label that cannot be excluded because its p-value is
above the miscoverage level `alpha`. If the calibration items and the new items are exchangeable,
P(the set does not contain the true label) <= `alpha`, on average over calibration sets and new
items. This is no guarantee for a single item, nor for the items whose set contains exactly one
label. For the latter, see `ragnb.conformal.control`.

Ranks are computed with fractions, because floating-point arithmetic gives a wrong rank in some
cases. A float `alpha` is taken as the decimal number that it prints as: 0.1 is 1/10. So write
``alpha=0.1`` and not ``alpha=1 - 0.9``, which prints as 0.09999999999999998.

All functions raise InputError for arguments outside the stated range.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragnb.arguments import Booleans, Floats, accepts
from ragnb.errors import InputError

ALL = "all"
"""Key that replaces the group, or the label, if all groups or both labels share a calibration."""


# ---- ranks and coverage --------------------------------------------------------------------------


@accepts(n="count", alpha="rate")
def conformal_rank(n: int, alpha: Fraction) -> int:
    """Rank of the calibration score that is the conformal quantile: k = ceil((n + 1)(1 - alpha)).

    The rank is among the `n` calibration scores in ascending order. A rank of n + 1 means that
    there is no threshold, so no label can be excluded.

    Parameters
    ----------
    n : int
        Number of calibration scores.
    alpha : float, str, Fraction or Decimal
        Miscoverage level, in (0, 1): the tolerated proportion of prediction sets that do not
        contain the true label.

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
    """Distribution of the coverage over calibration sets of `n` items: Beta(k, n + 1 - k).

    The coverage of a calibration set is P(the prediction set contains the true label) for new
    items. If the items are independent and identically distributed and their scores have no ties,
    this coverage varies between calibration sets with exactly this distribution. With ties, it is
    stochastically larger. If there is no threshold (k = n + 1), it is 1. The parameters are those
    of `conformal_rank`, which gives k.

    Returns
    -------
    scipy.stats.rv_frozen
        Its methods include ``mean()``, which is k / (n + 1) and at least 1 - alpha, ``std()``,
        ``ppf(0.05)`` for a quantile, and ``interval(0.9)`` for the central 90 %.

    References
    ----------
    .. [1] Vovk, V. (2012). Conditional validity of inductive conformal predictors. ACML, PMLR 25,
       475-490.

    Examples
    --------
    >>> coverage = coverage_distribution(240, 0.1)
    >>> round(float(coverage.mean()), 3), round(float(coverage.ppf(0.05)), 3)
    (0.9, 0.867)
    """
    from scipy.stats import beta

    rank = conformal_rank(n, alpha)
    return beta(rank, max(n + 1 - rank, 1e-300))  # with a second parameter of 0, scipy returns NaN


@accepts(n="count", alpha="rate")
def too_few_items(n: int, alpha: Fraction) -> str:
    """Explain why `n` calibration items are too few to exclude any label at level `alpha`.

    The result is an empty string if they are sufficient.

    Examples
    --------
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
    """Split conformal classifier for two classes; created by `calibrate`.

    The nonconformity score of a label is one minus its predicted probability. This is the score of
    the least ambiguous set-valued classifier (LAC). A label is excluded if its score is above the
    k-th smallest calibration score, where k is the `conformal_rank`.

    Attributes
    ----------
    scores : dict
        Maps (group, label) to the sorted scores of the true labels of the calibration items in this
        group with this label. The group is ``"all"`` if there are no groups, and the label is
        ``"all"`` unless the classes are calibrated separately.

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
        probability: Floats,
        labels: Booleans,
        *,
        by_class: bool = False,
        groups: NDArray[Any] | None = None,
    ) -> "ConformalClassifier":
        """Calibrate prediction sets on items that were not used to train the classifier.

        Parameters
        ----------
        probability : array_like of shape (n,)
            Predicted probability of class 1.
        labels : array_like of shape (n,)
            True labels, 0 or 1.
        by_class : bool, default False
            Whether the coverage is guaranteed within each class (Mondrian conformal prediction),
            which requires enough items of each class. Otherwise it is guaranteed over all items.
        groups : array_like of shape (n,), optional
            Name of the group of each item. The coverage is then also guaranteed within each group.
            The group of a new item must be known before its label is.

        Examples
        --------
        >>> classifier = ConformalClassifier.calibrate([0.9, 0.8, 0.3, 0.2], [1, 1, 0, 0])
        >>> classifier.sets([0.95, 0.6, 0.1], alpha=0.25)
        array([[False,  True],
               [False, False],
               [ True, False]])
        """
        both = _scores(probability)
        true = np.where(labels, both[:, 1], both[:, 0])
        scores = {}
        for group in [ALL] if groups is None else sorted(set(groups.tolist())):
            inside = np.full(labels.size, True) if groups is None else groups == group
            for label in (0, 1) if by_class else (ALL,):
                rows = inside & (labels == label) if by_class else inside
                scores[group, label] = np.sort(true[rows])
        if empty := [key for key, known in scores.items() if not known.size]:
            raise InputError(
                "the calibration data have no item of group {}, label {}".format(*empty[0])
            )
        return cls(scores)

    @accepts(probability="probabilities", groups=np.asarray)
    def p_values(self, probability: Floats, *, groups: NDArray[Any] | None = None) -> Floats:
        """Compute the conformal p-value of each label, as an array of shape (n, 2).

        For any u in (0, 1), the p-value of the true label of a new item is at most u with
        probability at most u, with or without ties.

        Parameters
        ----------
        probability : array_like of shape (n,)
            Predicted probability of class 1.
        groups : array_like of shape (n,), optional
            Group of each item. Required if, and only if, the calibration items had groups.

        Notes
        -----
        The p-value is (1 + number of calibration scores that are at least the score of the label) /
        (n + 1), where n is the number of calibration scores. It is not randomised (smoothed).
        """
        scores = _scores(probability)
        values = np.empty_like(scores)
        for _, cell, known in self._cells(groups):
            asked = scores[cell]
            order = np.argsort(asked, axis=None)  # the search is several times as fast when sorted
            below = np.empty(asked.shape, np.intp)
            below.flat[order] = np.searchsorted(known, asked.flat[order], side="left")
            values[cell] = (known.size - below + 1) / (known.size + 1)
        return values

    @accepts(probability="probabilities", alpha="rate", groups=np.asarray)
    def sets(
        self,
        probability: Floats,
        alpha: Fraction,
        *,
        groups: NDArray[Any] | None = None,
    ) -> Booleans:
        """Compute prediction sets, as a Boolean array of shape (n, 2).

        Column y is True if label y is in the set, which means that its p-value is above `alpha`. A
        set may contain both labels or neither; the classifier then abstains.

        Parameters
        ----------
        probability, groups
            As for `p_values`.
        alpha : float, str, Fraction or Decimal
            Miscoverage level, in (0, 1), as for `conformal_rank`.

        Warns
        -----
        RuntimeWarning
            There are too few calibration items to exclude a label at this `alpha`.
        """
        scores = _scores(probability)
        inside = np.ones(scores.shape, dtype=np.bool_)
        for key, cell, known in self._cells(groups):
            if few := too_few_items(known.size, alpha):
                text = "group {}, label {}: {}; every label stays in the set".format(*key, few)
                warnings.warn(text, RuntimeWarning, stacklevel=3)
            else:
                inside[cell] = scores[cell] <= known[conformal_rank(known.size, alpha) - 1]
        return inside

    def _cells(self, groups: NDArray[Any] | None) -> Iterator[tuple[Any, Any, Floats]]:
        """Yield the key of each calibration, the cells to which it applies, and its scores."""
        known_groups = {group for group, _ in self.scores}
        given = {ALL} if groups is None else set(groups.tolist())
        if not given <= known_groups:
            raise InputError(
                f"groups must be among those of the calibration data, {known_groups}, got {given}"
            )
        for (group, label), known in self.scores.items():
            rows = slice(None) if groups is None else groups == group
            yield (group, label), (rows, slice(None) if label == ALL else label), known


def _scores(probability: Floats) -> Floats:
    """Nonconformity scores of labels 0 and 1."""
    return 1 - np.column_stack([1 - probability, probability])
