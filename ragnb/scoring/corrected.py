"""Differences between systems, corrected by the labels of people (prediction-powered inference)."""

# Tested in tests/annotation/test_sampling.py.

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from ragnb.cells import is_missing
from ragnb.columns import require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.metrics.judged import is_accepted
from ragnb.results import SMALLEST_P
from ragnb.scoring.columns import signatures
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns
from ragnb.stats.ppi import PpiInterval, ppi_mean
from ragnb.stats.sampled_labels import ppi_sampled_mean

# Two probabilities that differ by less than this are equal, apart from rounding.
_ROUNDING = 1e-9
# Name of the rows that use all judges together.
ALL_JUDGES = "all judges"
PROBABILITY = "probability"
_NO_PROBABILITY = (
    "labels need the column probability: with which each question was drawn for labelling. "
    "ragnb.next_to_label writes it. If the questions were a simple random sample, it is the number of "
    "labelled questions divided by the number of all. Labels that were chosen otherwise, such as those "
    "of suspicious answers, cannot correct a difference"
)


def corrected_comparison(
    scores: pd.DataFrame,
    labels: pd.DataFrame,
    pairs: Sequence[tuple[Any, Any]],
    *,
    conditions: Sequence[str],
    label: str,
    cluster: str | None,
    correction: str,
    confidence_level: float,
) -> pd.DataFrame:
    """Compare pairs of systems by labels of people, with the metrics of `scores` as judges.

    Each metric is used alone and, if there are several, all of them together. `conditions` are the
    columns that distinguish the rows of a question besides the system.
    """
    keys = ["example_id", *conditions]
    verdicts = scores.pivot(index=keys, columns=["metric", "system"], values="value")
    truth, probability = _labels_and_probabilities(labels, keys, label, verdicts.index)
    units = _units(scores, keys, cluster)
    metrics = list(scores["metric"].unique())
    sets_of_judges = [[metric] for metric in metrics]
    if len(metrics) > 1:
        sets_of_judges.append(metrics)
    rows = []
    for judges in sets_of_judges:
        signature = " & ".join(signatures(scores[scores["metric"].isin(judges)]))
        for system, baseline in pairs:
            judged = _judged_differences(verdicts, judges, system, baseline)
            is_judged = judged.notna().all(axis=1)
            judged = judged[is_judged]
            difference = _difference(truth, system, baseline).reindex(judged.index)
            result = _estimate(
                difference.to_numpy(float),
                judged.to_numpy(float),
                probability.reindex(judged.index).to_numpy(float),
                None if units is None else units.reindex(judged.index).to_numpy(),
                _bounds(truth),
                confidence_level,
            )
            rows.append(
                {
                    "metric": judges[0] if len(judges) == 1 else ALL_JUDGES,
                    "system": system,
                    "baseline": baseline,
                    "n_pairs": len(judged),
                    "n_dropped": int((~is_judged).sum()),
                    **_columns(result),
                    "signature": signature,
                }
            )
    table = pd.DataFrame(rows)
    return shown(table.assign(**adjusted_columns(table["p_value"], correction, None)))


# ---- labels ------------------------------------------------------------------------------------


def _labels_and_probabilities(
    labels: pd.DataFrame, keys: list[str], label: str, items: pd.Index
) -> tuple[pd.DataFrame, pd.Series]:
    """People's labels, one row per item and one column per system, and the probability of each item."""
    if PROBABILITY not in labels:
        raise InputError(_NO_PROBABILITY)
    if label not in labels:
        raise InputError(_no_labels(labels, label))
    require_columns(labels, [*keys, "system"], "compare(labels=)")
    require_columns(labels, (), "compare(labels=)", unique=[*keys, "system"])
    numbers = labels.assign(**{label: _as_numbers(labels[label])})
    truth = numbers.pivot(index=keys, columns="system", values=label)
    chances = labels.groupby(keys)[PROBABILITY].agg(["min", "max"])
    has_several = chances["max"] - chances["min"] > _ROUNDING
    if has_several.any():
        raise InputError(
            "compare(labels=) needs one probability per question, because a question is labelled for "
            f"both systems; {chances.index[has_several][0]} has several"
        )
    probability = chances["max"].reindex(items)
    has_plan = "to_label" in labels and label != "to_label"
    _require_a_sample(truth, probability, label, has_plan=has_plan)
    return truth, probability


def _no_labels(labels: pd.DataFrame, label: str) -> str:
    """Message if the labels are in another column, or are not there yet."""
    message = f"compare(labels=) needs people's labels in the column {label!r}, which is missing"
    if "verdict" in labels:
        message += "; if they are in the column 'verdict', pass label='verdict'"
    if "to_label" in labels:
        message += (
            ". To label the questions that were drawn: ragnb.Annotator(labels[labels['to_label']], "
            "'verdict', 'your name', 'labels', id=['example_id', 'system']); "
            "ragnb.annotation.join_labels then adds the column 'verdict'"
        )
    return message


def _as_numbers(labels: pd.Series) -> pd.Series:
    """Labels as numbers: grades as they are, and the words of a verdict as 1 or 0."""
    try:
        return labels.astype(float)
    except (TypeError, ValueError):
        values = [is_accepted(None if is_missing(cell) else cell) for cell in labels]
        return pd.Series(values, labels.index, dtype=float)


