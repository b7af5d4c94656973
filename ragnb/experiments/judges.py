"""A model as judge of refusals, detected errors, similarity to the references, and correctness.

Nothing is guessed: every response ends with a value, or without one and with the reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

import pandas as pd
from pydantic import BaseModel

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.experiments.asking import with_requests
from ragnb.llm.structured import complete_structured
from ragnb.metrics.rgb_protocols import answer_parts
from ragnb.prompts.judges import (
    BARE_CORRECTNESS,
    CORRECTNESS,
    DETECTION,
    REFUSAL,
    SIMILARITY,
    CorrectnessVerdict,
    DetectionVerdict,
    RefusalVerdict,
    SamenessVerdict,
    SimilarityScore,
    readable_references,
)
from ragnb.prompts.template import Template
from ragnb.records import reasoning_apart, require_columns
from ragnb.text import well_formed

PARAMETERS = {"temperature": 0.0, "max_tokens": 32, "seed": 0}
EXPLAINED = {**PARAMETERS, "max_tokens": 256}
"""Sampling parameters of a bare verdict, and of one with an explanation."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge is asked, and how its reply becomes a value.

    Attributes
    ----------
    template
        The question to the judge; its fields are the columns that a frame needs.
    record
        What a reply must contain.
    column
        The column of the value.
    yes
        The verdict whose value is 1; None if the value is the score in the record.
    parameters
        Sampling parameters.
    """

    template: Template
    record: type[BaseModel]
    column: str
    yes: str | None
    parameters: Mapping[str, Any]

    @property
    def columns(self) -> list[str]:
        """The columns that a judgement adds to a frame."""
        explanation = ["judge_explanation"] if "explanation" in self.record.model_fields else []
        return [self.column, "judge_reason", *explanation, "judge_keys"]

    def row(self, reply: Mapping[str, Any]) -> dict[str, Any]:
        """What a reply, or a reason in its place, adds to a response."""
        record = reply["record"] or {}
        value: Any = record.get("score") if self.yes is None else record.get("verdict") == self.yes
        keys = [reply.get(name) for name in ("request_key", "repair_request_key")]
        return {
            self.column: float(value) if record else nan,
            "judge_reason": reply["reason"],
            "judge_explanation": record.get("explanation"),
            "judge_keys": [key for key in keys if isinstance(key, str)],
        }


JUDGEMENTS: dict[str, Judgement] = {
    "refusal": Judgement(REFUSAL, RefusalVerdict, "judged_refusal", "refuses", PARAMETERS),
    "detection": Judgement(DETECTION, DetectionVerdict, "judged_detection", "detects", PARAMETERS),
    "similarity": Judgement(SIMILARITY, SimilarityScore, "judged_similarity", None, EXPLAINED),
    "correctness": Judgement(
        CORRECTNESS, CorrectnessVerdict, "judged_correct", "correct", EXPLAINED
    ),
    "bare_correctness": Judgement(
        BARE_CORRECTNESS, SamenessVerdict, "judged_correct", "same", PARAMETERS
    ),
}
"""The judgements by name; ``"bare_correctness"`` is correctness without an explanation, for tiny models."""


@accepts(judgement=tuple(JUDGEMENTS))
def judgement_requests(
    responses: pd.DataFrame, judgement: str, *, parameters: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Build the requests of a judgement, one row per response that can be judged. Nothing is sent.

    Parameters
    ----------
    responses
        ``question`` and ``response``; for all but ``"refusal"`` and ``"detection"`` also ``references``. A response that is
        missing or empty is not asked about, nor one without question or references.
    judgement
        One of `JUDGEMENTS`: ``"refusal"``, ``"detection"``, ``"similarity"``, ``"correctness"`` or ``"bare_correctness"``.
    parameters
        Sampling parameters in the place of the judgement's own.

    Raises
    ------
    InputError
        Unknown judgement, a missing column, or a value of another shape.
    """
    asked = JUDGEMENTS[judgement]
    items = _items(responses, asked)
    places = [place for place, item in enumerate(items) if _lack(item) is None]
    rendered = [asked.template.messages(items[place]) for place in places]
    chosen = asked.parameters if parameters is None else parameters
    frame = pd.DataFrame(index=responses.index[places])
    return with_requests(frame, rendered, [asked.template] * len(places), chosen)


