"""Check whether a published mean and standard deviation are possible for the stated number of scores.

Scores such as 0/1 labels or grades from 1 to 5 have a common step. The total of n such scores is a
whole number of steps, so that most means with many decimals are impossible for small n. This is the
GRIM test [1]_. The standard deviation is limited as well, because the scores have a lowest and a
highest value [2]_.

References
----------
.. [1] Brown, N. J. L. & Heathers, J. A. J. (2017). The GRIM test: A simple technique detects numerous
   anomalies in the reporting of results in psychology. Soc. Psychol. Pers. Sci. 8, 363-369.
.. [2] Heathers, J. A., Anaya, J., van der Zee, T. & Brown, N. J. L. (2018). Recovering data from summary
   statistics: Sample Parameter Reconstruction via Iterative TEchniques (SPRITE). PeerJ Preprints 6,
   e26968v1.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, nan
from typing import Any

import numpy as np

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.results import Sentence
from ragnb.rounding import ROUNDING

# A number as it is printed, with or without a percent sign.
PRINTED = re.compile(r"-?(\d+(\.\d*)?|\.\d+) ?%?")


@dataclass(frozen=True, slots=True, repr=False)
class MeanCheck(Sentence):
    """Whether a published mean, and a standard deviation if there is one, are possible.

    Attributes
    ----------
    mean : str
        The mean as it is printed.
    n : int
        Number of scores.
    mean_is_possible : bool
        True if some total of `n` scores has this mean after rounding.
    totals : tuple of (float, float)
        Smallest and largest total with this mean. If the mean is impossible, the nearest totals below
        and above it; NaN where there is none.
    sd : str or None
        The standard deviation as it is printed.
    sd_is_possible : bool or None
        True if the standard deviation is possible with the divisor n - 1 or n. None if `sd` is None or
        the mean is impossible.
    sd_range : tuple of (float, float)
        Smallest and largest standard deviation of scores with this mean, with the divisor n - 1; NaN if
        `sd_is_possible` is None.
    population_sd_range : tuple of (float, float)
        The same with the divisor n.
    """

    mean: str
    n: int
    mean_is_possible: bool
    totals: tuple[float, float]
    sd: str | None
    sd_is_possible: bool | None
    sd_range: tuple[float, float]
    population_sd_range: tuple[float, float]

    def __str__(self) -> str:
        if not self.mean_is_possible:
            nearest = " and ".join(
                f"{total:.12g} ({self._printed(total)})" for total in self.totals if total == total
            )
            return f"{self.mean} is not a possible mean of {self.n} scores: the nearest totals are {nearest}"
        low, high = (f"{total:.12g}" for total in self.totals)
        totals = low if low == high else f"from {low} to {high}"
        text = f"{self.mean} is a possible mean of {self.n} scores: their total is {totals}"
        if self.sd_is_possible is None:
            return text
        sample = f"{self.sd_range[0]:.3f} to {self.sd_range[1]:.3f}"
        if not self.sd_is_possible:
            return f"{text}; an sd of {self.sd} is not possible ({sample})"
        if _is_near(self.sd, self.sd_range):
            return f"{text}; an sd of {self.sd} is possible ({sample})"
        population = f"{self.population_sd_range[0]:.3f} to {self.population_sd_range[1]:.3f}"
        return (
            f"{text}; an sd of {self.sd} is possible only with the divisor n ({population}), "
            f"not with n - 1 ({sample})"
        )

    def _printed(self, total: float) -> str:
        """The mean of a total, with one more decimal than the published mean."""
        percent = "%" if self.mean.endswith("%") else ""
        mean = total / self.n * (100 if percent else 1)
        return f"{mean:.{_decimals(self.mean) + 1}f}{percent}"


@accepts(n="size", step="positive")
def check_mean(
    mean: str,
    n: int,
    *,
    sd: str | None = None,
    step: float = 1.0,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> MeanCheck:
    """Check whether a published mean is possible for n scores (GRIM), and whether its sd is.

    Parameters
    ----------
    mean : str
        The mean as it is printed, such as ``"0.50"`` or ``"87.3%"``. It is a text because its number of
        decimals matters.
    n : int
        Number of scores, at least 1.
    sd : str, default=None
        The standard deviation as it is printed. It needs at least 2 scores.
    step : float, default=1.0
        Difference between neighbouring possible scores.
    bounds : tuple of (float, float), default=(0.0, 1.0)
        Lowest and highest possible score, such as 1 and 5. Their difference must be a multiple of `step`.

    Returns
    -------
    MeanCheck
        Whether the mean and the standard deviation are possible, and which totals and standard
        deviations are.

    Notes
    -----
    The published mean m has d decimals. A total T is possible if abs(T / n - m) is at most half a unit
    of the last decimal. A mean that lies exactly between two printed values may be rounded either way.

    The variance is smallest if the scores take two neighbouring values, and largest if all scores but
    one are at the bounds. Both are computed for each possible total. The standard deviation, which may
    be rounded too, is possible if it is between the smallest and the largest one. Not each number
    between them can be attained, so "possible" means that this check does not exclude it.

    References
    ----------
    .. [1] Brown, N. J. L. & Heathers, J. A. J. (2017). The GRIM test. Soc. Psychol. Pers. Sci. 8, 363-369.

    Examples
    --------
    >>> print(check_mean("5.19", 28, bounds=(1, 7)))  # 145 / 28 = 5.179 and 146 / 28 = 5.214
    5.19 is not a possible mean of 28 scores: the nearest totals are 145 (5.179) and 146 (5.214)
    >>> print(check_mean("87.3%", 300))
    87.3% is a possible mean of 300 scores: their total is 262
    >>> check = check_mean("0.50", 20, sd="0.50")  # ten times 0 and ten times 1
    >>> check.sd_is_possible, [round(limit, 3) for limit in check.sd_range], check.population_sd_range
    (True, [0.513, 0.513], (0.5, 0.5))
    """
    printed_mean, half_unit = _printed_number("mean", mean)
    lowest, highest = (Fraction(str(bound)) for bound in bounds)
    width = Fraction(str(step))
    n_steps = (highest - lowest) / width
    if n_steps <= 0 or n_steps.denominator > 1:
        raise InputError(
            f"bounds must differ by a multiple of step = {step:g}, got {bounds[0]:g} and {bounds[1]:g}"
        )
    if not lowest <= printed_mean <= highest:
        raise InputError(
            f"mean must be between the bounds {bounds[0]:g} and {bounds[1]:g}, got {mean}"
        )
    # Totals are counted in steps above n times the lowest score.
    place = (printed_mean - lowest) * n / width
    reach = half_unit * n / width
    most = n * int(n_steps)
    first, last = max(0, ceil(place - reach)), min(most, floor(place + reach))
    is_possible = first <= last
    if not is_possible:
        first, last = floor(place), ceil(place)
    totals = (float(n * lowest + first * width), float(n * lowest + last * width))
    undefined = (nan, nan)
    if sd is None or not is_possible:
        if sd is not None:
            _printed_number("sd", sd)
        return MeanCheck(mean, n, is_possible, totals, sd, None, undefined, undefined)
    if n < 2:
        raise InputError(f"sd needs at least 2 scores, got n = {n}")
    if _printed_number("sd", sd)[0] < 0:
        raise InputError(f"sd must not be negative, got {sd}")
    squares = _sums_of_squares(np.arange(first, last + 1, dtype=np.float64), n, int(n_steps))
    smallest, largest = np.sqrt([squares[0].min(), squares[1].max()]) * float(width)
    sample = (float(smallest / np.sqrt(n - 1)), float(largest / np.sqrt(n - 1)))
    population = (float(smallest / np.sqrt(n)), float(largest / np.sqrt(n)))
    sd_is_possible = _is_near(sd, sample) or _is_near(sd, population)
    return MeanCheck(mean, n, True, totals, sd, sd_is_possible, sample, population)


def _sums_of_squares(totals: Any, n: int, n_steps: int) -> tuple[Any, Any]:
    """Smallest and largest sum of squared deviations of n whole numbers from 0 to `n_steps` with these totals.

    >>> _sums_of_squares(np.array([3.0]), 2, 4)  # 1 and 2, 0 and 3
    (array([0.5]), array([4.5]))
    """
    n_above = totals % n
    smallest = n_above * (n - n_above) / n
    at_top = totals // n_steps
    rest = totals - at_top * n_steps
    largest = at_top * n_steps**2 + rest**2 - totals**2 / n
    return smallest, np.maximum(largest, smallest)


def _printed_number(name: str, text: Any) -> tuple[Fraction, Fraction]:
    """A printed number and half a unit of its last decimal; a percentage is divided by 100."""
    if not isinstance(text, str) or not PRINTED.fullmatch(text):
        raise InputError(
            f"{name} must be a text with a number as it is printed, such as '0.50' or '87.3%', got {text!r}"
        )
    scale = 100 if text.endswith("%") else 1
    number = Fraction(text.rstrip(" %").rstrip("."))
    return number / scale, Fraction(1, 2 * 10 ** _decimals(text) * scale)


def _decimals(text: str) -> int:
    return len(text.rstrip(" %").partition(".")[2])


def _is_near(sd: str | None, limits: tuple[float, float]) -> bool:
    """Whether a printed standard deviation is between two limits after rounding."""
    number, half_unit = map(float, _printed_number("sd", sd))
    low, high = limits
    margin = ROUNDING * max(1.0, high)
    return low - margin <= number + half_unit and number - half_unit <= high + margin
