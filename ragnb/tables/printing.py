"""Tables for papers and pages from tidy frames: LaTeX (booktabs), HTML and Markdown say the same thing.

A frame of `ragnb.summarize` becomes systems by conditions, the best of each column in bold; one of `ragnb.compare` becomes a
list of differences; one of a report's ``efficiency()`` systems by readings. Intervals, n, tests, corrections and signatures
stand in the cells or in the note below.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.errors import InputError
from ragnb.markup import Markup, escape_latex, escape_markdown, page, tag
from ragnb.records import CONDITION, column_names, require_columns
from ragnb.results import format_p_value
from ragnb.scoring.bridges import known_metric
from ragnb.scoring.columns import check_names, check_texts, with_numbers
from ragnb.tables.cells import Cell, Table, check_digits, decimals, number, signatures
from ragnb.tables.efficiency import of_readings

SUMMARY = (
    "metric",
    "mean",
    "low",
    "high",
    "interval",
    "confidence_level",
    "n",
    "n_scored",
    "signature",
)
COMPARISON = (
    "metric", "system", "baseline", "n_pairs", "difference", "low", "high", "interval", "confidence_level", "test",
    "p_value", "p_adjusted", "correction", "family_size", "effect", "effect_name", "mde", "power", "duality", "signature",
)  # fmt: skip
_NUMBERS = "n_pairs difference low high confidence_level p_value p_adjusted family_size effect mde power".split()
_TEXTS = "metric interval test correction effect_name duality signature".split()


def to_latex(
    frame: pd.DataFrame,
    *,
    rows: str = "system",
    columns: Sequence[str] | None = None,
    comparisons: pd.DataFrame | None = None,
    digits: int | None = None,
    caption: str = "",
    label: str = "",
    wide: bool = False,
) -> str:
    """LaTeX of a table: a ``table`` environment that needs the package booktabs only.

    Parameters
    ----------
    frame
        As `ragnb.summarize`, `ragnb.compare` or the ``efficiency()`` of a multilingual report returns it.
    rows
        Of summaries: the column whose values become rows. Of efficiency: ``"system"``, or ``"reading"`` for a narrow table.
    columns
        Of summaries: the columns whose values become columns; by default ``metric`` and the columns of conditions that vary.
    comparisons
        Of summaries: comparisons of the same systems and cells. A mean whose difference to the baseline has an adjusted
        p-value below 1 - confidence level is marked by an asterisk; where there are several baselines, by their letters.
    digits
        Decimals of means, differences and limits. By default 2, or the metric's own (`ragnb.tables.cells.DECIMALS`), or more
        where all intervals of the metric are so narrow that these would hide them.
    caption, label
        Of the table; escaped as all text is.
    wide
        Across both columns of a paper: ``table*``.

    Raises
    ------
    InputError
        A frame that is none of these, or one with two values for a cell.
    """
    if not isinstance(caption, str) or not isinstance(label, str):
        raise InputError(
            f"to_latex needs texts as caption and label; got {caption!r:.40} and {label!r:.40}; write texts"
        )
    if not isinstance(wide, bool):
        raise InputError(f"to_latex needs True or False as wide; got {wide!r:.40}; choose one")
    table = _table(frame, rows, columns, comparisons, digits)
    environment = "table*" if wide else "table"
    parts = [
        rf"\begin{{{environment}}}",
        r"\centering",
        rf"\caption{{{escape_latex(caption)}}}" if caption else "",
        rf"\label{{{_latex_label(label)}}}" if label else "",
        rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
        r"\toprule",
        _latex_line(map(escape_latex, table.header)),
        r"\midrule",
        *(_latex_line(map(_latex_cell, row)) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\par\smallskip{{\footnotesize {escape_latex(' '.join(table.notes))}\par}}",
        rf"\end{{{environment}}}",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def save_latex(
    frame: pd.DataFrame, name: str, *, folder: str | Path = "figures", **options: Any
) -> Path:
    """Save a table in LaTeX, see `to_latex` for the frame and the options; return the path.

    Raises
    ------
    InputError
        A name with a folder or an ending in it, and what `to_latex` refuses.
    """
    if Path(name).name != name or Path(name).suffix:
        raise InputError(
            f"save_latex needs a plain name such as '01_noise'; got {name!r}; give the folder apart"
        )
    path = Path(folder) / f"{name}.tex"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_latex(frame, **options), encoding="utf-8")
    return path


def to_html(
    frame: pd.DataFrame,
    *,
    rows: str = "system",
    columns: Sequence[str] | None = None,
    comparisons: pd.DataFrame | None = None,
    digits: int | None = None,
) -> Markup:
    """HTML of a table, see `to_latex`; every text in it is escaped."""
    table = _table(frame, rows, columns, comparisons, digits)
    head = tag("tr", *(tag("th", name) for name in table.header))
    body = [tag("tr", *map(_html_cell, row)) for row in table.rows]
    return page(tag("table", head, *body), tag("p", tag("small", " ".join(table.notes))))


def to_markdown(
    frame: pd.DataFrame,
    *,
    rows: str = "system",
    columns: Sequence[str] | None = None,
    comparisons: pd.DataFrame | None = None,
    digits: int | None = None,
) -> str:
    """Markdown of a table, see `to_latex`; every text in it is escaped."""
    table = _table(frame, rows, columns, comparisons, digits)
    lines = [
        [escape_markdown(name) for name in table.header],
        [":---", *["---:"] * (len(table.header) - 1)],
    ]
    lines += [list(map(_markdown_cell, row)) for row in table.rows]
    notes = escape_markdown(" ".join(table.notes))
    return "\n".join([*("| " + " | ".join(line) + " |" for line in lines), "", notes, ""])


# ---- what stands in a table --------------------------------------------------------------------------------------------


def _table(
    frame: pd.DataFrame,
    rows: str,
    columns: Sequence[str] | None,
    comparisons: pd.DataFrame | None,
    digits: int | None,
) -> Table:
    check_digits(digits)
    require_columns(frame, (), "a table")
    if "difference" in frame:
        return of_comparisons(frame, digits)
    if "reading" in frame:
        return of_readings(frame, rows, digits)
    require_columns(frame, (*SUMMARY, rows), "a table of summaries")
    frame = checked_summaries(frame)
    check_names(
        frame, [rows, *(name for name in CONDITION if name in frame)], "a table of summaries"
    )
    if frame.empty:
        raise InputError(
            "a table needs at least one row; got an empty frame; summarize some scores first"
        )
    return _of_summaries(frame, rows, _column_names(frame, rows, columns), comparisons, digits)


def _column_names(frame: pd.DataFrame, rows: str, columns: Sequence[str] | None) -> list[str]:
    if columns is not None:
        names = column_names(columns, "a table's columns")
        require_columns(frame, names, "a table's columns")
        return names
    varying = [name for name in ("metric", *CONDITION) if name in frame and name != rows]
    return [name for name in varying if frame[name].nunique(dropna=False) > 1] or ["metric"]


def _of_summaries(
    frame: pd.DataFrame,
    rows: str,
    columns: list[str],
    comparisons: pd.DataFrame | None,
    digits: int | None,
) -> Table:
    keys = [rows, *columns]
    if frame.duplicated(keys).any():
        twice = frame.loc[frame.duplicated(keys), keys].iloc[0].to_dict()
        raise InputError(
            f"a table needs one summary a cell; got two for {twice}; name more columns, or choose some rows"
        )
    records = {
        (record[rows], tuple(record[name] for name in columns)): record
        for record in frame.to_dict("records")
    }
    systems, cells = (list(dict.fromkeys(key[part] for key in records)) for part in (0, 1))
    alike = bool((frame["n_scored"] == frame["n"]).all()) and frame["n"].nunique() == 1
    places = decimals(frame, digits)
    marks, explained = _marks(comparisons, columns, systems)
    best = {
        cell: _best([records[name, cell] for name in systems if (name, cell) in records], places)
        for cell in cells
    }

    def cell(name: Any, column: tuple[Any, ...]) -> Cell:
        return _summary_cell(
            records.get((name, column)), best[column], marks.get((column, name), ""), alike, places
        )

    body = [
        [
            Cell(str(name), marks=marks.get(("", name), "")),
            *(cell(name, column) for column in cells),
        ]
        for name in systems
    ]
    notes = [*_summary_notes(frame, alike), *explained, signatures(frame)]
    return Table([rows, *(_heading(columns, column) for column in cells)], body, notes)


def _heading(columns: Sequence[str], cell: Sequence[Any]) -> str:
    named = zip(columns, cell, strict=True)
    return ", ".join(str(value) if name == "metric" else f"{name} {value}" for name, value in named)


def _best(records: list[dict[str, Any]], places: Mapping[str, int]) -> str:
    """The best mean of a column as printed, so that what looks equal is bold together.

    Empty for a single system, and for a metric of somebody's own: a frame does not tell which way is better.
    """
    known = known_metric(records[0]["metric"])
    values = [record["mean"] for record in records if not math.isnan(record["mean"])]
    if known is None or len(records) < 2 or not values:
        return ""
    best = max(values) if known.higher_is_better else min(values)
    return number(best, places[records[0]["metric"]])


def _summary_cell(
    record: dict[str, Any] | None, best: str, marks: str, alike: bool, places: Mapping[str, int]
) -> Cell:
    if record is None:
        return Cell("")
    counted = (
        ""
        if alike
        else f", n = {record['n_scored']}"
        + (f" of {record['n']}" if record["n_scored"] < record["n"] else "")
    )
    digits = places[record["metric"]]
    mean = number(record["mean"], digits)
    limits = f"[{number(record['low'], digits)}, {number(record['high'], digits)}]{counted}"
    return Cell(mean, limits, bold=mean == best, marks=marks)


def _summary_notes(frame: pd.DataFrame, alike: bool) -> list[str]:
    kinds = " / ".join(dict.fromkeys(frame["interval"]))
    n = f", n = {frame['n'].iloc[0]}" if alike else ""
    unscored = (
        []
        if bool((frame["n_scored"] == frame["n"]).all())
        else ["Unscored responses are left out of the mean."]
    )
    own = [known_metric(name) is None for name in frame["metric"]]
    bold = (
        []
        if all(own)
        else [
            f"Bold: best of its column{', but for metrics that are not ours' if any(own) else ''}."
        ]
    )
    return [
        f"Mean [{frame['confidence_level'].iloc[0]:.0%} {kinds} interval]{n}.",
        *bold,
        *unscored,
    ]


def _marks(
    comparisons: pd.DataFrame | None, columns: list[str], systems: list[Any]
) -> tuple[dict[tuple[Any, Any], str], list[str]]:
    """Marks by (cell, system), and what they mean; under the cell ``""`` the letter that stands for a system."""
    if comparisons is None:
        return {}, []
    require_columns(comparisons, COMPARISON, "a table's comparisons")
    require_columns(comparisons, columns, "a table's comparisons")
    keys = [*columns, "system", "baseline"]
    if comparisons.duplicated(keys).any():
        twice = comparisons.loc[comparisons.duplicated(keys), keys].iloc[0].to_dict()
        raise InputError(
            f"a table needs one comparison a cell and pair of systems; got two for {twice}; give compare and summarize "
            "the same cells, such as by=[] and by=['system']"
        )
    baselines = list(dict.fromkeys(comparisons["baseline"]))
    single = len(baselines) == 1
    letters = {
        name: "*" if single else chr(ord("a") + place % 26) for place, name in enumerate(systems)
    }
    marks: dict[tuple[Any, Any], str] = (
        {} if single else {("", name): letter for name, letter in letters.items()}
    )
    for row in comparisons[comparisons["p_adjusted"] < 1 - comparisons["confidence_level"]].to_dict(
        "records"
    ):
        cell = tuple(row[name] for name in columns)
        for name, other in ((row["system"], row["baseline"]),) if single else (
            (row["system"], row["baseline"]), (row["baseline"], row["system"])
        ):  # fmt: skip
            marks[cell, name] = "".join(
                sorted(marks.get((cell, name), "") + letters.get(other, "*"))
            )
    what = f"differs from {baselines[0]}" if single else "differs from the system of that letter"
    return marks, [f"{'*' if single else 'Letters:'} {what} ({_tests(comparisons)})."]


def checked_summaries(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame of summaries, if its numbers are numbers and its texts are texts."""
    what = "a table of summaries"
    check_texts(frame, ("metric", "interval", "signature"), what)
    check_names(frame, _before_metric(frame), what)
    worst = [name for name in ("worst_low", "worst_high") if name in frame]
    return with_numbers(
        frame, ["mean", "low", "high", "confidence_level", "n", "n_scored", *worst], what
    )


