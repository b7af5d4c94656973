"""Metrics from the judgements of models and people, and the cosine similarity of embeddings.

`ragnb.experiments.judges.judge_responses` and `ragnb.experiments.judges.judge_pairs` ask a model,
the judge, for its judgements. All functions raise InputError for an invalid value.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ragnb.cells import is_missing, truth_of
from ragnb.errors import InputError, as_real, check_choice
from ragnb.metrics.record import metric
from ragnb.text import fold

# Verdict -> value. A refusal is not accepted as an answer.
ACCEPTED = {"correct": 1.0, "incorrect": 0.0, "refuse": 0.0}
NEVER_JUDGED = "Only if the verdict is missing."


def binary_verdict(verdict: float | None) -> float:
    """Convert a verdict to 1.0 (True or 1), 0.0 (False or 0), or NaN if it is None or NaN.

    Examples
    --------
    >>> binary_verdict(True), binary_verdict(None)
    (1.0, nan)
    """
    return _given(verdict, (0, 1).__contains__, "a verdict must be 0, 1 or None")


def _given(value: Any, is_allowed: Callable[[float], bool], rule: str) -> float:
    """Convert a judgement to a float, or to NaN if it is missing."""
    if is_missing(value):
        return math.nan
    if not is_allowed(as_real(value)):
        is_percentage = "between 0 and 1" in rule and 1 < as_real(value) <= 100
        advice = "; if it is a percentage, divide the column by 100" if is_percentage else ""
        raise InputError(f"{rule}, got {value!r}{advice}")
    return float(value)


@metric(
    "semantic.judged_similarity",
    {"score": "judged_similarity"},
    source="ours, after the judged score of kanoes/LBRAG-NEW experiments/scripts/experiment.py; "
    "responses that are empty or have an unreadable judgement are not scored",
    undefined="Only if the score is missing.",
)
def judged_similarity(score: float | None) -> float:
    """Semantic similarity of a response to its reference, as scored by a judge.

    The judge is instructed to give about 0.5 if half of the content of the reference is missing.
    Additional details should not lower the score unless they contradict the reference. Obtain the
    score with ``ragnb.experiments.judges.judge_responses(..., 'similarity')``.

    Parameters
    ----------
    score : float or None
        Score of the judge, in [0, 1]: 1 if the response conveys the meaning of the reference, near
        0 if it contradicts the reference or gives no answer. None if there is no score.

    Returns
    -------
    float
        The score; higher is better. NaN if there is none.

    Notes
    -----
    Source: kanoes/LBRAG-NEW, experiments/scripts/experiment.py, with another prompt. That code
    gives 0 to responses without a score.

    Examples
    --------
    >>> judged_similarity(0.75), judged_similarity(None)
    (0.75, nan)
    """
    return _given(score, lambda x: 0 <= x <= 1, "a judge's score must be between 0 and 1, or None")


@metric(
    "semantic.judged_correctness",
    {"verdict": "judged_correct"},
    source="ours: the verdict of a judge that is given the references",
    binary=True,
    undefined=NEVER_JUDGED,
)
def judged_correctness(verdict: float | None) -> float:
    """Judged correctness: 1.0 if a judge finds the response correct given the references, else 0.0.

    Obtain the verdict with ``ragnb.experiments.judges.judge_responses(..., 'correctness')``.

    Parameters
    ----------
    verdict : bool, float or None
        Verdict of the judge: 1 if the response is correct, 0 otherwise; None if it is missing.

    Returns
    -------
    float
        1.0 or 0.0; higher is better. NaN if the verdict is missing.

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

_VERDICTS: Mapping[str, Mapping[Any, str]] = {
    "variant": {
        "share": "The share of statements with a positive verdict.",
        "all": "1 if all statements have a positive verdict, else 0.",
    }
}


