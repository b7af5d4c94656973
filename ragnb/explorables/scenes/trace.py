"""The four numbers of TRACe: what they count when the labels of sentences change."""

# Tested in tests/widgets/test_explorables.py.

from collections.abc import Callable
from typing import Any

from ragnb.datasets.ragbench import load_ragbench
from ragnb.errors import InputError
from ragnb.explorables.scene import (
    Control,
    Counts,
    CountTable,
    Frame,
    Part,
    Scene,
    explorable,
)
from ragnb.metrics.trace import GUIDE_SENTENCES
from ragnb.metrics.trace_labels import VARIANTS, sentence_pairs, unsupported_sentences
from ragnb.widgets.card import Card

AVERAGE = "The average of the four numbers is {}."


def labelled_record() -> tuple[Any]:
    """The first record of the sample of RAGBench."""
    return (load_ragbench("sample-ragbench").iloc[0],)


@explorable(
    "trace",
    question="What do the four numbers of TRACe count?",
    data="a labelled record of RAGBench",
    changes="the four numbers of TRACe",
    sample=labelled_record,
    variants=VARIANTS,
)
def trace(record: Any, variant: str = "ragbench") -> Scene:
    """Return the scene of a record with sentence labels.

    There are too many combinations of labels for a frame of each, so the page gets the sentence on
    each number for all counts of labels.
    """
    static = Card(record, "trace", variant=variant)._repr_html_()
    context = sentence_pairs(record["documents_sentences"])
    response = sentence_pairs([record["response_sentences"]])
    if not context:
        raise InputError("explore needs a record with at least one context sentence, got none")

    controls = []
    for key, text in context:
        is_relevant = key in record["all_relevant_sentence_keys"]
        is_used = key in record["all_utilized_sentence_keys"]
        controls.append(Control("relevant", [False, True], is_relevant, f"[{key}]", text))
        controls.append(Control("used", [False, True], is_used, f"[{key}]", text))
    # A file of your own may lack the list of unsupported sentences, which the labels define.
    unsupported = unsupported_sentences(
        record.get("sentence_support_information"),
        record.get("unsupported_response_sentence_keys"),
        variant=variant,
    )
    for key, text in response:
        controls.append(Control("unsupported", [False, True], key in unsupported, f"[{key}]", text))

    meters = METERS[variant](len(context))
    counts = Counts({**meters, "adherence": _adherence(len(response))}, AVERAGE)

    def frame(*labels: bool) -> Frame:
        """The four numbers for one combination of labels."""
        return counts.frame(controls, labels)

    return Scene(controls, frame, str(record["question"]), static, counts)


def _part(sentence: str, value: float, decimals: int = 2) -> Part:
    return sentence, f"{value:.{decimals}f}", value


def _ragbench_meters(n: int) -> dict[str, CountTable]:
    """RAGBench's numbers for n context sentences."""
    relevance: list[Part] = []
    utilization: list[Part] = []
    for count in range(n + 1):
        share = count / n
        relevance.append(
            _part(
                f"Of {n} context sentences, {_are(count)} relevant (relevance {share:.2f})", share
            )
        )
        utilization.append(_part(f"and {_are(count)} used (utilization {share:.2f}).", share))
    none_relevant = _part("Without a relevant sentence, RAGBench sets completeness to 1.", 1.0)
    return {
        "relevance": CountTable(["relevant"], relevance),
        "utilization": CountTable(["used"], utilization),
        "completeness": CountTable(["relevant"], [none_relevant, *_completeness(n)]),
    }


def _guide_meters(n: int) -> dict[str, CountTable]:
    """The visual guide's numbers for n context sentences."""
    relevance: list[Part] = []
    utilization: list[CountTable] = []
    for n_relevant in range(n + 1):
        share = min(1.0, n_relevant / GUIDE_SENTENCES)
        sentence = (
            f"The guide expects {GUIDE_SENTENCES} relevant sentences. Here, {_are(n_relevant)} relevant "
            f"(relevance {share:.2f})"
        )
        relevance.append(_part(sentence, share))
        parts = [_guide_utilization(n_relevant, n_used) for n_used in range(n + 1)]
        utilization.append(CountTable(["used"], parts))
    none_used = _part(
        "Without a relevant and a used sentence, the guide sets completeness to 1.", 1.0
    )
    some_used = _part("Without a relevant sentence but with a used one, completeness is 0.", 0.0)
    none_relevant = CountTable(["used"], [none_used, *[some_used] * n])
    return {
        "relevance": CountTable(["relevant"], relevance),
        "utilization": CountTable(["relevant"], utilization),
        "completeness": CountTable(["relevant"], [none_relevant, *_completeness(n)]),
    }


def _guide_utilization(n_relevant: int, n_used: int) -> Part:
    share = min(1.0, n_used / n_relevant) if n_relevant else 0.0
    return _part(
        f"and {_are(n_used)} used for {n_relevant} relevant ones (utilization {share:.2f}).", share
    )


def _completeness(n: int) -> list[CountTable]:
    """Completeness for 1 to n relevant sentences, by the number of them that are used."""
    tables = []
    for n_relevant in range(1, n + 1):
        parts = []
        for n_both in range(n_relevant + 1):
            share = n_both / n_relevant
            sentence = f"Of the relevant ones, {_are(n_both)} used (completeness {share:.2f})."
            parts.append(_part(sentence, share))
        tables.append(CountTable(["relevant", "used"], parts))
    return tables


def _adherence(n: int) -> CountTable:
    """Adherence of a response with n sentences, by the number of unsupported ones."""
    parts = []
    for n_unsupported in range(n + 1):
        is_supported = n_unsupported == 0
        sentence = (
            f"Of {n} response sentences, {_are(n_unsupported)} unsupported, so adherence is "
            f"{is_supported:d}."
        )
        parts.append(_part(sentence, float(is_supported), decimals=0))
    return CountTable(["unsupported"], parts)


def _are(count: int) -> str:
    return f"{count or 'none'} {'is' if count == 1 else 'are'}"


# The meters of context sentences under each definition.
METERS: dict[str, Callable[[int], dict[str, CountTable]]] = {
    "ragbench": _ragbench_meters,
    "guide": _guide_meters,
}
