"""Scores of other tools, as a frame for `ragnb.summarize` and `ragnb.compare`."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import present
from ragnb.columns import COLUMNS, CONDITION, PAYLOAD, list_of_texts, require_frame
from ragnb.datasets.cells import NUMBERS, numbers_in, with_trimmed_names
from ragnb.datasets.files import existing_file, several_files, stem
from ragnb.datasets.formats.registry import FORMATS
from ragnb.datasets.messages import advice_on_means, called, tell
from ragnb.datasets.orientation import one_row_per_item
from ragnb.datasets.reading import read_frame
from ragnb.datasets.renaming import mapped
from ragnb.datasets.responses import load_responses
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.scoring.scores import TEXT

# Name of a column with the scores of a tool, such as ``ragas.faithfulness``.
_OF_A_TOOL = re.compile(r"([A-Za-z]\w*)\.(.+)")
# Columns that come last in a frame of scores, in this order.
_LAST = ("metric", "value", "reason", "evidence", "signature")
# Names of columns that contain numbers and are no scores.
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
        with a reason, which a long table can contain in its column ``reason``. True and false are 1
        and 0. Scores that ragnb computed, in a file of
        `ragnb.write_table`, keep their signatures.

    Raises
    ------
    InputError
        There are no ids or no metrics, a column is missing, or a score is not a number.

    >>> table = pd.DataFrame({"example_id": ["q1"], "system": "a", "ragas.faithfulness": [0.75]})
    >>> load_scores(table, version="0.3")[["metric", "value", "signature"]].values.tolist()
    [['ragas.faithfulness', 0.75, 'foreign:ragas 0.3|faithfulness|definition unknown']]
    """
    sources = several_files(source)
    if sources:
        options: dict[str, Any] = {"metrics": metrics, "tool": tool, "version": version}
        options |= {"system": system, "decimal": decimal}
        frames = [load_scores(member, columns, **options) for member in sources]
        return _all_scores(frames, sources)
    content: Any = source
    file = existing_file(content) if isinstance(content, str | Path) else None
    table = _table_of(content, columns, decimal)
    frame = mapped(table, columns or {})
    if "example_id" not in frame:
        raise InputError(
            "load_scores found no column named example_id, which pairs the systems; the columns are "
            f"{', '.join(map(str, frame))}. Say which column has the ids or the questions: "
            f"columns={{'example_id': '...'}}.{advice_on_means(frame)}"
        )
    frame, notes = with_trimmed_names(frame, called(file))
    for note in notes:
        tell(f"{called(file)}: {note}")
    if system or "system" not in frame:
        name = "scores" if isinstance(source, pd.DataFrame) else stem(Path(content))
        frame["system"] = system or name
    is_long = {"metric", "value"} <= {*frame}
    if is_long:
        values = pd.Series(numbers_in(frame["value"], decimal), frame.index, dtype=object)
        # `column` has the name of the metric in the file, from which `_signature` is made. In a long table
        # this is the metric itself, and in a wide table the name of its column.
        scores = frame.assign(column=frame["metric"], value=values)
    else:
        scores = _long(frame, _metric_columns(frame, metrics, decimal), decimal)
    numbers = pd.to_numeric(scores["value"], errors="coerce").astype(float)
    not_numbers = scores[numbers.isna() & scores["value"].notna()]
    if len(not_numbers):
        row = not_numbers.iloc[0]
        raise InputError(
            f"{row['metric']} must be numbers, got {row['value']!r:.60} for the "
            f"example_id {row['example_id']}"
        )
    reasons = scores["reason"] if "reason" in scores else pd.Series(None, scores.index, object)
    reasons = reasons.where(reasons.notna(), "no score in the file")
    # Only a score that is missing needs a reason.
    reasons = reasons.where(numbers.isna(), None)
    signatures = [_signature(row, tool, version) for row in scores.to_dict("records")]
    scores = scores.assign(
        value=numbers,
        metric=pd.array(scores["metric"], TEXT),
        reason=pd.array(reasons, TEXT),
        signature=pd.array(signatures, TEXT),
    )
    last = [name for name in _LAST if name in scores]
    first = [name for name in scores if _identifies(scores[name])]
    return shown(scores[[*first, *last]])


