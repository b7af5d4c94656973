"""Judges compared in pairs: against other libraries, with published grades, and with bad input."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportion_confint
from support.by_hand import cluster_interval, mid_p, tango

import ragnb
from ragnb.errors import InputError
from ragnb.reports import compare_judges, graded_report, judge_report

SONNET, OPUS, GPT4O = "Claude Sonnet 4.6", "Claude Opus 4.7", "GPT-4o"


def verdicts(seed=0, n=300):
    """Labels and three judges: one good, one lenient, one with scores; three responses to each question."""
    rng = np.random.default_rng(seed)
    label = (rng.random(n) < 0.6).astype(float)
    flipped = np.where(rng.random(n) < 0.1, 1 - label, label)
    lenient = np.where(rng.random(n) < 0.3, 1.0, label)
    score = np.clip(0.25 + 0.5 * label + rng.normal(0, 0.3, n), 0, 1)
    frame = pd.DataFrame({"example_id": np.arange(n) // 3, "system": np.arange(n) % 3})
    return frame.assign(label=label, good=flipped, lenient=lenient, score=score)


@pytest.fixture(scope="module")
def grades():
    """One row for each pair of TREC RAG, with a column for each judge and one for NIST."""
    study = ragnb.load_study("trec-rag-judges")
    index = ["example_id", "question_id"]
    wide = study.pivot(index=index, columns="system", values="grade").astype(float)
    nist = study.groupby(index)["human_grade"].first().astype(float)
    return wide.assign(NIST=nist, system="passages").reset_index()


def row_of(table, metric, judge, baseline):
    wanted = (table["metric"] == metric) & (table["system"] == judge)
    return table[wanted & (table["baseline"] == baseline)].iloc[0]


@pytest.mark.parametrize("metric", ["percent agreement", "sensitivity", "specificity"])
def test_verdicts_of_independent_responses_as_mcnemar_and_tango(metric):
    frame = verdicts()
    table = compare_judges(frame, judge=["good", "lenient"], label="label", clusters=None)
    row = row_of(table, metric, "lenient", "good")
    wanted = {"percent agreement": [0, 1], "sensitivity": [1], "specificity": [0]}[metric]
    rows = frame[frame["label"].isin(wanted)]
    good, lenient = (rows[name] == rows["label"] for name in ("good", "lenient"))
    b, c, n = (lenient & ~good).sum(), (good & ~lenient).sum(), len(rows)
    assert row["difference"] == pytest.approx((b - c) / n)
    assert row[["low", "high"]].tolist() == pytest.approx(tango(b, c, n), abs=1e-6)
    assert row["p_value"] == pytest.approx(mid_p(b, c))
    assert row[["n_pairs", "n_dropped", "mean"]].tolist() == [n, 0, lenient.mean()]


def test_verdicts_of_the_same_questions_as_a_cluster_robust_regression():
    frame = verdicts()
    table = compare_judges(frame, judge=["good", "lenient", "score"], label="label")
    assert len(table) == 9
    right = {name: (frame[name] >= 0.5) == frame["label"] for name in ("good", "score")}
    difference = right["score"].astype(float) - right["good"]
    row = row_of(table, "percent agreement", "score", "good")
    expected = cluster_interval(difference, frame["example_id"])
    assert row[["difference", "low", "high"]].tolist() == pytest.approx(expected)
    assert row["signature"].endswith("|label:label|threshold:0.5")


def test_grades_as_a_jackknife_over_topics_with_scikit_learn(grades):
    judges = [GPT4O, OPUS, SONNET]
    table = compare_judges(grades, judge=judges, label="NIST", clusters="question_id")
    topics = grades["question_id"].unique()

    def kappa(rows, judge):
        return cohen_kappa_score(rows[judge], rows["NIST"], weights="quadratic")

    ranks = grades[[*judges, "NIST"]].rank().assign(question_id=grades["question_id"])

    def spearman(rows, judge):
        return np.corrcoef(ranks.loc[rows.index, judge], ranks.loc[rows.index, "NIST"])[0, 1]

    for metric, coefficient in (("quadratic kappa", kappa), ("Spearman", spearman)):
        row = row_of(table, metric, SONNET, GPT4O)
        whole = coefficient(grades, SONNET) - coefficient(grades, GPT4O)
        without = []
        for topic in topics:
            rows = grades[grades["question_id"] != topic]
            without.append(coefficient(rows, SONNET) - coefficient(rows, GPT4O))
        pseudo = len(topics) * whole - (len(topics) - 1) * np.array(without)
        # The limits are around the estimate, and not around the mean of the pseudo-values.
        half = stats.sem(pseudo) * stats.t.ppf(0.975, len(topics) - 1)
        found = row[["difference", "low", "high"]].tolist()
        assert found == pytest.approx([whole, whole - half, whole + half])
        t = whole / stats.sem(pseudo)
        assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(t), len(topics) - 1))
        assert row[["n_pairs", "n_clusters"]].tolist() == [537, 86]
        # The power of the t-test at the minimum detectable effect.
        shift, limit = row["mde"] / stats.sem(pseudo), stats.t.ppf(0.975, len(topics) - 1)
        power = stats.nct.sf(limit, len(topics) - 1, shift)
        power += stats.nct.cdf(-limit, len(topics) - 1, shift)
        assert power == pytest.approx(0.8)
    spearman_r = stats.spearmanr(grades[SONNET], grades["NIST"]).statistic
    assert row["mean"] == pytest.approx(spearman_r)


def test_the_table_is_drawn_and_written_as_sentences(grades):
    table = compare_judges(grades, judge=[GPT4O, SONNET], label="NIST", clusters="question_id")
    axes = ragnb.plot(table)
    assert len(np.ravel(axes)) >= 1
    texts = str(ragnb.sentences(table))
    assert "quadratic kappa: Claude Sonnet 4.6 is 0.106 higher than GPT-4o" in texts


def test_the_intervals_are_close_to_a_bootstrap_of_topics(grades):
    """Sonnet against Opus and against GPT-4o: the limits of 2,000 samples of topics."""
    judges = [GPT4O, OPUS, SONNET]
    table = compare_judges(grades, judge=judges, label="NIST", clusters="question_id")
    of_topic = [rows for _, rows in grades[[*judges, "NIST", "question_id"]].groupby("question_id")]
    of_topic = [rows[[*judges, "NIST"]].to_numpy() for rows in of_topic]
    rng = np.random.default_rng(1)

    def kappa(first, second):
        numerator = ((first - second) ** 2).mean()
        spread = first.var() + second.var() + (first.mean() - second.mean()) ** 2
        return 1 - numerator / spread

    drawn = []
    for _ in range(2000):
        sample = np.concatenate([of_topic[k] for k in rng.integers(0, 86, 86)])
        gpt, opus, sonnet = (kappa(sample[:, k], sample[:, 3]) for k in range(3))
        drawn.append((sonnet - opus, sonnet - gpt))
    for baseline, values in zip((OPUS, GPT4O), np.transpose(drawn), strict=True):
        row = row_of(table, "quadratic kappa", SONNET, baseline)
        assert row[["low", "high"]].tolist() == pytest.approx(
            np.quantile(values, [0.025, 0.975]), abs=0.01
        )


def test_judges_of_different_items_are_compared_on_those_that_both_judged(grades):
    judges = [OPUS, "Gemini 2.5 Pro"]
    with pytest.warns(
        UserWarning, match="of 537 with a label, Claude Opus 4.7 537, Gemini 2.5 Pro"
    ):
        table = compare_judges(grades, judge=judges, label="NIST", clusters="question_id")
    both = grades.dropna(subset=judges)
    row = row_of(table, "quadratic kappa", judges[1], OPUS)
    for name, judge in (("mean", judges[1]), ("baseline_mean", OPUS)):
        kappa = cohen_kappa_score(both[judge], both["NIST"], weights="quadratic")
        assert row[name] == pytest.approx(kappa)
    assert row[["n_pairs", "n_dropped", "n_clusters"]].tolist() == [92, 445, 55]
    # The reports on each judge warn as well.
    with pytest.warns(UserWarning, match=r"compare them with ragnb\.compare_judges"):
        graded_report(grades, judge=judges, label="NIST", clusters="question_id")
    frame = verdicts()
    frame.loc[:9, "good"] = np.nan
    with pytest.warns(UserWarning, match="of 300 with a label, good 290, lenient 300"):
        judge_report(frame, judge=["good", "lenient"])


def test_scores_on_another_scale_have_no_kappa_and_a_constant_judge_no_interval(grades):
    scaled = grades.assign(tenth=grades[SONNET] / 10, same=2.0)
    table = compare_judges(scaled, judge=[OPUS, "tenth"], label="NIST", clusters="question_id")
    assert table["metric"].tolist() == ["Spearman"]
    table = compare_judges(scaled, judge=[OPUS, "same"], label="NIST", clusters="question_id")
    assert table["problem"].tolist() == ["all 537 values are equal"] * 2
    assert table["p_value"].isna().all()


def test_a_baseline_leaves_out_the_other_pairs(grades):
    judges = [GPT4O, OPUS, SONNET]
    table = compare_judges(
        grades, judge=judges, label="NIST", baseline=OPUS, clusters="question_id"
    )
    pairs = table[["system", "baseline"]].drop_duplicates().to_numpy().tolist()
    assert pairs == [[GPT4O, OPUS], [SONNET, OPUS]]


def test_responses_without_a_label_do_not_decide_whether_the_others_share_a_question():
    frame = verdicts().drop_duplicates("example_id")
    judges = {"judge": ["good", "lenient"], "label": "label"}
    unlabelled = frame.assign(label=np.nan, system=9)
    alone = compare_judges(frame, **judges)
    together = compare_judges(pd.concat([frame, unlabelled], ignore_index=True), **judges)
    pd.testing.assert_frame_equal(alone, together)
    assert not alone["interval"].str.contains("cluster").any()
    of_judges = [
        judge_report(some, judge="good") for some in (frame, pd.concat([frame, unlabelled]))
    ]
    first, second = (report.agreement.drop(columns="n_units") for report in of_judges)
    pd.testing.assert_frame_equal(first, second)


def test_what_is_refused(grades):
    frame = verdicts()
    for options, problem in (
        ({"judge": ["good"]}, "needs two or more judges, .* got good"),
        ({"judge": ["good", "label"]}, "not counting the label"),
        (
            {"judge": ["good", "lenient"], "baseline": "bad"},
            "must be one of good, lenient, got 'bad'",
        ),
    ):
        with pytest.raises(InputError, match=problem):
            compare_judges(frame, label="label", **options)
    with pytest.raises(
        InputError, match="verdicts or scores from 0 to 1 in grade for labels of 0 and"
    ):
        compare_judges(frame.assign(grade=3.0), judge=["good", "grade"], label="label")
    with pytest.raises(InputError, match="needs labels, got none in label"):
        compare_judges(frame.assign(label=math.nan), judge=["good", "lenient"], label="label")


# ---- length within systems, and versions of a judge -----------------------------------------------


def test_error_rates_by_length_within_each_system():
    """Two systems of different lengths, for which the thirds of all responses are the systems."""
    frame = verdicts(n=600).drop(columns=["lenient", "score"])
    rng = np.random.default_rng(0)
    lengths = 1 + rng.integers(0, 50, 600) + 1000 * (frame["system"] == 1)
    frame["response"] = ["a" * length for length in lengths]
    report = judge_report(frame, judge="good", by="system", length_within="system")
    rates = report.error_rates.query("by == 'response length within system'")
    assert rates["group"].nunique() == 9
    of_system = lengths[frame["system"] == 1]
    limit = np.quantile(of_system, 2 / 3)
    longest = frame[(frame["system"] == 1) & (lengths > limit)]
    group = f"1: longest third ({lengths[longest.index].min()}-{lengths[longest.index].max()})"
    row = rates[(rates["group"] == group) & (rates["metric"] == "sensitivity")].iloc[0]
    correct = longest[longest["label"] == 1]
    # Each of these questions has one response of the system, so its responses are independent.
    low, high = proportion_confint(correct["good"].sum(), len(correct), method="wilson")
    assert row[["low", "mean", "high"]].tolist() == pytest.approx(
        [low, correct["good"].mean(), high]
    )
    assert row["n"] == len(correct)
    bias = report.bias.query("by == 'response length within system'").set_index("group")
    assert bias.loc[group, "difference"] == pytest.approx(
        (longest["good"] - longest["label"]).mean()
    )


def judged_once():
    """The recorded verdicts of a small model, without the repeated rows of answers that are in two samples."""
    recorded = ragnb.recorded("judged_evouna").dropna(subset=["verdict"])
    return recorded.drop_duplicates(["example_id", "system"])


def test_the_version_of_a_judge_is_in_the_report():
    recorded = judged_once()
    version = recorded["judge_signature"].iloc[0]
    assert version.startswith("SmolLM2-135M-Instruct answer.judge_bare_correctness:1:")
    frame = recorded.assign(label=recorded["verdict"].astype(float))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = judge_report(frame)
    n = int(recorded["judged_correct"].notna().sum())
    assert report.versions.to_dict("records") == [
        {"judge": "judged_correct", "version": version, "n": n}
    ]
    assert set(report.agreement["signature"].str.split("|").str[2]) == {f"version:{version}"}
    assert f"judged_correct: {n} verdicts of {version}." in repr(report)


def test_verdicts_of_two_versions_are_not_mixed_in_silence():
    recorded = judged_once()
    frame = recorded.assign(label=recorded["verdict"].astype(float))
    frame.loc[frame.index[:100], "judge_signature"] = "another model answer.judge_correctness:2:abc"
    with pytest.warns(UserWarning, match=r"judged_correct come from 2 versions .* by='judge_sig"):
        report = judge_report(frame)
    assert report.versions["n"].sum() == recorded["judged_correct"].notna().sum()
    # With two judges, each has its own column of versions.
    two = frame.assign(second=1.0, second_signature="a rule", judge_signature="a model")
    report = judge_report(two, judge=["judged_correct", "second"])
    assert report.versions["version"].tolist() == ["a model", "a rule"]
