import math

import pytest

from ragnb.errors import InputError
from ragnb.metrics import bridging_efficiency, translation_tokens


@pytest.mark.parametrize(
    ("passages", "tokens"),
    [
        ([], 0),
        (
            [
                {"text": None},
                {"text": None, "token_count": None, "reason": "the model sent an empty text"},
            ],
            0,
        ),
        ([{"token_count": 0}], 0),
        ([{"text": None}, {"token_count": 12}, {"text": "x", "token_count": 5.0}], 17),
        ([{"token_count": 0.1}] * 10, 1),
        (
            [
                None,
                {"text": None, "translated_text": None},
                {"text": "Regen", "translated_text": None},
            ],
            0,
        ),
        (None, math.nan),
        (math.nan, math.nan),
        (17, 17),
        (0, 0),
        (2.5, 2.5),
    ],
)
def test_cost_is_the_sum_of_the_translations_tokens(passages, tokens):
    assert translation_tokens(passages) == pytest.approx(tokens, nan_ok=True)


@pytest.mark.parametrize(
    ("f1_system", "f1_direct", "cost", "ratio", "lbrag"),
    [
        (0.75, 0.25, 20, 0.025, 0.025),
        (0.25, 0.75, 20, -0.025, -0.025),
        (0.5, 0.5, 20, 0, 0),
        (0.5, 0.25, 0, math.nan, 0),
        (math.nan, 0.5, 20, math.nan, math.nan),
        (0.5, None, 20, math.nan, math.nan),
        (0.5, 0.25, math.nan, math.nan, math.nan),
    ],
)
def test_efficiency_is_gain_over_cost(f1_system, f1_direct, cost, ratio, lbrag):
    assert bridging_efficiency(f1_system, f1_direct, cost) == pytest.approx(ratio, nan_ok=True)
    assert bridging_efficiency(f1_system, f1_direct, cost, variant="lbrag") == pytest.approx(
        lbrag, nan_ok=True
    )


@pytest.mark.parametrize(
    ("passage", "message"),
    [
        ({"token_count": -1}, "token_count of passage 2 must be at least 0"),
        ({"text": "x"}, "passage 2 of translations has no token_count"),
        ({"text": "x", "metadata": {"kappa": 0.5}}, "passage 2 of translations has no token_count"),
    ],
)
def test_a_translated_passage_without_a_count_is_refused_and_never_free(passage, message):
    with pytest.raises(InputError, match=message):
        translation_tokens([{"token_count": 3}, passage])


def test_the_translation_is_counted_and_not_the_passage():
    passages = [{"text": "Es regnet stark in Bergen.", "translated_text": "It rains."}, None, "So"]
    assert translation_tokens(passages, tokenizer="unicode") == 3


@pytest.mark.parametrize("count", [-1, math.inf, "17", True, {"token_count": 17}])
def test_a_total_is_a_number_of_at_least_0(count):
    with pytest.raises(InputError, match="translations must be the number of tokens .*, got"):
        translation_tokens(count)


@pytest.mark.parametrize(("f1_system", "f1_direct"), [(1.01, 0.5), (0.5, 1.01), (-0.01, 0.5)])
def test_an_f1_outside_of_0_to_1_is_refused(f1_system, f1_direct):
    with pytest.raises(InputError, match="F1 must be between 0 and 1, got"):
        bridging_efficiency(f1_system, f1_direct, 20)
    assert bridging_efficiency(1, 0, 20) == 0.05
