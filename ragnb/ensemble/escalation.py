"""Which items should go from an ensemble to a judge, what that brings, and what it costs.

An *escalated* item takes the judge's verdict in the place of the ensemble's label; where the judge gives none (None or nan)
the ensemble's label stays. `escalation_curve` escalates more and more items, the least certain first; `escalation_point` is
one choice of items, such as those that a conformal set leaves undecided; `compare_escalation` tests such a choice against
asking about none, about all, and about as many drawn at random.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ragnb.ensemble.classifier import likelier_label
from ragnb.ensemble.escalated_items import (
    Items,
    check_one_index,
    check_probabilities,
    chosen_items,
    confidence_order,
    escalation_steps,
    labelled_items,
)
from ragnb.results import Interval, SignificanceResult
from ragnb.stats.binary import mcnemar_test, paired_table, tango_interval
from ragnb.stats.checks import Floats, Integers, check_binary, check_level
from ragnb.stats.clusters import cluster_sign_flip_test, cluster_t_test
from ragnb.stats.intervals import FEW_CLUSTERS, mean_interval, rate_interval
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns
from ragnb.stats.paired import paired_t_test
from ragnb.text import well_formed

NONE, EVERYTHING, RANDOM = "no escalation", "judge everything", "as many at random"
"""Names of the policies that every choice of items is held against."""

_GRID = tuple(k / 100 for k in range(101))


def escalation_curve(
    y: ArrayLike,
    probability: ArrayLike,
    judged: ArrayLike,
    *,
    order: str | ArrayLike = "confidence",
    y_hat: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    cost: ArrayLike | None = None,
    shares: Sequence[float] = _GRID,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Accuracy of ensemble and judge together against the share of items that go to the judge, least certain first.

    In [0, 1], higher is better. Items of equal confidence go in no particular order: a row that cuts through them holds the
    exact mean over all orders, so that neither the order of the rows nor a seed plays a part.

    Parameters
    ----------
    y : array_like of shape (n,)
        True labels, 0 or 1.
    probability : array_like of shape (n,)
        The ensemble's probability of label 1.
    judged : array_like of shape (n,)
        The judge's verdict on every item: true or false, None or nan where it gave none.
    order : {"confidence", "random"} or array_like
        What makes an item certain. ``"confidence"``: distance of the probability from one half. An array of shape (n,): a
        confidence of your own, the lowest goes first. An array of shape (n, 2): conformal p-values of labels 0 and 1; the
        item whose *smaller* one is largest goes first, so that those with both labels in their set stand before all others
        at any alpha (empty sets have no place of their own).
        ``"random"``: all alike, the line to beat.
    y_hat : array_like of shape (n,), optional
        The ensemble's labels; by default 1 where the probability is above one half.
    groups : array_like of shape (n,), optional
        Key of the question of each item, where several items share one; intervals are then cluster-robust.
    cost : float or array_like of shape (n,), optional
        Price of asking about an item, or about each. An escalated item is paid for whether or not a verdict comes back.
    shares : sequence of float
        Shares to escalate, in [0, 1], rounded to whole items; 0 and 1 are always there.
    confidence_level : float, default 0.95
        Nominal coverage of each interval, in (0, 1).

    Returns
    -------
    DataFrame
        One row a number of escalated items: ``share, n_escalated, n_judged`` (verdicts that came; a mean where a row cuts
        through ties), ``n_missing`` (those that did not), ``accuracy, low, high, error, n, n_clusters, interval,
        confidence_level``, ``cost`` if one is given, ``order`` and ``point`` (names the two ends). Intervals are Wilson's
        unless there are groups (then cut at 0 and 1), and hold for one row at a time: a share picked because the curve is
        highest there does worse on other items.

    Raises
    ------
    InputError
        No items, different lengths or indexes, labels other than 0 and 1, shares or probabilities outside [0, 1].

    Notes
    -----
    accuracy(k) = (sum of right + sum over the first k of gain) / n, where gain is -1, 0 or 1: what the verdict changes.

    Examples
    --------
    >>> curve = escalation_curve([1, 0, 1, 0], [0.9, 0.2, 0.4, 0.6], [1, 1, 1, 0], shares=[0.25, 0.5])
    >>> curve[["share", "accuracy"]].to_dict("list")
    {'share': [0.0, 0.25, 0.5, 1.0], 'accuracy': [0.5, 0.75, 1.0, 0.75]}
    """
    check_one_index(y, probability, judged, order, y_hat, groups, cost)
    probabilities = check_probabilities(probability, check_binary(y, "y").size)
    items = labelled_items(y, likelier_label(probabilities) if y_hat is None else y_hat, judged, groups, cost)
    kind, confidence = confidence_order(order, probabilities)
    curve = _escalated(items, confidence, escalation_steps(shares, items.n), check_level(confidence_level))
    points = curve["n_escalated"].map({0: NONE, items.n: EVERYTHING}).fillna("")
    return curve.assign(order=kind, point=points)


