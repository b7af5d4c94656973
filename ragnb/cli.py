"""Command-line interface: the functions of ragnb, applied to files."""

import argparse
import json
import math
import re
import sys
from collections.abc import Callable
from inspect import getdoc
from pathlib import Path
from typing import Any, NoReturn

import ragnb
from ragnb.errors import InputError
from ragnb.markup import spelled
from ragnb.suggestions import did_you_mean
from ragnb.version import __version__

FORMATS = ("text", "markdown", "latex", "html", "json")

# ---- commands ----------------------------------------------------------------------------------


def score(arguments: argparse.Namespace) -> str:
    """Score the responses of a file and summarise each metric.

    example:
      ragnb score predictions.jsonl --metrics answer.f1 answer.exact_match --by system language --out scores.parquet
    """
    scores = _scores(arguments)
    summary = ragnb.summarize(
        scores, by=arguments.by, cluster=arguments.cluster, confidence_level=arguments.level
    )
    if arguments.out:
        ragnb.write_table(scores, arguments.out)
    _draw(summary, arguments)
    return _table(summary, arguments)


def compare(arguments: argparse.Namespace) -> tuple[str, int]:
    """Compare systems that answered the same questions.

    Pass one file with a column `system`, or one file per system.
    With --fail-if-worse, the exit code is 1 if a system is worse than the baseline, 3 if the data
    cannot decide it, and 0 otherwise. Unusable input has the exit code 2.

    example:
      ragnb compare plain.jsonl reranked.jsonl -m f1 --baseline plain --fail-if-worse 0.02
    """
    smallest = arguments.fail_if_worse
    if smallest is not None and arguments.baseline is None:
        raise InputError("--fail-if-worse needs --baseline, the system to compare with")
    if smallest is not None and not 0 <= smallest < math.inf:
        raise InputError(f"--fail-if-worse must be a number of at least 0, got {smallest}")
    scores = _scores(arguments)
    progress("comparing")
    names = ("baseline", "by", "cluster", "method", "unpaired", "correction")
    options = {name: getattr(arguments, name) for name in names}
    table = ragnb.compare(scores, **options, confidence_level=arguments.level)
    _draw(table, arguments)
    code = 0 if smallest is None else _gate(table, scores, smallest)
    return _table(table, arguments), code


def changes(arguments: argparse.Namespace) -> tuple[str, int]:
    """Compare two runs of the same questions, before and after a change of the prompt or the model.

    Each run is a store of replies, or a file of responses. With --fail-if-worse, the exit code is 1 if
    the answers became worse, 3 if the data cannot decide it, and 0 otherwise. Unusable input has the
    exit code 2.

    example:
      ragnb changes last_week.sqlite today.sqlite --examples questions.jsonl -m contains --fail-if-worse 0.02
    """
    smallest = arguments.fail_if_worse
    if smallest is not None and not 0 <= smallest < math.inf:
        raise InputError(f"--fail-if-worse must be a number of at least 0, got {smallest}")
    names = [name for names in arguments.metrics for name in names.split(",") if name]
    progress("comparing")
    result = _with_options(
        ragnb.changes,
        arguments.before,
        arguments,
        after=arguments.after,
        metric=[_metric(name) for name in names] or None,
        examples=arguments.examples,
        systems=arguments.systems,
        by=arguments.by,
        cluster=arguments.cluster,
        confidence_level=arguments.level,
    )
    _draw(result, arguments)
    code = 0 if smallest is None else _gate_of_changes(result, smallest, arguments.unpaired)
    return _report(result, result.comparisons, arguments), code


def _gate_of_changes(result: Any, smallest: float, unpaired: str) -> int:
    """The exit code of a comparison of two runs; it cannot decide if answers are missing afterwards."""
    if result.comparisons.empty:
        print("cannot decide: no answer has a score in both runs", file=sys.stderr)
        return 3
    code = _gate(result.comparisons, result.scores, smallest)
    is_lost = result.unpaired["side"] == "only before"
    n_lost = int(result.unpaired.loc[is_lost, "n"].sum())
    if n_lost and unpaired == "error":
        print(
            f"cannot decide: {n_lost:,} {'question has' if n_lost == 1 else 'questions have'} an answer "
            "only before; with --unpaired drop, they are left out",
            file=sys.stderr,
        )
        return code or 3
    return code


