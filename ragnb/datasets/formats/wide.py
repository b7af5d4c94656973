"""Tables with one column of responses per system."""

# Tested in tests/datasets/test_spreadsheets.py.

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ragnb.columns import COLUMNS, PAYLOAD, PLAIN_TEXT
from ragnb.datasets.formats.registry import file_format
from ragnb.datasets.messages import called
from ragnb.datasets.renaming import LIKELY, likely, renamed
from ragnb.errors import InputError

# Words in the names of columns that are no systems, but notes about the questions.
_NOTES = frozenset(
    "url urls link source sources author authors editor note notes remark remarks comment comments "
    "date created updated title category topic type difficulty level tag tags explanation rationale "
    "evidence hint domain subject dataset split license licence annotator reviewer status doc "
    "notiz notizen kommentar quelle autor".split()
)


# Beginning of an address on the internet.
_ADDRESS = re.compile(r"\s*(?:https?://|www\.)", re.IGNORECASE)


def by_system(content: pd.DataFrame, systems: Sequence[str], path: Path | None) -> pd.DataFrame:
    """Convert a table with one column of responses per system to one row per response."""
    missing = [name for name in systems if name not in content]
    if missing:
        raise InputError(
            f"systems= names {missing[0]!r}, but the columns of {called(path)} are "
            f"{', '.join(map(str, content))}"
        )
    # A system may have the usual name of a reference, such as "gold", so the two are not looked for among the systems.
    not_systems = [name for name in content if name not in systems]
    names = {name: likely(LIKELY[name], not_systems) for name in ("question", "references")}
    frame = renamed(content, names)
    # In the result, each row repeats these columns.
    identifying = [name for name in frame if name not in systems]
    return frame.melt(identifying, [*systems], var_name="system", value_name="response")


def _systems(content: pd.DataFrame) -> list[str]:
    """The columns with the responses of a system each; none if there is any doubt.

    A table is wide if it has a question, a reference and at least two further columns, apart from
    passages and ids, and if each of these contains texts that can be answers.
    """
    if not content.columns.is_unique:
        return []
    names = [name for name in content if isinstance(name, str)]
    question, reference = (likely(LIKELY[name], names) for name in ("question", "references"))
    if question is None or reference is None:
        return []
    passages = likely(LIKELY["passages"], names)
    ids = likely("example_id id question_id qid", names)
    systems = [name for name in names if name not in (question, reference, passages, ids)]
    if len(systems) < 2:
        return []
    # A column with a name that means something else, such as "prompt", is probably no system.
    other_names = {*COLUMNS, *PAYLOAD, *PLAIN_TEXT, *" ".join(LIKELY.values()).split()}
    for name in systems:
        if name.casefold() in other_names or not _are_answers(content[name]):
            return []
        if _are_notes(name, content[name]):
            return []
    return systems


def _are_notes(name: str, column: pd.Series) -> bool:
    """Whether a column is about the question, such as its source or its author."""
    words = re.split(r"[\W_]+", name.casefold())
    texts = [text for text in column if isinstance(text, str)]
    addresses = [text for text in texts if _ADDRESS.match(text)]
    are_mostly_addresses = 2 * len(addresses) > len(texts)
    return not _NOTES.isdisjoint(words) or are_mostly_addresses


def _are_answers(column: pd.Series) -> bool:
    """Whether the texts of a column can be answers: more than half are different, not all are numbers."""
    texts = column.dropna()
    are_texts = len(texts) > 0 and all(isinstance(text, str) for text in texts)
    # Columns of categories have few different texts.
    if not are_texts or texts.nunique() <= len(column) / 2:
        return False
    return bool(pd.to_numeric(texts, errors="coerce").isna().any())


@file_format(
    "wide",
    "a table with one column per system",
    lambda content: bool(_systems(content)),
    names_systems=True,
)
def wide(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read a table with the question, the reference and one column of responses per system."""
    return by_system(content, _systems(content), path)
