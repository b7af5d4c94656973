"""A classifier with known probabilities and known error: two normal classes whose means are `apart` units apart."""

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm


def draw(
    rng: np.random.Generator, n: int, *, apart: float = 2.3, rate: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of class 1 and labels of n items."""
    labels = rng.random(n) < rate
    return of_labels(rng, labels, apart=apart, rate=rate), labels


def of_labels(
    rng: np.random.Generator, labels: np.ndarray, *, apart: float = 2.3, rate: float = 0.5
) -> np.ndarray:
    """Probabilities of class 1 of items with the given labels."""
    return expit(apart * (rng.normal(size=labels.size) + apart * (labels - 0.5)) + logit(rate))


def accepted(threshold: float, *, apart: float = 2.3) -> tuple[float, float]:
    """Share of all items with a confidence of at least the threshold, and the error among them (equal classes)."""
    if threshold > 1:
        return 0.0, 0.0
    cut = logit(threshold) / apart
    wrong, right = norm.cdf(-cut - apart / 2), norm.cdf(-cut + apart / 2)
    return wrong + right, wrong / (wrong + right)
