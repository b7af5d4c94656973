"""The data of an ensemble: metrics X, labels y, and their division into training, test and calibration parts."""
# ruff: noqa: N803, N806 (X and y are the names of the field)

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ragnb.ensemble.splitting import rows_balanced, split_groups
from ragnb.errors import InputError
from ragnb.records import refuse_partitioned


@dataclass(frozen=True, slots=True)
class SplitRatios:
    """Shares of the responses that go to training, test and calibration; each above 0, their sum 1.

    >>> SplitRatios(train=0.6, test=0.2, calibration=0.2)
    SplitRatios(train=0.6, test=0.2, calibration=0.2)
    """

    train: float
    test: float
    calibration: float

    def __post_init__(self) -> None:
        shares = (self.train, self.test, self.calibration)
        if not all(share > 0 for share in shares) or abs(sum(shares) - 1) > 1e-9:
            raise InputError(
                f"SplitRatios needs three shares above 0 that sum to 1; it got {', '.join(map(str, shares))}; "
                "write SplitRatios(train=0.6, test=0.2, calibration=0.2)."
            )


@dataclass(frozen=True, slots=True, eq=False)
class XYData:
    """Metrics of responses with their labels, and what belongs together.

    Parameters
    ----------
    X
        One row a response, one column a metric, all finite numbers. Its index labels name the responses, so rows with the
        same label must be the same row: copies, as oversampling makes them.
    y
        Labels in any iterable, 1 or True for the class to be predicted. A Series must have X's index labels and is aligned
        by them. Becomes a Series of 0 and 1.
    groups
        Optional unit of each row, such as its question, in any iterable; cross-validation keeps units whole.

    Raises
    ------
    InputError
        No frame, values that are nan, infinite or no numbers, labels other than 0 and 1, unequal lengths, one index label
        for different rows.

    >>> data = XYData(pd.DataFrame({"f1": [0.9, 0.1]}, index=["a", "b"]), map(int, "10"))
    >>> data.y.to_dict()
    {'a': 1, 'b': 0}
    """

    X: pd.DataFrame
    y: pd.Series
    groups: pd.Series | None = None

    def __post_init__(self) -> None:
        X = check_features(self.X)
        y = binary_labels(self.y, X.index)
        groups = None if self.groups is None else group_names(self.groups, X.index)
        _check_copies(X, y)
        for name, value in (("X", X), ("y", y), ("groups", groups)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.X)


class DataSplit:
    """Responses divided into a training, a test and a calibration part.

    No group is in two parts. Within that the parts are drawn at random, with the labels in the proportion of the whole and
    with sizes near the ratios, each off by about one group at most.

    Parameters
    ----------
    X
        One row a response, one column a metric. The parts keep its index labels, which must differ.
    y
        Labels in any iterable: 1 or True, 0 or False.
    split_ratios
        Shares of the parts.
    features
        Columns of X to keep; by default all but the column of ``groups``.
    oversample
        Whether to repeat rows of the rarer label in the training part until both are equally many. Copies keep their index
        labels. These are copies drawn at random, not new points between neighbours as SMOTE makes them. Prefer
        `MetricEnsemble`'s class weights, which tell a linear classifier the same without noise; either of them pushes
        probabilities towards the rarer label.
    random_state
        Seed of the draws; None draws anew each time.
    groups
        What belongs together, such as the question that several responses share: a column of X by its name, or one value a
        row.

    Attributes
    ----------
    train, test, calibration : XYData
        The parts.

    Raises
    ------
    InputError
        As `XYData`; repeated index labels, unknown features, fewer groups than parts, a part without one of the labels.

    >>> X = pd.DataFrame({"f1": range(20)})
    >>> split = DataSplit(X, [0, 1] * 10, random_state=0, groups=[row // 2 for row in range(20)])
    >>> len(split.train), len(split.test), len(split.calibration)
    (12, 4, 4)
    """

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
        data = XYData(_selected(X, features, groups), y, _units(X, groups))
        check_unique(data.X.index, "DataSplit")
        rng = np.random.default_rng(random_state)
        parts = _parts(data, split_ratios, rng)
        self.train, self.test, self.calibration = (take_rows(data, np.flatnonzero(parts == part)) for part in range(3))
        for name in ("train", "test", "calibration"):
            check_both_labels(getattr(self, name).y, f"The {name} part", "give more data or other ratios")
        if oversample:
            self.train = take_rows(self.train, rows_balanced(self.train.y.to_numpy(), rng))

    def __repr__(self) -> str:
        parts = (f"{name} {len(getattr(self, name))}" for name in ("train", "test", "calibration"))
        return f"DataSplit({', '.join(parts)})"


