"""Sliders above a result, and helpers that all live widgets use."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ipywidgets import HTML, Image, VBox

from ragnb.markup import Markup, join, page, tag

STATIC = Path(__file__).parent / "static"


class Interactive(VBox):
    """Sliders above the result of a function, which is called again whenever one of them moves.

    Where no kernel runs, the present result is shown without the sliders.

    Parameters
    ----------
    function
        Function of the sliders' values. It returns a text, HTML as `ragnb.markup.Markup`, or the
        bytes of a PNG picture. Every name that it takes from the notebook must keep its meaning: if
        a later cell assigns something else to it, the sliders stop working.
    sliders
        Widgets with a ``value``, each under the name of a parameter of the function.

    >>> from ipywidgets import IntSlider
    >>> Interactive(lambda number: f"Twice {number} is {2 * number}.", number=IntSlider(3))
    number = 3 (the slider needs a running kernel)
    Twice 3 is 6.
    """

    def __init__(self, function: Callable[..., str | bytes], **sliders: Any) -> None:
        self._function, self._sliders = function, sliders
        shown = self._result()
        if isinstance(shown, bytes):
            # By default the box stretches a picture to its own width.
            self._page = Image(value=shown, layout={"align_self": "flex-start"})
        else:
            self._page = HTML(shown)
        for slider in sliders.values():
            slider.observe(self._draw, "value")
        super().__init__([*sliders.values(), self._page])

    def _result(self) -> Markup | bytes:
        values = {name: slider.value for name, slider in self._sliders.items()}
        result = self._function(**values)
        setting = ", ".join(f"{name} = {value}" for name, value in values.items())
        self._text = [f"{setting} (the slider needs a running kernel)"]
        if isinstance(result, bytes | Markup):
            return result
        self._text += result.splitlines()
        return page(*(tag("div", line) for line in result.splitlines()))

    def _draw(self, _: object) -> None:
        self._page.value = self._result()

    def __repr__(self) -> str:
        return "\n".join(self._text)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        static = {"text/plain": repr(self)}
        if isinstance(self._page, Image):
            static["image/png"] = b64encode(self._page.value).decode()
        else:
            note = tag("p", tag("i", self._text[0]))
            static["text/html"] = join([note, Markup(self._page.value)])
        return with_static(super()._repr_mimebundle_(**options), static)


def with_static(bundle: Any, static: Mapping[str, str]) -> Any:
    """Add the static form of a widget to its MIME bundle, for pages where no kernel runs.

    A bundle is a mapping, a tuple of a mapping and more, or None: widget libraries differ.

    >>> with_static(({"view": 1}, {}), {"text/plain": "text"})
    ({'view': 1, 'text/plain': 'text'}, {})
    """
    data, more = (bundle[0], bundle[1:]) if isinstance(bundle, tuple) else (bundle, ())
    data = {**(data or {}), **static}
    return (data, *more) if more else data
