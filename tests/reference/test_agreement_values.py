"""Published values of agreement coefficients, corrections and sample sizes, each with its source beside it."""

import numpy as np
import pytest

from ragnb.stats import adjust, agreement_interval

_ = np.nan
# Krippendorff 2011, Computing Krippendorff's alpha-reliability, example C: 4 observers x 12 units; the same data are
# irrCAC's raw_4raters (Gwet)
EXAMPLE_C = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
).T
# Wikipedia, "Krippendorff's alpha": 3 coders x 15 units
WIKIPEDIA_ALPHA = np.array(
    [
        [_, _, _, _, _, 3, 4, 1, 2, 1, 1, 3, 3, _, 3],
        [1, _, 2, 1, 3, 3, 4, 3, _, _, _, _, _, _, _],
        [_, _, 2, 1, 3, 4, 4, _, 2, 1, 1, 3, 3, _, 4],
    ]
).T
# Wikipedia, "Fleiss' kappa": 14 raters, 10 subjects, 5 categories
WIKIPEDIA_FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip
# Fleiss 1971, table 1: 30 patients, 6 psychiatrists, 5 diagnoses (statsmodels table_fleiss... and R irr::diagnoses)
FLEISS_1971 = [
    [0, 0, 0, 6, 0], [0, 3, 0, 0, 3], [0, 1, 4, 0, 1], [0, 0, 0, 0, 6], [0, 3, 0, 3, 0], [2, 0, 4, 0, 0],
    [0, 0, 4, 0, 2], [2, 0, 3, 1, 0], [2, 0, 0, 4, 0], [0, 0, 0, 0, 6], [1, 0, 0, 5, 0], [1, 1, 0, 4, 0],
    [0, 3, 3, 0, 0], [1, 0, 0, 5, 0], [0, 2, 0, 3, 1], [0, 0, 5, 0, 1], [3, 0, 0, 1, 2], [5, 1, 0, 0, 0],
    [0, 2, 0, 4, 0], [1, 0, 2, 0, 3], [0, 0, 0, 0, 6], [0, 1, 0, 5, 0], [0, 2, 0, 1, 3], [2, 0, 0, 4, 0],
    [1, 0, 0, 4, 1], [0, 5, 0, 1, 0], [4, 0, 0, 0, 2], [0, 2, 0, 4, 0], [1, 0, 5, 0, 0], [0, 0, 0, 0, 6],
]  # fmt: skip


def _ratings(counts):
    return [np.repeat(np.arange(len(row)), row).tolist() for row in counts]


def _from_table(table):
    pairs = [(i, j) for (i, j), count in np.ndenumerate(np.array(table)) for _k in range(count)]
    return np.array(pairs)


@pytest.mark.parametrize(
    ("data", "alpha"),
    # Wikipedia, "Krippendorff's alpha"; Krippendorff 2011, example C
    [(WIKIPEDIA_ALPHA, 0.691), (EXAMPLE_C, 0.743)],
)
def test_krippendorff_alpha(data, alpha: float) -> None:
    assert agreement_interval("Krippendorff's alpha", data).estimate == pytest.approx(
        alpha, abs=5.1e-4
    )


def test_krippendorff_alpha_equals_the_krippendorff_package() -> None:
    krippendorff = pytest.importorskip("krippendorff")
    rng = np.random.default_rng(5)
    data = np.where(rng.random((40, 4)) < 0.2, np.nan, rng.integers(1, 6, (40, 4)) + 0.0)
    theirs = krippendorff.alpha(reliability_data=data.T, level_of_measurement="nominal")
    assert agreement_interval("Krippendorff's alpha", data).estimate == pytest.approx(
        theirs, abs=1e-12
    )


@pytest.mark.parametrize(
    ("name", "value"),
    # irrCAC gwet.ac1.raw, fleiss.kappa.raw and pa.coeff.raw of raw_4raters
    [("Gwet's AC1", 0.77544), ("Fleiss' kappa", 0.76117), ("percent agreement", 0.81818)],
)
def test_coefficients_of_irrcac(name: str, value: float) -> None:
    assert agreement_interval(name, EXAMPLE_C).estimate == pytest.approx(value, abs=5.1e-6)


