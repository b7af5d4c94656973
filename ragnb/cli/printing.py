"""What a command prints: a table or a report, in the format that was asked for."""

import argparse
from collections.abc import Callable
from typing import Any

from ragnb.errors import InputError
from ragnb.markup import spelled


def printed(frame: Any, arguments: argparse.Namespace) -> str:
    """A table in the format that was asked for."""
    from ragnb.tables import to_html, to_json, to_latex, to_markdown, to_text

    if arguments.format == "json":
        return to_json(frame)
    if arguments.format == "text":
        return to_text(frame, digits=arguments.digits)
    printers: dict[str, Callable[..., str]] = {
        "markdown": to_markdown,
        "latex": to_latex,
        "html": to_html,
    }
    rows = "system" if "system" in frame else frame.columns[0]
    return printers[arguments.format](frame, rows=rows, digits=arguments.digits)


def printed_report(report: Any, arguments: argparse.Namespace) -> str:
    """A report in the format that was asked for; its kind says how much of it is tables."""
    from ragnb.tables import to_json

    if arguments.format == "html":
        return str(report._repr_html_())
    if arguments.format == "text" and arguments.kind == "judge":
        return "\n".join(map(spelled, report.lines()))
    tables = {name: table for name, table in tables_of(report).items() if name != "scores"}
    if arguments.format == "json":
        return to_json(tables)
    if arguments.format != "text" and arguments.kind in ("trace", "judge"):
        raise InputError(
            f"--format {arguments.format} needs --kind rgb or multilingual; got {arguments.kind}; use json"
        )
    return "\n\n".join(
        f"{name.replace('_', ' ')}\n\n{printed(table, arguments)}" for name, table in tables.items()
    )


def tables_of(report: Any) -> dict[str, Any]:
    """The tables of a report that are not empty, by name."""
    import pandas as pd

    named = {name: getattr(report, name) for name in report.__dataclass_fields__}
    return {
        name: table
        for name, table in named.items()
        if isinstance(table, pd.DataFrame) and len(table)
    }
