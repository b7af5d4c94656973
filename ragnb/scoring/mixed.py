"""Systems compared over all languages by a linear mixed model with a random intercept per question.

`mixed_model` fits it, and its `MixedModelResult` says in words how far it can be trusted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import isnan, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import chdtrc, stdtr, stdtrit

from ragnb.arguments import Floats
from ragnb.errors import InputError
from ragnb.markup import Markup, join, tag
from ragnb.records import CONDITION, require_columns
from ragnb.results import SMALLEST_P, SignificanceResult, format_p_value, undefined_test
from ragnb.scoring.comparisons import compare
from ragnb.stats.intervals import FEW_CLUSTERS
from ragnb.stats.mixed import RandomIntercept, random_intercept
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns
from ragnb.stats.power import t_mde

TOO_SURE = 1.2
"""If the cluster-robust standard error is more than this many times that of the model, the model
may leave something out. If the former is right, its 95 % intervals then cover at most 90 %."""

HEAPED, SKEWED = 0.25, 1.0
"""Shares of scores at one end of the scale and skewness above these are far from normal."""

_POWER = 0.8


# ---- the result --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MixedModelResult:
    """Differences between systems from a mixed model, with what may be doubted.

    Attributes
    ----------
    metric, baseline, group, confidence_level
        What was modelled, and how.
    formula
        The model as it was fitted, without dropped terms.
    effects
        One row per system: its difference from the baseline averaged over the languages, in columns
        named as those of `ragnb.compare`, with ``standard_error`` and ``df``. ``n_pairs`` and
        ``n_clusters`` are those of ``robust``.
    by_language
        The same with one row per language and system; empty unless an interaction was requested and
        fitted.
    robust, robust_by_language
        The same differences as `ragnb.compare` finds them, with the questions as clusters: means
        over the items that both systems scored.
    interaction_test
        Likelihood-ratio test of system:language; undefined, with its reason, if there is nothing to
        test.
    observations, missing
        The scores used, with their ``residual``, and those without a value, which were left out.
    notes, warnings
        What was done differently from the request, and warnings of statsmodels.
    model
        The fit behind ``effects``, with its variances; ``model.fit`` is the result of statsmodels.
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
    def languages(self) -> list[Any]:
        """The languages of the scores used."""
        return (
            list(self.observations["language"].unique()) if "language" in self.observations else []
        )

    @property
    def intraclass_correlation(self) -> float:
        """Share of the variance that lies between questions, in [0, 1]; NaN without a model."""
        return self.model.group_variance / (
            self.model.group_variance + self.model.residual_variance
        )

    @property
    def error_ratios(self) -> pd.Series:
        """Cluster-robust standard error divided by that of the model, by system."""
        half = (self.robust["high"] - self.robust["low"]) / 2
        quantiles = stdtrit(self.robust["n_clusters"] - 1, (1 + self.confidence_level) / 2)
        return (half / quantiles / self.effects["standard_error"]).set_axis(self.effects["system"])

    @property
    def problems(self) -> tuple[str, ...]:
        """Reasons to prefer the cluster-robust comparison; empty if there are none."""
        found = []
        if self.model.problem:
            found.append(f"there is no model: {self.model.problem}")
        if self.model.at_zero:
            found.append(
                "the variance between questions is estimated as 0, so the model treats all scores "
                "as independent"
            )
        ratios = self.error_ratios
        found += [
            f"the cluster-robust standard error of {system} is {ratio:.1f} times the model's: its "
            "difference seems to vary from question to question, which the model does not allow for"
            for system, ratio in ratios[ratios > TOO_SURE].items()
        ]
        return tuple(found)

    def assumptions(self) -> pd.DataFrame:
        """Checks of what the model assumes, one row each: ``check, value, concern, meaning``."""
        values, skewness = self.observations["value"], self.observations["residual"].skew()
        ratio, questions = self.error_ratios.max(), self.model.n_groups
        zeros, ones = (float((values == end).mean()) for end in (0, 1))
        heaped = "many equal scores: not normal, but means of many questions are nearly normal"
        rows = [
            ("share of scores exactly 0", zeros, zeros > HEAPED, heaped, "few equal scores"),
            ("share of scores exactly 1", ones, ones > HEAPED, heaped, "few equal scores"),
            (
                "skewness of the residuals", skewness, abs(skewness) > SKEWED,
                "skewed: needs many questions", "fairly symmetric",
            ),
            (
                "share of the variance between questions", self.intraclass_correlation,
                self.model.at_zero, "estimated as 0: the pairing by question is lost", "above 0",
            ),
            (
                "cluster-robust standard error over the model's, largest", ratio, ratio > TOO_SURE,
                "differences seem to vary between questions: too narrow intervals", "they agree",
            ),
            (
                "questions", questions, questions < FEW_CLUSTERS,
                f"fewer than {FEW_CLUSTERS}: every assumption matters", "many",
            ),
        ]  # fmt: skip
        table = pd.DataFrame(rows, columns=["check", "value", "concern", "meaning", "otherwise"])
        undefined = table["value"].isna()
        meaning = (
            table["meaning"]
            .where(table["concern"], table["otherwise"])
            .mask(undefined, "undefined")
        )
        return table.assign(concern=table["concern"] | undefined, meaning=meaning).drop(
            columns="otherwise"
        )

    def summary(self) -> str:
        """The results in sentences, one per line."""
        return "\n".join(_sentences(self))

    def _repr_html_(self) -> str:
        tables = {
            "Mixed model": self.effects,
            "Mixed model, by language": self.by_language,
            "Cluster-robust comparison": self.robust,
            "Cluster-robust comparison, by language": self.robust_by_language,
        }
        shown = (_html_table(title, table) for title, table in tables.items() if len(table))
        return join([*(tag("p", sentence) for sentence in _sentences(self)), *shown])


