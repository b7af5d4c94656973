"""What a live widget shows where no kernel runs: the same outputs with a static page beside."""

from typing import Any

from ragnb.markup import Markup


def with_static(bundle: Any, text: str, page: Markup) -> Any:
    """A widget's outputs with its static page and text, in whichever of the two forms they come (data, or data and more)."""
    data, more = (bundle[0], bundle[1:]) if isinstance(bundle, tuple) else (bundle, ())
    data = {**(data or {}), "text/plain": text, "text/html": page}
    return (data, *more) if more else data
