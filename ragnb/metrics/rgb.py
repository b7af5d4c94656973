"""Metrics of the RGB benchmark (Chen et al., AAAI 2024, arXiv 2309.01431) under three protocols.

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
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ragnb.cells import is_missing
from ragnb.errors import InputError, as_real, check_choice
from ragnb.metrics.judged import NEVER_JUDGED, binary_verdict
from ragnb.metrics.recognition import BY_VERDICT, Rule, is_said, verdict_by
from ragnb.metrics.record import metric
from ragnb.metrics.references import Reference, listed, reference_parts
from ragnb.metrics.rgb_protocols import (
    BY_THE_VERDICT,
    FOUND,
    NOT_FOUND,
    REFUSED,
    Finding,
    Paper,
    Reading,
    definitions_of,
    protocol_of,
)

FalseAnswer = str | Sequence[str] | None

# ---- what the records of the metrics say -------------------------------------------------------

_CHEN = "Chen et al., AAAI 2024, arXiv 2309.01431"
_CODE = "chen700564/RGB@65ec39e4 evalue.py"
_ANSWERED = {"response": "response", "answer": "references", "language": "language"}
_FACED = {"response": "response", "false_answer": "false_answers", "language": "language"}
_REFUSAL_COLUMNS = {"judged_refusal": "judged_refusal", "refusal_label": "refusal"}
_DETECTION_COLUMNS = {"judged_detection": "judged_detection", "detection_label": "error_detected"}
_NEVER_RULED = "Only if the response or a required verdict is missing."


def _rule_sentences(what: str, judged: str, label: str) -> Mapping[Any, str]:
    return {
        None: f"The protocol's own rule for {what}.",
        "phrase": f"{what.capitalize()} contains the key phrase of the agreed sentence.",
        "sentence": f"{what.capitalize()} contains the whole agreed sentence.",
        "judge": f"The verdict of a judge, in the column {judged}.",
        "label": f"The verdict of a person, in the column {label}.",
        ...: "A list of custom phrases, or a mapping from language codes to such lists.",
    }


_REFUSAL = {"refusal": _rule_sentences("a refusal", "judged_refusal", "refusal")}
_DETECTION = {
    "detection": _rule_sentences("a report of errors", "judged_detection", "error_detected")
}


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

    Parameters
    ----------
    ability : {'accuracy', 'refusal', 'rejection', 'error_detection', 'error_correction'}
        Metric to compute: that of `is_correct`, `is_refusal`, `is_rejection`, `detects_error` or
        `corrects_error`. These functions return only the value.
    response, answer
        See `is_correct`. The answer is required for ``'accuracy'`` and ``'error_correction'`` and,
        under ``'released'``, for ``'rejection'``.
    **options
        Further arguments of the five functions. Those that the metric does not use are allowed.

    Returns
    -------
    Assessment
        The value, the evidence, and a label for each part of the answer.

    Examples
    --------
    >>> assess("accuracy", "It was in Tampa.", [["Tampa", "Tampa Bay"], "2021"])
    Assessment(value=0.0, evidence="part 1: 'Tampa'; part 2: not found", labels=[1, 0])
    >>> assess("error_correction", "There are factual errors: it is Oslo.", "Oslo").evidence
    "error: 'factual errors'; part 1: 'Oslo'"
    """
    check_choice(ability, _ABILITIES, "ability")
    finding, labels = _finding(ability, _Arguments(response, answer, **options))
    return Assessment(finding.value, finding.evidence(), labels)


def _value(ability: str, **arguments: Any) -> float:
    """The value of a metric for the arguments of its function."""
    finding, _ = _finding(ability, _Arguments(**arguments))
    return finding.value


def _evidence(ability: str, **arguments: Any) -> str:
    """The evidence of a metric for the arguments of its function."""
    finding, _ = _finding(ability, _Arguments(**arguments))
    return finding.evidence()


