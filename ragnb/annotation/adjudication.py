"""From several annotators' labels to one: what they agree on is taken over, what they differ in is decided by a person."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.annotation.items import Item, build_items, item_columns
from ragnb.annotation.label_state import Place, nested
from ragnb.annotation.labelled import Labelled, alike, items_of, places_of, read_everyone, votes
from ragnb.annotation.log import log_file, read_log
from ragnb.annotation.session import AnnotationSession
from ragnb.annotation.tasks import hashed
from ragnb.errors import InputError

Votes = dict[str, dict[str, dict[Place, Any]]]
"""What was said of each item, by name."""


def adjudicate(
    examples: pd.DataFrame,
    logs: Any,
    adjudicator: str,
    path: str | Path,
    *,
    blind: bool = False,
    complete: bool = True,
    id: str | Sequence[str] | None = None,
) -> AnnotationSession:
    """A session in which one person decides where annotators differ; its log becomes the gold labels.

    Before anything is asked, what the annotators agree on is written to the log with source ``"agreed"``; decisions have
    source ``"adjudicated"``. Both keep what each annotator said, by name. An item in which they agree throughout is labelled
    without being shown; where they agree in all of them, the session shows all items, all of them labelled.
    Of sentences that are disputed, those that every annotator chose are suggested.

    Parameters
    ----------
    examples
        What the annotators were shown, further rows left alone.
    logs
        Of two annotators or more, see `ragnb.annotation.agreement.agreement`.
    adjudicator
        Who decides.
    path
        The gold log, or a folder in which it becomes ``gold.{task}.jsonl``. One that is there already is gone on with, as
        long as the annotators' labels are the same.
    blind
        Call the annotators A, B, ... on the screen, dealt anew for each item.
    complete
        Agreement needs a label of every annotator; what only some of them labelled is to be decided, too. If False, it is
        agreement when all who labelled it say the same, be it one alone.
    id
        Column or columns that tell the rows apart; by default those that the logs name.

    Returns
    -------
    AnnotationSession
        Of the items to be decided; ``others`` says what each annotator said of them. A field that is not required is to be
        decided only where annotators differ in it.

    Raises
    ------
    InputError
        As `agreement`; items that `examples` lacks or shows with other texts; a log at `path` that is no gold log, or one of
        other labels.
    StoreError
        The gold log is open elsewhere.
    """
    people = read_everyone(logs)
    task, columns = people[0].task, id or people[0].id
    file = log_file(path, "gold", task.name)
    rests_on = [_provenance(one) for one in people]
    _check_gold(file, rests_on)
    shown = _shown(examples, people, columns)
    said = {
        name: {one.annotator: one.items[name].values for one in people if name in one.items}
        for name in shown
    }
    open_items = {name for name in shown if _open(name, people, complete=complete)} or set(shown)
    session = AnnotationSession(
        _rows(examples, shown, open_items), task, adjudicator, file, id=columns,
        suggestions={name: nested(_common(name, people)) for name in open_items}, suggested_by="every annotator",
        others=_dealt(said) if blind else said, named=said, header={"adjudicates": rests_on},
    )  # fmt: skip
    _append_agreed(session, people, shown, examples, columns, complete=complete)
    return session


# ---- what is decided ---------------------------------------------------------------------------------------------------


def _agreed(item: str, people: list[Labelled], *, complete: bool) -> dict[Place, dict[str, Any]]:
    """Places that need no decision, with what each annotator said there."""
    found = {place: votes(item, place, people) for place in places_of(item, people)}
    need = len(people) if complete else 1
    return {
        place: given
        for place, given in found.items()
        if len(given) >= need and alike(given.values())
    }


def _common(item: str, people: list[Labelled]) -> dict[Place, list[Any]]:
    """The keys that every annotator chose where they chose different ones: only the others are left to look at."""
    fields = {asked.name for asked in people[0].task.fields if asked.kind == "sentences"}
    given = {
        place: votes(item, place, people) for place in places_of(item, people) if place[0] in fields
    }
    disputed = {
        place: list(by_name.values())
        for place, by_name in given.items()
        if len(by_name) == len(people)
    }
    chosen = {
        place: [key for key in lists[0] if all(key in one for one in lists)]
        for place, lists in disputed.items()
    }
    return {place: keys for place, keys in chosen.items() if keys and not alike(disputed[place])}


def _open(item: str, people: list[Labelled], *, complete: bool) -> bool:
    """Whether anything is left to decide: what the annotators differ in, and what has no label but needs one."""
    agreed = _agreed(item, people, complete=complete)
    places = [place for place in places_of(item, people) if place not in agreed]
    required = set(places_of(item, people, required=True)) if complete else set()
    return any(
        place in required or not alike(votes(item, place, people).values()) for place in places
    )


def _append_agreed(
    session: AnnotationSession,
    people: list[Labelled],
    shown: Mapping[str, tuple[int, Item]],
    examples: pd.DataFrame,
    columns: str | Sequence[str],
    *,
    complete: bool,
) -> None:
    """To the log what needs no decision, unless it is there."""
    there = {event["item"] for event in session.log.events if event["action"] == "agreed"}
    named = item_columns(examples, columns)
    for name, (number, item) in shown.items():
        agreed = _agreed(name, people, complete=complete)
        if agreed and name not in there:
            given = [_said(place, by_name) for place, by_name in agreed.items()]
            keys = {part: item.keys(part) for part in ("documents", "response")}
            pinned = {
                "item": name,
                "id": named[number],
                "fingerprint": item.fingerprint,
                "sentences": keys,
            }
            session.record({"action": "agreed", **pinned, "set": given})


def _said(place: Place, by_name: dict[str, Any]) -> dict[str, Any]:
    field, sentence = place
    key = {} if sentence is None else {"sentence": sentence}
    return {
        "field": field,
        **key,
        "value": next(iter(by_name.values())),
        "source": "agreed",
        "of": by_name,
    }


# ---- what is shown -----------------------------------------------------------------------------------------------------


def _shown(
    examples: pd.DataFrame, people: list[Labelled], columns: str | Sequence[str]
) -> dict[str, tuple[int, Item]]:
    """Row and item of all that somebody labelled, in the examples' order; their texts are those that the logs are of."""
    items = build_items(examples, people[0].task, id=columns)
    labelled = {
        name
        for name in items_of(people)
        if any(one.items[name].values for one in people if name in one.items)
    }
    missing = sorted(labelled - {item.id for item in items})
    if missing or not labelled:
        got = f"none for {len(missing)}, such as {missing[0]!r}" if missing else "no label at all"
        raise InputError(
            f"adjudicate needs an example for each labelled item; got {got}; load what was labelled"
        )
    found = {item.id: (number, item) for number, item in enumerate(items) if item.id in labelled}
    for one in people:
        stale = [name for name in found if _changed(found[name][1], one)]
        if stale:
            raise InputError(
                f"adjudicate needs the texts that {one.annotator!r} saw; {len(stale)} examples show others, such as "
                f"{stale[0]!r}; load what was labelled"
            )
    return found


