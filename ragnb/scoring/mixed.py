"""Systems compared over all languages in one model: fixed effects and a random intercept for each question."""

from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any

import numpy as np
import pandas as pd

from ragnb.errors import InputError
from ragnb.records import CONDITION, require_columns
from ragnb.results import SignificanceResult
from ragnb.scoring.comparisons import compare
from ragnb.scoring.mixed_result import MixedModelResult
from ragnb.stats.checks import Floats, check_level, undefined_test
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns
from ragnb.stats.numerics import SMALLEST_P, t_cdf, t_quantile, two_sided
from ragnb.stats.power import t_mde
from ragnb.stats.random_intercept import RandomIntercept, random_intercept

_POWER = 0.8


def mixed_model(
    scores: pd.DataFrame,
    *,
    metric: str | None = None,
    baseline: str | None = None,
    interaction: bool = False,
    group: str = "question_id",
    confidence_level: float = 0.95,
) -> MixedModelResult:
    """Differences between systems that answered the same questions in several languages, from a linear mixed model.

    A difference is system - baseline, in the unit of the metric; nan, with its reason, where the data cannot tell it.

    Parameters
    ----------
    scores
        As `score` returns them: ``system, metric, value``, ``question_id`` or ``example_id``, and ``language`` where there
        are several. The design need be neither balanced nor complete: every score that has a value is used.
    metric
        The metric to model; by default the only one of the frame.
    baseline
        The system that all others are compared with; by default the first of the frame.
    interaction
        Whether each system has its own difference in each language. If not, its difference is taken to be the same in all;
        the likelihood-ratio test says whether that fits.
    group
        Column whose values a question keeps in all its languages; ``example_id`` stands in for a missing ``question_id``.
    confidence_level
        Of the intervals, in (0, 1).

    Returns
    -------
    MixedModelResult
        Differences, variances, every warning of statsmodels, and always the cluster-robust comparison of `compare` beside,
        which needs neither normal scores nor differences that are the same for all questions. ``problems`` says when that
        one is to be preferred.

    Raises
    ------
    InputError
        Missing columns, labels or names, several metrics and none chosen, and whatever `compare` refuses: fewer than two
        systems, an unknown baseline, an item that a system scored twice, infinite values, different definitions.

    Notes
    -----
    value = system + language (+ system:language) + intercept of the question + residual, the last two normal; REML. An
    average over languages gives each the same weight. Interval and test are duals: Student's t with n - rank[X Z] degrees
    of freedom where questions show the difference within themselves, so that balanced designs are treated exactly, and two
    systems in one language as by the paired t-test. The interaction is tested by the likelihood ratio of two
    maximum-likelihood fits. Holm's correction runs over the systems, and over all rows of ``by_language``.

    The model takes the difference between two systems to be the same for all questions but for noise. Where it is not, the
    scores of one question in several languages err together and the model's intervals are too narrow; the cluster-robust
    standard error is then clearly larger, and ``problems`` says so.

    Source: Laird & Ware (1982), Biometrics 38, 963-974, as fitted by statsmodels' MixedLM.

    >>> values = {"direct": [0.1, 0.5, 0.3, 0.6, 0.4, 0.8], "lbrag": [0.3, 0.6, 0.4, 0.9, 0.5, 0.8]}
    >>> one = {"question_id": [1, 1, 2, 2, 3, 3], "language": ["en", "de"] * 3, "metric": "answer.f1"}
    >>> scores = pd.concat(pd.DataFrame(one | {"system": name, "value": given}) for name, given in values.items())
    >>> print(mixed_model(scores).summary().splitlines()[1])
    lbrag scores 0.133 higher than direct, averaged over 2 languages (95% interval 0.046 to 0.220, p = 0.0084).
    """
    check_level(confidence_level)
    frame, group, notes = _frame(scores, metric, group)
    baseline = frame["system"].iloc[0] if baseline is None else baseline
    kept = frame[frame["value"].notna()]
    if kept.empty:
        raise InputError(f"mixed_model needs scores with a value; got {len(frame)} without; see their reason")
    languages = list(kept["language"].unique()) if "language" in kept else []
    interaction, more = _possible(interaction, languages)
    told: dict[str, Any] = {"baseline": baseline, "confidence_level": confidence_level}
    robust, by_language = _robust(frame, languages if interaction else [], told | {"cluster": group, "unpaired": "drop"})
    terms = _Terms([baseline, *robust["system"]], languages or [None], interaction)
    model = _fit(kept, terms, group)
    test, said = _interaction_test(kept, terms, group)
    return MixedModelResult(
        **told,
        metric=str(frame["metric"].iloc[0]),
        group=group,
        formula=terms.formula(group),
        effects=_effects(robust, terms, model),
        by_language=_effects(by_language, terms, model),
        robust=robust,
        robust_by_language=by_language,
        interaction_test=test,
        observations=kept.assign(residual=model.residuals),
        missing=frame[frame["value"].isna()],
        notes=(*notes, *more),
        warnings=(*_warnings("estimates", model), *said),
        model=model,
    )


