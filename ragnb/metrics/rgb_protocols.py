"""The protocols of the RGB benchmark: the paper, the published code, and a lenient re-implementation.

Each protocol is one class, which contains all that it does differently: how texts are normalised, how
phrases and parts of the answer are found, what the value of each metric is, and the sentences that
`ragnb.definitions` shows. The name of the class selects it: ``protocol='paper'``.

To add a protocol, write one more subclass of `Paper` (or of another protocol) with a ``name`` and
``definitions``, and override what differs. The metrics, their documentation and the reports then
know it.

A protocol does not read the arguments of the metrics itself. `ragnb.metrics.rgb` checks them and
creates a `Reading`, from which each method of a protocol computes the value of one metric.
"""

# Tested in tests/metrics/test_rgb_cases.py.

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import regex

from ragnb.errors import InputError, check_choice
from ragnb.metrics.normalization import PUNCTUATION
from ragnb.metrics.recognition import (
    FLEXIBLE_ERRORS,
    FLEXIBLE_REFUSALS,
    PHRASES,
    Rule,
    folded,
    phrases_of_rule,
)
from ragnb.text import tokens

# Labels of an answer part. A refusal has the single label `REFUSED`.
FOUND, NOT_FOUND, REFUSED = 1, 0, -1

# Why a response is a refusal or reports errors if a judge or a person says so.
BY_THE_VERDICT = "by the verdict"

_LANGUAGE_CODE = regex.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")
_ARTICLES = frozenset({"a", "an", "the"})
# How many texts each protocol keeps in their normalised form.
_CACHED_TEXTS = 16384

_FOLDED = "ignoring letter case and Unicode variants of white space, hyphens and quotation marks"
_FOLDING = " (after folding Unicode forms)"


class Finding(NamedTuple):
    """Value of a metric for one response, and a function that explains it in words.

    The explanation is a function, so that the words are put together only if they are requested.
    """

    value: float
    evidence: Callable[[], str]


# ---- the protocols -----------------------------------------------------------------------------


