"""Frames of intervals, and how they are printed."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from ragnb.markup import Markup, escape, spelled, tag
from ragnb.results import format_p_value

UNLISTED = ["confidence_level", "problem", "statistic", "warning", "signature"]
"""Columns that are not listed when a frame is printed."""


def as_frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Return rows as a frame with some columns, and with ``problem`` if any row has a problem.

    >>> rows = [{"mean": 0.5}, {"mean": float("nan"), "problem": "no items"}]
    >>> as_frame(rows, ["mean"]).columns.tolist(), as_frame(rows[:1], ["mean"]).columns.tolist()
    (['mean', 'problem'], ['mean'])
    """
    problem = ["problem"] if any("problem" in row for row in rows) else []
    return pd.DataFrame(rows, columns=[*columns, *problem])


def asked_of_judge(responses: pd.DataFrame, verdict: str) -> pd.DataFrame:
    """Return the responses of the systems about which a judge was asked.

    A ``judge_reason`` without a verdict also shows that the judge was asked.
    """
    if verdict not in responses:
        return responses.iloc[:0]
    known = responses[verdict].notna()
    if "judge_reason" in responses:
        known |= responses["judge_reason"].notna()
    return responses[known.groupby(responses["system"]).transform("any").astype(bool)]


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


def listed(frame: pd.DataFrame, digits: int | None = None) -> pd.DataFrame:
    """Return the columns of a frame that are worth printing, with formatted numbers."""
    places = 3 if digits is None else digits

    def printed(column: pd.Series) -> pd.Series:
        p_value = str(column.name).startswith("p_")
        return column.astype(object).map(
            lambda v: (short_p(v) if p_value else number(v, places)) if isinstance(v, float) else v
        )

    return frame.drop(columns=UNLISTED, errors="ignore").apply(printed)


def html_table(frame: pd.DataFrame, cell: Callable[[Any], str] = escape) -> Markup:
    """HTML of a frame without its index, with a function that makes HTML of each value.

    >>> html_table(pd.DataFrame({"a & b": ["<"]})).replace("\\n", "").replace(" ", "")[:55]
    '<table><thead><tr><th>a&amp;b</th></tr></thead><tbody><'
    """
    styler = frame.style.hide(axis="index").format(cell).format_index(escape, axis=1)
    return Markup(styler.to_html(exclude_styles=True))


def text_report(tables: Mapping[str, pd.DataFrame], lines: Iterable[str] = ()) -> str:
    """Plain text of the tables of a report by title, without empty ones, and of lines below them."""
    shown = [
        f"{title}\n{listed(table).map(spelled).to_string(index=False)}\n"
        for title, table in tables.items()
        if len(table)
    ]
    return "\n".join([*shown, *lines])


def html_report(tables: Mapping[str, pd.DataFrame], lines: Iterable[str] = ()) -> Markup:
    """HTML of the tables of a report by title, without empty ones, and of lines below them."""
    shown = [
        piece
        for title, table in tables.items()
        if len(table)
        for piece in (tag("p", tag("b", title)), html_table(listed(table)))
    ]
    return tag("div", *shown, *(tag("p", line) for line in lines))