@metric(
    "judged.faithfulness",
    {"statements": "judged_statements"},
    options=_VERDICTS,
    source="ours, after faithfulness in ragas (Es et al. 2024, arXiv 2309.15217), with one request "
    "instead of two and with our own prompt",
    undefined="If the judge finds no statement, as in a refusal, or if a verdict is missing.",
)
def judged_faithfulness(
    statements: Sequence[Mapping[str, Any]] | None, *, variant: str = "share"
) -> float:
    """Share of the statements in a response that a judge finds supported by the passages.

    Obtain the statements and verdicts with ``ragnb.experiments.judges.judge_responses(...,
    'faithfulness')``.

    Parameters
    ----------
    statements : sequence of mappings or None
        Statements that the judge found in the response. The key ``'supported'`` of each is True,
        False, or None if the verdict is missing. Other keys are ignored. None if there are no
        verdicts.
    variant : {'share', 'all'}, default='share'
        ``'share'``: the share of supported statements. ``'all'``: 1.0 if all statements are
        supported, else 0.0.

    Returns
    -------
    float
        Value in [0, 1]; higher is better. NaN if there are no statements, as in a refusal, or if a
        verdict is missing.

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
    return _share([one["supported"] for one in statements or ()], variant)


@metric(
    "judged.answer_relevancy",
    {"statements": "judged_relevant_statements"},
    options=_VERDICTS,
    source="ours, after answer relevancy in DeepEval, with one request and with our own prompt",
    undefined="If the judge finds no statement, or if a verdict is missing.",
)
def judged_answer_relevancy(
    statements: Sequence[Mapping[str, Any]] | None, *, variant: str = "share"
) -> float:
    """Share of the statements in a response that a judge finds relevant to the question.

    Obtain the statements and verdicts with ``ragnb.experiments.judges.judge_responses(...,
    'answer_relevancy')``. A statement can be relevant even if it is wrong.

    Parameters
    ----------
    statements : sequence of mappings or None
        Statements that the judge found in the response. The key ``'relevant'`` of each is True,
        False, or None if the verdict is missing. Other keys are ignored. None if there are no
        verdicts.
    variant : {'share', 'all'}, default='share'
        ``'share'``: the share of relevant statements. ``'all'``: 1.0 if all statements are
        relevant, else 0.0.

    Returns
    -------
    float
        Value in [0, 1]; higher is better. NaN if there are no statements, or if a verdict is
        missing.

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
    return _share([one["relevant"] for one in statements or ()], variant)


@metric(
    "judged.context_precision",
    {"verdicts": "judged_passages"},
    options={
        "variant": {
            "ranked": "Mean of precision at the rank of each useful passage (average precision), as "
            "in ragas. 0 if no passage is useful.",
            "share": "The share of useful passages, whatever their order.",
        }
    },
    source="ours, with the formula of context precision in ragas and our own prompt",
    undefined="If there is no passage, or if a verdict is missing.",
)
def judged_context_precision(verdicts: Sequence[float] | None, *, variant: str = "ranked") -> float:
    """Context precision: average precision of the retrieved passages according to a judge.

    AP = (sum of precision@k over the ranks k of the useful passages) / (number of useful passages),
    where precision@k is the share of useful passages among the first k. Unlike in
    `ragnb.metrics.retrieval.average_precision`, the denominator does not include useful passages
    that were not retrieved. The judge sees the reference. Obtain the verdicts with
    ``ragnb.experiments.judges.judge_responses(..., 'context_precision')``.

    Parameters
    ----------
    verdicts : sequence of float or None
        Verdict on each retrieved passage, in rank order: 1 if the passage is useful for
        finding the reference answer, 0 otherwise. None if there are no verdicts.
    variant : {'ranked', 'share'}, default='ranked'
        ``'ranked'``: average precision. ``'share'``: the share of useful passages.

    Returns
    -------
    float
        Value in [0, 1]; higher is better. 0 if no passage is useful. NaN if there is no passage, or
        if a verdict is missing.

    Notes
    -----
    Source: context precision in the documentation of ragas; ``'share'`` is from this package.

    Examples
    --------
    >>> round(judged_context_precision([1, 0, 1]), 4), judged_context_precision([0, 1], variant="share")
    (0.8333, 0.5)
    """
    check_choice(variant, ("ranked", "share"), "variant")
    useful = np.array([] if verdicts is None else [binary_verdict(each) for each in verdicts])
    if variant == "share" or not useful.any() or np.isnan(useful).any():
        return float(useful.mean()) if useful.size else math.nan
    precision = useful.cumsum() / np.arange(1, useful.size + 1)
    return float(precision[useful == 1].mean())


