"""RGB's four abilities (Chen et al., AAAI 2024, arXiv 2309.01431, section 3) under three protocols.

A reference answer is a list of *parts*, all of which a response must contain. A part is a text or a list of *aliases*, any
of which will do. ``["a", "b"]`` means a AND b; ``[["a", "b"]]`` means a OR b.

``protocol`` selects the definition: ``"paper"`` is the definition in print, ``"released"`` is the published
code (chen700564/RGB at commit 65ec39e4) with its slips, and ``"flexible"`` is a lenient re-implementation with long lists of
English phrases. `ragnb.metrics.rgb_reading` describes how each protocol reads a text. Under ``paper``, Unicode forms of the
same character are made equal in the response and in the references (see `ragnb.metrics.rgb_reading.folded`).

``refusal`` and ``detection`` say how a refusal, and a report of errors in the documents, is recognised:

========================  ================================================================================================
value                     a response counts when
========================  ================================================================================================
None (default)            the protocol's own rule says so
``"phrase"``              it contains the key phrase of the agreed sentence
``"sentence"``            it contains the whole agreed sentence
a list of phrases         it contains one of them, in any letter case; under ``released``, as they are written
a mapping                 it contains one of the phrases listed for its language: ``{"en": [...], "zh": [...]}``
``"judge"``               a judge says so, in ``judged_refusal`` or ``judged_detection``
``"label"``               a person says so, in ``refusal_label`` or ``detection_label``
========================  ================================================================================================

The functions read a response as it is. `ragnb.score` gives them the answer without the reasoning (``<think>…</think>``), and
under ``released`` the whole reply, as the published code reads it. If you call a function yourself with the reply of a
reasoning model, first take the answer out of it with `ragnb.text.split_reasoning`.

The metrics are 1.0 or 0.0, and nan where there is no response (None or nan) or no verdict of the judge or person. nan is
true in an ``if``. `ragnb.metrics.rgb_columns` has the metrics for whole columns.
"""

import math
from collections.abc import Sequence
from typing import Any

from ragnb.errors import InputError, check_choice
from ragnb.metrics import rgb_rules as rules
from ragnb.metrics.rgb_reading import (
    BY_VERDICT,
    Alias,
    Answer,
    FalseAnswer,
    Parts,
    Reading,
    Rule,
    View,
    read,
    read_answer,
    read_false_answers,
    view_of,
)
from ragnb.metrics.rgb_rules import FOUND as FOUND  # one of the labels that `answer_labels` gives
from ragnb.metrics.verdict import binary_verdict
from ragnb.records import is_missing

NO_RESPONSE = "no response"
NO_VERDICT = "no verdict"
PARTS = ("all", "any")


# ---- answers -----------------------------------------------------------------------------------------------------------


