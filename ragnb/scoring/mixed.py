"""Systems compared over all languages by a linear mixed model with a random intercept per question."""

import warnings
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from ragnb.arguments import Floats, accepts
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.results import SMALLEST_P
from ragnb.scoring.comparisons import compare
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns
from ragnb.stats.power import t_mde

# Optimiser with which statsmodels estimates the ratio of the two variances. If this ratio is near
# 0, the default methods of statsmodels may fail to converge. They may also step onto exactly 0,
# where the computed likelihood is infinite, and report convergence. Powell's line search avoids
# both.
OPTIMISER: dict[str, Any] = {"method": ["powell"]}


@dataclass(frozen=True, slots=True)
class MixedModelResult:
    """Differences between systems from a mixed model.

    Attributes
    ----------
    effects
        One row per system: its difference from the baseline, in columns named as those of
        `ragnb.compare`, with ``standard_error`` and ``df``. ``n_pairs`` and ``n_clusters`` are
        those of ``robust``.
    robust
        The differences of ``effects`` as `ragnb.compare` finds them, with the questions as
        clusters: means over the items that both systems scored.
    warnings
        Warnings of statsmodels.
    fit
        The result of statsmodels, or None if there is none.
    """

    effects: pd.DataFrame
    robust: pd.DataFrame
    warnings: tuple[str, ...]
    fit: Any = field(repr=False)


