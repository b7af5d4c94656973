"""Write the stubs of the faces, which editors and type checkers read: ``python -m tools.stubs``.

The stub of a face has the same names as the face. Most of them are imports. A function is written out
where its source does not show what a caller may pass:

- `ragnb.arguments.accepts` converts arguments. A caller may pass a list where the function gets an array.
- The allowed values of an argument are in `accepts`, too. The stub lists them as a Literal.
- `ragnb.forwarding.passes_options_to` replaces ``**options`` by the arguments of other functions.
- `functools.lru_cache` hides the arguments from type checkers.
"""

import ast
import builtins
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FACES = [
    "ragnb",
    *(f"ragnb.{path.parent.name}" for path in sorted(ROOT.glob("ragnb/*/__init__.py"))),
]
# Kind of an argument -> what a caller may pass.
PASSED = {
    **dict.fromkeys(("scores", "matrix", "values", "labels", "probabilities", "clusters"), "ArrayLike"),
    "rate": "Rate",
}  # fmt: skip
IMPORTS = {
    "ArrayLike": ("numpy.typing", "ArrayLike"),
    "Literal": ("typing", "Literal"),
    "Rate": ("ragnb.arguments", "Rate"),
}
SIMPLE = (str, int, float, bool, type(None))


def path_of(face: str) -> Path:
    """The file of the stub of a face."""
    return ROOT.joinpath(*face.split("."), "__init__.pyi")


@dataclass
class Stub:
    """The imports and the functions of a stub."""

    face: str
    imports: set[str] = field(default_factory=set)
    functions: list[str] = field(default_factory=list)

    def take(self, module: str, name: str, own_name: str) -> None:
        """Import a name; what `__all__` does not contain is public only with ``as``."""
        if module:
            alias = "" if name == own_name else f" as {own_name}"
            self.imports.add(f"from {module} import {name}{alias}")
        else:
            self.imports.add(f"import {name}" + ("" if name == own_name else f" as {own_name}"))

    def text(self) -> str:
        """The file, formatted."""
        names = import_module(self.face).__all__
        lines = [
            f'"""What `{self.face}` contains. Written by ``python -m tools.stubs``."""',
            *sorted(self.imports),
            *self.functions,
            f"__all__ = {names!r}",
        ]
        ruff = [sys.executable, "-m", "ruff"]
        text = "\n".join(lines) + "\n"
        for step in (["check", "--fix", "--quiet", "--select=I"], ["format", "--quiet"]):
            command = [*ruff, *step, "--stdin-filename", str(path_of(self.face)), "-"]
            text = subprocess.run(
                command, input=text, capture_output=True, text=True, check=True
            ).stdout
        return text


def stub_of(face: str) -> str:
    """The text of the stub of a face."""
    package = import_module(face)
    stub = Stub(face)
    homes = dict(declared_names(face))
    for name, (module, name_there) in homes.items():
        if module in ("ragnb", face) and name not in package.__all__:
            stub.imports.add(f"from {module} import {name_there} as {name}")
            continue
        value = getattr(package, name)
        if inspect.isfunction(value) and is_written_out(value):
            stub.functions.append(written_out(stub, name, value))
        else:
            stub.take(module, name_there, name)
    for name in sorted({*package.__all__} - {*homes}):
        stub.functions.insert(0, f"{name}: {constant_type(getattr(package, name))}")
    return stub.text()


def constant_type(value: Any) -> str:
    """The type of a constant that a face defines itself."""
    if isinstance(value, tuple):
        return f"tuple[{type(value[0]).__name__}, ...]"
    return type(value).__name__


# ---- functions -----------------------------------------------------------------------------------


