"""Metrics, intervals and tests in a few lines of numpy, scipy and statsmodels, to recompute what notebooks print."""

import unicodedata
from collections import Counter

import numpy as np
import regex
from scipy import optimize, stats
from statsmodels.api import OLS
from statsmodels.stats.proportion import proportion_confint


def words(text):
    """Words, numbers and symbols, as the page on metrics defines the default normalisation.

    Markdown, single signs of other kinds and letters with a slash are left to the tests of the package.
    """
    text = regex.sub("[‐‑‒–—−]", "-", text).replace("’", "'").replace("™", " ")
    text = regex.sub(r"(?<=\d)(?=[²³¹⁰⁴-⁹])", "^", text)  # NFKC would make 102 of 10²
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    # 1,000 and 1 000 are 1000; a decimal comma becomes a point.
    groups = r"(?<!\d[.,' ]?)[1-9]\d{0,2}([,' ])\d{3}(?:\1\d{3})*(?!\d|[,' ]\d)"
    folded = regex.sub(groups, lambda found: regex.sub(r"\D", "", found[0]), folded)
    folded = regex.sub(r"(?<=\d),(?=\d)", ".", folded)
    # Dates, versions, and two years with a slash are separate numbers.
    chain = r"(?<!\d[./:]?)\d+([./:])\d+(?:\1\d+)+(?![./:]?\d)"
    folded = regex.sub(chain, lambda found: regex.sub(r"\D", " ", found[0]), folded)
    folded = regex.sub(r"(?<!\d)([12]\d{3})/(\d{2,4})(?!\d)", r"\1 \2", folded)
    word = r"[\p{L}\p{M}\p{N}]+(?:(?<=\d)[./:^](?=\d)[\p{L}\p{M}\p{N}]+)*"
    tokens = rf"(?:(?<![\w)\]-])-(?=\d))?{word}|(?![|~])[\p{{Sc}}\p{{Sm}}%°]"
    return regex.sub(r" ?(\p{Han}) ?", r"\1", " ".join(regex.findall(tokens, folded)))


def contains(said, parts):
    """Whether a text contains an alias of each part; an alias of signs alone is looked for as it is."""
    return all(
        any(words(alias) in words(said) if words(alias) else alias in said for alias in part)
        for part in parts
    )


def overlap(said, alias):
    """Precision, recall and F1 of words."""
    one, two = words(said).split(), words(alias).split()
    shared = sum((Counter(one) & Counter(two)).values())
    if not shared:
        return 0.0, 0.0, 0.0
    precision, recall = shared / len(one), shared / len(two)
    return precision, recall, 2 * precision * recall / (precision + recall)


def best_f1(said, parts):
    """The F1 with the best reference of a single part."""
    return max(overlap(said, alias)[2] for part in parts for alias in part)


def wilson(k, n):
    """Limits of the Wilson interval."""
    return proportion_confint(k, n, method="wilson")


def rate(k, n, digits=3):
    """A rate with its interval, as `rate_interval` prints it."""
    low, high = wilson(k, n)
    return f"{k / n:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def t_interval(values):
    """Limits of the t interval of a mean."""
    values = np.asarray(values, float)
    return stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))


def cluster_interval(values, clusters):
    """Mean with the limits of a cluster-robust t interval."""
    codes = np.unique(clusters, return_inverse=True)[1]
    options = {"cov_type": "cluster", "cov_kwds": {"groups": codes, "df_correction": True}}
    fitted = OLS(np.asarray(values, float), np.ones(len(values))).fit(**options, use_t=True)
    return fitted.params[0], *fitted.conf_int()[0]


def mid_p(b, c):
    """McNemar's mid-p value for b and c discordant pairs."""
    law = stats.binom(b + c, 0.5)
    return min(1, 2 * law.cdf(min(b, c) - 1) + law.pmf(min(b, c)))


def tango(b, c, n):
    """Limits of Tango's interval: where the score statistic is the normal quantile."""

    def score(delta):
        slope = -b - c + (2 * n - b + c) * delta
        free = -c * delta * (1 - delta)
        q = (np.sqrt(slope**2 - 4 * 2 * n * free) - slope) / (2 * 2 * n)
        spread = n * (2 * q + delta * (1 - delta))
        return (b - c - n * delta) / np.sqrt(max(spread, 1e-300))

    z, estimate = stats.norm.ppf(0.975), (b - c) / n
    low = optimize.brentq(lambda delta: score(delta) - z, -1 + 1e-9, estimate - 1e-12)
    high = optimize.brentq(lambda delta: score(delta) + z, estimate + 1e-12, 1 - 1e-9)
    return low, high
