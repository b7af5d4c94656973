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
        condition = {
            "noise_rate": rate,
            "passage_num": passage_num,
            "correct_rate": float(correct_rate),
            "order": order,
        }
        for example in examples.to_dict("records"):
            if order == "released":
                draw = place = Random(RELEASED_SEED)
            else:  # what draws passages and what orders them must not mix
                key = f"{seed}:{example['example_id']}"
                draw, place = Random(f"{key}:draw"), Random(key)
            shown = draw_passages(example, rate, passage_num, correct_rate, draw, place)
            kinds = [kind for kind, _ in shown]
            described = {
                "passages": [passage for _, passage in shown],
                "kinds": kinds,
                "n_passages": len(shown),
                "effective_noise_rate": kinds.count("negative") / len(shown) if shown else math.nan,
            }
            contexts.append(example | condition | described)
    frame = pd.DataFrame(contexts)
    frame.attrs = dict(examples.attrs)  # where the questions come from
    return frame


def check_examples(examples: pd.DataFrame, what: str) -> None:
    """Raise InputError unless a frame has RGB's questions, with lists of passages and answers."""
    require_columns(examples, RGB_EXAMPLE, what)
    if examples.empty or examples["example_id"].isna().any():
        raise InputError(f"{what} needs at least one example, and an example_id in every row")
    for name in ("references", "positive", "negative", "positive_wrong", "false_answers"):
        odd = [cell for cell in examples[name] if not isinstance(cell, list)]
        if odd:
            raise InputError(
                f"{what}: the column {name} must contain lists, as load_rgb gives them, got "
                f"{odd[0]!r:.60}"
            )


def draw_passages(
    example: dict[str, Any],
    noise_rate: float,
    passage_num: int,
    correct_rate: float,
    draw: Random,
    place: Random,
) -> list[Passage]:
    """(kind, passage) pairs in the order shown: chosen with ``draw`` and ordered with ``place``."""
    if passage_num == 0:
        return []
    n_negative = ceil_share(passage_num, noise_rate)
    negatives = [("negative", passage) for passage in example["negative"]]
    if example["task"] == "integration":
        shown = _one_of_each_group(example["positive"], passage_num - n_negative, draw)
        shown += negatives[: max(0, passage_num - len(shown))]
    elif example["task"] == "counterfactual":
        shown = _false_and_true(
            example, passage_num - n_negative, ceil_share(passage_num, correct_rate), draw
        )
        shown += negatives[:n_negative]
    else:
        shown = _filled_up(
            example["positive"][0], negatives, n_negative, passage_num, alone=noise_rate == 1
        )
    place.shuffle(shown)
    return shown


def _filled_up(
    positive: list[str], negatives: list[Passage], n_negative: int, passage_num: int, *, alone: bool
) -> list[Passage]:
    """Draw for a base file: if one kind runs short, the other fills up, except at noise rate 1."""
    n_positive = max(passage_num - n_negative, passage_num - len(negatives))
    n_negative = max(n_negative, passage_num - len(positive))
    shown = [] if alone else [("positive", passage) for passage in positive[:n_positive]]
    return shown + negatives[:n_negative]


def _one_of_each_group(groups: list[list[str]], quota: int, rng: Random) -> list[Passage]:
    """Draw for an integration file: one passage from every group, then second and third ones up to the quota."""
    shuffled = [list(group) for group in groups]
    for group in shuffled:
        rng.shuffle(group)
    in_turn = [
        ("positive", group[depth])
        for depth in range(max(map(len, shuffled)))
        for group in shuffled
        if len(group) > depth
    ]
    return in_turn[: max(quota, len(groups))]


def _false_and_true(
    example: dict[str, Any], n_not_negative: int, n_true: int, rng: Random
) -> list[Passage]:
    """Draw for a counterfactual file: false passages first, then true ones from the remaining indices."""
    n_false = n_not_negative - n_true
    if n_false < 0:
        raise InputError(
            f"noise_rate and correct_rate are too high together: correct_rate requires "
            f"{n_true} true passages, but noise_rate leaves only {n_not_negative} that are not noise; "
            "lower one of the rates"
        )
    indices = list(range(len(example["positive_wrong"])))
    chosen = rng.sample(indices, min(len(indices), n_false))
    left = [index for index in indices if index not in chosen]
    true = rng.sample(left, min(len(left), n_true)) if n_true and left else []
    wrong, right = example["positive_wrong"], example["positive"][0]
    return [("wrong", wrong[index]) for index in chosen] + [
        ("positive", right[index]) for index in true
    ]


def ceil_share(passage_num: int, rate: float) -> int:
    """Return the ceiling of passage_num x rate, computed with the decimal as it is written.

    >>> ceil_share(25, 0.28), ceil_share(5, 0.3)
    (7, 2)
    """
    return math.ceil(passage_num * Fraction(str(float(rate))))
