"""Control of the selective risk: exact tests, simulations with a known error, power, and mistakes."""

import math

import numpy as np
import pytest
from scipy.stats import binom
from support.two_normals import accepted, draw

from ragnb.conformal import calibrate_selective_risk
from ragnb.conformal.control import THRESHOLDS
from ragnb.errors import InputError

ALPHA = DELTA = 0.1
TRIALS = pytest.mark.parametrize("trials", [60, pytest.param(2000, marks=pytest.mark.slow)])


def answers(n: int, errors: int, confidence: float) -> tuple[list[float], list[int]]:
    """Items that the classifier assigns to class 1 with the given confidence, some of them wrongly."""
    return [confidence] * n, [0] * errors + [1] * (n - errors)


def upper_end(rate: float, trials: int) -> float:
    """Upper end of the band for a share of trials whose expectation is at most `rate`."""
    return binom.ppf(1 - 3e-5, trials, rate) / trials


# ---- many thresholds: the fallback procedure, written again from its definition ----------------------------------------


def fallback(probabilities, labels, alpha: float, delta: float) -> list[float]:
    """The thresholds that pass, highest first."""
    thresholds = THRESHOLDS.tolist()
    starts = {0, 10, 20, 30, 40}
    passed, purse = [], 0.0
    for i in reversed(range(len(thresholds))):
        purse += delta / len(starts) if i in starts else 0.0
        sure = [
            (p, y)
            for p, y in zip(probabilities, labels, strict=True)
            if max(p, 1 - p) >= thresholds[i]
        ]
        wrong = sum((p > 1 - p) != y for p, y in sure)
        if binom.cdf(wrong, len(sure), alpha) <= purse:
            passed.append(thresholds[i])
        else:
            purse = 0.0
    return passed


@pytest.mark.parametrize("seed", [0, 9])
def test_the_lowest_threshold_that_passes_is_taken(seed):
    rng = np.random.default_rng(seed)
    known, labels = draw(rng, 250, apart=1.2 + seed / 6)
    control = calibrate_selective_risk(known, labels, ALPHA, DELTA)
    passed = fallback(known, labels, ALPHA, DELTA)
    assert control.threshold == (passed[-1] if passed else math.inf)
    if passed:
        p_value = binom.cdf(control.n_errors, control.n_accepted, ALPHA)
        assert control.p_value == pytest.approx(p_value, rel=1e-9)


# ---- simulations with a known error ------------------------------------------------------------------------------------


@TRIALS
@pytest.mark.parametrize("apart", [1.4, 1.8, 2.3])
def test_the_selective_risk_exceeds_alpha_in_at_most_a_share_delta_of_calibration_sets(
    trials, apart
):
    rng = np.random.default_rng(trials)
    errors = []
    for _ in range(trials):
        control = calibrate_selective_risk(*draw(rng, 400, apart=apart), ALPHA, DELTA)
        errors.append(accepted(control.threshold, apart=apart)[1])
    assert np.mean(np.array(errors) > ALPHA) <= upper_end(DELTA, trials)


@TRIALS
def test_where_every_threshold_errs_at_alpha_one_passes_in_at_most_a_share_delta(trials):
    """The least favourable case for a test of many: errors strike at rate alpha, however sure the classifier is."""
    rng = np.random.default_rng(trials)
    passed = 0
    for _ in range(trials):
        confidence = rng.uniform(0.5, 1, 400)
        labels = rng.random(400) >= ALPHA
        passed += calibrate_selective_risk(confidence, labels, ALPHA, DELTA).n_accepted > 0
    assert passed / trials <= upper_end(DELTA, trials)


@TRIALS
def test_most_labels_of_a_good_classifier_are_accepted(trials):
    """Accuracy .875; with known distributions, .92 of the items could be accepted at a risk of .1."""
    rng = np.random.default_rng(trials)
    controls = [calibrate_selective_risk(*draw(rng, 400), ALPHA, DELTA) for _ in range(trials)]
    shares = [accepted(control.threshold)[0] for control in controls]
    assert np.mean(shares) > 0.75
    assert np.mean(np.array(shares) > 0.5) > 0.95


# ---- results -----------------------------------------------------------------------------------------------------------


def test_an_accepted_label_is_alone_in_its_set_and_an_abstention_has_both():
    control = calibrate_selective_risk(
        [0.97] * 40 + [0.02] * 40 + [0.6] * 40, [1] * 40 + [0] * 40 + [0, 1] * 20, ALPHA, DELTA
    )
    assert (control.n, control.n_accepted, control.n_errors) == (120, 80, 0)
    assert 0.6 < control.threshold < 0.63
    sets = control.sets([0.99, control.threshold, 0.6, 0.5, 0.0])
    assert sets.astype(int).tolist() == [[0, 1], [0, 1], [1, 1], [1, 1], [1, 0]]
    assert control.sets([]).shape == (0, 2)


@pytest.mark.parametrize("log_odds", range(1, 41))
def test_a_confidence_that_equals_a_threshold_reaches_it(log_odds):
    likely, unlikely = 1 / (1 + np.exp(-log_odds / 10)), 1 / (1 + np.exp(log_odds / 10))
    same = [likely, 1 - unlikely, unlikely, 1 - likely] * 25
    control = calibrate_selective_risk(same, [1, 1, 0, 0] * 25, ALPHA, DELTA)
    assert (control.n_accepted, control.n_errors) == (100, 0)
    at_threshold = [control.threshold, 1 - control.threshold, likely, 1 - unlikely, unlikely]
    assert control.sets(at_threshold).sum(axis=1).tolist() == [1] * 5


def test_a_probability_of_one_half_predicts_0():
    control = calibrate_selective_risk([0.5] * 100, [0] * 100, ALPHA, DELTA)
    assert (control.threshold, control.n_errors) == (0.5, 0)
    assert control.sets([0.5]).tolist() == [[True, False]]


@pytest.mark.parametrize("case", [answers(30, 0, 0.9), answers(400, 100, 0.9)], ids=["few", "bad"])
def test_if_no_threshold_passes_no_label_is_accepted_and_a_warning_says_so(case):
    control = calibrate_selective_risk(*case, ALPHA, DELTA)
    assert (control.threshold, control.n_accepted, control.n_errors) == (math.inf, 0, 0)
    assert math.isnan(control.p_value)
    assert (
        "needs at least 38 accepted labels without an error" in control.warning
    )  # 0.9 ** 38 < 0.1 / 5 < 0.9 ** 37
    with pytest.warns(RuntimeWarning, match="No label is accepted") as caught:
        assert control.sets([0.999, 0.001]).all()
    assert caught[0].filename == __file__


def test_38_items_without_an_error_are_enough():
    assert calibrate_selective_risk(*answers(38, 0, 0.7), ALPHA, DELTA).n_accepted == 38
    assert calibrate_selective_risk(*answers(37, 0, 0.7), ALPHA, DELTA).n_accepted == 0


def test_mistakes():
    with pytest.raises(InputError, match="alpha must be strictly between 0 and 1"):
        calibrate_selective_risk([0.5], [1], 5, DELTA)
    with pytest.raises(InputError, match="at least one labelled item"):
        calibrate_selective_risk([], [], ALPHA, DELTA)
