"""What ragnb knows of a metric: one record."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragnb.errors import InputError
from ragnb.version import __version__


@dataclass(frozen=True, slots=True)
class Metric:
    """What ragnb knows of a metric. A metric of your own is one more record, given to `score`.

    Scores hold names and values: `summarize` and tables know direction, bounds and condition of those in `METRICS` only, and
    take any other metric for binary where all of its values are 0 or 1.

    Attributes
    ----------
    name
        ``"family.name"``.
    function
        Pure function of one response: values in, one float out, ``nan`` where undefined.
    columns
        Which column of a responses frame each argument takes: ``{"answer": "references"}``.
    higher_is_better
        Direction.
    bounds
        Lowest and highest value; but for ``beyond``, if it is given.
    source
        Paper and equation, or repository and commit.
    options
        Keyword options that choose a variant, with their defaults; they become part of the signature.
    binary
        Whether the only values are 0 and 1; such means get Wilson intervals.
    evidence
        Optional function of the same arguments that says in words what decided the value.
    columnar
        Optional twin that takes whole columns (a list an argument) and gives an array of the same values, faster.
    condition
        Why a response that there is can have no value by definition; of a metric in `METRICS` such responses are no part of
        its n.
    variants
        What each option's values mean, a sentence each, the default first: ``{"variant": {"a": "...", "b": "..."}}``. An
        option that takes other values too says under the key ``...`` which.
    undefined
        When a response with all that the metric needs has no value; a sentence, which begins with "Never" if none is known.
    beyond
        Where a value can lie outside the bounds, which then hold for all other responses: "more where ...".
    optional_under
        Arguments that the metric needs except under some options: ``{"documents_sentences": {"variant": "guide"}}``. Every
        other argument is needed if and only if it has no default.
    """

    name: str
    function: Callable[..., float]
    columns: Mapping[str, str]
    higher_is_better: bool
    bounds: tuple[float, float]
    source: str
    options: Mapping[str, Any] = field(default_factory=dict)
    binary: bool = False
    evidence: Callable[..., str] | None = None
    columnar: Callable[..., Any] | None = None
    condition: str = ""
    variants: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    undefined: str = ""
    beyond: str = ""
    optional_under: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping):
            raise InputError(
                f"Metric(columns=...) needs a mapping of arguments to columns; got {self.columns!r:.60}; write "
                "{'response': 'response'}, {argument: column}"
            )

    def signature(self, options: Mapping[str, Any], **marks: Any) -> str:
        """One line that pins a value: version, metric, options and what else changes it.

        >>> words = Metric("own.words", len, {"response": "response"}, False, (0, 1000), "here", options={"variant": "a"})
        >>> words.signature({"variant": "b"}, lang="en").split("|", 1)[1]
        'metric:own.words|variant:b|lang:en'
        """
        parts = {"ragnb": __version__, "metric": self.name, **self.options, **options, **marks}
        return "|".join(f"{key}:{_spelled(value)}" for key, value in parts.items() if value is not None)


def _spelled(value: Any) -> Any:
    """Lists and mappings, such as a list of phrases, in JSON."""
    if not isinstance(value, list | tuple | Mapping):
        return value
    return json.dumps(value, ensure_ascii=False).replace("|", "\\u007c")
