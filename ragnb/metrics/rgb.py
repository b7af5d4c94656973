"""Metrics of the RGB benchmark (Chen et al., AAAI 2024, arXiv 2309.01431) under three protocols.

A reference answer is a string, or a list of *parts*. A correct response contains all parts. A part
is a string or a list of equivalent *aliases*. ``['a', 'b']`` means a AND b; ``[['a', 'b']]`` means
a OR b.

``protocol`` selects the definition. ``'paper'`` follows the paper, but recognises refusals and
reports of errors by the key phrases of the published code. ``'released'`` reproduces that code
(chen700564/RGB at commit 65ec39e4), including its bugs. ``'flexible'`` is a lenient
re-implementation with long lists of English phrases. Before two texts are compared, they are
normalised as follows:

===========  ====================  ===========================  ===================================
protocol     ``'paper'``           ``'released'``               ``'flexible'``
===========  ====================  ===========================  ===================================
answers      folded, lower case    lower case                   lower case, without punctuation and
                                                                English articles
phrases      folded, lower case    unchanged                    lower case
Chinese      all spaces removed    spaces removed from the      words are `ragnb.text.tokens`
                                   response, not from answers
===========  ====================  ===========================  ===================================

Folding converts a text to NFKC and unifies its white space, hyphens and quotation marks. A language
is Chinese if its code begins with ``zh``. All other languages are treated like English.

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
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import regex

from ragnb.cells import is_missing
from ragnb.errors import InputError, as_real, check_choice
from ragnb.metrics.judged import NEVER_JUDGED, binary_verdict
from ragnb.metrics.normalization import PUNCTUATION
from ragnb.metrics.record import metric
from ragnb.metrics.references import Reference, listed, reference_parts
from ragnb.text import straight_apostrophes, tokens

# ---- protocols ---------------------------------------------------------------------------------

PROTOCOLS = ("paper", "released", "flexible")

FalseAnswer = str | Sequence[str] | None
# How refusals or reports of errors are recognised: a value of ``refusal`` or ``detection``.
Rule = str | Sequence[str] | Mapping[str, Sequence[str]] | None

# Rules that use the verdict of a judge or of a person instead of phrases.
BY_VERDICT = ("judge", "label")

_LANGUAGE_CODE = regex.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")


class Protocol(NamedTuple):
    """A protocol of the RGB benchmark, applied to one language.

    Attributes
    ----------
    name : {'paper', 'released', 'flexible'}
        Name of the protocol; see the top of this module.
    language : str
        Language code.
    chinese : bool
        Whether the language is treated as Chinese.
    """

    name: str
    language: str
    chinese: bool


@lru_cache
def protocol_of(name: str, language: str) -> Protocol:
    """Return the protocol with the given name for a language.

    Parameters
    ----------
    name : {'paper', 'released', 'flexible'}
        Name of the protocol; see the top of this module.
    language : str
        Language code, such as ``'en'`` or ``'zh-TW'``.

    Returns
    -------
    Protocol
        The protocol for this language. Codes that begin with ``zh`` mean Chinese.
    """
    check_choice(name, PROTOCOLS, "protocol")
    if not isinstance(language, str) or not _LANGUAGE_CODE.fullmatch(language):
        raise InputError(f"language must be a code such as 'en' or 'zh-TW', got {language!r}")
    return Protocol(name, language, language[:2].lower() == "zh")


# ---- phrases -----------------------------------------------------------------------------------

# English phrases that count as a refusal under ``"flexible"``. There is no Chinese list.
FLEXIBLE_REFUSALS = (
    "i can not answer the question because of the insufficient information in documents",
    "insufficient information in documents",
    "can not answer",
    "cannot answer",
    "i don't know",
    "i cannot",
    "i can't",
    "unable to",
    "not able to",
    "insufficient information",
    "no information",
    "cannot determine",
    "not enough information",
    "don't have enough",
    "unable to determine",
    "cannot find",
    "no relevant",
    "not mentioned",
    "not provided",
    "not specified",
    "unclear",
    "unknown",
    "i'm not sure",
    "i am not sure",
    "cannot be determined",
    "information is not available",
    "does not provide",
)

# English phrases that report an error under ``"flexible"``. There is no Chinese list.
FLEXIBLE_ERRORS = (
    "incorrect",
    "wrong",
    "false",
    "error",
    "mistake",
    "inaccurate",
    "not true",
    "not correct",
    "factually incorrect",
    "contradicts",
    "actually",
    "in fact",
    "however",
    "but actually",
    "the correct answer",
    "should be",
)

# Option -> rule -> its phrases in English and Chinese. "phrase" is the key phrase of the sentence that
# RGB's prompt requests, and "sentence" is that sentence without its full stop. With None, the phrases
# are those of ``"flexible"`` in English.
PHRASES: dict[str, dict[str | None, tuple[str, ...]]] = {
    "refusal": {
        "phrase": ("insufficient information", "信息不足"),
        "sentence": (
            "I can not answer the question because of the insufficient information in documents",
            "文档信息不足，因此我无法基于提供的文档回答该问题",
        ),
        None: FLEXIBLE_REFUSALS,
    },
    "detection": {
        "phrase": ("factual errors", "事实性错误"),
        "sentence": (
            "There are factual errors in the provided documents",
            "提供文档的文档存在事实性错误",
        ),
        None: FLEXIBLE_ERRORS,
    },
}


def _phrases(option: str, rule: Rule, protocol: Protocol) -> list[str]:
    """The phrases that identify a refusal or a report of errors, before normalisation."""
    named = PHRASES[option]
    if rule is None and (protocol.name != "flexible" or protocol.chinese):
        rule = "phrase"
    if rule is None or (isinstance(rule, str) and rule in named):
        return list(named[rule])
    phrases: Any = rule
    if isinstance(rule, Mapping):
        primary = regex.split("[-_]", protocol.language)[0]
        phrases = rule.get(protocol.language, rule.get(primary))
    if not isinstance(phrases, list | tuple) or not phrases or not all(map(_is_said, phrases)):
        raise InputError(
            f"{option} must be 'phrase', 'sentence', 'judge', 'label', a list of phrases, or a "
            f"mapping from language codes such as {protocol.language!r} to lists of phrases, got "
            f"{rule!r:.100}"
        )
    return list(phrases)


def phrase_in(
    response: str,
    option: str,
    rule: Rule,
    protocol: Protocol,
    false_answers: Sequence[str] = (),
) -> str | None:
    """Find a phrase that identifies a response as a refusal or as a report of errors.

    With ``rule=None``, ``'flexible'`` also looks for ``not X`` and ``X is wrong``, where X is a
    false answer.

    Parameters
    ----------
    response : str
        Response of the system.
    option : {'refusal', 'detection'}
        What the phrases identify: refusals or reports of errors.
    rule : {'phrase', 'sentence'}, list of str, mapping or None
        How a refusal or a report of errors is recognised; see the top of this module.
    protocol : Protocol
        Protocol and language.
    false_answers : sequence of str, default=()
        False answers in the passages.

    Returns
    -------
    str or None
        The first of the phrases that the response contains, after normalisation of both. None if
        the response contains none of them.
    """
    phrases = _phrases(option, rule, protocol)
    if protocol.name == "flexible" and rule is None:
        for false in false_answers:
            phrases += [f"not {false.lower()}", f"{false.lower()} is wrong"]
    text = _phrase_form(response, protocol)
    # The published code removes spaces from Chinese responses, not from its key phrases.
    unchanged = protocol.name == "released" and rule is None
    for phrase in phrases:
        if (phrase if unchanged else _phrase_form(phrase, protocol)) in text:
            return phrase
    return None


# ---- normalisation -----------------------------------------------------------------------------

# White space, dashes and double quotation marks that NFKC does not unify.
_FORMS = {
    **{ord(space): " " for space in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u1680\u2028\u2029"},
    **{ord(hyphen): "-" for hyphen in "\u2010\u2012\u2013\u2014\u2015\u2212"},
    **{ord(quote): '"' for quote in "\u201c\u201d\u201f"},
}


def _folded(text: str) -> str:
    """Convert a text to NFKC, and unify its white space, hyphens and quotation marks."""
    return unicodedata.normalize("NFKC", straight_apostrophes(text)).translate(_FORMS)


_ARTICLES = frozenset({"a", "an", "the"})


def _flexible_form(text: str) -> str:
    """Lower case without punctuation and English articles; the words are joined by single spaces."""
    words = PUNCTUATION.sub("", unicodedata.normalize("NFKC", text).lower()).split()
    return " ".join(word for word in words if word not in _ARTICLES)


@lru_cache(maxsize=16384)
def _phrase_form(text: str, protocol: Protocol) -> str:
    """Normalise a text before it is searched for refusals or reports of errors."""
    if protocol.name == "flexible":
        return text.lower()
    if protocol.name == "paper":
        text = _folded(text).lower()
    return text.replace(" ", "") if protocol.chinese else text


@lru_cache(maxsize=16384)
def _answer_form(text: str, protocol: Protocol) -> str:
    """Normalise a text before it is searched for answers."""
    return (
        _flexible_form(text)
        if protocol.name == "flexible"
        else _phrase_form(text, protocol).lower()
    )


@lru_cache(maxsize=16384)
def _words(text: str, protocol: Protocol) -> Counter[str]:
    normal = _answer_form(text, protocol)
    return Counter(tokens(normal) if protocol.chinese else normal.split())


def _needs_folding(text: str, response: str, protocol: Protocol) -> bool:
    """Whether ``'paper'`` finds a text in a response only because of `_folded`."""
    if protocol.name != "paper":
        return False
    needle, plain = text.lower(), response.lower()
    if protocol.chinese:
        needle, plain = needle.replace(" ", ""), plain.replace(" ", "")
    return needle not in plain


# ---- reference answers -------------------------------------------------------------------------


def _is_in(alias: str, response: str, protocol: Protocol) -> bool:
    """Whether a response contains an alias of the answer as a substring, after normalisation."""
    released = protocol.name == "released"
    needle = alias.lower() if released else _answer_form(alias, protocol)
    if needle:
        return needle in _answer_form(response, protocol)
    return alias.lower() in _phrase_form(response, protocol)


def _words_in(alias: str, response: str, protocol: Protocol) -> tuple[int, int]:
    """Numbers of words of an alias: those that occur in a response, and all."""
    words, there = _words(alias, protocol), _words(response, protocol)
    return sum(n for word, n in words.items() if word in there), words.total()


def found_alias(part: Sequence[str], response: str, protocol: Protocol) -> str | None:
    """Return the first alias of an answer part that is found in a response.

    An alias is found if it is a substring of the response, after normalisation of both. Under
    ``'flexible'``, it is also found if at least 80 % of its words occur in the response.

    Parameters
    ----------
    part : sequence of str
        The aliases of one part of the reference answer.
    response : str
        Response of the system.
    protocol : Protocol
        Protocol and language.

    Returns
    -------
    str or None
        The alias, or None if none is found.
    """
    for alias in part:
        if _is_in(alias, response, protocol):
            return alias
        if protocol.name == "flexible":
            found, words = _words_in(alias, response, protocol)
            if words and 5 * found >= 4 * words:
                return alias
    return None


def by_folding(part: Sequence[str], response: str, protocol: Protocol) -> bool:
    """Return whether a part of the answer matches the response only because of Unicode folding.

    The ``'paper'`` protocol folds texts as described at the top of this module.

    Parameters
    ----------
    part : sequence of str
        Aliases of one part of the reference answer. The response must contain one of them; see
        `found_alias`.
    response : str
        Response of the system.
    protocol : Protocol
        Protocol and language.

    Returns
    -------
    bool
        True if no alias matches without folding, that is, if only letter case and, in Chinese,
        spaces are ignored. Always False under the other protocols.
    """
    return all(_needs_folding(alias, response, protocol) for alias in part)


def false_answers_of(false_answer: FalseAnswer) -> list[str]:
    """Return the false answers that the passages give as a list.

    Parameters
    ----------
    false_answer : str, list of str, tuple of str or None
        One or more false answers, or None. A blank string raises InputError.

    Returns
    -------
    list of str
        The false answers. The list is empty if there are none.
    """
    if is_missing(false_answer):
        return []
    said = listed(false_answer)
    if not isinstance(false_answer, str | list | tuple) or not all(map(_is_said, said)):
        raise InputError(
            f"a false answer must be a non-empty string, or a list of such strings, got {false_answer!r}"
        )
    return said


def _is_said(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())


# ---- what the functions assess ------------------------------------------------------------------

_ABILITIES = ("accuracy", "refusal", "rejection", "error_detection", "error_correction")
# Labels of an answer part. A refusal has the single label `REFUSED`.
FOUND, NOT_FOUND, REFUSED = 1, 0, -1

NO_RESPONSE = "no response"
NO_VERDICT = "no verdict"
BY_THE_VERDICT = "by the verdict"

# ---- what the records of the metrics say -------------------------------------------------------

_CHEN = "Chen et al., AAAI 2024, arXiv 2309.01431"
_CODE = "chen700564/RGB@65ec39e4 evalue.py"
_ANSWERED = {"response": "response", "answer": "references", "language": "language"}
_FACED = {"response": "response", "false_answer": "false_answers", "language": "language"}
_REFUSAL_COLUMNS = {"judged_refusal": "judged_refusal", "refusal_label": "refusal"}
_DETECTION_COLUMNS = {"judged_detection": "judged_detection", "detection_label": "error_detected"}
_NEVER_RULED = "Only if the response or a required verdict is missing."
_LENIENT = "A lenient re-implementation: "
_FOLDED = "ignoring letter case and Unicode variants of white space, hyphens and quotation marks"
_RIGHT = (
    f"Every part of the answer is a substring of the response, {_FOLDED}. A refusal is incorrect."
)
_NEARLY_RIGHT = (
    f"{_LENIENT}at least 80 % of the words of a part are sufficient, and a response that also refuses can be "
    "correct."
)
_BY_PHRASE = f"The response contains the agreed key phrase, {_FOLDED}."


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


def assess(
    ability: str,
    response: str | None,
    answer: Reference | None = None,
    *,
    false_answer: FalseAnswer = None,
    language: str = "en",
    protocol: str = "paper",
    noise_rate: float | None = None,
    refusal: Rule = None,
    detection: Rule = None,
    parts: str = "all",
    judged_refusal: float | None = None,
    refusal_label: float | None = None,
    judged_detection: float | None = None,
    detection_label: float | None = None,
    explain: bool = True,
) -> Assessment:
    """Compute one RGB metric for a response, with an explanation of its value.

    The functions `is_correct`, `is_refusal`, `is_rejection`, `detects_error` and `corrects_error`
    return only the value.

    Parameters
    ----------
    ability : {'accuracy', 'refusal', 'rejection', 'error_detection', 'error_correction'}
        Metric to compute. The functions above define these five metrics, in the same order.
    response, language, protocol, noise_rate, refusal, parts, judged_refusal, refusal_label
        See `is_correct`.
    answer : str, list or None, default=None
        Reference answer: a string, or a list of parts. A part is a string or a list of equivalent
        aliases. Required for ``'accuracy'`` and ``'error_correction'`` and, under ``'released'``,
        for ``'rejection'``.
    false_answer, detection, judged_detection, detection_label
        See `detects_error`.
    explain : bool, default=True
        Whether to describe the evidence in words. False is faster; the evidence is then not
        meaningful.

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
    rules = protocol_of(protocol, language)
    check_choice(parts, ("all", "any"), "parts")
    if not is_missing(noise_rate) and not 0 <= as_real(noise_rate) <= 1:
        raise InputError(f"noise_rate must be between 0 and 1, got {noise_rate!r}")
    is_needed = ability in ("accuracy", "error_correction")
    wanted = reference_parts(answer) if is_needed or not is_missing(answer) else []
    false_answers = false_answers_of(false_answer)
    if is_missing(response):
        return Assessment(math.nan, NO_RESPONSE, [])
    if not isinstance(response, str):
        raise InputError(f"a response must be a string or None, got {response!r:.80}")
    verdicts = judged_refusal, refusal_label
    refused = _decision("refusal", refusal, verdicts, response, rules)
    reported = None
    if ability.startswith("error"):
        verdicts = judged_detection, detection_label
        reported = _decision("detection", detection, verdicts, response, rules, false_answers)
    uses_verdicts = protocol != "flexible" or not is_needed
    if uses_verdicts and NO_VERDICT in (refused, reported):
        return Assessment(math.nan, NO_VERDICT, [])
    found = [found_alias(part, response, rules) for part in wanted]
    labels = [NOT_FOUND if alias is None else FOUND for alias in found]
    if refused and protocol != "flexible":
        labels = [REFUSED]
    right = FOUND in labels and (parts == "any" or NOT_FOUND not in labels)
    seen = _Seen(response, rules, refused, reported, wanted, found, labels, right, explain)
    if ability == "accuracy":
        value, evidence = _accuracy(seen, noise_rate)
    elif ability == "error_detection":
        value, evidence = _error_detection(seen)
    elif ability == "error_correction":
        value, evidence = _error_correction(seen, false_answers)
    elif ability == "rejection" and protocol == "released":
        value, evidence = _released_rejection(seen)
    else:
        value, evidence = _rejection(seen)
    return Assessment(value, evidence, labels)


