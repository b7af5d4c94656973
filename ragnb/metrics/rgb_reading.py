"""How each of RGB's protocols reads a response and a reference answer.

===================  ================================  ==========================  =================================
protocol             ``paper``                         ``released``                ``flexible``
===================  ================================  ==========================  =================================
reasoning            stripped                          kept                        stripped
aliases meet         lower case; Chinese: no spaces    the same                    see `normalised`
phrases meet         the same text                     letters as they stand       lower case, nothing else changed
===================  ================================  ==========================  =================================

A language is Chinese when its code begins with ``zh``; every other one is read as English is.
"""

import string
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import regex

from ragnb.errors import InputError
from ragnb.metrics.references import listed
from ragnb.metrics.rgb_phrases import PROTOCOLS
from ragnb.records import is_missing
from ragnb.text import strip_reasoning, tokens

Answer = str | Sequence[str | Sequence[str]]
FalseAnswer = str | Sequence[str] | None

ARTICLES = frozenset({"a", "an", "the"})


# ---- a response --------------------------------------------------------------------------------------------------------


class View(NamedTuple):
    """Whose definition counts, and whether the language is Chinese."""

    protocol: str
    chinese: bool


def view_of(protocol: str, language: str) -> View:
    """Return the view that belongs to a protocol and a language.

    Raises
    ------
    InputError
        Unknown protocol; a language that is no language code.
    """
    if not isinstance(protocol, str) or protocol not in PROTOCOLS:
        raise InputError(f"protocol needs one of {', '.join(PROTOCOLS)}; got {protocol!r}; choose one")
    if not isinstance(language, str):
        raise _bad_language(language)
    return _view(protocol, language)


@lru_cache(maxsize=1024)
def _view(protocol: str, language: str) -> View:
    if not _CODE.fullmatch(language):
        raise _bad_language(language)
    return View(protocol, language[:2].lower() == "zh")


def _bad_language(language: object) -> InputError:
    return InputError(f"language needs a code such as 'en' or 'zh-TW'; got {language!r}; write one")


_CODE = regex.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")


class Reading:
    """A response as a view has it: the text that phrases meet, and the text that aliases meet."""

    __slots__ = ("_words", "answers", "phrases", "view")

    def __init__(self, phrases: str, answers: str, view: View) -> None:
        self.phrases = phrases
        self.answers = answers
        self.view = view
        self._words: frozenset[str] | None = None

    @property
    def words(self) -> frozenset[str]:
        """Words of the text that aliases meet."""
        if self._words is None:
            self._words = frozenset(_words(self.answers, self.view))
        return self._words


def read(response: str | None, view: View) -> Reading | None:
    """Return the response as a view has it; None where there is no response.

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
    said = strip_reasoning(response) if ">" in response else response  # no tag without one
    if view.protocol == "flexible":
        return Reading(said.lower(), normalised(said), view)
    text = said.replace(" ", "").lower() if view.chinese else said.lower()
    return Reading(text, text, view)


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
    if view.protocol != "flexible":
        return Alias(text, text.lower())
    normal = normalised(text)
    if not normal:
        return Alias(text, text.lower(), verbatim=True)
    words = tuple(_words(normal, view))
    if words == (normal,):
        return Alias(text, normal)
    return Alias(text, normal, words, tuple(word[0] for word in words) if view.chinese else words)


def _is_said(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())
