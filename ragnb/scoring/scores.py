"""Score responses: one row per response and metric."""

import inspect
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
import pandas as pd

from ragnb.arguments import accepts, convert
from ragnb.cells import as_lists, is_missing
from ragnb.columns import BLANK_REFERENCE, PAYLOAD, PLAIN_TEXT, require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.garbage import collection_paused
from ragnb.metrics.record import METRICS, Calls, Metric
from ragnb.metrics.rgb_protocols import reads_reasoning
from ragnb.replies import reasoning_apart, whole_replies
from ragnb.scoring.names import possible_metrics, suggestion
from ragnb.scoring.partitions import by_partition
from ragnb.suggestions import did_you_mean

# Columns read besides those of the metrics, for names of rows, signatures and reasons.
MARKS = (
    "example_id", "language", "template", "references_as", "reason", "reasoning", "judge_signature",
    BLANK_REFERENCE,
)  # fmt: skip

# The dtype of a column of texts, whatever the rows contain.
TEXT = pd.Series(["text"]).dtype


def as_metrics(metrics: str | Metric | Sequence[str | Metric]) -> list[Metric]:
    """Return the records of metrics, from their names or from records.

    A name may end in a cut-off, such as ``"retrieval.recall@5"``. A short name such as ``"f1"`` is
    enough if it means one metric. The messages of errors have no subject, because the caller puts the
    name of the argument in front.
    """
    chosen = []
    for metric in [metrics] if isinstance(metrics, str | Metric) else metrics:
        if not isinstance(metric, Metric):
            name, _, k = str(metric).partition("@")
            name = _full_name(name)
            is_known = name in METRICS
            # Only a metric of ranked lists has a cut-off.
            is_cutoff = is_known and k.isdecimal() and "k" in METRICS[name].options
            if not is_known or (k and not is_cutoff):
                raise InputError(
                    f"must be names of metrics or Metric records, got {metric!r}; "
                    f"{suggestion(name, METRICS)}"
                )
            metric = METRICS[name]
            if k:
                metric = replace(metric, options={**metric.options, "k": int(k)})
        chosen.append(metric)
    if not chosen:
        raise InputError(f"must be at least one metric; use some of {', '.join(METRICS)}")
    return chosen


def _full_name(name: str) -> str:
    """The full name that a short name means; an unknown name is returned as it is."""
    try:
        possible = possible_metrics(name)
    except InputError:
        return name
    if len(possible) > 1:
        raise InputError(
            f"must be unambiguous, but {name!r} can mean {', '.join(possible)}; use the full name"
        )
    # Some words mean no metric, such as a name that only other tools use.
    return possible[0] if possible else name


@accepts(explain=(False, True))
def score(
    responses: pd.DataFrame,
    metrics: str | Metric | Sequence[str | Metric],
    *,
    explain: bool = False,
    **options: Any,
) -> pd.DataFrame:
    """Score each response with each metric, and return one row for each pair.

    Parameters
    ----------
    responses
        One row per response, with the columns that the metrics need (see
        ``METRICS[name].columns``). A frame of pandas, or one of Dask or Spark, which is scored by
        its own engine. Reasoning in a response (in marks such as ``<think>…</think>``) is set apart
        before any metric reads it, see `ragnb.text.read_reasoning`. Only ``protocol="released"``
        reads it too, because the published code does.
    metrics
        Names in `METRICS`, `Metric` records of your own, or several of them. Short names such as
        ``"f1"`` and ``"em"`` are enough if they mean one metric. The name of a metric of
        ranked lists may end in its cut-off k: ``"retrieval.recall@5"``.
    explain
        Whether to add the column ``evidence``, which explains each value.
    **options
        Variants, such as ``protocol="paper"``. Each must be an option of at least one metric.

    Returns
    -------
    DataFrame
        The identifying columns of the responses (all but long texts, lists and mappings),
        ``metric``, ``value``, ``reason`` (why there is no value) and ``signature``. The signature
        names the definition of the value: metric, options, language, prompt, how lists of
        references were read (see `ragnb.load_responses`), the judge and its prompt, and
        ``reasoning:apart`` if the response contained reasoning that the metric did not read. It
        does not name the experiment; `experiment_signature` does. ``attrs`` are those of the
        responses. A response that is missing or contains only reasoning stays in the frame with the
        value nan and its reason. It never becomes 0. An empty text is an answer here, because
        `complete` and `ragnb.load_responses` return it only with ``keep_empty=True``; the metrics of
        refusals do not score it. If a reference in the file is blank, a metric that needs it has no
        value, except under ``variant="lbrag"``, which compares the response with an empty text as
        the published code does.

        For a Dask or Spark frame, the result is a lazy frame of the same kind, with the same rows
        as the pandas result. `summarize` and `compare` take pandas: pass ``scores.compute()`` or
        ``scores.toPandas()``. In Spark an unscored value is null.

    Raises
    ------
    InputError
        If a metric or an option is unknown, a column is missing, lists are written as texts (as in
        a CSV file that pandas read), or an ``example_id`` belongs to several questions. If a metric
        refuses a value, the message names its row. In a Dask or Spark frame, such values are found
        when the scores are computed.
    """
    chosen: list[Metric] = convert(metrics, as_metrics, "metrics")
    _refuse_unknown_options(chosen, options)
    columns = [column for metric in chosen for column in metric.columns.values()]
    read = {*MARKS, *columns, *(f"{column}_judge" for column in columns)}
    if not isinstance(responses, pd.DataFrame) and hasattr(responses, "columns"):
        scoring = partial(score, metrics=chosen, explain=explain, **options)
        return by_partition(responses, scoring, read)
    require_columns(responses, (), "score")
    responses = responses.reset_index(drop=True)
    _refuse_other_questions(responses)
    _refuse_spelled_lists(responses, read & (PAYLOAD - PLAIN_TEXT))
    without_reasoning, with_reasoning = reasoning_apart(responses), whole_replies(responses)
    identifying = [name for name in responses.columns if name not in PAYLOAD]
    requested: list[tuple[Metric, dict[str, Any]]] = []
    for metric in chosen:
        metric_options = {
            name: options.get(name, default) for name, default in metric.options.items()
        }
        requested.append((metric, metric_options))
    tables = {
        False: _Table(without_reasoning, requested),
        True: _Table(with_reasoning, requested),
    }
    scorings = []
    for metric, metric_options in requested:
        reads_all = reads_reasoning(metric_options.get("protocol"))
        scorings.append(_Scoring.of(metric, metric_options, tables[reads_all]))
    _compute_values(scorings)
    parts = [scoring.frame(explain, identifying) for scoring in scorings]
    scores = pd.concat(parts, ignore_index=True)
    scores.attrs = dict(responses.attrs)
    return shown(scores)