def escalation_point(
    y: ArrayLike,
    y_hat: ArrayLike,
    undecided: ArrayLike,
    judged: ArrayLike,
    *,
    name: str = "conformal set",
    groups: ArrayLike | None = None,
    cost: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Accuracy of ensemble and judge together when just the undecided items go to the judge.

    Parameters
    ----------
    y, y_hat : array_like of shape (n,)
        True labels and the ensemble's, 0 or 1.
    undecided : array_like of shape (n,)
        Which items go to the judge.
    judged, groups, cost, confidence_level
        As for `escalation_curve`; `judged` counts on the undecided items alone.
    name : str
        What stands in ``point``.

    Returns
    -------
    DataFrame
        One row with the columns of `escalation_curve`, its limits cut at 0 and 1, too.

    Raises
    ------
    InputError
        As `escalation_curve`.

    Examples
    --------
    >>> row = escalation_point([1, 0, 1, 0], [1, 0, 0, 1], [0, 0, 1, 1], [1, 1, 1, None])
    >>> row[["accuracy", "n_missing"]].to_dict("list")
    {'accuracy': [0.75], 'n_missing': [1.0]}
    """
    check_one_index(y, y_hat, undecided, judged, groups, cost)
    items = labelled_items(y, y_hat, judged, groups, cost)
    chosen = chosen_items(undecided, items.n)
    row = _escalated(items, ~chosen, np.array([chosen.sum()]), check_level(confidence_level))
    return row.assign(order="undecided", point=well_formed(str(name)))


def compare_escalation(
    y: ArrayLike,
    y_hat: ArrayLike,
    undecided: ArrayLike | Mapping[str, ArrayLike],
    judged: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    cost: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Differences of accuracy between escalating the undecided items and the policies that need no such choice.

    In [-1, 1], above 0 where `policy` is better than `baseline`; ``nan`` limits where nothing tells them apart.

    Parameters
    ----------
    y, y_hat : array_like of shape (n,)
        True labels and the ensemble's, 0 or 1.
    undecided : array_like of shape (n,), or mapping of names to such
        Which items go to the judge; several choices, such as those of several alphas, by name.
    judged, groups, cost, confidence_level
        As for `escalation_curve`. Here `judged` has to hold the verdicts on all items.

    Returns
    -------
    DataFrame
        Rows: each choice against "no escalation", against "as many at random" and against "judge everything"; then "judge
        everything" against "no escalation". Columns: ``policy, baseline, accuracy, baseline_accuracy, difference, low, high,
        interval, confidence_level, test, statistic, p_value, p_adjusted, correction, family_size, duality, n_pairs,
        n_clusters, share, baseline_share, n_missing``, ``cost, baseline_cost`` if a cost is given, and ``warning``. Holm's
        correction runs over all rows.

    Raises
    ------
    InputError
        As `escalation_curve`.

    Notes
    -----
    Against none and all: McNemar's mid-p test and Tango's interval; with groups, the cluster-robust t-test and interval, or
    below 30 groups the exact sign-flip test of whole groups. Against random: as many items drawn without replacement reach
    on average mean(right) + share * mean(gain), exactly and without a draw, so the difference is the covariance of being
    chosen and gain, mean((chosen - share) (gain - mean(gain))); its interval and test are Student's t (cluster-robust with
    groups) on those products, which are duals, and are rough where fewer than about ten gains differ from 0.

    Examples
    --------
    >>> y, y_hat, judged = [1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 0, 1], [1, 0, 1, 1, 1, 0]
    >>> rows = compare_escalation(y, y_hat, [0, 0, 0, 0, 1, 1], judged)
    >>> rows[["policy", "baseline", "difference"]].round(3).values.tolist()[:2]
    [['conformal set', 'no escalation', 0.333], ['conformal set', 'as many at random', 0.278]]
    """
    choices = dict(undecided) if isinstance(undecided, Mapping) else {"conformal set": undecided}
    check_one_index(y, y_hat, judged, groups, cost, *choices.values())
    items, level = labelled_items(y, y_hat, judged, groups, cost), check_level(confidence_level)
    none, everything = _Policy(NONE, np.zeros(items.n)), _Policy(EVERYTHING, np.ones(items.n))
    rows = []
    for name, mask in choices.items():
        policy = _Policy(name, chosen_items(mask, items.n).astype(float))
        random = _Policy(RANDOM, np.full(items.n, policy.chosen.mean()))
        rows += [_compared(items, policy, baseline, level) for baseline in (none, random, everything)]
    rows.append(_compared(items, everything, none, level))
    frame = pd.DataFrame(rows)
    return frame.assign(**adjusted_columns(frame["p_value"]))


# ---- the curve -------------------------------------------------------------------------------------------------------


def _escalated(items: Items, confidence: np.ndarray, steps: Integers, level: float) -> pd.DataFrame:
    """One row a number of escalated items. Equally certain items are one block, of which every part is alike."""
    blocks = np.unique(confidence, return_inverse=True)[1]
    ends = np.concatenate([[0], np.cumsum(np.bincount(blocks))])

    def gathered(values: Floats) -> Floats:
        return np.interp(steps, ends, np.concatenate([[0.0], np.cumsum(np.bincount(blocks, values))]))

    right, answered = items.right.sum() + gathered(items.gain), gathered(items.answered)
    if items.clusters is None:
        found = [_wilson(count, items.n, level) for count in right]
    else:
        found = _robust(items, items.clusters, ends[blocks], np.diff(ends)[blocks], steps, level)
    frame = pd.DataFrame({"share": steps / items.n, "n_escalated": steps, "n_judged": answered})
    frame = frame.assign(n_missing=steps - answered, accuracy=right / items.n)
    frame = frame.assign(low=[each.low for each in found], high=[each.high for each in found])
    frame = frame.assign(error=1 - frame["accuracy"], n=items.n, n_clusters=items.n_clusters)
    frame = frame.assign(interval=[each.method for each in found], confidence_level=level)
    return frame if items.cost is None else frame.assign(cost=gathered(items.cost))


def _wilson(right: float, n: int, level: float) -> Interval:
    """Wilson's interval; between two whole numbers of right items, between their intervals."""
    below = floor(right)
    first = rate_interval(below, n, confidence_level=level)
    second = rate_interval(min(below + 1, n), n, confidence_level=level)
    part = right - below
    low, high = first.low + part * (second.low - first.low), first.high + part * (second.high - first.high)
    return Interval(right / n, low, high, level, first.method, n)


def _robust(
    items: Items, clusters: Integers, start: Integers, size: Integers, steps: Integers, level: float
) -> list[Interval]:
    """Cluster-robust intervals in [0, 1] from what each cluster adds to the mean; only items with a gain change anything."""
    changed, keys = np.flatnonzero(items.gain), np.arange(items.n_clusters)
    codes, start, size = (values[changed] for values in (clusters, start, size))
    totals, sizes = np.bincount(clusters, items.right), np.bincount(clusters)
    found = []
    for step in steps:
        gained = items.gain[changed] * np.clip((step - start) / size, 0, 1)
        now = totals + np.bincount(codes, gained, keys.size)
        mean = now.sum() / items.n
        added = (now - mean * sizes).round(9) * keys.size / items.n
        spread = mean_interval(added, keys, confidence_level=level)
        low, high = np.clip([mean + spread.low - spread.estimate, mean + spread.high - spread.estimate], 0.0, 1.0)
        found.append(Interval(mean, float(low), float(high), level, spread.method, keys.size))
    return found


# ---- the comparison ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Policy:
    """A name, and with what probability each item goes to the judge."""

    name: str
    chosen: Floats


def _compared(items: Items, policy: _Policy, baseline: _Policy, level: float) -> dict[str, Any]:
    test, interval, duality = (_against_random if baseline.name == RANDOM else _paired)(items, policy, baseline, level)
    row = {
        "policy": policy.name,
        "baseline": baseline.name,
        "accuracy": _mean_right(items, policy),
        "baseline_accuracy": _mean_right(items, baseline),
        "difference": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "interval": interval.method,
        "confidence_level": level,
        "test": test.method,
        "statistic": test.statistic,
        "p_value": test.p_value,
        **dict.fromkeys(ADJUSTED),
        "duality": duality,
        "n_pairs": items.n,
        "n_clusters": items.n_clusters,
        "share": float(policy.chosen.mean()),
        "baseline_share": float(baseline.chosen.mean()),
        "n_missing": int((policy.chosen * (1 - items.answered)).sum()),
    }
    if items.cost is not None:
        row |= {"cost": float(policy.chosen @ items.cost), "baseline_cost": float(baseline.chosen @ items.cost)}
    return {**row, "warning": test.warning}


def _mean_right(items: Items, policy: _Policy) -> float:
    return float((items.right + policy.chosen * items.gain).mean())


def _paired(items: Items, policy: _Policy, baseline: _Policy, level: float) -> tuple[SignificanceResult, Interval, str]:
    first, second = (items.right + each.chosen * items.gain for each in (policy, baseline))
    if items.clusters is None:
        table = paired_table(first, second)
        return mcnemar_test(table), tango_interval(table, confidence_level=level), "not dual"
    interval = mean_interval(first - second, items.clusters, confidence_level=level)
    if items.n_clusters < FEW_CLUSTERS:
        return cluster_sign_flip_test(first, second, clusters=items.clusters), interval, "not dual"
    return cluster_t_test(first, second, clusters=items.clusters), interval, "dual"


def _against_random(
    items: Items, policy: _Policy, baseline: _Policy, level: float
) -> tuple[SignificanceResult, Interval, str]:
    """The covariance of being chosen and gain, which is the difference to the mean over all draws of as many items."""
    products = (policy.chosen - baseline.chosen) * (items.gain - items.gain.mean())
    if items.clusters is None:
        return paired_t_test(products), mean_interval(products, confidence_level=level), "dual"
    interval = mean_interval(products, items.clusters, confidence_level=level)
    return cluster_t_test(products, clusters=items.clusters), interval, "dual"
