"""Comparison of judges with people: verdicts with labels, and scores with grades."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import Booleans, Floats, Integers, accepts
from ragnb.cells import records_of
from ragnb.columns import CONDITION, column_names, require_columns
from ragnb.errors import InputError
from ragnb.printing import warn
from ragnb.reports.frames import (
    Report,
    TablesAndLines,
    agreement_intervals,
    as_frame,
    interval_columns,
    share,
    without_clusters,
)
from ragnb.reports.judge_columns import (
    shared_units,
    unit_numbers,
    verdict_numbers,
    warn_of_different_items,
)
from ragnb.results import Interval
from ragnb.scoring.comparisons import compare
from ragnb.stats.prediction import (
    auroc,
    brier_score,
    expected_calibration_error,
    reliability_curve,
)
from ragnb.text import graphemes
from ragnb.version import __version__


@dataclass(frozen=True, slots=True, repr=False)
class JudgeReport(Report):
    """Report on how well one or several judges agree with people.

    Attributes
    ----------
    label
        Column of the settled labels.
    annotators
        Columns of the annotators.
    clusters
        Column whose values are the independent units; None if the responses are.
    labelled
        One row: ``label``, ``n`` (responses), ``n_labelled`` and ``n_left_out``. Responses without
        a label are not used where judges are compared with it.
    agreement
        One row for each ``pair`` (judge and label, judge and annotator, two annotators) and
        ``metric``: percent agreement, Cohen's kappa, Gwet's AC1 and Krippendorff's alpha. For
        judges also sensitivity, specificity and precision, and the AUROC if the judge gives
        scores. Columns: ``mean, low, high, interval, confidence_level, n_units``, ``n`` (responses
        with a label), ``n_scored`` (of these, with a verdict), and ``worst_low, worst_high``: the
        values if all missing verdicts were wrong, and if all were right.
    versions
        One row for each judge and version of it: ``judge, version, n`` (responses with a verdict).
        The version is the model with the name, the version and the checksum of its prompt, as
        `ragnb.judge_responses` writes it into ``judge_signature``. Empty if no column has it.
    bias
        One row for each judge and group: mean of the judge minus mean of the label, with the
        columns of `ragnb.compare`. ``by`` is ``"overall"``, a column, ``"response length"``
        (thirds, in characters) or, with `length_within`, ``"response length within system"``.
        P-values are corrected over the groups of one ``by``.
    error_rates
        One row for each judge, group and ``metric``, which is the sensitivity (share of the correct
        answers that the judge accepts) or the specificity (share of the incorrect answers that it
        rejects): ``mean, low, high, interval, confidence_level, n_units`` and ``n`` (responses
        with this label and a verdict). ``by`` and ``group`` are those of ``bias``. Errors of the
        two kinds cancel in the bias, and here they do not.
    calibration
        One row for each judge: ``ece``, ``expected_if_calibrated`` (what a calibrated judge would
        show by chance if responses are independent), and the Brier score ``brier`` with its
        interval.
    worst
        The responses on which a judge's verdict is not the label, the largest difference first.
        All columns, and ``judged_by, judge_score, judge_verdict, human_label, annotations``.
    """

    label: str
    annotators: tuple[str, ...]
    clusters: str | None
    labelled: pd.DataFrame
    versions: pd.DataFrame
    agreement: pd.DataFrame
    bias: pd.DataFrame
    error_rates: pd.DataFrame
    calibration: pd.DataFrame
    worst: pd.DataFrame

    def _tables_and_lines(self) -> TablesAndLines:
        interval = ["low", "high", "interval", "confidence_level"]
        pair = ["pair", "metric", "mean", *interval, "n_scored", "n", "worst_low", "worst_high"]
        group = ["judge", "by", "group", "difference", *interval, "p_adjusted", "test", "n_pairs"]
        tables = {
            "Agreement": self.agreement[pair],
            "Bias: judge minus label": self.bias[group],
            "Calibration": self.calibration.drop(columns="signature"),
        }
        counts = self.labelled.iloc[0]
        units = self.clusters or "the responses"
        line = (
            f"{counts['n_labelled']} of {counts['n']} responses have a label; the independent units "
            f"are {units}."
        )
        versions = self.versions.to_dict("records")
        lines = [f"{row['judge']}: {row['n']} verdicts of {row['version']}." for row in versions]
        return tables, [line, *lines]


@accepts(threshold="share", confidence_level="level")
def judge_report(
    frame: pd.DataFrame,
    *,
    judge: str | Sequence[str] = "judged_correct",
    annotators: str | Sequence[str] | None = None,
    label: str = "label",
    by: str | Sequence[str] | None = None,
    length_within: str | None = None,
    clusters: str | None = "example_id",
    threshold: float = 0.5,
    confidence_level: float = 0.95,
) -> JudgeReport:
    """Agreement, bias and calibration of judges against people's labels, with intervals.

    Parameters
    ----------
    frame
        One row per response, or per part of a response (``part_id``). Responses without a label
        are left out and counted. The column ``response`` is used for the length of the response.
    judge
        Columns of verdicts (0, 1) or scores in [0, 1]; ``nan`` means unscored.
    annotators
        Columns of each annotator's labels (0, 1, ``nan``); by default `label`. With two or more
        annotators, their agreement with each other is reported as well.
    label
        Column of the settled labels, which are taken as true: 0, 1 and ``nan``, or the words
        ``"correct"``, ``"incorrect"`` and ``"refuse"``. For grades, such as 1 to 4, use
        `ragnb.graded_report`.
    by
        Columns that define the groups for which the bias is reported; by default ``language`` and
        ``system`` where they vary.
    length_within
        Column such as ``"system"``. The responses of each of its values are also divided into thirds
        by their own length. Systems differ in length and in their error rates, so that a difference
        between thirds of all responses can be one between systems.
    clusters
        Column that names the independent units, such as the question that several systems answer.
        An interval is cluster-robust if a value occurs twice among its responses. Otherwise, and
        with None, the responses are taken as independent.
    threshold
        Scores of at least this value count as a verdict of 1; in [0, 1].
    confidence_level
        Confidence level of the intervals, in (0, 1).

    Raises
    ------
    InputError
        A column is missing, a label is neither 0 nor 1, a score is outside [0, 1], there is no
        label at all, a response appears twice, or a response has no cluster.

    Warns
    -----
    UserWarning
        Several judges did not judge the same responses (compare them with `ragnb.compare_judges`), or
        the verdicts of one judge come from several versions of its prompt or model.

    Notes
    -----
    Proportions have Wilson intervals. Kappa, AC1 and alpha have a jackknife interval over
    responses (`ragnb.stats.agreement.agreement_interval`), and the AUROC has DeLong's interval.
    With clusters, proportions and the AUROC have a cluster-robust t interval, and the coefficients
    a jackknife interval over clusters.

    Gwet's AC1 depends on the number of categories, and here 0 and 1 are the only ones.
    `ragnb.agreement` gives the same AC1 for the same labels, because an option that none of the
    compared annotators chose is not a category there.

    >>> labels, verdicts = [1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0] * 2
    >>> frame = pd.DataFrame({"example_id": range(8), "label": labels, "judged_correct": verdicts})
    >>> table = judge_report(frame).agreement.set_index("metric")
    >>> table.loc[["percent agreement", "sensitivity", "specificity"], "mean"].tolist()
    [0.5, 0.75, 0.25]
    """
    judges = column_names(judge)
    people = column_names(label if annotators is None else annotators)
    groups = column_names(by)
    needed = [*judges, *people, label, *column_names(clusters), *groups]
    needed += column_names(length_within)
    require_columns(frame, dict.fromkeys(needed), "judge_report")
    if not judges or {*judges} & {label, *people}:
        raise InputError(
            "judge_report needs at least one judge, which is neither the label nor an annotator, "
            f"got {', '.join(judges) or 'none'}"
        )
    if "example_id" in frame:
        keys = ("example_id", "part_id", *CONDITION, "repeat", "model")
        identifying = [name for name in keys if name in frame]
        require_columns(frame, (), "judge_report", unique=identifying)
    labels = _values(frame, label, "labels", binary=True)
    if np.isnan(labels).all():
        raise InputError(
            f"judge_report needs labels, got none in {label} on {len(frame)} responses"
        )
    scores = {name: _values(frame, name, "verdicts or scores") for name in judges}
    labels_of_people = {name: _values(frame, name, "labels", binary=True) for name in people}
    warn_of_different_items(scores, labels, "compare them with ragnb.compare_judges")
    versions = _versions(frame, scores)
    judged = _Judged(
        frame=frame.reset_index(drop=True),
        label=label,
        labels=labels,
        scores=scores,
        annotators=labels_of_people,
        units=unit_numbers(frame, clusters, "judge_report"),
        threshold=threshold,
        level=confidence_level,
        versions=versions,
        length_within=length_within,
    )
    n = len(labels)
    n_labelled = int((~np.isnan(labels)).sum())
    # Without `by`, each part of the report chooses its groups; an empty list would mean none.
    by_groups = None if by is None else groups
    counts = {"label": label, "n": n, "n_labelled": n_labelled, "n_left_out": n - n_labelled}
    return JudgeReport(
        label=label,
        annotators=tuple(people),
        clusters=None if judged.units is None else clusters,
        labelled=pd.DataFrame([counts]),
        versions=versions,
        agreement=as_frame(_agreement(judged)),
        bias=_bias(judged, by_groups),
        error_rates=as_frame(_error_rates(judged, by_groups)),
        calibration=as_frame(_calibration(judged)),
        worst=_worst(judged),
    )


# ---- the data ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Judged:
    """Responses with labels (1, 0 or nan) and scores (in [0, 1] or nan) as arrays.

    ``units`` has a number for the independent unit of each response. It is None if each response
    is a unit of its own.
    """

    frame: pd.DataFrame
    label: str
    labels: Floats
    scores: dict[str, Floats]
    annotators: dict[str, Floats]
    units: Integers | None
    threshold: float
    level: float
    versions: pd.DataFrame
    length_within: str | None

    def verdicts(self, scores: Floats) -> Floats:
        """Scores as verdicts: 1 for a score of at least the threshold, else 0. nan stays nan."""
        return np.where(np.isnan(scores), np.nan, scores >= self.threshold)

    def graded(self, judge: str) -> bool:
        """Whether a judge gives other scores than 0 and 1."""
        scores = self.scores[judge]
        present_scores = scores[~np.isnan(scores)]
        return not np.isin(present_scores, (0, 1)).all()

    def units_of(self, rows: Booleans | Integers) -> Integers | None:
        """The independent units of some of the responses; None if no two of them share a unit."""
        return None if self.units is None else shared_units(self.units[rows])

    def signature(self, judge: str) -> str:
        """The signature of a judge's numbers: columns, versions of the judge and, for scores, the threshold."""
        versions = self.versions.loc[self.versions["judge"] == judge, "version"]
        version = f"|version:{' & '.join(versions)}" if len(versions) else ""
        cut = f"|threshold:{self.threshold:g}" if self.graded(judge) else ""
        return f"ragnb:{__version__}|judge:{judge}{version}|label:{self.label}{cut}"


