"""Tables of responses: what their cells mean, CSV as others write it, and messages about mistakes."""

import gzip
import json
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnb.datasets import load_responses, write_table
from ragnb.datasets.reading import read_frame
from ragnb.errors import InputError
from ragnb.reports import rgb_report
from ragnb.scoring import score, summarize
from ragnb.version import __version__

ROW = {"question": "Who?", "references": "Oslo", "response": "Oslo"}


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def frame_of(*rows):
    return pd.DataFrame([ROW | row for row in rows])


# ---- which column is what ----------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "jsonl", "jsonl.gz", "parquet", "frame"])
@pytest.mark.filterwarnings("ignore:1 of 2 responses in mine.csv are empty cells")
def test_any_table_with_question_answer_and_response_loads_by_a_short_dictionary(tmp_path, ending):
    columns = {"q": ["首都？", "城市？"], "gold": ["北京", "上海"], "output": ["北京。", None]}
    source = table = pd.DataFrame(columns | {"topic": ["a", "b"]})
    if ending != "frame":
        source = tmp_path / f"mine.{ending}"
        table.to_csv(source, index=False) if ending == "csv" else write_table(table, source)
    names = {"question": "q", "references": "gold", "response": "output"}
    frame = load_responses(source, names, system="mine")
    assert frame["language"].tolist() == ["zh", "zh"]
    assert frame["system"].tolist() == ["mine", "mine"]
    assert frame["topic"].tolist() == ["a", "b"]
    scores = score(frame, "rgb.accuracy")
    assert scores["value"].fillna(-1).tolist() == [1, -1]
    assert scores["reason"][1] == "no response in the file"


def test_a_reason_that_the_file_gives_is_kept_where_something_is_missing(tmp_path):
    reasons = {
        "HTTP 500": {"response": None, "reason": "HTTP 500"},
        "未标注": {"references": None, "reason": "未标注"},
        "no response in the file": {"response": None, "reason": " "},
        "no reference in the file": {"references": " "},
        None: {"reason": "stale"},
    }
    path = write_table(frame_of(*reasons.values()), tmp_path / "t.jsonl")
    assert load_responses(path)["reason"].tolist() == [*reasons]


def test_refusals_are_loaded_and_scored_without_references():
    replies = ["insufficient information", "Oslo", None]
    constants = {"benchmark": "rgb", "task": "noise", "noise_rate": 1.0, "passage_num": 5}
    made = pd.DataFrame({"question": "What is the capital?", "response": replies})
    frame = load_responses(made, language="en", **constants)
    assert "references" not in frame
    assert score(frame, "rgb.rejection")["value"].fillna(-1).tolist() == [1, 0, -1]
    table = rgb_report(frame).negative_rejection
    assert table[["mean", "n_scored", "n"]].values.tolist() == [[0.5, 2, 3]]
    with pytest.raises(InputError, match=r"answer.f1 needs .*got a frame without references"):
        score(frame, "answer.f1")


def test_a_column_that_is_named_wins_over_one_that_has_the_name_already():
    table = frame_of({"response": "Bergen", "output": "Oslo"})
    frame = load_responses(table, {"response": "output"})
    assert frame["response"].tolist() == ["Oslo"]
    assert frame["other_response"].tolist() == ["Bergen"]
    assert "output" not in frame
    assert list(table) == ["question", "references", "response", "output"]


@pytest.mark.filterwarnings("ignore:.*without a closing mark")
def test_reasoning_in_a_response_gets_a_column_of_its_own(tmp_path):
    wrong = "<think>Florey? Alexander Fleming? no</think>Howard Florey"
    replies = [wrong, "<think>Florey?</think>\nAlexander Fleming", "<think>Alexander", "Fleming"]
    made = frame_of(*({"references": "Alexander Fleming", "response": one} for one in replies))
    for source in (write_table(made, tmp_path / "m.csv"), made):
        frame = load_responses(source, language="en")
        assert frame["response"].tolist() == ["Howard Florey", "Alexander Fleming", None, "Fleming"]
        assert frame["reason"].tolist() == [None, None, "cut off inside the reasoning", None]
        assert frame["reasoning"].tolist()[1:] == [
            "<think>Florey?</think>",
            "<think>Alexander",
            None,
        ]
        values = score(frame, ["answer.contains", "answer.exact_match", "rgb.accuracy"])["value"]
        assert values.fillna(-1).tolist() == [0, 1, -1, 0] * 3
    assert "reasoning" not in load_responses(made.tail(1), language="en")
    again = load_responses(frame)  # a frame that was split before
    assert again["reasoning"].tolist() == frame["reasoning"].tolist()


