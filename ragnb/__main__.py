"""ragnb in a terminal: the functions of the notebook, read from files and printed.

``python -m ragnb --help`` lists the commands. Exit codes: 0; 1 when an audit finds something; 2 for input that cannot be
used, with one line that says why; 130 after Ctrl-C; 141 when nobody reads on.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from inspect import Parameter, getdoc, signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn, get_type_hints

from ragnb.errors import InputError, RagnbError
from ragnb.markup import spelled
from ragnb.version import __version__

FORMATS = ("text", "markdown", "latex", "html", "json")
Setting = tuple[str, Any]


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        return _run(argv)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it closes the pipe
        return 141
    except KeyboardInterrupt:
        return 130
    except (RagnbError, OSError) as error:
        print("ragnb:", " ".join(spelled(error).split()), file=sys.stderr)
        return 2


def _run(argv: list[str] | None) -> int:
    try:
        arguments = _parser().parse_args(argv)
        found = arguments.command(arguments)
        _progress()
        text, code = found if isinstance(found, tuple) else (found, 0)
        encoding = sys.stdout.encoding or "utf-8"
        print(text.encode(encoding, "backslashreplace").decode(encoding))
        return code
    finally:
        _progress()
        sys.stdout.flush()


def _progress(stage: str = "") -> None:
    """What is being done, in a line that the next one replaces; on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{spelled(stage)[:70]}", end="", file=sys.stderr, flush=True)


# ---- commands ----------------------------------------------------------------------------------------------------------


def _score(arguments: argparse.Namespace) -> str:
    """Score the responses of a file and summarize each metric.

    example:
      ragnb score predictions.jsonl --metrics answer.f1 answer.exact_match --by system language --out scores.parquet
    """
    from ragnb.datasets.tables import write_table
    from ragnb.scoring import summarize

    scores = _scores(arguments)
    summary = summarize(scores, by=arguments.by, cluster=arguments.cluster, confidence_level=arguments.level)
    if arguments.out:
        write_table(scores, arguments.out)
    return _printed(summary, arguments)


def _compare(arguments: argparse.Namespace) -> str:
    """Compare systems that answered the same questions: one file with a column `system`, or one file a system.

    example:
      ragnb compare plain.jsonl reranked.jsonl --metrics answer.f1 --baseline plain
    """
    from ragnb.scoring import compare

    scores = _scores(arguments, paired=True)
    _progress("comparing")
    options = {name: getattr(arguments, name) for name in ("baseline", "by", "cluster", "method", "unpaired", "correction")}
    return _printed(compare(scores, **options, confidence_level=arguments.level), arguments)


def _report(arguments: argparse.Namespace) -> str:
    """Print a benchmark's own tables, or what a paper says of a judge.

    example:
      ragnb report answers.jsonl --kind multilingual --option baseline=direct by=language
    """
    from ragnb.datasets.tables import write_table

    make = getattr(import_module("ragnb.reports"), f"{arguments.kind}_report")
    if arguments.kind == "trace":
        arguments.benchmark = "ragbench"
    options = _fitting([make], _keywords(make, arguments.option))
    responses = _responses(arguments)
    if arguments.kind == "multilingual":
        _refuse_other_questions(responses)
    _progress("reporting")
    report = make(responses, confidence_level=arguments.level, **options)
    for name, table in _tables(report).items() if arguments.out else ():
        write_table(table, Path(arguments.out) / f"{name}.csv")
    return _printed_report(report, arguments)


def _audit(arguments: argparse.Namespace) -> tuple[str, int]:
    """List what a file of RGB hides: noise that holds the answer, too few passages, false answers that hold the true one.

    Exit code 1 when something is found. The issues are those of ragnb.datasets.ISSUES.

    example:
      ragnb audit en_refine.json --only negative_holds_answer positive_lacks_answer
    """
    from ragnb.datasets.auditing import ISSUES, audit
    from ragnb.datasets.rgb import load_rgb

    if unknown := [name for name in arguments.only if name not in ISSUES]:
        raise InputError(f"audit --only needs issues out of {', '.join(ISSUES)}; got {unknown[0]!r}; choose some")
    _progress(f"auditing {Path(arguments.file).name}")
    found = audit(load_rgb(arguments.file, language=arguments.language), passage_num=arguments.passages)
    found = found[found["issue"].isin(arguments.only)] if arguments.only else found
    if found.empty and arguments.format == "text":
        return "nothing found", 0
    return _printed(found, arguments), int(len(found) > 0)


