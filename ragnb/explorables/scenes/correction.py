"""Error correction: the three fractions that share this name."""

# Tested in tests/widgets/test_explorables.py.

from typing import Any

import numpy as np

from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.experiments.recorded import recorded_responses
from ragnb.explorables.scene import Control, Frame, Scene, explorable
from ragnb.markup import join, tag
from ragnb.metrics.rgb_protocols import PROTOCOLS
from ragnb.scoring.scores import score
from ragnb.widgets.pages import sign

# Each combination of replies is a frame of its own, so there are few replies.
MAX_REPLIES = 8
LEGEND = "✓ counts as corrected, ✗ does not, – is not in the denominator"


def replies_to_false_passages() -> tuple[Any]:
    """Made-up replies of all kinds to a question whose passages state a false answer."""
    reports = "There are factual errors in the provided documents."
    refuses = "I can not answer because of the insufficient information in documents."
    replies = [
        f"{reports} It is Paris.",
        f"{reports} {refuses}",
        f"{reports} It is Marseille.",
        "It is Paris.",
        "It is Marseille.",
    ]
    # The first question of the recording is about the capital of France.
    asked = recorded_responses("rgb_counterfactual").iloc[[0] * len(replies)]
    return (asked.reset_index(drop=True).assign(response=replies),)


@explorable(
    "correction",
    question="Which replies are in the three fractions that are called error correction?",
    data=f"RGB responses to false passages (first {MAX_REPLIES})",
    changes="numerator, denominator and value under each protocol",
    sample=replies_to_false_passages,
)
def correction(responses: Any) -> Scene:
    """Return the scene of replies to false passages, which can be left out one by one."""
    require_columns(responses, ["response", "references", "false_answers"], "explore")
    replies = responses.dropna(subset="response").head(MAX_REPLIES)
    if replies.empty:
        raise InputError("explore needs a reply to false passages, got none")
    # One row per reply and one column per protocol; nan if the reply is not in the denominator.
    values = np.column_stack(
        [score(replies, "rgb.error_correction", protocol=name)["value"] for name in PROTOCOLS]
    )

    def frame(*are_counted: bool) -> Frame:
        """The three fractions of the replies that are counted."""
        shares, meters = [], {}
        for name, column in zip(PROTOCOLS, values[np.array(are_counted)].T, strict=True):
            in_denominator = column[~np.isnan(column)]
            share = f"{in_denominator.sum():.0f} of {in_denominator.size} under {name}"
            if in_denominator.size:
                meters[name] = in_denominator.mean()
            else:
                share += " (undefined)"
            shares.append(share)
        return Frame(f"Corrected: {', '.join(shares)}.", meters=meters)

    controls = []
    rows = [tag("tr", *(tag("th", text) for text in ("reply", *PROTOCOLS)))]
    for number, (text, row) in enumerate(zip(replies["response"], values, strict=True), 1):
        controls.append(Control("counted", [False, True], True, f"{number}", text))
        signs = [tag("td", sign(None if np.isnan(value) else value)) for value in row]
        rows.append(tag("tr", tag("td", text, dir="auto"), *signs))
    heading = _heading(replies)
    static = join([tag("p", heading), tag("table", *rows), tag("p", LEGEND)])
    return Scene(controls, frame, heading, static)


def _heading(replies: Any) -> str:
    """The true and the false answer, if they are the same for all replies."""
    answers = replies[["references", "false_answers"]].astype(str).drop_duplicates()
    if len(answers) > 1:
        return ""
    first = replies.iloc[0]
    true = " and ".join(_either(part) for part in _listed(first["references"]))
    return f"true: {true}; false: {_either(_listed(first['false_answers']))}"


def _listed(answers: Any) -> list[Any]:
    return [answers] if isinstance(answers, str) else [*answers]


def _either(aliases: Any) -> str:
    """Spellings of an answer as a text."""
    return " or ".join(_listed(aliases))
