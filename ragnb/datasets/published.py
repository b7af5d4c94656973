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
    """A published table, one row a printed number; its source is in ``attrs["source"]``.

    Parameters
    ----------
    name
        ``"rgb.noise_robustness"``, ``"rgb.negative_rejection"``, ``"rgb.information_integration"``,
        ``"rgb.counterfactual_robustness"``, ``"ragbench.table3"`` or ``"lbrag.overview"``.
    confidence_level
        Of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        The table's conditions (``language``, ``noise_rate``, ``subset``), ``system``, ``metric``, ``printed`` (as in the
        paper), ``n``, and, where the number is a share, ``count`` (the nearest whole number of responses), ``exact``
        (whether that count really gives the printed number: 67.68 and 3.37 per cent of 300 cannot be), ``mean`` and its
        Wilson interval ``low, high, interval, confidence_level``. The denominator of RGB's error correction is the number of
        responses whose error a judge saw detected: 3, 4 and 7. AUROC and RMSE carry no interval: the paper printed nothing
        that it could be computed from. ``"lbrag.overview"`` has ``std`` beside ``printed``, and n is nan: the document does
        not say it for this table. Its EM of 0.100 ± 0.302 is that of 10 in 100 with n - 1 in the divisor, yet its example of
        a ``metrics.json``, with the same numbers, says 10; so no interval is derived.

    Raises
    ------
    InputError
        Unknown name.
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