def _metrics(arguments: argparse.Namespace) -> str:
    """List the metrics: name, direction, options with their defaults, columns that they read, source.

    example:
      ragnb metrics --format json
    """
    import pandas as pd

    from ragnb.scoring import METRICS

    rows = [
        (
            metric.name,
            "higher" if metric.higher_is_better else "lower",
            " ".join(f"{name}={value}" for name, value in metric.options.items()),
            " ".join(metric.columns.values()),
            metric.source,
        )
        for metric in METRICS.values()
    ]
    return _printed(pd.DataFrame(rows, columns=["metric", "better", "options", "columns", "source"]), arguments)


# ---- what is read ------------------------------------------------------------------------------------------------------


def _responses(arguments: argparse.Namespace) -> Any:
    """The responses of all files in one frame."""
    import pandas as pd

    files, systems = arguments.file, arguments.system or [None] * len(arguments.file)
    if len(systems) != len(files):
        raise InputError(f"--system needs a name a file; got {len(systems)} for {len(files)} files; name each or none")
    frames = [_read(arguments, file, system) for file, system in zip(files, systems, strict=True)]
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)


def _read(arguments: argparse.Namespace, file: str, system: str | None) -> Any:
    """The responses of one file, or of standard input."""
    _progress(f"reading {Path(file).name}")
    if arguments.benchmark:
        return _benchmark(arguments, file)
    if file != "-":
        return _load(arguments, file, system)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "stdin.jsonl"
        path.write_bytes(sys.stdin.buffer.read())
        return _load(arguments, path, system)


def _load(arguments: argparse.Namespace, file: str | Path, system: str | None) -> Any:
    from ragnb.datasets.predictions import load_responses

    constants = _keywords(load_responses, arguments.set)
    return load_responses(file, dict(arguments.columns) or None, system=system, language=arguments.language, **constants)


def _benchmark(arguments: argparse.Namespace, file: str) -> Any:
    from ragnb.datasets.evouna import load_evouna
    from ragnb.datasets.ragbench import load_ragbench

    if given := [name for name in ("columns", "system", "language", "set") if getattr(arguments, name)]:
        raise InputError(f"{arguments.benchmark} needs its own columns; got --{given[0]}; leave it out")
    return load_ragbench(file) if arguments.benchmark == "ragbench" else load_evouna(file)


def _scores(arguments: argparse.Namespace, *, paired: bool = False) -> Any:
    from ragnb.scoring import METRICS, score
    from ragnb.scoring.definitions import lookup

    metrics = list(dict.fromkeys(arguments.metrics))
    if not metrics:
        raise InputError(f"--metrics needs at least one name; got none; choose out of {', '.join(METRICS)}")
    options = _fitting([lookup(name).function for name in metrics], _keywords(score, arguments.option))
    responses = _responses(arguments)
    if paired:
        _refuse_other_questions(responses)
    _progress(f"scoring {len(responses)} responses under {', '.join(metrics)}")
    return score(responses, metrics, **options)


def _refuse_other_questions(responses: Any) -> None:
    """Systems are paired by example_id, by default the row's number: it has to mean one question everywhere."""
    if not {"example_id", "question"} <= set(responses):
        return
    item = [name for name in ("example_id", "benchmark", "task", "language") if name in responses]
    asked = responses["question"].map(lambda question: " ".join(str(question).split()), na_action="ignore")
    several = asked.groupby([responses[name] for name in item], dropna=False).nunique()
    if (several > 1).any():
        example = several.reset_index().loc[int(several.argmax()), "example_id"]
        raise InputError(
            f"comparing needs one question an example_id; got {(several > 1).sum()} with several, such as {example}; name "
            "the column of ids, such as --columns example_id=id"
        )


