"""Write the samples of labelled replies: ``python -m tools.recording.labelled``."""

from typing import Any

import pandas as pd

from ragnb.datasets import write_table
from ragnb.experiments import recorded_labels, recorded_responses
from ragnb.llm import embed
from ragnb.metrics.references import reference_texts
from ragnb.scoring import score
from tools.recording.studies import TARGET

SAMPLES = {
    "sample-labelled-en": ("judged_answers", ("answer", "plain")),
    "sample-labelled-multilingual": ("multilingual", ("direct", "multi", "cross")),
}
"""The recording and the systems behind each sample."""

COLUMNS = (
    "example_id question_id language question references system noise_rate response label label_a "
    "label_b judged_correct judge_reason embedding_cosine request_key".split()
)


def labelled(name: str) -> pd.DataFrame:
    """Recorded replies with their labels, without the cosines."""
    recording, systems = SAMPLES[name]
    replies = recorded_responses(recording)
    labels = recorded_labels("answers")
    readings = labels.filter(like="label").eq("correct").astype(int)
    readings["request_key"] = labels["request_key"]
    frame = replies[replies["system"].isin(systems)].merge(
        readings, on="request_key", validate="many_to_one"
    )
    if "question_id" not in frame:
        frame = frame.assign(question_id=frame["example_id"])
    return frame[[column for column in COLUMNS if column in frame]]


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


if __name__ == "__main__":
    for name in SAMPLES:
        frame = labelled(name)
        # Embeddings differ in their last digits from one processor to the next.
        frame = frame.assign(embedding_cosine=measured_cosines(frame))
        frame = frame[[column for column in COLUMNS if column in frame]]
        write_table(frame, TARGET / f"{name}.jsonl.gz")
