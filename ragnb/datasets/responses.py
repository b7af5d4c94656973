"""Responses from files, as a frame for `ragnb.score`."""

import math
import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from inspect import signature
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import BLANK_REFERENCE, COLUMNS, CONDITION, require_columns
from ragnb.datasets.answers import NO_ANSWER, answer_of
from ragnb.datasets.cells import (
    ANSWERS,
    LISTS,
    NUMBERS,
    VERDICTS,
    is_number_column,
    missing_word_note,
    number_column,
    numbers_in,
    plain_texts,
    similar_systems,
    spelled_lists,
    verdict_of,
    with_spellings,
    with_trimmed_names,
)
from ragnb.datasets.examples import load_examples, with_examples
from ragnb.datasets.files import (
    CELLS,
    WORKBOOKS,
    existing_file,
    kind_of,
    several_files,
    stem,
)
from ragnb.datasets.formats.registry import FORMATS, Format
from ragnb.datasets.formats.wide import by_system
from ragnb.datasets.frames import each_cell, present_cells, without_blanks
from ragnb.datasets.languages import as_language, identify_languages, summary_of
from ragnb.datasets.mapping import suggested_columns
from ragnb.datasets.messages import advice_on_means, called, tell, tell_size
from ragnb.datasets.orientation import one_row_per_item
from ragnb.datasets.packaged_studies import STUDIES, load_study
from ragnb.datasets.reading import read_frame
from ragnb.datasets.renaming import mapped
from ragnb.datasets.sources import git_blob_sha1
from ragnb.errors import CallError, InputError
from ragnb.garbage import without_collection
from ragnb.metrics.references import reference_parts
from ragnb.printing import warn
from ragnb.replies import no_answer, reasoning_apart
from ragnb.suggestions import did_you_mean, similar_names
from ragnb.text import is_blank

# Columns that responses usually have. References may be missing, because refusals need none.
NEEDED = ("question", "references", "response")
# Most systems whose numbers of responses are printed.
_MOST_SHOWN = 6
# Formats whose released code scores an empty text; in SQuAD 2.0 it is the answer "no answer".
EMPTY_ANSWERS = ("squad", "lbrag")


