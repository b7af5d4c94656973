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
from ragnb.scoring import compare, mixed_model
from ragnb.scoring import mixed as module

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


@pytest.fixture(scope="module")
def balanced():
    systems, languages = ("direct", "cross", "lbrag"), ("en", "de", "th")
    return scored(drawn(1, (9, 3, 3), effect=0.1), systems, languages)


@pytest.fixture(scope="module")
def holed(balanced):
    """A design with holes: rows without a value, a language with one question, a cell that is empty."""
    frame = balanced.drop(balanced.index[[3, 17, 40]])
    frame = frame[(frame["language"] != "th") | (frame["question_id"] == "q2")]
    frame.loc[frame.index[:4], ["value", "reason"]] = [math.nan, "no response"]
    return frame[(frame["language"] != "th") | (frame["system"] != "cross")]


# ---- the numbers ---------------------------------------------------------------------------------


def test_errors_tests_and_intervals_are_those_of_fixed_questions_in_a_balanced_design(balanced):
    system = 'C(system, Treatment("direct"))'
    known = ols(f"value ~ C(question_id) + C(language, Sum) + {system}", balanced).fit()
    result = mixed_model(balanced, confidence_level=0.9)
    p_adjusted = multipletests(result.effects["p_value"], method="holm")[1]
    assert result.effects["p_adjusted"].tolist() == pytest.approx(p_adjusted)
    for _, row in result.effects.iterrows():
        name = f"{system}[T.{row['system']}]"
        assert row["difference"] == pytest.approx(known.params[name], abs=1e-10)
        assert row["standard_error"] == pytest.approx(known.bse[name], rel=1e-4)
        assert row["df"] == known.df_resid
        assert row["p_value"] == pytest.approx(known.pvalues[name], rel=1e-3)
        assert (row["low"], row["high"]) == pytest.approx(known.conf_int(0.1).loc[name], abs=1e-5)
        assert row["confidence_level"] == 0.9
    assert result.fit.scale == pytest.approx(known.scale, rel=1e-4)


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
    result = mixed_model(holed.sample(frac=1, random_state=1), baseline="direct")
    for _, row in result.effects.iterrows():
        name = f"{system}[T.{row['system']}]"
        assert row["difference"] == pytest.approx(known.fe_params[name], abs=1e-4)
        assert row["standard_error"] == pytest.approx(known.bse_fe[name], rel=1e-3)
    assert result.fit.cov_re[0, 0] == pytest.approx(known.cov_re.iloc[0, 0], rel=1e-2)
    assert result.robust["n_dropped"].gt(0).all()
    options = {"by": [], "baseline": "direct", "cluster": "question_id", "unpaired": "drop"}
    robust = compare(holed, **options).sort_values("system", ignore_index=True)
    found = result.robust.sort_values("system", ignore_index=True)
    pd.testing.assert_frame_equal(found, robust)


# ---- models that cannot be fitted ----------------------------------------------------------------


def test_a_search_that_fails_leaves_the_robust_comparison(balanced, monkeypatch, capfd):
    monkeypatch.setattr(module, "OPTIMISER", {"method": ["bfgs"], "maxiter": 1})
    far = balanced["value"] * 100 + balanced["question_id"].str[1:].astype(int) * 1000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = mixed_model(balanced.assign(value=far))
    assert result.effects[["difference", "low", "p_value", "p_adjusted"]].isna().all(axis=None)
    assert result.robust[["difference", "low", "high", "p_value"]].notna().all(axis=None)
    assert set(result.effects["warning"]) == {"the search for the variances did not converge"}
    assert result.warnings
    assert capfd.readouterr() == ("", "")


def test_a_step_onto_a_variance_of_exactly_0_is_no_estimate(monkeypatch):
    monkeypatch.setattr(module, "OPTIMISER", {"method": ["lbfgs"]})
    row = mixed_model(scored(drawn(7, (12, 1, 3)), "abc", ["en"])).effects.iloc[0]
    assert math.isnan(row["standard_error"])
    assert row["warning"].startswith("statsmodels stopped")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.full((5, 2, 2), 0.5), "explain all variation within questions"),
        ([[[0.1, 0.3]], [[0.5, 0.7]], [[0.2, 0.4]]], "explain all variation within questions"),
        ([[[0.1, 0.5]]], "2 values of 1 questions do not determine the model"),
    ],
)
def test_without_a_model_the_result_is_undefined_and_says_why(values, reason):
    result = mixed_model(scored(values))
    assert math.isnan(result.effects["difference"].iloc[0])
    assert reason in result.effects["warning"].iloc[0]
    assert result.fit is None