def _identifies(column: pd.Series) -> bool:
    """Whether a column comes before the scores: it is no part of them, and has no long texts or lists."""
    if column.name in {*PAYLOAD, *_LAST, "column", "tool", "version"}:
        return False
    return not any(isinstance(cell, list | dict) for cell in column)


def _table_of(
    source: str | Path | pd.DataFrame, columns: Mapping[str, str] | None, decimal: str | None
) -> pd.DataFrame:
    """The table with the scores: the file or frame itself, or the responses of a tool's file.

    `load_responses` reads the files of tools, and returns their scores as columns.
    """
    content = source
    if isinstance(source, str | Path):
        file = existing_file(source)
        content = one_row_per_item(read_frame(file), file, columns)
    require_frame(content, "load_scores")
    # SQuAD's predictions contain no scores, and a table with one row of texts looks like them.
    candidates = [candidate for name, candidate in FORMATS.items() if name != "squad"]
    if any(candidate.recognises(content) for candidate in candidates):
        return load_responses(source, decimal=decimal)
    return content


def _all_scores(frames: Sequence[pd.DataFrame], sources: Sequence[Any]) -> pd.DataFrame:
    """The scores of several files as one frame; InputError if a score is in two files."""
    scores = pd.concat(frames, ignore_index=True)
    # Example, system and metric are in every frame of scores. The other conditions are optional.
    keys = [name for name in ("example_id", *CONDITION, "repeat", "metric") if name in scores]
    is_repeated = scores.duplicated(keys)
    if is_repeated.any():
        row = scores.loc[is_repeated.idxmax()]
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
    """Name of each metric -> its column. By default, these are columns of numbers."""
    if isinstance(metrics, Mapping):
        columns_of_metrics = dict(metrics)
    elif metrics:
        columns_of_metrics = {name: name for name in list_of_texts(metrics)}
    else:
        numeric = [name for name in frame if _is_numeric(frame[name], decimal)]
        # If some names begin with a tool, only these columns are scores.
        names = [name for name in numeric if _OF_A_TOOL.fullmatch(str(name))]
        names = names or [name for name in numeric if name not in _NO_METRIC]
        columns_of_metrics = {str(name): name for name in names}
    missing = [column for column in columns_of_metrics.values() if column not in frame]
    if missing or not columns_of_metrics:
        raise InputError(
            f"load_scores found no {missing[0] if missing else 'column of numbers'} among the columns "
            f"{', '.join(map(str, frame))}; name the columns of scores: metrics=[...], and convert "
            "texts to numbers first"
        )
    return columns_of_metrics


def _is_numeric(column: pd.Series, decimal: str | None) -> bool:
    """Whether a column has a cell, and all of its cells are numbers or texts that write numbers."""
    cells = pd.Series(numbers_in(column, decimal), dtype=object).dropna()
    return len(cells) > 0 and bool(pd.to_numeric(cells, errors="coerce").notna().all())


def _long(frame: pd.DataFrame, metrics: Mapping[str, str], decimal: str | None) -> pd.DataFrame:
    """Convert a table with one column per metric to one row per response and metric.

    Each row has the tool, its version and the reason that the tool gave, if the table has them.
    """
    # Columns that describe a response and not a score, so they are the same in the rows of all metrics.
    # A column "reason" is left out. In a wide table it does not say to which metric it belongs, and it
    # usually explains a score. In a frame of scores, it would say why a score is missing.
    left_out = {*metrics.values(), "reason"}
    of_responses = [
        name for name in frame if name not in left_out and not _OF_A_TOOL.fullmatch(str(name))
    ]
    parts = []
    for metric, column in metrics.items():
        values = numbers_in(frame[column], decimal)
        part = frame[of_responses].assign(metric=metric, value=values, column=column)
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
    """The signature of a score; that of ragnb if the row has one."""
    if present(row.get("signature")):
        return str(row["signature"])
    tool_name = tool or present(row.get("tool")) or "unknown tool"
    tool_version = version or present(row.get("version")) or ""
    metric = str(row["column"]).removeprefix(f"{tool_name}.")
    parts = [f"foreign:{tool_name} {tool_version}".strip(), metric, "definition unknown"]
    # A bar separates the parts of a signature.
    return "|".join(part.replace("|", "\\u007c") for part in parts)