def _versions(frame: pd.DataFrame, scores: dict[str, Floats]) -> pd.DataFrame:
    """Versions of each judge with the numbers of their verdicts; a warning if a judge has several.

    The version of a judge is in the column ``<judge>_signature``. ``judge_signature`` is the version of the
    only judge, or else of the only one whose verdicts are in a column of `ragnb.judge_responses`.
    """
    of_models = [judge for judge in scores if judge.startswith("judged_")]
    candidates = list(scores) if len(scores) == 1 else of_models
    rows: list[dict[str, Any]] = []
    for judge, values in scores.items():
        column = f"{judge}_signature"
        if column not in frame and candidates == [judge]:
            column = "judge_signature"
        if column not in frame:
            continue
        counts = frame.loc[~np.isnan(values), column].value_counts(sort=False)
        for version, n in counts.items():
            rows.append({"judge": judge, "version": str(version), "n": int(n)})
        if len(counts) > 1:
            warn(
                f"the verdicts in {judge} come from {len(counts)} versions of the judge "
                f"({', '.join(map(str, counts.index))}); use by={column!r} to report each of them"
            )
    return pd.DataFrame(rows, columns=["judge", "version", "n"])


def _values(frame: pd.DataFrame, column: str, kind: str, binary: bool = False) -> Floats:
    """Return a column as floats in [0, 1], with nan for missing values.

    `kind` names the values in a message, such as "labels". With `binary`, only 0 and 1 are allowed.
    """
    values = verdict_numbers(frame, column, "judge_report")
    allowed = np.isin(values, (0, 1)) if binary else (values >= 0) & (values <= 1)
    not_allowed = values[~np.isnan(values) & ~allowed]
    if not_allowed.size:
        span = "1, 0 or nan" if binary else "from 0 to 1 or nan"
        raise InputError(
            f"judge_report needs {kind} ({span}) in {column}, got {not_allowed[0]:g}; for grades, use "
            "ragnb.graded_report"
        )
    return values


