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
