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
from typing import Annotated, Any

from ragnb.errors import check_choice
from ragnb.metrics.declaration import Column, Option
from ragnb.metrics.judged import binary_verdict
from ragnb.metrics.record import metric

# Labels of a claim, a fact or a sentence.
LABELS = ("supported", "contradicted", "not supported", "irrelevant")

Part = Mapping[str, Any]
Span = Sequence[int]

_NO_PARTS = "If the response has no parts."
_HU = "Hu et al. 2024 (RefChecker), arXiv 2405.14486"


def _counts(parts: Sequence[Part]) -> Counter[str]:
    """The number of parts with each label, after a check of the labels."""
    for part in parts:
        check_choice(part.get("label"), LABELS, "the label of a part")
    return Counter(part["label"] for part in parts)


def _share(count: float, total: float) -> float:
    """The share of a count in a total; NaN if the total is 0."""
    return count / total if total else math.nan


def parts_evidence(parts: Sequence[Part], **options: Any) -> str:
    """State how many parts have each label, and list the parts that are not supported.

    >>> parts_evidence([{"text": "It is red.", "label": "supported"},
    ...                 {"text": "It is big.", "label": "contradicted"}])
    "supported 1, contradicted 1; 'It is big.' (contradicted)"
    """
    counts = ", ".join(f"{label} {n}" for label, n in _counts(parts).items())
    not_supported = [
        f"{part['text']!r} ({part['label']})" for part in parts if part["label"] != "supported"
    ]
    return "; ".join([counts, *not_supported])


# ---- claims, facts, sentences --------------------------------------------------------------------


class LabelledParts(Column):
    """Claims, facts or sentences of the response, each with its ``label``.

    A label is ``'supported'``, ``'contradicted'``, ``'not supported'`` or ``'irrelevant'``.
    """

    column = "parts"
    type_name = "sequence of mapping"


class Irrelevant(Option):
    """Whether parts with the label ``'irrelevant'`` are in the denominator."""

    values = {
        "counted": "As in FActScore, an irrelevant part counts as not supported.",
        "left_out": "Irrelevant parts are left out.",
    }


@metric(
    "parts.supported",
    source=f"Min et al. 2023 (FActScore), arXiv 2305.14251, section 3; {_HU}",
    evidence=parts_evidence,
    undefined="If the response has no parts that count.",
)
def supported_share(
    parts: Annotated[Sequence[Part], LabelledParts],
    *,
    irrelevant: Annotated[str, Irrelevant] = "counted",
) -> float:
    """Share of the claims, facts or sentences of a response that are labelled as supported.

    This metric is also called faithfulness, groundedness or factual precision. It does not
    penalise omissions.

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
    counts = _counts(parts)
    left_out = counts["irrelevant"] if irrelevant == "left_out" else 0
    return _share(counts["supported"], counts.total() - left_out)


@metric(
    "parts.contradicted",
    source=_HU,
    higher_is_better=False,
    evidence=parts_evidence,
    undefined=_NO_PARTS,
)
def contradicted_share(parts: Annotated[Sequence[Part], LabelledParts]) -> float:
    """Share of the claims, facts or sentences of a response that are labelled as contradicted.

    The denominator is the number of all parts, including those labelled ``'not supported'`` or
    ``'irrelevant'``.

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
    source="Sadat et al. 2023 (DelucionQA); Friel et al. 2024 (RAGBench), adherence",
    binary=True,
    evidence=parts_evidence,
    undefined=_NO_PARTS,
)
def all_supported(parts: Annotated[Sequence[Part], LabelledParts]) -> float:
    """Full support: 1.0 if all claims, facts or sentences of a response are supported, else 0.0.

    A single part with a label other than ``'supported'`` gives 0.0, so longer responses tend to
    score lower.

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

# Option `credit` -> assignment of a nugget -> its credit.
_CREDIT = {
    "strict": {"support": 1.0, "partial_support": 0.0, "not_support": 0.0},
    "partial": {"support": 1.0, "partial_support": 0.5, "not_support": 0.0},
}


class Nuggets(Column):
    """Nuggets of the question, each with its ``importance`` and its ``assignment``.

    The importance is ``'vital'`` or ``'okay'``. The assignment says whether the response supports the
    nugget: ``'support'``, ``'partial_support'`` or ``'not_support'``.
    """

    column = "nuggets"
    type_name = "sequence of mapping"


class Credit(Option):
    """Credit for partial support."""

    values = {
        "strict": "A nugget that the response supports in part counts as 0.",
        "partial": "A nugget that the response supports in part counts as 0.5.",
    }


class Over(Option):
    """Which nuggets count."""

    values = {
        "vital": "Only vital nuggets count.",
        "all": "Vital and okay nuggets count.",
    }


@metric(
    "parts.nuggets",
    source="Pradeep et al. 2025 (AutoNuggetizer), arXiv 2504.15068; their tool gives 0.0 if "
    "there is no nugget",
    undefined="If the question has no nuggets that count.",
)
def nugget_recall(
    nuggets: Annotated[Sequence[Part], Nuggets],
    *,
    credit: Annotated[str, Credit] = "strict",
    over: Annotated[str, Over] = "vital",
) -> float:
    """Nugget recall: share of a question's nuggets that the response supports.

    A nugget is a fact that a good answer states.

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
    counted = nuggets
    if over == "vital":
        for nugget in nuggets:
            check_choice(nugget.get("importance"), ("vital", "okay"), "the importance of a nugget")
        counted = [nugget for nugget in nuggets if nugget["importance"] == "vital"]
    credits = _CREDIT[credit]
    for nugget in counted:
        check_choice(nugget.get("assignment"), tuple(credits), "the assignment of a nugget")
    return _share(sum(credits[nugget["assignment"]] for nugget in counted), len(counted))


