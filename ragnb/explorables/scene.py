"""What an explorable consists of: controls, a frame for each of their positions, and its declaration."""

# Tested in tests/widgets/test_explorables.py.

from collections.abc import Callable, Mapping, Sequence
from math import floor
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
            "meters": [[name, f"{value:z.2f}"] for name, value in self.meters.items()],
            "lines": [[look, spelled(text)] for look, text in self.lines],
            "picture": self.picture,
        }


# Sentence, value as a text, and value of a meter.
Part = tuple[str, str, float]


class CountTable(NamedTuple):
    """A part for each number of texts that have all of some labels.

    Attributes
    ----------
    labels
        Labels of the controls. Only texts that have all of them are counted.
    entries
        The part for each number, from 0 on, or another table that also depends on other labels.
    """

    labels: Sequence[str]
    entries: "Sequence[Part | CountTable]"

    def part(self, labelled: Mapping[str, list[str]]) -> Part:
        """Return the part, given the keys of the texts that have each label."""
        keys, *other_keys = [labelled.get(label, []) for label in self.labels]
        n_texts = 0
        for key in keys:
            n_texts += all(key in others for others in other_keys)
        entry = self.entries[n_texts]
        return entry.part(labelled) if isinstance(entry, CountTable) else entry

    def contents(self) -> dict[str, Any]:
        """Return what the script needs of the table."""
        entries = []
        for entry in self.entries:
            entries.append(entry.contents() if isinstance(entry, CountTable) else entry)
        return {"labels": self.labels, "entries": entries}


class Counts(NamedTuple):
    """Meters that depend on how many texts have which labels, for a scene with too many frames.

    Attributes
    ----------
    meters
        The table of each meter, by its name.
    average
        The sentence on the average of all meters.
    """

    meters: Mapping[str, CountTable]
    average: str

    def frame(self, controls: Sequence[Control], values: Sequence[Any]) -> Frame:
        """Return the frame for some values of the controls. The script computes the same sentence."""
        labelled: dict[str, list[str]] = {}
        for control, value in zip(controls, values, strict=True):
            if value:
                labelled.setdefault(control.label, []).append(control.key)
        parts = [table.part(labelled) for table in self.meters.values()]
        sentences = [sentence for sentence, _, _ in parts]
        mean = sum(value for _, _, value in parts) / len(parts)
        # A half is rounded up, as in explore.js.
        average = floor(mean * 1000 + 0.5) / 1000
        return Frame(" ".join([*sentences, self.average.replace("{}", f"{average:.3f}")]))

    def contents(self) -> dict[str, Any]:
        """Return what the script needs of the meters."""
        meters = [{"name": name, "table": table.contents()} for name, table in self.meters.items()]
        return {"meters": meters, "average": self.average}


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
        The meters, if there are too many frames.
    """

    controls: list[Control]
    frame: Callable[..., Frame]
    heading: str = ""
    static: Markup = Markup("")
    counts: Counts | None = None


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
