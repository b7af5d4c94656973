"""Judges against labels, as RAGBench does it: all judges on the same records, what they left out counted and shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ragnb.arguments import Floats
from ragnb.errors import InputError
from ragnb.markup import Markup, join, tag
from ragnb.records import one_column, require_columns
from ragnb.results import Interval, SignificanceResult, format_p_value
from ragnb.scoring.columns import numbers
from ragnb.stats.intervals import FEW_CLUSTERS, mean_interval
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns
from ragnb.stats.paired import paired_t_test
from ragnb.stats.prediction import auroc, auroc_difference_interval, delong_test, rmse

Units = NDArray[Any] | None
"""The independent unit of each record; None where each is one of its own."""

LABELS = {
    "adherence": "adherence_score",
    "relevance": "relevance_score",
    "utilization": "utilization_score",
    "completeness": "completeness_score",
}
"""Columns of the labels, by dimension."""

JUDGES = {
    "gpt-3.5": {
        "adherence": "gpt3_adherence",
        "relevance": "gpt3_context_relevance",
        "utilization": "gpt35_utilization",
    },
    "ragas": {"adherence": "ragas_faithfulness", "relevance": "ragas_context_relevance"},
    "trulens": {"adherence": "trulens_groundedness", "relevance": "trulens_context_relevance"},
}
"""Columns of the predictions that the dataset carries, by judge and dimension."""


@dataclass(frozen=True, slots=True)
class TraceReport:
    """Judges against labels.

    Attributes
    ----------
    judges
        One row a measure and judge: ``measure`` (``hallucination_auroc``, higher is better; ``relevance_rmse`` and so on,
        lower is better), ``judge, value, low, high, interval, confidence_level, n`` (records that every judge of the measure
        scored), ``n_units`` (independent ones among them), ``n_missing`` (records without this judge's value),
        ``n_records, warning``.
    comparisons
        One row a measure and pair of judges on the same records: ``difference`` (first - second), ``low, high, interval``,
        ``test, p_value, p_adjusted, correction, family_size`` (Holm over all rows), ``n, n_units, warning``. Of RMSE it is
        the difference of mean squared errors.
    """

    judges: pd.DataFrame
    comparisons: pd.DataFrame

    def _repr_html_(self) -> str:
        return join(
            [
                _table("Judges against labels", self.judges),
                _table("Judges against each other", self.comparisons),
            ]
        )


def trace_report(
    records: pd.DataFrame,
    judges: Mapping[str, Mapping[str, str]] | None = None,
    *,
    labels: Mapping[str, str] = LABELS,
    cluster: str | None = None,
    confidence_level: float = 0.95,
) -> TraceReport:
    """How far judges' TRACe scores stand for the labels, and which judge is nearer.

    Adherence is measured by the AUROC of *hallucination* (the label is "not adherent", the score 1 - predicted adherence),
    the other dimensions by the root mean squared error.

    Parameters
    ----------
    records
        One row a record, with the labels' columns and the judges'.
    judges
        Columns of predictions by judge and dimension: ``{"mine": {"adherence": "my_adherence", "relevance":
        "my_relevance"}}``; a judge need not have all four. By default the three judges whose predictions RAGBench carries.
    labels
        Columns of the labels by dimension.
    cluster
        Column whose values are the independent units, where several responses share a question. Only the comparison of two
        AUROC takes every record for independent all the same, which its ``warning`` says.
    confidence_level
        Of the intervals, in (0, 1).

    Raises
    ------
    InputError
        A missing column, an unknown dimension, predictions that are no numbers, or labels of adherence other than 0 and 1.

    Source: Friel et al. (2024), arXiv 2407.11005, section 5; but for the released helper's "utilization RMSE", which reads
    the relevance columns, and for its dropping of missing predictions judge by judge.
    """
    judges = JUDGES if judges is None else judges
    _check(records, judges, labels, cluster)
    found = [
        _dimension(records, dimension, label, judges, cluster, confidence_level)
        for dimension, label in labels.items()
        if any(dimension in columns for columns in judges.values())
    ]
    comparisons = pd.DataFrame([row for _, rows in found for row in rows])
    if len(comparisons):
        comparisons = comparisons.assign(**adjusted_columns(comparisons["p_value"]))
    return TraceReport(pd.DataFrame([row for rows, _ in found for row in rows]), comparisons)


def _dimension(
    records: pd.DataFrame,
    dimension: str,
    label: str,
    judges: Mapping[str, Mapping[str, str]],
    cluster: str | None,
    level: float,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of one dimension: each judge against the labels, and each pair of judges."""
    measure = _MEASURES[dimension == "adherence"]
    cell = {"measure": measure.name.format(dimension)}
    wanted = _numbers(records[label])
    if dimension == "adherence":
        _check_adherence(label, wanted)
    predicted = {
        name: _numbers(records[columns[dimension]])
        for name, columns in judges.items()
        if dimension in columns
    }
    common = np.isfinite(np.stack([wanted, *predicted.values()])).all(axis=0)
    units = _shared(records.loc[common, cluster]) if cluster else None
    n = {"n": int(common.sum())}
    rows, pairs = [], []
    for name, values in predicted.items():
        found = measure.value(wanted[common], values[common], units, level)
        counts = n | {
            "n_units": found.n,
            "n_missing": int((~np.isfinite(values)).sum()),
            "n_records": len(records),
        }
        rows.append(
            cell
            | {"judge": name}
            | _interval(found, "value")
            | counts
            | {"warning": _caution(units, found)}
        )
    for (one, first), (two, second) in combinations(predicted.items(), 2):
        interval, test = measure.difference(
            wanted[common], first[common], second[common], units, level
        )
        told = (
            _interval(interval, "difference")
            | _test(test)
            | n
            | {"n_units": test.n, "warning": test.warning}
        )
        pairs.append(cell | {"judge": one, "other": two} | told)
    return rows, pairs


def _shared(keys: pd.Series) -> Units:
    """The unit of each record; None where no two records share one."""
    return None if keys.is_unique else keys.to_numpy()


def _caution(units: Units, found: Interval) -> str:
    few = units is not None and found.n < FEW_CLUSTERS and not np.isnan(found.low)
    return (
        f"{found.n} clusters, fewer than {FEW_CLUSTERS}: the interval is too narrow" if few else ""
    )


# ---- the two measures --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Measure:
    name: str
    value: Callable[[Floats, Floats, Units, float], Interval]
    difference: Callable[
        [Floats, Floats, Floats, Units, float], tuple[Interval, SignificanceResult]
    ]


def _hallucination_auroc(wanted: Floats, predicted: Floats, units: Units, level: float) -> Interval:
    return auroc(wanted == 0, 1 - predicted, units, confidence_level=level)


def _auroc_difference(
    wanted: Floats, one: Floats, two: Floats, units: Units, level: float
) -> tuple[Interval, SignificanceResult]:
    scores = wanted == 0, 1 - one, 1 - two
    interval, test = (
        auroc_difference_interval(*scores, confidence_level=level),
        delong_test(*scores),
    )
    if units is None:
        return interval, test
    return interval, replace(
        test,
        warning="; ".join(filter(None, [test.warning, "DeLong takes records for independent"])),
    )


def _rmse(wanted: Floats, predicted: Floats, units: Units, level: float) -> Interval:
    return rmse(predicted, wanted, units, confidence_level=level)


def _mse_difference(
    wanted: Floats, one: Floats, two: Floats, units: Units, level: float
) -> tuple[Interval, SignificanceResult]:
    differences = (one - wanted) ** 2 - (two - wanted) ** 2
    if units is None:
        return mean_interval(differences, confidence_level=level), paired_t_test(differences)
    return mean_interval(differences, units, confidence_level=level), paired_t_test(
        differences, clusters=units
    )


_MEASURES = {
    True: _Measure("hallucination_auroc", _hallucination_auroc, _auroc_difference),
    False: _Measure("{}_rmse", _rmse, _mse_difference),
}


# ---- rows --------------------------------------------------------------------------------------------------------------


def _check(
    records: pd.DataFrame,
    judges: Mapping[str, Mapping[str, str]],
    labels: Mapping[str, str],
    cluster: str | None,
) -> None:
    if not all(isinstance(columns, Mapping) for columns in (judges, labels)) or not all(
        isinstance(columns, Mapping) for columns in judges.values()
    ):
        raise InputError(
            "trace_report needs judges and labels as mappings; got others; name columns by dimension"
        )
    unknown = sorted(
        {str(dimension) for columns in (labels, *judges.values()) for dimension in columns}
        - set(LABELS)
    )
    if unknown or not judges:
        got = ", ".join(unknown) or "no judge"
        raise InputError(
            f"trace_report needs judges of {', '.join(LABELS)}; got {got}; name columns by dimension"
        )
    columns = [
        *labels.values(),
        *(column for named in judges.values() for column in named.values()),
    ]
    require_columns(
        records, [*columns, *one_column(cluster, "trace_report(cluster=...)")], "trace_report"
    )


def _numbers(values: pd.Series) -> Floats:
    return numbers(values.to_frame(), str(values.name), "trace_report")


def _check_adherence(label: str, wanted: Floats) -> None:
    odd = wanted[np.isfinite(wanted) & (wanted != 0) & (wanted != 1)]
    if len(odd):
        raise InputError(
            f"trace_report needs labels of adherence that are 0 or 1; got {len(odd)} others in {label}, such as {odd[0]:g}; "
            "say which of them are adherent"
        )


def _interval(found: Interval, name: str) -> dict[str, Any]:
    return found.columns(name)


def _test(result: SignificanceResult) -> dict[str, Any]:
    told = {"test": result.method, "statistic": result.statistic, "p_value": result.p_value}
    return told | dict.fromkeys(ADJUSTED)


_NOT_SHOWN = {
    "problem",
    "confidence_level",
    "statistic",
    "correction",
    "family_size",
    "n_units",
    "n_records",
    "warning",
}


def _table(title: str, rows: pd.DataFrame) -> Markup:
    if rows.empty:
        return Markup("")
    shown = [name for name in rows if name not in _NOT_SHOWN]
    head = tag("tr", *(tag("th", name.replace("_", " ")) for name in shown))
    body = [
        tag("tr", *(tag("td", _printed(name, row[name])) for name in shown))
        for row in rows.to_dict("records")
    ]
    return tag("div", tag("p", tag("b", title)), tag("table", head, *body))


def _printed(name: str, value: Any) -> str:
    if name.startswith("p_"):
        return format_p_value(value)
    return f"{value:.3f}" if isinstance(value, float) else str(value)
