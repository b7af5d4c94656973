"""The seven metrics in the form of LBRAG's code: summary lines, ``metrics.json`` and mean ± standard deviation.

LBRAG (kanoes/LBRAG-NEW, experiments/scripts/experiment.py) prints one line per system and writes one
object per system. Both contain the mean and the standard deviation of the sample (n - 1) of each metric.
A standard deviation describes how much single answers vary. It is not the uncertainty of the mean,
which the intervals of a `ragnb.multilingual_report` describe.
"""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ragnb.arguments import accepts
from ragnb.display import MISSING, shown
from ragnb.errors import InputError
from ragnb.scoring.bridges import CNBE, COST, F1

SIMILARITY = "semantic.judged_similarity"


class PublishedMetric(NamedTuple):
    """One of the seven metrics as LBRAG publishes it.

    Attributes
    ----------
    key
        Its key in ``metrics.json``.
    label
        Its name in the summary lines.
    decimals
        The number of decimals with which it is printed.
    metric
        Its name in ragnb.
    """

    key: str
    label: str
    decimals: int
    metric: str


# In the order in which LBRAG prints and writes them.
SEVEN_METRICS = (
    PublishedMetric("em", "EM", 3, "answer.exact_match"),
    PublishedMetric("f1", "F1", 3, F1),
    PublishedMetric("rlc", "RLC", 3, "language.rlc"),
    PublishedMetric("rlc_ok", "RLC_OK", 3, "language.rlc_ok"),
    PublishedMetric("cost", "Cost", 1, COST),
    PublishedMetric("cnbe", "CNBE", 5, CNBE.name),
    PublishedMetric("semantic_score", "Sem", 3, SIMILARITY),
)
# The summary lines of LBRAG leave this metric out.
NOT_IN_SUMMARY_LINES = "RLC_OK"


def mean_and_std(mean: float, std: float, decimals: int) -> str:
    """Format a mean and a standard deviation as LBRAG does.

    A missing mean is a dash, and a standard deviation that does not exist is left out.

    >>> mean_and_std(0.1, 0.302, 3), mean_and_std(29.8, float("nan"), 1), mean_and_std(float("nan"), 0, 3)
    ('0.100±0.302', '29.8', '–')
    """
    if math.isnan(mean):
        return MISSING
    if math.isnan(std):
        return f"{mean:.{decimals}f}"
    return f"{mean:.{decimals}f}±{std:.{decimals}f}"


@accepts()
def summary_lines(table: pd.DataFrame) -> list[str]:
    """One line per system with the mean and the standard deviation of each metric except RLC_OK.

    Parameters
    ----------
    table
        ``ragnb.multilingual_report(...).table``, or the result of `load_metrics_json`: ``system,
        metric, mean, std``.

    Examples
    --------
    >>> table = pd.DataFrame({"system": "lbrag", "metric": ["answer.f1"], "mean": [0.289], "std": [0.341]})
    >>> summary_lines(table)
    ['lbrag    | EM=– | F1=0.289±0.341 | RLC=– | Cost=– | CNBE=– | Sem=–']
    """
    lines = []
    for system, values in _by_system(table).items():
        # LBRAG pads the names of the systems to 8 characters.
        pieces = [f"{system:8s}"]
        for published in SEVEN_METRICS:
            if published.label == NOT_IN_SUMMARY_LINES:
                continue
            mean, std = values[published.metric]
            pieces.append(f"{published.label}={mean_and_std(mean, std, published.decimals)}")
        lines.append(" | ".join(pieces))
    return lines


@accepts()
def overview(table: pd.DataFrame) -> pd.DataFrame:
    """One row per system and one column per metric, each cell with mean ± standard deviation.

    Parameters
    ----------
    table
        As for `summary_lines`.
    """
    rows = []
    for system, values in _by_system(table).items():
        row = {"system": system}
        for published in SEVEN_METRICS:
            mean, std = values[published.metric]
            cell = mean_and_std(mean, std, published.decimals)
            row[published.label] = cell.replace("±", " ± ")
        rows.append(row)
    # The frame is returned without `shown`, which leaves columns out where a line of the printed table is too long.
    # Here no metric may be missing.
    return pd.DataFrame(rows).set_index("system")


def metrics_content(table: pd.DataFrame) -> dict[str, dict[str, dict[str, float | None]]]:
    """The content of ``metrics.json``: under ``metrics``, one object per system with ``em, em_std, …, n``.

    A value that does not exist is None. ``n`` is the number of responses.
    """
    # A metric that was not requested has n = 0, so the largest n is the number of responses.
    counts = table.groupby(table["system"].map(str), sort=False)["n"].max()
    systems: dict[str, dict[str, float | None]] = {}
    for system, values in _by_system(table).items():
        entry: dict[str, float | None] = {}
        for published in SEVEN_METRICS:
            mean, std = values[published.metric]
            entry[published.key] = _json_number(mean)
            entry[f"{published.key}_std"] = _json_number(std)
        entry["n"] = _json_number(float(counts[system]))
        systems[system] = entry
    return {"metrics": systems}