# ---- agreement -----------------------------------------------------------------------------------


def _agreement(judged: _Judged) -> Iterator[dict[str, Any]]:
    """Yield one row for each pair of raters and measure.

    A rater is a judge, the settled label or an annotator. Judges are compared with the label and with each
    annotator, and annotators with each other.
    """
    labels_of_people = {judged.label: judged.labels} | judged.annotators
    ratings = judged.scores | labels_of_people
    pairs_with_judges = product(judged.scores, labels_of_people)
    pairs_of_annotators = combinations(judged.annotators, 2)
    for rater, against in [*pairs_with_judges, *pairs_of_annotators]:
        scores, truth = ratings[rater], ratings[against]
        is_unscored, is_labelled = np.isnan(scores), ~np.isnan(truth)
        pair = {"pair": f"{rater} - {against}", "rater": rater, "against": against}
        # Only the numbers of a judge have a signature.
        signature = judged.signature(rater) if rater in judged.scores else ""
        if rater in judged.annotators:
            # A response that only one of two annotators labelled is not a missing verdict.
            is_labelled &= ~is_unscored
        is_scored = is_labelled & ~is_unscored
        measures = _measures(judged, rater, scores, truth, is_scored)
        # In the worst case, all missing verdicts contradict the label; in the best, they agree.
        all_wrong = np.where(is_unscored, 1 - truth, scores)
        all_right = np.where(is_unscored, truth, scores)
        lowest = _measures(judged, rater, all_wrong, truth, is_labelled)
        highest = _measures(judged, rater, all_right, truth, is_labelled)
        for metric, interval in measures.items():
            yield {
                **pair,
                "metric": metric,
                **interval_columns(interval),
                "n": int(is_labelled.sum()),
                "n_scored": int(is_scored.sum()),
                "worst_low": lowest[metric].estimate,
                "worst_high": highest[metric].estimate,
                "signature": signature,
            }


