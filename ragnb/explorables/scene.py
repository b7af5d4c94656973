"""What an explorable consists of: controls, a frame for each of their positions, and its declaration."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ragnb.explorables.chart import Chart
from ragnb.markup import Markup, spelled


class Control(NamedTuple):
    """A slider over a list of values, or a button next to a text, whose values are False and True."""

    label: str
    values: Sequence[Any]
    start: Any
    key: str = ""
    text: str = ""

    def contents(self) -> dict[str, Any]:
        """Return what the script needs of the control."""
        return {
            "label": spelled(self.label),
            "values": [value_text(value) for value in self.values],
            "at": [*self.values].index(self.start),
            "key": self.key,
            "text": spelled(self.text),
        }


class Frame(NamedTuple):
    """What is shown at one position of the controls.

    Attributes
    ----------
    sentence
        The sentence under the figure.
    chart
        The figure.
    meters
        Names and values between 0 and 1.
    lines
        Texts, each with the name of its look in explore.css.
    picture
        Address of a picture.
    """

    sentence: str
    chart: Chart | None = None
    meters: Mapping[str, float] = {}
    lines: Sequence[tuple[str, str]] = ()
    picture: str = ""

    def contents(self) -> dict[str, Any]:
        """Return what the script shows."""
        return {
            "sentence": spelled(self.sentence),
            "chart": self.chart and self.chart.contents(),
            "meters": [[name, f"{value:.2f}"] for name, value in self.meters.items()],
            "lines": [[look, spelled(text)] for look, text in self.lines],
            "picture": self.picture,
        }


class Scene(NamedTuple):
    """An explorable with its data.

    Attributes
    ----------
    controls, frame
        The controls, and what makes a frame of their values.
    heading
        What stands above the controls.
    static
        What takes the place of the lines and meters where no script runs.
    counts
        Sentence and value of each meter by the counts of chosen labels, and the sentence on their
        average, if there are too many frames.
    """

    controls: list[Control]
    frame: Callable[..., Frame]
    heading: str = ""
    static: Markup = Markup("")
    counts: dict[str, Any] | None = None


class Explorable(NamedTuple):
    """The declaration of an explorable; see `explorable`."""

    question: str
    alt: str
    data: str
    changes: str
    sample: Callable[[], tuple[Any, ...]]
    variants: Sequence[str]
    scene: Callable[..., Scene]


# All explorables by name. The modules in the folder ``scenes`` fill it.
EXPLORABLES: dict[str, Explorable] = {}


def explorable(
    name: str,
    *,
    question: str,
    data: str,
    changes: str,
    sample: Callable[[], tuple[Any, ...]],
    alt: str = "",
    variants: Sequence[str] = (),
) -> Callable[[Callable[..., Scene]], Callable[..., Scene]]:
    """Declare the function below as the explorable of that name.

    Parameters
    ----------
    name
        The name by which `ragnb.explore` knows it.
    question
        The question that it answers, which is shown above it.
    data, changes
        What the function takes, and what changes with the controls. Both appear in the table of
        `ragnb.explore`.
    sample
        Returns the data that are shown by default.
    alt
        Describes the picture for people who do not see it.
    variants
        Names of the definitions between which a user can choose. The function takes ``variant`` if
        there are any.
    """

    def declare(scene: Callable[..., Scene]) -> Callable[..., Scene]:
        """Add the function to `EXPLORABLES`, and return it unchanged."""
        EXPLORABLES[name] = Explorable(question, alt, data, changes, sample, variants, scene)
        return scene

    return declare


def evenly_spaced(low: float, high: float, n: int, *, start: float, decimals: int = 0) -> list[Any]:
    """Return about n evenly spaced values from low to high, and the value at the start."""
    values = np.unique([start, *np.linspace(low, high, n).round(decimals)])
    return values.tolist() if decimals else values.astype(int).tolist()


def value_text(value: Any) -> str:
    """Return a value of a control as a text: a name, or a number with three significant digits."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)
