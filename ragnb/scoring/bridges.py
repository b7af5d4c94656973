"""Cost-normalised bridging efficiency (CNBE): the F1 that translation adds per translated token."""

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.metrics.cost import NO_TRANSLATION
from ragnb.metrics.record import METRICS
from ragnb.scoring.columns import numbers
from ragnb.scoring.scores import score

# The metrics that CNBE combines.
F1, COST = "answer.f1", "cost.translation_tokens"

# Unlike other metrics, CNBE needs a frame with pairs of scores, which `paired_f1` creates.
CNBE = METRICS["cost.cnbe"]


@accepts(variant=tuple(CNBE.variants["variant"]))
def bridging(
    scores: pd.DataFrame, *, baseline: str = "direct", variant: str = "ratio"
) -> pd.DataFrame:
    """Compute the token F1 gained over the baseline per translated token, for each response (CNBE).

    CNBE = (F1_system - F1_baseline) / cost, all three of the same example. Higher is better, and the
    value is unbounded. It is nan if an F1 is unscored or the cost is unknown. If nothing was
    translated, and for the baseline itself, it is nan under ``ratio`` and 0.0 under ``lbrag``.
    Responses are paired by ``example_id`` and never by position.

    Parameters
    ----------
    scores
        As `score` returns them, with `F1` and `COST` of all systems. Other metrics are ignored.
    baseline
        The system without passages.
    variant
        See `ragnb.metrics.cost.bridging_efficiency`.

    Returns
    -------
    DataFrame
        As `score` returns it, one row per response, with the metric ``cost.cnbe``.

    Raises
    ------
    InputError
        If the baseline is missing or did not answer an example, if a system answered an example
        twice, or if F1 was scored under several variants.

    Source: kanoes/LBRAG-NEW, experiments/scripts/experiment.py, which pairs by position.

    >>> one = {"example_id": "q1", "metric": [F1, COST], "reason": None, "signature": "s"}
    >>> systems = {"direct": [0.25, 0.0], "lbrag": [0.75, 20.0]}
    >>> parts = [pd.DataFrame(one | {"system": s, "value": v}) for s, v in systems.items()]
    >>> bridging(pd.concat(parts))[["system", "value"]].values.tolist()
    [['direct', nan], ['lbrag', 0.025]]
    >>> bridging(pd.concat(parts))["reason"][0]
    'it is the baseline'
    """
    pairs, f1 = paired_f1(scores, baseline=baseline)
    rows = score(pairs, CNBE, variant=variant, baseline=baseline, f1=f1)
    # The baseline translates nothing by definition, so that is not its reason.
    is_baseline = (rows["system"] == baseline) & (rows["reason"] == NO_TRANSLATION)
    rows["reason"] = rows["reason"].mask(is_baseline, "it is the baseline")
    return rows.drop(columns=[*CNBE.columns.values()])


def paired_f1(scores: pd.DataFrame, *, baseline: str = "direct") -> tuple[pd.DataFrame, str | None]:
    """Pair the F1 of every response with that of the baseline for the same example, and add the cost.

    The first result is a frame with one row per response. It has the identifying columns of
    ``scores``, then ``f1_system``, ``f1_direct``, ``tokens_spent`` and ``reason``. The baseline spends
    0 tokens. A number is nan if it is unscored or unknown. The second result is the variant of F1, or
    None if the signatures state none.
    """
    key = ["system", "example_id"]
    require_columns(scores, [*key, "metric", "value", "reason", "signature"], "bridging")
    # A signature is a list of marks, such as "metric:answer.f1|variant:unicode|lang:en".
    marks = scores.loc[scores["metric"] == F1, "signature"].astype(str).str.split("|").explode()
    variants = sorted(
        {mark.removeprefix("variant:") for mark in marks if mark.startswith("variant:")}
    )
    # A difference between two variants of F1 means nothing.
    if len(variants) > 1:
        raise InputError(
            f"CNBE needs F1 of one variant, got {' and '.join(variants)}; score all systems alike"
        )
    scores = scores.assign(value=numbers(scores, "value", "bridging"))
    f1 = scores[scores["metric"] == F1].reset_index(drop=True)
    cost = scores[scores["metric"] == COST].reset_index(drop=True)
    if f1.empty or cost.empty:
        raise InputError(f"CNBE needs scores of {F1} and {COST}; score both of them")
    for rows in (f1, cost):
        require_columns(rows, (), "CNBE", unique=key)
    is_baseline = (f1["system"] == baseline).to_numpy()
    f1_of_baseline = f1[is_baseline].set_index("example_id")
    has_partner = f1["example_id"].isin(f1_of_baseline.index)
    unmatched = f1.loc[~has_partner, key].astype(str).agg(" ".join, axis=1)
    if len(unmatched):
        raise InputError(
            f"CNBE needs a response of the baseline {baseline!r} to every example, got "
            f"{len(unmatched)} unmatched ({', '.join(unmatched[:3])}); run {baseline!r} on them, or "
            "drop them"
        )
    # One row per response: the baseline's score of the same example, and the cost.
    direct = f1_of_baseline.loc[f1["example_id"]].reset_index()
    responses = pd.MultiIndex.from_frame(f1[key])
    spent = cost.set_index(key)["value"].reindex(responses).to_numpy()
    # Why there is no value: the response has no F1, the baseline has none, or the cost is unknown.
    # A reason that is missing in the baseline remains missing, also with its name in front.
    reason = f1["reason"].astype(object)
    reason = reason.fillna(f"{baseline}: " + direct["reason"].astype("str"))
    # The cost of the baseline is 0, even if it was not recorded.
    has_no_cost = np.isnan(spent) & ~is_baseline
    reason[reason.isna() & has_no_cost] = "the cost is unknown"
    columns_of_f1 = ["metric", "value", "signature", "evidence"]
    pairs = f1.drop(columns=columns_of_f1, errors="ignore").assign(
        f1_system=f1["value"],
        f1_direct=direct["value"],
        tokens_spent=np.where(is_baseline, 0.0, spent),
        reason=reason,
    )
    return pairs, variants[0] if variants else None
