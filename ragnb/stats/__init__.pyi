"""What `ragnb.stats` contains. Written by ``python -m tools.stubs``."""

from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ragnb.arguments import Booleans, Bounds, Floats, Integers
from ragnb.results import Interval, SignificanceResult
from ragnb.stats.agreement import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    ordinal_alpha,
    percent_agreement,
    quadratic_kappa,
)
from ragnb.stats.binary import MCNEMAR_METHODS, PairedTable, tango_interval
from ragnb.stats.clustering import Clustering
from ragnb.stats.confirmation import ConfirmationPlan, confirmation_plan
from ragnb.stats.cost_effectiveness import (
    FiellerSet,
    RatioComparison,
    fieller_interval_from_stats,
    net_benefit_curve,
)
from ragnb.stats.intervals import jackknife_interval, mean_interval_from_stats
from ragnb.stats.multiplicity import CORRECTIONS
from ragnb.stats.paired import EquivalenceResult, paired_differences, t_or_sign_flip_test
from ragnb.stats.power import SizePlan, t_mde, t_size
from ragnb.stats.ppi import LabelPlan, PpiInterval, rogan_gladen_from_counts, youden_index
from ragnb.stats.prediction import expected_calibration_error
from ragnb.stats.published import MeanCheck, check_mean
from ragnb.stats.sampled_labels import inclusion_probabilities, ppi_sampled_mean
from ragnb.stats.several import friedman_test, inseparable_groups, item_ranks

