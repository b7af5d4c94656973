"""Audit of RGB: questions whose passages do not fit their answer or noise rate."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ragnb.datasets.contexts import build_contexts, ceil_share, check_examples
from ragnb.display import shown
from ragnb.errors import check_choice
from ragnb.metrics.references import reference_parts
from ragnb.metrics.rgb import FOUND, NOT_FOUND
from ragnb.metrics.rgb_protocols import by_folding, found_alias, protocol_of
from ragnb.records import is_missing

# The noise rates at which the benchmark uses each kind of file.
NOISE_RATES = {
    "noise": (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    "integration": (0.0, 0.2, 0.4),
    "counterfactual": (0.0,),
}

# What `audit` looks for.
ISSUES = {
    "few_passages": "fewer passages are shown than requested",
    "noise_differs": "the effective share of negatives is not the nominal one, beyond rounding up",
    "no_negatives": "there is no passage without the answer",
    "negative_holds_answer": "a passage counted as noise contains the whole answer",
    "positive_lacks_answer": "a passage counted as true contains no part of the answer",
    "false_answer_holds_true": "the false answer contains or equals the true one",
    "answer_needs_folding": "a passage contains the answer only after Unicode forms are made equal (spaces, hyphens, NFKC)",
    "groups_unlike_parts": "the number of passage groups is not the number of answer parts",
    "more_groups_than_passages": "there are more passage groups than requested passages",
}


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
        contexts = build_contexts(
            pd.DataFrame([example]), noise_rate=rates, passage_num=passage_num
        ).to_dict("records")
        found = _issues(example, passage_num) | _of_contexts(contexts)
        rows += [
            (example["example_id"], issue, detail) for issue, detail in found.items() if detail
        ]
    return shown(pd.DataFrame(rows, columns=["example_id", "issue", "detail"]))


def _issues(example: Mapping[str, Any], passage_num: int) -> dict[str, str]:
    """Issues of one example, each with its detail, which is empty if there is no such issue."""
    negative = [_labels(passage, example) for passage in example["negative"]]
    positive = [_labels(passage, example) for group in example["positive"] for passage in group]
    holding = [str(n) for n, (labels, _) in enumerate(negative) if NOT_FOUND not in labels]
    lacking = [str(n) for n, (labels, _) in enumerate(positive) if FOUND not in labels]
    folded = [f"positive {n}" for n, (_, is_folded) in enumerate(positive) if is_folded]
    folded += [f"negative {n}" for n, (_, is_folded) in enumerate(negative) if is_folded]
    false = [
        f"{text!r} for {example['references']!r}"
        for text in example["false_answers"]
        if NOT_FOUND not in _labels(text, example)[0]
    ]
    issues = {
        "no_negatives": "" if negative else "negative is empty",
        "negative_holds_answer": f"negative {', '.join(holding)}" if holding else "",
        "positive_lacks_answer": f"positive {', '.join(lacking)}" if lacking else "",
        "answer_needs_folding": ", ".join(folded),
        "false_answer_holds_true": "; ".join(false),
    }
    if example["task"] == "integration":
        groups, parts = len(example["positive"]), len(example["references"])
        if groups != parts:
            issues["groups_unlike_parts"] = f"{groups} groups, {parts} parts"
        if groups > passage_num:
            issues["more_groups_than_passages"] = f"{groups} groups, {passage_num} passages"
    return issues


def _of_contexts(shown: list[dict[str, Any]]) -> dict[str, str]:
    """How the contexts of one example at all noise rates differ from what was asked for."""
    few, differing = [], []
    for context in shown:
        n, asked, rate = context["n_passages"], context["passage_num"], context["noise_rate"]
        negatives = context["kinds"].count("negative")
        if n < asked:
            few.append(f"{n} at {rate:g}")
        if negatives * asked != ceil_share(asked, rate) * n:
            differing.append(f"{negatives}/{n} at {rate:g}")
    return {"few_passages": ", ".join(few), "noise_differs": ", ".join(differing)}


def _labels(text: str, example: Mapping[str, Any]) -> tuple[list[int], bool]:
    """Which parts of the answer a passage contains, and whether it does so only after folding.

    Refusal phrases in a passage are treated as ordinary text.
    """
    if is_missing(text):
        return [NOT_FOUND], False
    protocol = protocol_of("paper", example["language"])
    parts = reference_parts(example["references"])
    found = [found_alias(part, text, protocol) for part in parts]
    folded = [
        alias is not None and by_folding(part, text, protocol)
        for part, alias in zip(parts, found, strict=True)
    ]
    return [NOT_FOUND if alias is None else FOUND for alias in found], any(folded)