def _measures(
    judged: _Judged, rater: str, scores: Floats, truth: Floats, is_compared: Booleans
) -> dict[str, Interval]:
    """Agreement of two annotators, or of a judge with labels that are taken as true, by name of the measure.

    `scores` are those of the rater: a judge's scores, or an annotator's labels. `truth` are the labels with
    which they are compared. Both have one value per response, and `is_compared` selects the responses.
    """
    places = np.flatnonzero(is_compared)
    scores, truth = scores[places], truth[places]
    units = judged.units_of(places)
    verdicts = judged.verdicts(scores)
    measures = agreement_intervals(np.column_stack([verdicts, truth]), units, judged.level)
    if rater in judged.annotators:
        return measures
    # The following measures take one side as true. Each is the share of right verdicts among some rows.
    is_right = (verdicts == truth).astype(np.float64)
    rows_of_measure = {
        "sensitivity": truth == 1,
        "specificity": truth == 0,
        "precision": verdicts == 1,
    }
    for name, rows in rows_of_measure.items():
        measures[name] = share(is_right[rows], judged.units_of(places[rows]), judged.level)
    if judged.graded(rater):
        measures["AUROC"] = auroc(truth == 1, scores, units, confidence_level=judged.level)
    return measures


# ---- bias ----------------------------------------------------------------------------------------


