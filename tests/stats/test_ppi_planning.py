"""How many labels to buy: against a search by hand, against what the bought labels then give, edges."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import t as student

import ragnb
from ragnb.errors import InputError
from ragnb.stats import expected_half_width, expected_half_widths, labels_needed, ppi_mean

LABELS = [0.1, 0.4, 0.5, 0.9, 1.0, 0.3]
JUDGED = [0.2, 0.3, 0.5, 0.8, 0.9, 0.5]


def test_number_of_labels_by_trying_them_all() -> None:
    """The half-width written out: t s sqrt((1 - r^2 N / J) / n), where lambda = r s / s' N / J is at most 1."""
    s, r = np.std(LABELS, ddof=1), np.corrcoef(LABELS, JUDGED)[0, 1]
    assert (
        r * s / np.std(JUDGED, ddof=1) * 1970 / 2000 > 1
    )  # here lambda is clipped; so a judge of twice the spread
    judged = 2 * np.array(JUDGED)

    def half(n: int) -> float:
        return student.ppf(0.975, n - 2) * s * sqrt((1 - r * r * (2000 - n) / 2000) / n)

    plan = labels_needed(LABELS, judged, 2000, 0.05)
    assert plan.n_labels == next(n for n in range(3, 2000) if half(n) <= 0.05)
    assert plan.half_width == pytest.approx(half(plan.n_labels))
    alone = next(n for n in range(2, 2000) if student.ppf(0.975, n - 1) * s / sqrt(n) <= 0.05)
    assert plan.n_labels_alone == alone
    back = expected_half_width(LABELS, judged, 2000, int(plan.n_labels))
    assert back.half_width == pytest.approx(plan.half_width)
    assert plan.correlation == pytest.approx(r)


@pytest.mark.parametrize("rates", [False, True])
def test_what_is_planned_is_what_the_labels_then_give(rates: bool) -> None:
    """A large pilot; then as many labels as planned, 40 times over."""
    rng = np.random.default_rng(7)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        truth = rng.random(n)
        judged = np.clip(truth + rng.normal(0.1, 0.3, n), 0, 1)
        return (truth > 0.3) * 1.0 if rates else truth, judged

    plan = labels_needed(*draw(20_000), 3000, 0.04)
    n = int(plan.n_labels)
    halves = []
    for _ in range(40):
        truth, judged = draw(3000)
        result = ppi_mean(truth[:n], judged[:n], judged[n:])
        halves.append((result.high - result.low) / 2)
    assert np.mean(halves) == pytest.approx(0.04, rel=0.02)
    assert n < plan.n_labels_alone


def test_more_labels_than_items_are_undefined() -> None:
    beyond = labels_needed(LABELS, JUDGED, 20, 0.01)
    assert np.isnan([beyond.n_labels, beyond.half_width]).all()
    assert str(beyond).startswith("nan labels and 20 verdicts: +-nan; ")
    assert beyond.half_width_alone <= 0.01


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match=r"pilot_labels must differ, got only 1"):
        labels_needed([1, 1, 1], [1, 0, 1], 2000, 0.1)
    with pytest.raises(InputError, match=r"pilot_labels must differ, got only 1"):
        labels_needed([1], [1], 2000, 0.1)
    with pytest.raises(InputError, match=r"pilot_labels must differ, got none"):
        expected_half_width([], [], 2000, 100)
    with pytest.raises(InputError, match=r"n_labels must be from 3 to n_judged \(40\), got 50"):
        expected_half_width(LABELS, JUDGED, 40, 50)


def test_half_widths_for_several_numbers_of_labels_by_hand() -> None:
    """One row with the judge and one for the labels alone, from the formula of a mean."""
    judged = 2 * np.array(JUDGED)  # so that lambda is not clipped
    s, r = np.std(LABELS, ddof=1), np.corrcoef(LABELS, judged)[0, 1]
    sizes = np.array([50, 200, 800])
    table = expected_half_widths(LABELS, judged, 2000, sizes).pivot(
        index="n_labels", columns="labels", values="half_width"
    )
    alone = student.ppf(0.975, sizes - 1) * s / np.sqrt(sizes)
    shrunk = np.sqrt((1 - r * r * (2000 - sizes) / 2000) / sizes)
    assert table.index.tolist() == sizes.tolist()
    assert table["labels alone"].to_numpy() == pytest.approx(alone)
    assert table["with the judge"].to_numpy() == pytest.approx(
        student.ppf(0.975, sizes - 2) * s * shrunk
    )


def test_half_widths_are_drawn_with_a_name_for_each_line() -> None:
    widths = expected_half_widths(LABELS, JUDGED, 2000, range(50, 500, 50))
    ax = ragnb.plot(widths, reference={"wanted": 0.03})
    assert {text.get_text() for text in ax.texts} >= {"with the judge", "labels alone", "wanted"}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of labels", "half-width of the interval")
