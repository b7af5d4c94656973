import pytest
from statsmodels.stats.proportion import proportion_confint

from ragnb.datasets.published import PUBLISHED, published
from ragnb.errors import InputError
from ragnb.scoring import METRICS


@pytest.fixture(scope="module")
def noise():
    return published("rgb.noise_robustness")


def test_the_noise_table_has_six_models_two_languages_and_five_rates(noise):
    assert len(noise) == 60
    assert noise["system"].nunique() == 6
    cells = noise.groupby(["system", "language"])["noise_rate"].apply(sorted).tolist()
    assert cells == [[0, 0.2, 0.4, 0.6, 0.8]] * 12
    assert set(noise["n"]) == {300}


def test_counts_are_recovered_and_the_two_cells_that_cannot_be_counts_are_flagged(noise):
    odd = noise[~noise["exact"]]
    assert odd[["system", "language", "noise_rate", "printed", "count"]].values.tolist() == [
        ["BELLE-7B-2M", "zh", 0.8, 67.68, 203]
    ]
    rejection = published("rgb.negative_rejection")
    odd = rejection[~rejection["exact"]]
    assert odd[["system", "language", "metric", "printed", "count"]].values.tolist() == [
        ["Vicuna-7B-v1.3", "zh", "rejection", 3.37, 10]
    ]
    for name in ("rgb.information_integration", "rgb.counterfactual_robustness"):
        assert published(name)["exact"].all()


def test_means_are_counts_over_n_with_wilson_intervals(noise):
    row = noise.query("system == 'ChatGPT' and language == 'en' and noise_rate == 0").iloc[0]
    assert (row["count"], row["n"]) == (289, 300)
    assert (row["low"], row["high"]) == pytest.approx(proportion_confint(289, 300, method="wilson"))
    narrow = published("rgb.noise_robustness", confidence_level=0.5)
    assert (narrow["high"] - narrow["low"] < noise["high"] - noise["low"]).all()


def test_error_correction_is_a_share_of_what_a_judge_saw_detected():
    rows = published("rgb.counterfactual_robustness").query("metric == 'error_correction'")
    assert rows[["count", "n"]].values.tolist() == [[1, 3], [1, 4], [4, 7]]
    assert rows["printed"].tolist() == [33.33, 25.0, 57.14]
    assert (rows["high"] - rows["low"]).min() > 0.5  # one of three means nothing


@pytest.mark.parametrize(
    "rate_and_percent", [(0.0, 96.33), (0.2, 94.67), (0.4, 94.00), (0.6, 90.00), (0.8, 76.00)]
)
def test_chatgpt_in_english_has_the_numbers_of_the_paper(noise, rate_and_percent):
    rate, percent = rate_and_percent
    row = noise[
        (noise["system"] == "ChatGPT") & (noise["language"] == "en") & (noise["noise_rate"] == rate)
    ]
    assert row["printed"].tolist() == [percent]


def test_ragbench_prints_no_utilization_for_two_judges_and_no_interval_can_be_made():
    table = published("ragbench.table3")
    assert table["subset"].nunique() == 12
    assert table.groupby(["system", "metric"]).size().min() == 12
    assert set(table.query("metric == 'utilization_rmse'")["system"]) == {"gpt-3.5", "deberta"}
    assert "low" not in table
    value = table.query(
        "subset == 'hotpotqa' and system == 'deberta' and metric == 'hallucination_auroc'"
    )
    assert value["printed"].tolist() == [0.85]


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_every_published_table_loads_with_its_source(name):
    frame = published(name)
    unsaid = ["n"] if name == "lbrag.overview" else []
    assert frame.columns[frame.isna().any()].tolist() == unsaid
    assert any(known in frame.attrs["source"] for known in ("arXiv", "kanoes/LBRAG-NEW"))


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_every_number_is_that_of_the_transcription(name, data_folder):
    import pandas as pd

    file = {"lbrag.overview": "lbrag_overview_example"}.get(name, name.replace(".", "_"))
    path = data_folder.parent / "published" / f"{file}.csv"
    if not path.is_file():
        pytest.skip("the transcriptions do not stand beside the data")
    wide = pd.read_csv(path)
    numbers = [column for column in wide if column.endswith(("_percent", "_auroc", "_rmse"))]
    if name == "lbrag.overview":
        numbers = [column for column in wide if f"{column}_std" in wide]
        deviations = wide[[f"{column}_std" for column in numbers]]
        assert published(name)["std"].tolist() == deviations.to_numpy().ravel().tolist()
    assert sorted(published(name)["printed"]) == pytest.approx(
        sorted(wide[numbers].stack().dropna())
    )


def test_the_overview_prints_six_metrics_of_four_systems_and_their_deviations():
    table = published("lbrag.overview")
    assert table.columns.tolist() == ["system", "metric", "printed", "std", "n"]
    assert table["system"].drop_duplicates().tolist() == ["direct", "multi", "cross", "lbrag"]
    assert table.groupby("system").size().unique().tolist() == [6]
    printed = table.pivot_table(index="system", columns="metric", values="printed")
    assert printed.loc["lbrag"].to_dict() == {
        "answer.exact_match": 0.0, "answer.f1": 0.289, "language.rlc": 0.759, "cost.translation_tokens": 29.8,
        "cost.cnbe": 0.00237, "semantic.judged_similarity": 0.7,
    }  # fmt: skip
    cross = table.query("system == 'cross' and metric == 'cost.cnbe'").iloc[0]
    assert (cross["printed"], cross["std"]) == (0.00017, 0.00087)


def test_the_overview_does_not_say_how_many_questions_and_nothing_is_derived():
    table = published("lbrag.overview")
    assert table["n"].isna().all()
    row = table.query("system == 'direct' and metric == 'answer.exact_match'").iloc[0]
    deviation = {n: (row["printed"] * (1 - row["printed"]) * n / (n - 1)) ** 0.5 for n in (10, 100)}
    assert row["std"] == round(deviation[100], 3) == 0.302
    assert round(deviation[10], 3) == 0.316  # though the document's other example says n = 10


def test_metrics_of_the_overview_are_named_as_they_are_scored():
    scored_elsewhere = {"cost.cnbe", "semantic.judged_similarity"}  # a comparison, and a judge's
    assert set(published("lbrag.overview")["metric"]) - scored_elsewhere <= set(METRICS)


def test_an_unknown_table_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"rgb.noise_robustness.*'rgb.noise'"):
        published("rgb.noise")
