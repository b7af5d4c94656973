"""Measure the cosines of the labelled replies again: ``python -m recording.cosines``, run in the folder ``tests``."""

from typing import Any

import pandas as pd

from ragnb.experiments.labelled import SAMPLES, labelled_replies
from ragnb.experiments.recorded import data_file
from ragnb.llm.embed import embed
from ragnb.metrics.references import reference_texts
from ragnb.scoring.scores import score


def embed_answers(responses: pd.DataFrame) -> pd.DataFrame:
    """Responses with their vector and that of the most similar text of their reference.

    The vectors are those that ``semantic.embedding_cosine`` compares, and None where there is no
    response or no reference.
    """
    ways = [reference_texts(reference) for reference in responses["references"]]
    texts = list(dict.fromkeys([*responses["response"], *(text for some in ways for text in some)]))
    vectors = dict(zip(texts, embed(texts, kind="query"), strict=True))
    said = [vectors[text] for text in responses["response"]]
    alike = [
        max((vectors[way] for way in some), key=lambda vector, one=one: float(one @ vector))
        for one, some in zip(said, ways, strict=True)
    ]
    return responses.assign(
        response_embedding=pd.Series(said, index=responses.index, dtype=object),
        reference_embedding=pd.Series(alike, index=responses.index, dtype=object),
    )


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
