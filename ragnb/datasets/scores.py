"""Scores of other tools, as a frame for `ragnb.summarize` and `ragnb.compare`."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import present
from ragnb.columns import COLUMNS, CONDITION, PAYLOAD, column_names, require_columns
from ragnb.datasets.cells import NUMBERS, numbers_in, with_names
from ragnb.datasets.files import existing_file, several_files, stem
from ragnb.datasets.formats.registry import FORMATS
from ragnb.datasets.messages import called, tell
from ragnb.datasets.orientation import one_row_per_item
from ragnb.datasets.reading import read_frame
from ragnb.datasets.renaming import mapped
from ragnb.datasets.responses import load_responses
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.scoring.scores import TEXT

# The column of a tool's metric, ``ragas.faithfulness``.
_OF_A_TOOL = re.compile(r"([A-Za-z]\w*)\.(.+)")
_NO_METRIC = {*COLUMNS, *CONDITION, *NUMBERS, "repeat", "index"}


@accepts(decimal=(",", "."))
def load_scores(
    source: str | Path | pd.DataFrame | Sequence[str | Path | pd.DataFrame],
    columns: Mapping[str, str] | None = None,
    *,
    metrics: str | Sequence[str] | Mapping[str, str] | None = None,
    tool: str | None = None,
    version: str | None = None,
    system: str | None = None,
    decimal: str | None = None,
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
        row per response and metric and the columns ``metric`` and ``value``. A list of these, or a
        pattern such as ``"ragas_*.csv"``, gives the scores of all of them.
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
    decimal
        The decimal mark of numbers in CSV and Excel, ``","`` or ``"."``, as for
        `ragnb.load_responses`.

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
    sources = several_files(source)
    if sources:
        options: dict[str, Any] = {"metrics": metrics, "tool": tool, "version": version}
        options |= {"system": system, "decimal": decimal}
        return _joined([load_scores(one, columns, **options) for one in sources], sources)
    given: Any = source
    file = existing_file(given) if isinstance(given, str | Path) else None
    table = _table(given, columns, decimal)
    frame = mapped(table, columns or {})
    if "example_id" not in frame:
        raise InputError(
            "load_scores found no column named example_id, which pairs the systems; the columns are "
            f"{', '.join(map(str, frame))}. Say which column has the ids or the questions: "
            "columns={'example_id': '...'}"
        )
    frame, notes = with_names(frame, called(file))
    for note in notes:
        tell(f"{called(file)}: {note}")
    if system or "system" not in frame:
        name = "scores" if isinstance(source, pd.DataFrame) else stem(Path(given))
        frame["system"] = system or name
    if {"metric", "value"} <= {*frame}:
        values = pd.Series(numbers_in(frame["value"], decimal), frame.index, dtype=object)
        scores = frame.assign(column=frame["metric"], value=values)
    else:
        scores = _long(frame, _metric_columns(frame, metrics, decimal), decimal)
    numbers = pd.to_numeric(scores["value"], errors="coerce").astype(float)
    odd = scores[numbers.isna() & scores["value"].notna()]
    if len(odd):
        raise InputError(
            f"{odd['metric'].iloc[0]} must be numbers, got {odd['value'].iloc[0]!r:.60} for the "
            f"example_id {odd['example_id'].iloc[0]}"
        )
    given = scores["reason"] if "reason" in scores else pd.Series(None, scores.index, object)
    texts = {
        "metric": scores["metric"],
        "reason": given.where(given.notna(), "no score in the file").where(numbers.isna(), None),
        "signature": [_signature(row, tool, version) for row in scores.to_dict("records")],
    }
    scores = scores.assign(
        value=numbers, **{name: pd.array(cells, TEXT) for name, cells in texts.items()}
    )
    last = ("metric", "value", "reason", "evidence", "signature")
    first = [
        name
        for name in scores
        if name not in {*PAYLOAD, *last, "column", "tool", "version"}
        and not any(isinstance(cell, list | dict) for cell in scores[name])
    ]
    return shown(scores[[*first, *(name for name in last if name in scores)]])


def _table(
    source: str | Path | pd.DataFrame, columns: Mapping[str, str] | None, decimal: str | None
) -> pd.DataFrame:
    """The table as it is, or the responses and scores of a tool's file."""
    content = source
    if isinstance(source, str | Path):
        file = existing_file(source)
        content = one_row_per_item(read_frame(file), file, columns)
    require_columns(content, (), "load_scores")
    # SQuAD's predictions contain no scores, and a table with one row of texts looks like them.
    with_scores = [one for name, one in FORMATS.items() if name != "squad"]
    if any(one.recognises(content) for one in with_scores):
        return load_responses(source, decimal=decimal)
    return content


