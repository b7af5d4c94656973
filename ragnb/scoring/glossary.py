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
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.markup import Markup, tag
from ragnb.metrics.record import METRICS, Metric
from ragnb.prompts.judges import ASKED_FOR
from ragnb.scoring.names import suggestion
from ragnb.scoring.scores import score

# Replaces the values of an option that cannot all be listed.
OTHER = "other"


@dataclass(frozen=True, slots=True, repr=False)
class Definitions:
    """Definitions of one or several metrics. One metric prints as a card, several as a table.

    Attributes
    ----------
    metrics
        Their records.
    note
        What to know about the name that was asked for, such as why there is no such metric.
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
        """The lines above a table, and its rows: facts about one metric, or one row per metric."""
        above = [self.note] if self.note else []
        if len(self.metrics) != 1:
            return above, list(map(_entry, self.metrics))
        return [*above, f"{self.metrics[0].name}: {definition_of(self.metrics[0])}"], _facts(
            self.metrics[0]
        )

    def __repr__(self) -> str:
        above, rows = self._parts()
        lines = [textwrap.fill(text, 110) for text in above]
        layout: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
        for name, text in rows:
            lead = f"  {name:22}  "
            lines.append(
                textwrap.fill(text, 110, initial_indent=lead, subsequent_indent=" " * 26, **layout)
            )
        return "\n".join(lines)

    def _repr_html_(self) -> Markup:
        above, rows = self._parts()
        cells = [tag("tr", tag("td", name), tag("td", text)) for name, text in rows]
        return tag("div", *(tag("p", text) for text in above), tag("table", *cells))


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
    name = re.sub(r"[\s_-]+", " ", name.strip())
    for term in _terms():
        if name in term["terms"]:
            return Definitions(tuple(METRICS[one] for one in term["metrics"]), term["note"])
    found = tuple(one for one in METRICS.values() if name in _words(one))
    if not found:
        raise InputError(
            f"{metric!r} is not the name of a metric, a word of such a name, or a known abbreviation; "
            f"{suggestion(name, METRICS)}"
        )
    return Definitions(found)


def edge_cases(
    metrics: str | Metric | Sequence[str | Metric] | None = None, **options: Any
) -> pd.DataFrame:
    """Score edge cases under each metric: a refusal, an empty response, an empty context and others.

    Parameters
    ----------
    metrics
        As `score` takes them; by default all that ship.
    **options
        Variants, as `score` takes them. One definition may score a case as 0 and another not at all.

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
    edges = json.loads(file.read_text("utf-8"))
    rows = [edges["ordinary"] | changes for changes in edges["cases"].values()]
    scores = score(pd.DataFrame(rows, dtype=object), metrics or list(METRICS), **options)
    why = scores["reason"].astype(object)
    cells = scores["value"].astype(object).where(why.isna(), "nan: " + why.fillna(""))
    names = scores["metric"].iloc[:: len(rows)].rename(None)
    table = cells.to_numpy().reshape(-1, len(rows))
    return shown(pd.DataFrame(table, names, list(edges["cases"])))


# ---- what is known about one metric ------------------------------------------------------------


@cache
def _terms() -> list[dict[str, Any]]:
    """Names that people search for, the metrics that they may mean, and a note."""
    file = resources.files("ragnb.scoring") / "data" / "terms.json"
    return list(json.loads(file.read_text("utf-8")))


def _words(metric: Metric) -> set[str]:
    """Return the short names of a metric: the words of its name, and names in its definition."""
    family, _, own = metric.name.partition(".")
    capitalised = re.findall(r"(?<=\W)[A-Z]\w*", definition_of(metric))
    words = own.split("_")
    return {word.casefold() for word in (family, own, " ".join(words), *words, *capitalised)}


def definition_of(metric: Metric) -> str:
    """Return the definition of a metric in one line: the first line of its function's docstring."""
    first = (inspect.getdoc(metric.function) or "").partition("\n")[0]
    return first.replace("`", "") or "(its function has no docstring)"


