// Probabilities that explorables compute in the page.

const LOG_FACTORIALS = [0];

function logFactorial(n) {
  for (let k = LOG_FACTORIALS.length; k <= n; k += 1) LOG_FACTORIALS.push(LOG_FACTORIALS[k - 1] + Math.log(k));
  return LOG_FACTORIALS[n];
}

// P(X = k), where X is Binomial(n, chance) and 0 < chance < 1.
function mass(k, n, chance) {
  if (k < 0) return 0;
  return Math.exp(logFactorial(n) - logFactorial(k) - logFactorial(n - k) + k * Math.log(chance) + (n - k) * Math.log1p(-chance));
}

// P(X = k) for each k from 0 to n.
export const binomial = (n, chance = 0.5) => Array.from({ length: n + 1 }, (_, k) => mass(k, n, chance));

export const sum = (values) => values.reduce((total, value) => total + value, 0);

// The number between 0 and 1 at which a condition that holds for small numbers ends.
function bisected(holds, steps) {
  let [low, high] = [0, 1];
  for (let step = 0; step < steps; step += 1) {
    const middle = (low + high) / 2;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

// The number below which a Beta(k, n + 1 - k) variable is with this probability: the k-th smallest of n uniform numbers.
export const betaQuantile = (probability, k, n) => bisected((value) => sum(binomial(n, value).slice(k)) < probability, 50);

// P(X <= k), where X is Binomial(n, chance), while n and k grow in steps of 1 from n = 0 and k = -1.
class GrowingTail {
  n = 0;
  k = -1;
  total = 0;

  constructor(chance) { this.chance = chance; }

  addTrial() {
    this.total -= this.chance * mass(this.k, this.n, this.chance);
    this.n += 1;
  }

  addCount() {
    this.k += 1;
    this.total += mass(this.k, this.n, this.chance);
  }
}

// Power of the two-sided McNemar mid-p test at the 5 % level for a true difference of two systems,
// which differ on a share of n items, or on more if the difference is larger.
export function mcnemarPower(n, share, difference) {
  const psi = Math.min(Math.max(share, difference), 1 - 1e-15);
  const better = Math.min((psi + difference) / (2 * psi), 1 - 1e-15);
  const tails = [0.5, better, 1 - better].map((chance) => new GrowingTail(chance));
  const [fair, above, below] = tails;
  let power = 0;
  for (let discordant = 0; discordant <= n; discordant += 1) {
    const midP = 2 * fair.total + mass(fair.k + 1, discordant, 0.5); // if one more were the smaller count
    if (midP <= 0.05) for (const tail of tails) tail.addCount();
    power += mass(discordant, n, psi) * (above.total + below.total);
    for (const tail of tails) tail.addTrial();
  }
  return power;
}

// The difference that the mid-p test detects with a power of 80 %; NaN if there is none.
export function mcnemarMde(n, share) {
  const misses = (difference) => mcnemarPower(n, share, difference) < 0.8;
  return misses(1) ? NaN : bisected(misses, 30);
}

// A source of random signs (xorshift, 32 bits); the same seed gives the same signs.
export function coins(seed) {
  let bits = Math.imul(seed, 0x9e3779b1) | 1;
  return () => {
    bits ^= bits << 13;
    bits ^= bits >>> 17;
    bits ^= bits << 5;
    return bits < 0 ? -1 : 1;
  };
}
