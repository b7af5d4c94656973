"""An ensemble on many random splits of labelled responses: its coverage, and decisions on all of them."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts, as_rate
from ragnb.conformal.sets import ConformalClassifier, conformal_rank
from ragnb.ensemble.data import XYData, aligned, random_folds
from ragnb.ensemble.ensemble import MetricEnsemble
from ragnb.errors import InputError


@accepts(n_splits="count")
def coverage_over_splits(
    ensemble: MetricEnsemble,
    data: XYData,
    *,
    by: Iterable[Any] | None = None,
    groups: Iterable[Any] | None = None,
    n_splits: int = 100,
    random_state: int | None = None,
) -> pd.DataFrame:
    """Measure the coverage of an ensemble that is calibrated again and again.

    In each split, one half of the data calibrates the ensemble, and the coverage is measured on the
    other half. The classifier is not trained again. A single test set cannot show whether a promise
    about an average is kept; many splits can.

    Parameters
    ----------
    ensemble : MetricEnsemble
        An ensemble with ``guarantee="marginal"`` or ``"class"``. Its classifier, `alpha` and
        guarantee are used.
    data : XYData
        Labelled responses that were not used for training. If they have groups, such as questions,
        each of them is in one half.
    by : iterable or None, default=None
        Group of each response for which the coverage is also measured, such as its system. A Series
        is aligned with the data by its index.
    groups : iterable or None, default=None
        Group of each response within which the ensemble is calibrated. None calibrates it with all
        responses together.
    n_splits : int, default=100
        Number of random splits.
    random_state : int or None, default=None
        Seed of the splits; None gives other splits each time.

    Returns
    -------
    DataFrame
        One row for each split and group of responses: ``split``; ``group``, which is ``"all"``,
        ``"label 0"``, ``"label 1"`` or a value of `by`; ``metric`` (``"coverage"``); ``value``, the
        share of the responses in the other half whose set contains the true label; and ``n``, their
        number.

        ``attrs["expected"]`` has what theory predicts for all responses without ties: a mapping from
        ``"responses"``, as if they were independent, and from ``"groups"``, as if each group were
        worth one response, to ``n_calibration, n_test, mean, std`` and the limits ``low, high`` of
        the central 90 % range.

    Examples
    --------
    >>> from ragnb.ensemble import DataSplit
    >>> X = pd.DataFrame({"f1": np.random.default_rng(0).random(300)})
    >>> split = DataSplit(X, X["f1"] > 0.5, random_state=0)
    >>> ensemble = MetricEnsemble(split.train, split.calibration, random_state=0)
    >>> table = coverage_over_splits(ensemble, split.test, n_splits=3, random_state=0)
    >>> table.query("group == 'all'")["split"].tolist()
    [0, 1, 2]
    """
    from sklearn.model_selection import GroupShuffleSplit

    if ensemble.guarantee == "selective":
        raise InputError(
            "coverage_over_splits needs an ensemble whose guarantee is about coverage, got "
            "guarantee='selective'"
        )
    labels = data.y.to_numpy()
    probability = ensemble.classifier.predict_proba(data.X[list(ensemble.features)])[:, 1]
    units = pd.factorize(data.units())[0]
    # With a single group, the ensemble is calibrated with all responses together.
    cells = np.full(labels.size, "all")
    if groups is not None:
        cells = aligned(groups, data.X.index, "groups").to_numpy()
    rows_of_kind = _rows_of_kind(data, by)
    halves = GroupShuffleSplit(n_splits, test_size=0.5, random_state=random_state)
    rows = []
    for number, (calibration, test) in enumerate(halves.split(units, groups=units)):
        classifier = ConformalClassifier.calibrate(
            probability[calibration],
            labels[calibration],
            by_class=ensemble.guarantee == "class",
            groups=cells[calibration],
        )
        sets = classifier.sets(probability[test], ensemble.alpha, groups=cells[test])
        is_covered = sets[np.arange(test.size), labels[test]]
        for name, is_of_kind in rows_of_kind.items():
            covered = is_covered[is_of_kind[test]]
            if covered.size:
                row = {"split": number, "group": name, "metric": "coverage"}
                rows.append(row | {"value": covered.mean(), "n": covered.size})
    table = pd.DataFrame(rows)
    # The last split stands for all: halves of groups differ little in size.
    sizes = {"responses": (calibration.size, test.size)}
    if data.groups is not None:
        sizes["groups"] = (np.unique(units[calibration]).size, np.unique(units[test]).size)
    table.attrs["expected"] = {
        unit: _expected(*numbers, ensemble.alpha) for unit, numbers in sizes.items()
    }
    return table


def _rows_of_kind(data: XYData, by: Iterable[Any] | None) -> dict[Any, np.ndarray]:
    """The responses whose coverage is measured: all, those of each label, and those of each group."""
    labels = data.y.to_numpy()
    rows = {"all": np.full(labels.size, True), "label 0": labels == 0, "label 1": labels == 1}
    if by is not None:
        values = aligned(by, data.X.index, "by").to_numpy()
        names = pd.unique(values)
        taken = [name for name in names if name in rows]
        if taken:
            raise InputError(
                f"by must not have a group named {', '.join(rows)}, which are rows of the table, "
                f"got {taken[0]!r}"
            )
        rows |= {name: values == name for name in names}
    return rows


def _expected(n_calibration: int, n_test: int, alpha: float) -> dict[str, float]:
    """Mean, standard deviation and central 90 % range of the coverage of independent responses.

    The number of covered test responses has a beta-binomial distribution: the beta distribution of the
    coverage over calibrations, plus the chance of a test set of limited size.
    """
    from scipy.stats import betabinom

    rank = conformal_rank(n_calibration, as_rate(alpha))
    covered = betabinom(n_test, rank, max(n_calibration + 1 - rank, 1e-300))
    low, high = np.array(covered.interval(0.9)) / n_test
    return {
        "n_calibration": n_calibration,
        "n_test": n_test,
        "mean": float(covered.mean() / n_test),
        "std": float(covered.std() / n_test),
        "low": float(low),
        "high": float(high),
    }


@accepts(alpha="rate", n_folds="count", guarantee=("marginal", "class", "selective"), delta="rate")
def cross_decide(
    data: XYData,
    alpha: float = 0.1,
    random_state: int | None = None,
    *,
    n_folds: int = 5,
    classifier: Any = None,
    guarantee: str = "marginal",
    delta: float = 0.1,
) -> pd.DataFrame:
    """Decide each response with an ensemble that has seen neither the response nor its group.

    Use it if there are too few labelled responses for a training, a calibration and a test set. The
    responses are divided into folds. The responses of a fold are decided by a `MetricEnsemble` that is
    trained on one half of the other folds and calibrated on their other half.

    Parameters
    ----------
    data : XYData
        Labelled responses. Their groups, such as questions, are in one fold each.
    alpha, random_state, classifier, guarantee, delta
        As for `MetricEnsemble`.
    n_folds : int, default=5
        Number of folds, at least 2.

    Returns
    -------
    DataFrame
        One row per response, in the order of the data, with the columns of `MetricEnsemble.decide` and
        ``fold``.

    Notes
    -----
    The guarantee of a single ensemble holds for the responses of each fold. The ensembles share most
    of their data, so their errors are not independent.

    Examples
    --------
    >>> X = pd.DataFrame({"f1": range(200)})
    >>> decisions = cross_decide(XYData(X, X["f1"] >= 100), random_state=0)
    >>> decisions["fold"].value_counts().tolist()
    [40, 40, 40, 40, 40]
    """
    if n_folds < 2:
        raise InputError(f"n_folds must be at least 2, got {n_folds}")
    rng = np.random.default_rng(random_state)
    fold_numbers = random_folds(data, n_folds, rng)
    decisions = []
    for fold in range(n_folds):
        others = data.take(fold_numbers != fold)
        is_for_training = random_folds(others, 2, rng) == 0
        ensemble = MetricEnsemble(
            others.take(is_for_training),
            others.take(~is_for_training),
            alpha,
            random_state,
            classifier=classifier,
            guarantee=guarantee,
            delta=delta,
        )
        decided = ensemble.decide(data.X[fold_numbers == fold])
        decisions.append(decided.assign(fold=fold))
    return pd.concat(decisions).loc[data.X.index]
