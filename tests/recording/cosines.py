"""Measure the cosines of the labelled replies again: ``python -m recording.cosines``, run in the folder ``tests``."""

from typing import Any

import pandas as pd

from ragnb.experiments.labelled import SAMPLES, labelled_replies
from ragnb.experiments.likeness import embed_answers
from ragnb.experiments.recorded import data_file
from ragnb.scoring.scores import score


def measured_cosines(frame: pd.DataFrame) -> Any:
    """Cosine of each response and its reference to four digits, by embeddings that run on this machine."""
    return score(embed_answers(frame), "semantic.embedding_cosine")["value"].round(4).to_numpy()


def record_cosines() -> None:
    """Write the file that `ragnb.experiments.labelled.recorded_cosines` reads."""
    frames = [labelled_replies(name).drop_duplicates("request_key") for name in SAMPLES]
    made = [
        frame[["request_key"]].assign(embedding_cosine=measured_cosines(frame)) for frame in frames
    ]
    lines = pd.concat(made).to_json(orient="records", lines=True)
    data_file("answers.cosines.jsonl").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    record_cosines()
