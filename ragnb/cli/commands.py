"""The commands: each calls the functions of the notebook on what its arguments name, and gives the text to print."""

import argparse
from importlib import import_module
from pathlib import Path

from ragnb.cli.printing import printed, printed_report, tables_of
from ragnb.cli.progress import progress
from ragnb.cli.reading import fitting, keywords, responses_of, scores_of
from ragnb.errors import InputError


def score(arguments: argparse.Namespace) -> str:
    """Score the responses of a file and summarize each metric.

    example:
      ragnb score predictions.jsonl --metrics answer.f1 answer.exact_match --by system language --out scores.parquet
    """
    from ragnb.datasets.tables import write_table
    from ragnb.scoring.summaries import summarize

    scores = scores_of(arguments)
    summary = summarize(
        scores, by=arguments.by, cluster=arguments.cluster, confidence_level=arguments.level
    )
    if arguments.out:
        write_table(scores, arguments.out)
    return printed(summary, arguments)


def compare(arguments: argparse.Namespace) -> str:
    """Compare systems that answered the same questions: one file with a column `system`, or one file a system.

    example:
      ragnb compare plain.jsonl reranked.jsonl --metrics answer.f1 --baseline plain
    """
    from ragnb.scoring import comparisons

    scores = scores_of(arguments)
    progress("comparing")
    options = {
        name: getattr(arguments, name)
        for name in ("baseline", "by", "cluster", "method", "unpaired", "correction")
    }
    return printed(
        comparisons.compare(scores, **options, confidence_level=arguments.level), arguments
    )


def report(arguments: argparse.Namespace) -> str:
    """Print a benchmark's own tables, or what a paper says of a judge.

    example:
      ragnb report answers.jsonl --kind multilingual --option baseline=direct by=language
    """
    from ragnb.datasets.tables import write_table

    make = getattr(import_module("ragnb.reports"), f"{arguments.kind}_report")
    if arguments.kind == "trace":
        arguments.benchmark = "ragbench"
    options = fitting([make], keywords(make, arguments.option))
    responses = responses_of(arguments)
    progress("reporting")
    made = make(responses, confidence_level=arguments.level, **options)
    for name, table in tables_of(made).items() if arguments.out else ():
        write_table(table, Path(arguments.out) / f"{name}.csv")
    return printed_report(made, arguments)


def audit(arguments: argparse.Namespace) -> tuple[str, int]:
    """List what a file of RGB hides: noise that holds the answer, too few passages, false answers that hold the true one.

    Exit code 1 when something is found. The issues are those of ragnb.datasets.ISSUES.

    example:
      ragnb audit en_refine.json --only negative_holds_answer positive_lacks_answer
    """
    from ragnb.datasets import auditing
    from ragnb.datasets.benchmarks import load_rgb

    if unknown := [name for name in arguments.only if name not in auditing.ISSUES]:
        raise InputError(
            f"audit --only needs issues out of {', '.join(auditing.ISSUES)}; got {unknown[0]!r}; choose some"
        )
    progress(f"auditing {Path(arguments.file).name}")
    found = auditing.audit(
        load_rgb(arguments.file, language=arguments.language), passage_num=arguments.passages
    )
    found = found[found["issue"].isin(arguments.only)] if arguments.only else found
    if found.empty and arguments.format == "text":
        return "nothing found", 0
    return printed(found, arguments), int(len(found) > 0)


def metrics(arguments: argparse.Namespace) -> str:
    """List the metrics: name, direction, options with their defaults, columns that they read, source.

    example:
      ragnb metrics --format json
    """
    import pandas as pd

    from ragnb.metrics.record import METRICS

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
    return printed(
        pd.DataFrame(rows, columns=["metric", "better", "options", "columns", "source"]), arguments
    )
