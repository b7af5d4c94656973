"""Exact distributions of the bootstrap mean and of a sum with random signs.

Most scores are integer multiples of a common step: 0/1 labels, accuracies in percent, ratios of
small counts. Sums of such scores lie on a lattice, so their distribution can be computed exactly
with a Fourier transform, without random resampling.
"""

from functools import reduce
from math import ceil, log, pi, sqrt

import numpy as np
from scipy.special import expit

from ragnb.arguments import Floats, Integers
from ragnb.results import SMALLEST_P

#: Largest distance of a value from a multiple of the common step, in steps.
NEAR = 1e-7
#: Length of the longest Fourier transform, which takes about ten milliseconds.
MAX_POINTS = 2**19
#: Largest absolute value, in steps.
MAX_STEPS = 2**20
#: Largest number of values whose sign patterns are enumerated. This takes about two milliseconds
#: for the 2**15 sums of each half.
MAX_LISTED = 30
#: Smallest modulus of a characteristic function that counts in a Fourier inversion.
LEAST_MODULUS = 1e-20
#: Bins per standard deviation for values without a common step.
BINS_PER_SD = 64


def find_lattice(values: Floats, offset: float = 0.0) -> tuple[Integers, float] | None:
    """Express values as integer multiples of their largest common step; None if there is no such step.

    All values are multiples of the step, up to rounding error, and none is larger than 2^20 steps. If all
    values are multiplied by a number, so is the step, and the multiples stay the same. `offset` is the
    largest absolute value of the numbers from which the values were computed by subtraction. It determines
    their rounding error.

    Each value is divided by the largest one. The denominator of a ratio is found by its continued
    fraction, whose convergents are the best approximations with small denominators. The largest
    value is L steps, where L is the least common multiple of all denominators.

    >>> find_lattice(np.array([0.5, -0.25]))
    (array([ 2, -1]), 0.25)
    """
    largest = float(np.abs(values).max(initial=0.0))
    if not largest:
        return np.zeros(values.size, dtype=np.int64), 1.0
    ratios = values / largest
    error = 8 * float(np.finfo(float).eps) * offset / largest
    n_steps = 1
    while n_steps <= MAX_STEPS:
        tolerance = max(NEAR, error * n_steps)
        if tolerance > 1000 * NEAR:
            return None
        scaled = ratios * n_steps
        distances = np.abs(scaled - np.rint(scaled))
        furthest = int(distances.argmax())
        if distances[furthest] <= tolerance:
            return np.rint(scaled).astype(np.int64), largest / n_steps
        n_steps *= _denominator(abs(float(scaled[furthest])), tolerance)
    return None


def _denominator(ratio: float, tolerance: float) -> int:
    """Smallest number whose product with the ratio is near a whole number, at most about 2^20."""
    before, denominator, rest = 0, 1, ratio % 1.0
    while denominator <= MAX_STEPS:
        product = ratio * denominator
        if abs(product - round(product)) <= tolerance:
            return denominator
        inverse = 1.0 / rest
        before, denominator = denominator, int(inverse) * denominator + before
        rest = inverse % 1.0
        if not rest:
            return denominator
    return denominator


# ---- the bootstrap distribution of a mean --------------------------------------------------------


def bootstrap_distribution(values: Floats) -> tuple[float, float, Floats, float, float]:
    """Compute the bootstrap distribution of a mean, in the limit of infinitely many resamples.

    The characteristic function of the sum of n draws is the n-th power of the characteristic function of
    one draw. An inverse Fourier transform gives the distribution.

    The distribution is exact up to rounding error if the values minus their minimum have a common
    step (see `find_lattice`) and the standard deviation of the sum of n draws is at most 2^19 / 14
    steps. Otherwise, it is approximated by linear binning: the probability mass of each value is
    split between the two nearest grid points, which preserves the mean.

    Let m be the mean of the values, and m* the bootstrap mean. The result is the first point and the
    spacing of a grid, the distribution function of m* at the grid points, P(m* < m) + P(m* = m) / 2, and
    the spacing to which the values were binned, or 0 if they were not.

    >>> start, width, cdf, below, binned_at = bootstrap_distribution(np.array([0.0, 1.0]))
    >>> np.interp([0.0, 0.5, 1.0], start + width * np.arange(cdf.size), cdf).round(12).tolist()
    [0.25, 0.75, 1.0]
    """
    from scipy.fft import next_fast_len

    n, origin, sd = values.size, values.min(), float(values.std())
    step = binned_at = sd / BINS_PER_SD
    lattice = find_lattice(values - origin, float(np.abs(values).max()))
    if lattice is not None and 14 * np.sqrt(n) * sd / lattice[1] <= MAX_POINTS:
        step, binned_at = lattice[1], 0.0
    # Split the mass of each value between its two nearest grid points. On a lattice, the lower one gets all.
    places = (values - origin) / step
    lower = np.floor(places + 1e-7).astype(np.int64)
    share = places - lower
    mass = np.bincount(np.append(lower, lower + 1), np.append(1 - share, share)) / n

    steps = np.arange(mass.size)
    mean = float(mass @ steps)
    spread = float(np.sqrt(n * (mass @ (steps - mean) ** 2)))
    # The grid covers 7.5 standard deviations of the sum on either side of its mean and at least 2048
    # steps, but no more than the sum can reach.
    reach = min(max(7.5 * spread, 2048), n * max(mean, mass.size - mean))
    points = next_fast_len(2 * ceil(reach) + 1, real=True)
    first = round(n * mean) - points // 2

    transform = np.fft.rfft(np.bincount(steps % points, weights=mass, minlength=points))
    # Frequencies at which the modulus of the n-th power is at most exp(-40) are negligible. The factor
    # behind the power moves the grid, so that it begins at `first`.
    live = np.flatnonzero(transform.real**2 + transform.imag**2 > np.exp(-80.0 / n))
    spectrum = np.zeros_like(transform)
    spectrum[live] = transform[live] ** n * np.exp(2j * np.pi * first / points * live)
    pmf = np.fft.irfft(spectrum, points)
    cdf = np.cumsum(pmf)

    # The mean of the values can lie between two grid points.
    place = n * mean - first
    near = slice(int(place), int(place) + 2)
    below = float(np.interp(place % 1, [0, 1], cdf[near] - pmf[near] / 2))
    return origin + step / n * first, step / n, cdf, below, binned_at


