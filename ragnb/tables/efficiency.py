"""The table of what translation buys: systems by readings of F1 per translated token."""

import math
from typing import Any

import pandas as pd

from ragnb.errors import InputError, check_choice
from ragnb.records import require_columns
from ragnb.reports.efficiency import READINGS
from ragnb.tables.cells import DECIMALS, Cell, Table, number, signatures

EFFICIENCY = (
    "system", "baseline", "reading", "estimate", "low", "high", "interval", "kind", "confidence_level", "gain", "gain_low",
    "gain_high", "cost", "cost_low", "cost_high", "zero_cost_share", "n", "n_units", "left_out", "signature",
)  # fmt: skip


def of_readings(frame: pd.DataFrame, rows: str, digits: int | None) -> Table:
    """Gain, cost and every reading of each system, which stands in a row, or under ``rows="reading"`` in a column."""
    require_columns(frame, EFFICIENCY, "a table of efficiency")
    check_choice(rows, ("system", "reading"), "rows")
    if frame.empty or frame.duplicated(["system", "reading"]).any():
        raise InputError(
            f"a table of efficiency needs one row a system and reading; got {len(frame)} rows of "
            f"{frame['system'].nunique()} systems; choose some rows"
        )
    readings = list(dict.fromkeys(frame["reading"]))
    lines = [[Cell(name) for name in ("system", "gain in F1", "tokens", *readings, "n")]]
    for system, group in frame.groupby("system", sort=False):
        records = {record["reading"]: record for record in group.to_dict("records")}
        lines.append(_cells(str(system), [records.get(name) for name in readings], digits))
    header, *body = lines if rows == "system" else map(list, zip(*lines, strict=True))
    return Table([cell.text for cell in header], body, _notes(frame, readings))


def _cells(system: str, records: list[dict[str, Any] | None], digits: int | None) -> list[Cell]:
    one = next(record for record in records if record)
    gain, cost = (
        Cell(number(one[name], places), _limits(one[f"{name}_low"], one[f"{name}_high"], places))
        for name, places in (("gain", 3), ("cost", DECIMALS["cost.translation_tokens"]))
    )
    counted = [f"of {one['n'] + one['left_out']}"] * (one["left_out"] > 0)
    counted += [f"in {one['n_units']} questions"] * (one["n_units"] < one["n"])
    places = DECIMALS["cost.cnbe"] if digits is None else digits
    return [
        Cell(system),
        gain,
        cost,
        *(_reading(record, places) for record in records),
        Cell(str(one["n"]), " ".join(counted)),
    ]


def _reading(record: dict[str, Any] | None, digits: int) -> Cell:
    if record is None:
        return Cell("")
    low, high = record["low"], record["high"]
    sets = {
        "two rays": f"(below {number(low, digits)} or above {number(high, digits)})",
        "whole line": "(any ratio)",
    }
    return Cell(
        number(record["estimate"], digits), sets.get(record["kind"]) or _limits(low, high, digits)
    )


def _limits(low: float, high: float, digits: int) -> str:
    return "" if math.isnan(low) else f"[{number(low, digits)}, {number(high, digits)}]"


def _notes(frame: pd.DataFrame, readings: list[str]) -> list[str]:
    over, level = (
        " / ".join(dict.fromkeys(map(str, frame["baseline"]))),
        f"{frame['confidence_level'].iloc[0]:.0%}",
    )
    kinds = " / ".join(dict.fromkeys(frame.loc[frame["low"].notna(), "interval"])) or "none defined"
    shares = frame.drop_duplicates("system").dropna(subset="zero_cost_share")
    spared = [
        f"{name} {share:.0%}"
        for name, share in zip(shares["system"], shares["zero_cost_share"], strict=True)
    ]
    return [
        f"Token F1 gained over {over} per translated token [{level} interval: {kinds}].",
        *(
            f"{name[:1].upper()}{name[1:]}: {READINGS[name]}."
            for name in readings
            if name in READINGS
        ),
        f"Responses that cost nothing: {', '.join(spared) or 'unknown'}.",
        signatures(frame),
    ]
