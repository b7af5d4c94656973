"""Scores of other tools, as a frame for `ragnb.summarize` and `ragnb.compare`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.files import existing_file, read_frame, stem
from ragnb.datasets.formats import FORMATS, renamed
from ragnb.datasets.predictions import NUMBERS, checked_columns, load_responses, number_of_text
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.records import COLUMNS, CONDITION, PAYLOAD, present, require_columns
from ragnb.scoring.scores import TEXT

_OF_A_TOOL = re.compile(r"([A-Za-z]\w*)\.(.+)")
"""The column of a tool's metric, ``ragas.faithfulness``."""
_NO_METRIC = {*COLUMNS, *CONDITION, *NUMBERS, "repeat", "index"}
_LONG = ("metric", "value")


def load_scores(
    source: str | Path | pd.DataFrame,
    columns: Mapping[str, str] | None = None,
    *,
    metrics: str | Sequence[str] | Mapping[str, str] | None = None,
    tool: str | None = None,
    version: str | None = None,
    system: str | None = None,
) -> pd.DataFrame:
    """Load scores that another tool computed, one row per response and metric.

    The values are taken as they are. Their signature says that ragnb does not know how they were
    computed: ``foreign:ragas 0.3|faithfulness|definition unknown``. `ragnb.summarize`,
    `ragnb.compare`, tables and figures take the result like that of `ragnb.score`. `ragnb.compare`
    refuses scores of one metric name if they come from different tools or versions, or partly from
    ragnb.

    Parameters
    ----------
    source
        A file, or a frame. Either a file of another tool that `ragnb.load_responses` recognises; or
        a wide table, with one row per response and one column per metric; or a long table, with one
        row per response and metric and the columns ``metric`` and ``value``.
    columns
        Name in ragnb -> name in the table, as for `ragnb.load_responses`:
        ``{"example_id": "id", "system": "run"}``.
    metrics
        The columns of scores in a wide table, or a mapping from the names that the metrics get to
        these columns. By default these are the columns whose names begin with a tool, such as
        ``ragas.faithfulness``. If there are none, they are all columns of numbers or truth values
        whose name has no other meaning in ragnb.
    tool, version
        The tool and its version. By default the tool is the beginning of the column's name or the
        column ``tool``, and the version is the column ``ragas.version`` or ``version``.
    system
        Name of the system. By default it is in the column ``system``, or it is the name of the
        file.

    Returns
    -------
    DataFrame
        The identifying columns of the table, ``metric, value, reason, signature``, and ``evidence``
        if the tool gave reasons (``ragas.faithfulness.reason``). A score that is missing is nan
        with a reason, and true and false are 1 and 0. Scores that ragnb computed, in a file of
        `ragnb.write_table`, keep their signatures.

    Raises
    ------
    InputError
        There are no ids or no metrics, a column is missing, or a score is not a number.

    >>> made = pd.DataFrame({"example_id": ["q1"], "system": "a", "ragas.faithfulness": [0.75]})
    >>> load_scores(made, version="0.3")[["metric", "value", "signature"]].values.tolist()
    [['ragas.faithfulness', 0.75, 'foreign:ragas 0.3|faithfulness|definition unknown']]
    """
    table = _table(source)
    frame = renamed(table, checked_columns(table, columns or {}))
    if "example_id" not in frame:
        raise InputError(
            "load_scores found no column named example_id, which pairs the systems; the columns are "
            f"{', '.join(map(str, frame))}. Say which column has the ids or the questions: "
            "columns={'example_id': '...'}"
        )
    if system or "system" not in frame:
        name = "scores" if isinstance(source, pd.DataFrame) else stem(Path(source))
        frame["system"] = system or name
    if {*_LONG} <= {*frame}:
        parts = [frame.assign(column=frame["metric"])]
    else:
        parts = list(_long(frame, _metric_columns(frame, metrics)))
    scores = pd.concat(parts, ignore_index=True)
    scores["value"] = _numbers(scores)
    given = scores["reason"] if "reason" in scores else pd.Series(None, scores.index, object)
    reasons = given.where(given.notna(), "no score in the file").where(scores["value"].isna(), None)
    signatures = [_signature(row, tool, version) for row in scores.to_dict("records")]
    texts = {"metric": scores["metric"], "reason": reasons, "signature": signatures}
    scores = scores.assign(**{name: pd.array(cells, TEXT) for name, cells in texts.items()})
    dropped = {*PAYLOAD, "column", "tool", "version"} - {"reason"}
    last = ("metric", "value", "reason", "evidence", "signature")
    single = [name for name in scores if not scores[name].map(_is_several).any()]
    first = [name for name in single if name not in dropped and name not in last]
    return shown(scores[[*first, *(name for name in last if name in scores)]])


