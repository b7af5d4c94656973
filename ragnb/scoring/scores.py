"""From responses to per-example values: one row a response and metric."""

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from ragnb.errors import InputError
from ragnb.records import PAYLOAD, require_columns
from ragnb.scoring.metric import Metric, lookup


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


def _chosen(metrics: str | Metric | Sequence[str | Metric]) -> list[Metric]:
    listed = [metrics] if isinstance(metrics, str | Metric) else metrics
    if not isinstance(listed, list | tuple) or not listed:
        raise InputError(f"score needs at least one metric; got {metrics!r}; name some out of ragnb.METRICS")
    return [lookup(metric) for metric in listed]


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
