"""What a mixed model of systems and languages found: in tables, in words, and how far it is to be trusted."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isnan, nan, sqrt
from typing import Any

import pandas as pd

from ragnb.markup import Markup, join, tag
from ragnb.results import SignificanceResult, format_p_value
from ragnb.stats.intervals import FEW_CLUSTERS
from ragnb.stats.numerics import t_quantile
from ragnb.stats.random_intercept import RandomIntercept

TOO_SURE = 1.2
"""A cluster-robust standard error above that many times the model's hints that the model leaves something out: if the former
is right, a 95 % interval of the model covers 90 % at most."""

HEAPED, SKEWED = 0.25, 1.0
"""Share of scores at one end of the scale, and skewness of the residuals, above which they are far from normal."""


@dataclass(frozen=True, slots=True)
class MixedModelResult:
    """Differences between systems from a mixed model, the variances behind them, and what is to be doubted.

    Attributes
    ----------
    metric, baseline, group, confidence_level
        What was modelled, and how.
    formula
        The model as it was fitted, dropped terms left out.
    effects
        One row a system: its difference to the baseline averaged over the languages, in columns named as those of
        `ragnb.compare`, with ``standard_error`` and ``df``. ``n_pairs`` and ``n_clusters`` are those of ``robust``.
    by_language
        The same, one row a language and system; empty unless an interaction was asked for and fitted.
    robust, robust_by_language
        The same differences as `ragnb.compare` finds them, with the questions as clusters: means over the items that both
        systems scored.
    interaction_test
        Likelihood-ratio test of system:language; undefined, with its reason, where there is nothing to test.
    observations, missing
        The scores used, with their ``residual``; and those without a value, which were left out.
    notes
        What was done otherwise than asked for.
    warnings
        What statsmodels warned of.
    model
        The fit behind ``effects``; ``model.fit`` is the result of statsmodels.
    """

    metric: str
    baseline: Any
    group: str
    confidence_level: float
    formula: str
    effects: pd.DataFrame
    by_language: pd.DataFrame
    robust: pd.DataFrame
    robust_by_language: pd.DataFrame
    interaction_test: SignificanceResult
    observations: pd.DataFrame = field(repr=False)
    missing: pd.DataFrame = field(repr=False)
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    model: RandomIntercept = field(repr=False)

    @property
    def n_observations(self) -> int:
        """Number of scores used."""
        return len(self.observations)

    @property
    def n_groups(self) -> int:
        """Number of questions among them."""
        return self.model.design.n_groups

    @property
    def languages(self) -> list[Any]:
        """The languages of the scores used."""
        return list(self.observations["language"].unique()) if "language" in self.observations else []

    @property
    def converged(self) -> bool:
        """Whether the search for the variances ended where it should."""
        return self.model.converged

    @property
    def question_variance(self) -> float:
        """Variance between questions; nan where nothing was fitted."""
        return self.model.group_variance

    @property
    def residual_variance(self) -> float:
        """Variance of the scores of one question; nan where nothing was fitted."""
        return self.model.residual_variance

    @property
    def intraclass_correlation(self) -> float:
        """Share of the variance that lies between questions, in [0, 1]; nan where nothing was fitted."""
        return self.question_variance / (self.question_variance + self.residual_variance)

    @property
    def error_ratios(self) -> pd.Series:
        """Cluster-robust standard error over that of the model, by system; nan where one is undefined."""
        half = (self.robust["high"] - self.robust["low"]) / 2
        quantiles = [t_quantile((1 + self.confidence_level) / 2, n - 1) for n in self.robust["n_clusters"]]
        return (half / quantiles / self.effects["standard_error"]).set_axis(self.effects["system"])

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the model is not to be trusted and ``robust`` is to be preferred; empty when nothing speaks against it."""
        return tuple(_problems(self))

    def assumptions(self) -> pd.DataFrame:
        """What the model takes for granted, looked at: ``check, value, concern, meaning``, one row a check."""
        return pd.DataFrame(_checks(self), columns=["check", "value", "concern", "meaning"])

    def summary(self) -> str:
        """What was found, in plain sentences, one a line."""
        return "\n".join(_sentences(self))

    def _repr_html_(self) -> str:
        told = [tag("p", sentence) for sentence in _sentences(self)]
        tables = {
            "Mixed model": self.effects,
            "Mixed model, by language": self.by_language,
            "Cluster-robust comparison": self.robust,
            "Cluster-robust comparison, by language": self.robust_by_language,
        }
        return join([*told, *(_as_html(title, table) for title, table in tables.items() if len(table))])


# ---- is it to be trusted -----------------------------------------------------------------------------------------------


def _problems(result: MixedModelResult) -> Iterator[str]:
    if result.model.problem:
        yield f"there is no model: {result.model.problem}"
    if result.model.at_zero:
        yield "the variance between questions is estimated as 0, so the model takes all scores for independent"
    ratios = result.error_ratios
    for system, ratio in ratios[ratios > TOO_SURE].items():
        yield (
            f"the cluster-robust standard error of {system} is {ratio:.1f} times the model's: its difference seems to vary "
            "from question to question, which the model does not allow for"
        )