def _sentences(result: MixedModelResult) -> Iterator[str]:
    n, n_languages, model = len(result.observations), len(result.languages), result.model
    among = f" in {_count(n_languages, 'language')}" if n_languages else ""
    yield (
        f"{result.metric}: {_count(n, 'score')} of {_count(model.n_groups, 'question')}"
        f"{among}, as {result.formula}."
    )
    where = f", averaged over {n_languages} languages" if n_languages > 1 else ""
    yield from (_difference(row, where) for row in result.effects.to_dict("records"))
    for system, rows in result.by_language.dropna(subset="difference").groupby(
        "system", sort=False
    ):
        low, high = (
            rows.loc[place] for place in (rows["difference"].idxmin(), rows["difference"].idxmax())
        )
        yield (
            f"By language, {system} differs from {low['baseline']} by {low['difference']:+.3f} "
            f"({low['language']}) to {high['difference']:+.3f} ({high['language']})."
        )
    if not model.problem:
        yield (
            f"Questions differ with sd {sqrt(model.group_variance):.3f}, scores of one question "
            f"with sd {sqrt(model.residual_variance):.3f}: {result.intraclass_correlation:.0%} of the "
            "variance lies between questions."
        )
    if not model.problem and n_languages > 1:
        yield _interaction(result.interaction_test)
    if len(result.missing):
        yield f"{_count(len(result.missing), 'score')} without a value left out."
    yield from (f"{note}." for note in result.notes)
    yield from (f"statsmodels warned: {warning}" for warning in result.warnings)
    yield from (f"Prefer the cluster-robust comparison: {problem}." for problem in result.problems)
    for row in result.robust.to_dict("records") if result.problems else []:
        yield "Cluster-robust: " + _difference(
            row, f", over {_count(row['n_pairs'], 'pair')} of scores"
        )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _difference(row: dict[str, Any], where: str) -> str:
    system, baseline, warning = (
        row["system"],
        row["baseline"],
        row["warning"].removeprefix("undefined: "),
    )
    if isnan(row["difference"]):
        return f"The difference between {system} and {baseline} is undefined: {warning}."
    limits = f"{row['confidence_level']:.0%} interval {row['low']:.3f} to {row['high']:.3f}"
    limits = "no interval" if isnan(row["low"]) else limits
    direction = "higher" if row["difference"] >= 0 else "lower"
    corrected = (
        f"; {format_p_value(row['p_adjusted'])} corrected for {row['family_size']}"
        if row["family_size"] > 1
        else ""
    )
    return (
        f"{system} scores {abs(row['difference']):.3f} {direction} than {baseline}{where} "
        f"({limits}, {format_p_value(row['p_value'])}{corrected}{warning and f'; {warning}'})."
    )


