"""Sentences that say what comparisons show, and what they do not show."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import is_missing
from ragnb.columns import CONDITION, require_columns
from ragnb.errors import InputError
from ragnb.markup import Markup, tag
from ragnb.metrics.judged import VERDICTS_OF_A_MODEL
from ragnb.metrics.words import metric_words
from ragnb.numbers import format_p_value, interval_words
from ragnb.stats.intervals import FEW_CLUSTERS

_NEEDED = (
    "metric system baseline n_pairs n_dropped difference low high interval confidence_level test "
    "p_adjusted correction family_size mde power"
).split()
# Columns of power, which a difference that is corrected by labels does not have.
_OF_POWER = ("mde", "power")


class Sentences(list[str]):
    """Sentences that are displayed one below the other."""

    def __repr__(self) -> str:
        return "\n".join(self)

    def _repr_html_(self) -> Markup:
        return tag("div", *(tag("p", sentence) for sentence in self))


@accepts()
def sentences(comparisons: pd.DataFrame, *, names: Mapping[str, str] | None = None) -> Sentences:
    """Say what each comparison shows, as a sentence that the data support.

    Parameters
    ----------
    comparisons
        Result of `ragnb.compare`, also with ``labels=``, or some of its rows.
    names
        Words for systems and metrics, such as ``{"fid": "FiD"}``.

    Returns
    -------
    Sentences
        One text per comparison. A difference is stated as shown if its adjusted p-value is below 1
        minus the confidence level. Otherwise the text says that the data do not show which system
        is better, and which differences this number of questions would often miss. It also says if
        questions were left out, if there are few independent units, and if the scores are verdicts
        of a model, which may be wrong more often for one of the systems. If the differences are
        corrected by labels, the texts are about people's labels, and also state what the labels
        alone show.

    Raises
    ------
    InputError
        A column of `ragnb.compare` is missing, or there is no row.

    Examples
    --------
    >>> from ragnb import compare
    >>> scores = pd.DataFrame({
    ...     "example_id": [*range(40)] * 2, "system": ["a"] * 40 + ["b"] * 40, "metric": "answer.contains",
    ...     "value": [0.0] * 30 + [1.0] * 10 + [1.0] * 38 + [0.0] * 2, "signature": "s"})
    >>> sentences(compare(scores, baseline="a"), names={"answer.contains": "containment"})
    containment: b is 0.70 higher than a (95 % Tango interval 0.48 to 0.83, 40 questions, McNemar mid-p, p = 1.3e-07).
    """
    is_corrected = "labels_alone" in comparisons
    needed = [name for name in _NEEDED if not (is_corrected and name in _OF_POWER)]
    require_columns(comparisons, needed, "sentences")
    if comparisons.empty:
        raise InputError("sentences needs at least one comparison, got none")
    words = dict(names or {})
    return Sentences(_sentence(row, words) for row in comparisons.to_dict("records"))


def _sentence(row: Mapping[Any, Any], names: Mapping[str, str]) -> str:
    """What one comparison shows, and what limits it."""
    metric = names.get(row["metric"], metric_words(row["metric"]))
    is_corrected = "labels_alone" in row
    # A corrected difference is one of people's labels, and the metric is the judge.
    quantity = f"people's labels, estimated with {metric}" if is_corrected else metric
    subject = ", ".join([quantity, *_conditions(row)])
    system = names.get(row["system"], row["system"])
    baseline = names.get(row["baseline"], row["baseline"])
    if not np.isfinite(row["difference"]):
        return f"{subject}: {system} and {baseline} have no pair of scores, so nothing is compared."
    # An undefined p-value is nan, which is not below the level, so the difference is then not significant.
    is_significant = bool(row["p_adjusted"] < 1 - row["confidence_level"])
    sentences = [_finding(row, subject, system, baseline, is_significant=is_significant)]
    if is_corrected:
        sentences.append(_labels_alone(row))
    elif not is_significant:
        sentences.append(_missed(row))
    sentences += _reservations(row, system, baseline)
    # A sentence that has nothing to say is empty.
    return " ".join(filter(None, sentences))


def _conditions(row: Mapping[Any, Any]) -> list[str]:
    """The conditions of a comparison, such as ``language en``."""
    names = [name for name in CONDITION if name != "system" and not is_missing(row.get(name))]
    return [f"{name.replace('_', ' ')} {row[name]}" for name in names]


def _finding(
    row: Mapping[Any, Any], subject: str, system: str, baseline: str, *, is_significant: bool
) -> str:
    """Which system is higher, or that the data do not show it.

    `row` is a row of `ragnb.compare`, and `subject` the metric with its conditions. `system` and `baseline` are
    the words for the two systems.
    """
    difference = row["difference"]
    decimals = _decimals(row)
    details = _details(row)
    if is_significant:
        direction = "higher" if difference > 0 else "lower"
        size = _signed(abs(difference), decimals)
        return f"{subject}: {system} is {size} {direction} than {baseline} ({details})."
    return (
        f"{subject}: the data do not show which of {system} and {baseline} is higher; "
        f"the difference is {_signed(difference, decimals)} ({details})."
    )


def _signed(value: float, decimals: int) -> str:
    """A number with a minus sign if it is negative, and without a sign if it is printed as zero."""
    # The letter z removes the sign of a zero.
    return f"{value:z.{decimals}f}".replace("-", "−")


def _decimals(row: Mapping[Any, Any]) -> int:
    """Number of decimals that shows the width of the interval with two digits: 2, 3 or 4."""
    width = row["high"] - row["low"]
    has_width = np.isfinite(width) and width > 0
    if not has_width:
        return 2
    # The first digit of the width is at the place floor(log10(width)): -1 for 0.35, and so 2 decimals.
    return int(np.clip(1 - np.floor(np.log10(width)), 2, 4))


def _details(row: Mapping[Any, Any]) -> str:
    """Interval, number of pairs, test and p-value, as the text in parentheses after a difference."""
    decimals = _decimals(row)
    details = []
    if np.isfinite([row["low"], row["high"]]).all():
        low, high = _signed(row["low"], decimals), _signed(row["high"], decimals)
        level = f"{100 * row['confidence_level']:g} %"
        kind = row["interval"]
        if "labels_alone" in row:
            # The name of a corrected interval goes on with details, such as the kind of its clusters.
            kind = kind.partition(",")[0]
        interval = interval_words([kind], f"interval {low} to {high}")
        details.append(f"{level} {interval}")
    pairs = f"{row['n_pairs']:,} {_name_of_a_pair(row)}s"
    if "n_labels" in row:
        pairs += f", {row['n_labels']:,} of them with labels"
    details.append(pairs)
    details.append(f"{row['test']}, {format_p_value(row['p_adjusted'])}")
    text = ", ".join(details)
    if row["family_size"] > 1:
        text += f" after {row['correction'].title()}'s correction for {row['family_size']}"
        text += " comparisons"
    return text


def _is_clustered(row: Mapping[Any, Any]) -> bool:
    """Whether several pairs are one independent unit, such as the translations of a question."""
    return bool(row.get("n_clusters", row["n_pairs"]) < row["n_pairs"])


def _name_of_a_pair(row: Mapping[Any, Any]) -> str:
    """A pair of scores belongs to one question, but one question may have several pairs if there are clusters."""
    return "pair" if _is_clustered(row) else "question"


def _labels_alone(row: Mapping[Any, Any]) -> str:
    """What the labels show without the metric; empty if they show nothing."""
    decimals = _decimals(row)
    values = (row["labels_alone"], row["labels_alone_low"], row["labels_alone_high"])
    if not np.isfinite(values).all():
        return ""
    estimate, low, high = (_signed(value, decimals) for value in values)
    return f"From the labels alone, the difference is {estimate} ({low} to {high})."


def _missed(row: Mapping[Any, Any]) -> str:
    """Which differences the number of questions or clusters would often miss; empty if this is unknown."""
    if not np.isfinite(row["mde"]):
        return ""
    # A test with a power of 0.8 misses the minimum detectable effect (mde) one time in 5.
    n_tests_per_miss = 1 / (1 - row["power"])
    smallest_difference = f"{row['mde']:.{_decimals(row)}f}"
    units = "clusters" if _is_clustered(row) else "questions"
    return (
        f"With this number of {units}, a difference below {smallest_difference} is "
        f"missed more than one time in {n_tests_per_miss:.3g}."
    )


def _reservations(row: Mapping[Any, Any], system: str, baseline: str) -> list[str]:
    """What limits the finding: questions left out, few units, verdicts of a model."""
    reservations = []
    if row["n_dropped"]:
        n_dropped = row["n_dropped"]
        unit = _name_of_a_pair(row)
        were = f"{unit} was" if n_dropped == 1 else f"{unit}s were"
        reservations.append(f"{n_dropped:,} {were} left out because a score is missing.")
    if _is_clustered(row) and row["n_clusters"] < FEW_CLUSTERS:
        n_clusters = row["n_clusters"]
        reservations.append(f"There are only {n_clusters} clusters, so the interval is too narrow.")
    is_corrected = "labels_alone" in row
    if row["metric"].startswith(VERDICTS_OF_A_MODEL) and not is_corrected:
        reservations.append(
            f"The scores are verdicts of a model; whether it errs equally often for {system} and "
            f"{baseline} must be checked with people's labels (ragnb.judge_report)."
        )
    return reservations