@accepts(
    alternatives=(True, False),
    keep_empty=(True, False),
    decimal=(",", "."),
    format=tuple(FORMATS),
    language=as_language,
)
@without_collection
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
    separator: str | None = None,
    decimal: str | None = None,
    sheet: str | int | None = None,
    **constants: Any,
) -> pd.DataFrame:
    """Load responses from a file or a frame, one row per response, for `ragnb.score`.

    Parameters
    ----------
    source
        The name of a study in the package, such as ``"evouna-nq"`` (see `ragnb.studies`), whose
        published rows are returned as `ragnb.load_study` returns them; or a file of JSON Lines
        (``.jsonl``), JSON (``.json``), Parquet or CSV (``.csv``, ``.tsv``; the
        separator may be a comma, a semicolon, a tab or a bar), all but Parquet also compressed
        (``.gz``);
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
        the format of SQuAD, TriviaQA or KILT: the file of the dataset, or a frame. An example without a response
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
        has empty cells or if there are empty texts. It is True for the formats ``squad`` and
        ``lbrag``, whose code scores empty texts, and for files with a reference ``[""]``, to which
        an empty text is the right answer. In JSON, Parquet and Arrow, a missing value is never an
        empty text. A response that contains nothing but reasoning is never an answer.
    separator
        The sign between several spellings of a reference in one text: with ``separator="/"``,
        ``"Oslo/Kristiania"`` means either of them. By default a text is one spelling, with a warning
        if many references contain ``/``, ``|`` or ``;``. An empty text means that there is no
        separator, without a warning.
    decimal
        The decimal mark of numbers in CSV and Excel, ``","`` or ``"."``. By default it follows from
        the cells of each column, so that it is needed only if all of them could be read in two ways,
        such as ``1,234``.
    sheet
        Name of a sheet of an Excel file, or its number from 1. By default it is the first visible
        sheet with a table.
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
        ``attrs["files"]`` contains the name and the checksum of each file, which `ragnb.provenance`
        prints.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, no question contains a letter by which its
        language could be identified, a response is not a text, a reference is not an answer, a cell
        of CSV looks like a list but is none, a column of numbers contains something else or can be
        read in two ways, two ids are equal without the blanks around them, or two
        files have the same system's response to a question. The message names the row. If columns
        are missing, it also contains the columns of the file and the call that would probably work.

    Notes
    -----
    In CSV, Excel and frames, blank rows and columns are dropped, and a line is printed that counts
    them. Blanks around ids, systems and verdicts do not count. ``NA`` and similar words are missing
    in a column of numbers, verdicts or ids, and texts in responses and references. A column in which
    each cell is a number becomes one, also with decimal commas, unless it contains ids or names. Yes,
    no, true, false, 1 and 0 are verdicts in any letter case.
    """
    options: dict[str, Any] = {
        "format": format,
        "examples": examples,
        "systems": systems,
        "system": system,
        "language": language,
        "alternatives": alternatives,
        "keep_empty": keep_empty,
        "separator": separator,
        "decimal": decimal,
        "sheet": sheet,
        "constants": constants,
    }
    _refuse_misspelled(constants)
    if isinstance(source, str) and not os.path.exists(source):
        if source in STUDIES:
            return _of_study(source, columns, options)
        if "." not in source and similar_names(source, STUDIES):
            raise InputError(
                f"{source!r} is neither a file nor a study{did_you_mean(source, STUDIES)}"
            )
    sources = several_files(source)
    if sources is None:
        return _load(source, columns or {}, **options)
    frames = [_load(member, columns or {}, **options, is_alone=False) for member in sources]
    frame = _joined(frames)
    frame.attrs["files"] = [file for part in frames for file in part.attrs.get("files", ())]
    tell_size(f"{len(sources)} files: {_size(frame)}")
    return frame


def _of_study(
    name: str, columns: Mapping[str, str] | None, options: Mapping[str, Any]
) -> pd.DataFrame:
    """The responses of a study in the package.

    A study needs no options, and InputError is raised for them. If all of its responses are in one
    language, this language may be stated.
    """
    responses = load_study(name)
    languages = responses["language"].unique().tolist()
    stated = ["columns"] if columns else []
    stated += options["constants"]
    for option, value in options.items():
        is_known = option == "language" and languages == [value]
        if option != "constants" and value is not None and not is_known:
            stated.append(option)
    if stated:
        raise InputError(
            f"load_responses({name!r}) loads a study, which needs no further arguments, got "
            f"{', '.join(stated)}"
        )
    if "response" not in responses:
        raise InputError(
            f"{name!r} contains questions without responses; load them with "
            f"ragnb.load_study({name!r}), and ask a model, for example with ragnb.run_rgb"
        )
    return responses


def _refuse_misspelled(constants: Mapping[str, Any]) -> None:
    """Raise CallError if the name of a constant column looks like an argument with a typing error."""
    arguments = [name for name in signature(load_responses).parameters if name != "constants"]
    for name in constants:
        if get_close_matches(name, arguments, n=1, cutoff=0.8):
            raise CallError(
                f"load_responses has no argument {name!r}{did_you_mean(name, arguments)}"
            )


