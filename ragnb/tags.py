"""Tags of an error analysis: their names, their definitions, and the forms in which users pass a codebook."""

# Tested in tests/annotation/test_codebook.py.

import unicodedata
from collections.abc import Mapping
from typing import Any

from ragnb.cells import is_missing
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.text import well_formed

# Longest name of a tag in characters. What a tag means belongs into its definition.
LONGEST_TAG = 100


def tag_name(text: Any) -> str:
    """Return the name of a tag with single spaces. InputError if it is blank, too long or no text.

    >>> tag_name("  wrong   language ")
    'wrong language'
    """
    if not isinstance(text, str):
        raise InputError(f"the name of a tag must be a text, got {text!r:.60}")
    name = " ".join(well_formed(text).split())
    if not name:
        raise InputError("the name of a tag must not be blank")
    if len(name) > LONGEST_TAG:
        raise InputError(
            f"the name of a tag may have at most {LONGEST_TAG} characters, got {len(name)}; put what the tag means into "
            "its definition"
        )
    return name


def definition_text(text: Any) -> str:
    """Return the definition of a tag without space around it. InputError if it is no text."""
    if not isinstance(text, str):
        raise InputError(f"the definition of a tag must be a text, got {text!r:.60}")
    return well_formed(text).strip()


def tag_key(name: str) -> str:
    """What two names have in common that differ only in letter case or white space.

    >>> tag_key("Wrong  language") == tag_key("wrong language")
    True
    """
    return " ".join(unicodedata.normalize("NFC", name).lower().split())


def tag_definitions(codebook: Any) -> dict[str, str]:
    """The definitions of tags by name, from a mapping, a list of names, or a frame with ``tag`` and ``definition``.

    >>> tag_definitions(["echo", " no  answer"])
    {'echo': '', 'no answer': ''}
    """
    # A frame is recognised by its columns, because pandas is not imported here.
    if hasattr(codebook, "columns"):
        require_columns(codebook, ["tag"], "codebook")
        names = codebook["tag"].tolist()
        texts = codebook["definition"].tolist() if "definition" in codebook else [""] * len(names)
    elif isinstance(codebook, Mapping):
        names, texts = list(codebook), list(codebook.values())
    elif isinstance(codebook, list | tuple):
        names, texts = list(codebook), [""] * len(codebook)
    else:
        kind = type(codebook).__name__
        raise InputError(
            f"codebook must be a mapping from tags to definitions, a list of tags, a frame or a log, got {kind}"
        )
    definitions: dict[str, str] = {}
    keys = set()
    for name, text in zip(names, texts, strict=True):
        tag = tag_name(name)
        if tag_key(tag) in keys:
            raise InputError(
                f"the codebook has the tag {tag!r} twice, apart from letter case and white space"
            )
        keys.add(tag_key(tag))
        definitions[tag] = "" if is_missing(text) else definition_text(text)
    return definitions