def _gate(table: Any, scores: Any, smallest: float) -> int:
    """Print each loss of at least ``smallest`` and each comparison that decides nothing.

    The exit code is 1 after a loss, otherwise 3 if a comparison cannot show a loss, and else 0.
    """
    losses, undecided = [], []
    for row in table.to_dict("records"):
        if problem := _undecided(row, smallest):
            undecided.append(
                f"cannot decide whether {row['system']} is worse than {row['baseline']} in "
                f"{row['metric']}: {problem}"
            )
        elif _is_loss(row, smallest):
            losses.append(_loss(row, table, scores))
    for sentence in [*losses, *undecided]:
        print(spelled(sentence), file=sys.stderr)
    return 1 if losses else 3 if undecided else 0


def _direction(row: dict[str, Any]) -> int:
    """1 if higher values of the metric are better, and -1 if lower ones are.

    Scores of other tools count as higher is better, because their direction is unknown.
    """
    metric = ragnb.METRICS.get(row["metric"].partition("@")[0])
    return 1 if metric is None or metric.higher_is_better else -1


def _excludes_0(row: dict[str, Any]) -> bool:
    """Whether the interval excludes 0 or, if there is no interval, the exact test rejects."""
    if math.isnan(row["low"]) or math.isnan(row["high"]):
        return bool(row["p_value"] < 1 - row["confidence_level"])
    return bool(row["low"] > 0 or row["high"] < 0)


def _is_loss(row: dict[str, Any], smallest: float) -> bool:
    loss = -_direction(row) * row["difference"]
    # A loss that equals the limit except for rounding error reaches it.
    reaches = loss >= smallest * (1 - 1e-9)
    return bool(loss > 0 and reaches and _excludes_0(row))


def _undecided(row: dict[str, Any], smallest: float) -> str:
    """Say why a comparison cannot show a loss; an empty string if it can, or if it shows one."""
    from ragnb.numbers import percent

    n, level = row["n_clusters"], row["confidence_level"]
    if not row["n_pairs"]:
        return "no question has a value of both"
    if math.isnan(row["difference"]) or math.isnan(row["p_value"]):
        return str(row["warning"] or "the test is undefined")
    if _is_loss(row, smallest):
        return ""
    # The p-value of an exact test if one of the two is worse on every question. The mid-p value is
    # half of it.
    exact = "sign-flip" in row["test"] or "McNemar" in row["test"]
    least = 0.5**n if "mid-p" in row["test"] else 2 * 0.5**n
    if exact and least > 1 - level:
        units = "item" if row["n_pairs"] == n else "cluster"
        return (
            f"with only {n} {units}{'s' * (n != 1)}, even a loss on every {units} would not be "
            f"significant at the {percent(round(1 - level, 12))} level"
        )
    if math.isnan(row["low"]) and row["difference"] and not exact:
        return str(row.get("problem") or "the interval is undefined")
    return ""


def _loss(row: dict[str, Any], table: Any, scores: Any) -> str:
    """One sentence on a loss and the questions behind it."""
    from ragnb.numbers import format_p_value

    values = scores
    for name in table.columns[: table.columns.get_loc("metric") + 1]:
        cell = values[name].isna() if row[name] != row[name] else values[name] == row[name]
        values = values[cell]
    means = values.groupby(["example_id", "system"])["value"].mean().unstack()
    change = _direction(row) * (means[row["system"]] - means[row["baseline"]])
    change = change.dropna().sort_values()
    worst = ", ".join(map(str, change.index[change < 0][:10]))
    limits = f"[{row['low']:.3g}, {row['high']:.3g}]"
    if math.isnan(row["low"]):
        limits = f"({format_p_value(row['p_value'])})"
    return (
        f"{row['system']} is worse than {row['baseline']}: {row['metric']} differs by "
        f"{row['difference']:+.3g} {limits}. "
        f"{(change < 0).sum()} of {len(change)} questions got worse; largest losses: {worst}"
    )


