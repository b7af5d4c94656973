"""The small twin of ``make fuzz``, and what the long run found."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz.__main__ import TARGETS, draw, run

from ragnb.annotation import agreement, read_labels, recorded_passes
from ragnb.datasets import (
    load_annotations,
    load_evouna,
    load_lbrag_metrics,
    load_responses,
    load_rgb,
    load_rgb_instructions,
    read_table,
)
from ragnb.errors import InputError


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.filterwarnings("error")
def test_what_others_wrote_is_read_or_refused(target):
    slow = target.endswith(".parquet")
    found = run(target, seed=0, numbers=range(20 if slow else 100))
    assert found.findings == []


def test_a_case_is_drawn_again_from_its_seed():
    assert (
        draw("loaders.rgb", 3, 5)[0] == draw("loaders.rgb", 3, 5)[0] != draw("loaders.rgb", 4, 5)[0]
    )


def written(folder, name, content):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_half_a_surrogate_pair_in_a_file_becomes_the_replacement_character(tmp_path):
    record = '{"id": 1, "query": "a\\ud800b", "answer": "c", "positive": ["\\udfff"], "negative": ["\\ud83d\\ude42"]}'
    row = load_rgb(written(tmp_path, "a.json", record)).iloc[0]
    assert (row["question"], row["positive"], row["negative"]) == ("a\ufffdb", [["\ufffd"]], ["🙂"])
    assert read_table(written(tmp_path, "a.jsonl", record))["query"].tolist() == ["a\ufffdb"]


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000])
@pytest.mark.parametrize(
    "load", [load_evouna, load_rgb, read_table, load_lbrag_metrics, load_annotations]
)
def test_brackets_without_end_are_refused(tmp_path, load, deep):
    with pytest.raises(InputError):
        load(written(tmp_path, "deep.jsonl", deep))


def test_integers_that_no_column_of_integers_can_hold_stay_what_they_are(tmp_path):
    path = written(
        tmp_path, "t.jsonl", f'{{"a": {2**70}, "b": {10**400}}}\n{{"a": null, "b": 0.5}}\n'
    )
    frame = read_table(path)
    assert frame["a"].tolist() == [2**70, None]
    assert frame["b"].tolist() == [10**400, 0.5]


def test_a_number_out_of_range_is_refused(tmp_path):
    with pytest.raises(InputError, match="system m key em needs a number"):
        load_lbrag_metrics(written(tmp_path, "metrics.json", {"metrics": {"m": {"em": 10**400}}}))


def test_a_question_of_evouna_is_a_text_and_so_is_an_answer(tmp_path):
    systems = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
    record = {"question": "?", "golden_answer": "a"} | {
        f"{kind}_{name}": None for kind in ("answer", "judge") for name in systems
    }
    for change in ({"question": ["?"]}, {"golden_answer": ["a"]}, {"answer_fid": {"text": "a"}}):
        with pytest.raises(InputError, match="NQ.json evouna/0 key"):
            load_evouna(written(tmp_path, "NQ.json", [record | change]))
    slash = load_evouna(written(tmp_path, "NQ.json", [record | {"golden_answer": "/"}]))
    assert slash["references"][0] == [["/"]]
    assert (
        load_evouna(written(tmp_path, "NQ.json", [record | {"golden_answer": None}]))["references"]
        .isna()
        .all()
    )


@pytest.mark.parametrize("said", ["a text", [None], ["a"], {"a": 1}])
def test_annotations_of_another_shape_are_no_annotations(tmp_path, said):
    records = [
        {"id": 1, "data": {}, "annotations": said},
        {"id": 2, "example_id": "a", "label": "correct"},
    ]
    with pytest.raises(InputError):
        load_annotations(written(tmp_path, "ana.json", records), source="label_studio")


@pytest.mark.parametrize(
    "change",
    [{"fingerprint": {}}, {"item": 3}, {"sentences": "a"}, {"sentences": {"response": "a"}}, {"sentences": {"response": [1]}}, {"set": "a"},
     {"set": [{"field": {}, "value": 1}]}, {"id": 7}, {"time": None}, {"item": None}, {"set": [{"field": "verdict", "value": "correct", "source": {}}]}],
)  # fmt: skip
def test_an_action_of_another_shape_is_refused_with_its_number(tmp_path, change):
    first, second = recorded_passes("verdict")
    lines = first.read_text("utf-8").splitlines()[:3]
    action = {**json.loads(lines[1]), **change}
    path = written(
        tmp_path, "ana.verdict.jsonl", "\n".join([lines[0], json.dumps(action), lines[2], ""])
    )
    with pytest.raises(InputError, match="n=1 "):
        agreement([path, second])


@pytest.mark.parametrize(
    "said",
    [{"field": "other", "value": "a"}, {"field": "overall", "sentence": "a", "value": True}, {"field": "support", "value": "full"},
     {"field": "relevant", "value": [{}]}, {"field": "relevant", "value": "0a"}, {"field": "overall", "value": [True]}],
)  # fmt: skip
def test_a_label_that_the_task_does_not_ask_for_is_refused(tmp_path, said):
    lines = recorded_passes("trace")[0].read_text("utf-8").splitlines()[:3]
    action = {**json.loads(lines[2]), "set": [said]}
    with pytest.raises(InputError):
        read_labels(
            written(tmp_path, "ana.trace.jsonl", "\n".join([*lines[:2], json.dumps(action), ""]))
        )


@pytest.mark.parametrize("columns", [7, {}, [None], [["example_id"]], True])
def test_the_id_of_a_log_is_the_name_of_a_column_or_a_list_of_names(tmp_path, columns):
    header, *lines = recorded_passes("verdict")[0].read_text("utf-8").splitlines()[:3]
    changed = json.dumps({**json.loads(header), "id": columns})
    path = written(tmp_path, "ana.verdict.jsonl", "\n".join([changed, *lines, ""]))
    with pytest.raises(InputError, match="the id of ana.verdict.jsonl needs"):
        read_labels(path)


@pytest.mark.parametrize("name", [["a"], {"a": 1}])
def test_the_control_of_an_annotation_may_have_any_name(tmp_path, name):
    record = {"data": {}, "annotations": [{"result": [{"from_name": name}]}]}
    with pytest.raises(InputError, match="needs a verdict in 'verdict'"):
        load_annotations(written(tmp_path, "ana.json", [record]))


def test_braces_of_an_instruction_are_no_fields(tmp_path):
    text = "en:\n  system: 'Say {this} or }'\n  instruction: 'Write {\"answer\": 1}. {DOCS} {QUERY} {0!r:>{x}}'\n"
    template = load_rgb_instructions(written(tmp_path, "instruction.yaml", text))["en"]
    system, user = template.messages({"passages": "p", "question": "q"})
    assert system["content"] == "Say {this} or }"
    assert user["content"] == 'Write {"answer": 1}. p q {0!r:>{x}}'


@pytest.mark.parametrize(
    "text",
    ["en: 2020-13-45", "en: !!timestamp 1", "? [a]\n: b", "{" * 5000, "no: !!int x", "&a [*a"],
)
def test_yaml_of_another_kind_is_refused(tmp_path, text):
    with pytest.raises(InputError):
        load_rgb_instructions(written(tmp_path, "instruction.yaml", text))


@pytest.mark.parametrize("notes", [b'{"index_columns": []}', b"{", b"\xff", b"[]"])
def test_parquet_with_damaged_notes_of_pandas_is_refused(tmp_path, notes):
    table = pa.table({"question": ["Oslo?"]}).replace_schema_metadata({b"pandas": notes})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match="needs to be a whole file of its kind"):
        read_table(tmp_path / "t.parquet")


def test_parquet_with_text_in_another_encoding_is_refused(tmp_path):
    pq.write_table(pa.table({"q": pa.array([b"\xff"]).view(pa.string())}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="needs to be a whole file of its kind"):
        read_table(tmp_path / "t.parquet")


def test_a_log_needs_the_name_of_a_file():
    for name in ("a\x00b", "\udfff"):
        with pytest.raises(InputError, match="an annotation log needs to be a file"):
            agreement([name, name])


def test_responses_need_a_path_or_a_frame():
    with pytest.raises(InputError, match="load_responses needs a path or a frame; got float"):
        load_responses(1.5)
