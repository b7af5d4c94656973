"""Frames of scores made from lists of values, in the columns of `ragnb.score`."""

import numpy as np
import pandas as pd


def scored(systems, metric="own.f1", ids=None, **columns):
    """Scores of one metric, from ``{system: values}``."""
    signature = f"v|metric:{metric}"
    parts = []
    for system, values in systems.items():
        names = ids or [f"q{k}" for k in range(len(values))]
        identity = pd.DataFrame({"example_id": names, "system": system}).assign(**columns)
        parts.append(identity.assign(metric=metric, value=values, signature=signature))
    return pd.concat(parts, ignore_index=True)


def with_costs(systems, variant="unicode", **columns):
    """Scores of token F1 and translated tokens, from ``{system: (F1 of each example, costs)}``."""
    parts = [
        scored({system: np.array(values, dtype=float)}, metric, variant=variant)
        for system, both in systems.items()
        for metric, values in zip(("answer.f1", "cost.translation_tokens"), both, strict=True)
    ]
    frame = pd.concat(parts, ignore_index=True)
    reason = frame["value"].isna().map({True: "no response", False: None})
    signature = frame["signature"] + "|variant:" + frame.pop("variant")
    return frame.assign(reason=reason, signature=signature, **columns)
