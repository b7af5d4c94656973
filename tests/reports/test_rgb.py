"""RGB's tables: which response belongs where, denominators, the gate, and the numbers by hand."""

import math

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from ragnb.errors import InputError
from ragnb.reports import rgb_report

REFUSAL = "I can not answer the question because of the insufficient information in documents."
ERROR = "There are factual errors in the provided documents."


def said(responses, task="noise", noise_rate=0.0, passage_num=5, system="tiny", **columns):
    n = len(responses)
    basis = {"example_id": [f"{task}/{k}" for k in range(n)], "system": system, "language": "en", "task": task,
             "noise_rate": noise_rate, "passage_num": passage_num, "n_passages": passage_num, "references": [[["Oslo"]]] * n,
             "false_answers": [["Bergen"]] * n, "response": pd.Series(responses, dtype=object)}  # fmt: skip
    return pd.DataFrame(basis | columns)


@pytest.fixture
def responses():
    parts = [
        said(["Oslo", "Oslo", "Rome", REFUSAL]),
        said(["Oslo", "Rome", "Rome", None], noise_rate=0.8),
        said([REFUSAL, REFUSAL, "Oslo", "Rome"], noise_rate=1.0, judged_refusal=[1, 1, 0, 1]),
        said(["Oslo", "Rome"], task="integration", noise_rate=0.2),
        said([f"{ERROR} Oslo", f"{ERROR} Bergen", "Oslo", "Bergen", ERROR + REFUSAL], task="counterfactual",
             judged_detection=[1, 0, 0, 0, math.nan]),
        said(["Oslo", "Oslo", "Oslo", "Oslo", "Rome"], task="counterfactual", passage_num=0),
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def cell(table, metric, **where):
    rows = table[table["metric"] == metric]
    for name, value in where.items():
        rows = rows[rows[name] == value]
    assert len(rows) == 1
    return rows.iloc[0]


def test_each_response_belongs_to_one_table(responses):
    report = rgb_report(responses)
    assert set(report.tables) == {"noise_robustness", "negative_rejection", "information_integration",
                                  "counterfactual_robustness", "closed_book"}  # fmt: skip
    assert report.noise_robustness["noise_rate"].tolist() == [0.0, 0.8]
    assert cell(report.noise_robustness, "rgb.accuracy", noise_rate=0.0)["mean"] == 0.5
    assert cell(report.information_integration, "rgb.accuracy")["n"] == 2


@pytest.mark.parametrize(
    ("protocol", "rejection"), [("paper", 2 / 4), ("released", 3 / 4), ("flexible", 2 / 4)]
)
def test_rejection_is_all_rate_under_the_released_protocol_only(responses, protocol, rejection):
    table = rgb_report(responses, protocol).negative_rejection
    row = cell(table, "rgb.rejection")
    assert row["mean"] == rejection
    wilson = proportion_confint(round(4 * rejection), 4, method="wilson")
    assert (row["low"], row["high"]) == pytest.approx(wilson)
    assert cell(table, "rgb.judged_rejection")["mean"] == 0.75


@pytest.mark.parametrize(
    ("protocol", "correction", "n"),
    # Under "released", the refusal counts as corrected.
    [("paper", 1 / 3, 3), ("released", 2 / 3, 3), ("flexible", 2 / 5, 5)],
)
def test_the_denominator_of_correction_belongs_to_the_protocol(responses, protocol, correction, n):
    row = cell(rgb_report(responses, protocol).counterfactual_robustness, "rgb.error_correction")
    assert row["mean"] == pytest.approx(correction)
    assert row["n"] == n


def test_judged_twins_stand_beside_and_an_unread_verdict_is_unscored(responses):
    table = rgb_report(responses).counterfactual_robustness
    detection = cell(table, "rgb.judged_error_detection")
    assert (detection["mean"], detection["n_scored"], detection["n"]) == (0.25, 4, 5)
    correction = cell(table, "rgb.judged_error_correction")
    assert (correction["mean"], correction["n_scored"]) == (1.0, 1)


def test_the_gate_is_reported_and_not_applied(responses):
    table = rgb_report(responses).counterfactual_robustness
    assert set(table["closed_book_accuracy"]) == {0.8}
    assert set(table["passes_gate"]) == {True}
    unknown = rgb_report(responses[responses["passage_num"] > 0]).counterfactual_robustness
    assert unknown["closed_book_accuracy"].isna().all()
    assert unknown["passes_gate"].isna().all()


OTHER = {"task": "counterfactual", "system": "其他"}


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        (said(["Oslo"], **OTHER, correct_rate=0.4), r"a correct_rate of 0; the lowest of 其他 is 0\.4"),
        (said(["Oslo", "Rome"], **OTHER, noise_rate=None, correct_rate=0.0), "got 2 without, of 其他"),
    ],
)  # fmt: skip
def test_no_system_vanishes_with_its_true_passages_or_for_want_of_a_number(
    responses, lost, message
):
    with pytest.raises(InputError, match=message):
        rgb_report(pd.concat([responses.assign(correct_rate=0.0), lost], ignore_index=True))


