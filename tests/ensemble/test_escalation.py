from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.api import OLS
from statsmodels.stats.multitest import multipletests

from ragnb.ensemble import compare_escalation, escalation_curve, escalation_point
from ragnb.errors import InputError
from ragnb.results import PairedTable
from ragnb.stats.binary import mcnemar_test, tango_interval
from ragnb.stats.clusters import cluster_sign_flip_test
from ragnb.stats.intervals import mean_interval, rate_interval

Y = [1, 0, 1, 0, 1]
PROBABILITY = [
    0.9,
    0.45,
    0.4,
    0.8,
    0.2,
]  # right, right, wrong, wrong, wrong; least certain first: 1, 2, then 3 and 4 tied, 0
JUDGED = [1, 1, 1, 0, 0]  # breaks item 1, mends 2 and 3, leaves 4 wrong


def simulated(n=400, n_questions=80, skill=0.9, seed=0):
    """Labels, probabilities, verdicts (2 % missing) and questions; the ensemble is calibrated."""
    rng = np.random.default_rng(seed)
    question = rng.integers(n_questions, size=n)
    probability = 1 / (1 + np.exp(-rng.normal(size=n) * 1.5 - rng.normal(size=n_questions)[question]))
    y = rng.random(n) < probability
    judged = np.where(rng.random(n) < skill, y, ~y).astype(object)
    judged[rng.random(n) < 0.02] = None
    return y, probability, judged, question


def rights(y, probability, judged, mask):
    """Whether each combined label is right, item by item."""
    labels = [
        bool(verdict) if asked and verdict is not None else p > 0.5
        for p, verdict, asked in zip(probability, judged, mask, strict=True)
    ]
    return np.array([label == bool(truth) for label, truth in zip(labels, y, strict=True)], dtype=float)


# ---- the curve, by hand ------------------------------------------------------------------------------------------------


def test_the_curve_by_hand():
    curve = escalation_curve(Y, PROBABILITY, JUDGED)
    assert curve["n_escalated"].tolist() == [0, 1, 2, 3, 4, 5]
    assert curve["share"].tolist() == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    # 2 right; item 1 broken; item 2 mended; of the tied pair one is mended, so half a label on average; then both; then 0
    assert curve["accuracy"].tolist() == pytest.approx([0.4, 0.2, 0.4, 0.5, 0.6, 0.6])
    assert curve["error"].tolist() == pytest.approx([0.6, 0.8, 0.6, 0.5, 0.4, 0.4])
    assert curve["point"].tolist() == ["no escalation", "", "", "", "", "judge everything"]
    assert set(curve["order"]) == {"confidence"}
    assert set(curve["n"]) == set(curve["n_clusters"]) == {5}


def test_the_ends_are_the_ensemble_alone_and_the_judge_alone():
    y, probability, judged, _ = simulated()
    curve = escalation_curve(y, probability, judged)
    known = np.array([verdict is not None for verdict in judged])
    alone = np.mean((probability > 0.5) == y)
    judge = (np.sum(judged[known].astype(bool) == y[known]) + np.sum((probability > 0.5)[~known] == y[~known])) / len(y)
    assert curve["accuracy"].iloc[[0, -1]].tolist() == pytest.approx([alone, judge])
    assert curve["n_missing"].iloc[[0, -1]].tolist() == [0, (~known).sum()]


def test_every_share_is_one_of_whole_items_and_both_ends_are_there():
    curve = escalation_curve(*simulated(n=7)[:3])
    assert curve["n_escalated"].tolist() == list(range(8))
    chosen = escalation_curve(*simulated(n=1000)[:3], shares=[0.29, 0.1575, 0.29])
    assert chosen["n_escalated"].tolist() == [0, 158, 290, 1000]
    assert len(escalation_curve([1], [0.2], [1])) == 2


def test_every_row_without_a_cut_is_the_accuracy_of_its_labels():
    y, probability, judged, _ = simulated(n=60)
    ranked = np.argsort(abs(probability - 0.5))
    for row in escalation_curve(y, probability, judged).itertuples():
        mask = np.isin(np.arange(60), ranked[: row.n_escalated])
        assert row.accuracy == pytest.approx(rights(y, probability, judged, mask).mean())


