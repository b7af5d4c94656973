"""`summarize`: means, intervals by name, clusters, worst cases and what is unscored."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from ragnb.errors import InputError
from ragnb.scoring import METRICS, compare, score, summarize
from ragnb.stats import bca_interval

NAN = math.nan


def scored(values, metric="own.f1", **columns):
    ids = [f"q{k}" for k in range(len(values))]
    return pd.DataFrame(
        {"example_id": ids, "metric": metric, "value": values, "signature": "s"} | columns
    )


@pytest.mark.parametrize(
    ("values", "mean", "worst"),
    [
        ([1, 0, None, None], 1 / 2, (1 / 4, 3 / 4)),
        ([1, 1, 1, 0, None], 3 / 4, (3 / 5, 4 / 5)),
        ([1, 1, 0], 2 / 3, (2 / 3, 2 / 3)),
        ([0], 0, (0, 0)),
    ],
)
@pytest.mark.parametrize("metric", ["rgb.accuracy", "own.binary"])
def test_a_cell_has_its_mean_wilson_interval_and_worst_cases(metric, values, mean, worst):
    row = summarize(scored(pd.Series(values, dtype=float), metric), confidence_level=0.8).iloc[0]
    known = [value for value in values if value is not None]
    assert row["mean"] == pytest.approx(mean)
    assert (row["n"], row["n_scored"]) == (len(values), len(known))
    assert (row["worst_low"], row["worst_high"]) == pytest.approx(worst)
    limits = proportion_confint(sum(known), len(known), alpha=0.2, method="wilson")
    assert (row["low"], row["high"]) == pytest.approx(limits)
    assert (row["interval"], row["confidence_level"]) == ("Wilson", 0.8)


def test_a_cell_with_nothing_scored_says_so_and_an_unknown_metric_claims_no_bounds():
    known, unknown = (summarize(scored([NAN] * 2, name)).iloc[0] for name in ("rgb.accuracy", "x"))
    assert (known["n"], known["n_scored"]) == (2, 0)
    assert known[["mean", "low", "high"]].isna().all()
    assert known["problem"]
    assert (known["worst_low"], known["worst_high"]) == (0.0, 1.0)
    assert unknown[["mean", "worst_low", "worst_high"]].isna().all()


@pytest.mark.parametrize("metric", ["cost.cnbe", "answer.flesch_reading_ease"])
def test_a_metric_without_bounds_is_never_a_rate_and_has_no_worst_case(metric):
    zeros = summarize(scored([0.0] * 4, metric)).iloc[0]
    assert (zeros["mean"], zeros["interval"]) == (0.0, "t")
    lost = summarize(scored([0.0, 1.0, NAN], metric)).iloc[0]
    assert lost["interval"] == "t"
    assert (lost["n"], lost["n_scored"]) == (3, 2)
    assert lost[["worst_low", "worst_high"]].isna().all()


def test_cells_are_those_of_the_conditions_or_of_by():
    cells = [("a", 0.0, [1.0, 1]), ("a", NAN, [1.0, 0]), ("b", 0.0, [0.0])]
    topics = ["sea", "land"]
    parts = [
        scored(values, system=system, noise_rate=rate, topic=topics[: len(values)])
        for system, rate, values in cells
    ]
    table = summarize(pd.concat(parts))
    assert table["mean"].tolist() == [1.0, 0.5, 0.0]
    assert table.columns[:3].tolist() == ["system", "noise_rate", "metric"]
    for by in ("topic", ["topic"]):
        table = summarize(pd.concat(parts), by=by, cluster="example_id")
        found = table[["topic", "mean", "n"]].values.tolist()
        assert found == [["sea", 2 / 3, 3], ["land", 0.5, 2]]


@pytest.mark.parametrize(("missing", "kind"), [(None, object), (pd.NA, object), (NAN, "str")])
def test_signatures_of_a_cell_are_all_shown_and_a_missing_one_is_called_none(missing, kind):
    two = pd.concat([scored([0.5, 1.0, 0.0], system=name) for name in "ab"], ignore_index=True)
    some = two.assign(signature=pd.Series([missing, "v:2", "v:2"] * 2, dtype=kind))
    assert summarize(some)["signature"].tolist() == ["None & v:2"] * 2
    with pytest.raises(InputError, match="definition of own.f1 for 'b' and 'a', got None and v:2"):
        compare(some)


# ---- intervals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("interval", "limits"),
    [
        ("auto", (0.2553, 0.3662)),  # Newcombe (1998): 81 of 263
        ("wilson", (0.2553, 0.3662)),
        ("clopper-pearson", (stats.beta.ppf(0.025, 81, 183), stats.beta.ppf(0.975, 82, 182))),
        ("jeffreys", tuple(stats.beta.ppf([0.025, 0.975], 81.5, 182.5))),
    ],
)
def test_rates_get_the_requested_interval(interval, limits):
    row = summarize(scored([1] * 81 + [0] * 182, "rgb.accuracy"), interval=interval).iloc[0]
    assert (row["low"], row["high"]) == pytest.approx(limits, abs=5e-5)


def test_a_binary_metric_with_other_values_gets_the_interval_of_a_mean():
    values = np.array([0, 0.5, 1, 1, 0.5])  # means of several responses per question
    row = summarize(scored(values, "answer.exact_match")).iloc[0]
    low, high = stats.t.interval(0.95, 4, values.mean(), stats.sem(values))
    assert (row["mean"], row["interval"]) == (0.6, "t")
    assert [row["low"], row["high"]] == pytest.approx([max(0, low), min(1, high)])
    half = summarize(scored([0.5] * 4, "answer.exact_match")).iloc[0]
    assert half["mean"] == 0.5
    assert half["low"] < 0.5 < half["high"]


def test_means_get_the_requested_interval():
    values = np.round(np.random.default_rng(3).random(30), 2)
    row = summarize(scored(values)).iloc[0]
    known = stats.t.interval(0.95, 29, values.mean(), stats.sem(values))
    assert (row["low"], row["high"]) == pytest.approx(known)
    assert row["interval"] == "t"
    row = summarize(scored(values), interval="bca").iloc[0]
    assert (row["low"], row["high"]) == (bca_interval(values).low, bca_interval(values).high)


@pytest.mark.parametrize("cluster", [None, "question_id"])
@pytest.mark.parametrize(
    ("metric", "bounds"),
    [
        ("answer.f1", (0, 1)),
        ("cost.translation_tokens", (0, np.inf)),
        ("own.f1", (-np.inf, np.inf)),
    ],
)
def test_limits_are_cut_at_the_bounds_of_the_metric(metric, bounds, cluster):
    values = [0.5, 1.0, 0.0, 1.0]
    row = summarize(scored(values, metric, question_id=list("abcd")), cluster=cluster).iloc[0]
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert low < 0 < 1 < high
    assert (row["low"], row["high"]) == pytest.approx((max(low, bounds[0]), min(high, bounds[1])))


def test_clusters_are_the_independent_units():
    values = [1, 0, 1, 1, 0, 1] * 6
    parts = [scored(values, "rgb.accuracy", noise_rate=rate) for rate in (0, 0.4)]
    twice = pd.concat(parts, ignore_index=True)
    with pytest.raises(
        InputError,
        match="without cluster= needs one row for each metric and example_id, got 36 repeated, such as .* q0",
    ):
        summarize(twice, by=[])
    row = summarize(twice, by=[], cluster="example_id").iloc[0]
    assert (row["n"], row["interval"]) == (72, "cluster-robust t, 36 clusters")
    # Both items of a cluster are equal, so this is the t interval of 36 values.
    known = stats.t.interval(0.95, 35, np.mean(values), stats.sem(values))
    assert (row["low"], row["high"]) == pytest.approx(known)


@pytest.mark.parametrize(
    ("values", "worst"), [([0.5, NAN], (0.25, 0.75)), ([3.0, 1.0, NAN], (4 / 3, 7 / 3))]
)
def test_bounds_do_not_hold_if_values_lie_beyond_them(values, worst):
    row = summarize(scored(values, "trace.relevance")).iloc[0]
    assert (row["worst_low"], row["worst_high"]) == pytest.approx(worst)
    beyond = [0.5, 1.5, 0.0, 1.0]  # sentences counted twice
    row = summarize(scored(beyond, "trace.relevance")).iloc[0]
    limits = stats.t.interval(0.95, 3, np.mean(beyond), stats.sem(beyond))
    assert (row["low"], row["high"]) == pytest.approx(limits)


# ---- what is unscored --------------------------------------------------------------------------


def test_what_is_unscored_is_counted_with_its_reasons():
    too_long = "HTTP 400: the prompt has 9,000 tokens (limit 8,192)"
    reasons = [None, None, too_long, "timeout", too_long, too_long, None, None]
    values = [1.0, 0.0, NAN, NAN, NAN, NAN, 1.0, 0.0]
    cells = scored(values, reason=reasons, system=["a"] * 6 + ["b"] * 2)
    assert summarize(cells)["unscored"].tolist() == ["4 of 6: HTTP 400 (3), timeout (1)", ""]
    assert summarize(cells.drop(columns="reason"))["unscored"].tolist() == ["4 of 6", ""]
    assert "unscored" not in summarize(cells.query("system == 'b'"))


def test_responses_that_a_metric_leaves_out_by_definition_do_not_count_in_n():
    said = ["There are factual errors: Oslo", "Oslo", "There are factual errors.", None]
    responses = pd.DataFrame({"references": "Oslo", "response": pd.Series(said, dtype=object)})
    row = summarize(score(responses, "rgb.error_correction")).iloc[0]
    assert (row["mean"], row["n"], row["n_scored"]) == (0.5, 3, 2)  # a missing response stays in n
    assert (row["worst_low"], row["worst_high"]) == pytest.approx((1 / 3, 2 / 3))
    assert row["unscored"] == "1 of 3: no response (1)"
    assert METRICS["rgb.error_correction"].condition == "no error detected"


@pytest.mark.parametrize(
    ("scores", "options", "words"),
    [
        (scored([1.0]).drop(columns="value"), {}, "summarize.*without value"),
        (scored([1.0]), {"by": "topic"}, "summarize needs the columns topic"),
        (scored([1.0]).assign(metric=None), {}, "name of the metric in each row .*, got 1 of 1"),
        (scored([0.5, 0.1]), {"cluster": "topic"}, "summarize needs the columns topic"),
        (scored([]), {}, "at least one row of scores"),
        (scored(["a"]), {}, r"numbers in value \(.*'a'"),
        (scored([1, 0]), {"interval": "magic"}, "interval must be one of 'auto', .*got 'magic'"),
        (scored([0.5, 0.1]), {"interval": "wilson"}, "'wilson' needs values of 0 and 1, got other values of own.f1"),
        (scored([1.0]), {"confidence_level": 95}, "confidence_level must be .*, got 95"),
        (scored([0.5, 0.1], topic=["a", None]), {"cluster": "topic"}, "key per item, got a missing"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_in_one_sentence(scores, options, words):
    with pytest.raises(InputError, match=words):
        summarize(scores, **options)
