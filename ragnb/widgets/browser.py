"""What live widgets share: sliders above one static page, that page alone where no kernel runs, and how sources are read."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ipywidgets import HTML, Image, VBox, Widget

from ragnb.markup import Markup, join, page, tag

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
        self._first = self._shown()
        if isinstance(self._first, bytes):
            # By default the box stretches a picture to its own width.
            self._page = Image(value=self._first, layout={"align_self": "flex-start"})
        else:
            self._page = HTML(self._first)
        for slider in sliders:
            slider.observe(self._draw, "value")
        super().__init__([*sliders, self._page])

    def _shown(self) -> Markup | bytes:
        """The page for the present values: HTML, or the bytes of a PNG picture."""
        raise NotImplementedError

    def _draw(self, _: object = None) -> None:
        self._page.value = self._shown()

    def _static(self) -> dict[str, str]:
        """What is shown where no kernel runs, by its format."""
        note = tag("p", tag("i", f"{self!r}; {self._note}"))
        return {"text/plain": repr(self), "text/html": join([note, Markup(self._first)])}

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return with_static(super()._repr_mimebundle_(**options), self._static())


class Interactive(Browser):
    """Sliders above the result of a function, which is called again whenever one of them moves.

    Where no kernel runs, the present result is shown without the sliders.

    Parameters
    ----------
    function
        Function of the sliders' values. It returns a text, or the bytes of a PNG picture. Every name that it takes from the
        notebook must keep its meaning: if a later cell assigns something else to it, the sliders stop working.
    sliders
        Widgets with a ``value``, each given under the name of a parameter of the function.

    >>> from ipywidgets import IntSlider
    >>> Interactive(lambda number: f"Twice {number} is {2 * number}.", number=IntSlider(3))
    number = 3 (the slider needs a running kernel)
    Twice 3 is 6.
    """

    def __init__(self, function: Callable[..., str | bytes], **sliders: Any) -> None:
        self._function, self._sliders = function, sliders
        super().__init__(*sliders.values(), note="the slider needs a running kernel")

    def __repr__(self) -> str:
        return "\n".join([self._setting(), *self._lines()])

    def _setting(self) -> str:
        values = ", ".join(f"{name} = {slider.value}" for name, slider in self._sliders.items())
        return f"{values} ({self._note})"

    def _lines(self) -> list[str]:
        return [] if isinstance(self._result, bytes) else self._result.splitlines()

    def _shown(self) -> Markup | bytes:
        self._result = self._function(
            **{name: slider.value for name, slider in self._sliders.items()}
        )
        if isinstance(self._result, bytes):
            return self._result
        return page(*(tag("div", line) for line in self._lines()))

    def _static(self) -> dict[str, str]:
        if isinstance(self._result, bytes):
            return {"text/plain": repr(self), "image/png": b64encode(self._result).decode()}
        return {
            "text/plain": repr(self),
            "text/html": join([tag("p", tag("i", self._setting())), Markup(self._page.value)]),
        }


def with_static(bundle: Any, static: Mapping[str, str]) -> Any:
    """What a widget shows, with what stands in its place where no kernel runs.

    A bundle is a mapping, a tuple of a mapping and more, or None: widget libraries differ.

    >>> with_static(({"view": 1}, {}), {"text/plain": "text"})
    ({'view': 1, 'text/plain': 'text'}, {})
    """
    data, more = (bundle[0], bundle[1:]) if isinstance(bundle, tuple) else (bundle, ())
    data = {**(data or {}), **static}
    return (data, *more) if more else data


def script(*names: str) -> str:
    """Modules of the front end as one: each uses what stands before it."""
    return "\n".join((STATIC / f"{name}.mjs").read_text("utf-8") for name in names)


def style(name: str) -> str:
    """A style sheet of the front end."""
    return (STATIC / f"{name}.css").read_text("utf-8")
