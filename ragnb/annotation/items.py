"""Items for annotation: rows of a frame with keyed sentences, fingerprints, and checks of their labels."""

# Tested in tests/annotation/test_session.py.

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
import regex

from ragnb.annotation.conversions import as_list, claims_of, conversion_of
from ragnb.annotation.tasks import Field, Task, hashed, plain
from ragnb.cells import is_missing
from ragnb.columns import column_names, require_columns
from ragnb.errors import InputError
from ragnb.metrics.references import listed
from ragnb.metrics.trace_labels import sentence_pairs
from ragnb.passages import passage_texts

# A word or a punctuation mark, as Unicode's word boundaries define them, and the space behind it. A flag is a pair of
# letters. A flag before another flag has an alternative of its own, because the search for a word boundary would count all
# earlier letters for each flag, which takes minutes in a long row of flags.
WORD = regex.compile(
    r"""(?w)(
        \p{Regional_Indicator}{2} [\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]*+ (?=\p{Regional_Indicator})
        | \S .*? \b
    ) \s*""",
    regex.DOTALL | regex.VERSION1 | regex.VERBOSE,
)


# Largest number of keys that a message lists.
MOST_LISTED = 50

# A whole number as pandas prints it in a column of floats. A float has 15 exact digits, so a longer number may be another.
WHOLE = regex.compile(r"-?[0-9]{1,15}\.0")


@dataclass(frozen=True)
class Part:
    """A text of an item in sentences: one document, a response, or another column.

    ``name`` is ``"documents"`` for each document, else the name of the column. A sentence is its key and its text.
    """

    name: str
    heading: str
    sentences: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Item:
    """One row, as the annotator sees it.

    ``order`` contains the order of two responses, if the task shows two. ``columns`` contains the values of the id.
    ``history`` contains role and text of each earlier turn of the conversation.
    """

    id: str
    question: str
    references: tuple[str, ...]
    parts: tuple[Part, ...]
    order: tuple[str, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)
    history: tuple[tuple[str, str], ...] = ()

    @cached_property
    def fingerprint(self) -> str:
        """Hash of everything that the annotator sees."""
        # The heading of a part follows from its name and its place, so it is not in the hash.
        parts = [[part.name, part.sentences] for part in self.parts]
        contents = [self.question, self.references, parts, self.order]
        # Earlier versions had no history. Items without one therefore keep the fingerprints in their logs.
        if self.history:
            contents.append(self.history)
        return hashed(contents)

    @cached_property
    def sentences(self) -> dict[str, list[str]]:
        """Keys of the sentences of the parts that can be labelled, by the name of the part.

        Documents and the response are always in it, and claims and words if the item shows them.
        """
        claims_and_words = {part.name for part in self.parts} & {"claims", "words"}
        names = ["documents", "response", *sorted(claims_and_words)]
        return {name: self.keys(name) for name in names}

    def keys(self, name: str) -> list[str]:
        """Keys of all sentences of ``"documents"``, of the ``"response"``, or of another part."""
        return [key for part in self.parts if part.name == name for key, _ in part.sentences]


def build_items(
    examples: pd.DataFrame, task: Task, *, id: str | Sequence[str] = "example_id"
) -> list[Item]:
    """Convert the rows of a frame to the items of a task, in the same order.

    The columns of `id` together identify a row. The frame also needs the columns that the task shows. Only
    ``references`` and the passages of ``documents`` may be missing.
    """
    if examples.empty:
        raise InputError("there is nothing to annotate: the frame of examples has no rows")
    columns = column_names(id)
    ids = item_ids(examples, columns)
    return [
        _item(name, row, task, columns)
        for name, row in zip(ids, examples.to_dict("records"), strict=True)
    ]


