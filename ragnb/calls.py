"""What is wrong with the arguments of a call that Python could not carry out."""

# Tested in tests/test_mistakes.py.

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from inspect import BoundArguments, Parameter, Signature, signature
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ragnb.columns import require_columns, require_frame
from ragnb.errors import CallError, InputError, RagnbError
from ragnb.printing import described, with_article
from ragnb.suggestions import did_you_mean

# Types whose names differ from what a message calls them.
_WORDS = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "a path",
    type(None): "None",
    Mapping: "a mapping such as a dict",
    dict: "a dict",
    Sequence: "a list",
    Iterable: "a list",
    list: "a list",
    tuple: "a tuple",
    Callable: "a function",
}
# Functions that return the objects which other functions take.
_SOURCES = {
    "RgbReport": "ragnb.rgb_report",
    "JudgeReport": "ragnb.judge_report",
    "TraceReport": "ragnb.trace_report",
    "MultilingualReport": "ragnb.multilingual_report",
    "RiskCoverageReport": "ragnb.reports.risk_coverage_report",
    "DefinitionComparison": "ragnb.compare_definitions",
    "PairedTable": "ragnb.stats.paired_table",
    "Figure": "ax.figure",
    "Store": "ragnb.Store(path)",
}
# Number of types from which a message does not list them all.
_MOST_TYPES = 5
# A missing column, in the messages of pandas: "['x'] not in index", "Index(['x'], dtype=...) ...".
_QUOTED = re.compile(r"'([^']+)'")
_SHAPES = re.compile(r"length|shape|dimension|scalar|broadcast|inconsistent numbers", re.IGNORECASE)
_MISSING_COLUMNS = re.compile(r"not in index|None of \[|not found in axis|columns not found")


# ---- the call --------------------------------------------------------------------------------------


