"""One item of RGB, read closely: what the model was shown, what it said, and what each protocol makes of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ragnb.errors import InputError
from ragnb.markup import (
    Markup,
    Sign,
    Span,
    annotated,
    escape,
    join,
    occurrences,
    page,
    superscript,
    tag,
)
from ragnb.metrics.rgb import (
    answer_evidence,
    answer_labels,
    correction_evidence,
    corrects_error,
    detection_evidence,
    detects_error,
    is_correct,
    is_refusal,
    judged_error_detection,
    judged_rejection,
    refusal_evidence,
)
from ragnb.metrics.rgb_protocols import PROTOCOLS, answer_parts, false_aliases_of, protocol_of
from ragnb.records import require_columns
from ragnb.text import graphemes
from ragnb.widgets.contexts import GLYPHS, NEEDED, reply_of, without_response
from ragnb.widgets.looks import APART, CELL, LONG
from ragnb.widgets.rgb_spans import ERROR, FALSE, REFUSAL, evidence_spans

WORDS = {"positive": "positive", "negative": "negative", "wrong": "false"}
"""What a passage is called beside its sign in `GLYPHS`."""

SIGNS = {
    FALSE: Sign("del", "≠", "#f7d9e8"),
    REFUSAL: Sign("b", "R", "#cce5ff"),
    ERROR: Sign("b", "E", "#cdefe3"),
}
"""How false answers, refusals and detected errors are marked; the parts of the answer carry their number."""

HEADS = (
    ("labels of parts", ""),
    ("right?", ""),
    ("refuses?", SIGNS[REFUSAL].superscript),
    ("detects error?", SIGNS[ERROR].superscript),
    ("corrected?", ""),
)
"""What the rows of the table ask, and the sign of what decides; the last two only where there are false answers."""

VERDICTS = {1.0: "✓", 0.0: "✗"}
"""Signs of a metric's values; nan is a dash."""

JUDGED = {
    "refuses?": ("judged_refusal", judged_rejection),
    "detects error?": ("judged_detection", judged_error_detection),
}
"""The column of a judge's verdict, and the metric that reads it."""

BEGINNING = 60
"""Characters that the summary of a folded passage shows."""

_LINES = f"{APART};white-space:pre-wrap"


