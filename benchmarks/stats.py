"""Statistics on arrays, next to scipy, statsmodels, scikit-learn and ppi-python.

Scores look like token F1 with two decimals. Peers that resample draw 10,000 resamples. ragnb
computes the exact bootstrap or permutation distribution instead. Its AUROC has an interval.
"""

import warnings

import krippendorff
import numpy as np
from scipy.stats import bootstrap, permutation_test
from sklearn.metrics import roc_auc_score
from statsmodels.api import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from benchmarks.timing import measure
from ragnb.stats import (
    agreement_interval,
    auroc,
    bca_interval,
    mcnemar_test,
    mean_interval,
    paired_table,
    ppi_mean,
    sign_flip_interval,
    sign_flip_test,
)

RESAMPLED = {"n_resamples": 10_000, "batch": 500, "rng": 0}


def _tests(n: int) -> dict[str, dict]:
    rng = np.random.default_rng(n)
    x, y = (np.round(np.clip(rng.normal(m, 0.35, n), 0, 1), 2) for m in (0.62, 0.60))
    difference, clusters = x - y, np.arange(n) // 3
    cluster_robust = {"cov_type": "cluster", "cov_kwds": {"groups": clusters}}
    flips = {"permutation_type": "samples", **RESAMPLED}
    return {
        "BCa interval of a paired difference": {
            "ragnb": lambda: bca_interval(difference),
            "scipy `bootstrap`": lambda: bootstrap((difference,), np.mean, **RESAMPLED),
        },
        "sign-flip permutation test": {
            "ragnb": lambda: sign_flip_test(x, y),
            "scipy `permutation_test`": lambda: permutation_test((difference,), np.mean, **flips),
        },
        "sign-flip interval": {"ragnb": lambda: sign_flip_interval(x, y)},
        "exact McNemar test": {
            "ragnb": lambda: mcnemar_test(paired_table(x > 0.5, y > 0.5), method="exact"),
            "statsmodels `mcnemar`": lambda: mcnemar(
                np.histogram2d(x > 0.5, y > 0.5, 2)[0], exact=True
            ),
        },
        "cluster-robust mean": {
            "ragnb": lambda: mean_interval(x, clusters),
            "statsmodels `OLS`": lambda: OLS(x, np.ones(n)).fit(**cluster_robust).bse,
        },
        "AUROC": {
            "ragnb, with interval": lambda: auroc(x > 0.5, y),
            "scikit-learn `roc_auc_score`": lambda: roc_auc_score(x > 0.5, y),
        },
    }


def _agreement(n: int) -> dict[str, dict]:
    """Agreement of three annotators on n items, each of them right in 80 % of the items."""
    rng = np.random.default_rng(n)
    truth = rng.integers(0, 3, n)
    right = rng.random((n, 3)) < 0.8
    ratings = np.where(right, truth[:, None], rng.integers(0, 3, (n, 3)))
    return {
        "Fleiss' kappa of three annotators": {
            "ragnb, with interval": lambda: agreement_interval("Fleiss' kappa", ratings),
            "statsmodels `fleiss_kappa`": lambda: fleiss_kappa(aggregate_raters(ratings)[0]),
        },
        "Krippendorff's alpha of three annotators": {
            "ragnb, with interval": lambda: agreement_interval("Krippendorff's alpha", ratings),
            "krippendorff `alpha`": lambda: krippendorff.alpha(
                ratings.T, level_of_measurement="nominal"
            ),
        },
    }


def _ppi(labels: int, n: int) -> dict:
    with warnings.catch_warnings():  # the package changes the filters when it is imported
        from ppi_py import ppi_mean_ci

    rng = np.random.default_rng(labels)
    truth = rng.beta(2, 2, labels + n)
    judged = np.clip(truth + rng.normal(0.1, 0.2, labels + n), 0, 1)
    lists = truth[:labels], judged[:labels], judged[labels:]
    return {
        "ragnb": lambda: ppi_mean(*lists),
        "ppi-python `ppi_mean_ci`": lambda: ppi_mean_ci(*lists, alpha=0.05),
    }


def rows() -> list[dict]:
    """Time each statistic on 300 and on 10,000 items."""
    timings = []
    for n in (300, 10_000):
        for task, ways in (_tests(n) | _agreement(n)).items():
            timings += measure(task, n, ways)
    for labels, n in ((100, 1_000), (1_000, 1_000_000)):
        timings += measure(f"PPI++ mean with {labels:,} labels", n, _ppi(labels, n))
    return timings
