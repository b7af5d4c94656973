"""Systems against each other on the same items: difference, interval, test, effect size, and what could have been shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ragnb.errors import InputError, as_real
from ragnb.records import CONDITION, column_names, is_missing, one_column, require_columns
from ragnb.scoring.columns import check_names, check_texts, numbers, signatures
from ragnb.scoring.procedures import BINARY, CLUSTERED, PROCEDURES, Pairs, Procedure, choose
from ragnb.stats.multiplicity import ADJUSTED, CORRECTIONS, adjusted_columns

VARYING_MARKS = ("prompt", "lang", "reasoning")
"""Parts of a signature in which compared systems may differ."""

ITEM_COLUMNS = (*(name for name in CONDITION if name != "system"), "repeat")
"""Columns that, where they vary within a system, tell its items apart beside ``example_id``."""

_READ = ("example_id", "system", "metric", "value", "signature")

Names = str | Sequence[str] | None


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
    """Paired differences between systems that answered the same items, one row a metric, cell and pair of systems.

    The difference is system - baseline, in the unit of the metric.

    Parameters
    ----------
    scores
        As `score` returns them: ``example_id, system, metric, value, signature`` and the columns of conditions.
    baseline
        The system that all others are compared with; by default every pair is compared, the earlier one as the baseline.
    metrics
        Names of the metrics to compare; by default all in the frame.
    by
        Columns that cut the frame into cells compared separately. By default the columns of conditions (noise rate,
        language, ...) that vary within a system; ``by=[]`` pools them: an item is then a question under one condition.
    cluster
        Column whose values are the independent units. Where a cell holds a question several times (pooled conditions,
        repeats), the questions are the clusters even without being named.
    family
        Columns within which p-values are corrected together; by default all rows of the result are one family, ``[]`` means
        the same, and ``["metric"]`` makes one family a metric. Undefined p-values are no part of it.
    method
        ``"auto"`` chooses by the kind of scores and says why in the column ``why``:

        ====================  ===============================================  ==========================  ========
        method                test                                             interval of the difference  relation
        ====================  ===============================================  ==========================  ========
        ``mcnemar`` (auto)    McNemar mid-p: scores of 0 and 1                 Tango                       not dual
        ``sign-flip`` (auto)  exact sign-flip permutation test: graded scores  sign-flip                   dual
        ``cluster-t`` (auto)  cluster-robust t: 30 clusters or more            cluster-robust t            dual
        ``cluster-sign-flip`` exact, flips clusters (auto): fewer              cluster-robust t            not dual
        ``tango``             Tango's score test (asymptotic McNemar)          Tango                       dual
        ``mcnemar-exact``     McNemar exact                                    Tango                       not dual
        ``newcombe``          McNemar mid-p                                    Newcombe (method 10)        not dual
        ``t``                 paired t-test                                    t                           dual
        ``bca``               exact sign-flip permutation test                 BCa                         not dual
        ``wilcoxon``          Wilcoxon signed-rank, exact                      sign-flip                   not dual
        ====================  ===============================================  ==========================  ========

        The McNemar tests are duals of the odds ratio that stands beside them as the effect size. Scores within 1e-12 of
        the larger one are equal: rounding error is no difference.
    unpaired
        ``"error"``, or ``"drop"``: leave out items without a value for both systems, counted in ``n_dropped``.
    correction
        ``"holm"``, ``"benjamini-hochberg"`` or ``"bonferroni"``.
    confidence_level, power
        Of the intervals, and of the minimum detectable effect.

    Returns
    -------
    DataFrame
        The columns of ``by``, then ``metric, system, baseline, n_pairs, n_clusters, n_dropped, mean, baseline_mean,
        difference, low, high, interval, confidence_level, test, statistic, p_value, p_adjusted, correction, family_size,
        effect, effect_low, effect_high, effect_name, mde, power, duality, why, warning, signature``. ``mde`` is the
        minimum detectable effect: with this many items and the observed spread, the test detects a true difference of this
        size with probability ``power``, and smaller ones less often. `ragnb.stats.power` defines it for 0/1 scores, graded
        scores and clusters. Infinite limits mean that so few items exclude nothing.

    Raises
    ------
    InputError
        Fewer than two systems, an unknown name, a question doubled or without partner, ids that are numbers in one system
        and texts in another, values that are infinite, systems scored under different definitions, or a method that does not
        suit the scores.

    Source: Miller (2024), arXiv 2411.00640, on paired and clustered comparison of models; the tests' own in `ragnb.stats`.
    """
    named = {*column_names(by, "compare(by=...)"), *one_column(cluster, "compare(cluster=...)")}
    frame = _selected(scores, metrics, named)
    design = _Design(_cell_columns(frame, by), cluster, method, unpaired, confidence_level, power)
    _check_options(power, method=method, unpaired=unpaired, correction=correction)
    require_columns(frame, one_column(cluster, "compare(cluster=...)"), "compare(cluster=...)")
    pairs = _pairs_of_systems(frame, baseline)
    _refuse_ids_of_two_kinds(frame)
    rows = [
        dict(zip([*design.cells, "metric"], cell, strict=True)) | _row(group, pair, design)
        for cell, group in frame.groupby([*design.cells, "metric"], sort=False, dropna=False)
        for pair in pairs
    ]
    return _corrected(pd.DataFrame(rows), column_names(family, "compare(family=...)"), correction)


@dataclass(frozen=True, slots=True)
class _Design:
    """What holds for every comparison of one call."""

    cells: list[str]
    cluster: str | None
    method: str
    unpaired: str
    level: float
    power: float


# ---- what is compared --------------------------------------------------------------------------------------------------


def _check_options(power: float, **given: str) -> None:
    if not 0 < as_real(power) < 1:
        raise InputError(
            f"compare(power=...) needs a number between 0 and 1; got {power!r:.60}; write 0.8 for 80 %"
        )
    known = {
        "method": ("auto", *PROCEDURES),
        "unpaired": ("error", "drop"),
        "correction": tuple(CORRECTIONS),
    }
    for name, value in given.items():
        if not isinstance(value, str) or value not in known[name]:
            raise InputError(
                f"compare({name}=...) needs one of {', '.join(known[name])}; got {value!r}; choose one"
            )


def _selected(scores: pd.DataFrame, metrics: Names, named: set[str]) -> pd.DataFrame:
    """The rows of the metrics asked for, with the columns that something reads: of the others each pair would be a copy."""
    require_columns(scores, _READ, "compare")
    read = [name for name in scores if name in {*_READ, *ITEM_COLUMNS, *named}]
    check_names(scores, [name for name in read if name not in ("metric", "value")], "compare")
    check_texts(scores, ("metric",), "compare")
    scores = scores.assign(value=numbers(scores, "value", "compare")).reset_index(drop=True)
    present = scores["metric"].unique().tolist()
    wanted = column_names(metrics, "compare(metrics=...)") or present
    if unknown := [name for name in wanted if name not in present]:
        raise InputError(
            f"compare needs metrics that were scored ({', '.join(present)}); got {', '.join(unknown)}; score them"
        )
    frame = scores.loc[scores["metric"].isin(wanted), read]
    infinite = frame.loc[np.isinf(frame["value"]), "example_id"]
    if len(infinite):
        raise InputError(f"value must be finite or nan, got infinite ones for {_some(infinite)}")
    return frame


def _cell_columns(frame: pd.DataFrame, by: Names) -> list[str]:
    if by is None:
        return _varying(frame, ITEM_COLUMNS[:-1])
    columns = column_names(by, "compare(by=...)")
    require_columns(frame, columns, "compare(by=...)")
    check_names(frame, columns, "compare(by=...)")
    if overlap := {"system", "metric", "example_id"} & set(columns):
        raise InputError(
            f"compare(by=...) needs columns of conditions; got {', '.join(overlap)}, which it pairs by; leave it out"
        )
    return columns


def _varying(frame: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Those columns that take several values within one system: what varies only between systems belongs to the system."""
    present = [name for name in columns if name in frame]
    return [
        name
        for name in present
        if frame.groupby("system", sort=False)[name].nunique(dropna=False).max() > 1
    ]


