"""Shares of the parts of an answer: claims, facts, sentences, citations, nuggets and spans.

Somebody, a person or a judge, labels each part, and a metric is a share of them. The value of one
response is its own share, so the mean over responses is a *macro* average, in which each response
has the same weight. For the pooled share (*micro* average), score one row per part
(`ragnb.datasets.studies.one_row_per_part`), and summarise with the responses as clusters.

A part is a mapping with its ``text`` and its ``label``: ``"supported"``, ``"contradicted"``, ``"not
supported"`` or ``"irrelevant"``. All functions raise InputError for another label.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ragnb.errors import check_choice
from ragnb.metrics.judged import binary_verdict
from ragnb.metrics.record import metric

# Labels of a claim, a fact or a sentence.
LABELS = ("supported", "contradicted", "not supported", "irrelevant")

Part = Mapping[str, Any]
Span = Sequence[int]

_PARTS = {"parts": "parts"}
_NO_PARTS = "If the response has no parts."
_HU = "Hu et al. 2024 (RefChecker), arXiv 2405.14486"


def _counts(parts: Sequence[Part]) -> Counter[str]:
    for part in parts:
        check_choice(part.get("label"), LABELS, "the label of a part")
    return Counter(part["label"] for part in parts)


def _share(count: float, total: float) -> float:
    return count / total if total else math.nan


def parts_evidence(parts: Sequence[Part], **options: Any) -> str:
    """Count the labels, and name the parts that are not supported.

    >>> parts_evidence([{"text": "It is red.", "label": "supported"},
    ...                 {"text": "It is big.", "label": "contradicted"}])
    "supported 1, contradicted 1; 'It is big.' (contradicted)"
    """
    found = ", ".join(f"{label} {n}" for label, n in _counts(parts).items())
    failed = [f"{part['text']!r} ({part['label']})" for part in parts if part["label"] != LABELS[0]]
    return "; ".join([found, *failed])


# ---- claims, facts, sentences --------------------------------------------------------------------


@metric(
    "parts.supported",
    _PARTS,
    options={
        "irrelevant": {
            "counted": "As in FActScore, an irrelevant part counts as not supported.",
            "left_out": "Irrelevant parts are left out.",
        }
    },
    source=f"Min et al. 2023 (FActScore), arXiv 2305.14251, section 3; {_HU}",
    evidence=parts_evidence,
    undefined="If the response has no parts that count.",
)
def supported_share(parts: Sequence[Part], *, irrelevant: str = "counted") -> float:
    """Share of the parts of a response (claims, facts or sentences) labelled as supported.

    The value is in [0, 1]; higher is better. It is NaN if there are no parts, as for a refusal.
    Other names for it are faithfulness, groundedness, factual precision and claim precision. It
    says nothing about what the response leaves out.

    Parameters
    ----------
    parts : sequence of {"text", "label"}
        The claims, facts or sentences.
    irrelevant : {"counted", "left_out"}
        Whether irrelevant parts are in the denominator. FActScore counts them: on its published
        labels the score of PerplexityAI is 71.6 if they are counted, and 84.0 if they are not.

    Notes
    -----
    Source: Min et al. (2023), who average it over the prompts that were answered; with RefChecker
    (Hu et al. 2024), the share of *Entailment*.

    Examples
    --------
    >>> parts = [{"label": "supported"}, {"label": "not supported"}, {"label": "irrelevant"}]
    >>> round(supported_share(parts), 3), supported_share(parts, irrelevant="left_out")
    (0.333, 0.5)
    """
    check_choice(irrelevant, ("counted", "left_out"), "irrelevant")
    counts = _counts(parts)
    left_out = counts["irrelevant"] if irrelevant == "left_out" else 0
    return _share(counts["supported"], counts.total() - left_out)


@metric(
    "parts.contradicted",
    _PARTS,
    source=_HU,
    higher_is_better=False,
    evidence=parts_evidence,
    undefined=_NO_PARTS,
)
def contradicted_share(parts: Sequence[Part]) -> float:
    """Share of the parts of a response (claims, facts or sentences) labelled as contradicted.

    The value is in [0, 1]; lower is better. It is NaN if there are no parts. A part that is merely
    *not supported* is not contradicted.

    Notes
    -----
    Source: Hu et al. (2024), the share of *Contradiction*.

    Examples
    --------
    >>> contradicted_share([{"label": "supported"}, {"label": "contradicted"}])
    0.5
    """
    counts = _counts(parts)
    return _share(counts["contradicted"], counts.total())


@metric(
    "parts.all_supported",
    _PARTS,
    source="Sadat et al. 2023 (DelucionQA); Friel et al. 2024 (RAGBench), adherence",
    binary=True,
    evidence=parts_evidence,
    undefined=_NO_PARTS,
)
def all_supported(parts: Sequence[Part]) -> float:
    """1.0 if all parts of a response (claims, facts or sentences) are supported, else 0.0.

    Higher is better. The value is NaN if there are no parts. One unsupported sentence in twenty
    makes the whole response a hallucination, so longer responses score lower.

    Notes
    -----
    Source: Sadat et al. (2023), who call a response *hallucinated* if the value is 0.

    Examples
    --------
    >>> all_supported([{"label": "supported"}, {"label": "not supported"}])
    0.0
    """
    counts = _counts(parts)
    return float(counts["supported"] == counts.total()) if parts else math.nan


# ---- nuggets -------------------------------------------------------------------------------------

_CREDIT = {
    "strict": {"support": 1.0, "partial_support": 0.0, "not_support": 0.0},
    "partial": {"support": 1.0, "partial_support": 0.5, "not_support": 0.0},
}


@metric(
    "parts.nuggets",
    {"nuggets": "nuggets"},
    options={
        "credit": {
            "strict": "A nugget that the response supports in part counts as 0.",
            "partial": "A nugget that the response supports in part counts as 0.5.",
        },
        "over": {
            "vital": "Only vital nuggets count.",
            "all": "Vital and okay nuggets count.",
        },
    },
    source="Pradeep et al. 2025 (AutoNuggetizer), arXiv 2504.15068; their tool gives 0.0 if "
    "there is no nugget",
    undefined="If the question has no nuggets that count.",
)
def nugget_recall(nuggets: Sequence[Part], *, credit: str = "strict", over: str = "vital") -> float:
    """Share of a question's nuggets that the response supports.

    A nugget is a fact that an answer should state. The value is in [0, 1]; higher is better. It is
    NaN if there is no nugget of the chosen importance.

    Parameters
    ----------
    nuggets : sequence of {"text", "importance", "assignment"}
        ``importance`` is ``"vital"`` or ``"okay"``; ``assignment`` is ``"support"``,
        ``"partial_support"`` or ``"not_support"``.
    credit : {"strict", "partial"}
        Credit for partial support: 0 or 0.5.
    over : {"vital", "all"}
        Which nuggets count.

    Notes
    -----
    Source: Pradeep et al. (2025): ``strict_vital_score`` (default), ``vital_score``,
    ``strict_all_score`` and ``all_score``.

    Examples
    --------
    >>> nuggets = [{"importance": "vital", "assignment": "support"},
    ...            {"importance": "vital", "assignment": "partial_support"},
    ...            {"importance": "okay", "assignment": "not_support"}]
    >>> nugget_recall(nuggets), nugget_recall(nuggets, credit="partial", over="all")
    (0.5, 0.5)
    """
    check_choice(credit, tuple(_CREDIT), "credit")
    check_choice(over, ("vital", "all"), "over")
    chosen = [nugget for nugget in nuggets if over == "all" or nugget["importance"] == "vital"]
    for nugget in chosen:
        check_choice(nugget.get("assignment"), tuple(_CREDIT[credit]), "the assignment of a nugget")
    return _share(sum(_CREDIT[credit][nugget["assignment"]] for nugget in chosen), len(chosen))


# ---- citations -----------------------------------------------------------------------------------

_STATEMENTS = {"statements": "statements"}
_GAO = "Gao et al. 2023 (ALCE), arXiv 2305.14627, section 4"


@metric(
    "parts.citation_recall",
    _STATEMENTS,
    source=_GAO,
    undefined="If there are no statements, or if the verdict on a statement with citations is missing.",
)
def citation_recall(statements: Sequence[Part]) -> float:
    """Share of a response's statements that are supported by their citations.

    The value is in [0, 1]; higher is better. A statement without citations counts as 0. The value
    is NaN if there are no statements, or if the verdict on a statement with citations is missing.
    A person or a model must judge whether the citations support a statement; the metric does not
    compare the texts.

    Parameters
    ----------
    statements : sequence of {"text", "supported", "citations"}
        ``supported`` is 1 if all citations of the statement together support it, else 0.
        ``citations`` is the list of its citations, see `citation_precision`.

    Notes
    -----
    Source: Gao et al. (2023).

    Examples
    --------
    >>> citation_recall([{"supported": 1, "citations": [{"alone": 1}]},
    ...                  {"supported": 0, "citations": []}])
    0.5
    """
    cited = [bool(each["citations"]) and binary_verdict(each["supported"]) for each in statements]
    return _share(sum(cited), len(statements))


@metric(
    "parts.citation_precision",
    _STATEMENTS,
    source=_GAO,
    undefined="If there are no citations, or if a required verdict is missing.",
)
def citation_precision(statements: Sequence[Part]) -> float:
    """Share of the citations of a response that help to support their statement.

    The value is in [0, 1]; higher is better. A citation counts if two conditions are met. First,
    all citations of the statement together support it. Second, this citation supports it alone, or
    the other citations do not support it without this one. The value is NaN if there are no
    citations, or if a required verdict is missing.

    Parameters
    ----------
    statements : sequence of {"text", "supported", "citations"}
        ``supported``: see `citation_recall`. ``citations`` is a list of ``{"alone", "rest"}``:
        ``alone`` is 1 if the citation supports the statement alone, and ``rest`` is 1 if the other
        citations support it without this one. Without ``rest``, 0 is assumed, as for a single
        citation.

    Notes
    -----
    Source: Gao et al. (2023).

    Examples
    --------
    The first citation supports the statement alone. The second one does not, and without it the
    first still supports the statement, so only one of the two helps.

    >>> both = [{"alone": 1, "rest": 1}, {"alone": 0, "rest": 1}]
    >>> citation_precision([{"supported": 1, "citations": both}])
    0.5
    """
    helpful = [_helps(each, citation) for each in statements for citation in each["citations"]]
    return _share(sum(helpful), len(helpful))


def _helps(statement: Part, citation: Part) -> float:
    """1.0 if a citation helps to support its statement, else 0.0; NaN without the verdict."""
    supported = binary_verdict(statement["supported"])
    if supported != 1:
        return supported
    alone, rest = binary_verdict(citation["alone"]), binary_verdict(citation.get("rest"))
    return 1.0 - (rest == 1) if alone == 0 else alone


# ---- spans ---------------------------------------------------------------------------------------


@metric(
    "parts.span_f1",
    {"spans": "spans", "reference": "reference_spans"},
    options={
        "measure": {
            "f1": "The harmonic mean of precision and recall.",
            "precision": "The share of the marked characters that are in the reference.",
            "recall": "The share of the characters of the reference that are marked.",
        }
    },
    source="Niu et al. 2024 (RAGTruth), arXiv 2401.00396; here for each response",
    undefined="If there are neither spans nor reference spans. Precision is also undefined "
    "without spans, and recall without reference spans.",
)
def span_overlap(spans: Sequence[Span], reference: Sequence[Span], *, measure: str = "f1") -> float:
    """Character-level F1, precision or recall of marked spans against reference spans.

    The value is in [0, 1]; higher is better. It is NaN if its denominator is 0: for F1, if no
    character is marked in either; for precision, if none is marked in `spans`; for recall, if none
    is marked in `reference`.

    Parameters
    ----------
    spans, reference : sequence of (start, end)
        Marked passages of the response, as positions of characters from 0. The end is excluded.
        Spans may overlap; each character counts once.
    measure : {"f1", "precision", "recall"}
        What is reported.

    Notes
    -----
    Source: Niu et al. (2024), who pool the characters of all responses.

    Examples
    --------
    >>> span_overlap([(0, 10)], [(5, 10)]), span_overlap([(0, 10)], [(5, 10)], measure="recall")
    (0.6666666666666666, 1.0)
    """
    check_choice(measure, ("f1", "precision", "recall"), "measure")
    marked = {place for start, end in spans for place in range(start, end)}
    wanted = {place for start, end in reference for place in range(start, end)}
    totals = {
        "f1": (len(marked) + len(wanted)) / 2,
        "precision": len(marked),
        "recall": len(wanted),
    }
    return _share(len(marked & wanted), totals[measure])