def formula_of(metric: Metric) -> str:
    """The sentences with a formula at the beginning of a metric's docstring; empty if there are none.

    >>> formula_of(METRICS["retrieval.recall"])
    'recall@k = (number of relevant passages among the first k) / (number of relevant passages).'
    """
    beginning = re.split(r"\n\w+\n---|\n>>>", inspect.getdoc(metric.function) or "")[0]
    sentences = re.split(r"(?<=[.;])\s+", " ".join(beginning.split()))
    return " ".join(sentence for sentence in sentences if " = " in sentence).replace("`", "")


def _needs(metric: Metric) -> str:
    """The columns that a metric needs, and those that it reads if they are there."""
    needed = {column: metric.needs(argument) for argument, column in metric.columns.items()}
    optional = [column for column in needed if not needed[column]]
    helped = f"; optional: {', '.join(optional)}" if optional else ""
    return ", ".join(column for column in needed if needed[column]) + helped


def _variants(metric: Metric) -> Iterator[tuple[str, Any, bool, str]]:
    """Option, value, whether it is the default, and meaning."""
    for option, default in metric.options.items():
        for value, meaning in metric.variants.get(option, {default: "(not described)"}).items():
            yield option, OTHER if value is ... else value, value == default, meaning


def _rows(metric: Metric) -> Iterator[dict[str, Any]]:
    """The rows of a metric in `Definitions.frame`."""
    alone: list[tuple[Any, Any, bool, str]] = [(None, None, True, "")]
    for option, value, default, meaning in list(_variants(metric)) or alone:
        chosen = {option: value} if option else {}
        yield {
            "metric": metric.name,
            "option": option,
            "value": value,
            "default": default,
            "meaning": meaning,
            "definition": definition_of(metric),
            "formula": formula_of(metric),
            "higher_is_better": metric.higher_is_better,
            "lowest": metric.bounds[0],
            "highest": metric.bounds[1],
            "beyond": metric.beyond,
            "needs": _needs(metric),
            "undefined": metric.undefined,
            "condition": metric.condition,
            "source": metric.source,
            "signature": None if value == OTHER else metric.signature(chosen),
        }


def _facts(metric: Metric) -> list[tuple[str, str]]:
    """The lines of a metric's card."""
    low, high = metric.bounds
    values = f"{low:g} to {high:g}{f'; {metric.beyond}' if metric.beyond else ''}"
    if metric.binary:
        values = "0 or 1"
    elif math.isinf(high):
        values = "any number" if math.isinf(low) else f"{low:g} or more"
    asked = ASKED_FOR.get(metric.name)
    variants = [
        (f"{option}={value}", f"{'Default. ' if default else ''}{meaning}")
        for option, value, default, meaning in _variants(metric)
    ]
    facts = [
        ("formula", formula_of(metric)),
        ("better", "higher" if metric.higher_is_better else "lower"),
        ("range", values),
        ("needs", _needs(metric)),
        *variants,
        ("computed by", _place(metric.function)),
        ("undefined", metric.undefined),
        ("excluded from n", metric.condition),
        ("source", metric.source),
        ("prompt", f"{asked.id}: {asked.system} {asked.user}" if asked else ""),
        ("signature", metric.signature({})),
    ]
    return [(name, text) for name, text in facts if text]


def _place(function: Callable[..., Any]) -> str:
    """Full name of a function; for one of ragnb, with its file and the line where it begins."""
    name = f"{function.__module__}.{function.__qualname__}"
    if not name.startswith("ragnb."):
        return name
    lines, first = inspect.getsourcelines(function)
    above = next(n for n, line in enumerate(lines) if line.startswith("def "))
    return f"{name}, {function.__module__.replace('.', '/')}.py line {first + above}"


def _entry(metric: Metric) -> tuple[str, str]:
    """The name of a metric, and its definition with the options and their values."""
    values: dict[str, list[str]] = {}
    for option, value, _, _ in _variants(metric):
        values.setdefault(option, []).append(str(value))
    listed = "; ".join(f"{option}: {', '.join(several)}" for option, several in values.items())
    return metric.name, f"{definition_of(metric)} {listed}".rstrip()
