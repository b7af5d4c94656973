"""Formats of responses that other evaluation tools write.

Each reader returns questions, responses, references, passages, systems and ids under ragnb's names,
and the tool's own scores, as the tool wrote them, in columns such as ``ragas.faithfulness``. What a
judge gave as its reason is in ``deepeval.Faithfulness.reason``. A list of texts as a reference means
that any one of them is enough.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from pydantic import AliasChoices, Field

from ragnb.datasets.files import Record, checked, frame_of, parsed
from ragnb.datasets.formats import LIKELY, called, file_format, has, likely, renamed
from ragnb.errors import InputError
from ragnb.records import present

M = TypeVar("M", bound=Record)


# ---- what the formats have in common -----------------------------------------------------------


def _checked(model: type[M], items: Any, path: Path | None) -> list[M]:
    """The items of a list, or the rows of a frame, checked."""
    if isinstance(items, pd.DataFrame):
        items = items.astype(object).where(items.notna(), None).to_dict("records")
    return [
        checked(model, item, f"{called(path)} item {n}") for n, item in enumerate(items, start=1)
    ]


def _either(texts: Any) -> list[list[str]] | None:
    """Combine alternative references into one part with its aliases."""
    given = [texts] if isinstance(texts, str | int | float) else texts or []
    known = [str(text) for text in given if str(text).strip()]
    return [known] if known else None


def _text(content: Any) -> str | None:
    """The text of a message or a passage, which may be a list of parts or an object."""
    if isinstance(content, list):
        parts = [
            part for part in content if not isinstance(part, dict) or part.get("type") == "text"
        ]
        return "\n".join(text for text in map(_text, parts) if text is not None)
    if isinstance(content, Mapping):
        found = (content.get(name) for name in ("text", "contents", "content", "context", "value"))
        return next((_text(one) for one in found if one is not None), None)
    return None if content is None else str(content)


def _texts(passages: Any) -> list[str] | None:
    given = [passages] if isinstance(passages, str) else passages
    return None if given is None else [_text(passage) or "" for passage in given]


def _conversation(turns: str | Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The last turn as the question, and the turns before it as the history."""
    if isinstance(turns, str):
        return {"question": turns, "history": None}
    *history, last = (
        {
            "role": turn.get("role") or turn.get("speaker") or turn.get("type"),
            "content": _text(turn.get("content", turn.get("text"))),
        }
        for turn in turns
    )
    return {"question": last["content"], "history": history}


def _scores(tool: str, scores: Mapping[str, Any] | None) -> dict[str, Any]:
    """Scores under the names of their columns; a value that is no number is left out."""
    known = {f"{tool}.{name}": score for name, score in (scores or {}).items()}
    return {name: score for name, score in known.items() if isinstance(score, int | float | None)}


def _frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a frame without the columns that are empty, except responses and scores."""
    frame = frame_of([*rows])
    kept = [name for name in frame if "." in name or name == "response"]
    return frame.drop(columns=frame.columns[frame.isna().all()].difference(kept))


def _named(*names: str, default: Any = None) -> Any:
    """A field whose name differs between the versions of a tool."""
    return Field(default, validation_alias=AliasChoices(*names))


# ---- ragas -------------------------------------------------------------------------------------

RAGAS = {
    "question": "user_input",
    "passages": "retrieved_contexts",
    "references": "reference",
    "retrieved": "retrieved_context_ids",
    "relevant": "reference_context_ids",
}
RAGAS_01 = {"response": "answer", "passages": "contexts"}
_RAGAS_FIELDS = "reference_contexts rubrics persona_name query_style query_length".split()


def _is_ragas(content: pd.DataFrame) -> bool:
    return has("user_input")(content) or has("question", "contexts", "answer")(content)


@file_format("ragas", "a dataset or a result of ragas", _is_ragas, alternatives=True)
def ragas(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read a table of ragas; numeric columns that are not fields of ragas are read as scores."""
    old = "ground_truths" if "ground_truths" in content else "ground_truth"
    names = RAGAS if "user_input" in content else RAGAS_01 | {"references": old}
    frame = renamed(content, names)
    turns = [parsed(cell) if str(cell).startswith("[{") else cell for cell in frame["question"]]
    if any(isinstance(cell, list) for cell in turns):
        frame["response"] = [_text(cell[-1]) for cell in turns]
        frame = frame.assign(**frame_of([_conversation(cell[:-1]) for cell in turns]))
    for name in frame.columns.difference([*names, "question", "response", *_RAGAS_FIELDS]):
        numbers = pd.to_numeric(frame[name], errors="coerce")
        if (numbers.notna() == frame[name].notna()).all():
            frame = frame.assign(**{name: numbers}).rename(columns={name: f"ragas.{name}"})
    return frame


