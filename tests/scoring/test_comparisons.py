"""`compare`: pairing, the choice of a test, duals, families and every kind of bad input."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from support.made_scores import scored

from ragnb.datasets import load_responses
from ragnb.errors import InputError
from ragnb.scoring import compare, score
from ragnb.scoring.procedures import PROCEDURES
from ragnb.stats import paired_t_test

GRADED = {
    "a": [0.9, 0.4, 0.5, 0.8, 0.25, 0.6, 1.0, 0.3],
    "b": [0.5, 0.5, 0.1, 0.4, 0.25, 0.2, 0.7, 0.0],
}


BINARY = {name for name, procedure in PROCEDURES.items() if procedure.data == "table"}
CLUSTERED = {name for name, procedure in PROCEDURES.items() if procedure.data == "clusters"}


def binary(both, first_only, second_only, neither):
    a = [1] * both + [1] * first_only + [0] * second_only + [0] * neither
    b = [1] * both + [0] * first_only + [1] * second_only + [0] * neither
    return scored({"b": b, "a": a}, metric="rgb.accuracy")  # difference: a - b


@pytest.mark.parametrize("method", sorted({*PROCEDURES} - BINARY))
def test_rounding_error_is_no_difference(method):
    """1/3 twice, by way of two precisions and recalls."""
    third, also = 0.33333333333333337, 0.3333333333333333
    frame = scored({"a": [third, also, third, also, third] * 12, "b": [also] * 60})
    frame["question_id"] = [f"c{k // 2}" for k in range(60)] * 2
    cluster = "question_id" if method in CLUSTERED else None
    row = compare(frame, method=method, cluster=cluster).iloc[0]
    assert row["difference"] == 0.0
    assert not row["p_value"] < 1
    assert not abs(row["effect"]) > 0
    assert not row["low"] < row["high"]
    assert math.isnan(row["mde"])


# ---- the numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "p", "low", "high"),
    [  # recomputed reference values: contingencytables, chapter 8
        ("auto", 0.034690, -0.1240, -0.0054),
        ("mcnemar-exact", 0.052479, -0.1240, -0.0054),
        ("tango", 0.033006, -0.1240, -0.0054),
    ],
)
def test_binary_scores_reproduce_fagerlands_cavo_example(method, p, low, high):
    row = compare(binary(59, 6, 16, 80), method=method).iloc[0]
    assert (row["system"], row["baseline"], row["n_pairs"]) == ("a", "b", 161)
    assert row["difference"] == pytest.approx(-10 / 161)
    assert row["p_value"] == pytest.approx(p, abs=5e-7)
    assert (row["low"], row["high"]) == pytest.approx((low, high), abs=5e-5)
    assert row["effect"] == pytest.approx(6 / 16)
    if method == "auto":
        assert (row["test"], row["duality"]) == ("McNemar mid-p", "not dual")
        assert "0 or 1" in row["why"]


def test_clusters_pool_conditions():
    rng = np.random.default_rng(5)
    parts = [
        scored({name: rng.integers(0, 2, 40) for name in "ab"}, noise_rate=rate)
        for rate in (0, 0.4)
    ]
    frame = pd.concat(parts, ignore_index=True)
    row = compare(frame, by=[], baseline="b").iloc[0]
    wide = frame.pivot(index=["example_id", "noise_rate"], columns="system", values="value")
    differences = (wide["a"] - wide["b"]).astype(float)
    known = paired_t_test(differences, clusters=wide.index.get_level_values(0))
    assert (row["n_pairs"], row["n_clusters"]) == (80, 40)
    assert (row["statistic"], row["p_value"]) == pytest.approx((known.statistic, known.p_value))
    assert "clusters: example_id" in row["why"]


def test_few_clusters_are_flipped_whole():
    parts = [scored({"a": [1, 1, 1], "b": [0, 0, 1]}, noise_rate=rate) for rate in (0, 0.4)]
    row = compare(pd.concat(parts, ignore_index=True), by=[], baseline="b").iloc[0]
    assert row["test"].startswith("exact cluster sign-flip")
    assert row["p_value"] == pytest.approx(0.5)  # two clusters differ: 2 of 4 sign patterns
    assert row["n_clusters"] == 3


def test_corrections_over_the_declared_family_are_those_of_statsmodels():
    systems = GRADED | {"c": GRADED["a"][::-1]}
    cells = itertools.product(("own.m1", "own.m2"), (0, 0.4))
    frame = pd.concat([scored(systems, metric, noise_rate=rate) for metric, rate in cells])
    methods = {"holm": "holm", "benjamini-hochberg": "fdr_bh", "bonferroni": "bonferroni"}
    for correction, name in methods.items():
        rows = compare(frame, correction=correction)
        assert set(rows["family_size"]) == {len(rows)} == {12}
        assert set(rows["test"]) == {"exact sign-flip test"}
        known = multipletests(rows["p_value"], method=name)[1]
        assert rows["p_adjusted"].tolist() == pytest.approx(known)
    assert set(compare(frame, family="metric")["family_size"]) == {6}


def test_undefined_p_values_are_in_no_family():
    one = scored({"a": [0.5], "b": [0.25], "c": [0.5]}, metric="own.single")
    three = scored(GRADED | {"c": GRADED["a"][::-1]})
    mixed = compare(pd.concat([three, one]), method="t")
    assert mixed["p_value"].isna().sum() == 3
    assert mixed.loc[mixed["p_value"].notna(), "p_adjusted"].notna().all()
    assert set(mixed["family_size"]) == {3}  # three pairs under own.f1


def test_the_minimum_detectable_effect_of_clusters_uses_t_as_the_interval_does():
    rng = np.random.default_rng(12)
    frame = scored({name: rng.random(120).round(2) for name in "ab"})
    frame["question_id"] = [f"c{k // 3}" for k in range(120)] * 2
    row = compare(frame, cluster="question_id").iloc[0]
    assert (row["test"], row["n_clusters"]) == ("cluster-robust t-test", 40)
    error = (row["high"] - row["low"]) / 2 / stats.t.ppf(0.975, 39)
    # With normal quantiles it would be 2.8016 standard errors.
    effect = TTestPower().solve_power(nobs=40, alpha=0.05, power=0.8)
    assert row["mde"] / error == pytest.approx(effect * math.sqrt(40))


@pytest.mark.parametrize("method", sorted(PROCEDURES))
def test_swapping_the_systems_mirrors_everything(method):
    values = {"a": [1, 1, 1, 0, 1, 1, 0, 1], "b": [0, 1, 0, 0, 0, 1, 1, 0]}
    frame = scored(values, "rgb.accuracy")
    frame["topic"] = [f"t{k % 4}" for k in range(8)] * 2
    options = {"method": method, "cluster": "topic" if method in CLUSTERED else None}
    one, two = (compare(frame, baseline=name, **options).iloc[0] for name in "ab")
    assert one["difference"] == pytest.approx(-two["difference"])
    assert (one["low"], one["high"]) == pytest.approx((-two["high"], -two["low"]), abs=1e-9)
    assert one["p_value"] == pytest.approx(two["p_value"])
    assert one["mde"] == pytest.approx(two["mde"], nan_ok=True)


# ---- pairing -------------------------------------------------------------------------------------


def test_conditions_that_vary_within_a_system_make_cells_and_those_between_systems_do_not():
    parts = [scored({"a": GRADED["a"]}, noise_rate=r, order="per_item") for r in (0, 0.4)]
    parts += [scored({"b": GRADED["b"]}, noise_rate=r, order="released") for r in (0, 0.4)]
    rows = compare(pd.concat(parts, ignore_index=True))
    assert rows["noise_rate"].tolist() == [0, 0.4]
    assert "order" not in rows


def test_missing_pairs_are_listed_or_dropped_and_counted():
    frame = scored({"a": [1, 1, 0, 1, math.nan], "b": [0, 1, 0, 1, 1]}, "rgb.accuracy")
    frame = frame.query("system != 'b' or example_id != 'q0'")
    lost = r"2 of 5 items lack at least one of the two, such as q4, q0.*unpaired='drop'"
    with pytest.raises(InputError, match=lost):
        compare(frame)
    row = compare(frame, unpaired="drop").iloc[0]
    assert (row["n_pairs"], row["n_dropped"]) == (3, 2)


def test_a_wide_frame_that_was_melted_is_paired_by_question_and_row_numbers_are_refused():
    questions = {"question": ["q0", "q1", "q2"], "references": "Oslo"}
    wide = pd.DataFrame(questions | {"plain": "Oslo", "other": ["Oslo", "x", "y"]})
    long = wide.melt(["question", "references"], var_name="system", value_name="response")
    responses = load_responses(long, language="en")
    row = compare(score(responses, "answer.exact_match")).iloc[0]
    assert (row["n_pairs"], row["difference"]) == (3, pytest.approx(-2 / 3))
    said = (
        "'other' and 'plain' have no example_id in common: 'other' begins with '3', 'plain' with "
        r"'0'.*responses\.assign\(example_id=responses\['question'\]\)"
    )
    with pytest.raises(InputError, match=said):
        compare(score(responses.assign(example_id=list("012345")), "answer.exact_match"))


def test_ids_that_are_numbers_in_one_system_and_texts_in_another_are_refused():
    parts = [scored({"甲": [1, 0]}, ids=[10, 20]), scored({"b": [1, 0]}, ids=["10", "20"])]
    for unpaired in ("error", "drop"):
        with pytest.raises(
            InputError, match="texts in 'b' and numbers in '甲', and 10 is not '10'"
        ):
            compare(pd.concat(parts), unpaired=unpaired)


# ---- degenerate and bad input --------------------------------------------------------------------


@pytest.mark.parametrize("method", sorted(set(PROCEDURES) - CLUSTERED))
def test_equal_systems_and_single_items_differ_by_nothing(method):
    frame = scored({"b": [1, 0, 1, 1], "a": [1, 0, 1, 1]}, "rgb.accuracy")
    row = compare(frame, method=method).iloc[0]
    assert row["difference"] == 0
    assert not row["p_value"] < 1
    one = compare(scored({"b": [0], "a": [1]}, "rgb.accuracy"), method=method).iloc[0]
    assert one["p_value"] > 0.05 or "undefined" in one["warning"]


def test_clusters_without_a_pair_leave_everything_undefined():
    apart = pd.concat([scored({"a": [1, 0]}, ids=["q1", "q2"]), scored({"b": [1]}, ids=["q3"])])
    row = compare(apart, cluster="example_id", unpaired="drop").iloc[0]
    assert (row["n_pairs"], row["n_clusters"], row["n_dropped"]) == (0, 0, 3)
    assert row[["difference", "low", "high", "p_value", "p_adjusted", "mde"]].isna().all()


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (scored(GRADED), {"baseline": "c"}, "baseline must be one of a, b, got 'c'"),
        (scored(GRADED), {"power": 80}, "power must be strictly between 0 and 1, .*got 80"),
        (scored(GRADED), {"cluster": "topic"}, "compare needs the columns .*without topic"),
        (scored(GRADED), {"method": "magic"}, "method must be one of 'auto', .*got 'magic'"),
        (
            scored(GRADED),
            {"method": "mcnemar"},
            "'mcnemar' needs scores of 0 and 1, got other scores of own.f1",
        ),
        (scored(GRADED), {"method": "cluster-t"}, "'cluster-t' needs clusters, got none"),
        (scored(GRADED), {"metrics": "x"}, r"among those scored \(own.f1\), got x"),
        (scored(GRADED), {"by": "system"}, "by must not contain system; use columns"),
        (
            pd.concat([scored(GRADED)] * 2),
            {},
            "one row for each system and example_id, got 16 repeated",
        ),
        (scored({"a": [], "b": []}), {}, "two systems or more, got none"),
        (scored({"a": [math.inf], "b": [1]}), {}, "finite or nan, but it is infinite for q0"),
        (scored(GRADED).replace("q3", None), {}, "example_id, which is missing in row 3"),
        (scored(GRADED).assign(metric=None), {"by": []}, "name of the metric in each row"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, dict) else None,
)
def test_a_mistake_is_named_in_one_sentence(frame, options, message):
    with pytest.raises(InputError, match=message):
        compare(frame, **options)


def test_systems_scored_under_different_definitions_are_refused_but_prompts_may_differ():
    def signed(**definitions):
        signature = frame["system"].map(definitions)
        return frame.assign(signature="ragnb:0.1|metric:m|protocol:" + signature)

    frame = scored(GRADED)
    prompts = compare(signed(a="paper|prompt:x:1", b="paper|prompt:y:1"))
    assert "prompt:x:1 & ragnb" in prompts.iloc[0]["signature"]
    with pytest.raises(
        InputError, match="own.f1.*protocol:flexible.*; score both with the same options"
    ):
        compare(signed(a="paper|prompt:x:1", b="flexible|prompt:y:1"))


def test_an_item_has_one_cluster():
    frame = scored(GRADED, topic=["t", None] * 4)
    with pytest.raises(InputError, match="column 'topic' must be one key per item, got a missing"):
        compare(frame, cluster="topic")
    apart = frame.assign(topic=[f"t{k}" for k in range(16)])  # another one for each system
    with pytest.raises(InputError, match="16 of 16 items lack at least one"):
        compare(apart, cluster="topic")


def test_the_effect_size_of_clusters_is_that_of_their_means():
    """Three clusters of 3, 1 and 2 items with the mean differences 1/3, 0.6 and 0.2."""
    differences = [0.5, 0.5, 0.0, 0.6, 0.1, 0.3]
    frame = scored({"b": [0.0] * 6, "a": differences})
    frame["question_id"] = [*"xxxyzz"] * 2
    row = compare(frame, method="cluster-t", cluster="question_id").iloc[0]
    means = np.array([1 / 3, 0.6, 0.2])
    assert row["effect"] == pytest.approx(means.mean() / means.std(ddof=1))


@pytest.mark.parametrize("mark", ["prompt", "lang", "reasoning"])
def test_systems_may_differ_in_the_marks_of_how_they_were_asked(mark):
    frame = scored({"a": GRADED["a"], "b": GRADED["b"]})
    frame["signature"] += frame["system"].map({"a": f"|{mark}:one", "b": f"|{mark}:two"})
    assert len(compare(frame)) == 1
    with pytest.raises(InputError, match="definition"):
        compare(frame.assign(signature=frame["signature"].str.replace(mark, "variant")))
