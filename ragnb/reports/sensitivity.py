"""Which system is better under every definition of a correct answer, and where it depends on the definition."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ragnb.columns import require_columns, require_frame
from ragnb.errors import InputError
from ragnb.metrics.record import EXTRA_WORDS, METRICS, PUNISHED, Metric
from ragnb.metrics.words import metric_words
from ragnb.numbers import enumeration
from ragnb.reports.frames import Report, TablesAndLines
from ragnb.scoring.columns import conversations
from ragnb.scoring.comparisons import compare
from ragnb.scoring.scores import as_metrics, score
from ragnb.scoring.summaries import summarize
from ragnb.suggestions import did_you_mean

# The options that select the published definition of a metric. A metric has at most one of them.
_VARIANTS = ("variant", "protocol")

# Words for verdicts after "under", in which the words of the metric do not fit.
_IN_SENTENCES = {
    "answer.contains": "containment",
    "annotator.verdict": "people's verdicts",
    "semantic.judged_correctness": "the judge's verdicts",
}
ROBUST = "robust"
UNDECIDED = "undecided"
NOTE = (
    "This is a sensitivity analysis. It shows how far a conclusion depends on the definition; it is "
    "neither a vote of the metrics nor a menu to choose a result from. A system is better under a "
    "metric if the interval of the difference excludes 0 under all variants of the metric."
)


@dataclass(frozen=True, slots=True, repr=False)
class Sensitivity(Report):
    """Systems under all definitions of a correct answer. It prints as tables.

    `ragnb.plot` draws the ranks of the systems under each metric.

    Attributes
    ----------
    conclusions
        One row per pair of systems: ``system, baseline, conclusion, better_under, worse_under,
        undecided_under, sentence``. The conclusion is ``"robust"`` if one system is better under
        every metric, ``"depends on ..."`` if each is better under some metrics, ``"shown under k of
        n metrics"``, or ``"undecided"``. The next three columns list metrics.
    definitions
        One row per definition: its name, the metric, its options, and what it punishes in a right
        answer: extra words, other words than the reference, missing parts, words of refusal.
    rates
        One row per definition and system, with the columns of `ragnb.summarize`.
    differences
        One row per definition and pair of systems, with the columns of `ragnb.compare`.
    ranks
        Rank of each system (rows) under the default definition of each metric (columns). 1 is best.
    flips
        The responses that are right under one definition and wrong under another one, with all
        columns of the responses and one column per metric of 0 and 1.
    scores
        The values, as `ragnb.score` returns them, with the column ``definition``.
    left_out
        Name of each metric or definition that cannot score these responses -> why.
    """

    conclusions: pd.DataFrame
    definitions: pd.DataFrame
    rates: pd.DataFrame
    differences: pd.DataFrame
    ranks: pd.DataFrame
    flips: pd.DataFrame
    scores: pd.DataFrame
    left_out: Mapping[str, str]

    def _tables_and_lines(self) -> TablesAndLines:
        n_metrics = self.definitions["metric"].nunique()
        title = f"Systems under {len(self.definitions)} definitions of {n_metrics} metrics"
        summary = self.conclusions[["system", "baseline", "conclusion", "sentence"]]
        tables = {title: summary, "Rank under each metric": self.ranks.reset_index()}
        flipped = (
            f"{len(self.flips):,} of {self.scores['response_number'].nunique():,} responses are right "
            "under one metric and wrong under another one (attribute flips)."
        )
        return tables, [NOTE, flipped, *_gaps(self.left_out)]


def sensitivity(
    responses: pd.DataFrame,
    metrics: str | Metric | Sequence[str | Metric] | None = None,
    *,
    cluster: str | None = None,
    confidence_level: float = 0.95,
    variants: bool = True,
    progress: bool = True,
    options: Mapping[str, Any] | None = None,
) -> Sensitivity:
    """Compare systems under all definitions of the metrics (see `ragnb.compare_definitions`).

    `metrics` are by default those of a correct answer. `cluster` is the column of the independent units, and
    `options` are those of the metrics. Without `variants`, each metric has only its default definition. With
    `progress`, a bar is shown.
    """
    require_frame(responses, "compare_definitions")
    require_columns(responses, ["system"], "compare_definitions(responses)")
    if responses["system"].nunique() < 2:
        raise InputError(
            "compare_definitions without a metric compares systems, and needs two or more, got "
            f"{responses['system'].nunique()}; with a metric, such as 'f1', it compares the "
            "definitions of this metric"
        )
    frame = responses.reset_index(drop=True)
    frame["response_number"] = range(len(frame))
    if "example_id" not in frame:
        raise InputError("compare_definitions pairs systems by example_id, which is missing")
    records = as_metrics(metrics) if metrics is not None else _correctness_metrics()
    options = options or {}
    _require_options(records, options)
    # Both functions add to `left_out` what cannot score the responses, and why.
    left_out: dict[str, str] = {}
    candidates = _candidates(records, frame, left_out, variants, options)
    scores_by_definition = _scores_by_definition(candidates, frame, left_out, options, progress)
    if not scores_by_definition:
        raise InputError(
            "compare_definitions: no metric can score these responses. " + " ".join(_gaps(left_out))
        )
    scores = pd.concat(scores_by_definition.values(), ignore_index=True)
    descriptions = [_description(*candidates[name], name) for name in scores_by_definition]
    definitions = pd.DataFrame(descriptions)
    # Scores of one unit are not independent. Without repeats, each question is a unit of its own.
    has_repeats = frame.duplicated(["system", "example_id"]).any()
    unit = cluster or conversations(scores) or ("example_id" if has_repeats else None)
    rates = summarize(
        scores, by=["definition", "system"], cluster=unit, confidence_level=confidence_level
    )
    differences = compare(
        scores,
        by=["definition"],
        cluster=unit,
        unpaired="drop",
        confidence_level=confidence_level,
    )
    return Sensitivity(
        conclusions=_conclusions(differences, definitions),
        definitions=definitions,
        rates=rates,
        differences=differences,
        ranks=_ranks(rates, definitions),
        flips=_flips(responses, scores, definitions),
        scores=scores,
        left_out=left_out,
    )


def number_of_definitions(responses: pd.DataFrame) -> int:
    """Number of definitions of a correct answer for which the responses have the columns."""
    return len(_candidates(_correctness_metrics(), responses, {}, variants=True, options={}))


# ---- definitions and scores --------------------------------------------------------------------


def _require_options(records: Sequence[Metric], options: Mapping[str, Any]) -> None:
    """Raise InputError for an option that none of the metrics has."""
    known_options = dict.fromkeys(name for record in records for name in record.options)
    for name in options:
        if name not in known_options:
            hint = did_you_mean(name, known_options)
            raise InputError(
                f"options must be those of the metrics ({', '.join(known_options)}), got {name!r}{hint}"
            )


def _correctness_metrics() -> list[Metric]:
    """The metrics that measure whether an answer is right."""
    return [metric for metric in METRICS.values() if metric.punishes is not None]


def _candidates(
    records: Iterable[Metric],
    frame: pd.DataFrame,
    left_out: dict[str, str],
    variants: bool,
    options: Mapping[str, Any],
) -> dict[str, tuple[Metric, dict[str, Any]]]:
    """Name of each definition -> its metric and options. The default definition of a metric comes first.

    Metrics whose columns the frame lacks are added to `left_out`, with the reason.
    """
    candidates: dict[str, tuple[Metric, dict[str, Any]]] = {}
    for record in records:
        words = metric_words(record.name)
        required = [column for argument, column in record.columns.items() if record.needs(argument)]
        missing = [column for column in required if column not in frame]
        if missing:
            left_out[words] = f"needs the column {enumeration(missing)}"
            continue
        candidates[words] = (record, {})
        option = next((name for name in _VARIANTS if name in record.variants), None)
        # If the caller has chosen the variant, there are no others.
        if option is None or option in options or not variants:
            continue
        default = record.options[option]
        for value in record.variants[option]:
            if isinstance(value, str) and value != default:
                candidates[f"{words} ({value})"] = (record, {option: value})
    return candidates


def _scores_by_definition(
    candidates: Mapping[str, tuple[Metric, dict[str, Any]]],
    frame: pd.DataFrame,
    left_out: dict[str, str],
    options: Mapping[str, Any],
    progress: bool,
) -> dict[str, pd.DataFrame]:
    """Scores under each definition, by the name of the definition.

    Definitions that cannot score the responses are added to `left_out`, with the reason.
    """
    from tqdm.auto import tqdm

    # All metrics of one variant are scored together: they share the normalised texts, and the cache has room for
    # those of one variant.
    in_order_of_variants = sorted(candidates, key=lambda name: str(candidates[name][1]))
    # tqdm shows a bar where there is a terminal or a notebook if `disable` is None.
    bar = tqdm(in_order_of_variants, desc="definitions", disable=None if progress else True)
    scores_by_definition = {}
    for name in bar:
        record, definition = candidates[name]
        options_of_metric = {key: options[key] for key in options if key in record.options}
        try:
            scores = score(frame, record, **{**options_of_metric, **definition})
        except InputError as error:
            left_out[name] = str(error)
            continue
        system_has_value = scores.groupby("system")["value"].count() > 0
        if system_has_value.sum() < 2:
            left_out[name] = "gives values for fewer than two systems"
            continue
        scores_by_definition[name] = scores.assign(definition=name)
    # The order is again that of the candidates.
    return {name: scores_by_definition[name] for name in candidates if name in scores_by_definition}


def _description(record: Metric, definition: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What a definition is and what it punishes, as a row."""
    return {
        "definition": name,
        "metric": record.name,
        "options": ", ".join(f"{key}={value}" for key, value in definition.items()),
        "punishes": ", ".join(record.punishes or ()),
        "higher_is_better": record.higher_is_better,
    }


