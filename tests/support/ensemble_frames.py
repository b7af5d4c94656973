"""Frames that the tests of the ensemble share."""

import numpy as np
import pandas as pd

from ragnb.ensemble import DataSplit, MetricEnsemble

METRICS = ["token_overlap_recall", "deberta_answer_entailment", "flesch_reading_ease"]


def metrics_and_labels(n=400, seed=0, share=0.6, signal=1.5):
    """Two metrics that tell of the label and one that does not; index labels are no positions."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    columns = [
        signal * y + rng.normal(size=n),
        0.5 * signal * y + rng.normal(size=n),
        50 + 20 * rng.normal(size=n),
    ]
    index = [f"answer/{row}" for row in rng.permutation(n)]
    return pd.DataFrame(dict(zip(METRICS, columns, strict=True)), index=index), pd.Series(
        y, index=index
    )


def fitted(n=400, seed=0, **options):
    """An ensemble and the split that it was made of."""
    split = DataSplit(*metrics_and_labels(n, seed), random_state=seed)
    return MetricEnsemble(split.train, split.calibration, random_state=seed, **options), split
