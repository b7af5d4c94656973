import csv
import gzip
import io
import json
import math

import numpy as np
import pandas as pd
import pytest

from ragnb.datasets import (
    build_contexts,
    load_responses,
    load_rgb,
    load_scores,
    read_table,
    write_table,
)
from ragnb.ensemble import eval_prediction
from ragnb.errors import InputError
from ragnb.scoring import score

ENDINGS = ("json", "json.gz", "jsonl", "jsonl.gz", "parquet")


def plain(frame):
    """Column names and values as Python's own, every missing value as None."""

    def value(x):
        x = x.item() if isinstance(x, np.generic) else x
        return None if x is None or x is pd.NA or (isinstance(x, float) and math.isnan(x)) else x

    return {name: [value(x) for x in frame[name]] for name in frame.columns}


@pytest.fixture
def responses(make, load):
    contexts = build_contexts(load(*map(make.base, range(4))), noise_rate=[0, 0.4], passage_num=3)
    texts = ["Ada Quill\n\nthat is", None, "l\u2028s \u0085 \r\n \t", "नमस्ते 👩‍🔬"]
    parameters = {"temperature": 0.0, "stop": ["\n"], "extra": {"seed": 3, "note": None}}
    return contexts.assign(
        system="tiny 模型 🤖",
        template="t:1:0a1b2c3d",
        response=texts * 2,
        reason=[None, "it timed out", None, None] * 2,
        completion_tokens=pd.array([3, None, 4, 5] * 2, dtype="Int64"),
        parameters=[parameters] * 8,
        messages=[[{"role": "user", "content": '"q" \\ \u202e'}]] * 8,
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_examples_contexts_responses_and_scores_survive_the_disk(
    make, load, responses, tmp_path, ending
):
    frames = {
        "examples": load(make.fact(1), make.fact(2, fakeanswer=["a", "b"])),
        "groups": load(make.integration(groups=(1, 3))),
        "closed": build_contexts(load(make.base()), passage_num=0),
        "responses": responses,
        "scores": score(responses, "rgb.accuracy", explain=True),
    }
    for name, frame in frames.items():
        again = read_table(write_table(frame, tmp_path / f"{name}.{ending}"))
        assert plain(again) == plain(frame), name


def test_the_same_frame_gives_the_same_bytes_on_any_day(responses, tmp_path, monkeypatch):
    first = write_table(responses, tmp_path / "a.jsonl.gz").read_bytes()
    monkeypatch.setattr("time.time", lambda: 1_000_000_000.0)
    assert first == write_table(responses, tmp_path / "b.jsonl.gz").read_bytes()
    assert gzip.decompress(first) == write_table(responses, tmp_path / "c.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("ending", "keep"),
    [
        ("json", -9),
        ("jsonl.gz", -9),
        ("parquet", -9),
    ],
)
def test_a_damaged_file_is_refused_with_its_name(responses, tmp_path, ending, keep):
    path = write_table(responses, tmp_path / f"t.{ending}")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"t\." + ending):
        read_table(path)


