"""Questions and references of a data set, and the responses that belong to them."""

# Tested in tests/datasets/test_shapes.py.

from pathlib import Path
from typing import Any, Literal

import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import COLUMNS, PAYLOAD
from ragnb.datasets.answers import NO_ANSWER, answer_of
from ragnb.datasets.files import existing_file
from ragnb.datasets.formats.benchmarks import kilt_records
from ragnb.datasets.formats.registry import FORMATS
from ragnb.datasets.messages import called
from ragnb.datasets.multilingual import Squad
from ragnb.datasets.orientation import IDS, one_row_per_item
from ragnb.datasets.reading import read_frame
from ragnb.datasets.records import first_value
from ragnb.datasets.renaming import LIKELY, likely, renamed
from ragnb.datasets.validation import checked
from ragnb.errors import InputError


@accepts()
def load_examples(source: str | Path | pd.DataFrame) -> pd.DataFrame:
    """Load questions and references, one row per question.

    Parameters
    ----------
    source
        A file of a dataset in the format of SQuAD, TriviaQA or KILT; any table with an id, a
        question and references under usual names, such as the files of Hugging Face for SQuAD and
        TriviaQA, and the queries of BEIR; or a frame, such as `ragnb.load_rgb` returns it.

    Raises
    ------
    InputError
        The file has no ids or no questions.
    """
    path = None if isinstance(source, pd.DataFrame) else existing_file(source)
    content: Any = source if path is None else one_row_per_item(read_frame(path), path)
    # A file in the format of SQuAD is one JSON object, whose key "data" has everything.
    if "data" in content and len(content) == 1:
        return _of_squad(content.iloc[0].to_dict(), path)
    if FORMATS["kilt"].recognises(content):
        frame = pd.DataFrame(kilt_records(content))
        # All answers of a question are equally right, so they are the aliases of a single part.
        frame["references"] = [[answers] if answers else None for answers in frame.pop("answers")]
        return frame.rename(columns={"pages": "relevant"})
    return _of_table(content, path)


def _of_squad(document: dict[str, Any], path: Path | None) -> pd.DataFrame:
    """The questions of a document in the format of SQuAD or TriviaQA."""
    questions = checked(Squad, document, called(path)).rows()
    frame = pd.DataFrame(questions).drop(columns="title")
    frame["answerable"] = [
        int(references not in (None, NO_ANSWER)) for references in frame["references"]
    ]
    return frame.rename(columns={"question_id": "example_id"})


def _of_table(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """The questions of a table with usual names of columns."""
    names = {name: likely(LIKELY[name], content) for name in ("question", "references")}
    names["question"] = names["question"] or likely("text", content)  # the queries of BEIR
    names["example_id"] = likely(IDS, content)
    missing = [name for name in ("example_id", "question") if names[name] is None]
    if missing:
        raise InputError(
            f"{called(path)} must be a dataset in the format of SQuAD or KILT, or a table with ids "
            f"and questions; found no column for {' or '.join(missing)} in "
            f"{', '.join(map(str, content))}"
        )
    frame = renamed(content, names)
    # Columns of objects, such as the pages and search results of TriviaQA, are read by no metric.
    not_of_ragnb = [name for name in frame if name not in {*COLUMNS, *PAYLOAD}]
    unread = [name for name in not_of_ragnb if _has_objects(frame[name])]
    frame = frame.drop(columns=unread)
    if "context" in frame and all(isinstance(text, str) for text in frame["context"]):
        frame["passages"] = [[text] for text in frame.pop("context")]
    if "references" in frame:
        references = [answer_of(reference) for reference in frame["references"]]
        frame["references"] = pd.Series(references, frame.index, dtype=object)
        if NO_ANSWER in references and "answerable" not in frame:
            frame["answerable"] = [int(reference != NO_ANSWER) for reference in references]
    return frame.assign(example_id=[_id_text(id) for id in frame["example_id"]])


def _has_objects(column: pd.Series) -> bool:
    """Whether any cell of a column is a list or a mapping."""
    return any(isinstance(cell, dict | list) for cell in column)


def _id_text(id: Any) -> str:
    """An id as a text; MongoDB writes it as ``{"$oid": "..."}``."""
    return str(first_value(id, "$oid") or id)


def with_examples(frame: pd.DataFrame, examples: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Add the questions and references of the examples to the responses.

    If there is no column ``system``, an example without a response gets a row in which the response
    is missing.

    Raises
    ------
    InputError
        A response belongs to no example.
    """
    if "example_id" not in frame:
        raise InputError(f"{called(path)} has no ids, so the rows of examples= cannot be found")
    responses = frame.assign(example_id=frame["example_id"].astype(str))
    responses = responses.drop(columns=["question", "references"], errors="ignore")
    is_in_examples = responses["example_id"].isin(examples["example_id"])
    unknown_ids = responses.loc[~is_in_examples, "example_id"]
    if len(unknown_ids):
        raise InputError(
            f"{called(path)}: {len(unknown_ids)} of its {len(responses)} responses belong to questions "
            f"that are not in examples=, such as {unknown_ids.iloc[0]!r}; pass the file of the same "
            "dataset and split"
        )
    # What is in both frames comes from the responses.
    shared = responses.columns.intersection(examples.columns).drop("example_id")
    questions = examples.drop(columns=shared)
    # An example without a response gets a row only if there is one system. With several, it would not
    # be clear to which of them the row belongs.
    how: Literal["right", "left"] = "right" if "system" in responses else "left"
    return questions.merge(responses, on="example_id", how=how)
