"""Runs and judgements of retrieval in the formats of TREC."""

# Tested in tests/datasets/test_formats_of_benchmarks.py.

import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import is_missing
from ragnb.columns import require_columns
from ragnb.datasets.contents import read_text
from ragnb.datasets.files import existing_file, stem
from ragnb.datasets.json_files import json_records
from ragnb.datasets.messages import tell
from ragnb.errors import InputError
from ragnb.text import lines_of

# Columns of the two kinds of files, in their order.
RUN = ("example_id", "q0", "passage", "rank", "score", "system")
QRELS = ("example_id", "iteration", "passage", "grade")
# Grades are small. A larger number is probably an id, and a very large one would overflow.
LARGEST_GRADE = 2**31 - 1
# A cell ends at a space or tab of ASCII. An id may contain other white space, such as a no-break space.
_CELL = re.compile(r"\S+", re.ASCII)
# Words in the first cell of a line that shows it to be a header.
_HEADERS = "query-id query_id queryid qid q_id query topic topic_id topic-id example_id".split()


@accepts(run="path", qrels="path")
def load_run(
    run: str | Path, qrels: str | Path | None = None, *, system: str | None = None
) -> pd.DataFrame:
    """Load a TREC run and its relevance judgements, one row per system and question.

    The frame has the columns that the metrics of retrieval need:
    ``ragnb.score(ragnb.load_run("bm25.run", "qrels.txt"), "retrieval.ndcg@10")``.

    Parameters
    ----------
    run
        A file with the columns question, ``Q0``, passage, rank, score and name of the run,
        separated by spaces or tabs; or a JSON object (``.json``) of questions, each with an object
        of passages and their scores. Lines that begin with ``#`` are comments, and words behind the
        name of the run are left out.
    qrels
        A file with the columns question, iteration, passage and grade, a file of BEIR with the
        columns question, passage and grade, or a JSON object like that of a run.
    system
        Name of the system, in place of the name in the run.

    Returns
    -------
    DataFrame
        ``example_id, system``; ``retrieved``, the ids of the passages by decreasing score, as
        trec_eval ranks them: it ignores the column of ranks, reads scores in single precision, and
        orders equal scores by decreasing id; ``passage_scores``; and ``relevant``, the grade of
        each judged passage. A question that has judgements but is not in the run has None in
        ``retrieved``, and one without judgements has None in ``relevant``.

    Raises
    ------
    InputError
        A line has another number of columns, a score is not a number, a grade is not a whole
        number, a question has a passage twice, or the run and the judgements have no question in
        common.
    """
    file = existing_file(run)
    qrels_file = None if qrels is None else existing_file(qrels)
    name_of_qrels = "" if qrels_file is None else qrels_file.name
    rows_of_run = _table(file, RUN, "score")
    if system:
        rows_of_run["system"] = system
        _refuse_doubles(rows_of_run, file)
    judged = None
    if qrels_file is not None:
        judged = _grades(qrels_file)
        rows_of_run, judged = _with_ids_of_one_kind(rows_of_run, judged, (file.name, name_of_qrels))
    # trec_eval reads scores in single precision, and orders equal scores by decreasing id.
    rows_of_run["single"] = rows_of_run["score"].astype("float32")
    rows_of_run = rows_of_run.sort_values(["single", "passage", "score"], ascending=False)
    ranked = rows_of_run.groupby(["system", "example_id"])[["passage", "score"]].agg(list)
    frame = ranked.rename(columns={"passage": "retrieved", "score": "passage_scores"})
    if judged is not None:
        grades = {}
        for example, judgements in judged.groupby("example_id", sort=False):
            grades[example] = dict(zip(judgements["passage"], judgements["grade"], strict=True))
        if not {*rows_of_run["example_id"]} & {*grades}:
            raise InputError(
                f"{file.name} and {name_of_qrels} have no question in common: one has "
                f"{rows_of_run['example_id'].iloc[0]!r}, the other {next(iter(grades))!r}"
            )
        if not {*rows_of_run["passage"]} & {*judged["passage"]}:
            tell(
                f"{file.name} and {name_of_qrels} have no passage in common: one has "
                f"{rows_of_run['passage'].iloc[0]!r}, the other {judged['passage'].iloc[0]!r}"
            )
        # Questions that have judgements but are not in the run come last.
        judged_questions = pd.MultiIndex.from_product(
            [rows_of_run["system"].unique(), grades], names=ranked.index.names
        )
        frame = frame.reindex(
            frame.index.append(judged_questions.difference(frame.index, sort=False))
        )
        frame["relevant"] = [grades.get(example) for _, example in frame.index]
    rows = frame.reset_index().astype(object)
    return rows.where(rows.notna(), None)[["example_id", "system", *frame]]