def _groups(judged: _Judged, by: Sequence[str] | None) -> dict[str, pd.Series]:
    """Name of each division of the responses -> the group of each response in it, in the order of the report.

    `by` are the columns of the user; None means ``language`` and ``system`` where they vary. Responses without
    a text are in no group of the division by length, so its index lacks them.
    """
    frame = judged.frame
    if by is None:
        columns = [name for name in ("language", "system") if name in frame]
        by = [name for name in columns if frame[name].nunique(dropna=False) > 1]
    groups = {"overall": pd.Series("all responses", frame.index)}
    for name in by:
        # A missing value is a group of its own.
        groups[name] = frame[name].astype(object).where(frame[name].notna(), "(none)")
    texts = frame["response"].dropna() if "response" in frame else pd.Series(dtype=object)
    lengths = texts.map(lambda text: len(graphemes(text))).astype(int).sort_values(kind="stable")
    if len(lengths):
        groups["response length"] = _thirds(lengths)
    if len(lengths) and judged.length_within:
        column = judged.length_within
        thirds = []
        for value, own_lengths in lengths.groupby(frame.loc[lengths.index, column], sort=False):
            thirds.append(f"{value}: " + _thirds(own_lengths))
        groups[f"response length within {column}"] = pd.concat(thirds)
    return groups


def _thirds(lengths: pd.Series) -> pd.Series:
    """The third to which each of the sorted lengths belongs, with the range of its lengths."""
    boundaries = np.quantile(lengths, [1 / 3, 2 / 3])
    # 0, 1 or 2 for each length: the number of boundaries below it.
    third = np.searchsorted(boundaries, lengths)
    names = np.array(["shortest third", "middle third", "longest third"])[third]
    names_with_ranges = []
    for name, lengths_of_third in lengths.groupby(names):
        shortest, longest = lengths_of_third.min(), lengths_of_third.max()
        name_with_range = f"{name} ({shortest}-{longest})"
        names_with_ranges.append(pd.Series(name_with_range, lengths_of_third.index))
    # The order of the lengths is that of the report, from short to long.
    return pd.concat(names_with_ranges).loc[lengths.index]


