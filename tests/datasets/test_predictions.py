import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnb.datasets.predictions import load_responses
from ragnb.datasets.tables import write_table
from ragnb.errors import InputError
from ragnb.reports import rgb_report
from ragnb.scoring import score, summarize

RELEASED = [  # of the form that the released code writes; texts are ours
    {"id": 0, "query": "Where?", "ans": ["Oslo", "1920"], "label": [1, 0], "prediction": "In Oslo.", "docs": ["Oslo."],
     "noise_rate": 0.2, "factlabel": 0},
    {"id": 1, "query": "Who?", "ans": [["Ada", "Lovelace"]], "label": [-1],
     "prediction": "I can not answer: insufficient information in documents.", "docs": [], "noise_rate": 0.2, "factlabel": 0},
]  # fmt: skip


def lines(tmp_path, records, name="prediction_model.json"):
    path = tmp_path / name
    path.write_text("\n".join(map(json.dumps, records)))
    return path


@pytest.mark.parametrize("ending", ["csv", "jsonl", "jsonl.gz", "parquet", "frame"])
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
    assert frame["response"][1] is None
    scores = score(frame, "rgb.accuracy")
    assert scores["value"].tolist() == pytest.approx([1.0, math.nan], nan_ok=True)
    assert scores["reason"][1] == "no response in the file"


def test_a_missing_reference_is_unscored_with_its_reason(tmp_path):
    path = tmp_path / "r.csv"
    rows = "नदी?,नील,नील\nनदी?,,नील\nनदी?,,\n"
    path.write_text(f"question,references,response\n{rows}", encoding="utf-8")
    frame = load_responses(path, language="hi")
    assert frame["references"].tolist() == [[["नील"]], None, None]
    scores = score(frame, ["answer.exact_match", "rgb.accuracy"])
    assert scores["value"].isna().tolist() == [False, True, True] * 2
    reasons = ["no reference in the file", "no response in the file"]
    assert scores["reason"].dropna().tolist() == reasons * 2


def test_a_reason_that_the_file_gives_is_kept_where_something_is_missing(tmp_path):
    whole = {"question": "q", "references": "Oslo", "response": "Oslo"}
    changes = [
        {"response": None, "reason": "HTTP 500"},
        {"references": None, "reason": "未标注"},
        {"response": None, "reason": " "},
        {"response": None},
        {"reason": "stale"},
    ]
    frame = pd.DataFrame([whole | change for change in changes])
    reasons = load_responses(write_table(frame, tmp_path / "t.jsonl"))["reason"]
    assert reasons[:4].tolist() == ["HTTP 500", "未标注", *["no response in the file"] * 2]
    assert pd.isna(reasons[4])


def test_refusals_are_loaded_and_scored_without_references(tmp_path):
    replies = ("insufficient information", "Oslo", None)
    records = [{"question": "What is the capital?", "response": reply} for reply in replies]
    constants = {"benchmark": "rgb", "task": "noise", "noise_rate": 1.0, "passage_num": 5}
    frame = load_responses(lines(tmp_path, records), language="en", **constants)
    assert "references" not in frame
    assert frame["reason"].isna().tolist() == [True, True, False]
    assert score(frame, "rgb.rejection")["value"].tolist()[:2] == [1.0, 0.0]
    table = rgb_report(frame).negative_rejection
    assert (table["mean"].item(), table["n_scored"].item(), table["n"].item()) == (0.5, 2, 3)
    with pytest.raises(InputError, match=r"answer.f1 needs .*got a frame without references"):
        score(frame, "answer.f1")