# ---- ties --------------------------------------------------------------------------------------------------------------

ITEM = st.tuples(st.booleans(), st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), st.sampled_from([True, False, None]))


@settings(max_examples=50)
@given(st.lists(ITEM, min_size=1, max_size=5))
def test_a_cut_through_ties_is_the_mean_over_all_their_orders(items):
    y, probability, judged = zip(*items, strict=True)
    n = len(items)
    orders = [order for order in permutations(range(n)) if _sorted([abs(round(10 * probability[k]) - 5) for k in order])]
    for row in escalation_curve(y, probability, judged).itertuples():
        masks = [np.isin(np.arange(n), order[: row.n_escalated]) for order in orders]
        assert row.accuracy == pytest.approx(np.mean([rights(y, probability, judged, mask).mean() for mask in masks]))
        missing = [sum(judged[k] is None for k in order[: row.n_escalated]) for order in orders]
        assert row.n_missing == pytest.approx(np.mean(missing))
        assert row.n_judged == pytest.approx(row.n_escalated - np.mean(missing))


def _sorted(values):
    return list(values) == sorted(values)


def test_rounding_breaks_no_tie():
    assert abs(0.3 - 0.5) != abs(0.7 - 0.5)
    curve = escalation_curve([1, 0], [0.3, 0.3], [1, 1])
    mirrored = escalation_curve([1, 0], [0.3, 0.7], [1, 0])
    assert curve["accuracy"].tolist() == [0.5, 0.5, 0.5]
    assert mirrored["accuracy"].tolist() == [0.0, 0.5, 1.0]


def test_the_order_of_the_rows_plays_no_part():
    y, probability, judged, question = simulated()
    probability = probability.round(1)  # many ties
    shuffled = np.random.default_rng(1).permutation(len(y))
    first = escalation_curve(y, probability, judged, groups=question)
    second = escalation_curve(y[shuffled], probability[shuffled], judged[shuffled], groups=question[shuffled])
    pd.testing.assert_frame_equal(first, second)


def test_random_order_is_the_mean_over_every_draw():
    curve = escalation_curve(Y, PROBABILITY, JUDGED, order="random")
    for row in curve.itertuples():
        draws = [np.isin(np.arange(5), chosen) for chosen in combinations(range(5), row.n_escalated)]
        assert row.accuracy == pytest.approx(np.mean([rights(Y, PROBABILITY, JUDGED, mask).mean() for mask in draws]))
    assert np.diff(curve["accuracy"]) == pytest.approx([0.04] * 5)


# ---- other orders ------------------------------------------------------------------------------------------------------


def test_a_confidence_of_one_s_own():
    """Items 4, 3, 2, 1, 0: wrong stays, two mended, one broken, one right."""
    curve = escalation_curve(Y, PROBABILITY, JUDGED, order=[5, 4, 3, 2, 1])
    assert curve["accuracy"].tolist() == pytest.approx([0.4, 0.4, 0.6, 0.8, 0.6, 0.6])
    assert set(curve["order"]) == {"given"}


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2, 0.4])
def test_by_p_values_the_doubly_undecided_go_first(alpha):
    """Split-conformal p-values computed here; items whose set holds both labels are a prefix of the order."""
    y, probability, judged, _ = simulated(n=900)
    scores = np.where(y[:300], 1 - probability[:300], probability[:300])
    p_values = np.array([[(np.sum(scores >= s) + 1) / 301 for s in (p, 1 - p)] for p in probability[300:]])
    both = (p_values > alpha).all(axis=1)
    y, probability, judged = y[300:], probability[300:], judged[300:]
    curve = escalation_curve(y, probability, judged, order=p_values, shares=[both.mean()])
    row = curve[curve["n_escalated"] == both.sum()].iloc[0]
    assert row["accuracy"] == pytest.approx(rights(y, probability, judged, both).mean())
    assert row["order"] == "p-values"


