"""Tests for distribution shift between new and calibration responses."""

from typing import Any, NamedTuple

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
    """Build one of the two tables that `shift_tests` compares, with one row per response.

    ``units`` are the questions of the responses, and ``groups`` those within which the guarantee
    holds. Labels, units and groups are None if they are not known. The columns have two levels:
    ``("feature", name)``, and ``("about", name)`` for ``probability``, ``score of the true label``
    (its nonconformity score, NaN without labels), ``label``, ``unit`` and ``group``.
    """
    about = {
        "probability": probability,
        SCORE: np.nan if labels is None else np.abs(labels - probability),
        "label": labels,
        "unit": units,
        "group": ALL if groups is None else groups,
    }
    return pd.concat({"feature": X, "about": pd.DataFrame(about, X.index)}, axis=1)


class Test(NamedTuple):
    """A test of one column, over the responses with one label or over all."""

    column: tuple[str, str]
    label: int | str
    name: str
    alternative: str


def shift_tests(calibration: pd.DataFrame, new: pd.DataFrame, *, by_class: bool) -> pd.DataFrame:
    """Test for distribution shift, as `MetricEnsemble.check_shift` describes it.

    Both tables are those of `sample`. ``by_class`` is whether to test the scores of the true labels
    separately for each class.
    """
    tests = _tests(calibration, new, by_class)
    rows = []
    for group in new["about", "group"].unique():
        old_of_group = calibration[calibration["about", "group"] == group]
        new_of_group = new[new["about", "group"] == group]
        # If the units of new responses are unknown, assume the mean size of the calibration units.
        usual_size = _unit_size(old_of_group, 1.0)
        for test in tests:
            old_part, new_part = old_of_group, new_of_group
            if test.label != ALL:
                old_part = old_part[old_part["about", "label"] == test.label]
                new_part = new_part[new_part["about", "label"] == test.label]
            n_units_old = len(old_part) / _unit_size(old_part, 1.0)
            n_units_new = len(new_part) / _unit_size(new_part, usual_size)
            statistic, p_value = _kolmogorov_smirnov(
                old_part[test.column],
                new_part[test.column],
                n_units_old,
                n_units_new,
                test.alternative,
            )
            rows.append(
                {
                    "tested": test.column[1],
                    "group": group,
                    "label": test.label,
                    "test": test.name,
                    "statistic": statistic,
                    "p_value": p_value,
                    "n_calibration": len(old_part),
                    "n_new": len(new_part),
                    "n_units_calibration": n_units_old,
                    "n_units_new": n_units_new,
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


def _tests(calibration: pd.DataFrame, new: pd.DataFrame, by_class: bool) -> list[Test]:
    """The tests of each group: features, probability, and scores if the labels are known."""
    name = "two-sample Kolmogorov-Smirnov"
    columns: list[Any] = [column for column in calibration if column[0] == "feature"]
    columns.append(("about", "probability"))
    tests = [Test(column, ALL, name, "two-sided") for column in columns]
    if new["about", "label"].notna().all():
        for label in (0, 1) if by_class else (ALL,):
            tests.append(Test(("about", SCORE), label, f"one-sided {name}", "greater"))
    return tests


def _kolmogorov_smirnov(
    old: pd.Series, new: pd.Series, n_units_old: float, n_units_new: float, alternative: str
) -> tuple[float, float]:
    """Statistic and p-value of the two-sample test with effective sample sizes; NaN if too small."""
    from scipy.stats import ks_2samp, ksone, kstwo

    if min(n_units_old, n_units_new) < MIN_UNITS:
        return np.nan, np.nan
    statistic = ks_2samp(old, new, alternative=alternative, method="asymp").statistic
    n_effective = n_units_old * n_units_new / (n_units_old + n_units_new)
    distribution = kstwo if alternative == "two-sided" else ksone
    p_value = distribution.sf(statistic, int(n_effective))
    # A p-value that is too small for a float is not 0.
    return statistic, max(p_value, np.finfo(float).tiny)


def differing(table: pd.DataFrame) -> pd.DataFrame:
    """Select the tests with an adjusted p-value below 0.001, with the smallest one first."""
    rows = table[table["p_adjusted"] < LEVEL]
    return rows.sort_values(["p_adjusted", "statistic"], ascending=[True, False])


def _unit_size(part: pd.DataFrame, usual: float) -> float:
    """Number of responses per unit, averaged over responses; `usual` if the units are not known."""
    units = part["about", "unit"]
    if units.isna().all():
        return usual
    return float((units.value_counts() ** 2).sum() / len(units))


def _summary(table: pd.DataFrame, n: int) -> str:
    """Summarise all tests in one or two sentences."""
    tested = table["p_value"].notna()
    differences = differing(table)
    if not tested.any():
        return (
            f"The {n} new responses were not compared with the calibration responses, because the "
            f"tests need {MIN_UNITS} independent responses on each side."
        )
    tests = (
        f"(smallest adjusted {format_p_value(table['p_adjusted'].min())}; {tested.sum()} "
        "Kolmogorov-Smirnov tests with Holm's correction)"
    )
    if differences.empty:
        return (
            f"No difference between the {n} new responses and the calibration responses was found "
            f"{tests}. This does not show that there is none."
        )
    names = list(dict.fromkeys(differences["tested"]))
    what = ", ".join(names[:3])
    if len(names) > 3:
        what += f" and {len(names) - 3} more"
    return f"The {n} new responses differ from the calibration responses in {what} {tests}."
