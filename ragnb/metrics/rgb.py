"""RGB's four abilities (Chen et al., AAAI 2024, arXiv 2309.01431, section 3) under three protocols.

A reference answer is a list of *parts*. A response must contain all of them. A part is a string or
a list of *aliases*; any one alias is sufficient. ``["a", "b"]`` means a AND b; ``[["a", "b"]]``
means a OR b.

``protocol`` selects the definition: ``"paper"`` is the definition in the paper, ``"released"`` is
the published code (chen700564/RGB at commit 65ec39e4) including its errors, and ``"flexible"`` is a
lenient re-implementation with long lists of English phrases. `ragnb.metrics.rgb_protocols`
describes how each protocol normalises a text.

RGB's prompt tells the model which sentence to use for a refusal, and which for a report of errors
in the documents (the *agreed sentences*). ``refusal`` and ``detection`` select how a refusal or a
report of errors is recognised:

===================  ===============================================================================
value                a response counts if
===================  ===============================================================================
None (default)       it meets the protocol's own rule
``"phrase"``         it contains the key phrase of the agreed sentence
``"sentence"``       it contains the whole agreed sentence
a list of phrases    it contains one of them, in any letter case (under ``"released"``, as written)
a mapping            it contains one of the phrases for its language: ``{"en": [...], "zh": [...]}``
``"judge"``          a judge decides so, in ``judged_refusal`` or ``judged_detection``
``"label"``          a person decides so, in ``refusal_label`` or ``detection_label``
===================  ===============================================================================

The functions use the whole response. `ragnb.score` passes them the answer without the reasoning
(``<think>…</think>``), except under ``"released"``, where it passes the whole reply, as in the
published code. If you call a function yourself with the reply of a reasoning model, first extract
the answer with `ragnb.text.split_reasoning`.

The value of a metric is 1.0 or 0.0. It is NaN if there is no response (None or NaN), or if a
required verdict of a judge or person is missing. Note that Python treats NaN as true in an ``if``
statement.

All functions raise InputError for an unknown protocol or rule, a value that is not a language code,
a response that is not a string, an answer without a part or with an empty alias, and a noise rate
outside [0, 1].
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from ragnb.errors import InputError, as_real, check_choice
from ragnb.metrics.judged import NEVER_JUDGED, binary_verdict
from ragnb.metrics.record import metric
from ragnb.metrics.rgb_protocols import (
    BY_VERDICT,
    Alias,
    Answer,
    FalseAnswer,
    Normalised,
    Part,
    Rule,
    aliases_of,
    false_aliases_of,
    normalise,
    protocol_of,
)
from ragnb.records import is_missing

FOUND, NOT_FOUND, REFUSED = 1, 0, -1
"""Labels of an answer part. A refusal has the single label `REFUSED`."""

NO_RESPONSE = "no response"
NO_VERDICT = "no verdict"
PARTS = ("all", "any")
BY_THE_VERDICT = "by the verdict"
NOT_IN_WORDS = {"refusal": "no refusal phrase", "error": "no error detected"}
NO_ANSWER = object()
"""Replaces the answer in `is_refusal` and `detects_error`, which do not need one."""

# ---- what the records of the metrics say -------------------------------------------------------

_CHEN = "Chen et al., AAAI 2024, arXiv 2309.01431, section 3"
_CODE = "chen700564/RGB@65ec39e4 evalue.py"
_ANSWERED = {"response": "response", "answer": "references", "language": "language"}
_FACED = {"response": "response", "false_answer": "false_answers", "language": "language"}
_REFUSAL_COLUMNS = {"judged_refusal": "judged_refusal", "refusal_label": "refusal"}
_DETECTION_COLUMNS = {"judged_detection": "judged_detection", "detection_label": "error_detected"}
_NEVER_RULED = "Never, unless the response or a required verdict is missing."
_LENIENT = "A lenient re-implementation: "
_FOLDED = "ignoring letter case and Unicode variants of white space, hyphens and quotation marks"
_RIGHT = (
    f"Every part of the answer is a substring of the response, {_FOLDED}. A refusal is incorrect."
)
_NEARLY_RIGHT = (
    f"{_LENIENT}80 % of the words of a part are sufficient, and a response that also refuses can be "
    "correct."
)
_BY_PHRASE = f"The response contains the agreed key phrase, {_FOLDED}."

Sentences = Mapping[str, Mapping[Any, str]]


def _rule_sentences(what: str, judged: str, label: str) -> Mapping[Any, str]:
    return {
        None: f"The protocol's own rule for {what}.",
        "phrase": f"{what.capitalize()} contains the key phrase of the agreed sentence.",
        "sentence": f"{what.capitalize()} contains the whole agreed sentence.",
        "judge": f"The verdict of a judge, in the column {judged}.",
        "label": f"The verdict of a person, in the column {label}.",
        ...: "A list of custom phrases, or a mapping from language codes to such lists.",
    }


_REFUSAL: Sentences = {"refusal": _rule_sentences("a refusal", "judged_refusal", "refusal")}
_DETECTION: Sentences = {
    "detection": _rule_sentences("a report of errors", "judged_detection", "error_detected")
}


# ---- accuracy ----------------------------------------------------------------------------------


def answer_labels(
    response: str,
    answer: Answer,
    *,
    language: str = "en",
    protocol: str = "paper",
    refusal: Rule = None,
) -> list[int]:
    """Label each answer part: 1 if found in the response, 0 if not; ``[-1]`` for a refusal.

    Under ``"flexible"``, the parts are labelled even if the response is a refusal. The parameters are
    those of `is_correct`. InputError is raised if the response is None, or if a verdict that the rule
    for refusals requires is missing.

    A part is found if one of its aliases is a substring of the response. Letter case is ignored.
    For Chinese, spaces are removed first; ``"released"`` removes them from the response only. Under
    ``"flexible"``, it is sufficient that 80 % of the words of an alias occur anywhere in the
    response.

    Notes
    -----
    Source: Chen et al. (2024), section 3; ``checkanswer`` of chen700564/RGB at commit 65ec39e4. A
    comment in that code, and documents that repeat it, swap the meaning of 0 and 1.

    Examples
    --------
    >>> answer_labels("It was in Tampa.", [["Tampa", "Tampa Bay"], "2021"])
    [1, 0]
    >>> answer_labels("on 2nd January of 1892", "2 January, 1892", protocol="flexible")  # 2 of 3
    [0]
    """
    found = _find(response, answer, language=language, protocol=protocol, refusal=refusal)
    if isinstance(found, str):
        raise InputError(
            f"answer_labels needs a response and a refusal phrase, got {response!r:.80} and "
            f"refusal={refusal!r:.80}; if refusal is 'judge' or 'label', use is_correct"
        )
    return found.labels()


def answer_evidence(
    response: str | None, answer: Answer, *, parts: str = "all", **options: Any
) -> str:
    """Explain the value of `is_correct`: the refusal, or which alias is found for each part.

    The arguments are those of `is_correct`.

    >>> answer_evidence("It was in Tampa.", [["Tampa", "Tampa Bay"], "2021"])
    "part 1: 'Tampa'; part 2: not found"
    """
    found = _find(response, answer, **options)
    if isinstance(found, str):
        return found
    counted = ", counted as correct at noise rate 1" if found.refusal_is_right else ""
    return found.parts_in_words() + counted


@metric(
    "rgb.accuracy",
    {**_ANSWERED, "noise_rate": "noise_rate", **_REFUSAL_COLUMNS},
    options={
        "protocol": {
            "paper": _RIGHT,
            "released": "As in the published code: the reasoning in <think> is searched as well, a "
            "refusal is recognised only in lower case, and it is correct at noise rate 1.",
            "flexible": _NEARLY_RIGHT,
        },
        **_REFUSAL,
        "parts": {
            "all": "Every part of the answer must be found, as RGB defines it.",
            "any": "One part of the answer is sufficient.",
        },
    },
    source=f"{_CHEN}; {_CODE} checkanswer",
    binary=True,
    evidence=answer_evidence,
    undefined=_NEVER_RULED,
)
def is_correct(
    response: str | None,
    answer: Answer,
    *,
    language: str = "en",
    protocol: str = "paper",
    noise_rate: float | None = None,
    refusal: Rule = None,
    parts: str = "all",
    judged_refusal: float | None = None,
    refusal_label: float | None = None,
) -> float:
    """1.0 if every part of the answer is found and the response is not a refusal, else 0.0.

    Higher is better. The value is NaN if there is no response, or if the verdict that `refusal`
    requires is missing. The mean over questions is RGB's accuracy, correct / n, for noise
    robustness and for information integration.

    `answer_labels` computes the label of each part. With ``parts="all"``, a response is correct if
    the labels contain 1 and no 0. Under ``"flexible"``, a response can be correct even if it is
    also a refusal.

    Parameters
    ----------
    response : str or None
        The response of the system.
    answer : str or list
        A string, or a list of parts.
    language : str
        Language code.
    protocol : {"paper", "released", "flexible"}
        The definition; see the top of this module.
    noise_rate : float, optional
        Nominal proportion of passages without the answer. Used only by ``"released"``, which counts
        refusals at noise rate 1 as correct.
    refusal : optional
        How a refusal is recognised; see the top of this module.
    parts : {"all", "any"}
        ``"all"``: every part must be found, which is RGB's definition. ``"any"``: one part is
        sufficient; some evaluations report this more lenient value under the same name.
    judged_refusal, refusal_label : float, optional
        Verdict of a judge or of a person, 1 for a refusal. Required for ``refusal="judge"`` and
        ``refusal="label"``.

    Notes
    -----
    Source: Chen et al. (2024), section 3, "Accuracy"; ``all_rate`` of chen700564/RGB at commit
    65ec39e4.

    Examples
    --------
    >>> is_correct("Oslo or Bergen", ["Oslo"]), is_correct("Bergen", ["Oslo"])
    (1.0, 0.0)
    >>> is_correct("Only Oslo", ["Oslo", "1950"]), is_correct("Only Oslo", ["Oslo", "1950"], parts="any")
    (0.0, 1.0)
    """
    check_choice(parts, PARTS, "parts")
    found = _find(
        response,
        answer,
        language=language,
        protocol=protocol,
        noise_rate=noise_rate,
        refusal=refusal,
        judged_refusal=judged_refusal,
        refusal_label=refusal_label,
    )
    if isinstance(found, str):
        return math.nan
    return float(found.refusal_is_right or are_right(found.labels(), parts))


def are_right(labels: list[int], parts: str = "all") -> bool:
    """Return whether all parts are found, or with ``parts="any"`` at least one part.

    The result is False for a refusal.

    >>> are_right([1, 0]), are_right([1, 0], "any"), are_right([-1])
    (False, True, False)
    """
    return FOUND in labels and (parts == "any" or NOT_FOUND not in labels)


# ---- negative rejection ------------------------------------------------------------------------


def is_refusal(
    response: str | None,
    *,
    language: str = "en",
    protocol: str = "paper",
    refusal: Rule = None,
    judged_refusal: float | None = None,
    refusal_label: float | None = None,
) -> float:
    """1.0 if the response is a refusal, else 0.0.

    Whether a refusal is the correct reaction depends on the passages. The value is NaN in the same
    cases as `is_correct`.

    Under ``"paper"``, a refusal contains the key phrase of the agreed sentence, ``insufficient
    information`` or ``信息不足``, in any letter case. Under ``"released"``, the phrase must be in lower
    case. For Chinese, spaces are removed from the response first. Because ``"released"`` keeps the
    spaces in its phrases, it never finds the English phrase in a Chinese response. Under
    ``"flexible"``, the response in lower case contains one of the phrases in
    `ragnb.metrics.rgb_protocols.FLEXIBLE_REFUSALS` or, for Chinese, one of the two key phrases.
    Pass custom phrases for models that refuse in other words, or in a language other than that of
    the question. The parameters are those of `is_correct`.

    Notes
    -----
    Source: Chen et al. (2024), section 3; ``predict`` of chen700564/RGB at commit 65ec39e4.

    Examples
    --------
    >>> is_refusal("I can not answer because of the insufficient information in documents.")
    1.0
    >>> is_refusal("The reason is unknown."), is_refusal("The reason is unknown.", protocol="flexible")
    (0.0, 1.0)
    >>> is_refusal("I don't know.", language="zh", refusal=["I don't know", "我不知道"])
    1.0
    """
    found = _find(
        response,
        language=language,
        protocol=protocol,
        refusal=refusal,
        judged_refusal=judged_refusal,
        refusal_label=refusal_label,
    )
    return math.nan if isinstance(found, str) else float(found.refusal is not None)


def refusal_evidence(response: str | None, **options: Any) -> str:
    """Explain the value of `is_refusal`: which phrase is found, or that there was a verdict.

    The arguments are those of `is_refusal`.

    >>> refusal_evidence("I cannot say.", protocol="flexible")
    "refusal: 'i cannot'"
    """
    found = _find(response, **options)
    return found if isinstance(found, str) else found.in_words("refusal")


def rejection_evidence(response: str | None, answer: Answer | None = None, **options: Any) -> str:
    """Explain the value of `is_rejection`: the refusal and, for ``"released"``, the aliases found.

    The arguments are those of `is_rejection`.

    >>> rejection_evidence("It is Oslo.", "Oslo", protocol="released")
    "no refusal phrase; part 1: 'Oslo'"
    """
    found = _find(response, NO_ANSWER if is_missing(answer) else answer, **options)
    if isinstance(found, str):
        return found
    said = found.in_words("refusal")
    if found.protocol == "released" and not found.parts:
        return f"{said}; no reference answer"
    if found.protocol == "released" and not found.refusal:
        return f"{said}; {found.parts_in_words()}"
    return said


@metric(
    "rgb.rejection",
    {**_ANSWERED, **_REFUSAL_COLUMNS},
    options={
        "protocol": {
            "paper": f"{_BY_PHRASE} The mean is refusals / n.",
            "released": "As in the published code: the response contains the key phrase in lower "
            "case, or is correct. The mean is (refusals + correct answers) / n.",
            "flexible": f"{_LENIENT}the response contains one of a long list of English phrases or, "
            "in Chinese, the key phrase.",
        },
        **_REFUSAL,
    },
    source=f"{_CHEN}; {_CODE} all_rate",
    binary=True,
    evidence=rejection_evidence,
    undefined="Never, unless the response or, under released, the reference is missing.",
)
def is_rejection(
    response: str | None,
    answer: Answer | None = None,
    *,
    language: str = "en",
    protocol: str = "paper",
    refusal: Rule = None,
    judged_refusal: float | None = None,
    refusal_label: float | None = None,
) -> float:
    """1.0 if the response refuses to answer from passages that lack the answer, else 0.0 (Rej).

    Higher is better. RGB calls this ability negative rejection. The mean is the rejection rate,
    refusals / n, which does not require a reference answer. Under ``"released"``, the mean is
    ``all_rate`` of the published code, (refusals + correct answers) / n, and the value is NaN
    without a reference answer. Otherwise it is NaN in the same cases as `is_correct`. Use
    `is_refusal` for refusals alone. The parameters are those of `is_correct`.

    Notes
    -----
    Source: Chen et al. (2024), section 3, "Rejection rate"; ``all_rate`` of chen700564/RGB at
    commit 65ec39e4.

    Examples
    --------
    >>> is_rejection("It is Oslo.", "Oslo"), is_rejection("It is Oslo.", "Oslo", protocol="released")
    (0.0, 1.0)
    """
    found = _find(
        response,
        NO_ANSWER if is_missing(answer) else answer,
        language=language,
        protocol=protocol,
        refusal=refusal,
        judged_refusal=judged_refusal,
        refusal_label=refusal_label,
    )
    if isinstance(found, str) or (protocol == "released" and not found.parts):
        return math.nan
    also_right = protocol == "released" and are_right(found.labels())
    return float(found.refusal is not None or also_right)


# ---- counterfactual robustness -----------------------------------------------------------------


def detection_evidence(response: str | None, **options: Any) -> str:
    """Explain the value of `detects_error`: which phrase is found, or that there was a verdict.

    The arguments are those of `detects_error`.

    >>> detection_evidence("There are factual errors in the provided documents.")
    "error: 'factual errors'"
    """
    found = _find(response, **options)
    return found if isinstance(found, str) else found.in_words("error")


@metric(
    "rgb.error_detection",
    {**_FACED, **_DETECTION_COLUMNS},
    options={
        "protocol": {
            "paper": _BY_PHRASE,
            "released": "As in the published code: the response contains the key phrase in lower "
            "case.",
            "flexible": f"{_LENIENT}the response contains one of a long list of English phrases, or "
            '"not X" or "X is wrong" for a false answer X.',
        },
        **_DETECTION,
    },
    source=f"{_CHEN}; {_CODE} predict",
    binary=True,
    evidence=detection_evidence,
    undefined=_NEVER_RULED,
)
def detects_error(
    response: str | None,
    *,
    false_answer: FalseAnswer = None,
    language: str = "en",
    protocol: str = "paper",
    detection: Rule = None,
    judged_detection: float | None = None,
    detection_label: float | None = None,
) -> float:
    """1.0 if the response states that the passages are wrong, else 0.0 (error detection, ED).

    Higher is better. The value is NaN if there is no response, or if the verdict that `detection`
    requires is missing. The mean is RGB's error detection rate (ED).

    Under ``"paper"``, the response contains the key phrase ``factual errors`` or ``事实性错误``, in any
    letter case. Under ``"released"``, the phrase must be in lower case. For Chinese, spaces are
    removed from the response first. Under ``"flexible"``, the response in lower case contains one
    of the phrases in `ragnb.metrics.rgb_protocols.FLEXIBLE_ERRORS` (for Chinese, one of the two key
    phrases), ``not <false answer>`` or ``<false answer> is wrong``.

    Parameters
    ----------
    response, language, protocol
        As for `is_correct`.
    false_answer : str, list or None
        The answer that the false passages give: a string, a list of strings, or None. Used only by
        ``"flexible"``.
    detection : optional
        How a report of errors is recognised; see the top of this module.
    judged_detection, detection_label : float, optional
        Verdict of a judge or of a person, 1 for a report of errors. Required for
        ``detection="judge"`` and ``detection="label"``.

    Notes
    -----
    Source: Chen et al. (2024), section 3, "Error detection rate"; ``predict`` of chen700564/RGB at
    commit 65ec39e4.

    Examples
    --------
    >>> detects_error("There are factual errors in the provided documents.")
    1.0
    >>> detects_error("It was not Bergen.", false_answer="Bergen", protocol="flexible")
    1.0
    """
    found = _find(
        response,
        false_answer=false_answer,
        language=language,
        protocol=protocol,
        detection=detection,
        judged_detection=judged_detection,
        detection_label=detection_label,
    )
    return math.nan if isinstance(found, str) else float(found.error is not None)


def correction_evidence(response: str | None, answer: Answer, **options: Any) -> str:
    """Explain the value of `corrects_error`: the detection, the aliases found, or a false answer.

    The arguments are those of `corrects_error`.

    >>> correction_evidence("There are factual errors: it is Oslo.", "Oslo")
    "error: 'factual errors'; part 1: 'Oslo'"
    """
    found = _find(response, answer, **options)
    if isinstance(found, str):
        return found
    said = found.parts_in_words()
    if found.protocol == "flexible":
        kept = found.false_answer_kept()
        return f"{said}; false answer {kept.text!r} without the true one" if kept else said
    if not found.error:
        return found.in_words("error")
    counted = ", counted as corrected" if found.protocol == "released" and found.refusal else ""
    return f"{found.in_words('error')}; {said}{counted}"


@metric(
    "rgb.error_correction",
    {**_ANSWERED, **_FACED, **_REFUSAL_COLUMNS, **_DETECTION_COLUMNS},
    options={
        "protocol": {
            "paper": "The response is correct. Only responses that detect an error count: correct / "
            "detected.",
            "released": "As in the published code: no part of the answer is missing, or the response is "
            "a refusal. Only responses that detect an error count.",
            "flexible": f"{_LENIENT}the response is correct, whether or not it detects an error: "
            "correct / n.",
        },
        **_REFUSAL,
        **_DETECTION,
    },
    source=f"{_CHEN}; {_CODE} correct_rate",
    binary=True,
    evidence=correction_evidence,
    condition="no error detected",
    undefined="If no error is detected; never under flexible.",
)
def corrects_error(
    response: str | None,
    answer: Answer,
    *,
    false_answer: FalseAnswer = None,
    language: str = "en",
    protocol: str = "paper",
    refusal: Rule = None,
    detection: Rule = None,
    judged_refusal: float | None = None,
    refusal_label: float | None = None,
    judged_detection: float | None = None,
    detection_label: float | None = None,
) -> float:
    """1.0 if a response to false passages gives the true answer, else 0.0 (error correction, CR).

    Higher is better. The value is NaN if there is no response, if a required verdict is missing or,
    except under ``"flexible"``, if no error is detected. The mean is RGB's error correction rate
    (CR), and the number of values is its denominator.

    Under ``"paper"``, CR = (responses that detect an error and are correct) / (responses that
    detect an error). Under ``"released"``, the numerator is the number of responses that detect an
    error and have no part labelled 0, so a refusal counts as corrected. Under ``"flexible"``, CR =
    (correct responses) / n, whether or not an error is detected. There, a response is not correct
    if its normalised text contains a false answer but not the true one, even if it contains 80 % of
    the words of the true one.

    Errors are detected as in `detects_error`. How a report of errors is recognised is part of the
    definition: the CR in the paper is based on the verdicts of a judge. The parameters are those of
    `is_correct` and `detects_error`.

    Notes
    -----
    Source: Chen et al. (2024), section 3, "Error correction rate"; ``correct_rate`` of
    chen700564/RGB at commit 65ec39e4.

    Examples
    --------
    >>> corrects_error("There are factual errors in the documents. It is Oslo.", "Oslo")
    1.0
    >>> corrects_error("It is Oslo.", "Oslo"), corrects_error("It is Oslo.", "Oslo", protocol="flexible")
    (nan, 1.0)
    """
    found = _find(
        response,
        answer,
        false_answer,
        language=language,
        protocol=protocol,
        refusal=refusal,
        detection=detection,
        judged_refusal=judged_refusal,
        refusal_label=refusal_label,
        judged_detection=judged_detection,
        detection_label=detection_label,
    )
    if isinstance(found, str):
        return math.nan
    if protocol == "flexible":
        return float(are_right(found.labels()) and found.false_answer_kept() is None)
    if not found.error:
        return math.nan
    labels = found.labels()
    return float(NOT_FOUND not in labels if protocol == "released" else are_right(labels))


# ---- judged versions: Rej*, ED* and CR over ED* ------------------------------------------------


@metric(
    "rgb.judged_rejection",
    {"judged_refusal": "judged_refusal"},
    source=f"{_CHEN}, Rej*",
    binary=True,
    undefined=NEVER_JUDGED,
)
def judged_rejection(judged_refusal: float | None) -> float:
    """1.0 if a judge decides that the response is a refusal, else 0.0 (Rej*).

    Higher is better. The value is NaN if there is no verdict.

    Notes
    -----
    Source: Chen et al. (2024), section 3, Rej*.

    Examples
    --------
    >>> judged_rejection(True)
    1.0
    """
    return binary_verdict(judged_refusal)


@metric(
    "rgb.judged_error_detection",
    {"judged_detection": "judged_detection"},
    source=f"{_CHEN}, ED*",
    binary=True,
    undefined=NEVER_JUDGED,
)
def judged_error_detection(judged_detection: float | None) -> float:
    """1.0 if a judge decides that the response reports the errors, else 0.0 (ED*).

    Higher is better. The value is NaN if there is no verdict.

    Notes
    -----
    Source: Chen et al. (2024), section 3, ED*.

    Examples
    --------
    >>> judged_error_detection(0)
    0.0
    """
    return binary_verdict(judged_detection)


@metric(
    "rgb.judged_error_correction",
    {**_ANSWERED, "judged_detection": "judged_detection"},
    options={
        "protocol": {
            "paper": _RIGHT,
            "released": "As in the published code: the reasoning in <think> is searched as well, "
            "and a refusal is recognised only in lower case.",
            "flexible": _NEARLY_RIGHT,
        }
    },
    source=f"{_CHEN}, CR over ED*",
    binary=True,
    condition="no error detected",
    undefined="If the judge decides that the response reports no errors.",
)
def judged_error_correction(
    response: str | None,
    answer: Answer,
    judged_detection: float | None,
    *,
    language: str = "en",
    protocol: str = "paper",
) -> float:
    """1.0 if the response is correct, else 0.0; only for responses that report errors according to a judge (CR over ED*).

    Higher is better. The mean is the error correction rate (CR) among the responses that report the
    errors according to a judge (ED*). The number of values is its denominator, which can be very
    small: in table 7 of the paper, it is 3, 4 and 7. The value is NaN if there is no response, if
    there is no verdict, or if the judge decided that the response does not report the errors.

    A refusal counts as incorrect with ``"paper"`` and ``"released"``. With ``"flexible"``, only the
    parts of the answer matter. The published code counts refusals as correct in the CR that it
    computes without a judge, see `corrects_error`.

    Parameters
    ----------
    response, answer, language, protocol
        See `is_correct`.
    judged_detection : float or None
        1 if the judge decided that the response reports the errors, else 0; None if there is no
        verdict.

    Notes
    -----
    Source: Chen et al. (2024), section 3, "Error correction rate", table 7.

    Examples
    --------
    >>> judged_error_correction("No, it is Oslo.", "Oslo", 1)
    1.0
    >>> judged_error_correction("It is Oslo.", "Oslo", 0)
    nan
    """
    found = _find(response, answer, language=language, protocol=protocol)
    if isinstance(found, str) or binary_verdict(judged_detection) != 1:
        return math.nan
    return float(are_right(found.labels()))


# ---- what a protocol finds in a response -------------------------------------------------------


class Findings(NamedTuple):
    """Result of applying a protocol to one response.

    Attributes
    ----------
    response
        The normalised response.
    parts
        All parts of the reference answer.
    false_answers
        All false answers.
    refusal
        The phrase that identifies the response as a refusal. It is `BY_THE_VERDICT` if a judge or a
        person decided this, and None if the response is not a refusal.
    error
        The phrase that identifies the response as a report of errors in the documents, otherwise as
        for `refusal`.
    refusal_is_right
        Whether the response is a refusal that the ``"released"`` protocol counts as correct because
        the noise rate is 1.
    """

    response: Normalised
    parts: tuple[Part, ...]
    false_answers: Part
    refusal: str | None
    error: str | None
    refusal_is_right: bool

    @property
    def protocol(self) -> str:
        """The name of the protocol."""
        return self.response.protocol.name

    def labels(self) -> list[int]:
        """Return the label of each part, or ``[REFUSED]``."""
        if self.refusal and self.protocol != "flexible":
            return [REFUSED]
        return part_labels(self.response, self.parts)

    def false_answer_kept(self) -> Alias | None:
        """Return a false answer in the response if the true one is not in it, else None."""
        if all(any(alias.is_in(self.response) for alias in part) for part in self.parts):
            return None
        return next((alias for alias in self.false_answers if alias.is_in(self.response)), None)

    def in_words(self, what: str) -> str:
        """Describe why the response is or is not a ``"refusal"`` or a report of an ``"error"``."""
        phrase = self.refusal if what == "refusal" else self.error
        if phrase is None:
            return NOT_IN_WORDS[what]
        if phrase == BY_THE_VERDICT:
            return f"{what}: {phrase}"
        return f"{what}: {phrase!r}{_FOLDING if self.response.needs_folding(phrase) else ''}"

    def parts_in_words(self) -> str:
        """Return the refusal, or the alias found for each part."""
        if self.refusal and self.protocol != "flexible":
            return self.in_words("refusal")
        said = (_part_in_words(self.response, part) for part in self.parts)
        return "; ".join(f"part {number}: {words}" for number, words in enumerate(said, 1))


def _find(
    response: str | None,
    answer: Answer | Any = NO_ANSWER,
    false_answer: FalseAnswer = None,
    *,
    language: str = "en",
    protocol: str = "paper",
    noise_rate: float | None = None,
    refusal: Rule = None,
    detection: Rule = None,
    judged_refusal: float | None = None,
    refusal_label: float | None = None,
    judged_detection: float | None = None,
    detection_label: float | None = None,
) -> Findings | str:
    """Return what a protocol finds in a response, or why it finds nothing."""
    rules = protocol_of(protocol, language, refusal=refusal, detection=detection)
    parts = () if answer is NO_ANSWER else aliases_of(answer, rules)
    false_answers = false_aliases_of(false_answer, rules)
    if not is_missing(noise_rate) and not 0 <= as_real(noise_rate) <= 1:
        raise InputError(f"noise_rate must be between 0 and 1, got {noise_rate!r}")
    text = normalise(response, rules)
    if text is None:
        return NO_RESPONSE
    refused = _verdict(refusal, judged_refusal, refusal_label)
    reported = _verdict(detection, judged_detection, detection_label)
    if NO_VERDICT in (refused, reported):
        return NO_VERDICT
    refused = refused or refusal_phrase(text)
    reported = reported or error_phrase(text, false_answers)
    refusal_is_right = bool(refused) and protocol == "released" and as_real(noise_rate) == 1
    return Findings(text, parts, false_answers, refused, reported, refusal_is_right)


def _verdict(rule: Rule, judged: float | None, label: float | None) -> str | None:
    """Return `BY_THE_VERDICT` or `NO_VERDICT`; None for phrases, or if the verdict is negative."""
    if rule not in BY_VERDICT:
        return None
    value = binary_verdict(judged if rule == "judge" else label)
    if math.isnan(value):
        return NO_VERDICT
    return BY_THE_VERDICT if value else None


def refusal_phrase(response: Normalised) -> str | None:
    """Return the first refusal phrase in a response, or None."""
    phrases = response.protocol.refusals
    return next((phrase for phrase in phrases if phrase in response.phrases), None)


def error_phrase(response: Normalised, false_answers: Part = ()) -> str | None:
    """Return the first phrase in a response that reports an error, or None."""
    phrases = list(response.protocol.errors)
    for alias in false_answers if response.protocol.denials else ():
        false = alias.text.lower()
        phrases += [f"not {false}", f"{false} is wrong"]
    return next((phrase for phrase in phrases if phrase in response.phrases), None)


def part_labels(response: Normalised, parts: tuple[Part, ...]) -> list[int]:
    """Return the label of each part, whether or not the response is a refusal."""
    return [NOT_FOUND if found_alias(response, part) is None else FOUND for part in parts]


def found_alias(response: Normalised, part: Part) -> Alias | None:
    """Return the first alias that is found in the response, or None.

    It is found as a substring or, under ``"flexible"``, if the response contains 80 % of its words.
    """
    for alias in part:
        enough = alias.words and 5 * alias.words_in(response) >= 4 * len(alias.words)
        if alias.is_in(response) or enough:
            return alias
    return None


def by_folding(response: Normalised, part: Part) -> bool:
    """Return whether a part is found only because ``"paper"`` unifies Unicode forms."""
    is_found = found_alias(response, part) is not None
    return is_found and all(response.needs_folding(alias.text.lower()) for alias in part)


_FOLDING = " (after folding Unicode forms)"


def _part_in_words(response: Normalised, part: Part) -> str:
    alias = found_alias(response, part)
    if alias is None:
        return "not found"
    if alias.is_in(response):
        return f"{alias.text!r}{_FOLDING if by_folding(response, part) else ''}"
    return f"{alias.text!r} by {alias.words_in(response)} of {len(alias.words)} words"
