"""Metrics of refusals on a mix of answerable and unanswerable questions.

A system should answer a question if the passages (or the model's knowledge) contain the answer,
and refuse otherwise. ``answerable`` is 1 in the first case and 0 in the second. ``rule`` selects
how a refusal is recognised:

==============  ==============================================================================
``rule=``       the response is a refusal if
==============  ==============================================================================
``'start'``     it begins with an agreed phrase, such as the one that the prompt requests
``'anywhere'``  it contains an agreed phrase
``'list'``      it contains one of our listed phrases in its own language or in English
``'judge'``     a judge says so (column ``judged_refusal``)
``'label'``     an annotator says so (column ``refusal``)
``'nomiracl'``  the code of NoMIRACL says so, see below
==============  ==============================================================================

NoMIRACL's prompt requests one of two replies, and its code distinguishes three outcomes. A response
is an *answer* if it contains "Yes, answer is present", and a *refusal* if it contains "I don't know".
If it contains both, it is *invalid*. If it contains neither, it is an answer if it contains "answer
is present", or if it has fewer than 10 characters and cites a passage, such as "[3]"; a refusal if it
contains "answer is not present"; and otherwise invalid. An invalid response is neither an answer nor
a refusal, and it counts in the denominator of every rate.

A response that answers nothing, such as an empty text, is neither an answer nor a refusal, so it has
no value. With ``empty='refusal'``, an empty text is a refusal. Under ``'nomiracl'`` it is invalid.
Under ``'list'``, a response in a language without a list has no value, unless it contains an English
phrase.

With ``phrases`` you can replace the agreed phrases or the list, which is
`ragnb.metrics.recognition.REFUSALS`. Differences in case, apostrophes,
white space, Markdown emphasis and Unicode form (NFKC) are ignored. Under ``'start'``, quotation
marks, brackets, Markdown, the number of a list item and a label such as *Answer:* before the phrase
are ignored as well. All functions raise InputError for an unknown rule, and for labels other than 0,
1, None and NaN.

Answerable and refused form a 2 × 2 table, and papers report different shares of this table.
Thakur et al. (2024), NoMIRACL, arXiv 2312.11361, report the *hallucination rate* and the *error
rate*. Chen et al. (2024), arXiv 2409.16146, report *risk*, *carefulness*, *alignment* and
*coverage*. Their code treats a question as answerable if the system's answer matches the reference.

Each metric passes all of its arguments on with ``**locals()``. As this is its first statement, the
local variables are then exactly the parameters.
"""

import math
from typing import Annotated, Any

from ragnb.metrics.declaration import Column
from ragnb.metrics.judged import binary_verdict, is_accepted
from ragnb.metrics.recognition import (
    ANSWERED,
    INVALID,
    REFUSED,
    EmptyResponse,
    JudgedRefusal,
    Language,
    Phrases,
    RefusalLabel,
    RefusalPhrases,
    RefusalRule,
    Response,
    find_outcome,
)
from ragnb.metrics.record import metric


class Answerable(Column):
    """1 if the question is answerable, else 0."""

    column = "answerable"


class Verdict(Column):
    """Verdict on the response: True, 1 or ``'correct'`` if it is correct.

    False, 0, ``'incorrect'`` or ``'refuse'`` if it is not. The verdict is required only for answers to
    answerable questions.
    """

    column = "verdict"
    type_name = "bool, float, str or None"


_THAKUR = "Thakur et al. 2024 (NoMIRACL), arXiv 2312.11361"
_CHEN = "Chen et al. 2024, arXiv 2409.16146"
_NO_OUTCOME_IF = (
    "the response is empty, if the verdict that the rule requires is missing, or if, under list, "
    "there is no list of refusals in the language."
)

# Reasons why a response has no outcome.
NO_VERDICT = "no verdict on the refusal"
ANSWERABLE, UNANSWERABLE = "the question is answerable", "the question is not answerable"
IS_REFUSED, IS_INVALID = "the response is a refusal", "the response is invalid"


# The first three functions receive the arguments of any metric below. What makes a response a refusal
# depends neither on `answerable` nor on `correct`, so they ignore these two.


def _outcome(
    response: str, answerable: float | None = None, correct: Any = None, **how: Any
) -> str | None:
    """The outcome of a response: answered, refused or invalid, or None if there is none."""
    outcome, _ = find_outcome(response, **how)
    return outcome


def _evidence(
    response: str, answerable: float | None = None, correct: Any = None, **how: Any
) -> str:
    """Explain in words why a response is or is not a refusal."""
    _, evidence = find_outcome(response, **how)
    return evidence


