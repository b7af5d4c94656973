"""Verdicts out of exports of other annotation tools, in the shapes that those tools write."""

import json

import numpy as np
import pandas as pd
import pytest

from ragnb.annotation.labels import join_labels
from ragnb.datasets import load_annotations
from ragnb.errors import InputError
from ragnb.scoring import score

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


def choice(label, control="verdict", kind="choices"):
    labels = label if isinstance(label, list) else [label]
    return {
        "id": "Dx_aB9",
        "type": kind,
        "from_name": control,
        "to_name": "text",
        "origin": "manual",
        "value": {kind: labels},
    }


def comment(text):
    return {
        "id": "n0",
        "type": "textarea",
        "from_name": "why",
        "to_name": "text",
        "value": {"text": [text]},
    }


def annotation(who, *results, **more):
    return {
        "id": 1001, "completed_by": who, "result": list(results), "was_cancelled": False, "ground_truth": False,
        "created_at": "2026-03-09T22:16:08.728353Z", "updated_at": "2026-03-09T22:17:08.7Z", "lead_time": 4.25, **more,
    }  # fmt: skip


def task(number, *annotations, drafts=(), **data):
    given = {"example_id": NAMES[number], "text": TEXTS[NAMES[number]], **data}
    return {
        "id": 700 + number,
        "data": given,
        "annotations": list(annotations),
        "drafts": list(drafts),
        "predictions": [],
    }


STUDIO = [
    task(
        0,
        annotation(3, choice("Richtig")),
        annotation({"id": 4, "email": "李@example.org"}, choice("Falsch")),
    ),
    task(1, annotation(3, choice("Weigert sich"), comment("=cmd() לא"))),
    task(2, annotation(3, was_cancelled=True)),
    task(3, drafts=[{"id": 1, "user": "ana@example.org", "result": [choice("Richtig")]}]),
    task(4, annotation(3, choice("Falsch"), was_cancelled=True), annotation(3, choice("Richtig"))),
    task(5),
]
GERMAN = {"Richtig": "correct", "Falsch": "incorrect", "Weigert sich": "refuse"}


def test_label_studio(tmp_path):
    frame = load_annotations(write(tmp_path, STUDIO), verdicts=GERMAN)
    assert said(frame) == {
        ("zh/1", "3"): "correct", ("zh/1", "李@example.org"): "incorrect", ("ar/2", "3"): "refuse", ("th/5", "3"): "correct"
    }  # fmt: skip
    assert frame.attrs["left_out"] == {"skipped": 2, "drafts": 1, "unlabelled": 1}
    row = frame[frame["item"] == "ar/2"].iloc[0]
    assert row["note"] == "=cmd() לא"
    assert row["seconds"] == 4.25
    assert row["time"] == "2026-03-09T22:17:08.7Z"
    assert row[["task", "status", "source", "flag", "example_id"]].tolist() == [
        "verdict",
        "labelled",
        "human",
        False,
        "ar/2",
    ]


def test_label_studio_min(tmp_path):
    shared = {"created_at": "a", "updated_at": "b", "annotation_id": 5}
    records = [
        {
            "id": 1,
            "example_id": "zh/1",
            "verdict": "correct",
            "annotator": 3,
            "lead_time": 2.5,
            "note": "好",
            **shared,
        },
        {
            "id": 2,
            "example_id": "ar/2",
            "verdict": "refuse",
            "annotator": 3,
            "lead_time": None,
            **shared,
        },
        {"id": 2, "example_id": "ar/2", "annotator": 4, "lead_time": 1, **shared},
    ]
    frame = load_annotations(write(tmp_path, records))
    assert said(frame) == {("zh/1", "3"): "correct", ("ar/2", "3"): "refuse"}
    assert frame["note"].tolist() == ["好", ""]
    assert np.isnan(frame["seconds"][1])
    assert frame.attrs["left_out"] == {"unlabelled": 1}


# ---- Argilla -----------------------------------------------------------------------------------------------------------