def _require_a_sample(
    truth: pd.DataFrame, probability: pd.Series, label: str, *, has_plan: bool
) -> None:
    """Raise InputError if far more questions are labelled than were drawn.

    The weight of a label is 1 / probability, which is right only if the other labels are left out.
    """
    is_labelled = truth.notna().any(axis=1).reindex(probability.index, fill_value=False)
    chances = probability.dropna()
    if chances.empty:
        return
    # Questions without a row had the probability of the others, if it is the same for all.
    if np.ptp(chances) < _ROUNDING:
        chances = probability.fillna(chances.iloc[0])
    n_labelled, expected = int(is_labelled.sum()), float(chances.sum())
    # The number of several draws together varies less than that of independent draws.
    deviation = float(np.sqrt((chances * (1 - chances)).clip(lower=0).sum()))
    if len(chances) == len(probability) and n_labelled > expected + 4 * deviation + 0.5:
        drawn = f"; labels[{label!r}].where(labels['to_label'])" if has_plan else ""
        raise InputError(
            f"compare(labels=) got labels of {n_labelled:,} questions, but by their probabilities about "
            f"{expected:,.0f} were drawn. A label stands for 1 / probability questions, so the labels of "
            f"questions that were not drawn must be missing{drawn}"
        )


# ---- differences -------------------------------------------------------------------------------


def _judged_differences(
    verdicts: pd.DataFrame, judges: Sequence[str], system: Any, baseline: Any
) -> pd.DataFrame:
    """The difference of two systems on each item by each judge, one column per judge."""
    differences = {
        metric: verdicts[metric, system] - verdicts[metric, baseline] for metric in judges
    }
    return pd.DataFrame(differences)


def _units(scores: pd.DataFrame, keys: list[str], cluster: str | None) -> pd.Series | None:
    """The cluster of each item, if there are clusters."""
    if cluster is None:
        return None
    items = scores.drop_duplicates(keys).set_index(keys)
    # A cluster that is one of the keys, such as the example, is in the index.
    return items.index.to_series() if cluster in keys else items[cluster]


def _difference(truth: pd.DataFrame, system: Any, baseline: Any) -> pd.Series:
    """Differences of people's labels on the items that are labelled for both systems."""
    missing = [name for name in (system, baseline) if name not in truth]
    if missing:
        raise InputError(
            f"compare(labels=) needs labels of every system, got none of {missing[0]!r}"
        )
    return truth[system] - truth[baseline]


def _bounds(truth: pd.DataFrame) -> tuple[float, float] | None:
    """Smallest and largest difference of labels of 0 and 1; None for grades."""
    values = truth.to_numpy(float)
    is_binary = np.isin(values[~np.isnan(values)], (0, 1)).all()
    return (-1.0, 1.0) if is_binary else None


def _estimate(
    difference: np.ndarray,
    judged: np.ndarray,
    probability: np.ndarray,
    units: np.ndarray | None,
    bounds: tuple[float, float] | None,
    level: float,
) -> PpiInterval:
    """The corrected difference, by the plain estimate if all items had the same probability.

    The plain estimate takes one judge, and needs items without a label. In all other cases, the labels are
    weighted by their probabilities.
    """
    is_labelled = ~np.isnan(difference)
    # Questions without a row in the labels were drawn with the probability of the others, if it is
    # the same for all.
    known = probability[~np.isnan(probability)]
    is_uniform = known.size > 0 and known.max() - known.min() < _ROUNDING
    has_one_judge = judged.shape[1] == 1
    if is_uniform and has_one_judge and not is_labelled.all():
        clusters = {}
        if units is not None:
            clusters = {"clusters": units[is_labelled], "clusters_unlabelled": units[~is_labelled]}
        return ppi_mean(
            difference[is_labelled],
            judged[is_labelled, 0],
            judged[~is_labelled, 0],
            bounds=bounds,
            confidence_level=level,
            **clusters,
        )
    if is_uniform:
        probability = np.where(np.isnan(probability), known[0], probability)
    if np.isnan(probability).any():
        raise InputError(
            "labels need the probability of every question, also of those that were not drawn; got "
            f"none for {int(np.isnan(probability).sum())}. Pass the whole frame of "
            "ragnb.next_to_label, with the labels of the questions that were drawn"
        )
    return ppi_sampled_mean(
        difference, judged, probability, clusters=units, bounds=bounds, confidence_level=level
    )


def _columns(result: PpiInterval) -> dict[str, Any]:
    """The columns of a corrected difference."""
    # Without a standard error there is no test, and the p-value is nan.
    statistic = result.estimate / result.standard_error if result.standard_error > 0 else np.nan
    # Two tails of the t distribution.
    p_value = max(2 * float(stdtr(result.df, -abs(statistic))), SMALLEST_P)
    return {
        **result.columns("difference"),
        "difference": result.estimate,
        "test": "t-test of PPI++",
        "statistic": statistic,
        "p_value": np.nan if np.isnan(statistic) else p_value,
        **dict.fromkeys(ADJUSTED),
        "n_labels": result.n_labels,
        "weight": result.lam,
        "worth": result.effective_sample_size,
        "labels_alone": result.classical.estimate,
        "labels_alone_low": result.classical.low,
        "labels_alone_high": result.classical.high,
        "judge_alone": result.judge_only.estimate,
    }
