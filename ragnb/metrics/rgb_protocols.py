"""Protocols of RGB: the phrases that they search for, and how they normalise texts.

===================  ==========================  ===========================  ========================
protocol             ``"paper"``                 ``"released"``               ``"flexible"``
===================  ==========================  ===========================  ========================
answers compared in  `folded`, lower case        lower case                   `normalised`
phrases compared in  `folded`, lower case        the text as it is            lower case
Chinese              all spaces removed          spaces removed from the      tokens are characters
                                                 response only
===================  ==========================  ===========================  ========================

A language is Chinese if its code begins with ``zh``. All other languages are treated like English.
All functions raise InputError for an unknown protocol or rule, a value that is not a language code,
and an answer without a part or with an empty alias.
"""

import string
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import regex

from ragnb.errors import InputError, check_choice
from ragnb.metrics.references import listed
from ragnb.records import is_missing
from ragnb.text import tokens

PROTOCOLS = ("paper", "released", "flexible")

Answer = str | Sequence[str | Sequence[str]]
FalseAnswer = str | Sequence[str] | None
Rule = str | Sequence[str] | Mapping[str, Sequence[str]] | None
"""How refusals or reports of errors are recognised: a value of ``refusal`` or ``detection``."""

BY_VERDICT = ("judge", "label")
"""Rules that use the verdict of a judge or of a person instead of phrases."""


# ---- phrases -----------------------------------------------------------------------------------

REFUSAL_PHRASES = {"en": "insufficient information", "zh": "信息不足"}
"""Key phrase of the sentence that RGB's prompt requests for a refusal."""

ERROR_PHRASES = {"en": "factual errors", "zh": "事实性错误"}
"""Key phrase of the sentence that RGB's prompt requests for a report of errors."""

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
"""English phrases that count as a refusal under ``"flexible"``. There is no Chinese list."""

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
"""English phrases that report an error under ``"flexible"``. There is no Chinese list."""

# "sentence": as RGB's prompt requests it, in lower case and without its full stop.
_REFUSALS = {
    "phrase": tuple(REFUSAL_PHRASES.values()),
    "sentence": (
        "i can not answer the question because of the insufficient information in documents",
        "文档信息不足，因此我无法基于提供的文档回答该问题",
    ),
    None: FLEXIBLE_REFUSALS,
}
_ERRORS = {
    "phrase": tuple(ERROR_PHRASES.values()),
    "sentence": (
        "there are factual errors in the provided documents",
        "提供文档的文档存在事实性错误",
    ),
    None: FLEXIBLE_ERRORS,
}


# ---- protocols ---------------------------------------------------------------------------------


class Protocol(NamedTuple):
    """Rules by which responses in one language are evaluated.

    Attributes
    ----------
    name
        ``"paper"``, ``"released"`` or ``"flexible"``.
    chinese
        Whether the language is Chinese.
    refusals, errors
        Phrases that mark a refusal, and phrases that report an error in the documents, normalised
        for the protocol.
    denials
        Whether the phrases ``not X`` and ``X is wrong``, where X is a false answer, also count as a
        report of an error.
    """

    name: str
    chinese: bool
    refusals: tuple[str, ...]
    errors: tuple[str, ...]
    denials: bool


_CODE = regex.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")


def protocol_of(
    name: str, language: str, *, refusal: Rule = None, detection: Rule = None
) -> Protocol:
    """Return a protocol for a language, with optional rules for refusals and reports of errors."""
    check_choice(name, PROTOCOLS, "protocol")
    if not isinstance(language, str) or not _CODE.fullmatch(language):
        raise InputError(f"language must be a code such as 'en' or 'zh-TW', got {language!r}")
    rules = _rule(refusal, language, "refusal"), _rule(detection, language, "detection")
    return _protocol(name, language[:2].lower() == "zh", *rules)