def _refuse_unknown_options(metrics: Sequence[Metric], options: Mapping[str, Any]) -> None:
    """Raise InputError if an option belongs to none of the metrics."""
    allowed = sorted({name for metric in metrics for name in metric.options})
    if unknown := sorted(set(options) - set(allowed)):
        raise InputError(
            f"options must be among those of the metrics ({', '.join(allowed) or 'none'}), got "
            f"{', '.join(unknown)}{did_you_mean(unknown[0], [*allowed, 'metrics', 'explain'])}"
        )


# Number of responses that all metrics score before the next ones.
_BLOCK = 2_000


class _Table:
    """Responses, with the cells of their columns, which are read once for all metrics.

    Parameters
    ----------
    responses
        The responses.
    requested
        The metrics of this call of `score`, with their options.
    """

    def __init__(
        self, responses: pd.DataFrame, requested: Sequence[tuple[Metric, Mapping[str, Any]]]
    ) -> None:
        self.responses = responses
        self.requested = requested
        self._cells: dict[str, list[Any]] = {}
        self._calls: dict[Any, tuple[Calls, list[int], dict[int, str]]] = {}

    def cells(self, column: str) -> list[Any]:
        """The cells of a column, with None for each that is missing; only None if there is no such column."""
        if column not in self._cells:
            if column not in self.responses:
                return [None] * len(self.responses)
            cells = self.responses[column].tolist()
            self._cells[column] = [None if is_missing(cell) else as_lists(cell) for cell in cells]
        return self._cells[column]

    @collection_paused()
    def calls(
        self, metric: Metric, needed: Mapping[str, str]
    ) -> tuple[Calls, list[int], dict[int, str]]:
        """Arguments of a metric for the responses that have all needed values.

        The other results are the rows of these responses, and for each other row the first needed
        column that has no value. Where a cell is missing that is not needed, the argument is the
        default of the metric.
        """
        parameters = inspect.signature(metric.function).parameters
        defaults = {}
        for argument in metric.columns:
            default = parameters[argument].default if argument in parameters else None
            defaults[argument] = None if default is inspect.Parameter.empty else default
        # Metrics with the same columns share their arguments. The key does not contain the defaults, so only
        # metrics without defaults other than None share them.
        is_shared = all(default is None for default in defaults.values())
        key = (tuple(metric.columns.items()), tuple(needed))
        if is_shared and key in self._calls:
            return self._calls[key]
        columns: dict[str, list[Any]] = {}
        for argument, column in metric.columns.items():
            default, cells = defaults[argument], self.cells(column)
            if default is not None:
                cells = [default if cell is None else cell for cell in cells]
            columns[argument] = cells
        gaps: dict[int, str] = {}
        for argument, column in needed.items():
            for row, cell in enumerate(columns[argument]):
                if cell is None:
                    gaps.setdefault(row, column)
        rows = [row for row in range(len(self.responses)) if row not in gaps]
        requested = [
            (other.name, options)
            for other, options in self.requested
            if other.columns == metric.columns
        ]
        arguments = ({name: cells[row] for name, cells in columns.items()} for row in rows)
        calls = Calls(arguments, requested)
        if is_shared:
            self._calls[key] = calls, rows, gaps
        return calls, rows, gaps