@pytest.mark.parametrize(
    ("record", "columns", "message"),
    [
        ({"prompt": "a", "response": "b", "gold": "c"}, None,
         "prediction_model.json has no column named question or references; its columns are "
         "prompt, response, gold. Say which columns to use: load_responses\\('.*', "
         "\\{'question': 'prompt', 'references': 'gold'\\}\\), or --columns question=prompt "
         "references=gold on the command line"),
        ({"q": 1}, {"question": "q", "response": "r"}, "names 'r', but the columns are q"),
        ({"question": "a", "references": "c", "response": 5}, None,
         "row 0: a response must be a text, got 5"),
        ({"question": "a", "references": [], "response": "b"}, None,
         "row 0: a reference must be a string, or a list of parts"),
    ],
)  # fmt: skip
def test_bad_tables_say_what_they_need(tmp_path, record, columns, message):
    with pytest.raises(InputError, match=message):
        load_responses(lines(tmp_path, [record]), columns)


def test_numbers_in_csv_are_numbers(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(
        "example_id,question,references,response,noise_rate,judged_correct\n007,Who?,Ann,Ann,0.4,1\n008,Who?,Ann,Bob,0,\n"
    )
    frame = load_responses(path)
    assert frame["example_id"].tolist() == ["007", "008"]
    assert frame["noise_rate"].tolist() == [0.4, 0.0]
    assert frame["judged_correct"].fillna(-1).tolist() == [1.0, -1.0]
    assert score(frame, "rgb.accuracy")["value"].tolist() == [1.0, 0.0]


def test_a_column_that_is_named_wins_over_one_that_has_the_name_already():
    table = pd.DataFrame(
        {"question": "q", "references": "Oslo", "response": ["Bergen"] * 2, "output": ["Oslo"] * 2}
    )
    frame = load_responses(table, {"response": "output"})
    assert frame["response"].tolist() == ["Oslo"] * 2
    assert frame["other_response"].tolist() == ["Bergen"] * 2
    assert "output" not in frame
    assert score(frame, "answer.exact_match")["value"].tolist() == [1.0] * 2
    assert list(table) == ["question", "references", "response", "output"]


def test_names_that_cannot_be_told_apart_are_refused():
    table = pd.DataFrame([["q", "a", "b", "c"]])
    table.columns = ["question", "references", "response", "response"]
    with pytest.raises(InputError, match="must have different names, got 'response' twice"):
        load_responses(table)
    table.columns = ["question", "references", "response", "output"]
    with pytest.raises(InputError, match="names 'output' more than once; only example_id may"):
        load_responses(table, {"references": "output", "response": "output"})
    with pytest.raises(InputError, match="got 'other_response' twice"):
        load_responses(table.assign(other_response="x"), {"response": "output"})


# ---- CSV, where everything is text -------------------------------------------------------------------------------------


def loaded(tmp_path, header, *rows):
    path = tmp_path / "t.csv"
    pd.DataFrame(rows, columns=header).to_csv(path, index=False)
    return load_responses(path)


def same_scores(frame, path):
    """Metrics that have a column for all they need, after their scores from disk are the same."""
    again = load_responses(write_table(frame, path))
    names = "answer.exact_match answer.f1 rgb.accuracy rgb.error_correction annotator.verdict "
    names += "cost.translation_tokens semantic.judged_correctness semantic.embedding_cosine"
    names = names.split()
    frames = (load_responses(frame), again)
    before, after = (score(responses.assign(noise_rate=0.2), names) for responses in frames)
    pd.testing.assert_series_equal(before["value"], after["value"])
    assert before["reason"].isna().tolist() == after["reason"].isna().tolist()
    assert before["value"].notna().any()


def test_aliases_and_parts_score_the_same_from_csv(tmp_path):
    spent = {"text": "‏شكرا", "token_count": 3}
    aliases, parts = [["Oslo", "Kristiania"]], [["Rome", "Roma"], ["1871"]]
    columns = {
        "references": [aliases, parts, [["東京"]], [["-3", "minus three"]], None],
        "response": ["Oslo", "Rome, since 1871", "東京", "-3", "x"],
        "false_answers": [["Bergen"], [], ["京都"], ["4"], []],
        "judged_correct": [True, False, None, True, None],
        "verdict": [True, False, None, True, False],
        "translations": [[{"token_count": 12}], [], None, [spent], []],
        "response_embedding": [np.array([0.5, 1.0]), [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], None],
        "reference_embedding": [[0.5, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]],
    }
    frame = pd.DataFrame({"question": "q"} | columns)
    same_scores(frame, tmp_path / "t.csv")
    again = load_responses(tmp_path / "t.csv")
    assert again["references"].tolist() == frame["references"].tolist()
    assert again["response"].tolist() == frame["response"].tolist()
    assert score(again, "answer.exact_match")["value"].tolist()[:3] == [1.0, 0.0, 1.0]


whole_texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1
)