def test_the_standard_error_of_ac1_is_that_of_irrcac_but_for_the_item_with_one_rating() -> None:
    # irrCAC gwet.ac1.raw of raw_4raters: se .14295, for 12 units. One of them has a single rating. Gwet's variance gives it
    # the agreement 0, as if its raters had differed, so it is too wide with such units; the jackknife is not.
    from scipy.stats import t

    result = agreement_interval("Gwet's AC1", EXAMPLE_C)
    error = (result.estimate - result.low) / t.ppf(0.975, 11)
    assert error < 0.14295
    counts = (EXAMPLE_C[:, :, None] == np.arange(1, 6)).sum(axis=1)
    assert _gwet_error(counts, left_out=0.0) == pytest.approx(0.14295, abs=5.1e-6)
    assert error == pytest.approx(_gwet_error(counts, left_out=np.nan), rel=0.02)


def _gwet_error(counts, left_out: float) -> float:
    """Gwet's linearised standard error of AC1; `left_out` is the agreement of a unit with one rating, nan for the mean."""
    raters, q, n = counts.sum(axis=1), counts.shape[1], len(counts)
    paired = raters >= 2
    agreement = np.full(n, left_out)
    agreement[paired] = (counts * (counts - 1)).sum(axis=1)[paired] / (raters * (raters - 1))[
        paired
    ]
    shares = counts / raters[:, None]
    chance = (shares @ (1 - shares.mean(axis=0))) / (q - 1)
    p_a, p_e = agreement[paired].mean(), chance.mean()
    ac1 = (p_a - p_e) / (1 - p_e)
    own = n / paired.sum() * np.where(paired, agreement - p_e, 0) / (1 - p_e)
    if np.isnan(left_out):
        own = ac1 + n / paired.sum() * np.where(paired, agreement - p_a, 0) / (1 - p_e)
    influence = own - 2 * (1 - ac1) * (chance - p_e) / (1 - p_e)
    return float(np.sqrt(((influence - ac1) ** 2).sum() / (n * (n - 1))))


def test_ac1_and_kappa_of_the_paradox_table() -> None:
    # Gwet 2008: [[118, 5], [2, 0]]: AC1 .940776, kappa -.023392
    ratings = _from_table([[118, 5], [2, 0]])
    assert agreement_interval("Gwet's AC1", ratings).estimate == pytest.approx(0.940776, abs=5.1e-7)
    assert agreement_interval("Cohen's kappa", ratings).estimate == pytest.approx(
        -0.023392, abs=5.1e-7
    )


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [
        (FLEISS_1971, 0.430244),
        (WIKIPEDIA_FLEISS, 0.20993),
    ],  # Fleiss 1971, R irr; Wikipedia, "Fleiss' kappa"
)
def test_fleiss_kappa(counts, kappa: float) -> None:
    assert agreement_interval("Fleiss' kappa", _ratings(counts)).estimate == pytest.approx(
        kappa, abs=5.1e-6
    )


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        ([[20, 5], [10, 15]], 0.4),  # Wikipedia, "Cohen's kappa"
        (
            [[88, 10, 2], [14, 40, 6], [18, 10, 12]],
            0.491525,
        ),  # Fleiss, Cohen & Everitt 1969, table 1
    ],
)
def test_cohen_kappa(table, kappa: float) -> None:
    assert agreement_interval("Cohen's kappa", _from_table(table)).estimate == pytest.approx(
        kappa, abs=5.1e-7
    )


def test_cohen_kappa_equals_statsmodels_and_its_interval_is_near() -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    table = [
        [88, 10, 2],
        [14, 40, 6],
        [18, 10, 12],
    ]  # 200 items; the jackknife uses t and n - 1, statsmodels z and n
    expected = cohens_kappa(np.array(table))
    result = agreement_interval("Cohen's kappa", _from_table(table))
    assert result.estimate == pytest.approx(expected.kappa, abs=1e-12)
    assert (result.high - result.low) / 2 / 1.971957 == pytest.approx(expected.std_kappa, rel=0.01)


# Benjamini & Hochberg 1995, section 3.2: 15 p-values
BH_1995 = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324,
    0.4262, 0.5719, 0.6528, 0.759, 1,
]  # fmt: skip


@pytest.mark.parametrize(
    ("correction", "rejected"), [("benjamini-hochberg", 4), ("bonferroni", 3), ("holm", 3)]
)
def test_corrections_of_benjamini_and_hochberg(correction: str, rejected: int) -> None:
    assert sum(p <= 0.05 for p in adjust(BH_1995, correction)) == rejected


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("holm", "holm"), ("bonferroni", "bonferroni"), ("benjamini-hochberg", "fdr_bh")],
)
def test_corrections_equal_statsmodels(ours: str, theirs: str) -> None:
    from statsmodels.stats.multitest import multipletests

    assert adjust(BH_1995, ours) == pytest.approx(
        multipletests(BH_1995, method=theirs)[1], abs=1e-15
    )