def test_labels_other_than_those_of_the_probability():
    curve = escalation_curve(Y, PROBABILITY, JUDGED, y_hat=[1, 0, 1, 0, 1])
    assert curve["accuracy"].tolist()[0] == 1.0
    assert curve["accuracy"].tolist()[-1] == pytest.approx(0.6)


def test_one_half_is_label_0():
    assert escalation_curve([1, 0], [0.5, 0.5], [None, None])["accuracy"].tolist() == [0.5] * 3
    assert escalation_curve([0], [0.5], [1])["accuracy"].tolist() == [1.0, 0.0]


# ---- verdicts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, float("nan")], ids=repr)
def test_a_missing_verdict_keeps_the_label_and_is_counted(missing):
    curve = escalation_curve([1, 1], [0.6, 0.1], [missing, True])
    assert curve["accuracy"].tolist() == [0.5, 0.5, 1.0]
    assert curve["n_judged"].tolist() == [0, 0, 1]
    assert curve["n_missing"].tolist() == [0, 1, 1]


@pytest.mark.parametrize("dtype", ["boolean", "Int64", "Float64", "object", "float"])
def test_verdicts_may_have_any_type_that_pandas_gives_them(dtype):
    judged = pd.Series([1, 0, 1, None, 1]).astype(dtype)
    curve = escalation_curve(Y, PROBABILITY, judged)
    pd.testing.assert_frame_equal(curve, escalation_curve(Y, PROBABILITY, [True, False, True, None, True]))


def test_a_judge_without_any_verdict_changes_nothing():
    curve = escalation_curve(Y, PROBABILITY, [None] * 5)
    assert set(curve["accuracy"]) == {0.4}
    assert curve["n_missing"].tolist() == curve["n_escalated"].tolist()


# ---- cost --------------------------------------------------------------------------------------------------------------


def test_cost_is_paid_for_every_item_asked_about():
    assert "cost" not in escalation_curve(Y, PROBABILITY, JUDGED)
    curve = escalation_curve(Y, PROBABILITY, [None] * 5, cost=0.25)
    assert curve["cost"].tolist() == [0, 0.25, 0.5, 0.75, 1, 1.25]
    each = escalation_curve(Y, PROBABILITY, JUDGED, cost=[1, 2, 4, 8, 16])
    assert each["cost"].tolist() == [0, 2, 6, 18, 30, 31]  # half of 8 + 16 at the cut through the tie


# ---- intervals ---------------------------------------------------------------------------------------------------------


def test_without_groups_each_row_has_wilson_s_interval():
    y, probability, judged, _ = simulated(n=150)
    for row in escalation_curve(y, probability, judged, confidence_level=0.9).itertuples():
        found = rate_interval(round(row.accuracy * 150), 150, confidence_level=0.9)
        assert (row.low, row.high, row.interval) == pytest.approx((found.low, found.high, "Wilson"))
        assert row.confidence_level == 0.9


def test_at_a_cut_the_interval_lies_between_its_neighbours():
    curve = escalation_curve([1] * 10, [0.2] * 10, [1] * 5 + [0] * 5)
    assert curve["accuracy"].tolist() == pytest.approx(np.arange(11) / 20)
    whole = [rate_interval(k, 10).low for k in range(6)]
    assert curve["low"].tolist()[::2] == pytest.approx(whole)
    assert curve["low"].is_monotonic_increasing
    assert curve["high"].is_monotonic_increasing


def test_with_groups_each_row_has_the_cluster_robust_interval():
    y, probability, judged, question = simulated()
    names = np.array([f"質問 {k} שאלה" for k in question])
    ranked = np.argsort(abs(probability - 0.5))
    curve = escalation_curve(y, probability, judged, groups=names, shares=[0.1, 0.25, 0.7])
    for row in curve.itertuples():
        mask = np.isin(np.arange(400), ranked[: row.n_escalated])
        found = mean_interval(rights(y, probability, judged, mask), question)
        assert (row.accuracy, row.low, row.high) == pytest.approx((found.estimate, found.low, found.high), abs=1e-8)
        assert (row.interval, row.n_clusters, row.n) == (found.method, found.n, 400)


