"""TRACe of one response: the relevant, used and supporting sentences, and the scores."""

from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from ragnb.cells import flag_of, present
from ragnb.errors import InputError
from ragnb.metrics.record import METRICS
from ragnb.metrics.trace import GUIDE_SENTENCES, trace_scores
from ragnb.metrics.trace_labels import (
    SPECIAL_KEYS,
    as_keys,
    sentence_pairs,
    unsupported_sentences,
)
from ragnb.reports.trace_reading import interpret_trace
from ragnb.widgets.pages import MISSING, listed

NEEDED = ("question", "documents_sentences", "response_sentences")
# In a document with labelled sentences, runs of at least this many sentences without a label are folded.
FOLD = 4

# Whether a sentence is fully supported -> sign.
GLYPHS = {True: "✓", False: "✗", None: "?"}
# Variant -> formula of each score. R: relevant, U: used, D: all sentences of the documents.
FORMULAS = {
    "ragbench": {
        "relevance": "R / D",
        "utilization": "U / D",
        "completeness": "R∩U / R; 1 if R is empty",
        "adherence": "no sentence is unsupported",
        "supported_fraction": "sentences not unsupported",
        "average": "mean of the four",
        "rmse_to_ideal": "distance of the four from 1",
        "consistency": "1 − RMSE to ideal",
    },
    "guide": {
        "relevance": "R / 20, at most 1",
        "utilization": "U / R, at most 1; 0 if R is empty",
        "completeness": "R∩U / R; if R is empty, 1 if U is too, else 0",
        "adherence": "every sentence is fully supported",
        "supported_fraction": "sentences fully supported",
        "average": "mean of the four",
        "rmse_to_ideal": "distance of the four from 1",
        "consistency": "1 − RMSE to ideal",
    },
}
# Labels of a context sentence -> name of the set that it is in.
SETS = {"R": "only relevant", "RU": "relevant and used", "U": "only used", "": "neither"}


def trace_section(
    row: Mapping[str, Any],
    *,
    variant: str = "ragbench",
    other: Mapping[str, Any] | None = None,
    named: str = "other",
) -> dict[str, Any]:
    """Return the sentences of a labelled response with their labels, and its TRACe scores.

    Fields that are missing count as empty lists here, and the scores report them as issues. ``other`` is a row with other
    labels of the same sentences. Where it differs, its labels are shown with the name ``named``.
    """
    scores = trace_scores(row, variant=variant)
    # Keys and texts of the sentences, one list for each document. `sentence_pairs` would put several into one list.
    documents = [sentence_pairs([part]) for part in listed(row, "documents_sentences")]
    context = dict(pair for document in documents for pair in document)
    relevant = listed(row, "all_relevant_sentence_keys")
    used = listed(row, "all_utilized_sentence_keys")
    support = listed(row, "sentence_support_information")
    response = sentence_pairs([listed(row, "response_sentences")])
    unsupported = _unsupported(row, support, variant)
    # Sentences of the documents have ids on the page, to which the statements of the response link.
    ids = {key: f"r-s{number}" for number, key in enumerate(context)}
    statements = [
        _statement(f"r-k{number}", key, text, support, unsupported, ids)
        for number, (key, text) in enumerate(response)
    ]

    def sentence(key: str, text: str) -> dict[str, Any]:
        """A sentence of the documents with its letters, and links to the statements that it supports."""
        letters = ("R" if key in relevant else "") + ("U" if key in used else "")
        links = [statement["link"] for statement in statements if key in statement["supporting"]]
        return {"key": key, "text": text, "letters": letters, "id": ids[key], "links": links}

    sentences = [[sentence(key, text) for key, text in document] for document in documents]
    all_sentences = [entry for document in sentences for entry in document]
    numbers = _numbers(scores, row, unsupported, variant)

    # All labels as texts, by sentence or score, to compare them with those of ``other``.
    labels = {entry["key"]: entry["letters"] or MISSING for entry in all_sentences}
    labels |= {entry["key"]: f"{entry['verdict']} {entry['support']}" for entry in statements}
    labels |= {name: value for name, _, value, _ in numbers}
    texts = context | dict(response)
    theirs = {} if other is None else trace_section(other, variant=variant)
    if theirs.get("texts", texts) != texts:
        raise InputError("other must have the same documents and response as the row")
    their_labels = theirs.get("labels", {})
    differing = [key for key in their_labels if their_labels[key] != labels[key]]

    counts = Counter(entry["letters"] for entry in all_sentences)
    explanations = [("relevance", row.get("relevance_explanation"))]
    for entry in support:
        explanations.append((f"[{entry.get('response_sentence_key')}]", entry.get("explanation")))
    explanations.append(("overall", row.get("overall_supported_explanation")))
    return {
        "texts": texts,
        "labels": labels,
        "differs": {key: f"≠ {named}: {their_labels[key]}" for key in differing},
        "documents": [
            _document(number, document, differing) for number, document in enumerate(sentences)
        ],
        "response": statements,
        "sets": [(f"r-{letters or 'D'}", name, counts[letters]) for letters, name in SETS.items()],
        "numbers": numbers,
        "meaning": interpret_trace(row, variant=variant),
        "issues": scores.issues,
        "explained": explanations,
        "heads": (variant, "lengths in sentences"),
    }


