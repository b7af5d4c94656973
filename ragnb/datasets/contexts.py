"""RGB's contexts: which passages a model is shown at a noise rate, and in which order.

The counts follow ``processdata`` of the released code (chen700564/RGB, commit 65ec39e4, evalue.py); the number of negatives
is the ceiling of the decimal as written, so 25 passages at noise rate 0.28 hold 7 and not, as in floats, 8.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Real
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from ragnb.datasets.files import texts
from ragnb.errors import InputError, check_choice
from ragnb.metrics.rgb_protocols import answer_parts
from ragnb.records import RGB_EXAMPLE, require_columns
from ragnb.scoring.columns import check_names

Passage = tuple[str, str]  # kind and text
ORDERS = ("per_item", "released")
RELEASED_SEED = 2333


def build_contexts(
    examples: pd.DataFrame,
    *,
    noise_rate: float | Sequence[float] = 0.0,
    passage_num: int = 5,
    correct_rate: float = 0.0,
    order: str = "per_item",
    seed: int = 0,
) -> pd.DataFrame:
    """Examples with the passages that RGB shows for each at a noise rate.

    Parameters
    ----------
    examples
        As `load_rgb` returns them.
    noise_rate
        Share of passages without the answer, in [0, 1]; several rates give several rows an example.
    passage_num
        Passages to show; 0 is the closed-book baseline.
    correct_rate
        Counterfactual examples only: share of true passages, in [0, 1]; the rest holds the false answer.
    order
        ``"per_item"``: each example has its own permutation, drawn from (``seed``, ``example_id``), the same at every
        noise rate. ``"released"``: the released code's contexts to the letter. That code reseeds its generator with 2333
        before every item. In base files (noise and rejection) all examples with equally many passages therefore share one
        permutation; at noise rate 0.8, for example, the only true passage of five is always last. In integration files each
        group of passages is shuffled first, so the permutation depends on the sizes of the groups and differs between
        questions.
    seed
        For ``order="per_item"``.

    Returns
    -------
    DataFrame
        The examples' columns and ``noise_rate, passage_num, correct_rate, order, passages, kinds, n_passages,
        effective_noise_rate``. Short examples hold fewer passages than asked for, or more negatives: ``n_passages`` and
        ``effective_noise_rate`` say what is really shown.

    Raises
    ------
    InputError
        Examples whose passages are not as `load_rgb` gives them, a rate outside [0, 1], a passage number that is negative or
        fractional, rates that together ask for more passages than ``passage_num``, a seed that is no whole number, an
        unknown order.
    """
    check_examples(examples, "build_contexts")
    many = np.iterable(noise_rate) and not isinstance(noise_rate, str)
    rates: list[Any] = list(noise_rate) if many else [noise_rate]  # type: ignore[arg-type]
    if not rates or examples.empty:
        raise InputError(
            "build_contexts needs at least one example and one noise rate; got none; check the frame and rates"
        )
    for rate in rates:
        _check_rate(rate, "noise_rate")
    _check_rate(correct_rate, "correct_rate")
    _check_passage_num(passage_num)
    if not isinstance(seed, int | np.integer):
        raise InputError(f"seed needs a whole number; got {seed!r:.60}; 0 is the default")
    check_choice(order, ORDERS, "order")
    contexts = []
    for rate in rates:
        condition = {
            "noise_rate": float(rate),
            "passage_num": int(passage_num),
            "correct_rate": float(correct_rate),
        }
        for example in examples.to_dict("records"):
            draw, place = _generators(order, f"{seed}:{example['example_id']}")
            shown = draw_passages(example, rate, passage_num, correct_rate, draw, place)
            contexts.append(example | condition | {"order": order} | _describe(shown))
    try:
        frame = pd.DataFrame(contexts)
    except UnicodeEncodeError as error:
        raise InputError(
            f"build_contexts needs whole characters; got {error}; load_rgb replaces halves of pairs"
        ) from error
    frame.attrs = dict(examples.attrs)  # where the questions come from
    return frame


def check_examples(examples: pd.DataFrame, what: str) -> None:
    """Raise InputError unless a frame is one of RGB's questions, its passages lists of texts."""
    require_columns(examples, RGB_EXAMPLE, what)
    check_names(examples, ("example_id", "task"), what)
    if missing := int(examples["example_id"].isna().sum()):
        raise InputError(
            f"{what}: example_id must not be missing, but it is missing in {missing} of {len(examples)} rows"
        )
    for example in examples.to_dict("records"):
        where = f"{what}, question {example['example_id']}"
        groups = example["positive"]
        if not isinstance(groups, list):
            raise InputError(
                f"{where} needs a list of groups of passages in positive; got {groups!r:.60}; see load_rgb"
            )
        if not isinstance(example["question"], str):
            raise InputError(
                f"{where} needs a text in question; got {example['question']!r:.60}; see load_rgb"
            )
        for group in groups:
            texts(group, f"{where}, column positive")
        for name in ("negative", "positive_wrong", "false_answers"):
            texts(example[name], f"{where}, column {name}")
        _check_groups(example, where)
        try:
            answer_parts(example["references"])
        except InputError as error:
            raise InputError(f"{where}, column references: {error}") from None


