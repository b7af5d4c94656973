"""Definition of a metric: the class `Metric` and the decorator that registers a metric."""

# Tested in tests/metrics/test_declaration.py.

import inspect
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, get_args

from ragnb.arguments import accepts, accepts_fields
from ragnb.errors import InputError, UnknownMetricError
from ragnb.metrics.declaration import (
    Argument,
    Column,
    Function,
    Option,
    arguments_of,
    declared,
    with_checks,
    with_section,
)
from ragnb.suggestions import did_you_mean
from ragnb.version import __version__


class Metrics(dict[str, "Metric"]):
    """Metrics by name. It prints the names, and suggests similar names for an unknown one."""

    def __missing__(self, name: str) -> "Metric":
        hint = did_you_mean(name, self) or "; ragnb.definitions() lists all names"
        raise UnknownMetricError(f"there is no metric {name!r}{hint}")

    def __repr__(self) -> str:
        return f"{len(self)} metrics: {', '.join(self)}"


# What lowers the value of a metric of correctness even if the answer is right.
EXTRA_WORDS = "extra words"
OTHER_WORDS = "other words"
MISSING_PARTS = "missing parts"
REFUSALS = "words of refusal"
PUNISHED = (EXTRA_WORDS, OTHER_WORDS, MISSING_PARTS, REFUSALS)

# The metrics of ragnb by name. The decorator `metric` adds them when `ragnb.metrics` is imported.
METRICS = Metrics()


class Calls(list[Mapping[str, Any]]):
    """Arguments of a metric for many responses.

    Attributes
    ----------
    shared
        What metrics that read the same columns have computed from the arguments, so that the next one
        need not do it again.
    requested
        Name and options of each metric that reads these columns in the same call of `score`. A metric can
        compute the others together with itself, and keep their values in ``shared``.
    """

    def __init__(
        self,
        calls: Iterable[Mapping[str, Any]] = (),
        requested: Sequence[tuple[str, Mapping[str, Any]]] = (),
    ) -> None:
        super().__init__(calls)
        self.shared: dict[Any, Any] = {}
        self.requested = requested


