"""Linear mixed model with a random intercept per group, fitted by statsmodels' MixedLM.

All functions raise InputError for arguments outside the stated range. Warnings of statsmodels are
not printed, but returned in the result.
"""

import warnings
from dataclasses import dataclass, replace
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ragnb.arguments import Floats, Integers, accepts

OPTIMISER: dict[str, Any] = {"method": ["powell"]}
"""Optimiser with which statsmodels estimates the ratio of the two variances.

If this ratio is near 0, the default methods of statsmodels may fail to converge. They may also step
onto exactly 0, where the computed likelihood is infinite, and report convergence. Powell's line
search avoids both."""

AT_ZERO = 1e-6
"""Ratio of the variance between groups to that within groups below which the former counts as 0."""


@dataclass(frozen=True, slots=True)
class RandomIntercept:
    """Result of fitting a random-intercept model.

    Attributes
    ----------
    columns : list of int
        Columns of the design that are linearly independent of the columns before them. The other
        columns are left out of the fit.
    rows, within : ndarray
        Triangular (QR) factors of the design, and of the design centred within each group.
    n_groups : int
        Number of groups.
    df_within, df_between : int
        Degrees of freedom of effects that vary within groups, n - rank[X Z], and of all other
        effects, rank[X Z] - rank[X]; see `random_intercept`.
    residuals : ndarray
        Values minus fixed effects and predicted random intercepts, one per value.
    problem : str
        Why the model could not be fitted; empty if it was.
    group_variance, residual_variance, log_likelihood : float
        Estimated variances between and within groups, and the (restricted) log-likelihood; NaN if
        there is a `problem`.
    warnings : tuple of str
        Distinct warnings of statsmodels and numpy.
    fit : object
        The result object of statsmodels, or None.
    """

    columns: list[int]
    rows: Floats
    within: Floats
    n_groups: int
    df_within: int
    df_between: int
    residuals: Floats
    problem: str = ""
    group_variance: float = nan
    residual_variance: float = nan
    log_likelihood: float = nan
    warnings: tuple[str, ...] = ()
    fit: Any = None

    @property
    def at_zero(self) -> bool:
        """Whether the variance between groups is estimated as 0, the boundary of its range."""
        return self.group_variance < AT_ZERO * self.residual_variance

    def df(self, weights: ArrayLike) -> float:
        """Degrees of freedom of a linear contrast of the coefficients; NaN if not estimable."""
        if _rank(np.vstack([self.rows, weights])) > _rank(self.rows):
            return nan
        contained = _rank(np.vstack([self.within, weights])) == _rank(self.within)
        return float(self.df_within if contained else self.df_between)

    def contrast(self, weights: ArrayLike) -> tuple[float, float, float]:
        """Return estimate, standard error and degrees of freedom of a linear contrast.

        All three are NaN if the contrast is not estimable or the model could not be fitted.
        """
        df = self.df(weights)
        if self.problem or np.isnan(df):
            return nan, nan, nan
        part = np.asarray(weights, dtype=np.float64)[self.columns]
        covariance = np.asarray(self.fit.cov_params())[: part.size, : part.size]
        return float(part @ self.fit.fe_params), sqrt(part @ covariance @ part), df