def agreement_interval(
    coefficient: Literal[
        "percent agreement",
        "Cohen's kappa",
        "Fleiss' kappa",
        "Gwet's AC1",
        "Krippendorff's alpha",
        "ordinal alpha",
        "quadratic kappa",
    ],
    ratings: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
) -> Interval: ...
def mcnemar_bounds(
    first: int, second: int, n: int, *, method: Literal["mid-p", "exact", "asymptotic"] = "exact"
) -> tuple[float, float, str]: ...
def mcnemar_p_value(
    b: Any,
    c: Any,
    method: Literal["mid-p", "exact", "asymptotic"],
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
) -> Any: ...
def mcnemar_test(
    table: PairedTable,
    *,
    method: Literal["mid-p", "exact", "asymptotic"] = "mid-p",
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
) -> SignificanceResult: ...
def paired_table(first: ArrayLike, second: ArrayLike) -> PairedTable: ...
def tango_test(
    table: PairedTable,
    *,
    null: float = 0.0,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
) -> SignificanceResult: ...
def intraclass_correlation(values: ArrayLike, clusters: ArrayLike) -> Clustering: ...
def compare_ratios(
    first_numerator: ArrayLike,
    first_denominator: ArrayLike,
    second_numerator: ArrayLike,
    second_denominator: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> RatioComparison: ...
def fieller_interval(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> FiellerSet: ...
def mean_of_ratios(
    gains: ArrayLike,
    costs: ArrayLike,
    *,
    zero: Literal["nan", "zero"] = "nan",
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Interval: ...
def net_benefit(
    gains: ArrayLike,
    costs: ArrayLike,
    prices: Floats,
    *,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> tuple[Interval, ...]: ...
def cohen_d_z(
    first: ArrayLike, second: ArrayLike | None = None, *, confidence_level: float = 0.95
) -> Interval: ...
def discordant_odds_ratio(
    table: PairedTable,
    *,
    confidence_level: float = 0.95,
    method: Literal["mid-p", "exact"] = "mid-p",
) -> Interval: ...
def bca_interval(
    values: ArrayLike, *, bounds: tuple[float, float] | None = None, confidence_level: float = 0.95
) -> Interval: ...
def mean_interval(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
) -> Interval: ...
def rate_interval(
    successes: int,
    n: int,
    *,
    method: Literal["wilson", "clopper-pearson", "jeffreys", "wald"] = "wilson",
    confidence_level: float = 0.95,
) -> Interval: ...
def adjust(
    p_values: ArrayLike, correction: Literal["holm", "benjamini-hochberg", "bonferroni"] = "holm"
) -> Floats: ...
def paired_t_test(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    null: float = 0.0,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
) -> SignificanceResult: ...
def sign_flip_interval(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
) -> Interval: ...
def sign_flip_test(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    null: float = 0.0,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
) -> SignificanceResult: ...
def tost(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    margin: float,
    confidence_level: float = 0.95,
) -> EquivalenceResult: ...
def detectable_effects(
    sizes: Integers,
    discordance: Floats,
    *,
    method: Literal["mid-p", "exact", "asymptotic"] = "mid-p",
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> pd.DataFrame: ...
def mcnemar_mde(
    n: int,
    *,
    discordance: float,
    method: Literal["mid-p", "exact", "asymptotic"] = "mid-p",
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> float: ...
def mcnemar_power(
    n: int,
    first_only: float,
    second_only: float,
    method: Literal["mid-p", "exact", "asymptotic"],
    confidence_level: float,
) -> float: ...
def mcnemar_size(
    effect: float,
    *,
    discordance: float,
    method: Literal["mid-p", "exact", "asymptotic"] = "mid-p",
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> SizePlan: ...
def expected_half_width(
    pilot_labels: ArrayLike,
    pilot_judged: Floats,
    n_judged: int,
    n_labels: int,
    *,
    confidence_level: float = 0.95,
) -> LabelPlan: ...
def expected_half_widths(
    pilot_labels: ArrayLike,
    pilot_judged: Floats,
    n_judged: int,
    sizes: Integers,
    *,
    confidence_level: float = 0.95,
) -> pd.DataFrame: ...
def labels_needed(
    pilot_labels: ArrayLike,
    pilot_judged: Floats,
    n_judged: int,
    half_width: float,
    *,
    confidence_level: float = 0.95,
) -> LabelPlan: ...
def ppi_mean(
    labels: ArrayLike,
    judged: Floats,
    judged_unlabelled: Floats,
    *,
    clusters: ArrayLike | None = None,
    clusters_unlabelled: ArrayLike | None = None,
    lam: float | None = None,
    bounds: Bounds | None = None,
    confidence_level: float = 0.95,
) -> PpiInterval: ...
def rogan_gladen(
    labels: ArrayLike,
    judged: Booleans,
    judged_unlabelled: Booleans,
    *,
    confidence_level: float = 0.95,
) -> Interval: ...
def aurc(
    errors: ArrayLike,
    confidence: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    minus_random: bool = False,
    confidence_level: float = 0.95,
) -> Interval: ...
def auroc(
    labels: ArrayLike,
    scores: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
) -> Interval: ...
def brier_score(
    labels: ArrayLike,
    probabilities: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
) -> Interval: ...
def compare_auroc(
    labels: ArrayLike, first: ArrayLike, second: ArrayLike, *, confidence_level: float = 0.95
) -> tuple[Interval, SignificanceResult]: ...
def pearson(
    first: ArrayLike,
    second: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
) -> Interval: ...
def reliability_curve(
    labels: ArrayLike, probabilities: ArrayLike, *, n_bins: int = 10
) -> pd.DataFrame: ...
def rmse(
    predictions: ArrayLike,
    targets: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
) -> Interval: ...
def kendall_tau_b(reference: ArrayLike, other: ArrayLike) -> float: ...
def ranking_interval(
    statistic: Literal["tau-b", "tau-AP", "tau-AP-b"],
    reference: ArrayLike,
    other: ArrayLike,
    *,
    confidence_level: float = 0.95,
) -> Interval: ...
def tau_ap(reference: ArrayLike, other: ArrayLike) -> float: ...
def tau_ap_b(first: ArrayLike, second: ArrayLike) -> float: ...
def pass_at_k(n_right: ArrayLike, n_runs: ArrayLike, k: int) -> Floats: ...
def pass_k(n_right: ArrayLike, n_runs: ArrayLike, k: int) -> Floats: ...
def repeats_interval(
    values: ArrayLike,
    questions: ArrayLike,
    *,
    bounds: Bounds | None = None,
    confidence_level: float = 0.95,
) -> Interval: ...
def variance_components(
    values: ArrayLike, questions: ArrayLike, judges: ArrayLike | None = None
) -> dict[str, float]: ...
def simultaneous_intervals(
    values: ArrayLike,
    *,
    rng: np.random.Generator,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10000,
) -> tuple[Interval, ...]: ...

__all__ = [
    "CORRECTIONS",
    "MCNEMAR_METHODS",
    "Clustering",
    "ConfirmationPlan",
    "EquivalenceResult",
    "FiellerSet",
    "Interval",
    "LabelPlan",
    "MeanCheck",
    "PairedTable",
    "PpiInterval",
    "RatioComparison",
    "SignificanceResult",
    "SizePlan",
    "adjust",
    "agreement_interval",
    "aurc",
    "auroc",
    "bca_interval",
    "brier_score",
    "check_mean",
    "cohen_d_z",
    "cohen_kappa",
    "compare_auroc",
    "compare_ratios",
    "confirmation_plan",
    "detectable_effects",
    "discordant_odds_ratio",
    "expected_calibration_error",
    "expected_half_width",
    "expected_half_widths",
    "fieller_interval",
    "fieller_interval_from_stats",
    "fleiss_kappa",
    "friedman_test",
    "gwet_ac1",
    "inclusion_probabilities",
    "inseparable_groups",
    "intraclass_correlation",
    "item_ranks",
    "jackknife_interval",
    "kendall_tau_b",
    "krippendorff_alpha",
    "labels_needed",
    "mcnemar_bounds",
    "mcnemar_mde",
    "mcnemar_p_value",
    "mcnemar_power",
    "mcnemar_size",
    "mcnemar_test",
    "mean_interval",
    "mean_interval_from_stats",
    "mean_of_ratios",
    "net_benefit",
    "net_benefit_curve",
    "ordinal_alpha",
    "paired_differences",
    "paired_t_test",
    "paired_table",
    "pass_at_k",
    "pass_k",
    "pearson",
    "percent_agreement",
    "ppi_mean",
    "ppi_sampled_mean",
    "quadratic_kappa",
    "ranking_interval",
    "rate_interval",
    "reliability_curve",
    "repeats_interval",
    "rmse",
    "rogan_gladen",
    "rogan_gladen_from_counts",
    "sign_flip_interval",
    "sign_flip_test",
    "simultaneous_intervals",
    "t_mde",
    "t_or_sign_flip_test",
    "t_size",
    "tango_interval",
    "tango_test",
    "tau_ap",
    "tau_ap_b",
    "tost",
    "variance_components",
    "youden_index",
]
