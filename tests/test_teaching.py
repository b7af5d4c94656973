"""Exercises: which answers are the same, and what is printed."""

import hashlib

import numpy as np
import pytest

from ragnb.teaching import answer_digest, check


@pytest.mark.parametrize(
    ("answer", "decimals", "text"),
    [
        (2 / 3, 3, "0.667"),
        (-0.4996, 3, "-0.500"),
        (7, 0, "7"),
        (np.float32(0.25), 2, "0.25"),
        (float("nan"), 3, "nan"),
        (" Wilson ", 3, "wilson"),
        ("Straße", 3, "strasse"),
        *((zero, 3, "0.000") for zero in (-1e-17, -0.0, 0.3 - 0.2 - 0.1, -0.0004, 0)),
    ],
)
def test_an_answer_is_its_rounded_number_or_its_folded_text(answer, decimals, text):
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    assert answer_digest(answer, decimals=decimals) == digest


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "Your turn. Hint: halve"),
        (0.4, "✗ Not yet: 0.4 is not it. Hint: halve"),
        (0.5004, "✓ Right."),
        ("0.5", "✗ Not yet: '0.5' is not it. Hint: halve"),
    ],
)
def test_what_is_said_to_an_answer(answer, said, capsys):
    check(answer, answer_digest(0.5), hint="halve")
    assert capsys.readouterr().out == f"{said}\n"
