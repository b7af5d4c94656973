"""What printed margins leave open: two rates over the same items, whose pairing was not published."""

from ragnb.errors import InputError
from ragnb.results import PairedTable
from ragnb.stats.binary import mcnemar_test
from ragnb.stats.checks import check_count


def mcnemar_bounds(first: int, second: int, n: int, *, method: str = "exact") -> tuple[float, float]:
    """Smallest and largest McNemar p-value that two numbers of successes over the same items allow.

    In (0, 1]. The items were shared, but which of them each system got right was not published: every pairing that agrees
    with both margins is looked at.

    Parameters
    ----------
    first, second : int
        Successes of the two systems.
    n : int
        Number of items.
    method : {"exact", "mid-p", "asymptotic", "asymptotic-cc"}
        See `ragnb.stats.binary.mcnemar_test`.

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
    >>> low, high = mcnemar_bounds(289, 282, 300)  # 96.33 % and 94.00 % of 300
    >>> round(low, 3), round(high, 2)
    (0.016, 0.26)
    """
    n, first, second = check_count(n, "n", minimum=1), check_count(first, "first"), check_count(second, "second")
    if max(first, second) > n:
        raise InputError(f"margins need counts of at most n = {n}; got {first} and {second}; pass counts, not per cent.")
    least, most = max(0, second - first), min(second, n - first)
    p_values = [
        mcnemar_test(PairedTable(second - c, c + first - second, c, n - first - c), method=method).p_value
        for c in range(least, most + 1)
    ]
    return min(p_values), max(p_values)
