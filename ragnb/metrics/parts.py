"""Metrics of labelled parts of an answer: claims, facts, sentences, citations, nuggets and spans.

A person or a judge labels the parts of each response. The metrics are computed for one response,
so their mean over responses is a *macro* average: each response has the same weight. For the
pooled share (*micro* average), convert the responses to one row per part with
`ragnb.datasets.parts.one_row_per_part`, and summarise these rows with the responses as clusters.

Claims, facts and sentences have a ``label``: ``'supported'``, ``'contradicted'``, ``'not
supported'`` or ``'irrelevant'``. All functions raise InputError for any other label.
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
    """State how many parts have each label, and list the parts that are not supported.

    Parameters
    ----------
    parts : sequence of mapping
        Claims, facts or sentences, each with its ``text`` and its ``label``.
    **options
        Ignored.

    Returns
    -------
    str
        Counts of the labels, followed by the parts with a label other than ``'supported'``.

    Examples
    --------
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
    """Share of the claims, facts or sentences of a response that are labelled as supported.

    This metric is also called faithfulness, groundedness or factual precision. It does not
    penalise omissions.

    Parameters
    ----------
    parts : sequence of mapping
        Claims, facts or sentences of the response, each with its ``label``: ``'supported'``,
        ``'contradicted'``, ``'not supported'`` or ``'irrelevant'``.
    irrelevant : {'counted', 'left_out'}, default='counted'
        ``'counted'`` includes irrelevant parts in the denominator, as in FActScore. ``'left_out'``
        ignores them.

    Returns
    -------
    float
        Share in [0, 1]; higher is better. NaN if no part is counted, as for a refusal.

    Notes
    -----
    Source: Min et al. (2023), FActScore; Hu et al. (2024), RefChecker, who call it the share of
    *Entailment*.

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
    """Share of the claims, facts or sentences of a response that are labelled as contradicted.

    The denominator is the number of all parts, including those labelled ``'not supported'`` or
    ``'irrelevant'``.

    Parameters
    ----------
    parts
        See `supported_share`.

    Returns
    -------
    float
        Share in [0, 1]; lower is better. NaN if there are no parts.

    Notes
    -----
    Source: Hu et al. (2024), RefChecker, who call it the share of *Contradiction*.

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
    """Full support: 1.0 if all claims, facts or sentences of a response are supported, else 0.0.

    A single part with a label other than ``'supported'`` gives 0.0, so longer responses tend to
    score lower.

    Parameters
    ----------
    parts
        See `supported_share`.

    Returns
    -------
    float
        1.0 or 0.0; higher is better. NaN if there are no parts.

    Notes
    -----
    Source: Sadat et al. (2023), DelucionQA, who call a response with a value of 0 *hallucinated*.

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
    """Nugget recall: share of a question's nuggets that the response supports.

    A nugget is a fact that a good answer states.

    Parameters
    ----------
    nuggets : sequence of mapping
        Nuggets of the question, each with its ``importance`` (``'vital'`` or ``'okay'``) and its
        ``assignment``: whether the response supports it (``'support'``, ``'partial_support'`` or
        ``'not_support'``).
    credit : {'strict', 'partial'}, default='strict'
        Credit for partial support: 0 with ``'strict'``, and 0.5 with ``'partial'``.
    over : {'vital', 'all'}, default='vital'
        Whether only vital nuggets or all nuggets count.

    Returns
    -------
    float
        Share in [0, 1]; higher is better. NaN if no nugget counts.

    Notes
    -----
    Source: Pradeep et al. (2025), AutoNuggetizer, arXiv 2504.15068. The default is their
    ``strict_vital_score``. The other combinations are ``vital_score``, ``strict_all_score`` and
    ``all_score``. Their tool gives 0 if there is no nugget.

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
    chosen = nuggets
    if over == "vital":
        for nugget in nuggets:
            check_choice(nugget.get("importance"), ("vital", "okay"), "the importance of a nugget")
        chosen = [nugget for nugget in nuggets if nugget["importance"] == "vital"]
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
    """Citation recall: share of a response's statements that are supported by their citations.

    A person or a model must judge the support. A statement without citations counts as not
    supported.

    Parameters
    ----------
    statements : sequence of mapping
        Statements of the response, each with ``supported`` and ``citations``. ``supported`` is 1
        if the citations of the statement together support it, else 0. ``citations`` is the list of
        these citations. This metric checks only whether the list is empty.

    Returns
    -------
    float
        Share in [0, 1]; higher is better. NaN if there are no statements, or if ``supported`` is
        None for a statement with citations.

    Notes
    -----
    Source: Gao et al. (2023), ALCE, arXiv 2305.14627, section 4.

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
    """Citation precision: share of a response's citations that help to support their statement.

    A citation helps if two conditions are met. First, all citations of the statement together
    support it. Second, this citation alone supports the statement, or the other citations are not
    enough without it.

    Parameters
    ----------
    statements : sequence of mapping
        Statements of the response, each with ``supported`` (see `citation_recall`) and
        ``citations``, a list of mappings with ``alone`` and ``rest``. ``alone`` is 1 if this
        citation alone supports the statement, else 0. ``rest`` is 1 if the other citations
        support the statement without this one, else 0. A missing ``rest`` counts as 0. A statement
        with a single citation does not need it.

    Returns
    -------
    float
        Share in [0, 1]; higher is better. NaN if there are no citations, or if ``supported`` or a
        required ``alone`` is None.

    Notes
    -----
    Source: Gao et al. (2023), ALCE, arXiv 2305.14627, section 4.

    Examples
    --------
    The first citation alone supports the statement. The second one does not, and the statement
    is supported without it, so only the first citation helps.

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

    Precision is the share of the marked characters that are in a reference span. Recall is the
    share of the characters in reference spans that are marked. F1 = 2 * shared characters /
    (marked characters + characters in reference spans), the harmonic mean of precision and
    recall.

    Parameters
    ----------
    spans, reference : sequence of (int, int)
        Marked spans and reference spans in the response, as start and end positions in characters.
        The first character has position 0, and the end is excluded. Spans may overlap; each
        character counts once.
    measure : {'f1', 'precision', 'recall'}, default='f1'
        Which of the three values to return.

    Returns
    -------
    float
        Value in [0, 1]; higher is better. NaN for precision if there are no marked spans, for
        recall if there are no reference spans, and for F1 if there are neither.

    Notes
    -----
    Source: Niu et al. (2024), RAGTruth, arXiv 2401.00396, who pool the characters of all responses.

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
