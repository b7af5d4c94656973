"""The review: all checks that the data allow, ordered by what could change a conclusion."""

from dataclasses import dataclass
from itertools import chain
from textwrap import fill
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import require_columns, require_frame
from ragnb.display import framed
from ragnb.errors import InputError
from ragnb.markup import Markup, tag
from ragnb.metrics.words import metric_words
from ragnb.reports.frames import Report
from ragnb.reports.reviewing import design, labels, questions, replies
from ragnb.reports.reviewing.checks import CHECKS, EFFECTS, Check, Finding, NotPossible
from ragnb.reports.reviewing.design import ORDER_BY_DEFINITION
from ragnb.reports.reviewing.evidence import Evidence, main_metric_of

# Imported so that they register their checks. The checks are reported in the order of these modules,
# whichever of them was imported first.
_MODULES = [module.__name__ for module in (design, labels, questions, replies)]
CHECKS.sort(key=lambda check: _MODULES.index(check.find.__module__))
_COLUMNS = ["check", "finding", "number", "rows", "next_call", "effect"]


@dataclass(frozen=True, slots=True, repr=False)
class Review(Report):
    """What a review found, and what it could not check. It prints as a list.

    Attributes
    ----------
    findings
        One row per finding: ``check, finding, number, rows, next_call, effect``. ``finding`` is a
        sentence, ``number`` says how large it is, ``rows`` are the index labels of the responses
        that show it (empty if it concerns all), ``next_call`` is the call that continues, and
        ``effect`` says what the finding can do to a conclusion. The worst come first.
    without_finding
        The checks that found nothing: ``check, question, false_findings``, which is the rate at
        which the check errs.
    not_made
        The checks that could not be made: ``check, question, reason``.
    main_metric
        Name of the metric by which the systems are ordered; empty if there is none.
    """

    findings: pd.DataFrame
    without_finding: pd.DataFrame
    not_made: pd.DataFrame
    main_metric: str = ""

    def rows_of(self, check: str) -> list[Any]:
        """Index labels of the responses that a finding shows.

        >>> import ragnb
        >>> frame = pd.DataFrame({"example_id": ["a", "b"], "system": "s", "response": ["Oslo", None]})
        >>> ragnb.review(frame).rows_of("missing replies")
        [1]
        """
        findings = self.findings[self.findings["check"] == check]
        if findings.empty:
            names = ", ".join(map(repr, self.findings["check"])) or "none"
            raise InputError(f"check must be one with a finding ({names}), got {check!r}")
        # A check may have several findings.
        return list(chain.from_iterable(findings["rows"]))

    def _headline(self) -> str:
        """How many findings and checks there are, and the main metric."""
        n_findings = len(self.findings)
        n_made = n_checks(self.findings) + len(self.without_finding)
        findings = "1 finding" if n_findings == 1 else f"{n_findings or 'No'} findings"
        headline = f"{findings} in {n_made} checks; {len(self.not_made)} could not be made"
        if self.main_metric:
            headline += f". Main metric: {metric_words(self.main_metric)}"
        return headline

    def _findings_by_effect(self) -> list[tuple[str, list[dict[Any, Any]]]]:
        """The effects that a finding has, as headings, each with its rows of ``findings``. The worst come first."""
        groups = []
        for effect in EFFECTS:
            rows = self.findings[self.findings["effect"] == effect].to_dict("records")
            if rows:
                groups.append((effect[0].upper() + effect[1:], rows))
        return groups

    def _other_parts(self) -> list[tuple[str, list[str]]]:
        """What follows the findings: headings with their lines."""
        gaps = [
            f"{reason}: {', '.join(rows['check'])}"
            for reason, rows in self.not_made.groupby("reason", sort=False)
        ]
        parts = [("No finding", self._without_finding()), ("Not checked, because", gaps)]
        return [(heading, lines) for heading, lines in parts if lines]

    def _without_finding(self) -> list[str]:
        """The checks without a finding, and what this does not mean."""
        if self.without_finding.empty:
            return []
        names = [*self.without_finding["check"]]
        lines = [", ".join(names)]
        if ORDER_BY_DEFINITION in names:
            lines.append(
                "The statistical tests report only what chance shows in fewer than 1 of 1,000 studies. "
                "ragnb.compare_definitions(responses) also shows weaker signs of another order"
            )
        return lines

    def __repr__(self) -> str:
        parts = []
        for heading, rows in self._findings_by_effect():
            lines = [f"{row['check']}: {row['finding']} Next: {row['next_call']}" for row in rows]
            parts.append((heading, lines))
        texts = [self._headline()]
        for heading, lines in [*parts, *self._other_parts()]:
            texts.append(f"\n{heading}")
            texts += [_as_item(line) for line in lines]
        return "\n".join(texts)

    def _repr_html_(self) -> Markup:
        parts = [tag("p", tag("b", self._headline()))]
        for heading, rows in self._findings_by_effect():
            items = []
            for row in rows:
                name = tag("b", f"{row['check']}: ")
                items.append(tag("li", name, f"{row['finding']} ", tag("code", row["next_call"])))
            parts += [tag("p", heading), tag("ul", *items)]
        for heading, lines in self._other_parts():
            parts += [tag("p", heading), tag("ul", *(tag("li", line) for line in lines))]
        return framed(*parts)


