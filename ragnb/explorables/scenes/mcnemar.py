"""McNemar's test: only the questions on which two systems differ decide."""

# Tested in tests/widgets/test_explorables.py.

from math import ceil
from typing import Any

import numpy as np
from scipy.stats import binom

from ragnb.explorables.chart import Chart, histogram
from ragnb.explorables.scene import Control, Frame, Scene, evenly_spaced, explorable
from ragnb.explorables.two_systems import p_text, system_names, two_prompts
from ragnb.stats.binary import PairedTable, mcnemar_test, paired_table


@explorable(
    "mcnemar",
    question="Which questions decide between two systems?",
    alt="Distribution of the questions on which one system is correct, with the observed number marked.",
    data="0/1 scores of two systems",
    changes="p-values of McNemar's test",
    sample=two_prompts,
)
def mcnemar(first: Any, second: Any) -> Scene:
    """Return the scene of two systems with 0/1 scores of the same questions."""
    table = paired_table(first, second)
    first_name, second_name = system_names(first, second)
    label = f"questions that only {first_name} answers correctly, if both were equally good"

    def frame(first_only: int, second_only: int, both: int, neither: int) -> Frame:
        """The p-values for a paired table, and the binomial distribution under the null hypothesis."""
        counts = PairedTable(both, first_only, second_only, neither)
        n_discordant = first_only + second_only
        exact = mcnemar_test(counts, method="exact").p_value
        mid_p = mcnemar_test(counts, method="mid-p").p_value
        difference = (first_only - second_only) / max(counts.n, 1)
        return Frame(
            f"The systems differ on {n_discordant} questions: only {first_name} is correct on "
            f"{first_only}, only {second_name} on {second_only}. The exact test gives "
            f"{p_text(exact)}, the mid-p test {p_text(mid_p)}. The {both + neither} "
            "other questions do not affect these p-values. The difference in accuracy over all "
            f"{counts.n} questions is {difference:.3f}.",
            _distribution(first_only, n_discordant, label),
        )

    most_discordant = max(30, 2 * table.first_only, 2 * table.second_only)
    most_concordant = max(100, 2 * table.both, 2 * table.neither)

    def counter(text: str, count: int, most: int, n: int) -> Control:
        """A control for a count of the paired table, which starts at the observed one."""
        return Control(text, evenly_spaced(0, most, n, start=count), count)

    controls = [
        counter(f"only {first_name} correct", table.first_only, most_discordant, 7),
        counter(f"only {second_name} correct", table.second_only, most_discordant, 7),
        counter("both correct", table.both, most_concordant, 2),
        counter("neither correct", table.neither, most_concordant, 2),
    ]
    return Scene(controls, frame)


def _distribution(observed: int, n: int, label: str) -> Chart:
    """The binomial distribution under the null hypothesis, with its two tails in colour."""
    fewer = min(observed, n - observed)
    # Show the tails, but not the many counts beyond them whose probability is almost 0.
    reach = max(n / 2 - fewer + 1, min(n / 2, 2.5 * n**0.5))
    counts = np.arange(ceil(n / 2 - reach), int(n / 2 + reach) + 1)
    probabilities = binom.pmf(counts, n, 0.5)
    is_extreme = np.minimum(counts, n - counts) <= fewer
    tails = np.where(is_extreme, probabilities, 0)
    edges = np.append(counts, counts[-1] + 1) - 0.5
    return histogram(edges, probabilities, tails, observed, (label, "probability"), " observed ")
