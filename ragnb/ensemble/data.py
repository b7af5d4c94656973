"""Data of an ensemble: features X and labels y, and their split into three sets.

`feature_frame` turns scores into features. `DataSplit` splits the responses into a training, a test
and a calibration set.
"""
# ruff: noqa: N803 (X and y are the names of the field)

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import Integers, accepts, accepts_fields
from ragnb.cells import records_of
from ragnb.columns import require_columns, require_frame
from ragnb.errors import InputError

# Columns of a frame of scores that describe the score. All others identify the response.
SCORE = ("metric", "value", "reason", "evidence", "signature")

# Fields of a score's signature that depend on the response, not on the options of the metric.
OF_THE_RESPONSE = ("metric", "references", "lang", "prompt", "reasoning")


@accepts_fields
@dataclass(frozen=True, slots=True)
class SplitRatios:
    """Proportions of the responses in the training, test and calibration sets.

    Attributes
    ----------
    train, test, calibration : float
        Proportions above 0 that sum to 1.

    Examples
    --------
    >>> SplitRatios(train=0.6, test=0.2, calibration=0.2)
    SplitRatios(train=0.6, test=0.2, calibration=0.2)
    """

    train: float
    test: float
    calibration: float

    def __post_init__(self) -> None:
        shares = (self.train, self.test, self.calibration)
        if not (min(shares) > 0 and abs(sum(shares) - 1) <= 1e-9):
            raise InputError(f"split ratios must be above 0 and sum to 1, got {shares}")


class XYData:
    """Metric values (features) and binary labels of responses, with optional groups.

    Parameters
    ----------
    X : DataFrame
        One row per response and one column per metric, with finite numbers. The index identifies
        the responses.
    y : iterable
        Label of each response, 0 or 1, or booleans. A Series is aligned with X by its index.
    groups : iterable or None, default=None
        Group of each response, such as its question. Cross-validation keeps the responses of a
        group in the same fold. A Series is aligned with X by its index.

    Attributes
    ----------
    X : DataFrame
        Metric values as floats.
    y : Series
        Labels, 0 or 1, with the index of X.
    groups : Series or None
        Groups, with the index of X.

    Examples
    --------
    >>> data = XYData(pd.DataFrame({"f1": [0.9, 0.1]}, index=["a", "b"]), [1, 0])
    >>> data.y.to_dict()
    {'a': 1, 'b': 0}
    """

    @accepts()
    def __init__(
        self, X: pd.DataFrame, y: Iterable[Any], groups: Iterable[Any] | None = None
    ) -> None:
        self.X = finite(X, "XYData")
        self.y = binary(aligned(y, X.index, "y"), "y")
        self.groups = None if groups is None else aligned(groups, X.index, "groups")

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: np.ndarray) -> "XYData":
        """Select responses by position.

        Parameters
        ----------
        rows : ndarray of int or bool
            Positions of the responses, counted from 0, or a mask with one value per response.

        Returns
        -------
        XYData
            The selected responses.
        """
        groups = None if self.groups is None else self.groups.iloc[rows]
        return XYData(self.X.iloc[rows], self.y.iloc[rows], groups)

    def units(self) -> pd.Index:
        """Return the group of each response or, if there are no groups, the index of X.

        Returns
        -------
        Index
            One value per response.
        """
        return self.X.index if self.groups is None else pd.Index(self.groups)


