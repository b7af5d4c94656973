"""Logistic regression of scores of 0 and 1, with the questions as groups (statsmodels)."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr, ndtri, stdtr, stdtrit

from ragnb.arguments import accepts
from ragnb.columns import column_names, require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.numbers import one_line
from ragnb.results import SMALLEST_P
from ragnb.scoring.columns import numbers
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns

# Model -> the names of its interval and of its test.
MODELS = {
    "gee": ("t of GEE", "robust t-test of GEE"),
    "mixed": ("normal, variational Bayes", "z-test of the posterior"),
}


@dataclass(frozen=True, slots=True)
class LogisticResult:
    """Systems compared by logistic regression.

    Attributes
    ----------
    effects
        One row per system but the baseline: ``metric, system, baseline, odds_ratio, low, high,
        interval, confidence_level, difference, test, statistic, p_value, p_adjusted, correction,
        family_size, n, n_groups, model, warning``. ``difference`` is that of the rates that the model
        predicts, on average over all rows.
    warnings
        Warnings of statsmodels.
    fit
        The result of statsmodels.
    """

    effects: pd.DataFrame
    warnings: tuple[str, ...]
    fit: Any = field(repr=False)


@accepts(by=column_names, model=tuple(MODELS), confidence_level="level")
def logistic_model(
    scores: pd.DataFrame,
    *,
    model: str = "gee",
    metric: str | None = None,
    baseline: str | None = None,
    by: Any = None,
    group: str | None = None,
    confidence_level: float = 0.95,
) -> LogisticResult:
    """Compare systems by the odds of a score of 1, with rows of one question in a group.

    Parameters
    ----------
    scores
        As `ragnb.score` returns them, with values of 0 and 1. Rows without a value are left out, and
        the design need not be balanced.
    model
        ``"gee"``: generalised estimating equations with exchangeable correlation within a group. The
        odds ratio is that of the average over groups, and the standard errors are robust.
        ``"mixed"``: a random intercept for each group, estimated by variational Bayes. The odds ratio
        is that within a group, so it is further from 1. The model assumes the same odds ratio in all
        groups. If it varies, the interval is too narrow, and ``"gee"`` should be preferred.
    metric
        The metric to model; by default the only one of the frame.
    baseline
        The system that all others are compared with; by default the first of the frame.
    by
        Columns of further conditions in the model, such as ``"language"``, as categories.
    group
        Column of the groups; by default ``question_id`` if it is there, else ``example_id``.
    confidence_level
        Of the intervals, in (0, 1).

    Returns
    -------
    LogisticResult
        Odds ratios with their intervals, the difference of the predicted rates, and the result of
        statsmodels, for whatever else it offers.

    Raises
    ------
    InputError
        Columns are missing, there are several metrics and none is chosen, a score is neither 0 nor 1,
        there is only one system, or all scores of a system are equal, so that its odds are 0 or
        infinite.

    Notes
    -----
    GEE: robust standard errors with the correction of Mancl and DeRouen for few groups, and t with as
    many degrees of freedom as groups, less the number of coefficients. Mixed: the posterior is
    approximated by a normal distribution, so the interval is a credible interval, and the p-value is
    that of the normal approximation.

    References
    ----------
    .. [1] Liang, K.-Y. & Zeger, S. L. (1986). Longitudinal data analysis using generalized linear
       models. Biometrika 73, 13-22.
    .. [2] Mancl, L. A. & DeRouen, T. A. (2001). A covariance estimator for GEE with improved
       small-sample properties. Biometrics 57, 126-134.

    Examples
    --------
    >>> import ragnb
    >>> result = logistic_model(ragnb.load_study("gpqa-epochs"))
    >>> result.effects[["odds_ratio", "low", "high"]].round(2).values.tolist()
    [[0.77, 0.61, 0.98]]
    """
    frame, group = _frame(scores, metric, by, group)
    systems = list(frame["system"].unique())
    first = systems[0] if baseline is None else baseline
    if first not in systems or len(systems) < 2:
        raise InputError(
            f"logistic_model needs two systems or more, with the baseline among them, got "
            f"{', '.join(map(str, systems))} and the baseline {first!r}"
        )
    others = [system for system in systems if system != first]
    design = _design(frame, others, column_names(by))
    units = pd.factorize(frame[group])[0]
    values = frame["value"].to_numpy(float)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if model == "gee":
            fit, coefficients, errors, df = _gee(values, design, units)
        else:
            fit, coefficients, errors, df = _mixed(values, design, units)
    texts = [one_line(warning.message) for warning in caught]
    messages = tuple(dict.fromkeys(texts))
    interval_name, test_name = MODELS[model]
    rows = []
    for system in others:
        place = list(design.columns).index(f"system {system}")
        effect = _effect(coefficients[place], errors[place], df, confidence_level)
        rows.append(
            {
                "metric": frame["metric"].iloc[0],
                "system": system,
                "baseline": first,
                **effect,
                "interval": interval_name,
                "confidence_level": confidence_level,
                "difference": _difference(design, coefficients, others, system),
                "test": test_name,
                **dict.fromkeys(ADJUSTED),
                "n": len(frame),
                "n_groups": int(units.max()) + 1,
                "model": model,
                "warning": "; ".join(messages),
            }
        )
    table = pd.DataFrame(rows)
    effects = shown(table.assign(**adjusted_columns(table["p_value"], "holm", None)))
    return LogisticResult(effects, messages, fit)


def _frame(
    scores: pd.DataFrame, metric: str | None, by: Any, group: str | None
) -> tuple[pd.DataFrame, str]:
    """The rows with a value of one metric, and the column of groups."""
    require_columns(scores, ("system", "metric", "value", *column_names(by)), "logistic_model")
    metrics = list(scores["metric"].unique())
    chosen = metrics[0] if metric is None and len(metrics) == 1 else metric
    if chosen not in metrics:
        raise InputError(f"metric must be one of {', '.join(map(str, metrics))}, got {chosen!r}")
    if group is None:
        group = "question_id" if "question_id" in scores else "example_id"
    require_columns(scores, (group,), "logistic_model")
    frame = pd.DataFrame(scores).assign(value=numbers(scores, "value", "logistic_model"))
    frame = frame[(frame["metric"] == chosen) & frame["value"].notna()].reset_index(drop=True)
    if not frame["value"].isin((0, 1)).all():
        odd = frame.loc[~frame["value"].isin((0, 1)), "value"].iloc[0]
        raise InputError(
            f"logistic_model needs scores of 0 and 1, got {odd:g}; for graded scores, use "
            "ragnb.compare(cluster=...)"
        )
    means = frame.groupby("system", sort=False)["value"].mean()
    extreme = means[(means == 0) | (means == 1)]
    if len(extreme):
        raise InputError(
            f"all scores of {extreme.index[0]!r} are {extreme.iloc[0]:g}, so its odds are 0 or "
            "infinite; use ragnb.compare, whose intervals allow this"
        )
    return frame, group


def _design(frame: pd.DataFrame, others: list[Any], conditions: list[str]) -> pd.DataFrame:
    """The columns of the design: the intercept, the systems but the baseline, and the conditions."""
    columns: dict[str, Any] = {"intercept": np.ones(len(frame))}
    for system in others:
        columns[f"system {system}"] = (frame["system"] == system).astype(float)
    for name in conditions:
        # The first value of a condition is the reference of the others.
        for value in frame[name].drop_duplicates()[1:]:
            columns[f"{name} {value}"] = (frame[name] == value).astype(float)
    return pd.DataFrame(columns)


def _gee(
    values: np.ndarray, design: pd.DataFrame, units: np.ndarray
) -> tuple[Any, Any, Any, float]:
    """The fit of GEE, its coefficients, robust standard errors and degrees of freedom."""
    import statsmodels.api as sm

    model = sm.GEE(
        values,
        design.to_numpy(),
        groups=units,
        family=sm.families.Binomial(),
        cov_struct=sm.cov_struct.Exchangeable(),
    )
    fit = model.fit(cov_type="bias_reduced")
    return fit, fit.params, fit.bse, max(int(units.max()) + 1 - design.shape[1], 1)


def _mixed(
    values: np.ndarray, design: pd.DataFrame, units: np.ndarray
) -> tuple[Any, Any, Any, float]:
    """The fit of a mixed model, the posterior means and standard deviations, and infinite degrees."""
    from scipy import sparse
    from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

    n_units = int(units.max()) + 1
    rows = np.arange(values.size)
    intercepts = sparse.csr_matrix((np.ones(values.size), (rows, units)))
    # All intercepts share one variance.
    variances = np.zeros(n_units, dtype=int)
    model = BinomialBayesMixedGLM(values, design.to_numpy(), intercepts, variances)
    # The search starts at random standard deviations, which are drawn here as statsmodels draws them. Only statsmodels
    # 0.15 and newer take a seed.
    n_parameters = model.k_fep + model.k_vcp + model.k_vc
    start = np.exp(-0.5 + 0.1 * np.random.default_rng(0).normal(size=n_parameters))
    fit = model.fit_vb(sd=start)
    return fit, fit.fe_mean, fit.fe_sd, np.inf


def _effect(coefficient: float, error: float, df: float, level: float) -> Mapping[str, float]:
    """Odds ratio with its limits, and the test of an odds ratio of 1."""
    statistic = coefficient / error
    # Infinite degrees of freedom mean the normal distribution. The p-value has two tails.
    if np.isinf(df):
        quantile, tail = float(ndtri((1 + level) / 2)), float(ndtr(-abs(statistic)))
    else:
        quantile, tail = float(stdtrit(df, (1 + level) / 2)), float(stdtr(df, -abs(statistic)))
    return {
        "odds_ratio": exp(coefficient),
        "low": exp(coefficient - quantile * error),
        "high": exp(coefficient + quantile * error),
        "statistic": statistic,
        "p_value": max(2 * tail, SMALLEST_P),
    }


def _difference(
    design: pd.DataFrame, coefficients: np.ndarray, others: list[Any], system: Any
) -> float:
    """Difference of the predicted rates if all rows were of the system, and of the baseline."""
    # A row of the baseline has 0 in the columns of all other systems.
    baseline = design.assign(**{f"system {other}": 0.0 for other in others})
    of_system = baseline.assign(**{f"system {system}": 1.0})
    rates = [expit(frame.to_numpy() @ coefficients).mean() for frame in (of_system, baseline)]
    return float(rates[0] - rates[1])
