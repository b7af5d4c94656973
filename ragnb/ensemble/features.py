"""From long scores to a frame of features: one row a response, one column a metric."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from ragnb.errors import InputError, check_choice
from ragnb.records import require_columns
from ragnb.stats.checks import check_array
from ragnb.text import well_formed

SCORE = ("metric", "value", "reason", "evidence", "signature")
"""Columns of a scores frame that speak of the metric; all others tell one response from another."""

MISSING = ("raise", "drop", "indicator")

#: Parts of a signature that speak of the response, not of the metric's variant.
_OF_THE_RESPONSE = ("metric", "references", "lang", "prompt", "reasoning")


def feature_frame(scores: pd.DataFrame, *, responses: pd.DataFrame | None = None, missing: str = "raise") -> pd.DataFrame:
    """Scores as features for an ensemble: one row a response, one column a metric.

    A response is what shares all columns but those of the metric (`SCORE`): its example, system, language, noise rate,
    repeat and so on.

    Parameters
    ----------
    scores
        As `ragnb.score` returns them, of several metrics; frames of several calls may be concatenated.
    responses
        The responses that were scored. With it X keeps their index labels, which judicators are then asked about, and every
        one of them has a row. Without it a row's label is the response's position, 0, 1, ... in the order of the scores.
    missing
        What to do where a metric has no value: ``"raise"`` names metrics and reasons; ``"drop"`` leaves such responses out
        (what an ensemble promises then holds for responses that have all values); ``"indicator"`` puts 0 and adds a
        column ``"<metric>|missing"`` of 0 and 1.

    Returns
    -------
    DataFrame
        Columns are named after the metrics; a metric in several variants gets a column each, named by what differs in the
        signatures: ``"rgb.accuracy|protocol:paper"``.

    Raises
    ------
    InputError
        Missing columns; a response that has two values of one metric and variant; scores of other responses than those
        given; values missing under ``"raise"``; no row left under ``"drop"``.

    >>> scores = pd.DataFrame({"example_id": ["a", "b"] * 2, "metric": ["f1"] * 2 + ["recall"] * 2,
    ...     "value": [0.5, 0.0, 1.0, 0.0], "reason": None, "signature": "s"})
    >>> feature_frame(scores).to_dict("list")
    {'f1': [0.5, 0.0], 'recall': [1.0, 0.0]}
    """
    check_choice(missing, MISSING, "missing")
    require_columns(scores, ("metric", "value", "signature"), "feature_frame")
    if not len(scores):
        raise InputError("feature_frame needs scores; it got an empty frame; score responses first.")
    rows, labels = _numbered(scores, responses)
    names = _names(scores)
    _refuse_repeats(rows, names)
    table = pd.Series(
        check_array(scores["value"].to_numpy(object, na_value=np.nan), "feature_frame"),
        pd.MultiIndex.from_arrays([rows, names]),
    ).unstack()
    features = table.reindex(index=range(len(labels)), columns=list(dict.fromkeys(names))).set_axis(labels)
    return _filled(features, missing, lambda: _reasons(scores, rows, names, len(labels)))


# ---- which response ----------------------------------------------------------------------------------------------------


def _numbered(scores: pd.DataFrame, responses: pd.DataFrame | None) -> tuple[np.ndarray, pd.Index]:
    """Number of the response of each score, and the index labels of the responses."""
    identity = [name for name in scores.columns if name not in SCORE]
    if responses is None:
        rows = _codes(scores[identity]) if identity else np.zeros(len(scores), dtype=np.int64)
        return rows, pd.RangeIndex(rows.max() + 1)
    shared = [name for name in identity if name in getattr(responses, "columns", ())]
    require_columns(responses, shared or ["example_id"], "feature_frame(responses=...)")
    codes = _codes(pd.concat([responses[shared], scores[shared]], ignore_index=True))
    known, rows = codes[: len(responses)], codes[len(responses) :]
    if len(np.unique(known)) < len(known):
        raise InputError(
            f"feature_frame needs responses that {', '.join(shared)} tell apart; it got some that are alike; "
            "add a column such as repeat before scoring."
        )
    if rows.max() >= len(known):
        raise InputError(
            f"feature_frame needs scores of the given responses alone; it got {(rows >= len(known)).sum()} of others; "
            "pass the very frame that was scored."
        )
    return rows, responses.index


def _codes(frame: pd.DataFrame) -> np.ndarray:
    """Number of each distinct row, in order of appearance; missing values are alike."""
    codes = pd.DataFrame({place: _factorized(frame.iloc[:, place]) for place in range(frame.shape[1])})
    return codes.groupby(list(codes.columns), sort=False).ngroup().to_numpy()


def _factorized(column: pd.Series) -> np.ndarray:
    try:
        return pd.factorize(column, use_na_sentinel=False)[0]
    except TypeError:  # lists and other values that cannot be compared
        return pd.factorize(column.map(repr))[0]


# ---- which metric ------------------------------------------------------------------------------------------------------


def _names(scores: pd.DataFrame) -> np.ndarray:
    """Column of each score: its metric, and what of its signature tells variants of this metric apart."""
    pairs = list(zip(map(str, scores["metric"]), map(str, scores["signature"]), strict=True))
    variants: dict[str, list[dict[str, str]]] = {}
    for metric, signature in dict.fromkeys(pairs):
        variants.setdefault(metric, []).append(_variant(signature))
    named = {pair: well_formed(_name(pair[0], _variant(pair[1]), variants[pair[0]])) for pair in dict.fromkeys(pairs)}
    return np.array([named[pair] for pair in pairs], dtype=object)


def _variant(signature: Any) -> dict[str, str]:
    parts = dict(part.partition(":")[::2] for part in str(signature).split("|"))
    return {key: value for key, value in parts.items() if key not in _OF_THE_RESPONSE}


def _name(metric: str, variant: dict[str, str], variants: Iterable[dict[str, str]]) -> str:
    """The metric's name with those options that not all its variants share."""
    others = list(variants)
    keys = dict.fromkeys(key for other in others for key in other)
    differing = [key for key in keys if any(other.get(key) != variant.get(key) for other in others)]
    return "|".join([metric, *(f"{key}:{variant[key]}" for key in differing if key in variant)])


