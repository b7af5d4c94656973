import pandas as pd
import pytest

from ragnb.datasets.published import PUBLISHED, load_published
from ragnb.errors import InputError


@pytest.fixture(scope="module")
def noise():
    return load_published("rgb_noise_robustness")


def test_the_noise_table_has_six_models_two_languages_and_five_rates(noise):
    assert len(noise) == 60
    assert noise["model"].nunique() == 6
    cells = noise.groupby(["model", "language"])["noise_rate"].apply(sorted).tolist()
    assert cells == [[0, 0.2, 0.4, 0.6, 0.8]] * 12
    assert set(noise["language"]) == {"en", "zh"}
    assert set(noise["n"]) == {300}


def test_every_published_accuracy_but_one_is_a_count_out_of_300(noise):
    percent = noise["accuracy_percent"]
    nearest = (percent * 3).round() / 3
    odd = noise[(percent - nearest).abs() > 0.005 + 1e-9]
    assert odd[["language", "accuracy_percent"]].values.tolist() == [["zh", 67.68]]


def test_accuracies_are_per_cent_and_fall_from_no_noise_to_most(noise):
    assert noise["accuracy_percent"].between(0, 100).all()
    wide = noise.pivot_table(index=["model", "language"], columns="noise_rate", values="accuracy_percent")
    assert (wide[0.8] < wide[0]).all()


@pytest.mark.parametrize("rate_and_percent", [(0.0, 96.33), (0.2, 94.67), (0.4, 94.00), (0.6, 90.00), (0.8, 76.00)])
def test_chatgpt_in_english_has_the_numbers_of_the_paper(noise, rate_and_percent):
    rate, percent = rate_and_percent
    row = noise[(noise["model"] == "ChatGPT") & (noise["language"] == "en") & (noise["noise_rate"] == rate)]
    assert row["accuracy_percent"].tolist() == [percent]


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_every_published_table_loads_with_its_source(name):
    frame = load_published(name)
    assert isinstance(frame, pd.DataFrame)
    assert not frame.isna().any().any()
    assert "arXiv" in frame.attrs["source"]


def test_an_unknown_table_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"rgb_noise_robustness.*'rgb_noise'"):
        load_published("rgb_noise")