# ---- what a list of texts as a reference means -------------------------------------------------


def test_alternatives_are_aliases_of_one_part():
    cities = ["Paris", "City of Light"]
    given = [cities, [["Paris"], ["France"]], "Paris", ["Paris"], None]
    frame = frame_of(*({"references": one, "response": "Paris"} for one in given))
    read = load_responses(frame, alternatives=True)
    parts = [[cities], [["Paris"], ["France"]], [["Paris"]], [["Paris"]], None]
    assert read["references"].tolist() == parts
    assert score(read, "answer.exact_match")["value"][0] == 1.0
    apart = load_responses(frame, alternatives=False)
    assert score(apart, "answer.exact_match")["value"][0] == 0.0


def test_the_signature_says_how_lists_of_references_were_read(tmp_path):
    """Of 20 responses 5 have both texts of their reference, 7 one and 8 none; written by pandas."""
    responses = ["Oslo, Kristiania"] * 5 + ["In Oslo."] * 7 + ["In Bergen."] * 8
    rows = [{"references": ["Oslo", "Kristiania"], "response": one} for one in responses]
    path = tmp_path / "listed.csv"
    frame_of(*rows).assign(example_id=range(20), language="en").to_csv(path, index=False)
    for alternatives, mean, way in ((True, 0.60, "alternatives"), (False, 0.25, "parts")):
        scores = score(load_responses(path, alternatives=alternatives), "answer.contains")
        definition = f"metric:answer.contains|variant:unicode|references:{way}|lang:en"
        assert set(scores["signature"]) == {f"ragnb:{__version__}|{definition}"}
        assert scores["value"].mean() == mean
    said = "20 of 20 references are lists of several texts.*alternatives=True"
    with pytest.warns(UserWarning, match=said):
        read = load_responses(path)
    assert set(read["references_as"]) == {"parts"}
    assert not score(read, "language.rlc")["signature"].str.contains("references").any()


# ---- CSV, where everything is text -------------------------------------------------------------


@pytest.mark.parametrize(
    ("separator", "ending", "lineterminator"),
    [(",", "csv", "\n"), (";", "csv", "\r\n"), ("\t", "tsv", "\r\n"), ("\t", "csv", "\n")],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_spreadsheets_write_is_read(tmp_path, separator, encoding, ending, lineterminator):
    rows = [
        ["007", "Who, and why?", "Åse; Bø", "مرحبا, 東京", "0,5"],
        ["008", 'What is "it"?', "a\tb", "two\nlines 👩‍🔬", "1"],
    ]
    names = ["example_id", "question", "references", "response", "noise_rate"]
    made, path = pd.DataFrame(rows, columns=names), tmp_path / f"own.{ending}"
    options = {"sep": separator, "encoding": encoding, "lineterminator": lineterminator}
    made.to_csv(path, index=False, **options)
    read = load_responses(path)
    assert read["references"].tolist() == [[["Åse; Bø"]], [["a\tb"]]]
    for name in ("example_id", "question", "response"):
        assert read[name].tolist() == made[name].tolist()
    assert read["noise_rate"].tolist() == [0.5, 1]
    assert set(read["system"]) == {"own"}


def test_values_score_the_same_from_csv(tmp_path):
    spent = {"text": "‏شكرا", "token_count": 3}
    columns = {
        "references": [[["Oslo", "L'Oslo"]], [["Rome", "Roma"], ["1871"]], [["東京"]], [["-3"]], None],
        "response": ["Oslo", "Rome, since 1871", "東京", "-3", "x"],
        "false_answers": [["Bergen"], [], ["京都"], ["4"], []],
        "judged_correct": [True, False, None, True, None],
        "verdict": [True, False, None, True, False],
        "translations": [[{"token_count": 12}], [], None, [spent], []],
        "response_embedding": [np.array([0.5, 1.0]), [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], None],
        "reference_embedding": [[0.5, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]],
    }  # fmt: skip
    metrics = (
        "answer.exact_match answer.f1 rgb.accuracy rgb.error_correction annotator.verdict "
        "cost.translation_tokens semantic.judged_correctness semantic.embedding_cosine".split()
    )
    frame = load_responses(pd.DataFrame({"question": "q", "noise_rate": 0.2} | columns))
    again = load_responses(write_table(frame, tmp_path / "t.csv"))
    before, after = score(frame, metrics), score(again, metrics)
    pd.testing.assert_series_equal(before["value"], after["value"])
    assert before["reason"].isna().tolist() == after["reason"].isna().tolist()
    assert before["value"].notna().any()
    for name in ("references", "response"):
        assert again[name].tolist() == frame[name].tolist()


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1)