def _bias(judged: _Judged, by: Sequence[str] | None) -> pd.DataFrame:
    """Compare each judge with the label in each group, with Holm's correction over the groups."""
    tables = []
    units = judged.frame.index if judged.units is None else judged.units
    groups = _groups(judged, by)
    for (judge, scores), (name, group) in product(judged.scores.items(), groups.items()):
        # The index of the responses that are in a group and have a label.
        rows = group.index[~np.isnan(judged.labels[group.index])]
        if rows.empty:
            continue
        # Graded scores minus labels of 0 and 1 are skewed, also if their mean is 0. The sign-flip test, which
        # "auto" would choose, assumes that they are symmetric. With clusters, "auto" chooses by their number.
        has_graded_items = judged.graded(judge) and judged.units is None
        # Judge and label become two systems, which `compare` pairs by the number of the row.
        frame = pd.DataFrame({"example_id": rows, "group": group[rows], "metric": judged.label})
        frame = frame.assign(unit=units[rows], signature=judged.signature(judge))
        of_judge = frame.assign(system=judge, value=scores[rows])
        of_label = frame.assign(system=judged.label, value=judged.labels[rows])
        table = compare(
            pd.concat([of_judge, of_label], ignore_index=True),
            baseline=judged.label,
            by="group",
            cluster=None if judged.units is None else "unit",
            unpaired="drop",
            method="t" if has_graded_items else "auto",
            confidence_level=judged.level,
        )
        table["interval"] = table["interval"].map(without_clusters)
        table.insert(0, "judge", judge)
        table.insert(1, "by", name)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _error_rates(judged: _Judged, by: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    """Yield the sensitivity and the specificity of each judge in each group."""
    groups = _groups(judged, by)
    for (judge, scores), (name, group) in product(judged.scores.items(), groups.items()):
        verdicts = judged.verdicts(scores)
        is_right = (verdicts == judged.labels).astype(np.float64)
        # Responses that are in no group, such as those without a text, get a missing one.
        group_of_row = group.reindex(judged.frame.index)
        for value in pd.unique(group):
            in_group = (group_of_row == value).to_numpy() & ~np.isnan(verdicts)
            for metric, label in (("sensitivity", 1), ("specificity", 0)):
                rows = in_group & (judged.labels == label)
                interval = share(is_right[rows], judged.units_of(rows), judged.level)
                yield {
                    "judge": judge,
                    "by": name,
                    "group": value,
                    "metric": metric,
                    **interval_columns(interval),
                    "n": int(rows.sum()),
                    "signature": judged.signature(judge),
                }


# ---- calibration and disagreements ---------------------------------------------------------------


def _calibration(judged: _Judged) -> Iterator[dict[str, Any]]:
    """Yield the calibration of each judge, on the responses with a label and a score."""
    for judge, all_scores in judged.scores.items():
        is_compared = ~np.isnan(judged.labels) & ~np.isnan(all_scores)
        labels, scores = judged.labels[is_compared], all_scores[is_compared]
        units = judged.units_of(is_compared)
        bins = reliability_curve(labels == 1, scores)
        # The error, and the one that a calibrated judge would show by chance.
        ece, expected = expected_calibration_error(bins)
        brier = brier_score(labels == 1, scores, units, confidence_level=judged.level)
        yield {
            "judge": judge,
            "ece": ece,
            "expected_if_calibrated": expected,
            "n_bins": len(bins),
            **brier.columns("brier"),
            "interval": without_clusters(brier.method),
            "n": int((~np.isnan(judged.labels)).sum()),
            "n_scored": labels.size,
            "signature": judged.signature(judge),
        }


def _worst(judged: _Judged) -> pd.DataFrame:
    """The responses on which a judge's verdict differs from the label, largest difference first."""
    # The settled label has a column of its own.
    people = {name: values for name, values in judged.annotators.items() if name != judged.label}
    # For each response a mapping from annotator to label.
    annotations = records_of(pd.DataFrame(people, index=judged.frame.index))
    disagreements = []
    for judge, scores in judged.scores.items():
        verdicts = judged.verdicts(scores)
        rows = judged.frame.assign(
            judged_by=judge,
            judge_score=scores,
            judge_verdict=verdicts,
            human_label=judged.labels,
            annotations=annotations,
            disagreement=np.abs(scores - judged.labels),
        )
        # A missing verdict or label makes the difference nan, which is not above 0.
        disagreements.append(rows[np.abs(verdicts - judged.labels) > 0])
    worst = pd.concat(disagreements, ignore_index=True)
    return worst.sort_values("disagreement", ascending=False, kind="stable", ignore_index=True)
