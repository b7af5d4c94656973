"""Which values a field allows, of which item."""

from typing import Any

from ragnb.annotation.items import Item
from ragnb.annotation.tasks import Field
from ragnb.errors import InputError


def known_keys(asked: Field, item: Item) -> list[Any]:
    """What a field of sentences may hold, in order: keys of the item's sentences, then answers that are no sentence."""
    return [*item.keys(asked.of), *(option.value for option in asked.options)]


def check_value(asked: Field, item: Item, value: Any) -> Any:
    """A value as the log holds it: keys in the order of the text, once each; an empty text is none.

    Raises
    ------
    InputError
        A value that the field does not allow.
    """
    if value is None:
        return None
    if asked.kind == "choice":
        return _option(asked, item, value)
    if asked.kind == "text":
        return _text(asked, item, value)
    return _keys(asked, item, value)


def _option(asked: Field, item: Item, value: Any) -> Any:
    allowed = [option.value for option in asked.options]
    if not any(type(value) is type(one) and value == one for one in allowed):
        raise InputError(
            f"{asked.name!r} of item {item.id!r} needs one of {allowed}; got {value!r}; choose one of them"
        )
    return value


def _text(asked: Field, item: Item, value: Any) -> str | None:
    if not isinstance(value, str):
        raise InputError(
            f"{asked.name!r} of item {item.id!r} needs a text; got {value!r}; write one"
        )
    return value or None


def _keys(asked: Field, item: Item, value: Any) -> list[Any]:
    known, what = known_keys(asked, item), f"{asked.name!r} of item {item.id!r}"
    if not isinstance(value, list | tuple):
        raise InputError(
            f"{what} needs a list of keys; got {value!r}; an empty list says that there is none"
        )
    strangers = [key for key in value if key not in known]
    if strangers:
        raise InputError(
            f"{what} needs keys among {known}; got {strangers[0]!r}; leave it out or mend it"
        )
    return [key for key in known if key in value]
