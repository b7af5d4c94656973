"""Compact letter display: groups of systems that a comparison of all pairs does not separate."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from string import ascii_letters
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.numbers import enumeration, percent
from ragnb.reports.frames import Report, TablesAndLines
from ragnb.scoring.columns import record_of
from ragnb.stats.several import inseparable_groups

_NEEDED = "metric system baseline difference p_adjusted confidence_level".split()


@dataclass(frozen=True, slots=True, repr=False)
class LetterDisplay(Report):
    """Systems with letters. Two systems that share a letter are not separated by the data.

    Attributes
    ----------
    table
        One row per cell, metric and system, the best one first: ``metric, system, mean, letters``.
        The mean is that of the comparison with the most pairs.
    groups
        One row per group: ``metric, letter, systems``. A group is as large as possible, and no pair
        of its systems is separated.
    note
        The definition in words.
    """

    table: pd.DataFrame
    groups: pd.DataFrame
    note: str

    def _tables_and_lines(self) -> TablesAndLines:
        return {"Systems that share a letter are not separated": self.table}, [self.note]

    def sentence(self) -> str:
        """One sentence for each cell and metric that lists its groups."""
        keys = [name for name in self.groups if name not in ("letter", "systems")]
        texts = []
        for values, rows in self.groups.groupby(keys, sort=False, dropna=False):
            subject = ", ".join(map(str, values))
            # A group of one system is one that is separated from all others.
            groups = [enumeration(systems) for systems in rows["systems"] if len(systems) > 1]
            if not groups:
                texts.append(f"{subject}: every pair of systems is separated.")
            elif len(rows) == 1:
                # The only group contains all systems.
                texts.append(f"{subject}: the data separate none of {groups[0]}.")
            else:
                texts.append(f"{subject}: not separated are {'; '.join(groups)}.")
        return " ".join(texts)


@accepts()
def letter_display(comparisons: pd.DataFrame) -> LetterDisplay:
    """Groups of systems that the data do not separate, with a letter for each group.

    Parameters
    ----------
    comparisons
        Result of `ragnb.compare` without ``baseline=``, so that it contains every pair of systems.

    Returns
    -------
    LetterDisplay
        Letters for each system. Two systems share a letter if and only if the adjusted p-value of
        their difference is at least 1 - confidence level, or undefined. For tests that are dual to
        their interval, this is an interval at the corrected level that contains 0. Systems with a
        common letter are not shown to be equally good.

    Raises
    ------
    InputError
        A column or a pair of systems is missing.

    Notes
    -----
    The p-values are those of `ragnb.compare`, corrected over all its rows (Holm's correction by
    default). The groups are those of `ragnb.stats.inseparable_groups` (Piepho 2004).

    Examples
    --------
    >>> from ragnb import compare
    >>> values = [1.0] * 10 + [0.0] * 30 + [1.0] * 13 + [0.0] * 27 + [1.0] * 38 + [0.0] * 2
    >>> scores = pd.DataFrame({
    ...     "example_id": [*range(40)] * 3, "system": ["a"] * 40 + ["b"] * 40 + ["c"] * 40,
    ...     "metric": "answer.contains", "value": values, "signature": "s"})
    >>> display = letter_display(compare(scores))
    >>> display.table[["system", "letters"]].values.tolist()
    [['c', 'a'], ['b', 'b'], ['a', 'b']]
    """
    require_columns(comparisons, _NEEDED, "letter_display")
    if comparisons.empty:
        raise InputError("letter_display needs at least one comparison, got none")
    columns = list(comparisons)
    # Columns before the metric are those of the cells.
    keys = columns[: columns.index("metric") + 1]
    table_rows: list[dict[Any, Any]] = []
    group_rows: list[dict[Any, Any]] = []
    n_undefined = 0
    for values, rows in comparisons.groupby(keys, sort=False, dropna=False):
        cell = dict(zip(keys, values, strict=True))
        systems = _systems(rows)
        # A pair is the same whichever of its systems is the baseline.
        pairs = {frozenset(pair) for pair in zip(rows["system"], rows["baseline"], strict=True)}
        n_pairs_of_all = len(systems) * (len(systems) - 1) // 2
        is_repeated = len(pairs) < len(rows)
        if len(pairs) < n_pairs_of_all or is_repeated:
            raise InputError(
                f"letter_display needs each pair of the {len(systems)} systems once ({n_pairs_of_all} pairs), "
                f"got {len(rows)} rows of {cell['metric']}; call ragnb.compare without baseline="
            )
        n_undefined += int(rows["p_adjusted"].isna().sum())
        # An undefined p-value is nan, which is not below the level.
        is_separated = rows["p_adjusted"] < 1 - rows["confidence_level"]
        separated_rows = rows.loc[is_separated, ["system", "baseline"]]
        separated = separated_rows.itertuples(index=False, name=None)
        groups = inseparable_groups(list(systems), separated)
        letters_by_system = letters_of(systems, groups)
        for system, mean in systems.items():
            letters = letters_by_system[system]
            table_rows.append({**cell, "system": system, "mean": mean, "letters": letters})
        for letter, group in zip(_letters(len(groups)), groups, strict=True):
            group_rows.append({**cell, "letter": letter, "systems": group})
    # Twelve decimals remove the error of floats: 1 - 0.95 is 0.05000000000000004.
    alpha = round(1 - comparisons["confidence_level"].iloc[0], 12)
    correction = ""
    if "correction" in comparisons:
        correction = f" after {str(comparisons['correction'].iloc[0]).title()}'s correction"
    note = (
        f"Two systems share a letter if their difference is not significant{correction} at the "
        f"{percent(alpha)} level (Piepho 2004). They are not shown to be equally good."
    )
    if n_undefined:
        note += f" {n_undefined} pairs have no test, and count as not separated."
    return LetterDisplay(pd.DataFrame(table_rows), pd.DataFrame(group_rows), note)


def letters_of(
    systems: Iterable[Hashable], groups: list[tuple[Hashable, ...]]
) -> dict[Hashable, str]:
    """The letters of each system, one for each of its groups.

    >>> letters_of("xyz", [("x", "y"), ("y", "z")])
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    lettered = list(zip(_letters(len(groups)), groups, strict=True))
    letters = {}
    for system in systems:
        letters[system] = "".join(letter for letter, group in lettered if system in group)
    return letters


