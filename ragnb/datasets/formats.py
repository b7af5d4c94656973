"""Formats of files with responses, and those that other evaluation tools write.

Each format gives questions, responses, references, passages, systems and ids under ragnb's names,
and the tool's own scores, as the tool wrote them, in columns such as ``ragas.faithfulness``. What a
judge gave as its reason is in ``deepeval.Faithfulness.reason``. A list of texts as a reference means
that any one of them is enough. `ragnb.datasets.releases` adds the formats of released code.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.answers import answer_of
from ragnb.datasets.files import Row, frame_of, near_name, parsed, tell
from ragnb.errors import InputError
from ragnb.records import is_missing, present

Recognises = Callable[[pd.DataFrame], bool]
Reads = Callable[[pd.DataFrame, Path | None], "pd.DataFrame | Iterable[Row]"]


@dataclass(frozen=True)
class Format:
    """One format of files with responses.

    Attributes
    ----------
    name
        The name for ``load_responses(..., format=name)``. It is also the prefix of the columns that
        contain the tool's own scores: ``ragas.faithfulness``.
    about
        What the files are, to follow "was read as".
    signs
        Signs of the format; a content must have at least one. Each is a list of keys, separated by
        commas, or a function of the content. The key ``a.0.b`` must be in the first record. A
        content is a frame with one row per record. A JSON object that is alone in its file is one
        row, with a column for each of its keys.
    reader
        The content and the path of its file (None for a frame of the user) -> the records, or a
        frame with ragnb's names.
    columns
        Name in ragnb -> keys in a record, as for `found`. ``scores`` and ``reasons`` are mappings
        from metrics. What a reader adds under the key ``ragnb`` has ragnb's names already.
    alternatives
        Meaning of a list of texts as a reference, as in `load_responses`; None if the format does
        not define it.
    """

    name: str
    about: str
    signs: tuple[str | Recognises, ...]
    reader: Reads
    columns: Mapping[str, str]
    alternatives: bool | None

    def recognises(self, content: pd.DataFrame) -> bool:
        """Return whether a content has this format."""
        return any(
            sign(content) if callable(sign) else all(_has(content, key) for key in sign.split(", "))
            for sign in self.signs
        )

    def read(self, content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
        """Read a content as a frame with ragnb's names.

        Columns that are empty are left out, except responses and scores.
        """
        records = self.reader(content, path)
        if isinstance(records, pd.DataFrame):
            return records
        items = enumerate(records, start=1)
        frame = frame_of([self._row(record, f"{called(path)} item {n}") for n, record in items])
        if "repeat" in frame:  # The tools count from 1.
            frame["repeat"] = frame["repeat"] - 1 if frame["repeat"].nunique() > 1 else None
        kept = [name for name in frame if "." in name or name == "response"]
        return frame.drop(columns=frame.columns[frame.isna().all()].difference(kept))

    def _row(self, record: Row, where: str) -> Row:
        row = {name: found(record, keys) for name, keys in self.columns.items()}
        row |= record.get("ragnb", {})
        if row["question"] is None:
            raise InputError(
                f"{where}: must have the key {self.columns['question']}, got {', '.join(record)}"
            )
        if isinstance(row["question"], list):
            row |= conversation(row["question"])
        row |= {name: cell(row[name]) for name, cell in _CELLS.items() if name in row}
        for name in _NAMES & row.keys():
            row[name] = None if is_blank(row[name]) else row[name]
        # An error with an empty text is no answer, and an answer needs no reason.
        if row["response"] == "" and not is_blank(row.get("reason") or ""):
            row["response"] = None
        if row["response"] is not None:
            row["reason"] = None
        for name, score in (row.pop("scores", None) or {}).items():
            if isinstance(score, str):
                raise InputError(f"{where}, score {name}: must be a number, got {score!r:.60}")
            if isinstance(score, int | float | None):
                row[f"{self.name}.{name}"] = score
        for name, reason in (row.pop("reasons", None) or {}).items():
            row[f"{self.name}.{name}.reason"] = reason
        return row


# Column that is wanted -> names that it often has in other files, most likely first.
LIKELY = {
    "question": "question query prompt input user_input instruction problem",
    "response": "response responses output answer prediction pred predicted_answer completion "
    "generation generated_answer actual_output model_output reply result text",
    "passages": "passages contexts context documents retrieved_contexts retrieval_context",
    "references": "references reference gold golds gold_answer gold_answers golden_answers target "
    "targets ground_truth ground_truths expected expected_output expected_answer label answers "
    "answer",
}
# Name -> format. If the content of a file matches several formats, the first one is used.
FORMATS: dict[str, Format] = {}


def file_format(
    name: str,
    about: str,
    *signs: str | Recognises,
    columns: Mapping[str, str] | None = None,
    alternatives: bool | None = None,
) -> Callable[[Reads], Reads]:
    """Return a decorator that adds a format to `FORMATS`, with the function that reads it."""

    def register(reader: Reads) -> Reads:
        FORMATS[name] = Format(name, about, signs, reader, columns or {}, alternatives)
        return reader

    return register


def _has(content: pd.DataFrame, key: str) -> bool:
    name, _, inner = key.partition(".")
    if not inner or name not in content:
        return name in content
    return any(found(cell, inner) is not None for cell in content[name].head(1))


# ---- records -----------------------------------------------------------------------------------


def records(content: pd.DataFrame, path: Path | None = None) -> list[Row]:
    """Return the rows of a content as records."""
    return content.to_dict("records")


def found(record: Any, keys: str) -> Any:
    """Return the first value that a record has under one of the keys; None if there is none.

    A blank value, such as an empty label, is returned only if no other key has a value.

    >>> found({"output": [{"text": "Oslo"}]}, "response output.0.text")
    'Oslo'
    >>> found({"label": "", "id": "gpt-4o"}, "label id"), found({"response": ""}, "response")
    ('gpt-4o', '')
    """
    blank = None
    for key in keys.split():
        value = inner_value(record, key)
        if is_missing(value):
            continue
        if not is_blank(value):
            return value
        blank = value if blank is None else blank
    return blank


def inner_value(record: Any, path: str) -> Any:
    """Return the value under a path such as ``output.0.text``; None if a step is not there."""
    value = record
    for step in path.split("."):
        if isinstance(value, list | tuple):
            is_place = step.removeprefix("-").isdecimal() and -len(value) <= int(step) < len(value)
            value = value[int(step)] if is_place else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def is_blank(value: Any) -> bool:
    """Return whether a value is a text without letters or signs, or an empty list or mapping."""
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, list | tuple | Mapping) and not value


def conversation(turns: list[Any]) -> Row:
    """Return the last turn as the question, and the turns before it as the history."""
    said = [
        {"role": found(turn, "role speaker type"), "content": text_of(found(turn, "content text"))}
        for turn in turns
    ]
    return {"question": said[-1]["content"], "history": said[:-1]}


def text_of(content: Any) -> str | None:
    """Return the text of a message or a passage, which may be a list of parts or an object."""
    if isinstance(content, list):
        parts = [
            part for part in content if not isinstance(part, dict) or part.get("type") == "text"
        ]
        return "\n".join(filter(None, map(text_of, parts)))
    if isinstance(content, Mapping):
        return text_of(found(content, "text contents content page_content context value"))
    if isinstance(content, bool | int | float | None):
        return answer_of(content)
    return str(content)


def texts_of(passages: Any) -> list[str] | None:
    """Return the texts of passages."""
    given = [passages] if isinstance(passages, str) else passages
    return None if given is None else [text_of(passage) or "" for passage in given]


def _either(texts: Any) -> list[list[str]] | None:
    """Combine alternative references into one part with its aliases."""
    given = texts if isinstance(texts, list | tuple) else [texts]
    objects = [text for text in given if isinstance(text, Mapping)]
    if any(isinstance(value, list) for answer in objects for value in answer.values()):
        return answer_of(texts)  # lists of aliases, as in SQuAD and TriviaQA
    known = [text for text in map(text_of, given) if text and text.strip()]
    return [known] if known else None


# Columns of names, in which a blank text is missing.
_NAMES = {"example_id", "system", "task", "language", "conversation_id"}
# Column -> what makes its cell of the value in a file.
_CELLS: dict[str, Callable[[Any], Any]] = {
    "question": text_of,
    "response": text_of,
    "references": _either,
    "passages": texts_of,
}


# ---- columns -----------------------------------------------------------------------------------


def likely(words: str, names: Iterable[str]) -> str | None:
    """Return the first of the given words that is among the names; None if there is none.

    The words are in lower case, separated by spaces. The letter case of the names is ignored.

    >>> likely(LIKELY["response"], ["id", "Prediction", "gold"])
    'Prediction'
    """
    known = {str(name).casefold(): name for name in names}
    return next((known[word] for word in words.split() if word in known), None)


def called(path: Path | None) -> str:
    """Return how messages refer to the content: by the name of its file, or as "the frame"."""
    return path.name if path else "the frame"


def mapped(frame: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Rename the columns of a frame as the user's mapping says (name in ragnb -> name in the file).

    If a column contains objects, a name with dots is a path inside them: ``"outputs.answer"``.

    Raises
    ------
    InputError
        A column is missing, or is used for several names.
    """
    named = [theirs for ours, theirs in columns.items() if ours != "example_id"]
    for theirs in columns.values():
        if theirs not in frame:
            frame = _with_inner_column(frame, theirs)
        if named.count(theirs) > 1:
            raise InputError(
                f"columns= uses {theirs!r} for several names; only example_id may share a column with "
                "another name"
            )
    return renamed(frame, columns)