def _before_metric(frame: pd.DataFrame) -> list[str]:
    """The columns that say which cell a row is of."""
    return list(frame.columns[: list(frame.columns).index("metric")])


def of_comparisons(frame: pd.DataFrame, digits: int | None) -> Table:
    """Comparisons as a list of differences, those with a small adjusted p-value in bold."""
    require_columns(frame, COMPARISON, "a table of comparisons")
    frame = with_numbers(frame, _NUMBERS, "a table of comparisons")
    check_texts(frame, _TEXTS, "a table of comparisons")
    if frame.empty:
        raise InputError(
            "a table needs at least one row; got an empty frame; compare some scores first"
        )
    before = [*_before_metric(frame), "metric"]
    check_names(frame, before, "a table of comparisons")
    shown = [name for name in before if frame[name].nunique(dropna=False) > 1]
    effects = list(dict.fromkeys(frame["effect_name"]))
    effect = effects[0] if len(effects) == 1 else "effect"
    level = f"{frame['confidence_level'].iloc[0]:.0%} interval"
    header = [
        "comparison",
        *shown,
        "n",
        "difference",
        level,
        "p",
        "adjusted p",
        effect,
        f"MDE ({frame['power'].iloc[0]:.0%})",
    ]
    places = decimals(frame, digits)
    body = [
        _comparison_cells(row, shown, places[row["metric"]]) for row in frame.to_dict("records")
    ]
    kinds = " / ".join(
        dict.fromkeys(
            f"{a} ({b})" for a, b in zip(frame["interval"], frame["duality"], strict=True)
        )
    )
    notes = [
        f"Bold: adjusted p below {1 - frame['confidence_level'].iloc[0]:.2g}. Intervals: {kinds}. Tests: {_tests(frame)}.",
        "MDE: minimum detectable effect at the spread seen.",
        signatures(frame),
    ]
    return Table(header, body, notes)


