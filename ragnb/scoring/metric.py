"""What ragnb knows of a metric: one record, and the table of those that ship."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import pandas as pd

from ragnb.errors import InputError
from ragnb.metrics import rgb, verdict
from ragnb.version import __version__


@dataclass(frozen=True, slots=True)
class Metric:
    """What ragnb knows of a metric. A metric of your own is one more record, given to `score`.

    Attributes
    ----------
    name
        ``"family.name"``.
    function
        Pure function of one response: values in, one float out, ``nan`` where undefined.
    columns
        Which column of a responses frame each argument takes: ``{"answer": "references"}``.
    higher_is_better
        Direction.
    bounds
        Lowest and highest value.
    source
        Paper and equation, or repository and commit.
    options
        Keyword options that choose a variant, with their defaults; they become part of the signature.
    binary
        Whether the only values are 0 and 1; such means get Wilson intervals.
    evidence
        Optional function of the same arguments that says in words what decided the value.
    """

    name: str
    function: Callable[..., float]
    columns: Mapping[str, str]
    higher_is_better: bool
    bounds: tuple[float, float]
    source: str
    options: Mapping[str, Any] = field(default_factory=dict)
    binary: bool = False
    evidence: Callable[..., str] | None = None

    def signature(self, options: Mapping[str, Any], **marks: Any) -> str:
        """One line that pins a value: version, metric, options and what else changes it.

        >>> METRICS["rgb.accuracy"].signature({"protocol": "paper"}, lang="en").split("|", 1)[1]
        'metric:rgb.accuracy|protocol:paper|lang:en'
        """
        parts = {"ragnb": __version__, "metric": self.name, **self.options, **options, **marks}
        return "|".join(f"{key}:{value}" for key, value in parts.items() if value is not None)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            name="rgb.accuracy",
            function=rgb.is_correct,
            columns={"response": "response", "answer": "references", "language": "language"},
            higher_is_better=True,
            bounds=(0.0, 1.0),
            source="Chen et al., AAAI 2024, section 3; chen700564/RGB@65ec39e4 evalue.py checkanswer",
            options={"protocol": "paper"},
            binary=True,
            evidence=rgb.answer_evidence,
        ),
        Metric(
            name="annotator.verdict",
            function=verdict.is_accepted,
            columns={"verdict": "verdict"},
            higher_is_better=True,
            bounds=(0.0, 1.0),
            source="the annotator whose column `verdict` it is",
            binary=True,
        ),
    )
}
"""The metrics that ship, by name."""


def lookup(metric: str | Metric) -> Metric:
    """The record of a named metric; a `Metric` of your own is returned as it is.

    Raises
    ------
    InputError
        Unknown name, with the nearest known one.
    """
    if isinstance(metric, Metric):
        return metric
    if metric not in METRICS:
        near = get_close_matches(str(metric), METRICS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(METRICS)}"
        raise InputError(f"score needs the name of a metric or a Metric record; got {metric!r}; {hint}")
    return METRICS[metric]


def is_binary(name: str, values: pd.Series) -> bool:
    """Whether a metric has only the values 0 and 1: as `METRICS` says; of an unknown metric, as its values say."""
    if name in METRICS:
        return METRICS[name].binary
    return len(values) > 0 and bool(values.isin([0.0, 1.0]).all())