@settings(max_examples=30)
@given(st.lists(whole_texts, min_size=1))
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
    ],
)
@pytest.mark.filterwarnings("ignore:.*lists of several texts")
def test_a_cell_that_spells_a_list_is_one_and_others_are_texts(tmp_path, cell, parts):
    header = ["question", "references", "response", "passages"]
    frame = loaded(tmp_path, header, ["q", cell, cell, "['a']"])
    assert frame["references"].tolist() == [parts]
    assert frame["response"].tolist() == [cell]
    assert frame["passages"].tolist() == [["a"]]


@pytest.mark.parametrize(
    "cell",
    [
        "[Oslo, Bergen]",
        '["Oslo", "Ber',
    ],
)
def test_a_cell_that_looks_like_a_list_and_is_none_is_named(tmp_path, cell):
    header = ["question", "references", "response"]
    with pytest.raises(InputError, match="row 1 column references must"):
        loaded(tmp_path, header, ["q", "Oslo", "Oslo"], ["q", cell, "Oslo"])


# ---- what an empty cell of CSV means -----------------------------------------------------------------------------------

SIX = "question,references,response\n" + "".join(f"What is the capital of Norway?,Oslo,{said}\n" for said in (
    "Oslo", "Oslo", "Oslo", "Bergen", "", ""))  # fmt: skip
"""Three right answers, a wrong one and two empty cells."""


@pytest.mark.parametrize(
    ("keep_empty", "mean", "n_scored"), [(None, 3 / 4, 4), (False, 3 / 4, 4), (True, 3 / 6, 6)]
)
def test_an_empty_cell_is_missing_or_an_empty_answer(tmp_path, keep_empty, mean, n_scored):
    path = tmp_path / "six.csv"
    path.write_text(SIX, encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frames = [
            load_responses(given, keep_empty=keep_empty) for given in (path, pd.read_csv(path))
        ]
    # Nothing says that the frame was read from CSV.
    assert len(caught) == (keep_empty is None)
    for warning in caught:
        assert "2 of 6 responses in six.csv are empty cells" in str(warning.message)
        assert "keep_empty=True" in str(warning.message)
    for responses in frames:
        row = summarize(score(responses, "answer.exact_match")).iloc[0]
        assert (row["mean"], row["n_scored"], row["n"]) == (mean, n_scored, 6)


def test_reasoning_in_a_response_gets_a_column_of_its_own(tmp_path):
    wrong = "<think>Florey? Alexander Fleming? no</think>Howard Florey"
    replies = [wrong, "<think>Florey?</think>\nAlexander Fleming", "<think>Alexander", "Fleming"]
    questions = {"question": "Who?", "references": "Alexander Fleming"}
    made = pd.DataFrame(questions | {"response": replies})
    path = write_table(made, tmp_path / "m.csv")
    reasoning = ["<think>Florey?</think>", "<think>Alexander", None]
    for source in (path, made):
        frame = load_responses(source, language="en")
        assert frame["response"].tolist() == ["Howard Florey", "Alexander Fleming", "", "Fleming"]
        assert frame["reasoning"].tolist()[1:] == reasoning
        assert frame["reason"].isna().all()
        values = score(frame, ["answer.contains", "answer.exact_match", "rgb.accuracy"])["value"]
        assert values.tolist() == [0, 1, 0, 0] * 3
    assert "reasoning" not in load_responses(made.tail(1), language="en")
    again = load_responses(frame)  # a frame that was split before
    assert again["reasoning"].tolist() == frame["reasoning"].tolist()