class DataSplit:
    """Random split of responses into a training, a test and a calibration set.

    All responses of a group are in the same set. The sizes of the sets are approximately those
    requested, and the proportion of each label is approximately equal in all sets. The sets are
    unions of folds of scikit-learn's ``StratifiedGroupKFold`` (``StratifiedKFold`` without groups).

    Parameters
    ----------
    X : DataFrame
        One row per response and one column per metric, with finite numbers. The index must be
        unique.
    y : iterable
        Label of each response, 0 or 1, or booleans. A Series is aligned with X by its index.
    split_ratios : SplitRatios, default=SplitRatios(train=0.6, test=0.2, calibration=0.2)
        Proportions of the responses in the sets.
    features : sequence of str or None, default=None
        Columns of X to use. If None, all columns are used, except the column that `groups` names.
    oversample : bool, default=False
        Whether to repeat randomly chosen rows of the rarer label in the training set until both
        labels are equally frequent. This shifts the predicted probabilities towards the rarer
        label.
    random_state : int or None, default=None
        Seed for all random steps; None gives a different result each time.
    groups : str, iterable or None, default=None
        Group of each response, such as its question: the name of a column of X, or one value per
        row.

    Attributes
    ----------
    train, test, calibration : XYData
        The three sets.

    Examples
    --------
    >>> X = pd.DataFrame({"f1": range(20)})
    >>> split = DataSplit(X, [0, 1] * 10, random_state=0, groups=[row // 2 for row in range(20)])
    >>> len(split.train), len(split.test), len(split.calibration)
    (12, 4, 4)
    """

    @accepts()
    def __init__(
        self,
        X: pd.DataFrame,
        y: Iterable[Any],
        split_ratios: SplitRatios = SplitRatios(train=0.6, test=0.2, calibration=0.2),
        features: Sequence[str] | None = None,
        oversample: bool = False,
        random_state: int | None = None,
        groups: str | Iterable[Any] | None = None,
    ) -> None:
        group_column = [groups] if isinstance(groups, str) else []
        require_columns(X, [*(features or []), *group_column], "DataSplit")
        units = X[groups] if isinstance(groups, str) else groups
        used = X.drop(columns=group_column) if features is None else X[list(features)]
        data = XYData(used, y, units)
        refuse_repeated_labels(data.X.index, "DataSplit")

        # Each set is a union of folds of equal size.
        rng = np.random.default_rng(random_state)
        n_folds_per_set = _fold_counts(split_ratios)
        set_of_fold = np.repeat(range(3), n_folds_per_set)
        set_numbers = set_of_fold[random_folds(data, n_folds_per_set.sum(), rng)]
        self.train = data.take(set_numbers == 0)
        self.test = data.take(set_numbers == 1)
        self.calibration = data.take(set_numbers == 2)
        require_both_labels(self.train.y, "the training set")
        require_both_labels(self.test.y, "the test set")
        require_both_labels(self.calibration.y, "the calibration set")
        if oversample:
            self.train = _oversampled(self.train, rng)


def _oversampled(data: XYData, rng: np.random.Generator) -> XYData:
    """Repeat randomly chosen responses with the rarer label until both are equally frequent."""
    counts = data.y.value_counts()
    rarer = np.flatnonzero(data.y == counts.idxmin())
    copies = rng.choice(rarer, counts.max() - counts.min())
    return data.take(np.concatenate([np.arange(len(data)), copies]))


# ---- folds ---------------------------------------------------------------------------------------


