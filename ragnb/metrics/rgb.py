"""RGB's four abilities (Chen et al., AAAI 2024, arXiv 2309.01431, section 3) under three protocols.

A reference answer is a list of *parts*, all of which a response must hold; a part is a text or a list of *aliases*, any of
which will do. ``["a", "b"]`` means a AND b; ``[["a", "b"]]`` means a OR b.

``protocol`` says whose definition a number follows: ``"paper"``, the definitions in print; ``"released"``, those of the
published code (chen700564/RGB at commit 65ec39e4), its slips included; ``"flexible"``, a lenient re-implementation of the
benchmark with long lists of English phrases. `ragnb.metrics.rgb_reading` says how each of them reads a text.

The metrics are 1.0 or 0.0, and nan where there is no response (None or nan). Mind that nan is true in an ``if``.
`ragnb.metrics.rgb_columns` has them for whole columns at once.
"""

import math
from collections.abc import Sequence

from ragnb.errors import InputError
from ragnb.metrics import rgb_rules as rules
from ragnb.metrics.rgb_reading import (
    Alias,
    Answer,
    FalseAnswer,
    Parts,
    Reading,
    read,
    read_answer,
    read_false_answers,
    view_of,
)
from ragnb.metrics.rgb_rules import FOUND as FOUND  # one of the labels that `answer_labels` gives
from ragnb.records import is_missing

NO_RESPONSE = "no response"


# ---- answers -----------------------------------------------------------------------------------------------------------


def answer_labels(response: str, answer: Answer, *, language: str = "en", protocol: str = "paper") -> list[int]:
    """Label of each answer part: 1 found in the response, 0 not found; ``[-1]`` for a refusal.

    Under ``flexible`` the parts of a refusal are labelled too.

    A part is found when one of its aliases is a substring of the response. Letter case does not count, and for Chinese
    spaces are first removed from the response, not from the alias. Under ``flexible`` both are normalised instead (see
    `normalised`), and 80 % of an alias's words anywhere in the response will do; words are what spaces separate, in Chinese
    what `ragnb.text.tokens` cuts.

    Raises
    ------
    InputError
        An answer without part, a part without alias, an empty alias; unknown protocol; a language that is no language code;
        a response that is no text, None included.

    Source: Chen et al. (2024), section 3; ``checkanswer`` of chen700564/RGB at commit 65ec39e4.

    >>> answer_labels("It was in Tampa.", [["Tampa", "Tampa Bay"], "2021"])
    [1, 0]
    >>> answer_labels("on 2nd January of 1892", "2 January, 1892", protocol="flexible")  # 2 of 3 words
    [0]
    """
    reading, parts = _read(response, answer, language, protocol)
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
) -> float:
    """Accuracy of one response: 1.0 when every answer part is found and it is no refusal, else 0.0.

    Higher is better; 0.0 or 1.0; nan where there is no response.

    Its mean over questions is RGB's accuracy, for noise robustness and for information integration:
    right / n, where right means that no part is labelled 0 and at least one is labelled 1. Under ``flexible`` a response
    that also reads as a refusal can be right.

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
        Nominal share of passages without the answer. Under ``released`` refusals at noise rate 1 are right too; it changes
        nothing else.

    Raises
    ------
    InputError
        See `answer_labels`; a noise rate outside [0, 1].

    Source: Chen et al. (2024), section 3, "Accuracy"; ``all_rate`` of chen700564/RGB at commit 65ec39e4.

    >>> is_correct("Oslo or Bergen", ["Oslo"]), is_correct("Bergen", ["Oslo"])
    (1.0, 0.0)
    """
    rules.check_noise_rate(noise_rate)
    reading, parts = _read(response, answer, language, protocol)
    return math.nan if reading is None else rules.correct_value(reading, rules.labels_of(reading, parts), noise_rate)


def answer_evidence(
    response: str | None,
    answer: Answer,
    *,
    language: str = "en",
    protocol: str = "paper",
    noise_rate: float | None = None,
) -> str:
    """What decided `is_correct`, in words: the refusal phrase, or the alias found for each part.

    >>> answer_evidence("It was in Tampa.", [["Tampa", "Tampa Bay"], "2021"])
    "part 1: 'Tampa'; part 2: not found"
    """
    rules.check_noise_rate(noise_rate)
    reading, parts = _read(response, answer, language, protocol)
    if reading is None:
        return NO_RESPONSE
    said = _labels_in_words(reading, parts)
    excused = protocol == "released" and rules.is_all_noise(noise_rate) and rules.refusal_phrase(reading)
    return f"{said}, counted as right at noise rate 1" if excused else said


# ---- negative rejection ------------------------------------------------------------------------------------------------


