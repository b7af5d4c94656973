"""The questions that a judge answers about one response, and the records that it replies with.

The texts are in ``data/judges.toml``. `SIMILARITY` and `CORRECTNESS` compare a response with its
references. `REFUSAL` and `DETECTION` are the judged counterparts of RGB's phrase rules (Rej*, ED*).
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, Field

from ragnb.prompts.template import load_family
from ragnb.text import well_formed

_TEMPLATES = load_family("judges")["templates"]
REFUSAL = _TEMPLATES["rgb.judge_refusal"]
DETECTION = _TEMPLATES["rgb.judge_detection"]
SIMILARITY = _TEMPLATES["answer.judge_similarity"]
CORRECTNESS = _TEMPLATES["answer.judge_correctness"]
BARE_CORRECTNESS = _TEMPLATES["answer.judge_bare_correctness"]


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


class SimilarityScore(BaseModel):
    """A judge's score of how far one response means what the references say."""

    explanation: str = Field(
        description="one sentence: what is the same, what is missing, what contradicts"
    )
    score: float = Field(
        ge=0, le=1, description="1 the same meaning, 0 a contradiction or nothing in common"
    )


class CorrectnessVerdict(BaseModel):
    """A judge's verdict on one response against the references."""

    explanation: str = Field(description="one sentence: what decides")
    verdict: Literal["correct", "incorrect"] = Field(
        description="'correct' when every part is there, else 'incorrect'"
    )


class SamenessVerdict(BaseModel):
    """A judge's bare verdict: whether one response says the same as the references."""

    verdict: Literal["same", "different"] = Field(
        description="'same' when the answers agree, else 'different'"
    )


def readable_references(parts: Iterable[Sequence[str]]) -> str:
    """Join the parts of an answer, each a list of aliases, to one readable line.

    >>> readable_references([["Oslo", "Kristiania"], ["1925"]])
    'Oslo or Kristiania; and 1925'
    """
    return "; and ".join(
        " or ".join(" ".join(well_formed(alias).split()) for alias in part) for part in parts
    )
