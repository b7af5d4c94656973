"""Answers that people judged: EVOUNA's Natural Questions, five systems, split by question; and MT-RAG's answers."""
# ruff: noqa: N806 (X and y are the names of the field)

import gzip
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import betabinom, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ragnb.conformal import ConformalClassifier, conformal_rank
from ragnb.datasets import load_evouna, load_study
from ragnb.ensemble import DataSplit, MetricEnsemble, XYData, eval_prediction, feature_frame
from ragnb.scoring import score
from ragnb.stats import auroc

FEATURES = [
    "answer.contains",
    "answer.f1",
    "answer.precision",
    "answer.recall",
    "answer.rouge_l",
    "answer.exact_match",
    "rgb.accuracy",
]

METRICS = [*FEATURES[:-1], "answer.chrf", "answer.bleu"]


@pytest.fixture(scope="module")
def judged(data_folder):
    """The responses of EVOUNA that have a person's verdict, and all metrics of each."""
    responses = load_evouna(data_folder / "evouna" / "NQ.json")
    responses = responses[~responses["improper"] & responses["verdict"].notna()]
    scores = score(responses.fillna({"response": ""}), [*METRICS, FEATURES[-1]])
    return responses, feature_frame(scores, responses=responses)


@pytest.fixture(scope="module")
def split(judged):
    responses, X = judged
    kept = responses.dropna(subset="response")
    assert len(responses) - len(kept) == 1
    X = X.loc[kept.index, FEATURES]
    return DataSplit(X, kept["verdict"], groups=kept["question"].str.lower(), random_state=0)