def is_refusal(response: str | None, *, language: str = "en", protocol: str = "paper") -> float:
    """Whether a response reads as a refusal: 1.0 or 0.0.

    Right or wrong depends on what was shown; nan where there is no response.

    Under ``paper`` it holds the key phrase of the agreed sentence, ``insufficient information`` or ``信息不足``, in any
    letter case, outside ``<think>…</think>``; under ``released`` in lower case, anywhere. For Chinese, spaces are first
    removed, so there the English phrase is never seen. Under ``flexible`` one of `FLEXIBLE_REFUSALS` occurs in the
    lower-cased response as it stands; for Chinese no such list is known, and the two key phrases above are looked for.

    Raises
    ------
    InputError
        Unknown protocol; a language that is no language code; a response that is no text.

    Source: Chen et al. (2024), section 3; ``predict`` of chen700564/RGB at commit 65ec39e4.

    >>> is_refusal("I can not answer because of the insufficient information in documents.")
    1.0
    >>> is_refusal("The reason is unknown."), is_refusal("The reason is unknown.", protocol="flexible")
    (0.0, 1.0)
    """
    reading = read(response, view_of(protocol, language))
    return math.nan if reading is None else float(rules.refuses(reading))


def is_rejection(
    response: str | None, answer: Answer | None = None, *, language: str = "en", protocol: str = "paper"
) -> float:
    """Negative rejection (Rej) of one response to passages without the answer (noise rate 1): 1.0 when it refuses, else 0.0.

    Higher is better; 0.0 or 1.0; nan where there is no response and, under ``released``, where there is no answer.

    Its mean is the rejection rate, refusals / n, which needs no reference answer. Under ``released`` it is that code's
    ``all_rate``, (refusals + right answers) / n; refusals alone are `is_refusal`.

    Raises
    ------
    InputError
        See `answer_labels`.

    Source: Chen et al. (2024), section 3, "Rejection rate"; ``all_rate`` of chen700564/RGB at commit 65ec39e4.

    >>> is_rejection("It is Oslo.", "Oslo"), is_rejection("It is Oslo.", "Oslo", protocol="released")
    (0.0, 1.0)
    """
    if answer is None or is_missing(answer):
        return math.nan if protocol == "released" else is_refusal(response, language=language, protocol=protocol)
    reading, parts = _read(response, answer, language, protocol)
    return math.nan if reading is None else rules.rejection_value(reading, rules.labels_of(reading, parts))


def refusal_evidence(response: str | None, *, language: str = "en", protocol: str = "paper") -> str:
    """What decided `is_refusal`, in words: the phrase.

    >>> refusal_evidence("I cannot say.", protocol="flexible")
    "refusal: 'i cannot'"
    """
    reading = read(response, view_of(protocol, language))
    if reading is None:
        return NO_RESPONSE
    phrase = rules.refusal_phrase(reading)
    return f"refusal: {phrase!r}" if phrase else "no refusal phrase"


def rejection_evidence(
    response: str | None, answer: Answer | None = None, *, language: str = "en", protocol: str = "paper"
) -> str:
    """What decided `is_rejection`, in words: the phrase, and under ``released`` the aliases.

    >>> rejection_evidence("It is Oslo.", "Oslo", protocol="released")
    "no refusal phrase; part 1: 'Oslo'"
    """
    said = refusal_evidence(response, language=language, protocol=protocol)
    if answer is None or is_missing(answer):
        return f"{said}; no reference answer" if protocol == "released" else said
    reading, parts = _read(response, answer, language, protocol)
    if reading is None or protocol != "released" or rules.refusal_phrase(reading):
        return said
    return f"{said}; {_labels_in_words(reading, parts)}"


# ---- counterfactual robustness -----------------------------------------------------------------------------------------


def detects_error(
    response: str | None, *, false_answer: FalseAnswer = None, language: str = "en", protocol: str = "paper"
) -> float:
    """Error detection (ED) of one response: 1.0 when it says that the passages are wrong, else 0.0.

    Higher is better; 0.0 or 1.0; nan where there is no response.

    Its mean is ED. Under ``paper`` the response holds the key phrase ``factual errors`` or ``事实性错误``, in any letter
    case, outside ``<think>…</think>``; under ``released`` in lower case, anywhere; for Chinese, spaces are first removed.
    Under ``flexible`` one of `FLEXIBLE_ERRORS` (for Chinese, where no such list is known, one of the two key phrases),
    ``not <false answer>`` or ``<false answer> is wrong`` occurs in the lower-cased response as it stands.

    Parameters
    ----------
    response
        What the model said.
    false_answer
        What the passages say instead of the answer: a text, a list of texts, or None; only ``flexible`` asks for it.
    language
        Language code.
    protocol
        ``"paper"``, ``"released"`` or ``"flexible"``.

    Raises
    ------
    InputError
        As `is_refusal`; a false answer that is empty, neither a text nor a list of texts.

    Source: Chen et al. (2024), section 3, "Error detection rate"; ``predict`` of chen700564/RGB at commit 65ec39e4.

    >>> detects_error("There are factual errors in the provided documents.")
    1.0
    >>> detects_error("It was not Bergen.", false_answer="Bergen", protocol="flexible")
    1.0
    """
    view = view_of(protocol, language)
    false = read_false_answers(false_answer, view)
    reading = read(response, view)
    return math.nan if reading is None else float(rules.reports_error(reading, false))


