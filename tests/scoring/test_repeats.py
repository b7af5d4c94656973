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


def test_the_error_of_the_mean_divides_each_variance_by_how_many_of_it_there_are():
    rng = np.random.default_rng(1)
    rows = [(f"q{q}", judge) for q in range(6) for judge in "abc" for _ in range(2)]
    frame = pd.DataFrame(rows, columns=["example_id", "judge"])
    pairs = {pair: rng.normal(0, 5) for pair in dict.fromkeys(rows)}
    frame["value"] = [pairs[pair] + rng.normal(0, 1) for pair in rows]
    noise = noise_report(frame.assign(system="s", metric="m")).set_index("component")
    counts = {"question": 6, "judge": 3, "question × judge": 18, "run": 36}
    assert noise["variance"]["question × judge"] > 1
    for component, n in counts.items():
        expected = np.sqrt(noise["variance"][component] / n)
        assert noise["error_of_mean"][component] == pytest.approx(expected)


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


def test_rows_under_other_conditions_are_no_runs():
    """Two noise rates with very different scores, and two equal runs under each."""
    rows = [
        (question, system, rate, run, float(rate == 0.0))
        for question in ("q1", "q2", "q3")
        for system in ("a", "b")
        for rate in (0.0, 0.8)
        for run in (1, 2)
    ]
    columns = ["example_id", "system", "noise_rate", "repeat", "value"]
    frame = pd.DataFrame(rows, columns=columns).assign(metric="m", signature="s")
    noise = noise_report(frame).set_index(["system", "component"])
    assert noise.loc[("a", "run"), "variance"] == 0
    assert noise.loc[("a", "question"), "n_questions"] == 6
    (row,) = ragnb.compare(frame, questions="these").to_dict("records")
    assert row["problem"] == "all runs of each question are equal"
    assert row["n_pairs"] == 6
    assert pass_report(frame, 2)["n"].tolist() == [6] * 4


def test_a_question_with_more_runs_has_no_more_weight():
    """Both systems have the means 1 and 0 on the two questions, but the runs are distributed differently."""
    rows = [
        ("a", "q1", [1.0, 0.8, 1.2, 1.0]),
        ("a", "q2", [0.0, 0.2]),
        ("b", "q1", [1.0, 0.8]),
        ("b", "q2", [0.0, 0.2, 0.1, 0.1]),
    ]
    frame = pd.DataFrame(
        [
            (system, question, number, value)
            for system, question, values in rows
            for number, value in enumerate(values)
        ],
        columns=["system", "example_id", "repeat", "value"],
    ).assign(metric="m", signature="s")
    (row,) = ragnb.compare(frame, questions="these").to_dict("records")
    assert row["difference"] == pytest.approx((0.9 + 0.1 - 1.0 - 0.1) / 2)
    errors = [np.var(values, ddof=1) / len(values) for *_, values in rows]
    assert abs(row["difference"] / row["statistic"]) == pytest.approx(np.sqrt(sum(errors)) / 2)


def test_different_definitions_are_not_compared_over_runs(epochs):
    other = epochs["system"] == epochs["system"].iloc[0]
    mixed = epochs.assign(signature=epochs["signature"].where(~other, "metric:other"))
    with pytest.raises(InputError, match="needs one definition of gpqa.choice"):
        ragnb.compare(mixed, questions="these")


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
