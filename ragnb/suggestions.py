"""Suggestions for a name that is unknown: what its author probably meant."""

# Tested in tests/test_mistakes.py.

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

# Smallest similarity of a suggestion, in [0, 1], see `difflib.SequenceMatcher.ratio`.
CUTOFF = 0.7
# Largest number of names in a suggestion.
MOST = 3


def similar_names(name: Any, names: Iterable[Any]) -> list[Any]:
    """Return at most three known names that are most similar to an unknown name; empty if none is similar.

    Letter case, spaces, hyphens and underscores are ignored. The unknown name may be the last part
    of a name with dots, contain a few typing errors, or consist of some of the words of a name.

    >>> similar_names("rouge-l", ["answer.rouge_l", "answer.f1"])
    ['answer.rouge_l']
    >>> similar_names("noise_rate", ["noise_rates", "passage_num"])
    ['noise_rates']
    >>> similar_names("output", ["Question text", "Model output"])
    ['Model output']
    """
    if not isinstance(name, str) or not _letters(name):
        return []
    known_names = list(dict.fromkeys(names))
    for closest in (_same_letters, _typing_errors, _same_words):
        similar = closest(name, known_names)
        if similar:
            return similar[:MOST]
    return []


def did_you_mean(name: Any, names: Iterable[Any]) -> str:
    """Return the end of an error message that suggests similar names; empty if there are none.

    Examples
    --------
    >>> did_you_mean("hom", ["holm", "bonferroni"])
    "; did you mean 'holm'?"
    >>> did_you_mean("none of these", ["holm", "bonferroni"])
    ''
    """
    similar = similar_names(name, names)
    return f"; did you mean {' or '.join(map(repr, similar))}?" if similar else ""


def _same_letters(name: str, known_names: list[Any]) -> list[Any]:
    """Names with the same letters and digits, as a whole or after their last dot."""
    letters = _letters(name)
    whole = [candidate for candidate in known_names if _letters(candidate) == letters]
    return whole or [
        candidate for candidate in known_names if _letters(_last(candidate)) == letters
    ]


def _typing_errors(name: str, known_names: list[Any]) -> list[Any]:
    """The name that differs by the smallest number of letters, as a whole or after its last dot."""
    by_letters: dict[str, Any] = {}
    for form in (str, _last):
        for candidate in known_names:
            by_letters.setdefault(_letters(form(candidate)), candidate)
    nearest = get_close_matches(_letters(name), by_letters, n=1, cutoff=CUTOFF)
    return [by_letters[letters] for letters in nearest]


def _same_words(name: str, known_names: list[Any]) -> list[Any]:
    """Names that contain all words of the unknown name, or all of whose words are in it."""
    words = _words(name)
    similar = []
    for candidate in known_names:
        others = _words(candidate)
        if words <= others or (others and others <= words):
            similar.append(candidate)
    return similar


def _letters(name: Any) -> str:
    return re.sub(r"[\s_-]", "", str(name)).casefold()


def _words(name: Any) -> set[str]:
    return {word for word in re.split(r"[\W_]+", str(name).casefold()) if len(word) > 1}


def _last(name: Any) -> str:
    return str(name).rpartition(".")[2]
