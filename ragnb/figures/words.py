"""Words for names of columns and values, as figures show them."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

from ragnb.figures.styles import plain
from ragnb.metrics.words import metric_words
from ragnb.prompts.multilingual import LANGUAGE_NAMES

# Columns whose values are names that users have chosen.
_NAMED_BY_USERS = ("system", "judge", "pair", "baseline", "group", "example_id")


def words_for(value: Any, names: Mapping[Any, str] | None = None, *, column: str = "") -> str:
    """Write a value of a column as words: by its own name if it has one.

    >>> words_for("fid", {"fid": "FiD"}), words_for("answer.f1", column="metric"), words_for(0.4)
    ('FiD', 'token F1', '0.4')
    >>> words_for("hi", column="language")
    'Hindi'
    """
    if names and value in names:
        return plain(names[value])
    if column == "metric":
        return plain(metric_words(str(value)))
    if column == "language" and value in LANGUAGE_NAMES:
        return plain(LANGUAGE_NAMES[value])
    if isinstance(value, str):
        return plain(value if column in _NAMED_BY_USERS else value.replace("_", " "))
    return f"{value:g}" if isinstance(value, Real) else plain(value)
