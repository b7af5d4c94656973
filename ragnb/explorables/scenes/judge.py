"""The errors of a judge: the share of correct answers that it reports, against the true share."""

# Tested in tests/widgets/test_explorables.py.

from ragnb.datasets.packaged_studies import load_study
from ragnb.explorables.chart import Chart
from ragnb.explorables.scene import Control, Frame, Scene, evenly_spaced, explorable
from ragnb.reports.judge import JudgeReport, judge_report


def judged_sample() -> tuple[JudgeReport]:
    """The report on the judge of the labelled English sample."""
    answers = load_study("sample-labelled-en")
    return (judge_report(answers, by="noise_rate", clusters="question_id"),)


@explorable(
    "judge",
    question="What do a judge's errors do to the share of correct answers that it reports?",
    alt="Reported against true share of correct answers: a line that is flatter than the diagonal.",
    data="a `ragnb.judge_report`",
    changes="share of correct answers that it reports",
    sample=judged_sample,
)
def judge(report: JudgeReport) -> Scene:
    """Return the scene of the first judge of a report."""
    name = report.calibration["judge"].iloc[0]

    agreement = report.agreement
    is_rate = (agreement["rater"] == name) & (agreement["against"] == report.label)
    rates = agreement[is_rate].set_index("metric")["mean"].astype(float)

    bias = report.bias
    is_group = ~bias["by"].isin(["overall", "response length"])
    groups = bias[(bias["judge"] == name) & is_group]
    group_columns = " and ".join(groups["by"].unique()).replace("_", " ")
    true_shares = groups["baseline_mean"].astype(float).to_numpy()
    reported_shares = groups["mean"].astype(float).to_numpy()
    measured = [(1.0, 0.02, f"dots: measured, by {group_columns} ")] if len(groups) else []

    def frame(sensitivity: float, specificity: float) -> Frame:
        """The shares that a judge with these error rates reports, for every true share."""
        youden = sensitivity + specificity - 1
        sentence = (
            f"With sensitivity {sensitivity:.2f} and specificity {specificity:.2f}, a true difference "
            f"of 10 points between two systems appears as {10 * youden:z.1f} points (J = "
            f"{youden:z.2f}). "
        )
        if youden == 1:
            sentence += "This judge makes no errors."
        else:
            unbiased_percent = 100 * (1 - specificity) / (1 - youden)
            sentence += (
                "The reported share is too high if fewer than "
                f"{unbiased_percent:.0f} % of the answers are correct, and too "
                "low if more are."
            )
        # What the judge reports if no answer is correct, and if all are.
        lowest, highest = 1 - specificity, sensitivity
        chart = Chart(
            (0, 1, "true share of correct answers"),
            (0, 1, "share that the judge reports"),
            [
                ("area", [0, 1, 1, 0], [0, 1, highest, lowest]),
                ("truth", [0, 1], [0, 1]),
                ("result", [0, 1], [lowest, highest]),
                ("dot", true_shares, reported_shares),
            ],
            [(0.85, 0.92, "no bias"), *measured],
        )
        return Frame(sentence, chart)

    def rate(metric: str, label: str) -> Control:
        """A control for sensitivity or specificity, which starts at the measured value."""
        start = rates[metric]
        return Control(label, evenly_spaced(0, 1, 11, start=start, decimals=1), start)

    controls = [
        rate("sensitivity", "sensitivity: correct answers accepted"),
        rate("specificity", "specificity: incorrect answers rejected"),
    ]
    return Scene(controls, frame)
