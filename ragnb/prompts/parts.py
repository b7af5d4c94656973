"""The questions that a judge answers about the parts of a response, and the records of its replies.

The texts are in ``data/parts.toml``. They are ours. Each asks for what a published method asks for:

- `SPLIT_CLAIMS`: the atomic facts of FActScore (Min et al. 2023, arXiv 2305.14251, section 3.1).
- `LABEL`: the three labels of RefChecker (Hu et al. 2024, arXiv 2405.14486), which calls them
  Entailment, Contradiction and Neutral. The statements and citations of ALCE (Gao et al. 2023, arXiv
  2305.14627, section 4) are checked with the same question. ALCE uses a classifier.
- `LIST_NUGGETS` and `ASSIGN_NUGGET`: the two steps of AutoNuggetizer (Pradeep et al. 2025, arXiv
  2504.15068). It lists nuggets from relevant passages; we list them from the reference answer.
"""

import re
from typing import Any, Literal

from pydantic import BaseModel

from ragnb.prompts.template import load_family
from ragnb.text import sentences

_TEMPLATES = load_family("parts")["templates"]
SPLIT_CLAIMS = _TEMPLATES["parts.split_claims"]
LABEL = _TEMPLATES["parts.label"]
LIST_NUGGETS = _TEMPLATES["parts.list_nuggets"]
ASSIGN_NUGGET = _TEMPLATES["parts.assign_nugget"]


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