def _finding(ability: str, arguments: _Arguments) -> tuple[Finding, list[int]]:
    """Check the arguments, and let the protocol read the response; also return its labels."""
    protocol = protocol_of(arguments.protocol, arguments.language)
    check_choice(arguments.parts, ("all", "any"), "parts")
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
    refused, reported = _recognised(ability, response, arguments, protocol, false_answers)
    if NO_VERDICT in (refused, reported) and ability not in protocol.without_verdicts:
        return Finding(math.nan, lambda: NO_VERDICT), []
    aliases = [protocol.found_alias(part, response) for part in answer]
    labels = [NOT_FOUND if alias is None else FOUND for alias in aliases]
    if refused and protocol.refusal_is_incorrect:
        labels = [REFUSED]
    reading = Reading(
        response,
        protocol,
        answer,
        false_answers,
        noise_rate,
        any_part=arguments.parts == "any",
        refused=refused,
        reported=reported,
        aliases=aliases,
        labels=labels,
    )
    finding: Finding = getattr(protocol, ability)(reading)
    return finding, labels


def _recognised(
    ability: str,
    response: str,
    arguments: _Arguments,
    protocol: Paper,
    false_answers: Sequence[str],
) -> tuple[str | None, str | None]:
    """Return why a response is a refusal, and why it reports errors; None if it is not or does not.

    The reason is a phrase, or `BY_THE_VERDICT` of a judge or a person. It is `NO_VERDICT` if a
    required verdict is missing. Reports of errors matter only for the metrics of errors.
    """
    if arguments.refusal in BY_VERDICT:
        refused = _by_verdict(arguments.refusal, arguments.judged_refusal, arguments.refusal_label)
    else:
        refused = protocol.phrase_in(response, "refusal", arguments.refusal)
    if not ability.startswith("error"):
        return refused, None
    if arguments.detection in BY_VERDICT:
        reported = _by_verdict(
            arguments.detection, arguments.judged_detection, arguments.detection_label
        )
    else:
        reported = protocol.phrase_in(response, "detection", arguments.detection, false_answers)
    return refused, reported


def _by_verdict(rule: Rule, judged: float | None, label: float | None) -> str | None:
    """The reason of `_recognised` if a judge or a person decides."""
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
    if not is_right_type or not all(map(is_said, false_answers)):
        raise InputError(
            f"a false answer must be a non-empty string, or a list of such strings, got {false_answer!r}"
        )
    return false_answers


# ---- accuracy ----------------------------------------------------------------------------------


