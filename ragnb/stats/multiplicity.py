"""Corrections of p-values for multiple testing.

A correction applies to one family of tests. Undefined p-values (NaN) stay NaN and do not count as
tests. All functions raise InputError for invalid arguments.
"""

# Tested in tests/stats/test_families.py.

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ragnb.arguments import Floats, Integers, accepts
from ragnb.errors import InputError

# Name of each correction, and its name in statsmodels.
CORRECTIONS = {"holm": "holm", "benjamini-hochberg": "fdr_bh", "bonferroni": "bonferroni"}

# Columns that a correction adds to a table of p-values; see `adjusted_columns`.
ADJUSTED = ("p_adjusted", "correction", "family_size")


def as_p_values(values: ArrayLike) -> Floats:
    """Convert p-values to an array, and check that they are between 0 and 1; None becomes NaN.

    >>> as_p_values([0.01, None])
    array([0.01,  nan])
    """
    p = np.asarray(values, dtype=np.float64)
    wrong = p[(p < 0) | (p > 1)]
    if wrong.size:
        raise InputError(f"must be p-values between 0 and 1, got {wrong[0]:g}")
    return p


@accepts(p_values=as_p_values, correction=tuple(CORRECTIONS))
def adjust(p_values: ArrayLike, correction: str = "holm") -> Floats:
    """Correct the p-values of one family of tests for multiple testing.

    Parameters
    ----------
    p_values : array-like of shape (n,)
        P-values. NaN stays NaN and is not counted as a test.
    correction : {'holm', 'benjamini-hochberg', 'bonferroni'}, default='holm'
        ``'holm'`` [1]_ and ``'bonferroni'`` [2]_ control the family-wise error rate (the
        probability of at least one false positive) under any dependence between the tests. Holm's
        correction is uniformly more powerful than Bonferroni's. ``'benjamini-hochberg'`` [3]_
        controls the false discovery rate (the expected proportion of false positives among the
        significant tests) for independent tests and under positive dependence [4]_.

    Returns
    -------
    ndarray of shape (n,)
        The corrected p-values, in the given order.

    Notes
    -----
    The values are those of ``statsmodels.stats.multitest.multipletests``, which computes them, except
    for Holm's.

    Let p_(1) <= ... <= p_(m) be the sorted p-values that are not NaN. The corrected value of p_(i)
    is the smaller of 1 and

    - m p_(i) for Bonferroni;
    - the cumulative maximum, max_{j <= i} (m - j + 1) p_(j), for Holm;
    - the cumulative minimum from the largest p-value down, min_{j >= i} (m / j) p_(j), for
      Benjamini-Hochberg.

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scand. J.
       Statist. 6, 65-70.
    .. [2] Dunn, O. J. (1961). Multiple comparisons among means. JASA 56, 52-64.
    .. [3] Benjamini, Y. & Hochberg, Y. (1995). Controlling the false discovery rate: a practical
       and powerful approach to multiple testing. J. R. Stat. Soc. B 57, 289-300.
    .. [4] Benjamini, Y. & Yekutieli, D. (2001). The control of the false discovery rate in multiple
       testing under dependency. Ann. Stat. 29, 1165-1188.

    Examples
    --------
    >>> adjust([0.01, 0.04, float("nan"), 0.03])
    array([0.03, 0.06,  nan, 0.06])
    >>> adjust([0.01, 0.04], "bonferroni")
    array([0.02, 0.08])
    """
    adjusted = np.array(p_values)
    is_test = ~np.isnan(adjusted)
    if is_test.any():
        adjusted[is_test] = _adjusted_family(adjusted[is_test], correction)
    return adjusted


def _adjusted_family(p_values: Floats, correction: str) -> Floats:
    """The corrected p-values of one family without NaN."""
    if correction != "holm":
        from statsmodels.stats.multitest import multipletests

        return np.asarray(multipletests(p_values, method=CORRECTIONS[correction])[1])
    # The Holm correction of statsmodels collects the garbage of the whole process, which takes longer than all
    # else in a comparison of two systems. In a session with much data, it takes seconds.
    order = np.argsort(p_values)
    n_left = np.arange(p_values.size, 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * n_left), 1)
    return adjusted


def adjusted_columns(
    p_values: ArrayLike, correction: str = "holm", families: ArrayLike | None = None
) -> dict[str, Floats | Integers | str]:
    """Correct p-values within each family of tests (see `adjust`), and return them as columns for a table.

    If `families` is None, all tests are one family. Tests whose family is missing (None or NaN) also form
    one family. The column ``family_size`` does not count tests with an undefined p-value.

    >>> adjusted_columns([0.01, 0.04, 0.03], families=["a", "b", "a"])["p_adjusted"]
    array([0.02, 0.04, 0.03])
    """
    p = pd.Series(np.asarray(p_values, dtype=np.float64))
    family = p.groupby(np.zeros(p.size) if families is None else np.asarray(families), dropna=False)
    adjusted = family.transform(lambda p_family: adjust(p_family, correction)).to_numpy()
    sizes = family.transform("count").to_numpy()
    return {"p_adjusted": adjusted, "correction": correction, "family_size": sizes}
