"""TRACe labels from a judge: question, passages and response become a record with RAGBench's columns.

Nothing is guessed: a response ends labelled, or unlabelled with the reason. Labels that contradict each other are asked for
again with the contradiction named; every answer is kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ragnb.errors import EndpointError, InputError
from ragnb.llm.client import one_report
from ragnb.llm.structured import complete_structured
from ragnb.metrics.trace_labels import (
    as_flag,
    listed,
    sentence_pairs,
    unsupported_sentences,
)
from ragnb.prompts.template import Message
from ragnb.prompts.trace import (
    LABELS,
    TraceLabels,
    mended_labels,
    render_asking_again,
    render_labelling,
)
from ragnb.records import is_missing, require_columns
from ragnb.text import keyed_response, keyed_sentences

PARAMETERS = {"temperature": 0.0, "max_tokens": 2048, "seed": 0}
LABEL_COLUMNS = (*TraceLabels.model_fields, "unsupported_response_sentence_keys")
"""RAGBench's columns that hold the labels; None where there are none."""


def trace_requests(
    responses: pd.DataFrame, *, parameters: Mapping[str, Any] = PARAMETERS
) -> pd.DataFrame:
    """The requests for TRACe labels, one row a response that can be labelled; nothing sent yet.

    Parameters
    ----------
    responses
        ``question``; ``passages`` (list of texts), or ``documents_sentences`` where they are already cut into sentences and
        keyed; ``response``, or ``response_sentences``. What lacks a question, a context or a response is not asked about.
    parameters
        Sampling parameters, sent as they are.

    Raises
    ------
    InputError
        A missing column, or one of another shape.
    """
    items = _items(responses)
    places = [place for place, item in enumerate(items) if item.lack is None]
    return _requests([items[place] for place in places], parameters).set_axis(
        responses.index[places]
    )


@one_report()
def label_trace(
    responses: pd.DataFrame,
    *,
    model: str,
    max_asks: int = 2,
    parameters: Mapping[str, Any] = PARAMETERS,
    **options: Any,
) -> pd.DataFrame:
    """Responses with a judge's TRACe labels, ready for `ragnb.score` with ``"trace.relevance"`` and its like.

    An answer is asked for again, with its fault named in a further turn, when ``overall_supported`` is true although a
    sentence has no supporting key, when it is false although every sentence is fully supported (a sentence supported in part
    goes with either verdict), or when a sentence of the response has no support information. The last answer without fault
    is kept, else the last that merely contradicts itself, with ``label_contradiction``. One that leaves sentences of the
    response out is no label: its adherence would be too high.

    Parameters
    ----------
    responses, parameters
        See `trace_requests`. Labels that are there already are replaced; published scores are left.
    model
        The judge's name, as the endpoint knows it.
    max_asks
        Most times that one response is asked about, from 1 up; the repair turn for a reply that cannot be read comes on top.
    **options
        Arguments for `ragnb.complete_structured`: ``base_url``, ``store``, ``offline``, ... ``budget_usd`` is shared out
        evenly over the asks. For repeats, label again with another ``seed`` in ``parameters``.

    Returns
    -------
    DataFrame
        The responses with ``documents_sentences, response_sentences``, the labels under RAGBench's names (keys that name no
        sentence stay, see the ``issues`` of `ragnb.metrics.trace.trace_scores`), ``unsupported_response_sentence_keys``
        (those without a supporting key), ``annotating_model_name``, and

        - ``label_reason``: why there are no labels, else None
        - ``label_contradiction``: what contradicts the verdict in the labels that were kept, else None
        - ``label_repairs``: how often each repair was made in them, see `ragnb.prompts.trace.mended_labels`
        - ``label_attempts``: ``{"reply", "fault"}`` of every ask, in order
        - ``label_keys``: request keys of all replies behind them

    Raises
    ------
    InputError
        As for `trace_requests`; ``max_asks`` below 1; ``repeats``; an offline run with replies missing.
    EndpointError, StoreError
        As for `ragnb.complete`; an endpoint that fails only when asked again leaves the first labels, with their fault.

    Examples
    --------
    >>> with ragnb.serve() as endpoint:                                             # doctest: +SKIP
    ...     labelled = label_trace(responses, model=endpoint.model, base_url=endpoint.base_url)
    >>> ragnb.score(labelled, ["trace.relevance", "trace.adherence"])               # doctest: +SKIP
    """
    _check_asks(max_asks, options)
    items, shared = _items(responses), _share(options, max_asks)
    for ask in range(max_asks):
        waiting = [item for item in items if item.waits]
        if not waiting:
            break
        replies = _ask(_requests(waiting, parameters), may_fail=ask > 0, model=model, **shared)
        shared["structured"] = bool(replies[0].get("structured", True))
        for item, reply in zip(waiting, replies, strict=True):
            item.attempts.append(_attempt(item, reply))
    added = pd.DataFrame(
        [item.columns(model) for item in items], columns=_ADDED, index=responses.index, dtype=object
    )
    return responses.drop(columns=[name for name in _ADDED if name in responses]).assign(**added)