def _unsupported(row: Mapping[str, Any], support: list[Any], variant: str) -> list[str]:
    """Keys of the response sentences that are not supported under a definition."""
    if variant == "guide":
        # The guide has no list of unsupported sentences, so that of the row is not used (None).
        return unsupported_sentences(support, None, variant=variant)
    unsupported_keys = present(row.get("unsupported_response_sentence_keys"))
    return list(dict.fromkeys(unsupported_sentences(support, unsupported_keys, variant=variant)))


def _numbers(
    scores: Any, row: Mapping[str, Any], unsupported: list[str], variant: str
) -> list[tuple[str, str, str, str]]:
    """Name, formula, value, and the counts behind it, of each score."""
    relevant = listed(row, "all_relevant_sentence_keys")
    used = listed(row, "all_utilized_sentence_keys")
    documents = [sentence_pairs([part]) for part in listed(row, "documents_sentences")]
    n_context = sum(map(len, documents))
    n_statements = len(sentence_pairs([listed(row, "response_sentences")]))
    # Denominators of relevance and utilization; see `FORMULAS`.
    relevance_total, utilization_total = n_context, n_context
    if variant == "guide":
        relevance_total, utilization_total = GUIDE_SENTENCES, len(relevant)
        n_statements = len(listed(row, "sentence_support_information"))
    counts = {
        "relevance": f"{len(relevant)}/{relevance_total}",
        "utilization": f"{len(used)}/{utilization_total}",
        "completeness": f"{len({*relevant} & {*used})}/{len({*relevant})}",
        "adherence": " ".join(f"[{key}]" for key in unsupported),
        "supported_fraction": f"{max(0, n_statements - len(unsupported))}/{n_statements}",
    }
    numbers = []
    for name, formula in FORMULAS[variant].items():
        value = getattr(scores, name)
        heading = name.replace("rmse", "RMSE").replace("_", " ")
        is_binary = METRICS[f"trace.{name}"].binary
        text = f"{value:.0f}" if is_binary else f"{value:.3f}"
        is_undefined = value != value  # nan
        numbers.append((heading, formula, text, "" if is_undefined else counts.get(name, "")))
    return numbers


def _statement(
    link: str,
    key: str,
    text: str,
    support: list[Any],
    unsupported: list[str],
    ids: Mapping[str, str],
) -> dict[str, Any]:
    """Return what is shown of a response sentence: its verdicts, and the sentences that support it.

    There are several verdicts if the sentence is labelled several times. `link` is the class that links the sentence to
    those that support it, whose ids on the page are in `ids`.
    """
    # `descriptions` has a text for each label of the sentence, which says what supports it.
    verdict, descriptions, supporting = "", [], set()
    for entry in support:
        if str(entry.get("response_sentence_key")) != key:
            continue
        verdict += GLYPHS[flag_of(entry.get("fully_supported"))]
        supporting_keys = present(entry.get("supporting_sentence_keys"))
        if supporting_keys is None:
            descriptions.append("no supporting keys given")
            continue
        keys = as_keys(supporting_keys)
        supporting |= {*keys}
        names = " ".join(_key_name(key, ids) for key in keys)
        descriptions.append(f"supported by {names or 'nothing'}")
    return {
        "key": key,
        "text": text,
        "verdict": verdict or "?",
        "support": ", ".join(descriptions) or "no support information",
        "unsupported": key in unsupported,
        "supporting": supporting,
        "supporting_ids": [ids[key] for key in ids if key in supporting],
        "link": link,
    }


def _key_name(key: str, ids: Mapping[str, str]) -> str:
    """A supporting key as it is shown. Special keys are words. A question mark follows a key that names no sentence."""
    if key in SPECIAL_KEYS:
        return key
    return f"[{key}]" if key in ids else f"[{key}]?"


def _document(number: int, sentences: list[dict[str, Any]], differing: list[str]) -> dict[str, Any]:
    """Return the title of a document, and its runs of sentences with the title of their fold.

    ``differing`` are the keys of the sentences that have other labels in the row with which this one is compared.
    """
    counts = Counter(entry["letters"] for entry in sentences if entry["letters"])

    def is_shown(entry: dict[str, Any]) -> bool:
        """Whether a sentence is shown in any case: it has a label, or the other labels differ."""
        return bool(entry["letters"]) or entry["key"] in differing

    runs = []
    for is_shown_run, group in groupby(sentences, key=is_shown):
        run = list(group)
        # A document without any label is closed as a whole.
        is_folded = not is_shown_run and len(run) >= FOLD and counts
        fold_title = f"{_counted(run)}, neither relevant nor used" if is_folded else ""
        runs.append((fold_title, run))
    labels = ", ".join(f"{count} {SETS[letters]}" for letters, count in counts.items())
    parts = [f"document {number + 1}", _counted(sentences), labels]
    title = " · ".join(part for part in parts if part)
    return {"title": title, "runs": runs, "open": bool(counts)}


def _counted(sentences: list[Any]) -> str:
    """The number of sentences in words."""
    return f"{len(sentences)} sentence{'' if len(sentences) == 1 else 's'}"