def _no_outcome(
    response: str, answerable: float | None = None, correct: Any = None, **how: Any
) -> str:
    """Say why a response has no outcome."""
    outcome, evidence = find_outcome(response, **how)
    # A response with an outcome is unscored because another verdict is missing.
    is_verdict_missing = outcome is not None or evidence == "by the verdict"
    return NO_VERDICT if is_verdict_missing else evidence


def _no_hallucination(response: str, answerable: float, **how: Any) -> str:
    """Say why the hallucination of a response is undefined."""
    return ANSWERABLE if answerable else _no_outcome(response, **how)


def _no_over_refusal(response: str, answerable: float, **how: Any) -> str:
    """Say why the over-refusal of a response is undefined."""
    return _no_outcome(response, **how) if answerable else UNANSWERABLE


def _no_risk(response: str, answerable: float, correct: Any = None, **how: Any) -> str:
    """Say why the selective risk of a response is undefined."""
    reasons = {REFUSED: IS_REFUSED, INVALID: IS_INVALID, ANSWERED: "no verdict on the answer"}
    outcome = _outcome(response, **how)
    return reasons[outcome] if outcome else _no_outcome(response, **how)


@metric(
    "abstention.coverage",
    source=_CHEN,
    binary=True,
    evidence=_evidence,
    reason=_no_outcome,
    undefined=f"If {_NO_OUTCOME_IF}",
)
def is_answered(
    response: Annotated[str, Response],
    *,
    language: Annotated[str, Language] = "en",
    judged: Annotated[float | None, JudgedRefusal] = None,
    label: Annotated[float | None, RefusalLabel] = None,
    rule: Annotated[str, RefusalRule] = "start",
    phrases: Annotated[Phrases, RefusalPhrases] = None,
    empty: Annotated[str | None, EmptyResponse] = None,
) -> float:
    """Coverage: 1.0 if the response answers the question, 0.0 if it is a refusal.

    Coverage = answered questions / all questions, which is the mean of this indicator. A higher
    coverage is better only if the answers are correct. Under ``'nomiracl'``, an invalid response
    also gives 0.0.

    Notes
    -----
    Source: Chen et al. (2024), arXiv 2409.16146.

    Examples
    --------
    >>> is_answered("Oslo."), is_answered("I don't know.")
    (1.0, 0.0)
    """
    outcome = _outcome(**locals())
    return float(outcome == ANSWERED) if outcome else math.nan


@metric(
    "abstention.hallucination",
    source=_THAKUR,
    higher_is_better=False,
    binary=True,
    evidence=_evidence,
    condition=ANSWERABLE,
    reason=_no_hallucination,
    undefined=f"If the question is answerable, if {_NO_OUTCOME_IF}",
)
def is_hallucination(
    response: Annotated[str, Response],
    answerable: Annotated[float, Answerable],
    *,
    language: Annotated[str, Language] = "en",
    judged: Annotated[float | None, JudgedRefusal] = None,
    label: Annotated[float | None, RefusalLabel] = None,
    rule: Annotated[str, RefusalRule] = "start",
    phrases: Annotated[Phrases, RefusalPhrases] = None,
    empty: Annotated[str | None, EmptyResponse] = None,
) -> float:
    """Hallucination: 1.0 if an unanswerable question is answered, 0.0 if it is refused.

    Hallucination rate = answered unanswerable questions / all unanswerable questions, which is the
    mean of this indicator. It does not matter whether the answers are correct. Under
    ``'nomiracl'``, an invalid response to an unanswerable question also gives 0.0.

    Notes
    -----
    Source: Thakur et al. (2024), NoMIRACL, arXiv 2312.11361. Chen et al. (2024), arXiv 2409.16146,
    report 1 - hallucination rate as *carefulness*. Their code treats a question as answerable if
    the system's answer matches the reference.

    Examples
    --------
    >>> is_hallucination("Oslo.", 0), is_hallucination("I don't know.", 0), is_hallucination("Oslo.", 1)
    (1.0, 0.0, nan)
    """
    outcome = _outcome(**locals())
    if binary_verdict(answerable) != 0 or outcome is None:
        return math.nan
    return float(outcome == ANSWERED)


