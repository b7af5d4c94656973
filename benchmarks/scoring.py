"""From responses to scores, comparisons, tables and figures."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import ir_measures
import matplotlib
import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

import ragnb
from benchmarks import by_hand as by_hand_metrics
from benchmarks.timing import ROOT, measure, responses, row_of, times_of_peer, with_ratios

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


def _text_metrics(n: int, folder: Path) -> list[dict]:
    """Exact match, contains and F1 by hand and with ragas, on answers with one reference."""
    frame = responses(n).dropna(subset=["response", "references"])
    frame["references"] = [[references[0][:1]] for references in frame["references"]]
    pairs = [(row.response, row.references[0]) for row in frame.itertuples()]
    file = folder / "answers.json"
    file.write_text(json.dumps([(text, reference[0]) for text, reference in pairs]), "utf-8")
    of_ragas = times_of_peer("ragas", file)
    timings = []
    by_hand = {"exact_match": by_hand_metrics.exact_match, "f1": by_hand_metrics.f1}
    by_hand["contains"] = by_hand_metrics.contains
    names_in_ragas = {"exact_match": "exact_match", "contains": "string_present"}
    for metric, function in by_hand.items():
        options = {"variant": "squad"} if metric != "contains" else {}
        ways = {
            "ragnb": lambda metric=metric, o=options: ragnb.score(frame, f"answer.{metric}", **o),
            "a loop by hand": lambda function=function: [function(*pair) for pair in pairs],
        }
        task = f"`score`, answer.{metric}, one reference"
        rows = measure(task, len(frame), ways)
        if metric in names_in_ragas:
            times = of_ragas[names_in_ragas[metric]]
            way = "ragas `single_turn_ascore`, which does not normalise"
            rows.append(row_of(task, len(frame), way, times))
            rows = with_ratios(rows)
        timings += rows
    return timings


def _quickstart(folder: Path) -> dict:
    """README's quickstart in a new process, and the same with pandas and scipy."""
    readme = (ROOT / "README.md").read_text("utf-8")
    code = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    quickstart = folder / "quickstart.py"
    quickstart.write_text(code, "utf-8")
    script = ROOT / "benchmarks" / "by_hand.py"
    commands = {
        "ragnb": [sys.executable, quickstart],
        "pandas, scipy and statsmodels": [sys.executable, "-P", script, "docs/answers.csv"],
    }
    silent = {"cwd": ROOT, "check": True, "capture_output": True}
    silent["env"] = os.environ | {"PYTHONPATH": str(ROOT)}
    return {
        name: lambda command=command: subprocess.run(command, **silent)
        for name, command in commands.items()
    }


def rows() -> list[dict]:
    """Time scoring with each metric, and the steps after it."""
    matplotlib.use("agg")
    frame = responses(10_000)
    n = len(frame)
    start = [sys.executable, "-c", "import ragnb"]
    timings = measure("new process, `import ragnb`", 1, {"ragnb": lambda: subprocess.run(start)})
    with tempfile.TemporaryDirectory() as folder:
        timings += measure("new process, README's quickstart", 200, _quickstart(Path(folder)))
        for size in (2_000, 10_000):
            timings += _text_metrics(size, Path(folder))
    for metric in METRICS:
        ways = {"ragnb": lambda metric=metric: ragnb.score(frame, metric)}
        timings += measure(f"`score`, {metric}", n, ways)
    timings += measure("`score`, six retrieval metrics", 3_000, _retrieval(3_000))
    for size in (3_000, 200_000):
        timings += measure("`compare`, 2 metrics of 5 systems", size, _comparison(size))
    scores = ragnb.score(frame, METRICS[:6])
    means = ragnb.summarize(scores)
    with tempfile.TemporaryDirectory() as folder:

        def draw() -> None:
            ax = ragnb.plot(means, rows="metric", series="system", save=f"{folder}/means")
            matplotlib.pyplot.close(ax.figure)

        steps = {
            "`summarize` of 6 metrics": lambda: ragnb.summarize(scores),
            "`compare` of 6 metrics": lambda: ragnb.compare(
                scores, baseline="fid", unpaired="drop"
            ),
            "`to_latex` of the means": lambda: ragnb.to_latex(means),
            "`plot` of the means, saved as PDF, SVG and PNG": draw,
        }
        for task, function in steps.items():
            timings += measure(task, n, {"ragnb": function})
    return timings