@settings(max_examples=30)
@given(st.lists(texts, min_size=1))
def test_any_response_comes_back_from_csv(tmp_path_factory, responses):
    frame = pd.DataFrame({"question": "q", "references": "r", "response": responses})
    path = write_table(frame, tmp_path_factory.mktemp("t") / "t.csv")
    assert load_responses(path)["response"].tolist() == responses


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        ('["Oslo", "Bergen"]', [["Oslo"], ["Bergen"]]),
        ("[['Oslo', \"L'Oslo\"]]", [["Oslo", "L'Oslo"]]),
        (' [["東京", "도쿄"], ["ไทย"]] ', [["東京", "도쿄"], ["ไทย"]]),
        ("[sic] Oslo", [["[sic] Oslo"]]),
        # It would take hours if the time grew with the square of the length.
        ("[" + " " * 300_000, [["[" + " " * 300_000]]),
        (" " * 200_000 + "[" + " " * 200_000 + "] x", [[" " * 200_000 + "[" + " " * 200_000 + "] x"]]),
    ],
    ids=range(6),
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*lists of several texts")
def test_a_cell_that_spells_a_list_is_one_and_others_are_texts(cell, parts):
    frame = load_responses(frame_of({"references": cell, "response": cell, "passages": "['a']"}))
    assert frame["references"].tolist() == [parts]
    assert frame["response"].tolist() == [cell]
    assert frame["passages"].tolist() == [["a"]]


SIX = "question,references,response\n" + "".join(
    f"Who?,Oslo,{said}\n" for said in ("Oslo", "Oslo", "Oslo", "Bergen", "", "")
)


@pytest.mark.parametrize(
    ("keep_empty", "mean", "n_scored"), [(None, 3 / 4, 4), (False, 3 / 4, 4), (True, 3 / 6, 6)]
)
def test_an_empty_cell_is_missing_or_an_empty_answer(tmp_path, keep_empty, mean, n_scored):
    path = written(tmp_path / "six.csv", SIX)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frames = [load_responses(one, keep_empty=keep_empty) for one in (path, pd.read_csv(path))]
    # Nothing says that the frame was read from CSV.
    assert len(caught) == (keep_empty is None)
    for warning in caught:
        said = str(warning.message)
        assert said.startswith("2 of 6 responses in six.csv are empty cells")
        assert "keep_empty=True" in said
    for responses in frames:
        row = summarize(score(responses, "answer.exact_match")).iloc[0]
        assert (row["mean"], row["n_scored"], row["n"]) == (mean, n_scored, 6)