class Paper:
    """RGB as the paper defines it, for responses in one language.

    Refusals and reports of errors are recognised by the key phrases of the published code. Before
    two texts are compared, they are folded: they are converted to NFKC and lower case, and their
    white space, hyphens and quotation marks are unified. All spaces of Chinese texts are removed.

    Attributes
    ----------
    language : str
        Language code.
    chinese : bool
        Whether the language is treated as Chinese: its code begins with ``zh``.
    """

    name: ClassVar[str] = "paper"

    # Metric -> its definition under this protocol, as `ragnb.definitions` shows it.
    definitions: ClassVar[Mapping[str, str]] = {
        "accuracy": f"Every part of the answer is a substring of the response, {_FOLDED}. A refusal is "
        "incorrect.",
        "rejection": f"The response contains the agreed key phrase, {_FOLDED}. The mean is refusals / n.",
        "error_detection": f"The response contains the agreed key phrase, {_FOLDED}.",
        "error_correction": "The response is correct. Only responses that detect an error count: correct / "
        "detected.",
        "judged_error_correction": f"Every part of the answer is a substring of the response, {_FOLDED}. "
        "A refusal is incorrect.",
    }

    # Whether the phrases of the protocol's own rule are normalised like the response.
    normalises_own_phrases: ClassVar[bool] = True
    # Whether the reasoning of a model is a part of its response.
    reads_reasoning: ClassVar[bool] = False
    # Whether a response that refuses is incorrect even if it contains the answer.
    refusal_is_incorrect: ClassVar[bool] = True
    # Metrics that have a value without the verdicts on refusals and reports of errors.
    without_verdicts: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, language: str) -> None:
        self.language = language
        self.chinese = language[:2].lower() == "zh"
        # A response is searched for many phrases, and an alias is searched in many responses, so the
        # normalised texts are kept.
        self.phrase_form = lru_cache(_CACHED_TEXTS)(self._phrase_form)
        self.answer_form = lru_cache(_CACHED_TEXTS)(self._answer_form)

    def __init_subclass__(cls) -> None:
        """Register a new protocol under its name, and check that nothing is missing."""
        # A class that inherits its name would replace the protocol that it is derived from.
        if "name" not in vars(cls) or cls.name in _CLASSES:
            raise TypeError(f"the protocol {cls.__name__} needs a name of its own")
        if set(cls.definitions) != set(Paper.definitions):
            metrics = ", ".join(Paper.definitions)
            raise TypeError(
                f"definitions of the protocol {cls.name!r} needs a text for each of {metrics}"
            )
        _CLASSES[cls.name] = cls

    # -- texts

    def _phrase_form(self, text: str) -> str:
        """Normalise a text before it is searched for refusals or reports of errors."""
        return self._without_spaces(folded(text).lower())

    def _answer_form(self, text: str) -> str:
        """Normalise a text before it is searched for answers."""
        return self.phrase_form(text)

    def _without_spaces(self, text: str) -> str:
        """A Chinese text without its spaces; other texts are returned as they are."""
        return text.replace(" ", "") if self.chinese else text

    def needs_folding(self, text: str, response: str) -> bool:
        """Whether a text is found in a response only because both are folded.

        It must be a text that is found after folding. The question is whether it would also be found if
        nothing but letter case (and, in Chinese, spaces) were ignored.
        """
        lowered = self._without_spaces(text.lower())
        return lowered not in self._without_spaces(response.lower())

    # -- phrases

    def own_phrases(self, option: str, false_answers: Sequence[str]) -> Sequence[str]:
        """The phrases of the protocol's own rule for a ``'refusal'`` or a ``'detection'`` of errors."""
        return PHRASES[option]["phrase"]

    def phrase_in(
        self, response: str, option: str, rule: Rule = None, false_answers: Sequence[str] = ()
    ) -> str | None:
        """Find the first phrase by which a response is a ``'refusal'`` or a ``'detection'`` of errors.

        Without a rule, the phrases are those of the protocol, which can depend on the false answers
        in the passages. The result is None if the response contains no phrase.
        """
        if rule is None:
            phrases = self.own_phrases(option, false_answers)
        else:
            phrases = phrases_of_rule(option, rule, self.language)
        is_normalised = rule is not None or self.normalises_own_phrases
        text = self.phrase_form(response)
        for phrase in phrases:
            form = self.phrase_form(phrase) if is_normalised else phrase
            if form in text:
                return phrase
        return None

    # -- parts of the answer

    def contains(self, response: str, alias: str) -> bool:
        """Whether a response contains an alias as a substring, after normalisation of both."""
        normalised_alias = self.answer_form(alias)
        if normalised_alias:
            return normalised_alias in self.answer_form(response)
        # Normalisation leaves nothing of an alias such as "?!" under the protocol "flexible", so it is
        # searched as it is written. An empty text would be found in every response.
        return alias.lower() in self.phrase_form(response)

    def found_alias(self, part: Sequence[str], response: str) -> str | None:
        """The first alias of an answer part that is found in a response; None if there is none."""
        for alias in part:
            if self.contains(response, alias):
                return alias
        return None

    def by_folding(self, part: Sequence[str], response: str) -> bool:
        """Whether a part of the answer is found in a response only because both are folded."""
        return all(self.needs_folding(alias, response) for alias in part)

    def describe_alias(self, alias: str, part: Sequence[str], response: str) -> str:
        """Describe in words how an alias of an answer part was found in a response.

        If another alias of the part occurs in the response without folding, folding was not decisive.
        """
        return f"{alias!r}{_FOLDING if self.by_folding(part, response) else ''}"

    # -- metrics

    def accuracy(self, reading: "Reading") -> Finding:
        """Whether the response contains the answer and is not a refusal."""
        return Finding(float(reading.is_correct), reading.describe_parts)

    def refusal(self, reading: "Reading") -> Finding:
        """Whether the response is a refusal."""
        return Finding(float(reading.refusal_reason is not None), reading.describe_refusal)

    def rejection(self, reading: "Reading") -> Finding:
        """Whether the response is a refusal, on questions whose passages do not contain the answer."""
        return self.refusal(reading)

    def error_detection(self, reading: "Reading") -> Finding:
        """Whether the response reports errors."""
        return Finding(float(reading.error_reason is not None), reading.describe_report)

    def error_correction(self, reading: "Reading") -> Finding:
        """Whether a response that reports errors is correct. Other responses have no value."""
        if reading.error_reason is None:
            return Finding(math.nan, reading.describe_report)
        return Finding(float(reading.is_correct), reading.describe_report_and_parts)


