"""Runs and judgements of retrieval in the formats of TREC."""

import csv
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.files import existing_file
from ragnb.errors import InputError
from ragnb.records import require_columns

RUN = ("example_id", "q0", "passage", "rank", "score", "system")
QRELS = ("example_id", "iteration", "passage", "grade")


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
        separated by spaces or tabs.
    qrels
        A file with the columns question, iteration, passage and grade.
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
        A line has another number of columns, a score or a grade is not a number, or the run and
        the judgements have no question in common.
    """
    file = existing_file(run)
    found = _table(file, RUN, "score")
    if system:
        found["system"] = system
    found["single"] = found["score"].astype("float32")
    found = found.sort_values(["single", "passage", "score"], ascending=False)
    ranked = found.groupby(["system", "example_id"])[["passage", "score"]].agg(list)
    frame = ranked.rename(columns={"passage": "retrieved", "score": "passage_scores"})
    if qrels is not None:
        judged = _table(existing_file(qrels), QRELS, "grade").astype({"grade": int})
        grades = {
            example: dict(zip(rows["passage"], rows["grade"], strict=True))
            for example, rows in judged.groupby("example_id", sort=False)
        }
        if not {*found["example_id"]} & {*grades}:
            raise InputError(
                f"{file.name} and {Path(qrels).name} have no question in common: one has "
                f"{found['example_id'].iloc[0]!r}, the other {next(iter(grades))!r}"
            )
        # Questions that have judgements but are not in the run come last.
        asked = pd.MultiIndex.from_product(
            [found["system"].unique(), grades], names=ranked.index.names
        )
        frame = frame.reindex(frame.index.append(asked.difference(frame.index, sort=False)))
        frame["relevant"] = [grades.get(example) for _, example in frame.index]
    rows = frame.reset_index().astype(object)
    return rows.where(rows.notna(), None)[["example_id", "system", *frame]]


def write_run(responses: pd.DataFrame, path: str | Path) -> Path:
    """Write the column ``retrieved`` of one system as a run of TREC.

    The scores are those of the column ``passage_scores``, if they decrease strictly, and otherwise
    the number of passages that follow, so that trec_eval has the same order.

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
        if not isinstance(scores, list) or any(b >= a for a, b in pairwise(scores)):
            scores = range(len(row["retrieved"]), 0, -1)
        ranked = enumerate(zip(row["retrieved"], scores, strict=True), start=1)
        rows += [(row["example_id"], "Q0", one, rank, score, name) for rank, (one, score) in ranked]
    return _written(rows, path)


def write_qrels(responses: pd.DataFrame, path: str | Path) -> Path:
    """Write the column ``relevant`` as judgements of TREC; listed passages have grade 1.

    Raises
    ------
    InputError
        An id contains a space, or a column is missing.
    """
    require_columns(responses, ("example_id", "relevant"), "write_qrels")
    rows = []
    for row in responses.dropna(subset="relevant").drop_duplicates("example_id").to_dict("records"):
        relevant = row["relevant"]
        grades = relevant if isinstance(relevant, dict) else dict.fromkeys(relevant, 1)
        rows += [(row["example_id"], 0, passage, grade) for passage, grade in grades.items()]
    return _written(rows, path)


def _table(path: Path, names: tuple[str, ...], number: str) -> pd.DataFrame:
    """Read the columns of a file. One of them has numbers."""
    try:
        frame = pd.read_csv(
            path,
            sep=r"\s+",
            header=None,
            dtype=object,
            quoting=csv.QUOTE_NONE,
            keep_default_na=False,
            encoding="utf-8",
        ).set_axis(names, axis=1)
    except ValueError as error:
        raise InputError(
            f"{path.name} must have the {len(names)} columns {', '.join(names)} ({error}); a run has "
            "6 columns, and judgements have 4"
        ) from error
    frame[number] = pd.to_numeric(frame[number], errors="coerce")
    odd = frame.isna().any(axis=1)
    if odd.any():
        raise InputError(
            f"{path.name} line {odd.idxmax() + 1}: must have the columns {', '.join(names)}, with a "
            f"number as the {number}"
        )
    return frame


def _written(rows: Iterable[tuple[Any, ...]], path: str | Path) -> Path:
    for row in rows:
        for cell in map(str, row):
            if len(cell.split()) != 1:
                raise InputError(f"an id in a file of TREC must not contain spaces, got {cell!r}")
    path = Path(path).expanduser()
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path
