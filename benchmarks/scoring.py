"""From responses to scores, comparisons, tables and figures."""

import subprocess
import sys
import tempfile

import matplotlib

import ragnb
from benchmarks.timing import measure, responses

METRICS = ["answer.exact_match", "answer.f1", "answer.contains", "answer.rouge_l", "answer.chrf"]
METRICS += ["answer.bleu", "language.rlc", "abstention.coverage"]


def rows() -> list[dict]:
    """Time scoring with each metric, and the steps after it."""
    matplotlib.use("agg")
    frame = responses(10_000)
    n = len(frame)
    start = [sys.executable, "-c", "import ragnb"]
    found = measure("new process, `import ragnb`", 1, {"ragnb": lambda: subprocess.run(start)})
    for metric in METRICS:
        found += measure(f"`score`, {metric}", n, {"ragnb": lambda m=metric: ragnb.score(frame, m)})
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
