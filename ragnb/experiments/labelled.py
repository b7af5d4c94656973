"""Responses that somebody labelled correct or incorrect: what metrics, judges and ensembles are measured against.

``tests/recording/cosines.py`` measures the cosines of the labelled replies again.
"""

from pathlib import Path

import pandas as pd

from ragnb.datasets.benchmarks import load_evouna
from ragnb.datasets.files import read_frame
from ragnb.errors import InputError
from ragnb.experiments.recorded import (
    data_file,
    recorded_labels,
    recorded_provenance,
    recorded_responses,
)

SAMPLES = {
    "sample-labelled-en": ("judged_answers", ("answer", "plain")),
    "sample-labelled-multilingual": ("multilingual", ("direct", "multi", "cross")),
}
"""The recording and the systems behind each labelled sample."""

COLUMNS = (
    "example_id question_id language question references system noise_rate response label label_a label_b "
    "judged_correct judge_reason embedding_cosine request_key".split()
)
"""Columns of a labelled frame, as far as its source has them."""

EVOUNA_GUIDELINE = (
    "A person's verdict on whether the response answers the question by the golden answers: Wang et al. (2023), "
    "arXiv 2305.12421."
)


def load_labelled(source: str | Path) -> pd.DataFrame:
    """Labelled responses, one row each, from an embedded sample or from EVOUNA.

    Parameters
    ----------
    source
        - ``"sample-labelled-en"``: 680 English replies of one tiny model under two prompts (``system``) and five noise
          rates, with the verdicts of a judge so tiny that they are hardly more than guesses
        - ``"sample-labelled-multilingual"``: 720 replies of another in six languages and three systems; 29 replies of
          ``cross`` are those of ``multi``, for nothing was translated, and share the ``request_key``
        - ``"evouna_nq"`` or a path to a file of EVOUNA: answers of five systems

    Returns
    -------
    DataFrame
        Indexed from 0, with

        - ``example_id``; ``question_id``, the same for all responses to a question, in whatever language: split by it
        - ``language, question, references, system, response``, and ``noise_rate`` (English sample)
        - ``label``: 1 correct, 0 incorrect; ``label_a``, ``label_b`` (samples): those of the two readers, of whom a third
          reading settled the differences
        - ``judged_correct``, ``judge_reason`` (English sample): see `ragnb.experiments.judges.judge_responses`
        - ``embedding_cosine`` (samples): ``semantic.embedding_cosine`` by `ragnb.llm.embed` to four digits, recorded because
          embeddings differ in their last digits from one processor to the next
        - ``request_key`` (samples): of the recorded reply

        ``attrs["labels"]`` is ``"authors' labels"`` or ``"people's verdicts"``, ``attrs["guideline"]`` the rules they were
        given by, ``attrs["dropped"]`` how many responses were left out and why: of EVOUNA those to questions that its
        annotators found improper, and those without a verdict. ``attrs["source"]`` says where the data come from, and
        ``attrs["model"]`` (samples) which model wrote the responses.

    Raises
    ------
    InputError
        A sample that there is not, or as `ragnb.load_evouna`.

    >>> load_labelled("sample-labelled-en")["label"].value_counts().to_dict()
    {1: 390, 0: 290}
    """
    if source in SAMPLES:
        frame = _sample(str(source))
    elif str(source).startswith("sample-"):
        raise InputError(
            f"source must be one of {', '.join(SAMPLES)}, 'evouna_nq' or a file, got {source!r}"
        )
    else:
        frame = _evouna(source)
    return frame[[name for name in COLUMNS if name in frame]]


def _sample(name: str) -> pd.DataFrame:
    labels = recorded_labels("answers")
    readings = labels.filter(like="label").eq("correct").astype(int)
    readings["request_key"] = labels["request_key"]
    replies = labelled_replies(name)
    frame = replies.merge(readings, on="request_key", how="left", validate="many_to_one")
    frame = frame.merge(recorded_cosines(), on="request_key", how="left", validate="many_to_one")
    if "question_id" not in frame:
        frame = frame.assign(question_id=frame["example_id"])
    recording = labels.set_index("request_key").loc[frame["request_key"].iloc[0], "recording"]
    frame.attrs |= {
        "source": replies.attrs["source"],
        "model": recorded_provenance(recording),
        "labels": "authors' labels",
        "guideline": labels.attrs["guideline"],
        "dropped": {},
    }
    return frame


def labelled_replies(name: str) -> pd.DataFrame:
    """Recorded replies of a sample in `SAMPLES`, including those that nobody labelled."""
    recording, systems = SAMPLES[name]
    responses = recorded_responses(recording)
    return responses[responses["system"].isin(systems)]


def _evouna(source: str | Path) -> pd.DataFrame:
    everything = load_evouna(source)
    unjudged = ~everything["improper"] & everything["verdict"].isna()
    kept = everything[~everything["improper"] & ~unjudged].reset_index(drop=True)
    # The file asks some questions twice.
    first = kept.groupby("question")["example_id"].transform("first")
    frame = kept.assign(question_id=first, label=kept["verdict"].astype(int))
    frame.attrs |= {
        "labels": "people's verdicts",
        "guideline": EVOUNA_GUIDELINE,
        "dropped": {
            "improper question": int(everything["improper"].sum()),
            "no verdict": int(unjudged.sum()),
        },
    }
    return frame


def recorded_cosines() -> pd.DataFrame:
    """The recorded cosine of each labelled reply with its reference: ``request_key`` and value."""
    return read_frame(data_file("answers.cosines.jsonl"))