# ---- asking ------------------------------------------------------------------------------------------------------------


def _check_asks(max_asks: int, options: Mapping[str, Any]) -> None:
    if isinstance(max_asks, bool) or not isinstance(max_asks, int) or max_asks < 1:
        raise InputError(
            f"label_trace needs a whole number of max_asks from 1 up; got {max_asks!r}; 2 asks once more"
        )
    if options.get("repeats", 1) != 1:
        raise InputError(
            f"label_trace needs one reply a response; got repeats = {options['repeats']!r}; label again with another seed "
            "in parameters"
        )


def _share(options: Mapping[str, Any], max_asks: int) -> dict[str, Any]:
    budget = options.get("budget_usd")
    return {**options, "budget_usd": budget / max_asks} if budget is not None else dict(options)


def _requests(items: list["_Item"], parameters: Mapping[str, Any]) -> pd.DataFrame:
    messages = pd.Series([item.messages() for item in items], dtype=object)
    return pd.DataFrame(
        {
            "messages": messages,
            "template": LABELS.id,
            "parameters": [dict(parameters) for _ in items],
        }
    )


def _ask(requests: pd.DataFrame, *, may_fail: bool, **options: Any) -> list[dict[str, Any]]:
    """The replies; where asking may fail, an endpoint that does is the reason for all."""
    try:
        return complete_structured(requests, TraceLabels, **options).to_dict("records")
    except EndpointError as error:
        if not may_fail:
            raise
        return [{"record": None, "reason": str(error)} for _ in range(len(requests))]


