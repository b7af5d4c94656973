"""Agreement from counts, the jackknife, and what is robust to clusters: held against other libraries and brute force."""

import math
import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, precision_score, recall_score, roc_auc_score

from ragnb.errors import InputError
from ragnb.stats.agreement import cohen_kappa, gwet_ac, krippendorff_alpha, percent_agreement
from ragnb.stats.auroc import auroc, clustered_auroc
from ragnb.stats.correlation import clustered_pearson, pearson
from ragnb.stats.intervals import jackknife_interval
from ragnb.stats.numerics import t_quantile
from ragnb.stats.verdicts import (
    AGAINST,
    COEFFICIENTS,
    ac1_of,
    agreement_of,
    alpha_of,
    kappa_of,
    precision_of,
    sensitivity_of,
    specificity_of,
    verdict_counts,
)

verdicts = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=40)


def two_raters(n=200, seed=0, n_clusters=40):
    """Two raters who share a doubt about a cluster, so that their agreement is clustered."""
    rng = np.random.default_rng(seed)
    clusters = np.arange(n) % n_clusters
    doubt = rng.beta(0.6, 1.5, n_clusters)[clusters] / 2
    first = (rng.random(n) < 0.6).astype(float)
    return first, np.where(rng.random(n) < doubt, 1 - first, first), clusters


# ---- counts ------------------------------------------------------------------------------------------------------------


def test_counts_are_both_first_second_neither():
    assert verdict_counts([1, 1, 1, 0, 0], [1, 1, 0, 1, 0]).sum(axis=0).tolist() == [2, 1, 1, 1]
    assert verdict_counts([True, False], [0, 1], ["b", "a"]).tolist() == [[0, 0, 1, 0], [0, 1, 0, 0]]
    assert verdict_counts([], []).shape == (0, 4)


@pytest.mark.parametrize(("first", "second"), [([0, 2], [0, 1]), ([0, 1], [0]), ([0, math.nan], [0, 1])])
def test_what_is_no_pair_of_verdicts_is_refused(first, second):
    with pytest.raises(InputError):
        verdict_counts(first, second)


@given(verdicts)
def test_coefficients_of_counts_are_those_of_the_ratings(pairs):
    first, second = np.array(pairs, dtype=float).T
    counts, both = verdict_counts(first, second).sum(axis=0), np.column_stack([first, second])
    known = {
        "percent agreement": percent_agreement(both).estimate,
        "Cohen's kappa": cohen_kappa(first, second).estimate,
        "Gwet's AC1": gwet_ac(both, categories=(0.0, 1.0)).estimate,
        "Krippendorff's alpha": krippendorff_alpha(both).estimate,
    }
    found = {name: float(of(counts)) for name, of in COEFFICIENTS.items()}
    assert found == pytest.approx(known, nan_ok=True)


@given(verdicts)
def test_coefficients_are_those_of_other_libraries(pairs):
    judge, truth = np.array(pairs, dtype=float).T
    counts = verdict_counts(judge, truth).sum(axis=0)
    known = {"precision": precision_score(truth, judge, zero_division=np.nan),
             "sensitivity": recall_score(truth, judge, zero_division=np.nan),
             "specificity": recall_score(1 - truth, 1 - judge, zero_division=np.nan)}  # fmt: skip
    assert {name: float(of(counts)) for name, of in AGAINST.items()} == pytest.approx(known, nan_ok=True)
    if len({*judge, *truth}) == 2:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert float(kappa_of(counts)) == pytest.approx(cohen_kappa_score(judge, truth), nan_ok=True)
        assert float(alpha_of(counts)) == pytest.approx(krippendorff.alpha([judge, truth], level_of_measurement="nominal"))


def test_by_hand():
    counts = [20, 5, 10, 15]  # p_o .7; p_e of kappa .5; pooled share .55
    assert float(agreement_of(counts)) == pytest.approx(0.7)
    assert float(kappa_of(counts)) == pytest.approx(0.4)
    assert float(ac1_of(counts)) == pytest.approx((0.7 - 0.495) / 0.505)
    assert float(alpha_of(counts)) == pytest.approx(1 - 0.3 * 99 / (0.495 * 100))
    assert [float(of(counts)) for of in (sensitivity_of, specificity_of, precision_of)] == pytest.approx([2 / 3, 0.75, 0.8])


def test_what_is_undefined_is_nan_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        empty = [float(of([0, 0, 0, 0])) for of in (COEFFICIENTS | AGAINST).values()]
        alike = [float(of([5, 0, 0, 0])) for of in (kappa_of, ac1_of, alpha_of, specificity_of)]
    assert np.isnan(empty).all()
    assert alike == pytest.approx([math.nan, 1.0, math.nan, math.nan], nan_ok=True)


def test_many_tables_at_once():
    tables = np.array([[20, 5, 10, 15], [118, 5, 2, 0], [0, 0, 0, 0]])
    for of in COEFFICIENTS.values():
        assert of(tables) == pytest.approx([float(of(table)) for table in tables], nan_ok=True)


# ---- the jackknife -----------------------------------------------------------------------------------------------------


def test_over_items_the_jackknife_is_that_of_krippendorffs_alpha():
    first, second, _ = two_raters()
    known = krippendorff_alpha(np.column_stack([first, second]))
    found = jackknife_interval(alpha_of, verdict_counts(first, second), bounds=(-math.inf, 1.0))
    assert (found.estimate, found.low, found.high) == pytest.approx((known.estimate, known.low, known.high))


