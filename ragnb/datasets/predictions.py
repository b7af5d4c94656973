"""Responses from files, as a frame for `ragnb.score`."""

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.datasets.answers import NO_ANSWER, answer_of
from ragnb.datasets.files import (
    existing_file,
    kind_of,
    parsed,
    read_frame,
    several_files,
    stem,
    tell,
)
from ragnb.datasets.formats import FORMATS, LIKELY, Format, called, likely, mapped
from ragnb.datasets.languages import identify_languages, summary_of
from ragnb.datasets.orientation import one_row_per_item
from ragnb.datasets.releases import by_system, load_examples, with_examples
from ragnb.errors import InputError
from ragnb.metrics.references import reference_parts
from ragnb.records import (
    BLANK_REFERENCE,
    COLUMNS,
    CONDITION,
    PAYLOAD,
    PLAIN_TEXT,
    no_answer,
    present,
    reasoning_apart,
    require_columns,
)
from ragnb.text import is_blank

NEEDED = ("question", "references", "response")
# Columns that hold numbers; in CSV everything is text.
NUMBERS = (
    "noise_rate correct_rate passage_num repeat turn judged_refusal judged_detection judged_correct "
    "judged_similarity label label_a label_b released_em released_f1 released_rlc released_rlc_ok "
    "released_translate_tokens released_semantic_score token_count".split()
)
# Columns of yes and no; in CSV these are texts, such as ``1`` or ``True``.
VERDICTS = ("answerable", "error_detected", "refusal", "verdict")
# Columns that may hold lists; in CSV these are written as JSON or as Python prints them.
LISTS = (PAYLOAD - PLAIN_TEXT) | {"released_labels"}
TRUTHS = dict.fromkeys(("true", "True", "TRUE", "1", "1.0"), 1) | dict.fromkeys(
    ("false", "False", "FALSE", "0", "0.0"), 0
)
# Not a comma between thousands: "1,234" remains a text.
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[-+]?(0,\d+|\d+,(\d{1,2}|\d{4,}))")
_LIKE_A_LIST = re.compile(r"""\s*\[(\s*["'\[{]|[^\[\]]*\]\s*\Z)""")


