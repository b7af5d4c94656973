"""Checks of the comparison: definitions, pairing, clusters, precision, and what differs besides the system."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import fdtrc

from ragnb.errors import InputError
from ragnb.metrics.words import metric_words
from ragnb.numbers import enumeration, format_p_value
from ragnb.reports.reviewing.checks import (
    ALL,
    ALPHA,
    ORDER,
    SYSTEMS,
    Finding,
    NotPossible,
    check,
)
from ragnb.reports.reviewing.evidence import (
    Evidence,
    view_rows,
)
from ragnb.reports.sensitivity import sensitivity
from ragnb.scoring.comparisons import compare
from ragnb.stats.intervals import mean_interval

# Metrics that are compared for the order of the systems: one per property, and quick to compute.
DEFINITIONS = (
    "answer.exact_match",
    "answer.f1",
    "answer.contains",
    "answer.recall",
    "annotator.verdict",
    "semantic.judged_correctness",
)
# Columns of settings, which should be the same for all systems that are compared.
SETTINGS = (
    "template",
    "prompt_version",
    "temperature",
    "top_p",
    "max_tokens",
    "seed",
    "parameters",
)


ORDER_BY_DEFINITION = "order depends on the definition"


@check(
    ORDER_BY_DEFINITION,
    "Is one system better under one definition of a right answer, and another one under another?",
    is_test=True,
)
def order_depends_on_definition(evidence: Evidence) -> Iterator[Finding]:
    """Pairs of systems that are each better under some metrics."""
    systems = evidence.require_systems()
    evidence.require_questions()
    evidence.column("references")
    n_pairs = len(systems) * (len(systems) - 1) // 2
    # Each metric of each pair may err in its interval.
    level = 1 - ALPHA / (n_pairs * len(DEFINITIONS))
    try:
        result = sensitivity(
            evidence.responses,
            DEFINITIONS,
            variants=False,
            cluster=_known_unit(evidence),
            confidence_level=level,
            progress=False,
        )
    except InputError as error:
        raise NotPossible(str(error)) from None
    conclusions = result.conclusions
    reversed_pairs = conclusions[conclusions["conclusion"].str.startswith("depends on")]
    if reversed_pairs.empty:
        return
    # Pairs with the best system are named first.
    best = evidence.order[:1] if _has_main_scores(evidence) else []
    has_best = reversed_pairs["system"].isin(best) | reversed_pairs["baseline"].isin(best)
    sentences = [*reversed_pairs[has_best]["sentence"], *reversed_pairs[~has_best]["sentence"]]
    sentence = " ".join(sentences[:2])
    if len(sentences) > 2:
        sentence += f" The same holds for {len(sentences) - 2} more pairs of systems."
    # For each metric, the system with the best rank, and then for each such system its metrics.
    best_systems = result.ranks.idxmin()
    metrics_by_system = best_systems.groupby(best_systems, sort=False).groups
    leaders = [
        f"{system} under {enumeration(metrics)}" for system, metrics in metrics_by_system.items()
    ]
    sentence = f"First is {'; '.join(leaders)}. {sentence}"
    yield Finding(
        sentence, float(len(sentences)), [], ORDER, "ragnb.compare_definitions(responses)"
    )


def _known_unit(evidence: Evidence) -> str | None:
    """Column of the units of the responses, if there is a main metric."""
    return evidence.unit if _has_main_scores(evidence) else None


def _has_main_scores(evidence: Evidence) -> bool:
    """Whether there is a main metric, and at least one score of it."""
    try:
        return len(evidence.main_scores) > 0
    except NotPossible:
        return False


@check("unpaired questions", "Did all systems answer the same questions?")
def unpaired_questions(evidence: Evidence) -> Iterator[Finding]:
    """Questions that only some systems have."""
    name = "unpaired questions"
    systems = evidence.require_systems()
    evidence.column("example_id")
    responses = evidence.responses
    n_systems = responses.groupby("example_id")["system"].nunique()
    partial = n_systems[n_systems < len(systems)]
    if partial.empty:
        return
    sentence = (
        f"{len(partial):,} of {len(n_systems):,} questions were not given to all {len(systems)} "
        "systems. Means over all rows then compare different questions; ragnb.compare uses the shared "
        "ones with unpaired='drop'."
    )
    is_partial = responses["example_id"].isin(partial.index)
    effect = ORDER if _changes_order_of_means(evidence, partial.index) else SYSTEMS
    yield Finding(
        sentence, float(len(partial)), evidence.rows_where(is_partial), effect, view_rows(name)
    )


def _changes_order_of_means(evidence: Evidence, partial: pd.Index) -> bool:
    """Whether the means over the shared questions order the systems differently than those over all."""
    if not _has_main_scores(evidence) or "example_id" not in evidence.main_scores:
        return False
    scores = evidence.main_scores
    shared = scores[~scores["example_id"].isin(partial)]
    before = scores.groupby("system")["value"].mean().rank()
    after = shared.groupby("system")["value"].mean().rank()
    return not after.equals(before)


@check("dependent rows", "Are rows alike that share a question or a conversation?", is_test=True)
def dependent_rows(evidence: Evidence) -> Iterator[Finding]:
    """Rows of one unit that are alike, so that intervals over rows would be too narrow."""
    scores = evidence.main_scores.dropna(subset="value")
    unit = evidence.unit
    if unit is None:
        raise NotPossible("no question and no conversation has several rows of one system")
    groups = dict(list(scores.groupby("system", sort=False)))
    if not groups:
        raise NotPossible("no score has a value")
    p_values = {
        system: _variance_between(rows["value"].to_numpy(float), rows[unit].to_numpy())
        for system, rows in groups.items()
    }
    # The finding is about the system with the smallest p-value.
    system = min(p_values, key=lambda name: p_values[name])
    p_value = p_values[system]
    ratio = _width_ratio(groups[system], unit, evidence.level)
    # Each system is tested, so the rate of false findings is divided.
    is_significant = p_value < ALPHA / len(groups)
    # Only intervals that are too narrow are a problem.
    if not is_significant or ratio <= 1:
        return
    n_rows, n_units = len(groups[system]), groups[system][unit].nunique()
    sentence = (
        f"The {n_rows:,} rows of {system} belong to {n_units:,} values of {unit}, and rows of one are "
        f"alike ({format_p_value(p_value)}). An interval that takes rows as independent would have to be "
        f"{ratio:.2f} times as wide."
    )
    call = f"ragnb.summarize({evidence.call_for_scores}, by='system', cluster={unit!r})"
    yield Finding(sentence, ratio, [], ALL, call)


def _variance_between(values: np.ndarray, units: np.ndarray) -> float:
    """p-value of the F test of a one-way analysis of variance between units."""
    codes, _ = pd.factorize(units)
    sizes = np.bincount(codes)
    n, n_units = len(values), len(sizes)
    # With one unit, or with one row per unit, the test does not exist.
    if n_units < 2 or n == n_units:
        return 1.0
    means = np.bincount(codes, values) / sizes
    # Mean squares between and within the units; F is their ratio.
    between = float(sizes @ (means - values.mean()) ** 2) / (n_units - 1)
    within = float(np.sum((values - means[codes]) ** 2)) / (n - n_units)
    if within == 0:
        # F is then infinite, or undefined if all values are equal.
        return 0.0 if between > 0 else 1.0
    return float(fdtrc(n_units - 1, n - n_units, between / within))


def _width_ratio(rows: pd.DataFrame, unit: str, level: float) -> float:
    """Width of the interval of the mean with units, divided by the width over rows."""
    values = rows["value"].to_numpy(float)
    units, _ = pd.factorize(rows[unit])
    wide = mean_interval(values, units, confidence_level=level)
    narrow = mean_interval(values, confidence_level=level)
    ratio = (wide.high - wide.low) / (narrow.high - narrow.low)
    # Without an interval there is nothing to compare, and 1 gives no finding.
    return float(ratio) if np.isfinite(ratio) else 1.0


@check("undecided order", "Do the data show which of the best two systems is better?")
def undecided_order(evidence: Evidence) -> Iterator[Finding]:
    """The best two systems, if their difference is not shown."""
    best = evidence.best_pair()
    is_shown = best["p_adjusted"] < 1 - evidence.level
    has_pairs = np.isfinite(best["difference"])
    if is_shown or not has_pairs:
        return
    first, second = evidence.order[:2]
    sentence = (
        f"The data do not show which of {first} and {second} is better "
        f"({metric_words(best['metric'])}): the difference is {abs(best['difference']):.3f}"
    )
    if np.isfinite([best["low"], best["high"]]).all():
        # The better system is named first, so the interval is that of its mean minus the other one.
        sign = 1 if best["difference"] >= 0 else -1
        low, high = sorted((sign * best["low"], sign * best["high"]))
        sentence += f" ({100 * evidence.level:g} % interval {low:z.3f} to {high:z.3f}"
        if best["family_size"] > 1:
            # The interval is not corrected, so it may exclude 0.
            sentence += (
                f"; {format_p_value(best['p_adjusted'])} after {best['correction'].capitalize()}'s "
            )
            sentence += f"correction for {best['family_size']} comparisons"
        sentence += ")"
    sentence += f", over {best['n_pairs']:,} questions."
    if np.isfinite(best["mde"]):
        sentence += (
            f" With this number, a difference below {best['mde']:.3f} is missed more than one time in "
            f"{1 / (1 - best['power']):.3g}."
        )
    call = f"ragnb.sentences(ragnb.compare({evidence.call_for_scores}, unpaired='drop'))"
    yield Finding(sentence, float(best["mde"]), [], ORDER, call)


@check("many comparisons", "Do differences remain after the correction for their number?")
def many_comparisons(evidence: Evidence) -> Iterator[Finding]:
    """Differences that are significant only before the correction."""
    table, scores = evidence.comparisons, evidence.call_for_scores
    if evidence.scores is not None and evidence.scores["metric"].nunique() > 1:
        scores = "scores"
        try:
            table = compare(evidence.scores, unpaired="drop", confidence_level=evidence.level)
        except InputError as error:
            raise NotPossible(f"the systems cannot be compared ({error})") from None
    alpha = 1 - evidence.level
    is_significant = table["p_value"] < alpha
    remains_significant = table["p_adjusted"] < alpha
    only_before = table[is_significant & ~remains_significant]
    if only_before.empty:
        return
    pairs = [
        f"{row['system']} and {row['baseline']} in {metric_words(row['metric'])}"
        for row in only_before.head(3).to_dict("records")
    ]
    sentence = (
        f"{len(only_before)} of {len(table)} differences are significant only without the correction "
        f"for {len(table)} comparisons, such as that of {'; '.join(pairs)}."
    )
    call = f"ragnb.compare({scores}, unpaired='drop')"
    yield Finding(sentence, float(len(only_before)), [], ORDER, call)


@check("one dominating question", "Does a difference rest on a single question or conversation?")
def one_dominating_question(evidence: Evidence) -> Iterator[Finding]:
    """A significant difference that comes mostly from one unit."""
    name = "one dominating question"
    best = evidence.best_pair()
    # An undefined p-value is nan, which is not below the level.
    is_significant = best["p_value"] < 1 - evidence.level
    if not is_significant:
        return
    scores = evidence.main_scores
    unit = evidence.unit or "example_id"
    keys = ["example_id", *evidence.conditions]
    # One row per item and one column per system. A repeated answer counts once, by the first.
    first_answers = scores.drop_duplicates([*keys, "system"])
    values = first_answers.pivot(index=keys, columns="system", values="value")
    differences = (values[best["system"]] - values[best["baseline"]]).dropna()
    # The unit of each item.
    if unit in keys:
        units = np.asarray(differences.index.get_level_values(unit))
    else:
        unit_of_item = scores.drop_duplicates(keys).set_index(keys)[unit]
        units = np.asarray(unit_of_item[differences.index])
    totals = differences.groupby(units).sum()
    # Units with the opposite difference have negative shares, so others can have more than 1.
    share = totals / totals.sum()
    # One unit dominates if more than half of the difference comes from it.
    if len(totals) < 2 or share.max() <= 0.5:
        return
    largest = share.idxmax()
    n_rows = int((units == largest).sum())
    sentence = (
        f"{share.max():.0%} of the difference between {best['system']} and {best['baseline']} comes "
        f"from {unit} {largest} ({n_rows} of {len(differences):,} rows)."
    )
    frame = evidence.responses if unit in evidence.responses else pd.DataFrame()
    rows = evidence.rows_where(frame[unit] == largest) if len(frame) else []
    yield Finding(sentence, float(share.max()), rows, ORDER, view_rows(name))


@check("different settings", "Were all systems run with the same prompt and settings?")
def different_settings(evidence: Evidence) -> Iterator[Finding]:
    """Settings that differ between systems besides the system itself."""
    systems = evidence.require_systems()
    responses = evidence.responses
    columns = [name for name in SETTINGS if name in responses and responses[name].notna().any()]
    if not columns:
        raise NotPossible(f"there is no column of settings, such as {', '.join(SETTINGS[:3])}")
    differing = []
    for name in columns:
        # The values of each system as texts, because some settings are mappings.
        texts = responses[name].map(str)
        values_of_systems = texts.groupby(responses["system"], sort=False).agg(frozenset)
        if values_of_systems.nunique() > 1:
            differing.append(name)
    if not differing:
        return
    sentence = (
        f"The {len(systems)} systems differ in {enumeration(differing)}, so a difference between them "
        "may be that of the settings."
    )
    call = f"responses.groupby('system')[{differing!r}].agg('unique')"
    yield Finding(sentence, float(len(differing)), [], ORDER, call)