def test_with_groups_a_cut_through_ties_has_the_interval_of_the_expected_labels():
    y, right = [1] * 8, np.array([0.5] * 4 + [0.0] * 4)  # half of the four mended ones
    groups = ["a", "a", "b", "b", "c", "c", "d", "d"]
    curve = escalation_curve(y, [0.2] * 8, [1] * 4 + [0] * 4, groups=groups, shares=[0.5])
    found = mean_interval(right, groups)
    assert curve.loc[1, ["low", "high"]].tolist() == pytest.approx([max(found.low, 0), found.high])


def test_with_groups_no_limit_of_an_accuracy_leaves_0_and_1():
    groups, y = np.repeat(range(34), 10), np.ones(340)
    probability = np.where(np.arange(340) % 50, 0.9, 0.1)  # seven of the 340 are wrong, each in another question
    judged = np.where(np.arange(340) < 1, 0, 1)
    free = mean_interval(np.arange(340) >= 1, groups)
    assert free.high > 1
    curve = escalation_curve(y, probability, judged, groups=groups)
    point = escalation_point(y, probability > 0.5, np.ones(340), judged, groups=groups)
    for found in (curve, point):
        assert found["low"].between(0, 1).all()
        assert found["high"].between(0, 1).all()
        assert found[["low", "high"]].iloc[-1].tolist() == pytest.approx([free.low, 1.0])
    wrong = escalation_point(1 - y, probability > 0.5, np.ones(340), judged, groups=groups)
    assert wrong[["low", "high"]].iloc[0].tolist() == pytest.approx([0.0, 1 - free.low])


def test_one_question_has_no_interval():
    curve = escalation_curve(Y, PROBABILITY, JUDGED, groups=["only"] * 5)
    assert curve[["low", "high"]].isna().all(axis=None)
    assert curve["accuracy"].notna().all()
    assert curve["interval"].str.contains("undefined: needs 2 clusters").all()


def test_many_items_are_no_trouble():
    y, probability, judged, _ = simulated(n=100_000, n_questions=20_000)
    curve = escalation_curve(y, probability, judged)
    assert len(curve) == 101
    assert curve["accuracy"].iloc[40] > curve["accuracy"].iloc[0]


# ---- a point -----------------------------------------------------------------------------------------------------------


def published():
    """Items of the run that continuous-eval publishes: 235 with 37 undecided, confusion matrices before and after GPT-4.

    [[42, 10], [31, 152]] becomes [[43, 9], [24, 159]]: one false positive and seven false negatives are mended.
    """
    cells = {(0, 0): 42, (0, 1): 10, (1, 0): 31, (1, 1): 152}
    y, y_hat = np.array([cell for cell, count in cells.items() for _ in range(count)]).T
    wrong = np.flatnonzero(y != y_hat)
    mended = [*wrong[:1], *wrong[10:17]]
    undecided = np.isin(np.arange(235), [*mended, *np.flatnonzero(y == y_hat)[:29]])
    judged = y.copy()
    judged[~undecided] = 1 - judged[~undecided]  # a judge that is of no use elsewhere
    return y, y_hat, undecided, judged


def test_the_published_run():
    y, y_hat, undecided, judged = published()
    row = escalation_point(y, y_hat, undecided, judged, name="conformal set, alpha = 0.1").iloc[0]
    assert row["accuracy"] == pytest.approx(0.8595744680851064, abs=1e-15)
    assert f"{row['share']:.2%}" == "15.74%"
    assert escalation_point(y, y_hat, undecided & False, judged)["accuracy"][0] == pytest.approx(
        0.825531914893617, abs=1e-15
    )
    assert (row["n_escalated"], row["n_judged"], row["n_missing"], row["point"]) == (37, 37, 0, "conformal set, alpha = 0.1")
    found = rate_interval(202, 235)
    assert (row["low"], row["high"]) == pytest.approx((found.low, found.high))


def test_a_point_has_the_columns_of_a_curve_and_joins_it():
    y, probability, judged, question = simulated()
    undecided = abs(probability - 0.5) < 0.1
    extra = {"groups": question, "cost": 0.5}
    curve = escalation_curve(y, probability, judged, **extra, shares=[undecided.mean()])
    point = escalation_point(y, probability > 0.5, undecided, judged, **extra)
    assert list(point) == list(curve)
    same = ["share", "n_escalated", "n_judged", "n_missing", "accuracy", "low", "high", "error", "cost", "interval"]
    pd.testing.assert_frame_equal(curve.loc[[1], same].reset_index(drop=True), point[same])


