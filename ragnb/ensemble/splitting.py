"""Which rows go to which part: whole groups, near the ratios in size and in labels, and drawn at random."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

#: Random divisions of which the one nearest to the ratios is taken.
DRAWS = 20


def split_groups(labels: Integers, groups: Integers, shares: tuple[float, ...], rng: np.random.Generator) -> Integers:
    """Part of each row, 0 to ``len(shares) - 1``: no group in two parts, each label divided as nearly as groups allow.

    Groups with as many rows of each label are interchangeable: which of them go where is a plain random draw. How many
    of them go where follows from what the parts still lack, larger groups first, fractions decided by lot. Of `DRAWS`
    such divisions the one nearest to the shares is taken, so a group much larger than the others tends to go where most
    rows go.

    Parameters
    ----------
    labels
        0 or 1 of each row.
    groups
        Code of each row's group, 0 to G - 1.
    shares
        Share of the rows that each part should have; they sum to 1.
    rng
        Source of the draws.
    """
    profiles = np.stack([np.bincount(groups, weights=labels == label) for label in (0, 1)], axis=1).astype(float)
    wanted = np.outer(shares, profiles.sum(axis=0))
    alike = _alike(profiles)
    draws = [_division(alike, profiles, wanted, rng) for _ in range(DRAWS)]
    return min(draws, key=lambda parts: _distance(parts, profiles, wanted))[groups]


def _alike(profiles: NDArray[np.float64]) -> list[Integers]:
    """Groups with as many rows of each label, the largest first."""
    order = np.lexsort((profiles[:, 1], profiles.sum(axis=1)))[::-1]
    new = np.flatnonzero(np.diff(profiles[order], axis=0).any(axis=1)) + 1
    return np.split(order, new)


def _division(
    alike: list[Integers], profiles: NDArray[np.float64], wanted: NDArray[np.float64], rng: np.random.Generator
) -> Integers:
    """Part of each group."""
    parts, lacking = np.empty(len(profiles), dtype=np.int64), wanted.copy()
    for members in alike:
        kind = profiles[members[0]]
        counts = _whole_numbers(len(members) * _pull(lacking, kind), rng)
        parts[rng.permutation(members)] = np.repeat(np.arange(len(wanted)), counts)
        lacking -= np.outer(counts, kind)
    return parts


def _pull(lacking: NDArray[np.float64], kind: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the groups of one kind that each part should get, by what it still lacks of their labels."""
    need = np.clip(lacking, 0, None) @ kind
    return need / need.sum() if need.sum() > 0 else np.full(len(need), 1 / len(need))


def _whole_numbers(counts: NDArray[np.float64], rng: np.random.Generator) -> Integers:
    """Counts rounded down or up by lot, their sum kept, each right on average."""
    edges = np.floor(np.cumsum(counts)[:-1] + rng.random())
    return np.diff(edges, prepend=0, append=round(counts.sum())).astype(np.int64)


def _distance(parts: Integers, profiles: NDArray[np.float64], wanted: NDArray[np.float64]) -> float:
    """Sum of squared differences between the rows that parts have and should have, of each label."""
    had = np.stack([np.bincount(parts, weights=column, minlength=len(wanted)) for column in profiles.T], axis=1)
    return float(((had - wanted) ** 2).sum())


def rows_balanced(labels: Integers, rng: np.random.Generator) -> Integers:
    """All row numbers, then as many of the rarer label drawn with replacement as it takes to make both equally many."""
    counts = np.bincount(labels, minlength=2)
    rarer = np.flatnonzero(labels == counts.argmin())
    return np.concatenate([np.arange(len(labels)), rng.choice(rarer, counts.max() - counts.min())])