def _load(
    source: Any,
    columns: Mapping[str, str],
    *,
    format: str | None,
    examples: Any,
    systems: Sequence[str] | None,
    system: str | None,
    language: str | None,
    alternatives: bool | None,
    keep_empty: bool | None,
    separator: str | None,
    decimal: str | None,
    sheet: str | int | None,
    constants: Mapping[str, Any],
    is_alone: bool = True,
) -> pd.DataFrame:
    """Load the responses of one file or frame, see `load_responses`.

    With `is_alone`, a line is printed that counts them. For one of several files, the caller counts all together.
    """
    file = existing_file(source) if isinstance(source, str | Path) else None
    content = _content(source, file, columns, sheet)
    if content.empty:
        raise InputError(f"{called(file)} must have at least one row, got none")

    # The columns get ragnb's names.
    if systems:
        content = by_system(content, systems, file)
    frame, read_as = content, None
    # A user who names columns or systems knows that the file has no format that could be recognised.
    if format or not (columns or systems):
        frame, read_as = _read_as(content, file, format)
    frame = mapped(frame, columns)
    if examples is not None:
        frame = with_examples(frame, load_examples(examples), file)
    else:
        _require_questions(frame, file)
    _require_texts(frame, content, file, columns)
    frame = frame.assign(**constants)

    # The cells get their values.
    has_cells = file is None or kind_of(file) in CELLS
    frame = _with_values(frame, file, has_cells, decimal)
    frame = _with_ids_of_one_kind(frame)
    frame = _with_translations(frame, decimal)
    if "references" in frame:
        frame = _with_references(frame, file, read_as, alternatives, separator)
    # In a table of cells, an empty text cannot be distinguished from a gap, so the user must decide.
    if keep_empty is None and not has_cells and _answers_can_be_empty(frame, read_as):
        keep_empty = True
    frame = _with_responses(frame, file, keep_empty, has_cells)
    if read_as:
        _require_responses(frame, file, read_as)
    frame["reason"] = _reasons(frame)

    # The rows get a system, an id and a language.
    frame = _with_names(frame, file, system)
    _warn_of_gaps(frame, file)
    if is_alone:
        tell_size(f"{called(file)}: {_size(frame)}")
    frame = _with_language(frame, file, language)

    first = [name for name in ("example_id", "system", "language", *NEEDED) if name in frame]
    last = [name for name in frame if name not in first]
    frame = reasoning_apart(frame[[*first, *last]])
    if read_as:
        frame.attrs["read_as"] = _reading(frame, file, read_as)
        tell(frame.attrs["read_as"])
    if file is not None:
        frame.attrs["files"] = [_origin(file)]
    return frame


def _origin(file: Path) -> dict[str, str]:
    """The name of a file, and its checksum, by which others can see that they have the same file."""
    # A folder of Arrow files has no content of its own, and standard input can be read only once.
    if not file.is_file():
        return {"name": file.name}
    return {"name": file.name, "git_sha1": git_blob_sha1(file.read_bytes())}


def _require_questions(frame: pd.DataFrame, file: Path | None) -> None:
    """Raise InputError if a content has ids and responses only, as a file of predictions has."""
    columns_of_predictions = {"example_id", "response", "retrieved"}
    if columns_of_predictions.issuperset(frame):
        raise InputError(
            f"{called(file)} has responses and ids, but no questions; pass the file of the dataset as "
            "examples=, in the format of SQuAD or KILT or as a table"
        )


def _require_responses(frame: pd.DataFrame, file: Path | None, read_as: Format) -> None:
    """Raise InputError if no row has a response and the file does not say why.

    The content was probably not meant to be in the format that it resembles.
    """
    if frame["response"].isna().all() and frame["reason"].isna().any():
        raise InputError(
            f"{called(file)} was read as {read_as.about}, but no row has a response; name the "
            "column of responses: columns={'question': '...', 'response': '...'}, or --columns "
            "question=... response=... on the command line"
        )


def _with_names(frame: pd.DataFrame, file: Path | None, system: str | None) -> pd.DataFrame:
    """The frame with the columns ``system`` and ``example_id``, which are made up if no row has them."""
    has_system = "system" in frame and frame["system"].notna().any()
    if system or not has_system:
        frame["system"] = system or ("responses" if file is None else stem(file))
    has_id = "example_id" in frame and frame["example_id"].notna().any()
    if not has_id:
        frame["example_id"] = _ids(frame, file)
    return frame


