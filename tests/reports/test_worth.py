"""Worth of a judge in labels: correlations by numpy, limits by a jackknife by hand, groups, edges, the figure."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.drawn import small_print

import ragnb
from ragnb.errors import InputError
from ragnb.reports import judge_worth


@pytest.fixture
def frame():
    rng = np.random.default_rng(5)
    person = rng.integers(0, 2, 90)
    rule = np.where(rng.random(90) < 0.75, person, 1 - person)
    return pd.DataFrame(
        {
            "system": ["a", "b", "c"] * 30,
            "example_id": np.repeat([f"q{k}" for k in range(30)], 3),
            "person": person,
            "rule": rule,
            "score": 0.5 * person + rng.random(90),
        }
    )


def jackknife(first, second, units):
    """Limits of r by leaving out one unit at a time, on the scale of arctanh."""
    names = np.unique(units)
    z = np.array(
        [np.arctanh(np.corrcoef(first[units != u], second[units != u])[0, 1]) for u in names]
    )
    n = len(names)
    error = np.sqrt((n - 1) / n * ((z - z.mean()) ** 2).sum())
    centre = np.arctanh(np.corrcoef(first, second)[0, 1])
    half = stats.t.ppf(0.975, n - 1) * error
    return np.tanh([centre - half, centre + half])


def test_worth_of_each_system_and_judge_by_hand(frame):
    table = judge_worth(frame, judge=["rule", "score"], label="person", by="system")
    assert table[["system", "judge"]].to_numpy().tolist() == [
        [s, j] for s in "abc" for j in ("rule", "score")
    ]
    for row in table.to_dict("records"):
        some = frame[frame["system"] == row["system"]]
        r = np.corrcoef(some["person"], some[row["judge"]])[0, 1]
        low, high = jackknife(
            some["person"].to_numpy(), some[row["judge"]].to_numpy(), some["example_id"].to_numpy()
        )
        assert row["correlation"] == pytest.approx(r)
        assert (row["correlation_low"], row["correlation_high"]) == pytest.approx((low, high))
        assert row["worth"] == pytest.approx(100 / (1 - r**2))
        least = 0 if low < 0 else low
        assert (row["low"], row["high"]) == pytest.approx(
            (100 / (1 - least**2), 100 / (1 - high**2))
        )
        assert (row["n"], row["n_units"], row["n_labels"]) == (30, 30, 100)


def test_all_systems_together_are_clustered_by_question(frame):
    row = judge_worth(frame, judge="rule", label="person", n_labels=50).iloc[0]
    low, high = jackknife(*(frame[name].to_numpy() for name in ("person", "rule", "example_id")))
    assert (row["correlation_low"], row["correlation_high"]) == pytest.approx((low, high))
    assert (row["n"], row["n_units"], row["n_labels"]) == (90, 30, 50)
    assert row["worth"] == pytest.approx(50 / (1 - row["correlation"] ** 2))


def test_the_worth_is_what_ppi_reaches_with_many_verdicts(frame):
    """The half-widths of n labels with the judge and of the worth alone are equal if verdicts abound."""
    from ragnb.stats import expected_half_width

    labels, scores = frame["person"] + frame["score"] / 10, frame["score"]
    worth = judge_worth(
        frame.assign(label=labels), judge="score", label="label", n_labels=400, clusters=None
    )["worth"].item()
    many = 10**7
    plan = expected_half_width(labels, scores, many, 400)
    alone = expected_half_width(labels, scores, many, round(worth))
    # Rounding, and the degrees of freedom, change the half-width by less than a per cent.
    assert plan.half_width == pytest.approx(alone.half_width_alone, rel=0.01)


def test_a_pooled_correlation_contains_the_differences_between_systems():
    rng = np.random.default_rng(1)
    system = np.repeat(["bad", "good"], 500)
    person = rng.random(1000) < np.where(system == "good", 0.9, 0.1)
    score = np.where(system == "good", 1.0, 0.0) + rng.random(1000)
    frame = pd.DataFrame({"system": system, "person": person, "score": score})
    options = {"judge": "score", "label": "person", "clusters": None}
    assert judge_worth(frame, **options)["worth"].item() > 150
    assert judge_worth(frame, by="system", **options)["worth"].max() < 105


def test_words_and_missing_values(frame):
    frame["person"] = frame["person"].map({1: "correct", 0: "incorrect"}).astype(object)
    frame.loc[:4, "person"] = None
    frame.loc[80:, "rule"] = math.nan
    row = judge_worth(frame, judge="rule", label="person").iloc[0]
    assert row["n"] == 75
    assert row["n_units"] == 26  # Two questions lost all responses, and two some.


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judge": "nobody"}, "needs the column"),
        ({"judge": "system"}, "needs numbers in system"),
        ({"judge": "person"}, "must be different columns"),
    ],
)
def test_errors_name_what_is_wrong(frame, change, message):
    with pytest.raises(InputError, match=message):
        judge_worth(frame, **({"judge": "rule", "label": "person"} | change))


def test_the_figure_names_the_worth(frame):
    table = judge_worth(frame, judge=["rule", "score"], label="person", by="system")
    ax = ragnb.plot(table, rows="system", series="judge", reference={"100 labels": 100})
    assert ax.get_xlabel() == "worth of 100 labels with the judge"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]


@pytest.mark.parametrize("clusters", ["example_id", None])
def test_a_system_without_labels_keeps_its_row(frame, clusters):
    unlabelled = frame.assign(person=frame["person"].where(frame["system"] != "b"))
    options = {"judge": "rule", "label": "person", "by": "system", "clusters": clusters}
    table = judge_worth(unlabelled, **options).set_index("system")
    assert table.loc["b", ["n", "n_units"]].tolist() == [0, 0]
    assert math.isnan(table.loc["b", "worth"])
    assert table.loc["b", "problem"] == "at least 2 values are needed, got 0"
    others = judge_worth(frame, **options).set_index("system")
    assert table.loc["a", "worth"] == others.loc["a", "worth"]


def test_the_figure_names_the_interval_of_the_worth_and_not_that_of_the_correlation(frame):
    table = judge_worth(frame, judge=["rule", "score"], label="person", by="system")
    assert small_print(ragnb.plot(table)).startswith("95 % jackknife t intervals, n = 30")
    assert table["interval"].str.startswith("Pearson, ").all()