# ---- DeepEval ----------------------------------------------------------------------------------


class _DeepEvalMetric(Record):
    name: str
    score: float | None = None
    reason: str | None = None
    error: str | None = None


class _DeepEvalCase(Record):
    question: str = _named("input", default=...)
    response: str | None = _named("actualOutput", "actual_output")
    references: str | None = _named("expectedOutput", "expected_output")
    passages: list[Any] | str | None = _named("retrievalContext", "retrieval_context")
    context: list[Any] | str | None = None
    metrics: list[_DeepEvalMetric] | None = _named("metricsData", "metrics_data")

    def row(self) -> dict[str, Any]:
        """The row of this case; CSV divides passages with a bar."""
        own = self.model_dump(exclude={"metrics"})
        shown = self.passages.split("|") if isinstance(self.passages, str) else self.passages
        for metric in self.metrics or []:
            own |= _scores("deepeval", {metric.name: metric.score})
            own[f"deepeval.{metric.name}.reason"] = metric.error or metric.reason
        return own | {"passages": _texts(shown)}


def _is_deepeval(content: pd.DataFrame) -> bool:
    is_dataset = has("input", "actual_output")(content)
    return is_dataset or "testCases" in content or "testRunData" in content


@file_format("deepeval", "a test run or a dataset of DeepEval", _is_deepeval)
def deepeval(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read the test cases of a dataset, or of a test run in either of its two file layouts."""
    if "actual_output" in content:
        return _frame(case.row() for case in _checked(_DeepEvalCase, content, path))
    run = content.iloc[0].to_dict()
    run = run.get("testRunData", run)
    cases = _checked(_DeepEvalCase, run["testCases"], path)
    return _frame(case.row() | {"system": run.get("identifier")} for case in cases)


# ---- inspect_ai --------------------------------------------------------------------------------


class _InspectScore(Record):
    value: Any
    explanation: str | None = None


class _InspectSample(Record):
    id: int | str
    epoch: int = 1
    input: str | list[dict[str, Any]]
    target: str | list[str] = ""
    output: dict[str, Any] = Field({})
    scores: dict[str, _InspectScore] | None = None
    error: dict[str, Any] | None = None


_INSPECT_VALUES = {"C": 1, "P": 0.5, "I": 0, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}
"""Numbers that inspect_ai's own summaries use for its words."""


@file_format("inspect_ai", "a log of inspect_ai", has("eval", "samples"))
def inspect_ai(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read the samples of a log, one row per sample and epoch."""
    about = content["eval"].iloc[0]
    samples = _checked(_InspectSample, content["samples"].iloc[0], path)
    repeats = len({sample.epoch for sample in samples}) > 1
    rows = []
    for sample in samples:
        choices = sample.output.get("choices") or [{"message": {}}]
        row = _conversation(sample.input) | {
            "example_id": sample.id,
            "task": about["task"],
            "system": about["model"],
            "references": _either(sample.target),
            "response": _text(choices[0]["message"].get("content")),
            "reason": (sample.error or {}).get("message"),
            "repeat": sample.epoch - 1 if repeats else None,
            "inspect_ai.version": about.get("packages", {}).get("inspect_ai"),
        }
        for name, score in (sample.scores or {}).items():
            values = score.value if isinstance(score.value, dict) else {"": score.value}
            for part, value in values.items():
                column = f"{name}.{part}" if part else name
                number = _INSPECT_VALUES.get(value, value) if isinstance(value, str) else value
                row |= _scores("inspect_ai", {column: number})
            row[f"inspect_ai.{name}.reason"] = score.explanation
        rows.append(row)
    return _frame(rows)


# ---- lm-evaluation-harness ---------------------------------------------------------------------


class _LmEvalSample(Record):
    doc_id: int | str
    doc: dict[str, Any]
    target: Any
    arguments: dict[str, Any] | list[Any]
    resps: list[Any] = Field(min_length=1)
    filter: str = "none"
    metrics: list[str] = Field([])

    def row(self) -> dict[str, Any]:
        """The row of this sample; choices that were only weighed have no text."""
        found = {name: self.doc.get(likely(LIKELY[name], self.doc) or "") for name in LIKELY}
        requests = (
            [*self.arguments.values()] if isinstance(self.arguments, dict) else self.arguments
        )
        prompt = requests[0]["arg_0"] if isinstance(requests[0], dict) else requests[0][0]
        said = self.resps[0][0] if isinstance(self.resps[0], list) else self.resps[0]
        return {
            "example_id": self.doc_id,
            "question": found["question"] or prompt,
            "references": _either(self.target),
            "passages": _texts(found["passages"]),
            "response": said if isinstance(said, str) else None,
            "reason": None if isinstance(said, str) else "likelihoods of choices, no text",
        }


@file_format("lm_eval", "samples of lm-evaluation-harness", has("doc", "target", "resps"))
def lm_eval(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read samples, one row per document; each filter has its own columns of scores.

    The model's name is in the results beside the samples, if these are still there.
    """
    samples = _checked(_LmEvalSample, content, path)
    filters = len({sample.filter for sample in samples}) > 1
    task, system = _lm_eval_run(path)
    rows: dict[Any, dict[str, Any]] = {}
    for sample, record in zip(samples, content.to_dict("records"), strict=True):
        row = sample.row() | {"task": task, "system": system}
        end = f",{sample.filter}" if filters else ""
        scores = {f"{name}{end}": present(record.get(name)) for name in sample.metrics}
        rows[sample.doc_id] = rows.get(sample.doc_id, row) | _scores("lm_eval", scores)
    return _frame(rows.values())


def _lm_eval_run(path: Path | None) -> tuple[str | None, str | None]:
    """Task and model of a file of samples, as far as its name and its neighbour say."""
    name = re.fullmatch(r"samples_(.+)_(\d{4}-\d\d-\d\dT.+)\.jsonl", path.name) if path else None
    if not name or not path:
        return None, None
    results = path.with_name(f"results_{name[2]}.json")
    found = json.loads(results.read_text("utf-8")) if results.is_file() else {}
    return name[1], found.get("model_name")


# ---- promptfoo ---------------------------------------------------------------------------------


class _PromptfooResult(Record):
    test: int = Field(validation_alias="testIdx")
    vars: dict[str, Any]
    provider: dict[str, Any] | str
    prompt: dict[str, Any]
    number_of_prompt: int = _named("promptIdx", default=0)
    response: dict[str, Any] | None = None
    error: str | None = None
    score: float | None = None
    grading: dict[str, Any] | None = _named("gradingResult")

    def row(self) -> dict[str, Any]:
        """The row of this result; the test's variables have the names that its author chose."""
        found = {name: self.vars.get(likely(LIKELY[name], self.vars) or "") for name in LIKELY}
        provider = {"id": self.provider} if isinstance(self.provider, str) else self.provider
        said = (self.response or {}).get("output")
        grading = self.grading or {}
        scores = {"score": self.score}
        for part in grading.get("componentResults") or []:
            assertion = part.get("assertion") or {}
            scores[assertion.get("metric") or assertion.get("type") or "assertion"] = part["score"]
        return {
            "example_id": self.test,
            "system": provider.get("label") or provider.get("id"),
            "question": found["question"] or self.prompt.get("raw"),
            "references": _either(found["references"]),
            "passages": _texts(found["passages"]),
            "response": said if isinstance(said, str | None) else json.dumps(said),
            "reason": self.error if said is None else None,
            **_scores("promptfoo", scores),
            "promptfoo.score.reason": grading.get("reason"),
        }


def _is_promptfoo(content: pd.DataFrame) -> bool:
    is_table = has("Status", "Score", "Grader Reason")(content)
    return is_table or has("results", "config")(content) or has("testIdx", "provider")(content)


@file_format("promptfoo", "results of promptfoo", _is_promptfoo)
def promptfoo(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read an evaluation as JSON, JSON Lines or CSV, one row per test, provider and prompt."""
    if "results" in content:
        lines = content["results"].iloc[0]["results"]
    else:
        lines = content if "testIdx" in content else [*_promptfoo_cells(content)]
    results = _checked(_PromptfooResult, lines, path)
    prompts = {one.number_of_prompt for one in results}
    rows = [one.row() for one in results]
    if len(prompts) > len({row["system"] for row in rows}):
        for row, one in zip(rows, results, strict=True):
            row["system"] += f", {one.prompt.get('label')}"
    return _frame(rows)


def _promptfoo_cells(content: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The results in a table: variables, and then some columns for each prompt and provider."""
    outputs = [name for name in content if re.match(r"\[.+?\] ", name)]
    variables = [*content.columns[: content.columns.get_loc(outputs[0])]]
    for n, record in enumerate(content.to_dict("records")):
        for k, output in enumerate(outputs):
            end = f".{k}" if k else ""
            label, _, prompt = output[1:].partition("] ")
            score = pd.to_numeric(record[f"Score{end}"])
            yield {
                "testIdx": n,
                "promptIdx": k,
                "vars": {name: present(record[name]) for name in variables},
                "provider": {"label": label},
                "prompt": {"raw": prompt, "label": prompt},
                "response": {"output": present(record[output])},
                "error": record[f"Status{end}"],
                "score": score,
                "gradingResult": {"reason": present(record[f"Grader Reason{end}"])},
            }


# ---- InspectorRAGet and MTRAG ------------------------------------------------------------------


class _Task(Record):
    task_id: str | int = _named("task_id", "taskId", default=...)
    input: str | list[dict[str, Any]]
    contexts: list[dict[str, Any]] | None = None
    targets: list[dict[str, Any]] | None = None
    predictions: list[dict[str, Any]] | None = None
    conversation_id: str | None = None
    turn: int | str | None = _named("turn", "Turn")

    def row(self, documents: Mapping[Any, Any]) -> dict[str, Any]:
        """Return the columns of a response that come from its task."""
        targets = [_text(target) or "" for target in self.targets or []]
        asked = _conversation(self.input) | {"example_id": self.task_id}
        if self.turn:  # the identifiers of MTRAG end in "::2" or "<::>2"
            conversation = str(self.task_id).rpartition("::")[0].removesuffix("<")
            known = self.conversation_id or conversation or None
            asked |= {"conversation_id": known, "turn": int(self.turn)}
        return asked | {"references": _either(targets)} | _shown(self.contexts, documents)


def _shown(contexts: list[dict[str, Any]] | None, documents: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the passages of a context. Their texts are in it or listed separately."""
    if contexts is None:
        return {}
    ids = [one.get("document_id", one.get("documentId")) for one in contexts]
    shown = [documents.get(name, one) for name, one in zip(ids, contexts, strict=True)]
    return {"passages": _texts(shown), "passage_ids": ids}


class _Evaluation(Record):
    task_id: str | int = _named("task_id", "taskId", default=...)
    system: str = _named("model_id", "modelId", default=...)
    response: Any = _named("model_response", "modelResponse", "output", default=...)
    annotations: dict[str, dict[str, dict[str, Any]]] = _named("annotations", "scores", default={})
    contexts: list[dict[str, Any]] | None = None


@file_format("inspectorraget", "a file of InspectorRAGet", has("models", "metrics", "tasks"))
def inspectorraget(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read evaluations; grades of people are in columns ``human_...``, by annotator and as a mean."""
    file = content.iloc[0].to_dict()
    listed = file.get("documents", [])
    documents = {one.get("document_id", one.get("documentId")): one for one in listed}
    tasks = {one.task_id: one.row(documents) for one in _checked(_Task, file["tasks"], path)}
    people = {metric["name"] for metric in file["metrics"] if metric.get("author") == "human"}
    numbers = {
        (metric["name"], one["value"]): one.get("numericValue", one.get("numeric_value"))
        for metric in file["metrics"]
        for one in metric.get("values") or []
    }
    evaluations = file["results"] if "results" in file else file["evaluations"]
    rows = []
    for one in _checked(_Evaluation, evaluations, path):
        if one.task_id not in tasks:
            raise InputError(
                f"{called(path)} evaluates the task {one.task_id!r}, but does not contain this task"
            )
        row = tasks[one.task_id] | _shown(one.contexts, documents)
        row |= {"system": one.system, "response": _text(one.response)}
        for name, given in one.annotations.items():
            grades = {who: _number(numbers, name, grade["value"]) for who, grade in given.items()}
            if name in people:
                row[f"human_{name}"] = sum(grades.values()) / len(grades)
                row[f"human_{name}_grades"] = grades
            else:
                row |= _scores("inspectorraget", {name: next(iter(grades.values()))})
        rows.append(row)
    return _frame(rows)


def _number(numbers: Mapping[Any, Any], metric: str, grade: Any) -> float:
    """The number of a grade; it is nan if the grade is a text that the file gives no number."""
    known = present(numbers.get((metric, grade)))
    return float(pd.to_numeric(grade if known is None else known, errors="coerce"))


@file_format("mtrag", "responses of MTRAG", has("task_id", "input", "predictions"))
def mtrag(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read responses of MTRAG, whose question is the last turn of a conversation."""
    return _frame(
        task.row({}) | {"response": _text(task.predictions[0]) if task.predictions else None}
        for task in _checked(_Task, content, path)
    )


# ---- RAGChecker, open-rag-eval, every_eval_ever, FlashRAG --------------------------------------

RAGCHECKER = {
    "example_id": "query_id",
    "question": "query",
    "references": "gt_answer",
    "passages": "retrieved_context",
}


def _is_ragchecker(content: pd.DataFrame) -> bool:
    results = content["results"].iloc[0] if "results" in content else None
    return isinstance(results, list) and bool(results) and "gt_answer" in results[0]


@file_format("ragchecker", "inputs or outputs of RAGChecker", _is_ragchecker)
def ragchecker(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read results, with the claims and their labels if RAGChecker has added them."""
    frame = renamed(frame_of(content["results"].iloc[0]), RAGCHECKER)
    frame["passages"] = frame["passages"].map(_texts)
    metrics = frame.pop("metrics") if "metrics" in frame else []
    return frame.join(frame_of([_scores("ragchecker", one) for one in metrics]))


def _is_open_rag_eval(content: pd.DataFrame) -> bool:
    is_scored = has("query_id", "run_1_generated_answer")(content)
    return is_scored or has("query_id", "query_run", "generated_answer")(content)


@file_format("open_rag_eval", "a table of open-rag-eval", _is_open_rag_eval)
def open_rag_eval(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read answers with one row per passage, or the results of an evaluator, by query and run."""
    if "query_run" in content:
        frame = content.groupby(["query_id", "query_run"], sort=False, as_index=False).agg(
            query=("query", "first"), said=("generated_answer", "first"), passages=("passage", list)
        )
        frame["repeat"] = pd.to_numeric(frame.pop("query_run")) - 1
    else:
        frame = frame_of([*_open_rag_eval_runs(content)])
    frame = frame.rename(
        columns={"query_id": "example_id", "query": "question", "said": "response"}
    )
    failed = frame["response"].isin(["NO_ANSWER", "API_ERROR"])
    frame["reason"] = frame["response"].where(failed, None)
    frame["response"] = frame["response"].mask(failed, None)
    return frame if frame["repeat"].any() else frame.drop(columns="repeat")


def _open_rag_eval_runs(content: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Each run in a row of results, whose cells are JSON."""
    for record in content.to_dict("records"):
        runs = [re.fullmatch(r"run_(\d+)_generated_answer", name) for name in content]
        for run in [int(found[1]) for found in runs if found]:
            start = f"run_{run}_"
            given = {n.removeprefix(start): c for n, c in record.items() if n.startswith(start)}
            cells = {
                name: parsed(cell) for name, cell in given.items() if present(cell) is not None
            }
            if "generated_answer" in cells:
                scores = {
                    re.sub("^(retrieval|generation)_score_", "", name): cell
                    for name, cell in cells.items()
                    if "_score_" in name
                }
                yield {
                    "query_id": record["query_id"],
                    "query": record["query"],
                    "repeat": run - 1,
                    "said": " ".join(part["text"] for part in cells["generated_answer"]),
                    "passages": [*cells.get("retrieved_passages", {}).values()],
                    **_scores("open_rag_eval", scores),
                }


class _EveryEvalSample(Record):
    example_id: str | int = _named("sample_id", default=...)
    system: str = _named("model_id", default=...)
    task: str | None = _named("evaluation_name")
    input: dict[str, Any]
    output: dict[str, Any] | None = None
    messages: list[dict[str, Any]] | None = None
    evaluation: dict[str, Any]


@file_format(
    "every_eval_ever", "samples of every_eval_ever", has("schema_version", "sample_id", "input")
)
def every_eval_ever(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read samples; in a conversation of several turns, the response is the last message."""
    rows = []
    for sample in _checked(_EveryEvalSample, content, path):
        said = sample.output["raw"] if sample.output else (sample.messages or [{}])[-1]
        rows.append(
            sample.model_dump(include={"example_id", "system", "task"})
            | {
                "question": sample.input["raw"],
                "references": _either(sample.input.get("reference")),
                "response": _text(said[0] if isinstance(said, list) and said else said),
                **_scores("every_eval_ever", {"score": sample.evaluation.get("score")}),
            }
        )
    return _frame(rows)


class _FlashRagItem(Record):
    id: str | int | None = None
    question: str
    golden_answers: list[Any]
    output: dict[str, Any]


@file_format("flashrag", "intermediate data of FlashRAG", has("golden_answers", "output"))
def flashrag(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read a run's ``intermediate_data.json``; the folder of the run names the system."""
    system = path.resolve().parent.name if path and path.stem == "intermediate_data" else None
    return _frame(
        {
            "example_id": item.id,
            "question": item.question,
            "references": _either(item.golden_answers),
            "response": item.output.get("pred"),
            "passages": _texts(item.output.get("retrieval_result")),
            "system": system,
            **_scores("flashrag", item.output.get("metric_score")),
        }
        for item in _checked(_FlashRagItem, content, path)
    )