def answer_labels(
    response: str, answer: Answer, *, language: str = "en", protocol: str = "paper", refusal: Rule = None
) -> list[int]:
    """Label of each answer part: 1 found in the response, 0 not found; ``[-1]`` for a refusal.

    Under ``flexible`` the parts of a refusal are labelled too.

    A part is found when one of its aliases is a substring of the response. Letter case is ignored. For Chinese, spaces
    are first removed, under ``released`` from the response only. Under ``flexible`` both texts are normalised instead (see
    `ragnb.metrics.rgb_reading.normalised`), and it is enough that 80 % of an alias's words occur anywhere in the response.

    Raises
    ------
    InputError
        An answer without a part, a part without an alias, or an empty alias; an unknown protocol; a language that is no
        language code; a response that is no text (None included); a refusal rule that needs a verdict.

    Source: Chen et al. (2024), section 3; ``checkanswer`` of chen700564/RGB at commit 65ec39e4. That code's own comment, and
    documents that repeat it, have the meaning of 0 and 1 the wrong way round.

    >>> answer_labels("It was in Tampa.", [["Tampa", "Tampa Bay"], "2021"])
    [1, 0]
    >>> answer_labels("on 2nd January of 1892", "2 January, 1892", protocol="flexible")  # 2 of 3 words
    [0]
    """
    if isinstance(refusal, str) and refusal in BY_VERDICT:
        raise InputError(f"answer_labels looks for phrases; refusal={refusal!r} needs a verdict, which is_correct takes")
    view = view_of(protocol, language, refusal=refusal)
    reading, parts = read(response, view), read_answer(answer, view)
    if reading is None:
        raise InputError(f"answer_labels needs a response; got {response!r}; leave missing responses out")
    return rules.labels_of(reading, parts)


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
    """Accuracy of one response: 1.0 when every answer part is found and it is no refusal, else 0.0.

    Higher is better; 0.0 or 1.0; nan where there is no response, or no verdict on which ``refusal`` relies.

    Its mean over questions is RGB's accuracy, for noise robustness and for information integration: right / n, where right
    means that no part is labelled 0 and at least one is labelled 1. Under ``flexible`` a response that also reads as a
    refusal can be right.

    Parameters
    ----------
    response
        What the model said.
    answer
        Text, or list of parts.
    language
        Language code.
    protocol
        ``"paper"``, ``"released"`` or ``"flexible"``.
    noise_rate
        Nominal share of passages without the answer. Under ``released``, refusals at noise rate 1 count as right. It changes
        nothing else.
    refusal
        How a refusal is recognised; see the top of this module.
    parts
        ``"all"``: every part must be found, as RGB defines it. ``"any"``: one part is enough, a more lenient number that
        some evaluations report under the same name.
    judged_refusal, refusal_label
        Verdict of a judge or of a person, 1 for a refusal, for ``refusal="judge"`` and ``refusal="label"``.

    Raises
    ------
    InputError
        See `answer_labels`; a noise rate outside [0, 1].

    Source: Chen et al. (2024), section 3, "Accuracy"; ``all_rate`` of chen700564/RGB at commit 65ec39e4.

    >>> is_correct("Oslo or Bergen", ["Oslo"]), is_correct("Bergen", ["Oslo"])
    (1.0, 0.0)
    >>> is_correct("Only Oslo", ["Oslo", "1950"]), is_correct("Only Oslo", ["Oslo", "1950"], parts="any")
    (0.0, 1.0)
    """
    rules.check_noise_rate(noise_rate)
    check_choice(parts, PARTS, "parts")
    reading, aliases = _read(response, answer, view_of(protocol, language, refusal=refusal))
    if reading is None or not _judge_refusal(reading, refusal, judged_refusal, refusal_label):
        return math.nan
    return rules.correct_value(reading, rules.labels_of(reading, aliases), noise_rate, parts)


def answer_evidence(response: str | None, answer: Answer, *, noise_rate: float | None = None, **options: Any) -> str:
    """Explain `is_correct` in words: the refusal, or the alias found for each part. Takes the same arguments.

    >>> answer_evidence("It was in Tampa.", [["Tampa", "Tampa Bay"], "2021"])
    "part 1: 'Tampa'; part 2: not found"
    """
    rules.check_noise_rate(noise_rate)
    view, refusal = _view(options)
    reading, parts = _read(response, answer, view)
    if reading is None:
        return NO_RESPONSE
    if not _judge_refusal(reading, *refusal):
        return NO_VERDICT
    said = _labels_in_words(reading, parts)
    excused = view.protocol == "released" and rules.is_all_noise(noise_rate) and rules.refuses(reading)
    return f"{said}, counted as right at noise rate 1" if excused else said


# ---- negative rejection ------------------------------------------------------------------------------------------------


