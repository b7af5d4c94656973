"""Checks of the comparison: definitions, pairing, clusters, precision, and what differs besides the system."""

# Tested in tests/reports/test_review.py.

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import fdtrc

from ragnb.errors import InputError
from ragnb.metrics.record import EXTRA_WORDS, METRICS
from ragnb.metrics.words import metric_words
from ragnb.numbers import enumeration, format_p_value, percent
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
    counts_in_words,
    number_of,
    view_rows,
)
from ragnb.reports.sensitivity import number_of_definitions, sensitivity
from ragnb.scoring.comparisons import compare
from ragnb.stats.intervals import mean_interval
from ragnb.text import tokens

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


# Pairs of systems that are named in a sentence.
MOST_PAIRS = 3
# Scores of all definitions that take about a minute on one core.
SCORES_IN_A_MINUTE = 300_000
# The metrics under which the first or the second system of a pair is better, in the conclusions of
# `ragnb.compare_definitions`.
SIDES = ("better", "worse")

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
    named_first = pd.concat([reversed_pairs[has_best], reversed_pairs[~has_best]])
    # For each metric, the system with the best rank, and then for each such system its metrics.
    best_systems = result.ranks.idxmin()
    metrics_by_system = best_systems.groupby(best_systems, sort=False).groups
    winners = [f"{', '.join(metrics)}: {system}" for system, metrics in metrics_by_system.items()]
    n_reversed = len(reversed_pairs)
    sentences = [
        f"Best system by metric: {'; '.join(winners)}.",
        f"{n_reversed} of {number_of(n_pairs, 'pair')} of systems "
        f"{'changes' if n_reversed == 1 else 'change'} order with the metric{_pairs_in_words(named_first)}.",
        _better_under(named_first.iloc[0].to_dict()),
        _lengths_in_words(evidence, named_first.iloc[0].to_dict()),
    ]
    yield Finding(
        " ".join(filter(None, sentences)),
        float(n_reversed),
        [],
        ORDER,
        _call_for_definitions(evidence),
    )


def _pairs_in_words(pairs: pd.DataFrame) -> str:
    """The first pairs of systems, if there are several."""
    if len(pairs) == 1:
        return ""
    names = [f"{row['system']} and {row['baseline']}" for row in pairs.to_dict("records")]
    n_more = len(names) - MOST_PAIRS
    return f" ({'; '.join(names[:MOST_PAIRS])}{f'; and {n_more} more' if n_more > 0 else ''})"


def _better_under(pair: dict[Any, Any]) -> str:
    """Under which metrics each of two systems is better."""
    better, worse = (", ".join(map(metric_words, pair[f"{side}_under"])) for side in SIDES)
    return (
        f"Of {pair['system']} and {pair['baseline']}, {pair['system']} is better by these metrics: {better}; "
        f"and {pair['baseline']} by these: {worse}."
    )


def _lengths_in_words(evidence: Evidence, pair: dict[Any, Any]) -> str:
    """The lengths of the answers of two systems, if these explain under which metrics each is better."""
    responses = evidence.responses
    if "response" not in responses:
        return ""
    medians = {}
    for system in (pair["system"], pair["baseline"]):
        texts = responses.loc[responses["system"] == system, "response"]
        lengths = [len(tokens(text)) for text in texts if isinstance(text, str)]
        # Without answers there is no median, and nan is not below the other one.
        medians[system] = np.median(lengths) if lengths else np.nan
    # The metrics under which each system is better, and whether they count extra words as errors.
    for system, other, better, worse in (
        (pair["system"], pair["baseline"], *(pair[f"{side}_under"] for side in SIDES)),
        (pair["baseline"], pair["system"], *(pair[f"{side}_under"] for side in reversed(SIDES))),
    ):
        is_explained = (
            all(map(_punishes_extra_words, better))
            and not any(map(_punishes_extra_words, worse))
            and medians[system] < medians[other]
        )
        if is_explained:
            return (
                f"Extra words lower {enumeration(map(metric_words, better))}, "
                f"and the answers of {system} are shorter (median {medians[system]:.0f} words; {other} "
                f"{medians[other]:.0f})."
            )
    return ""


def _punishes_extra_words(metric: str) -> bool:
    """Whether extra words in a right answer lower the value of a metric."""
    return EXTRA_WORDS in (METRICS[metric].punishes or ())


def _call_for_definitions(evidence: Evidence) -> str:
    """The call that compares the systems under all definitions, with the number of these."""
    n_definitions = number_of_definitions(evidence.responses)
    n_scores = n_definitions * len(evidence.responses)
    time = ", may take minutes" if n_scores > SCORES_IN_A_MINUTE else ""
    return f"ragnb.compare_definitions(responses)  # {n_definitions} definitions{time}"


