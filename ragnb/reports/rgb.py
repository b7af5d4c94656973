"""RGB's four tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ragnb.errors import InputError
from ragnb.markup import Markup, join, tag
from ragnb.metrics.record import METRICS
from ragnb.metrics.rgb_protocols import Rule
from ragnb.records import require_columns
from ragnb.scoring.columns import check_names, numbers
from ragnb.scoring.scores import score
from ragnb.scoring.summaries import summarize

CLOSED_BOOK_GATE = 0.7
"""RGB's counterfactual test admits models whose accuracy without passages is above this."""

Options = Mapping[str, Any]

_CELL = ("system", "language", "noise_rate")
_REJECTION = ["rgb.rejection"], ["rgb.judged_rejection"], "judged_refusal"
_DETECTION = (
    ["rgb.accuracy", "rgb.error_detection", "rgb.error_correction"],
    ["rgb.judged_error_detection", "rgb.judged_error_correction"],
    "judged_detection",
)
_TITLES = {
    "noise_robustness": "Noise robustness: accuracy by noise rate",
    "negative_rejection": "Negative rejection: passages without the answer",
    "information_integration": "Information integration: accuracy by noise rate",
    "counterfactual_robustness": "Counterfactual robustness: passages with a false answer put in",
    "closed_book": "Without passages",
}


