"""Where the numbers of a notebook come from: data, models, definitions and versions."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.markup import Markup, spelled, tag
from ragnb.version import __version__

# Keys of a source, in the order in which they are shown.
_SOURCE_KEYS = ("citation", "licence", "address")


class Provenance(list[tuple[str, str]]):
    """Pairs of a heading and a text, displayed as a small table."""

    def __repr__(self) -> str:
        width = max(len(heading) for heading, _ in self)
        return "\n".join(f"{heading:{width}}  {text}" for heading, text in self)

    def _repr_html_(self) -> Markup:
        rows = [tag("tr", tag("th", heading), tag("td", text)) for heading, text in self]
        return tag("table", *rows)


@accepts()
def provenance(*results: Any) -> Provenance:
    """Say where numbers come from: the closing block of a notebook.

    Parameters
    ----------
    results
        Frames of ragnb in any order: studies and examples, responses, scores, summaries,
        comparisons, published tables, and reports. Each contributes what it knows.

    Returns
    -------
    Provenance
        Pairs of a heading and a text: the data with citation, licence and address; the models with
        engine, date and parameters; the signatures of all metrics; the version of ragnb. Nothing
        is repeated.

    Examples
    --------
    >>> scores = pd.DataFrame({"metric": ["m"], "signature": ["ragnb:0.2.0|metric:m"]})
    >>> [heading for heading, _ in provenance(scores)]
    ['definition', 'ragnb']
    """
    frames = [frame for result in results for frame in _frames_in(result)]
    pairs = []
    for frame in frames:
        pairs += _sources(frame.attrs.get("source"))
        pairs += _models(frame)
    for frame in frames:
        pairs += _signatures(frame)
    return Provenance([*dict.fromkeys(pairs), ("ragnb", __version__)])


def _frames_in(result: Any) -> Iterable[pd.DataFrame]:
    """The frames of a report, or a frame itself."""
    if isinstance(result, pd.DataFrame):
        return [result]
    tables = getattr(result, "tables", {})
    scores = getattr(result, "scores", None)
    return [*tables.values(), *([scores] if isinstance(scores, pd.DataFrame) else [])]


def _sources(source: Any) -> list[tuple[str, str]]:
    """The line about the data: a text, or the name, citation, licence and address of a source."""
    if isinstance(source, str):
        return [("data", spelled(source))]
    if not isinstance(source, Mapping):
        return []
    name = source.get("name", "")
    details = " · ".join(str(source[key]) for key in _SOURCE_KEYS if source.get(key))
    return [("data", spelled(f"{name}: {details}"))]


def _models(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """The lines about the models of the responses.

    A model whose details are recorded in ``attrs`` has its engine, date and parameters. Other models
    are named.
    """
    model = frame.attrs.get("model")
    if isinstance(model, Mapping):
        parameters = ", ".join(f"{key} {value}" for key, value in model["parameters"].items())
        details = [model["model"], model["engine"], model["date"], parameters]
        return [("model", spelled(" · ".join(map(str, details))))]
    if "model" not in frame:
        return []
    return [("model", spelled(name)) for name in dict.fromkeys(frame["model"].dropna())]


def _signatures(frame: pd.DataFrame) -> list[tuple[str, str]]:
    """One line for each different signature in a frame."""
    if "signature" not in frame:
        return []
    return [("definition", spelled(text)) for text in dict.fromkeys(frame["signature"].dropna())]
