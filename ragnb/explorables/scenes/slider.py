"""Any function of a number or a name."""

# Tested in tests/widgets/test_explorables.py.

from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any

from ragnb.errors import InputError
from ragnb.explorables.scene import Control, Frame, Scene, explorable, value_text


@explorable(
    "slider",
    question="How does the result depend on this number?",
    alt="The picture that the function draws for the first number.",
    data="function of a number or a name; label of the slider; its values; optionally the value at the start",
    changes="the text or the PNG picture that the function returns",
    sample=lambda: (str, "number", range(1, 11), 1),
)
def slider(
    function: Callable[[Any], str | bytes],
    name: str,
    values: Sequence[Any],
    start: Any = None,
) -> Scene:
    """Return the scene of a function that returns a text, or a PNG picture as bytes."""
    choices = list(values)
    if not choices:
        raise InputError("explore needs at least one value of the slider, got none")
    first = choices[0] if start is None else start
    if first not in choices:
        raise InputError(
            f"the first value of the slider must be one of its values, got {first!r:.80}"
        )

    def frame(value: Any) -> Frame:
        """The text or the picture that the function returns for one value."""
        result = function(value)
        if isinstance(result, str):
            return Frame(result)
        if not isinstance(result, bytes):
            raise InputError(
                "the function of the slider must return a text, or a PNG picture as bytes, got "
                f"{type(result).__name__} for {value_text(value)}"
            )
        address = f"data:image/png;base64,{b64encode(result).decode()}"
        return Frame(f"{name} = {value_text(value)}", picture=address)

    return Scene([Control(name, choices, first)], frame)
