"""Where a judge and people disagree most, one response a card."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from ragnb.errors import InputError
from ragnb.markup import Markup, join, marked, page, tag
from ragnb.metrics.references import listed
from ragnb.records import is_missing, require_columns
from ragnb.widgets.contexts import without_response
from ragnb.widgets.looks import QUOTED, fact
from ragnb.widgets.rgb import VERDICTS

NEEDED = ("judged_by", "judge_score", "judge_verdict", "human_label", "annotations", "disagreement")
WHO = ("example_id", "language", "system")
"""Columns that say which response it is, where there are such."""

_APART = "margin:0.3em 0"
_LINES = f"{_APART};{QUOTED}"
_CARD = "margin:0 0 1em 0;padding-top:0.4em;border-top:1px solid #999"


class JudgeView:
    """The worst disagreements of a judge with the label, one response a card.

    On a card: the question, its references, the response with the references marked, the label and each annotator's, the
    judge's verdict and score, and its explanation. ✓ is a verdict of 1, ✗ of 0, – of none. Renders without JavaScript, in
    JupyterLab, on code-hosting pages and in exported HTML.

    Parameters
    ----------
    worst
        The ``worst`` of a report of `ragnb.judge_report`, or some of its rows. Shown where there are such: ``question,
        references, response`` (with ``reason``), ``example_id, language, system, judge_confidence, judge_explanation``.
    n
        Number of cards, from the top.

    Raises
    ------
    InputError
        A missing column, or an n below 1.
    """

    def __init__(self, worst: pd.DataFrame, *, n: int = 10) -> None:
        require_columns(worst, NEEDED, "JudgeView")
        if n < 1:
            raise InputError(
                f"JudgeView needs to show one response at least; got n={n!r}; pass a number from 1 on"
            )
        self._rows = worst.head(n).to_dict("records")
        self._of = len(worst)
        self._page = self._drawn()

    def __repr__(self) -> str:
        return f"JudgeView({len(self._rows)} of {self._of} disagreements)"

    def _repr_html_(self) -> Markup:
        return self._page

    def _drawn(self) -> Markup:
        head = tag(
            "p",
            tag(
                "small",
                f"{len(self._rows)} of {self._of} disagreements, the worst first · ✓ 1 · ✗ 0",
            ),
        )
        cards = [card(row, number) for number, row in enumerate(self._rows, 1)]
        none = [] if cards else [tag("p", tag("i", "no disagreement"))]
        return page(head, *cards, *none)


def card(row: Mapping[str, Any], number: int | None = None) -> Markup:
    """One response: what was asked and said, the labels, and what the judge made of it."""
    counted = [] if number is None else [tag("b", f"{number}. ")]
    return tag("div", tag("p", *counted, *_who(row), style=_APART), *asked(row), *said(row), _labels(row), *_judged(row),
               style=_CARD if counted else _APART)  # fmt: skip


def _who(row: Mapping[str, Any]) -> list[Markup]:
    known = [
        tag("span", row[name], dir="auto")
        for name in WHO
        if name in row and not is_missing(row[name])
    ]
    return [tag("small", join(known, " · "))] if known else []


def asked(row: Mapping[str, Any]) -> Iterator[Markup]:
    """The question and its references, where there are such."""
    if isinstance(row.get("question"), str):
        yield tag("p", tag("b", row["question"]), dir="auto", style=_APART)
    parts = [
        join([tag("span", alias, dir="auto") for alias in part], " or ")
        for part in reference_parts(row)
    ]
    if parts:
        yield fact("references", join(parts, "; and "), _APART)


def reference_parts(row: Mapping[str, Any]) -> list[list[str]]:
    """Parts of the answer, each a list of aliases; none where there are no references."""
    given = row.get("references")
    return (
        []
        if is_missing(given)
        else [[str(alias) for alias in listed(part)] for part in listed(given)]
    )


def said(row: Mapping[str, Any]) -> Iterator[Markup]:
    """The response with the references marked, or why there is none."""
    if (silence := without_response(row)) is not None:
        yield silence
        return
    aliases = [alias for part in reference_parts(row) for alias in part]
    yield fact("response", "" if row["response"] else tag("i", "empty"), _APART)
    yield tag("div", marked(row["response"], aliases), dir="auto", style=_LINES)


def _labels(row: Mapping[str, Any]) -> Markup:
    """The settled label, and each annotator's."""
    annotations = row["annotations"] if isinstance(row["annotations"], Mapping) else {}
    people = [
        join([tag("span", name, dir="auto"), tag("b", _sign(value))], " ")
        for name, value in annotations.items()
    ]
    among = [tag("span", " · annotators: "), join(people, ", ")] if people else []
    return tag("p", tag("b", "label: "), tag("b", _sign(row["human_label"])), *among, style=_APART)


def _judged(row: Mapping[str, Any]) -> Iterator[Markup]:
    confidence = row.get("judge_confidence")
    sure = "" if is_missing(confidence) else f", confidence {confidence:.3g}"
    told = [
        tag("b", "judge "),
        tag("span", row["judged_by"], dir="auto"),
        tag("b", f": {_sign(row['judge_verdict'])}"),
    ]
    yield tag("p", *told, tag("span", f" score {row['judge_score']:.3g}{sure}"), style=_APART)
    if isinstance(row.get("judge_explanation"), str):
        yield tag("p", tag("i", row["judge_explanation"]), dir="auto", style=_LINES)


def _sign(value: Any) -> str:
    return "–" if is_missing(value) else VERDICTS.get(float(value), "–")
