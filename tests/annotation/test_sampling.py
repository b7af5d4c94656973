"""Which questions to label next, and differences that are corrected by these labels."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import ragnb
from ragnb.errors import InputError
from ragnb.stats import ppi_mean, ppi_sampled_mean


@pytest.fixture(scope="module")
def evouna():
    """Answers of two systems with people's verdicts, on the questions that both answered."""
    frame = ragnb.load_study("evouna-nq", usable=True)
    frame = frame[frame["system"].isin(["FiD", "GPT-4"])]
    return frame[frame.groupby("example_id")["system"].transform("size") == 2].reset_index(
        drop=True
    )


@pytest.fixture(scope="module")
def judged(evouna):
    return ragnb.score(evouna, ["answer.contains", "answer.f1"])


def labelled(frame, n, seed, **options):
    """A plan with the labels of the questions that it drew."""
    plan = ragnb.next_to_label(frame.drop(columns="verdict"), n, seed=seed, **options)
    return plan.assign(label=frame["verdict"].astype(float).where(plan["to_label"]))


def test_whole_questions_are_drawn_and_uncertain_ones_more_often(evouna):
    frame = evouna.assign(judged_correct=np.where(evouna.index % 20 == 0, 0.5, 1.0))
    plan = ragnb.next_to_label(frame, 200, seed=1)
    assert plan["to_label"].sum() == 400
    by_question = plan.groupby("example_id")
    assert by_question["to_label"].nunique().eq(1).all()
    assert by_question["probability"].nunique().eq(1).all()
    assert by_question["probability"].first().sum() == pytest.approx(200)
    is_uncertain = by_question["judged_correct"].min() < 1
    chances = by_question["probability"].first()
    assert chances[is_uncertain].min() > 5 * chances[~is_uncertain].max()
    pd.testing.assert_frame_equal(plan, ragnb.next_to_label(frame, 200, seed=1))


def test_the_difference_is_that_of_ppi_mean(evouna, judged):
    plan = labelled(evouna, 150, 1)
    row = ragnb.compare(judged, labels=plan).set_index("metric").loc["answer.contains"]
    values = judged[judged["metric"] == "answer.contains"].pivot(
        index="example_id", columns="system", values="value"
    )
    truth = plan.pivot(index="example_id", columns="system", values="label")
    judge = (values["GPT-4"] - values["FiD"]).reindex(truth.index)
    labels = truth["GPT-4"] - truth["FiD"]
    is_labelled = labels.notna()
    expected = ppi_mean(
        labels[is_labelled], judge[is_labelled], judge[~is_labelled], bounds=(-1, 1)
    )
    assert (row["difference"], row["low"], row["high"]) == (
        expected.estimate,
        expected.low,
        expected.high,
    )
    assert row["n_labels"] == 150
    assert row["weight"] == expected.lam
    # The interval excludes 0 exactly when the test rejects.
    assert (row["p_value"] < 0.05) == (row["low"] > 0 or row["high"] < 0)


def test_all_judges_together_are_the_weighted_estimate(evouna, judged):
    plan = labelled(evouna, 150, 2)
    row = ragnb.compare(judged, labels=plan).set_index("metric").loc["all judges"]
    wide = judged.pivot(index="example_id", columns=["metric", "system"], values="value")
    both = [wide[metric, "GPT-4"] - wide[metric, "FiD"] for metric in judged["metric"].unique()]
    truth = plan.pivot(index="example_id", columns="system", values="label").reindex(wide.index)
    expected = ppi_sampled_mean(
        truth["GPT-4"] - truth["FiD"],
        np.column_stack(both),
        np.full(len(wide), 150 / len(wide)),
        bounds=(-1, 1),
    )
    assert row["difference"] == pytest.approx(expected.estimate, abs=1e-12)
    assert row["high"] == pytest.approx(expected.high, abs=1e-12)