def item_ids(frame: pd.DataFrame, id: str | Sequence[str] = "example_id") -> list[str]:
    """The id of each row's item: the value of a column, or the values of several columns joined by a bar.

    >>> item_ids(pd.DataFrame({"example_id": ["a/1"], "system": ["plain"]}), ["example_id", "system"])
    ['a/1 | plain']
    """
    columns = column_names(id)
    require_columns(frame, columns, "the id of an item")
    if frame[columns].isna().any(axis=None):
        raise InputError(f"the id of an item has a missing value in {', '.join(columns)}")
    ids = []
    for values in frame[columns].itertuples(index=False, name=None):
        ids.append(plain_id(" | ".join(map(str, values))))
    repeated = [name for name, n in Counter(ids).items() if n > 1]
    if repeated:
        raise InputError(
            f"ids of items must be unique, got {repeated[0]!r} more than once ({len(repeated)} such ids); name the "
            'columns that identify a row, as in id=["example_id", "system"]'
        )
    return ids


def plain_id(name: str) -> str:
    """An id in which whole numbers are written without a decimal point.

    pandas makes 1.0 of 1 in a column with gaps, and logs of earlier versions contain ids as they were in the frame.

    >>> plain_id("q/1 | plain | 0.0"), plain_id("q/1 | plain | 0.2"), plain_id("v1.0")
    ('q/1 | plain | 0', 'q/1 | plain | 0.2', 'v1.0')
    """
    return " | ".join(map(_plain_part, name.split(" | ")))


def _plain_part(part: str) -> str:
    """One value of an id, without the decimal point if it is a whole number."""
    return str(int(part[:-2])) if WHOLE.fullmatch(part) else part


def changed_items(items: Iterable[Item], fingerprints: Mapping[str, str]) -> list[str]:
    """The ids of the items whose fingerprint differs from that in the mapping.

    An item that is not in the mapping counts as unchanged, because there is nothing to compare.
    """
    return [
        item.id
        for item in items
        if item.id in fingerprints and fingerprints[item.id] != item.fingerprint
    ]


def refuse_changed_texts(items: Iterable[Item], fingerprints: Mapping[str, str]) -> None:
    """Raise InputError if the fingerprint of an item differs from the one in the mapping."""
    changed = changed_items(items, fingerprints)
    if changed:
        raise InputError(
            f"the texts of {len(changed)} examples differ from those that were labelled, such as {changed[0]!r}; "
            "load the data that were labelled"
        )


# ---- values --------------------------------------------------------------------------------------


def check_value(field: Field, item: Item, value: Any) -> Any:
    """Return a value as the log stores it, after a check that the field allows it.

    Keys of sentences are in the order of the text, and tags in the order in which they come, each once. An empty text
    becomes None, which means untouched.

    Raises
    ------
    InputError
        The field does not allow the value.
    """
    what = f"{field.name!r} of item {item.id!r}"
    if value is None:
        return None
    if field.kind in ("tags", "sentences") and isinstance(value, Set | tuple | np.ndarray):
        value = list(value)
    field.check_type(value, what)
    if field.kind == "text":
        return value or None
    if field.kind == "choice":
        field.check_option(value, what)
        return value
    if field.kind == "tags":
        return list(dict.fromkeys(value))
    # A field of sentences takes keys of sentences and its own special answers.
    allowed = item.keys(field.of) + [option.value for option in field.options]
    unknown = [key for key in value if key not in allowed]
    if unknown:
        listing = ", ".join(map(repr, allowed[:MOST_LISTED]))
        if len(allowed) > MOST_LISTED:
            listing += ", …"
        raise InputError(f"{what} must contain only keys in [{listing}], got {unknown[0]!r}")
    return [key for key in allowed if key in value]


# ---- texts ---------------------------------------------------------------------------------------


def _item(name: str, row: Mapping[str, Any], task: Task, columns: Sequence[str]) -> Item:
    """The item of one row, with the id ``name``, whose values are in the ``columns``."""
    what = f"item {name!r}"  # for messages
    shows, order = _ordered(name, task)
    parts: list[Part] = []
    for column in shows:
        if column not in ("question", "references"):
            parts += _parts(column, row, task, what)
    keys = Counter(key for part in parts for key, _ in part.sentences)
    repeated = [key for key, n in keys.items() if n > 1]
    if repeated:
        raise InputError(f"the sentence keys of {what} must be unique, got {repeated[0]!r} twice")

    # A reference may have several parts, and each part several wordings.
    references = []
    if "references" in shows:
        for part in as_list(row.get("references")):
            wordings = map(str, listed(part))
            references.append(" / ".join(wordings))
    question = ""
    history = []
    if "question" in shows:
        question = _text(row, "question", what)
        for turn in as_list(row.get("history")):
            history.append((str(turn.get("role", "")), str(turn["content"])))
    id_values = {column: _id_value(row[column]) for column in columns}
    return Item(
        id=name,
        question=question,
        references=tuple(references),
        parts=tuple(parts),
        order=order,
        columns=id_values,
        history=tuple(history),
    )


