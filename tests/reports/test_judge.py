"""A judge against people: by hand, against other libraries, with known bias, on real verdicts, and with bad input."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, cohen_kappa_score, roc_auc_score
from statsmodels.stats.proportion import proportion_confint
from support.hostile import ELEMENTS, HOSTILE, Reader

from ragnb.datasets import load_evouna
from ragnb.errors import InputError
from ragnb.reports import judge_report
from ragnb.scoring import score
from ragnb.stats import agreement_interval, mcnemar_test, paired_table, tango_interval

NAN = math.nan
PEOPLE = ["label_a", "label_b"]

# ---- a table by hand: Cohen's 20, 5, 10, 15 and four responses that the judge left out -----------

LABEL = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15 + [1, 1, 1, 0]
JUDGE = [1] * 20 + [1] * 5 + [0] * 10 + [0] * 15 + [NAN] * 4


@pytest.fixture(scope="module")
def by_hand():
    return pd.DataFrame({"example_id": range(54), "label": LABEL, "judged_correct": JUDGE})


@pytest.fixture(scope="module")
def hand_report(by_hand):
    return judge_report(by_hand)


def rows_of(table, **where):
    for name, value in where.items():
        table = table[table[name] == value]
    return table.set_index("metric")


def test_measures_by_hand_with_the_usual_intervals_of_independent_responses(hand_report):
    table = hand_report.agreement.set_index("metric")
    assert set(table["pair"]) == {"judged_correct - label"}
    shares = {"percent agreement": (35, 50), "sensitivity": (20, 30), "specificity": (15, 20),
              "precision": (20, 25)}  # fmt: skip
    wanted = {name: right / n for name, (right, n) in shares.items()}
    wanted |= {"Cohen's kappa": 0.4, "Gwet's AC1": 0.205 / 0.505}
    wanted |= {"Krippendorff's alpha": 1 - 0.3 * 99 / 49.5}
    assert table["mean"].to_dict() == pytest.approx(wanted)
    assert set(zip(table["n"], table["n_scored"], strict=True)) == {(54, 50)}
    known = {name: proportion_confint(*counts, method="wilson") for name, counts in shares.items()}
    both = np.column_stack([JUDGE[:50], LABEL[:50]])
    for name in wanted.keys() - shares.keys():
        found = agreement_interval(name, both)
        known[name] = (found.low, found.high)
    for name, limits in known.items():
        assert tuple(table.loc[name, ["low", "high"]]) == pytest.approx(limits), name
    assert hand_report.clusters is None


def test_bounds_if_the_unscored_were_wrong_or_right(hand_report):
    table = hand_report.agreement.set_index("metric")
    bounds = {name: tuple(row) for name, row in table[["worst_low", "worst_high"]].iterrows()}
    assert bounds["percent agreement"] == pytest.approx((35 / 54, 39 / 54))
    assert bounds["sensitivity"] == pytest.approx((20 / 33, 23 / 33))
    assert bounds["specificity"] == pytest.approx((15 / 21, 16 / 21))
    assert bounds["precision"] == pytest.approx((20 / 26, 23 / 28))
    label, judge = np.array(LABEL), np.array(JUDGE)
    filled = [np.where(np.isnan(judge), other, judge) for other in (1 - label, label)]
    kappas = [cohen_kappa_score(label, verdicts) for verdicts in filled]
    assert bounds["Cohen's kappa"] == pytest.approx(kappas)


def test_bias_of_verdicts_is_a_paired_comparison_of_rates(hand_report):
    assert hand_report.bias["by"].tolist() == ["overall"]  # the frame has no group
    row = hand_report.bias.iloc[0]
    table = paired_table(JUDGE[:50], LABEL[:50])
    known = tango_interval(table)
    found = (row["difference"], row["low"], row["high"])
    assert found == pytest.approx((-5 / 50, known.low, known.high))
    assert row["p_value"] == pytest.approx(mcnemar_test(table).p_value)
    counts = ["n_pairs", "n_dropped", "mean", "baseline_mean"]
    assert row[counts].tolist() == [50, 4, 0.5, 0.6]


def test_error_rates_of_all_responses_are_those_of_the_agreement(hand_report):
    rates = hand_report.error_rates.set_index("metric")
    assert rates["mean"].to_dict() == {"sensitivity": 20 / 30, "specificity": 15 / 20}
    assert rates["n"].to_dict() == {"sensitivity": 30, "specificity": 20}
    columns = ["mean", "low", "high", "interval", "n_units"]
    agreement = hand_report.agreement.set_index("metric").loc[[*rates.index], columns]
    assert rates[columns].equals(agreement)


def test_worst_are_the_disagreements(hand_report):
    assert hand_report.worst["example_id"].tolist() == list(range(20, 35))
    assert set(hand_report.worst["disagreement"]) == {1.0}


# ---- simulated judges: several systems answer one question, two annotators -----------------------


def simulated(n_questions=100, seed=0, lenient=0.0, sharpen=1.0):
    """Labels from a known probability, which sharpened is the score; verdicts lenient in Chinese."""
    rng = np.random.default_rng(seed)
    n = 3 * n_questions
    question = np.repeat(np.arange(n_questions), 3)
    hard = rng.beta(1.2, 0.8, n_questions)[question]
    chance = np.clip(hard + rng.normal(0, 0.05, n), 0.01, 0.99)
    label = (rng.random(n) < chance).astype(float)
    language = np.array(["en", "zh", "ar", "hi"])[question % 4]
    verdict = np.where(rng.random(n) < 0.1, 1 - label, label)
    verdict = np.where((rng.random(n) < lenient) & (language == "zh"), 1.0, verdict)
    annotators = {name: np.where(rng.random(n) < 0.1, 1 - label, label) for name in PEOPLE}
    systems = np.tile(["one", "two", "three"], n_questions)
    frame = pd.DataFrame({"example_id": [f"q{k}" for k in question], "system": systems})
    responses = ["答" * int(k) for k in rng.integers(1, 200, n)]
    frame = frame.assign(language=language, label=label, **annotators, response=responses)
    return frame.assign(judged_correct=verdict, score=chance**sharpen)


@pytest.fixture(scope="module")
def frame():
    return simulated(lenient=0.6)


@pytest.fixture(scope="module")
def report(frame):
    return judge_report(frame, judge=["judged_correct", "score"], annotators=PEOPLE)


def test_the_bias_that_is_there_is_found_and_no_other(report):
    rows = report.bias.query("judge == 'judged_correct' and by == 'language'").set_index("group")
    found = rows["p_adjusted"] < 0.05
    assert found.to_dict() == {"en": False, "zh": True, "ar": False, "hi": False}
    assert rows.loc["zh", "difference"] > 0.1
    assert (rows["family_size"] == 4).all()
    assert (rows["p_adjusted"] >= rows["p_value"]).all()


def test_bias_is_robust_to_questions_as_another_library_has_it(frame, report):
    differences = (frame["judged_correct"] - frame["label"]).to_numpy()
    codes = pd.factorize(frame["example_id"])[0]
    groups = {"groups": codes, "df_correction": True}
    ols = sm.OLS(differences, np.ones(len(frame)))
    known = ols.fit(cov_type="cluster", cov_kwds=groups, use_t=True)
    row = report.bias.iloc[0]
    assert (row["by"], row["group"], row["n_clusters"]) == ("overall", "all responses", 100)
    assert row["difference"] == pytest.approx(known.params[0])
    assert (row["low"], row["high"]) == pytest.approx(tuple(known.conf_int()[0]))
    assert row["p_value"] == pytest.approx(known.pvalues[0])


def test_scores_have_a_roc_area_and_a_threshold_makes_verdicts_of_them(frame, report):
    table = rows_of(report.agreement, rater="score", against="label")
    known = roc_auc_score(frame["label"], frame["score"])
    assert table.loc["AUROC", "mean"] == pytest.approx(known)
    assert "AUROC" not in rows_of(report.agreement, rater="judged_correct", against="label").index
    at = judge_report(frame, judge="score", threshold=0.8)
    known = cohen_kappa_score(frame["label"], frame["score"] >= 0.8)
    assert rows_of(at.agreement).loc["Cohen's kappa", "mean"] == pytest.approx(known)
    assert "threshold:0.8" in at.agreement["signature"].iloc[0]
    edge = pd.DataFrame({"label": [1, 0], "judge": [0.5, 0.4999]})
    table = rows_of(judge_report(edge, judge="judge", clusters=None).agreement)
    assert table.loc["percent agreement", "mean"] == 1


def test_error_rates_of_groups_are_the_shares_of_right_verdicts(frame, report):
    rates = report.error_rates.query("judge == 'judged_correct'")
    assert [*rates["by"].unique()] == [*report.bias["by"].unique()]
    assert [*rates["group"].unique()] == [*report.bias["group"].unique()]
    is_right = frame["judged_correct"] == frame["label"]
    by_hand = is_right.groupby([frame["language"], frame["label"]]).agg(["mean", "size"])
    for row in rates.query("by == 'language'").itertuples():
        label = 1 if row.metric == "sensitivity" else 0
        assert (row.mean, row.n) == pytest.approx(tuple(by_hand.loc[row.group, label]))


def test_length_is_what_a_reader_counts():
    texts = ["é" * 3, "e\u0301" * 3, "👩\u200d🔬" * 3, "हिन्दी", None, "ab", "abcd"]
    verdicts = {"label": [1, 0] * 3 + [1], "judge": [1, 0, 0, 1, 1, 0, 1]}
    found = judge_report(pd.DataFrame(verdicts | {"response": texts}), judge="judge", clusters=None)
    groups = found.bias[found.bias["by"] == "response length"]
    assert groups["n_pairs"].sum() == 6
    thirds = ["shortest third (2-2)", "middle third (3-3)", "longest third (4-4)"]
    assert groups["group"].tolist() == thirds


# ---- calibration ---------------------------------------------------------------------------------


def test_brier_score_and_calibration_error_are_those_of_another_library(frame, report):
    observed, predicted = calibration_curve(frame["label"], frame["score"], n_bins=10)
    sizes = np.bincount(np.minimum(frame["score"] * 10, 9).astype(int))
    row = report.calibration.set_index("judge").loc["score"]
    assert row["brier"] == pytest.approx(brier_score_loss(frame["label"], frame["score"]))
    gaps = sizes[sizes > 0] * abs(observed - predicted)
    assert row["ece"] == pytest.approx(gaps.sum() / 300)
    assert row["n_scored"] == 300


# ---- how it is shown -----------------------------------------------------------------------------


def test_tables_are_printed_with_what_they_rest_on_and_hostile_names_stay_text(by_hand, report):
    text = str(report)
    for said in ("Bias: judge minus label", "label_a - label_b",
                 "300 of 300 responses have a label; the independent units are example_id."):  # fmt: skip
        assert said in text
    assert "nan" not in text
    hostile = by_hand.assign(system=[HOSTILE[k % len(HOSTILE)] for k in range(54)])
    shown = Reader(judge_report(hostile)._repr_html_())
    assert set(shown.elements) <= ELEMENTS | {"thead", "tbody"}
    assert "<script>alert(1)</script>" in shown.text


# ---- what is missing or bad ----------------------------------------------------------------------


def test_a_judge_that_scored_nothing_is_reported_so(by_hand):
    nothing = by_hand.head(4).assign(judged_correct=NAN, response=["a", "bb", "ccc", None])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = judge_report(nothing)
        shown = found._repr_html_()
    row = found.agreement.set_index("metric").loc["percent agreement"]
    assert row[["n", "n_scored", "worst_low", "worst_high"]].tolist() == [4, 0, 0, 1]
    assert found.agreement["mean"].isna().all()
    assert found.worst.empty
    assert "undefined" in shown


def test_verdicts_may_be_words_or_truth_values_and_the_annotator_is_the_label(by_hand):
    words = by_hand["label"].map({1: "correct", 0: "incorrect"}).mask(by_hand.index == 53, "refuse")
    for verdicts in (words, by_hand["label"].astype(bool)):
        renamed = by_hand.drop(columns="label").assign(verdict=verdicts)
        report = judge_report(renamed, label="verdict")
        assert report.annotators == ("verdict",)
        pd.testing.assert_frame_equal(
            report.agreement[["metric", "mean", "low", "high", "n"]],
            judge_report(by_hand).agreement[["metric", "mean", "low", "high", "n"]],
        )


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"label": [4] * 54}, {}, "got 4; for grades, use ragnb.graded_report"),
        ({"judged_correct": [5.0] * 54}, {}, r"\(from 0 to 1 or nan\) in judged_correct, got 5"),
        ({"label": [NAN] * 54}, {}, "got none in label on 54 responses"),
        (
            {"example_id": [0, *range(53)]},
            {},
            "one row for each example_id, got 1 repeated, such as 0",
        ),
        ({"label": ["right"] * 54}, {}, "numbers in label .*right"),
        ({"example_id": [None, *range(53)]}, {}, "needs a cluster for each response; 1 have none"),
        ({}, {"judge": "label"}, "neither the label nor an annotator, got label"),
    ],
)
def test_bad_input_says_what_is_needed(by_hand, changes, options, message):
    with pytest.raises(InputError, match=message):
        judge_report(by_hand.assign(**changes), **options)


# ---- recorded and real ---------------------------------------------------------------------------


@pytest.mark.data
def test_a_lexical_metric_as_a_judge_of_real_answers(data_folder):
    frame = load_evouna(data_folder / "evouna" / "NQ.json")
    frame = frame[~frame["improper"] & frame["verdict"].notna() & frame["response"].notna()]
    frame = frame[frame["system"].isin(["fid", "newbing"])].head(1200).reset_index(drop=True)
    contains = score(frame, "answer.contains")["value"]
    frame = frame.assign(label=frame["verdict"].astype(float), contains=contains)
    found = judge_report(frame, judge="contains")
    assert found.clusters == "example_id"
    table = rows_of(found.agreement)["mean"]
    same = (frame["contains"] == frame["label"]).mean()
    assert table["percent agreement"] == pytest.approx(same)
    assert 0.7 < same < 0.95
    kappa = cohen_kappa_score(frame["label"], frame["contains"])
    assert table["Cohen's kappa"] == pytest.approx(kappa)
    overall = found.bias.iloc[0]
    assert overall["high"] < 0  # matching words misses answers that people accept
    assert overall["difference"] == pytest.approx((frame["contains"] - frame["label"]).mean())
