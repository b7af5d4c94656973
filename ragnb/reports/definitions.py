"""The same responses under several definitions of one metric, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ragnb.arguments import accepts, convert
from ragnb.columns import CONDITION, column_names, list_of_texts, require_frame
from ragnb.errors import InputError
from ragnb.metrics.record import Metric
from ragnb.numbers import percent
from ragnb.reports.frames import Report, TablesAndLines, with_counts
from ragnb.reports.sensitivity import Sensitivity, sensitivity
from ragnb.scoring.columns import conversations
from ragnb.scoring.comparisons import compare
from ragnb.scoring.scores import as_metrics, score
from ragnb.scoring.summaries import summarize

# What a user passes as definitions: values of the main option, or a mapping from names to options.
Chosen = str | Sequence[str] | Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, repr=False)
class DefinitionComparison(Report):
    """Values of one metric under several definitions. It prints as tables.

    `ragnb.view` shows the responses in ``differing`` one by one, and `ragnb.plot` draws ``rates``.

    Attributes
    ----------
    metric
        Name of the metric.
    definitions
        Name of each definition -> the options that select it.
    rates
        One row for each cell and definition, with the columns of `ragnb.summarize` and, for a
        metric of 0 and 1, ``count``: the number of responses with the value 1.
    differences
        One row for each cell and pair of definitions, with the columns of `ragnb.compare`.
        ``difference`` is the mean of ``definition`` minus that of ``baseline``, on the responses
        that both score. ``n_dropped`` counts the others.
    differing
        The responses on which at least two definitions have different values, or only some have
        one. All columns of the responses, and for each definition its value under its name, and
        ``NAME: evidence``, which says what decided the value, if the metric has evidence.
    scores
        The values behind it, as `ragnb.score` returns them, with the column ``definition``.
    left_out
        Name of each definition that cannot score these responses -> why.
    """

    metric: str
    definitions: Mapping[str, Mapping[str, Any]]
    rates: pd.DataFrame
    differences: pd.DataFrame
    differing: pd.DataFrame
    scores: pd.DataFrame
    left_out: Mapping[str, str]

    def _tables_and_lines(self) -> TablesAndLines:
        # The columns before the metric are those of the cells.
        columns = list(self.differences.columns)
        cells = columns[: columns.index("metric")]
        names_and_difference = [
            "definition",
            "baseline",
            "n_pairs",
            "n_dropped",
            "difference",
            "low",
            "high",
        ]
        test = ["p_value", "p_adjusted", "test"]
        evidence = [name for name in self.differing if str(name).endswith(": evidence")]
        identifying = [name for name in ("example_id", "system") if name in self.differing]
        rates = self.rates.drop(columns="metric")
        first_responses = self.differing[[*identifying, *self.definitions, *evidence]].head(5)
        n_responses = self.scores["response_number"].nunique()
        level = percent(self.rates["confidence_level"].iloc[0])
        tables = {
            f"{self.metric} under {len(self.definitions)} definitions": rates,
            "Paired differences": self.differences[[*cells, *names_and_difference, *test]],
            f"The first of {len(self.differing)} responses on which they differ": first_responses,
        }
        line = (
            f"{len(self.differing)} of {n_responses} responses have different values; {level} "
            "intervals. Differences are over the responses that both definitions score."
        )
        lines_on_gaps = [f"Left out: {why}" for why in self.left_out.values()]
        return tables, [line, *lines_on_gaps]


@accepts(confidence_level="level", by=column_names)
def compare_definitions(
    responses: pd.DataFrame,
    metric: str | Metric | Sequence[str | Metric] | None = None,
    definitions: Chosen | None = None,
    *,
    by: str | Sequence[str] | None = None,
    cluster: str | None = None,
    confidence_level: float = 0.95,
    progress: bool = True,
    **options: Any,
) -> DefinitionComparison | Sensitivity:
    """Score the same responses under several definitions, and compare the values.

    With one metric, its definitions are compared with each other. Without a metric, or with several,
    systems are compared under all definitions, and the result says which conclusions are robust.

    Parameters
    ----------
    responses
        As for `ragnb.score`.
    metric
        The name of a metric that has several definitions, such as ``"rgb.accuracy"`` or
        ``"answer.f1"``. By default all metrics that measure whether an answer is right and can score
        these responses, among them verdicts of people and of judges; or a list of metrics.
    definitions
        Values of the metric's option ``protocol`` or ``variant``, such as ``["paper", "flexible"]``.
        By default all of them, except those that cannot score these responses (``"mlqa"`` covers
        only some languages). Or a mapping from your own names to options:
        ``{"phrase": {"protocol": "paper"}, "judge": {"refusal": "judge"}}``. Only with one metric.
    by
        Columns that divide the responses into cells, such as ``["system", "noise_rate"]``. By
        default the columns of conditions that vary. Only with one metric.
    cluster
        Column of the independent units, such as ``question_id``. By default, the conversation if any
        has several turns; otherwise the question if it occurs several times in a cell.
    confidence_level
        Confidence level of the intervals, in (0, 1).
    progress
        Whether to show a progress bar if there are many definitions.
    **options
        Other options of the metrics, which all definitions share.

    Returns
    -------
    DefinitionComparison
        With one metric: counts and rates under each definition, paired differences, and the
        responses on which the definitions differ. Two definitions are compared on the same
        responses, so a difference shows the effect of the definition, and says nothing about
        systems.
    Sensitivity
        Without a metric, or with several: for each pair of systems, whether one is better under all
        metrics or on which property of the metrics this depends, with the ranks of the systems, all
        differences, and the responses that are right under one metric and wrong under another one.
        The variants of one metric count as one: a system is better under a metric if the interval of
        the difference excludes 0 under all its variants. This is a sensitivity analysis, neither a
        vote nor a menu.

    Raises
    ------
    InputError
        The metric is unknown or has one definition only, a definition is unknown, or `ragnb.score`
        raises an InputError. Without a metric: there are fewer than two systems, or no metric can
        score the responses.

    >>> texts = ["Oslo.", "I cannot answer: insufficient information in documents. Oslo?"]
    >>> frame = pd.DataFrame({"example_id": ["1", "2"], "response": texts, "references": "Oslo"})
    >>> compared = compare_definitions(frame, "rgb.accuracy", ["paper", "flexible"])
    >>> compared.rates[["definition", "count", "mean"]].values.tolist()
    [['paper', 1, 0.5], ['flexible', 2, 1.0]]
    >>> compared.differing["paper: evidence"].tolist()
    ["refusal: 'insufficient information'"]
    """
    require_frame(responses, "compare_definitions")
    if metric is None or not isinstance(metric, str | Metric):
        if definitions is not None or by is not None:
            option = "definitions" if definitions is not None else "by"
            raise InputError(f"compare_definitions takes {option}= only with one metric")
        return sensitivity(
            responses,
            metric,
            cluster=cluster,
            confidence_level=confidence_level,
            progress=progress,
            options=options,
        )
    metric_record = convert(metric, as_metrics, "metric")[0]
    options_by_definition = _definitions(metric_record, definitions)
    # `score` and `summarize` need a system and an id, which responses of a single system may lack.
    frame = responses.reset_index(drop=True).assign(response_number=range(len(responses)))
    if "system" not in frame:
        frame["system"] = "responses"
    if "example_id" not in frame:
        frame["example_id"] = frame["response_number"]
    scores_by_definition, left_out = _scores_and_left_out(
        frame,
        metric_record,
        options_by_definition,
        options,
        were_chosen=definitions is not None,
    )
    scores = pd.concat(scores_by_definition.values())
    # The index is that of the responses. A stable sort puts the definitions of one response next to
    # each other, in the order of the definitions.
    scores = scores.sort_index(kind="stable").reset_index(drop=True)
    if by is None:
        conditions = [name for name in CONDITION if name in frame]
        by = [name for name in conditions if frame[name].nunique(dropna=False) > 1]
    cells = list(by)
    # Scores of one unit are not independent. Without repeats, each score is a unit of its own.
    unit = cluster or conversations(scores)
    if unit is None and frame.duplicated([*cells, "example_id"]).any():
        unit = "example_id"
    rates = summarize(
        scores, by=[*cells, "definition"], cluster=unit, confidence_level=confidence_level
    )
    if metric_record.binary:
        rates = with_counts(rates)
    # One column of values per definition and, if the metric has evidence, one of what decided each value.
    values = {}
    evidence = {}
    for name, scores_of_definition in scores_by_definition.items():
        values[name] = scores_of_definition["value"].to_numpy()
        if scores_of_definition["evidence"].ne("").any():
            evidence[f"{name}: evidence"] = scores_of_definition["evidence"].to_numpy()
    # A missing value differs from a number, so a response that only some definitions score is listed.
    differs = pd.DataFrame(values).nunique(axis=1, dropna=False) > 1
    # A column of the responses that has the name of a definition would otherwise occur twice.
    other_columns = responses.reset_index(drop=True).drop(columns=list(values), errors="ignore")
    return DefinitionComparison(
        metric=metric_record.name,
        definitions={name: options_by_definition[name] for name in scores_by_definition},
        rates=rates,
        differences=_differences(scores, cells, unit, confidence_level),
        differing=other_columns.assign(**values, **evidence)[differs].reset_index(drop=True),
        scores=scores,
        left_out=left_out,
    )


def _scores_and_left_out(
    frame: pd.DataFrame,
    metric: Metric,
    options_by_definition: Mapping[str, Mapping[str, Any]],
    shared_options: Mapping[str, Any],
    *,
    were_chosen: bool,
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Scores under each definition, and the reason for each definition that cannot score the responses.

    Both have the name of the definition as key. If the user chose the definitions (`were_chosen`), or if fewer
    than two would remain, the InputError of `score` is raised instead.
    """
    scores_by_definition: dict[str, pd.DataFrame] = {}
    left_out: dict[str, str] = {}
    for name, definition in options_by_definition.items():
        # A definition may set an option that the definitions otherwise share.
        options = {**shared_options, **definition}
        try:
            scores = score(frame, metric, explain=True, **options)
        except InputError as error:
            n_after = len(options_by_definition) - len(left_out) - 1
            if were_chosen or n_after < 2:
                raise
            left_out[name] = str(error)
        else:
            scores_by_definition[name] = scores.assign(definition=name)
    return scores_by_definition, left_out