@accepts(alternatives=(True, False), keep_empty=(True, False), format=tuple(FORMATS))
def load_responses(
    source: str | Path | pd.DataFrame | Sequence[str | Path],
    columns: Mapping[str, str] | None = None,
    *,
    format: str | None = None,
    examples: str | Path | pd.DataFrame | None = None,
    systems: Sequence[str] | None = None,
    system: str | None = None,
    language: str | None = None,
    alternatives: bool | None = None,
    keep_empty: bool | None = None,
    **constants: Any,
) -> pd.DataFrame:
    """Load responses from a file or a frame, one row per response, for `ragnb.score`.

    Parameters
    ----------
    source
        A file of JSON Lines (``.jsonl``), JSON (``.json``), Parquet or CSV (``.csv``, ``.tsv``; the
        separator may be a comma, a semicolon or a tab), all but Parquet also compressed (``.gz``);
        an Excel file (``.xlsx``, needs openpyxl); an Arrow file or a folder that ``save_to_disk`` of
        Hugging Face datasets wrote; ``"-"``, which reads lines of JSON from standard input; or a
        frame. A list of files, or a pattern such as ``"runs/*.jsonl"``, gives the rows of all of
        them. A JSON object may contain its items as a list of records, one record per id, or one
        list per column, as ``Dataset.to_dict`` of Hugging Face and pandas write them. In CSV, and
        in a frame that was read from it, a list is written as JSON or as Python prints it,
        ``["Oslo", "Kristiania"]``.
    columns
        Name in ragnb -> name in the file: ``{"question": "q", "references": "gold", "response":
        "output"}``. By default, the file has ragnb's own names or one of the formats below. Other
        columns keep their names. If a column already has the new name of another column, it is
        renamed to ``other_response`` etc. and is not scored. If a column contains objects, a name
        with dots is a path inside them: ``{"response": "outputs.answer"}``.
    format
        The format in which another tool or a release wrote the file: ``"ragas"``, ``"deepeval"``,
        ``"inspect_ai"``, ``"lm_eval"``, ``"promptfoo"``, ``"inspectorraget"``, ``"mtrag"``,
        ``"ragchecker"``, ``"open_rag_eval"``, ``"every_eval_ever"``, ``"flashrag"``, ``"rgb"``,
        ``"lbrag"``, ``"squad"``, ``"kilt"``, ``"wide"`` or another name in
        ``ragnb.datasets.formats.FORMATS``. By default, it is recognized by the content of the
        file unless ``columns`` is given. A line is printed that says what was read; it is also in
        ``attrs["read_as"]``. With both, ``columns`` renames columns after the format has been
        read.
    examples
        Questions and references of a file that has only ids and responses, such as predictions in
        SQuAD's or KILT's format: the file of the dataset, or a frame. An example without a response
        becomes a row without one.
    systems
        Columns with the responses of one system each: ``["baseline", "ours"]``. By default, if a
        file has a question, a reference and otherwise only columns of texts, these are the systems.
    system
        Name of the system that responded. By default it is the system that the file names, in the
        column ``system`` or in its format, or else the name of the file.
    language
        Language code of all rows. By default it is the column ``language``. Without such a column,
        the language of each question is identified from its text, and a line is printed that counts
        the languages. The column ``language_from`` is then ``"question"`` if the question
        identifies its language, ``"file"`` if it does so together with the other questions, and
        ``"unsure"`` if the language is only the most likely one. See
        `ragnb.datasets.languages.identify_languages` for the rule and its accuracy.
    alternatives
        Meaning of a list of texts as a reference. True: any one of them is enough, as in SQuAD.
        False: all of them are needed, as in RGB. The default is what the format defines, or else
        False, with a warning if there is a list of several texts. A list of lists always
        contains parts, each with its aliases. If a reference is a list of several texts, the column
        ``references_as`` records the choice, ``"alternatives"`` or ``"parts"``, and `ragnb.score`
        writes it into the signature of every metric that reads references.
    keep_empty
        Meaning of a response that is an empty or blank text, an empty cell of CSV or a spreadsheet,
        or a missing value in a frame. True: the model answered with an empty text, which is scored,
        with 0 under most metrics. A row with a ``reason`` of its own stays without a response. False:
        there is no response, and the row is not scored. The default is False, with a warning if a file
        has empty cells or if there are empty texts. In JSON and Parquet, a missing value is never an
        empty text. A response that contains nothing but reasoning is never an answer.
    **constants
        Columns with one value for all rows, such as ``benchmark="rgb"`` or ``noise_rate=1.0``.

    Returns
    -------
    DataFrame
        ``example_id`` (by default the question, or the number of the row if a system has a question
        twice), ``system, language, question, references`` (lists of parts), ``response`` and all
        other columns. A tool's own scores are in columns such as ``ragas.faithfulness``, from which
        `ragnb.load_scores` makes a frame of scores. ``references`` is absent
        if the file has none, because refusals are counted without them. A missing response or
        reference is None, and so is a reference that is a blank text. ``reason`` then says why, in
        the words of the file if it gives a reason. If any response contains reasoning in marks such
        as ``<think>…</think>``, the column ``reasoning`` contains it and ``response`` only the
        answer. Scores that a released code wrote are kept: RGB's labels as ``released_labels``
        and ``released_fact_label``, LBRAG's values as ``released_em``, ``released_f1`` etc., its
        ``translate_tokens`` also as ``translations``, and its ``semantic_score`` also as
        ``judged_similarity``. The names of RGB's files give the model, the data, the noise rate,
        the number of passages and the share of true passages.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, no question contains a letter by which its
        language could be identified, a response is not a text, a reference is not an answer, a cell
        of CSV looks like a list but is none, a column of numbers contains something else, or two
        files have the same system's response to a question. The message names the row. If columns
        are missing, it also contains the columns of the file and the call that would probably work.
    """
    sources = several_files(source)
    if sources:
        options = {"format": format, "examples": examples, "systems": systems, "system": system}
        options |= {"language": language, "alternatives": alternatives, "keep_empty": keep_empty}
        return _joined([load_responses(one, columns, **options, **constants) for one in sources])
    file = existing_file(source) if isinstance(source, str | Path) else None
    given: Any = source if file is None else one_row_per_item(read_frame(file), file, columns)
    require_columns(given, (), "load_responses")
    if given.empty:
        raise InputError(f"{called(file)} must have at least one row, got none")
    if systems:
        given = by_system(given, systems, file)
    frame, read_as = given, None
    if format or not (columns or systems):
        frame, read_as = _read_as(given, file, format)
    frame = mapped(frame, columns or {})
    if examples is not None:
        frame = with_examples(frame, load_examples(examples), file)
    elif {*frame} <= {"example_id", "response", "retrieved"}:
        raise InputError(
            f"{called(file)} has responses and ids, but no questions; pass the file of the dataset as "
            "examples=, in the format of SQuAD or KILT or as a table"
        )
    _require_texts(frame, given, file, columns or {})
    frame = frame.assign(**constants)
    has_cells = file is None or kind_of(file) in ("csv", "tsv", "xlsx")
    frame = _with_values(frame, has_cells)
    frame = _with_translations(frame)
    if "references" in frame:
        defined = read_as.alternatives if read_as else None
        frame = _with_parts(frame, alternatives, defined)
        if BLANK_REFERENCE in frame:
            tell(
                f"{called(file)}: {frame[BLANK_REFERENCE].sum()} of {len(frame)} references are blank. "
                "Their responses are not scored, except under variant='lbrag'. If the right answer "
                'is no answer, write the reference as [""]'
            )
    frame = _with_responses(frame, file, keep_empty, has_cells)
    if read_as and frame["response"].isna().all() and frame["reason"].isna().any():
        raise InputError(
            f"{called(file)} was read as {read_as.about}, but no row has a response; name the "
            "column of responses: columns={'question': '...', 'response': '...'}, or --columns "
            "question=... response=... on the command line"
        )
    no_response = frame["response"].isna()
    no_reference = frame["references"].isna() if "references" in frame else no_response
    usual = np.where(no_response, "no response in the file", "no reference in the file")
    reasons = frame["reason"].where(frame["reason"].notna(), usual)
    frame["reason"] = reasons.where(no_response | no_reference, None)
    if system or "system" not in frame or frame["system"].isna().all():
        frame["system"] = system or ("responses" if file is None else stem(file))
    if "example_id" not in frame:
        frame["example_id"] = _ids(frame, file)
    if language:
        frame["language"] = language
    elif "language" not in frame:
        found = identify_languages(frame["question"])
        frame = frame.assign(**found)
        tell(f"{called(file)}: {summary_of(found)}")
    first = [name for name in ("example_id", "system", "language", *NEEDED) if name in frame]
    frame = reasoning_apart(frame[[*first, *(name for name in frame if name not in first)]])
    if read_as:
        shown = [name for name in frame if name in COLUMNS or name.startswith(f"{read_as.name}.")]
        frame.attrs["read_as"] = (
            f"{called(file)} was read as {read_as.about} (format={read_as.name!r}), "
            f"{len(frame)} rows with {', '.join(shown)}"
        )
        tell(frame.attrs["read_as"])
    return frame


