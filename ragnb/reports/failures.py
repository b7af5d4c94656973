"""Where an answer went wrong: retrieval, use of the passages, support, form, or refusal."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import require_columns, require_frame
from ragnb.errors import InputError
from ragnb.metrics.record import METRICS
from ragnb.metrics.references import reference_parts
from ragnb.reports.frames import Report, TablesAndLines
from ragnb.scoring.scores import score
from ragnb.stats.intervals import rate_interval

# The outcomes, in the order of a pipeline: each response has the first one that applies.
RIGHT_REFUSAL = "right refusal"
WRONG_ANSWER = "answered an unanswerable question"
NOT_RETRIEVED = "passage not retrieved"
WRONG_REFUSAL = "wrong refusal"
RIGHT = "right"
RIGHT_ELSEWHERE = "right, not from the passages"
WRONG_FORM = "contains the reference, called wrong"
IGNORED = "passage retrieved and ignored"
UNSUPPORTED = "not supported by the passages"
WRONG = "wrong, although supported"
UNKNOWN_WRONG = "wrong, unknown why"
SUPPORTED = "supported, unknown whether right"
UNKNOWN = "unknown"
OUTCOMES = (
    RIGHT,
    RIGHT_REFUSAL,
    SUPPORTED,
    RIGHT_ELSEWHERE,
    NOT_RETRIEVED,
    IGNORED,
    UNSUPPORTED,
    WRONG,
    WRONG_FORM,
    WRONG_REFUSAL,
    WRONG_ANSWER,
    UNKNOWN_WRONG,
    UNKNOWN,
)
# Columns with people's verdicts on the whole answer.
_VERDICTS = ("verdict", "label", "human_label")
# Largest number of words of a reference that a right answer can be expected to contain. A longer reference is a
# sentence or more, which a right answer may put in other words.
SHORT = 10
# The facts about a response, each with what it says.
FACTS = {
    "answerable": "the passages or the corpus contain the answer",
    "retrieved": "a relevant passage was retrieved",
    "refused": "the response is a refusal",
    "right": "the answer is right",
    "contains": "the answer contains the reference",
    "used": "the answer uses a relevant sentence",
    "supported": "the passages support all of the answer",
}


@dataclass(frozen=True, slots=True, repr=False)
class FailureReport(Report):
    """What became of each response, and where it went wrong. It prints as a table.

    `ragnb.plot` draws the counts as bars.

    Attributes
    ----------
    outcomes
        One row per response, with all its columns, ``outcome``, and the facts on which the outcome
        rests: ``fact: answerable``, ``fact: retrieved``, ``fact: refused``, ``fact: right``,
        ``fact: contains``, ``fact: used`` and ``fact: supported``, each 1, 0 or NaN if unknown.
    counts
        One row per system and outcome: ``system, outcome, count, n, mean, low, high, interval,
        confidence_level``, where ``mean`` is the share of the responses of the system.
    sources
        Fact -> where it comes from, or why it is unknown.
    """

    outcomes: pd.DataFrame
    counts: pd.DataFrame
    sources: Mapping[str, str]

    def _tables_and_lines(self) -> TablesAndLines:
        table = self.counts.pivot(index="outcome", columns="system", values="count")
        # The pivot has sorted the outcomes by name.
        in_order = [name for name in OUTCOMES if name in table.index]
        table = table.reindex(in_order).fillna(0).astype(int)
        # The pivot calls its columns "system", which would be printed above them.
        table = table.rename_axis(columns=None).reset_index()
        lines = [f"{fact}: {source}." for fact, source in self.sources.items()]
        return {"Where it went wrong (number of responses)": table}, lines


@accepts(confidence_level="level")
def failure_report(responses: pd.DataFrame, *, confidence_level: float = 0.95) -> FailureReport:
    """Sort the responses by where they went wrong, as far as the columns tell.

    Parameters
    ----------
    responses
        One row per response, with ``response`` or labels. The more of the following columns there
        are, the fewer responses remain *unknown*: ``answerable``; ``retrieved`` and ``relevant`` (ids
        of passages); a verdict on refusals (``refusal`` or ``judged_refusal``; otherwise a list of
        phrases decides); a verdict on the answer (``verdict``, ``label``, ``human_label`` or
        ``judged_correct``; otherwise whether it contains a reference); TRACe's labels; and ``parts``.
    confidence_level
        Nominal coverage of the Wilson intervals of the shares, in (0, 1).

    Returns
    -------
    FailureReport
        The outcome of each response with the facts behind it, and counts by system. The outcomes
        follow the order of a pipeline, so a wrong answer without the relevant passage counts as
        *passage not retrieved*, whatever else is wrong with it. A refusal without the passage counts
        there as well. A fact that no column contains is unknown, and is not guessed.

    Raises
    ------
    InputError
        The frame is empty, or no column says whether a response is right, supported or a refusal.

    Examples
    --------
    >>> import ragnb
    >>> report = failure_report(ragnb.load_study("delucionqa"))
    >>> report.counts.set_index("outcome")["count"].to_dict()["wrong refusal"]
    21
    """
    require_frame(responses, "failure_report")
    if responses.empty:
        raise InputError("failure_report needs at least one response, got none")
    frame = responses.reset_index(drop=True)
    facts = _facts(frame)
    if all(facts.is_unknown(fact) for fact in ("right", "refused", "supported")):
        # With these two columns, a response can at least be compared with its references.
        require_columns(frame, ["response", "references"], "failure_report")
    outcome = _outcomes(facts.values)
    outcomes = pd.concat([frame.assign(outcome=outcome), facts.values.add_prefix("fact: ")], axis=1)
    systems = frame["system"] if "system" in frame else pd.Series("responses", frame.index)
    return FailureReport(
        outcomes=outcomes,
        counts=_counts(outcome, systems, confidence_level),
        sources=facts.sources,
    )


# ---- facts -------------------------------------------------------------------------------------


class _Facts:
    """What is known about each response, and where it comes from.

    Attributes
    ----------
    values
        One column per fact: 1, 0 or NaN.
    sources
        Fact -> its sources, or that it is unknown.
    """

    def __init__(self, index: pd.Index) -> None:
        self.values = pd.DataFrame(np.nan, index, list(FACTS))
        self._sources: dict[str, list[str]] = {fact: [] for fact in FACTS}

    def add(self, fact: str, source: str, values: pd.Series) -> None:
        """Fill in a fact where no earlier source has it.

        `source` names the source in words. `values` has 1, 0 or NaN for each response.
        """
        # A source without any value is not named.
        if values.notna().any():
            self._sources[fact].append(source)
            self.values[fact] = self.values[fact].fillna(values)

    def is_unknown(self, fact: str) -> bool:
        """Whether no source has the fact of any response."""
        return not self._sources[fact]

    @property
    def sources(self) -> dict[str, str]:
        """Fact -> its sources in words."""
        unknown = "unknown, no column says whether {}"
        return {
            fact: ", then ".join(self._sources[fact]) or unknown.format(words)
            for fact, words in FACTS.items()
        }


def _facts(frame: pd.DataFrame) -> _Facts:
    """The facts about each response. People precede judges, and both precede the text."""
    facts = _Facts(frame.index)
    if "answerable" in frame:
        facts.add("answerable", "column answerable", _numbers(frame["answerable"]))
    if {"retrieved", "relevant"} <= {*frame}:
        values = _values(frame, "retrieval.success")
        facts.add("retrieved", "columns retrieved and relevant", values)
    if "refusal" in frame:
        facts.add("refused", "column refusal", _numbers(frame["refusal"]))
    if "judged_refusal" in frame:
        facts.add("refused", "a judge (judged_refusal)", _numbers(frame["judged_refusal"]))
    if "response" in frame:
        answered = _values(frame, "abstention.coverage", rule="list")
        facts.add("refused", "a list of phrases of refusal", 1 - answered)
    _add_correctness(frame, facts)
    _add_labels_of_sentences(frame, facts)
    if "parts" in frame:
        facts.add("supported", "labels of parts", _values(frame, "parts.all_supported"))
    return facts


def _add_correctness(frame: pd.DataFrame, facts: _Facts) -> None:
    """Add to the facts whether each answer is right, and whether it contains the reference."""
    for column in _VERDICTS:
        if column not in frame:
            continue
        try:
            verdicts = _values(frame.assign(verdict=frame[column]), "annotator.verdict")
        except InputError:
            # A column of this name can contain something else, such as grades.
            continue
        facts.add("right", f"people (column {column})", verdicts)
        # The first column of verdicts counts.
        break
    if "judged_correct" in frame:
        facts.add("right", "a judge (judged_correct)", _numbers(frame["judged_correct"]))
    if {"response", "references"} <= {*frame}:
        contains = _values(frame, "answer.contains")
        facts.add("contains", "the text of the references", contains)
        if facts.is_unknown("right"):
            is_short = frame["references"].map(_is_short)
            source = f"whether the answer contains a reference of at most {SHORT} words"
            facts.add("right", source, contains.where(is_short))


def _is_short(reference: Any) -> bool:
    """Whether a right answer can be expected to contain a reference.

    A reference consists of parts, which are all required. Each part has aliases, and one of them is enough, so
    the shortest alias counts.
    """
    try:
        parts = reference_parts(reference)
    except InputError:
        return False
    for aliases in parts:
        n_words = min(len(alias.split()) for alias in aliases)
        if n_words > SHORT:
            return False
    return True


def _add_labels_of_sentences(frame: pd.DataFrame, facts: _Facts) -> None:
    """Add the facts that follow from RAGBench's labels of sentences, as far as the frame has them."""
    # A metric whose columns are missing raises InputError, and the fact stays unknown.
    with suppress(InputError):
        relevance = _values(frame, "trace.relevance")
        # Without a relevant sentence in the passages, the retrieval has failed.
        facts.add("retrieved", "labels of relevant sentences", _is_positive(relevance))
        completeness = _values(frame, "trace.completeness", when_none_relevant="undefined")
        facts.add("used", "labels of used sentences", _is_positive(completeness))
    with suppress(InputError):
        adherence = _values(frame, "trace.adherence")
        facts.add("supported", "labels of supported sentences", adherence)


