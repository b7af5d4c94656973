"""Tests for distribution shift between new and calibration responses."""

from typing import Any

import numpy as np
import pandas as pd

from ragnb.conformal.sets import ALL
from ragnb.numbers import format_p_value
from ragnb.stats.multiplicity import adjusted_columns

# Adjusted p-values below this level are reported as a difference.
LEVEL = 0.001

# Smallest number of independent responses on each side. Smaller samples are not tested.
MIN_UNITS = 20

SCORE = "score of the true label"


def sample(
    X: pd.DataFrame,  # noqa: N803
    probability: np.ndarray,
    labels: Any = None,
    units: Any = None,
    groups: Any = None,
) -> pd.DataFrame:
    """Build one of the two tables that `shift_tests` compares.

    Parameters
    ----------
    X : DataFrame
        One row per response and one column per feature.
    probability : ndarray of float of shape (n,)
        Predicted probability of label 1.
    labels : array-like of shape (n,) or None, default=None
        True labels, 0 or 1; None if they are not known.
    units : array-like of shape (n,) or None, default=None
        Question of each response; None if it is not known.
    groups : array-like of shape (n,) or None, default=None
        Group of each response within which the guarantee holds; None if all are in one group.

    Returns
    -------
    DataFrame
        One row per response. The columns have two levels: ``("feature", name)`` for each feature,
        and ``("about", name)`` for the names ``probability``, ``score of the true label`` (its
        nonconformity score, or NaN without labels), ``label``, ``unit`` and ``group``.
    """
    about = {
        "probability": probability,
        SCORE: np.nan if labels is None else np.abs(labels - probability),
        "label": labels,
        "unit": units,
        "group": ALL if groups is None else groups,
    }
    return pd.concat({"feature": X, "about": pd.DataFrame(about, X.index)}, axis=1)


def shift_tests(known: pd.DataFrame, new: pd.DataFrame, *, by_class: bool) -> pd.DataFrame:
    """Test for distribution shift between calibration and new responses.

    Parameters
    ----------
    known, new : DataFrame
        Calibration responses and new responses, as returned by `sample`.
    by_class : bool
        Whether to test the scores of the true labels separately for each class.

    Returns
    -------
    DataFrame
        One row per test. The tests and the columns are described in `MetricEnsemble.check_shift`.
    """
    from scipy.stats import ks_2samp, ksone, kstwo

    test = "two-sample Kolmogorov-Smirnov"
    tests: list[Any] = [(key, ALL, test, "two-sided") for key in known if key[0] == "feature"]
    tests.append((("about", "probability"), ALL, test, "two-sided"))
    if new["about", "label"].notna().all():
        for label in (0, 1) if by_class else (ALL,):
            tests.append((("about", SCORE), label, f"one-sided {test}", "greater"))
    rows = []
    for group in new["about", "group"].unique():
        pair = [part[part["about", "group"] == group] for part in (known, new)]
        # If the units of new responses are unknown, assume the mean size of the calibration units.
        usual = _unit_size(pair[0], 1.0)
        for key, label, name, side in tests:
            old, fresh = (p if label == ALL else p[p["about", "label"] == label] for p in pair)
            units = len(old) / _unit_size(old, 1.0), len(fresh) / _unit_size(fresh, usual)
            statistic, p_value = np.nan, np.nan
            if min(units) >= MIN_UNITS:
                found = ks_2samp(old[key], fresh[key], alternative=side, method="asymp")
                statistic, n_effective = found.statistic, units[0] * units[1] / sum(units)
                distribution = kstwo if side == "two-sided" else ksone
                p_value = max(distribution.sf(statistic, int(n_effective)), np.finfo(float).tiny)
            rows.append(
                {
                    "tested": key[1],
                    "group": group,
                    "label": label,
                    "test": name,
                    "statistic": statistic,
                    "p_value": p_value,
                    "n_calibration": len(old),
                    "n_new": len(fresh),
                    "n_units_calibration": units[0],
                    "n_units_new": units[1],
                }
            )
    table = pd.DataFrame(rows)
    table = table.assign(**adjusted_columns(table["p_value"]))
    table["note"] = np.select(
        [table["p_value"].isna(), table["p_adjusted"] >= LEVEL, table["tested"] == SCORE],
        [
            f"Not tested, because the test needs {MIN_UNITS} independent responses on each side.",
            f"No difference at the level {LEVEL}.",
            "The ensemble gives the true labels of the new responses lower probabilities than in "
            "calibration.",
        ],
        "The new responses are distributed differently from the calibration responses.",
    )
    table.attrs["summary"] = _summary(table, len(new))
    return table


def differing(table: pd.DataFrame) -> pd.DataFrame:
    """Select the tests with an adjusted p-value below 0.001.

    Parameters
    ----------
    table : DataFrame
        Tests, as returned by `shift_tests`.

    Returns
    -------
    DataFrame
        The selected rows, with the smallest p-value first.
    """
    found = table[table["p_adjusted"] < LEVEL]
    return found.sort_values(["p_adjusted", "statistic"], ascending=[True, False])


def _unit_size(part: pd.DataFrame, usual: float) -> float:
    """Number of responses per unit, averaged over responses; `usual` if the units are not known."""
    units = part["about", "unit"]
    return usual if units.isna().all() else float((units.value_counts() ** 2).sum() / len(units))


def _summary(table: pd.DataFrame, n: int) -> str:
    """Summarise all tests in one or two sentences."""
    tested, found = table["p_value"].notna(), differing(table)
    if not tested.any():
        return (
            f"The {n} new responses were not compared with the calibration responses, because the "
            f"tests need {MIN_UNITS} independent responses on each side."
        )
    how = (
        f"(smallest adjusted {format_p_value(table['p_adjusted'].min())}; {tested.sum()} "
        "Kolmogorov-Smirnov tests with Holm's correction)"
    )
    if found.empty:
        return (
            f"No difference between the {n} new responses and the calibration responses was found "
            f"{how}. This does not show that there is none."
        )
    names = list(dict.fromkeys(found["tested"]))
    what = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"The {n} new responses differ from the calibration responses in {what} {how}."
