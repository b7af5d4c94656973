"""What a report on a judge reads: its verdicts or scores, the label, the annotators' labels, and what is independent."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ragnb.arguments import Floats, Integers, convert
from ragnb.errors import InputError, as_real
from ragnb.records import CONDITION, one_column, require_columns
from ragnb.results import Interval
from ragnb.scoring.columns import numbers
from ragnb.version import __version__


@dataclass(frozen=True, slots=True)
class Judged:
    """Responses with their labels as columns of numbers, nan where there is none.

    Attributes
    ----------
    frame
        The responses.
    label
        Name of the column of settled labels.
    labels
        Its values: 1, 0 or nan.
    scores
        Each judge's values, in [0, 1] or nan.
    annotators
        Each annotator's labels.
    unit
        Name of the column whose values are the independent units.
    units
        The unit of each response, as numbers; None where every response has one of its own.
    threshold
        A score from here on is a yes.
    level
        Confidence level of the intervals.
    """

    frame: pd.DataFrame
    label: str
    labels: Floats
    scores: dict[str, Floats]
    annotators: dict[str, Floats]
    unit: str | None
    units: Integers | None
    threshold: float
    level: float

    def verdicts(self, judge: str) -> Floats:
        """1 where the judge's score reaches the threshold, 0 below, nan where there is none."""
        scores = self.scores[judge]
        return np.where(np.isnan(scores), np.nan, scores >= self.threshold)

    def gives_scores(self, judge: str) -> bool:
        """Whether a judge says more than 0 and 1."""
        scores = self.scores[judge]
        return not np.isin(scores[~np.isnan(scores)], (0, 1)).all()

    def units_of(self, kept: NDArray[np.bool_]) -> Integers | None:
        """The units of some responses."""
        return None if self.units is None else self.units[kept]

    def signature(self, judge: str) -> str:
        """One line that pins the values of a judge: version, columns and threshold."""
        cut = f"|threshold:{self.threshold:g}" if self.gives_scores(judge) else ""
        return f"ragnb:{__version__}|judge:{judge}|label:{self.label}{cut}"


def read_judged(
    frame: pd.DataFrame,
    judges: Sequence[str],
    annotators: Sequence[str],
    label: str,
    clusters: str | None,
    threshold: float,
    level: float,
) -> Judged:
    """The columns that a report needs, checked.

    Raises
    ------
    InputError
        A missing column, a value that does not belong, no label at all, a doubled response, or a response without cluster.
    """
    if not isinstance(label, str):
        raise InputError(
            f"judge_report(label=...) needs the name of a column; got {label!r:.60}; name it"
        )
    unit = one_column(clusters, "judge_report(clusters=...)")
    named = [*judges, *annotators, label, *unit]
    require_columns(frame, list(dict.fromkeys(named)), "judge_report")
    _check_names(judges, annotators, label)
    if not 0 < as_real(threshold) <= 1:
        raise InputError(
            f"judge_report(threshold=...) needs a score above 0 and up to 1; got {threshold!r}; 0.5 is usual"
        )
    labels = _labels(frame, label)
    if np.isnan(labels).all():
        raise InputError(
            f"judge_report needs labels; got none in {label} on {len(frame)} responses; label some of them"
        )
    _refuse_doubles(frame)
    return Judged(
        frame=frame.reset_index(drop=True),
        label=label,
        labels=labels,
        scores={judge: _scores(frame, judge) for judge in judges},
        annotators={name: _labels(frame, name) for name in annotators},
        unit=clusters,
        units=_units(frame, clusters),
        threshold=float(threshold),
        level=convert(level, "level", "confidence_level"),
    )


def interval_columns(found: Interval) -> dict[str, Any]:
    """An interval as columns of a frame of summaries."""
    return found.columns() | {"interval": kind_of(found.method), "n_units": found.n}


def kind_of(method: str) -> str:
    """The name of an interval without the number of its clusters, which has a column of its own.

    >>> kind_of("cluster-robust t, 80 clusters"), kind_of("Wilson")
    ('cluster-robust t', 'Wilson')
    """
    return re.sub(r", \d+ clusters", "", method)


def _check_names(judges: Sequence[str], annotators: Sequence[str], label: str) -> None:
    if not judges or len(set(judges)) < len(judges) or len(set(annotators)) < len(annotators):
        raise InputError(
            f"judge_report needs one judge or more and each column once; got judges {list(judges)} and annotators "
            f"{list(annotators)}; name each once"
        )
    if own := set(judges) & {label, *annotators}:
        raise InputError(
            f"judge_report needs a judge beside people's labels; got {', '.join(own)} as both; name another"
        )


def _numbers(frame: pd.DataFrame, column: str) -> Floats:
    """A column as floats, nan where nothing is; text is refused, even such as reads as a number."""
    if text := [value for value in frame[column] if isinstance(value, str)]:
        raise InputError(
            f"judge_report needs numbers in {column}; got {text[0]!r:.60}; map it to 1, 0 or nan"
        )
    return numbers(frame, column, "judge_report")


def _labels(frame: pd.DataFrame, column: str) -> Floats:
    values = _numbers(frame, column)
    odd = values[~np.isnan(values) & ~np.isin(values, (0, 1))]
    if odd.size:
        raise InputError(
            f"judge_report needs labels of 1, 0 or nan in {column}; got {odd[0]:g}; map yours to these"
        )
    return values


def _scores(frame: pd.DataFrame, column: str) -> Floats:
    values = _numbers(frame, column)
    odd = values[(values < 0) | (values > 1)]
    if odd.size:
        raise InputError(
            f"judge_report needs verdicts or scores in [0, 1] in {column}; got {odd[0]:g}; rescale them"
        )
    return values


def _refuse_doubles(frame: pd.DataFrame) -> None:
    keys = [name for name in ("example_id", *CONDITION, "repeat", "model") if name in frame]
    if "example_id" not in keys:
        return
    doubled = pd.DataFrame({name: _codes(frame, name)[0] for name in keys}).duplicated().to_numpy()
    if doubled.any():
        raise InputError(
            f"judge_report needs one row a response; got {int(doubled.sum())} more with the same {', '.join(keys)} (such as "
            f"{frame.loc[doubled, 'example_id'].iloc[0]}); put each annotator's labels in a column of their own, drop the "
            "rows, or add the column that tells them apart (such as repeat)"
        )


def _units(frame: pd.DataFrame, clusters: str | None) -> Integers | None:
    """Codes of the clusters; None where none holds two responses."""
    if clusters is None:
        return None
    codes, names = _codes(frame, clusters)
    if (codes < 0).any():
        raise InputError(
            f"judge_report(clusters={clusters!r}) needs a cluster for each response; got {int((codes < 0).sum())} without; "
            "mend them, or pass clusters=None"
        )
    return codes if len(names) < len(codes) else None


def _codes(frame: pd.DataFrame, column: str) -> tuple[Integers, pd.Index]:
    """The values of a column by number, and the values; -1 where nothing is."""
    try:
        codes, names = pd.factorize(frame[column])
    except TypeError as error:
        raise InputError(
            f"judge_report needs values that can be told apart in {column}; got {error!s:.60}; write each as a text"
        ) from error
    return codes.astype(np.int64), names