@accepts()
def write_run(responses: pd.DataFrame, path: str | Path) -> Path:
    """Write the column ``retrieved`` of one system as a run of TREC.

    The scores are those of the column ``passage_scores``, if they decrease strictly, and otherwise
    the number of passages that follow, so that trec_eval has the same order.

    Parameters
    ----------
    responses
        One row per response, with the columns ``example_id`` and ``retrieved``.
    path
        The file to write.

    Raises
    ------
    InputError
        There are several systems, an id contains a space, or a column is missing.
    """
    require_columns(responses, ("example_id", "system", "retrieved"), "write_run")
    systems = responses["system"].unique()
    if len(systems) != 1:
        raise InputError(
            f"a run has one system, got {', '.join(map(str, systems))}; write one file per system"
        )
    name = "_".join(str(systems[0]).split())
    rows = []
    for row in responses.dropna(subset="retrieved").to_dict("records"):
        scores = row.get("passage_scores")
        # Equal scores would have another order in trec_eval, which then goes by the ids.
        decrease_strictly = isinstance(scores, list) and all(
            first > second for first, second in pairwise(scores)
        )
        if not decrease_strictly:
            scores = range(len(row["retrieved"]), 0, -1)
        ranked = enumerate(zip(row["retrieved"], scores, strict=True), start=1)
        for rank, (passage, score) in ranked:
            rows.append((row["example_id"], "Q0", passage, rank, score, name))
    return _written(rows, path)


@accepts()
def write_qrels(responses: pd.DataFrame, path: str | Path) -> Path:
    """Write the column ``relevant`` as judgements of TREC; listed passages have grade 1.

    Judgements belong to a question. If several systems answered it, all of its rows that have
    judgements must have the same ones, which are written once.

    Parameters
    ----------
    responses
        One row per response, with the columns ``example_id`` and ``relevant``.
    path
        The file to write.

    Raises
    ------
    InputError
        An id contains a space, a column is missing, or two rows of a question have different
        judgements.
    """
    require_columns(responses, ("example_id", "relevant"), "write_qrels")
    judgements: dict[Any, dict[Any, Any]] = {}
    for row in responses.dropna(subset="relevant").to_dict("records"):
        grades = _grades_of_passages(row["relevant"])
        if judgements.setdefault(row["example_id"], grades) != grades:
            raise InputError(
                "write_qrels needs the same judgements in all rows of a question, got different ones "
                f"for {row['example_id']!r}; write a file for each condition, such as the language"
            )
    rows = []
    for example, grades in judgements.items():
        rows += [(example, 0, passage, grade) for passage, grade in grades.items()]
    return _written(rows, path)


def _grades_of_passages(relevant: Any) -> dict[Any, Any]:
    """The grade of each judged passage in a cell; passages of a list have grade 1."""
    if not isinstance(relevant, dict):
        return dict.fromkeys(relevant, 1)
    # A mapping from a Parquet file also has the passages of other questions, without a grade.
    return {passage: grade for passage, grade in relevant.items() if not is_missing(grade)}


def _table(path: Path, names: tuple[str, ...], number: str) -> pd.DataFrame:
    """Read the columns of a file with these names, and add the column ``line``.

    The column with the name `number` is converted to numbers. ``line`` is the number of the line, or of
    the pair of a question and a passage in a JSON object. Comments, which begin with ``#``, and a line
    with the names of the columns are left out.
    """
    is_json = path.name.lower().endswith((".json", ".json.gz"))
    rows_of = _rows_of_json if is_json else _rows_of_lines
    rows = rows_of(path, names, number)
    frame = pd.DataFrame(rows, columns=[*names, "line"])
    numbers = pd.to_numeric(frame[number], errors="coerce")
    if numbers.isna().any():
        line = frame["line"][numbers.isna().idxmax()]
        raise InputError(
            f"{path.name} line {line}: must have the columns {', '.join(names)}, with a number as "
            f"the {number}, got {frame[number][numbers.isna().idxmax()]!r}"
        )
    frame[number] = numbers
    _refuse_doubles(frame, path)
    return frame


def _rows_of_lines(path: Path, names: tuple[str, ...], number: str) -> list[tuple[Any, ...]]:
    """The cells of each line, followed by the number of the line."""
    rows: list[tuple[Any, ...]] = []
    n_with_more_words = 0
    for n, line in enumerate(lines_of(read_text(path)), start=1):
        cells = _CELL.findall(line.removeprefix("\ufeff"))
        if len(cells) == 3 and names == QRELS:  # BEIR has no iteration
            cells.insert(1, "0")
        is_header = not rows and bool(cells) and cells[0].lower() in _HEADERS
        if not cells or is_header or _is_comment(cells, names, number):
            continue
        n_more = len(cells) - len(names)
        if n_more < 0 or (n_more and names != RUN):
            raise InputError(
                f"{path.name} must have the {len(names)} columns {', '.join(names)} (line {n} has "
                f"{len(cells)}); a run has 6 columns, and judgements have 4 or, as in BEIR, 3"
            )
        # Words after the name of the run are a comment.
        n_with_more_words += bool(n_more)
        rows.append((*cells[: len(names)], n))
    if not rows:
        raise InputError(f"{path.name} must have at least one line with {', '.join(names)}")
    if n_with_more_words:
        tell(
            f"{path.name}: the words behind the name of the run are left out in {n_with_more_words} of "
            f"{len(rows)} lines"
        )
    return rows