def _interaction(test: SignificanceResult) -> str:
    if isnan(test.p_value):
        reason = test.warning.removeprefix("undefined: ")
        return f"Whether differences depend on the language was not tested: {reason}."
    found = f"({test.method}, {format_p_value(test.p_value)})"
    if test.p_value < 0.05:
        return f"Differences depend on the language {found}: look at each language."
    return (
        f"Nothing shows that differences depend on the language {found}; "
        "that is no proof that they do not."
    )


def _html_table(title: str, table: pd.DataFrame) -> Markup:
    numbers = ["difference", "low", "high", "p_value", "p_adjusted", "mde"]
    columns = [*(["language"] if "language" in table else []), "system", "baseline", *numbers]
    shown = table[columns].astype(dict.fromkeys(numbers, object))
    shown[numbers] = table[numbers].map(
        lambda value: "undefined" if isnan(value) else f"{value:+.3f}"
    )
    rows = [tag("tr", *(tag("td", cell) for cell in row)) for row in shown.itertuples(index=False)]
    head = tag("tr", *(tag("th", name) for name in columns))
    methods = " / ".join(dict.fromkeys([*table["interval"], *table["test"]]))
    return tag("div", tag("p", tag("b", title)), tag("table", head, *rows), tag("small", methods))


# ---- the model ---------------------------------------------------------------------------------


def mixed_model(
    scores: pd.DataFrame,
    *,
    metric: str | None = None,
    baseline: str | None = None,
    interaction: bool = False,
    group: str = "question_id",
    confidence_level: float = 0.95,
) -> MixedModelResult:
    """Compare systems over several languages by a linear mixed model.

    The systems answered the same questions. A difference is system - baseline, in the unit of the
    metric. It is NaN, with its reason, if the data do not determine it.

    Parameters
    ----------
    scores
        As `score` returns them: ``system, metric, value``, ``question_id`` or ``example_id``, and
        ``language`` if there are several. The design need not be balanced or complete: every score
        that has a value is used.
    metric
        The metric to model; by default the only one of the frame.
    baseline
        The system that all others are compared with; by default the first of the frame.
    interaction
        Whether each system has its own difference in each language. Otherwise its difference is the
        same in all languages, and the likelihood-ratio test says whether this fits.
    group
        Column whose values a question keeps in all its languages. If there is no ``question_id``,
        ``example_id`` is used.
    confidence_level
        Of the intervals, in (0, 1).

    Returns
    -------
    MixedModelResult
        Differences, variances, all warnings of statsmodels, and the cluster-robust comparison of
        `compare`, which assumes neither normal scores nor differences that are the same for all
        questions. ``problems`` says when to prefer it.

    Raises
    ------
    InputError
        If columns or labels are missing, if there are several metrics and none is chosen, and for
        whatever `compare` refuses.

    Notes
    -----
    value = system + language (+ system:language) + intercept of the question + residual, the last
    two normal; REML. An average over languages gives each the same weight. The interval and the
    test agree. Both are by Student's t, with n - rank[X Z] degrees of freedom if the difference
    varies within questions, so that balanced designs are treated exactly, and two systems in one
    language as by the paired t-test. The interaction is tested by the likelihood ratio of two
    maximum-likelihood fits. Holm's correction runs over the systems, and over all rows of
    ``by_language``.

    The model assumes that the difference between two systems is the same for all questions except
    for noise. If it is not, the scores of one question in several languages err together, and the
    model's intervals are too narrow. The cluster-robust standard error is then clearly larger, and
    ``problems`` says so.

    Source: Laird & Ware (1982), Biometrics 38, 963-974, as fitted by statsmodels' MixedLM.

    >>> values = {"direct": [0.1, 0.5, 0.3, 0.6, 0.4, 0.8], "lbrag": [0.3, 0.6, 0.4, 0.9, 0.5, 0.8]}
    >>> one = {"question_id": [1, 1, 2, 2, 3, 3], "language": ["en", "de"] * 3, "metric": "f1"}
    >>> scores = pd.concat(pd.DataFrame(one | {"system": s, "value": v}) for s, v in values.items())
    >>> print(mixed_model(scores).summary().splitlines()[1])
    lbrag scores 0.133 higher than direct, averaged over 2 languages (95% interval 0.046 to 0.220...
    """
    frame, group, notes = _frame(scores, metric, group)
    baseline = frame["system"].iloc[0] if baseline is None else baseline
    kept = frame[frame["value"].notna()]
    if kept.empty:
        raise InputError(
            f"mixed_model needs scores with a value; got {len(frame)} without; see their reason"
        )
    languages = list(kept["language"].unique()) if "language" in kept else []
    if len(languages) < 2:
        only = f"The only language is {languages[0]}" if languages else "No language is named"
        dropped = "no term for the language" + (", and no interaction" if interaction else "")
        notes.append(f"{only}: the model has {dropped}")
    interaction = interaction and len(languages) > 1
    stated: dict[str, Any] = {"baseline": baseline, "confidence_level": confidence_level}
    robust = compare(frame, by=[], cluster=group, unpaired="drop", **stated)
    robust_by_language = robust.iloc[:0]
    if interaction:
        spoken = frame[frame["language"].isin(languages)]
        robust_by_language = compare(
            spoken, by="language", cluster=group, unpaired="drop", **stated
        )
    terms = _Terms([baseline, *robust["system"]], languages or [None], interaction)
    model = terms.fit(kept, group)
    test, warnings = _interaction_test(kept, terms, group)
    return MixedModelResult(
        **stated,
        metric=str(frame["metric"].iloc[0]),
        group=group,
        formula=terms.formula(group),
        effects=_effects(robust, terms, model),
        by_language=_effects(robust_by_language, terms, model),
        robust=robust,
        robust_by_language=robust_by_language,
        interaction_test=test,
        observations=kept.assign(residual=model.residuals),
        missing=frame[frame["value"].isna()],
        notes=tuple(notes),
        warnings=(*_warnings("estimates", model), *warnings),
        model=model,
    )