# ---- conclusions -------------------------------------------------------------------------------


def _conclusions(differences: pd.DataFrame, definitions: pd.DataFrame) -> pd.DataFrame:
    """What the metrics together say about each pair of systems.

    `differences` has one row per definition and pair, and `definitions` one row per definition.
    """
    described = differences.merge(
        definitions[["definition", "punishes", "higher_is_better"]], on="definition"
    )
    # 1 if the interval is above 0, -1 if it is below 0, and 0 if it contains 0 or is undefined.
    sign = (described["low"] > 0).astype(int) - (described["high"] < 0).astype(int)
    # A positive direction is in favour of the system, whether or not higher is better.
    described["direction"] = sign.where(described["higher_is_better"], -sign)
    rows = [
        _conclusion(system, baseline, pair)
        for (system, baseline), pair in described.groupby(["system", "baseline"], sort=False)
    ]
    return pd.DataFrame(rows)


def _conclusion(system: Any, baseline: Any, pair: pd.DataFrame) -> dict[str, Any]:
    """The conclusion about one pair of systems, as a row of `Sensitivity.conclusions`.

    `pair` has one row per definition, with its ``metric``, ``direction`` (1 in favour of the system, -1 in favour
    of the baseline, 0 if neither) and what it ``punishes``.
    """
    better: list[str] = []
    worse: list[str] = []
    undecided: list[str] = []
    for metric, definitions_of_metric in pair.groupby("metric", sort=False):
        # A metric decides only if all of its variants agree.
        directions = set(definitions_of_metric["direction"])
        if directions == {1}:
            better.append(metric)
        elif directions == {-1}:
            worse.append(metric)
        else:
            undecided.append(metric)
    n_metrics = len(better) + len(worse) + len(undecided)
    # The system that is better under more metrics comes first in the sentence.
    if len(better) >= len(worse):
        first, second, in_favour, against = system, baseline, better, worse
    else:
        first, second, in_favour, against = baseline, system, worse, better
    punished = pair.drop_duplicates("metric").set_index("metric")["punishes"]
    if better and worse:
        conclusion, sentence = _dependence(first, second, in_favour, against, punished)
    elif in_favour and not undecided:
        conclusion = ROBUST
        sentence = f"{first} is better than {second} under all {n_metrics} metrics."
    elif in_favour:
        conclusion = f"shown under {len(in_favour)} of {n_metrics} metrics"
        sentence = (
            f"{first} is better than {second} under {_words(in_favour)}. Under "
            f"{_words(undecided)}, the data do not show which is better, or the variants disagree."
        )
    else:
        conclusion = UNDECIDED
        sentence = f"No metric shows which of {first} and {second} is better."
    return {
        "system": system,
        "baseline": baseline,
        "conclusion": conclusion,
        "better_under": better,
        "worse_under": worse,
        "undecided_under": undecided,
        "sentence": sentence,
    }


