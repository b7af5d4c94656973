"""Statistical power: how large a true difference must be for a sample to show it."""

# Tested in tests/widgets/test_explorables.py.

from typing import Any

import numpy as np

from ragnb.errors import InputError
from ragnb.explorables.chart import Chart
from ragnb.explorables.scene import Control, Frame, Scene, explorable
from ragnb.explorables.two_systems import two_prompts
from ragnb.stats.binary import paired_table
from ragnb.stats.power import mcnemar_mde, mcnemar_power


@explorable(
    "power",
    question="How large must a true difference be for this sample to show it?",
    alt="Power against the true difference, with the minimum detectable effect marked.",
    data="0/1 scores of two systems",
    changes="minimum detectable effect",
    sample=two_prompts,
)
def power(first: Any, second: Any) -> Scene:
    """Return the scene of two systems with 0/1 scores of the same questions."""
    table = paired_table(first, second)
    if table.n < 5:
        raise InputError(f"power needs at least 5 items, got {table.n}")
    observed_share = (table.first_only + table.second_only) / max(table.n, 1)

    def frame(n: int, discordance: float) -> Frame:
        """The power curve for n questions, and the minimum detectable effect."""
        mde = mcnemar_mde(n, discordance=discordance)
        effects = np.linspace(0, min(1, 2.2 * mde), 21)[1:]
        # Two systems differ at least on as many questions as their accuracies differ.
        discordances = np.maximum(discordance, effects)
        first_only = (discordances + effects) / 2
        second_only = (discordances - effects) / 2
        powers = [
            mcnemar_power(n, *probabilities, "mid-p", 0.95)
            for probabilities in zip(first_only, second_only, strict=True)
        ]
        largest = float(effects[-1])
        marks = [
            ("area", [0, 0, mde, mde], [0, 1, 1, 0]),
            ("truth", [0, largest], [0.8, 0.8]),
            ("result", effects, powers),
            ("here", [mde, mde], [0, 1]),
        ]
        notes = [
            (largest, 0.83, "80 %"),
            (0.02 * largest, 0.92, "missed more than one time in five"),
        ]
        return Frame(
            f"With {n} questions, and a share of {discordance:.2f} on which the systems differ, the "
            f"mid-p test detects a true difference of {mde:.3f} with a probability of 80 %. It misses "
            "smaller differences more than one time in five.",
            Chart((0, largest, "true difference"), (0, 1, "power"), marks, notes),
        )

    sizes = np.unique([table.n, 20, 50, 100, 200, 500, 1000]).tolist()
    shares = np.unique([observed_share, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0]).tolist()
    controls = [
        Control("questions n", sizes, table.n),
        Control("share of questions on which the systems differ", shares, observed_share),
    ]
    return Scene(controls, frame)
