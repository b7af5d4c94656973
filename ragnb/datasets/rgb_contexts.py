"""RGB's contexts: the passages that a model is shown at a noise rate, their order, and an audit of them.

The counts follow ``processdata`` of the released code (chen700564/RGB, commit 65ec39e4, evalue.py).
The number of negatives is the ceiling of the decimal as written: 25 passages at noise rate 0.28
include 7 negatives, and not 8, as in floating-point arithmetic.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Real
from random import Random
from typing import Any

import pandas as pd

from ragnb.arguments import KINDS, accepts
from ragnb.cells import is_missing
from ragnb.columns import RGB_EXAMPLE, require_columns
from ragnb.display import shown
from ragnb.errors import InputError, check_choice
from ragnb.metrics.references import reference_parts
from ragnb.metrics.rgb_protocols import FOUND, NOT_FOUND, protocol_of

Passage = tuple[str, str]  # kind and text
RELEASED_SEED = 2333


def as_rates(value: Any) -> list[float]:
    """Convert a share between 0 and 1, or several, to a list."""
    rates = [value] if isinstance(value, Real) else list(value)
    if not rates:
        raise InputError("must have at least one rate, got none")
    return [float(KINDS["share"](rate)) for rate in rates]


@accepts(
    noise_rate=as_rates,
    passage_num="count",
    correct_rate="share",
    order=("per_item", "released"),
)
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
        n_passages, effective_noise_rate``. If an example has too few passages, fewer than
        requested are shown, or more negative ones. ``n_passages`` and ``effective_noise_rate``
        describe what is shown.

    Raises
    ------
    InputError
        The frame does not come from `load_rgb`, a rate is outside [0, 1], ``passage_num`` is
        negative or fractional, the rates together need more than ``passage_num`` passages, or the
        order is unknown.
    """
    check_examples(examples, "build_contexts")
    rows = examples.to_dict("records")
    contexts = []
    for rate in noise_rate:  # type: ignore[union-attr]
        for example in rows:
            context = _context(example, rate, passage_num, correct_rate, order, seed)
            contexts.append(example | context)
    frame = pd.DataFrame(contexts)
    frame.attrs = dict(examples.attrs)  # where the questions come from
    return frame


def _context(
    example: dict[str, Any],
    noise_rate: float,
    passage_num: int,
    correct_rate: float = 0.0,
    order: str = "per_item",
    seed: int = 0,
) -> dict[str, Any]:
    """The columns that `build_contexts` adds to an example at one noise rate."""
    if order == "released":
        # The released code selects and orders passages with one generator.
        selection_rng = order_rng = Random(RELEASED_SEED)
    else:
        # How many numbers the selection consumes depends on the noise rate. With a generator of its
        # own, the order is the same permutation at every noise rate.
        key = f"{seed}:{example['example_id']}"
        selection_rng, order_rng = Random(f"{key}:draw"), Random(key)
    context: list[Passage] = []
    if passage_num:
        context = _selected(example, noise_rate, passage_num, correct_rate, selection_rng)
    order_rng.shuffle(context)
    kinds = [kind for kind, _ in context]
    return {
        "noise_rate": noise_rate,
        "passage_num": passage_num,
        "correct_rate": float(correct_rate),
        "order": order,
        "passages": [passage for _, passage in context],
        "kinds": kinds,
        "n_passages": len(context),
        "effective_noise_rate": kinds.count("negative") / len(context) if context else math.nan,
    }


def check_examples(examples: pd.DataFrame, what: str) -> None:
    """Raise InputError unless a frame has RGB's questions, with lists of passages and answers."""
    require_columns(examples, RGB_EXAMPLE, what)
    if examples.empty:
        raise InputError(f"{what} needs at least one example, got none")
    for name in ("references", "positive", "negative", "positive_wrong", "false_answers"):
        for cell in examples[name]:
            if not isinstance(cell, list):
                raise InputError(
                    f"{what}: the column {name} must contain lists, as load_rgb gives them, got "
                    f"{cell!r:.60}"
                )


