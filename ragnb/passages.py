"""Passages in the forms in which people have them: texts, records with a text, and the objects of other libraries."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ragnb.cells import is_missing
from ragnb.errors import InputError

# Fields and attributes that contain the text of a passage: those of LangChain (page_content),
# LlamaIndex (text), Haystack (content), Pyserini (contents) and of other tools' files.
TEXT_FIELDS = ("text", "page_content", "contents", "content", "context", "passage", "value")


def passage_texts(cell: Any) -> list[str] | None:
    """Read the texts of the passages in one cell of a data frame; None if the cell is missing.

    A passage is a text, a mapping with its text under one of `TEXT_FIELDS`, or an object with such an
    attribute, such as a document of LangChain. A single passage counts as a list of one. A passage without
    a text, such as a number, is an error.

    >>> passage_texts("Oslo is a city."), passage_texts([{"page_content": "It rains."}, "Yes."])
    (['Oslo is a city.'], ['It rains.', 'Yes.'])
    """
    if is_missing(cell):
        return None
    if not isinstance(cell, list | tuple | np.ndarray):
        return [_text(cell, "passages")]
    return [_text(passage, f"passage {place}") for place, passage in enumerate(cell, start=1)]


def passage_column(frame: Any, what: str) -> list[list[str] | None]:
    """Read the passages of every row of a data frame; without a column ``passages``, all are None.

    `what` says what the rows are, such as ``"responses"``, in the message about a row that cannot be read.
    """
    cells = frame["passages"] if "passages" in frame else [None] * len(frame)
    column = []
    for row, cell in enumerate(cells):
        try:
            column.append(passage_texts(cell))
        except InputError as error:
            raise InputError(f"row {row} of the {what}: {error}") from error
    return column


def _text(passage: Any, where: str) -> str:
    """Return the text of one passage; ``where`` names it in the message."""
    if isinstance(passage, str):
        return passage
    is_record = isinstance(passage, Mapping)
    for name in TEXT_FIELDS:
        text = passage.get(name) if is_record else getattr(passage, name, None)
        if isinstance(text, str):
            return text
    raise InputError(
        f"{where} must be a text, or an object with its text under {' or '.join(TEXT_FIELDS[:2])}, "
        f"got {passage!r:.60}; remove entries that are not passages"
    )