@metric(
    "judged.rubric",
    {"score": "judged_rubric"},
    bounds=(1.0, 5.0),
    source="ours: the score of a judge by your own rubric, whose text is part of the prompt's hash",
    undefined="Only if the score is missing.",
)
def judged_rubric(score: float | None) -> float:
    """Score that a judge assigns to a response under a custom rubric, from 1 (worst) to 5 (best).

    Obtain the score with ``ragnb.experiments.judges.judge_responses(..., 'rubric', rubric='...')``.

    Parameters
    ----------
    score : float or None
        Score assigned by the judge: 1, 2, 3, 4 or 5. None if there is no score.

    Returns
    -------
    float
        The score; higher is better. NaN if there is none.

    Notes
    -----
    Source: this package.

    Examples
    --------
    >>> judged_rubric(4), judged_rubric(None)
    (4.0, nan)
    """
    return _given(score, (1, 2, 3, 4, 5).__contains__, "a score must be 1, 2, 3, 4, 5 or None")


@metric(
    "judged.preference",
    {"preference": "judged_preference"},
    source="ours: the verdicts of a judge on two responses, shown in both orders",
    undefined="Only if one of the two verdicts is missing.",
)
def judged_preference(preference: float | None) -> float:
    """A judge's preference for the response of a system over that of a baseline.

    `ragnb.experiments.judges.judge_pairs` shows the two responses to the judge in both orders. Each
    verdict is 1 if the system wins, 0.5 for a tie and 0 if the baseline wins. A judge that always prefers
    the response shown first therefore gives a tie. The mean over questions is the win rate, in which
    a tie counts as half a win.

    Parameters
    ----------
    preference : float or None
        Mean of the two verdicts: 0, 0.25, 0.5, 0.75 or 1. None if one of them is missing.

    Returns
    -------
    float
        The mean of the two verdicts; higher is better, and 0.5 is a tie. NaN if one is missing.

    Notes
    -----
    Source: this package; on the effect of the order, see Zheng et al. (2023), arXiv 2306.05685.

    Examples
    --------
    >>> judged_preference(0.75)
    0.75
    """
    return _given(
        preference,
        (0, 0.25, 0.5, 0.75, 1).__contains__,
        "a preference must be 0, 0.25, 0.5, 0.75, 1 or None",
    )


def _share(verdicts: Sequence[Any], variant: str) -> float:
    check_choice(variant, ("share", "all"), "variant")
    values = [binary_verdict(verdict) for verdict in verdicts]
    if not values:
        return math.nan
    return float(np.min(values) if variant == "all" else np.mean(values))