def _pairs_of_systems(frame: pd.DataFrame, baseline: str | None) -> list[tuple[str, str]]:
    """Pairs (system, baseline)."""
    systems = frame["system"].unique().tolist()
    if len(systems) < 2:
        raise InputError(
            f"compare needs two systems at least; got {_some(systems) or 'none'}; score another and concatenate"
        )
    if baseline is None:
        return [(second, first) for first, second in combinations(systems, 2)]
    is_name = np.isscalar(baseline)
    if not is_name or baseline not in [name for name in systems if not is_missing(name)]:
        raise InputError(
            f"compare needs a baseline out of {_some(systems, 20)}; got {baseline!r}; choose one"
        )
    return [(system, baseline) for system in systems if system != baseline]


def _refuse_ids_of_two_kinds(frame: pd.DataFrame) -> None:
    """Tables keep numbers as they are, CSV makes texts of them: these never match."""
    kinds = {
        system: pd.api.types.infer_dtype(ids, skipna=True)
        for system, ids in frame.groupby("system")["example_id"]
    }
    texts = next((system for system, kind in kinds.items() if kind == "string"), None)
    numbers = next(
        (system for system, kind in kinds.items() if kind in ("integer", "floating")), None
    )
    if texts is not None and numbers is not None:
        raise InputError(
            f"compare needs ids of one kind; got numbers in {numbers!r} and texts in {texts!r}, and 10 is not '10'; write "
            "both as texts"
        )


