"""A judge against people: agreement and its ceiling, bias, calibration, and the worst disagreements."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ragnb.markup import Markup, join, tag
from ragnb.records import column_names, require_columns
from ragnb.reports.judge_agreement import (
    AGAINST,
    AMONG,
    AUROC,
    DIFFERENCE,
    SYMMETRIC,
    WITH,
    agreement,
    ceiling,
)
from ragnb.reports.judge_bias import OVERALL, bias, length_correlations
from ragnb.reports.judge_calibration import calibration, curve
from ragnb.reports.judge_data import Judged, read_judged
from ragnb.results import format_p_value

NO_CEILING = "Agreement between annotators: not available, with fewer than two annotators."


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """How far one judge or several can stand for people.

    Attributes
    ----------
    label
        The column of settled labels.
    annotators
        The columns of the annotators.
    clusters
        The column whose values are the independent units; None where responses are.
    labelled
        One row: ``label``, ``n`` (responses), ``n_labelled`` and ``n_left_out``, those without a label, which are no part of
        what is said of the judges against it.
    agreement
        One row a ``pair`` (judge and label, judge and annotator, annotator and annotator) and ``metric``: percent agreement,
        Cohen's kappa, Gwet's AC1, Krippendorff's alpha; of a judge sensitivity, specificity and precision too, and the AUROC
        where it gives scores. ``mean, low, high, interval, confidence_level``, ``n`` (responses with a label), ``n_scored``
        (those with a verdict, too), ``n_units``, ``worst_low, worst_high``: if all unscored were wrong, and all right.
    ceiling
        The judge's mean agreement with the annotators beside theirs among themselves, and the difference, all on the
        responses that the judge and every annotator rated; empty with fewer than two annotators.
    bias
        One row a judge and group: mean of the judge minus mean of the label, with the columns of `ragnb.compare`. ``by`` is
        ``"overall"``, a column, ``"response length"`` (thirds, in characters) or ``"own model"``; p-values are corrected
        over the groups of one ``by``.
    length
        Correlation of the judge's error (score - label) with the length of the response and its logarithm.
    calibration
        One row a judge: ``ece`` beside ``expected_if_calibrated`` (what a calibrated judge would show by chance, responses
        taken as independent), Brier score with interval, and a ``note`` on a judge of verdicts.
    curve
        The reliability curve, one row a judge and bin: ``mean_predicted``, and the observed share of 1 as ``mean``.
    worst
        The responses on which a judge's verdict is not the label, the widest gap first and, among equals, the more confident
        (``judge_confidence``); all columns, and ``judged_by, judge_score, judge_verdict, human_label, annotations``.
    """

    label: str
    annotators: tuple[str, ...]
    clusters: str | None
    labelled: pd.DataFrame
    agreement: pd.DataFrame
    ceiling: pd.DataFrame
    bias: pd.DataFrame
    length: pd.DataFrame
    calibration: pd.DataFrame
    curve: pd.DataFrame
    worst: pd.DataFrame

    @property
    def judges(self) -> tuple[str, ...]:
        """The columns of the judges."""
        return tuple(self.calibration["judge"])

    def lines(self) -> list[str]:
        """What a paper says of the judge, in sentences: sizes, agreement, ceiling, bias, calibration, intervals."""
        return [
            *(line for judge in self.judges for line in _judge_lines(self, judge)),
            *_annotator_lines(self),
            _how(self),
        ]

    def __repr__(self) -> str:
        return f"JudgeReport({', '.join(self.judges)} against {self.label}, {len(self.worst)} disagreements)"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        tables = [("Agreement", self.agreement, "pair"), ("Ceiling", self.ceiling, "of")]
        shown = [_grid(title, table, rows) for title, table, rows in tables if len(table)]
        return join([*shown, _bias_table(self.bias), *(tag("p", line) for line in self.lines())])


def judge_report(
    frame: pd.DataFrame,
    *,
    judge: str | Sequence[str] = "judged_correct",
    annotators: str | Sequence[str] = ("label",),
    label: str = "label",
    by: str | Sequence[str] | None = None,
    clusters: str | None = "example_id",
    threshold: float = 0.5,
    confidence_level: float = 0.95,
) -> JudgeReport:
    """Agreement, bias and calibration of judges against people's labels, each number with its interval.

    Parameters
    ----------
    frame
        One row per response. Responses without a label are left out and counted. The column ``response`` is used for the
        length of the response, and ``judge_confidence`` for the order of the disagreements. If ``judge_model`` and ``model``
        name the models, the judge's bias towards its own responses is reported separately.
    judge
        Columns of verdicts (0, 1) or scores in [0, 1]; ``nan`` means unscored.
    annotators
        Columns of each annotator's labels (0, 1, ``nan``). With two or more annotators, the agreement among them is the
        ceiling.
    label
        Column of the settled labels (0, 1, ``nan``), which are taken as true.
    by
        Columns that define the groups for which the bias is reported; by default ``language`` and ``system`` where they
        vary.
    clusters
        Column that names the independent units, such as the question that several systems answer. If one value occurs
        twice, all intervals are cluster-robust. Otherwise, and with None, the responses are taken as independent.
    threshold
        Scores of at least this value count as a verdict of 1; in (0, 1].
    confidence_level
        Confidence level of the intervals, in (0, 1).

    Raises
    ------
    InputError
        A column is missing, a label is neither 0 nor 1, a score is outside [0, 1], there is no label at all, a response
        appears twice, or a response has no cluster.

    Notes
    -----
    Shares have Wilson intervals. Kappa, AC1 and alpha have a jackknife interval over responses
    (`ragnb.stats.agreement.agreement_interval`), and the AUROC has DeLong's interval. With clusters, shares and the AUROC
    have a cluster-robust t interval, and the coefficients a jackknife interval over clusters. The mean agreement in the
    ceiling is taken over pairs, so that the judge is compared with each annotator in the same way as the annotators are
    compared with each other.

    Gwet's AC1 depends on the number of categories, and here 0 and 1 are the only ones. `ragnb.agreement` gives the same AC1
    for the same labels, because an option that none of the compared annotators chose is not a category there.

    >>> frame = pd.DataFrame({"example_id": range(8), "label": [1, 1, 1, 1, 0, 0, 0, 0], "judged_correct": [1, 1, 1, 0] * 2})
    >>> report = judge_report(frame)
    >>> report.agreement.set_index("metric").loc[["percent agreement", "sensitivity", "specificity"], "mean"].tolist()
    [0.5, 0.75, 0.25]
    """
    judges, people = (
        column_names(judge, "judge_report(judge=...)"),
        column_names(annotators, "judge_report(annotators=...)"),
    )
    groups = column_names(by, "judge_report(by=...)")
    require_columns(frame, groups, "judge_report(by=...)")
    judged = read_judged(frame, judges, people, label, clusters, threshold, confidence_level)
    return JudgeReport(
        label=label,
        annotators=tuple(people),
        clusters=None if judged.units is None else clusters,
        labelled=_labelled(judged),
        agreement=agreement(judged),
        ceiling=ceiling(judged),
        bias=bias(judged, None if by is None else groups),
        length=length_correlations(judged),
        calibration=calibration(judged),
        curve=curve(judged),
        worst=_worst(judged),
    )


def _labelled(judged: Judged) -> pd.DataFrame:
    n, left_out = len(judged.labels), int(np.isnan(judged.labels).sum())
    return pd.DataFrame(
        {"label": [judged.label], "n": [n], "n_labelled": [n - left_out], "n_left_out": [left_out]}
    )


# ---- the worst disagreements -------------------------------------------------------------------------------------------


def _worst(judged: Judged) -> pd.DataFrame:
    found = pd.concat([_disagreements(judged, judge) for judge in judged.scores], ignore_index=True)
    sure = ["judge_confidence"] if "judge_confidence" in found else []
    order = ["disagreement", *sure]
    return found.sort_values(order, ascending=False, kind="stable", ignore_index=True)


def _disagreements(judged: Judged, judge: str) -> pd.DataFrame:
    verdicts, scores = judged.verdicts(judge), judged.scores[judge]
    apart = ~np.isnan(verdicts) & ~np.isnan(judged.labels) & (verdicts != judged.labels)
    told = {
        name: values[apart].tolist()
        for name, values in judged.annotators.items()
        if name != judged.label
    }
    people = (
        [dict(zip(told, row, strict=True)) for row in zip(*told.values(), strict=True)]
        if told
        else None
    )
    return judged.frame[apart].assign(
        judged_by=judge,
        judge_score=scores[apart],
        judge_verdict=verdicts[apart],
        human_label=judged.labels[apart],
        annotations=people if people else [{}] * int(apart.sum()),
        disagreement=np.abs(scores - judged.labels)[apart],
    )


# ---- what a paper says -------------------------------------------------------------------------------------------------

_Rows = Mapping[str, Mapping[str, Any]]
"""Rows of a table by measure."""


def _by_metric(table: pd.DataFrame) -> _Rows:
    return {row["metric"]: row for row in table.to_dict("records")}


def _with_limits(row: Mapping[str, Any], *, signed: bool = False, name: str = "mean") -> str:
    """``0.81 [0.70, 0.92]``, without limits where there are none."""
    if np.isnan(row[name]):
        return "undefined"
    sign = "+" if signed else ""
    limits = "" if np.isnan(row["low"]) else f" [{row['low']:{sign}.3f}, {row['high']:{sign}.3f}]"
    return f"{row[name]:{sign}.3f}{limits}"


def _listing(rows: _Rows, names: Sequence[str], *, signed: bool = False) -> str:
    return ", ".join(
        f"{name} {_with_limits(rows[name], signed=signed)}" for name in names if name in rows
    )


def _judge_lines(report: JudgeReport, judge: str) -> Iterator[str]:
    pairs = report.agreement
    rows = _by_metric(pairs[(pairs["rater"] == judge) & (pairs["against"] == report.label)])
    left_out = _left_out(report)
    yield f"{judge} against {report.label}: {_listing(rows, [*SYMMETRIC, *AGAINST, AUROC])}; {_counts(rows)}{left_out}."
    yield from _ceiling_lines(report, judge)
    yield from _bias_lines(report, judge)
    yield _calibration_line(report, judge)


def _counts(rows: _Rows) -> str:
    one = rows["percent agreement"]
    left = one["n"] - one["n_scored"]
    if not left:
        return f"n = {one['n']}, none unscored"
    bounds = (
        f"{one['worst_low']:.3f} if these were all wrong, {one['worst_high']:.3f} if all were right"
    )
    return f"n = {one['n_scored']} of {one['n']}, {left} unscored (agreement {bounds})"


def _left_out(report: JudgeReport) -> str:
    row = report.labelled.iloc[0]
    return (
        f"; {row['n_left_out']} of {row['n']} without a label left out" if row["n_left_out"] else ""
    )


def _ceiling_lines(report: JudgeReport, judge: str) -> Iterator[str]:
    rows = report.ceiling[report.ceiling["judge"] == judge]
    if rows.empty:
        return
    own, theirs, apart = (
        _by_metric(rows[rows["of"] == part]) for part in (WITH, AMONG, DIFFERENCE)
    )
    told = [
        f"{name} {_with_limits(own[name])} against {_with_limits(theirs[name])} among annotators, difference "
        f"{_with_limits(apart[name], signed=True)}"
        for name in SYMMETRIC
    ]
    yield f"{judge} with the annotators, on the {rows['n'].iloc[0]} responses that all of them rated: {'; '.join(told)}."


def _bias_lines(report: JudgeReport, judge: str) -> Iterator[str]:
    rows = report.bias[report.bias["judge"] == judge]
    for row in rows[rows["by"] == OVERALL].to_dict("records"):
        means = f"{row['mean']:.3f} against {row['baseline_mean']:.3f}"
        yield (
            f"Bias of {judge} (its mean minus that of {report.label}): {_with_limits(row, signed=True, name='difference')}, "
            f"{means}, {format_p_value(row['p_value'])} ({row['test']})."
        )
    for name, groups in rows[rows["by"] != OVERALL].groupby("by", sort=False):
        told = [
            f"{row['group']} {_with_limits(row, signed=True, name='difference')}, {format_p_value(row['p_adjusted'])}"
            for row in groups.to_dict("records")
        ]
        yield f"Bias of {judge} by {name} (p by Holm over {groups['family_size'].max()}): {'; '.join(told)}."
    if len(rows := report.length[report.length["judge"] == judge]):
        yield f"Correlation of {judge}'s {_listing(_by_metric(rows), list(rows['metric']), signed=True)}."


def _calibration_line(report: JudgeReport, judge: str) -> str:
    row = report.calibration.set_index("judge").loc[judge]
    brier = {"mean": row["brier"], "low": row["brier_low"], "high": row["brier_high"]}
    if row["note"]:
        return f"Calibration of {judge}: {row['note']}; Brier score {_with_limits(brier)}."
    return (
        f"Calibration of {judge}: expected calibration error {row['ece']:.3f} in {row['n_bins']} bins, of which "
        f"{row['expected_if_calibrated']:.3f} would be seen if it were calibrated; Brier score {_with_limits(brier)}."
    )


def _annotator_lines(report: JudgeReport) -> Iterator[str]:
    if len(report.annotators) < 2:
        yield NO_CEILING
    between = report.agreement[~report.agreement["rater"].isin(report.judges)]
    for pair, table in between.groupby("pair", sort=False):
        yield f"Annotators {pair}: {_listing(_by_metric(table), list(SYMMETRIC))}; n = {table['n'].iloc[0]}."


def _how(report: JudgeReport) -> str:
    kinds = [
        *report.agreement["interval"],
        *report.bias["interval"],
        *report.calibration["interval"],
    ]
    named = "; ".join(dict.fromkeys(kinds))
    over = f"clusters: {report.clusters}" if report.clusters else "responses taken as independent"
    return f"Intervals: {report.agreement['confidence_level'].iloc[0]:.0%}, {over}: {named}."


# ---- how it is shown ---------------------------------------------------------------------------------------------------


def _grid(title: str, table: pd.DataFrame, rows: str) -> Markup:
    """Pairs by measures, each number with its interval and what it rests on."""
    keys = ["judge", rows] if "judge" in table else [rows]
    metrics = list(dict.fromkeys(table["metric"]))
    head = tag("tr", *(tag("th", name) for name in [*keys, *metrics, "n"]))
    body = []
    for _, group in table.groupby(keys, sort=False):
        found, one = _by_metric(group), group.iloc[0]
        numbers = [
            tag("td", _with_limits(found[name]) if name in found else "") for name in metrics
        ]
        counted = f"{one['n_scored']} of {one['n']}" if one["n_scored"] < one["n"] else one["n"]
        body.append(
            tag("tr", *(tag("td", one[name]) for name in keys), *numbers, tag("td", counted))
        )
    return tag("div", tag("p", tag("b", title)), tag("table", head, *body))


def _bias_table(table: pd.DataFrame) -> Markup:
    head = tag(
        "tr",
        *(tag("th", name) for name in ("judge", "by", "group", "judge - label", "adjusted p", "n")),
    )
    body = [
        tag("tr", *(tag("td", text) for text in (
            row["judge"], row["by"], row["group"], _with_limits(row, signed=True, name="difference"),
            format_p_value(row["p_adjusted"]), row["n_pairs"],
        )))
        for row in table.to_dict("records")
    ]  # fmt: skip
    return tag("div", tag("p", tag("b", "Bias")), tag("table", head, *body))
