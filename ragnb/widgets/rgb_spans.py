"""Where in a response a protocol of RGB finds answers, phrases and false answers.

Protocols compare texts that were lower-cased or normalised. Here each character of such a text keeps
its place in the original.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import regex

from ragnb.metrics.rgb import error_phrase, found_alias, refusal_phrase
from ragnb.metrics.rgb_protocols import (
    Alias,
    Answer,
    FalseAnswer,
    Normalised,
    aliases_of,
    false_aliases_of,
    normalise,
    normalised,
    protocol_of,
)
from ragnb.text import GRAPHEME

REFUSAL, ERROR, FALSE = "refusal", "error", "false answer"

Placed = tuple[str, int, int]
"""A piece of text with its start and end in the original."""


class Found(NamedTuple):
    """A span of a response, and what it is: ``"part 1"``, `REFUSAL`, `ERROR` or `FALSE`."""

    start: int
    end: int
    what: str


def evidence_spans(
    response: str | None,
    answer: Answer,
    *,
    false_answer: FalseAnswer = None,
    language: str = "en",
    protocol: str = "paper",
) -> list[Found]:
    """Spans of a response that decide the verdicts of a protocol, in order.

    These are the first alias found of each part (where 80 % of its words are enough, these words),
    the first refusal phrase, the first phrase that reports an error, and the false answers. The list
    is empty where there is no response. Errors as for `ragnb.metrics.rgb.corrects_error`.

    >>> evidence_spans("Insufficient information, but Oslo", "Oslo")
    [Found(start=0, end=24, what='refusal'), Found(start=30, end=34, what='part 1')]
    """
    rules = protocol_of(protocol, language)
    parts, false_answers = aliases_of(answer, rules), false_aliases_of(false_answer, rules)
    text = normalise(response, rules)
    if response is None or text is None:  # nan is no text either
        return []
    places = _Places(response, text)
    found = [
        Found(*span, f"part {number}")
        for number, part in enumerate(parts, 1)
        for span in places.of_part(found_alias(text, part))
    ]
    for what, phrase in (
        (REFUSAL, refusal_phrase(text)),
        (ERROR, error_phrase(text, false_answers)),
    ):
        found += [Found(*span, what) for span in places.of_phrase(phrase)]
    found += [Found(*span, FALSE) for alias in false_answers for span in places.of_alias(alias)]
    return sorted(set(found))


class _Places:
    """Maps matches in a normalised response back to the original."""

    def __init__(self, response: str, text: Normalised) -> None:
        self.text = text
        characters = [(found.group(), *found.span()) for found in GRAPHEME.finditer(response)]
        each = [(normalise(part, text.protocol), start, end) for part, start, end in characters]
        self.phrases = _Pieces((own.phrases, start, end) for own, start, end in each if own)
        if text.protocol.name == "flexible":
            self.answers = _Pieces(_normalised(characters))
        else:
            self.answers = _Pieces((own.answers, start, end) for own, start, end in each if own)

    def of_part(self, alias: Alias | None) -> list[tuple[int, int]]:
        """Places of an alias, or of those of its words that are there."""
        if alias is None:
            return []
        if alias.is_in(self.text):
            return self.of_alias(alias)
        words = "|".join(regex.escape(word) for word in alias.words if word in self.text.words)
        whole = f"(?:{words})" if self.text.protocol.chinese else rf"(?<!\S)(?:{words})(?!\S)"
        return self.answers.find(whole)

    def of_alias(self, alias: Alias) -> list[tuple[int, int]]:
        """Places of an alias as a whole."""
        return (self.phrases if alias.verbatim else self.answers).find(regex.escape(alias.needle))

    def of_phrase(self, phrase: str | None) -> list[tuple[int, int]]:
        """Places of a phrase."""
        return self.phrases.find(regex.escape(phrase)) if phrase else []


class _Pieces:
    """A text made of pieces, each with its place in the original."""

    def __init__(self, pieces: Iterable[Placed]) -> None:
        each = [(character, start, end) for text, start, end in pieces for character in text]
        self.text = "".join(character for character, _, _ in each)
        self.places = [(start, end) for _, start, end in each]

    def find(self, pattern: str) -> list[tuple[int, int]]:
        """Places in the original of the matches of a pattern."""
        spans = [found.span() for found in regex.finditer(pattern, self.text)]
        return [(self.places[start][0], self.places[end - 1][1]) for start, end in spans]


def _normalised(characters: Iterable[Placed]) -> Iterator[Placed]:
    """What `normalised` makes of the characters together, piece by piece."""
    after = None
    for is_space, group in groupby(characters, key=lambda placed: placed[0].isspace()):
        word = list(group)
        if is_space or not normalised("".join(text for text, _, _ in word)):
            continue  # white space, an article, or nothing but punctuation
        if after is not None:
            yield " ", after, word[0][1]
        for text, start, end in word:
            yield normalised(f"0{text}")[1:], start, end  # a lone "a" would be an article
        after = word[-1][2]
