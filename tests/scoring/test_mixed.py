"""`mixed_model`: hand-built designs, formulas of statsmodels, and designs with holes."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import mixedlm, ols
from statsmodels.stats.multitest import multipletests

from ragnb.errors import InputError
from ragnb.scoring import compare
from ragnb.scoring.mixed import mixed_model
from ragnb.stats import mixed as fitting

METRIC = "answer.f1"


def scored(values, systems=("direct", "lbrag"), languages=("en", "de")):
    """A scores frame from an array of questions × languages × systems."""
    rows = [
        {"question_id": f"q{q}", "language": languages[k], "system": systems[s], "value": value}
        for (q, k, s), value in np.ndenumerate(np.asarray(values, float))
    ]
    frame = pd.DataFrame(rows).assign(metric=METRIC, reason=None, signature="v:1")
    return frame.assign(example_id=frame["language"] + "/" + frame["question_id"])


def drawn(seed, shape, *, differing=0.0, effect=0.0):
    """Normal scores: questions, differences that vary between them, and an effect of each system."""
    rng = np.random.default_rng(seed)
    n, _, k = shape
    spread = rng.normal(0, 0.3, (n, 1, 1)) + rng.normal(0, differing, (n, 1, k))
    return 0.5 + spread + effect * np.arange(k) + rng.normal(0, 0.2, shape)


def of_cells(table):
    return table.set_index(["language", "system"])


@pytest.fixture(scope="module")
def balanced():
    systems, languages = ("direct", "cross", "lbrag"), ("en", "de", "th")
    return scored(drawn(1, (9, 3, 3), effect=0.1), systems, languages)


@pytest.fixture(scope="module")
def whole(balanced):
    return mixed_model(balanced, interaction=True)


@pytest.fixture(scope="module")
def holed(balanced):
    """A design with holes: rows without a value, a language with one question, a cell that is empty."""
    frame = balanced.drop(balanced.index[[3, 17, 40]])
    frame = frame[(frame["language"] != "th") | (frame["question_id"] == "q2")]
    frame.loc[frame.index[:4], ["value", "reason"]] = [math.nan, "no response"]
    return frame[(frame["language"] != "th") | (frame["system"] != "cross")]


# ---- the numbers ---------------------------------------------------------------------------------


def test_differences_of_a_balanced_design_are_those_of_the_means():
    values = [  # four questions × two languages × direct, lbrag: means en .35 .55, de .25 .40
        [[0.2, 0.5], [0.1, 0.3]],
        [[0.4, 0.5], [0.3, 0.6]],
        [[0.3, 0.6], [0.2, 0.2]],
        [[0.5, 0.6], [0.4, 0.5]],
    ]
    result = mixed_model(scored(values), interaction=True)
    row = result.effects.iloc[0]
    names = ["system", "baseline", "n_pairs", "n_clusters"]
    assert row[names].tolist() == ["lbrag", "direct", 8, 4]
    assert row["difference"] == pytest.approx(0.175, abs=1e-12)
    by_language = result.by_language.set_index("language")["difference"]
    assert by_language.to_dict() == pytest.approx({"en": 0.2, "de": 0.15}, abs=1e-12)
    plain = mixed_model(scored(values))
    assert plain.effects["difference"].tolist() == pytest.approx([0.175], abs=1e-12)
    assert plain.by_language.empty
    assert (plain.model.residuals.size, plain.model.n_groups) == (16, 4)


@pytest.mark.parametrize("interaction", [False, True])
def test_errors_tests_and_intervals_are_those_of_fixed_questions_in_a_balanced_design(
    balanced, interaction
):
    system = 'C(system, Treatment("direct"))'
    terms = f"C(language, Sum) {'*' if interaction else '+'} {system}"
    known = ols(f"value ~ C(question_id) + {terms}", balanced).fit()
    result = mixed_model(balanced, interaction=interaction, confidence_level=0.9)
    for _, row in result.effects.iterrows():
        name = f"{system}[T.{row['system']}]"
        assert row["difference"] == pytest.approx(known.params[name], abs=1e-10)
        assert row["standard_error"] == pytest.approx(known.bse[name], rel=1e-4)
        assert row["df"] == known.df_resid
        assert row["p_value"] == pytest.approx(known.pvalues[name], rel=1e-3)
        assert (row["low"], row["high"]) == pytest.approx(known.conf_int(0.1).loc[name], abs=1e-5)
        assert row["confidence_level"] == 0.9
    assert result.model.residual_variance == pytest.approx(known.scale, rel=1e-4)


def test_the_minimum_detectable_effect_uses_the_t_distribution_of_the_interval(balanced):
    row = mixed_model(balanced).effects.iloc[0]
    df, shift = row["df"], row["mde"] / row["standard_error"]
    critical = stats.t.ppf(0.975, df)
    detected = stats.nct.sf(critical, df, shift) + stats.nct.cdf(-critical, df, shift)
    assert detected == pytest.approx(0.8, abs=1e-6)


def test_a_design_with_holes_is_that_of_statsmodels(holed):
    system = 'C(system, Treatment("direct"))'
    kept = holed.dropna(subset="value")
    known = mixedlm(f"value ~ {system} + language", kept, groups="question_id").fit(reml=True)
    result = mixed_model(holed)
    for _, row in result.effects.iterrows():
        name = f"{system}[T.{row['system']}]"
        assert row["difference"] == pytest.approx(known.fe_params[name], abs=1e-4)
        assert row["standard_error"] == pytest.approx(known.bse_fe[name], rel=1e-3)
    variance = known.cov_re.iloc[0, 0]
    assert result.model.group_variance == pytest.approx(variance, rel=1e-2)
    share = variance / (variance + known.scale)
    assert result.intraclass_correlation == pytest.approx(share, rel=1e-2)
    assert result.formula == "value ~ system + language + (1 | question_id)"
    assert result.model.residuals.size == len(kept)
    assert result.robust["n_dropped"].gt(0).all()


def test_the_interaction_is_that_of_statsmodels_and_so_is_its_test(balanced, whole):
    def fitted(sign, reml):
        terms = f'C(system, Treatment("direct")) {sign} C(language, Treatment("en"))'
        return mixedlm(f"value ~ {terms}", balanced, groups="question_id").fit(reml=reml)

    known = fitted("*", reml=True).fe_params
    rows = of_cells(whole.by_language)["difference"]
    for system in ("cross", "lbrag"):
        name = f'C(system, Treatment("direct"))[T.{system}]'
        further = known[f'{name}:C(language, Treatment("en"))[T.th]']
        assert rows["en", system] == pytest.approx(known[name], abs=1e-5)
        assert rows["th", system] == pytest.approx(known[name] + further, abs=1e-5)
    test = whole.interaction_test
    statistic = 2 * (fitted("*", reml=False).llf - fitted("+", reml=False).llf)
    assert test.statistic == pytest.approx(statistic, abs=1e-3)
    assert test.p_value == pytest.approx(stats.chi2.sf(statistic, 4), abs=1e-4)
    assert "4 df" in test.method
    assert mixed_model(balanced).interaction_test.statistic == pytest.approx(statistic, abs=1e-3)


def test_holm_is_over_systems_and_over_languages_separately(whole):
    for table, size in ((whole.effects, 2), (whole.by_language, 6)):
        known = multipletests(table["p_value"], method="holm")[1]
        assert table["p_adjusted"].tolist() == pytest.approx(known)
        assert set(table["family_size"]) == {size}


def test_the_cluster_robust_comparison_is_in_the_result(balanced, whole):
    known = compare(balanced, by=[], baseline="direct", cluster="question_id")
    pd.testing.assert_frame_equal(whole.robust, known)
    errors = (known["high"] - known["low"]) / 2 / stats.t.ppf(0.975, 8)
    ratios = errors / whole.effects["standard_error"]
    assert whole.error_ratios.tolist() == pytest.approx(ratios.tolist())


def test_the_order_of_rows_is_of_no_account(balanced, whole):
    rows = balanced.sample(frac=1, random_state=1)
    shuffled = mixed_model(rows, baseline="direct", interaction=True)
    columns = ["difference", "low", "high"]
    one, other = (of_cells(each.by_language).sort_index()[columns] for each in (whole, shuffled))
    pd.testing.assert_frame_equal(one, other, atol=1e-5)


# ---- what may be doubted -------------------------------------------------------------------------


def test_problems_are_found_in_data_unlike_those_that_the_model_assumes():
    assert mixed_model(scored(drawn(5, (40, 2, 2)))).problems == ()
    languages = ["en", "de", "th", "zh"]
    result = mixed_model(scored(drawn(6, (30, 4, 2), differing=0.3), languages=languages))
    assert result.error_ratios["lbrag"] > 1.5
    assert "seems to vary from question to question" in result.problems[0]


def test_a_variance_at_0_is_a_problem():
    values = [[[0.9, 0.2]], [[0.1, 0.7]], [[0.8, 0.3]], [[0.2, 0.9]], [[0.6, 0.4]]]
    result = mixed_model(scored(values, languages=["en"]))  # high here is low there
    assert not result.model.problem
    assert "estimated as 0" in result.problems[0]
    known = stats.t.interval(0.95, 4, -0.02, stats.sem([-0.7, 0.6, -0.5, 0.7, -0.2]))
    assert result.robust[["low", "high"]].iloc[0].tolist() == pytest.approx(known)


def test_a_search_that_fails_leaves_the_robust_comparison(balanced, monkeypatch, capfd):
    monkeypatch.setattr(fitting, "OPTIMISER", {"method": ["bfgs"], "maxiter": 1})
    far = balanced["value"] * 100 + balanced["question_id"].str[1:].astype(int) * 1000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = mixed_model(balanced.assign(value=far), interaction=True)
    assert result.effects[["difference", "low", "p_value", "p_adjusted"]].isna().all(axis=None)
    assert result.by_language["difference"].isna().all()
    assert result.robust[["difference", "low", "high", "p_value"]].notna().all(axis=None)
    assert result.problems == ("there is no model: the search for the variances did not converge",)
    assert result.warnings
    assert "did not converge" in result.interaction_test.warning
    assert capfd.readouterr() == ("", "")


# ---- designs with holes --------------------------------------------------------------------------


def test_a_language_with_one_question_and_an_empty_cell_have_a_defined_result(holed):
    result = mixed_model(holed, interaction=True)
    rows, effects = of_cells(result.by_language), result.effects.set_index("system")
    one = holed[holed["language"] == "th"].set_index("system")["value"]
    thai = rows.loc["th"]
    assert thai["difference"]["lbrag"] == pytest.approx(one["lbrag"] - one["direct"], abs=1e-10)
    assert math.isnan(thai["difference"]["cross"])
    assert thai["warning"]["cross"] == "the scores of the two share no language"
    assert set(result.by_language["family_size"]) == {5}  # the undefined one is no part of it
    for system, warning in (("lbrag", ""), ("cross", "average over 2 of 3 languages")):
        mean = rows.xs(system, level="system")["difference"].mean()  # of those that are defined
        assert effects.loc[system, "difference"] == pytest.approx(mean)
        assert warning in effects.loc[system, "warning"]
    assert effects.loc["lbrag", "warning"] == ""
    assert "3 df" in result.interaction_test.method  # 8 cells that are filled; 5 columns of the sum


def test_systems_that_share_no_language_are_not_told_from_their_languages(balanced):
    apart = balanced[balanced["system"].isin(["direct", "lbrag"])]
    apart = apart[(apart["system"] == "direct") == (apart["language"] == "en")]
    result = mixed_model(apart[apart["language"] != "th"])
    assert math.isnan(result.effects["difference"].iloc[0])
    assert result.effects["warning"].iloc[0] == "the scores of the two share no language"
    assert "no two languages share two systems" in result.interaction_test.warning


def test_systems_that_share_no_question_are_compared_between_questions(balanced):
    apart = balanced[balanced["system"].isin(["direct", "lbrag"]) & (balanced["language"] == "en")]
    twice = pd.concat([apart.assign(repeat=k, value=apart["value"] + k * 0.01) for k in (0, 1)])
    odd = twice["question_id"].isin(["q1", "q3", "q5", "q7"])
    apart = twice[odd == (twice["system"] == "lbrag")]
    row = mixed_model(apart).effects.iloc[0]
    means = apart.groupby(["system", "question_id"])["value"].mean()
    known = stats.ttest_ind(means["lbrag"], means["direct"])
    assert row["df"] == known.df == 7
    assert row["p_value"] == pytest.approx(known.pvalue, rel=1e-3)
    assert row["n_pairs"] == 0


def test_one_language_has_no_term(balanced):
    frame = balanced[balanced["language"] == "de"]
    result = mixed_model(frame, interaction=True)
    assert result.formula == "value ~ system + (1 | question_id)"
    assert result.by_language.empty
    assert math.isnan(result.interaction_test.p_value)
    for same in (frame.drop(columns="language"), frame.assign(language=None)):
        found = mixed_model(same).effects["difference"].tolist()
        assert found == result.effects["difference"].tolist()


def test_without_a_model_the_result_is_undefined_and_says_why():
    result = mixed_model(scored(np.full((5, 2, 2), 0.5)))
    assert math.isnan(result.effects["difference"].iloc[0])
    assert "no spread within groups" in result.effects["warning"].iloc[0]
    assert result.problems[0].startswith("there is no model: ")


def test_questions_are_examples_where_they_have_no_name(balanced):
    result = mixed_model(balanced.drop(columns="question_id"))
    assert (result.group, result.model.n_groups) == ("example_id", 27)
    named = balanced["question_id"].where(balanced["question_id"] != "q0")
    # Those without are on their own in each language.
    assert mixed_model(balanced.assign(question_id=named)).model.n_groups == 8 + 3
    bare = balanced[["question_id", "language", "system", "metric", "value"]]
    wanted = mixed_model(balanced).effects["difference"].tolist()
    assert mixed_model(bare).effects["difference"].tolist() == pytest.approx(wanted)


def test_one_metric_is_chosen_of_several(balanced):
    both = pd.concat([balanced, balanced.assign(metric="other", value=-balanced["value"])])
    result = mixed_model(both, metric="other", baseline="cross")
    assert result.metric == "other"
    assert result.effects["system"].tolist() == ["direct", "lbrag"]
    assert result.effects["baseline"].unique().tolist() == ["cross"]


def test_a_mistake_is_named_in_one_sentence(balanced):
    lacking = balanced.assign(language=balanced["language"].replace("th", None))
    other = balanced.assign(signature=balanced["system"] + "|metric:f1")
    refused = [
        (balanced, {"group": "topic"}, "without topic"),
        (balanced, {"metric": "rgb.accuracy"}, "must be one of answer.f1, got 'rgb.accuracy'"),
        (balanced.iloc[:0], {}, "must be one of none"),
        (pd.concat([balanced, balanced.iloc[[1]]]), {}, "one row for each system, .*got 1 more"),
        (balanced, {"baseline": "x"}, "baseline must be one of direct, cross, lbrag, got 'x'"),
        (lacking, {}, "a language in every row, got 27 without"),
        (other, {}, "one definition of answer.f1"),
    ]
    for frame, options, message in refused:
        with pytest.raises(InputError, match=message):
            mixed_model(frame, **options)