def _with_inner_column(frame: pd.DataFrame, path: str) -> pd.DataFrame:
    """Add a column with the values under a path such as ``outputs.answer``."""
    steps = str(path).split(".")
    for n_steps in range(len(steps) - 1, 0, -1):
        outer, inner = ".".join(steps[:n_steps]), ".".join(steps[n_steps:])
        if outer not in frame:
            continue
        # In CSV, an object is a text that spells it.
        objects = [
            parsed(cell) if isinstance(cell, str) and cell.lstrip()[:1] in ("{", "[") else cell
            for cell in frame[outer]
        ]
        values = [inner_value(cell, inner) for cell in objects]
        if all(value is None for value in values):
            keys = next((", ".join(map(str, cell)) for cell in objects if _is_object(cell)), "none")
            raise InputError(
                f"columns= names {path!r}, but the column {outer!r} has no {inner!r}; its keys are "
                f"{keys:.200}"
            )
        return frame.assign(**{path: pd.Series(values, frame.index, dtype=object)})
    near = near_name(str(path), frame)
    meant = "" if near is None else f"; did you mean {near!r}?"
    raise InputError(
        f"columns= names {path!r}, but the columns are {', '.join(map(str, frame))}{meant}"
    )


def _is_object(cell: Any) -> bool:
    return isinstance(cell, Mapping)


