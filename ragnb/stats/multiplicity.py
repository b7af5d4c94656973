"""Corrections of p-values for multiple testing.

A correction applies to one family of tests. An undefined p-value (NaN) stays undefined and does not
count as a test. The results equal those of statsmodels' `multipletests`, which is about a thousand
times slower because it runs the garbage collector in every call. All functions raise InputError for
arguments outside the stated range.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ragnb.arguments import Floats, Integers, accepts
from ragnb.errors import InputError


@dataclass(frozen=True, slots=True)
class AdjustedPValues:
    """The corrected p-values of one family of tests.

    Attributes
    ----------
    adjusted : tuple of float
        Corrected p-values, in [0, 1] and in the given order; NaN where the p-value is NaN.
    method : str
        Name of the correction.
    family_size : int
        Number of p-values that were corrected together, without the undefined ones.
    """

    adjusted: tuple[float, ...]
    method: str
    family_size: int


def as_p_values(values: ArrayLike) -> Floats:
    """Convert a list of p-values to an array; NaN means that a test is undefined.

    InputError is raised if the list is not one-dimensional, or if a value is not between 0 and 1.
    """
    p = np.asarray(values, dtype=np.float64)
    wrong = p[(p < 0) | (p > 1)]
    if p.ndim != 1 or wrong.size:
        got = f"{wrong[0]:g}" if wrong.size else f"{p.ndim} dimensions"
        raise InputError(f"must be a list of p-values between 0 and 1, got {got}")
    return p


@accepts(p_values=as_p_values)
def holm(p_values: ArrayLike) -> AdjustedPValues:
    """Holm's correction, which controls the family-wise error rate.

    The family-wise error rate is the probability of at least one false positive. The correction is
    valid under any dependence between the tests. The i-th smallest of m p-values is multiplied by m
    - i + 1. Each product is then replaced by the maximum of the products up to it, and by 1 if it
    is larger than 1.

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J.
       Statist. 6, 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, float("nan"), 0.03]).adjusted
    (0.03, 0.06, nan, 0.06)
    """
    return _adjust(p_values, "Holm", lambda p, m: np.maximum.accumulate(p * np.arange(m, 0, -1)))


@accepts(p_values=as_p_values)
def bonferroni(p_values: ArrayLike) -> AdjustedPValues:
    """Bonferroni's correction, which multiplies each p-value by the number of tests.

    Products above 1 are replaced by 1. A p-value of NaN stays NaN and is not counted. Like `holm`,
    the correction controls the family-wise error rate under any dependence, but it is less
    powerful.

    References
    ----------
    .. [1] Dunn, O. J. (1961). Multiple comparisons among means. JASA 56, 52-64.

    Examples
    --------
    >>> bonferroni([0.01, 0.04]).adjusted
    (0.02, 0.08)
    """
    return _adjust(p_values, "Bonferroni", lambda p, m: p * m)


@accepts(p_values=as_p_values)
def benjamini_hochberg(p_values: ArrayLike) -> AdjustedPValues:
    """Benjamini and Hochberg's correction, which controls the false discovery rate.

    The false discovery rate is the expected proportion of false positives among the significant
    tests, where the proportion is 0 if no test is significant. The correction is valid if the tests
    are independent or positively dependent. The i-th smallest of m p-values is multiplied by m / i.
    Each product is then replaced by the minimum of the products from it on, and by 1 if it is
    larger than 1.

    References
    ----------
    .. [1] Benjamini, Y. & Hochberg, Y. (1995). Controlling the false discovery rate: a practical
       and powerful approach to multiple testing. J. R. Stat. Soc. B 57, 289-300.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04]).adjusted
    (0.02, 0.04)
    """
    return _adjust(
        p_values,
        "Benjamini-Hochberg",
        lambda p, m: np.minimum.accumulate((p * m / np.arange(1, m + 1))[::-1])[::-1],
    )


def _adjust(
    p_values: ArrayLike, method: str, correct: Callable[[Floats, int], Floats]
) -> AdjustedPValues:
    """Apply a correction to the defined p-values, which are passed to it in increasing order."""
    adjusted = np.array(p_values)
    order = np.argsort(adjusted, kind="stable")[: np.count_nonzero(~np.isnan(adjusted))]
    adjusted[order] = np.minimum(correct(adjusted[order], order.size), 1.0)
    return AdjustedPValues(tuple(adjusted.tolist()), method, order.size)


CORRECTIONS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg, "bonferroni": bonferroni}
"""Name of a correction, as printed in tables -> the function that applies it."""

ADJUSTED = ("p_adjusted", "correction", "family_size")
"""The columns that a correction adds to a table of p-values."""


def adjusted_columns(
    p_values: ArrayLike, correction: str = "holm", families: ArrayLike | None = None
) -> dict[str, Floats | Integers | str]:
    """Correct p-values within each family, and return the columns `ADJUSTED` for a table of them.

    By default all p-values are one family.

    >>> adjusted_columns([0.01, 0.04, 0.03], families=["a", "b", "a"])["p_adjusted"]
    array([0.02, 0.04, 0.03])
    """
    p = np.asarray(p_values, dtype=np.float64)
    codes = np.zeros(p.size) if families is None else np.unique(families, return_inverse=True)[1]
    adjusted, sizes = np.full(p.size, np.nan), np.zeros(p.size, dtype=np.int64)
    for family in np.unique(codes):
        found = CORRECTIONS[correction](p[codes == family])
        adjusted[codes == family], sizes[codes == family] = found.adjusted, found.family_size
    return {"p_adjusted": adjusted, "correction": correction, "family_size": sizes}
