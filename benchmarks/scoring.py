"""From responses to scores, comparisons, tables and figures."""

import subprocess
import sys
import tempfile

import ir_measures
import matplotlib
import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

import ragnb
from benchmarks.timing import measure, responses

METRICS = ["answer.exact_match", "answer.f1", "answer.contains", "answer.rouge_l", "answer.chrf"]
METRICS += ["answer.bleu", "language.rlc", "abstention.coverage"]


MEASURES = ["nDCG@10", "R@10", "P@10", "RR@10", "AP", "R@100"]
RETRIEVAL = ["ndcg@10", "recall@10", "precision@10", "reciprocal_rank@10", "average_precision"]
RETRIEVAL = [f"retrieval.{name}" for name in (*RETRIEVAL, "recall@100")]


def _retrieval(n: int) -> dict:
    """Six measures of n ranked lists of 100 passages, also with ir_measures alone."""
    rng = np.random.default_rng(n)
    retrieved = [list(map(str, rng.choice(5_000, 100, replace=False))) for _ in range(n)]
    relevant = [dict.fromkeys(map(str, rng.choice(5_000, 20, replace=False)), 1) for _ in range(n)]
    frame = pd.DataFrame({"example_id": range(n), "retrieved": retrieved, "relevant": relevant})
    measures = [ir_measures.parse_measure(name) for name in MEASURES]

    def alone():
        runs = {}
        for row, passages in enumerate(retrieved):
            runs[str(row)] = {passage: -float(rank) for rank, passage in enumerate(passages)}
        qrels = {str(row): grades for row, grades in enumerate(relevant)}
        return list(ir_measures.iter_calc(measures, qrels, runs))

    return {"ragnb": lambda: ragnb.score(frame, RETRIEVAL), "ir_measures": alone}


def _comparison(n: int) -> dict:
    """Two metrics of five systems, also with the tests and intervals that people write by hand."""
    rng = np.random.default_rng(n)
    quality = rng.normal(0.6, 0.3, n)
    parts = []
    for system in range(5):
        f1 = np.round(np.clip(quality + rng.normal(0.01 * system, 0.2, n), 0, 1), 2)
        for name, values in (("answer.f1", f1), ("answer.exact_match", (f1 > 0.7).astype(float))):
            ids = [f"q{row}" for row in range(n)]
            columns = {"example_id": ids, "system": f"s{system}", "metric": name, "value": values}
            parts.append(pd.DataFrame(columns | {"signature": name}))
    scores = pd.concat(parts, ignore_index=True)

    def by_hand():
        p_values = []
        for name, group in scores.groupby("metric", sort=False):
            table = group.pivot(index="example_id", columns="system", values="value")
            for system in table.columns[1:]:
                first, second = table[system].to_numpy(), table["s0"].to_numpy()
                difference = first - second
                stats.t.interval(0.95, n - 1, difference.mean(), stats.sem(difference))
                if name == "answer.f1":
                    p_values.append(stats.ttest_rel(first, second).pvalue)
                else:
                    counts = np.histogram2d(first, second, 2)[0]
                    p_values.append(mcnemar(counts, exact=True).pvalue)
        return multipletests(p_values, method="holm")

    return {"ragnb": lambda: ragnb.compare(scores, baseline="s0"), "by hand": by_hand}


def rows() -> list[dict]:
    """Time scoring with each metric, and the steps after it."""
    matplotlib.use("agg")
    frame = responses(10_000)
    n = len(frame)
    start = [sys.executable, "-c", "import ragnb"]
    found = measure("new process, `import ragnb`", 1, {"ragnb": lambda: subprocess.run(start)})
    for metric in METRICS:
        found += measure(f"`score`, {metric}", n, {"ragnb": lambda m=metric: ragnb.score(frame, m)})
    found += measure("`score`, six retrieval metrics", 3_000, _retrieval(3_000))
    for size in (3_000, 200_000):
        found += measure("`compare`, 2 metrics of 5 systems", size, _comparison(size))
    scores = ragnb.score(frame, METRICS[:6])
    means = ragnb.summarize(scores)
    with tempfile.TemporaryDirectory() as folder:

        def draw() -> None:
            ax = ragnb.plot(means, rows="metric", series="system", save=f"{folder}/means")
            matplotlib.pyplot.close(ax.figure)

        steps = {
            "`summarize` of 6 metrics": lambda: ragnb.summarize(scores),
            "`compare` of 6 metrics": lambda: ragnb.compare(scores, baseline="FiD"),
            "`to_latex` of the means": lambda: ragnb.to_latex(means),
            "`plot` of the means, saved as PDF, SVG and PNG": draw,
        }
        for task, function in steps.items():
            found += measure(task, n, {"ragnb": function})
    return found
