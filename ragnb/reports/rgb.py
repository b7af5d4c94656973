"""The four tables of RGB."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import list_of_texts, require_columns
from ragnb.errors import InputError
from ragnb.metrics.recognition import Rule
from ragnb.metrics.record import METRICS
from ragnb.numbers import distinct, interval_words, percent
from ragnb.reports.frames import (
    Report,
    TablesAndLines,
    responses_of_judged_systems,
    with_counts,
)
from ragnb.scoring.columns import numbers
from ragnb.scoring.scores import score
from ragnb.scoring.summaries import summarize

# RGB's counterfactual test admits models whose accuracy without passages is above this.
CLOSED_BOOK_GATE = 0.7

_CELL = ("system", "language", "noise_rate")
_TITLES = {
    "noise_robustness": "Noise robustness: accuracy by noise rate",
    "negative_rejection": "Negative rejection: passages without the answer",
    "information_integration": "Information integration: accuracy by noise rate",
    "counterfactual_robustness": "Counterfactual robustness: passages with a false answer",
    "closed_book": "Without passages",
}
# Table, metrics, and the column of the judge's verdict that they need; empty if they need none. Rates that need a
# verdict are computed only for the systems that were judged, so they are entries of their own.
_RATES = (
    ("noise_robustness", ["rgb.accuracy"], ""),
    ("negative_rejection", ["rgb.rejection"], ""),
    ("negative_rejection", ["rgb.judged_rejection"], "judged_refusal"),
    ("information_integration", ["rgb.accuracy"], ""),
    ("counterfactual_robustness",
     ["rgb.accuracy", "rgb.error_detection", "rgb.error_correction"], ""),
    ("counterfactual_robustness",
     ["rgb.judged_error_detection", "rgb.judged_error_correction"], "judged_detection"),
    ("closed_book", ["rgb.accuracy"], ""),
)  # fmt: skip
# Metric -> name of the number of responses that it counts.
_COUNTED = {
    "rgb.accuracy": "correct",
    "rgb.rejection": "rejected",
    "rgb.error_detection": "detected",
    "rgb.error_correction": "corrected",
}


@dataclass(frozen=True, slots=True, repr=False)
class RgbReport(Report):
    """RGB's tables as `ragnb.summarize` returns them, with counts; empty if nothing was run.

    A report prints its tables. The first column of each is ``protocol``, and ``count`` is the
    number of responses with the value 1: ``mean`` is ``count / n_scored``.

    Attributes
    ----------
    protocols
        The protocols of `ragnb.metrics.PROTOCOLS` that were requested.
    noise_robustness, information_integration
        ``rgb.accuracy`` by system, language and noise rate.
    negative_rejection
        ``rgb.rejection``, and ``rgb.judged_rejection`` if a judge was asked.
    counterfactual_robustness
        ``rgb.accuracy`` over the false passages, ``rgb.error_detection``, ``rgb.error_correction``
        and the same two by a judge. The ``n`` of a correction rate is the number of responses that
        detect. ``n_passages`` is the mean number of passages shown, ``closed_book_accuracy`` that
        of the same system without passages, and ``passes_gate`` whether it is above 70 %.
    closed_book
        ``rgb.accuracy`` without passages, by task.
    questions
        Names of the files of questions, which are the first part of each ``example_id``.
    """

    protocols: tuple[str, ...]
    noise_robustness: pd.DataFrame
    negative_rejection: pd.DataFrame
    information_integration: pd.DataFrame
    counterfactual_robustness: pd.DataFrame
    closed_book: pd.DataFrame
    questions: tuple[str, ...] = ()

    @property
    def counts(self) -> pd.DataFrame:
        """Numbers of responses, one row for each protocol, system, ability and noise rate.

        The columns are ``total``, ``unscored`` (responses without a value), ``correct``,
        ``incorrect``, ``rejected``, ``detected`` and ``corrected``. What an ability does not count
        is missing. ``incorrect`` responses are scored and not correct or, for negative rejection,
        not rejected. ``corrected`` counts responses among the detected, except under
        ``"flexible"``, which counts them among all.
        """
        keys = ["protocol", "system", "language", "ability", "noise_rate"]
        rows = pd.concat([table.assign(ability=name) for name, table in self.tables.items()])
        # Responses without passages belong to no ability.
        rows = rows[rows["ability"] != "closed_book"]
        # Metrics that are not in `_COUNTED`, such as those of a judge, have no column of counts.
        rows = rows.assign(counted=rows["metric"].map(_COUNTED)).dropna(subset="counted")
        cells = rows.groupby(keys, sort=False)
        counts = cells.agg(total=("n", "max"), scored=("n_scored", "max"))
        for name in _COUNTED.values():
            counts[name] = rows[rows["counted"] == name].set_index(keys)["count"]
        # Negative rejection counts rejections in place of correct answers.
        n_right = counts["correct"].fillna(counts["rejected"])
        counts["incorrect"] = counts["scored"] - n_right
        counts["unscored"] = counts["total"] - counts["scored"]
        columns = ["total", "unscored", "correct", "incorrect", "rejected", "detected", "corrected"]
        return counts[columns].convert_dtypes().reset_index()

    def _tables_and_lines(self) -> TablesAndLines:
        """The tables by title, and the line below them."""
        all_rates = pd.concat(self.tables.values())
        level = percent(all_rates["confidence_level"].iloc[0])
        kinds = interval_words(all_rates["interval"])
        line = f"protocol {', '.join(self.protocols)}; {level} {kinds}"
        return {_TITLES[name]: table for name, table in self.tables.items()}, [line]


@accepts(confidence_level="level")
def rgb_report(
    responses: pd.DataFrame,
    protocol: str | Sequence[str] = "paper",
    *,
    refusal: Rule = None,
    detection: Rule = None,
    confidence_level: float = 0.95,
) -> RgbReport:
    """Report RGB's four tables from responses, with an interval and a denominator for each rate.

    Parameters
    ----------
    responses
        Result of `ragnb.experiments.rgb.run_rgb`, of any abilities and systems together. ``task``,
        ``noise_rate`` and ``passage_num`` determine the table of a response. Counterfactual
        responses whose ``correct_rate`` is above 0 (true passages among the false ones) are in no
        table, so a system also needs others. ``judged_refusal`` and ``judged_detection`` are the
        verdicts of a judge, and give the judged rates of each system that was judged. A response
        without a verdict that has a ``judge_reason`` shows that its system was judged, too. It is
        one of the ``n`` responses, and not one of the ``n_scored``.
    protocol
        See `ragnb.metrics.rgb`. Several protocols become several rows of each table.
    refusal, detection
        How a refusal, and a report of errors in the passages, is recognised, if not as in the
        protocol: ``"phrase"``, ``"sentence"``, ``"judge"``, ``"label"``, a list of your own
        phrases, or a mapping from language codes to such lists.
    confidence_level
        Confidence level of the intervals, in (0, 1).

    Raises
    ------
    InputError
        A column is missing, no response belongs to a table, a response lacks a number that
        determines its table, all counterfactual responses of a system have a ``correct_rate``
        above 0, or a system answered a question twice in one cell.
    """
    needed = ("system", "language", "task", "noise_rate", "passage_num")
    require_columns(responses, needed, "rgb_report")
    # Conditions that are numbers. A file may lack the last one, and may write all of them as texts.
    conditions = {}
    for condition in ("noise_rate", "passage_num", "correct_rate"):
        if condition in responses:
            conditions[condition] = numbers(responses, condition, "rgb_report")
    frame = responses.assign(**conditions).reset_index(drop=True)
    frame = frame[frame["task"].isin(["noise", "integration", "counterfactual"])]
    if frame.empty:
        tasks = distinct(responses["task"], ", ") or "none"
        raise InputError(f"rgb_report needs responses to RGB's questions, got the tasks {tasks}")
    frame = _with_tables(_over_false_passages(frame))
    protocols = list_of_texts(protocol)
    rates_by_table: dict[str, list[pd.DataFrame]] = {name: [] for name in _TITLES}
    for protocol_name, (table, metrics, verdict) in product(protocols, _RATES):
        rows = frame[frame["table"] == table]
        if verdict:
            rows = responses_of_judged_systems(rows, verdict)
        if rows.empty:
            continue
        options: dict[str, Any] = {
            "protocol": protocol_name,
            "refusal": refusal,
            "detection": detection,
        }
        scores = []
        for metric in metrics:
            # A verdict of a judge needs no protocol, and a rejection no rule for errors.
            accepted = METRICS[metric].options
            metric_options = {key: value for key, value in options.items() if key in accepted}
            scores.append(score(rows, metric, **metric_options))
        # Without passages there is no noise rate.
        by = ["system", "language", "task"] if table == "closed_book" else _CELL
        rates = summarize(pd.concat(scores), by=by, confidence_level=confidence_level)
        rates.insert(0, "protocol", protocol_name)
        rates_by_table[table].append(with_counts(rates))
    tables = {}
    for table, rates_of_table in rates_by_table.items():
        # The empty frame is the result for a table without responses.
        tables[table] = pd.concat([pd.DataFrame(), *rates_of_table], ignore_index=True)
    if len(tables["counterfactual_robustness"]):
        _add_closed_book_columns(tables["counterfactual_robustness"], frame, tables["closed_book"])
    return RgbReport(
        protocols=tuple(protocols), questions=_files_of_questions(frame["example_id"]), **tables
    )


def _files_of_questions(example_ids: pd.Series) -> tuple[str, ...]:
    """The distinct first parts of ids such as ``en_fact/12``; an id without a slash has none."""
    ids = example_ids.astype(str)
    files = ids[ids.str.contains("/", regex=False)].str.split("/").str[0]
    return tuple(files.unique())


def _with_tables(responses: pd.DataFrame) -> pd.DataFrame:
    """Add the column ``table``, which names the table of RGB to which each response belongs.

    A reply without passages that occurs several times is kept once.
    """
    is_closed_book = responses["passage_num"] == 0
    # Without passages there is no noise rate; all other responses need both numbers.
    lacks_rate = ~is_closed_book & responses["noise_rate"].isna()
    incomplete = responses[responses["passage_num"].isna() | lacks_rate]
    if len(incomplete):
        raise InputError(
            "rgb_report needs a noise_rate and a passage_num of every response, got "
            f"{len(incomplete)} without, of {distinct(incomplete['system'], ', ')}; add them, as in "
            "load_responses(..., noise_rate=0.0, passage_num=5)"
        )
    # The first condition that is true names the table.
    conditions = {
        "closed_book": is_closed_book,
        "information_integration": responses["task"] == "integration",
        "counterfactual_robustness": responses["task"] == "counterfactual",
        "negative_rejection": responses["noise_rate"] == 1,
        "noise_robustness": responses["noise_rate"] < 1,
    }
    names = np.select([*conditions.values()], [*conditions], "")
    responses = responses.assign(table=names)
    if {"example_id", "request_key"} <= set(responses):
        # A request without passages is the same at all noise rates. If several runs contain its reply, it is one
        # response. A reply without a key cannot be recognised as the same.
        keys = ["system", "language", "task", "example_id", "request_key"]
        can_be_repeated = is_closed_book & responses["request_key"].notna()
        is_repeated = responses[can_be_repeated].duplicated(keys)
        is_repeated = is_repeated.reindex(responses.index, fill_value=False)
        responses = responses[~is_repeated]
    return responses


def _over_false_passages(responses: pd.DataFrame) -> pd.DataFrame:
    """Remove counterfactual responses whose passages are partly true (``correct_rate`` above 0).

    InputError is raised if a system has no others.
    """
    if "correct_rate" not in responses:
        return responses
    is_counterfactual = responses["task"] == "counterfactual"
    is_closed_book = responses["passage_num"] == 0
    needs_rate = is_counterfactual & ~is_closed_book
    rates = responses["correct_rate"].where(is_counterfactual)
    if rates.isna().all():
        return responses
    is_missing = needs_rate & rates.isna()
    if is_missing.any():
        raise InputError(
            f"{is_missing.sum()} of {needs_rate.sum()} counterfactual responses have no correct_rate, such as that to "
            f"{responses.loc[is_missing, 'example_id'].iloc[0]!r}; it is 0 if all passages are false"
        )
    rates = rates.fillna(0)
    # Each system needs responses with a rate of 0. Those without passages have it too, but cannot replace the
    # others, so they are a group of their own.
    lowest = rates.groupby([responses["system"], responses["task"], is_closed_book]).min()
    too_high = lowest[lowest > 0]
    if len(too_high):
        systems = distinct(too_high.index.get_level_values("system"), ", ")
        raise InputError(
            "rgb_report needs counterfactual responses with a correct_rate of 0; the lowest of "
            f"{systems} is {too_high.min():g}; use ragnb.summarize for these"
        )
    return responses[rates <= 0]


def _add_closed_book_columns(
    table: pd.DataFrame, responses: pd.DataFrame, closed_book: pd.DataFrame
) -> None:
    """Add the mean number of passages, the closed-book accuracy, and whether it passes the gate.

    `table` has the rates of counterfactual robustness, and is changed. `responses` have the column ``table``, and
    `closed_book` has the rates without passages.
    """
    if "n_passages" in responses:
        rows = responses[responses["table"] == "counterfactual_robustness"]
        means = rows.groupby(list(_CELL))["n_passages"].mean()
        table["n_passages"] = table.join(means, on=list(_CELL))["n_passages"]
    keys = ["protocol", "system", "language"]
    # Without closed-book responses, this table is empty and has no columns.
    rates = closed_book.reindex(columns=[*keys, "task", "mean"])
    rates = rates[rates["task"] == "counterfactual"].set_index(keys)["mean"].astype(float)
    # The join looks up the accuracy of each row by these keys. A row without one gets nan.
    accuracy = table.join(rates.rename("accuracy"), on=keys)["accuracy"]
    table["closed_book_accuracy"] = accuracy
    # None, and not False, where the accuracy is unknown.
    is_above = (accuracy > CLOSED_BOOK_GATE).astype(object)
    table["passes_gate"] = is_above.where(accuracy.notna(), None)
