"""Answer or refuse: right decisions at each share of questions without an answer."""

# Tested in tests/widgets/test_explorables.py.

from typing import Any

import numpy as np

from ragnb.columns import require_columns
from ragnb.datasets.packaged_studies import load_study
from ragnb.errors import InputError
from ragnb.explorables.chart import Chart
from ragnb.explorables.scene import Control, Frame, Scene, explorable
from ragnb.reports.abstention import abstention_report

LABEL = "unanswerable questions, in %"


def three_systems() -> tuple[Any]:
    """Decisions of three systems on NoMIRACL's English questions."""
    study = load_study("nomiracl").query("language == 'en'")
    systems = ["gpt-4-azure", "Mistral-7B-Instruct-v0.2", "flan-t5-xxl"]
    return (abstention_report(study[study["system"].isin(systems)]),)


def _invalid(systems: Any, kind: str) -> Any:
    """The share of the replies to ``kind`` questions that are neither answers nor refusals."""
    invalid = f"{kind}_invalid"
    if invalid not in systems:
        return 0.0
    counts = systems[[f"{kind}_answered", f"{kind}_refused", invalid]]
    return counts[invalid] / counts.sum(axis=1)


@explorable(
    "mix",
    question="Which system decides correctly most often?",
    alt="Share of right decisions of each system against the share of unanswerable questions.",
    data="a `ragnb.abstention_report`",
    changes="right decisions at each share of questions without an answer",
    sample=three_systems,
)
def mix(report: Any) -> Scene:
    """Return the scene of the systems of a report that have questions of both kinds."""
    columns = ["system", "hallucination", "over_refusal"]
    require_columns(report, columns, "explore", unique=["system"])
    systems = report.dropna(subset=columns)
    if systems.empty:
        raise InputError(
            "explore needs a system with answerable and unanswerable questions, got none"
        )
    names = systems["system"].map(str).tolist()
    # Right decisions: answers to answerable questions, and refusals of the others.
    answered = 1 - (systems["over_refusal"] + _invalid(systems, "answerable")).to_numpy(float)
    refused = 1 - (systems["hallucination"] + _invalid(systems, "unanswerable")).to_numpy(float)

    # A name is at the right end of its line: below it if the line falls, else above it.
    offsets = np.where(answered > refused, -0.07, 0.03)
    heights = np.clip(refused + offsets, 0.03, 0.93).tolist()
    notes = [(100.0, height, name) for height, name in zip(heights, names, strict=True)]

    def frame(percent: int) -> Frame:
        """The right decisions of each system at one percentage of unanswerable questions."""
        shares = (percent * refused + (100 - percent) * answered) / 100
        best = int(shares.argmax())
        marks: list[Any] = [
            ("result" if number == best else "axis", [0, 100], [answered[number], refused[number]])
            for number in range(len(names))
        ]
        marks.append(("truth", [percent, percent], [0, 1]))
        marks.append(("dot", [percent] * len(names), shares))
        return Frame(
            f"If {percent} % of the questions are unanswerable, {names[best]} makes the right decision "
            f"on {shares[best]:.3f} of the questions. No other system here has a larger share.",
            Chart((0, 100, LABEL), (0, 1, "share of right decisions"), marks, notes),
        )

    return Scene([Control(LABEL, list(range(0, 101, 2)), 50)], frame)
