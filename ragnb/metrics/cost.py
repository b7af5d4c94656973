"""What a bridge between languages costs, and what it gains for that: cost and CNBE."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ragnb.errors import InputError, check_choice

VARIANTS = ("ratio", "lbrag")


def translation_tokens(passages: Sequence[Any] | None) -> float:
    """Sum of the tokens spent on translating the passages of one response (cost).

    Lower is better. The value is 0 or more, 0.0 if no passage was translated, and nan if the passages were not recorded
    (None).

    Parameters
    ----------
    passages
        One mapping or object per passage. Its ``token_count`` is that of the translation, as ``passage["token_count"]``,
        ``passage["metadata"]["token_count"]`` or the attributes of these names. A passage that was not translated has the
        ``text`` (or ``translated_text``) None and may lack a count.

    Raises
    ------
    InputError
        A passage that was translated but has no token count, or whose count is not a finite number from 0 up.

    Source: ``total_translation_tokens`` of kanoes/LBRAG-NEW, experiments/scripts/experiment.py. There, a passage without a
    count costs nothing.

    >>> translation_tokens([{"text": "…", "token_count": 12}, {"text": None}, {"text": "…", "metadata": {"token_count": 5}}])
    17.0
    """
    if passages is None:
        return math.nan
    if isinstance(passages, str) or not isinstance(passages, Sequence):
        raise InputError(f"translations must be a list of passages or None, got {type(passages).__name__}")
    return math.fsum(_token_count(passage, place) for place, passage in enumerate(passages, start=1))


def _token_count(passage: Any, place: int) -> float:
    for holder in (passage, _part(passage, "metadata")):
        count = _part(holder, "token_count")
        if count is not None:
            return _checked(count, "token_count", 0.0)
    if None in (_part(passage, "text", ""), _part(passage, "translated_text", "")):
        return 0.0
    raise InputError(
        f"passage {place} of translations has no token_count; give the number of tokens of its translation, or "
        "text=None if it was not translated"
    )


def _part(holder: Any, name: str, default: Any = None) -> Any:
    return holder.get(name, default) if isinstance(holder, Mapping) else getattr(holder, name, default)


def bridging_efficiency(f1_system: float | None, f1_direct: float | None, cost: float, *, variant: str = "ratio") -> float:
    """Token F1 gained per translated token, for one item (CNBE, cost-normalised bridging efficiency).

    Higher is better; unbounded, negative where translation harms; nan when either F1 is unscored. At cost 0 it is undefined:
    nan under ``ratio``; ``lbrag`` says 0.0 there and lets such zeros enter the mean.

    Parameters
    ----------
    f1_system, f1_direct
        F1 of the system and of the answer without passages, for the **same** item; nan or None where unscored.
    cost
        Tokens that the system spent on translation for this item.
    variant
        What a cost of 0 gives; ``lbrag`` treats a negative cost likewise.

    Raises
    ------
    InputError
        An F1 outside [0, 1]; a cost that is nan, infinite or, under ``ratio``, negative; an unknown variant.

    (F1_system - F1_direct) / cost. Its mean over items is ruled by the cheap ones; set the ratio of means beside it.

    Source: kanoes/LBRAG-NEW, experiments/scripts/experiment.py.

    >>> bridging_efficiency(0.75, 0.25, 20), bridging_efficiency(0.5, 0, 0), bridging_efficiency(0.5, 0, 0, variant="lbrag")
    (0.025, nan, 0.0)
    """
    lowest = 0.0 if check_choice(variant, VARIANTS, "variant") == "ratio" else -math.inf
    spent = _checked(cost, "cost", lowest)
    gain = _f1(f1_system, "f1_system") - _f1(f1_direct, "f1_direct")
    if math.isnan(gain):
        return math.nan
    if spent > 0:
        return gain / spent
    return 0.0 if variant == "lbrag" else math.nan


def _f1(value: float | None, what: str) -> float:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return math.nan
    return _checked(value, what, 0.0, 1.0)


def _checked(value: Any, what: str, lowest: float, highest: float = math.inf) -> float:
    try:
        number = math.nan if isinstance(value, str | bytes | bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and lowest <= number <= highest):
        raise InputError(f"{what} needs a finite number in [{lowest:g}, {highest:g}]; got {value!r}; leave the item out")
    return number
