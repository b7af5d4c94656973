"""Procedures for comparing two systems: a test, an interval, an effect size and a detectable difference.

A test and an interval are *dual* if one inverts the other: p is below 0.05 if and only if the 95 % interval excludes 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragnb.errors import InputError
from ragnb.results import Interval, SignificanceResult
from ragnb.stats.binary import (
    mcnemar_test,
    paired_table,
    tango_interval,
    tango_test,
)
from ragnb.stats.effects import cohen_d_z, discordant_odds_ratio, rank_biserial
from ragnb.stats.intervals import (
    FEW_CLUSTERS,
    bca_interval,
    mean_interval,
    spread_problem,
    unit_values,
)
from ragnb.stats.paired import (
    paired_differences,
    paired_t_test,
    sign_flip_interval,
    sign_flip_test,
    wilcoxon_test,
)
from ragnb.stats.power import mcnemar_mde, t_mde


@dataclass(frozen=True, slots=True)
class Pairs:
    """Scores of two systems on the same items, and the code of the cluster of each item, if any."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    clusters: NDArray[np.int64] | None = None

    @property
    def differences(self) -> NDArray[np.float64]:
        """The differences first - second; those within rounding error are exactly 0."""
        return paired_differences(self.first, self.second)

    @property
    def binary(self) -> bool:
        """Whether all scores are 0 or 1."""
        return bool(np.isin(self.first, (0, 1)).all() and np.isin(self.second, (0, 1)).all())

    @property
    def n_units(self) -> int:
        """Number of independent units: items, or clusters of items."""
        return len(self.first) if self.clusters is None else len(np.unique(self.clusters))


@dataclass(frozen=True, slots=True)
class Procedure:
    """One way to compare two systems.

    ``view`` makes arguments of `Pairs`; ``test``, ``interval`` and ``effect`` take them, the latter two with a
    ``confidence_level``; ``detectable`` takes `Pairs`, level and power.
    """

    view: Callable[[Pairs], tuple[Any, ...]]
    test: Callable[..., SignificanceResult]
    interval: Callable[..., Interval]
    dual: bool
    effect: Callable[..., Interval]
    effect_name: str
    detectable: Callable[[Pairs, float, float], float]


def choose(pairs: Pairs, method: str, metric: str) -> tuple[str, str]:
    """Return the name of a procedure that suits the scores, and why it was chosen."""
    if method != "auto":
        _check_suits(pairs, method, metric)
        return method, "as asked for"
    if pairs.clusters is not None and pairs.n_units >= FEW_CLUSTERS:
        enough = f"items share {pairs.n_units} clusters, enough for a robust standard error"
        return "cluster-t", f"{enough} (at least {FEW_CLUSTERS})"
    if pairs.clusters is not None:
        few = f"items share {pairs.n_units} clusters, too few to trust a robust standard error"
        return "cluster-sign-flip", few
    if pairs.binary:
        return "mcnemar", "all scores are 0 or 1, so only discordant items count"
    return "sign-flip", "graded scores: exact whatever their distribution"


def _check_suits(pairs: Pairs, method: str, metric: str) -> None:
    if method in BINARY and not pairs.binary:
        raise InputError(
            f"the method {method!r} needs scores of 0 and 1, got {metric} with others; "
            "use 'sign-flip' or 'auto'"
        )
    if method in CLUSTERED and pairs.clusters is None:
        raise InputError(f"the method {method!r} needs clusters, got none; use cluster=")
    if method not in CLUSTERED and pairs.clusters is not None:
        raise InputError(
            f"the method {method!r} needs independent items, got items that share a cluster; "
            "use 'cluster-t' or 'auto'"
        )


# ---- what is handed to a test ------------------------------------------------------------------------------------------


def _differences(pairs: Pairs) -> tuple[Any, ...]:
    return (pairs.differences,)


def _table(pairs: Pairs) -> tuple[Any, ...]:
    return (paired_table(pairs.first, pairs.second),)


def _clustered(pairs: Pairs) -> tuple[Any, ...]:
    return pairs.differences, pairs.clusters


# ---- minimum detectable effects at the observed spread (see ragnb.stats.power) -------------------


def _graded_mde(pairs: Pairs, level: float, power: float) -> float:
    units = unit_values(pairs.differences, pairs.clusters)
    if spread_problem(units):
        return nan
    error = float(units.std(ddof=1)) / sqrt(units.size)
    return t_mde(error, df=units.size - 1, confidence_level=level, power=power)


def _binary_mde(pairs: Pairs, level: float, power: float, *, method: str = "mid-p") -> float:
    n = len(pairs.first)
    if not n:
        return nan
    share = float(np.mean(pairs.first != pairs.second))
    return mcnemar_mde(n, discordance=share, method=method, confidence_level=level, power=power)


# ---- the procedures ------------------------------------------------------------------------------


def _cluster_d_z(differences: Any, clusters: Any, *, confidence_level: float) -> Interval:
    means = np.bincount(clusters, differences) / np.bincount(clusters)
    return cohen_d_z(means, confidence_level=confidence_level)


Effect = tuple[Callable[..., Interval], str, Callable[[Pairs, float, float], float]]
_D_Z: Effect = (cohen_d_z, "d_z", _graded_mde)
_CLUSTER_D_Z: Effect = (_cluster_d_z, "d_z of cluster means", _graded_mde)
_RANKS: Effect = (rank_biserial, "rank-biserial", _graded_mde)


def _odds(method: str, mde_method: str) -> Effect:
    ratio = partial(discordant_odds_ratio, method=method)
    return ratio, "odds ratio of discordant items", partial(_binary_mde, method=mde_method)


_ODDS = _odds("mid-p", "mid-p")

PROCEDURES: dict[str, Procedure] = {
    # name: arguments, test, interval of the difference, dual?, effect size and detectable difference
    "sign-flip": Procedure(_differences, sign_flip_test, sign_flip_interval, True, *_D_Z),
    "t": Procedure(_differences, paired_t_test, mean_interval, True, *_D_Z),
    "bca": Procedure(_differences, sign_flip_test, bca_interval, False, *_D_Z),
    "wilcoxon": Procedure(_differences, wilcoxon_test, sign_flip_interval, False, *_RANKS),
    "tango": Procedure(_table, tango_test, tango_interval, True, *_odds("mid-p", "asymptotic")),
    "mcnemar": Procedure(_table, mcnemar_test, tango_interval, False, *_ODDS),
    "mcnemar-exact": Procedure(
        _table,
        partial(mcnemar_test, method="exact"),
        tango_interval,
        False,
        *_odds("exact", "exact"),
    ),
    "cluster-t": Procedure(
        _clustered, lambda d, c: paired_t_test(d, clusters=c), mean_interval, True, *_CLUSTER_D_Z
    ),
    "cluster-sign-flip": Procedure(
        _clustered, lambda d, c: sign_flip_test(d, clusters=c), mean_interval, False, *_CLUSTER_D_Z
    ),
}
"""The procedures by the name that ``compare(method=...)`` takes."""

BINARY = frozenset(name for name, procedure in PROCEDURES.items() if procedure.view is _table)
CLUSTERED = frozenset(
    name for name, procedure in PROCEDURES.items() if procedure.view is _clustered
)
