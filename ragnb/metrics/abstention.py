"""Metrics of refusals on a mix of answerable and unanswerable questions.

A system should answer a question if the passages (or the model's knowledge) contain the answer,
and refuse otherwise. ``answerable`` is 1 in the first case and 0 in the second. ``rule`` selects
how a refusal is recognised:

==============  ==============================================================================
``rule=``       the response is a refusal if
==============  ==============================================================================
``'start'``     it begins with an agreed phrase, such as the one that the prompt requests
``'anywhere'``  it contains an agreed phrase
``'list'``      it contains one of the phrases in `REFUSALS` in its own language or in English
``'judge'``     a judge says so (column ``judged_refusal``)
``'label'``     an annotator says so (column ``refusal``)
``'nomiracl'``  the code of NoMIRACL says so, see below
==============  ==============================================================================

NoMIRACL's prompt requests one of two replies, and its code distinguishes three outcomes. A response
is an *answer* if it contains "Yes, answer is present", and a *refusal* if it contains "I don't know".
If it contains both, it is *invalid*. If it contains neither, it is an answer if it contains "answer
is present", or if it has fewer than 10 characters and cites a passage, such as "[3]"; a refusal if it
contains "answer is not present"; and otherwise invalid. An
invalid response is neither an answer nor a refusal, and it counts in the denominator of every rate.

A response that answers nothing, such as an empty text, is neither an answer nor a refusal, so it has
no value. With ``empty='refusal'``, an empty text is a refusal. Under ``'nomiracl'`` it is invalid.
Under ``'list'``, a response in a language without a list has no value, unless it contains an English
phrase.

With ``phrases`` you can replace the agreed phrases or the list. Differences in case, apostrophes,
white space, Markdown emphasis and Unicode form (NFKC) are ignored. Under ``'start'``, quotation
marks, brackets, Markdown, the number of a list item and a label such as *Answer:* before the phrase
are ignored as well. All functions raise InputError for
an unknown rule, and for labels other than 0, 1, None and NaN.

Answerable and refused form a 2 × 2 table, and papers report different shares of this table.
Thakur et al. (2024), NoMIRACL, arXiv 2312.11361, report the *hallucination rate* and the *error
rate*. Chen et al. (2024), arXiv 2409.16146, report *risk*, *carefulness*, *alignment* and
*coverage*. Their code treats a question as answerable if the system's answer matches the reference.
"""

import math
from collections.abc import Mapping
from typing import Any

from ragnb.metrics.judged import binary_verdict, is_accepted
from ragnb.metrics.recognition import (
    ANSWERED,
    INVALID,
    REFUSED,
    Phrases,
    outcome_and_why,
    refused_and_why,
)
from ragnb.metrics.record import metric

_COLUMNS = {
    "response": "response",
    "language": "language",
    "judged": "judged_refusal",
    "label": "refusal",
}
_MIXED = {**_COLUMNS, "answerable": "answerable"}
_OPTIONS: dict[str, Mapping[Any, str]] = {
    "rule": {
        "start": "A refusal begins with an agreed phrase.",
        "anywhere": "A refusal contains an agreed phrase.",
        "list": "A refusal contains a listed phrase in its own language or in English.",
        "judge": "The verdict of a judge, in the column judged_refusal.",
        "label": "The verdict of a person, in the column refusal.",
        "nomiracl": 'A refusal contains "I don\'t know", an answer "Yes, answer is present"; all else is '
        "invalid and counts in the denominator.",
    },
    "phrases": {
        None: "The agreed phrase is \"I don't know\"; the list is ragnb's.",
        ...: "Custom phrases, or a mapping from language codes to them.",
    },
    "empty": {
        None: "An empty response is not scored; under nomiracl it is invalid.",
        "refusal": "An empty response is a refusal.",
    },
}
_THAKUR = "Thakur et al. 2024 (NoMIRACL), arXiv 2312.11361"
_CHEN = "Chen et al. 2024, arXiv 2409.16146"
_UNDECIDED = (
    "the response is empty, if the verdict that the rule requires is missing, or if, under list, "
    "there is no list of refusals in the language."
)

# Reasons why a response has no outcome.
NO_VERDICT = "no verdict on the refusal"
ANSWERABLE, UNANSWERABLE = "the question is answerable", "the question is not answerable"
IS_REFUSED, IS_INVALID = "the response is a refusal", "the response is invalid"

# Arguments that decide the outcome of a response.
_HOW = ("language", "judged", "label", "rule", "phrases", "empty")


def refusal_evidence(
    response: str, answerable: float | None = None, correct: Any = None, **options: Any
) -> str:
    """Explain in words why a response is or is not a refusal; see `refused_and_why`.

    All metrics of refusals share this function, so it accepts arguments that it does not use.
    """
    return refused_and_why(response, **options)[1]


