"""An item of an annotation as the browser draws it, and as a static page with its labels."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from ragnb.annotation.items import Item, Part
from ragnb.annotation.label_state import Place, nested, places
from ragnb.annotation.ragbench import trace_warnings
from ragnb.annotation.session import AnnotationSession
from ragnb.annotation.tasks import Field, Option, Task
from ragnb.markup import Markup, escape, join, page, spelled, tag

GLYPHS = {"labelled": "✓", "started": "◐", "skipped": "↷", "untouched": "·"}
KEYS = [
    ("↑ ↓", "from sentence to sentence (or k j); with Shift, several"),
    (
        "space",
        "choose or unchoose the sentence for the active label (or x); the mouse does, too, and drags",
    ),
    ("1 … 9", "an option of the active label"),
    ("e", "none: deliberately empty"),
    ("⌫", "untouched again"),
    ("[ ]", "the sentence of the response before, after"),
    ("Enter", "what is still missing, else the next item that is not labelled"),
    ("n p", "next, previous item"),
    (".", "skip the item"),
    ("f", "flag it"),
    ("m", "note on it"),
    ("a", "accept what is suggested"),
    ("z Z", "undo, redo, wherever it was (or Ctrl+Z, Ctrl+Y)"),
    ("g", "list of items"),
    ("/", "search in the texts; Enter for the next place"),
    ("o", "unfold a long document"),
    ("Esc", "close what is open"),
]
"""What every key does, but for the letters of the labels."""

_LINE = "margin:0.2em 0"


def task_of(task: Task) -> dict[str, Any]:
    """The task as the browser needs it: labels for every option, and the keys with their meaning."""
    fields = [
        {"name": field.name, "label": spelled(field.label), "kind": field.kind, "key": field.key, "each": field.each,
         "of": field.of, "required": field.required, "options": _options(field.options)}
        for field in task.fields
    ]  # fmt: skip
    letters = [(field.key, f"label: {spelled(field.label)}") for field in task.fields]
    return {
        "name": spelled(task.name),
        "guideline": spelled(task.guideline),
        "fields": fields,
        "keys": [*letters, *KEYS],
    }


def page_of(session: AnnotationSession) -> dict[str, Any]:
    """The item on the screen: its texts with all that hides spelled out, and the places that can be labelled."""
    item, keys = session.item, session.item.keys("response")
    asked = {
        part
        for field in session.task.fields
        if field.kind == "sentences"
        for part in ("response", field.of)
    }
    each = any(field.each for field in session.task.fields)
    return {
        "number": session.number,
        "question": spelled(item.question),
        "references": [spelled(text) for text in item.references],
        "parts": [
            {
                "name": part.name,
                "heading": heading,
                "sentences": [[key, spelled(text)] for key, text in part.sentences],
            }
            for part, heading in zip(item.parts, headings(item), strict=True)
        ],
        "keyed": sorted(asked) if each or "documents" in asked else [],
        "each": keys if each else [],
        "places": [list(place) for place in places(session.task, keys)],
        "options": {
            field.name: _options(options_of(field, item))
            for field in session.task.fields
            if item.order
        },
    }


def state_of(session: AnnotationSession) -> dict[str, Any]:
    """What changes with an action: labels, suggestions, what is missing or contradicts itself, progress, when saved."""
    item, labels = session.item, session.labels
    suggestion, votes = session.suggestion(), session.others.get(item.id, {})
    return {
        "values": labels.nested(),
        "suggested": nested(suggestion),
        "suggested_by": spelled(session.suggested_by) if suggestion else "",
        "others": [
            {"name": spelled(name), "values": nested(values)} for name, values in votes.items()
        ],
        "missing": [list(place) for place in session.missing()],
        "warnings": trace_warnings(labels.values, item) if session.task.name == "trace" else [],
        "status": session.statuses[session.number],
        "flag": labels.flag,
        "note": labels.note,
        "can_undo": bool(session.state.done),
        "can_redo": bool(session.state.undone),
        "progress": session.progress(),
        "saved": f"saved {_clock(session)} in {spelled(session.log.path.name)}"
        if session.log.events
        else "",
    }


def entry_of(session: AnnotationSession, number: int) -> list[Any]:
    """One line of the list of items: title, status, flag."""
    item = session.items[number]
    title = item.question or next((text for part in item.parts for _, text in part.sentences), "")
    return [spelled(title)[:160], session.statuses[number], session.state.of(item.id).flag]


def headings(item: Item) -> list[str]:
    """Heading of each part; two responses are the first and the second, whichever they are."""
    ordinal = iter(("first response", "second response"))
    return [part.heading or next(ordinal, part.name) for part in item.parts]


def options_of(field: Field, item: Item) -> tuple[Option, ...]:
    """A field's options, in the order in which two responses stand on the screen."""
    if not item.order or {"a", "b"} - {option.value for option in field.options}:
        return field.options
    first = [
        Option(value, label)
        for value, label in zip(item.order, ("the first", "the second"), strict=True)
    ]
    return (*first, *(option for option in field.options if option.value not in ("a", "b")))