_CLASSES: dict[str, type[Paper]] = {Paper.name: Paper}


class Released(Paper):
    """The published code, chen700564/RGB at commit 65ec39e4, with its bugs.

    Answers are compared in lower case. Letter case matters for everything else: key phrases are
    found only in lower case, and agreed sentences and custom phrases only as they are written. Spaces
    are removed from Chinese responses, but not from answers and key phrases. The English key phrase
    contains a space, so it is never found in a Chinese response. Reasoning is searched as well.
    """

    name = "released"

    definitions = {
        "accuracy": "As in the published code: the reasoning in <think> is searched as well, and a refusal "
        "is recognised only in lower case. At noise rate 1, a refusal is correct.",
        "rejection": "As in the published code: the response contains the key phrase in lower case, or is "
        "correct. The mean is (refusals + correct answers) / n.",
        "error_detection": "As in the published code: the response contains the key phrase in lower case.",
        "error_correction": "As in the published code: no part of the answer is missing, or the response is "
        "a refusal. Only responses that detect an error count.",
        "judged_error_correction": "As in the published code: the reasoning in <think> is searched as well, "
        "and a refusal is recognised only in lower case.",
    }

    # Key phrases are searched as they are written, even in Chinese responses.
    normalises_own_phrases = False
    reads_reasoning = True

    def _phrase_form(self, text: str) -> str:
        """Keep the letter case of a text."""
        return self._without_spaces(text)

    def _answer_form(self, text: str) -> str:
        """Convert a text to lower case, but do not fold it."""
        return self.phrase_form(text).lower()

    def needs_folding(self, text: str, response: str) -> bool:
        """Texts are not folded."""
        return False

    def contains(self, response: str, alias: str) -> bool:
        """Whether a response contains an alias. Spaces of the alias are not removed."""
        return alias.lower() in self.answer_form(response)

    def accuracy(self, reading: "Reading") -> Finding:
        """Whether the response is correct. At noise rate 1, where no passage has the answer, refusals are."""
        if reading.refusal_reason and reading.noise_rate == 1:
            return Finding(
                1.0, lambda: f"{reading.describe_parts()}, counted as correct at noise rate 1"
            )
        return super().accuracy(reading)

    def rejection(self, reading: "Reading") -> Finding:
        """Whether the response is a refusal or is correct, which the published code counts alike."""
        if not reading.answer:
            return Finding(math.nan, lambda: f"{reading.describe_refusal()}; no reference answer")
        if reading.refusal_reason:
            return Finding(1.0, reading.describe_refusal)
        return Finding(
            float(reading.is_correct),
            lambda: f"{reading.describe_refusal()}; {reading.describe_parts()}",
        )

    def error_correction(self, reading: "Reading") -> Finding:
        """Whether a response that reports errors is correct. One that also refuses counts as correct."""
        if reading.error_reason and reading.refusal_reason:
            return Finding(
                1.0, lambda: f"{reading.describe_report_and_parts()}, counted as corrected"
            )
        return super().error_correction(reading)