def _check_groups(example: dict[str, Any], where: str) -> None:
    """Whether there are the passages that a question of its task is shown, as `load_rgb` sees to."""
    groups, wrong = example["positive"], example["positive_wrong"]
    if not groups or (example["task"] == "integration" and not all(groups)):
        raise InputError(
            f"{where} needs a group of passages in positive, none empty; got {groups!r:.60}; fill or drop it"
        )
    if example["task"] == "counterfactual" and len(wrong) > len(groups[0]):
        raise InputError(
            f"{where} needs a true passage for each in positive_wrong; got {len(groups[0])} for {len(wrong)}; see load_rgb"
        )


def draw_passages(
    example: dict[str, Any],
    noise_rate: float,
    passage_num: int,
    correct_rate: float,
    draw: Random,
    place: Random,
) -> list[Passage]:
    """(kind, passage) pairs in the order shown: chosen with ``draw``, ordered with ``place``, in the released sequence."""
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


def _generators(order: str, seed: str) -> tuple[Random, Random]:
    """What draws passages and what orders them: one for both in the released code, else two, so that they do not mix."""
    if order == "released":
        both = Random(RELEASED_SEED)
        return both, both
    return Random(f"{seed}:draw"), Random(seed)


def _filled_up(
    positive: list[str], negatives: list[Passage], n_negative: int, passage_num: int, *, alone: bool
) -> list[Passage]:
    """Base files: when one side runs short the other fills up, except that noise rate 1 shows negatives alone."""
    n_positive = passage_num - n_negative
    if alone:
        n_positive = 0
    elif n_negative > len(negatives):
        n_negative = len(negatives)
        n_positive = passage_num - n_negative
    elif n_positive > len(positive):
        n_positive = len(positive)
        n_negative = passage_num - n_positive
    return [("positive", passage) for passage in positive[:n_positive]] + negatives[:n_negative]


def _one_of_each_group(groups: list[list[str]], quota: int, rng: Random) -> list[Passage]:
    """Integration files: one passage of every group, however many; then second ones, third ones ... up to the quota."""
    shuffled = [list(group) for group in groups]
    for group in shuffled:
        rng.shuffle(group)
    firsts = [group[0] for group in shuffled]
    longest = max(map(len, shuffled))
    further = [
        group[depth] for depth in range(1, longest) for group in shuffled if len(group) > depth
    ]
    return [("positive", passage) for passage in firsts + further[: max(0, quota - len(firsts))]]


def _false_and_true(
    example: dict[str, Any], n_not_negative: int, n_true: int, rng: Random
) -> list[Passage]:
    """Counterfactual files: false passages are drawn first; true ones from the indices left over."""
    n_false = n_not_negative - n_true
    if n_false < 0:
        raise InputError(
            f"noise_rate and correct_rate need to leave room for each other; got {n_true} true passages where only "
            f"{n_not_negative} are not noise; lower one of the rates"
        )
    indices = list(range(len(example["positive_wrong"])))
    chosen = rng.sample(indices, min(len(indices), n_false))
    left = [index for index in indices if index not in chosen]
    true = rng.sample(left, min(len(left), n_true)) if n_true and left else []
    wrong, right = example["positive_wrong"], example["positive"][0]
    return [("wrong", wrong[index]) for index in chosen] + [
        ("positive", right[index]) for index in true
    ]


def _describe(shown: list[Passage]) -> dict[str, Any]:
    kinds = [kind for kind, _ in shown]
    return {
        "passages": [passage for _, passage in shown],
        "kinds": kinds,
        "n_passages": len(shown),
        "effective_noise_rate": kinds.count("negative") / len(shown) if shown else math.nan,
    }


def ceil_share(passage_num: int, rate: float) -> int:
    """Passages that a rate asks for: the ceiling of passage_num x rate, of the decimal as written.

    >>> ceil_share(25, 0.28), ceil_share(5, 0.3)
    (7, 2)
    """
    return math.ceil(passage_num * Fraction(str(float(rate))))


def _check_rate(rate: float, name: str) -> None:
    if isinstance(rate, bool) or not isinstance(rate, Real) or not 0 <= rate <= 1:
        raise InputError(
            f"{name} needs a number from 0 to 1; got {rate!r}; give a share such as 0.4"
        )


def _check_passage_num(passage_num: int) -> None:
    if (
        isinstance(passage_num, bool)
        or not isinstance(passage_num, Real)
        or not passage_num % 1 == 0
        or passage_num < 0
    ):
        raise InputError(
            f"passage_num needs a whole number from 0 (closed book) up; got {passage_num!r}; 5 is the paper's"
        )