def is_refusal(
    response: str | None,
    *,
    language: str = "en",
    protocol: str = "paper",
    refusal: Rule = None,
    judged_refusal: float | None = None,
    refusal_label: float | None = None,
) -> float:
    """Whether a response is a refusal: 1.0 or 0.0.

    Whether refusing is right depends on the passages; nan where there is no response, or no verdict on which ``refusal``
    relies.

    Under ``paper`` a refusal contains the key phrase of the agreed sentence, ``insufficient information`` or ``信息不足``,
    in any letter case; under ``released`` in lower case. For Chinese, spaces are first removed; ``released`` keeps them in
    its phrases and so never finds the English one there. Under ``flexible`` one of `FLEXIBLE_REFUSALS` occurs in the
    lower-cased response; no such list is known for Chinese, and the two key phrases are looked for. Models that refuse in
    other words, or in another language than that of the question, need your own phrases.

    Parameters
    ----------
    response, language, protocol, refusal, judged_refusal, refusal_label
        As for `is_correct`.

    Raises
    ------
    InputError
        Unknown protocol or rule; a language that is no language code; a response that is no text.

    Source: Chen et al. (2024), section 3; ``predict`` of chen700564/RGB at commit 65ec39e4.

    >>> is_refusal("I can not answer because of the insufficient information in documents.")
    1.0
    >>> is_refusal("The reason is unknown."), is_refusal("The reason is unknown.", protocol="flexible")
    (0.0, 1.0)
    >>> is_refusal("I don't know.", language="zh", refusal=["I don't know", "我不知道"])
    1.0
    """
    reading = read(response, view_of(protocol, language, refusal=refusal))
    if reading is None or not _judge_refusal(reading, refusal, judged_refusal, refusal_label):
        return math.nan
    return float(rules.refuses(reading))


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
    """Negative rejection (Rej) of one response to passages without the answer (noise rate 1): 1.0 when it refuses, else 0.0.

    Higher is better; 0.0 or 1.0; nan where there is no response or no verdict on which ``refusal`` relies and, under
    ``released``, where there is no answer.

    Its mean is the rejection rate, refusals / n, which needs no reference answer. Under ``released`` it is that code's
    ``all_rate``, (refusals + right answers) / n; refusals alone are `is_refusal`.

    Parameters
    ----------
    response, answer, language, protocol, refusal, judged_refusal, refusal_label
        As for `is_correct`.

    Raises
    ------
    InputError
        See `answer_labels`.

    Source: Chen et al. (2024), section 3, "Rejection rate"; ``all_rate`` of chen700564/RGB at commit 65ec39e4.

    >>> is_rejection("It is Oslo.", "Oslo"), is_rejection("It is Oslo.", "Oslo", protocol="released")
    (0.0, 1.0)
    """
    verdict = {"refusal": refusal, "judged_refusal": judged_refusal, "refusal_label": refusal_label}
    if answer is None or is_missing(answer):
        return math.nan if protocol == "released" else is_refusal(response, language=language, protocol=protocol, **verdict)  # type: ignore[arg-type]
    reading, parts = _read(response, answer, view_of(protocol, language, refusal=refusal))
    if reading is None or not _judge_refusal(reading, refusal, judged_refusal, refusal_label):
        return math.nan
    return rules.rejection_value(reading, rules.labels_of(reading, parts))


def refusal_evidence(response: str | None, **options: Any) -> str:
    """Explain `is_refusal` in words: the phrase found, or whose verdict it is. Takes the same arguments.

    >>> refusal_evidence("I cannot say.", protocol="flexible")
    "refusal: 'i cannot'"
    """
    view, refusal = _view(options)
    reading = read(response, view)
    if reading is None:
        return NO_RESPONSE
    if not _judge_refusal(reading, *refusal):
        return NO_VERDICT
    return _refusal_in_words(reading) or "no refusal phrase"


def rejection_evidence(response: str | None, answer: Answer | None = None, **options: Any) -> str:
    """Explain `is_rejection` in words: the refusal, and under ``released`` the aliases. Takes the same arguments.

    >>> rejection_evidence("It is Oslo.", "Oslo", protocol="released")
    "no refusal phrase; part 1: 'Oslo'"
    """
    said = refusal_evidence(response, **options)
    released = options.get("protocol") == "released"
    if answer is None or is_missing(answer):
        return f"{said}; no reference answer" if released else said
    view, refusal = _view(options)
    reading, parts = _read(response, answer, view)
    if reading is None or not released or not _judge_refusal(reading, *refusal) or rules.refuses(reading):
        return said
    return f"{said}; {_labels_in_words(reading, parts)}"


