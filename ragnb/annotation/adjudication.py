"""Adjudication: keep the labels on which annotators agree, and let a person decide the others."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.annotation.comparison import Comparison, read_annotators
from ragnb.annotation.items import Item, build_items, item_ids, refuse_changed_texts
from ragnb.annotation.labels import all_equal
from ragnb.annotation.log import log_file, log_lines
from ragnb.annotation.places import Place, nested, places
from ragnb.annotation.session import AnnotationSession, pinned, set_value
from ragnb.annotation.tasks import LISTS, hashed
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

    Labels on which all annotators agree are written to the log first, with the source ``"agreed"``. The adjudicator
    also decides the required labels that only some of them gave. An optional label that only some of them gave needs
    no decision and, without one, is not among the gold labels. Decisions have the source ``"adjudicated"``. In the
    log, both kinds of labels have the label of each annotator, by name. An item on which all agree completely is
    labelled without being shown. If they agree on all items, the session shows all of them as labelled. If they chose
    different sentences or tags, those that every annotator chose are suggested.

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
    people = read_annotators(logs)  # their labels next to each other
    task = people.task
    columns = id or people.id
    file = log_file(path, "gold", task.name)
    sources = [_provenance(name, people) for name in people.names]
    _check_gold(file, sources)

    items = _labelled_items(examples, people, columns)
    agreed: dict[str, dict[Place, dict[str, Any]]] = {}
    disputed = set()
    for item in items:
        agreed[item.id] = _agreed(people.votes[item.id], people)
        if _is_disputed(item, agreed[item.id], people):
            disputed.add(item.id)
    # A session needs at least one item. If nothing is disputed, it therefore shows all of them, which are labelled already.
    items_to_decide = disputed or set(agreed)
    labels = people.labels
    # The screen of a blind adjudicator calls the annotators by letters. The log has their names in any case.
    labels_on_screen = labels
    if blind:
        labels_on_screen = {item: _lettered(item, labels[item]) for item in labels}
    suggestions = {}
    for item_id in items_to_decide:
        suggestions[item_id] = nested(_chosen_by_all(people.votes[item_id], people))
    # The adjudicator begins with the tags of all annotators.
    codebook = people.tags if task.tag_fields else None
    session = AnnotationSession(
        examples[[item in items_to_decide for item in item_ids(examples, columns)]],
        task,
        adjudicator,
        file,
        id=columns,
        suggestions=suggestions,
        suggested_by="every annotator",
        others=labels_on_screen,
        named=labels,
        header={"adjudicates": sources},
        codebook=codebook,
    )
    # The log of a session that is continued contains the agreed labels already.
    recorded = {event["item"] for event in session.log.events if event["action"] == "agreed"}
    new = [item for item in items if agreed[item.id] and item.id not in recorded]
    session.record(*[_agreement(item, agreed[item.id]) for item in new])
    return session


def _agreed(
    votes_by_place: dict[Place, dict[str, Any]], people: Comparison
) -> dict[Place, dict[str, Any]]:
    """Return the votes on the places that all annotators labelled with the same value."""
    return {
        place: by_name
        for place, by_name in votes_by_place.items()
        if len(by_name) == len(people.names) and all_equal(by_name.values())
    }


def _is_disputed(item: Item, agreed: dict[Place, dict[str, Any]], people: Comparison) -> bool:
    """Whether the annotators do not all agree on a required label, or differ in an optional one."""
    required = set(places(people.task, item.sentences, required=True))
    for place, by_name in people.votes[item.id].items():
        if place not in agreed and (place in required or not all_equal(by_name.values())):
            return True
    return False


def _chosen_by_all(
    votes_by_place: dict[Place, dict[str, Any]], people: Comparison
) -> dict[Place, list[Any]]:
    """Return the sentences or tags that every annotator chose, for each place where they chose different sets."""
    chosen_by_all = {}
    for place, by_name in votes_by_place.items():
        is_set = people.task.field(place[0]).kind in LISTS
        is_labelled_by_all = len(by_name) == len(people.names)
        is_agreed = all_equal(by_name.values())
        if not is_set or not is_labelled_by_all or is_agreed:
            continue
        # What the first annotator chose, without what another one did not choose.
        keys = list(by_name[people.names[0]])
        for keys_of_other in by_name.values():
            keys = [key for key in keys if key in keys_of_other]
        if keys:
            chosen_by_all[place] = keys
    return chosen_by_all


def _agreement(item: Item, agreed: dict[Place, dict[str, Any]]) -> dict[str, Any]:
    """Return the action that stores the labels of one item on which the annotators agree."""
    labels = []
    for place, by_name in agreed.items():
        value, *_ = by_name.values()  # All annotators gave the same value.
        labels.append({**set_value(place, value), "source": "agreed", "of": by_name})
    return {"action": "agreed", "item": item.id, **pinned(item), "set": labels}


def _labelled_items(
    examples: pd.DataFrame, people: Comparison, id: str | Sequence[str]
) -> list[Item]:
    """Return the items that somebody labelled, in the order of the examples."""
    # A place that nobody labelled has an empty mapping.
    labelled = {item for item, by_place in people.votes.items() if any(by_place.values())}
    if not labelled:
        raise InputError("adjudicate needs at least one labelled item, got logs without labels")
    items = [item for item in build_items(examples, people.task, id=id) if item.id in labelled]
    missing = sorted(labelled - {item.id for item in items})
    if missing:
        raise InputError(
            f"adjudicate needs an example for each labelled item, got none for {len(missing)} items, "
            f"such as {missing[0]!r}"
        )
    refuse_changed_texts(items, people.fingerprints)
    return items


def _lettered(item: str, labels_by_name: dict[str, Any]) -> dict[str, Any]:
    """Replace names by letters. The order of the annotators is different for each item, and the same at each start."""
    # Names sorted by a hash are in an order that looks random, and that needs no stored seed.
    shuffled = sorted(labels_by_name, key=lambda name: hashed([item, name]))
    by_letter = {}
    for number, name in enumerate(shuffled):
        # A to Z, then A1 to Z1 and so on.
        n_rounds, position = divmod(number, 26)
        letter = chr(ord("A") + position)
        by_letter[f"{letter}{n_rounds or ''}"] = labels_by_name[name]
    return by_letter


def _provenance(name: str, people: Comparison) -> dict[str, Any]:
    """Annotator and hash of the labels. The hash does not change when the annotator only looks at an item again."""
    values = [
        [item, *place, value]
        for item, by_name in people.labels.items()
        for place, value in by_name.get(name, {}).items()
    ]
    # Sorted, because the order in which items were opened does not matter.
    return {"annotator": name, "labels": hashed(sorted(values, key=str))}


def _check_gold(file: Path, sources: list[dict[str, Any]]) -> None:
    """Raise InputError if `file` is an annotator's own log, or if labels have changed since it was made."""
    lines = log_lines(file)
    if not lines:
        return
    header = lines[0]
    if not header.get("adjudicates"):
        raise InputError(
            f"{file.stem} is the log of an annotator, but decisions need a log of their own; choose "
            "another path"
        )
    recorded = {(source["annotator"], source["labels"]) for source in header["adjudicates"]}
    current = {(source["annotator"], source["labels"]) for source in sources}
    # Annotators whose labels are only on one side, or differ between the two.
    changed = sorted({repr(name) for name, _ in recorded ^ current})
    if changed:
        raise InputError(
            f"{file.stem} was made from other logs; those of {', '.join(changed)} differ; pass the "
            "same logs as before, or choose another path"
        )
