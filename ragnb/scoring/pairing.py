"""Scores of systems on the same items, paired by integer codes.

To compare texts row by row takes long, so each column that distinguishes items is coded only once.
"""

# Tested in tests/scoring/test_comparisons.py.

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import Floats, Integers, convert
from ragnb.cells import present
from ragnb.columns import column_names, require_columns
from ragnb.errors import InputError
from ragnb.scoring.procedures import Pairs


def codes_of(column: pd.Series) -> Integers:
    """Number the distinct values of a column in the order in which they occur; a missing value is one of them.

    >>> codes_of(pd.Series(["b", None, "a", "b", float("nan")])).tolist()
    [0, 1, 2, 0, 1]
    """
    return pd.factorize(column, use_na_sentinel=False)[0]


def rows_by_code(codes: Integers, n_codes: int) -> list[Integers]:
    """Rows that have each code from 0 to n_codes - 1, in ascending order; a negative code is left out.

    >>> [rows.tolist() for rows in rows_by_code(np.array([1, 0, -1, 1]), 3)]
    [[1], [0, 3], []]
    """
    order = np.argsort(codes, kind="stable")
    # Counts of the codes -1, 0, 1, ... Their sums are the places in `order` where the codes end.
    ends = np.cumsum(np.bincount(codes + 1, minlength=n_codes + 1))
    # The first part has the code -1, and the last one, behind all codes, is empty.
    return np.split(order, ends)[1:-1]


def varying(frame: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """Return the columns that take several values within one system.

    What varies only between systems belongs to the system.
    """
    rows = list(frame.groupby("system", sort=False).indices.values())
    return [name for name in columns if name in frame and _varies(codes_of(frame[name]), rows)]


def _varies(codes: Integers, rows_of_systems: Iterable[Integers]) -> bool:
    """Whether the rows of one system have several codes."""
    for rows in rows_of_systems:
        codes_of_system = codes[rows]
        # A slice, because a system without rows has no first code.
        differ_from_first = codes_of_system != codes_of_system[:1]
        if differ_from_first.any():
            return True
    return False


class ScoreTable:
    """Scores of systems, with the codes of the columns that distinguish their items.

    Parameters
    ----------
    frame
        The scores, with an index that counts the rows from 0.
    conditions
        Columns that may distinguish the items of one system besides ``example_id``.
    cluster
        Column whose values are the independent units, if any.
    """

    def __init__(self, frame: pd.DataFrame, conditions: Iterable[str], cluster: str | None) -> None:
        self.frame = frame
        self.cluster = cluster
        self.values: Floats = frame["value"].to_numpy(np.float64)
        self.system_codes, systems = pd.factorize(frame["system"])  # -1 if there is no system
        self.systems = list(systems)
        self.conditions = varying(frame, conditions)
        names = dict.fromkeys(["example_id", *self.conditions, *column_names(cluster)])
        self.codes = {name: codes_of(frame[name]) for name in names}
        self.signature_codes, signatures = pd.factorize(frame["signature"], use_na_sentinel=False)
        self.signatures = [str(present(signature)) for signature in signatures]

    def cells(self, keys: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], "Cell"]]:
        """Yield each combination of values of the key columns with its cell, in order of occurrence."""
        groups = self.frame.groupby(list(keys), sort=False, dropna=False)
        combinations = groups.size().index.to_frame(index=False).itertuples(index=False, name=None)
        rows_of_cells = rows_by_code(groups.ngroup().to_numpy(), groups.ngroups)
        conditions = [name for name in self.conditions if name not in keys]
        for combination, rows in zip(combinations, rows_of_cells, strict=True):
            yield combination, Cell(self, rows, conditions)