# ---- the distribution of a sum with random signs -------------------------------------------------


def sign_flip_tail(steps: Integers) -> float:
    """Probability that a sum of integers with random signs is at least the observed sum.

    This is the proportion of the 2^n sign patterns for which the sum is at least that of `steps`. It is
    positive, and its relative error is at most about 1e-10.

    The distribution of the sum is tilted exponentially so that its mean is the observed sum (Esscher 1932,
    On the probability function in the collective theory of risk, Skand. Aktuarietidskr. 15, 175-195;
    Daniels 1954, Saddlepoint approximations in statistics, Ann. Math. Stat. 25, 631-650). The tail
    probability is then computed by Fourier inversion of the tilted characteristic function, which keeps
    the relative error small even if the probability is tiny.

    >>> round(sign_flip_tail(np.array([1, 1, 2])), 12)  # one of 8 sign patterns
    0.125
    """
    magnitudes, counts = np.unique(np.abs(steps[steps != 0]), return_counts=True)
    total = int(counts @ magnitudes)
    # Let B be the sum of the magnitudes with a positive sign. The signed sum is 2 B - total.
    target = (int(steps.sum()) + total) // 2
    if target <= 0:
        return 1.0
    if 2 * target < total:
        # The distribution of B is symmetric about total / 2.
        return 1.0 - _tilted_tail(magnitudes, counts, total - target + 1)
    return _tilted_tail(magnitudes, counts, target)


