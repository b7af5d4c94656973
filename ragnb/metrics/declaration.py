"""Arguments of metrics, declared once: in the annotations of the function that computes the metric.

An argument is read from a column of the responses (`Column`), or it is an option that selects a
variant of the metric (`Option`). Each is a class, which the annotation contains next to the type::

    class Cutoff(Option):
        \"\"\"Rank cutoff: only the first k passages count.\"\"\"

        values = {None: "The whole list counts.", ...: "Only the first k passages count."}
        must_be = "a whole number of at least 1, or None"

        @classmethod
        def allows(cls, value): ...

    def recall(retrieved: Annotated[Sequence[str], Retrieved], *, k: Annotated[int | None, Cutoff] = None): ...

The decorator `declared` reads the annotations. It adds the section *Parameters* to the docstring,
checks the values of the options in each call, and leaves plain types in the signature. The decorator
`ragnb.metrics.record.metric` also creates the record of the metric, from which `ragnb.definitions`
and docs/metrics.md are made.

Why classes: their docstring is the description of the argument. Editors show it where the name is
written, without running the code, and the package reads the same text when it runs. Editors do not
show a comment, and the package cannot read a string below a variable.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, ClassVar, TypeVar, cast, get_args, get_origin

from ragnb.calls import explained
from ragnb.errors import InputError, check_choice

Function = TypeVar("Function", bound=Callable[..., Any])


class Argument:
    """An argument of a function. The docstring of a subclass describes it.

    Attributes
    ----------
    type_name : str
        Type of the argument in words. By default, the type in the annotation.
    """

    type_name: ClassVar[str] = ""

    @classmethod
    def type_in_words(cls, annotation: Any) -> str:
        """The type of the argument, as docstrings show it."""
        return cls.type_name or _type_in_words(annotation)

    @classmethod
    def description(cls) -> str:
        """The description of the argument in docstrings."""
        return inspect.getdoc(cls) or ""


class Column(Argument):
    """An argument that is read from a column of the responses.

    Attributes
    ----------
    column : str
        Name of the column.
    optional_under : mapping of str to str, or None
        Options under which the column is not required, with the values that they must have. None if
        this depends on nothing but the default of the argument.
    """

    column: ClassVar[str]
    optional_under: ClassVar[Mapping[str, str] | None] = None


class Option(Argument):
    """An option, which selects a variant of a metric. It must be a keyword argument with a default.

    Attributes
    ----------
    values : mapping
        For each value, a sentence that describes it; the default comes first. The key ``Ellipsis``
        describes all other values. Without it, the option has no other values.
    must_be : str
        What a value must be, for the error message, if `allows` restricts the other values.
    """

    values: ClassVar[Mapping[Any, str]] = {}
    must_be: ClassVar[str] = ""

    @classmethod
    def allows(cls, value: Any) -> bool:
        """Whether the option can have a value, if it has other values than those listed."""
        return True

    @classmethod
    def with_values(cls, values: Mapping[Any, str]) -> "type[Option]":
        """The same option with other values, or with other sentences about them."""
        return type(cls.__name__, (cls,), {"values": values, "__doc__": cls.__doc__})

    @classmethod
    def is_restricted(cls) -> bool:
        """Whether there are values that the option cannot have."""
        return bool(cls.must_be) or bool(cls.values and ... not in cls.values)

    @classmethod
    def check(cls, value: Any, name: str) -> None:
        """Raise InputError, in which the option has this name, if it cannot have the value."""
        if ... not in cls.values:
            check_choice(value, tuple(cls.values), name)
        elif not cls.allows(value):
            raise InputError(f"{name} must be {cls.must_be}, got {value!r}")

    @classmethod
    def type_in_words(cls, annotation: Any) -> str:
        """The values of the option, or their type if not all are listed."""
        if ... in cls.values or not cls.values:
            return super().type_in_words(annotation)
        return f"{{{', '.join(map(repr, cls.values))}}}"

    @classmethod
    def description(cls) -> str:
        """The description of the option and of each of its values."""
        items = []
        for value, meaning in cls.values.items():
            name = "other values" if value is ... else f"``{value!r}``"
            items.append(textwrap.fill(f"- {name}: {meaning}", 92, subsequent_indent="  "))
        return "\n".join([super().description(), "", *items])


def arguments_of(function: Callable[..., Any]) -> dict[str, type[Argument]]:
    """For each parameter that has one, the class in its annotation that describes it as an argument."""
    arguments = {}
    for name, parameter in inspect.signature(function).parameters.items():
        # Only an annotation of the form Annotated[type, argument] has metadata.
        for argument in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(argument, type) and issubclass(argument, Argument):
                arguments[name] = argument
    return arguments


def declared(function: Function) -> Function:
    """Complete a function whose arguments are declared.

    The returned function checks its options, has plain types in its signature, and has a section
    *Parameters* in its docstring.
    """
    checking = with_checks(function, arguments_of(function))
    plain = _plain_signature(function)
    checking.__signature__ = plain  # type: ignore[attr-defined]
    checking.__annotations__ = {
        name: parameter.annotation for name, parameter in plain.parameters.items()
    } | {"return": plain.return_annotation}
    checking.__doc__ = with_section(function, _parameters(function))
    return checking


def with_checks(function: Function, arguments: Mapping[str, type[Argument]]) -> Function:
    """The function with a check of the options among its keyword arguments."""
    checks = {
        name: argument.check
        for name, argument in arguments.items()
        if issubclass(argument, Option) and argument.is_restricted()
    }

    # Scores of many responses have the same options, so a value is checked once, not for each response.
    # Before the first check there is no last value. Ellipsis represents this, because None is a value.
    checked_last: dict[str, Any] = {}

    @wraps(function)
    def checking(*args: Any, **kwargs: Any) -> Any:
        """Check the options, and call the function."""
        for name in checks:
            if name in kwargs and kwargs[name] is not checked_last.get(name, ...):
                checks[name](kwargs[name], name)
                checked_last[name] = kwargs[name]
        # An error is explained afterwards, because a check of each response would take time.
        try:
            return function(*args, **kwargs)
        except Exception as error:
            explanation = explained(error, function, args, kwargs)
            if explanation is error:
                raise
            raise explanation from error

    checking.checks_arguments = True  # type: ignore[attr-defined]
    return cast(Function, checking)


# ---- signatures and docstrings -----------------------------------------------------------------


def _plain_signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature with types alone, as help() and Jupyter should show it."""
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=_plain_type(parameter.annotation))
        for parameter in signature.parameters.values()
    ]
    return signature.replace(parameters=parameters)