class _Seen(NamedTuple):
    """What the rules of a protocol find in a response."""

    response: str
    rules: Protocol
    refused: str | None  # why the response is a refusal
    reported: str | None  # why it reports errors
    wanted: list[list[str]]  # the parts of the answer, each with its aliases
    found: list[str | None]  # the alias of each part that is in the response
    labels: list[int]
    right: bool  # whether the response is correct, according to the labels
    explain: bool

    def refusal(self) -> str:
        """Say why the response is or is not a refusal."""
        if not self.explain:
            return ""
        return _in_words("refusal", self.refused, self.response, self.rules)

    def report(self) -> str:
        """Say why the response does or does not report errors."""
        return _in_words("error", self.reported, self.response, self.rules) if self.explain else ""

    def parts(self) -> str:
        """Say which parts of the answer are found, or that the response is a refusal."""
        if not self.explain or self.labels == [REFUSED]:
            return self.refusal()
        return "; ".join(
            f"part {number}: {_part_in_words(part, alias, self.response, self.rules)}"
            for number, (part, alias) in enumerate(zip(self.wanted, self.found, strict=True), 1)
        )


def _accuracy(seen: _Seen, noise_rate: float | None) -> tuple[float, str]:
    if seen.refused and seen.rules.name == "released" and noise_rate == 1:
        return 1.0, f"{seen.parts()}, counted as correct at noise rate 1"
    return float(seen.right), seen.parts()