def _no_value(response: str, **call: Any) -> str:
    """Why a response has no outcome."""
    options = {name: call[name] for name in _HOW if name in call}
    result, evidence = outcome_and_why(response, **options)
    if result or evidence == "by the verdict":
        return NO_VERDICT
    return evidence


def _no_hallucination(response: str, answerable: float, **call: Any) -> str:
    return ANSWERABLE if answerable else _no_value(response, **call)


def _no_over_refusal(response: str, answerable: float, **call: Any) -> str:
    return _no_value(response, **call) if answerable else UNANSWERABLE


def _no_risk(response: str, answerable: float, correct: Any = None, **call: Any) -> str:
    options = {name: call[name] for name in _HOW if name in call}
    result, _ = outcome_and_why(response, **options)
    if result is None:
        return _no_value(response, **call)
    reasons = {REFUSED: IS_REFUSED, INVALID: IS_INVALID, ANSWERED: "no verdict on the answer"}
    return reasons[result]


@metric(
    "abstention.coverage",
    _COLUMNS,
    options=_OPTIONS,
    source=_CHEN,
    binary=True,
    evidence=refusal_evidence,
    reason=_no_value,
    undefined=f"If {_UNDECIDED}",
)
def is_answered(
    response: str,
    *,
    language: str = "en",
    judged: float | None = None,
    label: float | None = None,
    rule: str = "start",
    phrases: Phrases = None,
    empty: str | None = None,
) -> float:
    """Coverage: 1.0 if the response answers the question, 0.0 if it is a refusal.

    Coverage = answered questions / all questions, which is the mean of this indicator.

    Parameters
    ----------
    response : str
        Response of the system.
    language, judged, label, rule, phrases, empty
        See `refused_and_why`.

    Returns
    -------
    float
        1.0 or 0.0. A higher value is better only if the answers are correct. NaN if the response has no
        outcome (see `outcome_and_why`).

    Notes
    -----
    Source: Chen et al. (2024), arXiv 2409.16146.

    Examples
    --------
    >>> is_answered("Oslo."), is_answered("I don't know.")
    (1.0, 0.0)
    """
    result, _ = outcome_and_why(
        response,
        language=language,
        judged=judged,
        label=label,
        rule=rule,
        phrases=phrases,
        empty=empty,
    )
    return float(result == ANSWERED) if result else math.nan


