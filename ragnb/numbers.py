"""Numbers, intervals and p-values as text, and the width of texts."""

# Tested in tests/test_display.py.

import math
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from ragnb.markup import spelled


def percent(share: float) -> str:
    """Format a proportion, such as a confidence level, as a percentage.

    Parameters
    ----------
    share : float
        Proportion, such as 0.975.

    Returns
    -------
    str
        The percentage with at most six significant digits.

    Examples
    --------
    >>> [percent(share) for share in (0.95, 0.975, 0.999)]
    ['95%', '97.5%', '99.9%']
    """
    return f"{100 * share:g}%"


def format_p_value(p_value: float) -> str:
    """Format a p-value as text, such as ``p = 0.0347``.

    Parameters
    ----------
    p_value : float
        p-value, or NaN if it is undefined.

    Returns
    -------
    str
        The p-value with four decimals or, below 0.001, with at most two significant digits. Values
        below 1e-12 become ``"p < 1e-12"``, and NaN becomes ``"p undefined"``.

    Examples
    --------
    >>> [format_p_value(p) for p in (0.0347, 2e-5, 1e-40)]
    ['p = 0.0347', 'p = 2e-05', 'p < 1e-12']
    """
    if p_value != p_value:
        return "p undefined"
    if p_value < 1e-12:
        return "p < 1e-12"
    return f"p = {p_value:.4f}" if p_value >= 1e-3 else f"p = {p_value:.2g}"


def number(value: float, digits: int = 3, signed: bool = False) -> str:
    """Format a number, without a sign if it is printed as zero."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text


def limits(low: float, high: float, digits: int = 3, signed: bool = False) -> str:
    """Format an interval: ``[0.10, 0.30]``."""
    return f"[{number(low, digits, signed)}, {number(high, digits, signed)}]"


def short_p(p_value: float) -> str:
    """Format a p-value without its name: ``0.0347`` or ``< 1e-12``."""
    return format_p_value(p_value).removeprefix("p ").removeprefix("= ")


def distinct(values: Iterable[Any], between: str = " / ") -> str:
    """Join values in the order of their first appearance, each once."""
    return between.join(dict.fromkeys(map(str, values)))


def interval_words(kinds: Iterable[Any], noun: str = "intervals") -> str:
    """Name kinds of intervals, each once, with their numbers of clusters at the end.

    >>> interval_words(["Wilson", "t", "Wilson"])
    'Wilson or t intervals'
    >>> interval_words([f"cluster-robust t, {n} clusters" for n in (40, 38)])
    'cluster-robust t intervals, 38–40 clusters'
    >>> interval_words(["cluster-robust t, 40 clusters", "Wilson over clusters for equal values"])
    'cluster-robust t or Wilson intervals, 40 clusters'
    """
    names: list[str] = []
    # Numbers of clusters by the words around them, such as a warning that there are few.
    n_clusters: dict[str, list[int]] = {}
    for kind in map(str, kinds):
        clusters = re.search(r", (\d+) (clusters.*)", kind)
        if clusters is None:
            names.append(kind)
            continue
        names.append(kind[: clusters.start()])
        n_clusters.setdefault(clusters[2], []).append(int(clusters[1]))
    counts = []
    for words, numbers in n_clusters.items():
        low, high = min(numbers), max(numbers)
        counts.append(f"{low}–{high} {words}" if low < high else f"{low} {words}")
    if counts:
        # The clusters are named once, behind the kinds.
        names = [name.partition(" over clusters")[0] for name in names]
    kinds_in_words = enumeration(dict.fromkeys(names), "or") if names else "no"
    return ", ".join([f"{kinds_in_words} {noun}", *([distinct(counts)] if counts else [])])


def enumeration(values: Iterable[Any], last: str = "and") -> str:
    """Join values as in a sentence.

    >>> enumeration(["a", "b", "c"]), enumeration(["a"]), enumeration(["a", "b"], "or")
    ('a, b and c', 'a', 'a or b')
    """
    *others, end = map(str, values)
    return f"{', '.join(others)} {last} {end}" if others else end


def one_line(text: Any) -> str:
    """Return a text in one line, with hidden characters spelled out."""
    return " ".join(spelled(text).split())


def text_width(text: str) -> int:
    """Width in a terminal: two for a wide character, none for a mark on the one before."""
    seen = [c for c in text if unicodedata.category(c) not in ("Mn", "Me", "Cf")]
    return len(seen) + sum(unicodedata.east_asian_width(c) in "WF" for c in seen)
