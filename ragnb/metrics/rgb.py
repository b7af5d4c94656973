"""Metrics of the RGB benchmark (Chen et al., AAAI 2024, arXiv 2309.01431) under several protocols.

A reference answer is a string, or a list of *parts*. A correct response contains all parts. A part
is a string or a list of equivalent *aliases*. ``['a', 'b']`` means a AND b; ``[['a', 'b']]`` means
a OR b.

``protocol`` selects the definition, which is one class of `ragnb.metrics.rgb_protocols`:

- ``'paper'`` (`Paper`) follows the paper, but recognises refusals and reports of errors by the key
  phrases of the published code.
- ``'released'`` (`Released`) reproduces that code (chen700564/RGB at commit 65ec39e4), including its
  bugs.
- ``'flexible'`` (`Flexible`) is a lenient re-implementation with long lists of English phrases.

A language is Chinese if its code begins with ``zh``. All other languages are treated like English.

RGB's prompt gives the model one sentence for refusing to answer and another for reporting errors in
the documents. These are the *agreed sentences*. ``refusal`` and ``detection`` select how a refusal
or a report of errors is recognised:

===================  ===============================================================================
value                a response is a refusal, or reports errors, if
===================  ===============================================================================
None (default)       it meets the rule of the protocol
``'phrase'``         it contains the key phrase of the agreed sentence
``'sentence'``       it contains the whole agreed sentence
a list of phrases    it contains one of them
a mapping            it contains one of the phrases for its language: ``{'en': [...], 'zh': [...]}``
``'judge'``          the judge's verdict is 1 (``judged_refusal`` or ``judged_detection``)
``'label'``          a person's label is 1 (``refusal_label`` or ``detection_label``)
===================  ===============================================================================

Letter case is ignored, except under ``'released'``. That protocol searches for custom phrases and
agreed sentences as they are written, and for key phrases in lower case.

The functions use the whole response. `ragnb.score` passes them the answer without the reasoning
(``<think>…</think>``), except under ``'released'``, where it passes the whole reply, as in the
published code. If you call a function yourself with the reply of a reasoning model, first extract
the answer with `ragnb.text.split_reasoning`.

The value of a metric is 1.0 or 0.0. It is NaN if the response is missing (None or NaN) or if a
required verdict of a judge or person is missing. The functions describe further cases. Accuracy and
error correction under ``'flexible'`` require no verdict.

All functions raise InputError for an unknown protocol or rule, a value that is not a language code,
a response that is not a string, an answer without a part or with an empty alias, a verdict other
than 0 and 1, and a noise rate outside [0, 1].

Most metrics pass all of their arguments on with ``**locals()``. As this is their only statement, the
local variables are then exactly the parameters.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple

from ragnb.cells import is_missing
from ragnb.errors import InputError, as_real, check_choice
from ragnb.metrics.declaration import Column, Option, declared
from ragnb.metrics.judged import NEVER_JUDGED, binary_verdict
from ragnb.metrics.recognition import (
    BY_VERDICT,
    JudgedRefusal,
    RefusalLabel,
    Rule,
    is_nonblank_text,
    verdict_by,
)
from ragnb.metrics.record import MISSING_PARTS, OTHER_WORDS, REFUSALS, metric
from ragnb.metrics.references import Reference, listed, reference_parts
from ragnb.metrics.rgb_protocols import (
    BY_THE_VERDICT,
    FOUND,
    NOT_FOUND,
    PROTOCOLS,
    REFUSED,
    Finding,
    Paper,
    Reading,
    definitions_of,
    protocol_of,
)

FalseAnswer = str | Sequence[str] | None

# ---- arguments of the metrics ------------------------------------------------------------------


class Response(Column):
    """Response of the system; None if it is missing.

    The whole text is searched. To exclude the reasoning of a model, pass the answer that
    `ragnb.text.split_reasoning` returns.
    """

    column = "response"


class Answer(Column):
    """Reference answer: a string, or a list of parts.

    A part is a string or a list of equivalent aliases.
    """

    column = "references"
    type_name = "str or list"


class AnswerOfReleased(Answer):
    """Reference answer: a string, or a list of parts. Only ``'released'`` uses it."""

    type_name = "str, list or None"


class FalseAnswers(Column):
    """One or several false answers in the passages. Only ``'flexible'`` uses them."""

    column = "false_answers"
    type_name = "str, list of str or None"


class Language(Column):
    """Language code.

    Codes that begin with ``zh`` mean Chinese. All other languages are treated like English.
    """

    column = "language"


class NoiseRate(Column):
    """Proportion of passages that do not contain the answer, in [0, 1].

    Only ``'released'`` uses it: if the noise rate is 1, a refusal counts as correct.
    """

    column = "noise_rate"


class JudgedDetection(Column):
    """Verdict of a judge: 1 if the response reports errors in the passages, 0 otherwise.

    It is None if it is missing. If there are several rules for recognising a report of errors, only
    the rule ``'judge'`` uses the verdict.
    """

    column = "judged_detection"


class DetectionLabel(Column):
    """Label of a person: 1 if the response reports errors, 0 otherwise; None if it is missing.

    Only the rule ``'label'`` uses the label.
    """

    column = "error_detected"


class Protocol(Option):
    """Definition to use. The classes in `ragnb.metrics.rgb_protocols` describe the protocols."""

    type_name = f"{{{', '.join(map(repr, PROTOCOLS))}}}"


class RefusalRule(Option):
    """How a refusal is recognised."""

    values = {
        None: "The protocol's own rule for a refusal.",
        "phrase": "A refusal contains the key phrase of the agreed sentence.",
        "sentence": "A refusal contains the whole agreed sentence.",
        "judge": "The verdict of a judge, in the column judged_refusal.",
        "label": "The verdict of a person, in the column refusal.",
        ...: "A list of custom phrases, or a mapping from language codes to such lists.",
    }
    type_name = "{'phrase', 'sentence', 'judge', 'label'}, list of str, mapping or None"


class DetectionRule(Option):
    """How a report of errors is recognised."""

    values = {
        None: "The protocol's own rule for a report of errors.",
        "phrase": "A report of errors contains the key phrase of the agreed sentence.",
        "sentence": "A report of errors contains the whole agreed sentence.",
        "judge": "The verdict of a judge, in the column judged_detection.",
        "label": "The verdict of a person, in the column error_detected.",
        ...: "A list of custom phrases, or a mapping from language codes to such lists.",
    }
    type_name = "{'phrase', 'sentence', 'judge', 'label'}, list of str, mapping or None"


class Parts(Option):
    """Whether the response must contain all parts of the answer, as in RGB, or just one of them."""

    values = {
        "all": "Every part of the answer must be found, as RGB defines it.",
        "any": "One part of the answer is sufficient.",
    }


_CHEN = "Chen et al., AAAI 2024, arXiv 2309.01431"
_CODE = "chen700564/RGB@65ec39e4 evalue.py"
_NEVER_RULED = "Only if the response or a required verdict is missing."


# ---- assessment of one response ----------------------------------------------------------------

_ABILITIES = ("accuracy", "refusal", "rejection", "error_detection", "error_correction")
# Those that need a reference answer under every protocol.
_NEED_ANSWER = ("accuracy", "error_correction")

NO_RESPONSE = "no response"
NO_VERDICT = "no verdict"


class Assessment(NamedTuple):
    """Value of an RGB metric for one response, with its evidence.

    Attributes
    ----------
    value : float
        1.0, 0.0, or NaN if the metric is undefined.
    evidence : str
        Explanation of the value in words.
    labels : list of int
        Label of each part of the reference answer: 1 if found, 0 if not. For a refusal, the list is
        ``[-1]``, except under ``'flexible'``. It is empty if the response or a required verdict is
        missing, or if there is neither a refusal nor a reference answer.
    """

    value: float
    evidence: str
    labels: list[int]


@dataclass(slots=True)
class _Arguments:
    """The arguments of the metrics below, which have the same names."""

    response: str | None
    answer: Reference | None = None
    false_answer: FalseAnswer = None
    language: str = "en"
    protocol: str = "paper"
    noise_rate: float | None = None
    refusal: Rule = None
    detection: Rule = None
    parts: str = "all"
    judged_refusal: float | None = None
    refusal_label: float | None = None
    judged_detection: float | None = None
    detection_label: float | None = None


def assess(
    ability: str, response: str | None, answer: Reference | None = None, **options: Any
) -> Assessment:
    """Compute one RGB metric for a response, with an explanation of its value.

    The abilities are those of `is_correct`, `is_refusal`, `is_rejection`, `detects_error` and
    `corrects_error`, in the order of `_ABILITIES`. The options are the further arguments of these
    functions; those that the metric does not use are allowed.

    >>> assess("accuracy", "It was in Tampa.", [["Tampa", "Tampa Bay"], "2021"])
    Assessment(value=0.0, evidence="part 1: 'Tampa'; part 2: not found", labels=[1, 0])
    >>> assess("error_correction", "There are factual errors: it is Oslo.", "Oslo").evidence
    "error: 'factual errors'; part 1: 'Oslo'"
    """
    check_choice(ability, _ABILITIES, "ability")
    # The decorators of the metrics check this option, but they are not involved here.
    Parts.check(options.get("parts", "all"), "parts")
    finding, labels = _finding(ability, _Arguments(response, answer, **options))
    return Assessment(finding.value, finding.evidence(), labels)


def _value(ability: str, arguments: _Arguments) -> float:
    """The value of a metric for the arguments of its function."""
    finding, _ = _finding(ability, arguments)
    return finding.value


def _evidence(ability: str, **arguments: Any) -> str:
    """The evidence of a metric for the arguments of its function."""
    finding, _ = _finding(ability, _Arguments(**arguments))
    return finding.evidence()


def _finding(ability: str, arguments: _Arguments) -> tuple[Finding, list[int]]:
    """Compute a metric under the protocol; also return the labels of the parts of the answer.

    All arguments are checked first, also those that the metric does not need.
    """
    protocol = protocol_of(arguments.protocol, arguments.language)
    noise_rate = arguments.noise_rate
    if not is_missing(noise_rate) and not 0 <= as_real(noise_rate) <= 1:
        raise InputError(f"noise_rate must be between 0 and 1, got {noise_rate!r}")
    answer: list[list[str]] = []
    if ability in _NEED_ANSWER or not is_missing(arguments.answer):
        answer = reference_parts(arguments.answer)
    false_answers = false_answers_of(arguments.false_answer)
    response = arguments.response
    if is_missing(response):
        return Finding(math.nan, lambda: NO_RESPONSE), []
    if not isinstance(response, str):
        raise InputError(f"a response must be a string or None, got {response!r:.80}")
    refusal_reason, error_reason = _recognised(
        ability, response, arguments, protocol, false_answers
    )
    if NO_VERDICT in (refusal_reason, error_reason) and ability not in protocol.without_verdicts:
        return Finding(math.nan, lambda: NO_VERDICT), []
    aliases = [protocol.found_alias(part, response) for part in answer]
    labels = [NOT_FOUND if alias is None else FOUND for alias in aliases]
    if refusal_reason and protocol.refusal_is_incorrect:
        labels = [REFUSED]
    reading = Reading(
        response=response,
        protocol=protocol,
        answer=answer,
        false_answers=false_answers,
        noise_rate=noise_rate,
        any_part=arguments.parts == "any",
        refusal_reason=refusal_reason,
        error_reason=error_reason,
        aliases=aliases,
        labels=labels,
    )
    # The protocol has a method for each ability.
    compute = getattr(protocol, ability)
    finding: Finding = compute(reading)
    return finding, labels


def _recognised(
    ability: str,
    response: str,
    arguments: _Arguments,
    protocol: Paper,
    false_answers: Sequence[str],
) -> tuple[str | None, str | None]:
    """Return why a response is a refusal, and why it reports errors.

    Each reason is a phrase, or `BY_THE_VERDICT` if a judge or a person decides. It is `NO_VERDICT` if
    their verdict is missing, and None if the response is no refusal or reports no errors.
    """
    if arguments.refusal in BY_VERDICT:
        refusal_reason = _by_verdict(
            arguments.refusal, arguments.judged_refusal, arguments.refusal_label
        )
    else:
        refusal_reason = protocol.phrase_in(response, "refusal", arguments.refusal)
    # Reports of errors matter only for error_detection and error_correction.
    if not ability.startswith("error"):
        return refusal_reason, None
    if arguments.detection in BY_VERDICT:
        error_reason = _by_verdict(
            arguments.detection, arguments.judged_detection, arguments.detection_label
        )
    else:
        error_reason = protocol.phrase_in(response, "detection", arguments.detection, false_answers)
    return refusal_reason, error_reason


def _by_verdict(rule: Rule, judged: float | None, label: float | None) -> str | None:
    """The reason that `_recognised` returns if a judge or a person decides."""
    verdict = verdict_by(str(rule), judged, label)
    if math.isnan(verdict):
        return NO_VERDICT
    return BY_THE_VERDICT if verdict else None


def false_answers_of(false_answer: FalseAnswer) -> list[str]:
    """Return the false answers in the passages as a list, which is empty if there are none."""
    if is_missing(false_answer):
        return []
    false_answers = listed(false_answer)
    is_right_type = isinstance(false_answer, str | list | tuple)
    if not is_right_type or not all(map(is_nonblank_text, false_answers)):
        raise InputError(
            f"a false answer must be a non-empty string, or a list of such strings, got {false_answer!r}"
        )
    return false_answers


# ---- accuracy ----------------------------------------------------------------------------------


@declared
def answer_labels(
    response: Annotated[str | None, Response],
    answer: Annotated[Reference, Answer],
    *,
    language: Annotated[str, Language] = "en",
    protocol: Annotated[str, Protocol] = "paper",
    refusal: Annotated[Rule, RefusalRule] = None,
) -> list[int]:
    """Label each part of the reference answer as found (1) or not found (0) in the response.

    A part is found if one of its aliases is a substring of the response, after the protocol has
    normalised both texts. Letter case is ignored. For a refusal, the result is ``[-1]``.

    Under ``'flexible'``, a part is also found if at least 80 % of the words of an alias occur
    anywhere in the response. A refusal is then labelled like any other response. The rules
    ``'judge'`` and ``'label'`` cannot be used, because the function takes no verdicts.

    Returns
    -------
    list of int
        One label per part, or ``[-1]``. The list is empty if the response is missing.

    Notes
    -----
    Source: ``checkanswer`` and, for ``[-1]``, ``predict`` of chen700564/RGB at commit 65ec39e4, the
    code of Chen et al. (2024), arXiv 2309.01431.

    Examples
    --------
    >>> answer_labels("It was in Tampa.", [["Tampa", "Tampa Bay"], "2021"])
    [1, 0]
    >>> answer_labels("on 2nd January of 1892", "2 January, 1892", protocol="flexible")  # 2 of 3 words
    [0]
    """
    return assess("accuracy", **locals()).labels


@metric(
    "rgb.accuracy",
    source=f"{_CHEN}; {_CODE} checkanswer",
    binary=True,
    evidence=partial(_evidence, "accuracy"),
    undefined=_NEVER_RULED,
    punishes=(OTHER_WORDS, MISSING_PARTS, REFUSALS),
)
def is_correct(
    response: Annotated[str | None, Response],
    answer: Annotated[Reference, Answer],
    *,
    language: Annotated[str, Language] = "en",
    protocol: Annotated[str, Protocol.with_values(definitions_of("accuracy"))] = "paper",
    noise_rate: Annotated[float | None, NoiseRate] = None,
    refusal: Annotated[Rule, RefusalRule] = None,
    parts: Annotated[str, Parts] = "all",
    judged_refusal: Annotated[float | None, JudgedRefusal] = None,
    refusal_label: Annotated[float | None, RefusalLabel] = None,
) -> float:
    """Accuracy: 1.0 if the response contains the answer and is not a refusal, else 0.0.

    The mean over questions is the accuracy that RGB reports for noise robustness and for
    information integration. Under ``'flexible'``, a response that contains the answer is correct
    even if it is also a refusal. `answer_labels` describes how the parts of the answer are found.

    Notes
    -----
    Source: Chen et al. (2024), arXiv 2309.01431, "Evaluation metrics", accuracy; ``all_rate`` of
    chen700564/RGB at commit 65ec39e4.

    Examples
    --------
    >>> is_correct("Oslo or Bergen", ["Oslo"]), is_correct("Bergen", ["Oslo"])
    (1.0, 0.0)
    >>> is_correct("Only Oslo", ["Oslo", "1950"]), is_correct("Only Oslo", ["Oslo", "1950"], parts="any")
    (0.0, 1.0)
    """
    return _value("accuracy", _Arguments(**locals()))


# ---- negative rejection ------------------------------------------------------------------------


@declared
def is_refusal(
    response: Annotated[str | None, Response],
    *,
    language: Annotated[str, Language] = "en",
    protocol: Annotated[str, Protocol] = "paper",
    refusal: Annotated[Rule, RefusalRule] = None,
    judged_refusal: Annotated[float | None, JudgedRefusal] = None,
    refusal_label: Annotated[float | None, RefusalLabel] = None,
) -> float:
    """Return 1.0 if the response is a refusal, else 0.0.

    By default, the response must contain a phrase of the protocol: the key phrase of the sentence that
    RGB's English or Chinese prompt prescribes for refusals, or, under ``'flexible'``, one of the
    phrases in `ragnb.metrics.recognition.FLEXIBLE_REFUSALS`.

    Returns
    -------
    float
        1.0 or 0.0. Whether a refusal is desirable depends on the passages. NaN if the response or a
        required verdict is missing.

    Notes
    -----
    Source: Chen et al. (2024), arXiv 2309.01431, "Evaluation metrics", rejection rate; ``predict``
    of chen700564/RGB at commit 65ec39e4. The key phrases are those of the code. In the paper, a
    response must contain the whole sentence, as with ``refusal='sentence'``.

    Examples
    --------
    >>> is_refusal("I can not answer because of the insufficient information in documents.")
    1.0
    >>> is_refusal("The reason is unknown."), is_refusal("The reason is unknown.", protocol="flexible")
    (0.0, 1.0)
    >>> is_refusal("I don't know.", language="zh", refusal=["I don't know", "我不知道"])
    1.0
    """
    return _value("refusal", _Arguments(**locals()))


@metric(
    "rgb.rejection",
    source=f"{_CHEN}; {_CODE} all_rate",
    binary=True,
    evidence=partial(_evidence, "rejection"),
    undefined="Only if the response, a required verdict or, under released, the reference is missing.",
)
def is_rejection(
    response: Annotated[str | None, Response],
    answer: Annotated[Reference | None, AnswerOfReleased] = None,
    *,
    language: Annotated[str, Language] = "en",
    protocol: Annotated[str, Protocol.with_values(definitions_of("rejection"))] = "paper",
    refusal: Annotated[Rule, RefusalRule] = None,
    judged_refusal: Annotated[float | None, JudgedRefusal] = None,
    refusal_label: Annotated[float | None, RefusalLabel] = None,
) -> float:
    """Negative rejection (Rej): 1.0 if the response refuses to answer, else 0.0.

    RGB evaluates negative rejection on questions whose passages do not contain the answer. The mean
    is the rejection rate, refusals / n. Under ``'released'``, correct answers also count as
    rejections: the mean is (refusals + correct answers) / n. `is_refusal` describes how a refusal
    is recognised.

    Notes
    -----
    Source: Chen et al. (2024), arXiv 2309.01431, "Evaluation metrics", rejection rate; ``all_rate``
    of chen700564/RGB at commit 65ec39e4.

    Examples
    --------
    >>> is_rejection("It is Oslo.", "Oslo"), is_rejection("It is Oslo.", "Oslo", protocol="released")
    (0.0, 1.0)
    """
    return _value("rejection", _Arguments(**locals()))


# ---- counterfactual robustness -----------------------------------------------------------------


@metric(
    "rgb.error_detection",
    source=f"{_CHEN}; {_CODE} predict",
    binary=True,
    evidence=partial(_evidence, "error_detection"),
    undefined=_NEVER_RULED,
)
def detects_error(
    response: Annotated[str | None, Response],
    *,
    false_answer: Annotated[FalseAnswer, FalseAnswers] = None,
    language: Annotated[str, Language] = "en",
    protocol: Annotated[str, Protocol.with_values(definitions_of("error_detection"))] = "paper",
    detection: Annotated[Rule, DetectionRule] = None,
    judged_detection: Annotated[float | None, JudgedDetection] = None,
    detection_label: Annotated[float | None, DetectionLabel] = None,
) -> float:
    """Error detection (ED): 1.0 if the response reports errors in the passages, else 0.0.

    The mean over questions with counterfactual passages is RGB's error detection rate. By
    default, the response must contain a phrase of the protocol: the key phrase of the sentence that
    RGB's English or Chinese prompt prescribes for reporting errors, or, under ``'flexible'``, one of
    the phrases in `ragnb.metrics.recognition.FLEXIBLE_ERRORS`. Among these are common words such as
    ``however`` and ``actually``, so ordinary responses often count as reports of errors.

    Negation is ignored: ``There are no factual errors.`` gives 1.0.

    Notes
    -----
    Source: Chen et al. (2024), arXiv 2309.01431, "Evaluation metrics", error detection rate;
    ``predict`` of chen700564/RGB at commit 65ec39e4. The key phrases are those of the code. In the
    paper, a response must contain the whole sentence, as with ``detection='sentence'``.

    Examples
    --------
    >>> detects_error("There are factual errors in the provided documents.")
    1.0
    >>> detects_error("It was not Bergen.", false_answer="Bergen", protocol="flexible")
    1.0
    """
    return _value("error_detection", _Arguments(**locals()))


@metric(
    "rgb.error_correction",
    source=f"{_CHEN}; {_CODE} correct_rate",
    binary=True,
    evidence=partial(_evidence, "error_correction"),
    condition="no error detected",
    undefined="If no error is detected; never under flexible.",
)
def corrects_error(
    response: Annotated[str | None, Response],
    answer: Annotated[Reference, Answer],
    *,
    language: Annotated[str, Language] = "en",
    false_answer: Annotated[FalseAnswer, FalseAnswers] = None,
    protocol: Annotated[str, Protocol.with_values(definitions_of("error_correction"))] = "paper",
    refusal: Annotated[Rule, RefusalRule] = None,
    detection: Annotated[Rule, DetectionRule] = None,
    judged_refusal: Annotated[float | None, JudgedRefusal] = None,
    refusal_label: Annotated[float | None, RefusalLabel] = None,
    judged_detection: Annotated[float | None, JudgedDetection] = None,
    detection_label: Annotated[float | None, DetectionLabel] = None,
) -> float:
    """Error correction (CR): 1.0 if a response that reports errors is correct, else 0.0.

    The mean is RGB's error correction rate. CR = (responses that report errors and are correct) /
    (responses that report errors). Responses that do not report errors in the passages are not
    scored. See `is_correct` and `detects_error` for how both are decided.

    ``'released'`` also counts refusals as correct. ``'flexible'`` scores all responses: CR =
    (correct responses) / n. Under ``'flexible'``, a response that contains a false answer is
    correct only if it also contains every part of the true answer as a substring.

    Notes
    -----
    Source: Chen et al. (2024), arXiv 2309.01431, "Evaluation metrics", error correction rate;
    ``correct_rate`` of chen700564/RGB at commit 65ec39e4. The values in the paper are based
    on a judge's verdicts on which responses report errors; see `judged_error_correction`.

    Examples
    --------
    >>> corrects_error("There are factual errors in the documents. It is Oslo.", "Oslo")
    1.0
    >>> corrects_error("It is Oslo.", "Oslo"), corrects_error("It is Oslo.", "Oslo", protocol="flexible")
    (nan, 1.0)
    """
    return _value("error_correction", _Arguments(**locals()))


# ---- judged versions: Rej*, ED* and CR over ED* ------------------------------------------------


@metric(
    "rgb.judged_rejection",
    source=f"{_CHEN}, Rej*",
    binary=True,
    undefined=NEVER_JUDGED,
)
def judged_rejection(judged_refusal: Annotated[float | None, JudgedRefusal]) -> float:
    """Judged rejection (Rej*): 1.0 if a judge finds that the response is a refusal, else 0.0.

    RGB reports the mean over questions whose passages do not contain the answer. Without a verdict,
    the value is NaN.

    Notes
    -----
    Source: Chen et al. (2024), arXiv 2309.01431, "Evaluation metrics", Rej*.

    Examples
    --------
    >>> judged_rejection(True)
    1.0
    """
    return binary_verdict(judged_refusal)


@metric(
    "rgb.judged_error_detection",
    source=f"{_CHEN}, ED*",
    binary=True,
    undefined=NEVER_JUDGED,
)
def judged_error_detection(judged_detection: Annotated[float | None, JudgedDetection]) -> float:
    """Judged error detection (ED*): 1.0 if a judge finds that the response reports errors, else 0.0.

    RGB reports the mean over questions with counterfactual passages. Without a verdict, the value is
    NaN.

    Notes
    -----
    Source: Chen et al. (2024), arXiv 2309.01431, "Evaluation metrics", ED*.

    Examples
    --------
    >>> judged_error_detection(0)
    0.0
    """
    return binary_verdict(judged_detection)


@metric(
    "rgb.judged_error_correction",
    source=f"{_CHEN}, CR over ED*",
    binary=True,
    condition="no error detected",
    undefined="If the judge decides that the response reports no errors.",
)
def judged_error_correction(
    response: Annotated[str | None, Response],
    answer: Annotated[Reference, Answer],
    judged_detection: Annotated[float | None, JudgedDetection],
    *,
    language: Annotated[str, Language] = "en",
    protocol: Annotated[
        str, Protocol.with_values(definitions_of("judged_error_correction"))
    ] = "paper",
) -> float:
    """Error correction (CR over ED*): 1.0 if the response is correct, else 0.0.

    Only responses that report errors according to the judge (ED*) are scored, so the mean may be
    based on very few responses. A refusal counts as incorrect. Under ``'flexible'``, however, a
    refusal that contains the answer is correct.

    Notes
    -----
    Source: Chen et al. (2024), arXiv 2309.01431, "Evaluation metrics", error correction rate, and
    table 7.

    Examples
    --------
    >>> judged_error_correction("No, it is Oslo.", "Oslo", 1)
    1.0
    >>> judged_error_correction("It is Oslo.", "Oslo", 0)
    nan
    """
    if binary_verdict(judged_detection) != 1:
        return math.nan
    return is_correct(response, answer, language=language, protocol=protocol)
