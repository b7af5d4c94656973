"""How many items to label twice: the formula by hand, what the planned number then gives, edges."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ragnb
from ragnb.annotation import double_labels_needed
from ragnb.errors import InputError


def pilot(low, high, n_units=20, n=40, mean=0.5, level=0.95):
    row = {"field": "grade", "pair": "a - b", "metric": "quadratic kappa", "mean": mean}
    row |= {"low": low, "high": high, "confidence_level": level, "n_units": n_units, "n": n}
    return pd.DataFrame([row])


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("wanted", [0.05, 0.1, 0.2])
def test_number_of_units_by_trying_them_all(level, wanted):
    plan = double_labels_needed(pilot(0.3, 0.65, level=level), wanted).iloc[0]
    t = stats.t.ppf((1 + level) / 2, np.arange(1, 5000))
    units = np.arange(2, 5001)
    spread = 0.2 * math.sqrt(20) / stats.t.ppf((1 + level) / 2, 19)
    assert plan["half_width"] == pytest.approx(0.2)
    assert plan["units_needed"] == units[t * spread / np.sqrt(units) <= wanted][0]
    assert plan["items_needed"] == 2 * plan["units_needed"]


FIELDS = ["faithfulness", "appropriateness", "completeness", "naturalness"]


def graded(rng, n):
    """Grades from 1 to 4 of two people, who see the same quality with errors of their own."""
    quality = rng.normal(size=n)
    cuts = [-1, 0, 1]
    rows = []
    for person in "ab":
        grades = 1 + np.digitize(quality + 0.7 * rng.normal(size=n), cuts)
        frame = pd.DataFrame({"item": [f"i{k}" for k in range(n)], "annotator": person})
        rows.append(frame.assign(task="grades", **dict.fromkeys(FIELDS, grades)))
    return pd.concat(rows)


def kappa(frame):
    rows = ragnb.agreement(frame)
    return rows[(rows["metric"] == "quadratic kappa") & (rows["field"] == "faithfulness")]


def test_the_planned_number_gives_the_wanted_half_width():
    """Mean of pilots and of studies, because a single pilot of 60 items is uncertain."""
    rng = np.random.default_rng(2)
    needed = [
        double_labels_needed(kappa(graded(rng, 60)), 0.1)["items_needed"].item() for _ in range(40)
    ]
    planned = round(np.mean(needed))
    widths = []
    for _ in range(10):
        row = kappa(graded(rng, planned)).iloc[0]
        widths.append((row["high"] - row["low"]) / 2)
    # The standard error of the mean over 40 pilots is about 4 % of the half-width.
    assert np.mean(widths) == pytest.approx(0.1, rel=0.12)


def test_without_an_interval_there_is_no_plan():
    plan = double_labels_needed(pilot(math.nan, math.nan))
    assert plan[["units_needed", "items_needed"]].isna().all(axis=None)
    assert double_labels_needed(pilot(0.2, 0.8), 1e-5)["units_needed"].isna().all()
    assert double_labels_needed(pilot(0.3, 0.7).iloc[:0]).empty


def test_errors_name_what_is_wrong():
    with pytest.raises(InputError, match="half_width must be at most 1, got 2"):
        double_labels_needed(pilot(0.3, 0.7), 2)
    with pytest.raises(InputError, match="needs the column"):
        double_labels_needed(pilot(0.3, 0.7).drop(columns="n_units"))