@metric(
    "annotator.verdict",
    {"verdict": "verdict"},
    source="the annotator who filled the column `verdict`",
    binary=True,
    undefined=NEVER_JUDGED,
)
def is_accepted(verdict: bool | float | str | None) -> float:
    """Annotator's verdict: 1.0 if an annotator accepted the response, else 0.0.

    Parameters
    ----------
    verdict : bool, float, str or None
        Verdict of the annotator: True, 1, ``'correct'`` or a word such as ``'yes'`` if the response
        is accepted; False, 0, ``'incorrect'``, ``'refuse'`` or a word such as ``'no'`` otherwise. The
        letter case of words and blanks around them do not count. None, NaN or a blank text if it is
        missing.

    Returns
    -------
    float
        1.0 or 0.0; higher is better. NaN if the verdict is missing.

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
    value = ACCEPTED.get(word, truth_of(word))
    if value is None and word:
        raise InputError(
            "a verdict must be True or False, 1 or 0, yes or no, or one of the words "
            f"{', '.join(map(repr, ACCEPTED))}, got {verdict!r}"
        )
    return math.nan if value is None else value


NO_WORDS = "the response contains no words"
# Labels of the task ``language`` and of the task ``preference`` -> values.
RIGHT_LANGUAGE = {"yes": 1.0, "no": 0.0, "mixed": 0.0, "none": math.nan}
PREFERRED = {"a": 1.0, "b": 0.0, "tie": 0.5, "neither": 0.5}


@metric(
    "annotator.right_language",
    {"label": "right_language"},
    source="the annotator who filled the column `right_language`",
    binary=True,
    condition=NO_WORDS,
    reason=lambda label: NO_WORDS if label == "none" else "the label is missing",
    undefined="If the label is missing, or if it is 'none': the response contains no words.",
)
def is_in_right_language(label: str | None) -> float:
    """Annotator's label of the language: 1.0 if the whole response is in the language of its question.

    Parameters
    ----------
    label : str or None
        Label of the task ``language``: ``'yes'``, ``'no'``, ``'mixed'`` (in part another language) or
        ``'none'`` (no words). None if it is missing.

    Returns
    -------
    float
        1.0 for ``'yes'``; 0.0 for ``'no'`` and ``'mixed'``; higher is better. NaN for ``'none'`` and if
        the label is missing.

    Notes
    -----
    Source: the judgement of a person, with whom `ragnb.metrics.language` can be compared.

    Examples
    --------
    >>> is_in_right_language("yes"), is_in_right_language("mixed"), is_in_right_language("none")
    (1.0, 0.0, nan)
    """
    return _labelled(label, RIGHT_LANGUAGE)


@metric(
    "annotator.preference",
    {"label": "preferred"},
    source="the annotator who filled the column `preferred`",
    undefined=NEVER_JUDGED,
)
def annotator_preference(label: str | None) -> float:
    """Annotator's preference for the response in ``response_a`` over that in ``response_b``.

    The mean over questions is the win rate of the first response, in which a tie counts as half a win.

    Parameters
    ----------
    label : str or None
        Label of the task ``preference``: ``'a'``, ``'b'``, ``'tie'`` or ``'neither'``. None if it is
        missing.

    Returns
    -------
    float
        1.0 for ``'a'``, 0.0 for ``'b'``, and 0.5 for ``'tie'`` and ``'neither'``. NaN if the label is
        missing.

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
    word = "" if label is None or label != label else fold(str(label))
    if word and word not in values:
        raise InputError(f"a label must be one of {', '.join(map(repr, values))}, got {label!r}")
    return values.get(word, math.nan)


@metric(
    "semantic.embedding_cosine",
    {"a": "response_embedding", "b": "reference_embedding"},
    bounds=(-1.0, 1.0),
    source="ours: the cosine similarity of two embeddings",
    undefined="If either embedding is zero.",
)
def embedding_cosine(a: ArrayLike, b: ArrayLike) -> float:
    """Cosine similarity between the embeddings of a response and its reference.

    cosine similarity = a·b / (‖a‖ ‖b‖). The similarity does not measure correctness: answers
    that differ only in a number or a name often have nearly identical embeddings.

    Parameters
    ----------
    a, b : array-like of shape (n_dimensions,)
        The two embeddings, from the same model.

    Returns
    -------
    float
        Value in [-1, 1]; higher means more similar. NaN if either embedding is zero.

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
    lengths = np.linalg.norm(first) * np.linalg.norm(second)
    return float(np.clip(first @ second / lengths, -1, 1)) if lengths else math.nan
