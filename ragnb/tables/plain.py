"""Frames for a terminal: aligned lines that say what Markdown, HTML and LaTeX say, and JSON for other programs."""

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ragnb.errors import InputError
from ragnb.markup import hidden, spelled
from ragnb.records import require_columns
from ragnb.results import format_p_value
from ragnb.tables.cells import Cell, Table, check_digits, decimals, number, signatures
from ragnb.tables.printing import COMPARISON, SUMMARY, checked_summaries, of_comparisons

_ASIDE = ("confidence_level", "problem", "statistic", "warning", "signature")
"""Columns of other frames that are no part of their listing; warnings stand below it."""


def to_text(frame: pd.DataFrame, *, digits: int | None = None) -> str:
    """Plain text of a frame, its columns aligned, its notes below.

    A frame of `ragnb.summarize` becomes one line a cell and metric, one of `ragnb.compare` one line a comparison; any other
    frame is listed as it is. Characters that hide are spelled out, so that no text can command a terminal.

    Parameters
    ----------
    frame
        As `ragnb.summarize`, `ragnb.compare`, `ragnb.audit` or a report returns it.
    digits
        Decimals; by default as `ragnb.tables.to_latex` chooses them, and 3 in other frames.

    Raises
    ------
    InputError
        A frame without rows.

    >>> print(to_text(pd.DataFrame({"name": ["東京", "Oslo"], "value": [0.5, 1.0]})))
    name  value
    東京  0.500
    Oslo  1.000
    """
    require_columns(frame, (), "a table")
    if frame.empty:
        raise InputError(
            "a table needs at least one row; got an empty frame; look at the file that it came from"
        )
    check_digits(digits)
    table = _table(frame, digits)
    warnings = [
        str(text)
        for text in dict.fromkeys(frame.get("warning", []))
        if isinstance(text, str) and text
    ]
    notes = [_one_line(note) for note in [*table.notes, *warnings]]
    return "\n".join([*_aligned(table), *([""] if notes else []), *notes])


def to_json(content: Any) -> str:
    """JSON of a frame, or of several by name: all digits of the numbers, characters that hide as escapes.

    What is missing is null; what is infinite is the text ``"Infinity"`` or ``"-Infinity"``, which reads as a number.

    >>> print(to_json(pd.DataFrame({"system": ["a\u202eb"], "mean": [float("nan")]})))
    [
      {
        "system": "a\\u202eb",
        "mean": null
      }
    ]
    """
    text = json.dumps(_plain(content), ensure_ascii=False, indent=2, allow_nan=False)
    while found := hidden(
        text
    ):  # again, for what hides may rest on neighbours that have become escapes
        for character in set(found):
            text = text.replace(character, json.dumps(character)[1:-1])
    return text


def _plain(value: Any) -> Any:
    """A value of a frame as JSON knows it."""
    if isinstance(value, pd.DataFrame):
        return [_plain(row) for row in value.to_dict("records")]
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(part) for part in value]
    if isinstance(value, np.ndarray | np.generic | pd.Series):
        return _plain(value.tolist())
    if value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value):
        return None
    if not isinstance(value, str | int | float | None):
        return str(value)
    return (
        str(value).replace("inf", "Infinity")
        if isinstance(value, float) and math.isinf(value)
        else value
    )


def _table(frame: pd.DataFrame, digits: int | None) -> Table:
    if set(COMPARISON) <= set(frame):
        table = of_comparisons(frame, digits)
        dropped = (
            ", ".join(map(str, frame["n_dropped"]))
            if "n_dropped" in frame and frame["n_dropped"].any()
            else ""
        )
        left_out = (
            [f"Items left out for want of a value, line by line: {dropped}."] if dropped else []
        )
        return Table(
            table.header,
            table.rows,
            [*(note.replace("Bold:", "*", 1) for note in table.notes), *left_out],
        )
    return (
        _of_summaries(checked_summaries(frame), digits)
        if set(SUMMARY) <= set(frame)
        else _of_others(frame, digits)
    )


def _of_summaries(frame: pd.DataFrame, digits: int | None) -> Table:
    place = list(frame.columns).index("metric")
    keys = [
        name
        for name in frame.columns[:place]
        if name == "system" or frame[name].nunique(dropna=False) > 1
    ]
    more = [
        name
        for name in frame.columns[place:]
        if name not in (*SUMMARY, "worst_low", "worst_high", *_ASIDE)
    ]
    partly = "worst_low" in frame and bool((frame["n_scored"] < frame["n"]).any())
    level = f"{frame['confidence_level'].iloc[0]:.0%} interval"
    places = decimals(frame, digits)
    rows = [
        [
            *(Cell(str(row[name])) for name in [*keys, "metric"]),
            Cell(number(row["mean"], places[row["metric"]])),
            Cell(_limits(row, "low", "high", places)),
            Cell(f"{row['n_scored']} of {row['n']}"),
            *([Cell(_limits(row, "worst_low", "worst_high", places))] if partly else []),
            *(Cell(_printed(name, row[name], digits)) for name in more),
        ]
        for row in frame.to_dict("records")
    ]
    header = [*keys, "metric", "mean", level, "scored", *(["worst case"] if partly else []), *more]
    kinds = " / ".join(dict.fromkeys(frame["interval"]))
    worst = (
        ["Worst case: all unscored responses at the metric's lowest, or at its highest value."]
        if partly
        else []
    )
    return Table(header, rows, [f"Intervals: {kinds}.", *worst, signatures(frame)])


def _limits(row: dict[str, Any], low: str, high: str, places: Mapping[str, int]) -> str:
    digits = places[row["metric"]]
    return f"[{number(row[low], digits)}, {number(row[high], digits)}]"


def _of_others(frame: pd.DataFrame, digits: int | None) -> Table:
    shown = [name for name in frame if name not in _ASIDE]
    rows = [
        [Cell(_printed(name, row[name], digits)) for name in shown]
        for row in frame.to_dict("records")
    ]
    return Table(shown, rows)


def _printed(name: str, value: Any, digits: int | None) -> str:
    if not isinstance(value, float):
        return str(value)
    if name.startswith("p_"):
        return format_p_value(value).removeprefix("p ").removeprefix("= ")
    return number(value, 3 if digits is None else digits)


# ---- lines -------------------------------------------------------------------------------------------------------------


def _aligned(table: Table) -> Iterable[str]:
    lines = [
        list(map(_one_line, table.header)),
        *([_one_line(_marked(cell)) for cell in row] for row in table.rows),
    ]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        yield "  ".join(
            cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True)
        ).rstrip()


def _marked(cell: Cell) -> str:
    return f"{cell.text}*" if cell.bold else cell.text


def _one_line(text: Any) -> str:
    return " ".join(spelled(text).split())


def _width(text: str) -> int:
    """Columns of a terminal that a text takes: two for a wide character, none for a mark on the one before."""
    unseen = ("Mn", "Me", "Cf")
    return sum(
        0 if unicodedata.category(c) in unseen else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )
