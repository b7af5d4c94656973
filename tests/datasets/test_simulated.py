"""The simulated truth is the truth: labels against probabilities, shares, shifts, questions."""

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from ragnb.datasets.simulated import WEIGHTS, simulate_labelled


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
    latent = sum(weight * shifted[name] for name, weight in WEIGHTS.items())
    assert np.allclose(shifted["probability"], norm.cdf(latent - shifted["language"].eq("hi")))
    for _, rows in shifted.groupby("system"):
        assert fits(rows["label"].sum(), len(rows), rows["probability"].mean())


@pytest.mark.parametrize("share", [0.04, 0.5, 0.95])
def test_a_system_s_share_of_correct_responses_is_the_one_asked_for(share):
    made = drawn(4000, systems={"only": share}, question_share=0)
    assert fits(made["label"].sum(), len(made), share)
    assert made["probability"].mean() == pytest.approx(share, abs=0.02)


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
    made = made.assign(residual=made["label"] - made["probability"])
    wide = made.pivot(index="question_id", columns="system", values="residual")
    return np.corrcoef(wide.T.to_numpy(dtype=float))[0, 1]


def test_rows_of_one_question_share_what_the_metrics_do_not_say():
    assert abs(residual_correlation(drawn(question_share=0))) < 0.1
    assert residual_correlation(drawn(question_share=0.8)) > 0.2