def _dependence(
    first: Any,
    second: Any,
    in_favour: Sequence[str],
    against: Sequence[str],
    punished: Mapping[str, str],
) -> tuple[str, str]:
    """The conclusion and the sentence if each of two systems is better under some metrics.

    `in_favour` and `against` are the metrics under which the first and the second system is better. `punished`
    has what each metric punishes, separated by commas.
    """
    sentence = (
        f"{first} is better than {second} under {_words(in_favour)}, and {second} is better under "
        f"{_words(against)}."
    )
    # A property of the metrics, such as that extra words cost, explains the conclusion if it divides the
    # metrics completely: those of one side have it, and those of the other side have not.
    for words in PUNISHED:
        costs_in_favour = [words in punished[metric].split(", ") for metric in in_favour]
        costs_against = [words in punished[metric].split(", ") for metric in against]
        if all(costs_in_favour) and not any(costs_against):
            return f"depends on {words}", f"{sentence} {first} is ahead where {words} cost."
        if all(costs_against) and not any(costs_in_favour):
            return f"depends on {words}", f"{sentence} {second} is ahead where {words} cost."
    return "depends on the metric", sentence


def _words(metrics: Iterable[str]) -> str:
    """Names of metrics in a sentence."""
    return enumeration([_IN_SENTENCES.get(metric, metric_words(metric)) for metric in metrics])


