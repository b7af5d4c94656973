"""Exact laws of sums on a lattice: the bootstrap law of a mean and the sign-flip law of a sum.

Scores are mostly multiples of some step (0/1 labels, accuracies in percent, ratios of small counts). A sum of them
then lives on a lattice, its characteristic function is a product that a Fourier sum inverts, and what resampling
approximates with thousands of draws and a seed comes out exactly, faster, and without a seed. A few scores that share
no lattice have so few sign patterns that `listed_tail` counts them all.
"""

from dataclasses import dataclass

import numpy as np

from ragnb.errors import InputError
from ragnb.stats.checks import Floats, Integers
from ragnb.stats.numerics import SMALLEST_P

#: Denominators tried for the step of a lattice: percents, halves to tenths, hundredths of a percent.
DENOMINATORS = (100, 2520, 10_000)
#: Longest Fourier transform: about ten milliseconds.
MAX_POINTS = 2**19
#: Most additions spent on convolving a sign-flip law directly: about three milliseconds.
MAX_ADDITIONS = 3_000_000
#: Largest value on a lattice, in steps.
MAX_STEPS = 2**20
#: Most differences whose sign patterns are counted one by one: 2**15 sums for each half, about two milliseconds.
MAX_LISTED = 30
#: Steps per standard deviation when scores share no lattice and are binned.
BINS_PER_SD = 64


def find_lattice(values: Floats) -> tuple[Integers, int] | None:
    """Return `values` as whole multiples of 1/denominator, with that denominator.

    None when no denominator of `DENOMINATORS` fits to within rounding error, or the values reach beyond `MAX_STEPS`.

    Examples
    --------
    >>> find_lattice(np.array([0.5, -0.25]))
    (array([ 50, -25]), 100)
    """
    if np.abs(values).max(initial=0.0) > MAX_STEPS:
        return None
    for denominator in DENOMINATORS:
        scaled = values * denominator
        steps = np.rint(scaled)
        largest = np.abs(scaled).max(initial=0.0)
        if largest <= MAX_STEPS and np.abs(scaled - steps).max(initial=0.0) <= 1e-7 * min(largest, 1.0):
            return steps.astype(np.int64), denominator
    return None


@dataclass(frozen=True, slots=True)
class BootstrapLaw:
    """The law of the mean of n draws with replacement, on an equally spaced grid.

    Attributes
    ----------
    start, step : float
        First grid point and grid width, in the unit of the scores.
    cdf : ndarray
        Probability of at most each grid point.
    below : float
        Probability below the observed mean plus half of that at it (the mid-distribution value).
    binned_at : float
        Width of the bins when scores share no lattice; 0 where the law is exact.
    """

    start: float
    step: float
    cdf: Floats
    below: float
    binned_at: float

    def quantile(self, probability: float) -> float:
        """Return the smallest grid point with at least `probability` at or below it."""
        position = min(int(np.searchsorted(self.cdf, probability)), self.cdf.size - 1)
        return self.start + self.step * position


