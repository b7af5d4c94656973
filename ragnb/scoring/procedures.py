"""How two systems can be compared: each procedure is a test, an interval, an effect size and a detectable difference.

A test and an interval are *dual* when they are one statistic: p is below 0.05 exactly when the 95 % interval leaves out 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragnb.results import Interval, SignificanceResult
from ragnb.stats.binary import (
    bonett_price_interval,
    mcnemar_test,
    newcombe_interval,
    paired_table,
    score_test,
    tango_interval,
)
from ragnb.stats.checks import paired_differences
from ragnb.stats.clusters import cluster_sign_flip_test, cluster_t_test, clustered_mean
from ragnb.stats.effects import cliffs_delta, cohen_d_z, discordant_odds_ratio, rank_biserial
from ragnb.stats.intervals import FEW_CLUSTERS, bca_interval, mean_interval
from ragnb.stats.paired import paired_t_test, sign_flip_interval, sign_flip_test, sign_test, wilcoxon_test
from ragnb.stats.power import mcnemar_mde, paired_t_mde, t_mde


@dataclass(frozen=True, slots=True)
class Pairs:
    """Scores of two systems on the same items; ``clusters`` holds a key an item where items are not independent."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    clusters: NDArray | None = None

    @property
    def differences(self) -> NDArray[np.float64]:
        """Their differences, without those that are rounding error."""
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


def choose(pairs: Pairs) -> tuple[str, str]:
    """Name of the procedure that suits the scores, and why."""
    if pairs.clusters is not None:
        if pairs.n_units >= FEW_CLUSTERS:
            return "cluster-t", f"items share {pairs.n_units} clusters, at least {FEW_CLUSTERS}"
        return "cluster-sign-flip", f"items share {pairs.n_units} clusters, too few to trust a robust standard error"
    if pairs.binary:
        return "mcnemar", "all scores are 0 or 1, so only discordant items count"
    return "sign-flip", "graded scores: exact whatever their distribution"


# ---- what is handed to a test ------------------------------------------------------------------------------------------


def _differences(pairs: Pairs) -> tuple[Any, ...]:
    return (pairs.differences,)


def _both(pairs: Pairs) -> tuple[Any, ...]:
    return pairs.first, pairs.second


def _table(pairs: Pairs) -> tuple[Any, ...]:
    return (paired_table(pairs.first, pairs.second),)


def _clustered(pairs: Pairs) -> tuple[Any, ...]:
    return pairs.differences, pairs.clusters


# ---- minimum detectable effects, at the spread observed (definitions: ragnb.stats.power) ---------------------------------


def _graded_mde(pairs: Pairs, level: float, power: float) -> float:
    differences = pairs.differences
    spread = float(np.std(differences, ddof=1)) if len(differences) > 1 else 0.0
    return paired_t_mde(len(differences), sd=spread, confidence_level=level, power=power) if spread > 1e-12 else nan


def _binary_mde(pairs: Pairs, level: float, power: float, *, method: str = "mid-p") -> float:
    n = len(pairs.first)
    if not n:
        return nan
    discordance = float(np.mean(pairs.first != pairs.second))
    return mcnemar_mde(n, discordance=discordance, method=method, confidence_level=level, power=power)


def _clustered_mde(pairs: Pairs, level: float, power: float) -> float:
    _, error, n_clusters = clustered_mean(*_clustered(pairs))
    return t_mde(error, df=n_clusters - 1, confidence_level=level, power=power)


# ---- the procedures ----------------------------------------------------------------------------------------------------


def _cluster_t_test(differences: Any, clusters: Any) -> SignificanceResult:
    return cluster_t_test(differences, clusters=clusters)


def _cluster_sign_flip_test(differences: Any, clusters: Any) -> SignificanceResult:
    return cluster_sign_flip_test(differences, clusters=clusters)


def _cluster_d_z(differences: Any, clusters: Any, *, confidence_level: float) -> Interval:
    codes = np.unique(clusters, return_inverse=True)[1]
    return cohen_d_z(np.bincount(codes, differences) / np.bincount(codes), confidence_level=confidence_level)


Effect = tuple[Callable[..., Interval], str, Callable[[Pairs, float, float], float]]
_D_Z: Effect = (cohen_d_z, "d_z", _graded_mde)
_RANKS: Effect = (rank_biserial, "rank-biserial", _graded_mde)
_CLIFF: Effect = (cliffs_delta, "Cliff's delta", _graded_mde)
_ODDS: Effect = (discordant_odds_ratio, "odds ratio of discordant items", _binary_mde)
_EXACT_ODDS: Effect = (
    partial(discordant_odds_ratio, method="exact"), "odds ratio of discordant items", partial(_binary_mde, method="exact")
)  # fmt: skip
_SCORE_ODDS: Effect = (*_ODDS[:2], partial(_binary_mde, method="asymptotic"))
_CLUSTER_D_Z: Effect = (_cluster_d_z, "d_z of cluster means", _clustered_mde)

PROCEDURES: dict[str, Procedure] = {
    # name: arguments, test, interval of the difference, whether they are dual, effect size and detectable difference
    "sign-flip": Procedure(_differences, sign_flip_test, sign_flip_interval, True, *_D_Z),
    "t": Procedure(_differences, paired_t_test, mean_interval, True, *_D_Z),
    "bca": Procedure(_differences, sign_flip_test, bca_interval, False, *_D_Z),
    "wilcoxon": Procedure(_differences, wilcoxon_test, sign_flip_interval, False, *_RANKS),
    "sign": Procedure(_both, sign_test, sign_flip_interval, False, *_CLIFF),
    "score": Procedure(_table, score_test, tango_interval, True, *_SCORE_ODDS),
    "mcnemar": Procedure(_table, mcnemar_test, tango_interval, False, *_ODDS),
    "mcnemar-exact": Procedure(_table, partial(mcnemar_test, method="exact"), tango_interval, False, *_EXACT_ODDS),
    "newcombe": Procedure(_table, mcnemar_test, newcombe_interval, False, *_ODDS),
    "bonett-price": Procedure(_table, mcnemar_test, bonett_price_interval, False, *_ODDS),
    "cluster-t": Procedure(_clustered, _cluster_t_test, mean_interval, True, *_CLUSTER_D_Z),
    "cluster-sign-flip": Procedure(_clustered, _cluster_sign_flip_test, mean_interval, False, *_CLUSTER_D_Z),
}
"""The procedures by the name that ``compare(method=...)`` takes."""

BINARY = frozenset(name for name, procedure in PROCEDURES.items() if procedure.view is _table)
CLUSTERED = frozenset(name for name, procedure in PROCEDURES.items() if procedure.view is _clustered)
