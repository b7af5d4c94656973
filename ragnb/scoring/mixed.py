"""Systems compared over all languages by a linear mixed model with a random intercept per question."""

from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import chdtrc, stdtr, stdtrit

from ragnb.arguments import Floats, accepts
from ragnb.errors import InputError
from ragnb.records import require_columns
from ragnb.results import SMALLEST_P, SignificanceResult, undefined_test
from ragnb.scoring.comparisons import compare
from ragnb.stats.mixed import RandomIntercept, random_intercept
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns
from ragnb.stats.power import t_mde

TOO_SURE = 1.2
"""If the cluster-robust standard error is more than this many times that of the model, the model
may leave something out. If the former is right, its 95 % intervals then cover at most 90 %."""

_POWER = 0.8


@dataclass(frozen=True, slots=True)
class MixedModelResult:
    """Differences between systems from a mixed model, with diagnostics.

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
    robust
        The differences of ``effects`` as `ragnb.compare` finds them, with the questions as
        clusters: means over the items that both systems scored.
    interaction_test
        Likelihood-ratio test of system:language; undefined, with its reason, if there is nothing to
        test.
    warnings
        Warnings of statsmodels.
    model
        The fit behind ``effects``, with its variances and residuals; ``model.fit`` is the result of
        statsmodels.
    """

    metric: str
    baseline: Any
    group: str
    confidence_level: float
    formula: str
    effects: pd.DataFrame
    by_language: pd.DataFrame
    robust: pd.DataFrame
    interaction_test: SignificanceResult
    warnings: tuple[str, ...]
    model: RandomIntercept = field(repr=False)

    @property
    def intraclass_correlation(self) -> float:
        """Share of the variance that lies between questions, in [0, 1]; NaN without a model."""
        between, within = self.model.group_variance, self.model.residual_variance
        return between / (between + within)

    @property
    def error_ratios(self) -> pd.Series:
        """Cluster-robust standard error divided by that of the model, by system.

        A ratio far above 1 means that the difference varies from question to question, which the
        model does not allow for.
        """
        half = (self.robust["high"] - self.robust["low"]) / 2
        quantiles = stdtrit(self.robust["n_clusters"] - 1, (1 + self.confidence_level) / 2)
        return (half / quantiles / self.effects["standard_error"]).set_axis(self.effects["system"])

    @property
    def problems(self) -> tuple[str, ...]:
        """Reasons to prefer the cluster-robust comparison; empty if there are none."""
        found = [f"there is no model: {self.model.problem}"] if self.model.problem else []
        if self.model.at_zero:
            found.append("the variance between questions is estimated as 0")
        for system, ratio in self.error_ratios.items():
            if ratio > TOO_SURE:
                found.append(
                    f"the cluster-robust standard error of {system} is {ratio:.1f} times the "
                    "model's: its difference seems to vary from question to question"
                )
        return tuple(found)


@accepts(interaction=(False, True), confidence_level="level")
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
        ``example_id`` is used. Other conditions that vary, such as a noise rate, are pooled.
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
    >>> mixed_model(scores).effects[["system", "difference", "low", "high"]].round(3).values.tolist()
    [['lbrag', 0.133, 0.046, 0.22]]
    """
    frame, group = _frame(scores, metric, group)
    kept = frame[frame["value"].notna()]
    if kept.empty:
        raise InputError(f"mixed_model needs scores with a value, got {len(frame)} without")
    baseline = frame["system"].iloc[0] if baseline is None else baseline
    languages = list(kept["language"].unique())
    stated: dict[str, Any] = {"baseline": baseline, "confidence_level": confidence_level}
    robust = compare(frame, by=[], cluster=group, unpaired="drop", **stated)
    interaction = interaction and len(languages) > 1
    terms = _Terms([baseline, *robust["system"]], languages, interaction)
    model = terms.fit(kept, group)
    by_language = robust.iloc[:0]
    if interaction:
        spoken = frame[frame["language"].isin(languages)]
        pairs = compare(spoken, by="language", cluster=group, unpaired="drop", **stated)
        by_language = _effects(pairs, terms, model)
    test, warnings = _interaction_test(kept, terms, group)
    return MixedModelResult(
        **stated,
        metric=str(frame["metric"].iloc[0]),
        group=group,
        formula=terms.formula(group),
        effects=_effects(robust, terms, model),
        by_language=by_language,
        robust=robust,
        interaction_test=test,
        warnings=tuple(dict.fromkeys([*model.warnings, *warnings])),
        model=model,
    )


def _frame(scores: pd.DataFrame, metric: str | None, group: str) -> tuple[pd.DataFrame, str]:
    """The scores of one metric with a language and a group in every row, and the group."""
    if group == "question_id" and group not in scores:
        group = "example_id"
    require_columns(scores, ("system", "metric", "value", group), "mixed_model")
    metrics = list(scores["metric"].unique())
    metric = metrics[0] if metric is None and len(metrics) == 1 else metric
    if metric not in metrics:
        raise InputError(
            f"metric must be one of {', '.join(map(str, metrics)) or 'none'}, got {metric!r}"
        )
    frame = scores[scores["metric"] == metric]
    defaults = {"example_id": frame[group], "signature": "", "language": ""}
    frame = frame.assign(**{name: value for name, value in defaults.items() if name not in frame})
    if frame["language"].isna().all():
        frame = frame.assign(language="")
    if frame["language"].isna().any():
        raise InputError(
            f"mixed_model needs a language in every row, got {frame['language'].isna().sum()} "
            "without; fill them, or drop the rows"
        )
    groups = frame[group].fillna(frame["example_id"]).astype(str)
    return frame.assign(**{group: groups}).reset_index(drop=True), group


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
        languages = pd.Categorical(frame["language"], self.languages).codes
        design = self.design(systems, languages)
        return random_intercept(frame["value"], design, frame[group], reml=reml)

    def differences(self, system: Any) -> Floats:
        """Weights of the system's difference from the baseline, one row per language."""
        every = np.arange(len(self.languages))
        own = np.full_like(every, self.systems.index(system))
        return self.design(own, every) - self.design(0 * every, every)

    def design(self, systems: Any, languages: Any) -> Floats:
        system = np.eye(len(self.systems))[systems]
        language = np.eye(len(self.languages))[languages]
        if self.interaction:
            return (system[:, :, None] * language[:, None, :]).reshape(len(system), -1)
        return np.column_stack([np.ones(len(system)), system[:, 1:], language[:, 1:]])