def _joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Frames of several files as one; a system must not answer a question twice in a condition."""
    frame = pd.concat(frames, ignore_index=True)
    twice = frame.duplicated(
        [name for name in ("example_id", *CONDITION, "repeat") if name in frame]
    )
    if twice.any():
        row = frame.loc[twice.idxmax()]
        raise InputError(
            f"the files have two responses of {row['system']} to {row['example_id']}; load each "
            "file with its own system=, and join the frames with pandas.concat"
        )
    return frame


def _read_as(
    given: pd.DataFrame, file: Path | None, format: str | None
) -> tuple[pd.DataFrame, Format | None]:
    """The content under ragnb's names, and the format in which it was read, if it has one."""
    known = [one for one in FORMATS.values() if one.recognises(given)]
    chosen = FORMATS[format] if format else next(iter(known), None)
    if chosen is None:
        return given, None
    try:
        frame = chosen.read(given, file)
        problem = "" if len(frame) else f"{called(file)} has no responses"
    except KeyError as error:
        problem = f"there is no {error} in {called(file)}, which has {', '.join(map(str, given))}"
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        is_ours = isinstance(error, InputError)
        problem = str(error) if is_ours else f"{called(file)} has a wrong value ({error!s:.80})"
    if problem:
        raise InputError(
            f"{problem}. It was read as {chosen.about}; if it is something else, name its columns: "
            "columns={...}, or --columns on the command line"
        )
    return frame, chosen


