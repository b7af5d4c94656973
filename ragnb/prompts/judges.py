"""The questions that a judge answers about a response or its parts, and the records that it replies with.

`TEMPLATES` has the prompts by name. Those in ``data/judges.toml`` are about one response: ``answer.judge_similarity``
and ``answer.judge_correctness`` compare a response with its references. ``rgb.judge_refusal`` and
``rgb.judge_detection`` are the judged counterparts of RGB's phrase rules (Rej*, ED*).
``answer.judge_faithfulness`` and ``answer.judge_relevancy`` ask for verdicts on the statements of a
response, ``context.judge_precision`` for verdicts on its passages, ``answer.judge_rubric`` for a
score by a rubric, and ``answer.judge_preference`` for the better of two responses.

The prompts about the parts of a response are in ``data/parts.toml``. They are ours. Each asks for
what a published method asks for:

- ``parts.split_claims``: the atomic facts of FActScore (Min et al. 2023, arXiv 2305.14251, section 3.1).
- ``parts.label``: the three labels of RefChecker (Hu et al. 2024, arXiv 2405.14486), which calls them
  Entailment, Contradiction and Neutral. The statements and citations of ALCE (Gao et al. 2023, arXiv
  2305.14627, section 4) are checked with the same question. ALCE uses a classifier.
- ``parts.list_nuggets`` and ``parts.assign_nugget``: the two steps of AutoNuggetizer (Pradeep et al. 2025, arXiv
  2504.15068). It lists nuggets from relevant passages; we list them from the reference answer.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, Field

from ragnb.prompts.template import Template, load_family
from ragnb.text import sentences, well_formed

TEMPLATES: dict[str, Template] = {
    **load_family("judges")["templates"],
    **load_family("parts")["templates"],
}

ASKED_FOR = {
    "rgb.judged_rejection": TEMPLATES["rgb.judge_refusal"],
    "rgb.judged_error_detection": TEMPLATES["rgb.judge_detection"],
    "semantic.judged_similarity": TEMPLATES["answer.judge_similarity"],
    "semantic.judged_correctness": TEMPLATES["answer.judge_correctness"],
    "judged.faithfulness": TEMPLATES["answer.judge_faithfulness"],
    "judged.answer_relevancy": TEMPLATES["answer.judge_relevancy"],
    "judged.context_precision": TEMPLATES["context.judge_precision"],
    "judged.rubric": TEMPLATES["answer.judge_rubric"],
    "judged.preference": TEMPLATES["answer.judge_preference"],
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


class Claims(BaseModel):
    """The claims of a response."""

    claims: list[str]


class Label(BaseModel):
    """A judge's label of one text, given passages."""

    label: Literal["supported", "contradicted", "not supported"]


class _Nugget(BaseModel):
    text: str
    importance: Literal["vital", "okay"]


class Nuggets(BaseModel):
    """The facts that an answer to a question should state."""

    nuggets: list[_Nugget]


class Assignment(BaseModel):
    """A judge's verdict on one nugget, given the response."""

    assignment: Literal["support", "partial_support", "not_support"]


def with_rubric(rubric: str) -> Template:
    """Return the prompt ``answer.judge_rubric`` with a rubric in its text, which becomes part of the template's hash.

    >>> "Rubric: It is polite.\\n" in with_rubric("It is polite.").user
    True
    """
    text = well_formed(rubric).strip().replace("{", "{{").replace("}", "}}")
    template = TEMPLATES["answer.judge_rubric"]
    return replace(template, user=template.user.replace("{rubric}", text))


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


# Marks such as [2], [2][3] or [2, 3]; behind the end of a sentence they belong to that sentence.
_MARK = re.compile(r"\s*\[\d+(?:\s*,\s*\d+)*\]")
_MARKS_BEHIND = re.compile(rf"([.!?。！？]+)((?:{_MARK.pattern})+)")


def cited_statements(response: str) -> list[dict[str, Any]]:
    """Split a response into sentences, each with the numbers of the passages that it cites.

    >>> cited_statements("It is red [1][3]. Yes. [2]")[0]
    {'text': 'It is red.', 'citations': [{'passage': 1}, {'passage': 3}]}
    """
    statements = []
    for sentence in sentences(_MARKS_BEHIND.sub(r"\2\1", response)):
        numbers = re.findall(r"\d+", " ".join(_MARK.findall(sentence)))
        cited = [{"passage": number} for number in dict.fromkeys(map(int, numbers))]
        statements.append({"text": _MARK.sub("", sentence), "citations": cited})
    return statements
