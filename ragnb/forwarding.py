"""Real signatures for functions that pass their keyword arguments on to other functions."""

import re
from collections.abc import Callable, Iterator, Sequence
from inspect import Parameter, getdoc, signature
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

# The entry of one or several parameters in a docstring: their names, and the indented lines below.
_ENTRY = re.compile(r"^(\*{0,2}\w.*)\n((?:    .*\n|\n)+)", re.MULTILINE)


def passes_options_to(
    *targets: Callable[..., Any], without: Sequence[str] = ()
) -> Callable[[Function], Function]:
    """Create a decorator that replaces ``**options`` by the keyword arguments of the target functions.

    Jupyter then completes and displays the names and the defaults of these arguments, and the
    docstring describes each of them. The function itself still receives them as ``**options``. If two
    targets have an argument of the same name, the first counts. The arguments in `without` are left out,
    because the function determines them itself.

    >>> def send(text, *, store="replies", budget=None):
    ...     '''Send a text.
    ...
    ...     Parameters
    ...     ----------
    ...     store
    ...         File of replies.
    ...     budget
    ...         Limit in dollars.
    ...     '''
    >>> @passes_options_to(send, without=["budget"])
    ... def send_twice(text, **options):
    ...     '''Send a text twice.'''
    >>> signature(send_twice)
    <Signature (text, *, store='replies')>
    """

    def declare(function: Function) -> Function:
        """Give the function the signature and the docstring with the options of its targets."""
        written_signature = signature(function)
        parameters = {
            name: parameter
            for name, parameter in written_signature.parameters.items()
            if parameter.kind is not Parameter.VAR_KEYWORD
        }
        left_out = {*parameters, *without}
        for target in targets:
            for name, parameter in signature(target).parameters.items():
                if parameter.kind is Parameter.KEYWORD_ONLY and name not in left_out:
                    parameters.setdefault(name, parameter)
        added = [name for name in parameters if name not in written_signature.parameters]
        function.__signature__ = written_signature.replace(parameters=[*parameters.values()])  # type: ignore[attr-defined]
        # Read by the script that writes the stubs.
        function.passes_options_to = targets  # type: ignore[attr-defined]
        function.__doc__ = _with_entries(getdoc(function) or "", _entries_of(targets, added))
        return function

    return declare


def _entries_of(targets: Sequence[Callable[..., Any]], names: Sequence[str]) -> str:
    """The entries of some parameters in the docstrings of the functions that have them."""
    described: set[str] = set()
    entries = []
    for target in targets:
        for heading, text in _entries(getdoc(target) or ""):
            wanted = [name for name in _names(heading) if name in names and name not in described]
            if wanted:
                described.update(wanted)
                entries.append(f"{', '.join(wanted)}\n{text}")
    return "".join(entries)


def _entries(docstring: str) -> Iterator[tuple[str, str]]:
    """Headings and texts of the parameters in a docstring."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", f"{docstring}\n", re.M | re.S
    )
    for entry in _ENTRY.finditer(section[1] if section else ""):
        yield entry[1], f"{entry[2].rstrip()}\n"


def _names(heading: str) -> list[str]:
    return [name.strip().lstrip("*") for name in heading.partition(" : ")[0].split(",")]


def _with_entries(docstring: str, entries: str) -> str:
    """A docstring whose parameters end in further entries, in place of that of ``**options``."""
    without = re.sub(
        r"^\*\*options\n(?:    .*\n|\n(?=    ))+", "", f"{docstring}\n", flags=re.MULTILINE
    ).removesuffix("\n")
    if "\nParameters\n----" not in without:
        return f"{without.rstrip()}\n\nParameters\n----------\n{entries}"
    head, heading, rest = without.partition("\nParameters\n----------\n")
    next_section = re.search(r"^\n\w.*\n---", rest, flags=re.MULTILINE)
    end = next_section.start() if next_section else len(rest)
    return f"{head}{heading}{rest[:end].rstrip()}\n{entries}{rest[end:]}"
