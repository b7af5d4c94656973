"""What the explorables that compare two systems share."""

# Tested in tests/widgets/test_explorables.py.

from typing import Any

from ragnb.experiments.recorded import recorded_responses
from ragnb.scoring.scores import score


def two_prompts() -> tuple[Any, Any]:
    """Accuracy of two prompts at noise rate 0.2, as in the notebook on significance tests."""
    responses = recorded_responses("rgb_noise").query("noise_rate == 0.2")
    scores = score(responses, "rgb.accuracy")
    by_system = scores.pivot(index="example_id", columns="system", values="value")
    return by_system["plain"], by_system["answer"]


def system_names(first: Any, second: Any) -> list[str]:
    """Return the names of two Series, or ``the first`` and ``the second`` if one has none."""
    names = [getattr(scores, "name", None) for scores in (first, second)]
    if None in names:
        return ["the first", "the second"]
    return [str(name) for name in names]


def p_text(p_value: float) -> str:
    """Return a p-value with its relation."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.4f}"