def answer_labels(
    response: str,
    answer: Reference,
    *,
    language: str = "en",
    protocol: str = "paper",
    refusal: Rule = None,
) -> list[int]:
    """Label each part of the reference answer as found (1) or not found (0) in the response.

    A part is found if one of its aliases is a substring of the response. Both texts are normalised
    first (see the top of this module), and letter case is ignored. For a refusal,
    the result is ``[-1]``.

    Under ``'flexible'``, a part is also found if at least 80 % of the words of an alias occur
    anywhere in the response. A refusal is then labelled like any other response.

    Parameters
    ----------
    response, answer, language, protocol
        See `is_correct`.
    refusal : {'phrase', 'sentence'}, list of str, mapping or None, default=None
        How to recognise a refusal: by the key phrase of the refusal sentence in RGB's prompt
        (``'phrase'``), by the whole sentence (``'sentence'``), or by custom phrases. These are
        given as a list, or as a mapping from language codes to lists. None uses the rule of the
        protocol (see `is_refusal`).

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
    {**_ANSWERED, "noise_rate": "noise_rate", **_REFUSAL_COLUMNS},
    options={
        "protocol": definitions_of("accuracy"),
        **_REFUSAL,
        "parts": {
            "all": "Every part of the answer must be found, as RGB defines it.",
            "any": "One part of the answer is sufficient.",
        },
    },
    source=f"{_CHEN}; {_CODE} checkanswer",
    binary=True,
    evidence=partial(_evidence, "accuracy"),
    undefined=_NEVER_RULED,
)
def is_correct(
    response: str | None,
    answer: Reference,
    *,
    language: str = "en",
    protocol: str = "paper",
    noise_rate: float | None = None,
    refusal: Rule = None,
    parts: str = "all",
    judged_refusal: float | None = None,
    refusal_label: float | None = None,
) -> float:
    """Accuracy: 1.0 if the response contains the answer and is not a refusal, else 0.0.

    The mean over questions is the accuracy that RGB reports for noise robustness and for
    information integration. Under ``'flexible'``, a response that contains the answer is correct
    even if it is also a refusal. `answer_labels` describes how the parts of the answer are found.

    Parameters
    ----------
    response : str or None
        Response of the system; None if it is missing. The whole text is searched. To exclude the
        reasoning of a model, pass the answer that `ragnb.text.split_reasoning` returns.
    answer : str or list
        Reference answer: a string, or a list of parts. A part is a string or a list of equivalent
        aliases.
    language : str, default='en'
        Language code. Codes that begin with ``zh`` mean Chinese. All other languages are treated
        like English.
    protocol : {'paper', 'released', 'flexible'}, default='paper'
        Definition to use: that of the paper, that of the published code, or a more lenient one.
        `ragnb.metrics.rgb` describes the three protocols.
    noise_rate : float or None, default=None
        Proportion of passages that do not contain the answer, in [0, 1]. Only ``'released'`` uses
        it: if the noise rate is 1, a refusal counts as correct.
    refusal : {'phrase', 'sentence', 'judge', 'label'}, list of str, mapping or None, default=None
        How to recognise a refusal: by the key phrase of the refusal sentence in RGB's prompt
        (``'phrase'``), by the whole sentence (``'sentence'``), by `judged_refusal` (``'judge'``),
        by `refusal_label` (``'label'``), or by custom phrases. These are given as a list, or as a
        mapping from language codes to lists. None uses the rule of the protocol (see `is_refusal`).
    parts : {'all', 'any'}, default='all'
        Whether all parts of the answer must be found, as in RGB, or just one of them.
    judged_refusal : float or None, default=None
        Verdict of a judge, for ``refusal='judge'``: 1 for a refusal, 0 otherwise.
    refusal_label : float or None, default=None
        Human label, for ``refusal='label'``: 1 if the response is a refusal, else 0.

    Returns
    -------
    float
        1.0 or 0.0; higher is better. NaN if the response or a required verdict is missing.
        ``'flexible'`` requires no verdict.

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
    return _value("accuracy", **locals())


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
    """Return 1.0 if the response is a refusal, else 0.0.

    With ``refusal=None``, the rule depends on the protocol:

    - ``'paper'``: the response contains ``insufficient information`` or ``信息不足``. RGB's English
      and Chinese prompts each prescribe a sentence for refusals, and these are its key phrases.
      Letter case, differences in Unicode form and, in Chinese, spaces are ignored.
    - ``'released'``: the response contains one of these phrases in lower case. Spaces are removed
      from Chinese responses first, so the English phrase is never found in them.
    - ``'flexible'``: the response contains, in any letter case, one of the phrases in
      `FLEXIBLE_REFUSALS` (for Chinese, one of the two key phrases).

    Parameters
    ----------
    response, language, protocol, refusal, judged_refusal, refusal_label
        See `is_correct`.

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
    return _value("refusal", **locals())


@metric(
    "rgb.rejection",
    {**_ANSWERED, **_REFUSAL_COLUMNS},
    options={
        "protocol": definitions_of("rejection"),
        **_REFUSAL,
    },
    source=f"{_CHEN}; {_CODE} all_rate",
    binary=True,
    evidence=partial(_evidence, "rejection"),
    undefined="Only if the response, a required verdict or, under released, the reference is missing.",
)
def is_rejection(
    response: str | None,
    answer: Reference | None = None,
    *,
    language: str = "en",
    protocol: str = "paper",
    refusal: Rule = None,
    judged_refusal: float | None = None,
    refusal_label: float | None = None,
) -> float:
    """Negative rejection (Rej): 1.0 if the response refuses to answer, else 0.0.

    RGB evaluates negative rejection on questions whose passages do not contain the answer. The mean
    is the rejection rate, refusals / n. Under ``'released'``, correct answers also count as
    rejections: the mean is (refusals + correct answers) / n. `is_refusal` describes how a refusal
    is recognised.

    Parameters
    ----------
    response, language, protocol, refusal, judged_refusal, refusal_label
        See `is_correct`.
    answer : str, list or None, default=None
        Reference answer (see `is_correct`). Only ``'released'`` uses it.

    Returns
    -------
    float
        1.0 or 0.0; higher is better. NaN if the response or a required verdict is missing or, under
        ``'released'``, if there is no reference answer.

    Notes
    -----
    Source: Chen et al. (2024), arXiv 2309.01431, "Evaluation metrics", rejection rate; ``all_rate``
    of chen700564/RGB at commit 65ec39e4.

    Examples
    --------
    >>> is_rejection("It is Oslo.", "Oslo"), is_rejection("It is Oslo.", "Oslo", protocol="released")
    (0.0, 1.0)
    """
    return _value("rejection", **locals())


# ---- counterfactual robustness -----------------------------------------------------------------


@metric(
    "rgb.error_detection",
    {**_FACED, **_DETECTION_COLUMNS},
    options={
        "protocol": definitions_of("error_detection"),
        **_DETECTION,
    },
    source=f"{_CHEN}; {_CODE} predict",
    binary=True,
    evidence=partial(_evidence, "error_detection"),
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
    """Error detection (ED): 1.0 if the response reports errors in the passages, else 0.0.

    The mean over questions with counterfactual passages is RGB's error detection rate. With
    ``detection=None``, the rule depends on the protocol:

    - ``'paper'``: the response contains ``factual errors`` or ``事实性错误``. RGB's English and
      Chinese prompts each prescribe a sentence for reporting errors, and these are its key phrases.
      Letter case, differences in Unicode form and, in Chinese, spaces are ignored.
    - ``'released'``: the response contains one of these phrases in lower case. Spaces are removed
      from Chinese responses first, so the English phrase is never found in them.
    - ``'flexible'``: the response contains, in any letter case, one of the phrases in
      `FLEXIBLE_ERRORS` (for Chinese, one of the two key phrases). ``not X`` and ``X is wrong`` also
      count, where X is a false answer. The phrases include common words such as ``however`` and
      ``actually``, so ordinary responses often count as reports of errors.

    Negation is ignored: ``There are no factual errors.`` gives 1.0.

    Parameters
    ----------
    response, language, protocol
        See `is_correct`.
    false_answer : str, list of str or None, default=None
        One or several false answers in the passages. Only ``'flexible'`` uses them.
    detection : {'phrase', 'sentence', 'judge', 'label'}, list of str, mapping or None, default=None
        How to recognise a report of errors: by the key phrase of the corresponding sentence in
        RGB's prompt (``'phrase'``), by the whole sentence (``'sentence'``), by `judged_detection`
        (``'judge'``), by `detection_label` (``'label'``), or by custom phrases. These are given as
        a list, or as a mapping from language codes to lists. None uses the rule of the protocol.
    judged_detection : float or None, default=None
        Verdict of a judge, for ``detection='judge'``: 1 for a report of errors, 0 otherwise.
    detection_label : float or None, default=None
        Human label, for ``detection='label'``: 1 if the response reports errors, else 0.

    Returns
    -------
    float
        1.0 or 0.0; higher is better. NaN if the response or a required verdict is missing.

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
    return _value("error_detection", **locals())