def _checks(result: MixedModelResult) -> Iterator[tuple[str, float, bool, str]]:
    values, residuals = result.observations["value"], result.observations["residual"]
    for end in (0, 1):
        share = float((values == end).mean())
        heap = "a heap: no normal law; means of many questions are nearly normal all the same"
        yield _check(f"share of scores exactly {end}", share, share > HEAPED, heap, "no heap")
    skewness = float(residuals.skew())
    yield _check(
        "skewness of the residuals", skewness, abs(skewness) > SKEWED, "lopsided: needs many questions", "fairly symmetric"
    )
    yield _check(
        "share of the variance between questions", result.intraclass_correlation, result.model.at_zero,
        "estimated as 0, the end of its range: the pairing by question is lost", "inside its range",
    )  # fmt: skip
    largest = float(result.error_ratios.max())
    yield _check(
        "cluster-robust standard error over the model's, largest", largest, largest > TOO_SURE,
        "differences seem to vary from question to question: the model's intervals are too narrow", "they agree",
    )  # fmt: skip
    few = result.n_groups < FEW_CLUSTERS
    yield _check("questions", result.n_groups, few, f"fewer than {FEW_CLUSTERS}: every assumption counts", "many")


def _check(name: str, value: float, concern: bool, meaning: str, otherwise: str) -> tuple[str, float, bool, str]:
    if isnan(value):
        return name, nan, True, "undefined"
    return name, value, concern, meaning if concern else otherwise


# ---- in words ----------------------------------------------------------------------------------------------------------


def _sentences(result: MixedModelResult) -> Iterator[str]:
    languages = len(result.languages)
    among = f" in {_count(languages, 'language')}" if languages else ""
    yield (
        f"{result.metric}: {_count(result.n_observations, 'score')} of {_count(result.n_groups, 'question')}{among}, as "
        f"{result.formula}."
    )
    where = f", averaged over {languages} languages" if languages > 1 else ""
    for row in result.effects.to_dict("records"):
        yield _difference(row, where)
    if len(result.by_language):
        yield from _reaches(result.by_language)
    if not result.model.problem:
        between, within = sqrt(result.question_variance), sqrt(result.residual_variance)
        yield (
            f"Questions differ with sd {between:.3f}, scores of one question with sd {within:.3f}: "
            f"{result.intraclass_correlation:.0%} of the variance lies between questions."
        )
    if languages > 1 and not result.model.problem:
        yield _interaction(result.interaction_test)
    if len(result.missing):
        yield f"{_count(len(result.missing), 'score')} without a value left out."
    yield from (f"{note}." for note in result.notes)
    yield from (f"statsmodels warned: {warning}" for warning in result.warnings)
    for problem in result.problems:
        yield f"Prefer the cluster-robust comparison: {problem}."
    if result.problems:
        for row in result.robust.to_dict("records"):
            yield "Cluster-robust: " + _difference(row, f", over {_count(row['n_pairs'], 'pair')} of scores")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _difference(row: dict[str, Any], where: str) -> str:
    if isnan(row["difference"]):
        return f"The difference of {row['system']} and {row['baseline']} is undefined: {_reason(row['warning'])}."
    direction = "higher" if row["difference"] >= 0 else "lower"
    corrected = f"; {format_p_value(row['p_adjusted'])} corrected for {row['family_size']}" if row["family_size"] > 1 else ""
    limits = f"{row['confidence_level']:.0%} interval {row['low']:.3f} to {row['high']:.3f}"
    limits = "no interval" if isnan(row["low"]) else limits
    doubt = f"; {row['warning']}" if row["warning"] else ""
    return (
        f"{row['system']} scores {abs(row['difference']):.3f} {direction} than {row['baseline']}{where} "
        f"({limits}, {format_p_value(row['p_value'])}{corrected}{doubt})."
    )


def _reason(warning: str) -> str:
    return warning.removeprefix("undefined: ")


def _reaches(by_language: pd.DataFrame) -> Iterator[str]:
    """The range of each system's differences over the languages that have one."""
    for system, rows in by_language.dropna(subset="difference").groupby("system", sort=False):
        low, high = (rows.loc[place] for place in (rows["difference"].idxmin(), rows["difference"].idxmax()))
        yield (
            f"By language, {system} differs from {low['baseline']} by {low['difference']:+.3f} ({low['language']}) to "
            f"{high['difference']:+.3f} ({high['language']})."
        )


def _interaction(test: SignificanceResult) -> str:
    if isnan(test.p_value):
        return f"Whether differences depend on the language was not tested: {_reason(test.warning)}."
    found = f"({test.method}, {format_p_value(test.p_value)})"
    if test.p_value < 0.05:
        return f"Differences depend on the language {found}: look at each language."
    return f"Nothing shows that differences depend on the language {found}; that is no proof that they do not."


# ---- in HTML -----------------------------------------------------------------------------------------------------------


def _as_html(title: str, table: pd.DataFrame) -> Markup:
    keys = [*(["language"] if "language" in table else []), "system", "baseline"]
    level = f"{table['confidence_level'].iloc[0]:.0%} interval"
    head = [*keys, "difference", level, "p", f"p, {table['correction'].iloc[0].capitalize()}", "MDE"]
    rows = [tag("tr", *(tag("td", cell) for cell in _cells(row, keys))) for row in table.to_dict("records")]
    kinds = " / ".join(dict.fromkeys([*table["interval"], *table["test"]]))
    note = tag("small", f"{kinds}; MDE: minimum detectable effect with {table['power'].iloc[0]:.0%} power")
    return tag("div", tag("p", tag("b", title)), tag("table", tag("tr", *(tag("th", name) for name in head)), *rows), note)


def _cells(row: dict[str, Any], keys: list[str]) -> list[Any]:
    numbers = [_number(row["difference"]), f"[{_number(row['low'])}, {_number(row['high'])}]"]
    p_values = [format_p_value(row[name]).removeprefix("p ").removeprefix("= ") for name in ("p_value", "p_adjusted")]
    return [*(row[key] for key in keys), *numbers, *p_values, "undefined" if isnan(row["mde"]) else f"{row['mde']:.3f}"]


def _number(value: float) -> str:
    return "undefined" if isnan(value) else f"{value:+.3f}"
