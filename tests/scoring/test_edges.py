import math
from numbers import Real

import pandas as pd
import pytest

from ragnb.errors import InputError
from ragnb.scoring import METRICS, Metric, edge_cases
from ragnb.scoring.edges import CASES


def test_every_metric_is_shown_at_every_edge():
    table = edge_cases()
    assert list(table.index) == list(METRICS)
    assert list(table.columns) == list(CASES)


def test_a_cell_is_a_number_or_says_why_there_is_none():
    for cell in edge_cases().to_numpy().ravel():
        assert (isinstance(cell, Real) and math.isfinite(cell)) or (
            isinstance(cell, str) and cell.startswith("nan: ")
        )


def test_every_metric_has_a_value_of_the_right_answer_unless_it_leaves_it_out_by_definition():
    for name, cell in edge_cases()["right answer"].items():
        assert isinstance(cell, Real) or cell == f"nan: {METRICS[name].condition}"


@pytest.mark.parametrize(
    ("metric", "options", "expected"),
    [  # by hand from the definitions; None is nan
        (
            "rgb.accuracy",
            {},
            {
                "right answer": 1,
                "refusal": 0,
                "empty response": 0,
                "no reference": None,
                "no response": None,
            },
        ),
        (
            "rgb.rejection",
            {},
            {
                "right answer": 0,
                "refusal": 1,
                "no sentence": 0,
                "no reference": 0,
                "no response": None,
            },
        ),
        (
            "rgb.rejection",
            {"protocol": "released"},
            {"right answer": 1, "refusal": 1, "another language": 0, "no reference": None},
        ),
        (
            "rgb.error_correction",
            {},
            {"right answer": None, "refusal": None, "refusal after an error": 0},
        ),
        (
            "rgb.error_correction",
            {"protocol": "released"},
            {"refusal": None, "refusal after an error": 1},
        ),
        (
            "rgb.error_correction",
            {"protocol": "flexible"},
            {"right answer": 1, "refusal": 0, "refusal after an error": 0},
        ),
        ("rgb.judged_rejection", {}, {"refusal": 1, "unreadable judge": None, "no reference": 0}),
        (
            "trace.relevance",
            {},
            {"right answer": 1 / 2, "empty context": None, "unreadable judge": None},
        ),
        ("trace.relevance", {"variant": "guide"}, {"right answer": 1 / 20, "empty context": None}),
        ("trace.utilization", {"variant": "guide"}, {"right answer": 1, "refusal": 0}),
        (
            "trace.completeness",
            {},
            {"right answer": 1, "refusal": 0, "empty response": 0, "empty context": None},
        ),
        (
            "trace.adherence",
            {},
            {"refusal": 1, "empty response": 1, "empty context": 0, "unreadable judge": None},
        ),
        (
            "trace.supported_fraction",
            {},
            {"refusal": 1, "empty response": None, "empty context": 0},
        ),
        (
            "answer.f1",
            {},
            {"right answer": 2 / 5, "refusal": 0, "empty response": 0, "no reference": None},
        ),
        ("answer.recall", {}, {"right answer": 1, "another language": 0}),
        (
            "language.rlc",
            {},
            {"refusal": 1, "no sentence": None, "empty response": None, "another language": 0},
        ),
        (
            "language.rlc",
            {"variant": "lbrag"},
            {"no sentence": 0, "empty response": 1, "another language": 1},
        ),
        (
            "cost.translation_tokens",
            {},
            {"right answer": 7, "empty context": 0, "no response": None},
        ),
        (
            "semantic.judged_similarity",
            {},
            {"refusal": 0, "empty response": None, "unreadable judge": None},
        ),
        ("semantic.embedding_cosine", {}, {"right answer": 24 / 25, "empty response": None}),
        ("annotator.verdict", {}, {"refusal": 0, "unreadable judge": None}),
    ],
)
def test_values_at_the_edges_are_those_of_the_definition(metric, options, expected):
    row = edge_cases(metric, **options).loc[metric]
    for case, number in expected.items():
        assert (
            row[case] == pytest.approx(number)
            if number is not None
            else row[case].startswith("nan: ")
        ), case


def test_an_unscored_edge_says_what_is_missing():
    table = edge_cases(["rgb.error_correction", "answer.f1", "semantic.judged_correctness"])
    assert table.loc["rgb.error_correction", "refusal"] == "nan: no error detected"
    assert table.loc["answer.f1", "no reference"] == "nan: no references"
    assert table.loc["semantic.judged_correctness", "unreadable judge"] == "nan: no judged_correct"


def test_metrics_of_ones_own_stand_at_the_edges_too():
    length = Metric(
        "own.length",
        lambda response: float(len(response)),
        {"response": "response"},
        False,
        (0, math.inf),
        "here",
    )
    table = edge_cases([length, "answer.f1", length])
    assert list(table.index) == ["own.length", "answer.f1", "own.length"]
    assert table.iloc[0]["empty response"] == 0.0
    pd.testing.assert_series_equal(table.iloc[0], table.iloc[2])


def test_what_score_refuses_is_refused():
    with pytest.raises(InputError, match="answer.f1"):
        edge_cases("answer.f2")
    with pytest.raises(InputError, match="protocol"):
        edge_cases("answer.f1", protocol="paper")
