"""Retrieval over passages in several languages, by embeddings: examples become contexts.

examples -> rank_passages -> multilingual_contexts -> contexts
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ragnb.arguments import accepts
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.llm.embeddings import embed
from ragnb.passages import passage_column

NEEDED = ("example_id", "language", "question", "passages")
"""Columns that a multilingual experiment needs."""

# Function of texts and ``kind=``, which returns one vector of length 1 for each text.
Embedding = Callable[..., NDArray[Any]]


@accepts(top_k="size")
def rank_passages(
    examples: pd.DataFrame,
    *,
    top_k: int = 3,
    leave_own_out: bool = True,
    embedding: Embedding = embed,
) -> pd.DataFrame:
    """Retrieve the passages of all examples, in any language, that are most similar to each question.

    Parameters
    ----------
    examples
        ``example_id, language, question, passages``, as `ragnb.load_multilingual` returns them. All passages together are
        searched; one that several examples share counts once.
    top_k
        Number of passages per question.
    leave_own_out
        Whether a question's own passages are left out. They contain the answer in the question's own language. If they
        are kept, no system needs a translation, as in the published runs.
    embedding
        Function that returns vectors of length 1. It is called with texts and ``kind="query"`` or ``kind="passage"``.

    Returns
    -------
    DataFrame
        One row per question and rank: ``example_id, rank`` (from 1), ``passage_id`` (example and place: ``"a/1/de#0"``),
        ``cosine``. Ties keep the order of the examples.

    Raises
    ------
    InputError
        Missing columns, a row that is no example, no passages, fewer than ``top_k`` to choose from, or vectors of another
        length.
    """
    passages = _passages(examples)
    # A passage that several examples share has the id of the first one, and all of them as owners.
    pool = passages.groupby(["text", "language"], sort=False, as_index=False).agg(
        {"passage_id": "first", "owner": list}
    )
    is_left_out = np.zeros((len(examples), len(pool)), dtype=bool)
    for column, owners in enumerate(pool["owner"]):
        is_left_out[owners, column] = leave_own_out
    fewest = int((~is_left_out).sum(axis=1).min())
    if top_k > fewest:
        raise InputError(
            f"top_k must be at most {fewest}, because a question has only {fewest} passages to choose "
            f"from, got {top_k}"
        )
    questions = _vectors(examples["question"], "query", embedding)
    texts = _vectors(pool["text"], "passage", embedding)
    cosines = (questions @ texts.T).astype(float)
    cosines[is_left_out] = -np.inf
    # Columns of the best passages of each question. A stable sort keeps the order of passages with equal cosines.
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :top_k]
    return pd.DataFrame(
        {
            "example_id": np.repeat(examples["example_id"].to_numpy(), top_k),
            "rank": np.tile(np.arange(1, top_k + 1), len(examples)),
            "passage_id": pool["passage_id"].to_numpy()[best.ravel()],
            "cosine": np.take_along_axis(cosines, best, axis=1).ravel(),
        }
    )


@accepts()
def multilingual_contexts(examples: pd.DataFrame, ranking: pd.DataFrame) -> pd.DataFrame:
    """Add the retrieved passages to the examples, best first.

    Parameters
    ----------
    examples
        As for `rank_passages`.
    ranking
        ``example_id, rank, passage_id``, and ``cosine`` (any score, higher is better; at least 0 for ``lbrag``), from
        `rank_passages` or your own retriever.

    Returns
    -------
    DataFrame
        The examples with ``passages, passage_ids, passage_languages, passage_scores``.

    Raises
    ------
    InputError
        Missing columns, a row that is no example, an unknown passage, a question without passages in the ranking, or with
        one of them twice.
    """
    columns = ["example_id", "rank", "passage_id", "cosine"]
    name = "the ranking of multilingual_contexts"
    require_columns(ranking, columns, name, unique=["example_id", "passage_id"])
    passages = _passages(examples).set_index("passage_id")
    is_known = ranking["passage_id"].isin(passages.index)
    is_ranked = examples["example_id"].isin(ranking["example_id"])
    if not is_known.all():
        first_unknown = ranking.loc[~is_known, "passage_id"].iloc[0]
        raise InputError(
            f"{name} contains passages that no example has, such as {first_unknown!r}; rank the passages again"
        )
    if not is_ranked.all():
        first_missing = examples.loc[~is_ranked, "example_id"].iloc[0]
        raise InputError(
            f"{name} lacks examples, such as {first_missing!r}; rank the passages again"
        )
    # One row per example, with lists in the order of the ranks.
    ranked_passages = ranking.sort_values("rank").join(passages, on="passage_id")
    contexts = ranked_passages.groupby("example_id").agg(list)
    contexts = contexts.loc[examples["example_id"]].set_axis(examples.index)
    return examples.assign(
        passages=contexts["text"],
        passage_ids=contexts["passage_id"],
        passage_languages=contexts["language"],
        passage_scores=contexts["cosine"],
    )


def require_examples(frame: pd.DataFrame, *lists: str) -> None:
    """Raise InputError unless a frame has examples, each once.

    ``lists`` are further columns that need a list with one item per passage in each row.
    """
    require_columns(frame, (*NEEDED, *lists), "a multilingual experiment")
    if frame["example_id"].duplicated().any() or frame[[*NEEDED]].isna().any(axis=None):
        raise InputError(
            "a multilingual experiment needs each example_id once, and a language, a question and "
            "passages in every row"
        )
    for name in ("passages", *lists):
        for cell, passages in zip(frame[name], frame["passages"], strict=True):
            if not isinstance(cell, list | tuple | np.ndarray) or len(cell) != len(passages):
                raise InputError(
                    f"{name} must be a list with one item per passage, got {cell!r:.60}"
                )


def _passages(examples: pd.DataFrame) -> pd.DataFrame:
    """All passages of the examples: ``passage_id, text, language, owner``.

    ``owner`` is the position of the row of the example that has the passage.
    """
    require_examples(examples)
    passages_of_rows = passage_column(examples, "examples")
    rows = []
    examples_and_passages = zip(examples.to_dict("records"), passages_of_rows, strict=True)
    for owner, (row, passages) in enumerate(examples_and_passages):
        for place, text in enumerate(passages or ()):
            rows.append((f"{row['example_id']}#{place}", text, row["language"], owner))
    if not rows:
        raise InputError("a multilingual experiment needs examples with passages, got none")
    columns = ["passage_id", "text", "language", "owner"]
    # pandas' own type for texts cannot contain half of a surrogate pair.
    return pd.DataFrame(rows, columns=columns).astype({"text": object})


def _vectors(texts: Sequence[str], kind: str, embedding: Embedding) -> NDArray[Any]:
    """The embeddings of texts. InputError is raised unless there is one vector of length 1 for each text.

    ``kind`` is ``"query"`` or ``"passage"``.
    """
    vectors = np.asarray(embedding(list(texts), kind=kind))
    has_unit_vectors = False
    if len(vectors) == len(texts):
        # Vectors of low precision have a length of about 1.
        squared_lengths = (vectors**2).sum(axis=1)
        has_unit_vectors = np.allclose(squared_lengths, 1, atol=0.02)
    if not has_unit_vectors:
        raise InputError(
            f"an embedding must give one vector of Euclidean norm 1 for each of {len(texts)} texts, "
            f"got an array of shape {vectors.shape}; divide each vector by its norm"
        )
    return vectors