def _require_texts(
    frame: pd.DataFrame, given: pd.DataFrame, file: Path | None, columns: Mapping[str, str]
) -> None:
    """Raise InputError unless there are questions and responses.

    References may be missing, because refusals are counted without them.
    """
    missing = [name for name in NEEDED if name not in frame]
    if not {"question", "response"} & {*missing}:
        return
    guesses = dict(columns)
    for name in ("question", "response", "references"):
        if name not in given and name not in columns:
            free = [column for column in given if column not in guesses.values()]
            guesses[name] = likely(LIKELY[name], free) or "..."
    source = repr(str(file)) if file else "frame"
    pairs = " ".join(f"{ours}={theirs}" for ours, theirs in guesses.items())
    more = ""
    if guesses.get("response") == "...":
        more = f" If each system has its own column, pass systems=[...]. Known formats: {', '.join(FORMATS)}."
    raise InputError(
        f"{called(file)} has no column named {' or '.join(missing)}; its columns are "
        f"{', '.join(map(str, given))}. Say which columns to use: load_responses({source}, "
        f"{guesses}), or --columns {pairs} on the command line.{more}"
    )


def _ids(frame: pd.DataFrame, file: Path | None) -> pd.Series | list[str]:
    """The questions as ids, or the numbers of the rows if questions recur."""
    conditions = [name for name in ("question", *CONDITION, "repeat") if name in frame]
    is_twice = frame["question"].isna() | frame.duplicated(conditions)
    if not is_twice.any():
        return frame["question"]
    tell(
        f"{called(file)} has no ids. Row {is_twice.idxmax()} has no question, or repeats an earlier "
        "question of the same system, so row numbers are used as ids. If the file contains several "
        "systems, name the column of the system: columns={'system': '...'}, or --columns system=... "
        "on the command line"
    )
    return [str(row) for row in range(len(frame))]


# ---- cells of CSV --------------------------------------------------------------------------------


def _with_values(frame: pd.DataFrame, has_cells: bool) -> pd.DataFrame:
    """The frame with numbers, lists and verdicts as they were before CSV made texts of them."""
    for name in frame.columns.intersection(NUMBERS):
        column = frame[name]
        if any(isinstance(value, str) for value in column):
            frame[name] = pd.to_numeric(column.astype(object).map(number_of_text), errors="coerce")
            odd = column[frame[name].isna() & column.notna()]
            if len(odd):
                raise InputError(
                    f"column {name!r} must contain numbers, got {odd.iloc[0]!r} in row "
                    f"{odd.index[0]}"
                )
    for name in frame.columns.intersection([*LISTS]) if has_cells else ():
        cells = [spelled_list(cell, row, name) for row, cell in enumerate(frame[name])]
        frame[name] = pd.Series(cells, dtype=object)
    for name in frame.columns.intersection(VERDICTS) if has_cells else ():
        frame[name] = frame[name].astype(object).map(number_of_text).astype(object)
    return frame


