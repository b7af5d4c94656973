import csv
import gzip
import io
import json
import math

import numpy as np
import pandas as pd
import pytest

from ragnb.datasets.benchmarks import load_rgb
from ragnb.datasets.contexts import build_contexts
from ragnb.datasets.tables import read_table, write_table
from ragnb.errors import InputError
from ragnb.scoring import score

ENDINGS = ("jsonl", "jsonl.gz", "parquet")


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
    [("parquet", {"stop": {}}), ("jsonl", {1, 2})],
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


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
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