# ---- ranks and flips ---------------------------------------------------------------------------


def _place(punished: str) -> int:
    """The place of a metric in tables: those that punish extra words first, and verdicts last."""
    if EXTRA_WORDS in punished.split(", "):
        return 0
    return 1 if punished else 2


def _ranks(rates: pd.DataFrame, definitions: pd.DataFrame) -> pd.DataFrame:
    """Rank of each system under the default definition of each metric."""
    # The default definition of a metric precedes its variants, see `_candidates`. If it cannot score the
    # responses, its first variant takes its place.
    defaults = definitions.drop_duplicates("metric")
    means = rates.pivot(index="system", columns="definition", values="mean")
    ranks = {}
    # A metric is placed by what it punishes. Metrics with the same place keep their order.
    in_order = defaults.sort_values("punishes", key=lambda texts: texts.map(_place), kind="stable")
    for row in in_order.to_dict("records"):
        values = means[row["definition"]]
        ranks[row["definition"]] = values.rank(ascending=not row["higher_is_better"])
    table = pd.DataFrame(ranks)
    table = table.reindex(rates["system"].drop_duplicates())
    return table.rename_axis(index="system", columns=None)


def _flips(
    responses: pd.DataFrame, scores: pd.DataFrame, definitions: pd.DataFrame
) -> pd.DataFrame:
    """The responses that are right under one metric of 0 and 1 and wrong under another one."""
    defaults = definitions.drop_duplicates("metric")
    binary = []
    for row in defaults.to_dict("records"):
        # A metric of your own has no record in METRICS, so it is not known to be one of 0 and 1.
        record = METRICS.get(row["metric"])
        if record is not None and record.binary:
            binary.append(row["definition"])
    binary_scores = scores[scores["definition"].isin(binary)]
    values = binary_scores.pivot(index="response_number", columns="definition", values="value")
    values = values.reindex(index=range(len(responses)), columns=binary)
    # Missing values do not count as different.
    differs = values.nunique(axis=1) > 1
    # A column of the responses that has the name of a definition would otherwise occur twice.
    other_columns = responses.reset_index(drop=True).drop(columns=binary, errors="ignore")
    flips = pd.concat([other_columns, values.rename_axis(columns=None)], axis=1)[differs]
    return flips.reset_index(drop=True)


def _gaps(left_out: Mapping[str, str]) -> list[str]:
    """Sentences about metrics that are left out; one for each reason.

    >>> _gaps({"a": "needs the column x", "b": "needs the column x", "c": "no value"})
    ['Left out: a and b, which needs the column x.', 'Left out: c (no value).']
    """
    names_by_reason: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        names_by_reason.setdefault(reason, []).append(name)
    sentences = []
    for reason, names in names_by_reason.items():
        # A reason of this module begins with a verb. Others are messages of errors.
        has_verb = reason.startswith(("needs", "gives"))
        explanation = f", which {reason}" if has_verb else f" ({reason})"
        sentences.append(f"Left out: {enumeration(names)}{explanation}.")
    return sentences
