"""Split conformal prediction of two classes: p-values, prediction sets, and what they hold.

A prediction set holds the labels that cannot be excluded. It misses the true label of at most a share `alpha` of the items
to come, on average over calibration sets, when those and the calibration items are exchangeable. That is a promise about
shares of items: not about one item, and not about the items whose set holds a single label (for these see
`ragnb.conformal.control`).
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ragnb.conformal.checks import (
    Booleans,
    Floats,
    Integers,
    Rate,
    check_groups,
    check_labels,
    check_probabilities,
    check_scores,
    check_sets,
)
from ragnb.conformal.rank import CoverageLaw, coverage_law, sorted_threshold
from ragnb.errors import InputError, check_choice

ALL = "all"


# ---- scores and p-values -----------------------------------------------------------------------------------------------


def lac_scores(probabilities: ArrayLike, labels: ArrayLike | None = None) -> Floats:
    """Nonconformity of each label by the least ambiguous classifier: one minus the label's probability.

    In [0, 1], higher is stranger; shape (n, 2), or (n,) of the given labels.

    Parameters
    ----------
    probabilities : array_like of shape (n, 2) or (n,)
        Of classes 0 and 1, or of class 1.
    labels : array_like of shape (n,), optional
        0/1; None scores both labels.

    Raises
    ------
    InputError
        If the probabilities have another shape, are outside [0, 1] or do not sum to one, or a label is neither 0 nor 1.

    References
    ----------
    Sadinle, M., Lei, J. & Wasserman, L. (2019). Least ambiguous set-valued classifiers with bounded error levels. JASA 114,
    223-234.

    Examples
    --------
    >>> lac_scores([0.25, 1.0]), lac_scores([0.25, 1.0], [0, 1])
    (array([[0.25, 0.75],
           [1.  , 0.  ]]), array([0.25, 0.  ]))
    """
    known = check_probabilities(probabilities)
    if labels is None:
        return 1 - known
    return _true_scores(known, check_labels(labels, len(known)))


def p_values(calibration_scores: ArrayLike, scores: ArrayLike) -> Floats:
    """Conformal p-value of each score: the share of calibration scores, and itself, that are at least as strange.

    In [1 / (n + 1), 1]; with no calibration score, 1. For an item exchangeable with the calibration items, its true label's
    p-value is at most u with probability at most u, ties or not.

    Parameters
    ----------
    calibration_scores : array_like of shape (n,)
        Nonconformity of each calibration item with its true label.
    scores : array_like of any shape
        Nonconformity of the labels in question.

    Raises
    ------
    InputError
        If a score is nan or no number, or the calibration scores have another shape.

    Notes
    -----
    (#{calibration score >= score} + 1) / (n + 1), not smoothed by chance.

    References
    ----------
    Vovk, V., Gammerman, A. & Shafer, G. (2005). Algorithmic Learning in a Random World. Springer.

    Examples
    --------
    >>> p_values([0.1, 0.2, 0.2, 0.4], [0.0, 0.2, 0.5])
    array([1. , 0.8, 0.2])
    """
    known = check_scores(calibration_scores, "calibration_scores")
    if known.ndim != 1:
        raise InputError(f"calibration_scores needs one score an item; it got shape {known.shape}; pass shape (n,).")
    return _tail_shares(np.sort(known), check_scores(scores, "scores"))


def _true_scores(probabilities: Floats, positive: Booleans) -> Floats:
    return 1 - np.where(positive, probabilities[:, 1], probabilities[:, 0])


def _tail_shares(sorted_scores: Floats, scores: Floats) -> Floats:
    order = np.argsort(scores, axis=None)  # searching in order is several times as fast as at random
    below = np.empty(scores.shape, np.intp)
    below.flat[order] = np.searchsorted(sorted_scores, scores.flat[order], side="left")
    return (sorted_scores.size - below + 1) / (sorted_scores.size + 1)


# ---- prediction sets ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class ConformalClassifier:
    """Calibrated prediction sets of two classes; made by `ConformalClassifier.calibrate`.

    Attributes
    ----------
    calibration_scores : tuple of pairs of arrays
        Sorted scores behind label 0 and behind label 1, a pair per group; the same array twice where the classes are
        calibrated together.
    conditional : str or None
        ``"class"`` where each class is calibrated by itself.
    groups : tuple or None
        Names of the groups calibrated each by itself, in the order of `calibration_scores`; None without groups.
    """

    calibration_scores: tuple[tuple[Floats, Floats], ...]
    conditional: str | None = None
    groups: tuple[Any, ...] | None = None

    @classmethod
    def calibrate(
        cls,
        probabilities: ArrayLike,
        labels: ArrayLike,
        *,
        conditional: str | None = None,
        groups: ArrayLike | None = None,
    ) -> "ConformalClassifier":
        """Sets calibrated on items that the classifier has not been trained on.

        Parameters
        ----------
        probabilities : array_like of shape (n, 2) or (n,)
            Of classes 0 and 1, or of class 1.
        labels : array_like of shape (n,)
            True labels, 0/1.
        conditional : str or None
            None promises coverage over all items; ``"class"`` within each class (Mondrian), which takes enough items of
            each.
        groups : array_like of shape (n,), optional
            A name per item: promises coverage within each group, too. Names that are known before the label is.

        Raises
        ------
        InputError
            If there are no items, probabilities or labels are none (see `lac_scores`), a group has no name, or a class is
            missing where ``conditional="class"``.

        Examples
        --------
        >>> sure = ConformalClassifier.calibrate([0.9, 0.8, 0.3, 0.2], [1, 1, 0, 0])
        >>> sure.sets([0.95, 0.6, 0.1], alpha=0.25)
        array([[False,  True],
               [False, False],
               [ True, False]])
        """
        if conditional is not None:
            check_choice(conditional, ("class",), "conditional")
        known = check_probabilities(probabilities)
        positive = check_labels(labels, len(known))
        if not len(known):
            raise InputError("calibrate needs labelled items; it got none; pass a calibration set.")
        scores = _true_scores(known, positive)
        if groups is None:
            return cls((_pair(scores, positive, conditional),), conditional)
        names, codes = check_groups(groups, len(known))
        members = (codes == code for code in range(len(names)))
        return cls(tuple(_pair(scores[rows], positive[rows], conditional) for rows in members), conditional, tuple(names))

    def p_values(self, probabilities: ArrayLike, *, groups: ArrayLike | None = None) -> Floats:
        """Conformal p-value of each label, shape (n, 2); see `p_values`.

        Raises
        ------
        InputError
            If the probabilities are none, or `groups` is missing, superfluous, or holds a name unknown to calibration.
        """
        scores = lac_scores(probabilities)
        return self._p_values(scores, self._codes(groups, len(scores)))

    def sets(
        self, probabilities: ArrayLike, alpha: Rate, *, groups: ArrayLike | None = None, empty: str = "keep"
    ) -> Booleans:
        """Labels that cannot be excluded, shape (n, 2): column y says whether y is in the set.

        A label is in the set when its p-value is above `alpha`, decided by the exact rank. A set may hold both labels or
        neither; see `undecided`.

        Parameters
        ----------
        probabilities : array_like of shape (n, 2) or (n,)
            Of classes 0 and 1, or of class 1.
        alpha : float, str, Fraction or Decimal
            Share of true labels that may be missed, in (0, 1).
        groups : array_like of shape (n,), optional
            Group of each item, if and only if calibrated by groups.
        empty : str
            ``"keep"`` leaves sets without a label; ``"fill"`` puts the label of the larger p-value in (of the larger
            probability where equal, 0 where these are equal too), so that coverage can only grow.

        Raises
        ------
        InputError
            As `p_values`, or if `alpha` is not strictly between 0 and 1.

        Warns
        -----
        RuntimeWarning
            Where calibration items are too few to exclude a label at this `alpha`.
        """
        check_choice(empty, ("keep", "fill"), "empty")
        scores = lac_scores(probabilities)
        codes = self._codes(groups, len(scores))
        self._warn_of_few(alpha)
        inside = scores <= self._thresholds(alpha, codes)
        if empty == "fill":
            hollow = np.flatnonzero(~inside.any(axis=1))
            inside[hollow, self._best_labels(scores[hollow], None if codes is None else codes[hollow])] = True
        return inside

    def coverage(self, alpha: Rate) -> dict[Any, CoverageLaw]:
        """Law of the coverage at `alpha` for each share of items that it is promised for.

        The keys are ``"all"``, the classes 0 and 1, the names of the groups, or pairs (name, class).

        Raises
        ------
        InputError
            If `alpha` is not strictly between 0 and 1.
        """
        return {
            self._key(code, label): coverage_law(self.calibration_scores[code][label].size, alpha)
            for code in range(len(self.calibration_scores))
            for label in ((0, 1) if self.conditional else (0,))
        }

    def _key(self, code: int, label: int) -> Any:
        if self.groups is None:
            return label if self.conditional else ALL
        return (self.groups[code], label) if self.conditional else self.groups[code]

    def _codes(self, groups: ArrayLike | None, n: int) -> Integers | None:
        """Return the row of `calibration_scores` behind each item; None where there is but one."""
        if (groups is None) != (self.groups is None):
            wanted, got = ("no groups", "some") if self.groups is None else ("groups", "none")
            raise InputError(f"A predictor calibrated with {wanted} needs the same here; it got {got}; pass groups to both.")
        if groups is None or self.groups is None:
            return None
        names, codes = check_groups(groups, n)
        known = {name: code for code, name in enumerate(self.groups)}
        if unknown := [name for name in names if name not in known]:
            raise InputError(
                f"groups needs names that calibration has seen; it got {unknown[:3]}; calibrate with items of these groups."
            )
        return np.array([known[name] for name in names], np.intp)[codes]

    def _thresholds(self, alpha: Rate, codes: Integers | None) -> Floats:
        cells = np.array([[sorted_threshold(scores, alpha) for scores in pair] for pair in self.calibration_scores])
        return cells[0] if codes is None else cells[codes]

    def _p_values(self, scores: Floats, codes: Integers | None) -> Floats:
        values = np.empty_like(scores)
        for code, pair in enumerate(self.calibration_scores):
            rows = slice(None) if codes is None else codes == code
            for label in (0, 1):
                values[rows, label] = _tail_shares(pair[label], scores[rows, label])
        return values

    def _best_labels(self, scores: Floats, codes: Integers | None) -> Integers:
        p = self._p_values(scores, codes)
        stranger_0 = scores[:, 1] < scores[:, 0]
        return np.where(p[:, 0] == p[:, 1], stranger_0, p[:, 1] > p[:, 0]).astype(np.intp)

    def _warn_of_few(self, alpha: Rate) -> None:
        for key, law in self.coverage(alpha).items():
            if law.warning:
                warnings.warn(f"{key!r}: {law.warning}", RuntimeWarning, stacklevel=3)


def _pair(scores: Floats, positive: Booleans, conditional: str | None) -> tuple[Floats, Floats]:
    if conditional is None:
        together = np.sort(scores)
        return together, together
    if positive.all() or not positive.any():
        raise InputError(
            'conditional="class" needs calibration items of both classes, in every group; '
            f"it got {len(positive)} of class {int(positive[0])} alone; label items of the other class."
        )
    return np.sort(scores[~positive]), np.sort(scores[positive])


# ---- what sets hold ----------------------------------------------------------------------------------------------------


def undecided(sets: ArrayLike) -> Booleans:
    """Whether a set leaves the label open: it holds both labels, or neither.

    Parameters
    ----------
    sets : array_like of shape (n, 2)
        Column y says whether label y is in the set.

    Raises
    ------
    InputError
        If the shape is another or a value is neither 0 nor 1.

    Examples
    --------
    >>> undecided([[1, 1], [0, 0], [0, 1], [1, 0]])
    array([ True,  True, False, False])
    """
    inside = check_sets(sets)
    return inside[:, 0] == inside[:, 1]


@dataclass(frozen=True, slots=True)
class SetCounts:
    """How many sets hold both labels, neither, or one.

    Attributes
    ----------
    n, both, neither, only_0, only_1 : int
        Number of sets; `n` is the sum of the others.
    """

    n: int
    both: int
    neither: int
    only_0: int
    only_1: int

    @property
    def share_undecided(self) -> float:
        """Share of sets that hold both labels or neither; ``nan`` without sets."""
        return (self.both + self.neither) / self.n if self.n else float("nan")

    def __str__(self) -> str:
        return (
            f"{self.n} sets: {self.only_0} hold 0 alone, {self.only_1} hold 1 alone, {self.both} both, "
            f"{self.neither} neither; {self.share_undecided:.1%} undecided"
        )


def count_sets(sets: ArrayLike) -> SetCounts:
    """Numbers of sets that hold both labels, neither, or one.

    Parameters
    ----------
    sets : array_like of shape (n, 2)
        Column y says whether label y is in the set.

    Raises
    ------
    InputError
        If the shape is another or a value is neither 0 nor 1.

    Examples
    --------
    >>> print(count_sets([[1, 1], [0, 0], [0, 1], [0, 1]]))
    4 sets: 0 hold 0 alone, 2 hold 1 alone, 1 both, 1 neither; 50.0% undecided
    """
    inside = check_sets(sets)
    neither, only_1, only_0, both = np.bincount(2 * inside[:, 0] + inside[:, 1], minlength=4).tolist()
    return SetCounts(len(inside), both, neither, only_0, only_1)
