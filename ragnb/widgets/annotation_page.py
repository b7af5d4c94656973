"""An item of an annotation as the browser draws it, and as a static page with its labels."""

# Tested in tests/widgets/test_annotator.py.

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ragnb.annotation.items import Item
from ragnb.annotation.places import nested, places
from ragnb.annotation.session import UNFINISHED, AnnotationSession
from ragnb.annotation.tasks import Field, Option, Task
from ragnb.markup import Markup, page, spelled
from ragnb.widgets.pages import render

# Longest title in the list of items, in characters.
LONGEST_TITLE = 160


def task_of(task: Task) -> dict[str, Any]:
    """Return the task as the browser needs it: with the labels of all options."""
    fields = [
        {
            "name": field.name,
            "label": spelled(field.label),
            "kind": field.kind,
            "key": field.key,
            "each": field.each,
            "of": field.of,
            "required": field.required,
            "options": _options(field.options),
        }
        for field in task.fields
    ]
    return {
        "name": spelled(task.name),
        "guideline": spelled(task.guideline),
        "fields": fields,
        "unit": task.unit,
        "codebook": list(task.codebook.items()),
        "contradictions": [
            asdict(contradiction) | {"message": spelled(contradiction.message)}
            for contradiction in task.contradictions
        ],
    }


def page_of(task: Task, item: Item, number: int) -> dict[str, Any]:
    """Return an item as the browser draws it: its texts, and the places that can be labelled."""
    # Only the two responses of a pair have no heading. Their parts are in the order that was drawn for the item.
    ordinal = iter(("first response", "second response"))
    parts = [
        {
            "name": part.name,
            "heading": part.heading or next(ordinal, part.name),
            "sentences": [[key, spelled(text)] for key, text in part.sentences],
        }
        for part in item.parts
    ]
    has_each = any(field.each for field in task.fields)
    # Only the options of a pair differ from one item to another.
    options = {field.name: _options(options_of(field, item)) for field in task.fields if item.order}
    return {
        "number": number,
        "history": [[spelled(role), spelled(text)] for role, text in item.history],
        "question": spelled(item.question),
        "references": [spelled(text) for text in item.references],
        "parts": parts,
        "keyed": keyed_parts(task),
        "each": item.keys(task.unit) if has_each else [],
        "places": [list(place) for place in places(task, item.sentences)],
        "options": options,
    }


def state_of(session: AnnotationSession) -> dict[str, Any]:
    """Return what may change with an action: labels, suggestions, what is missing, progress, and when it was saved."""
    item, labels, suggestion = session.item, session.labels, session.suggestion()
    return {
        "values": nested(session.values),
        "codebook": _codebook_of(session),
        "suggested": nested(suggestion),
        "suggested_by": spelled(session.suggested_by) if suggestion else "",
        "others": [
            {"name": spelled(name), "values": nested(values)}
            for name, values in session.others.get(item.id, {}).items()
        ],
        "missing": [list(place) for place in session.missing()],
        "status": session.statuses[session.number],
        "flag": labels.flag,
        "note": labels.note,
        "can_undo": bool(session.state.done),
        "can_redo": bool(session.state.undone),
        "progress": session.progress(),
        "end": _end(session),
        "saved": _saved(session),
    }


def _codebook_of(session: AnnotationSession) -> list[list[Any]]:
    """Return each tag of the codebook: its id, name and definition, and the number of items that have it."""
    if not session.task.tag_fields:
        return []
    counts: Counter[str] = Counter()
    for item in session.items:
        present = session.state.present(session.state.of(item.id).values)
        counts.update(
            {id for name in session.task.tag_fields for id in present.get((name, None), ())}
        )
    return [
        [tag.id, spelled(tag.name), spelled(tag.definition), counts[tag.id]]
        for tag in session.codebook.tags.values()
    ]


def _saved(session: AnnotationSession) -> str:
    """Return when the last action was saved, and where; empty if there is none."""
    if not session.log.events:
        return ""
    time = session.log.events[-1]["time"][11:19]  # hours, minutes and seconds
    return f"saved {time} UTC in {spelled(session.log.path.name)}"