def _is_comment(cells: list[str], names: tuple[str, ...], number: str) -> bool:
    """Whether a line begins with #; an id may do so too, if the line has all of its columns."""
    if not cells[0].startswith("#"):
        return False
    # An id such as "#12" is no comment, but "# question 12" is.
    if cells[0] == "#":
        return True
    place = names.index(number)
    is_row = len(cells) >= len(names) and _is_number(cells[place])
    return not is_row


def _is_number(cell: str) -> bool:
    """Whether a cell writes a number."""
    return bool(pd.notna(pd.to_numeric(cell, errors="coerce")))


def _rows_of_json(path: Path, names: tuple[str, ...], number: str) -> list[tuple[Any, ...]]:
    """The cells of each question and passage in a JSON object, followed by the number of this pair.

    The object has the form question -> passage -> number, as in BEIR and pytrec_eval. A JSON object
    has no other columns, so these have default values.
    """
    ((content, _),) = json_records(path)
    defaults = {"q0": "Q0", "iteration": "0", "rank": 0, "system": stem(path)}
    rows: list[tuple[Any, ...]] = []
    for example, passages in content.items():
        if not isinstance(passages, dict):
            raise InputError(
                f"{path.name} must have an object of passages with numbers for each question, got "
                f"{passages!r:.60} for {example!r}"
            )
        for passage, value in passages.items():
            cells = defaults | {"example_id": example, "passage": passage, number: value}
            number_of_pair = len(rows) + 1
            rows.append((*(cells[name] for name in names), number_of_pair))
    return rows


def _refuse_doubles(frame: pd.DataFrame, path: Path) -> None:
    """Raise InputError if a question has a passage twice, which trec_eval refuses too."""
    keys = [name for name in ("system", "example_id", "passage") if name in frame]
    is_repeated = frame.duplicated(keys)
    if is_repeated.any():
        row = frame.loc[is_repeated.idxmax()]
        first = frame.loc[(frame[keys] == row[keys]).all(axis=1).idxmax()]
        raise InputError(
            f"{path.name} line {row['line']}: the question {row['example_id']!r} has the passage "
            f"{row['passage']!r} a second time (first in line {first['line']}); trec_eval refuses "
            "such a file, so remove one of the lines"
        )


def _grades(path: Path) -> pd.DataFrame:
    """Read relevance judgements, whose grades are whole numbers."""
    judged = _table(path, QRELS, "grade")
    is_fraction = judged["grade"] % 1 != 0
    if is_fraction.any():
        row = judged.loc[is_fraction.idxmax()]
        raise InputError(
            f"{path.name} line {row['line']}: a grade must be a whole number, got {row['grade']}; "
            "scale fractions to whole grades first"
        )
    is_beyond = judged["grade"].abs() > LARGEST_GRADE
    if is_beyond.any():
        row = judged.loc[is_beyond.idxmax()]
        raise InputError(
            f"{path.name} line {row['line']}: a grade must be between -{LARGEST_GRADE:,} and "
            f"{LARGEST_GRADE:,}, got {row['grade']:g}; perhaps the column contains ids"
        )
    return judged.astype({"grade": int})


def _with_ids_of_one_kind(
    retrieved: pd.DataFrame, judged: pd.DataFrame, files: tuple[str, str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Correct ids that pandas turned into decimals, such as 1.0, if the other file has 1.

    Nothing is changed if the two files have an id in common.
    """
    frames = [retrieved, judged]
    for column in ("example_id", "passage"):
        if {*frames[0][column]} & {*frames[1][column]}:
            continue
        for place, other in ((0, 1), (1, 0)):
            ids = frames[place][column]
            is_decimal = ids.str.fullmatch(r"\d+\.0").all()
            if is_decimal and frames[other][column].str.fullmatch(r"\d+").all():
                frames[place] = frames[place].assign(**{column: ids.str.removesuffix(".0")})
                tell(
                    f"{files[place]}: ids such as {ids.iloc[0]} were read as "
                    f"{frames[place][column].iloc[0]}, as they are in {files[other]}"
                )
                break
    return frames[0], frames[1]


def _written(rows: Iterable[tuple[Any, ...]], path: str | Path) -> Path:
    """Write rows as lines with a space between their cells; return the path of the file."""
    for row in rows:
        for cell in map(str, row):
            if len(cell.split()) != 1:
                raise InputError(f"an id in a file of TREC must not contain spaces, got {cell!r}")
    path = Path(path).expanduser()
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path
