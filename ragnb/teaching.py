"""Exercises in notebooks: check an answer without showing the correct one."""

import hashlib
from typing import Any


def check(answer: Any, digest: str, *, hint: str, decimals: int = 3) -> None:
    """Print whether the answer to an exercise is right, and a hint if it is wrong or missing.

    Parameters
    ----------
    answer
        A number, a text, or None while the exercise is open.
    digest
        `answer_digest` of the right answer.
    hint
        A sentence that helps with the next step.
    decimals
        Number of decimals to which numbers are rounded before they are compared.

    >>> check(None, answer_digest(0.5), hint="half of them")
    Your turn. Hint: half of them
    >>> check(0.5, answer_digest(0.5), hint="half of them")
    ✓ Right.
    """
    if answer is None:
        print(f"Your turn. Hint: {hint}")
    elif answer_digest(answer, decimals=decimals) == digest:
        print("✓ Right.")
    else:
        print(f"✗ Not yet: {answer!r} is not it. Hint: {hint}")


def answer_digest(answer: Any, *, decimals: int = 3) -> str:
    """Hash an answer to eight hexadecimal digits, after rounding a number or case-folding a text.

    >>> answer_digest(-1e-17) == answer_digest(0.0)
    True
    """
    text = (
        answer.strip().casefold() if isinstance(answer, str) else _rounded(float(answer), decimals)
    )
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _rounded(number: float, decimals: int) -> str:
    """A number as text; what rounds to zero has no sign."""
    return f"{round(number, decimals) + 0.0:.{decimals}f}"