def report(arguments: argparse.Namespace) -> str:
    """Print the report on a benchmark or on a judge.

    example:
      ragnb report answers.jsonl --kind multilingual --option baseline=direct by=language
    """
    responses = _responses(arguments)
    progress("reporting")
    make = getattr(ragnb, f"{arguments.kind}_report")
    result = _with_options(make, responses, arguments, confidence_level=arguments.level)
    tables = result.tables
    if arguments.out:
        for name, table in tables.items():
            ragnb.write_table(table, Path(arguments.out) / f"{name}.csv")
    tables.pop("scores", None)
    _draw(result, arguments)
    if arguments.format == "html":
        return str(result._repr_html_())
    if arguments.format == "json":
        return ragnb.tables.to_json(tables)
    if arguments.format == "text":
        return "\n".join(map(spelled, str(result).split("\n")))
    titled = [f"{name.replace('_', ' ')}\n\n{_table(tables[name], arguments)}" for name in tables]
    return "\n\n".join(titled)


def review(arguments: argparse.Namespace) -> tuple[str, int]:
    """List what could change a conclusion, with its numbers, and what could not be checked.

    The exit code is 1 if there is a finding.

    example:
      ragnb review answers.jsonl
    """
    responses = _responses(arguments)
    progress("reviewing")
    result = ragnb.review(responses, confidence_level=arguments.level)
    code = int(len(result.findings) > 0)
    columns = ["check", "finding", "number", "effect"]
    return _report(result, result.findings[columns], arguments), code


def audit(arguments: argparse.Namespace) -> tuple[str, int]:
    """List problems in a file in RGB's format, such as a negative passage with the answer.

    The exit code is 1 if there is a problem. ragnb.datasets.ISSUES explains the issues.

    example:
      ragnb audit en_refine.json --only negative_holds_answer positive_lacks_answer
    """
    issues = ragnb.datasets.ISSUES
    if unknown := sorted(set(arguments.only) - set(issues)):
        raise InputError(f"--only must be among {', '.join(issues)}, got {', '.join(unknown)}")
    progress(f"auditing {Path(arguments.file).name}")
    examples = ragnb.load_rgb(arguments.file, language=arguments.language)
    problems = ragnb.audit(examples)
    problems = problems[problems["issue"].isin(arguments.only or problems["issue"])]
    if problems.empty and arguments.format == "text":
        return "no problems found", 0
    return _table(problems, arguments), int(len(problems) > 0)


def metrics(arguments: argparse.Namespace) -> str:
    """List the metrics, or print the definitions of those that are named.

    example:
      ragnb metrics f1
    """
    import pandas as pd

    if arguments.name:
        return "\n\n".join(spelled(str(ragnb.definitions(name))) for name in arguments.name)

    rows = [
        {
            "metric": metric.name,
            "better": "higher" if metric.higher_is_better else "lower",
            "options": " ".join(f"{name}={value}" for name, value in metric.options.items()),
            "columns": " ".join(metric.columns.values()),
            "source": metric.source,
        }
        for metric in ragnb.METRICS.values()
    ]
    return _table(pd.DataFrame(rows), arguments)


# ---- arguments ---------------------------------------------------------------------------------


