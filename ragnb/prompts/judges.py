"""The questions that a judge answers about one response, and the records that it replies with.

The texts are in ``data/judges.toml``. `SIMILARITY` and `CORRECTNESS` compare a response with its
references. `REFUSAL` and `DETECTION` are the judged counterparts of RGB's phrase rules (Rej*, ED*).
`FAITHFULNESS` and `RELEVANCY` ask for verdicts on the statements of a response, `PRECISION` for
verdicts on its passages, `RUBRIC` for a score by a rubric, and `PREFERENCE` for the better of two
responses.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, Field

from ragnb.prompts.template import Template, load_family
from ragnb.text import well_formed

_TEMPLATES = load_family("judges")["templates"]
REFUSAL = _TEMPLATES["rgb.judge_refusal"]
DETECTION = _TEMPLATES["rgb.judge_detection"]
SIMILARITY = _TEMPLATES["answer.judge_similarity"]
CORRECTNESS = _TEMPLATES["answer.judge_correctness"]
BARE_CORRECTNESS = _TEMPLATES["answer.judge_bare_correctness"]
FAITHFULNESS = _TEMPLATES["answer.judge_faithfulness"]
RELEVANCY = _TEMPLATES["answer.judge_relevancy"]
PRECISION = _TEMPLATES["context.judge_precision"]
RUBRIC = _TEMPLATES["answer.judge_rubric"]
PREFERENCE = _TEMPLATES["answer.judge_preference"]

ASKED_FOR = {
    "rgb.judged_rejection": REFUSAL,
    "rgb.judged_error_detection": DETECTION,
    "semantic.judged_similarity": SIMILARITY,
    "semantic.judged_correctness": CORRECTNESS,
    "judged.faithfulness": FAITHFULNESS,
    "judged.answer_relevancy": RELEVANCY,
    "judged.context_precision": PRECISION,
    "judged.rubric": RUBRIC,
    "judged.preference": PREFERENCE,
}
"""Metric -> what the judge is asked for it."""


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


class _Supported(BaseModel):
    statement: str
    supported: bool = Field(description="whether the passages support the statement")


class SupportVerdicts(BaseModel):
    """A judge's verdict on each statement of a response, given the passages."""

    statements: list[_Supported]


class _Relevant(BaseModel):
    statement: str
    relevant: bool = Field(description="whether the statement helps to answer the question")


class RelevancyVerdicts(BaseModel):
    """A judge's verdict on each statement of a response, given the question."""

    statements: list[_Relevant]


class _Useful(BaseModel):
    passage: int = Field(description="the number of the passage")
    useful: bool = Field(description="whether the reference can be derived from it in part")


class PassageVerdicts(BaseModel):
    """A judge's verdict on each passage, given the question and the reference."""

    verdicts: list[_Useful]


class RubricScore(BaseModel):
    """A judge's score of a response by a rubric."""

    explanation: str = Field(description="one sentence: what decides")
    score: int = Field(ge=1, le=5, description="1 (worst) to 5 (best)")


class Preference(BaseModel):
    """A judge's verdict on two responses to one question."""

    explanation: str = Field(description="one sentence: what decides")
    verdict: Literal["first", "second", "tie"] = Field(description="the better response, or 'tie'")


def with_rubric(rubric: str) -> Template:
    """Return `RUBRIC` with a rubric in its text, which becomes part of the template's hash.

    >>> "Rubric: It is polite.\\n" in with_rubric("It is polite.").user
    True
    """
    text = well_formed(rubric).strip().replace("{", "{{").replace("}", "}}")
    return replace(RUBRIC, user=RUBRIC.user.replace("{rubric}", text))


def numbered(passages: Iterable[str]) -> str:
    """Number passages, one per line.

    >>> numbered(["Oslo is the capital.", "It rains."])
    '[1] Oslo is the capital.\\n[2] It rains.'
    """
    lines = (" ".join(well_formed(passage).split()) for passage in passages)
    return "\n".join(f"[{number}] {line}" for number, line in enumerate(lines, 1))


def readable_references(parts: Iterable[Sequence[str]]) -> str:
    """Join the parts of an answer, each a list of aliases, to one readable line.

    >>> readable_references([["Oslo", "Kristiania"], ["1925"]])
    'Oslo or Kristiania; and 1925'
    """
    return "; and ".join(
        " or ".join(" ".join(well_formed(alias).split()) for alias in part) for part in parts
    )