def _selected(
    example: dict[str, Any], noise_rate: float, passage_num: int, correct_rate: float, rng: Random
) -> list[Passage]:
    """Select the passages that an example shows, before they are put into their order."""
    n_negative = ceil_share(passage_num, noise_rate)
    # How many passages with the true or a false answer are requested.
    quota = passage_num - n_negative
    negatives: list[Passage] = [("negative", passage) for passage in example["negative"]]
    if example["task"] == "integration":
        return _selected_from_groups(example["positive"], negatives, passage_num, quota, rng)
    if example["task"] == "counterfactual":
        n_true = ceil_share(passage_num, correct_rate)
        return _counterfactual(example, n_true, quota, rng) + negatives[:n_negative]
    # If there are too few passages of one kind, more of the other kind are shown. At noise rate 1,
    # however, no passage contains the answer.
    group = example["positive"][0]
    positives: list[Passage] = []
    if noise_rate < 1:
        positives = [("positive", passage) for passage in group]
    chosen = positives[: max(quota, passage_num - len(negatives))]
    return chosen + negatives[: max(n_negative, passage_num - len(group))]


def _selected_from_groups(
    groups: list[list[str]],
    negatives: list[Passage],
    passage_num: int,
    quota: int,
    rng: Random,
) -> list[Passage]:
    """Select passages from the groups in turn, and then noise.

    Each group belongs to one part of the answer. The first passages of all groups come first, then
    their second ones, and so on.
    """
    shuffled = [list(group) for group in groups]
    for group in shuffled:
        rng.shuffle(group)
    positives: list[Passage] = []
    for position in range(max(map(len, shuffled))):
        positives += [("positive", group[position]) for group in shuffled if len(group) > position]
    # There is one passage of each group even if the quota is smaller, so that no part of the answer is
    # missing.
    chosen = positives[: max(quota, len(groups))]
    return chosen + negatives[: max(0, passage_num - len(chosen))]


def _counterfactual(example: dict[str, Any], n_true: int, quota: int, rng: Random) -> list[Passage]:
    """Sample false passages, and then true ones at other indices.

    A false passage is the true passage at the same index with a false answer. At most one of the two
    is selected, so that a context does not contain one passage in both versions.
    """
    if n_true > quota:
        raise InputError(
            f"noise_rate and correct_rate are too high together: correct_rate requires "
            f"{n_true} true passages, but noise_rate leaves only {quota} that are not noise; "
            "lower one of the rates"
        )
    false_passages, true_passages = example["positive_wrong"], example["positive"][0]
    indices = range(len(false_passages))
    false_indices = rng.sample(indices, min(len(indices), quota - n_true))
    other_indices = [index for index in indices if index not in false_indices]
    true_indices = []
    if n_true and other_indices:
        true_indices = rng.sample(other_indices, min(len(other_indices), n_true))
    passages: list[Passage] = [("wrong", false_passages[index]) for index in false_indices]
    passages += [("positive", true_passages[index]) for index in true_indices]
    return passages


def ceil_share(passage_num: int, rate: float) -> int:
    """Return the ceiling of passage_num x rate, computed with the decimal as it is written.

    >>> ceil_share(25, 0.28), ceil_share(5, 0.3)
    (7, 2)
    """
    return math.ceil(passage_num * Fraction(str(float(rate))))


# ---- audit -----------------------------------------------------------------------------------------

# The noise rates at which the benchmark uses each kind of file.
NOISE_RATES = {
    "noise": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    "integration": (0.0, 0.2, 0.4),
    "counterfactual": (0.0,),
}

# What `audit` looks for.
ISSUES = {
    "few_passages": "fewer passages are shown than requested",
    "noise_differs": "the share of negative passages differs from the requested noise rate by more than rounding",
    "no_negatives": "there is no passage without the answer",
    "negative_holds_answer": "a passage counted as noise contains the whole answer",
    "positive_lacks_answer": "a passage counted as true contains no part of the answer",
    "false_answer_holds_true": "the false answer contains or equals the true one",
    "answer_needs_folding": "a passage contains the answer only after Unicode forms are made equal (spaces, hyphens, NFKC)",
    "groups_unlike_parts": "the number of passage groups differs from the number of answer parts",
    "more_groups_than_passages": "there are more passage groups than requested passages",
}


