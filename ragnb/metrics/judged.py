"""Metrics from the judgements of models and people, and the cosine similarity of embeddings.

`ragnb.experiments.judges.judge_responses` and `ragnb.experiments.judges.judge_pairs` ask a model,
the judge, for its judgements. All functions raise InputError for an invalid value.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from ragnb.cells import is_missing, truth_of
from ragnb.errors import InputError, as_real
from ragnb.metrics.declaration import Column, Option
from ragnb.metrics.record import EXTRA_WORDS, MISSING_PARTS, OTHER_WORDS, metric
from ragnb.text import fold

# Word of a verdict -> value. A refusal is not accepted as an answer.
VERDICT_WORDS = {"correct": 1.0, "incorrect": 0.0, "refuse": 0.0}
NEVER_JUDGED = "Only if the verdict is missing."
# Beginnings of the names of metrics whose values are the verdicts of a model.
VERDICTS_OF_A_MODEL = ("judged.", "semantic.judged", "rgb.judged")


def binary_verdict(verdict: float | None) -> float:
    """Convert a verdict to 1.0 (True or 1), 0.0 (False or 0), or NaN if it is None or NaN.

    Examples
    --------
    >>> binary_verdict(True), binary_verdict(None)
    (1.0, nan)
    """
    return _checked(verdict, (0, 1).__contains__, "a verdict must be 0, 1 or None")


def _checked(value: Any, is_allowed: Callable[[float], bool], rule: str) -> float:
    """Convert a judgement to a float, or to NaN if it is missing.

    A value that is not allowed raises InputError, whose message begins with the rule.
    """
    if is_missing(value):
        return math.nan
    if not is_allowed(as_real(value)):
        # Among the judgements, only a share can be a percentage by mistake. Its rule has these words.
        is_share = "between 0 and 1" in rule
        is_percentage = is_share and 1 < as_real(value) <= 100
        advice = "; if it is a percentage, divide the column by 100" if is_percentage else ""
        raise InputError(f"{rule}, got {value!r}{advice}")
    return float(value)


class JudgedSimilarity(Column):
    """Score of a judge, in [0, 1].

    It is 1 if the response conveys the meaning of the reference, and near 0 if it contradicts the
    reference or gives no answer. None if there is no score.
    """

    column = "judged_similarity"


@metric(
    "semantic.judged_similarity",
    source="ours, after the judged score of kanoes/LBRAG-NEW experiments/scripts/experiment.py; "
    "responses that are empty or have an unreadable judgement are not scored",
    undefined="Only if the score is missing.",
    punishes=(MISSING_PARTS,),
)
def judged_similarity(score: Annotated[float | None, JudgedSimilarity]) -> float:
    """Semantic similarity of a response to its reference, as scored by a judge.

    The judge is instructed to give about 0.5 if half of the content of the reference is missing.
    Additional details should not lower the score unless they contradict the reference. Obtain the
    score with ``ragnb.experiments.judges.judge_responses(..., 'similarity')``.

    Notes
    -----
    Source: kanoes/LBRAG-NEW, experiments/scripts/experiment.py, with another prompt. That code
    gives 0 to responses without a score.

    Examples
    --------
    >>> judged_similarity(0.75), judged_similarity(None)
    (0.75, nan)
    """
    return _checked(
        score, lambda x: 0 <= x <= 1, "a judge's score must be between 0 and 1, or None"
    )


class JudgedCorrectness(Column):
    """Verdict of a judge: 1 if the response is correct, 0 otherwise; None if it is missing."""

    column = "judged_correct"


@metric(
    "semantic.judged_correctness",
    source="ours: the verdict of a judge that is given the references",
    binary=True,
    undefined=NEVER_JUDGED,
    punishes=(),
)
def judged_correctness(verdict: Annotated[float | None, JudgedCorrectness]) -> float:
    """Judged correctness: 1.0 if a judge finds the response correct given the references, else 0.0.

    Obtain the verdict with ``ragnb.experiments.judges.judge_responses(..., 'correctness')``.

    Notes
    -----
    Source: this package.

    Examples
    --------
    >>> judged_correctness(1), judged_correctness(False)
    (1.0, 0.0)
    """
    return binary_verdict(verdict)


# ---- statements, passages, rubrics and pairs -----------------------------------------------------


class ShareOrAll(Option):
    """How the verdicts on the statements are combined."""

    values = {
        "share": "The share of statements with a positive verdict.",
        "all": "1 if all statements have a positive verdict, else 0.",
    }


class SupportedStatements(Column):
    """Statements that a judge found in the response; None if there are no verdicts.

    The key ``'supported'`` of each is True, False, or None if the verdict is missing. Other keys are
    ignored.
    """

    column = "judged_statements"
    type_name = "sequence of mappings or None"


@metric(
    "judged.faithfulness",
    source="ours, after faithfulness in ragas (Es et al. 2024, arXiv 2309.15217), with one request "
    "instead of two and with our own prompt",
    undefined="If the judge finds no statement, as in a refusal, or if a verdict is missing.",
)
def judged_faithfulness(
    statements: Annotated[Sequence[Mapping[str, Any]] | None, SupportedStatements],
    *,
    variant: Annotated[str, ShareOrAll] = "share",
) -> float:
    """Share of the statements in a response that a judge finds supported by the passages.

    Obtain the statements and verdicts with ``ragnb.experiments.judges.judge_responses(...,
    'faithfulness')``.

    Notes
    -----
    Source: this package, after the faithfulness of ragas (Es et al. 2024, arXiv 2309.15217).

    Examples
    --------
    >>> made = [{"statement": "Oslo is the capital.", "supported": True},
    ...         {"statement": "It lies in Sweden.", "supported": False}]
    >>> judged_faithfulness(made), judged_faithfulness(made, variant="all"), judged_faithfulness([])
    (0.5, 0.0, nan)
    """
    return _share(_verdicts_on(statements, "supported"), variant)


class RelevantStatements(Column):
    """Statements that a judge found in the response; None if there are no verdicts.

    The key ``'relevant'`` of each is True, False, or None if the verdict is missing. Other keys are
    ignored.
    """

    column = "judged_relevant_statements"
    type_name = "sequence of mappings or None"


@metric(
    "judged.answer_relevancy",
    source="ours, after answer relevancy in DeepEval, with one request and with our own prompt",
    undefined="If the judge finds no statement, or if a verdict is missing.",
)
def judged_answer_relevancy(
    statements: Annotated[Sequence[Mapping[str, Any]] | None, RelevantStatements],
    *,
    variant: Annotated[str, ShareOrAll] = "share",
) -> float:
    """Share of the statements in a response that a judge finds relevant to the question.

    Obtain the statements and verdicts with ``ragnb.experiments.judges.judge_responses(...,
    'answer_relevancy')``. A statement can be relevant even if it is wrong.

    Notes
    -----
    Source: this package, after DeepEval. Answer relevancy in ragas is a different quantity: the
    mean cosine similarity between the question and questions that a model generates from the
    response.

    Examples
    --------
    >>> judged_answer_relevancy([{"statement": "It is Oslo.", "relevant": True}])
    1.0
    """
    return _share(_verdicts_on(statements, "relevant"), variant)


class JudgedPassages(Column):
    """Verdict on each retrieved passage, in rank order; None if there are no verdicts.

    A verdict is 1 if the passage is useful for finding the reference answer, 0 otherwise.
    """

    column = "judged_passages"
    type_name = "sequence of float or None"


class RankedOrShare(Option):
    """Whether the ranks of the useful passages count."""

    values = {
        "ranked": "Mean of precision at the rank of each useful passage (average precision), as "
        "in ragas. 0 if no passage is useful.",
        "share": "The share of useful passages, whatever their order.",
    }


@metric(
    "judged.context_precision",
    source="ours, with the formula of context precision in ragas and our own prompt",
    undefined="If there is no passage, or if a verdict is missing.",
)
def judged_context_precision(
    verdicts: Annotated[Sequence[float] | None, JudgedPassages],
    *,
    variant: Annotated[str, RankedOrShare] = "ranked",
) -> float:
    """Context precision: average precision of the retrieved passages according to a judge.

    AP = (sum of precision@k over the ranks k of the useful passages) / (number of useful passages),
    where precision@k is the share of useful passages among the first k. Unlike in
    `ragnb.metrics.retrieval.average_precision`, the denominator does not include useful passages
    that were not retrieved. The judge sees the reference. Obtain the verdicts with
    ``ragnb.experiments.judges.judge_responses(..., 'context_precision')``.

    Notes
    -----
    Source: context precision in the documentation of ragas; ``'share'`` is from this package.

    Examples
    --------
    >>> round(judged_context_precision([1, 0, 1]), 4), judged_context_precision([0, 1], variant="share")
    (0.8333, 0.5)
    """
    verdicts = () if verdicts is None else verdicts
    useful = np.array([binary_verdict(verdict) for verdict in verdicts])
    if not useful.size or np.isnan(useful).any():
        return math.nan
    if variant == "share":
        return float(useful.mean())
    if not useful.any():
        return 0.0
    ranks = np.arange(1, useful.size + 1)
    precision_at_rank = useful.cumsum() / ranks
    return float(precision_at_rank[useful == 1].mean())


class JudgedRubric(Column):
    """Score that a judge assigned: 1, 2, 3, 4 or 5. None if there is no score."""

    column = "judged_rubric"


@metric(
    "judged.rubric",
    bounds=(1.0, 5.0),
    source="ours: the score of a judge by your own rubric, whose text is part of the prompt's hash",
    undefined="Only if the score is missing.",
)
def judged_rubric(score: Annotated[float | None, JudgedRubric]) -> float:
    """Score that a judge assigns to a response under a custom rubric, from 1 (worst) to 5 (best).

    Obtain the score with ``ragnb.experiments.judges.judge_responses(..., 'rubric', rubric='...')``.

    Notes
    -----
    Source: this package.

    Examples
    --------
    >>> judged_rubric(4), judged_rubric(None)
    (4.0, nan)
    """
    return _checked(score, (1, 2, 3, 4, 5).__contains__, "a score must be 1, 2, 3, 4, 5 or None")


class JudgedPreference(Column):
    """Mean of the two verdicts: 0, 0.25, 0.5, 0.75 or 1. None if one of them is missing."""

    column = "judged_preference"


@metric(
    "judged.preference",
    source="ours: the verdicts of a judge on two responses, shown in both orders",
    undefined="Only if one of the two verdicts is missing.",
)
def judged_preference(preference: Annotated[float | None, JudgedPreference]) -> float:
    """A judge's preference for the response of a system over that of a baseline.

    `ragnb.experiments.judges.judge_pairs` shows the two responses to the judge in both orders. Each
    verdict is 1 if the system wins, 0.5 for a tie and 0 if the baseline wins. A judge that always prefers
    the response shown first therefore gives a tie. The mean over questions is the win rate, in which
    a tie counts as half a win.

    Notes
    -----
    Source: this package; on the effect of the order, see Zheng et al. (2023), arXiv 2306.05685.

    Examples
    --------
    >>> judged_preference(0.75)
    0.75
    """
    return _checked(
        preference,
        (0, 0.25, 0.5, 0.75, 1).__contains__,
        "a preference must be 0, 0.25, 0.5, 0.75, 1 or None",
    )


def _verdicts_on(statements: Sequence[Mapping[str, Any]] | None, key: str) -> list[Any]:
    """The verdicts under a key of each statement; none if there are no statements."""
    # Statements may be a NumPy array, as a Parquet file has them, which cannot be tested for truth.
    return [] if statements is None else [statement[key] for statement in statements]


def _share(verdicts: Sequence[Any], variant: str) -> float:
    """The share of positive verdicts, or whether all are positive; see `ShareOrAll`.

    It is NaN if there are no verdicts, or if one of them is missing.
    """
    values = [binary_verdict(verdict) for verdict in verdicts]
    if not values:
        return math.nan
    # A missing verdict is NaN, and so is then the minimum or the mean.
    return float(np.min(values) if variant == "all" else np.mean(values))


class AnnotatorVerdict(Column):
    """Verdict of an annotator; None, NaN or a blank text if it is missing.

    True, 1, ``'correct'`` or a word such as ``'yes'`` if the response is accepted; False, 0,
    ``'incorrect'``, ``'refuse'`` or a word such as ``'no'`` otherwise. The letter case of words and
    blanks around them do not count.
    """

    column = "verdict"
    type_name = "bool, float, str or None"


@metric(
    "annotator.verdict",
    source="the annotator who filled the column `verdict`",
    binary=True,
    undefined=NEVER_JUDGED,
    punishes=(),
)
def is_accepted(verdict: Annotated[bool | float | str | None, AnnotatorVerdict]) -> float:
    """Annotator's verdict: 1.0 if an annotator accepted the response, else 0.0.

    Notes
    -----
    Source: the judgement of a person.

    Examples
    --------
    >>> is_accepted(True), is_accepted("incorrect"), is_accepted("Yes")
    (1.0, 0.0, 1.0)
    """
    if not isinstance(verdict, str):
        return binary_verdict(verdict)
    word = fold(verdict)
    if not word:
        return math.nan
    value = VERDICT_WORDS.get(word, truth_of(word))
    if value is None:
        raise InputError(
            "a verdict must be True or False, 1 or 0, yes or no, or one of the words "
            f"{', '.join(map(repr, VERDICT_WORDS))}, got {verdict!r}"
        )
    return value


# Why a label of the language has no value if the annotator chose "none".
NO_WORDS = "the response contains no words"
# Labels of the task ``language`` and of the task ``preference`` -> values.
RIGHT_LANGUAGE = {"yes": 1.0, "no": 0.0, "mixed": 0.0, "none": math.nan}
PREFERRED = {"a": 1.0, "b": 0.0, "tie": 0.5, "neither": 0.5}


class RightLanguage(Column):
    """Label of the task ``language``; None if it is missing.

    It is ``'yes'``, ``'no'``, ``'mixed'`` (in part another language) or ``'none'`` (no words). The
    value is 1.0 for ``'yes'``, and 0.0 for ``'no'`` and ``'mixed'``.
    """

    column = "right_language"


@metric(
    "annotator.right_language",
    source="the annotator who filled the column `right_language`",
    binary=True,
    condition=NO_WORDS,
    reason=lambda label: NO_WORDS if label == "none" else "the label is missing",
    undefined="If the label is missing, or if it is 'none': the response contains no words.",
)
def is_in_right_language(label: Annotated[str | None, RightLanguage]) -> float:
    """Annotator's label of the language: 1.0 if the whole response is in the language of its question.

    Notes
    -----
    Source: the judgement of a person, with whom `ragnb.metrics.language` can be compared.

    Examples
    --------
    >>> is_in_right_language("yes"), is_in_right_language("mixed"), is_in_right_language("none")
    (1.0, 0.0, nan)
    """
    return _labelled(label, RIGHT_LANGUAGE)


class PreferredResponse(Column):
    """Label of the task ``preference``; None if it is missing.

    It is ``'a'``, ``'b'``, ``'tie'`` or ``'neither'``. The value is 1.0 for ``'a'``, 0.0 for ``'b'``, and
    0.5 for ``'tie'`` and ``'neither'``.
    """

    column = "preferred"


@metric(
    "annotator.preference",
    source="the annotator who filled the column `preferred`",
    undefined=NEVER_JUDGED,
)
def annotator_preference(label: Annotated[str | None, PreferredResponse]) -> float:
    """Annotator's preference for the response in ``response_a`` over that in ``response_b``.

    The mean over questions is the win rate of the first response, in which a tie counts as half a win.

    Notes
    -----
    Source: the judgement of a person. `judged_preference` is the same quantity by a judge.

    Examples
    --------
    >>> annotator_preference("a"), annotator_preference("tie"), annotator_preference(None)
    (1.0, 0.5, nan)
    """
    return _labelled(label, PREFERRED)


def _labelled(label: str | None, values: Mapping[str, float]) -> float:
    """The value of a label; NaN if the label is missing or blank."""
    word = "" if is_missing(label) else fold(str(label))
    if not word:
        return math.nan
    if word not in values:
        raise InputError(f"a label must be one of {', '.join(map(repr, values))}, got {label!r}")
    return values[word]


class ResponseEmbedding(Column):
    """Embedding of the response."""

    column = "response_embedding"
    type_name = "array-like of shape (n_dimensions,)"


class ReferenceEmbedding(Column):
    """Embedding of the reference, from the same model."""

    column = "reference_embedding"
    type_name = "array-like of shape (n_dimensions,)"


@metric(
    "semantic.embedding_cosine",
    bounds=(-1.0, 1.0),
    source="ours: the cosine similarity of two embeddings",
    undefined="If either embedding is zero.",
    punishes=(EXTRA_WORDS, OTHER_WORDS, MISSING_PARTS),
)
def embedding_cosine(
    a: Annotated[ArrayLike, ResponseEmbedding], b: Annotated[ArrayLike, ReferenceEmbedding]
) -> float:
    """Cosine similarity between the embeddings of a response and its reference.

    cosine similarity = a·b / (‖a‖ ‖b‖). The similarity does not measure correctness: answers
    that differ only in a number or a name often have nearly identical embeddings.

    Notes
    -----
    Source: the usual definition of cosine similarity.

    Examples
    --------
    >>> round(embedding_cosine([1, 2, 2], [2, 1, 2]), 4), embedding_cosine([0, 0], [1, 0])
    (0.8889, nan)
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if first.ndim != 1 or first.shape != second.shape or not first.size:
        raise InputError(
            "embeddings must be one-dimensional and of the same length, got shapes "
            f"{first.shape} and {second.shape}; use one model for both"
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise InputError("embeddings must be finite numbers")
    product_of_lengths = np.linalg.norm(first) * np.linalg.norm(second)
    if not product_of_lengths:
        return math.nan
    # Rounding errors can give a value slightly outside [-1, 1].
    return float(np.clip(first @ second / product_of_lengths, -1, 1))