def _rejection(seen: _Seen) -> tuple[float, str]:
    return float(seen.refused is not None), seen.refusal()


def _released_rejection(seen: _Seen) -> tuple[float, str]:
    """As in the released code, count correct responses as rejections, too."""
    if not seen.wanted:
        return math.nan, f"{seen.refusal()}; no reference answer"
    if seen.refused:
        return 1.0, seen.refusal()
    return float(seen.right), f"{seen.refusal()}; {seen.parts()}"


def _error_detection(seen: _Seen) -> tuple[float, str]:
    return float(seen.reported is not None), seen.report()


def _error_correction(seen: _Seen, false_answers: Sequence[str]) -> tuple[float, str]:
    response, rules = seen.response, seen.rules
    if rules.name == "flexible":
        kept = [false for false in false_answers if _is_in(false, response, rules)]
        if kept and not all(
            any(_is_in(one, response, rules) for one in part) for part in seen.wanted
        ):
            return 0.0, f"{seen.parts()}; false answer {kept[0]!r} without the true one"
        return float(seen.right), seen.parts()
    if seen.reported is None:
        return math.nan, seen.report()
    said = f"{seen.report()}; {seen.parts()}"
    if seen.refused and rules.name == "released":
        return 1.0, f"{said}, counted as corrected"
    return float(seen.right), said