def _tilted_tail(magnitudes: Integers, counts: Integers, target: int) -> float:
    """P(B >= target), where B sums each magnitude with probability 1/2 and target >= E(B)."""
    from scipy.optimize import brentq

    weights, n = counts * magnitudes, int(counts.sum())
    total, least = int(weights.sum()), int(magnitudes[0])
    wanted = min(float(target), total - least / 2)
    steepest = np.log(4 * total / least) / least
    theta = brentq(lambda t: weights @ expit(t * magnitudes) - wanted, 0.0, steepest)
    chance = expit(theta * magnitudes)
    spread = float(np.sqrt(weights @ (magnitudes * chance * (1 - chance))))
    # Sums further from the target have negligible weight, so it does not matter that the Fourier
    # sum confuses them with others.
    points = min(total + 1, 2 * int(np.ceil(10 * spread + 12 * magnitudes[-1])))
    terms = total - target + 1 if points > total else points // 2

    def fourier_sum(frequencies: Integers) -> float:
        """The part of the tail probability that some of the frequencies contribute."""
        angles = 2 * np.pi / points * frequencies
        factors = 1 + chance * np.expm1(1j * np.outer(angles, magnitudes))
        factors[:, counts > 1] **= counts[counts > 1]
        characteristic = np.prod(factors, axis=1) * np.exp(-1j * target * angles)
        rate = max(theta, SMALLEST_P) + 1j * angles
        sums = characteristic * np.expm1(-rate * terms) / np.expm1(-rate)
        twice = np.where((frequencies == 0) | (2 * frequencies == points), 1.0, 2.0)
        return float(twice @ sums.real) / points

    frequencies = _live_frequencies(magnitudes, counts, chance, points)
    blocks = np.array_split(frequencies, 1 + frequencies.size * magnitudes.size // 2**20)
    log_scale = counts @ (np.logaddexp(0.0, theta * magnitudes) - np.log(2)) - theta * target
    tail = np.exp(log_scale) * sum(map(fourier_sum, blocks))
    return float(np.clip(tail, max(2.0**-n, SMALLEST_P), 1.0))


def _live_frequencies(
    magnitudes: Integers, counts: Integers, chance: Floats, points: int
) -> Integers:
    """Frequencies from 0 to points / 2 at which the characteristic function of B is above 1e-20.

    Each magnitude can only reduce the modulus. A few magnitudes are therefore taken at a time, and the
    frequencies at which the modulus is already too small are dropped.
    """
    weights = 4 * chance * (1 - chance)
    live = _possible_frequencies(magnitudes, counts * weights, points)
    modulus_squared = np.ones(live.size)
    # If most frequencies are possible, to look sines up is faster than to compute them.
    is_most = 8 * live.size > points
    squares = np.sin(pi * np.arange(points) / points) ** 2 if is_most else None
    order = np.argsort(-counts * weights, kind="stable")
    while order.size and live.size > 64:
        block, order = np.split(order, [1 + 2**13 // live.size])
        places = np.outer(magnitudes[block], live) % points
        sine_squared = np.sin(pi * places / points) ** 2 if squares is None else squares[places]
        factors = 1 - weights[block, None] * sine_squared
        if (counts[block] > 1).any():
            factors **= counts[block, None]
        modulus_squared *= factors.prod(axis=0)
        is_live = modulus_squared > LEAST_MODULUS**2
        live, modulus_squared = live[is_live], modulus_squared[is_live]
    return live


def _possible_frequencies(magnitudes: Integers, weights: Floats, points: int) -> Integers:
    """Frequencies from 0 to points / 2, without those that a bound of the modulus excludes.

    The squared modulus is at most exp(-S), where S(f) is the sum of w sin^2(pi f m / points) over the
    magnitudes m with their weights w. The root of S is the norm of a vector whose entries change by
    at most sqrt(w) pi m / points from one frequency to the next. If S is large enough at one
    frequency, it therefore excludes all that are near. One Fourier transform computes S at equally
    spaced frequencies, because 2 sin^2(x) = 1 - cos(2 x).
    """
    from scipy.fft import next_fast_len

    largest_root = sqrt(-2 * log(LEAST_MODULUS)) + 0.01  # The margin covers rounding errors.
    change = pi / points * sqrt(float(weights @ magnitudes.astype(np.float64) ** 2))
    # Half of the spacing may change the root by a quarter of its largest value.
    samples = next_fast_len(ceil(points * change / (largest_root / 2)), real=True)
    if samples >= points:
        return np.arange(points // 2 + 1)
    spacing = points / samples
    folded = np.bincount(magnitudes % samples, weights=weights, minlength=samples)
    exponents = np.maximum(weights.sum() - np.fft.rfft(folded).real, 0.0) / 2
    is_possible = np.sqrt(exponents) <= largest_root + change * spacing / 2
    reach = ceil(spacing / 2)
    centres = np.rint(np.flatnonzero(is_possible) * spacing).astype(np.int64)
    near = np.unique(centres[:, None] + np.arange(-reach, reach + 1))
    return near[(near >= 0) & (near <= points // 2)]


def listed_tail(differences: Floats) -> float:
    """Probability that a sum of numbers with random signs is at least the observed sum, by enumeration.

    This is the proportion of the 2^n sign patterns for which the sum is at least that of `differences`.

    The numbers are split into two halves, and the sums of all sign patterns are listed for each
    half. For each sum s of the first half, a binary search in the sorted sums of the second half
    counts those that are at least the observed sum minus s (Horowitz & Sahni 1974, Computing partitions
    with applications to the knapsack problem, J. ACM 21, 277-292). Time and memory grow roughly as
    2^(n / 2).

    >>> listed_tail(np.array([1.0, 1.0, 2.0]))  # one of 8 sign patterns
    0.125
    """
    halves = np.array_split(differences, 2)
    first, second = (
        reduce(lambda sums, x: np.concatenate([sums - x, sums + x]), half, np.zeros(1))
        for half in halves
    )
    threshold = differences.sum() - 1e-12 * np.abs(differences).sum()
    reached = second.size - np.searchsorted(np.sort(second), threshold - first)
    return float(reached.mean()) / second.size


def to_lattice(differences: Floats) -> tuple[Integers, float]:
    """Convert differences, not all 0, to integer multiples of a step, and return the rounding step or 0.

    Differences are rounded if `find_lattice` finds no common step, or if this step is too small for
    a Fourier transform. The rounding step is a thousandth of the largest absolute difference. Rounding
    treats positive and negative differences alike, so a sign-flip test of the rounded differences still
    controls the type I error rate.

    >>> to_lattice(np.array([0.5, -0.25, 0.25]))
    (array([ 2, -1,  1]), 0.0)
    """
    lattice = find_lattice(differences)
    if lattice is not None and 10 * np.linalg.norm(lattice[0]) <= MAX_POINTS:
        return lattice[0], 0.0
    grid = float(np.abs(differences).max()) / 1000
    return np.rint(differences / grid).astype(np.int64), grid
