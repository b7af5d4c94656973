"""Requests of an experiment: one rendered prompt per row."""

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
    """Add one request to each row: ``messages`` or ``prompt``, ``template, parameters``."""
    is_completion = any(template.kind == "completion" for template in templates)
    # After its answer, a base model would continue with another question.
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
