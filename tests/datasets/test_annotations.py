"""Verdicts out of exports of other annotation tools, in the shapes that those tools write."""

import json
import shutil

import pandas as pd
import pytest

from ragnb.annotation import agreement, join_labels, recorded_passes
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
        (
            {"text": "?"},
            "export of Label Studio, Argilla, doccano or Prodigy with at least one verdict",
        ),
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


# ---- Prodigy, tables of Label Studio, flattened records of Argilla ---------------------------------


def prodigy(number, answer, **keys):
    shared = {
        "example_id": f"q{number}",
        "text": "Oslo",
        "_input_hash": number,
        "_task_hash": number,
    }
    return shared | {"answer": answer, "_annotator_id": "set-ann", "_timestamp": 1700000000} | keys


def verdicts_of(frame):
    return dict(zip(frame["item"], frame["verdict"], strict=True))


def test_a_rejected_label_of_prodigy_is_the_opposite_verdict(tmp_path):
    options = [{"id": "correct", "text": "right"}, {"id": "incorrect", "text": "wrong"}]
    records = [
        prodigy(1, "accept", label="correct"),
        prodigy(2, "reject", label="correct"),
        prodigy(3, "ignore", label="correct"),
        prodigy(4, "accept"),
        prodigy(5, "reject"),
        prodigy(6, "accept", options=options, accept=["incorrect"]),
        prodigy(7, "reject", options=options, accept=[]),
        prodigy(8, "accept", options=options, accept=["refuse"], user_input="says no"),
    ]
    frame = load_annotations(write(tmp_path, records))
    assert verdicts_of(frame) == {
        "q1": "correct",
        "q2": "incorrect",
        "q4": "correct",
        "q5": "incorrect",
        "q6": "incorrect",
        "q8": "refuse",
    }
    assert frame.attrs["left_out"] == {"skipped": 1, "unlabelled": 1}
    assert set(frame["annotator"]) == {"set-ann"}
    assert frame["note"].tolist()[-1] == "says no"
    assert frame["time"].tolist()[0].startswith("2023-11-14T22:13:20")


def test_another_rejected_label_of_prodigy_needs_a_meaning(tmp_path):
    path = write(tmp_path, [prodigy(1, "reject", label="refuse")])
    with pytest.raises(InputError, match="got 'not refuse'"):
        load_annotations(path)
    frame = load_annotations(path, verdicts={"not refuse": "correct"})
    assert verdicts_of(frame) == {"q1": "correct"}


def test_a_table_of_label_studio_has_its_verdicts(tmp_path):
    shared = {"text": "東京", "id": 700, "annotator": 3, "annotation_id": 5, "lead_time": 4.25}
    shared |= {"created_at": "2026-03-09", "updated_at": "2026-03-10"}
    table = pd.DataFrame(
        [
            shared | {"example_id": "zh/1", "verdict": "correct"},
            shared | {"example_id": "ar/2", "verdict": '{"choices": ["refuse"]}'},
            shared | {"example_id": "he/3", "verdict": None},
        ]
    )
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    for name in ("a.csv", "a.tsv"):
        frame = load_annotations(tmp_path / name)
        assert verdicts_of(frame) == {"zh/1": "correct", "ar/2": "refuse"}
        assert set(frame["annotator"]) == {"3"}
        assert frame["seconds"].tolist() == [4.25, 4.25]
        assert frame.attrs["left_out"] == {"unlabelled": 1}


FLAT = [
    {"id": "u1", "example_id": "zh/1", "verdict.responses": ["correct", "refuse"]}
    | {"verdict.responses.users": ["u", "v"], "verdict.responses.status": ["submitted", "draft"]},
    {"id": "u2", "example_id": "ar/2", "verdict.responses": ["incorrect"]}
    | {"verdict.responses.users": ["u"], "verdict.responses.status": ["submitted"]},
    {"id": "u3", "example_id": "he/3", "verdict.responses": None}
    | {"verdict.responses.users": None, "verdict.responses.status": None},
]
ARGILLA = {
    "flattened": FLAT,
    "flattened, by name": {name: [record[name] for record in FLAT] for name in FLAT[0]},
    "flattened, by id": {record["id"]: record for record in FLAT},
    "version 1": [
        {"example_id": "zh/1", "verdict": [{"value": "correct", "user_id": "u", "status": "submitted"},
                                           {"value": "refuse", "user_id": "v", "status": "draft"}]},
        {"example_id": "ar/2", "verdict": {"value": ["incorrect"], "user_id": ["u"], "status": ["submitted"]}},
        {"example_id": "he/3", "verdict": []},
    ],
}  # fmt: skip


@pytest.mark.parametrize("layout", ARGILLA)
def test_flattened_records_of_argilla_have_their_verdicts(tmp_path, layout):
    path = tmp_path / "records.json"
    path.write_text(json.dumps(ARGILLA[layout]), "utf-8")
    frame = load_annotations(path)
    assert verdicts_of(frame) == {"zh/1": "correct", "ar/2": "incorrect"}
    assert set(frame["annotator"]) == {"u"}
    assert frame.attrs["left_out"] == {"drafts": 1, "unlabelled": 1}


# ---- several logs ----------------------------------------------------------------------------------


def test_labels_of_several_logs_are_joined(tmp_path):
    first = load_annotations(write(tmp_path, [prodigy(1, "accept")], "a.jsonl"))
    second = load_annotations(
        write(tmp_path, [prodigy(2, "reject", _annotator_id="bob")], "b.jsonl")
    )
    responses = pd.DataFrame({"example_id": ["q1", "q2", "q3"], "response": "x"})
    joined = join_labels(responses, [first, second])
    assert joined["verdict"].tolist() == ["correct", "incorrect", None]
    assert joined["annotator"].tolist() == ["set-ann", "bob", None]
    assert join_labels(responses, [first, first])["verdict"].tolist() == ["correct", None, None]
    other = load_annotations(
        write(tmp_path, [prodigy(1, "reject", _annotator_id="bob")], "c.jsonl")
    )
    with pytest.raises(
        InputError, match=r"'q1' has different labels in 2 logs \(annotators: set-ann, bob"
    ):
        join_labels(responses, [first, other])


def test_a_pattern_names_the_logs_of_all_annotators(tmp_path):
    first, second = recorded_passes("verdict")
    for name, path in (("ann", first), ("bob", second)):
        shutil.copy(path, tmp_path / f"{name}.verdict.jsonl")
    together = agreement(tmp_path / "*.verdict.jsonl")
    pd.testing.assert_frame_equal(together, agreement([first, second]))
    with pytest.raises(InputError, match="no file matches the pattern"):
        agreement(tmp_path / "*.none.jsonl")
