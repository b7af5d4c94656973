"""What a metric's name may mean: its definitions side by side, as text, HTML, Markdown and a frame.

The same metric name hides several definitions, and the definition moves the number.
"""

import inspect
import math
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ragnb.errors import InputError
from ragnb.markup import Markup, escape_markdown, tag
from ragnb.metrics.record import METRICS, Metric
from ragnb.scoring.bridges import CNBE
from ragnb.scoring.definitions import suggestion

HEADER = ("metric", "what it measures", "better", "range", "definitions", "source")
WIDTH = 120
OTHER = "other"
"""Stands for the values of an option that cannot all be listed."""


@dataclass(frozen=True, slots=True, repr=False)
class Definitions:
    """What is known of one or several metrics: printed as a card of one, as a table of several.

    Attributes
    ----------
    metrics
        Their records.
    """

    metrics: tuple[Metric, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """One row a variant: ``metric, option, value, default, meaning``, what holds for the metric, and ``signature``.

        A metric without options has one row, whose ``option`` and ``value`` are None. Where an option takes more values than
        those listed, one row says so: its value is ``"other"``, and it has no signature.
        """
        rows = [row for metric in self.metrics for row in _rows(metric)]
        kinds = {"default": bool, "higher_is_better": bool, "lowest": float, "highest": float}
        return pd.DataFrame(rows, dtype=object).astype(kinds)

    def to_markdown(self) -> str:
        """Markdown table, one row a metric; every text in it is escaped."""
        lines = [
            HEADER,
            [":---"] * len(HEADER),
            *(map(escape_markdown, _cells(metric)) for metric in self.metrics),
        ]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

    def __repr__(self) -> str:
        return "\n".join(
            _card(self.metrics[0]) if len(self.metrics) == 1 else map(_entry, self.metrics)
        )

    def _repr_html_(self) -> Markup:
        return (
            _html_card(self.metrics[0])
            if len(self.metrics) == 1
            else _html_table(HEADER, map(_cells, self.metrics))
        )


def definitions(metric: str | Metric | None = None) -> Definitions:
    """What the name of a metric may mean: its definition, range, options with every value, undefined cases and source.

    Parameters
    ----------
    metric
        Full name (``"answer.f1"``), or a word of names (``"correction"``), a family (``"trace"``) or one of the field's
        abbreviations (``"EM"``), which may mean several metrics. A `Metric` record of your own. None: all that ship.

    Returns
    -------
    Definitions
        Prints itself; ``frame`` has a row for each variant, ``to_markdown()`` a row for each metric.

    Raises
    ------
    InputError
        A name that means no metric, with the nearest that does.

    >>> [metric.name for metric in definitions("F1").metrics]
    ['answer.f1', 'answer.rouge_l']
    >>> definitions("language.rlc_lid")  # doctest: +ELLIPSIS
    language.rlc_lid: 1.0 if a language identifier assigns the response to the target language, else 0.0 (RLC_LID).
      higher is better; 0 or 1
      needs         response, language
      candidates    None       default  All languages that are known to both ragnb and the identifier.
                    other               A list of the language codes that may occur. A shorter list gives fewer errors.
      computed by   ragnb.metrics.language.language_identified
      reasoning     Only the answer is read; <think>…</think> is set apart.
      undefined     If the response contains no letters.
      source        Lui and Baldwin 2012; py3langid
      signature     ragnb:...|metric:language.rlc_lid
    """
    if metric is None:
        return Definitions(tuple(METRICS.values()))
    if isinstance(metric, Metric):
        return Definitions((metric,))
    return Definitions(_named(metric, str(metric).casefold()))


def _named(given: object, name: str) -> tuple[Metric, ...]:
    if name in ("cnbe", CNBE.name):
        return (CNBE,)
    if name in METRICS:
        return (METRICS[name],)
    words = {known: _words(metric) for known, metric in METRICS.items()}
    found = tuple(METRICS[known] for known in METRICS if name in words[known])
    if not found:
        hint = suggestion(
            name, sorted({*METRICS}.union(*words.values())), "definitions() lists all"
        )
        raise InputError(
            f"definitions needs a metric's name, a word of it or an abbreviation; got {given!r}; {hint}"
        )
    return found


def _words(metric: Metric) -> set[str]:
    """What a metric may be called for short: words of its name, and what its definition writes with a capital."""
    family, _, own = metric.name.partition(".")
    capitalised = re.findall(r"(?<=\W)[A-Z]\w*", definition_of(metric))
    return {word.casefold() for word in (family, own, *own.split("_"), *capitalised)}


# ---- what is said of a metric ------------------------------------------------------------------------------------------


def definition_of(metric: Metric) -> str:
    """A metric in one line: the first of its function's docstring."""
    first = (inspect.getdoc(metric.function) or "").partition("\n")[0]
    return first.replace("`", "") or "(its function has no docstring)"


def _direction(metric: Metric) -> str:
    return "higher" if metric.higher_is_better else "lower"


def _range(metric: Metric) -> str:
    low, high = metric.bounds
    if metric.binary:
        return "0 or 1"
    if math.isinf(high):
        return "any number" if math.isinf(low) else f"{low:g} or more"
    return f"{low:g} to {high:g}{f'; {metric.beyond}' if metric.beyond else ''}"


def _needs(metric: Metric) -> str:
    needed = {column: metric.needs(argument) for argument, column in metric.columns.items()}
    optional = [column for column in needed if not needed[column]]
    helped = f"; if there: {', '.join(optional)}" if optional else ""
    return ", ".join(column for column in needed if needed[column]) + helped


def _variants(metric: Metric) -> Iterator[tuple[str, Any, bool, str]]:
    """Option, value, whether it is the default, and meaning; an option of which nothing is said has its default only."""
    for option, default in metric.options.items():
        for value, meaning in metric.variants.get(option, {default: "(not described)"}).items():
            yield option, OTHER if value is ... else value, value == default, meaning


def _facts(metric: Metric) -> list[tuple[str, str]]:
    """What holds for all variants of a metric, but for its direction and range."""
    facts = {
        "computed by": _address(metric),
        "reasoning": _reasoning(metric),
        "undefined": metric.undefined,
        "no part of n": metric.condition,
        "source": metric.source,
        "signature": metric.signature({}),
    }
    return [(name, text) for name, text in facts.items() if text]


def _address(metric: Metric) -> str:
    """Where the formula of a metric that ships is to be read."""
    function = metric.function
    inside = function.__module__.startswith("ragnb.")
    return f"{function.__module__}.{function.__qualname__}" if inside else ""


def _reasoning(metric: Metric) -> str:
    """Whether the metric reads the reasoning in a response; nothing of a metric that does not read responses."""
    if "response" not in metric.columns.values():
        return ""
    released = (
        ", except under released" if "released" in metric.variants.get("protocol", {}) else ""
    )
    return f"Only the answer is read; <think>…</think> is set apart{released}."


# ---- frame, Markdown, text, HTML ---------------------------------------------------------------------------------------


def _rows(metric: Metric) -> Iterator[dict[str, Any]]:
    alone: list[tuple[Any, Any, bool, str]] = [(None, None, True, "")]
    for option, value, default, meaning in list(_variants(metric)) or alone:
        chosen = {} if option is None else {option: value}
        yield {
            "metric": metric.name,
            "option": option,
            "value": value,
            "default": default,
            "meaning": meaning,
            "definition": definition_of(metric),
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


def _cells(metric: Metric) -> tuple[str, ...]:
    """One row of the table of all metrics."""
    values: dict[str, list[str]] = {}
    for option, value, _, _ in _variants(metric):
        values.setdefault(option, []).append(str(value))
    listed = "; ".join(f"{option}: {', '.join(several)}" for option, several in values.items())
    return (
        metric.name,
        definition_of(metric),
        _direction(metric),
        _range(metric),
        listed,
        metric.source,
    )


def _entry(metric: Metric) -> str:
    name, definition, _, _, listed, _ = _cells(metric)
    return "\n".join([f"{name}: {definition}", *([f"  {listed}"] if listed else [])])


def _card(metric: Metric) -> Iterator[str]:
    yield f"{metric.name}: {definition_of(metric)}"
    yield f"  {_direction(metric)} is better; {_range(metric)}"
    for name, text in [("needs", _needs(metric)), *_variant_lines(metric), *_facts(metric)]:
        lead = f"  {name:12}  "
        yield textwrap.fill(
            text,
            WIDTH,
            initial_indent=lead,
            subsequent_indent=" " * len(lead),
            break_on_hyphens=False,
        )


def _variant_lines(metric: Metric) -> Iterator[tuple[str, str]]:
    """Each value and its meaning; the option's name stands beside the first."""
    named = set[str]()
    for option, value, default, meaning in _variants(metric):
        name = "" if option in named else option
        yield f"{name:12}  {value!s:9}  {'default' if default else '':7}", meaning
        named.add(option)


def _html_card(metric: Metric) -> Markup:
    facts = [
        ("better", _direction(metric)),
        ("range", _range(metric)),
        ("needs", _needs(metric)),
        *_facts(metric),
    ]
    told = tag("table", *(tag("tr", tag("th", name), tag("td", text)) for name, text in facts))
    variants = [
        (option, f"{value} (default)" if default else str(value), meaning)
        for option, value, default, meaning in _variants(metric)
    ]
    shown = [_html_table(("option", "value", "meaning"), variants)] if variants else []
    return tag("div", tag("p", tag("b", metric.name), ": ", definition_of(metric)), *shown, told)


def _html_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Markup:
    head = tag("tr", *(tag("th", name) for name in header))
    return tag("table", head, *(tag("tr", *(tag("td", cell) for cell in row)) for row in rows))
