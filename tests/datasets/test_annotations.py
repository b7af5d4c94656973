"""Verdicts out of exports of other annotation tools, in the shapes that those tools write."""

import json

import numpy as np
import pandas as pd
import pytest

from ragnb.annotation.labels import join_labels
from ragnb.datasets import load_annotations
from ragnb.errors import InputError

TEXTS = {
    "zh/1": "东京塔有多高？",
    "ar/2": "\u202eما العاصمة؟\u202c",
    "he/3": "מַה הַבִּירָה?",
    "hi/4": "राजधानी क्या है? 👩‍🔬",
    "th/5": '=HYPERLINK("เมือง")',
    "ja/6": "<b>か\u3099</b>",
}
NAMES = list(TEXTS)


def write(folder, content, name="export.json"):
    path = folder / name
    lines = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(lines, "utf-8")
    return path


def json_lines(records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def said(frame):
    """Item and annotator to verdict."""
    return {(row["item"], row["annotator"]): row["verdict"] for row in frame.to_dict("records")}


# ---- Label Studio ------------------------------------------------------------------------------------------------------


def choice(label):
    return {"type": "choices", "from_name": "verdict", "value": {"choices": [label]}}


def comment(text):
    return {"type": "textarea", "from_name": "why", "value": {"text": [text]}}


def annotation(who, *results, **more):
    times = {"created_at": "2026-03-09T22:16:08.728353Z", "updated_at": "2026-03-09T22:17:08.7Z"}
    whole = {"id": 1001, "completed_by": who, "result": list(results), "was_cancelled": False}
    return whole | times | {"ground_truth": False, "lead_time": 4.25} | more


def task(number, *annotations, drafts=(), **data):
    given = {"example_id": NAMES[number], "text": TEXTS[NAMES[number]], **data}
    said = {"annotations": list(annotations), "drafts": list(drafts), "predictions": []}
    return {"id": 700 + number, "data": given} | said


LI = {"id": 4, "email": "李@example.org"}
STUDIO = [
    task(0, annotation(3, choice("Richtig")), annotation(LI, choice("Falsch"))),
    task(1, annotation(3, choice("Weigert sich"), comment("=cmd() לא"))),
    task(2, annotation(3, was_cancelled=True)),
    task(3, drafts=[{"id": 1, "user": "ana@example.org", "result": [choice("Richtig")]}]),
    task(4, annotation(3, choice("Falsch"), was_cancelled=True), annotation(3, choice("Richtig"))),
    task(5),
]
GERMAN = {"Richtig": "correct", "Falsch": "incorrect", "Weigert sich": "refuse"}


def test_label_studio(tmp_path):
    frame = load_annotations(write(tmp_path, STUDIO), verdicts=GERMAN)
    three = {("zh/1", "3"): "correct", ("ar/2", "3"): "refuse", ("th/5", "3"): "correct"}
    assert said(frame) == three | {("zh/1", "李@example.org"): "incorrect"}
    assert frame.attrs["left_out"] == {"skipped": 2, "drafts": 1, "unlabelled": 1}
    row = frame[frame["item"] == "ar/2"].iloc[0]
    names = ["note", "seconds", "time", "task", "status", "source", "flag", "example_id"]
    noted = ["=cmd() לא", 4.25, "2026-03-09T22:17:08.7Z"]
    assert row[names].tolist() == [*noted, "verdict", "labelled", "human", False, "ar/2"]


def test_label_studio_min(tmp_path):
    shared = {"created_at": "a", "updated_at": "b", "annotation_id": 5, "annotator": 3}
    first = {"id": 1, "example_id": "zh/1", "verdict": "correct", "lead_time": 2.5, "note": "好"}
    second = {"id": 2, "example_id": "ar/2", "verdict": "refuse", "lead_time": None}
    third = {"id": 2, "example_id": "ar/2", "lead_time": 1}
    records = [shared | first, shared | second, shared | third | {"annotator": 4}]
    frame = load_annotations(write(tmp_path, records))
    assert said(frame) == {("zh/1", "3"): "correct", ("ar/2", "3"): "refuse"}
    assert frame["note"].tolist() == ["好", ""]
    assert np.isnan(frame["seconds"][1])
    assert frame.attrs["left_out"] == {"unlabelled": 1}


# ---- Argilla ----------------------------------------------------------------------------------


def argilla_2(number, *verdicts):
    """A record of version 2: answers by question."""
    guess = {"verdict": {"value": "refuse", "score": None, "agent": "m"}}
    return {
        "id": f"uuid-{number}",
        "fields": {"text": TEXTS[NAMES[number]]},
        "metadata": {"example_id": NAMES[number]},
        "suggestions": guess,
        "responses": {"verdict": list(verdicts)} if verdicts else {},
    }


def test_argilla_2(tmp_path):
    wrong = {"value": "incorrect", "user_id": "u-1"}
    right, refused = (
        {"value": v, "user_id": u} for v, u in (("correct", "u-1"), ("refuse", "u-2"))
    )
    records = [
        argilla_2(0, right, refused),
        argilla_2(1, wrong | {"status": "discarded"}),
        argilla_2(2, wrong | {"status": "submitted"}),
        argilla_2(3),
    ]
    frame = load_annotations(write(tmp_path, records))
    two = {("zh/1", "u-1"): "correct", ("zh/1", "u-2"): "refuse"}
    assert said(frame) == two | {("he/3", "u-1"): "incorrect"}
    assert frame.attrs["left_out"] == {"discarded": 1, "unlabelled": 1}


# ---- doccano -----------------------------------------------------------------------------------------------------------


def test_doccano_has_one_annotator_a_file(tmp_path):
    records = [
        {"id": 1, "example_id": "zh/1", "label": ["correct"], "Comments": ["一", "二"]},
        {"id": 2, "meta": {"example_id": "ar/2"}, "labels": ["refuse"], "Comments": []},
        {"id": 3, "label": [], "Comments": []},
        {"id": 4, "label": "incorrect"},
    ]
    records = [{"text": "?"} | record for record in records]
    frame = load_annotations(write(tmp_path, json_lines(records), "สมชาย.jsonl"))
    verdicts = {"zh/1": "correct", "ar/2": "refuse", "4": "incorrect"}
    assert said(frame) == {(item, "สมชาย"): verdict for item, verdict in verdicts.items()}
    assert frame["note"].tolist() == ["一\n二", "", ""]
    assert frame.attrs["left_out"] == {"unlabelled": 1}
    assert set(load_annotations(tmp_path / "สมชาย.jsonl", annotator="ana")["annotator"]) == {"ana"}


def test_doccano_of_several_annotators_in_one_list_is_refused(tmp_path):
    records = [{"id": n, "text": "?", "label": ["correct", "refuse"][: n + 1]} for n in range(2)]
    with pytest.raises(InputError, match="export.jsonl line 2: an answer must have one verdict"):
        load_annotations(write(tmp_path, json_lines(records), "export.jsonl"))


# ---- what becomes of them ----------------------------------------------------------------------------------------------


def test_an_id_of_two_keys(tmp_path):
    both = (("correct", "a"), ("refuse", "b"))
    records = [task(0, annotation(1, choice(label)), system=system) for label, system in both]
    path = write(tmp_path, records)
    with pytest.raises(InputError, match="1 repeated answers, such as that of '1' to 'zh/1'"):
        load_annotations(path)
    frame = load_annotations(path, id=["example_id", "system"])
    items = [["zh/1 | a", "zh/1", "a"], ["zh/1 | b", "zh/1", "b"]]
    assert frame[["item", "example_id", "system"]].values.tolist() == items
    responses = pd.DataFrame({"example_id": "zh/1", "system": ["b", "a"], "response": "x"})
    assert join_labels(responses, frame)["verdict"].tolist() == ["refuse", "correct"]
    with pytest.raises(InputError, match="but has no model"):
        load_annotations(path, id=["example_id", "model"])


# ---- what is refused ---------------------------------------------------------------------------------------------------


def test_words_that_nobody_explained_are_listed(tmp_path):
    words = ["richtig", "correct", "错", "richtig"]
    records = [{"id": n, "label": [word]} for n, word in enumerate(words)]
    path = write(tmp_path, json_lines(records))
    listed = "got 'richtig', '错'; say what they mean with verdicts=\\{'richtig': \"correct\"\\}"
    with pytest.raises(InputError, match=listed):
        load_annotations(path)
    assert len(load_annotations(path, verdicts={"richtig": "correct", "错": "incorrect"})) == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"text": "?"}]', "export of Label Studio, Argilla or doccano with at least one verdict"),
        ('{"label": ["correct"]}', "must have the key example_id, but has no example_id"),
    ],
)
def test_files_that_are_no_export_are_refused(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        load_annotations(write(tmp_path, content))