def _comparison_cells(row: dict[str, Any], shown: list[str], digits: int) -> list[Cell]:
    limits = (
        f"[{number(row['low'], digits, signed=True)}, {number(row['high'], digits, signed=True)}]"
    )
    difference = Cell(
        number(row["difference"], digits, signed=True),
        bold=row["p_adjusted"] < 1 - row["confidence_level"],
    )
    p_values = [
        Cell(format_p_value(row[name]).removeprefix("p ").removeprefix("= "))
        for name in ("p_value", "p_adjusted")
    ]
    return [
        Cell(f"{row['system']} - {row['baseline']}"),
        *(Cell(str(row[name])) for name in shown),
        Cell(str(row["n_pairs"])),
        difference,
        Cell(limits),
        *p_values,
        Cell(number(row["effect"], 2)),
        Cell(number(row["mde"], digits)),
    ]


def _tests(frame: pd.DataFrame) -> str:
    corrected = f"{frame['correction'].iloc[0].capitalize()} over {frame['family_size'].max()}"
    return f"{' / '.join(dict.fromkeys(frame['test']))}, {corrected}"


# ---- how it is written -------------------------------------------------------------------------------------------------


def _cell(cell: Cell, plain: Callable[[Any], str], bold: str, raised: str, small: str) -> str:
    """The parts of a cell put together; each pattern has one place for its text, which ``plain`` has escaped."""
    main = plain(cell.text)
    main = bold.format(main) if cell.bold and main else main
    main += raised.format(plain(cell.marks)) if cell.marks else ""
    return main + (small.format(plain(cell.small)) if cell.small else "")