class Flexible(Paper):
    """A lenient re-implementation with long lists of English phrases.

    Answers are compared in lower case, without punctuation and English articles. An alias is also
    found if at least 80 % of its words occur in the response; the words of Chinese texts are
    `ragnb.text.tokens`. Phrases are compared in lower case. A response that contains the answer is
    correct even if it also refuses or reports no errors.
    """

    name = "flexible"

    _nearly_correct = (
        "A lenient re-implementation: at least 80 % of the words of a part are sufficient, and a response "
        "that also refuses can be correct."
    )
    definitions = {
        "accuracy": _nearly_correct,
        "rejection": "A lenient re-implementation: the response contains one of a long list of English "
        "phrases or, in Chinese, the key phrase.",
        "error_detection": "A lenient re-implementation: the response contains one of a long list of English "
        'phrases, or "not X" or "X is wrong" for a false answer X.',
        "error_correction": "A lenient re-implementation: the response is correct, whether or not it detects "
        "an error: correct / n.",
        "judged_error_correction": _nearly_correct,
    }

    refusal_is_incorrect = False
    without_verdicts = frozenset({"accuracy", "error_correction"})

    _own_phrases: ClassVar = {"refusal": FLEXIBLE_REFUSALS, "detection": FLEXIBLE_ERRORS}

    def __init__(self, language: str) -> None:
        super().__init__(language)
        self.words = lru_cache(_CACHED_TEXTS)(self._words)

    def _phrase_form(self, text: str) -> str:
        """Convert a text to lower case, but do not fold it."""
        return text.lower()

    def _answer_form(self, text: str) -> str:
        """Convert a text to NFKC and lower case, without punctuation and English articles."""
        words = PUNCTUATION.sub("", unicodedata.normalize("NFKC", text).lower()).split()
        return " ".join(word for word in words if word not in _ARTICLES)

    def _words(self, text: str) -> Counter[str]:
        """The words of a text in the form in which answers are compared."""
        form = self.answer_form(text)
        return Counter(tokens(form) if self.chinese else form.split())

    def needs_folding(self, text: str, response: str) -> bool:
        """Texts are not folded."""
        return False

    def own_phrases(self, option: str, false_answers: Sequence[str]) -> Sequence[str]:
        """A long list in English; for each false answer X, also *not X* and *X is wrong*."""
        phrases = PHRASES[option]["phrase"] if self.chinese else self._own_phrases[option]
        for false_answer in false_answers:
            lowered = false_answer.lower()
            phrases = (*phrases, f"not {lowered}", f"{lowered} is wrong")
        return phrases

    def _words_in(self, alias: str, response: str) -> tuple[int, int]:
        """How many words of an alias occur in a response, and how many words the alias has."""
        words, words_of_response = self.words(alias), self.words(response)
        n_found = sum(n for word, n in words.items() if word in words_of_response)
        return n_found, words.total()

    def found_alias(self, part: Sequence[str], response: str) -> str | None:
        """The first alias that is in a response, as a whole or by at least 80 % of its words."""
        for alias in part:
            if self.contains(response, alias):
                return alias
            n_found, n_words = self._words_in(alias, response)
            # At least 80 % of the words of the alias: n_found / n_words >= 4 / 5.
            has_enough_words = 5 * n_found >= 4 * n_words
            if n_words and has_enough_words:
                return alias
        return None

    def describe_alias(self, alias: str, part: Sequence[str], response: str) -> str:
        """Describe in words how an alias was found: as a substring, or by its words."""
        if self.contains(response, alias):
            return repr(alias)
        n_found, n_words = self._words_in(alias, response)
        return f"{alias!r} by {n_found} of {n_words} words"

    def error_correction(self, reading: "Reading") -> Finding:
        """Whether the response is correct, whether or not it reports errors.

        If it repeats a false answer, it must contain the true one as a substring.
        """
        repeated = [
            false_answer
            for false_answer in reading.false_answers
            if self.contains(reading.response, false_answer)
        ]
        if repeated and not self._contains_all(reading):
            return Finding(
                0.0,
                lambda: (
                    f"{reading.describe_parts()}; false answer {repeated[0]!r} without the true one"
                ),
            )
        return Finding(float(reading.is_correct), reading.describe_parts)

    def _contains_all(self, reading: "Reading") -> bool:
        """Whether every part of the answer is a substring of the response."""
        return all(
            any(self.contains(reading.response, alias) for alias in part) for part in reading.answer
        )


