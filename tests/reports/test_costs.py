"""Gain per unit of any cost: means and limits by scipy, gaps, clusters, errors, and the words of EVOUNA's answers."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from statsmodels.api import OLS
from support.made_scores import scored, with_costs

import ragnb
from ragnb.errors import InputError
from ragnb.reports import cost_effectiveness, efficiency

SHORT = {"short": [0.0, 1.0, 0.0, 1.0], "long": [1.0, 1.0, 0.0, 1.0]}
SECONDS = [1.0, 2.0, 1.0, 4.0, 2.0, 5.0, 3.0, 4.5]


def with_seconds(**columns):
    return scored(SHORT).assign(seconds=SECONDS, **columns)


def fieller_by_search(gain, cost):
    """The ratios at which a paired t-test has p = 0.05."""
    estimate = gain.mean() / cost.mean()

    def excess(r):
        return stats.ttest_1samp(gain - r * cost, 0).pvalue - 0.05

    reach = 5 * abs(estimate)
    low = optimize.brentq(excess, estimate - reach, estimate, xtol=1e-14)
    return estimate, low, optimize.brentq(excess, estimate, estimate + reach, xtol=1e-14)


def test_gain_and_additional_cost_are_paired_differences():
    (row,) = cost_effectiveness(with_seconds(), "seconds", baseline="short").to_dict("records")
    gain, cost = np.array([1.0, 0, 0, 0]), np.array([1.0, 3, 2, 0.5])
    for name, values in (("gain", gain), ("cost", cost)):
        limits = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
        assert (row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx(limits)
        assert row[name] == values.mean()
    assert row["estimate"] == pytest.approx(gain.mean() / cost.mean())
    assert (row["n"], row["n_units"], row["left_out"]) == (4, 4, 0)
    assert (row["cost_column"], row["metric"]) == ("seconds", "own.f1")


def test_words_of_real_answers_follow_the_t_test():
    study = ragnb.load_study("evouna-nq", usable=True).query("system in ['FiD', 'GPT-4']")
    study["words"] = study["response"].str.split().str.len()
    scores = ragnb.score(study, "verdict")
    (row,) = cost_effectiveness(scores, "words", baseline="FiD").to_dict("records")
    wide = study.astype({"verdict": float}).pivot(
        index="example_id", columns="system", values=["verdict", "words"]
    )
    wide = wide.dropna()
    gain = (wide["verdict"]["GPT-4"] - wide["verdict"]["FiD"]).to_numpy(float)
    cost = (wide["words"]["GPT-4"] - wide["words"]["FiD"]).to_numpy(float)
    found = (row["estimate"], row["low"], row["high"])
    assert found == pytest.approx(fieller_by_search(gain, cost), rel=1e-6)
    assert row["kind"] == "bounded"
    assert row["n"] == len(gain)


def test_several_costs_and_systems_have_a_row_each():
    frame = with_seconds(euros=np.array(SECONDS) / 100)
    more = frame[frame["system"] == "long"].assign(system="longer", seconds=9.0)
    table = cost_effectiveness(pd.concat([frame, more]), ["seconds", "euros"], baseline="short")
    found = table[["cost_column", "system"]].to_numpy().tolist()
    assert found == [[c, s] for c in ("seconds", "euros") for s in ("long", "longer")]
    ratios = table.set_index(["cost_column", "system"])["estimate"]
    assert ratios["euros", "long"] == pytest.approx(100 * ratios["seconds", "long"])


def test_what_lacks_a_score_or_a_cost_is_left_out_and_counted():
    frame = with_seconds()
    frame.loc[0, "value"] = math.nan
    frame.loc[5, "seconds"] = math.nan
    (row,) = cost_effectiveness(frame, "seconds", baseline="short").to_dict("records")
    assert (row["n"], row["left_out"]) == (2, 2)
    assert row["cost"] == np.mean([2.0, 0.5])


def test_questions_in_several_languages_are_clusters():
    rng = np.random.default_rng(3)
    values = {name: rng.random(24) for name in ("a", "b")}
    frame = scored(values).assign(
        question_id=[f"question {k // 3}" for k in range(24)] * 2,
        seconds=rng.random(48),
    )
    (row,) = cost_effectiveness(frame, "seconds", baseline="a").to_dict("records")
    gain = values["b"] - values["a"]
    groups = np.repeat(np.arange(8), 3)
    fitted = OLS(gain, np.ones(24)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "df_correction": True}, use_t=True
    )
    assert (row["gain_low"], row["gain_high"]) == pytest.approx(tuple(fitted.conf_int()[0]))
    assert (row["n"], row["n_units"]) == (24, 8)
    assert "8 clusters" in row["interval"]


def test_translated_tokens_as_a_column_give_the_row_of_efficiency():
    systems = {
        "direct": ([0.25, 0.5, 0.0, 0.5, 0.75], [0.0] * 5),
        "cross": ([0.75, 0.25, 1.0, 1.0, 1.0], [200.0, 100, 400, 50, 250]),
    }
    scores = with_costs(systems)
    known = efficiency(scores).query("estimator == 'ratio of means, Fieller'").iloc[0]
    tokens = [cost for _, costs in systems.values() for cost in costs]
    f1 = scores[scores["metric"] == "answer.f1"].assign(tokens=tokens)
    row = cost_effectiveness(f1, "tokens", baseline="direct").iloc[0]
    same = ["estimate", "low", "high", "kind", "gain", "gain_low", "gain_high", "cost", "cost_high"]
    assert row[same].tolist() == known[same].tolist()


def test_two_rays_are_the_limits_of_what_is_excluded():
    values = {"a": np.zeros(6), "b": np.array([1.0, 1, 1, 1, 0.9, 1])}
    frame = scored(values).assign(seconds=[0.0] * 6 + [1.0, -1, 2, -2, 1, -0.5])
    row = cost_effectiveness(frame, "seconds", baseline="a").iloc[0]
    assert row["kind"] == "two rays"
    assert row["low"] < 0 < row["high"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cost": "minutes"}, "needs the column"),
        ({"cost": "metric"}, "needs numbers in metric"),
        ({"baseline": "shrt"}, r"baseline must be one of the systems \(short, long\), got 'shrt'"),
        ({"metric": "answer.f1"}, r"metric must be in the scores \(own.f1\), got 'answer.f1'"),
    ],
)
def test_errors_name_what_is_allowed(change, message):
    arguments = {"cost": "seconds", "baseline": "short"} | change
    with pytest.raises(InputError, match=message):
        cost_effectiveness(with_seconds(), **arguments)


def test_several_metrics_and_repeated_examples_are_refused():
    frame = with_seconds()
    other = frame.assign(metric="own.other")
    with pytest.raises(InputError, match="metric must be named if the scores contain several"):
        cost_effectiveness(pd.concat([frame, other]), "seconds", baseline="short")
    with pytest.raises(InputError, match="one row for each system and example_id"):
        cost_effectiveness(pd.concat([frame, frame]), "seconds", baseline="short")
    with pytest.raises(InputError, match="needs another system"):
        cost_effectiveness(frame[:4], "seconds", baseline="short")


def test_the_figure_names_the_metric_and_the_column():
    table = cost_effectiveness(with_seconds(), "seconds", baseline="short")
    ax = ragnb.plot(table, names={"own.f1": "own score"})
    assert ax.get_xlabel() == "additional seconds per response"
    assert ax.get_ylabel() == "gain in own score over short"