def _keywords(function: Callable[..., Any], given: Iterable[Setting]) -> dict[str, Any]:
    """Settings as keywords of a function, refused where it has no use for them or takes that name for something else."""
    parameters = signature(function).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()):
        wrong, use = [name for name, _ in given if name in parameters], "leave it out"
    else:
        known = [name for name in list(parameters)[1:] if name != "confidence_level"]
        wrong, use = [name for name, _ in given if name not in known], f"choose out of {', '.join(known)}"
    if wrong:
        raise InputError(f"{function.__name__} needs settings that it knows; got {wrong[0]!r}; {use}")
    return dict(given)


def _fitting(functions: Iterable[Callable[..., Any]], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings, refused where their value is not of the kind that the functions say."""
    from pydantic import TypeAdapter, ValidationError

    for hints in map(get_type_hints, functions):
        for name in given.keys() & hints.keys():
            try:
                TypeAdapter(hints[name]).validate_python(given[name])
            except ValidationError as error:
                why = error.errors()[0]["msg"].removeprefix("Input should be ")
                raise InputError(f"the option {name} needs {why}; got {given[name]!r}; write another") from error
    return given


# ---- what is printed ---------------------------------------------------------------------------------------------------


def _printed(frame: Any, arguments: argparse.Namespace) -> str:
    from ragnb.tables import to_html, to_latex, to_markdown
    from ragnb.tables.plain import to_json, to_text

    if arguments.format == "json":
        return to_json(frame)
    if arguments.format == "text":
        return to_text(frame, digits=arguments.digits)
    printers: dict[str, Callable[..., str]] = {"markdown": to_markdown, "latex": to_latex, "html": to_html}
    rows = "system" if "system" in frame else frame.columns[0]
    return printers[arguments.format](frame, rows=rows, digits=arguments.digits)


def _printed_report(report: Any, arguments: argparse.Namespace) -> str:
    from ragnb.tables.plain import to_json

    if arguments.format == "html":
        return str(report._repr_html_())
    if arguments.format == "text" and arguments.kind == "judge":
        return "\n".join(map(spelled, report.lines()))
    tables = {name: table for name, table in _tables(report).items() if name != "scores"}
    if arguments.format == "json":
        return to_json(tables)
    if arguments.format != "text" and arguments.kind in ("trace", "judge"):
        raise InputError(f"--format {arguments.format} needs --kind rgb or multilingual; got {arguments.kind}; use json")
    return "\n\n".join(f"{name.replace('_', ' ')}\n\n{_printed(table, arguments)}" for name, table in tables.items())


def _tables(report: Any) -> dict[str, Any]:
    """The tables of a report that are not empty, by name."""
    import pandas as pd

    named = {name: getattr(report, name) for name in report.__dataclass_fields__}
    return {name: table for name, table in named.items() if isinstance(table, pd.DataFrame) and len(table)}


# ---- what is asked for -------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """A parser whose errors can command no terminal."""

    def error(self, message: str) -> NoReturn:
        super().error(spelled(message))


def _parser() -> _Parser:
    style: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    parser = _Parser(prog="ragnb", description="Evaluate retrieval-augmented generation from files.", **style)
    parser.add_argument("--version", action="version", version=f"ragnb {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command, add_arguments in _COMMANDS.items():
        text = getdoc(command) or ""
        own = commands.add_parser(command.__name__[1:], help=text.split("\n")[0], description=text, **style)
        add_arguments(own)
        own.set_defaults(command=command)
    return parser


def _add_score(parser: _Parser) -> None:
    _add_scoring(parser)
    parser.add_argument("--out", metavar="TABLE", help="write the score of each response as .jsonl, .jsonl.gz or .parquet")
    _add_printing(parser)


def _add_compare(parser: _Parser) -> None:
    _add_scoring(parser)
    parser.add_argument("--baseline", metavar="NAME", help="the system that all others are compared with; else every pair")
    parser.add_argument("--method", default="auto", help="test and interval, see ragnb.compare (default: auto)")
    parser.add_argument("--unpaired", default="error", help="what to do with questions that one system lacks: error, drop")
    parser.add_argument("--correction", default="holm", help="holm (default), benjamini-hochberg or bonferroni")
    _add_printing(parser)


def _add_scoring(parser: _Parser) -> None:
    _add_files(parser)
    parser.add_argument("--metrics", nargs="*", required=True, action="extend", metavar="METRIC", help="see `ragnb metrics`")
    _add_option(parser, "variants of the metrics, such as protocol=released")
    parser.add_argument("--by", nargs="*", metavar="COLUMN", help="columns whose values stand apart (default: conditions)")
    parser.add_argument("--cluster", metavar="COLUMN", help="column of what is independent, such as question_id")


def _add_report(parser: _Parser) -> None:
    _add_files(parser)
    parser.add_argument("--kind", required=True, choices=["rgb", "trace", "multilingual", "judge"], help="which report")
    _add_option(parser, "settings of the report, such as protocol=released, by=language, judge=judged_correct")
    parser.add_argument("--out", metavar="FOLDER", help="write each table of the report as CSV, too")
    _add_printing(parser)


def _add_audit(parser: _Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file of RGB, or a name such as sample-en")
    parser.add_argument("--language", metavar="CODE", help="language of the questions (default: a guess)")
    parser.add_argument("--only", nargs="+", default=[], metavar="ISSUE", help="the issues that matter (default: all)")
    parser.add_argument("--passages", type=int, default=5, metavar="N", help="passages a context should show (default: 5)")
    _add_format(parser, ("text", "json"))


def _add_option(parser: _Parser, what: str) -> None:
    parser.add_argument(
        "--option", nargs="+", action="extend", default=[], type=_typed, metavar="NAME=VALUE", help=f"{what}; JSON or text"
    )


def _add_files(parser: _Parser) -> None:
    parser.add_argument("file", nargs="+", metavar="FILE", help="responses: JSON Lines, Parquet, CSV; -: lines of JSON")
    several: dict[str, Any] = {"nargs": "+", "action": "extend", "default": [], "metavar": "NAME=VALUE"}
    parser.add_argument("--columns", type=_setting, **several, help="what ragnb and the file call a column: question=q")
    parser.add_argument("--set", type=_constant, **several, help="columns with one value for all: task=noise passage_num=5")
    parser.add_argument("--system", nargs="+", metavar="NAME", help="what answered, one a file (default: column system)")
    parser.add_argument("--language", metavar="CODE", help="language of all rows (default: column language, or a guess)")
    parser.add_argument("--benchmark", choices=["ragbench", "evouna"], help="the file is one of this benchmark")


def _add_printing(parser: _Parser) -> None:
    parser.add_argument("--level", type=float, default=0.95, help="confidence level of intervals (default: 0.95)")
    _add_format(parser, FORMATS)


def _add_format(parser: _Parser, formats: tuple[str, ...]) -> None:
    parser.add_argument("--format", choices=formats, default=formats[0], help=f"default: {formats[0]}")
    parser.add_argument(
        "--digits", type=int, choices=range(17), metavar="N", help="decimals (default: 2, or the metric's own)"
    )


def _setting(text: str) -> Setting:
    name, _, value = text.partition("=")
    if not (name and value):
        raise argparse.ArgumentTypeError(f"needs NAME=VALUE; got {text!r}")
    return name, value


def _typed(text: str) -> Setting:
    """A setting whose value is JSON where it reads as such: a number, true, null, a list; else the text itself."""
    name, value = _setting(text)
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def _constant(text: str) -> Setting:
    name, value = _typed(text)
    if isinstance(value, list | dict):
        raise argparse.ArgumentTypeError(f"needs one value for all rows; got {text!r}")
    return name, value


_COMMANDS = {
    _score: _add_score,
    _compare: _add_compare,
    _report: _add_report,
    _audit: _add_audit,
    _metrics: lambda parser: _add_format(parser, ("text", "json")),
}

if __name__ == "__main__":
    sys.exit(main())