@accepts_fields
@dataclass(frozen=True, slots=True)
class Metric:
    """Definition of a metric: its function, inputs, options, range and source.

    To use a custom metric, pass your own `Metric` to `ragnb.score`. `ragnb.summarize` treats a
    metric that is not in `METRICS` as binary if all of its values are 0 or 1.

    Attributes
    ----------
    name : str
        Name of the form ``'family.name'``.
    function : callable
        Pure function that takes the fields of one response and returns a float. It returns NaN if
        the metric is undefined for this response.
    columns : mapping of str to str
        For each argument of the function, the column of the responses that contains it, such as
        ``{'answer': 'references'}``.
    higher_is_better : bool
        Whether a higher value is better.
    bounds : tuple of (float, float)
        Lowest and highest possible value. Exceptions are described in ``beyond``.
    source : str
        Where the metric is defined: paper and equation, or repository and commit.
    options : mapping, default={}
        Options of the function, as keyword arguments, with their defaults. They select a variant
        of the metric.
    binary : bool, default=False
        Whether 0 and 1 are the only values. If so, the default interval of the mean is the Wilson
        interval.
    evidence : callable or None, default=None
        Function that takes the same arguments and options and explains the value in words.
    reason : callable or None, default=None
        Function that takes the same arguments and options and says briefly why the value is NaN.
        By default, the reason is taken from ``condition`` or ``undefined``.
    of_many : callable or None, default=None
        Function that computes the values of many responses at once. It takes a list with one
        mapping per response, from the arguments in ``columns`` to their values. Options are
        keyword arguments. It must return the same values as ``function``.
    condition : str, default=''
        Why the metric does not apply to some responses, such as "the question is answerable". If
        this is the reason for a NaN, the response is not counted in the sample size n.
    variants : mapping, default={}
        For each option, a mapping from its values to a sentence that describes the value. The
        default comes first. The key ``Ellipsis`` describes all other values.
    undefined : str, default=''
        Condition under which the value is NaN. The text starts with "Only if" if a missing input
        is the only cause, and with "If" otherwise.
    beyond : str, default=''
        Explanation of values outside the bounds, such as "more if keys are repeated".
    optional_under : mapping, default={}
        For each argument that is optional only under certain options, the values that these
        options must have, such as ``{'response_sentences': {'variant': 'guide'}}``. All other
        arguments are required unless the function has a default for them.
    punishes : tuple of str, or None, default=None
        For a metric of correctness, what lowers its value even if the answer is right: some of
        ``PUNISHED``. It is empty for verdicts of people and judges. None if the metric does not
        measure correctness.
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
    punishes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping):
            raise InputError(
                "columns must be a mapping from arguments to columns, such as "
                f"{{'response': 'response'}}, got {self.columns!r:.60}"
            )

    def __call__(self, *values: Any, **fields: Any) -> float:
        """Compute the metric for one response.

        Parameters
        ----------
        *values
            Arguments of the function, in its order: in most cases the response and its references.
        **fields
            Arguments of the function by their names or by the names of their columns, and options.

        Returns
        -------
        float
            Value of the metric; NaN if it is undefined.

        Examples
        --------
        >>> METRICS["answer.f1"]("in Oslo", "Oslo"), METRICS["answer.exact_match"](
        ...     response="Oslo", references=[["Oslo", "Kristiania"]]
        ... )
        (0.6666666666666666, 1.0)
        """
        arguments = {column: argument for argument, column in self.columns.items()}
        named = {arguments.get(name, name): value for name, value in fields.items()}
        return self.function(*values, **{**self.options, **named})

    def signature(self, options: Mapping[str, Any], **marks: Any) -> str:
        """Return the signature of a score: a line of text that says how the score was computed.

        The signature contains the version of ragnb, the name of the metric, its options, and
        `marks`. Entries whose value is None are left out.

        Parameters
        ----------
        options : mapping
            Options that replace the defaults of the metric.
        **marks
            Additional properties of the score, such as ``lang='en'``.

        Returns
        -------
        str
            Entries of the form ``name:value``, separated by ``|``.

        Examples
        --------
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
        """Explain briefly why the value for these arguments and options is NaN.

        Parameters
        ----------
        **call
            Arguments and options of the function.

        Returns
        -------
        str
            The result of ``reason`` if there is such a function; otherwise ``condition`` or, if it
            is empty, the first clause of ``undefined``.

        Examples
        --------
        >>> METRICS["language.rlc"].why_undefined(response="42", language="de", variant="unicode")
        'the response contains no letters'
        """
        reason = self.reason(**call) if self.reason else self.condition
        if reason:
            return reason
        # "If the response is empty; never under lbrag." becomes "the response is empty".
        first_clause = re.split("[;.]", self.undefined)[0]
        # The first "If" or "Only if" is deleted, and each further "if" after a comma or after "or".
        reason = re.sub(r"^If |^Only if |(?<=,|r) if\b", "", first_clause)
        return reason or "the metric gives no value"

    def needs(self, argument: str, options: Mapping[str, Any] | None = None) -> bool:
        """Return whether an argument of the function is required under the given options.

        Parameters
        ----------
        argument : str
            Name of the argument.
        options : mapping or None, default=None
            Options that replace the defaults of the metric.

        Returns
        -------
        bool
            True if the argument is required. An argument in ``optional_under`` is optional only if
            every option listed for it has the listed value. Any other argument is optional only if
            the function has a default for it.

        Examples
        --------
        >>> METRICS["answer.f1"].needs("response"), METRICS["answer.f1"].needs("language")
        (True, False)
        >>> METRICS["trace.relevance"].needs("documents_sentences", {"variant": "guide"})
        False
        """
        if argument in self.optional_under:
            chosen = {**self.options, **(options or {})}
            # The listed values are texts, so the chosen ones are compared as texts.
            has_listed_values = all(
                str(chosen[name]) == value for name, value in self.optional_under[argument].items()
            )
            return not has_listed_values
        parameter = inspect.signature(self.function).parameters.get(argument)
        return parameter is None or parameter.default is inspect.Parameter.empty