def _refuse_repeats(rows: np.ndarray, names: np.ndarray) -> None:
    repeated = pd.Series(list(zip(rows, names, strict=True)), dtype=object).duplicated()
    if repeated.any():
        metrics = ", ".join(pd.unique(names[repeated])[:3])
        raise InputError(
            f"feature_frame needs one value of each metric for a response; it got {int(repeated.sum())} more ({metrics}); "
            "add a column that tells the responses apart, such as repeat, or drop what was scored twice."
        )


# ---- what is missing ---------------------------------------------------------------------------------------------------


def _filled(features: pd.DataFrame, missing: str, reasons: Any) -> pd.DataFrame:
    gaps = features.isna()
    lacking = gaps.columns[gaps.any()]
    if not len(lacking):
        return features
    if missing == "drop":
        return _whole(features[~gaps.any(axis=1)])
    if missing == "indicator":
        marks = gaps[lacking].astype(float).add_suffix("|missing")
        return pd.concat([features.fillna(0.0), marks], axis=1)
    raise InputError(
        f"feature_frame needs a value of every metric for every response; it got none of {_counted(gaps[lacking].sum())} "
        f"in {gaps.any(axis=1).sum()} of {len(gaps)} rows ({reasons()}); leave these metrics out, or choose missing='drop' "
        "or 'indicator'."
    )


def _whole(features: pd.DataFrame) -> pd.DataFrame:
    if not len(features):
        raise InputError("feature_frame needs responses with all values; it got none; leave a metric out.")
    return features


def _reasons(scores: pd.DataFrame, rows: np.ndarray, names: np.ndarray, n_rows: int) -> str:
    """The commonest reasons, with their numbers."""
    unscored = scores[scores["value"].isna()]
    given = unscored["reason"].fillna("no reason") if "reason" in unscored else pd.Series("no reason", unscored.index)
    absent = n_rows * len(set(names)) - len(pd.MultiIndex.from_arrays([rows, names]).unique())
    counts = given.value_counts()
    return _counted(pd.concat([counts, pd.Series({"not scored": absent})]) if absent else counts)


def _counted(counts: pd.Series) -> str:
    """The three most frequent, each with its number."""
    first: dict[Hashable, Any] = counts.sort_values(ascending=False, kind="stable").head(3).to_dict()
    return ", ".join(f"{what}: {number}" for what, number in first.items()) + ("" if len(counts) < 4 else ", ...")