def test_corrected_intervals_cover_the_difference_of_all_labels(evouna, judged):
    """The metrics alone are wrong: exact match and F1 favour FiD, and people prefer GPT-4."""
    everything = ragnb.compare(ragnb.score(evouna, "annotator.verdict"))["difference"].item()
    alone = ragnb.compare(judged[judged["metric"] == "answer.f1"])["difference"].item()
    assert everything > 0.05
    assert alone < -0.1
    n_draws = 120
    certainty = evouna.assign(
        judge_score=0.5 + 0.5 * (judged["value"][judged["metric"] == "answer.f1"].to_numpy() - 0.5)
    )
    covers = {"uniform": 0, "uncertain": 0}
    f1 = judged[judged["metric"] == "answer.f1"]
    for seed in range(n_draws):
        for name, frame in (("uniform", evouna), ("uncertain", certainty)):
            row = ragnb.compare(f1, labels=labelled(frame, 200, seed)).iloc[0]
            covers[name] += row["low"] <= everything <= row["high"]
    least = binom.ppf(0.0005, n_draws, 0.95)
    assert min(covers.values()) >= least


def test_a_second_draw_adds_questions_and_stays_unbiased(evouna, judged):
    frame = evouna[evouna["example_id"].isin(evouna["example_id"].unique()[:400])]
    frame = frame.assign(judge_score=np.where(frame.index % 3 == 0, 0.5, 0.95))
    f1 = judged[judged["metric"].eq("answer.f1") & judged["example_id"].isin(frame["example_id"])]
    everything = ragnb.compare(ragnb.score(frame, "annotator.verdict"))["difference"].item()
    estimates = []
    for seed in range(150):
        first = labelled(frame, 40, seed)
        second = ragnb.next_to_label(first, 40, seed=1000 + seed)
        assert not (second["to_label"] & first["label"].notna()).any()
        is_known = second["to_label"] | first["label"].notna()
        second["label"] = frame["verdict"].astype(float).where(is_known)
        assert second["label"].notna().sum() == 160
        estimates.append(ragnb.compare(f1, labels=second)["difference"].item())
    error = np.std(estimates, ddof=1) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - everything) < 3.3 * error


def test_labels_that_cannot_correct_are_refused(evouna, judged):
    plan = labelled(evouna, 50, 1)
    with pytest.raises(InputError, match="labels need the column probability"):
        ragnb.compare(judged, labels=plan.drop(columns="probability"))
    with pytest.raises(InputError, match="one probability per question"):
        ragnb.compare(judged, labels=plan.assign(probability=np.linspace(0.1, 0.2, len(plan))))
    with pytest.raises(InputError, match="needs labels of every system, got none of 'GPT-4'"):
        ragnb.compare(judged, labels=plan[plan["system"] == "FiD"])
    with pytest.raises(InputError, match="leave out by="):
        ragnb.compare(judged, labels=plan, by="language")
    only_labelled = plan[plan["label"].notna()]
    uneven = only_labelled.assign(
        probability=np.where(
            only_labelled["example_id"] == only_labelled["example_id"].iloc[0], 0.5, 0.1
        )
    )
    with pytest.raises(InputError, match="the probability of every question"):
        ragnb.compare(judged, labels=uneven)
    with pytest.raises(InputError, match="at most the number of questions without labels"):
        ragnb.next_to_label(evouna, 10**6)
    with pytest.raises(InputError, match="needs the column probability beside the labels"):
        ragnb.next_to_label(evouna.assign(label=1.0), 10)
    with pytest.raises(InputError, match="between 0 and 1, got 3"):
        ragnb.next_to_label(evouna.assign(judged_correct=3), 10)


def test_labels_may_be_the_words_of_the_annotator(evouna, judged):
    plan = labelled(evouna, 150, 1)
    words = plan["label"].map({1.0: "correct", 0.0: "incorrect"}).astype(object)
    in_words = plan.drop(columns="label").assign(verdict=words.where(plan["to_label"], None))
    numbers = ragnb.compare(judged, labels=plan)
    same = ragnb.compare(judged, labels=in_words, label="verdict")
    assert same["difference"].tolist() == numbers["difference"].tolist()
    with pytest.raises(InputError, match="a verdict must be True or False"):
        ragnb.compare(judged, labels=plan.assign(label="perhaps"))


