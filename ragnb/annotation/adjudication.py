"""Adjudication: keep the labels on which annotators agree, and let a person decide the others."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.annotation.comparison import Comparison, read_everyone
from ragnb.annotation.items import Item, build_items, item_ids, refuse_changed_texts
from ragnb.annotation.labels import all_equal
from ragnb.annotation.log import log_file, log_lines
from ragnb.annotation.places import Place, nested, places
from ragnb.annotation.session import AnnotationSession, pinned, set_value
from ragnb.annotation.tasks import hashed
from ragnb.arguments import accepts
from ragnb.errors import InputError


@accepts()
def adjudicate(
    examples: pd.DataFrame,
    logs: Any,
    adjudicator: str,
    path: str | Path,
    *,
    blind: bool = False,
    id: str | Sequence[str] | None = None,
) -> AnnotationSession:
    """Start a session in which one person decides where annotators differ. Its log contains the gold labels.

    Labels on which all annotators agree are written to the log first, with the source ``"agreed"``. What only some of them
    labelled is decided, too. Decisions have the source ``"adjudicated"``. Both keep the label of each annotator, by name.
    An item on which they agree completely is labelled without being shown. If they agree on all items, the session shows
    all of them, and all are labelled. In a disputed set of sentences, those that every annotator chose are suggested.

    Parameters
    ----------
    examples
        What the annotators were shown. Further rows are ignored.
    logs
        The labels of two or more annotators; see `ragnb.annotation.agreement`.
    adjudicator
        Name of the person who decides.
    path
        The gold log, or a folder in which it becomes ``gold.{task}.sqlite``. A gold log that exists is continued if the
        annotators' labels are still the same.
    blind
        Call the annotators A, B, ... on the screen, in an order that is drawn for each item.
    id
        Column or columns that identify a row; by default those that the logs name.

    Returns
    -------
    AnnotationSession
        The items that need a decision; ``others`` contains the labels of each annotator. An optional field needs a decision
        only if the annotators differ in it.

    Raises
    ------
    InputError
        `agreement` refuses the logs, `examples` lacks an item or shows other texts, or the log at `path` is not a gold log
        of these labels.
    StoreError
        The gold log is open in another kernel or program.
    """
    people = read_everyone(logs)
    task, columns = people.task, id or people.id
    file = log_file(path, "gold", task.name)
    rests_on = [_provenance(name, people) for name in people.names]
    _check_gold(file, rests_on)
    items = _shown(examples, people, columns)
    agreed, disputed = {}, set()
    for item in items:
        votes = people.votes[item.id]
        agreed[item.id] = {
            place: by_name
            for place, by_name in votes.items()
            if len(by_name) == len(people.names) and all_equal(by_name.values())
        }
        required = set(places(task, item.sentences, required=True))
        left = votes.keys() - agreed[item.id].keys()
        if any(place in required or not all_equal(votes[place].values()) for place in left):
            disputed.add(item.id)
    shown = disputed or set(agreed)
    said = people.labels
    session = AnnotationSession(
        examples[[name in shown for name in item_ids(examples, columns)]],
        task,
        adjudicator,
        file,
        id=columns,
        suggestions={item: nested(_common(people.votes[item], people)) for item in shown},
        suggested_by="every annotator",
        others={item: _lettered(item, said[item]) for item in said} if blind else said,
        named=said,
        header={"adjudicates": rests_on},
    )
    there = {event["item"] for event in session.log.events if event["action"] == "agreed"}
    new = [item for item in items if agreed[item.id] and item.id not in there]
    session.record(*[_agreement(item, agreed[item.id]) for item in new])
    return session


def _common(votes: dict[Place, dict[str, Any]], people: Comparison) -> dict[Place, list[Any]]:
    """Return the sentences that every annotator chose, for sets that differ."""
    common = {
        place: [
            key for key in by_name[people.names[0]] if all(key in one for one in by_name.values())
        ]
        for place, by_name in votes.items()
        if people.task.field(place[0]).kind == "sentences" and len(by_name) == len(people.names)
    }
    return {
        place: keys
        for place, keys in common.items()
        if keys and not all_equal(votes[place].values())
    }


def _agreement(item: Item, agreed: dict[Place, dict[str, Any]]) -> dict[str, Any]:
    """Return the action that stores the labels of one item on which the annotators agree."""
    labels = [
        {**set_value(place, next(iter(by_name.values()))), "source": "agreed", "of": by_name}
        for place, by_name in agreed.items()
    ]
    return {"action": "agreed", "item": item.id, **pinned(item), "set": labels}


def _shown(examples: pd.DataFrame, people: Comparison, id: str | Sequence[str]) -> list[Item]:
    """Return the items that somebody labelled, in the order of the examples."""
    labelled = {item for item, votes in people.votes.items() if any(votes.values())}
    items = [item for item in build_items(examples, people.task, id=id) if item.id in labelled]
    missing = sorted(labelled - {item.id for item in items})
    if not labelled:
        raise InputError("adjudicate needs at least one labelled item, got logs without labels")
    if missing:
        raise InputError(
            f"adjudicate needs an example for each labelled item, got none for {len(missing)} items, "
            f"such as {missing[0]!r}"
        )
    refuse_changed_texts(items, people.fingerprints)
    return items


def _lettered(item: str, said: dict[str, Any]) -> dict[str, Any]:
    """Replace names by letters. The letters are shuffled for each item."""
    drawn = sorted(said, key=lambda name: hashed([item, name]))
    return {
        chr(ord("A") + number % 26) + (str(number // 26) if number >= 26 else ""): said[name]
        for number, name in enumerate(drawn)
    }


def _provenance(name: str, people: Comparison) -> dict[str, Any]:
    """Annotator and hash of the labels, which does not change when an item is only looked at again."""
    values = [
        [item, *place, value]
        for item, by_name in people.labels.items()
        for place, value in by_name.get(name, {}).items()
    ]
    return {"annotator": name, "labels": hashed(sorted(values, key=str))}


def _check_gold(file: Path, rests_on: list[dict[str, Any]]) -> None:
    """Refuse to write decisions to an annotator's own log, or next to labels that have changed since."""
    lines = log_lines(file)
    known = lines[0].get("adjudicates", []) if lines else rests_on
    before, after = (
        {(one["annotator"], one["labels"]) for one in rests} for rests in (known, rests_on)
    )
    changed = sorted({repr(name) for name, _ in before ^ after})
    if changed:
        raise InputError(
            f"{file.stem} was made from other logs; those of {', '.join(changed)} differ; pass the "
            "same logs as before, or choose another path"
        )
