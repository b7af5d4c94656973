"""What translation gains for what it costs, item by item: every system's F1 beside the baseline's on the same example."""

import re
from math import inf

import numpy as np
import pandas as pd

from ragnb.errors import InputError, check_choice
from ragnb.metrics.cost import VARIANTS, bridging_efficiency
from ragnb.metrics.record import METRICS, Metric
from ragnb.records import require_columns
from ragnb.scoring.columns import check_names, numbers
from ragnb.scoring.scores import score

F1, COST = "answer.f1", "cost.translation_tokens"
"""What CNBE is made of."""


def _efficiency(
    f1_system: float, f1_direct: float, cost: float, *, variant: str, baseline: str, f1: str | None
) -> float:
    """Cost-normalised bridging efficiency (CNBE): `bridging_efficiency` of one example.

    The baseline and the variant of F1 only name the definition.
    """
    return bridging_efficiency(f1_system, f1_direct, cost, variant=variant)


CNBE = Metric(
    "cost.cnbe",
    _efficiency,
    {"f1_system": "f1_system", "f1_direct": "f1_direct", "cost": "tokens_spent"},
    higher_is_better=True,
    bounds=(-inf, inf),
    source="kanoes/LBRAG-NEW experiments/scripts/experiment.py",
    options={"variant": "ratio", "baseline": "direct", "f1": "unicode"},
    condition="no translation",
    variants={
        "variant": {
            "ratio": "Gain divided by cost; undefined without translation.",
            "lbrag": "The same, and 0 if the cost is 0, as in the released code of LBRAG.",
        },
        "baseline": {"direct": "The system whose token F1 is subtracted."},
        "f1": {"unicode": "The variant of `answer.f1`."},
    },
)
"""CNBE of a frame of pairs; `bridging` makes them."""


def known_metric(name: str) -> Metric | None:
    """The record of a metric that ships, `CNBE` included, which `score` does not know by name; None of any other."""
    return CNBE if name == CNBE.name else METRICS.get(name)


def bridging(
    scores: pd.DataFrame, *, baseline: str = "direct", variant: str = "ratio"
) -> pd.DataFrame:
    """Token F1 gained over the baseline per translated token, for every response (CNBE).

    Higher is better; unbounded; nan where an F1 is unscored or the cost unknown. Where nothing was translated, and of the
    baseline itself: nan under ``ratio``, 0.0 under ``lbrag``. Pairs are made by ``example_id`` alone, never by position.

    Parameters
    ----------
    scores
        As `score` returns them, with `F1` and `COST` of all systems; other metrics are left alone.
    baseline
        The system without passages.
    variant
        See `ragnb.metrics.cost.bridging_efficiency`.

    Returns
    -------
    DataFrame
        As `score` returns it, one row a response, with the metric ``cost.cnbe``. Its mean is best summarized with
        ``interval="t"``: the zeros of ``lbrag`` would pass for a rate.

    Raises
    ------
    InputError
        No baseline; an example that the baseline did not answer, or that a system answered twice; F1 of several variants.

    (F1_system - F1_baseline) / cost of the same example.

    Source: kanoes/LBRAG-NEW, experiments/scripts/experiment.py, which pairs by position.

    >>> one = {"example_id": "q1", "metric": [F1, COST], "reason": None, "signature": "s"}
    >>> systems = {"direct": [0.25, 0.0], "lbrag": [0.75, 20.0]}
    >>> scores = pd.concat(pd.DataFrame(one | {"system": name, "value": both}) for name, both in systems.items())
    >>> bridging(scores)[["system", "value"]].values.tolist()
    [['direct', nan], ['lbrag', 0.025]]
    >>> bridging(scores)["reason"][0]
    'it is the baseline'
    """
    check_choice(variant, VARIANTS, "variant")
    pairs = paired_f1(scores, baseline=baseline)
    rows = score(pairs, CNBE, variant=variant, baseline=baseline, f1=_variant_of_f1(scores))
    itself = (rows["system"] == baseline) & (rows["reason"] == CNBE.condition)
    return rows.assign(reason=rows["reason"].mask(itself, "it is the baseline")).drop(
        columns=[*CNBE.columns.values()]
    )


