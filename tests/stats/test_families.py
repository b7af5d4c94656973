"""Corrections, simultaneous intervals and power: invariants, edges, bad input."""

import gc

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from ragnb.errors import InputError
from ragnb.stats import CORRECTIONS, MCNEMAR_METHODS, adjust, mcnemar_mde, mcnemar_power, t_mde
from ragnb.stats.multiplicity import adjusted_columns


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_nan_is_listed_and_spoils_nothing(correction) -> None:
    found, alone = adjust([0.01, np.nan, 0.2, np.nan], correction), adjust([0.01, 0.2], correction)
    assert found == pytest.approx([alone[0], np.nan, alone[1], np.nan], nan_ok=True)
    assert adjusted_columns([np.nan], correction)["family_size"].tolist() == [0]


@pytest.mark.parametrize(
    ("correction", "by_hand"),
    [
        ("holm", [0.09, 0.05, 0.08, 0.09, 0.09]),
        ("benjamini-hochberg", [0.05] * 5),
        ("bonferroni", [0.15, 0.05, 0.1, 0.2, 0.25]),
    ],
)
def test_corrected_values_are_those_computed_by_hand(correction, by_hand) -> None:
    assert adjust([0.03, 0.01, 0.02, 0.04, 0.05], correction) == pytest.approx(by_hand)
    assert adjust([0.4, 1.0], "bonferroni") == pytest.approx([0.8, 1.0])
    assert adjust([0.0, 0.5], correction)[0] == 0.0


@pytest.mark.parametrize(("correction", "name"), CORRECTIONS.items())
def test_corrected_values_are_those_of_statsmodels(correction, name, monkeypatch) -> None:
    # Holm's correction of statsmodels collects the garbage of all tests before, seconds each time.
    monkeypatch.setattr(gc, "collect", lambda *_: 0)
    rng = np.random.default_rng(1)
    for size in (1, 2, 3, 10, 200):
        for decimals in (1, 3, 17):  # with and without ties, zeros and ones
            p = np.round(rng.random(size) ** 3, decimals)
            assert adjust(p, correction).tolist() == multipletests(p, method=name)[1].tolist()


def test_a_comparison_does_not_collect_the_garbage_of_the_session(monkeypatch) -> None:
    """Holm's correction of statsmodels does, which takes seconds in a session with much data."""
    monkeypatch.setattr(gc, "collect", lambda *_: pytest.fail("collects garbage"))
    assert adjust([0.01, 0.04]).tolist() == [0.02, 0.04]


def test_z_or_t_is_not_taken_for_p() -> None:
    message = r"p_values must be p-values between 0 and 1, got 2\.5"
    with pytest.raises(InputError, match=message):
        adjust([0.1, 2.5])


def test_the_columns_beside_p_values_hold_each_family_by_itself() -> None:
    p, families = [0.01, 0.5, np.nan, 0.03, 0.2], ["b", "a", "b", "b", "a"]
    columns = adjusted_columns(p, "benjamini-hochberg", families)
    assert list(columns) == ["p_adjusted", "correction", "family_size"]
    assert columns["p_adjusted"] == pytest.approx([0.02, 0.5, np.nan, 0.03, 0.4], nan_ok=True)
    assert columns["family_size"].tolist() == [2, 2, 2, 2, 2]
    assert adjusted_columns(p)["p_adjusted"] == pytest.approx(adjust(p), nan_ok=True)
    assert adjusted_columns([])["family_size"].size == 0
    missing = adjusted_columns(p, "bonferroni", ["b", None, "b", "b", None])
    assert missing["p_adjusted"] == pytest.approx([0.02, 1, np.nan, 0.06, 0.4], nan_ok=True)


def rejects(method: str, b: int, c: int) -> bool:
    """The two-sided McNemar test at 5 % as statsmodels has it; the mid-p is the exact p less the probability of the table."""
    from scipy.stats import binom
    from statsmodels.stats.contingency_tables import mcnemar

    if b + c == 0:
        return False
    exact = method in ("exact", "mid-p")
    p = mcnemar([[0, b], [c, 0]], exact=exact, correction=False).pvalue
    return p - (binom.pmf(b, b + c, 0.5) if method == "mid-p" else 0) <= 0.05


