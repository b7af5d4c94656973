"""Frames of repeated runs: noise, pass^k, and means and differences over these questions."""

import numpy as np
import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError
from ragnb.scoring import noise_report, pass_report


@pytest.fixture(scope="module")
def epochs():
    return ragnb.load_study("gpqa-epochs")


def test_the_noise_of_five_runs_in_plain_pandas(epochs):
    noise = noise_report(epochs).set_index(["system", "component"])
    for system, rows in epochs.groupby("system"):
        by_question = rows.groupby("example_id")["value"]
        run = by_question.var(ddof=1).mean()
        question = by_question.mean().var(ddof=1) - run / 5
        assert noise.loc[(system, "run"), "variance"] == pytest.approx(run)
        assert noise.loc[(system, "question"), "variance"] == pytest.approx(question)
        # The two errors together are that of the mean over such questions.
        errors = noise.loc[system, "error_of_mean"]
        whole = by_question.mean().std(ddof=1) / np.sqrt(198)
        assert np.hypot(errors["run"], errors["question"]) == pytest.approx(whole)
    assert noise.groupby("system")["share"].sum().tolist() == pytest.approx([1, 1])


def test_judges_are_a_component_of_their_own():
    rng = np.random.default_rng(0)
    rows = [(f"q{q}", judge) for q in range(30) for judge in "abc"]
    frame = pd.DataFrame(rows, columns=["example_id", "judge"])
    severity = frame["judge"].map({"a": 0.0, "b": 1.0, "c": 2.0})
    frame["value"] = severity + rng.normal(0, 0.1, len(frame))
    noise = noise_report(frame.assign(system="s", metric="m")).set_index("component")
    assert noise["variance"]["judge"] == pytest.approx(1.0, rel=0.05)
    assert noise["error_of_mean"]["judge"] == pytest.approx(np.sqrt(noise["variance"]["judge"] / 3))


def test_pass_5_of_5_is_the_share_of_questions_that_are_always_right(epochs):
    table = pass_report(epochs, 5).set_index(["system", "measure"])["mean"]
    for system, rows in epochs.groupby("system"):
        by_question = rows.groupby("example_id")["value"]
        assert table[system, "pass^5"] == pytest.approx(by_question.min().mean())
        assert table[system, "pass@5"] == pytest.approx(by_question.max().mean())
    with pytest.raises(InputError, match="scores of 0 and 1"):
        pass_report(epochs.assign(value=0.5), 2)


def test_a_difference_over_these_questions_is_more_certain_than_over_such_questions(epochs):
    (these,) = ragnb.compare(epochs, questions="these").to_dict("records")
    (such,) = ragnb.compare(epochs).to_dict("records")
    assert these["difference"] == pytest.approx(such["difference"])
    assert these["high"] - these["low"] < 0.5 * (such["high"] - such["low"])
    # The standard error in plain numpy: the mean variance between runs of both systems.
    variances = [
        rows.groupby("example_id")["value"].var(ddof=1).sum() / 5 / 198**2
        for _, rows in epochs.groupby("system")
    ]
    assert abs(these["difference"] / these["statistic"]) == pytest.approx(np.sqrt(sum(variances)))
    assert these["p_value"] < 1e-4 < such["p_value"] < 0.05
    means = ragnb.summarize(epochs, by="system", questions="these").set_index("system")
    assert means["interval"].unique().tolist() == ["t over runs"]
    assert means["mean"].to_dict() == pytest.approx(
        epochs.groupby("system")["value"].mean().to_dict()
    )


def test_one_run_has_no_noise_to_measure(epochs):
    single = epochs[epochs["repeat"] == 1]
    (row,) = ragnb.compare(single, questions="these").to_dict("records")
    assert np.isnan([row["low"], row["p_value"]]).all()
    assert row["problem"] == "198 of 198 questions have only one run"
    assert (
        "only one run" in ragnb.summarize(single, by="system", questions="these")["problem"].iloc[0]
    )
    with pytest.raises(InputError, match="leave out by="):
        ragnb.compare(epochs, questions="these", by="language")
    with pytest.raises(InputError, match="questions must be one of 'such', 'these'"):
        ragnb.compare(epochs, questions="all")
