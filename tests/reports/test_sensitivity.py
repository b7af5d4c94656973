"""Systems under all definitions of a correct answer."""

import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError
from ragnb.metrics.record import METRICS, PUNISHED

N = 30
QUESTIONS = {"example_id": [f"q{number}" for number in range(N)], "references": ["Oslo"] * N}


def answers(system, responses, **more):
    return pd.DataFrame(QUESTIONS | {"system": system, "response": responses} | more)


def terse(n_right):
    return answers("terse", ["Oslo"] * n_right + ["Rome"] * (N - n_right))


def wordy(n_right):
    sentence = "It is the city of {}, as everyone knows."
    return answers(
        "wordy", [sentence.format("Oslo")] * n_right + [sentence.format("Rome")] * (N - n_right)
    )


def test_the_better_system_depends_on_whether_extra_words_cost():
    result = ragnb.compare_definitions(pd.concat([terse(15), wordy(30)]), progress=False)
    (row,) = result.conclusions.to_dict("records")
    assert row["conclusion"] == "depends on extra words"
    assert {"answer.exact_match", "answer.f1", "answer.precision"} <= set(row["worse_under"])
    assert {"answer.contains", "answer.recall", "rgb.accuracy"} == set(row["better_under"])
    assert row["sentence"].endswith("terse is ahead where extra words cost.")
    assert result.ranks.loc["terse", "exact match"] == 1
    assert result.ranks.loc["wordy", "contains the reference"] == 1
    # All 30 wordy answers contain the reference, and none equals it.
    assert len(result.flips) == N
    assert set(result.flips["system"]) == {"wordy"}


def test_a_system_that_is_better_under_every_metric_is_robustly_better():
    result = ragnb.compare_definitions(
        pd.concat([terse(30), terse(0).assign(system="b")]), progress=False
    )
    (row,) = result.conclusions.to_dict("records")
    n_metrics = result.definitions["metric"].nunique()
    assert row["conclusion"] == "robust"
    assert row["sentence"] == f"terse is better than b under all {n_metrics} metrics."
    assert result.flips.empty
    assert "robust" in repr(result)
    assert "neither a vote" in result._repr_html_()


def test_equal_systems_are_undecided_and_half_shown_ones_say_so():
    same = ragnb.compare_definitions(
        pd.concat([terse(15), terse(15).assign(system="b")]), progress=False
    )
    assert same.conclusions["conclusion"].tolist() == ["undecided"]
    # Both contain the reference in all answers; only the words around it differ.
    result = ragnb.compare_definitions(pd.concat([terse(30), wordy(30)]), progress=False)
    (row,) = result.conclusions.to_dict("records")
    n_metrics = result.definitions["metric"].nunique()
    assert row["conclusion"] == f"shown under {len(row['worse_under'])} of {n_metrics} metrics"
    assert "answer.contains" in row["undecided_under"]
    assert row["sentence"].startswith("terse is better than wordy under ")


def test_verdicts_of_people_and_judges_are_definitions_too():
    both = pd.concat([terse(15), wordy(30)])
    is_right = both["response"].str.contains("Oslo")
    frame = both.assign(verdict=is_right, judged_correct=is_right.astype(int))
    result = ragnb.compare_definitions(frame, progress=False)
    assert {"annotator.verdict", "semantic.judged_correctness"} <= set(result.definitions["metric"])
    without = ragnb.compare_definitions(both, progress=False)
    assert without.left_out["accepted by people"] == "needs the column verdict"
    assert "Left out: accepted by people, which needs the column verdict." in repr(without)


def test_variants_of_one_metric_count_as_one_metric():
    """Under squad, articles do not count, so one variant of exact match differs from the others."""
    frame = pd.concat([answers("a", ["The Oslo"] * N), answers("b", ["Rome"] * N)])
    result = ragnb.compare_definitions(frame, ["em", "contains"], progress=False)
    (row,) = result.conclusions.to_dict("records")
    # The baseline a comes first in the frame, so b is the system.
    assert row["worse_under"] == ["answer.contains"]
    assert row["undecided_under"] == ["answer.exact_match"]
    differences = result.differences.set_index("definition")["difference"]
    assert differences["exact match"] == 0
    assert differences["exact match (squad)"] == -1


def test_differences_and_rates_are_those_of_compare_and_summarize():
    frame = pd.concat([terse(15), wordy(22)])
    result = ragnb.compare_definitions(frame, progress=False)
    scores = ragnb.score(frame, "f1", variant="squad")
    (row,) = result.differences[result.differences["definition"] == "token F1 (squad)"].to_dict(
        "records"
    )
    (expected,) = ragnb.compare(scores).to_dict("records")
    for column in ("difference", "low", "high", "p_value", "n_pairs"):
        assert row[column] == expected[column]
    rates = result.rates[result.rates["definition"] == "token F1 (squad)"].set_index("system")
    means = ragnb.summarize(scores).set_index("system")
    assert rates["mean"].to_dict() == means["mean"].to_dict()


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InputError, match="compares systems, and needs two or more, got 1"):
        ragnb.compare_definitions(terse(15))
    both = pd.concat([terse(15), wordy(15)])
    with pytest.raises(InputError, match="takes by= only with one metric"):
        ragnb.compare_definitions(both, by="language")
    with pytest.raises(InputError, match="no metric can score these responses"):
        ragnb.compare_definitions(both.drop(columns="references"), progress=False)
    with pytest.raises(InputError, match="pairs systems by example_id"):
        ragnb.compare_definitions(both.drop(columns="example_id"), progress=False)


def test_a_variant_that_was_chosen_is_the_only_one_and_a_misspelt_option_is_refused():
    both = pd.concat([terse(15), wordy(30)])
    result = ragnb.compare_definitions(both, ["f1", "em"], variant="squad", progress=False)
    assert result.definitions["definition"].tolist() == ["token F1", "exact match"]
    assert result.scores["signature"].str.contains("variant:squad").all()
    with pytest.raises(InputError, match="got 'varient'; did you mean 'variant'"):
        ragnb.compare_definitions(both, varient="squad", progress=False)


def test_metrics_of_correctness_say_what_they_punish():
    for metric in METRICS.values():
        assert metric.punishes is None or set(metric.punishes) <= set(PUNISHED)
    # Under each metric that punishes extra words, extra words lower the value of a right answer.
    right, longer = "Oslo", "Oslo, the old harbour city in the south of Norway"
    for name, metric in METRICS.items():
        if metric.punishes is None or "response" not in metric.columns.values():
            continue
        has_loss = metric(longer, right) < metric(right, right)
        assert has_loss == ("extra words" in metric.punishes), name


@pytest.mark.slow
def test_fid_is_first_where_extra_words_cost():
    responses = ragnb.load_study("evouna-nq", usable=True)
    result = ragnb.compare_definitions(responses, progress=False)
    conclusions = result.conclusions.set_index(["system", "baseline"])["conclusion"]
    for system in ("ChatGPT", "GPT-4", "New Bing"):
        assert conclusions[system, "FiD"] == "depends on extra words"
    assert conclusions["GPT-3.5", "FiD"] == "robust"
    assert (
        result.ranks.loc["FiD", ["exact match", "token F1", "ROUGE-L", "BLEU"]].tolist() == [1] * 4
    )
    assert result.ranks.loc["FiD", "contains the reference"] == 3
    assert result.ranks.loc["FiD", "accepted by people"] == 4