# ---- the parts ---------------------------------------------------------------------------------------------------------


def _selected(X: Any, features: Sequence[str] | None, groups: Any) -> pd.DataFrame:
    frame = _frame(X)
    if features is None:
        return frame.drop(columns=[groups]) if isinstance(groups, str) and groups in frame else frame
    return select_features(frame, [features] if isinstance(features, str) else list(features), "DataSplit")


def _units(X: pd.DataFrame, groups: Any) -> Any:
    return select_features(X, [groups], "DataSplit(groups=...)")[groups] if isinstance(groups, str) else groups


def _parts(data: XYData, ratios: SplitRatios, rng: np.random.Generator) -> np.ndarray:
    groups = group_codes(data)
    if (found := len(np.unique(groups))) < 3:
        raise InputError(
            f"DataSplit needs a group for each of three parts; it got {found}; give more responses, or finer groups."
        )
    return split_groups(data.y.to_numpy(), groups, (ratios.train, ratios.test, ratios.calibration), rng)


def take_rows(data: XYData, rows: np.ndarray) -> XYData:
    """The rows at these places, which may repeat."""
    groups = None if data.groups is None else data.groups.iloc[rows]
    return XYData(data.X.iloc[rows], data.y.iloc[rows].to_numpy(), None if groups is None else groups.to_numpy())


def group_codes(data: XYData) -> np.ndarray:
    """Code of what each row belongs to: its group, or else its index label, so that copies stay together."""
    units = data.X.index if data.groups is None else data.groups
    return pd.factorize(units, use_na_sentinel=False)[0]


# ---- what is accepted --------------------------------------------------------------------------------------------------


def _frame(X: Any) -> pd.DataFrame:
    refuse_partitioned(X, "X")
    if not isinstance(X, pd.DataFrame):
        raise InputError(f"X needs a pandas DataFrame, one row a response; it got {type(X).__name__}; use feature_frame.")
    if not X.columns.is_unique:
        twice = X.columns[X.columns.duplicated()].unique()
        raise InputError(f"X needs columns of different names; it got {named(twice)} twice; rename them.")
    return X