@accepts(values="scores", design="matrix", groups="clusters")
def random_intercept(
    values: Floats, design: Floats, groups: Integers, *, reml: bool = True
) -> RandomIntercept:
    """Fit a linear mixed model with fixed effects and a normal random intercept for each group.

    If the model cannot be fitted, the attribute `problem` of the result states why, and all
    estimates are NaN. This happens if there are too few values to separate the variance between
    groups from the variance within them, if the fixed effects leave no variance within groups, or
    if the optimiser does not converge.

    Parameters
    ----------
    values : array_like of shape (n,)
        Scores.
    design : array_like of shape (n, k)
        Fixed effects, including the constant. Columns that depend linearly on the columns before
        them are left out of the fit, but `RandomIntercept.contrast` takes weights for all k
        columns.
    groups : array_like of shape (n,)
        Key of the group of each value, such as its question.
    reml : bool, default True
        Whether to maximise the restricted likelihood (REML), which gives less biased variances. Use
        False, the full likelihood, to compare models with different fixed effects.

    Notes
    -----
    Let X be the design and Z the indicators of the groups. A contrast that varies within groups has
    n - rank[X Z] degrees of freedom, and any other contrast rank[X Z] - rank[X] (containment
    method). With REML in a balanced design, the resulting t tests are those of the analysis of
    variance, which are exact, unless the variance between groups is estimated as 0
    (`RandomIntercept.at_zero`).

    References
    ----------
    .. [1] Laird, N. M. & Ware, J. H. (1982). Random-effects models for longitudinal data.
       Biometrics 38, 963-974.

    Examples
    --------
    >>> values = [0.1, 0.3, 0.4, 0.8, 0.6, 0.7]
    >>> model = random_intercept(values, [[1, 0], [1, 1]] * 3, ["q1", "q1", "q2", "q2", "q3", "q3"])
    >>> [round(number, 4) for number in model.contrast([0, 1])]
    [0.2333, 0.0882, 2.0]
    """
    deviations, within = _deviations(values[:, None], groups), _deviations(design, groups)
    rows, within_rows = (np.asarray(np.linalg.qr(m, mode="r")) for m in (design, within))
    columns: list[int] = []
    for place in range(design.shape[1]):
        if _rank(rows[:, [*columns, place]]) > len(columns):
            columns.append(place)
    n_groups, rank = np.unique(groups).size, _rank(within_rows)
    df_within, df_between = values.size - n_groups - rank, n_groups + rank - len(columns)
    unknown = np.full(values.size, nan)
    model = RandomIntercept(columns, rows, within_rows, n_groups, df_within, df_between, unknown)
    if min(df_within, df_between) < 1:
        problem = (
            f"{values.size} values are too few to separate the spread between groups "
            f"({n_groups}), the spread within them and {len(columns)} fixed effects"
        )
        return replace(model, problem=problem)
    left = deviations - within @ np.linalg.lstsq(within, deviations)[0]
    if np.sum(left**2) <= 1e-20 * (values @ values):
        return replace(model, problem="the fixed effects leave no spread within groups")
    return _fitted(model, values, design[:, columns], groups, reml)


def _fitted(
    model: RandomIntercept, values: Floats, design: Floats, groups: Integers, reml: bool
) -> RandomIntercept:
    from statsmodels.regression.mixed_linear_model import MixedLM

    fit, problem = None, ""
    found: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit = MixedLM(values, design, groups=groups).fit(reml=reml, **OPTIMISER)
            found = {
                "residuals": np.asarray(fit.resid),
                "group_variance": float(fit.cov_re[0, 0]),
                "residual_variance": float(fit.scale),
                "log_likelihood": float(fit.llf),
            }
            if not np.isfinite([fit.cov_re[0, 0], fit.scale, fit.llf, *fit.bse_fe]).all():
                problem = "the likelihood or a standard error is not finite"
            if not fit.converged:
                problem = "the search for the variances did not converge"
        except (np.linalg.LinAlgError, ValueError) as error:
            problem = f"statsmodels stopped ({error})"
    said = tuple(dict.fromkeys(" ".join(str(one.message).split()) for one in caught))
    model = replace(model, problem=problem, warnings=said, fit=fit)
    return model if problem else replace(model, **found)


def _deviations(matrix: Floats, groups: Integers) -> Floats:
    """Deviations of each column from its group means."""
    sizes = np.bincount(groups)
    means = np.column_stack([np.bincount(groups, column) / sizes for column in matrix.T])
    return matrix - means[groups]


def _rank(matrix: Floats) -> int:
    return int(np.linalg.matrix_rank(matrix, rtol=1e-9)) if matrix.size else 0
