"""A model that applies a codebook, on a real server whose replies are known, and its check against a person."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, precision_score, recall_score
from support.hostile import PAYLOADS
from support.judge import Judge, shown

import ragnb
from ragnb.annotation import AnnotationSession, read_labels, tag_judge_report
from ragnb.errors import InputError
from ragnb.experiments import apply_codebook

CODEBOOK = {"echo": "Repeats the prompt.", "wrong name": "Names {another} thing.", "لغة خاطئة": ""}
RESPONSES = pd.DataFrame(
    {
        "example_id": [f"q/{n}" for n in range(5)],
        "system": "tiny",
        "question": "Where?",
        "response": pd.Series(["Where?", "Bergen", "Oslo", None, " "], dtype=object),
    }
)


def reply(*tags):
    return {"explanation": "because", "tags": list(tags)}


REPLIES = {"Where?": reply("ECHO", "echo"), "Bergen": reply("لغة خاطئة", "wrong name")}


def judged_by(judge, responses=RESPONSES, codebook=CODEBOOK, **options):
    with judge:
        return apply_codebook(responses, codebook, model="judge", **{**judge.options, **options})


def test_one_reply_has_all_tags_of_a_response():
    judge = Judge(reply(), **REPLIES)
    judged = judged_by(judge)
    assert judged["judged_tags"].tolist() == [["echo"], ["wrong name", "لغة خاطئة"], [], None, None]
    assert judged["judge_reason"].tolist() == [None, None, None, "no response", "empty response"]
    assert judged["judge_explanation"].tolist() == ["because"] * 3 + [None] * 2
    assert len(judge.calls) == 3
    assert judged["judge_signature"].nunique() == 1
    assert "answer.judge_tags:2:" in judged["judge_signature"][0]
    assert judged[list(RESPONSES)].equals(RESPONSES)


@pytest.mark.parametrize(
    "unreadable", ["echo", '{"tags": "echo"}', reply("another tag"), {"explanation": "no tags"}]
)
def test_an_unreadable_reply_stays_missing_with_a_reason(unreadable):
    judge = Judge(unreadable, Bergen=reply("wrong name"))
    judged = judged_by(judge)
    assert judged["judged_tags"].tolist() == [None, ["wrong name"], None, None, None]
    assert "after a repair turn" in judged["judge_reason"][0]
    assert judged["judge_keys"].str.len().tolist() == [2, 1, 2, 0, 0]


def test_the_request_has_the_codebook_and_what_there_is_to_read():
    judge = Judge(reply())
    responses = RESPONSES.head(1).assign(references=[[["Oslo"]]], passages=[["A {city}.", "Rain."]])
    judged_by(judge, responses)
    body = judge.calls[0].body
    user = body["messages"][-1]["content"]
    assert '- "echo": "Repeats the prompt."\n- "wrong name": "Names {another} thing."' in user
    assert '- "لغة خاطئة"\n' in user
    for text in ('"Oslo"', "[1] A {city}.\n[2] Rain.", "Where?"):
        assert text in user
    tags = body["response_format"]["json_schema"]["schema"]["properties"]["tags"]
    assert tags["items"]["enum"] == list(CODEBOOK)
    bare = Judge(reply())
    judged_by(bare, RESPONSES.head(1))
    assert "<references-" not in bare.calls[0].body["messages"][-1]["content"]


def test_hostile_texts_stay_texts_between_their_tags():
    codebook = {payload[:90]: payload for payload in PAYLOADS[:8]}
    responses = pd.DataFrame({"question": PAYLOADS[:8], "response": PAYLOADS[:8]})
    judge = Judge(lambda call: reply())
    judged = judged_by(judge, responses, codebook)
    assert judged["judged_tags"].notna().all()
    for call in judge.calls:
        user = call.body["messages"][-1]["content"]
        head, _, rest = user.partition("\n\n<question-")
        assert len(head.splitlines()) == 1 + len(codebook), "one line per tag"
        assert rest
        texts = shown(call.body["messages"])
        assert set(texts) == {"question", "response"}
        assert texts["response"] == texts["question"]


def test_a_stored_reply_is_not_asked_for_again_and_another_codebook_is(tmp_path):
    store = tmp_path / "replies.sqlite"
    judge = Judge(reply("echo"))
    with judge:
        options = {**judge.options, "store": store, "model": "judge"}
        apply_codebook(RESPONSES, CODEBOOK, **options)
        apply_codebook(RESPONSES, CODEBOOK, **options)
        assert len(judge.calls) == 3
        apply_codebook(RESPONSES, {**CODEBOOK, "echo": "Repeats the question."}, **options)
        assert len(judge.calls) == 6


@pytest.mark.parametrize(
    ("codebook", "message"),
    [
        ({}, "a codebook with at least one tag, got none"),
        (["a", "A "], "has the tag 'A' twice"),
        ([""], "must not be blank"),
        (3, "codebook"),
    ],
)
def test_what_is_no_codebook_is_refused(codebook, message):
    with pytest.raises(InputError, match=message):
        apply_codebook(RESPONSES, codebook, model="m", base_url="http://127.0.0.1:1")
    judged = RESPONSES.assign(judged_tags=None)
    with pytest.raises(InputError, match="must not contain the columns that a judge adds"):
        apply_codebook(judged, CODEBOOK, model="m", base_url="http://127.0.0.1:1")


# ---- against a person ------------------------------------------------------------------------------

TAGS = ["echo", "refusal", "rare"]


def read_by_both(n=80, unread=7):
    """Responses that a person and a judge tagged, some of which the judge's reply leaves open."""
    rng = np.random.default_rng(5)
    rates = {"echo": 0.4, "refusal": 0.2, "rare": 0.06}
    person = [[tag for tag in TAGS if rng.random() < rates[tag]] for _ in range(n)]
    judge: list = []
    for tags in person:
        judge.append([tag.upper() for tag in TAGS if (tag in tags) != (rng.random() < 0.15)])
    for place in rng.choice(n, unread, replace=False):
        judge[place] = None
    names = [f"q/{number}" for number in range(n)]
    responses = pd.DataFrame({"example_id": names, "response": "?", "judged_tags": judge})
    labels = pd.DataFrame(
        {"item": names, "annotator": "Ana", "task": "error_analysis", "open_note": None,
         "tags": person}
    )  # fmt: skip
    return responses, labels


