"""What is recorded is whole, names its origin, and gives the responses again without a model."""

import pytest

import ragnb
from ragnb.errors import InputError
from ragnb.experiments import (
    RECORDINGS,
    recorded_provenance,
    recorded_ranking,
    recorded_responses,
    recorded_store,
)
from tools.recording.replies import reply_keys


@pytest.fixture(scope="module", params=sorted(RECORDINGS))
def recording(request):
    return request.param


@pytest.fixture(scope="module")
def four_systems():
    return recorded_responses("multilingual")


def test_every_reply_of_a_recording_is_there_and_nothing_else(recording):
    replayed = recorded_responses(recording)
    assert replayed["response"].notna().all()
    with recorded_store(recording) as store:
        # These are judgements of responses that are not in the recording.
        judged = recording in (
            "multilingual_judged",
            "judged_answers",
            "judged_evouna",
            "judged_facts",
        )
        keys = set(replayed["judge_keys"].explode()) if judged else reply_keys(replayed)
        assert {reply.key for reply in store} == keys
        assert len(store) == recorded_provenance(recording)["n_replies"]


def test_a_recording_names_model_file_engine_and_day(recording):
    provenance = recorded_provenance(recording)
    assert (
        provenance["model"]
        == {"smollm2": "SmolLM2-135M-Instruct", "gemma3": "gemma-3-270m"}[
            RECORDINGS[recording].model
        ]
    )
    assert provenance["file"].endswith(".gguf")
    assert len(provenance["sha256"]) == 64
    assert provenance["engine"].startswith("xllamacpp ")
    assert provenance["date"] >= "2026"
    assert provenance["parameters"] == RECORDINGS[recording].parameters


def test_each_part_was_asked_alone_over_the_passages_of_the_whole_question():
    whole = recorded_responses("rgb_integration").query("system == 'plain' and noise_rate == 0")
    whole = whole.set_index("example_id")
    alone = recorded_responses("rgb_integration_parts")
    assert len(alone) == whole["references"].str.len().sum()
    for row in alone.to_dict("records"):
        together = whole.loc[row["example_id"]]
        assert list(row["passages"]) == list(together["passages"])
        assert row["references"] == [together["references"][row["part"] - 1]]
    assert alone["question"].is_unique


def test_an_unknown_recording_is_refused():
    with pytest.raises(InputError, match="name must be one of 'rgb_noise', .*, got 'x'"):
        recorded_store("x")


def test_every_system_answered_every_question_in_every_language(four_systems):
    examples = ragnb.load_multilingual("sample-multilingual")
    for _, rows in four_systems.groupby("system"):
        assert rows["example_id"].tolist() == examples["example_id"].tolist()
    assert set(four_systems["system"]) == {"direct", "multi", "cross", "lbrag"}


def test_no_question_was_answered_from_its_own_passage(four_systems):
    owners = recorded_ranking()["passage_id"].str.split("#").str[0]
    assert not (owners == recorded_ranking()["example_id"]).any()
    given = four_systems.explode("passage_ids").dropna(subset="passage_ids")
    assert not (given["passage_ids"].str.split("#").str[0] == given["example_id"]).any()


def test_what_a_system_paid_is_what_the_endpoint_counted(four_systems):
    with recorded_store("multilingual") as store:
        counted = {reply.key: reply.completion_tokens for reply in store}
    paid = ragnb.score(four_systems, "cost.translation_tokens")["value"]
    assert paid.tolist() == [
        sum(counted[key] for key in keys) for keys in four_systems["translation_keys"]
    ]
    means = paid.groupby(four_systems["system"]).mean()
    assert means["direct"] == means["multi"] == 0 < means["lbrag"] < means["cross"]
