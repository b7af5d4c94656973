"""What live widgets share: sliders above one static page, that page alone where no kernel runs, and how sources are read."""

from pathlib import Path
from typing import Any

from ipywidgets import HTML, VBox, Widget

from ragnb.markup import Markup, join, tag

STATIC = Path(__file__).parent / "static"


class Browser(VBox):
    """Sliders above the page that they choose; a subclass says in ``_shown`` which page that is.

    Parameters
    ----------
    sliders
        Widgets with a ``value``; the page is drawn again when one of them changes.
    note
        Sentence above the first page where no kernel runs.
    """

    def __init__(self, *sliders: Widget, note: str) -> None:
        self._note = note
        self._page = HTML()
        self._draw()
        self._first = Markup(self._page.value)
        for slider in sliders:
            slider.observe(self._draw, "value")
        super().__init__([*sliders, self._page])

    def _shown(self) -> Markup:
        raise NotImplementedError

    def _draw(self, _: object = None) -> None:
        self._page.value = self._shown()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        static = tag("p", tag("i", f"{self!r}; {self._note}"))
        return with_static(super()._repr_mimebundle_(**options), repr(self), join([static, self._first]))


def with_static(bundle: Any, plain: str, html: Markup) -> Any:
    """What a widget shows, with what stands in its place where no kernel runs.

    A bundle is a mapping, a tuple of a mapping and more, or None: widget libraries differ.

    >>> with_static(({"view": 1}, {}), "text", Markup("<p>text</p>"))
    ({'view': 1, 'text/plain': 'text', 'text/html': '<p>text</p>'}, {})
    """
    data, more = (bundle[0], bundle[1:]) if isinstance(bundle, tuple) else (bundle, ())
    data = {**(data or {}), "text/plain": plain, "text/html": html}
    return (data, *more) if more else data


def script(*names: str) -> str:
    """Modules of the front end as one: each uses what stands before it."""
    return "\n".join((STATIC / f"{name}.mjs").read_text("utf-8") for name in names)


def style(name: str) -> str:
    """A style sheet of the front end."""
    return (STATIC / f"{name}.css").read_text("utf-8")
