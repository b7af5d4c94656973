"""Responses and references as vectors, for the offline companion of the judged semantic score."""

from typing import Any

import numpy as np
import pandas as pd

from ragnb.experiments.retrieval import Embedding
from ragnb.llm.embed import embed
from ragnb.metrics.references import reference_texts
from ragnb.records import is_missing, reasoning_apart, require_columns


def embed_answers(responses: pd.DataFrame, *, embedding: Embedding = embed) -> pd.DataFrame:
    """Responses with the vectors that ``semantic.embedding_cosine`` compares.

    Parameters
    ----------
    responses
        ``response, references``.
    embedding
        What makes vectors of length 1: called with texts and ``kind="query"``, for like is compared with like.

    Returns
    -------
    DataFrame
        The responses with ``response_embedding`` and ``reference_embedding``, of the way to say the reference that is most
        like the response; None where there is no response, an empty one, or no reference.

    Raises
    ------
    InputError
        Missing columns, or a malformed reference.
    """
    require_columns(responses, ("response", "references"), "embed_answers")
    said = [
        text if isinstance(text, str) and text.strip() else None
        for text in reasoning_apart(responses)["response"]
    ]
    wanted = [
        _ways(reference) if text else []
        for text, reference in zip(said, responses["references"], strict=True)
    ]
    vectors = _vectors([*filter(None, said), *(way for ways in wanted for way in ways)], embedding)
    pairs = [_most_alike(vectors, text, ways) for text, ways in zip(said, wanted, strict=True)]
    return responses.assign(
        response_embedding=pd.Series(
            [pair[0] for pair in pairs], index=responses.index, dtype=object
        ),
        reference_embedding=pd.Series(
            [pair[1] for pair in pairs], index=responses.index, dtype=object
        ),
    )


def _ways(reference: Any) -> list[str]:
    return (
        []
        if is_missing(reference)
        else [text for text in reference_texts(reference) if text.strip()]
    )


def _vectors(texts: list[str], embedding: Embedding) -> dict[str, Any]:
    distinct = list(dict.fromkeys(texts))
    return dict(zip(distinct, embedding(distinct, kind="query") if distinct else [], strict=True))


def _most_alike(vectors: dict[str, Any], text: str | None, ways: list[str]) -> tuple[Any, Any]:
    if text is None or not ways:
        return None, None
    candidates = np.stack([vectors[way] for way in ways])
    return vectors[text], candidates[int(np.argmax(candidates @ vectors[text]))]