def _is_positive(values: pd.Series) -> pd.Series:
    """Whether values are above 0; NaN where they are missing."""
    return (values > 0).astype(float).where(values.notna())


def _numbers(column: pd.Series) -> pd.Series:
    """Flags as 1, 0 or NaN. Other values become NaN."""
    # For a mapping, True, 1 and 1.0 are the same key.
    flags = column.map({True: 1.0, False: 0.0, "True": 1.0, "False": 0.0})
    return pd.Series(flags, column.index, dtype=float)


def _values(frame: pd.DataFrame, metric: str, **options: Any) -> pd.Series:
    """Values of a metric, one per response; InputError if the frame lacks its columns."""
    record = METRICS[metric]
    required = [column for argument, column in record.columns.items() if record.needs(argument)]
    require_columns(frame, required, metric)
    scored = score(frame, metric, **options)
    return pd.Series(scored["value"].to_numpy(float), frame.index)


# ---- outcomes ----------------------------------------------------------------------------------


def _outcomes(facts: pd.DataFrame) -> pd.Series:
    """The first outcome of each response in the order of a pipeline.

    `facts` has one column for each of `FACTS`, with 1, 0 or NaN. A comparison with NaN is False, so an unknown
    fact neither is nor is not the case.
    """
    is_unanswerable = facts["answerable"] == 0
    is_right, is_wrong = facts["right"] == 1, facts["right"] == 0
    is_unsupported, is_supported = facts["supported"] == 0, facts["supported"] == 1
    # A right answer can begin with a phrase of refusal, as in "I am not sure, but it is Oslo".
    is_refused = (facts["refused"] == 1) & ~is_right
    # The first rule that holds decides.
    rules = [
        (RIGHT_REFUSAL, is_unanswerable & (facts["refused"] == 1)),
        (WRONG_ANSWER, is_unanswerable & (facts["refused"] == 0)),
        (UNKNOWN, is_unanswerable),
        (NOT_RETRIEVED, (is_refused | is_wrong) & (facts["retrieved"] == 0)),
        (WRONG_REFUSAL, is_refused & ((facts["answerable"] == 1) | (facts["retrieved"] == 1))),
        (UNKNOWN, is_refused),
        (RIGHT_ELSEWHERE, is_right & (is_unsupported | (facts["retrieved"] == 0))),
        (RIGHT, is_right),
        (WRONG_FORM, is_wrong & (facts["contains"] == 1)),
        (IGNORED, is_wrong & (facts["retrieved"] == 1) & (facts["used"] == 0)),
        (UNSUPPORTED, (is_wrong | facts["right"].isna()) & is_unsupported),
        (WRONG, is_wrong & is_supported),
        (UNKNOWN_WRONG, is_wrong),
        (SUPPORTED, is_supported),
    ]
    outcome = pd.Series(UNKNOWN, facts.index, dtype=object)
    is_open = pd.Series(True, facts.index)
    for name, applies in rules:
        outcome[is_open & applies] = name
        is_open &= ~applies
    return outcome


def _counts(outcome: pd.Series, systems: pd.Series, level: float) -> pd.DataFrame:
    """Number and share of each outcome of each system; outcomes without a response are left out."""
    present = [name for name in OUTCOMES if (outcome == name).any()]
    rows = []
    for system, names in outcome.groupby(systems, sort=False):
        for name in present:
            count = int((names == name).sum())
            interval = rate_interval(count, len(names), confidence_level=level)
            numbers = {"count": count, "n": len(names)}
            rows.append({"system": system, "outcome": name, **numbers, **interval.columns()})
    return pd.DataFrame(rows)
