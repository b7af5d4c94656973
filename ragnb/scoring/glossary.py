"""Definitions of metrics side by side, and the values of metrics on edge cases.

The same name is used for several definitions, which can give different values.
"""

import inspect
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.display import framed, shown
from ragnb.errors import InputError
from ragnb.markup import Markup, tag
from ragnb.metrics.record import METRICS, Metric
from ragnb.prompts.judges import ASKED_FOR
from ragnb.scoring.names import suggestion
from ragnb.scoring.scores import score

# Represents all values of an option that are not listed one by one.
OTHER = "other"
# Style of a column of sentences.
_TEXT = "max-width:46em"


@dataclass(frozen=True, slots=True, repr=False)
class Definitions:
    """Definitions of one or several metrics. One metric prints as a card, several as a table.

    Attributes
    ----------
    metrics
        Their records.
    note
        What to know about the name, such as why there is no such metric.
    """

    metrics: tuple[Metric, ...]
    note: str = ""

    @property
    def frame(self) -> pd.DataFrame:
        """One row per variant: ``metric, option, value, default, meaning`` and more.

        The other columns are ``definition, formula, higher_is_better, lowest, highest, beyond,
        needs, undefined, condition, source`` and ``signature``, which is that of the variant. A
        metric without options has one row, whose ``option`` and ``value`` are None. If an option
        takes more values than those listed, the value of its last row is ``"other"``, and that row
        has no signature.
        """
        rows = [row for metric in self.metrics for row in _rows(metric)]
        if not rows:
            return pd.DataFrame()
        kinds = {"default": bool, "higher_is_better": bool, "lowest": float, "highest": float}
        return shown(pd.DataFrame(rows, dtype=object).astype(kinds))

    def _parts(self) -> tuple[list[str], list[tuple[str, str]]]:
        """The lines above a table, and its rows of a name and a text each.

        For one metric, the rows are facts about it. For several, there is one row per metric.
        """
        above = [self.note] if self.note else []
        if len(self.metrics) != 1:
            return above, [_entry(metric) for metric in self.metrics]
        (metric,) = self.metrics
        return [*above, f"{metric.name}: {definition_of(metric)}"], _facts(metric)

    def __repr__(self) -> str:
        above, rows = self._parts()
        lines = [textwrap.fill(text, 110) for text in above]
        layout: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
        for name, text in rows:
            beginning = f"  {name:22}  "
            indent = " " * len(f"  {'':22}  ")
            lines.append(
                textwrap.fill(
                    text, 110, initial_indent=beginning, subsequent_indent=indent, **layout
                )
            )
        return "\n".join(lines)

    def _repr_html_(self) -> Markup:
        above, rows = self._parts()
        # Texts are sentences, so their column is wider than those of other tables.
        cells = [
            tag("tr", tag("th", name, style="white-space:nowrap"), tag("td", text, style=_TEXT))
            for name, text in rows
        ]
        return framed(*(tag("p", text) for text in above), tag("table", *cells))


@accepts()
def definitions(metric: str | Metric | None = None) -> Definitions:
    """Look up the definition of a metric, with its options, undefined cases and source.

    Parameters
    ----------
    metric
        Full name (``"answer.f1"``), or a word of names (``"correction"``), a family (``"trace"``),
        an abbreviation of the field (``"EM"``) or a name that other tools use
        (``"groundedness"``), which may mean several metrics or none. Or a `Metric` record of your
        own. By default all built-in metrics.

    Returns
    -------
    Definitions
        Prints itself. ``frame`` has a row for each variant. ``note`` says how tools define
        the name differently, or why ragnb has no such metric.

    Raises
    ------
    InputError
        If no metric has this name. The message suggests the most similar name.

    >>> [metric.name for metric in definitions("F1").metrics]
    ['answer.f1', 'answer.rouge_l', 'parts.span_f1']
    >>> definitions("language.rlc_lid")  # doctest: +ELLIPSIS
    language.rlc_lid: Language identification (RLC_LID): ...
      better                  higher
      range                   0 or 1
      needs                   response, language
      candidates=None         Default. ...
      signature               ragnb:...|metric:language.rlc_lid
    """
    if metric is None:
        return Definitions(tuple(METRICS.values()))
    if isinstance(metric, Metric):
        return Definitions((metric,))
    name = metric.casefold().partition("@")[0]
    if name in METRICS:
        return Definitions((METRICS[name],))
    # Terms are written with single spaces, but people also write "f1-score" and "exact_match".
    name = re.sub(r"[\s_-]+", " ", name.strip())
    for term in _terms():
        if name in term["terms"]:
            meant = tuple(METRICS[full_name] for full_name in term["metrics"])
            return Definitions(meant, term["note"])
    matches = tuple(record for record in METRICS.values() if name in _words(record))
    if not matches:
        raise InputError(
            f"{metric!r} is not the name of a metric, a word of such a name, or a known abbreviation; "
            f"{suggestion(name, METRICS)}"
        )
    return Definitions(matches)


