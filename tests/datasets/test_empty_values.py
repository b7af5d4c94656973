"""Empty values, grades, repeats and conversations in the files of evaluation tools."""

import json

import pandas as pd
import pytest

import ragnb
from ragnb.datasets import load_responses
from ragnb.datasets.records import first_value, inner_value
from ragnb.errors import InputError


def written(path, content):
    path.write_text(json.dumps(content, ensure_ascii=False), "utf-8")
    return path


def lines(path, *records):
    path.write_text("".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in records), "utf-8")
    return path


# ---- empty values ----------------------------------------------------------------------------------


def test_a_blank_value_is_used_only_if_no_other_key_has_one():
    record = {"label": " ", "id": "gpt-4o", "passages": [], "context": "Oslo is …", "reply": ""}
    assert first_value(record, "label id") == "gpt-4o"
    assert first_value(record, "passages context") == "Oslo is …"
    assert first_value(record, "reply text") == ""
    assert first_value(record, "text words") is None
    assert inner_value({"a": [{"b": 0}]}, "a.0.b") == 0
    assert inner_value({"a": [1]}, "a.3") is inner_value({"a": [1]}, "a.b") is None


def promptfoo(*providers, **keys):
    results = []
    for n, question in enumerate(("Who?", "Where?")):
        for k, provider in enumerate(providers):
            one = {"testIdx": n, "promptIdx": k, "provider": provider, "score": k, "success": True}
            one |= {"vars": {"question": question, "answer": "Ann"}, "failureReason": 0}
            one |= {"prompt": {"raw": f"Q: {question}", "label": "Q: {{question}}"}}
            one |= {"response": {"output": f"{k} {question}"}, "gradingResult": None}
            results.append(one | keys)
    return {"evalId": "e", "results": {"version": 3, "results": results}, "config": {}}


NAMES = {
    "empty labels": (
        [{"id": "openai:gpt-4o", "label": ""}, {"id": "openai:o3", "label": ""}],
        ["openai:gpt-4o", "openai:o3"],
    ),
    "blank and missing labels": (
        [{"id": "openai:gpt-4o", "label": "  "}, {"id": "openai:o3"}],
        ["openai:gpt-4o", "openai:o3"],
    ),
    "labels": ([{"id": "a", "label": "one"}, {"id": "a", "label": "two"}], ["one", "two"]),
    "texts": (["openai:gpt-4o", "openai:o3"], ["openai:gpt-4o", "openai:o3"]),
    "no name at all": (
        [{"id": "", "label": ""}, {"id": "", "label": ""}],
        ["Q: {{question}} 0", "Q: {{question}} 1"],
    ),
}


@pytest.mark.parametrize("case", NAMES)
def test_two_providers_of_promptfoo_are_two_systems(tmp_path, case):
    providers, names = NAMES[case]
    frame = load_responses(written(tmp_path / "p.json", promptfoo(*providers)))
    assert frame["system"].unique().tolist() == names
    scores = ragnb.load_scores(written(tmp_path / "p.json", promptfoo(*providers)))
    table = ragnb.compare(scores)
    assert table["n_pairs"].tolist() == [2]
    assert abs(table["difference"].item()) == 1


def test_a_failed_assertion_of_promptfoo_is_no_failed_request(tmp_path):
    answered = promptfoo("a", failureReason=1, error="Expected …", response={"output": ""})
    frame = load_responses(written(tmp_path / "a.json", answered), keep_empty=True)
    assert frame["response"].tolist() == ["", ""]
    failed = promptfoo("a", failureReason=2, error="HTTP 500", response={"output": ""})
    frame = load_responses(written(tmp_path / "b.json", failed), keep_empty=True)
    assert frame["response"].tolist() == [None, None]
    assert frame["reason"].tolist() == ["HTTP 500", "HTTP 500"]


