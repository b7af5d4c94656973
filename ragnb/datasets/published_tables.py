"""Tables of published results, as printed."""

import pandas as pd

from ragnb.arguments import accepts
from ragnb.datasets.files import PACKAGED_DATA
from ragnb.display import shown
from ragnb.stats.intervals import rate_interval

_RGB = "Chen, Lin, Han, Sun (AAAI 2024), arXiv 2309.01431"


_RAGBENCH = "Friel, Belyi, Sanyal (2024), arXiv 2407.11005v2"


# Source of each table.
PUBLISHED = {
    "rgb.noise_robustness": f"{_RGB}, table 1",
    "rgb.negative_rejection": f"{_RGB}, table 3",
    "rgb.information_integration": f"{_RGB}, table 5",
    "rgb.counterfactual_robustness": f"{_RGB}, table 7",
    "ragbench.table3": f"{_RAGBENCH}, table 3",
    "lbrag.overview": "kanoes/LBRAG-NEW, metrics.md at commit 5c0d11bc, the example of the console output",
    "continuous_eval.ensemble": "continuous-eval, documentation, Metric Ensembling, the example output",
}


# What a table allows to conclude.
NOTES = {
    "continuous_eval.ensemble": "GPT-4 decided 37 of 235 answers, after which 8 more were correct. How many "
    "answers became correct and how many became wrong was not published. The possible counts range from 8 and 0 (McNemar "
    "mid-p 0.004) to 22 and 14 (0.188). The table therefore does not show whether the gain is larger than chance.",
}


@accepts(name=tuple(PUBLISHED), confidence_level="level")
def published(name: str, *, confidence_level: float = 0.95) -> pd.DataFrame:
    """Load a table of a paper, one row per printed number.

    Parameters
    ----------
    name
        ``"rgb.noise_robustness"``, ``"rgb.negative_rejection"``, ``"rgb.information_integration"``,
        ``"rgb.counterfactual_robustness"``, ``"ragbench.table3"``, ``"lbrag.overview"`` or
        ``"continuous_eval.ensemble"``.
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
        responses that detect the error according to a judge: 3, 4 and 7.
        ``"continuous_eval.ensemble"`` is a metric ensemble alone and with a judge who decides the
        answers on which it abstains; F1 is left out, because it is not a share. AUROC and RMSE have
        no interval, because the paper printed nothing from which it could be computed.
        ``"lbrag.overview"`` has the column ``std``, and its n is nan, because the document does not
        state it for this table. Its EM of 0.100 ± 0.302 implies n = 100 (a sample standard
        deviation), but its example of a ``metrics.json`` with the same numbers states n = 10, so
        there are no intervals. ``attrs["source"]`` names the source, and ``attrs["note"]`` contains
        remarks on the table, if any.

    Raises
    ------
    InputError
        The name is unknown.
    """
    frame = pd.read_csv(PACKAGED_DATA / f"{name.replace('.', '_')}.csv")
    if name.startswith(("rgb.", "continuous_eval.")):
        share = frame["printed"] / (100 if name.startswith("rgb.") else 1)
        count = (share * frame["n"]).round().astype(int)
        # The papers print two decimals of a percentage, so rounding changes a share by 0.00005 at most.
        # The second number allows for the rounding errors of the computation.
        exact = (count / frame["n"] - share).abs() <= 0.00005 + 1e-11
        intervals = [
            rate_interval(k, n, confidence_level=confidence_level).columns()
            for k, n in zip(count, frame["n"], strict=True)
        ]
        frame = frame.assign(count=count, exact=exact).join(pd.DataFrame(intervals))
    frame.attrs |= {"source": PUBLISHED[name], "note": NOTES.get(name, "")}
    return shown(frame)
