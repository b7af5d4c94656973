"""The record that describes a metric, declared next to the function that computes the metric."""

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ragnb.errors import InputError
from ragnb.version import __version__

Function = TypeVar("Function", bound=Callable[..., float])

# The metrics of ragnb by name. The decorator `metric` adds them when `ragnb.metrics` is imported.
METRICS: dict[str, "Metric"] = {}


@dataclass(frozen=True, slots=True)
class Metric:
    """Definition of a metric. To use a custom metric, pass your own `Metric` to `ragnb.score`.

    `ragnb.summarize` and the tables look up the attributes of a metric by its name in `METRICS`. They
    treat a metric that is not in `METRICS` as binary if all of its values are 0 or 1.

    Attributes
    ----------
    name
        ``"family.name"``.
    function
        Pure function that takes the fields of one response and returns a float, which is NaN if the
        metric is undefined.
    columns
        Mapping from each argument of the function to the column of the responses that contains it,
        such as ``{"answer": "references"}``.
    higher_is_better
        Whether a higher value is better.
    bounds
        Lowest and highest possible value, except in the cases described by ``beyond``.
    source
        Where the metric is defined: paper and equation, or repository and commit.
    options
        Keyword options that select a variant, with their defaults. They are part of the signature
        of a score.
    binary
        Whether 0 and 1 are the only values. If so, the mean is reported with a Wilson interval.
    evidence
        Optional function of the same arguments that explains the value in words.
    reason
        Optional function of the same arguments that says in a few words why the value is NaN. By
        default, the reason is the ``condition`` or the text of ``undefined``.
    of_many
        Optional function that computes the values of many responses at once: it takes a list of
        mappings from the arguments in ``columns`` to their values, and the options. The function of
        one response must give the same value.
    condition
        Reason, as a text, why the metric does not apply to some responses. These responses are not
        counted in n, in contrast to those that are ``undefined``.
    variants
        Mapping from each option to a mapping from its values, default first, to a sentence. The
        key ``Ellipsis`` describes all other values.
    undefined
        Text that says when the value is NaN. It starts with "Only if" if this happens only where an
        input is missing, as in "Only if the verdict is missing."
    beyond
        Text that says when a value can be outside the bounds, such as "more if ...".
    optional_under
        Arguments that are optional for certain values of an option, such as
        ``{"documents_sentences": {"variant": "guide"}}``. All other arguments are required unless
        they have a default.
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
    reason: Callable[..., str] | None = None
    of_many: Callable[..., Sequence[float]] | None = None
    condition: str = ""
    variants: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    undefined: str = ""
    beyond: str = ""
    optional_under: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping):
            raise InputError(
                "columns must be a mapping from arguments to columns, such as "
                f"{{'response': 'response'}}, got {self.columns!r:.60}"
            )

    def signature(self, options: Mapping[str, Any], **marks: Any) -> str:
        """Return the signature of a score: one line with version, metric, options and marks.

        `options` override the defaults of the metric. `marks` are additional properties of the score,
        such as its language.

        >>> words = Metric("own.words", len, {"response": "response"}, False, (0, 1000), "here",
        ...                options={"variant": "a"})
        >>> words.signature({"variant": "b"}, lang="en").split("|", 1)[1]
        'metric:own.words|variant:b|lang:en'
        """
        parts = {"ragnb": __version__, "metric": self.name, **self.options, **options, **marks}
        return "|".join(
            f"{name}:{_text(value)}" for name, value in parts.items() if value is not None
        )

    def why_undefined(self, **call: Any) -> str:
        """Return in a few words why the value for these arguments and options is NaN.

        >>> METRICS["language.rlc"].why_undefined(response="42", language="de", variant="unicode")
        'the response contains no letters'
        """
        if given := (self.reason(**call) if self.reason else self.condition):
            return given
        first = re.split("[;.]", self.undefined)[0]
        return re.sub(r"^If |^Only if |(?<=,|r) if\b", "", first) or "the metric gives no value"

    def needs(self, argument: str, options: Mapping[str, Any] | None = None) -> bool:
        """Return whether an argument is required under the given options."""
        if argument in self.optional_under:
            chosen = {**self.options, **(options or {})}
            return any(
                str(chosen[name]) != value for name, value in self.optional_under[argument].items()
            )
        parameter = inspect.signature(self.function).parameters.get(argument)
        return parameter is None or parameter.default is inspect.Parameter.empty


def metric(
    name: str,
    columns: Mapping[str, str],
    *,
    source: str,
    options: Mapping[str, Mapping[Any, str]] | None = None,
    higher_is_better: bool = True,
    bounds: tuple[float, float] = (0.0, 1.0),
    **more: Any,
) -> Callable[[Function], Function]:
    """Declare the metric that the decorated function computes, and add its record to `METRICS`.

    Parameters
    ----------
    name, columns, source, higher_is_better, bounds, **more
        See `Metric`.
    options
        Mapping from each option to a mapping from its values to a sentence that describes the value
        (`Metric.variants`). The defaults are those of the parameters of the function.
    """

    def declare(function: Function) -> Function:
        parameters = inspect.signature(function).parameters
        defaults = {option: parameters[option].default for option in options or {}}
        METRICS[name] = Metric(
            name,
            function,
            columns,
            higher_is_better,
            bounds,
            source,
            options=defaults,
            variants=options or {},
            **more,
        )
        return function

    return declare


def _text(value: Any) -> Any:
    """Convert lists and mappings, such as a list of phrases, to JSON; keep other values."""
    if not isinstance(value, list | tuple | Mapping):
        return value
    return json.dumps(value, ensure_ascii=False).replace("|", "\\u007c")