def renamed(content: pd.DataFrame, names: Mapping[str, str | None]) -> pd.DataFrame:
    """Rename columns to ragnb's names; an unrelated column with such a name becomes ``other_...``.

    Parameters
    ----------
    content
        Any frame.
    names
        Name in ragnb -> name in the frame. Only ``example_id`` may share a column with another
        name. Names that the frame lacks are left out.
    """
    frame = content.reset_index(drop=True)
    known = {ours: theirs for ours, theirs in names.items() if theirs in frame}
    ids = known.get("example_id")
    others = [theirs for ours, theirs in known.items() if ours != "example_id"]
    if ids in others or (ids in ("question", "references", "response") and ids not in known):
        # The ids share the column of something else, such as the question, which keeps it.
        frame = frame.assign(**{f"{ids} as id": frame[ids]})
        known["example_id"] = f"{ids} as id"
    new = {theirs: ours for ours, theirs in known.items()}
    taken = {name: f"other_{name}" for name in known if name in frame and name not in new}
    frame = frame.rename(columns=taken | new)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"all columns must have different names, got {twice!r} twice")
    return frame


# ---- ragas, DeepEval and inspect_ai ------------------------------------------------------------

# ragnb's name -> names since version 0.2, and before.
RAGAS = {
    "question": "user_input question",
    "response": "response answer",
    "passages": "retrieved_contexts contexts",
    "references": "reference ground_truths ground_truth",
    "retrieved": "retrieved_context_ids",
    "relevant": "reference_context_ids",
}
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
    frame = renamed(content, {ours: likely(theirs, content) for ours, theirs in RAGAS.items()})
    turns = [parsed(cell) if str(cell).startswith("[{") else cell for cell in frame["question"]]
    if any(isinstance(cell, list) for cell in turns):
        frame["response"] = [text_of(cell[-1]) for cell in turns]
        frame = frame.assign(**frame_of([conversation(cell[:-1]) for cell in turns]))
    for name in frame.columns.difference([*RAGAS, *_RAGAS_FIELDS]):
        numbers = pd.to_numeric(frame[name], errors="coerce")
        if (numbers.notna() == frame[name].notna()).all():
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
    run = content.iloc[0].to_dict()
    run = found(run, "testRunData") or run
    is_run = any(key in run for key in ("testCases", "conversationalTestCases"))
    cases = (run.get("testCases") or []) if is_run else records(content)
    conversations = (run.get("conversationalTestCases") or []) if is_run else []
    if not is_run and "turns" in content:
        cases, conversations = [], cases
    for case in [*cases, *map(_last_turn, conversations)]:
        metrics = found(case, "metricsData metrics_data") or []
        own = {
            "system": found(run, "identifier"),
            "scores": {metric["name"]: metric.get("score") for metric in metrics},
            "reasons": {metric["name"]: found(metric, "error reason") for metric in metrics},
        }
        if isinstance(case.get("retrieval_context"), str):
            own["passages"] = case["retrieval_context"].split("|")
        if conversations and cases:  # conversations have ids, so that all rows need one
            own["example_id"] = found(case, "ragnb.example_id input")
        yield case | {"ragnb": case.get("ragnb", {}) | own}
    if conversations:
        tell(
            f"{called(path)}: {len(conversations)} conversations were read as their last question "
            "and answer, with the turns before in the column history. DeepEval's scores are those "
            "of whole conversations"
        )