def _end(session: AnnotationSession) -> dict[str, str] | None:
    """Return what comes next when nothing is left to label, with its code. As long as something is left, return None."""
    if any(status in UNFINISHED for status in session.statuses):
        return None
    path = session.log.path
    # A path below the present folder is shorter. The folder may have been removed, or the log may be elsewhere.
    with suppress(OSError, ValueError):
        path = path.relative_to(Path.cwd())
    log = repr(path.as_posix())
    # An adjudicator has decided where the annotators differ, so the gold labels are not compared with others.
    agreement_line = f"\nragnb.agreement([{log}, ...])  # with the logs of others"
    if session.others:
        agreement_line = ""
    return {
        "text": "Done: all items are labelled or skipped. Next, in another cell:",
        "code": f"ragnb.annotation.join_labels(responses, {log}){agreement_line}",
    }


def entry_of(session: AnnotationSession, number: int) -> list[Any]:
    """Return one line of the list of items: title, status, flag."""
    item = session.items[number]
    return [title_of(item), session.statuses[number], session.state.of(item.id).flag]


def title_of(item: Item) -> str:
    """Return the first text of an item, for the list of items."""
    texts = [item.question]
    for part in item.parts:
        texts += [text for _, text in part.sentences]
    first_text = next(filter(None, texts), "")
    return spelled(first_text)[:LONGEST_TITLE]


def keyed_parts(task: Task) -> list[str]:
    """Return the parts whose sentences are shown with their keys."""
    chosen_from = {field.of for field in task.fields if field.kind == "sentences"}
    # The key of a word, such as 0-5, would make the text hard to read, and a word is found without it.
    chosen_from -= {"words"}
    labelled_one_by_one = {task.unit for field in task.fields if field.each}
    if "documents" not in chosen_from and not labelled_one_by_one:
        return []
    # The keys of the response are shown with those of the documents, because the letters next to a sentence of a document
    # may name a sentence of the response, as in ``S:a``.
    response = {"response"} if chosen_from else set()
    return sorted(chosen_from | labelled_one_by_one | response)


def options_of(field: Field, item: Item) -> tuple[Option, ...]:
    """Return the options of a field. The options a and b of a pair are in the order of the responses on the screen."""
    values = {option.value for option in field.options}
    is_about_pair = bool(item.order) and {"a", "b"} <= values
    if not is_about_pair:
        return field.options
    first, second = item.order
    further_options = (option for option in field.options if option.value not in ("a", "b"))
    return (Option(first, "the first"), Option(second, "the second"), *further_options)


def _options(options: tuple[Option, ...]) -> list[dict[str, Any]]:
    """Options as the browser needs them, with the labels that they have by default."""
    return [
        {
            "value": option.value,
            "label": spelled(option.label or str(option.value)),
            "implies": option.implies or {},
            "sign": spelled(option.badge),
        }
        for option in options
    ]


# ---- without a kernel ----------------------------------------------------------------------------


def static_page(session: AnnotationSession) -> Markup:
    """Return the item on the screen with its labels. The page contains no times."""
    task, state = task_of(session.task), state_of(session)
    return page(
        render(
            "annotation.html",
            session=session,
            task=task,
            fields={field["name"]: field for field in task["fields"]},
            tag_names={id: name for id, name, _, _ in state["codebook"]},
            letters=_letters(session.task, state["values"]),
            page=page_of(session.task, session.item, session.number),
            **state,
        )
    )


def _letters(task: Task, values: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the letters next to each chosen sentence, by part and key: the key of the field in which it was chosen.

    For a field that is asked of each sentence of the response, the key of that sentence follows, as in ``S:a``.
    """
    letters: dict[str, dict[str, str]] = {}
    for field in task.fields:
        if field.kind != "sentences":
            continue
        # Sentence of the response -> chosen keys. A field about the whole item has an empty text for the sentence.
        if field.each:
            keys_of_sentence = values.get(field.name, {})
        else:
            keys_of_sentence = {"": values.get(field.name, [])}
        letters_of_part = letters.setdefault(field.of, {})
        for sentence, keys in keys_of_sentence.items():
            letter = f"{field.key.upper()}:{sentence}" if sentence else field.key.upper()
            for key in keys:
                letters_of_part[key] = f"{letters_of_part.get(key, '')} {letter}".strip()
    return letters
