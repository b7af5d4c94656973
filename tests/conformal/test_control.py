"""Control of the error among the decided: exact tests, simulations with a known error, the power, what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from two_normals import decided, draw

from ragnb.conformal.control import N_STARTS, THRESHOLDS, DecidedControl, control_decided_error
from ragnb.conformal.predictor import undecided
from ragnb.errors import InputError

ALPHA = DELTA = 0.1
TRIALS = pytest.mark.parametrize("trials", [60, pytest.param(2000, marks=pytest.mark.slow)])


def answers(n: int, errors: int, confidence: float) -> tuple[list[float], list[int]]:
    """Items that the classifier takes for class 1 with the given confidence, some of them wrongly."""
    return [confidence] * n, [0] * errors + [1] * (n - errors)


def upper_end(rate: float, trials: int) -> float:
    """Where the band ends of a share of trials that is expected to be `rate` at most."""
    return binom.ppf(1 - 3e-5, trials, rate) / trials


# ---- one threshold is one binomial test --------------------------------------------------------------------------------


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), st.sampled_from([0.02, 0.1, 0.3]))
def test_one_threshold_passes_exactly_when_the_binomial_test_does(counts, alpha):
    n, errors = counts
    control = control_decided_error(*answers(n, errors, 0.9), alpha, DELTA, thresholds=[0.8])
    p_value = binom.cdf(errors, n, alpha)
    assert (control.threshold == 0.8) == (p_value <= DELTA)
    if control.threshold == 0.8:
        assert (control.n_decided, control.n_errors) == (n, errors)
        assert control.p_value == pytest.approx(p_value, rel=1e-9)


@pytest.mark.parametrize("n", [5, 21, 22, 60, 400])
def test_one_threshold_lets_a_false_claim_pass_with_probability_delta_at_most(n):
    passing = [
        e for e in range(n + 1) if control_decided_error(*answers(n, e, 0.9), ALPHA, DELTA, thresholds=[0.8]).n_decided
    ]
    assert passing == list(range(len(passing)))
    assert binom.cdf(len(passing) - 1, n, ALPHA) <= DELTA < binom.cdf(len(passing), n, ALPHA)


def test_a_rate_may_be_written_in_any_exact_way():
    case = answers(60, 1, 0.9)
    assert control_decided_error(*case, "1/10", "0.1") == control_decided_error(*case, ALPHA, DELTA)


# ---- many thresholds: the fallback procedure, written again from its definition ----------------------------------------


def fallback(probabilities, labels, alpha: float, delta: float, thresholds, n_starts: int) -> list[float]:
    """The thresholds that pass, highest first."""
    m = len(thresholds)
    starts = {m * j // n_starts for j in range(n_starts)}
    passed, purse = [], 0.0
    for i in reversed(range(m)):
        purse += delta / len(starts) if i in starts else 0.0
        sure = [(p, y) for p, y in zip(probabilities, labels, strict=True) if max(p, 1 - p) >= thresholds[i]]
        wrong = sum((p > 1 - p) != y for p, y in sure)
        if binom.cdf(wrong, len(sure), alpha) <= purse:
            passed.append(thresholds[i])
        else:
            purse = 0.0
    return passed


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("thresholds", [THRESHOLDS, np.array([0.5, 0.6, 0.9]), np.arange(50, 100) / 100], ids=len)
def test_the_lowest_threshold_that_passes_is_taken(seed, thresholds):
    rng = np.random.default_rng(seed)
    known, labels = draw(rng, 250, apart=1.2 + seed / 6)
    control = control_decided_error(known, labels, ALPHA, DELTA, thresholds=thresholds)
    passed = fallback(known, labels, ALPHA, DELTA, thresholds.tolist(), N_STARTS)
    assert control.threshold == (passed[-1] if passed else math.inf)


def test_a_sequence_does_not_end_where_few_items_are_that_sure():
    """Of 400 items 15 are at least 0.97 sure, and 2 of these are wrong: a single sequence from there would find nothing."""
    probabilities = [0.975] * 15 + [0.9] * 200 + [0.6] * 185
    labels = [0] * 2 + [1] * 13 + [0] * 8 + [1] * 192 + [0, 1] * 92 + [1]
    assert binom.cdf(2, 15, ALPHA) > 0.8
    control = control_decided_error(probabilities, labels, ALPHA, DELTA)
    assert (control.n_decided, control.n_errors) == (215, 10)


# ---- simulations with a known error ------------------------------------------------------------------------------------


@TRIALS
@pytest.mark.parametrize("apart", [1.4, 1.8, 2.3])
def test_the_error_among_the_decided_exceeds_alpha_in_at_most_a_share_delta_of_calibration_sets(trials, apart):
    rng = np.random.default_rng(trials)
    errors = []
    for _ in range(trials):
        control = control_decided_error(*draw(rng, 400, apart=apart), ALPHA, DELTA)
        errors.append(decided(control.threshold, apart=apart)[1])
    assert np.mean(np.array(errors) > ALPHA) <= upper_end(DELTA, trials)


@TRIALS
def test_where_every_threshold_errs_at_alpha_one_passes_in_at_most_a_share_delta(trials):
    """The least favourable case for a test of many: errors strike at rate alpha, however sure the classifier is."""
    rng = np.random.default_rng(trials)
    passed = 0
    for _ in range(trials):
        confidence = rng.uniform(0.5, 1, 400)
        labels = rng.random(400) >= ALPHA
        passed += control_decided_error(confidence, labels, ALPHA, DELTA).n_decided > 0
    assert passed / trials <= upper_end(DELTA, trials)


@TRIALS
def test_picking_the_best_threshold_without_a_test_fails(trials):
    """The usual shortcut, the lowest threshold with an error of at most alpha on the calibration set, breaks the promise."""
    rng = np.random.default_rng(trials)
    broken = 0
    for _ in range(trials):
        known, labels = draw(rng, 400, apart=1.8)
        confidence, wrong = np.maximum(known, 1 - known), (known > 0.5) != labels
        errors = [wrong[confidence >= t].mean() if (confidence >= t).any() else 1 for t in THRESHOLDS]
        naive = next((t for t, error in zip(THRESHOLDS, errors, strict=True) if error <= ALPHA), math.inf)
        broken += decided(naive, apart=1.8)[1] > ALPHA
    assert broken / trials > 3 * DELTA


@TRIALS
def test_a_good_classifier_decides_most_items(trials):
    """Accuracy .875; with the law known, .92 of the items could be decided at an error of .1."""
    rng = np.random.default_rng(trials)
    controls = [control_decided_error(*draw(rng, 400), ALPHA, DELTA) for _ in range(trials)]
    shares = [decided(control.threshold)[0] for control in controls]
    assert np.mean(shares) > 0.75
    assert np.mean(np.array(shares) > 0.5) > 0.95


# ---- what it gives -----------------------------------------------------------------------------------------------------


def test_decided_items_have_one_label_and_the_others_both():
    control = control_decided_error([0.97] * 40 + [0.02] * 40 + [0.6] * 40, [1] * 40 + [0] * 40 + [0, 1] * 20, ALPHA, DELTA)
    assert (control.n, control.n_decided, control.n_errors, control.error) == (120, 80, 0, 0)
    assert 0.6 < control.threshold < 0.63
    assert control.share_decided == pytest.approx(2 / 3)
    sets = control.sets([0.99, control.threshold, 0.6, 0.5, 0.0])
    assert sets.astype(int).tolist() == [[0, 1], [0, 1], [1, 1], [1, 1], [1, 0]]
    assert sets.dtype == bool
    assert np.array_equal(control.sets([[0.01, 0.99]]), [[False, True]])
    assert control.sets([]).shape == (0, 2)


def test_the_promise_is_about_the_items_decided_in_calibration():
    known, labels = draw(np.random.default_rng(3), 500)
    control = control_decided_error(known, labels, ALPHA, DELTA)
    sets = control.sets(known)
    sure = ~undecided(sets)
    assert sure.sum() == control.n_decided
    assert (sets[sure, 1] != labels[sure]).sum() == control.n_errors
    assert control.error == control.n_errors / control.n_decided
    assert sets.any(axis=1).all()


def test_an_even_chance_counts_as_0():
    control = control_decided_error([0.5] * 100, [0] * 100, ALPHA, DELTA)
    assert (control.threshold, control.n_errors) == (0.5, 0)
    assert control.sets([0.5]).tolist() == [[True, False]]


def test_it_prints_itself():
    control = DecidedControl(0.73106, 0.1, 0.1, 400, 300, 15, 0.0004, 0.02)
    assert str(control) == (
        "decided from confidence 0.731: 75.0% of 400 calibration items, 5.0% of them wrong; at most 10.0% with probability 90.0%"
    )


@pytest.mark.parametrize("case", [answers(30, 0, 0.9), answers(400, 100, 0.9)], ids=["few", "bad"])
def test_where_nothing_passes_nothing_is_decided_and_that_is_said(case):
    control = control_decided_error(*case, ALPHA, DELTA)
    assert (control.threshold, control.n_decided, control.n_errors) == (math.inf, 0, 0)
    assert math.isnan(control.error)
    assert math.isnan(control.p_value)
    assert control.share_decided == 0
    assert "Nothing is decided" in str(control)
    assert "it takes 38 items decided without a fault" in control.warning  # 0.9 ** 38 < 0.1 / 5 < 0.9 ** 37
    with pytest.warns(RuntimeWarning, match="Nothing is decided") as caught:
        assert control.sets([0.999, 0.001]).all()
    assert caught[0].filename == __file__


@pytest.mark.parametrize("confidence", [0.55, 0.7, 0.999])
def test_38_items_without_a_fault_do(confidence):
    assert control_decided_error(*answers(38, 0, confidence), ALPHA, DELTA).n_decided == 38
    few = control_decided_error(*answers(37, 0, confidence), ALPHA, DELTA)
    assert (few.n_decided, few.start_level) == (0, DELTA / 5)


def test_fewer_thresholds_than_starts_share_the_risk_among_them():
    assert "it takes 22 items" in control_decided_error(*answers(21, 0, 0.9), ALPHA, DELTA, thresholds=[0.6]).warning
    assert control_decided_error(*answers(22, 0, 0.9), ALPHA, DELTA, thresholds=[0.6]).n_decided == 22
    assert control_decided_error(*answers(22, 0, 0.9), ALPHA, DELTA, thresholds=[0.6, 0.95]).start_level == DELTA / 2


# ---- what is refused ---------------------------------------------------------------------------------------------------

MESSAGE = r"needs .*; it got .*; "


@pytest.mark.parametrize("rate", [0, 1, -1, math.nan, "x", None])
def test_a_rate_that_is_none_is_refused(rate):
    with pytest.raises(InputError, match="alpha " + MESSAGE):
        control_decided_error([0.5], [1], rate, DELTA)
    with pytest.raises(InputError, match="delta " + MESSAGE):
        control_decided_error([0.5], [1], ALPHA, rate)


@pytest.mark.parametrize(
    "thresholds", [[], [0.4, 0.6], [0.6, 1.1], [0.6, 0.6], [0.7, 0.6], [[0.6]], [math.nan], ["x"]], ids=repr
)
def test_thresholds_that_do_not_increase_from_one_half_to_one_are_refused(thresholds):
    with pytest.raises(InputError, match="thresholds " + MESSAGE):
        control_decided_error([0.5], [1], ALPHA, DELTA, thresholds=thresholds)


@pytest.mark.parametrize(
    ("probabilities", "labels", "said"),
    [
        ([], [], "labelled items"),
        ([1.5], [1], "from 0 to 1"),
        ([math.nan], [1], "nan"),
        ([0.5], [2], "0 or 1"),
        ([0.5], [1, 0], "one label per row"),
        ([[0.5, 0.6]], [1], "sum to one"),
    ],
)
def test_items_that_are_none_are_refused(probabilities, labels, said):
    with pytest.raises(InputError, match=said):
        control_decided_error(probabilities, labels, ALPHA, DELTA)


def test_sets_refuse_what_are_no_probabilities():
    control = control_decided_error(*answers(60, 0, 0.9), ALPHA, DELTA)
    with pytest.raises(InputError, match="probabilities " + MESSAGE):
        control.sets([1.2])