def _is_several(cell: Any) -> bool:
    return isinstance(cell, list | dict)


def _table(source: str | Path | pd.DataFrame) -> pd.DataFrame:
    """The table as it is, or the responses and scores of a tool's file."""
    if not isinstance(source, str | Path):
        require_columns(source, (), "load_scores")
    given: Any = source
    content = read_frame(existing_file(given)) if isinstance(source, str | Path) else source
    # SQuAD's predictions contain no scores, and a table with one row of texts looks like them.
    with_scores = (one for name, one in FORMATS.items() if name != "squad")
    recognised = any(one.recognises(content) for one in with_scores)
    return load_responses(source) if recognised else content


def _metric_columns(
    frame: pd.DataFrame, metrics: str | Sequence[str] | Mapping[str, str] | None
) -> dict[str, str]:
    """Name of each metric -> its column."""
    if isinstance(metrics, Mapping):
        chosen = dict(metrics)
    elif metrics:
        named = [metrics] if isinstance(metrics, str) else metrics
        chosen = {name: name for name in named}
    else:
        numeric = [name for name in frame if _is_numeric(frame[name])]
        found = [name for name in numeric if _OF_A_TOOL.fullmatch(str(name))]
        found = found or [name for name in numeric if name not in _NO_METRIC]
        chosen = {str(name): name for name in found}
    missing = [column for column in chosen.values() if column not in frame]
    texts = [name for name in frame if name not in _NO_METRIC and frame[name].notna().any()]
    if texts and not chosen:
        cell = frame[texts[0]].dropna().iloc[0]
        raise InputError(
            f"load_scores found no column of numbers, got {cell!r:.60} in the column {texts[0]}; "
            "convert the scores to numbers first"
        )
    if missing or not chosen:
        raise InputError(
            f"load_scores found no {missing[0] if missing else 'column of scores'} among the columns "
            f"{', '.join(map(str, frame))}; name the columns of scores: metrics=[...]"
        )
    return chosen


def _is_numeric(column: pd.Series) -> bool:
    known = _plain(column)
    return bool(known.notna().any()) and bool(
        pd.to_numeric(known, errors="coerce").notna().sum() == known.notna().sum()
    )


def _plain(column: pd.Series) -> pd.Series:
    """A column without texts for truth values, decimal commas or missing values."""
    cells = [number_of_text(present(cell)) for cell in column]
    return pd.Series(cells, column.index, dtype=object)


def _long(frame: pd.DataFrame, metrics: Mapping[str, str]) -> Iterator[pd.DataFrame]:
    """The rows of each metric."""
    own = {name for name in frame if _OF_A_TOOL.fullmatch(str(name)) or name in metrics.values()}
    kept = frame[[name for name in frame if name not in own | {"reason"}]]
    for metric, column in metrics.items():
        tool = _OF_A_TOOL.fullmatch(column)
        more: dict[str, Any] = {"tool": tool[1]} if tool and "tool" not in frame else {}
        if tool and f"{tool[1]}.version" in frame:
            more["version"] = frame[f"{tool[1]}.version"]
        if f"{column}.reason" in frame:
            more["evidence"] = frame[f"{column}.reason"]
        yield kept.assign(metric=metric, value=frame[column], column=column, **more)


def _numbers(scores: pd.DataFrame) -> pd.Series:
    values = _plain(scores["value"])
    numbers = pd.to_numeric(values, errors="coerce").astype(float)
    odd = scores[numbers.isna() & values.notna()]
    if len(odd):
        raise InputError(
            f"{odd['metric'].iloc[0]} must be numbers, got {odd['value'].iloc[0]!r:.60} for the "
            f"example_id {odd['example_id'].iloc[0]}"
        )
    return numbers


def _signature(row: Mapping[str, Any], tool: str | None, version: str | None) -> str:
    if present(row.get("signature")):
        return str(row["signature"])
    name = str(row["column"])
    made_by = tool or present(row.get("tool")) or "unknown tool"
    number = version or present(row.get("version")) or ""
    parts = f"{made_by} {number}".strip(), name.removeprefix(f"{made_by}.")
    return "|".join(
        part.replace("|", "\\u007c")
        for part in ("foreign:" + parts[0], parts[1], "definition unknown")
    )
