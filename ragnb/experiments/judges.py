"""A model as judge of refusals, detected errors, similarity to the references, and correctness.

Nothing is guessed: every response ends with a value, or without one and with the reason.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import nan
from operator import itemgetter
from typing import Any

import pandas as pd
from pydantic import BaseModel

from ragnb.errors import InputError
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
from ragnb.prompts.template import Message, Template
from ragnb.records import reasoning_apart, require_columns
from ragnb.text import well_formed

PARAMETERS = {"temperature": 0.0, "max_tokens": 32, "seed": 0}
EXPLAINED = {**PARAMETERS, "max_tokens": 256}
"""Sampling parameters of a bare verdict, and of one with an explanation."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is asked of a judge, and how its reply becomes a value.

    Attributes
    ----------
    template
        The question to the judge; its fields are the columns that a frame needs.
    record
        What a reply has to hold.
    column
        The value's column.
    value
        The value in a record, as a mapping.
    parameters
        Sampling parameters.
    """

    template: Template
    record: type[BaseModel]
    column: str
    value: Callable[[Mapping[str, Any]], float]
    parameters: Mapping[str, Any]

    @property
    def columns(self) -> list[str]:
        """The columns that a judgement adds to a frame."""
        explanation = ["judge_explanation"] if "explanation" in self.record.model_fields else []
        return [self.column, "judge_reason", *explanation, "judge_keys"]

    def messages(self, values: Mapping[str, Any]) -> list[Message]:
        """Chat messages that ask about one response."""
        return self.template.messages(
            {name: _readable(name, value) for name, value in values.items()}
        )

    def row(self, reply: Mapping[str, Any]) -> dict[str, Any]:
        """What a reply, or a reason in the place of one, adds to a response."""
        record = reply["record"]
        keys = [reply.get(name) for name in ("request_key", "repair_request_key")]
        return {
            self.column: nan if record is None else self.value(record),
            "judge_reason": reply["reason"],
            "judge_explanation": None if record is None else record.get("explanation"),
            "judge_keys": [key for key in keys if isinstance(key, str)],
        }


def _verdict_is(yes: str) -> Callable[[Mapping[str, Any]], float]:
    return lambda record: float(record["verdict"] == yes)


JUDGEMENTS: dict[str, Judgement] = {
    "refusal": Judgement(
        REFUSAL, RefusalVerdict, "judged_refusal", _verdict_is("refuses"), PARAMETERS
    ),
    "detection": Judgement(
        DETECTION, DetectionVerdict, "judged_detection", _verdict_is("detects"), PARAMETERS
    ),
    "similarity": Judgement(
        SIMILARITY, SimilarityScore, "judged_similarity", itemgetter("score"), EXPLAINED
    ),
    "correctness": Judgement(
        CORRECTNESS, CorrectnessVerdict, "judged_correct", _verdict_is("correct"), EXPLAINED
    ),
    "bare_correctness": Judgement(
        BARE_CORRECTNESS, SamenessVerdict, "judged_correct", _verdict_is("same"), PARAMETERS
    ),
}
"""The judgements by name; ``"bare_correctness"`` is correctness without an explanation, for tiny models."""


def judgement_requests(
    responses: pd.DataFrame, judgement: str, *, parameters: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """The requests of a judgement, one row a response that can be judged; nothing sent yet.

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
    asked = _judgement(judgement)
    items = _items(responses, asked)
    places = [place for place, values in enumerate(items) if _lack(values) is None]
    chosen = asked.parameters if parameters is None else parameters
    rendered = [_rendered(asked, items[place], place) for place in places]
    messages = pd.Series(rendered, index=responses.index[places], dtype=object)
    return pd.DataFrame(
        {
            "messages": messages,
            "template": asked.template.id,
            "parameters": [dict(chosen) for _ in places],
        }
    )


def judge_responses(
    responses: pd.DataFrame,
    judgement: str,
    *,
    model: str,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Responses with a model's judgement beside them, ready for `ragnb.score`.

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
    asked = _judgement(judgement)
    requests = judgement_requests(responses, judgement, parameters=parameters)
    _check(responses, asked, options)
    replies = iter(
        complete_structured(requests, asked.record, model=model, **options).to_dict("records")
    )
    lacks = map(_lack, _items(responses, asked))
    rows = [
        asked.row({"record": None, "reason": lack} if lack else next(replies)) for lack in lacks
    ]
    added = pd.DataFrame(rows, columns=asked.columns, index=responses.index, dtype=object)
    return responses.assign(**added.astype({asked.column: float}))


# ---- what is asked about -----------------------------------------------------------------------------------------------


def _judgement(name: str) -> Judgement:
    if name not in JUDGEMENTS:
        raise InputError(
            f"a judgement needs one of {', '.join(JUDGEMENTS)}; got {name!r}; choose one"
        )
    return JUDGEMENTS[name]


def _check(responses: pd.DataFrame, asked: Judgement, options: Mapping[str, Any]) -> None:
    taken = [name for name in asked.columns if name in responses]
    if taken:
        raise InputError(
            f"a judgement needs a frame without the columns that it adds; got one with {', '.join(taken)}; rename those of "
            "an earlier judgement, or judge the frame from before it"
        )
    if options.get("repeats", 1) != 1:
        raise InputError(
            f"a judgement needs one reply a response; got repeats = {options['repeats']!r}; judge again with another seed "
            "in parameters"
        )


def _items(responses: pd.DataFrame, asked: Judgement) -> list[dict[str, Any]]:
    """Of each response what the judge is shown; None where it is missing."""
    fields = list(asked.template.fields)
    require_columns(responses, fields, "a judgement")
    shown = reasoning_apart(responses)[fields].astype(object)
    return shown.where(shown.notna(), None).to_dict("records")


def _lack(values: Mapping[str, Any]) -> str | None:
    """Why a response is not asked about; None when it is. An empty one is never taken for a wrong one."""
    missing = next((name for name, value in values.items() if value is None), None)
    if missing:
        return f"no {missing}"
    return None if str(values["response"]).strip() else "empty response"


def _rendered(asked: Judgement, values: Mapping[str, Any], place: int) -> list[Message]:
    try:
        return asked.messages(values)
    except InputError as error:
        raise InputError(f"row {place} of the responses: {error}") from error


def _readable(name: str, value: Any) -> str:
    if name == "references":
        return readable_references(answer_parts(value))
    if not isinstance(value, str):
        raise InputError(
            f"a {name} needs to be a text; got {type(value).__name__}; write it as one"
        )
    return well_formed(value)
