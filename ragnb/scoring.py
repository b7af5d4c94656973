"""From responses to numbers: the METRICS table, `score` and `summarize`. Frame in, frame out.

Per-example values come first and are kept; every aggregate is computed from them.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import pandas as pd

from ragnb.errors import InputError
from ragnb.metrics import rgb
from ragnb.records import CONDITION, PAYLOAD, require_columns
from ragnb.results import Interval
from ragnb.stats.intervals import mean_interval_t, wilson_interval
from ragnb.version import __version__


@dataclass(frozen=True, slots=True)
class Metric:
    """What ragnb knows of a metric. A metric of your own is one more record, given to `score`.

    Attributes
    ----------
    name
        ``"family.name"``.
    function
        Pure function of one response: values in, one float out, ``nan`` where undefined.
    columns
        Which column of a responses frame each argument takes: ``{"answer": "references"}``.
    higher_is_better
        Direction.
    bounds
        Lowest and highest value.
    source
        Paper and equation, or repository and commit.
    options
        Keyword options that choose a variant, with their defaults; they become part of the signature.
    binary
        Whether the only values are 0 and 1; such means get Wilson intervals.
    evidence
        Optional function of the same arguments that says in words what decided the value.
    """

    name: str
    function: Callable[..., float]
    columns: Mapping[str, str]
    higher_is_better: bool
    bounds: tuple[float, float]
    source: str
    options: Mapping[str, Any] = field(default_factory=dict)
    binary: bool = False
    evidence: Callable[..., str] | None = None

    def signature(self, options: Mapping[str, Any], **marks: Any) -> str:
        """One line that pins a value: version, metric, options and what else changes it.

        >>> METRICS["rgb.accuracy"].signature({"protocol": "paper"}, lang="en").split("|", 1)[1]
        'metric:rgb.accuracy|protocol:paper|lang:en'
        """
        parts = {"ragnb": __version__, "metric": self.name, **self.options, **options, **marks}
        return "|".join(f"{key}:{value}" for key, value in parts.items() if value is not None)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            name="rgb.accuracy",
            function=rgb.is_correct,
            columns={"response": "response", "answer": "references", "language": "language"},
            higher_is_better=True,
            bounds=(0.0, 1.0),
            source="Chen et al., AAAI 2024, section 3; chen700564/RGB@65ec39e4 evalue.py checkanswer",
            options={"protocol": "paper"},
            binary=True,
            evidence=rgb.answer_evidence,
        ),
    )
}


def score(
    responses: pd.DataFrame,
    metrics: str | Metric | Sequence[str | Metric],
    *,
    explain: bool = False,
    **options: Any,
) -> pd.DataFrame:
    """Score every response under every metric: one row for each pair.

    Parameters
    ----------
    responses
        One row a response, with the columns that the metrics need (see ``METRICS[name].columns``).
    metrics
        Names out of `METRICS`, `Metric` records of your own, or several of them.
    explain
        Add ``evidence``: what decided the value.
    **options
        Variants, such as ``protocol="paper"``; each must be known to at least one of the metrics.

    Returns
    -------
    DataFrame
        The responses' identifying columns (all but long texts), ``metric``, ``value``, ``reason`` (why there is no value)
        and ``signature``. A missing response stays in the frame: value nan, with its reason; it never becomes 0.

    Raises
    ------
    InputError
        Unknown metric or option, or a missing column.
    """
    chosen = _chosen(metrics)
    _check_options(chosen, options)
    return pd.concat([_score_one(responses, metric, options, explain) for metric in chosen], ignore_index=True)


def summarize(
    scores: pd.DataFrame, *, by: str | Sequence[str] | None = None, confidence_level: float = 0.95
) -> pd.DataFrame:
    """Mean of each metric in each cell of the experiment, with its interval and what is missing.

    Parameters
    ----------
    scores
        As `score` returns them.
    by
        Columns that tell the cells apart; by default those of `ragnb.records.CONDITION` that the frame has.
    confidence_level
        Nominal coverage, in (0, 1).

    Returns
    -------
    DataFrame
        One row a cell and metric: ``mean, low, high, interval, confidence_level, n, n_scored, worst_low, worst_high,
        signature``. Binary metrics get Wilson intervals, others t intervals; both treat responses as independent, so a cell
        must hold one response a question. ``worst_low`` and ``worst_high`` bound the mean when responses are unscored: all
        of them at the metric's lowest, or all at its highest value. Of a metric that is not in `METRICS` only the values are
        known: it is taken for binary when all of them are 0 or 1, and has no worst case otherwise.

    Raises
    ------
    InputError
        Missing columns; a cell that holds a question twice.
    """
    require_columns(scores, ("metric", "value", "signature"), "summarize")
    keys = [name for name in CONDITION if name in scores] if by is None else [by] if isinstance(by, str) else list(by)
    require_columns(scores, keys, "summarize(by=...)")
    cells = scores.groupby([*keys, "metric"], sort=False, dropna=False)
    rows = [dict(zip([*keys, "metric"], cell, strict=True)) | _summary(group, confidence_level) for cell, group in cells]
    return pd.DataFrame(rows)


# ---- score -------------------------------------------------------------------------------------------------------------


def _chosen(metrics: str | Metric | Sequence[str | Metric]) -> list[Metric]:
    listed = [metrics] if isinstance(metrics, str | Metric) else metrics
    if not isinstance(listed, list | tuple) or not listed:
        raise InputError(f"score needs at least one metric; got {metrics!r}; name one of {', '.join(METRICS)}")
    return [_lookup(metric) for metric in listed]


def _lookup(metric: str | Metric) -> Metric:
    if isinstance(metric, Metric):
        return metric
    if metric not in METRICS:
        near = get_close_matches(str(metric), METRICS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(METRICS)}"
        raise InputError(f"score needs the name of a metric or a Metric record; got {metric!r}; {hint}")
    return METRICS[metric]


def _check_options(metrics: Iterable[Metric], options: Mapping[str, Any]) -> None:
    known = sorted({name for metric in metrics for name in metric.options})
    unknown = [name for name in options if name not in known]
    if unknown:
        raise InputError(
            f"score needs options that one of its metrics knows ({', '.join(known) or 'none'}); got {', '.join(unknown)}; "
            "leave them out"
        )


def _score_one(responses: pd.DataFrame, metric: Metric, options: Mapping[str, Any], explain: bool) -> pd.DataFrame:
    needed = [column for argument, column in metric.columns.items() if _is_required(metric, argument)]
    require_columns(responses, needed, f"the metric {metric.name}")
    own = {name: value for name, value in {**metric.options, **options}.items() if name in metric.options}
    calls = _calls(responses, metric)
    missing = [next((metric.columns[name] for name, value in call.items() if value is None), None) for call in calls]
    scores = responses[[name for name in responses.columns if name not in PAYLOAD]].copy()
    scores["metric"] = metric.name
    scores["value"] = [
        math.nan if gap else float(metric.function(**call, **own)) for call, gap in zip(calls, missing, strict=True)
    ]
    scores["reason"] = _reasons(responses, scores["value"])
    if explain:
        says = metric.evidence or (lambda **_: "")
        scores["evidence"] = [f"no {gap}" if gap else says(**call, **own) for call, gap in zip(calls, missing, strict=True)]
    scores["signature"] = _signatures(responses, metric, own)
    return scores


def _is_required(metric: Metric, argument: str) -> bool:
    parameter = inspect.signature(metric.function).parameters.get(argument)
    return parameter is None or parameter.default is inspect.Parameter.empty


def _calls(responses: pd.DataFrame, metric: Metric) -> list[dict[str, Any]]:
    present = {argument: column for argument, column in metric.columns.items() if column in responses}
    columns = [[_none_if_missing(value) for value in responses[column]] for column in present.values()]
    optional = {argument for argument in present if not _is_required(metric, argument)}
    return [
        {name: value for name, value in zip(present, values, strict=True) if value is not None or name not in optional}
        for values in zip(*columns, strict=True)
    ]


def _none_if_missing(value: Any) -> Any:
    return None if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)) else value


def _reasons(responses: pd.DataFrame, values: pd.Series) -> list[str | None]:
    given = responses["reason"] if "reason" in responses else [None] * len(responses)
    undefined = "the metric is undefined here"
    return [
        (_none_if_missing(why) or undefined) if math.isnan(value) else None for value, why in zip(values, given, strict=True)
    ]


def _signatures(responses: pd.DataFrame, metric: Metric, options: Mapping[str, Any]) -> list[str]:
    nothing = [None] * len(responses)
    marks = [map(_none_if_missing, responses.get(column, nothing)) for column in ("language", "template")]
    pairs = list(zip(*marks, strict=True))
    made: dict[tuple[Any, Any], str] = {}
    for language, template in dict.fromkeys(pairs):
        made[language, template] = metric.signature(options, lang=language, prompt=template)
    return [made[pair] for pair in pairs]


# ---- summarize ---------------------------------------------------------------------------------------------------------


def _summary(group: pd.DataFrame, confidence_level: float) -> dict[str, Any]:
    _refuse_repeats(group)
    name = group["metric"].iloc[0]
    metric = METRICS.get(name)
    values = group["value"].dropna()
    binary = metric.binary if metric else len(values) > 0 and bool(values.isin([0.0, 1.0]).all())
    lowest, highest = metric.bounds if metric else (0.0, 1.0) if binary else (math.nan, math.nan)
    interval = _interval(values, binary, confidence_level)
    missing, total = len(group) - len(values), float(values.sum())
    signatures = sorted(set(group["signature"]))
    return {
        "mean": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "interval": interval.method,
        "confidence_level": confidence_level,
        "n": len(group),
        "n_scored": len(values),
        "worst_low": (total + missing * lowest) / len(group) if missing else interval.estimate,
        "worst_high": (total + missing * highest) / len(group) if missing else interval.estimate,
        "signature": " & ".join(signatures),
    }


def _refuse_repeats(group: pd.DataFrame) -> None:
    if "example_id" in group and group["example_id"].duplicated().any():
        twice = group.loc[group["example_id"].duplicated(), "example_id"].astype(str)
        raise InputError(
            f"summarize needs one response a question in each cell; got {len(twice)} more (such as {twice.iloc[0]!r}); "
            "name the columns that tell them apart in by="
        )


def _interval(values: pd.Series, binary: bool, confidence_level: float) -> Interval:
    if binary:
        return wilson_interval(int(values.sum()), len(values), confidence_level=confidence_level)
    return mean_interval_t(values.to_numpy(float), confidence_level=confidence_level)
