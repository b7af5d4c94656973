import csv
import gzip
import io
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnb.datasets.contexts import build_contexts
from ragnb.datasets.rgb import load_rgb
from ragnb.datasets.tables import read_table, write_table
from ragnb.errors import InputError
from ragnb.scoring import score, summarize

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
    contexts["system"] = "tiny 模型 🤖"
    contexts["template"] = "t:1:0a1b2c3d"
    contexts["response"] = [
        "Ada Quill\n\nthat is",
        None,
        "l\u2028s \u0085 \r\n \t",
        "नमस्ते 👩‍🔬",
    ] * 2
    contexts["reason"] = [None, "it timed out", None, None] * 2
    contexts["completion_tokens"] = pd.array([3, None, 4, 5] * 2, dtype="Int64")
    contexts["parameters"] = [
        {"temperature": 0.0, "stop": ["\n"], "extra": {"seed": 3, "note": None}}
    ] * 8
    contexts["messages"] = [[{"role": "user", "content": '"q" \\ \u202e'}]] * 8
    return contexts


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


@pytest.mark.parametrize("ending", ENDINGS)
def test_numbers_read_back_can_be_counted_with(responses, tmp_path, ending):
    scores = score(responses, "rgb.accuracy")
    again = read_table(write_table(scores, tmp_path / f"scores.{ending}"))
    assert again["value"].dtype == float
    assert plain(summarize(again)) == plain(summarize(scores))
    unscored = scores[scores["value"].isna()]
    again = read_table(write_table(unscored, tmp_path / f"unscored.{ending}"))
    assert plain(summarize(again)) == plain(summarize(unscored))


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    "values",
    [
        [1, 2],
        [0.1 + 0.2, -0.0],
        [1.5, math.nan],
        [True, False],
        [True, None],
        ["a", None],
        [None, None],
        [[], ["a"]],
        [[["a", "b"], ["c"]], [[]]],
        [[1, 2], None],
        [{"a": 1}, {"a": 2}],
        [{"a": {"b": [1]}}, None],
        ["\x00\x1b", "\ufeff"],
        ["e\u0301", "é"],
        ["null", "NaN"],
        [2**53 + 1, 0],
    ],
    ids=repr,
)
def test_a_column_survives_the_disk(tmp_path, ending, values):
    frame = pd.DataFrame(
        {"id": ["x", "y"], "column": pd.Series(values, dtype=object if None in values else None)}
    )
    again = plain(read_table(write_table(frame, tmp_path / f"t.{ending}")))
    assert again == plain(frame)
    assert [type(v) for v in again["column"]] == [type(v) for v in plain(frame)["column"]]


text = st.text(st.characters(exclude_categories=["Cs"]))
nested = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text, st.lists, max_leaves=6
)


@settings(max_examples=30)
@given(
    st.lists(
        st.fixed_dictionaries({"a": text, "b": st.lists(text), "c": st.lists(nested)}),
        min_size=1,
        max_size=4,
    )
)
def test_any_text_and_nesting_survives_json_lines(tmp_path_factory, rows):
    frame = pd.DataFrame(rows)
    assert plain(read_table(write_table(frame, tmp_path_factory.mktemp("t") / "t.jsonl"))) == plain(
        frame
    )


def test_mappings_in_parquet_share_their_keys(tmp_path):
    frame = pd.DataFrame({"m": [{"a": 1}, {"b": "x"}]})
    again = read_table(write_table(frame, tmp_path / "t.parquet"))
    assert again["m"].tolist() == [{"a": 1, "b": None}, {"a": None, "b": "x"}]


def test_json_lines_hold_one_object_a_row_readable_by_anyone(responses, tmp_path):
    lines = write_table(responses, tmp_path / "r.jsonl").read_bytes().split(b"\n")
    assert lines.pop() == b""
    rows = [json.loads(line) for line in lines]
    assert len(rows) == len(responses)
    assert rows[0]["response"] == "Ada Quill\n\nthat is"
    assert rows[1]["response"] is None
    assert "नमस्ते".encode() in lines[3]


def test_the_same_frame_gives_the_same_bytes_on_any_day(responses, tmp_path, monkeypatch):
    first = write_table(responses, tmp_path / "a.jsonl.gz").read_bytes()
    monkeypatch.setattr("time.time", lambda: 1_000_000_000.0)
    assert first == write_table(responses, tmp_path / "b.jsonl.gz").read_bytes()
    assert gzip.decompress(first) == write_table(responses, tmp_path / "c.jsonl").read_bytes()