@accepts(passage_num="count")
def audit(examples: pd.DataFrame, *, passage_num: int = 5) -> pd.DataFrame:
    """List the problems of an RGB file, one row per example and issue.

    Parameters
    ----------
    examples
        As `ragnb.load_rgb` returns them.
    passage_num
        Number of passages that a context should show.

    Returns
    -------
    DataFrame
        ``example_id, issue, detail``; the issues are the keys of `ISSUES`. Nothing is removed or
        repaired. Whether a text contains an answer is decided by substring, as `ragnb.metrics.rgb`
        does for responses under ``paper``, so a short answer may be found by chance. Passages that
        contain an answer only after Unicode forms are folded are listed, because they do not
        contain it under ``released``.
    """
    check_examples(examples, "audit")
    rows = []
    for example in examples.to_dict("records"):
        rates = NOISE_RATES[check_choice(example["task"], tuple(NOISE_RATES), "task")]
        contexts = [_context(example, rate, passage_num) for rate in rates]
        for issue, detail in _issues(example, contexts, passage_num).items():
            if detail:
                rows.append((example["example_id"], issue, detail))
    return shown(pd.DataFrame(rows, columns=["example_id", "issue", "detail"]))


def _issues(
    example: Mapping[str, Any], contexts: list[dict[str, Any]], passage_num: int
) -> dict[str, str]:
    """Issues of one example, each with its detail, which is empty if there is no such issue."""
    negative = [_labels(passage, example) for passage in example["negative"]]
    positive = [_labels(passage, example) for group in example["positive"] for passage in group]
    # Numbers of the negative passages with the whole answer, and of the positive ones without any part.
    with_answer = [str(n) for n, (labels, _) in enumerate(negative) if NOT_FOUND not in labels]
    without_answer = [str(n) for n, (labels, _) in enumerate(positive) if FOUND not in labels]
    folded = [f"positive {n}" for n, (_, is_folded) in enumerate(positive) if is_folded]
    folded += [f"negative {n}" for n, (_, is_folded) in enumerate(negative) if is_folded]
    true_false_answers = []
    for text in example["false_answers"]:
        labels, _ = _labels(text, example)
        if NOT_FOUND not in labels:
            true_false_answers.append(f"{text!r} for {example['references']!r}")
    few, differing = [], []
    for context in contexts:
        n_passages, rate = context["n_passages"], context["noise_rate"]
        n_negative = context["kinds"].count("negative")
        if n_passages < passage_num:
            few.append(f"{n_passages} at {rate:g}")
        # The shares n_negative / n_passages and ceil_share / passage_num differ. Their products are whole
        # numbers, which no rounding can make different.
        if n_negative * passage_num != ceil_share(passage_num, rate) * n_passages:
            differing.append(f"{n_negative}/{n_passages} at {rate:g}")
    issues = {
        "no_negatives": "" if negative else "negative is empty",
        "negative_holds_answer": f"negative {', '.join(with_answer)}" if with_answer else "",
        "positive_lacks_answer": f"positive {', '.join(without_answer)}" if without_answer else "",
        "answer_needs_folding": ", ".join(folded),
        "false_answer_holds_true": "; ".join(true_false_answers),
    }
    if example["task"] == "integration":
        n_groups, n_parts = len(example["positive"]), len(example["references"])
        if n_groups != n_parts:
            issues["groups_unlike_parts"] = f"{n_groups} groups, {n_parts} parts"
        if n_groups > passage_num:
            issues["more_groups_than_passages"] = f"{n_groups} groups, {passage_num} passages"
    return issues | {"few_passages": ", ".join(few), "noise_differs": ", ".join(differing)}


def _labels(text: str, example: Mapping[str, Any]) -> tuple[list[int], bool]:
    """Which parts of the answer a passage contains, and whether it does so only after folding.

    Refusal phrases in a passage are treated as ordinary text.
    """
    if is_missing(text):
        return [NOT_FOUND], False
    protocol = protocol_of("paper", example["language"])
    parts = reference_parts(example["references"])
    labels = []
    is_folded = False
    for part in parts:
        is_found = protocol.found_alias(part, text) is not None
        labels.append(FOUND if is_found else NOT_FOUND)
        is_folded |= is_found and protocol.by_folding(part, text)
    return labels, is_folded