@metric(
    "abstention.over_refusal",
    source=_THAKUR,
    higher_is_better=False,
    binary=True,
    evidence=_evidence,
    condition=UNANSWERABLE,
    reason=_no_over_refusal,
    undefined=f"If the question is not answerable, if {_NO_OUTCOME_IF}",
)
def is_over_refusal(
    response: Annotated[str, Response],
    answerable: Annotated[float, Answerable],
    *,
    language: Annotated[str, Language] = "en",
    judged: Annotated[float | None, JudgedRefusal] = None,
    label: Annotated[float | None, RefusalLabel] = None,
    rule: Annotated[str, RefusalRule] = "start",
    phrases: Annotated[Phrases, RefusalPhrases] = None,
    empty: Annotated[str | None, EmptyResponse] = None,
) -> float:
    """Over-refusal: 1.0 if an answerable question is refused, 0.0 if it is answered.

    Over-refusal rate = refused answerable questions / all answerable questions, which is the mean
    of this indicator. Under ``'nomiracl'``, an invalid response to an answerable question also
    gives 0.0.

    Notes
    -----
    Source: Thakur et al. (2024), NoMIRACL, arXiv 2312.11361, who call the mean the *error rate*.

    Examples
    --------
    >>> is_over_refusal("I don't know.", 1), is_over_refusal("Oslo.", 1), is_over_refusal("Oslo.", 0)
    (1.0, 0.0, nan)
    """
    outcome = _outcome(**locals())
    if binary_verdict(answerable) != 1 or outcome is None:
        return math.nan
    return float(outcome == REFUSED)


@metric(
    "abstention.alignment",
    source=_CHEN,
    binary=True,
    evidence=_evidence,
    reason=_no_outcome,
    undefined=f"If {_NO_OUTCOME_IF}",
)
def is_aligned(
    response: Annotated[str, Response],
    answerable: Annotated[float, Answerable],
    *,
    language: Annotated[str, Language] = "en",
    judged: Annotated[float | None, JudgedRefusal] = None,
    label: Annotated[float | None, RefusalLabel] = None,
    rule: Annotated[str, RefusalRule] = "start",
    phrases: Annotated[Phrases, RefusalPhrases] = None,
    empty: Annotated[str | None, EmptyResponse] = None,
) -> float:
    """Alignment: 1.0 if the decision to answer or to refuse is right, else 0.0.

    It is right to answer an answerable question and to refuse an unanswerable one. The mean of
    this indicator is the accuracy of these decisions. Under ``'nomiracl'``, an invalid response is
    never right.

    Notes
    -----
    Source: Chen et al. (2024), arXiv 2409.16146. Their code treats a question as answerable if
    the system's answer matches the reference, so their values also depend on whether the answers
    are correct.

    Examples
    --------
    >>> is_aligned("Oslo.", 1), is_aligned("Oslo.", 0), is_aligned("I don't know.", 0)
    (1.0, 0.0, 1.0)
    """
    outcome = _outcome(**locals())
    is_answerable = binary_verdict(answerable)
    if math.isnan(is_answerable) or outcome is None:
        return math.nan
    right_outcome = ANSWERED if is_answerable else REFUSED
    return float(outcome == right_outcome)


@metric(
    "abstention.risk",
    source=_CHEN,
    higher_is_better=False,
    binary=True,
    evidence=_evidence,
    condition=IS_REFUSED,
    reason=_no_risk,
    undefined="If the response is a refusal, if it answers an answerable question and has no verdict, "
    f"if {_NO_OUTCOME_IF}",
)
def is_risk(
    response: Annotated[str, Response],
    answerable: Annotated[float, Answerable],
    correct: Annotated[bool | float | str | None, Verdict] = None,
    *,
    language: Annotated[str, Language] = "en",
    judged: Annotated[float | None, JudgedRefusal] = None,
    label: Annotated[float | None, RefusalLabel] = None,
    rule: Annotated[str, RefusalRule] = "start",
    phrases: Annotated[Phrases, RefusalPhrases] = None,
    empty: Annotated[str | None, EmptyResponse] = None,
) -> float:
    """Selective risk: 1.0 if an answer is wrong, 0.0 if it is correct.

    Risk = wrong answers / all answers, which is the mean of this indicator. An answer to an
    unanswerable question counts as wrong. Refusals and invalid responses are not answers, so they
    have no value.

    Notes
    -----
    Source: El-Yaniv and Wiener (2010), JMLR 11; Chen et al. (2024), arXiv 2409.16146.

    Examples
    --------
    >>> is_risk("Oslo.", 1, 1), is_risk("Oslo.", 0), is_risk("I don't know.", 1)
    (0.0, 1.0, nan)
    """
    outcome = _outcome(**locals())
    is_answerable = binary_verdict(answerable)
    if outcome != ANSWERED or math.isnan(is_answerable):
        return math.nan
    return 1 - is_accepted(correct) if is_answerable else 1.0
