"""Where the numbers of a notebook come from: data, models, definitions and versions."""

# Tested in tests/reports/test_findings.py.

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.display import framed
from ragnb.errors import InputError
from ragnb.markup import Markup, spelled, tag
from ragnb.printing import described
from ragnb.reports.frames import Report
from ragnb.version import __version__

# Keys of a source, in the order in which they are shown.
_SOURCE_KEYS = ("citation", "licence", "address")
# Beginnings of the parts of a signature that vary within one definition, and the largest number of their values
# that are listed, so that a line stays readable.
_VARYING = ("lang:", "prompt:")
_MOST_VALUES = 6


class Provenance(list[tuple[str, str]]):
    """Pairs of a heading and a text, displayed as a small table."""

    def __repr__(self) -> str:
        width = max(len(heading) for heading, _ in self)
        return "\n".join(f"{heading:{width}}  {text}" for heading, text in self)

    def _repr_html_(self) -> Markup:
        rows = [tag("tr", tag("th", heading), tag("td", text)) for heading, text in self]
        return framed(tag("table", *rows))


@accepts()
def provenance(*results: Any) -> Provenance:
    """Say where numbers come from: the closing block of a notebook.

    Parameters
    ----------
    results
        Frames of ragnb in any order: studies and examples, responses, scores, summaries,
        comparisons, published tables, and reports. Each contributes what it knows. A text is the
        name of your data, such as the path of a file.

    Returns
    -------
    Provenance
        Pairs of a heading and a text: the data with citation, licence and address; the models with
        engine, date and parameters; the signatures of all metrics; the version of ragnb. Nothing
        is repeated.

    Raises
    ------
    InputError
        A result is neither a frame nor a report nor a text.

    Examples
    --------
    >>> scores = pd.DataFrame({"metric": ["m"], "signature": ["ragnb:0.2.0|metric:m"]})
    >>> [heading for heading, _ in provenance(scores)]
    ['definition', 'ragnb']
    >>> print(provenance("answers.csv"))
    data   answers.csv
    ragnb  0.2.0
    """
    frames = [frame for result in results for frame in _frames_in(result)]
    pairs = [("data", spelled(result)) for result in results if isinstance(result, str)]
    for frame in frames:
        for source in (frame.attrs.get("source"), *frame.attrs.get("files", ())):
            pairs += _sources(source)
        pairs += _models(frame)
    pairs = [pair for pair in pairs if not _is_in_another(pair, pairs)]
    pairs += _definitions(frames)
    return Provenance([*dict.fromkeys(pairs), ("ragnb", __version__)])


def _is_in_another(pair: tuple[str, str], pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether another pair says the same and more, such as data with a citation after its name alone."""
    heading, text = pair
    # Details follow a name after one of these signs, see `_sources` and `_models`.
    beginnings = (f"{text} · ", f"{text}: ")
    texts = [other for other_heading, other in pairs if other_heading == heading]
    return any(other.startswith(beginnings) for other in texts)


def _frames_in(result: Any) -> list[pd.DataFrame]:
    """A frame itself, or the frames of a report. A text is the name of data, and has none."""
    if isinstance(result, str):
        return []
    if isinstance(result, pd.DataFrame):
        return [result]
    if not isinstance(result, Report):
        raise InputError(
            "provenance needs frames and reports of ragnb, or the names of your data as texts, got "
            f"{described(result)}"
        )
    frames = list(result.tables.values())
    # A report in which nothing was scored has an empty frame of scores, which still names its data.
    scores = getattr(result, "scores", None)
    if isinstance(scores, pd.DataFrame):
        frames.append(scores)
    return frames


def _sources(source: Any) -> list[tuple[str, str]]:
    """The line about the data: a text, or the name, citation, licence and address of a source."""
    if isinstance(source, str):
        return [("data", spelled(source))]
    if not isinstance(source, Mapping):
        return []
    name = source.get("name", "")
    details = [str(source[key]) for key in _SOURCE_KEYS if source.get(key)]
    if source.get("git_sha1"):
        # Twelve digits are enough to distinguish the files of a study.
        details.append(f"git SHA-1 {source['git_sha1'][:12]}")
    text = f"{name}: {' · '.join(details)}" if details else name
    return [("data", spelled(text))]


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


def _definitions(frames: Sequence[pd.DataFrame]) -> list[tuple[str, str]]:
    """The signatures of all metrics. Those that differ only in language and prompt are one text.

    A signature such as ``ragnb:0.2.0|metric:rgb.accuracy|lang:en`` consists of parts.
    """
    # The parts of a signature that do not vary -> beginning of a part that varies -> values of this part.
    values_by_definition: dict[str, dict[str, list[str]]] = {}
    for frame in frames:
        texts = frame["signature"].dropna() if "signature" in frame else []
        # A value that follows from several scores has their signatures, joined by " & ".
        for signature in " & ".join(dict.fromkeys(texts)).split(" & "):
            parts = signature.split("|")
            shared = "|".join(part for part in parts if not part.startswith(_VARYING))
            values = values_by_definition.setdefault(shared, {name: [] for name in _VARYING})
            for part in parts:
                beginning, colon, value = part.partition(":")
                name = beginning + colon
                if name in _VARYING:
                    values[name].append(value)
    definitions = []
    for shared, values in values_by_definition.items():
        # A signature that is empty defines nothing.
        if not shared:
            continue
        text = shared
        for name, values_of_part in values.items():
            if values_of_part:
                text += f"|{name}{_first_values(values_of_part)}"
        definitions.append(("definition", spelled(text)))
    return definitions


def _first_values(values: Sequence[str]) -> str:
    """The first different values, and how many more there are."""
    different = list(dict.fromkeys(values))
    text = ", ".join(different[:_MOST_VALUES])
    n_more = len(different) - _MOST_VALUES
    return f"{text} and {n_more} more" if n_more > 0 else text