@pytest.mark.parametrize(
    ("ending", "value"),
    [
        ("parquet", {"stop": {}}),
        ("jsonl", {1, 2}),
        ("json", {1, 2}),
        ("json", math.inf),
        ("json", [{"score": -math.inf}]),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_the_earlier_file_alone(
    tmp_path, ending, value
):
    path = write_table(pd.DataFrame({"a": ["x"]}), tmp_path / f"keep.{ending}")
    before = path.read_bytes()
    bad = pd.DataFrame({"a": pd.Series([value, value], dtype=object)})
    said = (
        r"keep\.parquet cannot be written, because Parquet needs|row 1 .* values that JSON can hold"
    )
    with pytest.raises(InputError, match=said):
        write_table(bad, path)
    assert path.read_bytes() == before
    with pytest.raises(InputError):
        write_table(bad, tmp_path / f"new.{ending}")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv"])
def test_a_write_that_breaks_off_leaves_the_earlier_file_alone(tmp_path, monkeypatch, ending):
    path = write_table(pd.DataFrame({"a": ["x"]}), tmp_path / f"keep.{ending}")
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_table(pd.DataFrame({"a": ["y"]}), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# ---- JSON --------------------------------------------------------------------------------------------------------------


def test_a_json_file_is_a_list_with_one_object_per_row(tmp_path):
    frame = pd.DataFrame({"id": ["q1", "q2"], "value": [0.5, math.nan], "parts": [["ä"], None]})
    path = write_table(frame, tmp_path / "new folder" / "metrics_results.json")
    assert path.read_text("utf-8") == (
        '[\n{"id": "q1", "value": 0.5, "parts": ["ä"]},\n{"id": "q2", "value": null, "parts": null}\n]\n'
    )
    assert json.loads(path.read_text("utf-8"))[1] == {"id": "q2", "value": None, "parts": None}
    pd.testing.assert_frame_equal(pd.read_json(path)[["id", "value"]], frame[["id", "value"]])
    for n in (1, 0):
        few = write_table(frame.head(n), tmp_path / "few.json")
        assert (
            json.loads(few.read_text("utf-8")) == [{"id": "q1", "value": 0.5, "parts": ["ä"]}][:n]
        )
        assert len(read_table(few)) == n


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_missing_values_inside_lists_and_mappings_are_null(tmp_path, ending):
    value = {
        "scores": [np.float64(0.5), math.nan, pd.NA],
        "counts": np.array([[1, 2]]),
        "of": (None,),
    }
    frame = pd.DataFrame({"detail": [value, None]})
    again = read_table(write_table(frame, tmp_path / f"t.{ending}"))
    wanted = {"scores": [0.5, None, None], "counts": [[1, 2]], "of": [None]}
    assert again["detail"].tolist() == [wanted, None]


@pytest.mark.parametrize("ending", ENDINGS)
def test_evaluation_results_in_a_mapping_are_one_object_and_one_row(tmp_path, ending):
    results = eval_prediction([1, 1, 0, 0], [0, 0, 0, 0])  # precision is 0 of 0
    path = write_table(results, tmp_path / f"metrics_results.{ending}")
    row = plain(read_table(path))
    assert row == {
        "precision": [None],
        "recall": [0],
        "f1": [0],
        "accuracy": [0.5],
        "confusion_matrix": [[[2, 0], [2, 0]]],
    }
    if ending == "json":
        assert json.loads(path.read_text("utf-8")) == {name: cell for name, [cell] in row.items()}


def test_results_of_several_classifiers_in_a_mapping_keep_their_names(tmp_path):
    results = {
        name: eval_prediction([1, 0], labels) for name, labels in (("a", [1, 0]), ("b", [0, 0]))
    }
    path = write_table(results, tmp_path / "both.json")
    content = json.loads(path.read_text("utf-8"))
    assert content["a"]["accuracy"] == 1
    assert content["b"]["precision"] is None
    assert content["b"]["confusion_matrix"] == [[1, 0], [1, 0]]
    with pytest.raises(InputError, match=r"both\.json must have values that JSON can hold"):
        write_table({"model": object()}, path)
    with pytest.raises(InputError, match="write_table needs a pandas DataFrame, got a list"):
        write_table([results], path)
    assert json.loads(path.read_text("utf-8")) == content


@pytest.mark.parametrize("ending", ["json", "json.gz"])
def test_scores_and_responses_in_a_json_file_are_loaded_as_they_were(tmp_path, ending):
    rows = [
        {"example_id": name, "question": f"Who is {name}?", "language": "en", "system": system}
        | {"references": [["Ann", "Anne"]], "response": said, "passages": ["Ann is here."]}
        for name, system, said in (("q1", "a", "Anne"), ("q1", "b", "Bob"), ("q2", "a", "Ann"))
    ]
    responses = pd.DataFrame(rows)
    for n in (3, 1):
        loaded = load_responses(write_table(responses.head(n), tmp_path / f"responses.{ending}"))
        assert plain(loaded[responses.columns]) == plain(responses.head(n))
        scores = score(loaded, ["answer.exact_match", "answer.f1"])
        assert scores["value"].tolist() == [1, 0, 1, 1, 0, 1][:6] if n == 3 else [1, 1]
        again = load_scores(write_table(scores, tmp_path / f"metrics_results.{ending}"))
        for column in ("example_id", "system", "metric", "value", "signature"):
            assert again[column].tolist() == scores[column].tolist()


# ---- spreadsheets ------------------------------------------------------------------------------------------------------


def spreadsheet(frame, path):
    written = write_table(frame, path).read_bytes()
    assert written.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(written.decode("utf-8-sig"), newline="")))


def test_csv_runs_no_formula_and_keeps_numbers(tmp_path):
    quoted = [f"{sign}1" for sign in "=+-@\t\r\n＝＋－＠"] + [" =1", "'=1"]
    others = ["a=1", "", "−1", "可"]
    n = len(quoted + others)
    frame = pd.DataFrame({"t": quoted + others, "n": [-1.5] * n, "=h": range(n)})
    head, *rows = spreadsheet(frame, tmp_path / "t.csv")
    assert head == ["t", "n", "'=h"]
    assert [row[0] for row in rows] == [f"'{text}" for text in quoted] + others
    assert {row[1] for row in rows} == {"-1.5"}


def test_csv_has_json_for_lists_and_mappings_and_nothing_for_what_is_missing(tmp_path):
    values = [["ä", None], {"=k": "\u202eال"}, True, None, math.nan, pd.NA, np.int64(-3), 0.1]
    frame = pd.DataFrame({"v": pd.Series(values, dtype=object), "w": "x"})
    _, *rows = spreadsheet(frame, tmp_path / "T.CSV")
    written = ['["ä", null]', '{"=k": "\u202eال"}', "true", "", "", "", "-3", "0.1"]
    assert [row[0] for row in rows] == written


def test_half_a_surrogate_pair_in_a_file_becomes_the_replacement_character(tmp_path):
    half = {"id": 1, "query": "a\ud800b", "answer": "c", "positive": ["\udfff"], "negative": ["x"]}
    (tmp_path / "a.jsonl").write_text(json.dumps(half))
    row = load_rgb(tmp_path / "a.jsonl").iloc[0]
    assert (row["question"], row["positive"]) == ("a\ufffdb", [["\ufffd"]])
    assert read_table(tmp_path / "a.jsonl")["query"].tolist() == ["a\ufffdb"]


def test_parquet_is_not_compressed_twice(tmp_path):
    with pytest.raises(InputError, match=r"leave .gz out of the name 'a.parquet.gz'"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / "a.parquet.gz")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(
        InputError, match=r"\.csv \(or one of these and .gz\) or .parquet, got 'a.xlsx'"
    ):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / "a.xlsx")


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "csv.gz"])
def test_read_table_refuses_spreadsheets(responses, tmp_path, ending):
    """Their cells are texts, so lists and mappings would come back as texts."""
    path = tmp_path / f"t.{ending}"
    path.write_bytes(b"question,response\na,b\n")
    with pytest.raises(InputError, match=r"load_responses reads responses in CSV and Excel"):
        read_table(path)