def _joined(frames: Sequence[pd.DataFrame], sources: Sequence[Any]) -> pd.DataFrame:
    """The scores of several files as one frame; no score may be in two files."""
    scores = pd.concat(frames, ignore_index=True)
    keys = [name for name in ("example_id", *CONDITION, "repeat", "metric") if name in scores]
    twice = scores.duplicated(keys)
    if twice.any():
        row = scores.loc[twice.idxmax()]
        raise InputError(
            f"two of the {len(sources)} files have {row['metric']} of {row['system']} for "
            f"{row['example_id']}; load each file with its own system=, and join the frames with "
            "pandas.concat"
        )
    return shown(scores)


def _metric_columns(
    frame: pd.DataFrame,
    metrics: str | Sequence[str] | Mapping[str, str] | None,
    decimal: str | None,
) -> dict[str, str]:
    """Name of each metric -> its column."""
    if isinstance(metrics, Mapping):
        chosen = dict(metrics)
    elif metrics:
        chosen = {name: name for name in column_names(metrics)}
    else:
        numeric = [name for name in frame if _is_numeric(frame[name], decimal)]
        found = [name for name in numeric if _OF_A_TOOL.fullmatch(str(name))]
        found = found or [name for name in numeric if name not in _NO_METRIC]
        chosen = {str(name): name for name in found}
    missing = [column for column in chosen.values() if column not in frame]
    if missing or not chosen:
        raise InputError(
            f"load_scores found no {missing[0] if missing else 'column of numbers'} among the columns "
            f"{', '.join(map(str, frame))}; name the columns of scores: metrics=[...], and convert "
            "texts to numbers first"
        )
    return chosen


def _is_numeric(column: pd.Series, decimal: str | None) -> bool:
    cells = pd.Series(numbers_in(column, decimal), dtype=object).dropna()
    return len(cells) > 0 and bool(pd.to_numeric(cells, errors="coerce").notna().all())


def _long(frame: pd.DataFrame, metrics: Mapping[str, str], decimal: str | None) -> pd.DataFrame:
    """The rows of each metric, with its tool, its version and the reasons that the tool gave."""
    own = {name for name in frame if _OF_A_TOOL.fullmatch(str(name)) or name in metrics.values()}
    kept = frame[[name for name in frame if name not in own | {"reason"}]]
    parts = []
    for metric, column in metrics.items():
        part = kept.assign(metric=metric, value=numbers_in(frame[column], decimal), column=column)
        tool = _OF_A_TOOL.fullmatch(column)
        if tool and "tool" not in frame:
            part["tool"] = tool[1]
        if tool and f"{tool[1]}.version" in frame:
            part["version"] = frame[f"{tool[1]}.version"]
        if f"{column}.reason" in frame:
            part["evidence"] = frame[f"{column}.reason"]
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _signature(row: Mapping[str, Any], tool: str | None, version: str | None) -> str:
    if present(row.get("signature")):
        return str(row["signature"])
    made_by = tool or present(row.get("tool")) or "unknown tool"
    number = version or present(row.get("version")) or ""
    metric = str(row["column"]).removeprefix(f"{made_by}.")
    parts = f"foreign:{made_by} {number}".strip(), metric, "definition unknown"
    return "|".join(part.replace("|", "\\u007c") for part in parts)
