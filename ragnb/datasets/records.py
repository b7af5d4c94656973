"""Values inside the records of a file: the value under a key or a path, texts of passages and turns."""

# Tested in tests/datasets/test_empty_values.py.

from collections.abc import Mapping
from typing import Any

from ragnb.cells import is_empty_cell, is_missing
from ragnb.datasets.answers import answer_of
from ragnb.datasets.validation import Row


def first_value(record: Any, keys: str) -> Any:
    """Return the first value that a record has under one of the keys; None if there is none.

    A blank value, such as an empty label, is returned only if no other key has a value.

    >>> first_value({"output": [{"text": "Oslo"}]}, "response output.0.text")
    'Oslo'
    >>> first_value({"label": "", "id": "gpt-4o"}, "label id"), first_value({"response": ""}, "response")
    ('gpt-4o', '')
    """
    blank = None
    for key in keys.split():
        value = inner_value(record, key)
        if is_missing(value):
            continue
        if not is_empty(value):
            return value
        blank = value if blank is None else blank
    return blank


def inner_value(record: Any, path: str) -> Any:
    """Return the value under a path such as ``output.0.text``; None if a step is not there."""
    value = record
    for step in path.split("."):
        if isinstance(value, list | tuple):
            # A step into a list is a position, which may be negative as in Python.
            is_number = step.removeprefix("-").isdecimal()
            is_place = is_number and -len(value) <= int(step) < len(value)
            value = value[int(step)] if is_place else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def is_empty(value: Any) -> bool:
    """Return whether a value is missing, a text of white space, or an empty list or mapping."""
    return is_empty_cell(value) or (isinstance(value, list | tuple | Mapping) and not value)


def conversation(turns: list[Any]) -> Row:
    """Return the columns of a conversation: its last turn is the question, the others the history."""
    messages = []
    for turn in turns:
        role = first_value(turn, "role speaker type")
        messages.append({"role": role, "content": text_of(first_value(turn, "content text"))})
    return {"question": messages[-1]["content"], "history": messages[:-1]}


def text_of(content: Any) -> str | None:
    """Return the text of a message or a passage, which may be a list of parts or an object.

    The texts of parts are joined by line breaks. Parts of another type, such as images, are left out.
    """
    if isinstance(content, list):
        parts = [
            part for part in content if not isinstance(part, dict) or part.get("type") == "text"
        ]
        return "\n".join(filter(None, map(text_of, parts)))
    if isinstance(content, Mapping):
        return text_of(first_value(content, "text contents content page_content context value"))
    if isinstance(content, bool | int | float | None):
        return answer_of(content)
    return str(content)


def texts_of(passages: Any) -> list[str] | None:
    """Return the texts of passages; None if there are no passages. A text alone is one passage."""
    if passages is None:
        return None
    if isinstance(passages, str):
        passages = [passages]
    return [text_of(passage) or "" for passage in passages]


def alternatives_of(texts: Any) -> list[list[str]] | None:
    """Return alternative references as one part with its aliases; None if there is no text."""
    answers = texts if isinstance(texts, list | tuple) else [texts]
    objects = [answer for answer in answers if isinstance(answer, Mapping)]
    # Objects with lists of aliases, as in SQuAD and TriviaQA, have a meaning of their own.
    if any(isinstance(value, list) for answer in objects for value in answer.values()):
        return answer_of(texts)
    aliases = [text for text in map(text_of, answers) if text and not is_empty_cell(text)]
    return [aliases] if aliases else None