@pytest.mark.parametrize("ending", ["jsonl", "parquet", None])
def test_an_empty_text_is_an_answer_only_if_it_is_kept(tmp_path, ending):
    texts = ["Oslo", "", " \n", "<think>Oslo?</think>"]
    made = frame_of(*({"response": text} for text in texts))
    source = made if ending is None else write_table(made, tmp_path / f"m.{ending}")
    with pytest.warns(UserWarning, match="^2 of 4 responses in .* are empty texts"):
        frame = load_responses(source, language="en")
    assert frame["response"].tolist() == ["Oslo", None, None, None]
    only = "only reasoning and no answer"
    assert frame["reason"].tolist() == [None, "empty reply", "empty reply", only]
    scores = score(frame, "answer.contains")
    assert scores["value"].isna().tolist() == [False, True, True, True]
    assert scores["reason"].tolist()[1:] == ["empty reply", "empty reply", only]
    silent = load_responses(source, language="en", keep_empty=False)
    pd.testing.assert_frame_equal(silent, frame)
    kept = load_responses(source, language="en", keep_empty=True)
    assert kept["response"].tolist() == ["Oslo", "", " \n", None]
    assert score(kept, "answer.contains")["value"].isna().tolist() == [False, False, False, True]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_an_error_of_our_own(tmp_path_factory, content):
    path = written(tmp_path_factory.mktemp("t") / "a.csv", content)
    with suppress(InputError):
        assert isinstance(read_frame(path), pd.DataFrame)


def test_a_packed_file_has_the_name_of_what_is_in_it_and_must_be_whole_and_small(
    tmp_path, monkeypatch
):
    packed = gzip.compress(SIX.encode())
    path = written(tmp_path / "gpt.v2.csv.gz", packed)
    assert load_responses(path, keep_empty=True)["system"].unique().tolist() == ["gpt.v2"]
    with pytest.raises(InputError, match=r"gpt.v2.csv.gz must be a complete compressed file"):
        load_responses(written(path, packed[:40]))
    monkeypatch.setattr("ragnb.datasets.contents.MOST_UNPACKED", 100)
    with pytest.raises(InputError, match="gpt.v2.csv.gz unpacks to more than 100 bytes"):
        load_responses(written(path, packed))


# ---- mistakes ----------------------------------------------------------------------------------

HEADER = "id,question,references,response\n"
MISTAKES = [
    ({"prompt": "a", "response": "b", "gold": "c"}, {},
     "a.json has no column named question or references; its columns are prompt, response, gold. "
     "Say which columns to use: load_responses\\('.*', \\{'question': 'prompt', 'references': "
     "'gold'\\}\\), or --columns question=prompt references=gold on the command line"),
    ({"a": 1, "b": 2}, {}, "its columns are a, b. .*Known formats: .*ragas"),
    ({"q": 1}, {"question": "q", "response": "r"}, "names 'r', but the columns are q"),
    (ROW | {"output": "a"}, {"references": "output", "response": "output"},
     "uses 'output' for several names; only example_id may"),
    (ROW | {"output": "a", "other_response": "b"}, {"response": "output"}, "got 'other_response' twice"),
    (ROW | {"response": [5]}, {}, "row 0: a response must be a text, or None if there is none, got \\[5\\]"),
    (ROW | {"references": []}, {}, "row 0: a reference must be a string, or a list of parts"),
    (HEADER + '1,Who?,"[Oslo, Bergen]",Oslo\n', {}, "row 0 column references must"),
    (HEADER + "1,Who?,Paris,in Paris, of course\n", {}, "all rows have the same number of cells"),
    (HEADER.encode() + "1,Who?,Paris,ä\n".encode("latin-1"), {},
     "text in UTF-8, got byte 0xe4 at position 45; save it as UTF-8"),
    (HEADER, {}, "a.csv must have at least one row, got none"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "columns", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_gets_a_sentence_that_says_what_is_needed(tmp_path, content, columns, message):
    is_json = isinstance(content, dict)
    path = tmp_path / ("a.json" if is_json else "a.csv")
    with pytest.raises(InputError, match=message):
        load_responses(written(path, json.dumps(content) if is_json else content), columns)


def test_equal_cells_of_a_file_become_lists_of_their_own(tmp_path):
    cells = {"references": '["1"]', "passages": '["p", "q"]'}
    rows = [{"question": "a", "system": name, "response": "1", **cells} for name in "xy"]
    pd.DataFrame(rows).to_csv(tmp_path / "r.csv", index=False)
    responses = load_responses(tmp_path / "r.csv", language="en", alternatives=False)
    responses["passages"].iloc[0].append("only in the first row")
    responses["references"].iloc[0].append("only in the first row")
    assert responses["passages"].iloc[1] == ["p", "q"]
    assert responses["references"].iloc[1] == [["1"]]
