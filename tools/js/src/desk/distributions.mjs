// Distribution functions that the statistics of the desk need, in double precision. The tests compare them with scipy.

const HALF_LOG_TWO_PI = 0.9189385332046727;
const SQRT_TWO_PI = 2.5066282746310002;
const TINY = 1e-300;

/**
 * Error of Stirling's approximation: log gamma(x + 1) - (x + 1/2) log x + x - log(2 pi) / 2.
 * @param {number} x above 0
 * @returns {number}
 */
function stirlingError(x) {
  // The series is exact in double precision from 16 on; gamma(x + 1) = x gamma(x) leads there.
  let shifted = x;
  let product = 1;
  while (shifted < 16) {
    shifted += 1;
    product *= shifted;
  }
  const square = shifted * shifted;
  const series =
    (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / shifted;
  if (shifted === x) {
    return series;
  }
  const logGamma = (shifted + 0.5) * Math.log(shifted) - shifted + HALF_LOG_TWO_PI + series - Math.log(product);
  return logGamma - (x + 0.5) * Math.log(x) + x - HALF_LOG_TWO_PI;
}

/**
 * Deviance x log(x / mean) + mean - x, without cancellation where x is near the mean.
 * @param {number} x above 0
 * @param {number} mean above 0
 * @returns {number}
 */
function deviance(x, mean) {
  if (Math.abs(x - mean) > 0.1 * (x + mean)) {
    return x * Math.log(x / mean) + mean - x;
  }
  const ratio = (x - mean) / (x + mean);
  let sum = (x - mean) * ratio;
  let term = 2 * x * ratio;
  for (let j = 1; j < 1000; j += 1) {
    term *= ratio * ratio;
    const next = sum + term / (2 * j + 1);
    if (next === sum) {
      break;
    }
    sum = next;
  }
  return sum;
}

/**
 * The binomial probability of x successes, also for numbers that are not whole (Loader 2000).
 * @param {number} x successes
 * @param {number} n trials
 * @param {number} p probability of a success
 * @param {number} q 1 - p
 * @returns {number}
 */
export function binomialProbability(x, n, p, q = 1 - p) {
  if (p === 0 || q === 0) {
    return x === (p === 0 ? 0 : n) ? 1 : 0;
  }
  if (x === 0) {
    return Math.exp(n * (p < 0.1 ? Math.log1p(-p) : Math.log(q)));
  }
  if (x === n) {
    return Math.exp(n * (q < 0.1 ? Math.log1p(-q) : Math.log(p)));
  }
  if (x < 0 || x > n) {
    return 0;
  }
  const exponent =
    stirlingError(n) - stirlingError(x) - stirlingError(n - x) - deviance(x, n * p) - deviance(n - x, n * q);
  return Math.exp(exponent - HALF_LOG_TWO_PI) * Math.sqrt(n / (x * (n - x)));
}

/**
 * Regularized incomplete beta function I_x(a, b).
 * @param {number} a above 0
 * @param {number} b above 0
 * @param {number} x
 * @param {number} y 1 - x, which may be known more exactly than by subtraction
 * @returns {number}
 */
export function betaShare(a, b, x, y = 1 - x) {
  if (x <= 0) {
    return 0;
  }
  if (y <= 0) {
    return 1;
  }
  if (x > (a + 1) / (a + b + 2)) {
    return 1 - betaTail(b, a, y, x);
  }
  return betaTail(a, b, x, y);
}

/**
 * I_x(a, b) by its continued fraction, which converges fast for x below the mean.
 * @param {number} a
 * @param {number} b
 * @param {number} x
 * @param {number} y
 * @returns {number}
 */
function betaTail(a, b, x, y) {
  let c = 1;
  let d = 1 - ((a + b) * x) / (a + 1);
  d = 1 / (Math.abs(d) < TINY ? TINY : d);
  let fraction = d;
  for (let m = 1; m < 100_000; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let change = 1;
    for (const coefficient of [even, odd]) {
      d = 1 + coefficient * d;
      d = 1 / (Math.abs(d) < TINY ? TINY : d);
      c = 1 + coefficient / c;
      c = Math.abs(c) < TINY ? TINY : c;
      change = c * d;
      fraction *= change;
    }
    if (Math.abs(change - 1) < 1e-16) {
      break;
    }
  }
  // x^a y^b / (a B(a, b)) is b / (a + b) times a binomial probability.
  return (b / (a + b)) * binomialProbability(a, a + b, x, y) * fraction;
}

/**
 * Find where an increasing function crosses 0, to the last digit.
 * @param {function(number): number} increasing
 * @param {number} low
 * @param {number} high
 * @returns {number}
 */
export function bisect(increasing, low, high) {
  let [below, above] = [low, high];
  for (let step = 0; step < 200; step += 1) {
    const middle = (below + above) / 2;
    if (middle === below || middle === above) {
      break;
    }
    if (increasing(middle) < 0) {
      below = middle;
    } else {
      above = middle;
    }
  }
  return (below + above) / 2;
}

/**
 * Quantile of the beta distribution.
 * @param {number} probability
 * @param {number} a
 * @param {number} b
 * @returns {number}
 */
export function betaQuantile(probability, a, b) {
  if (b === 1) {
    return probability ** (1 / a);
  }
  if (a === 1) {
    return -Math.expm1(Math.log1p(-probability) / b);
  }
  return bisect((x) => betaShare(a, b, x) - probability, 0, 1);
}

/**
 * P(X <= successes) of a binomial distribution.
 * @param {number} successes
 * @param {number} n
 * @param {number} p
 * @returns {number}
 */
export function binomialShare(successes, n, p) {
  if (successes < 0) {
    return 0;
  }
  return successes >= n ? 1 : betaShare(n - successes, successes + 1, 1 - p, p);
}

/**
 * P(Z > z) of the standard normal distribution.
 * @param {number} z at least 0
 * @returns {number}
 */
function normalTail(z) {
  const density = Math.exp((-z * z) / 2) / SQRT_TWO_PI;
  if (z < 3) {
    let term = z;
    let sum = z;
    for (let k = 3; term > sum * 1e-17; k += 2) {
      term *= (z * z) / k;
      sum += term;
    }
    return 0.5 - density * sum;
  }
  let fraction = z;
  for (let k = 200; k >= 1; k -= 1) {
    fraction = z + k / fraction;
  }
  return density / fraction;
}

/**
 * Quantile of the standard normal distribution.
 * @param {number} probability
 * @returns {number}
 */
export function normalQuantile(probability) {
  if (probability < 0.5) {
    return -normalQuantile(1 - probability);
  }
  return bisect((z) => 1 - probability - normalTail(z), 0, 40);
}

/**
 * Quantile of Student's t distribution.
 * @param {number} probability at least 0.5
 * @param {number} df degrees of freedom
 * @returns {number}
 */
export function tQuantile(probability, df) {
  const tail = (/** @type {number} */ t) => {
    const square = t * t;
    return betaShare(df / 2, 0.5, df / (df + square), square / (df + square)) / 2;
  };
  let high = 1;
  while (tail(high) > 1 - probability) {
    high *= 2;
  }
  return bisect((t) => 1 - probability - tail(t), 0, high);
}

/**
 * Power of a two-sided t-test whose statistic has a noncentral t distribution.
 * @param {number} shift true difference in standard errors
 * @param {number} df degrees of freedom
 * @param {number} confidenceLevel
 * @returns {number}
 */
export function tPower(shift, df, confidenceLevel) {
  const critical = tQuantile((1 + confidenceLevel) / 2, df);
  const square = critical * critical;
  const [x, y] = [square / (df + square), df / (df + square)];
  // The square of the statistic is a mixture of F distributions with Poisson weights.
  const mean = (shift * shift) / 2;
  const mode = Math.floor(mean);
  const logWeight = (/** @type {number} */ j) =>
    j === 0 ? -mean : -deviance(j, mean) - stirlingError(j) - HALF_LOG_TWO_PI - Math.log(j) / 2;
  let accepted = 0;
  for (let j = mode; j >= 0; j -= 1) {
    const weight = Math.exp(logWeight(j));
    if (weight < 1e-18) {
      break;
    }
    accepted += weight * betaShare(j + 0.5, df / 2, x, y);
  }
  for (let j = mode + 1; ; j += 1) {
    const weight = Math.exp(logWeight(j));
    if (weight < 1e-18) {
      break;
    }
    accepted += weight * betaShare(j + 0.5, df / 2, x, y);
  }
  return 1 - accepted;
}
