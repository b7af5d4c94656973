"""Requests of an experiment: rendered prompts beside the rows that they ask about."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ragnb.llm.budget import as_budget
from ragnb.prompts.template import Template


def with_requests(
    frame: pd.DataFrame,
    rendered: list[Any],
    templates: Sequence[Template],
    parameters: Mapping[str, Any],
) -> pd.DataFrame:
    """The frame with one request per row: ``messages`` or ``prompt``, ``template, parameters``."""
    is_completion = any(template.kind == "completion" for template in templates)
    # A base model would go on with a question of its own.
    stop = {"stop": ["\n"]} if is_completion else {}
    return frame.drop(columns=["messages", "prompt"], errors="ignore").assign(
        **{
            "prompt" if is_completion else "messages": pd.Series(
                rendered, frame.index, dtype=object
            )
        },
        template=[template.id for template in templates],
        parameters=[{**stop, **parameters} for _ in templates],
    )


def one_budget(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `ragnb.complete` with one budget for all calls that get them."""
    limit = options.get("budget_usd")
    return dict(options) if limit is None else {**options, "budget_usd": as_budget(limit)}