@dataclass(frozen=True, slots=True)
class RgbReport:
    """RGB's tables of some responses under one protocol, as `ragnb.summarize` returns them; empty where nothing was run.

    Attributes
    ----------
    protocol
        ``"paper"``, ``"released"`` or ``"flexible"``.
    noise_robustness, information_integration
        ``rgb.accuracy`` by system, language and noise rate.
    negative_rejection
        ``rgb.rejection``, and ``rgb.judged_rejection`` where a judge was asked.
    counterfactual_robustness
        ``rgb.accuracy`` over the false passages, ``rgb.error_detection``, ``rgb.error_correction`` and their judged twins.
        The ``n`` of a correction rate is the number of responses that detect. ``n_passages`` is the mean number really
        shown, ``closed_book_accuracy`` that of the same system without passages, ``passes_gate`` whether it is above 70 %.
    closed_book
        ``rgb.accuracy`` without passages, by task.
    """

    protocol: str
    noise_robustness: pd.DataFrame
    negative_rejection: pd.DataFrame
    information_integration: pd.DataFrame
    counterfactual_robustness: pd.DataFrame
    closed_book: pd.DataFrame

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables that are not empty, by name."""
        named = {name: getattr(self, name) for name in _TITLES}
        return {name: table for name, table in named.items() if len(table)}

    def _repr_html_(self) -> str:
        return join(
            [_as_html(_TITLES[name], table, self.protocol) for name, table in self.tables.items()]
        )


def rgb_report(
    responses: pd.DataFrame,
    protocol: str = "paper",
    *,
    refusal: Rule = None,
    detection: Rule = None,
    confidence_level: float = 0.95,
) -> RgbReport:
    """RGB's four tables from responses, each rate with its interval and its denominator.

    Parameters
    ----------
    responses
        As `ragnb.experiments.rgb.run_rgb` returns them, of any abilities and systems together: ``task``, ``noise_rate``
        and ``passage_num`` say which table a response belongs to. Counterfactual responses whose ``correct_rate`` is above 0
        (true passages beside the false ones) are in none; a system needs others, too.
        ``judged_refusal`` and ``judged_detection`` are used where they are, ``judge_reason`` where there is no verdict.
    protocol
        See `ragnb.metrics.rgb`.
    refusal, detection
        How a refusal, and a report of errors in the passages, is recognised, if not as the protocol says: ``"phrase"``,
        ``"sentence"``, ``"judge"``, ``"label"``, a list of your own phrases, or a mapping from language codes to such lists.
    confidence_level
        Of the intervals, in (0, 1).

    Raises
    ------
    InputError
        Missing columns, no response that belongs to a table, one of which a number that says which table is missing, a
        system whose counterfactual responses all have a ``correct_rate`` above 0, or one that answered a question twice in
        one cell.
    """
    require_columns(
        responses, ("system", "language", "task", "noise_rate", "passage_num"), "rgb_report"
    )
    check_names(responses, ("system", "language", "task"), "rgb_report")
    conditions = [
        name for name in ("noise_rate", "passage_num", "correct_rate") if name in responses
    ]
    rates = {name: numbers(responses, name, "rgb_report") for name in conditions}
    responses = responses.assign(**rates).reset_index(drop=True)
    known = responses[responses["task"].isin(["noise", "integration", "counterfactual"])]
    asked = known.assign(closed=known["passage_num"] == 0)
    if "correct_rate" in asked:
        asked = _over_false_passages(asked)
    _refuse_unplaced(asked)
    how = {"protocol": protocol, "refusal": refusal, "detection": detection}, confidence_level
    opened, closed = asked[~asked["closed"]], _once(asked[asked["closed"]])
    noise = opened[opened["task"] == "noise"]
    rejecting = noise[noise["noise_rate"] == 1]
    closed_book = _rates(closed, ["rgb.accuracy"], *how, by=("system", "language", "task"))
    report = RgbReport(
        protocol=protocol,
        noise_robustness=_rates(noise[noise["noise_rate"] < 1], ["rgb.accuracy"], *how),
        negative_rejection=_with_twins(*_REJECTION, rejecting, *how),
        information_integration=_rates(
            opened[opened["task"] == "integration"], ["rgb.accuracy"], *how
        ),
        counterfactual_robustness=_counterfactual(
            opened[opened["task"] == "counterfactual"], closed_book, *how
        ),
        closed_book=closed_book,
    )
    if not report.tables:
        found = ", ".join(sorted(set(map(str, responses["task"])))) or "none"
        raise InputError(
            f"rgb_report needs responses to RGB's questions; got the tasks {found}; run or load some"
        )
    return report


def _over_false_passages(asked: pd.DataFrame) -> pd.DataFrame:
    """Without the counterfactual responses that saw true passages, too; no system may vanish with them."""
    counterfactual = asked["task"] == "counterfactual"
    rated = asked[counterfactual].fillna({"correct_rate": 0.0})
    lowest = rated.groupby(["system", "closed"])["correct_rate"].min()
    lost = lowest[lowest > 0]
    if len(lost):
        systems = ", ".join(map(str, dict.fromkeys(lost.index.get_level_values("system"))))
        raise InputError(
            f"rgb_report needs counterfactual responses with a correct_rate of 0; got {lost.iloc[0]:g} and above alone, of "
            f"{systems}; ask with a correct_rate of 0, too, or take ragnb.summarize for these"
        )
    return asked[~counterfactual | asked["correct_rate"].isna() | (asked["correct_rate"] == 0)]


def _once(closed: pd.DataFrame) -> pd.DataFrame:
    """A reply that several runs asked for is one response."""
    if not {"example_id", "request_key"} <= set(closed):
        return closed
    check_names(closed, ("example_id", "request_key"), "rgb_report")
    again = closed.duplicated(["system", "language", "task", "example_id", "request_key"])
    return closed[closed["request_key"].isna() | ~again]


def _refuse_unplaced(asked: pd.DataFrame) -> None:
    """No response may drop out of the tables: without passages it needs no noise rate, all others need both numbers."""
    lost = asked[asked["passage_num"].isna() | (~asked["closed"] & asked["noise_rate"].isna())]
    if len(lost):
        systems = ", ".join(map(str, lost["system"].unique()))
        raise InputError(
            f"rgb_report needs a noise_rate and a passage_num of every response; got {len(lost)} without, of {systems}; "
            "give them, such as load_responses(..., noise_rate=0.0, passage_num=5)"
        )


def _rates(
    responses: pd.DataFrame,
    metrics: list[str],
    rules: Options,
    level: float,
    by: tuple[str, ...] = _CELL,
) -> pd.DataFrame:
    if responses.empty:
        return pd.DataFrame()
    known = {
        name: {option: rules[option] for option in METRICS[name].options if option in rules}
        for name in metrics
    }
    scores = pd.concat(
        [score(responses, name, **known[name]) for name in metrics], ignore_index=True
    )
    return summarize(scores, by=by, confidence_level=level)


def _with_twins(
    metrics: list[str],
    judged: list[str],
    column: str,
    responses: pd.DataFrame,
    rules: Options,
    level: float,
) -> pd.DataFrame:
    """Rates under the metrics, and under their judged twins for the systems of which a judge was asked."""
    table = _rates(responses, metrics, rules, level)
    if column not in responses:
        return table
    told = responses[column].notna()
    if "judge_reason" in responses:
        told |= responses[
            "judge_reason"
        ].notna()  # a judge that could not be read was asked all the same
    asked = told.groupby(responses["system"]).transform("any")
    return pd.concat([table, _rates(responses[asked], judged, rules, level)], ignore_index=True)


def _counterfactual(
    responses: pd.DataFrame, closed_book: pd.DataFrame, rules: Options, level: float
) -> pd.DataFrame:
    table = _with_twins(*_DETECTION, responses, rules, level)
    if table.empty:
        return table
    if "n_passages" in responses:
        shown = responses.groupby(list(_CELL))["n_passages"].mean()
        table["n_passages"] = shown.reindex(pd.MultiIndex.from_frame(table[list(_CELL)])).to_numpy()
    alone = (
        closed_book[closed_book["task"] == "counterfactual"] if len(closed_book) else closed_book
    )
    known = {(row.system, row.language): row.mean for row in alone.itertuples()}
    cells = zip(table["system"], table["language"], strict=True)
    table["closed_book_accuracy"] = [known.get(cell, float("nan")) for cell in cells]
    above = table["closed_book_accuracy"] > CLOSED_BOOK_GATE
    table["passes_gate"] = above.astype(object).where(table["closed_book_accuracy"].notna(), None)
    return table


def _as_html(title: str, table: pd.DataFrame, protocol: str) -> Markup:
    shown = [
        name for name in ("system", "language", "task", "noise_rate", "metric") if name in table
    ]
    extra = [
        name for name in ("n_passages", "closed_book_accuracy", "passes_gate") if name in table
    ]
    head = tag(
        "tr",
        *(
            tag("th", name.replace("_", " "))
            for name in [*shown, "per cent", "interval", "n", *extra]
        ),
    )
    rows = [
        tag(
            "tr",
            *(tag("td", row[name]) for name in shown),
            tag("td", f"{100 * row['mean']:.1f}"),
            tag("td", f"[{100 * row['low']:.1f}, {100 * row['high']:.1f}]"),
            tag(
                "td", f"{row['n_scored']} of {row['n']}" if row["n_scored"] < row["n"] else row["n"]
            ),
            *(
                tag("td", f"{row[name]:.2f}" if isinstance(row[name], float) else row[name])
                for name in extra
            ),
        )
        for row in table.to_dict("records")
    ]
    level = f"{table['confidence_level'].iloc[0]:.0%} {' / '.join(dict.fromkeys(table['interval']))} intervals"
    return tag(
        "div",
        tag("p", tag("b", title), tag("small", f" (protocol {protocol}; {level})")),
        tag("table", head, *rows),
    )