def _ordered(name: str, task: Task) -> tuple[list[str], tuple[str, ...]]:
    """The columns that an item shows, and the order of two responses if the task shows two.

    A hash of the id determines the order. It therefore stays the same when the session is opened again, and it
    does not reveal which system wrote a response.
    """
    shows = list(task.shows)
    if not {"response_a", "response_b"} <= set(shows):
        return shows, ()
    is_swapped = int(hashed([task.name, name]), 16) % 2
    order = ("b", "a") if is_swapped else ("a", "b")
    # Other columns stay where the task has them.
    places = sorted([shows.index("response_a"), shows.index("response_b")])
    for place, letter in zip(places, order, strict=True):
        shows[place] = f"response_{letter}"
    return shows, order


def _id_value(value: Any) -> Any:
    """A value of an id as JSON can contain it."""
    return plain(value) if isinstance(value, str | Number) else str(value)


def _parts(column: str, row: Mapping[str, Any], task: Task, what: str) -> Iterator[Part]:
    """Yield the parts of an item that show one column: one per document, otherwise a single one.

    Documents and the response may have keyed sentences in the column ``{column}_sentences``: a list of
    ``[key, text]`` pairs for the response, and a list of such lists for the documents.
    """
    may_have_keys = column in ("documents", "response")
    sentences: Any = row.get(f"{column}_sentences") if may_have_keys else None
    # None means that the text is not divided into sentences with keys.
    keyed_sentences: list[Any] | None = None if is_missing(sentences) else list(sentences)
    if may_have_keys and keyed_sentences is None and conversion_of(task).needs_keys:
        maker = "keyed_sentences(passages)" if column == "documents" else "keyed_response(response)"
        raise InputError(
            f"{what} needs sentences with keys in '{column}_sentences', because the task labels sentences; "
            f"use ragnb.load_ragbench, or make them with ragnb.text.{maker}"
        )
    if column == "documents":
        if keyed_sentences is None:
            # A passage without keyed sentences is one sentence, whose key is its number.
            texts = passage_texts(row.get("passages")) or []
            documents = [[(str(n), text)] for n, text in enumerate(texts, start=1)]
        else:
            documents = [sentence_pairs([document]) for document in keyed_sentences]
        for n, pairs in enumerate(documents, start=1):
            yield Part(column, f"document {n}", tuple(pairs))
    elif column == "claims":
        if not {"claims", "parts"} & row.keys():
            raise InputError(f"{what} has neither 'claims' nor 'parts'; add one of these columns")
        claims = claims_of(row)
        pairs = [(f"c{n}", str(claim["text"])) for n, claim in enumerate(claims, start=1)]
        yield Part(column, column, tuple(pairs))
    elif column == "words":
        words = WORD.finditer(_text(row, "response", what))
        # The key of a word is its place, such as 0-5.
        pairs = [(f"{word.start(1)}-{word.end(1)}", word[0]) for word in words]
        yield Part(column, "response", tuple(pairs))
    else:
        # The page calls two responses "first" and "second", in the order that was drawn. The name of
        # the column as a heading would reveal which one is which.
        is_one_of_two = column in ("response_a", "response_b")
        heading = "" if is_one_of_two else column.replace("_", " ")
        if keyed_sentences is None:
            pairs = [(column, _text(row, column, what))]
        else:
            pairs = sentence_pairs([keyed_sentences])
        yield Part(column, heading, tuple(pairs))


def _text(row: Mapping[str, Any], column: str, what: str) -> str:
    """The text in a column, empty if it is missing. A row without the column raises InputError."""
    if column not in row:
        raise InputError(
            f'{what} has no column {column!r}; add it, or remove it from "shows" of the task'
        )
    return "" if is_missing(row[column]) else str(row[column])