def test_a_name_in_capitals_is_the_same_kind_of_file(tmp_path):
    frame = pd.DataFrame({"a": ["x"]})
    path = write_table(frame, tmp_path / "T.JSONL.GZ")
    assert gzip.decompress(path.read_bytes()) == b'{"a": "x"}\n'
    assert plain(read_table(path)) == plain(frame)


def test_missing_folders_are_made_and_the_path_returned(tmp_path):
    path = write_table(pd.DataFrame({"a": [1]}), str(tmp_path / "x" / "y" / "t.jsonl"))
    assert path == tmp_path / "x" / "y" / "t.jsonl"
    assert path.is_file()


def test_rows_may_lack_a_key_in_json_lines(tmp_path):
    (tmp_path / "t.jsonl").write_bytes(b'{"a": 1}\n\n{"b": "x", "a": 2}\r\n')
    assert plain(read_table(tmp_path / "t.jsonl")) == {"a": [1, 2], "b": [None, "x"]}


@pytest.mark.parametrize("name", ["t.tsv", "t"])
def test_another_ending_is_refused(tmp_path, name):
    with pytest.raises(InputError, match=rf"\.jsonl.*\.parquet.*'{name}'"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / name)
    with pytest.raises(InputError, match=rf"\.jsonl.*\.parquet.*'{name}'"):
        read_table(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_file_that_does_not_exist_is_refused(tmp_path, ending):
    with pytest.raises(InputError, match=rf"exists.*nowhere\.{ending}"):
        read_table(tmp_path / f"nowhere.{ending}")


@pytest.mark.parametrize("line", [b"[1]", b"{", b"\xff\xfe"])
def test_a_line_that_is_no_object_is_named(tmp_path, line):
    (tmp_path / "t.jsonl").write_bytes(b'{"a": 1}\n' + line + b"\n")
    with pytest.raises(
        InputError, match=r"t\.jsonl line 2 needs (one JSON object|UTF-8 text); got"
    ):
        read_table(tmp_path / "t.jsonl")


@pytest.mark.parametrize(
    ("ending", "keep"), [("jsonl.gz", -9), ("jsonl.gz", 12), ("parquet", -9), ("parquet", 0)]
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
        ("parquet", [{}]),
        ("jsonl", math.inf),
        ("jsonl", {1, 2}),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_the_earlier_file_alone(
    tmp_path, ending, value
):
    path = write_table(pd.DataFrame({"a": ["x"]}), tmp_path / f"keep.{ending}")
    before = path.read_bytes()
    bad = pd.DataFrame({"a": pd.Series([value, value], dtype=object)})
    with pytest.raises(
        InputError,
        match=r"keep\.parquet needs columns that Parquet has|row 1 needs values that JSON has",
    ):
        write_table(bad, path)
    assert path.read_bytes() == before
    with pytest.raises(InputError):
        write_table(bad, tmp_path / f"new.{ending}")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", [*ENDINGS, "csv"])
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


@pytest.mark.parametrize("ending", [*ENDINGS, "csv"])
def test_a_file_that_is_written_again_is_replaced_where_a_link_leads(tmp_path, ending):
    (tmp_path / "there").mkdir()
    path = write_table(pd.DataFrame({"a": ["x"]}), tmp_path / "there" / f"t.{ending}")
    link = tmp_path / f"link.{ending}"
    link.symlink_to(path)
    assert write_table(pd.DataFrame({"a": ["y"]}), link) == link
    assert link.is_symlink()
    assert (
        path.read_bytes()
        == write_table(pd.DataFrame({"a": ["y"]}), tmp_path / f"b.{ending}").read_bytes()
    )


@pytest.mark.parametrize("ending", [*ENDINGS, "csv"])
def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch, ending):
    home, here = tmp_path / "home", tmp_path / "here"
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    frame = pd.DataFrame({"a": ["x"]})
    assert write_table(frame, f"~/runs/t.{ending}") == home / "runs" / f"t.{ending}"
    if ending != "csv":
        assert plain(read_table(f"~/runs/t.{ending}")) == plain(frame)
    assert list(here.iterdir()) == []


# ---- spreadsheets ------------------------------------------------------------------------------------------------------


def spreadsheet(frame, path):
    written = write_table(frame, path).read_bytes()
    assert written.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(written.decode("utf-8-sig"), newline="")))