def _with_language(frame: pd.DataFrame, file: Path | None, language: str | None) -> pd.DataFrame:
    """The frame with the column ``language``: the stated one, that of the file, or the identified one.

    Identified languages have a further column, ``language_from``, which says by what they were identified.
    """
    if language:
        frame["language"] = language
    elif "language" not in frame:
        languages = identify_languages(frame["question"])
        frame = frame.assign(**languages)
        tell(f"{called(file)}: {summary_of(languages)}")
    return frame


def _reading(frame: pd.DataFrame, file: Path | None, read_as: Format) -> str:
    """A line that says in which format a content was read, and which columns it has."""
    columns = [name for name in frame if name in COLUMNS or name.startswith(f"{read_as.name}.")]
    systems = ""
    if read_as.names_systems:
        # Columns of another kind might have been taken for those of systems.
        systems = f"systems {', '.join(map(str, frame['system'].unique()))}, "
    return (
        f"{called(file)} was read as {read_as.about} (format={read_as.name!r}), {systems}"
        f"{len(frame)} rows with {', '.join(columns)}"
    )


def _reasons(frame: pd.DataFrame) -> pd.Series:
    """Why each row has no response or no reference; None if it has both.

    The reason is that of the file, if it gives one, or else says which of the two is missing.
    """
    no_response = frame["response"].isna()
    # Without a column of references, no reference is missing.
    no_reference = frame["references"].isna() if "references" in frame else no_response
    if not (no_response | no_reference).any():
        return pd.Series([None] * len(frame), frame.index, dtype=object)
    default = np.where(no_response, "no response in the file", "no reference in the file")
    reasons = frame["reason"].where(frame["reason"].notna(), default)
    return reasons.where(no_response | no_reference, None)


def _content(
    source: Any, file: Path | None, columns: Mapping[str, str], sheet: str | int | None
) -> pd.DataFrame:
    """The rows of a file or of a frame, without those that are blank."""
    if file is not None:
        return one_row_per_item(read_frame(file, sheet=sheet), file, columns)
    if isinstance(source, Mapping):
        raise InputError(
            "load_responses needs a file, a frame or a list of these, got a mapping; load each file "
            "with its own system= and join the frames with pandas.concat, or make a frame of records "
            "with pandas.DataFrame"
        )
    require_columns(source, (), "load_responses")
    if sheet is not None:
        raise InputError("sheet= names a sheet of an Excel file, and the source is a frame")
    content, note = without_blanks(source)
    if note:
        tell(f"the frame: {note}")
    return content


def _size(frame: pd.DataFrame) -> str:
    """The number of responses in words, with the numbers of questions, systems and repeats.

    >>> _size(pd.DataFrame({"example_id": [1, 2, 1, 2], "system": ["a", "a", "b", "b"]}))
    '4 responses: 2 questions × 2 systems'
    """
    counts = {"question": frame["example_id"].nunique(), "system": frame["system"].nunique()}
    for name, noun in (("noise_rate", "noise rate"), ("repeat", "repeat")):
        if name in frame and frame[name].nunique() > 1:
            counts[noun] = frame[name].nunique()
    parts = [_counted(count, noun) for noun, count in counts.items()]
    # The first part is the number of questions.
    if "conversation_id" in frame and frame["conversation_id"].notna().any():
        parts[0] += f" in {_counted(frame['conversation_id'].nunique(), 'conversation')}"
    total = _counted(len(frame), "response")
    is_complete = math.prod(counts.values()) == len(frame)
    if is_complete:
        return f"{total}: {' × '.join(parts)}"
    # If systems answered different questions, the numbers of their responses help to find out why.
    responses_by_system = frame["system"].value_counts(sort=False)
    numbers = ""
    if 1 < len(responses_by_system) <= _MOST_SHOWN:
        listed = [f"{name} {count:,}" for name, count in responses_by_system.items()]
        numbers = f" ({', '.join(listed)})"
    return f"{total}: {', '.join(parts)}{numbers}"


