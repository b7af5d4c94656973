"""Formats of responses that benchmarks' released code and shared tasks define."""

# Tested in tests/datasets/test_formats_of_benchmarks.py.

import re
from pathlib import Path

import pandas as pd

from ragnb.datasets.formats.registry import file_format, records
from ragnb.datasets.messages import called
from ragnb.datasets.records import first_value
from ragnb.datasets.renaming import LIKELY, renamed
from ragnb.datasets.validation import Row
from ragnb.errors import InputError

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
    parts_of_name = _RGB_NAME.match(path.name) if path else None
    if not parts_of_name:
        return frame
    condition = parts_of_name.groupdict()
    rates = {name: float(condition[name]) for name in ("temperature", "noise_rate", "correct_rate")}
    # reject_evalue.py of the released code writes the judge's reply on refusals into this column.
    if "evaluation" in frame and condition["suffix"] != "_fact":
        frame["judged_refusal"] = frame["evaluation"].str.contains("not addressed").astype(float)
    return frame.assign(
        example_id=[f"{condition['dataset']}/{number}" for number in frame["example_id"]],
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
        # ragnb's metrics read the score of a judge under this name. The released name stays, like those of the other
        # released scores.
        frame["judged_similarity"] = frame["released_semantic_score"]
        frame["judge_signature"] = "semantic_score of the LBRAG run"
    return frame


# ---- predictions that name questions by their ids: SQuAD and KILT ------------------------------


def _is_squad(content: pd.DataFrame) -> bool:
    """Whether a content is one JSON object that has a text, or null, for each id.

    A record of another kind has such values, too, so no key may be the usual name of a column.
    """
    if len(content) != 1:
        return False
    answers = [*content.iloc[0]]
    are_texts = all(isinstance(answer, str | None) for answer in answers) and any(answers)
    names_of_columns = {*LIKELY, "query", "prediction", "answer", "input"}
    return are_texts and names_of_columns.isdisjoint(content)


@file_format(
    "squad",
    "predictions in the format of SQuAD and TriviaQA",
    _is_squad,
    alternatives=True,
    is_table=False,
)
def squad(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read a JSON object that maps the id of each question to the predicted answer."""
    answers = content.iloc[0]
    return pd.DataFrame({"example_id": [*answers.index], "response": [*answers]}, dtype=object)


@file_format("kilt", "predictions in KILT's format", "id, output.0")
def kilt(content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
    """Read the first answer of each record, and the pages of its provenance as ``retrieved``."""
    rows = kilt_records(content)
    for row in rows:
        row["response"] = next(iter(row.pop("answers")), None)
        row["retrieved"] = row.pop("pages")
    return pd.DataFrame(rows).dropna(axis="columns", how="all")


def kilt_records(content: pd.DataFrame) -> list[Row]:
    """The id, the question, all answers, and all pages of the provenance of each record.

    In predictions, the pages are those that were retrieved. In a data set, they are the relevant ones. The callers
    therefore give them different names.
    """
    rows = []
    for record in records(content):
        outputs = first_value(record, "output") or []
        answers = [first_value(output, "answer") for output in outputs]
        pages = [page for output in outputs for page in first_value(output, "provenance") or []]
        names = [first_value(page, "wikipedia_id wikipedia_title") for page in pages]
        row = {"example_id": str(record["id"]), "question": first_value(record, "input")}
        row["answers"] = [answer for answer in answers if answer is not None]
        row["pages"] = [*dict.fromkeys(str(name) for name in names if name is not None)]
        rows.append(row)
    return rows
