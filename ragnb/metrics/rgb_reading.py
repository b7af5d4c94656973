"""How each of RGB's protocols reads a response and a reference answer.

===================  ================================  ==========================  =================================
protocol             ``paper``                         ``released``                ``flexible``
===================  ================================  ==========================  =================================
answers compared in  `folded`, lower case              lower case                  see `normalised`
phrases compared in  `folded`, lower case              the text as it stands       lower case
Chinese              all spaces removed                no spaces in the response   tokens are characters
===================  ================================  ==========================  =================================

A language is Chinese when its code begins with ``zh``. Every other language is treated like English.
"""

import string
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import regex

from ragnb.errors import InputError
from ragnb.metrics.references import listed
from ragnb.metrics.rgb_phrases import (
    ERROR_PHRASES,
    ERROR_SENTENCES,
    FLEXIBLE_ERRORS,
    FLEXIBLE_REFUSALS,
    PROTOCOLS,
    REFUSAL_PHRASES,
    REFUSAL_SENTENCES,
)
from ragnb.records import is_missing
from ragnb.text import tokens

Answer = str | Sequence[str | Sequence[str]]
FalseAnswer = str | Sequence[str] | None

ARTICLES = frozenset({"a", "an", "the"})


# ---- a response --------------------------------------------------------------------------------------------------------


Rule = str | Sequence[str] | Mapping[str, Sequence[str]] | None
"""How refusals or detected errors are recognised: the values of the options ``refusal`` and ``detection``."""

BY_VERDICT = ("judge", "label")
"""Rules that take the verdict of a judge or of a person instead of looking for phrases."""


class View(NamedTuple):
    """How a response is read.

    Attributes
    ----------
    protocol
        ``"paper"``, ``"released"`` or ``"flexible"``.
    chinese
        Whether the language is Chinese.
    refusals, errors
        Phrases that mark a refusal, and phrases that report an error in the documents.
    denials
        Whether ``not X`` and ``X is wrong`` of a false answer X report an error too.
    """

    protocol: str
    chinese: bool
    refusals: tuple[str, ...]
    errors: tuple[str, ...]
    denials: bool


def view_of(protocol: str, language: str, *, refusal: Rule = None, detection: Rule = None) -> View:
    """Return how a protocol reads responses in a language, with other rules for refusals and errors if they are given.

    Raises
    ------
    InputError
        Unknown protocol; an invalid language code; an invalid rule, or one without phrases for the language.
    """
    if not isinstance(protocol, str) or protocol not in PROTOCOLS:
        raise InputError(f"protocol needs one of {', '.join(PROTOCOLS)}; got {protocol!r}; choose one")
    if not isinstance(language, str):
        raise _bad_language(language)
    return _view(protocol, language, _key(refusal, language, "refusal"), _key(detection, language, "detection"))


def _key(rule: Rule, language: str, option: str) -> str | tuple[str, ...] | None:
    """A rule in a form that can be cached: its name, or the tuple of its phrases in this language."""
    if rule is None or (isinstance(rule, str) and rule in ("phrase", "sentence", *BY_VERDICT)):
        return rule
    phrases: Any = rule
    if isinstance(rule, Mapping):
        phrases = rule.get(language, rule.get(regex.split("[-_]", language)[0]))
        if phrases is None:
            raise InputError(f"{option} has no phrases for the language {language!r}; add a list for it")
    if isinstance(phrases, str) or not isinstance(phrases, Sequence) or not phrases or not all(map(_is_said, phrases)):
        raise InputError(
            f"{option} must be 'phrase', 'sentence', 'judge', 'label', a list of phrases, or a mapping from language codes "
            f"to lists of phrases; got {rule!r:.100}"
        )
    return tuple(phrases)


REFUSALS = {"phrase": tuple(REFUSAL_PHRASES.values()), "sentence": tuple(REFUSAL_SENTENCES.values())}
ERRORS = {"phrase": tuple(ERROR_PHRASES.values()), "sentence": tuple(ERROR_SENTENCES.values())}


@lru_cache(maxsize=1024)
def _view(
    protocol: str, language: str, refusal: str | tuple[str, ...] | None, detection: str | tuple[str, ...] | None
) -> View:
    if not _CODE.fullmatch(language):
        raise _bad_language(language)
    chinese = language[:2].lower() == "zh"
    lists = (FLEXIBLE_REFUSALS, FLEXIBLE_ERRORS) if protocol == "flexible" and not chinese else (None, None)
    refusals = _phrases(refusal, lists[0], REFUSALS, protocol, chinese)
    errors = _phrases(detection, lists[1], ERRORS, protocol, chinese)
    return View(protocol, chinese, refusals, errors, denials=protocol == "flexible" and detection is None)