def test_verdicts_on_decided_items_play_no_part_in_a_point():
    y, y_hat, undecided, judged = published()
    only = np.where(undecided, judged, np.nan)
    pd.testing.assert_frame_equal(escalation_point(y, y_hat, undecided, judged), escalation_point(y, y_hat, undecided, only))


# ---- the comparison ----------------------------------------------------------------------------------------------------


def test_the_published_run_is_compared():
    """Eight mended, none broken: mid-p is 2 * (1 / 2 ** 8) / 2. The judge breaks all decided ones that were right."""
    rows = compare_escalation(*published()).set_index(["policy", "baseline"])
    against_none = rows.loc[("conformal set", "no escalation")]
    assert against_none["difference"] == pytest.approx(8 / 235)
    assert against_none["p_value"] == pytest.approx(2**-8)
    assert against_none["test"] == "McNemar mid-p"
    found = tango_interval(PairedTable(194, 8, 0, 33))
    assert (against_none["low"], against_none["high"]) == pytest.approx((found.low, found.high))
    everything = rows.loc[("judge everything", "no escalation")]
    assert everything["accuracy"] == pytest.approx(37 / 235)
    assert everything["p_value"] == pytest.approx(mcnemar_test(PairedTable(29, 8, 165, 33)).p_value)


def test_the_rows_are_the_four_questions_one_asks():
    y, probability, judged, _ = simulated()
    rows = compare_escalation(y, probability > 0.5, abs(probability - 0.5) < 0.1, judged, cost=2)
    pairs = rows[["policy", "baseline"]].values.tolist()
    assert pairs == [
        ["conformal set", "no escalation"],
        ["conformal set", "as many at random"],
        ["conformal set", "judge everything"],
        ["judge everything", "no escalation"],
    ]
    share = np.mean(abs(probability - 0.5) < 0.1)
    assert rows["share"].tolist() == pytest.approx([share] * 3 + [1])
    assert rows["baseline_share"].tolist() == pytest.approx([0, share, 1, 0])
    assert rows["cost"].tolist() == pytest.approx([800 * share] * 3 + [800])
    assert rows["baseline_cost"].tolist() == pytest.approx([0, 800 * share, 800, 0])
    assert (rows["accuracy"] - rows["baseline_accuracy"]).tolist() == pytest.approx(rows["difference"].tolist())


@pytest.mark.parametrize("grouped", [False, True])
def test_p_values_are_corrected_over_all_rows(grouped):
    y, probability, judged, question = simulated()
    choices = {f"alpha = {alpha}": abs(probability - 0.5) < 0.3 - alpha for alpha in (0.1, 0.2)}
    groups = question if grouped else None
    rows = compare_escalation(y, probability > 0.5, choices, judged, groups=groups)
    assert len(rows) == 7
    assert rows["p_adjusted"].tolist() == pytest.approx(multipletests(rows["p_value"], method="holm")[1])
    assert set(rows["family_size"]) == {7}


def test_against_random_is_the_mean_over_every_draw():
    undecided = np.array([0, 1, 1, 1, 0])
    row = compare_escalation(Y, np.array(PROBABILITY) > 0.5, undecided, JUDGED).loc[1]
    draws = [np.isin(np.arange(5), chosen) for chosen in combinations(range(5), 3)]
    expected = np.mean([rights(Y, PROBABILITY, JUDGED, mask).mean() for mask in draws])
    assert row["baseline_accuracy"] == pytest.approx(expected)
    assert row["difference"] == pytest.approx(rights(Y, PROBABILITY, JUDGED, undecided).mean() - expected)


