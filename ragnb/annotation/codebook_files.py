"""The codebook of a log as a frame, and the codebook with which a task begins."""

# Tested in tests/annotation/test_codebook.py.

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.annotation.log import LabelState, read_log, wait_for_actions
from ragnb.annotation.tasks import Task, read_task
from ragnb.arguments import accepts
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.tags import tag_definitions


@accepts()
def read_codebook(log: Any) -> pd.DataFrame:
    """Read the present codebook of a log, with one row per tag.

    Parameters
    ----------
    log
        Path of a log, an open session, or an `ragnb.Annotator`, of a task with a field of tags, such as
        ``"error_analysis"``.

    Returns
    -------
    DataFrame
        In the order in which the tags were added: ``tag``, ``definition``, ``n_items`` with this tag, and ``earlier``: the
        earlier names of the tag, and those of the tags that were merged into it.

    Raises
    ------
    InputError
        There is no such log, or its task has no field of tags.
    """
    log = getattr(log, "session", log)
    wait_for_actions(getattr(log, "log", log))
    if hasattr(log, "state"):
        task, state = log.task, log.state
    else:
        header, events = read_log(log)
        task = read_task(header["task"])
        state = LabelState(events, task)
    if not task.tag_fields:
        raise InputError(f"the task {task.name!r} has no field of tags, and therefore no codebook")
    counts: Counter[str] = Counter()
    for labels in state.items.values():
        present = state.present(labels.values)
        ids = {id for name in task.tag_fields for id in present.get((name, None), ())}
        counts.update(ids)
    rows = [
        {
            "tag": tag.name,
            "definition": tag.definition,
            "n_items": counts[tag.id],
            "earlier": list(tag.earlier),
        }
        for tag in state.codebook.tags.values()
    ]
    return shown(pd.DataFrame(rows, columns=["tag", "definition", "n_items", "earlier"]))


def with_codebook(task: Task | str | Mapping[str, Any], codebook: Any) -> Task:
    """Return a task that begins with a codebook: definitions by name, names, a frame, or a log. None changes nothing."""
    checked_task = read_task(task)
    if codebook is None:
        return checked_task
    return replace(checked_task, codebook=definitions_of(codebook))


def definitions_of(codebook: Any) -> dict[str, str]:
    """The definitions of tags by name, from a mapping, a list of names, a frame, a log or an open session."""
    # `ragnb.Annotator` has a session, and a session has a state.
    is_log = isinstance(codebook, str | Path)
    is_open_session = hasattr(codebook, "session") or hasattr(codebook, "state")
    if is_log or is_open_session:
        codebook = read_codebook(codebook)
    return tag_definitions(codebook)
