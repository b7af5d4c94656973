"""The random-intercept model: closed forms of balanced designs, statsmodels itself, and every way in which a fit can fail."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import mixedlm

from ragnb.stats import mixed as module
from ragnb.stats.mixed import random_intercept


def crossed(n_groups, n_columns, *, between, within, seed):
    """Scores of groups × columns, each pair once, with the design of a constant and all columns but the first."""
    rng = np.random.default_rng(seed)
    table = rng.normal(0, between, (n_groups, 1)) + rng.normal(0, within, (n_groups, n_columns))
    column = np.tile(np.arange(n_columns), n_groups)
    design = np.column_stack([np.ones(column.size), np.eye(n_columns)[column][:, 1:]])
    return table, design, np.repeat(np.arange(n_groups), n_columns)


def mean_squares(table):
    """Between rows, and left over, of a two-way analysis of variance."""
    n, k = table.shape
    left = table - table.mean(0) - table.mean(1, keepdims=True) + table.mean()
    return k * table.mean(1).var(ddof=1), (left**2).sum() / ((n - 1) * (k - 1))


# ---- the numbers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_groups", "n_columns", "between"), [(6, 2, 0.5), (9, 4, 0.3), (25, 3, 0.15)]
)
def test_a_balanced_design_has_the_closed_form_of_the_analysis_of_variance(
    n_groups, n_columns, between
):
    table, design, groups = crossed(n_groups, n_columns, between=between, within=0.2, seed=n_groups)
    rows, left = mean_squares(table)
    assert rows > left  # else the variance would be at 0
    model = random_intercept(table.ravel(), design, groups)
    assert model.residual_variance == pytest.approx(left, rel=1e-4)
    assert model.group_variance == pytest.approx((rows - left) / n_columns, rel=1e-3)
    for column in range(1, n_columns):
        estimate, error, df = model.contrast(np.eye(n_columns)[column])
        assert estimate == pytest.approx(table[:, column].mean() - table[:, 0].mean(), abs=1e-12)
        assert error == pytest.approx(math.sqrt(2 * left / n_groups), rel=1e-4)
        assert df == (n_groups - 1) * (n_columns - 1)


def test_what_only_differs_between_groups_is_the_t_test_of_their_means():
    rng = np.random.default_rng(2)
    groups, treated = np.repeat(np.arange(10), 3), np.repeat(np.arange(10) % 2, 3)
    values = rng.normal(0, 0.5, 10)[groups] + rng.normal(0, 0.2, 30)
    means = values.reshape(10, 3).mean(1)
    known = stats.ttest_ind(means[1::2], means[::2])
    estimate, error, df = random_intercept(
        values, np.column_stack([np.ones(30), treated]), groups
    ).contrast([0, 1])
    assert estimate / error == pytest.approx(known.statistic, rel=1e-4)
    assert df == known.df == 8


@pytest.mark.parametrize("reml", [True, False])
def test_an_unbalanced_design_is_that_of_statsmodels(reml):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"q": rng.integers(0, 15, 70), "s": rng.integers(0, 3, 70), "l": rng.integers(0, 2, 70)}
    )
    frame["y"] = rng.normal(0, 0.4, 15)[frame["q"]] + 0.2 * frame["s"] + rng.normal(0, 0.2, 70)
    known = mixedlm("y ~ C(s) + C(l)", frame, groups="q").fit(reml=reml)
    design = np.column_stack([np.ones(70), np.eye(3)[frame["s"]][:, 1:], frame["l"]])
    model = random_intercept(frame["y"], design, frame["q"], reml=reml)
    found = np.array([model.contrast(row)[:2] for row in np.eye(4)])
    assert found[:, 0] == pytest.approx(known.fe_params.to_numpy(), abs=1e-4)
    assert found[:, 1] == pytest.approx(known.bse_fe.to_numpy(), rel=1e-3)
    assert model.group_variance == pytest.approx(known.cov_re.iloc[0, 0], rel=1e-2)
    assert model.residual_variance == pytest.approx(known.scale, rel=1e-3)
    assert model.log_likelihood == pytest.approx(known.llf, abs=1e-4)
    assert model.residuals == pytest.approx(known.resid.to_numpy(), abs=1e-2)


# ---- what a design can tell --------------------------------------------------------------------------------------------


def test_columns_that_others_make_up_are_left_out_and_change_nothing():
    table, design, groups = crossed(8, 3, between=0.3, within=0.2, seed=4)
    plain = random_intercept(table.ravel(), design, groups)
    cells = np.column_stack(
        [1 - design[:, 1] - design[:, 2], design, np.zeros(24)]
    )  # all three columns, and an empty one
    wide = random_intercept(table.ravel(), cells, groups)
    assert wide.columns == [0, 1, 2]
    assert wide.contrast([0, 0, 1, 0, 0]) == pytest.approx(
        (math.nan,) * 3, nan_ok=True
    )  # one effect without the constant
    assert wide.contrast([-1, 0, 1, 0, 0]) == pytest.approx(plain.contrast([0, 1, 0]), rel=1e-6)
    assert wide.contrast([0, 0, 1, -1, 0]) == pytest.approx(plain.contrast([0, 1, -1]), rel=1e-6)
    assert all(map(math.isnan, wide.contrast([0, 0, 0, 0, 1])))


def test_a_variance_at_0_is_told_and_errors_are_those_of_independent_values():
    table = np.array(
        [[0.9, 0.2], [0.1, 0.7], [0.8, 0.3], [0.2, 0.9], [0.6, 0.4]]
    )  # who is high here is low there
    rows, left = mean_squares(table)
    assert rows < left
    _, design, groups = crossed(5, 2, between=0, within=1, seed=0)
    model = random_intercept(table.ravel(), design, groups)
    assert model.at_zero
    assert not model.problem
    assert model.group_variance == pytest.approx(0, abs=1e-8)
    _, error, _ = model.contrast([0, 1])
    pooled = (table[:, 0].var(ddof=1) + table[:, 1].var(ddof=1)) / 2
    assert error == pytest.approx(math.sqrt(2 * pooled / 5), rel=1e-4)
    assert any("boundary" in warning for warning in model.warnings)


@pytest.mark.parametrize(
    ("values", "groups", "reason"),
    [
        (
            [0.1, 0.5, 0.3, 0.9],
            [1, 2, 3, 4],
            "4 values are too few to separate the spread between groups (4)",
        ),
        (
            [0.1, 0.5, 0.3, 0.9],
            [1, 1, 1, 1],
            "4 values are too few to separate the spread between groups (1)",
        ),
        ([0.5] * 6, [1, 1, 2, 2, 3, 3], "leave no spread within groups"),
        ([0.0] * 6, [1, 1, 2, 2, 3, 3], "leave no spread within groups"),
        (
            [0.1, 0.3, 0.5, 0.7, 0.2, 0.4],
            [1, 1, 2, 2, 3, 3],
            "leave no spread within groups",
        ),  # + 0.2 in each group
        ([], [], "0 values are too few"),
    ],
)
def test_what_cannot_be_fitted_says_why(values, groups, reason):
    design = np.column_stack([np.ones(len(values)), np.arange(len(values)) % 2])
    model = random_intercept(values, design, groups)
    assert reason in model.problem
    assert not model.at_zero
    assert model.fit is None
    assert all(map(math.isnan, [*model.contrast([0, 1]), model.group_variance, *model.residuals]))


# ---- when statsmodels has trouble --------------------------------------------------------------------------------------


def test_a_search_that_ends_too_early_is_no_estimate(monkeypatch, capfd):
    table, design, groups = crossed(10, 3, between=1.0, within=0.01, seed=5)
    monkeypatch.setattr(module, "OPTIMISER", {"method": ["bfgs"], "maxiter": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # none may get out
        model = random_intercept(table.ravel(), design, groups)
    assert model.problem == "the search for the variances did not converge"
    assert not model.fit.converged
    assert all(map(math.isnan, model.contrast([0, 1, 0])))
    assert any("failed" in warning for warning in model.warnings)
    assert len(set(model.warnings)) == len(model.warnings)
    assert capfd.readouterr() == ("", "")


def test_a_step_onto_a_variance_of_exactly_0_is_no_estimate(monkeypatch):
    monkeypatch.setattr(module, "OPTIMISER", {"method": ["lbfgs"]})
    problems = set()
    for seed in range(12):
        table, design, groups = crossed(12, 3, between=0.2, within=0.2, seed=seed)
        model = random_intercept(table.ravel(), design, groups)
        problems.add(model.problem)
        assert model.problem or math.isfinite(model.log_likelihood)
    assert any("statsmodels stopped" in problem or "not finite" in problem for problem in problems)


def test_an_infinite_likelihood_that_counts_as_converged_is_refused(monkeypatch):
    from statsmodels.regression.mixed_linear_model import MixedLMResults

    table, design, groups = crossed(6, 2, between=0.3, within=0.2, seed=6)
    monkeypatch.setattr(MixedLMResults, "llf", property(lambda self: math.inf))
    model = random_intercept(table.ravel(), design, groups)
    assert model.fit.converged
    assert model.problem == "the likelihood or a standard error is not finite"
    assert all(map(math.isnan, model.contrast([0, 1])))