def test_against_random_is_the_t_test_of_a_covariance():
    y, probability, judged, _ = simulated()
    undecided = abs(probability - 0.5) < 0.1
    row = compare_escalation(y, probability > 0.5, undecided, judged).loc[1]
    full, none = (rights(y, probability, judged, np.full(400, flag)) for flag in (True, False))
    gain = full - none
    assert row["difference"] == pytest.approx(np.cov(undecided, gain, ddof=0)[0, 1])
    oracle = stats.ttest_1samp((undecided - undecided.mean()) * (gain - gain.mean()), 0)
    assert row["p_value"] == pytest.approx(oracle.pvalue)
    assert (row["low"], row["high"]) == pytest.approx(tuple(oracle.confidence_interval(0.95)))
    assert row["duality"] == "dual"


def test_with_groups_the_tests_are_those_of_a_cluster_robust_regression():
    """statsmodels, on a constant alone."""
    y, probability, judged, question = simulated()
    undecided = abs(probability - 0.5) < 0.1
    rows = compare_escalation(y, probability > 0.5, undecided, judged, groups=question)
    masks = {"conformal set": undecided, "no escalation": undecided & False, "judge everything": undecided | True}
    gain = rights(y, probability, judged, undecided | True) - rights(y, probability, judged, undecided & False)
    for row in rows.itertuples():
        if row.baseline == "as many at random":
            differences = (undecided - undecided.mean()) * (gain - gain.mean())
        else:
            first, second = (rights(y, probability, judged, masks[name]) for name in (row.policy, row.baseline))
            differences = first - second
        fit = OLS(differences, np.ones(400)).fit(cov_type="cluster", cov_kwds={"groups": question}, use_t=True)
        assert row.difference == pytest.approx(fit.params[0])
        assert row.p_value == pytest.approx(fit.pvalues[0])
        assert (row.low, row.high) == pytest.approx(tuple(fit.conf_int()[0]))
        assert row.n_clusters == len(set(question))


def test_few_questions_are_flipped_whole():
    y, probability, judged, question = simulated(n=60, n_questions=12)
    undecided = abs(probability - 0.5) < 0.15
    row = compare_escalation(y, probability > 0.5, undecided, judged, groups=question).loc[0]
    first, second = (rights(y, probability, judged, mask) for mask in (undecided, undecided & False))
    assert row["p_value"] == cluster_sign_flip_test(first, second, clusters=question).p_value
    assert row["test"].startswith("exact cluster sign-flip test")
    assert "fewer than 30" in row["interval"]
    assert row["duality"] == "not dual"


def test_where_nothing_differs_nothing_is_found():
    rows = compare_escalation([1, 0, 1], [1, 1, 0], [1, 0, 0], [1, 1, 0])
    assert rows["difference"].tolist() == [0] * 4
    assert rows["p_value"].tolist() == pytest.approx([1, np.nan, 1, 1], nan_ok=True)
    assert set(rows["family_size"]) == {3}
    assert "all 3 values are equal" in rows["warning"][1]
    grouped = compare_escalation([1, 0, 1], [1, 1, 0], [1, 0, 0], [1, 1, 0], groups=["a", "b", "b"])
    assert grouped["difference"].tolist() == [0] * 4


@pytest.mark.parametrize("undecided", [[0, 0, 0, 0, 0], [1, 1, 1, 1, 1]])
def test_a_choice_of_none_or_all_is_no_better_than_chance(undecided):
    rows = compare_escalation(Y, np.array(PROBABILITY) > 0.5, undecided, JUDGED)
    assert rows["difference"][1] == 0
    assert np.isnan(rows["p_value"][1])


def test_missing_verdicts_are_counted_for_each_policy():
    y, probability, judged, _ = simulated()
    undecided = abs(probability - 0.5) < 0.2
    rows = compare_escalation(y, probability > 0.5, undecided, judged)
    missing = np.array([verdict is None for verdict in judged])
    assert rows["n_missing"].tolist() == [(missing & undecided).sum()] * 3 + [missing.sum()]


# ---- what the comparison with chance is worth --------------------------------------------------------------------------


