// Probabilities that explorables compute in the page.

const LOG_FACTORIALS = [0];

function logFactorial(n) {
  for (let k = LOG_FACTORIALS.length; k <= n; k += 1) LOG_FACTORIALS.push(LOG_FACTORIALS[k - 1] + Math.log(k));
  return LOG_FACTORIALS[n];
}

// P(X = k) for each k from 0 to n, where X is Binomial(n, chance) and 0 < chance < 1.
export function binomial(n, chance = 0.5) {
  const mass = (k) => logFactorial(n) - logFactorial(k) - logFactorial(n - k) + k * Math.log(chance) + (n - k) * Math.log1p(-chance);
  return Array.from({ length: n + 1 }, (_, k) => Math.exp(mass(k)));
}

export const sum = (values) => values.reduce((total, value) => total + value, 0);

// The number below which a Beta(k, n + 1 - k) variable is with this probability: the k-th smallest of n uniform numbers.
export function betaQuantile(probability, k, n) {
  let [low, high] = [0, 1];
  for (let step = 0; step < 50; step += 1) {
    const middle = (low + high) / 2;
    if (sum(binomial(n, middle).slice(k)) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

// P(X <= k), where X is Binomial(n, chance).
const atMost = (k, n, chance) => sum(binomial(n, chance).slice(0, k + 1));

const CRITICAL = [];

// The largest smaller count of discordant pairs at which McNemar's mid-p test rejects at the 5 % level, or -1.
function criticalCount(discordant) {
  if (CRITICAL[discordant] === undefined) {
    const mass = binomial(discordant);
    let [k, below] = [0, 0];
    while (k < discordant / 2 && 2 * below + mass[k] <= 0.05) {
      below += mass[k];
      k += 1;
    }
    CRITICAL[discordant] = k - 1;
  }
  return CRITICAL[discordant];
}

// Power of the mid-p test for a true difference of two systems that differ on a share of n items, or on more if it is larger.
export function mcnemarPower(n, share, difference) {
  const psi = Math.min(Math.max(share, difference), 1 - 1e-15);
  const better = Math.min((psi + difference) / (2 * psi), 1 - 1e-15);
  const rejected = (chance, m) => {
    const k = criticalCount(m);
    return chance < 1e-11 || k < 0 ? 0 : chance * (atMost(k, m, better) + atMost(k, m, 1 - better));
  };
  return sum(binomial(n, psi).map(rejected));
}

// The difference that the mid-p test detects with a power of 80 %; NaN if there is none.
export function mcnemarMde(n, share) {
  if (mcnemarPower(n, share, 1) < 0.8) return NaN;
  let [low, high] = [0, 1];
  for (let step = 0; step < 30; step += 1) {
    const middle = (low + high) / 2;
    if (mcnemarPower(n, share, middle) < 0.8) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
