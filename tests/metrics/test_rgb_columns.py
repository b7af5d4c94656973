import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.metrics.rgb import answer_labels, corrects_error, detects_error, is_correct, is_refusal, is_rejection
from ragnb.metrics.rgb_columns import verdicts
from ragnb.metrics.rgb_phrases import PROTOCOLS

METRICS = ("correct", "refusal", "rejection", "detection", "correction")

words = st.sampled_from(
    [
        *(
            "Oslo",
            "oslo",
            "Bergen",
            "the",
            "alpha beta gamma delta epsilon",
            "alpha",
            "beta",
            "gamma",
            "delta",
            "not",
            "is wrong",
        ),
        *(
            "1月",
            "１月",
            "3 日",
            "红楼梦",
            "，",
            ".",
            "\n",
            "e\u0301",
            "é",
            "<think>",
            "</think>",
            "however",
            "unknown",
            "I can't",
        ),
        *("insufficient information", "Insufficient Information", "信息不足", "信息 不足", "factual errors", "事实性错误"),
    ]
)
said = st.none() | st.just(math.nan) | st.lists(words, max_size=8).map(" ".join) | st.text()
alias = (st.lists(words, min_size=1, max_size=3).map(" ".join) | st.text(min_size=1, max_size=4)).filter(str.strip)
answer = alias | st.lists(alias | st.lists(alias, min_size=1, max_size=3), min_size=1, max_size=3)
false_answer = st.none() | st.just(math.nan) | alias | st.lists(alias, max_size=2)
noise_rate = st.none() | st.sampled_from([0, 0.2, 0.8, 1.0, 1, math.nan])
row = st.tuples(said, answer, false_answer, st.sampled_from(["en", "zh", "zh-TW", "de"]), noise_rate)


def one_by_one(response, answer, false_answer, language, noise_rate, protocol):
    options = {"language": language, "protocol": protocol}
    return [
        is_correct(response, answer, noise_rate=noise_rate, **options),
        is_refusal(response, **options),
        is_rejection(response, answer, **options),
        detects_error(response, false_answer=false_answer, **options),
        corrects_error(response, answer, false_answer=false_answer, **options),
    ]


@given(st.lists(row, min_size=1, max_size=8), st.sampled_from(PROTOCOLS))
def test_columns_equal_the_functions_for_one_response_value_for_value(rows, protocol):
    responses, answers, false, languages, rates = zip(*rows, strict=True)
    found = verdicts(responses, answers, false_answers=false, languages=languages, noise_rates=rates, protocol=protocol)
    expected = np.array([one_by_one(*row, protocol) for row in rows]).T
    for name, values in zip(METRICS, expected, strict=True):
        np.testing.assert_array_equal(getattr(found, name), values, err_msg=name)
    assert found.labels == [
        answer_labels(said, answer, language=language, protocol=protocol) if isinstance(said, str) else None
        for said, answer, _, language, _ in rows
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_language_and_noise_rate_for_all(protocol):
    said, answers = ["1 月", "信息不足", "factual errors"], ["1月"] * 3
    found = verdicts(said, answers, languages="zh", noise_rates=1, protocol=protocol)
    expected = [one_by_one(response, "1月", None, "zh", 1, protocol) for response in said]
    np.testing.assert_array_equal(np.array([getattr(found, name) for name in METRICS]).T, expected)
    assert found.protocol == protocol


@pytest.mark.parametrize("kind", [list, tuple, iter, pd.Series, np.array, lambda column: pd.Series(column, index=[7, 7, 9])])
def test_columns_of_every_kind(kind):
    found = verdicts(kind(["Oslo", "Bergen", "Oslo"]), kind(["Oslo", "Oslo", "Bergen"]), languages=kind(["en", "en", "zh"]))
    assert found.correct.tolist() == [1.0, 0.0, 0.0]


def test_a_missing_response_has_a_row_without_values():
    found = verdicts(pd.Series(["Oslo", None, "Bergen"]), [["Oslo"]] * 3)
    assert found.labels == [[1], None, [0]]
    for name in METRICS:
        assert math.isnan(getattr(found, name)[1])
    np.testing.assert_array_equal(found.correct, [1.0, np.nan, 0.0])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_row_at_all(protocol):
    found = verdicts([], [], protocol=protocol)
    assert found.labels == []
    assert all(getattr(found, name).shape == (0,) and getattr(found, name).dtype == float for name in METRICS)


def test_the_columns_can_be_written_to_and_share_nothing():
    found = verdicts(["Oslo"], ["Oslo"])
    found.correct[0] = 0.5
    assert found.rejection[0] == 0.0
    found.labels[0].append(7)
    assert verdicts(["Oslo"], ["Oslo"]).labels == [[1]]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"responses": ["a"]}, r"one length; got 1 responses and 2 answers"),
        ({"answers": ["a"]}, r"got 2 responses and 1 answers"),
        ({"false_answers": ["a"]}, r"got 2 responses and 1 false_answers"),
        ({"languages": ["en"] * 3}, r"got 2 responses and 3 languages"),
        ({"noise_rates": [1.0]}, r"got 2 responses and 1 noise_rates"),
        ({"responses": "ab"}, r"responses needs a list with one entry a row; got str"),
        ({"answers": "ab"}, r"answers needs a list.*got str"),
        ({"false_answers": "ab"}, r"false_answers needs a list.*got str"),
        ({"responses": None}, r"responses needs a list.*got NoneType"),
        ({"languages": None}, r"languages needs a list.*got NoneType"),
        ({"noise_rates": "1"}, r"noise_rates needs a list.*got str"),
        ({"responses": ["a", 3]}, r"row 1: a response needs to be a text; got int"),
        ({"answers": ["a", []]}, r"row 1: a reference answer needs"),
        ({"false_answers": [None, 3]}, r"row 1: a false answer needs"),
        ({"languages": ["en", "chinese"]}, r"row 1: language needs a code"),
        ({"noise_rates": [0.2, "1"]}, r"row 1: noise_rate needs a number"),
        ({"noise_rates": 2.0}, r"row 0: noise_rate needs a number"),
        ({"protocol": "Paper"}, r"protocol needs one of"),
        ({"responses": [], "answers": [], "protocol": "Paper"}, r"protocol needs one of"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, words):
    given = {"responses": ["a", "b"], "answers": ["a", "b"]} | columns
    with pytest.raises(InputError, match=words):
        verdicts(given.pop("responses"), given.pop("answers"), **given)
