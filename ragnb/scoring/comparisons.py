"""Systems compared on the same items: difference, interval, test, effect size and detectable effect."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import inf

import numpy as np
import pandas as pd

from ragnb.arguments import accepts, convert
from ragnb.columns import CONDITION, column_names, require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.scoring.columns import bounds_of, conversations, numbers, signatures
from ragnb.scoring.procedures import PROCEDURES, Pairs, choose, compared, mean
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
    metrics = _full_names(metrics or (), scores["metric"].unique())
    if unknown := sorted(set(metrics) - set(scores["metric"])):
        scored = ", ".join(scores["metric"].unique())
        hint = did_you_mean(unknown[0], scores["metric"].unique())
        raise InputError(
            f"metrics must be among those scored ({scored}), got {', '.join(unknown)}{hint}"
        )
    columns = [name for name in scores if name in {*_READ, *ITEM_COLUMNS, *named}]
    frame = pd.DataFrame(scores[columns]).assign(value=numbers(scores, "value", "compare"))
    frame = frame[frame["metric"].isin(metrics or frame["metric"])].reset_index(drop=True)
    infinite = frame.loc[frame["value"].abs() == inf, "example_id"]
    if len(infinite):
        raise InputError(f"value must be finite or nan, but it is infinite for {infinite.iloc[0]}")
    pairs = _pairs_of_systems(frame, baseline)
    cells = varying(frame, ITEM_COLUMNS[:-1]) if by is None else list(by)
    keys = [*cells, "metric"]
    rows = []
    for cell, group in frame.groupby(keys, sort=False, dropna=False):
        for system, other in pairs:
            both_systems = group[group["system"].isin([system, other])]
            signature = _one_definition(both_systems, system, other)
            metric = cell[-1]
            paired, n_dropped, unit = _paired(both_systems, system, other, cells, cluster, unpaired)
            paired = replace(paired, bounds=_bounds(paired, metric, signature))
            procedure, why = choose(paired, method, metric)
            if unit:
                why = f"{why}; clusters: {unit}"
            result = compared(paired, PROCEDURES[procedure], confidence_level, power)
            rows.append(
                {
                    **dict(zip(keys, cell, strict=True)),
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
    table = pd.DataFrame(rows)
    require_columns(table, family or (), "compare(family=...)")
    families = table.groupby(family, sort=False, dropna=False).ngroup() if family else None
    return shown(table.assign(**adjusted_columns(table["p_value"], correction, families)))


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


def varying(frame: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return the columns that take several values within one system.

    What varies only between systems belongs to the system.
    """
    by_system = frame.groupby("system", sort=False)
    candidates = [name for name in columns if name in frame]
    return [name for name in candidates if by_system[name].nunique(dropna=False).max() > 1]


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


def _one_definition(scores: pd.DataFrame, system: str, baseline: str) -> str:
    """The signatures of the scores of two systems, joined by ``&``.

    InputError is raised if they differ in more than `VARYING_MARKS`. The mark ``references`` says how
    lists of references were read. A system without such lists has no such mark, and can be compared
    with any other.
    """
    pair_signatures = signatures(scores)
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
            f"compare needs one definition of {scores['metric'].iloc[0]} for {system!r} and "
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


def _paired(
    scores: pd.DataFrame,
    system: str,
    baseline: str,
    cells: list[str],
    cluster: str | None,
    unpaired: str,
) -> tuple[Pairs, int, str]:
    """The scores of two systems on the same items, and how they were paired.

    The second result is the number of items that were dropped. The third is the column of the
    clusters, or an empty text if items are independent.
    """
    conditions = varying(scores, [name for name in ITEM_COLUMNS if name not in cells])
    items = list(dict.fromkeys(["example_id", *conditions, *column_names(cluster)]))
    require_columns(scores, (), "compare", unique=["system", *items])
    first = scores[scores["system"] == system].set_index(items)["value"]
    second = scores[scores["system"] == baseline].set_index(items)["value"]
    pairs = pd.concat([first, second], axis=1)
    incomplete = pairs[pairs.isna().any(axis=1)]
    if len(incomplete) and unpaired == "error":
        _refuse_other_ids(first, second, system, baseline)
        raise InputError(
            f"compare needs a value of {system!r} and of {baseline!r} for every item; "
            f"{len(incomplete)} of {len(pairs)} items lack at least one of the two, such as "
            f"{', '.join(map(str, incomplete.index[:5]))}; score the missing values, pass "
            "unpaired='drop' to leave these items out, or set by= if the systems ran under different "
            "conditions"
        )
    pairs = pairs.drop(incomplete.index)
    # Several items of one question, such as its translations, are not independent.
    examples = pairs.index.get_level_values("example_id")
    unit = cluster or ("example_id" if examples.has_duplicates else "")
    clusters = None
    if unit:
        keys = pairs.index.get_level_values(unit).to_numpy()
        clusters = convert(keys, "clusters", f"the column {unit!r}")
    values = pairs.to_numpy(float)
    return Pairs(values[:, 0], values[:, 1], clusters), len(incomplete), unit


def _refuse_other_ids(first: pd.Series, second: pd.Series, system: str, baseline: str) -> None:
    """Raise InputError if the two systems have no question in common."""
    ids = first.index.get_level_values("example_id")
    baseline_ids = second.index.get_level_values("example_id")
    if len(ids) and len(baseline_ids) and set(ids).isdisjoint(baseline_ids):
        raise InputError(
            f"compare pairs systems by example_id, but {system!r} and {baseline!r} have no "
            f"example_id in common: {system!r} begins with {ids[0]!r:.60}, {baseline!r} with "
            f"{baseline_ids[0]!r:.60}. Give each question the same example_id for every system before "
            "you score. If the responses have no ids of their own, use the questions: "
            "responses.assign(example_id=responses['question'])"
        )
