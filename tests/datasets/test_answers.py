"""Reference answers in the shapes of other files: no answer, blank answers, objects and numbers."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import ragnb
from ragnb.datasets import load_multilingual, load_responses
from ragnb.datasets.answers import answer_of
from ragnb.errors import InputError
from ragnb.metrics import exact_match, token_f1


def written(path, content):
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text, "utf-8")
    return path


def squad(*questions):
    """A file in the format of SQuAD 2.0."""
    asked = [
        {
            "id": name,
            "question": f"What is {name}?",
            "answers": [{"text": text, "answer_start": 0} for text in gold],
            "is_impossible": not gold,
        }
        for name, gold in questions
    ]
    return {
        "version": "v2.0",
        "data": [{"title": "t", "paragraphs": [{"context": "c", "qas": asked}]}],
    }


# ---- the right answer is no answer -----------------------------------------------------------------


@pytest.mark.parametrize("variant", ["squad", "unicode"])
def test_questions_of_squad_2_without_an_answer_count_as_its_script_counts_them(tmp_path, variant):
    """evaluate-v2.0.py: an answer to a question without gold is wrong, an empty text is right."""
    gold = squad(("a", ["Oslo"]), ("b", ["Rome"]), ("c", []), ("d", []))
    predictions = {"a": "Oslo", "b": "Rome", "c": "", "d": "Paris"}
    frame = load_responses(
        written(tmp_path / "p.json", predictions), examples=written(tmp_path / "dev.json", gold)
    )
    assert frame["references"].tolist() == [[["Oslo"]], [["Rome"]], [[""]], [[""]]]
    assert frame["answerable"].tolist() == [1, 1, 0, 0]
    for metric in ("answer.exact_match", "answer.f1"):
        scores = ragnb.score(frame, metric, variant=variant)
        assert scores["value"].tolist() == [1, 1, 1, 0]
        assert scores["reason"].isna().all()


def test_a_file_of_questions_whose_answers_are_secret_has_no_references(tmp_path):
    gold = squad(("a", []), ("b", []))
    for question in gold["data"][0]["paragraphs"][0]["qas"]:
        del question["is_impossible"]
    predictions = written(tmp_path / "p.json", {"a": "Oslo", "b": ""})
    frame = load_responses(predictions, examples=written(tmp_path / "test.json", gold))
    assert frame["references"].tolist() == [None, None]


NO_ANSWER = {
    "json lines": ("a.jsonl", '{"question": "Who?", "references": [""], "response": ""}\n'),
    "parts": ("a.jsonl", '{"question": "Who?", "references": [[""]], "response": ""}\n'),
    "csv": ("a.csv", 'question,references,response,reason\nWho?,"[""""]",No one,\n'),
    "hugging face": (
        "a.jsonl",
        '{"question": "Who?", "references": {"text": [], "answer_start": []}, "response": ""}\n',
    ),
}


@pytest.mark.parametrize("shape", NO_ANSWER)
@pytest.mark.filterwarnings("ignore:.*parts that are all needed")
def test_every_shape_of_a_file_can_state_that_no_answer_is_right(tmp_path, shape):
    name, content = NO_ANSWER[shape]
    frame = load_responses(written(tmp_path / name, content), language="en")
    assert frame["references"].tolist() == [[[""]]]
    expected = 0 if shape == "csv" else 1
    assert ragnb.score(frame, "answer.f1")["value"].tolist() == [expected]


def test_parallel_questions_can_state_that_no_answer_is_right(tmp_path):
    record = {"id": 1, "language": "de", "question": "Wer?", "answers": [""]}
    frame = load_multilingual(written(tmp_path / "own.jsonl", record))
    assert frame["references"].tolist() == [[[""]]]
    with pytest.raises(InputError, match="the question 1 must have answers that are not blank"):
        load_multilingual(written(tmp_path / "own.jsonl", record | {"answers": ["Ann", " "]}))


def test_a_blank_text_is_no_statement():
    """Only a list states that no answer is right; a blank text may be a gap."""
    assert exact_match("", [[""]]) == token_f1("", [[""]]) == 1
    assert exact_match("Oslo", [[""]]) == 0
    assert math.isnan(exact_match("", ""))


@pytest.mark.parametrize("measure", [exact_match, token_f1])
def test_only_a_blank_response_states_that_there_is_no_answer(measure):
    """A zero-width space is blank. Three dots are not, and may mean that the answer was cut off."""
    assert measure("\u200b \n", [[""]]) == 1
    assert math.isnan(measure("...", [[""]]))
    # SQuAD's script deletes the dots, so that nothing is left of either text.
    assert measure("...", [[""]], variant="squad") == 1


# ---- blank references ------------------------------------------------------------------------------


@pytest.mark.data
def test_a_released_run_of_lbrag_has_the_numbers_that_it_published(data_folder):
    frame = load_responses(data_folder / "lbrag" / "20251214_2145_answers.jsonl")
    published = json.loads((data_folder / "lbrag" / "20251214_2145_metrics.json").read_text())
    report = ragnb.multilingual_report(frame, variant="lbrag")
    names = ["em", "f1", "rlc", "rlc_ok", "cost", "cnbe", "semantic_score"]
    for system, expected in published.items():
        rows = report.table[report.table["system"] == system]
        assert rows["mean"].tolist() == pytest.approx([expected[name] for name in names])
        spreads = [expected[f"{name}_std"] for name in names]
        assert rows["std"].tolist() == pytest.approx(spreads)
        assert set(rows["n_scored"]) == {expected["n"]}
    assert "26 of 100 questions have a blank reference. Their responses are compared" in str(report)


