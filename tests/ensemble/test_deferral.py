"""Deferral curves, points and comparisons: by hand, by enumeration, and against other libraries."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.api import OLS
from statsmodels.stats.proportion import proportion_confint
from support.by_hand import cluster_interval, mid_p, tango

from ragnb.ensemble import compare_deferral, deferral_curve, deferral_point, deferral_report
from ragnb.errors import InputError
from ragnb.stats import (
    PairedTable,
    mcnemar_test,
    mean_interval,
    rate_interval,
    sign_flip_test,
    tango_interval,
)

Y = [1, 0, 1, 0, 1]
# right, right, wrong, wrong, wrong; least confident first: 1, 2, then 3 and 4 tied, 0
PROBABILITY = [0.9, 0.45, 0.4, 0.8, 0.2]
JUDGED = [1, 1, 1, 0, 0]  # makes item 1 wrong, corrects 2 and 3, leaves 4 wrong


def simulated(n=400, n_questions=80, skill=0.9, seed=0):
    """Labels, probabilities, verdicts (2 % missing) and questions; the ensemble is calibrated."""
    rng = np.random.default_rng(seed)
    question = rng.integers(n_questions, size=n)
    probability = 1 / (
        1 + np.exp(-rng.normal(size=n) * 1.5 - rng.normal(size=n_questions)[question])
    )
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
    return np.array(
        [label == bool(truth) for label, truth in zip(labels, y, strict=True)], dtype=float
    )


# ---- the curve, by hand ------------------------------------------------------------------------------------------------


def test_the_curve_by_hand():
    curve = deferral_curve(Y, PROBABILITY, JUDGED)
    assert curve["n_deferred"].tolist() == [0, 1, 2, 3, 4, 5]
    assert curve["share"].tolist() == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    # 2 right; item 1 made wrong; item 2 corrected; one of the tied pair is corrected, so half a label on average; then both; then 0
    assert curve["accuracy"].tolist() == pytest.approx([0.4, 0.2, 0.4, 0.5, 0.6, 0.6])
    assert curve["error"].tolist() == pytest.approx([0.6, 0.8, 0.6, 0.5, 0.4, 0.4])
    assert curve["point"].tolist() == ["no deferral", "", "", "", "", "judge everything"]
    assert set(curve["n"]) == set(curve["n_clusters"]) == {5}


# ---- ties --------------------------------------------------------------------------------------------------------------

ITEM = st.tuples(
    st.booleans(), st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), st.sampled_from([True, False, None])
)


@settings(max_examples=50)
@given(st.lists(ITEM, min_size=1, max_size=5))
def test_a_cut_through_ties_is_the_mean_over_all_their_orders(items):
    y, probability, judged = zip(*items, strict=True)
    n = len(items)
    orders = [
        order
        for order in permutations(range(n))
        if _sorted([abs(round(10 * probability[k]) - 5) for k in order])
    ]
    for row in deferral_curve(y, probability, judged).itertuples():
        masks = [np.isin(np.arange(n), order[: row.n_deferred]) for order in orders]
        assert row.accuracy == pytest.approx(
            np.mean([rights(y, probability, judged, mask).mean() for mask in masks])
        )
        missing = [sum(judged[k] is None for k in order[: row.n_deferred]) for order in orders]
        assert row.n_missing == pytest.approx(np.mean(missing))
        assert row.n_judged == pytest.approx(row.n_deferred - np.mean(missing))


def _sorted(values):
    return list(values) == sorted(values)


# ---- intervals ---------------------------------------------------------------------------------------------------------


def test_at_a_cut_through_ties_the_interval_is_that_of_the_expected_count():
    curve = deferral_curve([1] * 10, [0.2] * 10, [1] * 5 + [0] * 5, confidence_level=0.9)
    assert curve["accuracy"].tolist() == pytest.approx(np.arange(11) / 20)
    expected = np.transpose(proportion_confint(np.arange(11) / 2, 10, alpha=0.1, method="wilson"))
    assert curve[["low", "high"]].to_numpy() == pytest.approx(expected, abs=1e-9)
    assert set(curve["interval"]) == {"Wilson"}
    assert set(curve["confidence_level"]) == {0.9}


def test_with_groups_the_interval_is_cluster_robust():
    y, probability, judged, question = simulated()
    curve = deferral_curve(y, probability, judged, groups=question, shares=[])
    found = mean_interval((probability > 0.5) == y, question)
    assert curve.loc[0, ["low", "high"]].tolist() == pytest.approx([found.low, found.high])
    assert (curve.loc[0, "interval"], curve.loc[0, "n_clusters"]) == (found.method, found.n)


# ---- a point -----------------------------------------------------------------------------------------------------------


def published():
    """Items of the run that continuous-eval publishes: 235 with 37 abstentions, confusion matrices before and after GPT-4.

    [[42, 10], [31, 152]] becomes [[43, 9], [24, 159]]: one false positive and seven false negatives are corrected.
    """
    cells = {(0, 0): 42, (0, 1): 10, (1, 0): 31, (1, 1): 152}
    y, y_hat = np.array([cell for cell, count in cells.items() for _ in range(count)]).T
    wrong = np.flatnonzero(y != y_hat)
    corrected = [*wrong[:1], *wrong[10:17]]
    abstained = np.isin(np.arange(235), [*corrected, *np.flatnonzero(y == y_hat)[:29]])
    judged = y.copy()
    judged[~abstained] = 1 - judged[~abstained]  # a judge that is wrong on all others
    return y, y_hat, abstained, judged


def test_the_published_run():
    y, y_hat, abstained, judged = published()
    row = deferral_point(y, y_hat, abstained, judged, name="conformal set, alpha = 0.1").iloc[0]
    assert row["accuracy"] == pytest.approx(0.8595744680851064, abs=1e-15)
    assert f"{row['share']:.2%}" == "15.74%"
    assert deferral_point(y, y_hat, abstained & False, judged)["accuracy"][0] == pytest.approx(
        0.825531914893617, abs=1e-15
    )
    assert (row["n_deferred"], row["n_judged"], row["n_missing"], row["point"]) == (
        37,
        37,
        0,
        "conformal set, alpha = 0.1",
    )
    found = rate_interval(202, 235)
    assert (row["low"], row["high"]) == pytest.approx((found.low, found.high))


# ---- the comparison ----------------------------------------------------------------------------------------------------


def test_the_published_run_is_compared():
    """Eight are corrected and none made wrong: mid-p is 2 * (1 / 2 ** 8) / 2. The judge is wrong on all accepted ones."""
    rows = compare_deferral(*published()).set_index(["policy", "baseline"])
    against_none = rows.loc[("conformal set", "no deferral")]
    assert against_none["difference"] == pytest.approx(8 / 235)
    assert against_none["p_value"] == pytest.approx(2**-8)
    assert against_none["test"] == "McNemar mid-p"
    found = tango_interval(PairedTable(194, 8, 0, 33))
    assert (against_none["low"], against_none["high"]) == pytest.approx((found.low, found.high))
    everything = rows.loc[("judge everything", "no deferral")]
    assert everything["accuracy"] == pytest.approx(37 / 235)
    assert everything["p_value"] == pytest.approx(mcnemar_test(PairedTable(29, 8, 165, 33)).p_value)


def test_against_random_is_the_mean_over_every_draw():
    abstained = np.array([0, 1, 1, 1, 0])
    row = compare_deferral(Y, np.array(PROBABILITY) > 0.5, abstained, JUDGED).loc[1]
    draws = [np.isin(np.arange(5), chosen) for chosen in combinations(range(5), 3)]
    expected = np.mean([rights(Y, PROBABILITY, JUDGED, mask).mean() for mask in draws])
    assert row["baseline_accuracy"] == pytest.approx(expected)
    assert row["difference"] == pytest.approx(
        rights(Y, PROBABILITY, JUDGED, abstained).mean() - expected
    )


def test_against_random_is_the_t_test_of_a_covariance():
    y, probability, judged, _ = simulated()
    abstained = abs(probability - 0.5) < 0.1
    row = compare_deferral(y, probability > 0.5, abstained, judged).loc[1]
    full, none = (rights(y, probability, judged, np.full(400, flag)) for flag in (True, False))
    gain = full - none
    assert row["difference"] == pytest.approx(np.cov(abstained, gain, ddof=0)[0, 1])
    oracle = stats.ttest_1samp((abstained - abstained.mean()) * (gain - gain.mean()), 0)
    assert row["p_value"] == pytest.approx(oracle.pvalue)
    assert (row["low"], row["high"]) == pytest.approx(tuple(oracle.confidence_interval(0.95)))
    assert row["duality"] == "dual"


def test_with_groups_the_tests_are_those_of_a_cluster_robust_regression():
    """statsmodels, on a constant alone."""
    y, probability, judged, question = simulated()
    abstained = abs(probability - 0.5) < 0.1
    rows = compare_deferral(y, probability > 0.5, abstained, judged, groups=question)
    masks = {
        "conformal set": abstained,
        "no deferral": abstained & False,
        "judge everything": abstained | True,
    }
    gain = rights(y, probability, judged, abstained | True) - rights(
        y, probability, judged, abstained & False
    )
    for row in rows.itertuples():
        if row.baseline == "as many at random":
            differences = (abstained - abstained.mean()) * (gain - gain.mean())
        else:
            first, second = (
                rights(y, probability, judged, masks[name]) for name in (row.policy, row.baseline)
            )
            differences = first - second
        fit = OLS(differences, np.ones(400)).fit(
            cov_type="cluster", cov_kwds={"groups": question}, use_t=True
        )
        assert row.difference == pytest.approx(fit.params[0])
        assert row.p_value == pytest.approx(fit.pvalues[0])
        assert (row.low, row.high) == pytest.approx(tuple(fit.conf_int()[0]))
        assert row.n_clusters == len(set(question))


def test_few_questions_are_flipped_whole():
    y, probability, judged, question = simulated(n=60, n_questions=12)
    abstained = abs(probability - 0.5) < 0.15
    row = compare_deferral(y, probability > 0.5, abstained, judged, groups=question).loc[0]
    first, second = (
        rights(y, probability, judged, mask) for mask in (abstained, abstained & False)
    )
    assert row["p_value"] == sign_flip_test(first, second, clusters=question).p_value
    assert row["test"].startswith("exact cluster sign-flip test")
    assert "fewer than 30" in row["interval"]
    assert row["duality"] == "not dual"


def test_where_nothing_differs_nothing_is_found():
    rows = compare_deferral([1, 0, 1], [1, 1, 0], [1, 0, 0], [1, 1, 0])
    assert rows["difference"].tolist() == [0] * 4
    assert rows["p_value"].tolist() == pytest.approx([1, np.nan, 1, 1], nan_ok=True)
    assert set(rows["family_size"]) == {3}
    assert "all 3 values are equal" in rows["warning"][1]
    grouped = compare_deferral([1, 0, 1], [1, 1, 0], [1, 0, 0], [1, 1, 0], groups=["a", "b", "b"])
    assert grouped["difference"].tolist() == [0] * 4


# ---- what the comparison with chance is worth --------------------------------------------------------------------------


def rejections(trials, *, size):
    """How often a blind choice is found better or worse than chance at the 5 % level; questions are of ``size`` like items."""
    rng = np.random.default_rng(20)
    question = np.repeat(np.arange(300 // size), size)
    found = 0
    for _ in range(trials):
        y, y_hat, judged, abstained = (rng.random((4, 300 // size)) < [[0.6], [0.6], [0.7], [0.2]])[
            :, question
        ]
        rows = compare_deferral(y, y_hat, abstained, judged, groups=question if size > 1 else None)
        found += rows["p_value"][1] < 0.05
    return found / trials


@pytest.mark.parametrize(
    ("trials", "size", "lowest", "highest"),
    [
        (100, 5, 0, 0.13),  # binomial 99.9 % quantile at 5 %
        pytest.param(4000, 1, 0.035, 0.07, marks=pytest.mark.slow),
        pytest.param(4000, 5, 0.035, 0.07, marks=pytest.mark.slow),
    ],
)
def test_a_blind_choice_is_found_better_than_chance_at_the_stated_rate(
    trials, size, lowest, highest
):
    assert lowest <= rejections(trials, size=size) <= highest


# ---- several judges ------------------------------------------------------------------------------


def decided(n=400, seed=0):
    """Labels, decisions of an ensemble that abstains on a third, and the verdicts of a good and a bad judge."""
    y, probability, judged, question = simulated(n, seed=seed)
    decisions = pd.DataFrame({"y_hat": (probability > 0.5).astype(int)})
    decisions["abstained"] = np.abs(probability - 0.5) < 0.2
    verdicts = {"good": pd.Series(judged), "bad": pd.Series(1 - y.astype(int))}
    return pd.Series(y.astype(int)), decisions, verdicts, pd.Series(question)


def test_a_report_on_judges_counts_what_they_correct_and_spoil():
    y, decisions, verdicts, _ = decided()
    prices = {"good": 0.5, "bad": 2}
    table = deferral_report(y, decisions, verdicts, prices=prices).set_index("point")
    abstained = decisions["abstained"]
    alone = decisions["y_hat"] == y
    assert table.loc["nobody", "deferred_accuracy"] == pytest.approx(alone[abstained].mean())
    assert table.loc["nobody", "accuracy"] == pytest.approx(alone.mean())
    for name, given_verdicts in verdicts.items():
        label = decisions["y_hat"].where(~abstained | given_verdicts.isna(), given_verdicts)
        right = label.astype(int) == y
        row = table.loc[name]
        corrected, spoiled = (right & ~alone).sum(), (alone & ~right).sum()
        assert row[["corrected", "spoiled"]].tolist() == [corrected, spoiled]
        assert row["accuracy"] == pytest.approx(right.mean())
        assert row["difference"] == pytest.approx((corrected - spoiled) / len(y))
        limits = row[["difference_low", "difference_high"]].tolist()
        assert limits == pytest.approx(tango(corrected, spoiled, len(y)), abs=1e-6)
        assert row["p_value"] == pytest.approx(mid_p(corrected, spoiled))
        low, high = proportion_confint(right[abstained].sum(), abstained.sum(), method="wilson")
        assert row["deferred_accuracy"] == pytest.approx(right[abstained].mean())
        assert row[["deferred_low", "deferred_high"]].tolist() == pytest.approx([low, high])
        n_asked = (abstained & given_verdicts.notna()).sum()
        assert row["cost"] == pytest.approx(prices[name] * n_asked)
        net = corrected - spoiled
        assert row["cost_per_gain"] == pytest.approx(row["cost"] / net if net > 0 else np.inf)
    assert table.loc["bad", "cost_per_gain"] == np.inf
    assert table.loc["good", "n_missing"] == (abstained & verdicts["good"].isna()).sum()


def test_a_report_on_judges_with_questions_is_cluster_robust():
    y, decisions, verdicts, question = decided()
    table = deferral_report(y, decisions, verdicts, groups=question).set_index("point")
    label = decisions["y_hat"].where(~decisions["abstained"], verdicts["bad"])
    gain = (label == y).astype(float) - (decisions["y_hat"] == y)
    columns = ["difference", "difference_low", "difference_high"]
    assert table.loc["bad", columns].tolist() == pytest.approx(cluster_interval(gain, question))
    expected = cluster_interval((label == y).astype(float), question)
    assert table.loc["bad", ["accuracy", "low", "high"]].tolist() == pytest.approx(expected)


def test_a_report_on_judges_if_nothing_is_deferred_and_what_is_refused():
    y, decisions, verdicts, _ = decided()
    table = deferral_report(y, decisions.assign(abstained=False), verdicts)
    assert table["deferred_accuracy"].isna().all()
    assert table["corrected"].tolist() == [0, 0, 0]
    with pytest.raises(InputError, match=r"prices must be of the judges \(good, bad\), got cheap"):
        deferral_report(y, decisions, verdicts, prices={"cheap": 1.0})
    with pytest.raises(InputError, match="deferral_report needs .*abstained"):
        deferral_report(y, decisions.drop(columns="abstained"), verdicts)


# ---- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": [1, 0, 2, 0, 1]}, "y must be 0 or 1 .*, got 2"),
        ({"probability": [0.5, 0.5, 0.5, 0.5, 1.5]}, "probability must be between 0 and 1"),
        (
            {"groups": ["a", None, "b", "c", "c"]},
            "groups must be one key per item, got a missing one",
        ),
    ],
)
def test_mistakes(changed, message):
    given = {"y": Y, "probability": PROBABILITY, "judged": JUDGED, **changed}
    with pytest.raises(ValueError, match=message):
        deferral_curve(given.pop("y"), given.pop("probability"), given.pop("judged"), **given)


def test_series_are_aligned_by_their_index_labels():
    y, probability, judged = (
        pd.Series(values, list("abcde")) for values in (Y, PROBABILITY, JUDGED)
    )
    expected = deferral_curve(Y, PROBABILITY, JUDGED)
    pd.testing.assert_frame_equal(
        deferral_curve(y, probability[::-1], judged.sort_values()), expected
    )
    pd.testing.assert_frame_equal(deferral_curve(y, PROBABILITY, judged), expected)
    with pytest.raises(InputError, match="Series with different indexes cannot be combined"):
        deferral_curve(y, probability[::-1], JUDGED)
    with pytest.raises(InputError, match="y must be 0 or 1 .*, got nan"):
        deferral_curve(y[:3], probability, judged)
