"""Split conformal prediction: the calibration score that becomes the threshold, and its coverage."""

# Tested in tests/widgets/test_explorables.py.

from math import ceil
from typing import Any

import numpy as np

from ragnb.arguments import Booleans, Floats, accepts, as_rate
from ragnb.conformal.sets import conformal_rank, coverage_distribution, too_few_items
from ragnb.datasets.packaged_studies import load_study
from ragnb.errors import InputError
from ragnb.explorables.chart import histogram
from ragnb.explorables.scene import Control, Frame, Scene, evenly_spaced, explorable


def labelled_replies() -> tuple[Any, Any]:
    """Similarities of replies to the reference, and whether each reply is correct."""
    study = load_study("sample-labelled-en")
    replies = study.query("system == 'answer' and noise_rate == 0.4")
    return replies["embedding_cosine"], replies["label"]


@explorable(
    "conformal",
    question="Which calibration score becomes the threshold, and what does it promise?",
    alt="Histogram of the calibration scores, with the threshold marked.",
    data="probability of label 1; label",
    changes="threshold and coverage",
    sample=labelled_replies,
)
@accepts(probability="probabilities", label="labels")
def conformal(probability: Floats, label: Booleans) -> Scene:
    """Return the scene of items with a predicted probability and a true label."""
    if len(label) < 18:
        raise InputError(f"label must have at least 18 items, got {len(label)}")
    # The nonconformity score: one minus the predicted probability of the true label.
    scores = np.where(label, 1 - probability, probability)
    edges = np.linspace(0, 1, 21)

    def frame(alpha: float, n: int) -> Frame:
        """The histogram of n calibration scores with the threshold for α, and what it guarantees."""
        calibration, others = np.sort(scores[:n]), scores[n:]
        rank = conformal_rank(n, as_rate(alpha))
        problem = too_few_items(n, as_rate(alpha))
        if problem:
            # No score is negative, so the histogram has no threshold.
            threshold, note = -1.0, ""
            sentence = f"There is no threshold: {problem}."
        else:
            threshold = calibration[rank - 1]
            # The note is written on the side of the threshold that has more room.
            note = "included ← threshold " if threshold > 0.5 else " threshold → excluded"
            coverage = coverage_distribution(n, as_rate(alpha))
            low, high = coverage.ppf(0.05), coverage.ppf(0.95)
            percent_covered = 100 * np.mean(others <= threshold)
            sentence = (
                f"With α = {alpha:.2f} and n = {n}, the threshold is score number {rank} in ascending "
                f"order, {threshold:.3f}. The mean coverage is {coverage.mean():.3f}. In 90 % of "
                f"calibration sets of this size the coverage is between {low:.3f} and "
                f"{high:.3f}. Of the {len(others)} other items here, "
                f"{percent_covered:.1f} % are covered."
            )
        counts, _ = np.histogram(calibration, edges)
        excluded_counts, _ = np.histogram(calibration[rank:], edges)
        labels = "nonconformity score of the true label", "items"
        return Frame(sentence, histogram(edges, counts, excluded_counts, threshold, labels, note))

    half = ceil(len(scores) / 2)
    sizes = evenly_spaced(1, len(scores) - 1, 11, start=half)
    controls = [
        Control("error rate α", [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5], 0.1),
        Control("calibration items n", sizes, half),
    ]
    return Scene(controls, frame)