def _main_option(metric: Metric) -> tuple[str, list[str]]:
    """The option whose values are the definitions of a metric, and those of its values that are names.

    It is the first option that has several names as values. If there is none, the result is
    ``("", [])``.
    """
    # A metric that has a protocol or a variant declares it before the options that change details.
    for option, values in metric.variants.items():
        variants = [value for value in values if isinstance(value, str)]
        if len(variants) > 1:
            return option, variants
    return "", []


def _definitions(metric: Metric, chosen: Chosen | None) -> dict[str, dict[str, Any]]:
    """Name of each definition -> its options."""
    if isinstance(chosen, Mapping):
        definitions = {str(name): dict(options) for name, options in chosen.items()}
    else:
        option, variants = _main_option(metric)
        # One name, several, or none, which means all of them.
        chosen_names = list_of_texts(chosen)
        values = chosen_names or variants
        unknown = [value for value in values if value not in variants]
        if unknown:
            allowed = "be a mapping from names to options"
            if variants:
                allowed = f"be among {', '.join(variants)}"
            raise InputError(
                f"definitions of {metric.name} must {allowed}, got {', '.join(unknown)}"
            )
        definitions = {value: {option: value} for value in values}
    if len(definitions) < 2:
        raise InputError(
            f"compare_definitions needs two definitions or more, got {len(definitions)} of {metric.name}; "
            "name them as a mapping from a name to options"
        )
    return definitions


def _differences(
    scores: pd.DataFrame, cells: list[str], unit: str | None, level: float
) -> pd.DataFrame:
    """Compare the definitions pair by pair, each in the place of a system.

    `cells` are the columns that divide the responses, and `unit` is the column of the independent units; None
    if the responses are independent. The result has the columns of `ragnb.compare`, with ``definition`` in
    the place of ``system``.
    """
    # `compare` takes the definitions as systems, so the column of the systems gets another name.
    new_names = {"system": "responses of"} if "system" in cells else {}
    units = {"unit": scores[unit]} if unit else {}
    scores_of_definitions = scores.rename(columns=new_names).assign(
        **units,
        system=scores["definition"],
        example_id=scores["response_number"],
        # `compare` refuses scores with different signatures. Here the difference is intended.
        signature="the definitions that are compared",
    )
    table = compare(
        scores_of_definitions,
        by=[new_names.get(name, name) for name in cells],
        cluster="unit" if unit else None,
        unpaired="drop",
        confidence_level=level,
    )
    old_names = {new: old for old, new in new_names.items()}
    return table.drop(columns="signature").rename(columns={"system": "definition"} | old_names)
