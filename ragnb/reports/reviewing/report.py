"""The review: all checks that the data allow, ordered by what could change a conclusion."""

# Tested in tests/reports/test_review.py.

from dataclasses import dataclass
from itertools import chain
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import require_columns, require_frame
from ragnb.display import framed
from ragnb.errors import InputError
from ragnb.markup import Markup, tag
from ragnb.metrics.words import metric_words
from ragnb.reports.frames import Report
from ragnb.reports.reviewing import design, labels, questions, replies
from ragnb.reports.reviewing.checks import CHECKS, EFFECTS, SYSTEMS, Check, Finding, NotPossible
from ragnb.reports.reviewing.design import ORDER_BY_DEFINITION
from ragnb.reports.reviewing.evidence import Evidence, count_by_system, main_metric_of

# Imported so that they register their checks. The checks are reported in the order of these modules,
# whichever of them was imported first.
_MODULES = [module.__name__ for module in (design, labels, questions, replies)]
CHECKS.sort(key=lambda check: _MODULES.index(check.find.__module__))
# What the names in the calls mean.
LEGENDS = {
    "ragnb.review(responses)": "responses is the frame that you reviewed",
    "ragnb.review(responses, scores)": "responses and scores are the frames that you passed",
    "ragnb.review(scores)": "responses and scores are both the frame that you reviewed",
}
VIEW = "ragnb.view("
LEGEND_OF_VIEW = "ragnb.view shows the rows in a notebook; in a terminal, print the frame in its parentheses instead."
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
    call
        The call that made this review, as code.
    """

    findings: pd.DataFrame
    without_finding: pd.DataFrame
    not_made: pd.DataFrame
    main_metric: str = ""
    call: str = "ragnb.review(responses)"

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
        checks = "1 check" if n_made == 1 else f"{n_made} checks"
        headline = f"{findings} in {checks}; {len(self.not_made)} more checks could not be made"
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
            f"{', '.join(rows['check'])}: {reason}"
            for reason, rows in self.not_made.groupby("reason", sort=False)
        ]
        parts = [("No finding", self._without_finding()), ("Not checked", gaps)]
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

    def _legend(self) -> list[str]:
        """What the names in the calls mean, if there are calls."""
        calls = [call for call in self.findings["next_call"] if call]
        if not calls:
            return []
        lines = [f"In these calls, {LEGENDS[self.call]}, and review = {self.call}."]
        if any(call.startswith(VIEW) for call in calls):
            lines.append(LEGEND_OF_VIEW)
        return lines

    def __repr__(self) -> str:
        texts = [self._headline()]
        for heading, rows in self._findings_by_effect():
            texts.append(f"\n{heading}")
            for row in rows:
                texts.append(_as_item(f"{row['check']}: {row['finding']}"))
                if row["next_call"]:
                    texts.append(_wrapped(f"Next: {row['next_call']}", "    ", "        "))
        legend = self._legend()
        if legend:
            texts += ["", *(_wrapped(line) for line in legend)]
        for heading, lines in self._other_parts():
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
        parts += [tag("p", line) for line in self._legend()]
        for heading, lines in self._other_parts():
            parts += [tag("p", heading), tag("ul", *(tag("li", line) for line in lines))]
        return framed(*parts)


def _as_item(line: str) -> str:
    """A line of a list, as text of 100 columns."""
    return _wrapped(line, "  - ", "    ")


def _wrapped(line: str, first_indent: str = "", next_indent: str = "") -> str:
    """A line as text of 100 columns."""
    return fill(
        line,
        100,
        initial_indent=first_indent,
        subsequent_indent=next_indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


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
    >>> review = ragnb.review(frame)
    >>> review.findings[["check", "number", "rows"]].values.tolist()
    [['undecided order', nan, []], ['missing replies', 1.0, [2]]]
    """
    require_frame(responses, "review")
    call = "ragnb.review(responses)" if scores is None else "ragnb.review(responses, scores)"
    if scores is None and {"metric", "value"} <= {*responses.columns} and len(responses):
        scores = responses
        call = "ragnb.review(scores)"
        # The rows under review are those of the main metric.
        responses = responses[responses["metric"] == main_metric_of(scores)]
    if scores is not None:
        require_columns(scores, ["system", "metric", "value"], "review(scores=)")
        scores = scores.reset_index(drop=True)
    # An empty frame of scores is the same as none.
    has_scores = scores is not None and len(scores) > 0
    evidence = Evidence(responses, scores if has_scores else None, confidence_level)
    findings: list[dict[str, Any]] = []
    importances: list[float] = []
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
        for finding in findings_of_check:
            findings.append(_row(check, finding, responses.index))
            importances.append(_importance(evidence, finding))
    # The worst effect comes first, and within each effect the most important finding. The order of the
    # checks remains for findings that are equally important.
    order = sorted(
        range(len(findings)),
        key=lambda number: (EFFECTS.index(findings[number]["effect"]), -importances[number]),
    )
    findings = [findings[number] for number in order]
    return Review(
        findings=pd.DataFrame(findings, columns=_COLUMNS),
        without_finding=pd.DataFrame(
            without_finding, columns=["check", "question", "false_findings"]
        ),
        not_made=pd.DataFrame(not_made, columns=["check", "question", "reason"]),
        main_metric=_main_metric(evidence),
        call=call,
    )


def _main_metric(evidence: Evidence) -> str:
    """Name of the main metric; empty if the responses have no score."""
    try:
        return str(evidence.main_scores["metric"].iloc[0])
    except (InputError, NotPossible, IndexError):
        return ""


def _importance(evidence: Evidence, finding: Finding) -> float:
    """How important a finding is among those with the same effect, between 0 and 1.

    If it affects systems differently, this is the largest difference between the shares of their responses
    that show it. Otherwise it is the share of all responses, which is 1 if it concerns all.
    """
    if not finding.rows:
        return 1.0
    shows_it = np.zeros(len(evidence.responses), dtype=bool)
    shows_it[list(finding.rows)] = True
    if finding.effect == SYSTEMS:
        shares = [count / n for count, n in count_by_system(evidence, shows_it).values()]
        return max(shares, default=0.0) - min(shares, default=0.0)
    return float(shows_it.mean())


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
