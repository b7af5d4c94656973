"""Every column of the frames that ragnb hands out has its meaning in `records.COLUMNS`."""
# ruff: noqa: N806 (X is the name of the field)

import numpy as np
import pandas as pd
import pytest

import ragnb
from ragnb.annotation.agreement import agreement, disagreements
from ragnb.datasets.benchmarks import FIELDS
from ragnb.ensemble import (
    MetricEnsemble,
    compare_deferral,
    deferral_curve,
    deferral_point,
    feature_report,
)
from ragnb.experiments.recorded import recorded_responses
from ragnb.records import COLUMNS
from ragnb.reports import efficiency
from ragnb.scoring.mixed import mixed_model

VERDICTS = ("correct", "incorrect", "refuse", "correct")


def of_rgb():
    recorded = [
        recorded_responses(name)
        for name in ("rgb_noise", "rgb_rejection", "rgb_integration", "rgb_counterfactual")
    ]
    responses = pd.concat(
        [responses.groupby("noise_rate").head(6) for responses in recorded], ignore_index=True
    )
    yield from ragnb.rgb_report(
        responses.assign(judged_refusal=1.0, judged_detection=0.0)
    ).tables.values()


def of_trace():
    records = ragnb.load_ragbench("sample-ragbench")
    yield from (records, pd.DataFrame(columns=list(FIELDS)))
    drawn = np.random.default_rng(0).random((len(records), 2))
    judges = {name: {"adherence": name, "relevance": name} for name in ("one", "two")}
    report = ragnb.trace_report(
        records.assign(one=drawn[:, 0], two=drawn[:, 1]), judges, cluster="example_id"
    )
    yield from (report.judges, report.comparisons)


def of_several_languages():
    responses = recorded_responses("multilingual")
    kept = sorted(set(responses["question_id"]))[:10]
    responses = responses[
        responses["question_id"].isin(kept) & responses["language"].isin(["en", "de"])
    ]
    report = ragnb.multilingual_report(responses, by="language")
    model = mixed_model(report.scores, metric="answer.f1", baseline="direct", interaction=True)
    f1 = report.scores[report.scores["metric"] == "answer.f1"]
    yield from (
        responses,
        report.scores,
        report.table,
        report.cells,
        ragnb.compare(f1, by=[], cluster="question_id"),
        efficiency.gains_and_costs(report.scores),
    )
    yield from (
        efficiency.efficiency(report.scores),
        efficiency.ratio_differences(report.scores),
        efficiency.benefits(report.scores, [0.0, 0.01]),
        efficiency.incremental(report.scores),
    )
    yield from (
        efficiency.ranks(report.scores, rng=np.random.default_rng(0)),
        model.effects,
        model.by_language,
        model.observations,
    )


def of_a_judge():
    rng = np.random.default_rng(0)
    first, second, told = (rng.integers(0, 2, 60) for _ in range(3))
    frame = pd.DataFrame(
        {"example_id": np.arange(60) // 2, "system": ["a", "b"] * 30, "response": "Oslo " * 3}
    )
    frame = frame.assign(
        label=first,
        label_a=first,
        label_b=second,
        judged_correct=told,
        judge_confidence=rng.random(60),
    )
    report = ragnb.judge_report(
        frame.assign(model="m", judge_model="m"), annotators=["label_a", "label_b"]
    )
    yield from (
        report.agreement,
        report.ceiling,
        report.bias,
        report.length,
        report.calibration,
        report.curve,
        report.worst,
    )


def of_an_ensemble():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = pd.DataFrame({"answer.f1": y + rng.normal(size=120)})
    yield feature_report(X, y, random_state=0, n_repeats=1)
    split = ragnb.DataSplit(X, y, random_state=0)
    ensemble = MetricEnsemble(split.train, split.calibration, random_state=0)
    predicted = ensemble.decide(X)
    yield from (predicted, ensemble.coverage(), ensemble.check_shift(split.test))
    told = (y, predicted["probability"], y)
    yield deferral_curve(*told, shares=[0.5])
    given = (y, predicted["y_hat"].to_numpy(), predicted["abstained"].to_numpy(), y)
    yield from (deferral_point(*given), compare_deferral(*given))


def of_annotators():
    people = [
        pd.DataFrame({"item": list("abcd"), "annotator": name, "task": "verdict", "verdict": said})
        for name, said in (("ann", VERDICTS), ("bob", VERDICTS[::-1]))
    ]
    yield from (agreement(people), disagreements(people))


def of_a_comparison():
    rows = [
        {
            "example_id": f"q{n}",
            "system": name,
            "metric": "answer.f1",
            "value": n % 3 / 2 * (name == "a"),
            "signature": "v",
        }
        for n in range(8)
        for name in "ab"
    ]
    scores = pd.DataFrame(rows)
    yield from (scores, ragnb.summarize(scores), ragnb.compare(scores))


@pytest.mark.parametrize(
    "frames",
    [
        of_rgb,
        of_trace,
        of_several_languages,
        of_a_judge,
        of_an_ensemble,
        of_annotators,
        of_a_comparison,
    ],
    ids=lambda frames: frames.__name__,
)
def test_every_column_of_a_frame_has_its_meaning(frames):
    unknown = {name: list(frame) for frame in frames() for name in frame if name not in COLUMNS}
    assert not unknown