def _phrases(
    rule: str | tuple[str, ...] | None,
    own_list: tuple[str, ...] | None,
    named: Mapping[str, tuple[str, ...]],
    protocol: str,
    chinese: bool,
) -> tuple[str, ...]:
    """The phrases that a rule looks for, in the form in which the protocol compares them."""
    if rule is None and protocol == "released":
        return named["phrase"]  # as that code has them, so that the English one is never found in Chinese
    found = (own_list or named["phrase"]) if rule is None else named.get(rule, ()) if isinstance(rule, str) else rule
    if protocol == "paper":
        found = tuple(map(folded, found))
    if protocol != "released":
        found = tuple(map(str.lower, found))
    return tuple(text.replace(" ", "") for text in found) if chinese and protocol != "flexible" else found


def _bad_language(language: object) -> InputError:
    return InputError(f"language needs a code such as 'en' or 'zh-TW'; got {language!r}; write one")


_CODE = regex.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")


class Reading:
    """A response as a view reads it.

    Attributes
    ----------
    phrases
        The text in which phrases are looked for.
    answers
        The text in which answers are looked for.
    view
        The view.
    unfolded
        What `answers` would be without `folded`.
    refused, reported
        Whether it is a refusal, and whether it reports an error, by the verdict of a judge or a person; None where phrases
        decide.
    """

    __slots__ = ("_words", "answers", "phrases", "refused", "reported", "unfolded", "view")

    def __init__(self, phrases: str, answers: str, view: View, unfolded: str | None = None) -> None:
        self.phrases = phrases
        self.answers = answers
        self.view = view
        self.unfolded = answers if unfolded is None else unfolded
        self.refused: bool | None = None
        self.reported: bool | None = None
        self._words: frozenset[str] | None = None

    @property
    def words(self) -> frozenset[str]:
        """Words of the text in which answers are looked for."""
        if self._words is None:
            self._words = frozenset(_words(self.answers, self.view))
        return self._words


def read(response: str | None, view: View) -> Reading | None:
    """Return the response as a view reads it; None where there is no response.

    Raises
    ------
    InputError
        A response that is neither text nor missing.
    """
    if not isinstance(response, str):
        if is_missing(response):
            return None
        raise InputError(f"a response needs to be a text; got {type(response).__name__}; use None where there is none")
    if view.protocol == "released":
        said = response.replace(" ", "") if view.chinese else response
        return Reading(said, said.lower(), view)
    if view.protocol == "flexible":
        return Reading(response.lower(), normalised(response), view)
    plain, text = response.lower(), folded(response).lower()
    if view.chinese:
        plain, text = plain.replace(" ", ""), text.replace(" ", "")
    return Reading(text, text, view, plain)


# ---- Unicode forms -----------------------------------------------------------------------------------------------------

_FORMS = {
    **{ord(space): " " for space in "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u1680\u2028\u2029"},
    **{ord(hyphen): "-" for hyphen in "\u2010\u2012\u2013\u2014\u2015\u2212"},
    **{ord(quote): "'" for quote in "\u2018\u2019\u201b\u02bc"},
    **{ord(quote): '"' for quote in "\u201c\u201d\u201f"},
}
"""White space, dashes and quotation marks that NFKC does not unify."""


def folded(text: str) -> str:
    """Text with the Unicode forms of one character made equal; letter case stays.

    NFKC, then every white space is a space, every hyphen, dash and minus sign is ``-``, and every typographic quotation mark
    or apostrophe is the one of ASCII. Recent models write such forms inside dates and names: a narrow no-break space in
    ``7 November``, a non-breaking hyphen in ``COVID-19``.

    >>> folded("7\u202fNovember\u00a01940, COVID\u201119, O\u2019Neill")
    "7 November 1940, COVID-19, O'Neill"
    """
    return (text if text.isascii() else _nfkc(text)).translate(_FORMS)


# ---- the flexible normaliser -------------------------------------------------------------------------------------------