def _setting(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not (name and value):
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, got {text!r}")
    return name, value


_SETTINGS = {
    "nargs": "+", "action": "extend", "default": [], "type": _setting, "metavar": "NAME=VALUE"
}  # fmt: skip
_FILES: dict[str, dict[str, Any]] = {
    "file": {
        "nargs": "+",
        "metavar": "FILE",
        "help": "file of responses, in ragnb's or another tool's format; - is JSON Lines from standard input",
    },
    "--columns": _SETTINGS
    | {"help": "ragnb's name of a column and the name in the file, such as question=q"},
    "--input-format": {
        "metavar": "NAME",
        "help": "format of the files, such as ragas (default: recognised by their content)",
    },
    "--examples": {
        "metavar": "FILE",
        "help": "file with the questions and references of predictions that contain only ids, as in SQuAD",
    },
    "--systems": {
        "nargs": "+",
        "metavar": "COLUMN",
        "help": "names of the columns that each contain the responses of one system",
    },
    "--system": {
        "nargs": "+",
        "metavar": "NAME",
        "help": "name of the system that answered, one for each file (default: the column system, or the name of the file)",
    },
    "--language": {
        "metavar": "CODE",
        "help": "language code of all rows (default: the column language, or identified from the questions)",
    },
    "--alternatives": {
        "action": argparse.BooleanOptionalAction,
        "help": "whether one reference of a list is enough; by default, all of them are needed",
    },
    "--keep-empty": {
        "action": argparse.BooleanOptionalAction,
        "help": "whether an empty response is scored as an answer; by default, it counts as missing",
    },
    "--separator": {
        "metavar": "SIGN",
        "help": "sign between several spellings of a reference in one cell, such as /",
    },
    "--decimal": {
        "choices": (",", "."),
        "metavar": "MARK",
        "help": "decimal mark of numbers in CSV and Excel (default: recognised by the cells of each column)",
    },
    "--sheet": {
        "metavar": "NAME",
        "help": "sheet of an Excel file, by name or by number from 1 (default: the first one with a table)",
    },
}
_FORMAT: dict[str, dict[str, Any]] = {
    "--format": {
        "choices": ("text", "json"),
        "default": "text",
        "help": "format of the output (default: text)",
    },
}
_PRINTING: dict[str, dict[str, Any]] = _FORMAT | {
    "--format": _FORMAT["--format"] | {"choices": FORMATS},
    "--digits": {
        "type": int,
        "choices": range(17),
        "metavar": "N",
        "help": "decimals in markdown, latex and html (default: 2, or as many as the intervals need)",
    },
    "--level": {
        "type": float,
        "default": 0.95,
        "help": "confidence level of the intervals (default: 0.95)",
    },
}
_FIGURE: dict[str, dict[str, Any]] = {
    "--figure": {
        "metavar": "FILE",
        "help": "also save a figure of the result, as .png, .svg or .pdf",
    }
}
_SCORING: dict[str, dict[str, Any]] = {
    "-m --metrics": {
        "nargs": "*",
        "required": True,
        "action": "extend",
        "metavar": "METRIC",
        "help": "names of metrics, separated by spaces or commas; short names such as f1 and em are allowed. "
        "`ragnb metrics` lists all names. Scores that another tool computed have the names of their columns, "
        "such as ragas.faithfulness",
    },
    "--option": _SETTINGS
    | {
        "help": "options of the metrics, such as protocol=released. A value is read as JSON if possible"
    },
    "--by": {
        "nargs": "*",
        "metavar": "COLUMN",
        "help": "columns that define the groups of the summary (default: system, and language, noise_rate and "
        "other conditions if they vary)",
    },
    "--cluster": {
        "metavar": "COLUMN",
        "help": "column that identifies the independent units, such as question_id",
    },
}
COMMANDS: dict[Callable[..., Any], dict[str, dict[str, Any]]] = {
    score: {
        **_FILES,
        **_SCORING,
        "--out": {
            "metavar": "TABLE",
            "help": "save the score of each response as .json, .jsonl, .parquet or .csv",
        },
        **_FIGURE,
        **_PRINTING,
    },
    compare: {
        **_FILES,
        **_SCORING,
        "--baseline": {
            "metavar": "NAME",
            "help": "compare all systems with this one (default: compare every pair)",
        },
        "--method": {
            "default": "auto",
            "help": "method of the test and the interval, one of those of ragnb.compare (default: auto)",
        },
        "--unpaired": {
            "default": "error",
            "help": "what to do with questions that one of the systems did not answer: error (default) or drop",
        },
        "--correction": {
            "default": "holm",
            "help": "correction for multiple tests: holm (default), benjamini-hochberg or bonferroni",
        },
        "--fail-if-worse": {
            "nargs": "?",
            "type": float,
            "const": 0.0,
            "metavar": "DIFFERENCE",
            "help": "exit with code 1 if a system is worse than the baseline by at least this much (default: 0) "
            "and the interval excludes 0 (or, without an interval, the exact test is significant), and with code "
            "3 if no loss is found but a comparison has too few questions to show any",
        },
        **_FIGURE,
        **_PRINTING,
    },
    changes: {
        "before": {"metavar": "BEFORE", "help": "store of replies, or file of responses, before"},
        "after": {"metavar": "AFTER", "help": "store of replies, or file of responses, after"},
        **_SCORING,
        "-m --metrics": _SCORING["-m --metrics"]
        | {
            "required": False,
            "default": [],
            "help": "names of metrics; the first one says which answers flipped (default: people's verdicts, "
            "a judge's, or whether the response contains the reference)",
        },
        "--examples": {
            "metavar": "FILE",
            "help": "file with the questions and their references, one per row, for stores",
        },
        "--systems": {
            "nargs": 2,
            "metavar": "NAME",
            "help": "the system before and the system after, if the runs contain several",
        },
        "--by": _SCORING["--by"]
        | {"help": "columns that define cells, which are compared separately (default: none)"},
        "--fail-if-worse": {
            "nargs": "?",
            "type": float,
            "const": 0.0,
            "metavar": "DIFFERENCE",
            "help": "exit with code 1 if the answers became worse by at least this much (default: 0) and the "
            "interval excludes 0, and with code 3 if the data cannot decide it",
        },
        "--unpaired": {
            "default": "error",
            "choices": ["error", "drop"],
            "help": "whether --fail-if-worse cannot decide if questions have an answer only before (error, the "
            "default), or leaves them out (drop)",
        },
        **_FIGURE,
        **_PRINTING,
    },
    report: {
        **_FILES,
        "--kind": {
            "required": True,
            "choices": ["rgb", "trace", "multilingual", "judge"],
            "help": "kind of report",
        },
        "--option": _SETTINGS
        | {
            "help": "options of the report, such as baseline=direct. A value is read as JSON if possible"
        },
        "--out": {
            "metavar": "FOLDER",
            "help": "save each table of the report as CSV in this folder",
        },
        **_FIGURE,
        **_PRINTING,
    },
    review: {**_FILES, **_PRINTING},
    audit: {
        "file": {
            "metavar": "FILE",
            "help": "file in RGB's format, or the name of a dataset such as sample-en",
        },
        "--language": {
            "metavar": "CODE",
            "help": "language of the questions (default: identified from their text)",
        },
        "--only": {
            "nargs": "+",
            "default": [],
            "metavar": "ISSUE",
            "help": "look only for these issues (default: all)",
        },
        **_FORMAT,
    },
    metrics: {
        "name": {
            "nargs": "*",
            "metavar": "METRIC",
            "help": "name of a metric, or a word for which to search in the names and definitions",
        },
        **_FORMAT,
    },
}
"""Command -> its arguments, as argparse takes them."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors suggest the most similar command, option or choice."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and exit with code 2."""
        choice = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message)
        option = re.search(r"unrecognized arguments: (--\S+)", message)
        hint = ""
        if choice:
            hint = did_you_mean(choice[1], re.findall(r"[\w-]+", choice[2]))
        elif option:
            names = {
                name for options in COMMANDS.values() for key in options for name in key.split()
            }
            hint = did_you_mean(option[1].partition("=")[0], sorted(names))
        super().error(message + hint)


