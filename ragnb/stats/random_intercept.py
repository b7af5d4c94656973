"""A linear model with a random intercept a group, fitted by statsmodels: what it estimates, and when it cannot.

Its warnings are caught and kept; nothing is printed.
"""

import warnings
from dataclasses import dataclass
from math import isfinite, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError
from ragnb.stats.checks import Floats, check_clusters, check_scores

OPTIMISER: dict[str, Any] = {"method": ["powell"]}
"""How statsmodels seeks the ratio of the two variances. By default it tries BFGS, which may not converge where the ratio is
near 0, and then L-BFGS, which can step onto exactly 0, where the likelihood is infinite and counts as converged. Powell's
search along a line does neither."""

AT_ZERO = 1e-6
"""Ratio of the variances below which the one between groups is estimated as 0; the search ends near 1e-9 there."""

_RANK = 1e-9
_NO_SPREAD = 1e-20


@dataclass(frozen=True, slots=True)
class FixedEffects:
    """What a design can tell, within groups and between them, before any value is seen.

    Attributes
    ----------
    columns
        Places of the columns that are independent of those before them; the others are left out of the fit.
    rows, within
        Triangular factors of the design and of its deviations from the groups' means: they span the same rows.
    n, n_groups
        Number of values and of groups.
    """

    columns: list[int]
    rows: Floats
    within: Floats
    n: int
    n_groups: int

    @property
    def df_within(self) -> int:
        """Degrees of freedom of what a group shows within itself: n - rank[X Z]."""
        return self.n - self.n_groups - _rank(self.within)

    @property
    def df_between(self) -> int:
        """Degrees of freedom of what only groups show between them: rank[X Z] - rank[X]."""
        return self.n_groups + _rank(self.within) - len(self.columns)

    def df(self, contrast: Floats) -> float:
        """Containment degrees of freedom of a contrast, nan where the design cannot tell it."""
        if not _spans(self.rows, contrast):
            return nan
        return float(self.df_within if _spans(self.within, contrast) else self.df_between)


@dataclass(frozen=True, slots=True)
class RandomIntercept:
    """A fitted model, or why there is none.

    Attributes
    ----------
    group_variance, residual_variance, log_likelihood
        Estimates; nan where there is a ``problem``.
    residuals
        What neither the fixed effects nor the predicted intercepts explain, one a value.
    converged
        Whether the search for the variances ended where it should.
    problem
        Why nothing is estimated; empty when something is.
    warnings
        What statsmodels and numpy warned of, each once.
    design
        What the fixed effects can tell.
    fit
        The result of statsmodels, None where it gave none.
    """

    group_variance: float
    residual_variance: float
    log_likelihood: float
    residuals: Floats
    converged: bool
    problem: str
    warnings: tuple[str, ...]
    design: FixedEffects
    fit: Any

    @property
    def at_zero(self) -> bool:
        """Whether the variance between groups is estimated as 0, the boundary of what it can be."""
        return not self.problem and self.group_variance < AT_ZERO * self.residual_variance

    def contrast(self, weights: ArrayLike) -> tuple[float, float, float]:
        """Estimate, standard error and degrees of freedom of a weighted sum of the coefficients; nan where undefined."""
        contrast = np.asarray(weights, dtype=np.float64)
        df = self.design.df(contrast)
        if self.problem or not isfinite(df):
            return nan, nan, nan
        part = contrast[self.design.columns]
        covariance = np.asarray(self.fit.cov_params())[: part.size, : part.size]
        variance = float(part @ covariance @ part)
        return float(part @ np.asarray(self.fit.fe_params)), sqrt(variance) if variance >= 0 else nan, df


