"""What a benchmark hides: a list of its questions that cannot measure what their noise rate or answer says."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from ragnb.datasets.contexts import build_contexts, ceil_share, check_examples
from ragnb.errors import check_choice
from ragnb.metrics.rgb import FOUND, NOT_FOUND, by_folding, part_labels
from ragnb.metrics.rgb_protocols import aliases_of, normalise, protocol_of

NOISE_RATES = {
    "noise": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    "integration": (0.0, 0.2, 0.4),
    "counterfactual": (0.0,),
}
"""The noise rates at which the benchmark uses each kind of file."""

ISSUES = {
    "few_passages": "fewer passages are shown than asked for",
    "noise_differs": "the effective share of negatives is not the nominal one, beyond rounding up",
    "no_negatives": "there is no passage without the answer",
    "negative_holds_answer": "a passage counted as noise alone holds the whole answer",
    "positive_lacks_answer": "a passage counted as true holds no part of the answer",
    "false_answer_holds_true": "the false answer contains or equals the true one",
    "answer_needs_folding": "a passage holds the answer only after Unicode forms are made equal (spaces, hyphens, NFKC)",
    "groups_unlike_parts": "the number of passage groups is not the number of answer parts",
    "more_groups_than_passages": "there are more passage groups than passages asked for",
}
"""What `audit` looks for."""


def audit(examples: pd.DataFrame, *, passage_num: int = 5) -> pd.DataFrame:
    """List what an RGB file hides, one row an example and issue.

    Parameters
    ----------
    examples
        As `ragnb.load_rgb` returns them.
    passage_num
        Passages a context should show.

    Returns
    -------
    DataFrame
        ``example_id, issue, detail``; the issues are the keys of `ISSUES`. Nothing is removed or repaired. Whether a text
        holds an answer is judged by substring, as `ragnb.metrics.rgb` judges responses under ``paper``, so short answers are
        found by accident too. Passages that hold an answer only because Unicode forms are folded are listed, for under
        ``released`` they do not hold it.
    """
    check_examples(examples, "audit")
    for task in examples["task"]:
        check_choice(task, tuple(NOISE_RATES), "the task of an example")
    rows = [
        (example["example_id"], issue, detail)
        for example in examples.to_dict("records")
        for issue, detail in [
            *_passages(example),
            *_answers(example),
            *_groups(example, passage_num),
        ]
    ]
    rows += _contexts(examples, passage_num)
    frame = pd.DataFrame(rows, columns=["example_id", "issue", "detail"])
    place = {name: number for number, name in enumerate(examples["example_id"])}
    return frame.sort_values(
        "example_id", key=lambda ids: ids.map(place), kind="stable", ignore_index=True
    )


def _contexts(examples: pd.DataFrame, passage_num: int) -> list[tuple[str, str, str]]:
    """Contexts at every noise rate that the benchmark uses, held against what was asked for."""
    rows: list[tuple[str, str, str]] = []
    for task, of_task in examples.groupby("task"):
        contexts = build_contexts(
            of_task, noise_rate=NOISE_RATES[str(task)], passage_num=passage_num
        )
        for example_id, shown in contexts.groupby("example_id", sort=False):
            few = shown[shown["n_passages"] < passage_num]
            if len(few):
                detail = (
                    f"{n} at {rate:g}"
                    for n, rate in zip(few["n_passages"], few["noise_rate"], strict=True)
                )
                rows.append((str(example_id), "few_passages", ", ".join(detail)))
            differing = [
                text for context in shown.to_dict("records") if (text := _other_noise(context))
            ]
            if differing:
                rows.append((str(example_id), "noise_differs", ", ".join(differing)))
    return rows


def _other_noise(context: Mapping[str, Any]) -> str:
    """The effective share of noise where it is not the nominal one rounded up; empty where it is."""
    negatives, shown, asked = (
        context["kinds"].count("negative"),
        context["n_passages"],
        context["passage_num"],
    )
    if negatives * asked == ceil_share(asked, context["noise_rate"]) * shown:
        return ""
    return f"{negatives}/{shown} at {context['noise_rate']:g}"


def _passages(example: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not example["negative"]:
        yield "no_negatives", "negative is empty"
    negative = [_labels(passage, example) for passage in example["negative"]]
    holding = [n for n, (labels, _) in enumerate(negative) if NOT_FOUND not in labels]
    if holding:
        yield "negative_holds_answer", f"negative {', '.join(map(str, holding))}"
    positive = [_labels(passage, example) for group in example["positive"] for passage in group]
    lacking = [n for n, (labels, _) in enumerate(positive) if FOUND not in labels]
    if lacking:
        yield "positive_lacks_answer", f"positive {', '.join(map(str, lacking))}"
    folded = [f"positive {n}" for n, (_, by_folding) in enumerate(positive) if by_folding]
    folded += [f"negative {n}" for n, (_, by_folding) in enumerate(negative) if by_folding]
    if folded:
        yield "answer_needs_folding", ", ".join(folded)


def _answers(example: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for false in example["false_answers"]:
        if NOT_FOUND not in _labels(false, example)[0]:
            yield "false_answer_holds_true", f"{false!r} for {example['references']!r}"


def _groups(example: Mapping[str, Any], passage_num: int) -> Iterator[tuple[str, str]]:
    if example["task"] != "integration":
        return
    groups, parts = len(example["positive"]), len(example["references"])
    if groups != parts:
        yield "groups_unlike_parts", f"{groups} groups, {parts} parts"
    if groups > passage_num:
        yield "more_groups_than_passages", f"{groups} groups, {passage_num} passages"


def _labels(text: str, example: Mapping[str, Any]) -> tuple[list[int], bool]:
    """Which parts of the answer a passage holds, and whether it holds one of them only after folding.

    Refusal phrases in a passage are treated as ordinary text.
    """
    protocol = protocol_of("paper", example["language"])
    passage = normalise(text, protocol)
    if passage is None:
        return [NOT_FOUND], False
    parts = aliases_of(example["references"], protocol)
    return part_labels(passage, parts), any(by_folding(passage, part) for part in parts)