def _with_translations(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with ``translations``, which may be given as numbers of tokens."""
    if "released_translate_tokens" in frame:
        counts = frame["released_translate_tokens"].fillna(0).astype(float).tolist()
        return frame.assign(
            translations=[[{"token_count": count}] if count else [] for count in counts]
        )
    if "translations" not in frame and "token_count" in frame:
        return frame.assign(translations=frame["token_count"].astype(object))
    if "translations" in frame:
        cells = [_number_of_tokens(cell) for cell in frame["translations"]]
        return frame.assign(translations=pd.Series(cells, frame.index, dtype=object))
    return frame


def _number_of_tokens(cell: Any) -> Any:
    """A number that CSV made a text of, and any other cell unchanged."""
    if not isinstance(cell, str):
        return cell
    text = str(number_of_text(cell.strip()))
    return float(text) if _NUMBER.fullmatch(text) else cell


def number_of_text(cell: Any) -> Any:
    """A truth value as 0 or 1, a decimal comma as a point, and any other cell unchanged.

    >>> number_of_text("True"), number_of_text("0,75"), number_of_text("1,234")
    (1, '0.75', '1,234')
    """
    if not isinstance(cell, str):
        return cell
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else TRUTHS.get(cell, cell)


def spelled_list(cell: Any, row: int, column: str) -> Any:
    """Parse a cell that contains a list or mapping; a text such as "[sic] Oslo" stays a text.

    Raises
    ------
    InputError
        A cell that looks like a list and is none.
    """
    if not isinstance(cell, str) or not cell.lstrip().startswith(("[", "{")):
        return cell
    try:
        items = parsed(cell)
    except InputError as error:
        if _LIKE_A_LIST.match(cell):
            raise InputError(f"row {row} column {column} {error}") from error
        return cell
    return items if isinstance(items, list | dict) else cell


# ---- references and responses --------------------------------------------------------------------


def _with_parts(
    frame: pd.DataFrame, alternatives: bool | None, defined: bool | None
) -> pd.DataFrame:
    """The frame with references as lists of parts, and what a list of texts was taken for.

    ``defined`` is what the format of the file says. A format that says "parts" has no other
    choice, so that none is recorded.
    """
    answers = _answers(frame["references"])
    several = [
        isinstance(answer, list) and len(answer) > 1 and all(isinstance(one, str) for one in answer)
        for answer in answers
    ]
    chosen = defined if alternatives is None else alternatives
    if any(several) and (chosen or defined is not False):
        frame["references_as"] = "alternatives" if chosen else "parts"
    if any(several) and chosen is None:
        warnings.warn(
            f"{sum(several)} of {len(frame)} references are lists of several texts and were read as "
            "parts that are all needed. If any one of them is enough, pass alternatives=True "
            "(--alternatives on the command line). If all are needed, pass alternatives=False.",
            stacklevel=4,
        )
    parts: list[list[list[str]] | None] = []
    is_blank: list[bool] = []
    for row, (answer, is_several) in enumerate(zip(answers, several, strict=True)):
        is_blank.append(isinstance(answer, str) and not answer.strip())
        if answer is None or is_blank[-1]:
            parts.append(None)
            continue
        try:
            is_stated = answer == NO_ANSWER
            reference = [answer] if chosen and is_several else answer
            parts.append(reference_parts(reference, can_be_blank=is_stated))
        except InputError as error:
            raise InputError(f"row {row}: {error}") from error
    if any(is_blank):
        frame[BLANK_REFERENCE] = is_blank
    return frame.assign(references=pd.Series(parts, dtype=object))


def _answers(references: pd.Series) -> list[Any]:
    """The references of a column as texts, lists of parts, or None."""
    answers = []
    for row, reference in enumerate(references):
        try:
            answers.append(answer_of(reference))
        except InputError as error:
            raise InputError(f"row {row}: {error}") from error
    return answers


def _with_responses(
    frame: pd.DataFrame, file: Path | None, keep_empty: bool | None, has_cells: bool
) -> pd.DataFrame:
    """The frame with responses as texts, and the reasons for gaps.

    A blank text answers nothing, and in a format with cells, so does an empty cell. With
    ``keep_empty=None``, both are no response, and a warning says so.
    """
    texts = [present(value) for value in frame["response"]]
    for row, text in enumerate(texts):
        if not isinstance(text, str | None):
            raise InputError(
                f"row {row}: a response must be a text, got {text!r:.60}; use None if there is none"
            )
    given = frame["reason"] if "reason" in frame else [None] * len(frame)
    reasons = [why if isinstance(why, str) and why.strip() else None for why in given]
    blank = [text is not None and is_blank(text) for text in texts]
    cells = [text is None and why is None for text, why in zip(texts, reasons, strict=True)]
    if keep_empty:
        if has_cells:
            texts = ["" if empty else text for text, empty in zip(texts, cells, strict=True)]
    else:
        answers = [None if empty else text for text, empty in zip(texts, blank, strict=True)]
        reasons = [
            why or (no_answer(text) if empty else None)
            for why, text, empty in zip(reasons, texts, blank, strict=True)
        ]
        texts = answers
    columns = {"response": texts, "reason": reasons}
    frame = frame.assign(
        **{name: pd.Series(values, dtype=object) for name, values in columns.items()}
    )
    # Nothing says that a frame was read from CSV, so that its missing values are empty cells.
    n_empty = sum(blank) + (sum(cells) if has_cells and file is not None else 0)
    if keep_empty is None and n_empty:
        kind = "empty cells" if has_cells and file is not None else "empty texts"
        warnings.warn(
            f"{n_empty} of {len(frame)} responses in {called(file)} are {kind}. They are "
            "treated as missing and not scored. If the model answered with an empty text, pass "
            "keep_empty=True (--keep-empty on the command line) to score them. If they are missing, "
            "pass keep_empty=False (--no-keep-empty), and this warning no longer appears.",
            stacklevel=4,
        )
    return frame
