"""Whether new responses look like those on which an ensemble was calibrated."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ragnb.ensemble.data import named
from ragnb.results import format_p_value
from ragnb.stats.multiplicity import adjusted_columns
from ragnb.stats.numerics import SMALLEST_P

LEVEL = 0.001
"""Adjusted p-values below this one are reported as a difference."""

MIN_UNITS = 20
"""Smallest number of independent responses on each side. Smaller samples are not tested."""

PROBABILITY, SCORE = "probability", "score of the true label"

TWO_SIDED, ONE_SIDED = "two-sample Kolmogorov-Smirnov", "one-sided two-sample Kolmogorov-Smirnov"


@dataclass(frozen=True, slots=True)
class Sample:
    """Responses to be compared, one element per response in each array.

    Attributes
    ----------
    X
        The features.
    probability
        The ensemble's probability of label 1.
    labels
        The true labels; None where they are unknown.
    units
        What the response belongs to, such as its question; None where that is unknown.
    groups
        The group within which the guarantee holds; ``"all"`` where there are no groups.
    """

    X: pd.DataFrame
    probability: np.ndarray
    labels: np.ndarray | None
    units: np.ndarray | None
    groups: np.ndarray

    def __len__(self) -> int:
        return len(self.X)

    def where(self, kept: np.ndarray) -> "Sample":
        """The responses for which `kept` is true."""
        labels, units = (None if values is None else values[kept] for values in (self.labels, self.units))
        return Sample(self.X[kept], self.probability[kept], labels, units, self.groups[kept])

    def of_group(self, group: Any) -> "Sample":
        """The responses of a group."""
        return self.where(np.array([name == group for name in self.groups], dtype=bool))

    def unit_size(self) -> float:
        """Size of a unit, averaged over responses; 1 where no units are known."""
        if self.units is None or not len(self):
            return 1.0
        sizes = np.unique(self.units, return_counts=True)[1]
        return float((sizes**2).sum() / len(self))


def shift_tests(known: Sample, new: Sample, *, by_class: bool) -> pd.DataFrame:
    """Test whether new responses are distributed like known ones, one row per test; see `MetricEnsemble.check_shift`."""
    rows = [
        row
        for group in dict.fromkeys(new.groups)
        for row in _group_tests(known.of_group(group), new.of_group(group), group, by_class)
    ]
    table = pd.DataFrame(rows)
    table = table.assign(**adjusted_columns(table["p_value"]))
    table["note"] = [_note(row) for row in table.to_dict("records")]
    table.attrs["summary"] = _summary(table, len(new))
    return table


def differing(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that show a difference, the smallest p-value first."""
    return table[table["p_adjusted"] < LEVEL].sort_values(["p_adjusted", "statistic"], ascending=[True, False])


def _group_tests(known: Sample, new: Sample, group: Any, by_class: bool) -> Iterator[dict[str, Any]]:
    # If the units of the new responses are not known, they are assumed to be as large as those of the calibration responses.
    size = known.unit_size()
    place = {"group": group, "label": "all"}
    for name in known.X:
        yield {"tested": name} | place | _test(known, new, known.X[name], new.X[name], size, TWO_SIDED)
    yield {"tested": PROBABILITY} | place | _test(known, new, known.probability, new.probability, size, TWO_SIDED)
    if known.labels is None or new.labels is None:
        return
    for label in (0, 1) if by_class else ("all",):
        one, two = (part if label == "all" else part.where(np.asarray(part.labels) == label) for part in (known, new))
        place = {"group": group, "label": label}
        yield {"tested": SCORE} | place | _test(one, two, _scores(one), _scores(two), size, ONE_SIDED)


def _scores(part: Sample) -> np.ndarray:
    """One minus the probability of the true label."""
    return np.where(part.labels == 1, 1 - part.probability, part.probability)


def _test(known: Sample, new: Sample, before: Any, after: Any, size: float, test: str) -> dict[str, Any]:
    units = len(known) / known.unit_size(), len(new) / (new.unit_size() if new.units is not None else size)
    statistic, p_value = np.nan, np.nan
    if min(units) >= MIN_UNITS:
        statistic, p_value = _kolmogorov_smirnov(before, after, units, test)
    return {
        "test": test,
        "statistic": statistic,
        "p_value": p_value,
        "n_calibration": len(known),
        "n_new": len(new),
        "n_units_calibration": units[0],
        "n_units_new": units[1],
    }


def _kolmogorov_smirnov(before: Any, after: Any, units: tuple[float, float], test: str) -> tuple[float, float]:
    """Kolmogorov-Smirnov statistic over all responses, with a p-value that counts only the independent ones.

    This is conservative however similar the responses of a unit are. At each point, the empirical distribution function
    of the responses has at most the variance that it would have for as many independent responses as there are units.
    """
    from scipy.stats import ks_2samp, ksone, kstwo

    alternative, law = ("two-sided", kstwo) if test == TWO_SIDED else ("greater", ksone)
    statistic = float(ks_2samp(before, after, alternative=alternative, method="asymp").statistic)
    effective = int(units[0] * units[1] / (units[0] + units[1]))
    return statistic, max(float(law.sf(statistic, effective)), SMALLEST_P)


# ---- in words ----------------------------------------------------------------------------------------------------------


def _note(row: dict[str, Any]) -> str:
    if np.isnan(row["p_value"]):
        return f"Not tested, because the test needs {MIN_UNITS} independent responses on each side."
    if not row["p_adjusted"] < LEVEL:
        return f"No difference at the level {LEVEL}."
    if row["tested"] == SCORE:
        return "The ensemble gives the true labels of the new responses lower probabilities than in calibration."
    return "The new responses are distributed differently from the calibration responses."


def _summary(table: pd.DataFrame, n: int) -> str:
    tested, found = table["p_value"].notna(), differing(table)
    if not tested.any():
        return (
            f"The {n} new responses were not compared with the calibration responses, because the tests need {MIN_UNITS} "
            "independent responses on each side."
        )
    smallest = f"smallest adjusted {format_p_value(table['p_adjusted'].min())}"
    how = f"{tested.sum()} Kolmogorov-Smirnov tests with Holm's correction"
    if found.empty:
        return (
            f"No difference between the {n} new responses and the calibration responses was found ({smallest}; {how}). "
            "This does not show that there is none."
        )
    what = named(dict.fromkeys(found["tested"]))
    return f"The {n} new responses differ from the calibration responses in {what} ({smallest}; {how})."
