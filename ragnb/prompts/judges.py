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

# Tested in tests/prompts/test_texts.py.

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, create_model

from ragnb.prompts.citations import citations_of
from ragnb.prompts.template import Template, keyed_lines, load_family
from ragnb.tags import tag_key
from ragnb.text import well_formed

NEWEST = 2
"""Version of the prompts. Version 1 only replays replies that were stored under it."""

TEMPLATES: dict[str, Template] = {
    **load_family("judges")["templates"],
    **load_family("parts")["templates"],
}
FIRST_VERSIONS: dict[str, Template] = {
    **load_family("judges_v1")["templates"],
    **load_family("parts_v1")["templates"],
}
"""Version 1 of the prompts, whose texts have no tags around them: for replies that were stored under it."""

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


def template_of(name: str, prompt_version: int = NEWEST) -> Template:
    """Return the prompt of a name, in its newest version or in version 1."""
    return FIRST_VERSIONS[name] if prompt_version == 1 else TEMPLATES[name]


def with_rubric(rubric: str, prompt_version: int = NEWEST) -> Template:
    """Return the prompt ``answer.judge_rubric`` with a rubric in its text, which becomes part of the template's hash.

    >>> "Rubric: It is polite.\\n" in with_rubric("It is polite.").user
    True
    """
    text = well_formed(rubric).strip().replace("{", "{{").replace("}", "}}")
    template = template_of("answer.judge_rubric", prompt_version)
    return replace(template, user=template.user.replace("{rubric}", text))


def with_codebook(definitions: Mapping[str, str], materials: Iterable[str] = ()) -> Template:
    """Return the prompt ``answer.judge_tags`` with a codebook in its text, which becomes part of the template's hash.

    ``materials`` are ``"references"`` and ``"passages"``, as far as the judge reads them.

    >>> with_codebook({"echo": "Repeats the prompt."}).user.splitlines()[1]
    '- "echo": "Repeats the prompt."'
    """
    lines = []
    for name, definition in definitions.items():
        meaning = f": {_quoted(definition)}" if definition else ""
        lines.append(f"- {_quoted(name)}{meaning}")
    listed = "\n".join(lines).replace("{", "{{").replace("}", "}}")
    blocks = [f"<{name}-{{mark}}>\n{{{name}}}\n</{name}-{{mark}}>\n" for name in materials]
    template = template_of("answer.judge_tags")
    user = template.user.replace("{materials}", "".join(blocks)).replace("{codebook}", listed)
    return replace(template, user=user)


def tag_verdict(tags: Iterable[str]) -> type[BaseModel]:
    """Return the model of a judge's reply, which may contain only these tags, in any letter case.

    >>> tag_verdict(["echo"]).model_validate({"explanation": "", "tags": ["Echo"]}).tags
    ['echo']
    """
    name_of = {tag_key(tag): tag for tag in tags}
    # The type of a tag is one of the names, which the JSON schema lists.
    names: Any = Literal[tuple(name_of.values())]
    as_in_codebook = BeforeValidator(
        lambda text: name_of.get(tag_key(text), text) if isinstance(text, str) else text
    )
    return create_model(
        "TagVerdict",
        explanation=(str, Field(description="one sentence: what goes wrong, if anything")),
        tags=(
            list[Annotated[names, as_in_codebook]],
            Field(description="the tags of the codebook that fit; empty if none does"),
        ),
    )


def numbered(passages: Iterable[str], prompt_version: int = NEWEST) -> str:
    """Number passages, one below the other (see `ragnb.prompts.template.keyed_lines`).

    >>> numbered(["Oslo is the capital.", "It rains."])
    '[1] Oslo is the capital.\\n[2] It rains.'
    """
    if prompt_version == 1:
        passages = (" ".join(passage.split()) for passage in passages)
    return keyed_lines((str(number), text) for number, text in enumerate(passages, start=1))


def readable_references(parts: Iterable[Sequence[str]], prompt_version: int = NEWEST) -> str:
    """Join the parts of an answer, each a list of aliases, to one readable line.

    The aliases are in quotation marks, as JSON strings, so that an alias such as ``"a or b"`` differs
    from two aliases.

    >>> print(readable_references([["Oslo", "Kristiania"], ["1925"]]))
    "Oslo" or "Kristiania"; and "1925"
    """
    quoted = _joined_words if prompt_version == 1 else _quoted
    return "; and ".join(" or ".join(map(quoted, part)) for part in parts)


def _quoted(alias: str) -> str:
    return json.dumps(well_formed(alias), ensure_ascii=False)


def _joined_words(alias: str) -> str:
    return " ".join(well_formed(alias).split())


def cited_statements(response: str) -> list[dict[str, Any]]:
    """Split a response into sentences, each with the numbers of the passages that it cites.

    `ragnb.prompts.citations.citations_of` says which marks are read, and to which sentence they belong.

    >>> cited_statements("It is red [1][3]. Yes. [2]")[0]
    {'text': 'It is red.', 'citations': [{'passage': 1}, {'passage': 3}]}
    """
    return [
        {"text": text, "citations": [{"passage": number} for number in numbers]}
        for text, numbers in citations_of(response)
    ]