def command_line() -> argparse.ArgumentParser:
    """Return the parser of all commands. Its result contains the function to call as ``command``."""
    style: dict[str, Any] = {
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }
    about = "Evaluate retrieval-augmented generation from files."
    parser = Parser(prog="ragnb", description=about, **style)
    parser.add_argument("--version", action="version", version=f"ragnb {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command, arguments in COMMANDS.items():
        text = getdoc(command) or ""
        short = text.partition("\n")[0]
        subparser = commands.add_parser(command.__name__, help=short, description=text, **style)
        for name, options in arguments.items():
            subparser.add_argument(*name.split(), **options)
        subparser.add_argument(
            "--debug", action="store_true", help="show the traceback of an error"
        )
        subparser.set_defaults(command=command)
    return parser


# ---- input -------------------------------------------------------------------------------------


def _files(arguments: argparse.Namespace) -> tuple[list[str], list[str] | None]:
    """The files, and the systems that were named for them, one for each file."""
    files, systems = arguments.file, arguments.system
    if systems and len(systems) != len(files):
        raise InputError(
            f"--system must be one name per file, got {len(systems)} for {len(files)} files"
        )
    return files, systems


def _responses(arguments: argparse.Namespace) -> Any:
    """The responses of all files in one frame."""
    files, systems = _files(arguments)
    load = ragnb.load_responses  # before the next line, so that Ctrl-C stops the reading
    progress(f"reading {', '.join(Path(file).name for file in files)}")
    if getattr(arguments, "kind", "") == "trace":
        return ragnb.load_ragbench(files[0])
    names = "examples systems language alternatives keep_empty separator decimal sheet".split()
    options = {name: getattr(arguments, name) for name in names}
    options |= {"columns": dict(arguments.columns) or None, "format": arguments.input_format}
    if not systems:
        return load(files if len(files) > 1 else files[0], **options)
    import pandas as pd

    pairs = zip(files, systems, strict=True)
    frames = [load(file, system=name, **options) for file, name in pairs]
    return pd.concat(frames, ignore_index=True)


def _scores(arguments: argparse.Namespace) -> Any:
    """The scores of all responses under each metric that was requested.

    A name that is no metric of ragnb is a score that another tool computed, such as
    ``ragas.faithfulness``.
    """
    from ragnb.scoring.names import suggestion  # with pandas, which --help does not need

    names_of_metrics = [name for names in arguments.metrics for name in names.split(",") if name]
    metrics: dict[str, None] = {}
    foreign: dict[str, str] = {}
    for name in names_of_metrics:
        try:
            full_name = _metric(name)
        except InputError as error:
            foreign[name] = str(error)
            continue
        if full_name.partition("@")[0] in ragnb.METRICS:
            metrics[full_name] = None
        else:
            foreign[name] = f"{name} is no metric of ragnb; {suggestion(name, ragnb.METRICS)}"
    frames = [_foreign_scores(arguments, foreign)] if foreign else []
    if metrics or not foreign:
        responses = _responses(arguments)
        progress(f"scoring {len(responses)} responses under {', '.join(metrics)}")
        frames.append(_with_options(ragnb.score, responses, arguments, metrics=[*metrics]))
    if len(frames) == 1:
        return frames[0]
    import pandas as pd

    return pd.concat(frames, ignore_index=True)


def _foreign_scores(arguments: argparse.Namespace, problems: dict[str, str]) -> Any:
    """The scores that another tool computed. Each has the problem that its name has as a metric."""
    files, systems = _files(arguments)
    columns = dict(arguments.columns) or None
    progress(f"reading {', '.join(problems)}")
    import pandas as pd

    parts = []
    names: list[str | None] = [*systems] if systems else [None] * len(files)
    for file, system in zip(files, names, strict=True):
        try:
            scores = ragnb.load_scores(
                file, columns, metrics=[*problems], system=system, decimal=arguments.decimal
            )
        except InputError as error:
            (name, problem), *_ = problems.items()
            raise InputError(
                f"{problem} It was not found as a score of another tool either: {error}"
            ) from error
        parts.append(scores[scores["metric"].isin(problems)])
        for name, problem in problems.items():
            if name not in set(scores["metric"]):
                metrics = ", ".join(scores["metric"].unique())
                raise InputError(f"{problem} The scores in {file} are {metrics}")
    return pd.concat(parts, ignore_index=True)


def _with_options(
    function: Callable[..., Any], frame: Any, arguments: argparse.Namespace, **more: Any
) -> Any:
    """Call a function with the options of the command line, whose values are JSON or else text."""
    options: dict[str, Any] = {}
    for name, text in arguments.option:
        try:
            options[name] = json.loads(text)
        except ValueError:
            options[name] = text
    try:
        return function(frame, **more, **options)
    except TypeError as error:
        raise InputError(f"--option cannot be used in this way: {error}") from error


def _metric(name: str) -> str:
    """The full name of a metric: ``answer.f1`` for ``f1``, ``answer.exact_match`` for ``em``."""
    from ragnb.scoring.names import possible_metrics

    possible = possible_metrics(name)
    if len(possible) == 1:
        return possible[0]
    can = f" can mean {', '.join(possible)}; use the full name." if possible else ":"
    raise InputError(f"{name}{can} {ragnb.definitions(name).note}".strip())


# ---- output ------------------------------------------------------------------------------------


def _draw(result: Any, arguments: argparse.Namespace) -> None:
    """Write the figure of a result, if one was asked for."""
    if arguments.figure:
        ragnb.figures.save_plot(result, arguments.figure)


def _report(result: Any, table: Any, arguments: argparse.Namespace) -> str:
    """A report in the requested format; `table` is what formats of a single table contain."""
    if arguments.format == "html":
        return str(result._repr_html_())
    if arguments.format == "text":
        return "\n".join(map(spelled, str(result).split("\n")))
    if arguments.format == "json":
        return str(ragnb.tables.to_json(result.tables))
    return _table(table, arguments)


def _table(frame: Any, arguments: argparse.Namespace) -> str:
    """A table in the requested format."""
    options = {}
    if arguments.format in ("markdown", "latex", "html"):
        options["digits"] = arguments.digits
    return str(getattr(ragnb.tables, f"to_{arguments.format}")(frame, **options))


def progress(stage: str = "") -> None:
    """Print what is being done in a line that the next one replaces; on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{spelled(stage)[:70]}", end="", file=sys.stderr, flush=True)