def argilla_1(number, *responses):
    """A record of version 1: a list of responses, each with the answers of one user."""
    return {
        "external_id": NAMES[number],
        "fields": {"text": TEXTS[NAMES[number]]},
        "responses": list(responses),
    }


def answer(user, value, status="submitted", **more):
    values = (
        {}
        if value is None
        else {"verdict": {"value": value}, **{key: {"value": text} for key, text in more.items()}}
    )
    return {"user_id": user, "status": status, "values": values}


def test_argilla_1(tmp_path):
    records = [
        argilla_1(0, answer("u-1", "correct", note="確か"), answer("u-2", "incorrect")),
        argilla_1(1, answer("u-1", "refuse", "draft"), answer("u-2", None, "discarded")),
        argilla_1(2, answer(None, "refuse")),
        argilla_1(3),
    ]
    frame = load_annotations(write(tmp_path, json_lines(records), "ルイ.jsonl"))
    assert said(frame) == {
        ("zh/1", "u-1"): "correct",
        ("zh/1", "u-2"): "incorrect",
        ("he/3", "ルイ"): "refuse",
    }
    assert frame.attrs["left_out"] == {"drafts": 1, "discarded": 1, "unlabelled": 1}
    assert frame.attrs["without_status"] == 0
    assert frame["note"].tolist() == ["確か", "", ""]


def argilla_2(number, **responses):
    """A record of version 2: answers by question."""
    return {
        "id": f"uuid-{number}", "fields": {"text": TEXTS[NAMES[number]]}, "metadata": {"example_id": NAMES[number]},
        "suggestions": {"verdict": {"value": "refuse", "score": None, "agent": "m"}}, "responses": responses,
        "vectors": {}, "_server_id": "s",
    }  # fmt: skip


def test_argilla_2(tmp_path):
    records = [
        argilla_2(
            0,
            verdict=[{"value": "correct", "user_id": "u-1"}, {"value": "refuse", "user_id": "u-2"}],
        ),
        argilla_2(1, verdict=[{"value": "incorrect", "user_id": "u-1", "status": "discarded"}]),
        argilla_2(2, verdict=[{"value": "incorrect", "user_id": "u-1", "status": "submitted"}]),
        argilla_2(3),
    ]
    frame = load_annotations(write(tmp_path, records))
    assert said(frame) == {
        ("zh/1", "u-1"): "correct",
        ("zh/1", "u-2"): "refuse",
        ("he/3", "u-1"): "incorrect",
    }
    assert frame.attrs["left_out"] == {"discarded": 1, "unlabelled": 1}
    assert frame.attrs["without_status"] == 2


def test_argilla_flat(tmp_path):
    records = [
        {"id": "1", "example_id": "zh/1", "verdict.responses": ["correct", "refuse"], "verdict.responses.users": ["u", "v"],
         "verdict.responses.status": ["submitted", "draft"], "verdict.suggestion": "refuse"},
        {"id": "2", "example_id": "ar/2", "verdict.responses": None, "verdict.responses.users": None},
    ]  # fmt: skip
    frame = load_annotations(write(tmp_path, records))
    assert said(frame) == {("zh/1", "u"): "correct"}
    assert frame.attrs["left_out"] == {"drafts": 1, "unlabelled": 1}


# ---- doccano -----------------------------------------------------------------------------------------------------------


def test_doccano_has_one_annotator_a_file(tmp_path):
    records = [
        {
            "id": 1,
            "text": TEXTS["zh/1"],
            "example_id": "zh/1",
            "label": ["correct"],
            "Comments": ["一", "二"],
        },
        {
            "id": 2,
            "text": TEXTS["ar/2"],
            "meta": {"example_id": "ar/2"},
            "labels": ["refuse"],
            "Comments": [],
        },
        {"id": 3, "text": TEXTS["he/3"], "label": [], "Comments": []},
        {"id": 4, "text": TEXTS["hi/4"], "label": "incorrect"},
    ]
    frame = load_annotations(write(tmp_path, json_lines(records), "สมชาย.jsonl"))
    assert said(frame) == {
        ("zh/1", "สมชาย"): "correct",
        ("ar/2", "สมชาย"): "refuse",
        ("4", "สมชาย"): "incorrect",
    }
    assert frame["note"].tolist() == ["一\n二", "", ""]
    assert frame.attrs["left_out"] == {"unlabelled": 1}
    assert set(load_annotations(tmp_path / "สมชาย.jsonl", annotator="ana")["annotator"]) == {"ana"}


