"""The tasks of benchmarks, from the labels of a person to the value of a metric: claims, spans, grades, conversations."""

import pytest
from support.labelling import annotated, plain_frame

import ragnb
from ragnb.annotation import TASKS, join_labels
from ragnb.annotation.items import build_items

ID = ["example_id", "system"]


def test_labels_of_claims_reproduce_the_published_scores_of_refchecker(tmp_path):
    published = ragnb.load_study("refchecker").query("parts.str.len() > 1").head(12)
    frame = published.assign(question="?", passages=[["Not in the extract."]] * 12)
    said = {
        f"{row.example_id} | {row.system}": {
            "claim": {f"c{n}": part["label"] for n, part in enumerate(row.parts, start=1)}
        }
        for row in frame.itertuples()
    }
    bare = frame.assign(claims=[[one["text"] for one in parts] for parts in frame["parts"]])
    session = annotated(bare.drop(columns="parts"), "claims", "ana", tmp_path, said, id=ID)
    assert session.progress()["labelled"] == 12
    joined = join_labels(bare.drop(columns="parts"), session)
    for metric in ("parts.supported", "parts.contradicted"):
        ours, theirs = (ragnb.score(one, metric)["value"] for one in (joined, published))
        assert ours.tolist() == theirs.tolist()
        assert ours.between(0, 1).all()
    session.label("claim", None, "c2")
    assert join_labels(frame, session, replace=True)["parts"].isna().sum() == 1


def test_marked_words_become_the_spans_of_a_metric(tmp_path):
    response = "Oslo, founded in 1925, has 9 fjords.\n東京は333米。"
    frame = plain_frame(2, response=[response, "  "], spans=[[[6, 21]], []])
    item = build_items(frame, TASKS["spans"])[0]
    words = dict(item.parts[-1].sentences)
    assert "".join(words.values()) == response
    cut = [words[key].strip() for key in ("0-4", "4-5", "17-21", "40-43")]
    assert cut == ["Oslo", ",", "1925", "333"]
    said = {"q/0": {"unsupported": ["27-28", "29-35"], "contradicted": ["17-21", "43-44"]}}
    session = annotated(frame, "spans", "ana", tmp_path, said)
    joined = join_labels(frame, session)
    spans = joined["reference_spans"][0]
    assert [response[start:end] for start, end in spans] == ["1925", "9 fjords", "米"]
    assert joined["reference_spans"][1] is None
    f1 = ragnb.score(joined, "parts.span_f1")["value"]
    assert f1[0] == pytest.approx(2 * 4 / (15 + 13)), "4 of 15 marked characters, and of 13"


def test_the_earlier_turns_of_a_conversation_are_shown_and_belong_to_the_fingerprint():
    turns = ragnb.load_study("mtrag").query("turn == 3").head(2)
    item = build_items(turns, TASKS["grades"], id=ID)[0]
    assert [role for role, _ in item.history] == ["user", "agent"] * 2
    other = turns.assign(history=[history[:-1] for history in turns["history"]])
    assert build_items(other, TASKS["grades"], id=ID)[0].fingerprint != item.fingerprint
    alone, same = (
        build_items(frame, TASKS["verdict"])[0].fingerprint
        for frame in (plain_frame(1), plain_frame(1, history=[None]))
    )
    assert alone == same