def _latex_cell(cell: Cell) -> str:
    return _cell(
        cell, _latex_text, r"\textbf{{{}}}", r"\textsuperscript{{{}}}", r" {{\scriptsize {}}}"
    )


def _latex_line(cells: Iterable[str]) -> str:
    line = " & ".join(cells)
    # After a line break, [ and * would be its options, also behind blanks.
    return ("{}" if line.lstrip()[:1] in "[*" else "") + line + r" \\"


def _latex_label(label: str) -> str:
    if not re.fullmatch(r"[\w:.-]+", label, re.ASCII):
        raise InputError(
            f"a LaTeX label needs letters, digits and : . _ - only; got {label!r}; shorten it"
        )
    return label


def _latex_text(text: Any) -> str:
    """Escaped, with minus signs of numbers as such."""
    return re.sub(r"(?<![^\s\[])-(?=\d|infinite)", "$-$", escape_latex(text))


def _markdown_cell(cell: Cell) -> str:
    return _cell(cell, escape_markdown, "**{}**", "<sup>{}</sup>", " {}")


def _html_cell(cell: Cell) -> Markup:
    main = tag("b", cell.text) if cell.bold else cell.text
    return tag(
        "td",
        main,
        *([tag("sup", cell.marks)] if cell.marks else []),
        *([" ", tag("small", cell.small)] * bool(cell.small)),
    )