def test_a_plan_without_labels_says_how_to_label(evouna, judged):
    plan = ragnb.next_to_label(evouna, 50)
    with pytest.raises(InputError) as caught:
        ragnb.compare(judged, labels=plan)
    message = str(caught.value)
    assert "needs people's labels in the column 'label'" in message
    assert "pass label='verdict'" in message
    assert "ragnb.Annotator(labels[labels['to_label']]" in message
    assert "did you mean" not in message


def test_labels_of_questions_that_were_not_drawn_are_refused(evouna, judged):
    plan = ragnb.next_to_label(evouna, 150, seed=1)
    for column in ("verdict", "to_label"):
        with pytest.raises(InputError, match="but by their probabilities about 150 were drawn"):
            ragnb.compare(judged, labels=plan, label=column)
    everything = plan.assign(probability=1.0)
    row = ragnb.compare(judged, labels=everything, label="verdict").iloc[0]
    assert row["n_labels"] == row["n_pairs"]


def test_a_corrected_difference_has_a_sentence_and_a_figure_about_the_labels(evouna, judged):
    corrected = ragnb.compare(judged, labels=labelled(evouna, 150, 1))
    by_metric = dict(zip(corrected["metric"], ragnb.sentences(corrected), strict=True))
    row = corrected.set_index("metric").loc["answer.f1"]
    sentence = by_metric["answer.f1"]
    assert sentence.startswith(
        f"people's labels, estimated with token F1: GPT-4 is {row['difference']:.2f} higher than FiD "
        f"(95 % PPI++ interval {row['low']:.2f} to {row['high']:.2f}, "
    )
    assert "150 of them with labels" in sentence
    assert f"From the labels alone, the difference is {row['labels_alone']:.2f} (" in sentence
    ax = ragnb.plot(corrected)
    drawn = np.concatenate([line.get_xdata() for line in ax.lines if line.get_marker() == "o"])
    assert sorted(drawn) == sorted(corrected["difference"])
    assert "people's labels (difference GPT-4" in ax.get_xlabel().replace("\n", " ")
    assert any("labels of 150 questions" in text.get_text() for text in ax.figure.texts)


def test_scores_under_several_conditions_need_labels_under_each():
    rates = (0.0, 0.4)
    rows = [
        (f"q{question}", system, rate, float(question % 2), float(question % 3 > 0))
        for question in range(40)
        for system in ("a", "b")
        for rate in rates
    ]
    columns = ["example_id", "system", "noise_rate", "value", "label"]
    frame = pd.DataFrame(rows, columns=columns).assign(metric="m", signature="s", probability=0.5)
    frame["value"] += frame["system"].eq("a") * frame["noise_rate"]
    labels = frame.assign(label=frame["label"].where(frame["example_id"].str[1:].astype(int) < 20))
    (row,) = ragnb.compare(frame, labels=labels).to_dict("records")
    assert (row["n_pairs"], row["n_labels"]) == (80, 40)
    with pytest.raises(InputError, match=r"needs noise_rate|noise_rate"):
        ragnb.compare(frame, labels=labels.drop(columns="noise_rate"))
    mixed = frame.assign(signature=frame["signature"].where(frame["system"] == "a", "metric:other"))
    with pytest.raises(InputError, match="needs one definition of m"):
        ragnb.compare(mixed, labels=labels)


def test_a_simple_random_sample_needs_only_its_share(evouna, judged):
    questions = evouna["example_id"].unique()
    chosen = set(np.random.default_rng(0).choice(questions, 100, replace=False))
    sample = evouna[evouna["example_id"].isin(chosen)]
    sample = sample.assign(label=sample["verdict"].astype(float), probability=100 / len(questions))
    row = ragnb.compare(judged, labels=sample).iloc[0]
    assert row["n_labels"] == 100
    assert row["n_pairs"] == len(questions)