def test_systems_that_share_no_question_are_undefined(balanced):
    apart = balanced[balanced["system"].isin(["direct", "lbrag"]) & (balanced["language"] == "en")]
    twice = pd.concat([apart.assign(repeat=k, value=apart["value"] + k * 0.01) for k in (0, 1)])
    odd = twice["question_id"].isin(["q1", "q3", "q5", "q7"])
    row = mixed_model(twice[odd == (twice["system"] == "lbrag")]).effects.iloc[0]
    assert row["n_pairs"] == 0
    assert math.isnan(row["difference"])
    assert row["warning"] == "the data do not determine the difference within questions"


def test_two_systems_in_one_language_are_compared_as_by_the_paired_t_test(balanced):
    frame = balanced[(balanced["language"] == "de") & (balanced["system"] != "cross")]
    row = mixed_model(frame).effects.iloc[0]
    wide = frame.pivot(index="question_id", columns="system", values="value")
    known = stats.ttest_rel(wide["lbrag"], wide["direct"])
    assert (row["df"], row["p_value"]) == (8, pytest.approx(known.pvalue, rel=1e-3))
    for same in (frame.drop(columns="language"), frame.assign(language=None)):
        assert mixed_model(same).effects["difference"].tolist() == [row["difference"]]


# ---- what is modelled -----------------------------------------------------------------------------


def test_questions_are_examples_where_they_have_no_name(balanced):
    result = mixed_model(balanced.drop(columns="question_id"))
    assert len(result.fit.random_effects) == 27
    named = balanced["question_id"].where(balanced["question_id"] != "q0")
    # Those without are on their own in each language.
    unnamed = mixed_model(balanced.assign(question_id=named))
    assert len(unnamed.fit.random_effects) == 8 + 3
    bare = balanced[["question_id", "language", "system", "metric", "value"]]
    wanted = mixed_model(balanced).effects["difference"].tolist()
    assert mixed_model(bare).effects["difference"].tolist() == pytest.approx(wanted)


def test_one_metric_is_chosen_of_several(balanced):
    both = pd.concat([balanced, balanced.assign(metric="other", value=-balanced["value"])])
    result = mixed_model(both, metric="other", baseline="cross")
    assert set(result.effects["metric"]) == {"other"}
    assert result.effects["system"].tolist() == ["direct", "lbrag"]
    assert result.effects["baseline"].unique().tolist() == ["cross"]


def test_a_mistake_is_named_in_one_sentence(balanced):
    lacking = balanced.assign(language=balanced["language"].replace("th", None))
    other = balanced.assign(signature=balanced["system"] + "|metric:f1")
    refused = [
        (balanced, {"group": "topic"}, "without topic"),
        (balanced, {"metric": "rgb.accuracy"}, "must be one of answer.f1, got 'rgb.accuracy'"),
        (balanced.iloc[:0], {}, "must be one of none"),
        (
            pd.concat([balanced, balanced.iloc[[1]]]),
            {},
            "one row for each system and .*got 1 repeated",
        ),
        (balanced, {"baseline": "x"}, "baseline must be one of direct, cross, lbrag, got 'x'"),
        (lacking, {}, "a language in every row, got 27 without"),
        (other, {}, "one definition of answer.f1"),
    ]
    for frame, options, message in refused:
        with pytest.raises(InputError, match=message):
            mixed_model(frame, **options)


@pytest.mark.parametrize("ids", [[1, "1", "b"], [1, "a", 2], ["a", 2.5, 3], [(1, 2), "b", "c"]])
@pytest.mark.parametrize("group", ["question_id", "example_id"])
def test_questions_have_ids_of_one_kind(ids, group):
    frame = scored(drawn(1, (3, 1, 2)), languages=("en",)).drop(columns="question_id")
    keys = pd.Series([key for key in ids for _ in range(2)], dtype=object)
    frame["example_id"] = [f"e{k // 2}" for k in range(6)]
    frame[group] = keys
    with pytest.raises(InputError, match=f"ids of one kind in {group}, got the text '"):
        mixed_model(frame)


def test_half_a_surrogate_in_an_id_is_an_id_like_any_other():
    frame = scored(drawn(1, (8, 1, 2)), languages=("en",)).drop(columns="question_id")
    ids = [f"q{k // 2}" for k in range(16)]
    odd = pd.Series(["\ud800" if key == "q0" else key for key in ids], dtype=object)
    plain = mixed_model(frame.assign(example_id=ids)).effects
    assert mixed_model(frame.assign(example_id=odd)).effects["low"].equals(plain["low"])
