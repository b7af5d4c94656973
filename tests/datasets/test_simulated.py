"""The simulated truth is the truth: labels against probabilities, shares, shifts, questions."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import ragnb
from ragnb.datasets.simulated import WEIGHTS, simulate_labelled
from ragnb.errors import InputError


def drawn(n_questions=2000, seed=0, **options):
    return simulate_labelled(n_questions, **options, rng=np.random.default_rng(seed))


def fits(hits, n, share):
    """Whether a count is one that a binomial law gives but once in ten thousand times at its farthest."""
    return binomtest(int(hits), int(n), share).pvalue > 1e-4


@pytest.fixture(scope="module")
def shifted():
    return drawn(6000, languages=("en", "hi"), shift={"hi": 1.0}, question_share=0)


# ---- the truth ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "hi"])
def test_in_every_band_of_probability_labels_come_as_often_as_it_says(shifted, language):
    rows = shifted[shifted["language"] == language]
    for _, band in rows.groupby(np.floor(rows["probability"] * 20)):
        assert fits(band["label"].sum(), len(band), band["probability"].mean())


def test_the_probability_is_that_of_the_metrics_alone_whatever_the_system(shifted):
    latent = sum(weight * shifted[name] for name, weight in WEIGHTS.items()) - shifted[
        "language"
    ].eq("hi")
    assert np.allclose(shifted["probability"], norm.cdf(latent))
    for _, rows in shifted.groupby("system"):
        assert fits(rows["label"].sum(), len(rows), rows["probability"].mean())


@pytest.mark.parametrize("share", [0.04, 0.5, 0.95])
def test_a_system_s_share_of_correct_responses_is_the_one_asked_for(share):
    made = drawn(4000, systems={"only": share}, question_share=0)
    assert fits(made["label"].sum(), len(made), share)
    assert made["probability"].mean() == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("question_share", [0.0, 0.5, 0.9])
def test_the_question_s_share_changes_no_single_probability(question_share):
    """One row a question, so that all are independent."""
    made = drawn(4000, systems={"only": 0.5}, question_share=question_share)
    for _, band in made.groupby(np.floor(made["probability"] * 10)):
        assert fits(band["label"].sum(), len(band), band["probability"].mean())


def test_a_shift_shows_in_the_labels_and_nowhere_in_the_metrics(shifted):
    english, hindi = (shifted[shifted["language"] == code] for code in ("en", "hi"))
    for name in WEIGHTS:
        assert english[name].mean() == pytest.approx(hindi[name].mean(), abs=0.05)
    assert english["label"].mean() - hindi["label"].mean() > 0.15
    flattering = norm.cdf(sum(weight * hindi[name] for name, weight in WEIGHTS.items()))
    assert not fits(hindi["label"].sum(), len(hindi), flattering.mean())


# ---- questions ---------------------------------------------------------------------------------------------------------


def residual_correlation(made):
    """Correlation of label - probability between the two systems, over the questions."""
    wide = made.assign(residual=made["label"] - made["probability"]).pivot(
        index="question_id", columns="system"
    )
    return np.corrcoef(wide["residual"].T.to_numpy(dtype=float))[0, 1]


def test_rows_of_one_question_share_what_the_metrics_do_not_say():
    assert abs(residual_correlation(drawn(question_share=0))) < 0.1
    assert residual_correlation(drawn(question_share=0.8)) > 0.2


def test_split_by_rows_a_flexible_model_looks_better_than_it_is():
    made = drawn(300, systems=dict.fromkeys("abcd", 0.5), question_share=0.95)
    metrics = made[made.attrs["metrics"]] * [
        0.1,
        0.1,
        100,
    ]  # near is who has the same length: who is of the same question
    model = KNeighborsClassifier(3)
    by_rows = cross_val_predict(
        model, metrics, made["label"], cv=KFold(5, shuffle=True, random_state=0)
    )
    by_questions = cross_val_predict(
        model, metrics, made["label"], cv=GroupKFold(5), groups=made["question_id"]
    )
    assert (by_rows == made["label"]).mean() > (by_questions == made["label"]).mean() + 0.1


def test_nothing_predicts_better_than_the_probability():
    made = drawn(3000)
    best = log_loss(made["label"], made["probability"])
    for guess in (made["probability"] * 0.9 + 0.05, np.full(len(made), made["label"].mean())):
        assert log_loss(made["label"], guess) > best


# ---- the frame ---------------------------------------------------------------------------------------------------------


def test_a_row_a_question_language_and_system():
    made = drawn(3, systems={"a": 0.5, "b": 0.5}, languages=["en", "zh"])
    assert len(made) == 12
    assert not made.duplicated(["question_id", "language", "system"]).any()
    assert made["example_id"].nunique() == 6
    assert made.groupby("question_id")["question_length"].nunique().eq(1).all()
    assert set(made["label"]) <= {0, 1}
    assert made.attrs == {
        "metrics": ["overlap", "likeness", "question_length"],
        "labels": "simulated",
    }
    assert made[made.attrs["metrics"]].notna().all(axis=None)


def test_the_same_seed_gives_the_same_and_another_another():
    pd.testing.assert_frame_equal(drawn(5), drawn(5))
    assert not drawn(5).equals(drawn(5, seed=1))


def test_the_frame_can_be_compared_and_saved(tmp_path):
    made = drawn(50).assign(verdict=lambda frame: frame["label"].astype(bool))
    rows = ragnb.compare(ragnb.score(made, "annotator.verdict"), baseline="weak")
    assert rows["difference"][0] == pytest.approx(
        made.groupby("system")["label"].mean().diff().abs().iloc[1]
    )
    read = ragnb.read_table(ragnb.write_table(made, tmp_path / "made.parquet"))
    assert read["probability"].equals(made["probability"])


# ---- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_questions": 0}, "n_questions must be a whole number of at least 1, got 0"),
        ({"systems": {"a": 1.0}}, "got {'a': 1.0}; write 0.7"),
        ({"languages": "en"}, "languages needs different codes in a list; got 'en'"),
        ({"shift": {"zh": 1.0}}, "shift needs a number for some of en; got .*'zh'"),
        ({"question_share": 1.0}, "question_share needs a number from 0 up and below 1; got 1.0"),
    ],
)
def test_bad_input(options, message):
    given = {"n_questions": 3, "rng": np.random.default_rng(0), **options}
    with pytest.raises(InputError, match=message):
        simulate_labelled(**given)
