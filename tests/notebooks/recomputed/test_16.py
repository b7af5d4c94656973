"""Numbers of notebook 16, computed from its recorded replies by hand."""

import numpy as np
from notebooks.printed import printed
from scipy import stats


def test_wilson_interval_of_the_share_with_a_hit():
    hits, n, z = 69, 212, stats.norm.ppf(0.975)
    centre = (hits + z**2 / 2) / (n + z**2)
    half = z * np.sqrt(hits * (n - hits) / n + z**2 / 4) / (n + z**2)
    assert f"{hits / n:.3f} [{centre - half:.3f}, {centre + half:.3f}]" in printed("16", "c20")
