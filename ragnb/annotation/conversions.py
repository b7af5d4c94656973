"""Labels of a task as the columns that metrics use, and such columns as labels of the task.

Most tasks need nothing here: their fields are the columns. A task whose labels metrics use in another
form has a subclass of `Conversion`, which names the task.
"""

# Tested in tests/annotation/test_labels.py.

from collections.abc import Mapping
from typing import Any, ClassVar

from ragnb.annotation.places import Place, flat
from ragnb.annotation.tasks import Task, plain
from ragnb.cells import flag_of, is_missing, present
from ragnb.metrics.references import listed
from ragnb.metrics.trace_labels import SPECIAL_KEYS

# Keys of the sentences of an item, by the name of the part.
Sentences = Mapping[str, list[str]]


class Conversion:
    """The default: each field of the task is a column."""

    # Columns of other names than the fields of the task that suggest labels, such as those of a judge.
    suggesting: tuple[str, ...] = ()
    # Whether documents and responses must have sentences with keys.
    needs_keys: bool = False
    # The conversion of each task that has its own.
    of_task: ClassVar[dict[str, "Conversion"]] = {}

    def __init_subclass__(cls, *, task: str) -> None:
        Conversion.of_task[task] = cls()

    def columns(self, task: Task) -> tuple[str, ...]:
        """The columns that the labels of a task add to responses."""
        return tuple(field.name for field in task.fields)

    def to_columns(self, labels: Mapping[str, Any], response: Mapping[str, Any]) -> dict[str, Any]:
        """The columns of one response, from its row of `read_labels`."""
        return dict(labels)

    def to_labels(
        self, record: Mapping[str, Any], sentences: Sentences, task: Task
    ) -> dict[Place, Any]:
        """The labels of an item, from a record with fields of the task or suggesting columns."""
        fields = {name: value for name, value in record.items() if name not in self.suggesting}
        return flat(fields, task)


def conversion_of(task: Task) -> Conversion:
    """The conversion of the labels of a task."""
    return Conversion.of_task.get(task.name, Conversion())


class Verdict(Conversion, task="verdict"):
    """The column ``judged_correct`` of a judge suggests the verdict."""

    suggesting = ("judged_correct",)

    def to_labels(
        self, record: Mapping[str, Any], sentences: Sentences, task: Task
    ) -> dict[Place, Any]:
        """The verdict in the record, or that of a judge if the record has no such field.

        A missing value in the field means that there is no verdict, whatever the judge says.
        """
        words: dict[Any, str] = {1: "correct", 0: "incorrect"}
        suggested = {"verdict": words.get(record.get("judged_correct"))}
        return super().to_labels({**suggested, **record}, sentences, task)


class ErrorAnalysis(Conversion, task="error_analysis"):
    """The column ``judged_tags`` of a judge suggests the tags."""

    suggesting = ("judged_tags",)

    def to_labels(
        self, record: Mapping[str, Any], sentences: Sentences, task: Task
    ) -> dict[Place, Any]:
        """The tags in the record, or those of a judge if the record has no such field."""
        suggested = {"tags": present(record.get("judged_tags"))}
        return super().to_labels({**suggested, **record}, sentences, task)