def test_a_judge_is_compared_with_a_person_tag_by_tag():
    responses, labels = read_by_both()
    report = tag_judge_report(responses, labels, id="example_id").set_index(["tag", "metric"])
    is_read = responses["judged_tags"].notna()
    for tag in TAGS:
        person = labels.loc[is_read, "tags"].map(lambda tags, tag=tag: tag in tags)
        judge = responses.loc[is_read, "judged_tags"].map(lambda tags, tag=tag: tag.upper() in tags)
        expected = {
            "precision": precision_score(person, judge),
            "recall": recall_score(person, judge),
            "Cohen's kappa": cohen_kappa_score(person, judge),
        }
        for metric, value in expected.items():
            row = report.loc[(tag, metric)]
            assert row["mean"] == pytest.approx(value), (tag, metric)
            assert (row["n"], row["n_unread"]) == (73, 7)
            assert (row["n_person"], row["n_judge"]) == (person.sum(), judge.sum())
            if tag == "echo":
                assert row["low"] < value < row["high"]


def test_a_judge_suggests_tags_to_a_person(tmp_path):
    judged = judged_by(Judge(reply(), **REPLIES)).dropna(subset=["judged_tags"])
    session = AnnotationSession(
        judged, "error_analysis", "Ana", tmp_path, suggestions=judged, suggested_by="judge",
        codebook=CODEBOOK,
    )  # fmt: skip
    session.go("q/1")
    assert session.accept()
    session.toggle("tags", ["wrong name"])
    labels = read_labels(session)
    assert labels["tags"].tolist() == [["لغة خاطئة"]]
    assert labels["source"].tolist() == ["suggestion changed"]
    report = tag_judge_report(judged, session)
    assert report.set_index(["tag", "metric"]).loc[("لغة خاطئة", "recall"), "mean"] == 1
    session.close()


def test_what_cannot_be_compared_is_refused():
    responses, labels = read_by_both(4, 4)
    with pytest.raises(InputError, match="the person and the judge read, got none among 4"):
        tag_judge_report(responses, labels, id="example_id")
    both = pd.concat([labels, labels.assign(annotator="Ben")])
    with pytest.raises(InputError, match="the tags of one person, got those of Ana, Ben"):
        tag_judge_report(responses, both, id="example_id")
    with pytest.raises(InputError, match="judged_tags"):
        tag_judge_report(responses.drop(columns="judged_tags"), labels, id="example_id")
    # A misspelled name must not mean that the responses are independent.
    responses, labels = read_by_both()
    with pytest.raises(InputError, match="clusterz"):
        tag_judge_report(responses, labels, id="example_id", clusters="clusterz")


def test_the_top_level_has_the_call():
    assert ragnb.apply_codebook is apply_codebook