def _frame(
    scores: pd.DataFrame, metric: str | None, group: str
) -> tuple[pd.DataFrame, str, list[str]]:
    """The scores of one metric with a group in every row, the column of groups, and notes."""
    require_columns(scores, ("system", "metric", "value"), "mixed_model")
    notes = []
    if group == "question_id" and group not in scores:
        group = "example_id"
        notes.append("There is no question_id: each example_id counts as a question of its own")
    require_columns(scores, (group,), "mixed_model(group=...)")
    present = list(scores["metric"].unique())
    if metric not in present and (metric is not None or len(present) != 1):
        got = f"metric={metric!r} among {', '.join(map(str, present)) or 'none'}"
        raise InputError(
            f"mixed_model needs one metric that was scored; got {got}; choose it with metric="
        )
    frame = scores[scores["metric"] == (present[0] if metric is None else metric)]
    if "language" in frame and frame["language"].isna().all():
        frame = frame.drop(columns="language")
    defaults = {"example_id": frame[group], "signature": ""}
    frame = frame.assign(**{name: value for name, value in defaults.items() if name not in frame})
    frame = frame.assign(**{group: frame[group].fillna(frame["example_id"])})
    for name in ("system", group, "language"):
        if name in frame and frame[name].isna().any():
            lacking = frame[name].isna().sum()
            raise InputError(
                f"mixed_model needs a {name} in every row; got {lacking} without; fill them, or "
                "drop the rows"
            )
    pooled = [name for name in CONDITION if name in frame and name not in ("system", "language")]
    varying = [
        name for name in pooled if frame.groupby("system")[name].nunique(dropna=False).max() > 1
    ]
    notes += [f"{name} varies and is not in the model: its values are pooled" for name in varying]
    return frame.assign(**{group: frame[group].astype(str)}).reset_index(drop=True), group, notes


@dataclass(frozen=True, slots=True)
class _Terms:
    """Fixed effects: systems (the baseline first) and languages, or one effect per cell."""

    systems: list[Any]
    languages: list[Any]
    interaction: bool

    def formula(self, group: str) -> str:
        language = " + language" if len(self.languages) > 1 else ""
        cells = " + system:language" if self.interaction else ""
        return f"value ~ system{language}{cells} + (1 | {group})"

    def fit(self, frame: pd.DataFrame, group: str, *, reml: bool = True) -> RandomIntercept:
        systems = pd.Categorical(frame["system"], self.systems).codes
        languages = (
            pd.Categorical(frame["language"], self.languages).codes
            if "language" in frame
            else 0 * systems
        )
        return random_intercept(
            frame["value"], self.design(systems, languages), frame[group], reml=reml
        )

    def differences(self, system: Any) -> Floats:
        """Weights of the system's difference from the baseline, one row per language."""
        every = np.arange(len(self.languages))
        return self.design(np.full_like(every, self.systems.index(system)), every) - self.design(
            0 * every, every
        )

    def design(self, systems: Any, languages: Any) -> Floats:
        system, language = (
            np.eye(len(self.systems))[systems],
            np.eye(len(self.languages))[languages],
        )
        if self.interaction:
            return (system[:, :, None] * language[:, None, :]).reshape(len(system), -1)
        return np.column_stack([np.ones(len(system)), system[:, 1:], language[:, 1:]])