def random_folds(data: XYData, n_folds: int, rng: np.random.Generator) -> Integers:
    """Assign each response to a random fold, from 0, stratified by label and without splitting groups.

    There must be at least `n_folds` groups, and as many responses with the more frequent label.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    units = data.units()
    n_units, n_frequent = units.nunique(), data.y.value_counts().max()
    if min(n_units, n_frequent) < n_folds:
        raise InputError(
            f"a split into {n_folds} folds needs at least {n_folds} groups of responses and "
            f"{n_folds} responses with the same label, got {n_units} groups and at most "
            f"{n_frequent} responses with the same label"
        )
    groups = None if units.is_unique else pd.factorize(units)[0]
    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    folds = splitter(int(n_folds), shuffle=True, random_state=int(rng.integers(2**31)))
    fold_numbers = np.empty(len(data), dtype=np.int64)
    for number, (_, rows) in enumerate(folds.split(data.X, data.y, groups)):
        fold_numbers[rows] = number
    return rng.permutation(n_folds)[fold_numbers]


def cross_validation_folds(
    data: XYData, random_state: int | None
) -> list[tuple[Integers, Integers]]:
    """Positions of the training and of the held-out responses of each fold, with each group in one fold.

    There are five folds, or fewer if the rarer label occurs in fewer than five groups. Folds in
    which the training or the held-out responses have only one label are left out. If none remains,
    InputError is raised.
    """
    units, y = data.units(), data.y.to_numpy()
    n_groups_of_rarer = min(len(set(units[y == label])) for label in (0, 1))
    n_folds = min(5, max(n_groups_of_rarer, 2))
    fold_numbers = random_folds(data, n_folds, np.random.default_rng(random_state))
    usable = []
    for number in range(n_folds):
        training = np.flatnonzero(fold_numbers != number)
        held_out = np.flatnonzero(fold_numbers == number)
        if len(set(y[training])) == 2 and len(set(y[held_out])) == 2:
            usable.append((training, held_out))
    if not usable:
        raise InputError(
            "cross-validation needs each label in at least two groups of the training data, got "
            f"the rarer label in {n_groups_of_rarer}"
        )
    return usable


def _fold_counts(ratios: SplitRatios) -> Integers:
    """Smallest numbers of equal folds per set that give the ratios to within 0.01."""
    shares = np.array([ratios.train, ratios.test, ratios.calibration])
    for n_folds in count(3):
        counts = np.rint(shares * n_folds).astype(int)
        if counts.min() > 0 and np.abs(counts / counts.sum() - shares).max() < 0.01:
            break
    return counts


# ---- checks --------------------------------------------------------------------------------------


def finite(X: pd.DataFrame, who: str) -> pd.DataFrame:
    """Convert features to floats and check that all of them are finite; ``who`` is for the message."""
    require_frame(X, who)
    values = X.astype(float)
    has_gaps = ~np.isfinite(values).all()
    if has_gaps.any():
        names = ", ".join(map(str, values.columns[has_gaps]))
        raise InputError(
            f"{who} needs finite numbers, got NaN or infinite values in {names}; "
            "leave these responses out, or replace the missing values, as in X.fillna(0)"
        )
    return values


def aligned(values: Any, index: pd.Index, name: str) -> pd.Series:
    """Convert values to a Series with the given index and check that none is missing.

    A Series is aligned by its index, any other iterable by position. ``name`` is for the message.
    """
    if isinstance(values, pd.Series):
        series = values if values.index.equals(index) else values.reindex(index)
    else:
        listed = list(values)
        if len(listed) != len(index):
            raise InputError(
                f"{name} must have one value per row of X ({len(index)}), got {len(listed)}"
            )
        series = pd.Series(listed, index=index, dtype=object)
    n_missing = series.isna().sum()
    if n_missing:
        raise InputError(
            f"{name} must have a value for every row of X, got none in {n_missing} rows"
        )
    return series


def binary(labels: pd.Series, name: str) -> pd.Series:
    """Convert labels to integers and check that each of them is 0 or 1; ``name`` is for the message."""
    invalid = labels[~labels.isin([0, 1])]
    if len(invalid):
        raise InputError(
            f"{name} must be 0 or 1 (or False and True), got {invalid.tolist()[0]!r} (in {len(invalid)} "
            'rows); map other labels first, as in y.map({"correct": 1, "incorrect": 0})'
        )
    return labels.astype(np.int64)


def refuse_repeated_labels(index: pd.Index, who: str) -> None:
    """Raise InputError if an index label occurs more than once."""
    if not index.is_unique:
        repeated = index[index.duplicated()][0]
        raise InputError(
            f"{who} needs unique index labels, got {repeated} twice; use X.reset_index(drop=True)"
        )


def require_both_labels(y: pd.Series, who: str) -> None:
    """Raise InputError unless both labels, 0 and 1, occur."""
    if y.nunique() < 2:
        raise InputError(
            f"{who} needs labels of both classes, got only {sorted(set(y))} in {len(y)} responses"
        )


# ---- features from scores ------------------------------------------------------------------------


@accepts()
def feature_frame(scores: pd.DataFrame, *, responses: pd.DataFrame) -> pd.DataFrame:
    """Turn scores into features for an ensemble: one row per response and one column per metric.

    A score is matched to the response with the same values in all common columns, such as the
    example, system, language, noise rate and repeat. The columns ``metric, value, reason,
    evidence`` and ``signature``, which describe the score, are not compared.

    Parameters
    ----------
    scores : DataFrame
        Scores of one or several metrics, as returned by `ragnb.score`. Each metric must have a
        value for each response.
    responses : DataFrame
        The scored responses.

    Returns
    -------
    DataFrame
        Value of each metric (column) for each response (row), with the index of `responses`. If a
        metric was computed with different options, it has one column per combination of options.
        The options that differ are appended to the column name, as in
        ``"rgb.accuracy|protocol:paper"``.

    Examples
    --------
    >>> scores = pd.DataFrame({"example_id": ["a", "b"] * 2, "metric": ["f1"] * 2 + ["recall"] * 2,
    ...     "value": [0.5, 0.0, 1.0, 0.0], "reason": None, "signature": "s"})
    >>> feature_frame(scores, responses=scores[["example_id"]].drop_duplicates()).to_dict("list")
    {'f1': [0.5, 0.0], 'recall': [1.0, 0.0]}
    """
    require_columns(
        scores, ("example_id", "metric", "value", "reason", "signature"), "feature_frame"
    )
    require_columns(responses, ["example_id"], "feature_frame(responses=...)")
    response_numbers, score_numbers = _matched(scores, responses)
    names = _column_names(scores)
    cells = pd.MultiIndex.from_arrays([score_numbers, names])
    if cells.has_duplicates:
        repeated = cells[cells.duplicated()].unique(1)
        raise InputError(
            "feature_frame needs one value per response and metric, got several of "
            f"{', '.join(repeated[:3])}; add a column that distinguishes the responses, such as "
            "repeat, or drop the duplicates"
        )
    values = pd.Series(scores["value"].to_numpy(float, na_value=np.nan), cells)
    table = values.unstack().reindex(index=response_numbers, columns=names.unique())
    table = table.set_axis(responses.index)
    is_missing = table.isna()
    if table.empty or is_missing.any(axis=None):
        n_missing = is_missing.sum().loc[is_missing.any()].to_dict()
        n_incomplete = is_missing.any(axis=1).sum()
        reasons = scores.loc[scores["value"].isna(), "reason"].value_counts().to_dict()
        raise InputError(
            "feature_frame needs a value of every metric for every response, but "
            f"{n_missing} are missing in {n_incomplete} of "
            f"{len(table)} responses (reasons: {reasons}); leave these metrics or responses out, or "
            "replace the missing values, as in scores.fillna({'value': 0})"
        )
    return table


def _matched(scores: pd.DataFrame, responses: pd.DataFrame) -> tuple[Integers, Integers]:
    """The number of each response, and the number of the response to which each score belongs."""
    shared = [name for name in scores if name in responses and name not in SCORE]
    rows = pd.concat([responses[shared], scores[shared]])
    # Lists cannot be grouped.
    rows = rows.map(lambda value: repr(value) if isinstance(value, list) else value)
    numbers = rows.groupby(shared, sort=False, dropna=False).ngroup().to_numpy()
    response_numbers, score_numbers = np.split(numbers, [len(responses)])
    if len(set(response_numbers)) < len(response_numbers):
        raise InputError(
            f"feature_frame needs a different combination of {', '.join(shared)} for each response, "
            "but some responses share one; add a column such as repeat before you score them"
        )
    # Numbers are given in the order of rows, so those of other responses are larger.
    is_other = score_numbers >= len(response_numbers)
    if is_other.any():
        raise InputError(
            "feature_frame needs the responses that were scored, got scores of "
            f"{len(set(score_numbers[is_other]))} responses that are not among them"
        )
    return response_numbers, score_numbers


def _column_names(scores: pd.DataFrame) -> pd.Index:
    """Column name of each score: its metric, and the options that differ between its signatures."""
    names = {}
    for metric, scores_of_metric in scores.groupby("metric", sort=False):
        signatures = scores_of_metric["signature"].unique()
        options = pd.DataFrame([_options_in(signature) for signature in signatures])
        options = options.drop(columns=list(OF_THE_RESPONSE), errors="ignore")
        differing = options.loc[:, options.nunique(dropna=False) > 1]
        for signature, row in zip(signatures, records_of(differing), strict=True):
            # An option that a signature lacks is missing, and not a text.
            texts = [f"{key}:{value}" for key, value in row.items() if isinstance(value, str)]
            names[metric, signature] = "|".join([metric, *texts])
    pairs = zip(scores["metric"], scores["signature"], strict=True)
    return pd.Index([names[pair] for pair in pairs])


def _options_in(signature: str) -> dict[str, str]:
    """The fields of a signature."""
    options = {}
    for field in signature.split("|"):
        name, _, value = field.partition(":")
        options[name] = value
    return options