def _plain_type(annotation: Any) -> Any:
    """The type in an annotation, without the argument that is declared next to it."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _type_in_words(annotation: Any) -> str:
    """A type as it is written in docstrings: ``str or None``."""
    plain = _plain_type(annotation)
    name = plain.__name__ if isinstance(plain, type) else str(plain)
    # The names of modules are left out: "collections.abc.Sequence[str] | None" is "Sequence[str] or None".
    return re.sub(r"\b(collections\.abc|typing)\.", "", name).replace(" | None", " or None")


def _parameters(function: Callable[..., Any]) -> str:
    """The section *Parameters* of a docstring."""
    arguments = arguments_of(function)
    lines = ["Parameters", "----------"]
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in arguments:
            continue
        argument = arguments[name]
        heading = f"{name} : {argument.type_in_words(parameter.annotation)}"
        if parameter.default is not inspect.Parameter.empty:
            heading += f", default={parameter.default!r}"
        lines += [heading, textwrap.indent(argument.description(), "    ")]
    return "\n".join(lines)


def with_section(function: Callable[..., Any], section: str) -> str:
    """The docstring of a function with one more section.

    The section comes before the first section other than *Parameters*, or last if there is none.
    """
    docstring = inspect.getdoc(function) or ""
    first_other_heading = re.search(
        r"^(?!Parameters\n)[A-Z][\w ]*\n-{3,}$", docstring, flags=re.MULTILINE
    )
    place = first_other_heading.start() if first_other_heading else len(docstring)
    parts = [docstring[:place].rstrip(), section, docstring[place:]]
    return "\n\n".join(part for part in parts if part)
