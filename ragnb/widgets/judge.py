"""The responses on which a judge and people disagree most."""

import pandas as pd

from ragnb.arguments import accepts
from ragnb.records import require_columns
from ragnb.widgets.pages import Page

NEEDED = ("judged_by", "judge_score", "judge_verdict", "human_label", "annotations", "disagreement")


class JudgeView(Page):
    """The worst disagreements of a judge with the label, one card per response.

    A card shows the question, the references, the response with the references marked, the label
    and that of each annotator, and the verdict, score and explanation of the judge. ✓ is a verdict
    of 1, ✗ of 0, and – means that there is none.

    Parameters
    ----------
    worst
        The ``worst`` of a `ragnb.judge_report`, or some of its rows. Optional columns are
        ``question, references, response`` (with ``reason``), ``example_id, language, system,
        judge_confidence, judge_explanation``.
    n
        Number of cards.

    Raises
    ------
    InputError
        If a column is missing or `n` is below 1.
    """

    @accepts(n="size")
    def __init__(self, worst: pd.DataFrame, *, n: int = 10) -> None:
        require_columns(worst, NEEDED, "JudgeView")
        rows = worst.head(n).to_dict("records")
        line = f"JudgeView({len(rows)} of {len(worst)} disagreements)"
        super().__init__(line, "judge.html", rows=rows, total=len(worst))