# ---- what is modelled --------------------------------------------------------------------------------------------------


def _frame(scores: pd.DataFrame, metric: str | None, group: str) -> tuple[pd.DataFrame, str, list[str]]:
    """The scores of one metric with a group in every row, the column of groups, and what had to be done for them."""
    require_columns(scores, ("system", "metric", "value"), "mixed_model")
    notes = []
    if group == "question_id" and group not in scores:
        group = "example_id"
        notes.append("There is no question_id: each example_id counts as a question of its own")
    require_columns(scores, (group,), "mixed_model(group=...)")
    frame = _of_metric(scores, metric)
    if "language" in frame and frame["language"].isna().all():
        frame = frame.drop(columns="language")
    for column, value in (("example_id", frame[group]), ("signature", "")):
        if column not in frame:
            frame = frame.assign(**{column: value})
    frame = frame.assign(**{group: frame[group].where(frame[group].notna(), frame["example_id"])})
    _refuse_gaps(frame, ["system", group, *(["language"] if "language" in frame else [])])
    notes += [f"{name} varies and is not in the model: its values are pooled" for name in _pooled(frame)]
    return frame.assign(**{group: frame[group].astype(str)}).reset_index(drop=True), group, notes


def _of_metric(scores: pd.DataFrame, metric: str | None) -> pd.DataFrame:
    present = list(dict.fromkeys(scores["metric"]))
    if metric not in present and (metric is not None or len(present) != 1):
        got = f"metric={metric!r} among {', '.join(map(str, present)) or 'none'}"
        raise InputError(f"mixed_model needs one metric that was scored; got {got}; choose it with metric=")
    return scores[scores["metric"] == (present[0] if metric is None else metric)]


def _refuse_gaps(frame: pd.DataFrame, columns: list[str]) -> None:
    for name in columns:
        if lacking := int(frame[name].isna().sum()):
            raise InputError(f"mixed_model needs a {name} in every row; got {lacking} without; fill them, or drop the rows")


def _pooled(frame: pd.DataFrame) -> list[str]:
    """Conditions that vary within a system and are no term of the model."""
    others = [name for name in CONDITION if name in frame and name not in ("system", "language")]
    return [name for name in others if frame.groupby("system")[name].nunique(dropna=False).max() > 1]


def _possible(interaction: bool, languages: list[Any]) -> tuple[bool, list[str]]:
    """Whether an interaction can be fitted, and which terms had to be dropped."""
    if len(languages) > 1:
        return interaction, []
    dropped = "no term for the language" + (", and no interaction" if interaction else "")
    told = f"The only language is {languages[0]}" if languages else "No language is named"
    return False, [f"{told}: the model has {dropped}"]


@dataclass(frozen=True, slots=True)
class _Terms:
    """The fixed effects: systems, the baseline first, and languages, in sum or (``interaction``) each cell by itself."""

    systems: list[Any]
    languages: list[Any]
    interaction: bool

    def formula(self, group: str) -> str:
        language = " + language" if len(self.languages) > 1 else ""
        return f"value ~ system{language}{' + system:language' if self.interaction else ''} + (1 | {group})"

    def design(self, frame: pd.DataFrame) -> Floats:
        """One row a score."""
        systems = pd.Categorical(frame["system"], self.systems).codes
        languages = pd.Categorical(frame["language"], self.languages).codes if "language" in frame else 0 * systems
        return self._rows(systems, languages)

    def differences(self, system: Any) -> Floats:
        """One row a language: what is expected of the system minus what is of the baseline."""
        every = np.arange(len(self.languages))
        return self._rows(np.full_like(every, self.systems.index(system)), every) - self._rows(0 * every, every)

    def _rows(self, systems: Any, languages: Any) -> Floats:
        system, language = np.eye(len(self.systems))[systems], np.eye(len(self.languages))[languages]
        if self.interaction:
            return (system[:, :, None] * language[:, None, :]).reshape(len(system), -1)
        return np.column_stack([np.ones(len(system)), system[:, 1:], language[:, 1:]])