def test_a_line_nested_too_deep_is_named(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n' + "[" * 100_000)
    with pytest.raises(
        InputError, match=r"t\.jsonl line 2 needs one JSON object; got brackets nested too deep"
    ):
        read_table(tmp_path / "t.jsonl")


def test_csv_runs_no_formula_and_keeps_numbers(tmp_path):
    texts = [
        "=1+1",
        "+4",
        "-3",
        "@SUM(A1)",
        "\tx",
        "\rx",
        "\nx",
        "＝1",
        "＋1",
        "－1",
        "＠A",
        " =1",
        "'=1",
        "a=1",
        "",
        "−1",
        "可",
    ]
    frame = pd.DataFrame({"t": texts, "n": [-1.5] * len(texts), "=h": range(len(texts))})
    head, *rows = spreadsheet(frame, tmp_path / "t.csv")
    assert head == ["t", "n", "'=h"]
    assert [row[0] for row in rows] == [f"'{text}" for text in texts[:13]] + texts[13:]
    assert {row[1] for row in rows} == {"-1.5"}


def test_csv_runs_no_formula_behind_blanks_quotes_and_hidden_characters(tmp_path):
    before = ["", ' "\t', *" \t\r\n\u00a0\u3000\ufeff\u200b\x00\"'“\u202e\u2066"]
    texts = [
        f'{hidden}{trigger}HYPERLINK("https://example.org")'
        for hidden in before
        for trigger in "=+-@＝＋－＠"
    ]
    _, *rows = spreadsheet(pd.DataFrame({"t": texts, "w": "x"}), tmp_path / "t.csv")
    assert [row[0] for row in rows] == [f"'{text}" for text in texts]


def test_csv_has_json_for_lists_and_mappings_and_nothing_for_what_is_missing(tmp_path):
    values = [
        ["ä", None],
        {"=k": "\u202eال"},
        True,
        False,
        None,
        math.nan,
        pd.NA,
        np.int64(-3),
        0.1,
    ]
    _, *rows = spreadsheet(
        pd.DataFrame({"v": pd.Series(values, dtype=object), "w": "x"}), tmp_path / "T.CSV"
    )
    written = ['["ä", null]', '{"=k": "\u202eال"}', "true", "false", "", "", "", "-3", "0.1"]
    assert [row[0] for row in rows] == written


@settings(max_examples=50)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_csv_of_any_text_is_read_back_but_for_the_apostrophe(tmp_path_factory, texts):
    rows = spreadsheet(
        pd.DataFrame({"t": texts, "w": "x"}), tmp_path_factory.mktemp("t") / "t.csv"
    )[1:]
    for text, (cell, _) in zip(texts, rows, strict=True):
        assert cell in (text, f"'{text}")
        assert not cell.startswith(tuple("=+-@\t\r"))


def test_infinity_is_kept_in_parquet(tmp_path):
    frame = pd.DataFrame({"a": [1.0, math.inf]})
    assert read_table(write_table(frame, tmp_path / "t.parquet"))["a"].tolist() == [1.0, math.inf]


def test_half_a_surrogate_pair_in_a_reply_is_written_as_the_replacement_character(tmp_path):
    frame = pd.DataFrame({"a": ["x\ud800", "🙂"]}, dtype=object)
    assert read_table(write_table(frame, tmp_path / "t.jsonl"))["a"].tolist() == ["x\ufffd", "🙂"]


def test_half_a_surrogate_pair_in_a_file_becomes_the_replacement_character(tmp_path):
    record = (
        '{"id": 1, "query": "a\\ud800b", "answer": "c", "positive": ["\\udfff"], "negative": ["x"]}'
    )
    (tmp_path / "a.jsonl").write_text(record)
    row = load_rgb(tmp_path / "a.jsonl").iloc[0]
    assert (row["question"], row["positive"]) == ("a\ufffdb", [["\ufffd"]])
    assert read_table(tmp_path / "a.jsonl")["query"].tolist() == ["a\ufffdb"]


def test_large_integers_stay_what_they_are(tmp_path):
    (tmp_path / "t.jsonl").write_text(f'{{"a": {2**70}}}\n{{"a": null}}\n')
    assert read_table(tmp_path / "t.jsonl")["a"].tolist() == [2**70, None]


def test_csv_is_not_read(tmp_path):
    write_table(pd.DataFrame({"a": [1]}), tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"\.jsonl, \.jsonl\.gz or \.parquet; got 't\.csv'"):
        read_table(tmp_path / "t.csv")