@dataclass(slots=True)
class _Scoring:
    """One metric of a call of `score`.

    `calls` are its arguments for the responses in `rows`. The other responses are in `gaps`, with the
    first needed column that has no value. `computed` has a value for each call.
    """

    metric: Metric
    options: Mapping[str, Any]
    table: _Table
    calls: Calls
    rows: list[int]
    gaps: dict[int, str]
    computed: list[float]

    @classmethod
    def of(cls, metric: Metric, options: Mapping[str, Any], table: _Table) -> Self:
        """Read the arguments of a metric from a table."""
        needed = {
            argument: column
            for argument, column in metric.columns.items()
            if metric.needs(argument, options)
        }
        require_columns(table.responses, needed.values(), f"the metric {metric.name}")
        if options.get("variant") == "lbrag":
            table = _Table(_with_blank_references(table.responses), table.requested)
        return cls(metric, options, table, *table.calls(metric, needed), [])

    def frame(self, explain: bool, columns: list[str]) -> pd.DataFrame:
        """The scores, next to `columns`, which identify the responses."""
        metric, options, responses = self.metric, self.options, self.table.responses
        values = np.full(len(responses), math.nan)
        values[self.rows] = np.array(self.computed, float)
        reasons: list[str | None] = [None] * len(responses)
        evidence = [""] * len(responses)
        file_reasons = self.table.cells("reason")
        for row, column in self.gaps.items():
            # The reason in the file, such as an error of the endpoint, says more than the gap.
            evidence[row] = f"no {column}"
            reasons[row] = file_reasons[row] or evidence[row]
        explained = metric.evidence if explain else None
        for row, call, value in zip(self.rows, self.calls, self.computed, strict=True):
            if math.isnan(value):
                reasons[row] = metric.why_undefined(**call, **options)
            if explained:
                evidence[row] = explained(**call, **options)
        columns_of_scores: dict[str, Any] = {
            "metric": f"{metric.name}@{options['k']}" if options.get("k") else metric.name,
            "value": values,
            "reason": pd.array(reasons, TEXT),
        }
        if explain:
            columns_of_scores["evidence"] = pd.array(evidence, TEXT)
        columns_of_scores["signature"] = pd.array(_signatures(self.table, metric, options), TEXT)
        return responses[columns].assign(**columns_of_scores)


def _compute_values(scorings: Sequence[_Scoring]) -> None:
    """Compute the values of all metrics. The rows without a gap differ between metrics."""
    one_by_one = []
    for scoring in scorings:
        if scoring.metric.of_many:
            scoring.computed = _values_of_many(scoring, scoring.metric.of_many)
        else:
            one_by_one.append(scoring)
    n_responses = max((len(scoring.table.responses) for scoring in scorings), default=0)
    # Metrics share normalised texts, and only the texts of the last responses are kept. So all metrics score a
    # block of responses before the next block.
    for end in range(_BLOCK, n_responses + _BLOCK, _BLOCK):
        for scoring in one_by_one:
            first = len(scoring.computed)
            after = bisect_left(scoring.rows, end)
            scoring.computed += _values_one_by_one(scoring, slice(first, after))


def _with_blank_references(responses: pd.DataFrame) -> pd.DataFrame:
    """The responses with an empty text for each blank reference, as in the code of LBRAG.

    `ragnb.load_responses` reads a blank reference as None and marks it in the column `BLANK_REFERENCE`.
    All other variants leave such a response unscored.
    """
    if not {BLANK_REFERENCE, "references"} <= set(responses):
        return responses
    is_blank = (
        responses[BLANK_REFERENCE].fillna(False).astype(bool) & responses["references"].isna()
    )
    references = responses["references"].astype(object).mask(is_blank, "")
    return responses.assign(references=references)


def _values_of_many(scoring: _Scoring, of_many: Callable[..., Sequence[float]]) -> list[float]:
    """Values of a metric that scores many responses at once."""
    with suppress(InputError):  # one by one, so that the message names the row
        return list(of_many(scoring.calls, **scoring.options))
    return _values_one_by_one(scoring, slice(None))


def _values_one_by_one(scoring: _Scoring, part: slice) -> list[float]:
    """Values of a part of the calls."""
    metric, options, responses = scoring.metric, scoring.options, scoring.table.responses
    return [
        _value(metric, {**call, **options}, responses, row)
        for row, call in zip(scoring.rows[part], scoring.calls[part], strict=True)
    ]


