"""Judges against labels: values of another library, common records, counted gaps, paired and clustered differences."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score, root_mean_squared_error
from statsmodels.stats.multitest import multipletests

import ragnb
from ragnb.errors import InputError
from ragnb.metrics import trace_scores
from ragnb.reports import trace_report
from ragnb.reports.trace import SCORES

MINE = {
    "mine": {"adherence": "a1", "relevance": "r1"},
    "yours": {"adherence": "a2", "relevance": "r2"},
}


@pytest.fixture
def records():
    rng = np.random.default_rng(7)
    n = 80
    adherent, relevant = rng.random(n) < 0.6, rng.random(n).round(2)
    labels = {"adherence_score": adherent, "relevance_score": relevant}
    labels |= {"utilization_score": 0.5, "completeness_score": 1.0}
    frame = pd.DataFrame({"example_id": [f"q{k // 2}" for k in range(n)]} | labels)
    return frame.assign(
        a1=np.clip(adherent * 0.5 + rng.random(n) * 0.7, 0, 1),
        a2=rng.random(n),
        r1=relevant + rng.normal(0, 0.1, n),
        r2=relevant + rng.normal(0, 0.3, n),
    )


def row(table, measure, judge):
    found = table[(table["measure"] == measure) & (table["judge"] == judge)]
    assert len(found) == 1
    return found.iloc[0]


def test_auroc_of_hallucination_and_rmse_are_those_of_scikit_learn(records):
    table = trace_report(records, MINE).judges
    for judge, columns in MINE.items():
        known = roc_auc_score(~records["adherence_score"], 1 - records[columns["adherence"]])
        assert row(table, "hallucination_auroc", judge)["value"] == pytest.approx(known)
        known = root_mean_squared_error(records["relevance_score"], records[columns["relevance"]])
        found = row(table, "relevance_rmse", judge)
        assert found["value"] == pytest.approx(known)
        assert found["low"] < known < found["high"]
    assert set(table["measure"]) == {"hallucination_auroc", "relevance_rmse"}


def test_a_fraction_is_no_label_of_adherence(records):
    shares = records.assign(adherence_score=records["adherence_score"].astype(float))
    shares.loc[[2, 5], "adherence_score"] = 0.67
    with pytest.raises(InputError, match="got 2 others in adherence_score, such as 0.67"):
        trace_report(shares, MINE)
    shares.loc[[2, 5], "adherence_score"] = math.nan
    assert set(trace_report(shares, MINE).judges["n"]) == {78, 80}


def test_judges_are_compared_on_the_records_that_all_of_them_scored(records):
    records.loc[[3, 4], "r1"] = math.nan
    records.loc[[4, 5], "r2"] = math.nan
    report = trace_report(records, MINE)
    for judge in MINE:
        found = row(report.judges, "relevance_rmse", judge)
        assert (found["n"], found["n_missing"], found["n_records"]) == (77, 2, 80)
    kept = records.drop(index=[3, 4, 5])
    known = root_mean_squared_error(kept["relevance_score"], kept["r1"])
    assert row(report.judges, "relevance_rmse", "mine")["value"] == pytest.approx(known)
    assert row(report.judges, "hallucination_auroc", "mine")["n"] == 80


def test_differences_of_squared_errors_are_paired_and_holm_corrected(records):
    table = trace_report(records, MINE).comparisons
    errors = [(records[name] - records["relevance_score"]) ** 2 for name in ("r1", "r2")]
    found = row(table, "relevance_rmse", "mine")
    assert found["difference"] == pytest.approx((errors[0] - errors[1]).mean())
    assert found["p_value"] == pytest.approx(stats.ttest_rel(*errors).pvalue)
    adjusted = multipletests(table["p_value"], method="holm")[1]
    assert table["p_adjusted"].tolist() == pytest.approx(adjusted)
    assert row(table, "hallucination_auroc", "mine")["test"] == "DeLong test"


def test_responses_that_share_a_question_are_clustered_or_the_reader_is_warned(records):
    report = trace_report(records, MINE, cluster="example_id")
    rmse, area = (
        row(report.comparisons, name, "mine") for name in ("relevance_rmse", "hallucination_auroc")
    )
    assert "cluster" in rmse["test"]
    assert "DeLong's test treats records as independent" in area["warning"]
    for table in (report.judges, report.comparisons):
        assert set(table["n"]) == {80}
        assert row(table, "relevance_rmse", "mine")["n_units"] == 40
    assert set(report.judges["warning"]) == {""}
    five = records.assign(example_id=[f"q{k % 5}" for k in range(80)])
    few = trace_report(five, MINE, cluster="example_id").judges
    assert set(few["warning"]) == {"5 clusters, fewer than 30: the interval is too narrow"}


@pytest.mark.parametrize(
    ("judges", "message"),
    [
        ({"mine": {"taste": "a1"}}, "one or more of adherence, .*, got taste"),
        ({}, "got no judge"),
        ({"mine": {}}, "one or more of adherence, .*, got none for 'mine'"),
        ({"mine": {"adherence": "example_id"}}, "needs numbers in example_id"),
    ],
)
def test_bad_input_says_what_is_needed(records, judges, message):
    with pytest.raises(InputError, match=message):
        trace_report(records, judges)


@pytest.mark.data
def test_the_datasets_own_judges_are_measured_on_real_records(data_folder):
    records = ragnb.load_ragbench(data_folder / "ragbench" / "ragbench_test_5x10.jsonl")
    table = trace_report(records).judges
    assert row(table, "relevance_rmse", "trulens")["n_missing"] == 5
    gpt = row(table, "utilization_rmse", "gpt-3.5")
    there = records["gpt35_utilization"].notna()
    scored = records[there]
    known = root_mean_squared_error(
        scored["utilization_score"], scored["gpt35_utilization"].astype(float)
    )
    # Not from the relevance columns, as in the released helper.
    assert gpt["value"] == pytest.approx(known)


# ---- scores of each system ---------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["ragbench", "guide"])
def test_the_scores_of_each_system_are_means_over_its_records(variant):
    sample = ragnb.load_ragbench("sample-ragbench")
    report = trace_report(sample, variant=variant)
    scores = [trace_scores(record, variant=variant) for record in sample.to_dict("records")]
    values = pd.DataFrame(scores, index=sample["system"])
    for row in report.results.itertuples():
        of_system = values.loc[row.system, row.metric.removeprefix("trace.")]
        assert row.mean == pytest.approx(of_system.mean())
        assert row.n == row.n_scored == len(of_system)
        assert row.low < row.mean <= row.high
        assert f"variant:{variant}" in row.signature
    assert set(report.results["metric"]) == set(SCORES)
    assert set(report.results["system"]) == {"careful", "fluent"}


def test_without_predictions_there_is_no_table_of_judges():
    report = trace_report(ragnb.load_ragbench("sample-ragbench"))
    assert len(report.judges) == len(report.comparisons) == 0
    assert "Judges against labels" not in report._repr_html_()
    assert "Scores of each system" in report._repr_html_()