def test_a_missing_correct_rate_is_not_taken_for_false_passages(responses):
    counterfactual = (responses["task"] == "counterfactual") & (responses["passage_num"] > 0)
    rates = pd.Series(0.0, responses.index)
    one = responses.index[counterfactual][0]
    partly = responses.assign(correct_rate=rates.drop(one))
    message = f"1 of {counterfactual.sum()} counterfactual responses have no correct_rate"
    with pytest.raises(InputError, match=message):
        rgb_report(partly)
    unknown = responses.assign(correct_rate=float("nan"))
    pd.testing.assert_frame_equal(
        pd.DataFrame(rgb_report(unknown).counterfactual_robustness),
        pd.DataFrame(rgb_report(responses).counterfactual_robustness),
    )


def test_without_passages_there_is_no_noise_rate(responses):
    alone = responses.assign(noise_rate=responses["noise_rate"].where(responses["passage_num"] > 0))
    assert rgb_report(alone).closed_book["mean"].tolist() == [0.8]


def test_only_the_same_reply_without_passages_is_one_response(responses):
    keyed = responses.assign(request_key=[f"key {k}" for k in range(len(responses))])
    alone = keyed[keyed["passage_num"] == 0]
    assert rgb_report(pd.concat([keyed, alone])).closed_book["n"].tolist() == [5]
    another, unknown = alone.assign(request_key="another"), alone.assign(request_key=None)
    for pair in ([alone, another], [unknown, unknown]):
        with pytest.raises(InputError, match="summarize without cluster= needs one row"):
            rgb_report(pd.concat(pair))


def test_other_tasks_are_named(responses):
    with pytest.raises(InputError, match="got the tasks other"):
        rgb_report(responses.assign(task="other"))


def test_other_rules_for_refusal_and_detection_reach_every_table(responses):
    own = rgb_report(responses, refusal=["Rome"], detection=["Oslo"])
    assert cell(own.negative_rejection, "rgb.rejection")["mean"] == 0.25
    assert cell(own.counterfactual_robustness, "rgb.error_detection")["mean"] == 0.4
    judged = rgb_report(responses, refusal="judge").negative_rejection
    for name in ("rgb.rejection", "rgb.judged_rejection"):
        assert cell(judged, name)["mean"] == 0.75
    assert '"Rome"' in own.negative_rejection["signature"].iloc[0]


def test_counts_stand_beside_rates(responses):
    report = rgb_report(responses, ["paper", "flexible"])
    assert report.protocols == ("paper", "flexible")
    counts = report.counts.set_index(["protocol", "ability", "noise_rate"])
    noise = counts.loc[("paper", "noise_robustness", 0.8)]
    assert noise[["total", "unscored", "correct", "incorrect"]].tolist() == [4, 1, 1, 2]
    rejecting = counts.loc[("paper", "negative_rejection", 1.0)]
    assert rejecting[["total", "rejected", "incorrect"]].tolist() == [4, 2, 2]
    names = ["total", "correct", "incorrect", "detected", "corrected"]
    false = counts.xs("counterfactual_robustness", level="ability")[names]
    assert false.loc["paper"].values.tolist() == [[5, 2, 3, 3, 1]]
    assert false.loc["flexible"].values.tolist() == [[5, 2, 3, 3, 2]]
    for table in report.tables.values():
        assert (table["count"] == (table["mean"] * table["n_scored"]).round()).all()


def test_a_report_prints_as_tables_and_several_protocols_share_them(responses):
    report = rgb_report(responses, ["paper", "released"])
    assert report.negative_rejection["protocol"].tolist() == ["paper"] * 2 + ["released"] * 2
    assert "RgbReport(" not in repr(report)
    assert "Negative rejection: passages without the answer" in repr(report)
    alone = rgb_report(responses)
    assert "protocol paper; 95% Wilson intervals" in repr(alone)
    both = report.negative_rejection.query("protocol == 'paper'").reset_index(drop=True)
    pd.testing.assert_frame_equal(both, alone.negative_rejection)
