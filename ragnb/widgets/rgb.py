"""One item of RGB: what the model was shown, its response, and the verdicts of the protocols."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import pandas as pd
import regex

from ragnb.errors import InputError
from ragnb.metrics.rgb import (
    answer_evidence,
    answer_labels,
    correction_evidence,
    corrects_error,
    detection_evidence,
    detects_error,
    error_phrase,
    found_alias,
    is_correct,
    is_refusal,
    judged_error_detection,
    judged_rejection,
    refusal_evidence,
    refusal_phrase,
)
from ragnb.metrics.rgb_protocols import (
    PROTOCOLS,
    Answer,
    FalseAnswer,
    aliases_of,
    answer_parts,
    false_aliases_of,
    normalise,
    normalised,
    protocol_of,
)
from ragnb.text import GRAPHEME, graphemes
from ragnb.widgets.pages import LONG, Page, Sign, annotated, fields_of, occurrences, reply_of

NEEDED = ("question", "references", "passages", "kinds", "language")

KINDS = {"positive": "✓ positive", "negative": "✗ negative", "wrong": "≠ false"}
"""Kind of a passage -> sign and name."""

REFUSAL, ERROR, FALSE = "refusal", "error", "false answer"

SIGNS = {
    FALSE: Sign("del", "≠", "#f7d9e8"),
    REFUSAL: Sign("b", "R", "#cce5ff"),
    ERROR: Sign("b", "E", "#cdefe3"),
}
"""Marks of false answers, refusals and detected errors; answer parts are marked by their number."""

HEADS = (
    ("labels of parts", ""),
    ("right?", ""),
    ("refuses?", "R"),
    ("detects error?", "E"),
    ("corrected?", ""),
)
"""Rows of the table, with the sign of what decides; the last two require a false answer."""

JUDGED = {
    "refuses?": ("judged_refusal", judged_rejection),
    "detects error?": ("judged_detection", judged_error_detection),
}
"""Question -> column with the verdict of a judge, and the metric that reads it."""


class RgbView(Page):
    """One response to one RGB item: the passages, the decisive spans, and the verdicts of protocols.

    Aliases of the answer parts are marked by the number of their part, false answers by ``≠``,
    refusal phrases by ``R`` and phrases that report an error by ``E``. In the response they are
    marked where one of the protocols recognises them. The reasoning in ``<think>…</think>`` is
    shown before the answer, but only ``released`` reads it. Long passages are folded.

    Parameters
    ----------
    row
        A row of a frame of contexts or responses with the columns ``question, references,
        passages, kinds, language``. Optional columns are ``response`` (with ``reason``),
        ``false_answers``, ``noise_rate``, ``judged_refusal`` and ``judged_detection`` (with
        ``judge_reason``).
    protocols
        Protocols whose verdicts are shown, see `ragnb.metrics.rgb`.

    Raises
    ------
    InputError
        If a column is missing, a protocol is unknown or a passage has no kind, and for all that the
        metrics refuse.
    """

    def __init__(
        self, row: Mapping[str, Any] | pd.Series, *, protocols: Sequence[str] = PROTOCOLS
    ) -> None:
        row = fields_of(row, NEEDED, "RgbView")
        rules = [protocol_of(name, row["language"]) for name in protocols]
        parts = answer_parts(row["references"])
        false = [one.text for one in false_aliases_of(row.get("false_answers"), rules[0])]
        phrases = {_part(n): part for n, part in enumerate(parts, 1)} | {SIGNS[FALSE]: false}
        aliases = [
            [annotated(text, [(0, len(text), sign)]) for text in phrases[sign]] for sign in phrases
        ]
        values: dict[str, Any] = {}
        if isinstance(row.get("response"), str):
            values = _verdicts(row, parts, false, protocols)
        super().__init__(
            f"RgbView({row['question']!r}, {len(row['passages'])} passages)",
            "rgb.html",
            row=row,
            parts=aliases[:-1],
            wrong=aliases[-1],
            passages=list(_passages(row, phrases)),
            judged=list(_judged(row)),
            protocols=protocols,
            **values,
        )


def _part(number: int) -> Sign:
    return Sign("mark", str(number), "#ffe0a3")


def _passages(
    row: Mapping[str, Any], phrases: Mapping[Sign, list[str]]
) -> Iterator[dict[str, Any]]:
    """Yield what is shown of each passage; a long one has an opening and the signs inside it."""
    kinds = list(row["kinds"])
    if len(kinds) != len(row["passages"]) or not set(kinds) <= set(KINDS):
        raise InputError(
            f"RgbView needs one of the kinds {', '.join(KINDS)} for each of "
            f"{len(row['passages'])} passages, got {kinds!r}"
        )
    for number, (text, kind) in enumerate(zip(row["passages"], kinds, strict=True), 1):
        found = [(*at, sign) for sign in phrases for at in occurrences(text, phrases[sign])]
        signs = sorted({sign.superscript for _, _, sign in found})
        yield {
            "key": f"[{number}] {KINDS[kind]}",
            "text": annotated(text, found),
            "opening": "".join(graphemes(text[:LONG])[:60]) if len(text) > LONG else "",
            "signs": " ".join(signs),
        }


def _verdicts(
    row: Mapping[str, Any], parts: list[list[str]], false: list[str], protocols: Sequence[str]
) -> dict[str, Any]:
    """Return the response with the decisive spans of all protocols, and the table of verdicts."""
    reasoning, answer = reply_of(row)
    signs = SIGNS | {f"part {n}": _part(n) for n in range(1, len(parts) + 1)}
    spans, columns = set(), []
    for protocol in protocols:
        start = (
            0 if protocol == "released" else len(reasoning)
        )  # only that code reads the reasoning
        given = {
            "response": (reasoning + answer)[start:],
            "language": row["language"],
            "protocol": protocol,
        }
        arguments = {**given, "false_answer": false}
        asked = {**given, "answer": parts, "noise_rate": row.get("noise_rate")}
        spans |= {
            (start + first, start + last, signs[what])
            for first, last, what in evidence_spans(**arguments, answer=parts)
            if false or what != ERROR
        }
        cells = [
            (None, str(answer_labels(**given, answer=parts))),
            (is_correct(**asked), answer_evidence(**asked)),
            (is_refusal(**given), refusal_evidence(**given)),
        ]
        if false:
            cells.append((detects_error(**arguments), detection_evidence(**arguments)))
            arguments["answer"] = parts
            cells.append((corrects_error(**arguments), correction_evidence(**arguments)))
        columns.append(cells)
    return {
        "response": annotated(reasoning + answer, spans),
        "table": [(*head, cells) for head, *cells in zip(HEADS, *columns, strict=False)],
    }


def _judged(row: Mapping[str, Any]) -> Iterator[tuple[str, float, str]]:
    """Yield the verdicts of a judge, each with the reason if there is none."""
    reason = row.get("judge_reason")
    for question, (column, metric) in JUDGED.items():
        if column in row:
            value = metric(row[column])
            missing = reason if isinstance(reason, str) else "no verdict"
            yield question, value, missing if value != value else ""


# ---- where the evidence is -----------------------------------------------------------------------
# Protocols compare texts in lower case or normalised. Here, each character of such a text keeps its
# place in the original.


def evidence_spans(
    response: str | None,
    answer: Answer,
    *,
    false_answer: FalseAnswer = None,
    language: str = "en",
    protocol: str = "paper",
) -> list[tuple[int, int, str]]:
    """Return the spans of a response that decide the verdicts of a protocol, in order.

    A span is its start, its end and what it is: ``"part 1"``, `REFUSAL`, `ERROR` or `FALSE`. Spans
    are the first alias found of each part (or its words, where 80 % of them are enough), the first
    refusal phrase, the first phrase that reports an error, and the false answers. The list is empty
    if there is no response. Errors are those of `ragnb.metrics.rgb.corrects_error`.

    >>> evidence_spans("Insufficient information, but Oslo", "Oslo")
    [(0, 24, 'refusal'), (30, 34, 'part 1')]
    """
    rules = protocol_of(protocol, language)
    parts, false_answers = (aliases_of(answer, rules), false_aliases_of(false_answer, rules))
    text = normalise(response, rules)
    if response is None or text is None:  # nan is not a text either
        return []
    clusters = [(found.group(), *found.span()) for found in GRAPHEME.finditer(response)]
    forms = [(normalise(cluster, rules), start, end) for cluster, start, end in clusters]
    phrases = _Original((form.phrases, start, end) for form, start, end in forms if form)
    answers = _Original((form.answers, start, end) for form, start, end in forms if form)
    if rules.name == "flexible":
        answers = _Original(_normalised(clusters))
    found = [(REFUSAL, place) for place in phrases.find(refusal_phrase(text))]
    found += [(ERROR, place) for place in phrases.find(error_phrase(text, false_answers))]
    aliases = [(f"part {n}", found_alias(text, part)) for n, part in enumerate(parts, 1)]
    for what, alias in [*aliases, *((FALSE, alias) for alias in false_answers)]:
        if alias and alias.is_in(text):
            within = phrases if alias.verbatim else answers
            found += [(what, place) for place in within.find(alias.needle)]
        elif alias and what != FALSE:
            words = [word for word in alias.words if word in text.words]
            found += [(what, place) for place in answers.find(*words, whole=not rules.chinese)]
    return sorted({(*place, what) for what, place in found})


class _Original:
    """A text made of pieces, with the place of each piece in the original."""

    def __init__(self, pieces: Iterable[tuple[str, int, int]]) -> None:
        each = [(character, start, end) for text, start, end in pieces for character in text]
        self.text = "".join(character for character, _, _ in each)
        self.places = [(start, end) for _, start, end in each]

    def find(self, *needles: str | None, whole: bool = False) -> list[tuple[int, int]]:
        """Return the places in the original of some texts; with ``whole``, only as whole words."""
        pattern = "|".join(regex.escape(needle) for needle in needles if needle)
        if not pattern:
            return []
        if whole:
            pattern = rf"(?<!\S)(?:{pattern})(?!\S)"
        spans = [found.span() for found in regex.finditer(pattern, self.text)]
        return [(self.places[start][0], self.places[end - 1][1]) for start, end in spans]


def _normalised(clusters: Iterable[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """Yield the pieces of the text that `normalised` makes of all grapheme clusters together."""
    after = None
    for is_space, group in groupby(clusters, key=lambda placed: placed[0].isspace()):
        word = list(group)
        if is_space or not normalised("".join(text for text, _, _ in word)):
            continue  # white space, an article, or only punctuation
        if after is not None:
            yield " ", after, word[0][1]
        for text, start, end in word:
            yield (normalised(f"0{text}")[1:], start, end)  # "a" alone would be an article
        after = word[-1][2]
