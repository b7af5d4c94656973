"""Every reading against arrays aligned by hand, pairing, gaps, clusters, degenerate costs, frontier, ranks, real runs."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import ragnb
from ragnb.errors import InputError
from ragnb.experiments.recorded import recorded_responses
from ragnb.reports.efficiency import (
    READINGS,
    benefits,
    efficiency,
    gains_and_costs,
    incremental,
    questions,
    ranks,
    ratio_differences,
)
from ragnb.scoring import bridging
from ragnb.stats.cost_effectiveness import (
    acceptability_curve,
    compare_ratios,
    fieller_interval,
    mean_of_ratios,
    net_benefit,
    ratio_of_means_bca,
)
from ragnb.stats.intervals import mean_interval
from ragnb.stats.multiplicity import holm
from ragnb.stats.several import friedman_test, rank_intervals

NAN = math.nan
MEAN, ZEROS, FIELLER, BCA = READINGS
PRICES = [0.0, 0.005, 0.02]


def scored(systems, variant="unicode", **columns):
    """Scores of F1 and cost, from ``{system: (F1 of each example, costs)}``."""
    rows = [
        {"example_id": f"q{place}", "system": system, "metric": metric, "value": value,
         "reason": "no response" if math.isnan(value) else None, "signature": f"v|metric:{metric}|variant:{variant}"}
        for system, both in systems.items()
        for metric, values in zip(("answer.f1", "cost.translation_tokens"), both, strict=True)
        for place, value in enumerate(values)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(**columns)


DIRECT = [0.25, 0.5, 0.0, 0.5, 0.75]
CROSS = [0.75, 0.25, 1.0, 1.0, 1.0], [200.0, 100, 400, 50, 250]
LBRAG = [0.75, 0.5, 0.5, 1.0, 0.5], [20.0, 0, 40, 10, 30]
SYSTEMS = {"direct": (DIRECT, [0.0] * 5), "cross": CROSS, "lbrag": LBRAG}
GAINS = {"cross": [0.5, -0.25, 1, 0.5, 0.25], "lbrag": [0.5, 0, 0.5, 0.5, -0.25]}
COSTS = {"cross": CROSS[1], "lbrag": LBRAG[1]}


def none(n, f1=0.0):
    return [f1] * n, [0.0] * n


def reading(table, name, system=None):
    rows = table[
        (table["reading"] == name) & (table["system"] == (system or table["system"].iloc[0]))
    ]
    assert len(rows) == 1
    return rows.iloc[0]


def limits(row, *names):
    return tuple(row[name] for name in names or ("estimate", "low", "high"))


def of(interval):
    return pytest.approx((interval.estimate, interval.low, interval.high), nan_ok=True)


def same(left, right):
    pd.testing.assert_frame_equal(left.reset_index(drop=True), right.reset_index(drop=True))


# ---- gains and costs ---------------------------------------------------------------------------------------------------


def test_gains_are_those_by_hand():
    pairs = gains_and_costs(scored(SYSTEMS))
    assert list(pairs.columns) == ["system", "example_id", "unit", "gain", "cost"]
    for system in ("cross", "lbrag"):
        rows = pairs[pairs["system"] == system]
        assert rows["gain"].tolist() == GAINS[system]
        assert rows["cost"].tolist() == COSTS[system]
    assert pairs.attrs["left_out"] == {"cross": 0, "lbrag": 0}


@pytest.mark.parametrize("seed", range(2))
def test_pairs_are_made_by_example_so_shuffled_rows_change_nothing(seed):
    frame = scored(SYSTEMS, question_id=["a", "a", "b", "b", "c"] * 6)
    cross = frame[frame["system"] == "cross"].sample(frac=1, random_state=seed)
    shuffled = pd.concat([frame[frame["system"] == "direct"].sample(frac=1, random_state=seed), cross,
                          frame[frame["system"] == "lbrag"]])  # fmt: skip
    for made in (
        efficiency,
        ratio_differences,
        incremental,
        lambda scores: benefits(scores, PRICES),
    ):
        same(made(shuffled), made(frame))
    same(ranks(shuffled, rng=np.random.default_rng(0)), ranks(frame, rng=np.random.default_rng(0)))


def test_what_has_no_f1_or_cost_is_left_out_and_counted():
    f1, cost = list(LBRAG[0]), list(LBRAG[1])
    f1[0], cost[2] = NAN, NAN
    frame = scored(
        SYSTEMS | {"direct": ([0.25, 0.5, 0.0, 0.5, NAN], [0.0] * 5), "lbrag": (f1, cost)}
    )
    pairs = gains_and_costs(frame)
    assert pairs.attrs["left_out"] == {"cross": 1, "lbrag": 3}
    assert pairs.query("system == 'lbrag'")["example_id"].tolist() == ["q1", "q3"]
    table = efficiency(frame)
    assert set(zip(table["system"], table["n"], table["left_out"], strict=True)) == {
        ("cross", 4, 1),
        ("lbrag", 2, 3),
    }
    assert limits(reading(table, FIELLER, "cross")) == of(
        fieller_interval(GAINS["cross"][:4], COSTS["cross"][:4])
    )
    assert set(incremental(frame)["n"]) == {2}
    assert set(ratio_differences(frame)["n"]) == {2}


def test_a_system_without_any_cost_keeps_its_rows():
    frame = scored(SYSTEMS | {"unknown": (DIRECT, [NAN] * 5)})
    rows = efficiency(frame).query("system == 'unknown'")
    assert rows["reading"].tolist() == list(READINGS)
    assert set(zip(rows["n"], rows["n_units"], rows["left_out"], strict=True)) == {(0, 0, 5)}
    assert (
        rows[["estimate", "low", "high", "gain", "cost", "zero_cost_share"]].isna().all(axis=None)
    )
    assert rows["problem"].notna().all()
    assert (
        benefits(frame, PRICES).query("system == 'unknown'")["net_benefit"].isna().tolist()
        == [True] * 3
    )
    assert ratio_differences(frame)[["system", "other"]].values.tolist() == [["cross", "lbrag"]]
    with pytest.raises(
        InputError, match="with F1 and cost of all of cross, lbrag, unknown; got none"
    ):
        incremental(frame)


def test_what_cannot_be_paired_is_refused():
    frame = scored(SYSTEMS)
    no_q0 = frame[(frame["system"] != "direct") | (frame["example_id"] != "q0")]
    for made in (
        gains_and_costs,
        efficiency,
        ratio_differences,
        incremental,
        lambda scores: benefits(scores, PRICES),
    ):
        with pytest.raises(
            InputError, match=r"'direct' to every example; got 2 unmatched \(cross q0, lbrag q0\)"
        ):
            made(no_q0)
        with pytest.raises(InputError, match="needs another system; got 'direct' alone"):
            made(frame[frame["system"] == "direct"])
        with pytest.raises(
            InputError, match="the baseline 'direct' among the systems; got cross, lbrag"
        ):
            made(frame[frame["system"] != "direct"])
        with pytest.raises(
            InputError, match="one row for each system, example_id; got (30|15) more"
        ):
            made(pd.concat([frame, frame]))
        mixed = pd.concat([frame[frame["system"] != "cross"], scored({"cross": CROSS}, "lbrag")])
        with pytest.raises(InputError, match="F1 of one variant, got lbrag and unicode"):
            made(mixed)


# ---- questions as clusters ---------------------------------------------------------------------------------------------


def test_a_row_without_question_is_one_of_its_own():
    frame = pd.DataFrame(
        {"example_id": ["a/de", "a/en", "b", "c"], "question_id": ["a", "a", None, NAN]}
    )
    assert questions(frame).tolist() == ["a", "a", "b", "c"]
    assert questions(frame[["example_id"]]).tolist() == ["a/de", "a/en", "b", "c"]
    numbers = frame.assign(question_id=[7, 7, NAN, NAN])
    assert questions(numbers).groupby(questions(numbers)).size().tolist() == [2, 1, 1]
    assert questions(frame.astype({"question_id": "category"})).tolist() == ["a", "a", "b", "c"]


@pytest.mark.parametrize(
    ("ids", "units"),
    [
        (["a", "a", "b", "b", "c"], list("aabbc")),
        (["a", "a", None, None, None], ["a", "a", "q2", "q3", "q4"]),
        ([None] * 5, None),
        (list("abcde"), None),
        (None, None),
    ],
)
def test_questions_are_clusters_only_where_one_has_several_responses(ids, units):
    frame = scored(SYSTEMS) if ids is None else scored(SYSTEMS, question_id=ids * 6)
    table = efficiency(frame, confidence_level=0.9)
    for system in GAINS:
        gain, cost, options = (
            GAINS[system],
            COSTS[system],
            {"clusters": units, "confidence_level": 0.9},
        )
        expected = {
            MEAN: mean_of_ratios(gain, cost, **options),
            ZEROS: mean_of_ratios(gain, cost, zero="zero", **options),
            FIELLER: fieller_interval(gain, cost, **options),
            BCA: ratio_of_means_bca(gain, cost, **options),
        }
        for name, interval in expected.items():
            row = reading(table, name, system)
            assert limits(row) == of(interval)
            assert (row["interval"], row["confidence_level"]) == (interval.method, 0.9)
            assert (row["n"], row["n_units"]) == (5, 5 if units is None else len(set(units)))
    found = ratio_differences(frame).iloc[0]
    expected = compare_ratios(
        GAINS["cross"], COSTS["cross"], GAINS["lbrag"], COSTS["lbrag"], clusters=units
    )
    assert limits(found, "difference", "low", "high") == of(expected.interval)
    assert found["p_value"] == found["p_adjusted"] == pytest.approx(expected.test.p_value)


def test_means_have_the_interval_of_means():
    frame = scored(SYSTEMS, question_id=["a", "a", "b", "b", "c"] * 6)
    alone, shared = efficiency(scored(SYSTEMS)), efficiency(frame)
    for name, values in (("gain", GAINS["cross"]), ("cost", COSTS["cross"])):
        names = name, f"{name}_low", f"{name}_high"
        mean = np.mean(values)
        assert limits(reading(alone, MEAN), *names) == pytest.approx(
            (mean, *stats.t.interval(0.95, 4, mean, stats.sem(values)))
        )
        assert limits(reading(shared, MEAN), *names) == of(mean_interval(values, list("aabbc")))


# ---- the readings ------------------------------------------------------------------------------------------------------


def test_estimates_by_hand():
    table = efficiency(scored(SYSTEMS))
    by_item = np.array([0.5 / 20, 0.5 / 40, 0.5 / 10, -0.25 / 30])
    assert reading(table, MEAN, "lbrag")["estimate"] == pytest.approx(by_item.sum() / 4)
    assert reading(table, ZEROS, "lbrag")["estimate"] == pytest.approx(by_item.sum() / 5)
    assert {reading(table, name, "lbrag")["estimate"] for name in (FIELLER, BCA)} == {1.25 / 100}
    assert table.query("system == 'lbrag'")["zero_cost_share"].tolist() == pytest.approx([0.2] * 4)
    assert reading(table, MEAN, "cross")["estimate"] == reading(table, ZEROS, "cross")["estimate"]


def test_the_table_is_tidy_and_says_what_it_is_made_of():
    table = efficiency(scored(SYSTEMS))
    assert list(zip(table["system"], table["reading"], strict=True)) == [
        (s, r) for s in ("cross", "lbrag") for r in READINGS
    ]
    assert set(table["baseline"]) == {"direct"}
    assert set(table["signature"]) == {
        "v|metric:answer.f1|variant:unicode & v|metric:cost.translation_tokens|variant:unicode"
    }
    assert table.loc[table["reading"] != FIELLER, "kind"].unique().tolist() == [""]


@pytest.mark.parametrize(
    ("gain", "cost", "kind"),
    [
        ([0.9, 0.6, 0.9], [0.0, 3, 9], "two rays"),
        ([0.1, 0.6, 0.0], [0.0, 0, 9], "whole line"),
        ([0.3, 0.5, 0.4], [10.0, 12, 11], "bounded"),
        ([0.3, 0.5, 0.4], [0.0, 0, 0], "undefined"),
        ([0.3], [5.0], "undefined"),
        ([0.2, 0.4], [10.0, 20], "undefined"),  # every item has the same ratio
    ],
)
def test_every_kind_of_fieller_set_reaches_the_table(gain, cost, kind):
    row = reading(efficiency(scored({"direct": none(len(gain)), "x": (gain, cost)})), FIELLER)
    known = fieller_interval(gain, cost)
    assert row["kind"] == known.kind == kind
    expected = known.limits if kind == "two rays" else (known.low, known.high)
    assert limits(row, "low", "high") == pytest.approx(expected, nan_ok=True)
    assert math.isinf(row["high"]) == (kind == "whole line")


def test_of_two_rays_what_lies_between_the_limits_is_not_in_the_set():
    gain, cost = [0.9, 0.6, 0.9], [0.0, 3, 9]
    row = reading(efficiency(scored({"direct": none(3), "x": (gain, cost)})), FIELLER)
    known = fieller_interval(gain, cost)
    assert not known.contains((row["low"] + row["high"]) / 2)
    assert known.contains(row["low"] - 1e-6)
    assert known.contains(row["estimate"])
    for ratio in limits(row, "low", "high"):  # where the dual t-test has p = .05
        assert stats.ttest_1samp(
            np.subtract(gain, np.multiply(ratio, cost)), 0
        ).pvalue == pytest.approx(0.05)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 5)), min_size=1, max_size=9
    )
)
def test_whatever_the_values_each_reading_is_its_function_of_the_arrays(items):
    f1, direct, cost = (np.array(column, dtype=float) for column in zip(*items, strict=True))
    table = efficiency(scored({"direct": (direct / 8, 0 * cost), "x": (f1 / 8, cost)}))
    gain = (f1 - direct) / 8
    for name, zero in ((MEAN, "nan"), (ZEROS, "zero")):
        assert limits(reading(table, name)) == of(mean_of_ratios(gain, cost, zero=zero))
    assert limits(reading(table, BCA)) == of(ratio_of_means_bca(gain, cost))
    assert reading(table, FIELLER)["kind"] == fieller_interval(gain, cost).kind


# ---- ratios against each other -----------------------------------------------------------------------------------------


def test_differences_are_taken_on_the_examples_that_both_have():
    f1 = [*LBRAG[0][:4], NAN]
    row = ratio_differences(scored(SYSTEMS | {"lbrag": (f1, LBRAG[1])})).iloc[0]
    first, second = (np.array([GAINS[name][:4], COSTS[name][:4]]) for name in ("cross", "lbrag"))
    known = compare_ratios(*first, *second)
    assert (row["ratio"], row["other_ratio"]) == pytest.approx((1.75 / 750, 1.5 / 70))
    assert limits(row, "difference", "low", "high") == of(known.interval)
    assert row["cost_ratio"] == pytest.approx(70 / 750)
    assert (row["n"], row["warning"]) == (4, known.test.warning)


def test_p_values_are_corrected_over_all_pairs():
    rng = np.random.default_rng(1)
    frame = scored(
        {"direct": none(30)} | {name: (rng.random(30), rng.integers(10, 60, 30)) for name in "abc"}
    )
    table = ratio_differences(frame)
    assert table[["system", "other"]].values.tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert table["p_adjusted"].tolist() == pytest.approx(holm(table["p_value"]).adjusted)


def test_pairs_without_a_common_cost_are_undefined_and_free_systems_have_no_pair():
    lone = {
        "direct": none(4),
        "a": ([0.5, 0.7, NAN, NAN], [3.0, 4, 5, 6]),
        "b": ([NAN, NAN, 0.1, 0.9], [3.0, 4, 5, 6]),
    }
    row = ratio_differences(scored(lone)).iloc[0]
    assert row["n"] == 0
    assert row[["difference", "p_value", "p_adjusted", "cost_ratio"]].isna().all()
    once = {
        "direct": none(3),
        "a": ([0.5, 0.7, 0.4], [0.0, 0, 5]),
        "b": ([0.5, 0.3, NAN], [3.0, 4, 5]),
    }
    row = ratio_differences(scored(once)).iloc[0]
    assert math.isnan(row["cost_ratio"])
    assert "the mean denominator is 0" in row["warning"]
    free = ratio_differences(
        scored({"direct": none(3), "a": none(3, 0.5), "b": ([0.5, 0.3, 0.2], [3.0, 4, 5])})
    )
    assert free.empty
    assert "p_adjusted" in free


# ---- net benefit -------------------------------------------------------------------------------------------------------


def test_benefits_are_those_of_the_arrays_and_zero_at_the_ratio_of_means():
    ratio = 2.0 / 1000
    table = benefits(scored(SYSTEMS), [*PRICES, ratio], confidence_level=0.9).query(
        "system == 'cross'"
    )
    gain, cost = GAINS["cross"], COSTS["cross"]
    known = net_benefit(gain, cost, [*PRICES, ratio], confidence_level=0.9)
    assert [limits(row, "net_benefit", "low", "high") for _, row in table.iterrows()] == [
        of(interval) for interval in known
    ]
    assert table["acceptability"].tolist() == pytest.approx(
        acceptability_curve(gain, cost, [*PRICES, ratio])
    )
    assert table.iloc[-1]["net_benefit"] == pytest.approx(0)
    assert table.iloc[-1]["acceptability"] == pytest.approx(0.5)
    assert set(zip(table["n"], table["n_units"], strict=True)) == {(5, 5)}


def test_acceptability_crosses_at_fieller_limits_also_with_clusters():
    ids = ["a", "a", "b", "c", "d", "d", "e", "f"]
    rng = np.random.default_rng(0)
    frame = scored(
        {"direct": none(8), "x": (rng.random(8), rng.integers(20, 40, 8))}, question_id=ids * 4
    )
    row = reading(efficiency(frame), FIELLER)
    found = benefits(frame, [row["low"], row["high"]])
    assert found["acceptability"].tolist() == pytest.approx([0.975, 0.025])
    assert set(found["n_units"]) == {6}


# ---- the frontier ------------------------------------------------------------------------------------------------------


def table_of(**means):
    """Statuses of systems with these (gain, cost) on two items."""
    frame = scored(
        {"direct": none(2)}
        | {name: ([gain] * 2, [cost] * 2) for name, (gain, cost) in means.items()}
    )
    return incremental(frame).set_index("system")


def test_the_frontier_by_hand():
    rows = table_of(cheap=(0.3, 30.0), poor=(0.2, 40.0), between=(0.32, 60.0), dear=(0.6, 90.0))
    assert rows["status"].to_dict() == {"direct": "frontier", "cheap": "frontier", "poor": "dominated",
                                        "between": "extendedly dominated", "dear": "frontier"}  # fmt: skip
    assert rows["icer"].tolist() == pytest.approx([NAN, 100, NAN, NAN, 200], nan_ok=True)
    assert rows["against"].tolist() == ["", "direct", "cheap", "cheap and dear", "cheap"]
    assert set(rows["n"]) == {2}


def test_the_baseline_is_always_in_it():
    assert table_of(loss=(-0.2, 10.0))["status"].to_dict() == {
        "direct": "frontier",
        "loss": "dominated",
    }
    assert table_of(free=(0.2, 0.0))["status"].to_dict() == {
        "free": "frontier",
        "direct": "dominated",
    }


def test_means_are_over_the_examples_of_all_systems():
    f1 = [NAN, *LBRAG[0][1:]]
    rows = incremental(scored(SYSTEMS | {"lbrag": (f1, LBRAG[1])})).set_index("system")
    assert rows.loc["cross", "mean_gain"] == pytest.approx(np.mean(GAINS["cross"][1:]))
    assert rows.loc["lbrag", "mean_cost"] == 20
    assert set(rows["n"]) == {4}


# ---- ranks -------------------------------------------------------------------------------------------------------------


def many(n=36, languages=3, seed=0):
    """Four systems on questions in several languages; F1 of array items by systems."""
    rng = np.random.default_rng(seed)
    values = np.round(rng.random((n, 1)) / 2 + rng.random((n, 4)) / 2 * [0.6, 1, 0.8, 1], 3)
    frame = scored(dict(zip("zyxw", ((values[:, j], np.zeros(n)) for j in range(4)), strict=True)))
    place = frame["example_id"].str[1:].astype(int)
    examples = "q" + place.astype(str).str.zfill(2)
    return values, frame.assign(
        example_id=examples, question_id="Q" + (place // languages).astype(str)
    )


def test_ranks_are_those_of_the_question_means_in_the_order_of_the_frame():
    values, frame = many()
    means = values.reshape(12, 3, 4).mean(axis=1)
    table = ranks(frame, rng=np.random.default_rng(3), confidence_level=0.9)
    known = rank_intervals(means, rng=np.random.default_rng(3), confidence_level=0.9)
    assert table["system"].tolist() == list("zyxw")
    for (_, row), system in zip(table.iterrows(), known, strict=True):
        assert limits(row, "average_rank", "average_rank_low", "average_rank_high") == of(
            system.average_rank
        )
        assert limits(row, "rank", "rank_low", "rank_high") == of(system.rank)
        assert row["probability_best"] == system.probability_best
    assert table["mean"].tolist() == pytest.approx(means.mean(axis=0))
    assert set(zip(table["n"], table["confidence_level"], strict=True)) == {(12, 0.9)}
    alike = friedman_test(means)
    assert set(zip(table["test"], table["statistic"], table["p_value"], strict=True)) == {
        (alike.method, alike.statistic, alike.p_value)
    }
    assert alike.statistic > 0


def test_where_less_is_better_the_least_is_first():
    _, frame = many()
    cost = frame[frame["metric"] == "answer.f1"].assign(metric="cost.translation_tokens")
    less, more = (ranks(scores, rng=np.random.default_rng(0), metric=metric).set_index("system")
                  for scores, metric in ((cost, "cost.translation_tokens"), (frame, "answer.f1")))  # fmt: skip
    assert less["rank"].tolist() == (5 - more["rank"]).tolist()
    assert less["rank"].idxmin() == less["mean"].idxmin() == "z"
    assert less["mean"].tolist() == more["mean"].tolist()


def test_the_direction_of_a_metric_that_is_not_ours_is_to_be_said():
    _, frame = many()
    own = frame[frame["metric"] == "answer.f1"].assign(metric="my.length")
    with pytest.raises(
        InputError,
        match="ranks need higher_is_better for my.length",
    ):
        ranks(own, rng=np.random.default_rng(0), metric="my.length")
    more, less = (
        ranks(own, rng=np.random.default_rng(0), metric="my.length", higher_is_better=way)
        for way in (True, False)
    )
    same(more, ranks(frame, rng=np.random.default_rng(0)))
    assert less["rank"].tolist() == (5 - more["rank"]).tolist()


def test_ranks_say_what_they_need():
    _, frame = many()
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="of two or more systems; got z"):
        ranks(frame[frame["system"] == "z"], rng=rng)
    with pytest.raises(InputError, match="higher_is_better for answer.f2"):
        ranks(frame, rng=rng, metric="answer.f2")
    with pytest.raises(InputError, match="of every system; got none"):
        ranks(frame.assign(value=frame["value"].mask(frame["system"] == "z")), rng=rng)
    with pytest.raises(InputError, match="144 scores doubled"):
        ranks(pd.concat([frame, frame]), rng=rng)


# ---- the report, and recorded runs -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reports():
    responses = recorded_responses("multilingual")
    return {
        variant: ragnb.multilingual_report(responses, variant=variant)
        for variant in ("unicode", "lbrag")
    }


@pytest.mark.parametrize(("variant", "name"), [("unicode", MEAN), ("lbrag", ZEROS)])
def test_the_rules_for_zeros_are_those_of_cnbe(reports, variant, name):
    report = reports[variant]
    cnbe = report.table[report.table["metric"] == "cost.cnbe"].set_index("system")
    for system in ("multi", "cross", "lbrag"):
        row = reading(efficiency(report.scores), name, system)
        expected = limits(cnbe.loc[system], "mean", "low", "high")
        assert limits(row) == pytest.approx(expected, nan_ok=True)
    by_hand = bridging(report.scores, variant="lbrag").query("system == 'cross'")["value"].mean()
    assert reading(efficiency(report.scores), ZEROS, "cross")["estimate"] == pytest.approx(by_hand)


def test_recorded_runs_pooled_over_their_languages(reports):
    table = efficiency(reports["unicode"].scores)
    assert set(zip(table["n"], table["n_units"], table["left_out"], strict=True)) == {(240, 40, 0)}
    assert table.query("system != 'multi'")["interval"].str.contains("40 clusters").all()
    pairs = gains_and_costs(reports["unicode"].scores)
    for system in ("cross", "lbrag"):
        sums = pairs[pairs["system"] == system][["gain", "cost"]].sum()
        assert reading(table, FIELLER, system)["estimate"] == pytest.approx(
            sums["gain"] / sums["cost"]
        )
    assert reading(table, FIELLER, "multi")["kind"] == "undefined"
    difference = ratio_differences(reports["unicode"].scores).iloc[0]
    assert difference["high"] < 0
    assert difference["p_adjusted"] < 0.001