def _counted(count: int, noun: str) -> str:
    """A number with its noun: ``1 response``, ``2 responses``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _warn_of_gaps(frame: pd.DataFrame, file: Path | None) -> None:
    """Warn of rows without an id, a system or a question, and mention repeated ids and systems with nearly the same name."""
    gaps = {
        "example_id": "They cannot be compared between systems.",
        "system": "They are in no table by system; set system= if all rows are of one system.",
        "question": "In a spreadsheet, merged cells have their text only in the first row.",
    }
    for name, consequence in gaps.items():
        missing = frame[name].isna().to_numpy()
        if missing.any():
            warn(
                f"{missing.sum()} of {len(frame)} rows of {called(file)} have no {name}, such as row "
                f"{missing.argmax()}. {consequence}",
            )
    names = ("example_id", *CONDITION, "repeat", "conversation_id", "turn")
    is_repeated = frame.duplicated([name for name in names if name in frame])
    if is_repeated.any():
        row = frame.loc[is_repeated.idxmax()]
        verb = "has" if is_repeated.sum() == 1 else "have"
        tell(
            f"{called(file)}: {_counted(is_repeated.sum(), 'response')} {verb} the id of an earlier response "
            f"of the same system, such as {row['example_id']} of {row['system']}. If they are repeats, number "
            "them in a column named repeat"
        )
    if note := similar_systems(frame["system"]):
        tell(f"{called(file)}: {note}")


def _joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The frames of several files as one.

    InputError is raised if a system answered a question twice under the same conditions.
    """
    frame = pd.concat(frames, ignore_index=True)
    keys = [name for name in ("example_id", *CONDITION, "repeat") if name in frame]
    is_repeated = frame.duplicated(keys)
    if is_repeated.any():
        row = frame.loc[is_repeated.idxmax()]
        raise InputError(
            f"the files have two responses of {row['system']} to {row['example_id']}; load each "
            "file with its own system=, and join the frames with pandas.concat"
        )
    return frame


def _read_as(
    content: pd.DataFrame, file: Path | None, format: str | None
) -> tuple[pd.DataFrame, Format | None]:
    """The content under ragnb's names, and the format in which it was read.

    By default, this is the first format that recognises the content. If there is none, the content is
    returned as it is, with None.
    """
    fitting = [candidate for candidate in FORMATS.values() if candidate.recognises(content)]
    if file is not None and kind_of(file) in CELLS:
        # A table with one row looks like a JSON object that has a text for each id.
        fitting = [candidate for candidate in fitting if candidate.is_table]
    chosen = FORMATS[format] if format else next(iter(fitting), None)
    if chosen is None:
        return content, None
    try:
        frame = chosen.read(content, file)
        problem = "" if len(frame) else f"{called(file)} has no responses"
    except KeyError as error:
        problem = f"there is no {error} in {called(file)}, which has {', '.join(map(str, content))}"
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        problem = f"{called(file)} has a wrong value ({error!s:.80})"
        if isinstance(error, InputError):
            problem = str(error)
    if problem:
        raise InputError(
            f"{problem}. It was read as {chosen.about}; if it is something else, name its columns: "
            "columns={...}, or --columns on the command line"
        )
    return frame, chosen


