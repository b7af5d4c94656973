"""What an escalation is computed from: labelled items with their verdicts, and the order in which they go to the judge."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ragnb.errors import InputError
from ragnb.records import as_array, as_keys
from ragnb.stats.checks import Floats, Integers, check_array, check_binary, check_scores


@dataclass(frozen=True, slots=True)
class Items:
    """Of each item: whether the ensemble is right, what a verdict changes (-1, 0, 1), whether there is one, its price."""

    right: Floats
    gain: Floats
    answered: Floats
    cost: Floats | None
    clusters: Integers | None

    @property
    def n(self) -> int:
        """Number of items."""
        return self.right.size

    @property
    def n_clusters(self) -> int:
        """Number of independent units: items, or questions that share items."""
        return self.n if self.clusters is None else int(self.clusters.max()) + 1


def labelled_items(y: Any, y_hat: Any, judged: Any, groups: Any, cost: Any) -> Items:
    """The items, checked; see `ragnb.ensemble.escalation.escalation_curve`."""
    truth, label = check_binary(y, "y"), check_binary(y_hat, "y_hat")
    if not truth.size:
        raise InputError("An escalation needs at least one item; it got none; pass labelled items.")
    if label.size != truth.size:
        raise _unlike("y_hat", label.size, truth.size)
    verdict = _verdicts(judged, truth.size)
    answered = ~np.isnan(verdict)
    right = label == truth
    after = np.where(answered, verdict == truth, right)
    return Items(
        right=right.astype(float),
        gain=after.astype(float) - right,
        answered=answered.astype(float),
        cost=None if cost is None else _costs(cost, truth.size),
        clusters=None if groups is None else _codes(groups, truth.size),
    )


def _verdicts(judged: Any, n: int) -> Floats:
    """The verdicts as 0, 1 or nan."""
    values = as_array(judged, "judged")
    if values.shape != (n,):
        raise InputError(
            f"judged needs one verdict an item ({n}); it got shape {values.shape}; put None where there is none."
        )
    missing = pd.isna(values)
    verdicts = np.full(n, nan)
    verdicts[~missing] = check_binary(values[~missing].tolist(), "judged")
    return verdicts


def _codes(groups: Any, n: int) -> Integers:
    """The questions as numbers from 0."""
    keys = as_keys(groups, "groups")
    if keys.shape != (n,):
        raise _unlike("groups", keys.size, n)
    codes = pd.factorize(keys)[0]
    if (codes < 0).any():
        raise InputError(f"groups needs a question for every item; it got {(codes < 0).sum()} without; name each one's.")
    return codes


def _costs(cost: Any, n: int) -> Floats:
    prices = check_scores(np.full(n, cost) if isinstance(cost, Real) else cost, "cost")
    if prices.size != n or (prices < 0).any():
        raise InputError(f"cost needs one price of at least 0, or one an item ({n}); it got {cost!r}; mend it.")
    return prices


def chosen_items(undecided: Any, n: int) -> np.ndarray:
    """Which items go to the judge, as booleans."""
    chosen = check_binary(undecided, "undecided")
    if chosen.size != n:
        raise _unlike("undecided", chosen.size, n)
    return chosen


def _unlike(what: str, size: int, n: int) -> InputError:
    return InputError(f"{what} needs one value an item ({n}); it got {size}; take all of them from the same frame.")


def check_one_index(*given: Any) -> None:
    """Refuse pandas objects whose rows are not the same ones in the same order."""
    indexes = [values.index for values in given if isinstance(values, pd.Series | pd.DataFrame)]
    if any(not index.equals(indexes[0]) for index in indexes):
        raise InputError(
            "An escalation needs all its columns in one order; it got Series with different indexes; "
            "align them with .loc[...] first."
        )


# ---- their order -----------------------------------------------------------------------------------------------------


def check_probabilities(probability: Any, n: int) -> Floats:
    """The probabilities of label 1, one for each of n items."""
    values = check_scores(probability, "probability")
    if values.size != n:
        raise _unlike("probability", values.size, n)
    if ((values < 0) | (values > 1)).any():
        raise InputError(f"probability needs values in [0, 1]; it got {values.min():g} to {values.max():g}; pass label 1's.")
    return values


def confidence_order(order: Any, probability: Floats) -> tuple[str, np.ndarray]:
    """The name of the order, and the confidence in each item; rounding breaks no tie."""
    if isinstance(order, str):
        kinds = {"confidence": np.abs(probability - 0.5).round(12), "random": np.zeros(probability.size)}
        if order not in kinds:
            raise InputError(f"order needs one of {', '.join(map(repr, kinds))}, or an array; it got {order!r}; choose one.")
        return order, kinds[order]
    values = check_array(order, "order")
    if values.shape not in ((probability.size,), (probability.size, 2)) or not np.isfinite(values).all():
        raise InputError(
            f"order needs a finite confidence, or two p-values, for each of {probability.size} items; it got shape "
            f"{values.shape}; take them from the same items."
        )
    return ("given", values) if values.ndim == 1 else ("p-values", -values.min(axis=1))


def escalation_steps(shares: Sequence[float], n: int) -> Integers:
    """The numbers of items to escalate, both ends among them."""
    asked = check_scores(shares, "shares")
    if ((asked < 0) | (asked > 1)).any():
        raise InputError(f"shares needs numbers in [0, 1]; it got {asked.min():g} to {asked.max():g}; write 0.2 for 20 %.")
    return np.union1d(np.rint(asked * n), [0, n]).astype(np.int64)