@accepts()
def metric(
    name: str,
    *,
    source: str,
    undefined: str = "",
    higher_is_better: bool = True,
    bounds: tuple[float, float] = (0.0, 1.0),
    of_many: Callable[..., Sequence[float]] | None = None,
    **more: Any,
) -> Callable[[Function], Function]:
    """Register the decorated function as a metric in `METRICS`.

    Columns and options are those in the annotations of the function, see
    `ragnb.metrics.declaration`. The decorated function checks its options, and its docstring has
    the sections *Parameters* and *Returns*.

    Parameters
    ----------
    name : str
        Name of the metric, of the form ``'family.name'``.
    source : str
        Where the metric is defined.
    undefined : str, default=''
        Condition under which the value is NaN, see `Metric`.
    higher_is_better : bool, default=True
        Whether a higher value is better.
    bounds : tuple of (float, float), default=(0.0, 1.0)
        Lowest and highest possible value.
    of_many : callable or None, default=None
        Function that computes the values of many responses at once, see `Metric`.
    **more
        Further attributes of `Metric`.

    Returns
    -------
    callable
        Decorator that returns the completed function.
    """

    def declare(function: Function) -> Function:
        """Add the function to `METRICS` as a metric, and complete its docstring."""
        parameters = inspect.signature(function).parameters
        arguments = arguments_of(function)
        _check_declaration(name, function, arguments)
        columns = {key: column for key, column in arguments.items() if issubclass(column, Column)}
        options = {key: option for key, option in arguments.items() if issubclass(option, Option)}
        column_names = {key: column.column for key, column in columns.items()}
        optional_under = {
            key: column.optional_under
            for key, column in columns.items()
            if column.optional_under is not None
        }
        defaults = {key: parameters[key].default for key in options}
        variants = {key: option.values for key, option in options.items()}
        record = Metric(
            name,
            declared(function),
            column_names,
            higher_is_better,
            bounds,
            source,
            options=defaults,
            variants=variants,
            of_many=with_checks(of_many, arguments) if of_many else None,
            undefined=undefined,
            optional_under=optional_under,
            **more,
        )
        record.function.__doc__ = with_section(record.function, _returns(record))
        METRICS[name] = record
        return cast(Function, record.function)

    return declare


def _check_declaration(
    name: str, function: Callable[..., Any], arguments: Mapping[str, type[Argument]]
) -> None:
    """Raise TypeError, which says what is to do, if the declaration of a metric is incomplete."""
    for key, parameter in inspect.signature(function).parameters.items():
        if key not in arguments or not issubclass(arguments[key], Column | Option):
            raise TypeError(
                f"{name}: the annotation of {key} must say what it is, a Column or an Option, as in "
                f"Annotated[str, Response]; see ragnb.metrics.declaration"
            )
        if issubclass(arguments[key], Option):
            is_keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
            if not is_keyword or parameter.default is inspect.Parameter.empty:
                raise TypeError(f"{name}: the option {key} must be keyword-only and have a default")


def _returns(record: Metric) -> str:
    """The section *Returns* of the docstring of a metric."""
    low, high = record.bounds
    if record.binary:
        values = "1.0 or 0.0"
    elif math.isinf(low) and math.isinf(high):
        values = "A number without bounds"
    elif math.isinf(high):
        values = f"A number of at least {low:g}"
    else:
        values = f"Value in [{low:g}, {high:g}]"
    beyond = f" ({record.beyond})" if record.beyond else ""
    direction = "higher" if record.higher_is_better else "lower"
    sentences = f"{values}{beyond}; {direction} is better."
    undefined = f"{record.undefined[:1].lower()}{record.undefined[1:]}"
    # "Only if" says that a missing input is the only cause.
    missing = " or ".join(f"`{name}`" for name in _can_be_none(record.function))
    if missing and not record.undefined.startswith("Only if"):
        sentences += f" NaN if {missing} is None, and {undefined}"
    elif undefined:
        sentences += f" NaN {undefined}"
    text = textwrap.fill(sentences, 96, initial_indent="    ", subsequent_indent="    ")
    return f"Returns\n-------\nfloat\n{text}"


def _can_be_none(function: Callable[..., Any]) -> list[str]:
    """The required arguments of a function that can be None."""
    return [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is inspect.Parameter.empty
        and type(None) in get_args(parameter.annotation)
    ]


def _text(value: Any) -> Any:
    """Convert lists and mappings, such as a list of phrases, to JSON; keep other values."""
    if not isinstance(value, list | tuple | Mapping):
        return value
    # A bar separates the entries of a signature.
    return json.dumps(value, ensure_ascii=False).replace("|", "\\u007c")