def problem_of_call(
    name: str,
    function_signature: Signature,
    values: Sequence[Any],
    keywords: Mapping[str, Any],
    kinds: Mapping[str, Any],
) -> str:
    """Say which argument of a call is unknown or missing, and what its author may have meant."""
    parameters = [
        parameter
        for parameter in function_signature.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    named = [
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    listed = f"; its arguments are {', '.join(named)}" if named else "; it has no arguments"
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    unknown = [argument for argument in keywords if argument not in named]
    if unknown and not takes_any:
        return f"{name} has no argument {unknown[0]!r}{did_you_mean(unknown[0], named) or listed}"
    by_position = [
        parameter.name
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    is_method = bool({"self", "cls"} & {*function_signature.parameters})
    n_values = len(values) - is_method
    needed = [
        parameter.name
        for parameter in parameters
        if parameter.name in named
        and parameter.default is parameter.empty
        and parameter.name not in [*by_position[:n_values], *keywords]
    ]
    if needed:
        choices = kinds.get(needed[0])
        allowed = f": one of {', '.join(map(repr, choices))}" if isinstance(choices, tuple) else ""
        return f"{name} needs the argument {needed[0]!r}{allowed}"
    takes_all = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    if n_values > len(by_position) and not takes_all:
        return (
            f"{name} takes {len(by_position)} argument{'s' * (len(by_position) != 1)} without a name, "
            f"got {n_values}; name the others{listed}"
        )
    return ""


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function, or of the class that it initialises, as a user writes it."""
    return function.__qualname__.removesuffix(".__init__")


# ---- an error of Python that came out of a call --------------------------------------------------


def explained(
    error: Exception,
    function: Callable[..., Any],
    values: Sequence[Any],
    keywords: Mapping[str, Any],
) -> Exception:
    """Return the error of ragnb that explains an error of Python by the arguments of the call.

    It is the error itself if it is one of ragnb, or if no argument differs from what the function
    declares: then the fault is elsewhere.
    """
    if isinstance(error, RagnbError):
        _shorten(error, [*values, *keywords.values()])
        return error
    called = signature(function)
    try:
        bound = called.bind(*values, **keywords)
    except TypeError:
        problem = problem_of_call(name_of(function), called, values, keywords, {})
        return CallError(problem) if problem else error
    problem = (
        _invalid_record(function, error)
        or _wrong_type(function, bound)
        or _wrong_element(function, bound)
        or _not_numeric(function, bound, error)
        or _missing_column(function, bound, error)
        or _nothing_in_it(function, bound)
        or _different_lengths(bound, error)
        or _missing_file(error)
    )
    return InputError(problem) if problem else error


def _shorten(error: RagnbError, values: Sequence[Any]) -> None:
    """Replace values that a message shows over several lines, such as a whole frame."""
    message = str(error)
    if "\n" not in message:
        return
    for value in values:
        message = message.replace(repr(value), described(value))
    first_line, line_break, _ = message.partition("\n")
    error.args = (f"{first_line} …" if line_break else message,)


def _wrong_type(function: Callable[..., Any], bound: BoundArguments) -> str:
    """Say which argument is of another type than the function declares; empty if none is."""
    types = declared_types(function)
    for name, value in _passed(bound):
        allowed = types.get(name)
        if allowed is None or _is_instance(value, allowed):
            continue
        if len(allowed) == 1 and _is_frame(allowed[0]):
            return _not_a_frame(value, name_of(function))
        choices = [repr(choice) for kind in allowed for choice in _choices(kind)]
        words = [_in_words(kind) for kind in allowed if not _choices(kind)]
        if len(words) > _MOST_TYPES:
            words = [words[0], "another result of ragnb"]
        if choices:
            words.insert(0, f"one of {', '.join(choices)}")
        return f"{name} must be {' or '.join(words)}, got {described(value)}"
    return ""


def _wrong_element(function: Callable[..., Any], bound: BoundArguments) -> str:
    """Say which list contains something else than the function declares; empty if none does."""
    elements = _declared_elements(function)
    for name, value in _passed(bound):
        allowed = elements.get(name)
        if allowed is None or isinstance(value, str | Mapping) or not hasattr(value, "__iter__"):
            continue
        wrong = [member for member in value if not _is_instance(member, allowed)]
        if wrong:
            words = " or ".join(_in_words(kind) for kind in allowed)
            return (
                f"{name} must be a list whose elements are {words}, got {described(wrong[0])} in it"
            )
    return ""


def _not_numeric(function: Callable[..., Any], bound: BoundArguments, error: Exception) -> str:
    """Say which argument contains a text that is no number, if that caused the error."""
    text = re.match(r"could not convert string to float: (.*)", str(error))
    if not text:
        return ""
    for name, value in _passed(bound):
        if advice := column_advice(value):
            return f"{name_of(function)}: {name} must be numeric ({advice})"
    return f"{name_of(function)} needs numbers, got {text[1]:.80}"


def column_advice(value: Any) -> str:
    """Say what to pass instead of a whole frame, or of a column of texts; empty for anything else."""
    if hasattr(value, "columns") and hasattr(value, "dtypes"):
        numeric = [str(column) for column, dtype in value.dtypes.items() if dtype.kind in "biuf"]
        example = f", such as frame[{numeric[0]!r}]" if numeric else ""
        return f"got a whole DataFrame; pass one of its columns{example}"
    if type(value).__name__ == "Series" and value.dtype.kind not in "biuf":
        return f"got the column {value.name!r}, which contains texts"
    return f"got the text {described(value)}" if isinstance(value, str) else ""


def _different_lengths(bound: BoundArguments, error: Exception) -> str:
    """Say how many values each argument has, if the error is about shapes and they differ."""
    if not isinstance(error, ValueError | IndexError) or not _SHAPES.search(str(error)):
        return ""
    lengths = {}
    for name, value in _passed(bound):
        if hasattr(value, "columns") or isinstance(value, str):
            return f"{name} must be one value per item, {column_advice(value)}"
        if hasattr(value, "__len__") and not isinstance(value, Mapping):
            lengths[name] = len(value)
    if len(set(lengths.values())) < 2:
        return ""
    counts = ", ".join(f"{n} for {name}" for name, n in lengths.items())
    return f"{' and '.join(lengths)} must have one value per item, got {counts}"


def _missing_column(function: Callable[..., Any], bound: BoundArguments, error: Exception) -> str:
    """Say which column a frame lacks, if that caused the error."""
    names: list[Any] = []
    if isinstance(error, KeyError) and error.args:
        text = str(error.args[0])
        names = _QUOTED.findall(text) if _MISSING_COLUMNS.search(text) else [error.args[0]]
    elif isinstance(error, AttributeError) and error.name:
        names = [error.name]
    for argument, value in _passed(bound):
        if not _is_frame(type(value)):
            continue
        missing = [name for name in names if isinstance(name, str) and name not in value.columns]
        # A column that was named in the call is missing because its name is wrong.
        named = [name for name in missing if name in _texts(bound)]
        if named:
            columns = [str(column) for column in value.columns]
            hint = did_you_mean(named[0], columns) or f"; its columns are {', '.join(columns[:20])}"
            return f"{name_of(function)}: {argument} has no column {named[0]!r}{hint}"
        if missing and isinstance(error, KeyError):
            try:
                require_columns(value, missing, name_of(function))
            except InputError as problem:
                return str(problem)
    return ""


def _nothing_in_it(function: Callable[..., Any], bound: BoundArguments) -> str:
    """Say which argument is empty; empty if none is."""
    for name, value in _passed(bound):
        if _is_frame(type(value)) and not len(value):
            return f"{name_of(function)}: {name} must have at least one row, got an empty frame"
        if isinstance(value, list | tuple) and not value:
            return f"{name_of(function)}: {name} must not be empty, got {described(value)}"
    return ""


def _invalid_record(function: Callable[..., Any], error: Exception) -> str:
    """Say what a record checked by pydantic needs, which lists several problems over several lines."""
    errors: Any = getattr(error, "errors", None)
    if type(error).__name__ != "ValidationError" or not callable(errors):
        return ""
    first = errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    reason = first["msg"].removeprefix("Value error, ")
    return (
        f"{name_of(function)}: {f'{place}: ' if place else ''}{reason}, got {first['input']!r:.80}"
    )


def _missing_file(error: Exception) -> str:
    """Say which file cannot be used."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"the file {str(error.filename)!r} cannot be used ({error.strerror})"
    return ""


def _passed(bound: BoundArguments) -> list[tuple[str, Any]]:
    """The arguments of a call by name, without the object of a method."""
    return [(name, value) for name, value in bound.arguments.items() if name not in ("self", "cls")]


def _texts(bound: BoundArguments) -> set[str]:
    """The texts among the arguments of a call, also in lists and mappings."""
    texts: set[str] = set()
    for _, value in _passed(bound):
        members = value if isinstance(value, list | tuple) else [value]
        if isinstance(value, Mapping):
            members = [*value, *value.values()]
        texts |= {member for member in members if isinstance(member, str)}
    return texts


# ---- types -----------------------------------------------------------------------------------------


@cache
def declared_types(function: Callable[..., Any]) -> dict[str, tuple[Any, ...]]:
    """The types that each parameter of a function allows; only parameters whose types can be checked."""
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError):  # a type that is imported only for type checkers
        hints = {}
    types = {}
    for name, parameter in signature(function).parameters.items():
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) or name not in hints:
            continue
        allowed = _members(hints[name])
        if Any not in allowed and all(isinstance(kind, type) or _choices(kind) for kind in allowed):
            is_optional = parameter.default is None and type(None) not in allowed
            types[name] = (*allowed, type(None)) if is_optional else allowed
    return types


@cache
def _declared_elements(function: Callable[..., Any]) -> dict[str, tuple[Any, ...]]:
    """The types that the elements of each list may have; only lists whose types can be checked."""
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError):
        hints = {}
    elements = {}
    for name, hint in hints.items():
        parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        lists = [part for part in parts if get_origin(part) in (Sequence, Iterable, list)]
        if len(lists) == 1:
            allowed = _members(get_args(lists[0])[0])
            if Any not in allowed and all(isinstance(kind, type) for kind in allowed):
                elements[name] = allowed
    return elements