# ---- one comparison ----------------------------------------------------------------------------------------------------


def _row(group: pd.DataFrame, pair: tuple[str, str], design: _Design) -> dict[str, Any]:
    metric = group["metric"].iloc[0]
    two = group[group["system"].isin(pair)]
    signature = _one_definition(two, pair, metric)
    pairs, n_dropped, unit = _paired(two, pair, design)
    name, why = _procedure(pairs, design.method, metric)
    return {
        "metric": metric,
        "system": pair[0],
        "baseline": pair[1],
        "n_pairs": len(pairs.first),
        "n_clusters": pairs.n_units,
        "n_dropped": n_dropped,
        "mean": _mean(pairs.first),
        "baseline_mean": _mean(pairs.second),
        **_outcome(PROCEDURES[name], pairs, design),
        "why": f"{why}; clusters: {unit}" if unit else why,
        "signature": signature,
    }


def _outcome(procedure: Procedure, pairs: Pairs, design: _Design) -> dict[str, Any]:
    arguments = procedure.view(pairs)
    interval = procedure.interval(*arguments, confidence_level=design.level)
    test = procedure.test(*arguments)
    effect = procedure.effect(*arguments, confidence_level=design.level)
    return {
        **interval.columns("difference"),
        "difference": _mean(pairs.differences),
        "test": test.method,
        "statistic": test.statistic,
        "p_value": test.p_value,
        **dict.fromkeys(ADJUSTED),
        "effect": effect.estimate,
        "effect_low": effect.low,
        "effect_high": effect.high,
        "effect_name": procedure.effect_name,
        "mde": procedure.detectable(pairs, design.level, design.power),
        "power": design.power,
        "duality": "dual" if procedure.dual else "not dual",
        "warning": test.warning,
    }


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else float("nan")


def _one_definition(two: pd.DataFrame, pair: tuple[str, str], metric: str) -> str:
    """The signatures behind a pair; refused when they differ in more than prompt, language and reasoning.

    A system without lists of several texts as references has no mark that says how such lists were read, and fits both.
    """
    found = signatures(two)
    read_as = {
        part
        for signature in found
        for part in signature.split("|")
        if part.startswith("references:")
    }
    free = VARYING_MARKS if len(read_as) > 1 else (*VARYING_MARKS, "references")
    definitions = sorted({_definition(signature, free) for signature in found})
    if len(definitions) > 1:
        alike = (
            ", and read lists of references alike (alternatives= of load_responses)"
            if len(read_as) > 1
            else ""
        )
        raise InputError(
            f"compare needs one definition of {metric} for {pair[0]!r} and {pair[1]!r}; got {' and '.join(definitions)}; "
            f"score both with the same options{alike}"
        )
    return " & ".join(found)


def _definition(signature: str, free: Sequence[str]) -> str:
    return "|".join(part for part in signature.split("|") if part.split(":")[0] not in free)


