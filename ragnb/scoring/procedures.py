"""Procedures for comparing two systems: a test, an interval, an effect size and a detectable difference.

A test and an interval are *dual* if one inverts the other: p is below 0.05 if and only if the 95 %
interval excludes 0.
"""

# Tested in tests/scoring/test_comparisons.py.

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragnb.errors import InputError
from ragnb.numbers import percent
from ragnb.results import Interval, SignificanceResult
from ragnb.stats.binary import (
    mcnemar_test,
    paired_table,
    tango_interval,
    tango_test,
)
from ragnb.stats.effects import cohen_d_z, discordant_odds_ratio
from ragnb.stats.intervals import (
    FEW_CLUSTERS,
    bca_interval,
    mean_interval,
    spread_problem,
    unit_values,
)
from ragnb.stats.multiplicity import ADJUSTED
from ragnb.stats.paired import (
    paired_differences,
    sign_flip_interval,
    sign_flip_test,
    t_or_sign_flip_test,
)
from ragnb.stats.power import mcnemar_mde, t_mde


@dataclass(frozen=True, slots=True)
class Pairs:
    """Scores of two systems on the same items.

    Attributes
    ----------
    first, second
        The scores.
    clusters
        The code of the cluster of each item, if any.
    bounds
        Smallest and largest possible difference; None if unknown.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    clusters: NDArray[np.int64] | None = None
    bounds: tuple[float, float] | None = None

    @property
    def binary(self) -> bool:
        """Whether all scores are 0 or 1."""
        return bool(np.isin([self.first, self.second], (0, 1)).all())

    @property
    def n_units(self) -> int:
        """Number of independent units: items, or clusters of items."""
        return len(self.first) if self.clusters is None else len(np.unique(self.clusters))


@dataclass(frozen=True, slots=True)
class Procedure:
    """One way to compare two systems.

    Attributes
    ----------
    data
        What `test` and `interval` are computed from: ``"table"`` for the 2 × 2 table of two binary
        scores, ``"differences"`` for the differences of independent items, or ``"clusters"`` for
        differences with their clusters.
    test, interval
        Functions that compute the test of no difference and the interval of the mean difference.
    dual
        Whether the interval inverts the test.
    effect, effect_name
        Function that computes the effect size, and its name.
    mde
        Name of the McNemar test whose minimum detectable effect is reported. If it is empty, the
        minimum detectable effect is that of a t-test.
    """

    data: str
    test: Callable[..., SignificanceResult]
    interval: Callable[..., Interval]
    dual: bool
    effect: Callable[..., Interval] = cohen_d_z
    effect_name: str = "d_z"
    mde: str = ""


ODDS = "odds ratio of discordant items"
mcnemar_exact = partial(mcnemar_test, method="exact")
exact_odds_ratio = partial(discordant_odds_ratio, method="exact")

# The procedures by the name that ``compare(method=...)`` takes.
PROCEDURES: dict[str, Procedure] = {
    "sign-flip": Procedure("differences", sign_flip_test, sign_flip_interval, True),
    "t": Procedure("differences", t_or_sign_flip_test, mean_interval, True),
    "bca": Procedure("differences", sign_flip_test, bca_interval, False),
    "tango": Procedure(
        "table", tango_test, tango_interval, True, discordant_odds_ratio, ODDS, "asymptotic"
    ),
    "mcnemar": Procedure(
        "table", mcnemar_test, tango_interval, False, discordant_odds_ratio, ODDS, "mid-p"
    ),
    "mcnemar-exact": Procedure(
        "table", mcnemar_exact, tango_interval, False, exact_odds_ratio, ODDS, "exact"
    ),
    "cluster-t": Procedure(
        "clusters", t_or_sign_flip_test, mean_interval, True, effect_name="d_z of cluster means"
    ),
    "cluster-sign-flip": Procedure(
        "clusters", sign_flip_test, mean_interval, False, effect_name="d_z of cluster means"
    ),
}


def choose(pairs: Pairs, method: str, metric: str) -> tuple[str, str]:
    """Return the name of a procedure that suits the scores, and why it was chosen."""
    n = pairs.n_units
    if method == "auto" and pairs.clusters is not None:
        if n >= FEW_CLUSTERS:
            reason = f"items form {n} clusters, enough for a robust standard error"
            return "cluster-t", f"{reason} (at least {FEW_CLUSTERS})"
        reason = f"items form only {n} clusters, too few for a reliable robust standard error"
        return "cluster-sign-flip", reason
    if method == "auto" and pairs.binary:
        return "mcnemar", "all scores are 0 or 1, so only discordant items count"
    if method == "auto":
        return (
            "sign-flip",
            "some scores are not 0 or 1; this test is exact for any distribution of scores",
        )
    data = PROCEDURES[method].data
    if data == "table" and not pairs.binary:
        raise InputError(
            f"the method {method!r} needs scores of 0 and 1, got other scores of {metric}; "
            "use 'sign-flip' or 'auto'"
        )
    if data == "clusters" and pairs.clusters is None:
        raise InputError(f"the method {method!r} needs clusters, got none; use cluster=")
    if data != "clusters" and pairs.clusters is not None:
        raise InputError(
            f"the method {method!r} needs independent items, got items that share a cluster; "
            "use 'cluster-t' or 'auto'"
        )
    return method, "as requested"


def significance_and_interval(
    pairs: Pairs, procedure: Procedure, level: float
) -> tuple[SignificanceResult, Interval]:
    """Return the test of no difference, and the interval of the mean difference."""
    items: Any = paired_differences(pairs.first, pairs.second)
    options: dict[str, Any] = {"bounds": pairs.bounds}
    if procedure.data == "table":
        items = paired_table(pairs.first == 1, pairs.second == 1)
        # Methods for two rates take no bounds, because a difference of rates is always in [-1, 1].
        options = {}
    clusters = {} if pairs.clusters is None else {"clusters": pairs.clusters}
    interval = procedure.interval(items, **clusters, **options, confidence_level=level)
    return procedure.test(items, **clusters), interval


def compared(pairs: Pairs, procedure: Procedure, level: float, power: float) -> dict[str, Any]:
    """Compare two systems, and return the columns that `ragnb.compare` shows about the comparison."""
    test, interval = significance_and_interval(pairs, procedure, level)
    differences = paired_differences(pairs.first, pairs.second)
    # The effect size is computed from the 2 × 2 table, the differences, or the means of the clusters.
    units: Any = differences
    if procedure.data == "table":
        units = paired_table(pairs.first == 1, pairs.second == 1)
    if pairs.clusters is not None:
        units = np.bincount(pairs.clusters, differences) / np.bincount(pairs.clusters)
    effect = procedure.effect(units, confidence_level=level)
    cautions, is_dual = [test.warning], procedure.dual
    # The smallest tail probability of the sign-flip test is that of all signs being equal. If it is
    # larger than half the error rate, the test rejects no hypothetical difference.
    smallest_tail = 0.5**differences.size
    has_too_few_items = procedure.interval is sign_flip_interval and smallest_tail > (1 - level) / 2
    if procedure.data != "table" and differences.size:
        unit = "differences" if pairs.clusters is None else "cluster means"
        if problem := spread_problem(unit_values(differences, pairs.clusters), unit):
            is_dual = False
            cautions.append(
                f"{problem}, so {procedure.effect_name} and the minimum detectable effect are "
                "undefined"
            )
        elif has_too_few_items:
            cautions.append(
                f"with {differences.size} items, no difference can be excluded at the "
                f"{percent(level)} level"
            )
    return {
        **interval.columns("difference"),
        "difference": mean(differences),
        "test": test.method,
        "statistic": test.statistic,
        "p_value": test.p_value,
        # The columns of the correction are filled when all comparisons are known.
        **dict.fromkeys(ADJUSTED),
        "effect": effect.estimate,
        "effect_low": effect.low,
        "effect_high": effect.high,
        "effect_name": procedure.effect_name,
        "mde": _detectable(pairs, differences, procedure.mde, level, power),
        "power": power,
        "duality": "dual" if is_dual else "not dual",
        "warning": "; ".join(filter(None, cautions)),
    }


def mean(values: NDArray[np.float64]) -> float:
    """Return the mean of values; nan of none."""
    return float(values.mean()) if values.size else nan


def _detectable(
    pairs: Pairs, differences: NDArray[np.float64], mcnemar: str, level: float, power: float
) -> float:
    """Minimum detectable effect at the observed spread (see `ragnb.stats.power`).

    It is that of the McNemar test with this name or, if the name is empty, that of a t-test.
    """
    options: dict[str, float] = {"confidence_level": level, "power": power}
    n = len(differences)
    if mcnemar:
        # The share of items on which the two systems differ.
        discordance = mean(pairs.first != pairs.second)
        return mcnemar_mde(n, discordance=discordance, method=mcnemar, **options) if n else nan
    units = unit_values(differences, pairs.clusters)
    if spread_problem(units):
        return nan
    standard_error = float(units.std(ddof=1)) / sqrt(units.size)
    return t_mde(standard_error, df=units.size - 1, **options)