def _letters(n: int) -> list[str]:
    """The first ``n`` letters, small ones before capitals. After these 52, they come again with a dot in front."""
    n_letters = len(ascii_letters)
    return ["." * (number // n_letters) + ascii_letters[number % n_letters] for number in range(n)]


def _systems(rows: pd.DataFrame) -> dict[Any, float]:
    """The systems of a cell with their means, the best one first. A mean that is not in the rows is nan."""
    signature = str(rows["signature"].iloc[0]) if "signature" in rows else ""
    record = record_of(str(rows["metric"].iloc[0]), signature)
    # Of a metric that ragnb does not know, higher values are taken as better.
    higher_is_better = record is None or record.higher_is_better
    order = list(dict.fromkeys([*rows["baseline"], *rows["system"]]))
    means = dict.fromkeys(order, float("nan"))
    if {"mean", "baseline_mean", "n_pairs"} <= set(rows):
        # The comparison with the most pairs comes last, so that its means are the ones that remain.
        for row in rows.sort_values("n_pairs", kind="stable").to_dict("records"):
            means[row["system"]] = row["mean"]
            means[row["baseline"]] = row["baseline_mean"]
        ranking = pd.Series(means, dtype=float)
    else:
        # Corrected differences have no means. The sum of the differences from all others has the same order.
        ranking = pd.Series(0.0, order)
        for row in rows.to_dict("records"):
            ranking[row["system"]] += row["difference"]
            ranking[row["baseline"]] -= row["difference"]
    ordered = ranking.sort_values(ascending=not higher_is_better, kind="stable").index
    return {system: means[system] for system in ordered}