def test_each_assertion_of_promptfoo_has_a_score_of_its_own(tmp_path):
    """Three assertions without a metric have one type, and an author may call a metric "score"."""
    parts = [
        {"assertion": {"type": "contains"}, "score": 1},
        {"assertion": {"type": "contains"}, "score": 0},
        {"assertion": {"type": "contains"}, "score": 0.5},
        {"assertion": {"type": "equals", "metric": "score"}, "score": 0.25},
    ]
    content = promptfoo("a", score=0.4, gradingResult={"componentResults": parts})
    scores = ragnb.load_scores(written(tmp_path / "p.json", content))
    of_first = scores[scores["example_id"] == scores["example_id"].iloc[0]]
    assert of_first.set_index("metric")["value"].to_dict() == {
        "promptfoo.score": 0.4,
        "promptfoo.contains": 1,
        "promptfoo.contains 2": 0,
        "promptfoo.contains 3": 0.5,
        "promptfoo.score 2": 0.25,
    }


def test_an_empty_identifier_or_error_of_deepeval_is_none(tmp_path):
    metric = {"name": "Faithfulness", "score": 0.5, "reason": "half of it", "error": ""}
    case = {"name": "c", "input": "Who?", "actualOutput": "", "metricsData": [metric]}
    run = {"testCases": [case], "conversationalTestCases": [], "identifier": ""}
    frame = load_responses(written(tmp_path / "mine.json", run), keep_empty=True)
    assert frame["system"].tolist() == ["mine"]
    assert frame["response"].tolist() == [""]
    assert frame["deepeval.Faithfulness.reason"].tolist() == ["half of it"]


# ---- grades ----------------------------------------------------------------------------------------


def inspect_log(*values, **keys):
    samples = [
        {"id": n, "epoch": 1, "input": f"Question {n}?", "target": "Ann"}
        | {"output": {"choices": [{"message": {"content": "Ann"}}]}}
        | {"scores": {"grade": {"value": value, "explanation": "x"}}}
        | keys
        for n, value in enumerate(values)
    ]
    return {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": samples}


def test_grades_of_inspect_ai_are_the_numbers_of_its_own_summaries(tmp_path):
    """The expected values are those of `inspect_ai.scorer.value_to_float`."""
    values = ["7", "0.5", "Yes", "NO", "True", "C", "P", "I", "N", 3, 0.25, True, " 1 ", "-2"]
    frame = load_responses(written(tmp_path / "log.json", inspect_log(*values)))
    numbers = [7, 0.5, 1, 0, 1, 1, 0.5, 0, 0, 3, 0.25, 1, 1, -2]
    assert frame["inspect_ai.grade"].tolist() == numbers
    scores = ragnb.load_scores(tmp_path / "log.json")
    assert scores["value"].tolist() == numbers


def test_grades_without_a_number_are_missing_and_reported(tmp_path, capsys):
    log = inspect_log("excellent", "1", "inf", "", None)
    frame = load_responses(written(tmp_path / "log.json", log))
    assert frame["inspect_ai.grade"].isna().tolist() == [True, False, True, True, True]
    said = capsys.readouterr().err
    assert "log.json: grades of grade, such as 'excellent', are neither numbers nor" in said


def test_a_sample_of_inspect_ai_with_an_error_is_unscored(tmp_path):
    output = {"choices": [{"message": {"content": ""}}]}
    log = inspect_log("I", output=output, error={"message": "HTTP 500"})
    frame = load_responses(written(tmp_path / "log.json", log))
    assert frame["response"].tolist() == [None]
    assert frame["reason"].tolist() == ["HTTP 500"]


# ---- repeats ---------------------------------------------------------------------------------------


def sample(number, responses, **keys):
    return {
        "doc_id": number,
        "doc": {"question": f"Question {number}?"},
        "target": "Ann",
        "arguments": {"gen_args_0": {"arg_0": f"Q: Question {number}?"}},
        "resps": responses,
        "filter": "none",
        "metrics": ["exact_match"],
        "exact_match": 1.0,
    } | keys


def test_each_repeat_of_lm_eval_is_a_row(tmp_path, capsys):
    file = lines(
        tmp_path / "samples.jsonl",
        sample(0, [["Ann", "Bob", "Ann"]]),
        sample(1, [["Cy", "Ann", "Ann"]]),
    )
    frame = load_responses(file)
    assert frame["response"].tolist() == ["Ann", "Bob", "Ann", "Cy", "Ann", "Ann"]
    assert frame["repeat"].tolist() == [0, 1, 2, 0, 1, 2]
    assert frame["example_id"].tolist() == [0, 0, 0, 1, 1, 1]
    assert frame["lm_eval.exact_match"].tolist() == [1] * 6
    assert "each repeat is one row. The scores of lm-evaluation" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("responses", "expected"),
    [
        ([["Ann"]], ["Ann"]),
        (["Ann"], ["Ann"]),
        ([[""]], [""]),
        ([["-13.2", "False"]], [None]),
        ([[[-13.2, False]], [[-2.5, True]]], [None]),
        ([[["-13.2", "False"]]], [None]),
    ],
)
def test_texts_and_likelihoods_of_lm_eval_differ(tmp_path, responses, expected):
    other = sample(1, [["Bob"]])
    file = lines(tmp_path / "s.jsonl", sample(0, responses), other)
    frame = load_responses(file, keep_empty=True)
    assert frame["response"].tolist() == [*expected, "Bob"]
    assert "repeat" not in frame