def _require_texts(
    frame: pd.DataFrame, content: pd.DataFrame, file: Path | None, columns: Mapping[str, str]
) -> None:
    """Raise InputError unless there are questions and responses.

    References may be missing, because refusals are counted without them.
    """
    missing = [name for name in NEEDED if name not in frame]
    if "question" not in missing and "response" not in missing:
        return
    suggested = {}
    for ours, theirs in suggested_columns(content, columns).items():
        # A column that has ragnb's name needs no suggestion.
        if ours not in content or ours in columns:
            suggested[ours] = theirs
    for name in missing:
        if name != "references":
            suggested.setdefault(name, "...")
    source = repr(str(file)) if file else "frame"
    pairs = " ".join(f"{ours}={_quoted(theirs)}" for ours, theirs in suggested.items())
    advice = ""
    if sheets := content.attrs.get("sheets"):
        advice += f" It was {sheets}... (--sheet on the command line)."
    if suggested.get("response") == "...":
        advice += (
            " If each system has its own column, pass systems=[...]. Known formats: "
            f"{', '.join(FORMATS)}."
        )
    advice += advice_on_means(content)
    raise InputError(
        f"{called(file)} has no column named {' or '.join(missing)}; its columns are "
        f"{', '.join(map(str, content))}. Say which columns to use: load_responses({source}, "
        f"{suggested}), or --columns {pairs} on the command line.{advice}"
    )


def _quoted(name: str) -> str:
    """A name as an argument of the command line."""
    return f'"{name}"' if " " in name else name


def _ids(frame: pd.DataFrame, file: Path | None) -> pd.Series | list[str]:
    """The questions as ids, or the numbers of the rows if a system has a question several times."""
    conditions = [name for name in ("question", *CONDITION, "repeat") if name in frame]
    is_ambiguous = frame["question"].isna() | frame.duplicated(conditions)
    if not is_ambiguous.any():
        return frame["question"]
    name = suggested_columns(frame.drop(columns="system"), {}).get("system", "...")
    tell(
        f"{called(file)} has no ids. Row {is_ambiguous.idxmax()} has no question, or repeats an earlier "
        "question of the same system, so row numbers are used as ids. If the file contains several "
        f"systems, name the column of the system: columns={{'system': {name!r}}}, or --columns "
        f"system={_quoted(name)} on the command line"
    )
    return [str(row) for row in range(len(frame))]


# ---- cells -------------------------------------------------------------------------------------


def _with_values(
    frame: pd.DataFrame, file: Path | None, has_cells: bool, decimal: str | None
) -> pd.DataFrame:
    """The frame with the values that its cells mean: numbers, lists, verdicts and names.

    With `has_cells`, the content is a table in which every value is a text, or a frame that may have
    been read from one.
    """
    # Columns that always contain numbers are converted in every file, and others only in a table of cells.
    for name in frame.columns:
        column = frame[name]
        has_texts = any(isinstance(cell, str) for cell in column)
        has_numbers = name in NUMBERS
        if has_cells and not has_numbers:
            has_numbers = is_number_column(str(name), column, from_file=file is not None)
        if has_texts and has_numbers:
            frame[name] = number_column(column, decimal)
    if not has_cells:
        return frame
    is_workbook = file is not None and kind_of(file) in WORKBOOKS
    for name in frame.columns.intersection([*LISTS]):
        frame[name] = spelled_lists(frame[name])
    for name in frame.columns.intersection(VERDICTS):
        frame[name] = each_cell(frame[name], verdict_of)
    # Answers become texts again: a workbook stores 1905 as a number or a date.
    for name in frame.columns.intersection(ANSWERS):
        frame[name] = plain_texts(frame[name], from_workbook=is_workbook)
    frame, notes = with_trimmed_names(frame, called(file))
    for note in filter(None, [*notes, missing_word_note(frame)]):
        tell(f"{called(file)}: {note}")
    return frame


def _with_translations(frame: pd.DataFrame, decimal: str | None) -> pd.DataFrame:
    """The frame with the column ``translations``, if its source has any numbers of tokens.

    These are the numbers that LBRAG's code wrote, a column ``token_count``, or ``translations`` itself. `ragnb.score`
    reads the costs of translations from this column. The columns of the file stay, so that nothing of it is lost.
    """
    if "released_translate_tokens" in frame:
        counts = frame["released_translate_tokens"].fillna(0).astype(float).tolist()
        translations = [[{"token_count": count}] if count else [] for count in counts]
        return frame.assign(translations=translations)
    if "translations" not in frame and "token_count" in frame:
        return frame.assign(translations=frame["token_count"].astype(object))
    if "translations" in frame:
        cells = numbers_in(frame["translations"], decimal)
        return frame.assign(translations=pd.Series(cells, frame.index, dtype=object))
    return frame