class _Punctuation(dict[int, int | None]):
    """Translation table that deletes punctuation; each character is looked up when it is first seen."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        deleted = unicodedata.category(character).startswith("P") or character in string.punctuation
        return self.setdefault(code, None if deleted else code)


_PUNCTUATION = _Punctuation()
_WIDE = tuple(zip("，：；？！（）", ",:;?!()", strict=True))
_MANY_MARKS = regex.compile(r"\p{M}{30}(?=\p{M})")


def normalised(text: str) -> str:
    """Text as ``flexible`` compares it: NFKC, lower case, without punctuation and English articles, spaces folded.

    Punctuation is what Unicode calls so and what ASCII counts as such (``$+<=>^`|~``); it leaves no space behind.

    >>> normalised("The  Ｕ.S. —  a\\nWell-Known place!")
    'us wellknown place'
    """
    if not text.isascii():
        text = _nfkc(text)
    words = text.lower().translate(_PUNCTUATION).split()
    return " ".join([word for word in words if word not in ARTICLES])


def _nfkc(text: str) -> str:
    for wide, narrow in _WIDE:  # NFKC does so too, but checks a text without them ten times as fast
        text = text.replace(wide, narrow)
    if len(text) > 10_000:  # sorting combining marks takes quadratic time: cut their runs as UAX #15 does (stream-safe)
        text = _MANY_MARKS.sub("\\g<0>\u034f", text)
    return unicodedata.normalize("NFKC", text)


def _words(normal: str, view: View) -> list[str]:
    return tokens(normal) if view.chinese else normal.split()


# ---- a reference answer ------------------------------------------------------------------------------------------------


class Alias(NamedTuple):
    """One way to write an answer part.

    Attributes
    ----------
    text
        As the reference has it.
    needle
        As it is looked for.
    words
        Of these, 80 % will do (``flexible`` only; else empty).
    traces
        For each word a text that is in every response with that word: the word, or its first character where a response
        is cut into words by more than its spaces.
    verbatim
        Whether it is nothing but articles and punctuation, so that ``flexible`` looks for it in the text as it stands.
    """

    text: str
    needle: str
    words: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()
    verbatim: bool = False


Parts = tuple[tuple[Alias, ...], ...]


def answer_parts(answer: Answer) -> list[list[str]]:
    """Reference answer as a list of parts, each a list of aliases.

    Raises
    ------
    InputError
        No part, a part without alias, or an empty alias (every response would hold it).

    >>> answer_parts("Tampa"), answer_parts(["a", "b"]), answer_parts([["a", "b"]])
    ([['Tampa']], [['a'], ['b']], [['a', 'b']])
    """
    aliases = [listed(part) for part in listed(answer)]
    if not aliases or not all(aliases) or not all(_is_said(alias) for part in aliases for alias in part):
        raise InputError(
            f"a reference answer needs at least one part, and every part an alias that is not empty; got {answer!r}; "
            "write a text, or a list of parts"
        )
    return aliases


def read_answer(answer: Answer, view: View) -> Parts:
    """Return the parts of a reference answer as a view has them."""
    try:
        return _parts(_frozen(answer), view)
    except TypeError:  # it cannot be a key, so it is no answer either
        return _parts.__wrapped__(answer, view)


def read_false_answers(false_answer: FalseAnswer, view: View) -> tuple[Alias, ...]:
    """Return the false answers, none or more, as a view has them.

    Raises
    ------
    InputError
        Neither a text nor a list of texts, or an empty text.
    """
    if is_missing(false_answer):
        return ()
    try:
        return _false_aliases(_frozen(false_answer), view)
    except TypeError:
        return _false_aliases.__wrapped__(false_answer, view)


def _frozen(value: Any) -> Any:
    """Lists, and lists in them, as tuples."""
    if not isinstance(value, list | tuple):
        return value
    return tuple([tuple(inner) if isinstance(inner, list) else inner for inner in value])


@lru_cache(maxsize=8192)
def _parts(answer: Answer, view: View) -> Parts:
    return tuple(tuple(_alias(text, view) for text in part) for part in answer_parts(answer))


@lru_cache(maxsize=8192)
def _false_aliases(false_answer: str | Sequence[str], view: View) -> tuple[Alias, ...]:
    said = listed(false_answer)
    if not isinstance(false_answer, str | list | tuple) or not all(map(_is_said, said)):
        raise InputError(
            f"a false answer needs to be a text that is not empty, or a list of such; got {false_answer!r}; "
            "use None where there is none"
        )
    return tuple(_alias(text, view) for text in said)


def _alias(text: str, view: View) -> Alias:
    if view.protocol == "released":
        return Alias(text, text.lower())
    if view.protocol == "paper":
        plain = folded(text).lower()
        return Alias(text, plain.replace(" ", "") if view.chinese else plain)
    normal = normalised(text)
    if not normal:
        return Alias(text, text.lower(), verbatim=True)
    words = tuple(_words(normal, view))
    if words == (normal,):
        return Alias(text, normal)
    return Alias(text, normal, words, tuple(word[0] for word in words) if view.chinese else words)


def _is_said(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())
