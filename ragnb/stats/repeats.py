"""Repeated runs of the same questions: noise taken apart, and questions that always succeed.

A mean varies for two reasons: other questions would have been easier or harder, and another run would
have given other answers to the same questions. Which of them counts depends on the claim (NIST AI
800-3 calls the two benchmark accuracy and generalized accuracy).

All functions raise InputError for arguments outside the stated range.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, stdtr, stdtrit

from ragnb.arguments import Bounds, Floats, Integers, accepts, as_clusters
from ragnb.errors import InputError
from ragnb.results import SMALLEST_P, Interval, SignificanceResult, undefined_interval

# Components of variance by the factors that they belong to.
QUESTION, JUDGE, QUESTION_AND_JUDGE, RUN = "question", "judge", "question × judge", "run"


@dataclass(frozen=True, slots=True)
class FixedQuestions:
    """Mean over fixed questions, and the error that repeated runs leave.

    Attributes
    ----------
    mean : float
        Mean of the means of the questions, which all count alike.
    variance : float
        Squared standard error of the mean, from the variance between runs of the same question.
    df : float
        Degrees of freedom (Satterthwaite).
    n_questions, n : int
        Number of questions with a value, and of values.
    problem : str
        Why there is no standard error; empty otherwise.
    """

    mean: float
    variance: float
    df: float
    n_questions: int
    n: int
    problem: str


def fixed_questions(values: Floats, questions: Integers) -> FixedQuestions:
    """Mean over fixed questions, which all count alike. Only the runs of each question vary."""
    codes, sizes = np.unique(questions, return_counts=True)
    n, n_questions = values.size, codes.size
    positions = np.searchsorted(codes, questions)
    if not n:
        return FixedQuestions(np.nan, np.nan, np.nan, 0, 0, "no values")
    means = np.bincount(positions, values) / sizes
    mean = float(means.mean())
    if (sizes < 2).any():
        n_single = int((sizes < 2).sum())
        problem = f"{n_single} of {n_questions} questions have only one run"
        return FixedQuestions(mean, np.nan, np.nan, n_questions, n, problem)
    squares = np.bincount(positions, (values - means[positions]) ** 2)
    # The squared standard error of the mean of each question, divided by the squared number of questions.
    parts = squares / (sizes - 1) / sizes / n_questions**2
    variance = float(parts.sum())
    if variance <= 0:
        problem = "all runs of each question are equal"
        return FixedQuestions(mean, 0.0, np.nan, n_questions, n, problem)
    df = variance**2 / float(np.sum(parts**2 / (sizes - 1)))
    return FixedQuestions(mean, variance, df, n_questions, n, "")


@accepts(values="scores", questions="clusters", confidence_level="level")
def repeats_interval(
    values: Floats,
    questions: Integers,
    *,
    bounds: Bounds | None = None,
    confidence_level: float = 0.95,
) -> Interval:
    """Confidence interval of a mean over *these* questions, from repeated runs.

    The questions are fixed, so the interval says what another run of the same questions would give.
    It says nothing about other questions; for these, use `ragnb.stats.mean_interval` with the
    questions as clusters, whose interval is wider.

    Parameters
    ----------
    values : array-like of shape (n,)
        One value per question and run.
    questions : array-like of shape (n,)
        Question of each value. Each needs two runs or more.
    bounds : tuple of (float, float), default=None
        Range to which the limits are clipped.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The mean of the means of the questions, with t limits. They are NaN if a question has only one
        run, or if all runs of each question are equal.

    Notes
    -----
    Each question counts alike, so that a question with more runs has no more weight. The squared
    standard error is the sum over questions of s² / m, divided by Q², where m is the number of runs of
    a question, s² the variance between them, and Q the number of questions. The degrees of freedom are
    Satterthwaite's.

    Examples
    --------
    >>> print(repeats_interval([1, 0, 1, 1, 0, 0, 1, 0], [1, 1, 2, 2, 3, 3, 4, 4]))
    0.500 [-0.261, 1.261] (95% t over runs, n = 4)
    """
    result = fixed_questions(values, questions)
    if result.problem:
        return undefined_interval(
            result.mean, confidence_level, "t over runs", result.n_questions, result.problem
        )
    half = float(stdtrit(result.df, (1 + confidence_level) / 2)) * sqrt(result.variance)
    interval = Interval(
        result.mean,
        result.mean - half,
        result.mean + half,
        confidence_level,
        "t over runs",
        result.n_questions,
    )
    return interval.clipped(*bounds) if bounds else interval


def repeats_test(
    first: FixedQuestions, second: FixedQuestions, bounds: Bounds | None, level: float
) -> tuple[Interval, SignificanceResult]:
    """Interval and test of the difference between two systems over the same fixed questions."""
    difference = first.mean - second.mean
    method = "t over runs"
    n = first.n_questions
    if problem := first.problem or second.problem:
        undefined = undefined_interval(difference, level, method, n, problem)
        return undefined, SignificanceResult(np.nan, np.nan, "two-sided", method, n, problem)
    variance = first.variance + second.variance
    # Satterthwaite's degrees of freedom of a sum of two variances.
    df = variance**2 / (first.variance**2 / first.df + second.variance**2 / second.df)
    error = sqrt(variance)
    half = float(stdtrit(df, (1 + level) / 2)) * error
    interval = Interval(difference, difference - half, difference + half, level, method, n)
    statistic = difference / error
    p_value = max(2 * float(stdtr(df, -abs(statistic))), SMALLEST_P)
    test = SignificanceResult(statistic, p_value, "two-sided", "t-test over runs", n)
    return interval.clipped(*bounds) if bounds else interval, test


@accepts(values="scores", questions="clusters")
def variance_components(
    values: Floats, questions: Integers, judges: ArrayLike | None = None
) -> dict[str, float]:
    """Components of variance of scores: between questions, judges and runs.

    Parameters
    ----------
    values : array-like of shape (n,)
        One value per question, run and, if given, judge.
    questions : array-like of shape (n,)
        Question of each value.
    judges : array-like of shape (n,), default=None
        Judge of each value. Each judge must have given the same number of values for each question.

    Returns
    -------
    dict
        Name of each component -> its variance, at least 0: ``"question"``; with judges ``"judge"``
        and, if there are several values per question and judge, ``"question × judge"``; and
        ``"run"``, the variance between values that differ in nothing else. Without repeats, the last
        one contains what questions and judges have in common.

    Notes
    -----
    The components follow from the expected mean squares of an analysis of variance with random
    effects. Estimates below 0 are replaced by 0. Questions may have different numbers of runs if
    there are no judges.

    References
    ----------
    .. [1] Searle, S. R., Casella, G. & McCulloch, C. E. (1992). Variance Components. Wiley.
    .. [2] Brennan, R. L. (2001). Generalizability Theory. Springer.

    Examples
    --------
    >>> variance_components([1.0, 3.0, 5.0, 7.0], ["a", "a", "b", "b"])
    {'question': 7.0, 'run': 2.0}
    """
    if judges is None:
        return _one_way(values, questions)
    codes = as_clusters(judges)
    if codes.size != values.size:
        raise InputError(f"judges must have {values.size} entries, got {codes.size}")
    return _two_way(values, questions, codes)


def _one_way(values: Floats, questions: Integers) -> dict[str, float]:
    """Components of questions and runs."""
    _, positions, sizes = np.unique(questions, return_inverse=True, return_counts=True)
    n, n_questions = values.size, sizes.size
    if n_questions < 2 or n == n_questions:
        raise InputError(
            "variance_components needs two questions or more, and one of them several times, got "
            f"{n} values of {n_questions} questions"
        )
    means = np.bincount(positions, values) / sizes
    between = float(sizes @ (means - values.mean()) ** 2) / (n_questions - 1)
    within = float(np.sum((values - means[positions]) ** 2)) / (n - n_questions)
    # Number of runs per question, as it enters the expected mean square if the numbers differ.
    n_runs = (n - float(np.sum(sizes.astype(float) ** 2)) / n) / (n_questions - 1)
    return {QUESTION: max((between - within) / n_runs, 0.0), RUN: within}


def _two_way(values: Floats, questions: Integers, judges: Integers) -> dict[str, float]:
    """Components of questions and judges that judged all of them equally often."""
    rows, columns = np.unique(questions), np.unique(judges)
    cells = np.searchsorted(rows, questions) * columns.size + np.searchsorted(columns, judges)
    counts = np.bincount(cells, minlength=rows.size * columns.size)
    n_runs = int(counts[0])
    if rows.size < 2 or columns.size < 2 or n_runs < 1 or (counts != n_runs).any():
        raise InputError(
            "variance_components with judges needs the same number of values from each of two judges "
            f"or more for each question, got {counts.min()} to {counts.max()}"
        )
    means = np.bincount(cells, values).reshape(rows.size, columns.size) / n_runs
    of_questions, of_judges, mean = means.mean(axis=1), means.mean(axis=0), means.mean()
    square_question = columns.size * n_runs * float(np.sum((of_questions - mean) ** 2))
    square_question /= rows.size - 1
    square_judge = rows.size * n_runs * float(np.sum((of_judges - mean) ** 2)) / (columns.size - 1)
    interaction = means - of_questions[:, None] - of_judges + mean
    square_both = n_runs * float(np.sum(interaction**2))
    square_both /= (rows.size - 1) * (columns.size - 1)
    components = {
        QUESTION: max((square_question - square_both) / (columns.size * n_runs), 0.0),
        JUDGE: max((square_judge - square_both) / (rows.size * n_runs), 0.0),
    }
    if n_runs == 1:
        return components | {RUN: square_both}
    residuals = values - means.ravel()[cells]
    within = float(np.sum(residuals**2)) / (values.size - counts.size)
    both = max((square_both - within) / n_runs, 0.0)
    return components | {QUESTION_AND_JUDGE: both, RUN: within}


@accepts(n_right="scores", n_runs="scores", k="size")
def pass_k(n_right: Floats, n_runs: Floats, k: int) -> Floats:
    """Probability that k runs of a question are all right (pass^k), estimated without bias.

    Parameters
    ----------
    n_right, n_runs : array-like of shape (n,)
        Number of right runs, and of all runs, of each question.
    k : int
        Number of runs that must all be right, at most the smallest number of runs.

    Returns
    -------
    ndarray of shape (n,)
        For each question, the share of the sets of k runs whose runs are all right, in [0, 1].

    References
    ----------
    .. [1] Yao, S. et al. (2024). tau-bench. arXiv:2406.12045, section 3.

    Examples
    --------
    >>> pass_k([4, 2, 0], [4, 4, 4], 2).round(3).tolist()
    [1.0, 0.167, 0.0]
    """
    _check_runs(n_right, n_runs, k)
    return _share_of_sets(n_right, n_runs, k)


@accepts(n_right="scores", n_runs="scores", k="size")
def pass_at_k(n_right: Floats, n_runs: Floats, k: int) -> Floats:
    """Probability that at least one of k runs of a question is right (pass@k), estimated without bias.

    Parameters
    ----------
    n_right, n_runs : array-like of shape (n,)
        Number of right runs, and of all runs, of each question.
    k : int
        Number of runs, at most the smallest number of runs.

    Returns
    -------
    ndarray of shape (n,)
        For each question, the share of the sets of k runs with a right one, in [0, 1].

    References
    ----------
    .. [1] Chen, M. et al. (2021). Evaluating Large Language Models Trained on Code.
       arXiv:2107.03374, equation 1.

    Examples
    --------
    >>> pass_at_k([4, 2, 0], [4, 4, 4], 2).round(3).tolist()
    [1.0, 0.833, 0.0]
    """
    _check_runs(n_right, n_runs, k)
    return 1 - _share_of_sets(n_runs - n_right, n_runs, k)


def _check_runs(n_right: Floats, n_runs: Floats, k: int) -> None:
    """Raise InputError if the numbers of runs do not fit."""
    if ((n_right < 0) | (n_right > n_runs)).any():
        raise InputError("n_right must be from 0 to n_runs")
    if n_runs.size and k > n_runs.min():
        raise InputError(
            f"k must be at most the smallest number of runs, {n_runs.min():g}, got {k}"
        )


def _share_of_sets(n_chosen: Floats, n_runs: Floats, k: int) -> Floats:
    """Share of the sets of k runs that contain only chosen runs."""
    is_possible = n_chosen >= k
    possible = np.where(is_possible, n_chosen, k)
    logarithm = (
        gammaln(possible + 1)
        - gammaln(possible - k + 1)
        - gammaln(n_runs + 1)
        + gammaln(n_runs - k + 1)
    )
    # exp of a logarithm near 0 can exceed 1 by rounding error.
    return np.where(is_possible, np.minimum(np.exp(logarithm), 1.0), 0.0)
