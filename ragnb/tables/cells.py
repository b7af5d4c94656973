"""What stands in a table, whichever way it is written: cells, numbers, signatures."""

import math
import re
from dataclasses import dataclass, field

import pandas as pd

from ragnb.errors import InputError

DECIMALS = {"cost.translation_tokens": 1, "cost.cnbe": 5}
"""Decimals of the metrics of which two say too much or too little."""
MOST_DIGITS = 17
"""Decimals that a float can have a use for."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: a main text that may be bold, small print after it, marks of significance."""

    text: str
    small: str = ""
    bold: bool = False
    marks: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A header, rows of as many cells, and the notes that stand below."""

    header: list[str]
    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)


def signatures(frame: pd.DataFrame) -> str:
    """The signatures behind a table; those that differ in their language only stand as one, with all languages.

    Where each language was asked in a prompt of its own, the prompts stand apart, each once.
    """
    signatures = {part for joined in frame["signature"] for part in joined.split(" & ") if part}
    prompts, asked_in = (
        sorted(set(re.findall(rf"\|{mark}:([^|]*)", "|".join(signatures))))
        for mark in ("prompt", "lang")
    )
    own = len(prompts) > 1 and len(asked_in) > 1
    languages: dict[str, dict[str, None]] = {}
    for signature in sorted(signatures):
        kept = [part for part in signature.split("|") if not (own and part.startswith("prompt:"))]
        spoken = [part.removeprefix("lang:") for part in kept if part.startswith("lang:")]
        key = "|".join("lang:" if part.startswith("lang:") else part for part in kept)
        languages.setdefault(key, {}).update(dict.fromkeys(spoken))
    joined = "; ".join(
        text.replace("lang:", "lang:" + ",".join(codes)) for text, codes in languages.items()
    )
    return f"Signatures: {joined}." + (f" Prompts: {', '.join(prompts)}." if own else "")


def check_digits(digits: int | None) -> None:
    """Raise InputError unless there are as many decimals as a number can have, or none are asked for."""
    known = digits is None or (
        isinstance(digits, int) and not isinstance(digits, bool) and 0 <= digits <= MOST_DIGITS
    )
    if not known:
        raise InputError(
            f"a table needs from 0 to {MOST_DIGITS} digits; got {digits!r:.40}; leave them out"
        )


def decimals(frame: pd.DataFrame, digits: int | None) -> dict[str, int]:
    """Decimals of each metric in a frame of intervals: those asked for, or else enough to see the intervals.

    By default they are the metric's own decimals. If half the width of even its widest interval is smaller than one unit of
    the last of them, that half is printed with two significant digits.

    >>> decimals(pd.DataFrame({"metric": ["a", "a", "b"], "low": [0.1, 0.2, 0.0373], "high": [0.3, 0.2, 0.0427]}), None)
    {'a': 2, 'b': 4}
    """
    metrics = dict.fromkeys(frame["metric"])
    if digits is not None:
        return dict.fromkeys(metrics, digits)
    halves = ((frame["high"] - frame["low"]) / 2).where(lambda half: half < math.inf)
    widest = halves.groupby(frame["metric"]).max()
    return {metric: _places(DECIMALS.get(metric, 2), widest[metric]) for metric in metrics}


def _places(own: int, half: float) -> int:
    return min(1 - math.floor(math.log10(half)), MOST_DIGITS) if 0 < half < 10**-own else own


def number(value: float, digits: int, signed: bool = False) -> str:
    """A number as printed, without a sign where it is printed as zero."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text