def _decision(
    option: str,
    rule: Rule,
    verdicts: tuple[float | None, float | None],
    response: str,
    protocol: Protocol,
    false_answers: Sequence[str] = (),
) -> str | None:
    """Return why a response is a refusal or reports errors; None if it is not or does not.

    The reason is a phrase, or `BY_THE_VERDICT` of a judge or a person. The result is `NO_VERDICT`
    if a required verdict is missing.
    """
    if rule not in BY_VERDICT:
        return phrase_in(response, option, rule, protocol, false_answers)
    value = binary_verdict(verdicts[BY_VERDICT.index(rule)])
    if math.isnan(value):
        return NO_VERDICT
    return BY_THE_VERDICT if value else None


_FOLDING = " (after folding Unicode forms)"


def _in_words(what: str, phrase: str | None, response: str, protocol: Protocol) -> str:
    """Describe why a response is or is not a ``'refusal'`` or a report of an ``'error'``."""
    if phrase is None:
        return {"refusal": "no refusal phrase", "error": "no error detected"}[what]
    if phrase == BY_THE_VERDICT:
        return f"{what}: {phrase}"
    folding = _FOLDING if _needs_folding(phrase, response, protocol) else ""
    return f"{what}: {phrase!r}{folding}"


def _part_in_words(
    part: Sequence[str], alias: str | None, response: str, protocol: Protocol
) -> str:
    """Describe which alias of an answer part is found in a response."""
    if alias is None:
        return "not found"
    if _is_in(alias, response, protocol):
        return f"{alias!r}{_FOLDING if by_folding(part, response, protocol) else ''}"
    found, words = _words_in(alias, response, protocol)
    return f"{alias!r} by {found} of {words} words"


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
    return assess(
        "accuracy",
        response,
        answer,
        language=language,
        protocol=protocol,
        refusal=refusal,
        explain=False,
    ).labels


