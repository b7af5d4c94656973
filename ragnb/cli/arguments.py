"""What each command is called with."""

import argparse
import json
from inspect import getdoc
from typing import Any, NoReturn

from ragnb.cli.commands import audit, compare, metrics, report, score
from ragnb.markup import spelled
from ragnb.version import __version__

FORMATS = ("text", "markdown", "latex", "html", "json")
Setting = tuple[str, Any]


class _Parser(argparse.ArgumentParser):
    """A parser whose errors can command no terminal."""

    def error(self, message: str) -> NoReturn:
        super().error(spelled(message))


def command_line() -> _Parser:
    """The parser of all commands; what it parses has the function to call as ``command``."""
    style: dict[str, Any] = {
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }
    parser = _Parser(
        prog="ragnb", description="Evaluate retrieval-augmented generation from files.", **style
    )
    parser.add_argument("--version", action="version", version=f"ragnb {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command, add_arguments in COMMANDS.items():
        text = getdoc(command) or ""
        own = commands.add_parser(
            command.__name__, help=text.split("\n")[0], description=text, **style
        )
        add_arguments(own)
        own.set_defaults(command=command)
    return parser


def _add_score(parser: _Parser) -> None:
    _add_scoring(parser)
    parser.add_argument(
        "--out",
        metavar="TABLE",
        help="write the score of each response as .jsonl, .jsonl.gz or .parquet",
    )
    _add_printing(parser)


def _add_compare(parser: _Parser) -> None:
    _add_scoring(parser)
    parser.add_argument(
        "--baseline",
        metavar="NAME",
        help="the system that all others are compared with; else every pair",
    )
    parser.add_argument(
        "--method", default="auto", help="test and interval, see ragnb.compare (default: auto)"
    )
    parser.add_argument(
        "--unpaired",
        default="error",
        help="what to do with questions that one system lacks: error, drop",
    )
    parser.add_argument(
        "--correction", default="holm", help="holm (default), benjamini-hochberg or bonferroni"
    )
    _add_printing(parser)


def _add_scoring(parser: _Parser) -> None:
    _add_files(parser)
    parser.add_argument(
        "--metrics",
        nargs="*",
        required=True,
        action="extend",
        metavar="METRIC",
        help="see `ragnb metrics`",
    )
    _add_option(parser, "variants of the metrics, such as protocol=released")
    parser.add_argument(
        "--by",
        nargs="*",
        metavar="COLUMN",
        help="columns whose values stand apart (default: conditions)",
    )
    parser.add_argument(
        "--cluster", metavar="COLUMN", help="column of what is independent, such as question_id"
    )


def _add_report(parser: _Parser) -> None:
    _add_files(parser)
    parser.add_argument(
        "--kind",
        required=True,
        choices=["rgb", "trace", "multilingual", "judge"],
        help="which report",
    )
    _add_option(
        parser,
        "settings of the report, such as protocol=released, by=language, judge=judged_correct",
    )
    parser.add_argument(
        "--out", metavar="FOLDER", help="write each table of the report as CSV, too"
    )
    _add_printing(parser)


def _add_audit(parser: _Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file of RGB, or a name such as sample-en")
    parser.add_argument(
        "--language",
        metavar="CODE",
        help="language of the questions (default: identified from their text)",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="ISSUE",
        help="the issues that matter (default: all)",
    )
    parser.add_argument(
        "--passages",
        type=int,
        default=5,
        metavar="N",
        help="passages a context should show (default: 5)",
    )
    _add_format(parser, ("text", "json"))


def _add_option(parser: _Parser, what: str) -> None:
    parser.add_argument(
        "--option",
        nargs="+",
        action="extend",
        default=[],
        type=_typed,
        metavar="NAME=VALUE",
        help=f"{what}; JSON or text",
    )


def _add_files(parser: _Parser) -> None:
    parser.add_argument(
        "file",
        nargs="+",
        metavar="FILE",
        help="responses: JSON Lines, Parquet, CSV; -: lines of JSON",
    )
    several: dict[str, Any] = {
        "nargs": "+",
        "action": "extend",
        "default": [],
        "metavar": "NAME=VALUE",
    }
    parser.add_argument(
        "--columns",
        type=_setting,
        **several,
        help="what ragnb and the file call a column: question=q",
    )
    parser.add_argument(
        "--set",
        type=_constant,
        **several,
        help="columns with one value for all: task=noise passage_num=5",
    )
    parser.add_argument(
        "--system",
        nargs="+",
        metavar="NAME",
        help="what answered, one a file (default: column system)",
    )
    parser.add_argument(
        "--language",
        metavar="CODE",
        help="language of all rows (default: column language, or identified from the questions)",
    )
    parser.add_argument(
        "--alternatives",
        action=argparse.BooleanOptionalAction,
        help="whether any text of a list of references will do, or (default) all are needed, as in RGB",
    )
    parser.add_argument(
        "--keep-empty",
        action=argparse.BooleanOptionalAction,
        help="whether an empty response in CSV is an empty answer, which is scored, or (default) missing",
    )
    parser.add_argument(
        "--benchmark", choices=["ragbench", "evouna"], help="the file is one of this benchmark"
    )


def _add_printing(parser: _Parser) -> None:
    parser.add_argument(
        "--level", type=float, default=0.95, help="confidence level of intervals (default: 0.95)"
    )
    _add_format(parser, FORMATS)


def _add_format(parser: _Parser, formats: tuple[str, ...]) -> None:
    parser.add_argument(
        "--format", choices=formats, default=formats[0], help=f"default: {formats[0]}"
    )
    parser.add_argument(
        "--digits",
        type=int,
        choices=range(17),
        metavar="N",
        help="decimals (default: 2, or as many as intervals need)",
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


COMMANDS = {
    score: _add_score,
    compare: _add_compare,
    report: _add_report,
    audit: _add_audit,
    metrics: lambda parser: _add_format(parser, ("text", "json")),
}