# ---- conversations ---------------------------------------------------------------------------------

TURNS = [
    {"role": "user", "content": "Hi", "order": 0},
    {"role": "assistant", "content": "Hello", "order": 1},
    {"role": "user", "content": "Who?", "order": 2},
    {"role": "assistant", "content": "Ann", "order": 3, "retrievalContext": ["Ann did."]},
]
METRIC = {"name": "Role Adherence", "score": 0.75, "reason": "mostly", "success": True}


def conversation(name, turns, **keys):
    return {"name": name, "success": True, "metricsData": [METRIC], "turns": turns} | keys


def test_conversations_of_deepeval_are_their_last_turn_with_a_history(tmp_path, capsys):
    cases = [conversation("c0", TURNS, scenario="asks"), conversation("c1", TURNS[:3])]
    run = {"testCases": [], "conversationalTestCases": cases, "identifier": "bot"}
    for content in (run, {"testRunData": run, "testRunLink": None}):
        frame = load_responses(written(tmp_path / "run.json", content))
        assert frame["question"].tolist() == ["Who?", "Who?"]
        assert frame["response"].tolist() == ["Ann", None]
        assert frame["reason"].tolist() == [None, "the conversation ends with a question"]
        assert [turn["content"] for turn in frame["history"][0]] == ["Hi", "Hello"]
        assert frame["passages"].tolist()[0] == ["Ann did."]
        assert frame["conversation_id"].tolist() == frame["example_id"].tolist() == ["c0", "c1"]
        assert frame["deepeval.Role Adherence"].tolist() == [0.75, 0.75]
        assert set(frame["system"]) == {"bot"}
        assert "2 conversations were read as their last question" in capsys.readouterr().err


def test_a_run_of_deepeval_with_both_kinds_of_cases_has_all_of_them(tmp_path):
    case = {"name": "t", "input": "Where?", "actualOutput": "Oslo", "metricsData": []}
    old = [{"input": "Hi", "actualOutput": "Hello"}, {"input": "Who?", "actualOutput": "Ann"}]
    both = {"testCases": [case], "conversationalTestCases": [conversation("c0", old)]}
    frame = load_responses(written(tmp_path / "run.json", both))
    assert frame["question"].tolist() == ["Where?", "Who?"]
    assert frame["response"].tolist() == ["Oslo", "Ann"]
    assert frame["example_id"].tolist() == ["Where?", "c0"]


def test_a_dataset_of_conversations_loads_and_one_without_a_question_is_refused(tmp_path):
    golden = {"scenario": "asks", "expected_outcome": "is answered", "turns": TURNS}
    frame = load_responses(written(tmp_path / "goldens.json", [golden]))
    assert frame["response"].tolist() == ["Ann"]
    assert frame["expected_outcome"].tolist() == ["is answered"]
    with pytest.raises(InputError, match="the conversation 'c0' has no turn of the user"):
        run = {"testCases": [], "conversationalTestCases": [conversation("c0", TURNS[1:2])]}
        load_responses(written(tmp_path / "run.json", run))


def test_an_empty_system_is_missing_in_every_format(tmp_path):
    row = {"schema_version": "1", "sample_id": "q", "input": {"raw": "Who?", "reference": ["Ann"]}}
    row |= {"model_id": "", "output": {"raw": ["Ann"]}, "evaluation": {"score": 1.0}}
    frame = load_responses(lines(tmp_path / "mine.jsonl", row))
    assert frame["system"].tolist() == ["mine"]
    assert isinstance(frame, pd.DataFrame)