@pytest.mark.data
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
def divisions():
    """Coverage of the answers of each system in divisions into halves by question, at 90 %.

    The classifier is trained on 600 other questions. One row per division and guarantee.
    """
    study = load_study("evouna-nq")
    answers = study[~study["improper"]].dropna(subset=["response", "verdict"])
    answers = answers.reset_index(drop=True)
    X = feature_frame(score(answers, FEATURES[:4]), responses=answers)
    y, question = answers["verdict"].astype(int), answers["question"]
    rng = np.random.default_rng(0)
    questions = rng.permutation(question.unique())
    trained, others = question.isin(questions[:600]), questions[600:]
    classifier, rows = LogisticRegression().fit(X[trained], y[trained]), []
    probability = pd.Series(classifier.predict_proba(X)[:, 1], X.index)
    for _ in range(N_DIVISIONS):
        inside = question.isin(rng.permutation(others)[: len(others) // 2])
        new = ~trained & ~inside
        for guarantee, system in (("all", None), ("system", answers["system"])):
            groups = [None if system is None else system[part] for part in (inside, new)]
            calibrated = ConformalClassifier.calibrate(
                probability[inside], y[inside], groups=groups[0]
            )
            sets = calibrated.sets(probability[new], 0.1, groups=groups[1])
            covered = pd.Series(sets[np.arange(len(sets)), y[new]], y[new].index)
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


# ---- other data than those of the calibration --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def evouna(judged):
    """EVOUNA with more metrics, and the system behind each answer."""
    answers, X = judged
    y = answers["verdict"].astype(int)
    return XYData(X[METRICS], y, answers["question"]), answers["system"]


@pytest.fixture(scope="module")
def mtrag(data_folder):
    """Answers of two models, which are correct here where the median of two or three people finds them fully complete."""
    path = data_folder / "mtrag" / "reference_subset_with_human_evaluations.json.gz"
    if not path.is_file():
        pytest.skip(
            "needs mtrag/reference_subset_with_human_evaluations.json.gz in RAGNB_TEST_DATA"
        )
    data = json.loads(gzip.decompress(path.read_bytes()))
    tasks = {
        task["task_id"]: (task["input"][-1]["text"], task["targets"][0]["text"])
        for task in data["tasks"]
    }
    rows = []
    for number, found in enumerate(data["evaluations"]):
        if found["model_id"] != "reference":
            question, reference = tasks[found["task_id"]]
            grades = [
                float(given["value"]) for given in found["annotations"]["completeness"].values()
            ]
            told = {
                "example_id": number,
                "question": question,
                "references": [[reference]],
                "task_id": found["task_id"],
            }
            rows.append(
                told | {"response": found["model_response"], "label": int(np.median(grades) == 4)}
            )
    responses = pd.DataFrame(rows)
    X = feature_frame(score(responses, METRICS), responses=responses)
    return XYData(X, responses["label"], responses["task_id"])


def quick():
    return make_pipeline(StandardScaler(), LogisticRegression())


def what_came_of_it(ensemble, data):
    """Coverage of the sets, share of accepted labels, and share of errors among them."""
    found = ensemble.decide(data.X)
    covered = found["in_set_1"].where(data.y == 1, found["in_set_0"])
    accepted = ~found["abstained"]
    return covered.mean(), accepted.mean(), (found["y_hat"] != data.y)[accepted].mean()


@pytest.mark.data
def test_an_ensemble_of_one_benchmark_notices_another(evouna, mtrag):
    """It accepts its label for nearly all of MT-RAG's answers, every fifth wrongly, and warns that they are different."""
    split = DataSplit(evouna[0].X, evouna[0].y, groups=evouna[0].groups, random_state=0)
    ensemble = MetricEnsemble(split.train, split.calibration, random_state=0, class_weight=None)
    with pytest.warns(
        UserWarning, match="The 318 new responses differ from the calibration responses in answer"
    ):
        coverage, accepted, wrong = what_came_of_it(ensemble, mtrag)
    assert coverage == pytest.approx(0.783, abs=0.01)
    assert accepted == pytest.approx(0.997, abs=0.01)
    assert wrong == pytest.approx(0.215, abs=0.01)
    table = ensemble.check_shift(mtrag).set_index("tested")
    assert table.loc["score of the true label", "p_adjusted"] < 1e-12
    assert table.loc["answer.contains", "p_adjusted"] < 1e-12
    assert set(table["n_units_calibration"].round()) == {604}
    assert set(table["n_units_new"].round()) == {159}


@pytest.mark.data
def test_an_ensemble_of_one_system_notices_another(evouna):
    """Calibrated on New Bing's long answers, it accepts nearly all labels of FiD's short ones, two thirds of them wrong."""
    data, system = evouna
    bing, fid = (
        XYData(data.X[rows], data.y[rows], data.groups[rows])
        for rows in (system == "newbing", system == "fid")
    )
    split = DataSplit(bing.X, bing.y, groups=bing.groups, random_state=0)
    ensemble = MetricEnsemble(split.train, split.calibration, random_state=0, class_weight=None)
    with pytest.warns(
        UserWarning, match="The 3020 new responses differ from the calibration responses in"
    ):
        coverage, accepted, wrong = what_came_of_it(ensemble, fid)
    # Logistic regression of scikit-learn on standardised features and one quantile give these.
    assert coverage == pytest.approx(0.331, abs=0.03)
    assert accepted == pytest.approx(0.978, abs=0.005)
    assert wrong == pytest.approx(0.684, abs=0.03)
    table = ensemble.check_shift(fid).set_index("tested")
    assert (
        table.loc[
            ["answer.precision", "probability", "score of the true label"], "p_adjusted"
        ].max()
        < 1e-12
    )
    coverage, _, _ = what_came_of_it(ensemble, split.test)
    assert coverage == pytest.approx(0.9, abs=0.04)
    assert (ensemble.check_shift(split.test)["p_adjusted"] > 0.05).all()


@pytest.mark.data
def test_divisions_of_one_benchmark_are_no_shift(evouna):
    data = evouna[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(4):
            split = DataSplit(data.X, data.y, groups=data.groups, random_state=seed)
            ensemble = MetricEnsemble(split.train, split.calibration, classifier=quick())
            coverage, _, _ = what_came_of_it(ensemble, split.test)
            assert coverage == pytest.approx(0.9, abs=0.03)
            assert (ensemble.check_shift(split.test)["p_adjusted"] > 0.05).all()
