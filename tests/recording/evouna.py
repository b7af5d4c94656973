"""What an ensemble of text metrics is worth against people's verdicts: EVOUNA's NQ answers, split many times.

``python -m recording.evouna NQ.json``, run in the folder ``tests``, takes some minutes on two cores and writes the results
that the notebooks show. They are numbers about the file and contain no text of it.
"""

import json
import platform
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.conformal.control import calibrate_selective_risk
from ragnb.conformal.sets import ConformalClassifier
from ragnb.ensemble.data import DataSplit, XYData, feature_frame
from ragnb.ensemble.ensemble import MetricEnsemble
from ragnb.ensemble.report import eval_prediction
from ragnb.experiments.labelled import load_labelled
from ragnb.experiments.recorded import data_file
from ragnb.records import require_columns
from ragnb.reports.judge import judge_report
from ragnb.scoring.scores import score
from ragnb.stats.ppi import ppi_mean
from ragnb.stats.prediction import auroc

METRICS = (
    "answer.exact_match", "answer.f1", "answer.precision", "answer.recall", "answer.contains", "answer.rouge_l",
    "answer.chrf", "answer.bleu",
)  # fmt: skip
"""Features of the ensemble: what needs neither a model nor anything but the response and its references."""

COMMAND = "python -m recording.evouna NQ.json"
DELTA = 0.1
N_LABELS = (20, 50, 100, 300)
AGREEMENT = ("percent agreement", "Cohen's kappa", "sensitivity", "specificity")


def judged_answers(source: str | Path) -> pd.DataFrame:
    """EVOUNA's labelled responses; where a system said nothing, the empty text."""
    return load_labelled(source).fillna({"response": ""})


def repeated_splits(
    answers: pd.DataFrame,
    *,
    n_repeats: int = 40,
    alphas: Sequence[float] = (0.1, 0.05),
    metrics: Sequence[str] = METRICS,
) -> pd.DataFrame:
    """What an ensemble and its sets did on the test part of each of many divisions by question.

    Parameters
    ----------
    answers
        See `judged_answers`.
    n_repeats
        Divisions into 60 % training, 20 % test and 20 % calibration questions; the number of each is its seed.
    alphas
        Shares of errors that the guarantees allow.
    metrics
        Features.

    Returns
    -------
    DataFrame
        ``repeat, guarantee, alpha, measure, value``. Under ``classifier`` (no alpha) ``auc`` and ``accuracy`` of the
        ensemble and the best single metric, and accuracies to compare. Under ``marginal`` and ``class`` the coverage of
        the sets over all answers, and over the incorrect and the correct ones. Under these and ``selective`` the shares
        of answers on which the ensemble abstains and of empty sets, and the selective risk.
    """
    require_columns(answers, ["question_id", "label"], "repeated_splits")
    features = feature_frame(score(answers, list(metrics)), responses=answers)
    rows: list[dict[str, Any]] = []
    for repeat in range(n_repeats):
        split = DataSplit(
            features, answers["label"], groups=answers["question_id"], random_state=repeat
        )
        rows += [{"repeat": repeat, **row} for row in _one_split(split, alphas, repeat)]
    return pd.DataFrame(rows)


def _one_split(split: DataSplit, alphas: Sequence[float], seed: int) -> Iterator[dict[str, Any]]:
    """The classifier is fitted once without class weights, which cost accuracy where the labels' shares are real."""
    plain, weighted = (
        MetricEnsemble(split.train, split.calibration, random_state=seed, class_weight=weight)
        for weight in (None, "balanced")
    )
    known, new = (
        plain.decide(part.X)["probability"].to_numpy() for part in (split.calibration, split.test)
    )
    yield from _rows("classifier", np.nan, _quality(split, new))
    balanced = weighted.decide(split.test.X)["probability"] > 0.5
    yield from _rows(
        "classifier",
        np.nan,
        {"accuracy, balanced weights": float((balanced == split.test.y).mean())},
    )
    y_known, y = split.calibration.y.to_numpy(), split.test.y.to_numpy()
    for alpha in alphas:
        for guarantee in ("marginal", "class"):
            predictor = ConformalClassifier.calibrate(known, y_known, by_class=guarantee == "class")
            sets = predictor.sets(new, alpha)
            yield from _rows(guarantee, alpha, _coverage(sets, y) | _decisions(sets, y))
        control = calibrate_selective_risk(known, y_known, alpha, DELTA)
        yield from _rows("selective", alpha, _decisions(control.sets(new), y))


def _rows(guarantee: str, alpha: float, values: dict[str, float]) -> Iterator[dict[str, Any]]:
    for measure, value in values.items():
        yield {"guarantee": guarantee, "alpha": alpha, "measure": measure, "value": value}


def _quality(split: DataSplit, probability: np.ndarray) -> dict[str, float]:
    """Of the ensemble and of the metric that does best alone; its threshold is chosen in training."""
    y, metrics = split.test.y.to_numpy(), split.test.X
    return {
        "auc": auroc(y, probability).estimate,
        "accuracy": eval_prediction(y, probability > 0.5)["accuracy"],
        "auc, best metric": max(auroc(y, metrics[name]).estimate for name in metrics),
        "accuracy, best metric": max(
            _accuracy_alone(split.train, split.test, name) for name in metrics
        ),
        "accuracy, answer.contains": float((metrics["answer.contains"].to_numpy() == y).mean()),
    }


def _accuracy_alone(training: XYData, test: XYData, name: str) -> float:
    values, y = training.X[name].to_numpy(), training.y.to_numpy()
    cuts = np.unique(np.quantile(values, np.linspace(0, 1, 101)))
    threshold = max(cuts, key=lambda cut: ((values >= cut) == y).mean())
    return float(((test.X[name].to_numpy() >= threshold) == test.y.to_numpy()).mean())


def _coverage(sets: np.ndarray, y: np.ndarray) -> dict[str, float]:
    covered = sets[np.arange(len(y)), y]
    return {
        "coverage": covered.mean(),
        "coverage of 0": covered[y == 0].mean(),
        "coverage of 1": covered[y == 1].mean(),
    }


def _decisions(sets: np.ndarray, y: np.ndarray) -> dict[str, float]:
    accepted = sets[:, 0] != sets[:, 1]
    wrong = sets[accepted, 1] != y[accepted]
    return {
        "abstained": 1 - accepted.mean(),
        "empty": (~sets.any(axis=1)).mean(),
        "selective risk": wrong.mean() if len(wrong) else np.nan,
        "accepted and wrong, share of all": wrong.sum() / len(y),
    }


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean, standard deviation and 5 % and 95 % quantiles over repeats of each measure."""
    grouped = rows.groupby(["guarantee", "alpha", "measure"], sort=False, dropna=False)["value"]
    table = grouped.agg(["mean", "std", "count"]).rename(
        columns={"std": "sd", "count": "n_repeats"}
    )
    return table.assign(low=grouped.quantile(0.05), high=grouped.quantile(0.95)).reset_index()


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
        "splits": summary(repeated_splits(answers)),
        "labels": label_draws(answers),
        "agreement": verdict_agreement(answers),
    }
    for name, table in tables.items():
        table.round(6).to_csv(data_file(f"evouna_{name}.csv"), index=False, lineterminator="\n")
    used = ("numpy", "pandas", "scikit-learn")
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
