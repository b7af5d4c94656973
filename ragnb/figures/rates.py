"""Which means have the axis of shares, from 0 to 1."""

import pandas as pd

from ragnb.scoring.columns import record_of


def are_shares(rates: pd.DataFrame) -> bool:
    """Whether rates have the axis from 0 to 1: by the bounds of their metric, or else by their values."""
    for metric in rates["metric"].unique() if "metric" in rates else ():
        record = record_of(str(metric), " ".join(map(str, rates.get("signature", ()))))
        if record is not None and record.bounds != (0, 1):
            return False
    # Differences that were computed elsewhere have no means.
    values = rates["mean"] if "mean" in rates else rates["difference"].abs()
    return bool(values.dropna().between(0, 1).all())
