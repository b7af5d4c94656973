"""What the viewers' elements look like where several viewers have them."""

from typing import Any

from ragnb.markup import Markup, tag

APART = "margin:0.4em 0"
CELL = "text-align:left;vertical-align:top;padding:0.1em 1em 0.1em 0"
QUOTED = "padding-left:1em;border-left:2px solid #999;white-space:pre-wrap"

LONG = 600
"""Characters beyond which a text is folded."""


def fact(name: str, value: Any, style: str = APART) -> Markup:
    """A paragraph of a name and what is known of it."""
    return tag("p", tag("b", f"{name}: "), value, style=style)