@metric(
    "abstention.hallucination",
    _MIXED,
    options=_OPTIONS,
    source=_THAKUR,
    higher_is_better=False,
    binary=True,
    evidence=refusal_evidence,
    condition=ANSWERABLE,
    reason=_no_hallucination,
    undefined=f"If the question is answerable, if {_UNDECIDED}",
)
def is_hallucination(
    response: str,
    answerable: float,
    *,
    language: str = "en",
    judged: float | None = None,
    label: float | None = None,
    rule: str = "start",
    phrases: Phrases = None,
    empty: str | None = None,
) -> float:
    """Hallucination: 1.0 if an unanswerable question is answered, 0.0 if it is refused.

    Hallucination rate = answered unanswerable questions / all unanswerable questions, which is the
    mean of this indicator. It does not matter whether the answers are correct.

    Parameters
    ----------
    response : str
        Response of the system.
    answerable : float
        1 if the question is answerable, else 0.
    language, judged, label, rule, phrases, empty
        See `refused_and_why`.

    Returns
    -------
    float
        1.0 or 0.0; lower is better. NaN if `answerable` is 1 or missing, if the response has no
        outcome (see `outcome_and_why`).

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
    result, _ = outcome_and_why(
        response,
        language=language,
        judged=judged,
        label=label,
        rule=rule,
        phrases=phrases,
        empty=empty,
    )
    if binary_verdict(answerable) != 0 or result is None:
        return math.nan
    return float(result == ANSWERED)


@metric(
    "abstention.over_refusal",
    _MIXED,
    options=_OPTIONS,
    source=_THAKUR,
    higher_is_better=False,
    binary=True,
    evidence=refusal_evidence,
    condition=UNANSWERABLE,
    reason=_no_over_refusal,
    undefined=f"If the question is not answerable, if {_UNDECIDED}",
)
def is_over_refusal(
    response: str,
    answerable: float,
    *,
    language: str = "en",
    judged: float | None = None,
    label: float | None = None,
    rule: str = "start",
    phrases: Phrases = None,
    empty: str | None = None,
) -> float:
    """Over-refusal: 1.0 if an answerable question is refused, 0.0 if it is answered.

    Over-refusal rate = refused answerable questions / all answerable questions, which is the mean
    of this indicator.

    Parameters
    ----------
    response : str
        Response of the system.
    answerable : float
        1 if the question is answerable, else 0.
    language, judged, label, rule, phrases, empty
        See `refused_and_why`.

    Returns
    -------
    float
        1.0 or 0.0; lower is better. NaN if `answerable` is 0 or missing, if the response has no
        outcome (see `outcome_and_why`).

    Notes
    -----
    Source: Thakur et al. (2024), NoMIRACL, arXiv 2312.11361, who call the mean the *error rate*.

    Examples
    --------
    >>> is_over_refusal("I don't know.", 1), is_over_refusal("Oslo.", 1), is_over_refusal("Oslo.", 0)
    (1.0, 0.0, nan)
    """
    result, _ = outcome_and_why(
        response,
        language=language,
        judged=judged,
        label=label,
        rule=rule,
        phrases=phrases,
        empty=empty,
    )
    if binary_verdict(answerable) != 1 or result is None:
        return math.nan
    return float(result == REFUSED)


@metric(
    "abstention.alignment",
    _MIXED,
    options=_OPTIONS,
    source=_CHEN,
    binary=True,
    evidence=refusal_evidence,
    reason=_no_value,
    undefined=f"If {_UNDECIDED}",
)
def is_aligned(
    response: str,
    answerable: float,
    *,
    language: str = "en",
    judged: float | None = None,
    label: float | None = None,
    rule: str = "start",
    phrases: Phrases = None,
    empty: str | None = None,
) -> float:
    """Alignment: 1.0 if the decision to answer or to refuse is right, else 0.0.

    It is right to answer an answerable question and to refuse an unanswerable one. The mean of
    this indicator is the accuracy of these decisions.

    Parameters
    ----------
    response : str
        Response of the system.
    answerable : float
        1 if the question is answerable, else 0.
    language, judged, label, rule, phrases, empty
        See `refused_and_why`.

    Returns
    -------
    float
        1.0 or 0.0; higher is better. NaN if `answerable` is missing, if the response has no
        outcome (see `outcome_and_why`).

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
    result, _ = outcome_and_why(
        response,
        language=language,
        judged=judged,
        label=label,
        rule=rule,
        phrases=phrases,
        empty=empty,
    )
    known = binary_verdict(answerable)
    if math.isnan(known) or result is None:
        return math.nan
    return float(result == (ANSWERED if known else REFUSED))


@metric(
    "abstention.risk",
    {**_MIXED, "correct": "verdict"},
    options=_OPTIONS,
    source=_CHEN,
    higher_is_better=False,
    binary=True,
    evidence=refusal_evidence,
    condition=IS_REFUSED,
    reason=_no_risk,
    undefined="If the response is a refusal, if it answers an answerable question and has no verdict, "
    f"if {_UNDECIDED}",
)
def is_risk(
    response: str,
    answerable: float,
    correct: bool | float | str | None = None,
    *,
    language: str = "en",
    judged: float | None = None,
    label: float | None = None,
    rule: str = "start",
    phrases: Phrases = None,
    empty: str | None = None,
) -> float:
    """Selective risk: 1.0 if an answer is wrong, 0.0 if it is correct.

    Risk = wrong answers / all answers, which is the mean of this indicator. An answer to an
    unanswerable question counts as wrong.

    Parameters
    ----------
    response : str
        Response of the system.
    answerable : float
        1 if the question is answerable, else 0.
    correct : bool, float, str or None, default=None
        Verdict on the response: True, 1 or ``'correct'`` if it is correct; False, 0,
        ``'incorrect'`` or ``'refuse'`` if not. Required only for answers to answerable questions.
    language, judged, label, rule, phrases, empty
        See `refused_and_why`.

    Returns
    -------
    float
        1.0 or 0.0; lower is better. NaN if the response is a refusal, if `answerable` is
        missing, if a required verdict is missing, or if the response has no outcome
        (see `outcome_and_why`).

    Notes
    -----
    Source: El-Yaniv and Wiener (2010), JMLR 11; Chen et al. (2024), arXiv 2409.16146.

    Examples
    --------
    >>> is_risk("Oslo.", 1, 1), is_risk("Oslo.", 0), is_risk("I don't know.", 1)
    (0.0, 1.0, nan)
    """
    result, _ = outcome_and_why(
        response,
        language=language,
        judged=judged,
        label=label,
        rule=rule,
        phrases=phrases,
        empty=empty,
    )
    known = binary_verdict(answerable)
    if result != ANSWERED or math.isnan(known):
        return math.nan
    return 1 - is_accepted(correct) if known else 1.0