@metric(
    "rgb.accuracy",
    {**_ANSWERED, "noise_rate": "noise_rate", **_REFUSAL_COLUMNS},
    options={
        "protocol": {
            "paper": _RIGHT,
            "released": "As in the published code: the reasoning in <think> is searched as well, and a "
            "refusal is recognised only in lower case. At noise rate 1, a refusal is correct.",
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
    evidence=lambda **call: assess("accuracy", **call).evidence,
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
    # The rule is in `_accuracy`.
    return assess(
        "accuracy",
        response,
        answer,
        language=language,
        protocol=protocol,
        noise_rate=noise_rate,
        refusal=refusal,
        parts=parts,
        judged_refusal=judged_refusal,
        refusal_label=refusal_label,
        explain=False,
    ).value


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
    return assess(
        "refusal",
        response,
        language=language,
        protocol=protocol,
        refusal=refusal,
        judged_refusal=judged_refusal,
        refusal_label=refusal_label,
        explain=False,
    ).value


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
    evidence=lambda **call: assess("rejection", **call).evidence,
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
    # The rule is in `_rejection` and `_released_rejection`.
    return assess(
        "rejection",
        response,
        answer,
        language=language,
        protocol=protocol,
        refusal=refusal,
        judged_refusal=judged_refusal,
        refusal_label=refusal_label,
        explain=False,
    ).value


# ---- counterfactual robustness -----------------------------------------------------------------


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
    evidence=lambda **call: assess("error_detection", **call).evidence,
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
    # The rule is in `_error_detection`.
    return assess(
        "error_detection",
        response,
        false_answer=false_answer,
        language=language,
        protocol=protocol,
        detection=detection,
        judged_detection=judged_detection,
        detection_label=detection_label,
        explain=False,
    ).value


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
    evidence=lambda **call: assess("error_correction", **call).evidence,
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
    # The rule is in `_error_correction`.
    return assess(
        "error_correction",
        response,
        answer,
        false_answer=false_answer,
        language=language,
        protocol=protocol,
        refusal=refusal,
        detection=detection,
        judged_refusal=judged_refusal,
        refusal_label=refusal_label,
        judged_detection=judged_detection,
        detection_label=detection_label,
        explain=False,
    ).value


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
