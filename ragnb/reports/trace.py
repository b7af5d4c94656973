"""TRACe scores of each system, and judges compared with the labels on the same records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import Floats, accepts
from ragnb.columns import column_names, require_columns
from ragnb.errors import InputError
from ragnb.metrics.record import METRICS
from ragnb.metrics.trace_labels import VARIANTS
from ragnb.reports.frames import Report, TablesAndLines
from ragnb.results import Interval, SignificanceResult
from ragnb.scoring.columns import numbers
from ragnb.scoring.scores import score
from ragnb.scoring.summaries import summarize
from ragnb.stats.intervals import FEW_CLUSTERS, mean_interval
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns
from ragnb.stats.paired import t_or_sign_flip_test
from ragnb.stats.prediction import auroc, compare_auroc, rmse

# The metrics of a system, which are computed from the labels of the sentences.
SCORES = (
    "trace.relevance",
    "trace.utilization",
    "trace.completeness",
    "trace.adherence",
    "trace.average",
    "trace.rmse_to_ideal",
    "trace.consistency",
)

# Columns of the labels, by dimension.
LABELS = {
    "adherence": "adherence_score",
    "relevance": "relevance_score",
    "utilization": "utilization_score",
    "completeness": "completeness_score",
}

# Columns of the predictions that the dataset carries, by judge and dimension.
JUDGES = {
    "gpt-3.5": {
        "adherence": "gpt3_adherence",
        "relevance": "gpt3_context_relevance",
        "utilization": "gpt35_utilization",
    },
    "ragas": {"adherence": "ragas_faithfulness", "relevance": "ragas_context_relevance"},
    "trulens": {"adherence": "trulens_groundedness", "relevance": "trulens_context_relevance"},
}


@dataclass(frozen=True, slots=True, repr=False)
class TraceReport(Report):
    """The scores of each system, and judges against labels.

    Attributes
    ----------
    results
        One row for each system and each of `SCORES`, as `ragnb.summarize` returns it. Empty if the
        records have no labels of sentences.
    judges
        One row for each measure and judge: ``measure`` (``hallucination_auroc``, higher is better;
        ``relevance_rmse`` and so on, lower is better), ``judge, value, low, high, interval,
        confidence_level, n`` (records that all judges of the measure scored), ``n_units``
        (independent ones among them), ``n_missing`` (records without this judge's value),
        ``n_records, warning``.
    comparisons
        One row for each measure and pair of judges on the same records: ``difference`` (first -
        second), ``low, high, interval``, ``test, p_value, p_adjusted, correction, family_size``
        (Holm over all rows), ``n, n_units, warning``. For RMSE it is the difference of the mean
        squared errors.
    """

    results: pd.DataFrame
    judges: pd.DataFrame
    comparisons: pd.DataFrame

    def _tables_and_lines(self) -> TablesAndLines:
        tables = {
            "Scores of each system": self.results,
            "Judges against labels": self.judges,
            "Pairs of judges": self.comparisons,
        }
        return tables, []


@accepts(confidence_level="level", variant=VARIANTS)
def trace_report(
    records: pd.DataFrame,
    judges: Mapping[str, Mapping[str, str]] | None = None,
    *,
    variant: str = "ragbench",
    cluster: str | None = None,
    confidence_level: float = 0.95,
) -> TraceReport:
    """Report the TRACe scores of each system, and compare judges' scores with the labels.

    The scores of a system are computed from the labels of the sentences. They are relevance,
    utilization, completeness and adherence, their average, their root mean square distance from the
    ideal value 1, and the consistency.

    A judge's adherence is measured by the AUROC for *hallucination*: the positive label is "not
    adherent", and the score is 1 - predicted adherence. The other dimensions are measured by the
    root mean squared error.

    Parameters
    ----------
    records
        One row per record, with the labels of the sentences (for the scores of the systems), with
        the columns `judges` and the labels ``adherence_score``, ``relevance_score``,
        ``utilization_score`` and ``completeness_score`` (for the comparison), or with both.
    judges
        Columns of predictions by judge and dimension: ``{"mine": {"adherence": "my_adherence",
        "relevance": "my_relevance"}}``. A judge need not have all four dimensions. By default,
        the columns of RAGBench's three judges that the records contain.
    variant
        Definition of the scores of the systems; see `ragnb.metrics.trace`.
    cluster
        Column whose values are the independent units, such as the question that several responses
        share. Only the comparison of two AUROCs treats all records as independent, and its
        ``warning`` states this.
    confidence_level
        Confidence level of the intervals, in (0, 1).

    Raises
    ------
    InputError
        A column is missing, a dimension is unknown, a prediction is not a number, or a label of
        adherence is neither 0 nor 1.

    References
    ----------
    Friel et al. (2024), arXiv 2407.11005, section 5. The "utilization RMSE" of the released helper
    reads the relevance columns, and it drops missing predictions judge by judge; this report does
    neither.
    """
    keys = column_names(cluster)
    require_columns(records, keys, "trace_report")
    results = _results(records, variant, cluster, confidence_level)
    if judges is None:
        judges = _with_values(records)
        if not judges:
            # There may be nothing to compare, but then there must be labels of sentences.
            if results.empty and len(records):
                raise InputError(
                    "trace_report needs the labels of RAGBench, such as all_relevant_sentence_keys, or scores of "
                    "judges, got a frame without them; load labelled records with ragnb.load_ragbench, or label "
                    "responses with ragnb.label_trace"
                )
            return TraceReport(results, pd.DataFrame(), pd.DataFrame())
    values = _values_of_judges(records, judges)
    judge_rows: list[dict[str, Any]] = []
    pair_rows: list[dict[str, Any]] = []
    for dimension in LABELS:
        # Only the judges that have this dimension.
        predictions = {}
        for judge, columns in judges.items():
            if dimension in columns:
                predictions[judge] = values[columns[dimension]]
        if predictions:
            common = _common_records(records, dimension, values, predictions, cluster)
            judge_rows += _judge_rows(common, confidence_level)
            pair_rows += _pair_rows(common, confidence_level)
    comparisons = pd.DataFrame(pair_rows)
    if pair_rows:
        comparisons = comparisons.assign(**adjusted_columns(comparisons["p_value"]))
    return TraceReport(results, pd.DataFrame(judge_rows), comparisons)


def _values_of_judges(
    records: pd.DataFrame, judges: Mapping[str, Mapping[str, str]]
) -> dict[str, Floats]:
    """The numbers in the columns of the judges and of the labels, by the name of the column.

    `judges` maps each judge to a mapping from dimension to column, as for `trace_report`. InputError is raised
    if it names no column, an unknown dimension, or a column that is not in the records.
    """
    dimensions = {dimension for columns in judges.values() for dimension in columns}
    unknown = sorted(dimensions - set(LABELS))
    if unknown or not judges:
        raise InputError(
            f"judges must name a column for one or more of {', '.join(LABELS)}, got "
            f"{', '.join(unknown) or 'no judge'}"
        )
    for judge, columns in judges.items():
        if not columns:
            raise InputError(
                f"judges must name a column for one or more of {', '.join(LABELS)}, got none for {judge!r}"
            )
    # A prediction is compared with the label of its dimension, so both are needed.
    names = []
    for columns in judges.values():
        for dimension, column in columns.items():
            names += [LABELS[dimension], column]
    require_columns(records, names, "trace_report")
    return {name: numbers(records, name, "trace_report") for name in names}


@dataclass(frozen=True, slots=True)
class _CommonRecords:
    """The records that all judges of a dimension scored and that have a label.

    ``units`` has the independent unit of each record. It is None if each record is a unit of its
    own. ``n_missing`` has the number of records without a value of a judge, and ``n_records`` the
    number of all records.
    """

    dimension: str
    labels: Floats
    scores: Mapping[str, Floats]
    units: Any
    n_missing: Mapping[str, int]
    n_records: int

    @property
    def measure(self) -> str:
        """Name of the measure in the report."""
        if self.dimension == "adherence":
            return "hallucination_auroc"
        return f"{self.dimension}_rmse"


def _common_records(
    records: pd.DataFrame,
    dimension: str,
    values: Mapping[str, Floats],
    predictions: Mapping[str, Floats],
    cluster: str | None,
) -> _CommonRecords:
    """Select the records that have a label and a score of every judge of a dimension.

    `values` are the numbers of all columns by name, and `predictions` those of each judge. `cluster` is the column
    of the independent units; None if the records are independent.
    """
    labels = values[LABELS[dimension]]
    if dimension == "adherence":
        _require_verdicts(labels, LABELS[dimension])
    # One row for the labels and for each judge, one column per record.
    labels_and_scores = np.stack([labels, *predictions.values()])
    is_common = np.isfinite(labels_and_scores).all(axis=0)
    units = None
    if cluster:
        keys = records.loc[is_common, cluster]
        # With one record per cluster, the records are independent.
        units = None if keys.is_unique else keys.to_numpy()
    n_missing = {judge: int((~np.isfinite(scores)).sum()) for judge, scores in predictions.items()}
    return _CommonRecords(
        dimension=dimension,
        labels=labels[is_common],
        scores={judge: scores[is_common] for judge, scores in predictions.items()},
        units=units,
        n_missing=n_missing,
        n_records=len(records),
    )


def _judge_rows(common: _CommonRecords, level: float) -> Iterator[dict[str, Any]]:
    """Yield the row of each judge in `TraceReport.judges`."""
    for judge, scores in common.scores.items():
        interval = _measure(common.dimension, common.labels, scores, common.units, level)
        has_interval = not np.isnan(interval.low)
        warning = ""
        if common.units is not None and interval.n < FEW_CLUSTERS and has_interval:
            warning = (
                f"{interval.n} clusters, fewer than {FEW_CLUSTERS}: the interval is too narrow"
            )
        yield {
            "measure": common.measure,
            "judge": judge,
            **interval.columns("value"),
            "n": common.labels.size,
            "n_units": interval.n,
            "n_missing": common.n_missing[judge],
            "n_records": common.n_records,
            "warning": warning,
        }


def _pair_rows(common: _CommonRecords, level: float) -> Iterator[dict[str, Any]]:
    """Yield the row of each pair of judges in `TraceReport.comparisons`."""
    for first, second in combinations(common.scores, 2):
        interval, test = _difference(
            common.dimension,
            common.labels,
            common.scores[first],
            common.scores[second],
            common.units,
            level,
        )
        yield {
            "measure": common.measure,
            "judge": first,
            "other": second,
            **interval.columns("difference"),
            "test": test.method,
            "statistic": test.statistic,
            "p_value": test.p_value,
            # `trace_report` fills these columns, because the correction is over all rows.
            **dict.fromkeys(ADJUSTED),
            "n": common.labels.size,
            "n_units": test.n,
            "warning": test.warning,
        }


def _require_verdicts(labels: Floats, name: str) -> None:
    """Raise InputError unless the labels of adherence are 0 or 1."""
    not_allowed = labels[np.isfinite(labels) & ~np.isin(labels, (0, 1))]
    if len(not_allowed):
        raise InputError(
            f"trace_report needs labels of adherence that are 0 or 1, got {len(not_allowed)} others in "
            f"{name}, such as {not_allowed[0]:g}"
        )


def _measure(dimension: str, labels: Floats, scores: Floats, units: Any, level: float) -> Interval:
    """AUROC for hallucinations, or RMSE of the other dimensions.

    `labels` and `scores` have one value per record. `units` has the independent unit of each record; None if the
    records are independent. `level` is the confidence level.
    """
    if dimension == "adherence":
        # The positive class is a hallucination: label 0. A low predicted adherence indicates it.
        return auroc(labels == 0, 1 - scores, units, confidence_level=level)
    return rmse(scores, labels, units, confidence_level=level)


def _results(
    records: pd.DataFrame, variant: str, cluster: str | None, level: float
) -> pd.DataFrame:
    """Summarise the scores of each system; an empty frame if there are no labels of sentences."""
    # The columns that the scores need under this variant.
    needed = set()
    for name in SCORES:
        metric = METRICS[name]
        for argument, column in metric.columns.items():
            if metric.needs(argument, {"variant": variant}):
                needed.add(column)
    has_columns = needed <= set(records)
    if not has_columns or records[list(needed)].isna().all(axis=None):
        return pd.DataFrame()
    by = ["system"] if "system" in records else []
    scores = score(records, SCORES, variant=variant)
    return summarize(scores, by=by, cluster=cluster, confidence_level=level)


def _with_values(records: pd.DataFrame) -> dict[str, dict[str, str]]:
    """The judges of RAGBench in the records: judge -> dimension -> column.

    A column counts if at least one record has both its value and the label.
    """
    judges: dict[str, dict[str, str]] = {}
    for name, columns in JUDGES.items():
        for dimension, column in columns.items():
            # A column that the records lack becomes an empty one.
            pair = records.reindex(columns=[column, LABELS[dimension]])
            has_both = pair.notna().all(axis=1)
            if has_both.any():
                judges.setdefault(name, {})[dimension] = column
    return judges


def _difference(
    dimension: str, labels: Floats, first: Floats, second: Floats, units: Any, level: float
) -> tuple[Interval, SignificanceResult]:
    """The difference between two judges in one dimension, and its test.

    It is the AUROC of the first judge minus that of the second one or, in other dimensions than adherence, the
    difference of the mean squared errors. The arguments are those of `_measure`, with the scores of two judges.
    """
    if dimension != "adherence":
        # Scores and labels are in [0, 1], so the difference of two squared errors is in [-1, 1].
        squared_error_difference = (first - labels) ** 2 - (second - labels) ** 2
        interval = mean_interval(
            squared_error_difference, units, bounds=(-1.0, 1.0), confidence_level=level
        )
        return interval, t_or_sign_flip_test(squared_error_difference, clusters=units)
    # The positive class is a hallucination: label 0. A low predicted adherence indicates it.
    interval, test = compare_auroc(labels == 0, 1 - first, 1 - second, confidence_level=level)
    # The AUROCs are compared by DeLong's test, which has no form for clusters.
    if units is not None:
        caution = "DeLong's test treats records as independent"
        test = replace(test, warning="; ".join(filter(None, [test.warning, caution])))
    return interval, test