def kinds_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The kinds of the arguments that a function converts or checks."""
    return getattr(function, "kinds", {})


def is_written_out(function: Callable[..., Any]) -> bool:
    """Whether the source does not show what a caller may pass."""
    kinds = kinds_of(function).values()
    converts = any(isinstance(kind, tuple) or (isinstance(kind, str) and kind in PASSED) for kind in kinds)  # fmt: skip
    is_cached = hasattr(getattr(function, "__wrapped__", None), "cache_info")
    return converts or is_cached or hasattr(function, "passes_options_to")


def written_out(stub: Stub, name: str, function: Callable[..., Any]) -> str:
    """The declaration of a function, with all that a caller may pass."""
    signature = inspect.signature(function)
    arguments, has_star = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            has_star = True
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            arguments.append("*")
            has_star = True
        arguments.append(argument(stub, function, parameter))
    source = source_of(function)
    returns = annotation(stub, source, source.definition.returns)
    return f"def {name}({', '.join(arguments)}) -> {returns}: ..."


def argument(stub: Stub, function: Callable[..., Any], parameter: inspect.Parameter) -> str:
    """An argument as the stub has it."""
    owner = owner_of(function, parameter.name)
    kind = kinds_of(owner).get(parameter.name)
    if isinstance(kind, tuple) and not {*kind} <= {True, False, None}:
        written, word = f"Literal[{', '.join(map(repr, kind))}]", "Literal"
        may_be_none = parameter.default is None and None not in kind
    elif isinstance(kind, str) and kind in PASSED:
        written = word = PASSED[kind]
        may_be_none = parameter.default is None
    else:
        source = source_of(owner)
        written, word = annotation(stub, source, source.annotations[parameter.name]), ""
        may_be_none = False  # the annotation says so
    if word:
        stub.take(*IMPORTS[word], word)
    if may_be_none:
        written += " | None"
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = ""
    if parameter.default is not parameter.empty:
        default = f" = {parameter.default!r}" if type(parameter.default) in SIMPLE else " = ..."
    return f"{stars}{parameter.name}: {written}{default}"


def owner_of(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function whose source has an argument: the function itself, or one that it passes options to."""
    if name in source_of(function).annotations:
        return function
    for target in getattr(function, "passes_options_to", ()):
        if name in inspect.signature(target).parameters:
            return owner_of(target, name)
    raise LookupError(f"{function.__name__} has no argument {name}")


# ---- what the source says ------------------------------------------------------------------------


@dataclass
class Source:
    """The definition of a function in its module."""

    module: str
    definition: ast.FunctionDef
    annotations: dict[str, ast.expr]


def source_of(function: Callable[..., Any]) -> Source:
    """The definition of a function, without its decorators."""
    plain = inspect.unwrap(function)
    for node in tree_of(plain.__module__).body:
        if isinstance(node, ast.FunctionDef) and node.name == plain.__name__:
            arguments = node.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            every += [one for one in (arguments.vararg, arguments.kwarg) if one]
            return Source(plain.__module__, node, {one.arg: one.annotation for one in every})
    raise LookupError(f"{plain.__name__} is not in {plain.__module__}")


def annotation(stub: Stub, source: Source, node: ast.expr) -> str:
    """An annotation as it is written; its names are imported."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.parse(node.value, mode="eval").body
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    for name in names:
        if hasattr(builtins, name):
            continue
        module, name_there = dict(imported_names(source.module)).get(name, (source.module, name))
        stub.take(module, name_there, name)
    return ast.unparse(node)


@cache
def tree_of(module: str) -> ast.Module:
    """The parsed source of a module."""
    file = sys.modules[module].__file__
    return ast.parse(Path(file).read_text("utf-8"))


def imported_names(module: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Names that a module imports, each with its module and its name there. ``import x`` has no module."""
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, (node.module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name, ("", alias.name)


def declared_names(face: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Names that a face imports from the package."""
    for name, (module, name_there) in imported_names(face):
        if module.partition(".")[0] == "ragnb" and module != "ragnb.faces":
            yield name, (module, name_there)


if __name__ == "__main__":
    for face in FACES:
        path_of(face).write_text(stub_of(face), encoding="utf-8")