# ---- counterfactual robustness -----------------------------------------------------------------------------------------


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
    """Error detection (ED) of one response: 1.0 when it says that the passages are wrong, else 0.0.

    Higher is better; 0.0 or 1.0; nan where there is no response, or no verdict on which ``detection`` relies.

    Its mean is ED. Under ``paper`` the response contains the key phrase ``factual errors`` or ``事实性错误``, in any letter
    case; under ``released`` in lower case; for Chinese, spaces are first removed. Under ``flexible`` one of
    `FLEXIBLE_ERRORS` (for Chinese, where no such list is known, one of the two key phrases), ``not <false answer>`` or
    ``<false answer> is wrong`` occurs in the lower-cased response.

    Parameters
    ----------
    response
        What the model said.
    false_answer
        What the passages say instead of the answer: a text, a list of texts, or None. Only ``flexible`` uses it.
    language
        Language code.
    protocol
        ``"paper"``, ``"released"`` or ``"flexible"``.
    detection
        How a report of errors is recognised; see the top of this module.
    judged_detection, detection_label
        Verdict of a judge or of a person, 1 for a report of errors, for ``detection="judge"`` and ``detection="label"``.

    Raises
    ------
    InputError
        As for `is_refusal`; a false answer that is empty, or neither a text nor a list of texts.

    Source: Chen et al. (2024), section 3, "Error detection rate"; ``predict`` of chen700564/RGB at commit 65ec39e4.

    >>> detects_error("There are factual errors in the provided documents.")
    1.0
    >>> detects_error("It was not Bergen.", false_answer="Bergen", protocol="flexible")
    1.0
    """
    view = view_of(protocol, language, detection=detection)
    false = read_false_answers(false_answer, view)
    reading = read(response, view)
    if reading is None or not _judge_detection(reading, detection, judged_detection, detection_label):
        return math.nan
    return float(rules.reports_error(reading, false))


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
    """Error correction (CR) of one response to false passages: 1.0 if it gives the true answer, else 0.0.

    Higher is better; 0.0 or 1.0; nan where there is no response or no verdict on which a rule relies and, except under
    ``flexible``, where no error is detected.

    Its mean is CR, and the number of its values is CR's denominator. Under ``paper``, right / detected. Under ``released``,
    detected with no part labelled 0 / detected, so a refusal counts as corrected. Under ``flexible``, right / n, whether or
    not an error is detected; a response is not right when its normalised text contains a false answer but not the true one,
    even if 80 % of the words of the true one occur.

    The detection is that of `detects_error`. Which detection is used is part of the definition: the paper's printed CR rests
    on a judge's.

    Parameters
    ----------
    response
        What the model said.
    answer
        The true answer: text, or list of parts.
    false_answer, language, protocol, detection, judged_detection, detection_label
        As for `detects_error`.
    refusal, judged_refusal, refusal_label
        As for `is_correct`.

    Raises
    ------
    InputError
        See `answer_labels` and `detects_error`.

    Source: Chen et al. (2024), section 3, "Error correction rate"; ``correct_rate`` of chen700564/RGB at commit 65ec39e4.

    >>> corrects_error("There are factual errors in the documents. It is Oslo.", "Oslo")
    1.0
    >>> corrects_error("It is Oslo.", "Oslo"), corrects_error("It is Oslo.", "Oslo", protocol="flexible")
    (nan, 1.0)
    """
    view = view_of(protocol, language, refusal=refusal, detection=detection)
    false = read_false_answers(false_answer, view)
    reading, parts = _read(response, answer, view)
    if reading is None or not _judge_refusal(reading, refusal, judged_refusal, refusal_label):
        return math.nan
    if not _judge_detection(reading, detection, judged_detection, detection_label):
        return math.nan
    return rules.correction_value(reading, parts, rules.labels_of(reading, parts), false)


def detection_evidence(response: str | None, *, false_answer: FalseAnswer = None, **options: Any) -> str:
    """Explain `detects_error` in words: the phrase found, or whose verdict it is. Takes the same arguments.

    >>> detection_evidence("There are factual errors in the provided documents.")
    "error: 'factual errors'"
    """
    view, detection = _view(options, "detection")
    false = read_false_answers(false_answer, view)
    reading = read(response, view)
    if reading is None:
        return NO_RESPONSE
    return _detection_in_words(reading, false) if _judge_detection(reading, *detection) else NO_VERDICT