def _effects(robust: pd.DataFrame, terms: _Terms, model: RandomIntercept) -> pd.DataFrame:
    """The differences in the rows of ``robust`` by the model, in columns of the same names."""
    if robust.empty:
        return robust
    rows = []
    for row in robust.to_dict("records"):
        weights, warning = _contrast(row, terms, model)
        estimate, error, df = model.contrast(weights)
        level = row["confidence_level"]
        half = stdtrit(df, (1 + level) / 2) * error
        t = estimate / error if error else nan
        keys = ("language", "metric", "system", "baseline", "n_pairs", "n_clusters")
        rows.append(
            {name: row[name] for name in keys if name in row}
            | {
                "difference": estimate,
                "low": estimate - half,
                "high": estimate + half,
                "interval": "t of the mixed model",
            }
            | {
                "confidence_level": level,
                "test": "t-test of the mixed model",
                "standard_error": error,
                "df": df,
            }
            | {
                "statistic": t,
                "p_value": max(2 * stdtr(df, -abs(t)), SMALLEST_P) if t == t else nan,
                **dict.fromkeys(ADJUSTED),
            }
            | {"mde": t_mde(error, df=df, confidence_level=level, power=_POWER), "power": _POWER}
            | {"duality": "dual", "warning": warning}
        )
    table = pd.DataFrame(rows)
    return table.assign(**adjusted_columns(table["p_value"]))


def _contrast(row: dict[str, Any], terms: _Terms, model: RandomIntercept) -> tuple[Floats, str]:
    """Weights of a difference in one language, or of its average over languages, and a warning."""
    each = terms.differences(row["system"])
    if model.problem:
        return each[0], model.problem
    known = np.array([not isnan(model.df(weights)) for weights in each])
    if "language" in row:
        here = terms.languages.index(row["language"])
        return each[here], "" if known[here] else "one of the two has no score in this language"
    if not known.any():
        return each[0], "no language joins the scores of the two"
    without = ", ".join(
        str(language) for language, one in zip(terms.languages, known, strict=True) if not one
    )
    return each[known].mean(
        axis=0
    ), f"average without {without}, where one has no score" if without else ""


def _interaction_test(
    kept: pd.DataFrame, terms: _Terms, group: str
) -> tuple[SignificanceResult, list[str]]:
    """Likelihood-ratio test of system:language by two fits, and their warnings."""
    method = "likelihood-ratio test of system:language"
    if len(terms.languages) < 2:
        return undefined_test(
            "greater", method, kept[group].nunique(), "there are not two languages"
        ), []
    alike, apart = (
        replace(terms, interaction=one).fit(kept, group, reml=False) for one in (False, True)
    )
    warnings = [
        *_warnings("test, without interaction", alike),
        *_warnings("test, with interaction", apart),
    ]
    df, n = len(apart.columns) - len(alike.columns), alike.n_groups
    if (
        problem := alike.problem
        or apart.problem
        or ("" if df else "no two languages share two systems")
    ):
        return undefined_test("greater", method, n, problem), warnings
    statistic = max(2 * (apart.log_likelihood - alike.log_likelihood), 0.0)
    p_value = max(float(chdtrc(df, statistic)), SMALLEST_P)
    return SignificanceResult(statistic, p_value, "greater", f"{method}, {df} df", n), warnings


def _warnings(of: str, model: RandomIntercept) -> list[str]:
    """Warnings of statsmodels as sentences that name the fit; false alarms are explained."""
    false_alarm = (
        " It says so of any variance below 0.01, whatever the unit; "
        f"this one is {model.group_variance:.2g}, not 0."
    )
    fitted = not model.problem and not model.at_zero
    return [
        f"{message.removesuffix('.')}. ({of})"
        + (false_alarm if fitted and "boundary" in message else "")
        for message in model.warnings
    ]