def _last_turn(case: Row) -> Row:
    """A conversation of DeepEval as a test case: the last question, its answer and the history."""
    turns = []
    for turn in parsed(found(case, "turns messages") or []):
        if "role" in turn:
            turns.append(turn)
            continue
        # Up to version 2, a turn was a test case with a question and its answer.
        turn = found(turn, "llm_test_case llmTestCase") or turn
        answer = turn | {"content": found(turn, "actualOutput actual_output")}
        turns += [{"role": "user", "content": turn.get("input")}, answer | {"role": "assistant"}]
    asked = [place for place, turn in enumerate(turns) if turn["role"] == "user"]
    if not asked:
        raise InputError(f"the conversation {case.get('name')!r} has no turn of the user")
    answers = [turn for turn in turns[asked[-1] + 1 :] if turn["role"] == "assistant"]
    history = [{name: turn[name] for name in ("role", "content")} for turn in turns[: asked[-1]]]
    own = {
        "example_id": case.get("name"),
        "conversation_id": case.get("name"),
        "history": history,
        "reason": None if answers else "the conversation ends with a question",
        "scenario": case.get("scenario"),
        "expected_outcome": found(case, "expectedOutcome expected_outcome"),
    }
    answer = answers[-1] if answers else {}
    passages = found(answer, "retrievalContext retrieval_context")
    row = {"input": turns[asked[-1]]["content"], "actualOutput": answer.get("content")}
    return case | row | {"retrievalContext": passages, "ragnb": own}


# Numbers that inspect_ai's own summaries use for its letters, and for words in any letter case.
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
    unread: dict[str, str] = {}
    for sample in content["samples"].iloc[0]:
        own: Row = {
            "task": run["task"],
            "system": run["model"],
            "inspect_ai.version": found(run, "packages.inspect_ai"),
            "scores": {},
            "reasons": {},
        }
        for name, score in (sample.get("scores") or {}).items():
            own["reasons"][name] = score.get("explanation")
            parts = score["value"] if isinstance(score["value"], dict) else {"": score["value"]}
            for part, value in parts.items():
                number = _inspect_number(value)
                if number is None and not is_blank(value or ""):
                    unread.setdefault(name, str(value))
                own["scores"][f"{name}.{part}".rstrip(".")] = number
        yield sample | {"ragnb": own}
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


# ---- lm-evaluation-harness and promptfoo -------------------------------------------------------