def paired_f1(scores: pd.DataFrame, *, baseline: str = "direct") -> pd.DataFrame:
    """The F1 of every response beside that of the baseline for the same example, and the tokens that it spent.

    Parameters
    ----------
    scores, baseline
        As for `bridging`.

    Returns
    -------
    DataFrame
        The identifying columns of ``scores``, then ``f1_system, f1_direct, tokens_spent`` (0 of the baseline; nan where one
        is unscored or unknown) and ``reason``.

    Raises
    ------
    InputError
        As `bridging`.
    """
    require_columns(
        scores, ("example_id", "system", "metric", "value", "reason", "signature"), "bridging"
    )
    check_names(scores, ("example_id", "system", "metric", "signature", "reason"), "bridging")
    scores = scores.assign(value=numbers(scores, "value", "bridging"))
    if not isinstance(baseline, str) or baseline not in set(scores["system"]):
        systems = ", ".join(map(str, scores["system"].unique())) or "none"
        raise InputError(
            f"CNBE needs the baseline {baseline!r} among the systems; got {systems}; name it, or score it too"
        )
    _variant_of_f1(scores)  # refuses a second
    f1, cost = (_one_a_response(scores, metric) for metric in (F1, COST))
    return _pairs(f1, cost, baseline)


def _one_a_response(scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    rows = scores[scores["metric"] == metric].reset_index(drop=True)
    if rows.empty:
        raise InputError(
            f"CNBE needs scores of {F1} and {COST}; got none of {metric}; score it too"
        )
    twice = rows[rows.duplicated(["system", "example_id"])]
    if len(twice):
        raise InputError(
            f"CNBE needs one response of a system to each example; got {len(twice)} doubled ({_named(twice)}); "
            "drop them, or give repeats and conditions systems of their own"
        )
    return rows


def _pairs(f1: pd.DataFrame, cost: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """The rows of F1 with the columns of `CNBE`, and why one of these is missing."""
    direct = _matched(f1, baseline)
    responses = pd.MultiIndex.from_frame(f1[["system", "example_id"]])
    spent = cost.set_index(["system", "example_id"])["value"].reindex(responses).to_numpy(float)
    own = (f1["system"] == baseline).to_numpy()
    why = [None if pd.isna(said) else f"{baseline}: {said}" for said in direct["reason"]]
    reason = f1["reason"].astype(object).fillna(pd.Series(why, direct.index, dtype=object))
    unknown = pd.Series(np.isnan(spent) & ~own).map({True: "the cost is unknown", False: None})
    return f1.drop(columns=["metric", "value", "signature", "evidence"], errors="ignore").assign(
        f1_system=f1["value"],
        f1_direct=direct["value"],
        tokens_spent=np.where(own, 0.0, spent),
        reason=reason.fillna(unknown),
    )


def _matched(f1: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Beside each row of F1 the baseline's row of the same example."""
    direct = f1[f1["system"] == baseline].set_index("example_id")
    unmatched = f1[~f1["example_id"].isin(direct.index)]
    if len(unmatched):
        raise InputError(
            f"CNBE needs a response of {baseline!r} to every example; got {len(unmatched)} unmatched ({_named(unmatched)}); "
            f"run {baseline!r} on them, or drop them"
        )
    return direct.loc[f1["example_id"]].reset_index()


def _variant_of_f1(scores: pd.DataFrame) -> str | None:
    """The one variant under which F1 was scored."""
    signatures = scores.loc[scores["metric"] == F1, "signature"]
    found = sorted(
        {
            variant
            for signature in signatures
            for variant in re.findall(r"\|variant:([^|]*)", str(signature))
        }
    )
    if len(found) > 1:
        raise InputError(
            f"CNBE needs F1 of one variant; got {' and '.join(found)}; score all systems alike"
        )
    return found[0] if found else None


def _named(rows: pd.DataFrame) -> str:
    """The first three responses by system and example."""
    named = [
        f"{system} {example}"
        for system, example in zip(rows["system"], rows["example_id"], strict=True)
    ]
    return ", ".join(named[:3]) + (", ..." if len(named) > 3 else "")
