"""The sign-flip test: mean differences in random worlds in which two systems are swapped by coins."""

# Tested in tests/widgets/test_explorables.py.

from math import ceil
from typing import Any

import numpy as np

from ragnb.explorables.chart import histogram
from ragnb.explorables.scene import Control, Frame, Scene, explorable
from ragnb.explorables.two_systems import p_text, two_prompts
from ragnb.stats.exact import find_lattice, to_lattice
from ragnb.stats.paired import paired_differences, sign_flip_test


@explorable(
    "permutation",
    question="Could this difference be due to chance?",
    alt="Histogram of the mean differences in random worlds, with the observed difference marked.",
    data="scores of two systems",
    changes="mean differences with random signs",
    sample=two_prompts,
)
def permutation(first: Any, second: Any) -> Scene:
    """Return the scene of two systems with scores of the same questions."""
    test = sign_flip_test(first, second)
    differences = paired_differences(np.asarray(first, float), np.asarray(second, float))
    # Integers have no rounding errors, so sums that should be equal are.
    steps, spacing = to_lattice(differences)
    lattice = find_lattice(differences)
    if not spacing:
        spacing = lattice[1] if lattice else 1.0
    mean_per_step = spacing / len(differences)
    observed = int(steps.sum())

    def frame(n_worlds: int, seed: int) -> Frame:
        """The histogram of mean differences with random signs, and the share of extreme ones."""
        coins = np.random.default_rng(seed).choice([-1, 1], (n_worlds, len(steps)))
        sums = coins @ steps
        extreme = sums[np.abs(sums) >= abs(observed)]

        # About 40 bins. All sums are even or all are odd if no step is larger than 1.
        reach = max(np.abs(sums).max(), abs(observed)) + 2
        width = 2 * ceil(reach / 40)
        n_bins = ceil(reach / width)
        places = np.arange(-n_bins - 1, n_bins + 2)
        edges = observed % width + width * (places - 0.5)
        counts, _ = np.histogram(sums, edges)
        extreme_counts, _ = np.histogram(extreme, edges)
        return Frame(
            f"The observed difference is {test.statistic:.3f}. If the two systems were "
            "exchangeable, a difference at least as far from 0 would have probability "
            f"{p_text(test.p_value)}. It occurs in {len(extreme)} of the {n_worlds} random worlds "
            f"({len(extreme) / n_worlds:.4f}).",
            histogram(
                edges * mean_per_step,
                counts,
                extreme_counts,
                observed * mean_per_step,
                ("mean difference in a random world", "worlds"),
                " observed ",
            ),
        )

    controls = [
        Control("random worlds", [10, 30, 100, 300, 1000, 3000], 1000),
        Control("other coins", range(1, 9), 1),
    ]
    return Scene(controls, frame)