class RgbView:
    """One response to one RGB item: the passages, what decides in the response, and the verdicts of several protocols.

    The aliases of the answer's parts are marked and carry the number of their part, false answers ``≠``, refusal phrases
    ``R`` and phrases that report an error ``E``; in the response, where one of the protocols shown sees them. Reasoning in
    ``<think>…</think>`` is shown before the answer; only ``released`` reads it. Long passages are folded.
    Renders without JavaScript, in JupyterLab, on code-hosting pages and in exported HTML.

    Parameters
    ----------
    row
        A row of a contexts or responses frame: ``question, references, passages, kinds, language`` and, where there are
        such, ``response`` (with ``reason``), ``false_answers``, ``noise_rate``, ``judged_refusal``, ``judged_detection``
        (with ``judge_reason``).
    protocols
        Protocols to set side by side, see `ragnb.metrics.rgb`.

    Raises
    ------
    InputError
        A missing column, no protocol or an unknown one, a passage without its kind, and what the metrics refuse.
    """

    def __init__(
        self, row: Mapping[str, Any] | pd.Series, *, protocols: Sequence[str] = PROTOCOLS
    ) -> None:
        self.row = dict(row)
        self.protocols = tuple(protocols)
        require_columns(pd.DataFrame(columns=list(self.row)), NEEDED, "RgbView")
        rules = [protocol_of(name, self.row["language"]) for name in self.protocols]
        if not rules:
            raise InputError(
                f"RgbView needs at least one protocol; got none; choose from {', '.join(PROTOCOLS)}"
            )
        self._parts = answer_parts(self.row["references"])
        self._false = [
            alias.text for alias in false_aliases_of(self.row.get("false_answers"), rules[0])
        ]
        self._signs = {
            f"part {n}": Sign("mark", str(n), "#ffe0a3") for n in range(1, len(self._parts) + 1)
        } | SIGNS
        self._page = self._drawn()

    def __repr__(self) -> str:
        return f"RgbView({self.row['question']!r}, {len(self.row['passages'])} passages)"

    def _repr_html_(self) -> str:
        return self._page

    def _drawn(self) -> Markup:
        return page(
            tag("p", tag("b", self.row["question"]), dir="auto"),
            self._answers(),
            *self._passages(),
            without_response(self.row) or self._said(),
            self._judged(),
        )

    # ---- what was asked and shown --------------------------------------------------------------------------------------

    def _answers(self) -> Markup:
        """Every way to write the answer, and the false ones: what the marks stand for."""
        parts = [self._either(part, f"part {n}") for n, part in enumerate(self._parts, 1)]
        false = [tag("b", " · false: "), self._either(self._false, FALSE)] if self._false else []
        return tag("p", tag("b", "answer: "), join(parts, "; and "), *false)

    def _either(self, texts: Sequence[str], what: str) -> Markup:
        spans = [[Span(0, len(text), self._signs[what])] for text in texts]
        return join(
            [tag("span", annotated(*pair), dir="auto") for pair in zip(texts, spans, strict=True)],
            " or ",
        )

    def _passages(self) -> list[Markup]:
        passages, kinds = self.row["passages"], self.row["kinds"]
        if len(passages) != len(kinds) or not set(kinds) <= set(GLYPHS):
            raise InputError(
                f"RgbView needs one kind of {', '.join(GLYPHS)} for each of {len(passages)} passages; got {list(kinds)!r}; "
                "make contexts with their kinds"
            )
        keys = [f"[{number}] {GLYPHS[kind]} {WORDS[kind]}" for number, kind in enumerate(kinds, 1)]
        shown = [self._passage(key, text) for key, text in zip(keys, passages, strict=True)]
        return shown or [tag("p", tag("i", "no passages: closed book"))]

    def _passage(self, key: str, text: str) -> Markup:
        phrases = {f"part {n}": part for n, part in enumerate(self._parts, 1)} | {
            FALSE: self._false
        }
        spans = [
            Span(*span, self._signs[what])
            for what, listed in phrases.items()
            for span in occurrences(text, listed)
        ]
        body = annotated(text, spans)
        if len(text) <= LONG:
            return _led_by(key, body, "p")
        held = superscript(*dict.fromkeys(span.sign.superscript for span in sorted(spans)))
        start = escape("".join(graphemes(text)[:BEGINNING]) + "… ")
        return tag(
            "details",
            _led_by(key, join([start, held]), "summary"),
            tag("p", body, dir="auto"),
            style=APART,
        )

    # ---- what was said, and what it is worth ---------------------------------------------------------------------------

    def _said(self) -> Markup:
        whole = "".join(reply_of(self.row))
        found = {
            (
                start + len(whole) - len(faced["response"]),
                end + len(whole) - len(faced["response"]),
                what,
            )
            for faced in map(self._faced, self.protocols)
            for start, end, what in evidence_spans(**faced)
        }
        spans = [
            Span(start, end, self._signs[what])
            for start, end, what in found
            if self._false or what != ERROR
        ]
        return join([_led_by("response:", annotated(whole, spans), "p", _LINES), self._table()])

    def _table(self) -> Markup:
        columns = [self._verdicts(protocol) for protocol in self.protocols]
        top = tag("tr", *(tag("th", name, style=CELL) for name in ("", *self.protocols)))
        return tag(
            "table",
            top,
            *(_row(head, cells) for head, *cells in zip(HEADS, *columns, strict=False)),
        )

    def _verdicts(self, protocol: str) -> Iterator[Markup]:
        """The cells of a protocol, from the top; nothing is said of errors where there is no false answer."""
        faced = self._faced(protocol)
        spoken = {name: faced[name] for name in ("response", "language", "protocol")}
        answered = {**spoken, "answer": self._parts}
        at_noise = {**answered, "noise_rate": self.row.get("noise_rate")}
        yield escape(answer_labels(**answered))
        yield _verdict(is_correct(**at_noise), answer_evidence(**at_noise))
        yield _verdict(is_refusal(**spoken), refusal_evidence(**spoken))
        if self._false:
            lied_to = {**spoken, "false_answer": self._false}
            yield _verdict(detects_error(**lied_to), detection_evidence(**lied_to))
            yield _verdict(corrects_error(**faced), correction_evidence(**faced))

    def _faced(self, protocol: str) -> dict[str, Any]:
        """All that a metric can ask for; only released code reads the reasoning before the answer."""
        reasoning, answer = reply_of(self.row)
        said = reasoning + answer if protocol == "released" else answer
        row = {"response": said, "language": self.row["language"]}
        return {**row, "protocol": protocol, "answer": self._parts, "false_answer": self._false}

    def _judged(self) -> Markup:
        reason = self.row.get("judge_reason")
        why = reason if isinstance(reason, str) else "no verdict"
        values = {
            name: metric(self.row[column])
            for name, (column, metric) in JUDGED.items()
            if column in self.row
        }
        said = [
            join([escape(f"{name} "), _verdict(value, "" if value == value else why)])
            for name, value in values.items()
        ]
        return tag("p", tag("b", "judge: "), join(said, " · ")) if said else escape("")


# ---- pieces ------------------------------------------------------------------------------------------------------------


def _row(head: tuple[str, str], cells: Sequence[Markup]) -> Markup:
    name, sign = head
    first = tag(
        "th", name, *([superscript(sign)] if sign else []), style=f"{CELL};white-space:nowrap"
    )
    return tag("tr", first, *(tag("td", cell, style=CELL) for cell in cells))


def _led_by(key: str, text: Markup, element: str, style: str = APART) -> Markup:
    """A text behind its key; the text alone says which way it runs (what has a direction of its own does not count)."""
    return tag(element, tag("b", key, dir="ltr"), " ", text, dir="auto", style=style)


def _verdict(value: float, why: str) -> Markup:
    """A value's sign, and what decided it."""
    return join([tag("b", VERDICTS.get(value, "–")), *([tag("small", why)] if why else [])], " ")