def _options(options: Iterable[Option]) -> list[dict[str, Any]]:
    return [
        {"value": option.value, "label": spelled(option.label or str(option.value))}
        for option in options
    ]


def _clock(session: AnnotationSession) -> str:
    return session.log.events[-1]["time"][11:19] + " UTC"


# ---- without a kernel --------------------------------------------------------------------------------------------------


def static_page(session: AnnotationSession) -> Markup:
    """The item on the screen with its labels, in tags and glyphs alone; nothing of when or how long."""
    item, progress = session.item, session.progress()
    counted = f"{progress['labelled']} of {progress['items']} labelled by {session.annotator}"
    head = tag(
        "p",
        tag(
            "small",
            f"task {session.task.name} · {counted} · item {session.number + 1}, {session.statuses[session.number]}",
        ),
    )
    question = [tag("p", tag("b", item.question), dir="auto")] if item.question else []
    references = [
        tag("p", tag("small", "reference: "), text, dir="auto", style=_LINE)
        for text in item.references
    ]
    texts = [
        _part(part, heading, session)
        for part, heading in zip(item.parts, headings(item), strict=True)
    ]
    guideline = [
        tag("p", tag("small", line)) for line in session.task.guideline.split("\n") if line
    ]
    guide = tag("details", tag("summary", "guideline"), *guideline) if guideline else Markup()
    return page(head, guide, *question, *references, *texts, _said(session))


def _part(part: Part, heading: str, session: AnnotationSession) -> Markup:
    keyed = part.name in page_of(session)["keyed"]
    lines = [
        _sentence(part.name, key if keyed else "", key, text, session)
        for key, text in part.sentences
    ]
    return tag("div", tag("p", tag("i", heading), style=_LINE), *lines)


def _sentence(part: str, shown: str, key: str, text: str, session: AnnotationSession) -> Markup:
    letters = _letters(part, key, session)
    words = tag("mark", text, style="background:#ffe0a3;color:#111") if letters else escape(text)
    lead = tag("span", f"[{shown}] ", dir="ltr") if shown else Markup()
    signs = tag("sup", " ".join(letters)) if letters else Markup()
    return tag("div", lead, words, signs, dir="auto", style="margin-left:1em")


def _letters(part: str, key: str, session: AnnotationSession) -> list[str]:
    """Letters of the fields that hold a sentence; with the response's sentence where it is asked of each."""
    fields = {
        field.name: field
        for field in session.task.fields
        if field.kind == "sentences" and field.of == part
    }
    held = [
        (name, sentence)
        for (name, sentence), keys in session.labels.values.items()
        if name in fields and key in keys
    ]
    return [
        fields[name].key.upper() + (f":{sentence}" if sentence else "") for name, sentence in held
    ]


def _said(session: AnnotationSession) -> Markup:
    """Every label in words, the fields in their order."""
    item, labels, suggested = session.item, session.labels, session.suggestion()
    asked = list(places(session.task, item.keys("response")))
    rows = []
    for sentence, group in groupby(asked, key=lambda place: place[1]):
        for place in group:
            field = session.task.field(place[0])
            said = _value(field, item, labels.values, suggested, place)
            label = f"{field.label} [{sentence}]" if sentence else field.label
            rows.append(
                tag("tr", tag("td", tag("b", field.key.upper())), tag("td", label), tag("td", said))
            )
    notes = [tag("p", tag("b", "note: "), labels.note, dir="auto")] if labels.note else []
    flagged = [tag("p", "⚑ flagged")] if labels.flag else []
    return join([tag("table", *rows), *flagged, *notes])


def _value(
    field: Field,
    item: Item,
    values: Mapping[Place, Any],
    suggested: Mapping[Place, Any],
    place: Place,
) -> str:
    if place not in values:
        return (
            f"{_words(field, item, suggested[place])} ? (suggested)" if place in suggested else "…"
        )
    return _words(field, item, values[place])


def _words(field: Field, item: Item, value: Any) -> str:
    if field.kind == "sentences":
        return " ".join(f"[{key}]" for key in value) if value else "∅ none"
    if field.kind == "text":
        return str(value)
    return next(
        (
            option.label or str(option.value)
            for option in options_of(field, item)
            if option.value == value
        ),
        str(value),
    )