def _with_ids_of_one_kind(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with ids of passages as texts if some are texts and some are numbers.

    In JSON, the keys of an object of grades are always texts.
    """
    names = [name for name in ("retrieved", "relevant") if name in frame]
    lists = [cell for name in names for cell in frame[name] if isinstance(cell, list | dict)]
    are_texts = {isinstance(id, str) for cell in lists for id in cell}
    has_both_kinds = are_texts == {True, False}
    if not has_both_kinds:
        return frame
    for name in names:
        converted: list[Any] = []
        for cell in frame[name]:
            if isinstance(cell, dict):
                converted.append({answer_of(id): grade for id, grade in cell.items()})
            elif isinstance(cell, list):
                converted.append([answer_of(id) for id in cell])
            else:
                converted.append(cell)
        frame[name] = pd.Series(converted, frame.index, dtype=object)
    return frame


# ---- references and responses --------------------------------------------------------------------


def _with_references(
    frame: pd.DataFrame,
    file: Path | None,
    read_as: Format | None,
    alternatives: bool | None,
    separator: str | None,
) -> pd.DataFrame:
    """The frame with references as lists of parts, and each part as a list of aliases."""
    frame, doubt = with_spellings(frame, separator, called(file))
    if doubt:
        warn(doubt)
    # None means that nothing but the user's choice says what a list of texts is.
    defined = read_as.alternatives if read_as else None
    frame = _with_parts(frame, alternatives, defined)
    if BLANK_REFERENCE in frame:
        tell(
            f"{called(file)}: {frame[BLANK_REFERENCE].sum()} of {len(frame)} references are blank. "
            "Their responses are not scored, except under variant='lbrag'. If the right answer "
            'is no answer, write the reference as [""]'
        )
    return frame


def _with_parts(
    frame: pd.DataFrame, alternatives: bool | None, defined: bool | None
) -> pd.DataFrame:
    """The frame with references as lists of parts, each a list of aliases.

    ``alternatives`` is the user's choice of what a list of texts means, and ``defined`` is what the
    format of the file defines. The choice is recorded in the column ``references_as``, except for a
    format that defines such a list as parts, because it leaves no choice.
    """
    answers = _answers(frame["references"])
    has_several = [_are_several_texts(answer) for answer in answers]
    are_alternatives = defined if alternatives is None else alternatives
    # `defined` is None if there is no format, or if the format does not say what a list means.
    are_always_parts = defined is False and not are_alternatives
    if any(has_several) and not are_always_parts:
        frame["references_as"] = "alternatives" if are_alternatives else "parts"
    if any(has_several) and are_alternatives is None:
        warn(
            f"{sum(has_several)} of {len(frame)} references are lists of several texts and were read as "
            "parts that are all needed. If any one of them is enough, pass alternatives=True "
            "(--alternatives on the command line). If all are needed, pass alternatives=False.",
        )
    parts: list[list[list[str]] | None] = []
    blank_references = []
    for row, answer in enumerate(answers):
        is_blank_text = isinstance(answer, str) and not answer.strip()
        blank_references.append(is_blank_text)
        if answer is None or is_blank_text:
            parts.append(None)
        elif isinstance(answer, str):
            parts.append([[answer]])
        elif len(answer) == 1 and isinstance(answer[0], str) and answer[0].strip():
            parts.append([answer])
        else:
            if are_alternatives and has_several[row]:
                # Alternatives are the aliases of a single part.
                answer = [answer]
            try:
                # A blank alias is an error, unless the reference is [""], which means that there is no answer.
                parts.append(reference_parts(answer, can_be_blank=answers[row] == NO_ANSWER))
            except InputError as error:
                raise InputError(f"row {row}: {error}") from error
    if any(blank_references):
        frame[BLANK_REFERENCE] = blank_references
    return frame.assign(references=pd.Series(parts, dtype=object))


def _are_several_texts(answer: Any) -> bool:
    """Whether a reference is a list of two or more texts, which can be alternatives or parts."""
    if not isinstance(answer, list) or len(answer) < 2:
        return False
    return all(isinstance(text, str) for text in answer)


def _answers(references: pd.Series) -> list[Any]:
    """The references of a column as texts, lists of parts, or None."""
    answers = []
    for row, reference in enumerate(references.tolist()):
        try:
            answers.append(reference if isinstance(reference, str) else answer_of(reference))
        except InputError as error:
            raise InputError(f"row {row}: {error}") from error
    return answers


def _response_text(cell: Any, row: int) -> str | None:
    """A response as a text; a number or a truth value is converted in the same way as a reference."""
    if isinstance(cell, Real | np.bool_):
        return str(answer_of(cell))
    if not isinstance(cell, str | None):
        advice = ""
        if isinstance(cell, Mapping):
            advice = "; name the key that has the text, with a dot: columns={'response': 'outputs.answer'}"
        raise InputError(
            f"row {row}: a response must be a text, or None if there is none, got {cell!r:.60}{advice}"
        )
    return cell


def _answers_can_be_empty(frame: pd.DataFrame, read_as: Format | None) -> bool:
    """Whether an empty text is an answer.

    It is if the right answer to some questions is no answer, or if the released code of the format
    scores empty texts.
    """
    if read_as and read_as.name in EMPTY_ANSWERS:
        return True
    return "references" in frame and any(parts == NO_ANSWER for parts in frame["references"])


def _with_responses(
    frame: pd.DataFrame, file: Path | None, keep_empty: bool | None, has_cells: bool
) -> pd.DataFrame:
    """The frame with each response as a text or None, and the reason for each None.

    ``keep_empty`` says whether a blank text is a response. In a table of cells, an empty cell is
    treated alike. With None, neither is a response, and a warning says so.
    """
    cells = present_cells(frame["response"])
    are_texts = {str, type(None)}.issuperset(map(type, cells))
    if not are_texts:
        cells = [_response_text(cell, row) for row, cell in enumerate(cells)]
    file_reasons = frame["reason"] if "reason" in frame else [None] * len(frame)
    texts: list[str | None] = []
    reasons: list[str | None] = []
    n_blank = n_gaps = 0
    for cell, file_reason in zip(cells, file_reasons, strict=True):
        text, reason = cell, file_reason
        if not isinstance(reason, str) or not reason.strip():
            reason = None
        if cell is None:
            # A gap with a reason, such as an error of the endpoint, is no empty answer.
            if reason is None:
                n_gaps += 1
                # In a table of cells, an empty cell is how an empty text is written.
                text = "" if keep_empty and has_cells else None
        elif is_blank(cell):
            n_blank += 1
            if not keep_empty:
                text = None
                reason = reason or no_answer(cell)
        texts.append(text)
        reasons.append(reason)
    frame = frame.assign(
        response=pd.Series(texts, dtype=object), reason=pd.Series(reasons, dtype=object)
    )
    # It is not known whether a frame was read from CSV, so its missing values are not called empty cells.
    gaps_are_cells = has_cells and file is not None
    n_empty = n_blank + n_gaps if gaps_are_cells else n_blank
    if keep_empty is None and n_empty:
        kind = "empty cells" if gaps_are_cells else "empty texts"
        warn(
            f"{n_empty} of {len(frame)} responses in {called(file)} are {kind}. They are "
            "treated as missing and not scored. If the model answered with an empty text, pass "
            "keep_empty=True (--keep-empty on the command line) to score them. If they are missing, "
            "pass keep_empty=False (--no-keep-empty), and this warning no longer appears.",
        )
    return frame
