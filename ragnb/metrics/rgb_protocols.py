"""Protocols of RGB: the phrases that they search for, and how they normalise texts.

Before two texts are compared, they are normalised as follows:

===================  ==========================  ===========================  ========================
protocol             ``'paper'``                 ``'released'``               ``'flexible'``
===================  ==========================  ===========================  ========================
answers              `folded`, lower case        lower case                   `flexible_form`
phrases              `folded`, lower case        unchanged                    lower case
Chinese              all spaces removed          spaces removed from the      words are `tokens`
                                                 response, not from answers
===================  ==========================  ===========================  ========================

A language is Chinese if its code begins with ``zh``. All other languages are treated like English.
All functions raise InputError for an unknown protocol or rule, a value that is not a language code,
and an answer without a part or with an empty alias.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import regex

from ragnb.errors import InputError, check_choice
from ragnb.metrics.normalization import PUNCTUATION
from ragnb.metrics.references import listed
from ragnb.records import is_missing
from ragnb.text import tokens

PROTOCOLS = ("paper", "released", "flexible")

FalseAnswer = str | Sequence[str] | None
# How refusals or reports of errors are recognised: a value of ``refusal`` or ``detection``.
Rule = str | Sequence[str] | Mapping[str, Sequence[str]] | None

# Rules that use the verdict of a judge or of a person instead of phrases.
BY_VERDICT = ("judge", "label")

_CODE = regex.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")


class Protocol(NamedTuple):
    """A protocol of the RGB benchmark, applied to one language.

    Attributes
    ----------
    name : {'paper', 'released', 'flexible'}
        Name of the protocol. `ragnb.metrics.rgb` describes the three protocols.
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
        Name of the protocol. `ragnb.metrics.rgb` describes the three protocols.
    language : str
        Language code, such as ``'en'`` or ``'zh-TW'``.

    Returns
    -------
    Protocol
        The protocol for this language. Codes that begin with ``zh`` mean Chinese.
    """
    check_choice(name, PROTOCOLS, "protocol")
    if not isinstance(language, str) or not _CODE.fullmatch(language):
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


def phrases_of(option: str, rule: Rule, protocol: Protocol) -> list[str]:
    """Return the normalised phrases that identify a refusal or a report of errors.

    Parameters
    ----------
    option : {'refusal', 'detection'}
        What the phrases identify: refusals or reports of errors.
    rule : {'phrase', 'sentence'}, list of str, mapping or None
        Phrases to use. ``'sentence'`` is the sentence with which RGB's prompt asks the model to
        refuse or to report errors, and ``'phrase'`` is the key phrase of this sentence. A list
        contains custom phrases. A mapping from language codes to such lists must have an entry for
        the language; the entry ``'zh'`` also applies to ``'zh-TW'``. None means the default phrases
        of the protocol.
    protocol : Protocol
        Protocol and language.

    Returns
    -------
    list of str
        The phrases, normalised by `phrase_form`. The default phrases of ``'released'`` are not
        normalised.
    """
    named = PHRASES[option]
    if rule is None and protocol.name == "released":
        return list(named["phrase"])  # as in that code, so the English one is never in Chinese
    if rule is None and (protocol.name == "paper" or protocol.chinese):
        rule = "phrase"
    if rule is None or (isinstance(rule, str) and rule in named):
        return [phrase_form(phrase, protocol) for phrase in named[rule]]
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
    return [phrase_form(phrase, protocol) for phrase in phrases]


def phrase_in(
    response: str,
    option: str,
    rule: Rule,
    protocol: Protocol,
    false_answers: Sequence[str] = (),
) -> str | None:
    """Find a phrase that identifies a response as a refusal or as a report of errors.

    The phrases are those of `phrases_of`. With ``rule=None``, ``'flexible'`` also looks for
    ``not X`` and ``X is wrong``, where X is a false answer.

    Parameters
    ----------
    response : str
        Response of the system.
    option : {'refusal', 'detection'}
        What the phrases identify: refusals or reports of errors.
    rule, protocol
        See `phrases_of`.
    false_answers : sequence of str, default=()
        False answers in the passages.

    Returns
    -------
    str or None
        The first of the phrases that the response contains, in its normalised form. None if the
        response contains none of them.
    """
    phrases = phrases_of(option, rule, protocol)
    if protocol.name == "flexible" and rule is None:
        for false in false_answers:
            phrases += [f"not {false.lower()}", f"{false.lower()} is wrong"]
    text = phrase_form(response, protocol)
    return next((phrase for phrase in phrases if phrase in text), None)


# ---- normalisation -----------------------------------------------------------------------------

# White space, dashes and quotation marks that NFKC does not unify.
_FORMS = {
    **{ord(space): " " for space in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u1680\u2028\u2029"},
    **{ord(hyphen): "-" for hyphen in "\u2010\u2012\u2013\u2014\u2015\u2212"},
    **{ord(quote): "'" for quote in "\u2018\u2019\u201b\u02bc"},
    **{ord(quote): '"' for quote in "\u201c\u201d\u201f"},
}


def folded(text: str) -> str:
    """Convert a text to NFKC, and unify its white space, hyphens and quotation marks.

    Letter case does not change. After the conversion to NFKC, these characters are replaced:

    - Each white space character becomes a space.
    - The hyphens and dashes U+2010 to U+2015 and the minus sign U+2212 become ``-``.
    - The quotation marks and apostrophes ``‘ ’ ‛ ʼ`` become ``'``, and ``“ ” ‟`` become ``"``.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The normalised text.

    Examples
    --------
    >>> folded("7\u202fNovember\u00a01940, COVID\u201119, O\u2019Neill")
    "7 November 1940, COVID-19, O'Neill"
    """
    return unicodedata.normalize("NFKC", text).translate(_FORMS)


_ARTICLES = frozenset({"a", "an", "the"})


def flexible_form(text: str) -> str:
    """Normalise a text as the ``'flexible'`` protocol does before it searches for answers.

    The text is converted to NFKC and to lower case. Punctuation and English articles are deleted,
    and the remaining words are joined by single spaces. Punctuation is any character of the Unicode
    general category P (punctuation), and any of ``$+<=>^`|~``.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The normalised text.

    Examples
    --------
    >>> flexible_form("The  Ｕ.S. —  a\\nWell-Known place!")
    'us wellknown place'
    """
    words = PUNCTUATION.sub("", unicodedata.normalize("NFKC", text).lower()).split()
    return " ".join(word for word in words if word not in _ARTICLES)


@lru_cache(maxsize=16384)
def phrase_form(text: str, protocol: Protocol) -> str:
    """Normalise a text as a protocol does before it searches for refusals or reports of errors.

    ``'paper'`` applies `folded` and converts the text to lower case. ``'flexible'`` only converts
    it to lower case, and ``'released'`` does not change it. For Chinese, ``'paper'`` and
    ``'released'`` also remove spaces.

    Parameters
    ----------
    text : str
        A phrase or a response.
    protocol : Protocol
        Protocol and language.

    Returns
    -------
    str
        The normalised text.
    """
    if protocol.name == "flexible":
        return text.lower()
    if protocol.name == "paper":
        text = folded(text).lower()
    return text.replace(" ", "") if protocol.chinese else text


@lru_cache(maxsize=16384)
def answer_form(text: str, protocol: Protocol) -> str:
    """Normalise a text as a protocol does before it searches for answers.

    The table at the top of `ragnb.metrics.rgb_protocols` lists the steps.

    Parameters
    ----------
    text : str
        An alias of the answer, or a response.
    protocol : Protocol
        Protocol and language.

    Returns
    -------
    str
        The normalised text.
    """
    return (
        flexible_form(text) if protocol.name == "flexible" else phrase_form(text, protocol).lower()
    )


@lru_cache(maxsize=16384)
def _words(text: str, protocol: Protocol) -> Counter[str]:
    normal = answer_form(text, protocol)
    return Counter(tokens(normal) if protocol.chinese else normal.split())


def needs_folding(needle: str, response: str, protocol: Protocol) -> bool:
    """Return whether ``'paper'`` finds a text in a response only because of `folded`.

    Parameters
    ----------
    needle : str
        A normalised text that ``'paper'`` finds in the response.
    response : str
        Response of the system.
    protocol : Protocol
        Protocol and language.

    Returns
    -------
    bool
        True if the response does not contain the text after conversion to lower case and, in
        Chinese, removal of spaces. Always False under the other protocols.
    """
    if protocol.name != "paper":
        return False
    plain = response.lower()
    return needle not in (plain.replace(" ", "") if protocol.chinese else plain)


# ---- reference answers -------------------------------------------------------------------------


def is_in(alias: str, response: str, protocol: Protocol) -> bool:
    """Return whether a response contains an alias of the answer as a substring.

    Both texts are normalised by `answer_form`, except that ``'released'`` only converts the alias
    to lower case. If normalisation under ``'flexible'`` leaves nothing of the alias, both texts are
    only converted to lower case instead.

    Parameters
    ----------
    alias : str
        One alias of a part of the reference answer.
    response : str
        Response of the system.
    protocol : Protocol
        Protocol and language.

    Returns
    -------
    bool
        True if the alias is found.
    """
    released = protocol.name == "released"
    needle = alias.lower() if released else answer_form(alias, protocol)
    if needle:
        return needle in answer_form(response, protocol)
    return alias.lower() in phrase_form(response, protocol)


def words_in(alias: str, response: str, protocol: Protocol) -> tuple[int, int]:
    """Count the words of an alias, and how many of them occur in a response.

    Both texts are normalised by `answer_form`. Words are separated by spaces; in Chinese, they are
    `ragnb.text.tokens`.

    Parameters
    ----------
    alias : str
        One alias of a part of the reference answer.
    response : str
        Response of the system.
    protocol : Protocol
        Protocol and language.

    Returns
    -------
    found : int
        Number of words of the alias that occur in the response. A word that occurs twice in the
        alias counts twice.
    words : int
        Number of words of the alias.
    """
    words, there = _words(alias, protocol), _words(response, protocol)
    return sum(n for word, n in words.items() if word in there), words.total()


def found_alias(part: Sequence[str], response: str, protocol: Protocol) -> str | None:
    """Return the first alias of an answer part that is found in a response.

    An alias is found if it is a substring of the response after normalisation (see `is_in`). Under
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
        if is_in(alias, response, protocol):
            return alias
        if protocol.name == "flexible":
            found, words = words_in(alias, response, protocol)
            if words and 5 * found >= 4 * words:
                return alias
    return None


def by_folding(part: Sequence[str], response: str, protocol: Protocol) -> bool:
    """Return whether ``'paper'`` finds a part of the answer only because of `folded`.

    Parameters
    ----------
    part : sequence of str
        The aliases of a part of the reference answer that is found in the response.
    response : str
        Response of the system.
    protocol : Protocol
        Protocol and language.

    Returns
    -------
    bool
        True if the response contains none of the aliases after conversion to lower case and, in
        Chinese, removal of its spaces. Always False under the other protocols.
    """
    return all(needs_folding(alias.lower(), response, protocol) for alias in part)


def false_answers_of(false_answer: FalseAnswer) -> list[str]:
    """Convert one or several false answers to a list.

    Parameters
    ----------
    false_answer : str, list of str, tuple of str or None
        One false answer, several, or none. An empty string raises InputError.

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
