"""Verdicts out of exports of other annotation tools, in the shapes that those tools write."""

import json

import pandas as pd
import pytest

from ragnb.annotation.labels import join_labels
from ragnb.datasets import load_annotations
from ragnb.errors import InputError

LI = {"id": 4, "email": "李@example.org"}
GERMAN = {"Richtig": "correct", "Falsch": "incorrect", "Weigert sich": "refuse"}


def choice(label):
    return {"type": "choices", "from_name": "verdict", "value": {"choices": [label]}}


def annotation(who, *results, **more):
    comment = {"type": "textarea", "from_name": "why", "value": {"text": ["=cmd() לא"]}}
    whole = {"completed_by": who, "result": [*results, comment], "was_cancelled": False}
    return whole | {"created_at": "2026-03-09T22:16:08Z", "lead_time": 4.25} | more


def task(item, *annotations, drafts=(), **data):
    """A task of Label Studio."""
    said = {"annotations": list(annotations), "drafts": list(drafts), "predictions": []}
    return {"id": 700, "data": {"example_id": item, "text": "東京"} | data} | said


def shared(**keys):
    """A record of Label Studio's JSON-MIN."""
    return {"created_at": "a", "updated_at": "b", "annotation_id": 5, "annotator": 3} | keys


def argilla(item, *responses):
    metadata = {"metadata": {"example_id": item}, "suggestions": {"verdict": {"value": "refuse"}}}
    return {"id": "uuid", "fields": {}, "responses": {"verdict": [*responses]}} | metadata


EXPORTS = {
    "Label Studio": (
        [
            task("zh/1", annotation(3, choice("Richtig")), annotation(LI, choice("Falsch"))),
            task("ar/2", annotation(3, choice("Weigert sich"))),
            task("he/3", annotation(3, was_cancelled=True)),
            task("hi/4", drafts=[{"id": 1, "result": [choice("Richtig")]}]),
            task("th/5", annotation(3, choice("Falsch"), was_cancelled=True)),
            task("ja/6"),
        ],
        {("zh/1", "3"): "correct", ("zh/1", "李@example.org"): "incorrect", ("ar/2", "3"): "refuse"},
        {"skipped": 2, "drafts": 1, "unlabelled": 1},
        ["=cmd() לא"] * 3,
    ),
    "JSON-MIN": (
        [
            shared(example_id="zh/1", verdict="correct", lead_time=2.5, note="好"),
            shared(example_id="ar/2", verdict="refuse", lead_time=None),
            shared(example_id="ar/2", annotator=4),
        ],
        {("zh/1", "3"): "correct", ("ar/2", "3"): "refuse"},
        {"unlabelled": 1},
        ["好", ""],
    ),
    "Argilla": (
        [
            argilla("zh/1", {"value": "correct", "user_id": "u"}, {"value": "refuse", "user_id": "v"}),
            argilla("ar/2", {"value": "incorrect", "user_id": "u", "status": "discarded"}),
            argilla("he/3", {"value": "incorrect", "user_id": "u", "status": "submitted"}),
            argilla("hi/4"),
        ],
        {("zh/1", "u"): "correct", ("zh/1", "v"): "refuse", ("he/3", "u"): "incorrect"},
        {"discarded": 1, "unlabelled": 1},
        [""] * 3,
    ),
    "doccano": (
        [
            {"id": 1, "example_id": "zh/1", "label": ["correct"], "Comments": ["一", "二"]},
            {"id": 2, "meta": {"example_id": "ar/2"}, "labels": ["refuse"], "Comments": []},
            {"id": 3, "label": [], "Comments": []},
            {"id": 4, "label": "incorrect"},
        ],
        {("zh/1", "สมชาย"): "correct", ("ar/2", "สมชาย"): "refuse", ("4", "สมชาย"): "incorrect"},
        {"unlabelled": 1},
        ["一\n二", "", ""],
    ),
}  # fmt: skip


def write(folder, records, name="สมชาย.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), "utf-8")
    return path


@pytest.mark.parametrize("tool", EXPORTS)
def test_an_export_gives_one_row_per_item_and_annotator(tool, tmp_path):
    records, verdicts, left_out, notes = EXPORTS[tool]
    words = GERMAN if tool == "Label Studio" else None
    frame = load_annotations(write(tmp_path, records), verdicts=words)
    rows = frame.to_dict("records")
    assert {(row["item"], row["annotator"]): row["verdict"] for row in rows} == verdicts
    assert frame.attrs["left_out"] == left_out
    assert frame["note"].tolist() == notes
    seconds = {"Label Studio": [4.25] * 3, "JSON-MIN": [2.5, 0]}.get(tool, [0] * 3)
    assert frame["seconds"].fillna(0).tolist() == seconds
    for name, value in (("task", "verdict"), ("status", "labelled"), ("source", "human")):
        assert set(frame[name]) == {value}


def test_an_id_of_two_keys(tmp_path):
    both = (("correct", "a"), ("refuse", "b"))
    records = [task("zh/1", annotation(1, choice(label)), system=system) for label, system in both]
    path = write(tmp_path, records)
    with pytest.raises(
        InputError, match="one row for each item and annotator, got 1 repeated, such as zh/1 / 1; "
    ):
        load_annotations(path)
    frame = load_annotations(path, id=["example_id", "system"])
    items = [["zh/1 | a", "zh/1", "a"], ["zh/1 | b", "zh/1", "b"]]
    assert frame[["item", "example_id", "system"]].values.tolist() == items
    responses = pd.DataFrame({"example_id": "zh/1", "system": ["b", "a"], "response": "x"})
    assert join_labels(responses, frame)["verdict"].tolist() == ["refuse", "correct"]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"text": "?"}, "export of Label Studio, Argilla or doccano with at least one verdict"),
        ({"label": ["correct"]}, "must have the key example_id, but has no example_id"),
        ({"label": ["correct", "refuse"]}, "a.jsonl line 1: an answer must have one verdict"),
        (
            {"id": 1, "label": "richtig"},
            "got 'richtig'; say what they mean with verdicts=\\{'richtig': \"correct\"\\}",
        ),
    ],
)
def test_files_that_are_no_export_are_refused(tmp_path, record, message):
    with pytest.raises(InputError, match=message):
        load_annotations(write(tmp_path, [record], "a.jsonl"))