def _value(metric: Metric, call: Mapping[str, Any], responses: pd.DataFrame, row: int) -> float:
    """The value of one response; the message of an error begins with the metric and the row."""
    try:
        value = metric.function(**call)
        # The look at the type alone takes less time, and most metrics return a float.
        if type(value) is not float and not isinstance(value, Real):
            raise InputError(f"a metric must return a number, got {value!r:.60}")
        return value
    except InputError as error:
        name = f" ({responses['example_id'].iloc[row]})" if "example_id" in responses else ""
        raise InputError(f"{metric.name}, row {row}{name}: {error}") from error


def _signatures(table: _Table, metric: Metric, options: Mapping[str, Any]) -> list[str]:
    """The signature of the score of each response: metric, options, and marks of the response."""
    read = set(metric.columns.values())
    marks = {"references": "references_as"} if "references" in read else {}
    marks |= {"lang": "language", "prompt": "template"}
    # A metric reads the verdict of a judge if it needs it, or if an option such as refusal="judge" says so.
    verdicts = [name for name, column in metric.columns.items() if column.startswith("judged_")]
    needs_verdict = any(metric.needs(name, options) for name in verdicts)
    chooses_verdict = bool(verdicts) and "judge" in options.values()
    if needs_verdict or chooses_verdict:
        marks["judge"] = "judge_signature"
    for column in read:
        if f"{column}_judge" in table.responses:  # a judge, and not a person, labelled the parts
            marks["judge"] = f"{column}_judge"
    cells = {mark: table.cells(column) for mark, column in marks.items()}
    if "response" in read:
        texts = table.cells("reasoning")
        cells["reasoning"] = [None if text is None else "apart" for text in texts]
    # Most responses have the same marks, so there are few different signatures.
    rows = list(zip(*cells.values(), strict=True))
    signature_of_row = {
        row: metric.signature(options, **dict(zip(cells, row, strict=True)))
        for row in dict.fromkeys(rows)
    }
    return [signature_of_row[row] for row in rows]


# ---- mistakes in the responses -----------------------------------------------------------------


def _refuse_other_questions(responses: pd.DataFrame) -> None:
    """Raise InputError if two systems have different questions under one ``example_id``.

    Systems are paired by it. If a file has no ids, they are the numbers of its rows, which mean one
    question only if all files have the same order.
    """
    if not {"example_id", "question", "system"} <= set(responses):
        return
    if responses["system"].nunique() < 2:
        return
    without_id = responses["example_id"].isna()
    if without_id.any():
        raise InputError(
            f"example_id is missing in {without_id.sum()} of {len(responses)} rows, such as row "
            f"{without_id.idxmax()}. Systems are paired by it: drop these rows, or load the frame with "
            "ragnb.load_responses, which leaves out blank rows and gives ids"
        )
    keys = [name for name in ("example_id", "benchmark", "task", "language") if name in responses]
    texts = responses["question"].dropna().astype(str)
    distinct = responses[keys].loc[texts.index].assign(question=texts).drop_duplicates()
    # In most frames, this quick look shows that each id has one question.
    if not distinct.duplicated(keys).any():
        return
    # Questions that differ only in white space are the same.
    spaced = texts.str.split().str.join(" ")
    questions = responses.assign(question=spaced.replace("", None)).dropna(subset="question")
    n_questions = questions.groupby(keys, dropna=False)["question"].transform("nunique")
    ambiguous = questions[n_questions > 1].groupby(keys, dropna=False)
    for (example, *_), rows in ambiguous:
        first, second = rows["question"].unique()[:2]
        raise InputError(
            f"example_id {example} is the id of two different questions, {first!r:.60} and "
            f"{second!r:.60} ({ambiguous.ngroups} ids have this problem). If "
            "the files have a column of ids, name it: columns={'example_id': 'NAME'}, or --columns "
            "example_id=NAME on the command line. If not, use the questions as ids: name their column "
            "for both example_id and question."
        )


def _refuse_spelled_lists(responses: pd.DataFrame, columns: Iterable[str]) -> None:
    """Raise InputError if a column contains texts that spell lists, which would count as one text."""
    for name in sorted(set(columns) & set(responses)):
        texts = responses[name].dropna()
        are_spelled = [isinstance(text, str) and text[:1] + text[-1:] == "[]" for text in texts]
        if are_spelled and all(are_spelled):
            raise InputError(
                f"score needs lists in the column {name}, got lists written as texts "
                f"({texts.iloc[0]!r:.60}); load the file with ragnb.load_responses, which converts "
                "them; with Dask, first set dataframe.convert-string to False"
            )
