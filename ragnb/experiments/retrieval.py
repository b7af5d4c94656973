"""Retrieval over passages in several languages, by embeddings or by words: examples become contexts.

examples -> rank_passages or rank_bm25 -> multilingual_contexts -> contexts
"""

from collections import Counter
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
from ragnb.text import fold, tokens

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
    centre_languages: bool = False,
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
    centre_languages
        Whether the mean vector of all passages in a language is subtracted from each of these vectors. Many embeddings
        make texts in the same language similar, whatever they are about; this removes what the passages of a language
        have in common.

    Returns
    -------
    DataFrame
        One row per question and rank: ``example_id, rank`` (from 1), ``passage_id`` (example and place: ``"a/1/de#0"``),
        ``cosine``. Ties keep the order of the examples. With ``centre_languages``, the column ``cosine`` contains the
        cosine minus the mean cosine of the question with all passages in the language of the passage.

    Raises
    ------
    InputError
        Missing columns, a row that is no example, no passages, fewer than ``top_k`` to choose from, or vectors of another
        length.

    References
    ----------
    Libovický et al. (2020), On the Language Neutrality of Pre-trained Multilingual Representations, Findings of EMNLP,
    who subtract the mean vector of each language.
    """
    pool = _pool(examples)
    questions = _vectors(examples["question"], "query", embedding)
    texts = _vectors(pool["text"], "passage", embedding).astype(float)
    if centre_languages:
        for language in pool["language"].unique():
            is_in_language = (pool["language"] == language).to_numpy()
            texts[is_in_language] -= texts[is_in_language].mean(axis=0)
    cosines = questions.astype(float) @ texts.T
    return _best(examples, pool, cosines, "cosine", top_k, leave_own_out)


@accepts(top_k="size", k1="positive", b="share")
def rank_bm25(
    examples: pd.DataFrame,
    *,
    top_k: int = 3,
    leave_own_out: bool = True,
    k1: float = 1.2,
    b: float = 0.75,
) -> pd.DataFrame:
    """Retrieve the passages that share the most, and the rarest, words with each question: BM25.

    The score of a passage is a sum over the words of the question, each as often as it occurs there::

        sum of  idf(word) * tf / (tf + k1 * (1 - b + b * length / mean length))
        idf(word) = ln(1 + (N - n + 0.5) / (n + 0.5))

    tf is how often the passage contains the word, n is the number of passages that contain it, and N is the number of
    all passages. Case is ignored. In a script without spaces between words, such as Chinese, each character is a word.

    Parameters
    ----------
    examples, top_k, leave_own_out
        As for `rank_passages`.
    k1
        How much it counts that a word occurs several times. The smaller, the sooner further occurrences stop counting.
    b
        How far long passages are penalised, from 0 (not at all) to 1.

    Returns
    -------
    DataFrame
        One row per question and rank: ``example_id, rank`` (from 1), ``passage_id``, ``score``. Ties, such as
        passages without any word of the question, keep the order of the examples.

    Raises
    ------
    InputError
        Missing columns, a row that is no example, no passages, or fewer than ``top_k`` to choose from.

    References
    ----------
    Robertson and Zaragoza (2009), The Probabilistic Relevance Framework: BM25 and Beyond, equation 3.15. The 1 in the
    logarithm is that of Apache Lucene; it keeps the weight of a frequent word above 0.

    Examples
    --------
    >>> rows = {"example_id": ["a", "b"], "language": "en", "question": ["How deep is it?", "Who built the tower?"]}
    >>> examples = pd.DataFrame(rows).assign(passages=[["It is 60 m deep."], ["Ana built the old tower."]])
    >>> rank_bm25(examples, top_k=1, leave_own_out=False)["passage_id"].tolist()
    ['a#0', 'b#0']
    """
    pool = _pool(examples)
    words_of_passages = [Counter(_words(text)) for text in pool["text"]]
    lengths = np.array([words.total() for words in words_of_passages], dtype=float)
    # Where no passage has a word, all scores are 0 with any length.
    mean_length = lengths.mean() or 1.0
    saturation = k1 * (1 - b + b * lengths / mean_length)
    # Columns and frequencies of the passages that contain each word.
    postings: dict[str, list[tuple[int, int]]] = {}
    for column, words in enumerate(words_of_passages):
        for word, frequency in words.items():
            postings.setdefault(word, []).append((column, frequency))
    scores = np.zeros((len(examples), len(pool)))
    for row, question in enumerate(examples["question"]):
        for word in _words(question):
            if word not in postings:
                continue
            columns, frequencies = np.array(postings[word]).T
            n_with_word = len(columns)
            idf = np.log(1 + (len(pool) - n_with_word + 0.5) / (n_with_word + 0.5))
            scores[row, columns] += idf * frequencies / (frequencies + saturation[columns])
    return _best(examples, pool, scores, "score", top_k, leave_own_out)


def _words(text: str) -> list[str]:
    """The words of a text for BM25, without case and punctuation."""
    return tokens(fold(text))


def _pool(examples: pd.DataFrame) -> pd.DataFrame:
    """The different passages of all examples: ``text, language, passage_id, owner``.

    A passage that several examples share has the id of the first one, and all of them as owners.
    """
    grouped = _passages(examples).groupby(["text", "language"], sort=False, as_index=False)
    return grouped.agg({"passage_id": "first", "owner": list})


def _best(
    examples: pd.DataFrame,
    pool: pd.DataFrame,
    scores: NDArray[Any],
    name: str,
    top_k: int,
    leave_own_out: bool,
) -> pd.DataFrame:
    """The best passages of each question by a matrix of scores, which become the column ``name``."""
    is_left_out = np.zeros((len(examples), len(pool)), dtype=bool)
    for column, owners in enumerate(pool["owner"]):
        is_left_out[owners, column] = leave_own_out
    fewest = int((~is_left_out).sum(axis=1).min())
    if top_k > fewest:
        raise InputError(
            f"top_k must be at most {fewest}, because a question has only {fewest} passages to choose "
            f"from, got {top_k}"
        )
    candidates = np.where(is_left_out, -np.inf, scores)
    # Columns of the best passages of each question. A stable sort keeps the order of passages with equal scores.
    best = np.argsort(-candidates, axis=1, kind="stable")[:, :top_k]
    return pd.DataFrame(
        {
            "example_id": np.repeat(examples["example_id"].to_numpy(), top_k),
            "rank": np.tile(np.arange(1, top_k + 1), len(examples)),
            "passage_id": pool["passage_id"].to_numpy()[best.ravel()],
            name: np.take_along_axis(candidates, best, axis=1).ravel(),
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
        ``example_id, rank, passage_id``, and ``cosine`` or ``score`` (higher is better; at least 0 for ``lbrag``), from
        `rank_passages`, `rank_bm25` or your own retriever.

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
    score = "score" if "score" in ranking and "cosine" not in ranking else "cosine"
    columns = ["example_id", "rank", "passage_id", score]
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
        passage_scores=contexts[score],
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