@metric(
    "rgb.error_correction",
    {**_ANSWERED, **_FACED, **_REFUSAL_COLUMNS, **_DETECTION_COLUMNS},
    options={
        "protocol": definitions_of("error_correction"),
        **_REFUSAL,
        **_DETECTION,
    },
    source=f"{_CHEN}; {_CODE} correct_rate",
    binary=True,
    evidence=partial(_evidence, "error_correction"),
    condition="no error detected",
    undefined="If no error is detected; never under flexible.",
)
def corrects_error(
    response: str | None,
    answer: Reference,
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
    """Error correction (CR): 1.0 if a response that reports errors is correct, else 0.0.

    The mean is RGB's error correction rate. CR = (responses that report errors and are correct) /
    (responses that report errors). Responses that do not report errors in the passages are not
    scored. See `is_correct` and `detects_error` for how both are decided.

    ``'released'`` also counts refusals as correct. ``'flexible'`` scores all responses: CR =
    (correct responses) / n. Under ``'flexible'``, a response that contains a false answer is
    correct only if it also contains every part of the true answer as a substring.

    Parameters
    ----------
    response, answer, language, protocol, refusal, judged_refusal, refusal_label
        See `is_correct`.
    false_answer, detection, judged_detection, detection_label
        See `detects_error`.

    Returns
    -------
    float
        1.0 or 0.0; higher is better. NaN if the response is missing or, except under
        ``'flexible'``, if a required verdict is missing or the response does not report errors.

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
    return _value("error_correction", **locals())


# ---- judged versions: Rej*, ED* and CR over ED* ------------------------------------------------


@metric(
    "rgb.judged_rejection",
    {"judged_refusal": "judged_refusal"},
    source=f"{_CHEN}, Rej*",
    binary=True,
    undefined=NEVER_JUDGED,
)
def judged_rejection(judged_refusal: float | None) -> float:
    """Judged rejection (Rej*): 1.0 if a judge finds that the response is a refusal, else 0.0.

    RGB reports the mean over questions whose passages do not contain the answer.

    Parameters
    ----------
    judged_refusal : float or None
        Verdict of the judge: 1 for a refusal, 0 otherwise; None if it is missing.

    Returns
    -------
    float
        1.0 or 0.0; higher is better. NaN if the verdict is missing.

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
    {"judged_detection": "judged_detection"},
    source=f"{_CHEN}, ED*",
    binary=True,
    undefined=NEVER_JUDGED,
)
def judged_error_detection(judged_detection: float | None) -> float:
    """Judged error detection (ED*): 1.0 if a judge finds that errors are reported, else 0.0.

    RGB reports the mean over questions with counterfactual passages.

    Parameters
    ----------
    judged_detection : float or None
        Verdict of the judge: 1 if the response reports errors in the passages, 0 otherwise; None if
        it is missing.

    Returns
    -------
    float
        1.0 or 0.0; higher is better. NaN if the verdict is missing.

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
    {**_ANSWERED, "judged_detection": "judged_detection"},
    options={"protocol": definitions_of("judged_error_correction")},
    source=f"{_CHEN}, CR over ED*",
    binary=True,
    condition="no error detected",
    undefined="If the judge decides that the response reports no errors.",
)
def judged_error_correction(
    response: str | None,
    answer: Reference,
    judged_detection: float | None,
    *,
    language: str = "en",
    protocol: str = "paper",
) -> float:
    """Error correction (CR over ED*): 1.0 if the response is correct, else 0.0.

    Only responses that report errors according to the judge (ED*) are scored, so the mean may be
    based on very few responses. A refusal counts as incorrect. Under ``'flexible'``, however, a
    refusal that contains the answer is correct.

    Parameters
    ----------
    response, answer, language, protocol
        See `is_correct`.
    judged_detection : float or None
        Verdict of the judge: 1 if the response reports errors in the passages, 0 otherwise; None if
        it is missing.

    Returns
    -------
    float
        1.0 or 0.0; higher is better. NaN if the verdict is 0, or if the response or the verdict is
        missing.

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
