"""README's quickstart as a script that uses pandas, scipy and statsmodels only.

``python benchmarks/by_hand.py docs/answers.csv`` prints the same differences as the quickstart.
"""

import collections
import json
import re
import string
import sys

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests


def normalized(text: str) -> str:
    """The text as SQuAD compares it: small letters, no punctuation, no articles, single blanks."""
    text = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def exact_match(response: str, references: list[str]) -> float:
    return float(any(normalized(response) == normalized(reference) for reference in references))


def contains(response: str, references: list[str]) -> float:
    return float(any(normalized(reference) in normalized(response) for reference in references))


def f1(response: str, references: list[str]) -> float:
    best, words = 0.0, normalized(response).split()
    for reference in references:
        expected = normalized(reference).split()
        shared = sum((collections.Counter(words) & collections.Counter(expected)).values())
        if shared:
            best = max(best, 2 * shared / (len(words) + len(expected)))
    return best


def main(path: str) -> None:
    answers = pd.read_csv(path)
    references = list(answers["references"].map(listed))
    for function in (exact_match, f1, contains):
        pairs = zip(answers["response"], references, strict=True)
        answers[function.__name__] = [function(*pair) for pair in pairs]
    answers["verdict"] = answers["verdict"].astype(str).str.lower().eq("true").astype(float)
    rows = []
    for metric in ("exact_match", "f1", "contains", "verdict"):
        table = answers.pivot(index="example_id", columns="system", values=metric)
        baseline, other = table["FiD"], table["New Bing"]
        difference = (other - baseline).to_numpy()
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        low, high = stats.t.interval(0.95, len(difference) - 1, difference.mean(), error)
        if set(np.unique(table)) <= {0, 1}:
            gained, lost = (difference > 0).sum(), (difference < 0).sum()
            p = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
        else:
            p = stats.ttest_rel(other, baseline).pvalue
        rows.append([metric, baseline.mean(), other.mean(), difference.mean(), low, high, p])
    names = ["metric", "baseline_mean", "mean", "difference", "low", "high", "p"]
    table = pd.DataFrame(rows, columns=names)
    table["p_adjusted"] = multipletests(table["p"], method="holm")[1]
    print(table.round(2).to_string(index=False))


def listed(cell: str) -> list[str]:
    """The spellings in a cell such as ``["a", "b"]``, or the cell itself."""
    return json.loads(cell) if cell.startswith("[") else [cell]


if __name__ == "__main__":
    main(sys.argv[1])
