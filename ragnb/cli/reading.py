"""What a command works on: the responses of its files, their scores, and settings that fit."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, get_type_hints

from ragnb.cli.progress import progress
from ragnb.errors import InputError


def responses_of(arguments: argparse.Namespace) -> Any:
    """The responses of all files in one frame."""
    import pandas as pd

    files, systems = arguments.file, arguments.system or [None] * len(arguments.file)
    if len(systems) != len(files):
        raise InputError(
            f"--system needs a name a file; got {len(systems)} for {len(files)} files; name each or none"
        )
    frames = [_read(arguments, file, system) for file, system in zip(files, systems, strict=True)]
    if not arguments.system:
        _refuse_one_name(files, frames)
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)


def _refuse_one_name(files: list[str], frames: list[Any]) -> None:
    """Without a column `system` a file's name is its system: two files of one name in two folders would be one system."""
    from ragnb.datasets.files import stem

    own = [stem(Path(file)) for file in files]
    named = [
        name for name, frame in zip(own, frames, strict=True) if set(frame["system"]) == {name}
    ]
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise InputError(
            f"several files need names of their own; got {twice} for {named.count(twice)} files; name what answered in "
            "each: --system a b"
        )


def _read(arguments: argparse.Namespace, file: str, system: str | None) -> Any:
    """The responses of one file, or of standard input."""
    progress(f"reading {Path(file).name}")
    if arguments.benchmark:
        return _benchmark(arguments, file)
    return _load(arguments, file, system)


def _load(arguments: argparse.Namespace, file: str | Path, system: str | None) -> Any:
    from ragnb.datasets.predictions import load_responses

    constants = keywords(load_responses, arguments.set)
    own = {name: getattr(arguments, name) for name in ("language", "alternatives", "keep_empty")}
    return load_responses(
        file, _once_each(arguments.columns) or None, system=system, **own, **constants
    )


def _benchmark(arguments: argparse.Namespace, file: str) -> Any:
    from ragnb.datasets.benchmarks import load_evouna, load_ragbench

    names = ("columns", "system", "language", "alternatives", "keep_empty", "set")
    if given := [name.replace("_", "-") for name in names if getattr(arguments, name)]:
        raise InputError(
            f"{arguments.benchmark} needs its own columns; got --{given[0]}; leave it out"
        )
    return load_ragbench(file) if arguments.benchmark == "ragbench" else load_evouna(file)


def scores_of(arguments: argparse.Namespace) -> Any:
    """The scores of all responses under each metric that was asked for."""
    from ragnb.metrics.record import METRICS
    from ragnb.scoring.definitions import lookup
    from ragnb.scoring.scores import score

    metrics = list(dict.fromkeys(arguments.metrics))
    if not metrics:
        raise InputError(
            f"--metrics needs at least one name; got none; choose out of {', '.join(METRICS)}"
        )
    options = fitting(
        [lookup(name).function for name in metrics], keywords(score, arguments.option)
    )
    responses = responses_of(arguments)
    progress(f"scoring {len(responses)} responses under {', '.join(metrics)}")
    return score(responses, metrics, **options)


_ARGUMENTS = ("columns", "language", "metrics", "system")
"""Parameters that have an argument of their own."""


def keywords(function: Callable[..., Any], given: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Settings as keywords of a function, refused where it has no use for them or takes that name for something else."""
    parameters = signature(function).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()):
        wrong = [name for name, _ in given if name in parameters]
        use = f"write --{wrong[0]}" if wrong and wrong[0] in _ARGUMENTS else "leave it out"
    else:
        known = [name for name in list(parameters)[1:] if name != "confidence_level"]
        wrong, use = (
            [name for name, _ in given if name not in known],
            f"choose out of {', '.join(known)}",
        )
    if wrong:
        raise InputError(
            f"{function.__name__} needs settings that it knows; got {wrong[0]!r}; {use}"
        )
    return _once_each(given)


def _once_each(given: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Settings by name, refused where a name is given twice."""
    settings: dict[str, Any] = {}
    for name, value in given:
        if name in settings:
            raise InputError(
                f"{name} is set twice, to {settings[name]!r} and to {value!r}. Set it once."
            )
        settings[name] = value
    return settings


def fitting(functions: Iterable[Callable[..., Any]], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings, refused where their value is not of the kind that the functions say."""
    from pydantic import TypeAdapter, ValidationError

    for hints in map(get_type_hints, functions):
        for name in given.keys() & hints.keys():
            try:
                TypeAdapter(hints[name]).validate_python(given[name])
            except ValidationError as error:
                why = error.errors()[0]["msg"].removeprefix("Input should be ")
                raise InputError(
                    f"the option {name} needs {why}; got {given[name]!r}; write another"
                ) from error
    return given
