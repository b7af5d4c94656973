"""Where in a response RGB's protocols see what decides: the alias of each part, the phrases, the false answers.

Protocols compare texts that were lower-cased or normalised; here each character of such a text remembers where it
came from.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import regex

from ragnb.metrics import rgb_rules as rules
from ragnb.metrics.rgb_reading import (
    Alias,
    Answer,
    FalseAnswer,
    Reading,
    View,
    normalised,
    read,
    read_answer,
    read_false_answers,
    view_of,
)
from ragnb.text import GRAPHEME

REFUSAL, ERROR, FALSE = "refusal", "error", "false answer"


class Found(NamedTuple):
    """A stretch of a response, and what it is: ``"part 1"``, ``"refusal"``, ``"error"`` or ``"false answer"``."""

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
    """Every stretch of a response in which a protocol sees what decides its verdicts, in order.

    That is the first alias given of each part (where 80 % of its words are enough, these words), the first refusal phrase,
    the first phrase that reports an error, and the false answers; empty where there is no response.

    Raises
    ------
    InputError
        See `ragnb.metrics.rgb.corrects_error`.

    >>> evidence_spans("Insufficient information, but Oslo or OSLO", "Oslo")
    [Found(start=0, end=24, what='refusal'), Found(start=30, end=34, what='part 1'), Found(start=38, end=42, what='part 1')]
    """
    view = view_of(protocol, language)
    parts, false_answers = read_answer(answer, view), read_false_answers(false_answer, view)
    reading = read(response, view)
    if response is None or reading is None:  # nan is no text either
        return []
    sight = _Sight(response, reading)
    found = [Found(*span, f"part {n}") for n, part in enumerate(parts, 1) for span in sight.of_part(part)]
    found += [Found(*span, REFUSAL) for span in sight.of_phrase(rules.refusal_phrase(reading))]
    found += [Found(*span, ERROR) for span in sight.of_phrase(rules.error_phrase(reading, false_answers))]
    found += [Found(*span, FALSE) for alias in false_answers for span in sight.of_alias(alias)]
    return sorted(set(found))


class _Sight:
    """A response beside its reading: finds there what stands here."""

    def __init__(self, response: str, reading: Reading) -> None:
        characters = [(found.group(), *found.span()) for found in GRAPHEME.finditer(response)]
        each = list(_readings(characters, reading.view))
        lenient = reading.view.protocol == "flexible"
        self.reading = reading
        self.phrases = _Seen((own.phrases, start, end) for own, start, end in each)
        self.answers = _Seen(_normalised(characters) if lenient else ((own.answers, start, end) for own, start, end in each))

    def of_part(self, part: Iterable[Alias]) -> list[tuple[int, int]]:
        alias = rules.given_alias(self.reading, part)
        if alias is None:
            return []
        if rules.holds(self.reading, alias):
            return self.of_alias(alias)
        given = "|".join(regex.escape(word) for word in alias.words if word in self.reading.words)
        return self.answers.find(f"(?:{given})" if self.reading.view.chinese else rf"(?<!\S)(?:{given})(?!\S)")

    def of_alias(self, alias: Alias) -> list[tuple[int, int]]:
        return (self.phrases if alias.verbatim else self.answers).find(regex.escape(alias.needle))

    def of_phrase(self, phrase: str | None) -> list[tuple[int, int]]:
        return self.phrases.find(regex.escape(phrase)) if phrase else []


Placed = tuple[str, int, int]
"""A piece of text, and where it came from."""


class _Seen:
    """A text made of pieces, each of which remembers where it came from."""

    def __init__(self, pieces: Iterable[Placed]) -> None:
        each = [(character, start, end) for text, start, end in pieces for character in text]
        self.text = "".join(character for character, _, _ in each)
        self.places = [(start, end) for _, start, end in each]

    def find(self, pattern: str) -> list[tuple[int, int]]:
        spans = [found.span() for found in regex.finditer(pattern, self.text)]
        return [(self.places[start][0], self.places[end - 1][1]) for start, end in spans]


def _readings(characters: Iterable[Placed], view: View) -> Iterator[tuple[Reading, int, int]]:
    for text, start, end in characters:
        reading = read(text, view)
        if reading is not None:
            yield reading, start, end


def _normalised(characters: Iterable[Placed]) -> Iterator[Placed]:
    """What `normalised` makes of the characters together, piece by piece."""
    after = None
    for is_space, group in groupby(characters, key=lambda placed: placed[0].isspace()):
        word = list(group)
        if is_space or not normalised("".join(text for text, _, _ in word)):  # an article, or nothing but punctuation
            continue
        if after is not None:
            yield " ", after, word[0][1]
        yield from ((normalised(f"0{text}")[1:], start, end) for text, start, end in word)  # a lone "a" were an article
        after = word[-1][2]
