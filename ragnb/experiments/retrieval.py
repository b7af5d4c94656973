"""Retrieval over passages in several languages, by embeddings: examples become contexts.

examples -> rank_passages -> multilingual_contexts -> contexts
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ragnb.errors import InputError
from ragnb.llm.embed import embed
from ragnb.records import require_columns

NEEDED = ("example_id", "language", "question", "passages")
"""Columns that a multilingual experiment needs."""

Embedding = Callable[..., NDArray[Any]]


def rank_passages(
    examples: pd.DataFrame,
    *,
    top_k: int = 3,
    leave_own_out: bool = True,
    embedding: Embedding = embed,
) -> pd.DataFrame:
    """The passages of all examples that are most like each question, in whatever language they are.

    Parameters
    ----------
    examples
        ``example_id, language, question, passages``, as `ragnb.load_multilingual` returns them. All passages together are
        searched; one that several examples share counts once.
    top_k
        Passages a question.
    leave_own_out
        Whether a question's own passages are left out. They hold the answer in the question's own language: with them every
        system answers from a text that needs no bridge, as happened in the published runs.
    embedding
        What makes vectors of length 1: called with texts and ``kind="query"`` or ``kind="passage"``.

    Returns
    -------
    DataFrame
        One row a question and rank: ``example_id, rank`` (from 1), ``passage_id`` (example and place: ``"a/1/de#0"``),
        ``cosine``. The order among equals is that of the examples.

    Raises
    ------
    InputError
        Missing columns, a row that is no example, no passages, fewer than ``top_k`` to choose from, or vectors of another
        length.
    """
    pool = _pool(examples)
    own = (
        _own(len(examples), pool)
        if leave_own_out
        else np.zeros((len(examples), len(pool)), dtype=bool)
    )
    most = int((~own).sum(axis=1).min())
    if not isinstance(top_k, int | np.integer) or not 1 <= top_k <= most:
        raise InputError(
            f"rank_passages needs top_k from 1 to {most}, as every question can have; got {top_k!r}; change it"
        )
    asked, texts = (
        _vectors(examples["question"], "query", embedding),
        _vectors(pool["text"], "passage", embedding),
    )
    cosines = (asked @ texts.T).astype(float)
    cosines[own] = -np.inf
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :top_k]
    return pd.DataFrame(
        {
            "example_id": np.repeat(examples["example_id"].to_numpy(), top_k),
            "rank": np.tile(np.arange(1, top_k + 1), len(examples)),
            "passage_id": pool["passage_id"].to_numpy()[best.ravel()],
            "cosine": np.take_along_axis(cosines, best, axis=1).ravel(),
        }
    )


def multilingual_contexts(examples: pd.DataFrame, ranking: pd.DataFrame) -> pd.DataFrame:
    """Examples with the passages that were retrieved for them, best first.

    Parameters
    ----------
    examples
        As for `rank_passages`.
    ranking
        ``example_id, rank, passage_id``, and ``cosine`` (any score, higher is better; ``lbrag`` needs it from 0 up), of
        `rank_passages` or of a retriever of your own.

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
    require_columns(
        ranking, ("example_id", "rank", "passage_id", "cosine"), "multilingual_contexts"
    )
    known = {name: (text, language) for name, text, language, _ in _passages(examples)}
    ranked_for, twice = set(ranking["example_id"]), ranking.duplicated(["example_id", "passage_id"])
    faults = [
        *(f"the unknown passage {name!r}" for name in ranking["passage_id"] if name not in known),
        *(f"none for {name!r}" for name in examples["example_id"] if name not in ranked_for),
        *(f"{name!r} twice for one question" for name in ranking.loc[twice, "passage_id"]),
    ]
    if faults:
        raise InputError(
            f"multilingual_contexts needs a ranking of the examples' own passages; got {faults[0]}; rank them again"
        )
    groups = dict(iter(ranking.sort_values(["example_id", "rank"]).groupby("example_id")))
    ranked = [groups[example] for example in examples["example_id"]]
    ids = [list(group["passage_id"]) for group in ranked]
    return examples.assign(
        passages=[[known[name][0] for name in names] for names in ids],
        passage_ids=ids,
        passage_languages=[[known[name][1] for name in names] for names in ids],
        passage_scores=[list(group["cosine"]) for group in ranked],
    )


def require_examples(frame: Any, *beside: str) -> None:
    """Raise InputError unless each row of a frame is an example, once, with lists ``beside`` its passages."""
    require_columns(frame, (*NEEDED, *beside), "a multilingual experiment")
    twice = frame.loc[frame["example_id"].duplicated(), "example_id"]
    if len(twice):
        raise InputError(
            f"a multilingual experiment needs each example once; got {twice.iloc[0]!r} twice; drop one"
        )
    for row in frame[[*NEEDED, *beside]].to_dict("records"):
        wrong = next((name for name in row if not _fits(name, row)), None)
        if wrong:
            raise InputError(
                "a multilingual experiment needs a language and a question, passages as a list of texts, and lists as long "
                f"beside them; got {row[wrong]!r:.80} as {wrong} of {row['example_id']!r}; mend it, or leave the example out"
            )


def _fits(name: str, row: Mapping[str, Any]) -> bool:
    """Whether a field of a row is what it should be."""
    value = row[name]
    if name == "example_id":
        return not pd.isna(value)
    if name in ("language", "question"):
        return isinstance(value, str)
    if not isinstance(value, list | tuple | np.ndarray):
        return False
    return (
        all(isinstance(text, str) for text in value)
        if name == "passages"
        else len(value) == len(row["passages"])
    )


def _passages(examples: pd.DataFrame) -> Iterator[tuple[str, str, str, int]]:
    """Identifier, text, language and example (its row) of every passage."""
    require_examples(examples)
    for number, row in enumerate(examples.to_dict("records")):
        for place, text in enumerate(row["passages"]):
            yield f"{row['example_id']}#{place}", text, row["language"], number


def _pool(examples: pd.DataFrame) -> pd.DataFrame:
    """Every passage of the examples once, with the examples that it belongs to."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for name, text, language, owner in _passages(examples):
        entry = {"passage_id": name, "text": text, "owners": []}
        rows.setdefault((text, language), entry)["owners"].append(owner)
    if not rows:
        raise InputError(
            "a multilingual experiment needs passages; got examples without any; load some that have them"
        )
    return pd.DataFrame(list(rows.values()))


def _own(n_examples: int, pool: pd.DataFrame) -> NDArray[np.bool_]:
    """Of each example (a row) and passage (a column), whether they belong together."""
    own = np.zeros((n_examples, len(pool)), dtype=bool)
    for column, owners in enumerate(pool["owners"]):
        own[owners, column] = True
    return own


def _vectors(texts: Sequence[str], kind: str, embedding: Embedding) -> NDArray[Any]:
    vectors = np.asarray(embedding(list(texts), kind=kind))
    if (
        vectors.ndim != 2
        or len(vectors) != len(texts)
        or not np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=0.01)
    ):
        raise InputError(
            f"an embedding needs to give vectors of length 1, one a text; got something else for {len(texts)} texts; divide "
            "each by its length"
        )
    return vectors
