"""What a person looks at next, from a real ensemble and a real report, and the way back."""

from math import ceil

import numpy as np
import pandas as pd
import pytest

import ragnb
from ragnb import ensemble
from ragnb.annotation import AnnotationSession, deferral_queue, person_judicator, review_queue
from ragnb.errors import InputError

NAMES = ("contains", "f1", "recall", "rouge_l", "chrf", "exact_match")
METRICS = [f"answer.{name}" for name in NAMES]
ID = ["example_id", "system", "noise_rate"]


@pytest.fixture(scope="module")
def answers():
    return ragnb.load_study("sample-labelled-en").fillna({"response": ""})


@pytest.fixture(scope="module")
def fitted(answers):
    """An ensemble with coverage within each class, its split, and what it decides on the test set."""
    features = ensemble.feature_frame(ragnb.score(answers, METRICS), responses=answers)
    split = ensemble.DataSplit(features, answers.label, groups=answers.question_id, random_state=8)
    options = {"alpha": 0.05, "random_state": 8, "guarantee": "class"}
    model = ensemble.MetricEnsemble(split.train, split.calibration, **options)
    return model, split, model.decide(split.test.X)


def sets_by_hand(model, split):
    """Labels that are no stranger than the k-th strangest true label of their class."""
    known, new = (
        model.classifier.predict_proba(part.X) for part in (split.calibration, split.test)
    )
    sets = []
    for label in (0, 1):
        strange = sorted(1 - known[split.calibration.y == label, label])
        sets.append(1 - new[:, label] <= strange[ceil(0.95 * (len(strange) + 1)) - 1])
    return sets


# ---- abstentions -------------------------------------------------------------------------------------------------------


def test_the_queue_has_the_abstentions_the_least_confident_first(answers, fitted):
    model, split, decisions = fitted
    queue = deferral_queue(answers, decisions)
    zero, one = sets_by_hand(model, split)
    assert len(queue) == decisions["abstained"].sum() == (zero == one).sum() == 54
    assert set(queue.index) == set(decisions.index[decisions["abstained"]])
    assert (np.diff((decisions["probability"].loc[queue.index] - 0.5).abs()) >= 0).all()
    pd.testing.assert_frame_equal(queue.sort_index(), answers.loc[sorted(queue.index)])


def test_a_person_closes_the_loop(answers, fitted, tmp_path):
    model, split, before = fitted
    test, queue = split.test, deferral_queue(answers, before)
    session = AnnotationSession(queue, "verdict", "reader a", tmp_path, id=ID)
    judicator = person_judicator(session.log.path, answers, id=ID)
    assert model.decide(test.X, judicator)["judged"].isna().all()

    half = session.items[:25]
    read_as = {item.id: said for item, said in zip(session.items, queue["label_a"], strict=True)}
    label(session, half, read_as)
    now = model.decide(test.X, judicator)
    assert now["judged"].notna().sum() == 25
    assert now["deferred"].sum() == 54

    label(session, session.items[25:], read_as)
    after = model.decide(test.X, judicator)
    assert after.loc[queue.index, "label"].tolist() == queue["label_a"].tolist()
    accepted = after.index.difference(queue.index)
    assert after.loc[accepted, "label"].equals(before.loc[accepted, "label"])
    truth = answers.loc[after.index, "label"]
    assert (after["label"] == truth).mean() > (before["label"] == truth).mean()


def label(session, items, said):
    for item in items:
        session.go(item.id)
        session.label("verdict", "correct" if said[item.id] else "incorrect")


def test_queues_refuse_what_does_not_fit(answers, fitted):
    decisions = fitted[2]
    with pytest.raises(InputError, match="needs the columns probability, abstained"):
        deferral_queue(answers, decisions.drop(columns="abstained"))
    with pytest.raises(InputError, match="a row for each requested index label"):
        deferral_queue(answers.drop(index=decisions.index[0]), decisions)


# ---- judges ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report(answers):
    return ragnb.judge_report(answers, clusters="question_id")


def test_what_judge_and_people_differ_in_is_an_annotators_examples(answers, report, tmp_path):
    queue = review_queue(report)
    apart = answers["judged_correct"].notna() & (answers["judged_correct"] != answers["label"])
    assert len(queue) == apart.sum()
    assert (np.diff(queue["disagreement"]) <= 0).all()
    session = AnnotationSession(queue, "verdict", "ana", tmp_path, id=ID)
    assert len(session.items) == len(queue)
