"""Groups of systems that a comparison of all pairs does not separate."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError
from ragnb.reports import letter_display, rank_systems
from ragnb.reports.letters import letters_of
from ragnb.stats import inseparable_groups

# Outputs of multcompLetters of the R package multcompView, which implements Piepho (2004), from its
# documentation: separated pairs -> letters.
MULTCOMPVIEW = [
    ("ABC", ["BC"], {"A": "ab", "B": "a", "C": "b"}),
    ("ABCD", ["AC", "BC"], {"A": "a", "B": "a", "C": "b", "D": "ab"}),
]


@pytest.mark.parametrize(("items", "separated", "letters"), MULTCOMPVIEW)
def test_letters_are_those_of_multcompview(items, separated, letters):
    groups = inseparable_groups(items, [tuple(pair) for pair in separated])
    assert letters_of(items, groups) == letters


def maximal_cliques(items, separated):
    """All largest sets without a separated pair, by trying every set."""
    cliques = []
    for size in range(len(items), 0, -1):
        for group in combinations(items, size):
            is_clique = not any({*pair} <= {*group} for pair in separated)
            if is_clique and not any({*group} < {*clique} for clique in cliques):
                cliques.append(group)
    return sorted(cliques)


@pytest.mark.parametrize("seed", range(60))
def test_groups_are_all_maximal_cliques(seed):
    rng = np.random.default_rng(seed)
    items = range(int(rng.integers(1, 9)))
    pairs = list(combinations(items, 2))
    separated = [pair for pair in pairs if rng.random() < rng.choice([0.1, 0.5, 0.9])]
    groups = inseparable_groups(items, separated)
    assert groups == maximal_cliques(items, separated)
    # Neither the order of the pairs nor that within a pair matters.
    turned = [(second, first) for first, second in rng.permutation(separated).tolist()]
    assert inseparable_groups(items, turned) == groups
    letters = letters_of(items, groups)
    for first, second in pairs:
        share = bool({*letters[first]} & {*letters[second]})
        assert share == ((first, second) not in separated)


def test_impossible_pairs_are_refused():
    assert inseparable_groups([], []) == []
    with pytest.raises(InputError, match="items must be different"):
        inseparable_groups("aa", [])
    for pair in (("a", "a"), ("a", "c")):
        with pytest.raises(InputError, match="pairs of two items"):
            inseparable_groups("ab", [pair])


# ---- comparisons ---------------------------------------------------------------------------------


def scores_of(counts, n=60, metric="answer.contains"):
    """Scores of systems that have the first questions right."""
    rows = []
    for system, count in counts.items():
        values = (np.arange(n) < count).astype(float)
        rows.append(pd.DataFrame({"example_id": range(n), "system": system, "value": values}))
    return pd.concat(rows, ignore_index=True).assign(metric=metric, signature="s")


def test_letters_follow_the_adjusted_p_values():
    comparisons = ragnb.compare(scores_of({"low": 10, "middle": 14, "high": 18, "top": 55}))
    display = letter_display(comparisons)
    table = display.table.set_index("system")
    assert list(table.index) == ["top", "high", "middle", "low"]
    assert table["mean"].tolist() == pytest.approx([55 / 60, 18 / 60, 14 / 60, 10 / 60])
    for row in comparisons.to_dict("records"):
        share = {*table.loc[row["system"], "letters"]} & {*table.loc[row["baseline"], "letters"]}
        assert bool(share) == (row["p_adjusted"] >= 0.05)
    assert table["letters"].tolist() == ["a", "b", "bc", "c"]
    assert display.groups["systems"].tolist() == [("top",), ("high", "middle"), ("middle", "low")]
    assert (
        display.sentence() == "answer.contains: not separated are high and middle; middle and low."
    )
    assert "Holm's correction at the 5% level" in display.note
    assert "<table" in display._repr_html_()


def test_two_equal_systems_and_a_metric_that_is_better_if_lower():
    display = letter_display(ragnb.compare(scores_of({"a": 5, "b": 5})))
    assert display.table["letters"].tolist() == ["a", "a"]
    assert display.sentence() == "answer.contains: the data separate none of a and b."
    scores = scores_of({"a": 5, "b": 50}, metric="abstention.hallucination")
    display = letter_display(ragnb.compare(scores))
    assert display.table["system"].tolist() == ["a", "b"]
    assert display.sentence() == "abstention.hallucination: every pair of systems is separated."


def test_cells_and_metrics_have_groups_of_their_own():
    frames = [
        scores_of({"a": 5, "b": 50}).assign(language="en"),
        scores_of({"a": 5, "b": 5}).assign(language="zh"),
    ]
    display = letter_display(ragnb.compare(pd.concat(frames)))
    assert display.table["letters"].tolist() == ["a", "b", "a", "a"]
    assert display.table["language"].tolist() == ["en", "en", "zh", "zh"]


def test_a_comparison_without_a_test_separates_nothing():
    scores = scores_of({"a": 60, "b": 60, "c": 5})
    scores.loc[scores["system"] == "c", "value"] = np.nan
    display = letter_display(ragnb.compare(scores, unpaired="drop"))
    assert display.table["letters"].tolist() == ["a", "a", "a"]
    assert "2 pairs have no test" in display.note


def test_every_pair_is_needed():
    scores = scores_of({"a": 5, "b": 6, "c": 7})
    with pytest.raises(
        InputError, match=r"each pair of the 3 systems once \(3 pairs\), got 2 rows"
    ):
        letter_display(ragnb.compare(scores, baseline="a"))
    with pytest.raises(InputError, match="at least one comparison"):
        letter_display(ragnb.compare(scores).iloc[:0])


def test_a_ranking_has_the_same_letters():
    scores = scores_of({"low": 10, "middle": 14, "high": 18, "top": 55})
    details = rank_systems(scores, {"accuracy": "answer.contains"}).details.set_index("system")
    expected = letter_display(ragnb.compare(scores)).table.set_index("system")["letters"]
    assert details["letters"].to_dict() == expected.to_dict()


def test_more_than_52_groups_have_distinct_letters():
    systems = [f"s{n}" for n in range(55)]
    letters = letters_of(systems, [(system,) for system in systems])
    assert len({*letters.values()}) == 55
    assert letters["s52"] == ".a"
