"""From responses to per-example values: one row a response and metric."""

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ragnb.errors import InputError
from ragnb.metrics.record import Metric
from ragnb.records import (
    PAYLOAD,
    PLAIN_TEXT,
    is_partitioned,
    present,
    reasoning_apart,
    require_columns,
    whole_replies,
)
from ragnb.scoring.columns import check_names, refuse_other_questions
from ragnb.scoring.definitions import lookup
from ragnb.scoring.partitions import by_partition, refuse_spelled_lists
from ragnb.text import well_formed

MARKS = ("example_id", "language", "template", "references_as", "reason", "reasoning")
"""Columns that are read beside those of the metrics: what names a row, its signature and its gaps."""

TEXT = pd.Series(["text"]).dtype
"""The dtype of a column of texts, whatever the rows hold."""


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
        One row a response, with the columns that the metrics need (see ``METRICS[name].columns``). A frame of pandas, or one
        of Dask or Spark, which is scored by its own engine. Reasoning in a response (``<think>…</think>``) is set apart
        before any metric reads it, see `ragnb.text.split_reasoning`. Only ``protocol="released"`` reads it too, because the
        published code does.
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
        and ``signature``, which names the definition of the value (metric, options, language, prompt, how lists of
        references were read, see `ragnb.load_responses`, and ``reasoning:apart`` where the response had reasoning that the
        metric did not read) and not the experiment; `experiment_signature` does. ``attrs`` are those of the responses. A
        missing response stays in the frame: value nan, with its reason; it never becomes 0.

        Of a Dask or Spark frame a lazy frame of the same kind, whose rows are those that pandas gives, partition by
        partition. `summarize` and `compare` take pandas: hand them ``scores.compute()`` or ``scores.toPandas()``, one number
        a response, without the texts. In Spark an unscored value is NaN, not null, so means are of
        ``scores.where("reason is null")``.

    Raises
    ------
    InputError
        Unknown metric or option, or a missing column; a column of texts that spell lists, as pandas reads them from CSV; a
        faulty value, with the name of its row; in a pandas frame of several systems an ``example_id`` that stands for
        several questions. Of a Dask or Spark frame faulty values are found when it is computed; Spark tells them inside an
        exception of its own.
    """
    chosen = _chosen(metrics)
    _check_options(chosen, options)
    if is_partitioned(responses):
        used = {*MARKS, *(column for metric in chosen for column in metric.columns.values())}
        return by_partition(
            responses, partial(score, metrics=metrics, explain=explain, **options), used
        )
    require_columns(responses, (), "score")
    if not isinstance(explain, bool):
        raise InputError(f"score(explain=...) needs True or False; got {explain!r:.60}; choose one")
    check_names(
        responses, [name for name in ("language", "template") if name in responses], "score"
    )
    refuse_other_questions(responses, "score")
    lists = (
        {column for metric in chosen for column in metric.columns.values()}
        & (PAYLOAD - PLAIN_TEXT)
        & set(responses)
    )
    refuse_spelled_lists(
        responses,
        sorted(lists),
        "score",
        "make the frame with ragnb.load_responses, which reads them",
    )
    apart, whole = reasoning_apart(responses), whole_replies(responses)
    scores = pd.concat(
        [_score_one(apart, whole, metric, options, explain) for metric in chosen], ignore_index=True
    )
    scores.attrs = dict(responses.attrs)
    return scores


def _chosen(metrics: str | Metric | Sequence[str | Metric]) -> list[Metric]:
    listed = [metrics] if isinstance(metrics, str | Metric) else metrics
    if not isinstance(listed, list | tuple) or not listed:
        raise InputError(
            f"score needs at least one metric; got {metrics!r}; name some out of ragnb.METRICS"
        )
    return [lookup(metric) for metric in listed]


def _check_options(metrics: Iterable[Metric], options: Mapping[str, Any]) -> None:
    known = sorted({name for metric in metrics for name in metric.options})
    unknown = [name for name in options if name not in known]
    if unknown:
        raise InputError(
            f"score needs options that one of its metrics knows ({', '.join(known) or 'none'}); got {', '.join(unknown)}; "
            "leave them out"
        )


def _score_one(
    apart: pd.DataFrame,
    whole: pd.DataFrame,
    metric: Metric,
    options: Mapping[str, Any],
    explain: bool,
) -> pd.DataFrame:
    """Scores of one metric. It reads the replies without their reasoning, or all, as released code does."""
    own = {option: options.get(option, default) for option, default in metric.options.items()}
    responses = whole if str(own.get("protocol")) == "released" else apart
    needed = {
        column: argument
        for argument, column in metric.columns.items()
        if metric.needs(argument, own)
    }
    require_columns(responses, needed, f"the metric {metric.name}")
    calls = _calls(responses, metric)
    gaps = [
        next((column for column in needed if call[needed[column]] is None), None) for call in calls
    ]
    values = np.full(len(calls), math.nan)
    for row, (call, gap) in enumerate(zip(calls, gaps, strict=True)):
        if gap is None:
            try:
                value = metric.function(**call, **own)
            except InputError as error:
                raise InputError(f"{metric.name}, row {_name(responses, row)}: {error}") from error
            if not isinstance(value, Real):
                raise InputError(
                    f"{metric.name}, row {_name(responses, row)}: a metric must return a number, got {value!r:.60}"
                )
            values[row] = value
    scores = responses[[name for name in responses.columns if name not in PAYLOAD]].copy()
    scores["metric"] = metric.name
    scores["value"] = values
    scores["reason"] = pd.array(_reasons(responses, values, gaps, metric), TEXT)
    if explain:
        says = metric.evidence or (lambda **_: "")
        words = [
            f"no {gap}" if gap else well_formed(says(**call, **own))
            for gap, call in zip(gaps, calls, strict=True)
        ]
        scores["evidence"] = pd.array(words, TEXT)
    scores["signature"] = pd.array(_signatures(responses, metric, own), TEXT)
    return scores


def _calls(responses: pd.DataFrame, metric: Metric) -> list[dict[str, Any]]:
    """Arguments of the metric for each response: the cells, and the defaults where a cell is missing."""
    parameters = inspect.signature(metric.function).parameters
    columns = {}
    for argument, column in metric.columns.items():
        default = parameters[argument].default if argument in parameters else None
        default = None if default is inspect.Parameter.empty else default
        if column in responses:
            cells = (as_lists(present(cell)) for cell in responses[column])
            columns[argument] = [default if cell is None else cell for cell in cells]
        elif default is None:
            columns[argument] = [None] * len(responses)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def as_lists(value: Any) -> Any:
    """Lists where Arrow and Parquet give arrays of arrays or texts; vectors of numbers stay arrays."""
    if isinstance(value, np.ndarray) and (value.dtype == object or not value.size):
        return [as_lists(part) for part in value]
    return {name: as_lists(part) for name, part in value.items()} if type(value) is dict else value


def _name(responses: pd.DataFrame, row: int) -> str:
    """Name of a row in an error: its place, and its example if there is one."""
    return f"{row} ({responses['example_id'].iloc[row]})" if "example_id" in responses else str(row)


def _reasons(
    responses: pd.DataFrame, values: Iterable[float], gaps: Sequence[str | None], metric: Metric
) -> list[str | None]:
    given = responses["reason"] if "reason" in responses else [None] * len(responses)
    undefined = metric.condition or "the metric is undefined here"
    reasons = (
        (present(why) or f"no {gap}") if gap else undefined
        for why, gap in zip(given, gaps, strict=True)
    )
    return [
        reason if math.isnan(value) else None for reason, value in zip(reasons, values, strict=True)
    ]


def _signatures(responses: pd.DataFrame, metric: Metric, options: Mapping[str, Any]) -> list[str]:
    nothing = [None] * len(responses)
    columns = {"references": "references_as"} if "references" in metric.columns.values() else {}
    columns |= {"lang": "language", "prompt": "template"}
    marks = {
        mark: [*map(present, responses.get(column, nothing))] for mark, column in columns.items()
    }
    if "response" in metric.columns.values():
        marks["reasoning"] = [
            "apart" if present(text) else None for text in responses.get("reasoning", nothing)
        ]
    rows = list(zip(*marks.values(), strict=True))
    made = {
        row: metric.signature(options, **dict(zip(marks, row, strict=True)))
        for row in dict.fromkeys(rows)
    }
    return [made[row] for row in rows]