PROTOCOLS = tuple(_CLASSES)


@lru_cache
def protocol_of(name: str, language: str) -> Paper:
    """Return the protocol with the given name for a language code, such as ``'en'`` or ``'zh-TW'``.

    >>> protocol_of("flexible", "zh-TW").chinese
    True
    """
    check_choice(name, PROTOCOLS, "protocol")
    if not isinstance(language, str) or not _LANGUAGE_CODE.fullmatch(language):
        raise InputError(f"language must be a code such as 'en' or 'zh-TW', got {language!r}")
    return _CLASSES[name](language)


def reads_reasoning(name: object) -> bool:
    """Whether the protocol of this name reads the reasoning of a model; False if there is none."""
    protocol = _CLASSES.get(str(name))
    return protocol is not None and protocol.reads_reasoning


def definitions_of(metric: str) -> dict[str, str]:
    """The definition of a metric under each protocol."""
    return {name: protocol.definitions[metric] for name, protocol in _CLASSES.items()}


# ---- what a protocol finds in a response -------------------------------------------------------


@dataclass(slots=True)
class Reading:
    """A response, and what a protocol finds in it.

    Attributes
    ----------
    response : str
        Response of the system.
    protocol : Paper
        The protocol, for the language of the response.
    answer : list of list of str
        Parts of the reference answer, each with its aliases. Empty if there is no answer.
    false_answers : list of str
        False answers in the passages.
    noise_rate : float or None
        Proportion of passages that do not contain the answer.
    any_part : bool
        Whether a single part of the answer is sufficient.
    refusal_reason : str or None
        Why the response is a refusal: a phrase, or `BY_THE_VERDICT`. None if it is not.
    error_reason : str or None
        Why the response reports errors. None if it does not.
    aliases : list of (str or None)
        For each part of the answer, the alias that is found in the response.
    labels : list of int
        Label of each part: `FOUND` or `NOT_FOUND`; only `REFUSED` for a refusal that is incorrect.
    """

    response: str
    protocol: Paper
    answer: list[list[str]]
    false_answers: list[str]
    noise_rate: float | None
    any_part: bool
    refusal_reason: str | None
    error_reason: str | None
    aliases: list[str | None]
    labels: list[int]

    @property
    def is_correct(self) -> bool:
        """Whether all parts of the answer are found, or any part if one is sufficient.

        False for a refusal that is incorrect, whose only label is `REFUSED`, and without an answer.
        """
        return FOUND in self.labels and (self.any_part or NOT_FOUND not in self.labels)

    def describe_refusal(self) -> str:
        """Say why the response is or is not a refusal."""
        return self._describe("refusal", self.refusal_reason, "no refusal phrase")

    def describe_report(self) -> str:
        """Say why the response does or does not report errors."""
        return self._describe("error", self.error_reason, "no error detected")

    def describe_parts(self) -> str:
        """Say which parts of the answer are found, or that the response is a refusal."""
        if self.labels == [REFUSED]:
            return self.describe_refusal()
        descriptions = []
        for number, (part, alias) in enumerate(zip(self.answer, self.aliases, strict=True), 1):
            how = "not found"
            if alias is not None:
                how = self.protocol.describe_alias(alias, part, self.response)
            descriptions.append(f"part {number}: {how}")
        return "; ".join(descriptions)

    def describe_report_and_parts(self) -> str:
        """Say why the response reports errors, and which parts of the answer are found."""
        return f"{self.describe_report()}; {self.describe_parts()}"

    def _describe(self, what: str, reason: str | None, absent: str) -> str:
        """Describe the reason for a refusal or a report of errors; `absent` if there is none."""
        if reason is None:
            return absent
        if reason == BY_THE_VERDICT:
            return f"{what}: {reason}"
        needs_folding = self.protocol.needs_folding(reason, self.response)
        return f"{what}: {reason!r}{_FOLDING if needs_folding else ''}"