def _changed(item: Item, one: Labelled) -> bool:
    known = one.items[item.id].fingerprint if item.id in one.items else ""
    return bool(known) and known != item.fingerprint


def _rows(
    examples: pd.DataFrame, shown: Mapping[str, tuple[int, Item]], kept: set[str]
) -> pd.DataFrame:
    return examples.iloc[[number for name, (number, _) in shown.items() if name in kept]]


def _dealt(said: Votes) -> Votes:
    """The same with letters for names; which letter is whose is drawn from the item."""
    return {item: _lettered(item, by_name) for item, by_name in said.items()}


def _lettered(item: str, by_name: Mapping[str, dict[Place, Any]]) -> dict[str, dict[Place, Any]]:
    drawn = sorted(by_name, key=lambda name: hashed([item, name]))
    return {_letter(place): by_name[name] for place, name in enumerate(drawn)}


def _letter(place: int) -> str:
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[place % 26] + (str(place // 26) if place >= 26 else "")


# ---- the gold log ------------------------------------------------------------------------------------------------------


def _provenance(one: Labelled) -> dict[str, Any]:
    """Whose labels, from which file, and a hash of the labels alone, which a second look at an item does not change."""
    values = [
        [item, *place, value]
        for item, labels in one.items.items()
        for place, value in labels.values.items()
    ]
    content = one.path.read_bytes() if one.path else None
    return {
        "annotator": one.annotator,
        "log": one.path.name if one.path else None,
        "sha256": hashlib.sha256(content).hexdigest() if content is not None else None,
        "labels": hashed(sorted(values, key=str)),
    }


def _check_gold(file: Path, rests_on: list[dict[str, Any]]) -> None:
    """Refuse to write decisions into an annotator's own log, or beside labels that have changed since."""
    if not file.exists() or not file.stat().st_size:
        return
    known = read_log(file)[0].get("adjudicates")
    if not isinstance(known, list):
        raise InputError(
            f"{file.name} needs to be a gold log; it is an annotator's own; choose another path"
        )
    before, after = (
        {one["annotator"]: one["labels"] for one in rests} for rests in (known, rests_on)
    )
    changed = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )
    if changed:
        raise InputError(
            f"{file.name} needs the labels that it was begun with; those of {', '.join(map(repr, changed))} are others now; "
            "pass the same logs, or choose another path"
        )
