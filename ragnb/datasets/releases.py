"""Formats of responses that benchmarks' released code and shared tasks define."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.answers import NO_ANSWER, answer_of
from ragnb.datasets.files import Row, checked, existing_file, read_frame
from ragnb.datasets.formats import (
    FORMATS,
    LIKELY,
    called,
    file_format,
    found,
    likely,
    records,
    renamed,
)
from ragnb.datasets.multilingual import Squad
from ragnb.datasets.orientation import IDS, one_row_per_item
from ragnb.errors import InputError
from ragnb.records import COLUMNS, PAYLOAD, PLAIN_TEXT

# ---- RGB and LBRAG -----------------------------------------------------------------------------

# ragnb's name -> name in the prediction files of RGB's released code (chen700564/RGB).
RGB = {
    "example_id": "id",
    "question": "query",
    "references": "ans",
    "response": "prediction",
    "passages": "docs",
    "noise_rate": "noise_rate",
    "released_labels": "label",
    "released_fact_label": "factlabel",
}
# Words in the names of columns that are no systems, and how an address begins.
_NOTES = frozenset(
    "url urls link source sources author authors editor note notes remark remarks comment comments "
    "date created updated title category topic type difficulty level tag tags explanation rationale "
    "evidence hint domain subject dataset split license licence annotator reviewer status doc "
    "notiz notizen kommentar quelle autor".split()
)
_ADDRESS = re.compile(r"\s*(?:https?://|www\.)", re.IGNORECASE)
# How evalue.py of the released code names its files.
_RGB_NAME = re.compile(
    r"prediction_(?P<dataset>(?P<language>en|zh)(?P<suffix>_[a-z]+)?)_(?P<system>.+)"
    r"_temp(?P<temperature>[\d.]+)_noise(?P<noise_rate>[\d.]+)_passage(?P<passage_num>\d+)"
    r"_correct(?P<correct_rate>\d(\.\d+)?)"
)
_RGB_TASKS = {"_int": "integration", "_fact": "counterfactual"}


@file_format(
    "rgb",
    "predictions of RGB's released code",
    "prediction, ans",
    "query, prediction, docs",
    "all_rate, nums",
    alternatives=False,
)
def rgb(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read a prediction file, with the model and the experimental condition from its name."""
    if "prediction" not in content:
        raise InputError(
            f"{called(path)} has the rates that the released code counted, but no responses; load "
            "the file of the same name without _result"
        )
    frame = renamed(content, RGB)
    named = _RGB_NAME.match(path.name) if path else None
    if not named:
        return frame
    condition = named.groupdict()
    rates = {name: float(condition[name]) for name in ("temperature", "noise_rate", "correct_rate")}
    if "evaluation" in frame and condition["suffix"] != "_fact":  # reject_evalue.py
        frame["judged_refusal"] = frame["evaluation"].str.contains("not addressed").astype(float)
    return frame.assign(
        example_id=[f"{condition['dataset']}/{one}" for one in frame["example_id"]],
        benchmark="rgb",
        task=_RGB_TASKS.get(condition["suffix"], "noise"),
        system=condition["system"],
        language=condition["language"],
        passage_num=int(condition["passage_num"]),
        **rates,
    )


# ragnb's name -> name in the answers of a run of LBRAG (kanoes/LBRAG-NEW).
LBRAG = {
    "example_id": "sample_id",
    "language": "sample_lang",
    "references": "gold_answer",
    "response": "pred_answer",
    **{
        f"released_{name}": name
        for name in "em f1 rlc rlc_ok translate_tokens semantic_score evidence".split()
    },
}