@accepts(confidence_level="level")
def mixed_model(
    scores: pd.DataFrame,
    *,
    metric: str | None = None,
    baseline: str | None = None,
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
    group
        Column whose values a question keeps in all its languages. If there is no ``question_id``,
        ``example_id`` is used. Other conditions that vary, such as a noise rate, are pooled.
    confidence_level
        Of the intervals, in (0, 1).

    Returns
    -------
    MixedModelResult
        Differences, all warnings of statsmodels, and the cluster-robust comparison of `compare`,
        which assumes neither normal scores nor differences that are the same for all questions.

    Raises
    ------
    InputError
        If columns or labels are missing, if there are several metrics and none is chosen, and for
        whatever `compare` refuses.

    Notes
    -----
    value = system + language + intercept of the question + residual, the last two normal; REML. The
    interval and the test agree. Both are by Student's t with n - rank[X Z] degrees of freedom, where
    X is the design and Z the indicators of the questions, so that balanced designs are treated
    exactly, and two systems in one language as by the paired t-test.

    The model assumes that the difference between two systems is the same for all questions except
    for noise. If it is not, the scores of one question in several languages err together, and the
    model's intervals are too narrow. The intervals in ``robust`` are then clearly wider and should
    be preferred.

    Source: Laird & Ware (1982), Biometrics 38, 963-974, as fitted by statsmodels' MixedLM.

    >>> values = {"direct": [0.1, 0.5, 0.3, 0.6, 0.4, 0.8], "lbrag": [0.3, 0.6, 0.4, 0.9, 0.5, 0.8]}
    >>> one = {"question_id": [1, 1, 2, 2, 3, 3], "language": ["en", "de"] * 3, "metric": "f1"}
    >>> scores = pd.concat(pd.DataFrame(one | {"system": s, "value": v}) for s, v in values.items())
    >>> mixed_model(scores).effects[["system", "difference", "low", "high"]].round(3).values.tolist()
    [['lbrag', 0.133, 0.046, 0.22]]
    """
    frame, group = _frame(scores, metric, group)
    scored = frame[frame["value"].notna()]
    if scored.empty:
        raise InputError(
            f"mixed_model needs at least one score with a value, got {len(frame)} without"
        )
    robust = compare(
        frame,
        by=[],
        baseline=frame["system"].iloc[0] if baseline is None else baseline,
        cluster=group,
        unpaired="drop",
        confidence_level=confidence_level,
    )
    # The columns of the design: the intercept, one per system, one per language but the first.
    # The baseline and the first language are the references of the others.
    intercept = np.ones(len(scored))
    is_system = [scored["system"] == system for system in robust["system"]]
    other_languages = scored["language"].unique()[1:]
    is_language = [scored["language"] == language for language in other_languages]
    design = np.column_stack([intercept, *is_system, *is_language]).astype(float)
    values = scored["value"].to_numpy(float)
    units, _ = pd.factorize(scored[group])

    within = _deviations(design, units)
    rank = _rank(within)
    df = len(scored) - len(set(units)) - rank
    fit, problem, fit_warnings = _fitted(values, design, units, df)
    estimate = np.full(len(robust), nan)
    error = np.full(len(robust), nan)
    warning = [problem] * len(robust)
    for row in range(len(robust)):
        if problem:
            continue
        # If the rank is the same without the column of the system, other columns explain it, and
        # the data cannot tell its effect from theirs.
        column = 1 + row
        without_system = np.delete(within, column, axis=1)
        if _rank(without_system) == rank:
            warning[row] = "the data do not determine the difference within questions"
            continue
        estimate[row] = fit.fe_params[column]
        error[row] = fit.bse_fe[column]

    half_width = stdtrit(df, (1 + confidence_level) / 2) * error
    t = estimate / error
    p_values = 2 * stdtr(df, -np.abs(t))
    power = 0.8  # the default of `compare`
    options: dict[str, Any] = {"df": df, "confidence_level": confidence_level, "power": power}
    mde = [t_mde(standard_error, **options) for standard_error in error]
    effects = robust[["metric", "system", "baseline", "n_pairs", "n_clusters"]].assign(
        difference=estimate,
        low=estimate - half_width,
        high=estimate + half_width,
        interval="t of the mixed model",
        confidence_level=confidence_level,
        test="t-test of the mixed model",
        standard_error=error,
        df=df,
        statistic=t,
        p_value=np.maximum(p_values, SMALLEST_P),
        **dict.fromkeys(ADJUSTED),
        mde=mde,
        power=power,
        duality="dual",
        warning=warning,
    )
    effects = effects.assign(**adjusted_columns(effects["p_value"]))
    return MixedModelResult(effects, robust, fit_warnings, fit)


def _frame(scores: pd.DataFrame, metric: str | None, group: str) -> tuple[pd.DataFrame, str]:
    """The scores of one metric, completed and checked, and the name of the column of groups.

    Every row has a language, which is empty if the scores have none, and a group, as text.
    """
    if group == "question_id" and group not in scores:
        group = "example_id"
    require_columns(scores, ("system", "metric", "value", group), "mixed_model")
    metrics = list(scores["metric"].unique())
    if metric is None and len(metrics) == 1:
        metric = metrics[0]
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
    ids = frame[group].astype(object)
    # The number 1 and the text "1" would become one question.
    present_ids = ids.dropna()
    is_text = present_ids.map(lambda key: isinstance(key, str)).astype(bool)
    if is_text.any() and not is_text.all():
        raise InputError(
            f"mixed_model needs ids of one kind in {group}, got the text "
            f"{present_ids[is_text].iloc[0]!r:.40} and {present_ids[~is_text].iloc[0]!r:.40}, which is "
            "no text; convert all of them to str"
        )
    # The group of a row without one is its example.
    keys = ids.where(ids.notna(), frame["example_id"].astype(object))
    groups = pd.Series([str(key) for key in keys], frame.index, dtype=object)
    return frame.assign(**{group: groups}).reset_index(drop=True), group


def _fitted(
    values: Floats, design: Floats, units: Any, df: int
) -> tuple[Any, str, tuple[str, ...]]:
    """The result of statsmodels, the problem if the model could not be fitted, and warnings."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    if df < 1 or _rank(design) < design.shape[1]:
        problem = f"{len(values)} values of {len(set(units))} questions do not determine the model"
        return None, problem, ()
    within = _deviations(design, units)
    deviations = _deviations(values[:, None], units)
    coefficients = np.linalg.lstsq(within, deviations)[0]
    residuals = deviations - within @ coefficients
    # Residuals below 1e-10 of the values are rounding errors; here, both are squared.
    has_no_residuals = np.sum(residuals**2) <= 1e-20 * (values @ values)
    if has_no_residuals:
        return (
            None,
            "systems and languages explain all variation within questions, so no error can be estimated",
            (),
        )
    fit, problem = None, ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit = MixedLM(values, design, groups=units).fit(reml=True, **OPTIMISER)
            if not np.isfinite([fit.cov_re[0, 0], fit.scale, fit.llf, *fit.bse_fe]).all():
                problem = "the likelihood or a standard error is not finite"
            if not fit.converged:
                problem = "the search for the variances did not converge"
        except (np.linalg.LinAlgError, ValueError) as error:
            problem = f"statsmodels stopped ({error})"
    messages = [" ".join(str(warning.message).split()) for warning in caught]
    return fit, problem, tuple(dict.fromkeys(messages))


def _deviations(matrix: Floats, groups: Any) -> Floats:
    """Deviations of each column from its group means."""
    return matrix - pd.DataFrame(matrix).groupby(groups).transform("mean").to_numpy()


def _rank(matrix: Floats) -> int:
    """Rank of a matrix, in which singular values below 1e-9 of the largest one count as 0."""
    # A matrix of zeros has no largest singular value to compare with.
    return int(np.linalg.matrix_rank(matrix, rtol=1e-9)) if matrix.any() else 0
