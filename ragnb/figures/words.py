"""Words for names of columns and values, as figures show them."""

# Tested in tests/figures/test_names.py.

import unicodedata
from collections.abc import Mapping
from numbers import Real
from typing import Any

from ragnb.figures.styles import plain
from ragnb.metrics.words import metric_words
from ragnb.prompts.multilingual import LANGUAGE_NAMES

# Columns whose values are names that users have chosen.
_NAMED_BY_USERS = ("system", "judge", "pair", "baseline", "group", "example_id")
# Marks of Unicode between which a text has a direction of its own; they are not drawn.
_ISOLATE, _END_OF_ISOLATE = "\u2068", "\u2069"


def words_for(value: Any, names: Mapping[Any, str] | None = None, *, column: str = "") -> str:
    """Write a value of a column as words: by its own name if it has one.

    >>> words_for("fid", {"fid": "FiD"}), words_for("answer.f1", column="metric"), words_for(0.4)
    ('FiD', 'token F1', '0.4')
    >>> words_for("hi", column="language")
    'Hindi'
    """
    if names and value in names:
        words = plain(names[value])
    elif column == "metric":
        words = plain(metric_words(str(value)))
    elif column == "language" and value in LANGUAGE_NAMES:
        words = plain(LANGUAGE_NAMES[value])
    elif isinstance(value, str):
        words = plain(value if column in _NAMED_BY_USERS else value.replace("_", " "))
    else:
        words = f"{value:g}" if isinstance(value, Real) else plain(value)
    return _isolated(words)


def _isolated(words: str) -> str:
    """Words that do not turn the direction of the line in which they are written.

    Without the marks, a line that begins with an Arabic or Hebrew name is drawn from right to left as a whole, so that
    the first system of "first − second" would be on the right.
    """
    is_from_right = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in words)
    return f"{_ISOLATE}{words}{_END_OF_ISOLATE}" if is_from_right else words
