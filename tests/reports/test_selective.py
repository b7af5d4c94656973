"""Risk-coverage curves: published formula, exact controls, and EVOUNA's five systems."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragnb
from ragnb.errors import InputError
from ragnb.reports import risk_coverage_report
from ragnb.stats import aurc

ITEMS = st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=5)


def published(errors, confidence):
    """Geifman et al. (2019): the mean, over the items' thresholds, of the risk of what they accept."""
    errors, confidence = np.array(errors), np.array(confidence)
    return np.mean([errors[confidence >= threshold].mean() for threshold in confidence])


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_area_is_that_of_the_published_formula(errors, random):
    confidence = random.sample(range(100), len(errors))
    assert aurc(errors, confidence).estimate == pytest.approx(published(errors, confidence))


@given(ITEMS)
def test_ties_count_as_the_mean_over_their_orders(items):
    orders = [sorted(order, key=lambda item: -item[1]) for order in permutations(items)]
    curves = [
        np.cumsum([wrong for wrong, _ in order]) / np.arange(1, len(order) + 1) for order in orders
    ]
    errors, confidence = zip(*items, strict=True)
    assert aurc(errors, confidence).estimate == pytest.approx(np.mean(curves))


def test_the_interval_leaves_out_one_cluster_at_a_time():
    rng = np.random.default_rng(1)
    errors, confidence, clusters = rng.random(40) < 0.4, rng.integers(0, 9, 40), np.arange(40) // 4
    found = aurc(errors, confidence, clusters)
    kept = [clusters != cluster for cluster in range(10)]
    without = np.array([aurc(errors[k], confidence[k]).estimate for k in kept])
    pseudo = 10 * found.estimate - 9 * without
    half = (
        2.262157 * pseudo.std(ddof=1) / np.sqrt(10)
    )  # the quantile of t with 9 degrees of freedom
    assert (found.low, found.high) == pytest.approx((found.estimate - half, found.estimate + half))


@pytest.fixture(scope="module")
def short_answers():
    """FiD's short answers, with the number of the other four systems whose answer contains them."""
    rows = ragnb.load_study("evouna-nq").query("not improper and verdict.notna()")
    said = rows.pivot(index="example_id", columns="system", values="response").dropna()
    said = said.apply(lambda column: column.str.casefold())
    others = said.drop(columns="fid")
    agreement = [
        sum(own in each for each in row)
        for own, row in zip(said["fid"], others.to_numpy(), strict=True)
    ]
    answers = rows[rows["system"] == "fid"].set_index("example_id").loc[said.index]
    return answers.assign(agreement=agreement).reset_index()


def test_agreement_between_systems_predicts_the_errors_of_fid(short_answers):
    report = risk_coverage_report(short_answers, confidence="agreement")
    wrong = ~short_answers["verdict"].astype(bool)
    for row in report.curve.itertuples():
        accepted = short_answers["agreement"] >= row.threshold
        assert (row.coverage, row.risk) == pytest.approx((accepted.mean(), wrong[accepted].mean()))
        assert row.random_low <= row.random == wrong.mean() <= row.random_high
    areas = report.areas.set_index("measure")
    assert areas["mean"].round(3).tolist() == [0.152, 0.31, -0.159]
    assert areas.loc["difference", "high"] < 0
    assert "AURC" in report._repr_html_()


def test_abstentions_count_in_the_coverage_and_answers_without_a_verdict_do_not():
    frame = pd.DataFrame(
        {"system": "a", "sure": [0.9, 0.5, np.nan, 0.7], "verdict": [1, 0, None, None]}
    )
    report = risk_coverage_report(frame, confidence="sure")
    assert report.curve["coverage"].tolist() == [pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert report.areas[["n", "n_answered"]].values[0].tolist() == [3, 2]
    with pytest.raises(InputError, match="no response has both sure and verdict"):
        risk_coverage_report(frame.assign(sure=np.nan), confidence="sure")


def test_a_system_without_any_answer_and_rows_without_a_group_keep_their_rows():
    frame = pd.DataFrame(
        {
            "system": ["one", "one", "silent", "silent", "unjudged", None, None],
            "sure": [2, 1, None, None, 3, 2, 1],
            "verdict": [True, False, None, None, None, False, True],
        }
    )
    report = risk_coverage_report(frame, confidence="sure")
    areas = report.areas[report.areas["measure"] == "AURC"]
    assert areas["system"].fillna("-").tolist() == ["one", "silent", "unjudged", "-"]
    assert areas["n"].tolist() == [2, 2, 0, 2]
    assert areas["n_answered"].tolist() == [2, 0, 0, 2]
    assert areas["mean"].isna().tolist() == [False, True, True, False]
    assert report.curve["system"].fillna("-").tolist() == ["one", "one", "-", "-"]
    with pytest.raises(InputError, match="no response has both sure and verdict"):
        risk_coverage_report(frame[2:5], confidence="sure")
