"""Whatever a frame holds, it is written so that it comes back, or refused with an error of ragnb's own."""

import csv
import io
import math
import warnings

import pandas as pd
import pytest
from contract import frames, values
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnb.datasets import read_table, write_table
from ragnb.errors import InputError, RagnbError
from ragnb.tables import to_html
from ragnb.tables.plain import to_json, to_text


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "parquet", "csv"])
@given(data=st.data())
@settings(max_examples=15)
def test_a_frame_of_anything_is_written_or_refused(tmp_path_factory, ending, data):
    frame = data.draw(values.damaged(frames.responses()[["example_id", "response", "references", "noise_rate"]]))
    path = tmp_path_factory.mktemp("t") / f"t.{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            write_table(frame, path)
        except RagnbError:
            return
        if ending == "csv":
            assert len(list(csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline="")))) == len(frame) + 1
        elif len(frame):
            assert len(read_table(path)) == len(frame)


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
@pytest.mark.parametrize("thing", [None, 3, "a", [1], {"a": [1]}])
def test_what_is_no_frame_is_refused(tmp_path, ending, thing):
    with pytest.raises(InputError, match="write_table needs a pandas DataFrame"):
        write_table(thing, tmp_path / f"t.{ending}")


def test_infinity_is_no_json_but_parquet(tmp_path):
    frame = pd.DataFrame({"a": [1.0, math.inf]})
    with pytest.raises(InputError, match="row 2 needs values that JSON has"):
        write_table(frame, tmp_path / "t.jsonl")
    assert read_table(write_table(frame, tmp_path / "t.parquet"))["a"].tolist() == [1.0, math.inf]


def test_half_a_surrogate_pair_is_written_as_the_replacement_character(tmp_path):
    frame = pd.DataFrame({"a": ["x\ud800", "🙂"]}, dtype=object)
    assert read_table(write_table(frame, tmp_path / "t.jsonl"))["a"].tolist() == ["x\ufffd", "🙂"]


@pytest.mark.parametrize("trigger", list("=+-@＝＋－＠"))
@pytest.mark.parametrize(
    "before",
    ["", " ", "\t", "\r", "\n", "\u00a0", "\u3000", "\ufeff", "\u200b", "\x00", '"', "'", "“", ' "\t', "\u202e", "\u2066"],
)
def test_csv_runs_no_formula_that_hides_behind_blanks_and_quotes(tmp_path, before, trigger):
    text = f'{before}{trigger}HYPERLINK("https://example.org")'
    path = write_table(pd.DataFrame({text: [text]}), tmp_path / "t.csv")
    rows = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
    assert rows == [[f"'{text}"]] * 2


@pytest.mark.parametrize("text", ["a = b", "5 - 3", "a@example.org", "", " ", '"', "نعم = لا"])
def test_csv_leaves_other_texts_alone(tmp_path, text):
    path = write_table(pd.DataFrame({"t": [text], "u": ["x"]}), tmp_path / "t.csv")
    assert list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))[1] == [text, "x"]


@pytest.mark.parametrize("shown", [to_text, to_json, to_html], ids=lambda shown: shown.__name__)
@given(data=st.data())
@settings(max_examples=15)
def test_summaries_of_anything_are_shown_or_refused(shown, data):
    frame = data.draw(values.damaged(frames.summaries()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            assert str(shown(frame))
        except RagnbError as error:
            refused = str(error)
            assert refused
