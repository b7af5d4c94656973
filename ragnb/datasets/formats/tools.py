"""Formats that other evaluation tools write."""

# Tested in tests/datasets/test_formats_of_tools.py.

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.cells import is_missing, present
from ragnb.datasets.formats.registry import file_format, records
from ragnb.datasets.frames import frame_of
from ragnb.datasets.literals import parsed
from ragnb.datasets.messages import called, tell
from ragnb.datasets.records import conversation, first_value, is_empty, text_of
from ragnb.datasets.renaming import LIKELY, likely, renamed
from ragnb.datasets.validation import Row
from ragnb.errors import InputError

# ---- ragas, DeepEval and inspect_ai --------------------------------------------------------------

# ragnb's name -> names since version 0.2, and before.
RAGAS = {
    "question": "user_input question",
    "response": "response answer",
    "passages": "retrieved_contexts contexts",
    "references": "reference ground_truths ground_truth",
    "retrieved": "retrieved_context_ids",
    "relevant": "reference_context_ids",
}
# Further columns of ragas, which are no scores even if they contain numbers.
_RAGAS_FIELDS = "reference_contexts rubrics persona_name query_style query_length".split()


@file_format(
    "ragas",
    "a dataset or a result of ragas",
    "user_input",
    "question, contexts, answer",
    alternatives=True,
)
def ragas(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read a table of ragas; numeric columns that are not fields of ragas are read as scores."""
    names = {ours: likely(theirs, content) for ours, theirs in RAGAS.items()}
    frame = renamed(content, names)
    # A sample of several turns has the list of its messages as the question, in CSV as a text. The last
    # message is the response, and the one before it the question.
    questions = [parsed(cell) if str(cell).startswith("[{") else cell for cell in frame["question"]]
    if any(isinstance(cell, list) for cell in questions):
        frame["response"] = [text_of(messages[-1]) for messages in questions]
        conversations = [conversation(messages[:-1]) for messages in questions]
        frame = frame.assign(**frame_of(conversations))
    for name in frame.columns.difference([*RAGAS, *_RAGAS_FIELDS]):
        numbers = pd.to_numeric(frame[name], errors="coerce")
        # What is no number is missing in `numbers`.
        are_all_numbers = (numbers.notna() == frame[name].notna()).all()
        if are_all_numbers:
            frame = frame.assign(**{name: numbers}).rename(columns={name: f"ragas.{name}"})
    return frame


@file_format(
    "deepeval",
    "a test run or a dataset of DeepEval",
    "input, actual_output",
    "testCases",
    "conversationalTestCases",
    "testRunData",
    "scenario, turns",
    columns={
        "question": "input",
        "response": "actualOutput actual_output",
        "references": "expectedOutput expected_output",
        "passages": "retrievalContext retrieval_context",
        "context": "context",
    },
)
def deepeval(content: pd.DataFrame, path: Path | None) -> Iterator[Row]:
    """Read the test cases of a dataset, or of a test run in either of its two file layouts.

    A conversation is one row: its last question and answer, with the turns before as the history.
    """
    # A test run is one JSON object; in one of its layouts, everything is under the key "testRunData".
    # A dataset has one row per test case.
    run = content.iloc[0].to_dict()
    run = first_value(run, "testRunData") or run
    is_run = any(key in run for key in ("testCases", "conversationalTestCases"))
    if is_run:
        cases = run.get("testCases") or []
        conversations = run.get("conversationalTestCases") or []
    elif "turns" in content:
        cases, conversations = [], records(content)
    else:
        cases, conversations = records(content), []
    for case in [*cases, *map(_as_test_case, conversations)]:
        metrics = first_value(case, "metricsData metrics_data") or []
        columns = {
            "system": first_value(run, "identifier"),
            "scores": {metric["name"]: metric.get("score") for metric in metrics},
            "reasons": {metric["name"]: first_value(metric, "error reason") for metric in metrics},
        }
        if isinstance(case.get("retrieval_context"), str):
            # In CSV, DeepEval joins the passages of a test case by bars.
            columns["passages"] = case["retrieval_context"].split("|")
        if conversations and cases:
            # Conversations have ids, so the test cases next to them need ids as well.
            columns["example_id"] = first_value(case, "ragnb.example_id input")
        yield case | {"ragnb": case.get("ragnb", {}) | columns}
    if conversations:
        tell(
            f"{called(path)}: {len(conversations)} conversations were read as their last question "
            "and answer, with the turns before in the column history. DeepEval's scores are those "
            "of whole conversations"
        )


def _as_test_case(case: Row) -> Row:
    """Convert a conversation of DeepEval to a test case: the last question, its answer, the history."""
    turns = []
    for entry in parsed(first_value(case, "turns messages") or []):
        if "role" in entry:
            turns.append(entry)
            continue
        # Up to version 2, an entry was a test case with a question and its answer.
        exchange = first_value(entry, "llm_test_case llmTestCase") or entry
        content = first_value(exchange, "actualOutput actual_output")
        turns.append({"role": "user", "content": exchange.get("input")})
        turns.append(exchange | {"content": content, "role": "assistant"})
    question_places = [place for place, turn in enumerate(turns) if turn["role"] == "user"]
    if not question_places:
        raise InputError(f"the conversation {case.get('name')!r} has no turn of the user")
    last_question = question_places[-1]
    answers = [turn for turn in turns[last_question + 1 :] if turn["role"] == "assistant"]
    history = [{"role": turn["role"], "content": turn["content"]} for turn in turns[:last_question]]
    columns = {
        "example_id": case.get("name"),
        "conversation_id": case.get("name"),
        "history": history,
        "reason": None if answers else "the conversation ends with a question",
        "scenario": case.get("scenario"),
        "expected_outcome": first_value(case, "expectedOutcome expected_outcome"),
    }
    answer = answers[-1] if answers else {}
    passages = first_value(answer, "retrievalContext retrieval_context")
    # The columns under the key "ragnb" already have ragnb's names; see `Format.read`.
    return case | {
        "input": turns[last_question]["content"],
        "actualOutput": answer.get("content"),
        "retrievalContext": passages,
        "ragnb": columns,
    }


# Numbers that inspect_ai's own summaries use for its letters (correct, partially correct, incorrect, no
# answer), and for words in any letter case.
_INSPECT_LETTERS = {"C": 1, "P": 0.5, "I": 0, "N": 0}
_INSPECT_WORDS = {"yes": 1, "true": 1, "no": 0, "false": 0}


@file_format(
    "inspect_ai",
    "a log of inspect_ai",
    "eval, samples",
    columns={
        "example_id": "id",
        "question": "input",
        "references": "target",
        "response": "output.choices.0.message.content",
        "reason": "error.message",
        "repeat": "epoch",
    },
)
def inspect_ai(content: pd.DataFrame, path: Path | None) -> Iterator[Row]:
    """Read the samples of a log, one row per sample and epoch."""
    run = content["eval"].iloc[0]
    # Scorer -> a grade of it that is not a number.
    unread: dict[str, str] = {}
    for sample in content["samples"].iloc[0]:
        columns: Row = {
            "task": run["task"],
            "system": run["model"],
            "inspect_ai.version": first_value(run, "packages.inspect_ai"),
            "scores": {},
            "reasons": {},
        }
        for name, score in (sample.get("scores") or {}).items():
            columns["reasons"][name] = score.get("explanation")
            # A scorer may give several grades, each with a name.
            grades = score["value"] if isinstance(score["value"], dict) else {"": score["value"]}
            for part, value in grades.items():
                number = _inspect_number(value)
                if number is None and not is_empty(value or ""):
                    unread.setdefault(name, str(value))
                columns["scores"][f"{name}.{part}".rstrip(".")] = number
        yield sample | {"ragnb": columns}
    for name, grade in unread.items():
        tell(
            f"{called(path)}: grades of {name}, such as {grade!r:.40}, are neither numbers nor "
            "inspect_ai's words for them, and count as missing"
        )


def _inspect_number(grade: Any) -> float | None:
    """The number that inspect_ai's own summaries use for a grade; None if it has none."""
    if isinstance(grade, bool | int | float):
        return grade
    if not isinstance(grade, str):
        return None
    if grade in _INSPECT_LETTERS:
        return _INSPECT_LETTERS[grade]
    number = pd.to_numeric(_INSPECT_WORDS.get(grade.strip().lower(), grade), errors="coerce")
    return float(number) if math.isfinite(number) else None


# ---- lm-evaluation-harness and promptfoo ---------------------------------------------------------


def _usual(variables: Mapping[str, Any]) -> Row:
    """The columns of ragnb among variables, whose names the author of a test chose."""
    values = {str(name).casefold(): value for name, value in variables.items()}
    return {name: first_value(values, words) for name, words in LIKELY.items()}


@file_format(
    "lm_eval",
    "samples of lm-evaluation-harness",
    "doc, target, resps",
    columns={
        "example_id": "doc_id",
        "question": "usual.question prompt.0 prompt.arg_0",
        "references": "target",
        "passages": "usual.passages",
    },
)
def lm_eval(content: pd.DataFrame, path: Path | None) -> Iterator[Row]:
    """Read samples, one row per document and repeat; each filter has its own columns of scores.

    The name of the file contains the task and the time of the run. The model's name is in the file of
    results with the same time, if it is still next to the samples.
    """
    parts_of_name = re.fullmatch(r"samples_(.+)_(\d{4}-\d\d-\d\dT.+)\.jsonl", called(path))
    task = parts_of_name[1] if parts_of_name else None
    run: Row = {}
    if path and parts_of_name:
        results = path.with_name(f"results_{parts_of_name[2]}.json")
        if results.is_file():
            run = json.loads(results.read_text("utf-8"))
    samples: dict[Any, Row] = {}
    for sample in records(content):
        requests = sample["arguments"]
        prompts = [*requests.values()] if isinstance(requests, dict) else requests
        columns: Row = {
            "task": task,
            "system": run.get("model_name"),
            "scores": {},
        }
        added = {"ragnb": columns, "usual": _usual(sample["doc"]), "prompt": prompts[0]}
        # A document has a sample for each filter. The first one gets the scores of all.
        first_sample = samples.setdefault(sample["doc_id"], sample | added)
        filter_name = sample.get("filter", "none")
        for metric in sample.get("metrics", []):
            column = metric if filter_name == "none" else f"{metric},{filter_name}"
            first_sample["ragnb"]["scores"][column] = present(sample.get(metric))
    n_repeats = []
    for sample in samples.values():
        texts = _generated(sample["resps"])
        n_repeats.append(len(texts))
        sample["ragnb"]["reason"] = None if texts else "likelihoods of choices, no text"
        for repeat, text in enumerate(texts or [None], start=1):
            columns = sample["ragnb"] | {"response": text, "repeat": repeat}
            yield sample | {"ragnb": columns}
    if max(n_repeats, default=0) > 1:
        tell(
            f"{called(path)}: each document has up to {max(n_repeats)} repeats, and each repeat is "
            "one row. The scores of lm-evaluation-harness are those of all repeats of a document "
            "together, and are in each of its rows"
        )


def _generated(responses: list[Any]) -> list[str]:
    """The repeats of a generated text; none if the model only rated choices by their likelihood.

    `responses` has a list for each request of a sample, with the results of the request. The results
    for a choice are its likelihood and whether it is the most likely continuation.
    """
    first_request = responses[0] if responses else None
    repeats: list[Any] = first_request if isinstance(first_request, list) else [first_request]
    # A pair such as [-3.5, True], whose values can be written as texts.
    is_likelihood = repeats[1:] in (["True"], ["False"], [True], [False])
    is_text = bool(repeats) and all(isinstance(text, str) for text in repeats)
    return repeats if is_text and not is_likelihood else []


@file_format(
    "promptfoo",
    "results of promptfoo",
    "Status, Score, Grader Reason",
    "results, config",
    "testIdx, provider",
    columns={
        "example_id": "testIdx",
        "question": "usual.question prompt.raw",
        "references": "usual.references",
        "passages": "usual.passages",
    },
)
def promptfoo(content: pd.DataFrame, path: Path | None) -> Iterator[Row]:
    """Read an evaluation as JSON, JSON Lines or CSV, one row per test, provider and prompt."""
    if "results" in content:
        results = content["results"].iloc[0]["results"]
    else:
        results = records(content) if "testIdx" in content else _promptfoo_table(content)
    for system, result in zip(_promptfoo_systems(results), results, strict=True):
        output = first_value(result, "response.output")
        columns: Row = {
            "system": system,
            "response": output if isinstance(output, str | None) else json.dumps(output),
            # The error of a failed assertion is a reason of the score.
            # The failure reason 1 is such an assertion, and 2 is an error of the provider.
            "reason": None if result.get("failureReason") == 1 else result.get("error"),
            "scores": {"score": result.get("score")},
            "reasons": {"score": first_value(result, "gradingResult.reason")},
        }
        for part in first_value(result, "gradingResult.componentResults") or []:
            metric = first_value(part, "assertion.metric assertion.type") or "assertion"
            columns["scores"][_name_not_in(columns["scores"], metric)] = part["score"]
        yield result | {"ragnb": columns, "usual": _usual(result["vars"])}


def _name_not_in(scores: Row, name: str) -> str:
    """The name, with a number if another score has it, such as ``contains 2``.

    A test may have several assertions of one type, which have the same name unless its author gave them others.
    """
    names = (name if number == 1 else f"{name} {number}" for number in count(1))
    return next(candidate for candidate in names if candidate not in scores)


def _promptfoo_systems(results: list[Row]) -> list[str]:
    """The name of the system behind each result.

    It is the provider. If these names do not distinguish the outputs of a test, because a provider has
    several prompts, the label of the prompt is added, and if necessary the number of the output.
    """
    providers = [first_value(result, "provider.label provider.id provider") for result in results]
    systems = [provider if isinstance(provider, str) else "" for provider in providers]
    # Each combination of a prompt and a provider has a number.
    outputs = [result.get("promptIdx") for result in results]
    # If there are fewer names than numbers, several combinations share a name.
    if len({*outputs}) > len({*systems}):
        labels = [str(first_value(result, "prompt.label prompt.raw") or "") for result in results]
        pairs = zip(systems, labels, strict=True)
        systems = [", ".join(filter(None, pair)) for pair in pairs]
    if len({*outputs}) > len({*systems}):
        numbered = zip(systems, outputs, strict=True)
        systems = [f"{system} {output}".strip() for system, output in numbered]
    return systems


def _promptfoo_table(content: pd.DataFrame) -> list[Row]:
    """The results in a table of promptfoo, in the form that they have in its JSON files.

    A row is a test. Its first columns are the variables of the test. For each prompt and provider there
    follow a column with the output, whose name begins with the provider in brackets, and columns for
    its status, score and reason.
    """
    outputs = [name for name in content if re.match(r"\[.*?\] ", name)]
    if not outputs:
        raise InputError(
            "the table has no column of outputs, whose name begins with the provider in brackets, as in "
            "'[openai:gpt-4o] prompt'"
        )
    variables = content.columns[: content.columns.get_loc(outputs[0])]
    results = []
    for test_number, record in enumerate(records(content)):
        for output_number, output in enumerate(outputs):
            # Columns that have the same name are numbered: Status, Status.1, Status.2.
            suffix = f".{output_number}" if output_number else ""
            label, _, prompt = output[1:].partition("] ")
            cell, status = present(record[output]), record[f"Status{suffix}"]
            # The cell of an error contains its message, or is empty.
            has_error = status == "ERROR"
            result = {
                "testIdx": test_number,
                "promptIdx": output_number,
                "vars": {name: record[name] for name in variables},
                "provider": label,
                "prompt": {"raw": prompt, "label": prompt},
                "response": {"output": None if has_error else cell},
                "error": (cell or status) if has_error else None,
                "score": float(record[f"Score{suffix}"]),
                "gradingResult": {"reason": record[f"Grader Reason{suffix}"]},
            }
            results.append(result)
    return results


# ---- InspectorRAGet and MTRAG --------------------------------------------------------------------

# ragnb's name -> keys of InspectorRAGet and MTRAG.
TASK = {
    "example_id": "task_id taskId",
    "question": "input",
    "references": "targets",
    "response": "model_response modelResponse output predictions.0",
    "system": "model_id modelId",
}
_DOCUMENT = "document_id documentId"


def _of_task(task: Row, documents: Mapping[Any, Any]) -> Row:
    """The columns of a task under ragnb's names: conversation, turn and passages.

    `documents` has the texts of passages by their ids, if a file lists them separately.
    """
    columns: Row = {}
    turn = first_value(task, "turn Turn")
    if turn:
        task_id = str(first_value(task, TASK["example_id"]))
        # The ids end in "::2" or "<::>2".
        conversation_id = task_id.rpartition("::")[0].removesuffix("<")
        stated_id = first_value(task, "conversation_id")
        columns["conversation_id"] = stated_id or conversation_id or None
        columns["turn"] = int(turn)
    contexts = first_value(task, "contexts")
    if contexts is not None:
        ids = [first_value(context, _DOCUMENT) for context in contexts]
        columns["passage_ids"] = ids
        pairs = zip(ids, contexts, strict=True)
        columns["passages"] = [documents.get(name, context) for name, context in pairs]
    return columns


@file_format("mtrag", "responses of MTRAG", "task_id, input, predictions", columns=TASK)
def mtrag(content: pd.DataFrame, path: Path | None) -> Iterator[Row]:
    """Read responses of MTRAG, whose question is the last turn of a conversation."""
    for task in records(content):
        yield task | {"ragnb": _of_task(task, {})}


@file_format("inspectorraget", "a file of InspectorRAGet", "models, metrics, tasks", columns=TASK)
def inspectorraget(content: pd.DataFrame, path: Path | None) -> Iterator[Row]:
    """Read evaluations; grades of people are in columns ``human_...``, by annotator and as a mean."""
    # The file is one JSON object.
    study = content.iloc[0].to_dict()
    documents = {first_value(text, _DOCUMENT): text for text in study.get("documents", [])}
    tasks = {first_value(task, TASK["example_id"]): task for task in study["tasks"]}
    metrics = study["metrics"]
    graded_by_people = {metric["name"] for metric in metrics if metric.get("author") == "human"}
    numbers = _numbers_of_grades(metrics)
    for evaluation in first_value(study, "results evaluations"):
        task_id = first_value(evaluation, TASK["example_id"])
        if task_id not in tasks:
            raise InputError(
                f"{called(path)} has results for the task {task_id!r}, but not the task itself"
            )
        # A null in the result must not replace what the task says.
        present_values = {key: value for key, value in evaluation.items() if value is not None}
        record = tasks[task_id] | present_values
        columns = _of_task(record, documents) | {"scores": {}}
        annotations = first_value(evaluation, "annotations scores") or {}
        for metric, annotation in annotations.items():
            grades = {}
            for annotator, grade in annotation.items():
                value = numbers.get((metric, grade["value"]), grade["value"])
                grades[annotator] = float(pd.to_numeric(value, errors="coerce"))
            if metric in graded_by_people:
                columns[f"human_{metric}"] = sum(grades.values()) / len(grades)
                columns[f"human_{metric}_grades"] = grades
            else:
                # What a program computed has one value, under the name of the program.
                columns["scores"][metric] = next(iter(grades.values()))
        yield record | {"ragnb": columns}


def _numbers_of_grades(metrics: list[Row]) -> dict[tuple[str, Any], Any]:
    """The number of each grade; a grade that is a text without a number keeps its text."""
    numbers = {}
    for metric in metrics:
        for grade in metric.get("values") or []:
            number = first_value(grade, "numericValue numeric_value value")
            numbers[metric["name"], grade["value"]] = number
    return numbers


# ---- RAGChecker, open-rag-eval, every_eval_ever, FlashRAG ----------------------------------------

# Claims and their labels, which RAGChecker adds to its inputs.
_CLAIMS = (
    "response_claims gt_answer_claims answer2response response2answer retrieved2response "
    "retrieved2answer".split()
)


@file_format(
    "ragchecker",
    "inputs or outputs of RAGChecker",
    "results.0.gt_answer",
    columns={
        "example_id": "query_id",
        "question": "query",
        "references": "gt_answer",
        "response": "response",
        "passages": "retrieved_context",
        "scores": "metrics",
        **{name: name for name in _CLAIMS},
    },
)
def ragchecker(content: pd.DataFrame, path: Path | None) -> list[Row]:
    """Read results, with the claims and their labels if RAGChecker has added them."""
    return list(content["results"].iloc[0])


@file_format(
    "open_rag_eval",
    "a table of open-rag-eval",
    "query_id, run_1_generated_answer",
    "query_id, query_run, generated_answer",
    columns={"example_id": "query_id", "question": "query"},
)
def open_rag_eval(content: pd.DataFrame, path: Path | None) -> list[Row]:
    """Read answers with one row per passage, or the results of an evaluator, by query and run."""
    answers: list[Row] = []
    # Answers: each run of a query is a group of rows.
    if "query_run" in content:
        for (_, run), rows in content.groupby(["query_id", "query_run"], sort=False):
            columns = {"repeat": int(run), "passages": [*rows["passage"]]}
            columns["response"] = next(iter(rows["generated_answer"].dropna()), None)
            answers.append(rows.iloc[0].to_dict() | {"ragnb": columns})
    # Results of an evaluator: a row has the columns of all runs of a query, with names such as
    # run_1_generated_answer.
    for record in records(content):
        runs: dict[int, Row] = defaultdict(dict)
        for name, cell in record.items():
            part = re.fullmatch(r"run_(\d+)_(?:(?:retrieval|generation)_score_)?(.+)", name)
            if part and not is_missing(cell):
                runs[int(part[1])][part[2]] = parsed(cell)
        for run, cells in runs.items():
            if "generated_answer" in cells:
                columns = {"repeat": run, "scores": cells}
                columns["passages"] = [*cells.get("retrieved_passages", {}).values()]
                columns["response"] = " ".join(part["text"] for part in cells["generated_answer"])
                answers.append(record | {"ragnb": columns})
    for answer in answers:
        # These words stand for a missing answer; in ragnb they are its reason.
        if answer["ragnb"]["response"] in ("NO_ANSWER", "API_ERROR"):
            answer["ragnb"] |= {"response": None, "reason": answer["ragnb"]["response"]}
    return answers


file_format(
    "every_eval_ever",
    "samples of every_eval_ever",
    "schema_version, sample_id, input",
    columns={
        "example_id": "sample_id",
        "system": "model_id",
        "task": "evaluation_name",
        "question": "input.raw",
        "references": "input.reference",
        "response": "output.raw.0 output.raw messages.-1",
        "every_eval_ever.score": "evaluation.score",
    },
)(records)


@file_format(
    "flashrag",
    "intermediate data of FlashRAG",
    "golden_answers, output",
    columns={
        "example_id": "id",
        "question": "question",
        "references": "golden_answers",
        "response": "output.pred",
        "passages": "output.retrieval_result",
        "scores": "output.metric_score",
    },
)
def flashrag(content: pd.DataFrame, path: Path | None) -> Iterator[Row]:
    """Read a run's ``intermediate_data.json``; the folder of the run names the system."""
    system = path.resolve().parent.name if path and path.stem == "intermediate_data" else None
    for item in records(content):
        yield item | {"ragnb": {"system": system}}