def _usual(variables: Mapping[str, Any]) -> Row:
    """Question, references and passages among variables, which have the names of their author."""
    known = {str(name).casefold(): value for name, value in variables.items()}
    return {name: found(known, words) for name, words in LIKELY.items()}


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

    The name of the file contains the task. The model's name is in the results beside the samples,
    if these are still there.
    """
    name = re.fullmatch(r"samples_(.+)_(\d{4}-\d\d-\d\dT.+)\.jsonl", called(path))
    results = path.with_name(f"results_{name[2]}.json") if path and name else None
    run = json.loads(results.read_text("utf-8")) if results and results.is_file() else {}
    samples: dict[Any, Row] = {}
    for sample in records(content):
        requests = sample["arguments"]
        prompts = [*requests.values()] if isinstance(requests, dict) else requests
        own: Row = {
            "task": name and name[1],
            "system": run.get("model_name"),
            "scores": {},
        }
        more = {"ragnb": own, "usual": _usual(sample["doc"]), "prompt": prompts[0]}
        first = samples.setdefault(sample["doc_id"], sample | more)
        rule = sample.get("filter", "none")
        for metric in sample.get("metrics", []):
            column = metric if rule == "none" else f"{metric},{rule}"
            first["ragnb"]["scores"][column] = present(sample.get(metric))
    n_repeats = []
    for sample in samples.values():
        texts = _generated(sample["resps"])
        n_repeats.append(len(texts))
        sample["ragnb"]["reason"] = None if texts else "likelihoods of choices, no text"
        for repeat, text in enumerate(texts or [None], start=1):
            own = sample["ragnb"] | {"response": text, "repeat": repeat}
            yield sample | {"ragnb": own}
    if max(n_repeats, default=0) > 1:
        tell(
            f"{called(path)}: each document has up to {max(n_repeats)} repeats, and each repeat is "
            "one row. The scores of lm-evaluation-harness are those of all repeats of a document "
            "together, and are in each of its rows"
        )


def _generated(responses: list[Any]) -> list[str]:
    """The repeats of a generated text; none if the model only rated choices by their likelihood."""
    first = responses[0] if responses else None
    repeats: list[Any] = first if isinstance(first, list) else [first]
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
        results = records(content) if "testIdx" in content else _promptfoo_cells(content)
    for system, one in zip(_promptfoo_systems(results), results, strict=True):
        output = found(one, "response.output")
        own: Row = {
            "system": system,
            "response": output if isinstance(output, str | None) else json.dumps(output),
            # The error of a failed assertion is a reason of the score.
            "reason": None if one.get("failureReason") == 1 else one.get("error"),
            "scores": {"score": one.get("score")},
            "reasons": {"score": found(one, "gradingResult.reason")},
        }
        for part in found(one, "gradingResult.componentResults") or []:
            metric = found(part, "assertion.metric assertion.type") or "assertion"
            own["scores"][metric] = part["score"]
        yield one | {"ragnb": own, "usual": _usual(one["vars"])}


def _promptfoo_systems(results: list[Row]) -> list[str]:
    """Name of the provider of each result, and of its prompt if a provider has several prompts."""
    providers = [found(one, "provider.label provider.id provider") for one in results]
    systems = [provider if isinstance(provider, str) else "" for provider in providers]
    outputs = [one.get("promptIdx") for one in results]
    if len({*outputs}) > len({*systems}):
        labels = [str(found(one, "prompt.label prompt.raw") or "") for one in results]
        pairs = zip(systems, labels, strict=True)
        systems = [", ".join(filter(None, pair)) for pair in pairs]
    if len({*outputs}) > len({*systems}):
        numbered = zip(systems, outputs, strict=True)
        systems = [f"{system} {output}".strip() for system, output in numbered]
    return systems


def _promptfoo_cells(content: pd.DataFrame) -> list[Row]:
    """The results in a table: variables, and then some columns for each prompt and provider."""
    outputs = [name for name in content if re.match(r"\[.*?\] ", name)]
    variables = content.columns[: content.columns.get_loc(outputs[0])]
    results = []
    for n, record in enumerate(records(content)):
        for k, output in enumerate(outputs):
            end = f".{k}" if k else ""
            label, _, prompt = output[1:].partition("] ")
            cell, status = present(record[output]), record[f"Status{end}"]
            has_error = status == "ERROR"  # the cell then contains the message, if anything
            result = {
                "testIdx": n,
                "promptIdx": k,
                "vars": {name: record[name] for name in variables},
                "provider": label,
                "prompt": {"raw": prompt, "label": prompt},
                "response": {"output": None if has_error else cell},
                "error": (cell or status) if has_error else None,
                "score": float(record[f"Score{end}"]),
                "gradingResult": {"reason": record[f"Grader Reason{end}"]},
            }
            results.append(result)
    return results


# ---- InspectorRAGet and MTRAG ------------------------------------------------------------------

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
    """The turn of a conversation, and the passages, whose texts may be listed separately."""
    own: Row = {}
    turn = found(task, "turn Turn")
    if turn:  # The ids end in "::2" or "<::>2".
        conversation = str(found(task, TASK["example_id"])).rpartition("::")[0].removesuffix("<")
        own["conversation_id"] = found(task, "conversation_id") or conversation or None
        own["turn"] = int(turn)
    contexts = found(task, "contexts")
    if contexts is not None:
        ids = [found(one, _DOCUMENT) for one in contexts]
        own["passage_ids"] = ids
        pairs = zip(ids, contexts, strict=True)
        own["passages"] = [documents.get(name, context) for name, context in pairs]
    return own


@file_format("mtrag", "responses of MTRAG", "task_id, input, predictions", columns=TASK)
def mtrag(content: pd.DataFrame, path: Path | None) -> Iterator[Row]:
    """Read responses of MTRAG, whose question is the last turn of a conversation."""
    for task in records(content):
        yield task | {"ragnb": _of_task(task, {})}


@file_format("inspectorraget", "a file of InspectorRAGet", "models, metrics, tasks", columns=TASK)
def inspectorraget(content: pd.DataFrame, path: Path | None) -> Iterator[Row]:
    """Read evaluations; grades of people are in columns ``human_...``, by annotator and as a mean."""
    file = content.iloc[0].to_dict()
    documents = {found(one, _DOCUMENT): one for one in file.get("documents", [])}
    tasks = {found(task, TASK["example_id"]): task for task in file["tasks"]}
    people = {metric["name"] for metric in file["metrics"] if metric.get("author") == "human"}
    # The number of a grade; it is nan if the grade is a text that the file gives no number.
    numbers = {
        (metric["name"], one["value"]): found(one, "numericValue numeric_value value")
        for metric in file["metrics"]
        for one in metric.get("values") or []
    }
    for one in found(file, "results evaluations"):
        name = found(one, TASK["example_id"])
        if name not in tasks:
            raise InputError(
                f"{called(path)} has results for the task {name!r}, but not the task itself"
            )
        record = tasks[name] | {key: value for key, value in one.items() if value is not None}
        own = _of_task(record, documents) | {"scores": {}}
        for metric, given in (found(one, "annotations scores") or {}).items():
            values = {who: grade["value"] for who, grade in given.items()}
            grades = {
                who: float(pd.to_numeric(numbers.get((metric, value), value), errors="coerce"))
                for who, value in values.items()
            }
            if metric in people:
                own[f"human_{metric}"] = sum(grades.values()) / len(grades)
                own[f"human_{metric}_grades"] = grades
            else:
                own["scores"][metric] = next(iter(grades.values()))
        yield record | {"ragnb": own}


# ---- RAGChecker, open-rag-eval, every_eval_ever, FlashRAG --------------------------------------

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
    if "query_run" in content:
        for (_, run), rows in content.groupby(["query_id", "query_run"], sort=False):
            own = {"repeat": int(run), "passages": [*rows["passage"]]}
            own["response"] = next(iter(rows["generated_answer"].dropna()), None)
            answers.append(rows.iloc[0].to_dict() | {"ragnb": own})
    for record in records(content):
        runs: dict[int, Row] = defaultdict(dict)
        for name, cell in record.items():
            part = re.fullmatch(r"run_(\d+)_(?:(?:retrieval|generation)_score_)?(.+)", name)
            if part and not is_missing(cell):
                runs[int(part[1])][part[2]] = parsed(cell)
        for run, cells in runs.items():
            if "generated_answer" in cells:
                own = {"repeat": run, "scores": cells}
                own["passages"] = [*cells.get("retrieved_passages", {}).values()]
                own["response"] = " ".join(part["text"] for part in cells["generated_answer"])
                answers.append(record | {"ragnb": own})
    for answer in answers:
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
