"""Retrieval over passages in several languages, by embeddings: examples become contexts.

examples -> rank_passages -> multilingual_contexts -> contexts
"""

from collections.abc import Callable
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
    examples: pd.DataFrame, *, top_k: int = 3, leave_own_out: bool = True, embedding: Embedding = embed
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
        Missing columns, no passages, or fewer than ``top_k`` to choose from.
    """
    pool = _pool(examples)
    if top_k < 1 or len(pool) <= top_k:
        raise InputError(f"rank_passages needs top_k from 1 to below the {len(pool)} passages; got {top_k!r}; choose fewer")
    cosines = (embedding(list(examples["question"]), kind="query") @ embedding(list(pool["text"]), kind="passage").T).astype(
        float
    )
    if leave_own_out:
        places = {example: row for row, example in enumerate(examples["example_id"])}
        for column, owners in enumerate(pool["owners"]):
            cosines[[places[owner] for owner in owners], column] = -np.inf
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
        ``example_id, rank, passage_id``, and ``cosine`` (any score above 0, higher is better), of `rank_passages` or of a
        retriever of your own.

    Returns
    -------
    DataFrame
        The examples with ``passages, passage_ids, passage_languages, passage_scores``.

    Raises
    ------
    InputError
        Missing columns, an unknown passage, or a question without passages in the ranking.
    """
    require_columns(ranking, ("example_id", "rank", "passage_id", "cosine"), "multilingual_contexts")
    pool = _pool(examples).set_index("passage_id")
    unknown = sorted(set(ranking["passage_id"]) - set(pool.index))
    missing = sorted(set(examples["example_id"]) - set(ranking["example_id"]))
    if unknown or missing:
        got = f"the unknown passage {unknown[0]!r}" if unknown else f"none for {missing[0]!r}"
        raise InputError(f"multilingual_contexts needs a ranking of the examples' own passages; got {got}; rank them again")
    groups = dict(iter(ranking.sort_values(["example_id", "rank"]).groupby("example_id")))
    ranked = [groups[example] for example in examples["example_id"]]
    ids = [list(group["passage_id"]) for group in ranked]
    return examples.assign(
        passages=[[pool.at[name, "text"] for name in names] for names in ids],
        passage_ids=ids,
        passage_languages=[[pool.at[name, "language"] for name in names] for names in ids],
        passage_scores=[list(group["cosine"]) for group in ranked],
    )


def _pool(examples: pd.DataFrame) -> pd.DataFrame:
    """Every passage of the examples once, with the examples that it belongs to."""
    require_columns(examples, NEEDED, "a multilingual experiment")
    _require_unique(examples)
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in examples.to_dict("records"):
        for place, text in enumerate(row["passages"]):
            entry = {"passage_id": f"{row['example_id']}#{place}", "text": text, "language": row["language"], "owners": []}
            rows.setdefault((text, row["language"]), entry)["owners"].append(row["example_id"])
    if not rows:
        raise InputError("a multilingual experiment needs passages; got examples without any; load some that have them")
    return pd.DataFrame(list(rows.values()))


def _require_unique(examples: pd.DataFrame) -> None:
    twice = examples.loc[examples["example_id"].duplicated(), "example_id"]
    if len(twice):
        raise InputError(f"a multilingual experiment needs each example once; got {twice.iloc[0]!r} twice; drop one")
