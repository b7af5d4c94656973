"""Responses that were made elsewhere, as the frame that `ragnb.score` takes."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.datasets.files import existing_file, guess_language, json_items
from ragnb.datasets.lbrag import is_answers, named_answers
from ragnb.datasets.separated import is_separated, read_separated, spelled_list
from ragnb.datasets.tables import read_table, renamed
from ragnb.errors import InputError
from ragnb.metrics.rgb_protocols import answer_parts
from ragnb.records import PAYLOAD, PLAIN_TEXT, is_missing, reasoning_apart, refuse_partitioned
from ragnb.text import well_formed

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
TRUTHS = dict.fromkeys(("true", "True", "TRUE", "1", "1.0"), 1) | dict.fromkeys(
    ("false", "False", "FALSE", "0", "0.0"), 0
)


def load_responses(
    source: str | Path | pd.DataFrame,
    columns: Mapping[str, str] | None = None,
    *,
    system: str | None = None,
    language: str | None = None,
    alternatives: bool | None = None,
    keep_empty: bool | None = None,
    **constants: Any,
) -> pd.DataFrame:
    """Responses of a run made elsewhere, one row a response, ready for `ragnb.score`.

    Parameters
    ----------
    source
        A file of JSON Lines (``.jsonl``), JSON (``.json``), Parquet or CSV (``.csv``, ``.tsv``; with commas, semicolons or
        tabs), or a frame. In CSV, and in a frame that was read from it, a list is written as JSON or as Python prints it,
        ``["Oslo", "Kristiania"]``. ``keep_empty`` says what an empty cell in the column of responses means.
    columns
        What ragnb calls a column, and what the file calls it: ``{"question": "q", "references": "gold", "response":
        "output"}``. By default ragnb's own names, or those of the released code of RGB where the file has ``prediction`` and
        ``ans``, or those of LBRAG where it has ``sample_id``, ``sample_lang``, ``gold_answer`` and ``pred_answer``. Columns
        that are not named keep their names; where such a name is wanted for a column that you name, it becomes
        ``other_response`` and so on, and is not scored. A file without ids can use its questions as ids:
        ``{"example_id": "user_input", "question": "user_input"}``.
    system
        Name of what answered; by default the file's column ``system`` if there is one, else the file's name.
    language
        Language code of all rows. By default it is the column ``language``. Without such a column, the language of most
        questions is identified from their text and set for all rows, with a warning unless it is English or Chinese.
    alternatives
        What a list of texts as a reference means: True, any of them will do, as in SQuAD; False, all of them are needed, as
        in RGB. By default False, with a warning where there is a list of several texts in a file that RGB's code has not
        written. A list of lists is always one of parts, each with its aliases. Where a reference is a list of several
        texts, the column ``references_as`` records the choice, ``"alternatives"`` or ``"parts"``, and `ragnb.score` writes
        it into the signature of every metric that reads references.
    keep_empty
        What an empty cell of CSV, or a missing value in a frame, means as a response. True: the model answered with an
        empty text, which is scored, 0 under most metrics. A row with a ``reason`` of its own stays without a response.
        False: there is no response, and the row is not scored. By default False, with a warning if a CSV file has such
        cells. In JSON and Parquet, an empty text and a missing value are always told apart.
    **constants
        Columns with one value for all rows, such as ``benchmark="rgb"``, ``task="noise"``, ``noise_rate=1.0``.

    Returns
    -------
    DataFrame
        ``example_id`` (by default the row's number), ``system, language, question, references`` (lists of parts; absent
        if the file has no references, which are not needed to count refusals),
        ``response`` and all other columns. References and responses are None where there is none, then with a ``reason``
        (the file's own, if there is one); an empty response is a response. If any response contains ``<think>…</think>``,
        the column ``reasoning`` contains it and ``response`` the answer alone. What a released code wrote stays beside:
        RGB's labels as ``released_labels`` and ``released_fact_label``, LBRAG's values as ``released_em``, ``released_f1``
        and so on, its ``translate_tokens`` also as ``translations``.

    Raises
    ------
    InputError
        A file that cannot be read, a missing column, questions whose language cannot be identified, a response that is no
        text, a reference that is no answer, a cell of CSV that looks like a list and is none, or a noise rate or judgement
        that is no number; the message names the row.
    """
    refuse_partitioned(source, "load_responses")
    if not isinstance(source, str | Path | pd.DataFrame):
        raise InputError(
            f"load_responses needs a path or a frame; got {type(source).__name__}; name the file"
        )
    _check_name(system, "system")
    _check_name(language, "language")
    for name, value in {"alternatives": alternatives, "keep_empty": keep_empty}.items():
        if not isinstance(value, bool | None):
            raise InputError(
                f"load_responses({name}=...) needs True or False; got {value!r:.60}; choose one"
            )
    file = None if isinstance(source, pd.DataFrame) else existing_file(source, "load_responses")
    given = source if file is None else _read(file)
    given = named_answers(given) if columns is None and is_answers(given) else given
    names = _mapping(given, columns)
    frame = _under_our_names(given, names).assign(**constants)
    frame = frame.assign(**{name: _numbers(frame[name]) for name in NUMBERS if name in frame})
    frame = _unspelled(frame) if file is None or is_separated(file) else frame
    if "references" in frame:
        released = bool(names) and names.items() <= RELEASED.items()
        several = sum(_is_several_texts(answer) for answer in frame["references"])
        if several and (
            alternatives or not released
        ):  # in files of RGB's code a list can only be one of parts
            frame["references_as"] = "alternatives" if alternatives else "parts"
        if several and alternatives is None and not released:
            _warn_of_lists(several, len(frame))
        frame["references"] = [
            _parts(answer, row, bool(alternatives))
            for row, answer in enumerate(frame["references"])
        ]
    frame["response"] = pd.Series(
        [_text(value, row) for row, value in enumerate(frame["response"])], dtype=object
    )
    told = frame["reason"] if "reason" in frame else [None] * len(frame)
    if file is None or is_separated(file):
        gaps = zip(frame["response"], told, strict=True)
        empty = np.array(
            [response is None and not _is_reason(reason) for response, reason in gaps], dtype=bool
        )
        if keep_empty:
            frame["response"] = frame["response"].mask(empty, "")
        elif keep_empty is None and file is not None and empty.any():
            _warn_of_empty(empty, file)
    references = frame.get(
        "references", pd.Series([[]] * len(frame))
    )  # where no row has any, that is no row's reason
    frame["reason"] = [
        _reason(*row) for row in zip(frame["response"], references, told, strict=True)
    ]
    if not language and "language" not in frame:
        language = guess_language(map(str, frame["question"].dropna()))
    _name_all(frame, system, language, "responses" if file is None else system_of(file))
    first = [name for name in ("example_id", "system", "language", *NEEDED) if name in frame]
    return reasoning_apart(frame[[*first, *(column for column in frame if column not in first)]])


def system_of(file: Path) -> str:
    """The system whose responses a file holds, if nothing in it says another.

    >>> system_of(Path("runs/gpt.v2.csv.gz"))
    'gpt.v2'
    """
    return Path(file.name.removesuffix(".gz")).stem


def _check_name(value: Any, what: str) -> None:
    if value is not None and (not isinstance(value, str) or value != well_formed(value)):
        raise InputError(
            f"load_responses({what}=...) needs a text of whole characters; got {value!r:.60}; leave it out where rows have "
            "their own"
        )


def _under_our_names(given: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    ids = names.get("example_id")
    frame = given
    if ids in {theirs for ours, theirs in names.items() if ours != "example_id"} | (
        set(NEEDED) - set(names)
    ):
        frame = frame.assign(
            **{f"{ids} as id": frame[ids]}
        )  # such as the question, which stays the question
        names = {**names, "example_id": f"{ids} as id"}
    frame = renamed(frame, {theirs: ours for ours, theirs in names.items()}).reset_index(drop=True)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(
            f"load_responses needs columns of different names; got {twice!r} twice; rename or drop one"
        )
    if not {"question", "response"} <= set(
        frame
    ):  # references may be missing: negative rejection needs none
        missing = [name for name in NEEDED if name not in frame]
        raise InputError(
            f"load_responses found no column named {' or '.join(missing)}; the columns are {', '.join(map(str, given))}. "
            f"Say which columns to use: columns={dict.fromkeys(missing, '...')}, or --columns {'=... '.join(missing)}=... "
            "on the command line."
        )
    return frame


def _name_all(frame: pd.DataFrame, system: str | None, language: str | None, default: str) -> None:
    """Set the id, system and language of every row where the frame has none or another one was given."""
    if "example_id" not in frame:
        frame["example_id"] = [str(row) for row in range(len(frame))]
    if system or "system" not in frame:
        frame["system"] = system or default
    if language:
        frame["language"] = language


def _read(path: Path) -> pd.DataFrame:
    if is_separated(path):
        frame = read_separated(path)
    elif path.suffix.lower() == ".json":
        frame = pd.DataFrame([record for record, _ in json_items(path)])
    else:
        frame = read_table(path)
    if frame.empty:
        raise InputError(
            f"load_responses needs at least one row; got {path.name} without any; check how it was written"
        )
    return frame


def _unspelled(frame: pd.DataFrame) -> pd.DataFrame:
    """Lists and verdicts as they were before CSV made texts of them; pandas, too, reads texts."""
    lists = {
        name: pd.Series(
            [
                spelled_list(cell, f"row {row} column {name}")
                for row, cell in enumerate(frame[name])
            ],
            dtype=object,
        )
        for name in frame
        if name in LISTS
    }
    verdicts = {"verdict": _truths(frame["verdict"])} if "verdict" in frame else {}
    return frame.assign(**lists, **verdicts)


def _mapping(frame: pd.DataFrame, columns: Mapping[str, str] | None) -> dict[str, str]:
    if columns is None:
        released = {"prediction", "ans"} <= set(frame.columns)
        return (
            {ours: theirs for ours, theirs in RELEASED.items() if theirs in frame}
            if released
            else {}
        )
    if not isinstance(columns, Mapping) or not all(
        isinstance(name, str) for pair in columns.items() for name in pair
    ):
        raise InputError(
            f"load_responses needs names of columns by ours; got {columns!r:.60}; write a mapping of texts"
        )
    named = [theirs for ours, theirs in columns.items() if ours != "example_id"]
    doubled = [theirs for theirs in named if named.count(theirs) > 1]
    if doubled:
        raise InputError(
            f"load_responses got the column {doubled[0]!r} for several names. Only example_id may share a column with "
            "another name."
        )
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
    single = [pd.api.types.is_scalar(value) for value in column]
    numbers = pd.to_numeric(_truths(column).where(single), errors="coerce")
    odd = column[numbers.isna() & column.notna()]
    if len(odd):
        raise InputError(
            f"column {column.name!r} needs numbers; got {odd.iloc[0]!r} in row {odd.index[0]}; mend or rename it"
        )
    return numbers


def _truths(column: pd.Series) -> pd.Series:
    known = [TRUTHS.get(value, value) if isinstance(value, str) else value for value in column]
    return pd.Series(known, column.index, dtype=object)


def _warn_of_lists(several: int, n: int) -> None:
    warnings.warn(
        f"{several} of {n} references are lists of several texts and were read as parts, all of which are needed; "
        "if any one of them is enough, pass alternatives=True (--alternatives on the command line), else alternatives=False",
        stacklevel=3,
    )


def _warn_of_empty(empty: np.ndarray, file: Path) -> None:
    warnings.warn(
        f"{empty.sum()} of {len(empty)} responses in {file.name} are empty cells; they are taken as missing and are not "
        "scored; if the model answered with an empty text, pass keep_empty=True (--keep-empty on the command line) to score "
        "them; pass keep_empty=False (--no-keep-empty) if they are missing",
        stacklevel=3,
    )


def _is_several_texts(answer: Any) -> bool:
    given = answer.tolist() if isinstance(answer, np.ndarray) else answer
    return (
        isinstance(given, list | tuple)
        and len(given) > 1
        and all(isinstance(text, str) for text in given)
    )


def _parts(answer: Any, row: int, alternatives: bool) -> list[list[str]] | None:
    if is_missing(answer):
        return None
    given = answer.tolist() if hasattr(answer, "tolist") else answer
    if isinstance(given, list):  # pandas reads a list of lists in Parquet as an array of arrays
        given = [part.tolist() if isinstance(part, np.ndarray) else part for part in given]
    try:
        return answer_parts([given] if alternatives and _is_several_texts(given) else given)
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
    return told if _is_reason(told) else f"no {missing} in the file"


def _is_reason(told: Any) -> bool:
    return isinstance(told, str) and bool(told.strip())