def _rule(rule: Rule, language: str, option: str) -> str | tuple[str, ...] | None:
    """Return the rule for one language: its name, or the tuple of its phrases."""
    if rule is None or (isinstance(rule, str) and rule in ("phrase", "sentence", *BY_VERDICT)):
        return rule
    phrases: Any = rule
    if isinstance(rule, Mapping):
        phrases = rule.get(language, rule.get(regex.split("[-_]", language)[0]))
        if phrases is None:
            raise InputError(f"{option} has no phrases for the language {language!r}; add a list")
    if not isinstance(phrases, list | tuple) or not phrases or not all(map(_is_said, phrases)):
        raise InputError(
            f"{option} must be 'phrase', 'sentence', 'judge', 'label', a list of phrases, or a "
            f"mapping from language codes to lists of phrases, got {rule!r:.100}"
        )
    return tuple(phrases)


@lru_cache(maxsize=1024)
def _protocol(
    name: str,
    chinese: bool,
    refusal: str | tuple[str, ...] | None,
    detection: str | tuple[str, ...] | None,
) -> Protocol:
    refusals = _phrases(name, chinese, refusal, _REFUSALS)
    errors = _phrases(name, chinese, detection, _ERRORS)
    return Protocol(name, chinese, refusals, errors, name == "flexible" and detection is None)


def _phrases(
    name: str,
    chinese: bool,
    rule: str | tuple[str, ...] | None,
    lists: Mapping[Any, tuple[str, ...]],
) -> tuple[str, ...]:
    if rule is None and name == "released":
        return lists["phrase"]  # as in that code, so the English one is never found in Chinese
    if rule is None and (name == "paper" or chinese):
        rule = "phrase"
    phrases = rule if isinstance(rule, tuple) else lists.get(rule, ())
    return tuple(_phrase_form(phrase, name, chinese) for phrase in phrases)


def _phrase_form(text: str, name: str, chinese: bool) -> str:
    """Normalise a text for the comparison with phrases under a protocol."""
    if name == "flexible":
        return text.lower()
    if name == "paper":
        text = folded(text).lower()
    return text.replace(" ", "") if chinese else text


# ---- normalisation -----------------------------------------------------------------------------