def random_intercept(values: ArrayLike, design: ArrayLike, groups: ArrayLike, *, reml: bool = True) -> RandomIntercept:
    """Linear mixed model of values on fixed effects, with a normal intercept for each group.

    Without a fit, and with the reason in ``problem``, where the variance between groups cannot be told from the rest, where
    no spread is left within groups, or where the search does not converge.

    Parameters
    ----------
    values : array_like of shape (n,)
        Finite scores.
    design : array_like of shape (n, k)
        Fixed effects, the constant included. Columns that others make up are left out; `RandomIntercept.contrast` takes
        weights of all of them all the same.
    groups : array_like of shape (n,)
        Key of the group (the question) of each value.
    reml : bool, default True
        Restricted likelihood, for estimates; or the full one, to compare models of different fixed effects.

    Raises
    ------
    InputError
        If a value is not finite, or the lengths differ.

    Notes
    -----
    With design X and groups Z, a contrast that groups show within themselves has n - rank[X Z] degrees of freedom, another
    one rank[X Z] - rank[X]: exact in balanced designs, where the model is the analysis of variance.

    References
    ----------
    Laird, N. M. & Ware, J. H. (1982). Random-effects models for longitudinal data. Biometrics 38, 963-974.

    Examples
    --------
    >>> values = [0.1, 0.3, 0.4, 0.8, 0.6, 0.7]
    >>> model = random_intercept(values, [[1, 0], [1, 1]] * 3, ["q1", "q1", "q2", "q2", "q3", "q3"])
    >>> [round(number, 4) for number in model.contrast([0, 1])]
    [0.2333, 0.0882, 2.0]
    """
    scores, matrix = check_scores(values), np.asarray(design, dtype=np.float64)
    codes, n_groups = check_clusters(groups, scores.size)
    if matrix.ndim != 2 or len(matrix) != scores.size:
        raise InputError(
            f"A design needs one row a value ({scores.size}); it got shape {matrix.shape}; stack one column an effect."
        )
    effects = _fixed_effects(matrix, codes, n_groups)
    problem = _unfit(scores, matrix, codes, effects)
    if problem:
        return _without_estimates(effects, scores.size, problem)
    return _fitted(scores, matrix[:, effects.columns], codes, effects, reml)


def _fixed_effects(matrix: Floats, codes: Any, n_groups: int) -> FixedEffects:
    rows = _factor(matrix)
    columns: list[int] = []
    for place in range(matrix.shape[1]):
        if _rank(rows[:, [*columns, place]]) > len(columns):
            columns.append(place)
    return FixedEffects(columns, rows, _factor(_centred(matrix, codes, n_groups)), len(matrix), n_groups)


def _centred(matrix: Floats, codes: Any, n_groups: int) -> Floats:
    """Deviations of each column from its means by group."""
    sums = np.zeros((n_groups, matrix.shape[1]))
    np.add.at(sums, codes, matrix)
    return matrix - (sums / np.bincount(codes, minlength=n_groups)[:, None])[codes]


def _unfit(scores: Floats, matrix: Floats, codes: Any, effects: FixedEffects) -> str:
    """Return why no model can be fitted, or an empty string."""
    if effects.df_within < 1 or effects.df_between < 1:
        return (
            f"{effects.n} values in {effects.n_groups} group{'' if effects.n_groups == 1 else 's'} cannot tell apart the "
            f"spread between groups, the spread within them and {len(effects.columns)} fixed effects"
        )
    deviations, within = (_centred(part, codes, effects.n_groups) for part in (scores[:, None], matrix))
    left = deviations - within @ np.linalg.lstsq(within, deviations)[0]
    return "the fixed effects leave no spread within groups" if (left**2).sum() <= _NO_SPREAD * (scores**2).sum() else ""


def _fitted(scores: Floats, matrix: Floats, codes: Any, effects: FixedEffects, reml: bool) -> RandomIntercept:
    from statsmodels.regression.mixed_linear_model import MixedLM

    fit: Any = None
    problem = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit = MixedLM(scores, matrix, groups=codes).fit(reml=reml, **OPTIMISER)
            numbers = float(fit.cov_re[0, 0]), float(fit.scale), float(fit.llf)
            residuals, errors = np.asarray(fit.resid), np.asarray(fit.bse_fe)
        except (np.linalg.LinAlgError, ValueError) as error:
            problem = f"statsmodels stopped ({error})"
    said = tuple(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught))
    if not problem and not fit.converged:
        problem = "the search for the variances did not converge"
    if not problem and not np.isfinite([*numbers, *errors]).all():
        problem = "the likelihood or a standard error is not finite"
    if problem:
        return _without_estimates(effects, scores.size, problem, said, fit)
    return RandomIntercept(*numbers, residuals, True, "", said, effects, fit)


def _without_estimates(
    effects: FixedEffects, n: int, problem: str, said: tuple[str, ...] = (), fit: Any = None
) -> RandomIntercept:
    return RandomIntercept(nan, nan, nan, np.full(n, nan), False, problem, said, effects, fit)


def _factor(matrix: Floats) -> Floats:
    """The triangular factor of a matrix: as wide, never higher, and spanning the same rows."""
    return np.asarray(np.linalg.qr(matrix, mode="r"))


def _rank(matrix: Floats) -> int:
    return int(np.linalg.matrix_rank(matrix, rtol=_RANK)) if matrix.size else 0


def _spans(rows: Floats, contrast: Floats) -> bool:
    """Whether the contrast is a weighted sum of the rows."""
    return _rank(np.vstack([rows, contrast])) == _rank(rows)