def _known_unit(evidence: Evidence) -> str | None:
    """Column of the units of the responses, if there is a main metric."""
    return evidence.unit if _has_main_scores(evidence) else None


def _has_main_scores(evidence: Evidence) -> bool:
    """Whether there is a main metric, and at least one score of it."""
    try:
        return len(evidence.main_scores) > 0
    except NotPossible:
        return False


@check("questions that some systems lack", "Does every system have a row for every question?")
def questions_that_some_systems_lack(evidence: Evidence) -> Iterator[Finding]:
    """Questions for which some systems have no row."""
    name = "questions that some systems lack"
    systems = evidence.require_systems()
    evidence.column("example_id")
    responses = evidence.responses
    n_systems = responses.groupby("example_id")["system"].nunique()
    partial = n_systems[n_systems < len(systems)]
    if partial.empty:
        return
    n_of_system = responses.groupby("system", sort=False)["example_id"].nunique()
    lacking = {
        system: (len(n_systems) - int(n), len(n_systems)) for system, n in n_of_system.items()
    }
    sentence = (
        f"{len(partial):,} of {len(n_systems):,} questions have no row of at least one of the "
        f"{len(systems)} systems: {counts_in_words(lacking)}. Means over all rows then compare different "
        "questions; ragnb.compare uses the shared ones with unpaired='drop'."
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
        raise NotPossible("each system has one row per question or conversation")
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
        f"The {n_rows:,} rows of {system} have only {n_units:,} different values of {unit}, and rows with the "
        f"same value are alike ({format_p_value(p_value)}). An interval that takes rows as independent is "
        f"too narrow: it has to be {ratio:.2f} times as wide."
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
    # The better system is named first. This is the one with the lower mean if lower is better.
    sign = 1 if best["system"] == first else -1
    sentence = (
        f"The data do not show which of {first} and {second} is better "
        f"({metric_words(best['metric'])}): {first} minus {second} is {sign * best['difference']:z.3f}"
    )
    if evidence.has_binary_scores:
        sentence += f", or {100 * sign * best['difference']:z.1f} percentage points"
    if np.isfinite([best["low"], best["high"]]).all():
        low, high = sorted((sign * best["low"], sign * best["high"]))
        sentence += f" ({percent(evidence.level)} interval {low:z.3f} to {high:z.3f}"
        if best["family_size"] > 1:
            # The interval is not corrected, so it may exclude 0.
            sentence += (
                f"; {format_p_value(best['p_adjusted'])} after {best['correction'].title()}'s "
                f"correction for {best['family_size']} comparisons"
            )
            n_systems = len(evidence.order)
            if best["family_size"] == n_systems * (n_systems - 1) // 2:
                sentence += f", all pairs of {n_systems} systems"
        sentence += ")"
    n_all = best["n_pairs"] + best["n_dropped"]
    items = _items_in_words(evidence, best["n_pairs"], n_all)
    sentence += f", over {items}."
    if best["n_dropped"]:
        means = evidence.main_scores.groupby("system")["value"].mean()
        sentence += (
            f" Over all of their scores, {first} has a mean of {means[first]:.3f} and {second} of "
            f"{means[second]:.3f}."
        )
    if np.isfinite(best["mde"]):
        points = f" ({100 * best['mde']:.1f} points)" if evidence.has_binary_scores else ""
        n_items = _items_in_words(evidence, best["n_pairs"], best["n_pairs"])
        sentence += (
            f" With {n_items}, only differences of about {best['mde']:.3f}{points} or more are found with "
            f"{percent(best['power'])} power."
        )
    call = f"ragnb.sentences(ragnb.compare({evidence.call_for_scores}{_unpaired(evidence.comparisons)}))"
    yield Finding(sentence, float(best["mde"]), [], ORDER, call)


def _unpaired(comparisons: pd.DataFrame) -> str:
    """The argument of `ragnb.compare` that leaves out items without a score of both systems, if there are any."""
    return ", unpaired='drop'" if comparisons["n_dropped"].any() else ""


def _items_in_words(evidence: Evidence, n_pairs: int, n_all: int) -> str:
    """The number of items on which two systems are compared, and of those that both could have."""
    noun = "question" if evidence.unit in (None, "example_id") else "pair"
    plural = "questions" if noun == "question" else "pairs of answers"
    if n_pairs == n_all:
        return number_of(n_pairs, noun, plural)
    return f"the {n_pairs:,} of {n_all:,} {plural} on which both have a score"


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
        f"{len(only_before)} of {len(table)} differences between two systems are significant only without "
        f"the correction for {len(table)} comparisons, such as that of {'; '.join(pairs)}."
    )
    call = f"ragnb.compare({scores}{_unpaired(table)})"
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