@pytest.mark.parametrize("method", MCNEMAR_METHODS)
def test_mcnemar_power_is_the_probability_of_all_tables_that_statsmodels_rejects(
    method: str,
) -> None:
    from scipy.stats import multinomial

    n, tables = 25, [(b, c) for b in range(26) for c in range(26 - b)]
    rejected = [table for table in tables if rejects(method, *table)]
    for first_only, second_only in ((0.3, 0.05), (0.4, 0.0), (0.1, 0.1), (0.6, 0.4)):
        law = multinomial(n, (first_only, second_only, 1 - first_only - second_only))
        expected = sum(law.pmf((b, c, n - b - c)) for b, c in rejected)
        assert mcnemar_power(n, first_only, second_only, method, 0.95) == pytest.approx(expected)
        assert mcnemar_power(n, second_only, first_only, method, 0.95) == pytest.approx(expected)


def test_few_discordant_items_leave_an_effect_that_can_be_detected() -> None:
    from scipy.stats import binom

    for discordance in (0.0, 2 / 30, 4 / 30):  # the mid-p of 5 : 0 is 1/32, that of 4 : 0 is 1/16
        assert binom.sf(4, 30, mcnemar_mde(30, discordance=discordance)) == pytest.approx(0.8)
    effect = mcnemar_mde(30, discordance=0.3)
    assert 0.2139 < effect < 0.3
    assert np.isnan(mcnemar_mde(4, discordance=1.0))
    assert mcnemar_mde(4, discordance=0.0, method="asymptotic") == pytest.approx(
        0.8**0.25
    )  # 4 : 0 has chi-squared 4
    assert np.isnan(mcnemar_mde(5, discordance=0.0, method="exact"))


@pytest.mark.parametrize("method", ["mid-p", "exact", "asymptotic"])
@pytest.mark.parametrize(
    ("n", "discordance", "level", "power"),
    [
        (30, 4 / 30, 0.95, 0.8),
        (20, 0.0, 0.95, 0.8),
        (300, 0.4, 0.95, 0.8),
        (80, 0.3, 0.99, 0.6),
    ],
)
def test_at_the_minimum_detectable_effect_mcnemar_has_its_power(
    method: str, n: int, discordance: float, level: float, power: float
) -> None:
    options = {"confidence_level": level, "power": power, "method": method}
    effect = mcnemar_mde(n, discordance=discordance, **options)
    share = max(discordance, effect)
    found = mcnemar_power(n, (share + effect) / 2, (share - effect) / 2, method, level)
    assert found == pytest.approx(power, abs=1e-6)


@pytest.mark.parametrize("n", [5, 300])
def test_t_effects_are_those_of_statsmodels(n: int) -> None:
    from statsmodels.stats.power import TTestPower

    # Some versions of its solver find the effect to five digits only, so its power at our effect is compared.
    effect = t_mde(0.4 / np.sqrt(n), df=n - 1)
    assert TTestPower().power(effect / 0.4, nobs=n, alpha=0.05) == pytest.approx(0.8, abs=1e-9)
    normal = (1.959964 + 0.841621) * 0.4 / np.sqrt(n)
    assert 1 < t_mde(0.4 / np.sqrt(n), df=n - 1) / normal < 1 + 2.5 / n


def test_mistakes_in_plans_are_named() -> None:
    assert np.isnan(t_mde(0.0, df=10)), "without spread there is no effect"
    assert t_mde(1.0, df=10, power=0.01) == 0.0, "less power than the level needs no effect"
    assert mcnemar_mde(100, discordance=0.5, method="asymptotic", power=0.01) == 0.0
    assert mcnemar_power(100, 0.0, 0.0, "mid-p", 0.95) == 0.0, "no item is discordant"
    with pytest.raises(InputError, match="must be at most 1, got 0.6 \\+ 0.5"):
        mcnemar_power(100, 0.6, 0.5, "mid-p", 0.95)
    with pytest.raises(InputError, match="confidence_level must be strictly between 0 and 1"):
        mcnemar_power(100, 0.2, 0.1, "mid-p", 95)
