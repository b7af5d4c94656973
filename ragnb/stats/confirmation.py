"""How many labels show that an error rate is below a limit, such as that of a judge after a change.

All functions raise InputError for arguments outside the stated range.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import floor

from scipy.special import bdtr

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.numbers import percent
from ragnb.results import Sentence

# Largest number of labels that is planned.
MOST_LABELS = 10**6


@dataclass(frozen=True, slots=True, repr=False)
class ConfirmationPlan(Sentence):
    """Number of labels that show an error rate below a limit, and how many errors they may contain.

    Attributes
    ----------
    n_labels : int
        Number of randomly drawn answers to label.
    most_errors : int
        Largest number of errors among them with which the error rate is shown to be below the limit.
    limit : float
        The limit of the error rate.
    error_rate : float
        Expected error rate, for which the power is computed.
    power : float
        Probability of at most `most_errors` errors if the error rate is the expected one.
    confidence_level : float
        1 minus the largest probability of that if the error rate is not below the limit.
    n_answers : int or None
        Number of answers from which the labels are drawn; None if it is unlimited.
    """

    n_labels: int
    most_errors: int
    limit: float
    error_rate: float
    power: float
    confidence_level: float
    n_answers: int | None = None

    def __str__(self) -> str:
        of = "" if self.n_answers is None else f" of {self.n_answers:,} answers"
        errors = (
            "no error"
            if not self.most_errors
            else f"at most {self.most_errors:,} error{'s' * (self.most_errors > 1)}"
        )
        return (
            f"{self.n_labels:,} labels{of} with {errors} show an error rate below {percent(self.limit)} "
            f"({percent(self.confidence_level)} confidence; power {self.power:.2f} if the error rate is "
            f"{percent(self.error_rate)})"
        )


@accepts(
    error_rate="share", limit="level", n_answers="size", confidence_level="level", power="level"
)
def confirmation_plan(
    error_rate: float,
    limit: float,
    *,
    n_answers: int | None = None,
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> ConfirmationPlan:
    """Smallest number of labels that shows, with the stated power, that an error rate is below a limit.

    Parameters
    ----------
    error_rate : float
        Error rate that is expected, such as that of a judge before a change. It must be below
        `limit`.
    limit : float
        Error rate that must be excluded, in (0, 1).
    n_answers : int, default=None
        Number of answers from which those to label are drawn without replacement, and about which
        alone the statement is made. If None, the statement is about an unlimited number of answers.
    confidence_level : float, default=0.95
        1 minus the probability that the error rate is found below the limit although it is not.
    power : float, default=0.8
        Probability that it is found below the limit if it is `error_rate`.

    Returns
    -------
    ConfirmationPlan
        ``n_labels``, and ``most_errors``, with which the error rate is shown to be below the limit.

    Raises
    ------
    InputError
        `error_rate` is not below `limit`, or more than a million labels are needed.

    Notes
    -----
    The test is the exact one-sided binomial test of the null hypothesis that the error rate is at
    least `limit`. Its p-value, P(Binomial(n, limit) <= errors), is the one with which Learn then Test
    controls a risk [2]_. For c errors, n is the smallest number with p <= 1 - `confidence_level`,
    and c is the smallest number with P(Binomial(n, error_rate) <= c) >= `power`. For an error rate of
    0, these are the sample sizes of distribution-free tolerance limits [1]_: 59 labels for 5 % and 95 %
    confidence. With `n_answers`, the distribution is hypergeometric. The null hypothesis is then the
    smallest number of errors above ``limit * n_answers``. The plan is for one look at the labels, all
    together: to test after each label would err more often.

    References
    ----------
    .. [1] Wilks, S. S. (1941). Determination of sample sizes for setting tolerance limits. Annals of
       Mathematical Statistics 12, 91-96.
    .. [2] Angelopoulos, A. N., Bates, S., Candès, E. J., Jordan, M. I. & Lei, L. (2021). Learn then
       Test: Calibrating predictive algorithms to achieve risk control. arXiv:2110.01052.

    Examples
    --------
    >>> print(confirmation_plan(0.0, 0.05))  # 0.95 ** 59 = 0.0485
    59 labels with no error show an error rate below 5% (95% confidence; power 1.00 if the error rate is 0%)
    >>> confirmation_plan(0.05, 0.1).n_labels, confirmation_plan(0.05, 0.1, n_answers=100).n_labels
    (179, 64)
    """
    if error_rate >= limit:
        raise InputError(
            f"error_rate must be below limit, got {error_rate:g} and {limit:g}; a higher limit leaves "
            "room for errors"
        )
    if n_answers is None:
        return _plan(
            lambda errors, n: float(bdtr(errors, n, limit)),
            lambda errors, n: float(bdtr(errors, n, error_rate)),
            MOST_LABELS,
            (error_rate, limit, confidence_level, power, None),
        )
    from scipy.stats import hypergeom

    # A limit or a rate that is a whole number of errors, except for rounding error, is this number.
    n_too_many = floor(limit * n_answers + 1e-9) + 1
    n_expected = floor(error_rate * n_answers + 1e-9)
    return _plan(
        lambda errors, n: float(hypergeom.cdf(errors, n_answers, n_too_many, n)),
        lambda errors, n: float(hypergeom.cdf(errors, n_answers, n_expected, n)),
        n_answers,
        (error_rate, limit, confidence_level, power, n_answers),
    )


def _plan(
    share_if_at_limit: Callable[[int, int], float],
    share_if_expected: Callable[[int, int], float],
    most_labels: int,
    arguments: tuple[float, float, float, float, int | None],
) -> ConfirmationPlan:
    """The first plan with enough power, from few errors to many.

    Both functions give the probability of at most so many errors among n labels.
    """
    error_rate, limit, confidence_level, power, n_answers = arguments
    n = 0
    for errors in range(most_labels):
        # More errors need more labels, so that the search goes on where it ended.
        low, high = n, n + 1
        while high < most_labels and share_if_at_limit(errors, high) > 1 - confidence_level:
            low, high = high, min(most_labels, high + 2 * (high - low))
        while high - low > 1:
            middle = (low + high) // 2
            if share_if_at_limit(errors, middle) > 1 - confidence_level:
                low = middle
            else:
                high = middle
        n = high
        if share_if_at_limit(errors, n) > 1 - confidence_level:
            break
        reached = share_if_expected(errors, n)
        if reached >= power:
            return ConfirmationPlan(
                n, errors, limit, error_rate, reached, confidence_level, n_answers
            )
    raise InputError(
        f"more than {most_labels:,} labels are needed to distinguish an error rate of {error_rate:g} from "
        f"{limit:g}; a higher limit needs fewer"
    )