def rejections(trials, *, size):
    """How often a blind choice is found better or worse than chance at the 5 % level; questions are of ``size`` like items."""
    rng = np.random.default_rng(20)
    question = np.repeat(np.arange(300 // size), size)
    found = 0
    for _ in range(trials):
        y, y_hat, judged, undecided = (rng.random((4, 300 // size)) < [[0.6], [0.6], [0.7], [0.2]])[:, question]
        rows = compare_escalation(y, y_hat, undecided, judged, groups=question if size > 1 else None)
        found += rows["p_value"][1] < 0.05
    return found / trials


@pytest.mark.parametrize("size", [1, 5])
def test_a_blind_choice_is_seldom_found_better_than_chance(size):
    assert rejections(100, size=size) <= 0.13  # binomial 99.9 % quantile at 5 %


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 5])
def test_a_blind_choice_is_found_better_than_chance_at_the_stated_rate(size):
    assert 0.035 < rejections(4000, size=size) < 0.07


# ---- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"y": [], "probability": [], "judged": []}, "at least one item; it got none"),
        ({"y": [1, 0, 2, 0, 1]}, "y needs values 0 or 1; it got 2"),
        ({"y": [1, 0]}, "probability needs one value an item .2.; it got 5"),
        ({"probability": [0.5, 0.5, 0.5, 0.5, 1.5]}, "probability needs values in .0, 1.; it got 0.5 to 1.5"),
        ({"probability": [0.5, 0.5, 0.5, 0.5, np.nan]}, "probability needs finite scores"),
        ({"judged": [1, 0, 1]}, "judged needs one verdict an item .5."),
        ({"judged": [1, 0, 0.5, 1, 1]}, "judged needs values 0 or 1; it got 0.5"),
        ({"judged": ["yes", "no", "no", "no", "no"]}, "judged needs numbers"),
        ({"y_hat": [1]}, "y_hat needs one value an item"),
        ({"order": "backwards"}, "order needs one of 'confidence', 'random', or an array; it got 'backwards'"),
        ({"order": [1, 2, 3]}, "a finite confidence, or two p-values, for each of 5 items; it got shape"),
        ({"order": [1, 2, 3, 4, np.nan]}, "a finite confidence"),
        ({"groups": ["a", "b"]}, "groups needs one value an item"),
        ({"groups": ["a", None, "b", "c", "c"]}, "a question for every item; it got 1 without"),
        ({"groups": ["a", np.nan, "b", np.nan, "c"]}, "a question for every item; it got 2 without"),
        ({"groups": ["a", ["b", "c"], "b", "c", "c"]}, "groups needs one value an item; it got lists of several lengths"),
        ({"cost": -1}, "cost needs one price of at least 0"),
        ({"cost": [1, 2]}, "cost needs one price of at least 0"),
        ({"shares": [0.5, 20]}, "shares needs numbers in .0, 1.; it got 0.5 to 20"),
        ({"confidence_level": 95}, "confidence_level needs a number between 0 and 1"),
    ],
)
def test_what_cannot_be_a_curve_is_refused(changed, words):
    given = {"y": Y, "probability": PROBABILITY, "judged": JUDGED, **changed}
    with pytest.raises(InputError, match=words):
        escalation_curve(given.pop("y"), given.pop("probability"), given.pop("judged"), **given)


def test_series_of_different_rows_are_refused():
    y, judged = pd.Series(Y), pd.Series(JUDGED)
    with pytest.raises(InputError, match="Series with different indexes; align them"):
        escalation_curve(y, PROBABILITY, judged[::-1])
    with pytest.raises(InputError, match="Series with different indexes"):
        compare_escalation(y, y, {"a": pd.Series([0] * 5, index=list("abcde"))}, judged)
    assert len(escalation_curve(y, pd.Series(PROBABILITY), judged)) == 6


@pytest.mark.parametrize("undecided", [[1, 0], [[1, 0]] * 5, [0.5] * 5])
def test_a_choice_needs_one_mark_an_item(undecided):
    for function in (escalation_point, compare_escalation):
        with pytest.raises(InputError, match="undecided needs"):
            function(Y, Y, undecided, JUDGED)


def test_a_probability_is_no_label():
    with pytest.raises(InputError, match="y_hat needs values 0 or 1; it got 0.9"):
        escalation_point(Y, PROBABILITY, [0] * 5, JUDGED)
