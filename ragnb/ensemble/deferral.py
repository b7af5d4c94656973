"""Deferral of items from an ensemble to a judge, and the resulting accuracy.

A *deferred* item gets the judge's verdict instead of the ensemble's label. If the judge gave no
verdict (None or NaN), the ensemble's label is kept. `deferral_curve` defers an increasing number of
items, starting with the least confident. `deferral_point` defers a given selection of items, such
as those on which a conformal ensemble abstains. `compare_deferral` compares such a selection with
deferring no items, all items, or the same number of randomly chosen items. `deferral_report`
compares several judges.
"""

from collections.abc import Mapping, Sequence
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ragnb.arguments import Floats, accepts, convert
from ragnb.columns import require_columns
from ragnb.ensemble.data import aligned, binary
from ragnb.errors import InputError
from ragnb.results import Interval
from ragnb.rounding import tied_levels
from ragnb.scoring.procedures import PROCEDURES, Pairs, choose, significance_and_interval
from ragnb.stats.intervals import mean_interval, spread_problem, unit_values
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns
from ragnb.stats.paired import paired_t_test

# Names of the policies with which a selection of items is compared.
NONE, EVERYTHING, RANDOM = "no deferral", "judge everything", "as many at random"

SHARES = tuple(k / 100 for k in range(101))