def _paired(two: pd.DataFrame, pair: tuple[str, str], design: _Design) -> tuple[Pairs, int, str]:
    """Values of both systems side by side, how many items were dropped, and the column of clusters, if there are any."""
    keys = [
        "example_id",
        *_varying(two, [name for name in ITEM_COLUMNS if name not in design.cells]),
    ]
    first, second = (_values(two, system, keys) for system in pair)
    both = pd.concat([first, second], axis=1, keys=["first", "second"])
    missing = both[both.isna().any(axis=1)]
    if len(missing) and design.unpaired == "error":
        cell = ", ".join(f"{name} {two[name].iloc[0]}" for name in design.cells)
        at = f" at {cell}" if cell else ""
        ids, others = (values.index.get_level_values("example_id") for values in (first, second))
        if len(ids) and len(others) and set(ids).isdisjoint(others):
            raise InputError(
                f"compare pairs systems by example_id, but {pair[0]!r} and {pair[1]!r} have no example_id in common{at}: "
                f"{pair[0]!r} begins with {ids[0]!r:.60}, {pair[1]!r} with {others[0]!r:.60}. Give each question the same "
                "example_id for every system before you score. If the responses have no ids of their own, use the "
                "questions: responses.assign(example_id=responses['question'])"
            )
        raise InputError(
            f"compare needs a value of {pair[0]!r} and of {pair[1]!r} for every item{at}; {len(missing)} of {len(both)} "
            f"items lack at least one of the two, such as {_some(missing.index)}; score them, choose by=, or pass "
            "unpaired='drop', which counts them"
        )
    both = both.drop(missing.index)
    unit = design.cluster or (
        "example_id" if both.index.get_level_values("example_id").has_duplicates else ""
    )
    values = both.to_numpy(float)
    return (
        Pairs(values[:, 0], values[:, 1], _clusters(two, both.index, keys, unit)),
        len(missing),
        unit,
    )


def _values(two: pd.DataFrame, system: str, keys: list[str]) -> pd.Series:
    values = (
        two.loc[two["system"] == system, [*keys, "value"]].set_index(keys)["value"].astype(float)
    )
    if values.index.has_duplicates:
        twice = values.index[values.index.duplicated()]
        raise InputError(
            f"compare needs one value of {system!r} for every item; got {len(twice)} more, such as {_some(twice)}; "
            "drop them, or add the column that tells them apart (such as repeat)"
        )
    return values


def _clusters(two: pd.DataFrame, items: pd.Index, keys: list[str], unit: str) -> np.ndarray | None:
    if not unit:
        return None
    if unit in keys:
        return items.get_level_values(unit).to_numpy()
    named = two.drop_duplicates([*keys, unit]).set_index(keys)[unit]
    if named.index.has_duplicates or named.isna().any():
        doubtful = named.index[named.index.duplicated() | named.isna()]
        raise InputError(
            f"compare(cluster={unit!r}) needs one cluster an item; got none or several for {_some(doubtful)}; mend them"
        )
    return named.loc[items].to_numpy()


def _procedure(pairs: Pairs, method: str, metric: str) -> tuple[str, str]:
    if method == "auto":
        return choose(pairs)
    if method in BINARY and not pairs.binary:
        raise InputError(
            f"the method {method!r} needs scores of 0 and 1; got {metric} with others; use 'sign-flip' or 'auto'"
        )
    if (method in CLUSTERED) != (pairs.clusters is not None):
        need, use = (
            ("clusters", "cluster=")
            if method in CLUSTERED
            else ("independent items", "'cluster-t' or 'auto'")
        )
        got = "none" if method in CLUSTERED else "items that share a cluster"
        raise InputError(f"the method {method!r} needs {need}; got {got}; use {use}")
    return method, "as asked for"


def _some(values: Any, most: int = 5) -> str:
    listed = [str(value) for value in values]
    return ", ".join(listed[:most]) + (", ..." if len(listed) > most else "")


# ---- the family --------------------------------------------------------------------------------------------------------


def _corrected(rows: pd.DataFrame, family: list[str], correction: str) -> pd.DataFrame:
    """The rows with ``p_adjusted, correction, family_size`` beside their p-values."""
    require_columns(rows, family, "compare(family=...)")
    families = rows.groupby(family, sort=False, dropna=False).ngroup() if family else None
    return rows.assign(**adjusted_columns(rows["p_value"], correction, families))
