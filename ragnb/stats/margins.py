"""What printed margins leave open: two rates over the same items, whose pairing was not published."""

from typing import NamedTuple

from ragnb.errors import InputError
from ragnb.results import PairedTable
from ragnb.stats.binary import mcnemar_test
from ragnb.stats.checks import check_count


class PValueBounds(NamedTuple):
    """Smallest and largest p-value, and the name of the test that they belong to."""

    low: float
    high: float
    test: str


def mcnemar_bounds(first: int, second: int, n: int, *, method: str = "exact") -> PValueBounds:
    """Smallest and largest McNemar p-value that two numbers of successes on the same items allow.

    Both are in (0, 1]. The two systems answered the same items, but it was not published which of them each system got
    right. The function therefore tests every pairing that agrees with the two totals.

    Parameters
    ----------
    first, second : int
        Successes of the two systems.
    n : int
        Number of items.
    method : {"exact", "mid-p", "asymptotic", "asymptotic-cc"}
        The variant of the test, see `ragnb.stats.binary.mcnemar_test`. The result names it, because the bounds of the
        exact test are higher than those of the mid-p test that `ragnb.compare` uses.

    Returns
    -------
    PValueBounds
        A tuple ``(low, high, test)``.

    Raises
    ------
    InputError
        If a count is negative or above n.

    Notes
    -----
    With c items that only the second gets right, b = c + first - second are the first's alone; c runs from
    max(0, second - first) to min(second, n - first). More disagreement makes the same difference less surprising.

    Examples
    --------
    >>> low, high, test = mcnemar_bounds(289, 282, 300)  # 96.33 % and 94.00 % of 300
    >>> round(low, 3), round(high, 2), test
    (0.016, 0.26, 'McNemar exact')
    """
    n, first, second = check_count(n, "n", minimum=1), check_count(first, "first"), check_count(second, "second")
    if max(first, second) > n:
        raise InputError(f"margins need counts of at most n = {n}; got {first} and {second}; pass counts, not per cent.")
    least, most = max(0, second - first), min(second, n - first)
    tests = [
        mcnemar_test(PairedTable(second - c, c + first - second, c, n - first - c), method=method)
        for c in range(least, most + 1)
    ]
    p_values = [test.p_value for test in tests]
    return PValueBounds(min(p_values), max(p_values), tests[0].method)