# ---- one answer --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One answer: the judge's record and the labels read from it, or why there are none.

    ``gap`` names the response's sentences that it leaves out, ``contradiction`` what is against its verdict.
    """

    reply: str | None
    keys: list[str]
    reason: str | None = None
    record: dict[str, Any] | None = None
    labels: dict[str, Any] = field(default_factory=dict)
    repairs: dict[str, int] = field(default_factory=dict)
    gap: str | None = None
    contradiction: str | None = None

    @property
    def fault(self) -> str | None:
        return self.reason or self.gap or self.contradiction

    @property
    def can_be_asked_again(self) -> bool:
        return self.record is not None and self.fault is not None

    @property
    def rank(self) -> int:
        """3 without fault, 2 with a contradiction, 1 with a gap, 0 without labels."""
        return 0 if self.reason else 1 if self.gap else 2 if self.contradiction else 3


def _attempt(item: "_Item", reply: Mapping[str, Any]) -> _Attempt:
    texts = [reply.get(name) for name in ("repair_response", "response")]
    keys = [
        key
        for key in (reply.get("request_key"), reply.get("repair_request_key"))
        if isinstance(key, str)
    ]
    said, record = next((text for text in texts if isinstance(text, str)), None), reply["record"]
    if record is None:
        return _Attempt(said, keys, reason=reply["reason"])
    labels, repairs = mended_labels(record, item.document_keys, item.response_keys)
    support = labels["sentence_support_information"]
    labels["unsupported_response_sentence_keys"] = unsupported_sentences(support)
    return _Attempt(
        said, keys, None, record, labels, repairs, _gap(item, support), _contradiction(labels)
    )


def _gap(item: "_Item", support: list[dict[str, Any]]) -> str | None:
    labelled = {label["response_sentence_key"] for label in support}
    left_out = [key for key in item.response_keys if key not in labelled]
    return f"sentence_support_information leaves out {_quoted(left_out)}" if left_out else None


def _contradiction(labels: Mapping[str, Any]) -> str | None:
    unsupported = labels["unsupported_response_sentence_keys"]
    if labels["overall_supported"] and unsupported:
        return f"overall_supported is true, yet no key supports {_quoted(unsupported)}"
    if not labels["overall_supported"] and all(
        as_flag(label.get("fully_supported")) for label in labels["sentence_support_information"]
    ):
        return (
            None
            if unsupported
            else "overall_supported is false, yet every sentence is fully supported"
        )
    return None


def _quoted(keys: list[str]) -> str:
    return ", ".join(map(repr, keys))


# ---- one response ------------------------------------------------------------------------------------------------------

_SENTENCES = ("documents_sentences", "response_sentences")
_OF_LABELLING = (
    "label_reason",
    "label_contradiction",
    "label_repairs",
    "label_attempts",
    "label_keys",
)
_ADDED = [*_SENTENCES, *LABEL_COLUMNS, "annotating_model_name", *_OF_LABELLING]


@dataclass(slots=True)
class _Item:
    """One response, cut into sentences; ``lack`` says why it cannot be labelled; the answers so far."""

    question: Any
    documents_sentences: Any
    response_sentences: Any
    attempts: list[_Attempt] = field(default_factory=list)

    @property
    def lack(self) -> str | None:
        if not isinstance(self.question, str):
            return "there is no question"
        if not self.document_keys:
            return (
                "there are no passages"
                if self.documents_sentences is None
                else "the context has no sentence"
            )
        if not self.response_keys:
            return (
                "there is no response"
                if self.response_sentences is None
                else "the response has no sentence"
            )
        return None

    @property
    def document_keys(self) -> list[str]:
        return [key for key, _ in sentence_pairs(self.documents_sentences or [])]

    @property
    def response_keys(self) -> list[str]:
        return [key for key, _ in sentence_pairs([self.response_sentences or []])]

    @property
    def waits(self) -> bool:
        """Whether it is to be asked about, for the first time or again."""
        return self.attempts[-1].can_be_asked_again if self.attempts else self.lack is None

    def messages(self) -> list[Message]:
        """What to ask next: for the labels, and after an answer for better ones."""
        asked = render_labelling(self.question, self.documents_sentences, self.response_sentences)
        turns = [render_asking_again(each.record or {}, each.fault or "") for each in self.attempts]
        return [*asked, *(message for turn in turns for message in turn)]

    def columns(self, model: str) -> dict[str, Any]:
        kept = max(
            reversed(self.attempts),
            key=lambda attempt: attempt.rank,
            default=_Attempt(None, [], reason=self.lack),
        )
        reason = kept.reason or kept.gap
        labels = {name: None if reason else kept.labels[name] for name in LABEL_COLUMNS}
        return {
            "documents_sentences": self.documents_sentences,
            "response_sentences": self.response_sentences,
            **labels,
            "annotating_model_name": None if reason else model,
            "label_reason": reason,
            "label_contradiction": None if reason else kept.contradiction,
            "label_repairs": {} if reason else kept.repairs,
            "label_attempts": [
                {"reply": each.reply, "fault": each.fault} for each in self.attempts
            ],
            "label_keys": [key for each in self.attempts for key in each.keys],
        }


def _items(responses: pd.DataFrame) -> list[_Item]:
    require_columns(responses, ["question"], "a labelling")
    documents = _sentences(responses, "documents_sentences", "passages", _keyed_passages)
    response = _sentences(responses, "response_sentences", "response", _keyed_text)
    return [_Item(*row) for row in zip(responses["question"], documents, response, strict=True)]


def _sentences(
    responses: pd.DataFrame, keyed: str, plain: str, cut: Callable[[Any], Any]
) -> list[Any]:
    """The keyed sentences of each row, cut from the text where they are not there; None where neither is."""
    if keyed not in responses:
        require_columns(responses, [plain], "a labelling")
    columns = [
        responses[name] if name in responses else [None] * len(responses) for name in (keyed, plain)
    ]
    return [
        _as_lists(sentences)
        if not is_missing(sentences)
        else None
        if is_missing(text)
        else cut(text)
        for sentences, text in zip(*columns, strict=True)
    ]


def _as_lists(value: Any) -> Any:
    """Lists all the way down, where Parquet gives arrays."""
    return (
        [_as_lists(part) for part in value]
        if isinstance(value, list | tuple | np.ndarray)
        else value
    )


def _keyed_passages(passages: Any) -> list[list[list[str]]]:
    texts = listed(passages, "passages")
    return keyed_sentences([_text(passage, "a passage") for passage in texts])


def _keyed_text(response: Any) -> list[list[str]]:
    return keyed_response(_text(response, "a response"))


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{what} needs to be a text; got {type(value).__name__}; write it as one")
    return value
