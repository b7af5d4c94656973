"""What is public in the package, and a call of each of it that works: out of its own docstring, or written here."""

import copy
import doctest
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

PACKAGES = "ragnb metrics stats scoring conformal ensemble reports tables datasets annotation prompts".split()
Call = dict[str, Any]
"""Arguments of a call by name; what has no name stands under ``*`` and ``**``."""


def modules() -> Iterator[str]:
    """The package, its parts that say what is public, and each module of those that leave it to their modules."""
    for part in PACKAGES:
        name = part if part == "ragnb" else f"ragnb.{part}"
        package = importlib.import_module(name)
        if hasattr(package, "__all__"):
            yield name
        if part in ("metrics", "stats") or not hasattr(package, "__all__"):
            yield from (found.name for found in pkgutil.iter_modules(package.__path__, f"{name}."))


@cache
def public() -> dict[str, Callable[..., Any]]:
    """Every public function and class of the package by the name of where it is defined."""
    found = {}
    for name in modules():
        module = importlib.import_module(name)
        names = getattr(module, "__all__", None) or [
            n for n, thing in vars(module).items() if not n.startswith("_") and getattr(thing, "__module__", None) == name
        ]
        things = (getattr(module, n) for n in names)
        found |= {
            f"{thing.__module__}.{thing.__qualname__}": thing
            for thing in things
            if callable(thing) and hasattr(thing, "__qualname__")
        }
    return dict(sorted(found.items()))


@cache
def recorded(name: str) -> tuple[Call, ...]:
    """The calls of a function that the examples in its docstring make."""
    function, calls = public()[name], []
    signature = inspect.signature(function)

    @functools.wraps(function)
    def recording(*args: Any, **kwargs: Any) -> Any:
        calls.append(copy.deepcopy(dict(signature.bind(*args, **kwargs).arguments)))
        return function(*args, **kwargs)

    globs = {**vars(importlib.import_module(function.__module__)), function.__name__: recording}
    for example in doctest.DocTestFinder(recurse=False).find(function, function.__name__, globs=globs):
        example.examples = [one for one in example.examples if not one.options.get(doctest.SKIP)]
        doctest.DocTestRunner(verbose=False).run(example, out=lambda text: None, clear_globs=False)
    return tuple(calls)


def made(function: Callable[..., Any], call: Call) -> Any:
    """The result of a call."""
    parameters = inspect.signature(function).parameters
    args, kwargs = [], {}
    for name, value in call.items():
        kind = parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            kwargs |= value
        elif kind is inspect.Parameter.VAR_POSITIONAL:
            args += value
        elif kind is inspect.Parameter.POSITIONAL_ONLY:
            args.append(value)
        else:
            kwargs[name] = value
    return function(*args, **kwargs)
