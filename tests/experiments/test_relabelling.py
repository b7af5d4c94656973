"""How many labels are needed after a change before a judge or a conformal ensemble may decide again."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom
from support.simulation import slack

import ragnb
from ragnb.conformal import labels_for_coverage
from ragnb.errors import InputError
from ragnb.stats import confirmation_plan

N = 200


def runs(n_changed=120, n_wrong=10, n_labelled=N):
    """Runs of N questions: the first answers changed, and the judge errs on the last labelled ones."""
    ids = [f"q{i}" for i in range(N)]
    label = np.where(np.arange(N) < n_labelled, 1.0, np.nan)
    judged = np.where(np.arange(N) >= n_labelled - n_wrong, 0.0, 1.0)
    frame = pd.DataFrame({"example_id": ids, "references": "Oslo", "response": "Oslo"})
    before = frame.assign(label=label, judged_correct=judged)
    texts = np.where(np.arange(N) < n_changed, "It is Oslo", "Oslo")
    return before, frame.assign(response=texts, judged_correct=judged)


def plan_of(before, after, **options):
    return ragnb.changes(before, after, "contains").labels_before_deferral(**options)


def needs(plan):
    return {row["purpose"]: row for row in plan.needs.to_dict("records")}


def test_the_judge_needs_labels_of_changed_answers():
    plan = plan_of(*runs())
    row = needs(plan)["the judge's verdicts"]
    expected = confirmation_plan(0.05, 0.1, n_answers=120)
    assert (row["n_changed"], row["n_kept"], row["n_new"]) == (120, 80, 0)
    assert row["n_needed"] == row["n_more"] == expected.n_labels == len(plan.to_label)
    assert set(plan.to_label["response"]) == {"It is Oslo"}
    assert "the judge was wrong on 10 of 200 labelled answers" in plan.sentence()
    again = plan_of(*runs(), seed=1)
    assert again.to_label["example_id"].tolist() != plan.to_label["example_id"].tolist()


@pytest.mark.parametrize(("n_labelled", "n_changed"), [(200, 120), (40, 20), (60, 0)])
def test_the_calibration_set_is_completed(n_labelled, n_changed):
    row = needs(plan_of(*runs(n_changed, n_labelled=n_labelled)))["conformal deferral"]
    needed = labels_for_coverage(0.1, tolerance=0.05, delta=0.1)
    assert row["n_needed"] == needed == 60
    # Of the 200 labelled questions, 60 suffice, of which 60 % have another answer.
    assert row["n_more"] == {200: 36, 40: 20 + 20, 60: 0}[n_labelled]


def test_without_a_change_no_label_is_needed():
    plan = plan_of(*runs(n_changed=0))
    assert needs(plan)["the judge's verdicts"]["state"] == "no change"
    assert plan.to_label.empty
    assert plan.needs["n_more"].tolist() == [0, 0]


@pytest.mark.parametrize(("n_wrong_now", "state"), [(0, "below the limit"), (30, "not shown")])
def test_new_labels_decide(n_wrong_now, state):
    before, after = runs()
    label = np.where(np.arange(N) < 120, 1.0, np.nan)
    judged = np.where(np.arange(N) < n_wrong_now, 0.0, 1.0)
    row = needs(plan_of(before, after.assign(label=label, judged_correct=judged)))
    assert row["the judge's verdicts"]["state"] == state
    assert row["the judge's verdicts"]["n_more"] == 0


def test_a_judge_that_changed_itself_is_reported():
    before, after = runs()
    after = after.assign(judged_correct=1.0)
    assert "On 10 of 80 equal texts, the verdict differs" in plan_of(before, after).sentence()


def test_what_is_missing_is_named():
    before, after = runs()
    with pytest.raises(InputError, match="needs people's labels in the column 'label'"):
        plan_of(before.drop(columns="label"), after)
    with pytest.raises(InputError, match="must be 0 or 1, got 2"):
        plan_of(before.assign(label=2), after)
    plan = plan_of(before.drop(columns="judged_correct"), after)
    assert plan.needs["purpose"].tolist() == ["conformal deferral"]
    assert "No answer before the change has both a label and a verdict" in plan.sentence()
    pairs = [pd.concat([run.assign(system=name) for name in "ab"]) for run in (before, after)]
    with pytest.raises(InputError, match="needs one system"):
        plan_of(*pairs)


def test_a_judge_that_became_worse_is_seldom_trusted():
    before, after = runs()
    changed = ragnb.changes(before, after, "contains")
    n_needed = int(needs(changed.labels_before_deferral())["the judge's verdicts"]["n_needed"])
    plan = confirmation_plan(0.05, 0.1, n_answers=120)
    # The error rate of the judge on the 120 changed answers is the first one above the limit, 13 of 120.
    rng, trials = np.random.default_rng(3), 20_000
    errors = rng.hypergeometric(13, 107, n_needed, trials)
    trusted = errors <= plan.most_errors
    exact = hypergeom.cdf(plan.most_errors, 120, 13, n_needed)
    assert exact <= 0.05
    assert abs(trusted.mean() - exact) <= slack(exact, trials)
    # The state of a plan follows from the same errors.
    for n_wrong in (plan.most_errors, plan.most_errors + 1):
        place = np.arange(N)
        label = np.where(place < n_needed, 1.0, np.nan)
        judged = np.where(place < n_wrong, 0.0, 1.0)
        row = needs(plan_of(before, after.assign(label=label, judged_correct=judged)))
        assert (row["the judge's verdicts"]["state"] == "below the limit") == (
            n_wrong <= plan.most_errors
        )


def test_a_plan_is_displayed():
    plan = plan_of(*runs())
    assert "Labels before deferring again" in repr(plan)
    assert "<table" in plan._repr_html_()
