"""Readability of a response, for languages with a published formula."""

import math
from functools import lru_cache
from typing import Any

from ragnb.metrics.language import primary_code
from ragnb.metrics.normalization import check_text
from ragnb.metrics.record import metric
from ragnb.text import sentences, tokens

# Language code -> constant, weight of words per sentence, weight of syllables per word.
FLESCH = {
    "en": (206.835, 1.015, 84.6),  # Flesch (1948)
    "de": (180.0, 1.0, 58.5),  # Amstad (1978)
    "es": (206.84, 1.02, 60.0),  # Fernández Huerta (1959)
    "fr": (207.0, 1.015, 73.6),  # Kandel and Moles (1958)
    "it": (217.0, 1.3, 60.0),  # Franchina and Vacca (1986)
    "nl": (206.835, 0.93, 77.0),  # Douma (1960)
    "ru": (206.835, 1.3, 60.1),  # Oborneva (2006)
}


@metric(
    "answer.flesch_reading_ease",
    {"response": "response", "language": "language"},
    bounds=(-math.inf, math.inf),
    source="Flesch 1948 and its adaptations",
    undefined="If the response has no words, or if there is no published formula for its language.",
)
def flesch_reading_ease(response: str | None, language: str) -> float:
    """Flesch reading ease, computed from words per sentence and syllables per word.

    Reading ease = constant - a * words / sentences - b * syllables / words, where the constant, a
    and b depend on the language (`FLESCH`). Syllables are counted by hyphenation with pyphen,
    which misses syllables of some English words. The value is meaningful only for texts of several
    sentences.

    Parameters
    ----------
    response : str or None
        Response of the system.
    language : str
        Language code of the response. There are formulas for de, en, es, fr, it, nl and ru.

    Returns
    -------
    float
        Reading ease, unbounded but mostly between 0 and 100; a higher value means an easier text.
        NaN if the response is None or has no words, or if there is no formula for the language.

    Notes
    -----
    Source: Flesch, R. (1948). A new readability yardstick. J. Appl. Psychol. 32, 221-233; and the
    adaptations named in `FLESCH`.

    Examples
    --------
    >>> round(flesch_reading_ease("Der Hund schläft. Die Katze auch.", "de"), 2)
    108.75
    >>> flesch_reading_ease("猫也睡。", "zh")
    nan
    """
    code = primary_code(language)
    constants = FLESCH.get(code)
    if response is None or constants is None:
        return math.nan
    words = tokens(check_text(response, "response"))
    if not words:
        return math.nan
    base, per_sentence, per_word = constants
    syllables = sum(len(_hyphenation(code).positions(word)) + 1 for word in words)
    n_sentences = sum(bool(tokens(sentence)) for sentence in sentences(response))
    return base - per_sentence * len(words) / n_sentences - per_word * syllables / len(words)


@lru_cache
def _hyphenation(language: str) -> Any:
    from pyphen import Pyphen

    return Pyphen(lang=language)