def check_features(X: Any) -> pd.DataFrame:
    """X as floats, if it is a frame of finite numbers with at least one column; else raise `InputError`."""
    frame = _frame(X)
    if frame.shape[1] == 0:
        raise InputError("X needs at least one column, a metric; it got none; score the responses first.")
    odd = [name for name, kind in frame.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
    if odd and len(frame):
        raise InputError(f"X needs columns of numbers; it got {named(odd)} of others; leave them out, or name features=.")
    values = frame.astype(float)
    unusable = ~np.isfinite(values).all(axis=0)
    if unusable.any():
        rows = int((~np.isfinite(values)).any(axis=1).sum())
        raise InputError(
            f"X needs finite numbers; it got nan or infinite ones in {named(values.columns[unusable])} ({rows} rows); "
            "drop the rows or choose what stands for them with feature_frame(scores, missing=...)."
        )
    return values


def select_features(X: Any, features: Sequence[str], who: str) -> pd.DataFrame:
    """The named columns of X, in this order, whatever theirs; else raise `InputError` naming the missing ones."""
    frame = _frame(X)
    missing = [name for name in features if name not in frame.columns]
    if missing:
        raise InputError(f"{who} needs the columns {named(features)}; X has no {named(missing)}; score these metrics too.")
    return frame[list(features)]


def ordered_features(X: Any, features: Sequence[str], who: str) -> pd.DataFrame:
    """The named columns of X, which has them in this order; else raise `InputError`. Others may stand between."""
    chosen = select_features(X, features, who)
    got = [name for name in X.columns if name in set(features)]
    if got != list(features):
        raise InputError(
            f"{who} needs the columns in the order of training, {named(features)}; it got {named(got)}; pass "
            "X[list(ensemble.features)]."
        )
    return chosen


def binary_labels(labels: Any, index: pd.Index, what: str = "y") -> pd.Series:
    """Labels of two classes as a Series of 0 and 1 over ``index``; else raise `InputError`."""
    series = aligned(labels, index, what)
    odd = [label for label in series if not _is_binary(label)]
    if not odd:
        return series.map(int).astype(np.int64)
    kinds = ", ".join(dict.fromkeys(map(repr, odd[:20])))
    advice = (
        'map them first, as in y.map({"correct": 1, "incorrect": 0})'
        if any(isinstance(label, str) for label in odd)
        else "leave out the responses without a label, and those of other classes"
    )
    raise InputError(f"{what} needs labels 0 and 1 (or False and True); it got {kinds} in {len(odd)} rows; {advice}.")


def _is_binary(label: Any) -> bool:
    return isinstance(label, bool | np.bool_ | int | float | np.number) and label in (0, 1)


def aligned(values: Any, index: pd.Index, what: str) -> pd.Series:
    """One value a row as a Series over ``index``: a Series by its labels, anything else by its order.

    Raises
    ------
    InputError
        Another number of values, or a Series with other labels.
    """
    if isinstance(values, str) or not np.iterable(values):
        raise InputError(f"{what} needs one value a row of X; it got {values!r}; pass a list, an array or a Series.")
    series = values if isinstance(values, pd.Series) else pd.Series(list(values), index=None, dtype=object)
    if len(series) != len(index):
        raise InputError(
            f"{what} needs one value a row of X ({len(index)}); it got {len(series)}; select them: {what}.loc[X.index]."
        )
    if not isinstance(values, pd.Series):
        return pd.Series(series.to_list(), index=index, name=what, dtype=None if len(series) else object)
    if series.index.equals(index):
        return series.rename(what)
    if not (series.index.is_unique and index.is_unique and index.isin(series.index).all()):
        raise InputError(
            f"{what} needs the index labels of X; it got a Series with others; select with {what}.loc[X.index], or pass "
            f"{what}.to_numpy() if the rows are in the same order."
        )
    return series.loc[index].rename(what)


def group_names(groups: Any, index: pd.Index) -> pd.Series:
    """The group of each row as a Series over ``index``; raise `InputError` where one is missing."""
    names = aligned(groups, index, "groups")
    if (missing := int(names.isna().sum())) > 0:
        raise InputError(f"groups needs a group for every row; it got none in {missing} rows; name one, or drop the rows.")
    return names


def check_unique(index: pd.Index, who: str) -> None:
    """Raise `InputError` unless all index labels differ."""
    if not index.is_unique:
        twice = index[index.duplicated()].unique()
        raise InputError(
            f"{who} needs an index label of its own for each response; it got {named(twice)} more than once; "
            "use X.reset_index(drop=True), or drop the copies."
        )


def check_both_labels(y: pd.Series, who: str, advice: str) -> None:
    """Raise `InputError` unless both labels are there."""
    absent = sorted({0, 1} - set(y))
    if absent:
        raise InputError(f"{who} needs labels of both classes; it got no {absent[0]} among {len(y)}; {advice}.")


def _check_copies(X: pd.DataFrame, y: pd.Series) -> None:
    levels = list(range(X.index.nlevels))
    if not X.index.is_unique and (X.assign(y=y.to_numpy()).groupby(level=levels, dropna=False).nunique() > 1).any(axis=None):
        check_unique(X.index, "XYData")


def named(names: Iterable[Any]) -> str:
    """The first three names."""
    listed = [str(name) for name in names]
    return ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")
