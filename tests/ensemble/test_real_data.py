"""Answers that people judged: EVOUNA's Natural Questions, five systems, split by question."""
# ruff: noqa: N806 (X and y are the names of the field)

import numpy as np
import pandas as pd
import pytest
from scipy.stats import betabinom, chi2
from sklearn.linear_model import LogisticRegression

from ragnb.conformal.sets import conformal_rank
from ragnb.datasets.studies import load_study
from ragnb.ensemble import DataSplit, MetricEnsemble, XYData, eval_prediction, feature_frame
from ragnb.scoring import score
from ragnb.stats.prediction import auroc

FEATURES = [
    "answer.contains",
    "answer.f1",
    "answer.precision",
    "answer.recall",
    "answer.rouge_l",
    "answer.exact_match",
    "rgb.accuracy",
]


@pytest.fixture(scope="module")
def judged():
    """The answers of EVOUNA that people judged, and the metrics of each."""
    study = load_study("evouna-nq")
    answers = study[~study["improper"]].dropna(subset=["response", "verdict"])
    answers = answers.reset_index(drop=True)
    return answers, feature_frame(score(answers, FEATURES), responses=answers)


@pytest.fixture(scope="module")
def split(judged):
    answers, X = judged
    groups = answers["question"].str.lower()
    return DataSplit(X, answers["verdict"], groups=groups, random_state=0)


def test_the_ensemble_is_better_than_any_metric(split):
    single = {name: auroc(split.test.y, split.test.X[name]).estimate for name in FEATURES}
    assert max(single, key=single.get) == "answer.recall"
    assert max(single.values()) == pytest.approx(0.93, abs=0.01)
    parts = (split.train, split.test, split.calibration)
    y, contains = (
        pd.concat(both)
        for both in zip(*((p.y, p.X["answer.contains"]) for p in parts), strict=True)
    )
    assert eval_prediction(y, contains)["accuracy"] == pytest.approx(0.84, abs=0.01)

    ensemble = MetricEnsemble(split.train, split.calibration, random_state=0, class_weight=None)
    found = ensemble.decide(split.test.X)
    assert auroc(split.test.y, found["probability"]).estimate > max(single.values()) + 0.01
    assert eval_prediction(split.test.y, found["label"])["accuracy"] >= 0.89
    covered = found["in_set_1"].where(split.test.y == 1, found["in_set_0"])
    assert covered.mean() == pytest.approx(0.9, abs=0.025)


# ---- coverage over many divisions ---------------------------------------------------------------


N_DIVISIONS = 20


@pytest.fixture(scope="module")
def divisions(judged):
    """Coverage of the answers of each system in divisions into halves by question, at 90 %.

    The classifier is trained on 600 other questions. One row per division and guarantee.
    """
    answers, X = judged[0], judged[1][FEATURES[:4]]
    y, question = answers["verdict"].astype(int), answers["question"]
    rng = np.random.default_rng(0)
    questions = rng.permutation(question.unique())
    trained, others = question.isin(questions[:600]), questions[600:]
    training, rows = XYData(X[trained], y[trained], question[trained]), []
    for _ in range(N_DIVISIONS):
        inside = question.isin(rng.permutation(others)[: len(others) // 2])
        calibration = XYData(X[inside], y[inside], question[inside])
        new = ~trained & ~inside
        for guarantee, system in (("all", None), ("system", answers["system"])):
            groups = [None if system is None else system[part] for part in (inside, new)]
            ensemble = MetricEnsemble(
                training, calibration, classifier=LogisticRegression(), groups=groups[0]
            )
            found = ensemble.decide(X[new], groups=groups[1])
            covered = found["in_set_1"].where(y[new] == 1, found["in_set_0"])
            by_system = covered.groupby(answers["system"][new]).mean()
            rows.append({"guarantee": guarantee, "all": covered.mean(), **by_system})
    return pd.DataFrame(rows).set_index("guarantee"), len(others) // 2


def coverage_of_halves(n):
    """Share of n new items covered by a calibration on n, if the scores have no ties."""
    rank = conformal_rank(n, 0.1)
    return betabinom(n, rank, n + 1 - rank)


def test_half_of_the_questions_keep_the_coverage_of_the_other_half(divisions):
    """Five answers share a question: the spread is that of between n questions and 5 n answers."""
    covered, n_questions = divisions[0].loc["all", "all"], divisions[1]
    assert len(covered) == N_DIVISIONS
    answers, questions = (coverage_of_halves(n) for n in (5 * n_questions, n_questions))
    spread = {each: each.std() / each.support()[1] for each in (answers, questions)}
    # Bands that independent divisions leave once in 10,000 times.
    df = N_DIVISIONS - 1
    ratio = np.sqrt(chi2(df).ppf([0.0001, 0.9999]) / df)
    assert spread[answers] * ratio[0] < covered.std() < spread[questions] * ratio[1]
    assert abs(covered.mean() - 0.9) < 4 * spread[questions] / N_DIVISIONS**0.5
    lowest, highest = questions.ppf([0.0001 / N_DIVISIONS, 1 - 0.0001 / N_DIVISIONS]) / n_questions
    assert covered.between(lowest, highest).all()


def test_coverage_of_all_answers_hides_systems_below_it(divisions):
    """With one answer to each question, the answers of a system are independent."""
    mean = divisions[0].groupby("guarantee").mean()
    band = 4 * coverage_of_halves(divisions[1]).std() / divisions[1] / N_DIVISIONS**0.5
    assert mean.columns[mean.loc["all"] < 0.9 - band].tolist() == ["chatgpt", "newbing"]
    assert mean.loc["all", "fid"] > 0.9 + band
    assert (mean.loc["system"] > 0.9 - band).all()