class Trace(Conversion, task="trace"):
    """RAGBench's columns of sentence labels."""

    needs_keys = True
    # Field of keys about the whole item -> RAGBench's column.
    keys: ClassVar = {
        "relevant": "all_relevant_sentence_keys",
        "utilized": "all_utilized_sentence_keys",
    }
    published = (
        *keys.values(),
        "sentence_support_information",
        "unsupported_response_sentence_keys",
        "overall_supported",
    )
    suggesting = (*published, "adherence_score")

    def columns(self, task: Task) -> tuple[str, ...]:
        """RAGBench's columns of labels."""
        return self.published

    def to_columns(self, labels: Mapping[str, Any], response: Mapping[str, Any]) -> dict[str, Any]:
        """RAGBench's columns; a missing label becomes None.

        A sentence that is not supported at all is in ``unsupported_response_sentence_keys``. The
        columns about support are None until every sentence has all of its labels, because a gap would
        count as no support.
        """
        sentences = _cell(_cell(labels, "sentences", {}), "response", [])
        support = _labelled(labels, "support")
        supporting = _labelled(labels, "supporting")
        columns: dict[str, Any] = {
            column: present(labels.get(field)) for field, column in self.keys.items()
        }
        columns |= {
            "sentence_support_information": None,
            "unsupported_response_sentence_keys": None,
            "overall_supported": present(labels.get("overall")),
        }
        is_complete = "sentences" in labels and all(
            key in support and key in supporting for key in sentences
        )
        if is_complete:
            columns["sentence_support_information"] = [
                {
                    "response_sentence_key": key,
                    "supporting_sentence_keys": supporting[key],
                    "fully_supported": support[key] == "full",
                    "explanation": "",
                }
                for key in sentences
            ]
            columns["unsupported_response_sentence_keys"] = [
                key for key in sentences if support[key] == "none"
            ]
        return columns

    def to_labels(
        self, record: Mapping[str, Any], sentences: Sentences, task: Task
    ) -> dict[Place, Any]:
        """Labels from RAGBench's columns if there are any, without keys that name no sentence."""
        if set(self.published).isdisjoint(record):
            return super().to_labels(record, sentences, task)
        documents = set(sentences["documents"])
        values: dict[Place, Any] = {}
        for field, column in self.keys.items():
            keys = present(record.get(column))
            if keys is not None:
                values[field, None] = [key for key in dict.fromkeys(keys) if key in documents]

        unsupported = _cell(record, "unsupported_response_sentence_keys", [])
        for information in _cell(record, "sentence_support_information", []):
            sentence = information["response_sentence_key"]
            if sentence not in sentences["response"]:
                continue
            is_unsupported = sentence in unsupported
            supporting = present(information.get("supporting_sentence_keys"))
            if supporting is not None:
                # A sentence without any supporting key is not supported, whatever the flag says.
                is_unsupported = not len(supporting)
                allowed = documents | set(SPECIAL_KEYS)
                values["supporting", sentence] = [
                    key for key in dict.fromkeys(supporting) if key in allowed
                ]
            is_full = flag_of(information.get("fully_supported"))
            if is_unsupported:
                values["support", sentence] = "none"
            elif is_full is not None:
                values["support", sentence] = "full" if is_full else "partial"

        overall = flag_of(record.get("overall_supported"))
        if overall is None:  # published files have the other name
            overall = flag_of(record.get("adherence_score"))
        if overall is not None:
            values["overall", None] = overall
        return values


class Claims(Conversion, task="claims"):
    """The column ``parts``, which contains the claims of a response with their labels."""

    def columns(self, task: Task) -> tuple[str, ...]:
        """The column of claims."""
        return ("parts",)

    def to_columns(self, labels: Mapping[str, Any], response: Mapping[str, Any]) -> dict[str, Any]:
        """The claims of the response with their labels; None unless all have one."""
        by_key = _cell(labels, "claim", {})
        claims = []
        for number, claim in enumerate(claims_of(response), 1):
            claims.append(claim | {"label": by_key.get(f"c{number}")})
        is_complete = by_key and all(claim["label"] for claim in claims)
        return {"parts": claims if is_complete else None}


class Spans(Conversion, task="spans"):
    """The column ``reference_spans``, which contains start and end of each run of marked words."""

    def columns(self, task: Task) -> tuple[str, ...]:
        """The column of spans."""
        return ("reference_spans",)

    def to_columns(self, labels: Mapping[str, Any], response: Mapping[str, Any]) -> dict[str, Any]:
        """The marked spans; None unless both fields were labelled."""
        words = _cell(labels, "sentences", {}).get("words", [])
        spans: list[list[int]] = []
        for field in ("unsupported", "contradicted"):
            marked = present(labels.get(field))
            if marked is None:
                return {"reference_spans": None}
            spans += _runs(words, set(marked))
        return {"reference_spans": sorted(spans)}


def _runs(words: list[str], marked: set[str]) -> list[list[int]]:
    """Start and end of each run of marked words. The key of a word is its place, such as ``0-5``."""
    runs: list[list[int]] = []
    is_in_run = False
    for word in words:
        start, end = map(int, word.split("-"))
        is_marked = word in marked
        if is_marked and is_in_run:
            runs[-1][1] = end
        elif is_marked:
            runs.append([start, end])
        is_in_run = is_marked
    return runs


def claims_of(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The claims of a response, each as a mapping with its ``text``.

    They are in the column ``claims``, or in ``parts`` if it is missing.
    """
    claims = row.get("claims")
    if is_missing(claims):
        claims = row.get("parts")
    return [
        dict(claim) if isinstance(claim, Mapping) else {"text": claim} for claim in as_list(claims)
    ]


def as_list(value: Any) -> list[Any]:
    """A text or a list of texts as a list, which is empty if the value is missing."""
    return [] if is_missing(value) else listed(plain(value))


def _labelled(labels: Mapping[str, Any], field: str) -> dict[str, Any]:
    """The labels of a field that is asked of each sentence, without those that are missing."""
    by_sentence = _cell(labels, field, {})
    return {key: value for key, value in by_sentence.items() if value is not None}


def _cell(record: Mapping[str, Any], name: str, default: Any) -> Any:
    """The value of a cell, or a default if it is missing."""
    value = record.get(name)
    return default if is_missing(value) else value
