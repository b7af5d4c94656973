"""Statistical functions of arrays: intervals, paired tests, corrections, power and agreement.

A module of this package is loaded when one of its functions is first used.
"""

from typing import TYPE_CHECKING

from ragnb.faces import face

if TYPE_CHECKING:
    from ragnb.results import Interval, SignificanceResult
    from ragnb.stats.agreement import (
        agreement_interval,
        cohen_kappa,
        fleiss_kappa,
        gwet_ac1,
        krippendorff_alpha,
        ordinal_alpha,
        percent_agreement,
        quadratic_kappa,
    )
    from ragnb.stats.binary import (
        MCNEMAR_METHODS,
        PairedTable,
        mcnemar_bounds,
        mcnemar_p_value,
        mcnemar_test,
        paired_table,
        tango_interval,
        tango_test,
    )
    from ragnb.stats.clustering import Clustering, intraclass_correlation
    from ragnb.stats.confirmation import ConfirmationPlan, confirmation_plan
    from ragnb.stats.cost_effectiveness import (
        FiellerSet,
        RatioComparison,
        compare_ratios,
        fieller_interval,
        fieller_interval_from_stats,
        mean_of_ratios,
        net_benefit,
        net_benefit_curve,
    )
    from ragnb.stats.effects import cohen_d_z, discordant_odds_ratio
    from ragnb.stats.intervals import (
        bca_interval,
        jackknife_interval,
        mean_interval,
        mean_interval_from_stats,
        rate_interval,
    )
    from ragnb.stats.multiplicity import CORRECTIONS, adjust
    from ragnb.stats.paired import (
        EquivalenceResult,
        paired_differences,
        paired_t_test,
        sign_flip_interval,
        sign_flip_test,
        t_or_sign_flip_test,
        tost,
    )
    from ragnb.stats.power import (
        SizePlan,
        detectable_effects,
        mcnemar_mde,
        mcnemar_power,
        mcnemar_size,
        t_mde,
        t_size,
    )
    from ragnb.stats.ppi import (
        LabelPlan,
        PpiInterval,
        expected_half_width,
        expected_half_widths,
        labels_needed,
        ppi_mean,
        rogan_gladen,
        rogan_gladen_from_counts,
        youden_index,
    )
    from ragnb.stats.prediction import (
        aurc,
        auroc,
        brier_score,
        compare_auroc,
        expected_calibration_error,
        pearson,
        reliability_curve,
        rmse,
    )
    from ragnb.stats.published import MeanCheck, check_mean
    from ragnb.stats.rankings import kendall_tau_b, ranking_interval, tau_ap, tau_ap_b
    from ragnb.stats.repeats import pass_at_k, pass_k, repeats_interval, variance_components
    from ragnb.stats.sampled_labels import inclusion_probabilities, ppi_sampled_mean
    from ragnb.stats.several import (
        friedman_test,
        inseparable_groups,
        item_ranks,
        simultaneous_intervals,
    )
else:
    __getattr__, __dir__ = face(__name__)

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