# ---- citations -----------------------------------------------------------------------------------

_GAO = "Gao et al. 2023 (ALCE), arXiv 2305.14627, section 4"


class CitedStatements(Column):
    """Statements of the response, each with ``supported`` and ``citations``.

    ``supported`` is 1 if the citations of the statement together support it, else 0. ``citations`` is
    the list of these citations, each a mapping with ``alone`` and ``rest``. ``alone`` is 1 if this
    citation alone supports the statement, else 0. ``rest`` is 1 if the other citations support the
    statement without this one, else 0; a missing ``rest`` counts as 0. A statement with a single
    citation does not need it. Citation recall checks only whether the list is empty.
    """

    column = "statements"
    type_name = "sequence of mapping"


@metric(
    "parts.citation_recall",
    source=_GAO,
    undefined="If there are no statements, or if the verdict on a statement with citations is missing.",
)
def citation_recall(statements: Annotated[Sequence[Part], CitedStatements]) -> float:
    """Citation recall: share of a response's statements that are supported by their citations.

    A person or a model must judge the support. A statement without citations counts as not
    supported.

    Notes
    -----
    Source: Gao et al. (2023), ALCE, arXiv 2305.14627, section 4.

    Examples
    --------
    >>> citation_recall([{"supported": 1, "citations": [{"alone": 1}]},
    ...                  {"supported": 0, "citations": []}])
    0.5
    """
    supported = 0.0
    for statement in statements:
        # A statement without citations counts as not supported, and needs no verdict.
        if statement["citations"]:
            # A missing verdict is NaN, and so is then the sum.
            supported += binary_verdict(statement["supported"])
    return _share(supported, len(statements))


@metric(
    "parts.citation_precision",
    source=_GAO,
    undefined="If there are no citations, or if a required verdict is missing.",
)
def citation_precision(statements: Annotated[Sequence[Part], CitedStatements]) -> float:
    """Citation precision: share of a response's citations that help to support their statement.

    A citation helps if two conditions are met. First, all citations of the statement together
    support it. Second, this citation alone supports the statement, or the other citations are not
    enough without it.

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
    helpful = [
        _helps(statement, citation)
        for statement in statements
        for citation in statement["citations"]
    ]
    return _share(sum(helpful), len(helpful))


def _helps(statement: Part, citation: Part) -> float:
    """1.0 if a citation helps to support its statement, else 0.0; NaN without the verdict."""
    supported = binary_verdict(statement["supported"])
    if supported != 1:
        # All citations together do not support the statement, so none of them helps: 0.0. Or the
        # verdict is missing: NaN.
        return supported
    supports_alone = binary_verdict(citation["alone"])
    if supports_alone != 0:
        # 1.0, or NaN if the verdict is missing.
        return supports_alone
    # Without this citation, the others must not be enough. A missing verdict on them, which is NaN,
    # counts as not enough.
    others_are_enough = binary_verdict(citation.get("rest")) == 1
    return 0.0 if others_are_enough else 1.0


# ---- spans ---------------------------------------------------------------------------------------


class MarkedSpans(Column):
    """Marked spans in the response, as start and end positions in characters.

    The first character has position 0, and the end is excluded. Spans may overlap; each character
    counts once.
    """

    column = "spans"
    type_name = "sequence of (int, int)"


class ReferenceSpans(Column):
    """Reference spans in the response, in the same form."""

    column = "reference_spans"
    type_name = "sequence of (int, int)"


class Measure(Option):
    """Which of the three values to return."""

    values = {
        "f1": "The harmonic mean of precision and recall.",
        "precision": "The share of the marked characters that are in the reference.",
        "recall": "The share of the characters of the reference that are marked.",
    }


@metric(
    "parts.span_f1",
    source="Niu et al. 2024 (RAGTruth), arXiv 2401.00396; here for each response",
    undefined="If there are neither spans nor reference spans. Precision is also undefined "
    "without spans, and recall without reference spans.",
)
def span_overlap(
    spans: Annotated[Sequence[Span], MarkedSpans],
    reference: Annotated[Sequence[Span], ReferenceSpans],
    *,
    measure: Annotated[str, Measure] = "f1",
) -> float:
    """Character-level F1, precision or recall of marked spans against reference spans.

    Precision is the share of the marked characters that are in a reference span. Recall is the
    share of the characters in reference spans that are marked. F1 = 2 * shared characters /
    (marked characters + characters in reference spans), the harmonic mean of precision and
    recall.

    Notes
    -----
    Source: Niu et al. (2024), RAGTruth, arXiv 2401.00396, who pool the characters of all responses.

    Examples
    --------
    >>> span_overlap([(0, 10)], [(5, 10)]), span_overlap([(0, 10)], [(5, 10)], measure="recall")
    (0.6666666666666666, 1.0)
    """
    marked = _characters(spans)
    expected = _characters(reference)
    denominators = {
        # F1 = 2 * shared / (marked + expected)
        "f1": (len(marked) + len(expected)) / 2,
        "precision": len(marked),
        "recall": len(expected),
    }
    return _share(len(marked & expected), denominators[measure])


def _characters(spans: Sequence[Span]) -> set[int]:
    """The positions of the characters in spans."""
    return {position for start, end in spans for position in range(start, end)}
