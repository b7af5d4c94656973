"""Files that other tools wrote are read as those tools read them."""

import gzip
import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

import ragnb
from ragnb.datasets import load_study
from ragnb.datasets.formats.registry import FORMATS
from ragnb.errors import InputError

HERE = Path(__file__).parent / "made_by"
ROWS = json.loads((HERE / "rows.json").read_text("utf-8"))
LM_EVAL = "samples_rivers_2026-11-23T06-44-02.935925.jsonl"
FLASHRAG = "nq_2026_naive/intermediate_data.json"

# ---- one file by each tool that installs ---------------------------------------------------------

MADE = {  # file -> format, system, the tool's own scores as its own reader gives them
    "ragas_dataset.jsonl": ("ragas", "ragas_dataset", {}),
    "ragas_dataset.csv": ("ragas", "ragas_dataset", {}),
    "ragas_result.csv": ("ragas", "ragas_result", {"exact_match": [0, 0, 0], "string_present": [0, 1, 0]}),
    "ragas_result.json": ("ragas", "ragas_result", {"exact_match": [0, 0, 0], "string_present": [0, 1, 0]}),
    "ragas_records.json": ("ragas", "ragas_records", {"exact_match": [0, 0, 0], "string_present": [0, 1, 0]}),
    "deepeval_test_run.json": ("deepeval", "parrot", {"Answer Length": [0.8125, 0.125, 1.0]}),
    "deepeval_latest_test_run.json": ("deepeval", "parrot", {"Answer Length": [0.8125, 0.125, 1.0]}),
    "deepeval_goldens.json": ("deepeval", "deepeval_goldens", {}),
    "deepeval_goldens.jsonl": ("deepeval", "deepeval_goldens", {}),
    "deepeval_goldens.csv": ("deepeval", "deepeval_goldens", {}),
    "ragchecker_inputs.json": ("ragchecker", "ragchecker_inputs", {}),
    "ragchecker_outputs.json": ("ragchecker", "ragchecker_outputs", {"precision": [0.5, 0.5, 0], "recall": [1, 1, 0]}),
    FLASHRAG: ("flashrag", "nq_2026_naive", {"f1": [0.5, 1.0, 0.0]}),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_a_file_of_the_tool_itself_loads_as_it_is(name):
    format, system, scores = MADE[name]
    frame = ragnb.load_responses(HERE / name)
    assert frame["question"].tolist() == [row["question"] for row in ROWS]
    assert frame["response"].tolist() == [row["response"] for row in ROWS]
    assert [parts[0][0] for parts in frame["references"]] == [row["reference"] for row in ROWS]
    titles = '"Title"\n' if name == FLASHRAG else ""
    assert frame["passages"].tolist() == [
        [titles + passage for passage in row["passages"]] for row in ROWS
    ]
    assert frame["example_id"].is_unique
    assert frame["system"].unique().tolist() == [system]
    for metric, values in scores.items():
        assert frame[f"{format}.{metric}"].tolist() == pytest.approx(values)
    assert f"format={format!r}" in frame.attrs["read_as"]


def test_a_log_of_inspect_ai_has_its_epochs_and_its_words_as_numbers():
    """The values are those that `inspect_ai.log.read_eval_log` gives."""
    frame = ragnb.load_responses(HERE / "inspect.eval")
    assert frame["response"].tolist() == [row["response"] for row in ROWS] * 2
    assert frame["references"].tolist() == [[[row["reference"], "?"]] for row in ROWS] * 2
    assert frame["repeat"].tolist() == [0, 0, 0, 1, 1, 1]
    assert frame["inspect_ai.includes"].tolist() == [1, 1, 0] * 2
    assert frame["inspect_ai.f1"].tolist() == [0.4, 0, 0] * 2
    assert set(frame["system"]) == {"mockllm/parrot"}
    assert set(frame["inspect_ai.version"]) == {"0.3.285"}


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv"])
def test_results_of_promptfoo_have_both_providers(ending):
    frame = ragnb.load_responses(HERE / f"promptfoo.{ending}").sort_values(["system", "example_id"])
    echo, student = frame[frame["system"] == "parrot"], frame[frame["system"] == "student"]
    assert echo["response"].tolist() == [row["question"] for row in ROWS[:2]]
    assert student["response"].tolist() == ["The Danube.", None]
    assert student["reason"].tolist()[1] == ("ERROR" if ending == "csv" else "no connection")
    assert frame["references"].tolist() == [[["the Danube"]], [["张择端"]]] * 2
    assert frame["passages"].tolist()[0] == ["The Danube flows through Vienna."]
    digits = 2 if ending == "csv" else 3
    assert frame["promptfoo.score"].round(digits).tolist() == pytest.approx(
        [0.17, 0, 0.56, 0] if ending == "csv" else [0.165, 0, 0.555, 0]
    )


def test_a_table_of_promptfoo_without_outputs_says_what_is_missing(tmp_path):
    file = tmp_path / "promptfoo.csv"
    file.write_text("question,Status,Score,Grader Reason\nWho?,PASS,1,\n")
    with pytest.raises(InputError, match=r"no column of outputs, whose name begins with the prov"):
        ragnb.load_responses(file)


def test_samples_of_lm_eval_have_one_column_per_filter_and_the_model_of_their_run(tmp_path):
    shutil.copy(HERE / LM_EVAL, tmp_path)
    (tmp_path / LM_EVAL.replace("samples_rivers", "results").removesuffix("l")).write_text(
        '{"model_name": "dummy"}'
    )
    frame = ragnb.load_responses(tmp_path / LM_EVAL)
    assert frame["question"].tolist() == [row["question"] for row in ROWS]
    assert frame["passages"].tolist() == [row["passages"] for row in ROWS]
    assert frame["response"].tolist() == ["lol"] * 3
    assert set(frame["system"]) == {"dummy"}
    assert set(frame["task"]) == {"rivers"}
    assert frame["lm_eval.exact_match,strict"].tolist() == [0, 0, 0]
    assert frame["lm_eval.exact_match,word"].tolist() == [0, 0, 0]


def test_results_of_open_rag_eval_have_their_runs_and_scores():
    frame = ragnb.load_responses(HERE / "open_rag_eval_results.csv")
    for n, row in enumerate(ROWS):
        runs = frame[frame["example_id"] == f"q{n}"]
        assert runs["repeat"].tolist() == [0, 1]
        assert runs["response"].tolist() == [row["response"]] * 2
        assert runs["passages"].tolist() == [row["passages"]] * 2
        assert runs["open_rag_eval.mean_umbrela_score"].tolist() == [1.5, 2.0]
        assert runs["open_rag_eval.hallucination_score"].tolist() == [0.25 * n] * 2


def test_the_names_of_ragas_0_1_load_too(tmp_path):
    old = {"question": "Who?", "answer": "Ann", "contexts": ["Ann did."], "context_recall": 0.5}
    table = pd.DataFrame([old | {"ground_truths": ["Ann", "A."], "faithfulness": None}])
    table.to_csv(tmp_path / "old.csv", index=False)
    for source in (table, tmp_path / "old.csv"):
        frame = ragnb.load_responses(source)
        assert frame["references"].tolist() == [[["Ann", "A."]]]
        assert frame["passages"].tolist() == [["Ann did."]]
        assert frame["ragas.context_recall"].tolist() == [0.5]
        assert frame["ragas.faithfulness"].isna().all()


def test_a_conversation_of_ragas_is_its_last_turn_with_a_history(tmp_path):
    turns = [("human", "Hi"), ("ai", "Hello"), ("human", "Who?"), ("ai", "Ann")]
    sample = {"user_input": [{"type": who, "content": said} for who, said in turns]}
    (tmp_path / "turns.jsonl").write_text(json.dumps(sample | {"reference": "Ann"}))
    row = ragnb.load_responses(tmp_path / "turns.jsonl").iloc[0]
    assert (row["question"], row["response"]) == ("Who?", "Ann")
    assert [turn["content"] for turn in row["history"]] == ["Hi", "Hello"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_tested_and_documented(name):
    tests = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    # A test names a format itself, or a column of it: "ragas.faithfulness".
    assert re.search(rf"[\"']{name}[\"'.]", tests), (
        f"add a test to tests/datasets that reads a file in the format {name}"
    )
    assert f'``"{name}"``' in ragnb.load_responses.__doc__, (
        f'name ``"{name}"`` in the docstring of load_responses, at its parameter format'
    )


# The questions from which tools wrote the other files.
GIVEN = {"rows.json"}
ENDINGS = {".json", ".jsonl", ".csv", ".eval"}
WRITTEN = sorted(
    path.relative_to(HERE).as_posix()
    for path in HERE.rglob("*")
    if path.suffix in ENDINGS and path.name not in GIVEN and "hf_splits" not in path.parts
)


@pytest.mark.parametrize("file", WRITTEN)
def test_each_file_has_one_format_only(file):
    content = ragnb.datasets.reading.read_frame(HERE / file)
    recognised = [name for name, one in FORMATS.items() if one.recognises(content)]
    assert len(recognised) == 1, (
        f"{file} has the keys of {recognised or 'no format'}: choose keys that one format alone has"
    )


# ---- real files ----------------------------------------------------------------------------------


REAL = {  # file -> its records, and the value of each column that a record gives
    "inspect_pubmedqa.json": (lambda file: file["samples"], {
        "question": lambda one: one["input"],
        "response": lambda one: one["output"]["choices"][0]["message"]["content"],
        "inspect_ai.choice": lambda one: {"C": 1}[one["scores"]["choice"]["value"]],
        "system": lambda _: "openai/azure/gpt-4o-mini",
    }),
    "ragchecker_outputs.json": (lambda file: file["results"], {
        "response": lambda one: one["response"],
        "passages": lambda one: [passage["text"] for passage in one["retrieved_context"]],
        "ragchecker.f1": lambda one: one["metrics"]["f1"],
    }),
    "ragchecker_inputs.json": (lambda file: file["results"], {
        "references": lambda one: [[one["gt_answer"]]],
    }),
    "deepeval_test_run.json": (lambda file: file["testCases"], {
        "response": lambda one: one["actualOutput"],
        "deepeval.Faithfulness": lambda one: one["metricsData"][1]["score"],
        "deepeval.Faithfulness.reason": lambda one: one["metricsData"][1]["reason"],
        "deepeval.Answer Relevancy": lambda one: one["metricsData"][0]["score"],
        "deepeval.Answer Relevancy.reason": lambda one: one["metricsData"][0]["reason"],
    }),
    "samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl": (list, {
        "example_id": lambda one: one["doc_id"],
        "question": lambda one: one["doc"]["problem"],
        "references": lambda one: [[one["target"]]],
        "response": lambda one: one["resps"][0][0],
        "lm_eval.exact_match": lambda one: one["exact_match"],
    }),
    "every_eval_ever_samples.jsonl": (list, {
        "example_id": lambda one: one["sample_id"],
        "system": lambda one: one["model_id"],
        "question": lambda one: one["input"]["raw"],
        "references": lambda _: [["4"]],
        "response": lambda _: "The answer is 4.",
        "every_eval_ever.score": lambda _: 1.0,
    }),
}  # fmt: skip


@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_a_real_file_has_the_values_that_it_contains(name, data_folder):
    path = data_folder / "interop" / name
    records_of, columns = REAL[name]
    text = path.read_text("utf-8")
    lines = text.splitlines() if name.endswith("l") else [text]
    content = [json.loads(line) for line in lines]
    records = records_of(content if name.endswith("l") else content[0])
    frame = ragnb.load_responses(path)
    for column, value in columns.items():
        assert frame[column].tolist() == [value(record) for record in records], column


@pytest.mark.data
def test_a_packed_log_of_inspect_ai_has_the_accuracy_that_it_reports(data_folder):
    frame = ragnb.load_responses(data_folder / "interop" / "inspect_popularity.eval")
    assert (len(frame), frame["inspect_ai.match"].mean()) == (10, 0.8)
    assert set(frame["references"].map(str)) <= {"[[' Yes']]", "[[' No']]"}


@pytest.mark.data
def test_a_table_of_open_rag_eval_has_one_row_per_run(data_folder):
    table = pd.read_csv(data_folder / "interop" / "open_rag_eval.csv")
    frame = ragnb.load_responses(data_folder / "interop" / "open_rag_eval.csv")
    assert len(frame) == len(table.drop_duplicates(["query_id", "query_run"]))
    assert frame["passages"].explode().tolist() == table["passage"].tolist()
    assert frame["response"][0].startswith("Black holes are dense [1]")


@pytest.mark.data
def test_mtrag_has_the_grades_of_its_annotators(data_folder):
    file = data_folder / "mtrag" / "reference_subset_with_human_evaluations.json.gz"
    frame = ragnb.load_responses(file)
    study = load_study("mtrag")
    same = "system question response references human_faithfulness human_completeness turn"
    for column in [*same.split(), "conversation_id"]:
        assert frame[column].tolist() == study[column].tolist()
    assert frame["inspectorraget.rb_agg"].tolist() == study["mtrag.rb_agg"].tolist()
    assert frame["human_faithfulness_grades"].map(len).tolist() == study["n_raters"].tolist()
    tasks = json.loads(gzip.decompress(file.read_bytes()))["tasks"]
    shown = {task["task_id"]: len(task["contexts"]) for task in tasks}
    assert frame["passages"].map(len).tolist() == frame["example_id"].map(shown).tolist()
    lines = ragnb.load_responses(data_folder / "mtrag" / "responses-10.jsonl")
    assert len(lines) == 10
    assert lines["question"][0] == "where do the arizona cardinals play this week"
    assert lines["turn"].head(3).tolist() == [1, 2, 3]
    assert lines["conversation_id"].nunique() < 10


# ---- broken twins --------------------------------------------------------------------------------


def twin(name, change):
    """A file whose text is changed; the change is `(old, new)` for every occurrence, or a length."""
    text = (HERE / name).read_text("utf-8")
    if isinstance(change, float):
        return text[: int(len(text) * change)]
    assert change[0] in text
    return text.replace(*change)


CUT = "if the file is cut off, copy or write it again"
BROKEN = {
    ("ragas_dataset.jsonl", 0.9): f"line 3: must be JSON .*{CUT}",
    ("ragas_result.csv", 0.3): "complete .* EOF inside string starting at row 1",
    ("ragas_dataset.jsonl", ('"response"', '"reply"')): r"no column named response; its columns are user_input, .* to use: load_responses\('.*', \{'question': 'user_input', 'response': 'reply', 'references': 'reference'\}",
    ("deepeval_test_run.json", ('"input"', '"prompt"')): r"deepeval_test_run.json item 1: must have the key input, got name, .*was read as a test run .* of DeepEval; if it is something else",
    ("deepeval_test_run.json", ('"actualOutput"', '"output"')): "was read as a test run .*, but no row has a response; name the column",
    ("deepeval_test_run.json", ('"score": 0.8125', '"score": "high"')): "item 1, score Answer Length: must be a number, got 'high'",
    ("deepeval_test_run.json", ('"testCases": [', '"testCases": [], "more": [')): "has no responses. It was read as a test run",
    (LM_EVAL, ('"arguments": {"gen_args_0"', '"arguments": 5, "others": {"gen_args_0"')): "has a wrong value .*was read as samples of lm-evaluation",
    }  # fmt: skip


@pytest.mark.parametrize(("broken", "message"), BROKEN.items(), ids=str)
def test_a_broken_twin_gets_a_sentence_with_file_place_and_advice(tmp_path, broken, message):
    name, change = broken
    path = tmp_path / Path(name).name
    path.write_text(twin(name, change), "utf-8")
    with pytest.raises(InputError, match=message) as caught:
        ragnb.load_responses(path)
    assert path.name in str(caught.value)


ENDINGS = (".json", ".jsonl", ".csv", ".eval", ".xlsx")
FILES = [path.name for path in sorted(HERE.iterdir()) if path.suffix in ENDINGS]


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_off_is_refused_with_its_name(name, tmp_path):
    content = (HERE / name).read_bytes()
    path = tmp_path / Path(name).name
    path.write_bytes(content[: int(len(content) * 0.6)])
    with pytest.raises(InputError, match=re.escape(path.name)):
        ragnb.load_responses(path)


def test_mixed_systems_get_the_numbers_of_their_rows_and_a_sentence(tmp_path, capsys):
    text = (HERE / "ragas_dataset.jsonl").read_text("utf-8")
    (tmp_path / "two.jsonl").write_text(text * 2, "utf-8")
    frame = ragnb.load_responses(tmp_path / "two.jsonl")
    assert frame["example_id"].tolist() == ["0", "1", "2", "3", "4", "5"]
    said = capsys.readouterr().err
    assert "two.jsonl has no ids. Row 3 has no question" in said
    assert "If the file contains several systems, name the column of the system" in said


def test_the_documentation_names_each_format():
    text = (HERE.parents[2] / "docs" / "formats.md").read_text("utf-8")
    missing = [name for name in FORMATS if f"| `{name}` |" not in text]
    assert not missing, f"add a row to docs/formats.md for {missing}"


def test_a_format_can_be_forced_and_must_be_known(tmp_path):
    table = pd.DataFrame({"question": ["q"], "user_input": ["Who?"], "response": ["Ann"]})
    assert ragnb.load_responses(table)["question"].tolist() == ["Who?"]
    assert ragnb.load_responses(table, {})["question"].tolist() == ["Who?"]
    assert ragnb.load_responses(table, {"example_id": "question"})["question"].tolist() == ["q"]
    with pytest.raises(InputError, match="format must be one of 'ragas', .*got 'csv'"):
        ragnb.load_responses(table, format="csv")
    with pytest.raises(InputError, match="there is no 'results' in the frame, which has question"):
        ragnb.load_responses(table, format="ragchecker")


# ---- the other way -------------------------------------------------------------------------------


def test_an_export_to_ragas_is_what_ragas_wrote(tmp_path):
    made = ragnb.load_responses(HERE / "ragas_dataset.jsonl")
    file = ragnb.export_responses(made, tmp_path / "out.jsonl", format="ragas")
    assert file.read_bytes() == (HERE / "ragas_dataset.jsonl").read_bytes()
    with pytest.raises(InputError, match="files of ragas contain one system and no scores"):
        ragnb.export_responses(made, file, format="ragas", scores=ragnb.score(made, "answer.f1"))


def test_an_export_to_inspectorraget_comes_back_with_its_scores(tmp_path):
    first = ragnb.load_responses(HERE / "ragas_dataset.jsonl", system="a")
    second = first.assign(system="b", response="the Danube", passages=[["other"]] * 3)
    both = pd.concat([first, second], ignore_index=True)
    scores = ragnb.score(both, "answer.f1")
    file = ragnb.export_responses(
        both, tmp_path / "out.json", format="inspectorraget", scores=scores
    )
    again = ragnb.load_responses(file)
    for name in ("example_id", "system", "question", "references", "response", "passages"):
        assert again[name].tolist() == both[name].tolist()
    assert again["inspectorraget.answer.f1"].tolist() == pytest.approx(scores["value"].tolist())
    document = json.loads(file.read_text("utf-8"))
    assert all({"model_id", "name", "owner"} <= {*one} for one in document["models"])
    assert all({"task_id", "task_type", "input"} <= {*one} for one in document["tasks"])
    assert all(one["author"] == "algorithm" and one["type"] == "numerical" for one in document["metrics"])  # fmt: skip
