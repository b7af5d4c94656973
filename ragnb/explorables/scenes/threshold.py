"""The threshold of a score: sensitivity and specificity at each value."""

# Tested in tests/widgets/test_explorables.py.

from typing import Any

import numpy as np

from ragnb.arguments import Booleans, Floats, accepts
from ragnb.datasets.packaged_studies import load_study
from ragnb.errors import InputError
from ragnb.explorables.chart import histogram
from ragnb.explorables.scene import Control, Frame, Scene, evenly_spaced, explorable
from ragnb.scoring.scores import score


def answers_with_verdicts() -> tuple[Any, Any]:
    """Token F1 of answers of FiD, and people's verdicts on them."""
    answers = load_study("evouna-nq").query("system == 'fid' and improper == 0").head(300)
    return score(answers, "answer.f1")["value"], answers["verdict"]


@explorable(
    "threshold",
    question="At which value does a score accept the right items?",
    alt="Histogram of the scores, with the items with label 1 and the threshold marked.",
    data="scores from 0 to 1; label",
    changes="sensitivity and specificity",
    sample=answers_with_verdicts,
)
@accepts(scores="probabilities", label="labels")
def threshold(scores: Floats, label: Booleans) -> Scene:
    """Return the scene of items with a score and a label."""
    if label.all() or not label.any():
        raise InputError("label must contain both 0 and 1")
    correct, incorrect = scores[label], scores[~label]
    edges = np.linspace(0, 1, 21)
    counts, _ = np.histogram(scores, edges)
    correct_counts, _ = np.histogram(correct, edges)

    def frame(limit: float) -> Frame:
        """The histogram of the scores with a threshold, and its sensitivity and specificity."""
        n_accepted = int((correct >= limit).sum())
        n_rejected = int((incorrect < limit).sum())
        labels = "score (orange: label 1)", "items"
        return Frame(
            f"Of the {len(correct)} items with label 1, {n_accepted} have a score of at least "
            f"{limit:.2f} (sensitivity {n_accepted / len(correct):.3f}). Of the {len(incorrect)} items "
            f"with label 0, {n_rejected} have a lower one (specificity "
            f"{n_rejected / len(incorrect):.3f}).",
            histogram(edges, counts, correct_counts, limit, labels),
        )

    limits = evenly_spaced(0, 1, 41, start=0.5, decimals=3)
    return Scene([Control("threshold", limits, 0.5)], frame)