@accepts()
def edge_cases(
    metrics: str | Metric | Sequence[str | Metric] | None = None, **options: Any
) -> pd.DataFrame:
    """Score edge cases under each metric: a refusal, an empty response, an empty context and others.

    Parameters
    ----------
    metrics
        Metrics in the same form as for `score`; by default all of ragnb.
    **options
        Options of the metrics, as for `score`. One variant may score a case as 0, and another may
        leave it unscored.

    Returns
    -------
    DataFrame
        One row per metric and one column per case. A cell is the value that `score` gives, or a
        text with ``nan`` and the reason. The cases contain verdicts of judges and labels of
        annotators where a metric needs them.

    >>> cells = edge_cases("answer.f1").loc["answer.f1"]
    >>> cells[["refusal", "empty response", "no response"]].tolist()
    [0.0, 0.0, 'nan: no response']
    """
    file = resources.files("ragnb.scoring") / "data" / "edge_cases.json"
    data = json.loads(file.read_text("utf-8"))
    # Each case is the ordinary response with some changes.
    rows = [data["ordinary"] | changes for changes in data["cases"].values()]
    responses = pd.DataFrame(rows, dtype=object)
    # A column or an array of names cannot be tested for truth.
    chosen = list(METRICS) if metrics is None else metrics
    scores = score(responses, chosen, **options)
    reasons = scores["reason"].astype(object)
    cells = scores["value"].astype(object)
    cells = cells.where(reasons.isna(), "nan: " + reasons.fillna(""))
    # The scores of the metrics follow each other, each with one row per case.
    names = scores["metric"].iloc[:: len(rows)].rename(None)
    table = cells.to_numpy().reshape(-1, len(rows))
    return shown(pd.DataFrame(table, names, list(data["cases"])))


# ---- what is known about one metric ------------------------------------------------------------


@cache
def _terms() -> list[dict[str, Any]]:
    """Names that people search for, the metrics that they may mean, and a note."""
    file = resources.files("ragnb.scoring") / "data" / "terms.json"
    return list(json.loads(file.read_text("utf-8")))


def _words(metric: Metric) -> set[str]:
    """The words by which a metric is found: those of its name, and the names in its definition."""
    family, _, short_name = metric.name.partition(".")
    words = short_name.split("_")
    # Names in the definition have capital letters, such as F1, RLC_LID and ROUGE. The first word, which
    # always has one, is left out, because nothing precedes it.
    capitalised = re.findall(r"(?<=\W)[A-Z]\w*", definition_of(metric))
    names = [family, short_name, " ".join(words), *words, *capitalised]
    return {name.casefold() for name in names}


def definition_of(metric: Metric) -> str:
    """Return the definition of a metric in one line: the first line of its function's docstring."""
    docstring = inspect.getdoc(metric.function) or ""
    first_line = docstring.partition("\n")[0]
    return first_line.replace("`", "") or "(its function has no docstring)"


def formula_of(metric: Metric) -> str:
    """The sentences that contain a formula, from the beginning of a metric's docstring.

    The text is empty if there is none.

    >>> formula_of(METRICS["retrieval.recall"])
    'recall@k = (number of relevant passages among the first k) / (number of relevant passages).'
    """
    docstring = inspect.getdoc(metric.function) or ""
    # The part above the first section, whose heading is underlined, and above the examples.
    beginning = re.split(r"\n\w[\w ]*\n---|\n>>>", docstring)[0]
    # A formula may also end in a semicolon.
    sentences = re.split(r"(?<=[.;])\s+", " ".join(beginning.split()))
    formulas = [sentence for sentence in sentences if " = " in sentence]
    return " ".join(formulas).replace("`", "")