@pytest.mark.data
def test_the_metrics_json_of_a_released_run_is_written_and_read_in_two_lines(data_folder, tmp_path):
    answers = data_folder / "lbrag" / "20251214_2145_answers.jsonl"
    published = data_folder / "lbrag" / "20251214_2145_metrics.json"
    report = ragnb.multilingual_report(load_responses(answers), variant="lbrag")
    file = report.write_metrics_json(tmp_path / "metrics.json")

    written = json.loads(file.read_text("utf-8"))["metrics"]
    released = json.loads(published.read_text("utf-8"))
    assert list(written) == list(released)
    for system, expected in released.items():
        assert list(written[system]) == list(expected)
        assert written[system] == pytest.approx(expected, rel=1e-12)
    ours, theirs = ragnb.load_metrics_json(file), ragnb.load_metrics_json(published)
    pd.testing.assert_frame_equal(ours, theirs, rtol=1e-12)
    assert len(ours) == 28  # seven metrics of four systems
    lines = report.lines()
    assert lines[3].startswith(
        "lbrag    | EM=0.420±0.496 | F1=0.515±0.463 | RLC=0.962±0.160 | Cost=27.2±8.0"
    )


def test_only_the_published_code_compares_with_a_blank_reference(tmp_path, capsys):
    lines = [
        {"sample_id": name, "sample_lang": "en", "system": "direct", "question": f"Who is {name}?"}
        | {"gold_answer": gold, "pred_answer": answer}
        for name, gold, answer in (("a", "Ann", "Ann"), ("b", "", "Bob"), ("c", " ", ""))
    ]
    content = "".join(f"{json.dumps(line)}\n" for line in lines)
    frame = load_responses(written(tmp_path / "run_answers.jsonl", content))
    assert "2 of 3 references are blank" in capsys.readouterr().err
    ours = ragnb.score(frame, "answer.f1")
    assert ours["value"].isna().tolist() == [False, True, True]
    assert ours["reason"].tolist()[1:] == ["no reference in the file"] * 2
    theirs = ragnb.score(frame, "answer.f1", variant="lbrag")
    assert theirs["value"].tolist() == [1, 0, 1]
    report = ragnb.multilingual_report(frame)
    assert "2 of 3 questions have a blank reference. Their responses have no exact" in str(report)


def test_a_run_without_blank_references_says_nothing_about_them(tmp_path):
    line = {"sample_id": "a", "sample_lang": "en", "system": "direct", "question": "Who?"}
    file = written(tmp_path / "answers.jsonl", line | {"gold_answer": "Ann", "pred_answer": "Ann"})
    frame = load_responses(file)
    assert "blank_reference" not in frame
    assert "blank" not in str(ragnb.multilingual_report(frame, variant="lbrag"))


# ---- objects and numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"text": ["Oslo", "the city"], "answer_start": [1, 2]}, [["Oslo", "the city"]]),
        ([{"text": "Oslo", "answer_start": 1}, {"text": "Oslo"}], [["Oslo"]]),
        ({"text": np.array(["Oslo"], object), "answer_start": np.array([3])}, [["Oslo"]]),
        ({"aliases": ["Oslo", "Kristiania"], "normalized_aliases": ["oslo"], "value": "Oslo"}, [["Oslo", "Kristiania"]]),
        ({"Aliases": ["Oslo"], "HumanAnswers": ["oslo city"], "Value": "Oslo"}, [["Oslo", "oslo city"]]),
        ({"aliases": [], "value": "Oslo"}, [["Oslo"]]),
        ({"value": "Oslo", "aliases": ["Kristiania"]}, [["Oslo", "Kristiania"]]),
        ({"answer": "Oslo", "aliases": ["Kristiania", "Oslo"]}, [["Oslo", "Kristiania"]]),
        ({"text": "Oslo", "aliases": ["Kristiania"]}, [["Oslo", "Kristiania"]]),
        ({"aliases": ["Oslo"]}, [["Oslo"]]),
        ({"text": []}, [[""]]),
        ({"number": "12", "spans": [], "date": {}}, [["12"]]),
        (1905, "1905"),
        (1905.0, "1905"),
        (0.5, "0.5"),
        (True, "true"),
        ([1905, "in 1905"], ["1905", "in 1905"]),
        ([[1905, 1906]], [["1905", "1906"]]),
        (np.int64(7), "7"),
        (float("nan"), None),
        (pd.NA, None),
    ],
)  # fmt: skip
def test_a_reference_becomes_texts(value, expected):
    assert answer_of(value) == expected


@pytest.mark.filterwarnings("ignore:.*parts that are all needed")
def test_files_with_objects_and_numbers_as_references_load(tmp_path):
    records = [
        {"question": "When?", "references": 1905, "response": "1905"},
        {"question": "Where?", "references": {"text": ["Oslo"]}, "response": "Oslo"},
        {"question": "How many?", "references": [3.0], "response": "3"},
    ]
    content = "".join(f"{json.dumps(record)}\n" for record in records)
    frame = load_responses(written(tmp_path / "a.jsonl", content), language="en")
    assert frame["references"].tolist() == [[["1905"]], [["Oslo"]], [["3"]]]
    assert ragnb.score(frame, "answer.exact_match")["value"].tolist() == [1, 1, 1]
    with pytest.raises(InputError, match="row 0: a reference that is an object must have one of"):
        load_responses(pd.DataFrame([records[0] | {"references": {"start": 3}}]))