def _effects(pairs: pd.DataFrame, terms: _Terms, model: RandomIntercept) -> pd.DataFrame:
    """The differences in the rows of a comparison by the model, in columns of the same names."""
    rows = []
    keys = ("language", "metric", "system", "baseline", "n_pairs", "n_clusters")
    for row in pairs.to_dict("records"):
        weights, warning = _contrast(row, terms, model)
        estimate, error, df = model.contrast(weights)
        level = row["confidence_level"]
        half = stdtrit(df, (1 + level) / 2) * error
        t = estimate / error if error else nan
        rows.append(
            {name: row[name] for name in keys if name in row}
            | {
                "difference": estimate,
                "low": estimate - half,
                "high": estimate + half,
                "interval": "t of the mixed model",
                "confidence_level": level,
                "test": "t-test of the mixed model",
                "standard_error": error,
                "df": df,
                "statistic": t,
                "p_value": max(2 * stdtr(df, -abs(t)), SMALLEST_P) if t == t else nan,
                **dict.fromkeys(ADJUSTED),
                "mde": t_mde(error, df=df, confidence_level=level, power=_POWER),
                "power": _POWER,
                "duality": "dual",
                "warning": warning,
            }
        )
    table = pd.DataFrame(rows)
    return table.assign(**adjusted_columns(table["p_value"]))


def _contrast(row: dict[str, Any], terms: _Terms, model: RandomIntercept) -> tuple[Floats, str]:
    """Weights of a difference in one language, or of its average over languages, and a warning."""
    each = terms.differences(row["system"])
    if "language" in row:
        each = each[[terms.languages.index(row["language"])]]
    if model.problem:
        return each[0], model.problem
    known = np.array([not isnan(model.df(weights)) for weights in each])
    if not known.any():
        return each[0], "the scores of the two share no language"
    if known.all():
        return each.mean(axis=0), ""
    return each[known].mean(axis=0), (
        f"average over {known.sum()} of {known.size} languages, in which both have scores"
    )


def _interaction_test(
    kept: pd.DataFrame, terms: _Terms, group: str
) -> tuple[SignificanceResult, list[str]]:
    """Likelihood-ratio test of system:language by two fits, and their warnings."""
    method = "likelihood-ratio test of system:language"
    if len(terms.languages) < 2:
        n, problem = kept[group].nunique(), "there are not two languages"
        return undefined_test("greater", method, n, problem), []
    alike, apart = (
        replace(terms, interaction=one).fit(kept, group, reml=False) for one in (False, True)
    )
    warnings = [*alike.warnings, *apart.warnings]
    df = len(apart.columns) - len(alike.columns)
    problem = alike.problem or apart.problem or ("" if df else "no two languages share two systems")
    if problem:
        return undefined_test("greater", method, alike.n_groups, problem), warnings
    statistic = max(2 * (apart.log_likelihood - alike.log_likelihood), 0.0)
    p_value = max(float(chdtrc(df, statistic)), SMALLEST_P)
    method = f"{method}, {df} df"
    return SignificanceResult(statistic, p_value, "greater", method, alike.n_groups), warnings
