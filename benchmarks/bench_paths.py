"""The paths that everybody takes

From a file to a figure, on made-up data as large as people have it: 10,000 responses of 5 systems in 4 languages with every
column that a metric reads, scored under all of `ragnb.METRICS`; and 4 systems at 6 noise rates under 4 metrics, which
`compare` makes 144 comparisons of 300 pairs of. There is no peer that does the same.
"""

import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest

import ragnb
from benchmarks.frames import SYSTEMS, answered, conditions, with_all_columns
from benchmarks.timing import ours, task
from ragnb.datasets.simulated import simulate_labelled
from ragnb.figures import plot_differences, plot_noise_curve, save_figure
from ragnb.scoring.mixed import mixed_model

N = 10_000
LANGUAGES = ["en", "zh", "de", "fr"]
NOISE_RATES = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
COMPARED = ["rgb.accuracy", "rgb.rejection", "answer.f1", "answer.exact_match"]
JUDGES = {"relevance": "gpt3_context_relevance", "utilization": "gpt35_utilization"}

matplotlib.use("agg")
pytestmark = [ours(), pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def responses() -> pd.DataFrame:
    return with_all_columns(answered(conditions(N // 20, system=SYSTEMS, language=LANGUAGES)))


@pytest.fixture(scope="module")
def scores(responses) -> pd.DataFrame:
    return ragnb.score(responses, list(ragnb.METRICS))


@pytest.fixture(scope="module")
def multilingual(responses) -> pd.DataFrame:
    return ragnb.multilingual_report(responses, baseline=SYSTEMS[0])


@pytest.fixture(scope="module")
def noisy() -> pd.DataFrame:
    """Scores with every column that they can have beside them."""
    return ragnb.score(
        with_all_columns(answered(conditions(300, system=SYSTEMS[:4], noise_rate=NOISE_RATES))),
        COMPARED,
    )


@pytest.fixture(scope="module")
def comparisons(noisy) -> pd.DataFrame:
    found = ragnb.compare(noisy)
    assert len(found) == 144
    return found


@pytest.fixture(scope="module")
def judged() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    systems = dict(zip(SYSTEMS[:4], [0.4, 0.5, 0.6, 0.7], strict=True))
    frame = simulate_labelled(N // 8, systems=systems, languages=["en", "zh"], rng=rng)
    said = {
        name: np.where(rng.random(N) < right, frame["label"], 1.0 - frame["label"])
        for name, right in (("a", 0.8), ("b", 0.9))
    }
    return frame.assign(response=["word " * size for size in rng.integers(1, 60, N)], **said)


class TestScoring:
    @task("`score` under all metrics", N)
    def test_score(self, few, responses, scores) -> None:  # the fixture has warmed it up
        few(ragnb.score, responses, list(ragnb.METRICS), warm=False)

    @task("`score` under all metrics, `explain=True`", N)
    def test_explain(self, few, responses) -> None:
        few(ragnb.score, responses, list(ragnb.METRICS), explain=True, rounds=1, warm=False)

    @task("`summarize` what all metrics say", N)
    def test_summarize(self, few, scores) -> None:
        few(ragnb.summarize, scores)

    @task("`definitions()` as a frame")
    @pytest.mark.parametrize("n", [len(ragnb.METRICS)])
    def test_definitions(self, few, n) -> None:
        few(lambda: ragnb.definitions().frame)


class TestComparing:
    @task("`compare`, 144 comparisons", 7200)
    def test_compare(self, few, noisy) -> None:
        few(ragnb.compare, noisy)

    @task("`compare`, noise rates pooled, 24 comparisons", 7200)
    def test_pooled(self, few, noisy) -> None:
        few(ragnb.compare, noisy, by=[])

    @task("`to_latex` of summaries", 7200)
    def test_latex(self, few, noisy) -> None:
        summaries = ragnb.summarize(noisy)
        few(ragnb.to_latex, summaries)


class TestReports:
    @task("`multilingual_report`", N)
    def test_multilingual(self, few, responses) -> None:
        few(ragnb.multilingual_report, responses, baseline=SYSTEMS[0])

    @task("`mixed_model` of a multilingual report", N)
    def test_mixed_model(self, few, multilingual) -> None:
        options = {"metric": "answer.f1", "baseline": SYSTEMS[0]}
        few(mixed_model, multilingual.scores, **options, rounds=1, warm=False)

    @task("`rgb_report`", N)
    def test_rgb(self, few) -> None:
        asked = conditions(N // 25, system=SYSTEMS, noise_rate=NOISE_RATES[:5])
        few(ragnb.rgb_report, answered(asked).assign(task="noise", passage_num=5))

    @task("`judge_report` of two judges", N)
    def test_judges(self, few, judged) -> None:
        few(ragnb.judge_report, judged, judge=["a", "b"], annotators=["label"])

    @task("`trace_report` of one judge", N)
    def test_trace(self, few) -> None:
        rng = np.random.default_rng(0)
        names = [
            *JUDGES.values(),
            "gpt3_adherence",
            *(f"{name}_score" for name in (*JUDGES, "completeness")),
        ]
        records = pd.DataFrame(rng.random((N, len(names))), columns=names).assign(
            adherence_score=rng.random(N) < 0.7
        )
        few(ragnb.trace_report, records, {"gpt-3.5": {"adherence": "gpt3_adherence", **JUDGES}})


@task("`MetricEnsemble`, split, trained and calibrated", N)
def test_ensemble(few, judged) -> None:
    def fitted() -> ragnb.MetricEnsemble:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X = judged[["overlap", "similarity", "question_length", "question_id"]]  # noqa: N806
            split = ragnb.DataSplit(X, judged["label"], groups="question_id", random_state=0)
            return ragnb.MetricEnsemble(split.train, split.calibration, alpha=0.1, random_state=0)

    few(fitted)


class TestFilesAndPictures:
    @task("`load_responses` of JSON Lines", N)
    def test_load_responses(self, few, responses, tmp_path) -> None:
        path = tmp_path / "responses.jsonl"
        kept = responses[["example_id", "system", "language", "response", "references"]].assign(
            question="Which?"
        )
        kept.to_json(path, orient="records", lines=True, force_ascii=False)
        few(ragnb.load_responses, path)

    @task("scores written to Parquet and read again", N)
    def test_parquet(self, few, scores, tmp_path) -> None:
        path = tmp_path / "scores.parquet"
        few(lambda: (ragnb.write_table(scores, path), ragnb.read_table(path)))

    @task("`view` of responses", N)
    def test_view(self, few, responses) -> None:
        few(ragnb.view, responses)

    @task("`plot_noise_curve`, saved as PDF, SVG and PNG", 7200)
    def test_curve(self, few, noisy, tmp_path) -> None:
        accuracy = ragnb.summarize(noisy[noisy["metric"] == "rgb.accuracy"])
        few(
            lambda: save_figure(
                plot_noise_curve(accuracy).figure, "curve", accuracy, folder=tmp_path
            )
        )

    @task("`plot_differences` of 36 comparisons", 7200)
    def test_differences(self, few, comparisons) -> None:
        few(plot_differences, comparisons[comparisons["metric"] == "answer.f1"])
