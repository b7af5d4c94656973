"""`summarize` with clusters and with intervals chosen by name."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ragnb.errors import InputError
from ragnb.scoring import METRICS, compare, summarize
from ragnb.stats.intervals import bca_interval


def scored(values, metric="own.f1", **columns):
    ids = [f"q{k}" for k in range(len(values))]
    return pd.DataFrame(
        {"example_id": ids, "metric": metric, "value": values, "signature": "s"} | columns
    )


@pytest.mark.parametrize(
    ("interval", "low", "high"),
    [
        ("auto", 0.2553, 0.3662),
        ("wilson", 0.2553, 0.3662),
        ("clopper-pearson", None, None),
        ("jeffreys", None, None),
    ],
)
def test_rates_get_the_interval_asked_for(interval, low, high):
    row = summarize(scored([1] * 81 + [0] * 182, "rgb.accuracy"), interval=interval).iloc[
        0
    ]  # Newcombe (1998): 81 of 263
    if low is None:
        law = {
            "clopper-pearson": (stats.beta(81, 183), stats.beta(82, 182)),
            "jeffreys": (stats.beta(81.5, 182.5),) * 2,
        }
        low, high = law[interval][0].ppf(0.025), law[interval][1].ppf(0.975)
    assert (row["low"], row["high"]) == pytest.approx((low, high), abs=5e-5)


def test_means_get_the_interval_asked_for():
    values = np.round(np.random.default_rng(3).random(30), 2)
    known = stats.t.interval(0.95, 29, values.mean(), stats.sem(values))
    row = summarize(scored(values)).iloc[0]
    assert (row["low"], row["high"]) == pytest.approx(known)
    row = summarize(scored(values), interval="bca").iloc[0]
    assert (row["low"], row["high"]) == (bca_interval(values).low, bca_interval(values).high)
    assert row["interval"].startswith("BCa")


@pytest.mark.parametrize("cluster", [None, "question_id"])
@pytest.mark.parametrize(
    ("metric", "low", "high"),
    [
        ("answer.f1", 0, 1),
        ("cost.translation_tokens", 0, np.inf),
        ("own.f1", -np.inf, np.inf),
        ("trace.relevance", 0, 1),
    ],
)
def test_limits_are_cut_at_the_bounds_of_the_metric(metric, low, high, cluster):
    values = [0.5, 1.0, 0.0, 1.0]
    row = summarize(scored(values, metric, question_id=list("abcd")), by=[], cluster=cluster).iloc[
        0
    ]
    t = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert t[0] < 0
    assert t[1] > 1
    assert (row["low"], row["high"]) == (
        pytest.approx(max(t[0], low)),
        pytest.approx(min(t[1], high)),
    )


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=repr)
@pytest.mark.parametrize("kind", [object, "str"])
def test_scores_without_a_signature_are_named_alike_in_a_summary_and_in_a_comparison(missing, kind):
    two = pd.concat([scored([0.5, 1.0, 0.0], system=name) for name in "ab"], ignore_index=True)
    some = two.assign(signature=pd.Series([missing, "v:2", "v:2"] * 2, dtype=kind))
    assert summarize(some)["signature"].tolist() == ["None & v:2"] * 2
    none = two.assign(signature=pd.Series([missing] * 6, dtype=kind))
    assert summarize(none)["signature"].tolist() == ["None"] * 2
    assert compare(none)["signature"].tolist() == ["None"]
    with pytest.raises(
        InputError, match="one definition of own.f1 for 'b' and 'a'; got None and v:2"
    ):
        compare(some)


def test_limits_are_not_cut_where_values_lie_beyond_the_bounds():
    values = [0.5, 1.5, 0.0, 1.0]  # sentences counted twice
    row = summarize(scored(values, "trace.relevance"), by=[]).iloc[0]
    assert (row["low"], row["high"]) == pytest.approx(
        stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    )


def test_clusters_are_the_independent_units():
    twice = pd.concat(
        [scored([1, 0, 1, 1, 0, 1] * 6, "rgb.accuracy", noise_rate=r) for r in (0, 0.4)],
        ignore_index=True,
    )
    with pytest.raises(InputError, match="got 36 more .*or the shared question in cluster="):
        summarize(twice, by=[])
    row = summarize(twice, by=[], cluster="example_id").iloc[0]
    assert row["n"] == 72
    assert row["interval"] == "cluster-robust t, 36 clusters"
    values = np.array(
        [1, 0, 1, 1, 0, 1] * 6
    )  # both items of a cluster are equal: it is the t interval of 36 values
    assert (row["low"], row["high"]) == pytest.approx(
        stats.t.interval(0.95, 35, values.mean(), stats.sem(values))
    )


def test_what_is_unscored_is_counted_with_its_reasons_and_nothing_is_added_when_all_is_scored():
    values = [1.0, 0.0, *[np.nan] * 4, 1.0, 0.0]
    too_long = "HTTP 400: the prompt has 9,000 tokens (limit 8,192)"
    reasons = [None, None, too_long, "timeout", too_long, too_long, None, None]
    cells = scored(values, reason=reasons, system=["a"] * 6 + ["b"] * 2)
    assert summarize(cells)["unscored"].tolist() == ["4 of 6: HTTP 400 (3), timeout (1)", ""]
    assert summarize(cells.drop(columns="reason"))["unscored"].tolist() == ["4 of 6", ""]
    assert "unscored" not in summarize(cells.query("system == 'b'"))


def test_what_a_metric_leaves_out_by_definition_is_not_lost():
    cells = scored(
        [1.0, np.nan, np.nan],
        "rgb.error_correction",
        reason=[None, METRICS["rgb.error_correction"].condition, "x"],
    )
    assert summarize(cells)["unscored"].tolist() == ["1 of 2: x (1)"]


def test_bad_options_say_what_is_needed():
    with pytest.raises(InputError, match="interval must be one of 'auto', 'wilson', .*got 'magic'"):
        summarize(scored([1, 0]), interval="magic")
    with pytest.raises(
        InputError, match="'wilson' needs values of 0 and 1; got own.f1 with others"
    ):
        summarize(scored([0.5, 0.1]), interval="wilson")
    with pytest.raises(InputError, match="cluster column 'topic' .* got a missing one"):
        summarize(scored([0.5, 0.1], topic=["a", None]), by=[], cluster="topic")
    with pytest.raises(InputError, match="needs the columns topic"):
        summarize(scored([0.5, 0.1]), by=[], cluster="topic")