_FORMS = {
    **{ord(space): " " for space in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u1680\u2028\u2029"},
    **{ord(hyphen): "-" for hyphen in "\u2010\u2012\u2013\u2014\u2015\u2212"},
    **{ord(quote): "'" for quote in "\u2018\u2019\u201b\u02bc"},
    **{ord(quote): '"' for quote in "\u201c\u201d\u201f"},
}
"""White space, dashes and quotation marks that NFKC does not unify."""


def folded(text: str) -> str:
    """Unify Unicode variants of characters, but keep letter case.

    The function applies NFKC. Then it replaces every white space character by a space, every
    hyphen, dash and minus sign by ``-``, and every typographic quotation mark or apostrophe by its
    ASCII form. Recent models use such variants in dates and names, for example a narrow no-break
    space in ``7 November``.

    >>> folded("7\u202fNovember\u00a01940, COVID\u201119, O\u2019Neill")
    "7 November 1940, COVID-19, O'Neill"
    """
    return unicodedata.normalize("NFKC", text).translate(_FORMS)


class _Punctuation(dict[int, int | None]):
    """Translation table that deletes punctuation. A character is added when it is first looked up."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        deleted = unicodedata.category(character).startswith("P") or character in string.punctuation
        return self.setdefault(code, None if deleted else code)


_PUNCTUATION = _Punctuation()
_ARTICLES = frozenset({"a", "an", "the"})


def normalised(text: str) -> str:
    """Normalise text for the ``"flexible"`` protocol.

    The text is converted to NFKC and to lower case. Punctuation, English articles and repeated white
    space are removed. Punctuation means any character of the Unicode category P, and any of
    ``$+<=>^`|~``. It is deleted and not replaced by a space.

    >>> normalised("The  Ｕ.S. —  a\\nWell-Known place!")
    'us wellknown place'
    """
    words = unicodedata.normalize("NFKC", text).lower().translate(_PUNCTUATION).split()
    return " ".join(word for word in words if word not in _ARTICLES)


@dataclass(frozen=True)
class Normalised:
    """A response, normalised for one protocol.

    Attributes
    ----------
    text
        The response itself.
    phrases
        The text that is searched for phrases.
    answers
        The text that is searched for answers.
    protocol
        The protocol.
    """

    text: str
    phrases: str
    answers: str
    protocol: Protocol

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the words of the text that is searched for answers."""
        return frozenset(_words(self.answers, self.protocol))

    def needs_folding(self, needle: str) -> bool:
        """Return whether ``"paper"`` finds `needle` only because it unifies Unicode forms."""
        plain = self.text.lower()
        if self.protocol.chinese:
            plain = plain.replace(" ", "")
        return self.protocol.name == "paper" and needle not in plain


def normalise(response: str | None, protocol: Protocol) -> Normalised | None:
    """Normalise a response for a protocol; None if there is no response."""
    if is_missing(response):
        return None
    if not isinstance(response, str):
        raise InputError(f"a response must be a string or None, got {response!r:.80}")
    return _normalise(response, protocol)


@lru_cache(maxsize=16384)
def _normalise(response: str, protocol: Protocol) -> Normalised:
    phrases = _phrase_form(response, protocol.name, protocol.chinese)
    answers = normalised(response) if protocol.name == "flexible" else phrases.lower()
    return Normalised(response, phrases, answers, protocol)


def _words(text: str, protocol: Protocol) -> list[str]:
    return tokens(text) if protocol.chinese else text.split()


# ---- reference answers -------------------------------------------------------------------------


class Alias(NamedTuple):
    """One way to write an answer part.

    Attributes
    ----------
    text
        The alias as written in the reference.
    needle
        The string that is searched for.
    words
        The words of the alias under ``"flexible"``, where 80 % of them are sufficient; otherwise
        empty.
    verbatim
        Whether the alias consists only of articles and punctuation. ``"flexible"`` searches for
        such an alias in the response in lower case, with punctuation.
    """

    text: str
    needle: str
    words: tuple[str, ...] = ()
    verbatim: bool = False

    def is_in(self, response: Normalised) -> bool:
        """Return whether the response contains the alias as a substring."""
        return self.needle in (response.phrases if self.verbatim else response.answers)

    def words_in(self, response: Normalised) -> int:
        """Count the words of the alias that also occur in the response."""
        return sum(word in response.words for word in self.words)


Part = tuple[Alias, ...]


def answer_parts(answer: Answer) -> list[list[str]]:
    """Convert a reference answer to a list of parts, with each part a list of aliases.

    All parts are required in a response, and one alias of each part is sufficient. A missing or
    blank alias, an empty part, and an answer without parts raise InputError.

    >>> answer_parts("Tampa"), answer_parts(["a", "b"]), answer_parts([["a", "b"]])
    ([['Tampa']], [['a'], ['b']], [['a', 'b']])
    """
    parts = [listed(part) for part in listed(answer)]
    if not parts or not all(parts) or not all(_is_said(alias) for part in parts for alias in part):
        raise InputError(
            "a reference answer must have a part, and every part an alias that is not empty, got "
            f"{answer!r:.200}; write a string, or a list of parts"
        )
    return parts


def aliases_of(answer: Answer, protocol: Protocol) -> tuple[Part, ...]:
    """Convert a reference answer to parts, each a tuple of aliases normalised for a protocol.

    InputError is raised if there is no part, or if a part has no alias or an empty one.
    """
    return tuple(tuple(_alias(text, protocol) for text in part) for part in answer_parts(answer))


def false_aliases_of(false_answer: FalseAnswer, protocol: Protocol) -> Part:
    """Convert false answers to aliases normalised for a protocol; an empty tuple if there are none.

    InputError is raised if a false answer is not a string, or is empty.
    """
    if is_missing(false_answer):
        return ()
    said = listed(false_answer)
    if not isinstance(false_answer, str | list | tuple) or not all(map(_is_said, said)):
        raise InputError(
            f"a false answer must be a non-empty string, or a list of such strings, got {false_answer!r}"
        )
    return tuple(_alias(text, protocol) for text in said)


@lru_cache(maxsize=16384)
def _alias(text: str, protocol: Protocol) -> Alias:
    if protocol.name == "released":
        return Alias(text, text.lower())
    if protocol.name == "paper":
        return Alias(text, _phrase_form(text, "paper", protocol.chinese))
    needle = normalised(text)
    if not needle:
        return Alias(text, text.lower(), verbatim=True)
    return Alias(text, needle, tuple(_words(needle, protocol)))


def _is_said(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())
