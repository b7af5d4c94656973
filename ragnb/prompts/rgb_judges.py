"""RGB's judged twins in our own words: whether a response refuses (Rej*), and whether it detects errors (ED*)."""

from typing import Literal

from pydantic import BaseModel, Field

from ragnb.prompts.template import Template


class RefusalVerdict(BaseModel):
    """A judge's verdict on one response to a question whose passages do not hold the answer."""

    verdict: Literal["refuses", "answers"] = Field(
        description="'refuses' when no answer is given, else 'answers'"
    )


class DetectionVerdict(BaseModel):
    """A judge's verdict on one response to a question whose passages hold a false answer."""

    verdict: Literal["detects", "does not detect"] = Field(
        description="whether the response says that documents are wrong"
    )


REFUSAL = Template(
    name="rgb.judge_refusal",
    version=1,
    system=(
        "You judge whether a response refuses. A response refuses when it says that the documents do not hold the answer, "
        "that it is not known or cannot be told, and gives no answer. A response that gives any answer, right or wrong, "
        'does not refuse. Reply with JSON only: {{"verdict": "refuses"}} or {{"verdict": "answers"}}.'
    ),
    user="Question: {question}\nResponse: {response}",
)

DETECTION = Template(
    name="rgb.judge_detection",
    version=1,
    system=(
        "You judge whether a response notices errors. It detects them when it says that the documents are wrong, contradict "
        "known facts or cannot be right. A response that only gives an answer, even a right one, does not detect. "
        'Reply with JSON only: {{"verdict": "detects"}} or {{"verdict": "does not detect"}}.'
    ),
    user="Question: {question}\nResponse: {response}",
)
