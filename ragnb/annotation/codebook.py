"""The codebook of an error analysis: tags with definitions, which grows while somebody reads responses.

A tag has an id, which never changes, and a name. The id is the first name of the tag. Labels contain ids, so that a tag that
is renamed or merged is also renamed or merged where it was used before. ``codebook.mjs`` in the widgets repeats these rules.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragnb.errors import InputError
from ragnb.suggestions import did_you_mean
from ragnb.tags import tag_key, tag_name

CHANGES_OF_CODEBOOK = ("add", "rename", "define", "merge")


@dataclass
class Tag:
    """A tag of a codebook.

    Attributes
    ----------
    id
        The first name.
    earlier
        Earlier names, and the names of the tags that were merged into this one.
    """

    id: str
    name: str
    definition: str = ""
    earlier: list[str] = field(default_factory=list)


class Codebook:
    """Tags after some changes. A change that makes no sense, as two open pages can cause, has no effect.

    Attributes
    ----------
    tags : dict
        The present tags by id, in the order in which they were added.
    """

    def __init__(self, definitions: Mapping[str, str] | None = None) -> None:
        self.tags: dict[str, Tag] = {}
        # The id of each tag that was merged -> that of the tag into which it was merged.
        self._merged: dict[str, str] = {}
        for name, definition in (definitions or {}).items():
            self.add(name, name, definition)

    # ---- changes -------------------------------------------------------------------------------

    def apply(self, event: Mapping[str, Any]) -> None:
        """Apply a change of a log."""
        change, tag = event["change"], event["tag"]
        if change == "add":
            self.add(tag, event["name"], event.get("definition", ""))
        elif change == "merge":
            self._merge(tag, event["into"])
        elif tag in self.tags and change == "rename":
            renamed = self.tags[tag]
            if event["name"] != renamed.name:
                renamed.earlier.append(renamed.name)
                renamed.name = event["name"]
        elif tag in self.tags:
            self.tags[tag].definition = event["definition"]

    def add(self, id: str, name: str | None = None, definition: str = "") -> None:
        """Add a tag, whose name is its id by default. A tag with this id only gets the definition that it lacks."""
        present = self.present(id)
        if present in self.tags:
            tag = self.tags[present]
            tag.definition = tag.definition or definition
        else:
            self.tags[id] = Tag(id, name or id, definition)

    def _merge(self, id: str, into: str) -> None:
        """Merge a tag into another one."""
        # In a log that was recovered, the addition of one of the two may be lost.
        for tag_id in (id, into):
            self.add(tag_id)
        source, target = self.present(id), self.present(into)
        if source == target:
            return
        source_tag, target_tag = self.tags.pop(source), self.tags[target]
        self._merged[source] = target
        target_tag.earlier += [source_tag.name, *source_tag.earlier]
        target_tag.definition = target_tag.definition or source_tag.definition

    # ---- names and ids -------------------------------------------------------------------------

    def present(self, id: str) -> str:
        """The id of the tag that this tag is now, after merges."""
        while id in self._merged:
            id = self._merged[id]
        return id

    def resolved(self, ids: Iterable[str]) -> list[str]:
        """The present ids of some tags, each once and in the order of the codebook."""
        present = dict.fromkeys(self.present(id) for id in ids)
        # A tag whose addition is lost, as in a log that was recovered, still has its id.
        lost = [id for id in present if id not in self.tags]
        return [*(id for id in self.tags if id in present), *lost]

    def names(self, ids: Iterable[str]) -> list[str]:
        """The present names of some tags, each once and in the order of the codebook."""
        names = [self.tags[id].name if id in self.tags else id for id in self.resolved(ids)]
        # Two open pages can give two tags the same name.
        return list(dict.fromkeys(names))

    def find(self, name: str) -> str | None:
        """The id of the tag that has this name, or had it earlier; None if there is none."""
        key = tag_key(name)
        # A present name precedes earlier ones, because a tag may be given a name that another one had.
        for tag in self.tags.values():
            if tag_key(tag.name) == key:
                return tag.id
        for tag in self.tags.values():
            if key in {tag_key(tag.id), *map(tag_key, tag.earlier)}:
                return tag.id
        return None

    def id_of(self, name: Any) -> str:
        """The id of the tag with a name. InputError if there is none."""
        tag_id = self.find(tag_name(name))
        if tag_id is None:
            names = [tag.name for tag in self.tags.values()]
            listed = ", ".join(map(repr, names[:20])) or "no tags yet"
            raise InputError(
                f"the codebook has no tag {name!r:.100}{did_you_mean(str(name), names)}; it has {listed}; add the tag "
                "with add_tag, or start with codebook="
            )
        return tag_id

    def ids(self, names: Any) -> list[str]:
        """The ids of some tags in the order of the codebook. InputError if a tag is unknown."""
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise InputError(f"tags must be a list of names, got {names!r:.60}")
        return self.resolved([self.id_of(name) for name in names])

    def new_name(self, text: Any, *, of: str | None = None) -> str:
        """A name for a new tag, or for the tag ``of``. InputError if another tag has it, or had it earlier."""
        name = tag_name(text)
        other = self.find(name)
        if other is not None and other != of:
            present = self.tags[other].name
            is_earlier = tag_key(present) != tag_key(name)
            was_called = f", which was called {name!r} before" if is_earlier else ""
            advice = "use it" if of is None else "merge the two tags"
            raise InputError(
                f"the codebook already has the tag {present!r}{was_called}; {advice}, or choose another name"
            )
        return name

    def definitions(self) -> dict[str, str]:
        """The definition of each present tag by its name."""
        return {tag.name: tag.definition for tag in self.tags.values()}
