"""Responses that were made elsewhere, as the frame that `ragnb.score` takes."""

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.files import existing_file, guess_language, json_records, parsed
from ragnb.datasets.lbrag import is_answers, named_answers
from ragnb.datasets.tables import read_table, renamed, unguarded
from ragnb.errors import InputError
from ragnb.metrics.rgb_reading import answer_parts
from ragnb.records import PAYLOAD, PLAIN_TEXT, is_missing, refuse_partitioned, require_columns

RELEASED = {
    "example_id": "id",
    "question": "query",
    "references": "ans",
    "response": "prediction",
    "passages": "docs",
    "noise_rate": "noise_rate",
    "released_labels": "label",
    "released_fact_label": "factlabel",
}
"""Names in the prediction files of the released code (chen700564/RGB)."""
NEEDED = ("question", "references", "response")
NUMBERS = ("noise_rate", "correct_rate", "passage_num", "repeat", "judged_refusal", "judged_detection", "judged_correct",
           "judged_similarity", "label", "label_a", "label_b", "released_em", "released_f1", "released_rlc",
           "released_rlc_ok", "released_translate_tokens", "released_semantic_score")  # fmt: skip
"""Columns that hold numbers; in CSV everything is text."""
LISTS = (PAYLOAD - PLAIN_TEXT) | {"released_labels"}
"""Columns that may hold lists; in CSV these are written as JSON or as Python prints them."""
TRUTHS = {"true": 1, "True": 1, "false": 0, "False": 0}
_LIKE_A_LIST = re.compile(r"""\s*\[\s*(["'\[{]|[^\[\]]*\]\s*\Z)""")


def load_responses(
    source: str | Path | pd.DataFrame,
    columns: Mapping[str, str] | None = None,
    *,
    system: str | None = None,
    language: str | None = None,
    **constants: Any,
) -> pd.DataFrame:
    """Responses of a run made elsewhere, one row a response, ready for `ragnb.score`.

    Parameters
    ----------
    source
        A file of JSON Lines (``.jsonl``, ``.json``), Parquet or CSV, or a frame. In CSV a list is written as JSON or as
        Python prints it, ``["Oslo", "Kristiania"]``, and an empty cell holds nothing.
    columns
        What ragnb calls a column, and what the file calls it: ``{"question": "q", "references": "gold", "response":
        "output"}``. By default ragnb's own names, or those of the released code of RGB where the file has ``prediction`` and
        ``ans``, or those of LBRAG where it has ``sample_id``, ``sample_lang``, ``gold_answer`` and ``pred_answer``. Columns
        that are not named keep their names; where such a name is wanted for a column that you name, it becomes
        ``other_response`` and so on, and is not scored.
    system
        Name of what answered; by default the file's column ``system`` if there is one, else the file's name.
    language
        Language code; by default a column ``language``, else ``"zh"`` where most questions hold Han characters, else
        ``"en"``.
    **constants
        Columns with one value for all rows, such as ``benchmark="rgb"``, ``task="noise"``, ``noise_rate=1.0``.

    Returns
    -------
    DataFrame
        ``example_id`` (by default the row's number), ``system, language, question, references`` (lists of parts),
        ``response`` and all other columns. References and responses are None where there is none, then with a ``reason``
        (the file's own, if there is one); an empty response is a response. What a released code wrote stays beside: RGB's
        labels as ``released_labels`` and ``released_fact_label``, LBRAG's values as ``released_em``, ``released_f1`` and so
        on, its ``translate_tokens`` also as ``translations``.

    Raises
    ------
    InputError
        A file that cannot be read, a missing column, a response that is no text, a reference that is no answer, a cell of
        CSV that looks like a list and is none, or a noise rate or judgement that is no number; the message names the row.
    """
    refuse_partitioned(source, "load_responses")
    if not isinstance(source, str | Path | pd.DataFrame):
        raise InputError(f"load_responses needs a path or a frame; got {type(source).__name__}; name the file")
    _check_name(system, "system")
    _check_name(language, "language")
    named = "responses" if isinstance(source, pd.DataFrame) else Path(source).stem
    frame = source if isinstance(source, pd.DataFrame) else _read(existing_file(source, "load_responses"))
    frame = named_answers(frame) if columns is None and is_answers(frame) else frame
    frame = renamed(frame, {theirs: ours for ours, theirs in _mapping(frame, columns).items()})
    _check_names(frame)
    require_columns(frame, NEEDED, "load_responses")
    frame = frame.reset_index(drop=True).assign(**constants)
    frame = frame.assign(**{name: _numbers(frame[name]) for name in NUMBERS if name in frame})
    frame = _from_csv(frame) if _is_csv(source) else frame
    frame["references"] = [_parts(answer, row) for row, answer in enumerate(frame["references"])]
    frame["response"] = pd.Series([_text(value, row) for row, value in enumerate(frame["response"])], dtype=object)
    told = frame["reason"] if "reason" in frame else [None] * len(frame)
    frame["reason"] = [_reason(*row) for row in zip(frame["response"], frame["references"], told, strict=True)]
    defaults = {"example_id": [str(row) for row in range(len(frame))], "system": system or named, "language": language}
    for column, value in defaults.items():
        if column not in frame or (column == "system" and system) or (column == "language" and language):
            frame[column] = value if value is not None else guess_language(map(str, frame["question"]))
    first = ["example_id", "system", "language", *NEEDED]
    return frame[[*first, *(column for column in frame if column not in first)]]