def corrects_error(
    response: str | None,
    answer: Answer,
    *,
    false_answer: FalseAnswer = None,
    language: str = "en",
    protocol: str = "paper",
) -> float:
    """Error correction (CR) of one response to false passages: 1.0 when it gives the true answer, else 0.0.

    Higher is better; 0.0 or 1.0; nan where there is no response and, but for ``flexible``, where no error is detected.

    Its mean is CR, and the number of its values is CR's denominator. Under ``paper``, right / detected. Under ``released``,
    detected with no part labelled 0 / detected, so a refusal counts as corrected. Under ``flexible``, right / n, whether or
    not an error is detected; not right is a response whose normalised text holds a false answer but not the true one (which
    80 % of the words may have let pass).

    The detection is that of `detects_error`; rates over the errors that a judge detects are other numbers.

    Parameters
    ----------
    response
        What the model said.
    answer
        The true answer: text, or list of parts.
    false_answer
        What the passages say instead: a text, a list of texts, or None; only ``flexible`` asks for it.
    language
        Language code.
    protocol
        ``"paper"``, ``"released"`` or ``"flexible"``.

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
    false = read_false_answers(false_answer, view_of(protocol, language))
    reading, parts = _read(response, answer, language, protocol)
    return math.nan if reading is None else rules.correction_value(reading, parts, rules.labels_of(reading, parts), false)


def detection_evidence(
    response: str | None, *, false_answer: FalseAnswer = None, language: str = "en", protocol: str = "paper"
) -> str:
    """What decided `detects_error`, in words: the phrase.

    >>> detection_evidence("There are factual errors in the provided documents.")
    "error: 'factual errors'"
    """
    view = view_of(protocol, language)
    false = read_false_answers(false_answer, view)
    reading = read(response, view)
    return NO_RESPONSE if reading is None else _detection_in_words(reading, false)


def correction_evidence(
    response: str | None,
    answer: Answer,
    *,
    false_answer: FalseAnswer = None,
    language: str = "en",
    protocol: str = "paper",
) -> str:
    """What decided `corrects_error`, in words: the phrase that detects, the aliases found, the false answer kept.

    >>> correction_evidence("There are factual errors: it is Oslo.", "Oslo")
    "error: 'factual errors'; part 1: 'Oslo'"
    """
    false = read_false_answers(false_answer, view_of(protocol, language))
    reading, parts = _read(response, answer, language, protocol)
    if reading is None:
        return NO_RESPONSE
    said = _labels_in_words(reading, parts)
    if protocol == "flexible":
        kept = rules.insisted_on(reading, parts, false)
        return f"{said}; false answer {kept.text!r} without the true one" if kept else said
    if rules.error_phrase(reading) is None:
        return _detection_in_words(reading, ())
    counted = ", counted as corrected" if protocol == "released" and rules.refusal_phrase(reading) else ""
    return f"{_detection_in_words(reading, ())}; {said}{counted}"


# ---- both texts, and what they hold in words ---------------------------------------------------------------------------


def _read(response: str | None, answer: Answer, language: str, protocol: str) -> tuple[Reading | None, Parts]:
    view = view_of(protocol, language)
    return read(response, view), read_answer(answer, view)


def _detection_in_words(reading: Reading, false_answers: Sequence[Alias]) -> str:
    phrase = rules.error_phrase(reading, false_answers)
    return f"error: {phrase!r}" if phrase else "no error detected"


def _labels_in_words(reading: Reading, parts: Parts) -> str:
    phrase = rules.refusal_phrase(reading)
    if phrase and reading.view.protocol != "flexible":
        return f"refusal: {phrase!r}"
    return "; ".join(f"part {number}: {_part_in_words(reading, part)}" for number, part in enumerate(parts, 1))


def _part_in_words(reading: Reading, part: Sequence[Alias]) -> str:
    alias = rules.given_alias(reading, part)
    if alias is None:
        return "not found"
    if rules.holds(reading, alias):
        return repr(alias.text)
    return f"{alias.text!r} by {rules.words_given(reading, alias)} of {len(alias.words)} words"
