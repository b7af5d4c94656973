import pandas as pd
import pytest

from ragnb.datasets import PUBLISHED, published


@pytest.fixture(scope="module")
def noise():
    return published("rgb.noise_robustness")


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


def test_error_correction_is_a_share_of_what_a_judge_saw_detected():
    rows = published("rgb.counterfactual_robustness").query("metric == 'error_correction'")
    assert rows[["count", "n"]].values.tolist() == [[1, 3], [1, 4], [4, 7]]
    assert rows["printed"].tolist() == [33.33, 25.0, 57.14]
    assert (rows["high"] - rows["low"]).min() > 0.5  # one of three means nothing


def test_chatgpt_in_english_has_the_numbers_of_the_paper(noise):
    rows = noise[(noise["system"] == "ChatGPT") & (noise["language"] == "en")]
    printed = rows.set_index("noise_rate")["printed"].to_dict()
    assert printed == {0.0: 96.33, 0.2: 94.67, 0.4: 94.00, 0.6: 90.00, 0.8: 76.00}


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_every_published_table_loads_with_its_source(name):
    frame = published(name)
    unsaid = ["n"] if name == "lbrag.overview" else []
    assert frame.columns[frame.isna().any()].tolist() == unsaid
    origins = ("arXiv", "kanoes/LBRAG-NEW", "continuous-eval")
    assert any(known in frame.attrs["source"] for known in origins)


def test_the_gain_of_a_judge_is_bounded_by_all_tables_that_its_totals_allow():
    """Counts of the printed confusion matrices: [[42, 10], [31, 152]] and [[43, 9], [24, 159]].

    The tests of the notebooks recompute the bounds.
    """
    rows = published("continuous_eval.ensemble")
    counts = rows.set_index(["system", "metric"])["count"].to_dict()
    assert counts["ensemble", "accuracy"] == 42 + 152
    assert counts["ensemble and judge", "accuracy"] == 43 + 159
    assert counts["ensemble", "precision"] == counts["ensemble", "recall"] == 152
    assert counts["ensemble", "abstained"] == 37
    assert rows["exact"].all()
    for words in ("8 more", "8 and 0", "22 and 14", "0.004", "0.188"):
        assert words in rows.attrs["note"]


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_every_number_is_that_of_the_transcription(name, data_folder):
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
    known = sorted(wide[numbers].stack().dropna())
    assert sorted(published(name)["printed"]) == pytest.approx(known)
