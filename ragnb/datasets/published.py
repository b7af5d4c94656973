"""Tables that papers printed, as data, with the counts and intervals that they left out."""

from importlib import resources
from math import nan

import pandas as pd

from ragnb.errors import InputError
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

_OVERVIEW = {
    "em": "answer.exact_match",
    "f1": "answer.f1",
    "rlc": "language.rlc",
    "cost": "cost.translation_tokens",
    "cnbe": "cost.cnbe",
    "semantic": "semantic.judged_similarity",
}
_OF_DETECTED = (
    "error_correction",
    "judged_error_detection",
)  # CR is a share of ED*, which stands beside it


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
    if not isinstance(name, str) or name not in PUBLISHED:
        raise InputError(f"published needs one of {', '.join(PUBLISHED)}; got {name!r}; choose one")
    with (resources.files("ragnb.datasets") / "data" / f"{name.replace('.', '_')}.csv").open(
        encoding="utf-8"
    ) as file:
        wide = pd.read_csv(file)
    family = name.partition(".")[0]
    frame = (
        _shares(wide, confidence_level)
        if family == "rgb"
        else _scores(wide)
        if family == "ragbench"
        else _means(wide)
    )
    frame.attrs["source"] = PUBLISHED[name]
    return frame


def _shares(wide: pd.DataFrame, confidence_level: float) -> pd.DataFrame:
    conditions = [column for column in ("language", "noise_rate") if column in wide]
    metrics = [column.removesuffix("_percent") for column in wide if column.endswith("_percent")]
    rows = []
    for record in wide.to_dict("records"):
        of_detected = (
            round(record.get(f"{_OF_DETECTED[1]}_percent", nan) or 0)
            if _OF_DETECTED[0] in metrics
            else 0
        )
        for metric in metrics:
            n = of_detected if metric == _OF_DETECTED[0] else int(record["n"])
            cell = {
                "system": record["model"],
                **{column: record[column] for column in conditions},
                "metric": metric,
            }
            rows.append(cell | _share(float(record[f"{metric}_percent"]), n, confidence_level))
    return pd.DataFrame(rows)


def _share(printed: float, n: int, confidence_level: float) -> dict[str, object]:
    count = round(printed / 100 * n)
    found = rate_interval(count, n, confidence_level=confidence_level)
    return {
        "printed": printed,
        "n": n,
        "count": count,
        "exact": abs(100 * count / n - printed) <= 0.005 + 1e-9,
        **found.columns(),
    }


def _scores(wide: pd.DataFrame) -> pd.DataFrame:
    named = wide.rename(columns={"judge": "system", "n_test_approx": "n"})
    metrics = [column for column in named if column not in ("subset", "n", "system")]
    return named.melt(
        ["subset", "system", "n"], metrics, var_name="metric", value_name="printed"
    ).dropna(ignore_index=True)


def _means(wide: pd.DataFrame) -> pd.DataFrame:
    rows = [
        {
            "system": record["system"],
            "metric": metric,
            "printed": record[field],
            "std": record[f"{field}_std"],
            "n": nan,
        }
        for record in wide.to_dict("records")
        for field, metric in _OVERVIEW.items()
    ]
    return pd.DataFrame(rows)
