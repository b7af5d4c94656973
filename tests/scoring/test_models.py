"""Logistic regression of scores of 0 and 1, with the questions as groups."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import ragnb
from ragnb.errors import InputError
from ragnb.scoring import logistic_model


def simulated(seed, odds_ratio=1.8, n_questions=120, n_runs=3, sd_question=1.2):
    """Runs of two systems on questions of different difficulty, with one odds ratio."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0, sd_question, n_questions)
    rows = []
    for system, shift in (("a", 0.0), ("b", np.log(odds_ratio))):
        for question in range(n_questions):
            chance = 1 / (1 + np.exp(difficulty[question] - shift))
            for run, value in enumerate(rng.random(n_runs) < chance):
                rows.append((f"q{question}", system, run, float(value)))
    frame = pd.DataFrame(rows, columns=["example_id", "system", "repeat", "value"])
    return frame.assign(metric="accuracy", signature="s")


def test_the_odds_ratio_of_gee_is_that_of_the_rates():
    """In a balanced design, the estimate is the odds ratio of the two rates."""
    epochs = ragnb.load_study("gpqa-epochs")
    (effect,) = logistic_model(epochs).effects.to_dict("records")
    rates = epochs.groupby("system", sort=False)["value"].mean()
    odds = rates / (1 - rates)
    assert effect["odds_ratio"] == pytest.approx(odds.iloc[1] / odds.iloc[0], rel=1e-5)
    assert effect["difference"] == pytest.approx(rates.iloc[1] - rates.iloc[0], rel=1e-5)
    # Close to the cluster-robust comparison of the rates.
    assert effect["p_value"] == pytest.approx(ragnb.compare(epochs)["p_value"].item(), abs=0.002)
    assert (effect["n"], effect["n_groups"]) == (1980, 198)


def test_the_fit_is_that_of_a_formula_of_statsmodels():
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    frame = simulated(1).assign(language=lambda rows: np.where(rows["repeat"] == 0, "en", "de"))
    result = logistic_model(frame, by="language")
    fit = smf.gee(
        "value ~ C(system) + C(language, Treatment('en'))",
        "example_id",
        frame,
        family=sm.families.Binomial(),
        cov_struct=sm.cov_struct.Exchangeable(),
    ).fit(cov_type="bias_reduced")
    (effect,) = result.effects.to_dict("records")
    assert np.log(effect["odds_ratio"]) == pytest.approx(fit.params["C(system)[T.b]"])
    assert effect["statistic"] == pytest.approx(fit.tvalues["C(system)[T.b]"])


def test_the_odds_ratio_within_questions_is_further_from_1():
    frame = simulated(1)
    within = logistic_model(frame, model="mixed").effects["odds_ratio"].item()
    average = logistic_model(frame).effects["odds_ratio"].item()
    assert within > average > 1


@pytest.mark.slow
def test_the_interval_of_gee_covers_the_marginal_odds_ratio():
    n_samples = 200
    # The rates of both systems over many questions give the odds ratio of the average question.
    rates = (
        pd.concat([simulated(seed) for seed in range(1000, 1100)]).groupby("system")["value"].mean()
    )
    odds = rates / (1 - rates)
    truth = odds["b"] / odds["a"]
    covers = 0
    for seed in range(n_samples):
        (effect,) = logistic_model(simulated(seed)).effects.to_dict("records")
        covers += effect["low"] <= truth <= effect["high"]
    low, high = binom.ppf([0.0005, 0.9995], n_samples, 0.95)
    assert low <= covers <= high


@pytest.mark.slow
def test_the_mixed_model_estimates_the_odds_ratio_within_questions():
    """It is further from 1 than that of the average question, and here known to be 1.8."""
    within, average = [], []
    for seed in range(20):
        frame = simulated(seed)
        within.append(np.log(logistic_model(frame, model="mixed").effects["odds_ratio"].item()))
        average.append(np.log(logistic_model(frame).effects["odds_ratio"].item()))
    error = np.std(within, ddof=1) / np.sqrt(20)
    assert np.mean(within) == pytest.approx(np.log(1.8), abs=3.5 * error + 0.03)
    assert np.mean(average) < np.mean(within)


def test_three_systems_have_two_effects_with_corrected_p_values():
    frame = simulated(2)
    third = simulated(3).query("system == 'b'").assign(system="c")
    result = logistic_model(pd.concat([frame, third]), baseline="b")
    assert result.effects["system"].tolist() == ["a", "c"]
    assert (result.effects["p_adjusted"] >= result.effects["p_value"]).all()
    assert result.effects["family_size"].tolist() == [2, 2]


def test_what_cannot_be_modelled_is_refused():
    frame = simulated(1)
    with pytest.raises(InputError, match="needs scores of 0 and 1, got 0.5"):
        logistic_model(frame.assign(value=0.5))
    with pytest.raises(InputError, match="all scores of 'a' are 1, so its odds are 0 or infinite"):
        logistic_model(frame.assign(value=frame["value"].where(frame["system"] == "b", 1.0)))
    with pytest.raises(InputError, match="needs two systems or more"):
        logistic_model(frame[frame["system"] == "a"])
    with pytest.raises(InputError, match="metric must be one of accuracy, got 'f1'"):
        logistic_model(frame, metric="f1")
    with pytest.raises(InputError, match="the baseline 'z'"):
        logistic_model(frame, baseline="z")
