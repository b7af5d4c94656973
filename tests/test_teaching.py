"""Exercises: which answers are the same, and what is printed."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnb.teaching import answer_digest, check


def digest_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@pytest.mark.parametrize(
    ("answer", "decimals", "text"),
    [(0.5, 3, "0.500"), (2 / 3, 3, "0.667"), (0.0625, 3, "0.062"), (-0.4996, 3, "-0.500"), (7, 0, "7"), (True, 3, "1.000"),
     (np.float32(0.25), 2, "0.25"), (np.int64(-3), 1, "-3.0"), (1e20, 1, "100000000000000000000.0"),
     (float("nan"), 3, "nan"), (float("-inf"), 3, "-inf"), (" Wilson ", 3, "wilson"), ("STRASSE", 3, "strasse"),
     ("Straße", 3, "strasse"), ("北京", 3, "北京")],
)  # fmt: skip
def test_an_answer_is_its_rounded_number_or_its_folded_text(answer, decimals, text):
    assert answer_digest(answer, decimals=decimals) == digest_of(text)


@pytest.mark.parametrize(
    "zero", [-1e-17, -0.0, 0.1 + 0.2 - 0.3, 0.3 - 0.2 - 0.1, -0.0004, np.float64(-1e-300), 0]
)
def test_a_difference_of_nothing_is_right_on_either_side_of_zero(zero, capsys):
    check(zero, answer_digest(0.0), hint="subtract")
    assert capsys.readouterr().out == "✓ Right.\n"


@given(st.floats(allow_nan=False), st.integers(0, 6))
def test_only_the_sign_of_zero_is_dropped(number, decimals):
    written = f"{number:.{decimals}f}"
    assert answer_digest(number, decimals=decimals) == digest_of(
        written if float(written) else written.removeprefix("-")
    )


@pytest.mark.parametrize(
    ("answer", "said"),
    [(None, "Your turn. Hint: halve"), (0.4, "✗ Not yet: 0.4 is not it. Hint: halve"), (0.5004, "✓ Right."),
     ("0.5", "✗ Not yet: '0.5' is not it. Hint: halve")],
)  # fmt: skip
def test_what_is_said_to_an_answer(answer, said, capsys):
    check(answer, answer_digest(0.5), hint="halve")
    assert capsys.readouterr().out == f"{said}\n"