def _as_item(line: str) -> str:
    """A line of a list, as text of 100 columns."""
    return fill(line, 100, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)


def n_checks(findings: pd.DataFrame) -> int:
    """Number of checks with a finding."""
    return int(findings["check"].nunique()) if len(findings) else 0


@accepts(confidence_level="level")
def review(
    responses: pd.DataFrame,
    scores: pd.DataFrame | None = None,
    *,
    confidence_level: float = 0.95,
) -> Review:
    """Check the evidence as a careful reviewer would, and list what could change a conclusion.

    Parameters
    ----------
    responses
        One row per response, as `ragnb.load_responses` returns them. What is checked depends on the
        columns: ``system``, ``example_id``, ``references``, people's verdicts (``verdict``,
        ``label`` or ``human_label``), a judge's (``judged_correct`` or ``judge_verdict``),
        ``language``, ``answerable``, ``prompt``, ``finish_reason`` and settings. Scores of
        `ragnb.score` are accepted instead of responses.
    scores
        Scores of these responses. The main metric, by which the systems are ordered, is people's
        verdict (``annotator.verdict``) if it is among them, and otherwise the first. Without scores,
        it is people's verdict, a judge's, or whether the response contains the reference, the first
        that the responses allow.
    confidence_level
        Confidence level of the intervals that decide whether a difference is shown.

    Returns
    -------
    Review
        Findings with their numbers, rows and the next call, the checks without a finding, and those
        that could not be made, with the reason. Each check reports what is in the data, or is a
        statistical test whose rate of false findings is at most 0.1 %. There is no overall grade: a
        review without findings does not show that the evidence is good, only that these faults were
        not found.

    Raises
    ------
    InputError
        The responses are no frame, or a check meets a value that no metric accepts.

    Examples
    --------
    >>> import ragnb
    >>> answers = ["Oslo", "Oslo", None, "Oslo"]
    >>> frame = pd.DataFrame({"example_id": ["q1", "q2"] * 2, "system": ["a", "a", "b", "b"],
    ...                       "response": answers, "references": "Oslo"})
    >>> ragnb.review(frame).findings.set_index("check")["finding"]["missing replies"]
    'The reply is missing in 1 row: b 1 of 2. The systems are then compared on different items.'
    """
    require_frame(responses, "review")
    if scores is None and {"metric", "value"} <= {*responses.columns} and len(responses):
        scores = responses
        # The rows under review are those of the main metric.
        responses = responses[responses["metric"] == main_metric_of(scores)]
    if scores is not None:
        require_columns(scores, ["system", "metric", "value"], "review(scores=)")
        scores = scores.reset_index(drop=True)
    # An empty frame of scores is the same as none.
    has_scores = scores is not None and len(scores) > 0
    evidence = Evidence(responses, scores if has_scores else None, confidence_level)
    findings: list[dict[str, Any]] = []
    without_finding: list[dict[str, Any]] = []
    not_made: list[dict[str, Any]] = []
    for check in CHECKS:
        name_and_question = {"check": check.name, "question": check.question}
        try:
            if responses.empty:
                raise NotPossible("there are no responses")
            findings_of_check = list(check.find(evidence))
        except NotPossible as reason:
            not_made.append(name_and_question | {"reason": str(reason)})
            continue
        if not findings_of_check:
            without_finding.append(name_and_question | {"false_findings": check.false_findings})
        findings += [_row(check, finding, responses.index) for finding in findings_of_check]
    # The order of the checks remains within each effect.
    findings.sort(key=lambda row: EFFECTS.index(row["effect"]))
    return Review(
        findings=pd.DataFrame(findings, columns=_COLUMNS),
        without_finding=pd.DataFrame(
            without_finding, columns=["check", "question", "false_findings"]
        ),
        not_made=pd.DataFrame(not_made, columns=["check", "question", "reason"]),
        main_metric=_main_metric(evidence),
    )


def _main_metric(evidence: Evidence) -> str:
    """Name of the main metric; empty if the responses have no score."""
    try:
        return str(evidence.main_scores["metric"].iloc[0])
    except (InputError, NotPossible, IndexError):
        return ""


def _row(check: Check, finding: Finding, index: pd.Index) -> dict[str, Any]:
    """A finding as a row. `index` is that of the responses, and gives the label for the position of each."""
    return {
        "check": check.name,
        "finding": finding.sentence,
        "number": finding.number,
        "rows": [index[row] for row in finding.rows],
        "next_call": finding.next_call,
        "effect": finding.effect,
    }