def _check_name(value: Any, what: str) -> None:
    if value is not None and not isinstance(value, str):
        raise InputError(
            f"load_responses({what}=...) needs a text; got {value!r:.60}; leave it out where rows have their own"
        )


def _check_names(frame: pd.DataFrame) -> None:
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"load_responses needs columns of different names; got {twice!r} twice; rename or drop one")


def _is_csv(source: str | Path | pd.DataFrame) -> bool:
    return not isinstance(source, pd.DataFrame) and Path(source).suffix.lower() == ".csv"


def _read(path: Path) -> pd.DataFrame:
    if _is_csv(path):
        return _read_csv(path)
    if path.suffix.lower() == ".json":
        return pd.DataFrame([record for record, _ in json_records(path)])
    return read_table(path)


def _read_csv(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_csv(path, dtype=object, keep_default_na=False, na_values=[""])
    except (UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"{path.name} needs a table in UTF-8 with commas; got {error}; save it as CSV again") from error
    with path.open("rb") as file:
        written_here = file.read(len(BOM_UTF8)) == BOM_UTF8  # as `write_table` marks its own; others keep their apostrophes
    return frame.map(unguarded).rename(columns=unguarded) if written_here else frame


def _from_csv(frame: pd.DataFrame) -> pd.DataFrame:
    """Lists and verdicts as they were before CSV made texts of them."""
    lists = {name: [_listed(cell, name, row) for row, cell in enumerate(frame[name])] for name in frame if name in LISTS}
    verdicts = {"verdict": frame["verdict"].map(_truth)} if "verdict" in frame else {}
    return frame.assign(**{name: pd.Series(cells, dtype=object) for name, cells in lists.items()}, **verdicts)


def _listed(cell: Any, name: str, row: int) -> Any:
    """The list that a cell spells; a text that merely begins with a bracket, such as "[sic] Oslo", stays one."""
    if not isinstance(cell, str) or not cell.lstrip().startswith("["):
        return cell
    try:
        items = parsed(cell, f"row {row} column {name}")
    except InputError:
        if _LIKE_A_LIST.match(cell):
            raise
        return cell
    return items if isinstance(items, list) else cell


def _mapping(frame: pd.DataFrame, columns: Mapping[str, str] | None) -> dict[str, str]:
    if columns is None:
        released = {"prediction", "ans"} <= set(frame.columns)
        return {ours: theirs for ours, theirs in RELEASED.items() if theirs in frame} if released else {}
    if not isinstance(columns, Mapping) or not all(isinstance(name, str) for pair in columns.items() for name in pair):
        raise InputError(f"load_responses needs names of columns by ours; got {columns!r:.60}; write a mapping of texts")
    doubled = [theirs for theirs, count in Counter(columns.values()).items() if count > 1]
    if doubled:
        raise InputError(f"load_responses needs a column of its own for each name; got {doubled[0]!r} twice; name another")
    missing = [theirs for theirs in columns.values() if theirs not in frame]
    if missing:
        have = ", ".join(map(str, frame.columns))
        raise InputError(
            f"load_responses needs the columns that you name; got a table of {have} without {missing[0]}; mend it"
        )
    return dict(columns)


def _numbers(column: pd.Series) -> pd.Series:
    """A column of numbers that may have been written as text."""
    if not any(isinstance(value, str) for value in column):
        return column
    numbers = pd.to_numeric(column.map(_truth), errors="coerce")
    odd = column[numbers.isna() & column.notna()]
    if len(odd):
        raise InputError(
            f"column {column.name!r} needs numbers; got {odd.iloc[0]!r} in row {odd.index[0]}; mend or rename it"
        )
    return numbers


def _truth(value: Any) -> Any:
    return TRUTHS.get(value, value) if isinstance(value, str) else value


def _parts(answer: Any, row: int) -> list[list[str]] | None:
    if is_missing(answer):
        return None
    try:
        return answer_parts(answer.tolist() if hasattr(answer, "tolist") else answer)
    except InputError as error:
        raise InputError(f"row {row}: {error}") from error


def _text(value: Any, row: int) -> str | None:
    if is_missing(value):
        return None
    if not isinstance(value, str):
        raise InputError(
            f"row {row}: a response needs to be a text; got {type(value).__name__}; use None where there is none"
        )
    return value


def _reason(response: str | None, references: list[list[str]] | None, told: Any) -> str | None:
    """Why a row cannot be scored, in the file's own words where it has some."""
    missing = "response" if response is None else "reference" if references is None else None
    if missing is None:
        return None
    return told if isinstance(told, str) and told.strip() else f"no {missing} in the file"