def test_doccano_of_old_names_its_users(tmp_path):
    record = {
        "id": 1,
        "text": "?",
        "annotations": [{"label": 1, "user": 7}, {"label": 2, "user": 8}],
        "meta": {},
    }
    path = write(tmp_path, json_lines([record]))
    with pytest.raises(InputError, match="got 1, 2; say what they mean"):
        load_annotations(path)
    with pytest.raises(InputError, match="among correct, incorrect, refuse, 1, got 2"):
        load_annotations(path, verdicts={1: "correct"})
    frame = load_annotations(path, verdicts={1: "correct", 2: "incorrect"})
    assert said(frame) == {("1", "7"): "correct", ("1", "8"): "incorrect"}


def test_doccano_of_several_annotators_in_one_list_is_refused(tmp_path):
    records = [{"id": n, "text": "?", "label": ["correct", "refuse"][: n + 1]} for n in range(2)]
    with pytest.raises(InputError, match="export.jsonl line 2: an answer must have one verdict"):
        load_annotations(write(tmp_path, json_lines(records), "export.jsonl"))


# ---- what becomes of them ----------------------------------------------------------------------------------------------


def test_verdicts_are_joined_with_responses_and_scored(tmp_path):
    frame = load_annotations(write(tmp_path, STUDIO), verdicts=GERMAN)
    responses = pd.DataFrame({"example_id": NAMES, "response": list(TEXTS.values())})
    joined = join_labels(responses, frame[frame["annotator"] == "3"])
    assert score(joined, "annotator.verdict")["value"].fillna(-1).tolist() == [1, 0, -1, -1, 1, -1]
    assert joined["label_note"][1] == "=cmd() לא"


def test_an_id_of_two_keys(tmp_path):
    records = [
        task(0, annotation(1, choice(label)), system=system)
        for label, system in (("correct", "a"), ("refuse", "b"))
    ]
    path = write(tmp_path, records)
    with pytest.raises(InputError, match="1 that are doubled, such as that of '1' to 'zh/1'"):
        load_annotations(path)
    frame = load_annotations(path, id=["example_id", "system"])
    assert frame[["item", "example_id", "system"]].values.tolist() == [
        ["zh/1 | a", "zh/1", "a"],
        ["zh/1 | b", "zh/1", "b"],
    ]
    responses = pd.DataFrame({"example_id": "zh/1", "system": ["b", "a"], "response": "x"})
    assert join_labels(responses, frame)["verdict"].tolist() == ["refuse", "correct"]
    with pytest.raises(InputError, match="got none named model"):
        load_annotations(path, id=["example_id", "model"])


# ---- what is refused ---------------------------------------------------------------------------------------------------


def test_words_that_nobody_explained_are_listed(tmp_path):
    records = [
        {"id": n, "label": [word]} for n, word in enumerate(["richtig", "correct", "错", "richtig"])
    ]
    path = write(tmp_path, json_lines(records))
    with pytest.raises(
        InputError,
        match="got 'richtig', '错'; say what they mean with verdicts=\\{'richtig': \"correct\"\\}",
    ):
        load_annotations(path)
    with pytest.raises(InputError, match="verdicts=...\\) must be one of"):
        load_annotations(path, verdicts={"richtig": "right", "错": "incorrect"})
    assert len(load_annotations(path, verdicts={"richtig": "correct", "错": "incorrect"})) == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"text": "?"}]', "export of Label Studio, Argilla or doccano"),
        ('[{"id": 1, "label": []}]', "at least one verdict, got none"),
        ("", "is an empty file"),
        ('{"label": ["correct"]}', "must have the keys example_id, got none"),
    ],
)
def test_files_that_are_no_export_are_refused(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        load_annotations(write(tmp_path, content))