def _robust(frame: pd.DataFrame, languages: list[Any], options: dict[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The comparisons of `compare` over all languages, and in each of these."""
    over_all = compare(frame, by=[], **options)
    if not languages:
        return over_all, over_all.iloc[:0]
    return over_all, compare(frame[frame["language"].isin(languages)], by="language", **options)


# ---- what is estimated -------------------------------------------------------------------------------------------------


def _fit(kept: pd.DataFrame, terms: _Terms, group: str, *, reml: bool = True) -> RandomIntercept:
    return random_intercept(kept["value"].to_numpy(float), terms.design(kept), kept[group].to_numpy(), reml=reml)


def _effects(robust: pd.DataFrame, terms: _Terms, model: RandomIntercept) -> pd.DataFrame:
    """The differences of the rows of ``robust`` as the model has them, in columns of the same names."""
    if robust.empty:
        return robust
    keys = [name for name in ("language", "metric", "system", "baseline", "n_pairs", "n_clusters") if name in robust]
    rows = [
        {name: row[name] for name in keys} | _effect(row, terms, model, row["confidence_level"])
        for row in robust.to_dict("records")
    ]
    table = pd.DataFrame(rows)
    return table.assign(**adjusted_columns(table["p_value"]))


def _effect(row: dict[str, Any], terms: _Terms, model: RandomIntercept, level: float) -> dict[str, Any]:
    contrast, warning = _contrast(row, terms, model)
    estimate, error, df = model.contrast(contrast)
    half = t_quantile((1 + level) / 2, df) * error
    t = estimate / error if error else nan
    return {
        "difference": estimate,
        "low": estimate - half,
        "high": estimate + half,
        "interval": "t of the mixed model",
        "confidence_level": level,
        "test": "t-test of the mixed model",
        "standard_error": error,
        "df": df,
        "statistic": t,
        "p_value": nan if isnan(t) else two_sided(t_cdf(t, df), t_cdf(-t, df), "two-sided"),
        **dict.fromkeys(ADJUSTED),
        "mde": t_mde(error, df=df, confidence_level=level, power=_POWER),
        "power": _POWER,
        "duality": "dual",
        "warning": warning,
    }  # fmt: skip


def _contrast(row: dict[str, Any], terms: _Terms, model: RandomIntercept) -> tuple[Floats, str]:
    """Weights of a difference in one language, or of its average over those that tell it; and what is to be said of it."""
    each = terms.differences(row["system"])
    if model.problem:
        return each[0], model.problem
    told = [not isnan(model.design.df(one)) for one in each]
    if "language" in row:
        here = terms.languages.index(row["language"])
        return each[here], "" if told[here] else "one of the two has no score in this language"
    if not any(told):
        return each[0], "no language joins the scores of the two"
    without = [str(language) for language, one in zip(terms.languages, told, strict=True) if not one]
    return each[told].mean(axis=0), f"average without {', '.join(without)}, where one has no score" if without else ""


def _interaction_test(kept: pd.DataFrame, terms: _Terms, group: str) -> tuple[SignificanceResult, list[str]]:
    """Likelihood-ratio test of system:language by two maximum-likelihood fits, and what statsmodels warned of meanwhile."""
    from scipy.stats import chi2

    method = "likelihood-ratio test of system:language"
    if len(terms.languages) < 2:
        return undefined_test("greater", method, kept[group].nunique(), "there are not two languages"), []
    alike, apart = (_fit(kept, replace(terms, interaction=one), group, reml=False) for one in (False, True))
    said = [*_warnings("test, without interaction", alike), *_warnings("test, with interaction", apart)]
    df, n = len(apart.design.columns) - len(alike.design.columns), alike.design.n_groups
    if problem := alike.problem or apart.problem or ("" if df else "no two languages share two systems"):
        return undefined_test("greater", method, n, problem), said
    statistic = max(2 * (apart.log_likelihood - alike.log_likelihood), 0.0)
    p_value = max(float(chi2.sf(statistic, df)), SMALLEST_P)
    return SignificanceResult(statistic, p_value, "greater", f"{method}, {df} df", n), said


def _warnings(of: str, model: RandomIntercept) -> list[str]:
    """What statsmodels warned of, as sentences that say during which fit."""
    ended = [message if message.endswith(".") else f"{message}." for message in model.warnings]
    return [f"{message} ({of})" + _explained(message, model) for message in ended]


def _explained(message: str, model: RandomIntercept) -> str:
    if "boundary" not in message or model.problem or model.at_zero:
        return ""
    return f" It says so of any variance below 0.01, whatever the unit; this one is {model.group_variance:.2g}, not 0."
