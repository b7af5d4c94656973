"""What stands in a table, whichever way it is written: cells, numbers, signatures."""

import math
import re
from dataclasses import dataclass, field
from typing import Any

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
    prompts, asked_in = (sorted(set(re.findall(rf"\|{mark}:([^|]*)", "|".join(signatures)))) for mark in ("prompt", "lang"))
    own = len(prompts) > 1 and len(asked_in) > 1
    languages: dict[str, dict[str, None]] = {}
    for signature in sorted(signatures):
        kept = [part for part in signature.split("|") if not (own and part.startswith("prompt:"))]
        spoken = [part.removeprefix("lang:") for part in kept if part.startswith("lang:")]
        key = "|".join("lang:" if part.startswith("lang:") else part for part in kept)
        languages.setdefault(key, {}).update(dict.fromkeys(spoken))
    joined = "; ".join(text.replace("lang:", "lang:" + ",".join(codes)) for text, codes in languages.items())
    return f"Signatures: {joined}." + (f" Prompts: {', '.join(prompts)}." if own else "")


def check_digits(digits: int | None) -> None:
    """Raise InputError unless there are as many decimals as a number can have, or none are asked for."""
    known = digits is None or (isinstance(digits, int) and not isinstance(digits, bool) and 0 <= digits <= MOST_DIGITS)
    if not known:
        raise InputError(f"a table needs from 0 to {MOST_DIGITS} digits; got {digits!r:.40}; leave them out")


def decimals(row: dict[str, Any], digits: int | None) -> int:
    """The decimals asked for, or those of the row's metric."""
    return DECIMALS.get(row["metric"], 2) if digits is None else digits


def number(value: float, digits: int, signed: bool = False) -> str:
    """A number as printed, without a sign where it is printed as zero."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text