def bootstrap_law(values: Floats) -> BootstrapLaw:
    """Compute the law of the bootstrap mean, that is, of infinitely many resamples.

    Exact when the values lie on a lattice. Otherwise each value is split between the two neighbouring bins so that the
    mean is kept; the standard deviation grows by a factor of at most 1 + 1 / (8 * `BINS_PER_SD`**2), 3e-5.

    Parameters
    ----------
    values : ndarray
        Finite scores, not all equal.

    Notes
    -----
    The sum of n draws has the characteristic function phi(t)**n, phi being that of one draw. Evaluated at N equally
    spaced t it is inverted by one FFT; N covers 7 standard deviations to either side, at
    least 2048 steps, or the whole support; what lies beyond (1e-12 for a normal law) is folded back in.

    Examples
    --------
    >>> law = bootstrap_law(np.array([0.0, 1.0]))
    >>> [round(float(p), 12) for p in law.cdf[:3]]
    [0.25, 0.75, 1.0]
    """
    n = values.size
    origin, step, mass, exact = _mass(values)
    steps = np.arange(mass.size)
    mean = float(mass @ steps)
    centre = round(mean)
    reach = max(7 * float(np.sqrt(n * (mass @ (steps - mean) ** 2))), 2048)
    whole = n * (mass.size - 1) + 1 <= 2 * reach
    points = _fast_length(n * (mass.size - 1) + 1 if whole else 2 * reach)
    first = -n * centre if whole else -(points // 2)

    transform = np.fft.rfft(np.bincount((steps - centre) % points, weights=mass, minlength=points))
    kept = np.flatnonzero(transform.real**2 + transform.imag**2 > np.exp(-80.0 / n))
    spectrum = np.zeros_like(transform)
    spectrum[kept] = transform[kept] ** n * np.exp(2j * np.pi * first / points * kept)  # starts the window at `first`
    pmf = np.fft.irfft(spectrum, points)
    cdf = np.cumsum(pmf)

    observed = n * (mean - centre) - first
    observed = round(observed) if exact else observed
    nearest = int(observed)
    middle = cdf[nearest : nearest + 2] - pmf[nearest : nearest + 2] / 2
    below = float(np.interp(observed - nearest, np.arange(middle.size), middle))
    return BootstrapLaw(origin + step * (n * centre + first) / n, step / n, cdf, below, 0.0 if exact else step)


def _mass(values: Floats) -> tuple[float, float, Floats, bool]:
    """Return origin, step and probabilities of one draw, and whether they are exact."""
    lattice = find_lattice(values)
    if lattice is not None:
        steps, denominator = lattice
        low = int(steps.min())
        counts = np.bincount(steps - low)
        stride = int(np.gcd.reduce(np.flatnonzero(counts)))
        if stride and 14 * np.sqrt(values.size) * values.std() * denominator / stride <= MAX_POINTS:
            return low / denominator, stride / denominator, counts[::stride] / values.size, True
    step = float(values.std()) / BINS_PER_SD
    origin = float(values.min())
    positions = (values - origin) / step
    lower = positions.astype(np.int64)
    share = positions - lower
    counts = np.bincount(lower, 1 - share, lower.max() + 2) + np.bincount(lower + 1, share, lower.max() + 2)
    return origin, step, counts / values.size, False


def _fast_length(minimum: float) -> int:
    """Return the smallest even number of at least `minimum` (and 10) that is 5, 6, 7 or 8 times a power of 2."""
    eighth = 2 ** (int(np.ceil(np.log2(max(minimum, 16)))) - 3)
    return eighth * max(int(np.ceil(minimum / eighth)), 5)


@dataclass(frozen=True, slots=True)
class SignFlipLattice:
    """Paired differences on a lattice, as the sign-flip law needs them.

    Attributes
    ----------
    magnitudes, counts : ndarray
        Distinct non-zero absolute differences in steps, and how often each occurs.
    observed : int
        Sum of the differences, in steps.
    rounded_to : float
        Grid to which the differences had to be rounded; 0 where they lie on a lattice.
    """

    magnitudes: Integers
    counts: Integers
    observed: int
    rounded_to: float


def sign_flip_lattice(differences: Floats, resolution: float | None = None) -> SignFlipLattice:
    """Put differences on a lattice, rounding them only where they share none.

    Rounding is an odd function, so a test of the rounded differences keeps its level exactly; the mean difference it
    sees moves by at most half the grid.

    Parameters
    ----------
    differences : ndarray
        Finite differences.
    resolution : float, optional
        Grid to round to; by default a thousandth of the power of ten at or above the largest absolute difference.

    Raises
    ------
    InputError
        If `resolution` is so fine that the law would not fit in memory.

    Examples
    --------
    >>> sign_flip_lattice(np.array([0.5, -0.25, 0.25])).observed  # in steps of a quarter
    2
    """
    lattice = find_lattice(differences) if resolution is None else None
    if lattice is not None:
        magnitudes, counts, observed = _distinct(lattice[0])
        if 10 * np.sqrt(float(counts @ magnitudes**2)) <= MAX_POINTS:
            return SignFlipLattice(magnitudes, counts, observed, 0.0)
    largest = float(np.abs(differences).max(initial=0.0))
    grid = resolution or max(10.0 ** (np.ceil(np.log10(largest or 1.0)) - 3), float(np.finfo(np.float64).tiny))
    finest = max(largest / MAX_STEPS, float(np.sqrt(differences @ differences)) / MAX_POINTS)
    if resolution is not None and resolution < finest:
        raise InputError(
            f"resolution needs at least {finest:.2g} for these scores; it got {resolution:g}; pass a coarser grid."
        )
    return SignFlipLattice(*_distinct(np.rint(differences / grid).astype(np.int64)), grid)


def _distinct(steps: Integers) -> tuple[Integers, Integers, int]:
    """Return distinct non-zero magnitudes and their counts, and the sum, all divided by the common divisor."""
    counts = np.bincount(np.abs(steps))
    magnitudes = np.flatnonzero(counts[1:]) + 1
    stride = max(int(np.gcd.reduce(magnitudes)), 1) if magnitudes.size else 1
    return magnitudes // stride, counts[magnitudes], int(steps.sum()) // stride


def sign_flip_tail(magnitudes: Integers, counts: Integers, observed: int) -> float:
    """Compute the probability that a sum of randomly signed magnitudes is at least `observed`.

    In [2**-n, 1], positive and accurate in relative terms (about 1e-12) however small it is.

    Parameters
    ----------
    magnitudes, counts : ndarray
        Distinct positive whole numbers and how often each occurs.
    observed : int
        Of the same parity as the sum of all magnitudes, as any attainable sum is.

    Notes
    -----
    With total T, the sum is 2 B - T where B adds each magnitude with probability 1/2, so the tail is P(B >= b),
    b = (observed + T) / 2. Where n T is small, the law of B is convolved one magnitude at a time: sums of positive
    numbers, so no accuracy is lost. Beyond, that takes too long, while a plain Fourier inversion is only accurate to
    1e-16 absolute and can return a negative tail. So B is first tilted exponentially until its mean is b (Esscher 1932;
    Daniels 1954): the tail becomes exp(K(theta) - theta b) times a tilted expectation of order one, which a Fourier sum
    over the few frequencies with a characteristic function above 1e-20 gives. Nothing is resampled or asymptotic.

    Examples
    --------
    >>> sign_flip_tail(np.array([1, 2]), np.array([2, 1]), 4)  # 1 + 1 + 2: one of 8 sign patterns
    0.125
    """
    total = int(counts @ magnitudes)
    target = (observed + total) // 2
    if target <= 0:
        return 1.0
    if target > total:
        return 0.0
    if 2 * target < total:
        return 1.0 - sign_flip_tail(magnitudes, counts, 2 - observed)
    n = int(counts.sum())
    if n <= 1000 and n * total <= MAX_ADDITIONS:
        return _convolved_tail(np.repeat(magnitudes, counts), target)
    theta = _tilt(magnitudes, counts, min(float(target), total - float(magnitudes[0]) / 2))
    chance = 1 / (1 + np.exp(-theta * magnitudes))
    variance = float(counts @ (magnitudes**2 * chance * (1 - chance)))
    reach = 10 * np.sqrt(variance) + 12 * float(magnitudes[-1])
    whole = total + 1 <= 2 * reach
    points = total + 1 + (total + 1) % 2 if whole else 2 * int(np.ceil(reach))
    terms = total - target + 1 if whole else points // 2
    log_scale = float(counts @ (np.logaddexp(0.0, theta * magnitudes) - np.log(2))) - theta * target
    mean = _tilted_mean(magnitudes, counts, chance, theta, target, points, terms)
    return float(np.clip(np.exp(log_scale) * mean, max(2.0**-n, SMALLEST_P), 1.0))


def listed_tail(magnitudes: Floats, observed: float) -> float:
    """Compute the probability that a sum of randomly signed magnitudes is at least `observed`, by counting sign patterns.

    Parameters
    ----------
    magnitudes : ndarray
        At most `MAX_LISTED` absolute differences. They need not lie on a lattice.
    observed : float
        Sums that fall short of it by at most 1e-12 of the sum of all magnitudes count as equal to it.

    Notes
    -----
    The sums of all sign patterns of each half of the magnitudes are listed, and those of the second half sorted. For
    each sum of the first half a binary search then counts the sums of the second half that reach `observed` with it, so
    that all 2^n patterns are counted although only 2 * 2^(n/2) sums are stored (Horowitz, E. & Sahni, S. (1974).
    Computing partitions with applications to the knapsack problem. J. ACM 21, 277-292).

    Examples
    --------
    >>> listed_tail(np.array([1.0, 1.0, 2.0]), 4.0)  # 1 + 1 + 2: one of 8 sign patterns
    0.125
    """
    first, second = (_signed_sums(half) for half in np.array_split(magnitudes, 2))
    threshold = observed - 1e-12 * float(magnitudes.sum())
    reached = second.size - np.searchsorted(np.sort(second), threshold - first)
    return float(reached.mean()) / second.size


def _signed_sums(magnitudes: Floats) -> Floats:
    """Return the sums of all sign patterns of the magnitudes."""
    sums = np.zeros(1)
    for magnitude in magnitudes:
        sums = np.concatenate([sums - magnitude, sums + magnitude])
    return sums


def _convolved_tail(magnitudes: Integers, target: int) -> float:
    """Return P(B >= target) by adding one magnitude at a time to the law of B."""
    law = np.ones(1)
    for magnitude in magnitudes.tolist():
        grown = np.zeros(law.size + magnitude)
        grown[: law.size] = law
        grown[magnitude:] += law
        law = grown / 2
    return float(law[target:].sum())


def _tilt(magnitudes: Integers, counts: Integers, target: float) -> float:
    """Solve for the tilt at which the mean of B is `target`, by Newton from below (the mean is concave in it)."""
    weights = counts * magnitudes
    theta = 0.0
    for _ in range(60):
        chance = 1 / (1 + np.exp(-theta * magnitudes))
        step = (target - float(weights @ chance)) / float(weights @ (magnitudes * chance * (1 - chance)))
        theta += step
        if step <= 1e-6 * theta:
            break
    return max(theta, 0.0)


def _tilted_mean(
    magnitudes: Integers, counts: Integers, chance: Floats, theta: float, target: int, points: int, terms: int
) -> float:
    """Compute the tilted expectation of exp(-theta (B - target)) over B in target .. target + terms - 1."""
    frequencies = _live_frequencies(magnitudes, counts, chance, points)
    angles = 2 * np.pi * frequencies / points
    log_modulus = np.zeros(angles.size)
    phase = -target * angles
    for magnitude, count, p in zip(magnitudes, counts, chance, strict=True):
        turn = magnitude * angles
        with np.errstate(divide="ignore"):  # a modulus of exactly 0
            log_modulus += count / 2 * np.log1p(np.maximum(-4 * p * (1 - p) * np.sin(turn / 2) ** 2, -1.0))
        phase += count * np.arctan2(p * np.sin(turn), 1 - p + p * np.cos(turn))
    rate = theta + 1j * angles
    sums = np.full(angles.size, float(terms), dtype=complex)
    moving = rate != 0
    sums[moving] = np.expm1(-rate[moving] * terms) / np.expm1(-rate[moving])
    twice = np.where((frequencies == 0) | (2 * frequencies == points), 1.0, 2.0)
    return float(twice @ (np.exp(log_modulus + 1j * phase) * sums).real) / points


def _live_frequencies(magnitudes: Integers, counts: Integers, chance: Floats, points: int) -> Integers:
    """Return the frequencies 0 .. points/2 at which the characteristic function of B exceeds 1e-20 in modulus.

    Each magnitude can only shrink the modulus, so frequencies are dropped for good as soon as it falls below.
    """
    sine_squared = np.sin(np.pi * np.arange(points) / points) ** 2
    live = np.arange(points // 2 + 1)
    modulus_squared = np.ones(live.size)
    weights = 4 * chance * (1 - chance)
    for index in np.argsort(-counts * weights, kind="stable"):
        factor = 1 - weights[index] * sine_squared[magnitudes[index] * live % points]
        modulus_squared *= factor if counts[index] == 1 else factor ** counts[index]
        kept = modulus_squared > 1e-40
        live, modulus_squared = live[kept], modulus_squared[kept]
        if live.size <= 64:
            break
    return live