def test_over_clusters_it_is_the_brute_force_with_another_library():
    first, second, clusters = two_raters()
    without = [cohen_kappa_score(first[clusters != one], second[clusters != one]) for one in range(40)]
    whole = cohen_kappa_score(first, second)
    pseudo = 40 * whole - 39 * np.array(without)
    half = t_quantile(0.975, 39) * pseudo.std(ddof=1) / math.sqrt(40)
    found = jackknife_interval(kappa_of, verdict_counts(first, second, clusters))
    assert (found.estimate, found.low, found.high) == pytest.approx((whole, whole - half, whole + half))
    assert (found.method, found.n) == ("jackknife t", 40)


def test_near_the_usual_intervals_where_items_are_independent():
    first, second, _ = two_raters(n=400, n_clusters=400)
    counts = verdict_counts(first, second)
    for of, known in ((kappa_of, cohen_kappa(first, second)), (ac1_of, gwet_ac(np.column_stack([first, second])))):
        found = jackknife_interval(of, counts)
        assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=0.003)


def test_copies_of_an_item_say_nothing_new():
    first, second, _ = two_raters()
    once = jackknife_interval(kappa_of, verdict_counts(first, second))
    thrice = jackknife_interval(
        kappa_of, verdict_counts(*(np.repeat(side, 3) for side in (first, second)), np.repeat(range(200), 3))
    )
    naive = jackknife_interval(kappa_of, verdict_counts(np.repeat(first, 3), np.repeat(second, 3)))
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high))
    assert naive.high - naive.low == pytest.approx((once.high - once.low) / math.sqrt(3), rel=0.02)


@pytest.mark.parametrize(
    ("totals", "reason"),
    [
        (np.empty((0, 4)), "needs 2 units, got 0"),
        ([[3, 1, 0, 2]], "needs 2 units, got 1"),
        ([[3, 0, 0, 0], [2, 0, 0, 0]], "no such value"),
        ([[3, 0, 0, 0], [2, 1, 1, 1]], "no such value without one of the units"),
        ([[2, 1, 1, 2]] * 5, "no unit changes it"),
    ],
)
def test_an_undefined_interval_says_why(totals, reason):
    found = jackknife_interval(kappa_of, totals)
    assert math.isnan(found.low)
    assert found.method.endswith(f"undefined: {reason}")


def test_limits_are_clipped_and_few_units_named():
    found = jackknife_interval(kappa_of, [[4, 0, 0, 4], [3, 1, 0, 4], [4, 0, 0, 3]], bounds=(-1.0, 1.0))
    assert found.high == 1.0
    assert "fewer than 30 units: too narrow" in found.method


# ---- correlation and ROC area ------------------------------------------------------------------------------------------


def test_the_correlation_is_numpys_and_its_interval_near_fishers():
    rng = np.random.default_rng(3)
    x = rng.normal(1e4, 1, 400)
    y = 0.5 * x + rng.normal(0, 1, 400)
    found, known = clustered_pearson(x, y, np.arange(400)), pearson(x, y)
    assert found.estimate == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=0.02)
    doubled = clustered_pearson(np.repeat(x, 2), np.repeat(y, 2), np.repeat(range(400), 2))
    assert (doubled.low, doubled.high) == pytest.approx((found.low, found.high))


def test_an_undefined_correlation_says_why():
    assert "all 3 values are equal" in clustered_pearson([1, 1, 1], [1, 2, 3], [0, 1, 2]).method
    assert math.isnan(clustered_pearson([1, 2, 3], [1, 2, 3], ["a", "a", "a"]).low)
    assert math.isnan(clustered_pearson([], [], []).estimate)


def test_the_roc_area_is_sklearns_and_its_interval_delongs():
    rng = np.random.default_rng(4)
    labels = (rng.random(300) < 0.4).astype(int)
    scores = np.round(rng.random(300) + 0.4 * labels, 1)  # with ties
    found, known = clustered_auroc(labels, scores, np.arange(300)), auroc(labels, scores)
    assert found.estimate == pytest.approx(roc_auc_score(labels, scores))
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=0.003)
    twice = clustered_auroc(np.repeat(labels, 2), np.repeat(scores, 2), np.repeat(range(300), 2))
    assert (twice.low, twice.high) == pytest.approx((found.low, found.high))


def test_an_undefined_roc_area_says_why():
    assert "both classes" in clustered_auroc([1, 1], [0.1, 0.2], ["a", "b"]).method
    perfect = clustered_auroc([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], [0, 1, 2, 3])
    assert perfect.estimate == 1.0
    assert math.isnan(perfect.low)


def coverage(n_trials, seed):
    """Share of trials whose interval holds kappa, with clusters and without."""
    truth = float(kappa_of(verdict_counts(*two_raters(400_000, 1, 100_000)[:2]).sum(axis=0)))
    hits = np.zeros(2)
    for trial in range(n_trials):
        first, second, clusters = two_raters(240, seed + trial, 60)
        for place, units in enumerate((clusters, None)):
            found = jackknife_interval(kappa_of, verdict_counts(first, second, units))
            hits[place] += found.low <= truth <= found.high
    return hits / n_trials


def test_clustered_intervals_hold_the_truth_in_some_trials():
    assert coverage(60, 100)[0] >= 0.85


@pytest.mark.slow
def test_clustered_intervals_hold_the_truth_about_as_often_as_they_say():
    with_clusters, without = coverage(2000, 1000)
    assert 0.93 <= with_clusters <= 0.97
    assert without < with_clusters
