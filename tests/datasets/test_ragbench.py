import csv
import json

import numpy as np
import pandas as pd
import pytest

from ragnb.columns import RAGBENCH_RESPONSE
from ragnb.datasets import load_ragbench
from ragnb.datasets.ragbench import FIELDS
from ragnb.errors import InputError

DROP = object()


def support(key, supporting, supported, explanation=""):
    label = {"response_sentence_key": key, "supporting_sentence_keys": supporting}
    return label | {"fully_supported": supported, "explanation": explanation}


def record(number=1, **changes):
    lamp = [["0a", "Ada keeps it."], ["0b", "It's old."]]
    made = {
        "id": f"q{number}",
        "question": f"Who keeps lamp {number}?",
        "documents": ["Ada keeps it. It's old.", 'The "Quay" lamp, [sic].'],
        "response": "Ada keeps it. She is tall.",
        "generation_model_name": "model-1",
        "annotating_model_name": "judge",
        "dataset_name": "covidqa_test",
        "documents_sentences": [lamp, [["1a", 'The "Quay" lamp, [sic].']]],
        "response_sentences": [["a", "Ada keeps it."], ["b", "She is tall."]],
        "sentence_support_information": [
            support("a", ["0a"], True, "It's there."), support("b", [], None)
        ],
        "unsupported_response_sentence_keys": ["b"],
        "adherence_score": False,
        "relevance_score": 1 / 3,
        "gpt3_adherence": None,
        "all_relevant_sentence_keys": ["0a"],
        "all_utilized_sentence_keys": ["0a"],
    }  # fmt: skip
    return {key: value for key, value in (made | changes).items() if value is not DROP}


def as_json_lines(records, path):
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), "utf-8")
    return path


def as_parquet(records, path):
    pd.DataFrame(records).to_parquet(path)
    return path


def as_csv(records, path, write=json.dumps):
    cells = [{k: write(v) if isinstance(v, list) else v for k, v in one.items()} for one in records]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(key for one in records for key in one)))
        writer.writeheader()
        writer.writerows(cells)
    return path


FORMATS = {
    "json lines": (as_json_lines, "mini.jsonl"),
    "parquet": (as_parquet, "mini.parquet"),
    "csv of JSON": (as_csv, "mini.csv"),
    "csv of Python literals": (lambda records, path: as_csv(records, path, write=repr), "mini.csv"),
}


@pytest.fixture
def load(tmp_path):
    def write_and_load(records, kind="json lines", **options):
        write, name = FORMATS[kind]
        return load_ragbench(write(records, tmp_path / name), **options)

    return write_and_load


# ---- formats -----------------------------------------------------------------------------------------------------------


def test_the_columns_are_ours_then_the_benchmarks_then_any_further_ones(load):
    frame = load([record(extra="kept")])
    further = [name for name in FIELDS if name not in RAGBENCH_RESPONSE]
    assert list(frame.columns) == [*RAGBENCH_RESPONSE, *further, "extra"]
    row = frame.iloc[0]
    names = ["extra", "example_id", "benchmark", "task", "split", "language", "system"]
    values = ["kept", "covidqa_test/q1", "ragbench", "covidqa", "test", "en", "model-1"]
    assert row[names].tolist() == values
    assert row["passages"] == row["documents"] == record()["documents"]
    assert row["relevance_score"] == 1 / 3
    assert row["overall_supported"] is None


@pytest.mark.data
@pytest.mark.parametrize("kind", FORMATS)
def test_the_published_records_load_whole_in_every_format(kind, data_folder, load):
    path = data_folder / "ragbench" / "ragbench_test_5x10.jsonl"
    raw = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    frame = load(raw, kind)
    assert len(frame) == 50
    assert frame["task"].value_counts().to_dict() == dict.fromkeys(
        "covidqa cuad delucionqa finqa hotpotqa".split(), 10
    )
    assert len(raw[0]) == 26
    for name in raw[0]:
        ours = [None if value != value else value for value in frame[name].tolist()]
        assert ours == [one[name] for one in raw], name


def test_an_empty_cell_of_a_table_of_texts_is_an_empty_text(tmp_path):
    frame = pd.DataFrame([record(response="", response_sentences=[])])
    lists = [name for name in frame if isinstance(frame[name][0], list)]
    frame[lists] = frame[lists].map(json.dumps)
    for name, separator in (("mini.csv", ","), ("mini.tsv", "\t")):
        frame.to_csv(tmp_path / name, index=False, sep=separator)
        assert load_ragbench(tmp_path / name)["response"].tolist() == [""], name


def test_a_folder_that_save_to_disk_wrote_loads_without_a_checksum(tmp_path):
    import pyarrow as pa

    table = pa.Table.from_pylist([record(1), record(2)])
    with (
        pa.OSFile(str(tmp_path / "data.arrow"), "wb") as file,
        pa.ipc.new_stream(file, table.schema) as writer,
    ):
        writer.write_table(table)
    state = {"_data_files": [{"filename": "data.arrow"}]}
    (tmp_path / "state.json").write_text(json.dumps(state), "utf-8")
    frame = load_ragbench(tmp_path)
    assert frame["response"].tolist() == [record()["response"]] * 2
    assert not frame.attrs["source"]["verified"]
    assert "git_sha1" not in frame.attrs["source"]


# ---- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sentence_support_information": [{"fully_supported": True}]},
         r"sentence_support_information\[0\]: must have the key response_sentence_key, got"),
        ({"adherence_score": 0.667}, "adherence_score: must be true or false, got 0.667"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_with_file_line_and_key(changes, words, load):
    with pytest.raises(InputError, match=rf"^mini\.jsonl line 2, key {words}"):
        load([record(1), record(2, **changes)])


def test_arrays_printed_by_pandas_are_refused(tmp_path):
    frame = pd.DataFrame([record()])
    frame["all_relevant_sentence_keys"] = [np.array(["0a", "0b"])]
    frame.to_csv(tmp_path / "arrays.csv", index=False)
    with pytest.raises(InputError, match="commas between its items.*convert arrays to lists"):
        load_ragbench(tmp_path / "arrays.csv")