class Cell:
    """The scores of one metric under one condition, in which systems are paired item by item.

    Parameters
    ----------
    table
        The table that contains the scores.
    rows
        The rows of the cell in the table.
    conditions
        Columns that may distinguish the items of one system besides ``example_id``.
    """

    def __init__(self, table: ScoreTable, rows: Integers, conditions: Sequence[str]) -> None:
        self.table = table
        self.rows = rows
        by_system = rows_by_code(table.system_codes[rows], len(table.systems))
        # System -> the places of its scores among the rows of the cell.
        self.places = dict(zip(table.systems, by_system, strict=True))
        # Condition -> the systems within which it varies.
        self.varying_systems: dict[str, set[Any]] = {}
        for name in conditions:
            codes = table.codes[name][rows]
            self.varying_systems[name] = {
                system for system, places in self.places.items() if _varies(codes, [places])
            }
        self._item_codes: dict[tuple[str, ...], Integers] = {}

    def signatures(self, *systems: Any) -> list[str]:
        """The distinct signatures of systems in sorted order, with 'None' for a missing one."""
        distinct = set()
        for system in systems:
            codes = self.table.signature_codes[self.rows[self._places_of(system)]]
            distinct |= {self.table.signatures[code] for code in pd.unique(codes)}
        return sorted(distinct)

    def pair(self, system: Any, baseline: Any, unpaired: str) -> tuple[Pairs, int, str]:
        """The scores of two systems on the same items, and how they were paired.

        The second result is the number of items that were dropped. The third is the column of the
        clusters, or an empty text if items are independent.
        """
        table = self.table
        columns = self._item_columns(system, baseline)
        items = self._items(columns)
        first, second = self._places_of(system), self._places_of(baseline)
        for places in (first, second):
            if pd.unique(items[places]).size < places.size:
                both_systems = table.frame.iloc[self.rows[np.sort(np.append(first, second))]]
                require_columns(both_systems, (), "compare", unique=["system", *columns])
        # The items of the system come first, then those that only the baseline has.
        n_items = items.max(initial=-1) + 1
        is_of_first = np.zeros(n_items, dtype=bool)
        is_of_first[items[first]] = True
        only_second = second[~is_of_first[items[second]]]
        places = np.append(first, only_second)
        values = table.values[self.rows]
        # A value is nan if a system does not have the item.
        first_values = np.append(values[first], np.full(only_second.size, np.nan))
        value_of_item = np.full(n_items, np.nan)
        value_of_item[items[second]] = values[second]
        second_values = value_of_item[items[places]]
        is_complete = ~(np.isnan(first_values) | np.isnan(second_values))
        incomplete = places[~is_complete]
        if incomplete.size and unpaired == "error":
            self._refuse_other_ids(system, baseline)
            labels = table.frame.iloc[self.rows[incomplete[:5]]].set_index(list(columns)).index
            raise InputError(
                f"compare needs a value of {system!r} and of {baseline!r} for every item; "
                f"{incomplete.size} of {places.size} items lack at least one of the two, such as "
                f"{', '.join(map(str, labels))}; score the missing values, pass "
                "unpaired='drop' to leave these items out, or set by= if the systems ran under different "
                "conditions"
            )
        rows = self.rows[places[is_complete]]
        unit = table.cluster or ("example_id" if self._has_repeated_examples(rows, columns) else "")
        clusters = self._clusters(rows, unit) if unit else None
        pairs = Pairs(first_values[is_complete], second_values[is_complete], clusters)
        return pairs, incomplete.size, unit

    def _places_of(self, system: Any) -> Integers:
        """The places of a system's scores; none for a missing name, which is no system."""
        return self.places.get(system, self.rows[:0])

    def _item_columns(self, *systems: Any) -> tuple[str, ...]:
        """Columns that distinguish the items of these systems."""
        varying_conditions = [
            name for name, within in self.varying_systems.items() if within & set(systems)
        ]
        cluster = column_names(self.table.cluster)
        return tuple(dict.fromkeys(["example_id", *varying_conditions, *cluster]))

    def _items(self, columns: tuple[str, ...]) -> Integers:
        """The number of the item of each row, which most pairs of systems share."""
        if columns not in self._item_codes:
            items = np.zeros(self.rows.size, dtype=np.int64)
            for name in columns:
                codes = self.table.codes[name][self.rows]
                # Each pair of an earlier number and a code gets a number of its own, as in a number with
                # two digits. The pairs that occur are then numbered anew, so that no number overflows.
                items = pd.factorize(items * (codes.max(initial=0) + 1) + codes)[0]
            self._item_codes[columns] = items
        return self._item_codes[columns]

    def _has_repeated_examples(self, rows: Integers, columns: tuple[str, ...]) -> bool:
        """Whether several items have one question, such as its translations. They are not independent."""
        if columns == ("example_id",):
            return False
        return pd.unique(self.table.codes["example_id"][rows]).size < rows.size

    def _clusters(self, rows: Integers, unit: str) -> Integers:
        """The code of the cluster of each row, in the order of the keys."""
        codes = self.table.codes[unit][rows]
        _, first_places, numbers = np.unique(codes, return_index=True, return_inverse=True)
        keys = self.table.frame[unit].iloc[rows[first_places]].to_numpy()
        return convert(keys, "clusters", f"the column {unit!r}")[numbers]

    def _refuse_other_ids(self, system: Any, baseline: Any) -> None:
        """Raise InputError if the two systems have no question in common."""
        rows, baseline_rows = (self.rows[self._places_of(name)] for name in (system, baseline))
        codes = self.table.codes["example_id"]
        have_rows = rows.size > 0 and baseline_rows.size > 0
        have_common_ids = np.isin(codes[rows], codes[baseline_rows]).any()
        # A system without rows in this cell has no ids that could be others.
        if not have_rows or have_common_ids:
            return
        ids = self.table.frame["example_id"]
        raise InputError(
            f"compare pairs systems by example_id, but {system!r} and {baseline!r} have no "
            f"example_id in common: {system!r} begins with {ids.iloc[rows[0]]!r:.60}, {baseline!r} with "
            f"{ids.iloc[baseline_rows[0]]!r:.60}. Give each question the same example_id for every system "
            "before you score. If the responses have no ids of their own, use the questions: "
            "responses.assign(example_id=responses['question'])"
        )