@accepts(judgement=tuple(JUDGEMENTS))
def judge_responses(
    responses: pd.DataFrame,
    judgement: str,
    *,
    model: str,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Add a model's judgement to responses, ready for `ragnb.score`.

    Parameters
    ----------
    responses, judgement, parameters
        See `judgement_requests`. One frame takes one judgement: for another, judge the same responses again and put the
        scores together, or rename the columns of the first.
    model
        The judge's name, as the endpoint knows it.
    **options
        Arguments for `ragnb.complete_structured`: ``base_url``, ``store``, ``offline``, ... For repeats, judge again with
        another ``seed`` in ``parameters``.

    Returns
    -------
    DataFrame
        The responses and

        - ``judged_refusal``, ``judged_detection`` or ``judged_correct``: 1.0 yes, 0.0 no; or ``judged_similarity``, in
          [0, 1]; nan where the judge's reply cannot be read or there was nothing to ask, never 0
        - ``judge_reason``: why there is no value ("no response", "empty response", "no references", what was wrong with the
          reply, ...), else None
        - ``judge_explanation`` (``"similarity"`` and ``"correctness"`` only): the judge's own words
        - ``judge_keys``: request keys of the replies behind the value

    Raises
    ------
    InputError
        As for `judgement_requests`; a frame that is judged already; ``repeats``; an offline run with replies missing.
    EndpointError, StoreError
        As for `ragnb.complete`.

    Examples
    --------
    >>> with ragnb.serve() as endpoint:                                             # doctest: +SKIP
    ...     judged = judge_responses(responses, "similarity", model=endpoint.model, base_url=endpoint.base_url)
    >>> ragnb.score(judged, "semantic.judged_similarity")                           # doctest: +SKIP
    """
    asked = JUDGEMENTS[judgement]
    requests = judgement_requests(responses, judgement, parameters=parameters)
    taken = [name for name in asked.columns if name in responses]
    if taken or options.get("repeats", 1) != 1:
        raise InputError(
            "judge_responses needs a frame without the columns that it adds, and repeats=1, got "
            f"{', '.join(taken) or options['repeats']}; rename the columns of an earlier judgement, "
            "or judge again with another seed in parameters"
        )
    options.pop("keep_empty", None)  # an empty judgement cannot be read
    judged = complete_structured(requests, asked.record, model=model, **options)
    replies = iter(judged.to_dict("records"))
    lacks = map(_lack, _items(responses, asked))
    rows = [
        asked.row({"record": None, "reason": lack} if lack else next(replies)) for lack in lacks
    ]
    added = pd.DataFrame(rows, columns=asked.columns, index=responses.index, dtype=object)
    return responses.assign(**added.astype({asked.column: float}))


def _items(responses: pd.DataFrame, asked: Judgement) -> list[dict[str, Any]]:
    """The texts that the judge sees of each response; None where one is missing."""
    fields = list(asked.template.fields)
    require_columns(responses, fields, "a judgement")
    shown = reasoning_apart(responses)[fields].astype(object)
    items = shown.where(shown.notna(), None).to_dict("records")
    for row, item in enumerate(items):
        for name, value in item.items():
            try:
                item[name] = None if value is None else _readable(name, value)
            except InputError as error:
                raise InputError(f"row {row} of the responses: {error}") from error
    return items


def _readable(name: str, value: Any) -> str:
    if name == "references":
        return readable_references(answer_parts(value))
    if not isinstance(value, str):
        raise InputError(f"{name} must be a text, got {value!r:.60}")
    return well_formed(value)


def _lack(item: Mapping[str, Any]) -> str | None:
    """Why a response is not asked about. An empty one is never taken for a wrong one."""
    missing = [name for name, text in item.items() if text is None]
    if missing:
        return f"no {missing[0]}"
    return None if item["response"].strip() else "empty response"
