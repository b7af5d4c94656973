"""Cost of each step from 10,000 to 10,000,000 rows: CPU time and peak memory.

Each measurement runs in a new process, so that its peak is that of one step and no cache is warm.
``python -m benchmarks.scale score 10000`` prints one of them as JSON. The rows are EVOUNA's answers
without repeated texts. 10,000,000 rows are read and scored in files of 1,000,000, one after the
other, as docs/recipes.md recommends. Their scores are summarised and compared in one frame.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import ragnb
from benchmarks import by_hand
from benchmarks.timing import ROOT, cpu_time, responses, with_ratios

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
LARGEST_FILE = 1_000_000
METRICS = ["answer.exact_match", "answer.f1"]
SYSTEMS = ["fid", "gpt35", "chatgpt", "gpt4", "newbing"]


def write_files(n: int, folder: Path) -> list[Path]:
    """Write n responses to Parquet files of at most a million rows."""
    n_files = -(-n // LARGEST_FILE)
    rows_per_file = n // n_files
    frame = responses(rows_per_file)
    files = []
    for number in range(n_files):
        suffix = f" [{number}]" if number else ""
        file = folder / f"{number}.parquet"
        texts = {name: frame[name] + suffix for name in ("example_id", "response")}
        frame.assign(**texts).to_parquet(file, index=False)
        files.append(file)
    return files


def scores_of_systems(n: int) -> pd.DataFrame:
    """F1 of five systems in a frame of n scores."""
    rng = np.random.default_rng(0)
    questions = n // len(SYSTEMS)
    quality = rng.normal(0.6, 0.3, questions)
    ids = pd.array([f"q{number}" for number in range(questions)], dtype="str")
    columns: dict = {"example_id": np.tile(ids, len(SYSTEMS))}
    columns["system"] = pd.Categorical(np.repeat(SYSTEMS, questions))
    noise = rng.normal(0, 0.2, (len(SYSTEMS), questions))
    columns["value"] = np.round(np.clip(quality + noise, 0, 1), 2).ravel()
    return pd.DataFrame(columns | {"metric": "answer.f1", "signature": "answer.f1"})


# ---- the steps: what is prepared, and what is measured -----------------------------------------


def load(files: list[Path]) -> None:
    for file in files:
        ragnb.load_responses(file)


def load_with_pandas(files: list[Path]) -> None:
    for file in files:
        pd.read_parquet(file)


def score(files: list[Path]) -> None:
    for file in files:
        ragnb.score(pd.read_parquet(file), METRICS, variant="squad")


def score_by_hand(files: list[Path]) -> None:
    for file in files:
        frame = pd.read_parquet(file).dropna(subset=["response", "references"])
        for response, references in zip(frame["response"], frame["references"], strict=True):
            by_hand.exact_match(response, references[0])
            by_hand.f1(response, references[0])


def summarize(scores: pd.DataFrame) -> None:
    ragnb.summarize(scores, by="system")


def summarize_with_pandas(scores: pd.DataFrame) -> None:
    groups = scores.groupby(["metric", "system"], observed=True)["value"]
    means, errors, counts = groups.mean(), groups.sem(), groups.count()
    stats.t.interval(0.95, counts - 1, means, errors)


def compare(scores: pd.DataFrame) -> None:
    ragnb.compare(scores, baseline=SYSTEMS[0])


def compare_by_hand(scores: pd.DataFrame) -> None:
    table = scores.pivot(index="example_id", columns="system", values="value")
    for system in SYSTEMS[1:]:
        difference = (table[system] - table[SYSTEMS[0]]).to_numpy()
        stats.t.interval(0.95, len(table) - 1, difference.mean(), stats.sem(difference))
        stats.ttest_rel(table[system], table[SYSTEMS[0]])


STEPS = {
    "load": {"ragnb": load, "pandas": load_with_pandas},
    "score": {"ragnb": score, "a loop by hand": score_by_hand},
    "summarize": {"ragnb": summarize, "pandas and scipy": summarize_with_pandas},
    "compare": {"ragnb": compare, "pandas and scipy": compare_by_hand},
}
TASKS = {
    "load": "`load_responses`, Parquet files",
    "score": "`score` of exact match and F1, from Parquet files",
    "summarize": "`summarize` of one metric, five systems",
    "compare": "`compare` of five systems, one metric",
}


def measurement(step: str, way: str, n: int) -> dict:
    """CPU time of one way of a step, and the peak memory of this process in GB."""
    with tempfile.TemporaryDirectory() as folder:
        reads_files = step in ("load", "score")
        if reads_files:
            # Another process writes the files, so that the peak is not that of writing them.
            command = [sys.executable, "-m", "benchmarks.scale", "write", str(n), folder]
            subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        files = sorted(Path(folder).glob("*.parquet"))
        prepared = files if reads_files else scores_of_systems(n)
        started = cpu_time()
        STEPS[step][way](prepared)
        seconds = cpu_time() - started
    return {"seconds": seconds, "gigabytes": peak_memory() / 1e9}


def peak_memory() -> int:
    """The largest memory of this process in bytes, as Linux reports it.

    `resource.getrusage` would also count that of the process that started this one.
    """
    status = Path("/proc/self/status").read_text("utf-8")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


def rows(sizes: tuple[int, ...] = SIZES) -> list[dict]:
    """Time each step at each size, with both ways at the same time, so that other programs slow both."""
    timings = []
    for step, ways in STEPS.items():
        for n in sizes:
            processes = {}
            for way in ways:
                command = [sys.executable, "-m", "benchmarks.scale", step, way, str(n)]
                processes[way] = subprocess.Popen(
                    command, cwd=ROOT, stdout=subprocess.PIPE, text=True
                )
            found = []
            for way, process in processes.items():
                printed, _ = process.communicate()
                if process.returncode:
                    raise RuntimeError(f"{step} of {n} rows with {way} failed")
                result = json.loads(re.findall(r"^\{.*\}$", printed, re.MULTILINE)[-1])
                times = {"first": result["seconds"], "seconds": result["seconds"], "calls": 1}
                row = {"task": TASKS[step], "n": n, "way": way, "clock": "CPU"} | times
                found.append(row | {"gigabytes": result["gigabytes"]})
            timings += with_ratios(found)
    return timings


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write_files(int(sys.argv[2]), Path(sys.argv[3]))
    else:
        print(json.dumps(measurement(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
