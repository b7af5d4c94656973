"""Nuggets, citations and spans against the formulas of the tools that define them.

Claims and facts are tested on published labels in ``tests/datasets/test_studies.py``.
"""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.metrics import (
    citation_precision,
    citation_recall,
    nugget_recall,
    span_overlap,
    supported_share,
)

ASSIGNMENTS = st.lists(
    st.fixed_dictionaries(
        {
            "importance": st.sampled_from(["vital", "okay"]),
            "assignment": st.sampled_from(["support", "partial_support", "not_support"]),
        }
    ),
    max_size=12,
)


def autonuggetizer(nuggets):
    """The four scores as the published tool computes them, by counting."""
    vital = [each["assignment"] for each in nuggets if each["importance"] == "vital"]
    everything = [each["assignment"] for each in nuggets]

    def scores(assignments):
        strict = assignments.count("support")
        loose = strict + 0.5 * assignments.count("partial_support")
        return [count / len(assignments) if assignments else 0.0 for count in (strict, loose)]

    return [*scores(vital), *scores(everything)]


@given(ASSIGNMENTS)
def test_nuggets_equal_the_formula_of_the_tool_where_there_are_nuggets(nuggets):
    ours = [
        nugget_recall(nuggets, credit=credit, over=over)
        for over in ("vital", "all")
        for credit in ("strict", "partial")
    ]
    ours = [0.0 if value != value else value for value in ours]  # the tool gives 0.0
    assert ours == pytest.approx(autonuggetizer(nuggets))


def test_citations_follow_the_definition_of_alce():
    """Three statements: two needed citations, one superfluous citation, none."""
    statements = [
        {"supported": 1, "citations": [{"alone": 0, "rest": 0}, {"alone": 0, "rest": 0}]},
        {"supported": 1, "citations": [{"alone": 1, "rest": 0}, {"alone": 0, "rest": 1}]},
        {"supported": 0, "citations": []},
    ]
    assert citation_recall(statements) == pytest.approx(2 / 3)
    assert citation_precision(statements) == pytest.approx(3 / 4)
    unsupported = [{"supported": 0, "citations": [{"alone": 0, "rest": 0}]}]
    assert citation_precision(unsupported) == 0


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_citation_without_a_required_verdict_is_not_scored(missing):
    def precision(supported, alone, rest):
        return citation_precision(
            [{"supported": supported, "citations": [{"alone": alone, "rest": rest}]}]
        )

    assert math.isnan(precision(missing, 1, 0))
    assert math.isnan(precision(1, missing, 0))
    assert precision(0, missing, missing) == 0
    assert precision(1, 1, missing) == 1
    assert precision(1, 0, missing) == 1  # as for a single citation
    with pytest.raises(InputError, match="a verdict must be 0, 1 or None"):
        precision("no", 1, 0)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1),
)
def test_span_overlap_equals_scikit_learn_over_characters(spans, reference):
    from sklearn.metrics import precision_recall_fscore_support

    def marks(each):
        return [any(start <= place < end for start, end in each) for place in range(10)]

    if not (any(marks(spans)) and any(marks(reference))):
        return
    expected = precision_recall_fscore_support(
        marks(reference), marks(spans), average="binary", zero_division=0
    )
    found = [span_overlap(spans, reference, measure=m) for m in ("precision", "recall", "f1")]
    assert found == pytest.approx(expected[:3])


def test_an_unknown_label_is_refused():
    with pytest.raises(InputError, match="label of a part must be one of 'supported'.*'maybe'"):
        supported_share([{"text": "a", "label": "maybe"}])
    with pytest.raises(InputError, match="importance of a nugget must be one of 'vital'.*'Vital'"):
        nugget_recall([{"importance": "Vital", "assignment": "support"}])
