"""Noise robustness: the passages and the recorded reply at each noise rate."""

# Tested in tests/widgets/test_explorables.py.

from typing import Any

from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.experiments.recorded import recorded_responses
from ragnb.explorables.chart import Chart
from ragnb.explorables.scene import Control, Frame, Scene, explorable
from ragnb.scoring.scores import score
from ragnb.stats.intervals import rate_interval
from ragnb.widgets.pages import sign

MAX_QUESTIONS = 6


def recorded_noise() -> tuple[Any]:
    """Replies to one prompt at all noise rates."""
    return (recorded_responses("rgb_noise").query("system == 'answer'"),)


@explorable(
    "noise",
    question="What does a model reply when fewer passages contain the answer?",
    alt="Accuracy against the noise rate, with the chosen rate and its interval marked.",
    data="recorded RGB responses of a system",
    changes="passages and reply at each noise rate",
    sample=recorded_noise,
)
def noise(responses: Any) -> Scene:
    """Return the scene of one system's responses to the same questions at several noise rates."""
    key = ["example_id", "noise_rate"]
    require_columns(responses, [*key, "question", "passages", "kinds"], "explore", unique=key)
    scores = score(responses, "rgb.accuracy")
    # Only questions with a reply at every noise rate.
    correct = scores.pivot(index="example_id", columns="noise_rate", values="value").dropna()
    if correct.empty:
        raise InputError("explore needs a question with replies at every noise rate, got none")

    # Questions whose correctness changes with the noise come first.
    changing = correct.index[correct.nunique(axis=1) > 1]
    unchanging = correct.index.difference(changing)
    questions = [*changing, *unchanging][:MAX_QUESTIONS]
    rows = {(row["example_id"], row["noise_rate"]): row for row in responses.to_dict("records")}
    accuracy = correct.mean()
    intervals = {rate: rate_interval(values.sum(), len(values)) for rate, values in correct.items()}
    rates = accuracy.index.astype(float).tolist()

    def frame(rate: float, number: int) -> Frame:
        """The passages and the reply of a question at one noise rate, and the accuracy at all rates."""
        example = questions[number - 1]
        row = rows[example, rate]
        kinds = list(row["kinds"])
        is_correct = bool(correct.loc[example, rate])
        outcome = "correct" if is_correct else "incorrect"

        lines = [("question", row["question"])]
        for kind, passage in zip(kinds, row["passages"], strict=True):
            is_positive = kind == "positive"
            style = "good" if is_positive else "bad"
            lines.append((style, f"{sign(is_positive)} {passage}"))
        reply = row["response"] or "no reply"
        lines.append(("reply", f"{sign(is_correct)} {reply}"))

        interval = intervals[rate]
        sentence = (
            f"At noise rate {rate:g}, {kinds.count('positive')} of {len(kinds)} passages contain the "
            f"answer, and the recorded reply is {outcome}. Over all {len(correct)} questions, "
            f"{accuracy[rate]:.3f} of the replies are correct (95 % Wilson interval {interval.low:.2f} to "
            f"{interval.high:.2f})."
        )
        curve = ("result", accuracy.index, accuracy)
        present_rate = ("dot", [rate], [accuracy[rate]])
        limits = ("here", [rate, rate], [interval.low, interval.high])
        x_axis = (rates[0], rates[-1], "noise rate")
        y_axis = (0, 1, "accuracy")
        return Frame(sentence, Chart(x_axis, y_axis, [curve, limits, present_rate]), lines=lines)

    controls = [
        Control("noise rate", rates, rates[0]),
        Control("question", range(1, len(questions) + 1), 1),
    ]
    return Scene(controls, frame)