@accepts()
def write_metrics_json(table: pd.DataFrame, path: str | Path) -> Path:
    """Write ``metrics.json`` as LBRAG does, and return its path.

    The file is indented by two spaces, its values have all digits, and a value that does not exist is null.

    Parameters
    ----------
    table
        The metrics, as `ragnb.reports.lbrag_table` returns them.
    path
        The file to write.
    """
    target = Path(path).expanduser()
    if target.suffix != ".json":
        raise InputError(f"the file of the metrics must end in .json, got {target.name!r}")
    target.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(metrics_content(table), indent=2, ensure_ascii=False)
    target.write_text(text + "\n", encoding="utf-8")
    return target


@accepts(path="path")
def load_metrics_json(path: str | Path) -> pd.DataFrame:
    """Load a ``metrics.json`` of LBRAG, or one that `write_metrics_json` wrote.

    Parameters
    ----------
    path
        The file. LBRAG writes the systems under the key ``metrics``, next to details of the run. A file
        with the systems alone is read, too.

    Returns
    -------
    DataFrame
        One row per system and metric: ``system, metric, mean, std, n``. The metrics have ragnb's names, so
        the table can be merged with that of a `ragnb.multilingual_report` on ``system`` and ``metric``.

    Raises
    ------
    InputError
        The file does not exist or is not JSON, a system is not an object, none of its keys is one of the
        seven metrics, or a value is not a number.
    """
    file = Path(path).expanduser()
    if not os.path.isfile(file):
        raise InputError(f"the file {str(path)!r} does not exist")
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file.name} must be a JSON object ({error})") from error
    return _published_table(content, file.name)


def _published_table(content: Any, file_name: str) -> pd.DataFrame:
    """The table of a ``metrics.json``, after a check of its content.

    `content` is what the JSON contains. `file_name` is for messages.
    """
    # The systems are under the key "metrics", or the file contains nothing else.
    systems = content.get("metrics", content) if isinstance(content, Mapping) else None
    if not isinstance(systems, Mapping) or not systems:
        raise InputError(f"{file_name} must contain an object per system, got {content!r:.60}")
    metric_keys = [published.key for published in SEVEN_METRICS]
    rows = []
    for system, entry in systems.items():
        # An entry that is no object has no keys, so it is refused.
        keys = set(entry) if isinstance(entry, Mapping) else set()
        if keys.isdisjoint(metric_keys):
            raise InputError(
                f"{file_name}: {system!r} must be an object with at least one of "
                f"{', '.join(metric_keys)}, got {entry!r:.60}"
            )
        for published in SEVEN_METRICS:
            if published.key not in entry:
                continue
            # The keys of the mean, of the standard deviation and of the number of responses.
            names = (published.key, f"{published.key}_std", "n")
            numbers = [_number_of(entry.get(name), name, system, file_name) for name in names]
            rows.append([system, published.metric, *numbers])
    table = pd.DataFrame(rows, columns=["system", "metric", "mean", "std", "n"])
    # A file that another program wrote may lack n, which is then nan, and no whole number.
    if table["n"].notna().all() and (table["n"] % 1 == 0).all():
        table = table.astype({"n": int})
    return shown(table)


def _by_system(table: pd.DataFrame) -> dict[str, dict[str, tuple[float, float]]]:
    """Name of each system -> metric -> its mean and standard deviation, for the seven metrics.

    Both are nan for a metric that is not in the table. Names are texts, as in JSON.
    """
    missing = {published.metric: (math.nan, math.nan) for published in SEVEN_METRICS}
    systems: dict[str, dict[str, tuple[float, float]]] = {}
    columns = zip(table["system"], table["metric"], table["mean"], table["std"], strict=True)
    for system, metric, mean, std in columns:
        values = systems.setdefault(str(system), dict(missing))
        values[metric] = (float(mean), float(std))
    return systems


def _json_number(value: float) -> float | None:
    """A number, or None for nan, which JSON lacks."""
    return None if math.isnan(value) else value


def _number_of(value: Any, name: str, system: str, file_name: str) -> float:
    """A value of ``metrics.json`` as a number, with nan for null; InputError if it is neither."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{file_name}: {name} of {system!r} must be a number, got {value!r:.60}")
    return float(value)
