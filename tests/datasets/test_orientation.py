"""JSON objects that contain a whole table, paths inside objects, and lists of files of scores."""

import json

import pandas as pd
import pytest

import ragnb
from ragnb.datasets import load_responses
from ragnb.errors import InputError

TUTORIAL = {
    "question": ["When was it built?", "Who built it?", "Where is it?"],
    "answer": ["In 1905.", "Ann", "In Oslo"],
    "contexts": [["It was built in 1905."], ["Ann built it."], ["It is in Oslo.", "Or so."]],
    "ground_truth": ["1905", "Ann", "Oslo"],
}
FRAME = pd.DataFrame(
    {
        "question": TUTORIAL["question"],
        "response": TUTORIAL["answer"],
        "references": TUTORIAL["ground_truth"],
    }
)


def written(path, content):
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text, "utf-8")
    return path


def test_the_data_set_of_every_tutorial_of_ragas_has_one_row_per_item(tmp_path):
    frame = load_responses(written(tmp_path / "dataset.json", TUTORIAL))
    assert frame["question"].tolist() == TUTORIAL["question"]
    assert frame["response"].tolist() == TUTORIAL["answer"]
    assert frame["passages"].tolist() == TUTORIAL["contexts"]
    assert frame["references"].tolist() == [[["1905"]], [["Ann"]], [["Oslo"]]]


def by_id(frame):
    return {f"q{n}": row for n, row in enumerate(frame.to_dict("records"))}


ORIENTATIONS = {
    "list": FRAME.to_dict("list"),
    "columns": json.loads(FRAME.to_json()),
    "split": json.loads(FRAME.to_json(orient="split", index=False)),
    "table": json.loads(FRAME.to_json(orient="table", index=False)),
    "index": json.loads(FRAME.to_json(orient="index")),
    "records": FRAME.to_dict("records"),
    "one record per id": by_id(FRAME),
    "records under a key": {"name": "run 7", "results": FRAME.to_dict("records")},
    "viewer of Hugging Face": {
        "rows": [{"row_idx": 0, "row": r} for r in FRAME.to_dict("records")]
    },
    "constants": FRAME.to_dict("list") | {"system": "ours"},
}


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_table_in_one_json_object_has_one_row_per_item(tmp_path, orientation):
    file = written(tmp_path / "table.json", ORIENTATIONS[orientation])
    frame = load_responses(file, language="en")
    assert frame["question"].tolist() == FRAME["question"].tolist()
    assert frame["response"].tolist() == FRAME["response"].tolist()
    assert frame["references"].tolist() == [[["1905"]], [["Ann"]], [["Oslo"]]]
    ids = ["q0", "q1", "q2"] if orientation == "one record per id" else TUTORIAL["question"]
    assert frame["example_id"].tolist() == ids
    assert set(frame["system"]) == {"ours" if orientation == "constants" else "table"}


def test_columns_with_other_names_are_lists_too(tmp_path):
    content = {"q": ["Who?", "Where?"], "gold": [["Ann"], ["Oslo"]], "out": ["Ann", "Rome"]}
    names = {"question": "q", "references": "gold", "response": "out"}
    frame = load_responses(written(tmp_path / "a.json", content), names, language="en")
    assert frame["response"].tolist() == ["Ann", "Rome"]
    assert frame["references"].tolist() == [[["Ann"]], [["Oslo"]]]


def test_one_record_with_lists_stays_one_row(tmp_path):
    turns = [{"type": "human", "content": "Who?"}, {"type": "ai", "content": "Ann"}]
    record = {"user_input": turns, "reference_contexts": ["a", "b"]}
    assert len(load_responses(written(tmp_path / "turns.json", record))) == 1
    record = {"question": "Who?", "references": ["Ann", "Bob"], "response": "Ann"}
    frame = load_responses(written(tmp_path / "one.json", record), alternatives=True)
    assert frame["references"].tolist() == [[["Ann", "Bob"]]]


def test_lists_of_different_lengths_are_refused(tmp_path):
    file = written(tmp_path / "d.json", TUTORIAL | {"answer": ["In 1905."]})
    with pytest.raises(InputError, match="d.json has one list per column.*question 3, answer 1"):
        load_responses(file)


# ---- paths inside objects --------------------------------------------------------------------------


def test_a_path_names_a_value_inside_objects(tmp_path):
    records = [
        {"inputs": {"question": "Who?"}, "outputs": {"answer": "Ann"}, "gold": [{"text": "Ann"}]},
        {
            "inputs": {"question": "Where?"},
            "outputs": {"answer": "Oslo"},
            "gold": [{"text": "Rome"}],
        },
        {"inputs": {"question": "When?"}, "outputs": None, "gold": [{"text": "1905"}]},
    ]
    names = {
        "question": "inputs.question",
        "response": "outputs.answer",
        "references": "gold.0.text",
    }
    table = pd.DataFrame(records)
    table.to_csv(tmp_path / "a.csv", index=False)
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    for source in (table, tmp_path / "a.csv", written(tmp_path / "a.jsonl", lines)):
        frame = load_responses(source, names, language="en", keep_empty=False)
        assert frame["response"].tolist() == ["Ann", "Oslo", None]
        assert frame["references"].tolist() == [[["Ann"]], [["Rome"]], [["1905"]]]
    with pytest.raises(InputError, match=r"column 'outputs' has no 'text'; its keys are answer"):
        load_responses(table, names | {"response": "outputs.text"})
    with pytest.raises(InputError, match=r"columns= names 'out.text', but the columns are inputs"):
        load_responses(table, names | {"response": "out.text"})


# ---- several files of scores -----------------------------------------------------------------------


@pytest.fixture
def scored(tmp_path):
    """Two files of scores, one per system."""
    for system, values in (("A", [0.5, 0.25, 0.75]), ("B", [1.0, 0.75, 0.5])):
        table = pd.DataFrame({"user_input": TUTORIAL["question"], "response": TUTORIAL["answer"]})
        table["faithfulness"] = values
        table.to_csv(tmp_path / f"ragas_{system}.csv", index=False)
    return tmp_path


def test_scores_of_several_files_are_one_frame(scored):
    both = [scored / "ragas_A.csv", scored / "ragas_B.csv"]
    first = ragnb.load_scores(both)
    pd.testing.assert_frame_equal(ragnb.load_scores(str(scored / "ragas_*.csv")), first)
    pd.testing.assert_frame_equal(ragnb.load_scores([str(scored / "ragas_*.csv")]), first)
    assert first["system"].tolist() == ["ragas_A"] * 3 + ["ragas_B"] * 3
    assert first["value"].tolist() == [0.5, 0.25, 0.75, 1, 0.75, 0.5]
    with pytest.raises(
        InputError, match=r"two of the 2 files have ragas.faithfulness of x for When"
    ):
        ragnb.load_scores(both, system="x")
    with pytest.raises(InputError, match=r"no file matches the pattern '.*none_\*.csv'"):
        ragnb.load_scores(scored / "none_*.csv")
    with pytest.raises(InputError, match="at least one file, got an empty list"):
        ragnb.load_scores([])


def test_responses_of_no_file_are_refused(tmp_path):
    with pytest.raises(InputError, match="no file matches the pattern"):
        load_responses(tmp_path / "*.jsonl")
    with pytest.raises(InputError, match="at least one file, got an empty list"):
        load_responses([])
