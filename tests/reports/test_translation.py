"""Estimates against arrays aligned by hand: pairing, gaps, clusters, degenerate costs, frontier, real runs."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.made_scores import with_costs

import ragnb
from ragnb.columns import questions
from ragnb.errors import InputError
from ragnb.experiments import recorded_responses
from ragnb.reports import efficiency, gains_and_costs
from ragnb.reports.translation import ESTIMATORS
from ragnb.scoring import bridging
from ragnb.stats import fieller_interval

NAN = math.nan
MEAN, ZEROS, FIELLER = ESTIMATORS

DIRECT = [0.25, 0.5, 0.0, 0.5, 0.75], [0.0] * 5
CROSS = [0.75, 0.25, 1.0, 1.0, 1.0], [200.0, 100, 400, 50, 250]
LBRAG = [0.75, 0.5, 0.5, 1.0, 0.5], [20.0, 0, 40, 10, 30]
SYSTEMS = {"direct": DIRECT, "cross": CROSS, "lbrag": LBRAG}
GAINS = {"cross": [0.5, -0.25, 1, 0.5, 0.25], "lbrag": [0.5, 0, 0.5, 0.5, -0.25]}
COSTS = {"cross": CROSS[1], "lbrag": LBRAG[1]}


def row_of(table, name, system="x"):
    rows = table[(table["estimator"] == name) & (table["system"] == system)]
    assert len(rows) == 1
    return rows.iloc[0]


def limits(row, *names):
    return tuple(row[name] for name in names or ("estimate", "low", "high"))


# ---- gains and costs -----------------------------------------------------------------------------


def test_what_has_no_f1_or_cost_is_left_out_and_counted():
    frame = with_costs({
        "direct": ([0.25, 0.5, 0.0, 0.5, NAN], [0] * 5),
        "cross": CROSS,
        "lbrag": ([NAN, 0.5, 0.5, 1.0, 0.5], [20, 0, NAN, 10, 30]),
        "unknown": (DIRECT[0], [NAN] * 5),
    })  # fmt: skip
    pairs = gains_and_costs(frame)
    assert pairs.attrs["left_out"] == {"cross": 1, "lbrag": 3, "unknown": 5}
    assert pairs.query("system == 'lbrag'")["example_id"].tolist() == ["q1", "q3"]
    table = efficiency(frame)
    known = fieller_interval(GAINS["cross"][:4], COSTS["cross"][:4])
    assert limits(row_of(table, FIELLER, "cross")) == (known.estimate, known.low, known.high)
    rows = table[table["system"] == "unknown"]
    assert rows[["n", "n_units", "left_out"]].drop_duplicates().values.tolist() == [[0, 0, 5]]
    undefined = ["estimate", "low", "high", "gain", "cost", "zero_cost_share"]
    assert rows[undefined].isna().all(axis=None)
    assert rows["problem"].notna().all()


def test_a_baseline_alone_has_no_gain():
    with pytest.raises(InputError, match="needs another system, got 'direct' alone"):
        efficiency(with_costs({"direct": DIRECT}))


def test_a_row_without_question_is_one_of_its_own():
    ids = {"example_id": ["a/de", "a/en", "b", "c"], "question_id": ["a", "a", None, NAN]}
    frame = pd.DataFrame(ids)
    assert questions(frame).tolist() == ["a", "a", "b", "c"]
    assert questions(frame[["example_id"]]).tolist() == ["a/de", "a/en", "b", "c"]


# ---- the estimators ------------------------------------------------------------------------------


def test_gains_and_estimates_by_hand():
    scores = with_costs(SYSTEMS)
    pairs = gains_and_costs(scores)
    for system, rows in pairs.groupby("system"):
        assert rows["gain"].tolist() == GAINS[system]
        assert rows["cost"].tolist() == COSTS[system]
    assert pairs.attrs["left_out"] == {"cross": 0, "lbrag": 0}
    table = efficiency(scores)
    by_item = np.array([0.5 / 20, 0.5 / 40, 0.5 / 10, -0.25 / 30])
    assert row_of(table, MEAN, "lbrag")["estimate"] == pytest.approx(by_item.sum() / 4)
    assert row_of(table, ZEROS, "lbrag")["estimate"] == pytest.approx(by_item.sum() / 5)
    row = row_of(table, FIELLER, "lbrag")
    assert row["estimate"] == 1.25 / 100
    assert (row["n"], row["n_units"]) == (5, 5)
    for name, values in (("gain", GAINS["lbrag"]), ("cost", COSTS["lbrag"])):
        known = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
        assert limits(row, f"{name}_low", f"{name}_high") == pytest.approx(known)
    assert table.query("system == 'lbrag'")["zero_cost_share"].tolist() == pytest.approx([0.2] * 3)
    f1, cost = (f"v|metric:{m}|variant:unicode" for m in ("answer.f1", "cost.translation_tokens"))
    assert set(table["signature"]) == {f"{f1} & {cost}"}


# ---- the report, and recorded runs ---------------------------------------------------------------


@pytest.fixture(scope="module")
def reports():
    responses = recorded_responses("multilingual").query("language in ['de', 'zh']")
    variants = ("unicode", "lbrag")
    return {v: ragnb.multilingual_report(responses, variant=v) for v in variants}


@pytest.mark.parametrize(("variant", "name"), [("unicode", MEAN), ("lbrag", ZEROS)])
def test_the_rules_for_zeros_are_those_of_cnbe(reports, variant, name):
    report = reports[variant]
    cnbe = report.table[report.table["metric"] == "cost.cnbe"].set_index("system")
    table = efficiency(report.scores)
    for system in ("multi", "cross", "lbrag"):
        expected = limits(cnbe.loc[system], "mean", "low", "high")
        assert limits(row_of(table, name, system)) == pytest.approx(expected, nan_ok=True)
    by_hand = bridging(report.scores, variant="lbrag").query("system == 'cross'")["value"].mean()
    assert row_of(table, ZEROS, "cross")["estimate"] == pytest.approx(by_hand)