def _needs(metric: Metric) -> str:
    """The columns that a metric needs, and those that it reads if the responses have them."""
    needed: list[str] = []
    optional: list[str] = []
    for argument, column in metric.columns.items():
        if metric.needs(argument):
            needed.append(column)
        else:
            optional.append(column)
    text = ", ".join(needed)
    return f"{text}; optional: {', '.join(optional)}" if optional else text


def _variants(metric: Metric) -> Iterator[tuple[str, Any, bool, str]]:
    """For each value of each option: the option, the value, whether it is the default, its meaning."""
    for option, default in metric.options.items():
        # A metric of your own may have options without descriptions.
        meanings = metric.variants.get(option, {default: "(not described)"})
        for value, meaning in meanings.items():
            yield option, OTHER if value is ... else value, value == default, meaning


def _rows(metric: Metric) -> Iterator[dict[str, Any]]:
    """The rows of a metric in `Definitions.frame`."""
    variants: list[tuple[Any, Any, bool, str]] = list(_variants(metric))
    if not variants:
        # A metric without options has one row, too.
        variants = [(None, None, True, "")]
    definition = definition_of(metric)
    formula = formula_of(metric)
    lowest, highest = metric.bounds
    needs = _needs(metric)
    for option, value, default, meaning in variants:
        options = {option: value} if option else {}
        # `OTHER` means many values, and each has its own signature.
        signature = None if value == OTHER else metric.signature(options)
        yield {
            "metric": metric.name,
            "option": option,
            "value": value,
            "default": default,
            "meaning": meaning,
            "definition": definition,
            "formula": formula,
            "higher_is_better": metric.higher_is_better,
            "lowest": lowest,
            "highest": highest,
            "beyond": metric.beyond,
            "needs": needs,
            "undefined": metric.undefined,
            "condition": metric.condition,
            "source": metric.source,
            "signature": signature,
        }


def _facts(metric: Metric) -> list[tuple[str, str]]:
    """The lines of a metric's card."""
    variants = [
        (f"{option}={value}", f"{'Default. ' if default else ''}{meaning}")
        for option, value, default, meaning in _variants(metric)
    ]
    template = ASKED_FOR.get(metric.name)
    facts = [
        ("formula", formula_of(metric)),
        ("better", "higher" if metric.higher_is_better else "lower"),
        ("range", _range(metric)),
        ("needs", _needs(metric)),
        *variants,
        ("computed by", _place(metric.function)),
        ("undefined", metric.undefined),
        ("excluded from n", metric.condition),
        ("source", metric.source),
        ("prompt", f"{template.id}: {template.system} {template.user}" if template else ""),
        ("signature", metric.signature({})),
    ]
    return [(name, text) for name, text in facts if text]


def _range(metric: Metric) -> str:
    """The possible values of a metric in words."""
    low, high = metric.bounds
    if metric.binary:
        return "0 or 1"
    if math.isinf(high):
        return "any number" if math.isinf(low) else f"{low:g} or more"
    beyond = f"; {metric.beyond}" if metric.beyond else ""
    return f"{low:g} to {high:g}{beyond}"


def _place(function: Callable[..., Any]) -> str:
    """Full name of a function; for one of ragnb, with its file and the line where it begins."""
    name = f"{function.__module__}.{function.__qualname__}"
    if not name.startswith("ragnb."):
        return name
    lines, first_line = inspect.getsourcelines(function)
    # The source begins with the decorators, and readers look for the line with "def".
    n_decorator_lines = next(n for n, line in enumerate(lines) if line.startswith("def "))
    file = f"{function.__module__.replace('.', '/')}.py"
    return f"{name}, {file} line {first_line + n_decorator_lines}"


def _entry(metric: Metric) -> tuple[str, str]:
    """The name of a metric, and its definition with the options and their values."""
    values: dict[str, list[str]] = {}
    for option, value, _, _ in _variants(metric):
        values.setdefault(option, []).append(str(value))
    options = [f"{option}: {', '.join(texts)}" for option, texts in values.items()]
    return metric.name, f"{definition_of(metric)} {'; '.join(options)}".rstrip()