@accepts(shares="probabilities", confidence_level="level")
def deferral_curve(
    y: ArrayLike,
    probability: ArrayLike,
    judged: ArrayLike,
    *,
    y_hat: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    shares: Sequence[float] = SHARES,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Accuracy of an ensemble combined with a judge, as a function of the share of deferred items.

    A deferred item gets the judge's verdict or, if there is none, the ensemble's label. The least
    confident items are deferred first. If only some of the items with the same confidence are
    deferred, ``accuracy``, ``n_judged`` and ``n_missing`` are means over all possible choices of
    these items.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels, 0 or 1. Series are aligned by their index, other sequences by position.
    probability : array-like of shape (n,)
        Predicted probability of label 1. The confidence is its distance from 0.5.
    judged : array-like of shape (n,)
        The judge's verdict on each item: 0 or 1, or booleans, with None or NaN if there is
        none.
    y_hat : array-like of shape (n,) or None, default=None
        The ensemble's labels, 0 or 1. If None, the label is 1 if the probability is above 0.5, and
        otherwise 0.
    groups : array-like of shape (n,) or None, default=None
        Group of each item, such as its question. The intervals are then cluster-robust.
    shares : sequence of float, default=(0, 0.01, ..., 1)
        Proportions of items to defer, in [0, 1], rounded to whole items. 0 and 1 are always
        included.
    confidence_level : float, default=0.95
        Nominal coverage of each interval, in (0, 1).

    Returns
    -------
    DataFrame
        One row per number of deferred items, with the columns

        - ``share, n_deferred``: proportion and number of deferred items;
        - ``n_judged, n_missing``: numbers of deferred items with and without a verdict;
        - ``accuracy``: proportion of correct labels; higher is better;
        - ``low, high, interval, confidence_level``: confidence interval of the accuracy, truncated
          to [0, 1]. It is a Wilson interval, or a cluster-robust t interval if there are groups;
        - ``error``: 1 - accuracy;
        - ``n, n_clusters``: number of items, and number of groups (n if there are none);
        - ``point``: ``"no deferral"`` or ``"judge everything"`` at the ends of the curve, else
          empty.

        If an interval is undefined, its limits are NaN, and a column ``problem`` states why.

    Notes
    -----
    The intervals are pointwise, not simultaneous over the rows. The highest accuracy on the curve
    is biased upwards.

    Examples
    --------
    >>> y, probability, judged = [1, 0, 1, 0], [0.9, 0.2, 0.4, 0.6], [1, 1, 1, 0]
    >>> curve = deferral_curve(y, probability, judged, shares=[0.25, 0.5])
    >>> curve[["share", "accuracy"]].to_dict("list")
    {'share': [0.0, 0.25, 0.5, 1.0], 'accuracy': [0.5, 0.75, 1.0, 0.75]}
    """
    items = _items(y, y_hat, judged, groups, probability=probability)
    if not items["probability"].between(0, 1).all():
        raise InputError("probability must be between 0 and 1 for each item")
    # Rounding errors must not break ties; probabilities are at most 1.
    tie_numbers = tied_levels((items["probability"] - 0.5).abs(), 1.0)
    tie_sizes = np.bincount(tie_numbers)
    n_before_tie = np.cumsum(tie_sizes) - tie_sizes
    n = len(items)
    numbers_deferred = np.union1d(np.rint(np.asarray(shares) * n), [0, n]).astype(int)
    rows = []
    for n_deferred in numbers_deferred.tolist():
        # Proportion of the orders of tied items in which each item is deferred.
        share_of_tie = np.clip((n_deferred - n_before_tie) / tie_sizes, 0, 1)
        point = {0: NONE, n: EVERYTHING}.get(n_deferred, "")
        rows.append(_accuracy(items, share_of_tie[tie_numbers], point, confidence_level))
    return pd.DataFrame(rows)


@accepts(confidence_level="level")
def deferral_point(
    y: ArrayLike,
    y_hat: ArrayLike,
    deferred: ArrayLike,
    judged: ArrayLike,
    *,
    name: str = "conformal set",
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Accuracy of an ensemble combined with a judge, for a given selection of deferred items.

    A deferred item gets the judge's verdict or, if there is none, the ensemble's label.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels, 0 or 1. Series are aligned by their index, other sequences by position.
    y_hat : array-like of shape (n,)
        The ensemble's labels, 0 or 1.
    deferred : array-like of shape (n,)
        Whether each item is deferred, for example because the ensemble abstains on it.
    judged : array-like of shape (n,)
        The judge's verdict on each item: 0 or 1, or booleans, with None or NaN if there is
        none. The verdicts on items that are not deferred have no effect.
    name : str, default="conformal set"
        Name of the selection, for the column ``point``.
    groups : array-like of shape (n,) or None, default=None
        Group of each item, such as its question. The interval is then cluster-robust.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    DataFrame
        One row with the columns of `deferral_curve`.

    Examples
    --------
    >>> row = deferral_point([1, 0, 1, 0], [1, 0, 0, 1], [0, 0, 1, 1], [1, 1, 1, None])
    >>> row[["accuracy", "n_missing"]].to_dict("list")
    {'accuracy': [0.75], 'n_missing': [1.0]}
    """
    items = _items(y, y_hat, judged, groups, deferred=deferred)
    chosen = items["deferred"].astype(float).to_numpy()
    return pd.DataFrame([_accuracy(items, chosen, name, confidence_level)])


@accepts(confidence_level="level")
def compare_deferral(
    y: ArrayLike,
    y_hat: ArrayLike,
    deferred: ArrayLike,
    judged: ArrayLike,
    *,
    name: str = "conformal set",
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Compare deferring a given selection of items with deferring none, all or random items.

    A deferred item gets the judge's verdict or, if there is none, the ensemble's label.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels, 0 or 1. Series are aligned by their index, other sequences by position.
    y_hat : array-like of shape (n,)
        The ensemble's labels, 0 or 1.
    deferred : array-like of shape (n,)
        Whether each item is deferred, for example because the ensemble abstains on it.
    judged : array-like of shape (n,)
        The judge's verdict on each item: 0 or 1, or booleans, with None or NaN if there is
        none.
    name : str, default="conformal set"
        Name of the selection, for the columns ``policy`` and ``baseline``.
    groups : array-like of shape (n,) or None, default=None
        Group of each item, such as its question. Intervals and tests then account for the groups.
    confidence_level : float, default=0.95
        Nominal coverage of each interval, in (0, 1).

    Returns
    -------
    DataFrame
        Four rows: the selection compared with ``"no deferral"``, ``"as many at random"`` and
        ``"judge everything"``, and ``"judge everything"`` compared with ``"no deferral"``. The
        columns are

        - ``policy, baseline``: names of the two policies;
        - ``accuracy, baseline_accuracy``: their accuracies;
        - ``difference, low, high, interval, confidence_level``: accuracy of the policy minus
          accuracy of the baseline, with its confidence interval. A positive difference favours the
          policy;
        - ``test, statistic, p_value``: name, statistic and p-value of the two-sided test of no
          difference;
        - ``p_adjusted, correction, family_size``: p-value with Holm's correction over the four
          rows;
        - ``duality``: ``"dual"`` if the interval is obtained by inverting the test, else
          ``"not dual"``;
        - ``n_pairs, n_clusters``: number of items, and number of groups (``n_pairs`` if there are none);
        - ``share, baseline_share``: proportions of items that the two policies defer;
        - ``n_missing``: number of items without a verdict among those that the policy defers;
        - ``warning``: why the test is undefined or questionable, else empty.

        If an interval is undefined, its limits are NaN, and a column ``problem`` states why.

    Notes
    -----
    The comparisons with the baselines ``"no deferral"`` and ``"judge everything"`` use
    `ragnb.stats.binary.mcnemar_test` and `ragnb.stats.binary.tango_interval`. With groups, they use
    a cluster-robust t-test and t interval. With fewer than 30 groups, or if all groups have the same
    mean difference, the t-test is replaced by a sign-flip test, which flips the signs of whole
    groups. In the latter case, the interval is that of
    `ragnb.stats.intervals.equal_values_interval`.

    For the comparison with random deferral, let *correct* be 1 if the ensemble's label of an item
    is correct, and 0 otherwise. Let *gain* be the change in correctness (-1, 0 or 1) if the item is
    deferred. If the same number of items is deferred at random, the expected accuracy is
    mean(correct) + share * mean(gain). The difference in accuracy is therefore the covariance of
    deferral and gain, mean((deferred - share) * (gain - mean(gain))). A t-test and t interval are
    computed for the mean of these products, and they are cluster-robust if there are groups. Test
    and interval are inaccurate if fewer than about ten gains differ from 0.

    Examples
    --------
    >>> y, y_hat, judged = [1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 0, 1], [1, 0, 1, 1, 1, 0]
    >>> rows = compare_deferral(y, y_hat, [0, 0, 0, 0, 1, 1], judged)
    >>> rows[["policy", "baseline", "difference"]].round(3).values.tolist()[:2]
    [['conformal set', 'no deferral', 0.333], ['conformal set', 'as many at random', 0.278]]
    """
    items = _items(y, y_hat, judged, groups, deferred=deferred)
    chosen = items["deferred"].astype(float).to_numpy()
    none, everything = (NONE, np.zeros(chosen.size)), (EVERYTHING, np.ones(chosen.size))
    choice, random = (name, chosen), (RANDOM, np.full(chosen.size, chosen.mean()))
    pairs = [(choice, none), (choice, random), (choice, everything), (everything, none)]
    rows = pd.DataFrame(
        _compared(items, policy, baseline, confidence_level) for policy, baseline in pairs
    )
    return rows.assign(**adjusted_columns(rows["p_value"]))


@accepts(confidence_level="level")
def deferral_report(
    y: ArrayLike,
    decisions: pd.DataFrame,
    judges: Mapping[str, ArrayLike],
    *,
    groups: ArrayLike | None = None,
    prices: Mapping[str, float] | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Who should decide the responses on which an ensemble abstains: nobody, or one of several judges.

    A deferred response gets the judge's verdict or, if there is none, the ensemble's label.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels, 0 or 1. Series are aligned by their index.
    decisions : DataFrame
        Result of `MetricEnsemble.decide` or `cross_decide`, with the columns ``y_hat`` and
        ``abstained``.
    judges : mapping
        Name of each judge and its verdicts on all responses, or on those on which the ensemble
        abstains: 0 or 1, with None or NaN if there is none.
    groups : array-like of shape (n,) or None, default=None
        Group of each response, such as its question. Intervals and tests then account for the groups.
    prices : mapping or None, default=None
        Price of one verdict of each judge, in any currency.
    confidence_level : float, default=0.95
        Nominal coverage of each interval, in (0, 1).

    Returns
    -------
    DataFrame
        One row for ``"nobody"`` and for each judge, with the columns

        - ``point``: name of the judge;
        - ``accuracy, low, high, interval, confidence_level``: share of all labels that are right, with
          its interval; ``n, n_clusters``: number of responses, and of groups;
        - ``share, n_deferred``: share and number of deferred responses; ``n_missing``: how many of them
          have no verdict;
        - ``deferred_accuracy, deferred_low, deferred_high``: share of the labels of the deferred
          responses that are right. In the row of nobody, it is the *break-even* accuracy, which a judge
          must exceed to help;
        - ``corrected, spoiled``: numbers of responses whose label the judge makes right and wrong;
        - ``difference, difference_low, difference_high, p_value, test``: accuracy on all responses
          compared with that of nobody, as in `compare_deferral`;
        - ``cost, cost_per_gain``: price of all verdicts, and per additional right label; infinite if
          the judge corrects no more labels than it spoils. Only with `prices`.

    Notes
    -----
    If `y` are people's labels, people as judges are right by definition, and their row is an upper
    limit for every judge.

    Examples
    --------
    >>> decisions = pd.DataFrame({"y_hat": [1, 0, 0, 1], "abstained": [False, False, True, True]})
    >>> table = deferral_report([1, 0, 1, 0], decisions, {"judge": [1, 0, 1, 1]})
    >>> table[["point", "accuracy", "deferred_accuracy", "corrected", "spoiled"]].values.tolist()
    [['nobody', 0.5, 0.0, 0, 0], ['judge', 0.75, 0.5, 1, 0]]
    """
    require_columns(decisions, ["y_hat", "abstained"], "deferral_report")
    unknown = sorted(set(prices or {}) - set(judges))
    if unknown:
        raise InputError(
            f"prices must be of the judges ({', '.join(judges)}), got {', '.join(unknown)}"
        )
    index = decisions.index
    labels = aligned(y, index, "y")
    units = None if groups is None else aligned(groups, index, "groups")
    y_hat, deferred = decisions["y_hat"], decisions["abstained"].astype(bool)
    no_verdicts = pd.Series(np.nan, index)
    rows = []
    for name, given in ({"nobody": no_verdicts} | dict(judges)).items():
        # Verdicts may be missing, also for responses that are not deferred.
        is_series = isinstance(given, pd.Series)
        verdicts = given.reindex(index) if is_series else pd.Series(list(given), index)
        options: dict[str, Any] = {"groups": units, "confidence_level": confidence_level}
        whole = deferral_point(labels, y_hat, deferred, verdicts, name=name, **options)
        row = whole.iloc[0].to_dict()
        items = _items(labels, y_hat, verdicts, units, deferred=deferred)
        gains = items.loc[deferred, "gain"]
        row |= {"corrected": int((gains > 0).sum()), "spoiled": int((gains < 0).sum())}
        row |= _of_deferred(labels, y_hat, deferred, verdicts, units, confidence_level)
        if name != "nobody":
            compared = compare_deferral(labels, y_hat, deferred, verdicts, name=name, **options)
            against_nobody = compared.iloc[0]
            row |= {
                "difference": against_nobody["difference"],
                "difference_low": against_nobody["low"],
                "difference_high": against_nobody["high"],
                "p_value": against_nobody["p_value"],
                "test": against_nobody["test"],
            }
        if prices is not None:
            row["cost"] = prices.get(name, 0.0) * row["n_judged"]
            net_gain = row["corrected"] - row["spoiled"]
            row["cost_per_gain"] = row["cost"] / net_gain if net_gain > 0 else inf
        rows.append(row)
    return pd.DataFrame(rows).drop(columns="error")


def _of_deferred(
    labels: pd.Series,
    y_hat: pd.Series,
    deferred: pd.Series,
    verdicts: pd.Series,
    units: pd.Series | None,
    level: float,
) -> dict[str, float]:
    """Accuracy on the deferred responses with its limits; nan if none is deferred."""
    columns = ("deferred_accuracy", "deferred_low", "deferred_high")
    if not deferred.any():
        return dict.fromkeys(columns, nan)
    groups = None if units is None else units[deferred]
    point = deferral_point(
        labels[deferred],
        y_hat[deferred],
        deferred[deferred],
        verdicts[deferred],
        groups=groups,
        confidence_level=level,
    ).iloc[0]
    return dict(zip(columns, point[["accuracy", "low", "high"]].tolist(), strict=True))


def _items(y: Any, y_hat: Any, judged: Any, groups: Any, **more: Any) -> pd.DataFrame:
    """Compute for each item whether the ensemble is correct and how a deferral changes that.

    The column ``right`` is 0 or 1, ``gain`` is the change in correctness if the item is deferred
    (-1, 0 or 1), and ``answered`` is 1 if the judge gave a verdict, else 0.
    """
    arguments = [
        argument for argument in (y, y_hat, judged, groups, *more.values()) if argument is not None
    ]
    indexes = [argument.index for argument in arguments if isinstance(argument, pd.Series)]
    if 0 < len(indexes) < len(arguments) and not all(map(indexes[0].equals, indexes)):
        raise InputError(
            "Series with different indexes cannot be combined with lists or arrays, which have no "
            "index; give all arguments as Series"
        )
    items = pd.DataFrame({"y": y, "judged": judged, "group": groups, **more})
    items["y_hat"] = items["probability"] > 0.5 if y_hat is None else y_hat
    if items.empty:
        raise InputError("deferral needs at least one item")
    answered = items["judged"].notna()
    decided = items["judged"].astype(object).where(answered, items["y_hat"])
    labels = items.filter(["y", "y_hat", "deferred"]).assign(judged=decided)
    for name, values in labels.items():
        binary(values, str(name))
    right = (items["y_hat"] == items["y"]).astype(float)
    gain = (decided == items["y"]).astype(float) - right
    clusters = np.arange(len(items))
    if groups is not None:
        clusters = convert(items["group"].to_numpy(), "clusters", "groups")
    return items.assign(right=right, gain=gain, answered=answered.astype(float), cluster=clusters)


def _accuracy(items: pd.DataFrame, deferred: Floats, name: str, level: float) -> dict[str, Any]:
    """Row of `deferral_curve`, from the probability that each item is deferred."""
    from statsmodels.stats.proportion import proportion_confint

    n, clusters = len(items), items["cluster"].to_numpy()
    right = (items["right"] + deferred * items["gain"]).to_numpy()
    n_judged = float(deferred @ items["answered"])
    if items["group"].isna().all():
        low, high = proportion_confint(right.sum(), n, alpha=1 - level, method="wilson")
        interval = Interval(right.mean(), low, high, level, "Wilson", n)
    else:
        interval = mean_interval(right, clusters, bounds=(0.0, 1.0), confidence_level=level)
    return {
        "share": deferred.sum() / n,
        "n_deferred": round(deferred.sum()),
        "n_judged": n_judged,
        "n_missing": deferred.sum() - n_judged,
        **interval.clipped(0.0, 1.0).columns("accuracy"),
        "error": 1 - right.mean(),
        "n": n,
        "n_clusters": clusters.max() + 1,
        "point": name,
    }


def _compared(
    items: pd.DataFrame, policy: tuple[str, Floats], baseline: tuple[str, Floats], level: float
) -> dict[str, Any]:
    """Row of `compare_deferral`. A policy is a name and a probability of deferral per item."""
    policy_name, policy_deferred = policy
    baseline_name, baseline_deferred = baseline
    right, gain = items["right"].to_numpy(), items["gain"].to_numpy()
    policy_right = right + policy_deferred * gain
    baseline_right = right + baseline_deferred * gain
    clusters = None if items["group"].isna().all() else items["cluster"].to_numpy()
    if baseline_name == RANDOM:
        # The mean of these products is the difference from the expected accuracy of a random choice.
        # Their signs are not exchangeable, so that only the t-test applies, and they have no bounds.
        differences = (policy_deferred - baseline_deferred) * (gain - gain.mean())
        test = paired_t_test(differences, clusters=clusters)
        interval = mean_interval(differences, clusters, confidence_level=level)
        is_dual = True
    else:
        pairs = Pairs(policy_right, baseline_right, clusters, bounds=(-1.0, 1.0))
        name, _ = choose(pairs, "auto", "accuracy")
        procedure = PROCEDURES[name]
        test, interval = significance_and_interval(pairs, procedure, level)
        # If all differences are equal, there is a sign-flip test instead of the t-test.
        equal = spread_problem(unit_values(policy_right - baseline_right, clusters))
        is_dual = procedure.dual and not equal
    return {
        "policy": policy_name,
        "baseline": baseline_name,
        "accuracy": policy_right.mean(),
        "baseline_accuracy": baseline_right.mean(),
        **interval.columns("difference"),
        "test": test.method,
        "statistic": test.statistic,
        "p_value": test.p_value,
        **dict.fromkeys(ADJUSTED),
        "duality": "dual" if is_dual else "not dual",
        "n_pairs": len(items),
        "n_clusters": int(items["cluster"].max()) + 1,
        "share": policy_deferred.mean(),
        "baseline_share": baseline_deferred.mean(),
        "n_missing": int(policy_deferred @ (1 - items["answered"])),
        "warning": test.warning,
    }
