"""Tables that papers printed, as data, with the counts and intervals that they left out."""

import pandas as pd

from ragnb.arguments import accepts
from ragnb.datasets.files import DATA
from ragnb.stats.intervals import rate_interval

_RGB = "Chen, Lin, Han, Sun (AAAI 2024), arXiv 2309.01431"
_RAGBENCH = "Friel, Belyi, Sanyal (2024), arXiv 2407.11005v2"
PUBLISHED = {
    "rgb.noise_robustness": f"{_RGB}, table 1",
    "rgb.negative_rejection": f"{_RGB}, table 3",
    "rgb.information_integration": f"{_RGB}, table 5",
    "rgb.counterfactual_robustness": f"{_RGB}, table 7",
    "ragbench.table3": f"{_RAGBENCH}, table 3",
    "lbrag.overview": "kanoes/LBRAG-NEW, metrics.md at commit 5c0d11bc, the example of what the console prints",
}
"""Source of each table."""


@accepts(name=tuple(PUBLISHED), confidence_level="level")
def published(name: str, *, confidence_level: float = 0.95) -> pd.DataFrame:
    """Load a table that a paper printed, one row per printed number.

    Parameters
    ----------
    name
        ``"rgb.noise_robustness"``, ``"rgb.negative_rejection"``, ``"rgb.information_integration"``,
        ``"rgb.counterfactual_robustness"``, ``"ragbench.table3"`` or ``"lbrag.overview"``.
    confidence_level
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        The conditions of the table (``language``, ``noise_rate``, ``subset``), ``system``,
        ``metric``, ``printed`` (as in the paper) and ``n``. For shares also ``count`` (the nearest
        whole number of responses), ``exact`` (whether this count gives the printed number: no count
        out of 300 is 67.68 % or 3.37 %), and ``mean`` with its Wilson interval ``low, high,
        interval, confidence_level``. The denominator of RGB's error correction is the number of
        responses whose error a judge saw detected: 3, 4 and 7. AUROC and RMSE have no interval,
        because the paper printed nothing from which it could be computed. ``"lbrag.overview"`` has
        the column ``std``, and its n is nan, because the document does not state it for this table.
        Its EM of 0.100 ± 0.302 is that of 10 in 100 with n - 1 in the divisor, but its example of
        a ``metrics.json`` with the same numbers says 10, so no interval is derived.
        ``attrs["source"]`` names the source.

    Raises
    ------
    InputError
        The name is unknown.
    """
    frame = pd.read_csv(DATA / f"{name.replace('.', '_')}.csv")
    if name.startswith("rgb."):
        count = (frame["printed"] / 100 * frame["n"]).round().astype(int)
        exact = (100 * count / frame["n"] - frame["printed"]).abs() <= 0.005 + 1e-9
        intervals = [
            rate_interval(k, n, confidence_level=confidence_level).columns()
            for k, n in zip(count, frame["n"], strict=True)
        ]
        frame = frame.assign(count=count, exact=exact).join(pd.DataFrame(intervals))
    frame.attrs["source"] = PUBLISHED[name]
    return frame