def _members(annotation: Any) -> tuple[Any, ...]:
    """The classes and literals of an annotation, such as ``str | Sequence[str] | None``."""
    if get_origin(annotation) in (Union, UnionType):
        return tuple(member for part in get_args(annotation) for member in _members(part))
    if get_origin(annotation) is Literal:
        return (annotation,)
    return (get_origin(annotation) or annotation,)


def _choices(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) is Literal else ()


def _is_frame(kind: Any) -> bool:
    """Whether a class is a data frame of pandas, which is not imported here."""
    return any(base.__name__ == "DataFrame" for base in getattr(kind, "__mro__", ()))


def _is_instance(value: Any, allowed: Sequence[Any]) -> bool:
    """Whether a value is of one of the allowed types, read generously."""
    for kind in allowed:
        if _choices(kind):
            is_fitting = value in _choices(kind)
        elif kind in (int, float):
            is_fitting = isinstance(value, Integral if kind is int else Real)
        elif kind is bool:
            is_fitting = is_truth_value(value)
        elif kind in (Sequence, list, tuple):
            # An array or a column has the elements of a list; a text does not.
            is_fitting = hasattr(value, "__getitem__") and hasattr(value, "__len__")
            is_fitting &= not isinstance(value, str | bytes | Mapping) and not _is_frame(
                type(value)
            )
        elif kind is Iterable:
            is_fitting = hasattr(value, "__iter__") and not isinstance(value, str | bytes | Mapping)
            is_fitting &= not _is_frame(type(value))
        elif kind is Mapping:
            is_fitting = isinstance(value, Mapping) or type(value).__name__ == "Series"
        elif kind.__module__.startswith("numpy"):
            is_fitting = hasattr(value, "__len__") and not isinstance(value, str | Mapping)
        else:
            is_fitting = isinstance(value, kind)
        if is_fitting:
            return True
    return False


def is_truth_value(value: Any) -> bool:
    """Whether a value is True or False, of Python or of numpy, or one of the numbers 0 and 1."""
    is_numpy = type(value).__name__ in ("bool", "bool_")
    return is_numpy or (isinstance(value, int) and value in (0, 1))


def _in_words(kind: Any) -> str:
    if kind in _WORDS:
        return _WORDS[kind]
    if kind.__module__.startswith("numpy"):
        return "an array or list of numbers"
    source = _SOURCES.get(kind.__name__)
    return with_article(kind.__name__) + (f", the result of {source}" if source else "")


def _not_a_frame(value: Any, what: str) -> str:
    try:
        require_frame(value, what)
    except InputError as problem:
        return str(problem)
    return ""
