"""Packages whose names are loaded when they are first used.

Such a package declares its names once, as imports in a block ``if TYPE_CHECKING:``. `face` loads each of
them from its module at its first use. Editors and type checkers read the stub ``__init__.pyi`` next to it,
which ``tools/stubs.py`` writes.
"""

# Tested in tests/test_architecture.py.

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from ragnb.errors import UnknownNameError
from ragnb.suggestions import did_you_mean


def face(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package.

    Modules of the package that have not been imported are loaded in the same way.
    """

    def load(name: str) -> Any:
        """The ``__getattr__`` of the package: import a name from its module."""
        if name.startswith("_"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, name_at_home = _homes(package).get(name, (package, name))
        if home == package:
            return _module_in(package, name)
        value = getattr(import_module(home), name_at_home)
        # From now on, Python finds the name without calling this function.
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        """The ``__dir__`` of the package: its public names, loaded or not."""
        return sorted({*sys.modules[package].__all__, *_homes(package)})

    return load, names


def _module_in(package: str, name: str) -> Any:
    """Import a module of a package; AttributeError if there is no module of this name."""
    module = f"{package}.{name}"
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        hint = _elsewhere(package, name) or did_you_mean(name, _homes(package))
        # With the name "", Python does not add a suggestion of its own.
        problem = UnknownNameError(f"module {package!r} has no attribute {name!r}{hint}", name="")
        raise problem from None


def _elsewhere(package: str, name: str) -> str:
    """The end of an error message that says which other package of ragnb has a name; empty if none has it."""
    root = sys.modules[package.partition(".")[0]]
    places = []
    for module in iter_modules(root.__path__, f"{root.__name__}."):
        if not module.ispkg or module.name == package:
            continue
        if name in _declared_names(module.name):
            places.append(f"{module.name}.{name}")
    return f"; it is {' or '.join(places)}" if places else ""


@cache
def _declared_names(package: str) -> frozenset[str]:
    """The names that a face declares; empty if the package is no face."""
    if package not in sys.modules:
        import_module(package)
    return frozenset(getattr(sys.modules[package], "__all__", ()))


@cache
def _homes(package: str) -> dict[str, tuple[str, str]]:
    """The module of each name that a package declares, and the name that it has there."""
    # The parser is needed only when a name is used, so that importing a package takes no time.
    import ast

    loader: Any = sys.modules[package].__loader__
    homes = {}
    for statement in ast.parse(loader.get_source(package)).body:
        if not isinstance(statement, ast.If) or ast.unparse(statement.test) != "TYPE_CHECKING":
            continue
        for declaration in statement.body:
            if isinstance(declaration, ast.ImportFrom) and declaration.module:
                for alias in declaration.names:
                    homes[alias.asname or alias.name] = declaration.module, alias.name
    return homes
