"""RGB's contexts: the passages that a model is shown at a noise rate, and their order.

The counts follow ``processdata`` of the released code (chen700564/RGB, commit 65ec39e4, evalue.py).
The number of negatives is the ceiling of the decimal as written: 25 passages at noise rate 0.28
include 7 negatives, and not 8, as in floating-point arithmetic.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Real
from random import Random
from typing import Any

import pandas as pd

from ragnb.arguments import KINDS, accepts
from ragnb.errors import InputError
from ragnb.records import RGB_EXAMPLE, require_columns

Passage = tuple[str, str]  # kind and text
ORDERS = ("per_item", "released")
RELEASED_SEED = 2333


def as_rates(value: Any) -> list[float]:
    """Convert a share between 0 and 1, or several, to a list."""
    rates = [value] if isinstance(value, Real) else list(value)
    if not rates:
        raise InputError("must have at least one rate, got none")
    return [float(KINDS["share"](rate)) for rate in rates]


@accepts(noise_rate=as_rates, passage_num="count", correct_rate="share", order=ORDERS)
def build_contexts(
    examples: pd.DataFrame,
    *,
    noise_rate: float | Sequence[float] = (0.0,),
    passage_num: int = 5,
    correct_rate: float = 0.0,
    order: str = "per_item",
    seed: int = 0,
) -> pd.DataFrame:
    """Add the passages that RGB shows for each example at a noise rate.

    Parameters
    ----------
    examples
        As `load_rgb` returns them.
    noise_rate
        Share of passages without the answer, in [0, 1]. Several rates give several rows per
        example.
    passage_num
        Number of passages to show; 0 is the closed-book baseline.
    correct_rate
        For counterfactual examples only: share of true passages, in [0, 1]. The others contain the
        false answer.
    order
        ``"per_item"``: each example has its own permutation, drawn from (``seed``,
        ``example_id``), the same at every noise rate. ``"released"``: exactly the contexts of the
        released code, which seeds its generator with 2333 before every item. In base files (noise
        and rejection), all examples with equally many passages therefore share one permutation. At
        noise rate 0.8, for example, the only true passage of five is always last. In integration
        files each group of passages is shuffled first, so the permutation depends on the sizes of
        the groups and differs between questions.
    seed
        For ``order="per_item"``.

    Returns
    -------
    DataFrame
        The examples' columns and ``noise_rate, passage_num, correct_rate, order, passages, kinds,
        n_passages, effective_noise_rate``. An example with few passages shows fewer than requested,
        or more negatives. ``n_passages`` and ``effective_noise_rate`` describe what is shown.

    Raises
    ------
    InputError
        The frame does not come from `load_rgb`, a rate is outside [0, 1], ``passage_num`` is
        negative or fractional, the rates together need more than ``passage_num`` passages, or the
        order is unknown.
    """
    check_examples(examples, "build_contexts")
    contexts = []
    for rate in noise_rate:  # type: ignore[union-attr]
        for example in examples.to_dict("records"):
            if order == "released":
                draw = place = Random(RELEASED_SEED)
            else:  # what draws passages and what orders them must not mix
                key = f"{seed}:{example['example_id']}"
                draw, place = Random(f"{key}:draw"), Random(key)
            shown = _drawn(example, rate, passage_num, correct_rate, draw) if passage_num else []
            place.shuffle(shown)
            kinds = [kind for kind, _ in shown]
            context = {
                "noise_rate": rate,
                "passage_num": passage_num,
                "correct_rate": float(correct_rate),
                "order": order,
                "passages": [passage for _, passage in shown],
                "kinds": kinds,
                "n_passages": len(shown),
                "effective_noise_rate": kinds.count("negative") / len(shown) if shown else math.nan,
            }
            contexts.append(example | context)
    frame = pd.DataFrame(contexts)
    frame.attrs = dict(examples.attrs)  # where the questions come from
    return frame


def check_examples(examples: pd.DataFrame, what: str) -> None:
    """Raise InputError unless a frame has RGB's questions, with lists of passages and answers."""
    require_columns(examples, RGB_EXAMPLE, what)
    if examples.empty:
        raise InputError(f"{what} needs at least one example, got none")
    for name in ("references", "positive", "negative", "positive_wrong", "false_answers"):
        odd = [cell for cell in examples[name] if not isinstance(cell, list)]
        if odd:
            raise InputError(
                f"{what}: the column {name} must contain lists, as load_rgb gives them, got "
                f"{odd[0]!r:.60}"
            )


def _drawn(
    example: dict[str, Any], noise_rate: float, passage_num: int, correct_rate: float, draw: Random
) -> list[Passage]:
    """(kind, passage) pairs that an example shows, before they are put into their order."""
    n_negative = ceil_share(passage_num, noise_rate)
    quota = passage_num - n_negative
    groups, wrong = example["positive"], example["positive_wrong"]
    negatives = [("negative", passage) for passage in example["negative"]]
    if example["task"] == "integration":
        # One passage of every group, then second and third ones up to the quota.
        shuffled = [list(group) for group in groups]
        for group in shuffled:
            draw.shuffle(group)
        in_turn = [
            ("positive", group[depth])
            for depth in range(max(map(len, shuffled)))
            for group in shuffled
            if len(group) > depth
        ]
        shown = in_turn[: max(quota, len(groups))]
        return shown + negatives[: max(0, passage_num - len(shown))]
    if example["task"] == "counterfactual":
        # False passages first, then true ones from the remaining indices.
        n_true = ceil_share(passage_num, correct_rate)
        if n_true > quota:
            raise InputError(
                f"noise_rate and correct_rate are too high together: correct_rate requires "
                f"{n_true} true passages, but noise_rate leaves only {quota} that are not noise; "
                "lower one of the rates"
            )
        indices = range(len(wrong))
        chosen = draw.sample(indices, min(len(indices), quota - n_true))
        left = [index for index in indices if index not in chosen]
        true = draw.sample(left, min(len(left), n_true)) if n_true and left else []
        shown = [("wrong", wrong[index]) for index in chosen]
        shown += [("positive", groups[0][index]) for index in true]
        return shown + negatives[:n_negative]
    # If one kind runs short, the other fills up, except at noise rate 1.
    positives = [("positive", passage) for passage in groups[0] if noise_rate < 1]
    shown = positives[: max(quota, passage_num - len(negatives))]
    return shown + negatives[: max(n_negative, passage_num - len(groups[0]))]


def ceil_share(passage_num: int, rate: float) -> int:
    """Return the ceiling of passage_num x rate, computed with the decimal as it is written.

    >>> ceil_share(25, 0.28), ceil_share(5, 0.3)
    (7, 2)
    """
    return math.ceil(passage_num * Fraction(str(float(rate))))
