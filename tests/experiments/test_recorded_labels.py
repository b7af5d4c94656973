"""The authors' labels belong to replies that are recorded, were drawn as their guideline says, and are still of the same text."""

import hashlib
import random

import pandas as pd
import pytest

from ragnb.experiments.recorded import LABELS, RECORDINGS, recorded_labels, recorded_responses
from ragnb.metrics.rgb_protocols import FLEXIBLE_REFUSALS

ENGLISH = ("rgb_noise", "rgb_rejection", "rgb_integration", "rgb_counterfactual")


@pytest.fixture(scope="module")
def labels():
    return recorded_labels("rgb_refusals")


@pytest.fixture(scope="module")
def replies():
    return pd.concat(
        [recorded_responses(name).assign(recording=name) for name in ENGLISH], ignore_index=True
    )


@pytest.fixture(scope="module")
def fires(replies):
    """Which replies hold a flexible phrase, by plain search."""
    return replies["response"].map(
        lambda text: any(phrase in text.lower() for phrase in FLEXIBLE_REFUSALS)
    )


def test_every_english_recording_could_be_drawn_from():
    english = {name for name, made in RECORDINGS.items() if made.sample.startswith("sample-en")}
    assert set(ENGLISH) == english - {"judged_answers"}  # verdicts on replies of rgb_noise


def test_each_label_belongs_to_one_recorded_reply(labels, replies):
    found = labels.merge(
        replies, on=["request_key", "recording"], how="left", validate="one_to_one"
    )
    assert found["response"].notna().all()
    assert labels["request_key"].is_unique


def test_each_labelled_reply_is_still_the_one_that_was_read(labels, replies):
    found = labels.merge(replies, on="request_key", validate="one_to_one")
    digests = found["response"].map(lambda text: hashlib.sha256(text.encode()).hexdigest()[:16])
    assert digests.tolist() == found["response_sha256"].tolist()


def test_every_reply_that_fires_a_flexible_phrase_is_labelled(labels, replies, fires):
    assert set(labels.query("drawn == 'phrase'").request_key) == set(replies[fires].request_key)


def test_the_random_sample_is_the_one_that_the_guideline_names(labels, replies, fires):
    others = sorted(replies[~fires].request_key)
    assert set(labels.query("drawn == 'random'").request_key) == set(
        random.Random(3).sample(others, 100)
    )
    assert "`random.Random(3).sample`" in labels.attrs["guideline"]
    assert f"{len(replies):,} English replies" in labels.attrs["guideline"]


def test_the_recording_of_rejections_is_labelled_throughout(labels, replies):
    assert set(labels.query("recording == 'rgb_rejection'").request_key) == set(
        replies.query("recording == 'rgb_rejection'").request_key
    )


@pytest.mark.parametrize("name", LABELS)
def test_a_guideline_says_what_each_label_means_and_who_read(name):
    labels = recorded_labels(name)
    first = labels.attrs["guideline"].splitlines()[:2]
    assert {line.split(":")[0] for line in first} == {f"`{label}`" for label in labels["label"]}
    assert "authors' labels" in labels.attrs["guideline"]
    assert "not those of independent human annotators" in labels.attrs["guideline"]