@file_format(
    "lbrag",
    "answers of an LBRAG run",
    "sample_id, sample_lang, gold_answer, pred_answer",
)
def lbrag(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read the answers of a run, with the similarity scores of the run's own judge."""
    frame = renamed(content, LBRAG)
    if "released_semantic_score" in frame:
        frame["judged_similarity"] = frame["released_semantic_score"]
        frame["judge_signature"] = "semantic_score of the LBRAG run"
    return frame


# ---- predictions that name questions by their ids: SQuAD and KILT ------------------------------


def _is_squad(content: pd.DataFrame) -> bool:
    """Whether a content is one JSON object with a text, or null, for each id."""
    if len(content) != 1:
        return False
    answers = [*content.iloc[0]]
    is_text = all(isinstance(answer, str | None) for answer in answers) and any(answers)
    return is_text and not {*content} & {*LIKELY, "query", "prediction", "answer", "input"}


@file_format(
    "squad", "predictions in the format of SQuAD and TriviaQA", _is_squad, alternatives=True
)
def squad(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read a JSON object that maps the id of each question to the predicted answer."""
    answers = content.iloc[0]
    return pd.DataFrame({"example_id": [*answers.index], "response": [*answers]}, dtype=object)


@file_format("kilt", "predictions in KILT's format", "id, output.0")
def kilt(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read the first answer of each record, and the pages of its provenance as ``retrieved``."""
    rows = _kilt(content)
    for row in rows:
        row["response"] = next(iter(row.pop("answers")), None)
        row["retrieved"] = row.pop("pages")
    return pd.DataFrame(rows).dropna(axis="columns", how="all")


def _kilt(content: pd.DataFrame) -> list[Row]:
    """Id, question, answers and pages of each record."""
    rows = []
    for record in records(content):
        outputs = found(record, "output") or []
        answers = [found(output, "answer") for output in outputs]
        pages = [page for output in outputs for page in found(output, "provenance") or []]
        names = [found(page, "wikipedia_id wikipedia_title") for page in pages]
        row = {"example_id": str(record["id"]), "question": found(record, "input")}
        row["answers"] = [answer for answer in answers if answer is not None]
        row["pages"] = [*dict.fromkeys(str(name) for name in names if name is not None)]
        rows.append(row)
    return rows


# ---- the questions that predictions belong to --------------------------------------------------


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
    if "data" in content and len(content) == 1:
        asked = checked(Squad, content.iloc[0].to_dict(), called(path)).rows()
        frame = pd.DataFrame(asked).drop(columns="title")
        frame["answerable"] = [
            int(answers not in (None, NO_ANSWER)) for answers in frame["references"]
        ]
        return frame.rename(columns={"question_id": "example_id"})
    if FORMATS["kilt"].recognises(content):
        frame = pd.DataFrame(_kilt(content))
        frame["references"] = [[answers] if answers else None for answers in frame.pop("answers")]
        return frame.rename(columns={"pages": "relevant"})
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
    # TriviaQA has pages and search results, which no metric reads.
    others = [name for name in frame if name not in {*COLUMNS, *PAYLOAD}]
    frame = frame.drop(columns=[name for name in others if _has_objects(frame[name])])
    if "context" in frame and all(isinstance(text, str) for text in frame["context"]):
        frame["passages"] = [[text] for text in frame.pop("context")]
    if "references" in frame:
        references = [answer_of(reference) for reference in frame["references"]]
        frame["references"] = pd.Series(references, frame.index, dtype=object)
        if NO_ANSWER in references and "answerable" not in frame:
            frame["answerable"] = [int(reference != NO_ANSWER) for reference in references]
    return frame.assign(example_id=[_id_text(id) for id in frame["example_id"]])


def _has_objects(column: pd.Series) -> bool:
    return any(isinstance(cell, dict | list) for cell in column)


def _id_text(id: Any) -> str:
    """An id as a text; MongoDB writes it as ``{"$oid": "..."}``."""
    return str(found(id, "$oid") or id)


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
    own = frame.assign(example_id=frame["example_id"].astype(str))
    own = own.drop(columns=["question", "references"], errors="ignore")
    known = examples.drop(columns=own.columns.intersection(examples.columns).drop("example_id"))
    strange = own.loc[~own["example_id"].isin(examples["example_id"]), "example_id"]
    if len(strange):
        raise InputError(
            f"{called(path)}: {len(strange)} of its {len(own)} responses belong to questions that are "
            f"not in examples=, such as {strange.iloc[0]!r}; pass the file of the same dataset and split"
        )
    # Where several systems answered, nobody can say which of them left an example out.
    return known.merge(own, on="example_id", how="right" if "system" in own else "left")


# ---- one column per system ---------------------------------------------------------------------


def by_system(content: pd.DataFrame, systems: Sequence[str], path: Path | None) -> pd.DataFrame:
    """Convert a table with one column of responses per system to one row per response."""
    missing = [name for name in systems if name not in content]
    if missing:
        raise InputError(
            f"systems= names {missing[0]!r}, but the columns of {called(path)} are "
            f"{', '.join(map(str, content))}"
        )
    others = [name for name in content if name not in systems]
    names = {name: likely(LIKELY[name], others) for name in ("question", "references")}
    frame = renamed(content, names)
    kept = [name for name in frame if name not in systems]
    return frame.melt(id_vars=kept, value_vars=[*systems], var_name="system", value_name="response")


def _systems(content: pd.DataFrame) -> list[str]:
    """The columns of responses, if the other columns leave no doubt about them; else none."""
    given = [name for name in content if isinstance(name, str)]
    asked = [likely(LIKELY[name], given) for name in ("question", "references")]
    others = [likely(LIKELY["passages"], given), likely("example_id id question_id qid", given)]
    rest = [name for name in given if name not in (*asked, *others)]
    known = {*COLUMNS, *PAYLOAD, *PLAIN_TEXT, *" ".join(LIKELY.values()).split()}
    is_clear = (
        content.columns.is_unique
        and None not in asked
        and len(rest) > 1
        and not any(name.casefold() in known for name in rest)
        and all(_are_answers(content[name]) for name in rest)
        and not any(_are_notes(name, content[name]) for name in rest)
    )
    return rest if is_clear else []


def _are_notes(name: str, column: pd.Series) -> bool:
    """Whether a column is about the question, such as its source or its author."""
    words = re.split(r"[\W_]+", name.casefold())
    texts = [text for text in column if isinstance(text, str)]
    addresses = [text for text in texts if _ADDRESS.match(text)]
    return not _NOTES.isdisjoint(words) or 2 * len(addresses) > len(texts)


def _are_answers(column: pd.Series) -> bool:
    """Whether a column has texts that are no numbers and mostly differ, unlike categories."""
    texts = column.dropna()
    is_text = len(texts) > 0 and all(isinstance(text, str) for text in texts)
    if not is_text or texts.nunique() <= len(column) / 2:
        return False
    return bool(pd.to_numeric(texts, errors="coerce").isna().any())


@file_format("wide", "a table with one column per system", lambda content: bool(_systems(content)))
def wide(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read a table with the question, the reference and one column of responses per system."""
    return by_system(content, _systems(content), path)
