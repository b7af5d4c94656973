"""Systems compared on the same items: difference, interval, test, effect size and detectable effect."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import inf

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import CONDITION, column_names, require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.scoring.columns import bounds_of, conversations, numbers, require_metric_names
from ragnb.scoring.corrected import corrected_comparison
from ragnb.scoring.pairing import ScoreTable
from ragnb.scoring.procedures import PROCEDURES, Pairs, choose, compared, mean
from ragnb.scoring.repeats import compare_over_runs
from ragnb.stats.multiplicity import CORRECTIONS, adjusted_columns
from ragnb.suggestions import did_you_mean

# Parts of a signature in which compared systems may differ.
VARYING_MARKS = ("prompt", "lang", "reasoning")

# Columns that, if they vary within a system, distinguish its items besides ``example_id``.
ITEM_COLUMNS = (*(name for name in CONDITION if name != "system"), "repeat")

_READ = ("example_id", "system", "metric", "value", "signature")

Names = str | Sequence[str] | None


@accepts(
    metrics=column_names,
    by=column_names,
    family=column_names,
    method=("auto", *PROCEDURES),
    unpaired=("error", "drop"),
    correction=tuple(CORRECTIONS),
    questions=("such", "these"),
    confidence_level="level",
    power="level",
)
def compare(
    scores: pd.DataFrame,
    *,
    baseline: str | None = None,
    metrics: Names = None,
    by: Names = None,
    cluster: str | None = None,
    family: Names = None,
    method: str = "auto",
    unpaired: str = "error",
    correction: str = "holm",
    confidence_level: float = 0.95,
    power: float = 0.8,
    questions: str = "such",
    labels: pd.DataFrame | None = None,
    label: str = "label",
) -> pd.DataFrame:
    """Compare systems that answered the same items, by paired differences.

    There is one row for each metric, cell and pair of systems. The difference is system - baseline,
    in the unit of the metric.

    Parameters
    ----------
    scores
        As `score` returns them: ``example_id, system, metric, value, signature`` and the columns of
        conditions.
    baseline
        The system that all others are compared with. By default every pair is compared, with the
        earlier one as the baseline.
    metrics
        Names of the metrics to compare; by default all in the frame.
    by
        Columns that divide the frame into cells, which are compared separately. By default the
        columns of conditions (noise rate, language, ...) that vary within a system. ``by=[]`` pools
        them: an item is then a question under one condition.
    cluster
        Column whose values are the independent units. By default, these are the conversations
        (``conversation_id``) if one of them has several turns, or else the questions if a cell
        contains a question several times (pooled conditions, repeats). ``cluster="example_id"``
        treats the turns of a conversation as independent.
    family
        Columns within which p-values are corrected together. By default, and with ``[]``, all rows
        of the result are one family. ``["metric"]`` makes one family per metric. Undefined p-values
        do not count.
    method
        ``"auto"`` chooses one of the first four methods and says why in the column ``why``:
        ``mcnemar`` for scores of 0 and 1, and ``sign-flip`` for graded scores. If items share
        clusters, it chooses ``cluster-t`` for 30 clusters or more, else ``cluster-sign-flip``.

        =====================  =======================================  ===================  ========
        method                 test                                     interval             relation
        =====================  =======================================  ===================  ========
        ``mcnemar``            McNemar mid-p                            Tango                not dual
        ``sign-flip``          exact sign-flip permutation test         sign-flip            dual
        ``cluster-t``          cluster-robust t                         cluster-robust t     dual
        ``cluster-sign-flip``  exact sign-flip of whole clusters        cluster-robust t     not dual
        ``tango``              Tango's score test (asymptotic McNemar)  Tango                dual
        ``mcnemar-exact``      McNemar exact                            Tango                not dual
        ``t``                  paired t-test                            t                    dual
        ``bca``                exact sign-flip permutation test         BCa                  not dual
        =====================  =======================================  ===================  ========

        The intervals are those of the difference. The McNemar tests are dual to the odds ratio,
        which is their effect size. Test and interval are dual if the interval excludes 0 exactly
        when the test rejects. Limits are truncated to the possible differences, such as -1 and 1
        for two rates.

        If all differences, or the means of all clusters, are equal, a t-test is undefined, and the
        exact sign-flip test is reported. No t, sign-flip or BCa interval exists then. The limits
        follow from Wilson's limit for the share of items (or clusters) that differ, if the metric
        is bounded (see `ragnb.stats.intervals.equal_values_interval`).

        Two scores count as equal if they differ by less than 1e-12 of the larger one, which is
        rounding error.
    unpaired
        ``"error"``, or ``"drop"``: leave out items without a value for both systems, which are
        counted in ``n_dropped``.
    correction
        ``"holm"``, ``"benjamini-hochberg"`` or ``"bonferroni"``.
    confidence_level, power
        Of the intervals, and of the minimum detectable effect.
    questions
        What the difference is about: ``"such"`` questions (default), or ``"these"``, whose
        answers vary from run to run. The second needs several runs of each question by each system.
        All rows are used together, ``cluster`` names the column of the questions (by default
        ``example_id``), and the interval and the test are those of t over runs.
    labels
        Labels of people on some of the questions, for both systems: ``example_id, system``, the
        column of the labels, and ``probability``, with which each question was drawn for labelling
        (see `ragnb.next_to_label`). The metrics are then judges whose errors the labels correct, and
        the difference is that of people's labels (PPI++). Each metric is used alone and, if there
        are several, all together (``"all judges"``). ``by``, ``family``, ``method`` and ``unpaired``
        have no meaning then: questions without a value of both systems are left out.
    label
        Column of `labels` with the labels: 0 and 1, or grades; missing if not labelled.

    Returns
    -------
    DataFrame
        The columns of ``by``, then ``metric, system, baseline, n_pairs, n_clusters, n_dropped,
        mean, baseline_mean, difference, low, high, interval, confidence_level, test, statistic,
        p_value, p_adjusted, correction, family_size, effect, effect_low, effect_high, effect_name,
        mde, power, duality, warning, why, signature``. If the limits of any interval are undefined,
        the column ``problem`` says why. ``mde`` is the minimum detectable effect: with this many
        items and the observed spread, the test detects a true difference of this size with
        probability ``power``, and smaller ones less often. See `ragnb.stats.power`. Infinite
        limits, or the largest possible differences, mean that there are too few items to exclude
        any difference.

    With `labels`, the columns after the p-values are ``n_labels`` (questions with labels of both),
    ``weight`` (of the judge, from 0 to 1), ``worth`` (how many labels alone would give the same
    standard error), ``labels_alone, labels_alone_low, labels_alone_high``, and ``judge_alone``, which is not corrected.

    Raises
    ------
    InputError
        If there are fewer than two systems, a name is unknown, a question occurs twice or lacks a
        partner, ids are numbers in one system and texts in another, systems were scored under
        different definitions, or a method does not suit the scores.

    Source: Miller (2024), arXiv 2411.00640, on paired and clustered comparison of models. The
    sources of the tests are in `ragnb.stats`.
    """
    require_columns(scores, _READ, "compare")
    cluster = cluster or conversations(scores)
    named = [*(by or ()), *column_names(cluster)]
    require_columns(scores, [*_READ, *named], "compare")
    if overlap := {"system", "metric", "example_id"} & set(by or ()):
        raise InputError(
            f"by must not contain {', '.join(sorted(overlap))}; use columns such as language"
        )
    require_metric_names(scores, "compare")
    scored_metrics = scores["metric"].unique()
    metrics = _full_names(metrics or (), scored_metrics)
    if unknown := sorted(set(metrics) - set(scored_metrics)):
        scored = ", ".join(scored_metrics)
        hint = did_you_mean(unknown[0], scored_metrics)
        raise InputError(
            f"metrics must be among those scored ({scored}), got {', '.join(unknown)}{hint}"
        )
    columns = [name for name in scores if name in {*_READ, *ITEM_COLUMNS, *named}]
    frame = pd.DataFrame(scores[columns]).assign(value=numbers(scores, "value", "compare"))
    if metrics:
        frame = frame[frame["metric"].isin(metrics)]
    frame = frame.reset_index(drop=True)
    infinite = frame.loc[frame["value"].abs() == inf, "example_id"]
    if len(infinite):
        raise InputError(f"value must be finite or nan, but it is infinite for {infinite.iloc[0]}")
    pairs = _pairs_of_systems(frame, baseline)
    if by and (labels is not None or questions == "these"):
        option = "labels=" if labels is not None else "questions='these'"
        raise InputError(f"compare({option}) compares over all rows, so leave out by=")
    table = ScoreTable(frame, ITEM_COLUMNS, cluster)
    if questions == "these" or labels is not None:
        for (metric,), scores_of_metric in table.cells(["metric"]):
            for system, other in pairs:
                _one_definition(scores_of_metric.signatures(system, other), metric, system, other)
    if questions == "these":
        return compare_over_runs(
            frame,
            pairs,
            cluster=cluster,
            correction=correction,
            confidence_level=confidence_level,
        )
    if labels is not None:
        return corrected_comparison(
            frame,
            labels,
            pairs,
            conditions=table.conditions,
            label=label,
            cluster=cluster,
            correction=correction,
            confidence_level=confidence_level,
        )
    cells = [name for name in table.conditions if name != "repeat"] if by is None else list(by)
    keys = [*cells, "metric"]
    rows = []
    for values_of_cell, cell in table.cells(keys):
        metric = values_of_cell[-1]
        for system, other in pairs:
            signature = _one_definition(cell.signatures(system, other), metric, system, other)
            paired, n_dropped, unit = cell.pair(system, other, unpaired)
            paired = replace(paired, bounds=_bounds(paired, metric, signature))
            procedure, why = choose(paired, method, metric)
            if unit:
                why = f"{why}; clusters: {unit}"
            result = compared(paired, PROCEDURES[procedure], confidence_level, power)
            rows.append(
                {
                    **dict(zip(keys, values_of_cell, strict=True)),
                    "system": system,
                    "baseline": other,
                    "n_pairs": len(paired.first),
                    "n_clusters": paired.n_units,
                    "n_dropped": n_dropped,
                    "mean": mean(paired.first),
                    "baseline_mean": mean(paired.second),
                    **result,
                    "why": why,
                    "signature": signature,
                }
            )
    comparisons = pd.DataFrame(rows)
    require_columns(comparisons, family or (), "compare(family=...)")
    families = comparisons.groupby(family, sort=False, dropna=False).ngroup() if family else None
    adjusted = adjusted_columns(comparisons["p_value"], correction, families)
    return shown(comparisons.assign(**adjusted))


def _full_names(names: Sequence[str], scored: Sequence[str]) -> list[str]:
    """Full names of metrics, where ``f1`` means the only scored metric with this last part."""
    full_names = []
    for name in names:
        same = [metric for metric in scored if metric.rpartition(".")[2] == name]
        full_names += same if len(same) == 1 else [name]
    return full_names


def _bounds(pairs: Pairs, metric: str, signature: str) -> tuple[float, float] | None:
    """Smallest and largest possible difference of two scores; None if they are unknown."""
    bounds = bounds_of(metric, signature, np.append(pairs.first, pairs.second))
    if bounds is None:
        return None
    low, high = bounds
    return low - high, high - low


def _pairs_of_systems(frame: pd.DataFrame, baseline: str | None) -> list[tuple[str, str]]:
    """The pairs (system, baseline) to compare.

    InputError is raised if their questions cannot be paired, because ids are missing or are numbers
    in one system and texts in another.
    """
    if frame["example_id"].isna().any():
        row = frame["example_id"].isna().idxmax()
        raise InputError(
            f"compare pairs systems by example_id, which is missing in row {row} of the scores; give "
            "each question an id before scoring, or drop the rows without one"
        )
    systems = frame["system"].unique().tolist()
    listed = ", ".join(map(str, systems)) or "none"
    if len(systems) < 2:
        raise InputError(
            f"compare needs two systems or more, got {listed}; score another one and concatenate "
            "the scores"
        )
    if baseline is not None and baseline not in systems:
        hint = did_you_mean(baseline, systems)
        raise InputError(f"baseline must be one of {listed}, got {baseline!r}{hint}")
    kinds = {type(ids.iloc[0]): name for name, ids in frame.groupby("system")["example_id"]}
    if str in kinds and len(kinds) > 1:
        texts = kinds.pop(str)
        raise InputError(
            f"compare needs ids of one kind, got texts in {texts!r} and numbers in "
            f"{next(iter(kinds.values()))!r}, and 10 is not '10'; convert both to str"
        )
    if baseline is None:
        return [(second, first) for first, second in combinations(systems, 2)]
    return [(system, baseline) for system in systems if system != baseline]


def _one_definition(pair_signatures: Sequence[str], metric: str, system: str, baseline: str) -> str:
    """The signatures of the scores of two systems, joined by ``&``.

    InputError is raised if they differ in more than `VARYING_MARKS`. The mark ``references`` says how
    lists of references were read. A system without such lists has no such mark, and can be compared
    with any other.
    """
    definitions = [_marks_of(signature) for signature in pair_signatures]
    readings = {value for marks in definitions for name, value in marks if name == "references"}
    # With a single value, scores can differ only in whether they have the mark, which does not matter.
    free = VARYING_MARKS if len(readings) > 1 else (*VARYING_MARKS, "references")
    fixed = set()
    for signature in pair_signatures:
        parts = [part for part in signature.split("|") if part.partition(":")[0] not in free]
        fixed.add("|".join(parts))
    if len(fixed) > 1:
        raise InputError(
            f"compare needs one definition of {metric} for {system!r} and "
            f"{baseline!r}, got {' and '.join(sorted(fixed))}; score both with the same options"
        )
    return " & ".join(pair_signatures)


def _marks_of(signature: str) -> list[tuple[str, str]]:
    """Names and values of the marks in a signature, such as ``("lang", "en")``."""
    marks = []
    for part in signature.split("|"):
        name, _, value = part.partition(":")
        marks.append((name, value))
    return marks
