"""How far a metric replaces people's verdicts: EVOUNA's NQ answers.

``python -m recording.evouna NQ.json``, run in the folder ``tests``, takes some minutes on two cores and writes the results
that the notebooks show. They are numbers about the file and contain no text of it.
"""

import json
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from ragnb.experiments.labelled import load_labelled
from ragnb.experiments.recorded import data_file
from ragnb.reports.judge import judge_report
from ragnb.scoring.scores import score
from ragnb.stats.ppi import ppi_mean

COMMAND = "python -m recording.evouna NQ.json"
N_LABELS = (20, 50, 100, 300)
AGREEMENT = ("percent agreement", "Cohen's kappa", "sensitivity", "specificity")


def judged_answers(source: str | Path) -> pd.DataFrame:
    """EVOUNA's labelled responses; where a system said nothing, the empty text."""
    return load_labelled(source).fillna({"response": ""})


def label_draws(
    answers: pd.DataFrame, *, judge: str = "answer.contains", n_draws: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Intervals from a few people's verdicts drawn by lot, held against all of them, one row a system and number of labels.

    Parameters
    ----------
    answers
        See `judged_answers`.
    judge
        The metric that takes a judge's place for the other responses; with values 0 and 1.
    n_draws, seed
        Draws of labelled responses for each row.

    Returns
    -------
    DataFrame
        ``system, n_labels, truth`` (mean of all verdicts), ``judge`` (its mean), and for ``ppi`` (`ppi_mean`), ``classical``
        (labels alone) and ``judge_only``: share of 95 % intervals that hold the truth, and their mean width.
    """
    judged = answers.assign(judge=score(answers, judge)["value"].to_numpy())
    rng = np.random.default_rng(seed)
    rows = [
        {
            "system": system,
            "n_labels": n,
            **_drawn(part["label"].to_numpy(), part["judge"].to_numpy(), n, n_draws, rng),
        }
        for system, part in judged.groupby("system", sort=False)
        for n in N_LABELS
    ]
    return pd.DataFrame(rows)


def _drawn(
    verdicts: np.ndarray, judge: np.ndarray, n: int, n_draws: int, rng: np.random.Generator
) -> dict[str, float]:
    """The verdicts are all there is to know: drawn with replacement, so that the draws are of one population."""
    truth, intervals = verdicts.mean(), []
    for _ in range(n_draws):
        drawn, others = (
            rng.integers(len(verdicts), size=n),
            rng.integers(len(verdicts), size=len(verdicts) - n),
        )
        found = ppi_mean(verdicts[drawn], judge[drawn], judge[others])
        intervals.append(
            [(each.low, each.high) for each in (found, found.classical, found.judge_only)]
        )
    low, high = np.moveaxis(np.array(intervals), 2, 0)
    held, width = ((low <= truth) & (truth <= high)).mean(axis=0), (high - low).mean(axis=0)
    kinds = ("ppi", "classical", "judge_only")
    return {"truth": truth, "judge": judge.mean()} | {
        f"{what}_{kind}": float(value)
        for what, values in (("coverage", held), ("width", width))
        for kind, value in zip(kinds, values, strict=True)
    }


def verdict_agreement(answers: pd.DataFrame, *, judge: str = "answer.contains") -> pd.DataFrame:
    """How far a metric with values 0 and 1 agrees with people's verdicts, over all systems and for each system.

    Parameters
    ----------
    answers
        See `judged_answers`.
    judge
        The metric that takes a judge's place.

    Returns
    -------
    DataFrame
        One row per ``system`` (``"all"`` for all of them) and ``metric`` (percent agreement, Cohen's kappa, sensitivity,
        specificity), with the columns ``mean, low, high, interval, n_scored, n_units`` of `ragnb.judge_report`. The
        questions are the independent units.
    """
    judged = answers.assign(judge=score(answers, judge)["value"].to_numpy())
    parts = [("all", judged), *judged.groupby("system", sort=False)]
    tables = [
        judge_report(part, judge="judge", clusters="question_id").agreement.assign(system=system)
        for system, part in parts
    ]
    rows = pd.concat(tables, ignore_index=True)
    shown = ["system", "metric", "mean", "low", "high", "interval", "n_scored", "n_units"]
    return rows.loc[rows["metric"].isin(AGREEMENT), shown].reset_index(drop=True)


# ---- the files -------------------------------------------------------------------------------------


def _write(source: str) -> None:
    answers = judged_answers(source)
    tables = {
        "labels": label_draws(answers),
        "agreement": verdict_agreement(answers),
    }
    for name, table in tables.items():
        table.round(6).to_csv(data_file(f"evouna_{name}.csv"), index=False, lineterminator="\n")
    used = ("numpy", "pandas")
    provenance = answers.attrs["source"] | {
        "name": "EVOUNA NQ",
        "n_answers": len(answers),
        "n_questions": int(answers["question_id"].nunique()),
        "command": COMMAND,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in used}},
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }
    data_file("evouna.provenance.json").write_text(
        json.dumps(provenance, indent=2) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    _write(sys.argv[1])