def correction_evidence(response: str | None, answer: Answer, *, false_answer: FalseAnswer = None, **options: Any) -> str:
    """Explain `corrects_error` in words: the detection, the aliases found, the false answer kept. Takes the same arguments.

    >>> correction_evidence("There are factual errors: it is Oslo.", "Oslo")
    "error: 'factual errors'; part 1: 'Oslo'"
    """
    view, refusal = _view(options)
    _, detection = _view(options, "detection")
    false = read_false_answers(false_answer, view)
    reading, parts = _read(response, answer, view)
    if reading is None:
        return NO_RESPONSE
    if not _judge_refusal(reading, *refusal) or not _judge_detection(reading, *detection):
        return NO_VERDICT
    said = _labels_in_words(reading, parts)
    if view.protocol == "flexible":
        kept = rules.insisted_on(reading, parts, false)
        return f"{said}; false answer {kept.text!r} without the true one" if kept else said
    if not rules.reports_error(reading):
        return _detection_in_words(reading, ())
    counted = ", counted as corrected" if view.protocol == "released" and rules.refuses(reading) else ""
    return f"{_detection_in_words(reading, ())}; {said}{counted}"


# ---- reading -----------------------------------------------------------------------------------------------------------

Verdict = tuple[Rule, float | None, float | None]
"""A rule with the verdicts of a judge and of a person."""


def _read(response: str | None, answer: Answer, view: View) -> tuple[Reading | None, Parts]:
    return read(response, view), read_answer(answer, view)


def _view(options: dict[str, Any], rule: str = "refusal") -> tuple[View, Verdict]:
    """The view that the options of an evidence function ask for, and one of its rules with the verdicts."""
    refusal, detection = options.get("refusal"), options.get("detection")
    view = view_of(options.get("protocol", "paper"), options.get("language", "en"), refusal=refusal, detection=detection)
    judged = "judged_refusal" if rule == "refusal" else "judged_detection"
    return view, (options.get(rule), options.get(judged), options.get(f"{rule}_label"))


def _judge_refusal(reading: Reading, rule: Rule, judged: float | None, label: float | None) -> bool:
    """Note the verdict on refusal if the rule relies on one; False where that verdict is missing."""
    known, reading.refused = _verdict(rule, judged, label)
    return known


def _judge_detection(reading: Reading, rule: Rule, judged: float | None, label: float | None) -> bool:
    """Note the verdict on detection if the rule relies on one; False where that verdict is missing."""
    known, reading.reported = _verdict(rule, judged, label)
    return known


def _verdict(rule: Rule, judged: float | None, label: float | None) -> tuple[bool, bool | None]:
    """Whether the rule can be applied, and the verdict where it relies on one."""
    if not isinstance(rule, str) or rule not in BY_VERDICT:
        return True, None
    value = binary_verdict(judged if rule == "judge" else label)
    return not math.isnan(value), value == 1.0


# ---- in words ----------------------------------------------------------------------------------------------------------

BY_FOLDING = " (after folding Unicode forms)"


def _refusal_in_words(reading: Reading) -> str:
    """Why a response is a refusal; empty where it is none."""
    if not rules.refuses(reading):
        return ""
    phrase = rules.refusal_phrase(reading) if reading.refused is None else None
    return f"refusal: {phrase!r}{_note_on(reading, phrase)}" if phrase else "refusal: by the verdict"


def _detection_in_words(reading: Reading, false_answers: Sequence[Alias]) -> str:
    if not rules.reports_error(reading, false_answers):
        return "no error detected"
    phrase = rules.error_phrase(reading, false_answers) if reading.reported is None else None
    return f"error: {phrase!r}{_note_on(reading, phrase)}" if phrase else "error: by the verdict"


def _note_on(reading: Reading, phrase: str) -> str:
    folding = reading.view.protocol == "paper" and phrase not in reading.unfolded
    return BY_FOLDING if folding else ""


def _labels_in_words(reading: Reading, parts: Parts) -> str:
    if reading.view.protocol != "flexible" and (refusal := _refusal_in_words(reading)):
        return refusal
    return "; ".join(f"part {number}: {_part_in_words(reading, part)}" for number, part in enumerate(parts, 1))


def _part_in_words(reading: Reading, part: Sequence[Alias]) -> str:
    alias = rules.given_alias(reading, part)
    if alias is None:
        return "not found"
    if rules.holds(reading, alias):
        return f"{alias.text!r}{BY_FOLDING if rules.by_folding(reading, part) else ''}"
    return f"{alias.text!r} by {rules.words_given(reading, alias)} of {len(alias.words)} words"
